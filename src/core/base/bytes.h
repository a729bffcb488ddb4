/* SPDX-License-Identifier: MIT
 *
 * Inline primitives for untrusted input: a bounds-checked cursor with little- and big-endian loads,
 * overflow-checked arithmetic, and binary search; and a hint for loops that write.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- Checked arithmetic ---- */

static inline bool nt_checked_add(uint64_t a, uint64_t b, uint64_t *sum_ret)
{
    return !__builtin_add_overflow(a, b, sum_ret);
}

static inline bool nt_checked_multiply(uint64_t a, uint64_t b, uint64_t *product_ret)
{
    return !__builtin_mul_overflow(a, b, product_ret);
}

static inline uint64_t nt_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Is [offset, offset + bytes) within [0, size)? */
static inline bool nt_range_fits(uint64_t offset, uint64_t bytes, uint64_t size)
{
    return offset <= size && bytes <= size - offset;
}

/* Of a bitmap whose bytes begin with the least significant bit. */
static inline bool nt_bit_is_set(const uint8_t *bits, uint64_t number)
{
    return bits[number / 8] >> (number % 8) & 1;
}

/* ---- Bounds-checked cursor ---- */

/* Receives the meaning of bytes: `what` of `whole`, e.g. "version" of "field". Both are static. */
struct nt_cursor_observer {
    void (*label)(struct nt_cursor_observer *observer, size_t position, size_t count, const char *whole,
                  const char *what);
};

struct nt_cursor {
    const uint8_t *bytes;
    size_t position;
    size_t end;
    bool failed;
    size_t labelled;                     /* end of the bytes that were labelled, with an observer */
    struct nt_cursor_observer *observer; /* NULL: none */
};

static inline struct nt_cursor nt_cursor(const void *bytes, size_t size)
{
    return (struct nt_cursor){.bytes = bytes, .position = 0, .end = size, .failed = false};
}

static inline size_t nt_cursor_left(const struct nt_cursor *cursor)
{
    return cursor->failed ? 0 : cursor->end - cursor->position;
}

/* `count` bytes, or NULL and failure if fewer are left. */
static inline const uint8_t *nt_get_bytes(struct nt_cursor *cursor, size_t count)
{
    if (cursor->failed || count > cursor->end - cursor->position) {
        cursor->failed = true;
        return NULL;
    }
    const uint8_t *bytes = cursor->bytes + cursor->position;
    cursor->position += count;
    return bytes;
}

static inline bool nt_cursor_skip(struct nt_cursor *cursor, uint64_t count)
{
    if (cursor->failed || count > cursor->end - cursor->position) {
        cursor->failed = true;
        return false;
    }
    cursor->position += (size_t)count;
    return true;
}

/* A cursor over the next `count` bytes, which are skipped here. Fails if fewer are left. */
static inline struct nt_cursor nt_get_cursor(struct nt_cursor *cursor, uint64_t count)
{
    struct nt_cursor part = *cursor;
    if (!nt_cursor_skip(cursor, count)) {
        part.failed = true;
        return part;
    }
    part.end = part.position + (size_t)count;
    part.labelled = part.position;
    cursor->labelled = cursor->position;
    return part;
}

/* Labels the bytes read since the last label. */
static inline void nt_cursor_label(struct nt_cursor *cursor, const char *whole, const char *what)
{
    if (!cursor->observer)
        return;
    if (!cursor->failed && cursor->labelled < cursor->position)
        cursor->observer->label(cursor->observer, cursor->labelled, cursor->position - cursor->labelled,
                                whole, what);
    cursor->labelled = cursor->position;
}

static inline uint16_t nt_load_le16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t nt_load_le32(const uint8_t *bytes)
{
    return (uint32_t)nt_load_le16(bytes) | (uint32_t)nt_load_le16(bytes + 2) << 16;
}

static inline uint64_t nt_load_le64(const uint8_t *bytes)
{
    return (uint64_t)nt_load_le32(bytes) | (uint64_t)nt_load_le32(bytes + 4) << 32;
}

/* Load, then swap: every compiler turns these two steps into one instruction. Not every one does so for
 * shifts of single bytes, as in nt_load_le16. */
