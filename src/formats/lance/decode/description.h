/* SPDX-License-Identifier: MIT
 *
 * Nested encodings: pages whose values are compressed by one encoding over another, and which carry, beside
 * values, levels that tell where lists begin and what is null (Lance's file format, all versions). A
 * tree says how such a page is taken apart; an output says what of it is wanted: one page of the file is
 * read as pages of several columns of the model. The encodings are rows of one table (nodes.c).
 */
#ifndef NT_CODEC_TREE_DESCRIPTION_H
#define NT_CODEC_TREE_DESCRIPTION_H

#include "core/codec/codec.h"
#include "formats/lance/decode/fsst.h"
#include "formats/lance/decode/sized.h"

/* ---- encodings ---- */

enum nt_tree_node_kind {
    NT_TREE_FLAT,             /* values of `bits` one behind the other */
    NT_TREE_VARIABLE,         /* offsets of `bits`, then bytes */
    NT_TREE_INLINE_BITS,      /* FastLanes blocks that tell their width */
    NT_TREE_OUT_OF_LINE_BITS, /* FastLanes blocks of `packed_bits` */
    NT_TREE_RUNS,             /* children: values, lengths of runs */
    NT_TREE_BYTE_SPLIT,       /* byte planes of the child's values */
    NT_TREE_SIZED,            /* compressed by `algorithm`, with its size in front */
    NT_TREE_FSST,             /* short codes for frequent bytes, over the child's strings */
    NT_TREE_FIXED_LIST,       /* `items` of the child's values for each */
    NT_TREE_PACKED,           /* structures: the child's values are whole rows */
    NT_TREE_SAME,             /* `value` every time, zeros where there is none */
    NT_TREE_VARIABLE_PACKED,  /* structures of members that may be strings; full zip only */
    /* Of version 2.0 only: */
    NT_TREE_NULLABLE, /* child 0: the values; child 1: their validity; NT_NO_NODE: all valid */
    NT_TREE_ALL_NULL,
    NT_TREE_LIST_ENDS,  /* child 0: end offsets, to which `adjustment` is added where the row is null */
    NT_TREE_BINARY,     /* child 0: such end offsets, child 1: bytes */
    NT_TREE_DICTIONARY, /* child 0: numbers of items, child 1: the items */
    /* Of the legacy versions only: */
    NT_TREE_ABSOLUTE_OFFSETS, /* child 0: where rows begin, and where the last one ends; without anything in it a row is null */
    NT_TREE_NODE_COUNT
};

#define NT_NO_NODE UINT32_MAX
enum { NT_TREE_NODES = 256, NT_TREE_LAYERS = 64, NT_TREE_DEPTH = 16, NT_TREE_BUFFERS = 32 };

/* A member of a structure of variable width. */
struct nt_tree_member {
    uint32_t node;        /* of its values; of a string, NT_NO_NODE */
    uint32_t bits;        /* of a value, 0: it is a string */
    uint32_t length_bits; /* of a string's length */
};

struct nt_tree_node {
    enum nt_tree_node_kind kind;
    uint32_t children[2]; /* behind this one, so that there are no circles */
    uint32_t buffer;      /* the first that it takes */
    uint32_t bits, packed_bits;
    enum nt_sized_kind algorithm;
    bool has_validity; /* fixed lists: a bit for each item, in a buffer before the items */
    bool is_null;      /* all of its values are, whatever stands beside them; of fixed lists, the lists */
    bool is_one_based; /* dictionaries: 0 is null */
    uint64_t items;    /* of a fixed list, of a dictionary; of all lists whose ends there are */
    uint64_t adjustment;
    const uint8_t *value; /* of SAME: bits / 8 bytes, or NULL */
    const struct nt_fsst *fsst;
    const struct nt_tree_member *members; /* of VARIABLE_PACKED */
    uint32_t member_count;
};

struct nt_tree_node_info {
    const char *name; /* as in Lance's documentation */
    uint32_t buffers; /* of a mini-block chunk, that it takes itself */
    uint32_t children;
};
const struct nt_tree_node_info *nt_tree_node_info(enum nt_tree_node_kind kind);

/* ---- pages ---- */

enum nt_tree_layout {
    NT_TREE_MINI_BLOCK, /* a chunk: levels, then the buffers of the values */
    NT_TREE_FULL_ZIP,   /* levels and value of one row after the other */
    NT_TREE_CONSTANT,   /* one value, or none, and levels */
    NT_TREE_BLOCK,      /* a dictionary: one buffer with all of its values */
    NT_TREE_ARRAY,      /* version 2.0: buffers, no levels */
};

/* What surrounds a value, as the file numbers it. */
enum nt_layer {
    NT_LAYER_NONE,
    NT_LAYER_ITEM,
    NT_LAYER_LIST,
    NT_LAYER_NULLABLE_ITEM,
    NT_LAYER_NULLABLE_LIST,
    NT_LAYER_EMPTYABLE_LIST,
    NT_LAYER_NULL_AND_EMPTY_LIST,
    NT_LAYER_COUNT
};

