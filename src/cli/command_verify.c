/* SPDX-License-Identifier: MIT
 *
 * The command verify: checks files, and files in directories, against their checksums and structure,
 * and prints findings, a verdict for each file, and progress.
 */
#include "cli/cli.h"

#include <limits.h>

#include "core/io/address.h"
#include "tools/tools.h"

/* ---- Print findings ---- */

/* Shared by all files. */
struct verify_run {
    const struct nt_settings *settings;
    struct nt_reader *reader;
    struct nt_progress *progress;
};

/* A file to verify; `path` is safe to display. */
struct nt_verifier {
    const struct verify_run *work;
    const char *path;
    struct nt_file *file;
    enum nt_exit_status output; /* the status of the first line that failed to print */
};

/* Kinds by priority for the exit status; warnings do not affect it. */
static const struct verdict {
    enum nt_finding_kind kind;
    enum nt_exit_status exit;
} verdicts[] = {
    {NT_FINDING_DAMAGED, NT_EXIT_DAMAGED},
    {NT_FINDING_UNREADABLE, NT_EXIT_NOT_FOUND},
    {NT_FINDING_UNSUPPORTED, NT_EXIT_UNSUPPORTED},
    {NT_FINDING_UNREAD, NT_EXIT_UNREAD},
};
enum { VERDICTS = sizeof(verdicts) / sizeof(*verdicts) };

/* Callbacks for struct nt_verify_options; their context is the verifier. */
static void verify_on_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct nt_verifier *verifier = context;
    verifier->work->progress->total = total;
    nt_progress_reach(verifier->work->progress, bytes);
}

/* ---- Findings ---- */

static void put_location(struct nt_json *json, const struct nt_file *file, const struct nt_finding *finding)
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
    put_location(&json, verifier->file, finding);
    nt_json_failure_members(&json, &finding->error);
    nt_json_member_unsigned(&json, "count", finding->count);
    nt_json_finish(&json);
    print_line(verifier, &line);
}

static void append_dataset(struct nt_buffer *line, const struct nt_dataset *dataset)
{
    struct nt_buffer path = {0};
    nt_append_dataset_path(&path, dataset);
    nt_append_printable(line, nt_buffer_string(&path), path.length);
    nt_buffer_append_string(line, ": ");
    nt_buffer_deinit_part(&path, line);
}

static void print_finding(struct nt_verifier *verifier, const struct nt_finding *finding)
{
    struct nt_buffer line = {0};
    struct nt_error failure = finding->error;
    nt_append_printable(&line, verifier->path, strlen(verifier->path));
    nt_buffer_append_format(&line, ": %s: ", nt_finding_name(finding->kind));
    if (finding->dataset != NT_NONE) {
        struct nt_dataset *dataset = verifier->file->datasets[finding->dataset];
        append_dataset(&line, dataset);
        if (finding->field != NT_NONE && finding->page == UINT64_MAX) /* a page's error names its field */
            nt_name_field(dataset, finding->field, NULL, failure.status, &failure);
    }
    nt_append_printable(&line, failure.message, strlen(failure.message));
    if (finding->page != UINT64_MAX)
        nt_buffer_append_format(&line, " [page %" PRIu64 " of the column]", finding->page);
    if (finding->count > 1)
        nt_buffer_append_format(&line, ", and %" PRIu64 " more pages", finding->count - 1);
    nt_buffer_append_byte(&line, '\n');
    print_line(verifier, &line);
}

static void verify_on_finding(void *context, const struct nt_finding *finding)
{
    struct nt_verifier *verifier = context;
    const struct verify_run *work = verifier->work;
    if (work->settings->quiet)
        return;
    nt_progress_clear(work->progress);
    if (work->settings->json)
        print_finding_as_json(verifier, finding);
    else
        print_finding(verifier, finding);
}

/* ---- Files ---- */

/* NULL: the file is good. */
static const struct verdict *verdict_of(const struct nt_verify_summary *summary)
{
    for (size_t i = 0; i < VERDICTS; i++)
        if (summary->findings[verdicts[i].kind])
            return &verdicts[i];
    return NULL;
}

