/* SPDX-License-Identifier: MIT
 *
 * Collects the pages of a field while its page list is built, creates their decoders, and reads the
 * pages and dictionaries whose contents must be counted.
 */
#include "formats/lance/file/page_list.h"

/* ---- Page list builder ---- */

/* The columns of a kind of field, by position; the validity comes after them. */
static const struct {
    uint32_t count;
    enum nt_lance_decoder_output outputs[2];
} outputs[NT_FIELD_KIND_COUNT] = {
    [NT_FIELD_VALUE] = {1, {NT_LANCE_VALUES}},
    [NT_FIELD_STRING] = {2, {NT_LANCE_ENDS, NT_LANCE_BYTES}},
    [NT_FIELD_STREAMED] = {2, {NT_LANCE_ENDS, NT_LANCE_BYTES}},
    [NT_FIELD_JSON] = {2, {NT_LANCE_ENDS, NT_LANCE_BYTES}},
    [NT_FIELD_COLLECTION] = {1, {NT_LANCE_OFFSETS}},
};

/* In strings: after the ends, before the validity. */
enum { BYTES_POSITION = 1 };

bool nt_lance_page_list_has(const struct nt_lance_page_list *list, uint32_t position)
{
    return list->part == NT_PAGE_LIST_ALL ||
           (position == BYTES_POSITION) == (list->part == NT_PAGE_LIST_BYTES);
}

enum nt_field_kind nt_lance_page_list_kind(const struct nt_lance_page_list *list)
{
    return list->part == NT_PAGE_LIST_BYTES ? NT_FIELD_VALUE : list->field->kind;
}

enum nt_lance_decoder_output nt_lance_page_list_output(const struct nt_lance_page_list *list,
                                                       uint32_t position)
{
    return list->part == NT_PAGE_LIST_BYTES ? NT_LANCE_VALUES : nt_lance_output(list->field->kind, position);
}

bool nt_lance_page_list_is_strings(const struct nt_lance_page_list *list)
{
    return nt_lance_page_list_output(list, 0) == NT_LANCE_ENDS;
}

enum nt_lance_decoder_output nt_lance_output(enum nt_field_kind kind, uint32_t position)
{
    return position < outputs[kind].count ? outputs[kind].outputs[position] : NT_LANCE_VALID;
}

enum nt_status nt_lance_page_list_charge(struct nt_lance_page_list *list, uint64_t bytes)
{
    enum { MAX_PAGES = 64 };
    uint64_t limit;
    if (!nt_checked_multiply(list->dataset->file->page_bytes, MAX_PAGES, &limit))
        limit = UINT64_MAX;
    if (bytes <= limit - list->spent) {
        list->spent += bytes;
        return NT_OK;
    }
    return nt_fail(list->error, NT_LIMIT, NT_NO_OFFSET,
                   "counting the elements of the column's pages needs more than %" PRIu64
                   " bytes, %d times the limit pagesize",
                   limit, MAX_PAGES);
}

/* Converts rows to lists of `repeats` rows each, counting those that begin in the entry. */
static void begin_lists(uint64_t repeats, uint64_t first, struct nt_page_list_entry *entry)
{
    uint64_t rows = entry->rows;
    entry->skipped = (repeats - first % repeats) % repeats;
    entry->rows = rows > entry->skipped ? (rows - entry->skipped - 1) / repeats + 1 : 0;
}

/* An entry, with the spare capacity of a growing array. */
enum { FILLED_BYTES = 2 * sizeof(struct nt_page_list_entry) };

enum nt_status nt_lance_page_list_add(struct nt_lance_page_list *list, const struct nt_page_list_entry *entry)
{
    NT_TRY(nt_budget_take(&list->dataset->file->budget, NT_COST_ENVELOPE_BYTE, FILLED_BYTES, entry->offset,
                          list->error));
    list->taken++;
    NT_TRY(nt_check_memory(NT_GROW(list->entry, list->count, list->capacity), list->error));
    uint64_t first = list->rows;
    list->entry[list->count] = *entry;
    if (!nt_checked_add(list->rows, entry->rows, &list->rows))
        return nt_fail(list->error, NT_CORRUPT, NT_NO_OFFSET, "the column has more than 2^64 rows");
    if (list->column_map->repeats > 1)
        begin_lists(list->column_map->repeats, first, &list->entry[list->count]);
    list->count++;
    return NT_OK;
}

