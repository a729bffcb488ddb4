/* SPDX-License-Identifier: MIT
 *
 * Comparing datasets: each difference is reported once, with its position; a different layout does not
 * change the values; and unreadable data is never equal.
 */
#include "diffed.h"
#include "random_dataset.h"

/* ---- a dataset that can be written in several ways ---- */

enum { ENTRIES = 8, ITEMS = 12, BYTES = 20 };

struct content {
    uint64_t numbers[ENTRIES], ends[ENTRIES], items[ITEMS], text_ends[ENTRIES], bits[3 * ENTRIES],
        switches[ENTRIES], first[4], second[4];
    char text[BYTES + 1];
    uint32_t entries;
};

static const struct content usual = {
    .numbers = {0x3ff0000000000000, 0, 0x7ff8000000000001, 3, 4, 5, 6, 7},
    .ends = {0, 2, 2, 5, 5, 9, 11, 12},
    .items = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21},
    .text_ends = {3, 3, 6, 6, 10, 12, 16, 20},
    .bits = {1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1},
    .switches = {SWITCH(1, 0), SWITCH(2, 0), SWITCH(0, 0), SWITCH(1, 1), SWITCH(2, 1), SWITCH(1, 2),
                 SWITCH(2, 2), SWITCH(2, 3)},
    .first = {1, 2, 3},
    .second = {5, 6, 7, 8},
    .text = "onetwofourfvsixxlast",
    .entries = ENTRIES,
};

struct way {
    bool is_split, is_compressed;
    uint32_t page_elements, border; /* the first entry of a second cluster; 0: there is none */
};
static const struct way ways[] = {{false, false, 100, 0},
                                  {true, false, 3, 0},
                                  {true, true, 2, 0},
                                  {false, true, 1, 5},
                                  {true, false, 4, 3}};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

/* Elements [first, end) of index values, relative to the cluster. */
static void add_ends(struct builder *builder, uint32_t cluster, uint32_t column, const uint64_t *ends,
                     uint32_t first, uint32_t end, uint32_t page_elements)
{
    uint64_t relative[ENTRIES];
    for (uint32_t i = first; i < end; i++)
        relative[i - first] = ends[i] - (first ? ends[first - 1] : 0);
    add_elements(builder, cluster, column, relative, end - first, page_elements);
}

struct columns {
    uint32_t numbers, ends, items, text_ends, text, bits, switches, first, second;
};

static void write_cluster(struct builder *builder, const struct content *content, const struct way *way,
                          const struct columns *columns, uint32_t first, uint32_t end)
{
    uint32_t cluster = add_cluster(builder, first, end - first), size = way->page_elements;
    uint64_t bytes[BYTES], switches[ENTRIES];
    uint64_t item = first ? content->ends[first - 1] : 0, byte = first ? content->text_ends[first - 1] : 0;
    uint32_t before[3] = {0}, counts[3] = {0};
    for (uint32_t i = 0; i < end; i++)
        (i < first ? before : counts)[content->switches[i] >> 48]++;
    for (uint32_t i = first; i < end; i++) {
        uint64_t tag = content->switches[i] >> 48;
        switches[i - first] = content->switches[i] - (tag ? before[tag] : 0);
    }
    for (uint32_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)content->text[i];
    add_elements(builder, cluster, columns->numbers, content->numbers + first, end - first, size);
    add_ends(builder, cluster, columns->ends, content->ends, first, end, size);
    add_elements(builder, cluster, columns->items, content->items + item,
                 (uint32_t)(content->ends[end - 1] - item), size);
    add_ends(builder, cluster, columns->text_ends, content->text_ends, first, end, size);
    add_elements(builder, cluster, columns->text, bytes + byte,
                 (uint32_t)(content->text_ends[end - 1] - byte), size);
    add_elements(builder, cluster, columns->bits, content->bits + 3 * (size_t)first, 3 * (end - first), size);
    add_elements(builder, cluster, columns->switches, switches, end - first, size);
    add_elements(builder, cluster, columns->first, content->first + before[1], counts[1], size);
    add_elements(builder, cluster, columns->second, content->second + before[2], counts[2], size);
}

/* Fields: 0 number, 1 list, 2 _0 a record, 3 x its member, 4 text, 5 bits, 6 choice, 7 and 8 its
 * alternatives. */
