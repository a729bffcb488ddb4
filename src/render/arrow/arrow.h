/* SPDX-License-Identifier: MIT
 *
 * A dataset as an Arrow table. A node is an Arrow array of the schema, in pre-order. Its slots are
 * Arrow's, nulls included; streams hold rows, with nothing stored for nulls. A node's row space begins at
 * the nearest list, union or the table; steps lead from the rows of that space to its own: optionals and
 * variant alternatives skip rows, fixed sizes multiply them.
 */
#ifndef NT_RENDER_ARROW_ARROW_H
#define NT_RENDER_ARROW_ARROW_H

#include <ntuple/arrow.h>

#include <stddef.h>
#include <stdint.h>

#include "core/base/memory.h"
#include "core/base/thread.h"
#include "core/model/model.h"
#include "read/read.h"

struct nt_arrow_texts;

/* ---- FlatBuffers ---- */

enum { NT_TABLE_SLOTS = 8 };

/* A table being filled: slot numbers are the schema's, absent slots take their default. */
struct nt_table {
    struct {
        uint8_t bytes; /* 0: absent; 1, 2, 4 or 8 */
        uint64_t value;
    } slots[NT_TABLE_SLOTS];
    size_t places[NT_TABLE_SLOTS]; /* set by writing: where a slot's value stands in the buffer */
};

void nt_table_set(struct nt_table *table, unsigned slot, unsigned bytes, uint64_t value);
/* Reserve a slot for the offset of something written later. */
void nt_table_set_offset(struct nt_table *table, unsigned slot);

/* The root offset at the start of an empty buffer; patched by the first nt_flatbuffer_table with
 * that place. */
size_t nt_flatbuffer_root(struct nt_buffer *out);
/* Write the table and patch its offset into `place`. */
void nt_flatbuffer_table(struct nt_buffer *out, size_t place, struct nt_table *table);
void nt_flatbuffer_string(struct nt_buffer *out, size_t place, const void *bytes, size_t length);
/* A vector of `count` offsets; returns the place of the first, the others follow at 4 bytes each. */
size_t nt_flatbuffer_offsets(struct nt_buffer *out, size_t place, uint32_t count);
/* A vector of structs or scalars whose bytes the caller appends at once, aligned to `alignment`. */
void nt_flatbuffer_vector(struct nt_buffer *out, size_t place, uint32_t count, unsigned alignment);

/* Zeros up to a multiple of `alignment` of the buffer's length. */
void nt_buffer_align(struct nt_buffer *out, size_t alignment);
void nt_buffer_le32(struct nt_buffer *out, uint32_t value);
void nt_buffer_le64(struct nt_buffer *out, uint64_t value);

/* ---- Tables, nodes and buffers ---- */

/* The shape of a dataset in Arrow's terms, shared by the files arrow_*.c.
 * 
 * Words: a *node* is an Arrow array of the schema, in pre-order. Its *slots* are Arrow's: null slots are
 * there, and a fixed-size list's child has N per slot. Our streams hold *rows*: nothing is stored for nulls.
 * A node's *row space* begins at its nearest list, union or the top level; *steps* lead from that space's
 * rows to its own: an optional, or an alternative of a variant, leaves rows out, a fixed size multiplies them. */

enum nt_arrow_kind {
    NT_ARROW_NULL, /* a field of nulls, or the child of a union for "no value" */
    NT_ARROW_PRIMITIVE,
    NT_ARROW_EMPTY, /* fixed-size binaries of 0 bytes */
    NT_ARROW_BOOL,
    NT_ARROW_BYTES, /* utf8 or binary, or the large ones */
    NT_ARROW_LIST,  /* or large_list */
    NT_ARROW_MAP,   /* a list of structs of a key and a value, with offsets of 32 bits */
    NT_ARROW_STRUCT,
    NT_ARROW_FIXED_LIST,
    NT_ARROW_UNION,
    NT_ARROW_KIND_COUNT
};