static void print_summary_as_json(struct nt_verifier *verifier, const struct nt_verify_summary *summary)
{
    const struct verdict *verdict = verdict_of(summary);
    struct nt_buffer line = {0};
    struct nt_json json;
    nt_json_line(&json, &line);
    nt_json_member_text(&json, "file", nt_text_of(verifier->path));
    nt_json_member_string(&json, "result", verdict ? nt_finding_name(verdict->kind) : "ok");
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
    nt_buffer_append_format(&line, ": %" PRIu64 " pages, ", summary->pages);
    if (summary->unchecked)
        nt_buffer_append_format(&line, "%" PRIu64 " of them without a checksum, ", summary->unchecked);
    nt_buffer_append_format(&line, "%" PRIu64 " bytes: ", summary->stored_bytes);
    const char *separator = "";
    if (!verdict_of(summary)) {
        nt_buffer_append_string(&line, "ok");
        separator = ", ";
    }
    for (int kind = 0; kind < NT_FINDING_KINDS; kind++) {
        if (!summary->findings[kind])
            continue;
        bool is_plural = kind == NT_FINDING_WARNING && summary->findings[kind] > 1;
        nt_buffer_append_format(&line, "%s%" PRIu64 " %s%s", separator, summary->findings[kind],
                                nt_finding_name((enum nt_finding_kind)kind), is_plural ? "s" : "");
        separator = ", ";
    }
    nt_buffer_append_byte(&line, '\n');
    print_line(verifier, &line);
}

/* Prints the file's verdict, or why it did not open; returns the exit status. */
static enum nt_exit_status verify_conclude(struct nt_verifier *verifier,
                                           const struct nt_verify_summary *summary)
{
    const struct nt_settings *settings = verifier->work->settings;
    if (!settings->quiet && settings->json)
        print_summary_as_json(verifier, summary);
    else if (!settings->quiet)
        print_summary(verifier, summary);
    const struct verdict *verdict = verdict_of(summary);
    return verdict ? verdict->exit : verifier->output;
}

/* The verdict for a file that does not open. */
static const char *result_of(enum nt_status status)
{
    enum nt_exit_status result = nt_exit_status(status);
    for (size_t i = 0; i < VERDICTS; i++)
        if (verdicts[i].exit == result)
            return nt_finding_name(verdicts[i].kind);
    return result == NT_EXIT_UNKNOWN_FORMAT ? "unknown format" : "failed";
}

/* A file that does not open has one finding. */
static enum nt_exit_status verify_conclude_unopened(const struct nt_settings *settings, const char *path,
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
    return nt_print_error(path, error);
}

/* ---- The command verify ---- */

/* A path to verify, or its substitute: the files of a chain, or a source, which the file then owns. */
struct subject {
    const char *path; /* safe to display */
    const struct nt_chain_list *chain;
    struct nt_source *source;
};

static enum nt_exit_status verify_file(struct nt_verifier *verifier)
{
    const struct verify_run *work = verifier->work;
    struct nt_file *file = verifier->file;
    const struct nt_verify_options options = {
        .on_finding = verify_on_finding, .on_progress = verify_on_progress, .context = verifier};
    struct nt_verify_summary summary;
    struct nt_error error = {0};
    nt_progress_begin(work->progress, 0);
    enum nt_status status = nt_verify(work->reader, file, &options, &summary, &error);
    nt_progress_clear(work->progress);
    enum nt_exit_status result =
        status == NT_OK ? verify_conclude(verifier, &summary) : nt_print_error(verifier->path, &error);
    for (uint32_t i = 0; i < file->dataset_count; i++)
        nt_reader_forget(work->reader, file->datasets[i]);
    nt_file_close(file);
    return result;
}

/* `is_unknown_ret`: reports an unknown format, which is then no failure; NULL: it is a failure. */
static enum nt_exit_status verify_subject(const struct verify_run *work, const struct subject *subject,
                                          bool *is_unknown_ret)
{
    struct nt_vfs_options tree = nt_settings_tree(work->settings);
    struct nt_verifier verifier = {.work = work, .path = subject->path};
    struct nt_file **file = &verifier.file;
    struct nt_error error = {0};
    tree.chain_options.on_skipped = nt_print_note;
    tree.chain_options.context = (void *)(uintptr_t)subject->path;
    enum nt_status status = subject->chain
                                ? nt_chain_open(subject->chain, &tree.chain_options, &tree.open, file, &error)
                            : subject->source ? nt_file_take_source(subject->source, &tree.open, file, &error)
                                              : nt_file_open(subject->path, &tree.open, file, &error);
    if (is_unknown_ret)
        *is_unknown_ret = status == NT_NOT_THIS_FORMAT;
    if (status == NT_OK)
        return verify_file(&verifier);
    return is_unknown_ret && *is_unknown_ret
               ? NT_EXIT_OK
               : verify_conclude_unopened(work->settings, subject->path, &error);
}

