/* SPDX-License-Identifier: MIT
 *
 * Pages from the page table of a legacy file, and tables, offsets and dictionaries that point outside of
 * the file.
 */
#include "lance_legacy_file.h"

/* The pages of a column: by the field's id and the position. */
static const struct nt_page *pages_of(int32_t id, uint32_t position, uint32_t *count_ret)
{
    struct nt_dataset *dataset = file->datasets[0];
    uint32_t field = 0;
    while (dataset->fields[field].id != (uint32_t)id)
        field++;
    assert_ok(load_field(id));
    const struct nt_group *group = nt_group_slot(dataset, dataset->field_groups[field]);
    const struct nt_range *range =
        nt_group_range(dataset, group, group->first_cluster, nt_field_column(dataset, field, 0, position));
    *count_ret = range->pages;
    return &group->pages[range->first_page];
}

struct expected_page {
    const uint64_t *offset;
    uint64_t stored_bytes, elements, parameter;
};

static const struct {
    int32_t id;
    uint32_t position;
    struct expected_page pages[2];
} columns[] = {
    {NUMBER, 0, {{&numbers_at[0], 8, 2, 0}, {&numbers_at[1], 4, 1, 0}}},
    {TEXT, 0, {{&offsets_at[0], 24, 2, 0}, {&offsets_at[1], 16, 1, 2}}}, /* 2 bytes before the second batch */
    {TEXT, 1, {{&texts_at[0], 2, 2, 0}, {&texts_at[1], 1, 1, 0}}},
    {TEXT, 2, {{&offsets_at[0], 24, 2, 0}, {&offsets_at[1], 16, 1, 0}}},
    {LIST, 0, {{&lists_at[0], 12, 2, 0}, {&lists_at[1], 8, 1, 3}}}, /* 3 items before it */
    {ITEM, 0, {{&items_at[0], 1, 3, 0}, {&items_at[1], 1, 1, 0}}},
    {WORD, 0, {{&words_at[0], 4, 2, 0}, {&words_at[1], 2, 1, 3}}},
    {WORD, 1, {{&words_at[0], 4, 3, 2}, {&words_at[1], 2, 2, 1}}}, /* the parameter: strings */
    {WORD, 2, {{&words_at[0], 4, 2, 0}, {&words_at[1], 2, 1, 0}}},
};

TEST(each_batch_is_a_page_of_each_column, .teardown = tear_down, .end = sizeof(columns) / sizeof(*columns))
{
    put_all();
    legacy_end(&writer);
    assert_ok(legacy_open());
    uint32_t count;
    const struct nt_page *pages = pages_of(columns[_i].id, columns[_i].position, &count);
    ck_assert_uint_eq(count, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct expected_page *expected = &columns[_i].pages[i];
        ck_assert_uint_eq(pages[i].offset, *expected->offset);
        ck_assert_uint_eq(pages[i].stored_bytes, expected->stored_bytes);
        ck_assert_uint_eq(pages[i].elements, expected->elements);
        ck_assert_uint_eq(pages[i].parameter, expected->parameter);
    }
}

/* ---- damage ---- */

static void set_number(uint64_t at, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        writer.out.bytes[at + i] = (char)(value >> (8 * i));
}

static void set_length(int32_t id, unsigned batch, uint64_t length)
{
    writer.cells[id][batch][1] = length;
}

static void add_row(void)
{
    set_length(NUMBER, 1, 2);
}

static void lead_beyond(void)
{
    writer.cells[NUMBER][0][0] = 1 << 20;
}

static void wrap_around(void)
{
    writer.cells[NUMBER][0][0] = UINT64_MAX - 3;
}

static void ask_for_endless_items(void)
{
    set_length(ITEM, 0, UINT64_MAX);
}

static void have_other_items(void)
{
    set_length(ITEM, 1, 2);
}

static void end_strings_beyond(void)
{
    set_number(offsets_at[1] + 8, 8, 1 << 20);
}

static void end_strings_before(void)
{
    set_number(offsets_at[1] + 8, 8, 0);
}

static void begin_lists_late(void)
{
    set_number(lists_at[0], 4, 1);
}

static void number_nothing(void)
{
    set_number(words_at[0], 2, 2);
}

static void number_less_than_nothing(void)
{
    set_number(words_at[0], 2, UINT16_MAX);
}

static void end_items_early(void)
{
    set_number(dictionary_at + 8, 8, 1);
}

static const struct {
    void (*change)(void);
    int32_t id;
    enum nt_status expected;
    const char *message;
} damages[] = {
    {add_row, NUMBER, NT_CORRUPT, "field 0 of the file: batch 1: rows of the page: expected 1, found 2"},
    {lead_beyond, NUMBER, NT_CORRUPT, "is outside the file"},
    {wrap_around, NUMBER, NT_CORRUPT, "is outside the file"},
    {ask_for_endless_items, ITEM, NT_CORRUPT, "is outside the file"},
    {have_other_items, LIST, NT_CORRUPT, "batch 1: lists have 1 items, but field 3 has 2"},
    {end_strings_beyond, TEXT, NT_CORRUPT, "strings end at 1048576"},
    {end_strings_before, TEXT, NT_CORRUPT, "offsets of 1 rows extend from"},
    {begin_lists_late, LIST, NT_UNSUPPORTED, "lists that begin with item 1"},
    {number_nothing, WORD, NT_CORRUPT, "batch 0"},
    {number_less_than_nothing, WORD, NT_CORRUPT, "batch 0"},
    {end_items_early, WORD, NT_CORRUPT, "item 0 of a dictionary ends before it begins"},
};

