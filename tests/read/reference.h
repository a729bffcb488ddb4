/* SPDX-License-Identifier: MIT
 *
 * A reference implementation of the logical files of a dataset, without optimizations. It processes
 * clusters in entry order, computes row numbers from the data above, and uses no page lists.
 */
#pragma once

#include "dataset_builder.h"

void reference_stream(const struct builder *builder, uint32_t field, enum nt_stream_kind kind,
                      struct nt_buffer *out);
/* Counts the rows of a field in all clusters. */
uint64_t reference_rows(const struct builder *builder, uint32_t field);
/* Returns the clusters in entry order. */
void reference_order(const struct builder *builder, uint32_t *order);
