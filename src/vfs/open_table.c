/* SPDX-License-Identifier: MIT
 *
 * Opens the data file of an inode on first use, by one thread while others wait, and assigns ids to its
 * datasets. A background thread closes idle files, least recently used first, to limit descriptors.
 */
#include "vfs/vfs.h"

#include <ntuple/selection.h>

#include <sys/resource.h>

#include "core/base/queue.h"

/* ---- Apply entry selections ---- */

/* Appends "run2.root/", the prefix for paths in the inode's file; nothing for the root. */
static void put_identity_path(struct nt_inode_table *inodes, const struct nt_inode *inode,
                              struct nt_buffer *path)
{
    uint32_t above[NT_MAX_DEPTH];
    char name[NT_NAME_BYTES + 1];
    size_t count = 0;
    for (uint32_t at = nt_inode_is_version(inode) ? inode->parent : inode->number; at && count < NT_MAX_DEPTH;
         at = nt_inodes_get(inodes, at)->parent)
        above[count++] = at;
    while (count-- > 0) {
        nt_inodes_name(inodes, above[count], name);
        nt_buffer_append_format(path, "%s/", name);
    }
}

/* Selections never apply to hidden children. An empty name applies only to a single dataset. */
static bool is_meant(const struct nt_vfs_selection *selection, const struct nt_inode *inode,
                     const struct nt_dataset *dataset, const char *path)
{
    if (nt_inode_is_hidden(inode))
        return false;
    if (!*selection->dataset)
        return nt_file_only(dataset->file, NULL) == dataset &&
               (inode->number == 0 || (nt_inode_is_version(inode) && inode->parent == 0));
    return strcmp(selection->dataset, path) == 0;
}

/* Applies the selections to a dataset of a newly opened file, before any other use. NT_INVALID if a
 * selection does not fit. */
static enum nt_status apply_selections(struct nt_inode_table *inodes, const struct nt_inode *inode,
                                       struct nt_open_file *opened, struct nt_dataset *dataset,
                                       struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    put_identity_path(inodes, inode, &path);
    bool is_reached = nt_open_file_path(opened, opened->file->directory_count + dataset->index, &path);
    NT_TRY(nt_check_memory(!path.failed, error));
    for (size_t i = 0; is_reached && i < inodes->vfs->options.selection_count; i++) {
        const struct nt_vfs_selection *selection = &inodes->vfs->options.selections[i];
        if (is_meant(selection, inode, dataset, path.bytes))
            NT_TRY(nt_selection_apply(selection->selection, dataset, error));
    }
    return NT_OK;
}

/* ---- Close idle files ---- */

/* Limits for open files. Beyond `most` the closer thread closes unused files; beyond `far_too_much` it
 * does not keep up, and the opening thread closes files itself. A multi-file dataset has many
 * descriptors; the limit is a share of those that the process may have. */
struct bound {
    uint32_t files, share_of_descriptors, share_of_metadata; /* of the limit for one file */
};
static const struct bound most = {64, 4, 4}, far_too_much = {256, 2, 1};
enum { MAX_DESCRIPTORS = 4096 }; /* upper limit of the shared number */

void nt_inodes_limit_open(struct nt_inode_table *inodes)
{
    struct rlimit limit;
    bool is_less = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MAX_DESCRIPTORS;
    inodes->max_descriptors = is_less ? limit.rlim_cur : MAX_DESCRIPTORS;
}

/* Does it release its metadata if it is closed, together with its idle sharers? True for one of them. */
static bool is_releasable(const struct nt_inode_table *inodes, const struct nt_open_file *opened)
{
    const struct nt_open_file *other;
    bool is_before = true;
    if (opened->users > 0 || !opened->is_shared)
        return opened->users == 0;
    TAILQ_FOREACH (other, &inodes->opened, by_use) {
        if (other == opened)
            is_before = false;
        else if (other->file == opened->file && (is_before || other->users > 0))
            return false;
    }
    return true;
}

