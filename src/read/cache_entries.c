/* SPDX-License-Identifier: MIT
 *
 * A table, and two lists that begin with the entry that was not used for longest.
 */
#include "read/cache_entries.h"

#include <string.h>

/* ---- the table ---- */

struct nt_cached *nt_entries_find(struct nt_cache_entries *entries, const struct nt_cache_key *key,
                                  uint64_t hash)
{
    for (struct nt_link *link = nt_hash_table_find(&entries->table, hash); link;
         link = nt_hash_table_next(link))
        if (!memcmp(&((struct nt_cached *)link)->key, key, sizeof(*key)))
            return (struct nt_cached *)link;
    return NULL;
}

void nt_entries_insert(struct nt_cache_entries *entries, struct nt_cached *entry, uint64_t hash)
{
    nt_hash_table_insert(&entries->table, &entry->link, hash);
    entry->in_table = true;
}

void nt_entries_remove(struct nt_cache_entries *entries, struct nt_cached *entry)
{
    nt_hash_table_remove(&entries->table, &entry->link);
    entry->in_table = false;
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
    list->capacity += entry->capacity;
}

void nt_entries_busy(struct nt_cache_entries *entries, struct nt_cached *entry)
{
    struct nt_idle_list *list = list_of(entries, entry);
    *(entry->older ? &entry->older->newer : &list->oldest) = entry->newer;
    *(entry->newer ? &entry->newer->older : &list->newest) = entry->older;
    list->bytes -= entry->charge;
    list->capacity -= entry->capacity;
}

struct nt_cached *nt_entries_oldest(const struct nt_cache_entries *entries)
{
    return entries->passed.oldest ? entries->passed.oldest : entries->stay.oldest;
}
