/* SPDX-License-Identifier: MIT
 *
 * Creates the inodes of the sources of a tree, and frees all inodes at the end. Several sources become
 * directories with unique names; so do the members of a chain in files.d.
 */
#include <errno.h>

#include "core/io/address.h"
#include "vfs/vfs.h"

/* ---- Members of a chain ---- */

struct nt_member_inodes {
    const struct nt_chain_list *list;
    struct nt_names *names;
    uint32_t *inodes; /* [file]; NT_NONE: not looked up yet */
};

static void ask_file(const void *context, uint32_t item, struct nt_name_request *request)
{
    const struct nt_chain_list *list = context;
    request->text = nt_path_name(list->files[item].path);
    request->rule = NT_NAME_DATASET;
}

/* The list must outlive the result, which the caller frees even after a failure. */
static enum nt_status new_member_inodes(const struct nt_chain_list *list, struct nt_member_inodes **chain_ret,
                                        struct nt_error *error)
{
    struct nt_member_inodes *chain = *chain_ret = calloc(1, sizeof(*chain));
    NT_TRY(nt_check_memory(chain, error));
    chain->list = list;
    chain->inodes = calloc(list->count, sizeof(*chain->inodes));
    NT_TRY(nt_check_memory(chain->inodes, error));
    for (uint32_t i = 0; i < list->count; i++)
        chain->inodes[i] = NT_NONE;
    return nt_names_build(list->count, ask_file, list, &chain->names, error);
}

void nt_member_inodes_free(struct nt_member_inodes *chain)
{
    if (!chain)
        return;
    nt_names_free(chain->names);
    free(chain->inodes);
    free(chain);
}

const char *nt_member_inodes_name(const struct nt_member_inodes *chain, uint32_t file)
{
    return nt_names_get(chain->names, file);
}

/* Adds an inode for a member. It uses the identity from the list: a later replacement of the file does
 * not change what the chain shows. Call it under the lock. */
static enum nt_status add_file(struct nt_inode_table *inodes, const struct nt_inode *outer, uint32_t file,
                               struct nt_error *error)
{
    const struct nt_chain_file *listed = &outer->chain->list->files[file];
    struct nt_inode *inode;
    NT_TRY(nt_inodes_add(inodes, outer->number, listed->path, NT_INODE_FILE, &inode, error));
    inode->is_remote = listed->address != NULL;
    if (inode->is_remote)
        nt_inode_set_remote_identity(inode, &listed->identity);
    else
        nt_inode_set_identity(inode, &listed->identity);
    inode->route = NT_ROUTE_FILE;
    NT_TRY(nt_inode_set_text(&inode->name, nt_member_inodes_name(outer->chain, file), error));
    if (listed->address)
        NT_TRY(nt_inode_set_text(&inode->address, listed->address, error));
    outer->chain->inodes[file] = inode->number;
    return NT_OK;
}

enum nt_status nt_member_inodes_find(struct nt_inode_table *inodes, uint32_t number, const char *name,
                                     uint32_t *inode_ret, struct nt_error *error)
{
    const struct nt_inode *outer = nt_inodes_get(inodes, number);
    uint32_t file = nt_names_find(outer->chain->names, 0, name);
    if (file == NT_NONE)
        return nt_fail_no_such_file(error);
    NT_MUTEX_GUARD(&inodes->lock);
    if (outer->chain->inodes[file] == NT_NONE)
        NT_TRY(add_file(inodes, outer, file, error));
    *inode_ret = outer->chain->inodes[file];
    return NT_OK;
}

/* ---- Sources of the tree ---- */

enum {
    MAX_INODES = 1 << 20,
    MAX_SLOTS = 1 << 16, /* limits of the node number */
};

void nt_inodes_free(struct nt_inode_table *inodes)
{
    if (!inodes)
        return;
    nt_inodes_close_all(inodes);
    for (uint32_t i = 0; i < inodes->count; i++)
        if (inodes->list[i])
            nt_inode_free(inodes->list[i]);
    free(inodes->list);
    free(inodes->dataset_refs);
    nt_ida_deinit(&inodes->ids);
    nt_ida_deinit(&inodes->dataset_ids);
    pthread_cond_destroy(&inodes->has_idle);
    pthread_cond_destroy(&inodes->was_opened);
    pthread_mutex_destroy(&inodes->lock);
    free(inodes);
}

