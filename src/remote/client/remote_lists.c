/* SPDX-License-Identifier: MIT
 *
 * In: names of folders beneath an address. Out: their lists, each asked for once, and again where somebody wants it as it is now.
 */
#include "remote/client/remote_lists.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "remote/client/fetcher.h"
#include "remote/client/refusal.h"
#include "core/io/remote.h"
#include "remote/client/remote_list.h"

/* A folder beneath, or the folder itself: "". */
struct nt_remote_inner {
    char *name;
    struct nt_remote_list *list; /* NULL: it was not listed; or, what is remembered as well: */
    bool is_absent;
    struct nt_refusal refusal; /* of all who want it listed again */
    struct nt_remote_inner *next;
};

/* The part of a name in front of its last slash, and what is behind. */
static struct nt_text folder_of(struct nt_text name, const char **last_ret)
{
    const char *slash = name.length ? memrchr(name.bytes, '/', name.length) : NULL;
    *last_ret = slash ? slash + 1 : name.bytes;
    return (struct nt_text){name.bytes, slash ? (size_t)(slash - name.bytes) : 0};
}

static struct nt_remote_inner *known_inner(const struct nt_remote_lists *lists, struct nt_text name)
{
    struct nt_remote_inner *inner = lists->inner;
    while (inner && !nt_text_is(name, inner->name))
        inner = inner->next;
    return inner;
}

static struct nt_remote_inner *inner_of(struct nt_remote_lists *lists, struct nt_text name,
                                        struct nt_error *error)
{
    struct nt_remote_inner *inner = known_inner(lists, name);
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

/* What was known stays where nothing can be learned. */
static enum nt_status ask_for_list(struct nt_remote_lists *lists, struct nt_remote_inner *inner,
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
    struct nt_remote_inner *inner = inner_of(lists, name, error);
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
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s/%s: there is no such folder", lists->shown,
                       inner->name);
    enum nt_status status = ask_for_list(lists, inner, error);
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

/* Who looks at many entries of a folder whose server is silent waits for it once. */
static enum nt_status ask_again(struct nt_remote_lists *lists, struct nt_remote_inner *inner,
                                struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = nt_refusal_check(&inner->refusal, nt_milliseconds(), error);
    if (status != NT_OK)
        return status;
    status = ask_for_list(lists, inner, &failure);
    if (status == NT_OK || status == NT_NOT_FOUND)
        return NT_OK;
    nt_refusal_note(&inner->refusal, &failure, nt_milliseconds());
    return nt_fail_with(error, &failure);
}

enum nt_status nt_remote_lists_refresh(struct nt_remote_lists *lists, struct nt_text name,
                                       uint64_t *number_ret, struct nt_error *error)
{
    const char *last;
    struct nt_remote_inner *inner = known_inner(lists, name);
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
    for (struct nt_remote_inner *inner = lists->inner, *next; inner; inner = next) {
        next = inner->next;
        nt_remote_list_free(inner->list);
        nt_refusal_deinit(&inner->refusal);
        free(inner->name);
        free(inner);
    }
}
