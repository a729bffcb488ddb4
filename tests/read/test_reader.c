/* SPDX-License-Identifier: MIT
 *
 * Readers with the options of older and newer callers, and invalid requests.
 */
#include <stdio.h>
#include <string.h>

#include "dataset_builder.h"
#include "opened_stream.h"
#include "read/read.h"
#include "support.h"
#include "core/base/error.h"
#include "core/codec/codec.h"
#include "core/model/model.h"

static struct nt_error error;

struct newer {
    struct nt_reader_options options;
    uint64_t unknown;
};

static enum nt_status open_with(const struct newer *newer, struct nt_reader **reader_ret)
{
    *reader_ret = NULL;
    return nt_reader_new(&newer->options, reader_ret, &error);
}

TEST(an_older_caller_gets_defaults_for_newer_members)
{
    struct newer from = {.options = {.cache_bytes = 12345, .threads = 2, .failure_seconds = 77}};
    struct nt_reader *reader;
    from.options.struct_bytes = offsetof(struct nt_reader_options, threads);
    assert_ok(open_with(&from, &reader));
    ck_assert_uint_eq(reader->options.cache_bytes, 12345);
    ck_assert_uint_eq(reader->options.threads, 0);
    ck_assert_uint_eq(reader->options.failure_seconds, 10);
    nt_reader_free(reader);
}

TEST(a_newer_caller_may_not_set_unknown_members)
{
    struct newer from = {.options = NT_READER_OPTIONS_INIT};
    struct nt_reader *reader;
    from.options.struct_bytes = sizeof(from);
    from.options.failure_seconds = 77;
    assert_ok(open_with(&from, &reader));
    ck_assert_uint_eq(reader->options.failure_seconds, 77);
    nt_reader_free(reader);
    from.unknown = 1;
    assert_status(NT_INVALID, open_with(&from, &reader));
    ck_assert_ptr_null(reader);
    from.options.struct_bytes = 0;
    assert_status(NT_INVALID, open_with(&from, &reader));
}

/* ---- slow work ---- */

static void count_call(void *context)
{
    ++*(unsigned *)context;
}

/* Memory to decode a page of 1 MiB: stored and packed bytes, on huge pages, and the decompressor's own.
 * A thread without space would wait here forever. */
TEST(the_caller_and_all_workers_decode_at_once, .end = 3)
{
    static const unsigned threads[] = {1, 2, 7};
    const uint64_t page = 3 << 20;
    struct nt_borrowed_context loans[8];
    struct nt_reader *reader;
    struct nt_reader_options options = NT_READER_OPTIONS_INIT;
    options.threads = threads[_i];
    assert_ok(nt_reader_new(&options, &reader, &error));
    for (unsigned i = 0; i <= threads[_i]; i++)
        assert_ok(nt_scratch_pool_borrow(reader->scratch_pool, page, &loans[i], &error));
    for (unsigned i = 0; i <= threads[_i]; i++)
        nt_scratch_pool_return(reader->scratch_pool, &loans[i]);
    nt_reader_free(reader);
}

TEST(pages_that_take_long_are_reported_before_they_are_loaded)
{
    enum { PAGE_ELEMENTS = 8 * 1024, PAGES = 3 }; /* pages of 32 KiB, and of 4 bytes less */
    unsigned calls = 0;
    struct nt_reader_options options = NT_READER_OPTIONS_INIT;
    struct builder *builder = builder_new();
    uint64_t *values = calloc((size_t)PAGE_ELEMENTS * PAGES, sizeof(*values));
    uint8_t byte;
    for (uint32_t i = 0; i < 2; i++)
        add_column(builder, add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32), NT_ENCODING_INT32,
                   0);
    add_cluster(builder, 0, (uint64_t)PAGES * (PAGE_ELEMENTS - 1));
    for (uint32_t i = 0; i < 2; i++)
        add_elements(builder, 0, i, values, PAGES * (PAGE_ELEMENTS - 1), PAGE_ELEMENTS - i);
    options.before_blocking = count_call;
    options.context = &calls;
    finish(builder, &options);
    for (uint32_t i = 0; i < 2; i++) {
        struct nt_stream *stream = open_stream(builder, i, NT_STREAM_DATA);
        for (int times = 0; times < 2; times++)
            assert_ok(nt_stream_read(stream, 0, &byte, 1, &error));
        nt_stream_close(stream);
        ck_assert_uint_eq(calls, 1); /* for the first column, and not if the page is cached */
    }
    free(values);
    builder_free(builder);
}

/* ---- counters ---- */

