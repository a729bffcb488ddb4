/* SPDX-License-Identifier: MIT
 *
 * The command head: prints the first rows of datasets and fields, and the row printing that cat shares.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <limits.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/model/model.h"
#include "read/read.h"
#include "render/render.h"
#include "vfs/vfs.h"

/* ---- Print rows ---- */

/* A single row must exist; a range is clamped to the existing rows. */
static enum nt_status check_row(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                const struct nt_row_range *range, struct nt_error *error)
{
    uint64_t rows = nt_dataset_entries(dataset);
    enum nt_status status = NT_OK;
    if (!range->is_row)
        return NT_OK;
    if (field != NT_NONE)
        status = nt_field_rows(reader, dataset, field, &rows, error);
    if (status == NT_OK && range->first >= rows)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET,
                       "row %" PRIu64 " does not exist: there are %" PRIu64 " rows, counted from 0",
                       range->first, rows);
    return status;
}

static enum nt_exit_status print_dataset(void *context, const struct nt_resolved_node *resolved,
                                         uint32_t index, uint32_t field)
{
    const struct nt_row_range *range = context;
    struct nt_dataset *dataset = resolved->file->datasets[index];
    struct nt_error error = {0};
    struct nt_text_generator *lines = NULL;
    if (dataset->failure)
        return nt_print_error(dataset->name.bytes, dataset->failure);
    if (check_row(resolved->vfs->reader, dataset, field, range, &error) != NT_OK ||
        nt_rows_lines(resolved->vfs->reader, dataset, field, range->first, range->end, &lines, &error) !=
            NT_OK)
        return nt_print_error(dataset->name.bytes, &error);
    return nt_print_long_text(lines, dataset->name.bytes);
}

enum { MAX_NAMES = 10, NAME_BYTES = 200 };

struct datasets {
    unsigned count;
    unsigned beside_others; /* of these */
    uint32_t meant, field;  /* the last one that is not beside others, else the last one */
    struct nt_buffer names; /* the names of the first datasets, separated by commas */
};

static enum nt_exit_status note_dataset(void *context, const struct nt_resolved_node *resolved,
                                        uint32_t index, uint32_t field)
{
    struct datasets *datasets = context;
    const struct nt_dataset *dataset = resolved->file->datasets[index];
    char name[NAME_BYTES];
    if (!dataset->is_beside_others || datasets->beside_others == datasets->count) {
        datasets->meant = index;
        datasets->field = field;
    }
    datasets->beside_others += dataset->is_beside_others;
    if (datasets->count++ >= MAX_NAMES)
        return NT_EXIT_OK;
    size_t length = nt_dataset_path(dataset, name, sizeof(name));
    nt_buffer_format(&datasets->names, "%s%s%s", datasets->count > 1 ? ", " : "", name,
                     length < sizeof(name) ? "" : "\u2026");
    return NT_EXIT_OK;
}

static enum nt_exit_status print_file(void *context, const struct nt_resolved_node *resolved, bool is_of_many)
{
    struct nt_error error = {0};
    struct datasets datasets = {0};
    (void)is_of_many;
    nt_for_each_dataset(resolved, note_dataset, &datasets);
    if (datasets.count == 1 || datasets.count - datasets.beside_others == 1) {
        nt_buffer_deinit(&datasets.names);
        return print_dataset(context, resolved, datasets.meant, datasets.field);
    }
    if (datasets.count == 0)
        nt_fail(&error, NT_INVALID, NT_NO_OFFSET, "no dataset here");
    else
        nt_fail(&error, NT_INVALID, NT_NO_OFFSET, "%u datasets here; name one: %s%s", datasets.count,
                nt_buffer_string(&datasets.names), datasets.count > MAX_NAMES ? ", \u2026" : "");
    nt_buffer_deinit(&datasets.names);
    return nt_print_error(resolved->file->path, &error);
}

enum nt_exit_status nt_print_rows(struct nt_vfs *vfs, const char *path, uint64_t node,
                                  const struct nt_row_range *range)
{
    return nt_for_each_file(vfs, path, node, print_file, (void *)range);
}

/* ---- The command head ---- */

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
     .help = "print N rows (default: 10)"},
    {0},
};

const struct nt_command nt_command_head = {
    .name = "head",
    .operands = "FILE [PATH...]",
    .help = "print the first rows of a dataset or field as JSON lines",
    .fewest = 1,
    .most = INT_MAX,
    .options = options,
    .run = run,
};
