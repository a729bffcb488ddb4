/* SPDX-License-Identifier: MIT
 *
 * The inode table: allocation and reuse of numbers with generations, parents and children, FUSE lookup
 * counts, and epoch-based reclamation of inodes that were removed and that the kernel no longer
 * references.
 */
#include "vfs/vfs.h"

#include <unistd.h>

/* ---- Allocate ids ---- */

bool nt_ida_alloc(struct nt_ida *ids, uint32_t count, uint32_t *first_ret)
{
    for (size_t i = 0; count && i < ids->free_count; i++) {
        struct nt_ida_range *run = &ids->free[i];
        if (run->count < count)
            continue;
        *first_ret = run->first;
        run->first += count;
        run->count -= count;
        if (run->count == 0)
            memmove(run, run + 1, (--ids->free_count - i) * sizeof(*run));
        return true;
    }
    if (count > ids->limit - ids->used)
        return false;
    *first_ret = ids->used;
    ids->used += count;
    return true;
}

NT_DEFINE_COUNT_UP_TO(runs_up_to, struct nt_ida_range, .first)

void nt_ida_free(struct nt_ida *ids, uint32_t first, uint32_t count)
{
    struct nt_ida_range *runs = ids->free;
    size_t at = runs_up_to(runs, ids->free_count, first);
    bool touches_before = at > 0 && runs[at - 1].first + runs[at - 1].count == first;
    bool touches_after = at < ids->free_count && first + count == runs[at].first;
    if (count == 0)
        return;
    if (touches_before) {
        runs[at - 1].count += count;
        if (!touches_after)
            return;
        runs[at - 1].count += runs[at].count;
        memmove(&runs[at], &runs[at + 1], (--ids->free_count - at) * sizeof(*runs));
    } else if (touches_after) {
        runs[at].first = first;
        runs[at].count += count;
    } else if (NT_GROW(ids->free, ids->free_count, ids->capacity)) {
        memmove(&ids->free[at + 1], &ids->free[at], (ids->free_count++ - at) * sizeof(*runs));
        ids->free[at] = (struct nt_ida_range){first, count};
    }
}

void nt_ida_deinit(struct nt_ida *ids)
{
    free(ids->free);
}

/* ---- Enter and leave epochs ---- */

/* An entry that was counted for an epoch which has ended meanwhile retries. An epoch advances only when
 * no thread is in the previous one, so that thread could miss the advance. */
unsigned nt_epoch_enter(struct nt_epoch *epoch)
{
    for (;;) {
        unsigned epoch_token = atomic_load(&epoch->current) % 2;
        atomic_fetch_add(&epoch->inside[epoch_token], 1);
        if (atomic_load(&epoch->current) % 2 == epoch_token)
            return epoch_token;
        atomic_fetch_sub(&epoch->inside[epoch_token], 1);
    }
}

void nt_epoch_exit(struct nt_epoch *epoch, unsigned epoch_token)
{
    atomic_fetch_sub(&epoch->inside[epoch_token], 1);
}

bool nt_epoch_advance(struct nt_epoch *epoch)
{
    unsigned current = atomic_load(&epoch->current);
    if (atomic_load(&epoch->inside[(current + 1) % 2]))
        return false;
    atomic_store(&epoch->current, current + 1);
    return true;
}

/* ---- Inodes and their children ---- */

struct nt_inode *nt_inodes_get(struct nt_inode_table *inodes, uint32_t number)
{
    NT_MUTEX_GUARD(&inodes->lock);
    return number < inodes->count ? inodes->list[number] : NULL;
}

/* Returns memory from malloc, or NULL. */
static struct nt_inode *new_inode(const char *path, enum nt_inode_kind kind)
{
    struct nt_inode *inode = calloc(1, sizeof(*inode));
    if (!inode || (path && !(inode->path = strdup(path)))) {
        free(inode);
        return NULL;
    }
    inode->kind = kind;
    inode->is_file = kind == NT_INODE_FILE;
    inode->is_probed = kind != NT_INODE_FILE;
    inode->disk_name = path ? strrchr(inode->path, '/') + 1 : "";
    return inode;
}

