/* SPDX-License-Identifier: MIT
 *
 * Random datasets (per seed) with every kind of field, nested and mixed, and plain datasets.
 */
#pragma once

#include "dataset_builder.h"

/* Returns an unfinished builder with schema, clusters and elements. Has `clusters` of up to 9 entries
 * each, out of entry order, some empty, in several groups; deferred fields; two representations. */
struct builder *random_dataset(unsigned seed, uint32_t clusters);

/* One field of 32-bit integers, SplitInt32: `entries` in one cluster, in pages of `page_elements`. */
struct builder *plain_dataset(uint64_t entries, uint32_t page_elements);

/* The integers 0 to 99 in one page (finished), and the first page of the first column. */
struct builder *one_page(enum nt_checksum_kind checksum, enum nt_checksum_covers covers, bool compress);
const struct nt_page *first_page(struct builder *builder);
