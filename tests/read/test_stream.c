/* SPDX-License-Identifier: MIT
 *
 * Streams compared with the reference, on datasets of every shape.
 */
#include <string.h>

#include "opened_stream.h"
#include "read/page.h"
#include "read/read.h"
#include "random_dataset.h"
#include "reference.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/base/sanitizer.h"
#include "core/codec/codec.h"

enum { SEEDS = 60 };
/* With sanitizers, reads begin at one of so many offsets: at each byte of elements of 2, 4 and 8 bytes. */
enum { OFFSETS_APART = NT_IS_SANITIZED ? 3 : 1 };

static bool has_stream(const struct builder *builder, uint32_t field, enum nt_stream_kind kind)
{
    return nt_field_has_stream(&builder->fields[field], kind);
}

/* Called for each stream of a dataset with its expected values. */
typedef void check_stream(struct builder *builder, uint32_t field, enum nt_stream_kind kind,
                          const struct nt_buffer *expected);

static void for_each_stream(struct builder *builder, check_stream *check)
{
    for (uint32_t field = 0; field < builder->field_count; field++)
        for (enum nt_stream_kind kind = 0; kind < NT_STREAM_COUNT; kind++) {
            if (!has_stream(builder, field, kind))
                continue;
            struct nt_buffer expected = {0};
            reference_stream(builder, field, kind, &expected);
            check(builder, field, kind, &expected);
            nt_buffer_deinit(&expected);
        }
}

static void check_bytes(struct nt_stream *stream, const struct nt_buffer *expected, size_t offset,
                        size_t bytes)
{
    struct nt_error error;
    char *got = malloc(bytes + 1);
    memset(got, 0xEE, bytes + 1);
    assert_ok(nt_stream_read(stream, offset, got, bytes, &error));
    ck_assert_msg(!bytes || !memcmp(got, expected->bytes + offset, bytes), "bytes %zu to %zu differ", offset,
                  offset + bytes);
    free(got);
}

static void check_whole(struct builder *builder, uint32_t field, enum nt_stream_kind kind,
                        const struct nt_buffer *expected)
{
    struct nt_stream *stream = open_stream(builder, field, kind);
    ck_assert_uint_eq(nt_stream_elements(stream) * nt_stream_element_bytes(stream), expected->length);
    check_bytes(stream, expected, 0, expected->length);
    check_bytes(stream, expected, 0, expected->length);
    nt_stream_close(stream);
}

TEST(every_stream_of_every_shape_is_what_the_reference_says, .end = 2 * SEEDS)
{
    struct builder *builder = random_dataset((unsigned)_i % SEEDS, 2 + _i % 9);
    builder->releases_lists = _i >= SEEDS;
    finish(builder, NULL);
    for_each_stream(builder, check_whole);
    builder_free(builder);
}

static void check_size(struct builder *builder, uint32_t field, enum nt_stream_kind kind,
                       const struct nt_buffer *expected)
{
    struct nt_error error;
    struct nt_dtype dtype;
    uint64_t elements, rows;
    nt_field_stream_dtype(builder->dataset, field, kind, &dtype);
    assert_ok(nt_field_stream_elements(builder->reader, builder->dataset, field, kind, &elements, &error));
    ck_assert_uint_eq(elements * dtype.bytes, expected->length);
    assert_ok(nt_field_rows(builder->reader, builder->dataset, field, &rows, &error));
    if (nt_field_source(&builder->fields[field]) == NT_NONE)
        ck_assert_uint_eq(rows, reference_rows(builder, field));
}

TEST(sizes_are_known_without_opening_a_stream, .end = SEEDS)
{
    struct builder *builder = random_dataset((unsigned)_i, 2 + _i % 9);
    finish(builder, NULL);
    for_each_stream(builder, check_size);
    builder_free(builder);
}

static void check_splits(struct builder *builder, uint32_t field, enum nt_stream_kind kind,
                         const struct nt_buffer *expected)
{
    struct nt_stream *stream = open_stream(builder, field, kind);
    size_t length = expected->length < 90 ? expected->length : 90;
    for (size_t offset = 0; offset <= length; offset += OFFSETS_APART)
        for (size_t end = offset; end <= length; end++)
            check_bytes(stream, expected, offset, end - offset);
    for (size_t offset = 0; offset < expected->length; offset += 13)
        check_bytes(stream, expected, offset, expected->length - offset);
    nt_stream_close(stream);
}

TEST(any_split_of_reads_gives_the_same_bytes, .end = 12)
{
    struct builder *builder = random_dataset(1000 + (unsigned)_i, 5);
    finish(builder, NULL);
    for_each_stream(builder, check_splits);
    builder_free(builder);
}

