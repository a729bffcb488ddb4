/* SPDX-License-Identifier: MIT
 *
 * Decodes variable-width values: string offsets and bytes, FSST-coded strings and dictionary strings,
 * and writes string end offsets and concatenated bytes.
 */
#include "formats/lance/decode/decode.h"

/* ---- Decode strings ---- */

static uint64_t load_offset(const uint8_t *offsets, uint32_t bits, uint64_t i)
{
    return bits == 32 ? nt_load_le32(offsets + 4 * i) : nt_load_le64(offsets + 8 * i);
}

/* Bytes of the offsets: one more offset than strings. */
static enum nt_status offset_bytes(uint64_t elements, uint32_t bits, uint64_t *bytes_ret,
                                   struct nt_error *error)
{
    uint64_t offsets;
    if (!nt_checked_add(elements, 1, &offsets))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "the size of the offsets of %" PRIu64 " strings overflows", elements);
    return nt_bits_to_bytes(offsets, bits, bytes_ret, error);
}

static enum nt_status check_width(uint32_t bits, struct nt_error *error)
{
    if (bits == 32 || bits == 64)
        return NT_OK;
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read offsets of %" PRIu32 " bits", bits);
}

/* Reads `elements` + 1 offsets of `offset_bits`, relative to `base`, which has `base_bytes`. */
static enum nt_status strings_from_offsets(struct nt_decode_arena *arena, const uint8_t *offsets,
                                           uint32_t offset_bits, const uint8_t *base, uint64_t base_bytes,
                                           uint64_t elements, struct nt_decoded_array *array,
                                           struct nt_error *error)
{
    uint64_t *ends, bytes, first = load_offset(offsets, offset_bits, 0), last = first, decreases = 0;
    if (!nt_checked_multiply(elements, sizeof(*ends), &bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "the size of the offsets of %" PRIu64 " strings overflows", elements);
    NT_TRY(nt_decode_alloc(arena, bytes, &ends, error));
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t end = load_offset(offsets, offset_bits, i + 1);
        decreases |= end < last;
        last = end;
        ends[i] = end - first;
    }
    if (decreases)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "offsets of strings decrease");
    if (last > base_bytes)
        return nt_fail_above(error, NT_CORRUPT, NT_NO_OFFSET, "the last offset of strings", base_bytes, last);
    *array = (struct nt_decoded_array){
        .elements = elements, .data = base + first, .bytes = last - first, .ends = ends};
    return NT_OK;
}

enum nt_status nt_strings_decode(struct nt_decode_arena *arena, const struct nt_encoding_tree_node *node,
                                 const struct nt_buffer_slice *part, uint64_t elements,
                                 struct nt_decoded_array *array, struct nt_error *error)
{
    uint64_t bytes;
    NT_TRY(check_width(node->bits, error));
    NT_TRY(offset_bytes(elements, node->bits, &bytes, error));
    NT_TRY(nt_buffer_slice_require(part, bytes, "offsets of strings", error));
    return strings_from_offsets(arena, part->data, node->bits, part->data, part->bytes, elements, array,
                                error);
}

/* A block stores: u32 bits of an offset, u32 start of the bytes, offsets relative to that start. With
 * 64-bit offsets: u32 64, u32 padding, u64 start. Early writers: u8 bits, u32 strings, u32 start. */
enum nt_status nt_strings_decode_block(struct nt_decode_arena *arena,
                                       const struct nt_encoding_tree_node *node,
                                       const struct nt_buffer_slice *part, uint64_t elements,
                                       struct nt_decoded_array *array, struct nt_error *error)
{
    struct nt_cursor cursor = nt_cursor(part->data, part->bytes);
    uint32_t bits = nt_get_le32(&cursor);
    uint64_t start, bytes;
    if (bits == 64)
        nt_cursor_skip(&cursor, sizeof(uint32_t));
    if (bits > 64 && (bits & 0xff) <= 64) {
        cursor = nt_cursor(part->data, part->bytes);
        nt_cursor_skip(&cursor, 1 + sizeof(uint32_t));
        bits &= 0xff;
    }
    start = bits == 64 ? nt_get_le64(&cursor) : nt_get_le32(&cursor);
    if (cursor.failed)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "a block of strings ends within its header of %" PRIu64 " bytes", part->bytes);
    NT_TRY(check_width(bits, error));
    NT_TRY(offset_bytes(elements, bits, &bytes, error));
    const uint8_t *offsets = nt_get_bytes(&cursor, bytes);
    if (!offsets || start > part->bytes || start < cursor.position)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "a block of %" PRIu64 " strings says that its bytes begin at %" PRIu64
                       ", but the block has %" PRIu64 " bytes",
                       elements, start, part->bytes);
    return strings_from_offsets(arena, offsets, bits, part->data + start, part->bytes - start, elements,
                                array, error);
}

