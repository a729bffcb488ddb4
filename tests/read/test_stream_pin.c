/* SPDX-License-Identifier: MIT
 *
 * Pinned bytes of streams: their content, how long they stay valid, and when there are none.
 */
#include <stdlib.h>
#include <string.h>

#include "opened_stream.h"
#include "read/page.h"
#include "random_dataset.h"
#include "support.h"
#include "core/codec/codec.h"
#include "read/read.h"

enum { ENTRIES = 110000, PAGE_ELEMENTS = 25000, PAGE_BYTES = 4 * PAGE_ELEMENTS, BYTES = 4 * ENTRIES };

static struct builder *builder;
static struct nt_stream *stream;
static uint8_t *expected;
static struct nt_pins pins;

/* A stream with an empty cache, and its contents. */
static void open_with(const struct nt_reader_options *options)
{
    struct nt_error error;
    builder = plain_dataset(ENTRIES, PAGE_ELEMENTS);
    builder->checksum = NT_CHECKSUM_XXH3_64;
    finish(builder, NULL);
    expected = malloc(BYTES);
    stream = open_stream(builder, 0, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 0, expected, BYTES, &error));
    nt_stream_close(stream);
    reopen(builder, options);
    stream = open_stream(builder, 0, NT_STREAM_DATA);
    pins = (struct nt_pins){0};
}

static void setup(void)
{
    open_with(&(struct nt_reader_options){.always_readahead = true});
}

static void teardown(void)
{
    nt_stream_close(stream);
    builder_free(builder);
    free(expected);
}

static void check_pins(size_t offset, size_t bytes)
{
    size_t at = offset;
    for (unsigned i = 0; i < pins.count; i++) {
        ck_assert_mem_eq(pins.items[i].bytes, expected + at, pins.items[i].count);
        at += pins.items[i].count;
    }
    ck_assert_uint_eq(at, offset + bytes);
}

TEST(what_is_pinned_is_what_the_stream_holds, .setup = setup, .teardown = teardown, .end = 6)
{
    static const size_t pieces[] = {32768, 65536, 100000, 131071, 250001, BYTES};
    size_t piece = pieces[_i];
    for (size_t offset = 0; offset + piece <= BYTES; offset += piece) {
        ck_assert(nt_stream_pin(stream, offset, piece, &pins));
        check_pins(offset, piece);
        nt_pins_release(&pins);
        ck_assert_uint_eq(pins.count, 0);
    }
}

TEST(pins_outlive_their_stream, .setup = setup, .teardown = teardown)
{
    ck_assert(nt_stream_pin(stream, 0, BYTES, &pins));
    nt_stream_close(stream);
    check_pins(0, BYTES);
    nt_reader_forget(builder->reader, builder->dataset);
    check_pins(0, BYTES);
    nt_pins_release(&pins);
    stream = open_stream(builder, 0, NT_STREAM_DATA);
}

static void check_none(size_t offset, size_t bytes)
{
    ck_assert(!nt_stream_pin(stream, offset, bytes, &pins));
    ck_assert_uint_eq(pins.count, 0);
}

TEST(little_what_is_far_off_and_what_is_not_there_is_read, .setup = setup, .teardown = teardown)
{
    check_none(0, 0);
    check_none(0, 32767);
    check_none(1 << 20, 32768);
    check_none(0, BYTES + 1);
    check_none(SIZE_MAX - 10, 32768);
}

TEST(small_pages_are_read, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct builder *small = plain_dataset(ENTRIES, 4000);
    finish(small, &(struct nt_reader_options){.always_readahead = true});
    struct nt_stream *other;
    assert_ok(nt_stream_open(small->reader, small->dataset, 0, NT_STREAM_DATA, &other, &error));
    ck_assert(!nt_stream_pin(other, 0, BYTES, &pins));
    nt_stream_close(other);
    builder_free(small);
}

TEST(a_stream_that_is_made_of_other_elements_is_read, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct builder *lists = builder_new();
    struct vector vector = add_vector(lists, NT_ENCODING_SPLIT_INDEX64, NT_ENCODING_INT32);
    enum { ROWS = 20000 };
    static uint64_t ends[ROWS];
    for (unsigned i = 0; i < ROWS; i++)
        ends[i] = i + 1;
    add_cluster(lists, 0, ROWS);
    add_elements(lists, 0, vector.index, ends, ROWS, ROWS);
    add_elements(lists, 0, vector.values, ends, ROWS, ROWS);
    finish(lists, &(struct nt_reader_options){.always_readahead = true});
    struct nt_stream *offsets;
    assert_ok(
        nt_stream_open(lists->reader, lists->dataset, vector.list, NT_STREAM_OFFSETS, &offsets, &error));
    ck_assert(!nt_stream_pin(offsets, 0, 8 * ROWS, &pins));
    nt_stream_close(offsets);
    builder_free(lists);
}

/* A whole uncached page is decoded straight into a reply. */
TEST(without_decoding_ahead_whole_pages_are_read, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    uint8_t *bytes = malloc(PAGE_BYTES);
    teardown();
    open_with(NULL);
    check_none(0, PAGE_BYTES);
    ck_assert(nt_stream_pin(stream, 0, PAGE_BYTES / 2, &pins));
    check_pins(0, PAGE_BYTES / 2);
    nt_pins_release(&pins);
    assert_ok(nt_stream_read(stream, PAGE_BYTES / 2, bytes, PAGE_BYTES / 2, &error));
    ck_assert(nt_stream_pin(stream, 0, PAGE_BYTES, &pins)); /* it is in the cache now */
    check_pins(0, PAGE_BYTES);
    nt_pins_release(&pins);
    free(bytes);
}

TEST(of_a_bad_page_nothing_stays_pinned, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_counters counters;
    builder->bytes.bytes[first_page(builder)[1].offset] ^= 1;
    ck_assert(nt_stream_pin(stream, 0, PAGE_BYTES, &pins));
    nt_pins_release(&pins);
    check_none(PAGE_BYTES / 2, PAGE_BYTES);
    assert_status(NT_CHECKSUM, nt_stream_read(stream, PAGE_BYTES / 2, expected, PAGE_BYTES, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "page 1"));
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.failures, 1);
}

TEST(a_cache_without_room_for_all_gives_none, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_counters counters;
    uint8_t *bytes = malloc(BYTES);
    teardown();
    open_with(&(struct nt_reader_options){.always_readahead = true, .cache_bytes = 3 * PAGE_BYTES});
    check_none(0, BYTES);
    assert_ok(nt_stream_read(stream, 0, bytes, BYTES, &error));
    ck_assert_mem_eq(bytes, expected, BYTES);
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_le(counters.cache_bytes, 3 * PAGE_BYTES);
    ck_assert_uint_eq(counters.pinned_bytes, 0);
    free(bytes);
}

TEST(bytes_of_others_stay_in_front, .setup = setup, .teardown = teardown)
{
    struct nt_counters counters;
    pins.items[pins.count++] = (struct nt_pin){.bytes = (const uint8_t *)"header", .count = 6};
    ck_assert(nt_stream_pin(stream, 0, BYTES, &pins));
    ck_assert_mem_eq(pins.items[0].bytes, "header", 6);
    ck_assert_uint_eq(pins.count, 1 + (BYTES + PAGE_BYTES - 1) / PAGE_BYTES);
    nt_pins_release(&pins);
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.pinned_bytes, BYTES);
    ck_assert_uint_eq(counters.served_bytes, BYTES);
}