TEST(a_cache_without_room_gives_the_same_bytes, .end = SEEDS / 2)
{
    struct builder *builder = random_dataset(2000 + (unsigned)_i, 6);
    finish(builder, &(struct nt_reader_options){.cache_bytes = 1});
    for_each_stream(builder, check_whole);
    builder_free(builder);
}

static void check_sequential(struct builder *builder, uint32_t field, enum nt_stream_kind kind,
                             const struct nt_buffer *expected)
{
    struct nt_stream *stream = open_stream(builder, field, kind);
    for (size_t offset = 0; offset < expected->length; offset += 11)
        check_bytes(stream, expected, offset,
                    expected->length - offset < 11 ? expected->length - offset : 11);
    nt_stream_close(stream);
}

TEST(decoding_ahead_changes_no_byte, .end = SEEDS / 2)
{
    struct builder *builder = random_dataset(3000 + (unsigned)_i, 6);
    builder->releases_lists = _i % 2;
    finish(builder, &(struct nt_reader_options){.threads = 2});
    for_each_stream(builder, check_sequential);
    builder_free(builder);
}

TEST(boundaries_of_clusters_are_reported_in_rows, .end = SEEDS / 2)
{
    struct nt_error error;
    struct builder *builder = random_dataset(4000 + (unsigned)_i, 6);
    uint32_t order[MAX_CLUSTERS], count;
    uint64_t *boundaries;
    finish(builder, NULL);
    reference_order(builder, order);
    for (uint32_t field = 0; field < builder->field_count; field++) {
        if (builder->fields[field].parent != NT_NONE)
            continue;
        assert_ok(
            nt_field_row_boundaries(builder->reader, builder->dataset, field, &boundaries, &count, &error));
        ck_assert_uint_eq(count, builder->cluster_count);
        for (uint32_t i = 0; i < count; i++)
            ck_assert_uint_eq(boundaries[i], builder->clusters[order[i]].first_entry);
        ck_assert_uint_eq(boundaries[count], builder->entries);
        free(boundaries);
    }
    builder_free(builder);
}

/* ---- written out by hand: what the reference would get wrong in the same way ---- */

TEST(offsets_count_over_clusters_in_entry_order)
{
    struct nt_error error;
    struct builder *builder = vector_out_of_order(2);
    finish(builder, NULL);
    uint64_t offsets[5];
    int32_t data[5];
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_OFFSETS);
    assert_ok(nt_stream_read(stream, 0, offsets, sizeof(offsets), &error));
    ck_assert_mem_eq(offsets, ((uint64_t[]){0, 2, 2, 3, 5}), sizeof(offsets));
    nt_stream_close(stream);
    stream = open_stream(builder, 1, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 0, data, sizeof(data), &error));
    ck_assert_mem_eq(data, ((int32_t[]){10, 11, 30, 40, 41}), sizeof(data));
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(an_index_that_leads_outside_or_back_is_an_error_where_it_is, .end = 3)
{
    static const uint64_t bad_last_indices[] = {1, 3, UINT64_MAX};
    struct nt_error error;
    struct builder *builder = vector_out_of_order(bad_last_indices[_i]);
    uint64_t offsets[5];
    finish(builder, NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_OFFSETS);
    assert_status(NT_CORRUPT, nt_stream_read(stream, 0, offsets, sizeof(offsets), &error));
    assert_status(NT_CORRUPT, nt_stream_read(stream, 16, offsets, 8, &error));
    assert_ok(nt_stream_read(stream, 0, offsets, 16, &error));
    assert_ok(nt_stream_read(stream, 24, offsets, 16, &error));
    ck_assert_mem_eq(offsets, ((uint64_t[]){3, 5}), 16);
    nt_stream_close(stream);
    builder_free(builder);
}