/* Metadata of unused files other than `kept`. Only closing these releases memory. */
static uint64_t idle_metadata(const struct nt_inode_table *inodes, const struct nt_open_file *kept)
{
    uint64_t bytes = 0;
    const struct nt_open_file *opened;
    TAILQ_FOREACH (opened, &inodes->opened, by_use)
        if (opened != kept && is_releasable(inodes, opened))
            bytes += nt_budget_used(&opened->file->budget);
    return bytes;
}

/* Does not count the most recently used file: a large file alone would be opened for each request. */
static bool is_within(const struct nt_inode_table *inodes, const struct bound *bound)
{
    return inodes->open_count <= bound->files &&
           inodes->descriptors <= inodes->max_descriptors / bound->share_of_descriptors &&
           idle_metadata(inodes, TAILQ_FIRST(&inodes->opened)) <=
               nt_metadata_ceiling() / bound->share_of_metadata;
}

/* Removes the file from the list of open files. */
static void take(struct nt_inode_table *inodes, struct nt_open_file *opened)
{
    struct nt_inode *inode = inodes->list[opened->inode];
    TAILQ_REMOVE(&inodes->opened, opened, by_use);
    inode->opened = NULL;
    inodes->descriptors -= opened->descriptors;
    nt_inodes_retire(inodes, inode);
}

/* Takes the least recently used idle file; NULL: all are in use. */
static struct nt_open_file *take_idle(struct nt_inode_table *inodes)
{
    struct nt_open_file *opened;
    NT_TAILQ_FOREACH_REVERSE (opened, &inodes->opened, nt_open_file, by_use)
        if (opened->users == 0)
            break;
    if (opened)
        take(inodes, opened);
    return opened;
}

static bool is_open_elsewhere(const struct nt_open_files *list, const struct nt_file *file)
{
    const struct nt_open_file *opened;
    TAILQ_FOREACH (opened, list, by_use)
        if (opened->file == file)
            return true;
    return false;
}

/* Takes the next file to close for these limits, or NULL. */
static struct nt_open_file *take_next(struct nt_inode_table *inodes, const struct bound *bound)
{
    struct nt_open_file *opened = TAILQ_FIRST(&inodes->gone);
    if (opened)
        TAILQ_REMOVE(&inodes->gone, opened, by_use);
    else if (!is_within(inodes, bound))
        opened = take_idle(inodes);
    return opened;
}

static void forget(struct nt_reader *reader, const struct nt_file *file)
{
    for (uint32_t i = 0; file && i < file->dataset_count; i++)
        nt_reader_forget(reader, file->datasets[i]);
}

/* Closes a file that is in no list any more. The last of its sharers closes `file`. Under the lock; releases
 * it meanwhile. */
static void close_opened(struct nt_inode_table *inodes, struct nt_open_file *opened)
{
    inodes->open_count--;
    opened->borrows_file = opened->is_shared && (is_open_elsewhere(&inodes->opened, opened->file) ||
                                                 is_open_elsewhere(&inodes->gone, opened->file));
    pthread_mutex_unlock(&inodes->lock);
    if (!opened->borrows_file) {
        forget(inodes->vfs->reader, opened->file);
        forget(inodes->vfs->reader, opened->file->resolved);
    }
    nt_open_file_free(opened);
    pthread_mutex_lock(&inodes->lock);
}

/* Closes gone files, and idle ones until the limits hold. Under the lock; releases it meanwhile. */
static void close_down_to(struct nt_inode_table *inodes, const struct bound *bound)
{
    struct nt_open_file *opened;
    while ((opened = take_next(inodes, bound)))
        close_opened(inodes, opened);
}

/* Before another file is opened: closes idle files that the closer would close afterwards, so that their
 * metadata and that of the new file are not in memory together. Under the lock; releases it meanwhile. */
static void make_room(struct nt_inode_table *inodes)
{
    struct nt_open_file *opened;
    while (idle_metadata(inodes, NULL) > nt_metadata_ceiling() / most.share_of_metadata &&
           (opened = take_idle(inodes)))
        close_opened(inodes, opened);
}

