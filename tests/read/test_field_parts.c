/* SPDX-License-Identifier: MIT
 *
 * Datasets with a page list for each field and part of the entries: which page lists each operation loads,
 * and fields that a part does not have.
 */
#include <string.h>

#include "dataset_builder.h"
#include "core/model/builder.h"
#include "read/page.h"
#include "support.h"
#include "core/codec/codec.h"
#include "core/model/model.h"

enum { NUMBER, LIST, ITEM, TEXT };

static struct nt_error error;
static struct builder *builder;

enum { PARTS = 4 };

/* Parts of 2, 1, 0 and 2 entries. Numbers 1, 2 | 3 | | 4, 5; lists of 1 and 2 items | null | | 0 and 1; texts
 * "a", "bc" | null | | "", "d". */
static void build(bool releases_lists)
{
    builder = builder_new();
    builder->has_field_groups = true;
    builder->releases_lists = releases_lists;
    ck_assert_uint_eq(add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32), NUMBER);
    ck_assert_uint_eq(add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64), LIST);
    ck_assert_uint_eq(add_field(builder, LIST, NT_FIELD_VALUE, NT_ELEMENT_INT32), ITEM);
    ck_assert_uint_eq(add_field(builder, NT_NONE, NT_FIELD_STRING, NT_ELEMENT_BYTE), TEXT);
    uint32_t number = add_column(builder, NUMBER, NT_ENCODING_INT32, 0);
    uint32_t list = add_column(builder, LIST, NT_ENCODING_INDEX64, 0);
    uint32_t item = add_column(builder, ITEM, NT_ENCODING_INT32, 0);
    uint32_t ends = add_column(builder, TEXT, NT_ENCODING_INDEX64, 0);
    uint32_t bytes = add_column(builder, TEXT, NT_ENCODING_CHAR, 0);
    static const struct {
        uint32_t rows, items, bytes;
        uint64_t numbers[2], lists[2], item[3], ends[2], text[3];
    } parts[] = {
        {2, 3, 3, {1, 2}, {1, 3}, {10, 11, 12}, {1, 3}, {'a', 'b', 'c'}},
        {1, 0, 0, {3}, {0}, {0}, {0}, {0}},
        {0, 0, 0, {0}, {0}, {0}, {0}, {0}},
        {2, 1, 1, {4, 5}, {0, 1}, {13}, {0, 1}, {'d'}},
    };
    uint64_t entry = 0;
    for (uint32_t i = 0; i < 4; i++) {
        add_cluster(builder, entry, parts[i].rows);
        entry += parts[i].rows;
        add_elements(builder, i, number, parts[i].numbers, parts[i].rows, 2);
        if (i == 1)
            continue; /* only numbers are in step */
        add_elements(builder, i, list, parts[i].lists, parts[i].rows, 2);
        add_elements(builder, i, item, parts[i].item, parts[i].items, 2);
        add_elements(builder, i, ends, parts[i].ends, parts[i].rows, 2);
        add_elements(builder, i, bytes, parts[i].text, parts[i].bytes, 2);
    }
    finish(builder, NULL);
}

static void setup(void)
{
    build(false);
}

/* Memory is short: a page list stays only while it is in use. */
static void setup_short(void)
{
    build(true);
}

static void teardown(void)
{
    builder_free(builder);
}

/* The parts whose page lists were loaded since the last call, a bit for each. */
static uint64_t loaded(void)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < MAX_CLUSTERS; i++)
        if (builder->part_loads[i])
            bits |= UINT64_C(1) << i;
    memset(builder->part_loads, 0, sizeof(builder->part_loads));
    return bits;
}

static struct nt_stream *open_stream(uint32_t field, enum nt_stream_kind kind, size_t bytes)
{
    struct nt_stream *stream;
    assert_ok(nt_stream_open(builder->reader, builder->dataset, field, kind, &stream, &error));
    ck_assert_uint_eq(nt_stream_elements(stream) * nt_stream_element_bytes(stream), bytes);
    return stream;
}

static void assert_stream(uint32_t field, enum nt_stream_kind kind, const void *expected, size_t bytes)
{
    uint8_t found[64];
    struct nt_stream *stream = open_stream(field, kind, bytes);
    assert_ok(nt_stream_read(stream, 0, found, bytes, &error));
    ck_assert_mem_eq(found, expected, bytes);
    nt_stream_close(stream);
}

