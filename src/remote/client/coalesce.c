/* SPDX-License-Identifier: MIT
 *
 * Which ranges to request for many extents, and in how many pieces.
 */
#include "remote/client/client.h"

_Static_assert(NT_OBJECT_MAX_BYTES + NT_LINK_MAX_GAP < NT_OBJECT_SPACE, "no range has parts of two objects");

enum { NOBODY_NOTICES = 128 * 1024, SHARE_OF_GAPS = 4 };
enum { FEWEST_BYTES = 256 * 1024, FEWEST_IF_COLD = 16 * 1024 };
/* A mount opens a file with two connections, which can send more at once than new ones. Up to MOST_BY_TWO
 * bytes, these two need no more round trips than new connections would. */
enum { FEWEST_BY_TWO = 96 * 1024, MOST_BY_TWO = 240 * 1024 };

static size_t omit(struct nt_extent *extents, size_t count, uint64_t size, uint64_t *bytes_ret)
{
    size_t left = 0;
    *bytes_ret = 0;
    for (size_t i = 0; i < count; i++)
        if (extents[i].bytes && nt_range_fits(extents[i].offset, extents[i].bytes, size)) {
            *bytes_ret += extents[i].bytes;
            extents[left++] = extents[i];
        }
    return left;
}

static uint64_t end_of(const struct nt_extent *extent)
{
    return extent->offset + extent->bytes;
}

/* Sorts extents by offset and merges those that touch. */
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

static uint64_t gap_after(const struct nt_extent *extent)
{
    return extent[1].offset - end_of(extent);
}

static uint64_t sum_of_gaps(const struct nt_extent *extents, size_t count, uint64_t most)
{
    uint64_t sum = 0;
    for (size_t i = 0; i + 1 < count; i++)
        sum += gap_after(&extents[i]) <= most ? gap_after(&extents[i]) : 0;
    return sum;
}

/* The largest size up to which all gaps fit in `bytes`; `left_ret` is the rest, for some of the gaps
 * that are one byte larger. */
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

size_t nt_ranges_coalesce(struct nt_extent *extents, size_t count, uint64_t size, uint64_t gap)
{
    uint64_t bytes, left;
    size_t last = 0;
    count = omit(extents, count, size, &bytes);
    if (!count)
        return 0;
    qsort(extents, count, sizeof(*extents), nt_compare_u64);
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

uint64_t nt_ranges_split_bytes(uint64_t bytes, bool is_cold, bool has_two)
{
    const uint64_t if_cold = has_two && bytes <= MOST_BY_TWO ? FEWEST_BY_TWO : FEWEST_IF_COLD;
    const uint64_t fewest = is_cold ? if_cold : FEWEST_BYTES;
    uint64_t piece = bytes / NT_LINK_CONNECTIONS + (bytes % NT_LINK_CONNECTIONS != 0);
    return nt_min(piece > fewest ? piece : fewest, NT_FETCH_MAX_BYTES);
}

uint64_t nt_ranges_piece_bytes(uint64_t bytes, uint64_t split_bytes)
{
    uint64_t count = bytes / split_bytes + (bytes % split_bytes > split_bytes / 2);
    if (count < 2 && bytes <= NT_FETCH_MAX_BYTES)
        return bytes > split_bytes ? bytes : split_bytes;
    count += (bytes - 1) / NT_FETCH_MAX_BYTES >= count;
    return bytes / count + (bytes % count != 0);
}
