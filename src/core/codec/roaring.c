/* SPDX-License-Identifier: MIT
 *
 * Decodes containers of the portable Roaring format (array, bitset, run) into integers.
 */
#include "core/codec/codec.h"

#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"

enum { BITSET_BYTES = 8192, VALUES = 65536, AT_ONCE = 6 };

/* Output needs no alignment. */
#define NT_DEFINE_PUT(type, suffix)                                                                          \
    static inline void put_##suffix(uint8_t *output, size_t position, type value)                            \
    {                                                                                                        \
        memcpy(output + position * sizeof(value), &value, sizeof(value));                                    \
    }                                                                                                        \
                                                                                                             \
    static void put_array_##suffix(type base, const uint8_t *packed, size_t count, uint8_t *output)          \
    {                                                                                                        \
        for (size_t i = 0; i < count; i++)                                                                   \
            put_##suffix(output, i, base + nt_load_le16(packed + 2 * i));                                    \
    }                                                                                                        \
                                                                                                             \
    static void put_run_##suffix(type first, size_t count, uint8_t *output)                                  \
    {                                                                                                        \
        for (size_t i = 0; i < count; i++)                                                                   \
            put_##suffix(output, i, first + (type)i);                                                        \
    }                                                                                                        \
                                                                                                             \
    /* The values of a word's bits, AT_ONCE at once: the output has room for as many more. */                \
    static void put_bits_##suffix(type base, uint64_t bits, size_t count, uint8_t *output)                   \
    {                                                                                                        \
        for (size_t i = 0; i < count; i += AT_ONCE)                                                          \
            for (size_t k = 0; k < AT_ONCE; k++, bits &= bits - 1)                                           \
                put_##suffix(output, i + k, base + (unsigned)__builtin_ctzll(bits | UINT64_C(1) << 63));     \
    }

NT_DEFINE_PUT(uint32_t, u32)
NT_DEFINE_PUT(uint64_t, u64)

static bool is_wide(const struct nt_decoder *decoder)
{
    return decoder->element == NT_ELEMENT_UINT64;
}

enum nt_status nt_decode_roaring_array(const struct nt_packed *packed, uint8_t *output,
                                       struct nt_error *error)
{
    size_t elements = packed->elements;
    unsigned disorders = 0;
    if (packed->bytes != 2 * elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of an array container", 2 * elements,
                              packed->bytes);
    for (size_t i = 1; i < elements; i++)
        disorders |= nt_load_le16(packed->data + 2 * i) <= nt_load_le16(packed->data + 2 * i - 2);
    if (disorders)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "array container: the values are not in ascending order");
    if (is_wide(packed->decoder))
        put_array_u64(packed->parameter, packed->data, elements, output);
    else
        put_array_u32((uint32_t)packed->parameter, packed->data, elements, output);
    return NT_OK;
}

/* Portable: not all machines have an instruction for it. */
static unsigned count_bits(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (unsigned)(bits * UINT64_C(0x0101010101010101) >> 56);
}

/* Writes one word's values. At the end of the output there is no extra room. */
static void put_word(const struct nt_decoder *decoder, uint64_t base, uint64_t bits, unsigned count,
                     bool has_room, uint8_t *output)
{
    uint8_t few[(64 + AT_ONCE) * sizeof(uint64_t)];
    uint8_t *target = has_room ? output : few;
    if (is_wide(decoder))
        put_bits_u64(base, bits, count, target);
    else
        put_bits_u32((uint32_t)base, bits, count, target);
    if (!has_room)
        memcpy(output, few, count * decoder->element_bytes);
}

enum nt_status nt_decode_roaring_bitset(const struct nt_packed *packed, uint8_t *output,
                                        struct nt_error *error)
{
    const struct nt_decoder *decoder = packed->decoder;
    size_t elements = packed->elements, position = 0;
    if (packed->bytes != BITSET_BYTES)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a bitset container", BITSET_BYTES,
                              packed->bytes);
    for (size_t word = 0; word < BITSET_BYTES / 8; word++) {
        uint64_t bits = nt_load_le64(packed->data + 8 * word);
        unsigned count = count_bits(bits);
        if (count > elements - position)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "bitset container: more than %zu values",
                           elements);
        put_word(decoder, packed->parameter + 64 * word, bits, count, count + AT_ONCE <= elements - position,
                 output + position * decoder->element_bytes);
        position += count;
    }
    return position == elements ? NT_OK
                                : nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET,
                                                 "values of a bitset container", elements, position);
}

enum nt_status nt_decode_roaring_run(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    size_t elements = packed->elements;
    struct nt_cursor cursor = nt_cursor(packed->data, packed->bytes);
    size_t runs = nt_get_le16(&cursor), position = 0;
    uint32_t free_from = 0; /* minimum of the next run */
    if (packed->bytes != 2 + 4 * runs)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a run container", 2 + 4 * runs,
                              packed->bytes);
    for (size_t i = 0; i < runs; i++) {
        uint32_t start = nt_get_le16(&cursor), length = (uint32_t)nt_get_le16(&cursor) + 1;
        if (start < free_from || start + length > VALUES)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "run container: run %zu overlaps another run or ends outside the container", i);
        if (length > elements - position)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "run container: more than %zu values", elements);
        if (is_wide(packed->decoder))
            put_run_u64(packed->parameter + start, length, output + 8 * position);
        else
            put_run_u32((uint32_t)packed->parameter + start, length, output + 4 * position);
        position += length;
        free_from = start + length;
    }
    return position == elements ? NT_OK
                                : nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "values of a run container",
                                                 elements, position);
}
