/* SPDX-License-Identifier: MIT
 *
 * The kernel's lookup counts while files are replaced, removed and created: an inode number is reused only
 * after the kernel has forgotten it, and with a new generation.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"
#include "open_tree.h"
#include "support.h"
#include "vfs/vfs.h"
#include "core/base/memory.h"
#include "vfs/tree.h"

enum { MAX_KNOWN = 16, REPLACED = 600, MAX_INODES = 12, VISITORS = 3 };

static struct nt_error error;
static char path[120];

/* ---- memory that fails ---- */

static atomic_uint until_failure; /* 0: none; 1: the next one fails */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
char *__wrap_strdup(const char *text);

static bool has_failed(void)
{
    unsigned left = atomic_load(&until_failure);
    return left && atomic_fetch_sub(&until_failure, 1) == 1;
}

void *__wrap_malloc(size_t bytes)
{
    return has_failed() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return has_failed() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return has_failed() ? NULL : __real_realloc(memory, bytes);
}

char *__wrap_strdup(const char *text)
{
    return has_failed() ? NULL : __real_strdup(text);
}

/* ---- Changes while a directory is listed ---- */

typedef void happening(void);
static _Atomic(happening *) after_reading; /* once */

int __real_closedir(DIR *directory);
int __wrap_closedir(DIR *directory);

int __wrap_closedir(DIR *directory)
{
    int result = __real_closedir(directory);
    happening *next = atomic_exchange(&after_reading, NULL);
    if (next)
        next();
    return result;
}

/* ---- Lookup counts ---- */

/* Like the kernel: a directory entry for each part of a path. */
struct kernel {
    uint64_t known[MAX_KNOWN];
    size_t count;
};

/* The node of a path; the kernel then references each part. */
static enum nt_status learn(struct kernel *kernel, const char *relative, struct nt_vfs_attributes *attributes,
                            struct nt_error *why)
{
    char parts[120], *rest = parts, *part;
    enum nt_status status = NT_OK;
    attributes->node = NT_VFS_ROOT;
    snprintf(parts, sizeof(parts), "%s", relative);
    while (status == NT_OK && (part = strsep(&rest, "/"))) {
        status = nt_vfs_lookup_ref(vfs, attributes->node, part, NULL, attributes, why);
        if (status == NT_OK)
            kernel->known[kernel->count++] = attributes->node;
    }
    return status;
}

static struct nt_vfs_attributes known(struct kernel *kernel, const char *relative)
{
    struct nt_vfs_attributes attributes;
    assert_ok(learn(kernel, relative, &attributes, &error));
    return attributes;
}

static void forget(struct kernel *kernel)
{
    while (kernel->count)
        nt_vfs_forget(vfs, kernel->known[--kernel->count], 1);
}

static uint32_t inode_number_of(uint64_t number)
{
    struct nt_node node;
    ck_assert(nt_node_unpack(number, &node));
    ck_assert(node.type == NT_NODE_INODE);
    return node.owner;
}

static void set_up(void)
{
    tree_setup();
    snprintf(path, sizeof(path), "%s/good2.root", tree_folder);
    touch(path);
    open_reporting(tree_folder);
}

static void tear_down(void)
{
    unlink(path);
    tree_teardown();
}

TEST(numbers_of_what_was_replaced_and_forgotten_are_given_again, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0};
    for (unsigned i = 1; i <= REPLACED; i++) {
        replace(path, i % 100, i % 2);
        uint32_t inode = inode_number_of(known(&kernel, "good2.root").node);
        ck_assert_uint_lt(inode, MAX_INODES);
        known(&kernel, "good2.root/Events/run/data.bin");
        ck_assert_uint_lt(inode_number_of(known(&kernel, "good2.root/sub").node), MAX_INODES);
        forget(&kernel);
    }
}

