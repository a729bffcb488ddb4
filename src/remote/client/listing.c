/* SPDX-License-Identifier: MIT
 *
 * Listings of remote directories: one request each, sorted and searched by name.
 */
#include "remote/client/client.h"

#include "core/base/text.h"
#include "core/io/address.h"

/* ---- Answers, under the fetcher's lock ---- */

static bool add(struct nt_remote_list *list, const struct nt_fetch_answer *answer, const uint8_t *name,
                size_t name_bytes, size_t validator_bytes)
{
    if (!NT_GROW(list->entries, list->count, list->capacity))
        return false;
    list->entries[list->count] = (struct nt_remote_entry){
        .name = nt_arena_copy(list->arena, name, name_bytes),
        .validator = nt_arena_copy(list->arena, name + name_bytes + 1, validator_bytes),
        .size = answer->size,
        .modified = answer->modified,
        .is_folder = answer->is_folder != 0,
        .number = (uint32_t)list->count};
    return list->entries[list->count].name && list->entries[list->count++].validator;
}

static bool take_entry(struct nt_helper_request *fetch, const struct nt_fetch_answer *answer,
                       const uint8_t *bytes, size_t count)
{
    struct nt_remote_list *list = (struct nt_remote_list *)fetch;
    const uint8_t *end = memchr(bytes, '\0', count);
    size_t name = end ? (size_t)(end - bytes) : count, validator = count - name - 1;
    if (answer->kind != NT_FETCH_ENTRY || !end || list->count >= NT_FETCH_MAX_ENTRIES ||
        name > NT_FETCH_NAME_BYTES || !nt_folder_is_name_below((struct nt_text){(const char *)bytes, name}) ||
        memchr(bytes, '/', name) || validator >= NT_FETCH_VALIDATOR_BYTES ||
        memchr(end + 1, '\0', validator) || answer->size > INT64_MAX)
        return false;
    list->last = nt_milliseconds();
    list->is_without_memory |= !add(list, answer, bytes, name, validator);
    return true;
}

/* ---- Sorting ---- */

/* Among entries of one name the one that counts is last: a directory, else the latest. */
static int compare(const void *left, const void *right)
{
    const struct nt_remote_entry *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    if (order)
        return order;
    return a->is_folder != b->is_folder ? a->is_folder - b->is_folder
                                        : (a->number > b->number) - (a->number < b->number);
}

static void sort_entries(struct nt_remote_list *list)
{
    struct nt_remote_entry *entries = list->entries;
    size_t kept = 0;
    if (list->count)
        qsort(entries, list->count, sizeof(*entries), compare);
    for (size_t i = 0; i < list->count; i++) {
        bool is_last = i + 1 == list->count || strcmp(entries[i].name, entries[i + 1].name) != 0;
        if (is_last)
            entries[kept++] = entries[i];
    }
    list->count = kept;
}

/* ---- Requests ---- */

/* Each part of a list has its own time limit. */
static enum nt_status gather(struct nt_fetcher *fetcher, struct nt_remote_list *list, const char *address,
                             const char *shown, struct nt_error *error)
{
    const uint64_t patience = fetcher->milliseconds + NT_FETCH_GRACE_MILLISECONDS;
    NT_FETCHER_GUARD(fetcher);
    list->last = list->asked;
    NT_TRY(nt_fetcher_connect(fetcher, shown, list->last + patience, error));
    list->fetch.take = take_entry;
    nt_fetcher_send(fetcher, &list->fetch, (struct nt_fetch_request){.kind = NT_FETCH_LIST}, address,
                    strlen(address));
    while (list->fetch.state == NT_HELPER_REQUEST_PENDING)
        if (!nt_fetcher_wait(fetcher, list->last + patience) &&
            list->fetch.state == NT_HELPER_REQUEST_PENDING && nt_milliseconds() >= list->last + patience) {
            nt_fetcher_cancel(fetcher, &list->fetch);
            return nt_fetcher_fail_timeout(fetcher, shown, error);
        }
    if (list->fetch.state != NT_HELPER_REQUEST_DONE)
        return nt_helper_request_fail(&list->fetch, shown, error);
    return list->is_without_memory ? nt_fail_memory(error) : NT_OK;
}

void nt_remote_list_free(struct nt_remote_list *list)
{
    if (!list || atomic_fetch_sub(&list->extra_references, 1) != 0)
        return;
    free(list->entries);
    nt_arena_free(list->arena);
    free(list);
}

enum nt_status nt_remote_list_new(struct nt_fetcher *fetcher, const char *address,
                                  struct nt_remote_list **list_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_remote_list_free_at) struct nt_remote_list *list = calloc(1, sizeof(*list));
    NT_AUTO_FREE char *shown = nt_address_redact(address);
    if (list)
        list->arena = nt_arena_new();
    NT_TRY(nt_check_memory(shown && list && list->arena, error));
    list->asked = nt_milliseconds();
    NT_TRY(gather(fetcher, list, address, shown, error));
    sort_entries(list);
    *list_ret = list;
    list = NULL;
    return NT_OK;
}

static int compare_name(const void *name, const void *entry)
{
    return nt_texts_compare(*(const struct nt_text *)name,
                            nt_text_of(((const struct nt_remote_entry *)entry)->name));
}

const struct nt_remote_entry *nt_remote_list_find(const struct nt_remote_list *list, struct nt_text name)
{
    return list->count ? bsearch(&name, list->entries, list->count, sizeof(*list->entries), compare_name)
                       : NULL;
}
