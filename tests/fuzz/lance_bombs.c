/* SPDX-License-Identifier: MIT
 *
 * Writes small Lance files that request huge resources: rows, items, runs, decompressed bytes, columns,
 * pages, blobs, nested messages.
 */
#include <stdlib.h>
#include <string.h>

#include "bombs.h"
#include "demand.h"
#include "lance_writer.h"

#define MANY (UINT64_C(1) << 40)

/* ---- messages ---- */

/* A message whose only member is a message. */
static struct nt_buffer around(uint32_t number, struct nt_buffer inner)
{
    struct nt_buffer message = {0};
    put_message(&message, number, &inner);
    return message;
}

static struct nt_buffer number_in(uint32_t number, uint64_t value)
{
    struct nt_buffer message = {0};
    put_number(&message, number, value);
    return message;
}

static struct nt_buffer joined(struct nt_buffer first, struct nt_buffer second)
{
    nt_buffer_append(&first, nt_buffer_string(&second), second.length);
    nt_buffer_deinit_part(&second, &first);
    return first;
}

/* CompressiveEncodings. */

static struct nt_buffer flat(unsigned bits)
{
    return around(1, number_in(1, bits));
}

static struct nt_buffer variable(void)
{
    return around(2, around(1, flat(32)));
}

static struct nt_buffer runs(unsigned bits, unsigned length_bits)
{
    return around(8, joined(around(1, flat(bits)), around(2, flat(length_bits))));
}

static struct nt_buffer zstd(struct nt_buffer inner)
{
    enum { ZSTD = 2 };
    return around(10, joined(around(1, number_in(1, ZSTD)), around(3, inner)));
}

static struct nt_buffer fixed_list(uint64_t items, struct nt_buffer inner)
{
    return around(11, joined(number_in(1, items), around(2, inner)));
}

enum { ITEM = 1, NULLABLE_ITEM = 3, LIST = 6 };

static struct nt_buffer layers_in(uint32_t number, uint64_t inner, uint64_t outer)
{
    struct nt_buffer message = {0};
    put_packed(&message, number, (const uint64_t[]){inner, outer}, outer ? 2 : 1);
    return message;
}

static struct nt_buffer mini_blocks(struct nt_buffer values, unsigned buffers, uint64_t items)
{
    return around(1, joined(joined(around(3, values), layers_in(6, ITEM, 0)),
                            joined(number_in(7, buffers), number_in(9, items))));
}

/* ---- files ---- */

static void end(struct lance_writer *writer, struct nt_buffer *file)
{
    lance_end(writer);
    nt_buffer_append(file, writer->out.bytes, writer->out.length);
    lance_deinit(writer);
}

/* A field whose only page has these buffers. */
static void write_page(const char *type, struct nt_buffer layout, const char *const *buffers,
                       const size_t *sizes, unsigned count, uint64_t rows, struct nt_buffer *file)
{
    struct lance_writer writer;
    struct lance_range ranges[4];
    lance_begin(&writer, 2, 2, rows);
    for (unsigned i = 0; i < count; i++)
        ranges[i] = lance_buffer(&writer, buffers[i], sizes[i]);
    lance_field(&writer, 1, -1, "a", type, true);
    if (strncmp(type, "list", 4) == 0)
        lance_field(&writer, 2, 1, "item", "int32", true);
    lance_column(&writer);
    lance_page(&writer, ranges, count, rows, 0, LANCE_LAYOUT, &layout);
    end(&writer, file);
}

/* A page of one mini-block with 8 * ((word >> 4) + 1) bytes. */
static void write_chunk(const char *type, struct nt_buffer layout, const char *chunk, size_t size,
                        uint64_t rows, struct nt_buffer *file)
{
    const char word[2] = {(char)((size / 8 - 1) << 4 & 0xff), (char)((size / 8 - 1) >> 4)};
    write_page(type, layout, (const char *const[]){word, chunk}, (const size_t[]){sizeof(word), size}, 2,
               rows, file);
}

/* ---- rows ---- */

static void constants_of_2_to_40_rows(struct nt_buffer *file)
{
    write_page("int32", around(2, layers_in(5, NULLABLE_ITEM, 0)), NULL, NULL, 0, MANY, file);
}

static void strings_of_2_to_40_rows(struct nt_buffer *file)
{
    static const char value[] = "\2\0\0\0\10\0\0\0\3\0\0\0\0\0\0\0\3\0\0\0abc";
    write_page("string", around(2, layers_in(5, ITEM, 0)), (const char *const[]){value},
               (const size_t[]){sizeof(value) - 1}, 1, MANY, file);
}

