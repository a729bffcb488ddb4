/* SPDX-License-Identifier: MIT
 *
 * What a chain tells of its files, in the order of the list that it is made of.
 */
#ifndef NT_CHAIN_FILES_H
#define NT_CHAIN_FILES_H

#include "core/json/json.h"
#include "core/model/model.h"

/* How many the list has, those that are left out among them. */
uint32_t nt_chain_file_count(const struct nt_file *chain);
/* Members of a line: which file it is, what its specification tells of it, and what of a chain's data set lies in it, or why nothing does. */
void nt_chain_write_file(const struct nt_dataset *dataset, uint32_t number, struct nt_json *json);

#endif
