/* SPDX-License-Identifier: MIT
 *
 * In: a page and what is wanted of it. Out: elements of a column of the model: values without those that are
 * masked, zeros for null ones; validity; end offsets of lists and strings; bytes of strings.
 */
#include "codec/tree/tree.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/overflow.h"
#include "codec/dictionary.h"
#include "codec/tree/work.h"

/* What is known of a page's values while they become elements. */
struct made {
    struct nt_work *work;
    const struct nt_tree_want *want;
    struct nt_opened opened;
    uint64_t rows;        /* of the innermost layer */
    const uint8_t *valid; /* a byte for each; NULL: all are */
};

static void set_work(struct nt_work *work, const struct nt_tree *tree, const struct nt_packed *packed)
{
    *work = (struct nt_work){.tree = tree, .packed = packed, .left = packed->limit};
}

/* ---- opening ---- */

static enum nt_status open_parts(const struct nt_work *work, struct nt_opened *opened, struct nt_error *error)
{
    const struct nt_tree *tree = work->tree;
    opened->part_count = tree->part_count;
    for (uint32_t i = 0; i < tree->part_count; i++) {
        const struct nt_tree_part *part = &tree->parts[i];
        if (part->offset > work->packed->bytes || part->bytes > work->packed->bytes - part->offset)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "buffer %" PRIu32 " lies outside of its page", i);
        opened->parts[i] = (struct nt_part){work->packed->data + part->offset, part->bytes};
    }
    return NT_OK;
}

static enum nt_status open_page(struct made *made, bool wants_levels, bool wants_values,
                                struct nt_error *error)
{
    struct nt_work *work = made->work;
    const struct nt_packed *packed = work->packed;
    switch (work->tree->layout) {
    case NT_TREE_MINI_BLOCK:
        return nt_mini_block_open(work, wants_levels, &made->opened, error);
    case NT_TREE_FULL_ZIP:
        return nt_full_zip_open(work, made->want->member, made->rows, &made->opened, error);
    case NT_TREE_CONSTANT:
        return nt_constant_open(work, made->rows, wants_values, &made->opened, error);
    case NT_TREE_BLOCK:
        made->opened.part_count = 1;
        made->opened.parts[0] = (struct nt_part){packed->data, packed->bytes};
        return NT_OK;
    case NT_TREE_ARRAY:
        return open_parts(work, &made->opened, error);
    }
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "a page of no known layout");
}

static enum nt_status decode_array(struct made *made, uint8_t *into, struct nt_error *error)
{
    struct nt_work *work = made->work;
    struct nt_opened *opened = &made->opened;
    uint32_t root = work->tree->values;
    if (opened->has_array)
        return NT_OK;
    if (work->tree->layout == NT_TREE_ARRAY)
        return nt_plain_decode(work, root, opened->parts, opened->part_count, made->rows, &opened->array,
                               error);
    if (work->tree->layout == NT_TREE_BLOCK)
        return nt_block_decode(work, root, &opened->parts[0], made->rows, into, &opened->array, error);
    return nt_tree_node_decode(work, root, opened->parts, opened->part_count, made->rows, into,
                               &opened->array, error);
}

/* ---- which rows are null ---- */

static enum nt_status check_rows(const struct made *made, uint64_t found, struct nt_error *error)
{
    if (found == made->rows)
        return NT_OK;
    return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "rows that the levels of a page tell", made->rows,
                          found);
}

/* Of the rows of a layer. `rows`: how many there have to be. */
static enum nt_status find_valid(const struct made *made, uint32_t layer, uint64_t rows, uint8_t *valid,
                                 struct nt_error *error)
{
    const struct nt_levels *levels = &made->opened.levels;
    struct nt_layer_rule rule;
    uint64_t found = 0;
    nt_layer_rule(made->work->tree, layer, &rule);
    for (uint64_t i = 0; i < levels->count; i++) {
        if (!nt_is_row(levels, &rule, i))
            continue;
        if (found < rows)
            valid[found] = nt_is_valid(levels, &rule, i);
        found++;
    }
    return found == rows ? NT_OK
                         : nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET,
                                          "rows that the levels of a page tell", rows, found);
}

