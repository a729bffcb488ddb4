/* SPDX-License-Identifier: MIT
 *
 * Passthrough directories, whose children follow a local or remote directory. Rescans keep the inodes
 * of unchanged files and retire the others. A remote entry is probed on first access: data file,
 * dataset directory or plain directory.
 */

#include "vfs/vfs.h"

/* ---- Probe remote entries ---- */

bool nt_inode_is_listed(const struct nt_inode_table *inodes, const struct nt_inode *inode)
{
    return inode->is_remote && inode->number != inode->parent &&
           inodes->list[inode->parent]->kind == NT_INODE_PASSTHROUGH;
}

bool nt_inodes_is_listed(struct nt_inode_table *inodes, uint32_t number, bool *is_probed_ret)
{
    NT_MUTEX_GUARD(&inodes->lock);
    const struct nt_inode *inode = number < inodes->count ? inodes->list[number] : NULL;
    bool is_listed = inode && nt_inode_is_listed(inodes, inode);
    *is_probed_ret = is_listed && (inode->is_probed || inode->is_remote_probed);
    return is_listed;
}

/* ---- Probing ---- */

/* The result: a source or a directory. Neither, for a file in a listing. */
struct probe_result {
    struct nt_source *source;
    struct nt_folder *folder;
    bool is_dataset;
};

static enum nt_status look_at(struct nt_inode_table *inodes, const struct nt_inode *inode,
                              struct probe_result *found, struct nt_error *error)
{
    const struct nt_inode *above = nt_inodes_get(inodes, inode->parent);
    enum nt_status status = NT_OK;
    if (inode->address)
        status = nt_open_source(inode->address, &inodes->vfs->options.open, &found->source, error);
    else if (S_ISDIR(inode->identity.st_mode))
        status = nt_folder_open_below(above->folder, inode->disk_name, &found->folder, error);
    if (status == NT_OK && found->source && found->source->folder) { /* outlives its source */
        found->folder = found->source->folder;
        nt_folder_ref(found->folder);
        nt_source_close(found->source);
        found->source = NULL;
    }
    return status == NT_OK && found->folder ? nt_is_dataset_folder(found->folder, &found->is_dataset, error)
                                            : status;
}

/* Call it under the lock. */
static void store_result(struct nt_inode *inode, const struct probe_result *found)
{
    inode->is_remote_probed = true;
    inode->source = found->source;
    inode->folder = found->folder;
    inode->may_have_versions = found->is_dataset;
    if (!found->folder || found->is_dataset)
        return;
    inode->kind = NT_INODE_PASSTHROUGH;
    inode->is_file = false;
    inode->is_probed = true;
}

bool nt_inode_probe_remote(struct nt_inode_table *inodes, struct nt_inode *inode)
{
    struct probe_result found = {.source = NULL};
    struct nt_error failure = {0};
    while (inode->is_opening)
        pthread_cond_wait(&inodes->was_opened, &inodes->lock);
    if (!inode->is_remote || inode->is_remote_probed)
        return true;
    if (inode->is_probed || nt_inode_in_backoff(inode))
        return false;
    inode->is_opening = true;
    pthread_mutex_unlock(&inodes->lock);
    nt_vfs_before_blocking(inodes->vfs);
    enum nt_status status = look_at(inodes, inode, &found, &failure);
    if (status != NT_OK)
        nt_folder_close(found.folder);
    pthread_mutex_lock(&inodes->lock);
    if (status == NT_OK)
        store_result(inode, &found);
    else
        nt_inode_fail_probe(inode, &failure);
    nt_inode_end_opening(inodes, inode);
    return status == NT_OK;
}

/* ---- Sources ---- */

enum nt_status nt_inode_open_source(struct nt_inode_table *inodes, struct nt_inode *inode,
                                    struct nt_source **source_ret, struct nt_error *error)
{
    if (inode->folder) {
        nt_folder_ref(inode->folder);
        enum nt_status status = nt_source_of_folder(inode->folder, source_ret, error);
        if (status != NT_OK)
            nt_folder_close(inode->folder);
        return status;
    }
    if (!inode->address)
        return nt_folder_open_file(nt_inodes_get(inodes, inode->parent)->folder, inode->disk_name, source_ret,
                                   error);
    if (!inode->source)
        return nt_open_source(inode->address, &inodes->vfs->options.open, source_ret, error);
    *source_ret = inode->source; /* for the thread that opens the inode */
    inode->source = NULL;
    return NT_OK;
}

/* A source of the mount is in no listing: its source checks the identity. */
enum nt_status nt_inode_stat_remote(struct nt_inode_table *inodes, const struct nt_inode *inode,
                                    struct stat *attributes, struct nt_error *error)
{
    if (nt_inode_is_version(inode))
        return nt_folder_stat(inode->folder, inode->identity_path + strlen(inode->path) + 1, attributes,
                              error);
    if (!inode->address)
        return nt_folder_stat(nt_inodes_get(inodes, inode->parent)->folder, inode->disk_name, attributes,
                              error);
    *attributes = inode->identity;
    return NT_OK;
}

