/* SPDX-License-Identifier: MIT
 *
 * header.json, footer.json, metadata.json, pagelist.<n>.json and the envelopes' bytes, read back with
 * jansson.
 */
#include <jansson.h>
#include <stdio.h>

#include "rntuple_opened.h"

static struct nt_error error;
static struct written written;

#define PAGE(count, bytes)                                                                                   \
    {                                                                                                        \
        .elements = count, .packed = bytes, .packed_bytes = sizeof(bytes) - 1                                \
    }
static const struct rntuple_page pages[] = {PAGE(2, "\1\0\0\0\2\0\0\0"), PAGE(1, "\3\0\0\0")};
static const struct rntuple_range range = {.pages = pages, .page_count = 2, .first_element = 5};
static const struct rntuple_cluster cluster = {
    .first_entry = 5, .entries = 3, .ranges = &range, .range_count = 1};
static const struct rntuple_field fields[] = {
    {.name = "a", .type = "std::int32_t", .parent = RNTUPLE_TOP, .description = "first"},
    {.name = "b\xff", .type = "std::int32_t", .parent = RNTUPLE_TOP},
};
static const struct rntuple_alias alias = {0, 1};
static struct rntuple_column column;

static struct rntuple_description usual(enum rntuple_generation generation)
{
    static const struct column_number INT32 = {10, 0x17, 0x07};
    column = (struct rntuple_column){.type = column_number(generation, INT32), .bits = 32};
    return (struct rntuple_description){.name = "n",
                                        .writer = "a test",
                                        .fields = fields,
                                        .field_count = 2,
                                        .columns = &column,
                                        .column_count = 1,
                                        .aliases = &alias,
                                        .alias_count = generation == RNTUPLE_PREDRAFT ? 0 : 1,
                                        .clusters = &cluster,
                                        .cluster_count = 1};
}

static const struct nt_document *find_document(const char *prefix, const char *suffix)
{
    for (uint32_t i = 0; i < written.dataset->document_count; i++) {
        const struct nt_document *document = &written.dataset->documents[i];
        if (strcmp(document->prefix, prefix) == 0 &&
            (!document->count || strcmp(document->suffix, suffix) == 0))
            return document;
    }
    ck_abort_msg("no document %s", prefix);
    return NULL;
}

static struct nt_document_request request_of(const struct nt_document *document, uint64_t number)
{
    return (struct nt_document_request){document, written.file, written.dataset, number};
}

static enum nt_status write_text(const struct nt_document *document, struct nt_buffer *out)
{
    const struct nt_document_request request = request_of(document, 0);
    return document->write(&request, out, &error);
}

static void write_long_text(const struct nt_document *document, uint64_t number, struct nt_buffer *out)
{
    const struct nt_document_request request = request_of(document, number);
    struct nt_text_generator *text;
    bool has_more = true;
    assert_ok(document->open(&request, &text, &error));
    while (has_more)
        assert_ok(text->next(text, out, &has_more, &error));
    text->free(text);
}

static json_t *document(const char *prefix, const char *suffix)
{
    const struct nt_document *row = find_document(prefix, suffix);
    struct nt_buffer out = {0};
    json_error_t problem;
    if (row->write)
        assert_ok(write_text(row, &out));
    else
        write_long_text(row, 0, &out);
    ck_assert_int_eq(out.bytes[out.length - 1], '\n');
    json_t *json = json_loadb(out.bytes, out.length, 0, &problem);
    ck_assert_msg(json != NULL, "%s: %s in %s", prefix, problem.text, out.bytes);
    nt_buffer_deinit(&out);
    return json;
}

static const char *text_at(json_t *json, const char *list, size_t index, const char *key)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(json, list), index), key));
}

static json_int_t number_at(json_t *json, const char *list, size_t index, const char *key)
{
    json_t *number = json_object_get(json_array_get(json_object_get(json, list), index), key);
    ck_assert_msg(json_is_integer(number), "%s has no integer %s", list, key);
    return json_integer_value(number);
}