static struct builder *describe(const struct content *content, const struct way *way)
{
    struct builder *builder = builder_new();
    enum nt_encoding_kind index = way->is_split ? NT_ENCODING_SPLIT_INDEX64 : NT_ENCODING_INDEX64;
    uint32_t number = add_named(builder, NT_NONE, "number", NT_FIELD_VALUE, NT_ELEMENT_REAL64);
    uint32_t list = add_named(builder, NT_NONE, "list", NT_FIELD_COLLECTION, NT_ELEMENT_INT64);
    uint32_t record = add_named(builder, list, "_0", NT_FIELD_RECORD, NT_ELEMENT_INT64);
    uint32_t x = add_named(builder, record, "x", NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t text = add_named(builder, NT_NONE, "text", NT_FIELD_STRING, NT_ELEMENT_BYTE);
    uint32_t bits = add_array(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_BOOL, 3);
    builder->fields[bits].name = text_of("bits");
    uint32_t choice = add_named(builder, NT_NONE, "choice", NT_FIELD_VARIANT, NT_ELEMENT_SWITCH);
    uint32_t first = add_named(builder, choice, "_0", NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t second = add_named(builder, choice, "_1", NT_FIELD_VALUE, NT_ELEMENT_INT32);
    enum nt_encoding_kind integers = way->is_split ? NT_ENCODING_SPLIT_INT32 : NT_ENCODING_INT32;
    const struct columns columns = {
        .numbers =
            add_column(builder, number, way->is_split ? NT_ENCODING_SPLIT_REAL64 : NT_ENCODING_REAL64, 0),
        .ends = add_column(builder, list, index, 0),
        .items = add_column(builder, x, integers, 0),
        .text_ends = add_column(builder, text, index, 0),
        .text = add_column(builder, text, NT_ENCODING_CHAR, 0),
        .bits = add_column(builder, bits, NT_ENCODING_BIT, 0),
        .switches = add_column(builder, choice, NT_ENCODING_SWITCH, 0),
        .first = add_column(builder, first, integers, 0),
        .second = add_column(builder, second, integers, 0)};
    builder->columns[columns.text].position = 1;
    builder->compress = way->is_compressed;
    if (way->border)
        write_cluster(builder, content, way, &columns, 0, way->border);
    write_cluster(builder, content, way, &columns, way->border, content->entries);
    return builder;
}

static struct builder *written(const struct content *content, const struct way *way)
{
    const struct nt_reader_options options = {.threads = 2};
    struct builder *builder = describe(content, way);
    finish(builder, &options);
    return builder;
}

/* ---- layouts ---- */

TEST(another_layout_makes_no_values_differ, .end = WAYS * WAYS)
{
    const struct way *way = &ways[_i % WAYS], *other = &ways[_i / WAYS];
    struct builder *a = written(&usual, way), *b = written(&usual, other);
    struct reported reported;
    diff(&reported, a, b);
    check_reported(&reported, "", "", "");
    ck_assert_int_eq(reported.summary.differences[NT_DIFF_LAYOUT] != 0, way != other);
    const char *lines = nt_buffer_string(&reported.lines[NT_DIFF_LAYOUT]);
    ck_assert_int_eq(strstr(lines, " clusters: ") != NULL, !way->border != !other->border);
    ck_assert_int_eq(strstr(lines, "list/_0/x type: \"") != NULL, way->is_split != other->is_split);
    ck_assert_int_eq(strstr(lines, " pages: ") != NULL, way != other);
    ck_assert_uint_eq(reported.progress, reported.total);
    forget(&reported);
    builder_free(a);
    builder_free(b);
}

TEST(any_dataset_is_the_same_as_itself, .end = 60)
{
    struct builder *a = random_dataset((unsigned)_i, 12), *b = random_dataset((unsigned)_i, 12);
    struct reported reported;
    finish(a, NULL);
    finish(b, &(struct nt_reader_options){.threads = 3});
    diff(&reported, a, b);
    ck_assert_str_eq(nt_buffer_string(&reported.lines[NT_DIFF_SCHEMA]), "");
    ck_assert_str_eq(nt_buffer_string(&reported.lines[NT_DIFF_VALUES]), "");
    ck_assert_str_eq(nt_buffer_string(&reported.lines[NT_DIFF_LAYOUT]), "");
    forget(&reported);
    builder_free(a);
    builder_free(b);
}

/* ---- values ---- */

static void change(struct content *content, int which)
{
    static const char texts[][BYTES + 1] = {"onetwofourfvsXxxlasX", "onetwofourfvsixxlasX"};
    switch (which) {
    case 0:
        content->numbers[3] = 9;
        break;
    case 1: /* the sign of 0 */
        content->numbers[1] = UINT64_C(1) << 63;
        break;
    case 2: /* a NaN, another NaN */
        content->numbers[2] = 0x7ff8000000000002;
        break;
    case 3: /* the second of two items in entry 1, and one after it */
        content->items[1] = 99;
        content->items[7] = 99;
        break;
    case 4: /* an item after empty lists */
        content->items[5] = 99;
        break;
    case 5: /* an item moves to the next entry */
        content->ends[3] = 4;
        break;
    case 6:
        memcpy(content->text, texts[0], BYTES);
        break;
    case 7: /* a byte moves to the next text */
        content->text_ends[2] = 5;
        break;
    case 8:
        content->bits[10] = 1;
        break;
    case 9: /* an alternative */
        content->switches[2] = SWITCH(1, 1);
        content->switches[3] = SWITCH(1, 2);
        content->switches[5] = SWITCH(1, 3);
        content->first[3] = 4;
        break;
    case 10: /* the value of an alternative */
        content->second[2] = 70;
        break;
    case 11:
        memcpy(content->text, texts[1], BYTES);
        break;
    }
}
static const char *const changes[] = {
    "number[3] of 3 value: 1.5e-323 | 4.4e-323\n",
    "number[1] of 1 value: 0.0 | -0.0\n",
    "number[2] of 2 value: \"NaN\"7ff8000000000001 | \"NaN\"7ff8000000000002\n",
    "list/_0/x[1] of 1 value: 11 | 99\n",
    "list/_0/x[5] of 5 value: 15 | 99\n",
    "list[3] of 3 items: 3 | 2\n",
    "text[6] of 6 at 1 value: \"sixx\" | \"sXxx\"\n",
    "text[2] of 2 at 2 value: \"two\" | \"tw\"\n",
    "bits[3][1] of 3 value: false | true\n",
    "choice[2] of 2 tags: 0 | 1\nchoice/_0 elements: 3 | 4\n",
    "choice/_1[2] value: 7 | 70\n",
    "text[7] of 7 at 3 value: \"last\" | \"lasX\"\n",
};
enum { CHANGES = sizeof(changes) / sizeof(*changes) };

/* For any layouts. */
TEST(the_first_difference_of_a_field_is_reported_where_it_is, .end = CHANGES * WAYS)
{
    struct content changed = usual;
    change(&changed, _i / WAYS);
    const char *expected = changes[_i / WAYS];
    check_diff(written(&usual, &ways[_i % WAYS]), written(&changed, &ways[(_i + 1) % WAYS]), "", expected);
}

/* A row of an array has several rows of its item. Formats name the item differently. */
TEST(the_entry_is_found_through_arrays)
{
    static const uint64_t ends[] = {1, 1, 3}, values[] = {1, 2, 3, 4, 5, 6}, others[] = {1, 2, 3, 4, 7, 6};
    struct builder *builders[NT_DIFF_SIDES];
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct builder *builder = builders[side] = builder_new();
        uint32_t list = add_named(builder, NT_NONE, "list", NT_FIELD_COLLECTION, NT_ELEMENT_INT64);
        uint32_t array = add_array(builder, list, NT_FIELD_ARRAY, NT_ELEMENT_INT64, 2);
        builder->fields[array].name = text_of("_0");
        uint32_t item = add_named(builder, array, side ? "item" : "_0", NT_FIELD_VALUE, NT_ELEMENT_INT32);
        uint32_t index = add_column(builder, list, NT_ENCODING_INDEX64, 0);
        uint32_t column = add_column(builder, item, NT_ENCODING_INT32, 0);
        uint32_t cluster = add_cluster(builder, 0, 3);
        add_elements(builder, cluster, index, ends, 3, 3);
        add_elements(builder, cluster, column, side ? others : values, 6, 4);
        finish(builder, NULL);
    }
    check_diff(builders[0], builders[1], "", "list/_0/_0[4] of 2 value: 5 | 7\n");
}

TEST(fewer_entries_are_reported_once_and_the_rest_is_compared)
{
    struct content shorter = usual;
    shorter.entries = 6;
    check_diff(written(&usual, &ways[0]), written(&shorter, &ways[2]), "",
               " entries: 8 | 6\nlist items: 12 | 9\nchoice/_1 elements: 4 | 2\n");
}

/* The part of a long text around the byte that differs. */
TEST(of_a_long_text_a_part_is_reported)
{
    enum { LENGTH = 5000, AT = 3000 };
    static uint64_t bytes[LENGTH];
    const uint64_t end = LENGTH;
    struct builder *builders[NT_DIFF_SIDES];
    struct reported reported;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct builder *builder = builders[side] = builder_new();
        uint32_t field = add_named(builder, NT_NONE, "text", NT_FIELD_STRING, NT_ELEMENT_BYTE);
        uint32_t ends = add_column(builder, field, NT_ENCODING_INDEX64, 0);
        uint32_t text = add_column(builder, field, NT_ENCODING_CHAR, 0);
        builder->columns[text].position = 1;
        for (int i = 0; i < LENGTH; i++)
            bytes[i] = i < AT ? '-' : i == AT && side ? 'X' : '+';
        uint32_t cluster = add_cluster(builder, 0, 1);
        add_elements(builder, cluster, ends, &end, 1, 1);
        add_elements(builder, cluster, text, bytes, LENGTH, 700);
        finish(builder, NULL);
    }
    diff(&reported, builders[0], builders[1]);
    const char *line = nt_buffer_string(&reported.lines[NT_DIFF_VALUES]);
    const char *expected = "text[0] of 0 at 3000 from 2968 value: \"--------------------------------+";
    ck_assert_int_eq(strncmp(line, expected, strlen(expected)), 0);
    ck_assert_ptr_nonnull(strstr(line, " | \"--------------------------------X+"));
    ck_assert_uint_lt(strlen(line), 700);
    forget(&reported);
    builder_free(builders[0]);
    builder_free(builders[1]);
}

