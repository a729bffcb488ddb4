/* SPDX-License-Identifier: MIT
 *
 * Patterns of addresses, over fake directories: the matches, their order, and which directories are listed.
 */
#include "chain/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "fake_process.h"
#include "remote/client/client.h"
#include "support.h"

#define SERVER "https://server"

/* ---- The server ---- */

/* All of its files, as paths below it; NULL: directories in directories without end. */
static const char *const *files;
static char looks[4096]; /* the addresses that were listed, a line each */

/* The path of the requested directory below the server. */
static void decode_path(char *path)
{
    unsigned byte;
    for (const char *from = process.text + strlen(SERVER "/"); *from && *from != '?'; from++)
        if (sscanf(from, "%%%2x", &byte) == 1) {
            *path++ = (char)byte;
            from += 2;
        } else if (*from != '/' || (from[1] && from[1] != '?')) {
            *path++ = *from;
        }
    *path = '\0';
}

/* The part of a file's path below a directory; NULL if it is elsewhere. */
static const char *below(const char *file, const char *folder)
{
    size_t length = strlen(folder);
    if (!length)
        return file;
    return strncmp(file, folder, length) == 0 && file[length] == '/' ? file + length + 1 : NULL;
}

static bool is_first(size_t index, const char *folder, const char *rest, size_t length)
{
    for (size_t i = 0; i < index; i++) {
        const char *other = below(files[i], folder);
        if (other && strncmp(other, rest, length) == 0 && (other[length] == '/' || !other[length]))
            return false;
    }
    return true;
}

static void say_entry(uint64_t id, const char *name, size_t length, bool is_folder)
{
    char text[64];
    snprintf(text, sizeof(text), "%.*s", (int)length, name);
    say((struct nt_fetch_answer){.kind = NT_FETCH_ENTRY, .id = id, .is_folder = is_folder}, text, length + 1);
}

static void say_files(uint64_t id, const char *folder)
{
    for (size_t i = 0; files[i]; i++) {
        const char *rest = below(files[i], folder);
        size_t length = rest ? strcspn(rest, "/") : 0;
        if (rest && is_first(i, folder, rest, length))
            say_entry(id, rest, length, rest[length] == '/');
    }
}

static void note_look(void)
{
    size_t length = strlen(process.text) - strlen(SERVER) - 1; /* without its last slash */
    snprintf(looks + strlen(looks), sizeof(looks) - strlen(looks), "%.*s\n", (int)length,
             process.text + strlen(SERVER));
}

static bool answer_list(const struct nt_fetch_request *request)
{
    char folder[sizeof(process.text)];
    if (request->kind != NT_FETCH_LIST)
        return true;
    decode_path(folder);
    if (strcmp(folder, "broken") == 0) {
        static const char message[] = "the server is silent";
        say((struct nt_fetch_answer){.kind = NT_FETCH_FAILED,
                                     .id = request->id,
                                     .failure = NT_FETCH_UNREACHABLE},
            message, strlen(message));
        return true;
    }
    if (files) {
        note_look();
        say_files(request->id, folder);
    } else {
        say_entry(request->id, "inner", strlen("inner"), true);
    }
    say_done(request->id);
    return true;
}

/* ---- what is matched ---- */

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Directories are listed in any order. */
static void assert_same_lines(const char *found, const char *expected)
{
    char texts[2][4096];
    char *lines[2][64];
    size_t counts[2] = {0, 0};
    snprintf(texts[0], sizeof(texts[0]), "%s", found);
    snprintf(texts[1], sizeof(texts[1]), "%s", expected);
    for (int k = 0; k < 2; k++) {
        char *rest = texts[k];
        while (rest && counts[k] < 64)
            lines[k][counts[k]++] = strsep(&rest, "\n");
        qsort(lines[k], counts[k], sizeof(char *), compare_lines);
    }
    ck_assert_uint_eq(counts[0], counts[1]);
    for (size_t i = 0; i < counts[0]; i++)
        ck_assert_str_eq(lines[0][i], lines[1][i]);
}

static char matched[4096];

static enum nt_status note(void *context, const struct nt_remote_match *match, struct nt_error *failure)
{
    strcat(matched, match->address + strlen(SERVER));
    strcat(matched, "\n");
    size_t length = strlen(match->path), name = strlen(match->name);
    ck_assert_str_eq(match->path + length - name, match->name);
    ck_assert_int_eq(match->address[strlen(match->address) - 1] == '/', match->is_folder);
    return NT_OK;
}

static enum nt_status expand(const char *pattern)
{
    struct nt_open_folders folders = {.count = 0};
    struct nt_arena *arena = nt_arena_new();
    matched[0] = looks[0] = '\0';
    set_up();
    process.answer = answer_list;
    enum nt_status status = nt_remote_pattern_expand(pattern, fetcher, arena, &folders, note, NULL, &error);
    ck_assert_uint_eq(fetcher->holders, 1 + folders.count); /* the others are closed */
    nt_open_folders_close(&folders);
    ck_assert_uint_eq(fetcher->holders, 1);
    tear_down();
    nt_arena_free(arena);
    return status;
}

