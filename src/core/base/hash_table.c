/* SPDX-License-Identifier: MIT
 *
 * Intrusive hash table: chained buckets whose number doubles as the table fills.
 */
#include "core/base/hash_table.h"

#include <stdlib.h>
#include <sys/random.h>

enum { FIRST_BUCKET_BITS = 6, HASH_BITS = 64 };

/* Early after boot there may be no entropy; then the seed is a known constant, which still spreads
 * small numbers. */
uint64_t nt_hash_seed(void)
{
    uint64_t seed = UINT64_C(0x9E3779B97F4A7C15);
    (void)!getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
    return seed;
}

static size_t bucket_count(const struct nt_hash_table *table)
{
    return (size_t)1 << table->bucket_bits;
}

static struct nt_hash_link **new_buckets(unsigned bits)
{
    return calloc((size_t)1 << bits, sizeof(struct nt_hash_link *));
}

bool nt_hash_table_init(struct nt_hash_table *table)
{
    *table = (struct nt_hash_table){.bucket_bits = FIRST_BUCKET_BITS, .seed = nt_hash_seed()};
    table->buckets = new_buckets(FIRST_BUCKET_BITS);
    return table->buckets;
}

void nt_hash_table_deinit(struct nt_hash_table *table)
{
    free(table->buckets);
    *table = (struct nt_hash_table){0};
}

/* The upper bits of the product with an odd number. */
static size_t bucket_index(const struct nt_hash_table *table, uint64_t hash)
{
    return (size_t)(hash * (table->seed | 1) >> (HASH_BITS - table->bucket_bits));
}

static struct nt_hash_link **bucket_of(const struct nt_hash_table *table, uint64_t hash)
{
    return &table->buckets[bucket_index(table, hash)];
}

static void put(struct nt_hash_table *table, struct nt_hash_link *link)
{
    struct nt_hash_link **bucket = bucket_of(table, link->hash);
    link->next = *bucket;
    *bucket = link;
}

/* Doubles the buckets; without memory, chains just become longer. */
static void grow(struct nt_hash_table *table)
{
    struct nt_hash_table old = *table;
    struct nt_hash_link **buckets = new_buckets(old.bucket_bits + 1);
    if (!buckets)
        return;
    table->buckets = buckets;
    table->bucket_bits++;
    for (size_t i = 0; i < bucket_count(&old); i++)
        for (struct nt_hash_link *link = old.buckets[i], *next; link; link = next) {
            next = link->next;
            put(table, link);
        }
    free(old.buckets);
}

void nt_hash_table_insert(struct nt_hash_table *table, struct nt_hash_link *link, uint64_t hash)
{
    if (table->count++ >= bucket_count(table))
        grow(table);
    link->hash = hash;
    put(table, link);
}

void nt_hash_table_remove(struct nt_hash_table *table, struct nt_hash_link *link)
{
    struct nt_hash_link **at = bucket_of(table, link->hash);
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    table->count--;
}

static struct nt_hash_link *same_hash(struct nt_hash_link *link, uint64_t hash)
{
    while (link && link->hash != hash)
        link = link->next;
    return link;
}

struct nt_hash_link *nt_hash_table_find(const struct nt_hash_table *table, uint64_t hash)
{
    return same_hash(*bucket_of(table, hash), hash);
}

struct nt_hash_link *nt_hash_table_next(const struct nt_hash_link *link)
{
    return same_hash(link->next, link->hash);
}

struct nt_hash_link *nt_hash_table_after(const struct nt_hash_table *table, const struct nt_hash_link *link)
{
    if (link && link->next)
        return link->next;
    for (size_t i = link ? bucket_index(table, link->hash) + 1 : 0; i < bucket_count(table); i++)
        if (table->buckets[i])
            return table->buckets[i];
    return NULL;
}
