/* SPDX-License-Identifier: MIT
 *
 * Page list envelopes: the clusters of a group and, for each column, its pages. Specification, "Page List
 * Envelope".
 */
#ifndef NT_FORMAT_RNTUPLE_PAGE_LIST_H
#define NT_FORMAT_RNTUPLE_PAGE_LIST_H

#include "formats/rntuple/footer.h"

struct nt_page_record {
    uint32_t elements;
    bool has_checksum;
    struct nt_locator locator;
};

/* The pages of a column in a cluster: read `pages.items` page records from `pages.payload`, then the rest. */
struct nt_column_pages {
    struct nt_frame pages;
    bool is_suppressed;
    uint64_t first_element;
    uint32_t compression_settings;
    size_t unknown_bytes;
};

/* A page list's beginning: the header's checksum, the list of summaries (both only where the generation has
 * them in page lists) and the list of clusters. */
struct nt_page_list {
    uint64_t header_checksum;
    struct nt_frame summaries;
    struct nt_frame clusters; /* a list of columns each */
    size_t unknown_bytes;
};

enum nt_status nt_page_list_read(const struct nt_envelope *envelope, struct nt_page_list *list_ret,
                                 struct nt_error *error);
/* The list of a cluster's columns. */
enum nt_status nt_cluster_columns_read(const struct nt_envelope *envelope, struct nt_cursor *clusters,
                                       struct nt_frame *columns_ret, struct nt_error *error);
enum nt_status nt_column_pages_read(const struct nt_envelope *envelope, struct nt_cursor *columns,
                                    struct nt_column_pages *pages_ret, struct nt_error *error);
/* The cursor fails where the record does not fit. */
struct nt_page_record nt_page_record_read(const struct nt_envelope *envelope, struct nt_cursor *pages);
/* What stands behind the last page record. */
enum nt_status nt_column_pages_finish(const struct nt_envelope *envelope, struct nt_column_pages *pages,
                                      struct nt_error *error);

/* Fill a group's ranges, pages and clusters from its verified page list. */
enum nt_status nt_page_list_build(struct nt_dataset *dataset, uint32_t group,
                                  const struct nt_envelope *envelope, uint64_t header_checksum,
                                  struct nt_error *error);

#endif