TEST(what_is_below_fields_of_other_kinds_is_left_out)
{
    struct builder *a = written(&usual, &ways[0]), *b = describe(&usual, &ways[0]);
    b->fields[1].kind = NT_FIELD_OPTIONAL;
    b->fields[5].repetition = 1;
    finish(b, NULL);
    check_diff(a, b, "bits shape: \"[3]\" | \"[1]\"\n",
               "list not compared: kind: \"collection\" | \"optional\"\n"
               "bits not compared: shape: \"[3]\" | \"[1]\"\n");
}

TEST(descriptions_types_and_sources_are_of_the_schema)
{
    struct builder *a = written(&usual, &ways[0]), *b = describe(&usual, &ways[0]);
    b->fields[0].description = text_of("new");
    b->fields[3].type = text_of("alias");
    finish(b, NULL);
    b->dataset->description = text_of("of the year");
    check_diff(a, b,
               " description: \"\" | \"of the year\"\nnumber description: \"\" | \"new\"\n"
               "list/_0/x type: \"value\" | \"alias\"\n",
               "");
}

TEST(what_a_projection_shows_is_reported_of_its_source_alone)
{
    struct builder *builders[NT_DIFF_SIDES];
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct content content = usual;
        content.numbers[3] += side;
        builders[side] = describe(&content, &ways[0]);
        project(builders[side],
                add_named(builders[side], NT_NONE, "shown", NT_FIELD_VALUE, NT_ELEMENT_REAL64), 0);
        finish(builders[side], NULL);
    }
    check_diff(builders[0], builders[1], "", "number[3] of 3 value: 1.5e-323 | 2e-323\n");
}