static void assert_all_streams(void)
{
    assert_stream(NUMBER, NT_STREAM_DATA, (int32_t[]){1, 2, 3, 4, 5}, 20);
    assert_stream(LIST, NT_STREAM_OFFSETS, (int64_t[]){0, 1, 3, 3, 3, 4}, 48);
    assert_stream(ITEM, NT_STREAM_DATA, (int32_t[]){10, 11, 12, 13}, 16);
    assert_stream(TEXT, NT_STREAM_OFFSETS, (int64_t[]){0, 1, 3, 3, 3, 4}, 48);
    assert_stream(TEXT, NT_STREAM_DATA, "abcd", 4);
}

TEST(of_parts_that_lack_a_field_zeros_and_nothing_are_read, .setup = setup, .teardown = teardown)
{
    assert_all_streams();
}

TEST(rows_are_counted_once_although_page_lists_are_released, .setup = setup_short, .teardown = teardown)
{
    assert_all_streams();
    loaded();
    nt_stream_close(open_stream(ITEM, NT_STREAM_DATA, 16));
    nt_stream_close(open_stream(LIST, NT_STREAM_OFFSETS, 48));
    nt_stream_close(open_stream(TEXT, NT_STREAM_OFFSETS, 48));
    nt_stream_close(open_stream(TEXT, NT_STREAM_DATA, 4));
    ck_assert_uint_eq(loaded(), 0);
}

TEST(fields_are_counted_together_part_by_part, .setup = setup_short, .teardown = teardown)
{
    nt_rows_count_together(builder->reader, builder->dataset, (uint32_t[]){LIST, TEXT}, 2);
    ck_assert_uint_eq(builder->part_visits, PARTS);
    ck_assert_uint_eq(builder->field_loads[NUMBER], 0);
    loaded();
    nt_stream_close(open_stream(ITEM, NT_STREAM_DATA, 16));
    nt_stream_close(open_stream(TEXT, NT_STREAM_DATA, 4));
    ck_assert_uint_eq(loaded(), 0);
    assert_all_streams();
}

TEST(a_part_that_cannot_be_counted_fails_as_it_is_read, .setup = setup_short, .teardown = teardown)
{
    int32_t value;
    builder->bad_part[3] = true;
    nt_rows_count_together(builder->reader, builder->dataset, (uint32_t[]){LIST}, 1);
    struct nt_stream *stream;
    assert_status(NT_CORRUPT,
                  nt_stream_open(builder->reader, builder->dataset, ITEM, NT_STREAM_DATA, &stream, &error));
    stream = open_stream(NUMBER, NT_STREAM_DATA, 20);
    assert_status(NT_CORRUPT, nt_stream_read(stream, 16, &value, 4, &error));
    assert_ok(nt_stream_read(stream, 8, &value, 4, &error));
    nt_stream_close(stream);
}

TEST(rows_of_one_part_are_read_with_its_page_list_alone, .setup = setup, .teardown = teardown)
{
    int32_t value;
    struct nt_stream *stream = open_stream(NUMBER, NT_STREAM_DATA, 20);
    ck_assert_uint_eq(loaded(), 0);
    assert_ok(nt_stream_read(stream, 16, &value, 4, &error));
    ck_assert_int_eq(value, 5);
    ck_assert_uint_eq(loaded(), 1 << 3);
    assert_ok(nt_stream_read(stream, 4, &value, 4, &error));
    ck_assert_int_eq(value, 2);
    ck_assert_uint_eq(loaded(), 1 << 0);
    nt_stream_close(stream);
}

TEST(entries_alone_say_the_rows_of_what_is_in_no_list, .setup = setup, .teardown = teardown)
{
    uint64_t rows;
    assert_ok(nt_field_rows(builder->reader, builder->dataset, NUMBER, &rows, &error));
    ck_assert_uint_eq(rows, 5);
    assert_ok(nt_field_rows(builder->reader, builder->dataset, LIST, &rows, &error));
    ck_assert_uint_eq(rows, 5);
    assert_ok(
        nt_field_stream_elements(builder->reader, builder->dataset, TEXT, NT_STREAM_OFFSETS, &rows, &error));
    ck_assert_uint_eq(rows, 6);
    ck_assert_uint_eq(loaded(), 0);
    assert_ok(nt_field_rows(builder->reader, builder->dataset, ITEM, &rows, &error));
    ck_assert_uint_eq(rows, 4);
    ck_assert_uint_ne(loaded(), 0);
}

TEST(a_bad_page_list_is_a_fault_of_the_rows_of_its_part, .setup = setup, .teardown = teardown)
{
    int32_t value;
    uint64_t rows;
    builder->bad_part[0] = true;
    struct nt_stream *stream = open_stream(NUMBER, NT_STREAM_DATA, 20);
    assert_ok(nt_stream_read(stream, 8, &value, 4, &error));
    ck_assert_int_eq(value, 3);
    for (int i = 0; i < 2; i++) {
        assert_status(NT_CORRUPT, nt_stream_read(stream, 4, &value, 4, &error));
        ck_assert_ptr_nonnull(strstr(error.message, "this page list is bad"));
    }
    nt_stream_close(stream);
    /* the start of what follows is unknown if the part before has a bad list */
    assert_status(NT_CORRUPT, nt_field_rows(builder->reader, builder->dataset, ITEM, &rows, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "this page list is bad"));
}

