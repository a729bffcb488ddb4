/* SPDX-License-Identifier: MIT
 *
 * Collects the pages of a field while its page list is built, creates their decoders, and reads the
 * pages and dictionaries whose contents must be counted.
 */
#include "formats/lance/file/file.h"

#include <ntuple/source.h>

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/model/budget.h"
#include "core/model/builder.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/page_list.h"

/* ---- Page list builder ---- */

/* The columns of a kind of field, by position; the validity comes after them. */
static const struct {
    uint32_t count;
    enum nt_tree_output outputs[2];
} outputs[NT_FIELD_KIND_COUNT] = {
    [NT_FIELD_VALUE] = {1, {NT_TREE_VALUES}},
    [NT_FIELD_STRING] = {2, {NT_TREE_ENDS, NT_TREE_BYTES}},
    [NT_FIELD_STREAMED] = {2, {NT_TREE_ENDS, NT_TREE_BYTES}},
    [NT_FIELD_JSON] = {2, {NT_TREE_ENDS, NT_TREE_BYTES}},
    [NT_FIELD_COLLECTION] = {1, {NT_TREE_OFFSETS}},
};

/* In strings: after the ends, before the validity. */
enum { BYTES_POSITION = 1 };

bool nt_page_list_builder_has(const struct nt_page_list_builder *list_builder, uint32_t position)
{
    return list_builder->part == NT_PAGE_LIST_ALL ||
           (position == BYTES_POSITION) == (list_builder->part == NT_PAGE_LIST_BYTES);
}

enum nt_field_kind nt_page_list_builder_kind(const struct nt_page_list_builder *list_builder)
{
    return list_builder->part == NT_PAGE_LIST_BYTES ? NT_FIELD_VALUE : list_builder->field->kind;
}

enum nt_tree_output nt_page_list_builder_output(const struct nt_page_list_builder *list_builder,
                                                uint32_t position)
{
    return list_builder->part == NT_PAGE_LIST_BYTES ? NT_TREE_VALUES
                                                    : nt_lance_output(list_builder->field->kind, position);
}

bool nt_page_list_builder_is_strings(const struct nt_page_list_builder *list_builder)
{
    return nt_page_list_builder_output(list_builder, 0) == NT_TREE_ENDS;
}

enum nt_tree_output nt_lance_output(enum nt_field_kind kind, uint32_t position)
{
    return position < outputs[kind].count ? outputs[kind].outputs[position] : NT_TREE_VALID;
}