enum nt_status nt_inodes_add(struct nt_inode_table *inodes, uint32_t parent, const char *path,
                             enum nt_inode_kind kind, struct nt_inode **inode_ret, struct nt_error *error)
{
    uint32_t number;
    if (!nt_ida_alloc(&inodes->ids, 1, &number))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "%s: the mount has more than the limit of %u files and directories", path ? path : "",
                       inodes->ids.limit);
    struct nt_inode *inode = new_inode(path, kind);
    if (!inode || !NT_GROW(inodes->list, inodes->count, inodes->capacity)) {
        if (inode)
            nt_inode_free(inode);
        nt_ida_free(&inodes->ids, number, 1);
        return nt_fail_memory(error);
    }
    inodes->count += number == inodes->count;
    inodes->list[number] = inode;
    inode->number = number;
    inode->generation = inodes->freed + 1; /* earlier inodes of this number have smaller ones */
    inode->parent = parent;
    if (number != parent)
        inodes->list[parent]->inside++;
    *inode_ret = inode;
    return NT_OK;
}

enum nt_status nt_inode_set_text(char **text, const char *value, struct nt_error *error)
{
    char *copy = strdup(value);
    NT_TRY(nt_check_memory(copy, error));
    free(*text);
    *text = copy;
    return NT_OK;
}

void nt_inode_set_identity(struct nt_inode *inode, const struct stat *identity)
{
    inode->identity = *identity;
    inode->may_have_versions = inode->is_file && S_ISDIR(identity->st_mode) && !inode->is_remote;
}

void nt_inode_set_remote_identity(struct nt_inode *inode, const struct stat *listed)
{
    const struct stat unknown = {
        .st_mode = S_IFREG | 0444, .st_nlink = 1, .st_uid = geteuid(), .st_gid = getegid()};
    nt_inode_set_identity(inode, listed && S_ISREG(listed->st_mode) ? listed : &unknown);
}

void nt_inode_fail(struct nt_inode *inode, const struct nt_error *error)
{
    if (inode->kind == NT_INODE_FAILED && inode->failure && inode->failure->status == error->status &&
        strcmp(inode->failure->message, error->message) == 0)
        return; /* it has this failure already */
    inode->kind = NT_INODE_FAILED;
    clock_gettime(CLOCK_REALTIME, &inode->failed_at);
    if (!inode->failure)
        inode->failure = malloc(sizeof(*error));
    if (inode->failure)
        *inode->failure = *error;
}

/* The failure is permanent if the file causes it, not the system or a temporary state. */
void nt_inode_fail_probe(struct nt_inode *inode, const struct nt_error *error)
{
    nt_inode_fail(inode, error);
    if (error->status == NT_UNREACHABLE)
        inode->retry_after = nt_milliseconds() + NT_BACKOFF_MILLISECONDS;
    inode->is_probed = inode->failure && !nt_is_environmental(error->status) && error->status != NT_NOT_FOUND;
}

bool nt_inode_in_backoff(const struct nt_inode *inode)
{
    return inode->kind == NT_INODE_FAILED && nt_milliseconds() < inode->retry_after;
}

bool nt_inode_is_stale(const struct nt_inode_table *inodes, const struct nt_inode *inode)
{
    while (inode->number >= inodes->source_count && !inode->is_gone)
        inode = inodes->list[inode->parent];
    return inode->is_gone;
}

uint32_t nt_inodes_dataset_inode(struct nt_inode_table *inodes, uint32_t number)
{
    const struct nt_inode *inode = nt_inodes_get(inodes, number);
    return inode->route == NT_ROUTE_CURRENT ? inode->parent : number;
}

void nt_inodes_name(struct nt_inode_table *inodes, uint32_t number, char name_ret[NT_NAME_BYTES + 1])
{
    NT_MUTEX_GUARD(&inodes->lock);
    const char *name = inodes->list[number]->name;
    nt_string_copy(name_ret, NT_NAME_BYTES + 1, name ? name : "");
}

bool nt_inodes_is_passthrough(struct nt_inode_table *inodes, uint32_t number)
{
    NT_MUTEX_GUARD(&inodes->lock);
    const struct nt_inode *inode = inodes->list[number];
    bool is_in_folder = number != 0 && inodes->list[inode->parent]->kind == NT_INODE_PASSTHROUGH;
    return inode->kind == NT_INODE_PASSTHROUGH || inode->history || nt_inode_is_version(inode) ||
           is_in_folder;
}

/* ---- Known children ---- */

struct children_context {
    const struct nt_inode_table *inodes;
    const uint32_t *children;
};

static const char *disk_name(const struct nt_inode_table *inodes, uint32_t inode)
{
    return inodes->list[inode]->disk_name;
}

static void ask_child(const void *context, uint32_t item, struct nt_name_request *request)
{
    const struct children_context *c = context;
    request->text = nt_text_of(disk_name(c->inodes, c->children[item]));
    request->rule = NT_NAME_DATASET;
}

static int compare_inodes(const void *left, const void *right, void *context)
{
    return strcmp(disk_name(context, *(const uint32_t *)left), disk_name(context, *(const uint32_t *)right));
}