TEST(a_referenced_inode_does_not_change, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0}, other = {.count = 0};
    struct nt_vfs_attributes old = known(&kernel, "good2.root"),
                             data = known(&kernel, "good2.root/Events/run/data.bin");
    for (unsigned i = 1; i <= 100; i++) {
        replace(path, i, true);
        struct nt_vfs_attributes now = known(&other, "good2.root");
        ck_assert_uint_ne(now.node, old.node);
        assert_status(NT_CHANGED, status_of(old.node, &error));
        assert_status(NT_CHANGED, status_of(data.node, &error));
        forget(&other);
    }
    forget(&kernel);
    replace(path, 101, true);
    known(&other, "good2.root");
    replace(path, 102, true);
    struct nt_vfs_attributes again =
        known(&other, "good2.root"); /* the first may have it now, with another generation */
    ck_assert(again.node != old.node || again.generation != old.generation);
    forget(&other);
}

TEST(a_number_that_comes_again_has_another_generation, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0};
    uint32_t generations[MAX_INODES] = {0}, again = 0;
    for (unsigned i = 1; i <= 50; i++) {
        replace(path, i, true);
        struct nt_vfs_attributes now = known(&kernel, "good2.root");
        again += generations[inode_number_of(now.node)] != 0;
        ck_assert_uint_gt(now.generation, generations[inode_number_of(now.node)]);
        generations[inode_number_of(now.node)] = now.generation;
        forget(&kernel);
    }
    ck_assert_uint_gt(again, 10);
}

TEST(an_open_file_keeps_its_number, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0};
    struct nt_vfs_handle *handle;
    char bytes[64];
    size_t got;
    uint64_t old = known(&kernel, "good2.root").node;
    assert_ok(nt_vfs_open(vfs, known(&kernel, "good2.root/Events/run/data.bin").node, &handle, &error));
    forget(&kernel);
    for (unsigned i = 1; i <= 50; i++) {
        replace(path, i, true);
        ck_assert_uint_ne(known(&kernel, "good2.root").node, old);
        forget(&kernel);
    }
    assert_ok(nt_vfs_read(handle, 0, bytes, sizeof(bytes), &got, &error));
    ck_assert_uint_eq(got, 4 * MODEL_ENTRIES);
    nt_vfs_close(handle);
    bool is_given_again = false;
    for (unsigned i = 1; i <= 50 && !is_given_again; i++) {
        replace(path, i, true);
        is_given_again = known(&kernel, "good2.root").node == old;
        forget(&kernel);
    }
    ck_assert(is_given_again);
}

static json_int_t documents_made(void)
{
    json_t *json = read_json(".ntuplefs/stats.json");
    json_int_t made = get_number(json, "documents_made");
    json_decref(json);
    return made;
}

/* Documents are cached by the numbers of their nodes. */
TEST(no_document_is_that_of_a_former_file, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0};
    for (unsigned i = 1; i <= 200; i++) {
        replace(path, i, true);
        known(&kernel, "good2.root");
        json_int_t made = documents_made();
        for (unsigned k = 0; k < 2; k++)
            json_decref(read_json("good2.root/file.json"));
        ck_assert_int_eq(documents_made(), made + 1);
        forget(&kernel);
    }
}

/* Failures are reported once for each file. */
TEST(each_of_two_files_of_a_number_says_why_it_failed, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0};
    struct nt_vfs_attributes attributes;
    unsigned times = 0;
    for (unsigned i = 1; i <= 8; i++) {
        replace(path_bad, i, true);
        assert_ok(learn(&kernel, "bad.root/error.json", &attributes, &error));
        assert_ok(status_of(attributes.node, &error));
        forget(&kernel);
    }
    for (const char *at = reported; (at = strstr(at, "bad.root")); at++)
        times++;
    ck_assert_uint_eq(times, 8);
}

