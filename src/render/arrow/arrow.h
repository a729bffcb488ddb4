/* SPDX-License-Identifier: MIT
 *
 * A dataset as an Arrow table. A node is an Arrow array of the schema, in pre-order. Its slots are
 * Arrow's, nulls included. Streams hold rows and store nothing for nulls. A node's row space begins at
 * the nearest list, union or the table. Steps map the rows of that space to the node's rows: optionals
 * and variant alternatives skip rows, fixed sizes multiply them.
 */
#pragma once

#include <ntuple/arrow.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/thread.h"
#include "core/model/model.h"
#include "read/page.h"

struct nt_arrow_texts;

/* ---- FlatBuffers ---- */

enum { NT_FLATBUFFER_FIELDS = 8 };

/* A FlatBuffers table under construction. The schema numbers the slots; absent ones have defaults. */
struct nt_flatbuffer_fields {
    struct {
        uint8_t bytes; /* 0: absent; 1, 2, 4 or 8 */
        uint64_t value;
    } slots[NT_FLATBUFFER_FIELDS];
    size_t
        field_offsets[NT_FLATBUFFER_FIELDS]; /* set by writing: position of each slot's value in the buffer */
};

void nt_flatbuffer_set(struct nt_flatbuffer_fields *table, unsigned slot, unsigned bytes, uint64_t value);
/* Reserves a slot for an offset that is patched later. */
void nt_flatbuffer_set_offset(struct nt_flatbuffer_fields *table, unsigned slot);

/* Reserves the root offset at the start of a buffer. The first table with this offset patches it. */
size_t nt_flatbuffer_root(struct nt_buffer *out);
/* Writes the table and patches its offset into `field_offset`. */
void nt_flatbuffer_table(struct nt_buffer *out, size_t field_offset, struct nt_flatbuffer_fields *table);
void nt_flatbuffer_string(struct nt_buffer *out, size_t field_offset, const void *bytes, size_t length);
/* Writes a vector of `count` offsets, 4 bytes each, and returns the offset of the first. */
size_t nt_flatbuffer_offsets(struct nt_buffer *out, size_t field_offset, uint32_t count);
/* Begins a vector of structs or scalars. The caller then appends the bytes, aligned to `alignment`. */
void nt_flatbuffer_vector(struct nt_buffer *out, size_t field_offset, uint32_t count, unsigned alignment);

/* Pads the buffer with zeros to a multiple of `alignment`. */
void nt_buffer_align(struct nt_buffer *out, size_t alignment);
void nt_buffer_le32(struct nt_buffer *out, uint32_t value);
void nt_buffer_le64(struct nt_buffer *out, uint64_t value);

/* ---- Tables, nodes and buffers ---- */

/* The mapping from a dataset to Arrow, shared by the files of this directory.
 *
 * A *node* is an Arrow array of the schema, in pre-order. Its *slots* are Arrow's: null slots count,
 * and the child of a fixed-size list has N slots per slot. Our streams hold *rows*: nulls are not
 * stored. A node's *row space* begins at its nearest list, union or the top level. *Steps* map rows of
 * that space to rows of the node: optionals and alternatives skip rows, fixed sizes multiply. */

