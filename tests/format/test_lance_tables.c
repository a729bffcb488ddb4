/* SPDX-License-Identifier: MIT
 *
 * Tail, tables, schema and column metadata: what was written is found, and what contradicts itself is refused.
 */
#include <string.h>

#include "lance_opened.h"

static struct nt_error error;
static struct lance_writer writer;
static struct lance_opened opened;

/* What a test does differently from the plain file. */
struct difference {
    const char *what;
    enum nt_status expected;
    void (*change)(void); /* before the end is written */
};

static void tear_down(void)
{
    lance_close(&opened);
    lance_deinit(&writer);
}

static enum nt_status read_again(void)
{
    lance_close(&opened);
    error = (struct nt_error){0};
    return lance_open_bytes(&opened, writer.out.bytes, writer.out.length, &error);
}

/* ---- the plain file: two columns of 5 and a struct with one ---- */

enum { ROWS = 5 };
static struct lance_place places[3];

static void put_pages(unsigned bits, uint64_t first_rows, const struct lance_place *buffers)
{
    struct nt_buffer encoding = lance_flat_layout(bits, first_rows);
    lance_column(&writer);
    lance_page(&writer, buffers, 2, first_rows, 0, LANCE_LAYOUT, &encoding);
    encoding = lance_flat_layout(bits, ROWS - first_rows);
    lance_page(&writer, buffers, 1, ROWS - first_rows, first_rows, LANCE_LAYOUT, &encoding);
}

static void put_plain(void)
{
    lance_begin(&writer, 2, 1, ROWS);
    places[0] = lance_buffer(&writer, "abcd", 4);
    places[1] = lance_buffer(&writer, "", 0);
    places[2] = lance_buffer(&writer, "0123456789", 10);
    lance_field(&writer, 7, -1, "x", "int64", false);
    lance_field(&writer, 3, -1, "s", "struct", true);
    lance_field(&writer, 4, 3, "y", "float", true);
    put_pages(64, 3, places);
    put_pages(32, 2, places + 1);
}

START_TEST(what_was_written_is_found)
{
    put_plain();
    lance_end(&writer);
    assert_ok(read_again());
    const struct nt_lance_tail *tail = &opened.lance.tail;
    ck_assert_uint_eq(tail->offset, writer.footer);
    ck_assert_uint_eq(tail->columns_start, writer.columns_start);
    ck_assert_uint_eq(tail->column_table, writer.column_table);
    ck_assert_uint_eq(tail->global_table, writer.global_table);
    ck_assert_uint_eq(tail->globals, 1);
    ck_assert_uint_eq(tail->columns, 2);
    ck_assert_str_eq(tail->version, "2.1");
    ck_assert_uint_eq(opened.lance.globals[0].offset, writer.descriptor.offset);
    ck_assert_uint_eq(opened.lance.globals[0].bytes, writer.descriptor.bytes);
    ck_assert_uint_eq(opened.lance.rows, ROWS);
}
END_TEST

START_TEST(fields_have_their_parents)
{
    put_plain();
    lance_end(&writer);
    assert_ok(read_again());
    const struct nt_lance_field *fields = opened.lance.fields;
    ck_assert_uint_eq(opened.lance.field_count, 3);
    ck_assert_int_eq(fields[0].id, 7);
    ck_assert_str_eq(fields[0].name.bytes, "x");
    ck_assert_str_eq(fields[0].logical_type.bytes, "int64");
    ck_assert(!fields[0].is_nullable);
    ck_assert_uint_eq(fields[0].parent, NT_NONE);
    ck_assert_uint_eq(fields[1].parent, NT_NONE);
    ck_assert_str_eq(fields[2].name.bytes, "y");
    ck_assert(fields[2].is_nullable);
    ck_assert_uint_eq(fields[2].parent, 1);
}
END_TEST

