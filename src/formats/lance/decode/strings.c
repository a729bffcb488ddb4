/* SPDX-License-Identifier: MIT
 *
 * In: offsets and bytes. Out: strings: where each ends, and the bytes of all, with nothing between them
 * (Lance's encoding, "Variable" and "FSST").
 */
#include "formats/lance/decode/strings.h"

#include <inttypes.h>

#include "core/base/bytes.h"
#include "core/base/overflow.h"

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

enum nt_status nt_strings_from_offsets(struct nt_work *work, const uint8_t *offsets, uint32_t offset_bits,
                                       const uint8_t *base, uint64_t base_bytes, uint64_t elements,
                                       struct nt_array *array, struct nt_error *error)
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

enum nt_status nt_strings_measure(struct nt_work *work, struct nt_array *array, struct nt_error *error)
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

enum nt_status nt_strings_expand_into(struct nt_work *work, struct nt_array *array, uint8_t *output,
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