/* A size is the distance from the element before, which may be in another page. */
TEST(a_bad_page_fails_what_is_after_it_as_far_as_that_needs_it)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t list = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32).index;
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_CARDINALITY, NT_ELEMENT_UINT64);
    uint32_t sizes = add_column(builder, field, NT_ENCODING_INDEX64, 0);
    static const uint64_t ends[] = {1, 2, 4, 5}, items[] = {10, 20, 30, 40, 50};
    add_cluster(builder, 0, 4);
    add_elements(builder, 0, list, ends, 4, 2);
    add_elements(builder, 0, 1, items, 5, 5);
    add_elements(builder, 0, sizes, ends, 4, 2);
    finish(builder, NULL);
    uint64_t got[2];
    for (uint32_t column = list; column <= sizes; column += sizes - list)
        builder->bytes.bytes[builder->pages[0][builder->shares[0][column].first_page].offset] ^= 1;
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_OFFSETS);
    ck_assert_int_eq(nt_stream_read(stream, 8, got, 8, NULL),
                     NT_CHECKSUM); /* a caller without `error` gets no message */
    assert_status(NT_CHECKSUM, nt_stream_read(stream, 8, got, 8, &error));
    assert_ok(nt_stream_read(stream, 24, got, 16, &error));
    ck_assert_mem_eq(got, ((uint64_t[]){4, 5}), sizeof(got));
    nt_stream_close(stream);
    stream = open_stream(builder, field, NT_STREAM_DATA);
    ck_assert_int_eq(nt_stream_read(stream, 16, got, 8, NULL), NT_CHECKSUM);
    assert_status(NT_CHECKSUM, nt_stream_read(stream, 16, got, 8, &error));
    assert_ok(nt_stream_read(stream, 24, got, 8, &error));
    ck_assert_uint_eq(got[0], 1);
    nt_stream_close(stream);
    builder_free(builder);
}

static struct builder *variant_with(uint64_t second)
{
    struct builder *builder = builder_new();
    uint32_t variant = add_field(builder, NT_NONE, NT_FIELD_VARIANT, NT_ELEMENT_SWITCH);
    uint32_t number = add_field(builder, variant, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    add_field(builder, variant, NT_FIELD_RECORD, NT_ELEMENT_BYTE); /* an empty class: no columns */
    uint32_t tags = add_column(builder, variant, NT_ENCODING_SWITCH, 0);
    uint32_t values = add_column(builder, number, NT_ENCODING_INT32, 0);
    add_cluster(builder, 0, 3);
    add_elements(builder, 0, tags, (uint64_t[]){SWITCH(1, 0), SWITCH(2, 0), SWITCH(1, 1)}, 3, 2);
    add_elements(builder, 0, values, (uint64_t[]){7, 8}, 2, 2);
    add_cluster(builder, 3, 3);
    add_elements(builder, 1, tags, (uint64_t[]){SWITCH(1, 0), second, SWITCH(2, 0)}, 3, 2);
    add_elements(builder, 1, values, (uint64_t[]){9}, 1, 2);
    return builder;
}

TEST(a_variant_says_the_row_of_its_alternative_even_where_it_has_no_columns)
{
    struct nt_error error;
    struct builder *builder = variant_with(0);
    uint64_t index[6], rows;
    uint32_t tags[6];
    finish(builder, NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_INDEX);
    assert_ok(nt_stream_read(stream, 0, index, sizeof(index), &error));
    ck_assert_mem_eq(index, ((uint64_t[]){0, 0, 1, 2, 0, 1}), sizeof(index));
    nt_stream_close(stream);
    stream = open_stream(builder, 0, NT_STREAM_TAGS);
    assert_ok(nt_stream_read(stream, 0, tags, sizeof(tags), &error));
    ck_assert_mem_eq(tags, ((uint32_t[]){1, 2, 1, 1, 0, 2}), sizeof(tags));
    nt_stream_close(stream);
    assert_ok(nt_field_rows(builder->reader, builder->dataset, 2, &rows, &error));
    ck_assert_uint_eq(rows, 2);
    builder_free(builder);
}

TEST(a_variant_that_leads_outside_is_an_error_where_it_is, .end = 3)
{
    static const uint64_t bad[] = {SWITCH(3, 0), SWITCH(1, 1), SWITCH(1, 1000)};
    struct nt_error error;
    struct builder *builder = variant_with(bad[_i]);
    uint64_t index[6];
    finish(builder, NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_INDEX);
    assert_status(NT_CORRUPT, nt_stream_read(stream, 0, index, sizeof(index), &error));
    assert_ok(nt_stream_read(stream, 0, index, 32, &error));
    assert_ok(nt_stream_read(stream, 40, index, 8, &error));
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(elements_that_are_missing_without_deferral_spoil_their_cluster_only)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    static const uint64_t values[] = {1, 2, 3};
    int32_t got[3];
    uint64_t rows;
    add_elements(builder, add_cluster(builder, 0, 3), column, values, 3, 2);
    add_elements(builder, add_cluster(builder, 3, 3), column, values, 2, 2);
    add_elements(builder, add_cluster(builder, 6, 3), column, values, 3, 2);
    finish(builder, NULL);
    assert_ok(nt_field_rows(builder->reader, builder->dataset, field, &rows, &error));
    ck_assert_uint_eq(rows, 9);
    struct nt_stream *stream = open_stream(builder, field, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 0, got, 12, &error));
    assert_status(NT_CORRUPT, nt_stream_read(stream, 12, got, 4, &error));
    ck_assert_str_eq(error.expected, "3");
    ck_assert_str_eq(error.found, "2");
    assert_ok(nt_stream_read(stream, 24, got, 12, &error));
    ck_assert_mem_eq(got, ((int32_t[]){1, 2, 3}), 12);
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(two_stored_representations_are_an_error)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t first = add_column(builder, field, NT_ENCODING_INT32, 0);
    uint32_t second = add_column(builder, field, NT_ENCODING_SPLIT_INT32, 1);
    static const uint64_t values[] = {1, 2, 3};
    int32_t got[3];
    add_cluster(builder, 0, 3);
    add_elements(builder, 0, first, values, 3, 2);
    add_elements(builder, 0, second, values, 3, 2);
    add_cluster(builder, 3, 3);
    suppress(builder, 1, first);
    add_elements(builder, 1, second, values, 3, 2);
    finish(builder, NULL);
    struct nt_stream *stream = open_stream(builder, field, NT_STREAM_DATA);
    assert_status(NT_CORRUPT, nt_stream_read(stream, 0, got, 4, &error));
    assert_ok(nt_stream_read(stream, 12, got, 12, &error));
    nt_stream_close(stream);
    builder_free(builder);
}

