/* SPDX-License-Identifier: MIT
 *
 * In: what verification finds of a file. Out: a line for each finding and one for the file, for people or as JSON; on a terminal how far
 * it is, meanwhile.
 */
#include "cli/verify_output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "core/model/path.h"
#include "render/json_values.h"

/* The kinds in the order in which they decide how the program ends; warnings do not. */
static const struct {
    enum nt_finding_kind kind;
    enum nt_exit_status exit;
} verdicts[] = {
    {NT_FINDING_DAMAGED, NT_EXIT_DAMAGED},
    {NT_FINDING_UNREADABLE, NT_EXIT_NOT_FOUND},
    {NT_FINDING_UNSUPPORTED, NT_EXIT_UNSUPPORTED},
    {NT_FINDING_UNREAD, NT_EXIT_UNREAD},
};
enum { VERDICTS = sizeof(verdicts) / sizeof(*verdicts) };

void nt_verify_on_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct nt_verifier *verifier = context;
    verifier->progress->total = total;
    nt_progress_reach(verifier->progress, bytes);
}

/* ---- findings ---- */

static void put_place(struct nt_json *json, const struct nt_file *file, const struct nt_finding *finding)
{
    if (finding->dataset == NT_NONE)
        return;
    const struct nt_dataset *dataset = file->datasets[finding->dataset];
    nt_json_member_dataset(json, dataset);
    if (dataset->cycle)
        nt_json_member_unsigned(json, "cycle", dataset->cycle);
    if (finding->cluster_group != NT_NONE)
        nt_json_member_unsigned(json, "cluster_group", finding->cluster_group);
    if (finding->field != NT_NONE)
        nt_json_member_field_path(json, "field", dataset, finding->field);
    if (finding->column != NT_NONE)
        nt_json_member_unsigned(json, "column", dataset->columns[finding->column].id);
    if (finding->cluster != NT_NONE)
        nt_json_member_unsigned(json, "cluster", finding->cluster);
    if (finding->page != UINT64_MAX)
        nt_json_member_unsigned(json, "page", finding->page);
}

static void print_line(struct nt_verifier *verifier, struct nt_buffer *line)
{
    nt_note_failure(&verifier->output, nt_print_buffer(line, verifier->path));
    nt_buffer_deinit(line);
}

static void print_finding_as_json(struct nt_verifier *verifier, const struct nt_finding *finding)
{
    struct nt_buffer line = {0};
    struct nt_json json;
    nt_json_line(&json, &line);
    nt_json_member_text(&json, "file", nt_text_of(verifier->path));
    nt_json_member_string(&json, "finding", nt_finding_name(finding->kind));
    put_place(&json, verifier->file, finding);
    nt_json_failure_members(&json, &finding->error);
    nt_json_member_unsigned(&json, "count", finding->count);
    nt_json_finish(&json);
    print_line(verifier, &line);
}

/* Ends the path. */
static void append_part(struct nt_buffer *line, const char *kind, struct nt_buffer *path)
{
    nt_buffer_text(line, kind);
    nt_append_printable(line, nt_buffer_string(path), path->length);
    nt_buffer_text(line, ": ");
    nt_buffer_deinit_part(path, line);
}

/* The message of a page's error names its field; other messages do not. */
static void append_place(struct nt_buffer *line, const struct nt_file *file, const struct nt_finding *finding)
{
    if (finding->dataset == NT_NONE)
        return;
    const struct nt_dataset *dataset = file->datasets[finding->dataset];
    struct nt_buffer path = {0};
    nt_append_dataset_path(&path, dataset);
    append_part(line, "", &path);
    if (finding->field != NT_NONE && finding->page == UINT64_MAX) {
        nt_append_field_path(&path, dataset, finding->field, '.');
        append_part(line, "field ", &path);
    }
}

static void print_finding(struct nt_verifier *verifier, const struct nt_finding *finding)
{
    struct nt_buffer line = {0};
    nt_append_printable(&line, verifier->path, strlen(verifier->path));
    nt_buffer_format(&line, ": %s: ", nt_finding_name(finding->kind));
    append_place(&line, verifier->file, finding);
    nt_append_printable(&line, finding->error.message, strlen(finding->error.message));
    if (finding->page != UINT64_MAX)
        nt_buffer_format(&line, " [page %" PRIu64 " of the column]", finding->page);
    if (finding->count > 1)
        nt_buffer_format(&line, ", and %" PRIu64 " more pages", finding->count - 1);
    nt_buffer_byte(&line, '\n');
    print_line(verifier, &line);
}

