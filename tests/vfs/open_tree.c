/* SPDX-License-Identifier: MIT
 *
 * Opens a tree over the in-memory model for a test, and requests from it.
 */
#include "open_tree.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"
#include "support.h"
#include "vfs/vfs.h"
#include "core/base/memory.h"
#include "vfs/tree.h"

struct nt_vfs *vfs;
char reported[4096];
char tree_folder[64];
char path_good[80], path_bad[80], path_other[80];
static struct nt_error error;

/* ---- opening ---- */

void touch(const char *path)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
}

void replace(const char *path, unsigned size, bool in_one_step)
{
    char fresh[160];
    snprintf(fresh, sizeof(fresh), "%s.new", path);
    const char *written = in_one_step ? fresh : path;
    touch(written);
    ck_assert_int_eq(truncate(written, size), 0);
    ck_assert(!in_one_step || rename(fresh, path) == 0);
}

void assert_open_files(unsigned count)
{
    for (int hundredths = 0; hundredths < 1000 && model_open_files != count; hundredths++)
        usleep(10000);
    ck_assert_uint_eq(model_open_files, count);
}

static void report(void *context, const char *line)
{
    snprintf(reported + strlen(reported), sizeof(reported) - strlen(reported), "%s\n", line);
}

void open_paths(const char *const *paths, size_t count, bool list_sized)
{
    const struct nt_vfs_options options = {.report = report, .list_sized = list_sized};
    assert_ok(nt_vfs_new(paths, count, &options, &vfs, &error));
}

void open_reporting(const char *path)
{
    const struct nt_vfs_options options = {.report = report, .counts_lookups = true};
    assert_ok(nt_vfs_new(&path, 1, &options, &vfs, &error));
}

void open_broken(const char *path)
{
    const struct nt_vfs_options options = {.report = report, .open.open_broken = true};
    nt_vfs_free(vfs);
    assert_ok(nt_vfs_new(&path, 1, &options, &vfs, &error));
}

void tree_setup(void)
{
    strcpy(tree_folder, "/tmp/ntuple-tree-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(tree_folder));
    snprintf(path_good, sizeof(path_good), "%s/good.root", tree_folder);
    snprintf(path_bad, sizeof(path_bad), "%s/bad.root", tree_folder);
    snprintf(path_other, sizeof(path_other), "%s/other.txt", tree_folder);
    touch(path_good);
    touch(path_bad);
    touch(path_other);
    reported[0] = '\0';
    model_loads = 0;
    model_has_bad_group = model_has_bad_page = false;
}

void tree_setup_single(void)
{
    tree_setup();
    open_paths((const char *const[]){path_good}, 1, false);
}

void tree_teardown(void)
{
    nt_vfs_free(vfs);
    vfs = NULL;
    unlink(path_good);
    unlink(path_bad);
    unlink(path_other);
    rmdir(tree_folder);
}

/* ---- asking ---- */

uint64_t resolve(const char *path)
{
    uint64_t node = 0;
    enum nt_status status = nt_vfs_resolve(vfs, path, &node, &error);
    ck_assert_msg(status == NT_OK, "%s: %s", path, error.message);
    return node;
}

struct nt_vfs_attributes attributes_of(const char *path)
{
    struct nt_vfs_attributes attributes;
    assert_ok(nt_vfs_stat(vfs, resolve(path), true, &attributes, &error));
    return attributes;
}

enum nt_status status_of(uint64_t node, struct nt_error *why)
{
    struct nt_vfs_attributes attributes;
    return nt_vfs_stat(vfs, node, true, &attributes, why);
}

/* All bytes of a file, read in pieces of the given size. */
struct nt_buffer read_in_pieces(uint64_t node, size_t piece)
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
    nt_buffer_append_string(&out, "");
    return out;
}

struct nt_buffer read_path(const char *path)
{
    return read_in_pieces(resolve(path), 4096);
}

json_t *read_json(const char *path)
{
    struct nt_buffer text = read_path(path);
    json_error_t problem;
    json_t *json = json_loadb(text.bytes, text.length, 0, &problem);
    ck_assert_msg(json != NULL, "%s: %s", path, problem.text);
    ck_assert_int_eq(text.bytes[text.length - 1], '\n');
    nt_buffer_deinit(&text);
    return json;
}

const char *get_text(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key));
}

json_int_t get_number(const json_t *json, const char *key)
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
    strcat(strcat(names->text, name), " ");
    return true;
}

const char *list(const char *path)
{
    static struct names names;
    names.text[0] = '\0';
    assert_ok(nt_vfs_readdir(vfs, resolve(path), 0, add_name, &names, &error));
    return names.text;
}

/* ---- walking ---- */

struct pending {
    char name[256];
    uint64_t node;
    enum nt_vfs_class class;
};

struct batch {
    struct pending entries[3]; /* few, so that listings are split and continued */
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
    if (class != NT_VFS_STREAMED || attributes.class != NT_VFS_GENERATED) /* a short text has its size */
        ck_assert_int_eq(attributes.class, class);
    ck_assert_uint_eq(attributes.stat.st_ino, node);
    ck_assert_uint_eq(attributes.node, node);
    assert_ok(nt_node_path(vfs, node, &back, &error));
    ck_assert_str_eq(back.bytes, path);
    nt_buffer_deinit(&back);
    if (class == NT_VFS_LINK) {
        ck_assert(S_ISLNK(attributes.stat.st_mode));
        return;
    }
    ck_assert_uint_eq(resolve(path), node);
    if (class == NT_VFS_DIRECTORY)
        ck_assert(S_ISDIR(attributes.stat.st_mode));
    else
        check_file(path, node, &attributes);
}

void walk(struct visit *visit, uint64_t directory)
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
            visit->files += entry->class != NT_VFS_DIRECTORY && entry->class != NT_VFS_LINK;
            visit->directories += entry->class == NT_VFS_DIRECTORY;
            if (entry->class == NT_VFS_DIRECTORY)
                walk(visit, found);
            visit->path[length] = '\0';
        }
    } while (batch.count == 3);
}