/* ---- Directories ---- */

struct verify_walk {
    const struct verify_run *work;
    const char *top; /* the directory that the user named */
    struct nt_buffer path;
    struct nt_folder *folder; /* the current directory on a server; NULL: the path is local */
    unsigned depth, files;    /* files: only those of a known format */
    enum nt_exit_status status;
};

static void verify_below(struct verify_walk *walk);

/* Skips a file of an unknown format, like the tree of a local directory. */
static void verify_leaf(struct verify_walk *walk, struct nt_source *source)
{
    bool is_unknown;
    const struct subject subject = {.path = walk->path.bytes, .source = source};
    enum nt_exit_status result = verify_subject(walk->work, &subject, &is_unknown);
    walk->files += !is_unknown;
    nt_note_failure(&walk->status, result);
}

static enum nt_status enter_folder(struct verify_walk *walk, struct nt_folder *inner, struct nt_error *error)
{
    bool is_dataset;
    struct nt_source *source;
    struct nt_folder *outer = walk->folder;
    enum nt_status status = nt_is_dataset_folder(inner, &is_dataset, error);
    if (status == NT_OK && is_dataset && (status = nt_source_of_folder(inner, &source, error)) == NT_OK) {
        verify_leaf(walk, source);
        return NT_OK;
    }
    if (status == NT_OK) {
        walk->folder = inner;
        verify_below(walk);
        walk->folder = outer;
    }
    nt_folder_close(inner);
    return status;
}

static enum nt_status verify_on_server(struct verify_walk *walk, const struct nt_local_entry *entry,
                                       struct nt_error *error)
{
    struct nt_folder *inner;
    struct nt_source *source;
    NT_TRY(S_ISDIR(entry->stat.st_mode) ? nt_folder_open_below(walk->folder, entry->name, &inner, error)
                                        : nt_folder_open_file(walk->folder, entry->name, &source, error));
    if (S_ISDIR(entry->stat.st_mode))
        NT_TRY(enter_folder(walk, inner, error));
    else
        verify_leaf(walk, source);
    return NT_OK;
}

static enum nt_status verify_here(struct verify_walk *walk, const struct nt_local_entry *entry,
                                  struct nt_error *error)
{
    const struct nt_vfs_options tree = nt_settings_tree(walk->work->settings);
    enum nt_status status = entry->is_folder || tree.follow_links
                                ? NT_OK
                                : nt_local_check_beneath(walk->top, walk->path.bytes, error);
    if (entry->is_folder)
        verify_below(walk);
    else if (status == NT_OK)
        verify_leaf(walk, NULL);
    return status;
}

static void verify_entry(struct verify_walk *walk, const struct nt_local_entry *entry)
{
    struct nt_error error = {0};
    size_t length = nt_path_enter(&walk->path, entry->name);
    enum nt_status status = walk->path.failed ? nt_fail_memory(&error)
                            : walk->folder    ? verify_on_server(walk, entry, &error)
                                              : verify_here(walk, entry, &error);
    if (status != NT_OK)
        nt_note_failure(&walk->status,
                        nt_print_error(walk->path.failed ? entry->name : walk->path.bytes, &error));
    nt_path_leave(&walk->path, length);
}

static void verify_below(struct verify_walk *walk)
{
    struct nt_local_entry *entries = NULL;
    size_t count = 0;
    struct nt_error error = {0};
    enum nt_status status = walk->depth >= NT_DEEPEST_DIRECTORY
                                ? nt_fail(&error, NT_LIMIT, NT_NO_OFFSET,
                                          "directories are nested more than %d deep", NT_DEEPEST_DIRECTORY)
                            : walk->folder ? nt_local_list_folder(walk->folder, &entries, &count, &error)
                                           : nt_local_list(walk->path.bytes, NULL, &entries, &count, &error);
    if (status != NT_OK)
        nt_note_failure(&walk->status, nt_print_error(walk->path.bytes, &error));
    walk->depth++;
    for (size_t i = 0; i < count; i++)
        verify_entry(walk, &entries[i]);
    walk->depth--;
    nt_local_entries_free(entries, count);
}

