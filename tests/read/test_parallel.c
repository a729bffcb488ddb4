/* SPDX-License-Identifier: MIT
 *
 * Many threads of callers and of the reader, over the same streams.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "dataset_builder.h"
#include "read/read.h"
#include "random_dataset.h"
#include "reference.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/base/sanitizer.h"
#include "core/codec/codec.h"
#include "core/model/model.h"

static struct nt_stream *open_data(struct builder *builder, uint32_t field, enum nt_stream_kind kind)
{
    struct nt_error error;
    struct nt_stream *stream;
    assert_ok(nt_stream_open(builder->reader, builder->dataset, field, kind, &stream, &error));
    return stream;
}

/* A list of many small items, in two clusters, large enough to be shared among workers. */
static struct builder *long_list(void)
{
    enum { ROWS = 300000 };
    struct builder *builder = builder_new();
    struct vector vector = add_vector(builder, NT_ENCODING_SPLIT_INDEX64, NT_ENCODING_SPLIT_INT32);
    uint64_t *ends = malloc(ROWS * sizeof(*ends)), *items = malloc(ROWS * 3 * sizeof(*items));
    for (uint64_t cluster = 0; cluster < 2; cluster++) {
        uint64_t end = 0;
        for (uint64_t i = 0; i < ROWS; i++) {
            ends[i] = end += (i + cluster) % 4;
            for (uint64_t k = ends[i] - (i + cluster) % 4; k < end; k++)
                items[k] = i * 3 + k;
        }
        add_cluster(builder, cluster * ROWS, ROWS);
        add_elements(builder, (uint32_t)cluster, vector.index, ends, ROWS, 7001);
        add_elements(builder, (uint32_t)cluster, vector.values, items, (uint32_t)end, 9001);
    }
    free(ends);
    free(items);
    return builder;
}

/* What one thread reads in one call. */
static char *read_at_once(struct builder *builder, uint32_t field, enum nt_stream_kind kind,
                          size_t *bytes_ret)
{
    struct nt_error error;
    struct nt_stream *stream = open_data(builder, field, kind);
    *bytes_ret = nt_stream_elements(stream) * nt_stream_element_bytes(stream);
    char *bytes = malloc(*bytes_ret);
    assert_ok(nt_stream_read(stream, 0, bytes, *bytes_ret, &error));
    nt_stream_close(stream);
    return bytes;
}

static const struct {
    uint32_t field;
    enum nt_stream_kind kind;
} streams[] = {{0, NT_STREAM_OFFSETS}, {1, NT_STREAM_DATA}};

TEST(elements_read_together_are_those_read_alone, .end = 2)
{
    struct nt_error error;
    struct builder *builder = long_list();
    size_t bytes;
    finish(builder, NULL);
    char *expected = read_at_once(builder, streams[_i].field, streams[_i].kind, &bytes), *got = malloc(bytes);
    for (unsigned threads = 0; threads < 4; threads++) {
        reopen(builder, &(struct nt_reader_options){.threads = threads});
        struct nt_stream *stream = open_data(builder, streams[_i].field, streams[_i].kind);
        uint64_t elements = nt_stream_elements(stream), size = nt_stream_element_bytes(stream);
        memset(got, 0, bytes);
        assert_ok(nt_stream_read_elements(stream, 0, elements, got, &error));
        ck_assert(!memcmp(got, expected, bytes));
        assert_ok(nt_stream_read_elements(stream, 12345, elements - 99999, got, &error));
        ck_assert(!memcmp(got, expected + 12345 * size, (elements - 99999) * size));
        assert_status(NT_INVALID, nt_stream_read_elements(stream, 1, elements, got, &error));
        nt_stream_close(stream);
    }
    free(expected);
    free(got);
    builder_free(builder);
}

