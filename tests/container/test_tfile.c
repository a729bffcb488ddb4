/* SPDX-License-Identifier: MIT
 *
 * Valid ROOT files, and an invalid one for each rule.
 */
#include "opened.h"

#include <stdio.h>
#include <unistd.h>

#include "container/container.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include <ntuple/source.h>

static const uint8_t anchor_object[78] = {0x40, 0, 0, 66, 0, 2, 0, 1, [77] = 0x5a};

static struct tfile_writer writer;
static struct opened opened;
static struct nt_error error;

static void begin(enum tfile_size size)
{
    tfile_writer_init(&writer, size);
}

static uint64_t add_anchor(uint32_t directory, const char *name, uint16_t cycle)
{
    return tfile_writer_object(&writer, directory, "ROOT::RNTuple", name, cycle, anchor_object,
                               sizeof(anchor_object));
}

static void end(void)
{
    opened_close(&opened);
    tfile_writer_deinit(&writer);
}

/* A file with "events" at the top and "inner/deep/muons", to damage; returns the offset of "events". */
static uint64_t usual_file(void)
{
    begin(TFILE_SMALL);
    uint64_t events = add_anchor(0, "events", 1);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    uint32_t deep = tfile_writer_directory(&writer, inner, "deep");
    add_anchor(deep, "muons", 1);
    tfile_writer_finish(&writer);
    return events;
}

/* ---- good files ---- */

TEST(an_anchor_is_found_with_its_name_place_and_bytes, .end = 2)
{
    begin(_i ? TFILE_BIG : TFILE_SMALL);
    uint64_t record = add_anchor(0, "events", 3);
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_str_eq(opened.container.kind->name, "TFile");
    ck_assert_uint_eq(opened.container.anchor_count, 1);
    const struct nt_anchor_object *anchor = find_anchor(&opened, "events", 3);
    ck_assert_ptr_null(anchor->failure);
    ck_assert_str_eq(anchor->class_name, "ROOT::RNTuple");
    ck_assert_uint_eq(anchor->directory, 0);
    ck_assert(anchor->is_newest_cycle);
    ck_assert_uint_eq(anchor->length, sizeof(anchor_object));
    ck_assert_mem_eq(anchor->bytes, anchor_object, sizeof(anchor_object));
    ck_assert_uint_eq(anchor->stored_bytes, sizeof(anchor_object));
    ck_assert_uint_gt(anchor->offset, record);
    ck_assert_mem_eq(writer.out.bytes + anchor->offset, anchor_object, sizeof(anchor_object));
    end();
}

/* As in small files of ROOT 6.18 and 6.24, which uproot opens, too. */
TEST(a_negative_version_is_that_of_a_small_file)
{
    static const uint8_t version[] = {0xff, 0xf1, 0xaf, 0x28}; /* 61800 - 1000000 */
    usual_file();
    memcpy(writer.out.bytes + 4, version, sizeof(version));
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.container.anchor_count, 2);
    ck_assert_int_eq(nt_tfile_of(opened.file)->header.version, -938200);
    ck_assert(!nt_tfile_of(opened.file)->header.is_big);
    ck_assert_uint_eq(nt_tfile_root_version(-938200), 61800);
    ck_assert_uint_eq(nt_tfile_root_version(1061800), 61800);
    ck_assert_uint_eq(nt_tfile_root_version(61800), 61800);
    end();
}

TEST(directories_are_entered_at_any_depth, .end = 2)
{
    begin(_i ? TFILE_BIG : TFILE_SMALL);
    uint32_t at = 0;
    for (int depth = 0; depth < 40; depth++)
        at = tfile_writer_directory(&writer, at, "level");
    add_anchor(at, "deepest", 1);
    tfile_writer_directory(&writer, 0, "empty");
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.file->directory_count, 42);
    uint32_t steps = 0;
    for (uint32_t up = find_anchor(&opened, "deepest", 1)->directory; up;
         up = opened.file->directories[up].parent)
        steps++;
    ck_assert_uint_eq(steps, 40);
    end();
}

