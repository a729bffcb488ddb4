/* SPDX-License-Identifier: MIT
 *
 * The table of encodings: how the elements of a page lie in its packed bytes, for the column types of every
 * RNTuple generation and the pages of the other formats.
 */
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/overflow.h"
#include "core/codec/codec.h"
#include "core/codec/roaring.h"
#include "core/codec/steps.h"

static enum nt_status identity(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    (void)error;
    if (packed->bytes)
        memcpy(output, packed->data, packed->bytes);
    return NT_OK;
}

static enum nt_status unpack_bits(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    (void)error;
    nt_unpack_bits(packed->data, packed->elements, output);
    return NT_OK;
}

#define DEFINE_SPLIT(name, bits, finish)                                                                     \
    static enum nt_status name(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)      \
    {                                                                                                        \
        (void)error;                                                                                         \
        nt_unsplit##bits(packed->data, packed->elements, finish, output);                                    \
        return NT_OK;                                                                                        \
    }

DEFINE_SPLIT(split16, 16, NT_FINISH_NOTHING)
DEFINE_SPLIT(split32, 32, NT_FINISH_NOTHING)
DEFINE_SPLIT(split64, 64, NT_FINISH_NOTHING)
DEFINE_SPLIT(zigzag16, 16, NT_FINISH_ZIGZAG)
DEFINE_SPLIT(zigzag32, 32, NT_FINISH_ZIGZAG)
DEFINE_SPLIT(zigzag64, 64, NT_FINISH_ZIGZAG)
DEFINE_SPLIT(delta32, 32, NT_FINISH_DELTA)
DEFINE_SPLIT(delta64, 64, NT_FINISH_DELTA)

/* ---- switches: served as (u64 index, u32 tag), 12 bytes ---- */

static void store_switch(uint8_t *output, uint64_t index, uint32_t tag)
{
    memcpy(output, &index, sizeof(index));
    memcpy(output + sizeof(index), &tag, sizeof(tag));
}

static enum nt_status switch_44_20(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    (void)error;
    const uint8_t *data = packed->data;
    for (size_t i = 0, elements = packed->elements; i < elements; i++) {
        uint64_t value = nt_load_le64(data + 8 * i);
        store_switch(output + 12 * i, value & ((UINT64_C(1) << 44) - 1), (uint32_t)(value >> 44));
    }
    return NT_OK;
}

static enum nt_status switch_32_32(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    (void)error;
    const uint8_t *data = packed->data;
    for (size_t i = 0, elements = packed->elements; i < elements; i++)
        store_switch(output + 12 * i, nt_load_le32(data + 8 * i), nt_load_le32(data + 8 * i + 4));
    return NT_OK;
}

/* ---- reals of fewer bits: integers of a piece, then reals ---- */

enum { PIECE = 1024 }; /* elements, few enough to stay in the first-level cache */

static size_t unpack_piece(const struct nt_packed *packed, size_t first, uint32_t piece[PIECE])
{
    size_t left = packed->elements - first, count = left < PIECE ? left : PIECE;
    nt_unpack_integers(packed->data, packed->bytes, packed->decoder->bits, first, count, piece);
    return count;
}

/* The stored bits are the highest ones of an IEEE 754 binary32. */
static enum nt_status truncated(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    (void)error;
    uint32_t piece[PIECE], dropped = 32 - packed->decoder->bits;
    for (size_t first = 0, count; first < packed->elements; first += count) {
        count = unpack_piece(packed, first, piece);
        for (size_t i = 0; i < count; i++)
            piece[i] <<= dropped;
        memcpy(output + first * sizeof(*piece), piece, count * sizeof(*piece));
    }
    return NT_OK;
}

/* The stored integer k of b bits is the value minimum + k (maximum - minimum) / (2^b - 1), computed in the
 * order in which ROOT does, so that the last bit agrees too; only a field of 32 bits rounds it to these. */
static double step_of(const struct nt_decoder *decoder)
{
    return (decoder->maximum - decoder->minimum) / (double)((UINT64_C(1) << decoder->bits) - 1);
}

#define DEFINE_QUANTIZED(name, type)                                                                         \
    static void name(const struct nt_packed *packed, uint8_t *output)                                        \
    {                                                                                                        \
        uint32_t piece[PIECE];                                                                               \
        type reals[PIECE];                                                                                   \
        double minimum = packed->decoder->minimum, step = step_of(packed->decoder);                          \
        for (size_t first = 0, count; first < packed->elements; first += count) {                            \
            count = unpack_piece(packed, first, piece);                                                      \
            for (size_t i = 0; i < count; i++)                                                               \
                reals[i] = (type)((double)piece[i] * step + minimum);                                        \
            memcpy(output + first * sizeof(*reals), reals, count * sizeof(*reals));                          \
        }                                                                                                    \
    }

DEFINE_QUANTIZED(quantized32, float)
DEFINE_QUANTIZED(quantized64, double)

static enum nt_status quantized(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    (void)error;
    if (packed->decoder->element == NT_ELEMENT_REAL64)
        quantized64(packed, output);
    else
        quantized32(packed, output);
    return NT_OK;
}

