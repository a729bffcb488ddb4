/* SPDX-License-Identifier: MIT
 *
 * Writing FlatBuffers front to back: a table first, then what it points to, whose place is patched into it.
 * Just what Arrow's metadata needs: tables, strings, vectors of tables and of structs.
 */
#ifndef NT_VIEW_FLATBUFFER_H
#define NT_VIEW_FLATBUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/buffer.h"

enum { NT_TABLE_SLOTS = 8 };

/* A table being filled: slot numbers are the schema's, absent slots take their default. */
struct nt_table {
    struct {
        uint8_t bytes; /* 0: absent; 1, 2, 4 or 8 */
        uint64_t value;
    } slots[NT_TABLE_SLOTS];
    size_t places[NT_TABLE_SLOTS]; /* set by writing: where a slot's value stands in the buffer */
};

void nt_table_set(struct nt_table *table, unsigned slot, unsigned bytes, uint64_t value);
/* Reserve a slot for the offset of something written later. */
void nt_table_set_offset(struct nt_table *table, unsigned slot);

/* The root offset at the start of an empty buffer; patched by the first nt_flatbuffer_table with
 * that place. */
size_t nt_flatbuffer_root(struct nt_buffer *out);
/* Write the table and patch its offset into `place`. */
void nt_flatbuffer_table(struct nt_buffer *out, size_t place, struct nt_table *table);
void nt_flatbuffer_string(struct nt_buffer *out, size_t place, const void *bytes, size_t length);
/* A vector of `count` offsets; returns the place of the first, the others follow at 4 bytes each. */
size_t nt_flatbuffer_offsets(struct nt_buffer *out, size_t place, uint32_t count);
/* A vector of structs or scalars whose bytes the caller appends at once, aligned to `alignment`. */
void nt_flatbuffer_vector(struct nt_buffer *out, size_t place, uint32_t count, unsigned alignment);

/* Zeros up to a multiple of `alignment` of the buffer's length. */
void nt_buffer_align(struct nt_buffer *out, size_t alignment);
void nt_buffer_le32(struct nt_buffer *out, uint32_t value);
void nt_buffer_le64(struct nt_buffer *out, uint64_t value);

#endif
