/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share while one page is taken apart: memory that is bounded and given back at
 * once, arrays of values, and levels.
 */
#ifndef NT_CODEC_TREE_WORK_H
#define NT_CODEC_TREE_WORK_H

#include "codec/tree/tree.h"

/* ---- memory ---- */

struct nt_work {
    const struct nt_tree *tree;
    const struct nt_packed *packed;
    uint64_t left; /* bytes that may still be taken */
    struct nt_work_block *blocks;
};

/* Memory until the end of the work. NT_LIMIT where there is none left for it. */
enum nt_status nt_work_take(struct nt_work *work, uint64_t bytes, void *memory_ret, struct nt_error *error);
void nt_work_free(struct nt_work *work);

/* ---- buffers ---- */

struct nt_part {
    const uint8_t *data;
    uint64_t bytes;
};

/* NT_CORRUPT where a buffer has fewer bytes than `bytes`: `what` needs them. */
enum nt_status nt_part_require(const struct nt_part *part, uint64_t bytes, const char *what,
                               struct nt_error *error);
/* Bytes of so many bits. NT_LIMIT where they overflow. */
enum nt_status nt_bits_to_bytes(uint64_t count, uint64_t bits, uint64_t *bytes_ret, struct nt_error *error);

enum { NT_TREE_BUFFERS = 32 };

/* ---- values ---- */

struct nt_array {
    uint64_t elements;
    uint32_t bits; /* of each, 1 or whole bytes; 0: strings, or nothing at all */
    const uint8_t *data;
    uint64_t bytes;       /* of `data` */
    const uint64_t *ends; /* strings: where each ends in `data` */
    /* Bits of the items of fixed lists, 1 is valid, outermost lists first; NULL: all are. */
    struct nt_array_items {
        const uint8_t *valid;
        uint64_t items; /* of each list */
    } lists[NT_TREE_DEPTH];
    uint32_t depth;
    const uint8_t *valid; /* version 2.0: bits; NULL: all are valid */
    bool is_null;         /* version 2.0: there is nothing but nulls */
};

/* Make `elements` values of a node from a chunk's buffers. `into`: memory of exactly the bytes of the result, to be used for it
 * or not; NULL: there is none. */
enum nt_status nt_tree_node_decode(struct nt_work *work, uint32_t node, struct nt_part *parts,
                                   uint32_t part_count, uint64_t elements, uint8_t *into,
                                   struct nt_array *array, struct nt_error *error);
/* The same of a block: one buffer that holds all of it. */
enum nt_status nt_block_decode(struct nt_work *work, uint32_t node, const struct nt_part *part,
                               uint64_t elements, uint8_t *into, struct nt_array *array,
                               struct nt_error *error);

/* Strings: `offsets` of `offset_bits`, one more than `elements`, counted from `base` of which there are `base_bytes`. */
enum nt_status nt_strings_from_offsets(struct nt_work *work, const uint8_t *offsets, uint32_t offset_bits,
                                       const uint8_t *base, uint64_t base_bytes, uint64_t elements,
                                       struct nt_array *array, struct nt_error *error);
/* Strings of a symbol table's codes. */
enum nt_status nt_strings_expand(struct nt_work *work, const struct nt_fsst *fsst, struct nt_array *array,
                                 struct nt_error *error);
/* A mini-block's strings, and those of a block. */
enum nt_status nt_strings_decode(struct nt_work *work, const struct nt_tree_node *node,
                                 const struct nt_part *part, uint64_t elements, struct nt_array *array,
                                 struct nt_error *error);
enum nt_status nt_strings_decode_block(struct nt_work *work, const struct nt_tree_node *node,
                                       const struct nt_part *part, uint64_t elements, struct nt_array *array,
                                       struct nt_error *error);

/* Version 2.0's nodes, which take their buffers by number. */
enum nt_status nt_plain_decode(struct nt_work *work, uint32_t node, const struct nt_part *parts,
                               uint32_t part_count, uint64_t elements, struct nt_array *array,
                               struct nt_error *error);

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

enum nt_status nt_mini_block_open(struct nt_work *work, bool wants_levels, struct nt_opened *opened,
                                  struct nt_error *error);
/* `values`: how many rows there are where no levels tell. */
enum nt_status nt_full_zip_open(struct nt_work *work, uint32_t member, uint64_t values,
                                struct nt_opened *opened, struct nt_error *error);
enum nt_status nt_constant_open(struct nt_work *work, uint64_t values, bool wants_values,
                                struct nt_opened *opened, struct nt_error *error);

/* What a layer's rows are, by their levels: a row begins where the repetition is at least `begins`, and is
 * there where the definition is at most `visible`. */
struct nt_layer_rule {
    uint16_t begins, visible;
    uint16_t valid; /* the largest definition of a row that is valid */
    uint16_t empty; /* and a larger one of one that is valid, too; 0: none */
};
void nt_layer_rule(const struct nt_tree *tree, uint32_t layer, struct nt_layer_rule *rule);
/* The largest levels that the layers allow. NT_CORRUPT where there are larger ones. */
enum nt_status nt_levels_check(const struct nt_tree *tree, const struct nt_levels *levels,
                               struct nt_error *error);

static inline bool nt_is_row(const struct nt_levels *levels, const struct nt_layer_rule *rule, uint64_t i)
{
    return (!levels->repetition || levels->repetition[i] >= rule->begins) &&
           (!levels->definition || levels->definition[i] <= rule->visible);
}

static inline bool nt_is_valid(const struct nt_levels *levels, const struct nt_layer_rule *rule, uint64_t i)
{
    uint16_t definition = levels->definition ? levels->definition[i] : 0;
    return definition <= rule->valid || (rule->empty && definition == rule->empty);
}

/* How many rows a layer has in the page. */
uint64_t nt_levels_rows(const struct nt_levels *levels, const struct nt_layer_rule *rule);

#endif
