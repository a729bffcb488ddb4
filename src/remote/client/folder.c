/* SPDX-License-Identifier: MIT
 *
 * Directories on servers, as struct nt_folder. Their listings take one request per directory, and are cached
 * and refreshed on demand. Files with a known validator are opened without a further request.
 */
#include "remote/client/client.h"

#include <errno.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/text.h"
#include "core/io/address.h"

/* A directory below the root, or the root itself: "". */
struct sublist {
    char *name;
    struct nt_remote_list *list; /* NULL: not listed, or this remembered failure: */
    bool is_absent;
    struct nt_backoff backoff; /* for all requests to refresh it */
    LIST_ENTRY(sublist) all;
};

struct nt_remote_folder {
    struct nt_folder folder; /* its files hold it, too */
    struct nt_fetcher *fetcher;
    char *address, *shown;
    time_t opened;
    struct nt_lock lock;           /* of the following; held during list requests: others wait */
    LIST_HEAD(, sublist) sublists; /* requested so far */
    uint64_t count;                /* of requested lists */
};

static struct nt_remote_folder *remote(struct nt_folder *folder)
{
    return (struct nt_remote_folder *)folder;
}

/* ---- Cache of listings, under the lock ---- */

/* Splits a name at its last slash. */
static struct nt_text folder_of(struct nt_text name, const char **last_ret)
{
    const char *slash = name.length ? memrchr(name.bytes, '/', name.length) : NULL;
    *last_ret = slash ? slash + 1 : name.bytes;
    return (struct nt_text){name.bytes, slash ? (size_t)(slash - name.bytes) : 0};
}

static struct sublist *known_inner(const struct nt_remote_folder *folder, struct nt_text name)
{
    struct sublist *inner;
    LIST_FOREACH(inner, &folder->sublists, all)
    if (nt_text_is(name, inner->name))
        break;
    return inner;
}

static struct sublist *inner_of(struct nt_remote_folder *folder, struct nt_text name, struct nt_error *error)
{
    struct sublist *inner = known_inner(folder, name);
    if (inner)
        return inner;
    inner = calloc(1, sizeof(*inner));
    if (!inner || !(inner->name = strndup(name.bytes, name.length))) {
        free(inner);
        nt_fail_memory(error);
        return NULL;
    }
    LIST_INSERT_HEAD(&folder->sublists, inner, all);
    return inner;
}

/* Keeps the old list if the request fails. A backoff: many lookups in a directory of a silent server wait
 * only once. */
static enum nt_status request_list(struct nt_remote_folder *folder, struct sublist *inner,
                                   struct nt_error *error)
{
    struct nt_remote_list *list = NULL;
    struct nt_error failure = {0};
    NT_TRY(nt_backoff_check(&inner->backoff, nt_milliseconds(), error));
    NT_AUTO_FREE char *address = nt_address_below(folder->address, inner->name, true);
    enum nt_status status =
        address ? nt_remote_list_new(folder->fetcher, address, &list, &failure) : nt_fail_memory(&failure);
    inner->is_absent = status == NT_NOT_FOUND;
    if (status == NT_OK || inner->is_absent) {
        nt_remote_list_free(inner->list);
        inner->list = list;
    } else {
        nt_backoff_note(&inner->backoff, &failure, nt_milliseconds());
    }
    if (list)
        list->number = ++folder->count;
    return status == NT_OK ? NT_OK : nt_fail_copy(error, &failure);
}

/* The list of a directory; "" is the root. NT_NOT_FOUND if it does not exist, which the lists of its
 * parents may already show. Valid until the next refresh, or longer with a reference. Goes down from the
 * innermost directory that is listed, since most directories of a long name may not exist. */
static enum nt_status list_of(struct nt_remote_folder *folder, struct nt_text name,
                              struct nt_remote_list **list_ret, struct nt_error *error)
{
    const struct nt_remote_entry *entry = NULL;
    const struct sublist *known;
    const char *last;
    struct nt_text ancestor = name;
    if (name.length > NT_FETCH_TEXT_BYTES) /* as a local file system: no request is so long */
        return nt_fail_system(error, ENAMETOOLONG, "%s/%.32s...", folder->shown, name.bytes);
    while (!((known = known_inner(folder, ancestor)) && known->list) && ancestor.length)
        ancestor = folder_of(ancestor, &last);
    do {
        struct sublist *inner = inner_of(folder, ancestor, error);
        if (!inner)
            return NT_NO_MEMORY;
        if (!inner->list && !inner->is_absent)
            NT_TRY(request_list(folder, inner, error));
        *list_ret = inner->list;
        if (!inner->list)
            break;
        if (ancestor.length == name.length)
            return NT_OK;
        const size_t at = ancestor.length + (ancestor.length > 0);
        const char *end = memchr(name.bytes + at, '/', name.length - at);
        ancestor.length = end ? (size_t)(end - name.bytes) : name.length;
        entry = nt_remote_list_find(*list_ret, (struct nt_text){name.bytes + at, ancestor.length - at});
    } while (entry && entry->is_folder);
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s/%.*s: no such directory", folder->shown,
                   (int)ancestor.length, ancestor.bytes);
}