TEST(the_header_says_fields_columns_and_aliases, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    assert_ok(write_and_open(&written, _i, &description, &error));
    json_t *header = document("header.json", "");
    ck_assert_str_eq(json_string_value(json_object_get(header, "schema")), "ntuplefs.header/1");
    ck_assert_str_eq(json_string_value(json_object_get(header, "name")), "n");
    ck_assert_uint_eq(json_array_size(json_object_get(header, "fields")), 2);
    bool is_predraft = _i == RNTUPLE_PREDRAFT; /* explicit ids, in any order */
    ck_assert_str_eq(text_at(header, "fields", is_predraft, "name"), "a");
    ck_assert_str_eq(text_at(header, "fields", is_predraft, "description"), "first");
    ck_assert_str_eq(text_at(header, "fields", !is_predraft, "name_hex"), "62ff");
    ck_assert_str_eq(text_at(header, "columns", 0, "type"), "Int32");
    ck_assert_int_eq(number_at(header, "columns", 0, "type_number"), column.type);
    if (!is_predraft)
        ck_assert_int_eq(number_at(header, "alias_columns", 0, "field_id"), 1);
    json_decref(header);
    written_close(&written);
}

static void flag_in_footer(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_FOOTER)
        bytes->bytes[8] |= 1;
}

static void check_features(const char *name, bool is_flagged)
{
    json_t *envelope = document(name, ""), *features = json_object_get(envelope, "features");
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(envelope, "feature_flags"), 0)),
                     is_flagged);
    ck_assert(json_is_array(features));
    ck_assert_uint_eq(json_array_size(features), is_flagged);
    if (is_flagged)
        ck_assert_str_eq(json_string_value(json_array_get(features, 0)), "nested deferred columns");
    json_decref(envelope);
}

TEST(features_are_reported_by_name_where_their_flags_are, .end = 2)
{
    static const uint64_t flags[] = {1};
    struct rntuple_description description = usual(RNTUPLE_V1);
    description.feature_flags = _i ? flags : NULL;
    description.feature_flag_count = 1;
    description.spoil = _i ? NULL : flag_in_footer;
    assert_ok(write_and_open(&written, RNTUPLE_V1, &description, &error));
    check_features("header.json", _i);
    check_features("footer.json", !_i);
    written_close(&written);
}

TEST(the_footer_says_the_schema_extension_and_the_cluster_groups, .first = RNTUPLE_CRC32_EXTENSION,
     .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    description.extension_fields = description.extension_aliases = 1;
    description.extra_type = "Class";
    assert_ok(write_and_open(&written, _i, &description, &error));
    json_t *footer = document("footer.json", "");
    json_t *extension = json_object_get(footer, "schema_extension");
    ck_assert_int_eq(number_at(extension, "fields", 0, "id"), 1);
    ck_assert_str_eq(text_at(extension, "extra_type_information", 0, "type_name"), "Class");
    if (_i >= RNTUPLE_RC3)
        ck_assert_str_eq(text_at(extension, "extra_type_information", 0, "content"), "content");
    ck_assert_int_eq(number_at(footer, "cluster_groups", 0, "clusters"), 1);
    if (_i >= RNTUPLE_RC1) {
        ck_assert_int_eq(number_at(footer, "cluster_groups", 0, "minimum_entry"), 5);
        ck_assert_int_eq(number_at(footer, "cluster_groups", 0, "entry_span"), 3);
    } else {
        ck_assert_int_eq(number_at(footer, "cluster_summaries", 0, "first_entry"), 5);
    }
    json_decref(footer);
    written_close(&written);
}

TEST(the_page_list_says_every_page, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    assert_ok(write_and_open(&written, _i, &description, &error));
    json_t *list = document("pagelist.", ".json");
    json_t *first = json_array_get(json_object_get(list, "clusters"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(first, "columns")), 1);
    ck_assert_int_eq(number_at(first, "columns", 0, "first_element"), 5);
    json_t *pages_of = json_array_get(json_object_get(first, "columns"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(pages_of, "pages")), 2);
    ck_assert_int_eq(number_at(pages_of, "pages", 0, "elements"), 2);
    ck_assert_int_eq(number_at(pages_of, "pages", 1, "stored_bytes"), 4);
    json_decref(list);
    written_close(&written);
}