static enum nt_status spread_bits(struct nt_work *work, const uint8_t *bits, uint64_t count,
                                  const uint8_t **bytes_ret, struct nt_error *error)
{
    uint8_t *bytes;
    enum nt_status status = nt_work_take(work, count, &bytes, error);
    for (uint64_t i = 0; status == NT_OK && i < count; i++)
        bytes[i] = bits[i / 8] >> (i % 8) & 1;
    *bytes_ret = bytes;
    return status;
}

/* Set `valid`, from levels or from what version 2.0 stores. */
static enum nt_status find_nulls(struct made *made, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    uint8_t *valid;
    if (array->valid)
        return spread_bits(made->work, array->valid, made->rows, &made->valid, error);
    if (!array->is_null && !made->opened.levels.count)
        return NT_OK;
    enum nt_status status = nt_work_take(made->work, made->rows, &valid, error);
    if (status != NT_OK)
        return status;
    made->valid = valid;
    if (!array->is_null)
        return find_valid(made, 0, made->rows, valid, error);
    memset(valid, 0, made->rows);
    return NT_OK;
}

/* Whether levels can tell that a value is null. */
static bool has_nulls(const struct nt_tree *tree)
{
    struct nt_layer_rule rule;
    if (tree->layout == NT_TREE_BLOCK || tree->layout == NT_TREE_ARRAY)
        return false;
    nt_layer_rule(tree, 0, &rule);
    for (uint32_t i = 0; i < tree->layer_count; i++)
        if (tree->layers[i] == NT_LAYER_NULLABLE_ITEM || tree->layers[i] == NT_LAYER_NULLABLE_LIST ||
            tree->layers[i] == NT_LAYER_NULL_AND_EMPTY_LIST || tree->layers[i] == NT_LAYER_EMPTYABLE_LIST)
            return rule.visible > 0;
    return false;
}

/* ---- values ---- */

/* Numbers of items, 0 where the row is null: what is stored there may be anything. */
static enum nt_status mask_numbers(struct made *made, const uint8_t **data_ret, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    uint32_t width = array->bits / 8;
    uint8_t *data;
    *data_ret = array->data;
    if (!made->valid)
        return NT_OK;
    enum nt_status status = nt_work_take(made->work, array->bytes, &data, error);
    if (status != NT_OK)
        return status;
    memcpy(data, array->data, array->bytes);
    for (uint64_t i = 0; i < array->elements; i++)
        if (!made->valid[i])
            memset(data + i * width, 0, width);
    *data_ret = data;
    return NT_OK;
}

static enum nt_status number_values(struct made *made, struct nt_value *numbers, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    enum nt_element element = array->bits == 8    ? NT_ELEMENT_UINT8
                              : array->bits == 16 ? NT_ELEMENT_UINT16
                              : array->bits == 32 ? NT_ELEMENT_UINT32
                                                  : NT_ELEMENT_UINT64;
    if (array->bits != 8 && array->bits != 16 && array->bits != 32 && array->bits != 64)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "numbers of a dictionary's items of %" PRIu32 " bits", array->bits);
    *numbers =
        (struct nt_value){.elements = array->elements, .element = element, .element_bytes = array->bits / 8};
    return mask_numbers(made, &numbers->data, error);
}

static bool is_all_null(const struct made *made)
{
    return made->valid && !memchr(made->valid, 1, made->rows);
}

/* A fixed-width dictionary's items. */
static enum nt_status look_up_values(struct made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_value *items = &made->work->packed->inputs[0];
    struct nt_value numbers;
    if (is_all_null(made)) {
        memset(output, 0, made->rows * items->element_bytes);
        return NT_OK;
    }
    enum nt_status status = number_values(made, &numbers, error);
    return status == NT_OK ? nt_dictionary_gather(&numbers, items, output, error) : status;
}

