/* SPDX-License-Identifier: MIT
 *
 * The metadata of a Lance file as documents, members of file.json, and the layout.
 */
#include "formats/lance/file/file.h"
#include "lance_documents.h"
#include "core/base/memory.h"
#include "core/json/json.h"
#include "core/model/model.h"

static struct nt_error error;
static struct lance_writer writer;
static struct lance_opened opened;
static const struct nt_dataset *dataset;
static struct lance_range content;

enum { ROWS = 6 };

/* A column with two pages, one with its own buffer and none, and one that cannot be read. */
static void set_up(void)
{
    struct nt_buffer encoding = {0};
    lance_begin(&writer, 2, 1, ROWS);
    content = lance_buffer(&writer, "0123456789", 10);
    lance_field(&writer, 0, -1, "x", "int64", true);
    lance_field(&writer, 1, -1, "y", "int64", false);
    lance_column(&writer);
    for (unsigned i = 0; i < 2; i++) {
        encoding = lance_flat_layout(64, ROWS / 2);
        lance_page(&writer, &content, 1, ROWS / 2, i * (ROWS / 2), LANCE_LAYOUT, &encoding);
    }
    lance_column(&writer);
    put_packed(&writer.columns[1], 3, &content.offset, 1);
    put_packed(&writer.columns[1], 4, &content.bytes, 1);
    put_text(&encoding, 1, "of another time");
    lance_page(&writer, NULL, 0, ROWS, 0, "/lance.encodings99.PageLayout", &encoding);
    lance_end(&writer);
    assert_ok(lance_open_bytes(&opened, writer.out.bytes, writer.out.length, &error));
    dataset = lance_add_dataset(&opened);
}

static void tear_down(void)
{
    lance_close(&opened);
    lance_deinit(&writer);
}

TEST(the_footer_is_shown, .setup = set_up, .teardown = tear_down)
{
    json_t *footer = lance_load_document(dataset, "footer.json");
    const json_t *globals = json_object_get(footer, "global_buffers");
    check_json_text(footer, "schema", "ntuplefs.lance_footer/1");
    check_json_text(footer, "version", "2.1");
    ck_assert_int_eq(json_number(footer, "file_offset"), (json_int_t)writer.footer);
    ck_assert_int_eq(json_number(footer, "stored_bytes"), 40);
    ck_assert_int_eq(json_number(footer, "major_version"), 2);
    ck_assert_int_eq(json_number(footer, "minor_version"), 1);
    ck_assert_int_eq(json_number(footer, "columns"), 2);
    ck_assert_int_eq(json_number(footer, "column_metadata_offset"), (json_int_t)writer.columns_start);
    ck_assert_int_eq(json_number(footer, "column_table_offset"), (json_int_t)writer.column_table);
    ck_assert_int_eq(json_number(footer, "global_buffer_table_offset"), (json_int_t)writer.global_table);
    ck_assert_uint_eq(json_array_size(globals), 1);
    const json_t *global = json_array_get(globals, 0);
    ck_assert_int_eq(json_number(global, "file_offset"), (json_int_t)writer.descriptor.offset);
    ck_assert_int_eq(json_number(global, "stored_bytes"), (json_int_t)writer.descriptor.bytes);
    json_decref(footer);
}

TEST(the_schema_is_shown_under_its_own_names, .setup = set_up, .teardown = tear_down)
{
    json_t *document = lance_load_document(dataset, "schema.json");
    const json_t *message = json_object_get(document, "message");
    const json_t *fields = json_object_get(json_object_get(message, "schema"), "fields");
    check_json_text(document, "schema", "ntuplefs.lance_schema/1");
    ck_assert_int_eq(json_number(message, "length"), ROWS);
    ck_assert_uint_eq(json_array_size(fields), 2);
    check_json_text(json_array_get(fields, 0), "name", "x");
    check_json_text(json_array_get(fields, 1), "logical_type", "int64");
    ck_assert_int_eq(json_number(json_array_get(fields, 1), "parent_id"), -1);
    ck_assert(json_is_true(json_object_get(json_array_get(fields, 0), "nullable")));
    json_decref(document);
}

