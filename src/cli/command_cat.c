/* SPDX-License-Identifier: MIT
 *
 * The command cat: writes files of the tree, or rows of datasets and fields as JSON Lines, to standard
 * output in bounded memory.
 */
#include "cli/cli.h"

#include <unistd.h>

static enum nt_exit_status cat(void *context, struct nt_vfs *vfs, const struct nt_target *target)
{
    struct nt_progress *progress = context;
    struct nt_vfs_attributes attributes;
    struct nt_error error = {0};
    NT_AUTO_FREE char *buffer = NULL;
    if (nt_fail_field_contents(vfs, target->node, &error))
        return nt_print_error(target->path, &error);
    bool is_known =
        progress->is_requested && nt_vfs_stat(vfs, target->node, true, &attributes, NULL) == NT_OK;
    nt_progress_begin(progress, is_known ? (uint64_t)attributes.stat.st_size : 0);
    progress->is_text = is_known && attributes.class == NT_VFS_STREAMED;
    enum nt_exit_status status =
        nt_copy_content(vfs, target->node, target->path, STDOUT_FILENO, "standard output", &buffer, progress);
    nt_progress_clear(progress);
    return status;
}

/* The program that reads a pipe may itself write to the terminal. */
static bool is_output_a_file(void)
{
    struct stat attributes;
    return fstat(STDOUT_FILENO, &attributes) == 0 && S_ISREG(attributes.st_mode);
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    const char *text = invocation->settings->row_range;
    struct nt_row_range range = {0};
    struct nt_progress progress;
    if (text) {
        nt_row_range_parse(text, &range); /* valid: the option parser has checked it */
        return nt_for_each_target(invocation, false, nt_print_rows, &range);
    }
    nt_progress_start(&progress, !invocation->settings->quiet && is_output_a_file());
    return nt_for_each_target(invocation, false, cat, &progress);
}

static const struct nt_option options[] = {
    NT_OPTION(0, "rows", TEXT, row_range, .argument = "FIRST:END", .is_value = nt_is_row_range,
              .expected = "FIRST:END, FIRST:, :END or ROW, counted from 0, with END at least FIRST",
              .help = "write rows FIRST to END-1 of a dataset or field as JSON lines"),
    NT_PROGRESS_QUIET_OPTION,
    {0},
};

const struct nt_command nt_command_cat = {
    .name = "cat",
    .operands = "FILE PATH...",
    .help = "write files of the tree to standard output",
    .fewest = 2,
    .options = options,
    .shows_broken = true,
    .reads_columns = true,
    .run = run,
};