static void check_page(const struct nt_lance_page *page, const struct lance_place *buffers, unsigned count,
                       uint64_t rows, uint64_t first_row)
{
    ck_assert_uint_eq(page->length, rows);
    ck_assert_uint_eq(page->priority, first_row);
    ck_assert_uint_eq(page->encoding_kind, NT_LANCE_ENCODING_IS_LAYOUT);
    ck_assert_uint_eq(page->buffer_count, count);
    for (unsigned i = 0; i < count; i++) {
        ck_assert_uint_eq(page->buffers[i].offset, buffers[i].offset);
        ck_assert_uint_eq(page->buffers[i].bytes, buffers[i].bytes);
    }
}

START_TEST(columns_have_their_pages)
{
    put_plain();
    lance_end(&writer);
    assert_ok(read_again());
    for (unsigned i = 0; i < 2; i++) {
        const struct nt_lance_column *column = &opened.lance.columns[i];
        uint64_t first_rows = i ? 2 : 3;
        ck_assert_uint_eq(column->metadata.offset, writer.metadata[i].offset);
        ck_assert_uint_eq(column->metadata.bytes, writer.metadata[i].bytes);
        ck_assert_uint_eq(column->rows, ROWS);
        ck_assert_uint_eq(column->page_count, 2);
        ck_assert(!column->is_blob && !column->failure && column->encoding.bytes);
        check_page(&column->pages[0], places + i, 2, first_rows, 0);
        check_page(&column->pages[1], places + i, 1, ROWS - first_rows, first_rows);
    }
    struct nt_proto layout, flat;
    struct nt_proto encoding = opened.lance.columns[1].pages[0].encoding;
    ck_assert_uint_eq(nt_proto_choice(encoding, &nt_lance_page_layout, &layout), NT_LANCE_LAYOUT_MINI_BLOCK);
    ck_assert_uint_eq(nt_proto_number(layout, NT_LANCE_MINI_BLOCK_NUM_ITEMS), 2);
    struct nt_proto values = nt_proto_message(layout, NT_LANCE_MINI_BLOCK_VALUE_COMPRESSION);
    ck_assert_uint_eq(nt_proto_choice(values, &nt_lance_compressive_encoding, &flat),
                      NT_LANCE_COMPRESSIVE_FLAT);
    ck_assert_uint_eq(nt_proto_number(flat, NT_LANCE_FLAT_BITS_PER_VALUE), 32);
}
END_TEST

START_TEST(a_file_may_have_no_rows_and_no_columns)
{
    lance_begin(&writer, 2, 2, 0);
    lance_end(&writer);
    assert_ok(read_again());
    ck_assert_uint_eq(opened.lance.field_count, 0);
    ck_assert_uint_eq(opened.lance.tail.columns, 0);
    ck_assert_uint_eq(opened.lance.rows, 0);
}
END_TEST

START_TEST(metadata_of_maps_are_found_by_their_keys)
{
    struct nt_buffer field = {0}, entry = {0}, other = {0};
    struct nt_text value;
    lance_begin(&writer, 2, 1, 0);
    put_text(&entry, 1, "unit");
    put_text(&entry, 2, "GeV");
    put_text(&other, 1, "empty");
    put_text(&field, 2, "x");
    put_number(&field, 4, UINT64_MAX);
    put_message(&field, 10, &other);
    put_message(&field, 10, &entry);
    put_message(&writer.schema, 1, &field);
    lance_end(&writer);
    assert_ok(read_again());
    struct nt_proto message = opened.lance.fields[0].message;
    ck_assert(nt_lance_find_entry(message, NT_LANCE_FIELD_METADATA, "unit", &value));
    ck_assert(nt_text_is(value, "GeV"));
    ck_assert(nt_lance_find_entry(message, NT_LANCE_FIELD_METADATA, "empty", &value));
    ck_assert_uint_eq(value.length, 0);
    ck_assert(!nt_lance_find_entry(message, NT_LANCE_FIELD_METADATA, "uni", &value));
}
END_TEST

