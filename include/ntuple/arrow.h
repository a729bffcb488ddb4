/* SPDX-License-Identifier: MIT
 *
 * A data set as Apache Arrow: as an IPC file whose size is known from metadata alone and of which any part
 * can be read without decoding the rest, and through the Arrow C data interface. One record batch per
 * cluster, in entry order. See docs/arrow.md for how fields become Arrow types.
 */
#ifndef NTUPLE_ARROW_H
#define NTUPLE_ARROW_H

#include <ntuple/model.h>
#include <ntuple/read.h>

#pragma GCC visibility push(default)

struct nt_arrow;

struct nt_arrow_options {
    bool strings_as_binary; /* large_binary instead of large_utf8 */
};

/* Work out the schema and the batches (loads all page lists). The reader and the data set must outlive the
 * result, which is immutable and may be used by several threads. NT_UNSUPPORTED for sharded clusters, whose
 * columns do not share their borders. */
enum nt_status nt_arrow_new(struct nt_reader *reader, struct nt_dataset *dataset,
                            const struct nt_arrow_options *options, struct nt_arrow **arrow_ret,
                            struct nt_error *error);
void nt_arrow_free(struct nt_arrow *arrow); /* accepts NULL */

/* Fields that Arrow cannot express here: how many, and which with the reason. */
uint32_t nt_arrow_left_out(const struct nt_arrow *arrow);
uint32_t nt_arrow_left_out_field(const struct nt_arrow *arrow, uint32_t number, const char **reason_ret);

/* Clusters that are larger than Arrow can count (the offsets of a union have 32 bits): how many, and how many
 * entries one has, from which on. They have no batch. */
uint32_t nt_arrow_left_out_clusters(const struct nt_arrow *arrow);
uint64_t nt_arrow_left_out_cluster(const struct nt_arrow *arrow, uint32_t number, uint64_t *first_entry_ret);

/* The IPC file: its size, and bytes [offset, offset + bytes) of it, exact; NT_INVALID past the end. */
uint64_t nt_arrow_file_bytes(const struct nt_arrow *arrow);
enum nt_status nt_arrow_file_read(const struct nt_arrow *arrow, uint64_t offset, void *output, size_t bytes,
                                  struct nt_error *error);

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

uint32_t nt_arrow_batches(const struct nt_arrow *arrow);
/* Fill a structure of the caller's, who calls its release when done. The batch is decoded into memory of its
 * own, so it outlives the nt_arrow. */
enum nt_status nt_arrow_export_schema(const struct nt_arrow *arrow, struct ArrowSchema *schema_ret,
                                      struct nt_error *error);
enum nt_status nt_arrow_export_batch(const struct nt_arrow *arrow, uint32_t batch,
                                     struct ArrowArray *array_ret, struct nt_error *error);

#pragma GCC visibility pop

#endif