#define NT_DEFINE_LOAD_BE(bits)                                                                              \
    static inline uint##bits##_t nt_load_be##bits(const uint8_t *bytes)                                      \
    {                                                                                                        \
        uint##bits##_t value;                                                                                \
        memcpy(&value, bytes, sizeof(value));                                                                \
        return be##bits##toh(value);                                                                         \
    }

NT_DEFINE_LOAD_BE(16)
NT_DEFINE_LOAD_BE(32)
NT_DEFINE_LOAD_BE(64)

/* An integer of 1, 2, 4 or 8 bytes, without extension of its sign. */
static inline uint64_t nt_load_integer(const uint8_t *bytes, uint32_t count, bool is_big_endian)
{
    switch (count) {
    case 1:
        return *bytes;
    case 2:
        return is_big_endian ? nt_load_be16(bytes) : nt_load_le16(bytes);
    case 4:
        return is_big_endian ? nt_load_be32(bytes) : nt_load_le32(bytes);
    default:
        return is_big_endian ? nt_load_be64(bytes) : nt_load_le64(bytes);
    }
}

/* Extends the sign of an integer of so many bytes, at least one. */
static inline int64_t nt_extend_sign(uint64_t integer, uint32_t count)
{
    uint32_t missing = 64 - 8 * count;
    return (int64_t)(integer << missing) >> missing;
}

#define NT_DEFINE_GET(name, type, load)                                                                      \
    static inline type name(struct nt_cursor *cursor)                                                        \
    {                                                                                                        \
        const uint8_t *bytes = nt_get_bytes(cursor, sizeof(type));                                           \
        return bytes ? load(bytes) : 0;                                                                      \
    }

static inline uint8_t nt_get_u8(struct nt_cursor *cursor)
{
    const uint8_t *bytes = nt_get_bytes(cursor, 1);
    return bytes ? *bytes : 0;
}

NT_DEFINE_GET(nt_get_le16, uint16_t, nt_load_le16)
NT_DEFINE_GET(nt_get_le32, uint32_t, nt_load_le32)
NT_DEFINE_GET(nt_get_le64, uint64_t, nt_load_le64)
NT_DEFINE_GET(nt_get_be16, uint16_t, nt_load_be16)
NT_DEFINE_GET(nt_get_be32, uint32_t, nt_load_be32)
NT_DEFINE_GET(nt_get_be64, uint64_t, nt_load_be64)

#undef NT_DEFINE_GET

static inline double nt_get_le_real64(struct nt_cursor *cursor)
{
    uint64_t bits = nt_get_le64(cursor);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* ---- Order and binary search ---- */

/* Defines a function that finds the last of `count` items whose member is at most `value`; 0 if all are
 * larger or there are none. Pass the member with its dot, or nothing if the items are numbers. */
#define NT_DEFINE_LAST_AT_MOST(name, type, member)                                                           \
    static uint32_t name(const type *items, uint32_t count, uint64_t value)                                  \
    {                                                                                                        \
        uint32_t low = 0, high = count;                                                                      \
        while (high - low > 1) {                                                                             \
            uint32_t middle = low + (high - low) / 2;                                                        \
            if (items[middle] member <= value)                                                               \
                low = middle;                                                                                \
            else                                                                                             \
                high = middle;                                                                               \
        }                                                                                                    \
        return low;                                                                                          \
    }

/* Defines one that counts the leading items whose member is at most `value`. */
#define NT_DEFINE_COUNT_UP_TO(name, type, member)                                                            \
    static size_t name(const type *items, size_t count, uint64_t value)                                      \
    {                                                                                                        \
        size_t low = 0, high = count;                                                                        \
        while (low < high) {                                                                                 \
            size_t middle = low + (high - low) / 2;                                                          \
            if (items[middle] member <= value)                                                               \
                low = middle + 1;                                                                            \
            else                                                                                             \
                high = middle;                                                                               \
        }                                                                                                    \
        return low;                                                                                          \
    }

/* For qsort and bsearch of items whose first member is such a number, by this number. */
static inline int nt_compare_u32(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static inline int nt_compare_u64(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* ---- Outputs of loops ---- */

/* A loop that writes memory outside the CPU cache waits for each store. This prefetches the memory ahead of
 * the loop; past the end it does no harm. */
static inline void nt_prefetch_for_write(const uint8_t *output)
{
    enum { AHEAD = 2048 };
    __builtin_prefetch((const void *)((uintptr_t)output + AHEAD), 1);
}
