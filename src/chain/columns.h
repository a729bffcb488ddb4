/* SPDX-License-Identifier: MIT
 *
 * Fields and columns of a data set of a chain.
 */
#ifndef NT_CHAIN_COLUMNS_H
#define NT_CHAIN_COLUMNS_H

#include "chain/opened.h"

/* Give a data set its fields, and for each way in which a share's file stores one of them a representation:
 * that of another file where its columns are of the same types, else one more. Sets the shares' `columns` and
 * `deferred`; their `fields` are known. */
enum nt_status nt_chain_build_columns(struct nt_dataset *dataset, struct nt_error *error);

/* The share of a column: that of the first file that stores the field so, and the column's number there. */
const struct nt_chain_share *nt_chain_column_share(const struct nt_dataset *dataset, uint32_t column,
                                                   uint32_t *column_ret);

#endif