enum nt_status nt_fail_missing_strings(struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "expected strings of symbol codes");
}

/* Replaces coded strings by the ends of the decoded strings. */
static enum nt_status strings_measure(struct nt_decode_arena *arena, const struct nt_fsst *fsst,
                                      struct nt_decoded_array *array, struct nt_error *error)
{
    uint64_t *ends;
    NT_TRY(nt_decode_alloc(arena, array->elements * sizeof(*ends), &ends, error));
    NT_TRY(nt_fsst_ends(fsst, array->data, array->ends, array->elements, ends, error));
    *array = (struct nt_decoded_array){
        .elements = array->elements, .bytes = array->elements ? ends[array->elements - 1] : 0, .ends = ends};
    return NT_OK;
}

/* Decodes the strings directly to the output, which must take exactly `bytes` bytes. */
static enum nt_status strings_expand_into(struct nt_decode_arena *arena, struct nt_decoded_array *array,
                                          uint8_t *output, uint64_t bytes, struct nt_error *error)
{
    uint64_t *ends;
    NT_TRY(nt_decode_alloc(arena, array->elements * sizeof(*ends), &ends, error));
    NT_TRY(
        nt_fsst_expand(array->fsst, array->data, array->ends, array->elements, output, bytes, ends, error));
    *array =
        (struct nt_decoded_array){.elements = array->elements, .data = output, .bytes = bytes, .ends = ends};
    return NT_OK;
}

enum nt_status nt_strings_expand(struct nt_decode_arena *arena, const struct nt_fsst *fsst,
                                 struct nt_decoded_array *array, struct nt_error *error)
{
    const struct nt_decoded_array codes = *array;
    uint8_t *output;
    if (!array->ends)
        return nt_fail_missing_strings(error);
    NT_TRY(strings_measure(arena, fsst, array, error));
    NT_TRY(nt_decode_alloc(arena, array->bytes, &output, error));
    array->data = output;
    return nt_fsst_decode(fsst, codes.data, codes.bytes, output, array->bytes, error);
}

/* ---- String outputs ---- */

/* Drops the stored bytes of null strings. */
static enum nt_status drop_null_strings(struct nt_decode_state *state, bool needs_bytes,
                                        struct nt_error *error)
{
    struct nt_decoded_array *array = &state->opened.array;
    uint64_t dropped = 0, begin = 0, at = 0, *ends;
    uint8_t *output;
    for (uint64_t i = 0; state->valid && i < array->elements; begin = array->ends[i++])
        dropped += state->valid[i] ? 0 : array->ends[i] - begin;
    if (!dropped)
        return NT_OK;
    NT_TRY(nt_decode_alloc(state->arena, array->elements * sizeof(*ends), &ends, error));
    NT_TRY(nt_decode_alloc(state->arena, needs_bytes ? array->bytes - dropped : 0, &output, error));
    begin = 0;
    for (uint64_t i = 0; i < array->elements; begin = array->ends[i++]) {
        uint64_t bytes = state->valid[i] ? array->ends[i] - begin : 0;
        if (needs_bytes && bytes)
            memcpy(output + at, array->data + begin, bytes);
        ends[i] = at += bytes;
    }
    *array = (struct nt_decoded_array){
        .elements = array->elements, .data = output, .bytes = at, .ends = ends, .fsst = array->fsst};
    return NT_OK;
}

/* Decodes an opened page. `rows` is the number of strings. */
static enum nt_status decode_strings(struct nt_decode_state *state, struct nt_error *error)
{
    NT_TRY(nt_decode_values(state, NULL, error));
    NT_TRY(nt_decode_check_rows(state->rows, state->opened.array.elements, error));
    return nt_decode_find_nulls(state, error);
}

/* Prepares decoded strings, which may still be FSST codes. Not for dictionaries. */
static enum nt_status take_strings(struct nt_decode_state *state, bool needs_bytes, struct nt_error *error)
{
    const struct nt_decoded_array *array = &state->opened.array;
    if (!array->is_null && !array->ends && state->rows)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "expected strings, found values of fixed width");
    return array->ends ? drop_null_strings(state, needs_bytes || array->fsst, error) : NT_OK;
}

/* ---- Ends ---- */

