/* SPDX-License-Identifier: MIT
 *
 * Trees in ROOT files: which keys are collected, what is read of them, and what a scan of the records
 * finds in a file that was not closed.
 */
#include "opened.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>

#include "core/model/budget.h"

static struct tfile_writer writer;
static struct opened opened;
static struct nt_error error;

static void begin(enum tfile_size size)
{
    tfile_writer_init(&writer, size);
}

static uint64_t add_tree(uint32_t directory, const char *name, uint16_t cycle)
{
    return tfile_writer_object(&writer, directory, "TTree", name, cycle, "members", 7);
}

static void finish(void)
{
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
}

static void end(void)
{
    opened_close(&opened);
    tfile_writer_deinit(&writer);
}

static bool is_called(struct nt_text text, const char *name)
{
    return text.length == strlen(name) && !memcmp(text.bytes, name, text.length);
}

/* The tree with this name and cycle; fails the test if there is none. */
static const struct nt_tfile_object *find_tree(const char *name, uint32_t cycle)
{
    for (uint32_t i = 0; i < opened.container.object_count; i++) {
        const struct nt_tfile_object *object = &opened.container.objects[i];
        if (is_called(object->name, name) && object->cycle == cycle)
            return object;
    }
    ck_abort_msg("no tree %s;%u", name, cycle);
    return NULL;
}

/* ---- Lists of keys ---- */

TEST(trees_of_all_classes_are_collected_with_their_places, .end = 2)
{
    static const char *const classes[] = {"TTree", "TNtuple", "TNtupleD"};
    begin(_i ? TFILE_BIG : TFILE_SMALL);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    uint64_t places[3];
    for (uint32_t i = 0; i < 3; i++)
        places[i] = tfile_writer_stored(&writer, inner, classes[i], classes[i], 4, "stored", 6, 1000);
    tfile_writer_object(&writer, 0, "TChain", "chain", 1, "x", 1);
    tfile_writer_object(&writer, 0, "TBranch", "branch", 1, "x", 1);
    finish();
    ck_assert_uint_eq(opened.container.object_count, 3);
    ck_assert_uint_eq(opened.container.anchor_count, 0);
    for (uint32_t i = 0; i < 3; i++) {
        const struct nt_tfile_object *object = find_tree(classes[i], 4);
        ck_assert(is_called(object->class_name, classes[i]));
        ck_assert_uint_eq(object->directory, inner);
        ck_assert_uint_eq(object->offset, places[i]);
        ck_assert_mem_eq(writer.out.bytes + object->offset + object->key_bytes, "stored", 6);
        ck_assert_uint_eq(object->bytes, object->key_bytes + 6);
        ck_assert_uint_eq(object->object_bytes, 1000);
        ck_assert(object->is_listed && object->is_newest_cycle && !object->has_rival && !object->failure);
    }
    end();
}

/* ---- Prefetch ---- */

/* A source that notes what is prefetched. */
static struct {
    struct nt_source source;
    unsigned calls;
    uint64_t offsets[8];
    size_t count;
} noting;

static bool is_requested(uint64_t offset)
{
    for (size_t i = 0; i < noting.count; i++)
        if (noting.offsets[i] == offset)
            return true;
    return false;
}

static enum nt_status read_noting(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                  struct nt_error *found)
{
    memcpy(buffer, writer.out.bytes + offset, bytes);
    return NT_OK;
}

static void note_prefetch(struct nt_source *source, const struct nt_extent *extents, size_t count,
                          enum nt_prefetch_need need)
{
    ck_assert_int_eq(need, NT_PREFETCH_COLD);
    noting.calls++;
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_lt(noting.count, COUNT_OF(noting.offsets));
        noting.offsets[noting.count++] = extents[i].offset;
    }
}

static void close_nothing(struct nt_source *source)
{
}

static void open_noting(void)
{
    static const struct nt_source_ops ops = {
        .read_at = read_noting, .prefetch = note_prefetch, .close = close_nothing};
    tfile_writer_finish(&writer);
    memset(&noting, 0, sizeof(noting));
    noting.source = (struct nt_source){.ops = &ops, .size = writer.out.length, .path = "noting.root"};
    assert_ok(open_source(&opened, &noting.source, &error));
}

TEST(what_a_list_of_keys_leads_to_is_requested_at_once)
{
    begin(TFILE_SMALL);
    uint64_t tree = add_tree(0, "tree", 1), other = add_tree(0, "other", 1);
    uint64_t image = tfile_writer_object(&writer, 0, "TImage", "image", 1, "x", 1);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    uint64_t inner_at = writer.directories[inner].record;
    uint64_t deep = add_tree(inner, "deep", 1);
    open_noting();
    ck_assert_uint_eq(noting.calls, 2);
    ck_assert(is_requested(tree) && is_requested(other) && is_requested(inner_at) && is_requested(deep));
    ck_assert(!is_requested(image));
    end();
}