TEST(the_predrafts_footer_says_every_page)
{
    struct rntuple_description description = usual(RNTUPLE_PREDRAFT);
    assert_ok(write_and_open(&written, RNTUPLE_PREDRAFT, &description, &error));
    json_t *footer = document("footer.json", "");
    ck_assert_int_eq(number_at(footer, "clusters", 0, "first_entry"), 5);
    json_t *first = json_array_get(json_object_get(footer, "clusters"), 0);
    ck_assert_int_eq(number_at(first, "columns", 0, "elements"), 3);
    const struct nt_document *lists = find_document("pagelist.", ".json");
    ck_assert_uint_eq(lists->count(written.file, written.dataset), 0);
    json_decref(footer);
    written_close(&written);
}

TEST(a_long_page_list_is_written_in_pieces)
{
    enum { PAGES = 5000 };
    static struct rntuple_page many[PAGES];
    for (unsigned i = 0; i < PAGES; i++)
        many[i] = (struct rntuple_page){.elements = 1, .packed = "\0\0\0\0", .packed_bytes = 4};
    const struct rntuple_range long_range = {.pages = many, .page_count = PAGES};
    const struct rntuple_cluster long_cluster = {.entries = PAGES, .ranges = &long_range, .range_count = 1};
    struct rntuple_description description = usual(RNTUPLE_V1);
    description.clusters = &long_cluster;
    assert_ok(write_and_open(&written, RNTUPLE_V1, &description, &error));
    const struct nt_document_request request = request_of(find_document("pagelist.", ".json"), 0);
    struct nt_text_generator *text;
    assert_ok(request.document->open(&request, &text, &error));
    bool has_more = true;
    unsigned pieces = 0;
    for (; has_more; pieces++) {
        struct nt_buffer piece = {0};
        assert_ok(text->next(text, &piece, &has_more, &error));
        ck_assert_uint_lt(piece.length, 70000);
        nt_buffer_deinit(&piece);
    }
    ck_assert_uint_gt(pieces, 5);
    text->free(text);
    json_t *list = document("pagelist.", ".json");
    json_decref(list);
    written_close(&written);
}

TEST(envelopes_are_given_with_preamble_and_checksum, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    description.is_compressed = true;
    assert_ok(write_and_open(&written, _i, &description, &error));
    const struct nt_anchor *anchor = &nt_rntuple_of(written.dataset)->anchor;
    static const char *const names[] = {"header.bin", "footer.bin"};
    const struct nt_anchor_link *places[] = {&anchor->header, &anchor->footer};
    for (unsigned i = 0; i < 2; i++) {
        struct nt_buffer out = {0};
        assert_ok(write_text(find_document(names[i], ""), &out));
        ck_assert_uint_eq(out.length, places[i]->length);
        ck_assert_int_eq(out.bytes[0], _i < RNTUPLE_RC1 ? _i > 0 : i + 1);
        nt_buffer_deinit(&out);
    }
    written_close(&written);
}

/* ---- bytes with what they are ---- */

enum { HEX_AT = 9, LABEL_AT = 9 + 4 * 16 + 2 + 2 };

/* The bytes of the lines. The first lines of items have labels, with a newline each. */
static void parse_annotated(const struct nt_buffer *text, struct nt_buffer *bytes, struct nt_buffer *labels)
{
    char row[512]; /* a copy: sanitizers measure the whole rest of a text at each call of strtoul */
    for (const char *line = text->bytes, *last = line + text->length; line < last;) {
        const char *end = memchr(line, '\n', (size_t)(last - line));
        ck_assert_ptr_nonnull(end);
        snprintf(row, sizeof(row), "%.*s", (int)(end - line), line);
        ck_assert_uint_eq(strtoul(row, NULL, 16), bytes->length);
        for (unsigned i = 0; i < 16 && row[HEX_AT + 3 * i + 1] != ' '; i++)
            nt_buffer_append_byte(bytes, (char)strtoul(row + HEX_AT + 3 * i, NULL, 16));
        if (end - line > LABEL_AT - 2) {
            nt_buffer_append(labels, line + LABEL_AT, (size_t)(end - line) - LABEL_AT);
            nt_buffer_append_byte(labels, '\n');
        }
        line = end + 1;
    }
}

