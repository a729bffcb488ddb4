/* SPDX-License-Identifier: MIT
 *
 * Whether a file is a Roaring bitmap in the portable serialization of 32 or 64 bits, and what is kept of it.
 */
#ifndef NT_FORMAT_ROARING_VALIDATE_H
#define NT_FORMAT_ROARING_VALIDATE_H

#include "format/roaring/walk.h"

/* What validation found; all that an open file keeps: nt_file.format_data, and that of its data set. */
struct nt_roaring {
    enum nt_roaring_width width;
    uint64_t buckets;
    uint64_t containers;
    uint64_t kinds[NT_ROARING_KIND_COUNT]; /* containers of each kind */
    uint64_t cardinality;
    uint64_t minimum, maximum;       /* 0 without values */
    uint64_t end;                    /* bytes behind it are trailing */
    struct nt_roaring_bitmap bitmap; /* the last one; of a 32-bit file, the only one */
};

static inline uint32_t nt_roaring_bits(const struct nt_roaring *roaring)
{
    return roaring->width == NT_ROARING_32 ? 32 : 64;
}

/* Read and validate the whole source, 32-bit first, then 64-bit. NT_NOT_THIS_FORMAT after a few bytes where
 * it can be neither; NT_UNSUPPORTED with its name where it looks like another serialization of bitmaps. */
enum nt_status nt_roaring_validate(struct nt_source *source, bool accept_trailing_bytes,
                                   struct nt_roaring *roaring, struct nt_error *error);

#endif
