/* SPDX-License-Identifier: MIT
 *
 * Decodes variable-width values: string offsets and bytes, FSST-coded strings and dictionary strings, and
 * writes string end offsets and concatenated bytes.
 */
#include "formats/lance/decode/decode.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/codec/codec.h"

/* ---- Decode strings ---- */

static uint64_t load_offset(const uint8_t *offsets, uint32_t bits, uint64_t i)
{
    return bits == 32 ? nt_load_le32(offsets + 4 * i) : nt_load_le64(offsets + 8 * i);
}

/* Bytes of the offsets of so many strings, one more than these. */
static enum nt_status offset_bytes(uint64_t elements, uint32_t bits, uint64_t *bytes_ret,
                                   struct nt_error *error)
{
    uint64_t offsets;
    if (!nt_add(elements, 1, &offsets))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%" PRIu64 " strings are too many", elements);
    return nt_bits_to_bytes(offsets, bits, bytes_ret, error);
}

static enum nt_status check_width(uint32_t bits, struct nt_error *error)
{
    if (bits == 32 || bits == 64)
        return NT_OK;
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "offsets of %" PRIu32 " bits", bits);
}

/* Strings: `offsets` of `offset_bits`, one more than `elements`, counted from `base` of which there are `base_bytes`. */
static enum nt_status nt_strings_from_offsets(struct nt_work *work, const uint8_t *offsets,
                                              uint32_t offset_bits, const uint8_t *base, uint64_t base_bytes,
                                              uint64_t elements, struct nt_array *array,
                                              struct nt_error *error)
{
    uint64_t *ends, bytes, first = load_offset(offsets, offset_bits, 0), last = first, decreases = 0;
    if (!nt_multiply(elements, sizeof(*ends), &bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%" PRIu64 " strings are too many", elements);
    enum nt_status status = nt_work_take(work, bytes, &ends, error);
    if (status != NT_OK)
        return status;
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t end = load_offset(offsets, offset_bits, i + 1);
        decreases |= end < last;
        last = end;
        ends[i] = end - first;
    }
    if (decreases)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "offsets of strings decrease");
    if (last > base_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "the last offset of strings, at most",
                              base_bytes, last);
    *array =
        (struct nt_array){.elements = elements, .data = base + first, .bytes = last - first, .ends = ends};
    return NT_OK;
}

enum nt_status nt_strings_decode(struct nt_work *work, const struct nt_tree_node *node,
                                 const struct nt_part *part, uint64_t elements, struct nt_array *array,
                                 struct nt_error *error)
{
    uint64_t bytes;
    enum nt_status status = check_width(node->bits, error);
    if (status == NT_OK)
        status = offset_bytes(elements, node->bits, &bytes, error);
    if (status == NT_OK)
        status = nt_part_require(part, bytes, "offsets of strings", error);
    return status == NT_OK ? nt_strings_from_offsets(work, part->data, node->bits, part->data, part->bytes,
                                                     elements, array, error)
                           : status;
}

/* u32 bits of an offset, u32 where the bytes begin, the offsets, counted from there; the same with u64s, where the
 * first two are 64 and padding. Early writers: u8 bits, u32 strings, u32 where the bytes begin. */
enum nt_status nt_strings_decode_block(struct nt_work *work, const struct nt_tree_node *node,
                                       const struct nt_part *part, uint64_t elements, struct nt_array *array,
                                       struct nt_error *error)
{
    (void)node;
    struct nt_cursor cursor = nt_cursor(part->data, part->bytes);
    uint32_t bits = nt_get_le32(&cursor);
    uint64_t start, bytes;
    if (bits == 64)
        nt_skip(&cursor, sizeof(uint32_t));
    if (bits > 64 && (bits & 0xff) <= 64) {
        cursor = nt_cursor(part->data, part->bytes);
        nt_skip(&cursor, 1 + sizeof(uint32_t));
        bits &= 0xff;
    }
    start = bits == 64 ? nt_get_le64(&cursor) : nt_get_le32(&cursor);
    if (cursor.failed)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "a block of strings ends within its head, of %" PRIu64 " bytes", part->bytes);
    enum nt_status status = check_width(bits, error);
    if (status == NT_OK)
        status = offset_bytes(elements, bits, &bytes, error);
    if (status != NT_OK)
        return status;
    const uint8_t *offsets = nt_get_bytes(&cursor, bytes);
    if (!offsets || start > part->bytes || start < cursor.position)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "a block of %" PRIu64 " strings whose bytes begin at %" PRIu64 " has %" PRIu64
                       " bytes",
                       elements, start, part->bytes);
    return nt_strings_from_offsets(work, offsets, bits, part->data + start, part->bytes - start, elements,
                                   array, error);
}

