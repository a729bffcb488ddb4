/* SPDX-License-Identifier: MIT
 *
 * What an index of files tells of a chain, and what a chain tells an index.
 */
#ifndef NT_CHAIN_KNOWN_H
#define NT_CHAIN_KNOWN_H

#include "chain/index.h"
#include "chain/opened.h"

/* Find out which parts are as the index of the options knows them. */
void nt_chain_recognize(struct nt_chain *chain);

/* That a part which was just opened is still so: NT_CHANGED. */
enum nt_status nt_chain_part_check(const struct nt_chain_part *part, struct nt_error *error);

/* What is known of a part's data set that is at the path of this one. NULL: nothing. */
const struct nt_known_dataset *nt_chain_known_dataset(const struct nt_chain_part *part,
                                                      const struct nt_dataset *dataset);

/* Give the data sets of an outline the entries of all parts, where these are known, or open. */
void nt_chain_tell_entries(struct nt_file *outline);

/* Tell the hook of the options what is to be known of a chain's files from now on, where it was not known. Those that are not open are
 * known as before. */
void nt_chain_keep_index(const struct nt_file *file);

#endif
