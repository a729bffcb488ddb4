/* SPDX-License-Identifier: MIT
 *
 * The three kinds of containers of the Roaring format: how long they are, and whether their contents keep its
 * rules.
 */
#ifndef NT_FORMAT_ROARING_CONTAINER_H
#define NT_FORMAT_ROARING_CONTAINER_H

#include <stddef.h>
#include <stdint.h>

#include "core/codec/codec.h"

enum nt_roaring_kind {
    NT_ROARING_ARRAY,  /* up to 4,096 values of 16 bits, ascending */
    NT_ROARING_BITSET, /* 65,536 bits, lowest first */
    NT_ROARING_RUN,    /* a count, then (first value, length - 1) pairs of 16 bits */
    NT_ROARING_KIND_COUNT
};

enum {
    NT_ROARING_ARRAY_MAXIMUM =
        4096, /* values; a container with more that is not a run container is a bitset */
    NT_ROARING_BITSET_BYTES = 8192,
    NT_ROARING_RUN_COUNT_BYTES = 2,
    NT_ROARING_RUN_BYTES = 4,
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

#endif
