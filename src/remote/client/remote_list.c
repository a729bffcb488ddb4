/* SPDX-License-Identifier: MIT
 *
 * In: the address of a folder. Out: what the process that fetches tells of it, sorted. Where a server has a file and a folder of one name
 * (S3 has), it is the folder.
 */
#include "remote/client/remote_list.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/grow.h"
#include "remote/client/fetcher_life.h"
#include "core/io/folder.h"
#include "core/io/remote.h"
#include "remote/client/remote_file.h"

struct gathering {
    struct nt_fetch fetch;
    struct nt_remote_list *list;
    bool is_without_memory;
    uint64_t last; /* when something came */
};

/* ---- what comes; under the fetcher's lock ---- */

static bool is_text(const uint8_t *bytes, size_t count)
{
    return !memchr(bytes, '\0', count);
}

static bool add(struct nt_remote_list *list, const struct nt_fetch_answer *answer, const uint8_t *name,
                size_t name_bytes, size_t stamp_bytes)
{
    struct nt_remote_entry *entries =
        nt_grow(list->entries, list->count, &list->capacity, sizeof(*list->entries));
    if (!entries)
        return false;
    list->entries = entries;
    entries[list->count] =
        (struct nt_remote_entry){.name = nt_arena_copy(list->arena, name, name_bytes),
                                 .stamp = nt_arena_copy(list->arena, name + name_bytes + 1, stamp_bytes),
                                 .size = answer->size,
                                 .modified = answer->modified,
                                 .is_folder = answer->is_folder != 0,
                                 .number = (uint32_t)list->count};
    return entries[list->count].name && entries[list->count++].stamp;
}

static bool take_entry(struct nt_fetch *fetch, const struct nt_fetch_answer *answer, const uint8_t *bytes,
                       size_t count)
{
    struct gathering *gathering = (struct gathering *)fetch;
    const uint8_t *end = memchr(bytes, '\0', count);
    size_t name = end ? (size_t)(end - bytes) : count;
    if (answer->kind != NT_FETCH_ENTRY || !end || gathering->list->count >= NT_FETCH_MOST_ENTRIES ||
        name > NT_FETCH_NAME_BYTES || !nt_folder_is_name_below((struct nt_text){(const char *)bytes, name}) ||
        memchr(bytes, '/', name) || count - name - 1 >= NT_FETCH_STAMP_BYTES ||
        !is_text(end + 1, count - name - 1) || answer->size > INT64_MAX)
        return false;
    gathering->last = nt_milliseconds();
    gathering->is_without_memory |= !add(gathering->list, answer, bytes, name, count - name - 1);
    return true;
}

static void end_list(struct nt_fetch *fetch)
{
    (void)fetch;
}

/* ---- in order ---- */

static int compare_names(const struct nt_remote_entry *a, const struct nt_remote_entry *b)
{
    return strcmp(a->name, b->name);
}

/* What counts of those of one name comes last: a folder, else what came last. */
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

/* ---- asking ---- */

/* Each part of a list has its own time. */
static enum nt_status gather(struct nt_fetcher *fetcher, struct gathering *gathering, const char *address,
                             const char *shown, struct nt_error *error)
{
    const uint64_t patience = fetcher->milliseconds + NT_FETCH_GRACE_MILLISECONDS;
    gathering->last = nt_milliseconds();
    enum nt_status status = nt_fetcher_be_there(fetcher, shown, gathering->last + patience, error);
    if (status != NT_OK)
        return status;
    gathering->fetch.take = take_entry;
    gathering->fetch.end = end_list;
    nt_fetcher_ask(fetcher, &gathering->fetch, (struct nt_fetch_request){.kind = NT_FETCH_LIST}, address,
                   strlen(address));
    while (gathering->fetch.link)
        if (!nt_fetcher_wait(fetcher, gathering->last + patience) && gathering->fetch.link &&
            nt_milliseconds() >= gathering->last + patience) {
            nt_fetcher_drop(fetcher, &gathering->fetch);
            return nt_fetcher_fail_silent(fetcher, shown, error);
        }
    if (gathering->fetch.state != NT_FETCH_GOOD)
        return nt_fetch_fail(&gathering->fetch, shown, error);
    return gathering->is_without_memory ? nt_fail_memory(error) : NT_OK;
}

enum nt_status nt_remote_list_new(struct nt_fetcher *fetcher, const char *address,
                                  struct nt_remote_list **list_ret, struct nt_error *error)
{
    struct gathering gathering = {.list = calloc(1, sizeof(*gathering.list))};
    char *shown = nt_address_shown(address);
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

void nt_remote_list_hold(struct nt_remote_list *list)
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

const struct nt_remote_entry *nt_remote_list_find(const struct nt_remote_list *list, const char *name)
{
    return list->count ? bsearch(name, list->entries, list->count, sizeof(*list->entries), compare_name)
                       : NULL;
}