enum nt_arrow_buffer_kind {
    NT_ARROW_VALIDITY,
    NT_ARROW_OFFSETS,
    NT_ARROW_DATA,
    NT_ARROW_TYPES,
    NT_ARROW_UNION_OFFSETS,
};

/* A logical stream that buffers are made of. Sizes need none of them: they are opened when a byte
 * is wanted. */
struct nt_arrow_stream {
    uint32_t field;
    enum nt_stream_kind kind;
    uint32_t element_bytes;
    struct nt_stream *_Atomic opened; /* NULL: not yet */
};

enum nt_arrow_step_kind {
    NT_ARROW_STEP_SIZE,
    NT_ARROW_STEP_OPTIONAL,
    NT_ARROW_STEP_DENSE_OPTIONAL,
    NT_ARROW_STEP_ALTERNATIVE, /* of a variant that is a struct */
};

struct nt_arrow_step {
    enum nt_arrow_step_kind kind;
    uint32_t field;        /* the optional, the variant */
    uint32_t stream;       /* offsets of a sparse optional, valid of a dense one */
    uint32_t variant, tag; /* of an alternative: the number of its variant, and its own */
    uint64_t size;         /* of a fixed size */
};

/* A variant that is a struct of its alternatives. */
struct nt_arrow_variant {
    uint32_t field;
    uint32_t alternative_count; /* INT8_MAX at most */
    uint32_t tags, index;       /* numbers of streams */
    /* [tag]: rows before each cluster, clusters + 1; [0] of the variant itself, then of the alternatives that
     * the struct has, NULL for others. */
    uint64_t **borders;
    uint64_t *_Atomic *tallies; /* [cluster], NULL: not counted yet */
};

struct nt_arrow_node {
    enum nt_arrow_kind kind;
    const struct nt_dtype *dtype; /* of PRIMITIVE and BOOL: the field's, or tag_dtype */
    struct nt_text name;
    uint32_t field; /* whose rows these are; NT_NONE: the root, a null child or tags */
    /* Whose C++ type this is: the outermost of the wrappers and optionals around `field`. */
    uint32_t type_field;
    uint32_t parent;
    uint32_t child_count;
    uint32_t end; /* first node after this one's descendants */
    uint32_t first_step, step_count;
    /* How many of the last steps are optionals or an alternative: more than 0 means nullable. */
    uint32_t own_steps;
    uint32_t first_buffer, buffer_count;
    uint64_t list_size;
    bool starts_row_space;
    bool is_nullable;
    bool is_binary;               /* BYTES */
    bool has_short_offsets;       /* BYTES, LIST, MAP: of 32 bits */
    uint32_t data, offsets;       /* numbers of streams, NT_NONE: none; for a union tags and index */
    uint32_t valid;               /* which rows of a nullable field are; NT_NONE: all that are there */
    struct nt_arrow_texts *texts; /* BYTES: what they are, where they are made; they have no streams then */
    /* Rows before each cluster, clusters + 1: of the field that begins the row space (an optional's own where
     * one leads to the node), and behind own steps of the node's field. NULL elsewhere. */
    uint64_t *space_borders;
    uint64_t *borders;
    uint64_t *byte_borders; /* of strings and objects: bytes before each cluster */
};

struct nt_arrow_buffer {
    uint32_t node;
    enum nt_arrow_buffer_kind kind;
};

/* Where a batch begins or ends: an entry, which may lie within one of the dataset's own clusters. */
struct nt_arrow_cut {
    uint64_t entry;
    uint32_t stored; /* the cluster that it lies in, or that it is the begin of */
    /* [field]: rows before the entry, UINT64_MAX: not worked out yet; NULL: it is the begin of the cluster. */
    uint64_t *rows;
};

struct nt_arrow_omitted_fields {
    uint32_t field;
    const char *reason;
};

struct nt_arrow_batch {
    uint32_t cluster;
    uint64_t offset;     /* of the message in the file */
    uint64_t body_bytes; /* of its buffers, padding included */
};

