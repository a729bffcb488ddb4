/* SPDX-License-Identifier: MIT
 *
 * Interface for formats: add fields, columns, clusters and pages to a dataset, and read metadata within
 * the budget.
 */
#pragma once

#include <ntuple/dataset.h>

#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/budget.h"
#include "core/model/model.h"

/* ---- Fields and columns ---- */

/* Until it is finished, adding a field or column invalidates pointers to previous ones. */
struct nt_builder {
    struct nt_dataset *dataset;
    struct nt_field *fields;
    struct nt_column *columns;
    uint32_t field_count, column_count;
    size_t field_capacity, column_capacity;
};

void nt_builder_init(struct nt_builder *builder, struct nt_dataset *dataset);
/* Returns unfinished items to the file's budget. */
void nt_builder_deinit(struct nt_builder *builder);

/* Appends a copy; *index_ret (may be NULL) is its index. NT_LIMIT if the file has too many. */
enum nt_status nt_builder_add_field(struct nt_builder *builder, const struct nt_field *field,
                                    uint32_t *index_ret, struct nt_error *error);
/* Sets `decoder` to the number of the given one. */
enum nt_status nt_builder_add_column(struct nt_builder *builder, const struct nt_column *column,
                                     const struct nt_decoder *decoder, struct nt_error *error);

/* Appends already linked fields with the same numbers, without their columns. */
enum nt_status nt_builder_add_linked_fields(struct nt_builder *builder, const struct nt_field *fields,
                                            uint32_t count, struct nt_error *error);

/* Moves fields and columns to the dataset and links them (see nt_dataset_link). */
enum nt_status nt_builder_finish(struct nt_builder *builder, struct nt_error *error);

/* Names the only dataset of a file after it, without extension, with the file's source. */
enum nt_status nt_dataset_from_file(struct nt_dataset *dataset, struct nt_error *error);

/* ---- Clusters ---- */

/* Adds zeroed records of cluster groups, and clusters, from the dataset's arena. */
enum nt_status nt_dataset_add_groups(struct nt_dataset *dataset, uint64_t groups, uint64_t clusters,
                                     struct nt_error *error);
/* Adds one cluster with all entries; none if there are no entries. */
enum nt_status nt_dataset_add_only_cluster(struct nt_dataset *dataset, uint64_t entries,
                                           struct nt_error *error);

/* For files with separate metadata for each field: for each part of the entries, each field with own
 * columns gets a cluster group of one cluster. Page lists then load per field and part. `entries`: of
 * each part; they become the dataset's. A group has a `field`; those of one field follow one another
 * from dataset->field_groups[field]. Call it after linking. Without parts there are no groups. */
enum nt_status nt_dataset_add_field_groups(struct nt_dataset *dataset, const uint64_t *entries,
                                           uint32_t part_count, struct nt_error *error);
/* The same for fields with parts of their own, all of the dataset's entries: those of the first field
 * first. `parts` live as long as the dataset. */
enum nt_status nt_dataset_add_joined_groups(struct nt_dataset *dataset, const struct nt_parts *parts,
                                            uint32_t count, struct nt_error *error);
/* The same with all entries in one part; none if there are no entries. */
enum nt_status nt_dataset_add_only_part(struct nt_dataset *dataset, uint64_t entries, struct nt_error *error);

/* ---- Ranges and pages ---- */

struct nt_group_builder {
    struct nt_dataset *dataset;
    struct nt_group *group;
    const char *list;       /* for messages: what is read, "page list" */
    uint64_t offset;        /* and its offset, or NT_NO_OFFSET */
    struct nt_range *range; /* being filled */
    uint64_t first_element; /* of the next page */
    uint64_t range_count;   /* over all clusters and columns */
    size_t capacity;        /* of the group's pages */
};

/* Allocates the ranges of a group that is being loaded: all absent. */
enum nt_status nt_group_builder_init(struct nt_group_builder *builder, struct nt_dataset *dataset,
                                     uint32_t group, const char *list, uint64_t offset,
                                     struct nt_error *error);
/* Begins a column's range in a cluster (index in the dataset); its pages follow. NT_CORRUPT if it has
 * begun before, or belongs to another field than the group. */
enum nt_status nt_group_builder_start(struct nt_group_builder *builder, uint32_t cluster, uint32_t column,
                                      struct nt_error *error);
/* Marks all rows of the group's clusters as null, in all columns: nothing is stored. */
void nt_group_builder_set_null(struct nt_group_builder *builder);
/* Makes room for so many more pages, without any to spare. NT_LIMIT if the budget has too little. */
enum nt_status nt_group_builder_reserve(struct nt_group_builder *builder, uint64_t pages,
                                        struct nt_error *error);
/* Appends a copy of a page to the range and sets its `first_element`. */
enum nt_status nt_group_builder_add(struct nt_group_builder *builder, const struct nt_page *page,
                                    struct nt_error *error);
/* Keeps the result if `status` is NT_OK, else frees it. Returns `status`. */
enum nt_status nt_group_builder_finish(struct nt_group_builder *builder, enum nt_status status);
/* Frees a group's ranges and pages, and returns them to the file's budget. */
void nt_group_release(struct nt_dataset *dataset, struct nt_group *group, uint64_t ranges, uint64_t pages);
/* Frees those of all groups. */
void nt_groups_deinit(struct nt_dataset *dataset);

/* ---- Reading metadata ---- */

/* The location of metadata. */
struct nt_metadata_range {
    uint64_t offset, bytes;
    uint64_t position; /* unique offset of its first byte among all bytes of the budget */
    bool is_compressed;
};

/* The position in a file, by number, when several files share a budget. */
static inline uint64_t nt_metadata_position(uint64_t number, uint64_t offset)
{
    enum { OFFSET_BITS = 40 };
    return (number << OFFSET_BITS) + offset;
}

/* Reads a range, which must be within the source, into malloc memory with one extra byte. The budget
 * keeps the bytes counted. If it is too small, reads in pieces, as what was read raises the limit.
 * `*counted_ret` (may be NULL): the increase, for nt_budget_withdraw. */
enum nt_status nt_metadata_read(struct nt_budget *budget, struct nt_source *source,
                                const struct nt_metadata_range *metadata_range, uint8_t **bytes_ret,
                                uint64_t *counted_ret, struct nt_error *error);