/* ---- the table ---- */

static const struct nt_encoding encodings[NT_ENCODING_COUNT] = {
    [NT_ENCODING_BIT] =
        {.name = "Bit", .steps = "bits", .element = NT_ELEMENT_BOOL, .bits = 1, .decode = unpack_bits},
    [NT_ENCODING_BYTE] = {.name = "Byte", .element = NT_ELEMENT_BYTE, .bits = 8, .decode = identity},
    [NT_ENCODING_CHAR] = {.name = "Char", .element = NT_ELEMENT_BYTE, .bits = 8, .decode = identity},
    [NT_ENCODING_INT8] = {.name = "Int8", .element = NT_ELEMENT_INT8, .bits = 8, .decode = identity},
    [NT_ENCODING_UINT8] = {.name = "UInt8", .element = NT_ELEMENT_UINT8, .bits = 8, .decode = identity},
    [NT_ENCODING_INT16] = {.name = "Int16", .element = NT_ELEMENT_INT16, .bits = 16, .decode = identity},
    [NT_ENCODING_UINT16] = {.name = "UInt16", .element = NT_ELEMENT_UINT16, .bits = 16, .decode = identity},
    [NT_ENCODING_INT32] = {.name = "Int32", .element = NT_ELEMENT_INT32, .bits = 32, .decode = identity},
    [NT_ENCODING_UINT32] = {.name = "UInt32", .element = NT_ELEMENT_UINT32, .bits = 32, .decode = identity},
    [NT_ENCODING_INT64] = {.name = "Int64", .element = NT_ELEMENT_INT64, .bits = 64, .decode = identity},
    [NT_ENCODING_UINT64] = {.name = "UInt64", .element = NT_ELEMENT_UINT64, .bits = 64, .decode = identity},
    [NT_ENCODING_REAL16] = {.name = "Real16", .element = NT_ELEMENT_REAL16, .bits = 16, .decode = identity},
    [NT_ENCODING_REAL32] = {.name = "Real32", .element = NT_ELEMENT_REAL32, .bits = 32, .decode = identity},
    [NT_ENCODING_REAL64] = {.name = "Real64", .element = NT_ELEMENT_REAL64, .bits = 64, .decode = identity},
    [NT_ENCODING_INDEX32] =
        {.name = "Index32", .element = NT_ELEMENT_UINT32, .bits = 32, .is_index = true, .decode = identity},
    [NT_ENCODING_INDEX64] =
        {.name = "Index64", .element = NT_ELEMENT_UINT64, .bits = 64, .is_index = true, .decode = identity},
    [NT_ENCODING_SWITCH] = {.name = "Switch", .element = NT_ELEMENT_SWITCH, .bits = 96, .decode = identity},
    [NT_ENCODING_SWITCH_44_20] = {.name = "Switch",
                                  .steps = "44 bits index, 20 bits tag",
                                  .element = NT_ELEMENT_SWITCH,
                                  .bits = 64,
                                  .decode = switch_44_20},
    [NT_ENCODING_SWITCH_32_32] = {.name = "Switch",
                                  .steps = "32 bits index, 32 bits tag",
                                  .element = NT_ELEMENT_SWITCH,
                                  .bits = 64,
                                  .decode = switch_32_32},
    [NT_ENCODING_SPLIT_INT16] = {.name = "SplitInt16",
                                 .steps = "split, zigzag",
                                 .element = NT_ELEMENT_INT16,
                                 .bits = 16,
                                 .decode = zigzag16},
    [NT_ENCODING_SPLIT_UINT16] = {.name = "SplitUInt16",
                                  .steps = "split",
                                  .element = NT_ELEMENT_UINT16,
                                  .bits = 16,
                                  .decode = split16},
    [NT_ENCODING_SPLIT_INT32] = {.name = "SplitInt32",
                                 .steps = "split, zigzag",
                                 .element = NT_ELEMENT_INT32,
                                 .bits = 32,
                                 .decode = zigzag32},
    [NT_ENCODING_SPLIT_UINT32] = {.name = "SplitUInt32",
                                  .steps = "split",
                                  .element = NT_ELEMENT_UINT32,
                                  .bits = 32,
                                  .decode = split32},
    [NT_ENCODING_SPLIT_INT64] = {.name = "SplitInt64",
                                 .steps = "split, zigzag",
                                 .element = NT_ELEMENT_INT64,
                                 .bits = 64,
                                 .decode = zigzag64},
    [NT_ENCODING_SPLIT_UINT64] = {.name = "SplitUInt64",
                                  .steps = "split",
                                  .element = NT_ELEMENT_UINT64,
                                  .bits = 64,
                                  .decode = split64},
    [NT_ENCODING_SPLIT_REAL16] = {.name = "SplitReal16",
                                  .steps = "split",
                                  .element = NT_ELEMENT_REAL16,
                                  .bits = 16,
                                  .decode = split16},
    [NT_ENCODING_SPLIT_REAL32] = {.name = "SplitReal32",
                                  .steps = "split",
                                  .element = NT_ELEMENT_REAL32,
                                  .bits = 32,
                                  .decode = split32},
    [NT_ENCODING_SPLIT_REAL64] = {.name = "SplitReal64",
                                  .steps = "split",
                                  .element = NT_ELEMENT_REAL64,
                                  .bits = 64,
                                  .decode = split64},
    [NT_ENCODING_SPLIT_INDEX32] = {.name = "SplitIndex32",
                                   .steps = "split, delta",
                                   .element = NT_ELEMENT_UINT32,
                                   .bits = 32,
                                   .is_index = true,
                                   .decode = delta32},
    [NT_ENCODING_SPLIT_INDEX64] = {.name = "SplitIndex64",
                                   .steps = "split, delta",
                                   .element = NT_ELEMENT_UINT64,
                                   .bits = 64,
                                   .is_index = true,
                                   .decode = delta64},
    [NT_ENCODING_REAL32_TRUNC] = {.name = "Real32Trunc",
                                  .steps = "bits, truncated mantissa",
                                  .element = NT_ELEMENT_REAL32,
                                  .minimum_bits = 10,
                                  .maximum_bits = 31,
                                  .decode = truncated},
    [NT_ENCODING_REAL32_QUANT] = {.name = "Real32Quant",
                                  .steps = "bits, quantized",
                                  .element = NT_ELEMENT_REAL32,
                                  .minimum_bits = 1,
                                  .maximum_bits = 32,
                                  .decode = quantized},
    [NT_ENCODING_OPAQUE] = {.name = "Opaque",
                            .element = NT_ELEMENT_OPAQUE,
                            .minimum_bits = 8,
                            .maximum_bits = UINT32_MAX / 8 * 8,
                            .decode = identity},
    [NT_ENCODING_ROARING_ARRAY] = {.name = "RoaringArray",
                                   .steps = "array container",
                                   .element = NT_ELEMENT_UINT32,
                                   .decode = nt_decode_roaring_array},
    [NT_ENCODING_ROARING_BITSET] = {.name = "RoaringBitset",
                                    .steps = "bitset container",
                                    .element = NT_ELEMENT_UINT32,
                                    .decode = nt_decode_roaring_bitset},
    [NT_ENCODING_ROARING_RUN] = {.name = "RoaringRun",
                                 .steps = "run container",
                                 .element = NT_ELEMENT_UINT32,
                                 .decode = nt_decode_roaring_run},
    [NT_ENCODING_PLAN] = {.name = "plan",
                          .steps = "several steps",
                          .element = NT_ELEMENT_OPAQUE,
                          .maximum_bits = UINT32_MAX},
    [NT_ENCODING_UNKNOWN] = {.name = "unknown", .element = NT_ELEMENT_OPAQUE, .maximum_bits = UINT32_MAX},
};