TEST(many_streams_read_together_are_those_read_alone)
{
    enum { PIECES = 40 };
    struct nt_error error;
    struct builder *builder = long_list();
    struct nt_stream *opened[2];
    struct nt_stream_range ranges[2 * PIECES];
    char *expected[2], *got[2];
    size_t bytes[2], count = 0;
    finish(builder, NULL);
    for (int i = 0; i < 2; i++) {
        expected[i] = read_at_once(builder, streams[i].field, streams[i].kind, &bytes[i]);
        got[i] = calloc(1, bytes[i]);
    }
    reopen(builder, &(struct nt_reader_options){.threads = 3});
    for (int i = 0; i < 2; i++)
        opened[i] = open_data(builder, streams[i].field, streams[i].kind);
    for (uint64_t piece = 0; piece < PIECES; piece++)
        for (int i = 0; i < 2; i++) {
            uint64_t elements = nt_stream_elements(opened[i]);
            uint64_t first = elements * piece / PIECES, end = elements * (piece + 1) / PIECES;
            ranges[count++] = (struct nt_stream_range){opened[i], first, end - first,
                                                       got[i] + first * nt_stream_element_bytes(opened[i])};
        }
    assert_ok(nt_streams_read_elements(ranges, count, &error));
    assert_ok(nt_streams_read_elements(ranges, 0, &error));
    for (int i = 0; i < 2; i++)
        ck_assert(!memcmp(got[i], expected[i], bytes[i]));
    ranges[7].first = UINT64_MAX;
    assert_status(NT_INVALID, nt_streams_read_elements(ranges, count, &error));
    for (int i = 0; i < 2; i++) {
        nt_stream_close(opened[i]);
        free(expected[i]);
        free(got[i]);
    }
    builder_free(builder);
}

TEST(the_first_of_several_bad_pages_is_the_error_of_a_shared_read)
{
    struct nt_error error;
    struct builder *builder = long_list();
    finish(builder, &(struct nt_reader_options){.threads = 3});
    struct nt_stream *stream = open_data(builder, 1, NT_STREAM_DATA);
    const struct nt_page *pages[2];
    char *got = malloc(nt_stream_elements(stream) * 4);
    for (int i = 0; i < 2; i++) {
        uint32_t cluster;
        uint64_t first;
        assert_ok(nt_column_page(builder->reader, builder->dataset, 1, 3 + 60 * (uint64_t)i, &pages[i],
                                 &cluster, &first, &error));
        builder->bytes.bytes[pages[i]->offset] ^= 1;
    }
    assert_status(NT_CHECKSUM, nt_stream_read_elements(stream, 0, nt_stream_elements(stream), got, &error));
    ck_assert_uint_eq(error.offset, pages[0]->offset);
    nt_stream_close(stream);
    free(got);
    builder_free(builder);
}

/* ---- many readers ---- */

enum { READS = NT_IS_SANITIZED ? 100 : 400 }; /* of each thread */

struct visitor {
    struct nt_stream *stream;
    const struct nt_buffer *expected;
    unsigned seed;
    bool differs;
};

static void *read_here_and_there(void *argument)
{
    struct visitor *visitor = argument;
    size_t length = visitor->expected->length;
    char got[64];
    for (int i = 0; i < READS && length; i++) {
        visitor->seed = visitor->seed * 1103515245 + 12345;
        size_t offset = (visitor->seed >> 8) % length, bytes = (visitor->seed >> 4) % sizeof(got);
        if (bytes > length - offset)
            bytes = length - offset;
        visitor->differs |= nt_stream_read(visitor->stream, offset, got, bytes, NULL) != NT_OK ||
                            memcmp(got, visitor->expected->bytes + offset, bytes);
    }
    return NULL;
}

TEST(where_all_pages_are_bad_the_first_is_the_error_of_each_shared_read)
{
    enum { TIMES = 30 };
    struct nt_error error;
    struct builder *builder = long_list();
    finish(builder, &(struct nt_reader_options){.threads = 3});
    for (uint32_t i = 0; i < builder->page_count[0]; i++)
        builder->bytes.bytes[builder->pages[0][i].offset] ^= 1;
    struct nt_stream *stream = open_data(builder, 1, NT_STREAM_DATA);
    uint64_t first = builder->pages[0][builder->shares[0][1].first_page].offset;
    char *got = malloc(nt_stream_elements(stream) * 4);
    for (int i = 0; i < TIMES; i++) {
        assert_status(NT_CHECKSUM,
                      nt_stream_read_elements(stream, 0, nt_stream_elements(stream), got, &error));
        ck_assert_uint_eq(error.offset, first);
    }
    nt_stream_close(stream);
    free(got);
    builder_free(builder);
}

