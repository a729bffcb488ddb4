/* SPDX-License-Identifier: MIT
 *
 * Builds the page list of a field from the pages of its file column. Lists and strings are counted in one
 * pass over the column; each blob becomes a page of its own.
 */
#include "formats/lance/file/file.h"
#include "formats/lance/file/page_list.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/codec/codec.h"
#include "core/model/builder.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/messages.h"

/* ---- Blob pages ---- */

enum { PLACE_BYTES = 16 };

/* What tells whether the blobs of a page are there, or what is around them. */
static struct nt_tree_want nt_lance_presence(const struct nt_lance_opened *opened,
                                             const struct nt_lance_use *use)
{
    struct nt_layer_rule rule;
    nt_layer_rule(&opened->layout.blobs, use->layer, &rule);
    return (struct nt_tree_want){.output = NT_TREE_PRESENT, .valid = rule.valid};
}

/* Blobs lie in front of the metadata. */
static enum nt_status add_blob(struct nt_filling *filling, const uint8_t *place, uint64_t number)
{
    struct nt_filled filled = {
        .offset = nt_load_le64(place), .stored_bytes = nt_load_le64(place + 8), .is_blob = true};
    uint64_t end, metadata = filling->lance->tail.columns_start;
    filled.bytes = filled.stored_bytes;
    filled.decoders[0] = filling->decoders[0];
    if (!filled.bytes)
        filled.offset = 0;
    if (!nt_add(filled.offset, filled.bytes, &end) || end > metadata)
        return nt_fail(filling->error, NT_CORRUPT, NT_NO_OFFSET,
                       "blob %" PRIu64 ", %" PRIu64 " bytes at %" PRIu64
                       ", does not lie in front of the metadata, which begin at byte %" PRIu64,
                       number, filled.bytes, filled.offset, metadata);
    return nt_filling_add(filling, &filled);
}

static enum nt_status fill_blobs(struct nt_filling *filling, struct nt_lance_opened *opened)
{
    const struct nt_tree_state state = {opened->layout.tree, {.output = NT_TREE_VALUES}};
    const struct nt_decoder decoder = {.state = &state, .element_bytes = PLACE_BYTES};
    struct nt_lance_unit unit;
    struct nt_packed packed = {
        .decoder = &decoder, .context = filling->context, .limit = filling->dataset->file->page_bytes};
    uint64_t bytes;
    enum nt_status status = nt_lance_next_unit(opened, &unit, filling->error);
    if (status == NT_OK)
        status = nt_lance_read_unit(filling, opened, &unit, &packed.data);
    if (status == NT_OK && (!nt_multiply(unit.values, PLACE_BYTES, &bytes) || bytes > packed.limit))
        status = nt_fail(filling->error, NT_LIMIT, unit.offset,
                         "the places of %" PRIu64
                         " blobs in one page take more than the limit pagesize of %" PRIu64 " bytes",
                         unit.values, packed.limit);
    if (status == NT_OK)
        status = nt_filling_spend(filling, bytes);
    if (status != NT_OK)
        return status;
    packed.bytes = (size_t)unit.bytes;
    packed.elements = (size_t)unit.values;
    uint8_t *places = malloc(bytes ? bytes : 1);
    status = places ? nt_tree_decode(&packed, places, filling->error) : nt_fail_memory(filling->error);
    for (uint64_t i = 0; status == NT_OK && i < unit.values; i++)
        status = add_blob(filling, places + i * PLACE_BYTES, opened->next_value - unit.values + i);
    free(places);
    const struct nt_filled filled = {.offset = unit.offset,
                                     .stored_bytes = unit.bytes,
                                     .rows = unit.values,
                                     .decoders = {0, filling->decoders[1]}};
    return status == NT_OK ? nt_filling_add(filling, &filled) : status;
}

/* Each blob is a page; what says where it lies is decoded now. */
static enum nt_status nt_lance_fill_blobs(struct nt_filling *filling, struct nt_lance_opened *opened)
{
    struct nt_dataset *dataset = filling->dataset;
    const struct nt_tree_state state = {opened->layout.tree, nt_lance_presence(opened, filling->use)};
    const struct nt_dtype valid = nt_element_dtype(NT_ELEMENT_BOOL);
    struct nt_decoder decoder;
    enum nt_status status = nt_decoder_init(&decoder, NT_ENCODING_BYTE, 0, 0, 0, filling->error);
    if (status == NT_OK)
        status = nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder,
                                 &filling->decoders[0], filling->error);
    if (status == NT_OK && filling->field->is_nullable)
        status = nt_lance_add_decoder(dataset, &state, &valid, NULL, &filling->decoders[1], filling->error);
    while (status == NT_OK && opened->next_unit < opened->unit_count)
        status = fill_blobs(filling, opened);
    return status;
}

