/* SPDX-License-Identifier: MIT
 *
 * What is in a folder on another machine, as it was when it was asked for.
 */
#ifndef NT_IO_REMOTE_LIST_H
#define NT_IO_REMOTE_LIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

struct nt_arena;
struct nt_fetcher;

struct nt_remote_entry {
    const char *name;
    const char *stamp; /* what tells this file from another one; "": it has to be opened to be known */
    uint64_t size;
    int64_t modified; /* NT_FETCH_NO_TIME */
    bool is_folder;
    uint32_t number; /* as they came */
};

struct nt_remote_list {
    struct nt_remote_entry *entries; /* by name, each once */
    size_t count, capacity;
    struct nt_arena *arena;
    atomic_uint holders;
    uint64_t asked, number; /* who asked: when, as nt_milliseconds tells, and which of their lists it is */
};

/* Ask for it: one round trip, or one for each thousand files. NT_NOT_FOUND, NT_UNSUPPORTED where its server tells of no folders; else
 * as nt_source_open_address. */
enum nt_status nt_remote_list_new(struct nt_fetcher *fetcher, const char *address,
                                  struct nt_remote_list **list_ret, struct nt_error *error);
/* It has one holder more; it goes with the last one. */
void nt_remote_list_hold(struct nt_remote_list *list);
void nt_remote_list_free(struct nt_remote_list *list); /* accepts NULL */
/* NULL: there is none of this name. */
const struct nt_remote_entry *nt_remote_list_find(const struct nt_remote_list *list, const char *name);

#endif
