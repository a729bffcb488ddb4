/* SPDX-License-Identifier: MIT
 *
 * ntuple verify: whether files are as they were written. A line for each finding and one for each file, for
 * people or as JSON; on a terminal how far it is, meanwhile.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <ntuple/ntuple.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/progress.h"
#include "format/format.h"
#include "io/remote.h"
#include "json/json.h"
#include "model/model.h"
#include "model/path.h"
#include "vfs/disk.h"
#include "view/verify.h"
#include "view/json_values.h"

struct verifier {
    const struct nt_settings *settings;
    const char *path;
    const struct nt_file *file;
    struct nt_progress *progress;
};

/* The kinds in the order in which they decide how the program ends; warnings do not. */
static const struct {
    enum nt_finding_kind kind;
    enum nt_exit_status exit;
} verdicts[] = {
    {NT_FINDING_DAMAGED, NT_EXIT_DAMAGED},
    {NT_FINDING_UNREADABLE, NT_EXIT_NOT_FOUND},
    {NT_FINDING_UNSUPPORTED, NT_EXIT_UNSUPPORTED},
};
enum { VERDICTS = sizeof(verdicts) / sizeof(*verdicts) };

static void on_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct verifier *verifier = context;
    verifier->progress->total = total;
    nt_progress_reach(verifier->progress, bytes);
}

/* ---- findings ---- */

static void put_place(struct nt_json *json, const struct nt_file *file, const struct nt_finding *finding)
{
    if (finding->dataset == NT_NONE)
        return;
    const struct nt_dataset *dataset = file->datasets[finding->dataset];
    nt_json_member_text(json, "dataset", dataset->name);
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

static void print_buffer(struct nt_buffer *text)
{
    if (!text->failed)
        fwrite(text->bytes, 1, text->length, stdout);
    nt_buffer_deinit(text);
}

static void print_finding_as_json(const struct verifier *verifier, const struct nt_finding *finding)
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
    print_buffer(&line);
}

/* The message of a page's error names its field; other messages do not. */
static void append_place(struct nt_buffer *line, const struct nt_file *file, const struct nt_finding *finding)
{
    if (finding->dataset == NT_NONE)
        return;
    const struct nt_dataset *dataset = file->datasets[finding->dataset];
    nt_append_printable(line, dataset->name.bytes, dataset->name.length);
    if (!dataset->is_newest_cycle && dataset->cycle)
        nt_buffer_format(line, ";%" PRIu32, dataset->cycle);
    nt_buffer_text(line, ": ");
    if (finding->field != NT_NONE && finding->page == UINT64_MAX) {
        struct nt_buffer path = {0};
        nt_append_field_path(&path, dataset, finding->field, '.');
        nt_buffer_text(line, "field ");
        nt_append_printable(line, path.bytes, path.length);
        nt_buffer_text(line, ": ");
        nt_buffer_deinit(&path);
    }
}

static void print_finding(const struct verifier *verifier, const struct nt_finding *finding)
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
    print_buffer(&line);
}