/* ---- fields of directories: pages as values, members of structures ---- */

TEST(pages_that_are_values_and_members_of_opaque_elements_are_served)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t pickles = add_field(builder, NT_NONE, NT_FIELD_PAGE_BYTES, NT_ELEMENT_BYTE);
    uint32_t whole = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_UINT64);
    uint32_t member = add_field(builder, whole, NT_FIELD_MEMBER, NT_ELEMENT_UINT16);
    uint32_t bytes = add_column(builder, pickles, NT_ENCODING_BYTE, 0);
    uint32_t column = add_column(builder, whole, NT_ENCODING_UINT64, 0);
    edit_extra(builder, member)->member_offset = 3;
    project(builder, member, whole);
    uint64_t letters[6] = {'a', 'b', 'c', 'd', 'e', 'f'}, offsets[4];
    uint64_t structures[3] = {0x1122334455667788, 0x99AABBCCDDEEFF00, 42};
    uint16_t got[3];
    add_cluster(builder, 0, 3);
    add_elements(builder, 0, bytes, letters, 5, 2);
    add_elements(builder, 0, column, structures, 3, 2);
    finish(builder, NULL);
    struct nt_stream *stream = open_stream(builder, pickles, NT_STREAM_OFFSETS);
    assert_ok(nt_stream_read(stream, 0, offsets, sizeof(offsets), &error));
    ck_assert_mem_eq(offsets, ((uint64_t[]){0, 2, 4, 5}), sizeof(offsets));
    nt_stream_close(stream);
    stream = open_stream(builder, member, NT_STREAM_DATA);
    ck_assert_uint_eq(nt_stream_elements(stream), 3);
    assert_ok(nt_stream_read(stream, 0, got, sizeof(got), &error));
    ck_assert_mem_eq(got, ((uint16_t[]){0x4455, 0xCCDD, 0}), sizeof(got));
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(a_stream_that_a_field_does_not_have_is_refused)
{
    struct nt_error error;
    struct builder *builder = plain_dataset(3, 3);
    struct nt_stream *stream;
    finish(builder, NULL);
    assert_status(NT_NOT_FOUND,
                  nt_stream_open(builder->reader, builder->dataset, 0, NT_STREAM_TAGS, &stream, &error));
    builder->fields[0].kind = NT_FIELD_UNREADABLE;
    builder->fields[0].unreadable = "its type is strange";
    assert_status(NT_UNSUPPORTED,
                  nt_stream_open(builder->reader, builder->dataset, 0, NT_STREAM_DATA, &stream, &error));
    ck_assert_msg(strstr(error.message, "strange"), "%s", error.message);
    builder_free(builder);
}

TEST(reading_past_the_end_is_refused)
{
    struct nt_error error;
    struct builder *builder = plain_dataset(3, 3);
    char bytes[16];
    finish(builder, NULL);
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 12, bytes, 0, &error));
    assert_status(NT_INVALID, nt_stream_read(stream, 12, bytes, 1, &error));
    assert_status(NT_INVALID, nt_stream_read(stream, 8, bytes, 5, &error));
    assert_status(NT_INVALID, nt_stream_read(stream, UINT64_MAX, bytes, 2, &error));
    nt_stream_close(stream);
    builder_free(builder);
}
