/* SPDX-License-Identifier: MIT
 *
 * Splits a page into chunks that can be decoded independently: mini-block chunks, ranges of full-zip
 * rows, or the whole page.
 */
#include "formats/lance/file/page_list.h"

enum { ROWS_BYTES = 128 * 1024, METADATA = 0, CHUNKS = 1 };

/* ---- mini-blocks ---- */

static uint32_t word_bytes(const struct nt_lance_page_reader *opened)
{
    return opened->layout.tree->has_large_chunk ? 4 : 2;
}

static enum nt_status open_mini_block(const struct nt_lance *lance, struct nt_lance_page_reader *opened,
                                      struct nt_error *error)
{
    const struct nt_lance_page *page = opened->page;
    uint32_t buffers = 2 + (opened->layout.dictionary != NULL);
    if (page->buffer_count < buffers)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "buffers of a page", buffers,
                             page->buffer_count);
    const struct nt_lance_buffer *words = &page->buffers[METADATA];
    opened->page_chunks = words->bytes / word_bytes(opened);
    if (words->bytes % word_bytes(opened))
        return nt_fail(error, NT_CORRUPT, words->offset,
                       "the chunk sizes take %" PRIu64 " bytes, which is not a multiple of %" PRIu32,
                       words->bytes, word_bytes(opened));
    opened->chunks = malloc(words->bytes ? words->bytes : 1);
    NT_TRY(nt_check_memory(opened->chunks, error));
    opened->next_offset = page->buffers[CHUNKS].offset;
    return nt_source_read(lance->source, words->offset, opened->chunks, words->bytes, error);
}

static enum nt_status next_chunk(struct nt_lance_page_reader *opened, struct nt_lance_chunk *chunk_ret,
                                 struct nt_error *error)
{
    const struct nt_lance_buffer *chunks = &opened->page->buffers[CHUNKS];
    uint64_t before = opened->next_offset - chunks->offset;
    struct nt_lance_mini_block chunk = {.bytes = before, .values = opened->next_value};
    enum nt_status status = nt_lance_next_mini_block(opened->layout.tree, opened->chunks, opened->page_chunks,
                                                     opened->next_chunk_number, opened->layout.items,
                                                     chunks->bytes, &chunk, error);
    if (status != NT_OK && error && error->offset == NT_NO_OFFSET)
        error->offset = opened->next_offset;
    *chunk_ret = (struct nt_lance_chunk){
        .offset = chunks->offset + chunk.offset, .bytes = chunk.bytes, .values = chunk.values};
    return status;
}

/* ---- Rows ---- */

/* Returns the node of the values if they are consecutive and not compressed, maybe in fixed-size
 * lists. */
static const struct nt_encoding_tree_node *find_plain(const struct nt_encoding_tree *tree)
{
    const struct nt_encoding_tree_node *node = &tree->nodes[tree->values];
    bool is_bare = tree->layout == NT_LANCE_ARRAY ||
                   (!tree->repetition_bits && !tree->definition_bits && !tree->offset_bits);
    while (is_bare && node->kind == NT_LANCE_FIXED_LIST && !node->has_validity)
        node = &tree->nodes[node->children[0]];
    return is_bare && node->kind == NT_LANCE_FLAT && node->bits % 8 == 0 ? node : NULL;
}

static enum nt_status cut_rows(struct nt_lance_page_reader *opened, uint32_t buffer, uint64_t rows,
                               struct nt_error *error)
{
    const struct nt_lance_page *page = opened->page;
    uint64_t bytes;
    if (buffer >= page->buffer_count)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "buffers of a page", buffer + UINT64_C(1),
                             page->buffer_count);
    const struct nt_lance_buffer *from = &page->buffers[buffer];
    if (!nt_checked_multiply(opened->row_bytes, rows, &bytes) || bytes != from->bytes)
        return nt_fail(error, NT_CORRUPT, from->offset,
                       "%" PRIu64 " rows of %" PRIu64 " bytes do not fill %" PRIu64 " bytes", rows,
                       opened->row_bytes, from->bytes);
    opened->next_offset = from->offset;
    opened->rows_per_chunk = opened->row_bytes >= opened->mean_chunk_bytes || !opened->row_bytes
                                 ? 1
                                 : opened->mean_chunk_bytes / opened->row_bytes;
    opened->page_chunks = (rows + opened->rows_per_chunk - 1) / opened->rows_per_chunk;
    return NT_OK;
}

/* Returns the target size of a chunk of rows. It is smaller if null values take bytes only when
 * decoded. */
static uint64_t mean_chunk_bytes(const struct nt_encoding_tree *tree, const struct nt_lance_value *value)
{
    uint64_t stored = nt_lance_control_bytes(tree) + (tree->value_bits + 7) / 8, items, decoded;
    if (!tree->nodes[tree->node_count - 1].is_null || !stored)
        return ROWS_BYTES;
    if (!nt_lance_items_per_row(tree, &items) || !nt_checked_multiply(items, value->bits / 8, &decoded))
        decoded = UINT64_MAX;
    uint64_t ratio = decoded / stored;
    return ratio > 1 ? ROWS_BYTES / ratio : ROWS_BYTES;
}

