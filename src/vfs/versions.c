/* SPDX-License-Identifier: MIT
 *
 * Versions of a dataset: which one is shown now, revalidated by a stat of a few files at each lookup,
 * and the inodes of the others, which versions.d finds by number.
 */

#include "vfs/vfs.h"

/* A version as it is on disk. */
struct version_on_disk {
    struct nt_dataset_version version; /* all zeros: no versions */
    struct stat file;
    struct nt_watched watched[NT_VERSION_WATCHED]; /* without names */
};

/* Returns memory from malloc, or NULL. */
__attribute__((format(printf, 1, 2))) static char *format(const char *format, ...)
{
    struct nt_buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    nt_buffer_format_list(&text, format, arguments);
    va_end(arguments);
    return nt_buffer_take(&text);
}

static void on_disk_deinit(struct version_on_disk *on_disk)
{
    nt_version_deinit(&on_disk->version);
}

static enum nt_status stat_below(const struct nt_inode *dataset, const char *name, struct stat *attributes,
                                 struct nt_error *error)
{
    if (dataset->folder)
        return nt_folder_stat(dataset->folder, name, attributes, error);
    NT_AUTO_FREE char *path = format("%s/%s", dataset->path, name);
    return path ? nt_local_stat(path, attributes, error) : nt_fail_memory(error);
}

static enum nt_status stat_watched(const struct nt_inode *dataset, const char *name,
                                   struct nt_watched *watched, struct nt_error *error)
{
    enum nt_status status = stat_below(dataset, name, &watched->was, error);
    if (status == NT_NOT_FOUND) {
        watched->was = (struct stat){0};
        status = NT_OK;
    }
    watched->is_mtime_reliable = status == NT_OK && nt_local_mtime_is_reliable(&watched->was);
    if (status == NT_OK && dataset->folder)
        status = nt_folder_refresh(dataset->folder, name, &watched->list, error);
    return status;
}

/* The next search notices changes during this one: the mtimes of watched files are then not reliable. */
static enum nt_status find_version(const struct nt_inode_table *inodes, const struct nt_inode *dataset,
                                   const char *requested, struct version_on_disk *on_disk,
                                   struct nt_error *error)
{
    struct nt_open_options options = inodes->vfs->options.open;
    options.version = requested;
    NT_TRY(dataset->folder ? nt_find_version_in(dataset->folder, &options, &on_disk->version, error)
                           : nt_find_version(dataset->path, &options, &on_disk->version, error));
    if (!on_disk->version.file)
        return NT_OK;
    NT_TRY(stat_below(dataset, on_disk->version.file, &on_disk->file, error));
    for (size_t i = 0; i < NT_VERSION_WATCHED && on_disk->version.watched[i]; i++)
        NT_TRY(stat_watched(dataset, on_disk->version.watched[i], &on_disk->watched[i], error));
    return NT_OK;
}

/* ---- Inodes of versions, under the lock ---- */

/* Is the inode that of a version with this number, in this series, read from this file? */
static bool is_version(const struct nt_inode *inode, uint64_t number, const char *series,
                       const struct stat *file)
{
    return inode->version_number == number && strcmp(inode->series, series) == 0 &&
           nt_local_is_same(&inode->identity, file);
}

static struct nt_inode *inode_of(struct nt_hash_link *link)
{
    return NT_CONTAINER_OF(link, struct nt_inode, by_version);
}

/* Ignores retired inodes: one could be freed while the caller uses it. */
static struct nt_inode *known_version(const struct nt_version_history *history,
                                      const struct version_on_disk *on_disk, enum nt_lookup_route route)
{
    for (struct nt_hash_link *link = nt_hash_table_find(&history->versions, on_disk->version.number); link;
         link = nt_hash_table_next(link)) {
        struct nt_inode *inode = inode_of(link);
        if (!inode->is_retired && inode->route == route &&
            is_version(inode, on_disk->version.number, on_disk->version.series, &on_disk->file))
            return inode;
    }
    return NULL;
}

