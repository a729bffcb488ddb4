/* SPDX-License-Identifier: MIT
 *
 * How files are shown as one.
 */
#ifndef NT_CHAIN_OPTIONS_H
#define NT_CHAIN_OPTIONS_H

#include <stdbool.h>

struct nt_buffer;
struct nt_chain_index;

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
    bool
        is_lazy; /* the first file is opened at once, the others by nt_file_complete; with NT_CHAIN_FAIL alone */
    /* What is known of the files, so that a lazy chain knows its entries; outlives the chain. NULL: nothing. */
    const struct nt_chain_index *index;
    /* Given the text of an index where that would be another one, when all files are open. May be NULL. */
    void (*keep_index)(void *context, const struct nt_buffer *text);
    void *context;
};

#endif