TEST(the_highest_cycle_is_the_newest_in_its_directory)
{
    begin(TFILE_SMALL);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    add_anchor(0, "events", 2);
    add_anchor(0, "events", 10);
    add_anchor(0, "events", 1);
    add_anchor(inner, "events", 4);
    add_anchor(0, "event", 1);
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.container.anchor_count, 5);
    ck_assert(!find_anchor(&opened, "events", 1)->is_newest_cycle);
    ck_assert(!find_anchor(&opened, "events", 2)->is_newest_cycle);
    ck_assert(find_anchor(&opened, "events", 10)->is_newest_cycle);
    ck_assert(find_anchor(&opened, "events", 4)->is_newest_cycle);
    ck_assert(find_anchor(&opened, "event", 1)->is_newest_cycle);
    end();
}

TEST(names_of_any_length_and_content_are_kept)
{
    static const char *const names[] = {"a/b", "", "..", "\xff\xfe", "x;1", "\xe6\x97\xa5"};
    char long_name[4001];
    memset(long_name, 'n', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    begin(TFILE_SMALL);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        add_anchor(0, names[i], 1);
    for (size_t length = 253; length < 259; length++)
        add_anchor(0, long_name + sizeof(long_name) - 1 - length, 1);
    add_anchor(0, long_name, 1);
    uint32_t odd = tfile_writer_directory(&writer, 0, "dir/with/slashes");
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        ck_assert_ptr_null(find_anchor(&opened, names[i], 1)->failure);
    for (size_t length = 253; length < 259; length++)
        find_anchor(&opened, long_name + sizeof(long_name) - 1 - length, 1);
    ck_assert_ptr_null(find_anchor(&opened, long_name, 1)->failure);
    ck_assert_str_eq(opened.file->directories[odd].name.bytes, "dir/with/slashes");
    end();
}

TEST(an_anchor_of_the_experimental_class_is_one_too)
{
    begin(TFILE_SMALL);
    tfile_writer_object(&writer, 0, "ROOT::Experimental::RNTuple", "old", 1, anchor_object, 58);
    tfile_writer_object(&writer, 0, "TTree", "tree", 1, "tree", 4);
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.container.anchor_count, 1);
    ck_assert_str_eq(find_anchor(&opened, "old", 1)->class_name, "ROOT::Experimental::RNTuple");
    ck_assert_uint_eq(find_anchor(&opened, "old", 1)->length, 58);
    end();
}

TEST(a_compressed_anchor_is_decompressed)
{
    /* A block of ROOT's format, from its description: "ZL", method 8, stored and uncompressed size in three
     * little-endian bytes each, then a zlib stream: 78 times "0", compressed by Python's zlib. */
    static const uint8_t block[] = {'Z',  'L',  8,    12,   0,    0,    78,   0,    0,    0x78, 0x9c,
                                    0x33, 0x30, 0xa0, 0x26, 0x00, 0x00, 0x42, 0x1c, 0x0e, 0xa1};
    char text[79];
    snprintf(text, sizeof(text), "%078d", 0);
    begin(TFILE_SMALL);
    tfile_writer_stored(&writer, 0, "ROOT::RNTuple", "zeros", 1, block, sizeof(block), 78);
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
    const struct nt_anchor_object *anchor = find_anchor(&opened, "zeros", 1);
    ck_assert_msg(!anchor->failure, "%s", anchor->failure ? anchor->failure->message : "");
    ck_assert_uint_eq(anchor->length, 78);
    ck_assert_uint_eq(anchor->stored_bytes, sizeof(block));
    ck_assert_mem_eq(anchor->bytes, text, 78);
    end();
}

TEST(an_anchor_with_more_bytes_after_it_is_not_compressed)
{
    uint8_t stored[sizeof(anchor_object) + 8];
    memset(stored, 'x', sizeof(stored));
    memcpy(stored, anchor_object, sizeof(anchor_object));
    begin(TFILE_SMALL);
    tfile_writer_stored(&writer, 0, "ROOT::RNTuple", "events", 1, stored, sizeof(stored),
                        sizeof(anchor_object));
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
    const struct nt_anchor_object *anchor = find_anchor(&opened, "events", 1);
    ck_assert_msg(!anchor->failure, "%s", anchor->failure ? anchor->failure->message : "");
    ck_assert_uint_eq(anchor->length, sizeof(anchor_object));
    ck_assert_uint_eq(anchor->stored_bytes, sizeof(stored));
    ck_assert_mem_eq(anchor->bytes, anchor_object, sizeof(anchor_object));
    end();
}