static void expand_bits(const struct nt_array *array, uint8_t *output)
{
    for (uint64_t i = 0; i < array->elements; i++)
        output[i] = array->data[i / 8] >> (i % 8) & 1;
}

/* Whether values are rows of structures, of which a member is wanted. */
static bool is_structure(const struct nt_tree *tree)
{
    return tree->values != NT_NO_NODE && tree->nodes[tree->values].kind == NT_TREE_PACKED;
}

/* From values as they are stored to elements: bits become bytes, of structures the member is taken. */
static enum nt_status copy_values(const struct made *made, uint32_t width, uint8_t *output,
                                  struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    bool is_packed = is_structure(made->work->tree);
    uint64_t stored = array->bits / 8, offset = is_packed ? made->want->member_offset : 0;
    if (array->is_null) {
        memset(output, 0, made->work->packed->elements * width);
    } else if (array->bits == 1 && width == 1) {
        expand_bits(array, output);
    } else if (array->bits % 8 || offset > stored || width > stored - offset ||
               (!is_packed && width != stored)) {
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bits of a value", (uint64_t)width * 8,
                              array->bits);
    } else if (stored == width) {
        if (output != array->data)
            memcpy(output, array->data, array->elements * width);
    } else {
        for (uint64_t i = 0; i < array->elements; i++)
            memcpy(output + i * width, array->data + i * stored + offset, width);
    }
    return NT_OK;
}

static void mask_items(const struct made *made, uint32_t width, uint8_t *output)
{
    const struct nt_array *array = &made->opened.array;
    uint64_t items = made->rows ? array->elements / made->rows : 0, lists = made->rows,
             elements = array->elements;
    for (uint64_t i = 0; made->valid && i < made->rows; i++)
        if (!made->valid[i])
            memset(output + i * items * width, 0, items * width);
    for (uint32_t d = 0; d < array->depth; d++) {
        const uint8_t *valid = array->lists[d].valid;
        lists *= array->lists[d].items; /* these are at most as many as there are elements */
        uint64_t each = lists ? elements / lists : 0;
        for (uint64_t i = 0; valid && i < lists; i++)
            if (!(valid[i / 8] >> (i % 8) & 1))
                memset(output + i * each * width, 0, each * width);
    }
}

static enum nt_status make_values(struct made *made, uint32_t width, uint8_t *output, struct nt_error *error)
{
    const struct nt_tree *tree = made->work->tree;
    uint64_t elements = made->work->packed->elements, items;
    if (!nt_tree_items(tree, &items) || !items || elements % items)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%" PRIu64 " elements in lists of %" PRIu64, elements,
                       items);
    made->rows = elements / items;
    bool is_nullable = has_nulls(tree);
    enum nt_status status = open_page(made, is_nullable, true, error);
    bool is_direct = !tree->has_dictionary && !is_structure(tree) && tree->values != NT_NO_NODE &&
                     tree->nodes[tree->values].bits == width * 8;
    if (status == NT_OK)
        status = decode_array(made, is_direct ? output : NULL, error);
    if (status == NT_OK)
        status = find_nulls(made, error);
    if (status == NT_OK && !made->opened.array.is_null &&
        made->opened.array.elements != (tree->has_dictionary ? made->rows : elements))
        status = check_rows(made, made->opened.array.elements / items, error);
    if (status == NT_OK)
        status = tree->has_dictionary ? look_up_values(made, output, error)
                                      : copy_values(made, width, output, error);
    if (status == NT_OK)
        mask_items(made, width, output);
    return status;
}

