/* SPDX-License-Identifier: MIT
 *
 * Which data sets of a chain's files belong together.
 */
#ifndef NT_CHAIN_OWN_H
#define NT_CHAIN_OWN_H

#include "chain/opened.h"

/* What an open part has at the path of a data set of the first one, or where a specification says. NT_CORRUPT where it has none, or is of
 * another format; the data set's own failure. */
enum nt_status nt_chain_find_own(const struct nt_dataset *first, const struct nt_chain_part *part,
                                 struct nt_dataset **dataset_ret, struct nt_error *error);

#endif