static void check_buffers(const json_t *object, unsigned count)
{
    const json_t *buffers = json_object_get(object, "buffers");
    ck_assert_uint_eq(json_array_size(buffers), count);
    if (count == 0)
        return;
    ck_assert_int_eq(json_number(json_array_get(buffers, 0), "file_offset"), (json_int_t)content.offset);
    ck_assert_int_eq(json_number(json_array_get(buffers, 0), "stored_bytes"), (json_int_t)content.bytes);
}

TEST(columns_and_pages_are_shown, .setup = set_up, .teardown = tear_down)
{
    json_t *document = lance_load_document(dataset, "metadata.json");
    const json_t *columns = json_object_get(document, "columns");
    check_json_text(document, "schema", "ntuplefs.lance/1");
    ck_assert_int_eq(json_number(document, "entries"), ROWS);
    ck_assert_uint_eq(json_array_size(columns), 2);
    const json_t *column = json_array_get(columns, 0), *pages = json_object_get(column, "pages");
    ck_assert_int_eq(json_number(column, "file_offset"), (json_int_t)writer.metadata[0].offset);
    ck_assert_int_eq(json_number(column, "stored_bytes"), (json_int_t)writer.metadata[0].bytes);
    ck_assert_ptr_null(json_object_get(column, "unreadable"));
    check_buffers(column, 0);
    ck_assert_uint_eq(json_array_size(pages), 2);
    ck_assert_int_eq(json_number(json_array_get(pages, 1), "rows"), ROWS / 2);
    ck_assert_int_eq(json_number(json_array_get(pages, 1), "priority"), ROWS / 2);
    check_buffers(json_array_get(pages, 1), 1);
    const json_t *message = json_object_get(json_array_get(pages, 0), "message");
    const json_t *layout = json_object_get(message, "mini_block_layout");
    const json_t *flat = json_object_get(json_object_get(layout, "value_compression"), "flat");
    ck_assert_int_eq(json_number(flat, "bits_per_value"), 64);
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(layout, "layers"), 0)),
                     "REPDEF_ALL_VALID_ITEM");
    json_decref(document);
}

TEST(what_is_unknown_is_named, .setup = set_up, .teardown = tear_down)
{
    json_t *document = lance_load_document(dataset, "metadata.json");
    const json_t *column = json_array_get(json_object_get(document, "columns"), 1);
    const json_t *page = json_array_get(json_object_get(column, "pages"), 0);
    check_buffers(column, 1);
    ck_assert(json_is_string(json_object_get(column, "unreadable")));
    check_json_text(column, "type_url", "/lance.encodings.ColumnEncoding");
    ck_assert(json_is_object(json_object_get(json_object_get(column, "message"), "values")));
    check_json_text(page, "type_url", "/lance.encodings99.PageLayout");
    ck_assert_ptr_null(json_object_get(page, "message"));
    json_decref(document);
}

static void check_bytes(const char *prefix, uint64_t number, const struct lance_range *expected)
{
    const struct nt_document *document = lance_document(prefix, ".bin");
    const struct nt_document_request request = {document, opened.file, dataset, number};
    struct nt_buffer out = lance_write_document(dataset, prefix, number);
    ck_assert_uint_eq(out.length, expected->bytes);
    ck_assert_uint_eq(document->bytes(&request), expected->bytes);
    ck_assert_mem_eq(out.bytes, writer.out.bytes + expected->offset, expected->bytes);
    nt_buffer_deinit(&out);
}

TEST(messages_are_shown_as_they_are_stored, .setup = set_up, .teardown = tear_down)
{
    check_bytes("schema.bin", 0, &writer.descriptor);
    check_bytes("global.", 0, &writer.descriptor);
    check_bytes("column.", 0, &writer.metadata[0]);
    check_bytes("column.", 1, &writer.metadata[1]);
    ck_assert_uint_eq(lance_document("column.", ".bin")->count(opened.file, dataset), 2);
    ck_assert_uint_eq(lance_document("global.", ".bin")->count(opened.file, dataset), 1);
}

