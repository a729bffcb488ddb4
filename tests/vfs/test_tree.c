/* SPDX-License-Identifier: MIT
 *
 * The whole tree over a model in memory: see model.c for what it holds.
 */
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model.h"
#include "support.h"
#include "vfs/vfs.h"

static char folder[] = "/tmp/ntuple-tree-XXXXXX";
static char path_good[64], path_bad[64], path_other[64];
static struct nt_vfs *vfs;
static struct nt_error error;
static char reported[4096];

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
}

static void report(void *context, const char *line)
{
    (void)context;
    snprintf(reported + strlen(reported), sizeof(reported) - strlen(reported), "%s\n", line);
}

static void open_paths(const char *const *paths, size_t count, bool list_sized)
{
    const struct nt_vfs_options options = {.report = report, .list_sized = list_sized};
    assert_ok(nt_vfs_new(paths, count, &options, &vfs, &error));
}

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path_good, sizeof(path_good), "%s/good.root", folder);
    snprintf(path_bad, sizeof(path_bad), "%s/bad.root", folder);
    snprintf(path_other, sizeof(path_other), "%s/other.txt", folder);
    touch(path_good);
    touch(path_bad);
    touch(path_other);
    reported[0] = '\0';
    model_loads = 0;
    model_has_bad_group = model_has_bad_page = false;
}

static void setup_single(void)
{
    setup();
    open_paths((const char *const[]){path_good}, 1, false);
}

static void teardown(void)
{
    nt_vfs_free(vfs);
    vfs = NULL;
    unlink(path_good);
    unlink(path_bad);
    unlink(path_other);
    rmdir(folder);
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
}

/* ---- helpers ---- */

static uint64_t resolve(const char *path)
{
    uint64_t node = 0;
    enum nt_status status = nt_vfs_resolve(vfs, path, &node, &error);
    ck_assert_msg(status == NT_OK, "%s: %s", path, error.message);
    return node;
}

static struct nt_vfs_attributes attributes_of(const char *path)
{
    struct nt_vfs_attributes attributes;
    assert_ok(nt_vfs_stat(vfs, resolve(path), true, &attributes, &error));
    return attributes;
}

/* All bytes of a file, read in pieces of the given size. */
static struct nt_buffer read_in_pieces(uint64_t node, size_t piece)
{
    struct nt_buffer out = {0};
    struct nt_vfs_handle *handle;
    char bytes[4096];
    size_t got;
    assert_ok(nt_vfs_open(vfs, node, &handle, &error));
    do {
        assert_ok(nt_vfs_read(handle, out.length, bytes, piece, &got, &error));
        nt_buffer_append(&out, bytes, got);
    } while (got == piece);
    assert_ok(nt_vfs_read(handle, out.length, bytes, piece, &got, &error));
    ck_assert_uint_eq(got, 0);
    assert_ok(nt_vfs_read(handle, out.length + 1000000, bytes, piece, &got, &error));
    ck_assert_uint_eq(got, 0);
    nt_vfs_close(handle);
    nt_buffer_text(&out, "");
    return out;
}

static struct nt_buffer read_path(const char *path)
{
    return read_in_pieces(resolve(path), 4096);
}

static json_t *read_json(const char *path)
{
    struct nt_buffer text = read_path(path);
    json_error_t problem;
    json_t *json = json_loadb(text.bytes, text.length, 0, &problem);
    ck_assert_msg(json != NULL, "%s: %s", path, problem.text);
    ck_assert_int_eq(text.bytes[text.length - 1], '\n');
    nt_buffer_deinit(&text);
    return json;
}

static const char *get_text(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key));
}

static json_int_t get_number(const json_t *json, const char *key)
{
    ck_assert_msg(json_is_integer(json_object_get(json, key)), "%s", key);
    return json_integer_value(json_object_get(json, key));
}

struct names {
    char text[16384];
};

static bool add_name(void *context, const char *name, uint64_t node, enum nt_vfs_class class, uint64_t cursor)
{
    struct names *names = context;
    (void)node, (void)class, (void)cursor;
    strcat(strcat(names->text, name), " ");
    return true;
}

static const char *list(const char *path)
{
    static struct names names;
    names.text[0] = '\0';
    assert_ok(nt_vfs_readdir(vfs, resolve(path), 0, add_name, &names, &error));
    return names.text;
}

/* ---- what is where ---- */

