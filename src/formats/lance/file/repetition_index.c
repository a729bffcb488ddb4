/* SPDX-License-Identifier: MIT
 *
 * Reads the repetition indexes of mini-block and full-zip pages, and verifies that they agree with the
 * levels.
 */
#include "formats/lance/file/page_list.h"

/* ---- Mini-block repetition index ---- */

struct repetition_entry {
    uint64_t ended, left; /* rows; levels */
};

static struct repetition_entry entry_of(const struct nt_lance_row_index *index, uint64_t chunk)
{
    const uint8_t *bytes = index->entries + chunk * index->entry_bytes;
    return (struct repetition_entry){nt_load_le64(bytes), nt_load_le64(bytes + sizeof(uint64_t))};
}

static bool is_continued(const struct nt_lance_row_index *index, uint64_t chunk)
{
    return chunk && entry_of(index, chunk - 1).left;
}

uint64_t nt_lance_row_index_rows(const struct nt_lance_row_index *index, uint64_t chunk)
{
    const struct repetition_entry entry = entry_of(index, chunk);
    return entry.ended + (entry.left > 0) - is_continued(index, chunk);
}

static uint64_t position_of(const struct nt_lance_row_index *index, uint64_t chunk)
{
    return index->offset + chunk * index->entry_bytes;
}

/* Checks the sum of the rows that end in chunks, and that no row continues after the last chunk. */
static enum nt_status check_sum(const struct nt_lance_row_index *index, uint64_t rows, struct nt_error *error)
{
    uint64_t ended = 0;
    for (uint64_t i = 0; i < index->count; i++) {
        const struct repetition_entry entry = entry_of(index, i);
        bool is_last = i + 1 == index->count;
        if (!nt_checked_add(ended, entry.ended, &ended) || ended > rows ||
            (is_last && (entry.left || ended != rows)) ||
            (is_continued(index, i) && !entry.ended && !entry.left))
            return nt_fail(error, NT_CORRUPT, position_of(index, i),
                           "the repetition index has %" PRIu64 " rows that end in chunk %" PRIu64
                           " of %" PRIu64 ", and %" PRIu64 " levels after them, but the page has %" PRIu64
                           " rows",
                           entry.ended, i, index->count, entry.left, rows);
    }
    return NT_OK;
}

static enum nt_status place_index(const struct nt_lance_page *page, const struct nt_lance_layout *layout,
                                  struct nt_lance_row_index *index, struct nt_error *error)
{
    uint32_t number = 2 + (layout->dictionary != NULL); /* after metadata, chunks and dictionary */
    uint64_t entry_bytes, bytes;
    if (page->buffer_count <= number)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "buffers of a page with a repetition index",
                             number + 1, page->buffer_count);
    const struct nt_lance_buffer *buffer = &page->buffers[number];
    if (layout->index_depth >= UINT32_MAX / sizeof(uint64_t) - 1 ||
        !nt_checked_multiply(layout->index_depth + 1, sizeof(uint64_t), &entry_bytes) ||
        !nt_checked_multiply(index->count, entry_bytes, &bytes) || bytes != buffer->bytes)
        return nt_fail(error, NT_CORRUPT, buffer->offset,
                       "a repetition index of depth %" PRIu64 " cannot have %" PRIu64 " bytes for %" PRIu64
                       " chunks",
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
    NT_TRY(place_index(page, layout, index, error));
    uint64_t bytes = index->count * index->entry_bytes;
    index->entries = malloc(bytes ? bytes : 1);
    NT_TRY(nt_check_memory(index->entries, error));
    NT_TRY(nt_source_read(source, index->offset, index->entries, bytes, error));
    return check_sum(index, page->length, error);
}

static enum nt_status check_entry(const struct nt_lance_row_index *index, const struct nt_encoding_tree *tree,
                                  uint64_t chunk, bool goes_on, struct nt_error *error)
{
    const struct nt_lance_counts *counts = &index->counted;
    const struct repetition_entry found = entry_of(index, chunk),
                                  expected = {counts->slots[tree->layer_count - 1] + counts->is_continued -
                                                  goes_on,
                                              goes_on ? counts->last_row : 0};
    if (found.ended == expected.ended && found.left == expected.left)
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, position_of(index, chunk),
                   "the repetition index has %" PRIu64 " rows that end in chunk %" PRIu64 ", and %" PRIu64
                   " levels after them, but the chunk's levels have %" PRIu64 " and %" PRIu64,
                   found.ended, chunk, found.left, expected.ended, expected.left);
}

