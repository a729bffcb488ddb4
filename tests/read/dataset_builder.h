/* SPDX-License-Identifier: MIT
 *
 * Datasets in memory for tests: fields and columns are declared, elements are given per cluster and column
 * as integers, and written as pages with the inverse of the encodings. The elements stay readable, so that a
 * plain reference can work out what a reader has to answer.
 */
#ifndef NT_TESTS_PAGE_DATASET_BUILDER_H
#define NT_TESTS_PAGE_DATASET_BUILDER_H

#include <ntuple/read.h>

#include "core/base/memory.h"
#include "core/model/model.h"
#include "read/read.h"
#include "core/codec/codec.h"
#include "core/io/source.h"

enum { MAX_FIELDS = 64, MAX_COLUMNS = 96, MAX_CLUSTERS = 48, MAX_GROUPS = 8 };

/* What a cluster holds of a column. */
struct share {
    enum nt_range_state state;
    uint64_t *values; /* raw bits; a Switch as SWITCH(tag, index) */
    uint32_t count;
    uint32_t pages, first_page; /* among the cluster's group's */
    uint64_t listed_first;
};

/* A vector of integers: its fields, its columns. */
struct vector {
    uint32_t list, item;
    uint32_t index, values;
};

#define SWITCH(tag, index) ((uint64_t)(tag) << 48 | (uint64_t)(index))

struct builder {
    struct nt_file *file;
    struct nt_dataset *dataset;
    struct nt_reader *reader;
    struct nt_field fields[MAX_FIELDS];
    struct nt_column columns[MAX_COLUMNS];
    struct nt_decoder decoders[MAX_COLUMNS];
    struct nt_cluster clusters[MAX_CLUSTERS];
    struct nt_column_group column_groups[4];
    uint32_t column_group_columns[4][MAX_COLUMNS];
    struct nt_group groups[MAX_GROUPS];
    struct share shares[MAX_CLUSTERS][MAX_COLUMNS];
    uint32_t field_count, column_count, cluster_count, group_count, column_group_count;
    struct nt_page *pages[MAX_GROUPS];
    uint32_t page_count[MAX_GROUPS];
    uint64_t entries;
    bool hide_clusters; /* entries of clusters become known with their group only */
    bool bad_group[MAX_GROUPS];
    unsigned loads[MAX_GROUPS]; /* how often each group was loaded */
    bool
        has_field_groups; /* what each cluster of the only group holds becomes a group for each field: null where it has none */
    bool bad_field[MAX_FIELDS], bad_part[MAX_CLUSTERS];
    unsigned field_loads[MAX_FIELDS];  /* how often a group of each field was loaded */
    unsigned part_loads[MAX_CLUSTERS]; /* how often a group of each part of the entries was loaded */
    struct nt_buffer bytes;            /* the file */
    struct nt_source *source;
    enum nt_checksum_kind checksum; /* for the pages written from now on */
    enum nt_checksum_covers covers;
    bool compress;
};

struct builder *builder_new(void);
void builder_free(struct builder *builder);

/* Append a field; `element` is that of its own type. Returns its index. */
uint32_t add_field(struct builder *builder, uint32_t parent, enum nt_field_kind kind,
                   enum nt_element element);
/* The same with `repetition` elements per row: an array or a bitset (value). */
uint32_t add_array(struct builder *builder, uint32_t parent, enum nt_field_kind kind, enum nt_element element,
                   uint64_t repetition);
/* Append a column to a field. */
uint32_t add_column(struct builder *builder, uint32_t field, enum nt_encoding_kind encoding,
                    uint32_t representation);
/* Append a vector of 32-bit integers at the top: two fields, two columns. */
struct vector add_vector(struct builder *builder, enum nt_encoding_kind index_encoding,
                         enum nt_encoding_kind item_encoding);
void defer_column(struct builder *builder, uint32_t column, uint64_t first_element);
/* Append a column group of sharded clusters; returns its index. */
uint32_t add_column_group(struct builder *builder, const uint32_t *columns, uint32_t count);
/* Append a cluster to the last group. */
uint32_t add_cluster(struct builder *builder, uint64_t first_entry, uint64_t entries);
void end_group(struct builder *builder);
/* The elements of a column in a cluster of the last group, in pages of `page_elements`. */
void add_elements(struct builder *builder, uint32_t cluster, uint32_t column, const uint64_t *values,
                  uint32_t count, uint32_t page_elements);
void suppress(struct builder *builder, uint32_t cluster, uint32_t column);

/* A field that shows another one's columns. Call before finish; owns none. */
void project(struct builder *builder, uint32_t field, uint32_t source);

/* Link everything and open a reader. `options` may be NULL; its struct_bytes is set here. */
void finish(struct builder *builder, const struct nt_reader_options *options);
/* A new reader over the same dataset, nothing cached. */
void reopen(struct builder *builder, const struct nt_reader_options *options);

#endif
