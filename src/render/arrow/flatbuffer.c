/* SPDX-License-Identifier: MIT
 *
 * Writes FlatBuffers front to back: tables with vtables, strings and vectors. Writes each table before
 * its children and patches their offsets in later.
 */
#include "render/arrow/arrow.h"

static void put_le(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void append_le(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    uint8_t *room = nt_buffer_extend(out, bytes);
    if (room)
        put_le(room, value, bytes);
}

void nt_buffer_le32(struct nt_buffer *out, uint32_t value)
{
    append_le(out, value, 4);
}

void nt_buffer_le64(struct nt_buffer *out, uint64_t value)
{
    append_le(out, value, 8);
}

void nt_buffer_align(struct nt_buffer *out, size_t alignment)
{
    while (!out->failed && out->length % alignment)
        nt_buffer_append_byte(out, 0);
}

static void patch(struct nt_buffer *out, size_t field_offset)
{
    if (!out->failed)
        put_le((uint8_t *)out->bytes + field_offset, out->length - field_offset, 4);
}

void nt_flatbuffer_set(struct nt_flatbuffer_fields *table, unsigned slot, unsigned bytes, uint64_t value)
{
    table->slots[slot].bytes = (uint8_t)bytes;
    table->slots[slot].value = value;
}

void nt_flatbuffer_set_offset(struct nt_flatbuffer_fields *table, unsigned slot)
{
    nt_flatbuffer_set(table, slot, 4, 0);
}

size_t nt_flatbuffer_root(struct nt_buffer *out)
{
    size_t field_offset = out->length;
    nt_buffer_le32(out, 0);
    return field_offset;
}

/* Orders slots by descending size, so that there are no gaps: 8-byte slots first, 8-aligned. */
static size_t layout(struct nt_flatbuffer_fields *table, uint16_t *offsets, unsigned *slot_count)
{
    size_t at = 8; /* the vtable offset has 4 bytes; 4 more align 8-byte slots */
    bool has_wide = false;
    for (unsigned slot = 0; slot < NT_FLATBUFFER_FIELDS; slot++)
        has_wide |= table->slots[slot].bytes == 8;
    if (!has_wide)
        at = 4;
    *slot_count = 0;
    for (unsigned bytes = 8; bytes; bytes /= 2)
        for (unsigned slot = 0; slot < NT_FLATBUFFER_FIELDS; slot++)
            if (table->slots[slot].bytes == bytes) {
                offsets[slot] = (uint16_t)at;
                at += bytes;
                if (*slot_count <= slot)
                    *slot_count = slot + 1;
            }
    return at;
}

void nt_flatbuffer_table(struct nt_buffer *out, size_t field_offset, struct nt_flatbuffer_fields *table)
{
    uint16_t offsets[NT_FLATBUFFER_FIELDS] = {0};
    unsigned slot_count;
    size_t table_bytes = layout(table, offsets, &slot_count);
    size_t vtable_bytes = 4 + 2 * slot_count;
    nt_buffer_align(out, 8);
    while (!out->failed && (out->length + vtable_bytes) % 8)
        nt_buffer_append_byte(out, 0);
    append_le(out, vtable_bytes, 2);
    append_le(out, table_bytes, 2);
    for (unsigned slot = 0; slot < slot_count; slot++)
        append_le(out, offsets[slot], 2);
    patch(out, field_offset);
    size_t start = out->length;
    uint8_t *room = nt_buffer_extend(out, table_bytes);
    if (!room)
        return;
    memset(room, 0, table_bytes);
    put_le(room, vtable_bytes, 4);
    for (unsigned slot = 0; slot < slot_count; slot++)
        if (table->slots[slot].bytes) {
            put_le(room + offsets[slot], table->slots[slot].value, table->slots[slot].bytes);
            table->field_offsets[slot] = start + offsets[slot];
        }
}

void nt_flatbuffer_string(struct nt_buffer *out, size_t field_offset, const void *bytes, size_t length)
{
    nt_buffer_align(out, 4);
    patch(out, field_offset);
    nt_buffer_le32(out, (uint32_t)length);
    nt_buffer_append(out, bytes, length);
    nt_buffer_append_byte(out, 0);
}

void nt_flatbuffer_vector(struct nt_buffer *out, size_t field_offset, uint32_t count, unsigned alignment)
{
    nt_buffer_align(out, 4);
    while (!out->failed && (out->length + 4) % alignment)
        nt_buffer_append_byte(out, 0);
    patch(out, field_offset);
    nt_buffer_le32(out, count);
}

size_t nt_flatbuffer_offsets(struct nt_buffer *out, size_t field_offset, uint32_t count)
{
    nt_flatbuffer_vector(out, field_offset, count, 4);
    size_t first = out->length;
    for (uint32_t i = 0; i < count; i++)
        nt_buffer_le32(out, 0);
    return first;
}