/* Other rows need an index. */
static enum nt_status cut_by_index(const struct nt_lance *lance, struct nt_lance_page_reader *opened,
                                   struct nt_error *error)
{
    const struct nt_lance_page *page = opened->page;
    struct nt_lance_row_offsets *offsets = &opened->offsets;
    NT_TRY(nt_lance_row_offsets_open(lance->source, page, &opened->layout, offsets, error));
    if (!offsets->entries)
        return NT_OK;
    opened->page_chunks = 0;
    for (uint64_t row = 0; row < offsets->rows; opened->page_chunks++)
        row += nt_lance_row_offsets_take(offsets, row, opened->mean_chunk_bytes).rows;
    opened->next_offset = page->buffers[0].offset;
    return NT_OK;
}

/* Rows of fixed width without lists are at multiples of their width. */
static enum nt_status open_full_zip(const struct nt_lance *lance, struct nt_lance_page_reader *opened,
                                    struct nt_error *error)
{
    const struct nt_encoding_tree *tree = opened->layout.tree;
    opened->is_plain = find_plain(tree);
    if (tree->repetition_bits || tree->offset_bits)
        return cut_by_index(lance, opened, error);
    opened->row_bytes = nt_lance_control_bytes(tree) + (tree->value_bits + 7) / 8;
    return cut_rows(opened, 0, opened->layout.items, error);
}

