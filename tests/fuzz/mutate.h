/* SPDX-License-Identifier: MIT
 *
 * Deterministic mutations of bytes: the same seed gives the same bytes on every machine.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mutator {
    uint64_t state;
};

static inline uint64_t mutator_next(struct mutator *mutator)
{
    mutator->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = mutator->state;
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* A number below `count`; count > 0. */
static inline size_t mutator_below(struct mutator *mutator, size_t count)
{
    return (size_t)(mutator_next(mutator) % count);
}

/* Changes a few places: flips bits, writes boundary values of integers, changes bytes slightly, copies
 * ranges. Returns the number of bytes to keep, which is sometimes smaller. */
size_t mutate(struct mutator *mutator, uint8_t *bytes, size_t count);