/* ---- versions ---- */

static const struct {
    uint16_t major, minor;
    enum nt_status expected;
    const char *version; /* or what the message says */
} versions[] = {
    {0, 1, NT_UNSUPPORTED, "version 0.1, the legacy format, is not read"},
    {0, 2, NT_UNSUPPORTED, "version 0.2, the legacy format, is not read"},
    {0, 3, NT_OK, "2.0"},
    {2, 0, NT_OK, "2.0"},
    {2, 1, NT_OK, "2.1"},
    {2, 2, NT_OK, "2.2"},
    {2, 3, NT_OK, "2.3"},
    {2, 4, NT_UNSUPPORTED, "version 2.4 is not read"},
    {0, 0, NT_UNSUPPORTED, "version 0.0 is not read"},
    {3, 0, NT_UNSUPPORTED, "version 3.0 is not read"},
    {513, 258, NT_UNSUPPORTED, "version 513.258 is not read"},
};

START_TEST(versions_are_known_or_refused)
{
    lance_begin(&writer, versions[_i].major, versions[_i].minor, 0);
    lance_end(&writer);
    enum nt_status status = read_again();
    ck_assert_uint_eq(status, versions[_i].expected);
    if (status == NT_OK)
        ck_assert_str_eq(opened.lance.tail.version, versions[_i].version);
    else
        ck_assert_msg(strstr(error.message, versions[_i].version), "%s", error.message);
}
END_TEST

START_TEST(a_manifest_is_told_from_a_legacy_file)
{
    static const char manifest[] = "\x02\x00\x00\x00\x0a\x00", legacy[] = "\x02\x00\x00\x00\x08\x01";
    static const char tail[] = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00LANC";
    for (unsigned i = 0; i < 2; i++) {
        nt_buffer_clear(&writer.out);
        nt_buffer_append(&writer.out, i ? manifest : legacy, 6);
        nt_buffer_append(&writer.out, tail, 16);
        ck_assert_uint_eq(read_again(), NT_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(error.message, i ? "a manifest" : "the legacy format"));
    }
}
END_TEST

START_TEST(what_does_not_end_in_its_magic_is_no_lance_file)
{
    put_plain();
    lance_end(&writer);
    writer.out.length--;
    ck_assert_uint_eq(read_again(), NT_NOT_THIS_FORMAT);
    writer.out.length = 0;
    ck_assert_uint_eq(read_again(), NT_NOT_THIS_FORMAT);
}
END_TEST

/* ---- contradictions ---- */

/* A number of the footer, of so many bytes, replaced. */
static const struct {
    unsigned place, bytes;
    uint64_t value;
} footers[] = {
    {0, 8, UINT64_MAX},  {0, 8, 100000},    {8, 8, UINT64_MAX}, {8, 8, UINT64_MAX - 31}, {8, 8, 0},
    {16, 8, UINT64_MAX}, {16, 8, 1u << 20}, {24, 4, 0},         {24, 4, UINT32_MAX},     {24, 4, 1u << 31},
    {28, 4, UINT32_MAX}, {28, 4, 1u << 28}, {28, 4, 1000},
};

START_TEST(numbers_of_the_footer_are_compared_with_the_bytes_there_are)
{
    put_plain();
    lance_end(&writer);
    for (unsigned i = 0; i < footers[_i].bytes; i++)
        writer.out.bytes[writer.footer + footers[_i].place + i] = (char)(footers[_i].value >> (8 * i));
    ck_assert_msg(read_again() == NT_CORRUPT, "%s", error.message);
    ck_assert_uint_ne(error.offset, NT_NO_OFFSET);
}
END_TEST

static void end_with_table_entry(uint64_t table, uint64_t place, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        writer.out.bytes[table + place + i] = (char)(value >> (8 * i));
}