enum nt_status nt_strings_are_missing(struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "codes of symbols that are no strings");
}

/* Where strings of a symbol table's codes end, once they are decoded. */
static enum nt_status nt_strings_measure(struct nt_work *work, struct nt_array *array, struct nt_error *error)
{
    uint64_t *ends;
    enum nt_status status = nt_work_take(work, array->elements * sizeof(*ends), &ends, error);
    if (status == NT_OK)
        status = nt_fsst_ends(array->fsst, array->data, array->ends, array->elements, ends, error);
    if (status == NT_OK)
        *array = (struct nt_array){.elements = array->elements,
                                   .bytes = array->elements ? ends[array->elements - 1] : 0,
                                   .ends = ends};
    return status;
}

/* They, with exactly `bytes` bytes, straight to where these are wanted. */
static enum nt_status nt_strings_expand_into(struct nt_work *work, struct nt_array *array, uint8_t *output,
                                             uint64_t bytes, struct nt_error *error)
{
    uint64_t *ends;
    enum nt_status status = nt_work_take(work, array->elements * sizeof(*ends), &ends, error);
    if (status == NT_OK)
        status = nt_fsst_expand(array->fsst, array->data, array->ends, array->elements, output, bytes, ends,
                                error);
    if (status == NT_OK)
        *array = (struct nt_array){.elements = array->elements, .data = output, .bytes = bytes, .ends = ends};
    return status;
}

enum nt_status nt_strings_expand(struct nt_work *work, const struct nt_fsst *fsst, struct nt_array *array,
                                 struct nt_error *error)
{
    uint64_t *ends;
    uint8_t *output;
    if (!array->ends)
        return nt_strings_are_missing(error);
    enum nt_status status = nt_work_take(work, array->elements * sizeof(*ends), &ends, error);
    if (status == NT_OK)
        status = nt_fsst_ends(fsst, array->data, array->ends, array->elements, ends, error);
    uint64_t bytes = status == NT_OK && array->elements ? ends[array->elements - 1] : 0;
    if (status == NT_OK)
        status = nt_work_take(work, bytes, &output, error);
    if (status == NT_OK)
        status = nt_fsst_decode(fsst, array->data, array->bytes, output, bytes, error);
    if (status == NT_OK)
        *array = (struct nt_array){.elements = array->elements, .data = output, .bytes = bytes, .ends = ends};
    return status;
}

/* ---- String outputs ---- */

/* Null strings have no bytes, whatever is stored of them. */
static enum nt_status drop_null_strings(struct nt_made *made, bool wants_bytes, struct nt_error *error)
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
        *array = (struct nt_array){
            .elements = array->elements, .data = output, .bytes = at, .ends = ends, .fsst = array->fsst};
    return status;
}

static enum nt_status open_strings(struct nt_made *made, struct nt_error *error)
{
    return nt_made_open(made, nt_made_has_nulls(made->work->tree), true, error);
}

/* Decode a page that is opened. `rows` is how many strings there are. */
static enum nt_status decode_strings(struct nt_made *made, struct nt_error *error)
{
    enum nt_status status = nt_made_decode(made, NULL, error);
    if (status == NT_OK)
        status = nt_made_check_rows(made, made->opened.array.elements, error);
    if (status == NT_OK)
        status = nt_made_find_nulls(made, error);
    return status;
}

/* Of strings that are decoded, but for a dictionary's: they may be codes still. */
static enum nt_status take_strings(struct nt_made *made, bool wants_bytes, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    if (!array->is_null && !array->ends && made->rows)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "values of fixed width where strings were expected");
    return array->ends ? drop_null_strings(made, wants_bytes || array->fsst, error) : NT_OK;
}

/* ---- ends ---- */

/* All rows end where nothing has begun. */
static void repeat_base(uint64_t base, uint64_t rows, uint8_t *output)
{
    for (uint64_t i = 0; i < rows; i++)
        memcpy(output + i * sizeof(base), &base, sizeof(base));
}