/* Where the buffers of a cluster's batch lie. */
struct nt_arrow_body {
    uint32_t cluster;
    uint64_t *slots;        /* [node] */
    uint64_t *null_counts;  /* [node]; NT_ARROW_UNCOUNTED of nullable fields until somebody asks */
    uint64_t *buffer_start; /* [buffer + 1], from the body's start, 64-byte aligned */
    uint64_t *buffer_bytes; /* [buffer], without padding */
};

enum { NT_ARROW_ALIGNMENT = 64 };
#define NT_ARROW_UNCOUNTED UINT64_MAX

struct nt_arrow {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    struct nt_arrow_options options;

    struct nt_arrow_node *nodes; /* [0] is the table itself, a struct without buffers in the file */
    uint32_t node_count;
    size_t node_capacity;
    struct nt_arrow_step *steps;
    uint32_t step_count;
    size_t step_capacity;
    struct nt_arrow_variant *variants;
    uint32_t variant_count;
    size_t variant_capacity;
    struct nt_dtype tag_dtype;
    struct nt_arrow_stream *streams;
    uint32_t stream_count;
    size_t stream_capacity;
    struct nt_arrow_buffer *buffers;
    uint32_t buffer_count;
    struct nt_arrow_omitted_fields *omitted;
    uint32_t omitted_count;
    size_t omitted_capacity;

    struct nt_arrow_texts *texts; /* of all nodes, one after the other */

    bool *is_selected; /* [field]; NULL: all are */
    /* The table's clusters are the dataset's own, or parts of them. */
    uint64_t *entries; /* before each cluster, in entry order, cluster_count + 1 */
    uint32_t cluster_count, stored_clusters;
    uint64_t max_items; /* of a cluster, that offsets of 32 bits are to count */
    struct nt_arrow_cut
        *cuts; /* while borders are loaded, cluster_count + 1; NULL: all clusters, none in parts */
    struct nt_arrow_batch *batches; /* of the clusters that are not omitted */
    uint32_t batch_count;
    uint32_t *omitted_clusters;
    uint32_t omitted_cluster_count;
    uint64_t message_bytes;      /* of a batch's metadata with its prefix: the same for all */
    struct nt_buffer head, tail; /* the file before and after the batches */
    uint64_t file_bytes;
    struct nt_access_pattern access; /* of the file's reads */

    struct nt_lock lock; /* `recent` */
    struct nt_arrow_body *recent[8];
    unsigned recent_next;
};

/* Bytes of each offset of a list or string. */
static inline uint32_t nt_arrow_offset_bytes(const struct nt_arrow_node *node)
{
    return node->has_short_offsets ? 4 : 8;
}

/* What the offsets of a list or string count: how many there are before each cluster. */
static inline const uint64_t *nt_arrow_item_borders(const struct nt_arrow_node *node)
{
    return node->kind == NT_ARROW_BYTES ? node->byte_borders : node[1].space_borders;
}

/* The steps to a node: step_count of them, NULL where there are none. */
static inline const struct nt_arrow_step *nt_arrow_steps(const struct nt_arrow *arrow,
                                                         const struct nt_arrow_node *node)
{
    return node->step_count ? arrow->steps + node->first_step : NULL;
}

/* arrow_nodes.c: from fields to nodes */
enum nt_status nt_arrow_build_nodes(struct nt_arrow *arrow, struct nt_error *error);

/* arrow_choice.c: which fields the options ask for */
enum nt_status nt_arrow_select_fields(struct nt_arrow *arrow, struct nt_error *error);

/* arrow_file.c: nt_arrow_new, with another number for max_items than the INT32_MAX that these offsets can count */
enum nt_status nt_arrow_new_within(struct nt_reader *reader, struct nt_dataset *dataset,
                                   const struct nt_arrow_options *options, uint64_t max_items,
                                   struct nt_arrow **arrow_ret, struct nt_error *error);

