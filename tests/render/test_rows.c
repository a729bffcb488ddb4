/* SPDX-License-Identifier: MIT
 *
 * Lines as a long text: pieces are small, the first comes at once, and a failure leaves no half line;
 * quoting in CSV.
 */
#include <string.h>

#include "dataset_builder.h"
#include "support.h"
#include "render/render.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/model/model.h"

enum { ENTRIES = 40000, PAGE = 1000, MAX_PIECE = 65 * 1024 };

/* A flat dataset of a number and a text. */
static struct builder *numbers(uint64_t *values)
{
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT64);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT64, 0);
    for (uint64_t i = 0; i < ENTRIES; i++)
        values[i] = i;
    builder->checksum = NT_CHECKSUM_XXH3_64;
    uint32_t cluster = add_cluster(builder, 0, ENTRIES);
    add_elements(builder, cluster, column, values, ENTRIES, PAGE);
    end_group(builder);
    return builder;
}

static struct nt_text_generator *open_lines(struct builder *builder, bool is_csv)
{
    struct nt_error error;
    struct nt_text_generator *row_lines = NULL;
    if (is_csv)
        assert_ok(nt_csv_lines(builder->reader, builder->dataset, &row_lines, &error));
    else
        assert_ok(
            nt_rows_lines(builder->reader, builder->dataset, NT_NONE, 0, UINT64_MAX, &row_lines, &error));
    return row_lines;
}

static unsigned count_lines(const struct nt_buffer *text)
{
    unsigned count = 0;
    for (size_t i = 0; i < text->length; i++)
        count += text->bytes[i] == '\n';
    return count;
}

TEST(pieces_are_bounded_and_the_first_is_small, .end = 2)
{
    static uint64_t values[ENTRIES];
    struct nt_error error;
    struct nt_buffer piece = {0};
    bool more = true;
    unsigned lines = 0, pieces = 0;
    struct builder *builder = numbers(values);
    finish(builder, NULL);
    struct nt_text_generator *row_lines = open_lines(builder, _i);
    for (; more; pieces++) {
        nt_buffer_clear(&piece);
        assert_ok(row_lines->next(row_lines, &piece, &more, &error));
        ck_assert_uint_le(piece.length, pieces ? MAX_PIECE : 1024);
        ck_assert_int_eq(piece.bytes[piece.length - 1], '\n');
        lines += count_lines(&piece);
        ck_assert_double_eq(row_lines->share(row_lines), (lines - (unsigned)_i) / (double)ENTRIES);
    }
    ck_assert_uint_eq(lines, ENTRIES + (unsigned)_i);
    ck_assert_uint_ge(pieces, 3);
    row_lines->free(row_lines);
    nt_buffer_deinit(&piece);
    builder_free(builder);
}

TEST(lines_end_whole_before_a_damaged_page_and_the_text_fails_there, .end = 2)
{
    static uint64_t values[ENTRIES];
    struct nt_error error;
    struct nt_buffer text = {0};
    bool more = true;
    enum nt_status status = NT_OK;
    struct builder *builder = numbers(values);
    builder->bytes.bytes[builder->pages[0][7].offset] ^= 1;
    finish(builder, NULL);
    struct nt_text_generator *row_lines = open_lines(builder, _i);
    while (more && status == NT_OK)
        status = row_lines->next(row_lines, &text, &more, &error);
    ck_assert_int_eq(status, NT_CHECKSUM);
    ck_assert_uint_eq(count_lines(&text), 7 * PAGE + (unsigned)_i);
    ck_assert_int_eq(text.bytes[text.length - 1], '\n');
    ck_assert_int_eq(row_lines->next(row_lines, &text, &more, &error), NT_CHECKSUM);
    row_lines->free(row_lines);
    nt_buffer_deinit(&text);
    builder_free(builder);
}

