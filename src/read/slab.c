/* SPDX-License-Identifier: MIT
 *
 * Slab allocator for the decoded bytes of large pages. A slab is one huge page shared by several
 * buffers, or a larger block for a single buffer. Reusing memory avoids page faults.
 */
#include "read/read.h"

/* Decoder inputs start at a memory page. If outputs did, too, processors would suspect each load of
 * depending on earlier stores (4K aliasing), and decoding would take up to twice as long. */
enum { SKEW = 2112 };

static const uint64_t all_units = UINT64_MAX;

size_t nt_slab_capacity(size_t bytes)
{
    return bytes <= SIZE_MAX - NT_SLAB_UNIT ? (bytes + NT_SLAB_UNIT - 1) / NT_SLAB_UNIT * NT_SLAB_UNIT
                                            : SIZE_MAX;
}

size_t nt_slab_bytes(size_t capacity)
{
    return capacity > NT_SLAB_BYTES ? capacity : NT_SLAB_BYTES;
}

static bool is_one_buffer(const struct nt_slab *slab)
{
    return slab->bytes > NT_SLAB_BYTES;
}

/* Bitmap of the units of a buffer that starts at unit 0. */
static uint64_t units_for(const struct nt_slab *slab, size_t capacity)
{
    size_t units = capacity / NT_SLAB_UNIT;
    return is_one_buffer(slab) || units == NT_SLAB_UNITS ? all_units : (UINT64_C(1) << units) - 1;
}

/* The first of as many adjacent free units as the buffer needs; NT_SLAB_UNITS: none. */
static unsigned find_units(const struct nt_slab *slab, size_t capacity)
{
    if (is_one_buffer(slab) != (capacity > NT_SLAB_BYTES))
        return NT_SLAB_UNITS;
    if (is_one_buffer(slab) && (slab->bytes < capacity || slab->bytes - capacity > capacity / 4))
        return NT_SLAB_UNITS;
    uint64_t requested = units_for(slab, capacity);
    for (unsigned unit = 0; unit < NT_SLAB_UNITS && requested << unit >> unit == requested; unit++)
        if ((slab->free >> unit & requested) == requested)
            return unit;
    return NT_SLAB_UNITS;
}

static uint8_t *occupy(struct nt_slab_pool *slabs, struct nt_slab *slab, unsigned unit, size_t capacity,
                       struct nt_cache_entry *owner)
{
    slab->free &= ~(units_for(slab, capacity) << unit);
    slab->owners[unit] = owner;
    nt_slab_set_busy(slabs, slab);
    return slab->memory + (size_t)unit * NT_SLAB_UNIT;
}

struct nt_slab *nt_slab_alloc(struct nt_slab_pool *slabs, size_t capacity, struct nt_cache_entry *owner,
                              uint8_t **data_ret)
{
    struct nt_slab_list *lists[] = {&slabs->shared, &slabs->empty};
    struct nt_slab *slab;
    for (unsigned i = 0; i < 2; i++)
        LIST_FOREACH(slab, lists[i], listed)
        {
            unsigned unit = find_units(slab, capacity);
            if (unit == NT_SLAB_UNITS)
                continue;
            if (lists[i] == &slabs->empty) {
                LIST_REMOVE(slab, listed);
                LIST_INSERT_HEAD(&slabs->shared, slab, listed);
                slabs->empty_bytes -= slab->bytes;
            }
            *data_ret = occupy(slabs, slab, unit, capacity, owner);
            return slab;
        }
    return NULL;
}

struct nt_slab *nt_slab_add(struct nt_slab_pool *slabs, size_t capacity, struct nt_cache_entry *owner,
                            uint8_t **data_ret)
{
    size_t bytes = nt_slab_bytes(capacity);
    struct nt_slab *slab = calloc(1, sizeof(*slab));
    uint8_t *block = slab ? nt_hugepage_alloc_exact(bytes + SKEW) : NULL;
    if (!block) {
        free(slab);
        return NULL;
    }
    *slab = (struct nt_slab){.block = block, .memory = block + SKEW, .bytes = bytes, .free = all_units};
    slabs->bytes += bytes;
    LIST_INSERT_HEAD(&slabs->shared, slab, listed);
    *data_ret = occupy(slabs, slab, 0, capacity, owner);
    return slab;
}

void nt_slab_set_idle(struct nt_slab_pool *slabs, struct nt_slab *slab)
{
    if (--slab->busy == 0)
        slabs->busy_bytes -= slab->bytes;
}

void nt_slab_set_busy(struct nt_slab_pool *slabs, struct nt_slab *slab)
{
    if (slab->busy++ == 0)
        slabs->busy_bytes += slab->bytes;
}

void nt_slab_return(struct nt_slab_pool *slabs, struct nt_slab *slab, const uint8_t *data, size_t capacity)
{
    unsigned unit = (unsigned)((size_t)(data - slab->memory) / NT_SLAB_UNIT);
    slab->free |= units_for(slab, capacity) << unit;
    slab->owners[unit] = NULL;
    LIST_REMOVE(slab, listed);
    if (slab->free == all_units)
        slabs->empty_bytes += slab->bytes;
    LIST_INSERT_HEAD(slab->free == all_units ? &slabs->empty : &slabs->shared, slab, listed);
}

struct nt_slab *nt_slab_evict(struct nt_slab_pool *slabs)
{
    struct nt_slab *slab = LIST_FIRST(&slabs->empty);
    while (slab && LIST_NEXT(slab, listed))
        slab = LIST_NEXT(slab, listed);
    if (slab) {
        LIST_REMOVE(slab, listed);
        slabs->empty_bytes -= slab->bytes;
        slabs->bytes -= slab->bytes;
    }
    return slab;
}

void nt_slab_free(struct nt_slab *slab)
{
    if (slab)
        free(slab->block);
    free(slab);
}