/* ---- Page lists ---- */

/* ---- decoders ---- */

static bool is_all_valid(const struct nt_filling *filling, const struct nt_lance_opened *opened)
{
    const struct nt_tree *tree = opened->layout.tree;
    bool is_bare = (tree->layout == NT_TREE_MINI_BLOCK || tree->layout == NT_TREE_FULL_ZIP) &&
                   !nt_tree_has_levels(tree) && !nt_tree_is_null(tree);
    return !opened->layout.is_blob && (opened->is_plain || (is_bare && !filling->use->depth));
}

/* Values that lie there as the column has them: its truth values are bits, those that are bytes here are not. */
static bool is_plain(const struct nt_filling *filling, const struct nt_lance_opened *opened, uint32_t column)
{
    const struct nt_dtype *dtype = &filling->dataset->columns[column].dtype;
    uint64_t bytes;
    return opened->is_plain && dtype->element != NT_ELEMENT_BOOL &&
           nt_multiply(filling->use->items, dtype->bytes, &bytes) && bytes == opened->row_bytes;
}

static enum nt_status add_decoder_at(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                     uint32_t position, const struct nt_lance_inputs *inputs)
{
    const struct nt_lance_use *use = filling->use;
    uint32_t column = nt_field_column(filling->dataset, filling->number, 0, position),
             *number = &filling->decoders[position];
    const struct nt_dtype *dtype = &filling->dataset->columns[column].dtype;
    struct nt_tree_want want = {.output = nt_filling_output(filling, position)};
    if (want.output == NT_TREE_VALUES && is_plain(filling, opened, column)) {
        *number = filling->dataset->columns[column].decoder;
        return NT_OK;
    }
    if (want.output == NT_TREE_VALID && filling->is_all_valid)
        return nt_lance_add_all_valid(filling->dataset, number, filling->error);
    if (opened->layout.is_blob)
        want = nt_lance_presence(opened, use);
    bool is_layer = want.output == NT_TREE_VALID || want.output == NT_TREE_OFFSETS;
    if (is_layer) {
        want.layer = use->layer;
        want.repeats = use->repeats;
        want.depth = want.output == NT_TREE_VALID ? use->depth : 0;
    }
    bool has_values = !is_layer || want.depth;
    if (has_values) {
        want.member = use->member;
        want.member_offset = use->member_offset;
        want.member_items = nt_tree_is_structure(opened->layout.tree) ? use->items : 0;
    }
    const struct nt_tree_state state = {opened->layout.tree, want};
    return nt_lance_add_decoder(filling->dataset, &state, dtype, has_values ? inputs : NULL, number,
                                filling->error);
}

static enum nt_status add_decoders(struct nt_filling *filling, const struct nt_lance_opened *opened)
{
    struct nt_lance_inputs inputs;
    enum nt_status status = nt_lance_add_inputs(filling, opened, &inputs);
    filling->is_all_valid = is_all_valid(filling, opened);
    for (uint32_t position = 0; status == NT_OK && position < filling->field->column_count; position++)
        if (nt_filling_has(filling, position))
            status = add_decoder_at(filling, opened, position, &inputs);
    return status;
}

/* ---- counting ---- */

static enum nt_status check_layer(const struct nt_filling *filling, const struct nt_lance_opened *opened)
{
    const struct nt_tree *tree = opened->layout.is_blob ? &opened->layout.blobs : opened->layout.tree;
    if (tree->layout == NT_TREE_ARRAY || filling->use->layer < tree->layer_count)
        return NT_OK;
    return nt_fail_number(filling->error, NT_CORRUPT, NT_NO_OFFSET,
                          "layers around the values of a page, at least", filling->use->layer + UINT64_C(1),
                          tree->layer_count);
}

static bool has_to_be_read(const struct nt_filling *filling, const struct nt_lance_opened *opened)
{
    const struct nt_tree *tree = opened->layout.tree;
    bool is_constant_with_levels =
        tree->layout == NT_TREE_CONSTANT && tree->part_count > tree->has_value_part;
    bool has_untold_items = opened->offsets.entries && !opened->offsets.item_bytes && tree->repetition_bits;
    return nt_filling_is_strings(filling) || nt_tree_lists(tree, filling->use->layer) ||
           is_constant_with_levels || has_untold_items;
}