enum nt_status nt_lance_add_decoder(struct nt_dataset *dataset, const struct nt_lance_decoder_state *state,
                                    const struct nt_dtype *dtype,
                                    const struct nt_lance_dependencies *dependencies, uint32_t *number_ret,
                                    struct nt_error *error)
{
    const struct nt_decoder decoder = {.ops = &nt_lance_decoder_ops,
                                       .state = state,
                                       .dependencies = dependencies ? dependencies->pages : NULL,
                                       .state_bytes = sizeof(*state),
                                       .dependency_count = dependencies ? dependencies->count : 0,
                                       .encoding = NT_ENCODING_OTHER,
                                       .number_encoding = NT_ENCODING_OTHER,
                                       .element = dtype->element,
                                       .element_bytes = dtype->bytes};
    return nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, number_ret,
                           error);
}

enum nt_status nt_lance_add_all_valid(struct nt_dataset *dataset, uint32_t *number_ret,
                                      struct nt_error *error)
{
    static const struct nt_encoding_tree all_valid = {.layout = NT_LANCE_CONSTANT,
                                                      .values = NT_NO_NODE,
                                                      .repetition = NT_NO_NODE,
                                                      .definition = NT_NO_NODE,
                                                      .layer_count = 1,
                                                      .layers = {NT_LAYER_ITEM}};
    const struct nt_dtype valid = nt_element_dtype(NT_ELEMENT_BOOL);
    const struct nt_lance_decoder_state state = {&all_valid, {.output = NT_LANCE_VALID}};
    return nt_lance_add_decoder(dataset, &state, &valid, NULL, number_ret, error);
}

static enum nt_status locate_failure(const struct nt_lance_page_list *list, enum nt_status status,
                                     uint64_t offset)
{
    struct nt_error *error = list->error;
    if (status != NT_OK && !nt_is_environmental(status) && error && error->offset == NT_NO_OFFSET)
        error->offset = offset;
    return status;
}

enum nt_status nt_lance_page_list_locate_chunk_failure(const struct nt_lance_page_list *list,
                                                       enum nt_status status,
                                                       const struct nt_lance_page_reader *opened,
                                                       const struct nt_lance_chunk *chunk)
{
    nt_with_context(status, list->error, "chunk %" PRIu64 " at byte %" PRIu64, opened->next_chunk_number - 1,
                    chunk->offset);
    return locate_failure(list, status, chunk->offset);
}

enum nt_status nt_lance_page_list_locate_page_failure(const struct nt_lance_page_list *list,
                                                      enum nt_status status, const struct nt_lance_page *page,
                                                      bool is_opened)
{
    const struct nt_lance_column *column = &list->lance->columns[list->column_map->column];
    uint64_t position = column->metadata.offset + (uint64_t)(page->encoding.bytes - column->message.bytes);
    if (is_opened && page->buffer_count)
        position = page->buffers[0].offset;
    return locate_failure(list, status, position);
}

void nt_lance_page_list_deinit(struct nt_lance_page_list *list)
{
    nt_budget_release(&list->dataset->file->budget, NT_COST_ENVELOPE_BYTE, list->taken * FILLED_BYTES);
    free(list->entry);
    free(list->dictionary.ends);
    free(list->window.bytes);
    nt_codec_context_free(list->context);
}

/* ---- Pages of a column ---- */

struct list_page_builder {
    struct nt_lance_page_list *list;
    struct nt_group_builder *builder;
    uint32_t position;
    uint64_t base;  /* bytes or items before the current entry */
    bool has_begun; /* a list has begun */
};

static enum nt_status add_page(const struct list_page_builder *build, const struct nt_page_list_entry *entry,
                               uint64_t elements, uint64_t parameter, bool is_uniform)
{
    const struct nt_lance_page_list *list = build->list;
    if (elements > UINT32_MAX)
        return nt_fail(list->error, NT_LIMIT, entry->offset,
                       "a chunk has %" PRIu64 " elements, more than the limit of 2^32", elements);
    const struct nt_page page = {.offset = entry->offset,
                                 .stored_bytes = entry->stored_bytes,
                                 .parameter = parameter,
                                 .elements = (uint32_t)elements,
                                 .decoder = entry->decoders[build->position],
                                 .source = list->lance->number,
                                 .is_uniform = is_uniform};
    return elements || entry->is_blob ? nt_group_builder_add(build->builder, &page, list->error) : NT_OK;
}

