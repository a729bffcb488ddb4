/* SPDX-License-Identifier: MIT
 *
 * A list of files, next to a directory with a few files. A refused list has a message, and each directory of
 * an accepted one has a path.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chain/chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
int __real_glob64(const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *found);
int __wrap_glob64(const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *found);
FTS *__real_fts64_open(char *const *paths, int options, int (*compare)(const FTSENT **, const FTSENT **));
FTS *__wrap_fts64_open(char *const *paths, int options, int (*compare)(const FTSENT **, const FTSENT **));

static char folder[] = "/tmp/fuzz_list-XXXXXX";

/* Patterns search only this directory: a fuzzer would walk the whole machine. A pattern such as ".*" matches
 * the directory above. */
static bool is_within(const char *path)
{
    return strncmp(path, folder, strlen(folder)) == 0 && !strstr(path, "/.");
}

int __wrap_glob64(const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *found)
{
    memset(found, 0, sizeof(*found));
    return is_within(pattern) ? __real_glob64(pattern, flags, on_error, found) : GLOB_NOMATCH;
}

FTS *__wrap_fts64_open(char *const *paths, int options, int (*compare)(const FTSENT **, const FTSENT **))
{
    errno = ENOENT;
    return is_within(paths[0]) ? __real_fts64_open(paths, options, compare) : NULL;
}

static void write_file(const char *name, const void *bytes, size_t count)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, count) != (ssize_t)count)
        abort();
    close(file);
}

static void remove_folder(void)
{
    char words[64];
    snprintf(words, sizeof(words), "rm -rf '%s'", folder);
    if (system(words) != 0)
        perror(folder);
}

static void make_folder(void)
{
    char path[64];
    if (!mkdtemp(folder) || atexit(remove_folder) != 0)
        abort();
    snprintf(path, sizeof(path), "%s/d", folder);
    if (mkdir(path, 0700) != 0)
        abort();
    snprintf(path, sizeof(path), "%s/link", folder);
    if (symlink(".", path) != 0)
        abort();
    write_file("d/a.root", "", 0);
    write_file("b.root", "", 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static bool is_made;
    char path[64];
    const char *operand = path;
    struct nt_error error = {0};
    struct nt_chain_list *list;
    if (!is_made)
        make_folder();
    is_made = true;
    write_file("list.txt", bytes, count);
    snprintf(path, sizeof(path), "%s/list.txt", folder);
    enum nt_status status = nt_chain_list_new(&operand, 1, count % 2, &list, &error);
    if (status != NT_OK) {
        if (error.status != status || !error.message[0])
            abort();
        return 0;
    }
    for (uint32_t i = 0; i < list->folder_count; i++)
        if (!list->folders[i][0])
            abort();
    if (!list->count)
        abort();
    nt_chain_list_free(list);
    return 0;
}
