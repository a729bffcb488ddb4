/* SPDX-License-Identifier: MIT
 *
 * Decoding of Lance pages: encoding trees, page layouts, outputs, and the decoders of each encoding.
 */
#ifndef NT_FORMATS_LANCE_DECODE_DECODE_H
#define NT_FORMATS_LANCE_DECODE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/bytes.h"
#include "core/codec/codec.h"

struct nt_decode_block;

/* ---- FastLanes bit unpacking ---- */

/* Blocks that tell how many bits their elements have, each in a word in front of it; the last one is whole in
 * the input, too. Up to 7 bytes behind it are padding, more are NT_CORRUPT, as are fewer than the blocks
 * take. */
enum nt_status nt_unpack_inline(const uint8_t *input, size_t input_bytes, uint32_t word_bits,
                                uint64_t elements, uint8_t *output, struct nt_error *error);

/* Blocks of `packed_bits` each. What is left behind the whole ones is another block, or as many words as
 * there are elements left: which of the two, the input's size tells, and any other size is NT_CORRUPT. */
enum nt_status nt_unpack_blocks(const uint8_t *input, size_t input_bytes, uint32_t word_bits,
                                uint32_t packed_bits, uint64_t elements, uint8_t *output,
                                struct nt_error *error);

/* ---- Run-length decoding ---- */

/* `elements` elements of `value_bytes` each, exactly so much room as the output has. What the runs have beyond
 * them is omitted, because writers exist that store too much; fewer are NT_CORRUPT. */
enum nt_status nt_rle_expand(const uint8_t *values, uint32_t value_bytes, uint64_t runs,
                             const uint8_t *lengths, uint32_t length_bytes, uint64_t elements,
                             uint8_t *output, struct nt_error *error);

/* Sum of the lengths; UINT64_MAX where it is larger than that. */
uint64_t nt_rle_total(const uint8_t *lengths, uint32_t length_bytes, uint64_t runs);

/* ---- FSST decoding ---- */

/* A table of symbols, which needs no cleanup. */
struct nt_fsst {
    uint64_t symbols[256]; /* the first byte lowest; what is behind its end is of no interest */
    uint8_t lengths[256];  /* 1 to 8; 0 where a code stands for nothing */
    uint32_t count;        /* of symbols, whose codes are the numbers below it */
    bool is_plain;         /* no codes: bytes are what they are */
};

/* A table as Lance stores it: a header, the symbols, their lengths. It may be followed by other bytes. */
enum nt_status nt_fsst_init(struct nt_fsst *fsst, const uint8_t *table, size_t table_bytes,
                            struct nt_error *error);

/* Exactly `output_bytes` bytes, else NT_CORRUPT. The codes of strings that lie one after the other can be
 * decoded at once, where nt_fsst_ends has seen that none ends within an escape. */
enum nt_status nt_fsst_decode(const struct nt_fsst *fsst, const uint8_t *codes, size_t bytes, uint8_t *output,
                              size_t output_bytes, struct nt_error *error);

/* Where each string ends once it is decoded, counted from the first one's beginning. `code_ends` tells it of
 * the codes, counted from `codes`: it ascends, and ends within them, which the caller has checked. */
enum nt_status nt_fsst_ends(const struct nt_fsst *fsst, const uint8_t *codes, const uint64_t *code_ends,
                            uint64_t strings, uint64_t *ends, struct nt_error *error);

/* Both at once. Exactly `output_bytes` bytes, else NT_CORRUPT. */
enum nt_status nt_fsst_expand(const struct nt_fsst *fsst, const uint8_t *codes, const uint64_t *code_ends,
                              uint64_t strings, uint8_t *output, size_t output_bytes, uint64_t *ends,
                              struct nt_error *error);

/* ---- LZ4 and Zstandard buffers ---- */

enum nt_length_prefixed_kind {
    NT_LENGTH_PREFIXED_LZ4, /* a u32 and an LZ4 block */
    NT_LENGTH_PREFIXED_ZSTD, /* a u64 and Zstandard frames, or frames alone; no bytes at all are no bytes, too */
    NT_LENGTH_PREFIXED_KINDS
};

/* Exactly how many bytes will come out. NT_CORRUPT where so many cannot be in so few, or what tells the size
 * contradicts itself: up to 255 bytes can be in each of LZ4, and up to 32 KiB in each of Zstandard, so that a
 * caller who expects less has to compare before taking memory. Where only the end of a frame shows it, the
 * frame is decompressed for it, and forgotten; NT_LIMIT where that is more than 4 GiB. */