TEST(a_few_columns_are_a_short_document, .setup = set_up, .teardown = tear_down)
{
    bool is_short = false;
    const struct nt_document *document = lance_document("metadata.json", "");
    const struct nt_document_request request = {document, opened.file, dataset, 0};
    assert_ok(document->is_short(&request, &is_short, &error));
    ck_assert(is_short);
}

TEST(a_large_document_comes_in_pieces, .setup = set_up, .teardown = tear_down)
{
    enum { COLUMNS = 100 };
    struct nt_buffer whole = {0}, pieces = {0};
    const struct nt_document_request request = {&nt_lance_documents[2], opened.file, dataset, 0};
    struct nt_text_generator *text;
    unsigned count = 0;
    struct nt_lance_column *columns = calloc(COLUMNS, sizeof(*columns));
    struct nt_lance_page *pages = calloc(COLUMNS, sizeof(*pages));
    for (unsigned i = 0; i < COLUMNS; i++) {
        pages[i] = opened.lance.columns[0].pages[0];
        columns[i] = opened.lance.columns[0];
        columns[i].pages = pages;
        columns[i].page_count = i;
    }
    opened.lance.columns = columns;
    opened.lance.tail.columns = COLUMNS;
    assert_ok(nt_lance_documents[2].open(&request, &text, &error));
    for (bool more = true; more; count++) {
        nt_buffer_clear(&pieces);
        assert_ok(text->next(text, &pieces, &more, &error));
        ck_assert_uint_lt(pieces.length, 100000);
        nt_buffer_append(&whole, pieces.bytes, pieces.length);
    }
    text->free(text);
    ck_assert_uint_gt(count, 10);
    json_t *document = json_loadb(whole.bytes, whole.length, 0, NULL);
    const json_t *last = json_array_get(json_object_get(document, "columns"), COLUMNS - 1);
    ck_assert_uint_eq(json_array_size(json_object_get(last, "pages")), COLUMNS - 1);
    json_decref(document);
    nt_buffer_deinit(&whole);
    nt_buffer_deinit(&pieces);
    free(columns);
    free(pages);
}

TEST(file_json_says_the_version, .setup = set_up, .teardown = tear_down)
{
    struct nt_buffer out = {0};
    struct nt_json json;
    nt_json_init(&json, &out, true);
    nt_json_object(&json);
    assert_ok(nt_lance_describe_file(opened.file, &json, &error));
    nt_json_end_object(&json);
    ck_assert_str_eq(out.bytes,
                     "{\"kind\":\"Lance file\",\"version\":\"2.1\",\"columns\":2,\"global_buffers\":1}");
    nt_buffer_deinit(&out);
}

/* ---- layout ---- */

struct covered {
    uint8_t bytes[8192]; /* the number of ranges that have each byte */
    unsigned ranges;
};

static enum nt_status cover(void *context, const struct nt_layout_range *range)
{
    struct covered *covered = context;
    ck_assert_uint_le(range->offset + range->bytes, writer.out.length);
    ck_assert_uint_gt(range->bytes, 0);
    for (uint64_t i = range->offset; i < range->offset + range->bytes; i++)
        covered->bytes[i]++;
    covered->ranges++;
    return NT_OK;
}

TEST(all_bytes_but_those_of_pages_and_padding_have_owners, .setup = set_up, .teardown = tear_down)
{
    struct covered covered = {0};
    const struct nt_layout_output output = {.emit = cover, .context = &covered};
    assert_ok(nt_lance_layout_put_metadata(&opened.lance, &output));
    ck_assert_uint_eq(covered.ranges, 7);
    for (uint64_t i = 0; i < writer.out.length; i++) {
        unsigned owners = i < content.offset + content.bytes || i >= writer.descriptor.offset;
        ck_assert_msg(covered.bytes[i] == owners, "byte %d has %d owners", (int)i, covered.bytes[i]);
    }
}
