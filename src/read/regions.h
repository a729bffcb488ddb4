/* SPDX-License-Identifier: MIT
 *
 * Memory for the decoded bytes of large pages: regions of a huge page, which several buffers share, or more, for
 * one. Memory is taken from the system and given back without the owner's lock, all else is done under it.
 */
#ifndef NT_PAGE_REGIONS_H
#define NT_PAGE_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NT_REGION_UNIT = 32 * 1024,
    NT_REGION_UNITS = 64,
    NT_REGION_BYTES = NT_REGION_UNIT * NT_REGION_UNITS, /* a huge page */
};

struct nt_cached;

struct nt_region {
    struct nt_region *next, *previous; /* in its list */
    uint8_t *block, *memory;           /* as it is allocated; where buffers begin */
    size_t bytes;
    uint64_t free; /* units that nobody has, a bit each; of a region that is one buffer's all or none */
    unsigned busy; /* buffers in use */
    struct nt_cached *owners[NT_REGION_UNITS]; /* of the buffers, at their first units */
};

struct nt_regions {
    struct nt_region *shared, *empty; /* with buffers and without; what changed last comes first */
    uint64_t bytes, empty_bytes;      /* of all, and of those without buffers */
    uint64_t busy_bytes;              /* of those with a buffer in use, and of those that are to come */
};

/* A buffer's bytes when it lies in a region, and those of the region that it would need. */
size_t nt_region_capacity(size_t bytes);
size_t nt_region_bytes(size_t capacity);

/* A buffer of this capacity for an owner, in use, from a region that there is. False: there is no room in any. */
bool nt_regions_take(struct nt_regions *regions, size_t capacity, struct nt_cached *owner,
                     struct nt_region **region_ret, uint8_t **data_ret);
/* A new region for a buffer: it counts from nt_regions_expect on; then nt_region_new without the lock, NULL without
 * memory, and with that, also if it is NULL, nt_regions_add, which gives the buffer to its owner. */
void nt_regions_expect(struct nt_regions *regions, size_t capacity);
struct nt_region *nt_region_new(size_t capacity);
uint8_t *nt_regions_add(struct nt_regions *regions, struct nt_region *region, size_t capacity,
                        struct nt_cached *owner);

/* A buffer is not in use now, is again; has no owner any more (and was not in use). */
void nt_regions_rest(struct nt_regions *regions, struct nt_region *region);
void nt_regions_use(struct nt_regions *regions, struct nt_region *region);
void nt_regions_give(struct nt_regions *regions, struct nt_region *region, const uint8_t *data,
                     size_t capacity);

/* Take the empty region out that was not used for longest, to be freed; NULL: there is none. Its bytes do not count
 * any more. */
struct nt_region *nt_regions_drop(struct nt_regions *regions);
void nt_region_free(struct nt_region *region); /* accepts NULL */

#endif