static enum nt_status count_unit(struct nt_filling *filling, struct nt_lance_opened *opened,
                                 const struct nt_lance_unit *unit, struct nt_filled *filled)
{
    const struct nt_tree *tree = opened->layout.tree;
    const struct nt_lance_use *use = filling->use;
    struct nt_tree_counts counts;
    enum nt_status status =
        nt_lance_count_unit(filling, opened, unit, nt_filling_is_strings(filling), &counts);
    if (status == NT_OK && tree->layout == NT_TREE_MINI_BLOCK && counts.slots[0] != unit->values)
        status = nt_fail_number(filling->error, NT_CORRUPT, unit->offset,
                                "values of a chunk, as its levels tell", unit->values, counts.slots[0]);
    if (status == NT_OK && opened->offsets.entries && tree->layer_count &&
        counts.slots[tree->layer_count - 1] != unit->rows)
        status =
            nt_fail_number(filling->error, NT_CORRUPT, unit->offset, "rows, as the repetition index tells",
                           unit->rows, counts.slots[tree->layer_count - 1]);
    if (status == NT_OK)
        status =
            nt_lance_row_index_check(&opened->index, tree, opened->next_unit - 1, &counts, filling->error);
    filled->bytes = counts.bytes;
    if (tree->layer_count) {
        filled->rows = counts.slots[use->layer];
        filled->items = use->layer ? counts.slots[use->layer - 1] : 0;
    }
    return status;
}

/* Of the outermost layer's rows the page's index tells in which unit they begin, and how many values are in a unit the chunks'
 * words or the places of rows: where these are the items, no level has to be looked at. */
static bool is_told(const struct nt_filling *filling, const struct nt_lance_opened *opened,
                    const struct nt_lance_unit *unit)
{
    const struct nt_tree *tree = opened->layout.tree;
    uint32_t lists = nt_tree_lists(tree, filling->use->layer);
    bool is_list = nt_filling_kind(filling) == NT_FIELD_COLLECTION;
    return (opened->index.entries || opened->offsets.item_bytes) && lists &&
           lists == nt_tree_lists(tree, tree->layer_count) &&
           (!is_list || (lists == 1 && !(unit->values >> NT_TREE_ITEMS_BITS)));
}

/* Of a value that is the same in all rows, the parts of equal length are equal. */
static bool is_as_before(const struct nt_filling *filling, const struct nt_tree *tree,
                         const struct nt_filled *filled)
{
    return filling->count > filling->first_of_page && nt_lance_is_uniform(tree) &&
           filling->filled[filling->count - 1].rows == filled->rows;
}

static enum nt_status fill_unit(struct nt_filling *filling, struct nt_lance_opened *opened)
{
    const struct nt_tree *tree = opened->layout.tree;
    struct nt_lance_unit unit;
    enum nt_status status = nt_lance_next_unit(opened, &unit, filling->error);
    if (status != NT_OK)
        return status;
    struct nt_filled filled = {.offset = unit.offset,
                               .stored_bytes = unit.bytes,
                               .rows = unit.values,
                               .items = opened->layout.list_items};
    filled.is_all_valid = filling->is_all_valid;
    filled.is_uniform = filling->use->items == 1 && nt_lance_is_uniform(tree);
    if (is_as_before(filling, tree, &filled))
        filled.bytes = filling->filled[filling->count - 1].bytes;
    else if ((filled.is_told = is_told(filling, opened, &unit)))
        filled.rows = opened->index.entries ? nt_lance_row_index_rows(&opened->index, opened->next_unit - 1)
                                            : unit.rows;
    else if (has_to_be_read(filling, opened))
        status = count_unit(filling, opened, &unit, &filled);
    if (filled.is_told)
        filled.items = unit.values;
    for (uint32_t i = 0; i < NT_FILLED_DECODERS; i++)
        filled.decoders[i] = filling->decoders[i];
    if (status == NT_OK)
        status = nt_filling_add(filling, &filled);
    if (status != NT_OK)
        nt_error_context(filling->error, "unit %" PRIu64 " at byte %" PRIu64, opened->next_unit - 1,
                         unit.offset);
    return nt_filling_place_failure(filling, status, unit.offset);
}

