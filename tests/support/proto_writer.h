/* SPDX-License-Identifier: MIT
 *
 * Writes Protocol Buffers messages item by item, following the specification of the wire format.
 */
#pragma once

#include <string.h>

#include "core/base/memory.h"

static inline void put_varint(struct nt_buffer *out, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        nt_buffer_append_byte(out, (char)(value | 0x80));
    nt_buffer_append_byte(out, (char)value);
}

static inline void put_tag(struct nt_buffer *out, uint32_t number, uint32_t wire)
{
    put_varint(out, (uint64_t)number << 3 | wire);
}

static inline void put_number(struct nt_buffer *out, uint32_t number, uint64_t value)
{
    put_tag(out, number, 0);
    put_varint(out, value);
}

static inline void put_bytes(struct nt_buffer *out, uint32_t number, const void *bytes, size_t count)
{
    put_tag(out, number, 2);
    put_varint(out, count);
    nt_buffer_append(out, bytes, count);
}

static inline void put_text(struct nt_buffer *out, uint32_t number, const char *text)
{
    put_bytes(out, number, text, strlen(text));
}

/* Writes a nested message and frees it. */
static inline void put_message(struct nt_buffer *out, uint32_t number, struct nt_buffer *message)
{
    put_bytes(out, number, nt_buffer_string(message), message->length);
    nt_buffer_deinit_part(message, out);
    *message = (struct nt_buffer){0};
}

/* Writes packed numbers as one item. */
static inline void put_packed(struct nt_buffer *out, uint32_t number, const uint64_t *values, size_t count)
{
    struct nt_buffer packed = {0};
    for (size_t i = 0; i < count; i++)
        put_varint(&packed, values[i]);
    put_message(out, number, &packed);
}