TEST(with_a_folder_the_numbers_of_all_in_it_come_back, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0};
    char folder[80], inner[100], gone[80];
    snprintf(folder, sizeof(folder), "%s/folder", tree_folder);
    snprintf(gone, sizeof(gone), "%s/.gone", tree_folder);
    for (unsigned i = 0; i < 200; i++) {
        ck_assert_int_eq(mkdir(folder, 0700), 0);
        for (unsigned k = 0; k < 3; k++) {
            snprintf(inner, sizeof(inner), "%s/good%u", folder, k);
            touch(inner);
        }
        ck_assert_uint_lt(inode_number_of(known(&kernel, "folder").node), MAX_INODES);
        ck_assert_uint_lt(inode_number_of(known(&kernel, "folder/good2").node), MAX_INODES);
        known(&kernel, "folder/good0/Events/run");
        ck_assert_int_eq(rename(folder, gone), 0);
        if (i % 2)
            forget(&kernel);
        list("");
        forget(&kernel);
        for (unsigned k = 0; k < 3; k++) {
            snprintf(inner, sizeof(inner), "%s/good%u", gone, k);
            unlink(inner);
        }
        ck_assert_int_eq(rmdir(gone), 0);
    }
}

static void make_dataset(const char *folder)
{
    static const char *const folders[] = {"", "/meta", "/versions"}, *const files[] = {"/meta/storage",
                                                                                       "/versions/1"};
    char name[160];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "%s%s", folder, folders[i]);
        ck_assert_int_eq(mkdir(name, 0700), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "%s%s", folder, files[i]);
        touch(name);
    }
}

static void remove_dataset(const char *folder)
{
    static const char *const names[] = {"/versions/1", "/versions", "/meta/storage", "/meta", ""};
    char name[160];
    for (unsigned i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "%s%s", folder, names[i]);
        ck_assert_int_eq(remove(name), 0);
    }
}

TEST(with_a_dataset_go_its_versions, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0};
    char folder[80];
    snprintf(folder, sizeof(folder), "%s/good3", tree_folder);
    for (unsigned i = 0; i < 200; i++) {
        make_dataset(folder);
        ck_assert_uint_lt(inode_number_of(known(&kernel, "good3").node), MAX_INODES);
        known(&kernel, "good3/Events/run/data.bin");
        known(&kernel, "good3/Events/versions.d/1/run");
        remove_dataset(folder);
        list("");
        forget(&kernel);
    }
}

enum { MAX_SLOTS = 2000 }; /* of at most 256 open versions, with 6 datasets each, and of some more */

static uint32_t slot_of(uint64_t number)
{
    struct nt_node node;
    ck_assert(nt_node_unpack(number, &node));
    ck_assert_int_eq(node.type, NT_NODE_DATASET);
    return node.owner;
}

static char dataset_folder[80], version_file[100];

static void make_dataset_of_a_version(void)
{
    snprintf(dataset_folder, sizeof(dataset_folder), "%s/good3", tree_folder);
    snprintf(version_file, sizeof(version_file), "%s/versions/1", dataset_folder);
    make_dataset(dataset_folder);
}

TEST(numbers_of_versions_that_are_not_shown_any_more_are_given_again, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0};
    make_dataset_of_a_version();
    uint32_t generation = 0;
    for (unsigned i = 1; i <= REPLACED / 3; i++) {
        replace(version_file, i % 100, true);
        struct nt_vfs_attributes shown = known(&kernel, "good3/Events");
        ck_assert_uint_lt(slot_of(shown.node), MAX_SLOTS);
        ck_assert_uint_ge(shown.generation, generation);
        generation = shown.generation;
        known(&kernel, "good3/Events/run/data.bin");
        ck_assert_uint_lt(slot_of(known(&kernel, "good3/Events/versions.d/1").node), MAX_SLOTS);
        json_decref(read_json("good3/Events/ntuple.json"));
        forget(&kernel);
    }
    ck_assert_uint_gt(generation, REPLACED / 3);
    remove_dataset(dataset_folder);
}

