/* SPDX-License-Identifier: MIT
 *
 * Selected entries: streams of every shape, compared with a simple filter over the streams of all entries.
 */
#include <string.h>

#include "core/model/model.h"
#include "opened_stream.h"
#include "read/read.h"
#include "random_dataset.h"
#include "reference.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/model/field.h"

/* ---- what is to be expected ---- */

/* A stream of all entries, from the reference. */
struct whole {
    struct nt_buffer bytes[NT_STREAM_COUNT];
    bool *is_selected; /* [row] */
    uint64_t rows;
};

static uint64_t number(const struct nt_buffer *bytes, uint64_t i)
{
    uint64_t value;
    memcpy(&value, bytes->bytes + i * sizeof(value), sizeof(value));
    return value;
}

/* Row `row` of a field above belongs to a selected entry. */
static void choose_below(const struct builder *builder, struct whole *wholes, uint32_t field, uint64_t row)
{
    uint32_t above = builder->fields[field].parent, tag, mine = 1, count;
    const uint32_t *children = nt_dataset_children(builder->dataset, above, &count);
    struct whole *from = &wholes[above], *to = &wholes[field];
    uint64_t factor = nt_field_rows_below(&builder->fields[above]);
    while (children[mine - 1] != field)
        mine++;
    if (from->bytes[NT_STREAM_OFFSETS].length) {
        for (uint64_t i = number(&from->bytes[NT_STREAM_OFFSETS], row);
             i < number(&from->bytes[NT_STREAM_OFFSETS], row + 1); i++)
            to->is_selected[i] = true;
    } else if (from->bytes[NT_STREAM_TAGS].length) {
        memcpy(&tag, from->bytes[NT_STREAM_TAGS].bytes + row * sizeof(tag), sizeof(tag));
        if (tag == mine)
            to->is_selected[number(&from->bytes[NT_STREAM_INDEX], row)] = true;
    } else {
        for (uint64_t i = 0; i < factor; i++)
            to->is_selected[row * factor + i] = true;
    }
}

static void choose_rows(const struct builder *builder, struct whole *wholes, uint32_t field,
                        const bool *entries)
{
    struct whole *whole = &wholes[field];
    uint32_t above = builder->fields[field].parent;
    whole->rows = reference_rows(builder, field);
    whole->is_selected = calloc(whole->rows + 1, sizeof(bool));
    if (above == NT_NONE)
        memcpy(whole->is_selected, entries, whole->rows * sizeof(bool));
    for (uint64_t row = 0; above != NT_NONE && row < wholes[above].rows; row++)
        if (wholes[above].is_selected[row])
            choose_below(builder, wholes, field, row);
}

static uint64_t count_selected(const struct whole *whole, uint64_t rows)
{
    uint64_t chosen = 0;
    for (uint64_t row = 0; row < rows; row++)
        chosen += whole->is_selected[row];
    return chosen;
}

/* The elements of selected rows, as many for each of them. */
static void expect_elements(const struct whole *whole, enum nt_stream_kind kind, struct nt_buffer *out)
{
    size_t per_row = whole->rows ? whole->bytes[kind].length / whole->rows : 0;
    for (uint64_t row = 0; row < whole->rows; row++)
        if (whole->is_selected[row])
            nt_buffer_append(out, whole->bytes[kind].bytes + row * per_row, per_row);
}

static void expect_offsets(const struct whole *whole, struct nt_buffer *out)
{
    const struct nt_buffer *offsets = &whole->bytes[NT_STREAM_OFFSETS];
    uint64_t end = 0;
    nt_buffer_append(out, &end, sizeof(end));
    for (uint64_t row = 0; row < whole->rows; row++)
        if (whole->is_selected[row]) {
            end += number(offsets, row + 1) - number(offsets, row);
            nt_buffer_append(out, &end, sizeof(end));
        }
}