/* Finds a file or directory in the list of its directory. */
static enum nt_status find(struct nt_remote_folder *folder, const char *name,
                           const struct nt_remote_entry **entry_ret, struct nt_error *error)
{
    struct nt_remote_list *list;
    const char *last;
    NT_TRY(list_of(folder, folder_of(nt_text_of(name), &last), &list, error));
    *entry_ret = nt_remote_list_find(list, nt_text_of(last));
    return *entry_ret
               ? NT_OK
               : nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s/%s: no such file", folder->shown, name);
}

/* Requests the innermost listed directory on the path again; those below it follow when they are needed.
 * Keeps the old list if the request fails. */
static enum nt_status ask_again_on_way(struct nt_remote_folder *folder, struct nt_text name,
                                       uint64_t *number_ret, struct nt_error *error)
{
    const char *last;
    struct sublist *inner = known_inner(folder, name);
    while (!(inner && inner->list)) {
        if (inner)
            inner->is_absent = false;
        if (!name.length)
            return NT_OK;
        name = folder_of(name, &last);
        inner = known_inner(folder, name);
    }
    bool is_fresh = nt_milliseconds() - inner->list->asked < NT_FRESH_MILLISECONDS;
    enum nt_status status = is_fresh ? NT_OK : request_list(folder, inner, error);
    *number_ret = inner->list ? inner->list->number : ++folder->count;
    return status == NT_NOT_FOUND ? NT_OK : status;
}

static enum nt_status refresh(struct nt_folder *base, const char *name, uint64_t *list_ret,
                              struct nt_error *error)
{
    struct nt_remote_folder *folder = remote(base);
    NT_LOCK_GUARD(&folder->lock);
    return ask_again_on_way(folder, nt_text_of(name), list_ret, error);
}

/* ---- Entries ---- */

static enum nt_status visit_entries(struct nt_folder *base, const char *name, nt_folder_visit *visit,
                                    void *context, struct nt_error *error)
{
    struct nt_remote_folder *folder = remote(base);
    struct nt_remote_list *list;
    nt_lock_acquire(&folder->lock);
    enum nt_status status = list_of(folder, nt_text_of(name), &list, error);
    if (status == NT_OK)
        atomic_fetch_add(&list->extra_references, 1);
    nt_lock_release(&folder->lock);
    NT_TRY(status);
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

/* A directory whose server gives no time gets the time when it was opened. */
static void fill_stat(const struct nt_remote_folder *folder, const struct nt_remote_entry *entry,
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
    struct nt_remote_folder *folder = remote(base);
    const struct nt_remote_entry *entry = NULL;
    NT_LOCK_GUARD(&folder->lock);
    NT_TRY(*name ? find(folder, name, &entry, error) : NT_OK);
    fill_stat(folder, entry, attributes);
    return NT_OK;
}

/* ---- Files ---- */

static enum nt_status copy_known(struct nt_remote_folder *folder, const char *name,
                                 struct nt_remote_version *known_ret, struct nt_error *error)
{
    const struct nt_remote_entry *entry;
    NT_TRY(find(folder, name, &entry, error));
    if (entry->is_folder)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s/%s: expected a file, found a directory",
                       folder->shown, name);
    known_ret->size = entry->size;
    known_ret->modified = entry->modified;
    memcpy(known_ret->validator, entry->validator, strlen(entry->validator) + 1);
    return NT_OK;
}