TEST(what_may_be_too_large_is_not_requested_before_its_key_is_read)
{
    static const char large[8 << 20];
    begin(TFILE_SMALL);
    uint64_t tree = tfile_writer_object(&writer, 0, "TTree", "large", 1, large, sizeof(large));
    uint64_t other = add_tree(0, "other", 1);
    open_noting();
    ck_assert(!is_requested(tree));
    ck_assert(is_requested(other));
    end();
}

TEST(cycles_of_trees_and_of_rntuples_are_compared_apart)
{
    begin(TFILE_SMALL);
    add_tree(0, "events", 2);
    add_tree(0, "events", 10);
    tfile_writer_object(&writer, 0, "ROOT::RNTuple", "events", 7, "x", 1);
    tfile_writer_object(&writer, 0, "ROOT::RNTuple", "events", 11, "x", 1);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    add_tree(inner, "events", 1);
    finish();
    ck_assert(!find_tree("events", 2)->is_newest_cycle);
    ck_assert(find_tree("events", 10)->is_newest_cycle);
    ck_assert(find_tree("events", 1)->is_newest_cycle);
    ck_assert(!find_anchor(&opened, "events", 7)->is_newest_cycle);
    ck_assert(find_anchor(&opened, "events", 11)->is_newest_cycle);
    ck_assert(find_tree("events", 2)->has_rival && find_tree("events", 10)->has_rival);
    ck_assert(!find_tree("events", 1)->has_rival);
    end();
}

TEST(a_tree_whose_key_differs_from_its_copy_is_an_entry_with_its_failure, .end = 3)
{
    static const struct {
        uint32_t at, value;
    } words[] = {{TFILE_KEY_OBJECT_BYTES, 8}, {TFILE_KEY_DIRECTORY, 0}, {TFILE_KEY_OFFSET, 1}};
    const uint8_t *bytes;
    size_t length;
    begin(TFILE_SMALL);
    uint64_t record = add_tree(0, "bad", 1);
    add_tree(0, "good", 1);
    tfile_writer_finish(&writer);
    tfile_writer_put32(&writer, record + words[_i].at, words[_i].value);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.container.object_count, 2);
    ck_assert_ptr_null(find_tree("good", 1)->failure);
    const struct nt_tfile_object *bad = find_tree("bad", 1);
    ck_assert_ptr_nonnull(bad->failure);
    ck_assert_int_eq(bad->failure->status, NT_CORRUPT);
    ck_assert_ptr_nonnull(strstr(bad->failure->message, "tree"));
    assert_status(NT_CORRUPT, nt_tfile_read_object(opened.file, bad, &bytes, &length, &error));
    end();
}

/* The list of a directory may write the class of a subdirectory with more bytes than its key counts. */
TEST(a_directory_that_a_list_calls_by_its_longer_name_is_entered)
{
    begin(TFILE_SMALL);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    add_tree(inner, "tree", 1);
    struct nt_buffer *list = &writer.directories[0].list, longer = {0};
    nt_buffer_append(&longer, list->bytes, TFILE_KEY_CLASS);
    nt_buffer_append_string(&longer, "\x0eTDirectoryFile");
    nt_buffer_append(&longer, list->bytes + TFILE_KEY_CLASS + 11, list->length - TFILE_KEY_CLASS - 11);
    nt_buffer_deinit(list);
    *list = longer;
    finish();
    ck_assert_uint_eq(opened.container.anchor_count, 0);
    ck_assert_uint_eq(find_tree("tree", 1)->directory, inner);
    end();
}

/* ---- Objects ---- */

/* A block of ROOT's format: see a_compressed_anchor_is_decompressed. */
static const uint8_t block[] = {'Z',  'L',  8,    12,   0,    0,    78,   0,    0,    0x78, 0x9c,
                                0x33, 0x30, 0xa0, 0x26, 0x00, 0x00, 0x42, 0x1c, 0x0e, 0xa1};

TEST(an_object_is_read_as_it_is_or_decompressed)
{
    const uint8_t *bytes;
    size_t length;
    begin(TFILE_SMALL);
    add_tree(0, "plain", 1);
    tfile_writer_stored(&writer, 0, "TTree", "zeros", 1, block, sizeof(block), 78);
    finish();
    uint64_t used = nt_budget_used(&opened.file->budget);
    assert_ok(nt_tfile_read_object(opened.file, find_tree("plain", 1), &bytes, &length, &error));
    ck_assert_uint_eq(length, 7);
    ck_assert_mem_eq(bytes, "members", 7);
    assert_ok(nt_tfile_read_object(opened.file, find_tree("zeros", 1), &bytes, &length, &error));
    ck_assert_uint_eq(length, 78);
    for (size_t i = 0; i < length; i++)
        ck_assert_int_eq(bytes[i], '0');
    ck_assert_uint_eq(nt_budget_used(&opened.file->budget), used + 7 + 78);
    end();
}