struct nt_inode *nt_history_twin(struct nt_inode_table *inodes, const struct nt_inode *inode)
{
    if (!nt_inode_is_version(inode) || !inode->version)
        return NULL;
    const struct nt_version_history *history = inodes->list[inode->parent]->history;
    for (struct nt_hash_link *link = nt_hash_table_find(&history->versions, inode->version_number); link;
         link = nt_hash_table_next(link)) {
        struct nt_inode *other = inode_of(link);
        if (other != inode && other->version &&
            is_version(other, inode->version_number, inode->series, &inode->identity))
            return other;
    }
    return NULL;
}

static bool fill_version(const struct nt_inode *dataset, struct nt_inode *inode,
                         const struct version_on_disk *on_disk, enum nt_lookup_route route)
{
    const struct nt_dataset_version *found = &on_disk->version;
    inode->identity = on_disk->file;
    inode->route = route;
    inode->version_number = found->number;
    inode->series = strdup(found->series);
    inode->name = format("%llu", (unsigned long long)found->number);
    if (!found->is_state)
        inode->version = format("%s%llu", found->series, (unsigned long long)found->number);
    inode->identity_path = format("%s/%s", inode->path, found->file);
    inode->is_remote = dataset->is_remote;
    inode->is_remote_probed = dataset->is_remote_probed;
    inode->folder = dataset->folder;
    if (inode->folder)
        nt_folder_ref(inode->folder);
    return inode->series && inode->name && (found->is_state || inode->version) && inode->identity_path;
}

static enum nt_status find_or_add_version(struct nt_inode_table *inodes, struct nt_inode *dataset,
                                          const struct version_on_disk *on_disk, enum nt_lookup_route route,
                                          struct nt_inode **inode_ret, struct nt_error *error)
{
    struct nt_version_history *history = dataset->history;
    if ((*inode_ret = known_version(history, on_disk, route)))
        return NT_OK;
    NT_TRY(nt_inodes_add(inodes, dataset->number, dataset->path, NT_INODE_FILE, inode_ret, error));
    if (!fill_version(dataset, *inode_ret, on_disk, route)) {
        nt_inodes_unlink(inodes, *inode_ret);
        return nt_fail_memory(error);
    }
    nt_hash_table_insert(&history->versions, &(*inode_ret)->by_version, on_disk->version.number);
    return NT_OK;
}

/* ---- The current version ---- */

/* Takes the names. */
static void watch(struct nt_version_history *history, struct version_on_disk *on_disk)
{
    for (size_t i = 0; i < NT_VERSION_WATCHED; i++) {
        free(history->watched[i].name);
        history->watched[i] = on_disk->watched[i];
        history->watched[i].name = on_disk->version.watched[i];
        on_disk->version.watched[i] = NULL;
    }
}

static enum nt_status make_history(struct nt_inode *dataset, struct nt_error *error)
{
    if (dataset->history)
        return NT_OK;
    struct nt_version_history *history = calloc(1, sizeof(*history));
    if (!history || !nt_hash_table_init(&history->versions)) {
        free(history);
        return nt_fail_memory(error);
    }
    history->shown = NT_NONE;
    dataset->history = history;
    return NT_OK;
}

/* Stores the version that a search found. Call it under the lock. */
static enum nt_status store_version(struct nt_inode_table *inodes, struct nt_inode *dataset,
                                    struct version_on_disk *on_disk, struct nt_error *error)
{
    dataset->may_have_versions = on_disk->version.file != NULL;
    if (!dataset->may_have_versions)
        return NT_OK;
    NT_TRY(make_history(dataset, error));
    struct nt_inode *shown;
    NT_TRY(find_or_add_version(inodes, dataset, on_disk, NT_ROUTE_CURRENT, &shown, error));
    watch(dataset->history, on_disk);
    uint32_t former = dataset->history->shown;
    dataset->history->shown = shown->number;
    if (former != NT_NONE && former != shown->number)
        nt_inodes_retire(inodes, inodes->list[former]);
    dataset->kind = NT_INODE_FILE;
    return NT_OK;
}