static void fixed_lists_of_2_to_31_items(struct nt_buffer *file)
{
    write_page("fixed_size_list:int32:2147483648", around(2, layers_in(5, NULLABLE_ITEM, 0)), NULL, NULL, 0,
               MANY, file);
}

static void fixed_lists_in_one_another(struct nt_buffer *file)
{
    write_page("fixed_size_list:fixed_size_list:fixed_size_list:int8:65536:65536:65536",
               around(2, layers_in(5, NULLABLE_ITEM, 0)), NULL, NULL, 0, 1 << 20, file);
}

/* Rows of lists that do not exist: levels of 2^40 rows in one run. */
static void levels_of_2_to_40_places(struct nt_buffer *file)
{
    static const char levels[] = "\2\0\0\0\0\0\0\0\1\0\xff\xff\xff\xff";
    struct nt_buffer counts = joined(number_in(9, MANY), number_in(10, MANY));
    struct nt_buffer compression = joined(around(7, runs(16, 32)), around(8, runs(16, 32)));
    write_page("list", around(2, joined(layers_in(5, NULLABLE_ITEM, LIST), joined(compression, counts))),
               (const char *const[]){levels, levels}, (const size_t[]){14, 14}, 2, MANY, file);
}

/* ---- values ---- */

static void a_run_of_2_to_32_values(struct nt_buffer *file)
{
    static const char chunk[] = "\0\0\10\0\4\0\0\0\7\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0";
    write_chunk("int64", mini_blocks(runs(64, 32), 2, UINT32_MAX), chunk, sizeof(chunk), UINT32_MAX, file);
}

static void runs_of_2_to_40_values(struct nt_buffer *file)
{
    static const char chunk[] = "\0\0\1\0\4\0\0\0\7\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0";
    write_chunk("int8", mini_blocks(runs(8, 32), 2, MANY), chunk, sizeof(chunk), MANY, file);
}

/* 8 GiB, by the size before a frame of as many zeros as a block may have. */
static void zstd_of_8_gigabytes(struct nt_buffer *file)
{
    static const char chunk[] = "\0\0\22\0\0\0\0\0\0\0\0\0\2\0\0\0\x28\xb5\x2f\xfd\0\x60\3\0\x10\0\0\0\0\0\0";
    write_chunk("int64", mini_blocks(zstd(flat(64)), 1, 1024), chunk, sizeof(chunk), 1024, file);
}

static void items_of_lists_in_a_chunk(struct nt_buffer *file)
{
    static const char chunk[] = "\0\0\10\0\0\0\0\0\7\0\0\0\0\0\0";
    write_chunk("fixed_size_list:int64:2147483648", mini_blocks(fixed_list(1u << 31, flat(64)), 1, 1), chunk,
                sizeof(chunk), 1, file);
}

static void write_dictionary(const char *type, struct nt_buffer dictionary, uint64_t items,
                             struct nt_buffer *file)
{
    static const char chunk[] = "\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0", word[2] = {0x10, 0};
    struct nt_buffer message = joined(around(3, flat(8)), around(4, dictionary));
    message = joined(joined(message, number_in(5, items)), layers_in(6, ITEM, 0));
    message = joined(message, joined(number_in(7, 1), number_in(9, 1)));
    write_page(type, around(1, message), (const char *const[]){word, chunk, "dictionary"},
               (const size_t[]){sizeof(word), sizeof(chunk), 10}, 3, 1, file);
}

static void a_dictionary_of_2_to_40_numbers(struct nt_buffer *file)
{
    write_dictionary("int64", flat(64), MANY, file);
}

static void a_dictionary_of_2_to_31_numbers(struct nt_buffer *file)
{
    write_dictionary("int8", runs(8, 32), UINT64_C(1) << 31, file);
}

static void a_dictionary_of_2_to_40_strings(struct nt_buffer *file)
{
    write_dictionary("string", variable(), MANY, file);
}

/* Each a chunk of 24 bytes for 2^15 numbers. */
static void many_long_runs(struct nt_buffer *file)
{
    enum { CHUNKS = 1000, CHUNK = 24, LOGARITHM = 15, LEFT = 1 };
    static const char chunk[] = "\0\0\10\0\4\0\0\0\7\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0";
    char *words = malloc(2 * CHUNKS), *chunks = malloc(CHUNKS * CHUNK);
    demand(words && chunks);
    for (unsigned i = 0; i < CHUNKS; i++) {
        memcpy(chunks + i * CHUNK, chunk, CHUNK);
        words[2 * i] = (char)((CHUNK / 8 - 1) << 4 | (i + 1 < CHUNKS ? LOGARITHM : 0));
        words[2 * i + 1] = 0;
    }
    uint64_t items = ((uint64_t)(CHUNKS - 1) << LOGARITHM) + LEFT;
    write_page("int64", mini_blocks(runs(64, 32), 2, items), (const char *const[]){words, chunks},
               (const size_t[]){2 * CHUNKS, CHUNKS * CHUNK}, 2, items, file);
    free(words);
    free(chunks);
}