const struct nt_encoding *nt_encoding_info(enum nt_encoding_kind kind)
{
    return &encodings[kind];
}

const char *nt_encoding_steps(enum nt_encoding_kind kind)
{
    return encodings[kind].steps ? encodings[kind].steps : "";
}

bool nt_encoding_is_identity(enum nt_encoding_kind kind)
{
    return encodings[kind].decode == identity;
}

enum nt_status nt_decoder_init(struct nt_decoder *decoder, enum nt_encoding_kind kind, uint32_t bits,
                               double minimum, double maximum, struct nt_error *error)
{
    const struct nt_encoding *encoding = &encodings[kind];
    uint32_t least = encoding->bits ? encoding->bits : encoding->minimum_bits;
    uint32_t most = encoding->bits ? encoding->bits : encoding->maximum_bits;
    if (bits == 0)
        bits = encoding->bits;
    if (bits < least || bits > most)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "column type %s: expected %u to %u bits, found %u",
                       encoding->name, least, most, bits);
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

void nt_decoder_set_element(struct nt_decoder *decoder, enum nt_element element)
{
    decoder->element = element;
    decoder->element_bytes = nt_element_info(element)->bytes;
}

bool nt_packed_bytes(const struct nt_decoder *decoder, uint64_t elements, uint64_t *bytes_ret)
{
    uint64_t bits;
    if (!nt_multiply(elements, decoder->bits, &bits))
        return false;
    *bytes_ret = bits / 8 + (bits % 8 != 0);
    return true;
}

struct nt_value nt_decoded_value(const struct nt_decoder *decoder, const uint8_t *data, uint64_t elements)
{
    return (struct nt_value){data, elements, decoder->element, decoder->element_bytes};
}

enum nt_status nt_decode(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    const struct nt_decoder *decoder = packed->decoder;
    const struct nt_encoding *encoding = &encodings[decoder->encoding];
    uint64_t expected = 0;
    if (!encoding->decode)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "a column type that is not known");
    if (decoder->bits &&
        (!nt_packed_bytes(decoder, packed->elements, &expected) || expected != packed->bytes))
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a page's elements", expected,
                              packed->bytes);
    return encoding->decode(packed, output, error);
}