static void expect_bytes(const struct whole *whole, struct nt_buffer *out)
{
    const struct nt_buffer *offsets = &whole->bytes[NT_STREAM_OFFSETS];
    for (uint64_t row = 0; row < whole->rows; row++)
        if (whole->is_selected[row])
            nt_buffer_append(out, nt_buffer_string(&whole->bytes[NT_STREAM_DATA]) + number(offsets, row),
                             number(offsets, row + 1) - number(offsets, row));
}

static void expect_index(const struct builder *builder, const struct whole *wholes, uint32_t field,
                         struct nt_buffer *out)
{
    const struct whole *whole = &wholes[field];
    uint32_t tag, count;
    const uint32_t *children = nt_dataset_children(builder->dataset, field, &count);
    for (uint64_t row = 0; row < whole->rows; row++) {
        uint64_t value = number(&whole->bytes[NT_STREAM_INDEX], row);
        memcpy(&tag, whole->bytes[NT_STREAM_TAGS].bytes + row * sizeof(tag), sizeof(tag));
        if (tag)
            value = count_selected(&wholes[children[tag - 1]], value);
        if (whole->is_selected[row])
            nt_buffer_append(out, &value, sizeof(value));
    }
}

static void expect_stream(const struct builder *builder, const struct whole *wholes, uint32_t field,
                          enum nt_stream_kind kind, struct nt_buffer *out)
{
    const struct whole *whole = &wholes[field];
    if (kind == NT_STREAM_OFFSETS)
        expect_offsets(whole, out);
    else if (kind == NT_STREAM_INDEX)
        expect_index(builder, wholes, field, out);
    else if (kind == NT_STREAM_DATA && whole->bytes[NT_STREAM_OFFSETS].length)
        expect_bytes(whole, out);
    else
        expect_elements(whole, kind, out);
}

/* ---- choices ---- */

enum { EVERY, NONE, LAST, FIRST, SECOND, OF_CLUSTERS, BY_CHANCE, BY_SMALL_CHANCE, BUT_ONE, CHOICES };

static bool is_selected(const struct builder *builder, int selection, uint64_t entry, unsigned *seed)
{
    bool begins_cluster = false;
    for (uint32_t i = 0; i < builder->cluster_count; i++)
        begins_cluster |= builder->clusters[i].first_entry == entry;
    *seed = *seed * 1103515245 + 12345;
    switch (selection) {
    case EVERY:
        return true;
    case LAST:
        return entry + 1 == builder->entries;
    case FIRST:
        return entry == 0;
    case SECOND:
        return entry % 2;
    case OF_CLUSTERS:
        return begins_cluster;
    case BY_CHANCE:
        return (*seed >> 16) % 2;
    case BY_SMALL_CHANCE:
        return (*seed >> 16) % 10 == 0;
    case BUT_ONE:
        return entry != builder->entries / 2;
    default:
        return false;
    }
}

/* As ranges, each of one entry. */
static void choose(struct builder *builder, const bool *entries)
{
    struct nt_error error;
    struct nt_entry_range *ranges = calloc(builder->entries + 1, sizeof(*ranges));
    size_t count = 0;
    for (uint64_t i = 0; i < builder->entries; i++)
        if (entries[i])
            ranges[count++] = (struct nt_entry_range){i, 1};
    assert_ok(nt_dataset_select(builder->dataset, ranges, count, &error));
    ck_assert_uint_eq(nt_dataset_entries(builder->dataset), count);
    ck_assert_uint_eq(nt_dataset_stored_entries(builder->dataset), builder->entries);
    free(ranges);
}

/* ---- streams ---- */