static enum nt_status put_values(const struct list_page_builder *build,
                                 const struct nt_page_list_entry *entry)
{
    uint64_t elements;
    if (!nt_checked_multiply(entry->rows, build->list->column_map->items, &elements))
        return nt_fail(build->list->error, NT_LIMIT, entry->offset,
                       "the number of items of fixed-size lists overflows");
    return add_page(build, entry, elements, entry->skipped, entry->is_uniform);
}

static enum nt_status put_validity(const struct list_page_builder *build,
                                   const struct nt_page_list_entry *entry)
{
    struct nt_page_list_entry valid = *entry;
    if (entry->is_all_valid) {
        valid.offset = valid.stored_bytes = 0;
        valid.is_uniform = true;
    }
    return put_values(build, &valid);
}

/* Puts ends that are relative to the entry; `base` is the sum of all earlier entries. */
static enum nt_status put_ends(struct list_page_builder *build, const struct nt_page_list_entry *entry,
                               uint64_t added, const char *what)
{
    NT_TRY(add_page(build, entry, entry->rows, build->base, false));
    if (!nt_checked_add(build->base, added, &build->base))
        return nt_fail(build->list->error, NT_CORRUPT, entry->offset, "the column has more than 2^64 %s",
                       what);
    return NT_OK;
}

/* The end of a list is known only where the next list begins, maybe in a later entry. */
static enum nt_status put_list_ends(struct list_page_builder *build, const struct nt_page_list_entry *entry,
                                    bool is_last)
{
    bool is_first = !build->has_begun && entry->rows;
    uint64_t elements = entry->rows - is_first, parameter = build->base;
    if (build->base >= NT_LANCE_HAS_ITEM_COUNT || entry->items >= NT_LANCE_HAS_ITEM_COUNT)
        return nt_fail(build->list->error, NT_LIMIT, entry->offset,
                       "the column has more than 2^61 items of lists");
    if (entry->is_uncounted && !(build->base >> NT_LANCE_ADDED_BITS))
        parameter |= NT_LANCE_HAS_ITEM_COUNT | entry->items << NT_LANCE_ADDED_BITS;
    build->has_begun = build->has_begun || entry->rows;
    build->base += entry->items;
    if (is_first)
        parameter |= NT_LANCE_IS_FIRST;
    if (is_last && build->has_begun) {
        parameter |= NT_LANCE_IS_LAST;
        elements++;
    }
    return add_page(build, entry, elements, parameter, false);
}

static enum nt_status put(struct list_page_builder *build, const struct nt_page_list_entry *entry,
                          bool is_last)
{
    const struct nt_lance_page_list *list = build->list;
    uint32_t position = build->position;
    enum nt_field_kind kind = nt_lance_page_list_kind(list);
    if (kind == NT_FIELD_PAGE_BYTES && entry->is_blob)
        return position ? NT_OK : add_page(build, entry, entry->bytes, 0, false);
    if (kind == NT_FIELD_PAGE_BYTES)
        return position ? put_values(build, entry) : NT_OK;
    switch (nt_lance_page_list_output(list, position)) {
    case NT_LANCE_VALUES:
        return put_values(build, entry);
    case NT_LANCE_BYTES:
        return add_page(build, entry, entry->bytes, entry->rows, false);
    case NT_LANCE_ENDS:
        return put_ends(build, entry, entry->bytes, "bytes of strings");
    case NT_LANCE_OFFSETS:
        return list->column_map->layer /* in version 2.0, a page has the ends of all its lists */
                   ? put_list_ends(build, entry, is_last)
                   : put_ends(build, entry, entry->items, "items of lists");
    default:
        return kind == NT_FIELD_COLLECTION ? put_values(build, entry) : put_validity(build, entry);
    }
}