TEST(what_contradicts_itself_keeps_one_field_from_being_read, .teardown = tear_down,
     .end = sizeof(damages) / sizeof(*damages))
{
    put_all();
    damages[_i].change();
    legacy_end(&writer);
    assert_ok(legacy_open());
    ck_assert_uint_eq(load_field(damages[_i].id), damages[_i].expected);
    ck_assert_msg(strstr(error.message, damages[_i].message), "%s", error.message);
    assert_ok(load_field(damages[_i].id == TEXT ? NUMBER : TEXT));
}

TEST(pages_of_a_field_are_no_longer_than_the_file, .teardown = tear_down)
{
    static const uint64_t batches[] = {0, 300, 600, 900};
    static uint8_t values[300];
    legacy_begin(&writer, batches, 3);
    uint64_t at = legacy_bytes(&writer, values, sizeof(values));
    for (unsigned batch = 0; batch < 3; batch++)
        legacy_page(&writer, 0, batch, at, 300);
    legacy_field(&writer, 0, -1, "x", "int8");
    legacy_end(&writer);
    assert_ok(legacy_open());
    assert_status(NT_CORRUPT, load_field(0));
    ck_assert_ptr_nonnull(strstr(error.message, "more bytes than the file"));
}

/* Fields without pages, which no writer makes. */
static const struct {
    const char *type;
    uint64_t encoding, dictionary;
    const char *reason;
} refusals[] = {
    {"int32", 4, UINT64_MAX, "RLE"},
    {"map", 1, UINT64_MAX, "maps"},
    {"dict:string:int8:false", 3, UINT64_MAX, "the dictionary has no position"},
    {"dict:string:double:false", 3, 0, "a dictionary with items or indices of this type"},
    {"dict:bool:int8:false", 3, 0, "a dictionary with items or indices of this type"},
    {"blob", 1, UINT64_MAX, "blobs"},
    {"wishful", 1, UINT64_MAX, "does not know"},
};

TEST(what_no_writer_has_written_is_reported_by_its_field, .teardown = tear_down,
     .end = sizeof(refusals) / sizeof(*refusals))
{
    put_all();
    writer.last = 6;
    legacy_put_field(&writer.manifest, 6, -1, "odd", refusals[_i].type, refusals[_i].encoding,
                     refusals[_i].dictionary, 1);
    legacy_end(&writer);
    assert_ok(legacy_open());
    const struct nt_dataset *dataset = file->datasets[0];
    const struct nt_field *field = &dataset->fields[dataset->field_count - 1];
    ck_assert_uint_eq(field->kind, NT_FIELD_UNREADABLE);
    ck_assert_msg(strstr(field->unreadable, refusals[_i].reason), "%s", field->unreadable);
    assert_ok(load_field(TEXT));
}

/* ---- structures that were slices ---- */

static const struct nt_field *field_of(int32_t id)
{
    const struct nt_dataset *dataset = file->datasets[0];
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (dataset->fields[i].id == (uint32_t)id)
            return &dataset->fields[i];
    ck_abort_msg("no field %d", id);
    return NULL;
}

static void assert_slice(int32_t id, const char *rows)
{
    const struct nt_field *field = field_of(id);
    ck_assert_uint_eq(field->kind, NT_FIELD_UNREADABLE);
    ck_assert_msg(strstr(field->unreadable, "does not say which rows belong to the slice") &&
                      strstr(field->unreadable, rows),
                  "%s", field->unreadable);
}

TEST(a_structure_that_was_a_slice_leaves_the_others, .teardown = tear_down)
{
    put_all();
    set_length(WORD, 1, 2);
    legacy_end(&writer);
    assert_ok(legacy_open());
    assert_slice(WORD, "batch 1 has 1 rows, but the members of this sliced structure have 2,");
    assert_slice(STRUCTURE, "batch 1 has 1 rows, but the members of this sliced structure have 2,");
    for (int32_t id = NUMBER; id <= ITEM; id++)
        assert_ok(load_field(id));
}

TEST(a_structure_keeps_the_members_that_have_its_rows, .teardown = tear_down)
{
    enum { INNER = 6, NUMBERS };
    put_all();
    legacy_field(&writer, INNER, STRUCTURE, "inner", "struct");
    legacy_field(&writer, NUMBERS, INNER, "numbers", "int8");
    for (unsigned batch = 0; batch < 2; batch++)
        legacy_page(&writer, NUMBERS, batch, items_at[batch], batch ? ROWS_1 : ROWS_0 + 1);
    legacy_end(&writer);
    assert_ok(legacy_open());
    assert_slice(INNER, "batch 0 has 2 rows, but the members of this sliced structure have 3,");
    assert_slice(NUMBERS, "batch 0 has 2 rows, but the members of this sliced structure have 3,");
    ck_assert_uint_eq(field_of(STRUCTURE)->kind, NT_FIELD_RECORD);
    assert_ok(load_field(WORD));
}