TEST(a_referenced_version_does_not_change, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0}, other = {.count = 0};
    char bytes[64];
    size_t got;
    struct nt_vfs_handle *handle;
    make_dataset_of_a_version();
    struct nt_vfs_attributes data = known(&kernel, "good3/Events/run/data.bin");
    uint64_t old = known(&kernel, "good3/Events").node;
    assert_ok(nt_vfs_open(vfs, data.node, &handle, &error));
    for (unsigned i = 1; i <= 200; i++) {
        replace(version_file, i % 100, true);
        ck_assert_uint_ne(known(&other, "good3/Events").node, old);
        forget(&other);
    }
    forget(&kernel); /* its reader continues */
    assert_ok(nt_vfs_read(handle, 0, bytes, sizeof(bytes), &got, &error));
    ck_assert_uint_eq(got, 4 * MODEL_ENTRIES);
    nt_vfs_close(handle);
    remove_dataset(dataset_folder);
}

/* The old state stays if probing the new one fails, and nothing made for the new one is kept. */
TEST(a_look_without_memory_leaves_everything_as_it_was, .setup = set_up, .teardown = tear_down)
{
    unsigned error_log = 0;
    struct kernel kernel = {.count = 0};
    struct nt_vfs_attributes attributes;
    for (unsigned at = 1; at <= 150; at++) {
        replace(path_bad, at, true); /* the model of a valid one needs memory */
        atomic_store(&until_failure, at);
        enum nt_status status = learn(&kernel, "bad.root/error.json", &attributes, NULL);
        bool is_reached = atomic_exchange(&until_failure, 0) == 0;
        ck_assert(is_reached || status == NT_OK);
        error_log += status != NT_OK;
        forget(&kernel);
        ck_assert_str_eq(list(""), ".ntuplefs bad.root good.root good2.root ");
        ck_assert_uint_lt(inode_number_of(known(&kernel, "bad.root").node), MAX_INODES);
        known(&kernel, "bad.root/error.json");
        forget(&kernel);
    }
    ck_assert_uint_gt(error_log, 20);
}

struct listing {
    char names[20][32];
    unsigned count, most;
    uint64_t next;
};

static bool take_name(void *context, const char *name, uint64_t node, enum nt_vfs_class class, uint64_t next)
{
    struct listing *listing = context;
    if (listing->count == listing->most)
        return false;
    snprintf(listing->names[listing->count++], sizeof(listing->names[0]), "%s", name);
    listing->next = next;
    return true;
}

TEST(a_file_that_is_replaced_while_its_folder_is_listed_is_listed_once, .setup = set_up,
     .teardown = tear_down)
{
    static const char *const expected[] = {".ntuplefs",  "bad.root",   "good.root",
                                           "good2.root", "good4.root", "good5.root"};
    struct kernel kernel = {.count = 0};
    struct listing listing = {.count = 0};
    const char *const more[] = {"good4.root", "good5.root"};
    char name[100];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "%s/%s", tree_folder, more[i]);
        touch(name);
    }
    for (unsigned i = 0; i < 20; i++) {
        listing.count = 0;
        uint64_t cursor = 0;
        for (unsigned most = 1; listing.count == most - 1 && most < 20; most++) {
            listing.most = most;
            assert_ok(nt_vfs_readdir(vfs, NT_VFS_ROOT, cursor, take_name, &listing, &error));
            cursor = listing.next;
            replace(path, 1 + (i + most) % 50, true);
            known(&kernel, "good2.root");
            forget(&kernel);
        }
        ck_assert_uint_eq(listing.count, 6);
        for (unsigned k = 0; k < 6; k++) {
            bool is_there = false;
            for (unsigned n = 0; n < 6; n++)
                is_there = is_there || strcmp(listing.names[n], expected[k]) == 0;
            ck_assert_msg(is_there, "%s", expected[k]);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "%s/%s", tree_folder, more[i]);
        unlink(name);
    }
}

static char late_path[100];
static uint64_t late_node;

static void make_and_find_another(void)
{
    struct kernel kernel = {.count = 0};
    touch(late_path);
    late_node = known(&kernel, "good4.root").node;
}

