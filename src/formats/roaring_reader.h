/* SPDX-License-Identifier: MIT
 *
 * A streaming reader of serialized Roaring bitmaps that calls back for every container and bitmap.
 */
#ifndef NT_FORMATS_ROARING_READER_H
#define NT_FORMATS_ROARING_READER_H

#include <stddef.h>
#include <stdint.h>

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
    /* Check the contents of a container against the cardinality that its descriptor tells, and find its first
     * and last value. `bytes` are as many as the container has; `offset` is its place, for the message. */
    enum nt_status (*check)(const uint8_t *bytes, size_t count, uint32_t cardinality, uint64_t offset,
                            uint16_t *first_ret, uint16_t *last_ret, struct nt_error *error);
};

/* The row of a kind; never NULL for a member of the enum. */
const struct nt_roaring_kind_info *nt_roaring_kind_info(enum nt_roaring_kind kind);

/* ---- Buffered sequential reads ---- */

/* The most that one call of nt_roaring_window_bytes gives: more than the largest container, a run container
 * of 65,535 runs (2 + 4 * 65,535 bytes). */
enum { NT_ROARING_WINDOW_BYTES = 512 * 1024 };

/* ---- Parse bitmaps and containers ---- */

enum nt_roaring_width { NT_ROARING_32, NT_ROARING_64 };

/* A 32-bit bitmap: the file, or a bucket of a 64-bit one. Its parts follow each other without
 * room between. */
struct nt_roaring_bitmap {
    uint64_t number; /* of the bucket, from 0 */
    uint32_t high;   /* the bucket's key, the high 32 bits of its values; 0 in a 32-bit file */
    uint64_t offset; /* of the cookie; the bucket's key stands in the 4 bytes before it */
    uint32_t cookie; /* as stored, 32 bits */
    bool has_run_flags, has_offsets;
    uint32_t containers;
    uint32_t header_bytes; /* cookie, count or run flags */
    uint32_t descriptor_bytes;
    uint32_t offset_bytes;
    /* Known at its end only: */
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
    bool check_contents; /* read and check the containers, too */
    void *context;
    /* Called for each container and after each bitmap, in file order; may be NULL. Anything but NT_OK ends
     * the walk. */
    enum nt_status (*on_container)(void *context, const struct nt_roaring_bitmap *bitmap,
                                   const struct nt_roaring_container *container, struct nt_error *error);
    enum nt_status (*on_bitmap)(void *context, const struct nt_roaring_bitmap *bitmap,
                                struct nt_error *error);
    /* Set by the walk: */
    uint64_t buckets; /* as a 64-bit file tells; 1 for a 32-bit one */
    uint64_t end;     /* of what was understood */
};

/* True where the 4 bytes are a cookie of the format. */
bool nt_roaring_is_cookie(const uint8_t *bytes);

/* Walk over the whole file. Bytes behind the end are not an error here: see `end`. Needs no more memory for
 * large files than for small ones. */
enum nt_status nt_roaring_walk(struct nt_roaring_walk *walk, struct nt_error *error);

#endif