static enum nt_status add_address(struct nt_inode_table *inodes, const char *address, uint32_t *number_ret,
                                  struct nt_error *error)
{
    struct nt_inode *inode;
    NT_AUTO_FREE char *shown = nt_address_redact(address);
    NT_AUTO_FREE char *path = shown ? nt_address_folder_of(shown) : NULL;
    NT_TRY(nt_check_memory(path, error));
    NT_TRY(nt_inodes_add(inodes, 0, path, NT_INODE_FILE, &inode, error));
    NT_TRY(nt_inode_set_text(&inode->address, address, error));
    inode->is_remote = true;
    nt_inode_set_remote_identity(inode, NULL);
    *number_ret = inode->number;
    return NT_OK;
}

/* Adds an inode for a source path. The first use finds out whether it opens. */
static enum nt_status add_path(struct nt_inode_table *inodes, const char *path, uint32_t *number_ret,
                               struct nt_error *error)
{
    if (nt_is_address(path))
        return add_address(inodes, path, number_ret, error);
    NT_AUTO_FREE char *absolute = realpath(path, NULL);
    struct stat identity;
    struct nt_inode *inode;
    if (!absolute && errno == ENOENT && nt_has_wildcard(path))
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET,
                       "%s: no such file; the option chain reads the files of a pattern as one", path);
    if (!absolute)
        return nt_fail_path(error, errno, path);
    NT_TRY(nt_local_stat(absolute, &identity, error));
    bool is_dataset = true;
    if (S_ISDIR(identity.st_mode))
        NT_TRY(nt_is_dataset_path(absolute, &is_dataset, error));
    NT_TRY(
        nt_inodes_add(inodes, 0, absolute, is_dataset ? NT_INODE_FILE : NT_INODE_PASSTHROUGH, &inode, error));
    nt_inode_set_identity(inode, &identity);
    *number_ret = inode->number;
    return NT_OK;
}

/* Adds an inode for all files of a chain. */
static enum nt_status add_chain(struct nt_inode_table *inodes, struct nt_error *error)
{
    const struct nt_chain_list *list = inodes->vfs->options.chain;
    struct nt_inode *inode;
    NT_TRY(nt_inodes_add(inodes, 0, list->name, NT_INODE_FILE, &inode, error));
    const struct nt_chain_file *first = list->files, *last = &list->files[list->count - 1];
    while (first < last && !first->identity.st_mode && !first->address)
        first++;
    if (first->address) {
        nt_inode_set_remote_identity(inode, &first->identity);
    } else {
        inode->identity = first->identity;
        NT_TRY(nt_inode_set_text(&inode->identity_path, first->path, error));
    }
    return new_member_inodes(list, &inode->chain, error);
}

/* Adds the root of several paths. A missing path is an error: a mistake in the command. */
static enum nt_status add_group(struct nt_inode_table *inodes, const char *const *paths, size_t count,
                                struct nt_error *error)
{
    struct nt_inode *group;
    NT_TRY(nt_inodes_add(inodes, 0, NULL, NT_INODE_GROUP, &group, error));
    NT_AUTO_FREE uint32_t *children = calloc(count, sizeof(uint32_t));
    NT_TRY(nt_check_memory(children, error));
    for (size_t i = 0; i < count; i++)
        NT_TRY(add_path(inodes, paths[i], &children[i], error));
    NT_MUTEX_GUARD(&inodes->lock);
    group->identity = inodes->list[children[0]]->identity;
    for (size_t i = 0; i < count; i++)
        inodes->list[children[i]]->order = group->next_order++;
    NT_TRY(nt_inodes_set_children(inodes, group, children, (uint32_t)count, error));
    children = NULL; /* those of the group now */
    return NT_OK;
}

/* ---- Check of the sources ---- */

struct inode_search {
    struct nt_inode_table *inodes;
    unsigned tries; /* inodes left to check */
};

