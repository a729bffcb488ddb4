/* SPDX-License-Identifier: MIT
 *
 * Remote directories as folders. Their listings take one request per directory, and are sorted, cached
 * and refreshed on demand. Files with a known validator are opened without a further request.
 */
#include "remote/client/client.h"

#include <ntuple/source.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

struct nt_remote_entry {
    const char *name;
    const char *validator; /* identifies the version; "": only opening the file reveals it */
    uint64_t size;
    int64_t modified; /* NT_FETCH_NO_TIME */
    bool is_folder;
    uint32_t number; /* in order of arrival */
};

struct nt_remote_list {
    struct nt_remote_entry *entries; /* by name, each once */
    size_t count, capacity;
    struct nt_arena *arena;
    atomic_uint holders;
    uint64_t asked, number; /* time of the request (nt_milliseconds), and its number */
};

/* The caller fills in the first members: */
struct nt_remote_lists {
    struct nt_fetcher *fetcher;
    const char *address, *shown;     /* of the root folder */
    struct nt_remote_sublist *inner; /* lists requested so far */
    uint64_t count;                  /* number of requested lists */
};

/* ---- Directory listings ---- */

struct gathering {
    struct nt_helper_request fetch;
    struct nt_remote_list *list;
    bool is_without_memory;
    uint64_t last; /* time of the last answer */
};

/* ---- Answers, under the fetcher's lock ---- */

static bool is_text(const uint8_t *bytes, size_t count)
{
    return !memchr(bytes, '\0', count);
}

static bool add(struct nt_remote_list *list, const struct nt_fetch_answer *answer, const uint8_t *name,
                size_t name_bytes, size_t validator_bytes)
{
    struct nt_remote_entry *entries =
        nt_grow(list->entries, list->count, &list->capacity, sizeof(*list->entries));
    if (!entries)
        return false;
    list->entries = entries;
    entries[list->count] = (struct nt_remote_entry){
        .name = nt_arena_copy(list->arena, name, name_bytes),
        .validator = nt_arena_copy(list->arena, name + name_bytes + 1, validator_bytes),
        .size = answer->size,
        .modified = answer->modified,
        .is_folder = answer->is_folder != 0,
        .number = (uint32_t)list->count};
    return entries[list->count].name && entries[list->count++].validator;
}

static bool take_entry(struct nt_helper_request *fetch, const struct nt_fetch_answer *answer,
                       const uint8_t *bytes, size_t count)
{
    struct gathering *gathering = (struct gathering *)fetch;
    const uint8_t *end = memchr(bytes, '\0', count);
    size_t name = end ? (size_t)(end - bytes) : count;
    if (answer->kind != NT_FETCH_ENTRY || !end || gathering->list->count >= NT_FETCH_MAX_ENTRIES ||
        name > NT_FETCH_NAME_BYTES || !nt_folder_is_name_below((struct nt_text){(const char *)bytes, name}) ||
        memchr(bytes, '/', name) || count - name - 1 >= NT_FETCH_VALIDATOR_BYTES ||
        !is_text(end + 1, count - name - 1) || answer->size > INT64_MAX)
        return false;
    gathering->last = nt_milliseconds();
    gathering->is_without_memory |= !add(gathering->list, answer, bytes, name, count - name - 1);
    return true;
}

/* ---- Sorting ---- */

static int compare_names(const struct nt_remote_entry *a, const struct nt_remote_entry *b)
{
    return strcmp(a->name, b->name);
}

/* Among entries of one name the one that counts is last: a folder, else the latest. */
static int compare(const void *left, const void *right)
{
    const struct nt_remote_entry *a = left, *b = right;
    int order = compare_names(a, b);
    if (order)
        return order;
    return a->is_folder != b->is_folder ? a->is_folder - b->is_folder
                                        : (a->number > b->number) - (a->number < b->number);
}

static void settle(struct nt_remote_list *list)
{
    size_t kept = 0;
    if (list->count)
        qsort(list->entries, list->count, sizeof(*list->entries), compare);
    for (size_t i = 0; i < list->count; i++) {
        bool is_last = i + 1 == list->count || compare_names(&list->entries[i], &list->entries[i + 1]) != 0;
        if (is_last)
            list->entries[kept++] = list->entries[i];
    }
    list->count = kept;
}

/* ---- Requests ---- */

