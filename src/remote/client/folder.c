/* SPDX-License-Identifier: MIT
 *
 * Remote directories as folders. Files with a known validator are opened without a further request.
 */
#include "remote/client/client.h"

#include <ntuple/source.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/base/thread.h"
#include "core/io/address.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "remote/protocol.h"

struct remote_folder {
    struct nt_folder folder;
    struct nt_fetcher *fetcher;
    char *address, *shown;
    time_t opened;
    atomic_uint holders; /* references: the folder, and opened files */
    struct nt_lock lock; /* of the following; held during list requests: others wait */
    struct nt_remote_lists lists;
};

static struct remote_folder *remote(struct nt_folder *folder)
{
    return (struct remote_folder *)folder;
}

static void let_go(void *context)
{
    struct remote_folder *folder = context;
    if (atomic_fetch_sub(&folder->holders, 1) != 1)
        return;
    nt_remote_lists_deinit(&folder->lists);
    nt_fetcher_free(folder->fetcher);
    nt_lock_deinit(&folder->lock);
    free(folder->address);
    free(folder->shown);
    free(folder);
}

static enum nt_status refresh(struct nt_folder *base, const char *name, uint64_t *list_ret,
                              struct nt_error *error)
{
    struct remote_folder *folder = remote(base);
    nt_lock_acquire(&folder->lock);
    enum nt_status status = nt_remote_lists_refresh(&folder->lists, nt_text_of(name), list_ret, error);
    nt_lock_release(&folder->lock);
    return status;
}

/* ---- Entries ---- */

static enum nt_status visit_entries(struct nt_folder *base, const char *name, nt_folder_visit *visit,
                                    void *context, struct nt_error *error)
{
    struct remote_folder *folder = remote(base);
    struct nt_remote_list *list;
    nt_lock_acquire(&folder->lock);
    enum nt_status status = nt_remote_lists_get(&folder->lists, nt_text_of(name), &list, error);
    if (status == NT_OK)
        nt_remote_list_ref(list);
    nt_lock_release(&folder->lock);
    if (status != NT_OK)
        return status;
    for (size_t i = 0; status == NT_OK && i < list->count; i++)
        status =
            visit(context,
                  &(struct nt_folder_entry){list->entries[i].name,
                                            list->entries[i].is_folder ? NT_ENTRY_FOLDER : NT_ENTRY_FILE},
                  error);
    nt_remote_list_free(list);
    return status;
}

/* A changed file gets another inode number. */
static ino_t identity_of(const struct nt_remote_entry *entry)
{
    return XXH3_64bits(entry->validator, strlen(entry->validator));
}

/* A folder whose server gives no time gets the time when it was opened. */
static void fill_stat(const struct remote_folder *folder, const struct nt_remote_entry *entry,
                      struct stat *attributes)
{
    bool is_folder = !entry || entry->is_folder;
    int64_t modified = entry && entry->modified != NT_FETCH_NO_TIME ? entry->modified : folder->opened;
    *attributes = (struct stat){.st_ino = entry ? identity_of(entry) : 0,
                                .st_mode = is_folder ? S_IFDIR | 0555 : S_IFREG | 0444,
                                .st_nlink = is_folder ? 2 : 1,
                                .st_size = entry ? (off_t)entry->size : 0,
                                .st_uid = geteuid(),
                                .st_gid = getegid(),
                                .st_mtim.tv_sec = modified,
                                .st_ctim.tv_sec = modified};
}

static enum nt_status stat_entry(struct nt_folder *base, const char *name, struct stat *attributes,
                                 struct nt_error *error)
{
    struct remote_folder *folder = remote(base);
    const struct nt_remote_entry *entry = NULL;
    nt_lock_acquire(&folder->lock);
    enum nt_status status = *name ? nt_remote_lists_find(&folder->lists, name, &entry, error) : NT_OK;
    if (status == NT_OK)
        fill_stat(folder, entry, attributes);
    nt_lock_release(&folder->lock);
    return status;
}

/* ---- Files ---- */