TEST(records_beyond_two_gibibytes_are_found)
{
    char path[] = "/tmp/nt_test_tfile_XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert(descriptor >= 0);
    close(descriptor);
    begin(TFILE_BIG);
    add_anchor(0, "before", 1);
    tfile_writer_hole(&writer, UINT64_C(5000000000));
    uint32_t far = tfile_writer_directory(&writer, 0, "far");
    uint64_t record = add_anchor(far, "behind", 1);
    tfile_writer_finish(&writer);
    tfile_writer_save(&writer, path);
    struct nt_source *source;
    assert_ok(nt_source_open_file(path, &source, &error));
    assert_ok(open_source(&opened, source, &error));
    ck_assert_uint_eq(opened.container.anchor_count, 2);
    ck_assert_uint_gt(record, UINT64_C(5000000000));
    ck_assert_uint_gt(find_anchor(&opened, "behind", 1)->offset, record);
    ck_assert_mem_eq(find_anchor(&opened, "behind", 1)->bytes, anchor_object, sizeof(anchor_object));
    end();
    unlink(path);
}

TEST(a_directory_that_was_never_written_is_empty)
{
    usual_file();
    tfile_writer_put32(&writer, writer.directories[1].members + TFILE_DIRECTORY_KEYS_BYTES, 0);
    tfile_writer_put32(&writer, writer.directories[1].members + TFILE_DIRECTORY_KEYS, 0);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.container.anchor_count, 1);
    ck_assert_ptr_null(find_anchor(&opened, "events", 1)->failure);
    end();
}

/* ---- files without an RNTuple or a tree ---- */

TEST(a_file_of_other_classes_says_which)
{
    begin(TFILE_SMALL);
    tfile_writer_object(&writer, 0, "TChain", "one", 1, "x", 1);
    tfile_writer_object(&writer, tfile_writer_directory(&writer, 0, "d"), "TChain", "two", 1, "x", 1);
    tfile_writer_object(&writer, 0, "TH1F", "h", 1, "x", 1);
    tfile_writer_finish(&writer);
    assert_status(NT_NOT_THIS_FORMAT, open_writer(&opened, &writer, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "without an RNTuple or a TTree"));
    ck_assert_ptr_nonnull(strstr(error.message, "2 TChain"));
    ck_assert_ptr_nonnull(strstr(error.message, "1 TH1F"));
    end();
}

TEST(an_empty_file_of_root_says_so)
{
    begin(TFILE_SMALL);
    tfile_writer_finish(&writer);
    assert_status(NT_NOT_THIS_FORMAT, open_writer(&opened, &writer, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "empty"));
    end();
}

/* ---- bad files: the whole file ---- */

TEST(a_header_that_contradicts_itself_is_refused, .end = 6)
{
    static const struct {
        uint32_t at, value;
    } words[] = {{TFILE_HEADER_BEGIN, 0},
                 {TFILE_HEADER_BEGIN, 62},
                 {TFILE_HEADER_BEGIN, 0xffffffff},
                 {TFILE_HEADER_END, 99},
                 {TFILE_HEADER_NAME_BYTES, 0xffffffff},
                 {TFILE_HEADER_NAME_BYTES, 100000}};
    usual_file();
    tfile_writer_put32(&writer, words[_i].at, words[_i].value);
    assert_status(NT_CORRUPT, open_writer(&opened, &writer, &error));
    end();
}

TEST(a_root_directory_without_its_key_list_is_refused, .end = 5)
{
    static const struct {
        uint32_t at, value;
        enum nt_status status;
    } words[] = {{TFILE_DIRECTORY_KEYS, 100, NT_CORRUPT},
                 {TFILE_DIRECTORY_KEYS, 0x7fffffff, NT_TRUNCATED},
                 {TFILE_DIRECTORY_KEYS_BYTES, 0xffffffff, NT_TRUNCATED},
                 {TFILE_DIRECTORY_KEYS_BYTES, 0, NT_CORRUPT},
                 {TFILE_DIRECTORY_KEYS_BYTES, 40, NT_CORRUPT}};
    usual_file();
    tfile_writer_put32(&writer, writer.directories[0].members + words[_i].at, words[_i].value);
    assert_status(words[_i].status, open_writer(&opened, &writer, &error));
    end();
}

