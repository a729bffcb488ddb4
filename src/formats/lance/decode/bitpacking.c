/* SPDX-License-Identifier: MIT
 *
 * Unpacks FastLanes bit-packed integers: blocks of 1024 values in the unified transposed layout, with
 * one specialized function per bit width.
 */
#include "formats/lance/decode/decode.h"

/* A block packs 1024 integers of 0 to T bits each into words of T = 8, 16, 32 or 64 bits. The order is
 * the unified transposed layout of "The FastLanes Compression Layout" (Afroozeh and Boncz, VLDB 2023),
 * as Lance writes it.
 *
 * A block has 1024 / T lanes. Word k of lane l is word k * lanes + l of the block. The T integers of a
 * lane, its rows, are packed in the lane's words, lowest bits first. Each row takes the same steps in
 * all lanes, and adjacent lanes are adjacent in input and output. So a vector holds several lanes, and
 * a function per width has constant shifts and masks for each row. */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    BLOCK = 1024,     /* integers in a block */
    LANE_BYTES = 128, /* one word of each lane: 1024 / T lanes of T bits */
    VECTOR = 16,      /* bytes of a vector */
    MAX_PADDING = 7,  /* that align a buffer to 8 bytes */
    MAX_WORD = 8,     /* bytes */
};

typedef uint8_t vector8 __attribute__((vector_size(VECTOR)));
typedef uint16_t vector16 __attribute__((vector_size(VECTOR)));
typedef uint32_t vector32 __attribute__((vector_size(VECTOR)));
typedef uint64_t vector64 __attribute__((vector_size(VECTOR)));

/* The sixteenth of the first 128 elements in which each eighth row begins; its next seven rows follow
 * 128 elements apart. */
static const size_t row_order[] = {0, 4, 2, 6, 1, 5, 3, 7};

/* ---- One block ---- */

/* Unpacks a row in as many lanes as fit a vector; `input` and `output` are at the first of them.
 * Callers pass constant `width` and `row`. */