/* No other part says how many items come before. */
TEST(what_is_after_a_bad_page_list_is_refused_with_its_cause, .setup = setup, .teardown = teardown)
{
    static const uint32_t fields[] = {LIST, TEXT};
    builder->bad_part[0] = true;
    for (int i = 0; i < 2; i++) {
        struct nt_stream *stream;
        int64_t offset;
        assert_ok(
            nt_stream_open(builder->reader, builder->dataset, fields[i], NT_STREAM_OFFSETS, &stream, &error));
        assert_status(NT_CORRUPT, nt_stream_read(stream, 40, &offset, 8, &error));
        ck_assert_ptr_nonnull(strstr(error.message, "this page list is bad"));
        ck_assert_ptr_nonnull(strstr(error.message, "the start of the cluster's rows depends on a part"));
        nt_stream_close(stream);
    }
}

static struct nt_stream *open_unbounded(uint32_t field, uint64_t elements)
{
    struct nt_stream *stream;
    assert_ok(
        nt_stream_open_unbounded(builder->reader, builder->dataset, field, NT_STREAM_DATA, &stream, &error));
    ck_assert_uint_eq(nt_stream_elements(stream), elements);
    return stream;
}

TEST(without_an_end_elements_before_a_bad_page_list_are_read, .setup = setup, .teardown = teardown)
{
    int32_t items[3];
    char text[3];
    builder->bad_part[3] = true;
    struct nt_stream *stream;
    assert_status(NT_CORRUPT,
                  nt_stream_open(builder->reader, builder->dataset, TEXT, NT_STREAM_DATA, &stream, &error));
    stream = open_unbounded(ITEM, 3);
    assert_ok(nt_stream_read(stream, 0, items, sizeof(items), &error));
    ck_assert_mem_eq(items, ((int32_t[]){10, 11, 12}), sizeof(items));
    assert_status(NT_INVALID, nt_stream_read(stream, 12, items, 4, &error));
    nt_stream_close(stream);
    stream = open_unbounded(TEXT, 3);
    assert_ok(nt_stream_read(stream, 0, text, sizeof(text), &error));
    ck_assert_mem_eq(text, "abc", sizeof(text));
    nt_stream_close(stream);
}

/* The item and the byte of the last part are not the first ones. */
TEST(without_an_end_elements_after_a_bad_page_list_are_refused, .setup = setup, .teardown = teardown)
{
    int32_t item;
    builder->bad_part[0] = true;
    static const uint32_t fields[] = {ITEM, TEXT};
    for (int i = 0; i < 2; i++) {
        struct nt_stream *stream = open_unbounded(fields[i], 1);
        assert_status(NT_CORRUPT, nt_stream_read(stream, 0, &item, i ? 1 : 4, &error));
        ck_assert_ptr_nonnull(strstr(error.message, "this page list is bad"));
        nt_stream_close(stream);
    }
}