TEST(lists_of_a_slice_take_their_items_with_them, .teardown = tear_down)
{
    enum { LISTS = 6, ITEMS };
    put_all();
    legacy_field(&writer, LISTS, STRUCTURE, "lists", "list");
    legacy_field(&writer, ITEMS, LISTS, "item", "int8");
    for (unsigned batch = 0; batch < 2; batch++) {
        legacy_page(&writer, LISTS, batch, lists_at[batch], batch ? ROWS_1 + 2 : ROWS_0 + 1);
        legacy_page(&writer, ITEMS, batch, items_at[batch], 1);
    }
    legacy_end(&writer);
    assert_ok(legacy_open());
    assert_slice(LISTS, "batch 1 has 1 rows, but the members of this sliced structure have 2,");
    assert_slice(ITEMS, "batch 1 has 1 rows, but the members of this sliced structure have 2,");
    assert_ok(load_field(WORD));
}

TEST(members_with_fewer_rows_than_their_structure_are_damage, .teardown = tear_down)
{
    put_all();
    set_length(WORD, 0, 1);
    legacy_end(&writer);
    assert_ok(legacy_open());
    assert_status(NT_CORRUPT, load_field(WORD));
    ck_assert_ptr_nonnull(strstr(error.message, "rows of the page: expected 2, found 1"));
}

/* Field 6 has the numbers of WORD, and a dictionary of so many items there. */
static const struct {
    const char *type;
    uint64_t offset, items;
    enum nt_status expected;
    const char *message;
} dictionaries[] = {
    {"dict:int16:int16:false", 0, 2, NT_OK, ""},
    {"dict:string:int16:false", 0, UINT64_MAX, NT_CORRUPT, "a dictionary of 18446744073709551615 items"},
    {"dict:string:int16:false", 0, UINT64_C(1) << 32, NT_CORRUPT,
     "a dictionary of 4294967296 items is outside"},
    {"dict:int16:int16:false", 0, UINT64_C(1) << 32, NT_CORRUPT,
     "a dictionary of 4294967296 items is outside"},
    {"dict:string:int16:false", 1 << 20, 2, NT_CORRUPT, "a dictionary of 2 items is outside the file of"},
    {"dict:int16:int16:false", UINT64_MAX - 1, 2, NT_CORRUPT,
     "a dictionary of 2 items is outside the file of"},
};

TEST(a_dictionary_is_in_the_file, .teardown = tear_down, .end = sizeof(dictionaries) / sizeof(*dictionaries))
{
    put_all();
    writer.last = 6;
    legacy_put_field(&writer.manifest, 6, -1, "odd", dictionaries[_i].type, 3, dictionaries[_i].offset,
                     dictionaries[_i].items);
    for (unsigned batch = 0; batch < 2; batch++)
        legacy_page(&writer, 6, batch, words_at[batch], batch ? ROWS_1 : ROWS_0);
    legacy_end(&writer);
    assert_ok(legacy_open());
    enum nt_status status = load_field(6);
    ck_assert_msg(status == dictionaries[_i].expected && strstr(error.message, dictionaries[_i].message),
                  "%s: %s", nt_status_name(status), error.message);
    assert_ok(load_field(WORD));
}

/* The number of ids from the lowest to the highest exceeds 32 bits by one. */
TEST(ids_that_no_page_table_has_are_refused, .teardown = tear_down)
{
    static const uint64_t batches[] = {0, 1};
    legacy_begin(&writer, batches, 1);
    legacy_bytes(&writer, "abcd", 4);
    legacy_put_field(&writer.manifest, INT32_MIN, -1, "low", "int8", 1, UINT64_MAX, 0);
    legacy_put_field(&writer.manifest, INT32_MAX, -1, "high", "int8", 1, UINT64_MAX, 0);
    legacy_end(&writer);
    enum nt_status status = legacy_open();
    ck_assert_msg(status == NT_CORRUPT && strstr(error.message, "from -2147483648 to 2147483647"), "%s: %s",
                  nt_status_name(status), error.message);
}

static const struct {
    uint64_t page_bytes;
    const char *message; /* NULL: it can be read */
} limits[] = {
    {1 << 20, NULL},
    {24, NULL},
    {23, "the offsets of a dictionary have 24 bytes, more than the limit pagesize of 23"},
};

TEST(what_is_counted_in_memory_is_no_longer_than_a_page_may_be, .teardown = tear_down,
     .end = sizeof(limits) / sizeof(*limits))
{
    put_all();
    legacy_end(&writer);
    assert_ok(legacy_open_within(limits[_i].page_bytes));
    enum nt_status status = load_field(WORD);
    ck_assert_int_eq(status, limits[_i].message ? NT_LIMIT : NT_OK);
    if (limits[_i].message)
        ck_assert_msg(strstr(error.message, limits[_i].message) != NULL, "%s", error.message);
}
