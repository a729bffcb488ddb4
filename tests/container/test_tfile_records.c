/* SPDX-License-Identifier: MIT
 *
 * Walking over the records of a file: keys.jsonl, the layout and file.json.
 */
#include "opened.h"

#include <jansson.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/sanitizer.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include <ntuple/source.h>

static const uint8_t anchor_object[78] = {0x40, 0, 0, 66, 0, 2};

static struct tfile_writer writer;
static struct opened opened;
static struct nt_error error;
static uint64_t blob, listed, marked, events, muons, tree;

static void usual_file(enum tfile_size size)
{
    tfile_writer_init(&writer, size);
    blob = tfile_writer_blob(&writer, "pages", 5);
    listed = tfile_writer_free(&writer, 100, true);
    events =
        tfile_writer_object(&writer, 0, "ROOT::RNTuple", "events", 2, anchor_object, sizeof(anchor_object));
    marked = tfile_writer_free(&writer, 50, false);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    muons = tfile_writer_object(&writer, inner, "ROOT::RNTuple", "muons", 1, anchor_object,
                                sizeof(anchor_object));
    tree = tfile_writer_stored(&writer, inner, "TTree", "\xff tree", 7, "stored", 6, 1000);
    tfile_writer_finish(&writer);
}

static void end(void)
{
    opened_close(&opened);
    tfile_writer_deinit(&writer);
}

/* ---- keys.jsonl ---- */

/* The lines of keys.jsonl as an array. */
static json_t *read_keys(void)
{
    json_t *lines = json_array();
    struct nt_text_generator *text;
    const struct nt_document *document = &opened.file->documents[0];
    ck_assert_str_eq(document->prefix, "keys.jsonl");
    assert_ok(document->open(&(struct nt_document_request){document, opened.file, NULL, 0}, &text, &error));
    for (bool has_more = true; has_more;) {
        struct nt_buffer out = {0};
        assert_ok(text->next(text, &out, &has_more, &error));
        for (char *line = out.bytes, *next; line && *line; line = next) {
            next = strchr(line, '\n');
            ck_assert_ptr_nonnull(next++);
            json_error_t failure;
            json_t *record = json_loadb(line, (size_t)(next - line), JSON_ALLOW_NUL, &failure);
            ck_assert_msg(record != NULL, "%s in %.*s", failure.text, (int)(next - line), line);
            json_array_append_new(lines, record);
        }
        nt_buffer_deinit(&out);
    }
    text->free(text);
    return lines;
}

static json_int_t number(const json_t *record, const char *name)
{
    json_t *value = json_object_get(record, name);
    ck_assert_msg(json_is_integer(value), "no number %s", name);
    return json_integer_value(value);
}

static json_t *find_record(json_t *lines, uint64_t offset)
{
    size_t i;
    json_t *record;
    json_array_foreach(lines, i,
                       record) if (number(record, "file_offset") == (json_int_t)offset) return record;
    ck_abort_msg("no record at %ju", (uintmax_t)offset);
    return NULL;
}

/* Records follow one another from the first to the end of the file. */
static void assert_no_holes(json_t *lines, uint64_t size)
{
    json_int_t next = 100;
    size_t i;
    json_t *record;
    json_array_foreach(lines, i, record)
    {
        ck_assert_int_eq(number(record, "file_offset"), next);
        next += number(record, "stored_bytes");
    }
    ck_assert_int_eq(next, (json_int_t)size);
}

static void assert_kind(json_t *lines, uint64_t offset, const char *kind, uint64_t bytes)
{
    json_t *record = find_record(lines, offset);
    ck_assert_str_eq(json_string_value(json_object_get(record, "record")), kind);
    if (bytes)
        ck_assert_int_eq(number(record, "stored_bytes"), (json_int_t)bytes);
}

TEST(every_record_has_a_line, .end = 2)
{
    usual_file(_i ? TFILE_BIG : TFILE_SMALL);
    assert_ok(open_writer(&opened, &writer, &error));
    json_t *lines = read_keys();
    assert_no_holes(lines, writer.out.length);
    assert_kind(lines, blob, "key", 0);
    assert_kind(lines, listed, "free", 100);
    assert_kind(lines, marked, "free", 50);
    assert_kind(lines, writer.directories[1].keys, "key", 0);
    json_t *record = find_record(lines, events);
    ck_assert_str_eq(json_string_value(json_object_get(record, "class")), "ROOT::RNTuple");
    ck_assert_str_eq(json_string_value(json_object_get(record, "name")), "events");
    ck_assert_str_eq(json_string_value(json_object_get(record, "datetime")), "2024-05-31T23:59:58");
    ck_assert_int_eq(number(record, "cycle"), 2);
    ck_assert_int_eq(number(record, "object_bytes"), 78);
    ck_assert_int_eq(number(record, "key_bytes") + 78, number(record, "stored_bytes"));
    ck_assert_int_eq(number(record, "directory_offset"), 100);
    ck_assert(json_is_false(json_object_get(record, "is_compressed")));
    record = find_record(lines, tree);
    ck_assert(json_is_true(json_object_get(record, "is_compressed")));
    ck_assert_int_eq(number(record, "directory_offset"), (json_int_t)writer.directories[1].record);
    ck_assert_ptr_nonnull(json_object_get(record, "name_hex"));
    json_decref(lines);
    end();
}