TEST(a_look_at_a_folder_that_another_overtakes_throws_nothing_out, .setup = set_up, .teardown = tear_down)
{
    snprintf(late_path, sizeof(late_path), "%s/good4.root", tree_folder);
    replace(path, 1, true); /* so that the directory is read */
    atomic_store(&after_reading, make_and_find_another);
    list("");
    ck_assert(!atomic_load(&after_reading));
    assert_ok(status_of(late_node, &error));
    ck_assert_str_eq(list(""), ".ntuplefs bad.root good.root good2.root good4.root ");
    struct kernel kernel = {.count = 0};
    ck_assert_uint_eq(known(&kernel, "good4.root").node, late_node);
    unlink(late_path);
}

static atomic_bool ends;

static const char *const in_file[] = {"good2.root/Events/run/data.bin", "good2.root/file.json",
                                      "good2.root/sub"};
static const char *const in_versions[] = {"good3/Events/run/data.bin", "good3/file.json",
                                          "good3/Events/versions.d/1"};

/* Reads whatever is there; the only possible failure is that it changed meanwhile. */
static void *visit_all(void *paths)
{
    const char *const *listed = paths;
    while (!atomic_load(&ends)) {
        for (unsigned i = 0; i < 3; i++) {
            struct kernel kernel = {.count = 0};
            struct nt_vfs_attributes attributes;
            struct nt_error own = {0};
            struct nt_vfs_handle *handle;
            struct nt_buffer value = {0};
            char bytes[64];
            size_t got;
            enum nt_status status = learn(&kernel, listed[i], &attributes, &own);
            if (status == NT_OK && i < 2 && nt_vfs_open(vfs, attributes.node, &handle, &own) == NT_OK) {
                forget(&kernel);
                status = nt_vfs_read(handle, 0, bytes, sizeof(bytes), &got, &own);
                if (status == NT_OK && i == 0 &&
                    (got != 4 * MODEL_ENTRIES || *(int32_t *)bytes != model_run(0)))
                    return (void *)"wrong bytes";
                nt_vfs_close(handle);
            } else if (status == NT_OK) {
                (void)nt_vfs_listxattr(vfs, attributes.node, &value, &own);
                (void)nt_vfs_parent(vfs, attributes.node);
            }
            nt_buffer_deinit(&value);
            forget(&kernel);
            if (status != NT_OK && status != NT_CHANGED && status != NT_NOT_FOUND && status != NT_IO)
                return (void *)nt_status_name(status);
        }
    }
    return NULL;
}

static void replace_while_threads_look(const char *replaced, unsigned times, const char *const *listed)
{
    pthread_t threads[VISITORS];
    void *problem;
    for (int i = 0; i < VISITORS; i++)
        pthread_create(&threads[i], NULL, visit_all, (void *)listed);
    for (unsigned i = 1; i <= times; i++) {
        replace(replaced, i % 100, true);
        list("");
    }
    atomic_store(&ends, true);
    for (int i = 0; i < VISITORS; i++) {
        pthread_join(threads[i], &problem);
        ck_assert_msg(!problem, "%s", (const char *)problem);
    }
}

TEST(several_threads_look_while_versions_are_replaced, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0};
    make_dataset_of_a_version();
    replace_while_threads_look(version_file, REPLACED / 3, in_versions);
    uint32_t dataset_id = 0;
    for (unsigned i = 0; i < 4; i++) {
        replace(version_file, 101 + i, true);
        dataset_id = slot_of(known(&kernel, "good3/Events").node);
        forget(&kernel);
    }
    ck_assert_uint_lt(dataset_id, MAX_SLOTS);
    remove_dataset(dataset_folder);
}

TEST(several_threads_look_while_files_are_replaced, .setup = set_up, .teardown = tear_down)
{
    struct kernel kernel = {.count = 0};
    replace_while_threads_look(path, REPLACED / 3, in_file);
    uint32_t inode = 0;
    for (unsigned i = 0; i < 4;
         i++) { /* no thread is in the epoch any more: what they held was freed by then */
        replace(path, 101 + i, true);
        inode = inode_number_of(known(&kernel, "good2.root").node);
        forget(&kernel);
    }
    ck_assert_uint_lt(inode, MAX_INODES);
}
