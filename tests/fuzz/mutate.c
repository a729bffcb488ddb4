/* SPDX-License-Identifier: MIT
 *
 * One mutation of a kind that breaks formats: a flipped bit, a limit value, a moved range.
 */
#include "mutate.h"

#include <string.h>

/* Values near which sizes, counts and offsets go wrong. */
static const uint64_t boundaries[] = {
    0,          1,
    2,          0x7f,
    0x80,       0xff,
    0x7fff,     0x8000,
    0xffff,     0x10000,
    0x7fffffff, 0x80000000,
    UINT32_MAX, UINT64_C(1) << 32,
    INT64_MAX,  UINT64_C(1) << 63,
    UINT64_MAX, UINT64_C(1) << 48,
};

static void flip_bit(struct mutator *mutator, uint8_t *bytes, size_t count)
{
    bytes[mutator_below(mutator, count)] ^= (uint8_t)(1u << mutator_below(mutator, 8));
}

static void put_boundary(struct mutator *mutator, uint8_t *bytes, size_t count)
{
    size_t width = (size_t)1 << mutator_below(mutator, 4), at = mutator_below(mutator, count);
    uint64_t value = boundaries[mutator_below(mutator, sizeof(boundaries) / sizeof(boundaries[0]))];
    size_t is_big = mutator_below(mutator, 2);
    for (size_t i = 0; i < width && at + i < count; i++)
        bytes[at + i] = (uint8_t)(value >> 8 * (is_big ? width - 1 - i : i));
}

static void add_little(struct mutator *mutator, uint8_t *bytes, size_t count)
{
    bytes[mutator_below(mutator, count)] += (uint8_t)(mutator_below(mutator, 9) - 4);
}

static void copy_range(struct mutator *mutator, uint8_t *bytes, size_t count)
{
    size_t from = mutator_below(mutator, count), to = mutator_below(mutator, count);
    size_t length = 1 + mutator_below(mutator, 32), room = count - (from > to ? from : to);
    memmove(bytes + to, bytes + from, length < room ? length : room);
}

size_t mutate(struct mutator *mutator, uint8_t *bytes, size_t count)
{
    static void (*const changes[])(struct mutator *, uint8_t *, size_t) = {flip_bit, put_boundary, add_little,
                                                                           copy_range};
    size_t times = 1 + mutator_below(mutator, 4);
    for (size_t i = 0; i < times && count > 0; i++)
        changes[mutator_below(mutator, sizeof(changes) / sizeof(changes[0]))](mutator, bytes, count);
    return count > 0 && mutator_below(mutator, 16) == 0 ? mutator_below(mutator, count) : count;
}