static enum nt_status look_up_ends(struct nt_made *made, uint64_t base, uint8_t *output,
                                   struct nt_error *error)
{
    struct nt_value numbers;
    enum nt_status status = nt_made_numbers(made, &numbers, error);
    return status == NT_OK ? nt_dictionary_ends(&numbers, &made->work->packed->inputs[0], made->valid, base,
                                                output, error)
                           : status;
}

/* Of a page that is opened, but for a dictionary's: where its strings end is in made->opened.array. */
static enum nt_status find_ends(struct nt_made *made, struct nt_error *error)
{
    struct nt_array *array = &made->opened.array;
    enum nt_status status = decode_strings(made, error);
    if (status == NT_OK && !made->work->tree->has_dictionary)
        status = take_strings(made, false, error);
    return status == NT_OK && array->fsst ? nt_strings_measure(made->work, array, error) : status;
}

enum nt_status nt_make_ends(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    uint64_t base = made->work->packed->parameter;
    bool has_dictionary = made->work->tree->has_dictionary;
    made->rows = made->work->packed->elements;
    enum nt_status status = open_strings(made, error);
    if (status == NT_OK)
        status = find_ends(made, error);
    if (status == NT_OK && has_dictionary && !nt_made_is_null(made))
        return look_up_ends(made, base, output, error);
    if (status == NT_OK && (has_dictionary || array->is_null))
        repeat_base(base, made->rows, output);
    else
        for (uint64_t i = 0; status == NT_OK && i < made->rows; i++) {
            uint64_t end = base + array->ends[i];
            memcpy(output + i * sizeof(end), &end, sizeof(end));
        }
    return status;
}

/* Of strings of a dictionary. */
static enum nt_status count_item_bytes(struct nt_made *made, uint64_t *bytes_ret, struct nt_error *error)
{
    uint64_t *ends;
    enum nt_status status = nt_work_take(made->work, made->rows * sizeof(*ends), &ends, error);
    if (status == NT_OK)
        status = look_up_ends(made, 0, (uint8_t *)ends, error);
    if (status == NT_OK)
        *bytes_ret = ends[made->rows - 1];
    return status;
}

enum nt_status nt_count_string_bytes(struct nt_made *made, uint64_t *bytes_ret, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    enum nt_status status = find_ends(made, error);
    *bytes_ret = 0;
    if (status != NT_OK || array->is_null || !made->rows)
        return status;
    if (made->work->tree->has_dictionary)
        return nt_made_is_null(made) ? NT_OK : count_item_bytes(made, bytes_ret, error);
    *bytes_ret = array->ends[made->rows - 1];
    return NT_OK;
}

/* ---- bytes ---- */

static enum nt_status look_up_bytes(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = made->work->packed;
    struct nt_value numbers;
    enum nt_status status = nt_made_numbers(made, &numbers, error);
    return status == NT_OK ? nt_dictionary_bytes(&numbers, &packed->inputs[0], &packed->inputs[1],
                                                 made->valid, output, packed->elements, error)
                           : status;
}

enum nt_status nt_make_bytes(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = made->work->packed;
    const struct nt_array *array = &made->opened.array;
    bool has_dictionary = made->work->tree->has_dictionary;
    made->rows = packed->parameter;
    enum nt_status status = open_strings(made, error);
    if (status == NT_OK)
        status = decode_strings(made, error);
    if (status == NT_OK && has_dictionary && !nt_made_is_null(made))
        return look_up_bytes(made, output, error);
    if (status == NT_OK && !has_dictionary)
        status = take_strings(made, true, error);
    if (status == NT_OK && array->fsst && made->is_shared)
        return nt_strings_expand_into(made->work, &made->opened.array, output, packed->elements, error);
    if (status == NT_OK &&
        array->fsst) /* that no string ends within an escape was seen when they were counted */
        return nt_fsst_decode(array->fsst, array->data, array->bytes, output, packed->elements, error);
    uint64_t bytes = status != NT_OK || has_dictionary || array->is_null ? 0 : array->bytes;
    if (status == NT_OK && bytes != packed->elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of strings", packed->elements, bytes);
    if (status == NT_OK && bytes)
        memcpy(output, array->data, bytes);
    return status;
}
