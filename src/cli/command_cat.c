/* SPDX-License-Identifier: MIT
 *
 * ntuple cat: files of the tree to standard output, or rows of data sets and fields; in bounded memory.
 */
#include <limits.h>
#include <unistd.h>

#include "cli/rows.h"

static enum nt_exit_status cat(void *context, struct nt_vfs *vfs, const char *path, uint64_t node)
{
    (void)context;
    return nt_copy_content(vfs, node, path, STDOUT_FILENO, "standard output");
}

static enum nt_exit_status cat_rows(void *context, struct nt_vfs *vfs, const char *path, uint64_t node)
{
    return nt_print_rows(vfs, path, node, context);
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    const char *text = invocation->settings->row_range;
    struct nt_row_range range;
    if (!text)
        return nt_for_each_path(invocation, cat, NULL);
    if (nt_row_range_parse(text, &range))
        return nt_for_each_path(invocation, cat_rows, &range);
    struct nt_error error = {0};
    nt_fail(&error, NT_INVALID, NT_NO_OFFSET,
            "no range of rows: expected FIRST:END, FIRST:, :END or ROW, counted from 0");
    return nt_complain(text, &error);
}

static const struct nt_option options[] = {
    {.name = "rows",
     .kind = NT_OPTION_TEXT,
     .member = offsetof(struct nt_settings, row_range),
     .argument = "FIRST:END",
     .help = "these rows of a data set or field, as JSON lines; END is not one of them"},
    {0},
};

const struct nt_command nt_command_cat = {
    .name = "cat",
    .operands = "FILE PATH...",
    .help = "write the content of files of the tree to standard output",
    .fewest = 2,
    .most = INT_MAX,
    .options = options,
    .shows_broken = true,
    .run = run,
};
