/* SPDX-License-Identifier: MIT
 *
 * Passthrough directories, whose children follow a local or remote directory. Rescans keep the inodes of
 * unchanged files and retire the others. A remote entry is probed on first access: data file, dataset
 * directory or plain directory.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "formats/formats.h"
#include "vfs/inode.h"
#include "vfs/vfs.h"

/* ---- Probe remote entries ---- */

bool nt_place_is_listed(const struct nt_places *places, const struct nt_place *place)
{
    return place->is_remote && place->number != place->parent &&
           places->list[place->parent]->kind == NT_PLACE_FOLDER;
}

bool nt_places_is_listed(struct nt_places *places, uint32_t number, bool *is_probed_ret)
{
    pthread_mutex_lock(&places->lock);
    const struct nt_place *place = number < places->count ? places->list[number] : NULL;
    bool is_listed = place && nt_place_is_listed(places, place);
    *is_probed_ret = is_listed && (place->is_probed || place->is_entered);
    pthread_mutex_unlock(&places->lock);
    return is_listed;
}

/* ---- entering ---- */

/* What was found: a source, or a folder; of a file that a list tells of neither. */
struct probe_result {
    struct nt_source *source;
    struct nt_folder *folder;
    bool is_dataset;
};

static enum nt_status look_at(struct nt_places *places, const struct nt_place *place,
                              struct probe_result *found, struct nt_error *error)
{
    const struct nt_place *above = nt_places_get(places, place->parent);
    enum nt_status status = NT_OK;
    if (place->address)
        status = nt_open_source(place->address, &places->vfs->options.open, &found->source, error);
    else if (S_ISDIR(place->identity.st_mode))
        status = nt_folder_open_below(above->folder, place->disk_name, &found->folder, error);
    if (status == NT_OK && found->source && found->source->folder) { /* the folder outlives its source */
        found->folder = found->source->folder;
        nt_folder_hold(found->folder);
        nt_source_close(found->source);
        found->source = NULL;
    }
    return status == NT_OK && found->folder ? nt_is_dataset_folder(found->folder, &found->is_dataset, error)
                                            : status;
}

/* Under the lock. */
static void settle(struct nt_place *place, const struct probe_result *found)
{
    place->is_entered = true;
    place->source = found->source;
    place->folder = found->folder;
    place->may_have_versions = found->is_dataset;
    if (!found->folder || found->is_dataset)
        return;
    place->kind = NT_PLACE_FOLDER;
    place->is_file = false;
    place->is_probed = true;
}

bool nt_place_enter(struct nt_places *places, struct nt_place *place)
{
    struct probe_result found = {.source = NULL};
    struct nt_error failure = {0};
    while (place->is_opening)
        pthread_cond_wait(&places->was_opened, &places->lock);
    if (!place->is_remote || place->is_entered)
        return true;
    if (place->is_probed || nt_place_is_refused(place))
        return false;
    place->is_opening = true;
    pthread_mutex_unlock(&places->lock);
    nt_vfs_before_slow_work(places->vfs);
    enum nt_status status = look_at(places, place, &found, &failure);
    if (status != NT_OK)
        nt_folder_close(found.folder);
    pthread_mutex_lock(&places->lock);
    if (status == NT_OK)
        settle(place, &found);
    else
        nt_places_fail_looking(place, &failure);
    nt_place_was_opened(places, place);
    return status == NT_OK;
}

/* ---- sources ---- */

enum nt_status nt_place_open_source(struct nt_places *places, struct nt_place *place,
                                    struct nt_source **source_ret, struct nt_error *error)
{
    if (place->folder) {
        nt_folder_hold(place->folder);
        enum nt_status status = nt_source_of_folder(place->folder, source_ret, error);
        if (status != NT_OK)
            nt_folder_close(place->folder);
        return status;
    }
    if (!place->address)
        return nt_folder_open_file(nt_places_get(places, place->parent)->folder, place->disk_name, source_ret,
                                   error);
    if (!place->source)
        return nt_open_source(place->address, &places->vfs->options.open, source_ret, error);
    *source_ret = place->source; /* of the one who opens the place, and nobody else's */
    place->source = NULL;
    return NT_OK;
}

/* What the mount was given has no list that would tell of it: its source finds out. */
enum nt_status nt_place_stat_on_server(struct nt_places *places, const struct nt_place *place,
                                       struct stat *attributes, struct nt_error *error)
{
    if (nt_place_is_version(place))
        return nt_folder_stat(place->folder, place->identity_path + strlen(place->path) + 1, attributes,
                              error);
    if (!place->address)
        return nt_folder_stat(nt_places_get(places, place->parent)->folder, place->disk_name, attributes,
                              error);
    *attributes = place->identity;
    return NT_OK;
}

/* ---- Rescan directories ---- */

/* ---- scanning ---- */

