/* SPDX-License-Identifier: MIT
 *
 * A chain of which only the first file is open shows the same as a chain of open files, for each possible
 * first request. Each answer of a tree that opened all files at once is compared with that of a tree that
 * did not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/chain.h"
#include "core/base/sanitizer.h"
#include "support.h"
#include "temporary.h"
#include "vfs/tree.h"
#include "core/base/memory.h"
#include "vfs/vfs.h"

enum { MAX_PATH = 512, PIECE = 4096, MAX_BYTES = 1 << 16 };
/* With sanitizers, one of so many is asked while the tree is walked. */
enum { QUESTIONS_APART = NT_IS_SANITIZED ? 17 : 1 };

static struct nt_error error;
static struct nt_chain_list *chain;
static struct nt_vfs *whole;         /* its files are open */
static struct nt_chain_index *known; /* NULL: nothing is known */

/* As the next trees know it. */
static void save_index(void *context, const struct nt_buffer *text)
{
    assert_ok(nt_chain_index_read(temporary_file("index", text->bytes, text->length), &known, &error));
}

static struct nt_vfs *open_tree(bool is_lazy, bool is_learning)
{
    struct nt_vfs *vfs;
    const struct nt_vfs_options options = {
        .open = {.struct_bytes = sizeof(struct nt_open_options)},
        .chain = chain,
        .chain_options = {.is_lazy = is_lazy, .index = known, .save_index = is_learning ? save_index : NULL}};
    assert_ok(nt_vfs_new(&chain->name, 1, &options, &vfs, &error));
    return vfs;
}

static void open_chain(const char *first, const char *second)
{
    assert_ok(nt_chain_list_new((const char *const[]){first, second}, 2, false, &chain, &error));
    whole = open_tree(false, false);
}

/* Two files of one schema, whose pages have different compressions. */
static void setup(void)
{
    const char *data = getenv("NTUPLE_TEST_DATA");
    temporary_setup();
    char first[MAX_PATH], second[MAX_PATH];
    snprintf(first, sizeof(first), "%s/compression_zstd.root", data);
    snprintf(second, sizeof(second), "%s/compression_none.root", data);
    open_chain(first, second);
}

/* The same tree twice: some of its baskets are in the record of the tree, a second source. */
static void setup_trees(void)
{
    char first[MAX_PATH];
    temporary_setup();
    snprintf(first, sizeof(first), "%s/trees/trees_baskets.root", getenv("NTUPLE_TEST_DATA"));
    open_chain(first, temporary_copy("second.root", first));
}

/* The same dataset of several files twice. */
static void setup_datasets(void)
{
    char first[MAX_PATH], command[2 * MAX_PATH];
    temporary_setup();
    snprintf(first, sizeof(first), "%s/lance_datasets/fragments_2.2", getenv("NTUPLE_TEST_DATA"));
    const char *second = temporary_path("second");
    snprintf(command, sizeof(command), "cp -r '%s' '%s'", first, second);
    ck_assert_int_eq(system(command), 0);
    open_chain(first, second);
}

/* A friend in two other files. */
static void setup_friends(void)
{
    static const char text[] =
        "{\"samples\": {\"s\": {\"trees\": [\"compressed\"], \"files\": [\"%s/compression_zstd.root\", "
        "\"%s/compression_none.root\"]}}, \"friends\": {\"f\": {\"trees\": [\"compressed\"], "
        "\"files\": [\"%s/compression_lz4.root\", \"%s/compression_lzma.root\"]}}}";
    const char *data = getenv("NTUPLE_TEST_DATA");
    struct nt_buffer specification = {0};
    temporary_setup();
    nt_buffer_append_format(&specification, text, data, data, data, data);
    const char *path = temporary_file("text.json", specification.bytes, specification.length);
    nt_buffer_deinit(&specification);
    assert_ok(nt_chain_list_new(&path, 1, false, &chain, &error));
    whole = open_tree(false, false);
}

static void teardown(void)
{
    nt_vfs_free(whole);
    nt_chain_list_free(chain);
    nt_chain_index_free(known);
    known = NULL;
    temporary_teardown();
}

static uint64_t resolve(struct nt_vfs *vfs, const char *path)
{
    uint64_t node = 0;
    enum nt_status status = nt_vfs_resolve(vfs, path, &node, &error);
    ck_assert_msg(status == NT_OK, "%s: %s", path, error.message);
    return node;
}

/* ---- answers to one question ---- */

typedef void answer_function(struct nt_vfs *vfs, const char *path, struct nt_buffer *out);

static void answer_attributes(struct nt_vfs *vfs, const char *path, struct nt_buffer *out)
{
    struct nt_vfs_attributes attributes;
    enum nt_status status = nt_vfs_stat(vfs, resolve(vfs, path), true, &attributes, &error);
    ck_assert_msg(status == NT_OK, "%s: %s", path, error.message);
    nt_buffer_append_format(out, "%llu %d %o %lld", (unsigned long long)attributes.node, attributes.class,
                            attributes.stat.st_mode, (long long)attributes.stat.st_size);
}

static bool add_name(void *out, const char *name, uint64_t node, enum nt_vfs_class class, uint64_t cursor)
{
    nt_buffer_append_format(out, "%s %llu %d\n", name, (unsigned long long)node, class);
    return true;
}

static void read_all(struct nt_vfs *vfs, const char *path, struct nt_buffer *out)
{
    struct nt_vfs_handle *handle;
    char bytes[PIECE];
    size_t got;
    enum nt_status status = nt_vfs_open(vfs, resolve(vfs, path), &handle, &error);
    ck_assert_msg(status == NT_OK, "%s: %s", path, error.message);
    do {
        assert_ok(nt_vfs_read(handle, out->length, bytes, sizeof(bytes), &got, &error));
        nt_buffer_append(out, bytes, got);
    } while (got == sizeof(bytes) && out->length < MAX_BYTES);
    nt_vfs_close(handle);
}