START_TEST(entries_of_tables_lie_where_they_may)
{
    const uint64_t values[] = {UINT64_MAX, 1u << 20, 0};
    for (unsigned place = 0; place < 32; place += 8) {
        for (unsigned i = 0; i < 2; i++) {
            put_plain();
            lance_end(&writer);
            end_with_table_entry(writer.column_table, place, values[i]);
            ck_assert_msg(read_again() == NT_CORRUPT, "%u: %s", place, error.message);
            ck_assert_ptr_nonnull(strstr(error.message, place < 16 ? "column 0" : "column 1"));
            lance_deinit(&writer);
        }
    }
    put_plain();
    lance_end(&writer);
    end_with_table_entry(writer.global_table, 8, values[1]);
    ck_assert_uint_eq(read_again(), NT_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "global buffer 0"));
}
END_TEST

static void add_page(const struct lance_place *buffers, unsigned count, uint64_t rows, uint64_t first_row)
{
    struct nt_buffer encoding = lance_flat_layout(64, rows);
    lance_page(&writer, buffers, count, rows, first_row, LANCE_LAYOUT, &encoding);
}

static void add_orphan(void)
{
    lance_field(&writer, 9, 100, "orphan", "int64", false);
}

static void add_own_child(void)
{
    lance_field(&writer, 9, 9, "own_child", "int64", false);
}

static void add_same_id(void)
{
    lance_field(&writer, 7, -1, "again", "int64", false);
}

static void add_bad_schema(void)
{
    put_number(&writer.schema, 1, 5);
}

static void add_many_rows(void)
{
    add_page(places, 1, UINT64_C(1) << 40, ROWS);
}

static void add_endless_rows(void)
{
    add_page(places, 1, UINT64_MAX, ROWS);
}

static void add_earlier_page(void)
{
    add_page(places, 1, 0, 1);
}

static void add_empty_column(void)
{
    lance_column(&writer);
}

static void add_buffer_beyond(void)
{
    const struct lance_place beyond = {1 << 20, 1};
    add_page(&beyond, 1, 0, ROWS);
}

static void add_buffer_around(void)
{
    const struct lance_place around = {8, UINT64_MAX};
    add_page(&around, 1, 0, ROWS);
}

static struct nt_buffer *last_column(void)
{
    return &writer.columns[writer.column_count - 1];
}

static void add_page_without_encoding(void)
{
    struct nt_buffer page = {0};
    put_message(last_column(), 2, &page);
}

static void add_indirect_encoding(void)
{
    struct nt_buffer page = {0}, encoding = {0}, indirect = {0};
    put_number(&indirect, 2, 10);
    put_message(&encoding, 1, &indirect);
    put_message(&page, 4, &encoding);
    put_number(&page, 5, ROWS);
    put_message(last_column(), 2, &page);
}

static void add_unequal_counts(void)
{
    put_packed(last_column(), 3, (const uint64_t[]){0, 0}, 2);
    put_packed(last_column(), 4, (const uint64_t[]){1}, 1);
}

static void add_bad_layout(void)
{
    struct nt_buffer encoding = {0};
    put_number(&encoding, 1, 1);
    lance_page(&writer, NULL, 0, 0, ROWS, LANCE_LAYOUT, &encoding);
}

static void add_rubbish(void)
{
    nt_buffer_append(last_column(), "\xff\xff\xff", 3);
}

