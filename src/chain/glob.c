/* SPDX-License-Identifier: MIT
 *
 * Expands glob patterns with *, ?, [] and ** (any number of directories) in byte order. Local patterns
 * use glob(3) and fts(3); remote patterns list one server directory per request.
 */
#include "chain/chain.h"

#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <glob.h>

#include "core/io/address.h"
#include "formats/formats.h"

/* ---- Local patterns ---- */

#define ANY_FOLDERS "/**/"

/* Matches so far. */
struct matches {
    char **paths;
    size_t count, capacity;
};

static enum nt_status add_path(struct matches *matches, const char *path, struct nt_error *error)
{
    NT_TRY(nt_check_memory(NT_GROW(matches->paths, matches->count, matches->capacity), error));
    char *copy = strdup(path);
    NT_TRY(nt_check_memory(copy, error));
    matches->paths[matches->count++] = copy;
    return NT_OK;
}

static void free_matches(struct matches *matches)
{
    for (size_t i = 0; i < matches->count; i++)
        free(matches->paths[i]);
    free(matches->paths);
}

/* Some directories lack what the rest of the pattern names; that is no error. */
static int is_fault(const char *path, int problem)
{
    return problem != ENOENT && problem != ENOTDIR;
}

static enum nt_status match_plain(const char *pattern, struct matches *matches, struct nt_error *error)
{
    NT_CLEANUP(globfree) glob_t found = {0};
    int problem = glob(pattern, 0, is_fault, &found);
    if (problem == GLOB_NOSPACE)
        return nt_fail_memory(error);
    if (problem && problem != GLOB_NOMATCH)
        return nt_fail_system(error, errno, "%s: cannot read a directory", pattern);
    for (size_t i = 0; i < found.gl_pathc; i++)
        NT_TRY(add_path(matches, found.gl_pathv[i], error));
    return NT_OK;
}

/* ---- Any number of directories ---- */

static enum nt_status match_pattern(const char *pattern, struct matches *matches, struct nt_error *error);

void nt_pattern_append_escaped(struct nt_buffer *pattern, struct nt_text path)
{
    for (size_t i = 0; i < path.length; i++) {
        if (strchr("*?[\\", path.bytes[i]))
            nt_buffer_append_byte(pattern, '\\');
        nt_buffer_append_byte(pattern, path.bytes[i]);
    }
}

/* Matches the rest of a pattern in a directory. */
static enum nt_status match_in(const char *folder, const char *rest, struct matches *matches,
                               struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer pattern = {0};
    nt_pattern_append_escaped(&pattern, nt_text_of(folder));
    nt_buffer_append_format(&pattern, "/%s", rest);
    return pattern.failed ? nt_fail_memory(error) : match_pattern(pattern.bytes, matches, error);
}

/* Handles an entry of a walk. Enters directories, except hidden ones and datasets. */
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

NT_DEFINE_CLEANUP(FTS, fts_close)

/* Is the last name of the pattern this directory's, without wildcards? */
static bool is_named(const char *pattern, const char *folder)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    nt_pattern_append_escaped(&name, nt_path_name(folder));
    return nt_text_is(nt_path_name(pattern), nt_buffer_string(&name));
}

static enum nt_status match_below(char *folder, bool follows_link, const char *rest, struct matches *matches,
                                  struct nt_error *error)
{
    char *const paths[] = {folder, NULL};
    FTSENT *entry;
    NT_CLEANUP(fts_close_at)
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | (follows_link ? FTS_COMFOLLOW : 0), NULL);
    if (!walk)
        return nt_fail_system(error, errno, "%s", folder);
    while ((errno = 0, entry = fts_read(walk)))
        NT_TRY(visit(walk, entry, rest, matches, error));
    return errno ? nt_fail_system(error, errno, "%s", folder) : NT_OK;
}

/* Expands the first "**" in all directories below its prefix; further ones recursively. */
static enum nt_status match_pattern(const char *pattern, struct matches *matches, struct nt_error *error)
{
    const char *any = strstr(pattern, ANY_FOLDERS);
    if (!any)
        return match_plain(pattern, matches, error);
    NT_CLEANUP(free_matches) struct matches folders = {0};
    NT_AUTO_FREE char *front = strndup(pattern, any > pattern ? (size_t)(any - pattern) : 1);
    NT_TRY(front ? match_plain(front, &folders, error) : nt_fail_memory(error));
    for (size_t i = 0; i < folders.count; i++)
        NT_TRY(match_below(folders.paths[i], is_named(front, folders.paths[i]), any + strlen(ANY_FOLDERS),
                           matches, error));
    return NT_OK;
}

