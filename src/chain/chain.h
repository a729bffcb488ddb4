/* SPDX-License-Identifier: MIT
 *
 * Many files as one: data sets of one path and schema in all files become one data set at that path, whose clusters are those of all
 * files, one after the other.
 */
#ifndef NT_CHAIN_CHAIN_H
#define NT_CHAIN_CHAIN_H

#include <ntuple/format.h>

#include "chain/list.h"
#include "model/model.h"

/* What becomes of files whose fields are not those of the first one. */
enum nt_chain_rule {
    NT_CHAIN_FAIL,  /* they are refused when something of them is wanted */
    NT_CHAIN_CHECK, /* at once */
    NT_CHAIN_UNION, /* the chain has the fields of all files */
};

/* How a chain is made of its files. */
struct nt_chain_options {
    enum nt_chain_rule rule;
    bool skips_failed; /* files that cannot be opened are left out */
};

/* Open all files of a list as one, which is called by the list's name. Fails where a file cannot be opened, or has no such
 * data set: then it is not known how many entries there are. */
enum nt_status nt_chain_open(const struct nt_chain_list *list, const struct nt_chain_options *chain_options,
                             const struct nt_open_options *options, struct nt_file **file_ret,
                             struct nt_error *error);

#endif