START_TEST(directories_list_what_the_contract_says)
{
    ck_assert_str_eq(list(""), ".ntuplefs file.json layout.svg layout.jsonl keys.jsonl sub Events Events;1 "
                               "broken evil file%2Ejson ");
    ck_assert_str_eq(list(".ntuplefs"), "version.json stats.json errors.jsonl ");
    ck_assert_str_eq(list("sub"), "Events ");
    ck_assert_str_eq(list("broken"), "error.json ");
    ck_assert_str_eq(list("Events/array"), "field.json rows.jsonl head.jsonl _0 ");
    ck_assert_str_eq(list("Events/odd"), "field.json ");
    ck_assert_str_eq(list("Events/run/column.0/pages"),
                     "0.raw 0.bin 1.raw 1.bin 2.raw 2.bin 3.raw 3.bin 4.raw 4.bin ");
    const char *names = list("Events/name");
    ck_assert_ptr_nonnull(strstr(names, "field.json data.bin data.npy offsets.bin offsets.npy "));
    ck_assert_ptr_nonnull(strstr(names, " column.0 column.1 "));
    names = list("Events");
    ck_assert_ptr_nonnull(strstr(names, "ntuple.json "));
    ck_assert_ptr_nonnull(strstr(names,
                                 " header.json pagelist.0.bin pagelist.1.bin pagelist.0.json pagelist.1.json "
                                 "attribute.notes run name jets array odd "));
}
END_TEST

START_TEST(fields_with_evil_names_have_directories)
{
    ck_assert_ptr_nonnull(strstr(list("evil"),
                                 "%2E %2E%2E a%2Fb field%2Ejson %FF same same~2 column%2E0 % new%0Aline "
                                 "100%2525 nul%00l "));
    resolve("evil/%2E%2E/data.bin");
    ck_assert_uint_eq(resolve("evil/.."), NT_VFS_ROOT);
}
END_TEST

START_TEST(listing_without_streamed_files_leaves_them_to_be_opened_by_name)
{
    nt_vfs_free(vfs);
    open_paths((const char *const[]){path_good}, 1, true);
    ck_assert_str_eq(list(""), ".ntuplefs file.json layout.svg sub Events Events;1 broken evil file%2Ejson ");
    ck_assert_str_eq(list(".ntuplefs"), "");
    resolve("keys.jsonl");
}
END_TEST

START_TEST(owner_times_and_permissions_are_those_of_the_source)
{
    struct stat file = attributes_of("Events/run/data.bin").stat, directory = attributes_of("Events").stat;
    ck_assert_uint_eq(file.st_mode, S_IFREG | 0440); /* of 0640 */
    ck_assert_uint_eq(directory.st_mode, S_IFDIR | 0550);
    ck_assert_uint_eq(file.st_uid, 7);
    ck_assert_uint_eq(directory.st_gid, 8);
    ck_assert_int_eq(file.st_mtim.tv_sec, 1000000);
    ck_assert_int_eq(file.st_blksize, 1 << 20);
    ck_assert_uint_eq(attributes_of(".ntuplefs/stats.json").stat.st_uid, geteuid());
}
END_TEST

START_TEST(names_that_do_not_exist_are_not_found)
{
    static const char *const names[] = {"nothing",
                                        "Events/nothing",
                                        "Events/run/offsets.bin",
                                        "Events/run/column.1",
                                        "Events/run/column.00",
                                        "Events/column.0",
                                        "Events/run/column.0/pages/5.bin",
                                        "Events/run/column.0/pages/00.bin",
                                        "Events/pagelist.2.bin",
                                        "Events/pagelist.01.bin",
                                        "broken/run",
                                        "broken/ntuple.json",
                                        "file.json/x",
                                        "sub/file.json",
                                        "Events/odd/data.bin",
                                        "Events/run/column.0/pages/99999999999999999999.bin",
                                        "sub/.ntuplefs",
                                        "Events;2"};
    uint64_t node;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ck_assert_msg(nt_vfs_resolve(vfs, names[i], &node, &error) == NT_NOT_FOUND, "%s", names[i]);
}
END_TEST

START_TEST(opening_and_listing_read_no_page_list)
{
    list("");
    list("Events");
    list("Events/jets/_0/pt");
    struct nt_vfs_attributes attributes;
    ck_assert_uint_eq(attributes_of("Events/run/data.npy").stat.st_size, 128 + 4 * MODEL_ENTRIES);
    ck_assert_uint_eq(attributes_of("Events/jets/offsets.bin").stat.st_size, 8 * (MODEL_ENTRIES + 1));
    assert_status(NT_NOT_FOUND,
                  nt_vfs_stat(vfs, resolve("Events/jets/_0/pt/data.bin"), false, &attributes, &error));
    assert_status(NT_NOT_FOUND, nt_vfs_stat(vfs, resolve("Events/ntuple.json"), false, &attributes, &error));
    json_decref(read_json("Events/jets/field.json"));
    ck_assert_uint_eq(model_loads, 0);
}
END_TEST

/* ---- every node of the tree ---- */

struct visit {
    char path[512];
    unsigned files, directories;
};

struct pending {
    char name[256];
    uint64_t node;
    enum nt_vfs_class class;
};

struct batch {
    struct pending entries[3]; /* few, so that listings are cut and go on */
    unsigned count;
    uint64_t cursor;
};

static bool collect(void *context, const char *name, uint64_t node, enum nt_vfs_class class, uint64_t cursor)
{
    struct batch *batch = context;
    if (batch->count == 3)
        return false;
    struct pending *entry = &batch->entries[batch->count++];
    snprintf(entry->name, sizeof(entry->name), "%s", name);
    entry->node = node;
    entry->class = class;
    batch->cursor = cursor;
    return true;
}

