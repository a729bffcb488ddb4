/* SPDX-License-Identifier: MIT
 *
 * The metadata of files by Lance's own writers, old and new, compared with what another reader found in
 * them: every number and every encoding, through the documents.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>

#include "formats/lance/file/messages.h"
#include "formats/lance/file/file.h"
#include "lance_documents.h"
#include "core/base/memory.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include <ntuple/source.h>

static struct nt_error error;
static const char *where; /* the file that is tested */

#define require(condition, ...)                                                                              \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            char what_[1024];                                                                                \
            snprintf(what_, sizeof(what_), __VA_ARGS__);                                                     \
            ck_abort_msg("%s: %s", where, what_);                                                            \
        }                                                                                                    \
    } while (0)

/* ---- messages ----
 * The other reader's are in camelCase, without defaults, 64-bit numbers as texts. Its integers are read as
 * doubles, as there are some of 64 bits elsewhere in its documents. */

static void to_snake_case(const char *camel, char *snake, size_t size)
{
    size_t length = 0;
    for (; *camel && length + 2 < size; camel++) {
        if (isupper((unsigned char)*camel))
            snake[length++] = '_';
        snake[length++] = (char)tolower((unsigned char)*camel);
    }
    snake[length] = '\0';
}

/* Bytes in base 64, or only the length of that text: "<3084 base64 chars>". */
static void check_bytes(const char *key, const char *expected, const char *hexadecimal)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t characters, bytes = strlen(hexadecimal) / 2, found = 0;
    if (sscanf(expected, "<%zu base64 chars>", &characters) == 1) {
        require(characters == (bytes + 2) / 3 * 4, "%s has %zu bytes", key, bytes);
        return;
    }
    uint32_t bits = 0, count = 0;
    for (; *expected && *expected != '='; expected++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, *expected) - digits);
        count += 6;
        if (count < 8)
            continue;
        count -= 8;
        char text[3];
        snprintf(text, sizeof(text), "%02x", bits >> count & 0xff);
        require(found < bytes && !memcmp(text, hexadecimal + 2 * found, 2), "%s: byte %zu", key, found);
        found++;
    }
    require(found == bytes, "%s has %zu bytes instead of %zu", key, bytes, found);
}

static void check_message(const json_t *expected, const json_t *found);

static void check_value(const char *key, const json_t *expected, const json_t *found)
{
    char digits[32] = "";
    require(found, "no %s", key);
    if (json_is_object(expected)) {
        check_message(expected, found);
    } else if (json_is_array(expected)) {
        require(json_array_size(expected) == json_array_size(found), "%s of another length", key);
        for (size_t i = 0; i < json_array_size(expected); i++)
            check_value(key, json_array_get(expected, i), json_array_get(found, i));
    } else if (json_is_string(expected) && json_is_integer(found)) {
        snprintf(digits, sizeof(digits), "%" JSON_INTEGER_FORMAT, json_integer_value(found));
        require(!strcmp(digits, json_string_value(expected)), "%s: %s", key, digits);
    } else if (json_is_number(expected) && json_is_number(found)) {
        require(json_number_value(expected) == json_number_value(found), "%s differs", key);
    } else {
        require(json_equal(expected, found), "%s differs", key);
    }
}

/* What the other reader omits: zeros, empty texts and lists, the first value of an enumeration. */
static bool is_default(const json_t *value)
{
    static const char *const firsts[] = {"", "page", "PARENT", "NONE", "COMPRESSION_ALGORITHM_UNSPECIFIED"};
    if (!json_is_string(value))
        return json_is_false(value) || (json_is_integer(value) && json_integer_value(value) == 0) ||
               (json_is_array(value) && json_array_size(value) == 0);
    for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++)
        if (!strcmp(json_string_value(value), firsts[i]))
            return true;
    return false;
}

static void check_message(const json_t *expected, const json_t *found)
{
    const char *key;
    json_t *value, *rest = json_copy((json_t *)found);
    json_object_foreach((json_t *)expected, key, value)
    {
        char snake[96], hexadecimal[128];
        if (!strcmp(key, "type_url") || !strcmp(key, "location"))
            continue;
        to_snake_case(key, snake, sizeof(snake));
        snprintf(hexadecimal, sizeof(hexadecimal), "%s_hex", snake);
        const char *bytes = json_string_value(json_object_get(found, hexadecimal));
        if (bytes)
            check_bytes(key, json_string_value(value), bytes);
        else
            check_value(key, value, json_object_get(found, snake));
        json_object_del(rest, bytes ? hexadecimal : snake);
    }
    json_object_del(rest, "unknown_bytes"); /* of members that neither reader knows */
    json_object_foreach(rest, key, value)
    {
        require(is_default(value), "%s is not expected", key);
    }
    json_decref(rest);
}

/* An encoding of a page or column: its type, and its content if the type is known. */
static void check_encoding(const json_t *expected, const json_t *owner)
{
    const json_t *message = json_object_get(owner, "message");
    check_json_text(owner, "type_url", json_string_value(json_object_get(expected, "type_url")));
    bool is_planar = strstr(json_string_value(json_object_get(expected, "type_url")), "PlanarLayout");
    require(is_planar || message, "no message");
    if (message)
        check_message(expected, message);
}