TEST(an_object_that_claims_gigabytes_takes_no_memory)
{
    const uint8_t *bytes;
    size_t length;
    begin(TFILE_SMALL);
    tfile_writer_stored(&writer, 0, "TTree", "bomb", 1, block, sizeof(block), 2000000000);
    tfile_writer_stored(&writer, 0, "TTree", "longer", 1, block, sizeof(block), 79);
    finish();
    uint64_t used = nt_budget_used(&opened.file->budget);
    assert_status(NT_LIMIT, nt_tfile_read_object(opened.file, find_tree("bomb", 1), &bytes, &length, &error));
    assert_status(NT_CORRUPT,
                  nt_tfile_read_object(opened.file, find_tree("longer", 1), &bytes, &length, &error));
    ck_assert_uint_eq(nt_budget_used(&opened.file->budget), used);
    end();
}

/* ---- Files that were not closed ---- */

enum { HEADER_FREE = 16 };

/* The header before the file is closed: no list of free segments, and an end after `end`. */
static void leave_open(uint64_t end)
{
    tfile_writer_put32(&writer, HEADER_FREE, 0);
    if (end)
        tfile_writer_put32(&writer, TFILE_HEADER_END, (uint32_t)end);
}

static void leave_list_out(uint32_t directory)
{
    uint64_t members = writer.directories[directory].members;
    tfile_writer_put32(&writer, members + TFILE_DIRECTORY_KEYS_BYTES, 0);
    tfile_writer_put32(&writer, members + TFILE_DIRECTORY_KEYS, 0);
}

TEST(the_newest_record_of_each_tree_is_found_without_lists)
{
    begin(TFILE_SMALL);
    uint64_t first = tfile_writer_blob(&writer, "basket", 6);
    add_tree(0, "tree", 1);
    uint64_t newest = add_tree(0, "tree", 2);
    add_tree(0, "other", 5);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    add_tree(inner, "tree", 1);
    tfile_writer_finish(&writer);
    leave_list_out(0);
    leave_list_out(inner);
    leave_open(first);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.container.object_count, 3);
    ck_assert_uint_eq(find_tree("tree", 2)->offset, newest);
    ck_assert_uint_eq(find_tree("other", 5)->directory, 0);
    const struct nt_tfile_object *below = find_tree("tree", 1);
    ck_assert(is_called(opened.file->directories[below->directory].name, "inner"));
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert(!opened.container.objects[i].is_listed);
        ck_assert(opened.container.objects[i].is_newest_cycle);
    }
    end();
}

/* The list of the inner directory was written, that of the root was not. */
TEST(a_directory_without_a_key_in_its_parent_is_found_with_its_list)
{
    begin(TFILE_SMALL);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    add_tree(inner, "tree", 3);
    tfile_writer_finish(&writer);
    leave_list_out(0);
    leave_open(0);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.file->directory_count, 2);
    ck_assert_uint_eq(opened.container.object_count, 1);
    ck_assert(find_tree("tree", 3)->is_listed);
    ck_assert_uint_eq(find_tree("tree", 3)->directory, 1);
    end();
}

/* Writes a record that no list contains, after the end in the header. */
static uint64_t add_unlisted(const char *name, uint16_t cycle, uint64_t *old_end)
{
    struct nt_buffer *list = &writer.directories[0].list;
    *old_end = writer.out.length;
    size_t length = list->length;
    uint64_t offset = add_tree(0, name, cycle);
    list->length = length;
    writer.directories[0].count--;
    return offset;
}

TEST(a_listed_tree_stands_for_its_later_records, .end = 2)
{
    uint64_t old_end;
    begin(TFILE_SMALL);
    uint64_t listed = add_tree(0, "tree", 1);
    add_unlisted("tree", 2, &old_end);
    tfile_writer_finish(&writer);
    leave_open(old_end);
    if (_i == 1) /* another record is there: of class XTree */
        tfile_writer_put32(&writer, listed + TFILE_KEY_CLASS, 0x05585472);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.container.object_count, _i == 1 ? 2 : 1);
    ck_assert((find_tree("tree", 1)->failure != NULL) == (_i == 1));
    ck_assert(find_tree("tree", 1)->is_newest_cycle == (_i == 0));
    if (_i == 1)
        ck_assert(!find_tree("tree", 2)->is_listed && find_tree("tree", 2)->is_newest_cycle);
    end();
}

