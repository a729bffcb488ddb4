/* SPDX-License-Identifier: MIT
 *
 * Decodes the constant layout: one value or null for all rows, with levels.
 */
#include "formats/lance/decode/decode.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"

static enum nt_status decode_levels(struct nt_decode_arena *arena, uint32_t number, uint32_t root,
                                    uint64_t compressed, const uint16_t **levels_ret, uint64_t *count_ret,
                                    struct nt_error *error)
{
    struct nt_buffer_slice part = {0};
    enum nt_status status = nt_decode_buffer(arena, number, &part, error);
    if (status != NT_OK || !part.bytes)
        return status;
    uint64_t count = root == NT_NO_NODE ? part.bytes / sizeof(uint16_t) : compressed;
    status = nt_levels_decode(arena, root, &part, count, levels_ret, error);
    if (status == NT_OK && *count_ret && *count_ret != count)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "definition levels", *count_ret, count);
    *count_ret = count;
    return status;
}

static enum nt_status open_levels(struct nt_decode_arena *arena, struct nt_levels *levels,
                                  struct nt_error *error)
{
    const struct nt_tree *tree = arena->tree;
    uint32_t first = tree->has_value_part;
    enum nt_status status = NT_OK;
    if (tree->part_count >= first + 1)
        status = decode_levels(arena, first, tree->repetition, tree->repetition_count, &levels->repetition,
                               &levels->count, error);
    if (status == NT_OK && tree->part_count >= first + 2)
        status = decode_levels(arena, first + 1, tree->definition, tree->definition_count,
                               &levels->definition, &levels->count, error);
    return status == NT_OK ? nt_levels_check(tree, levels, error) : status;
}

/* Reads a u32 buffer count, a u32 size of each, and the buffers of a one-value Arrow array. Returns
 * the last buffer; the offsets of strings, in the one before it, are not needed. */
static enum nt_status open_value(struct nt_decode_arena *arena, struct nt_buffer_slice *value,
                                 struct nt_error *error)
{
    const struct nt_tree *tree = arena->tree;
    struct nt_buffer_slice part = {0};
    *value = (struct nt_buffer_slice){tree->value, tree->value_bytes};
    if (!tree->has_value_part)
        return NT_OK;
    enum nt_status status = nt_decode_buffer(arena, 0, &part, error);
    if (status != NT_OK)
        return status;
    struct nt_cursor cursor = nt_cursor(part.data, part.bytes);
    uint32_t count = nt_get_le32(&cursor);
    struct nt_cursor sizes = cursor;
    nt_skip(&cursor, (uint64_t)count * sizeof(uint32_t));
    for (uint32_t i = 0; i < count && !cursor.failed; i++) {
        value->bytes = nt_get_le32(&sizes);
        value->data = nt_get_bytes(&cursor, value->bytes);
    }
    if (cursor.failed || !count)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "the buffers of a constant page's value exceed its %" PRIu64 " bytes", part.bytes);
    return NT_OK;
}

/* ---- Repeated values ---- */

static bool is_variable(const struct nt_decode_arena *arena)
{
    const struct nt_tree *tree = arena->tree;
    return tree->values != NT_NO_NODE && tree->nodes[tree->values].kind == NT_TREE_VARIABLE;
}

