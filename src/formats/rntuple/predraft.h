/* SPDX-License-Identifier: MIT
 *
 * The format before its first specification (ROOT 6.21 to 6.25): another header, a footer that holds all page
 * locations, explicit ids in any order.
 */
#ifndef NT_FORMAT_RNTUPLE_PREDRAFT_H
#define NT_FORMAT_RNTUPLE_PREDRAFT_H

#include "formats/rntuple/page_list.h"
#include "formats/rntuple/schema.h"

struct nt_predraft_version {
    uint32_t version, minimum;
    uint64_t flags;
};

/* Texts are the envelope's. */
struct nt_predraft_header {
    struct nt_text name, description, author, custodian;
    uint64_t time_of_data, time_of_writing;
    struct nt_predraft_version version;
    struct nt_text own_uuid, group_uuid;
    size_t unknown_bytes;
};

struct nt_predraft_cluster {
    struct nt_text uuid;
    uint64_t id;
    struct nt_predraft_version version;
    uint64_t first_entry, entries;
    struct nt_locator locator; /* of all its pages together */
    uint32_t columns;
};

struct nt_predraft_column {
    uint64_t id, first_element;
    uint32_t elements;
    int64_t compression_settings;
    uint32_t pages;
};

/* Read a verified header. Its root field is left out: the root's children become top-level fields. */
enum nt_status nt_predraft_header_read(const struct nt_envelope *envelope,
                                       struct nt_predraft_header *header_ret, struct nt_schema *schema,
                                       struct nt_error *error);

/* Walk over a verified footer: the number of clusters, then each cluster, its columns, their pages. */
enum nt_status nt_predraft_footer_open(const struct nt_envelope *envelope, struct nt_cursor *cursor_ret,
                                       uint64_t *clusters_ret, struct nt_error *error);
enum nt_status nt_predraft_cluster_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                        struct nt_predraft_cluster *cluster_ret, struct nt_error *error);
enum nt_status nt_predraft_column_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                       struct nt_predraft_column *column_ret, struct nt_error *error);
struct nt_page_record nt_predraft_page_read(struct nt_cursor *cursor);

/* Make one cluster group of all clusters, with their entries; then, when it is touched, its ranges
 * and pages. */
enum nt_status nt_predraft_build(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                 struct nt_error *error);
enum nt_status nt_predraft_fill(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                struct nt_error *error);

#endif
