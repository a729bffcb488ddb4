/* SPDX-License-Identifier: MIT
 *
 * A dataset as Apache Arrow: as an IPC file whose size follows from metadata alone and whose parts can
 * be read independently, and through the Arrow C data interface. One record batch per cluster, in entry
 * order; several if its contents overflow 32-bit offsets. docs/arrow.md lists the types of fields.
 */
#ifndef NTUPLE_ARROW_H
#define NTUPLE_ARROW_H

#include <ntuple/api.h>
#include <ntuple/dataset.h>
#include <ntuple/read.h>

NT_API_BEGIN

struct nt_arrow;

/* How to express a variant. */
enum nt_arrow_unions {
    /* A struct of `tag` (uint32: the alternative, from 1 on; 0: none) and of the alternatives, each
     * null where the variant has another one. Every program can read this. */
    NT_ARROW_UNIONS_STRUCT,
    NT_ARROW_UNIONS_UNION, /* a dense union */
    NT_ARROW_UNIONS_OMIT,
};

struct nt_arrow_options { /* grows as nt_open_options does */
    size_t struct_bytes;
    bool strings_as_binary; /* large_binary instead of large_utf8 */
    bool reserved[7];       /* ignored */
    enum nt_arrow_unions unions;
    /* Only these fields (indices; not used after the call), each with all fields below it and with the
     * records and collections around it, in dataset order. A dense union keeps all alternatives. NULL:
     * all fields. Other fields are not inspected. */
    const uint32_t *fields;
    size_t field_count;
    /* Only `entries` entries from first_entry on, if has_range; otherwise all. */
    uint64_t first_entry, entries;
    bool has_range;
};
#define NT_ARROW_OPTIONS_INIT                                                                                \
    {                                                                                                        \
        sizeof(struct nt_arrow_options), false, {false}, NT_ARROW_UNIONS_STRUCT, NULL, 0, 0, 0, false        \
    }

/* Builds the schema and the batches. Loads all page lists. Decodes only the validity of optionals in
 * the dense form of drafts and, if a range of entries splits a cluster, the page of each offset column
 * with the position of nested fields (for variants, their tags up to there). The reader and the dataset
 * must outlive the result, which threads may share and the caller frees with nt_arrow_free.
 * If the columns of clusters do not share their boundaries, batches follow those of the first field.
 * NT_INVALID for unknown options or fields and a range past the end; the failure of reading a page list or
 * one of those pages. */
NT_CHECKED enum nt_status nt_arrow_new(struct nt_reader *reader, struct nt_dataset *dataset,
                                       const struct nt_arrow_options *options, struct nt_arrow **arrow_ret,
                                       struct nt_error *error);
void nt_arrow_free(struct nt_arrow *arrow); /* accepts NULL */

/* Fields that Arrow cannot express here: their count, and the index of field `number` of them (below
 * that count) with the reason, which belongs to the nt_arrow. Reads nothing. Any thread. */
uint32_t nt_arrow_omitted_fields(const struct nt_arrow *arrow);
uint32_t nt_arrow_omitted_field(const struct nt_arrow *arrow, uint32_t number, const char **reason_ret);
/* Clusters, or single entries of them, that are too large for Arrow (unions and types that are not
 * large have 32-bit offsets). They have no batch. The first function returns their count, the second the
 * number of entries of one (`number` is below that count) and its first entry. Any thread. */
uint32_t nt_arrow_omitted_clusters(const struct nt_arrow *arrow);
uint64_t nt_arrow_omitted_cluster(const struct nt_arrow *arrow, uint32_t number, uint64_t *first_entry_ret);

/* Fails if the table lacks values that the file has: with the failure of the first field whose page lists
 * are damaged or cannot be read, or with NT_LIMIT for omitted clusters. Fields that this version or Arrow
 * cannot show are no failure. Reads nothing. Any thread. */
NT_CHECKED enum nt_status nt_arrow_check(const struct nt_arrow *arrow, struct nt_error *error);

/* The IPC file (Arrow's specification, "IPC File Format"): its size in bytes, and bytes [offset,
 * offset + bytes) of it, all or an error. NT_INVALID past the end; NT_UNSUPPORTED (also for exported
 * batches) for a variant as a struct whose alternatives are not stored in row order. Decodes the pages
 * of the columns that the bytes belong to. Any thread. */
uint64_t nt_arrow_file_bytes(const struct nt_arrow *arrow);
NT_CHECKED enum nt_status nt_arrow_file_read(struct nt_arrow *arrow, uint64_t offset, void *output,
                                             size_t bytes, struct nt_error *error);

/* The Arrow C data interface (https://arrow.apache.org/docs/format/CDataInterface.html), with its own
 * structures. Programs that already have them define ARROW_C_DATA_INTERFACE first. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

/* The number of batches: one per cluster or part of a cluster that has a batch. Reads nothing. Any
 * thread. */
uint32_t nt_arrow_batches(const struct nt_arrow *arrow);
/* These fill a structure of the caller, which must call its release. The calling thread and all workers
 * of the reader decode the whole batch into separate memory, which outlives the nt_arrow, the reader
 * and the file. NT_NOT_FOUND past the last batch, NT_NO_MEMORY, and the failures of reading. Any
 * thread. */
NT_CHECKED enum nt_status nt_arrow_export_schema(const struct nt_arrow *arrow, struct ArrowSchema *schema_ret,
                                                 struct nt_error *error);
NT_CHECKED enum nt_status nt_arrow_export_batch(const struct nt_arrow *arrow, uint32_t batch,
                                                struct ArrowArray *array_ret, struct nt_error *error);

/* The Arrow C stream interface (https://arrow.apache.org/docs/format/CStreamInterface.html). */
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* Exports all batches in order, each decoded on request. Any number of streams may read a table at
 * once, each from one thread at a time. The table must outlive the stream, but not the exported arrays.
 * Releasing the stream calls `on_release` (may be NULL) with `context`, in the releasing thread; a
 * failed export does not call it. If a batch cannot be read, the stream returns an errno and a message;
 * the caller may retry. Any thread. NT_NO_MEMORY. */
NT_CHECKED enum nt_status nt_arrow_export_stream(const struct nt_arrow *arrow,
                                                 void (*on_release)(void *context), void *context,
                                                 struct ArrowArrayStream *stream_ret, struct nt_error *error);

NT_API_END

#endif
