/* SPDX-License-Identifier: MIT
 *
 * In: links with their hashes. Out: the links of a hash. Buckets of chains, doubled as the table fills.
 */
#include "base/hash_table.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 64 };

bool nt_hash_table_init(struct nt_hash_table *table)
{
    *table = (struct nt_hash_table){.bucket_count = FIRST_BUCKETS};
    table->buckets = calloc(FIRST_BUCKETS, sizeof(*table->buckets));
    return table->buckets;
}

void nt_hash_table_deinit(struct nt_hash_table *table)
{
    free(table->buckets);
    *table = (struct nt_hash_table){0};
}

static struct nt_link **bucket_of(const struct nt_hash_table *table, uint64_t hash)
{
    return &table->buckets[hash & (table->bucket_count - 1)];
}

static void put(struct nt_hash_table *table, struct nt_link *link)
{
    struct nt_link **bucket = bucket_of(table, link->hash);
    link->next = *bucket;
    *bucket = link;
}

/* Twice the buckets; without memory the chains just become longer. */
static void grow(struct nt_hash_table *table)
{
    struct nt_hash_table old = *table;
    struct nt_link **buckets = calloc(old.bucket_count * 2, sizeof(*buckets));
    if (!buckets)
        return;
    table->buckets = buckets;
    table->bucket_count = old.bucket_count * 2;
    for (size_t i = 0; i < old.bucket_count; i++)
        for (struct nt_link *link = old.buckets[i], *next; link; link = next) {
            next = link->next;
            put(table, link);
        }
    free(old.buckets);
}

void nt_hash_table_insert(struct nt_hash_table *table, struct nt_link *link, uint64_t hash)
{
    if (table->count++ >= table->bucket_count)
        grow(table);
    link->hash = hash;
    put(table, link);
}

void nt_hash_table_remove(struct nt_hash_table *table, struct nt_link *link)
{
    struct nt_link **at = bucket_of(table, link->hash);
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    table->count--;
}

static struct nt_link *same_hash(struct nt_link *link, uint64_t hash)
{
    while (link && link->hash != hash)
        link = link->next;
    return link;
}

struct nt_link *nt_hash_table_find(const struct nt_hash_table *table, uint64_t hash)
{
    return same_hash(*bucket_of(table, hash), hash);
}

struct nt_link *nt_hash_table_next(const struct nt_link *link)
{
    return same_hash(link->next, link->hash);
}

struct nt_link *nt_hash_table_after(const struct nt_hash_table *table, const struct nt_link *link)
{
    if (link && link->next)
        return link->next;
    for (size_t i = link ? (link->hash & (table->bucket_count - 1)) + 1 : 0; i < table->bucket_count; i++)
        if (table->buckets[i])
            return table->buckets[i];
    return NULL;
}
