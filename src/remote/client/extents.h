/* SPDX-License-Identifier: MIT
 *
 * Stretches of files that are in memory, or on their way: of each file those that there are, none of which overlap, and of all
 * together no more bytes than there is room for. Its users have a lock for all of it.
 */
#ifndef NT_IO_EXTENTS_H
#define NT_IO_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The beginning of a structure from malloc. */
struct nt_cached_range {
    uint64_t offset;
    size_t bytes;
    uint8_t *data;               /* from malloc */
    unsigned pins;               /* who uses it: then it stays */
    bool is_kept;                /* all of it is here, and it counts */
    struct nt_range_cache *file; /* NULL: it is in none any more */
    struct nt_cached_range *newer, *older;
};

struct nt_range_cache {
    struct nt_cached_range **list; /* by offset */
    size_t count, capacity;
};

struct nt_range_cache_room {
    uint64_t bytes, most_bytes;
    struct nt_cached_range *newest, *oldest;
};

/* Nobody uses any that is kept. */
void nt_range_cache_release(struct nt_range_cache_room *room);
/* Those that are not kept are nobody's: they are freed. */
void nt_range_cache_drop_underway(struct nt_range_cache *file);

/* The one with the byte at `offset`; NULL where there is none, and `next_ret` is where the next one begins, or UINT64_MAX. */
struct nt_cached_range *nt_range_cache_at(const struct nt_range_cache *file, uint64_t offset,
                                          uint64_t *next_ret);
/* False without memory. It may not overlap others. */
bool nt_range_cache_add(struct nt_range_cache *file, struct nt_cached_range *stretch);
void nt_range_cache_remove(struct nt_cached_range *stretch);
/* Of those that are not kept nothing is freed. */
void nt_range_cache_deinit(struct nt_range_cache *file, struct nt_range_cache_room *room);

/* It has come: keep it. Those that were not used for longest go where there is no room. */
void nt_cached_range_keep(struct nt_range_cache_room *room, struct nt_cached_range *stretch);
/* One that is kept is in its file no more, and goes when nobody uses it. */
void nt_cached_range_forget(struct nt_range_cache_room *room, struct nt_cached_range *stretch);
void nt_cached_range_pin(struct nt_range_cache_room *room, struct nt_cached_range *stretch);
/* Frees one that is in no file any more. */
void nt_cached_range_unpin(struct nt_range_cache_room *room, struct nt_cached_range *stretch);

#endif
