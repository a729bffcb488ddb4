/* SPDX-License-Identifier: MIT
 *
 * Intrusive hash table with a random multiply-shift hash per table. Not thread-safe.
 */
#ifndef NT_CORE_BASE_HASH_TABLE_H
#define NT_CORE_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nt_link {
    struct nt_link *next; /* in its bucket */
    uint64_t hash;
};

/* What a link is the member of. */
#define NT_LINKED(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* Who chooses hashes, or what they are made of, cannot know which of them share a bucket: a hash is one of a family, and which
 * one is drawn for each table (multiply-shift; Dietzfelbinger et al., "A reliable randomized algorithm for the closest-pair
 * problem", 1997). That many things have the same hash is up to the caller: of what strangers wrote it is made with `seed`. */
struct nt_hash_table {
    struct nt_link **buckets;
    unsigned bucket_bits; /* of their number: at least as many as there are links where memory allows */
    size_t count;
    uint64_t seed;
};

/* What nobody can foresee. */
uint64_t nt_hash_seed(void);

/* False without memory. */
bool nt_hash_table_init(struct nt_hash_table *table);
/* The table's own memory only. */
void nt_hash_table_deinit(struct nt_hash_table *table);

void nt_hash_table_insert(struct nt_hash_table *table, struct nt_link *link, uint64_t hash);
/* `link` is in the table. */
void nt_hash_table_remove(struct nt_hash_table *table, struct nt_link *link);

/* The first link of a hash, and from there the next; NULL: there are no more. Whether it is the thing that is
 * looked for, the caller compares. */
struct nt_link *nt_hash_table_find(const struct nt_hash_table *table, uint64_t hash);
struct nt_link *nt_hash_table_next(const struct nt_link *link);

/* Any link of the table, then one after another (NULL first); all, if none is inserted meanwhile. Ask for the
 * next one before one is removed. */
struct nt_link *nt_hash_table_after(const struct nt_hash_table *table, const struct nt_link *link);

#endif