/* Of the places of blobs. */
static enum nt_status make_presence(struct made *made, uint8_t *output, struct nt_error *error)
{
    enum { PLACE_BYTES = 16 };
    uint64_t elements = made->work->packed->elements, bytes;
    uint8_t *places;
    if (!nt_multiply(elements, PLACE_BYTES, &bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%" PRIu64 " blobs are too many", elements);
    enum nt_status status = nt_work_take(made->work, bytes, &places, error);
    if (status == NT_OK)
        status = make_values(made, PLACE_BYTES, places, error);
    for (uint64_t i = 0; status == NT_OK && i < elements; i++)
        output[i] = nt_load_le64(places + i * PLACE_BYTES + 8) || !nt_load_le64(places + i * PLACE_BYTES);
    return status;
}

/* ---- strings ---- */

/* Of a dictionary of strings, those that the rows number. */
static enum nt_status look_up_strings(struct made *made, bool wants_bytes, struct nt_error *error)
{
    const struct nt_value *item_ends = &made->work->packed->inputs[0],
                          *bytes = &made->work->packed->inputs[1];
    struct nt_value numbers;
    uint64_t *ends, total = 0;
    uint8_t *output = NULL;
    if (is_all_null(made)) {
        made->opened.array.is_null = true;
        return NT_OK;
    }
    enum nt_status status = number_values(made, &numbers, error);
    if (status == NT_OK)
        status = nt_work_take(made->work, made->rows * sizeof(*ends), &ends, error);
    if (status == NT_OK)
        status = nt_dictionary_ends(&numbers, item_ends, made->valid, ends, error);
    if (status != NT_OK)
        return status;
    total = made->rows ? ends[made->rows - 1] : 0;
    if (wants_bytes)
        status = nt_work_take(made->work, total, &output, error);
    if (status == NT_OK && wants_bytes)
        status = nt_dictionary_bytes(&numbers, item_ends, bytes, ends, output, error);
    made->opened.array =
        (struct nt_array){.elements = made->rows, .data = output, .bytes = total, .ends = ends};
    return status;
}

/* Null strings have no bytes, whatever is stored of them. */
static enum nt_status drop_null_strings(struct made *made, bool wants_bytes, struct nt_error *error)
{
    struct nt_array *array = &made->opened.array;
    uint64_t dropped = 0, begin = 0, at = 0, *ends;
    uint8_t *output;
    for (uint64_t i = 0; made->valid && i < array->elements; begin = array->ends[i++])
        dropped += made->valid[i] ? 0 : array->ends[i] - begin;
    if (!dropped)
        return NT_OK;
    enum nt_status status = nt_work_take(made->work, array->elements * sizeof(*ends), &ends, error);
    if (status == NT_OK)
        status = nt_work_take(made->work, wants_bytes ? array->bytes - dropped : 0, &output, error);
    begin = 0;
    for (uint64_t i = 0; status == NT_OK && i < array->elements; begin = array->ends[i++]) {
        uint64_t bytes = made->valid[i] ? array->ends[i] - begin : 0;
        if (wants_bytes && bytes)
            memcpy(output + at, array->data + begin, bytes);
        ends[i] = at += bytes;
    }
    if (status == NT_OK)
        *array = (struct nt_array){.elements = array->elements, .data = output, .bytes = at, .ends = ends};
    return status;
}

/* `rows` is how many strings there are. */
static enum nt_status make_strings(struct made *made, bool wants_bytes, struct nt_error *error)
{
    const struct nt_tree *tree = made->work->tree;
    enum nt_status status = open_page(made, has_nulls(tree), true, error);
    if (status == NT_OK)
        status = decode_array(made, NULL, error);
    if (status == NT_OK)
        status = check_rows(made, made->opened.array.elements, error);
    if (status == NT_OK)
        status = find_nulls(made, error);
    if (status == NT_OK && tree->has_dictionary)
        status = look_up_strings(made, wants_bytes, error);
    if (status == NT_OK && !made->opened.array.is_null && !made->opened.array.ends && made->rows)
        status =
            nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "values of fixed width where strings were expected");
    return status == NT_OK && made->opened.array.ends ? drop_null_strings(made, wants_bytes, error) : status;
}

static enum nt_status make_ends(struct made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = made->work->packed;
    made->rows = packed->elements;
    enum nt_status status = make_strings(made, false, error);
    for (uint64_t i = 0; status == NT_OK && i < made->rows; i++) {
        uint64_t end = packed->parameter + (made->opened.array.is_null ? 0 : made->opened.array.ends[i]);
        memcpy(output + i * sizeof(end), &end, sizeof(end));
    }
    return status;
}

static enum nt_status make_bytes(struct made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = made->work->packed;
    made->rows = packed->parameter;
    enum nt_status status = make_strings(made, true, error);
    uint64_t bytes = status != NT_OK || made->opened.array.is_null ? 0 : made->opened.array.bytes;
    if (status == NT_OK && bytes != packed->elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of strings", packed->elements, bytes);
    if (status == NT_OK && bytes)
        memcpy(output, made->opened.array.data, bytes);
    return status;
}

/* ---- structure ---- */

/* The validity of items `depth` fixed lists deep, with that of all lists around them. */
static enum nt_status make_item_valid(struct made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    uint64_t elements = made->work->packed->elements, count = made->rows;
    enum nt_status status = decode_array(made, NULL, error);
    if (status == NT_OK)
        status = find_nulls(made, error);
    if (status != NT_OK)
        return status;
    if (made->rows && elements % made->rows)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%" PRIu64 " items in %" PRIu64 " lists", elements,
                       made->rows);
    memset(output, 1, elements);
    for (uint64_t i = 0, each = made->rows ? elements / made->rows : 0; made->valid && i < made->rows; i++)
        memset(output + i * each, made->valid[i], each);
    for (uint32_t d = 0; d < made->want->depth && d < array->depth; d++) {
        count *= array->lists[d].items;
        uint64_t each = count ? elements / count : 0;
        for (uint64_t i = 0; array->lists[d].valid && i < count; i++)
            if (!(array->lists[d].valid[i / 8] >> (i % 8) & 1))
                memset(output + i * each, 0, each);
    }
    return NT_OK;
}

static bool items_of_depth(const struct nt_tree *tree, uint32_t depth, uint64_t *items_ret)
{
    *items_ret = 1;
    for (uint32_t node = tree->values; node != NT_NO_NODE && depth;
         node = nt_tree_node_info(tree->nodes[node].kind)->children ? tree->nodes[node].children[0]
                                                                    : NT_NO_NODE)
        if (tree->nodes[node].kind == NT_TREE_FIXED_LIST) {
            depth--;
            if (!nt_multiply(*items_ret, tree->nodes[node].items, items_ret))
                return false;
        }
    return *items_ret;
}

static enum nt_status make_valid(struct made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_tree *tree = made->work->tree;
    uint64_t elements = made->work->packed->elements, items;
    if (!items_of_depth(tree, made->want->depth, &items) || elements % items)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%" PRIu64 " items in lists of %" PRIu64, elements,
                       items);
    made->rows = elements / items;
    bool is_plain = tree->layout == NT_TREE_ARRAY;
    enum nt_status status = open_page(made, true, made->want->depth || is_plain, error);
    if (status != NT_OK)
        return status;
    if (made->want->depth)
        return make_item_valid(made, output, error);
    if (is_plain) {
        status = decode_array(made, NULL, error);
        if (status == NT_OK)
            status = find_nulls(made, error);
        if (status == NT_OK && made->valid)
            memcpy(output, made->valid, elements);
        else if (status == NT_OK)
            memset(output, 1, elements);
        return status;
    }
    if (made->opened.levels.count || (tree->repetition_bits + tree->definition_bits) ||
        tree->repetition != NT_NO_NODE || tree->definition != NT_NO_NODE)
        return find_valid(made, made->want->layer, elements, output, error);
    memset(output, 1, elements);
    return NT_OK;
}

