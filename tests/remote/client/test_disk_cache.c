/* SPDX-License-Identifier: MIT
 *
 * The disk cache returns what was written, or nothing, whatever other processes do with the directory and its
 * files.
 */
#include "remote/client/client.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "support.h"
#include "temporary.h"

enum { SIZE = 1 << 20, PIECE = 64 * 1024 };
#define KEY "https://server/file.root\n\n\"tag\"\n1048576\n"

static struct nt_error error;
static uint8_t content[SIZE], found[SIZE];

static void setup(void)
{
    temporary_setup();
    for (size_t i = 0; i < SIZE; i++)
        content[i] = (uint8_t)(i * 2654435761u >> 13);
}

static struct nt_disk_cache cache_of(uint64_t max_bytes)
{
    struct nt_disk_cache cache;
    assert_status(NT_OK, nt_disk_cache_open(&cache, temporary_path("cache"), max_bytes, &error));
    return cache;
}

static void add(struct nt_disk_cache_file *entry, uint64_t offset, size_t count)
{
    nt_disk_cache_file_add(entry, offset, content + offset, count);
}

/* Is the whole range cached and unchanged? */
static bool has(struct nt_disk_cache_file *entry, uint64_t offset, uint64_t end)
{
    while (offset < end) {
        uint64_t until;
        if (!nt_disk_cache_file_find(entry, offset, &until))
            return false;
        size_t count = (size_t)((until < end ? until : end) - offset);
        if (!nt_disk_cache_file_read(entry, offset, found, count))
            return false;
        ck_assert_mem_eq(found, content + offset, count);
        offset += count;
    }
    return true;
}

/* The only file of the directory, or one of several. */
static const char *any_file(void)
{
    const char *path = NULL;
    DIR *folder = opendir(temporary_path("cache"));
    char name[100];
    for (const struct dirent *file; (file = readdir(folder));)
        if (file->d_name[0] != '.') {
            snprintf(name, sizeof(name), "cache/%.80s", file->d_name);
            path = temporary_path(name);
        }
    closedir(folder);
    return path;
}

static uint64_t bytes_of_folder(void)
{
    uint64_t bytes = 0;
    struct stat attributes;
    char name[100];
    DIR *folder = opendir(temporary_path("cache"));
    for (const struct dirent *file; (file = readdir(folder));) {
        snprintf(name, sizeof(name), "cache/%.80s", file->d_name);
        if (file->d_name[0] != '.' && stat(temporary_path(name), &attributes) == 0)
            bytes += (uint64_t)attributes.st_blocks * 512;
    }
    closedir(folder);
    return bytes;
}

TEST(what_was_added_is_there_for_the_next_one, .setup = setup, .teardown = temporary_teardown)
{
    for (int round = 0; round < 2; round++) {
        struct nt_disk_cache cache = cache_of(1 << 28);
        struct nt_disk_cache_file *entry = nt_disk_cache_file_open(&cache, KEY, SIZE);
        uint64_t next;
        ck_assert_ptr_nonnull(entry);
        if (round == 0) {
            add(entry, 100, 3 * PIECE + 17);
            add(entry, SIZE - 5, 5);
        }
        ck_assert(has(entry, 100, 100 + 3 * PIECE + 17));
        ck_assert(has(entry, 5000, 5001));
        ck_assert(has(entry, SIZE - 5, SIZE));
        ck_assert(!nt_disk_cache_file_find(entry, 99, &next));
        ck_assert_uint_eq(next, 100);
        ck_assert(!nt_disk_cache_file_find(entry, 100 + 3 * PIECE + 17, &next));
        ck_assert_uint_eq(next, SIZE - 5);
        ck_assert_uint_eq(cache.bad_pieces, 0);
        nt_disk_cache_file_close(entry);
        nt_disk_cache_close(&cache);
    }
    struct stat attributes;
    ck_assert_int_eq(stat(any_file(), &attributes), 0);
    ck_assert_uint_eq(attributes.st_mode & 0777, 0600);
}

TEST(another_key_finds_nothing, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_disk_cache cache = cache_of(1 << 28);
    struct nt_disk_cache_file *entry = nt_disk_cache_file_open(&cache, KEY, SIZE);
    struct nt_disk_cache_file *other = nt_disk_cache_file_open(&cache, KEY "2", SIZE);
    uint64_t next;
    add(entry, 0, 1000);
    ck_assert(!nt_disk_cache_file_find(other, 0, &next));
    nt_disk_cache_file_close(other);
    nt_disk_cache_file_close(entry);
    nt_disk_cache_close(&cache);
}

