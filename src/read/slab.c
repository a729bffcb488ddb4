/* SPDX-License-Identifier: MIT
 *
 * Slab allocator for the decoded bytes of large pages. A slab is one huge page shared by several buffers,
 * or more for a single buffer; memory is reused to avoid page faults.
 */
#include "read/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/base/memory.h"

/* What is decoded lies at the beginning of a page of memory. Where what is written lies alike, processors take each
 * load for one that depends on stores before it, and decoding takes up to twice as long. */
enum { SKEW = 2112 };

static const uint64_t all_units = UINT64_MAX;

size_t nt_region_capacity(size_t bytes)
{
    return bytes <= SIZE_MAX - NT_REGION_UNIT ? (bytes + NT_REGION_UNIT - 1) / NT_REGION_UNIT * NT_REGION_UNIT
                                              : SIZE_MAX;
}

size_t nt_region_bytes(size_t capacity)
{
    return capacity > NT_REGION_BYTES ? capacity : NT_REGION_BYTES;
}

/* ---- units ---- */

static bool is_one_buffer(const struct nt_region *region)
{
    return region->bytes > NT_REGION_BYTES;
}

/* The units of a buffer, from unit 0 on. */
static uint64_t units_for(const struct nt_region *region, size_t capacity)
{
    size_t units = capacity / NT_REGION_UNIT;
    return is_one_buffer(region) || units == NT_REGION_UNITS ? all_units : (UINT64_C(1) << units) - 1;
}

/* The first unit of as many free ones side by side as the buffer needs; NT_REGION_UNITS: there are none. */
static unsigned find_units(const struct nt_region *region, size_t capacity)
{
    if (is_one_buffer(region) != (capacity > NT_REGION_BYTES))
        return NT_REGION_UNITS;
    if (is_one_buffer(region) && (region->bytes < capacity || region->bytes - capacity > capacity / 4))
        return NT_REGION_UNITS;
    uint64_t wanted = units_for(region, capacity);
    for (unsigned unit = 0; unit < NT_REGION_UNITS && wanted << unit >> unit == wanted; unit++)
        if ((region->free >> unit & wanted) == wanted)
            return unit;
    return NT_REGION_UNITS;
}

static uint8_t *occupy(struct nt_regions *regions, struct nt_region *region, unsigned unit, size_t capacity,
                       struct nt_cached *owner)
{
    region->free &= ~(units_for(region, capacity) << unit);
    region->owners[unit] = owner;
    nt_regions_use(regions, region);
    return region->memory + (size_t)unit * NT_REGION_UNIT;
}

/* ---- buffers ---- */

bool nt_regions_take(struct nt_regions *regions, size_t capacity, struct nt_cached *owner,
                     struct nt_region **region_ret, uint8_t **data_ret)
{
    struct nt_region_list *lists[] = {&regions->shared, &regions->empty};
    struct nt_region *region;
    for (unsigned i = 0; i < 2; i++)
        LIST_FOREACH(region, lists[i], listed)
        {
            unsigned unit = find_units(region, capacity);
            if (unit == NT_REGION_UNITS)
                continue;
            if (lists[i] == &regions->empty) {
                LIST_REMOVE(region, listed);
                LIST_INSERT_HEAD(&regions->shared, region, listed);
                regions->empty_bytes -= region->bytes;
            }
            *region_ret = region;
            *data_ret = occupy(regions, region, unit, capacity, owner);
            return true;
        }
    return false;
}

void nt_regions_expect(struct nt_regions *regions, size_t capacity)
{
    regions->bytes += nt_region_bytes(capacity);
    regions->busy_bytes += nt_region_bytes(capacity);
}

struct nt_region *nt_region_new(size_t capacity)
{
    struct nt_region *region = calloc(1, sizeof(*region));
    if (!region)
        return NULL;
    region->bytes = nt_region_bytes(capacity);
    region->free = all_units;
    region->block = nt_huge_new(region->bytes + SKEW);
    if (!region->block) {
        free(region);
        return NULL;
    }
    region->memory = region->block + SKEW;
    return region;
}

uint8_t *nt_regions_add(struct nt_regions *regions, struct nt_region *region, size_t capacity,
                        struct nt_cached *owner)
{
    regions->busy_bytes -= nt_region_bytes(capacity);
    if (!region) {
        regions->bytes -= nt_region_bytes(capacity);
        return NULL;
    }
    LIST_INSERT_HEAD(&regions->shared, region, listed);
    return occupy(regions, region, 0, capacity, owner);
}

void nt_regions_rest(struct nt_regions *regions, struct nt_region *region)
{
    if (--region->busy == 0)
        regions->busy_bytes -= region->bytes;
}

void nt_regions_use(struct nt_regions *regions, struct nt_region *region)
{
    if (region->busy++ == 0)
        regions->busy_bytes += region->bytes;
}

void nt_regions_give(struct nt_regions *regions, struct nt_region *region, const uint8_t *data,
                     size_t capacity)
{
    unsigned unit = (unsigned)((size_t)(data - region->memory) / NT_REGION_UNIT);
    region->free |= units_for(region, capacity) << unit;
    region->owners[unit] = NULL;
    LIST_REMOVE(region, listed);
    if (region->free == all_units)
        regions->empty_bytes += region->bytes;
    LIST_INSERT_HEAD(region->free == all_units ? &regions->empty : &regions->shared, region, listed);
}

/* ---- the system ---- */

struct nt_region *nt_regions_drop(struct nt_regions *regions)
{
    struct nt_region *region = LIST_FIRST(&regions->empty);
    while (region && LIST_NEXT(region, listed))
        region = LIST_NEXT(region, listed);
    if (region) {
        LIST_REMOVE(region, listed);
        regions->empty_bytes -= region->bytes;
        regions->bytes -= region->bytes;
    }
    return region;
}

void nt_region_free(struct nt_region *region)
{
    if (region)
        free(region->block);
    free(region);
}
