/* SPDX-License-Identifier: MIT
 *
 * The table of encodings: how the elements of a page lie in its packed bytes, for the column types of every
 * RNTuple generation and the pages of the other formats.
 */
#include <string.h>

#include <ntuple/codec.h>

#include "base/bytes.h"
#include "base/overflow.h"
#include "codec/roaring.h"
#include "codec/steps.h"

#define UNUSED_DECODE_ARGUMENTS (void)decoder, (void)parameter, (void)packed_bytes, (void)error

static enum nt_status decode_identity(const struct nt_decoder *decoder, uint64_t parameter,
                                      const uint8_t *packed, size_t packed_bytes, uint8_t *output,
                                      size_t elements, struct nt_error *error)
{
    UNUSED_DECODE_ARGUMENTS, (void)elements;
    if (packed_bytes)
        memcpy(output, packed, packed_bytes);
    return NT_OK;
}

static enum nt_status decode_bits(const struct nt_decoder *decoder, uint64_t parameter, const uint8_t *packed,
                                  size_t packed_bytes, uint8_t *output, size_t elements,
                                  struct nt_error *error)
{
    UNUSED_DECODE_ARGUMENTS;
    nt_unpack_bits(packed, elements, output);
    return NT_OK;
}

#define DEFINE_SPLIT(name, bits, finish)                                                                     \
    static enum nt_status name(const struct nt_decoder *decoder, uint64_t parameter, const uint8_t *packed,  \
                               size_t packed_bytes, uint8_t *output, size_t elements,                        \
                               struct nt_error *error)                                                       \
    {                                                                                                        \
        UNUSED_DECODE_ARGUMENTS;                                                                             \
        nt_unsplit##bits(packed, elements, finish, output);                                                  \
        return NT_OK;                                                                                        \
    }

DEFINE_SPLIT(decode_split16, 16, NT_FINISH_NOTHING)
DEFINE_SPLIT(decode_split32, 32, NT_FINISH_NOTHING)
DEFINE_SPLIT(decode_split64, 64, NT_FINISH_NOTHING)
DEFINE_SPLIT(decode_split_zigzag16, 16, NT_FINISH_ZIGZAG)
DEFINE_SPLIT(decode_split_zigzag32, 32, NT_FINISH_ZIGZAG)
DEFINE_SPLIT(decode_split_zigzag64, 64, NT_FINISH_ZIGZAG)
DEFINE_SPLIT(decode_split_delta32, 32, NT_FINISH_DELTA)
DEFINE_SPLIT(decode_split_delta64, 64, NT_FINISH_DELTA)

/* ---- switches: served as (u64 index, u32 tag), 12 bytes ---- */

static void store_switch(uint8_t *output, uint64_t index, uint32_t tag)
{
    memcpy(output, &index, sizeof(index));
    memcpy(output + sizeof(index), &tag, sizeof(tag));
}

static enum nt_status decode_switch_44_20(const struct nt_decoder *decoder, uint64_t parameter,
                                          const uint8_t *packed, size_t packed_bytes, uint8_t *output,
                                          size_t elements, struct nt_error *error)
{
    UNUSED_DECODE_ARGUMENTS;
    for (size_t i = 0; i < elements; i++) {
        uint64_t value = nt_load_le64(packed + 8 * i);
        store_switch(output + 12 * i, value & ((UINT64_C(1) << 44) - 1), (uint32_t)(value >> 44));
    }
    return NT_OK;
}

static enum nt_status decode_switch_32_32(const struct nt_decoder *decoder, uint64_t parameter,
                                          const uint8_t *packed, size_t packed_bytes, uint8_t *output,
                                          size_t elements, struct nt_error *error)
{
    UNUSED_DECODE_ARGUMENTS;
    for (size_t i = 0; i < elements; i++)
        store_switch(output + 12 * i, nt_load_le32(packed + 8 * i), nt_load_le32(packed + 8 * i + 4));
    return NT_OK;
}

/* ---- reals of fewer bits: integers of a piece, then reals ---- */

enum { PIECE = 1024 }; /* elements, few enough to stay in the first-level cache */

/* The stored bits are the highest ones of an IEEE 754 binary32. */
static enum nt_status decode_trunc(const struct nt_decoder *decoder, uint64_t parameter,
                                   const uint8_t *packed, size_t packed_bytes, uint8_t *output,
                                   size_t elements, struct nt_error *error)
{
    (void)parameter, (void)error;
    uint32_t piece[PIECE];
    for (size_t first = 0, count; first < elements; first += count) {
        count = elements - first < PIECE ? elements - first : PIECE;
        nt_unpack_integers(packed, packed_bytes, decoder->bits, first, count, piece);
        for (size_t i = 0; i < count; i++)
            piece[i] <<= 32 - decoder->bits;
        memcpy(output + first * sizeof(*piece), piece, count * sizeof(*piece));
    }
    return NT_OK;
}

