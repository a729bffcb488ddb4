/* SPDX-License-Identifier: MIT
 *
 * Interface for formats: adding fields, columns, clusters and pages to a dataset, and reading metadata
 * within the budget.
 */
#ifndef NT_CORE_MODEL_BUILDER_H
#define NT_CORE_MODEL_BUILDER_H

#include <ntuple/dataset.h>

#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/budget.h"
#include "core/model/model.h"

/* ---- Builders ---- */

/* ---- fields and columns ---- */

/* Until it is finished, pointers to fields and columns are valid until the next one is added. */
struct nt_builder {
    struct nt_dataset *dataset;
    struct nt_field *fields;
    struct nt_column *columns;
    uint32_t field_count, column_count;
    size_t field_capacity, column_capacity;
};

void nt_builder_init(struct nt_builder *builder, struct nt_dataset *dataset);
/* What was not finished is given back to the file's budget. */
void nt_builder_deinit(struct nt_builder *builder);

/* Append a copy; *index_ret (may be NULL) is its index. NT_LIMIT where the file may not ask for so many. */
enum nt_status nt_builder_add_field(struct nt_builder *builder, const struct nt_field *field,
                                    uint32_t *index_ret, struct nt_error *error);
/* Its `decoder` is set to the dataset's number of the one given. */
enum nt_status nt_builder_add_column(struct nt_builder *builder, const struct nt_column *column,
                                     const struct nt_decoder *decoder, struct nt_error *error);

/* Append fields that are linked already, number for number, without their columns. */
enum nt_status nt_builder_add_linked_fields(struct nt_builder *builder, const struct nt_field *fields,
                                            uint32_t count, struct nt_error *error);

/* Make fields and columns those of the dataset, and link them (see nt_dataset_link). */
enum nt_status nt_builder_finish(struct nt_builder *builder, struct nt_error *error);

/* A dataset that is all of its file, which tells no more of it: its name is the file's without an ending, its source the file's. */
enum nt_status nt_dataset_from_file(struct nt_dataset *dataset, struct nt_error *error);

/* ---- clusters ---- */

/* Empty cluster groups and clusters, from the dataset's arena. */
enum nt_status nt_dataset_add_groups(struct nt_dataset *dataset, uint64_t groups, uint64_t clusters,
                                     struct nt_error *error);
/* What a group of nt_dataset_add_field_groups has beside: zeros. */
enum nt_status nt_dataset_add_group_more(struct nt_dataset *dataset, struct nt_error *error);
/* All entries are one cluster; where there are none, there is none. */
enum nt_status nt_dataset_add_only_cluster(struct nt_dataset *dataset, uint64_t entries,
                                           struct nt_error *error);

/* For files that tell of each field in another place: of each part of the entries, each field that owns columns gets a
 * cluster group with one cluster of its columns, so that the page list of one field is loaded without those of others,
 * and that of one part without those of the rest. `entries`: of each part; they are the dataset's. A group knows its
 * `field`; those of a field follow one another from dataset->field_groups[field] on. To be called once fields and
 * columns are linked. Without parts there are no groups. */
enum nt_status nt_dataset_add_field_groups(struct nt_dataset *dataset, const uint64_t *entries,
                                           uint32_t part_count, struct nt_error *error);
/* The same for a dataset whose entries are one part; where there are none, there is none. */
enum nt_status nt_dataset_add_only_part(struct nt_dataset *dataset, uint64_t entries, struct nt_error *error);

/* ---- ranges and pages ---- */

struct nt_group_builder {
    struct nt_dataset *dataset;
    struct nt_group *group;
    const char *list;       /* for messages: what is being read, "page list" */
    uint64_t offset;        /* and where it lies, or NT_NO_OFFSET */
    struct nt_range *range; /* the one that is being filled */
    uint64_t first_element; /* of its next page */
    uint64_t range_count;   /* of all its clusters and columns */
    size_t capacity;        /* of the group's pages */
};

/* Give a group its ranges: all absent. */
enum nt_status nt_group_builder_init(struct nt_group_builder *builder, struct nt_dataset *dataset,
                                     uint32_t group, const char *list, uint64_t offset,
                                     struct nt_error *error);
/* Begin a column's range in a cluster (index in the dataset); its pages follow. NT_CORRUPT where it was
 * begun before, or is not the group's field's. */
enum nt_status nt_group_builder_start(struct nt_group_builder *builder, uint32_t cluster, uint32_t column,
                                      struct nt_error *error);
/* All rows of a group's clusters are null, in all columns: nothing is stored. */
void nt_group_builder_set_null(struct nt_group_builder *builder);
/* Append a copy of a page to the range; its `first_element` is set. */
enum nt_status nt_group_builder_add(struct nt_group_builder *builder, const struct nt_page *page,
                                    struct nt_error *error);
/* Keep what was built where `status` is NT_OK, else free it. Returns `status`. */
enum nt_status nt_group_builder_finish(struct nt_group_builder *builder, enum nt_status status);
/* A group is as before it was loaded; so many ranges and pages were taken from the file's budget for it. */
void nt_group_release(struct nt_dataset *dataset, struct nt_group *group, uint64_t ranges, uint64_t pages);

/* ---- Reading metadata ---- */

/* Where metadata lie. */
struct nt_metadata_range {
    uint64_t offset, bytes;
    uint64_t place; /* of its first byte, among all that the budget is for: no two bytes have the same one */
    bool is_compressed;
};

/* Places in the file of a number, of several that have one budget. */
static inline uint64_t nt_metadata_position(uint64_t number, uint64_t offset)
{
    enum { OFFSET_BITS = 40 };
    return (number << OFFSET_BITS) + offset;
}

/* Read a stretch, which lies in the source, into memory of malloc, which has a byte more. The bytes are taken from the budget, and
 * stay so; where it has less than all of them, they are read in pieces, as what was read makes it larger. `*counted_ret`: how
 * many it was made larger by, for nt_budget_withdraw; may be NULL. */
enum nt_status nt_metadata_read(struct nt_budget *budget, struct nt_source *source,
                                const struct nt_metadata_range *metadata_range, uint8_t **bytes_ret,
                                uint64_t *counted_ret, struct nt_error *error);

#endif
