/* SPDX-License-Identifier: MIT
 *
 * A streaming reader of serialized Roaring bitmaps that calls back for every container and bitmap.
 */
#pragma once

#include "core/codec/codec.h"
#include "core/io/source.h"

/* ---- Container types ---- */

enum nt_roaring_kind {
    NT_ROARING_ARRAY,  /* up to 4,096 values of 16 bits, ascending */
    NT_ROARING_BITSET, /* 65,536 bits, lowest first */
    NT_ROARING_RUN,    /* a count, then (first value, length - 1) pairs of 16 bits */
    NT_ROARING_KIND_COUNT
};

struct nt_roaring_kind_info {
    const char *name;
    enum nt_encoding_kind encoding;
    /* Verifies the contents of a container against the cardinality in its descriptor and finds its
     * first and last value. `bytes` is the whole container; `offset` is its place, for messages. */
    enum nt_status (*check)(const uint8_t *bytes, size_t count, uint32_t cardinality, uint64_t offset,
                            uint16_t *first_ret, uint16_t *last_ret, struct nt_error *error);
};

/* Never NULL for a member of the enum. */
const struct nt_roaring_kind_info *nt_roaring_kind_info(enum nt_roaring_kind kind);

/* ---- Buffered sequential reads ---- */

/* The limit of one call of nt_roaring_window_bytes: more than the largest container, a run container of
 * 65,535 runs (2 + 4 * 65,535 bytes). */
enum { NT_ROARING_WINDOW_BYTES = 512 * 1024 };

/* ---- Parse bitmaps and containers ---- */

enum nt_roaring_width { NT_ROARING_32, NT_ROARING_64 };

/* A 32-bit bitmap: the file, or a bucket of a 64-bit one. There are no gaps between its parts. */
struct nt_roaring_bitmap {
    uint32_t high;   /* the bucket's key, the high 32 bits of its values; 0 in a 32-bit file */
    uint64_t offset; /* of the cookie; the bucket's key is in the 4 bytes before it */
    uint32_t cookie; /* as stored, 32 bits */
    bool has_run_flags, has_offsets;
    uint32_t containers;
    uint32_t header_bytes; /* cookie, count or run flags */
    uint32_t descriptor_bytes;
    uint32_t offset_bytes;
    /* Set at its end only: */
    uint64_t bytes;
    uint64_t cardinality;
    uint32_t kinds[NT_ROARING_KIND_COUNT]; /* containers of each kind */
};

struct nt_roaring_container {
    enum nt_roaring_kind kind;
    uint16_t key;         /* bits 16 to 31 of its values */
    uint32_t cardinality; /* 1 to 65,536 */
    uint64_t offset;      /* in the file */
    uint32_t bytes;
    uint16_t first, last; /* its smallest and largest value; 0 unless contents are checked */
};

struct nt_roaring_walk {
    struct nt_source *source;
    enum nt_roaring_width width;
    bool check_contents; /* also read and verify the containers */
    void *context;
    /* Called for each container and after each bitmap, in file order; may be NULL. Anything but NT_OK
     * ends the walk. */
    enum nt_status (*on_container)(void *context, const struct nt_roaring_bitmap *bitmap,
                                   const struct nt_roaring_container *container, struct nt_error *error);
    enum nt_status (*on_bitmap)(void *context, const struct nt_roaring_bitmap *bitmap,
                                struct nt_error *error);
    /* Set by the walk: */
    uint64_t buckets; /* as stored in a 64-bit file; 1 for a 32-bit one */
    uint64_t end;     /* of the valid bytes */
};

/* Are the 4 bytes a cookie of the format? */
bool nt_roaring_is_cookie(const uint8_t *bytes);

/* Walks over the whole file. Bytes after the end are not an error: see `end`. The memory does not
 * depend on the size of the file. */
enum nt_status nt_roaring_walk(struct nt_roaring_walk *walk, struct nt_error *error);
