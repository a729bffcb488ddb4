/* SPDX-License-Identifier: MIT
 *
 * In: extents that will be read. Out: ranges to ask for. Bytes between extents are read, too, where they are less than another request
 * costs: a request of its own takes a turn of one of several connections, in which the others fetch. All of them together may be a
 * quarter of what is wanted, the smallest first, as ROOT has it, and what nobody would notice.
 */
#include "remote/client/ranges.h"

#include <stdlib.h>

#include "core/base/overflow.h"
#include "remote/fetch.h"
#include "core/io/objects.h"
#include "remote/client/pace.h"

_Static_assert(NT_OBJECT_MOST_BYTES + NT_PACE_MOST_GAP < NT_OBJECT_ROOM, "no range has parts of two objects");

enum { NOBODY_NOTICES = 128 * 1024, SHARE_OF_GAPS = 4, FEWEST_BYTES = 256 * 1024 };

static int compare(const void *one, const void *other)
{
    const struct nt_extent *a = one, *b = other;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static size_t leave_out(struct nt_extent *extents, size_t count, uint64_t size, uint64_t *bytes_ret)
{
    size_t left = 0;
    *bytes_ret = 0;
    for (size_t i = 0; i < count; i++)
        if (extents[i].bytes && nt_fits(extents[i].offset, extents[i].bytes, size)) {
            *bytes_ret += extents[i].bytes;
            extents[left++] = extents[i];
        }
    return left;
}

static uint64_t end_of(const struct nt_extent *extent)
{
    return extent->offset + extent->bytes;
}

/* Extents by offset, those that touch as one. */
static size_t melt(struct nt_extent *extents, size_t count)
{
    size_t last = 0;
    for (size_t i = 1; i < count; i++)
        if (extents[i].offset > end_of(&extents[last]))
            extents[++last] = extents[i];
        else if (end_of(&extents[i]) > end_of(&extents[last]))
            extents[last].bytes = end_of(&extents[i]) - extents[last].offset;
    return last + 1;
}

static uint64_t gap_behind(const struct nt_extent *extent)
{
    return extent[1].offset - end_of(extent);
}

static uint64_t sum_of_gaps(const struct nt_extent *extents, size_t count, uint64_t most)
{
    uint64_t sum = 0;
    for (size_t i = 0; i + 1 < count; i++)
        sum += gap_behind(&extents[i]) <= most ? gap_behind(&extents[i]) : 0;
    return sum;
}

/* The most up to which all gaps may be read; `left_ret`: what those that are one byte larger may be together. */
static uint64_t largest_gap(const struct nt_extent *extents, size_t count, uint64_t most, uint64_t bytes,
                            uint64_t *left_ret)
{
    uint64_t least = 0;
    while (least < most) {
        uint64_t middle = most - (most - least) / 2;
        if (sum_of_gaps(extents, count, middle) <= bytes)
            least = middle;
        else
            most = middle - 1;
    }
    *left_ret = bytes - sum_of_gaps(extents, count, least);
    return least;
}

size_t nt_ranges_join(struct nt_extent *extents, size_t count, uint64_t size, uint64_t gap)
{
    uint64_t bytes, left;
    size_t last = 0;
    count = leave_out(extents, count, size, &bytes);
    if (!count)
        return 0;
    qsort(extents, count, sizeof(*extents), compare);
    count = melt(extents, count);
    uint64_t all = largest_gap(extents, count, gap, NOBODY_NOTICES + bytes / SHARE_OF_GAPS, &left);
    for (size_t i = 1; i < count; i++) {
        struct nt_extent next = extents[i];
        uint64_t between = next.offset - end_of(&extents[last]);
        bool is_next = between == all + 1 && between <= gap && between <= left;
        if (between > all && !is_next) {
            extents[++last] = next;
            continue;
        }
        left -= is_next ? between : 0;
        extents[last].bytes = end_of(&next) - extents[last].offset;
    }
    return last + 1;
}

uint64_t nt_ranges_piece(uint64_t bytes)
{
    uint64_t piece = bytes / NT_PACE_AT_ONCE;
    if (piece < FEWEST_BYTES)
        piece = FEWEST_BYTES;
    return piece < NT_FETCH_MOST_BYTES ? piece : NT_FETCH_MOST_BYTES;
}
