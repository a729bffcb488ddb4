/* SPDX-License-Identifier: MIT
 *
 * Builds datasets in memory for tests. A test declares fields and columns and provides elements as
 * integers per cluster and column. The builder writes them as pages with the inverse of each encoding.
 * The elements stay accessible for a reference implementation (reference.h).
 */
#pragma once

#include <ntuple/read.h>

#include "core/base/memory.h"
#include "core/model/model.h"
#include "read/read.h"
#include "core/codec/codec.h"
#include "core/io/source.h"

enum { MAX_FIELDS = 64, MAX_COLUMNS = 96, MAX_CLUSTERS = 48, MAX_GROUPS = 8 };

/* The elements of a column in a cluster. */
struct share {
    enum nt_range_state state;
    uint64_t *values; /* raw bits; for a Switch: SWITCH(tag, index) */
    uint32_t count;
    uint32_t pages, first_page; /* in the group of the cluster */
    uint64_t listed_first;
};

/* A vector of integers: its two fields and its two columns. */
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
    struct nt_field_extra extra[MAX_FIELDS];
    struct nt_column columns[MAX_COLUMNS];
    struct nt_column_extra column_extra[MAX_COLUMNS];
    struct nt_decoder decoders[MAX_COLUMNS];
    struct nt_cluster clusters[MAX_CLUSTERS];
    struct nt_column_group column_groups[4];
    uint32_t column_group_columns[4][MAX_COLUMNS];
    struct nt_group_record groups[MAX_GROUPS];
    struct share shares[MAX_CLUSTERS][MAX_COLUMNS];
    uint32_t field_count, column_count, cluster_count, group_count, column_group_count;
    struct nt_page *pages[MAX_GROUPS];
    uint32_t page_count[MAX_GROUPS];
    size_t page_capacity[MAX_GROUPS];
    uint64_t entries;
    bool hide_clusters; /* the entries of clusters are known only after their group is loaded */
    bool bad_group[MAX_GROUPS];
    unsigned loads[MAX_GROUPS]; /* number of loads of each group */
    bool releases_lists;        /* each load releases the page lists that are not pinned */
    bool has_field_groups;      /* one group per cluster and field, not one for all; missing: null */
    bool bad_field[MAX_FIELDS], bad_part[MAX_CLUSTERS];
    unsigned field_loads[MAX_FIELDS];  /* number of loads of groups of each field */
    unsigned part_loads[MAX_CLUSTERS]; /* number of loads of groups of each part of the entries */
    unsigned part_visits;              /* loads in a row of groups of one part count once */
    uint32_t last_part;                /* of which a group was loaded */
    struct nt_buffer bytes;            /* the file */
    struct nt_source *source;
    enum nt_checksum_kind checksum; /* for subsequent pages */
    enum nt_checksum_covers covers;
    bool compress;
};

struct builder *builder_new(void);
void builder_free(struct builder *builder);

/* Appends a field and returns its index. `element` is the type of the field itself. */
uint32_t add_field(struct builder *builder, uint32_t parent, enum nt_field_kind kind,
                   enum nt_element element);
/* Same, with `repetition` elements per row: an array, or a bitset (value). */
uint32_t add_array(struct builder *builder, uint32_t parent, enum nt_field_kind kind, enum nt_element element,
                   uint64_t repetition);
/* The members of a field that only one format has, to set some. */
struct nt_field_extra *edit_extra(struct builder *builder, uint32_t field);
/* Appends a column to a field. */
uint32_t add_column(struct builder *builder, uint32_t field, enum nt_encoding_kind encoding,
                    uint32_t representation);
/* Appends a top-level vector of 32-bit integers: two fields, two columns. */
struct vector add_vector(struct builder *builder, enum nt_encoding_kind index_encoding,
                         enum nt_encoding_kind item_encoding);
void defer_column(struct builder *builder, uint32_t column, uint64_t first_element);
/* Appends a column group for sharded clusters and returns its index. */
uint32_t add_column_group(struct builder *builder, const uint32_t *columns, uint32_t count);
/* Appends a cluster to the last group. */
uint32_t add_cluster(struct builder *builder, uint64_t first_entry, uint64_t entries);
void end_group(struct builder *builder);
/* Adds the elements of a column in a cluster of the last group, in pages of `page_elements`. */
void add_elements(struct builder *builder, uint32_t cluster, uint32_t column, const uint64_t *values,
                  uint32_t count, uint32_t page_elements);
void suppress(struct builder *builder, uint32_t cluster, uint32_t column);

/* Makes a field show the columns of another field; it owns none. Call before finish. */
void project(struct builder *builder, uint32_t field, uint32_t source);

/* Links everything and opens a reader. `options` may be NULL and need not set struct_bytes. */
void finish(struct builder *builder, const struct nt_reader_options *options);
/* Opens a new reader with empty caches for the same dataset. */
void reopen(struct builder *builder, const struct nt_reader_options *options);