static void answer_content(struct nt_vfs *vfs, const char *path, struct nt_buffer *out)
{
    struct nt_vfs_attributes attributes;
    uint64_t node = resolve(vfs, path);
    bool is_directory =
        nt_vfs_stat(vfs, node, false, &attributes, NULL) == NT_OK && attributes.class == NT_VFS_DIRECTORY;
    if (is_directory)
        assert_ok(nt_vfs_readdir(vfs, node, 0, add_name, out, &error));
    else
        read_all(vfs, path, out);
}

static void answer_names_of_xattrs(struct nt_vfs *vfs, const char *path, struct nt_buffer *out)
{
    assert_ok(nt_vfs_listxattr(vfs, resolve(vfs, path), out, &error));
}

static const char *asked; /* an extended attribute */

static void answer_xattr(struct nt_vfs *vfs, const char *path, struct nt_buffer *out)
{
    enum nt_status status = nt_vfs_getxattr(vfs, resolve(vfs, path), asked, out, &error);
    nt_buffer_append_format(out, " %d", status);
}

/* ---- the same of both ---- */

static void compare(const char *path, answer_function *answer)
{
    struct nt_buffer expected = {0}, found = {0};
    struct nt_vfs *lazy = open_tree(true, false);
    answer(whole, path, &expected);
    answer(lazy, path, &found);
    ck_assert_msg(expected.length == found.length &&
                      (!found.length || memcmp(expected.bytes, found.bytes, found.length) == 0),
                  "%s: expected %.*s, found %.*s", path, (int)expected.length, expected.bytes,
                  (int)found.length, found.bytes);
    nt_vfs_free(lazy);
    nt_buffer_deinit(&expected);
    nt_buffer_deinit(&found);
}

static void compare_some(const char *path, answer_function *answer)
{
    static unsigned questions; /* about all paths so far */
    if (questions++ % QUESTIONS_APART == 0)
        compare(path, answer);
}

static void compare_xattrs(const char *path)
{
    struct nt_buffer names = {0};
    compare_some(path, answer_names_of_xattrs);
    answer_names_of_xattrs(whole, path, &names);
    for (size_t at = 0; at < names.length; at += strlen(asked) + 1) {
        asked = names.bytes + at;
        compare_some(path, answer_xattr);
    }
    nt_buffer_deinit(&names);
}

struct walk {
    char path[MAX_PATH];
    unsigned count;
};

static bool visit(void *context, const char *name, uint64_t node, enum nt_vfs_class class, uint64_t cursor)
{
    struct walk *walk = context;
    size_t length = strlen(walk->path);
    if (strcmp(name, ".ntuplefs") == 0)
        return true;
    snprintf(walk->path + length, sizeof(walk->path) - length, "%s%s", length ? "/" : "", name);
    walk->count++;
    compare_some(walk->path, answer_attributes);
    compare_some(walk->path, answer_content);
    compare_xattrs(walk->path);
    if (class == NT_VFS_DIRECTORY && strcmp(name, "pages") != 0)
        assert_ok(nt_vfs_readdir(whole, node, 0, visit, walk, &error));
    walk->path[length] = '\0';
    return true;
}

static void learn(void)
{
    nt_vfs_free(open_tree(false, true));
    ck_assert_ptr_nonnull(known);
}

/* Asks first about each file of the tree. The second time, the numbers of entries are known. */
static void compare_tree(int round, unsigned least)
{
    struct walk walk = {.path = ""};
    if (round)
        learn();
    assert_ok(nt_vfs_readdir(whole, NT_VFS_ROOT, 0, visit, &walk, &error));
    ck_assert_uint_gt(walk.count, least);
}

/* The second time, the numbers of entries are known. */
TEST(what_is_asked_first_is_answered_for_all_files, .setup = setup, .teardown = teardown, .end = 2)
{
    compare_tree(_i, 40);
    static const char *const unlisted[] = {"compressed/rows.d/1999.json",
                                           "compressed/ramp/column.0/pages/0.raw",
                                           "compressed/ramp/column.0/pages/0.bin"};
    for (size_t i = 0; i < sizeof(unlisted) / sizeof(*unlisted); i++)
        compare(unlisted[i], answer_content);
}

TEST(what_is_asked_first_of_trees_is_answered_for_all_files, .setup = setup_trees, .teardown = teardown,
     .end = 2)
{
    compare_tree(_i, 40);
    compare("baskets/rows.d/99.json", answer_content);
    compare("baskets/i/column.0/pages/1.raw", answer_content);
}

TEST(what_is_asked_first_of_datasets_is_answered_for_all_files, .setup = setup_datasets, .teardown = teardown,
     .end = 2)
{
    compare_tree(_i, 40);
}

TEST(what_is_asked_first_of_friends_is_answered_for_all_files, .setup = setup_friends, .teardown = teardown,
     .end = 2)
{
    compare_tree(_i, 80);
    compare("compressed/rows.d/1999.json", answer_content);
    compare("compressed/f/ramp/column.0/pages/0.raw", answer_content);
}

/* An entry of the second file, and one past its end. */
TEST(entries_are_those_of_all_files, .setup = setup, .teardown = teardown)
{
    uint64_t node;
    struct nt_vfs *lazy = open_tree(true, false);
    assert_ok(nt_vfs_resolve(lazy, "compressed/rows.d/1999.json", &node, &error));
    ck_assert_int_eq(nt_vfs_resolve(lazy, "compressed/rows.d/2000.json", &node, &error), NT_NOT_FOUND);
    nt_vfs_free(lazy);
}