struct nt_tree_part {
    uint64_t offset, bytes; /* within the page's stored bytes */
};

struct nt_tree {
    enum nt_tree_layout layout;
    const struct nt_tree_node *nodes;
    uint32_t node_count;
    uint32_t values, repetition, definition; /* roots; NT_NO_NODE: there are none */
    bool has_dictionary;                     /* the values number the items of the plan's inputs */
    bool has_large_chunk;
    uint32_t buffers; /* of a chunk's values */
    /* Full zip: */
    uint32_t repetition_bits, definition_bits, value_bits, offset_bits;
    /* Constant: */
    const uint8_t *value; /* NULL: null, or in the first part */
    uint32_t value_bytes;
    bool has_value_part;
    uint64_t repetition_count, definition_count; /* levels where they are compressed */
    /* Where buffers lie within the page, but of mini-block chunks. */
    const struct nt_tree_part *parts;
    uint32_t part_count;
    /* The page is not a part of one of the file, but all of it: part 0 are the rows of full zip; of mini-blocks the
     * sizes of chunks, and part 1 the chunks. */
    bool is_whole;
    uint32_t layer_count;
    uint8_t layers[NT_TREE_LAYERS]; /* enum nt_layer, innermost first */
};

/* Whether values are rows of structures, of which a member is wanted. */
bool nt_tree_is_structure(const struct nt_tree *tree);
/* Whether all rows are null, whatever their levels tell. */
bool nt_tree_is_null(const struct nt_tree *tree);
/* Values in one row: items of the fixed lists around them, all together; false where they overflow. */
bool nt_tree_items(const struct nt_tree *tree, uint64_t *items_ret);

/* Whether pages have levels, in their own buffers or beside each row. */
bool nt_tree_has_levels(const struct nt_tree *tree);
/* Bytes of the levels of a full-zip row. */
static inline uint32_t nt_tree_control_bytes(const struct nt_tree *tree)
{
    uint32_t bits = tree->repetition_bits + tree->definition_bits;
    return bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

/* The lists among a layer and those inside it: with any it may have fewer rows than there are values. */
uint32_t nt_tree_lists(const struct nt_tree *tree, uint32_t layer);

/* ---- outputs ---- */

enum nt_tree_output {
    NT_TREE_VALUES,  /* fixed width: null ones are zeros; of fixed lists all items */
    NT_TREE_VALID,   /* bool: of the layer, and of what surrounds it up to the next list */
    NT_TREE_OFFSETS, /* uint64: of the layer, a list: where each list but the last ends, see nt_tree_offsets */
    NT_TREE_ENDS,    /* uint64: where each string ends */
    NT_TREE_BYTES,   /* of all strings */
    NT_TREE_LEVELS,  /* u16 repetition, u16 definition: as they are stored, 0 where only the other one is */
    NT_TREE_PRESENT, /* bool: of places of blobs (u64 position, u64 size), whether one is there, or what is around it: without
                      * bytes position 0 is a value, and others have a definition level in front of their low 16 bits */
};

/* The page's `parameter` is, of BYTES: how many strings there are; of LEVELS: how many values; of ENDS and OFFSETS: what is added; of VALID
 * with `repeats`: how many of the layer's rows are of one that has begun before the page. OFFSETS
 * has in it, beside, these bits: a list's end is told where the next one begins, so that the first page of a
 * column has one fewer than lists begin there, and its last one more. */
#define NT_TREE_IS_FIRST (UINT64_C(1) << 63)
#define NT_TREE_IS_LAST (UINT64_C(1) << 62)
/* Where nobody has looked at the page's levels before: how many items begin in it, which they have to tell, too, in
 * some bits of the parameter. Less is added then. */
#define NT_TREE_TELLS_ITEMS (UINT64_C(1) << 61)
enum { NT_TREE_ITEMS_BITS = 17, NT_TREE_ADDED_BITS = 44 };

enum { NT_TREE_LEVEL_BYTES = 4 }; /* an element of LEVELS */

/* Structures as they are stored, all of their members of fixed width. */
#define NT_TREE_ALL_MEMBERS UINT32_MAX

struct nt_tree_want {
    enum nt_tree_output output;
    uint32_t layer;   /* VALID, OFFSETS: innermost 0 */
    uint16_t valid;   /* PRESENT: the largest definition of what is there */
    uint64_t repeats; /* VALID of a layer: rows that are one each, and alike; 0 and 1: each is its own */
    uint32_t depth;   /* VALID: of the items this many fixed lists deep; 0: of the layer itself */
    uint32_t member;  /* of structures, or NT_TREE_ALL_MEMBERS; else 0 */
    uint64_t member_offset; /* of packed structures of fixed width: bytes */
    uint64_t member_items;  /* of structures: items of the fixed lists around an element; 0: there are none */
    bool is_stored;         /* VALUES: null ones are what is stored for them */
};

#endif