/* The stored integer k of b bits is the value minimum + k (maximum - minimum) / (2^b - 1), computed in the
 * order in which ROOT does, so that the last bit agrees too. */
static enum nt_status decode_quant(const struct nt_decoder *decoder, uint64_t parameter,
                                   const uint8_t *packed, size_t packed_bytes, uint8_t *output,
                                   size_t elements, struct nt_error *error)
{
    (void)parameter, (void)error;
    uint32_t piece[PIECE];
    float reals[PIECE];
    double minimum = decoder->minimum;
    double step = (decoder->maximum - minimum) / (double)((UINT64_C(1) << decoder->bits) - 1);
    for (size_t first = 0, count; first < elements; first += count) {
        count = elements - first < PIECE ? elements - first : PIECE;
        nt_unpack_integers(packed, packed_bytes, decoder->bits, first, count, piece);
        for (size_t i = 0; i < count; i++)
            reals[i] = (float)((double)piece[i] * step + minimum);
        memcpy(output + first * sizeof(*reals), reals, count * sizeof(*reals));
    }
    return NT_OK;
}

/* ---- the table ---- */

static const struct nt_encoding encodings[NT_ENCODING_COUNT] = {
    [NT_ENCODING_BIT] = {"Bit", "bits", NT_ELEMENT_BOOL, 1, 1, false, decode_bits, false},
    [NT_ENCODING_BYTE] = {"Byte", "", NT_ELEMENT_BYTE, 8, 8, false, decode_identity, true},
    [NT_ENCODING_CHAR] = {"Char", "", NT_ELEMENT_BYTE, 8, 8, false, decode_identity, true},
    [NT_ENCODING_INT8] = {"Int8", "", NT_ELEMENT_INT8, 8, 8, false, decode_identity, true},
    [NT_ENCODING_UINT8] = {"UInt8", "", NT_ELEMENT_UINT8, 8, 8, false, decode_identity, true},
    [NT_ENCODING_INT16] = {"Int16", "", NT_ELEMENT_INT16, 16, 16, false, decode_identity, true},
    [NT_ENCODING_UINT16] = {"UInt16", "", NT_ELEMENT_UINT16, 16, 16, false, decode_identity, true},
    [NT_ENCODING_INT32] = {"Int32", "", NT_ELEMENT_INT32, 32, 32, false, decode_identity, true},
    [NT_ENCODING_UINT32] = {"UInt32", "", NT_ELEMENT_UINT32, 32, 32, false, decode_identity, true},
    [NT_ENCODING_INT64] = {"Int64", "", NT_ELEMENT_INT64, 64, 64, false, decode_identity, true},
    [NT_ENCODING_UINT64] = {"UInt64", "", NT_ELEMENT_UINT64, 64, 64, false, decode_identity, true},
    [NT_ENCODING_REAL16] = {"Real16", "", NT_ELEMENT_REAL16, 16, 16, false, decode_identity, true},
    [NT_ENCODING_REAL32] = {"Real32", "", NT_ELEMENT_REAL32, 32, 32, false, decode_identity, true},
    [NT_ENCODING_REAL64] = {"Real64", "", NT_ELEMENT_REAL64, 64, 64, false, decode_identity, true},
    [NT_ENCODING_INDEX32] = {"Index32", "", NT_ELEMENT_UINT32, 32, 32, true, decode_identity, true},
    [NT_ENCODING_INDEX64] = {"Index64", "", NT_ELEMENT_UINT64, 64, 64, true, decode_identity, true},
    [NT_ENCODING_SWITCH] = {"Switch", "", NT_ELEMENT_SWITCH, 96, 96, false, decode_identity, true},
    [NT_ENCODING_SWITCH_44_20] = {"Switch", "44 bits index, 20 bits tag", NT_ELEMENT_SWITCH, 64, 64, false,
                                  decode_switch_44_20, false},
    [NT_ENCODING_SWITCH_32_32] = {"Switch", "32 bits index, 32 bits tag", NT_ELEMENT_SWITCH, 64, 64, false,
                                  decode_switch_32_32, false},
    [NT_ENCODING_SPLIT_INT16] = {"SplitInt16", "split, zigzag", NT_ELEMENT_INT16, 16, 16, false,
                                 decode_split_zigzag16, false},
    [NT_ENCODING_SPLIT_UINT16] = {"SplitUInt16", "split", NT_ELEMENT_UINT16, 16, 16, false, decode_split16,
                                  false},
    [NT_ENCODING_SPLIT_INT32] = {"SplitInt32", "split, zigzag", NT_ELEMENT_INT32, 32, 32, false,
                                 decode_split_zigzag32, false},
    [NT_ENCODING_SPLIT_UINT32] = {"SplitUInt32", "split", NT_ELEMENT_UINT32, 32, 32, false, decode_split32,
                                  false},
    [NT_ENCODING_SPLIT_INT64] = {"SplitInt64", "split, zigzag", NT_ELEMENT_INT64, 64, 64, false,
                                 decode_split_zigzag64, false},
    [NT_ENCODING_SPLIT_UINT64] = {"SplitUInt64", "split", NT_ELEMENT_UINT64, 64, 64, false, decode_split64,
                                  false},
    [NT_ENCODING_SPLIT_REAL16] = {"SplitReal16", "split", NT_ELEMENT_REAL16, 16, 16, false, decode_split16,
                                  false},
    [NT_ENCODING_SPLIT_REAL32] = {"SplitReal32", "split", NT_ELEMENT_REAL32, 32, 32, false, decode_split32,
                                  false},
    [NT_ENCODING_SPLIT_REAL64] = {"SplitReal64", "split", NT_ELEMENT_REAL64, 64, 64, false, decode_split64,
                                  false},
    [NT_ENCODING_SPLIT_INDEX32] = {"SplitIndex32", "split, delta", NT_ELEMENT_UINT32, 32, 32, true,
                                   decode_split_delta32, false},
    [NT_ENCODING_SPLIT_INDEX64] = {"SplitIndex64", "split, delta", NT_ELEMENT_UINT64, 64, 64, true,
                                   decode_split_delta64, false},
    [NT_ENCODING_REAL32_TRUNC] = {"Real32Trunc", "bits, truncated mantissa", NT_ELEMENT_REAL32, 10, 31, false,
                                  decode_trunc, false},
    [NT_ENCODING_REAL32_QUANT] = {"Real32Quant", "bits, quantized", NT_ELEMENT_REAL32, 1, 32, false,
                                  decode_quant, false},
    [NT_ENCODING_OPAQUE] = {"Opaque", "", NT_ELEMENT_OPAQUE, 8, UINT32_MAX / 8 * 8, false, decode_identity,
                            true},
    [NT_ENCODING_ROARING_ARRAY] = {"RoaringArray", "array container", NT_ELEMENT_UINT32, 0, 0, false,
                                   nt_decode_roaring_array, false},
    [NT_ENCODING_ROARING_BITSET] = {"RoaringBitset", "bitset container", NT_ELEMENT_UINT32, 0, 0, false,
                                    nt_decode_roaring_bitset, false},
    [NT_ENCODING_ROARING_RUN] = {"RoaringRun", "run container", NT_ELEMENT_UINT32, 0, 0, false,
                                 nt_decode_roaring_run, false},
    [NT_ENCODING_UNKNOWN] = {"unknown", "", NT_ELEMENT_OPAQUE, 0, UINT32_MAX, false, NULL, false},
};

