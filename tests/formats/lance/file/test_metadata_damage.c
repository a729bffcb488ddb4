/* SPDX-License-Identifier: MIT
 *
 * Contradictory metadata of a Lance file, and changed bytes: the file is refused, or read as a well-formed
 * one.
 */
#include "lance_plain.h"

/* What a test changes in the plain file. */
struct difference {
    const char *what;
    enum nt_status expected;
    void (*change)(void); /* before the end is written */
};

/* ---- contradictions ---- */

/* Replaces a number of the footer, of so many bytes. */
static const struct {
    unsigned place, bytes;
    uint64_t value;
} footers[] = {
    {0, 8, UINT64_MAX},  {0, 8, 100000},    {8, 8, UINT64_MAX}, {8, 8, UINT64_MAX - 31}, {8, 8, 0},
    {16, 8, UINT64_MAX}, {16, 8, 1u << 20}, {24, 4, 0},         {24, 4, UINT32_MAX},     {24, 4, 1u << 31},
    {28, 4, UINT32_MAX}, {28, 4, 1u << 28}, {28, 4, 1000},
};

TEST(numbers_of_the_footer_are_compared_with_the_bytes_there_are, .teardown = tear_down,
     .end = sizeof(footers) / sizeof(*footers))
{
    put_plain();
    lance_end(&writer);
    for (unsigned i = 0; i < footers[_i].bytes; i++)
        writer.out.bytes[writer.footer + footers[_i].place + i] = (char)(footers[_i].value >> (8 * i));
    ck_assert_msg(read_again() == NT_CORRUPT, "%s", error.message);
    ck_assert_uint_ne(error.offset, NT_NO_OFFSET);
}

static void end_with_table_entry(uint64_t table, uint64_t place, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        writer.out.bytes[table + place + i] = (char)(value >> (8 * i));
}

TEST(entries_of_tables_are_where_they_may, .teardown = tear_down)
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

static void add_page(const struct lance_range *buffers, unsigned count, uint64_t rows, uint64_t first_row)
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

static void add_endless_rows(void)
{
    add_page(ranges, 1, UINT64_MAX, ROWS);
}

static void add_earlier_page(void)
{
    add_page(ranges, 1, 0, 1);
}

static void add_buffer_beyond(void)
{
    const struct lance_range beyond = {1 << 20, 1};
    add_page(&beyond, 1, 0, ROWS);
}

static void add_buffer_around(void)
{
    const struct lance_range around = {8, UINT64_MAX};
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
    {"rows that make too large a sum", NT_CORRUPT, add_endless_rows},
    {"a page that stands before the one in front of it", NT_CORRUPT, add_earlier_page},
    {"a buffer behind the file", NT_CORRUPT, add_buffer_beyond},
    {"a buffer whose end wraps around", NT_CORRUPT, add_buffer_around},
    {"a page without an encoding", NT_CORRUPT, add_page_without_encoding},
    {"an encoding that is elsewhere", NT_UNSUPPORTED, add_indirect_encoding},
    {"more offsets than sizes", NT_CORRUPT, add_unequal_counts},
    {"an encoding that is damaged", NT_CORRUPT, add_bad_layout},
    {"bytes that are no field", NT_CORRUPT, add_rubbish},
};

TEST(contradictions_are_refused_with_their_place, .teardown = tear_down,
     .end = sizeof(contradictions) / sizeof(*contradictions))
{
    const struct difference *difference = &contradictions[_i];
    put_plain();
    difference->change();
    lance_end(&writer);
    ck_assert_msg(read_again() == difference->expected, "%s: %s", difference->what, error.message);
    ck_assert_uint_lt(error.offset, writer.footer);
    ck_assert_msg(strstr(error.message, "column ") || strstr(error.message, "schema: "), "%s", error.message);
}

/* ---- damage ---- */

TEST(no_truncation_is_read, .teardown = tear_down)
{
    put_plain();
    lance_end(&writer);
    while (writer.out.length > 0) {
        writer.out.length--;
        char *bytes = malloc(writer.out.length + 1); /* so that a read past the end is seen */
        memcpy(bytes, writer.out.bytes, writer.out.length);
        ck_assert_uint_eq(lance_open_bytes(&opened, bytes, writer.out.length, &error), NT_NOT_THIS_FORMAT);
        free(bytes);
    }
}

TEST(every_changed_byte_is_read_or_refused, .teardown = tear_down)
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

/* Many columns share one message: it is parsed for each of them, charged to the budget of the file's
 * size. */
TEST(what_columns_share_counts_for_each_of_them, .teardown = tear_down)
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
