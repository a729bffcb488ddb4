/* SPDX-License-Identifier: MIT
 *
 * The cache's entries: where they are found by their key, and in which order those that nobody uses leave.
 * Under the cache's lock.
 */
#ifndef NT_PAGE_CACHE_ENTRIES_H
#define NT_PAGE_CACHE_ENTRIES_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include <ntuple/error.h>

#include "core/base/hash_table.h"
#include "read/cache_key.h"

enum nt_entry_state { NT_ENTRY_LOADING, NT_ENTRY_READY, NT_ENTRY_FAILED };

struct nt_region;

struct nt_cached {
    struct nt_link link; /* in the table */
    struct nt_cache_key key;
    struct nt_cached *older, *newer; /* in its idle list */
    uint8_t *data;
    size_t capacity;
    struct nt_region *region; /* that `data` lies in; NULL: it is of malloc */
    uint64_t charge;          /* what it takes beside its region */
    unsigned pins;
    enum nt_entry_state state;
    bool in_table;
    bool is_passed;
    bool is_kept; /* false: leaves with its last pin */
    pthread_cond_t changed;
    struct nt_error *failure;
    time_t expires;
};

struct nt_idle_list {
    struct nt_cached *oldest, *newest;
    uint64_t bytes;    /* charges of its entries */
    uint64_t capacity; /* of their data */
};

struct nt_cache_entries {
    struct nt_hash_table table;
    struct nt_idle_list stay, passed;
};

struct nt_cached *nt_entries_find(struct nt_cache_entries *entries, const struct nt_cache_key *key,
                                  uint64_t hash);
void nt_entries_insert(struct nt_cache_entries *entries, struct nt_cached *entry, uint64_t hash);
void nt_entries_remove(struct nt_cache_entries *entries, struct nt_cached *entry);

/* Into the list that its `is_passed` tells, and out of it. */
void nt_entries_idle(struct nt_cache_entries *entries, struct nt_cached *entry);
void nt_entries_busy(struct nt_cache_entries *entries, struct nt_cached *entry);
/* The idle entry that is to leave first; NULL: there is none. */
struct nt_cached *nt_entries_oldest(const struct nt_cache_entries *entries);

#endif
