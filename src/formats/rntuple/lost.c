/* SPDX-License-Identifier: MIT
 *
 * In: an opened file. Out: the records of anchors that none of its data sets comes from. Keys have no
 * checksums: where a list of keys is damaged, what it may have held is found by walking from record to
 * record.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "container/container.h"
#include "formats/rntuple/dataset.h"

typedef enum nt_status lost_visit(void *context, const struct nt_anchor_record *record,
                                  struct nt_error *error);

struct search {
    const struct nt_file *file;
    uint64_t *offsets; /* of the anchors of its data sets, ascending */
    size_t count;
    lost_visit *visit;
    void *context;
};

static int compare_offsets(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static bool is_called(const struct nt_dataset *dataset, const struct nt_anchor_record *record)
{
    return dataset->directory == record->directory && nt_texts_are_equal(dataset->name, record->name);
}

/* A data set that failed before its anchor was read stands for the record of its name, or of its failure. */
static bool has_failed(const struct nt_file *file, const struct nt_anchor_record *record)
{
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        const struct nt_dataset *dataset = file->datasets[i];
        if (!dataset->failure || nt_rntuple_of(dataset))
            continue;
        bool is_cycle = dataset->cycle == record->cycle || dataset->attribute_of != NT_NONE;
        if (dataset->failure->offset == record->offset || (is_cycle && is_called(dataset, record)))
            return true;
    }
    return false;
}

static enum nt_status visit_record(void *context, const struct nt_anchor_record *record,
                                   struct nt_error *error)
{
    const struct search *search = context;
    if (bsearch(&record->object_offset, search->offsets, search->count, sizeof(uint64_t), compare_offsets) ||
        has_failed(search->file, record))
        return NT_OK;
    return search->visit(search->context, record, error);
}

static enum nt_status find_lost(const struct nt_file *file, lost_visit *visit, void *context,
                                struct nt_error *error)
{
    const struct nt_container_kind *kind = nt_container_of(file)->kind;
    struct search search = {.file = file, .visit = visit, .context = context};
    if (!kind->visit_anchors)
        return NT_OK;
    search.offsets = calloc(file->dataset_count + 1u, sizeof(uint64_t));
    if (!search.offsets)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < file->dataset_count; i++)
        if (nt_rntuple_of(file->datasets[i]))
            search.offsets[search.count++] = nt_rntuple_of(file->datasets[i])->anchor.offset;
    qsort(search.offsets, search.count, sizeof(uint64_t), compare_offsets);
    enum nt_status status = kind->visit_anchors(file, visit_record, &search, error);
    free(search.offsets);
    return status;
}

/* What is told of a lost data set: NT_CORRUPT, or NT_NO_MEMORY where that cannot be said. */
static enum nt_status set_failure(const struct nt_file *file, const struct nt_anchor_record *record,
                                  struct nt_error *failure)
{
    struct nt_buffer name = {0};
    nt_append_printable(&name, record->name.bytes, record->name.length);
    enum nt_status status = name.failed ? nt_fail_memory(failure)
                                        : nt_fail(failure, NT_CORRUPT, record->offset,
                                                  "%s: the record of the data set %s;%" PRIu32
                                                  " is there, but no list of keys and no footer names it",
                                                  file->path, nt_buffer_string(&name), record->cycle);
    nt_buffer_deinit(&name);
    return status;
}

/* ---- where a file is opened ---- */

/* A cycle that is newer than another of the name makes that one an older one. */
static void order_cycles(const struct nt_file *file, struct nt_dataset *added,
                         const struct nt_anchor_record *record)
{
    for (uint32_t i = 0; i < added->index; i++) {
        struct nt_dataset *other = file->datasets[i];
        if (other->attribute_of != NT_NONE || !is_called(other, record))
            continue;
        if (other->cycle > added->cycle)
            added->is_newest_cycle = false;
        else
            other->is_newest_cycle = false;
    }
}

static enum nt_status add_lost(void *context, const struct nt_anchor_record *record, struct nt_error *error)
{
    struct nt_file *file = context;
    struct nt_dataset *dataset;
    struct nt_error failure;
    enum nt_status status = nt_file_add_dataset(file, &dataset, error);
    if (status != NT_OK)
        return status;
    if (!nt_text_copy(dataset->arena, record->name, &dataset->name))
        return nt_fail_memory(error);
    dataset->directory = record->directory == NT_NONE ? 0 : record->directory;
    dataset->cycle = record->cycle;
    order_cycles(file, dataset, record);
    set_failure(file, record, &failure);
    return nt_dataset_set_failure(dataset, &failure, error);
}

enum nt_status nt_rntuple_add_lost(struct nt_file *file, struct nt_error *error)
{
    return nt_container_of(file)->has_doubts ? find_lost(file, add_lost, file, error) : NT_OK;
}

/* ---- where a file is verified ---- */

struct check {
    const struct nt_file *file;
    nt_failure_emit *emit;
    void *context;
};

static enum nt_status tell_lost(void *context, const struct nt_anchor_record *record, struct nt_error *error)
{
    const struct check *check = context;
    struct nt_error failure;
    if (nt_is_machine_failure(set_failure(check->file, record, &failure)))
        return nt_fail_with(error, &failure);
    check->emit(check->context, &failure);
    return NT_OK;
}

enum nt_status nt_rntuple_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                                struct nt_error *error)
{
    struct check check = {file, emit, context};
    return find_lost(file, tell_lost, &check, error);
}