static enum nt_status copy_known(struct remote_folder *folder, const char *name,
                                 struct nt_remote_attributes *known_ret, struct nt_error *error)
{
    const struct nt_remote_entry *entry;
    enum nt_status status = nt_remote_lists_find(&folder->lists, name, &entry, error);
    if (status != NT_OK)
        return status;
    if (entry->is_folder)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s/%s: expected a file, found a directory",
                       folder->shown, name);
    known_ret->is_known = entry->validator[0];
    known_ret->size = entry->size;
    known_ret->modified = entry->modified;
    memcpy(known_ret->validator, entry->validator, strlen(entry->validator) + 1);
    return NT_OK;
}

/* A file that its folder's list lacks may have been created since: refreshes the list. */
static enum nt_status get_attributes(void *context, const char *name, struct nt_remote_attributes *known_ret,
                                     struct nt_error *error)
{
    struct remote_folder *folder = context;
    struct nt_error failure = {0};
    uint64_t list;
    nt_lock_acquire(&folder->lock);
    enum nt_status status = copy_known(folder, name, known_ret, &failure);
    if (status == NT_NOT_FOUND &&
        (status = nt_remote_lists_refresh(&folder->lists, nt_text_of(name), &list, &failure)) == NT_OK)
        status = copy_known(folder, name, known_ret, &failure);
    nt_lock_release(&folder->lock);
    return status == NT_OK ? NT_OK : nt_fail_with(error, &failure);
}

static enum nt_status open_lazily(struct nt_folder *base, const char *name, struct nt_source **source_ret,
                                  struct nt_error *error)
{
    struct remote_folder *folder = remote(base);
    struct nt_remote_file *file;
    const struct nt_remote_attribute_source attribute_source = {get_attributes, let_go, folder};
    struct nt_buffer shown = {0};
    char *address = nt_address_below(folder->address, name, false);
    nt_buffer_text(&shown, folder->shown);
    if (!nt_address_is_folder(folder->shown))
        nt_buffer_byte(&shown, '/');
    nt_buffer_text(&shown, name);
    atomic_fetch_add(&folder->holders, 1);
    enum nt_status status;
    if (address && !shown.failed) {
        status =
            nt_remote_file_new(folder->fetcher, address, shown.bytes, name, &attribute_source, &file, error);
    } else {
        let_go(folder);
        status = nt_fail_memory(error);
    }
    nt_buffer_deinit(&shown);
    free(address);
    if (status == NT_OK)
        *source_ret = &file->source;
    return status;
}

/* Every format is recognised by both ends of a file. Requests them together with missing attributes. */
static void request_ends(struct nt_source *source)
{
    const uint64_t size = source->size, end_bytes = size < NT_FETCH_END_BYTES ? size : NT_FETCH_END_BYTES;
    const struct nt_extent ends[] = {{0, end_bytes}, {size - end_bytes, end_bytes}};
    nt_source_prefetch(source, ends, sizeof(ends) / sizeof(*ends), true);
}

static enum nt_status open_now(struct nt_folder *base, const char *name, struct nt_source **source_ret,
                               struct nt_error *error)
{
    struct nt_source *source;
    enum nt_status status = open_lazily(base, name, &source, error);
    if (status != NT_OK)
        return status;
    status = nt_remote_file_open((struct nt_remote_file *)source, error);
    if (status != NT_OK) {
        nt_source_close(source);
        return status;
    }
    request_ends(source);
    *source_ret = source;
    return NT_OK;
}

/* ---- The folder itself ---- */

/* A folder has no version to check. */
static enum nt_status check_nothing(struct nt_folder *folder, struct nt_error *error)
{
    return NT_OK;
}

static enum nt_status show(struct nt_folder *folder, struct stat *attributes, struct nt_error *error)
{
    fill_stat(remote(folder), NULL, attributes);
    return NT_OK;
}

static enum nt_status open_sibling(struct nt_folder *folder, const char *path, struct nt_folder **sibling_ret,
                                   struct nt_error *error)
{
    if (nt_is_address(path))
        return nt_folder_open_address(path, remote(folder)->fetcher, sibling_ret, error);
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "%s: is a local directory, but the dataset is on a server", path);
}

static enum nt_status open_below(struct nt_folder *base, const char *name, struct nt_folder **below_ret,
                                 struct nt_error *error)
{
    const struct remote_folder *folder = remote(base);
    char *address = nt_address_below(folder->address, name, true);
    enum nt_status status =
        address ? nt_folder_open_address(address, folder->fetcher, below_ret, error) : nt_fail_memory(error);
    free(address);
    return status;
}