enum nt_status nt_pattern_expand(const char *pattern, nt_pattern_take *take, void *context,
                                 struct nt_error *error)
{
    NT_CLEANUP(free_matches) struct matches matches = {0};
    NT_TRY(match_pattern(pattern, &matches, error));
    if (matches.count == 0)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: matches no file", pattern);
    qsort(matches.paths, matches.count, sizeof(char *), nt_compare_strings);
    for (size_t i = 0; i < matches.count; i++)
        if (i == 0 || strcmp(matches.paths[i], matches.paths[i - 1]) != 0)
            NT_TRY(take(context, matches.paths[i], error));
    return NT_OK;
}

/* ---- Remote patterns ---- */

/* A server can present endless nesting. Each name of a pattern has a bit in a 64-bit set. */
enum { MAX_NAMES = 64, MAX_DEPTH = 64, MAX_FOLDERS = 1 << 14, MAX_THREADS = 15 };

/* A pattern, split into names. A set of names has a bit for each. */
struct glob_pattern {
    const char *names[MAX_NAMES];
    unsigned count;
    uint64_t anywhere; /* names that are "**": the next may match in this directory and all below */
    bool is_of_folders;
};

/* A directory to list once, for all names of the pattern that apply there. */
struct task {
    const char *address;
    const char *path; /* as in a match; "": the first directory */
    unsigned depth;
    uint64_t requested;
    struct nt_folder *folder;
    bool is_kept; /* it contains a match */
    struct task *next;
};

struct glob_walk {
    struct nt_fetcher *fetcher;
    const struct glob_pattern *pattern;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    struct nt_arena *arena;
    struct nt_open_folders *folders;
    struct nt_remote_match *matches;
    size_t count, capacity;
    struct task *tasks;
    unsigned task_count, busy; /* tasks so far, and tasks in progress */
    pthread_t threads[MAX_THREADS];
    unsigned thread_count;
    struct nt_error failure; /* the first one; NT_OK: none */
};

/* ---- Matches ---- */

/* Requires the lock. */
static enum nt_status keep(struct glob_walk *walk, struct task *task, struct nt_error *error)
{
    struct nt_open_folders *folders = walk->folders;
    if (task->is_kept)
        return NT_OK;
    NT_TRY(nt_check_memory(NT_GROW(folders->items, folders->count, folders->capacity), error));
    folders->items[folders->count++] = task->folder;
    task->is_kept = true;
    return NT_OK;
}

static char *address_below(const struct glob_walk *walk, const struct task *task, const char *name,
                           bool is_folder)
{
    NT_AUTO_FREE char *address = nt_address_below(task->address, name, is_folder);
    return address ? nt_arena_copy(walk->arena, address, strlen(address)) : NULL;
}

static char *path_below(const struct glob_walk *walk, const struct task *task, const char *name)
{
    return nt_arena_format(walk->arena, "%s%s%s", task->path, *task->path ? "/" : "", name);
}

/* Requires the lock. */
static enum nt_status add_match(struct glob_walk *walk, struct task *task, const char *name, bool is_folder,
                                struct nt_error *error)
{
    NT_TRY(keep(walk, task, error));
    NT_TRY(nt_check_memory(NT_GROW(walk->matches, walk->count, walk->capacity), error));
    struct nt_remote_match *match = &walk->matches[walk->count];
    *match = (struct nt_remote_match){.path = path_below(walk, task, name),
                                      .address = address_below(walk, task, name, is_folder),
                                      .folder = task->folder,
                                      .name = nt_arena_copy(walk->arena, name, strlen(name)),
                                      .is_folder = is_folder};
    walk->count++;
    return match->path && match->address && match->name ? NT_OK : nt_fail_memory(error);
}

/* ---- Directories ---- */

static enum nt_status list_matches(struct glob_walk *walk, struct task *task, struct nt_error *error);
static void *work(void *argument);