/* ---- the rest ---- */

static void check_number(const json_t *expected, const char *key, const json_t *found, const char *our_key)
{
    json_int_t right = json_number(expected, key), ours = json_number(found, our_key);
    require(right == ours, "%s: %lld instead of %lld", our_key, (long long)ours, (long long)right);
}

/* Pairs of offset and size. */
static void check_buffers(const json_t *expected, const json_t *found)
{
    require(json_array_size(expected) == json_array_size(found), "another number of buffers");
    for (size_t i = 0; i < json_array_size(expected); i++) {
        const json_t *pair = json_array_get(expected, i), *ours = json_array_get(found, i);
        require(json_number(ours, "file_offset") == (json_int_t)json_number_value(json_array_get(pair, 0)) &&
                    json_number(ours, "stored_bytes") ==
                        (json_int_t)json_number_value(json_array_get(pair, 1)),
                "buffer %zu differs", i);
    }
}

static void check_page(const json_t *expected, const json_t *found)
{
    check_number(expected, "length", found, "rows");
    check_number(expected, "priority", found, "priority");
    check_buffers(json_object_get(expected, "buffers"), json_object_get(found, "buffers"));
    check_encoding(json_object_get(expected, "encoding"), found);
}

/* For a column of many pages, the other reader's document may have only the first six and the last two,
 * and says so. */
static void check_pages(const json_t *expected, const json_t *found, bool may_be_cut)
{
    enum { LAST = 2, CUT = 8 };
    size_t count = json_array_size(expected), all = json_array_size(found);
    bool is_cut = may_be_cut && count == CUT && all > count;
    require(is_cut || count == all, "another number of pages");
    for (size_t i = 0; i < count; i++)
        check_page(json_array_get(expected, i),
                   json_array_get(found, is_cut && i >= CUT - LAST ? all - count + i : i));
}

static void check_columns(const json_t *layout, const struct nt_dataset *dataset)
{
    json_t *metadata = lance_load_document(dataset, "metadata.json");
    const json_t *expected = json_object_get(layout, "columns"),
                 *found = json_object_get(metadata, "columns");
    require(json_array_size(expected) == json_array_size(found), "another number of columns");
    for (size_t i = 0; i < json_array_size(expected); i++) {
        const json_t *column = json_array_get(expected, i), *ours = json_array_get(found, i);
        check_number(column, "meta_offset", ours, "file_offset");
        check_number(column, "meta_size", ours, "stored_bytes");
        check_buffers(json_object_get(column, "buffers"), json_object_get(ours, "buffers"));
        check_encoding(json_object_get(column, "encoding"), ours);
        check_pages(json_object_get(column, "pages"), json_object_get(ours, "pages"),
                    json_object_get(layout, "pages_cut"));
    }
    json_decref(metadata);
}

static void check_footer(const json_t *layout, const struct nt_dataset *dataset)
{
    json_t *footer = lance_load_document(dataset, "footer.json");
    const json_t *globals = json_object_get(layout, "global_buffers");
    const json_t *found = json_object_get(footer, "global_buffers");
    check_number(layout, "footer_major", footer, "major_version");
    check_number(layout, "footer_minor", footer, "minor_version");
    check_number(layout, "column_meta_start", footer, "column_metadata_offset");
    check_number(layout, "cmo_table", footer, "column_table_offset");
    check_number(layout, "gbo_table", footer, "global_buffer_table_offset");
    require(json_array_size(globals) == json_array_size(found), "another number of global buffers");
    for (size_t i = 0; i < json_array_size(globals); i++) {
        check_number(json_array_get(globals, i), "offset", json_array_get(found, i), "file_offset");
        check_number(json_array_get(globals, i), "size", json_array_get(found, i), "stored_bytes");
    }
    json_decref(footer);
}

/* Entries of a map, compared with an object of the same keys and values. */
static void check_entries(const json_t *expected, const json_t *entries)
{
    require(json_object_size(expected) == json_array_size(entries), "another number of metadata");
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        const char *key = json_string_value(json_object_get(entry, "key"));
        require(key && json_equal(json_object_get(expected, key), json_object_get(entry, "value")),
                "metadata '%s' differ", key ? key : "");
    }
}

static void check_schema(const json_t *layout, const struct nt_dataset *dataset)
{
    json_t *document = lance_load_document(dataset, "schema.json");
    const json_t *message = json_object_get(document, "message");
    const json_t *expected = json_object_get(layout, "fields"), *schema = json_object_get(message, "schema");
    const json_t *fields = json_object_get(schema, "fields");
    check_number(layout, "length", message, "length");
    require(json_array_size(expected) == json_array_size(fields), "another number of fields");
    for (size_t i = 0; i < json_array_size(expected); i++) {
        const json_t *field = json_array_get(expected, i), *ours = json_array_get(fields, i);
        check_number(field, "id", ours, "id");
        check_number(field, "parent", ours, "parent_id");
        check_json_text(ours, "name", json_string_value(json_object_get(field, "name")));
        check_json_text(ours, "logical_type", json_string_value(json_object_get(field, "logical_type")));
        require(json_equal(json_object_get(field, "nullable"), json_object_get(ours, "nullable")),
                "field %zu: nullable", i);
        check_entries(json_object_get(field, "metadata"), json_object_get(ours, "metadata"));
    }
    check_entries(json_object_get(layout, "schema_metadata"), json_object_get(schema, "metadata"));
    json_decref(document);
}