static void check_file(const char *path, uint64_t node, const struct nt_vfs_attributes *attributes)
{
    struct nt_buffer whole = read_in_pieces(node, 4096), parts = read_in_pieces(node, 7);
    ck_assert_msg(whole.length == parts.length && memcmp(whole.bytes, parts.bytes, whole.length) == 0, "%s",
                  path);
    if (attributes->class == NT_VFS_STREAMED)
        ck_assert_int_eq(attributes->stat.st_size, 0);
    else
        ck_assert_msg((uint64_t)attributes->stat.st_size == whole.length, "%s", path);
    ck_assert_int_eq(attributes->stat.st_blocks, (attributes->stat.st_size + 511) / 512);
    ck_assert_uint_eq(attributes->stat.st_mode & 07333, 0);
    nt_buffer_deinit(&whole);
    nt_buffer_deinit(&parts);
}

static void check_node(const char *path, uint64_t node, enum nt_vfs_class class)
{
    struct nt_vfs_attributes attributes;
    struct nt_buffer back = {0};
    enum nt_status status = nt_vfs_stat(vfs, node, true, &attributes, &error);
    ck_assert_msg(status == NT_OK, "%s: %s", path, error.message);
    ck_assert_int_eq(attributes.class, class);
    ck_assert_uint_eq(attributes.stat.st_ino, node);
    ck_assert_uint_eq(attributes.node, node);
    assert_ok(nt_vfs_path(vfs, node, &back, &error));
    ck_assert_str_eq(back.bytes, path);
    ck_assert_uint_eq(resolve(path), node);
    nt_buffer_deinit(&back);
    if (class == NT_VFS_DIRECTORY)
        ck_assert(S_ISDIR(attributes.stat.st_mode));
    else
        check_file(path, node, &attributes);
}

static void walk(struct visit *visit, uint64_t directory)
{
    struct batch batch = {0};
    size_t length = strlen(visit->path);
    do {
        batch.count = 0;
        assert_ok(nt_vfs_readdir(vfs, directory, batch.cursor, collect, &batch, &error));
        for (unsigned i = 0; i < batch.count; i++) {
            const struct pending *entry = &batch.entries[i];
            uint64_t found;
            assert_ok(nt_vfs_lookup(vfs, directory, entry->name, &found, &error));
            ck_assert_uint_eq(found, entry->node);
            ck_assert_uint_eq(nt_vfs_parent(vfs, found), directory);
            snprintf(visit->path + length, sizeof(visit->path) - length, "%s%s", length ? "/" : "",
                     entry->name);
            check_node(visit->path, found, entry->class);
            visit->files += entry->class != NT_VFS_DIRECTORY;
            visit->directories += entry->class == NT_VFS_DIRECTORY;
            if (entry->class == NT_VFS_DIRECTORY)
                walk(visit, found);
            visit->path[length] = '\0';
        }
    } while (batch.count == 3);
}

START_TEST(every_entry_is_found_again_and_has_the_size_and_bytes_that_it_tells)
{
    struct visit visit = {0};
    walk(&visit, NT_VFS_ROOT);
    ck_assert_uint_gt(visit.files, 300);
    ck_assert_uint_gt(visit.directories, 100);
}
END_TEST

START_TEST(every_extended_attribute_that_is_listed_has_a_value)
{
    static const char *const paths[] = {"Events",
                                        "Events/run",
                                        "Events/name/offsets.npy",
                                        "Events/array/_0/data.bin",
                                        "Events/run/column.0",
                                        "Events/run/column.0/pages/1.raw",
                                        "evil/%FF"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct nt_buffer names = {0}, value = {0};
        unsigned count = 0;
        assert_ok(nt_vfs_listxattr(vfs, resolve(paths[i]), &names, &error));
        for (size_t at = 0; at < names.length; at += strlen(names.bytes + at) + 1, count++)
            assert_ok(nt_vfs_getxattr(vfs, resolve(paths[i]), names.bytes + at, &value, &error));
        ck_assert_uint_ge(count, 4);
        assert_status(NT_NOT_FOUND,
                      nt_vfs_getxattr(vfs, resolve(paths[i]), "user.ntuplefs.no", &value, &error));
        assert_status(NT_NOT_FOUND,
                      nt_vfs_getxattr(vfs, resolve(paths[i]), "security.selinux", &value, &error));
        nt_buffer_deinit(&names);
        nt_buffer_deinit(&value);
    }
}
END_TEST

static const struct {
    const char *path, *name, *value;
} xattrs[] = {
    {"Events/run", "name", "run"},
    {"Events/run", "dtype", "<i4"},
    {"Events/run/data.npy", "shape", "9"},
    {"Events/array/_0", "shape", "9,3"},
    {"Events/name/offsets.bin", "dtype", "<u8"},
    {"Events/run/column.0", "column_type", "Int32"},
    {"Events/run/column.0", "pages", "5"},
    {"Events/run/column.0/pages/0.bin", "elements", "2"},
    {"Events/run", "stored_bytes", "36"},
    {"Events/run", "checksum", "xxh3-64"},
    {"Events", "entries", "9"},
    {"Events", "description", "made by hand"},
    {"Events/jets", "role", "collection"},
};