static void *close_idle(void *argument)
{
    struct nt_inode_table *inodes = argument;
    NT_MUTEX_GUARD(&inodes->lock);
    while (!inodes->closer_must_end) {
        close_down_to(inodes, &most);
        if (!inodes->closer_must_end)
            pthread_cond_wait(&inodes->has_idle, &inodes->lock);
    }
    return NULL;
}

/* Makes the closer thread close unused files if too many files or descriptors are open, so that no
 * opening or lookup waits for a close. Call it under the lock. It may release the lock if there is no
 * closer thread, or if so many files are open that the caller must close some. */
static void close_idle_inodes(struct nt_inode_table *inodes)
{
    if (is_within(inodes, &most) && TAILQ_EMPTY(&inodes->gone))
        return;
    if (!inodes->has_closer)
        inodes->has_closer = nt_thread_start(&inodes->closer, close_idle, inodes) == 0;
    pthread_cond_signal(&inodes->has_idle);
    if (!inodes->has_closer || !is_within(inodes, &far_too_much))
        close_down_to(inodes, inodes->has_closer ? &far_too_much : &most);
}

void nt_inodes_close_stale(struct nt_inode_table *inodes)
{
    struct nt_open_file *next;
    for (struct nt_open_file *opened = TAILQ_FIRST(&inodes->opened); opened; opened = next) {
        next = TAILQ_NEXT(opened, by_use);
        if (opened->users > 0 || !nt_inode_is_stale(inodes, inodes->list[opened->inode]))
            continue;
        take(inodes, opened);
        TAILQ_INSERT_HEAD(&inodes->gone, opened, by_use);
    }
    close_idle_inodes(inodes);
}

bool nt_vfs_keeps_sources_open(struct nt_vfs *vfs)
{
    struct nt_inode_table *inodes = vfs->inodes;
    NT_MUTEX_GUARD(&inodes->lock);
    bool holds_all = inodes->count <= most.files;
    for (uint32_t i = 0; i < inodes->count && holds_all; i++) {
        const struct nt_inode *inode = inodes->list[i];
        holds_all = !inode || inode->kind == NT_INODE_GROUP ||
                    (inode->is_remote && !inodes->vfs->options.selection_count) || /* opens no file */
                    (inode->opened && S_ISREG(inode->identity.st_mode) && !inode->chain);
    }
    return holds_all;
}

void nt_inodes_close_all(struct nt_inode_table *inodes)
{
    pthread_mutex_lock(&inodes->lock);
    inodes->closer_must_end = true;
    pthread_cond_signal(&inodes->has_idle);
    pthread_mutex_unlock(&inodes->lock);
    if (inodes->has_closer)
        pthread_join(inodes->closer, NULL);
    NT_MUTEX_GUARD(&inodes->lock);
    TAILQ_CONCAT(&inodes->gone, &inodes->opened, by_use); /* also those in use */
    struct nt_open_file *opened;
    while ((opened = TAILQ_FIRST(&inodes->gone))) {
        TAILQ_REMOVE(&inodes->gone, opened, by_use);
        close_opened(inodes, opened);
    }
}

/* ---- Open files ---- */

static bool reserve_dataset_refs(struct nt_inode_table *inodes, uint32_t count)
{
    while (inodes->dataset_count < count) {
        if (!NT_GROW(inodes->dataset_refs, inodes->dataset_count, inodes->dataset_capacity))
            return false;
        inodes->dataset_refs[inodes->dataset_count++].inode = NT_NONE;
    }
    return true;
}

static enum nt_status assign_dataset_ids(struct nt_inode_table *inodes, struct nt_inode *inode,
                                         uint32_t count, struct nt_error *error)
{
    uint32_t first;
    if (inode->dataset_count == count)
        return NT_OK;
    if (!nt_ida_alloc(&inodes->dataset_ids, count, &first))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the mount has more than the limit of %u datasets",
                       inodes->dataset_ids.limit);
    if (!reserve_dataset_refs(inodes, first + count)) {
        nt_ida_free(&inodes->dataset_ids, first, count);
        return nt_fail_memory(error);
    }
    inode->first_dataset_id = first;
    inode->dataset_count = count;
    for (uint32_t i = 0; i < count; i++)
        inodes->dataset_refs[first + i] = (struct nt_dataset_ref){inode->number, i};
    return NT_OK;
}