/* As early versions of uproot wrote it: places are 0, and the size is without the keys. */
TEST(a_key_list_may_lack_its_offset, .end = 2)
{
    enum { SIZE = 6, PLACE = 18, DIRECTORY = 22 }; /* in a key */
    static const struct {
        uint32_t added;
        enum nt_status status;
    } rows[] = {{0, NT_OK}, {1, NT_CORRUPT}};
    usual_file();
    uint64_t list = writer.directories[0].keys;
    uint32_t size = nt_load_be32((const uint8_t *)writer.out.bytes + list + SIZE);
    uint16_t key_bytes = nt_load_be16((const uint8_t *)writer.out.bytes + list + 14);
    tfile_writer_put32(&writer, list, key_bytes + 4u);
    tfile_writer_put32(&writer, list + SIZE, size + rows[_i].added);
    tfile_writer_put32(&writer, list + PLACE, 0);
    tfile_writer_put32(&writer, list + DIRECTORY, 0);
    ck_assert_uint_eq(open_writer(&opened, &writer, &error), rows[_i].status);
    if (rows[_i].status == NT_OK)
        ck_assert_uint_eq(opened.container.anchor_count, 2);
    end();
}

TEST(a_file_cut_anywhere_before_its_root_list_ends_is_refused)
{
    usual_file();
    uint64_t needed = writer.directories[0].keys + 27 + 2 + 4 + writer.directories[0].list.length;
    for (size_t size = 4; size < needed; size++) {
        error = (struct nt_error){0};
        ck_assert_uint_eq(open_bytes(&opened, writer.out.bytes, size, &error), NT_TRUNCATED);
        if (size >= 63)
            ck_assert_ptr_nonnull(strstr(error.message, "truncated"));
    }
    for (size_t size = 0; size < 4; size++)
        ck_assert_uint_eq(open_bytes(&opened, writer.out.bytes, size, &error), NT_NOT_THIS_FORMAT);
    end();
}

TEST(a_file_cut_after_what_is_needed_opens)
{
    usual_file();
    assert_ok(open_bytes(&opened, writer.out.bytes, writer.free_list, &error));
    ck_assert_uint_eq(opened.container.anchor_count, 2);
    end();
}

/* ---- bad files: one directory or key next to good ones ---- */

TEST(a_damaged_directory_hides_nothing_else, .end = 4)
{
    static const struct {
        uint32_t at, value;
        enum nt_status status;
    } words[] = {{TFILE_DIRECTORY_KEYS, 100, NT_CORRUPT},
                 {TFILE_DIRECTORY_KEYS, 0x7fffffff, NT_TRUNCATED},
                 {TFILE_DIRECTORY_KEYS_BYTES, 0x7fffffff, NT_TRUNCATED},
                 {TFILE_DIRECTORY_KEYS_BYTES, 33, NT_CORRUPT}};
    usual_file();
    tfile_writer_put32(&writer, writer.directories[1].members + words[_i].at, words[_i].value);
    assert_ok(open_writer(&opened, &writer, &error));
    assert_damage_of_other(&opened, "events", words[_i].status);
    end();
}

