/* SPDX-License-Identifier: MIT
 *
 * In: a part of a page, or its dictionary. Out: its bytes, or what they tell of the strings in it.
 */
#include "formats/lance/file/reading.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/overflow.h"
#include "formats/lance/decode/tree.h"
#include "core/io/source.h"

enum { WINDOW_BYTES = 1024 * 1024 };

/* Where the buffer ends that a unit lies in: what may be read ahead. */
static uint64_t end_of(const struct nt_lance_opened *opened, const struct nt_lance_unit *unit)
{
    const struct nt_lance_page *page = opened->page;
    uint64_t end = unit->offset + unit->bytes;
    for (uint32_t i = 0; i < page->buffer_count; i++) {
        uint64_t first = page->buffers[i].offset, last = first + page->buffers[i].bytes;
        if (unit->offset >= first && unit->offset < last && last > end)
            end = last;
    }
    return end;
}

static enum nt_status read_window(struct nt_filling *filling, uint64_t offset, uint64_t bytes)
{
    if (bytes > filling->dataset->file->page_bytes)
        return nt_fail(filling->error, NT_LIMIT, offset,
                       "a page of %" PRIu64 " bytes, more than the limit pagesize of %" PRIu64, bytes,
                       filling->dataset->file->page_bytes);
    if (bytes > filling->window.capacity) {
        free(filling->window.bytes);
        filling->window.bytes = malloc(bytes);
        filling->window.capacity = filling->window.bytes ? bytes : 0;
    }
    filling->window.count = 0;
    if (!filling->window.bytes && bytes)
        return nt_fail_memory(filling->error);
    enum nt_status status =
        bytes ? nt_source_read(filling->lance->source, offset, filling->window.bytes, bytes, filling->error)
              : NT_OK;
    if (status == NT_OK) {
        filling->window.offset = offset;
        filling->window.count = bytes;
    }
    return status;
}

static const uint8_t nothing[1];

enum nt_status nt_lance_read_unit(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                  const struct nt_lance_unit *unit, const uint8_t **bytes_ret)
{
    uint64_t offset = filling->window.offset, count = filling->window.count;
    bool is_there = unit->offset >= offset && unit->offset - offset <= count &&
                    unit->bytes <= count - (unit->offset - offset);
    if (!is_there) {
        uint64_t ahead = end_of(opened, unit) - unit->offset;
        if (ahead > WINDOW_BYTES)
            ahead = WINDOW_BYTES;
        enum nt_status status = read_window(filling, unit->offset, ahead > unit->bytes ? ahead : unit->bytes);
        if (status != NT_OK)
            return status;
        offset = unit->offset;
    }
    *bytes_ret = unit->bytes ? filling->window.bytes + (unit->offset - offset) : nothing;
    return NT_OK;
}

enum nt_status nt_lance_count_unit(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                   const struct nt_lance_unit *unit, bool wants_bytes,
                                   struct nt_tree_counts *counts)
{
    const uint8_t *bytes;
    *counts = (struct nt_tree_counts){0};
    enum nt_status status = nt_lance_read_unit(filling, opened, unit, &bytes);
    if (status != NT_OK)
        return status;
    const struct nt_value inputs[2] = {{(const uint8_t *)filling->dictionary.ends,
                                        opened->layout.dictionary_items, NT_ELEMENT_UINT64, sizeof(uint64_t)},
                                       {NULL, filling->dictionary.bytes, NT_ELEMENT_BYTE, 1}};
    const struct nt_packed packed = {.data = bytes,
                                     .bytes = (size_t)unit->bytes,
                                     .inputs = inputs,
                                     .context = filling->context,
                                     .limit = filling->dataset->file->page_bytes};
    status = nt_tree_count(opened->layout.tree, &packed, unit->values, wants_bytes, filling->use->member,
                           counts, filling->error);
    return status == NT_OK ? nt_filling_spend(filling, unit->bytes + counts->spent) : status;
}

enum nt_status nt_lance_read_dictionary(struct nt_filling *filling, const struct nt_lance_opened *opened)
{
    const struct nt_lance_layout *layout = &opened->layout;
    uint64_t limit = filling->dataset->file->page_bytes, bytes;
    if (!layout->dictionary || !nt_filling_is_strings(filling))
        return NT_OK;
    const struct nt_lance_buffer *buffer = &opened->page->buffers[layout->dictionary_buffer];
    const struct nt_lance_unit unit = {
        .offset = buffer->offset, .bytes = buffer->bytes, .values = layout->dictionary_items};
    struct nt_packed packed = {.bytes = (size_t)buffer->bytes,
                               .elements = (size_t)layout->dictionary_items,
                               .context = filling->context,
                               .limit = limit};
    struct nt_tree_counts counts = {.bytes = 0};
    const struct nt_tree_want want = {.output = NT_TREE_ENDS};
    enum nt_status status = nt_lance_read_unit(filling, opened, &unit, &packed.data);
    if (status == NT_OK &&
        (!nt_multiply(layout->dictionary_items, sizeof(uint64_t), &bytes) || bytes > limit))
        status = nt_fail(filling->error, NT_LIMIT, buffer->offset,
                         "a dictionary of %" PRIu64 " items, more than the limit pagesize allows",
                         layout->dictionary_items);
    if (status == NT_OK)
        status = nt_tree_count(layout->dictionary, &packed, layout->dictionary_items, true, 0, &counts,
                               filling->error);
    if (status == NT_OK)
        status = nt_filling_spend(filling, buffer->bytes + counts.spent);
    free(filling->dictionary.ends);
    filling->dictionary.ends = status == NT_OK ? malloc(bytes ? bytes : 1) : NULL;
    filling->dictionary.bytes = counts.bytes;
    if (status == NT_OK && !filling->dictionary.ends)
        status = nt_fail_memory(filling->error);
    if (status == NT_OK)
        status = nt_tree_decode(layout->dictionary, &want, &packed, sizeof(uint64_t),
                                (uint8_t *)filling->dictionary.ends, filling->error);
    return status;
}
