/* SPDX-License-Identifier: MIT
 *
 * Pages that contradict their metadata: reading the column fails, and the message has the contradiction
 * and its position.
 */
#include <ntuple/read.h>
#include <string.h>

#include "formats/formats.h"
#include "lance_writer.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"

enum { ROWS = 4 };

static struct nt_error error;
static struct lance_writer writer;
static struct nt_file *file;
static struct nt_reader *reader;

static void tear_down(void)
{
    nt_reader_free(reader);
    if (file)
        nt_file_close(file);
    reader = NULL;
    file = NULL;
    lance_deinit(&writer);
}

/* ---- encodings, after Lance's protos ---- */

static struct nt_buffer around(uint32_t number, struct nt_buffer inner)
{
    struct nt_buffer outer = {0};
    put_message(&outer, number, &inner);
    return outer;
}

static struct nt_buffer flat(uint64_t bits)
{
    struct nt_buffer flat = {0};
    put_number(&flat, 1, bits);
    return around(1, flat);
}

static struct nt_buffer mini_block(uint64_t bits, bool has_dictionary)
{
    struct nt_buffer block = around(3, flat(bits)), values = flat(bits);
    if (has_dictionary) {
        put_message(&block, 4, &values);
        put_number(&block, 5, 1);
    } else {
        nt_buffer_deinit(&values);
    }
    put_packed(&block, 6, (const uint64_t[]){NT_LAYER_ITEM}, 1);
    put_number(&block, 7, 1);
    put_number(&block, 9, ROWS);
    return around(1, block);
}

static struct nt_buffer blobs(bool has_dictionary, uint64_t outer_layer)
{
    struct nt_buffer blobs = around(1, mini_block(128, has_dictionary));
    put_packed(&blobs, 2, (const uint64_t[]){NT_LAYER_ITEM, outer_layer}, outer_layer ? 2 : 1);
    return around(4, blobs);
}

/* Version 2.0: fixed-size lists around flat values in a buffer. */
static struct nt_buffer fixed_lists(uint64_t outer, uint64_t inner, uint64_t buffer_number)
{
    struct nt_buffer flat = {0}, buffer = {0}, values = {0}, inside = {0}, outside = {0};
    put_number(&buffer, 1, buffer_number);
    put_number(&flat, 1, 8);
    put_message(&flat, 2, &buffer);
    put_message(&values, 1, &flat);
    put_number(&inside, 1, inner);
    put_message(&inside, 2, &values);
    put_number(&outside, 1, outer);
    struct nt_buffer items = around(3, inside);
    put_message(&outside, 2, &items);
    return around(3, outside);
}

/* ---- pages ---- */

static void put_page(struct nt_buffer encoding, const char *type_url, const size_t *sizes, unsigned count,
                     uint64_t first_row)
{
    static const char zeros[64];
    struct lance_range ranges[4];
    for (unsigned i = 0; i < count; i++)
        ranges[i] = lance_buffer(&writer, zeros, sizes[i]);
    lance_page(&writer, ranges, count, ROWS, first_row, type_url, &encoding);
}

static void put_one_buffer(void)
{
    put_page(mini_block(8, false), LANCE_LAYOUT, (const size_t[]){2}, 1, 0);
}

static void put_two_buffers_beside_a_dictionary(void)
{
    put_page(mini_block(8, true), LANCE_LAYOUT, (const size_t[]){2, 16}, 2, 0);
}

static void put_half_a_size(void)
{
    put_page(mini_block(8, false), LANCE_LAYOUT, (const size_t[]){3, 16}, 2, 0);
}

static void put_one_layer(void)
{
    put_page(mini_block(8, false), LANCE_LAYOUT, (const size_t[]){2, 16}, 2, 0);
}

static void put_absent_buffer(void)
{
    put_page(fixed_lists(2, 2, 7), LANCE_ARRAY, (const size_t[]){16}, 1, 0);
}

static void put_short_buffer(void)
{
    put_page(fixed_lists(2, 2, 0), LANCE_ARRAY, (const size_t[]){15}, 1, 0);
}

static void put_endless_lists(void)
{
    put_page(fixed_lists(UINT64_C(1) << 62, 4, 0), LANCE_ARRAY, (const size_t[]){16}, 1, 0);
}

static void put_dictionary_of_places(void)
{
    put_page(blobs(true, 0), LANCE_LAYOUT, (const size_t[]){2, 16, 16}, 3, 0);
}

static void put_values_and_blobs(void)
{
    put_page(mini_block(8, false), LANCE_LAYOUT, NULL, 0, 0);
    put_page(blobs(false, 0), LANCE_LAYOUT, (const size_t[]){2, 16}, 2, ROWS);
}