TEST(streams_of_two_readers_are_not_read_together)
{
    struct nt_error error;
    struct nt_reader *other;
    struct nt_stream *stream;
    struct builder *builder = long_list();
    finish(builder, NULL);
    assert_ok(nt_reader_new(NULL, &other, &error));
    assert_ok(nt_stream_open(other, builder->dataset, 1, NT_STREAM_DATA, &stream, &error));
    struct nt_stream *own = open_data(builder, 1, NT_STREAM_DATA);
    int32_t first[2] = {-1, -1};
    const struct nt_stream_range ranges[] = {{own, 0, 1, &first[0]}, {stream, 0, 1, &first[1]}};
    assert_status(NT_INVALID, nt_streams_read_elements(ranges, 2, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "range 1 belongs to another reader"));
    ck_assert(first[0] == -1 && first[1] == -1);
    nt_stream_close(stream);
    nt_stream_close(own);
    nt_reader_free(other);
    builder_free(builder);
}

TEST(threads_that_read_one_stream_do_not_disturb_one_another, .end = 8)
{
    enum { THREADS = 6 };
    struct builder *builder = random_dataset(500 + (unsigned)_i, _i < 4 ? 6 : 40);
    builder->releases_lists = _i >= 4;
    uint64_t cache_bytes = _i % 2 ? 3000 : 0;
    finish(builder, &(struct nt_reader_options){.threads = 2, .cache_bytes = cache_bytes});
    for (uint32_t field = 0; field < builder->field_count; field++) {
        struct nt_buffer expected = {0};
        if (!nt_field_has_stream(&builder->fields[field], NT_STREAM_DATA))
            continue;
        reference_stream(builder, field, NT_STREAM_DATA, &expected);
        struct nt_stream *stream = open_data(builder, field, NT_STREAM_DATA);
        struct visitor visitors[THREADS];
        pthread_t threads[THREADS];
        for (unsigned i = 0; i < THREADS; i++) {
            visitors[i] = (struct visitor){stream, &expected, i + 1, false};
            pthread_create(&threads[i], NULL, read_here_and_there, &visitors[i]);
        }
        for (unsigned i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            ck_assert(!visitors[i].differs);
        }
        nt_stream_close(stream);
        nt_buffer_deinit(&expected);
    }
    ck_assert_int_eq(builder->loads[0] > 1, builder->releases_lists && builder->group_count > 1);
    builder_free(builder);
}

/* ---- decoding ahead ---- */

static uint64_t pages_ahead(struct builder *builder)
{
    struct nt_counters counters;
    nt_counters_read(builder->reader, &counters);
    return counters.pages_ahead;
}

static void wait_for_pages_ahead(struct builder *builder)
{
    for (unsigned wait = 0; wait < 1000 && !pages_ahead(builder); wait++)
        usleep(10000);
    ck_assert_uint_gt(pages_ahead(builder), 0);
}

/* As if loads so far had taken a second for each byte, or no time at all. */
static void pretend_pages_are_slow(struct builder *builder, bool slow)
{
    struct nt_counters *counters = &builder->reader->counters;
    counters->checksum_nanoseconds = counters->decompress_nanoseconds = counters->decode_nanoseconds = 0;
    counters->read_nanoseconds = slow ? UINT64_MAX / 2 : 0;
}

