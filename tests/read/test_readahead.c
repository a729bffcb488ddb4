/* SPDX-License-Identifier: MIT
 *
 * Prefetch hints to sources, and reading damaged pages again. The source is memory that records calls.
 */
#include <stdlib.h>
#include <string.h>

#include "opened_stream.h"
#include "read/read.h"
#include "support.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include <ntuple/source.h>

enum { CLUSTERS = 6, PAGE = 128, PAGES = 3, ELEMENTS = CLUSTERS * PAGES * PAGE, MOST = 256 };
enum { PAGE_BYTES = PAGE * sizeof(int32_t) };

static struct recording {
    struct nt_source source;
    struct nt_source *inner;
    struct nt_extent prefetch[MOST];
    size_t prefetch_count;
    uint64_t places[MOST]; /* that were read, */
    unsigned calls, calls_now, reads,
        unexpected;              /* with prefetch; reads, and those that no prefetch announced */
    unsigned calls_before_reads; /* with prefetch, before anything was read */
    unsigned forgotten;
    uint64_t spare;         /* bytes that may be prefetched across fields */
    unsigned damaged_reads; /* so many reads from now on return a wrong byte */
} recording;

/* By one prefetch or several, which follow one another. */
static bool is_hinted(uint64_t offset, uint64_t bytes)
{
    uint64_t end = offset + bytes;
    for (size_t i = 0; i < recording.prefetch_count && offset < end; i++)
        if (offset >= recording.prefetch[i].offset &&
            offset < recording.prefetch[i].offset + recording.prefetch[i].bytes)
            offset = recording.prefetch[i].offset + recording.prefetch[i].bytes;
    return offset >= end;
}

static enum nt_status read_recorded(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                    struct nt_error *error)
{
    ck_assert_uint_lt(recording.reads, MOST);
    recording.places[recording.reads++] = offset;
    recording.unexpected += !is_hinted(offset, bytes);
    enum nt_status status = nt_source_read(recording.inner, offset, buffer, bytes, error);
    if (recording.damaged_reads && status == NT_OK) {
        recording.damaged_reads--;
        *(uint8_t *)buffer ^= 1;
    }
    return status;
}

static void record_prefetches(struct nt_source *source, const struct nt_extent *extents, size_t count,
                              enum nt_prefetch_need need)
{
    recording.calls++;
    recording.calls_before_reads += recording.reads == 0;
    recording.calls_now += need != NT_PREFETCH_SOON;
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_lt(recording.prefetch_count, MOST);
        recording.prefetch[recording.prefetch_count++] = extents[i];
    }
}

static bool record_forgotten(struct nt_source *source, uint64_t offset, uint64_t bytes)
{
    recording.forgotten++;
    return true;
}

static uint64_t spare_bytes(struct nt_source *source, bool are_likely)
{
    return recording.spare;
}

static const struct nt_source_ops ops = {.read_at = read_recorded,
                                         .prefetch = record_prefetches,
                                         .spare_bytes = spare_bytes,
                                         .forget = record_forgotten};

static void record(struct builder *builder)
{
    recording = (struct recording){.inner = builder->dataset->sources[0]};
    recording.source =
        (struct nt_source){.ops = &ops, .size = recording.inner->size, .path = recording.inner->path};
    builder->dataset->sources[0] = &recording.source;
}

/* A field of ascending 32-bit numbers, in clusters of some pages each. */
static struct builder *counting_up(const struct nt_reader_options *options)
{
    struct builder *builder = builder_new();
    builder->checksum = NT_CHECKSUM_XXH3_64;
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    uint64_t values[PAGES * PAGE];
    for (uint32_t k = 0; k < CLUSTERS; k++) {
        add_cluster(builder, (uint64_t)k * PAGES * PAGE, PAGES * PAGE);
        for (uint32_t i = 0; i < PAGES * PAGE; i++)
            values[i] = k * PAGES * PAGE + i;
        add_elements(builder, k, column, values, PAGES * PAGE, PAGE);
    }
    finish(builder, options);
    record(builder);
    return builder;
}

static void done(struct builder *builder, struct nt_stream *stream)
{
    nt_stream_close(stream);
    builder->dataset->sources[0] = recording.inner;
    builder_free(builder);
}

static void read_elements(struct nt_stream *stream, uint64_t first, uint32_t count)
{
    struct nt_error error;
    int32_t values[ELEMENTS];
    assert_ok(nt_stream_read(stream, first * sizeof(*values), values, count * sizeof(*values), &error));
    for (uint32_t i = 0; i < count; i++)
        ck_assert_int_eq(values[i], (int32_t)(first + i));
}

