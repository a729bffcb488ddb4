/* SPDX-License-Identifier: MIT
 *
 * Which files a chain is made of.
 */
#ifndef NT_CHAIN_LIST_H
#define NT_CHAIN_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/base/arena.h"
#include "core/base/error.h"
#include "chain/remote_pattern.h"
#include "chain/specification.h"

struct nt_chain_file {
    const char *path;                     /* absolute; of a file on a server how that is shown */
    const char *address;                  /* that it is asked for by; NULL: it is here */
    const char *named;                    /* of an address: where it is named; NULL: it is an operand */
    const struct nt_chain_sample *sample; /* NULL: no specification names it */
    struct stat
        identity; /* of the file or folder, when the list was made; zeros: there was none, or none was told */
    /* Of a file that its server has listed: it is opened as it was then. NULL: it was not. */
    struct nt_folder *folder;
    const char *name; /* there */
};

struct nt_chain_list {
    const char *name;            /* absolute: the first operand, which stands for all of them */
    struct nt_chain_file *files; /* in the order given */
    uint32_t count;              /* one at least */
    const char **folders;        /* that they lie in, or are, each at least once */
    uint32_t folder_count;
    const char *address; /* one of a file, or a pattern; NULL: all files are here */
    struct nt_listed_folders listed;
    struct nt_arena *arena;
};

/* The files that operands name: files, data sets that are folders, patterns with * ? [] and ** (any folders between), and
 * text files below whose folder others are named: with a line for each of these, '#' begins one that says nothing; or RDataFrame's
 * specifications, in JSON; and addresses wherever a file may be named. What a pattern matches stands in the order of its bytes. NT_NOT_FOUND where nothing matches, NT_INVALID
 * where a data set of a file is named twice or a list in a list. `keeps_missing`: what a list names may be not there. Reads names, and what
 * may be a list. Of addresses nothing is looked at, they stand as they are: see nt_chain_list_ask. */
enum nt_status nt_chain_list_new(const char *const *operands, size_t count, bool keeps_missing,
                                 struct nt_chain_list **list_ret, struct nt_error *error);
/* Put what they match in the place of patterns that are addresses; before, the list cannot be opened. Asks servers, where it has any: NT_NOT_FOUND
 * where nothing matches, NT_INVALID where a data set of an address is named twice; else as nt_folder_open_address. */
enum nt_status nt_chain_list_ask(struct nt_chain_list *list, struct nt_fetcher *fetcher,
                                 struct nt_error *error);
void nt_chain_list_free(struct nt_chain_list *list); /* accepts NULL */

#endif
