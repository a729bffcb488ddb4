/* SPDX-License-Identifier: MIT
 *
 * Clusters of a data set of a chain: those of its files.
 */
#ifndef NT_CHAIN_GROUPS_H
#define NT_CHAIN_GROUPS_H

#include "chain/opened.h"

/* Give a data set whose columns are known a cluster group for each of its files', one behind the other. Nothing is read of
 * them; of a share that has failed there is a group that cannot be loaded. */
enum nt_status nt_chain_build_groups(struct nt_dataset *dataset, struct nt_error *error);

/* nt_dataset_ops.load_group: pages and ranges of a file's group, as the chain numbers columns, decoders and sources. */
enum nt_status nt_chain_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

/* Tell the file's hook of a share that has failed, as reading rows of it would. */
void nt_chain_tell_failure(struct nt_dataset *dataset, const struct nt_chain_share *share);

/* The share whose sources a source of the data set is one of. */
const struct nt_chain_share *nt_chain_source_share(const struct nt_dataset *dataset, uint32_t source);

/* The share that a part of the entries is of, where fields have groups of their own. */
const struct nt_chain_share *nt_chain_part_share(const struct nt_dataset *dataset, uint32_t part);

/* The file's own page that a page of a share is. NULL: it is none of a loaded group. */
const struct nt_page *nt_chain_own_page(const struct nt_dataset *dataset, const struct nt_chain_share *share,
                                        uint32_t column, const struct nt_page *page);

#endif
