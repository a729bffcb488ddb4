/* SPDX-License-Identifier: MIT
 *
 * Full-zip pages with rows of variable width: a small read decodes only the rows around it.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"
#include "lance_writer.h"
#include "read/read.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"

enum { LISTS = 40, ITEMS = 10000, STRINGS = 10, STRING_BYTES = 100000, REPETITION = 2 };

static struct nt_error error;
static struct lance_writer writer;
static struct nt_buffer rows, row_index;
static struct nt_file *file;
static struct nt_reader *reader;
static struct nt_stream *stream;

static void tear_down(void)
{
    nt_stream_close(stream);
    nt_reader_free(reader);
    if (file)
        nt_file_close(file);
    stream = NULL;
    reader = NULL;
    file = NULL;
    lance_deinit(&writer);
    nt_buffer_deinit(&rows);
    nt_buffer_deinit(&row_index);
    rows = row_index = (struct nt_buffer){0};
}

static void put_little(struct nt_buffer *out, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        nt_buffer_append(out, &(char){(char)(number >> (8 * i))}, 1);
}

/* ---- files ---- */

/* List k has ITEMS items from k * ITEMS on, each after a control word: the first one begins the list. */
static void put_lists(void)
{
    for (unsigned i = 0; i < LISTS * ITEMS; i++) {
        if (i % ITEMS == 0)
            put_little(&row_index, rows.length, 4);
        put_little(&rows, i % ITEMS == 0 ? REPETITION : 0, 1);
        put_little(&rows, i, 4);
    }
    put_little(&row_index, rows.length, 4);
}

static void put_strings(void)
{
    for (unsigned i = 0; i < STRINGS; i++) {
        put_little(&row_index, rows.length, 4);
        put_little(&rows, STRING_BYTES, 4);
        for (unsigned k = 0; k < STRING_BYTES; k++)
            put_little(&rows, 'a' + (i + k) % 26, 1);
    }
    put_little(&row_index, rows.length, 4);
}

static struct nt_buffer full_zip(bool is_lists)
{
    struct nt_buffer flat = {0}, values = {0}, variable = {0}, compression = {0}, zip = {0}, layout = {0};
    put_number(&flat, 1, 32);
    put_message(is_lists ? &compression : &values, 1, &flat);
    if (!is_lists) {
        put_message(&variable, 1, &values);
        put_message(&compression, 2, &variable);
    }
    put_number(&zip, 1, is_lists);
    put_number(&zip, 2, is_lists);
    put_number(&zip, is_lists ? 3 : 4, 32);
    put_number(&zip, 5, is_lists ? LISTS * ITEMS : STRINGS);
    put_number(&zip, 6, is_lists ? LISTS * ITEMS : STRINGS);
    put_message(&zip, 7, &compression);
    put_packed(&zip, 8, (const uint64_t[]){NT_LAYER_ITEM, NT_LAYER_EMPTYABLE_LIST}, 1 + is_lists);
    put_message(&layout, 3, &zip);
    return layout;
}

static void end_file(bool is_lists)
{
    uint64_t count = is_lists ? LISTS : STRINGS;
    struct nt_buffer encoding = full_zip(is_lists);
    lance_begin(&writer, 2, 1, count);
    lance_field(&writer, 0, -1, "v", is_lists ? "list" : "string", false);
    if (is_lists)
        lance_field(&writer, 1, 0, "item", "int32", false);
    const struct lance_range buffers[] = {lance_buffer(&writer, rows.bytes, rows.length),
                                          lance_buffer(&writer, row_index.bytes, row_index.length)};
    lance_column(&writer);
    lance_page(&writer, buffers, 2, count, 0, LANCE_LAYOUT, &encoding);
    lance_end(&writer);
}

static void open_stream(uint32_t field, enum nt_stream_kind kind)
{
    const struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    struct nt_source *source;
    assert_ok(nt_source_open_memory(writer.out.bytes, writer.out.length, "test.lance", &source, &error));
    assert_ok(nt_format_lance.open(source, &options, &file, &error));
    assert_ok(nt_reader_new(&(struct nt_reader_options)NT_READER_OPTIONS_INIT, &reader, &error));
    assert_ok(nt_stream_open(reader, file->datasets[0], field, kind, &stream, &error));
}

static struct nt_counters counters(void)
{
    struct nt_counters found;
    nt_counters_read(reader, &found);
    return found;
}

/* ---- reads ---- */

TEST(a_small_read_in_lists_decodes_the_rows_around_it, .teardown = tear_down)
{
    enum { FIRST = 12 * ITEMS + 17, COUNT = 1000 };
    int32_t found[COUNT];
    put_lists();
    end_file(true);
    open_stream(1, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 4 * FIRST, found, sizeof(found), &error));
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(found[i], FIRST + i);
    ck_assert_uint_eq(counters().pages_decoded, 1);
    ck_assert_uint_le(counters().decoded_bytes, 128 * 1024);
}

TEST(a_small_read_in_strings_decodes_the_rows_around_it, .teardown = tear_down)
{
    char found[100];
    put_strings();
    end_file(false);
    open_stream(0, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 7 * STRING_BYTES + 1000, found, sizeof(found), &error));
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(found[i], 'a' + (7 + 1000 + i) % 26);
    ck_assert_uint_eq(counters().pages_decoded, 1);
    ck_assert_uint_le(counters().decoded_bytes, STRING_BYTES);
}

/* The index has sizes; its numbers of lists are compared with the levels during reads. */
TEST(lists_are_counted_without_a_look_at_them, .teardown = tear_down)
{
    uint64_t ends[LISTS + 1];
    put_lists();
    rows.bytes[5 * (20 * ITEMS + 3)] = REPETITION; /* one list too many */
    end_file(true);
    open_stream(1, NT_STREAM_DATA);
    ck_assert_uint_eq(nt_stream_elements(stream), LISTS * ITEMS);
    nt_stream_close(stream);
    assert_ok(nt_stream_open(reader, file->datasets[0], 0, NT_STREAM_OFFSETS, &stream, &error));
    ck_assert_uint_eq(nt_stream_elements(stream), LISTS + 1);
    assert_ok(nt_stream_read(stream, 0, ends, 10 * sizeof(*ends), &error));
    for (uint64_t i = 0; i < 10; i++)
        ck_assert_uint_eq(ends[i], i * ITEMS);
    ck_assert_uint_eq(nt_stream_read(stream, 0, ends, sizeof(ends), &error), NT_CORRUPT);
    ck_assert_msg(strstr(error.message, "lists in the levels of a page"), "%s", error.message);
}