static struct nt_place *child_of_name(const struct nt_places *places, const struct nt_place *folder,
                                      const char *name)
{
    uint32_t low = 0, high = folder->child_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct nt_place *child = places->list[folder->by_name[middle]];
        int order = strcmp(child->disk_name, name);
        if (order == 0)
            return child;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* What takes the place of another one comes where that was: who lists the folder meanwhile sees one of them. */
static enum nt_status add_child(struct nt_places *places, struct nt_place *folder,
                                const struct nt_disk_entry *found, const struct nt_place *former,
                                struct nt_place **place_ret, struct nt_error *error)
{
    struct nt_buffer path = {0};
    nt_buffer_format(&path, "%s/%s", folder->path, found->name);
    enum nt_status status =
        path.failed ? nt_fail_memory(error)
                    : nt_places_add(places, folder->number, path.bytes,
                                    found->is_folder ? NT_PLACE_FOLDER : NT_PLACE_FILE, place_ret, error);
    nt_buffer_deinit(&path);
    if (status != NT_OK)
        return status;
    (*place_ret)->is_remote = folder->is_remote;
    (*place_ret)->order = former ? former->order : folder->next_order++;
    nt_places_identify(*place_ret, &found->stat);
    return NT_OK;
}

static int compare_orders(const void *left, const void *right, void *context)
{
    const struct nt_places *places = context;
    uint32_t a = places->list[*(const uint32_t *)left]->order,
             b = places->list[*(const uint32_t *)right]->order;
    return a < b ? -1 : a > b;
}

/* Under the lock: of those that were children the ones that are none any more; both are in their order. */
static void let_go(struct nt_places *places, const struct nt_place *folder, const uint32_t *former,
                   uint32_t count)
{
    uint32_t next = 0;
    bool has_inner = false;
    for (uint32_t i = 0; i < count; i++) {
        struct nt_place *place = places->list[former[i]];
        while (next < folder->child_count && places->list[folder->children[next]]->order < place->order)
            next++;
        if (next < folder->child_count && folder->children[next] == place->number)
            continue;
        nt_places_let_go(places, place);
        has_inner = has_inner || place->inside > 0;
    }
    if (has_inner)
        nt_places_put_all_away(places);
}

/* Under the lock: other children, which are taken. Those that there were stay where that fails. */
static enum nt_status exchange(struct nt_places *places, struct nt_place *folder, uint32_t *children,
                               uint32_t count, struct nt_error *error)
{
    uint32_t former_count = folder->child_count;
    uint32_t *former = malloc((former_count + 1) * sizeof(*former));
    if (!former)
        return nt_fail_memory(error);
    if (former_count)
        memcpy(former, folder->children, former_count * sizeof(*former));
    enum nt_status status = nt_places_set_children(places, folder, children, count, error);
    if (status == NT_OK)
        let_go(places, folder, former, former_count);
    free(former);
    return status;
}

/* Under the lock: places that were made and did not become children. */
static void discard(struct nt_places *places, const struct nt_place *folder, uint32_t *children, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct nt_place *place = places->list[children[i]];
        if (child_of_name(places, folder, place->disk_name) != place)
            nt_places_let_go(places, place);
    }
    free(children);
}

/* Under the lock: the folder's children are what was found. */
static enum nt_status merge(struct nt_places *places, struct nt_place *folder,
                            const struct nt_disk_entry *entries, size_t count, struct nt_error *error)
{
    uint32_t *children = calloc(count + 1, sizeof(uint32_t));
    bool is_first = !folder->names, is_changed = is_first || count != folder->child_count;
    enum nt_status status = children ? NT_OK : nt_fail_memory(error);
    size_t known = 0;
    for (; status == NT_OK && known < count; known += status == NT_OK) {
        struct nt_place *place = child_of_name(places, folder, entries[known].name);
        if (!place || !nt_disk_is_same(&place->identity, &entries[known].stat)) {
            is_changed = true;
            status = add_child(places, folder, &entries[known], place, &place, error);
        }
        if (status == NT_OK)
            children[known] = place->number;
    }
    if (status == NT_OK && !is_changed) {
        free(children);
        return NT_OK;
    }
    if (status == NT_OK) {
        qsort_r(children, count, sizeof(uint32_t), compare_orders, places);
        status = exchange(places, folder, children, (uint32_t)count, error);
    }
    if (status != NT_OK)
        discard(places, folder, children, known);
    else if (folder->is_remote && !is_first) /* kernels keep lists as long as the time stays */
        clock_gettime(CLOCK_REALTIME, &folder->identity.st_mtim);
    return status;
}

/* What was found, and by what it is known later whether it is still so. */
struct scan_result {
    struct nt_disk_entry *entries;
    size_t count;
    struct timespec modified;
    bool is_settled;
    uint64_t list;
    bool is_known; /* of a list that was looked at: no entries are told */
};