static void check_stream(struct builder *builder, uint32_t field, enum nt_stream_kind kind,
                         const struct nt_buffer *expected)
{
    struct nt_error error;
    uint64_t elements;
    assert_ok(nt_field_stream_elements(builder->reader, builder->dataset, field, kind, &elements, &error));
    struct nt_stream *stream = open_stream(builder, field, kind);
    size_t element_bytes = nt_stream_element_bytes(stream);
    ck_assert_uint_eq(nt_stream_elements(stream), elements);
    ck_assert_uint_eq(elements * element_bytes, expected->length);
    char *got = malloc(expected->length + 1);
    assert_ok(nt_stream_read(stream, 0, got, expected->length, &error));
    ck_assert_msg(!expected->length || !memcmp(got, expected->bytes, expected->length),
                  "stream %d of field %u differs", (int)kind, field);
    for (size_t at = 0, step = 1; at < expected->length; at += step, step = step * 2 % 61) {
        size_t bytes = expected->length - at < 37 ? expected->length - at : 37;
        assert_ok(nt_stream_read(stream, at, got, bytes, &error));
        ck_assert(!memcmp(got, expected->bytes + at, bytes));
    }
    assert_ok(nt_stream_read_elements(stream, 0, elements, got, &error));
    ck_assert(!expected->length || !memcmp(got, expected->bytes, expected->length));
    assert_status(NT_INVALID, nt_stream_read(stream, expected->length, got, 1, &error));
    free(got);
    nt_stream_close(stream);
}

static void check_field(struct builder *builder, const struct whole *wholes, uint32_t field)
{
    struct nt_error error;
    uint64_t rows, *boundaries;
    uint32_t clusters;
    for (enum nt_stream_kind kind = 0; kind < NT_STREAM_COUNT; kind++) {
        struct nt_buffer expected = {0};
        if (!nt_field_has_stream(&builder->fields[field], kind))
            continue;
        expect_stream(builder, wholes, field, kind, &expected);
        check_stream(builder, field, kind, &expected);
        nt_buffer_deinit(&expected);
    }
    assert_ok(nt_field_rows(builder->reader, builder->dataset, field, &rows, &error));
    ck_assert_uint_eq(rows, count_selected(&wholes[field], wholes[field].rows));
    assert_ok(
        nt_field_row_boundaries(builder->reader, builder->dataset, field, &boundaries, &clusters, &error));
    ck_assert_uint_eq(boundaries[clusters], rows);
    free(boundaries);
}

static void check_dataset(struct builder *builder, int selection)
{
    struct whole *wholes = calloc(builder->field_count, sizeof(*wholes));
    bool *entries = calloc(builder->entries + 1, sizeof(bool));
    unsigned seed = (unsigned)builder->entries + 7;
    for (uint64_t i = 0; i < builder->entries; i++)
        entries[i] = is_selected(builder, selection, i, &seed);
    for (uint32_t field = 0; field < builder->field_count; field++)
        for (enum nt_stream_kind kind = 0; kind < NT_STREAM_COUNT; kind++)
            if (nt_field_has_stream(&builder->fields[field], kind))
                reference_stream(builder, field, kind, &wholes[field].bytes[kind]);
    for (uint32_t field = 0; field < builder->field_count; field++)
        choose_rows(builder, wholes, field, entries);
    choose(builder, entries);
    for (uint32_t field = 0; field < builder->field_count; field++) {
        if (nt_field_source(&builder->fields[field]) == NT_NONE)
            check_field(builder, wholes, field);
    }
    for (uint32_t field = 0; field < builder->field_count; field++) {
        for (int kind = 0; kind < NT_STREAM_COUNT; kind++)
            nt_buffer_deinit(&wholes[field].bytes[kind]);
        free(wholes[field].is_selected);
    }
    free(wholes);
    free(entries);
}

enum { SEEDS = 24 };

TEST(streams_of_chosen_entries_are_those_of_all_entries_without_the_others, .end = SEEDS)
{
    for (int selection = 0; selection < CHOICES; selection++) {
        struct builder *builder = random_dataset((unsigned)_i, 2 + _i % 9);
        finish(builder, NULL);
        check_dataset(builder, selection);
        builder_free(builder);
    }
}

/* ---- runs of every length, in pages of every length ---- */

