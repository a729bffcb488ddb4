/* SPDX-License-Identifier: MIT
 *
 * The fields of files that do not have the same ones.
 */
#ifndef NT_CHAIN_UNITED_H
#define NT_CHAIN_UNITED_H

#include "chain/opened.h"

/* Give a chain's data set the fields of all its shares, each path once, in the order in which they come first, and set the shares'
 * `fields`: NT_NONE of what a file does not have. Numbers of several types are of one that holds them all. A field that cannot be
 * one is unreadable, with what is below it and what shows its columns, and says why; each of its columns is a representation alone. */
enum nt_status nt_chain_unite_fields(struct nt_dataset *dataset, struct nt_error *error);

#endif
