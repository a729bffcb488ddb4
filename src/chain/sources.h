/* SPDX-License-Identifier: MIT
 *
 * What a chain is read from.
 */
#ifndef NT_CHAIN_SOURCES_H
#define NT_CHAIN_SOURCES_H

#include "chain/opened.h"

/* A source of no bytes that stands for the chain: it has the attributes of a file, and finds out when that changes. */
enum nt_status nt_chain_source_new(const char *path, struct nt_source *first, struct nt_source **source_ret,
                                   struct nt_error *error);

/* Number the sources of the chain's first `count` files: those of its layout. */
enum nt_status nt_chain_number_sources(struct nt_file *file, uint32_t count, struct nt_error *error);

/* Give a data set those of its shares, at the same numbers. */
enum nt_status nt_chain_add_sources(struct nt_dataset *dataset, struct nt_error *error);

#endif
