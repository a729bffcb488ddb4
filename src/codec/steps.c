/* SPDX-License-Identifier: MIT */
#include "codec/steps.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- split ---- */

void nt_unsplit_plain(const uint8_t *planes, size_t total, size_t first, size_t count, unsigned element_bytes,
                      uint8_t *output)
{
    for (size_t i = 0; i < count; i++)
        for (unsigned b = 0; b < element_bytes; b++)
            output[i * element_bytes + b] = planes[b * total + first + i];
}

#ifdef __SSE2__

static inline __m128i load(const uint8_t *from)
{
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

static inline void store(uint8_t *to, __m128i value)
{
    _mm_storeu_si128((__m128i *)(void *)to, value);
}

enum { STEP = 16 }; /* elements that one round of vectors puts together */

static size_t unsplit16_vectors(const uint8_t *planes, size_t total, size_t count, uint8_t *output)
{
    size_t i = 0;
    for (; i + STEP <= count; i += STEP, output += 2 * STEP) {
        __m128i low = load(planes + i), high = load(planes + total + i);
        store(output, _mm_unpacklo_epi8(low, high));
        store(output + 16, _mm_unpackhi_epi8(low, high));
    }
    return i;
}

static size_t unsplit32_vectors(const uint8_t *planes, size_t total, size_t count, uint8_t *output)
{
    size_t i = 0;
    for (; i + STEP <= count; i += STEP, output += 4 * STEP) {
        __m128i a = load(planes + i), b = load(planes + total + i);
        __m128i c = load(planes + 2 * total + i), d = load(planes + 3 * total + i);
        __m128i ab0 = _mm_unpacklo_epi8(a, b), ab1 = _mm_unpackhi_epi8(a, b);
        __m128i cd0 = _mm_unpacklo_epi8(c, d), cd1 = _mm_unpackhi_epi8(c, d);
        store(output, _mm_unpacklo_epi16(ab0, cd0));
        store(output + 16, _mm_unpackhi_epi16(ab0, cd0));
        store(output + 32, _mm_unpacklo_epi16(ab1, cd1));
        store(output + 48, _mm_unpackhi_epi16(ab1, cd1));
    }
    return i;
}

/* Three rounds of interleaving: bytes to pairs, pairs to fours, fours to eights. */
static size_t unsplit64_vectors(const uint8_t *planes, size_t total, size_t count, uint8_t *output)
{
    size_t i = 0;
    for (; i + STEP <= count; i += STEP, output += 8 * STEP) {
        __m128i pairs[8], fours[8];
        for (unsigned p = 0; p < 4; p++) {
            __m128i even = load(planes + 2 * p * total + i), odd = load(planes + (2 * p + 1) * total + i);
            pairs[2 * p] = _mm_unpacklo_epi8(even, odd);
            pairs[2 * p + 1] = _mm_unpackhi_epi8(even, odd);
        }
        for (unsigned half = 0; half < 2; half++)
            for (unsigned side = 0; side < 2; side++) {
                __m128i even = pairs[4 * half + side], odd = pairs[4 * half + 2 + side];
                fours[4 * half + 2 * side] = _mm_unpacklo_epi16(even, odd);
                fours[4 * half + 2 * side + 1] = _mm_unpackhi_epi16(even, odd);
            }
        for (unsigned part = 0; part < 4; part++) {
            store(output + 32 * part, _mm_unpacklo_epi32(fours[part], fours[4 + part]));
            store(output + 32 * part + 16, _mm_unpackhi_epi32(fours[part], fours[4 + part]));
        }
    }
    return i;
}

#else

static size_t no_vectors(const uint8_t *planes, size_t total, size_t count, uint8_t *output)
{
    (void)planes, (void)total, (void)count, (void)output;
    return 0;
}

#define unsplit16_vectors no_vectors
#define unsplit32_vectors no_vectors
#define unsplit64_vectors no_vectors

#endif

#define DEFINE_UNSPLIT(name, vectors, bytes)                                                                 \
    void name(const uint8_t *planes, size_t total, size_t first, size_t count, uint8_t *output)              \
    {                                                                                                        \
        size_t done = vectors(planes + first, total, count, output);                                         \
        nt_unsplit_plain(planes, total, first + done, count - done, bytes, output + done * (bytes));         \
    }

DEFINE_UNSPLIT(nt_unsplit16, unsplit16_vectors, 2)
DEFINE_UNSPLIT(nt_unsplit32, unsplit32_vectors, 4)
DEFINE_UNSPLIT(nt_unsplit64, unsplit64_vectors, 8)

/* ---- zigzag, delta: loops that the compiler turns into vectors ---- */

#define DEFINE_UNZIGZAG(name, type)                                                                          \
    void name(uint8_t *elements, size_t count)                                                               \
    {                                                                                                        \
        for (size_t i = 0; i < count; i++) {                                                                 \
            type value;                                                                                      \
            memcpy(&value, elements + i * sizeof(value), sizeof(value));                                     \
            value = (type)((type)(value >> 1) ^ (type)(0 - (value & 1)));                                    \
            memcpy(elements + i * sizeof(value), &value, sizeof(value));                                     \
        }                                                                                                    \
    }

DEFINE_UNZIGZAG(nt_unzigzag16, uint16_t)
DEFINE_UNZIGZAG(nt_unzigzag32, uint32_t)
DEFINE_UNZIGZAG(nt_unzigzag64, uint64_t)

#define DEFINE_UNDELTA(name, type)                                                                           \
    type name(uint8_t *elements, size_t count, type before)                                                  \
    {                                                                                                        \
        for (size_t i = 0; i < count; i++) {                                                                 \
            type value;                                                                                      \
            memcpy(&value, elements + i * sizeof(value), sizeof(value));                                     \
            before += value;                                                                                 \
            memcpy(elements + i * sizeof(value), &before, sizeof(value));                                    \
        }                                                                                                    \
        return before;                                                                                       \
    }

DEFINE_UNDELTA(nt_undelta32, uint32_t)
DEFINE_UNDELTA(nt_undelta64, uint64_t)

/* ---- bits ---- */

/* The eight bits of a byte as eight bytes: copies of the byte are masked to one bit each, which the addition
 * then carries into the highest bit of its byte. */
static uint64_t spread_bits(uint8_t byte)
{
    uint64_t bits = byte * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
    return (bits + UINT64_C(0x00406070787C7E7F)) >> 7 & UINT64_C(0x0101010101010101);
}

void nt_unpack_bits(const uint8_t *packed, size_t count, uint8_t *output)
{
    size_t whole = count / 8;
    for (size_t i = 0; i < whole; i++) {
        uint64_t bytes = spread_bits(packed[i]);
        memcpy(output + 8 * i, &bytes, sizeof(bytes));
    }
    for (size_t i = 8 * whole; i < count; i++)
        output[i] = packed[i / 8] >> i % 8 & 1;
}

uint32_t nt_get_bits(const uint8_t *packed, size_t packed_bytes, size_t index, unsigned width)
{
    size_t bit = index * width, byte = bit / 8;
    uint64_t window = 0;
    size_t left = packed_bytes - byte;
    if (left >= sizeof(window))
        memcpy(&window, packed + byte, sizeof(window));
    else
        memcpy(&window, packed + byte, left);
    return (uint32_t)(window >> bit % 8 & ((UINT64_C(1) << width) - 1));
}
