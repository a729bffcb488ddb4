/* SPDX-License-Identifier: MIT
 *
 * Tail, tables, schema and column metadata: the reader finds what was written.
 */
#include "lance_plain.h"

#include "core/base/text.h"

TEST(what_was_written_is_found, .teardown = tear_down)
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

TEST(fields_have_their_parents, .teardown = tear_down)
{
    put_plain();
    lance_end(&writer);
    assert_ok(read_again());
    const struct nt_lance_field *fields = opened.lance.schema.fields;
    ck_assert_uint_eq(opened.lance.schema.field_count, 3);
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

static void check_page(const struct nt_lance_page *page, const struct lance_range *buffers, unsigned count,
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

TEST(columns_have_their_pages, .teardown = tear_down)
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
        check_page(&column->pages[0], ranges + i, 2, first_rows, 0);
        check_page(&column->pages[1], ranges + i, 1, ROWS - first_rows, first_rows);
    }
    struct nt_proto layout, flat;
    struct nt_proto encoding = opened.lance.columns[1].pages[0].encoding;
    ck_assert_uint_eq(nt_proto_oneof(encoding, &nt_lance_page_layout, &layout), NT_LANCE_LAYOUT_MINI_BLOCK);
    ck_assert_uint_eq(nt_proto_number(layout, NT_LANCE_MINI_BLOCK_NUM_ITEMS), 2);
    struct nt_proto values = nt_proto_message(layout, NT_LANCE_MINI_BLOCK_VALUE_COMPRESSION);
    ck_assert_uint_eq(nt_proto_oneof(values, &nt_lance_compressive_encoding, &flat),
                      NT_LANCE_COMPRESSIVE_FLAT);
    ck_assert_uint_eq(nt_proto_number(flat, NT_LANCE_FLAT_BITS_PER_VALUE), 32);
}

TEST(a_file_may_have_no_rows_and_no_columns, .teardown = tear_down)
{
    lance_begin(&writer, 2, 2, 0);
    lance_end(&writer);
    assert_ok(read_again());
    ck_assert_uint_eq(opened.lance.schema.field_count, 0);
    ck_assert_uint_eq(opened.lance.tail.columns, 0);
    ck_assert_uint_eq(opened.lance.rows, 0);
}

TEST(metadata_of_maps_are_found_by_their_keys, .teardown = tear_down)
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
    struct nt_proto message = opened.lance.schema.fields[0].message;
    ck_assert(nt_lance_find_entry(message, NT_LANCE_FIELD_METADATA, "unit", &value));
    ck_assert(nt_text_is(value, "GeV"));
    ck_assert(nt_lance_find_entry(message, NT_LANCE_FIELD_METADATA, "empty", &value));
    ck_assert_uint_eq(value.length, 0);
    ck_assert(!nt_lance_find_entry(message, NT_LANCE_FIELD_METADATA, "uni", &value));
}

/* ---- versions ---- */

static const struct {
    uint16_t major, minor;
    enum nt_status expected;
    const char *version; /* or a part of the message */
} versions[] = {
    {0, 3, NT_OK, "2.0"},
    {2, 0, NT_OK, "2.0"},
    {2, 1, NT_OK, "2.1"},
    {2, 2, NT_OK, "2.2"},
    {2, 3, NT_OK, "2.3"},
    {2, 4, NT_UNSUPPORTED, "version 2.4"},
    {0, 0, NT_UNSUPPORTED, "version 0.0"},
    {3, 0, NT_UNSUPPORTED, "version 3.0"},
    {513, 258, NT_UNSUPPORTED, "version 513.258"},
};

TEST(versions_are_known_or_refused, .teardown = tear_down, .end = sizeof(versions) / sizeof(*versions))
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

TEST(a_manifest_is_distinguished_from_a_legacy_file, .teardown = tear_down)
{
    static const char manifest[] = "\x02\x00\x00\x00\x0a\x00", legacy[] = "\x02\x00\x00\x00\x08\x01";
    static const char tail[] = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00LANC";
    for (unsigned i = 0; i < 2; i++) {
        nt_buffer_clear(&writer.out);
        nt_buffer_append(&writer.out, i ? manifest : legacy, 6);
        nt_buffer_append(&writer.out, tail, 16);
        ck_assert_uint_eq(read_again(), i ? NT_UNSUPPORTED : NT_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.message, i ? "a manifest of a Lance dataset" : "manifest of"));
    }
}

TEST(what_does_not_end_in_its_magic_is_no_lance_file, .teardown = tear_down)
{
    put_plain();
    lance_end(&writer);
    writer.out.length--;
    ck_assert_uint_eq(read_again(), NT_NOT_THIS_FORMAT);
    writer.out.length = 0;
    ck_assert_uint_eq(read_again(), NT_NOT_THIS_FORMAT);
}

TEST(items_of_lists_have_columns_with_other_rows_in_2_0, .teardown = tear_down)
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

TEST(first_rows_of_2_0_may_count_from_where_a_batch_began, .teardown = tear_down)
{
    lance_begin(&writer, 0, 3, 9);
    lance_column(&writer);
    for (uint64_t i = 0; i < 3; i++) {
        struct nt_buffer encoding = lance_flat_array(64);
        lance_page(&writer, NULL, 0, 3, i == 1 ? 3 : 0, LANCE_ARRAY, &encoding);
    }
    lance_end(&writer);
    assert_ok(read_again());
    ck_assert_uint_eq(opened.lance.columns[0].rows, 9);
}

TEST(an_unknown_encoding_is_reported_of_its_column, .teardown = tear_down)
{
    struct nt_buffer encoding = {0};
    put_plain();
    lance_column(&writer);
    put_text(&encoding, 1, "of another time");
    lance_page(&writer, ranges, 1, ROWS, 0, "/lance.encodings99.PageLayout", &encoding);
    lance_end(&writer);
    assert_ok(read_again());
    ck_assert_ptr_null(opened.lance.columns[1].failure);
    const struct nt_lance_column *column = &opened.lance.columns[2];
    ck_assert_uint_eq(column->failure->status, NT_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(column->failure->message, "lance.encodings99.PageLayout"));
    ck_assert_uint_eq(column->pages[0].encoding_kind, NT_LANCE_ENCODING_IS_UNKNOWN);
    ck_assert_uint_eq(column->pages[0].encoding.size, 17);
}