enum nt_status nt_lance_row_index_check(struct nt_lance_row_index *index, const struct nt_encoding_tree *tree,
                                        uint64_t chunk, const struct nt_lance_counts *counts,
                                        struct nt_error *error)
{
    if (!index->entries)
        return NT_OK;
    if (chunk)
        NT_TRY(check_entry(index, tree, chunk - 1, counts->is_continued, error));
    index->counted = *counts;
    if (chunk + 1 == index->count)
        NT_TRY(check_entry(index, tree, chunk, false, error));
    return NT_OK;
}

/* ---- Full-zip repetition index ---- */

enum { ROWS = 0, INDEX = 1 };

static uint64_t begin_of(const struct nt_lance_row_offsets *offsets, uint64_t row)
{
    return nt_number_at(offsets->entries, row, offsets->entry_bytes);
}

/* `position`: in the file, for errors. */
static enum nt_status check_row(const struct nt_lance_row_offsets *offsets, uint64_t row, uint64_t position,
                                uint64_t *items, struct nt_error *error)
{
    uint64_t begin = begin_of(offsets, row), end = begin_of(offsets, row + 1);
    if (end <= begin || end > offsets->end)
        return nt_fail(error, NT_CORRUPT, position,
                       "row %" PRIu64 " extends from byte %" PRIu64 " to byte %" PRIu64
                       ", but there are only %" PRIu64,
                       row, begin, end, offsets->end);
    if (!offsets->item_bytes || end - begin == offsets->empty_bytes)
        return NT_OK;
    *items += (end - begin) / offsets->item_bytes;
    if ((end - begin) % offsets->item_bytes)
        return nt_fail(error, NT_CORRUPT, position,
                       "row %" PRIu64 " has %" PRIu64 " bytes, which is not a multiple of %" PRIu32
                       " bytes an item",
                       row, end - begin, offsets->item_bytes);
    return NT_OK;
}

/* Checks that rows are consecutive and cover all bytes. */
static enum nt_status check(const struct nt_lance_row_offsets *offsets, uint64_t items, uint64_t position,
                            struct nt_error *error)
{
    uint64_t found = 0, first = begin_of(offsets, 0), last = begin_of(offsets, offsets->rows);
    for (uint64_t row = 0; row < offsets->rows; row++) {
        position += offsets->entry_bytes;
        NT_TRY(check_row(offsets, row, position, &found, error));
    }
    if (first || last != offsets->end)
        return nt_fail(error, NT_CORRUPT, position,
                       "the rows extend from byte %" PRIu64 " to byte %" PRIu64
                       ", but there are only %" PRIu64,
                       first, last, offsets->end);
    if (offsets->item_bytes && found != items)
        return nt_fail_number(error, NT_CORRUPT, position, "items in the positions of the rows", items,
                              found);
    return NT_OK;
}

/* Finds the bytes of an item. In lists of fixed-width values, without outer lists, all items have the
 * same size, and only the levels of empty lists are between them. Items without bytes look like empty
 * lists. */