START_TEST(extended_attributes_tell_what_the_model_says)
{
    struct nt_buffer value = {0};
    char name[64];
    snprintf(name, sizeof(name), "user.ntuplefs.%s", xattrs[_i].name);
    assert_ok(nt_vfs_getxattr(vfs, resolve(xattrs[_i].path), name, &value, &error));
    ck_assert_str_eq(value.bytes, xattrs[_i].value);
    nt_buffer_deinit(&value);
}
END_TEST

START_TEST(senseless_node_numbers_are_refused)
{
    struct nt_vfs_attributes attributes;
    uint64_t state = 88172645463325252u, found;
    for (int i = 0; i < 20000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t node = i % 2 ? state : state & UINT64_C(0xF00F00000000FFFF);
        struct nt_vfs_handle *handle;
        if (nt_vfs_stat(vfs, node, true, &attributes, &error) == NT_OK)
            continue;
        ck_assert_int_eq(error.status, NT_NOT_FOUND);
        ck_assert_int_eq(nt_vfs_lookup(vfs, node, "x", &found, &error), NT_NOT_FOUND);
        ck_assert_int_eq(nt_vfs_open(vfs, node, &handle, &error), NT_NOT_FOUND);
        nt_vfs_parent(vfs, node);
    }
}
END_TEST

/* ---- contents ---- */

START_TEST(numbers_are_served_as_the_field_has_them)
{
    struct nt_buffer data = read_path("Events/run/data.bin");
    ck_assert_uint_eq(data.length, 4 * MODEL_ENTRIES);
    for (uint64_t i = 0; i < MODEL_ENTRIES; i++)
        ck_assert_int_eq(((const int32_t *)data.bytes)[i], model_run(i));
    nt_buffer_deinit(&data);
}
END_TEST

START_TEST(offsets_count_over_the_whole_data_set)
{
    struct nt_buffer offsets = read_path("Events/jets/offsets.bin"),
                     pt = read_path("Events/jets/_0/pt/data.bin");
    uint64_t sum = 0;
    for (uint64_t i = 0; i < MODEL_ENTRIES; i++) {
        ck_assert_uint_eq(((const uint64_t *)offsets.bytes)[i], sum);
        for (uint64_t k = 0; k < model_jets(i); k++)
            ck_assert(((const float *)pt.bytes)[sum + k] == model_pt(i, k));
        sum += model_jets(i);
    }
    ck_assert_uint_eq(((const uint64_t *)offsets.bytes)[MODEL_ENTRIES], sum);
    ck_assert_uint_eq(pt.length, 4 * sum);
    nt_buffer_deinit(&offsets);
    nt_buffer_deinit(&pt);
}
END_TEST

START_TEST(joined_pages_are_the_column_as_stored)
{
    static const char *const columns[] = {"Events/run/column.0", "Events/jets/column.0",
                                          "Events/jets/_0/pt/column.0"};
    struct nt_buffer joined = {0};
    char path[128];
    snprintf(path, sizeof(path), "%s/data.bin", columns[_i]);
    struct nt_buffer data = read_path(path);
    for (int page = 0;; page++) {
        uint64_t node;
        snprintf(path, sizeof(path), "%s/pages/%d.bin", columns[_i], page);
        if (nt_vfs_resolve(vfs, path, &node, &error) != NT_OK)
            break;
        struct nt_buffer part = read_path(path);
        nt_buffer_append(&joined, part.bytes, part.length);
        nt_buffer_deinit(&part);
    }
    ck_assert_uint_gt(joined.length, 0);
    ck_assert_mem_eq(joined.bytes, data.bytes, data.length);
    ck_assert_uint_eq(joined.length, data.length);
    nt_buffer_deinit(&joined);
    nt_buffer_deinit(&data);
}
END_TEST

START_TEST(field_json_tells_shapes_that_are_known_without_page_lists)
{
    json_t *run = read_json("Events/run/field.json"), *pt = read_json("Events/jets/_0/pt/field.json");
    json_t *array = read_json("Events/array/_0/field.json"), *odd = read_json("Events/odd/field.json");
    ck_assert_str_eq(get_text(run, "schema"), "ntuplefs.field/1");
    ck_assert_str_eq(get_text(run, "name"), "run");
    ck_assert_str_eq(get_text(run, "dtype"), "<i4");
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(run, "shape"), 0)), MODEL_ENTRIES);
    ck_assert_str_eq(get_text(json_array_get(json_object_get(run, "columns"), 0), "type"), "Int32");
    ck_assert(json_is_null(json_object_get(pt, "shape")));
    ck_assert_str_eq(get_text(pt, "path"), "jets/_0/pt");
    ck_assert_int_eq(json_array_size(json_object_get(array, "shape")), 2);
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(array, "shape"), 1)), MODEL_ARRAY);
    ck_assert_str_eq(get_text(odd, "unreadable"), "of a type to come");
    json_decref(run);
    json_decref(pt);
    json_decref(array);
    json_decref(odd);
}
END_TEST