#define DEFINE_UNPACK_ROW(bits)                                                                              \
    ALWAYS_INLINE void unpack_row##bits(const uint8_t *input, unsigned width, unsigned row, uint8_t *output) \
    {                                                                                                        \
        const unsigned word = row * width / (bits), shift = row * width % (bits);                            \
        const size_t element = row_order[row / 8] * 16 + row % 8 * 128;                                      \
        vector##bits values, next;                                                                           \
        memcpy(&values, input + (size_t)word * LANE_BYTES, VECTOR);                                          \
        values >>= (uint##bits##_t)shift;                                                                    \
        if (shift + width > (bits)) {                                                                        \
            memcpy(&next, input + ((size_t)word + 1) * LANE_BYTES, VECTOR);                                  \
            values |= next << (uint##bits##_t)((bits)-shift);                                                \
        }                                                                                                    \
        if (shift + width != (bits))                                                                         \
            values &= (uint##bits##_t)(UINT##bits##_MAX >> ((bits)-width));                                  \
        memcpy(output + element * ((bits) / 8), &values, VECTOR);                                            \
    }

DEFINE_UNPACK_ROW(8)
DEFINE_UNPACK_ROW(16)
DEFINE_UNPACK_ROW(32)
DEFINE_UNPACK_ROW(64)

/* Unrolled by hand, because compilers do not unroll loops this long. Sanitizers instrument each row
 * and would take minutes to compile that. */
#ifdef NT_HAS_SANITIZER
#define EACH_ROW(ROW, count)                                                                                 \
    for (unsigned row = 0; row < (count); row++) {                                                           \
        ROW(row)                                                                                             \
    }
#define ROWS8(ROW, first) EACH_ROW(ROW, 8)
#define ROWS16(ROW, first) EACH_ROW(ROW, 16)
#define ROWS32(ROW, first) EACH_ROW(ROW, 32)
#define ROWS64(ROW, first) EACH_ROW(ROW, 64)
#else
#define ROWS4(ROW, first) ROW((first)) ROW((first) + 1) ROW((first) + 2) ROW((first) + 3)
#define ROWS8(ROW, first) ROWS4(ROW, first) ROWS4(ROW, (first) + 4)
#define ROWS16(ROW, first) ROWS8(ROW, first) ROWS8(ROW, (first) + 8)
#define ROWS32(ROW, first) ROWS16(ROW, first) ROWS16(ROW, (first) + 16)
#define ROWS64(ROW, first) ROWS32(ROW, first) ROWS32(ROW, (first) + 32)
#endif

#define ROW_OF_8(row) unpack_row8(input + lane, width, row, output + lane);
#define ROW_OF_16(row) unpack_row16(input + lane, width, row, output + lane);
#define ROW_OF_32(row) unpack_row32(input + lane, width, row, output + lane);
#define ROW_OF_64(row) unpack_row64(input + lane, width, row, output + lane);

#define DEFINE_UNPACK(bits)                                                                                  \
    ALWAYS_INLINE void unpack##bits(const uint8_t *input, unsigned width, uint8_t *output)                   \
    {                                                                                                        \
        for (size_t lane = 0; lane < LANE_BYTES; lane += VECTOR) {                                           \
            ROWS##bits(ROW_OF_##bits, 0u)                                                                    \
        }                                                                                                    \
    }

DEFINE_UNPACK(8)
DEFINE_UNPACK(16)
DEFINE_UNPACK(32)
DEFINE_UNPACK(64)

/* ---- A function for each width ---- */

/* clang-format off */
#define WIDTHS8(X, bits)                                                                                     \
    X(bits, 1) X(bits, 2) X(bits, 3) X(bits, 4) X(bits, 5) X(bits, 6) X(bits, 7) X(bits, 8)
#define WIDTHS16(X, bits) WIDTHS8(X, bits) \
    X(bits, 9) X(bits, 10) X(bits, 11) X(bits, 12) X(bits, 13) X(bits, 14) X(bits, 15) X(bits, 16)
#define WIDTHS32(X, bits) WIDTHS16(X, bits) \
    X(bits, 17) X(bits, 18) X(bits, 19) X(bits, 20) X(bits, 21) X(bits, 22) X(bits, 23) X(bits, 24) \
    X(bits, 25) X(bits, 26) X(bits, 27) X(bits, 28) X(bits, 29) X(bits, 30) X(bits, 31) X(bits, 32)
#define WIDTHS64(X, bits) WIDTHS32(X, bits) \
    X(bits, 33) X(bits, 34) X(bits, 35) X(bits, 36) X(bits, 37) X(bits, 38) X(bits, 39) X(bits, 40) \
    X(bits, 41) X(bits, 42) X(bits, 43) X(bits, 44) X(bits, 45) X(bits, 46) X(bits, 47) X(bits, 48) \
    X(bits, 49) X(bits, 50) X(bits, 51) X(bits, 52) X(bits, 53) X(bits, 54) X(bits, 55) X(bits, 56) \
    X(bits, 57) X(bits, 58) X(bits, 59) X(bits, 60) X(bits, 61) X(bits, 62) X(bits, 63) X(bits, 64)
/* clang-format on */

#define DEFINE_UNPACK_WIDTH(bits, width)                                                                     \
    static void unpack##bits##_##width(const uint8_t *input, uint8_t *output)                                \
    {                                                                                                        \
        unpack##bits(input, width, output);                                                                  \
    }

WIDTHS8(DEFINE_UNPACK_WIDTH, 8)
WIDTHS16(DEFINE_UNPACK_WIDTH, 16)
WIDTHS32(DEFINE_UNPACK_WIDTH, 32)
WIDTHS64(DEFINE_UNPACK_WIDTH, 64)

typedef void unpack_block(const uint8_t *input, uint8_t *output);

#define UNPACK_WIDTH_ROW(bits, width) [width] = unpack##bits##_##width,

static unpack_block *const widths_of_8[] = {WIDTHS8(UNPACK_WIDTH_ROW, 8)};
static unpack_block *const widths_of_16[] = {WIDTHS16(UNPACK_WIDTH_ROW, 16)};
static unpack_block *const widths_of_32[] = {WIDTHS32(UNPACK_WIDTH_ROW, 32)};
static unpack_block *const widths_of_64[] = {WIDTHS64(UNPACK_WIDTH_ROW, 64)};

static const struct word {
    uint32_t bits, bytes;
    unpack_block *const *unpack; /* indexed by width, 1 to `bits` */
} words[] = {{8, 1, widths_of_8}, {16, 2, widths_of_16}, {32, 4, widths_of_32}, {64, 8, widths_of_64}};

/* Returns NULL and sets the error if the word size is unknown. */
static const struct word *find_word(uint32_t bits, struct nt_error *error)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (words[i].bits == bits)
            return &words[i];
    nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "bit-packed words have 8, 16, 32 or 64 bits, not %u", bits);
    return NULL;
}

static enum nt_status check_width(const struct word *word, uint64_t width, struct nt_error *error)
{
    if (width > word->bits)
        return nt_fail_above(error, NT_CORRUPT, NT_NO_OFFSET, "bits of an element in a bit-packed word",
                             word->bits, width);
    return NT_OK;
}

/* Writes the first `elements` (1 to 1024) of a block, and nothing after them. Unpacks to a cached
 * buffer and copies it in order: out-of-order writes to cold memory stall on each cache line. */
static void unpack_some(const struct word *word, unsigned width, const uint8_t *input, uint64_t elements,
                        uint8_t *output)
{
    uint8_t whole[BLOCK * MAX_WORD];
    size_t bytes = (size_t)elements * word->bytes;
    if (width == 0) {
        memset(output, 0, bytes);
    } else {
        word->unpack[width](input, whole);
        memcpy(output, whole, bytes);
    }
}

/* ---- Blocks ---- */

/* Unpacks a block that its width precedes. */
static enum nt_status unpack_next(struct nt_cursor *cursor, const struct word *word, uint64_t elements,
                                  uint8_t *output, struct nt_error *error)
{
    uint64_t width = nt_get_number(cursor, word->bytes);
    if (cursor->failed)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a bit-packed block is missing after %zu bytes",
                       cursor->end);
    NT_TRY(check_width(word, width, error));
    size_t start = cursor->position, left = nt_cursor_left(cursor);
    const uint8_t *input = nt_get_bytes(cursor, (size_t)width * LANE_BYTES);
    if (!input)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "a bit-packed block at byte %zu is cut off: expected %zu bytes, found %zu", start,
                       (size_t)width * LANE_BYTES, left);
    unpack_some(word, (unsigned)width, input, elements, output);
    return NT_OK;
}

