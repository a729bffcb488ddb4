/* SPDX-License-Identifier: MIT
 *
 * RNTuple, a row of the formats' table: from a source to a file with a data set for each anchor.
 */
#include "formats/rntuple/rntuple.h"

#include "core/base/arena.h"
#include "formats/format.h"
#include "container/container.h"
#include "formats/rntuple/dataset.h"
#include "formats/rntuple/shown.h"

/* A data set for an anchor. What fails for the anchor alone is kept with its data set; whether any opened is
 * for the caller of all formats to see. */
static enum nt_status add_dataset(struct nt_file *file, const struct nt_anchor_object *object,
                                  struct nt_error *error)
{
    struct nt_dataset *dataset;
    enum nt_status status = nt_file_add_dataset(file, &dataset, error);
    if (status != NT_OK)
        return status;
    dataset->directory = object->directory;
    dataset->name = object->name;
    dataset->cycle = object->cycle;
    dataset->is_newest_cycle = object->is_newest_cycle;
    struct nt_error failure = {0};
    if (object->failure && !object->stored_bytes)
        failure = *object->failure;
    else if (nt_rntuple_build(dataset, object, &failure) == NT_OK)
        return NT_OK;
    return nt_dataset_set_failure(dataset, &failure, error);
}

enum nt_status nt_rntuple_file_open(const char *path, struct nt_source *source,
                                    const struct nt_limits *limits, struct nt_file **file_ret,
                                    struct nt_error *error)
{
    struct nt_file *file;
    enum nt_status status = nt_file_new(path, source, limits, &file, error);
    if (status != NT_OK)
        return status;
    struct nt_container *container = nt_arena_alloc(file->arena, 1, sizeof(*container));
    status = container ? nt_container_open(file, container, error) : nt_fail_memory(error);
    for (uint32_t i = 0; status == NT_OK && i < container->anchor_count; i++)
        status = add_dataset(file, &container->anchors[i], error);
    if (status == NT_OK && !file->failure)
        status = nt_rntuple_add_lost(file, error);
    if (status != NT_OK) {
        nt_file_discard(file);
        return status;
    }
    file->layout = nt_rntuple_layout;
    file->check = nt_rntuple_check;
    *file_ret = file;
    return NT_OK;
}

static enum nt_status open_rntuple(struct nt_source *source, const struct nt_open_options *options,
                                   struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_limits limits = nt_open_limits(options);
    return nt_rntuple_file_open(source->path, source, &limits, file_ret, error);
}

const struct nt_format nt_format_rntuple = {
    .name = "rntuple",
    .description = "RNTuple in ROOT files and bare files, all versions",
    .open = open_rntuple,
};
