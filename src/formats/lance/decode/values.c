/* SPDX-License-Identifier: MIT
 *
 * Writes fixed-width outputs: booleans, structure members, dictionary indices and dictionary items,
 * with zeros for null values.
 */
#include "formats/lance/decode/decode.h"

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

/* Zeros the null rows, of `bytes` each. */
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

void nt_decode_clear_nulls(const struct nt_decode_state *state, uint32_t depth, uint32_t width,
                           uint8_t *output)
{
    const struct nt_decoded_array *array = &state->opened.array;
    uint64_t elements = state->arena->packed->elements, lists = state->rows;
    uint64_t items = state->rows ? elements / state->rows : 0;
    if (state->valid)
        mask_rows(state->valid, state->rows, items * width, output);
    for (uint32_t d = 0; d < depth && d < array->depth; d++) {
        const uint8_t *valid = array->lists[d].valid;
        lists *= array->lists[d].items; /* at most the number of elements */
        uint64_t each = lists ? elements / lists : 0;
        if (array->lists[d].are_null)
            memset(output, 0, elements * width);
        for (uint64_t i = 0; valid && i < lists; i++)
            if (!nt_bit_is_set(valid, i))
                memset(output + i * each * width, 0, each * width);
    }
}

/* ---- Dictionary indices ---- */

enum nt_status nt_decode_indices(struct nt_decode_state *state, struct nt_value *numbers,
                                 struct nt_error *error)
{
    const struct nt_decoded_array *array = &state->opened.array;
    enum nt_element element = array->bits == 8    ? NT_ELEMENT_UINT8
                              : array->bits == 16 ? NT_ELEMENT_UINT16
                              : array->bits == 32 ? NT_ELEMENT_UINT32
                                                  : NT_ELEMENT_UINT64;
    if (!nt_is_number(array->bits))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "cannot read dictionary indices of %" PRIu32 " bits", array->bits);
    uint32_t width = array->bits / 8;
    *numbers = (struct nt_value){
        .data = array->data, .elements = array->elements, .element = element, .element_bytes = width};
    if (!state->valid)
        return NT_OK;
    uint8_t *data; /* the stored indices of null rows are arbitrary */
    NT_TRY(nt_decode_alloc(state->arena, array->bytes, &data, error));
    memcpy(data, array->data, array->bytes);
    for (uint64_t i = 0; i < array->elements; i++)
        if (!state->valid[i])
            memset(data + i * width, 0, width);
    numbers->data = data;
    return NT_OK;
}

bool nt_decode_is_null(const struct nt_decode_state *state)
{
    return state->valid && !memchr(state->valid, 1, state->rows);
}

/* ---- Fixed-width outputs ---- */

/* Looks up the items of a fixed-width dictionary. */
static enum nt_status look_up_values(struct nt_decode_state *state, uint8_t *output, struct nt_error *error)
{
    const struct nt_value *items = &state->arena->packed->dependencies[0];
    struct nt_value numbers;
    if (nt_decode_is_null(state)) {
        memset(output, 0, state->rows * items->element_bytes);
        return NT_OK;
    }
    NT_TRY(nt_decode_indices(state, &numbers, error));
    return nt_dictionary_gather(&numbers, items, output, error);
}

/* Are the values stored rows of packed structures? */
static bool is_packed_rows(const struct nt_encoding_tree *tree)
{
    return tree->values != NT_NO_NODE && tree->nodes[tree->values].kind == NT_LANCE_PACKED;
}

/* Converts stored values to elements: unpacks bits to bytes and selects structure members. */
static enum nt_status copy_values(const struct nt_decode_state *state, uint32_t width, uint8_t *output,
                                  struct nt_error *error)
{
    const struct nt_decoded_array *array = &state->opened.array;
    bool is_packed = is_packed_rows(state->arena->tree);
    uint64_t stored = array->bits / 8, requested = width, offset = is_packed ? state->spec->member_offset : 0;
    if (is_packed && !nt_checked_multiply(width, nt_decode_member_items(state), &requested))
        requested = UINT64_MAX;
    if (array->is_null) {
        memset(output, 0, state->arena->packed->elements * width);
    } else if (array->bits == 1 && width == 1 && !is_packed) {
        nt_unpack_bits(array->data, array->elements, output);
    } else if (array->bits % 8 || offset > stored || requested > stored - offset ||
               (!is_packed && requested != stored)) {
        return is_packed ? nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "bits of a packed structure",
                                         (offset + requested) * 8, array->bits)
                         : nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bits of a value", requested * 8,
                                          array->bits);
    } else if (stored == requested) {
        if (output != array->data)
            memcpy(output, array->data, array->elements * requested);
    } else {
        for (uint64_t i = 0; i < array->elements; i++)
            memcpy(output + i * requested, array->data + i * stored + offset, requested);
    }
    return NT_OK;
}

enum nt_status nt_output_values(struct nt_decode_state *state, uint8_t *output, struct nt_error *error)
{
    uint32_t width = state->element_bytes;
    const struct nt_encoding_tree *tree = state->arena->tree;
    uint64_t elements = state->arena->packed->elements, items = nt_decode_member_items(state);
    if ((!nt_lance_is_structure(tree) && !nt_lance_items_per_row(tree, &items)) || !items || elements % items)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%" PRIu64 " elements do not fill lists of %" PRIu64,
                       elements, items);
    state->rows = elements / items;
    bool is_nullable = !state->spec->is_stored && nt_decode_has_nulls(tree);
    NT_TRY(nt_decode_open(state, is_nullable, true, error));
    bool is_direct = !tree->has_dictionary && !nt_lance_is_structure(tree) && tree->values != NT_NO_NODE &&
                     tree->nodes[tree->values].bits == width * 8;
    NT_TRY(nt_decode_values(state, is_direct ? output : NULL, error));
    NT_TRY(nt_decode_find_nulls(state, error));
    uint64_t expected = tree->has_dictionary || is_packed_rows(tree) ? state->rows : elements;
    if (!state->opened.array.is_null && state->opened.array.elements != expected)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "values of a page", expected,
                              state->opened.array.elements);
    NT_TRY(tree->has_dictionary ? look_up_values(state, output, error)
                                : copy_values(state, width, output, error));
    if (!state->spec->is_stored)
        nt_decode_clear_nulls(state, state->opened.array.depth, width, output);
    return NT_OK;
}

/* Reads the descriptors of blobs. */
enum nt_status nt_output_presence(struct nt_decode_state *state, uint8_t *output, struct nt_error *error)
{
    enum { DESCRIPTOR_BYTES = 16, LEVEL_BITS = 16 };
    uint64_t elements = state->arena->packed->elements, bytes;
    uint8_t *descriptors;
    if (!nt_checked_multiply(elements, DESCRIPTOR_BYTES, &bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "the size of the positions of %" PRIu64 " blobs overflows", elements);
    NT_TRY(nt_decode_alloc(state->arena, bytes, &descriptors, error));
    state->element_bytes = DESCRIPTOR_BYTES;
    NT_TRY(nt_output_values(state, descriptors, error));
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t position = nt_load_le64(descriptors + i * DESCRIPTOR_BYTES),
                 size = nt_load_le64(descriptors + i * DESCRIPTOR_BYTES + 8),
                 definition = position >> LEVEL_BITS;
        output[i] = size || !position || (definition && definition <= state->spec->valid);
    }
    return NT_OK;
}
