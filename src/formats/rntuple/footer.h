/* SPDX-License-Identifier: MIT
 *
 * The footer envelope: the schema extension and lists of column groups, clusters, cluster groups, user
 * meta-data and attribute sets, as far as a generation has them. Specification, "Footer Envelope".
 */
#ifndef NT_FORMAT_RNTUPLE_FOOTER_H
#define NT_FORMAT_RNTUPLE_FOOTER_H

#include "formats/rntuple/schema.h"

/* Entries of a cluster. Also in page lists. */
struct nt_cluster_summary {
    uint64_t first_entry, entries;
    uint8_t flags;
    uint32_t column_group; /* NT_NONE: all columns */
    size_t unknown_bytes;
};

struct nt_cluster_group_record {
    uint64_t first_entry, entries; /* 0, 0 where the generation does not tell */
    uint32_t clusters;
    struct nt_envelope_link page_list;
    size_t unknown_bytes;
};

/* Column ids of all groups, one after the other. */
struct nt_column_group_records {
    uint32_t *columns;
    uint32_t *ends; /* of each group in `columns` */
    uint32_t count, column_count;
};

struct nt_attribute_set_record {
    uint16_t major, minor; /* version of the attribute set's own schema */
    uint32_t anchor_length;
    struct nt_locator anchor;
    struct nt_text name;
    size_t unknown_bytes;
};

/* Texts are the envelope's. */
struct nt_footer {
    struct nt_feature_flags flags;
    uint64_t header_checksum;
    struct nt_envelope_link *extension_headers, *user_metadata;
    struct nt_column_group_records column_groups;
    struct nt_cluster_summary *summaries;
    struct nt_cluster_group_record *groups;
    struct nt_attribute_set_record *attribute_sets;
    uint32_t extension_header_count, user_metadata_count, summary_count, group_count, attribute_set_count;
    size_t unknown_bytes;
};

void nt_footer_deinit(struct nt_footer *footer);

/* Read a verified footer; its schema extension is appended to `schema`. */
enum nt_status nt_footer_read(const struct nt_envelope *envelope, struct nt_footer *footer_ret,
                              struct nt_schema *schema, struct nt_error *error);

enum nt_status nt_cluster_summary_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                       struct nt_cluster_summary *summary_ret, struct nt_error *error);

/* NT_OK where `found` is the header's checksum, else NT_CORRUPT: the envelope belongs to another header. */
enum nt_status nt_header_checksum_check(const struct nt_envelope *envelope, uint64_t expected, uint64_t found,
                                        struct nt_error *error);

/* Turn the footer's clusters, groups and column groups into the data set's (its arena), and set
 * its entries. */
enum nt_status nt_footer_build(struct nt_dataset *dataset, const struct nt_generation *generation,
                               const struct nt_footer *footer, struct nt_error *error);

#endif