enum nt_status nt_page_list_builder_charge(struct nt_page_list_builder *list_builder, uint64_t bytes)
{
    enum { MAX_PAGES = 64 };
    uint64_t limit;
    if (!nt_multiply(list_builder->dataset->file->page_bytes, MAX_PAGES, &limit))
        limit = UINT64_MAX;
    if (bytes <= limit - list_builder->spent) {
        list_builder->spent += bytes;
        return NT_OK;
    }
    return nt_fail(list_builder->error, NT_LIMIT, NT_NO_OFFSET,
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

enum nt_status nt_page_list_builder_add(struct nt_page_list_builder *list_builder,
                                        const struct nt_page_list_entry *entry)
{
    enum nt_status status = nt_budget_take(&list_builder->dataset->file->budget, NT_COST_ENVELOPE_BYTE,
                                           FILLED_BYTES, entry->offset, list_builder->error);
    if (status != NT_OK)
        return status;
    list_builder->taken++;
    struct nt_page_list_entry *grown =
        nt_grow(list_builder->entry, list_builder->count, &list_builder->capacity, sizeof(*grown));
    if (!grown)
        return nt_fail_memory(list_builder->error);
    uint64_t first = list_builder->rows;
    list_builder->entry = grown;
    grown[list_builder->count] = *entry;
    if (!nt_add(list_builder->rows, entry->rows, &list_builder->rows))
        return nt_fail(list_builder->error, NT_CORRUPT, NT_NO_OFFSET, "the column has more than 2^64 rows");
    if (list_builder->column_map->repeats > 1)
        begin_lists(list_builder->column_map->repeats, first, &grown[list_builder->count]);
    list_builder->count++;
    return NT_OK;
}

enum nt_status nt_lance_add_decoder(struct nt_dataset *dataset, const struct nt_tree_state *state,
                                    const struct nt_dtype *dtype,
                                    const struct nt_lance_dependencies *dependencies, uint32_t *number_ret,
                                    struct nt_error *error)
{
    const struct nt_decoder decoder = {.ops = &nt_tree_ops,
                                       .state = state,
                                       .dependencies = dependencies ? dependencies->pages : NULL,
                                       .state_bytes = sizeof(*state),
                                       .dependency_count = dependencies ? dependencies->count : 0,
                                       .encoding = NT_ENCODING_OTHER,
                                       .element = dtype->element,
                                       .element_bytes = dtype->bytes};
    return nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, number_ret,
                           error);
}

enum nt_status nt_lance_add_all_valid(struct nt_dataset *dataset, uint32_t *number_ret,
                                      struct nt_error *error)
{
    static const struct nt_tree all_valid = {.layout = NT_TREE_CONSTANT,
                                             .values = NT_NO_NODE,
                                             .repetition = NT_NO_NODE,
                                             .definition = NT_NO_NODE,
                                             .layer_count = 1,
                                             .layers = {NT_LAYER_ITEM}};
    const struct nt_dtype valid = nt_element_dtype(NT_ELEMENT_BOOL);
    const struct nt_tree_state state = {&all_valid, {.output = NT_TREE_VALID}};
    return nt_lance_add_decoder(dataset, &state, &valid, NULL, number_ret, error);
}

enum nt_status nt_page_list_builder_locate_failure(const struct nt_page_list_builder *list_builder,
                                                   enum nt_status status, uint64_t offset)
{
    struct nt_error *error = list_builder->error;
    if (status != NT_OK && !nt_is_environmental(status) && error && error->offset == NT_NO_OFFSET)
        error->offset = offset;
    return status;
}

enum nt_status nt_page_list_builder_locate_page_failure(const struct nt_page_list_builder *list_builder,
                                                        enum nt_status status,
                                                        const struct nt_lance_page *page, bool is_opened)
{
    const struct nt_lance_column *column = &list_builder->lance->columns[list_builder->column_map->column];
    uint64_t position = column->metadata.offset + (uint64_t)(page->encoding.bytes - column->message.bytes);
    if (is_opened && page->buffer_count)
        position = page->buffers[0].offset;
    return nt_page_list_builder_locate_failure(list_builder, status, position);
}

void nt_page_list_builder_deinit(struct nt_page_list_builder *list_builder)
{
    nt_budget_release(&list_builder->dataset->file->budget, NT_COST_ENVELOPE_BYTE,
                      list_builder->taken * FILLED_BYTES);
    free(list_builder->entry);
    free(list_builder->dictionary.ends);
    free(list_builder->window.bytes);
    nt_codec_context_free(list_builder->context);
}

static enum nt_status add_page(const struct nt_page_list_builder *list_builder,
                               struct nt_group_builder *builder, const struct nt_page_list_entry *entry,
                               uint32_t position, uint64_t elements, uint64_t parameter, bool is_uniform)
{
    if (elements > UINT32_MAX)
        return nt_fail(list_builder->error, NT_LIMIT, entry->offset,
                       "a chunk has %" PRIu64 " elements, more than the limit of 2^32", elements);
    const struct nt_page page = {.offset = entry->offset,
                                 .stored_bytes = entry->stored_bytes,
                                 .parameter = parameter,
                                 .elements = (uint32_t)elements,
                                 .decoder = entry->decoders[position],
                                 .source = list_builder->lance->number,
                                 .is_uniform = is_uniform};
    return elements || entry->is_blob ? nt_group_builder_add(builder, &page, list_builder->error) : NT_OK;
}

/* ---- What a column's elements are ---- */

struct putting {
    struct nt_page_list_builder *list_builder;
    struct nt_group_builder *builder;
    uint32_t position;
    uint64_t base;  /* bytes or items before the current entry */
    bool has_begun; /* a list has begun */
};

typedef enum nt_status put_part(struct putting *putting, const struct nt_page_list_entry *entry,
                                bool is_last);

static enum nt_status put_values(struct putting *putting, const struct nt_page_list_entry *entry,
                                 bool is_last)
{
    const struct nt_page_list_builder *list_builder = putting->list_builder;
    uint64_t elements;
    if (!nt_multiply(entry->rows, list_builder->column_map->items, &elements))
        return nt_fail(list_builder->error, NT_LIMIT, entry->offset,
                       "the number of items of fixed-size lists overflows");
    return add_page(list_builder, putting->builder, entry, putting->position, elements, entry->skipped,
                    entry->is_uniform);
}

static enum nt_status put_validity(struct putting *putting, const struct nt_page_list_entry *entry,
                                   bool is_last)
{
    struct nt_page_list_entry valid = *entry;
    if (entry->is_all_valid) {
        valid.offset = valid.stored_bytes = 0;
        valid.is_uniform = true;
    }
    return put_values(putting, &valid, is_last);
}

/* Puts ends that are relative to the entry; `base` is the sum of all earlier entries. */
static enum nt_status put_following(struct putting *putting, const struct nt_page_list_entry *entry,
                                    uint64_t added, const char *what)
{
    enum nt_status status = add_page(putting->list_builder, putting->builder, entry, putting->position,
                                     entry->rows, putting->base, false);
    if (status == NT_OK && !nt_add(putting->base, added, &putting->base))
        status = nt_fail(putting->list_builder->error, NT_CORRUPT, entry->offset,
                         "the column has more than 2^64 %s", what);
    return status;
}

static enum nt_status put_ends(struct putting *putting, const struct nt_page_list_entry *entry, bool is_last)
{
    return put_following(putting, entry, entry->bytes, "bytes of strings");
}

static enum nt_status put_bytes(struct putting *putting, const struct nt_page_list_entry *entry, bool is_last)
{
    return add_page(putting->list_builder, putting->builder, entry, putting->position, entry->bytes,
                    entry->rows, false);
}

static enum nt_status put_blob(struct putting *putting, const struct nt_page_list_entry *entry, bool is_last)
{
    return entry->is_blob ? add_page(putting->list_builder, putting->builder, entry, putting->position,
                                     entry->bytes, 0, false)
                          : NT_OK;
}

static enum nt_status put_presence(struct putting *putting, const struct nt_page_list_entry *entry,
                                   bool is_last)
{
    return entry->is_blob ? NT_OK : put_values(putting, entry, is_last);
}

/* The end of a list is known only where the next list begins, maybe in a later entry. */
static enum nt_status put_list_ends(struct putting *putting, const struct nt_page_list_entry *entry,
                                    bool is_last)
{
    bool is_first = !putting->has_begun && entry->rows;
    uint64_t elements = entry->rows - is_first, parameter = putting->base;
    if (putting->base >= NT_TREE_HAS_ITEM_COUNT || entry->items >= NT_TREE_HAS_ITEM_COUNT)
        return nt_fail(putting->list_builder->error, NT_LIMIT, entry->offset,
                       "the column has more than 2^61 items of lists");
    if (entry->is_uncounted && !(putting->base >> NT_TREE_ADDED_BITS))
        parameter |= NT_TREE_HAS_ITEM_COUNT | entry->items << NT_TREE_ADDED_BITS;
    putting->has_begun = putting->has_begun || entry->rows;
    putting->base += entry->items;
    if (is_first)
        parameter |= NT_TREE_IS_FIRST;
    if (is_last && putting->has_begun) {
        parameter |= NT_TREE_IS_LAST;
        elements++;
    }
    return add_page(putting->list_builder, putting->builder, entry, putting->position, elements, parameter,
                    false);
}

/* In version 2.0, a page has the ends of all its lists. */
static enum nt_status put_plain_ends(struct putting *putting, const struct nt_page_list_entry *entry,
                                     bool is_last)
{
    return put_following(putting, entry, entry->items, "items of lists");
}

static put_part *put_at(const struct nt_page_list_builder *list_builder, uint32_t position)
{
    if (list_builder->part == NT_PAGE_LIST_BYTES)
        return put_values;
    switch (list_builder->field->kind) {
    case NT_FIELD_STRING:
    case NT_FIELD_STREAMED:
    case NT_FIELD_JSON:
        return position == 0 ? put_ends : position == 1 ? put_bytes : put_validity;
    case NT_FIELD_COLLECTION:
        return position ? put_values : list_builder->column_map->layer ? put_list_ends : put_plain_ends;
    case NT_FIELD_PAGE_BYTES:
        return position ? put_presence : put_blob;
    case NT_FIELD_VALUE:
        return position ? put_validity : put_values;
    default:
        return put_validity;
    }
}

/* ---- Finish a page list ---- */

enum nt_status nt_page_list_builder_finish(struct nt_page_list_builder *list_builder,
                                           struct nt_group_builder *builder)
{
    enum nt_status status = NT_OK;
    uint32_t cluster = builder->group->first_cluster;
    for (uint32_t position = 0; status == NT_OK && position < list_builder->field->column_count; position++) {
        struct putting putting = {.list_builder = list_builder, .builder = builder, .position = position};
        put_part *put = put_at(list_builder, position);
        if (!nt_page_list_builder_has(list_builder, position))
            continue;
        status = nt_group_builder_start(
            builder, cluster, nt_field_column(list_builder->dataset, list_builder->number, 0, position),
            list_builder->error);
        for (size_t i = 0; status == NT_OK && i < list_builder->count; i++)
            status = put(&putting, &list_builder->entry[i], i + 1 == list_builder->count);
    }
    return status;
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

static enum nt_status read_window(struct nt_page_list_builder *list_builder, uint64_t offset, uint64_t bytes)
{
    if (bytes > list_builder->dataset->file->page_bytes)
        return nt_fail(list_builder->error, NT_LIMIT, offset,
                       "a page has %" PRIu64 " bytes, more than the limit pagesize of %" PRIu64, bytes,
                       list_builder->dataset->file->page_bytes);
    if (bytes > list_builder->window.capacity) {
        free(list_builder->window.bytes);
        list_builder->window.bytes = malloc(bytes);
        list_builder->window.capacity = list_builder->window.bytes ? bytes : 0;
    }
    list_builder->window.count = 0;
    if (!list_builder->window.bytes && bytes)
        return nt_fail_memory(list_builder->error);
    enum nt_status status = bytes ? nt_source_read(list_builder->lance->source, offset,
                                                   list_builder->window.bytes, bytes, list_builder->error)
                                  : NT_OK;
    if (status == NT_OK) {
        list_builder->window.offset = offset;
        list_builder->window.count = bytes;
    }
    return status;
}

static const uint8_t nothing[1];

enum nt_status nt_lance_read_chunk(struct nt_page_list_builder *list_builder,
                                   const struct nt_lance_page_reader *opened,
                                   const struct nt_lance_chunk *chunk, const uint8_t **bytes_ret)
{
    uint64_t offset = list_builder->window.offset, count = list_builder->window.count;
    bool is_there = chunk->offset >= offset && chunk->offset - offset <= count &&
                    chunk->bytes <= count - (chunk->offset - offset);
    if (!is_there) {
        uint64_t ahead = end_of(opened, chunk) - chunk->offset;
        if (ahead > WINDOW_BYTES)
            ahead = WINDOW_BYTES;
        enum nt_status status =
            read_window(list_builder, chunk->offset, ahead > chunk->bytes ? ahead : chunk->bytes);
        if (status != NT_OK)
            return status;
        offset = chunk->offset;
    }
    *bytes_ret = chunk->bytes ? list_builder->window.bytes + (chunk->offset - offset) : nothing;
    return NT_OK;
}

enum nt_status nt_lance_count_chunk(struct nt_page_list_builder *list_builder,
                                    const struct nt_lance_page_reader *opened,
                                    const struct nt_lance_chunk *chunk, bool needs_bytes,
                                    struct nt_tree_counts *counts)
{
    const uint8_t *bytes;
    *counts = (struct nt_tree_counts){0};
    enum nt_status status = nt_lance_read_chunk(list_builder, opened, chunk, &bytes);
    if (status != NT_OK)
        return status;
    const struct nt_value dependencies[2] = {{(const uint8_t *)list_builder->dictionary.ends,
                                              opened->layout.dictionary_items, NT_ELEMENT_UINT64,
                                              sizeof(uint64_t)},
                                             {NULL, list_builder->dictionary.bytes, NT_ELEMENT_BYTE, 1}};
    const struct nt_packed packed = {.data = bytes,
                                     .bytes = (size_t)chunk->bytes,
                                     .dependencies = dependencies,
                                     .context = list_builder->context,
                                     .limit = list_builder->dataset->file->page_bytes};
    status = nt_tree_count(opened->layout.tree, &packed, chunk->values, needs_bytes,
                           list_builder->column_map->member, counts, list_builder->error);
    return status == NT_OK ? nt_page_list_builder_charge(list_builder, chunk->bytes + counts->spent) : status;
}

enum nt_status nt_lance_read_dictionary(struct nt_page_list_builder *list_builder,
                                        const struct nt_lance_page_reader *opened)
{
    const struct nt_lance_layout *layout = &opened->layout;
    uint64_t limit = list_builder->dataset->file->page_bytes, bytes;
    if (!layout->dictionary || !nt_page_list_builder_is_strings(list_builder))
        return NT_OK;
    const struct nt_lance_buffer *buffer = &opened->page->buffers[layout->dictionary_buffer];
    const struct nt_lance_chunk chunk = {
        .offset = buffer->offset, .bytes = buffer->bytes, .values = layout->dictionary_items};
    const struct nt_tree_state state = {layout->dictionary, {.output = NT_TREE_ENDS}};
    const struct nt_decoder decoder = {.state = &state, .element_bytes = sizeof(uint64_t)};
    struct nt_packed packed = {.decoder = &decoder,
                               .bytes = (size_t)buffer->bytes,
                               .elements = (size_t)layout->dictionary_items,
                               .context = list_builder->context,
                               .limit = limit};
    struct nt_tree_counts counts = {.bytes = 0};
    enum nt_status status = nt_lance_read_chunk(list_builder, opened, &chunk, &packed.data);
    if (status == NT_OK &&
        (!nt_multiply(layout->dictionary_items, sizeof(uint64_t), &bytes) || bytes > limit))
        status = nt_fail(list_builder->error, NT_LIMIT, buffer->offset,
                         "a dictionary has %" PRIu64 " items, more than the limit pagesize allows",
                         layout->dictionary_items);
    if (status == NT_OK)
        status = nt_tree_count(layout->dictionary, &packed, layout->dictionary_items, true, 0, &counts,
                               list_builder->error);
    if (status == NT_OK)
        status = nt_page_list_builder_charge(list_builder, buffer->bytes + counts.spent);
    free(list_builder->dictionary.ends);
    list_builder->dictionary.ends = status == NT_OK ? malloc(bytes ? bytes : 1) : NULL;
    list_builder->dictionary.bytes = counts.bytes;
    if (status == NT_OK && !list_builder->dictionary.ends)
        status = nt_fail_memory(list_builder->error);
    if (status == NT_OK)
        status = nt_tree_decode(&packed, (uint8_t *)list_builder->dictionary.ends, list_builder->error);
    return status;
}

/* ---- Dictionary pages ---- */

/* Adds a dependency of a decoder: a page with this output of the dictionary. */
static enum nt_status add_dependency(struct nt_page_list_builder *list_builder,
                                     const struct nt_lance_page_reader *opened, enum nt_tree_output output,
                                     const struct nt_dtype *dtype, uint64_t elements, struct nt_page *page)
{
    const struct nt_lance_layout *layout = &opened->layout;
    const struct nt_lance_buffer *buffer = &opened->page->buffers[layout->dictionary_buffer];
    const struct nt_tree_state state = {layout->dictionary, {.output = output}};
    *page = (struct nt_page){.offset = buffer->offset,
                             .stored_bytes = buffer->bytes,
                             .parameter = output == NT_TREE_BYTES ? layout->dictionary_items : 0,
                             .elements = (uint32_t)elements,
                             .source = list_builder->lance->number};
    if (elements > UINT32_MAX)
        return nt_fail(list_builder->error, NT_LIMIT, buffer->offset,
                       "a dictionary has %" PRIu64 " items or bytes, more than the limit of 2^32", elements);
    return nt_lance_add_decoder(list_builder->dataset, &state, dtype, NULL, &page->decoder,
                                list_builder->error);
}

enum nt_status nt_lance_add_dependencies(struct nt_page_list_builder *list_builder,
                                         const struct nt_lance_page_reader *opened,
                                         struct nt_lance_dependencies *dependencies_ret)
{
    const struct nt_dtype index = nt_element_dtype(NT_ELEMENT_UINT64),
                          byte = nt_element_dtype(NT_ELEMENT_BYTE);
    struct nt_page *pages = dependencies_ret->pages;
    uint64_t items = opened->layout.dictionary_items;
    bool is_strings = nt_page_list_builder_is_strings(list_builder);
    dependencies_ret->count = !opened->layout.dictionary ? 0 : is_strings ? 2 : 1;
    if (dependencies_ret->count == 0)
        return NT_OK;
    if (!is_strings)
        return add_dependency(list_builder, opened, NT_TREE_VALUES, &list_builder->field->dtype, items,
                              &pages[0]);
    enum nt_status status = add_dependency(list_builder, opened, NT_TREE_ENDS, &index, items, &pages[0]);
    return status == NT_OK ? add_dependency(list_builder, opened, NT_TREE_BYTES, &byte,
                                            list_builder->dictionary.bytes, &pages[1])
                           : status;
}
