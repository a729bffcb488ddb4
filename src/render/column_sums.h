/* SPDX-License-Identifier: MIT
 *
 * Sums over the pages of columns.
 */
#ifndef NT_VIEW_COLUMN_SUMS_H
#define NT_VIEW_COLUMN_SUMS_H

#include "core/model/model.h"

/* What the pages of a column sum up to; those of page lists that cannot be read are not counted. */
struct nt_column_sums {
    uint64_t elements, pages;
    uint64_t stored_bytes, packed_bytes, decoded_bytes; /* stored: without checksums */
    bool is_complete;                                   /* false: a page list could not be read */
    uint8_t checksum; /* enum nt_checksum_kind of the first page that has one */
};

/* Sums of one column, or of all (NT_NONE). Loads all page lists; fails only where the machine does. */
enum nt_status nt_column_sums(struct nt_dataset *dataset, uint32_t column, struct nt_column_sums *sums,
                              struct nt_error *error);
/* Sums of all columns in one cluster, whose group is loaded. */
void nt_cluster_sums(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t cluster,
                     struct nt_column_sums *sums);

#endif