/* Each part of a list has its own time limit. */
static enum nt_status gather(struct nt_fetcher *fetcher, struct gathering *gathering, const char *address,
                             const char *shown, struct nt_error *error)
{
    const uint64_t patience = fetcher->milliseconds + NT_FETCH_GRACE_MILLISECONDS;
    gathering->last = nt_milliseconds();
    enum nt_status status = nt_fetcher_connect(fetcher, shown, gathering->last + patience, error);
    if (status != NT_OK)
        return status;
    gathering->fetch.take = take_entry;
    nt_fetcher_send(fetcher, &gathering->fetch, (struct nt_fetch_request){.kind = NT_FETCH_LIST}, address,
                    strlen(address));
    while (gathering->fetch.state == NT_FETCH_UNDERWAY)
        if (!nt_fetcher_wait(fetcher, gathering->last + patience) &&
            gathering->fetch.state == NT_FETCH_UNDERWAY && nt_milliseconds() >= gathering->last + patience) {
            nt_fetcher_cancel(fetcher, &gathering->fetch);
            return nt_fetcher_fail_timeout(fetcher, shown, error);
        }
    if (gathering->fetch.state != NT_FETCH_GOOD)
        return nt_helper_request_fail(&gathering->fetch, shown, error);
    return gathering->is_without_memory ? nt_fail_memory(error) : NT_OK;
}

/* Accepts NULL. */
static void remote_list_free(struct nt_remote_list *list)
{
    if (!list || atomic_fetch_sub(&list->holders, 1) != 1)
        return;
    free(list->entries);
    nt_arena_free(list->arena);
    free(list);
}

/* Requests a list: one round trip, or one per thousand files. NT_NOT_FOUND; NT_UNSUPPORTED if the
 * server lists no folders; else as nt_source_open_address. */
static enum nt_status remote_list_new(struct nt_fetcher *fetcher, const char *address,
                                      struct nt_remote_list **list_ret, struct nt_error *error)
{
    struct gathering gathering = {.list = calloc(1, sizeof(*gathering.list))};
    char *shown = nt_address_redact(address);
    if (gathering.list)
        atomic_init(&gathering.list->holders, 1);
    if (!gathering.list || !shown || !(gathering.list->arena = nt_arena_new())) {
        remote_list_free(gathering.list);
        free(shown);
        return nt_fail_memory(error);
    }
    nt_fetcher_lock(fetcher);
    enum nt_status status = gather(fetcher, &gathering, address, shown, error);
    nt_fetcher_unlock(fetcher);
    free(shown);
    if (status != NT_OK) {
        remote_list_free(gathering.list);
        return status;
    }
    settle(gathering.list);
    *list_ret = gathering.list;
    return NT_OK;
}

/* Adds a reference; the last remote_list_free frees the list. */
static void list_ref(struct nt_remote_list *list)
{
    atomic_fetch_add(&list->holders, 1);
}

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct nt_remote_entry *)entry)->name);
}

/* NULL: no such name. */
static const struct nt_remote_entry *remote_list_find(const struct nt_remote_list *list, const char *name)
{
    return list->count ? bsearch(name, list->entries, list->count, sizeof(*list->entries), compare_name)
                       : NULL;
}

/* ---- Listing cache ---- */

/* A folder below the root, or the root itself: "". */
struct nt_remote_sublist {
    char *name;
    struct nt_remote_list *list; /* NULL: not listed, or this remembered failure: */
    bool is_absent;
    struct nt_backoff backoff; /* for all requests to refresh it */
    struct nt_remote_sublist *next;
};

/* Splits a name at its last slash. */
static struct nt_text folder_of(struct nt_text name, const char **last_ret)
{
    const char *slash = name.length ? memrchr(name.bytes, '/', name.length) : NULL;
    *last_ret = slash ? slash + 1 : name.bytes;
    return (struct nt_text){name.bytes, slash ? (size_t)(slash - name.bytes) : 0};
}

static struct nt_remote_sublist *known_inner(const struct nt_remote_lists *lists, struct nt_text name)
{
    struct nt_remote_sublist *inner = lists->inner;
    while (inner && !nt_text_is(name, inner->name))
        inner = inner->next;
    return inner;
}

static struct nt_remote_sublist *inner_of(struct nt_remote_lists *lists, struct nt_text name,
                                          struct nt_error *error)
{
    struct nt_remote_sublist *inner = known_inner(lists, name);
    if (inner)
        return inner;
    inner = calloc(1, sizeof(*inner));
    if (!inner || !(inner->name = strndup(name.bytes, name.length))) {
        free(inner);
        nt_fail_memory(error);
        return NULL;
    }
    inner->next = lists->inner;
    lists->inner = inner;
    return inner;
}

/* Keeps the old list if the request fails. */
static enum nt_status request_list(struct nt_remote_lists *lists, struct nt_remote_sublist *inner,
                                   struct nt_error *error)
{
    const uint64_t now = nt_milliseconds();
    struct nt_remote_list *list = NULL;
    char *address = nt_address_below(lists->address, inner->name, true);
    enum nt_status status =
        address ? remote_list_new(lists->fetcher, address, &list, error) : nt_fail_memory(error);
    free(address);
    inner->is_absent = status == NT_NOT_FOUND;
    if (status != NT_OK && !inner->is_absent)
        return status;
    remote_list_free(inner->list);
    inner->list = list;
    if (list) {
        list->asked = now;
        list->number = ++lists->count;
    }
    return status;
}