/* Does the path still lead to the inode's file? A version of a dataset may have been removed. */
static enum nt_status check_identity(struct nt_inode_table *inodes, const struct nt_inode *inode,
                                     struct nt_error *error)
{
    const char *path = nt_inode_identity_path(inode);
    struct stat now;
    if (!path)
        return NT_OK;
    enum nt_status status = inode->is_remote ? nt_inode_stat_remote(inodes, inode, &now, error)
                                             : nt_local_stat(path, &now, error);
    if (status == NT_OK && !nt_local_is_same(&now, &inode->identity))
        return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s was replaced or modified", path);
    return status == NT_NOT_FOUND && nt_inode_is_version(inode)
               ? nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: no longer exists", path)
               : status;
}

/* For a file in a passthrough directory: checks that it is beneath the source directory, even if a user
 * with write access to the directory changes links. */
static enum nt_status check_way(struct nt_inode_table *inodes, const struct nt_inode *inode,
                                struct nt_error *error)
{
    const struct nt_inode *top = inode;
    pthread_mutex_lock(&inodes->lock);
    while (top->number >= inodes->source_count)
        top = inodes->list[top->parent];
    bool is_in_folder =
        top->kind == NT_INODE_PASSTHROUGH && !top->is_remote; /* remote directories have no links */
    pthread_mutex_unlock(&inodes->lock);
    if (inodes->vfs->options.follow_links || !is_in_folder)
        return NT_OK;
    return nt_local_check_beneath(top->path, inode->path, error);
}

static enum nt_status open_model(struct nt_inode_table *inodes, struct nt_inode *inode,
                                 struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_open_options options = inodes->vfs->options.open;
    struct nt_source *source;
    if (inode->chain) {
        struct nt_chain_options chain = inodes->vfs->options.chain_options;
        chain.is_lazy &= inodes->vfs->options.selection_count == 0; /* a selection needs all entries */
        return nt_chain_open(inodes->vfs->options.chain, &chain, &inodes->vfs->options.open, file_ret, error);
    }
    if (inode->version)
        options.version = inode->version;
    if (!inode->is_remote)
        return nt_file_open(inode->path, &options, file_ret, error);
    NT_TRY(nt_inode_open_source(inodes, inode, &source, error));
    return nt_file_take_source(source, &options, file_ret, error);
}

static enum nt_status open_new(struct nt_inode_table *inodes, struct nt_inode *inode,
                               struct nt_open_file **opened_ret, struct nt_error *error)
{
    struct nt_file *file;
    NT_CLEANUP(nt_open_file_free_at) struct nt_open_file *opened = NULL;
    NT_TRY(open_model(inodes, inode, &file, error));
    file->on_group_failure = nt_report_group;
    file->before_blocking = nt_vfs_before_blocking;
    file->context = inodes->vfs;
    nt_budget_set_make_room(&file->budget, nt_vfs_suspend_texts, inodes->vfs);
    NT_TRY(nt_open_file_new(file, false, &opened, error));
    for (uint32_t i = 0; inodes->vfs->options.selection_count && i < file->dataset_count; i++)
        NT_TRY(apply_selections(inodes, inode, opened, file->datasets[i], error));
    *opened_ret = opened;
    opened = NULL; /* the caller's now */
    return NT_OK;
}

/* Opens the file of an inode, or shares that of its twin, if it is not NULL. Without the lock. */
static enum nt_status open_file(struct nt_inode_table *inodes, struct nt_inode *inode,
                                const struct nt_open_file *twin, struct nt_open_file **opened_ret,
                                struct nt_error *error)
{
    NT_TRY(check_way(inodes, inode, error));
    NT_TRY(check_identity(inodes, inode, error));
    return twin ? nt_open_file_new(twin->file, true, opened_ret, error)
                : open_new(inodes, inode, opened_ret, error);
}

