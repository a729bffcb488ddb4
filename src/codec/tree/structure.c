/* SPDX-License-Identifier: MIT
 *
 * In: levels, or the validity that version 2.0 stores. Out: which rows of a layer are valid, and where its lists end.
 */
#include "codec/tree/structure.h"

#include <inttypes.h>
#include <string.h>

#include "base/overflow.h"
#include "codec/tree/levels.h"
#include "codec/tree/nodes.h"
#include "codec/tree/texts.h"

/* The validity of items `depth` fixed lists deep, with that of all lists around them. */
static enum nt_status make_item_valid(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    uint64_t elements = made->work->packed->elements, count = made->rows;
    enum nt_status status = nt_made_decode(made, NULL, error);
    if (status == NT_OK)
        status = nt_made_find_nulls(made, error);
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

enum nt_status nt_make_valid(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_tree *tree = made->work->tree;
    uint64_t elements = made->work->packed->elements, items;
    if (!items_of_depth(tree, made->want->depth, &items) || elements % items)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%" PRIu64 " items in lists of %" PRIu64, elements,
                       items);
    made->rows = elements / items;
    bool is_plain = tree->layout == NT_TREE_ARRAY;
    enum nt_status status = nt_made_open(made, true, made->want->depth || is_plain, error);
    if (status != NT_OK)
        return status;
    if (made->want->depth)
        return make_item_valid(made, output, error);
    if (is_plain) {
        status = nt_made_decode(made, NULL, error);
        if (status == NT_OK)
            status = nt_made_find_nulls(made, error);
        if (status == NT_OK && made->valid)
            memcpy(output, made->valid, elements);
        else if (status == NT_OK)
            memset(output, 1, elements);
        return status;
    }
    if (made->opened.levels.count || (tree->repetition_bits + tree->definition_bits) ||
        tree->repetition != NT_NO_NODE || tree->definition != NT_NO_NODE)
        return nt_made_valid_rows(made, made->want->layer, elements, output, error);
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

enum nt_status nt_make_offsets(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = made->work->packed;
    const struct nt_levels *levels = &made->opened.levels;
    uint64_t items = packed->parameter & ~(NT_TREE_IS_FIRST | NT_TREE_IS_LAST), elements = packed->elements,
             done = 0;
    bool is_first = packed->parameter & NT_TREE_IS_FIRST;
    struct nt_layer_rule list, item;
    if (made->work->tree->layout == NT_TREE_ARRAY)
        return nt_make_ends(made, output, error);
    enum nt_status status = nt_made_open(made, true, false, error);
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
