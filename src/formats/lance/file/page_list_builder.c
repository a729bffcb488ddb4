/* SPDX-License-Identifier: MIT
 *
 * Collects the pages of a field while its page list is built, creates their decoders, and reads the pages
 * and dictionaries whose contents must be counted.
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

/* What a kind of field has at each position, before its validity. */
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

/* Of strings: in front of it are the ends, behind it is the validity. */
enum { BYTES_POSITION = 1 };

bool nt_filling_has(const struct nt_filling *filling, uint32_t position)
{
    return filling->part == NT_FILLING_ALL ||
           (position == BYTES_POSITION) == (filling->part == NT_FILLING_BYTES);
}

enum nt_field_kind nt_filling_kind(const struct nt_filling *filling)
{
    return filling->part == NT_FILLING_BYTES ? NT_FIELD_VALUE : filling->field->kind;
}

enum nt_tree_output nt_filling_output(const struct nt_filling *filling, uint32_t position)
{
    return filling->part == NT_FILLING_BYTES ? NT_TREE_VALUES
                                             : nt_lance_output(filling->field->kind, position);
}

bool nt_filling_is_strings(const struct nt_filling *filling)
{
    return nt_filling_output(filling, 0) == NT_TREE_ENDS;
}

enum nt_tree_output nt_lance_output(enum nt_field_kind kind, uint32_t position)
{
    return position < outputs[kind].count ? outputs[kind].outputs[position] : NT_TREE_VALID;
}

enum nt_status nt_filling_spend(struct nt_filling *filling, uint64_t bytes)
{
    enum { MOST_PAGES = 64 };
    uint64_t limit;
    if (!nt_multiply(filling->dataset->file->page_bytes, MOST_PAGES, &limit))
        limit = UINT64_MAX;
    if (bytes <= limit - filling->spent) {
        filling->spent += bytes;
        return NT_OK;
    }
    return nt_fail(filling->error, NT_LIMIT, NT_NO_OFFSET,
                   "counting what the column's pages hold takes more than %" PRIu64
                   " bytes, %d times the limit pagesize",
                   limit, MOST_PAGES);
}

/* Of lists of so many rows each, those that begin in a part. */
static void begin_lists(uint64_t repeats, uint64_t first, struct nt_filled *filled)
{
    uint64_t rows = filled->rows;
    filled->skipped = (repeats - first % repeats) % repeats;
    filled->rows = rows > filled->skipped ? (rows - filled->skipped - 1) / repeats + 1 : 0;
}

/* A part is kept with what a list that grows has beside it. */
enum { FILLED_BYTES = 2 * sizeof(struct nt_filled) };

enum nt_status nt_filling_add(struct nt_filling *filling, const struct nt_filled *filled)
{
    enum nt_status status = nt_budget_take(&filling->dataset->file->budget, NT_COST_ENVELOPE_BYTE,
                                           FILLED_BYTES, filled->offset, filling->error);
    if (status != NT_OK)
        return status;
    filling->taken++;
    struct nt_filled *grown = nt_grow(filling->filled, filling->count, &filling->capacity, sizeof(*grown));
    if (!grown)
        return nt_fail_memory(filling->error);
    uint64_t first = filling->rows;
    filling->filled = grown;
    grown[filling->count] = *filled;
    if (!nt_add(filling->rows, filled->rows, &filling->rows))
        return nt_fail(filling->error, NT_CORRUPT, NT_NO_OFFSET, "more than 2^64 rows");
    if (filling->use->repeats > 1)
        begin_lists(filling->use->repeats, first, &grown[filling->count]);
    filling->count++;
    return NT_OK;
}