const struct nt_encoding *nt_encoding(enum nt_encoding_kind kind)
{
    return &encodings[kind];
}

enum nt_status nt_decoder_init(struct nt_decoder *decoder, enum nt_encoding_kind kind, uint32_t bits,
                               double minimum, double maximum, struct nt_error *error)
{
    const struct nt_encoding *encoding = &encodings[kind];
    if (bits == 0)
        bits = encoding->maximum_bits == encoding->minimum_bits ? encoding->maximum_bits : 0;
    if (bits < encoding->minimum_bits || bits > encoding->maximum_bits)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "column type %s: expected %u to %u bits, found %u",
                       encoding->name, encoding->minimum_bits, encoding->maximum_bits, bits);
    if (kind == NT_ENCODING_OPAQUE && bits % 8)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "elements of %u bits are not whole bytes", bits);
    *decoder = (struct nt_decoder){
        .encoding = kind,
        .element = encoding->element,
        .bits = bits,
        .element_bytes =
            encoding->element == NT_ELEMENT_OPAQUE ? bits / 8 : nt_element_info(encoding->element)->bytes,
        .minimum = minimum,
        .maximum = maximum,
    };
    return NT_OK;
}

bool nt_packed_bytes(const struct nt_decoder *decoder, uint64_t elements, uint64_t *bytes_ret)
{
    uint64_t bits;
    if (!nt_multiply(elements, decoder->bits, &bits))
        return false;
    *bytes_ret = bits / 8 + (bits % 8 != 0);
    return true;
}

enum nt_status nt_decode(const struct nt_decoder *decoder, uint64_t parameter, const uint8_t *packed,
                         size_t packed_bytes, uint8_t *output, size_t elements, struct nt_error *error)
{
    const struct nt_encoding *encoding = &encodings[decoder->encoding];
    uint64_t expected = 0;
    if (!encoding->decode)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "a column type that is not known");
    if (decoder->bits && (!nt_packed_bytes(decoder, elements, &expected) || expected != packed_bytes))
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a page's elements", expected,
                              packed_bytes);
    return encoding->decode(decoder, parameter, packed, packed_bytes, output, elements, error);
}