/* Selected entries of a plain dataset: runs of `take`, separated by `leave`. */
static const struct {
    uint64_t leave, take;
    uint32_t page_elements;
} patterns[] = {
    {1, 1, 1000},    {1, 1, 7},      {3, 2, 100000},  {200, 1, 1000},  {5, 700, 1000},
    {1, 3000, 1000}, {1, 9000, 500}, {5000, 1, 1000}, {126, 3, 50000}, {1, 4095, 100000},
};

TEST(runs_of_every_length_are_taken_from_pages_of_every_length,
     .end = (int)(sizeof(patterns) / sizeof(*patterns)))
{
    enum { ENTRIES = 40000 };
    struct nt_error error;
    struct nt_entry_range ranges[ENTRIES / 2];
    static int32_t got[ENTRIES];
    struct builder *builder = plain_dataset(ENTRIES, patterns[_i].page_elements);
    uint64_t period = patterns[_i].leave + patterns[_i].take, chosen = 0;
    size_t count = 0;
    for (uint64_t at = patterns[_i].leave; at + patterns[_i].take <= ENTRIES; at += period)
        ranges[count++] = (struct nt_entry_range){at, patterns[_i].take};
    finish(builder, NULL);
    struct nt_stream *whole = open_stream(builder, 0, NT_STREAM_DATA);
    static int32_t all[ENTRIES];
    assert_ok(nt_stream_read(whole, 0, all, sizeof(all), &error));
    nt_stream_close(whole);
    assert_ok(nt_dataset_select(builder->dataset, ranges, count, &error));
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 0, got, nt_stream_elements(stream) * sizeof(*got), &error));
    for (size_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < patterns[_i].take; k++)
            ck_assert_int_eq(got[chosen++], all[ranges[i].first + k]);
    ck_assert_uint_eq(nt_stream_elements(stream), chosen);
    nt_stream_close(stream);
    builder_free(builder);
}

/* ---- what is read ---- */

static uint64_t pages_decoded(const struct builder *builder)
{
    struct nt_counters counters;
    nt_counters_read(builder->reader, &counters);
    return counters.pages_decoded;
}

TEST(pages_without_a_chosen_entry_are_not_read)
{
    struct nt_error error;
    struct builder *builder = plain_dataset(10000, 100);
    static int32_t got[10000];
    finish(builder, NULL);
    /* three pages, of which the last two are adjacent */
    const struct nt_entry_range ranges[] = {{150, 2}, {155, 1}, {799, 2}};
    assert_ok(nt_dataset_select(builder->dataset, ranges, 3, &error));
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 0, got, 5 * sizeof(*got), &error));
    ck_assert_uint_eq(pages_decoded(builder), 3);
    nt_stream_close(stream);
    builder_free(builder);
}

/* 1000 lists of two items in each of two clusters, ends in pages of 10, items in pages of 20. */
static struct builder *pairs(void)
{
    struct builder *builder = builder_new();
    struct vector vector = add_vector(builder, NT_ENCODING_SPLIT_INDEX64, NT_ENCODING_INT32);
    for (uint32_t cluster = 0; cluster < 2; cluster++) {
        uint64_t ends[1000], items[2000];
        for (uint64_t i = 0; i < 2000; i++)
            items[i] = ends[i / 2] = 2 * (i / 2) + 2;
        add_cluster(builder, 1000 * cluster, 1000);
        add_elements(builder, cluster, vector.index, ends, 1000, 10);
        add_elements(builder, cluster, vector.values, items, 2000, 20);
    }
    finish(builder, NULL);
    return builder;
}