/* One chunk of 72 bytes: no levels, 64 bytes of descriptions, all of them empty. */
static void put_blobs_and_values(void)
{
    static const char words[] = {(char)0x80, 0}, chunk[72] = {0, 0, 64};
    const struct lance_range ranges[] = {lance_buffer(&writer, words, sizeof(words)),
                                         lance_buffer(&writer, chunk, sizeof(chunk))};
    struct nt_buffer encoding = blobs(false, 0);
    lance_page(&writer, ranges, 2, ROWS, 0, LANCE_LAYOUT, &encoding);
    put_page(mini_block(8, false), LANCE_LAYOUT, (const size_t[]){2, 16}, 2, ROWS);
}

/* After a page without descriptions, so that the list's items are taken for values. */
static void put_blobs_in_lists(void)
{
    put_page(mini_block(8, false), LANCE_LAYOUT, (const size_t[]){2, 16}, 2, 0);
    put_page(blobs(false, NT_LAYER_LIST), LANCE_LAYOUT, (const size_t[]){2, 16}, 2, ROWS);
}

static const struct {
    void (*put)(void);
    const char *type, *item;
    uint16_t minor;
    uint64_t rows;
    enum nt_status expected;
    const char *message;
} pages[] = {
    {put_one_buffer, "int8", NULL, 1, ROWS, NT_CORRUPT, "buffers of a page: expected at least 2, found 1"},
    {put_two_buffers_beside_a_dictionary, "int8", NULL, 1, ROWS, NT_CORRUPT,
     "buffers of a page: expected at least 3, found 2"},
    {put_half_a_size, "int8", NULL, 1, ROWS, NT_CORRUPT,
     "the chunk sizes take 3 bytes, which is not a multiple of 2"},
    {put_one_layer, "list", "int8", 1, ROWS, NT_CORRUPT,
     "layers around the values of a page: expected at least 2, found 1"},
    {put_absent_buffer, "fixed_size_list:fixed_size_list:int8:2:2", NULL, 0, ROWS, NT_CORRUPT,
     "buffers of a page: expected at least 8, found 1"},
    {put_short_buffer, "fixed_size_list:fixed_size_list:int8:2:2", NULL, 0, ROWS, NT_CORRUPT,
     "4 rows of 4 bytes do not fill 15 bytes"},
    {put_endless_lists, "fixed_size_list:fixed_size_list:int8:2:2", NULL, 0, ROWS, NT_LIMIT,
     "the bytes of a row of fixed-size lists overflow"},
    {put_dictionary_of_places, "large_binary", NULL, 1, ROWS, NT_UNSUPPORTED,
     "cannot read blob positions in a dictionary"},
    {put_values_and_blobs, "large_binary", NULL, 1, 2 * ROWS, NT_CORRUPT,
     "buffers of a page: expected at least"},
    {put_blobs_and_values, "large_binary", NULL, 1, 2 * ROWS, NT_UNSUPPORTED,
     "the column has blobs in some pages and values in others"},
    {put_blobs_in_lists, "list", "large_binary", 1, 2 * ROWS, NT_CORRUPT, "layers around the values"},
};

static enum nt_status read_stream(uint32_t field, enum nt_stream_kind kind)
{
    uint64_t element;
    struct nt_stream *stream = NULL;
    enum nt_status status = nt_stream_open(reader, file->datasets[0], field, kind, &stream, &error);
    if (status == NT_OK)
        status = nt_stream_read(stream, kind == NT_STREAM_OFFSETS ? sizeof(element) : 0, &element, 1, &error);
    nt_stream_close(stream);
    return status;
}

TEST(what_does_not_fit_is_reported_with_its_page, .teardown = tear_down,
     .end = sizeof(pages) / sizeof(*pages))
{
    const struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    struct nt_source *source;
    lance_begin(&writer, 2, pages[_i].minor, pages[_i].rows);
    lance_field(&writer, 0, -1, "v", pages[_i].type, false);
    if (pages[_i].item)
        lance_field(&writer, 1, 0, "item", pages[_i].item, false);
    lance_column(&writer);
    pages[_i].put();
    lance_end(&writer);
    assert_ok(nt_source_open_memory(writer.out.bytes, writer.out.length, "test.lance", &source, &error));
    assert_ok(nt_format_lance.open(source, &options, &file, &error));
    assert_ok(nt_reader_new(&(struct nt_reader_options)NT_READER_OPTIONS_INIT, &reader, &error));
    bool is_list = pages[_i].item;
    uint32_t last = file->datasets[0]->field_count - 1;
    enum nt_status status = read_stream(is_list ? 0 : last, is_list ? NT_STREAM_OFFSETS : NT_STREAM_DATA);
    ck_assert_msg(status == pages[_i].expected && strstr(error.message, pages[_i].message), "%d: %s", _i,
                  error.message);
    ck_assert_msg(strstr(error.message, "column 0 of the file: page "), "%s", error.message);
    ck_assert_uint_lt(error.offset, writer.footer);
}