TEST(a_key_that_differs_from_its_copy_is_refused, .end = 13)
{
    static const struct {
        uint32_t at, value;
    } words[] = {
        {TFILE_KEY_BYTES, 0},           {TFILE_KEY_BYTES, 0xffffffff},      {TFILE_KEY_BYTES, 1000},
        {TFILE_KEY_OBJECT_BYTES, 77},   {TFILE_KEY_OBJECT_BYTES, 1u << 31}, {TFILE_KEY_LENGTH, 0},
        {TFILE_KEY_LENGTH, 0xffff0001}, {TFILE_KEY_LENGTH, 0x00300002},     {TFILE_KEY_OFFSET, 0},
        {TFILE_KEY_DIRECTORY, 0},       {TFILE_KEY_CLASS, 0x0d524f4e},      {TFILE_KEY_CLASS, 0xff000000},
        {TFILE_KEY_CLASS, 0xffffffff}};
    begin(TFILE_SMALL);
    add_anchor(0, "events", 1);
    uint64_t damaged = add_anchor(0, "damaged", 1);
    tfile_writer_finish(&writer);
    tfile_writer_put32(&writer, damaged + words[_i].at, words[_i].value);
    assert_ok(open_writer(&opened, &writer, &error));
    assert_damage_of_other(&opened, "events", NT_CORRUPT);
    ck_assert_ptr_nonnull(find_anchor(&opened, "damaged", 1)->failure);
    end();
}

TEST(an_anchor_of_an_impossible_size_is_refused)
{
    static const uint8_t large[5000];
    begin(TFILE_SMALL);
    add_anchor(0, "events", 1);
    tfile_writer_object(&writer, 0, "ROOT::RNTuple", "large", 1, large, sizeof(large));
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
    assert_damage_of_other(&opened, "events", NT_CORRUPT);
    end();
}

TEST(an_anchor_that_does_not_decompress_is_refused)
{
    static const uint8_t block[] = {'Z', 'L', 8,   12,  0,   0,   78,  0,   0,   'n', 'o',
                                    't', ' ', 'd', 'e', 'f', 'l', 'a', 't', 'e', 'd'};
    begin(TFILE_SMALL);
    add_anchor(0, "events", 1);
    tfile_writer_stored(&writer, 0, "ROOT::RNTuple", "noise", 1, block, sizeof(block), 78);
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
    assert_damage_of_other(&opened, "events", NT_CORRUPT);
    end();
}

TEST(a_directory_that_contains_itself_is_refused)
{
    usual_file();
    /* "deep" is a directory in "inner": its key in inner's list and the record that it refers to agree. */
    uint64_t inner = writer.directories[1].record, copy = writer.directories[1].keys + 29 + 4;
    tfile_writer_put32(&writer, copy + TFILE_KEY_OFFSET, (uint32_t)inner);
    assert_ok(open_writer(&opened, &writer, &error));
    assert_damage_of_other(&opened, "events", NT_CORRUPT);
    end();
}

TEST(directories_nested_beyond_the_limit_are_refused)
{
    begin(TFILE_SMALL);
    add_anchor(0, "events", 1);
    uint32_t at = 0;
    for (int depth = 0; depth < NT_MAX_DEPTH + 10; depth++)
        at = tfile_writer_directory(&writer, at, "d");
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
    assert_damage_of_other(&opened, "events", NT_LIMIT);
    end();
}

TEST(no_flipped_bit_crashes_the_reader_or_changes_a_name)
{
    usual_file();
    for (size_t bit = 0; bit < writer.out.length * 8; bit++) {
        writer.out.bytes[bit / 8] ^= (char)(1 << bit % 8);
        enum nt_status status = open_writer(&opened, &writer, &error);
        for (uint32_t i = 0; !status && i < opened.container.anchor_count; i++) {
            const struct nt_anchor_object *anchor = &opened.container.anchors[i];
            bool is_known = !strcmp(anchor->name.bytes, "events") || !strcmp(anchor->name.bytes, "muons");
            ck_assert_msg(is_known || anchor->failure, "bit %zu: %s", bit, anchor->name.bytes);
        }
        opened_close(&opened);
        writer.out.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    end();
}

TEST(dates_are_reported_as_iso_8601)
{
    char text[24];
    ck_assert(nt_tfile_format_date(29u << 26 | 2 << 22 | 29 << 17 | 7 << 12 | 8 << 6 | 9, text));
    ck_assert_str_eq(text, "2024-02-29T07:08:09");
    ck_assert(!nt_tfile_format_date(0, text));
    ck_assert(!nt_tfile_format_date(13 << 22 | 1 << 17, text));
    ck_assert(!nt_tfile_format_date(1 << 22 | 1 << 17 | 24 << 12, text));
}