/* A blob of uncompressed pages: ROOT does not count their checksums. */
TEST(what_is_stored_in_more_bytes_than_it_has_is_not_compressed, .end = 3)
{
    static const uint32_t object_bytes[] = {5, 4, 0};
    usual_file(TFILE_SMALL);
    tfile_writer_put32(&writer, blob + TFILE_KEY_OBJECT_BYTES, object_bytes[_i]);
    assert_ok(open_writer(&opened, &writer, &error));
    json_t *lines = read_keys(), *record = find_record(lines, blob);
    ck_assert_int_eq(number(record, "object_bytes"), object_bytes[_i]);
    ck_assert(json_is_false(json_object_get(record, "is_compressed")));
    json_decref(lines);
    end();
}

TEST(a_damaged_record_is_a_gap_and_the_next_one_is_found, .end = 5)
{
    static const uint32_t words[][2] = {{TFILE_KEY_BYTES, 0},
                                        {TFILE_KEY_BYTES, 0x7fffffff},
                                        {TFILE_KEY_BYTES, 0xffffffff},
                                        {TFILE_KEY_OFFSET, 12345},
                                        {TFILE_KEY_CLASS, 0xff7fffff}};
    usual_file(TFILE_SMALL);
    tfile_writer_put32(&writer, blob + words[_i][0], words[_i][1]);
    assert_ok(open_writer(&opened, &writer, &error));
    json_t *lines = read_keys();
    assert_no_holes(lines, writer.out.length);
    assert_kind(lines, blob, "gap", listed - blob);
    assert_kind(lines, listed, "free", 100);
    assert_kind(lines, events, "key", 0);
    json_decref(lines);
    end();
}

TEST(without_a_list_of_free_segments_records_are_found_all_the_same)
{
    usual_file(TFILE_SMALL);
    tfile_writer_put32(&writer, 16, 0);
    assert_ok(open_writer(&opened, &writer, &error));
    json_t *lines = read_keys();
    assert_no_holes(lines, writer.out.length);
    assert_kind(lines, listed, "gap", 100); /* it is not marked itself */
    assert_kind(lines, marked, "free", 50);
    json_decref(lines);
    end();
}

TEST(a_hole_of_gigabytes_costs_nothing)
{
    char path[] = "/tmp/nt_test_records_XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert(descriptor >= 0);
    close(descriptor);
    tfile_writer_init(&writer, TFILE_BIG);
    uint64_t hole = tfile_writer_hole(&writer, UINT64_C(1) << 40);
    events =
        tfile_writer_object(&writer, 0, "ROOT::RNTuple", "events", 1, anchor_object, sizeof(anchor_object));
    tfile_writer_finish(&writer);
    tfile_writer_save(&writer, path);
    struct nt_source *source;
    assert_ok(nt_source_open_file(path, &source, &error));
    assert_ok(open_source(&opened, source, &error));
    json_t *lines = read_keys();
    assert_no_holes(lines, opened.file->source->size);
    assert_kind(lines, hole, "gap", UINT64_C(1) << 40);
    assert_kind(lines, events, "key", 0);
    json_decref(lines);
    end();
    unlink(path);
}

/* ---- layout ---- */

struct owners {
    char *of; /* a letter for each byte of the file */
};

/* Each byte has at most one owner. The letter is the first of its name, a capital for keys of anchors. */
static enum nt_status note_owner(void *context, const struct nt_layout_range *range)
{
    struct owners *owners = context;
    ck_assert_uint_le(range->offset + range->bytes, writer.out.length);
    for (uint64_t at = range->offset; at < range->offset + range->bytes; at++) {
        ck_assert_msg(owners->of[at] == '.', "byte %ju has two owners", (uintmax_t)at);
        owners->of[at] = range->owner[0];
    }
    ck_assert_uint_eq(range->dataset, NT_NONE);
    if (!strcmp(range->owner, "key") && range->offset == events)
        ck_assert_str_eq(range->detail, "ROOT::RNTuple");
    return NT_OK;
}