/* Requires the lock. Listing mostly waits for the server, so threads list directories in parallel. */
static enum nt_status add_task(struct glob_walk *walk, const struct task *task, struct nt_error *error)
{
    if (task->depth == MAX_DEPTH || walk->task_count == MAX_FOLDERS)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "the pattern needs more than %d directories, or more than %d nested ones", MAX_FOLDERS,
                       MAX_DEPTH);
    struct task *copy = nt_arena_alloc(walk->arena, 1, sizeof(*copy));
    NT_TRY(nt_check_memory(copy, error));
    *copy = *task;
    copy->next = walk->tasks;
    walk->tasks = copy;
    walk->task_count++;
    pthread_cond_signal(&walk->changed);
    if (walk->busy && !walk->failure.status && walk->thread_count < MAX_THREADS &&
        nt_thread_start(&walk->threads[walk->thread_count], work, walk) == 0)
        walk->thread_count++;
    return NT_OK;
}

/* Requires the lock. */
static enum nt_status add_task_below(struct glob_walk *walk, const struct task *above, const char *name,
                                     uint64_t requested, struct nt_error *error)
{
    const struct task task = {.address = address_below(walk, above, name, false),
                              .path = path_below(walk, above, name),
                              .depth = above->depth + 1,
                              .requested = requested};
    return task.address && task.path ? add_task(walk, &task, error) : nt_fail_memory(error);
}

static enum nt_status do_task(struct glob_walk *walk, struct task *task, struct nt_error *error)
{
    NT_TRY(nt_folder_open_address(task->address, walk->fetcher, &task->folder, error));
    enum nt_status status = list_matches(walk, task, error);
    if (!task->is_kept)
        nt_folder_close(task->folder);
    return status;
}

/* Runs tasks until none is left or one fails. */
static void *work(void *argument)
{
    struct glob_walk *walk = argument;
    pthread_mutex_lock(&walk->lock);
    for (;;) {
        while (!walk->tasks && walk->busy && !walk->failure.status)
            pthread_cond_wait(&walk->changed, &walk->lock);
        struct task *task = walk->tasks;
        if (!task || walk->failure.status)
            break;
        walk->tasks = task->next;
        walk->busy++;
        pthread_mutex_unlock(&walk->lock);
        struct nt_error failure = {0};
        enum nt_status status = do_task(walk, task, &failure);
        pthread_mutex_lock(&walk->lock);
        walk->busy--;
        if (status != NT_OK && !walk->failure.status)
            walk->failure = failure;
        pthread_cond_broadcast(&walk->changed);
    }
    pthread_mutex_unlock(&walk->lock);
    return NULL;
}

/* ---- Names of a pattern ---- */

/* Splits a pattern into names, in place. A trailing slash matches only directories. */
static enum nt_status read_pattern(char *text, struct glob_pattern *pattern, struct nt_error *error)
{
    const size_t length = strlen(text);
    *pattern = (struct glob_pattern){.is_of_folders = length && text[length - 1] == '/'};
    for (char *rest = text, *name; (name = strtok_r(rest, "/", &rest)); pattern->count++) {
        if (pattern->count == MAX_NAMES)
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                           "the pattern has more than %d names from the first wildcard on", MAX_NAMES);
        pattern->names[pattern->count] = name;
    }
    for (unsigned i = 0; i + 1 < pattern->count; i++)
        if (strcmp(pattern->names[i], "**") == 0)
            pattern->anywhere |= UINT64_C(1) << i;
    return NT_OK;
}

/* The names to match in a directory. */
struct glob_filter {
    struct glob_walk *walk;
    struct task *task;
    uint64_t requested;
};

/* Does an entry match? Also returns the names to match below it. */
static bool match(const struct glob_filter *filter, const struct nt_folder_entry *entry, uint64_t *below_ret)
{
    const struct glob_pattern *pattern = filter->walk->pattern;
    bool is_folder = entry->kind == NT_ENTRY_FOLDER, is_match = false;
    uint64_t below = 0;
    for (unsigned i = 0; i < pattern->count; i++) {
        const uint64_t bit = UINT64_C(1) << i;
        if (!(filter->requested & bit))
            continue;
        if (pattern->anywhere & bit)
            below |= entry->name[0] == '.' ? 0 : bit;
        else if (fnmatch(pattern->names[i], entry->name, FNM_PERIOD) != 0)
            continue;
        else if (i + 1 < pattern->count)
            below |= bit << 1;
        else
            is_match = is_folder || !pattern->is_of_folders;
    }
    *below_ret = is_folder ? below : 0;
    return is_match;
}