enum nt_status nt_lance_page_list_finish(struct nt_lance_page_list *list, struct nt_group_builder *builder)
{
    uint32_t cluster = builder->group->first_cluster;
    for (uint32_t position = 0; position < list->field->column_count; position++) {
        struct list_page_builder build = {.list = list, .builder = builder, .position = position};
        if (!nt_lance_page_list_has(list, position))
            continue;
        NT_TRY(nt_group_builder_start(
            builder, cluster, nt_field_column(list->dataset, list->number, 0, position), list->error));
        for (size_t i = 0; i < list->count; i++)
            NT_TRY(put(&build, &list->entry[i], i + 1 == list->count));
    }
    return NT_OK;
}

/* ---- Read and count chunks ---- */

enum { WINDOW_BYTES = 1024 * 1024 };

/* Returns the end of the buffer with a chunk, which limits readahead. */
static uint64_t end_of(const struct nt_lance_page_reader *opened, const struct nt_lance_chunk *chunk)
{
    const struct nt_lance_page *page = opened->page;
    uint64_t end = chunk->offset + chunk->bytes;
    for (uint32_t i = 0; i < page->buffer_count; i++) {
        uint64_t first = page->buffers[i].offset, last = first + page->buffers[i].bytes;
        if (chunk->offset >= first && chunk->offset < last && last > end)
            end = last;
    }
    return end;
}

static enum nt_status read_window(struct nt_lance_page_list *list, uint64_t offset, uint64_t bytes)
{
    if (bytes > list->dataset->file->page_bytes)
        return nt_fail(list->error, NT_LIMIT, offset,
                       "a page has %" PRIu64 " bytes, more than the limit pagesize of %" PRIu64, bytes,
                       list->dataset->file->page_bytes);
    if (bytes > list->window.capacity) {
        free(list->window.bytes);
        list->window.bytes = malloc(bytes);
        list->window.capacity = list->window.bytes ? bytes : 0;
    }
    list->window.count = 0;
    if (!list->window.bytes && bytes)
        return nt_fail_memory(list->error);
    if (bytes)
        NT_TRY(nt_source_read(list->lance->source, offset, list->window.bytes, bytes, list->error));
    list->window.offset = offset;
    list->window.count = bytes;
    return NT_OK;
}

static const uint8_t nothing[1];

enum nt_status nt_lance_read_chunk(struct nt_lance_page_list *list, const struct nt_lance_page_reader *opened,
                                   const struct nt_lance_chunk *chunk, const uint8_t **bytes_ret)
{
    uint64_t offset = list->window.offset, count = list->window.count;
    bool is_there = chunk->offset >= offset && chunk->offset - offset <= count &&
                    chunk->bytes <= count - (chunk->offset - offset);
    if (!is_there) {
        uint64_t ahead = end_of(opened, chunk) - chunk->offset;
        if (ahead > WINDOW_BYTES)
            ahead = WINDOW_BYTES;
        NT_TRY(read_window(list, chunk->offset, ahead > chunk->bytes ? ahead : chunk->bytes));
        offset = chunk->offset;
    }
    *bytes_ret = chunk->bytes ? list->window.bytes + (chunk->offset - offset) : nothing;
    return NT_OK;
}

enum nt_status nt_lance_count_chunk(struct nt_lance_page_list *list,
                                    const struct nt_lance_page_reader *opened,
                                    const struct nt_lance_chunk *chunk, bool needs_bytes,
                                    struct nt_lance_counts *counts)
{
    const uint8_t *bytes;
    *counts = (struct nt_lance_counts){0};
    NT_TRY(nt_lance_read_chunk(list, opened, chunk, &bytes));
    const struct nt_value dependencies[2] = {{(const uint8_t *)list->dictionary.ends,
                                              opened->layout.dictionary_items, NT_ELEMENT_UINT64,
                                              sizeof(uint64_t)},
                                             {NULL, list->dictionary.bytes, NT_ELEMENT_BYTE, 1}};
    const struct nt_packed packed = {.data = bytes,
                                     .bytes = (size_t)chunk->bytes,
                                     .dependencies = dependencies,
                                     .context = list->context,
                                     .limit = list->dataset->file->page_bytes};
    NT_TRY(nt_lance_count(opened->layout.tree, &packed, chunk->values, needs_bytes, list->column_map->member,
                          counts, list->error));
    return nt_lance_page_list_charge(list, chunk->bytes + counts->spent);
}