enum nt_arrow_kind {
    NT_ARROW_NULL, /* a field of nulls, or the "no value" child of a union */
    NT_ARROW_PRIMITIVE,
    NT_ARROW_EMPTY, /* fixed-size binaries of 0 bytes */
    NT_ARROW_BOOL,
    NT_ARROW_BYTES, /* utf8 or binary, or the large ones */
    NT_ARROW_LIST,  /* or large_list */
    NT_ARROW_MAP,   /* a list of key-value structs with 32-bit offsets */
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

/* A logical stream that supplies buffers. The first read opens it; sizes do not need it. */
struct nt_arrow_stream {
    uint32_t field;
    enum nt_stream_kind kind;
    uint32_t element_bytes;
    struct nt_stream *_Atomic opened; /* NULL: not yet opened */
};

enum nt_arrow_step_kind {
    NT_ARROW_STEP_SIZE,
    NT_ARROW_STEP_OPTIONAL,
    NT_ARROW_STEP_DENSE_OPTIONAL,
    NT_ARROW_STEP_ALTERNATIVE, /* of a variant as a struct */
};

struct nt_arrow_step {
    enum nt_arrow_step_kind kind;
    uint32_t field;        /* the optional or variant */
    uint32_t stream;       /* sparse optional: offsets; dense optional: valid */
    uint32_t variant, tag; /* ALTERNATIVE: index of the variant, and the tag of the alternative */
    uint64_t size;         /* SIZE: the fixed size */
};

/* A variant as a struct of its alternatives. */
struct nt_arrow_variant {
    uint32_t field;
    uint32_t alternative_count; /* at most INT8_MAX */
    uint32_t tags, index;       /* indexes of streams */
    /* [tag][clusters + 1]: rows before each cluster. [0] is the variant itself, the others are the
     * alternatives; NULL: the struct omits the alternative. */
    uint64_t **boundaries;
    uint64_t *_Atomic *tag_counts; /* [cluster]; NULL: not yet counted */
};

struct nt_arrow_node {
    enum nt_arrow_kind kind;
    const struct nt_dtype *dtype; /* PRIMITIVE, BOOL: the field's, or tag_dtype */
    struct nt_text name;
    uint32_t field; /* the field of the rows; NT_NONE: the root, a null child or tags */
    /* The field of the C++ type: the outermost wrapper or optional around `field`. */
    uint32_t type_field;
    uint32_t parent;
    uint32_t child_count;
    uint32_t end; /* first node after this one's descendants */
    uint32_t first_step, step_count;
    /* How many of the last steps are optionals or an alternative; nullable: more than 0. */
    uint32_t own_steps;
    uint32_t first_buffer, buffer_count;
    uint64_t list_size;
    bool starts_row_space;
    bool is_nullable;
    bool is_binary;         /* BYTES */
    bool has_short_offsets; /* BYTES, LIST, MAP: 32-bit offsets */
    uint32_t data, offsets; /* indexes of streams, NT_NONE: none; a union has tags and index */
    uint32_t valid; /* stream of the row mask of a nullable field; NT_NONE: all stored rows are valid */
    struct nt_arrow_texts *texts; /* BYTES: generated JSON strings, which replace the streams */
    /* [clusters + 1]: rows before each cluster; NULL: unused. space_boundaries: rows of the field that
     * begins the row space (of the optional itself if one leads to the node). boundaries: rows of the
     * node's field, after its own steps. */
    uint64_t *space_boundaries;
    uint64_t *boundaries;
    uint64_t *byte_boundaries; /* strings and objects: bytes before each cluster */
};

struct nt_arrow_buffer {
    uint32_t node;
    enum nt_arrow_buffer_kind kind;
};

/* A boundary of a batch: an entry, possibly inside one of the clusters that the dataset stores. */
struct nt_arrow_cut {
    uint64_t entry;
    uint32_t stored; /* the cluster that contains it or begins at it */
    /* [field]: rows before the entry; UINT64_MAX: not yet computed. NULL: a cluster begins here. */
    uint64_t *rows;
};

struct nt_arrow_omitted_fields {
    uint32_t field;
    const char *reason;
    const struct nt_error *failure; /* of loading its page lists, or NULL */
};

struct nt_arrow_batch {
    uint32_t cluster;
    uint64_t offset;        /* of the message in the file */
    uint64_t message_bytes; /* metadata with prefix and padding */
    uint64_t body_bytes;    /* bytes of the buffers with padding */
};

/* The layout of the buffers of a batch: one block of memory. */
struct nt_arrow_body {
    uint32_t cluster;
    bool has_large;         /* has a large buffer */
    uint64_t *slots;        /* [node] */
    uint64_t *null_counts;  /* [node]; NT_ARROW_UNCOUNTED: not yet counted (nullable fields) */
    uint64_t *buffer_start; /* [buffer + 1], relative to the body; aligned, see NT_ARROW_LARGE_BUFFER */
    uint64_t *buffer_bytes; /* [buffer], without padding */
    uint64_t numbers[];     /* all of these */
};

/* Buffers begin at multiples of 64. But a buffer of NT_ARROW_LARGE_BUFFER bytes or more shares no memory page
 * with other buffers or with the metadata of a batch: the kernel reads whole memory pages, and each one with
 * two buffers would decode the pages of two columns. Buffers of a batch of NT_ARROW_LARGE_BATCH bytes or more
 * have a gap before and behind them, as wide as what the kernel and polars read around metadata. */
enum { NT_ARROW_ALIGNMENT = 64, NT_ARROW_MEMORY_PAGE = 4096 };
enum { NT_ARROW_LARGE_BUFFER = 64 << 10, NT_ARROW_LARGE_BATCH = 16 << 20, NT_ARROW_GAP = 128 << 10 };
#define NT_ARROW_UNCOUNTED UINT64_MAX

/* Limits of a batch. */
struct nt_arrow_limits {
    uint64_t max_items; /* per array with 32-bit offsets; 0: INT32_MAX */
    /* Merges clusters up to so many bytes, and divides larger ones unless one entry is larger. 0: a batch
     * is a cluster. */
    uint64_t batch_bytes;
};

struct nt_arrow {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    struct nt_arrow_options options;