enum nt_status nt_length_prefixed_bytes(enum nt_length_prefixed_kind kind, const uint8_t *input,
                                        size_t input_bytes, uint64_t *bytes_ret, struct nt_error *error);

/* Exactly `output_bytes` bytes, else NT_CORRUPT. */
enum nt_status nt_length_prefixed_decompress(enum nt_length_prefixed_kind kind, const uint8_t *input,
                                             size_t input_bytes, uint8_t *output, size_t output_bytes,
                                             struct nt_codec_context *context, struct nt_error *error);

/* ---- Dictionary lookup ---- */

/* For each number (of 1, 2, 4 or 8 bytes) the item of that number, counted from 0, into `output`. NT_CORRUPT where there is none. */
enum nt_status nt_dictionary_gather(const struct nt_value *numbers, const struct nt_value *items,
                                    uint8_t *output, struct nt_error *error);

/* Of strings whose `item_ends` (UINT64) tell where each ends: where the chosen ones end, `base` added, as uint64_t that need no
 * alignment. `valid`: a byte for each number, 0 where it has no bytes; NULL: all have. NT_CORRUPT where there is no such item,
 * or its end lies before its beginning. */
enum nt_status nt_dictionary_ends(const struct nt_value *numbers, const struct nt_value *item_ends,
                                  const uint8_t *valid, uint64_t base, uint8_t *output,
                                  struct nt_error *error);
/* And their bytes, exactly `output_bytes` of them. NT_CORRUPT where items end behind the bytes, too. */
enum nt_status nt_dictionary_bytes(const struct nt_value *numbers, const struct nt_value *item_ends,
                                   const struct nt_value *bytes, const uint8_t *valid, uint8_t *output,
                                   uint64_t output_bytes, struct nt_error *error);

/* ---- Encoding trees and outputs ---- */

/* ---- encodings ---- */