/* Is the watched path unchanged? Local paths need a stat; remote directories are listed again at
 * intervals. Call it without the lock. */
static bool is_as_it_was(const struct nt_inode *dataset, const struct nt_watched *watched)
{
    struct stat now = {0};
    uint64_t list;
    if (!dataset->folder) {
        enum nt_status status =
            watched->is_mtime_reliable ? stat_below(dataset, watched->name, &now, NULL) : NT_INVALID;
        return (status == NT_OK || (status == NT_NOT_FOUND && !watched->was.st_ino)) &&
               nt_local_is_unchanged(&now, &watched->was);
    }
    return nt_folder_refresh(dataset->folder, watched->name, &list, NULL) == NT_OK && list == watched->list;
}

/* Call it under the lock, which it releases meanwhile. */
static bool is_current(struct nt_inode_table *inodes, const struct nt_inode *dataset)
{
    if (!dataset->history || dataset->kind != NT_INODE_FILE)
        return false;
    struct nt_watched watched[NT_VERSION_WATCHED];
    size_t count = 0, copied = 0;
    bool is_same = true;
    for (; count < NT_VERSION_WATCHED && dataset->history->watched[count].name; count++)
        watched[count] = dataset->history->watched[count];
    for (; copied < count && is_same; copied += is_same)
        is_same = (watched[copied].name = strdup(watched[copied].name)) != NULL;
    pthread_mutex_unlock(&inodes->lock);
    for (size_t i = 0; i < count && is_same; i++)
        is_same = is_as_it_was(dataset, &watched[i]);
    while (copied > 0)
        free(watched[--copied].name);
    pthread_mutex_lock(&inodes->lock);
    return is_same;
}

/* Finds the current version while other threads wait. Under the lock; releases it meanwhile. */
static void look_again(struct nt_inode_table *inodes, struct nt_inode *dataset)
{
    NT_CLEANUP(on_disk_deinit) struct version_on_disk on_disk = {.version.number = 0};
    struct nt_error failure = {0};
    dataset->is_opening = true;
    pthread_mutex_unlock(&inodes->lock);
    nt_vfs_before_blocking(inodes->vfs);
    enum nt_status status =
        find_version(inodes, dataset, inodes->vfs->options.open.version, &on_disk, &failure);
    pthread_mutex_lock(&inodes->lock);
    if (status == NT_OK)
        status = store_version(inodes, dataset, &on_disk, &failure);
    if (status != NT_OK)
        nt_inode_fail(dataset, &failure);
    nt_inode_end_opening(inodes, dataset);
}

struct nt_inode *nt_history_current(struct nt_inode_table *inodes, struct nt_inode *inode)
{
    while (inode->is_opening)
        pthread_cond_wait(&inodes->was_opened, &inodes->lock);
    if (!inode->may_have_versions)
        return inode;
    bool is_known = is_current(inodes, inode);
    while (inode->is_opening) { /* another thread looks; its result is current */
        pthread_cond_wait(&inodes->was_opened, &inodes->lock);
        is_known = !inode->is_opening;
    }
    if (!is_known)
        look_again(inodes, inode);
    if (inode->kind == NT_INODE_FAILED)
        return NULL;
    return inode->may_have_versions ? inodes->list[inode->history->shown] : inode;
}

/* ---- versions.d ---- */

