/* SPDX-License-Identifier: MIT
 *
 * The logical files of a built dataset, worked out from its elements in the plainest way: cluster by cluster
 * in entry order, every row's number from the data above it, no page lists, no shortcuts.
 */
#ifndef NT_TESTS_PAGE_REFERENCE_H
#define NT_TESTS_PAGE_REFERENCE_H

#include "dataset_builder.h"

void reference_stream(const struct builder *builder, uint32_t field, enum nt_stream_kind kind,
                      struct nt_buffer *out);
/* Rows of a field in all clusters. */
uint64_t reference_rows(const struct builder *builder, uint32_t field);
/* Clusters in entry order. */
void reference_order(const struct builder *builder, uint32_t *order);

#endif
