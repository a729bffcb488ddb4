/* SPDX-License-Identifier: MIT
 *
 * Datasets with versions: the current version, versions.d, and the cost of lookups.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"
#include "open_tree.h"
#include "support.h"

static struct nt_error error;
static char folder[96];

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void put(const char *version, const char *content)
{
    char name[32];
    snprintf(name, sizeof(name), "versions/%s", version);
    FILE *file = fopen(path_of(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs(content, file);
    fclose(file);
}

/* A dataset of the versions 1 and 2. */
static void set_up(void)
{
    tree_setup();
    snprintf(folder, sizeof(folder), "%s/good", tree_folder);
    static const char *const folders[] = {"", "meta", "versions"};
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(mkdir(path_of(folders[i]), 0700), 0);
    touch(path_of("meta/storage"));
    put("1", "");
    put("2", "");
}

static void open_dataset(void)
{
    open_paths((const char *const[]){folder}, 1, false);
}

TEST(a_later_version_is_shown_at_the_next_look_with_nodes_of_its_own, .setup = set_up,
     .teardown = tree_teardown)
{
    open_dataset();
    uint64_t root_file = resolve("file.json"), dataset = resolve("Events"), field = resolve("Events/run");
    ck_assert_uint_eq(resolve("Events"), dataset);
    put("3", "");
    ck_assert_uint_ne(resolve("Events"), dataset);
    ck_assert_uint_ne(resolve("Events/run"), field);
    ck_assert_uint_ne(resolve("file.json"), root_file);
    struct nt_vfs_attributes old;
    assert_ok(nt_vfs_stat(vfs, field, true, &old, &error));
    ck_assert(old.is_immutable && old.is_name_lasting);
    unlink(path_of("versions/3"));
    ck_assert_uint_eq(resolve("Events"), dataset);
}

TEST(only_names_that_may_lead_to_another_version_do_not_last, .setup = set_up, .teardown = tree_teardown)
{
    open_dataset();
    static const struct {
        const char *path;
        bool is_immutable, is_name_lasting;
    } expected[] = {{"", false, false},
                    {"file.json", true, false},
                    {"Events", true, false},
                    {"Events/ntuple.json", true, true},
                    {"Events/run/data.bin", true, true},
                    {"Events/versions.d", true, true},
                    {"Events/versions.d/1", true, false},
                    {"Events/versions.d/1/run", true, true}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        struct nt_vfs_attributes found = attributes_of(expected[i].path);
        ck_assert_msg(found.is_immutable == expected[i].is_immutable &&
                          found.is_name_lasting == expected[i].is_name_lasting,
                      "%s", expected[i].path);
    }
}

TEST(versions_are_found_by_number_and_listed_as_links, .setup = set_up, .teardown = tree_teardown)
{
    uint64_t node, versions, link;
    char target[NT_VFS_TARGET];
    open_dataset();
    ck_assert_str_eq(list("Events/versions.d"), "v1 v2 ");
    ck_assert_ptr_nonnull(strstr(list("Events"), " versions.d "));
    ck_assert_ptr_null(strstr(list("Events/versions.d/2"), "versions.d"));
    ck_assert_uint_ne(resolve("Events/versions.d/2"), resolve("Events"));
    ck_assert_uint_ne(resolve("Events/versions.d/2"), resolve("Events/versions.d/1"));
    ck_assert_uint_eq(resolve("Events/versions.d/1/.."), resolve("Events/versions.d"));
    versions = resolve("Events/versions.d");
    assert_ok(nt_vfs_lookup(vfs, versions, "v2", &link, &error));
    ck_assert_uint_ne(link, resolve("Events/versions.d/2"));
    assert_ok(nt_vfs_read_link(link, target, &error));
    ck_assert_str_eq(target, "2");
    ck_assert_uint_eq(nt_vfs_parent(vfs, link), versions);
    struct nt_vfs_attributes attributes;
    assert_ok(nt_vfs_stat(vfs, link, false, &attributes, &error));
    ck_assert(S_ISLNK(attributes.stat.st_mode) && attributes.stat.st_size == 1);
    assert_status(NT_INVALID, nt_vfs_read_link(versions, target, &error));
    ck_assert_uint_eq(resolve("Events/versions.d/v2/run"), resolve("Events/versions.d/2/run"));
    static const char *const others[] = {"3", "01", "x", "1x", "v3", "v01", "v"};
    for (size_t i = 0; i < 7; i++) {
        char path[64];
        snprintf(path, sizeof(path), "Events/versions.d/%s", others[i]);
        assert_status(NT_NOT_FOUND, nt_vfs_resolve(vfs, path, &node, &error));
    }
    struct visit visit = {.path = "Events/versions.d/1"};
    walk(&visit, resolve(visit.path));
    ck_assert_uint_gt(visit.files, 20);
}

