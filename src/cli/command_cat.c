/* SPDX-License-Identifier: MIT
 *
 * ntuple cat: files of the tree to standard output, in bounded memory.
 */
#include <limits.h>
#include <unistd.h>

#include "cli/command.h"

static enum nt_exit_status cat(void *context, struct nt_vfs *vfs, const char *path, uint64_t node)
{
    (void)context;
    return nt_copy_content(vfs, node, path, STDOUT_FILENO, "standard output");
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    return nt_for_each_path(invocation, cat, NULL);
}

const struct nt_command nt_command_cat = {
    .name = "cat",
    .operands = "FILE PATH...",
    .help = "write the content of files of the tree to standard output",
    .fewest = 2,
    .most = INT_MAX,
    .shows_broken = true,
    .run = run,
};