/* ---- pages ---- */

static enum nt_status fill_units(struct nt_filling *filling, struct nt_lance_opened *opened)
{
    enum nt_status status = check_layer(filling, opened);
    if (status == NT_OK && nt_tree_lists(opened->layout.tree, filling->use->layer))
        status = nt_lance_row_index_open(filling->lance->source, opened->page, &opened->layout,
                                         opened->unit_count, &opened->index, filling->error);
    if (status == NT_OK)
        status = nt_lance_read_dictionary(filling, opened);
    if (status == NT_OK)
        status = add_decoders(filling, opened);
    filling->first_of_page = filling->count;
    while (status == NT_OK && opened->next_unit < opened->unit_count)
        status = fill_unit(filling, opened);
    return status;
}

/* Structures of version 2.0 store nothing: they are never null. */
static bool is_structure(const struct nt_lance_page *page)
{
    struct nt_proto member;
    return page->encoding_kind == NT_LANCE_ENCODING_IS_ARRAY &&
           nt_proto_choice(page->encoding, &nt_lance_array_encoding, &member) == NT_LANCE_ARRAY_STRUCT;
}

/* Those of later versions may be null; but a page of structures without members, of which nothing is stored, is one of valid ones, in
 * valid ones: its layers, which call them null, say nothing (Lance's structural encoder). */
static bool is_silent(const struct nt_lance_page *page, const struct nt_lance_use *use)
{
    struct nt_proto member;
    if (!use->is_memberless || nt_lance_page_choice(page, &member) != NT_LANCE_LAYOUT_CONSTANT)
        return false;
    for (uint32_t i = 0; i < page->buffer_count; i++)
        if (page->buffers[i].bytes)
            return false;
    return true;
}

static enum nt_status fill_structure(struct nt_filling *filling, const struct nt_lance_page *page)
{
    struct nt_filled filled = {.rows = page->length, .is_all_valid = true};
    enum nt_status status = nt_lance_add_all_valid(filling->dataset, &filled.decoders[0], filling->error);
    return status == NT_OK ? nt_filling_add(filling, &filled) : status;
}

/* Places tell of structures around the blobs, but not where a list begins. */
static enum nt_status check_around(const struct nt_filling *filling, const struct nt_lance_opened *opened)
{
    const struct nt_tree *blobs = &opened->layout.blobs;
    bool has_lists = filling->use->repeats > 1 || nt_tree_lists(blobs, blobs->layer_count);
    if (!has_lists && !opened->layout.dictionary)
        return NT_OK;
    return nt_fail(filling->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   has_lists ? "lists around blobs" : "places of blobs in a dictionary");
}

/* Whether a page stores places of values elsewhere if and only if the field's first page did. */
static enum nt_status check_places(const struct nt_filling *filling, const struct nt_lance_opened *opened)
{
    bool is_layout = opened->page->encoding_kind == NT_LANCE_ENCODING_IS_LAYOUT,
         has_places = filling->field->kind == NT_FIELD_PAGE_BYTES,
         has_values = nt_filling_kind(filling) == NT_FIELD_VALUE || nt_filling_is_strings(filling);
    enum nt_status status = NT_OK;
    if (opened->layout.is_blob)
        status = check_around(filling, opened);
    if (status != NT_OK || !is_layout || !(has_places || has_values) || opened->layout.is_blob == has_places)
        return status;
    return nt_fail(filling->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "blobs in some of the column's pages, values in others");
}

static enum nt_status fill_page(struct nt_filling *filling, const struct nt_lance_page *page,
                                const struct nt_tree **known)
{
    struct nt_lance_opened opened;
    uint64_t before = filling->rows;
    if (filling->field->kind == NT_FIELD_RECORD && (is_structure(page) || is_silent(page, filling->use)))
        return fill_structure(filling, page);
    enum nt_status status = nt_lance_open_page(filling->dataset, filling->lance, page, filling->use, *known,
                                               &opened, filling->error);
    if (status == NT_OK)
        status = check_places(filling, &opened);
    if (status == NT_OK)
        *known = opened.layout.tree;
    else
        nt_filling_place_page_failure(filling, status, page, false);
    if (status == NT_OK && filling->field->kind == NT_FIELD_PAGE_BYTES)
        status = nt_lance_fill_blobs(filling, &opened);
    else if (status == NT_OK)
        status = fill_units(filling, &opened);
    nt_lance_close_page(&opened);
    uint64_t rows = filling->rows - before;
    if (status == NT_OK && filling->field->parent == NT_NONE && rows != page->length)
        status =
            nt_fail_number(filling->error, NT_CORRUPT, NT_NO_OFFSET, "rows of the page", page->length, rows);
    return nt_filling_place_page_failure(filling, status, page, true);
}