TEST(a_field_is_compared_with_what_is_below)
{
    struct content changed = usual;
    struct reported reported;
    change(&changed, 0);
    change(&changed, 3);
    struct builder *a = written(&usual, &ways[0]), *b = written(&changed, &ways[1]);
    diff_fields(&reported, a, b, 1);
    check_reported(&reported, "", changes[3], "");
    ck_assert_ptr_null(strstr(nt_buffer_string(&reported.lines[NT_DIFF_LAYOUT]), "number"));
    forget(&reported);
    builder_free(a);
    builder_free(b);
}

/* ---- what cannot be read ---- */

TEST(a_damaged_page_is_a_failure_and_nothing_else_is, .end = 2 * 9)
{
    unsigned side = (unsigned)_i % NT_DIFF_SIDES, page = (unsigned)_i / NT_DIFF_SIDES;
    struct builder *builders[] = {written(&usual, &ways[0]), written(&usual, &ways[0])};
    struct reported reported;
    char expected[32];
    damage(builders[side], page);
    diff(&reported, builders[0], builders[1]);
    snprintf(expected, sizeof(expected), "%u ", side);
    check_reported(&reported, "", "", expected);
    for (const char *line = reported.failures.bytes; *line; line = strchr(line, '\n') + 1)
        ck_assert_int_eq(*line, *expected);
    ck_assert_uint_ge(reported.summary.failures, 1);
    forget(&reported);
    builder_free(builders[0]);
    builder_free(builders[1]);
}

TEST(a_bad_page_list_is_reported_once_and_no_values_are_compared)
{
    struct reported reported;
    struct builder *a = written(&usual, &ways[0]), *b = describe(&usual, &ways[0]);
    b->bad_group[0] = true;
    finish(b, NULL);
    diff(&reported, a, b);
    check_reported(&reported, "", "", "1 -1 page list of cluster group 0: this page list is bad");
    ck_assert_uint_eq(reported.summary.failures, 1);
    forget(&reported);
    builder_free(a);
    builder_free(b);
}

TEST(a_field_that_cannot_be_read_is_a_failure_of_its_side)
{
    struct reported reported;
    struct builder *a = written(&usual, &ways[0]), *b = describe(&usual, &ways[0]);
    b->fields[4].kind = NT_FIELD_UNREADABLE;
    b->fields[4].unreadable = "nobody knows it";
    finish(b, NULL);
    diff(&reported, a, b);
    check_reported(&reported, "", "", "1 4 field text cannot be read: nobody knows it\n");
    forget(&reported);
    builder_free(a);
    builder_free(b);
}