static enum nt_status open_array(struct nt_lance_page_reader *opened, struct nt_error *error)
{
    const struct nt_encoding_tree_node *node = find_plain(opened->layout.tree);
    uint64_t items;
    opened->is_plain = node;
    if (!node)
        return NT_OK;
    if (!nt_lance_items_per_row(opened->layout.tree, &items) ||
        !nt_checked_multiply(items, node->bits / 8, &opened->row_bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the bytes of a row of fixed-size lists overflow");
    return cut_rows(opened, node->buffer, opened->page->length, error);
}

/* The page must not have lists. */
static uint64_t rows_of(const struct nt_lance_page_reader *opened)
{
    return opened->layout.tree->layout == NT_LANCE_FULL_ZIP ? opened->layout.items : opened->page->length;
}

/* A uniform value takes no bytes, so a page may have very many rows. Values of fixed width become pages
 * that decode few elements, whatever their number. For strings and fixed-size lists, a chunk has at
 * least MIN_ROWS rows, more if there would be over MAX_CHUNKS chunks, and at most as many as fit in a
 * page. */
static void open_uniform(const struct nt_dataset *dataset, const struct nt_lance_value *value,
                         struct nt_lance_page_reader *opened)
{
    enum { MIN_ROWS = 1 << 16, MAX_CHUNKS = 1 << 14 };
    const struct nt_encoding_tree *tree = opened->layout.tree;
    uint64_t rows = rows_of(opened), bytes = value->bits / 8, most = UINT32_MAX;
    bool is_single = !nt_lance_is_string(value) && !value->list_count;
    if (nt_lance_is_string(value))
        bytes = sizeof(uint64_t) + (tree->has_value_part ? tree->parts[0].bytes : tree->value_bytes);
    for (uint32_t i = 0; i < value->list_count; i++)
        if (!nt_checked_multiply(bytes, value->lists[i], &bytes))
            bytes = UINT64_MAX;
    if (!is_single && bytes)
        most = dataset->file->page_bytes / bytes;
    opened->rows_per_chunk = rows / MAX_CHUNKS + 1 > MIN_ROWS ? rows / MAX_CHUNKS + 1 : MIN_ROWS;
    if (is_single || opened->rows_per_chunk > most)
        opened->rows_per_chunk = most ? most : 1;
    opened->page_chunks = rows / opened->rows_per_chunk + (rows % opened->rows_per_chunk != 0);
}

bool nt_lance_is_uniform(const struct nt_encoding_tree *tree)
{
    if (tree->layout == NT_LANCE_CONSTANT)
        return tree->part_count == tree->has_value_part;
    if (tree->layout == NT_LANCE_FULL_ZIP)
        return !nt_lance_has_levels(tree) && !tree->value_bits && !tree->offset_bits;
    for (uint32_t i = 0; i < tree->part_count; i++)
        if (tree->parts[i].bytes)
            return false;
    return tree->layout == NT_LANCE_ARRAY;
}

/* ---- Whole pages ---- */

struct nt_lance_chunk nt_lance_page_span(const struct nt_lance_page *page)
{
    uint64_t first = UINT64_MAX, end = 0;
    for (uint32_t i = 0; i < page->buffer_count; i++) {
        const struct nt_lance_buffer *buffer = &page->buffers[i];
        if (!buffer->bytes)
            continue;
        first = buffer->offset < first ? buffer->offset : first;
        end = buffer->offset + buffer->bytes > end ? buffer->offset + buffer->bytes : end;
    }
    return (struct nt_lance_chunk){
        .offset = end ? first : 0, .bytes = end ? end - first : 0, .values = page->length};
}

void nt_lance_page_parts(const struct nt_lance_page *page, uint32_t count, struct nt_lance_buffer *parts)
{
    uint64_t first = nt_lance_page_span(page).offset;
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_lance_buffer *buffer = &page->buffers[i];
        parts[i] = (struct nt_lance_buffer){buffer->bytes ? buffer->offset - first : 0, buffer->bytes};
    }
}

static void next_rows(struct nt_lance_page_reader *opened, struct nt_lance_chunk *chunk)
{
    const struct nt_encoding_tree *tree = opened->layout.tree;
    uint64_t rows = rows_of(opened) - opened->next_value;
    *chunk = nt_lance_page_span(opened->page);
    if (tree->layout == NT_LANCE_FULL_ZIP && !nt_lance_is_uniform(tree))
        *chunk = (struct nt_lance_chunk){.offset = opened->page->buffers[0].offset,
                                         .bytes = opened->page->buffers[0].bytes,
                                         .values = rows};
    if (!opened->rows_per_chunk)
        return;
    chunk->values = rows < opened->rows_per_chunk ? rows : opened->rows_per_chunk;
    if (!opened->row_bytes)
        return;
    chunk->offset = opened->next_offset;
    chunk->bytes = chunk->values * opened->row_bytes;
}

static void next_indexed(struct nt_lance_page_reader *opened, struct nt_lance_chunk *chunk)
{
    const struct nt_lance_row_offsets *offsets = &opened->offsets;
    const struct nt_lance_row_span span =
        nt_lance_row_offsets_take(offsets, opened->next_row, opened->mean_chunk_bytes);
    *chunk = (struct nt_lance_chunk){opened->next_offset, span.bytes,
                                     offsets->item_bytes ? span.items : span.rows, span.rows};
    opened->next_row += span.rows;
}

/* ---- Read a page ---- */

/* Checks that the file's budget permits that many pages, before memory is allocated for them. */
static enum nt_status check_count(struct nt_dataset *dataset, const struct nt_lance_page_reader *opened,
                                  struct nt_error *error)
{
    NT_TRY(nt_budget_take(&dataset->file->budget, NT_COST_PAGE, opened->page_chunks, NT_NO_OFFSET, error));
    nt_budget_release(&dataset->file->budget, NT_COST_PAGE, opened->page_chunks);
    return NT_OK;
}

enum nt_status nt_lance_open_page(struct nt_dataset *dataset, const struct nt_lance *lance,
                                  const struct nt_lance_page *page,
                                  const struct nt_lance_column_map *column_map,
                                  const struct nt_encoding_tree *known, struct nt_lance_page_reader *opened,
                                  struct nt_error *error)
{
    *opened = (struct nt_lance_page_reader){.page = page, .page_chunks = 1};
    NT_TRY(nt_lance_make_layout(dataset->file, &lance->columns[column_map->column], page, column_map->value,
                                column_map->is_one_based, known, &opened->layout, error));
    const struct nt_encoding_tree *tree = opened->layout.tree;
    opened->mean_chunk_bytes =
        tree->layout == NT_LANCE_FULL_ZIP ? mean_chunk_bytes(tree, column_map->value) : ROWS_BYTES;
    if (tree->layout == NT_LANCE_MINI_BLOCK)
        NT_TRY(open_mini_block(lance, opened, error));
    else if (nt_lance_is_uniform(tree))
        open_uniform(dataset, column_map->value, opened);
    else if (tree->layout == NT_LANCE_FULL_ZIP)
        NT_TRY(open_full_zip(lance, opened, error));
    else if (tree->layout == NT_LANCE_ARRAY)
        NT_TRY(open_array(opened, error));
    return check_count(dataset, opened, error);
}

void nt_lance_close_page(struct nt_lance_page_reader *opened)
{
    free(opened->chunks);
    free(opened->index.entries);
    free(opened->offsets.entries);
}

enum nt_status nt_lance_next_chunk(struct nt_lance_page_reader *opened, struct nt_lance_chunk *chunk,
                                   struct nt_error *error)
{
    if (opened->layout.tree->layout == NT_LANCE_MINI_BLOCK)
        NT_TRY(next_chunk(opened, chunk, error));
    else if (opened->offsets.entries)
        next_indexed(opened, chunk);
    else
        next_rows(opened, chunk);
    opened->next_offset += chunk->bytes;
    opened->next_value += chunk->values;
    opened->next_chunk_number++;
    return NT_OK;
}