static enum nt_status fill(struct nt_filling *filling)
{
    const struct nt_lance_column *column = &filling->lance->columns[filling->use->column];
    const struct nt_tree *known = NULL;
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < column->page_count; i++) {
        status = fill_page(filling, &column->pages[i], &known);
        if (status != NT_OK)
            nt_error_context(filling->error, "page %" PRIu32, i);
    }
    return status;
}

/* ---- strings of previews of 2.0: lists of bytes, which lie in the next column ---- */

static bool has_bytes_apart(const struct nt_lance *lance, uint32_t column)
{
    return lance->columns[column].page_count && nt_lance_has_lists(&lance->columns[column].pages[0]);
}

static uint64_t count_bytes(const struct nt_filling *filling)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < filling->count; i++)
        if (!nt_add(bytes, filling->filled[i].bytes, &bytes))
            return UINT64_MAX;
    return bytes;
}

/* `strings` are filled but for their bytes. */
static enum nt_status fill_bytes(const struct nt_filling *strings, struct nt_group_builder *builder)
{
    static const struct nt_lance_value byte = {.bits = 8};
    const struct nt_lance_use use = {
        .column = strings->use->column + 1, .items = 1, .repeats = 1, .value = &byte};
    struct nt_filling filling = {.dataset = strings->dataset,
                                 .number = strings->number,
                                 .field = strings->field,
                                 .lance = strings->lance,
                                 .use = &use,
                                 .part = NT_FILLING_BYTES,
                                 .context = strings->context,
                                 .error = strings->error};
    if (use.column >= strings->lance->tail.columns)
        return nt_fail(strings->error, NT_CORRUPT, NT_NO_OFFSET, "no column of bytes behind that of strings");
    enum nt_status status = fill(&filling);
    uint64_t bytes = count_bytes(strings);
    if (status == NT_OK && filling.rows != bytes)
        status =
            nt_fail_number(strings->error, NT_CORRUPT, strings->lance->columns[use.column].metadata.offset,
                           "bytes of strings", bytes, filling.rows);
    if (status == NT_OK)
        status = nt_filling_finish(&filling, builder);
    if (status != NT_OK)
        nt_error_context(strings->error, "column %" PRIu32 " of bytes", use.column);
    filling.context = NULL;
    nt_filling_deinit(&filling);
    return status;
}

enum nt_status nt_lance_fill_group(struct nt_dataset *dataset, uint32_t number, const struct nt_lance *lance,
                                   const struct nt_lance_use *use, struct nt_error *error)
{
    const struct nt_group *group = &dataset->groups[number];
    struct nt_group_builder builder;
    if (lance->legacy)
        return nt_lance_legacy_fill_group(dataset, number, lance, use, error);
    struct nt_filling filling = {.dataset = dataset,
                                 .number = group->field,
                                 .field = &dataset->fields[group->field],
                                 .lance = lance,
                                 .use = use,
                                 .error = error};
    enum nt_status status =
        nt_group_builder_init(&builder, dataset, number, "list of pages", NT_NO_OFFSET, error);
    filling.context = nt_codec_context_new();
    if (status == NT_OK && !filling.context)
        status = nt_fail_memory(error);
    if (nt_filling_is_strings(&filling) && has_bytes_apart(lance, use->column))
        filling.part = NT_FILLING_WITHOUT_BYTES;
    if (status == NT_OK)
        status = fill(&filling);
    if (status == NT_OK)
        status = nt_filling_finish(&filling, &builder);
    if (status == NT_OK && filling.part == NT_FILLING_WITHOUT_BYTES)
        status = fill_bytes(&filling, &builder);
    if (status != NT_OK)
        nt_error_context(error, "column %" PRIu32 " of the file", use->column);
    nt_filling_deinit(&filling);
    return nt_group_builder_finish(&builder, status);
}

enum nt_status nt_lance_load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    const struct nt_lance_use use = nt_lance_use_in(lance, dataset->groups[number].field);
    return nt_lance_fill_group(dataset, number, lance, &use, error);
}