static enum nt_status copy_names(struct nt_inode_table *inodes, const struct nt_names *names,
                                 const uint32_t *children, uint32_t count, struct nt_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        struct nt_inode *child = inodes->list[children[i]];
        const char *name = nt_names_get(names, i);
        if (!child->name || strcmp(child->name, name) != 0)
            NT_TRY(nt_inode_set_text(&child->name, name, error));
    }
    return NT_OK;
}

enum nt_status nt_inodes_set_children(struct nt_inode_table *inodes, struct nt_inode *folder,
                                      uint32_t *children, uint32_t count, struct nt_error *error)
{
    struct children_context context = {inodes, children};
    NT_CLEANUP(nt_names_free_at) struct nt_names *names = NULL;
    NT_AUTO_FREE uint32_t *by_name = calloc(count + 1, sizeof(uint32_t));
    NT_TRY(nt_check_memory(by_name, error));
    NT_TRY(nt_names_build(count, ask_child, &context, &names, error));
    NT_TRY(copy_names(inodes, names, children, count, error));
    if (count)
        memcpy(by_name, children, count * sizeof(uint32_t));
    qsort_r(by_name, count, sizeof(uint32_t), compare_inodes, inodes);
    nt_names_free(folder->names);
    free(folder->children);
    free(folder->by_name);
    folder->names = names;
    folder->children = children;
    folder->by_name = by_name;
    folder->child_count = count;
    names = NULL; /* those of the directory now */
    by_name = NULL;
    return NT_OK;
}

