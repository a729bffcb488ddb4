/* SPDX-License-Identifier: MIT
 *
 * In: a page. Out: its levels, its values, and which of these are null.
 */
#include "formats/lance/decode/made.h"

#include <inttypes.h>
#include <string.h>

#include "core/codec/steps.h"
#include "formats/lance/decode/constant.h"
#include "formats/lance/decode/full_zip.h"
#include "formats/lance/decode/levels.h"
#include "formats/lance/decode/mini_block.h"
#include "formats/lance/decode/nodes.h"
#include "formats/lance/decode/plain.h"

/* ---- opening ---- */

static enum nt_status open_parts(const struct nt_work *work, struct nt_opened *opened, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    opened->part_count = work->tree->part_count;
    for (uint32_t i = 0; status == NT_OK && i < opened->part_count; i++)
        status = nt_work_part(work, i, &opened->parts[i], error);
    return status;
}

enum nt_status nt_made_open(struct nt_made *made, bool wants_levels, bool wants_values,
                            struct nt_error *error)
{
    struct nt_work *work = made->work;
    const struct nt_packed *packed = work->packed;
    if (made->is_opened)
        return NT_OK;
    made->is_opened = made->is_shared;
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

enum nt_status nt_made_decode(struct nt_made *made, uint8_t *into, struct nt_error *error)
{
    struct nt_work *work = made->work;
    struct nt_opened *opened = &made->opened;
    uint32_t root = work->tree->values;
    if (opened->has_array || made->is_decoded)
        return NT_OK;
    made->is_decoded = made->is_shared;
    if (work->tree->layout == NT_TREE_ARRAY)
        return nt_plain_decode(work, root, opened->parts, opened->part_count, made->rows, &opened->array,
                               error);
    if (work->tree->layout == NT_TREE_BLOCK)
        return nt_block_decode(work, root, &opened->parts[0], made->rows, into, &opened->array, error);
    return nt_tree_node_decode(work, root, opened->parts, made->rows, into, &opened->array, error);
}

/* ---- which rows are null ---- */

enum nt_status nt_made_check_rows(const struct nt_made *made, uint64_t found, struct nt_error *error)
{
    if (found == made->rows)
        return NT_OK;
    return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "rows that the levels of a page tell", made->rows,
                          found);
}

/* A vector of them at a time. */
static void compare_levels(const uint16_t *restrict definition, uint16_t most, uint64_t rows,
                           uint8_t *restrict valid)
{
    for (uint64_t i = 0; i < rows; i++)
        valid[i] = definition[i] <= most;
}

/* Of the rows of a layer. `rows`: how many there have to be. */
enum nt_status nt_made_valid_rows(const struct nt_made *made, uint32_t layer, uint64_t rows, uint8_t *valid,
                                  struct nt_error *error)
{
    const struct nt_levels levels = made->opened.levels;
    struct nt_layer_rule rule;
    nt_layer_rule(made->work->tree, layer, &rule);
    uint64_t found = nt_levels_rows(&levels, &rule);
    if (found != rows)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "rows that the levels of a page tell", rows,
                              found);
    const struct nt_layer_rule fixed = rule; /* in registers: a byte that is written could be anything */
    if (!layer && nt_tree_is_null(made->work->tree))
        memset(valid, 0, rows);
    else if (nt_layer_is_always_valid(made->work->tree, layer))
        memset(valid, 1, rows);
    else if (rows == levels.count && levels.definition && !fixed.empty)
        compare_levels(levels.definition, fixed.valid, rows, valid);
    else
        for (uint64_t i = 0, done = 0; done < rows; i++) {
            valid[done] = nt_is_valid(&levels, &fixed, i);
            done += nt_is_row(&levels, &fixed, i);
        }
    return NT_OK;
}

static enum nt_status spread_bits(struct nt_work *work, const uint8_t *bits, uint64_t count,
                                  const uint8_t **bytes_ret, struct nt_error *error)
{
    uint8_t *bytes;
    enum nt_status status = nt_work_take(work, count, &bytes, error);
    if (status == NT_OK)
        nt_unpack_bits(bits, count, bytes);
    *bytes_ret = bytes;
    return status;
}

/* Set `valid`, from levels or from what version 2.0 stores. */
enum nt_status nt_made_find_nulls(struct nt_made *made, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    uint8_t *valid;
    if (made->is_shared && (made->valid || !nt_made_has_nulls(made->work->tree)))
        return NT_OK;
    if (array->valid)
        return spread_bits(made->work, array->valid, made->rows, &made->valid, error);
    bool is_null = array->is_null || nt_tree_is_null(made->work->tree);
    if (!is_null && !made->opened.levels.count)
        return NT_OK;
    enum nt_status status = nt_work_take(made->work, made->rows, &valid, error);
    if (status != NT_OK)
        return status;
    made->valid = valid;
    if (!is_null)
        return nt_made_valid_rows(made, 0, made->rows, valid, error);
    memset(valid, 0, made->rows);
    return NT_OK;
}

/* Whether levels can tell that a value is null. */
bool nt_made_has_nulls(const struct nt_tree *tree)
{
    struct nt_layer_rule rule;
    if (tree->layout == NT_TREE_BLOCK || tree->layout == NT_TREE_ARRAY)
        return false;
    if (nt_tree_is_null(tree))
        return true;
    nt_layer_rule(tree, 0, &rule);
    for (uint32_t i = 0; rule.visible && i < tree->layer_count; i++)
        if (tree->layers[i] != NT_LAYER_ITEM && tree->layers[i] != NT_LAYER_LIST)
            return true;
    return false;
}
