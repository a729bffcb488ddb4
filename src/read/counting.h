/* SPDX-License-Identifier: MIT
 *
 * Rows that no column of their own counts, worked out from the data of the collection or variant above.
 */
#ifndef NT_PAGE_COUNTING_H
#define NT_PAGE_COUNTING_H

#include "read/clusters.h"

/* An index column's last value in a cluster, which is the number of items below; 0 where nothing is stored
 * because the column is deferred. `known_ret` false where it cannot be told; where a page is
 * the reason, `error` has its failure though NT_OK is returned. Reads at most one page. */
enum nt_status nt_items_last_index(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                   uint32_t cluster, uint64_t *items_ret, bool *known_ret,
                                   struct nt_error *error);

/* Items below a collection or variant in a span: of all, or for a variant of the alternative that `branch`
 * (one of its children) is. */
enum nt_status nt_items_below(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                              uint32_t branch, const struct nt_span *span, uint64_t *items_ret,
                              bool *known_ret, struct nt_error *error);

/* Rows of a field in a span, from what lies above it. */
enum nt_status nt_items_rows(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             const struct nt_span *span, uint64_t *rows_ret, bool *known_ret,
                             struct nt_error *error);

#endif