/* All bytes are there, and each was read. Returns the labels; the caller deinits them. */
static struct nt_buffer assert_annotated(const char *prefix, const char *text_suffix,
                                         const char *bytes_prefix, const char *bytes_suffix)
{
    struct nt_buffer text = {0}, expected = {0}, bytes = {0}, labels = {0};
    write_long_text(find_document(prefix, text_suffix), 0, &text);
    assert_ok(write_text(find_document(bytes_prefix, bytes_suffix), &expected));
    parse_annotated(&text, &bytes, &labels);
    ck_assert_uint_eq(bytes.length, expected.length);
    ck_assert_mem_eq(bytes.bytes, expected.bytes, expected.length);
    ck_assert_msg(!strstr(labels.bytes, "not read"), "%s: %s", prefix, labels.bytes);
    nt_buffer_deinit(&text);
    nt_buffer_deinit(&expected);
    nt_buffer_deinit(&bytes);
    return labels;
}

static void assert_in_order(const struct nt_buffer *labels, const char *const *expected)
{
    const char *at = labels->bytes;
    for (; *expected; expected++) {
        const char *found = strstr(at, *expected);
        ck_assert_msg(found != NULL, "no %s behind %s", *expected, at);
        at = found + 1;
    }
}

TEST(each_byte_of_an_envelope_is_reported, .end = RNTUPLE_GENERATIONS)
{
    static const char *const header[] = {
        "envelope: ",    "header: name\n", "header: description\n", "field: name\n",
        "field: name\n", "column: type\n", "envelope: checksum\n",  NULL};
    static const char *const list[] = {"page: elements",
                                       "locator: size\n",
                                       "locator: offset\n",
                                       "page: elements",
                                       "column in a cluster: first element\n",
                                       NULL};
    struct rntuple_description description = usual(_i);
    assert_ok(write_and_open(&written, _i, &description, &error));
    struct nt_buffer labels = assert_annotated("header.txt", "", "header.bin", "");
    assert_in_order(&labels, header);
    nt_buffer_deinit(&labels);
    labels = assert_annotated("footer.txt", "", "footer.bin", "");
    if (_i != RNTUPLE_PREDRAFT) {
        nt_buffer_deinit(&labels);
        labels = assert_annotated("pagelist.", ".txt", "pagelist.", ".bin");
        assert_in_order(&labels, list);
    }
    nt_buffer_deinit(&labels);
    written_close(&written);
}

TEST(a_long_page_list_is_reported_in_pieces)
{
    enum { PAGES = 40000 }; /* of 16 bytes each: three windows */
    static struct rntuple_page many[PAGES];
    for (int i = 0; i < PAGES; i++)
        many[i] = (struct rntuple_page)PAGE(1, "\3\0\0\0");
    const struct rntuple_range long_range = {.pages = many, .page_count = PAGES};
    const struct rntuple_cluster long_cluster = {.entries = PAGES, .ranges = &long_range, .range_count = 1};
    struct rntuple_description description = usual(RNTUPLE_V1);
    description.clusters = &long_cluster;
    assert_ok(write_and_open(&written, RNTUPLE_V1, &description, &error));
    struct nt_buffer labels = assert_annotated("pagelist.", ".txt", "pagelist.", ".bin");
    static const char label[] = "page: elements";
    const char *end = labels.bytes + labels.length;
    unsigned found = 0;
    /* Sanitizers measure the whole text at each call of strstr. */
    for (const char *at = labels.bytes; (at = memmem(at, (size_t)(end - at), label, strlen(label))); at++)
        found++;
    ck_assert_uint_eq(found, PAGES);
    nt_buffer_deinit(&labels);
    written_close(&written);
}

/* ---- bytes as stored ---- */