/* All rows are empty and end at the base. */
static void repeat_base(uint64_t base, uint64_t rows, uint8_t *output)
{
    for (uint64_t i = 0; i < rows; i++)
        memcpy(output + i * sizeof(base), &base, sizeof(base));
}

static enum nt_status look_up_ends(struct nt_decode_state *state, uint64_t base, uint8_t *output,
                                   struct nt_error *error)
{
    struct nt_value numbers;
    NT_TRY(nt_decode_indices(state, &numbers, error));
    return nt_dictionary_ends(&numbers, &state->arena->packed->dependencies[0], state->valid, base, output,
                              error);
}

/* Computes the ends in decoding->opened.array; for dictionaries, only decodes the indices. */
static enum nt_status find_ends(struct nt_decode_state *state, struct nt_error *error)
{
    struct nt_decoded_array *array = &state->opened.array;
    NT_TRY(decode_strings(state, error));
    if (!state->arena->tree->has_dictionary)
        NT_TRY(take_strings(state, false, error));
    return array->fsst ? strings_measure(state->arena, array->fsst, array, error) : NT_OK;
}

enum nt_status nt_output_ends(struct nt_decode_state *state, uint8_t *output, struct nt_error *error)
{
    const struct nt_decoded_array *array = &state->opened.array;
    uint64_t base = state->arena->packed->parameter;
    bool has_dictionary = state->arena->tree->has_dictionary;
    state->rows = state->arena->packed->elements;
    NT_TRY(nt_decode_open(state, nt_decode_has_nulls(state->arena->tree), true, error));
    NT_TRY(find_ends(state, error));
    if (has_dictionary && !nt_decode_is_null(state))
        return look_up_ends(state, base, output, error);
    if (has_dictionary || array->is_null)
        repeat_base(base, state->rows, output);
    else
        for (uint64_t i = 0; i < state->rows; i++) {
            uint64_t end = base + array->ends[i];
            memcpy(output + i * sizeof(end), &end, sizeof(end));
        }
    return NT_OK;
}

/* Counts the string bytes of a page with a dictionary. */
static enum nt_status count_item_bytes(struct nt_decode_state *state, uint64_t *bytes_ret,
                                       struct nt_error *error)
{
    uint64_t *ends;
    NT_TRY(nt_decode_alloc(state->arena, state->rows * sizeof(*ends), &ends, error));
    NT_TRY(look_up_ends(state, 0, (uint8_t *)ends, error));
    *bytes_ret = ends[state->rows - 1];
    return NT_OK;
}

enum nt_status nt_count_string_bytes(struct nt_decode_state *state, uint64_t *bytes_ret,
                                     struct nt_error *error)
{
    const struct nt_decoded_array *array = &state->opened.array;
    NT_TRY(find_ends(state, error));
    *bytes_ret = 0;
    if (array->is_null || !state->rows)
        return NT_OK;
    if (state->arena->tree->has_dictionary)
        return nt_decode_is_null(state) ? NT_OK : count_item_bytes(state, bytes_ret, error);
    *bytes_ret = array->ends[state->rows - 1];
    return NT_OK;
}

/* ---- Bytes ---- */

static enum nt_status look_up_bytes(struct nt_decode_state *state, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = state->arena->packed;
    struct nt_value numbers;
    NT_TRY(nt_decode_indices(state, &numbers, error));
    return nt_dictionary_bytes(&numbers, &packed->dependencies[0], &packed->dependencies[1], state->valid,
                               output, packed->elements, error);
}

enum nt_status nt_output_bytes(struct nt_decode_state *state, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = state->arena->packed;
    const struct nt_decoded_array *array = &state->opened.array;
    bool has_dictionary = state->arena->tree->has_dictionary;
    state->rows = packed->parameter;
    NT_TRY(nt_decode_open(state, nt_decode_has_nulls(state->arena->tree), true, error));
    NT_TRY(decode_strings(state, error));
    if (has_dictionary && !nt_decode_is_null(state))
        return look_up_bytes(state, output, error);
    if (!has_dictionary)
        NT_TRY(take_strings(state, true, error));
    if (array->fsst && state->is_shared)
        return strings_expand_into(state->arena, &state->opened.array, output, packed->elements, error);
    if (array->fsst) /* counting has checked that no string ends within an escape */
        return nt_fsst_decode(array->fsst, array->data, array->bytes, output, packed->elements, error);
    uint64_t bytes = has_dictionary || array->is_null ? 0 : array->bytes;
    if (bytes != packed->elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of strings", packed->elements, bytes);
    if (bytes)
        memcpy(output, array->data, bytes);
    return NT_OK;
}
