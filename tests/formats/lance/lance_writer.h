/* SPDX-License-Identifier: MIT
 *
 * Writes a Lance file piece by piece, after Lance's description of its file format: buffers of pages
 * first, then the schema, the metadata of columns, the tables and the footer.
 */
#pragma once

#include "proto_writer.h"

enum { LANCE_MAX_COLUMNS = 8, LANCE_FOOTER_BYTES = 40 };

struct lance_range {
    uint64_t offset, bytes;
};

struct lance_writer {
    struct nt_buffer out;
    struct nt_buffer schema; /* a message */
    uint16_t major, minor;
    uint64_t rows;
    struct nt_buffer columns[LANCE_MAX_COLUMNS]; /* messages */
    uint32_t column_count;
    /* Its offset, once all is written: */
    struct lance_range descriptor, metadata[LANCE_MAX_COLUMNS];
    uint64_t columns_start, column_table, global_table, footer;
};

void lance_begin(struct lance_writer *writer, uint16_t major, uint16_t minor, uint64_t rows);
void lance_end(struct lance_writer *writer);
void lance_deinit(struct lance_writer *writer);

/* `parent` is an id; -1: top-level. */
void lance_field(struct lance_writer *writer, int32_t id, int32_t parent, const char *name, const char *type,
                 bool is_nullable);
/* The same, with an entry in its metadata: "KEY=VALUE", or "KEY", whose value is "true". */
void lance_marked_field(struct lance_writer *writer, int32_t id, int32_t parent, const char *name,
                        const char *type, bool is_nullable, const char *mark);
/* Bytes of the file, aligned as writers do. */
struct lance_range lance_buffer(struct lance_writer *writer, const void *bytes, size_t count);
/* A column; the next pages are added to it. */
void lance_column(struct lance_writer *writer);
/* A page with an encoding message, in an Any of this type. Frees the message. */
void lance_page(struct lance_writer *writer, const struct lance_range *buffers, size_t count, uint64_t rows,
                uint64_t first_row, const char *type_url, struct nt_buffer *encoding);

/* Encodings of both kinds: flat non-null values of so many bits. */
struct nt_buffer lance_flat_array(unsigned bits);
struct nt_buffer lance_flat_layout(unsigned bits, uint64_t items);

#define LANCE_ARRAY "/lance.encodings.ArrayEncoding"
#define LANCE_LAYOUT "/lance.encodings21.PageLayout"