static enum nt_status put_offset(uint8_t *output, uint64_t elements, uint64_t *made, uint64_t value,
                                 struct nt_error *error)
{
    if (*made == elements)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "more than %" PRIu64 " lists in a page", elements);
    memcpy(output + 8 * (*made)++, &value, sizeof(value));
    return NT_OK;
}

static enum nt_status make_offsets(struct made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = made->work->packed;
    const struct nt_levels *levels = &made->opened.levels;
    uint64_t items = packed->parameter & ~(NT_TREE_IS_FIRST | NT_TREE_IS_LAST), elements = packed->elements,
             done = 0;
    bool is_first = packed->parameter & NT_TREE_IS_FIRST;
    struct nt_layer_rule list, item;
    if (made->work->tree->layout == NT_TREE_ARRAY)
        return make_ends(made, output, error);
    enum nt_status status = open_page(made, true, false, error);
    nt_layer_rule(made->work->tree, made->want->layer, &list);
    nt_layer_rule(made->work->tree, made->want->layer - 1, &item);
    for (uint64_t i = 0; status == NT_OK && i < levels->count; i++) {
        if (nt_is_row(levels, &list, i)) {
            if (!is_first)
                status = put_offset(output, elements, &done, items, error);
            is_first = false;
        }
        items += nt_is_row(levels, &item, i);
    }
    if (status == NT_OK && (packed->parameter & NT_TREE_IS_LAST))
        status = put_offset(output, elements, &done, items, error);
    if (status == NT_OK && done != elements)
        status = nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "lists that the levels of a page tell",
                                elements, done);
    return status;
}