/* Stores the result of opening. Call it under the lock. */
static enum nt_status store_opened(struct nt_inode_table *inodes, struct nt_inode *inode,
                                   struct nt_open_file *opened, struct nt_error *error)
{
    NT_TRY(assign_dataset_ids(inodes, inode, opened->file->dataset_count, error));
    opened->inode = inode->number;
    opened->first_dataset_id = inode->first_dataset_id;
    if (nt_inode_is_version(inode)) { /* times of its source, which identify the version */
        opened->stat.st_mtim = inode->identity.st_mtim;
        opened->stat.st_ctim = inode->identity.st_ctim;
    }
    inode->opened = opened;
    inode->kind = NT_INODE_FILE;
    inode->is_probed = true;
    TAILQ_INSERT_HEAD(&inodes->opened, opened, by_use);
    inodes->open_count++;
    return NT_OK;
}

/* A multi-file dataset may have more descriptors now; a single file has one. Counts those of sharers
 * once. */
static void count_descriptors(struct nt_inode_table *inodes, struct nt_open_file *opened)
{
    struct nt_folder *folder = opened->file->source->folder;
    struct nt_open_file *sharer = opened->is_shared ? TAILQ_FIRST(&inodes->opened) : NULL;
    for (; sharer; sharer = TAILQ_NEXT(sharer, by_use))
        if (sharer != opened && sharer->file == opened->file) {
            inodes->descriptors -= sharer->descriptors;
            sharer->descriptors = 0;
        }
    size_t descriptors = folder ? nt_folder_descriptors(folder) : 0;
    inodes->descriptors += descriptors - opened->descriptors;
    opened->descriptors = descriptors;
}

/* The last user has ended. */
static void leave_idle(struct nt_inode_table *inodes, struct nt_open_file *opened)
{
    count_descriptors(inodes, opened);
    if (nt_inode_is_stale(inodes, inodes->list[opened->inode]))
        nt_inodes_close_stale(inodes);
    else
        close_idle_inodes(inodes);
}

static void release(struct nt_inode_table *inodes, struct nt_open_file *opened)
{
    if (--opened->users == 0)
        leave_idle(inodes, opened);
}

/* The open file of the same version, found by another route, with an additional user; or NULL. A
 * selection applies to the version that is shown, so that the others differ from it. */
static struct nt_open_file *hold_twin(struct nt_inode_table *inodes, const struct nt_inode *inode)
{
    const struct nt_inode *twin = nt_history_twin(inodes, inode);
    if (!twin || !twin->opened || inodes->vfs->options.selection_count)
        return NULL;
    twin->opened->users++;
    return twin->opened;
}

/* Opens the inode's file for one user, or records the failure. Under the lock; releases it
 * meanwhile. */
static void open_source_of(struct nt_inode_table *inodes, struct nt_inode *inode)
{
    struct nt_open_file *opened = NULL, *twin = hold_twin(inodes, inode);
    struct nt_error failure = {0};
    inode->is_opening = true;
    if (!twin)
        make_room(inodes);
    pthread_mutex_unlock(&inodes->lock);
    nt_vfs_before_blocking(inodes->vfs);
    enum nt_status status = open_file(inodes, inode, twin, &opened, &failure);
    pthread_mutex_lock(&inodes->lock);
    if (status == NT_OK)
        status = store_opened(inodes, inode, opened, &failure);
    if (status == NT_OK && twin)
        opened->is_shared = twin->is_shared = true;
    if (status == NT_OK) {
        opened->users = 1; /* the caller */
        opened = NULL;
        close_idle_inodes(inodes);
    } else {
        failure.status = status;
        nt_inode_fail_probe(inode, &failure);
        /* Hides files of other formats. A remote one stays visible: its listing showed it before. */
        if (status == NT_NOT_THIS_FORMAT && inode->number != 0 && !inode->is_remote &&
            inodes->list[inode->parent]->kind == NT_INODE_PASSTHROUGH)
            inode->kind = NT_INODE_NONE;
    }
    nt_inode_end_opening(inodes, inode);
    if (opened) { /* no dataset ids left */
        pthread_mutex_unlock(&inodes->lock);
        nt_open_file_free(opened);
        pthread_mutex_lock(&inodes->lock);
    }
    if (twin)
        release(inodes, twin);
}