/* `folder`: a directory on a server, below the path; NULL: a local directory. */
static enum nt_exit_status verify_folder(const struct verify_run *work, const char *path,
                                         struct nt_folder *folder)
{
    struct verify_walk walk = {.work = work, .top = path, .folder = folder};
    nt_buffer_append_string(&walk.path, path);
    if (!walk.path.failed)
        verify_below(&walk);
    nt_buffer_deinit(&walk.path);
    if (walk.files || walk.status != NT_EXIT_OK)
        return walk.status;
    return nt_print_failure(path, NT_NOT_THIS_FORMAT, "this directory has no file of a known format");
}

/* ---- Sources ---- */

static enum nt_exit_status verify_open_source(const struct verify_run *work, const char *path,
                                              struct nt_source *source)
{
    struct nt_error error = {0};
    bool is_dataset = true;
    enum nt_status status =
        source->folder ? nt_is_dataset_folder(source->folder, &is_dataset, &error) : NT_OK;
    if (status == NT_OK && is_dataset)
        return verify_subject(work, &(struct subject){.path = path, .source = source}, NULL);
    enum nt_exit_status result = status == NT_OK ? verify_folder(work, path, source->folder)
                                                 : verify_conclude_unopened(work->settings, path, &error);
    nt_source_close(source);
    return result;
}

/* Only opening an address reveals whether it is a file or a directory. */
static enum nt_exit_status verify_address(const struct verify_run *work, const char *address,
                                          const char *shown)
{
    const struct nt_vfs_options tree = nt_settings_tree(work->settings);
    struct nt_source *source;
    struct nt_error error = {0};
    if (nt_open_source(address, &tree.open, &source, &error) == NT_OK)
        return verify_open_source(work, shown, source);
    return verify_conclude_unopened(work->settings, shown, &error);
}

static enum nt_exit_status verify_path(const struct verify_run *work, const char *path)
{
    struct stat attributes;
    struct nt_error error = {0};
    bool is_dataset = true;
    if (nt_local_stat(path, &attributes, NULL) == NT_OK && S_ISDIR(attributes.st_mode) &&
        nt_is_dataset_path(path, &is_dataset, &error) != NT_OK)
        return nt_print_error(path, &error);
    return is_dataset ? verify_subject(work, &(struct subject){.path = path}, NULL)
                      : verify_folder(work, path, NULL);
}

/* `chain`: the files of the source; NULL: the source itself. */
static enum nt_exit_status verify_source(const struct verify_run *work, const char *path,
                                         const struct nt_chain_list *chain)
{
    NT_AUTO_FREE char *shown = nt_address_redact(path);
    if (!shown)
        return nt_print_no_memory("verify");
    return chain ? verify_subject(work, &(struct subject){.path = shown, .chain = chain}, NULL)
           : nt_is_address(path) ? verify_address(work, path, shown)
                                 : verify_path(work, path);
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    const struct nt_vfs_options tree = nt_settings_tree(invocation->settings);
    /* The calling thread is one of the threads. */
    const struct nt_reader_options options = {.struct_bytes = sizeof(options),
                                              .cache_bytes = tree.cache_bytes,
                                              .threads = tree.threads - 1,
                                              .caches_siblings = true};
    struct nt_reader *reader;
    struct nt_error error = {0};
    enum nt_exit_status confined = nt_command_enter_sandbox(invocation);
    if (confined != NT_EXIT_OK)
        return confined;
    if (nt_reader_new(&options, &reader, &error) != NT_OK)
        return nt_print_error("verify", &error);
    struct nt_progress progress;
    nt_progress_start(&progress, !invocation->settings->quiet);
    const struct verify_run work = {invocation->settings, reader, &progress};
    enum nt_exit_status first = NT_EXIT_OK;
    for (int i = 0; i < invocation->operand_count; i++)
        nt_note_failure(&first, verify_source(&work, invocation->operands[i], invocation->chains[i]));
    nt_reader_free(reader);
    nt_note_failure(&first, nt_finish_output());
    return first;
}

static const struct nt_option options[] = {
    NT_OPTION(0, "json", FLAG, json, .help = "print a line of JSON for each finding and each file"),
    NT_OPTION('q', "quiet", FLAG, quiet, .help = "print nothing; only set the exit status"),
    {0},
};

const struct nt_command nt_command_verify = {
    .name = "verify",
    .operands = "FILE...",
    .help = "check every checksum, page, count and offset",
    .fewest = 1,
    .sources = INT_MAX,
    .options = options,
    .run = run,
};
