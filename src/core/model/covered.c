/* SPDX-License-Identifier: MIT
 *
 * In: ranges, mostly in the order of the file. Out: their union, and what each adds to it.
 */
#include "core/model/covered.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/overflow.h"

enum { MOST_OUT_OF_ORDER = 1 << 14 };

void nt_covered_deinit(struct nt_covered *covered)
{
    free(covered->ranges);
    *covered = (struct nt_covered){0};
}

/* The first range that ends at an offset or behind it. */
static size_t find(const struct nt_covered *covered, uint64_t offset)
{
    size_t low = 0, high = covered->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (covered->ranges[middle].end < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void replace(struct nt_covered *covered, size_t at, size_t removed, struct nt_seen range)
{
    struct nt_seen *ranges = covered->ranges;
    memmove(ranges + at + 1, ranges + at + removed, (covered->count - at - removed) * sizeof(*ranges));
    ranges[at] = range;
    covered->count += 1 - removed;
}

uint64_t nt_covered_add(struct nt_covered *covered, uint64_t first, uint64_t bytes)
{
    struct nt_seen range = {first, 0};
    if (!nt_add(first, bytes, &range.end) || !bytes)
        return 0;
    size_t at = find(covered, first), end = at;
    uint64_t known = 0;
    for (; end < covered->count && covered->ranges[end].first <= range.end; end++) {
        const struct nt_seen *other = &covered->ranges[end];
        uint64_t from = other->first > first ? other->first : first;
        uint64_t to = other->end < first + bytes ? other->end : first + bytes;
        known += to - from;
        range.first = other->first < range.first ? other->first : range.first;
        range.end = other->end > range.end ? other->end : range.end;
    }
    if (end == at && at < covered->count && covered->count > MOST_OUT_OF_ORDER)
        return 0;
    struct nt_seen *ranges = nt_grow(covered->ranges, covered->count, &covered->capacity, sizeof(*ranges));
    if (!ranges)
        return 0;
    covered->ranges = ranges;
    replace(covered, at, end - at, range);
    return bytes - known;
}