enum nt_tree_node_kind {
    NT_TREE_FLAT,             /* values of `bits` one after the other */
    NT_TREE_VARIABLE,         /* offsets of `bits`, then bytes */
    NT_TREE_INLINE_BITS,      /* FastLanes blocks that tell their width */
    NT_TREE_OUT_OF_LINE_BITS, /* FastLanes blocks of `packed_bits` */
    NT_TREE_RUNS,             /* children: values, lengths of runs */
    NT_TREE_BYTE_SPLIT,       /* byte planes of the child's values */
    NT_TREE_LENGTH_PREFIXED,  /* compressed by `algorithm`, with its size in front */
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
    enum nt_length_prefixed_kind algorithm;
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

struct nt_tree_buffer {
    uint64_t offset, bytes; /* within the page's stored bytes */
};

struct nt_tree {
    enum nt_tree_layout layout;
    const struct nt_tree_node *nodes;
    uint32_t node_count;
    uint32_t values, repetition, definition; /* roots; NT_NO_NODE: there are none */
    bool has_dictionary;                     /* the values number the items of the decoder's inputs */
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
    const struct nt_tree_buffer *parts;
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
#define NT_TREE_HAS_ITEM_COUNT (UINT64_C(1) << 61)
enum { NT_TREE_ITEMS_BITS = 17, NT_TREE_ADDED_BITS = 44 };

enum { NT_TREE_LEVEL_BYTES = 4 }; /* an element of LEVELS */

/* Structures as they are stored, all of their members of fixed width. */
#define NT_TREE_ALL_MEMBERS UINT32_MAX

struct nt_tree_output_spec {
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

/* ---- Decode and count a chunk ---- */

/* ---- Decoders ---- */

/* What a decoder makes of a page. */
struct nt_tree_state {
    const struct nt_tree *tree; /* equal ones are one, as the format makes them */
    struct nt_tree_output_spec want;
};

/* Of decoders whose state is a struct nt_tree_state. Inputs are, where the tree has a dictionary, its items (VALUES), or their ENDS
 * and BYTES. Of trees that are whole ENDS go on from chunk to chunk. */
extern const struct nt_decoder_ops nt_tree_ops;
/* nt_tree_ops.decode: makes exactly `packed->elements` elements. Of the decoder it looks at the state and the bytes of an element. */
enum nt_status nt_tree_decode(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);

/* A decoder's tree and what is wanted of it; NULL where it has none. */
static inline const struct nt_tree_state *nt_tree_state_of(const struct nt_decoder *decoder)
{
    return decoder->ops == &nt_tree_ops ? (const struct nt_tree_state *)decoder->state : NULL;
}

/* What a page holds, for those who make page lists. */
struct nt_tree_counts {
    uint64_t slots[NT_TREE_LAYERS]; /* of each layer: rows that begin in the page */
    uint64_t levels;                /* 0 where there are none */
    uint64_t bytes;                 /* of strings, where they were asked for */
    uint64_t spent;                 /* bytes of memory that were used for it */
    /* Of the outermost layer's rows: */
    bool is_continued; /* the page begins within one */
    uint64_t last_row; /* levels of the last that begins there; of the whole page, where none does */
};
/* `values`: how many values there are where no levels tell. `wants_bytes`: count the bytes of strings (`member` of a structure),
 * too. */
enum nt_status nt_tree_count(const struct nt_tree *tree, const struct nt_packed *packed, uint64_t values,
                             bool wants_bytes, uint32_t member, struct nt_tree_counts *counts,
                             struct nt_error *error);

/* ---- Decode whole pages ---- */

/* A chunk of a mini-block page, as its word in the page's first buffer tells. */
struct nt_tree_chunk {
    uint64_t offset, bytes; /* within the chunks */
    uint64_t first_value, values;
};

/* The chunk of a number, the one behind `*chunk` (all zeros: the first): `words` are `word_count` of 2 bytes, of a tree with
 * large chunks 4. `values` and `bytes`: of all chunks. NT_CORRUPT where there are fewer of either. */
enum nt_status nt_tree_next_chunk(const struct nt_tree *tree, const uint8_t *words, uint64_t word_count,
                                  uint64_t number, uint64_t values, uint64_t bytes,
                                  struct nt_tree_chunk *chunk, struct nt_error *error);

/* ---- Describe an encoding tree ---- */

const char *nt_tree_layout_name(enum nt_tree_layout layout); /* "mini-block" */
const char *nt_tree_output_name(enum nt_tree_output output); /* "offsets" */

/* The encodings of a tree's values, those around others first: "general(byte stream split(flat 32))", into `text` of
 * `capacity` bytes: cut and ended with NUL. */
void nt_tree_describe(const struct nt_tree *tree, char *text, size_t capacity);

/* ---- Scratch memory and arrays ---- */

/* ---- memory ---- */

struct nt_decode_arena {
    const struct nt_tree *tree;
    const struct nt_packed *packed;
    uint64_t left; /* bytes that may still be taken */
    uint8_t *scratch;
    size_t scratch_left, scratch_wanted;
    struct nt_decode_block *blocks; /* of what the scratch memory had no room for */
};

/* Memory comes from the context of what is packed, where it has one: pages are small, and many. */
void nt_decode_arena_begin(struct nt_decode_arena *work, const struct nt_tree *tree,
                           const struct nt_packed *packed);
/* Memory until the end of the work. NT_LIMIT where there is none left for it. */
enum nt_status nt_decode_alloc(struct nt_decode_arena *work, uint64_t bytes, void *memory_ret,
                               struct nt_error *error);
void nt_decode_arena_free(struct nt_decode_arena *work);

/* ---- buffers ---- */

struct nt_buffer_slice {
    const uint8_t *data;
    uint64_t bytes;
};

/* The tree's part of a number, within the page's bytes. */
enum nt_status nt_decode_buffer(const struct nt_decode_arena *work, uint32_t number,
                                struct nt_buffer_slice *part, struct nt_error *error);
/* NT_CORRUPT where a buffer has fewer bytes than `bytes`: `what` needs them. */
enum nt_status nt_buffer_slice_require(const struct nt_buffer_slice *part, uint64_t bytes, const char *what,
                                       struct nt_error *error);
/* Bytes of so many bits. NT_LIMIT where they overflow. */
enum nt_status nt_bits_to_bytes(uint64_t count, uint64_t bits, uint64_t *bytes_ret, struct nt_error *error);

/* ---- values ---- */

struct nt_decoded_array {
    uint64_t elements;
    uint32_t bits; /* of each, 1 or whole bytes; 0: strings, or nothing at all */
    const uint8_t *data;
    uint64_t bytes;             /* of `data` */
    const uint64_t *ends;       /* strings: where each ends in `data` */
    const struct nt_fsst *fsst; /* strings that are still codes of these symbols; NULL: they are not */
    /* Bits of the items of fixed lists, 1 is valid, outermost lists first; NULL: all are, or none is. */
    struct nt_list_validity {
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
struct nt_opened_page {
    struct nt_levels levels;
    struct nt_buffer_slice parts[NT_TREE_BUFFERS]; /* of the values */
    uint32_t part_count;
    /* Full zip and constants have their values at once: */
    bool has_array;
    struct nt_decoded_array array;
};

/* ---- Table of encodings ---- */

/* Make `elements` values of a node from a chunk's buffers, of which there are NT_TREE_BUFFERS. `into`: memory of exactly the bytes of the result, to be used for it
 * or not; NULL: there is none. */
enum nt_status nt_tree_node_decode(struct nt_decode_arena *work, uint32_t node, struct nt_buffer_slice *parts,
                                   uint64_t elements, uint8_t *into, struct nt_decoded_array *array,
                                   struct nt_error *error);
/* The same of a block: one buffer that holds all of it. */
enum nt_status nt_block_decode(struct nt_decode_arena *work, uint32_t node,
                               const struct nt_buffer_slice *part, uint64_t elements, uint8_t *into,
                               struct nt_decoded_array *array, struct nt_error *error);

/* ---- Decode strings ---- */

/* NT_CORRUPT: there are codes of no strings. */
enum nt_status nt_strings_are_missing(struct nt_error *error);
/* Strings of a symbol table's codes. */
enum nt_status nt_strings_expand(struct nt_decode_arena *work, const struct nt_fsst *fsst,
                                 struct nt_decoded_array *array, struct nt_error *error);
/* A mini-block's strings, and those of a block. */
enum nt_status nt_strings_decode(struct nt_decode_arena *work, const struct nt_tree_node *node,
                                 const struct nt_buffer_slice *part, uint64_t elements,
                                 struct nt_decoded_array *array, struct nt_error *error);
enum nt_status nt_strings_decode_block(struct nt_decode_arena *work, const struct nt_tree_node *node,
                                       const struct nt_buffer_slice *part, uint64_t elements,
                                       struct nt_decoded_array *array, struct nt_error *error);

/* ---- Repetition and definition levels ---- */

/* What a layer's rows are, by their levels: a row begins where the repetition is at least `begins`, and is
 * there where the definition is at most `visible`. */
struct nt_layer_rule {
    uint16_t begins, visible;
    uint16_t valid; /* the largest definition of a row that is valid */
    uint16_t empty; /* and a larger one of one that is valid, too; 0: none */
};
void nt_layer_rule(const struct nt_tree *tree, uint32_t layer, struct nt_layer_rule *rule);
/* `count` levels of a part. `root`: how they are encoded; NT_NO_NODE: they lie there as they are. */
enum nt_status nt_levels_decode(struct nt_decode_arena *work, uint32_t root,
                                const struct nt_buffer_slice *part, uint64_t count,
                                const uint16_t **levels_ret, struct nt_error *error);
/* The largest levels that the layers allow. NT_CORRUPT where there are larger ones. */
enum nt_status nt_levels_check(const struct nt_tree *tree, const struct nt_levels *levels,
                               struct nt_error *error);

static inline bool nt_is_row(const struct nt_levels *levels, const struct nt_layer_rule *rule, uint64_t i)
{
    return (!levels->repetition || levels->repetition[i] >= rule->begins) &&
           (!levels->definition || levels->definition[i] <= rule->visible);
}

/* Whether no level that the layers allow makes a row of the layer null. */
bool nt_layer_is_always_valid(const struct nt_tree *tree, uint32_t layer);

/* How many rows a layer has in the page. */
uint64_t nt_levels_rows(const struct nt_levels *levels, const struct nt_layer_rule *rule);

/* ---- Mini-block chunks ---- */

/* What a chunk begins with: the number of its levels, and how many bytes follow of them and of each buffer. */
struct nt_mini_block_sizes {
    uint64_t levels, repetition_bytes, definition_bytes;
    uint64_t buffer_bytes[NT_TREE_BUFFERS];
};
/* Read them; `cursor` tells whether it failed. */
void nt_mini_block_get_sizes(const struct nt_tree *tree, struct nt_cursor *cursor,
                             struct nt_mini_block_sizes *sizes);

enum nt_status nt_mini_block_open(struct nt_decode_arena *work, bool wants_levels,
                                  struct nt_opened_page *opened, struct nt_error *error);

/* ---- Rows with levels or lengths ---- */

/* Whether rows have to be looked at one by one, and tell how many they are; else there is nothing but values. */
bool nt_full_zip_is_walked(const struct nt_tree *tree);

/* ---- Full-zip pages ---- */

/* `values`: how many rows there are where no levels tell. */
enum nt_status nt_full_zip_open(struct nt_decode_arena *work, uint32_t member, uint64_t values,
                                struct nt_opened_page *opened, struct nt_error *error);

/* ---- Constant pages ---- */

/* `values`: how many rows there are where no levels tell. */
enum nt_status nt_constant_open(struct nt_decode_arena *work, uint64_t values, bool wants_values,
                                struct nt_opened_page *opened, struct nt_error *error);

/* ---- Version 2.0 array encodings ---- */

/* Version 2.0's nodes, which take their buffers by number. */
enum nt_status nt_v2_0_decode(struct nt_decode_arena *work, uint32_t node,
                              const struct nt_buffer_slice *parts, uint32_t part_count, uint64_t elements,
                              struct nt_decoded_array *array, struct nt_error *error);

/* ---- Decoded pages ---- */

/* What is known of a page's values while they become elements. */
struct nt_decode_state {
    struct nt_decode_arena *work;
    const struct nt_tree_output_spec *want;
    uint32_t element_bytes; /* of an element of the output */
    struct nt_opened_page opened;
    uint64_t rows;        /* of the innermost layer */
    const uint8_t *valid; /* a byte for each; NULL: all are */
    /* Of a page that several outputs are made of: it is opened, and its values are decoded, once for all of them. */
    bool is_shared, is_opened, is_decoded;
};

/* Elements of a structure's member in a row. */
static inline uint64_t nt_decode_member_items(const struct nt_decode_state *decoding)
{
    return decoding->want->member_items ? decoding->want->member_items : 1;
}

/* Take the page apart, as far as levels and values are wanted. `decoding->rows` is set where no levels tell it. */
enum nt_status nt_decode_open(struct nt_decode_state *decoding, bool wants_levels, bool wants_values,
                              struct nt_error *error);
/* Decode its values. `into`: see nt_tree_node_decode. */
enum nt_status nt_decode_values(struct nt_decode_state *decoding, uint8_t *into, struct nt_error *error);
/* NT_CORRUPT where there are not `decoding->rows`. */
enum nt_status nt_decode_check_rows(const struct nt_decode_state *decoding, uint64_t found,
                                    struct nt_error *error);
/* A byte for each row of a layer, of which there have to be `rows`. */
enum nt_status nt_decode_valid_rows(const struct nt_decode_state *decoding, uint32_t layer, uint64_t rows,
                                    uint8_t *valid, struct nt_error *error);
/* Set `decoding->valid`, of decoded values. */
enum nt_status nt_decode_find_nulls(struct nt_decode_state *decoding, struct nt_error *error);
/* Whether levels can tell that a value is null, or all are. */
bool nt_decode_has_nulls(const struct nt_tree *tree);

/* ---- Zero null values ---- */

/* In the page's elements, of `width` bytes each: zeros for those of null rows, and of null items of the `depth`
 * outermost fixed lists around them. */
void nt_decode_clear_nulls(const struct nt_decode_state *decoding, uint32_t depth, uint32_t width,
                           uint8_t *output);

/* ---- Dictionary indices ---- */

/* They, with 0 where the row is null. */
enum nt_status nt_decode_indices(struct nt_decode_state *decoding, struct nt_value *numbers,
                                 struct nt_error *error);
/* Whether all rows are null, so that there need not be any item. */
bool nt_decode_is_null(const struct nt_decode_state *decoding);

/* ---- Outputs ---- */

/* Make all elements of an output. */
typedef enum nt_status nt_make_output(struct nt_decode_state *decoding, uint8_t *output,
                                      struct nt_error *error);
nt_make_output nt_output_values, nt_output_presence, nt_output_validity, nt_output_offsets, nt_output_levels,
    nt_output_ends, nt_output_bytes;

/* Of a page that is opened, with its values: the bytes of its strings, null ones without any; decoding->rows is how many there
 * are. */
enum nt_status nt_count_string_bytes(struct nt_decode_state *decoding, uint64_t *bytes_ret,
                                     struct nt_error *error);

#endif
