/* SPDX-License-Identifier: MIT
 *
 * ntuple head: the first rows of data sets and fields.
 */
#include <limits.h>

#include "cli/rows.h"

enum { ROWS = 10 };

static enum nt_exit_status head(void *context, struct nt_vfs *vfs, const char *path, uint64_t node)
{
    const struct nt_settings *settings = context;
    const struct nt_row_range range = {.end = settings->rows ? settings->rows : ROWS};
    return nt_print_rows(vfs, path, node, &range);
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    return nt_for_each_path(invocation, head, (void *)invocation->settings);
}

static const struct nt_option options[] = {
    {.letter = 'n',
     .name = "rows",
     .kind = NT_OPTION_NUMBER,
     .member = offsetof(struct nt_settings, rows),
     .argument = "N",
     .help = "how many; without it 10"},
    {0},
};

const struct nt_command nt_command_head = {
    .name = "head",
    .operands = "FILE [PATH...]",
    .help = "the first rows of a data set or field, as JSON lines",
    .fewest = 1,
    .most = INT_MAX,
    .options = options,
    .run = run,
};