static const char *const server[] = {"b/run2.root",
                                     "b/run10.root",
                                     "a-b/run1.root",
                                     "a/run1.root",
                                     "a/c/run1.root",
                                     "a/.hidden/run5.root",
                                     ".hidden/run6.root",
                                     "a/.run7.root",
                                     "a b/run 1*.root",
                                     "set.lance/_versions/1.manifest",
                                     "set.lance/data/run8.root",
                                     "run0.root",
                                     "other.txt",
                                     NULL};

static const struct {
    const char *pattern, *found, *looks;
} patterns[] = {
    {"/*.root", "/run0.root\n", "\n"},
    {"/a/run*", "/a/run1.root\n", "/a\n"},
    {"/a/.*", "/a/.hidden/\n/a/.run7.root\n", "/a\n"},
    {"/[ab]/run[0-9]*.root", "/a/run1.root\n/b/run10.root\n/b/run2.root\n", "\n/b\n/a\n"},
    {"/*/run1.root", "/a-b/run1.root\n/a/run1.root\n", "\n/b\n/a-b\n/a\n/a%20b\n/set.lance\n"},
    {"/**/run*.root",
     "/a%20b/run%201%2A.root\n/a-b/run1.root\n/a/c/run1.root\n/a/run1.root\n/b/run10.root\n"
     "/b/run2.root\n/run0.root\n",
     "\n/b\n/a-b\n/a\n/a/c\n/a%20b\n/set.lance\n"},
    {"/**/c/**/run*", "/a/c/run1.root\n", "\n/b\n/a-b\n/a\n/a/c\n/a%20b\n/set.lance\n"},
    {"/**/**/run1*", "/a-b/run1.root\n/a/c/run1.root\n/a/run1.root\n/b/run10.root\n",
     "\n/b\n/a-b\n/a\n/a/c\n/a%20b\n/set.lance\n"},
    {"/*/**/c/", "/a/c/\n", "\n/b\n/a-b\n/a\n/a/c\n/a%20b\n/set.lance\n"},
    {"/*/data/run*", "/set.lance/data/run8.root\n", "\n/b\n/a-b\n/a\n/a%20b\n/set.lance\n/set.lance/data\n"},
    {"/*.lance", "/set.lance/\n", "\n"},
    {"/**/*.lance", "/set.lance/\n", "\n/b\n/a-b\n/a\n/a/c\n/a%20b\n/set.lance\n"},
    {"/[ar]*/", "/a/\n/a%20b/\n/a-b/\n", "\n"},
    {"/**", "/a/\n/a%20b/\n/a-b/\n/b/\n/other.txt\n/run0.root\n/set.lance/\n", "\n"},
    {"/a%20b/run%201%2A*", "/a%20b/run%201%2A.root\n", "/a%20b\n"},
    {"/a/run%31[.]root", "/a/run1.root\n", "/a\n"},
};

TEST(names_are_matched_one_by_one_in_the_order_of_their_bytes, .end = sizeof(patterns) / sizeof(*patterns))
{
    char pattern[128];
    files = server;
    snprintf(pattern, sizeof(pattern), SERVER "%s", patterns[_i].pattern);
    assert_ok(expand(pattern));
    ck_assert_str_eq(matched, patterns[_i].found);
    assert_same_lines(looks, patterns[_i].looks);
}

static const char *const nothing[] = {
    "/none*", "/*/none", "/.*/x*", "/run0.root/*", "/**/.*/*.txt", "/set.lance/**/run*", "/[b", "/a%2Frun*"};

TEST(what_matches_nothing_is_reported, .end = sizeof(nothing) / sizeof(*nothing))
{
    char pattern[128], expected[256];
    files = server;
    snprintf(pattern, sizeof(pattern), SERVER "%s?token=secret", nothing[_i]);
    snprintf(expected, sizeof(expected), SERVER "%s: matches no file", nothing[_i]);
    assert_status(NT_NOT_FOUND, expand(pattern));
    ck_assert_str_eq(error.message, expected);
}

TEST(a_folder_that_cannot_be_listed_is_named_with_the_pattern)
{
    static const char *const some[] = {"a/run1.root", "broken/run2.root", NULL};
    files = some;
    assert_status(NT_UNREACHABLE, expand(SERVER "/**/*.root?token=secret"));
    ck_assert_ptr_nonnull(strstr(error.message, SERVER "/**/*.root: " SERVER "/broken"));
    ck_assert_ptr_nonnull(strstr(error.message, ": the server is silent"));
}

TEST(a_pattern_of_very_many_names_is_refused)
{
    char pattern[256] = SERVER;
    files = server;
    for (int i = 0; i < 64; i++)
        strcat(pattern, "/*");
    assert_status(NT_NOT_FOUND, expand(pattern));
    strcat(pattern, "/*");
    assert_status(NT_LIMIT, expand(pattern));
}

TEST(folders_without_an_end_come_to_one)
{
    files = NULL;
    assert_status(NT_LIMIT, expand(SERVER "/**/*.root"));
    ck_assert_ptr_nonnull(strstr(error.message, SERVER "/**/*.root: "));
}