/* The second part has 7 numbers, which are no whole arrays of 3. */
TEST(damaged_rows_after_a_bad_page_list_have_no_known_place)
{
    static const uint64_t two = 2, numbers[7] = {1, 2, 3, 4, 5, 6, 7};
    int64_t offset;
    struct nt_stream *stream;
    builder = builder_new();
    builder->has_field_groups = true;
    uint32_t list = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    uint32_t array = add_array(builder, list, NT_FIELD_VALUE, NT_ELEMENT_INT32, 3);
    uint32_t index = add_column(builder, list, NT_ENCODING_INDEX64, 0);
    uint32_t column = add_column(builder, array, NT_ENCODING_INT32, 0);
    for (uint32_t i = 0; i < 2; i++) {
        add_cluster(builder, i, 1);
        add_elements(builder, i, index, &two, 1, 1);
        add_elements(builder, i, column, numbers, i ? 7 : 6, 7);
    }
    finish(builder, NULL);
    builder->bad_part[0] = true;
    assert_ok(nt_stream_open(builder->reader, builder->dataset, list, NT_STREAM_OFFSETS, &stream, &error));
    assert_status(NT_CORRUPT, nt_stream_read(stream, 16, &offset, sizeof(offset), &error));
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(a_column_has_the_pages_of_all_parts_that_store_it, .setup = setup, .teardown = teardown)
{
    static const uint64_t elements[] = {5, 4, 4, 4, 4}, pages[] = {3, 2, 3, 2, 3};
    for (uint32_t column = 0; column < builder->column_count; column++) {
        uint64_t found_elements, found_pages;
        assert_ok(
            nt_column_size(builder->reader, builder->dataset, column, &found_elements, &found_pages, &error));
        ck_assert_uint_eq(found_elements, elements[column]);
        ck_assert_uint_eq(found_pages, pages[column]);
    }
}

TEST(each_group_has_a_field_and_a_part, .setup = setup, .teardown = teardown)
{
    const struct nt_dataset *dataset = builder->dataset;
    uint32_t number = 0, part;
    for (uint32_t field = 0; field < dataset->field_count; field++)
        for (uint32_t k = 0; dataset->field_groups[field] != NT_NONE && k < dataset->part_count; k++) {
            ck_assert_uint_eq(nt_group_field(dataset, number, &part), field);
            ck_assert_uint_eq(part, k);
            ck_assert_uint_eq(nt_group_record(dataset, number).first_entry, dataset->part_boundaries[k]);
            ck_assert_uint_eq(nt_part_cluster(dataset, field, k), number++);
        }
    ck_assert_uint_eq(number, dataset->group_count);
}

/* Of parts of 2, 1 and 2 stored entries, the first entry of the first part, the last of the last part,
 * and the second part are deleted. */
static void drop(void)
{
    static struct nt_deletion_run first[] = {{0, 0}, {2, 1}}, second[] = {{0, 0}, {1, 0}},
                                  last[] = {{1, 1}, {2, 1}};
    static const struct nt_deletion_vector deletions[] = {{first, 1}, {second, 1}, {last, 1}};
    static const struct nt_deletion_vector *of_parts[] = {&deletions[0], &deletions[1], NULL, &deletions[2]};
    static const uint64_t entries[] = {1, 0, 0, 1};
    struct nt_dataset *dataset = builder->dataset;
    dataset->group_count = dataset->cluster_count = 0;
    assert_ok(nt_dataset_add_field_groups(dataset, entries, 4, &error));
    dataset->part_deletions = of_parts;
    reopen(builder, NULL);
}

TEST(deleted_entries_are_in_no_stream, .setup = setup, .teardown = teardown)
{
    uint64_t rows, pages;
    drop();
    assert_stream(NUMBER, NT_STREAM_DATA, (int32_t[]){2, 4}, 8);
    assert_stream(LIST, NT_STREAM_OFFSETS, (int64_t[]){0, 2, 2}, 24);
    assert_stream(ITEM, NT_STREAM_DATA, (int32_t[]){11, 12}, 8);
    assert_stream(TEXT, NT_STREAM_OFFSETS, (int64_t[]){0, 2, 2}, 24);
    assert_stream(TEXT, NT_STREAM_DATA, "bc", 2);
    assert_ok(nt_field_rows(builder->reader, builder->dataset, ITEM, &rows, &error));
    ck_assert_uint_eq(rows, 2);
    /* stored values include them */
    assert_ok(nt_column_size(builder->reader, builder->dataset, 0, &rows, &pages, &error));
    ck_assert_uint_eq(rows, 5);
}

static struct nt_deletion_run beyond[] = {{0, 0}, {7, 5}}, too_few[] = {{0, 0}, {2, 2}};
static const struct {
    struct nt_deletion_vector
        deletions;  /* for the first part, with two stored entries and one in the metadata */
    bool is_beyond; /* and more deleted than stored */
} wrong_deletions[] = {
    {{beyond, 1}, true},
    {{too_few, 1}, false},
};

TEST(impossible_deletions_are_damage, .setup = setup, .teardown = teardown, .end = 2)
{
    int32_t value;
    uint64_t rows;
    drop();
    builder->dataset->part_deletions[0] = &wrong_deletions[_i].deletions;
    struct nt_stream *stream = open_stream(NUMBER, NT_STREAM_DATA, 8);
    assert_status(NT_CORRUPT, nt_stream_read(stream, 0, &value, 4, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "stored elements of the cluster"));
    assert_ok(nt_stream_read(stream, 4, &value, 4, &error));
    ck_assert_int_eq(value, 4);
    nt_stream_close(stream);
    if (wrong_deletions[_i].is_beyond) {
        assert_status(NT_CORRUPT, nt_field_rows(builder->reader, builder->dataset, ITEM, &rows, &error));
        ck_assert_ptr_nonnull(strstr(error.message, "rows of the field: expected at least"));
        ck_assert_str_eq(error.expected, "at least 7");
        ck_assert_str_eq(error.found, "2");
    }
}