/* ---- Scanning ---- */

static struct nt_inode *child_of_name(const struct nt_inode_table *inodes, const struct nt_inode *folder,
                                      const char *name)
{
    uint32_t low = 0, high = folder->child_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct nt_inode *child = inodes->list[folder->by_name[middle]];
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

/* A replacement takes its predecessor's position, so that a concurrent listing shows one of them. */
static enum nt_status add_child(struct nt_inode_table *inodes, struct nt_inode *folder,
                                const struct nt_local_entry *found, const struct nt_inode *former,
                                struct nt_inode **inode_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    nt_buffer_append_format(&path, "%s/%s", folder->path, found->name);
    NT_TRY(nt_check_memory(!path.failed, error));
    NT_TRY(nt_inodes_add(inodes, folder->number, path.bytes,
                         found->is_folder ? NT_INODE_PASSTHROUGH : NT_INODE_FILE, inode_ret, error));
    (*inode_ret)->is_remote = folder->is_remote;
    (*inode_ret)->order = former ? former->order : folder->next_order++;
    nt_inode_set_identity(*inode_ret, &found->stat);
    return NT_OK;
}

static int compare_orders(const void *left, const void *right, void *context)
{
    const struct nt_inode_table *inodes = context;
    uint32_t a = inodes->list[*(const uint32_t *)left]->order,
             b = inodes->list[*(const uint32_t *)right]->order;
    return a < b ? -1 : a > b;
}

/* Unlinks those of the inodes that are not children of the directory. Call it under the lock. */
static void unlink_others(struct nt_inode_table *inodes, const struct nt_inode *folder,
                          const uint32_t *numbers, size_t count)
{
    bool has_inner = false;
    for (size_t i = 0; i < count; i++) {
        struct nt_inode *inode = inodes->list[numbers[i]];
        if (child_of_name(inodes, folder, inode->disk_name) == inode)
            continue;
        nt_inodes_unlink(inodes, inode);
        has_inner = has_inner || inode->inside > 0;
    }
    if (has_inner)
        nt_inodes_retire_all(inodes);
}

/* Replaces the children; takes the array on success, else the old children stay. Under the lock. */
static enum nt_status exchange(struct nt_inode_table *inodes, struct nt_inode *folder, uint32_t *children,
                               uint32_t count, struct nt_error *error)
{
    uint32_t former_count = folder->child_count;
    NT_AUTO_FREE uint32_t *former = malloc((former_count + 1) * sizeof(*former));
    NT_TRY(nt_check_memory(former, error));
    if (former_count)
        memcpy(former, folder->children, former_count * sizeof(*former));
    NT_TRY(nt_inodes_set_children(inodes, folder, children, count, error));
    unlink_others(inodes, folder, former, former_count);
    return NT_OK;
}

/* Sets the directory's children to the entries. Call it under the lock. */
static enum nt_status merge(struct nt_inode_table *inodes, struct nt_inode *folder,
                            const struct nt_local_entry *entries, size_t count, struct nt_error *error)
{
    uint32_t *children = calloc(count + 1, sizeof(uint32_t));
    bool is_first = !folder->names, is_changed = is_first || count != folder->child_count;
    enum nt_status status = nt_check_memory(children, error);
    size_t known = 0;
    for (; status == NT_OK && known < count; known += status == NT_OK) {
        struct nt_inode *inode = child_of_name(inodes, folder, entries[known].name);
        if (!inode || !nt_local_is_same(&inode->identity, &entries[known].stat)) {
            is_changed = true;
            status = add_child(inodes, folder, &entries[known], inode, &inode, error);
        }
        if (status == NT_OK)
            children[known] = inode->number;
    }
    if (status == NT_OK && is_changed) {
        qsort_r(children, count, sizeof(uint32_t), compare_orders, inodes);
        status = exchange(inodes, folder, children, (uint32_t)count, error);
    }
    if (status != NT_OK)
        unlink_others(inodes, folder, children, known);
    if (status != NT_OK || !is_changed)
        free(children);
    else if (folder->is_remote && !is_first) /* kernels cache listings while the mtime stays */
        clock_gettime(CLOCK_REALTIME, &folder->identity.st_mtim);
    return status;
}

/* The entries, and data that later shows whether they are still current. */
struct scan_result {
    struct nt_local_entry *entries;
    size_t count;
    struct timespec modified;
    bool is_mtime_reliable;
    uint64_t list;
    bool is_known; /* the list was scanned before: no entries */
};

static enum nt_status find_here(const struct nt_inode_table *inodes, const struct nt_inode *folder,
                                struct scan_result *found, struct nt_error *error)
{
    struct stat attributes;
    NT_TRY(nt_local_stat(folder->path, &attributes, error));
    found->modified = attributes.st_mtim;
    found->is_mtime_reliable = nt_local_mtime_is_reliable(&attributes);
    return nt_local_list(folder->path, &inodes->vfs->options.open, &found->entries, &found->count, error);
}

static enum nt_status find_on_server(struct nt_inode_table *inodes, const struct nt_inode *folder,
                                     struct scan_result *found, struct nt_error *error)
{
    NT_TRY(nt_folder_refresh(folder->folder, "", &found->list, error));
    pthread_mutex_lock(&inodes->lock);
    found->is_known = folder->names && folder->list == found->list; /* this list was scanned before */
    pthread_mutex_unlock(&inodes->lock);
    return found->is_known ? NT_OK
                           : nt_local_list_folder(folder->folder, &found->entries, &found->count, error);
}

enum nt_status nt_inodes_scan(struct nt_inode_table *inodes, uint32_t number, struct nt_error *error)
{
    struct nt_inode *folder = nt_inodes_get(inodes, number);
    struct scan_result found = {.count = 0};
    if (folder->kind != NT_INODE_PASSTHROUGH)
        return NT_OK;
    pthread_mutex_lock(&inodes->lock);
    uint64_t scan = ++inodes->scans;
    pthread_mutex_unlock(&inodes->lock);
    enum nt_status status = folder->is_remote ? find_on_server(inodes, folder, &found, error)
                                              : find_here(inodes, folder, &found, error);
    if (status != NT_OK || found.is_known)
        return status;
    pthread_mutex_lock(&inodes->lock);
    /* The result of a scan that began before the last one is stale: it would remove newer children. */
    bool is_newest = scan > folder->last_scan;
    if (is_newest)
        status = merge(inodes, folder, found.entries, found.count, error);
    if (is_newest && status == NT_OK) {
        folder->modified = found.modified;
        folder->is_mtime_reliable = found.is_mtime_reliable;
        folder->list = found.list;
        folder->last_scan = scan;
    }
    nt_inodes_close_stale(inodes);
    pthread_mutex_unlock(&inodes->lock);
    nt_local_entries_free(found.entries, found.count);
    return status;
}

/* ---- Lookup ---- */

static uint32_t find_known(struct nt_inode_table *inodes, const struct nt_inode *folder, const char *name)
{
    NT_MUTEX_GUARD(&inodes->lock);
    uint32_t position = folder->names ? nt_names_find(folder->names, 0, name) : NT_NONE;
    return position == NT_NONE ? NT_NONE : folder->children[position];
}

/* A directory keeps its attributes if the server reports none. */
enum nt_status nt_inodes_stat(struct nt_inode_table *inodes, uint32_t number, struct stat *attributes,
                              struct nt_error *error)
{
    struct nt_inode *inode = nt_inodes_get(inodes, number);
    const char *path = nt_inode_identity_path(inode);
    if (path && !inode->is_remote)
        return nt_local_stat(path, attributes, error);
    if (inode->kind == NT_INODE_PASSTHROUGH && inode->is_remote)
        nt_inodes_scan(inodes, number, NULL);
    NT_MUTEX_GUARD(&inodes->lock);
    *attributes = inode->identity;
    return NT_OK;
}

/* Has a file become a data file since the last scan, which did not keep it? */
static bool has_become_file(const struct nt_inode_table *inodes, const struct nt_inode *folder,
                            const char *name)
{
    char on_disk[NT_NAME_BYTES + 1];
    bool is_name = strlen(name) < sizeof(on_disk) && nt_percent_decode_text(strcpy(on_disk, name)) &&
                   !strchr(on_disk, '/');
    return is_name && nt_local_has_data_file(folder->path, on_disk, &inodes->vfs->options.open);
}

/* Is the result of the last scan still current, whether a child was found or not? */
static bool is_current(struct nt_inode_table *inodes, const struct nt_inode *folder, const char *name,
                       uint32_t found)
{
    struct stat now;
    if (folder->is_remote) /* a scan requests a list only if this one is old */
        return false;
    const struct nt_inode *child = found == NT_NONE ? NULL : nt_inodes_get(inodes, found);
    if (child)
        return nt_local_stat(child->path, &now, NULL) == NT_OK && nt_local_is_same(&now, &child->identity);
    if (nt_local_stat(folder->path, &now, NULL) != NT_OK)
        return false;
    pthread_mutex_lock(&inodes->lock);
    bool is_same = folder->is_mtime_reliable && folder->modified.tv_sec == now.st_mtim.tv_sec &&
                   folder->modified.tv_nsec == now.st_mtim.tv_nsec;
    pthread_mutex_unlock(&inodes->lock);
    return is_same && !has_become_file(inodes, folder, name);
}

enum nt_status nt_inodes_find(struct nt_inode_table *inodes, uint32_t number, const char *name,
                              uint32_t *inode_ret, struct nt_error *error)
{
    const struct nt_inode *folder = nt_inodes_get(inodes, number);
    *inode_ret = find_known(inodes, folder, name);
    if (folder->kind == NT_INODE_PASSTHROUGH && !is_current(inodes, folder, name, *inode_ret)) {
        NT_TRY(nt_inodes_scan(inodes, number, error));
        *inode_ret = find_known(inodes, folder, name);
    }
    return *inode_ret == NT_NONE ? nt_fail_no_such_file(error) : NT_OK;
}
