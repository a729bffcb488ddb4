/* SPDX-License-Identifier: MIT
 *
 * Which ranges of a file were seen, so that none is counted twice, however many of them overlap.
 */
#ifndef NT_MODEL_COVERED_H
#define NT_MODEL_COVERED_H

#include <stddef.h>
#include <stdint.h>

struct nt_seen {
    uint64_t first, end;
};

/* All zeros: nothing was seen. */
struct nt_covered {
    struct nt_seen *ranges; /* ascending, apart from one another */
    size_t count, capacity;
};

void nt_covered_deinit(struct nt_covered *covered);

/* Add a range. Returns how many bytes of it were not seen before; 0 also without memory, and where there are thousands of ranges
 * in no order, which would take long to sort in. */
uint64_t nt_covered_add(struct nt_covered *covered, uint64_t first, uint64_t bytes);

#endif