START_TEST(ntuple_json_and_column_json_sum_up_the_pages)
{
    json_t *ntuple = read_json("Events/ntuple.json"), *column = read_json("Events/run/column.0/column.json");
    ck_assert_int_eq(get_number(ntuple, "entries"), MODEL_ENTRIES);
    ck_assert_int_eq(get_number(ntuple, "clusters"), 3);
    ck_assert_str_eq(get_text(ntuple, "generation"), "test");
    ck_assert_int_eq(get_number(column, "elements"), MODEL_ENTRIES);
    ck_assert_int_eq(get_number(column, "pages"), 5);
    ck_assert_int_eq(get_number(column, "stored_bytes"), 4 * MODEL_ENTRIES);
    ck_assert(json_real_value(json_object_get(column, "ratio")) == 1.0);
    json_decref(ntuple);
    json_decref(column);
}
END_TEST

/* Calls `check` with each line of a file, parsed. */
static unsigned check_lines(const char *path, void (*check)(const json_t *line, unsigned number))
{
    struct nt_buffer text = read_path(path);
    unsigned count = 0;
    for (char *at = text.bytes; *at; count++) {
        char *end = strchr(at, '\n');
        json_t *line = json_loadb(at, (size_t)(end - at), 0, NULL);
        ck_assert_msg(line != NULL, "%s: line %u", path, count);
        check(line, count);
        json_decref(line);
        at = end + 1;
    }
    nt_buffer_deinit(&text);
    return count;
}

static void check_page_line(const json_t *line, unsigned number)
{
    char path[64];
    ck_assert_int_eq(get_number(line, "page"), number);
    ck_assert_str_eq(get_text(line, "checksum_kind"), "xxh3-64");
    ck_assert_str_eq(get_text(line, "compression"), "none");
    ck_assert_int_eq(get_number(line, "decoded_bytes"), 4 * get_number(line, "elements"));
    snprintf(path, sizeof(path), "Events/run/column.0/pages/%u.raw", number);
    struct nt_buffer raw = read_path(path);
    ck_assert_int_eq(get_number(line, "stored_bytes"), raw.length);
    ck_assert_int_eq(*(const int32_t *)raw.bytes, model_run((uint64_t)get_number(line, "first_element")));
    nt_buffer_deinit(&raw);
}

START_TEST(pages_jsonl_has_a_line_per_page_that_agrees_with_its_bytes)
{
    ck_assert_uint_eq(check_lines("Events/run/column.0/pages.jsonl", check_page_line), 5);
}
END_TEST

static void check_cluster_line(const json_t *line, unsigned number)
{
    static const int first_entry[] = {0, 3, 5};
    ck_assert_int_eq(get_number(line, "cluster"), number);
    ck_assert_int_eq(get_number(line, "first_entry"), first_entry[number]);
}

START_TEST(clusters_jsonl_has_a_line_per_cluster)
{
    ck_assert_uint_eq(check_lines("Events/clusters.jsonl", check_cluster_line), 3);
}
END_TEST

START_TEST(a_streamed_file_can_be_read_in_any_order)
{
    struct nt_buffer whole = read_path("keys.jsonl");
    struct nt_vfs_handle *handle;
    uint64_t state = 88172645463325252u;
    char bytes[512];
    size_t got;
    assert_ok(nt_vfs_open(vfs, resolve("keys.jsonl"), &handle, &error));
    for (int i = 0; i < 300; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        size_t offset = state % (whole.length + 100), size = (state >> 32) % sizeof(bytes);
        size_t left = offset < whole.length ? whole.length - offset : 0;
        assert_ok(nt_vfs_read(handle, offset, bytes, size, &got, &error));
        ck_assert_uint_eq(got, left < size ? left : size);
        ck_assert(memcmp(bytes, whole.bytes + offset, got) == 0);
    }
    nt_vfs_close(handle);
    nt_buffer_deinit(&whole);
}
END_TEST

/* ---- failures ---- */

START_TEST(a_data_set_that_cannot_be_opened_says_why)
{
    json_t *json = read_json("broken/error.json");
    ck_assert_str_eq(get_text(json, "error"), "the anchor is broken");
    ck_assert_str_eq(get_text(json, "status"), "corrupt");
    ck_assert_int_eq(get_number(json, "file_offset"), 12);
    json_decref(json);
}
END_TEST