/* A number may also be the name of a tag. Accepts only the version with this number. */
static enum nt_status find(struct nt_inode_table *inodes, struct nt_inode *dataset,
                           const struct nt_inode *sibling, uint64_t number, struct version_on_disk *on_disk,
                           struct nt_error *error)
{
    NT_AUTO_FREE char *requested = format("%s%llu", sibling->series, (unsigned long long)number);
    NT_TRY(nt_check_memory(requested, error));
    NT_TRY(find_version(inodes, dataset, requested, on_disk, error));
    bool is_found = on_disk->version.file && on_disk->version.number == number &&
                    strcmp(on_disk->version.series, sibling->series) == 0;
    return is_found ? NT_OK : nt_fail_no_such_file(error);
}

enum nt_status nt_history_find(struct nt_inode_table *inodes, uint32_t version, uint64_t number,
                               uint32_t *version_ret, struct nt_error *error)
{
    const struct nt_inode *sibling = nt_inodes_get(inodes, version);
    struct nt_inode *dataset = nt_inodes_get(inodes, sibling->parent);
    NT_CLEANUP(on_disk_deinit) struct version_on_disk on_disk = {.version.number = 0};
    struct nt_inode *inode;
    NT_TRY(find(inodes, dataset, sibling, number, &on_disk, error));
    NT_MUTEX_GUARD(&inodes->lock);
    NT_TRY(find_or_add_version(inodes, dataset, &on_disk, NT_ROUTE_VERSION, &inode, error));
    *version_ret = inode->number;
    return NT_OK;
}

/* ---- Listings of versions.d ---- */

struct version_list {
    uint64_t *numbers;
    size_t count, capacity;
};

static enum nt_status take_number(void *context, uint64_t number, struct nt_error *error)
{
    struct version_list *list = context;
    NT_TRY(nt_check_memory(NT_GROW(list->numbers, list->count, list->capacity), error));
    list->numbers[list->count++] = number;
    return NT_OK;
}

/* Sorts the list, drops equal numbers (a manifest can have two names), and keeps the largest. */
static void put_in_order(struct version_list *list)
{
    size_t kept = 0;
    if (list->count)
        qsort(list->numbers, list->count, sizeof(*list->numbers), nt_compare_u64);
    for (size_t i = 0; i < list->count; i++)
        if (i == 0 || list->numbers[i] != list->numbers[kept - 1])
            list->numbers[kept++] = list->numbers[i];
    list->count = kept < NT_MAX_VERSIONS ? kept : NT_MAX_VERSIONS;
    if (kept > list->count)
        memmove(list->numbers, list->numbers + (kept - list->count), list->count * sizeof(*list->numbers));
}

enum nt_status nt_history_list(struct nt_inode_table *inodes, uint32_t version,
                               const struct nt_dataset *dataset, struct nt_error *error)
{
    struct version_list list = {0};
    const struct nt_inode *sibling = nt_inodes_get(inodes, version);
    if (!dataset->ops || !dataset->ops->each_version)
        return NT_OK;
    enum nt_status status = dataset->ops->each_version(dataset, take_number, &list, error);
    if (status == NT_OK) {
        put_in_order(&list);
        pthread_mutex_lock(&inodes->lock);
        struct nt_version_history *history = inodes->list[sibling->parent]->history;
        uint64_t *former = history->listed;
        history->listed = list.numbers;
        history->listed_count = list.count;
        list.numbers = former;
        pthread_mutex_unlock(&inodes->lock);
    }
    free(list.numbers);
    return status;
}

NT_DEFINE_COUNT_UP_TO(numbers_up_to, uint64_t, )

bool nt_history_next(struct nt_inode_table *inodes, uint32_t version, uint64_t *number)
{
    const struct nt_inode *sibling = nt_inodes_get(inodes, version);
    NT_MUTEX_GUARD(&inodes->lock);
    const struct nt_version_history *history = inodes->list[sibling->parent]->history;
    size_t first = *number ? numbers_up_to(history->listed, history->listed_count, *number - 1) : 0;
    bool is_found = first < history->listed_count;
    if (is_found)
        *number = history->listed[first];
    return is_found;
}