/* ---- all ---- */

enum nt_status nt_tree_decode(const struct nt_tree *tree, const struct nt_tree_want *want,
                              const struct nt_packed *packed, uint32_t element_bytes, uint8_t *output,
                              struct nt_error *error)
{
    struct nt_work work;
    struct made made = {.work = &work, .want = want};
    enum nt_status status = NT_OK;
    set_work(&work, tree, packed);
    switch (want->output) {
    case NT_TREE_VALUES:
        status = make_values(&made, element_bytes, output, error);
        break;
    case NT_TREE_VALID:
        status = make_valid(&made, output, error);
        break;
    case NT_TREE_OFFSETS:
        status = make_offsets(&made, output, error);
        break;
    case NT_TREE_ENDS:
        status = make_ends(&made, output, error);
        break;
    case NT_TREE_BYTES:
        status = make_bytes(&made, output, error);
        break;
    case NT_TREE_PRESENT:
        status = make_presence(&made, output, error);
        break;
    }
    nt_work_free(&work);
    return status;
}

/* ---- counting ---- */

static enum nt_status count_rows(struct made *made, uint64_t values, struct nt_tree_counts *counts,
                                 struct nt_error *error)
{
    const struct nt_tree *tree = made->work->tree;
    struct nt_layer_rule rule;
    made->rows = values;
    enum nt_status status = open_page(made, true, false, error);
    for (uint32_t i = 0; status == NT_OK && i < tree->layer_count; i++) {
        nt_layer_rule(tree, i, &rule);
        counts->slots[i] = made->opened.levels.count ? nt_levels_rows(&made->opened.levels, &rule)
                           : rule.begins             ? 0
                                                     : values;
    }
    return status;
}

static enum nt_status count_bytes(struct made *made, uint64_t rows, struct nt_tree_counts *counts,
                                  struct nt_error *error)
{
    const struct nt_work *work = made->work;
    made->rows = rows;
    made->valid = NULL;
    made->opened = (struct nt_opened){0};
    (void)work;
    enum nt_status status = make_strings(made, false, error);
    if (status == NT_OK && !made->opened.array.is_null)
        counts->bytes =
            made->opened.array.elements ? made->opened.array.ends[made->opened.array.elements - 1] : 0;
    return status;
}

enum nt_status nt_tree_count(const struct nt_tree *tree, const struct nt_packed *packed, uint64_t values,
                             bool wants_bytes, uint32_t member, struct nt_tree_counts *counts,
                             struct nt_error *error)
{
    const struct nt_tree_want want = {.output = NT_TREE_ENDS, .member = member};
    struct nt_work work;
    struct made made = {.work = &work, .want = &want};
    enum nt_status status = NT_OK;
    *counts = (struct nt_tree_counts){0};
    set_work(&work, tree, packed);
    if (tree->layer_count)
        status = count_rows(&made, values, counts, error);
    if (status == NT_OK && wants_bytes)
        status = count_bytes(&made, tree->layer_count ? counts->slots[0] : values, counts, error);
    nt_work_free(&work);
    return status;
}