TEST(each_counter_has_a_name_of_its_own_and_counts)
{
    struct nt_reader *reader;
    const char *name, *other;
    uint64_t value;
    uint32_t count = 0;
    assert_ok(nt_reader_new(NULL, &reader, &error));
    uint64_t *counters = (uint64_t *)&reader->counters, *algorithms = (uint64_t *)reader->algorithms;
    for (size_t i = 0; i < sizeof(reader->counters) / sizeof(uint64_t); i++)
        counters[i] = 1000 + i;
    for (size_t i = 0; i < (size_t)4 * NT_ALGORITHM_COUNT; i++)
        algorithms[i] = 2000 + i;
    uint64_t sum = 0;
    for (; nt_reader_counter(reader, count, &name, &value); count++) {
        sum += value;
        for (uint32_t before = 0; before < count; before++) {
            uint64_t other_value;
            ck_assert(nt_reader_counter(reader, before, &other, &other_value));
            ck_assert_str_ne(name, other);
            ck_assert_uint_ne(value, other_value);
        }
    }
    ck_assert_uint_eq(count, 22 + 4 * NT_ALGORITHM_COUNT);
    ck_assert(!nt_reader_counter(reader, UINT32_MAX, &name, &value));
    ck_assert_uint_gt(sum, 0);
    nt_reader_free(reader);
}

/* "codec_old_zlib_pages": names of algorithms have hyphens, counters have none. */
TEST(each_algorithm_s_counters_have_its_name)
{
    static const char *const members[] = {"pages", "stored_bytes", "packed_bytes", "nanoseconds"};
    struct nt_reader *reader;
    assert_ok(nt_reader_new(NULL, &reader, &error));
    uint64_t *algorithms = (uint64_t *)reader->algorithms, value;
    const char *found;
    for (uint32_t i = 0; i < 4 * NT_ALGORITHM_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof(name), "codec_%s_%s", nt_algorithm_name((enum nt_algorithm)(i / 4)),
                 members[i % 4]);
        for (char *at = name; *at; at++)
            *at = *at == '-' ? '_' : *at;
        algorithms[i] = 1;
        uint32_t number = 0;
        while (nt_reader_counter(reader, number, &found, &value) && strcmp(found, name))
            number++;
        ck_assert_str_eq(found, name);
        ck_assert_uint_eq(value, 1);
        algorithms[i] = 0;
    }
    nt_reader_free(reader);
}

/* ---- numbers that there are not ---- */

static void assert_refused(enum nt_status expected, struct nt_reader *reader, struct nt_dataset *dataset,
                           uint32_t field, enum nt_stream_kind kind)
{
    struct nt_stream *stream;
    uint64_t number;
    assert_status(expected, nt_stream_open(reader, dataset, field, kind, &stream, &error));
    assert_status(expected, nt_field_stream_elements(reader, dataset, field, kind, &number, &error));
}

TEST(what_is_not_there_cannot_be_opened)
{
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_UINT64);
    uint64_t number, pages;
    add_column(builder, field, NT_ENCODING_UINT64, 0);
    finish(builder, NULL);
    struct nt_dataset *dataset = builder->dataset;
    assert_refused(NT_INVALID, builder->reader, dataset, 1, NT_STREAM_DATA);
    assert_refused(NT_INVALID, builder->reader, dataset, NT_NONE, NT_STREAM_DATA);
    assert_refused(NT_INVALID, builder->reader, dataset, field, NT_STREAM_COUNT);
    assert_refused(NT_INVALID, builder->reader, dataset, field, (enum nt_stream_kind) - 1);
    assert_refused(NT_NOT_FOUND, builder->reader, dataset, field, NT_STREAM_TAGS);
    assert_status(NT_INVALID, nt_field_rows(builder->reader, dataset, 1, &number, &error));
    assert_status(NT_INVALID, nt_column_size(builder->reader, dataset, 1, &number, &pages, &error));
    builder_free(builder);
}

TEST(a_dataset_that_did_not_open_gives_its_failure)
{
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_UINT64);
    uint64_t number, pages;
    add_column(builder, field, NT_ENCODING_UINT64, 0);
    finish(builder, NULL);
    struct nt_error failure;
    nt_fail(&failure, NT_CHECKSUM, NT_NO_OFFSET, "the footer");
    assert_ok(nt_dataset_set_failure(builder->dataset, &failure, &error));
    assert_refused(NT_CHECKSUM, builder->reader, builder->dataset, field, NT_STREAM_DATA);
    assert_status(NT_CHECKSUM, nt_field_rows(builder->reader, builder->dataset, field, &number, &error));
    assert_status(NT_CHECKSUM, nt_column_size(builder->reader, builder->dataset, 0, &number, &pages, &error));
    ck_assert_str_eq(error.message, "the footer");
    builder_free(builder);
}