enum nt_status nt_unpack_inline(const uint8_t *input, size_t input_bytes, uint32_t word_bits,
                                uint64_t elements, uint8_t *output, struct nt_error *error)
{
    const struct word *word = find_word(word_bits, error);
    if (!word)
        return NT_CORRUPT;
    struct nt_cursor cursor = nt_cursor(input, input_bytes);
    while (elements) {
        uint64_t now = elements < BLOCK ? elements : BLOCK;
        NT_TRY(unpack_next(&cursor, word, now, output, error));
        output += now * word->bytes;
        elements -= now;
    }
    if (nt_cursor_left(&cursor) > MAX_PADDING)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of bit-packed blocks", cursor.position,
                              input_bytes);
    return NT_OK;
}

/* Bytes: of the whole blocks; of all elements with a packed tail, and with a bare tail. */
struct sizes {
    uint64_t whole, packed, bare;
};

/* False on overflow. */
static bool measure(const struct word *word, uint32_t packed_bits, uint64_t elements, struct sizes *sizes_ret)
{
    uint64_t block = (uint64_t)packed_bits * LANE_BYTES, left = elements % BLOCK;
    return nt_checked_multiply(elements / BLOCK, block, &sizes_ret->whole) &&
           nt_checked_add(sizes_ret->whole, left ? block : 0, &sizes_ret->packed) &&
           nt_checked_add(sizes_ret->whole, left * word->bytes, &sizes_ret->bare);
}

enum nt_status nt_unpack_blocks(const uint8_t *input, size_t input_bytes, uint32_t word_bits,
                                uint32_t packed_bits, uint64_t elements, uint8_t *output,
                                struct nt_error *error)
{
    struct sizes sizes;
    const struct word *word = find_word(word_bits, error);
    if (!word || check_width(word, packed_bits, error) != NT_OK)
        return NT_CORRUPT;
    bool is_measured = measure(word, packed_bits, elements, &sizes);
    if (!is_measured)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the bytes of bit-packed blocks overflow");
    if (input_bytes != sizes.bare && input_bytes != sizes.packed)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of bit-packed blocks", sizes.packed,
                              input_bytes);
    /* If both sizes are equal, packing saves nothing, so writers store bare words. */
    uint64_t packed = input_bytes == sizes.bare ? elements - elements % BLOCK : elements;
    struct nt_cursor cursor = nt_cursor(input, input_bytes);
    for (uint64_t done = 0; done < packed; done += BLOCK) {
        const uint8_t *block = packed_bits ? nt_get_bytes(&cursor, (size_t)packed_bits * LANE_BYTES) : NULL;
        unpack_some(word, packed_bits, block, packed - done < BLOCK ? packed - done : BLOCK,
                    output + done * word->bytes);
    }
    size_t bare = nt_cursor_left(&cursor);
    if (bare)
        memcpy(output + packed * word->bytes, nt_get_bytes(&cursor, bare), bare);
    return NT_OK;
}