/* One text field with the entries `texts`, up to NULL. */
static struct builder *texts_of(const char *const *texts)
{
    uint64_t ends[16], letters[200], end = 0;
    uint32_t count = 0;
    for (; texts[count]; ends[count++] = end)
        for (const char *at = texts[count]; *at; at++)
            letters[end++] = (uint8_t)*at;
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_STRING, NT_ELEMENT_BYTE);
    uint32_t index = add_column(builder, field, NT_ENCODING_INDEX64, 0);
    uint32_t chars = add_column(builder, field, NT_ENCODING_CHAR, 0);
    uint32_t cluster = add_cluster(builder, 0, count);
    add_elements(builder, cluster, index, ends, count, 100);
    add_elements(builder, cluster, chars, letters, (uint32_t)end, 100);
    end_group(builder);
    return builder;
}

static const char *const texts[] = {"plain", "a,b", "say \"no\"", "two\nlines", "", "\xFFodd", NULL};

static void check_text(bool is_csv, const char *expected)
{
    struct nt_error error;
    struct nt_buffer text = {0};
    bool more = false;
    struct builder *builder = texts_of(texts);
    builder->fields[0].name = (struct nt_text){"a \"name\"", 8};
    finish(builder, NULL);
    struct nt_text_generator *row_lines = open_lines(builder, is_csv);
    assert_ok(row_lines->next(row_lines, &text, &more, &error));
    ck_assert(!more);
    ck_assert_str_eq(text.bytes, expected);
    row_lines->free(row_lines);
    nt_buffer_deinit(&text);
    builder_free(builder);
}

TEST(cells_are_quoted_as_rfc_4180_says)
{
    check_text(true,
               "\"a \"\"name\"\"\"\r\nplain\r\n\"a,b\"\r\n\"say \"\"no\"\"\"\r\n\"two\nlines\"\r\n\"\"\r\n"
               "\xFFodd\r\n");
}

static void check_csv(struct builder *builder, const char *expected)
{
    struct nt_error error;
    struct nt_buffer text = {0};
    bool more = true;
    finish(builder, NULL);
    struct nt_text_generator *row_lines = open_lines(builder, true);
    while (more)
        assert_ok(row_lines->next(row_lines, &text, &more, &error));
    ck_assert_str_eq(text.bytes, expected);
    row_lines->free(row_lines);
    nt_buffer_deinit(&text);
    builder_free(builder);
}

/* Lists of texts, records without members and optionals of lists are JSON; unreadable fields have no
 * cell. */