TEST(what_no_list_of_a_closed_file_has_is_no_tree)
{
    uint64_t old_end;
    begin(TFILE_SMALL);
    add_tree(0, "tree", 1);
    add_unlisted("deleted", 1, &old_end);
    finish();
    ck_assert_uint_eq(opened.container.object_count, 1);
    end();
}

/* Each opened file has trees within the file, or with a failure. */
TEST(no_flipped_bit_crashes_a_file_that_was_not_closed)
{
    begin(TFILE_SMALL);
    uint64_t first = add_tree(0, "tree", 1);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    tfile_writer_stored(&writer, inner, "TNtuple", "zeros", 2, block, sizeof(block), 78);
    tfile_writer_finish(&writer);
    leave_list_out(0);
    leave_open(first);
    unsigned found = 0;
    for (size_t bit = 0; bit < writer.out.length * 8; bit++) {
        writer.out.bytes[bit / 8] ^= (char)(1 << bit % 8);
        if (!open_writer(&opened, &writer, &error)) {
            for (uint32_t i = 0; i < opened.container.object_count; i++) {
                const struct nt_tfile_object *object = &opened.container.objects[i];
                const uint8_t *bytes;
                size_t length;
                enum nt_status status = nt_tfile_read_object(opened.file, object, &bytes, &length, &error);
                ck_assert(status == NT_OK || error.message[0]);
                found += status == NT_OK;
            }
        }
        opened_close(&opened);
        writer.out.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    ck_assert_uint_gt(found, writer.out.length * 8);
    end();
}

/* ---- Real files ---- */

static void append_path(struct nt_buffer *path, const struct nt_tfile_object *object)
{
    uint32_t above[64], depth = 0;
    for (uint32_t at = object->directory; at && depth < 64; at = opened.file->directories[at].parent)
        above[depth++] = at;
    while (depth--) {
        struct nt_text name = opened.file->directories[above[depth]].name;
        nt_buffer_append(path, name.bytes, name.length);
        nt_buffer_append_byte(path, '/');
    }
    nt_buffer_append(path, object->name.bytes, object->name.length);
}

/* Finds the newest cycle of a tree by its path, and reads its object. */
static void compare_tree(const char *file, const json_t *expected)
{
    const char *path = json_string_value(json_object_get(expected, "path"));
    const char *class_name = json_string_value(json_object_get(expected, "class"));
    bool is_there = false;
    for (uint32_t i = 0; i < opened.container.object_count; i++) {
        const struct nt_tfile_object *object = &opened.container.objects[i];
        struct nt_buffer here = {0};
        append_path(&here, object);
        bool is_it = object->is_newest_cycle && !strcmp(nt_buffer_string(&here), path);
        nt_buffer_deinit(&here);
        if (!is_it)
            continue;
        const uint8_t *bytes;
        size_t length;
        is_there = true;
        ck_assert_uint_eq(object->cycle, (uint64_t)json_integer_value(json_object_get(expected, "cycle")));
        ck_assert(is_called(object->class_name, class_name));
        assert_ok(nt_tfile_read_object(opened.file, object, &bytes, &length, &error));
    }
    ck_assert_msg(is_there, "%s: no tree %s", file, path);
}

static size_t compare_file(const char *folder, const char *name)
{
    char path[1024];
    struct nt_source *source;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    json_t *expected = json_load_file(path, JSON_ALLOW_NUL, NULL);
    ck_assert_msg(expected != NULL, "%s", path);
    snprintf(path, sizeof(path), "%s/%.*s.root", folder, (int)(strlen(name) - strlen(".json")), name);
    assert_ok(nt_source_open_file(path, &source, &error));
    assert_ok(open_source(&opened, source, &error));
    const json_t *trees = json_object_get(expected, "trees");
    size_t i, count = 0;
    json_t *tree;
    json_array_foreach(trees, i, tree) compare_tree(path, tree);
    for (uint32_t k = 0; k < opened.container.object_count; k++)
        count += opened.container.objects[k].is_newest_cycle;
    ck_assert_msg(count == json_array_size(trees), "%s: %zu trees instead of %zu", path, count,
                  json_array_size(trees));
    ck_assert_uint_eq(opened.container.anchor_count, 0);
    opened_close(&opened);
    json_decref(expected);
    return 1;
}

TEST(trees_of_real_files_are_those_that_another_reader_finds)
{
    const char *shared = getenv("NTUPLE_SHARED");
    char folder[512];
    size_t files = 0;
    snprintf(folder, sizeof(folder), "%s/data/ttree", shared ? shared : "../shared");
    DIR *directory = opendir(folder);
    if (!directory) {
        puts("skipped: ../shared/data/ttree is absent");
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strlen(entry->d_name) > 5 && !strcmp(entry->d_name + strlen(entry->d_name) - 5, ".json"))
            files += compare_file(folder, entry->d_name);
    closedir(directory);
    ck_assert_uint_gt(files, 0);
}