enum nt_status nt_remote_folder_known(struct nt_remote_folder *folder, const char *name,
                                      struct nt_remote_version *known_ret, struct nt_error *error)
{
    struct nt_error failure = {0};
    uint64_t list;
    nt_lock_acquire(&folder->lock);
    enum nt_status status = copy_known(folder, name, known_ret, &failure);
    if (status == NT_NOT_FOUND &&
        (status = ask_again_on_way(folder, nt_text_of(name), &list, &failure)) == NT_OK)
        status = copy_known(folder, name, known_ret, &failure);
    nt_lock_release(&folder->lock);
    return status == NT_OK ? NT_OK : nt_fail_copy(error, &failure);
}

static enum nt_status open_lazily(struct nt_folder *base, const char *name, struct nt_source **source_ret,
                                  struct nt_error *error)
{
    const struct nt_remote_folder *folder = remote(base);
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer shown = {0};
    NT_AUTO_FREE char *address = nt_address_below(folder->address, name, false);
    nt_buffer_append_string(&shown, folder->shown);
    if (!nt_address_is_folder(folder->shown))
        nt_buffer_append_byte(&shown, '/');
    nt_buffer_append_string(&shown, name);
    return address && !shown.failed
               ? nt_remote_file_new(folder->fetcher, address, shown.bytes, base, name, source_ret, error)
               : nt_fail_memory(error);
}

/* Every format is recognised by both ends of a file. Requests them together with missing attributes. */
static void request_ends(struct nt_source *source)
{
    const uint64_t size = source->size, end_bytes = nt_min(size, NT_FETCH_END_BYTES);
    const struct nt_extent ends[] = {{0, end_bytes}, {size - end_bytes, end_bytes}};
    nt_source_prefetch(source, ends, sizeof(ends) / sizeof(*ends), NT_PREFETCH_NOW);
}

static enum nt_status open_now(struct nt_folder *base, const char *name, struct nt_source **source_ret,
                               struct nt_error *error)
{
    NT_CLEANUP(nt_source_close_at) struct nt_source *source = NULL;
    NT_TRY(open_lazily(base, name, &source, error));
    NT_TRY(nt_source_size(source, &source->size, error));
    request_ends(source);
    *source_ret = source;
    source = NULL;
    return NT_OK;
}

/* ---- The directory itself ---- */

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
    const struct nt_remote_folder *folder = remote(base);
    NT_AUTO_FREE char *address = nt_address_below(folder->address, name, true);
    return address ? nt_folder_open_address(address, folder->fetcher, below_ret, error)
                   : nt_fail_memory(error);
}

static void close_remote(struct nt_folder *base)
{
    struct nt_remote_folder *folder = remote(base);
    struct sublist *inner;
    while ((inner = LIST_FIRST(&folder->sublists))) {
        LIST_REMOVE(inner, all);
        nt_remote_list_free(inner->list);
        nt_backoff_deinit(&inner->backoff);
        free(inner->name);
        free(inner);
    }
    nt_fetcher_free(folder->fetcher);
    nt_lock_deinit(&folder->lock);
    free(folder->address);
    free(folder->shown);
    free(folder);
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
    .show = show,
    .close = close_remote,
};

/* The caller closes the folder also after a failure. */
static enum nt_status new_folder(const char *address, struct nt_fetcher *fetcher,
                                 struct nt_folder **folder_ret, struct nt_error *error)
{
    struct nt_remote_folder *folder = calloc(1, sizeof(*folder));
    if (!folder || nt_lock_init(&folder->lock, NULL)) {
        free(folder);
        return nt_fail_memory(error);
    }
    folder->opened = time(NULL);
    folder->address = nt_address_folder_of(address);
    folder->shown = folder->address ? nt_address_redact(folder->address) : NULL;
    folder->folder = (struct nt_folder){.ops = &remote_ops, .path = folder->shown};
    *folder_ret = &folder->folder;
    NT_TRY(nt_check_memory(folder->shown, error));
    NT_TRY(nt_fetcher_ref(fetcher, error));
    folder->fetcher = fetcher;
    return NT_OK;
}

enum nt_status nt_folder_open_address(const char *address, struct nt_fetcher *fetcher,
                                      struct nt_folder **folder_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_fetcher_free_at) struct nt_fetcher *own = NULL;
    NT_CLEANUP(nt_folder_close_at) struct nt_folder *folder = NULL;
    struct nt_remote_list *list;
    NT_TRY(nt_address_check(address, error));
    NT_TRY(nt_fetcher_or_own(&fetcher, &own, error));
    NT_TRY(new_folder(address, fetcher, &folder, error));
    NT_TRY(list_of(remote(folder), nt_text_of(""), &list, error));
    *folder_ret = folder;
    folder = NULL;
    return NT_OK;
}
