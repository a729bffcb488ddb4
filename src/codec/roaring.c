/* SPDX-License-Identifier: MIT
 *
 * Containers of the portable Roaring serialization: array (u16 values), bitset (65,536 bits), run (u16 count,
 * then u16 start and u16 length - 1 each).
 */
#include "codec/roaring.h"

#include <string.h>

#include "base/bytes.h"

enum { BITSET_BYTES = 8192, VALUES = 65536 };

static void put(const struct nt_decoder *decoder, uint8_t *output, size_t place, uint64_t value)
{
    if (decoder->element == NT_ELEMENT_UINT64) {
        memcpy(output + 8 * place, &value, sizeof(value));
    } else {
        uint32_t narrow = (uint32_t)value;
        memcpy(output + 4 * place, &narrow, sizeof(narrow));
    }
}

enum nt_status nt_decode_roaring_array(const struct nt_decoder *decoder, uint64_t parameter,
                                       const uint8_t *packed, size_t packed_bytes, uint8_t *output,
                                       size_t elements, struct nt_error *error)
{
    int before = -1;
    if (packed_bytes != 2 * elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of an array container", 2 * elements,
                              packed_bytes);
    for (size_t i = 0; i < elements; i++) {
        int value = nt_load_le16(packed + 2 * i);
        if (value <= before)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "array container: value %zu does not ascend", i);
        put(decoder, output, i, parameter + (unsigned)value);
        before = value;
    }
    return NT_OK;
}

enum nt_status nt_decode_roaring_bitset(const struct nt_decoder *decoder, uint64_t parameter,
                                        const uint8_t *packed, size_t packed_bytes, uint8_t *output,
                                        size_t elements, struct nt_error *error)
{
    size_t found = 0;
    if (packed_bytes != BITSET_BYTES)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a bitset container", BITSET_BYTES,
                              packed_bytes);
    for (size_t word = 0; word < BITSET_BYTES / 8; word++)
        found += (size_t)__builtin_popcountll(nt_load_le64(packed + 8 * word));
    if (found != elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "values of a bitset container", elements,
                              found);
    size_t place = 0;
    for (size_t word = 0; word < BITSET_BYTES / 8; word++)
        for (uint64_t bits = nt_load_le64(packed + 8 * word); bits; bits &= bits - 1)
            put(decoder, output, place++, parameter + 64 * word + (unsigned)__builtin_ctzll(bits));
    return NT_OK;
}

enum nt_status nt_decode_roaring_run(const struct nt_decoder *decoder, uint64_t parameter,
                                     const uint8_t *packed, size_t packed_bytes, uint8_t *output,
                                     size_t elements, struct nt_error *error)
{
    struct nt_cursor cursor = nt_cursor(packed, packed_bytes);
    size_t runs = nt_get_le16(&cursor), place = 0;
    uint32_t free_from = 0; /* the first value that the next run may have */
    if (packed_bytes != 2 + 4 * runs)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a run container", 2 + 4 * runs,
                              packed_bytes);
    for (size_t i = 0; i < runs; i++) {
        uint32_t start = nt_get_le16(&cursor), length = (uint32_t)nt_get_le16(&cursor) + 1;
        if (start < free_from || start + length > VALUES)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "run container: run %zu overlaps, or leaves it",
                           i);
        if (length > elements - place)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "run container: more than %zu values", elements);
        for (uint32_t value = start; value < start + length; value++)
            put(decoder, output, place++, parameter + value);
        free_from = start + length;
    }
    return place == elements ? NT_OK
                             : nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "values of a run container",
                                              elements, place);
}