TEST(a_size_below_lists_takes_the_pages_of_ends_around_chosen_entries_once)
{
    struct nt_error error;
    struct builder *builder = pairs();
    uint64_t rows;
    /* the page list says where a cluster's first entry begins; for the other, the ends are in two pages */
    const struct nt_entry_range ranges[] = {{0, 1}, {500, 1}, {1000, 1}, {1995, 5}};
    assert_ok(nt_dataset_select(builder->dataset, ranges, 4, &error));
    assert_ok(nt_field_rows(builder->reader, builder->dataset, 1, &rows, &error));
    ck_assert_uint_eq(rows, 16);
    uint64_t pages = pages_decoded(builder);
    ck_assert_uint_eq(pages, 5);
    struct nt_stream *stream = open_stream(builder, 1, NT_STREAM_DATA);
    assert_ok(nt_field_rows(builder->reader, builder->dataset, 1, &rows, &error));
    ck_assert_uint_eq(pages_decoded(builder), pages);
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(a_damaged_page_fails_the_chosen_entries_in_it_and_no_others)
{
    struct nt_error error;
    struct builder *builder = plain_dataset(1000, 100);
    int32_t got[10];
    finish(builder, NULL);
    const struct nt_page *page = first_page(builder) + 3;
    builder->bytes.bytes[page->offset] ^= 1;
    const struct nt_entry_range ranges[] = {{290, 5}, {310, 1}, {401, 4}};
    assert_ok(nt_dataset_select(builder->dataset, ranges, 3, &error));
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 0, got, 5 * sizeof(*got), &error));
    assert_status(NT_CHECKSUM, nt_stream_read(stream, 5 * sizeof(*got), got, sizeof(*got), &error));
    ck_assert_uint_eq(error.offset, page->offset);
    assert_ok(nt_stream_read(stream, 6 * sizeof(*got), got, 4 * sizeof(*got), &error));
    nt_stream_close(stream);
    builder_free(builder);
}