    struct nt_arrow_node *nodes; /* [0] is the table itself: a struct without buffers in the file */
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

    struct nt_arrow_texts *texts; /* linked list for all nodes */

    bool *is_selected; /* [field]; NULL: all fields */
    /* The clusters of the table are those of the dataset or parts of them. */
    uint64_t *entries; /* [cluster_count + 1]: entries before each cluster, in entry order */
    uint32_t cluster_count, stored_clusters; /* stored: of each field; 1 if fields do not share them */
    struct nt_arrow_limits limits;           /* max_items filled in */
    struct nt_arrow_cut *cuts; /* [cluster_count + 1] while boundaries load; NULL: whole clusters */
    /* Where the batches begin in the file, one for each cluster that is not omitted, and where the last ends.
     * 1 more, as these are even: it has a large buffer. While batches are built, the bytes of their bodies.
     */
    uint64_t *batch_starts;
    uint32_t batch_count;
    uint64_t message_bytes;     /* of each batch, before it is padded to a memory page */
    uint32_t *omitted_clusters; /* ascending */
    uint32_t omitted_cluster_count;
    size_t omitted_cluster_capacity;
    struct nt_buffer head;        /* the file before the batches */
    struct nt_buffer footer, end; /* after them: before and after the footer's list of batches */
    uint64_t file_bytes;
    struct nt_access_pattern access; /* of reads of the file */

