/* SPDX-License-Identifier: MIT
 *
 * Many files as one: data sets of one path and schema in all files become one data set at that path, whose clusters are those of all
 * files, one after the other.
 */
#ifndef NT_CHAIN_CHAIN_H
#define NT_CHAIN_CHAIN_H

#include <ntuple/format.h>

#include "chain/list.h"
#include "chain/options.h"
#include "core/model/model.h"

/* Open the files of a list as one, which is called by the list's name; the list outlives it. Fails where a file cannot be
 * opened, or has no such data set: then it is not known how many entries there are. */
enum nt_status nt_chain_open(const struct nt_chain_list *list, const struct nt_chain_options *chain_options,
                             const struct nt_open_options *options, struct nt_file **file_ret,
                             struct nt_error *error);

#endif
