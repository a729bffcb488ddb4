/* SPDX-License-Identifier: MIT
 *
 * A table with chains, and two lists that begin with the entry that was not used for longest.
 */
#include "page/cache_entries.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

bool nt_entries_init(struct nt_cache_entries *entries)
{
    enum { FIRST_BUCKETS = 1024 };
    *entries = (struct nt_cache_entries){.bucket_count = FIRST_BUCKETS};
    entries->buckets = calloc(FIRST_BUCKETS, sizeof(struct nt_cached *));
    return entries->buckets;
}

void nt_entries_deinit(struct nt_cache_entries *entries)
{
    free(entries->buckets);
}

static struct nt_cached **bucket_of(struct nt_cache_entries *entries, uint64_t hash)
{
    return &entries->buckets[hash & (entries->bucket_count - 1)];
}

struct nt_cached *nt_entries_find(struct nt_cache_entries *entries, const struct nt_cache_key *key,
                                  uint64_t hash)
{
    for (struct nt_cached *entry = *bucket_of(entries, hash); entry; entry = entry->next)
        if (entry->hash == hash && !memcmp(&entry->key, key, sizeof(*key)))
            return entry;
    return NULL;
}

/* Twice the buckets; without memory the chains just become longer. */
static void table_grow(struct nt_cache_entries *entries)
{
    size_t old_count = entries->bucket_count;
    struct nt_cached **old = entries->buckets;
    struct nt_cached **buckets = calloc(old_count * 2, sizeof(struct nt_cached *));
    if (!buckets)
        return;
    entries->buckets = buckets;
    entries->bucket_count = old_count * 2;
    for (size_t i = 0; i < old_count; i++)
        for (struct nt_cached *entry = old[i], *next; entry; entry = next) {
            next = entry->next;
            struct nt_cached **bucket = bucket_of(entries, entry->hash);
            entry->next = *bucket;
            *bucket = entry;
        }
    free(old);
}

void nt_entries_insert(struct nt_cache_entries *entries, struct nt_cached *entry)
{
    if (entries->entry_count >= entries->bucket_count)
        table_grow(entries);
    struct nt_cached **bucket = bucket_of(entries, entry->hash);
    entry->next = *bucket;
    *bucket = entry;
    entry->in_table = true;
    entries->entry_count++;
}

void nt_entries_remove(struct nt_cache_entries *entries, struct nt_cached *entry)
{
    struct nt_cached **link = bucket_of(entries, entry->hash);
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    entry->in_table = false;
    entries->entry_count--;
}

/* ---- the idle lists ---- */

static struct nt_idle_list *list_of(struct nt_cache_entries *entries, const struct nt_cached *entry)
{
    return entry->is_passed ? &entries->passed : &entries->stay;
}

void nt_entries_idle(struct nt_cache_entries *entries, struct nt_cached *entry)
{
    struct nt_idle_list *list = list_of(entries, entry);
    entry->newer = NULL;
    entry->older = list->newest;
    *(list->newest ? &list->newest->newer : &list->oldest) = entry;
    list->newest = entry;
    list->bytes += entry->charge;
}

void nt_entries_busy(struct nt_cache_entries *entries, struct nt_cached *entry)
{
    struct nt_idle_list *list = list_of(entries, entry);
    *(entry->older ? &entry->older->newer : &list->oldest) = entry->newer;
    *(entry->newer ? &entry->newer->older : &list->newest) = entry->older;
    list->bytes -= entry->charge;
}

struct nt_cached *nt_entries_oldest(const struct nt_cache_entries *entries)
{
    return entries->passed.oldest ? entries->passed.oldest : entries->stay.oldest;
}
