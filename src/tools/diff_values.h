/* SPDX-License-Identifier: MIT
 *
 * Comparing the elements of many streams, bit by bit, in bounded memory and on all processors.
 */
#ifndef NT_VIEW_DIFF_VALUES_H
#define NT_VIEW_DIFF_VALUES_H

#include "tools/difference.h"

/* Two streams of one kind whose elements have one type, and what came of their comparison. */
struct nt_stream_pair {
    uint32_t fields[NT_DIFF_SIDES];
    enum nt_stream_kind kind;
    uint64_t elements[NT_DIFF_SIDES];
    uint64_t first;                           /* element that differs; NT_DIFF_NOWHERE: none that both have */
    struct nt_error *failures[NT_DIFF_SIDES]; /* the first of each side before it; NULL: none. From malloc */
    uint64_t failed_at[NT_DIFF_SIDES];        /* about where */
};

/* Compare the elements that both streams of a pair have, up to the first that differs. What cannot be read is noted and
 * left out. Works on the workers of A's reader and the calling thread; each takes about two MiB and what decoding
 * takes. Fails only where the comparison cannot go on (NT_NO_MEMORY). */
enum nt_status nt_diff_streams(struct nt_diffing *diffing, struct nt_stream_pair *pairs, size_t count,
                               struct nt_error *error);

/* The memory of the failures. */
void nt_stream_pairs_free(struct nt_stream_pair *pairs, size_t count);

#endif