static const struct difference contradictions[] = {
    {"a field whose parent is not there", NT_CORRUPT, add_orphan},
    {"a field that is its own parent", NT_CORRUPT, add_own_child},
    {"two fields of one id", NT_CORRUPT, add_same_id},
    {"a number for a field", NT_CORRUPT, add_bad_schema},
    {"more rows than the file has", NT_CORRUPT, add_many_rows},
    {"rows that make too large a sum", NT_CORRUPT, add_endless_rows},
    {"a page that stands before the one in front of it", NT_CORRUPT, add_earlier_page},
    {"a column without pages in a file with rows", NT_CORRUPT, add_empty_column},
    {"a buffer behind the file", NT_CORRUPT, add_buffer_beyond},
    {"a buffer whose end wraps around", NT_CORRUPT, add_buffer_around},
    {"a page without an encoding", NT_CORRUPT, add_page_without_encoding},
    {"an encoding that is elsewhere", NT_UNSUPPORTED, add_indirect_encoding},
    {"more offsets than sizes", NT_CORRUPT, add_unequal_counts},
    {"an encoding that is damaged", NT_CORRUPT, add_bad_layout},
    {"bytes that are no field", NT_CORRUPT, add_rubbish},
};

START_TEST(contradictions_are_refused_with_their_place)
{
    const struct difference *difference = &contradictions[_i];
    put_plain();
    difference->change();
    lance_end(&writer);
    ck_assert_msg(read_again() == difference->expected, "%s: %s", difference->what, error.message);
    ck_assert_uint_lt(error.offset, writer.footer);
    ck_assert_msg(strstr(error.message, "column ") || strstr(error.message, "schema: "), "%s", error.message);
}
END_TEST

START_TEST(items_of_lists_have_columns_with_other_rows_in_2_0)
{
    struct nt_buffer encoding = lance_flat_array(64);
    lance_begin(&writer, 0, 3, ROWS);
    lance_field(&writer, 0, -1, "l", "list", true);
    lance_field(&writer, 1, 0, "item", "int64", true);
    lance_column(&writer);
    lance_page(&writer, NULL, 0, ROWS, 0, LANCE_ARRAY, &encoding);
    encoding = lance_flat_array(64);
    lance_column(&writer);
    lance_page(&writer, NULL, 0, 1000, 0, LANCE_ARRAY, &encoding);
    lance_end(&writer);
    assert_ok(read_again());
    ck_assert_uint_eq(opened.lance.columns[1].rows, 1000);
    ck_assert_uint_eq(opened.lance.columns[1].pages[0].encoding_kind, NT_LANCE_ENCODING_IS_ARRAY);
}
END_TEST

START_TEST(an_unknown_encoding_is_told_of_its_column)
{
    struct nt_buffer encoding = {0};
    put_plain();
    lance_column(&writer);
    put_text(&encoding, 1, "of another time");
    lance_page(&writer, places, 1, ROWS, 0, "/lance.encodings99.PageLayout", &encoding);
    lance_end(&writer);
    assert_ok(read_again());
    ck_assert_ptr_null(opened.lance.columns[1].failure);
    const struct nt_lance_column *column = &opened.lance.columns[2];
    ck_assert_uint_eq(column->failure->status, NT_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(column->failure->message, "lance.encodings99.PageLayout"));
    ck_assert_uint_eq(column->pages[0].encoding_kind, NT_LANCE_ENCODING_IS_UNKNOWN);
    ck_assert_uint_eq(column->pages[0].encoding.size, 17);
}
END_TEST

/* ---- damage ---- */

START_TEST(no_truncation_is_read)
{
    put_plain();
    lance_end(&writer);
    while (writer.out.length > 0) {
        writer.out.length--;
        char *bytes = malloc(writer.out.length + 1); /* so that a read behind the end is seen */
        memcpy(bytes, writer.out.bytes, writer.out.length);
        ck_assert_uint_eq(lance_open_bytes(&opened, bytes, writer.out.length, &error), NT_NOT_THIS_FORMAT);
        free(bytes);
    }
}
END_TEST

START_TEST(every_changed_byte_is_read_or_refused)
{
    static const uint8_t changes[] = {0x01, 0x02, 0x08, 0x10, 0x40, 0x80, 0xff};
    put_plain();
    lance_end(&writer);
    for (size_t i = 0; i < writer.out.length * sizeof(changes); i++) {
        uint8_t change = changes[i % sizeof(changes)];
        char *byte = &writer.out.bytes[i / sizeof(changes)];
        *byte = (char)(*byte ^ change);
        enum nt_status status = read_again();
        ck_assert_msg(status == NT_OK || status == NT_CORRUPT || status == NT_UNSUPPORTED ||
                          status == NT_NOT_THIS_FORMAT || status == NT_LIMIT,
                      "%s", error.message);
        *byte = (char)(*byte ^ change);
    }
}
END_TEST