START_TEST(a_bad_page_fails_on_its_bytes_and_is_told_once)
{
    model_has_bad_page = true;
    struct nt_vfs_handle *handle;
    int32_t run;
    size_t got;
    assert_ok(nt_vfs_open(vfs, resolve("Events/run/data.bin"), &handle, &error));
    for (int i = 0; i < 3; i++)
        assert_status(NT_CHECKSUM, nt_vfs_read(handle, 4, &run, 4, &got, &error));
    assert_ok(nt_vfs_read(handle, 8, &run, 4, &got, &error));
    ck_assert_int_eq(run, model_run(2));
    nt_vfs_close(handle);
    ck_assert_ptr_nonnull(strstr(reported, "good.root: Events/run/column.0: "));
    ck_assert_ptr_nonnull(strstr(reported, "expected"));
    ck_assert_ptr_eq(strchr(reported, '\n'), reported + strlen(reported) - 1);
    json_t *json = read_json(".ntuplefs/errors.jsonl");
    ck_assert_str_eq(get_text(json, "path"), "Events/run/column.0");
    ck_assert_str_ne(get_text(json, "expected"), get_text(json, "found"));
    json_decref(json);
    struct nt_buffer raw = read_path("Events/run/column.0/pages/0.raw");
    ck_assert_uint_eq(raw.length, 8);
    nt_buffer_deinit(&raw);
}
END_TEST

START_TEST(verifying_on_open_refuses_a_file_with_a_bad_page)
{
    nt_vfs_free(vfs);
    model_has_bad_page = true;
    const struct nt_vfs_options options = {.verify_on_open = true};
    struct nt_vfs_handle *handle;
    assert_ok(nt_vfs_new((const char *const[]){path_good}, 1, &options, &vfs, &error));
    assert_status(NT_CHECKSUM, nt_vfs_open(vfs, resolve("Events/run/data.npy"), &handle, &error));
    assert_ok(nt_vfs_open(vfs, resolve("Events/jets/_0/pt/data.npy"), &handle, &error));
    nt_vfs_close(handle);
    assert_ok(nt_vfs_open(vfs, resolve("Events/run/column.0/pages/0.raw"), &handle, &error));
    nt_vfs_close(handle);
}
END_TEST

START_TEST(a_bad_page_list_leaves_what_does_not_depend_on_it)
{
    struct nt_vfs_attributes attributes;
    struct nt_vfs_handle *handle;
    int32_t run;
    size_t got;
    model_has_bad_group = true;
    ck_assert_uint_eq(attributes_of("Events/run/data.bin").stat.st_size, 4 * MODEL_ENTRIES);
    assert_status(NT_CHECKSUM,
                  nt_vfs_stat(vfs, resolve("Events/jets/_0/pt/data.bin"), true, &attributes, &error));
    ck_assert_ptr_nonnull(strstr(reported, "Events/jets/_0/pt/data.bin: "));
    assert_ok(nt_vfs_open(vfs, resolve("Events/run/data.bin"), &handle, &error));
    assert_ok(nt_vfs_read(handle, 8, &run, 4, &got, &error));
    ck_assert_int_eq(run, model_run(2));
    assert_status(NT_CHECKSUM, nt_vfs_read(handle, 12, &run, 4, &got, &error));
    nt_vfs_close(handle);
    json_t *json = read_json("Events/ntuple.json");
    ck_assert_int_eq(json_array_size(json_object_get(json, "unreadable_cluster_groups")), 1);
    json_decref(json);
}
END_TEST

START_TEST(a_bad_page_list_is_told_once_when_it_is_read)
{
    struct nt_vfs_handle *handle;
    int32_t run;
    size_t got;
    model_has_bad_group = true;
    assert_ok(nt_vfs_open(vfs, resolve("Events/run/data.bin"), &handle, &error));
    for (int i = 0; i < 3; i++)
        assert_status(NT_CHECKSUM, nt_vfs_read(handle, 12, &run, 4, &got, &error));
    nt_vfs_close(handle);
    assert_ok(nt_vfs_open(vfs, resolve("Events/run/data.npy"), &handle, &error));
    assert_status(NT_CHECKSUM, nt_vfs_read(handle, 128 + 12, &run, 4, &got, &error));
    nt_vfs_close(handle);
    json_t *json = read_json(".ntuplefs/errors.jsonl");
    ck_assert_str_eq(get_text(json, "path"), "Events/run/data.bin");
    json_decref(json);
}
END_TEST

START_TEST(counters_are_integers)
{
    struct nt_buffer data = read_path("Events/run/data.bin");
    json_t *json = read_json(".ntuplefs/stats.json"), *value;
    const char *key;
    json_object_foreach(json, key, value)
        ck_assert_msg(json_is_integer(value) || strcmp(key, "schema") == 0, "%s", key);
    ck_assert_int_gt(get_number(json, "pages_decoded"), 0);
    json_decref(json);
    nt_buffer_deinit(&data);
}
END_TEST

/* ---- threads ---- */

