/* SPDX-License-Identifier: MIT
 *
 * Small reads in large pages: which blocks are decoded, how often, and that the result is the same.
 */
#include <pthread.h>
#include <string.h>

#include <blosc.h>

#include "dataset_builder.h"
#include "support.h"

/* Pages of 500,000 bytes in 31 blocks, the last of them short. */
enum { ELEMENTS = 62500, PAGES = 3, PAGE_BYTES = 8 * ELEMENTS, BLOCK_BYTES = 16384, READ_BYTES = 4096 };
#define COLUMN_BYTES ((size_t)PAGES * PAGE_BYTES)

static struct nt_error error;
static uint64_t values[PAGES * ELEMENTS]; /* they compress, but not to nothing */
static const uint8_t *const expected = (const uint8_t *)values;

static void fill_values(void)
{
    for (uint64_t i = 0; i < PAGES * ELEMENTS; i++)
        values[i] = i * i % 100003 + (i << 20);
}

/* Replaces the plain page of the builder with a chunk after everything else. */
static void write_chunk(struct builder *builder, struct nt_page *page, const void *plain, size_t bytes)
{
    static uint8_t chunk[PAGE_BYTES + BLOSC_MAX_OVERHEAD];
    uint8_t digest[64];
    int made =
        blosc_compress_ctx(5, BLOSC_SHUFFLE, 8, bytes, plain, chunk, sizeof(chunk), "zstd", BLOCK_BYTES, 1);
    ck_assert_int_gt(made, 0);
    ck_assert_int_lt(made, (int)bytes / 2);
    page->offset = builder->bytes.length;
    page->stored_bytes = (uint64_t)made;
    page->compression = NT_COMPRESSION_BLOSC_WHOLE;
    nt_buffer_append(&builder->bytes, chunk, (size_t)made);
    if (page->checksum == NT_CHECKSUM_NONE)
        return;
    nt_checksum_info((enum nt_checksum_kind)page->checksum)->compute(chunk, (size_t)made, digest);
    nt_buffer_append(&builder->bytes, digest, nt_checksum_info((enum nt_checksum_kind)page->checksum)->bytes);
}

static struct builder *chunks(enum nt_encoding_kind encoding, enum nt_checksum_kind checksum,
                              uint32_t page_elements, const struct nt_reader_options *options)
{
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_UINT64);
    uint32_t column = add_column(builder, field, encoding, 0);
    fill_values();
    builder->checksum = checksum;
    add_cluster(builder, 0, PAGES * ELEMENTS);
    add_elements(builder, 0, column, values, PAGES * ELEMENTS, page_elements);
    for (uint32_t i = 0; i < builder->page_count[0]; i++) {
        struct nt_page *page = &builder->pages[0][i];
        const uint8_t *plain = (const uint8_t *)builder->bytes.bytes + page->offset;
        uint8_t *copy = malloc(page->elements * sizeof(*values));
        memcpy(copy, plain, page->elements * sizeof(*values)); /* writing moves its source */
        write_chunk(builder, page, copy, page->elements * sizeof(*values));
        free(copy);
    }
    finish(builder, options);
    return builder;
}

static struct builder *plain_chunks(void)
{
    return chunks(NT_ENCODING_UINT64, NT_CHECKSUM_NONE, ELEMENTS, NULL);
}

static struct nt_counters counters_of(const struct builder *builder)
{
    struct nt_counters counters;
    nt_counters_read(builder->reader, &counters);
    return counters;
}

/* A read of the physical column, or of the field's stream. */
static enum nt_status read_range(struct builder *builder, struct nt_stream *stream, size_t offset,
                                 size_t bytes)
{
    uint8_t *output = malloc(bytes);
    error = (struct nt_error){0};
    enum nt_status status =
        stream ? nt_stream_read(stream, offset, output, bytes, &error)
               : nt_column_read(builder->reader, builder->dataset, 0, offset, output, bytes, &error);
    if (status == NT_OK)
        ck_assert_mem_eq(output, expected + offset, bytes);
    free(output);
    return status;
}

static struct nt_stream *open_stream(struct builder *builder)
{
    struct nt_stream *stream;
    assert_ok(nt_stream_open(builder->reader, builder->dataset, 0, NT_STREAM_DATA, &stream, &error));
    return stream;
}

/* ---- which blocks ---- */