/* The number of children with a smaller order. */
static uint32_t children_before(const struct nt_inode_table *inodes, const struct nt_inode *folder,
                                uint32_t order)
{
    uint32_t low = 0, high = folder->child_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (inodes->list[folder->children[middle]]->order < order)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t nt_inodes_next(struct nt_inode_table *inodes, uint32_t number, uint32_t *order)
{
    const struct nt_inode *folder = nt_inodes_get(inodes, number);
    uint32_t found = NT_NONE;
    NT_MUTEX_GUARD(&inodes->lock);
    uint32_t at = children_before(inodes, folder, *order);
    if (at < folder->child_count) {
        found = folder->children[at];
        *order = inodes->list[found]->order;
    }
    return found;
}

/* ---- Lookup counts and reclamation ---- */

static void history_free(struct nt_version_history *history)
{
    if (!history)
        return;
    nt_hash_table_deinit(&history->versions);
    free(history->listed);
    for (size_t i = 0; i < NT_VERSION_WATCHED; i++)
        free(history->watched[i].name);
    free(history);
}

void nt_inode_free(struct nt_inode *inode)
{
    nt_names_free(inode->names);
    history_free(inode->history);
    if (inode->source)
        nt_source_close(inode->source);
    nt_folder_close(inode->folder);
    nt_member_inodes_free(inode->chain);
    free(inode->failure);
    free(inode->children);
    free(inode->by_name);
    free(inode->path);
    free(inode->address);
    free(inode->name);
    free(inode->version);
    free(inode->series);
    free(inode->identity_path);
    free(inode);
}

/* Is the inode unreachable by lookups: gone, or a version that is not shown? A later request for such a
 * version gets a new inode. This and the functions up to nt_inodes_exit run under the lock. */
static bool is_left(const struct nt_inode_table *inodes, const struct nt_inode *inode)
{
    return nt_inode_is_stale(inodes, inode) ||
           (nt_inode_is_version(inode) && inodes->list[inode->parent]->history->shown != inode->number);
}

/* Is such an inode unused? */
static bool can_go(const struct nt_inode *inode)
{
    return inode->nlookup == 0 && !inode->opened && !inode->is_opening && inode->inside == 0;
}

static void free_ids(struct nt_inode_table *inodes, struct nt_inode *inode)
{
    for (uint32_t i = 0; i < inode->dataset_count; i++)
        inodes->dataset_refs[inode->first_dataset_id + i].inode = NT_NONE;
    nt_ida_free(&inodes->dataset_ids, inode->first_dataset_id, inode->dataset_count);
    inodes->list[inode->number] = NULL;
    nt_ida_free(&inodes->ids, inode->number, 1);
    inodes->freed++;
}

static void take_out_of_history(struct nt_version_history *history, struct nt_inode *inode)
{
    nt_hash_table_remove(&history->versions, &inode->by_version);
    if (history->shown == inode->number)
        history->shown = NT_NONE;
}

/* Moves the inode to the caller's list. */
static void take_out(struct nt_inode_table *inodes, struct nt_inode *inode, struct nt_inode_list *list)
{
    struct nt_inode *above = inodes->list[inode->parent];
    if (nt_inode_is_version(inode))
        take_out_of_history(above->history, inode);
    free_ids(inodes, inode);
    SLIST_INSERT_HEAD(list, inode, link);
    above->inside--;
    nt_inodes_retire(inodes, above);
}

/* Moves the inodes that are still unused to `list`. Threads that entered before the retirement may have
 * used them. */
static void take_out_all(struct nt_inode_table *inodes, struct nt_inode_list *waiting,
                         struct nt_inode_list *list)
{
    struct nt_inode_list left = SLIST_HEAD_INITIALIZER(left);
    struct nt_inode *inode;
    while ((inode = SLIST_FIRST(waiting))) {
        SLIST_REMOVE_HEAD(waiting, link);
        inode->is_retired = is_left(inodes, inode) && can_go(inode);
        if (inode->is_retired)
            SLIST_INSERT_HEAD(&left, inode, link);
    }
    if (!SLIST_EMPTY(&left)) /* their numbers are about to be reused */
        nt_generated_invalidate(inodes->vfs->generated, inodes);
    while ((inode = SLIST_FIRST(&left))) {
        SLIST_REMOVE_HEAD(&left, link);
        take_out(inodes, inode, list);
    }
}

static bool has_retired(const struct nt_inode_table *inodes)
{
    return !SLIST_EMPTY(&inodes->retired) || !SLIST_EMPTY(&inodes->waiting);
}

/* Freeing may close files, so it runs without the lock. */
void nt_inodes_exit(struct nt_inode_table *inodes, unsigned epoch_token)
{
    struct nt_inode_list list = SLIST_HEAD_INITIALIZER(list);
    struct nt_inode *inode;
    nt_epoch_exit(&inodes->epoch, epoch_token);
    if (!atomic_load_explicit(&inodes->has_retired, memory_order_relaxed))
        return;
    pthread_mutex_lock(&inodes->lock);
    while (has_retired(inodes) && nt_epoch_advance(&inodes->epoch)) {
        struct nt_inode_list waiting = inodes->waiting;
        inodes->waiting = inodes->retired;
        SLIST_INIT(&inodes->retired);
        take_out_all(inodes, &waiting, &list);
    }
    atomic_store(&inodes->has_retired, has_retired(inodes));
    pthread_mutex_unlock(&inodes->lock);
    while ((inode = SLIST_FIRST(&list))) {
        SLIST_REMOVE_HEAD(&list, link);
        nt_inode_free(inode);
    }
}

/* ---- Retiring, under the lock ---- */

void nt_inodes_retire(struct nt_inode_table *inodes, struct nt_inode *inode)
{
    if (!inodes->vfs->options.counts_lookups || inode->is_retired || inode->number < inodes->source_count ||
        !can_go(inode) || !is_left(inodes, inode))
        return;
    inode->is_retired = true;
    SLIST_INSERT_HEAD(&inodes->retired, inode, link);
    atomic_store(&inodes->has_retired, true);
}

/* The reason of a failed open is of no further use. */
void nt_inodes_unlink(struct nt_inode_table *inodes, struct nt_inode *inode)
{
    inode->is_gone = true;
    free(inode->failure);
    inode->failure = NULL;
    nt_inodes_retire(inodes, inode);
}

void nt_inode_end_opening(struct nt_inode_table *inodes, struct nt_inode *inode)
{
    inode->is_opening = false;
    pthread_cond_broadcast(&inodes->was_opened);
    nt_inodes_retire(inodes, inode);
}

void nt_inodes_retire_all(struct nt_inode_table *inodes)
{
    for (uint32_t i = 0; inodes->vfs->options.counts_lookups && i < inodes->count; i++)
        if (inodes->list[i])
            nt_inodes_retire(inodes, inodes->list[i]);
}

bool nt_inodes_is_retired(const struct nt_inode_table *inodes, uint32_t number)
{
    return number < inodes->count && inodes->list[number] && inodes->list[number]->is_retired;
}

/* ---- Lookups in the table ---- */

void nt_inodes_ref(struct nt_inode_table *inodes, uint32_t number)
{
    NT_MUTEX_GUARD(&inodes->lock);
    if (number < inodes->count && inodes->list[number])
        inodes->list[number]->nlookup++;
}

void nt_inodes_forget(struct nt_inode_table *inodes, uint32_t number, uint64_t times)
{
    NT_MUTEX_GUARD(&inodes->lock);
    struct nt_inode *inode = number < inodes->count ? inodes->list[number] : NULL;
    if (inode) {
        inode->nlookup -= times < inode->nlookup ? times : inode->nlookup;
        nt_inodes_retire(inodes, inode);
    }
}