/* The list of a folder; "" is the root. NT_NOT_FOUND if it does not exist, which the lists of its
 * parents may already show. Valid until the next refresh, or longer with a reference. */
static enum nt_status remote_lists_get(struct nt_remote_lists *lists, struct nt_text name,
                                       struct nt_remote_list **list_ret, struct nt_error *error)
{
    struct nt_remote_list *above = NULL;
    const struct nt_remote_entry *entry = NULL;
    struct nt_remote_sublist *inner = inner_of(lists, name, error);
    const char *last;
    if (!inner)
        return NT_NO_MEMORY;
    *list_ret = inner->list;
    if (inner->list)
        return NT_OK;
    if (name.length && !inner->is_absent) {
        struct nt_text outer = folder_of(nt_text_of(inner->name), &last);
        enum nt_status status = remote_lists_get(lists, outer, &above, error);
        if (status != NT_OK)
            return status;
        entry = remote_list_find(above, last);
    }
    if (inner->is_absent || (name.length && !(entry && entry->is_folder)))
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s/%s: no such directory", lists->shown,
                       inner->name);
    enum nt_status status = request_list(lists, inner, error);
    *list_ret = inner->list;
    return status;
}

/* Finds a file or folder in the list of its folder. */
static enum nt_status remote_lists_find(struct nt_remote_lists *lists, const char *name,
                                        const struct nt_remote_entry **entry_ret, struct nt_error *error)
{
    struct nt_remote_list *list;
    const char *last;
    struct nt_text outer = folder_of(nt_text_of(name), &last);
    enum nt_status status = remote_lists_get(lists, outer, &list, error);
    if (status != NT_OK)
        return status;
    *entry_ret = remote_list_find(list, last);
    return *entry_ret ? NT_OK
                      : nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s/%s: no such file", lists->shown, name);
}

static bool is_fresh(const struct nt_remote_list *list)
{
    return nt_milliseconds() - list->asked < NT_FRESH_MILLISECONDS;
}

/* A backoff: many lookups in a folder of a silent server wait only once. */
static enum nt_status ask_again(struct nt_remote_lists *lists, struct nt_remote_sublist *inner,
                                struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = nt_backoff_check(&inner->backoff, nt_milliseconds(), error);
    if (status != NT_OK)
        return status;
    status = request_list(lists, inner, &failure);
    if (status == NT_OK || status == NT_NOT_FOUND)
        return NT_OK;
    nt_backoff_note(&inner->backoff, &failure, nt_milliseconds());
    return nt_fail_with(error, &failure);
}

/* See nt_folder_refresh. Requests the innermost listed folder on the path again; those below it follow
 * when they are needed. Keeps the old list if the request fails. */
static enum nt_status remote_lists_refresh(struct nt_remote_lists *lists, struct nt_text name,
                                           uint64_t *number_ret, struct nt_error *error)
{
    const char *last;
    struct nt_remote_sublist *inner = known_inner(lists, name);
    while (!(inner && inner->list)) {
        if (inner)
            inner->is_absent = false;
        if (!name.length)
            return NT_OK;
        name = folder_of(name, &last);
        inner = known_inner(lists, name);
    }
    enum nt_status status = is_fresh(inner->list) ? NT_OK : ask_again(lists, inner, error);
    *number_ret = inner->list ? inner->list->number : ++lists->count;
    return status;
}

static void remote_lists_deinit(struct nt_remote_lists *lists)
{
    for (struct nt_remote_sublist *inner = lists->inner, *next; inner; inner = next) {
        next = inner->next;
        remote_list_free(inner->list);
        nt_backoff_deinit(&inner->backoff);
        free(inner->name);
        free(inner);
    }
}

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
    remote_lists_deinit(&folder->lists);
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
    enum nt_status status = remote_lists_refresh(&folder->lists, nt_text_of(name), list_ret, error);
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
    enum nt_status status = remote_lists_get(&folder->lists, nt_text_of(name), &list, error);
    if (status == NT_OK)
        list_ref(list);
    nt_lock_release(&folder->lock);
    if (status != NT_OK)
        return status;
    for (size_t i = 0; status == NT_OK && i < list->count; i++)
        status =
            visit(context,
                  &(struct nt_folder_entry){list->entries[i].name,
                                            list->entries[i].is_folder ? NT_ENTRY_FOLDER : NT_ENTRY_FILE},
                  error);
    remote_list_free(list);
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
    enum nt_status status = *name ? remote_lists_find(&folder->lists, name, &entry, error) : NT_OK;
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
    enum nt_status status = remote_lists_find(&folder->lists, name, &entry, error);
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
        (status = remote_lists_refresh(&folder->lists, nt_text_of(name), &list, &failure)) == NT_OK)
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
    if (status == NT_OK && (status = remote_lists_get(&folder->lists, nt_text_of(""), &list, error)) != NT_OK)
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