TEST(a_small_read_decodes_the_blocks_that_it_touches_and_each_once, .end = 2)
{
    struct builder *builder = plain_chunks();
    struct nt_stream *stream = _i ? open_stream(builder) : NULL;
    static const struct {
        size_t offset;
        unsigned blocks; /* already decoded */
    } reads[] = {
        {PAGE_BYTES + 5 * BLOCK_BYTES + 100, 1},       /* within a block */
        {3 * BLOCK_BYTES - READ_BYTES / 2, 3},         /* across two */
        {PAGE_BYTES + 5 * BLOCK_BYTES + 8000, 3},      /* a block in the cache */
        {2 * PAGE_BYTES - READ_BYTES, 4},              /* the last, short one */
        {2 * BLOCK_BYTES, 4},                          /* one of the two */
        {2 * PAGE_BYTES + 30 * BLOCK_BYTES + 1000, 5}, /* another page */
        {2 * PAGE_BYTES - READ_BYTES / 2, 6},          /* across two pages, one of them new */
    };
    for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++) {
        ck_assert_int_eq(read_range(builder, stream, reads[i].offset, READ_BYTES), NT_OK);
        ck_assert_uint_eq(counters_of(builder).blocks_decoded, reads[i].blocks);
    }
    struct nt_counters counters = counters_of(builder);
    size_t stored = 0;
    for (uint32_t i = 0; i < PAGES; i++)
        stored += builder->pages[0][i].stored_bytes;
    ck_assert_uint_eq(counters.pages_decoded, 0);
    ck_assert_uint_eq(counters.decoded_bytes, 4 * BLOCK_BYTES + 2 * (PAGE_BYTES % BLOCK_BYTES));
    ck_assert_uint_eq(counters.stored_bytes, stored);
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(reading_from_front_to_back_decodes_whole_pages, .end = 2)
{
    struct builder *builder = plain_chunks();
    struct nt_stream *stream = _i ? open_stream(builder) : NULL;
    for (size_t offset = 0; offset < COLUMN_BYTES; offset += READ_BYTES) {
        size_t left = COLUMN_BYTES - offset;
        ck_assert_int_eq(read_range(builder, stream, offset, left < READ_BYTES ? left : READ_BYTES), NT_OK);
    }
    ck_assert_uint_eq(counters_of(builder).blocks_decoded, 0);
    ck_assert_uint_eq(counters_of(builder).pages_decoded, PAGES);
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(where_most_of_a_page_is_requested_or_it_is_there_the_page_is_used, .end = 2)
{
    struct builder *builder = plain_chunks();
    struct nt_stream *stream = _i ? open_stream(builder) : NULL;
    ck_assert_int_eq(read_range(builder, stream, PAGE_BYTES + 50000, PAGE_BYTES / 2), NT_OK);
    ck_assert_uint_eq(counters_of(builder).pages_decoded, 1);
    ck_assert_int_eq(read_range(builder, stream, PAGE_BYTES + 1000, READ_BYTES), NT_OK);
    ck_assert_uint_eq(counters_of(builder).blocks_decoded, 0);
    ck_assert_uint_eq(counters_of(builder).pages_decoded, 1);
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(small_pages_and_other_encodings_have_no_blocks)
{
    static const struct {
        enum nt_encoding_kind encoding;
        uint32_t page_elements;
    } kinds[] = {{NT_ENCODING_UINT64, 8000}, {NT_ENCODING_SPLIT_UINT64, ELEMENTS}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct builder *builder = chunks(kinds[i].encoding, NT_CHECKSUM_NONE, kinds[i].page_elements, NULL);
        ck_assert_int_eq(read_range(builder, NULL, PAGE_BYTES + 50000, READ_BYTES), NT_OK);
        ck_assert_uint_eq(counters_of(builder).blocks_decoded, 0);
        ck_assert_uint_eq(counters_of(builder).pages_decoded, 1);
        builder_free(builder);
    }
}

/* Converted elements differ from the packed bytes; the blocks are the same. */
TEST(values_of_another_type_are_made_from_blocks_too)
{
    struct builder *builder = plain_chunks();
    double values_read[512];
    builder->fields[0].dtype = nt_element_dtype(NT_ELEMENT_REAL64);
    struct nt_stream *stream = open_stream(builder);
    assert_ok(nt_stream_read(stream, PAGE_BYTES + 8 * 1000, values_read, sizeof(values_read), &error));
    for (size_t i = 0; i < 512; i++)
        ck_assert_double_eq(values_read[i], (double)values[ELEMENTS + 1000 + i]);
    ck_assert_uint_eq(counters_of(builder).blocks_decoded, 1);
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(any_ranges_give_the_bytes_of_the_column_whatever_the_cache_keeps, .end = 3)
{
    static const uint64_t caches[] = {1, 40000, 0};
    struct builder *builder = chunks(NT_ENCODING_UINT64, NT_CHECKSUM_ADLER32, ELEMENTS,
                                     &(struct nt_reader_options){.cache_bytes = caches[_i]});
    struct nt_stream *stream = open_stream(builder);
    uint32_t state = 1;
    for (unsigned i = 0; i < 400; i++) {
        state = state * 1664525u + 1013904223u;
        size_t bytes = 1 + (state >> 8) % (i % 8 ? 9000 : 300000);
        state = state * 1664525u + 1013904223u;
        size_t offset = (state >> 4) % (COLUMN_BYTES - bytes);
        ck_assert_int_eq(read_range(builder, i % 2 ? stream : NULL, offset, bytes), NT_OK);
    }
    ck_assert_uint_gt(counters_of(builder).blocks_decoded, 10);
    nt_stream_close(stream);
    builder_free(builder);
}

/* ---- threads ---- */

enum { THREADS = 4, READS = 300 };

struct scattered_reads {
    struct nt_stream *stream;
    uint32_t seed;
    unsigned wrong;
};

/* At scattered offsets; all threads together reach each block several times. */
static void *read_scattered(void *argument)
{
    struct scattered_reads *reads = argument;
    uint8_t output[READ_BYTES];
    uint32_t state = reads->seed;
    for (unsigned i = 0; i < READS; i++) {
        state = state * 1664525u + 1013904223u;
        size_t offset = (state >> 4) % (COLUMN_BYTES - READ_BYTES);
        if (nt_stream_read(reads->stream, offset, output, READ_BYTES, NULL) != NT_OK ||
            memcmp(output, expected + offset, READ_BYTES))
            reads->wrong++;
    }
    return NULL;
}

TEST(threads_decode_each_block_once)
{
    struct builder *builder = plain_chunks();
    struct nt_stream *stream = open_stream(builder);
    pthread_t threads[THREADS];
    struct scattered_reads reads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        reads[i] = (struct scattered_reads){.stream = stream, .seed = i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_scattered, &reads[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(reads[i].wrong, 0);
    }
    struct nt_counters counters = counters_of(builder);
    ck_assert_uint_gt(counters.blocks_decoded, 10);
    ck_assert_uint_le(counters.blocks_decoded, PAGES * (PAGE_BYTES / BLOCK_BYTES + 1));
    ck_assert_uint_le(counters.pages_decoded, PAGES);
    nt_stream_close(stream);
    builder_free(builder);
}

/* ---- damage ---- */

static unsigned failures_reported;

static void report(void *context, const struct nt_dataset *dataset, uint32_t column,
                   const struct nt_page *page, const struct nt_error *failure)
{
    failures_reported++;
}

static struct builder *damaged_chunks(enum nt_checksum_kind checksum, unsigned block)
{
    static const struct nt_reader_options options = {.on_failure = report, .failure_seconds = 100};
    struct builder *builder = chunks(NT_ENCODING_UINT64, checksum, ELEMENTS, &options);
    memset(builder->bytes.bytes + builder->pages[0][1].offset + 16 + 4 * block, 0xFF, 4);
    failures_reported = 0;
    return builder;
}

TEST(a_damaged_block_fails_and_the_others_of_its_page_do_not)
{
    struct builder *builder = damaged_chunks(NT_CHECKSUM_NONE, 7);
    for (size_t round = 0; round < 2; round++)
        for (size_t block = 2; block < 30; block += 5) {
            enum nt_status status = read_range(builder, NULL, PAGE_BYTES + block * BLOCK_BYTES, READ_BYTES);
            ck_assert_int_eq(status, block == 7 ? NT_CORRUPT : NT_OK);
            if (block == 7)
                ck_assert_ptr_nonnull(strstr(error.message, "page 1 of cluster 0"));
        }
    ck_assert_uint_eq(failures_reported, 1);
    ck_assert_uint_eq(counters_of(builder).failures, 1);
    ck_assert_uint_eq(counters_of(builder).blocks_decoded, 5);
    builder_free(builder);
}

TEST(a_digest_covers_the_blocks_that_are_not_requested)
{
    struct builder *builder = damaged_chunks(NT_CHECKSUM_ADLER32, 7);
    for (size_t block = 2; block < 30; block += 5)
        ck_assert_int_eq(read_range(builder, NULL, PAGE_BYTES + block * BLOCK_BYTES, READ_BYTES),
                         NT_CHECKSUM);
    ck_assert_uint_eq(failures_reported, 1);
    ck_assert_uint_eq(counters_of(builder).blocks_decoded, 0);
    ck_assert_int_eq(read_range(builder, NULL, 2 * PAGE_BYTES + 50000, READ_BYTES), NT_OK);
    ck_assert_uint_eq(counters_of(builder).blocks_decoded, 1);
    builder_free(builder);
}

TEST(a_chunk_that_is_cut_short_is_an_error)
{
    struct builder *builder = plain_chunks();
    builder->pages[0][2].stored_bytes += 10; /* the last one: it ends with the file */
    ck_assert_int_eq(read_range(builder, NULL, 2 * PAGE_BYTES + 50000, READ_BYTES), NT_TRUNCATED);
    ck_assert_int_eq(read_range(builder, NULL, PAGE_BYTES + 50000, READ_BYTES), NT_OK);
    builder_free(builder);
}