/* arrow_range.c: the range of entries that the options ask for: checked, and cut out of `entries` */
enum nt_status nt_arrow_check_range(const struct nt_arrow *arrow, struct nt_error *error);
enum nt_status nt_arrow_cut_entries(struct nt_arrow *arrow, struct nt_error *error);

/* arrow_cut.c: borders of a field in the dataset's own clusters become those in the table's: in and out, from malloc */
enum nt_status nt_arrow_cut_borders(const struct nt_arrow *arrow, uint32_t field, bool are_bytes,
                                    uint64_t **borders, struct nt_error *error);
void nt_arrow_free_cuts(struct nt_arrow *arrow);
/* Borders are not needed any more, or have changed; also where some are not there. */
void nt_arrow_forget_borders(struct nt_arrow *arrow);

/* arrow_split.c: where the borders tell of more items than offsets of 32 bits can count, make clusters of parts of the
 * cluster, so small that each can; *split_ret tells whether there are such. A cluster of one entry stays. */
enum nt_status nt_arrow_split(struct nt_arrow *arrow, bool *split_ret, struct nt_error *error);

/* arrow_types.c: the type of a node: the name that formats of the C data interface begin with, of kinds that have one; and
 * as the file's schema has it: its number, and its table, which is patched into `place` */
const char *nt_arrow_format(const struct nt_arrow_node *node);

/* arrow_schema.c: names, metadata and the Schema table */
/* Append a text as UTF-8, which Arrow demands: bytes that are not are shown as \x.. */
void nt_arrow_append_text(struct nt_buffer *out, struct nt_text text);
/* What is told about a node (0: the table): under keys of ours, and what the file tells under its own. Texts are UTF-8, and
 * the caller's to deinit. */
struct nt_arrow_pair {
    struct nt_buffer key, value;
};
uint32_t nt_arrow_pair_count(const struct nt_arrow *arrow, uint32_t node);
struct nt_arrow_pair nt_arrow_pair(const struct nt_arrow *arrow, uint32_t node, uint32_t number);
/* Write the Schema table (of a message or the footer) and patch it into `place`. */
void nt_arrow_write_schema(const struct nt_arrow *arrow, struct nt_buffer *out, size_t place);

/* arrow_batch.c: sizes and places of a batch's buffers. NT_LIMIT for a cluster that Arrow cannot hold. The body of
 * the first batch is left in recent[0]. */
enum nt_status nt_arrow_build_batches(struct nt_arrow *arrow, struct nt_error *error);
enum nt_status nt_arrow_body_new(const struct nt_arrow *arrow, uint32_t cluster,
                                 struct nt_arrow_body **body_ret, struct nt_error *error);
void nt_arrow_body_free(struct nt_arrow_body *body);
/* Count the nulls that are not counted yet: decodes what says which rows of nullable fields are valid. */
enum nt_status nt_arrow_count_nulls(const struct nt_arrow *arrow, struct nt_arrow_body *body,
                                    struct nt_error *error);

/* arrow_stream.c: a stream and bytes of it, by its number; any thread */
enum nt_status nt_arrow_find_stream(const struct nt_arrow *arrow, uint32_t number,
                                    struct nt_stream **stream_ret, struct nt_error *error);
enum nt_status nt_arrow_read_stream(const struct nt_arrow *arrow, uint32_t number, uint64_t offset,
                                    void *output, size_t bytes, struct nt_error *error);
/* How many elements of one byte from one on are equal, where that is known without reading them; else 1. */
enum nt_status nt_arrow_equal_elements(const struct nt_arrow *arrow, uint32_t number, uint64_t element,
                                       uint64_t *count_ret, struct nt_error *error);
void nt_arrow_variant_deinit(struct nt_arrow_variant *variant, uint32_t cluster_count);

/* arrow_content.c: bytes [offset, offset + bytes) of a buffer of a batch */
enum nt_status nt_arrow_read_buffer(const struct nt_arrow *arrow, const struct nt_arrow_body *body,
                                    uint32_t buffer, uint64_t offset, uint8_t *output, size_t bytes,
                                    struct nt_error *error);