TEST(a_version_that_does_not_open_says_why_and_others_are_readable, .setup = set_up,
     .teardown = tree_teardown)
{
    put("3", "bad");
    open_paths((const char *const[]){tree_folder}, 1, false);
    ck_assert_str_eq(list("good"), "error.json versions.d ");
    json_t *json = read_json("good/error.json");
    ck_assert_ptr_nonnull(strstr(get_text(json, "what"), "version 3 is broken"));
    json_decref(json);
    ck_assert_str_eq(list("good/versions.d/3"), "error.json ");
    ck_assert_uint_eq(attributes_of("good/versions.d/2/run/data.bin").stat.st_size, 4 * MODEL_ENTRIES);
    struct visit visit = {.path = "good"};
    walk(&visit, resolve(visit.path));
    unlink(path_of("versions/3"));
    ck_assert_uint_eq(attributes_of("good/Events/run/data.bin").stat.st_size, 4 * MODEL_ENTRIES);
}

TEST(where_no_version_is_left_the_dataset_fails, .setup = set_up, .teardown = tree_teardown)
{
    uint64_t node;
    open_paths((const char *const[]){tree_folder}, 1, false);
    resolve("good/Events");
    unlink(path_of("versions/1"));
    unlink(path_of("versions/2"));
    assert_status(NT_NOT_FOUND, nt_vfs_resolve(vfs, "good/Events", &node, &error));
    ck_assert_str_eq(list("good"), "error.json ");
    put("1", "");
    resolve("good/Events");
}

TEST(a_look_at_what_has_not_changed_searches_nothing, .setup = set_up, .teardown = tree_teardown)
{
    const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path_of("versions"), long_ago, 0), 0);
    open_dataset();
    resolve("Events");
    unsigned searches = model_searches;
    for (int i = 0; i < 5; i++)
        resolve("Events/run");
    ck_assert_uint_eq(model_searches, searches);
    put("3", "");
    resolve("Events");
    ck_assert_uint_gt(model_searches, searches);
}

static bool finds_a_version(void)
{
    struct nt_vfs_attributes attributes;
    uint64_t node;
    return nt_vfs_resolve(vfs, "Events/run/data.bin", &node, NULL) == NT_OK &&
           nt_vfs_stat(vfs, node, true, &attributes, NULL) == NT_OK &&
           attributes.stat.st_size == 4 * MODEL_ENTRIES &&
           nt_vfs_resolve(vfs, "Events/versions.d/1/run", &node, NULL) == NT_OK;
}

/* Reads until it is stopped. Each reader finds the files of some version: if one is removed meanwhile,
 * the next try finds another. */
static void *look(void *has_ended)
{
    enum { MAX_TRIES = 20 };
    size_t error_log = 0;
    while (!atomic_load((atomic_bool *)has_ended)) {
        unsigned tries = 0;
        while (tries < MAX_TRIES && !finds_a_version())
            tries++;
        error_log += tries == MAX_TRIES;
    }
    return (void *)error_log;
}

TEST(threads_find_a_version_while_others_come_and_go, .setup = set_up, .teardown = tree_teardown)
{
    enum { THREADS = 4, ROUNDS = 60 };
    pthread_t threads[THREADS];
    atomic_bool has_ended = false;
    open_dataset();
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, look, &has_ended), 0);
    for (int i = 0; i < ROUNDS; i++) {
        const char version[] = {(char)('3' + i % 6), '\0'};
        char name[32];
        snprintf(name, sizeof(name), "versions/%s", version);
        if (i / 6 % 2)
            unlink(path_of(name));
        else
            put(version, "");
        resolve("Events");
    }
    atomic_store(&has_ended, true);
    for (int i = 0; i < THREADS; i++) {
        void *error_log;
        pthread_join(threads[i], &error_log);
        ck_assert_ptr_null(error_log);
    }
}
