/* SPDX-License-Identifier: MIT
 *
 * The command schema: prints the fields of datasets with types and descriptions, as text or JSON.
 */
#include "cli/cli.h"

static void begin(struct nt_report *report, const struct nt_file *file, bool is_in_directory_of_files)
{
    if (report->json || !is_in_directory_of_files)
        return;
    if (report->has_printed)
        putchar('\n');
    nt_print_name(file->path);
    putchar('\n');
    report->has_printed = false;
}

static enum nt_status show(struct nt_report *report, struct nt_reader *reader, struct nt_dataset *dataset,
                           struct nt_error *error)
{
    struct nt_json *json = report->json;
    struct nt_text_generator *lines = NULL;
    uint32_t count = report->target->count;
    const uint32_t *fields = count ? report->target->fields : NULL;
    if (json) {
        nt_json_member_text(json, "description", dataset->description);
        nt_json_member_unsigned(json, "entries", nt_dataset_entries(dataset));
        return nt_json_member_fields(reader, dataset, fields, count, json, error);
    }
    NT_TRY(nt_schema_lines(reader, dataset, fields, count, &lines, error));
    if (report->has_printed)
        putchar('\n');
    report->has_printed = true;
    report->failure = nt_print_long_text(lines, dataset->name.bytes);
    return NT_OK;
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    return nt_report_run(
        &(struct nt_report){.document = "schema", .begin = begin, .show = show, .separates_files = true},
        invocation);
}

static const struct nt_option options[] = {
    NT_OPTION(0, "json", FLAG, json, .help = "print a JSON document for each file, with every field"),
    {0},
};

const struct nt_command nt_command_schema = {
    .name = "schema",
    .operands = "FILE [PATH...]",
    .help = "print the fields with their types, items and descriptions",
    .fewest = 1,
    .options = options,
    .run = run,
};
