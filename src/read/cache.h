/* SPDX-License-Identifier: MIT
 *
 * Decoded pages by what they are made from. Knows nothing of pages but their key and size.
 */
#ifndef NT_PAGE_CACHE_H
#define NT_PAGE_CACHE_H

#include <stddef.h>

#include "core/base/error.h"
#include "read/cache_key.h"

struct nt_cache;
struct nt_cached;
struct nt_counters;

/* `limit` bounds the bytes of all entries, those being loaded and buffers kept for reuse included, but for an
 * entry that is larger and for those that loading needs (NT_CACHE_LOADER). The counters' cache_* members are kept up to date. NULL without memory. */
struct nt_cache *nt_cache_new(uint64_t limit, unsigned failure_seconds, struct nt_counters *counters);
void nt_cache_free(struct nt_cache *cache); /* accepts NULL; nothing is pinned */

/* Fills `output` with the entry's bytes. Called without any lock. */
typedef enum nt_status nt_cache_load(void *context, uint8_t *output, struct nt_error *error);

/* Who asks for an entry: what it may wait for. */
enum nt_cache_asker {
    NT_CACHE_READER, /* has nothing pinned and loads nothing: may wait for room */
    NT_CACHE_LOADER, /* does; what it asks for is let in at once */
    NT_CACHE_HOLDER, /* has entries pinned: waits for none to leave, NT_NO_MEMORY where there is no room */
};

/* The entry of a key, pinned; loaded by this call, or waited for where another thread loads it. A failure is
 * remembered: until it expires the same error is returned without loading. */
enum nt_status nt_cache_get(struct nt_cache *cache, const struct nt_cache_key *key, size_t bytes,
                            enum nt_cache_asker asker, nt_cache_load *load, void *context,
                            struct nt_cached **entry_ret, struct nt_error *error);

enum nt_cache_presence {
    NT_CACHE_ABSENT,
    NT_CACHE_LOADING,
    NT_CACHE_READY,
    NT_CACHE_FAILED, /* remembered */
};
/* Looks only; the answer may be out of date at once. */
enum nt_cache_presence nt_cache_peek(struct nt_cache *cache, const struct nt_cache_key *key);
/* How many entries are absent before the first one that is not. */
size_t nt_cache_count_absent(struct nt_cache *cache, const struct nt_cache_key *keys, size_t count);
/* Remember a failure that happened past the cache. */
void nt_cache_remember(struct nt_cache *cache, const struct nt_cache_key *key,
                       const struct nt_error *failure);

const uint8_t *nt_cached_bytes(const struct nt_cached *entry);

/* What an entry was pinned for. Readers that pass over a column once would fill the cache with what nobody
 * asks for again, and pay for memory that was never touched before: entries that were passed leave early, and
 * their warm buffers go to the next. */
enum nt_cache_use {
    NT_CACHE_STAY,    /* may be wanted again */
    NT_CACHE_PASSING, /* by a sequential reader that has not come to the end of it */
    NT_CACHE_PASSED,  /* which has */
};
void nt_cache_release(struct nt_cache *cache, struct nt_cached *entry, enum nt_cache_use use);

/* So many bytes more (negative: fewer) of the limit are somebody else's. Never waits. */
void nt_cache_occupy(struct nt_cache *cache, int64_t bytes);

/* Drop all entries of a source. */
void nt_cache_forget(struct nt_cache *cache, const void *source);

#endif
