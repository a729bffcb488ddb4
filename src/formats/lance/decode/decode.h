/* SPDX-License-Identifier: MIT
 *
 * Decoding of Lance pages: encoding trees, page layouts, outputs, and the decoders of each encoding.
 */
#pragma once

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/codec/codec.h"

struct nt_decode_block;

/* ---- Numbers of 1, 2, 4 or 8 bytes ---- */

static inline __attribute__((always_inline)) uint64_t nt_number_at(const uint8_t *numbers, uint64_t position,
                                                                   uint32_t bytes)
{
    return nt_load_integer(numbers + position * bytes, bytes, false);
}

/* Can a number have so many bits? */
static inline bool nt_is_number(uint64_t bits)
{
    return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

/* Reads the next number; one of 0 bytes is 0. */
static inline uint64_t nt_get_number(struct nt_cursor *cursor, uint32_t bytes)
{
    const uint8_t *at = nt_get_bytes(cursor, bytes);
    return bytes && at ? nt_number_at(at, 0, bytes) : 0;
}

/* ---- FastLanes bit unpacking ---- */

/* Unpacks blocks that each begin with a word that holds their bit width; the last block is stored
 * whole, too. Accepts up to 7 bytes of padding at the end; more, or too few bytes, are NT_CORRUPT. */
enum nt_status nt_unpack_inline(const uint8_t *input, size_t input_bytes, uint32_t word_bits,
                                uint64_t elements, uint8_t *output, struct nt_error *error);

/* Unpacks blocks of `packed_bits` per element. After the whole blocks follows either one more block,
 * or one bare word for each remaining element. The input size decides; any other size is NT_CORRUPT. */
enum nt_status nt_unpack_blocks(const uint8_t *input, size_t input_bytes, uint32_t word_bits,
                                uint32_t packed_bits, uint64_t elements, uint8_t *output,
                                struct nt_error *error);

/* ---- Run-length decoding ---- */

/* Writes exactly `elements` elements of `value_bytes` each. Ignores surplus elements of the runs,
 * because some writers store too many; too few are NT_CORRUPT. */
enum nt_status nt_rle_expand(const uint8_t *values, uint32_t value_bytes, uint64_t runs,
                             const uint8_t *lengths, uint32_t length_bytes, uint64_t elements,
                             uint8_t *output, struct nt_error *error);

/* Returns the sum of the lengths; UINT64_MAX if it overflows. */
uint64_t nt_rle_total(const uint8_t *lengths, uint32_t length_bytes, uint64_t runs);

/* ---- FSST decoding ---- */

/* A symbol table; it needs no cleanup. */
struct nt_fsst {
    uint64_t symbols[256]; /* the first byte is the lowest; bytes past the length are arbitrary */
    uint8_t lengths[256];  /* 1 to 8; 0: the code is undefined */
    uint32_t count;        /* number of symbols; their codes are 0 to count - 1 */
    bool is_plain;         /* no codes: bytes are stored verbatim */
};

/* Reads a table as Lance stores it: a header, the symbols, their lengths. Other bytes may follow. */
enum nt_status nt_fsst_init(struct nt_fsst *fsst, const uint8_t *table, size_t table_bytes,
                            struct nt_error *error);

/* Writes exactly `output_bytes` bytes, else NT_CORRUPT. Consecutive strings can be decoded in one call
 * if nt_fsst_ends has checked that no string ends within an escape. */
enum nt_status nt_fsst_decode(const struct nt_fsst *fsst, const uint8_t *codes, size_t bytes, uint8_t *output,
                              size_t output_bytes, struct nt_error *error);

/* Computes where each decoded string ends, relative to the start of the first. `code_ends`: where its
 * codes end, relative to `codes`. The caller has checked that they ascend and end within the codes. */
enum nt_status nt_fsst_ends(const struct nt_fsst *fsst, const uint8_t *codes, const uint64_t *code_ends,
                            uint64_t strings, uint64_t *ends, struct nt_error *error);

/* Decodes the bytes and computes the ends. Writes exactly `output_bytes` bytes, else NT_CORRUPT. */
enum nt_status nt_fsst_expand(const struct nt_fsst *fsst, const uint8_t *codes, const uint64_t *code_ends,
                              uint64_t strings, uint8_t *output, size_t output_bytes, uint64_t *ends,
                              struct nt_error *error);

/* ---- LZ4 and Zstandard buffers ---- */

enum nt_length_prefixed_kind {
    NT_LENGTH_PREFIXED_LZ4,  /* a u32 size and an LZ4 block */
    NT_LENGTH_PREFIXED_ZSTD, /* a u64 size and Zstandard frames, or bare frames, or no bytes */
    NT_LENGTH_PREFIXED_KINDS
};

/* Returns the exact decompressed size. NT_CORRUPT if the input is too short for it, or its sizes
 * disagree. A byte of LZ4 can expand to 255 bytes, one of Zstandard to 32 KiB: a caller that expects
 * less must compare before it allocates. If only the end of a frame reveals its size, decompresses the
 * frame and discards it; NT_LIMIT if it has more than 4 GiB. */
enum nt_status nt_length_prefixed_bytes(enum nt_length_prefixed_kind kind, const uint8_t *input,
                                        size_t input_bytes, uint64_t *bytes_ret, struct nt_error *error);

/* Writes exactly `output_bytes` bytes, else NT_CORRUPT. */
enum nt_status nt_length_prefixed_decompress(enum nt_length_prefixed_kind kind, const uint8_t *input,
                                             size_t input_bytes, uint8_t *output, size_t output_bytes,
                                             struct nt_codec_context *context, struct nt_error *error);

/* ---- Dictionary lookup ---- */

/* Writes the item of each index (1, 2, 4 or 8 bytes, from 0). NT_CORRUPT if an index has no item. */
enum nt_status nt_dictionary_gather(const struct nt_value *numbers, const struct nt_value *items,
                                    uint8_t *output, struct nt_error *error);

/* For string items that end at `item_ends` (UINT64): writes the end of each selected string, plus
 * `base`, as unaligned uint64_t. `valid`: a byte per index, 0 if the row has no bytes; NULL: all have.
 * NT_CORRUPT if an index has no item, or an item ends before it begins. */
enum nt_status nt_dictionary_ends(const struct nt_value *numbers, const struct nt_value *item_ends,
                                  const uint8_t *valid, uint64_t base, uint8_t *output,
                                  struct nt_error *error);
/* Writes their bytes, exactly `output_bytes`. NT_CORRUPT, too, if an item ends past `bytes`. */
enum nt_status nt_dictionary_bytes(const struct nt_value *numbers, const struct nt_value *item_ends,
                                   const struct nt_value *bytes, const uint8_t *valid, uint8_t *output,
                                   uint64_t output_bytes, struct nt_error *error);

/* ---- Encodings ---- */

enum nt_encoding_tree_node_kind {
    NT_LANCE_FLAT,             /* consecutive values of `bits` */
    NT_LANCE_VARIABLE,         /* offsets of `bits`, then bytes */
    NT_LANCE_INLINE_BITS,      /* FastLanes blocks that store their own width */
    NT_LANCE_OUT_OF_LINE_BITS, /* FastLanes blocks of `packed_bits` */
    NT_LANCE_RUNS,             /* children: values, run lengths */
    NT_LANCE_BYTE_SPLIT,       /* byte planes of the child's values */
    NT_LANCE_LENGTH_PREFIXED,  /* compressed by `algorithm`, prefixed with the size */
    NT_LANCE_FSST,             /* FSST codes over the child's strings */
    NT_LANCE_FIXED_LIST,       /* `items` of the child's values per list */
    NT_LANCE_PACKED,           /* structures: each of the child's values is a whole row */
    NT_LANCE_SAME,             /* `value` for every row; NULL: zeros */
    NT_LANCE_VARIABLE_PACKED,  /* structures whose members may be strings; full zip only */
    /* Version 2.0 only: */
    NT_LANCE_NULLABLE, /* child 0: values; child 1: validity; NT_NO_NODE: all valid */
    NT_LANCE_ALL_NULL,
    NT_LANCE_LIST_ENDS,  /* child 0: end offsets; null rows have `adjustment` added */
    NT_LANCE_BINARY,     /* child 0: LIST_ENDS offsets, child 1: bytes */
    NT_LANCE_DICTIONARY, /* child 0: indices, child 1: items */
    /* Legacy versions only: */
    NT_LANCE_ABSOLUTE_OFFSETS, /* child 0: row starts and the end of the last row; empty rows are null */
    NT_LANCE_NODE_COUNT
};

#define NT_NO_NODE UINT32_MAX
enum { NT_LANCE_NODES = 256, NT_LANCE_LAYERS = 64, NT_LANCE_DEPTH = 16, NT_LANCE_BUFFERS = 32 };

/* A member of a structure of variable width. */
struct nt_lance_member {
    uint32_t node;        /* of its values; NT_NO_NODE: a string */
    uint32_t bits;        /* of a value; 0: a string */
    uint32_t length_bits; /* of a string's length */
};

struct nt_encoding_tree_node {
    enum nt_encoding_tree_node_kind kind;
    uint32_t children[2]; /* at higher indices, so that the tree has no cycles */
    uint32_t buffer;      /* the first that it uses */
    uint32_t bits, packed_bits;
    enum nt_length_prefixed_kind algorithm;
    bool has_validity; /* fixed lists: a validity bit per item, in the buffer before the items */
    bool is_null;      /* all values are null, whatever is stored; of fixed lists, all lists */
    bool is_one_based; /* dictionaries: index 0 is null */
    uint64_t items;    /* of a fixed list or a dictionary; LIST_ENDS: of all lists together */
    uint64_t adjustment;
    const uint8_t *value; /* SAME: bits / 8 bytes, or NULL */
    const struct nt_fsst *fsst;
    const struct nt_lance_member *members; /* VARIABLE_PACKED */
    uint32_t member_count;
};

struct nt_encoding_tree_node_info {
    const char *name; /* as in Lance's documentation */
    uint32_t buffers; /* that the node itself uses in a mini-block chunk */
    uint32_t children;
};
const struct nt_encoding_tree_node_info *nt_encoding_tree_node_info(enum nt_encoding_tree_node_kind kind);

/* ---- Pages ---- */

enum nt_lance_layout_kind {
    NT_LANCE_MINI_BLOCK, /* chunks: levels, then the value buffers */
    NT_LANCE_FULL_ZIP,   /* each row stores its levels and its value together */
    NT_LANCE_CONSTANT,   /* one value or null, and levels */
    NT_LANCE_BLOCK,      /* a dictionary: one buffer with all values */
    NT_LANCE_ARRAY,      /* version 2.0: buffers, no levels */
};

/* The kinds of layers around a value, numbered as in the file. */
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

/* A range of a file, or of the stored bytes of a page. */
struct nt_lance_buffer {
    uint64_t offset, bytes;
};

struct nt_encoding_tree {
    enum nt_lance_layout_kind layout;
    const struct nt_encoding_tree_node *nodes;
    uint32_t node_count;
    uint32_t values, repetition, definition; /* roots; NT_NO_NODE: absent */
    bool has_dictionary;                     /* values are indices; dependencies hold the items */
    bool has_large_chunk;
    uint32_t buffers; /* of a chunk's values */
    /* Full zip: */
    uint32_t repetition_bits, definition_bits, value_bits, offset_bits;
    /* Constant: */
    const uint8_t *value; /* NULL: null, or stored in part 0 */
    uint32_t value_bytes;
    bool has_value_part;
    uint64_t repetition_count, definition_count; /* number of levels, if compressed */
    /* The page's buffers within its stored bytes, except those of mini-block chunks. */
    const struct nt_lance_buffer *parts;
    uint32_t part_count;
    /* Set if the decoder's input is the whole page, not one chunk of it. Full zip: part 0 holds the
     * rows. Mini-block: part 0 holds the chunk sizes, part 1 the chunks. */
    bool is_whole;
    uint32_t layer_count;
    uint8_t layers[NT_LANCE_LAYERS]; /* enum nt_layer, innermost first */
};

/* Are the values rows of a structure, from which an output selects a member? */
bool nt_lance_is_structure(const struct nt_encoding_tree *tree);
/* Are all rows null, whatever the levels are? */
bool nt_lance_is_null(const struct nt_encoding_tree *tree);
/* Returns the product of the items of the outermost `depth` fixed lists around a value; false on
 * overflow. */
bool nt_lance_items_of_depth(const struct nt_encoding_tree *tree, uint32_t depth, uint64_t *items_ret);
/* Returns the values per row: the same for all fixed lists. */
static inline bool nt_lance_items_per_row(const struct nt_encoding_tree *tree, uint64_t *items_ret)
{
    return nt_lance_items_of_depth(tree, UINT32_MAX, items_ret);
}

/* Do pages have levels, in buffers of their own or beside each row? */
bool nt_lance_has_levels(const struct nt_encoding_tree *tree);
/* Bytes that the levels take in a full-zip row. */
static inline uint32_t nt_lance_control_bytes(const struct nt_encoding_tree *tree)
{
    uint32_t bits = tree->repetition_bits + tree->definition_bits;
    return bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

/* Counts the lists at a layer and inside it. If there are any, rows and values can differ in number. */
uint32_t nt_lance_lists(const struct nt_encoding_tree *tree, uint32_t layer);

/* ---- Outputs ---- */

enum nt_lance_decoder_output {
    NT_LANCE_VALUES,  /* fixed width; null values are zeros; fixed lists yield all items */
    NT_LANCE_VALID,   /* bool: of the layer and its surrounding layers up to the next list */
    NT_LANCE_OFFSETS, /* uint64: of a list layer: where each list but the last ends, see below */
    NT_LANCE_ENDS,    /* uint64: where each string ends */
    NT_LANCE_BYTES,   /* of all strings */
    NT_LANCE_LEVELS,  /* u16 repetition, u16 definition as stored; 0 if only the other is stored */
    NT_LANCE_PRESENT, /* bool: is a blob present? From its descriptor (u64 position, u64 size). With size
                       * 0, position 0 is an empty value, others are a definition << 16. */
};

/* The page's `parameter` is: BYTES: the number of strings; LEVELS: the number of values; ENDS and
 * OFFSETS: a base to add; VALID with `repeats`: rows that continue a row from before the page. OFFSETS
 * also uses the bits below: a list ends where the next one begins, so the first page of a column
 * yields one offset fewer than lists begin in it, and the last page one more. */
#define NT_LANCE_IS_FIRST (UINT64_C(1) << 63)
#define NT_LANCE_IS_LAST (UINT64_C(1) << 62)
/* Set if the page's levels are not checked yet: NT_LANCE_ITEMS_BITS of the parameter hold the number of
 * items that begin in it, which the levels must confirm. The base has fewer bits then. */
#define NT_LANCE_HAS_ITEM_COUNT (UINT64_C(1) << 61)
enum { NT_LANCE_ITEMS_BITS = 17, NT_LANCE_ADDED_BITS = 44 };

enum { NT_LANCE_LEVEL_BYTES = 4 }; /* of an element of LEVELS */

/* Selects whole structures as stored; all members are of fixed width. */
#define NT_LANCE_ALL_MEMBERS UINT32_MAX
/* A member of a structure that is itself a member: encodings number only the outer ones. */
#define NT_LANCE_INNER_MEMBER (UINT32_MAX - 1)

struct nt_lance_output_spec {
    enum nt_lance_decoder_output output;
    uint32_t layer;         /* VALID, OFFSETS: 0 is the innermost */
    uint16_t valid;         /* PRESENT: the largest definition level of a present value */
    uint64_t repeats;       /* VALID of a layer: equal stored rows per logical row; 0 and 1: one each */
    uint32_t depth;         /* VALID: of items this deep in fixed lists; 0: of the layer itself */
    uint32_t member;        /* of structures, or NT_LANCE_ALL_MEMBERS; else 0 */
    uint64_t member_offset; /* fixed-width packed structures: in bytes */
    uint64_t member_items;  /* structures: items of the fixed lists in an element; 0: no lists */
    bool is_stored;         /* VALUES: keep what is stored for null values */
};

/* ---- Decoders ---- */

/* The state of a decoder: which output it makes of which pages. */
struct nt_lance_decoder_state {
    const struct nt_encoding_tree *tree; /* shared: the format builds equal trees once */
    struct nt_lance_output_spec spec;
};

/* Operations of decoders whose state is a struct nt_lance_decoder_state. With a dictionary, the dependencies
 * are its items (VALUES), or their ENDS and BYTES. On whole pages, ENDS continue across chunks. */
extern const struct nt_decoder_ops nt_lance_decoder_ops;
/* nt_lance_decoder_ops.decode: writes `packed->elements` elements, by the decoder's state and element size.
 */
enum nt_status nt_lance_decode(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);

/* A decoder's tree and output; NULL if it is another kind of decoder. */
static inline const struct nt_lance_decoder_state *nt_lance_decoder_state_of(const struct nt_decoder *decoder)
{
    return decoder->ops == &nt_lance_decoder_ops ? (const struct nt_lance_decoder_state *)decoder->state
                                                 : NULL;
}

/* The contents of a page, for builders of page lists. */
struct nt_lance_counts {
    uint64_t slots[NT_LANCE_LAYERS]; /* per layer: rows that begin in the page */
    uint64_t levels;                 /* 0: none */
    uint64_t bytes;                  /* of strings, if requested */
    uint64_t spent;                  /* bytes of memory that counting used */
    /* Of the outermost layer's rows: */
    bool is_continued; /* the page begins within a row */
    uint64_t last_row; /* levels of the last row that begins here; if none does, of the page */
};
/* `values`: the number of values if there are no levels. `needs_bytes`: also counts the bytes of
 * strings (of a structure: of `member`). */
enum nt_status nt_lance_count(const struct nt_encoding_tree *tree, const struct nt_packed *packed,
                              uint64_t values, bool needs_bytes, uint32_t member,
                              struct nt_lance_counts *counts, struct nt_error *error);

/* ---- Decode whole pages ---- */

/* A chunk of a mini-block page, as its word in the page's first buffer describes it. */
struct nt_lance_mini_block {
    uint64_t offset, bytes; /* within the chunks */
    uint64_t first_value, values;
};

/* Moves `*chunk` (all zeros at first) to chunk `number`, its successor. `words`: `word_count` words of
 * 2 bytes; of 4 with large chunks. `values` and `bytes`: of all chunks, NT_CORRUPT if exceeded. */
enum nt_status nt_lance_next_mini_block(const struct nt_encoding_tree *tree, const uint8_t *words,
                                        uint64_t word_count, uint64_t number, uint64_t values, uint64_t bytes,
                                        struct nt_lance_mini_block *chunk, struct nt_error *error);

/* ---- Describe an encoding tree ---- */

const char *nt_lance_layout_name(enum nt_lance_layout_kind layout);    /* "mini-block" */
const char *nt_lance_output_name(enum nt_lance_decoder_output output); /* "offsets" */

/* Writes the encodings of a tree's values, outermost first: "general(byte stream split(flat 32))".
 * Truncates to `capacity` bytes with the NUL. */
void nt_lance_describe_tree(const struct nt_encoding_tree *tree, char *text, size_t capacity);

/* ---- Memory ---- */

struct nt_decode_arena {
    const struct nt_encoding_tree *tree;
    const struct nt_packed *packed;
    uint64_t left; /* bytes that may still be allocated */
    uint8_t *scratch;
    size_t scratch_left, scratch_requested;
    struct nt_decode_block *blocks; /* allocations for which the scratch memory had no room */
};

/* Takes memory from the codec context, if `packed` has one, because pages are small and many. */
struct nt_decode_arena nt_decode_arena_begin(const struct nt_encoding_tree *tree,
                                             const struct nt_packed *packed);
/* Allocates until nt_decode_arena_free. NT_LIMIT if the limit is exhausted. */
enum nt_status nt_decode_alloc(struct nt_decode_arena *arena, uint64_t bytes, void *memory_ret,
                               struct nt_error *error);
void nt_decode_arena_free(struct nt_decode_arena *arena);

/* ---- Buffers ---- */

struct nt_buffer_slice {
    const uint8_t *data;
    uint64_t bytes;
};

/* Returns buffer `number` of the tree, checked against the page's bytes. */
enum nt_status nt_decode_buffer(const struct nt_decode_arena *arena, uint32_t number,
                                struct nt_buffer_slice *part, struct nt_error *error);
/* NT_CORRUPT if the buffer has fewer than `bytes` bytes; the message names `what` needs them. */
enum nt_status nt_buffer_slice_require(const struct nt_buffer_slice *part, uint64_t bytes, const char *what,
                                       struct nt_error *error);
/* Converts bits to bytes, rounded up. NT_LIMIT on overflow. */
enum nt_status nt_bits_to_bytes(uint64_t count, uint64_t bits, uint64_t *bytes_ret, struct nt_error *error);

/* ---- Values ---- */

struct nt_decoded_array {
    uint64_t elements;
    uint32_t bits; /* of each, 1 or whole bytes; 0: strings, or no data */
    const uint8_t *data;
    uint64_t bytes;             /* of `data` */
    const uint64_t *ends;       /* strings: where each ends in `data` */
    const struct nt_fsst *fsst; /* strings that are still codes of these symbols; NULL: plain */
    /* Item validity of fixed lists: bits, 1 is valid, outermost first; NULL: all valid or all null. */
    struct nt_list_validity {
        const uint8_t *valid;
        bool are_null;
        uint64_t items; /* of each list */
    } lists[NT_LANCE_DEPTH];
    uint32_t depth;
    const uint8_t *valid; /* version 2.0: bits; NULL: all valid */
    bool is_null;         /* all rows are null */
};

/* ---- Levels ---- */

struct nt_levels {
    uint64_t count;             /* 0: none */
    const uint16_t *repetition; /* NULL: all are the maximum */
    const uint16_t *definition; /* NULL: all are 0 */
};

/* A parsed page. */
struct nt_opened_page {
    struct nt_levels levels;
    struct nt_buffer_slice parts[NT_LANCE_BUFFERS]; /* of the values */
    uint32_t part_count;
    /* Full zip and constant pages set the values on opening: */
    bool has_array;
    struct nt_decoded_array array;
};

/* ---- Table of encodings ---- */

/* Decodes `elements` values of a node from the NT_LANCE_BUFFERS buffers of a chunk. `into`: memory of
 * exactly the result's size, which the node may use; NULL: none. */
enum nt_status nt_lance_node_decode(struct nt_decode_arena *arena, uint32_t node,
                                    struct nt_buffer_slice *parts, uint64_t elements, uint8_t *into,
                                    struct nt_decoded_array *array, struct nt_error *error);
/* The same for a block: one buffer that holds all values. */
enum nt_status nt_block_decode(struct nt_decode_arena *arena, uint32_t node,
                               const struct nt_buffer_slice *part, uint64_t elements, uint8_t *into,
                               struct nt_decoded_array *array, struct nt_error *error);

/* ---- Decode strings ---- */

/* NT_CORRUPT: the codes have no strings. */
enum nt_status nt_fail_missing_strings(struct nt_error *error);
/* Decodes strings that are FSST codes. */
enum nt_status nt_strings_expand(struct nt_decode_arena *arena, const struct nt_fsst *fsst,
                                 struct nt_decoded_array *array, struct nt_error *error);
/* Decode the strings of a mini-block chunk, and of a block. */
enum nt_status nt_strings_decode(struct nt_decode_arena *arena, const struct nt_encoding_tree_node *node,
                                 const struct nt_buffer_slice *part, uint64_t elements,
                                 struct nt_decoded_array *array, struct nt_error *error);
enum nt_status nt_strings_decode_block(struct nt_decode_arena *arena,
                                       const struct nt_encoding_tree_node *node,
                                       const struct nt_buffer_slice *part, uint64_t elements,
                                       struct nt_decoded_array *array, struct nt_error *error);

/* ---- Repetition and definition levels ---- */

/* How levels map to rows of a layer: a row begins if the repetition is at least `begins`, and is
 * visible if the definition is at most `visible`. */
struct nt_layer_rule {
    uint16_t begins, visible;
    uint16_t valid; /* the largest definition of a valid row */
    uint16_t empty; /* a larger definition that is valid, too; 0: none */
};
void nt_layer_rule(const struct nt_encoding_tree *tree, uint32_t layer, struct nt_layer_rule *rule);
/* Decodes the `count` levels of a buffer. `root`: their encoding; NT_NO_NODE: plain. */
enum nt_status nt_levels_decode(struct nt_decode_arena *arena, uint32_t root,
                                const struct nt_buffer_slice *part, uint64_t count,
                                const uint16_t **levels_ret, struct nt_error *error);
/* NT_CORRUPT if a level is larger than the layers allow. */
enum nt_status nt_levels_check(const struct nt_encoding_tree *tree, const struct nt_levels *levels,
                               struct nt_error *error);

static inline bool nt_is_row(const struct nt_levels *levels, const struct nt_layer_rule *rule, uint64_t i)
{
    return (!levels->repetition || levels->repetition[i] >= rule->begins) &&
           (!levels->definition || levels->definition[i] <= rule->visible);
}

/* Is a row of the layer valid for all levels that the layers allow? */
bool nt_layer_is_always_valid(const struct nt_encoding_tree *tree, uint32_t layer);

/* Counts the rows of a layer in the page. */
uint64_t nt_levels_rows(const struct nt_levels *levels, const struct nt_layer_rule *rule);

/* ---- Mini-block chunks ---- */

/* The header of a chunk: the number of levels, and the bytes of the levels and of each buffer. */
struct nt_mini_block_sizes {
    uint64_t levels, repetition_bytes, definition_bytes;
    uint64_t buffer_bytes[NT_LANCE_BUFFERS];
};
/* Reads the header; a failure is in `cursor`. */
void nt_mini_block_get_sizes(const struct nt_encoding_tree *tree, struct nt_cursor *cursor,
                             struct nt_mini_block_sizes *sizes);

/* Must rows be parsed one by one, which also counts them? If not, the page holds only values. */
bool nt_full_zip_is_walked(const struct nt_encoding_tree *tree);

/* ---- Full-zip pages ---- */

/* `values`: the number of rows if there are no levels. */
enum nt_status nt_full_zip_open(struct nt_decode_arena *arena, uint32_t member, uint64_t values,
                                struct nt_opened_page *opened, struct nt_error *error);

/* ---- Version 2.0 array encodings ---- */

/* Decodes the nodes of version 2.0, which refer to their buffers by number. */
enum nt_status nt_v2_0_decode(struct nt_decode_arena *arena, uint32_t node,
                              const struct nt_buffer_slice *parts, uint32_t part_count, uint64_t elements,
                              struct nt_decoded_array *array, struct nt_error *error);

/* ---- Decoded pages ---- */

/* The state of a page while its values become elements. */
struct nt_decode_state {
    struct nt_decode_arena *arena;
    const struct nt_lance_output_spec *spec;
    uint32_t element_bytes; /* of an output element */
    struct nt_opened_page opened;
    uint64_t rows;        /* of the innermost layer */
    const uint8_t *valid; /* a byte per row; NULL: all valid */
    /* For several outputs of one page: the page is opened and its values are decoded only once. */
    bool is_shared, is_opened, is_decoded;
};

/* Elements of a structure's member per row. */
static inline uint64_t nt_decode_member_items(const struct nt_decode_state *state)
{
    return state->spec->member_items ? state->spec->member_items : 1;
}

/* Parses the levels and values of the page as needed. Without levels, the caller sets `rows`. */
enum nt_status nt_decode_open(struct nt_decode_state *state, bool needs_levels, bool needs_values,
                              struct nt_error *error);
/* Decodes the values. `into`: see nt_lance_node_decode. */
enum nt_status nt_decode_values(struct nt_decode_state *state, uint8_t *into, struct nt_error *error);
/* Adds the outermost list of the items. NT_LIMIT if they are nested too deeply. */
enum nt_status nt_decoded_array_add_list(struct nt_decoded_array *array, const struct nt_list_validity *list,
                                         struct nt_error *error);
/* NT_CORRUPT if the levels of a page do not have the expected rows. */
enum nt_status nt_decode_check_rows(uint64_t expected, uint64_t found, struct nt_error *error);
/* Writes a byte for each row of a layer. NT_CORRUPT if there are not exactly `rows`. */
enum nt_status nt_decode_valid_rows(const struct nt_decode_state *state, uint32_t layer, uint64_t rows,
                                    uint8_t *valid, struct nt_error *error);
/* Sets `decoding->valid`, after the values are decoded. */
enum nt_status nt_decode_find_nulls(struct nt_decode_state *state, struct nt_error *error);
/* Can levels mark a value, or all values, as null? */
bool nt_decode_has_nulls(const struct nt_encoding_tree *tree);

/* ---- Zero null values ---- */

/* Zeros the page's elements, of `width` bytes each, for null rows and for null items of the `depth`
 * outermost fixed lists. */
void nt_decode_clear_nulls(const struct nt_decode_state *state, uint32_t depth, uint32_t width,
                           uint8_t *output);

/* ---- Dictionary indices ---- */

/* Decodes the indices, with 0 for null rows. */
enum nt_status nt_decode_indices(struct nt_decode_state *state, struct nt_value *numbers,
                                 struct nt_error *error);
/* Are all rows null? Then the dictionary may be empty. */
bool nt_decode_is_null(const struct nt_decode_state *state);

/* ---- Outputs ---- */

/* Writes all elements of an output. */
typedef enum nt_status nt_make_output(struct nt_decode_state *state, uint8_t *output, struct nt_error *error);
nt_make_output nt_output_values, nt_output_presence, nt_output_validity, nt_output_offsets, nt_output_levels,
    nt_output_ends, nt_output_bytes;

/* Counts the string bytes of a page that is opened with its values. Null strings have none.
 * decoding->rows is the number of strings. */
enum nt_status nt_count_string_bytes(struct nt_decode_state *state, uint64_t *bytes_ret,
                                     struct nt_error *error);