TEST(a_sequential_reader_has_readahead)
{
    struct builder *builder = counting_up(NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    for (uint64_t first = 0; first < ELEMENTS; first += 64)
        read_elements(stream, first, 64);
    ck_assert_uint_eq(recording.prefetch_count, CLUSTERS * PAGES); /* each page once */
    ck_assert_uint_eq(recording.unexpected, 0);
    ck_assert_uint_gt(recording.reads, 0);
    for (size_t i = 1; i < recording.prefetch_count; i++)
        ck_assert_uint_gt(recording.prefetch[i].offset, recording.prefetch[i - 1].offset);
    done(builder, stream);
}

/* Does decoding ahead pay for a reader that decoded so many KiB in so many microseconds? */
static bool pays_after(struct nt_reader *reader, uint64_t kibibytes, uint64_t microseconds)
{
    reader->counters = (struct nt_counters){.decoded_bytes = kibibytes * 1024,
                                            .decompress_nanoseconds = microseconds * 1000};
    return nt_readahead_pays(reader);
}

TEST(decoding_ahead_begins_the_earlier_the_slower_decoding_is)
{
    struct builder *builder = counting_up(NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    ck_assert(!pays_after(stream->reader, 32, 400)); /* as first touches of memory take */
    ck_assert(!pays_after(stream->reader, 1024, 2000));
    ck_assert(pays_after(stream->reader, 1024, 4000));
    ck_assert(pays_after(stream->reader, 12 * 1024, 15000));
    ck_assert(!pays_after(stream->reader, 30 * 1024, 15000)); /* fast */
    done(builder, stream);
}

TEST(one_call_requests_all_of_its_range_first)
{
    struct nt_error error;
    int32_t values[ELEMENTS];
    struct builder *builder = counting_up(NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    assert_ok(nt_stream_read_elements(stream, PAGE, 4 * PAGE, values, &error));
    ck_assert_uint_eq(recording.prefetch_count, 4);
    ck_assert_uint_eq(recording.calls_now, recording.calls); /* a read of all waits for it */
    assert_ok(
        nt_stream_read_elements(stream, 5 * PAGE, 4 * PAGE, values, &error)); /* follows: the next, too */
    ck_assert_uint_eq(recording.prefetch_count, 12);
    ck_assert_uint_lt(recording.calls_now, recording.calls);
    ck_assert_uint_eq(recording.unexpected, 0);
    done(builder, stream);
}

TEST(one_value_requests_only_its_page)
{
    struct builder *builder = counting_up(NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    /* Near the start of a reading counts as following it: a small dataset is within that distance. */
    stream->access.expected_offset = UINT64_MAX / 2;
    read_elements(stream, 5 * PAGE + 7, 1);
    ck_assert_uint_eq(recording.prefetch_count, 1);
    ck_assert_uint_eq(recording.prefetch[0].bytes, PAGE * sizeof(int32_t) + sizeof(uint64_t));
    ck_assert_uint_eq(recording.unexpected, 0);
    done(builder, stream);
}

/* A random read requests all pages that it needs, and no more. */
static const struct {
    const char *what;
    unsigned first_byte, bytes, pages;
} alone[] = {{"a page", 5 * PAGE_BYTES, PAGE_BYTES, 1},
             {"the end of a page", 6 * PAGE_BYTES - 4, 4, 1},
             {"the last page", (CLUSTERS * PAGES - 1) * PAGE_BYTES, PAGE_BYTES, 1},
             {"as much as two pages, of three", 5 * PAGE_BYTES + PAGE_BYTES / 2, 2 * PAGE_BYTES, 3},
             {"from one cluster to the next", 8 * PAGE_BYTES + 4, PAGE_BYTES, 2},
             {"a part of an element behind a page", 5 * PAGE_BYTES + 1, PAGE_BYTES, 2}};

TEST(a_read_of_a_stream_prefetches_its_own_pages, .end = sizeof(alone) / sizeof(*alone))
{
    struct nt_error error;
    uint8_t bytes[3 * PAGE_BYTES];
    struct builder *builder = counting_up(NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    stream->access.expected_offset = UINT64_MAX / 2; /* see below */
    assert_ok(nt_stream_read(stream, alone[_i].first_byte, bytes, alone[_i].bytes, &error));
    ck_assert_msg(recording.prefetch_count == alone[_i].pages, "%s: %zu", alone[_i].what,
                  recording.prefetch_count);
    ck_assert_uint_eq(recording.calls, 1);
    ck_assert_uint_eq(recording.unexpected, 0);
    done(builder, stream);
}

TEST(a_read_of_a_column_prefetches_its_own_pages, .end = sizeof(alone) / sizeof(*alone))
{
    struct nt_error error;
    uint8_t bytes[3 * PAGE_BYTES];
    uint64_t elements, pages;
    struct builder *builder = counting_up(NULL);
    assert_ok(nt_column_size(builder->reader, builder->dataset, 0, &elements, &pages, &error)); /* queues: */
    struct nt_dataset_index *index = nt_dataset_index_get(builder->reader->indexes, builder->dataset);
    index->columns[0]->access.expected_offset = UINT64_MAX / 2;
    assert_ok(nt_column_read(builder->reader, builder->dataset, 0, alone[_i].first_byte, bytes,
                             alone[_i].bytes, &error));
    ck_assert_msg(recording.prefetch_count == alone[_i].pages, "%s: %zu", alone[_i].what,
                  recording.prefetch_count);
    ck_assert_uint_eq(recording.calls, 1);
    ck_assert_uint_eq(recording.unexpected, 0);
    done(builder, NULL);
}

TEST(a_stream_with_a_prefetcher_does_not_prefetch)
{
    struct nt_prefetch prefetch = {.count = 0};
    struct builder *builder = counting_up(NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    nt_stream_prefetch_exclusive(stream, &prefetch, 0, 4 * PAGE);
    nt_prefetch_submit(&prefetch);
    ck_assert_uint_eq(recording.prefetch_count, 4);
    for (uint64_t first = 0; first < 4 * PAGE; first += 64)
        read_elements(stream, first, 64);
    ck_assert_uint_eq(recording.prefetch_count, 4);
    ck_assert_uint_eq(recording.unexpected, 0);
    read_elements(stream, 4 * PAGE, 1); /* that were not announced to it */
    ck_assert_uint_eq(recording.prefetch_count, 5);
    done(builder, stream);
}

enum { COLUMNS = 2, LARGE_CLUSTERS = 8, LARGE = 1 << 19, LARGE_PAGE = 1 << 17 };
enum { PAGES_OF_COLUMN = LARGE_CLUSTERS * LARGE / LARGE_PAGE };

/* Fields of 64-bit numbers, 32 MiB each. */
static struct builder *large_columns(uint32_t clusters)
{
    struct builder *builder = builder_new();
    uint32_t columns[COLUMNS], large = LARGE_CLUSTERS * LARGE / clusters;
    uint64_t *values = malloc(large * sizeof(*values));
    ck_assert_ptr_nonnull(values);
    for (uint32_t c = 0; c < COLUMNS; c++)
        columns[c] = add_column(builder, add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT64),
                                NT_ENCODING_INT64, 0);
    for (uint32_t k = 0; k < clusters; k++) {
        add_cluster(builder, (uint64_t)k * large, large);
        for (uint32_t c = 0; c < COLUMNS; c++) {
            for (uint64_t i = 0; i < large; i++)
                values[i] = ((uint64_t)k * large + i) * (c + 1);
            add_elements(builder, k, columns[c], values, large, LARGE_PAGE);
        }
    }
    free(values);
    finish(builder, NULL);
    record(builder);
    return builder;
}

/* The number of reads before the one at an offset. */
static unsigned reads_before(uint64_t offset)
{
    unsigned count = 0;
    while (count < recording.reads && recording.places[count] != offset)
        count++;
    return count;
}

/* Reads all of the columns by one call, and checks their values. */
static void read_columns(struct builder *builder)
{
    struct nt_error error;
    struct nt_stream *streams[COLUMNS];
    struct nt_stream_range ranges[COLUMNS];
    for (uint32_t c = 0; c < COLUMNS; c++) {
        streams[c] = open_stream(builder, c, NT_STREAM_DATA);
        uint64_t count = nt_stream_elements(streams[c]);
        ranges[c] = (struct nt_stream_range){streams[c], 0, count, malloc(count * sizeof(int64_t))};
        ck_assert_ptr_nonnull(ranges[c].output);
    }
    assert_ok(nt_streams_read_elements(ranges, COLUMNS, &error));
    ck_assert_uint_eq(recording.unexpected, 0);
    ck_assert_uint_eq(recording.prefetch_count, COLUMNS * PAGES_OF_COLUMN); /* each page once */
    for (uint32_t c = 0; c < COLUMNS; c++) {
        const int64_t *values = ranges[c].output;
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < ranges[c].count; i++)
            wrong += values[i] != (int64_t)(i * (c + 1));
        ck_assert_uint_eq(wrong, 0);
        free(ranges[c].output);
        nt_stream_close(streams[c]);
    }
}

/* Adjacent pages of several clusters are prefetched in one call; the ones to be read next come before
 * the first reads. */
TEST(columns_that_are_read_together_are_read_by_clusters)
{
    struct builder *builder = large_columns(LARGE_CLUSTERS);
    read_columns(builder);
    ck_assert_uint_eq(recording.calls, 5);
    ck_assert_uint_eq(recording.calls_now, 5);
    ck_assert_uint_ge(recording.calls_before_reads, 2);
    const struct nt_page *pages = builder->pages[0]; /* of one column and the other, cluster by cluster */
    enum { PAGES_OF_CLUSTER = COLUMNS * LARGE / LARGE_PAGE };
    ck_assert_uint_lt(reads_before(pages[LARGE / LARGE_PAGE].offset),
                      reads_before(pages[(LARGE_CLUSTERS - 1) * PAGES_OF_CLUSTER].offset));
    done(builder, NULL);
}

static bool plan_nothing(struct nt_dataset *dataset, struct nt_groups groups, bool with_pages,
                         struct nt_prefetch *prefetch)
{
    return false;
}

/* The pages of a column are adjacent if the format plans page lists and pages together. Else those of all
 * columns may be, as the baskets of a TTree are. */
TEST(columns_of_one_cluster_are_read_one_after_the_other, .end = 2)
{
    struct builder *builder = large_columns(1);
    struct nt_dataset_ops planning = *builder->dataset->ops;
    planning.plan_groups = _i ? plan_nothing : NULL;
    builder->dataset->ops = &planning;
    read_columns(builder);
    const struct nt_page *pages = builder->pages[0]; /* of one column, then of the other */
    bool is_after =
        reads_before(pages[PAGES_OF_COLUMN].offset) > reads_before(pages[PAGES_OF_COLUMN - 1].offset);
    ck_assert_uint_eq(is_after, _i);
    done(builder, NULL);
}

TEST(what_is_in_the_cache_is_not_requested)
{
    struct builder *builder = counting_up(NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    for (uint64_t first = 0; first < ELEMENTS; first += 64)
        read_elements(stream, first, 64);
    nt_stream_close(stream);
    recording.prefetch_count = recording.reads = 0;
    stream = open_stream(builder, 0, NT_STREAM_DATA);
    read_elements(stream, 0, ELEMENTS);
    ck_assert_uint_eq(recording.reads, 0);
    ck_assert_uint_eq(recording.prefetch_count, 0);
    done(builder, stream);
}

TEST(pages_without_bytes_in_the_file_are_not_requested)
{
    enum { COPIES = 5 }; /* more than one prefetch announces */
    struct builder *builder = counting_up(NULL);
    uint32_t count = builder->page_count[0];
    struct nt_page *pages = malloc(COPIES * count * sizeof(*pages));
    for (uint32_t i = 0; i < COPIES * count; i++) {
        pages[i] = builder->pages[0][i % count];
        pages[i].is_missing = i % count == 1;
        if (i % count == 2)
            pages[i].compression = NT_COMPRESSION_ELSEWHERE;
    }
    nt_prefetch_pages(builder->reader, builder->dataset, pages, COPIES * count);
    ck_assert_uint_eq(recording.prefetch_count, COPIES * (count - 2));
    for (uint32_t i = 0; i < recording.prefetch_count; i++)
        ck_assert(recording.prefetch[i].offset != pages[1].offset &&
                  recording.prefetch[i].offset != pages[2].offset);
    builder->dataset->sources[0] = recording.inner; /* has no prefetch */
    nt_prefetch_pages(builder->reader, builder->dataset, pages, COPIES * count);
    free(pages);
    builder_free(builder);
}

TEST(a_page_that_comes_damaged_is_fetched_once_more)
{
    struct builder *builder = counting_up(NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    recording.damaged_reads = 1;
    read_elements(stream, 0, 1);
    ck_assert_uint_eq(recording.forgotten, 1);
    ck_assert_uint_eq(recording.reads, 2);
    done(builder, stream);
}

TEST(a_page_that_comes_damaged_twice_is_damaged)
{
    struct nt_error error = {0};
    int32_t value;
    struct builder *builder = counting_up(NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    recording.damaged_reads = 10;
    assert_status(NT_CHECKSUM, nt_stream_read(stream, 0, &value, sizeof(value), &error));
    ck_assert_uint_eq(recording.reads, 2);
    done(builder, stream);
}

/* ---- Across fields ---- */

enum { FIELDS = 48, FIELD_BYTES = PAGE_BYTES + sizeof(uint64_t) };

/* Fields of one page each, one after the other in the file. */
static struct builder *many_fields(uint64_t spare)
{
    uint64_t values[PAGE] = {0};
    struct builder *builder = builder_new();
    builder->checksum = NT_CHECKSUM_XXH3_64;
    add_cluster(builder, 0, PAGE);
    for (uint32_t i = 0; i < FIELDS; i++) {
        uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
        add_elements(builder, 0, add_column(builder, field, NT_ENCODING_INT32, 0), values, PAGE, PAGE);
    }
    finish(builder, NULL);
    record(builder);
    recording.spare = spare;
    return builder;
}

/* Reads all of a field, as the tree does. Returns how many prefetched pages that adds. */
static size_t read_field(struct builder *builder, uint32_t field)
{
    struct nt_error error;
    int32_t values[PAGE];
    struct nt_stream *stream = open_stream(builder, field, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 0, values, sizeof(values), &error));
    nt_stream_close(stream);
    size_t before = recording.prefetch_count;
    nt_field_was_read(builder->reader, builder->dataset, field, sizeof(values));
    return recording.prefetch_count - before;
}

TEST(fields_that_are_read_in_order_have_the_next_ones_requested)
{
    struct builder *builder = many_fields(UINT64_MAX);
    size_t ahead = 0;
    for (uint32_t field = 0; field < 3; field++)
        ck_assert_uint_eq(read_field(builder, field), 0);
    ck_assert_uint_eq(read_field(builder, 3), 8); /* 4 to 11 */
    for (uint32_t field = 4; field < 8; field++)
        ck_assert_uint_eq(read_field(builder, field), 0);
    ck_assert_uint_eq(read_field(builder, 8), 16); /* 12 to 27 */
    for (uint32_t field = 9; field < FIELDS; field++)
        ahead += read_field(builder, field);
    ck_assert_uint_eq(ahead, FIELDS - 28); /* each once */
    done(builder, NULL);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void pass_gate(const struct nt_worker_job *job)
{
    (void)job;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

/* What the next ones need may have to be awaited. */
TEST(a_worker_requests_the_next_fields)
{
    const struct nt_worker_job job = {.run = pass_gate};
    struct builder *builder = many_fields(UINT64_MAX);
    struct nt_workers *none = builder->reader->workers;
    ck_assert_ptr_nonnull(builder->reader->workers = nt_workers_new(1));
    pthread_mutex_lock(&gate);
    ck_assert(nt_workers_queue(builder->reader->workers, &job));
    for (uint32_t field = 0; field < 4; field++)
        ck_assert_uint_eq(read_field(builder, field), 0);
    size_t before = recording.prefetch_count;
    pthread_mutex_unlock(&gate);
    while (!nt_workers_idle(builder->reader->workers))
        ;
    ck_assert_uint_eq(recording.prefetch_count - before, 8);
    nt_workers_free(builder->reader->workers);
    builder->reader->workers = none;
    done(builder, NULL);
}

TEST(what_is_requested_across_fields_has_a_bound)
{
    struct builder *builder = many_fields(3 * FIELD_BYTES);
    for (uint32_t field = 0; field < 3; field++)
        ck_assert_uint_eq(read_field(builder, field), 0);
    ck_assert_uint_eq(read_field(builder, 3), 3);
    done(builder, NULL);
}

TEST(fields_that_are_far_apart_request_nothing)
{
    struct builder *builder = many_fields(UINT64_MAX);
    for (uint32_t field = 0; field < FIELDS; field += 9)
        ck_assert_uint_eq(read_field(builder, field), 0);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_uint_eq(read_field(builder, 20), 0); /* the same one again */
    done(builder, NULL);
}

/* Their streams would first have to read which items are selected. */
TEST(fields_of_a_selection_request_nothing)
{
    struct nt_error error;
    uint64_t ends[PAGE], items[PAGE] = {0};
    struct builder *builder = builder_new();
    add_cluster(builder, 0, PAGE);
    for (uint32_t i = 0; i < PAGE; i++)
        ends[i] = i + 1;
    for (uint32_t i = 0; i < FIELDS / 4; i++) {
        struct vector vector = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
        add_elements(builder, 0, vector.index, ends, PAGE, PAGE);
        add_elements(builder, 0, vector.values, items, PAGE, PAGE);
    }
    finish(builder, NULL);
    assert_ok(nt_dataset_select(builder->dataset, &(struct nt_entry_range){1, 2}, 1, &error));
    record(builder);
    recording.spare = UINT64_MAX;
    for (uint32_t field = 0; field < 6; field++)
        nt_field_was_read(builder->reader, builder->dataset, field, PAGE_BYTES);
    ck_assert_uint_eq(recording.reads, 0);
    ck_assert_uint_eq(recording.prefetch_count, 0);
    done(builder, NULL);
}