static enum nt_status find_here(const struct nt_place *folder, struct scan_result *found,
                                struct nt_error *error)
{
    struct stat attributes;
    enum nt_status status = nt_disk_stat(folder->path, &attributes, error);
    if (status != NT_OK)
        return status;
    found->modified = attributes.st_mtim;
    found->is_settled = nt_disk_is_settled(&attributes);
    return nt_disk_list(folder->path, &found->entries, &found->count, error);
}

static enum nt_status find_on_server(struct nt_places *places, const struct nt_place *folder,
                                     struct scan_result *found, struct nt_error *error)
{
    enum nt_status status = nt_folder_refresh(folder->folder, "", &found->list, error);
    if (status != NT_OK)
        return status;
    pthread_mutex_lock(&places->lock);
    found->is_known = folder->names && folder->list == found->list; /* the children are those of this list */
    pthread_mutex_unlock(&places->lock);
    return found->is_known ? NT_OK
                           : nt_disk_list_folder(folder->folder, &found->entries, &found->count, error);
}

enum nt_status nt_places_scan(struct nt_places *places, uint32_t number, struct nt_error *error)
{
    struct nt_place *folder = nt_places_get(places, number);
    struct scan_result found = {.count = 0};
    if (folder->kind != NT_PLACE_FOLDER)
        return NT_OK;
    pthread_mutex_lock(&places->lock);
    uint64_t scan = ++places->scans;
    pthread_mutex_unlock(&places->lock);
    enum nt_status status =
        folder->is_remote ? find_on_server(places, folder, &found, error) : find_here(folder, &found, error);
    if (status != NT_OK || found.is_known)
        return status;
    pthread_mutex_lock(&places->lock);
    /* What a scan found that began before the last one is older than what is known: it would throw out what has
     * come meanwhile. */
    bool is_newest = scan > folder->last_scan;
    if (is_newest)
        status = merge(places, folder, found.entries, found.count, error);
    if (is_newest && status == NT_OK) {
        folder->modified = found.modified;
        folder->is_settled = found.is_settled;
        folder->list = found.list;
        folder->last_scan = scan;
    }
    nt_places_close_gone(places);
    pthread_mutex_unlock(&places->lock);
    nt_disk_free(found.entries, found.count);
    return status;
}

/* ---- looking ---- */

static uint32_t find_known(struct nt_places *places, const struct nt_place *folder, const char *name)
{
    pthread_mutex_lock(&places->lock);
    uint32_t position = folder->names ? nt_names_find(folder->names, 0, name) : NT_NONE;
    uint32_t found = position == NT_NONE ? NT_NONE : folder->children[position];
    pthread_mutex_unlock(&places->lock);
    return found;
}

/* What is known of a folder stays where its server tells nothing. */
enum nt_status nt_places_stat(struct nt_places *places, uint32_t number, struct stat *attributes,
                              struct nt_error *error)
{
    struct nt_place *place = nt_places_get(places, number);
    const char *path = nt_place_identity_path(place);
    if (path && !place->is_remote)
        return nt_disk_stat(path, attributes, error);
    if (place->kind == NT_PLACE_FOLDER && place->is_remote)
        nt_places_scan(places, number, NULL);
    pthread_mutex_lock(&places->lock);
    *attributes = place->identity;
    pthread_mutex_unlock(&places->lock);
    return NT_OK;
}

/* Whether what was found, or not found, by the last scan is still so. */
static bool is_current(struct nt_places *places, const struct nt_place *folder, uint32_t found)
{
    struct stat now;
    if (folder->is_remote) /* a scan asks for a list only where this one is old */
        return false;
    const struct nt_place *child = found == NT_NONE ? NULL : nt_places_get(places, found);
    if (child)
        return nt_disk_stat(child->path, &now, NULL) == NT_OK && nt_disk_is_same(&now, &child->identity);
    if (nt_disk_stat(folder->path, &now, NULL) != NT_OK)
        return false;
    pthread_mutex_lock(&places->lock);
    bool is_same = folder->is_settled && folder->modified.tv_sec == now.st_mtim.tv_sec &&
                   folder->modified.tv_nsec == now.st_mtim.tv_nsec;
    pthread_mutex_unlock(&places->lock);
    return is_same;
}

enum nt_status nt_places_find(struct nt_places *places, uint32_t number, const char *name,
                              uint32_t *place_ret, struct nt_error *error)
{
    const struct nt_place *folder = nt_places_get(places, number);
    enum nt_status status = NT_OK;
    *place_ret = find_known(places, folder, name);
    if (folder->kind == NT_PLACE_FOLDER && !is_current(places, folder, *place_ret)) {
        status = nt_places_scan(places, number, error);
        *place_ret = status == NT_OK ? find_known(places, folder, name) : NT_NONE;
    }
    if (status == NT_OK && *place_ret == NT_NONE)
        status = nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such file");
    return status;
}
