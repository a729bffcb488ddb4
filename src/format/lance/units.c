/* SPDX-License-Identifier: MIT
 *
 * In: a page of the file. Out: the parts that can be decoded alone: the chunks of mini-blocks, whose sizes and
 * numbers of values stand in the page's first buffer; rows of fixed width, which are cut as is convenient;
 * else the whole page (Lance's encoding, "Mini-block layout", "Full zip layout").
 */
#include "format/lance/units.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/overflow.h"
#include "io/source.h"

enum { CHUNK_UNIT = 8, ROWS_BYTES = 128 * 1024, METADATA = 0, CHUNKS = 1 };

/* ---- mini-blocks ---- */

static uint32_t word_bytes(const struct nt_lance_opened *opened)
{
    return opened->layout.tree->has_large_chunk ? 4 : 2;
}

static enum nt_status open_mini_block(struct nt_dataset *dataset, struct nt_lance_opened *opened,
                                      struct nt_error *error)
{
    const struct nt_lance_page *page = opened->page;
    uint32_t buffers = 2 + (opened->layout.dictionary != NULL);
    if (page->buffer_count < buffers)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "buffers of a page, at least", buffers,
                              page->buffer_count);
    const struct nt_lance_buffer *words = &page->buffers[METADATA];
    opened->unit_count = words->bytes / word_bytes(opened);
    if (words->bytes % word_bytes(opened))
        return nt_fail(error, NT_CORRUPT, words->offset,
                       "%" PRIu64 " bytes of chunks' sizes, of %" PRIu32 " each", words->bytes,
                       word_bytes(opened));
    uint8_t *chunks = malloc(words->bytes ? words->bytes : 1);
    if (!chunks)
        return nt_fail_memory(error);
    opened->chunks = chunks;
    opened->next_offset = page->buffers[CHUNKS].offset;
    return nt_source_read(dataset->file->source, words->offset, chunks, words->bytes, error);
}

/* The low bits have the logarithm of the number of values, 0 of the last one, which has the rest. */
static enum nt_status next_chunk(struct nt_lance_opened *opened, struct nt_lance_unit *unit,
                                 struct nt_error *error)
{
    const struct nt_lance_buffer *chunks = &opened->page->buffers[CHUNKS];
    const uint8_t *word = opened->chunks + opened->next_unit * word_bytes(opened);
    uint64_t number = word_bytes(opened) == 4 ? nt_load_le32(word) : nt_load_le16(word);
    uint64_t left = chunks->offset + chunks->bytes - opened->next_offset,
             items = opened->layout.items - opened->next_value;
    bool is_last = opened->next_unit + 1 == opened->unit_count;
    *unit = (struct nt_lance_unit){opened->next_offset, ((number >> 4) + 1) * CHUNK_UNIT,
                                   is_last ? items : UINT64_C(1) << (number & 15)};
    if (unit->bytes > left || (is_last && left - unit->bytes >= CHUNK_UNIT))
        return nt_fail(error, NT_CORRUPT, opened->next_offset,
                       "chunk %" PRIu64 " of %" PRIu64 " takes %" PRIu64
                       " bytes where its buffer has %" PRIu64 " left",
                       opened->next_unit, opened->unit_count, unit->bytes, left);
    if (unit->values > items)
        return nt_fail(error, NT_CORRUPT, opened->next_offset,
                       "chunk %" PRIu64 " has %" PRIu64 " values where its page has %" PRIu64 " left",
                       opened->next_unit, unit->values, items);
    return NT_OK;
}

/* ---- rows ---- */

/* Rows of fixed width without lists lie at multiples of their width. */
static enum nt_status open_rows(struct nt_lance_opened *opened, struct nt_error *error)
{
    const struct nt_tree *tree = opened->layout.tree;
    const struct nt_lance_page *page = opened->page;
    uint32_t bits = tree->repetition_bits + tree->definition_bits;
    uint64_t control = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4, bytes;
    if (!page->buffer_count)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a full-zip page without buffers");
    opened->next_offset = page->buffers[0].offset;
    opened->unit_count = 1;
    if (tree->repetition_bits || tree->offset_bits)
        return NT_OK;
    opened->row_bytes = control + (tree->value_bits + 7) / 8;
    if (!nt_multiply(opened->row_bytes, opened->layout.items, &bytes) || bytes != page->buffers[0].bytes)
        return nt_fail(error, NT_CORRUPT, page->buffers[0].offset,
                       "%" PRIu64 " rows of %" PRIu64 " bytes in %" PRIu64 " bytes", opened->layout.items,
                       opened->row_bytes, page->buffers[0].bytes);
    opened->rows_per_unit = opened->row_bytes >= ROWS_BYTES ? 1 : ROWS_BYTES / opened->row_bytes;
    opened->unit_count = (opened->layout.items + opened->rows_per_unit - 1) / opened->rows_per_unit;
    return NT_OK;
}

static void next_rows(struct nt_lance_opened *opened, struct nt_lance_unit *unit)
{
    uint64_t rows = opened->layout.items - opened->next_value;
    if (!opened->rows_per_unit) {
        *unit = (struct nt_lance_unit){opened->page->buffers[0].offset, opened->page->buffers[0].bytes, rows};
        return;
    }
    rows = rows < opened->rows_per_unit ? rows : opened->rows_per_unit;
    *unit = (struct nt_lance_unit){opened->next_offset, rows * opened->row_bytes, rows};
}

/* ---- whole pages ---- */

/* From the first byte of a buffer to the last. */
static void next_page(const struct nt_lance_opened *opened, struct nt_lance_unit *unit)
{
    const struct nt_lance_page *page = opened->page;
    uint64_t first = UINT64_MAX, end = 0;
    for (uint32_t i = 0; i < page->buffer_count; i++) {
        const struct nt_lance_buffer *buffer = &page->buffers[i];
        if (!buffer->bytes)
            continue;
        first = buffer->offset < first ? buffer->offset : first;
        end = buffer->offset + buffer->bytes > end ? buffer->offset + buffer->bytes : end;
    }
    *unit = (struct nt_lance_unit){end ? first : 0, end ? end - first : 0, page->length};
}

/* ---- all ---- */

enum nt_status nt_lance_open_page(struct nt_dataset *dataset, const struct nt_lance_page *page,
                                  const struct nt_lance_use *use, const struct nt_tree *known,
                                  struct nt_lance_opened *opened, struct nt_error *error)
{
    *opened = (struct nt_lance_opened){.page = page, .unit_count = 1};
    enum nt_status status = nt_lance_make_layout(dataset->file, page, use->value, use->is_one_based, known,
                                                 &opened->layout, error);
    if (status != NT_OK)
        return status;
    if (opened->layout.tree->layout == NT_TREE_MINI_BLOCK)
        return open_mini_block(dataset, opened, error);
    return opened->layout.tree->layout == NT_TREE_FULL_ZIP ? open_rows(opened, error) : NT_OK;
}

void nt_lance_close_page(struct nt_lance_opened *opened)
{
    free((void *)opened->chunks);
}

enum nt_status nt_lance_next_unit(struct nt_lance_opened *opened, struct nt_lance_unit *unit,
                                  struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (opened->layout.tree->layout == NT_TREE_MINI_BLOCK)
        status = next_chunk(opened, unit, error);
    else if (opened->layout.tree->layout == NT_TREE_FULL_ZIP)
        next_rows(opened, unit);
    else
        next_page(opened, unit);
    if (status != NT_OK)
        return status;
    opened->next_offset += unit->bytes;
    opened->next_value += unit->values;
    opened->next_unit++;
    return NT_OK;
}