static enum nt_status take_entry(void *context, const struct nt_folder_entry *entry, struct nt_error *error)
{
    const struct glob_filter *filter = context;
    uint64_t below;
    bool is_match = match(filter, entry, &below);
    if (!is_match && !below)
        return NT_OK;
    NT_MUTEX_GUARD(&filter->walk->lock);
    if (is_match)
        NT_TRY(add_match(filter->walk, filter->task, entry->name, entry->kind == NT_ENTRY_FOLDER, error));
    if (below)
        NT_TRY(add_task_below(filter->walk, filter->task, entry->name, below, error));
    return NT_OK;
}

/* "**" matches nothing inside directories that are datasets. */
static enum nt_status list_matches(struct glob_walk *walk, struct task *task, struct nt_error *error)
{
    const uint64_t anywhere = walk->pattern->anywhere;
    struct glob_filter filter = {walk, task, task->requested};
    bool is_dataset = false;
    for (uint64_t bit = 1; bit; bit <<= 1)
        if (filter.requested & anywhere & bit)
            filter.requested |= bit << 1;
    enum nt_status status =
        filter.requested & anywhere ? nt_is_dataset_folder(task->folder, &is_dataset, error) : NT_OK;
    if (is_dataset)
        filter.requested = task->requested & ~anywhere;
    if (status != NT_OK || !filter.requested)
        return status;
    return nt_folder_list(task->folder, "", take_entry, &filter, error);
}

/* ---- A whole pattern ---- */

static enum nt_status take_matches(struct glob_walk *walk, const char *shown, nt_remote_take *take,
                                   void *context, struct nt_error *error)
{
    if (walk->count == 0)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: matches no file", shown);
    qsort(walk->matches, walk->count, sizeof(*walk->matches), nt_compare_strings);
    for (size_t i = 0; i < walk->count; i++)
        NT_TRY(take(context, &walk->matches[i], error));
    return NT_OK;
}

/* Finds all matches in a directory and below. */
static enum nt_status find_matches(struct glob_walk *walk, const char *folder, struct nt_error *error)
{
    const struct task first = {.address = folder, .path = "", .requested = 1};
    NT_TRY(add_task(walk, &first, error));
    work(walk);
    while (walk->thread_count > 0) /* no thread starts any more */
        pthread_join(walk->threads[--walk->thread_count], NULL);
    return walk->failure.status ? nt_fail_copy(error, &walk->failure) : NT_OK;
}

enum nt_status nt_remote_pattern_expand(const char *pattern, struct nt_fetcher *fetcher,
                                        struct nt_arena *arena, struct nt_open_folders *folders,
                                        nt_remote_take *take, void *context, struct nt_error *error)
{
    NT_AUTO_FREE char *shown = nt_address_redact(pattern);
    char *folder, *names;
    NT_TRY(nt_check_memory(shown && nt_address_split_pattern(pattern, &folder, &names), error));
    struct glob_pattern parsed;
    struct glob_walk walk = {.fetcher = fetcher, .pattern = &parsed, .arena = arena, .folders = folders};
    pthread_mutex_init(&walk.lock, NULL);
    pthread_cond_init(&walk.changed, NULL);
    enum nt_status status = read_pattern(names, &parsed, error);
    if (status == NT_OK)
        status = find_matches(&walk, folder, error);
    nt_with_context(status, error, "%s", shown);
    if (status == NT_OK)
        status = take_matches(&walk, shown, take, context, error);
    pthread_cond_destroy(&walk.changed);
    pthread_mutex_destroy(&walk.lock);
    free(walk.matches);
    free(folder);
    free(names);
    return status;
}

void nt_open_folders_close(struct nt_open_folders *folders)
{
    for (size_t i = 0; i < folders->count; i++)
        nt_folder_close(folders->items[i]);
    free(folders->items);
}
