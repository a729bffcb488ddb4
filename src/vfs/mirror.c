/* SPDX-License-Identifier: MIT
 *
 * The children of groups and mirrored folders. Comes in: what lies in a folder now. Goes out: places for it;
 * a file that is still the same keeps its place.
 */
#include "vfs/sources_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vfs/folder.h"

/* ---- the children that are known ---- */

struct children_context {
    const struct nt_sources *sources;
    const uint32_t *children;
};

static const char *disk_name(const struct nt_sources *sources, uint32_t place)
{
    return sources->places[place]->disk_name;
}

static void ask_child(const void *context, uint32_t item, struct nt_name_wish *wish)
{
    const struct children_context *c = context;
    const char *name = disk_name(c->sources, c->children[item]);
    wish->text = (struct nt_text){name, strlen(name)};
    wish->rule = NT_NAME_DATASET;
}

static int compare_places(const void *left, const void *right, void *context)
{
    return strcmp(disk_name(context, *(const uint32_t *)left), disk_name(context, *(const uint32_t *)right));
}

static enum nt_status copy_names(struct nt_sources *sources, const struct nt_names *names,
                                 const uint32_t *children, uint32_t count, struct nt_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        struct nt_place *child = sources->places[children[i]];
        const char *name = nt_names_get(names, i);
        if (strcmp(child->name, name) == 0)
            continue;
        name = nt_arena_copy(sources->arena, name, strlen(name));
        if (!name)
            return nt_fail_memory(error);
        child->name = name;
    }
    return NT_OK;
}

enum nt_status nt_sources_set_children(struct nt_sources *sources, struct nt_place *folder,
                                       uint32_t *children, uint32_t count, struct nt_error *error)
{
    struct children_context context = {sources, children};
    struct nt_names *names = NULL;
    uint32_t *by_name = calloc(count + 1, sizeof(uint32_t));
    enum nt_status status = by_name ? NT_OK : nt_fail_memory(error);
    if (status == NT_OK)
        status = nt_names_build(count, ask_child, &context, &names, error);
    if (status == NT_OK)
        status = copy_names(sources, names, children, count, error);
    if (status != NT_OK) {
        nt_names_free(names);
        free(by_name);
        free(children);
        return status;
    }
    if (count)
        memcpy(by_name, children, count * sizeof(uint32_t));
    qsort_r(by_name, count, sizeof(uint32_t), compare_places, sources);
    nt_names_free(folder->names);
    free(folder->children);
    free(folder->by_name);
    folder->names = names;
    folder->children = children;
    folder->by_name = by_name;
    folder->child_count = count;
    return NT_OK;
}

/* ---- scanning ---- */

static struct nt_place *known_child(const struct nt_sources *sources, const struct nt_place *folder,
                                    const struct nt_folder_entry *found)
{
    uint32_t low = 0, high = folder->child_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct nt_place *child = sources->places[folder->by_name[middle]];
        int order = strcmp(child->disk_name, found->name);
        if (order == 0)
            return nt_folder_is_same(&child->identity, &found->stat) ? child : NULL;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static struct nt_place *new_child(struct nt_sources *sources, const struct nt_place *folder,
                                  const struct nt_folder_entry *found)
{
    const char *path = nt_arena_format(sources->arena, "%s/%s", folder->path, found->name);
    if (!path)
        return NULL;
    struct nt_place *place =
        nt_sources_add(sources, folder->number, path, found->is_folder ? NT_PLACE_FOLDER : NT_PLACE_FILE);
    if (place)
        place->identity = found->stat;
    return place;
}

static int compare_numbers(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Under the lock: the folder's children are what was found. */
static enum nt_status merge(struct nt_sources *sources, struct nt_place *folder,
                            const struct nt_folder_entry *entries, size_t count, struct nt_error *error)
{
    uint32_t *children = calloc(count + 1, sizeof(uint32_t));
    bool is_changed = count != folder->child_count || !folder->names;
    if (!children)
        return nt_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        struct nt_place *place = known_child(sources, folder, &entries[i]);
        if (!place) {
            is_changed = true;
            place = new_child(sources, folder, &entries[i]);
        }
        if (!place) {
            free(children);
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s: too many files", folder->path);
        }
        children[i] = place->number;
    }
    if (!is_changed) {
        free(children);
        return NT_OK;
    }
    qsort(children, count, sizeof(uint32_t), compare_numbers);
    return nt_sources_set_children(sources, folder, children, (uint32_t)count, error);
}

/* A folder's time of modification tells a change only if it is older than the clock's step. */
static bool is_settled(const struct timespec *modified)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > modified->tv_sec + 1;
}