/* Does a thread open the inode, or another one whose file it can share? Call it under the lock. */
static bool is_being_opened(struct nt_inode_table *inodes, const struct nt_inode *inode)
{
    const struct nt_inode *twin = inode->opened ? NULL : nt_history_twin(inodes, inode);
    return inode->is_opening || (twin && twin->is_opening);
}

/* Returns the kind of the inode, and its file with an additional user. Call it under the lock. */
static enum nt_inode_kind hold(struct nt_inode_table *inodes, struct nt_inode *inode,
                               struct nt_open_file **opened_ret)
{
    while (is_being_opened(inodes, inode))
        pthread_cond_wait(&inodes->was_opened, &inodes->lock);
    if (inode->opened)
        inode->opened->users++;
    else if (nt_inode_is_stale(inodes, inode))
        return NT_INODE_STALE;
    else if (inode->is_file && (!inode->is_probed || inode->kind == NT_INODE_FILE) &&
             !nt_inode_in_backoff(inode))
        open_source_of(inodes, inode);
    if (inode->opened) {
        *opened_ret = inode->opened;
        TAILQ_REMOVE(&inodes->opened, inode->opened, by_use);
        TAILQ_INSERT_HEAD(&inodes->opened, inode->opened, by_use);
    }
    return inode->kind;
}

/* The last shown version of a gone dataset; the dataset itself if all its versions are freed. */
static struct nt_inode *shown_last(const struct nt_inode_table *inodes, struct nt_inode *inode)
{
    bool has_shown = inode->history && inode->history->shown != NT_NONE;
    return has_shown ? inodes->list[inode->history->shown] : inode;
}

/* The same for the inode that is shown there. */
static enum nt_inode_kind hold_shown(struct nt_inode_table *inodes, struct nt_inode *inode,
                                     uint32_t *shown_ret, struct nt_open_file **opened_ret)
{
    *shown_ret = inode->number;
    bool is_gone = nt_inode_is_stale(inodes, inode); /* its path belongs to another file */
    if (!is_gone && !nt_inode_probe_remote(inodes, inode))
        return inode->kind;
    struct nt_inode *shown = is_gone ? shown_last(inodes, inode) : nt_history_current(inodes, inode);
    *shown_ret = shown ? shown->number : inode->number;
    return shown ? hold(inodes, shown, opened_ret) : inode->kind;
}

enum nt_inode_kind nt_inodes_acquire(struct nt_inode_table *inodes, uint32_t number, uint32_t *shown_ret,
                                     struct nt_open_file **opened_ret)
{
    enum nt_inode_kind kind = NT_INODE_NONE;
    *opened_ret = NULL;
    *shown_ret = number;
    NT_MUTEX_GUARD(&inodes->lock);
    if (number < inodes->count && inodes->list[number])
        kind = hold_shown(inodes, inodes->list[number], shown_ret, opened_ret);
    return kind;
}

/* Call it under the lock. */
static bool is_given(const struct nt_inode_table *inodes, uint32_t dataset_id)
{
    return dataset_id < inodes->dataset_count && inodes->dataset_refs[dataset_id].inode < inodes->count &&
           inodes->list[inodes->dataset_refs[dataset_id].inode];
}

enum nt_inode_kind nt_inodes_acquire_dataset(struct nt_inode_table *inodes, uint32_t dataset_id,
                                             struct nt_dataset_ref *dataset_id_ret,
                                             struct nt_open_file **opened_ret)
{
    enum nt_inode_kind kind = NT_INODE_NONE;
    *opened_ret = NULL;
    NT_MUTEX_GUARD(&inodes->lock);
    if (is_given(inodes, dataset_id)) {
        *dataset_id_ret = inodes->dataset_refs[dataset_id];
        kind = hold(inodes, inodes->list[dataset_id_ret->inode], opened_ret);
    }
    return kind;
}

