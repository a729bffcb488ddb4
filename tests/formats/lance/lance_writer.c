/* SPDX-License-Identifier: MIT
 *
 * Writes the bytes of a Lance file from fields, pages and columns. The numbers of fields are those of
 * Lance's protos.
 */
#include "lance_writer.h"

#include <string.h>

enum { ALIGNMENT = 64 };

static void put_little(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        nt_buffer_append_byte(out, (char)(value >> (8 * i)));
}

void lance_begin(struct lance_writer *writer, uint16_t major, uint16_t minor, uint64_t rows)
{
    *writer = (struct lance_writer){.major = major, .minor = minor, .rows = rows};
}

void lance_deinit(struct lance_writer *writer)
{
    for (uint32_t i = 0; i < writer->column_count; i++)
        nt_buffer_deinit(&writer->columns[i]);
    nt_buffer_deinit(&writer->schema);
    nt_buffer_deinit(&writer->out);
}

void lance_marked_field(struct lance_writer *writer, int32_t id, int32_t parent, const char *name,
                        const char *type, bool is_nullable, const char *mark)
{
    struct nt_buffer field = {0}, entry = {0}, key = {0};
    size_t length = mark ? strcspn(mark, "=") : 0;
    put_text(&field, 2, name);
    put_number(&field, 3, (uint64_t)(int64_t)id);
    put_number(&field, 4, (uint64_t)(int64_t)parent);
    put_text(&field, 5, type);
    put_number(&field, 6, is_nullable);
    if (mark) {
        nt_buffer_append_format(&key, "%.*s", (int)length, mark);
        put_text(&entry, 1, key.bytes);
        put_text(&entry, 2, mark[length] ? mark + length + 1 : "true");
        put_message(&field, 10, &entry);
        nt_buffer_deinit(&key);
    }
    put_message(&writer->schema, 1, &field);
}

void lance_field(struct lance_writer *writer, int32_t id, int32_t parent, const char *name, const char *type,
                 bool is_nullable)
{
    lance_marked_field(writer, id, parent, name, type, is_nullable, NULL);
}

struct lance_range lance_buffer(struct lance_writer *writer, const void *bytes, size_t count)
{
    while (writer->out.length % ALIGNMENT)
        nt_buffer_append_byte(&writer->out, 0);
    struct lance_range range = {writer->out.length, count};
    nt_buffer_append(&writer->out, bytes, count);
    return range;
}

/* An Encoding in a message: direct, an Any of this type. */
static void put_encoding(struct nt_buffer *out, uint32_t number, const char *type_url,
                         struct nt_buffer *message)
{
    struct nt_buffer any = {0}, direct = {0}, encoding = {0};
    put_text(&any, 1, type_url);
    put_message(&any, 2, message);
    put_message(&direct, 1, &any);
    put_message(&encoding, 2, &direct);
    put_message(out, number, &encoding);
}

void lance_column(struct lance_writer *writer)
{
    struct nt_buffer values = {0}, nothing = {0};
    put_message(&values, 1, &nothing);
    put_encoding(&writer->columns[writer->column_count++], 1, "/lance.encodings.ColumnEncoding", &values);
}

void lance_page(struct lance_writer *writer, const struct lance_range *buffers, size_t count, uint64_t rows,
                uint64_t first_row, const char *type_url, struct nt_buffer *encoding)
{
    struct nt_buffer page = {0}, offsets = {0}, sizes = {0};
    for (size_t i = 0; i < count; i++) {
        put_varint(&offsets, buffers[i].offset);
        put_varint(&sizes, buffers[i].bytes);
    }
    put_message(&page, 1, &offsets);
    put_message(&page, 2, &sizes);
    put_number(&page, 3, rows);
    put_encoding(&page, 4, type_url, encoding);
    put_number(&page, 5, first_row);
    put_message(&writer->columns[writer->column_count - 1], 2, &page);
}

struct nt_buffer lance_flat_array(unsigned bits)
{
    struct nt_buffer flat = {0}, encoding = {0}, values = {0}, nullable = {0}, result = {0}, buffer = {0};
    put_number(&flat, 1, bits);
    put_message(&flat, 2, &buffer);
    put_message(&encoding, 1, &flat);
    put_message(&values, 1, &encoding);
    put_message(&nullable, 1, &values);
    put_message(&result, 2, &nullable);
    return result;
}

struct nt_buffer lance_flat_layout(unsigned bits, uint64_t items)
{
    struct nt_buffer flat = {0}, compression = {0}, mini_block = {0}, layout = {0};
    put_number(&flat, 1, bits);
    put_message(&compression, 1, &flat);
    put_message(&mini_block, 3, &compression);
    put_packed(&mini_block, 6, (const uint64_t[]){1}, 1);
    put_number(&mini_block, 7, 1);
    put_number(&mini_block, 9, items);
    put_message(&layout, 1, &mini_block);
    return layout;
}

static void put_descriptor(struct lance_writer *writer)
{
    struct nt_buffer descriptor = {0};
    put_message(&descriptor, 1, &writer->schema);
    if (writer->rows)
        put_number(&descriptor, 2, writer->rows);
    writer->descriptor = lance_buffer(writer, nt_buffer_string(&descriptor), descriptor.length);
    nt_buffer_deinit_part(&descriptor, &writer->out);
}

void lance_end(struct lance_writer *writer)
{
    struct nt_buffer *out = &writer->out;
    put_descriptor(writer);
    writer->columns_start = out->length;
    for (uint32_t i = 0; i < writer->column_count; i++) {
        writer->metadata[i] = (struct lance_range){out->length, writer->columns[i].length};
        nt_buffer_append(out, nt_buffer_string(&writer->columns[i]), writer->columns[i].length);
    }
    writer->column_table = out->length;
    for (uint32_t i = 0; i < writer->column_count; i++) {
        put_little(out, writer->metadata[i].offset, 8);
        put_little(out, writer->metadata[i].bytes, 8);
    }
    writer->global_table = out->length;
    put_little(out, writer->descriptor.offset, 8);
    put_little(out, writer->descriptor.bytes, 8);
    writer->footer = out->length;
    put_little(out, writer->columns_start, 8);
    put_little(out, writer->column_table, 8);
    put_little(out, writer->global_table, 8);
    put_little(out, 1, 4);
    put_little(out, writer->column_count, 4);
    put_little(out, writer->major, 2);
    put_little(out, writer->minor, 2);
    nt_buffer_append(out, "LANC", 4);
}
