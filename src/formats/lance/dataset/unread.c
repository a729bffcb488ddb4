/* SPDX-License-Identifier: MIT
 *
 * In: the data files that a manifest lists. Out: the fields that cannot be read, with why: settled versions have no encodings that are
 * not known, others are looked at.
 */
#include "formats/lance/dataset/unread.h"

#include <stdlib.h>

#include "core/base/arena.h"
#include "formats/lance/dataset/load.h"
#include "formats/lance/dataset/stored.h"

struct looking {
    struct nt_dataset *dataset;
    struct nt_lance_dataset *lance;
    const char **refusals; /* by field */
    bool *is_known;
    uint32_t left; /* fields that are not known */
    struct nt_error *error;
};

static bool is_settled(const struct nt_lance_data_file *data_file)
{
    enum { MAJOR = 2, MINOR = 2 };
    uint64_t major = nt_proto_number(data_file->message, NT_LANCE_DATA_FILE_MAJOR_VERSION),
             minor = nt_proto_number(data_file->message, NT_LANCE_DATA_FILE_MINOR_VERSION);
    return major < MAJOR || (major == MAJOR && minor <= MINOR);
}

static enum nt_status look_at_field(struct looking *looking, uint32_t field,
                                    const struct nt_lance_stored *stored)
{
    struct nt_error failure;
    const struct nt_lance *opened;
    enum nt_status status = nt_lance_open_data_file(looking->dataset, stored->file, &opened, &failure);
    looking->is_known[field] = true;
    looking->left--;
    if (status != NT_OK)
        return nt_is_machine_failure(status) ? nt_fail_with(looking->error, &failure) : NT_OK;
    if (stored->leaf.column >= opened->tail.columns || !opened->columns[stored->leaf.column].failure)
        return NT_OK;
    looking->refusals[field] =
        nt_arena_format(looking->dataset->arena, "%s: %s", looking->lance->files[stored->file].name,
                        opened->columns[stored->leaf.column].failure->message);
    return looking->refusals[field] ? NT_OK : nt_fail_memory(looking->error);
}

static enum nt_status look_at_fragment(struct looking *looking, struct nt_lance_fragment_part *fragment)
{
    const struct nt_lance_data_file *files = looking->lance->files;
    bool is_all_settled = true;
    for (uint32_t i = 0; i < fragment->file_count; i++)
        is_all_settled &= is_settled(&files[fragment->first_file + i]);
    if (is_all_settled)
        return NT_OK;
    enum nt_status status =
        nt_lance_find_stored(looking->dataset->file, looking->lance, fragment, looking->error);
    for (uint32_t i = 0; status == NT_OK && i < looking->lance->schema.field_count; i++) {
        const struct nt_lance_stored *stored = &fragment->stored[i];
        if (stored->leaf.column != NT_NONE && !looking->is_known[i] && !is_settled(&files[stored->file]))
            status = look_at_field(looking, i, stored);
    }
    return status;
}

enum nt_status nt_lance_find_unread(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    size_t count = (size_t)lance->schema.field_count + 1;
    struct looking looking = {.dataset = dataset,
                              .lance = lance,
                              .refusals = nt_arena_alloc(dataset->arena, count, sizeof(*looking.refusals)),
                              .is_known = calloc(count, sizeof(*looking.is_known)),
                              .left = lance->schema.field_count,
                              .error = error};
    enum nt_status status = looking.refusals && looking.is_known ? NT_OK : nt_fail_memory(error);
    for (uint32_t i = 0; status == NT_OK && looking.left && i < lance->fragment_count; i++)
        status = look_at_fragment(&looking, &lance->fragments[i]);
    free(looking.is_known);
    lance->schema.refusals = looking.refusals;
    return status;
}
