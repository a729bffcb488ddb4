/* SPDX-License-Identifier: MIT
 *
 * Listings of remote directories: one request per directory, sorted and cached, and refreshed on
 * demand.
 */
#include "remote/client/client.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/base/thread.h"
#include "core/io/address.h"
#include "core/io/folder.h"
#include "remote/protocol.h"

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

/* Requests a list: one round trip, or one per thousand files. NT_NOT_FOUND; NT_UNSUPPORTED if the
 * server lists no folders; else as nt_source_open_address. */
static enum nt_status nt_remote_list_new(struct nt_fetcher *fetcher, const char *address,
                                         struct nt_remote_list **list_ret, struct nt_error *error)
{
    struct gathering gathering = {.list = calloc(1, sizeof(*gathering.list))};
    char *shown = nt_address_redact(address);
    if (gathering.list)
        atomic_init(&gathering.list->holders, 1);
    if (!gathering.list || !shown || !(gathering.list->arena = nt_arena_new())) {
        nt_remote_list_free(gathering.list);
        free(shown);
        return nt_fail_memory(error);
    }
    nt_fetcher_lock(fetcher);
    enum nt_status status = gather(fetcher, &gathering, address, shown, error);
    nt_fetcher_unlock(fetcher);
    free(shown);
    if (status != NT_OK) {
        nt_remote_list_free(gathering.list);
        return status;
    }
    settle(gathering.list);
    *list_ret = gathering.list;
    return NT_OK;
}

void nt_remote_list_ref(struct nt_remote_list *list)
{
    atomic_fetch_add(&list->holders, 1);
}

void nt_remote_list_free(struct nt_remote_list *list)
{
    if (!list || atomic_fetch_sub(&list->holders, 1) != 1)
        return;
    free(list->entries);
    nt_arena_free(list->arena);
    free(list);
}

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct nt_remote_entry *)entry)->name);
}

/* NULL: no such name. */
static const struct nt_remote_entry *nt_remote_list_find(const struct nt_remote_list *list, const char *name)
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
        address ? nt_remote_list_new(lists->fetcher, address, &list, error) : nt_fail_memory(error);
    free(address);
    inner->is_absent = status == NT_NOT_FOUND;
    if (status != NT_OK && !inner->is_absent)
        return status;
    nt_remote_list_free(inner->list);
    inner->list = list;
    if (list) {
        list->asked = now;
        list->number = ++lists->count;
    }
    return status;
}

enum nt_status nt_remote_lists_get(struct nt_remote_lists *lists, struct nt_text name,
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
        enum nt_status status = nt_remote_lists_get(lists, outer, &above, error);
        if (status != NT_OK)
            return status;
        entry = nt_remote_list_find(above, last);
    }
    if (inner->is_absent || (name.length && !(entry && entry->is_folder)))
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s/%s: no such directory", lists->shown,
                       inner->name);
    enum nt_status status = request_list(lists, inner, error);
    *list_ret = inner->list;
    return status;
}

enum nt_status nt_remote_lists_find(struct nt_remote_lists *lists, const char *name,
                                    const struct nt_remote_entry **entry_ret, struct nt_error *error)
{
    struct nt_remote_list *list;
    const char *last;
    struct nt_text outer = folder_of(nt_text_of(name), &last);
    enum nt_status status = nt_remote_lists_get(lists, outer, &list, error);
    if (status != NT_OK)
        return status;
    *entry_ret = nt_remote_list_find(list, last);
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

enum nt_status nt_remote_lists_refresh(struct nt_remote_lists *lists, struct nt_text name,
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

void nt_remote_lists_deinit(struct nt_remote_lists *lists)
{
    for (struct nt_remote_sublist *inner = lists->inner, *next; inner; inner = next) {
        next = inner->next;
        nt_remote_list_free(inner->list);
        nt_backoff_deinit(&inner->backoff);
        free(inner->name);
        free(inner);
    }
}