/* ---- pages ---- */

/* So many with the same bytes: strings of 1 MiB in 60 bytes, which must all be counted. */
static void pages_that_overlap(struct nt_buffer *file)
{
    enum { PAGES = 1000, BYTES = 1 << 20, BLOCK = 1 << 17 };
    struct lance_writer writer;
    struct nt_buffer chunk = {0};
    /* Offsets 8 and 1 MiB, then zeros in blocks that repeat a byte. */
    nt_buffer_append(
        &chunk, "\0\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\x28\xb5\x2f\xfd\0\x60\x40\0\0\10\0\0\0\0\0\x10\0", 33);
    for (unsigned i = 0; i < BYTES / BLOCK; i++)
        nt_buffer_append(&chunk, i + 1 < BYTES / BLOCK ? "\2\0\x10\0" : "\xc3\xff\x0f\0", 4);
    chunk.bytes[2] = (char)(chunk.length - 8);
    while (chunk.length % 8)
        nt_buffer_append_byte(&chunk, 0);
    const char word[2] = {(char)((chunk.length / 8 - 1) << 4), 0};
    lance_begin(&writer, 2, 1, PAGES);
    const struct lance_range ranges[] = {lance_buffer(&writer, word, sizeof(word)),
                                         lance_buffer(&writer, chunk.bytes, chunk.length)};
    lance_field(&writer, 1, -1, "a", "string", false);
    lance_column(&writer);
    for (unsigned i = 0; i < PAGES; i++) {
        struct nt_buffer layout = mini_blocks(zstd(variable()), 1, 1);
        lance_page(&writer, ranges, 2, 1, i, LANCE_LAYOUT, &layout);
    }
    nt_buffer_deinit_part(&chunk, file);
    end(&writer, file);
}

static void many_pages_of_nothing(struct nt_buffer *file)
{
    enum { PAGES = 1000 };
    struct lance_writer writer;
    lance_begin(&writer, 2, 1, MANY);
    lance_field(&writer, 1, -1, "a", "int64", true);
    lance_column(&writer);
    for (unsigned i = 0; i < PAGES; i++) {
        struct nt_buffer layout = around(2, layers_in(5, NULLABLE_ITEM, 0));
        uint64_t rows = i + 1 < PAGES ? MANY / PAGES : MANY - (PAGES - 1) * (MANY / PAGES);
        lance_page(&writer, NULL, 0, rows, i * (MANY / PAGES), LANCE_LAYOUT, &layout);
    }
    end(&writer, file);
}

/* Descriptions of blobs, one for all rows. */
static void equal_blobs(struct nt_buffer *file)
{
    static const char place[16] = "\0\0\0\0\0\0\0\0\x10";
    struct nt_buffer constant = layers_in(5, ITEM, 0);
    put_bytes(&constant, 6, place, sizeof(place));
    write_page("large_binary", around(4, joined(layers_in(2, ITEM, 0), around(1, around(2, constant)))), NULL,
               NULL, 0, 1 << 24, file);
}

/* ---- metadata ---- */

static void encodings_in_one_another(struct nt_buffer *file)
{
    enum { DEEP = 20000 };
    struct nt_buffer values = flat(8);
    for (unsigned i = 0; i < DEEP && values.length < 400000; i++)
        values = around(11, around(2, values));
    write_chunk("int8", mini_blocks(values, 1, 1), "\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0", 16, 1, file);
}

static void types_in_one_another(struct nt_buffer *file)
{
    enum { DEEP = 20000 };
    struct nt_buffer type = {0};
    for (unsigned i = 0; i < DEEP; i++)
        nt_buffer_append(&type, "fixed_size_list:", 16);
    nt_buffer_append(&type, "int8", 4);
    for (unsigned i = 0; i < DEEP; i++)
        nt_buffer_append(&type, ":2", 2);
    write_page(nt_buffer_string(&type), around(2, layers_in(5, NULLABLE_ITEM, 0)), NULL, NULL, 0, 1, file);
    nt_buffer_deinit_part(&type, file);
}

static void put_little(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        nt_buffer_append_byte(out, (char)(value >> (8 * i)));
}

/* A schema, which is freed, and as many columns without pages as the footer says; the table has
 * `entries` of them. */