TEST(two_at_once_write_to_one_file, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_disk_cache caches[2] = {cache_of(1 << 28), cache_of(1 << 28)};
    struct nt_disk_cache_file *entries[2];
    for (int i = 0; i < 2; i++)
        entries[i] = nt_disk_cache_file_open(&caches[i], KEY, SIZE);
    for (int i = 0; i < 8; i++)
        add(entries[i % 2], (uint64_t)i * 100000, 100000);
    for (int i = 0; i < 8; i++)
        ck_assert(has(entries[i % 2], (uint64_t)i * 100000, (uint64_t)i * 100000 + 100000));
    for (int i = 0; i < 2; i++)
        nt_disk_cache_file_close(entries[i]);
    entries[0] = nt_disk_cache_file_open(&caches[0], KEY, SIZE);
    ck_assert(has(entries[0], 0, 800000));
    nt_disk_cache_file_close(entries[0]);
    for (int i = 0; i < 2; i++)
        nt_disk_cache_close(&caches[i]);
}

/* Each byte of the file changes, or the file ends there: what is found is what was written. */
TEST(whatever_is_damaged_is_not_used, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_disk_cache cache = cache_of(1 << 28);
    struct nt_disk_cache_file *entry = nt_disk_cache_file_open(&cache, KEY, SIZE);
    add(entry, 0, 300);
    add(entry, 1000, 300);
    nt_disk_cache_file_close(entry);
    uint8_t whole[2000];
    const char *path = any_file();
    int file = open(path, O_RDWR);
    ssize_t count = read(file, whole, sizeof(whole));
    unsigned good = 0;
    for (ssize_t at = 0; at < 2 * count; at++) {
        uint8_t byte = (uint8_t)(whole[at % count] ^ 0x10);
        file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        ck_assert_int_eq(write(file, whole, (size_t)(at < count ? count : at - count)),
                         at < count ? count : at - count);
        if (at < count)
            ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
        close(file);
        entry = nt_disk_cache_file_open(&cache, KEY, SIZE);
        ck_assert_ptr_nonnull(entry);
        good += has(entry, 0, 300) + has(entry, 1000, 1300);
        add(entry, 0, 1300);
        ck_assert(has(entry, 0, 1300));
        nt_disk_cache_file_close(entry);
    }
    ck_assert_uint_gt(good, 600);
    ck_assert_uint_lt(good, 4 * (unsigned)count);
    ck_assert_uint_ge(cache.bad_pieces, 600);
    nt_disk_cache_close(&cache);
}

TEST(what_makes_no_sense_is_forgotten_and_added_anew, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_disk_cache cache = cache_of(1 << 28);
    struct nt_disk_cache_file *entry = nt_disk_cache_file_open(&cache, KEY, SIZE);
    uint64_t next;
    content[PIECE + 5] ^= 1;
    add(entry, 0, 3 * PIECE);
    nt_disk_cache_file_invalidate(entry, PIECE + 5, 1);
    ck_assert(has(entry, 0, PIECE));
    ck_assert(!nt_disk_cache_file_find(entry, PIECE, &next));
    ck_assert_uint_eq(next, 2 * PIECE);
    content[PIECE + 5] ^= 1;
    add(entry, PIECE, PIECE);
    nt_disk_cache_file_close(entry);
    entry = nt_disk_cache_file_open(&cache, KEY, SIZE);
    ck_assert(has(entry, 0, 3 * PIECE));
    nt_disk_cache_file_close(entry);
    nt_disk_cache_close(&cache);
}

TEST(the_folder_stays_within_its_bound, .setup = setup, .teardown = temporary_teardown)
{
    enum { MOST = 4 << 20, FILES = 12 };
    struct nt_disk_cache caches[2] = {cache_of(MOST), cache_of(MOST)};
    char key[100];
    for (int i = 0; i < FILES; i++) {
        snprintf(key, sizeof(key), "https://server/%d", i);
        struct nt_disk_cache_file *entry = nt_disk_cache_file_open(&caches[i % 2], key, SIZE);
        ck_assert_ptr_nonnull(entry);
        add(entry, 0, SIZE);
        ck_assert(has(entry, 0, SIZE / 2));
        nt_disk_cache_file_close(entry);
        ck_assert_uint_le(bytes_of_folder(), MOST);
    }
    struct nt_disk_cache_file *last = nt_disk_cache_file_open(&caches[0], key, SIZE);
    ck_assert(has(last, 0, SIZE / 2));
    struct nt_disk_cache_file *first = nt_disk_cache_file_open(&caches[0], "https://server/0", SIZE);
    uint64_t next;
    ck_assert(!nt_disk_cache_file_find(first, 0, &next));
    nt_disk_cache_file_close(first);
    nt_disk_cache_file_close(last);
    for (int i = 0; i < 2; i++)
        nt_disk_cache_close(&caches[i]);
}