enum nt_status nt_lance_read_dictionary(struct nt_lance_page_list *list,
                                        const struct nt_lance_page_reader *opened)
{
    const struct nt_lance_layout *layout = &opened->layout;
    uint64_t limit = list->dataset->file->page_bytes, bytes;
    if (!layout->dictionary || !nt_lance_page_list_is_strings(list))
        return NT_OK;
    const struct nt_lance_buffer *buffer = &opened->page->buffers[layout->dictionary_buffer];
    const struct nt_lance_chunk chunk = {
        .offset = buffer->offset, .bytes = buffer->bytes, .values = layout->dictionary_items};
    const struct nt_lance_decoder_state state = {layout->dictionary, {.output = NT_LANCE_ENDS}};
    const struct nt_decoder decoder = {.state = &state, .element_bytes = sizeof(uint64_t)};
    struct nt_packed packed = {.decoder = &decoder,
                               .bytes = (size_t)buffer->bytes,
                               .elements = (size_t)layout->dictionary_items,
                               .context = list->context,
                               .limit = limit};
    struct nt_lance_counts counts = {.bytes = 0};
    NT_TRY(nt_lance_read_chunk(list, opened, &chunk, &packed.data));
    if (!nt_checked_multiply(layout->dictionary_items, sizeof(uint64_t), &bytes) || bytes > limit)
        return nt_fail(list->error, NT_LIMIT, buffer->offset,
                       "a dictionary has %" PRIu64 " items, more than the limit pagesize allows",
                       layout->dictionary_items);
    NT_TRY(
        nt_lance_count(layout->dictionary, &packed, layout->dictionary_items, true, 0, &counts, list->error));
    NT_TRY(nt_lance_page_list_charge(list, buffer->bytes + counts.spent));
    free(list->dictionary.ends);
    list->dictionary.ends = malloc(bytes ? bytes : 1);
    list->dictionary.bytes = counts.bytes;
    NT_TRY(nt_check_memory(list->dictionary.ends, list->error));
    return nt_lance_decode(&packed, (uint8_t *)list->dictionary.ends, list->error);
}

/* ---- Dictionary pages ---- */

/* Adds a dependency of a decoder: a page with this output of the dictionary. */
static enum nt_status add_dependency(struct nt_lance_page_list *list,
                                     const struct nt_lance_page_reader *opened,
                                     enum nt_lance_decoder_output output, const struct nt_dtype *dtype,
                                     uint64_t elements, struct nt_page *page)
{
    const struct nt_lance_layout *layout = &opened->layout;
    const struct nt_lance_buffer *buffer = &opened->page->buffers[layout->dictionary_buffer];
    const struct nt_lance_decoder_state state = {layout->dictionary, {.output = output}};
    *page = (struct nt_page){.offset = buffer->offset,
                             .stored_bytes = buffer->bytes,
                             .parameter = output == NT_LANCE_BYTES ? layout->dictionary_items : 0,
                             .elements = (uint32_t)elements,
                             .source = list->lance->number};
    if (elements > UINT32_MAX)
        return nt_fail(list->error, NT_LIMIT, buffer->offset,
                       "a dictionary has %" PRIu64 " items or bytes, more than the limit of 2^32", elements);
    return nt_lance_add_decoder(list->dataset, &state, dtype, NULL, &page->decoder, list->error);
}

enum nt_status nt_lance_add_dependencies(struct nt_lance_page_list *list,
                                         const struct nt_lance_page_reader *opened,
                                         struct nt_lance_dependencies *dependencies_ret)
{
    const struct nt_dtype index = nt_element_dtype(NT_ELEMENT_UINT64),
                          byte = nt_element_dtype(NT_ELEMENT_BYTE);
    struct nt_page *pages = dependencies_ret->pages;
    uint64_t items = opened->layout.dictionary_items;
    bool is_strings = nt_lance_page_list_is_strings(list);
    dependencies_ret->count = !opened->layout.dictionary ? 0 : is_strings ? 2 : 1;
    if (dependencies_ret->count == 0)
        return NT_OK;
    if (!is_strings)
        return add_dependency(list, opened, NT_LANCE_VALUES, &list->field->dtype, items, &pages[0]);
    NT_TRY(add_dependency(list, opened, NT_LANCE_ENDS, &index, items, &pages[0]));
    return add_dependency(list, opened, NT_LANCE_BYTES, &byte, list->dictionary.bytes, &pages[1]);
}