static void find_item_bytes(const struct nt_encoding_tree *tree, struct nt_lance_row_offsets *offsets)
{
    if (tree->offset_bits || !tree->value_bits || !tree->layer_count ||
        nt_lance_lists(tree, tree->layer_count - 1) != 1)
        return;
    offsets->empty_bytes = nt_lance_control_bytes(tree);
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
    return nt_fail(error, NT_CORRUPT, index->offset,
                   "a repetition index cannot have %" PRIu64 " bytes for %" PRIu64 " rows", index->bytes,
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
    NT_TRY(nt_with_context(find_width(page, offsets, error), error, "repetition index"));
    offsets->entries = malloc(index->bytes);
    NT_TRY(nt_check_memory(offsets->entries, error));
    find_item_bytes(layout->tree, offsets);
    enum nt_status status = nt_source_read(source, index->offset, offsets->entries, index->bytes, error);
    if (status == NT_OK)
        status = check(offsets, layout->items, index->offset, error);
    return nt_with_context(status, error, "repetition index");
}

static uint64_t items_of(const struct nt_lance_row_offsets *offsets, uint64_t bytes)
{
    return !offsets->item_bytes || bytes == offsets->empty_bytes ? 0 : bytes / offsets->item_bytes;
}

struct nt_lance_row_span nt_lance_row_offsets_take(const struct nt_lance_row_offsets *offsets, uint64_t row,
                                                   uint64_t max_bytes)
{
    struct nt_lance_row_span span = {0};
    uint64_t begin = begin_of(offsets, row), at = begin;
    while (row + span.rows < offsets->rows) {
        uint64_t end = begin_of(offsets, row + span.rows + 1);
        if (span.rows && end - begin > max_bytes)
            break;
        span.items += items_of(offsets, end - at);
        span.rows++;
        at = end;
    }
    span.bytes = at - begin;
    return span;
}

/* ---- Verify repetition indexes ---- */

/* A column of the file, as one of its fields uses it. */
struct repetition_check {
    struct nt_lance_page_list list;
    nt_failure_emit *emit;
    void *context;
};

/* Checks chunks in order, up to the first that cannot be decoded; decoding reports that one. */
static enum nt_status check_chunks(struct nt_lance_page_list *list, struct nt_lance_page_reader *opened,
                                   bool *is_wrong)
{
    const struct nt_encoding_tree *tree = opened->layout.tree;
    enum nt_status status = NT_OK;
    while (status == NT_OK && opened->next_chunk_number < opened->page_chunks) {
        uint64_t number = opened->next_chunk_number;
        struct nt_lance_chunk chunk;
        struct nt_lance_counts counts;
        status = nt_lance_next_chunk(opened, &chunk, list->error);
        if (status == NT_OK)
            status = nt_lance_count_chunk(list, opened, &chunk, false, &counts);
        if (status != NT_OK || counts.slots[0] != chunk.values)
            return status;
        status = nt_lance_row_index_check(&opened->index, tree, number, &counts, list->error);
        *is_wrong = status != NT_OK;
    }
    return status;
}

static enum nt_status check_page(struct repetition_check *check, uint32_t number)
{
    struct nt_lance_page_list *list = &check->list;
    uint32_t column = list->column_map->column;
    NT_CLEANUP(nt_lance_close_page) struct nt_lance_page_reader opened = {0};
    enum nt_status status =
        nt_lance_open_page(list->dataset, list->lance, &list->lance->columns[column].pages[number],
                           list->column_map, NULL, &opened, list->error);
    if (status == NT_OK)
        status = nt_lance_row_index_open(list->lance->source, opened.page, &opened.layout, opened.page_chunks,
                                         &opened.index, list->error);
    bool is_wrong = status == NT_CORRUPT;
    if (status == NT_OK && opened.index.entries)
        status = check_chunks(list, &opened, &is_wrong);
    if (is_wrong) {
        nt_error_context(list->error, "column %" PRIu32 " of the file: page %" PRIu32, column, number);
        check->emit(check->context, list->error);
    }
    return nt_is_environmental(status) ? status : NT_OK;
}

static enum nt_status check_column(struct repetition_check *check)
{
    struct nt_lance_page_list *list = &check->list;
    uint32_t pages = list->lance->columns[list->column_map->column].page_count;
    list->context = nt_codec_context_new();
    enum nt_status status = nt_check_memory(list->context, list->error);
    for (uint32_t i = 0; status == NT_OK && i < pages; i++)
        status = check_page(check, i);
    nt_lance_page_list_deinit(list);
    return status;
}

static bool has_page_list(struct nt_dataset *dataset, uint32_t field)
{
    uint32_t group = dataset->field_groups[field];
    return group == NT_NONE || nt_dataset_load_group(dataset, group, NULL) == NT_OK;
}

/* For a column without fields, or with a field whose page list failed, which was reported. */
static const uint32_t no_user = UINT32_MAX, failed_user = UINT32_MAX - 1;

/* Finds one of the fields that use each column. */
static void find_users(struct nt_dataset *dataset, uint32_t *users)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    for (uint32_t i = 0; i < lance->tail.columns; i++)
        users[i] = no_user;
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        uint32_t column = nt_lance_map_own_column(lance, i).column;
        if (column != NT_NONE && !dataset->fields[i].unreadable && users[column] != failed_user)
            users[column] = has_page_list(dataset, i) ? i : failed_user;
    }
}

enum nt_status nt_lance_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                              struct nt_error *error)
{
    struct nt_dataset *dataset = file->datasets[0];
    const struct nt_lance *lance = nt_lance_of(dataset);
    struct nt_error failure = {0};
    if (!dataset->field_groups) /* there are no rows */
        return NT_OK;
    NT_AUTO_FREE uint32_t *users = malloc(((size_t)lance->tail.columns + 1) * sizeof(*users));
    NT_TRY(nt_check_memory(users, error));
    find_users(dataset, users);
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        if (users[i] == no_user || users[i] == failed_user)
            continue;
        const struct nt_lance_column_map column_map = nt_lance_map_own_column(lance, users[i]);
        struct repetition_check check = {.emit = emit, .context = context};
        check.list = (struct nt_lance_page_list){.dataset = dataset,
                                                 .number = users[i],
                                                 .field = &dataset->fields[users[i]],
                                                 .lance = lance,
                                                 .column_map = &column_map,
                                                 .error = &failure};
        if (check_column(&check) != NT_OK)
            return nt_fail_copy(error, &failure);
    }
    return NT_OK;
}