static void *read_much(void *unused)
{
    static const char *const paths[] = {"Events/run/data.npy",
                                        "Events/ntuple.json",
                                        "sub/Events/jets/offsets.bin",
                                        "evil/same~2/field.json",
                                        "Events/run/column.0/pages.jsonl",
                                        ".ntuplefs/stats.json"};
    (void)unused;
    for (int i = 0; i < 200; i++) {
        struct nt_error own = {0};
        struct nt_vfs_handle *handle;
        struct nt_vfs_attributes attributes;
        uint64_t node;
        char bytes[4096];
        size_t got;
        if (nt_vfs_resolve(vfs, paths[i % 6], &node, &own) != NT_OK ||
            nt_vfs_stat(vfs, node, true, &attributes, &own) != NT_OK ||
            nt_vfs_open(vfs, node, &handle, &own) != NT_OK)
            return (void *)"open";
        enum nt_status status = nt_vfs_read(handle, 0, bytes, sizeof(bytes), &got, &own);
        nt_vfs_close(handle);
        if (status != NT_OK || got == 0)
            return (void *)"read";
    }
    return NULL;
}

START_TEST(several_threads_read_the_same_files)
{
    pthread_t threads[4];
    void *problem;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, read_much, NULL);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &problem);
        ck_assert_msg(problem == NULL, "%s", (const char *)problem);
    }
}
END_TEST

/* ---- sources ---- */

START_TEST(several_sources_are_directories_beside_each_other)
{
    open_paths((const char *const[]){path_good, path_bad, path_other}, 3, false);
    ck_assert_str_eq(list(""), ".ntuplefs good.root bad.root other.txt ");
    ck_assert_str_eq(list("bad.root"), "error.json ");
    ck_assert_str_eq(
        list("good.root"),
        "file.json layout.svg layout.jsonl keys.jsonl sub Events Events;1 broken evil file%2Ejson ");
    json_t *json = read_json("bad.root/error.json");
    ck_assert_ptr_nonnull(strstr(get_text(json, "error"), "broken"));
    json_decref(json);
    ck_assert_uint_eq(attributes_of("good.root/Events/run/data.bin").stat.st_size, 4 * MODEL_ENTRIES);
    ck_assert_ptr_null(nt_vfs_file(vfs, NT_VFS_ROOT));
    ck_assert_ptr_nonnull(nt_vfs_file(vfs, resolve("good.root/Events")));
    struct visit visit = {0};
    walk(&visit, NT_VFS_ROOT);
}
END_TEST

START_TEST(where_no_source_opens_the_first_reason_is_told)
{
    const struct nt_vfs_options options = {0};
    assert_status(NT_CORRUPT,
                  nt_vfs_new((const char *const[]){path_bad, path_other}, 2, &options, &vfs, &error));
    assert_status(NT_NOT_THIS_FORMAT,
                  nt_vfs_new((const char *const[]){path_other}, 1, &options, &vfs, &error));
    assert_status(NT_NOT_FOUND,
                  nt_vfs_new((const char *const[]){"/nowhere/at/all"}, 1, &options, &vfs, &error));
    assert_status(NT_INVALID, nt_vfs_new(NULL, 0, &options, &vfs, &error));
    vfs = NULL;
}
END_TEST

START_TEST(a_folder_is_mirrored_with_what_can_be_read)
{
    open_paths((const char *const[]){folder}, 1, false);
    ck_assert_str_eq(list(""), ".ntuplefs bad.root good.root ");
    ck_assert_str_eq(list("bad.root"), "error.json ");
    ck_assert(!attributes_of("").is_immutable);
    ck_assert(!attributes_of("good.root").is_immutable);
    ck_assert(attributes_of("good.root/Events").is_immutable);
    uint64_t node;
    assert_status(NT_NOT_FOUND, nt_vfs_resolve(vfs, "other.txt", &node, &error));
}
END_TEST

START_TEST(files_that_come_and_go_in_a_folder_come_and_go_in_the_tree)
{
    char path[80];
    uint64_t node;
    open_paths((const char *const[]){folder}, 1, false);
    list("");
    assert_status(NT_NOT_FOUND, nt_vfs_resolve(vfs, "good2.root", &node, &error));
    snprintf(path, sizeof(path), "%s/good2.root", folder);
    touch(path);
    uint64_t old_place = resolve("good2.root"), old_field = resolve("good2.root/Events/run");
    ck_assert_str_eq(list(""), ".ntuplefs bad.root good.root good2.root ");

    FILE *file = fopen(path, "w"); /* another size: another file */
    fputs("longer", file);
    fclose(file);
    ck_assert_uint_ne(resolve("good2.root"), old_place);
    ck_assert_uint_ne(resolve("good2.root/Events/run"), old_field);
    unlink(path);
    assert_status(NT_NOT_FOUND, nt_vfs_resolve(vfs, "good2.root", &node, &error));
    ck_assert_str_eq(list(""), ".ntuplefs bad.root good.root ");
}
END_TEST

enum { MANY_FILES = 150 };

START_TEST(many_files_are_closed_and_opened_again)
{
    char path[80];
    for (int i = 0; i < MANY_FILES; i++) {
        snprintf(path, sizeof(path), "%s/good%d", folder, i);
        touch(path);
    }
    open_paths((const char *const[]){folder}, 1, false);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY_FILES; i++) {
            snprintf(path, sizeof(path), "good%d/Events/run/data.bin", i);
            struct nt_buffer data = read_path(path);
            ck_assert_uint_eq(data.length, 4 * MODEL_ENTRIES);
            nt_buffer_deinit(&data);
        }
    }
    uint64_t bytes, nodes;
    nt_vfs_statistics(vfs, &bytes, &nodes);
    ck_assert_uint_lt(nodes, MANY_FILES * 40); /* only the open ones count with what is in them */
    for (int i = 0; i < MANY_FILES; i++) {
        snprintf(path, sizeof(path), "%s/good%d", folder, i);
        unlink(path);
    }
}
END_TEST

