/* SPDX-License-Identifier: MIT
 *
 * The state of an open Roaring bitmap file, its validation and its metadata.
 */
#pragma once

#include "core/io/source.h"
#include "core/model/model.h"
#include "formats/roaring_reader.h"

/* What validation found; an open file keeps nothing else: format_data of nt_file and its dataset. */
struct nt_roaring {
    enum nt_roaring_width width;
    uint64_t buckets;
    uint64_t containers;
    uint64_t kinds[NT_ROARING_KIND_COUNT]; /* containers of each kind */
    uint64_t cardinality;
    uint64_t minimum, maximum;       /* 0 if there are no values */
    uint64_t end;                    /* bytes after it are trailing */
    struct nt_roaring_bitmap bitmap; /* the last one; the only one of a 32-bit file */
};

static inline uint32_t nt_roaring_bits(const struct nt_roaring *roaring)
{
    return roaring->width == NT_ROARING_32 ? 32 : 64;
}

/* Reads and validates the whole source, first as 32-bit, then as 64-bit. NT_NOT_THIS_FORMAT after a few
 * bytes if it is neither; NT_UNSUPPORTED, with a name, for another serialization of bitmaps. */
enum nt_status nt_roaring_validate(struct nt_source *source, bool accept_trailing_bytes,
                                   struct nt_roaring *roaring, struct nt_error *error);

/* Recognises other serialization formats of Roaring libraries by the first (and for one, the last)
 * bytes of the source. Returns the name or NULL. */
const char *nt_roaring_relative(struct nt_source *source);
