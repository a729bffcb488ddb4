/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share while one page is taken apart: memory that is bounded and given back at
 * once, arrays of values, and levels.
 */
#ifndef NT_CODEC_TREE_WORK_H
#define NT_CODEC_TREE_WORK_H

#include "formats/lance/decode/description.h"

/* ---- memory ---- */

struct nt_work {
    const struct nt_tree *tree;
    const struct nt_packed *packed;
    uint64_t left; /* bytes that may still be taken */
    uint8_t *scratch;
    size_t scratch_left, scratch_wanted;
    struct nt_work_block *blocks; /* of what the scratch memory had no room for */
};

/* Memory comes from the context of what is packed, where it has one: pages are small, and many. */
void nt_work_begin(struct nt_work *work, const struct nt_tree *tree, const struct nt_packed *packed);
/* Memory until the end of the work. NT_LIMIT where there is none left for it. */
enum nt_status nt_work_take(struct nt_work *work, uint64_t bytes, void *memory_ret, struct nt_error *error);
void nt_work_free(struct nt_work *work);

/* ---- buffers ---- */

struct nt_part {
    const uint8_t *data;
    uint64_t bytes;
};

/* The tree's part of a number, within the page's bytes. */
enum nt_status nt_work_part(const struct nt_work *work, uint32_t number, struct nt_part *part,
                            struct nt_error *error);
/* NT_CORRUPT where a buffer has fewer bytes than `bytes`: `what` needs them. */
enum nt_status nt_part_require(const struct nt_part *part, uint64_t bytes, const char *what,
                               struct nt_error *error);
/* Bytes of so many bits. NT_LIMIT where they overflow. */
enum nt_status nt_bits_to_bytes(uint64_t count, uint64_t bits, uint64_t *bytes_ret, struct nt_error *error);

/* ---- values ---- */

struct nt_array {
    uint64_t elements;
    uint32_t bits; /* of each, 1 or whole bytes; 0: strings, or nothing at all */
    const uint8_t *data;
    uint64_t bytes;             /* of `data` */
    const uint64_t *ends;       /* strings: where each ends in `data` */
    const struct nt_fsst *fsst; /* strings that are still codes of these symbols; NULL: they are not */
    /* Bits of the items of fixed lists, 1 is valid, outermost lists first; NULL: all are, or none is. */
    struct nt_array_items {
        const uint8_t *valid;
        bool are_null;
        uint64_t items; /* of each list */
    } lists[NT_TREE_DEPTH];
    uint32_t depth;
    const uint8_t *valid; /* version 2.0: bits; NULL: all are valid */
    bool is_null;         /* there is nothing but nulls */
};

/* ---- levels ---- */

struct nt_levels {
    uint64_t count;             /* 0 where there are none */
    const uint16_t *repetition; /* NULL: all are the largest */
    const uint16_t *definition; /* NULL: all are 0 */
};

/* A page taken apart. */
struct nt_opened {
    struct nt_levels levels;
    struct nt_part parts[NT_TREE_BUFFERS]; /* of the values */
    uint32_t part_count;
    /* Full zip and constants have their values at once: */
    bool has_array;
    struct nt_array array;
};

#endif