TEST(every_byte_but_those_of_datasets_has_one_owner, .end = 2)
{
    usual_file(_i ? TFILE_BIG : TFILE_SMALL);
    assert_ok(open_writer(&opened, &writer, &error));
    struct owners owners = {malloc(writer.out.length)};
    memset(owners.of, '.', writer.out.length);
    assert_ok(opened.file->layout(opened.file, note_owner, &owners, &error));
    size_t without = 0;
    for (size_t i = 0; i < writer.out.length; i++)
        without += owners.of[i] == '.';
    ck_assert_uint_eq(without, 5 + 6 + 2 * sizeof(anchor_object)); /* pages, a tree, anchors */
    ck_assert_int_eq(owners.of[find_anchor(&opened, "muons", 1)->offset], '.');
    ck_assert_int_eq(owners.of[0], 'f');                               /* file header */
    ck_assert_int_eq(owners.of[blob], 'k');                            /* key */
    ck_assert_int_eq(owners.of[listed + 99], 'f');                     /* free */
    ck_assert_int_eq(owners.of[writer.directories[1].members], 'd');   /* directory */
    ck_assert_int_eq(owners.of[writer.directories[1].keys + 50], 'k'); /* key list */
    ck_assert_int_eq(owners.of[writer.out.length - 1], 'f');           /* free list */
    free(owners.of);
    end();
}

static enum nt_status cancel(void *context, const struct nt_layout_range *range)
{
    ++*(int *)context;
    return NT_CANCELED;
}

TEST(a_layout_stops_when_requested)
{
    int calls = 0;
    usual_file(TFILE_SMALL);
    assert_ok(open_writer(&opened, &writer, &error));
    assert_status(NT_CANCELED, opened.file->layout(opened.file, cancel, &calls, &error));
    ck_assert_int_eq(calls, 1);
    end();
}

/* ---- file.json ---- */

static json_t *describe(void)
{
    struct nt_buffer out = {0};
    struct nt_json json;
    json_error_t failure;
    nt_json_document(&json, &out, "file");
    assert_ok(opened.file->describe(opened.file, &json, &error));
    nt_json_finish(&json);
    json_t *document = json_loads(out.bytes, JSON_ALLOW_NUL, &failure);
    ck_assert_msg(document != NULL, "%s", failure.text);
    nt_buffer_deinit(&out);
    return document;
}

TEST(the_file_and_all_keys_of_all_directories_are_described, .end = 2)
{
    usual_file(_i ? TFILE_BIG : TFILE_SMALL);
    assert_ok(open_writer(&opened, &writer, &error));
    json_t *document = describe();
    ck_assert_str_eq(json_string_value(json_object_get(document, "kind")), "TFile");
    ck_assert_str_eq(json_string_value(json_object_get(document, "root_version")), "6.40.00");
    ck_assert_str_eq(json_string_value(json_object_get(document, "uuid")),
                     "00112233-4455-6677-8899-aabbccddeeff");
    ck_assert(json_boolean_value(json_object_get(document, "is_big_file")) == (_i == 1));
    ck_assert_int_eq(number(document, "end_offset"), (json_int_t)writer.out.length);
    ck_assert_int_eq(number(document, "missing_bytes"), 0);
    ck_assert_int_eq(number(document, "keys"), 4);
    ck_assert_int_eq(number(json_object_get(document, "compression"), "setting"), 505);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "free_segments")), 1);
    json_t *inner = json_array_get(json_object_get(document, "directories"), 1);
    ck_assert_str_eq(json_string_value(json_object_get(inner, "name")), "inner");
    ck_assert_int_eq(number(inner, "parent"), 0);
    json_t *keys = json_object_get(inner, "keys");
    ck_assert_uint_eq(json_array_size(keys), 2);
    ck_assert_int_eq(number(json_array_get(keys, 0), "file_offset"), (json_int_t)muons);
    ck_assert_int_eq(number(json_array_get(keys, 1), "cycle"), 7);
    json_decref(document);
    end();
}

TEST(a_list_that_cannot_be_read_is_described_with_its_error)
{
    usual_file(TFILE_SMALL);
    tfile_writer_put32(&writer, writer.directories[1].members + TFILE_DIRECTORY_KEYS, 101);
    assert_ok(open_writer(&opened, &writer, &error));
    json_t *document = describe();
    json_t *inner = json_array_get(json_object_get(document, "directories"), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(inner, "keys")), 0);
    ck_assert(json_is_string(json_object_get(inner, "error")));
    json_decref(document);
    end();
}

TEST(a_cut_file_says_what_is_missing)
{
    usual_file(TFILE_SMALL);
    assert_ok(open_bytes(&opened, writer.out.bytes, writer.out.length - 11, &error));
    json_t *document = describe();
    ck_assert_int_eq(number(document, "missing_bytes"), 11);
    json_t *lines = read_keys();
    ck_assert_uint_gt(json_array_size(lines), 5);
    json_decref(document);
    json_decref(lines);
    end();
}

/* Sanitizers make it slow, so with them one bit of each byte. */
TEST(no_flipped_bit_crashes_the_documents)
{
    usual_file(TFILE_SMALL);
    for (size_t bit = 0; bit < writer.out.length * 8; bit += NT_IS_SANITIZED ? 9 : 1) {
        writer.out.bytes[bit / 8] ^= (char)(1 << bit % 8);
        if (!open_writer(&opened, &writer, &error)) {
            json_t *lines = read_keys();
            json_decref(lines);
            json_decref(describe());
            int calls = 0;
            opened.file->layout(opened.file, cancel, &calls, &error);
        }
        opened_close(&opened);
        writer.out.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    end();
}