enum nt_status nt_lance_add_decoder(struct nt_dataset *dataset, const struct nt_tree_state *state,
                                    const struct nt_dtype *dtype, const struct nt_lance_inputs *inputs,
                                    uint32_t *number_ret, struct nt_error *error)
{
    const struct nt_decoder decoder = {.ops = &nt_tree_ops,
                                       .state = state,
                                       .inputs = inputs ? inputs->pages : NULL,
                                       .state_bytes = sizeof(*state),
                                       .input_count = inputs ? inputs->count : 0,
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

enum nt_status nt_filling_place_failure(const struct nt_filling *filling, enum nt_status status,
                                        uint64_t offset)
{
    struct nt_error *error = filling->error;
    if (status != NT_OK && !nt_is_machine_failure(status) && error && error->offset == NT_NO_OFFSET)
        error->offset = offset;
    return status;
}

enum nt_status nt_filling_place_page_failure(const struct nt_filling *filling, enum nt_status status,
                                             const struct nt_lance_page *page, bool is_opened)
{
    const struct nt_lance_column *column = &filling->lance->columns[filling->use->column];
    uint64_t place = column->metadata.offset + (uint64_t)(page->encoding.bytes - column->message.bytes);
    if (is_opened && page->buffer_count)
        place = page->buffers[0].offset;
    return nt_filling_place_failure(filling, status, place);
}

void nt_filling_deinit(struct nt_filling *filling)
{
    nt_budget_give(&filling->dataset->file->budget, NT_COST_ENVELOPE_BYTE, filling->taken * FILLED_BYTES);
    free(filling->filled);
    free(filling->dictionary.ends);
    free(filling->window.bytes);
    nt_codec_context_free(filling->context);
}

static enum nt_status add_page(const struct nt_filling *filling, struct nt_group_builder *builder,
                               const struct nt_filled *filled, uint32_t position, uint64_t elements,
                               uint64_t parameter, bool is_uniform)
{
    if (elements > UINT32_MAX)
        return nt_fail(filling->error, NT_LIMIT, filled->offset,
                       "%" PRIu64 " elements in one piece, more than the limit of 2^32", elements);
    const struct nt_page page = {.offset = filled->offset,
                                 .stored_bytes = filled->stored_bytes,
                                 .parameter = parameter,
                                 .elements = (uint32_t)elements,
                                 .decoder = filled->decoders[position],
                                 .source = filling->lance->number,
                                 .is_uniform = is_uniform};
    return elements || filled->is_blob ? nt_group_builder_add(builder, &page, filling->error) : NT_OK;
}

/* ---- what a column's elements are ---- */

struct putting {
    struct nt_filling *filling;
    struct nt_group_builder *builder;
    uint32_t position;
    uint64_t base;  /* bytes or items before the current part */
    bool has_begun; /* a list has */
};

typedef enum nt_status put_part(struct putting *putting, const struct nt_filled *filled, bool is_last);

static enum nt_status put_values(struct putting *putting, const struct nt_filled *filled, bool is_last)
{
    const struct nt_filling *filling = putting->filling;
    uint64_t elements;
    (void)is_last;
    if (!nt_multiply(filled->rows, filling->use->items, &elements))
        return nt_fail(filling->error, NT_LIMIT, filled->offset,
                       "the number of items of fixed-size lists overflows");
    return add_page(filling, putting->builder, filled, putting->position, elements, filled->skipped,
                    filled->is_uniform);
}

static enum nt_status put_validity(struct putting *putting, const struct nt_filled *filled, bool is_last)
{
    struct nt_filled valid = *filled;
    if (filled->is_all_valid) {
        valid.offset = valid.stored_bytes = 0;
        valid.is_uniform = true;
    }
    return put_values(putting, &valid, is_last);
}

/* Ends that lie in the part, and go on from those before it by what these have. */
static enum nt_status put_following(struct putting *putting, const struct nt_filled *filled, uint64_t added,
                                    const char *what)
{
    enum nt_status status = add_page(putting->filling, putting->builder, filled, putting->position,
                                     filled->rows, putting->base, false);
    if (status == NT_OK && !nt_add(putting->base, added, &putting->base))
        status = nt_fail(putting->filling->error, NT_CORRUPT, filled->offset, "more than 2^64 %s", what);
    return status;
}

static enum nt_status put_ends(struct putting *putting, const struct nt_filled *filled, bool is_last)
{
    (void)is_last;
    return put_following(putting, filled, filled->bytes, "bytes of strings");
}

static enum nt_status put_bytes(struct putting *putting, const struct nt_filled *filled, bool is_last)
{
    (void)is_last;
    return add_page(putting->filling, putting->builder, filled, putting->position, filled->bytes,
                    filled->rows, false);
}

static enum nt_status put_blob(struct putting *putting, const struct nt_filled *filled, bool is_last)
{
    (void)is_last;
    return filled->is_blob ? add_page(putting->filling, putting->builder, filled, putting->position,
                                      filled->bytes, 0, false)
                           : NT_OK;
}

static enum nt_status put_presence(struct putting *putting, const struct nt_filled *filled, bool is_last)
{
    return filled->is_blob ? NT_OK : put_values(putting, filled, is_last);
}

/* A list's end is known where the next one begins, maybe in a later part. */
static enum nt_status put_list_ends(struct putting *putting, const struct nt_filled *filled, bool is_last)
{
    bool is_first = !putting->has_begun && filled->rows;
    uint64_t elements = filled->rows - is_first, parameter = putting->base;
    if (putting->base >= NT_TREE_TELLS_ITEMS || filled->items >= NT_TREE_TELLS_ITEMS)
        return nt_fail(putting->filling->error, NT_LIMIT, filled->offset, "more than 2^61 items of lists");
    if (filled->is_told && !(putting->base >> NT_TREE_ADDED_BITS))
        parameter |= NT_TREE_TELLS_ITEMS | filled->items << NT_TREE_ADDED_BITS;
    putting->has_begun = putting->has_begun || filled->rows;
    putting->base += filled->items;
    if (is_first)
        parameter |= NT_TREE_IS_FIRST;
    if (is_last && putting->has_begun) {
        parameter |= NT_TREE_IS_LAST;
        elements++;
    }
    return add_page(putting->filling, putting->builder, filled, putting->position, elements, parameter,
                    false);
}

/* Version 2.0 has all ends of a page's lists in it. */
static enum nt_status put_plain_ends(struct putting *putting, const struct nt_filled *filled, bool is_last)
{
    (void)is_last;
    return put_following(putting, filled, filled->items, "items of lists");
}

static put_part *put_at(const struct nt_filling *filling, uint32_t position)
{
    if (filling->part == NT_FILLING_BYTES)
        return put_values;
    switch (filling->field->kind) {
    case NT_FIELD_STRING:
    case NT_FIELD_STREAMED:
    case NT_FIELD_JSON:
        return position == 0 ? put_ends : position == 1 ? put_bytes : put_validity;
    case NT_FIELD_COLLECTION:
        return position ? put_values : filling->use->layer ? put_list_ends : put_plain_ends;
    case NT_FIELD_PAGE_BYTES:
        return position ? put_presence : put_blob;
    case NT_FIELD_VALUE:
        return position ? put_validity : put_values;
    default:
        return put_validity;
    }
}

/* ---- all ---- */

enum nt_status nt_filling_finish(struct nt_filling *filling, struct nt_group_builder *builder)
{
    enum nt_status status = NT_OK;
    uint32_t cluster = builder->group->first_cluster;
    for (uint32_t position = 0; status == NT_OK && position < filling->field->column_count; position++) {
        struct putting putting = {.filling = filling, .builder = builder, .position = position};
        put_part *put = put_at(filling, position);
        if (!nt_filling_has(filling, position))
            continue;
        status = nt_group_builder_start(builder, cluster,
                                        nt_field_column(filling->dataset, filling->number, 0, position),
                                        filling->error);
        for (size_t i = 0; status == NT_OK && i < filling->count; i++)
            status = put(&putting, &filling->filled[i], i + 1 == filling->count);
    }
    return status;
}

/* ---- Read and count chunks ---- */

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
    const struct nt_tree_state state = {layout->dictionary, {.output = NT_TREE_ENDS}};
    const struct nt_decoder decoder = {.state = &state, .element_bytes = sizeof(uint64_t)};
    struct nt_packed packed = {.decoder = &decoder,
                               .bytes = (size_t)buffer->bytes,
                               .elements = (size_t)layout->dictionary_items,
                               .context = filling->context,
                               .limit = limit};
    struct nt_tree_counts counts = {.bytes = 0};
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
        status = nt_tree_decode(&packed, (uint8_t *)filling->dictionary.ends, filling->error);
    return status;
}

/* ---- Dictionary pages ---- */

/* A page that others need decoded before: what is wanted of the dictionary. */
static enum nt_status add_input(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                enum nt_tree_output output, const struct nt_dtype *dtype, uint64_t elements,
                                struct nt_page *page)
{
    const struct nt_lance_layout *layout = &opened->layout;
    const struct nt_lance_buffer *buffer = &opened->page->buffers[layout->dictionary_buffer];
    const struct nt_tree_state state = {layout->dictionary, {.output = output}};
    *page = (struct nt_page){.offset = buffer->offset,
                             .stored_bytes = buffer->bytes,
                             .parameter = output == NT_TREE_BYTES ? layout->dictionary_items : 0,
                             .elements = (uint32_t)elements,
                             .source = filling->lance->number};
    if (elements > UINT32_MAX)
        return nt_fail(filling->error, NT_LIMIT, buffer->offset,
                       "a dictionary of %" PRIu64 " items or bytes, more than the limit of 2^32", elements);
    return nt_lance_add_decoder(filling->dataset, &state, dtype, NULL, &page->decoder, filling->error);
}

enum nt_status nt_lance_add_inputs(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                   struct nt_lance_inputs *inputs_ret)
{
    const struct nt_dtype index = nt_element_dtype(NT_ELEMENT_UINT64),
                          byte = nt_element_dtype(NT_ELEMENT_BYTE);
    struct nt_page *pages = inputs_ret->pages;
    uint64_t items = opened->layout.dictionary_items;
    bool is_strings = nt_filling_is_strings(filling);
    inputs_ret->count = !opened->layout.dictionary ? 0 : is_strings ? 2 : 1;
    if (inputs_ret->count == 0)
        return NT_OK;
    if (!is_strings)
        return add_input(filling, opened, NT_TREE_VALUES, &filling->field->dtype, items, &pages[0]);
    enum nt_status status = add_input(filling, opened, NT_TREE_ENDS, &index, items, &pages[0]);
    return status == NT_OK
               ? add_input(filling, opened, NT_TREE_BYTES, &byte, filling->dictionary.bytes, &pages[1])
               : status;
}