TEST(what_another_process_removes_is_begun_anew, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_disk_cache cache = cache_of(1 << 28);
    struct nt_disk_cache_file *entry = nt_disk_cache_file_open(&cache, KEY, SIZE);
    add(entry, 0, 1000);
    struct nt_disk_cache other = cache_of(1 << 28);
    nt_disk_cache_remove(&other, strrchr(any_file(), '/') + 1);
    ck_assert(!has(entry, 0, 1000));
    add(entry, 2000, 1000);
    ck_assert(has(entry, 2000, 3000));
    nt_disk_cache_file_close(entry);
    entry = nt_disk_cache_file_open(&other, KEY, SIZE);
    ck_assert(has(entry, 2000, 3000));
    nt_disk_cache_file_close(entry);
    nt_disk_cache_close(&cache);
    nt_disk_cache_close(&other);
}

/* A limit of the size of files is like a full disk. */
TEST(what_is_there_is_read_from_a_full_disk, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_disk_cache cache = cache_of(1 << 28);
    struct nt_disk_cache_file *entry = nt_disk_cache_file_open(&cache, KEY, SIZE);
    struct stat attributes;
    add(entry, 0, 1000);
    ck_assert_int_eq(stat(any_file(), &attributes), 0);
    const struct rlimit full = {(rlim_t)attributes.st_size, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &full), 0);
    add(entry, 2000, 1000);
    ck_assert(has(entry, 0, 1000) && !has(entry, 2000, 3000));
    nt_disk_cache_file_close(entry);
    entry = nt_disk_cache_file_open(&cache, KEY, SIZE);
    ck_assert_ptr_nonnull(entry);
    ck_assert(has(entry, 0, 1000));
    add(entry, 2000, 1000);
    ck_assert(has(entry, 0, 1000) && !has(entry, 2000, 3000));
    nt_disk_cache_file_close(entry);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
    entry = nt_disk_cache_file_open(&cache, KEY, SIZE);
    add(entry, 2000, 1000);
    ck_assert(has(entry, 0, 1000) && has(entry, 2000, 3000));
    nt_disk_cache_file_close(entry);
    nt_disk_cache_close(&cache);
}

TEST(folders_of_others_and_links_are_refused, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_disk_cache cache;
    const char *path = temporary_path("cache");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(chmod(path, 0770), 0);
    assert_status(NT_INVALID, nt_disk_cache_open(&cache, path, SIZE, &error));
    assert_status(NT_NOT_FOUND, nt_disk_cache_open(&cache, temporary_file("file", "", 0), SIZE, &error));
    const char *link = temporary_path("link");
    ck_assert_int_eq(symlink(path, link), 0);
    assert_status(NT_NOT_FOUND, nt_disk_cache_open(&cache, link, SIZE, &error));
    ck_assert_int_eq(chmod(path, 0700), 0);
    cache = cache_of(1 << 28);
    struct nt_disk_cache_file *entry = nt_disk_cache_file_open(&cache, KEY, SIZE);
    nt_disk_cache_file_close(entry);
    path = any_file();
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink(temporary_file("victim", "here", 4), path), 0);
    ck_assert_ptr_null(nt_disk_cache_file_open(&cache, KEY, SIZE));
    nt_disk_cache_close(&cache);
    struct stat attributes;
    ck_assert_int_eq(stat(temporary_path("victim"), &attributes), 0);
    ck_assert_int_eq(attributes.st_size, 4);
}

TEST(without_a_cache_nothing_is_there, .setup = setup, .teardown = temporary_teardown)
{
    struct nt_disk_cache none = {.folder = -1};
    struct nt_disk_cache_file *entry = nt_disk_cache_file_open(&none, KEY, SIZE);
    uint64_t next;
    ck_assert_ptr_null(entry);
    add(entry, 0, 100);
    ck_assert(!nt_disk_cache_file_find(entry, 0, &next));
    ck_assert_uint_eq(next, UINT64_MAX);
    nt_disk_cache_file_invalidate(entry, 0, 100);
    nt_disk_cache_file_close(entry);
}