TEST(what_is_not_plain_is_a_cell_of_json)
{
    static const uint64_t lists[] = {2, 2}, ends[] = {1, 3}, letters[] = {'"', 'a', ','}, set[] = {0, 1},
                          numbers[] = {1};
    struct builder *builder = builder_new();
    uint32_t list = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    uint32_t text = add_field(builder, list, NT_FIELD_STRING, NT_ELEMENT_BYTE);
    uint32_t unreadable = add_field(builder, NT_NONE, NT_FIELD_UNREADABLE, NT_ELEMENT_INT32);
    builder->fields[unreadable].unreadable = "of an unknown kind";
    add_field(builder, NT_NONE, NT_FIELD_RECORD, NT_ELEMENT_BYTE);
    uint32_t optional = add_field(builder, NT_NONE, NT_FIELD_OPTIONAL, NT_ELEMENT_UINT64);
    uint32_t inner = add_field(builder, optional, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    uint32_t number = add_field(builder, inner, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    const uint32_t columns[] = {
        add_column(builder, list, NT_ENCODING_INDEX64, 0),
        add_column(builder, text, NT_ENCODING_INDEX64, 0),
        add_column(builder, text, NT_ENCODING_CHAR, 0),
        add_column(builder, optional, NT_ENCODING_INDEX64, 0),
        add_column(builder, inner, NT_ENCODING_INDEX64, 0),
        add_column(builder, number, NT_ENCODING_INT32, 0),
    };
    uint32_t cluster = add_cluster(builder, 0, 2);
    add_elements(builder, cluster, columns[0], lists, 2, 2);
    add_elements(builder, cluster, columns[1], ends, 2, 2);
    add_elements(builder, cluster, columns[2], letters, 3, 3);
    add_elements(builder, cluster, columns[3], set, 2, 2);
    add_elements(builder, cluster, columns[4], numbers, 1, 1);
    add_elements(builder, cluster, columns[5], numbers, 1, 1);
    end_group(builder);
    check_csv(builder, "f,f~3,f~4\r\n\"[\"\"\\\"\"\"\",\"\"a,\"\"]\",{},null\r\n[],{},[1]\r\n");
}

TEST(a_dataset_of_shards_has_a_table)
{
    static const uint64_t ends[] = {1, 3}, items[] = {10, 20, 30};
    struct builder *builder = builder_new();
    struct vector vector = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
    add_column_group(builder, &vector.index, 1);
    add_column_group(builder, &vector.values, 1);
    for (uint32_t group = 0; group < 2; group++) {
        uint32_t cluster = add_cluster(builder, 0, 2);
        builder->clusters[cluster].column_group = group;
        if (group == 0)
            add_elements(builder, cluster, vector.index, ends, 2, 2);
        else
            add_elements(builder, cluster, vector.values, items, 3, 3);
    }
    end_group(builder);
    check_csv(builder, "f\r\n[10]\r\n\"[20,30]\"\r\n");
}

TEST(a_dataset_without_fields_has_empty_lines)
{
    struct builder *builder = builder_new();
    add_cluster(builder, 0, 2);
    end_group(builder);
    check_csv(builder, "\r\n\r\n\r\n");
}

TEST(strings_are_escaped_and_odd_bytes_are_lone_surrogates)
{
    check_text(false, "{\"a \\\"name\\\"\":\"plain\"}\n{\"a \\\"name\\\"\":\"a,b\"}\n"
                      "{\"a \\\"name\\\"\":\"say \\\"no\\\"\"}\n{\"a \\\"name\\\"\":\"two\\nlines\"}\n"
                      "{\"a \\\"name\\\"\":\"\"}\n{\"a \\\"name\\\"\":\"\\udcffodd\"}\n");
}

TEST(one_entry_is_its_line_and_none_past_the_end)
{
    struct nt_error error;
    struct nt_buffer text = {0};
    struct nt_text_generator *row_lines;
    bool more = false;
    struct builder *builder = texts_of(texts);
    finish(builder, NULL);
    assert_ok(nt_rows_lines(builder->reader, builder->dataset, NT_NONE, 1, 2, &row_lines, &error));
    assert_ok(row_lines->next(row_lines, &text, &more, &error));
    ck_assert(!more);
    ck_assert_ptr_nonnull(strstr(text.bytes, ":\"a,b\"}\n"));
    row_lines->free(row_lines);
    nt_buffer_clear(&text);
    assert_ok(nt_rows_lines(builder->reader, builder->dataset, NT_NONE, UINT64_MAX, 0, &row_lines, &error));
    assert_ok(row_lines->next(row_lines, &text, &more, &error));
    ck_assert_uint_eq(text.length, 0);
    row_lines->free(row_lines);
    nt_buffer_deinit(&text);
    builder_free(builder);
}

/* A collection says that it has so many items, each a record without members, which take no room in a
 * file. */
static struct builder *records_of_nothing(uint64_t count)
{
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    uint32_t column = add_column(builder, field, NT_ENCODING_INDEX64, 0);
    add_field(builder, field, NT_FIELD_RECORD, NT_ELEMENT_BYTE);
    uint32_t cluster = add_cluster(builder, 0, 1);
    add_elements(builder, cluster, column, &count, 1, 1);
    end_group(builder);
    finish(builder, NULL);
    return builder;
}

/* The maximum, one more, and so many that reading them would not end. */
TEST(a_row_of_endless_nothing_is_refused, .end = 6)
{
    static const uint64_t counts[] = {1 << 20, (1 << 20) + 1, UINT64_C(1) << 40};
    struct nt_error error;
    struct nt_buffer text = {0};
    bool more = false;
    struct builder *builder = records_of_nothing(counts[_i / 2]);
    struct nt_text_generator *row_lines = open_lines(builder, _i % 2);
    if (_i == 3 || _i == 5)
        assert_ok(row_lines->next(row_lines, &text, &more, &error)); /* the header */
    assert_status(_i / 2 ? NT_LIMIT : NT_OK, row_lines->next(row_lines, &text, &more, &error));
    ck_assert(!row_lines->is_given_up);
    row_lines->free(row_lines);
    nt_buffer_deinit(&text);
    builder_free(builder);
}

/* The text of the row is `{"<name>":[{},{},...]}` or a cell of it: three bytes for each item. */
TEST(a_row_is_given_up_when_it_is_too_long, .end = 2)
{
    enum { ITEMS = 1 << 19 };
    struct nt_error error;
    struct nt_buffer text = {0};
    bool more = false;
    struct builder *builder = records_of_nothing(ITEMS);
    struct nt_text_generator *row_lines = open_lines(builder, _i);
    row_lines->too_many_bytes = 3 * ITEMS / 2;
    if (_i)
        assert_ok(row_lines->next(row_lines, &text, &more, &error)); /* the header */
    ck_assert(!row_lines->is_given_up);
    assert_status(NT_LIMIT, row_lines->next(row_lines, &text, &more, &error));
    ck_assert(row_lines->is_given_up);
    ck_assert_uint_lt(text.capacity, 3 * ITEMS);
    row_lines->free(row_lines);
    nt_buffer_clear(&text);
    row_lines = open_lines(builder, _i);
    row_lines->too_many_bytes = 3 * ITEMS + 100;
    assert_ok(row_lines->next(row_lines, &text, &more, &error));
    ck_assert(!row_lines->is_given_up);
    ck_assert_uint_gt(text.length, 3 * ITEMS);
    row_lines->free(row_lines);
    nt_buffer_deinit(&text);
    builder_free(builder);
}

/* Parts of the entries, whose page lists are released at once. Texts of 0 to 3 bytes. */
static struct builder *parts(void)
{
    enum { PARTS = 8, ROWS = 5 };
    struct builder *builder = builder_new();
    builder->has_field_groups = true;
    builder->releases_lists = true;
    uint32_t number = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t text = add_field(builder, NT_NONE, NT_FIELD_STRING, NT_ELEMENT_BYTE);
    uint32_t numbers = add_column(builder, number, NT_ENCODING_INT32, 0);
    uint32_t ends = add_column(builder, text, NT_ENCODING_INDEX64, 0);
    uint32_t bytes = add_column(builder, text, NT_ENCODING_CHAR, 0);
    for (uint64_t part = 0; part < PARTS; part++) {
        uint64_t value[ROWS], end[ROWS], byte[3 * ROWS];
        uint32_t count = 0;
        for (uint64_t i = 0; i < ROWS; i++) {
            value[i] = part * ROWS + i;
            for (uint64_t k = 0; k < value[i] % 4; k++)
                byte[count++] = 'a' + value[i] % 26;
            end[i] = count;
        }
        uint32_t cluster = add_cluster(builder, part * ROWS, ROWS);
        add_elements(builder, cluster, numbers, value, ROWS, 2);
        add_elements(builder, cluster, ends, end, ROWS, 2);
        add_elements(builder, cluster, bytes, byte, count, 2);
    }
    finish(builder, NULL);
    return builder;
}

TEST(all_columns_of_a_part_are_read_before_the_next_part, .end = 2)
{
    struct nt_error error;
    struct nt_buffer text = {0}, expected = {0};
    bool more = true;
    struct builder *builder = parts();
    struct nt_text_generator *row_lines = open_lines(builder, _i);
    uint32_t count = builder->dataset->part_count;
    ck_assert_uint_le(builder->part_visits, 2 * count);
    builder->part_visits = 0;
    while (more)
        assert_ok(row_lines->next(row_lines, &text, &more, &error));
    ck_assert_uint_eq(builder->part_visits, count);
    nt_buffer_append_string(&expected, _i ? "f,f~2\r\n" : "");
    for (unsigned i = 0; i < nt_dataset_entries(builder->dataset); i++) {
        char letters[4] = "";
        memset(letters, 'a' + (int)(i % 26), i % 4);
        nt_buffer_append_format(&expected, _i ? "%u,%s\r\n" : "{\"f\":%u,\"f~2\":\"%s\"}\n", i, letters);
    }
    ck_assert_str_eq(nt_buffer_string(&text), nt_buffer_string(&expected));
    row_lines->free(row_lines);
    nt_buffer_deinit(&text);
    nt_buffer_deinit(&expected);
    builder_free(builder);
}