/* For fields below one that cannot be read, the entry of each row is unknown. */
TEST(rows_below_a_field_that_cannot_be_read_are_not_chosen)
{
    struct nt_error error;
    struct nt_stream *stream;
    struct builder *builder = builder_new();
    uint32_t above = add_field(builder, NT_NONE, NT_FIELD_UNREADABLE, NT_ELEMENT_BYTE);
    uint32_t field = add_field(builder, above, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    add_cluster(builder, 0, 2);
    add_elements(builder, 0, column, (uint64_t[]){1, 2, 3}, 3, 3);
    finish(builder, NULL);
    assert_ok(nt_dataset_select(builder->dataset, &(struct nt_entry_range){0, 1}, 1, &error));
    assert_status(NT_UNSUPPORTED,
                  nt_stream_open(builder->reader, builder->dataset, field, NT_STREAM_DATA, &stream, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "cannot select rows below it, because it cannot be read"));
    builder_free(builder);
}

/* In a matrix whose columns follow one another, each has the selected rows. */
TEST(rows_are_chosen_of_each_column_where_these_are_one_after_the_other)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t field = add_array(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32, 3);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    int32_t got[6];
    edit_extra(builder, field)->is_fortran_order = true;
    add_cluster(builder, 0, 4);
    add_elements(builder, 0, column, (uint64_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 12, 5);
    finish(builder, NULL);
    assert_ok(nt_dataset_select(builder->dataset, &(struct nt_entry_range){1, 2}, 1, &error));
    struct nt_stream *stream = open_stream(builder, field, NT_STREAM_DATA);
    ck_assert_uint_eq(nt_stream_elements(stream), 6);
    assert_ok(nt_stream_read(stream, 0, got, sizeof(got), &error));
    ck_assert_mem_eq(got, ((int32_t[]){1, 2, 5, 6, 9, 10}), sizeof(got));
    nt_stream_close(stream);
    builder_free(builder);
}

/* The pages of the file are not the dataset's entries: columns stay as they are. */
TEST(columns_stay_as_they_are_stored)
{
    struct nt_error error;
    struct builder *builder = pairs();
    uint64_t elements, pages;
    assert_ok(nt_dataset_select(builder->dataset, NULL, 0, &error));
    assert_ok(nt_column_size(builder->reader, builder->dataset, 0, &elements, &pages, &error));
    ck_assert_uint_eq(elements, 2000);
    ck_assert_uint_eq(pages, 200);
    builder_free(builder);
}

/* Rows of an alternative in another order than the entries, and one that two entries share. */
TEST(rows_of_alternatives_may_be_numbered_in_any_order)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t variant = add_field(builder, NT_NONE, NT_FIELD_VARIANT, NT_ELEMENT_UINT32);
    uint32_t value = add_field(builder, variant, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t tags = add_column(builder, variant, NT_ENCODING_SWITCH, 0);
    uint32_t values = add_column(builder, value, NT_ENCODING_INT32, 0);
    add_cluster(builder, 0, 5);
    add_elements(builder, 0, tags,
                 (uint64_t[]){SWITCH(1, 3), SWITCH(1, 0), SWITCH(0, 0), SWITCH(1, 2), SWITCH(1, 3)}, 5, 5);
    add_elements(builder, 0, values, (uint64_t[]){10, 11, 12, 13}, 4, 4);
    finish(builder, NULL);
    const struct nt_entry_range ranges[] = {{0, 1}, {2, 3}};
    int32_t got[2];
    uint64_t index[4];
    assert_ok(nt_dataset_select(builder->dataset, ranges, 2, &error));
    struct nt_stream *stream = open_stream(builder, value, NT_STREAM_DATA);
    ck_assert_uint_eq(nt_stream_elements(stream), 2);
    assert_ok(nt_stream_read(stream, 0, got, sizeof(got), &error));
    ck_assert_int_eq(got[0], 12);
    ck_assert_int_eq(got[1], 13);
    nt_stream_close(stream);
    stream = open_stream(builder, variant, NT_STREAM_INDEX);
    assert_ok(nt_stream_read(stream, 0, index, sizeof(index), &error));
    ck_assert_uint_eq(index[0], 1);
    ck_assert_uint_eq(index[1], 0);
    ck_assert_uint_eq(index[2], 0);
    ck_assert_uint_eq(index[3], 1);
    nt_stream_close(stream);
    builder_free(builder);
}

/* By several threads, too. */
TEST(chosen_entries_of_several_streams_are_read_together)
{
    enum { CHOSEN = 900 };
    struct nt_error error;
    struct builder *builder = pairs();
    static struct nt_entry_range ranges[CHOSEN];
    static int64_t offsets[CHOSEN + 1];
    static int32_t items[2 * CHOSEN];
    reopen(builder, &(struct nt_reader_options){.threads = 3});
    for (uint64_t i = 0; i < CHOSEN; i++)
        ranges[i] = (struct nt_entry_range){2 * i + 1, 1};
    assert_ok(nt_dataset_select(builder->dataset, ranges, CHOSEN, &error));
    struct nt_stream *ends = open_stream(builder, 0, NT_STREAM_OFFSETS);
    struct nt_stream *data = open_stream(builder, 1, NT_STREAM_DATA);
    const struct nt_stream_range parts[] = {{ends, 0, CHOSEN + 1, offsets}, {data, 0, 2 * CHOSEN, items}};
    assert_ok(nt_streams_read_elements(parts, 2, &error));
    for (int i = 0; i < 2 * CHOSEN; i++) {
        ck_assert_int_eq(offsets[i / 2], i / 2 * 2);
        ck_assert_int_eq(items[i], (2 * (i / 2) + 1) % 1000 * 2 + 2);
    }
    nt_stream_close(ends);
    nt_stream_close(data);
    builder_free(builder);
}

TEST(a_choice_is_made_before_anything_is_read)
{
    struct nt_error error;
    struct builder *builder = pairs();
    uint64_t rows;
    nt_stream_close(open_stream(builder, 0, NT_STREAM_OFFSETS));
    assert_ok(nt_column_size(builder->reader, builder->dataset, 0, &rows, &rows, &error));
    assert_ok(nt_dataset_select(builder->dataset, NULL, 0, &error));
    assert_status(NT_INVALID, nt_field_rows(builder->reader, builder->dataset, 1, &rows, &error));
    builder_free(builder);
}