static bool is_legacy(const json_t *layout)
{
    const json_t *major = json_object_get(layout, "footer_major"),
                 *minor = json_object_get(layout, "footer_minor");
    return !major || (json_number_value(major) == 0 && json_number_value(minor) < 3);
}

static void check_legacy(const json_t *layout, const struct nt_lance *lance)
{
    struct nt_buffer out = {0};
    struct nt_json json;
    json_error_t problem;
    nt_json_init(&json, &out, true);
    nt_json_object(&json);
    nt_proto_json(&json, lance->legacy->metadata, &nt_lance_metadata);
    nt_json_end_object(&json);
    json_t *found = json_loadb(out.bytes, out.length, 0, &problem);
    require(found, "%s", problem.text);
    require(json_number(layout, "metadata_position") == (json_int_t)lance->tail.metadata,
            "metadata_position");
    check_message(json_object_get(layout, "metadata"), found);
    json_decref(found);
    nt_buffer_deinit(&out);
}

static void check_file(const char *path, const json_t *expected)
{
    struct lance_opened opened = {0};
    struct nt_source *source;
    const json_t *layout = json_object_get(expected, "layout");
    assert_ok(nt_source_open_file(path, &source, &error));
    enum nt_status status = lance_open_source(&opened, source, &error);
    require(status == NT_OK, "%s", error.message);
    if (is_legacy(layout)) {
        check_legacy(layout, &opened.lance);
        lance_close(&opened);
        return;
    }
    const struct nt_dataset *dataset = lance_add_dataset(&opened);
    check_footer(layout, dataset);
    check_schema(layout, dataset);
    check_columns(layout, dataset);
    lance_close(&opened);
}

TEST(metadata_are_what_another_reader_found, .end = 2)
{
    static const char *const folders[] = {"gen", "old"};
    static const char suffix[] = ".lance.json";
    const char *shared = getenv("NTUPLE_SHARED");
    char path[4096];
    json_error_t problem;
    unsigned checked = 0;
    snprintf(path, sizeof(path), "%s/data/lance/%s", shared ? shared : "", folders[_i]);
    size_t folder_length = strlen(path);
    DIR *directory = opendir(path);
    if (!directory) {
        printf("skipped: no foreign files in %s\n", folders[_i]);
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < sizeof(suffix) || strcmp(entry->d_name + length - sizeof(suffix) + 1, suffix) != 0)
            continue;
        snprintf(path + folder_length, sizeof(path) - folder_length, "/%s", entry->d_name);
        json_t *expected = json_load_file(path, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &problem);
        ck_assert_msg(expected, "%s: %s", path, problem.text);
        path[strlen(path) - strlen(".json")] = '\0';
        where = path;
        check_file(path, expected);
        json_decref(expected);
        checked++;
    }
    closedir(directory);
    ck_assert_uint_gt(checked, 0);
}

/* The damaged files whose damage is in the metadata. */
static const struct {
    const char *name;
    enum nt_status expected;
    const char *message;
} damaged[] = {
    {"cmo_beyond", NT_CORRUPT, "column table"},
    {"gbo_beyond", NT_CORRUPT, "table of global buffers"},
    {"huge_ncols", NT_CORRUPT, "column table of 4294967295 entries"},
    {"huge_nglobal", NT_CORRUPT, "table of global buffers of 2147483647 entries"},
    {"no_encoding", NT_CORRUPT, "column 0: page 0: the page has no encoding"},
    {"page_buffer_beyond", NT_CORRUPT, "column 0: page 0: buffer 1"},
    {"truncated_footer", NT_NOT_THIS_FORMAT, "does not end with LANC"},
};

TEST(damaged_metadata_are_refused, .end = sizeof(damaged) / sizeof(*damaged))
{
    const char *shared = getenv("NTUPLE_SHARED");
    char path[4096];
    struct lance_opened opened = {0};
    struct nt_source *source;
    snprintf(path, sizeof(path), "%s/data/lance/bad/%s.lance", shared ? shared : "", damaged[_i].name);
    if (nt_source_open_file(path, &source, &error) != NT_OK) {
        printf("skipped: no foreign file %s\n", damaged[_i].name);
        return;
    }
    error = (struct nt_error){0};
    ck_assert_uint_eq(lance_open_source(&opened, source, &error), damaged[_i].expected);
    ck_assert_msg(strstr(error.message, damaged[_i].message), "%s: %s", damaged[_i].name, error.message);
}
