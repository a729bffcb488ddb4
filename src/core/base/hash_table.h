/* SPDX-License-Identifier: MIT
 *
 * Intrusive hash table with a random multiply-shift hash per table. Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nt_hash_link {
    struct nt_hash_link *next; /* in its bucket */
    uint64_t hash;
};

/* The structure that contains a link. */
#define NT_CONTAINER_OF(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* Each table draws its hash function from a family, so that an attacker cannot predict shared buckets
 * (multiply-shift; Dietzfelbinger et al., "A reliable randomized algorithm for the closest-pair
 * problem", 1997). The caller prevents equal hashes: it hashes untrusted data with `seed`. */
struct nt_hash_table {
    struct nt_hash_link **buckets;
    unsigned bucket_bits; /* log2 of the bucket count, at least `count` if memory allows */
    size_t count;
    uint64_t seed;
};

/* An unpredictable number. */
uint64_t nt_hash_seed(void);

/* Returns false without memory. */
bool nt_hash_table_init(struct nt_hash_table *table);
/* Frees only the table's own memory. */
void nt_hash_table_deinit(struct nt_hash_table *table);

void nt_hash_table_insert(struct nt_hash_table *table, struct nt_hash_link *link, uint64_t hash);
/* `link` is in the table. */
void nt_hash_table_remove(struct nt_hash_table *table, struct nt_hash_link *link);

/* The first link with a hash, and the next one; NULL: no more. The caller compares the keys. */
struct nt_hash_link *nt_hash_table_find(const struct nt_hash_table *table, uint64_t hash);
struct nt_hash_link *nt_hash_table_next(const struct nt_hash_link *link);

/* Iterates over the table, from NULL on; covers all links if none is inserted meanwhile. Get the next
 * link before removing one. */
struct nt_hash_link *nt_hash_table_after(const struct nt_hash_table *table, const struct nt_hash_link *link);
