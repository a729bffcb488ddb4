/* SPDX-License-Identifier: MIT
 *
 * Opening the files of a chain.
 */
#ifndef NT_CHAIN_PARTS_H
#define NT_CHAIN_PARTS_H

#include "chain/opened.h"

/* What the sources of a chain's files share: a bounded number of descriptors. NULL without memory. */
struct nt_source_pool *nt_chain_pool_new(void);

/* Open those of the first `count` parts that are not open, several at once, and remember of each why it could not be
 * opened. Fails where the machine does for the moment; then it can be tried again. */
enum nt_status nt_chain_parts_open(struct nt_chain *chain, uint32_t count, struct nt_error *error);

/* The same of those that an index does not know, where it knows as many others. Whether all are known or open then; what
 * fails is found out again when it is wanted. */
bool nt_chain_parts_open_unknown(struct nt_chain *chain);

#endif
