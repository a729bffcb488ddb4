/* SPDX-License-Identifier: MIT
 *
 * From the slots of Arrow's arrays to rows of streams.
 */
#ifndef NT_VIEW_ARROW_SLOTS_H
#define NT_VIEW_ARROW_SLOTS_H

#include "render/arrow/arrow_internal.h"

enum { NT_ARROW_PIECE_SLOTS = 16384 }; /* that are looked at at once, so that memory stays bounded */

enum {
    NT_ARROW_SLOT_PRESENT = 1,
    NT_ARROW_SLOT_VALID = 3
}; /* present: a row is stored, though it may count as null */

/* The rows behind some slots of a node: `count` slots, of which those that are present have the stream's rows
 * [first_row, first_row + rows) in order. */
struct nt_arrow_slots {
    uint64_t first_row, rows, count;
    uint8_t *marks; /* [count]; NULL: all are valid */
};

/* The first row of a node in a cluster of the table, in front of the steps that lead to it. */
uint64_t nt_arrow_row_space_begin(const struct nt_arrow *arrow, const struct nt_arrow_node *node,
                                  uint32_t cluster);

/* The rows of slots [first, first + count), at most NT_ARROW_PIECE_SLOTS. `is_validity`: only those count as valid that
 * are so themselves. slots->marks is the caller's to free, also after a failure. */
enum nt_status nt_arrow_resolve_slots(const struct nt_arrow *arrow, const struct nt_arrow_node *node,
                                      uint32_t cluster, bool is_validity, uint64_t first, uint64_t count,
                                      struct nt_arrow_slots *slots, struct nt_error *error);

#endif