static void assert_raw(const char *prefix, const char *suffix, uint64_t offset, uint64_t bytes)
{
    struct nt_buffer out = {0};
    const struct nt_document *raw = find_document(prefix, suffix);
    ck_assert_uint_gt(bytes, 0);
    const struct nt_document_request request = request_of(raw, 0);
    ck_assert_uint_eq(raw->bytes(&request), bytes);
    assert_ok(raw->write(&request, &out, &error));
    ck_assert_uint_eq(out.length, bytes);
    ck_assert_mem_eq(out.bytes, written.bytes.bytes + offset, bytes);
    nt_buffer_deinit(&out);
}

TEST(bytes_are_given_as_they_are_stored, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    description.is_compressed = true;
    assert_ok(write_and_open(&written, _i, &description, &error));
    const struct nt_rntuple *rntuple = nt_rntuple_of(written.dataset);
    const struct nt_anchor *anchor = &rntuple->anchor;
    ck_assert_uint_lt(anchor->header.stored_bytes, anchor->header.length);
    assert_raw("anchor.raw", "", anchor->offset, anchor->stored_bytes);
    assert_raw("header.raw", "", anchor->header.offset, anchor->header.stored_bytes);
    assert_raw("footer.raw", "", anchor->footer.offset, anchor->footer.stored_bytes);
    if (rntuple->page_list_count)
        assert_raw("pagelist.", ".raw", rntuple->page_lists[0].locator.offset,
                   rntuple->page_lists[0].locator.bytes);
    written_close(&written);
}

/* The stored bytes of a good file, and their offset. */
static struct nt_anchor good_anchor(enum rntuple_generation generation)
{
    const struct rntuple_description description = usual(generation);
    assert_ok(write_and_open(&written, generation, &description, &error));
    struct nt_anchor anchor = nt_rntuple_of(written.dataset)->anchor;
    nt_file_close(written.file);
    return anchor;
}

/* Opens the bytes again with one of them changed. */
static void open_with_wrong_byte(uint64_t at)
{
    written.bytes.bytes[at] ^= 0x10;
    ck_assert(open_bytes(&written, &error) != NT_OK);
    ck_assert_ptr_nonnull(written.dataset->failure);
}

TEST(a_damaged_envelope_is_given_as_it_is_stored, .end = RNTUPLE_GENERATIONS)
{
    const struct nt_anchor good = good_anchor(_i);
    const struct nt_anchor_link *links[] = {&good.header, &good.footer};
    for (unsigned i = 0; i < 2; i++) {
        uint64_t at = links[i]->offset + links[i]->stored_bytes / 2;
        open_with_wrong_byte(at);
        ck_assert_uint_eq(written.dataset->document_count, 3);
        assert_raw("anchor.raw", "", good.offset, good.stored_bytes);
        assert_raw("header.raw", "", good.header.offset, good.header.stored_bytes);
        assert_raw("footer.raw", "", good.footer.offset, good.footer.stored_bytes);
        nt_file_close(written.file);
        written.bytes.bytes[at] ^= 0x10;
    }
    nt_buffer_deinit(&written.bytes);
}

TEST(an_anchor_with_a_wrong_checksum_still_leads_to_envelopes, .first = RNTUPLE_RC2_EARLY,
     .end = RNTUPLE_GENERATIONS)
{
    const struct nt_anchor good = good_anchor(_i);
    open_with_wrong_byte(good.offset + good.stored_bytes - 1);
    ck_assert_int_eq(written.dataset->failure->status, NT_CHECKSUM);
    assert_raw("anchor.raw", "", good.offset, good.stored_bytes);
    assert_raw("header.raw", "", good.header.offset, good.header.stored_bytes);
    assert_raw("footer.raw", "", good.footer.offset, good.footer.stored_bytes);
    written_close(&written);
}

TEST(of_an_anchor_that_is_none_there_is_only_itself, .end = RNTUPLE_GENERATIONS)
{
    const struct nt_anchor good = good_anchor(_i);
    open_with_wrong_byte(good.offset);
    ck_assert_uint_eq(written.dataset->document_count, 1);
    assert_raw("anchor.raw", "", good.offset, good.stored_bytes);
    written_close(&written);
}

/* ---- user meta-data ---- */