    struct nt_lock lock; /* guards `recent` */
    struct nt_arrow_body *recent[8];
    unsigned recent_next;
};

/* Returns the next multiple of the alignment of small buffers, or of memory pages. */
static inline uint64_t nt_arrow_align(uint64_t at, bool is_large)
{
    uint64_t alignment = is_large ? NT_ARROW_MEMORY_PAGE : NT_ARROW_ALIGNMENT;
    return (at + alignment - 1) / alignment * alignment;
}

/* Returns the size of an offset of a list or string in bytes. */
static inline uint32_t nt_arrow_offset_bytes(const struct nt_arrow_node *node)
{
    return node->has_short_offsets ? 4 : 8;
}

/* Returns the number of items (list) or bytes (string) before each cluster. */
static inline const uint64_t *nt_arrow_item_boundaries(const struct nt_arrow_node *node)
{
    return node->kind == NT_ARROW_BYTES ? node->byte_boundaries : node[1].space_boundaries;
}

/* Returns the step_count steps to a node; NULL: none. */
static inline const struct nt_arrow_step *nt_arrow_steps(const struct nt_arrow *arrow,
                                                         const struct nt_arrow_node *node)
{
    return node->step_count ? arrow->steps + node->first_step : NULL;
}

/* nodes.c: maps fields to nodes. */
enum nt_status nt_arrow_build_nodes(struct nt_arrow *arrow, struct nt_error *error);

/* nodes.c: selects the fields that the options request. */
enum nt_status nt_arrow_select_fields(struct nt_arrow *arrow, struct nt_error *error);

/* ipc_file.c: like nt_arrow_new, but with limits. */
enum nt_status nt_arrow_new_within(struct nt_reader *reader, struct nt_dataset *dataset,
                                   const struct nt_arrow_options *options,
                                   const struct nt_arrow_limits *limits, struct nt_arrow **arrow_ret,
                                   struct nt_error *error);

/* How the buffers of an IPC file are stored. */
enum nt_arrow_compression { NT_ARROW_ZSTD, NT_ARROW_LZ4, NT_ARROW_UNCOMPRESSED };

/* ipc_file.c: writes the message of a batch to an empty buffer. In the file it starts at a multiple of 64.
 * Pads it to `bytes`, or to a multiple of 64 if that is more. */
void nt_arrow_write_batch_message(const struct nt_arrow *arrow, const struct nt_arrow_body *body,
                                  enum nt_arrow_compression compression, uint64_t bytes,
                                  struct nt_buffer *out);
/* ipc_file.c: a batch of the file that is read, not generated. */
struct nt_arrow_batch nt_arrow_batch(const struct nt_arrow *arrow, uint32_t number);
/* ipc_file.c: writes the end of a file with these batches. */
void nt_arrow_write_tail(const struct nt_arrow *arrow, const struct nt_arrow_batch *batches,
                         struct nt_buffer *out);

/* ipc_writer.c: generates an IPC file from its start to its end, batch by batch. All workers decode and
 * compress. Stores buffers of a batch with equal contents once. The table must outlive the generator. */
enum nt_status nt_arrow_ipc_pieces(struct nt_arrow *arrow, enum nt_arrow_compression compression,
                                   struct nt_text_generator **pieces_ret, struct nt_error *error);
/* Has one of the strings generated so far bytes that are not UTF-8, although the schema says that the node's
 * are? */
bool nt_arrow_ipc_has_invalid_utf8(const struct nt_text_generator *pieces, uint32_t node);

void nt_arrow_free_cuts(struct nt_arrow *arrow);
/* Frees the boundaries of all nodes and variants. Accepts a partly filled table. */
void nt_arrow_free_boundaries(struct nt_arrow *arrow);

/* schema.c: writes the Schema table (of a message or the footer) and patches its offset into `field_offset`.
 */
void nt_arrow_write_schema(const struct nt_arrow *arrow, struct nt_buffer *out, size_t field_offset);

/* batch_layout.c: computes sizes and offsets of the buffers. Omits clusters that Arrow cannot hold
 * (nt_arrow_body_new returns NT_LIMIT). Keeps the body of the first batch in recent[0]. Free bodies with
 * free(). */
enum nt_status nt_arrow_build_batches(struct nt_arrow *arrow, struct nt_error *error);
enum nt_status nt_arrow_body_new(const struct nt_arrow *arrow, uint32_t cluster,
                                 struct nt_arrow_body **body_ret, struct nt_error *error);
/* Counts the remaining nulls. Decodes the row masks of nullable fields. */
enum nt_status nt_arrow_count_nulls(const struct nt_arrow *arrow, struct nt_arrow_body *body,
                                    struct nt_error *error);

/* buffers.c: finds a stream by its index, and reads bytes of it. Thread-safe. */
enum nt_status nt_arrow_find_stream(const struct nt_arrow *arrow, uint32_t number,
                                    struct nt_stream **stream_ret, struct nt_error *error);
enum nt_status nt_arrow_read_stream(const struct nt_arrow *arrow, uint32_t number, uint64_t offset,
                                    void *output, size_t bytes, struct nt_error *error);
/* Returns the length of a run of equal one-byte elements if it is known without reading, else 1. */
enum nt_status nt_arrow_equal_elements(const struct nt_arrow *arrow, uint32_t number, uint64_t element,
                                       uint64_t *count_ret, struct nt_error *error);
void nt_arrow_variant_deinit(struct nt_arrow_variant *variant, uint32_t cluster_count);

/* buffers.c: reads bytes [offset, offset + bytes) of a buffer of a batch. */
enum nt_status nt_arrow_read_buffer(const struct nt_arrow *arrow, const struct nt_arrow_body *body,
                                    uint32_t buffer, uint64_t offset, uint8_t *output, size_t bytes,
                                    struct nt_error *error);
/* Maps a buffer to a contiguous run of stream elements, with a value to subtract from each (offsets).
 * Returns false if the buffer must be assembled piece by piece. */
struct nt_arrow_run {
    uint32_t stream; /* index into `streams` of nt_arrow */
    uint64_t first, count;
    uint64_t subtract;
    bool are_halved; /* offsets of 64 bits that become 32 bits in the buffer */
};
bool nt_arrow_find_run(const struct nt_arrow *arrow, const struct nt_arrow_body *body, uint32_t buffer,
                       struct nt_arrow_run *run_ret);

/* Decodes each buffer into memory of its own (aligned to NT_ARROW_ALIGNMENT and padded with
 * zeros to a multiple of it), and counts the remaining nulls. `memory` is zeroed; NULL stays for a
 * validity buffer without bytes. The caller frees the memory, also after a failure. */
enum nt_status nt_arrow_decode_body(const struct nt_arrow *arrow, struct nt_arrow_body *body, void **memory,
                                    struct nt_error *error);

/* slots.c: counts the valid slots among the first `slots` of a node in a cluster. Only needed after
 * dense optionals and for nullable fields; metadata gives the others. */
enum nt_status nt_arrow_count_valid(const struct nt_arrow *arrow, uint32_t node, uint32_t cluster,
                                    uint64_t slots, uint64_t *count_ret, struct nt_error *error);

/* ---- Slots and rows ---- */

enum { NT_ARROW_PIECE_SLOTS = 16384 }; /* slots per piece, which bounds memory */

enum {
    NT_ARROW_SLOT_PRESENT = 1,
    NT_ARROW_SLOT_VALID = 3
}; /* present: a row is stored, but it may count as null */

/* The rows of `count` slots of a node. The present slots have rows [first_row, first_row + rows). */
struct nt_arrow_slots {
    uint64_t first_row, rows, count;
    uint8_t *marks; /* [count]; NULL: all are valid */
};
static inline void nt_arrow_slots_deinit(struct nt_arrow_slots *slots)
{
    free(slots->marks);
}

/* Returns the first row of a node's row space in a cluster of the table, before the steps. */
uint64_t nt_arrow_row_space_begin(const struct nt_arrow *arrow, const struct nt_arrow_node *node,
                                  uint32_t cluster);

/* Resolves slots [first, first + count) to rows; count is at most NT_ARROW_PIECE_SLOTS. `is_validity`:
 * also applies the row mask of the node itself. The caller deinits the slots, also after a failure. */
enum nt_status nt_arrow_resolve_slots(const struct nt_arrow *arrow, const struct nt_arrow_node *node,
                                      uint32_t cluster, bool is_validity, uint64_t first, uint64_t count,
                                      struct nt_arrow_slots *slots, struct nt_error *error);

/* ---- JSON strings ---- */

/* Adds the JSON strings of a field with the given streams; `valid` NT_NONE: all rows are valid.
 * Generates all strings once to count their bytes. A row that cannot be decoded has no string and fails
 * when read. NT_LIMIT: too many strings to count. */
enum nt_status nt_arrow_texts_add(struct nt_arrow *arrow, uint32_t field, uint32_t offsets, uint32_t data,
                                  uint32_t valid, struct nt_arrow_texts **texts_ret, struct nt_error *error);
/* Frees the whole list. */
void nt_arrow_texts_free(struct nt_arrow_texts *texts);

/* Converts boundaries of rows to boundaries of bytes in place. */
void nt_arrow_texts_boundaries(const struct nt_arrow_texts *texts, uint64_t *boundaries, uint32_t count);
/* Returns the bytes of strings before each of the rows [first, first + count). Fails if a row cannot be
 * decoded, except for the last. */
enum nt_status nt_arrow_texts_before(const struct nt_arrow *arrow, struct nt_arrow_texts *texts,
                                     uint64_t first, uint64_t count, uint64_t *bytes_ret,
                                     struct nt_error *error);
enum nt_status nt_arrow_texts_read(const struct nt_arrow *arrow, struct nt_arrow_texts *texts,
                                   uint64_t offset, uint8_t *output, size_t bytes, struct nt_error *error);

/* The reason for NT_LIMIT. */
extern const char nt_arrow_texts_limit[];

/* Returns the JSON strings of a field; NULL: none. */
struct nt_arrow_texts *nt_arrow_texts_of(const struct nt_arrow *arrow, uint32_t field);
