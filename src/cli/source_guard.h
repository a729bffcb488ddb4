/* SPDX-License-Identifier: MIT
 *
 * What a command copies must not be lost by that.
 */
#ifndef NT_CLI_SOURCE_GUARD_H
#define NT_CLI_SOURCE_GUARD_H

#include "cli/command.h"

struct nt_source_guard {
    const struct nt_settings *settings;
    struct nt_vfs *vfs;
    const char *source;                /* as it was named */
    char *resolved_source;             /* as realpath(3) has it; NULL: a chain, or nothing here */
    const struct nt_chain_list *chain; /* that it stands for; NULL: none */
    char **folders;                    /* that nothing may be written into, as realpath(3) has them */
    size_t folder_count;
};

/* For a copy of a node of a source's tree. Nothing is written into folders that are copied, or are data sets of which
 * something is. To be deinited on failure, too. */
enum nt_status nt_source_guard_init(struct nt_source_guard *guard, const struct nt_invocation *invocation,
                                    struct nt_vfs *vfs, uint64_t node, struct nt_error *error);
void nt_source_guard_deinit(struct nt_source_guard *guard);

/* Before a path is written to, or into: NT_INVALID where it is or lies within such a folder, or is a file that is read,
 * whatever it is called there. Of the files that a folder mirrors those are known that lie in it; of a data set those in
 * its folder. */
enum nt_status nt_source_guard_check(const struct nt_source_guard *guard, const char *path,
                                     struct nt_error *error);

#endif