static void *read_many_files(void *argument)
{
    for (int i = 0; i < 2 * MANY_FILES; i++) {
        struct nt_error own = {0};
        struct nt_vfs_handle *handle;
        char path[80];
        uint64_t node;
        int32_t run;
        size_t got = 0;
        snprintf(path, sizeof(path), "good%d/Events/run/data.bin", (i * 7 + *(int *)argument) % MANY_FILES);
        if (nt_vfs_resolve(vfs, path, &node, &own) != NT_OK || nt_vfs_open(vfs, node, &handle, &own) != NT_OK)
            return (void *)"open";
        enum nt_status status = nt_vfs_read(handle, 4, &run, sizeof(run), &got, &own);
        nt_vfs_close(handle);
        if (status != NT_OK || got != 4 || run != model_run(1))
            return (void *)"read";
    }
    return NULL;
}

START_TEST(several_threads_read_more_files_than_are_kept_open)
{
    pthread_t threads[4];
    int starts[4] = {0, 50, 51, 100};
    char path[80];
    void *problem;
    for (int i = 0; i < MANY_FILES; i++) {
        snprintf(path, sizeof(path), "%s/good%d", folder, i);
        touch(path);
    }
    open_paths((const char *const[]){folder}, 1, false);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, read_many_files, &starts[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &problem);
        ck_assert_msg(problem == NULL, "%s", (const char *)problem);
    }
    for (int i = 0; i < MANY_FILES; i++) {
        snprintf(path, sizeof(path), "%s/good%d", folder, i);
        unlink(path);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vfs: tree");
    TCase *single = tcase_create("a file");
    tcase_add_checked_fixture(single, setup_single, teardown);
    tcase_add_test(single, directories_list_what_the_contract_says);
    tcase_add_test(single, fields_with_evil_names_have_directories);
    tcase_add_test(single, listing_without_streamed_files_leaves_them_to_be_opened_by_name);
    tcase_add_test(single, owner_times_and_permissions_are_those_of_the_source);
    tcase_add_test(single, names_that_do_not_exist_are_not_found);
    tcase_add_test(single, opening_and_listing_read_no_page_list);
    tcase_add_test(single, every_entry_is_found_again_and_has_the_size_and_bytes_that_it_tells);
    tcase_add_test(single, every_extended_attribute_that_is_listed_has_a_value);
    tcase_add_loop_test(single, extended_attributes_tell_what_the_model_says, 0,
                        sizeof(xattrs) / sizeof(xattrs[0]));
    tcase_add_test(single, senseless_node_numbers_are_refused);
    tcase_add_test(single, numbers_are_served_as_the_field_has_them);
    tcase_add_test(single, offsets_count_over_the_whole_data_set);
    tcase_add_loop_test(single, joined_pages_are_the_column_as_stored, 0, 3);
    tcase_add_test(single, field_json_tells_shapes_that_are_known_without_page_lists);
    tcase_add_test(single, ntuple_json_and_column_json_sum_up_the_pages);
    tcase_add_test(single, pages_jsonl_has_a_line_per_page_that_agrees_with_its_bytes);
    tcase_add_test(single, clusters_jsonl_has_a_line_per_cluster);
    tcase_add_test(single, a_streamed_file_can_be_read_in_any_order);
    tcase_add_test(single, a_data_set_that_cannot_be_opened_says_why);
    tcase_add_test(single, a_bad_page_fails_on_its_bytes_and_is_told_once);
    tcase_add_test(single, verifying_on_open_refuses_a_file_with_a_bad_page);
    tcase_add_test(single, a_bad_page_list_leaves_what_does_not_depend_on_it);
    tcase_add_test(single, a_bad_page_list_is_told_once_when_it_is_read);
    tcase_add_test(single, counters_are_integers);
    tcase_add_test(single, several_threads_read_the_same_files);
    suite_add_tcase(suite, single);
    TCase *several = tcase_create("sources");
    tcase_add_checked_fixture(several, setup, teardown);
    tcase_add_test(several, several_sources_are_directories_beside_each_other);
    tcase_add_test(several, where_no_source_opens_the_first_reason_is_told);
    tcase_add_test(several, a_folder_is_mirrored_with_what_can_be_read);
    tcase_add_test(several, files_that_come_and_go_in_a_folder_come_and_go_in_the_tree);
    tcase_add_test(several, many_files_are_closed_and_opened_again);
    tcase_add_test(several, several_threads_read_more_files_than_are_kept_open);
    suite_add_tcase(suite, several);
    return nt_test_main(suite);
}
