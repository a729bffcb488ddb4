/* SPDX-License-Identifier: MIT
 *
 * In: the superchunks of a column, of which some are missing or damaged. Out: how many elements a full one has, where the
 * headers of the others prove it. "The size of each superchunk" is one for an array ("Persistent format for BLZ").
 */
#include "formats/blz/superchunks.h"

#include "core/base/overflow.h"

struct counting {
    uint64_t bytes;
    bool is_known;
};

static enum nt_status count_chunk(void *context, const struct nt_bloscpack_chunk *chunk,
                                  struct nt_error *error)
{
    struct counting *counting = context;
    (void)error;
    bool is_told = !chunk->damage || chunk->is_size_known;
    counting->is_known =
        counting->is_known && is_told && nt_add(counting->bytes, chunk->plain_bytes, &counting->bytes);
    return NT_OK;
}

/* What its header and those of its chunks tell. */
static enum nt_status count_superchunk(struct nt_source *source, uint32_t element_bytes,
                                       uint64_t *elements_ret, bool *is_known_ret, struct nt_error *error)
{
    struct counting counting = {.is_known = true};
    struct nt_bloscpack bloscpack;
    struct nt_error damage = {0};
    enum nt_status status = nt_bloscpack_open(source, &bloscpack, NULL, &damage);
    if (status == NT_OK)
        status = nt_bloscpack_walk(source, &bloscpack, count_chunk, &counting, &damage);
    if (nt_is_refused_for_now(status, &damage))
        return nt_fail_with(error, &damage);
    *is_known_ret = status == NT_OK && counting.is_known && counting.bytes % element_bytes == 0;
    *elements_ret = counting.bytes / element_bytes;
    return NT_OK;
}

/* Whether the last file is the last superchunk, where `full` is the elements of those before it. */
static bool ends_with(const struct nt_blz_column *column, uint64_t full, uint64_t total, uint64_t *rest_ret)
{
    uint64_t before = nt_blz_superchunk_index(column, column->file_count - 1), elements;
    if (full == 0 || !nt_multiply(full, before, &elements) || elements >= total || total - elements > full)
        return false;
    *rest_ret = total - elements;
    return true;
}

enum nt_status nt_blz_superchunk_elements(const struct nt_dataset *dataset,
                                          const struct nt_blz_column *column, uint32_t element_bytes,
                                          uint64_t total, uint64_t *elements_ret, struct nt_error *error)
{
    uint64_t full = 0, last = 0, rest;
    bool is_known = false, is_uniform = true;
    *elements_ret = 0;
    for (uint32_t i = 0; i < column->file_count; i++) {
        struct nt_source *source = dataset->sources[column->first_source + i];
        enum nt_status status = count_superchunk(source, element_bytes, &last, &is_known, error);
        if (status != NT_OK)
            return status;
        if (!is_known || i == column->file_count - 1)
            continue;
        is_uniform = is_uniform && (full == 0 || full == last);
        full = last;
    }
    if (!is_uniform || column->file_count == 0 || !ends_with(column, full, total, &rest))
        return NT_OK;
    if (!is_known || last == rest)
        *elements_ret = full;
    return NT_OK;
}