enum nt_status nt_sources_scan(struct nt_sources *sources, uint32_t number, struct nt_error *error)
{
    struct nt_place *folder = nt_sources_get(sources, number);
    struct nt_folder_entry *entries = NULL;
    size_t count = 0;
    struct stat attributes;
    if (folder->kind != NT_PLACE_FOLDER)
        return NT_OK;
    enum nt_status status = nt_folder_stat(folder->path, &attributes, error);
    bool settled = status == NT_OK && is_settled(&attributes.st_mtim);
    if (status == NT_OK)
        status = nt_folder_read(folder->path, &entries, &count, error);
    if (status != NT_OK)
        return status;
    pthread_mutex_lock(&sources->lock);
    status = merge(sources, folder, entries, count, error);
    if (status == NT_OK) {
        folder->modified = attributes.st_mtim;
        folder->is_settled = settled;
    }
    pthread_mutex_unlock(&sources->lock);
    nt_folder_free(entries, count);
    return status;
}

/* ---- looking ---- */

uint32_t nt_sources_next(struct nt_sources *sources, uint32_t number, uint32_t from)
{
    const struct nt_place *folder = nt_sources_get(sources, number);
    uint32_t found = NT_NONE;
    pthread_mutex_lock(&sources->lock);
    uint32_t low = 0, high = folder->child_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (folder->children[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < folder->child_count)
        found = folder->children[low];
    pthread_mutex_unlock(&sources->lock);
    return found;
}

static uint32_t find_known(struct nt_sources *sources, const struct nt_place *folder, const char *name)
{
    pthread_mutex_lock(&sources->lock);
    uint32_t position = folder->names ? nt_names_find(folder->names, 0, name) : NT_NONE;
    uint32_t found = position == NT_NONE ? NT_NONE : folder->children[position];
    pthread_mutex_unlock(&sources->lock);
    return found;
}

/* Whether what was found, or not found, by the last scan is still so. */
static bool is_current(struct nt_sources *sources, const struct nt_place *folder, uint32_t found)
{
    struct stat now;
    const struct nt_place *child = found == NT_NONE ? NULL : nt_sources_get(sources, found);
    if (child)
        return nt_folder_stat(child->path, &now, NULL) == NT_OK && nt_folder_is_same(&now, &child->identity);
    if (nt_folder_stat(folder->path, &now, NULL) != NT_OK)
        return false;
    pthread_mutex_lock(&sources->lock);
    bool is_same = folder->is_settled && folder->modified.tv_sec == now.st_mtim.tv_sec &&
                   folder->modified.tv_nsec == now.st_mtim.tv_nsec;
    pthread_mutex_unlock(&sources->lock);
    return is_same;
}

uint32_t nt_sources_find(struct nt_sources *sources, uint32_t number, const char *name)
{
    const struct nt_place *folder = nt_sources_get(sources, number);
    uint32_t found = find_known(sources, folder, name);
    if (folder->kind != NT_PLACE_FOLDER || is_current(sources, folder, found))
        return found;
    return nt_sources_scan(sources, number, NULL) == NT_OK ? find_known(sources, folder, name) : NT_NONE;
}