/* Where a buffer is elements of a stream, one after the other: which ones, and what to subtract from each (of
 * offsets). False where it has to be made piece by piece. */
struct nt_arrow_run {
    uint32_t stream; /* its number */
    uint64_t first, count;
    uint64_t subtract;
    bool are_halved; /* offsets, of which 32 bits go into the buffer */
};
bool nt_arrow_find_run(const struct nt_arrow *arrow, const struct nt_arrow_body *body, uint32_t buffer,
                       struct nt_arrow_run *run_ret);

/* arrow_slots.c: valid ones among the `slots` slots of a node in a cluster, counted (behind dense optionals and of nullable
 * fields; others are known from metadata). */
enum nt_status nt_arrow_count_valid(const struct nt_arrow *arrow, uint32_t node, uint32_t cluster,
                                    uint64_t slots, uint64_t *count_ret, struct nt_error *error);

/* ---- Slots and rows ---- */

enum { NT_ARROW_PIECE_SLOTS = 16384 }; /* that are looked at at once, so that memory stays bounded */

enum {
    NT_ARROW_SLOT_PRESENT = 1,
    NT_ARROW_SLOT_VALID = 3
}; /* present: a row is stored, though it may count as null */

/* The rows behind some slots of a node: `count` slots, of which those that are present have the stream's rows
 * [first_row, first_row + rows) in order. */
struct nt_arrow_slots {
    uint64_t first_row, rows, count;
    uint8_t *marks; /* [count]; NULL: all are valid */
};

/* The first row of a node in a cluster of the table, in front of the steps that lead to it. */
uint64_t nt_arrow_row_space_begin(const struct nt_arrow *arrow, const struct nt_arrow_node *node,
                                  uint32_t cluster);

/* The rows of slots [first, first + count), at most NT_ARROW_PIECE_SLOTS. `is_validity`: only those count as valid that
 * are so themselves. slots->marks is the caller's to free, also after a failure. */
enum nt_status nt_arrow_resolve_slots(const struct nt_arrow *arrow, const struct nt_arrow_node *node,
                                      uint32_t cluster, bool is_validity, uint64_t first, uint64_t count,
                                      struct nt_arrow_slots *slots, struct nt_error *error);

/* ---- JSON strings ---- */

/* Make those of a field, of streams by their numbers; `valid` NT_NONE: all rows are. All texts are made once to count their bytes.
 * What cannot be decoded has none, and fails where it is read. NT_LIMIT: they are too many to be counted. */
enum nt_status nt_arrow_texts_add(struct nt_arrow *arrow, uint32_t field, uint32_t offsets, uint32_t data,
                                  uint32_t valid, struct nt_arrow_texts **texts_ret, struct nt_error *error);
/* The list of all. */
void nt_arrow_texts_free(struct nt_arrow_texts *texts);

/* Borders of rows become those of bytes, in and out. */
void nt_arrow_texts_borders(const struct nt_arrow_texts *texts, uint64_t *borders, uint32_t count);
/* How many bytes of texts lie before each of the rows [first, first + count), which fails where the text of one of them, but the last,
 * cannot be made. */
enum nt_status nt_arrow_texts_before(const struct nt_arrow *arrow, struct nt_arrow_texts *texts,
                                     uint64_t first, uint64_t count, uint64_t *bytes_ret,
                                     struct nt_error *error);
/* Bytes of the texts. */
enum nt_status nt_arrow_texts_read(const struct nt_arrow *arrow, struct nt_arrow_texts *texts,
                                   uint64_t offset, uint8_t *output, size_t bytes, struct nt_error *error);

/* Why they are too many. */
extern const char nt_arrow_texts_limit[];

/* The texts of a field of the table; NULL: it has none. */
struct nt_arrow_texts *nt_arrow_texts_of(const struct nt_arrow *arrow, uint32_t field);

#endif
