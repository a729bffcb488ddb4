/* SPDX-License-Identifier: MIT
 *
 * A dataset as Apache Arrow: as an IPC file whose size is known from metadata alone and of which any part
 * can be read without decoding the rest, and through the Arrow C data interface. One record batch per
 * cluster, in entry order; several where offsets of 32 bits could not count what it has. See docs/arrow.md for how fields become Arrow types.
 */
#ifndef NTUPLE_ARROW_H
#define NTUPLE_ARROW_H

#include <ntuple/api.h>
#include <ntuple/dataset.h>
#include <ntuple/read.h>

NT_API_BEGIN

struct nt_arrow;

/* What a variant is. */
enum nt_arrow_unions {
    /* A struct of `tag` (uint32: which alternative, from 1 on, 0: none) and of the alternatives, each null where
     * the variant has another. What every program reads. */
    NT_ARROW_UNIONS_STRUCT,
    NT_ARROW_UNIONS_UNION, /* a dense union */
    NT_ARROW_UNIONS_OMIT,  /* omitted */
};

struct nt_arrow_options { /* grows as nt_open_options does */
    size_t struct_bytes;
    bool strings_as_binary; /* large_binary instead of large_utf8 */
    bool reserved[7];       /* ignored */
    enum nt_arrow_unions unions;
    /* Only these fields (indices, of the caller until the call returns), each with all below it and with the
     * records and collections that it is in; in the dataset's order. Of a dense union all alternatives. NULL:
     * all fields. Nothing of others is looked at. */
    const uint32_t *fields;
    size_t field_count;
    /* Only `entries` entries from first_entry on. false: all. */
    uint64_t first_entry, entries;
    bool has_range;
};
#define NT_ARROW_OPTIONS_INIT                                                                                \
    {                                                                                                        \
        sizeof(struct nt_arrow_options), false, {false}, NT_ARROW_UNIONS_STRUCT, NULL, 0, 0, 0, false        \
    }

/* Work out the schema and the batches. Loads all page lists and decodes nothing but the validity of optionals
 * in the dense form of drafts, and where a range of entries begins or ends within a cluster, the page of each
 * offset column that tells how far nested fields are (of variants their tags up to there). The reader and the dataset must outlive the result, which may be used by
 * several threads. NT_UNSUPPORTED for sharded clusters, whose columns do not share their borders; NT_INVALID
 * for options that are not known, a field that there is not, and a range past the end; the failure of a page
 * list, or of one of those pages, that cannot be read. */
NT_CHECKED enum nt_status nt_arrow_new(struct nt_reader *reader, struct nt_dataset *dataset,
                                       const struct nt_arrow_options *options, struct nt_arrow **arrow_ret,
                                       struct nt_error *error);
void nt_arrow_free(struct nt_arrow *arrow); /* accepts NULL */

/* Fields that Arrow cannot express here: how many, and the number of one of them with the reason, which lives
 * as long as the table. Known since it was made. */
uint32_t nt_arrow_omitted_fields(const struct nt_arrow *arrow);
uint32_t nt_arrow_omitted_field(const struct nt_arrow *arrow, uint32_t number, const char **reason_ret);

/* Clusters, or single entries of them, that are larger than Arrow can count (offsets of unions, and of types that
 * are not large, have 32 bits): how many, and how many entries one has, from which on. They have no batch. */
uint32_t nt_arrow_omitted_clusters(const struct nt_arrow *arrow);
uint64_t nt_arrow_omitted_cluster(const struct nt_arrow *arrow, uint32_t number, uint64_t *first_entry_ret);

/* The IPC file: its size, which is known, and bytes [offset, offset + bytes) of it, exact; NT_INVALID past
 * the end, NT_UNSUPPORTED (here and where a batch is exported) for a variant as a struct whose alternatives are
 * not stored in the order of its rows. Decodes the pages of the columns that the bytes belong to. Any thread. */
uint64_t nt_arrow_file_bytes(const struct nt_arrow *arrow);
NT_CHECKED enum nt_status nt_arrow_file_read(struct nt_arrow *arrow, uint64_t offset, void *output,
                                             size_t bytes, struct nt_error *error);

/* The Arrow C data interface (https://arrow.apache.org/docs/format/CDataInterface.html). The structures are
 * the interface's own; programs that have them already define ARROW_C_DATA_INTERFACE first. */
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

/* How many batches there are: one for each cluster, or part of one, that has one. Known since the table was
 * made. */
uint32_t nt_arrow_batches(const struct nt_arrow *arrow);
/* Fill a structure of the caller's, who calls its release when done. The batch is decoded whole, by the calling
 * thread and all workers of the reader, into memory of its own, so it outlives the nt_arrow, the reader and the
 * file. NT_NOT_FOUND past the last batch. */
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

/* All batches one after the other, each decoded when it is asked for. Any number of streams may read a table at
 * once, each used by one thread at a time. The table has to outlive the stream, what the stream gave out need
 * not; `on_release` (may be NULL) is called with `context` when the stream is released, by the thread that does.
 * On failure it is not called. A batch that cannot be read gives an errno and its message, and may be asked for
 * again. NT_NO_MEMORY. */
NT_CHECKED enum nt_status nt_arrow_export_stream(const struct nt_arrow *arrow,
                                                 void (*on_release)(void *context), void *context,
                                                 struct ArrowArrayStream *stream_ret, struct nt_error *error);

NT_API_END

#endif