void nt_inodes_release(struct nt_inode_table *inodes, struct nt_open_file *opened)
{
    if (!opened)
        return;
    NT_MUTEX_GUARD(&inodes->lock);
    release(inodes, opened);
}

enum nt_inode_kind nt_inodes_kind(struct nt_inode_table *inodes, uint32_t number)
{
    struct nt_open_file *opened = NULL;
    struct nt_inode *inode = nt_inodes_get(inodes, number);
    if (!inode)
        return NT_INODE_NONE;
    NT_MUTEX_GUARD(&inodes->lock);
    bool is_known = inode->is_probed || nt_inode_is_listed(inodes, inode);
    enum nt_inode_kind kind = is_known ? inode->kind : hold_shown(inodes, inode, &number, &opened);
    if (opened)
        release(inodes, opened);
    return kind;
}

enum nt_status nt_inodes_failure(struct nt_inode_table *inodes, uint32_t number, struct nt_error *error)
{
    struct nt_inode *inode = nt_inodes_get(inodes, number);
    NT_MUTEX_GUARD(&inodes->lock);
    if (inode->kind != NT_INODE_FAILED)
        inode = shown_last(inodes, inode);
    if (nt_inode_is_stale(inodes, inode))
        return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s was replaced, modified or removed", inode->path);
    return inode->failure ? nt_fail_copy(error, inode->failure) : nt_fail_memory(error);
}

struct timespec nt_inodes_failed_at(struct nt_inode_table *inodes, uint32_t number)
{
    NT_MUTEX_GUARD(&inodes->lock);
    return inodes->list[number]->failed_at;
}

bool nt_inodes_of_node(struct nt_inode_table *inodes, uint64_t number, uint32_t *inode_ret)
{
    struct nt_node node;
    if (!nt_node_unpack(number, &node) || node.type == NT_NODE_MOUNT)
        return false;
    NT_MUTEX_GUARD(&inodes->lock);
    bool is_inode = node.type == NT_NODE_INODE;
    bool is_there =
        is_inode ? node.owner < inodes->count && inodes->list[node.owner] : is_given(inodes, node.owner);
    if (is_there)
        *inode_ret = is_inode ? node.owner : inodes->dataset_refs[node.owner].inode;
    return is_there;
}

bool nt_inodes_dataset_id(struct nt_inode_table *inodes, const struct nt_dataset *dataset,
                          uint32_t *dataset_id_ret)
{
    const struct nt_open_file *opened;
    NT_MUTEX_GUARD(&inodes->lock);
    TAILQ_FOREACH (opened, &inodes->opened, by_use)
        if (opened->file == dataset->file->stub)
            break;
    if (opened)
        *dataset_id_ret = opened->first_dataset_id + dataset->index;
    return opened != NULL;
}

bool nt_inodes_current_dataset_id(struct nt_inode_table *inodes, uint32_t version, uint32_t *dataset_id_ret)
{
    NT_MUTEX_GUARD(&inodes->lock);
    const struct nt_inode *shown = shown_last(inodes, inodes->list[inodes->list[version]->parent]);
    *dataset_id_ret = shown->first_dataset_id;
    return shown->dataset_count > 0;
}

uint64_t nt_vfs_source_bytes(struct nt_vfs *vfs)
{
    struct nt_inode_table *inodes = vfs->inodes;
    uint64_t bytes = 0;
    NT_MUTEX_GUARD(&inodes->lock);
    for (uint32_t i = 0; i < inodes->count; i++) {
        const struct nt_inode *inode = inodes->list[i];
        bool is_there = inode && !nt_inode_is_stale(inodes, inode);
        if (is_there && (inode->kind == NT_INODE_FILE || inode->kind == NT_INODE_FAILED))
            bytes += (uint64_t)inode->identity.st_size;
    }
    return bytes;
}