TEST(pages_that_load_fast_are_not_decoded_ahead)
{
    struct nt_error error;
    struct builder *builder = long_list();
    char got[4096];
    finish(builder, &(struct nt_reader_options){.threads = 1});
    struct nt_stream *stream = open_data(builder, 1, NT_STREAM_DATA);
    for (size_t offset = 0; offset < 10 * sizeof(got); offset += sizeof(got)) {
        pretend_pages_are_slow(builder, false);
        builder->reader->counters.decoded_bytes = UINT64_C(1) << 40;
        assert_ok(nt_stream_read(stream, offset, got, sizeof(got), &error));
    }
    usleep(20000);
    ck_assert_uint_eq(pages_ahead(builder), 0);
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(pages_that_load_fast_are_decoded_ahead_where_that_is_requested)
{
    struct nt_error error;
    struct builder *builder = long_list();
    char got[4096];
    finish(builder, &(struct nt_reader_options){.threads = 1, .always_readahead = true});
    struct nt_stream *stream = open_data(builder, 1, NT_STREAM_DATA);
    pretend_pages_are_slow(builder, false);
    for (size_t offset = 0; offset < 10 * sizeof(got); offset += sizeof(got))
        assert_ok(nt_stream_read(stream, offset, got, sizeof(got), &error));
    wait_for_pages_ahead(builder);
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(sequential_reads_are_followed_by_decoding_ahead_and_others_are_not)
{
    struct nt_error error;
    struct builder *builder = long_list();
    size_t bytes;
    char got[4096];
    finish(builder, NULL);
    char *expected = read_at_once(builder, 1, NT_STREAM_DATA, &bytes);
    reopen(builder, &(struct nt_reader_options){.threads = 1});
    struct nt_stream *stream = open_data(builder, 1, NT_STREAM_DATA);
    pretend_pages_are_slow(builder, true);
    for (size_t i = 0; i < 20; i++) {
        size_t offset = (i * 7919 % 20) * (bytes / 20);
        assert_ok(nt_stream_read(stream, offset, got, 16, &error));
    }
    usleep(20000);
    ck_assert_uint_le(pages_ahead(builder), 16);
    nt_stream_close(stream);
    reopen(builder, &(struct nt_reader_options){.threads = 1});
    stream = open_data(builder, 1, NT_STREAM_DATA);
    pretend_pages_are_slow(builder, true);
    for (size_t offset = 0; offset + sizeof(got) <= bytes; offset += sizeof(got)) {
        assert_ok(nt_stream_read(stream, offset, got, sizeof(got), &error));
        ck_assert(!memcmp(got, expected + offset, sizeof(got)));
        if (offset == 10 * sizeof(got))
            wait_for_pages_ahead(builder);
    }
    nt_stream_close(stream);
    free(expected);
    builder_free(builder);
}

TEST(a_large_read_at_the_start_is_followed_by_decoding_ahead)
{
    enum { LARGE = 256 * 1024 };
    struct nt_error error;
    struct builder *builder = long_list();
    char *got = malloc(LARGE);
    finish(builder, &(struct nt_reader_options){.threads = 1});
    struct nt_stream *stream = open_data(builder, 1, NT_STREAM_DATA);
    pretend_pages_are_slow(builder, true);
    uint64_t end = nt_stream_elements(stream) * nt_stream_element_bytes(stream);
    assert_ok(nt_stream_read(stream, end - 16, got, 16, &error)); /* as programs that find the size so do */
    assert_ok(nt_stream_read(stream, 0, got, LARGE - 1, &error));
    usleep(20000);
    ck_assert_uint_eq(pages_ahead(builder), 0);
    assert_ok(nt_stream_read(stream, end - 16, got, 16, &error));
    assert_ok(nt_stream_read(stream, 0, got, LARGE, &error));
    wait_for_pages_ahead(builder);
    nt_stream_close(stream);
    free(got);
    builder_free(builder);
}

/* Small adjacent pages are not: a reader decodes many of them in one call. */
TEST(pages_of_the_next_cluster_are_decoded_ahead, .end = 2)
{
    enum { CLUSTER = 1000, SMALL = 100 };
    const uint32_t page = _i ? SMALL : CLUSTER;
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    uint64_t values[CLUSTER] = {0};
    int32_t got[CLUSTER / 4];
    builder->has_field_groups = true; /* one page list for each cluster */
    for (uint32_t i = 0; i < 3; i++) {
        add_cluster(builder, i * CLUSTER, CLUSTER);
        add_elements(builder, i, column, values, CLUSTER, page);
    }
    finish(builder, &(struct nt_reader_options){.threads = 1});
    struct nt_stream *stream = open_data(builder, field, NT_STREAM_DATA);
    pretend_pages_are_slow(builder, true);
    for (uint64_t i = 0; i < 3; i++) /* of four parts of the first cluster */
        assert_ok(nt_stream_read(stream, i * sizeof(got), got, sizeof(got), &error));
    if (page == CLUSTER)
        wait_for_pages_ahead(builder);
    else
        usleep(20000);
    ck_assert_int_eq(pages_ahead(builder) > 0, page == CLUSTER);
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(a_dataset_is_forgotten_while_workers_are_ahead_in_it)
{
    struct nt_error error;
    struct builder *builder = long_list();
    char got[4096];
    finish(builder, &(struct nt_reader_options){.threads = 2});
    for (int i = 0; i < 20; i++) {
        struct nt_stream *stream = open_data(builder, 1, NT_STREAM_DATA);
        pretend_pages_are_slow(builder, true);
        for (size_t offset = 0; offset < 4 * sizeof(got); offset += sizeof(got))
            assert_ok(nt_stream_read(stream, offset, got, sizeof(got), &error));
        nt_stream_close(stream);
        nt_reader_forget(builder->reader, builder->dataset);
        struct nt_counters counters;
        nt_counters_read(builder->reader, &counters);
        ck_assert_uint_eq(counters.cache_pages, 0);
    }
    builder_free(builder);
}
