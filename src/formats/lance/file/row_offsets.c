/* SPDX-License-Identifier: MIT
 *
 * In: the second buffer of a full-zip page. Out: how many rows, and items of lists, lie in so many bytes.
 *
 *   of each row where it begins in the first buffer, and where the last one ends: numbers of 1, 2, 4 or 8 bytes
 */
#include "formats/lance/file/row_offsets.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/bytes.h"

enum { ROWS = 0, INDEX = 1 };

static uint64_t begin_of(const struct nt_lance_row_offsets *offsets, uint64_t row)
{
    const uint8_t *bytes = offsets->entries + row * offsets->entry_bytes;
    switch (offsets->entry_bytes) {
    case 1:
        return *bytes;
    case 2:
        return nt_load_le16(bytes);
    case 4:
        return nt_load_le32(bytes);
    default:
        return nt_load_le64(bytes);
    }
}

/* ---- opening ---- */

static enum nt_status check_row(const struct nt_lance_row_offsets *offsets, uint64_t row, uint64_t *items,
                                struct nt_error *error)
{
    uint64_t begin = begin_of(offsets, row), end = begin_of(offsets, row + 1);
    if (end <= begin || end > offsets->end)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "row %" PRIu64 " goes from byte %" PRIu64 " to byte %" PRIu64 " of %" PRIu64, row,
                       begin, end, offsets->end);
    if (!offsets->item_bytes || end - begin == offsets->empty_bytes)
        return NT_OK;
    *items += (end - begin) / offsets->item_bytes;
    if ((end - begin) % offsets->item_bytes)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "row %" PRIu64 " has %" PRIu64 " bytes, of %" PRIu32 " an item", row, end - begin,
                       offsets->item_bytes);
    return NT_OK;
}

/* Rows follow one another, and are all that there is. */
static enum nt_status check(const struct nt_lance_row_offsets *offsets, uint64_t items, uint64_t place,
                            struct nt_error *error)
{
    uint64_t row = 0, found = 0, first = begin_of(offsets, 0), last = begin_of(offsets, offsets->rows);
    enum nt_status status = NT_OK;
    while (status == NT_OK && row < offsets->rows)
        status = check_row(offsets, row++, &found, error);
    if (status == NT_OK && (first || last != offsets->end))
        status = nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                         "rows go from byte %" PRIu64 " to byte %" PRIu64 " of %" PRIu64, first, last,
                         offsets->end);
    if (status == NT_OK && offsets->item_bytes && found != items)
        status =
            nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "items that the rows' places tell", items, found);
    if (status != NT_OK && error)
        error->offset = place + row * offsets->entry_bytes;
    return status;
}

/* In lists of values of fixed width, that are in no other, an item takes what any other does, and nothing else is there but the
 * levels of lists without one. Items of no bytes are not told from these. */
static void find_item_bytes(const struct nt_tree *tree, struct nt_lance_row_offsets *offsets)
{
    if (tree->offset_bits || !tree->value_bits || !tree->layer_count ||
        nt_tree_lists(tree, tree->layer_count - 1) != 1)
        return;
    offsets->empty_bytes = nt_tree_control_bytes(tree);
    offsets->item_bytes = offsets->empty_bytes + (tree->value_bits + 7) / 8;
}

static enum nt_status find_width(const struct nt_lance_page *page, struct nt_lance_row_offsets *offsets,
                                 struct nt_error *error)
{
    const struct nt_lance_buffer *index = &page->buffers[INDEX];
    uint64_t width = page->length < index->bytes ? index->bytes / (page->length + 1) : 0;
    offsets->rows = page->length;
    offsets->end = page->buffers[ROWS].bytes;
    offsets->entry_bytes = (uint32_t)width;
    if ((width == 1 || width == 2 || width == 4 || width == 8) && index->bytes % (page->length + 1) == 0)
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, index->offset, "%" PRIu64 " bytes for %" PRIu64 " rows", index->bytes,
                   page->length);
}

enum nt_status nt_lance_row_offsets_open(struct nt_source *source, const struct nt_lance_page *page,
                                         const struct nt_lance_layout *layout,
                                         struct nt_lance_row_offsets *offsets, struct nt_error *error)
{
    *offsets = (struct nt_lance_row_offsets){0};
    if (page->buffer_count <= INDEX || !page->buffers[INDEX].bytes)
        return NT_OK;
    const struct nt_lance_buffer *index = &page->buffers[INDEX];
    enum nt_status status = find_width(page, offsets, error);
    uint8_t *entries = status == NT_OK ? malloc(index->bytes) : NULL;
    if (status == NT_OK && !entries)
        return nt_fail_memory(error);
    offsets->entries = entries;
    if (status == NT_OK)
        status = nt_source_read(source, index->offset, entries, index->bytes, error);
    find_item_bytes(layout->tree, offsets);
    if (status == NT_OK)
        status = check(offsets, layout->items, index->offset, error);
    if (status != NT_OK)
        nt_error_context(error, "repetition index");
    return status;
}

void nt_lance_row_offsets_close(struct nt_lance_row_offsets *offsets)
{
    free((void *)offsets->entries);
}

/* ---- taking ---- */

static uint64_t items_of(const struct nt_lance_row_offsets *offsets, uint64_t bytes)
{
    return !offsets->item_bytes || bytes == offsets->empty_bytes ? 0 : bytes / offsets->item_bytes;
}

struct nt_lance_row_span nt_lance_row_offsets_take(const struct nt_lance_row_offsets *offsets, uint64_t row,
                                                   uint64_t most_bytes)
{
    struct nt_lance_row_span span = {0};
    uint64_t begin = begin_of(offsets, row), at = begin;
    while (row + span.rows < offsets->rows) {
        uint64_t end = begin_of(offsets, row + span.rows + 1);
        if (span.rows && end - begin > most_bytes)
            break;
        span.items += items_of(offsets, end - at);
        span.rows++;
        at = end;
    }
    span.bytes = at - begin;
    return span;
}