/* A column's message for many columns: taken apart again for each of them, which the file's size has to bear. */
START_TEST(what_columns_share_counts_for_each_of_them)
{
    enum { MESSAGE_BYTES = 1 << 20, COLUMNS = 60000 };
    char *rubbish = calloc(1, MESSAGE_BYTES);
    struct nt_buffer table = {0};
    lance_begin(&writer, 2, 1, 0);
    lance_column(&writer);
    put_bytes(&writer.columns[0], 99, rubbish, MESSAGE_BYTES);
    free(rubbish);
    lance_end(&writer);
    for (unsigned i = 0; i < COLUMNS; i++)
        nt_buffer_append(&table, writer.out.bytes + writer.column_table, 16);
    /* The table, then the table of global buffers and the footer with its new number of columns. */
    nt_buffer_append(&table, writer.out.bytes + writer.global_table, 16 + LANCE_FOOTER_BYTES);
    writer.out.length = writer.column_table;
    nt_buffer_append(&writer.out, table.bytes, table.length);
    uint64_t footer = writer.out.length - LANCE_FOOTER_BYTES, global_table = footer - 16;
    for (unsigned i = 0; i < 8; i++)
        writer.out.bytes[footer + 16 + i] = (char)(global_table >> (8 * i));
    for (unsigned i = 0; i < 4; i++)
        writer.out.bytes[footer + 28 + i] = (char)(COLUMNS >> (8 * i));
    ck_assert_msg(read_again() == NT_LIMIT, "%s", error.message);
    nt_buffer_deinit(&table);
}
END_TEST

static TCase *damage_cases(void)
{
    TCase *cases = tcase_create("contradictions and damage");
    tcase_add_checked_fixture(cases, NULL, tear_down);
    tcase_add_loop_test(cases, numbers_of_the_footer_are_compared_with_the_bytes_there_are, 0,
                        sizeof(footers) / sizeof(*footers));
    tcase_add_test(cases, entries_of_tables_lie_where_they_may);
    tcase_add_loop_test(cases, contradictions_are_refused_with_their_place, 0,
                        sizeof(contradictions) / sizeof(*contradictions));
    tcase_add_test(cases, no_truncation_is_read);
    tcase_add_test(cases, every_changed_byte_is_read_or_refused);
    tcase_add_test(cases, what_columns_share_counts_for_each_of_them);
    return cases;
}

int main(void)
{
    Suite *suite = suite_create("lance: tables");
    TCase *cases = tcase_create("tables");
    tcase_add_checked_fixture(cases, NULL, tear_down);
    tcase_add_test(cases, what_was_written_is_found);
    tcase_add_test(cases, fields_have_their_parents);
    tcase_add_test(cases, columns_have_their_pages);
    tcase_add_test(cases, a_file_may_have_no_rows_and_no_columns);
    tcase_add_test(cases, metadata_of_maps_are_found_by_their_keys);
    tcase_add_loop_test(cases, versions_are_known_or_refused, 0, sizeof(versions) / sizeof(*versions));
    tcase_add_test(cases, a_manifest_is_told_from_a_legacy_file);
    tcase_add_test(cases, what_does_not_end_in_its_magic_is_no_lance_file);
    tcase_add_test(cases, items_of_lists_have_columns_with_other_rows_in_2_0);
    tcase_add_test(cases, an_unknown_encoding_is_told_of_its_column);
    suite_add_tcase(suite, cases);
    suite_add_tcase(suite, damage_cases());
    return nt_test_main(suite);
}
