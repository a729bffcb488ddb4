/* SPDX-License-Identifier: MIT
 *
 * Opening the files of a chain.
 */
#ifndef NT_CHAIN_PARTS_H
#define NT_CHAIN_PARTS_H

#include <ntuple/format.h>

#include "chain/opened.h"

/* Open the files at these paths, several at once, and remember of each why it could not be opened. Files share a
 * bounded number of descriptors. Fails where the machine does; then, too, nt_chain_parts_close is to be called. */
enum nt_status nt_chain_parts_open(struct nt_chain_part *parts, uint32_t count,
                                   const struct nt_open_options *options, struct nt_error *error);
void nt_chain_parts_close(struct nt_chain_part *parts, uint32_t count);

#endif