/* Each directory also takes a try, which bounds the recursion. */
static bool may_show(struct inode_search *search, uint32_t number)
{
    uint32_t child, order = 0;
    if (search->tries == 0)
        return true;
    search->tries--;
    enum nt_inode_kind kind = nt_inodes_kind(search->inodes, number);
    if (kind != NT_INODE_PASSTHROUGH)
        return kind == NT_INODE_FILE;
    const struct nt_inode *folder = nt_inodes_get(search->inodes, number);
    if (!folder->is_remote && nt_local_has_more(folder->path, search->tries))
        return true; /* a scan would take long */
    if (nt_inodes_scan(search->inodes, number, NULL) != NT_OK)
        return false;
    for (; (child = nt_inodes_next(search->inodes, number, &order)) != NT_NONE; order++)
        if (may_show(search, child))
            return true;
    return false;
}

enum nt_status nt_inodes_check_source(struct nt_inode_table *inodes, uint32_t number, struct nt_error *error)
{
    enum { MAX_TRIES = 500 };
    struct inode_search search = {.inodes = inodes, .tries = MAX_TRIES};
    enum nt_inode_kind kind = nt_inodes_kind(inodes, number);
    if (kind == NT_INODE_FAILED)
        return nt_inodes_failure(inodes, number, error);
    if (kind != NT_INODE_PASSTHROUGH || may_show(&search, number))
        return NT_OK;
    return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                   "cannot show anything in this directory: none of its files is a data file that opens");
}

/* Is the message about another file of a chain that is named after its first file? */
static bool is_about_other_file(const struct nt_chain_list *chain, const char *message)
{
    if (!chain || strcmp(chain->name, chain->files[0].path) != 0)
        return false;
    for (uint32_t i = 1; i < chain->count; i++)
        if (nt_message_about(message, chain->files[i].path))
            return true;
    return false;
}

/* The message names the source once, as the user typed it. */
static enum nt_status failure_of(struct nt_inode_table *inodes, uint32_t number, const char *path,
                                 struct nt_error *error)
{
    const char *own_path = nt_inodes_get(inodes, number)->path;
    NT_AUTO_FREE char *shown = nt_address_redact(path);
    struct nt_error failure = {0};
    nt_inodes_failure(inodes, number, &failure);
    if (shown)
        nt_error_strip(&failure, shown);
    nt_error_strip(&failure, own_path);
    if (!is_about_other_file(inodes->vfs->options.chain, failure.message))
        nt_error_context(&failure, "%s", shown ? shown : own_path);
    return nt_fail_copy(error, &failure);
}

enum nt_status nt_inodes_new(struct nt_vfs *vfs, const char *const *paths, size_t path_count,
                             struct nt_error *error)
{
    if (path_count == 0)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "no source given");
    struct nt_inode_table *inodes = calloc(1, sizeof(*inodes));
    NT_TRY(nt_check_memory(inodes, error));
    pthread_mutex_init(&inodes->lock, NULL);
    pthread_cond_init(&inodes->was_opened, NULL);
    pthread_cond_init(&inodes->has_idle, NULL);
    inodes->vfs = vfs;
    vfs->inodes = inodes;
    TAILQ_INIT(&inodes->opened);
    TAILQ_INIT(&inodes->gone);
    inodes->ids.limit = MAX_INODES;
    inodes->dataset_ids.limit = MAX_SLOTS;
    nt_inodes_limit_open(inodes);
    uint32_t number;
    enum nt_status status;
    if (vfs->options.chain)
        status = add_chain(inodes, error);
    else
        status = path_count == 1 ? add_path(inodes, paths[0], &number, error)
                                 : add_group(inodes, paths, path_count, error);
    inodes->source_count = inodes->count;
    NT_TRY(status);
    /* One working source is enough, and a directory may get files later. */
    uint32_t first = inodes->source_count > 1; /* inode 0 is the group */
    for (uint32_t i = first; i < inodes->source_count; i++)
        if (nt_inodes_kind(inodes, i) != NT_INODE_FAILED)
            return NT_OK;
    return failure_of(inodes, first, paths[0], error);
}
