/* SPDX-License-Identifier: MIT
 *
 * Table of page encodings: packed bits, byte splitting, delta, zigzag, truncated and quantized reals, and
 * containers of the portable Roaring format (array, bitset, run). Hot loops use vectors of 16 bytes.
 */
#include "core/codec/codec.h"

/* ---- Roaring containers ---- */

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

static enum nt_status decode_roaring_array(const struct nt_packed *packed, uint8_t *output,
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

static enum nt_status decode_roaring_bitset(const struct nt_packed *packed, uint8_t *output,
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

static enum nt_status decode_roaring_run(const struct nt_packed *packed, uint8_t *output,
                                         struct nt_error *error)
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

/* ---- split, then zigzag or delta: one element after the other ---- */

#define DEFINE_UNSPLIT_REST(bits)                                                                            \
    static void unsplit_rest##bits(const uint8_t *planes, size_t count, size_t first, enum nt_finish finish, \
                                   uint##bits##_t before, uint8_t *output)                                   \
    {                                                                                                        \
        for (size_t i = first; i < count; i++) {                                                             \
            uint##bits##_t value = 0;                                                                        \
            for (unsigned byte = 0; byte < sizeof(value); byte++)                                            \
                value |= (uint##bits##_t)((uint##bits##_t)planes[byte * count + i] << 8 * byte);             \
            if (finish == NT_FINISH_ZIGZAG)                                                                  \
                value = (uint##bits##_t)(value >> 1 ^ (uint##bits##_t) - (value & 1));                       \
            else if (finish == NT_FINISH_DELTA)                                                              \
                before = value = (uint##bits##_t)(value + before);                                           \
            memcpy(output + i * sizeof(value), &value, sizeof(value));                                       \
        }                                                                                                    \
    }

DEFINE_UNSPLIT_REST(16)
DEFINE_UNSPLIT_REST(32)
DEFINE_UNSPLIT_REST(64)

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define HAVE_VECTORS
#endif
#endif

#ifdef HAVE_VECTORS

enum { VECTOR = 16 }; /* bytes of a vector; also elements per round of the loops below */

typedef uint8_t vector8 __attribute__((vector_size(VECTOR)));
typedef uint16_t vector16 __attribute__((vector_size(VECTOR)));
typedef uint32_t vector32 __attribute__((vector_size(VECTOR)));
typedef uint64_t vector64 __attribute__((vector_size(VECTOR)));

static inline vector8 load(const uint8_t *from)
{
    vector8 vector;
    memcpy(&vector, from, sizeof(vector));
    return vector;
}

/* Interleaves items of both vectors: the lower halves (pair[0]) and the upper halves (pair[1]). */
static inline void interleave8(vector8 a, vector8 b, vector16 pair[2])
{
    pair[0] = (vector16)__builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    pair[1] =
        (vector16)__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

static inline void interleave16(vector16 a, vector16 b, vector32 pair[2])
{
    pair[0] = (vector32)__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    pair[1] = (vector32)__builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

static inline void interleave32(vector32 a, vector32 b, vector64 pair[2])
{
    pair[0] = (vector64)__builtin_shufflevector(a, b, 0, 4, 1, 5);
    pair[1] = (vector64)__builtin_shufflevector(a, b, 2, 6, 3, 7);
}

/* Joins the bytes of VECTOR elements, which are `stride` bytes apart. */
static inline void join16(const uint8_t *planes, size_t stride, vector16 elements[2])
{
    interleave8(load(planes), load(planes + stride), elements);
}

static inline void join32(const uint8_t *planes, size_t stride, vector32 elements[4])
{
    vector16 low[2], high[2];
    join16(planes, stride, low);
    join16(planes + 2 * stride, stride, high);
    interleave16(low[0], high[0], elements);
    interleave16(low[1], high[1], elements + 2);
}

static inline void join64(const uint8_t *planes, size_t stride, vector64 elements[8])
{
    vector32 low[4], high[4];
    join32(planes, stride, low);
    join32(planes + 4 * stride, stride, high);
    for (unsigned i = 0; i < 4; i++)
        interleave32(low[i], high[i], elements + 2 * i);
}

/* Prefix sums, by adding the vector to itself shifted by one and two items; each item of `before` is
 * the sum of all earlier vectors. Only its addition depends on the previous vector. */
static inline vector32 undelta32(vector32 items, vector32 *before)
{
    const vector32 zero = {0};
    items += __builtin_shufflevector(zero, items, 0, 4, 5, 6);
    items += __builtin_shufflevector(zero, items, 0, 1, 4, 5);
    vector32 sums = items + *before;
    *before += __builtin_shufflevector(items, items, 3, 3, 3, 3);
    return sums;
}

static inline vector64 undelta64(vector64 items, vector64 *before)
{
    const vector64 zero = {0};
    items += __builtin_shufflevector(zero, items, 0, 2);
    vector64 sums = items + *before;
    *before += __builtin_shufflevector(items, items, 1, 1);
    return sums;
}

static inline vector16 undelta16(vector16 items, vector16 *before)
{
    (void)before; /* the formats have no such column type */
    return items;
}

/* Inlined with a constant `finish`, so that the loop has no branches. */
#define DEFINE_UNSPLIT_VECTORS(bits)                                                                         \
    __attribute__((always_inline)) static inline size_t unsplit_vectors##bits(                               \
        const uint8_t *planes, size_t count, enum nt_finish finish, uint##bits##_t *before_ret,              \
        uint8_t *output)                                                                                     \
    {                                                                                                        \
        size_t first = 0;                                                                                    \
        vector##bits before = {0};                                                                           \
        for (; count - first >= VECTOR; first += VECTOR) {                                                   \
            vector##bits items[(bits) / 8];                                                                  \
            join##bits(planes + first, count, items);                                                        \
            for (unsigned i = 0; i < (bits) / 8; i++) {                                                      \
                if (finish == NT_FINISH_ZIGZAG)                                                              \
                    items[i] = items[i] >> 1 ^ -(items[i] & 1);                                              \
                else if (finish == NT_FINISH_DELTA)                                                          \
                    items[i] = undelta##bits(items[i], &before);                                             \
                memcpy(output + first * ((bits) / 8) + i * VECTOR, &items[i], VECTOR);                       \
            }                                                                                                \
        }                                                                                                    \
        *before_ret = before[0];                                                                             \
        return first;                                                                                        \
    }

#else

#define DEFINE_UNSPLIT_VECTORS(bits)                                                                         \
    static size_t unsplit_vectors##bits(const uint8_t *planes, size_t count, enum nt_finish finish,          \
                                        uint##bits##_t *before_ret, uint8_t *output)                         \
    {                                                                                                        \
        *before_ret = 0;                                                                                     \
        return 0;                                                                                            \
    }

#endif

DEFINE_UNSPLIT_VECTORS(16)
DEFINE_UNSPLIT_VECTORS(32)
DEFINE_UNSPLIT_VECTORS(64)

#define DEFINE_UNSPLIT(bits)                                                                                 \
    void nt_unsplit##bits(const uint8_t *planes, size_t count, enum nt_finish finish, uint8_t *output)       \
    {                                                                                                        \
        uint##bits##_t before = 0;                                                                           \
        size_t done = finish == NT_FINISH_ZIGZAG                                                             \
                          ? unsplit_vectors##bits(planes, count, NT_FINISH_ZIGZAG, &before, output)          \
                      : finish == NT_FINISH_DELTA                                                            \
                          ? unsplit_vectors##bits(planes, count, NT_FINISH_DELTA, &before, output)           \
                          : unsplit_vectors##bits(planes, count, NT_FINISH_NOTHING, &before, output);        \
        unsplit_rest##bits(planes, count, done, finish, before, output);                                     \
    }

DEFINE_UNSPLIT(16)
DEFINE_UNSPLIT(32)
DEFINE_UNSPLIT(64)

/* ---- Bits ---- */

#ifdef HAVE_VECTORS

/* Unpacks VECTOR bytes into 8 * VECTOR bytes: three interleavings with itself copy each byte eight
 * times; each copy is masked to one bit and compared, and -1 becomes 1. */
static inline void unpack_round(const uint8_t *packed, uint8_t *output)
{
    const vector8 masks = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    vector8 bytes = load(packed);
    vector16 twice[2];
    vector32 four_times[4];
    vector64 eight_times[8];
    interleave8(bytes, bytes, twice);
    for (unsigned i = 0; i < 2; i++)
        interleave16(twice[i], twice[i], four_times + 2 * i);
    for (unsigned i = 0; i < 4; i++)
        interleave32(four_times[i], four_times[i], eight_times + 2 * i);
    for (unsigned i = 0; i < 8; i++) {
        vector8 bits = (vector8)(((vector8)eight_times[i] & masks) == masks) & 1;
        memcpy(output + i * VECTOR, &bits, VECTOR);
    }
}

static size_t unpack_vectors(const uint8_t *packed, size_t count, uint8_t *output)
{
    size_t i = 0;
    for (; count - i >= 8 * VECTOR; i += 8 * VECTOR)
        unpack_round(packed + i / 8, output + i);
    return i;
}

#else

static size_t unpack_vectors(const uint8_t *packed, size_t count, uint8_t *output)
{
    return 0;
}

#endif

void nt_unpack_bits(const uint8_t *packed, size_t count, uint8_t *output)
{
    for (size_t i = unpack_vectors(packed, count, output); i < count; i++)
        output[i] = packed[i / 8] >> i % 8 & 1;
}

/* ---- Integers of any width ---- */

enum { GROUP = 8, WINDOW = sizeof(uint64_t) }; /* a group of elements takes `width` bytes */

/* The integer at a bit offset, from the `bytes` bytes (5 suffice, 8 at most) that contain its start. */
__attribute__((always_inline)) static inline uint32_t integer_at(const uint8_t *packed, size_t bytes,
                                                                 size_t bit, unsigned width)
{
    uint64_t window = 0;
    memcpy(&window, packed + bit / 8, bytes);
    return (uint32_t)(window >> bit % 8 & ((UINT64_C(1) << width) - 1));
}

/* One function per width, in which all shifts and masks are constants. */
/* clang-format off */
#define EACH_WIDTH(X) \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) \
    X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32)
/* clang-format on */

#define DEFINE_UNPACK_GROUPS(width)                                                                          \
    static void unpack_groups_##width(const uint8_t *packed, size_t groups, uint32_t *output)                \
    {                                                                                                        \
        for (size_t group = 0; group < groups; group++, packed += width, output += GROUP)                    \
            for (unsigned i = 0; i < GROUP; i++)                                                             \
                output[i] = integer_at(packed, WINDOW, i * width, width);                                    \
    }

EACH_WIDTH(DEFINE_UNPACK_GROUPS)

#define UNPACK_GROUPS_ROW(width) [width] = unpack_groups_##width,

static void (*const unpack_groups[])(const uint8_t *packed, size_t groups,
                                     uint32_t *output) = {EACH_WIDTH(UNPACK_GROUPS_ROW)};

void nt_unpack_integers(const uint8_t *packed, size_t packed_bytes, unsigned width, size_t first,
                        size_t count, uint32_t *output)
{
    size_t start = first / GROUP * width, left = packed_bytes - start;
    size_t beyond = 7 * width / 8 + WINDOW; /* bytes that the windows of a group read */
    size_t groups = left < beyond ? 0 : (left - beyond) / width + 1;
    if (groups > count / GROUP)
        groups = count / GROUP;
    unpack_groups[width](packed + start, groups, output);
    for (size_t i = groups * GROUP; i < count; i++) {
        size_t bit = (first + i) * width, bytes = packed_bytes - bit / 8;
        output[i] = integer_at(packed, bytes < WINDOW ? bytes : WINDOW, bit, width);
    }
}

/* ---- Encoding table ---- */

static enum nt_status identity(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    if (packed->bytes)
        memcpy(output, packed->data, packed->bytes);
    return NT_OK;
}

static enum nt_status unpack_bits(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    nt_unpack_bits(packed->data, packed->elements, output);
    return NT_OK;
}

#define DEFINE_SPLIT(name, bits, finish)                                                                     \
    static enum nt_status name(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)      \
    {                                                                                                        \
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

/* ---- switches: decoded to (u64 index, u32 tag), 12 bytes ---- */

static void store_switch(uint8_t *output, uint64_t index, uint32_t tag)
{
    memcpy(output, &index, sizeof(index));
    memcpy(output + sizeof(index), &tag, sizeof(tag));
}

static enum nt_status switch_44_20(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    const uint8_t *data = packed->data;
    for (size_t i = 0, elements = packed->elements; i < elements; i++) {
        uint64_t value = nt_load_le64(data + 8 * i);
        store_switch(output + 12 * i, value & ((UINT64_C(1) << 44) - 1), (uint32_t)(value >> 44));
    }
    return NT_OK;
}

static enum nt_status switch_32_32(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    const uint8_t *data = packed->data;
    for (size_t i = 0, elements = packed->elements; i < elements; i++)
        store_switch(output + 12 * i, nt_load_le32(data + 8 * i), nt_load_le32(data + 8 * i + 4));
    return NT_OK;
}

/* ---- Narrow reals: integers of a piece, then reals ---- */

enum { PIECE = 1024 }; /* elements that fit in the first-level cache */

static size_t unpack_piece(const struct nt_packed *packed, size_t first, uint32_t piece[PIECE])
{
    size_t left = packed->elements - first, count = left < PIECE ? left : PIECE;
    nt_unpack_integers(packed->data, packed->bytes, packed->decoder->bits, first, count, piece);
    return count;
}

/* Stores the highest bits of an IEEE 754 binary32. */
static enum nt_status truncated(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    uint32_t piece[PIECE], dropped = 32 - packed->decoder->bits;
    for (size_t first = 0, count; first < packed->elements; first += count) {
        count = unpack_piece(packed, first, piece);
        for (size_t i = 0; i < count; i++)
            piece[i] <<= dropped;
        memcpy(output + first * sizeof(*piece), piece, count * sizeof(*piece));
    }
    return NT_OK;
}

/* The stored integer k of b bits has the value minimum + k (maximum - minimum) / (2^b - 1), computed in
 * ROOT's order so that the last bit is equal, too; only 32-bit fields round it to 32 bits. */
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
    if (packed->decoder->element == NT_ELEMENT_REAL64)
        quantized64(packed, output);
    else
        quantized32(packed, output);
    return NT_OK;
}

/* ---- Big-endian numbers: bytes in reverse order ---- */

#ifdef HAVE_VECTORS

/* Reverses the bytes of each item: those of pairs, then the pairs. */
static inline vector16 swap16(vector16 items)
{
    return items << 8 | items >> 8;
}

static inline vector16 swap32(vector16 items)
{
    return swap16(__builtin_shufflevector(items, items, 1, 0, 3, 2, 5, 4, 7, 6));
}

static inline vector16 swap64(vector16 items)
{
    return swap16(__builtin_shufflevector(items, items, 3, 2, 1, 0, 7, 6, 5, 4));
}

#define DEFINE_SWAP_VECTORS(bits)                                                                            \
    static size_t swap_vectors##bits(const uint8_t *stored, size_t count, uint8_t *output)                   \
    {                                                                                                        \
        size_t bytes = count * ((bits) / 8), i = 0;                                                          \
        for (; bytes - i >= VECTOR; i += VECTOR) {                                                           \
            vector16 items = swap##bits((vector16)load(stored + i));                                         \
            memcpy(output + i, &items, VECTOR);                                                              \
            nt_prefetch_for_write(output + i);                                                               \
        }                                                                                                    \
        return i / ((bits) / 8);                                                                             \
    }

#else

#define DEFINE_SWAP_VECTORS(bits)                                                                            \
    static size_t swap_vectors##bits(const uint8_t *stored, size_t count, uint8_t *output)                   \
    {                                                                                                        \
        return 0;                                                                                            \
    }

#endif

#define DEFINE_SWAP(bits)                                                                                    \
    DEFINE_SWAP_VECTORS(bits)                                                                                \
    void nt_swap##bits(const uint8_t *stored, size_t count, uint8_t *output)                                 \
    {                                                                                                        \
        for (size_t i = swap_vectors##bits(stored, count, output); i < count; i++) {                         \
            uint##bits##_t value = nt_load_be##bits(stored + i * sizeof(value));                             \
            memcpy(output + i * sizeof(value), &value, sizeof(value));                                       \
        }                                                                                                    \
    }                                                                                                        \
    static enum nt_status big##bits(const struct nt_packed *packed, uint8_t *output, struct nt_error *error) \
    {                                                                                                        \
        nt_swap##bits(packed->data, packed->elements, output);                                               \
        return NT_OK;                                                                                        \
    }

DEFINE_SWAP(16)
DEFINE_SWAP(32)
DEFINE_SWAP(64)

static enum nt_status truth(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    const uint8_t *data = packed->data;
    for (size_t i = 0, elements = packed->elements; i < elements; i++)
        output[i] = data[i] != 0;
    return NT_OK;
}

/* ---- ROOT's reals of fewer bits, computed in its order so that the last bit is equal, too ---- */

static enum nt_status double32(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    const uint8_t *data = packed->data;
    for (size_t i = 0, elements = packed->elements; i < elements; i++) {
        uint32_t bits = nt_load_be32(data + sizeof(bits) * i);
        float real;
        memcpy(&real, &bits, sizeof(real));
        double wide = (double)real;
        memcpy(output + sizeof(wide) * i, &wide, sizeof(wide));
    }
    return NT_OK;
}

enum { EXPONENT_AND_MANTISSA = 3, MANTISSA = 23, DEFAULT_MANTISSA = 12, MAXIMUM_MANTISSA = 14 };

/* The sign is above the mantissa, which has one bit more than `bits` if the writer rounded it up. */
static inline float few_bits(const uint8_t *stored, unsigned bits)
{
    uint32_t low = nt_load_be16(stored + 1), sign = UINT32_C(1) << (bits + 1);
    uint32_t value = (uint32_t)stored[0] << MANTISSA | (low & (sign - 1)) << (MANTISSA - bits);
    if (low & sign)
        value ^= UINT32_C(1) << 31;
    float real;
    memcpy(&real, &value, sizeof(real));
    return real;
}

#define DEFINE_FEW_BITS(name, type)                                                                          \
    static enum nt_status name(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)      \
    {                                                                                                        \
        double mantissa = packed->decoder->minimum;                                                          \
        if (!(mantissa >= 0 && mantissa < MAXIMUM_MANTISSA + 1))                                             \
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,                                                  \
                           "reals of few bits: expected a mantissa of 0 to %d bits, found %g",               \
                           MAXIMUM_MANTISSA, mantissa);                                                      \
        unsigned bits = mantissa < 1 ? DEFAULT_MANTISSA : (unsigned)mantissa;                                \
        for (size_t i = 0, elements = packed->elements; i < elements; i++) {                                 \
            type real = (type)few_bits(packed->data + EXPONENT_AND_MANTISSA * i, bits);                      \
            memcpy(output + sizeof(real) * i, &real, sizeof(real));                                          \
        }                                                                                                    \
        return NT_OK;                                                                                        \
    }

DEFINE_FEW_BITS(few_bits32, float)
DEFINE_FEW_BITS(few_bits64, double)

#define DEFINE_RANGE(name, type)                                                                             \
    static enum nt_status name(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)      \
    {                                                                                                        \
        double minimum = packed->decoder->minimum, factor = packed->decoder->maximum;                        \
        for (size_t i = 0, elements = packed->elements; i < elements; i++) {                                 \
            type real =                                                                                      \
                (type)((double)nt_load_be32(packed->data + sizeof(uint32_t) * i) / factor + minimum);        \
            memcpy(output + sizeof(real) * i, &real, sizeof(real));                                          \
        }                                                                                                    \
        return NT_OK;                                                                                        \
    }

DEFINE_RANGE(range32, float)
DEFINE_RANGE(range64, double)

/* ---- The table ---- */

#define ENCODING(kind, text, passes, type, function, ...)                                                    \
    [NT_ENCODING_##kind] = {                                                                                 \
        .name = (text), .steps = (passes), .element = NT_ELEMENT_##type, .decode = (function), __VA_ARGS__}

/* The number of bits is fixed. */
#define FIXED(kind, text, passes, type, size, function)                                                      \
    ENCODING(kind, text, passes, type, function, .bits = (size))
#define INDEX(kind, text, passes, type, size, function)                                                      \
    ENCODING(kind, text, passes, type, function, .bits = (size), .is_index = true)

/* The column says how many bits; or, with 0, elements have different sizes. */
#define VARIABLE(kind, text, passes, type, minimum, maximum, function)                                       \
    ENCODING(kind, text, passes, type, function, .minimum_bits = (minimum), .maximum_bits = (maximum))

static const struct nt_encoding encodings[NT_ENCODING_COUNT] = {
    FIXED(BIT, "Bit", "bits", BOOL, 1, unpack_bits),
    FIXED(BYTE, "Byte", NULL, BYTE, 8, identity),
    FIXED(CHAR, "Char", NULL, BYTE, 8, identity),
    FIXED(INT8, "Int8", NULL, INT8, 8, identity),
    FIXED(UINT8, "UInt8", NULL, UINT8, 8, identity),
    FIXED(INT16, "Int16", NULL, INT16, 16, identity),
    FIXED(UINT16, "UInt16", NULL, UINT16, 16, identity),
    FIXED(INT32, "Int32", NULL, INT32, 32, identity),
    FIXED(UINT32, "UInt32", NULL, UINT32, 32, identity),
    FIXED(INT64, "Int64", NULL, INT64, 64, identity),
    FIXED(UINT64, "UInt64", NULL, UINT64, 64, identity),
    FIXED(REAL16, "Real16", NULL, REAL16, 16, identity),
    FIXED(REAL32, "Real32", NULL, REAL32, 32, identity),
    FIXED(REAL64, "Real64", NULL, REAL64, 64, identity),
    INDEX(INDEX32, "Index32", NULL, UINT32, 32, identity),
    INDEX(INDEX64, "Index64", NULL, UINT64, 64, identity),
    FIXED(SWITCH, "Switch", NULL, SWITCH, 96, identity),
    FIXED(SWITCH_44_20, "Switch", "44 bits index, 20 bits tag", SWITCH, 64, switch_44_20),
    FIXED(SWITCH_32_32, "Switch", "32 bits index, 32 bits tag", SWITCH, 64, switch_32_32),
    FIXED(SPLIT_INT16, "SplitInt16", "split, zigzag", INT16, 16, zigzag16),
    FIXED(SPLIT_UINT16, "SplitUInt16", "split", UINT16, 16, split16),
    FIXED(SPLIT_INT32, "SplitInt32", "split, zigzag", INT32, 32, zigzag32),
    FIXED(SPLIT_UINT32, "SplitUInt32", "split", UINT32, 32, split32),
    FIXED(SPLIT_INT64, "SplitInt64", "split, zigzag", INT64, 64, zigzag64),
    FIXED(SPLIT_UINT64, "SplitUInt64", "split", UINT64, 64, split64),
    FIXED(SPLIT_REAL16, "SplitReal16", "split", REAL16, 16, split16),
    FIXED(SPLIT_REAL32, "SplitReal32", "split", REAL32, 32, split32),
    FIXED(SPLIT_REAL64, "SplitReal64", "split", REAL64, 64, split64),
    INDEX(SPLIT_INDEX32, "SplitIndex32", "split, delta", UINT32, 32, delta32),
    INDEX(SPLIT_INDEX64, "SplitIndex64", "split, delta", UINT64, 64, delta64),
    VARIABLE(REAL32_TRUNC, "Real32Trunc", "bits, truncated mantissa", REAL32, 10, 31, truncated),
    VARIABLE(REAL32_QUANT, "Real32Quant", "bits, quantized", REAL32, 1, 32, quantized),
    VARIABLE(OPAQUE, "Opaque", NULL, OPAQUE, 8, UINT32_MAX / 8 * 8, identity),
    VARIABLE(ROARING_ARRAY, "RoaringArray", "array container", UINT32, 0, 0, decode_roaring_array),
    VARIABLE(ROARING_BITSET, "RoaringBitset", "bitset container", UINT32, 0, 0, decode_roaring_bitset),
    VARIABLE(ROARING_RUN, "RoaringRun", "run container", UINT32, 0, 0, decode_roaring_run),
    FIXED(BOOL8, "Bool8", "bytes", BOOL, 8, truth),
    FIXED(BIG_INT16, "BigInt16", "big-endian", INT16, 16, big16),
    FIXED(BIG_UINT16, "BigUInt16", "big-endian", UINT16, 16, big16),
    FIXED(BIG_INT32, "BigInt32", "big-endian", INT32, 32, big32),
    FIXED(BIG_UINT32, "BigUInt32", "big-endian", UINT32, 32, big32),
    FIXED(BIG_INT64, "BigInt64", "big-endian", INT64, 64, big64),
    FIXED(BIG_UINT64, "BigUInt64", "big-endian", UINT64, 64, big64),
    FIXED(BIG_REAL32, "BigReal32", "big-endian", REAL32, 32, big32),
    FIXED(BIG_REAL64, "BigReal64", "big-endian", REAL64, 64, big64),
    FIXED(DOUBLE32, "Double32", "big-endian, 32 bits", REAL64, 32, double32),
    FIXED(FLOAT16_BITS, "Float16Bits", "truncated mantissa", REAL32, 24, few_bits32),
    FIXED(DOUBLE32_BITS, "Double32Bits", "truncated mantissa", REAL64, 24, few_bits64),
    FIXED(FLOAT16_RANGE, "Float16Range", "big-endian, quantized", REAL32, 32, range32),
    FIXED(DOUBLE32_RANGE, "Double32Range", "big-endian, quantized", REAL64, 32, range64),
    VARIABLE(OTHER, "other", NULL, OPAQUE, 0, UINT32_MAX, NULL),
    VARIABLE(UNKNOWN, "unknown", NULL, OPAQUE, 0, UINT32_MAX, NULL),
};

const struct nt_encoding *nt_encoding_info(enum nt_encoding_kind kind)
{
    return &encodings[kind];
}

static const struct nt_encoding *stored_encoding(const struct nt_decoder *decoder)
{
    return &encodings[decoder->encoding == NT_ENCODING_OTHER ? decoder->number_encoding : decoder->encoding];
}

uint32_t nt_decoder_stored_bits(const struct nt_decoder *decoder)
{
    return decoder->bits ? decoder->bits : stored_encoding(decoder)->bits;
}

const char *nt_decoder_steps(const struct nt_decoder *decoder)
{
    const char *steps = stored_encoding(decoder)->steps;
    return steps ? steps : "";
}

bool nt_encoding_is_identity(enum nt_encoding_kind kind)
{
    return encodings[kind].decode == identity;
}

/* For decoders of the table of encodings. */
static const struct nt_decoder_ops encoding_ops = {.decode = nt_decode};

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
        .ops = encoding->decode ? &encoding_ops : NULL,
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
    if (!nt_checked_multiply(elements, decoder->bits, &bits))
        return false;
    *bytes_ret = bits / 8 + (bits % 8 != 0);
    return true;
}

struct nt_value nt_decoded_value(const struct nt_decoder *decoder, const uint8_t *data, uint64_t elements)
{
    return (struct nt_value){data, elements, decoder->element, decoder->element_bytes};
}

bool nt_decoders_are_shared(const struct nt_decoder *a, const struct nt_decoder *b)
{
    return a->ops && a->ops == b->ops && a->ops->are_shared && a->ops->are_shared(a, b);
}

enum nt_status nt_decode(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    const struct nt_decoder *decoder = packed->decoder;
    const struct nt_encoding *encoding = &encodings[decoder->encoding];
    uint64_t expected = 0;
    if (!encoding->decode)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "unknown column type");
    if (decoder->bits &&
        (!nt_packed_bytes(decoder, packed->elements, &expected) || expected != packed->bytes))
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a page's elements", expected,
                              packed->bytes);
    return encoding->decode(packed, output, error);
}
