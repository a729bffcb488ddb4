/* SPDX-License-Identifier: MIT
 *
 * What the last word of a command line could be, for the completion of shells. It comes from the tables by which the
 * programs read their arguments, and from the source that the line names.
 */
#ifndef NT_CLI_COMPLETE_H
#define NT_CLI_COMPLETE_H

#include <stdio.h>

#include "cli/command.h"

/* What ntuple itself knows. */
struct nt_complete_tables {
    const struct nt_command *const *commands;
    size_t command_count;
    const struct nt_option *common_options;
};

/* Print a line for each word, "<word>\t<what it is>", which begins with the last of `words`; their first one is the
 * program. One that ends with "/" or "=" can go on. Lines without a word say what else there is: "\tfiles", names of
 * the system's files could stand there, too; "\tpaths", the words behind are paths. Prints nothing where the line is
 * wrong or its source does not open. */
void nt_complete(FILE *out, const struct nt_complete_tables *tables, char **words, int word_count,
                 struct nt_arena *arena);

#endif
