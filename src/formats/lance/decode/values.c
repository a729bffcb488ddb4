/* SPDX-License-Identifier: MIT
 *
 * In: decoded values. Out: elements of fixed width: bits as bytes, members of structures, items of dictionaries, zeros
 * where something is null.
 */
#include "formats/lance/decode/values.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/overflow.h"
#include "core/codec/dictionary.h"
#include "core/codec/steps.h"
#include "formats/lance/decode/nulls.h"
#include "formats/lance/decode/numbers.h"

/* A fixed-width dictionary's items. */
static enum nt_status look_up_values(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_value *items = &made->work->packed->inputs[0];
    struct nt_value numbers;
    if (nt_made_is_null(made)) {
        memset(output, 0, made->rows * items->element_bytes);
        return NT_OK;
    }
    enum nt_status status = nt_made_numbers(made, &numbers, error);
    return status == NT_OK ? nt_dictionary_gather(&numbers, items, output, error) : status;
}

/* Whether values are rows of structures as they are stored. */
static bool is_packed_rows(const struct nt_tree *tree)
{
    return tree->values != NT_NO_NODE && tree->nodes[tree->values].kind == NT_TREE_PACKED;
}

/* From values as they are stored to elements: bits become bytes, of structures the member is taken. */
static enum nt_status copy_values(const struct nt_made *made, uint32_t width, uint8_t *output,
                                  struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    bool is_packed = is_packed_rows(made->work->tree);
    uint64_t stored = array->bits / 8, wanted = width, offset = is_packed ? made->want->member_offset : 0;
    if (is_packed && !nt_multiply(width, nt_made_member_items(made), &wanted))
        wanted = UINT64_MAX;
    if (array->is_null) {
        memset(output, 0, made->work->packed->elements * width);
    } else if (array->bits == 1 && width == 1 && !is_packed) {
        nt_unpack_bits(array->data, array->elements, output);
    } else if (array->bits % 8 || offset > stored || wanted > stored - offset ||
               (!is_packed && wanted != stored)) {
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET,
                              is_packed ? "bits of a packed structure, at least" : "bits of a value",
                              (offset + wanted) * 8, array->bits);
    } else if (stored == wanted) {
        if (output != array->data)
            memcpy(output, array->data, array->elements * wanted);
    } else {
        for (uint64_t i = 0; i < array->elements; i++)
            memcpy(output + i * wanted, array->data + i * stored + offset, wanted);
    }
    return NT_OK;
}

enum nt_status nt_make_values(struct nt_made *made, uint32_t width, uint8_t *output, struct nt_error *error)
{
    const struct nt_tree *tree = made->work->tree;
    uint64_t elements = made->work->packed->elements, items = nt_made_member_items(made);
    if ((!nt_tree_is_structure(tree) && !nt_tree_items(tree, &items)) || !items || elements % items)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%" PRIu64 " elements in lists of %" PRIu64, elements,
                       items);
    made->rows = elements / items;
    bool is_nullable = !made->want->is_stored && nt_made_has_nulls(tree);
    enum nt_status status = nt_made_open(made, is_nullable, true, error);
    bool is_direct = !tree->has_dictionary && !nt_tree_is_structure(tree) && tree->values != NT_NO_NODE &&
                     tree->nodes[tree->values].bits == width * 8;
    if (status == NT_OK)
        status = nt_made_decode(made, is_direct ? output : NULL, error);
    if (status == NT_OK)
        status = nt_made_find_nulls(made, error);
    uint64_t expected = tree->has_dictionary || is_packed_rows(tree) ? made->rows : elements;
    if (status == NT_OK && !made->opened.array.is_null && made->opened.array.elements != expected)
        status = nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "values of a page", expected,
                                made->opened.array.elements);
    if (status == NT_OK)
        status = tree->has_dictionary ? look_up_values(made, output, error)
                                      : copy_values(made, width, output, error);
    if (status == NT_OK && !made->want->is_stored)
        nt_made_clear_nulls(made, made->opened.array.depth, width, output);
    return status;
}

/* Of the places of blobs. */
enum nt_status nt_make_presence(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    enum { PLACE_BYTES = 16, LEVEL_BITS = 16 };
    uint64_t elements = made->work->packed->elements, bytes;
    uint8_t *places;
    if (!nt_multiply(elements, PLACE_BYTES, &bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%" PRIu64 " blobs are too many", elements);
    enum nt_status status = nt_work_take(made->work, bytes, &places, error);
    if (status == NT_OK)
        status = nt_make_values(made, PLACE_BYTES, places, error);
    for (uint64_t i = 0; status == NT_OK && i < elements; i++) {
        uint64_t position = nt_load_le64(places + i * PLACE_BYTES),
                 size = nt_load_le64(places + i * PLACE_BYTES + 8), definition = position >> LEVEL_BITS;
        output[i] = size || !position || (definition && definition <= made->want->valid);
    }
    return status;
}
