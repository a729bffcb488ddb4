/* SPDX-License-Identifier: MIT
 *
 * Reading metadata: what is read counts for what the file may ask for.
 */
#ifndef NT_MODEL_METADATA_H
#define NT_MODEL_METADATA_H

#include "core/io/source.h"
#include "core/model/budget.h"

/* Where metadata lie. */
struct nt_metadata_range {
    uint64_t offset, bytes;
    uint64_t place; /* of its first byte, among all that the budget is for: no two bytes have the same one */
    bool is_compressed;
};

/* Places in the file of a number, of several that have one budget. */
static inline uint64_t nt_place_in_file(uint64_t number, uint64_t offset)
{
    enum { OFFSET_BITS = 40 };
    return (number << OFFSET_BITS) + offset;
}

/* Read a stretch, which lies in the source, into memory of malloc, which has a byte more. The bytes are taken from the budget, and
 * stay so; where it has less than all of them, they are read in pieces, as what was read makes it larger. `*counted_ret`: how
 * many it was made larger by, for nt_budget_withdraw; may be NULL. */
enum nt_status nt_metadata_read(struct nt_budget *budget, struct nt_source *source,
                                const struct nt_metadata_range *stretch, uint8_t **bytes_ret,
                                uint64_t *counted_ret, struct nt_error *error);

#endif
