/* SPDX-License-Identifier: MIT
 *
 * In: extents that will be read. Out: ranges to ask for. Bytes between extents are read, too, where they are less than another request
 * costs: a request of its own takes a turn of one of several connections, in which the others fetch. All of them together may be a
 * quarter of what is wanted, as ROOT has it, and what nobody would notice.
 */
#include "io/ranges.h"

#include <stdlib.h>

#include "base/overflow.h"
#include "io/fetch.h"

enum { GAP_BYTES = 128 * 1024, SHARE_OF_GAPS = 4, AT_ONCE = 16, FEWEST_BYTES = 256 * 1024 };

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

size_t nt_ranges_join(struct nt_extent *extents, size_t count, uint64_t size)
{
    uint64_t bytes, joined = 0;
    size_t last = 0;
    count = leave_out(extents, count, size, &bytes);
    if (!count)
        return 0;
    qsort(extents, count, sizeof(*extents), compare);
    uint64_t gaps = GAP_BYTES + bytes / SHARE_OF_GAPS;
    for (size_t i = 1; i < count; i++) {
        uint64_t end = extents[last].offset + extents[last].bytes, next = extents[i].offset;
        uint64_t gap = next > end ? next - end : 0, next_end = next + extents[i].bytes;
        if (gap > GAP_BYTES || joined + gap > gaps) {
            extents[++last] = extents[i];
            continue;
        }
        joined += gap;
        if (next_end > end)
            extents[last].bytes = next_end - extents[last].offset;
    }
    return last + 1;
}

uint64_t nt_ranges_piece(uint64_t bytes)
{
    uint64_t piece = bytes / AT_ONCE;
    if (piece < FEWEST_BYTES)
        piece = FEWEST_BYTES;
    return piece < NT_FETCH_MOST_BYTES ? piece : NT_FETCH_MOST_BYTES;
}