static const int64_t integers[] = {-5, INT64_MAX};
static const double reals[] = {0.5};
static const char *const strings[] = {"one", "two \xff"};
static const struct rntuple_pair pairs[] = {
    {.key = "count", .type = 1, .integers = integers},
    {.key = "is_good", .type = 2, .integers = (const int64_t[]){1}},
    {.key = "scale", .type = 3, .reals = reals},
    {.key = "tag", .type = 4, .strings = strings},
    {.key = "count", .type = -1, .count = 2, .integers = integers},
    {.key = "tags", .type = -4, .count = 2, .strings = strings},
    {.key = "none", .type = -3, .count = 0},
    {.key = "future", .type = 77, .integers = integers},
};

TEST(user_metadata_has_values_of_all_types_in_versions, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_RC3)
{
    struct rntuple_description description = usual(_i);
    description.pairs = pairs;
    description.pair_count = sizeof(pairs) / sizeof(pairs[0]);
    assert_ok(write_and_open(&written, _i, &description, &error));
    json_t *metadata = document("metadata.json", "");
    json_t *envelope = json_array_get(json_object_get(metadata, "envelopes"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(envelope, "pairs")), description.pair_count);
    ck_assert_str_eq(text_at(envelope, "pairs", 0, "key"), "count");
    ck_assert_int_eq(number_at(envelope, "pairs", 0, "value"), -5);
    ck_assert_int_eq(number_at(envelope, "pairs", 0, "version"), 0);
    ck_assert(json_is_true(json_object_get(json_array_get(json_object_get(envelope, "pairs"), 1), "value")));
    ck_assert_double_eq(
        json_real_value(json_object_get(json_array_get(json_object_get(envelope, "pairs"), 2), "value")),
        0.5);
    ck_assert_str_eq(text_at(envelope, "pairs", 3, "value"), "one");
    ck_assert_int_eq(number_at(envelope, "pairs", 4, "version"), 1);
    json_t *list = json_object_get(json_array_get(json_object_get(envelope, "pairs"), 4), "value");
    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_int_eq(json_integer_value(json_array_get(list, 1)), INT64_MAX);
    ck_assert_uint_eq(
        json_array_size(json_object_get(json_array_get(json_object_get(envelope, "pairs"), 6), "value")), 0);
    list = json_object_get(json_array_get(json_object_get(envelope, "pairs"), 5), "value_hex");
    ck_assert_str_eq(json_string_value(json_array_get(list, 0)), "6f6e65");
    ck_assert_str_eq(json_string_value(json_array_get(list, 1)), "74776f20ff");
    ck_assert_int_eq(number_at(envelope, "pairs", 7, "type_number"), 77);
    ck_assert_int_eq(number_at(envelope, "pairs", 7, "unknown_bytes"), 8);
    json_decref(metadata);
    written_close(&written);
}

TEST(without_user_metadata_there_are_no_envelopes, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    assert_ok(write_and_open(&written, _i, &description, &error));
    json_t *metadata = document("metadata.json", "");
    ck_assert_uint_eq(json_array_size(json_object_get(metadata, "envelopes")), 0);
    json_decref(metadata);
    written_close(&written);
}

/* ---- layout ---- */

static enum nt_status count_owner(void *context, const struct nt_layout_range *found)
{
    static const char *const owners[] = {"anchor", "header", "footer", "page list", "user metadata"};
    unsigned *counts = context;
    for (unsigned i = 0; i < 5; i++)
        counts[i] += strcmp(found->owner, owners[i]) == 0 && found->dataset == 0 && found->bytes > 0;
    return NT_OK;
}

TEST(the_layout_has_anchor_and_envelopes, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_RC3)
{
    struct rntuple_description description = usual(_i);
    description.pairs = pairs;
    description.pair_count = 1;
    unsigned counts[5] = {0};
    assert_ok(write_and_open(&written, _i, &description, &error));
    assert_ok(written.file->layout(written.file, count_owner, counts, &error));
    for (unsigned i = 0; i < 5; i++)
        ck_assert_uint_eq(counts[i], 1);
    written_close(&written);
}
