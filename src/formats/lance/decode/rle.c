/* SPDX-License-Identifier: MIT
 *
 * Expands run-length encoded values of any fixed width.
 */
#include "formats/lance/decode/decode.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { VECTOR = 16 }; /* bytes */

typedef uint8_t vector8 __attribute__((vector_size(VECTOR)));
typedef uint16_t vector16 __attribute__((vector_size(VECTOR)));
typedef uint32_t vector32 __attribute__((vector_size(VECTOR)));
typedef uint64_t vector64 __attribute__((vector_size(VECTOR)));

struct rle_runs {
    const uint8_t *values, *lengths;
    uint64_t count;
    uint32_t value_bytes, length_bytes;
};

/* ---- Values of 1, 2, 4, 8 and 16 bytes ---- */

/* Writes `bytes` bytes of a repeated vector; may write up to `room` bytes. */
ALWAYS_INLINE void fill(uint8_t *output, size_t bytes, size_t room, vector8 repeated)
{
    size_t i = 0;
    if (room >= 2 * VECTOR) {
        memcpy(output, &repeated, VECTOR);
        memcpy(output + VECTOR, &repeated, VECTOR);
        i = 2 * VECTOR;
    }
    for (; i < bytes && room - i >= VECTOR; i += VECTOR)
        memcpy(output + i, &repeated, VECTOR);
    if (i < bytes)
        memcpy(output + i, &repeated, bytes - i);
}

ALWAYS_INLINE vector8 repeat8(const uint8_t *value)
{
    return (vector8){0} + *value;
}

ALWAYS_INLINE vector8 repeat16(const uint8_t *value)
{
    return (vector8)((vector16){0} + nt_load_le16(value));
}

ALWAYS_INLINE vector8 repeat32(const uint8_t *value)
{
    return (vector8)((vector32){0} + nt_load_le32(value));
}

ALWAYS_INLINE vector8 repeat64(const uint8_t *value)
{
    return (vector8)((vector64){0} + nt_load_le64(value));
}

ALWAYS_INLINE vector8 repeat128(const uint8_t *value)
{
    vector8 vector;
    memcpy(&vector, value, VECTOR);
    return vector;
}

/* Returns the number of missing elements. */
#define DEFINE_EXPAND(bits)                                                                                  \
    static uint64_t expand##bits(const struct rle_runs *runs, uint64_t elements, uint8_t *output)            \
    {                                                                                                        \
        for (uint64_t run = 0; run < runs->count && elements; run++) {                                       \
            uint64_t length = nt_number_at(runs->lengths, run, runs->length_bytes);                          \
            if (length > elements)                                                                           \
                length = elements;                                                                           \
            vector8 repeated = repeat##bits(runs->values + run * ((bits) / 8));                              \
            fill(output, (size_t)length *((bits) / 8), (size_t)elements *((bits) / 8), repeated);            \
            output += length * ((bits) / 8);                                                                 \
            elements -= length;                                                                              \
        }                                                                                                    \
        return elements;                                                                                     \
    }

DEFINE_EXPAND(8)
DEFINE_EXPAND(16)
DEFINE_EXPAND(32)
DEFINE_EXPAND(64)
DEFINE_EXPAND(128)

/* ---- Values of any size ---- */

/* Doubles the filled part until it has `bytes` bytes, which is not 0. */
static void fill_any(uint8_t *output, size_t bytes, const uint8_t *value, size_t value_bytes)
{
    memcpy(output, value, value_bytes);
    for (size_t done = value_bytes, now; done < bytes; done += now) {
        now = bytes - done < done ? bytes - done : done;
        memcpy(output + done, output, now);
    }
}

static uint64_t expand_any(const struct rle_runs *runs, uint64_t elements, uint8_t *output)
{
    size_t done = 0;
    for (uint64_t run = 0; run < runs->count && elements; run++) {
        uint64_t length = nt_number_at(runs->lengths, run, runs->length_bytes);
        if (length > elements)
            length = elements;
        size_t bytes = (size_t)length * runs->value_bytes;
        if (bytes)
            fill_any(output + done, bytes, runs->values + run * runs->value_bytes, runs->value_bytes);
        done += bytes;
        elements -= length;
    }
    return elements;
}

typedef uint64_t expand(const struct rle_runs *runs, uint64_t elements, uint8_t *output);

static const struct {
    uint32_t value_bytes;
    expand *expand;
} widths[] = {{1, expand8}, {2, expand16}, {4, expand32}, {8, expand64}, {16, expand128}};

static expand *find_expand(uint32_t value_bytes)
{
    for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
        if (widths[i].value_bytes == value_bytes)
            return widths[i].expand;
    return expand_any;
}

enum nt_status nt_rle_expand(const uint8_t *values, uint32_t value_bytes, uint64_t runs,
                             const uint8_t *lengths, uint32_t length_bytes, uint64_t elements,
                             uint8_t *output, struct nt_error *error)
{
    if (!nt_is_number(UINT64_C(8) * length_bytes))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "lengths of runs have 1, 2, 4 or 8 bytes, not %u",
                       length_bytes);
    struct rle_runs all = {values, lengths, runs, value_bytes, length_bytes};
    uint64_t missing = find_expand(value_bytes)(&all, elements, output);
    if (missing)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "elements in runs", elements,
                              elements - missing);
    return NT_OK;
}

uint64_t nt_rle_total(const uint8_t *lengths, uint32_t length_bytes, uint64_t runs)
{
    uint64_t total = 0;
    if (!nt_is_number(UINT64_C(8) * length_bytes))
        return 0;
    for (uint64_t run = 0; run < runs; run++)
        if (!nt_checked_add(total, nt_number_at(lengths, run, length_bytes), &total))
            return UINT64_MAX;
    return total;
}
