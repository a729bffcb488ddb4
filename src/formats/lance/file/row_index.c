/* SPDX-License-Identifier: MIT
 *
 * In: the last buffer of a mini-block page with lists. Out: rows that begin in a chunk; whether the levels agree.
 *
 *   of each chunk u64 rows that end in it, u64 levels of its last row if that goes on in the next chunk, else 0; for
 *   each layer more that could be looked up, as many more numbers
 */
#include "formats/lance/file/row_index.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/overflow.h"
#include "core/io/source.h"

struct entry {
    uint64_t ended, left; /* rows; levels */
};

static struct entry entry_of(const struct nt_lance_row_index *index, uint64_t chunk)
{
    const uint8_t *bytes = index->entries + chunk * index->entry_bytes;
    return (struct entry){nt_load_le64(bytes), nt_load_le64(bytes + sizeof(uint64_t))};
}

static bool is_continued(const struct nt_lance_row_index *index, uint64_t chunk)
{
    return chunk && entry_of(index, chunk - 1).left;
}

uint64_t nt_lance_row_index_rows(const struct nt_lance_row_index *index, uint64_t chunk)
{
    const struct entry entry = entry_of(index, chunk);
    return entry.ended + (entry.left > 0) - is_continued(index, chunk);
}

static uint64_t place_of(const struct nt_lance_row_index *index, uint64_t chunk)
{
    return index->offset + chunk * index->entry_bytes;
}

/* ---- opening ---- */

/* Rows end where they are, all of them, and none goes on behind the last chunk. */
static enum nt_status check_sum(const struct nt_lance_row_index *index, uint64_t rows, struct nt_error *error)
{
    uint64_t ended = 0;
    for (uint64_t i = 0; i < index->count; i++) {
        const struct entry entry = entry_of(index, i);
        bool is_last = i + 1 == index->count;
        if (!nt_add(ended, entry.ended, &ended) || ended > rows ||
            (is_last && (entry.left || ended != rows)) ||
            (is_continued(index, i) && !entry.ended && !entry.left))
            return nt_fail(error, NT_CORRUPT, place_of(index, i),
                           "the repetition index has %" PRIu64 " rows that end in chunk %" PRIu64
                           " of %" PRIu64 ", and %" PRIu64 " levels behind them, where the page has %" PRIu64
                           " rows",
                           entry.ended, i, index->count, entry.left, rows);
    }
    return NT_OK;
}

static enum nt_status place_index(const struct nt_lance_page *page, const struct nt_lance_layout *layout,
                                  struct nt_lance_row_index *index, struct nt_error *error)
{
    uint32_t number = 2 + (layout->dictionary != NULL); /* behind metadata, chunks and dictionary */
    uint64_t entry_bytes, bytes;
    if (page->buffer_count <= number)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET,
                              "buffers of a page with a repetition index, at least", number + 1,
                              page->buffer_count);
    const struct nt_lance_buffer *buffer = &page->buffers[number];
    if (layout->index_depth >= UINT32_MAX / sizeof(uint64_t) - 1 ||
        !nt_multiply(layout->index_depth + 1, sizeof(uint64_t), &entry_bytes) ||
        !nt_multiply(index->count, entry_bytes, &bytes) || bytes != buffer->bytes)
        return nt_fail(error, NT_CORRUPT, buffer->offset,
                       "a repetition index of depth %" PRIu64 " in %" PRIu64 " bytes, for %" PRIu64 " chunks",
                       layout->index_depth, buffer->bytes, index->count);
    index->entry_bytes = (uint32_t)entry_bytes;
    index->offset = buffer->offset;
    return NT_OK;
}

enum nt_status nt_lance_row_index_open(struct nt_source *source, const struct nt_lance_page *page,
                                       const struct nt_lance_layout *layout, uint64_t count,
                                       struct nt_lance_row_index *index, struct nt_error *error)
{
    *index = (struct nt_lance_row_index){.count = count};
    if (!layout->index_depth)
        return NT_OK;
    enum nt_status status = place_index(page, layout, index, error);
    if (status != NT_OK)
        return status;
    uint64_t bytes = index->count * index->entry_bytes;
    uint8_t *entries = malloc(bytes ? bytes : 1);
    if (!entries)
        return nt_fail_memory(error);
    index->entries = entries;
    status = nt_source_read(source, index->offset, entries, bytes, error);
    return status == NT_OK ? check_sum(index, page->length, error) : status;
}

void nt_lance_row_index_close(struct nt_lance_row_index *index)
{
    free((void *)index->entries);
}

/* ---- checking ---- */

static enum nt_status check_entry(const struct nt_lance_row_index *index, const struct nt_tree *tree,
                                  uint64_t chunk, bool goes_on, struct nt_error *error)
{
    const struct nt_tree_counts *counts = &index->counted;
    const struct entry found = entry_of(index, chunk),
                       expected = {counts->slots[tree->layer_count - 1] + counts->is_continued - goes_on,
                                   goes_on ? counts->last_row : 0};
    if (found.ended == expected.ended && found.left == expected.left)
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, place_of(index, chunk),
                   "the repetition index has %" PRIu64 " rows that end in chunk %" PRIu64 ", and %" PRIu64
                   " levels behind them, where the chunk's levels tell %" PRIu64 " and %" PRIu64,
                   found.ended, chunk, found.left, expected.ended, expected.left);
}

enum nt_status nt_lance_row_index_check(struct nt_lance_row_index *index, const struct nt_tree *tree,
                                        uint64_t chunk, const struct nt_tree_counts *counts,
                                        struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (!index->entries)
        return NT_OK;
    if (chunk)
        status = check_entry(index, tree, chunk - 1, counts->is_continued, error);
    index->counted = *counts;
    if (status == NT_OK && chunk + 1 == index->count)
        status = check_entry(index, tree, chunk, false, error);
    return status;
}