static void on_finding(void *context, const struct nt_finding *finding)
{
    struct verifier *verifier = context;
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

static void print_summary_as_json(const struct verifier *verifier, const struct nt_verify_summary *summary)
{
    struct nt_buffer line = {0};
    struct nt_json json;
    nt_json_line(&json, &line);
    nt_json_member_text(&json, "file", nt_text_of(verifier->path));
    nt_json_member_string(&json, "result", verdict(summary));
    nt_json_member_unsigned(&json, "datasets", verifier->file->dataset_count);
    nt_json_member_unsigned(&json, "columns", summary->columns);
    nt_json_member_unsigned(&json, "pages", summary->pages);
    nt_json_member_unsigned(&json, "stored_bytes", summary->stored_bytes);
    for (int kind = 0; kind < NT_FINDING_KINDS; kind++)
        nt_json_member_unsigned(&json, nt_finding_name((enum nt_finding_kind)kind), summary->findings[kind]);
    nt_json_finish(&json);
    print_buffer(&line);
}

static void print_summary(const struct verifier *verifier, const struct nt_verify_summary *summary)
{
    struct nt_buffer line = {0};
    nt_append_printable(&line, verifier->path, strlen(verifier->path));
    nt_buffer_format(&line, ": %" PRIu64 " pages, %" PRIu64 " bytes: ", summary->pages,
                     summary->stored_bytes);
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
    print_buffer(&line);
}

static enum nt_exit_status conclude(const struct verifier *verifier, const struct nt_verify_summary *summary)
{
    if (!verifier->settings->quiet && verifier->settings->json)
        print_summary_as_json(verifier, summary);
    else if (!verifier->settings->quiet)
        print_summary(verifier, summary);
    for (size_t i = 0; i < VERDICTS; i++)
        if (summary->findings[verdicts[i].kind])
            return verdicts[i].exit;
    return NT_EXIT_OK;
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
static enum nt_exit_status conclude_unopened(const struct verifier *verifier, const struct nt_error *error)
{
    if (verifier->settings->json && !verifier->settings->quiet) {
        struct nt_buffer line = {0};
        struct nt_json json;
        nt_json_line(&json, &line);
        nt_json_member_text(&json, "file", nt_text_of(verifier->path));
        nt_json_member_string(&json, "result", result_of(error->status));
        nt_json_failure_members(&json, error);
        nt_json_finish(&json);
        print_buffer(&line);
    }
    return nt_complain(verifier->path, error);
}

/* `shown`: the path as the user may see it. `chain`: the files that the path stands for; NULL: itself. */
static enum nt_exit_status verify_shown(const struct nt_settings *settings, const char *path,
                                        const char *shown, const struct nt_chain_list *chain,
                                        struct nt_reader *reader, struct nt_progress *progress)
{
    struct verifier verifier = {.settings = settings, .path = shown, .progress = progress};
    const struct nt_vfs_options tree = nt_settings_tree(settings);
    const struct nt_verify_options options = {
        .on_finding = on_finding, .on_progress = on_progress, .context = &verifier};
    struct nt_verify_summary summary;
    struct nt_error error = {0};
    struct nt_file *file = NULL;
    enum nt_status status = chain ? nt_chain_open(chain, &tree.chain_options, &tree.open, &file, &error)
                                  : nt_file_open(path, &tree.open, &file, &error);
    if (status != NT_OK)
        return conclude_unopened(&verifier, &error);
    verifier.file = file;
    nt_progress_begin(progress, 0);
    status = nt_verify(reader, file, &options, &summary, &error);
    nt_progress_clear(progress);
    enum nt_exit_status result =
        status == NT_OK ? conclude(&verifier, &summary) : nt_complain(verifier.path, &error);
    for (uint32_t i = 0; i < file->dataset_count; i++)
        nt_reader_forget(reader, file->datasets[i]);
    nt_file_close(file);
    return result;
}

static enum nt_exit_status verify_file(const struct nt_settings *settings, const char *path,
                                       const struct nt_chain_list *chain, struct nt_reader *reader,
                                       struct nt_progress *progress)
{
    char *shown = nt_address_shown(path);
    enum nt_exit_status result = verify_shown(settings, path, shown ? shown : "", chain, reader, progress);
    free(shown);
    return result;
}

/* ---- folders ---- */

struct walk {
    const struct nt_settings *settings;
    struct nt_reader *reader;
    struct nt_progress *progress;
    const char *top; /* the folder that was named */
    struct nt_buffer path;
    unsigned depth, files; /* files: those of a known format */
    enum nt_exit_status status;
};

static void verify_below(struct walk *walk);

/* A file of no known format is left out, as it is of the tree of a folder. */
static void verify_entry(struct walk *walk, const struct nt_disk_entry *entry)
{
    struct nt_file *file;
    struct nt_error error = {0};
    const struct nt_vfs_options tree = nt_settings_tree(walk->settings);
    size_t length = nt_path_enter(&walk->path, entry->name);
    if (walk->path.failed) {
        nt_fail_memory(&error);
        nt_note_failure(&walk->status, nt_complain(entry->name, &error));
    } else if (entry->is_folder) {
        verify_below(walk);
    } else if (!tree.follow_links && nt_disk_check_beneath(walk->top, walk->path.bytes, &error) != NT_OK) {
        nt_note_failure(&walk->status, nt_complain(walk->path.bytes, &error));
    } else {
        enum nt_status status = nt_file_open(walk->path.bytes, &tree.open, &file, &error);
        if (status == NT_OK)
            nt_file_close(file);
        if (status != NT_NOT_THIS_FORMAT) {
            walk->files++;
            nt_note_failure(&walk->status, verify_file(walk->settings, walk->path.bytes, NULL, walk->reader,
                                                       walk->progress));
        }
    }
    nt_path_leave(&walk->path, length);
}

static void verify_below(struct walk *walk)
{
    struct nt_disk_entry *entries = NULL;
    size_t count = 0;
    struct nt_error error = {0};
    enum nt_status status =
        walk->depth < NT_DEEPEST_DIRECTORY
            ? nt_disk_list(walk->path.bytes, &entries, &count, &error)
            : nt_fail(&error, NT_LIMIT, NT_NO_OFFSET, "more than %d directories deep", NT_DEEPEST_DIRECTORY);
    if (status != NT_OK)
        nt_note_failure(&walk->status, nt_complain(walk->path.bytes, &error));
    walk->depth++;
    for (size_t i = 0; i < count; i++)
        verify_entry(walk, &entries[i]);
    walk->depth--;
    nt_disk_free(entries, count);
}

static enum nt_exit_status verify_folder(const struct nt_settings *settings, const char *path,
                                         struct nt_reader *reader, struct nt_progress *progress)
{
    struct walk walk = {.settings = settings, .top = path, .reader = reader, .progress = progress};
    struct nt_error error = {0};
    nt_buffer_text(&walk.path, path);
    if (!walk.path.failed)
        verify_below(&walk);
    nt_buffer_deinit(&walk.path);
    if (walk.files || walk.status != NT_EXIT_OK)
        return walk.status;
    nt_fail(&error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "no file of a known format is in this folder");
    return nt_complain(path, &error);
}

static enum nt_exit_status verify_source(const struct nt_settings *settings, const char *path,
                                         struct nt_reader *reader, struct nt_progress *progress)
{
    struct stat attributes;
    struct nt_error error = {0};
    bool is_dataset = true;
    if (nt_disk_stat(path, &attributes, NULL) == NT_OK && S_ISDIR(attributes.st_mode) &&
        nt_is_dataset_path(path, &is_dataset, &error) != NT_OK)
        return nt_complain(path, &error);
    return is_dataset ? verify_file(settings, path, NULL, reader, progress)
                      : verify_folder(settings, path, reader, progress);
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    const struct nt_vfs_options tree = nt_settings_tree(invocation->settings);
    /* This thread works as well. */
    const struct nt_reader_options options = {
        .struct_bytes = sizeof(options), .cache_bytes = tree.cache_bytes, .threads = tree.threads - 1};
    struct nt_reader *reader;
    struct nt_error error = {0};
    enum nt_exit_status confined = nt_confine_command(invocation);
    if (confined != NT_EXIT_OK)
        return confined;
    if (nt_reader_new(&options, &reader, &error) != NT_OK)
        return nt_complain("verify", &error);
    struct nt_progress progress;
    nt_progress_start(&progress, !invocation->settings->quiet);
    enum nt_exit_status first = NT_EXIT_OK;
    for (int i = 0; i < invocation->operand_count; i++) {
        const char *path = invocation->operands[i];
        const struct nt_chain_list *chain = invocation->chains[i];
        nt_note_failure(&first, chain ? verify_file(invocation->settings, path, chain, reader, &progress)
                                      : verify_source(invocation->settings, path, reader, &progress));
    }
    nt_reader_free(reader);
    nt_note_failure(&first, nt_finish_output());
    return first;
}

static const struct nt_option options[] = {
    {.name = "json",
     .kind = NT_OPTION_FLAG,
     .member = offsetof(struct nt_settings, json),
     .help = "a line of JSON for each finding and each file"},
    {.letter = 'q',
     .name = "quiet",
     .kind = NT_OPTION_FLAG,
     .member = offsetof(struct nt_settings, quiet),
     .help = "only the exit status"},
    {0},
};

const struct nt_command nt_command_verify = {
    .name = "verify",
    .operands = "FILE...",
    .help = "check every checksum, page, count and offset",
    .fewest = 1,
    .most = INT_MAX,
    .sources = INT_MAX,
    .options = options,
    .run = run,
};