static void write_columns(struct nt_buffer schema, uint32_t globals, uint32_t columns, uint32_t entries,
                          struct nt_buffer *file)
{
    struct nt_buffer descriptor = around(1, schema);
    uint64_t bytes = descriptor.length;
    nt_buffer_append(file, descriptor.bytes, bytes);
    nt_buffer_deinit_part(&descriptor, file);
    uint64_t table = file->length;
    for (uint32_t i = 0; i < entries; i++) {
        put_little(file, table, 8);
        put_little(file, 0, 8);
    }
    uint64_t global_table = file->length;
    put_little(file, 0, 8);
    put_little(file, bytes, 8);
    put_little(file, table, 8);
    put_little(file, table, 8);
    put_little(file, global_table, 8);
    put_little(file, globals, 4);
    put_little(file, columns, 4);
    put_little(file, 2, 2);
    put_little(file, 1, 2);
    nt_buffer_append(file, "LANC", 4);
}

static void write_fields(uint32_t count, const char *type, bool is_deep, uint32_t columns,
                         struct nt_buffer *file)
{
    struct lance_writer writer;
    lance_begin(&writer, 2, 1, 0);
    for (uint32_t i = 0; i < count; i++)
        lance_field(&writer, (int32_t)i, is_deep && i ? (int32_t)i - 1 : -1, "a", type, false);
    write_columns(writer.schema, 1, columns, columns, file);
}

/* Incompressible names. */
static void many_fields_with_long_names(struct nt_buffer *file)
{
    enum { COUNT = 12000, LETTERS = 32 };
    struct lance_writer writer;
    char name[LETTERS + 1] = "";
    uint32_t state = 1;
    lance_begin(&writer, 2, 1, 0);
    for (int32_t i = 0; i < COUNT; i++) {
        for (unsigned k = 0; k < LETTERS; k++, state = state * 1664525 + 1013904223)
            name[k] = (char)('0' + (state >> 16) % 64);
        lance_field(&writer, i, -1, name, "int32", false);
    }
    write_columns(writer.schema, 1, COUNT, COUNT, file);
}

static void columns_2_to_32(struct nt_buffer *file)
{
    write_columns((struct nt_buffer){0}, 1, UINT32_MAX, 1, file);
}

static void global_buffers_2_to_32(struct nt_buffer *file)
{
    write_columns((struct nt_buffer){0}, UINT32_MAX, 1, 1, file);
}

static void many_fields_of_nothing(struct nt_buffer *file)
{
    write_fields(400, "int32", false, 400, file);
}

static void structures_nested_deep(struct nt_buffer *file)
{
    write_fields(20000, "struct", true, 1, file);
}

static void lists_nested_deep(struct nt_buffer *file)
{
    write_fields(200, "list", true, 1, file);
}

const struct bomb lance_bombs[] = {
    BOMB(constants_of_2_to_40_rows, BOMB_READ),
    BOMB(strings_of_2_to_40_rows, BOMB_FAILED),
    BOMB(fixed_lists_of_2_to_31_items, BOMB_FAILED),
    BOMB(fixed_lists_in_one_another, BOMB_FAILED),
    BOMB(levels_of_2_to_40_places, BOMB_FAILED),
    BOMB(a_run_of_2_to_32_values, BOMB_READ | BOMB_FAILED),
    BOMB(runs_of_2_to_40_values, BOMB_FAILED),
    BOMB(zstd_of_8_gigabytes, BOMB_READ | BOMB_FAILED),
    BOMB(items_of_lists_in_a_chunk, BOMB_READ | BOMB_FAILED),
    BOMB(a_dictionary_of_2_to_40_numbers, BOMB_FAILED),
    BOMB(a_dictionary_of_2_to_31_numbers, BOMB_READ | BOMB_FAILED),
    BOMB(a_dictionary_of_2_to_40_strings, BOMB_FAILED),
    BOMB(many_long_runs, BOMB_READ),
    BOMB(pages_that_overlap, BOMB_READ),
    BOMB(many_pages_of_nothing, BOMB_READ),
    BOMB(equal_blobs, BOMB_FAILED),
    BOMB(encodings_in_one_another, BOMB_REFUSED),
    BOMB(types_in_one_another, BOMB_REFUSED),
    BOMB(columns_2_to_32, BOMB_REFUSED),
    BOMB(global_buffers_2_to_32, BOMB_REFUSED),
    BOMB(many_fields_of_nothing, BOMB_READ),
    BOMB(many_fields_with_long_names, BOMB_READ),
    BOMB(structures_nested_deep, BOMB_REFUSED),
    BOMB(lists_nested_deep, BOMB_READ),
};
const size_t lance_bomb_count = sizeof(lance_bombs) / sizeof(*lance_bombs);
