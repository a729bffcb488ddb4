/* SPDX-License-Identifier: MIT
 *
 * Writes fixed-width outputs: booleans, structure members, dictionary indices and dictionary items, with
 * zeros for null values.
 */
#include "formats/lance/decode/decode.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/codec/codec.h"

/* ---- Zero null values ---- */

#define DEFINE_MASK(bits)                                                                                    \
    static void mask##bits(const uint8_t *restrict valid, uint64_t rows, uint8_t *restrict output)           \
    {                                                                                                        \
        for (uint64_t i = 0; i < rows; i++) {                                                                \
            uint##bits##_t value;                                                                            \
            memcpy(&value, output + i * sizeof(value), sizeof(value));                                       \
            value &= (uint##bits##_t)(0 - (uint##bits##_t)(valid[i] != 0));                                  \
            memcpy(output + i * sizeof(value), &value, sizeof(value));                                       \
        }                                                                                                    \
    }
DEFINE_MASK(8)
DEFINE_MASK(16)
DEFINE_MASK(32)
DEFINE_MASK(64)

/* Zeros for rows of `bytes` each that are null. */
static void mask_rows(const uint8_t *valid, uint64_t rows, uint64_t bytes, uint8_t *output)
{
    static void (*const masks[])(const uint8_t *, uint64_t,
                                 uint8_t *) = {[1] = mask8, [2] = mask16, [4] = mask32, [8] = mask64};
    if (bytes < sizeof(masks) / sizeof(*masks) && masks[bytes]) {
        masks[bytes](valid, rows, output);
        return;
    }
    for (uint64_t i = 0; i < rows; i++)
        if (!valid[i])
            memset(output + i * bytes, 0, bytes);
}

void nt_made_clear_nulls(const struct nt_made *made, uint32_t depth, uint32_t width, uint8_t *output)
{
    const struct nt_array *array = &made->opened.array;
    uint64_t elements = made->work->packed->elements, lists = made->rows;
    uint64_t items = made->rows ? elements / made->rows : 0;
    if (made->valid)
        mask_rows(made->valid, made->rows, items * width, output);
    for (uint32_t d = 0; d < depth && d < array->depth; d++) {
        const uint8_t *valid = array->lists[d].valid;
        lists *= array->lists[d].items; /* these are at most as many as there are elements */
        uint64_t each = lists ? elements / lists : 0;
        if (array->lists[d].are_null)
            memset(output, 0, elements * width);
        for (uint64_t i = 0; valid && i < lists; i++)
            if (!(valid[i / 8] >> (i % 8) & 1))
                memset(output + i * each * width, 0, each * width);
    }
}

/* ---- Dictionary indices ---- */

/* Numbers of items, 0 where the row is null: what is stored there may be anything. */
static enum nt_status mask_numbers(struct nt_made *made, const uint8_t **data_ret, struct nt_error *error)
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

enum nt_status nt_made_numbers(struct nt_made *made, struct nt_value *numbers, struct nt_error *error)
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

bool nt_made_is_null(const struct nt_made *made)
{
    return made->valid && !memchr(made->valid, 1, made->rows);
}

/* ---- Fixed-width outputs ---- */

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

enum nt_status nt_make_values(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    uint32_t width = made->element_bytes;
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
    made->element_bytes = PLACE_BYTES;
    if (status == NT_OK)
        status = nt_make_values(made, places, error);
    for (uint64_t i = 0; status == NT_OK && i < elements; i++) {
        uint64_t position = nt_load_le64(places + i * PLACE_BYTES),
                 size = nt_load_le64(places + i * PLACE_BYTES + 8), definition = position >> LEVEL_BITS;
        output[i] = size || !position || (definition && definition <= made->want->valid);
    }
    return status;
}