void nt_verify_on_finding(void *context, const struct nt_finding *finding)
{
    struct nt_verifier *verifier = context;
    if (verifier->settings->quiet)
        return;
    nt_progress_clear(verifier->progress);
    if (verifier->settings->json)
        print_finding_as_json(verifier, finding);
    else
        print_finding(verifier, finding);
}

/* ---- a file ---- */

static const char *verdict(const struct nt_verify_summary *summary)
{
    for (size_t i = 0; i < VERDICTS; i++)
        if (summary->findings[verdicts[i].kind])
            return nt_finding_name(verdicts[i].kind);
    return "ok";
}

static void print_summary_as_json(struct nt_verifier *verifier, const struct nt_verify_summary *summary)
{
    struct nt_buffer line = {0};
    struct nt_json json;
    nt_json_line(&json, &line);
    nt_json_member_text(&json, "file", nt_text_of(verifier->path));
    nt_json_member_string(&json, "result", verdict(summary));
    nt_json_member_unsigned(&json, "datasets", verifier->file->dataset_count);
    nt_json_member_unsigned(&json, "columns", summary->columns);
    nt_json_member_unsigned(&json, "pages", summary->pages);
    nt_json_member_unsigned(&json, "unchecked", summary->unchecked);
    nt_json_member_unsigned(&json, "stored_bytes", summary->stored_bytes);
    for (int kind = 0; kind < NT_FINDING_KINDS; kind++)
        nt_json_member_unsigned(&json, nt_finding_name((enum nt_finding_kind)kind), summary->findings[kind]);
    nt_json_finish(&json);
    print_line(verifier, &line);
}

static void print_summary(struct nt_verifier *verifier, const struct nt_verify_summary *summary)
{
    struct nt_buffer line = {0};
    nt_append_printable(&line, verifier->path, strlen(verifier->path));
    nt_buffer_format(&line, ": %" PRIu64 " pages, ", summary->pages);
    if (summary->unchecked)
        nt_buffer_format(&line, "%" PRIu64 " of them without a checksum, ", summary->unchecked);
    nt_buffer_format(&line, "%" PRIu64 " bytes: ", summary->stored_bytes);
    const char *separator = "";
    if (strcmp(verdict(summary), "ok") == 0) {
        nt_buffer_text(&line, "ok");
        separator = ", ";
    }
    for (int kind = 0; kind < NT_FINDING_KINDS; kind++) {
        if (!summary->findings[kind])
            continue;
        nt_buffer_format(&line, "%s%" PRIu64 " %s", separator, summary->findings[kind],
                         nt_finding_name((enum nt_finding_kind)kind));
        separator = ", ";
    }
    nt_buffer_byte(&line, '\n');
    print_line(verifier, &line);
}

enum nt_exit_status nt_verify_conclude(struct nt_verifier *verifier, const struct nt_verify_summary *summary)
{
    if (!verifier->settings->quiet && verifier->settings->json)
        print_summary_as_json(verifier, summary);
    else if (!verifier->settings->quiet)
        print_summary(verifier, summary);
    for (size_t i = 0; i < VERDICTS; i++)
        if (summary->findings[verdicts[i].kind])
            return verdicts[i].exit;
    return verifier->output;
}

/* What is said of a file that does not open. */
static const char *result_of(enum nt_status status)
{
    enum nt_exit_status result = nt_exit_status(status);
    for (size_t i = 0; i < VERDICTS; i++)
        if (verdicts[i].exit == result)
            return nt_finding_name(verdicts[i].kind);
    return result == NT_EXIT_UNKNOWN_FORMAT ? "unknown format" : "failed";
}

/* A file that does not open is all of one finding. */
enum nt_exit_status nt_verify_conclude_unopened(const struct nt_settings *settings, const char *path,
                                                const struct nt_error *error)
{
    if (settings->json && !settings->quiet) {
        struct nt_buffer line = {0};
        struct nt_json json;
        nt_json_line(&json, &line);
        nt_json_member_text(&json, "file", nt_text_of(path));
        nt_json_member_string(&json, "result", result_of(error->status));
        nt_json_failure_members(&json, error);
        nt_json_finish(&json);
        nt_print_buffer(&line, path);
        nt_buffer_deinit(&line);
    }
    return nt_complain(path, error);
}