static void close_remote(struct nt_folder *folder)
{
    let_go(folder);
}

static const struct nt_folder_ops remote_ops = {
    .list = visit_entries,
    .stat = stat_entry,
    .open = open_now,
    .open_lazily = open_lazily,
    .lazy_bytes = sizeof(struct nt_remote_file),
    .open_sibling = open_sibling,
    .open_below = open_below,
    .refresh = refresh,
    .check = check_nothing,
    .show = show,
    .close = close_remote,
};

/* On success, holds a reference to the fetcher. */
static enum nt_status new_folder(const char *address, struct nt_fetcher *fetcher,
                                 struct remote_folder **folder_ret, struct nt_error *error)
{
    struct remote_folder *folder = calloc(1, sizeof(*folder));
    if (!folder || nt_lock_init(&folder->lock, NULL)) {
        free(folder);
        return nt_fail_memory(error);
    }
    atomic_init(&folder->holders, 1);
    folder->opened = time(NULL);
    folder->address = nt_address_folder_of(address);
    folder->shown = folder->address ? nt_address_redact(folder->address) : NULL;
    enum nt_status status = folder->shown ? nt_fetcher_ref(fetcher, error) : nt_fail_memory(error);
    if (status == NT_OK)
        folder->fetcher = fetcher;
    if (status != NT_OK) {
        let_go(folder);
        return status;
    }
    folder->folder = (struct nt_folder){.ops = &remote_ops, .path = folder->shown};
    folder->lists =
        (struct nt_remote_lists){.fetcher = fetcher, .address = folder->address, .shown = folder->shown};
    *folder_ret = folder;
    return NT_OK;
}

enum nt_status nt_folder_open_address(const char *address, struct nt_fetcher *fetcher,
                                      struct nt_folder **folder_ret, struct nt_error *error)
{
    struct nt_fetcher *own = NULL;
    struct remote_folder *folder = NULL;
    struct nt_remote_list *list;
    enum nt_status status = nt_address_check(address, error);
    if (status == NT_OK)
        status = nt_fetcher_or_own(&fetcher, &own, error);
    if (status == NT_OK)
        status = new_folder(address, fetcher, &folder, error);
    if (status == NT_OK &&
        (status = nt_remote_lists_get(&folder->lists, nt_text_of(""), &list, error)) != NT_OK)
        let_go(folder);
    nt_fetcher_free(own);
    if (status == NT_OK)
        *folder_ret = &folder->folder;
    return status;
}

/* ---- Sources ---- */

static enum nt_status open_folder_source(const char *address, struct nt_fetcher *fetcher,
                                         struct nt_source **source_ret, struct nt_error *error)
{
    struct nt_folder *folder;
    enum nt_status status = nt_folder_open_address(address, fetcher, &folder, error);
    if (status == NT_OK && (status = nt_source_of_folder(folder, source_ret, error)) != NT_OK)
        nt_folder_close(folder);
    return status;
}

/* A server may give any of these for a folder requested as a file: it does not exist, it returns an
 * index page, its name is not valid for a file. */
static bool may_be_folder(enum nt_status status)
{
    return status == NT_NOT_FOUND || status == NT_UNSUPPORTED || status == NT_INVALID;
}

static enum nt_status open_whatever(const char *address, struct nt_fetcher *fetcher,
                                    struct nt_source **source_ret, struct nt_error *error)
{
    struct nt_error failure = {0};
    if (nt_address_is_folder(address))
        return open_folder_source(address, fetcher, source_ret, error);
    enum nt_status status = nt_source_open_address(address, fetcher, source_ret, &failure);
    if (may_be_folder(status) && open_folder_source(address, fetcher, source_ret, NULL) == NT_OK)
        return NT_OK;
    return status == NT_OK ? NT_OK : nt_fail_with(error, &failure);
}

enum nt_status nt_source_open_remote(const char *address, struct nt_fetcher *fetcher,
                                     struct nt_source **source_ret, struct nt_error *error)
{
    struct nt_fetcher *own = NULL;
    enum nt_status status = nt_fetcher_or_own(&fetcher, &own, error);
    if (status == NT_OK)
        status = open_whatever(address, fetcher, source_ret, error);
    nt_fetcher_free(own);
    return status;
}
