/* SPDX-License-Identifier: MIT
 *
 * Writes objects in the format of ROOT's buffers, for tests of the reader.
 */
#pragma once

#include <string.h>

#include "core/base/memory.h"

static inline void put_number(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;)
        nt_buffer_append_byte(out, (char)(value >> 8 * i));
}

static inline void put_u8(struct nt_buffer *out, uint8_t value)
{
    put_number(out, value, 1);
}

static inline void put_u16(struct nt_buffer *out, uint16_t value)
{
    put_number(out, value, 2);
}

static inline void put_u32(struct nt_buffer *out, uint32_t value)
{
    put_number(out, value, 4);
}

static inline void put_u64(struct nt_buffer *out, uint64_t value)
{
    put_number(out, value, 8);
}

static inline void put_text(struct nt_buffer *out, const char *text)
{
    put_u8(out, (uint8_t)strlen(text));
    nt_buffer_append(out, text, strlen(text));
}

static inline void set_u32(struct nt_buffer *out, size_t position, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        out->bytes[position + i] = (char)(value >> 8 * (3 - i));
}

/* Starts a byte count, which put_end finishes. */
static inline size_t put_byte_count(struct nt_buffer *out)
{
    put_u32(out, 0);
    return out->length - 4;
}

static inline size_t put_begin(struct nt_buffer *out, uint16_t version)
{
    size_t start = put_byte_count(out);
    put_u16(out, version);
    return start;
}

static inline void put_end(struct nt_buffer *out, size_t start)
{
    set_u32(out, start, 0x40000000u | (uint32_t)(out->length - start - 4));
}

/* An item of a class that was not used before. */
static inline size_t put_item(struct nt_buffer *out, const char *class_name)
{
    size_t start = put_byte_count(out);
    put_u32(out, 0xffffffff);
    nt_buffer_append(out, class_name, strlen(class_name) + 1);
    return start;
}

/* An item of a class that another item, at `first`, has named. */
static inline size_t put_item_again(struct nt_buffer *out, size_t first, uint32_t key_bytes)
{
    size_t start = put_byte_count(out);
    put_u32(out, 0x80000000u | ((uint32_t)first + 4 + 2 + key_bytes));
    return start;
}

static inline void put_tobject(struct nt_buffer *out, uint32_t bits)
{
    put_u16(out, 1);
    put_u32(out, 0);
    put_u32(out, bits);
}

static inline void put_named(struct nt_buffer *out, const char *name, const char *title)
{
    size_t start = put_begin(out, 1);
    put_tobject(out, 0);
    put_text(out, name);
    put_text(out, title);
    put_end(out, start);
}

/* The start of a TObjArray of `count` items; ends with put_end. */
static inline size_t put_array(struct nt_buffer *out, uint32_t count)
{
    size_t start = put_begin(out, 3);
    put_tobject(out, 0);
    put_text(out, "");
    put_u32(out, count);
    put_u32(out, 0);
    return start;
}

/* The start of a TList of `count` items, each followed by an option. */
static inline size_t put_list(struct nt_buffer *out, uint32_t count)
{
    size_t start = put_begin(out, 5);
    put_tobject(out, 0);
    put_text(out, "");
    put_u32(out, count);
    return start;
}