static enum nt_status repeat_string(struct nt_decode_arena *arena, const struct nt_buffer_slice *value,
                                    uint64_t count, struct nt_decoded_array *array, struct nt_error *error)
{
    uint64_t *ends, bytes;
    uint8_t *data;
    if (!nt_multiply(count, value->bytes, &bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of %" PRIu64 " equal strings overflows",
                       count);
    enum nt_status status = nt_decode_alloc(arena, count * sizeof(*ends), &ends, error);
    if (status == NT_OK)
        status = nt_decode_alloc(arena, bytes, &data, error);
    for (uint64_t i = 0; status == NT_OK && i < count; i++) {
        if (value->bytes)
            memcpy(data + i * value->bytes, value->data, value->bytes);
        ends[i] = (i + 1) * value->bytes;
    }
    if (status == NT_OK)
        *array = (struct nt_decoded_array){.elements = count, .data = data, .bytes = bytes, .ends = ends};
    return status;
}

/* Repeats the items of one row for all rows. */
static enum nt_status repeat_value(struct nt_decode_arena *arena, const struct nt_buffer_slice *value,
                                   uint64_t count, struct nt_decoded_array *array, struct nt_error *error)
{
    const struct nt_tree *tree = arena->tree;
    uint64_t items, bits, total, bytes;
    uint32_t root = tree->values;
    for (; root != NT_NO_NODE && nt_tree_node_info(tree->nodes[root].kind)->children;
         root = tree->nodes[root].children[0])
        if (tree->nodes[root].kind == NT_TREE_FIXED_LIST && array->depth < NT_TREE_DEPTH)
            array->lists[array->depth++].items = tree->nodes[root].items;
    bits = root != NT_NO_NODE ? tree->nodes[root].bits : 0;
    if (!nt_tree_items(tree, &items) || !nt_multiply(items, count, &total))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of %" PRIu64 " equal values overflows",
                       count);
    uint64_t one = 0;
    enum nt_status status = nt_bits_to_bytes(items, bits, &one, error);
    if (status == NT_OK)
        status = nt_bits_to_bytes(total, bits == 1 ? 8 : bits, &bytes, error);
    if (status == NT_OK && value->data)
        status = nt_buffer_slice_require(value, one, "the value of a constant page", error);
    uint8_t *data;
    if (status == NT_OK)
        status = nt_decode_alloc(arena, bytes, &data, error);
    if (status != NT_OK)
        return status;
    array->elements = total;
    array->bits = bits == 1 ? 8 : (uint32_t)bits;
    array->data = data;
    array->bytes = bytes;
    if (!value->data)
        memset(data, 0, bytes);
    for (uint64_t i = 0; value->data && i < count; i++)
        for (uint64_t k = 0; bits == 1 && k < items; k++)
            data[i * items + k] = value->data[k / 8] >> (k % 8) & 1;
    for (uint64_t i = 0; value->data && bits != 1 && i < count; i++)
        memcpy(data + i * one, value->data, one);
    return NT_OK;
}

/* Without levels and without a value, all rows are null. */
static bool is_null(const struct nt_decode_arena *arena, const struct nt_buffer_slice *value,
                    const struct nt_levels *levels)
{
    return !value->data && !levels->count && arena->tree->layers[0] == NT_LAYER_NULLABLE_ITEM;
}

/* The page has no value of any type; its levels may mark nulls. */
static enum nt_status set_null(uint64_t values, uint64_t count, struct nt_decoded_array *array,
                               struct nt_error *error)
{
    if (count != values)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "rows in the levels of a page", values, count);
    *array = (struct nt_decoded_array){.elements = count, .is_null = true};
    return NT_OK;
}

enum nt_status nt_constant_open(struct nt_decode_arena *arena, uint64_t values, bool needs_values,
                                struct nt_opened_page *opened, struct nt_error *error)
{
    struct nt_buffer_slice value = {0};
    struct nt_layer_rule rule;
    enum nt_status status = open_levels(arena, &opened->levels, error);
    if (status == NT_OK)
        status = open_value(arena, &value, error);
    if (status != NT_OK)
        return status;
    if (is_null(arena, &value, &opened->levels)) {
        opened->has_array = true;
        opened->array = (struct nt_decoded_array){.elements = values, .is_null = true};
        return NT_OK;
    }
    if (!needs_values)
        return NT_OK;
    if (!value.data && !opened->levels.count && values)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%" PRIu64 " rows of a constant page are valid, but the page has no value", values);
    opened->has_array = true;
    nt_layer_rule(arena->tree, 0, &rule);
    uint64_t count = opened->levels.count ? nt_levels_rows(&opened->levels, &rule) : values;
    if (!arena->tree->value && !arena->tree->has_value_part)
        return set_null(values, count, &opened->array, error);
    return is_variable(arena) ? repeat_string(arena, &value, count, &opened->array, error)
                              : repeat_value(arena, &value, count, &opened->array, error);
}
