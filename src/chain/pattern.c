/* SPDX-License-Identifier: MIT
 *
 * In: a pattern. Out: the paths that it matches: glob(3), and fts(3) for what lies between.
 */
#include "chain/pattern.h"

#include <errno.h>
#include <fts.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buffer.h"
#include "core/base/grow.h"
#include "formats/format.h"

#define ANY_FOLDERS "/**/"

bool nt_is_pattern(const char *path)
{
    return strpbrk(path, "*?[") != NULL;
}

/* What was matched so far. */
struct matches {
    char **paths;
    size_t count, capacity;
};

static enum nt_status add(struct matches *matches, const char *path, struct nt_error *error)
{
    char **paths = nt_grow(matches->paths, matches->count, &matches->capacity, sizeof(char *));
    char *copy = strdup(path);
    if (paths)
        matches->paths = paths;
    if (!paths || !copy) {
        free(copy);
        return nt_fail_memory(error);
    }
    paths[matches->count++] = copy;
    return NT_OK;
}

static void free_matches(struct matches *matches)
{
    for (size_t i = 0; i < matches->count; i++)
        free(matches->paths[i]);
    free(matches->paths);
}

/* Not each folder has what the rest of a pattern asks for. */
static int is_fault(const char *path, int problem)
{
    (void)path;
    return problem != ENOENT && problem != ENOTDIR;
}

static enum nt_status match_plain(const char *pattern, struct matches *matches, struct nt_error *error)
{
    glob_t found = {0};
    int problem = glob(pattern, 0, is_fault, &found);
    enum nt_status status = NT_OK;
    if (problem == GLOB_NOSPACE)
        status = nt_fail_memory(error);
    else if (problem && problem != GLOB_NOMATCH)
        status = nt_fail_system(error, errno, "%s: a folder cannot be read", pattern);
    for (size_t i = 0; status == NT_OK && i < found.gl_pathc; i++)
        status = add(matches, found.gl_pathv[i], error);
    globfree(&found);
    return status;
}

/* ---- any folders ---- */

static enum nt_status match(const char *pattern, struct matches *matches, struct nt_error *error);

/* The rest of a pattern in a folder, as it is: its name may have what would be special in a pattern. */
static enum nt_status match_in(const char *folder, const char *rest, struct matches *matches,
                               struct nt_error *error)
{
    struct nt_buffer pattern = {0};
    for (const char *at = folder; *at; at++) {
        if (strchr("*?[\\", *at))
            nt_buffer_byte(&pattern, '\\');
        nt_buffer_byte(&pattern, *at);
    }
    nt_buffer_format(&pattern, "/%s", rest);
    enum nt_status status = pattern.failed ? nt_fail_memory(error) : match(pattern.bytes, matches, error);
    nt_buffer_deinit(&pattern);
    return status;
}

/* One entry of a walk: folders are entered, but hidden ones and data sets. */
static enum nt_status visit(FTS *walk, FTSENT *entry, const char *rest, struct matches *matches,
                            struct nt_error *error)
{
    bool is_one = false;
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
        return nt_fail_system(error, entry->fts_errno, "%s", entry->fts_path);
    if (entry->fts_info != FTS_D)
        return NT_OK;
    bool is_hidden = entry->fts_level > 0 && entry->fts_name[0] == '.';
    enum nt_status status = is_hidden ? NT_OK : nt_is_dataset_path(entry->fts_path, &is_one, error);
    if (is_hidden || is_one)
        fts_set(walk, entry, FTS_SKIP);
    return is_hidden || is_one || status != NT_OK ? status : match_in(entry->fts_path, rest, matches, error);
}

static enum nt_status match_below(char *folder, const char *rest, struct matches *matches,
                                  struct nt_error *error)
{
    char *const paths[] = {folder, NULL};
    FTSENT *entry;
    enum nt_status status = NT_OK;
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!walk)
        return nt_fail_system(error, errno, "%s", folder);
    while (status == NT_OK && (errno = 0, entry = fts_read(walk)))
        status = visit(walk, entry, rest, matches, error);
    if (status == NT_OK && errno)
        status = nt_fail_system(error, errno, "%s", folder);
    fts_close(walk);
    return status;
}

/* The first "**" may lie anywhere below what stands in front of it; another one behind it likewise. */
static enum nt_status match(const char *pattern, struct matches *matches, struct nt_error *error)
{
    const char *any = strstr(pattern, ANY_FOLDERS);
    if (!any)
        return match_plain(pattern, matches, error);
    struct matches folders = {0};
    char *front = strndup(pattern, any > pattern ? (size_t)(any - pattern) : 1);
    enum nt_status status = front ? match_plain(front, &folders, error) : nt_fail_memory(error);
    for (size_t i = 0; status == NT_OK && i < folders.count; i++)
        status = match_below(folders.paths[i], any + strlen(ANY_FOLDERS), matches, error);
    free(front);
    free_matches(&folders);
    return status;
}

static int compare(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

enum nt_status nt_pattern_expand(const char *pattern, nt_pattern_take *take, void *context,
                                 struct nt_error *error)
{
    struct matches matches = {0};
    enum nt_status status = match(pattern, &matches, error);
    if (status == NT_OK && matches.count == 0)
        status = nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: matches no file", pattern);
    if (matches.count)
        qsort(matches.paths, matches.count, sizeof(char *), compare);
    for (size_t i = 0; status == NT_OK && i < matches.count; i++)
        if (i == 0 || strcmp(matches.paths[i], matches.paths[i - 1]) != 0)
            status = take(context, matches.paths[i], error);
    free_matches(&matches);
    return status;
}
