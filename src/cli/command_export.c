/* SPDX-License-Identifier: MIT
 *
 * The command export: writes entries and fields of a dataset to one file, of the kind that its name says.
 * The file appears under its name when it is complete: it is written under a temporary name and then
 * renamed.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Written under a temporary name and then renamed, so that a failure, or a signal that ends the program,
 * leaves nothing. At most one at a time. */
struct nt_output_file {
    const char *path;
    char *temporary; /* the name while it is written */
    int descriptor;
};

/* The incomplete file, for the signal handler, which has no other way to know it. */
static const char *volatile incomplete;

static const int ending_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/* Also ends a program that waits for a server. */
static void remove_incomplete(int number)
{
    if (incomplete)
        unlink(incomplete);
    signal(number, SIG_DFL);
    raise(number);
}

/* Signals that the caller ignores (nohup) stay ignored. A file larger than the limit of the process is a
 * failed write. */
static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = remove_incomplete}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(ending_signals) / sizeof(*ending_signals); i++)
        if (sigaction(ending_signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

/* A name that no other process uses, on this machine or another one. */
static char *temporary_name(const char *path)
{
    struct nt_buffer name = {0};
    uint64_t number = (uint64_t)getpid();
    (void)!getrandom(&number, sizeof(number), 0);
    nt_buffer_append(&name, path, (size_t)(nt_path_name(path).bytes - path));
    nt_buffer_append_format(&name, ".ntuple-export-%016" PRIx64 ".part", number);
    return nt_buffer_take(&name);
}

/* A signal may come at any time, so the name is known before the file is there. */
static enum nt_status create_temporary(struct nt_output_file *file, struct nt_error *error)
{
    file->temporary = temporary_name(file->path);
    NT_TRY(nt_check_memory(file->temporary, error));
    incomplete = file->temporary;
    file->descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->descriptor >= 0)
        return NT_OK;
    incomplete = NULL;
    return nt_fail_system(error, errno, "cannot create");
}

/* Refuses a path that exists, unless `overwrite`. Needs a deinit, also after a failure. */
static enum nt_status output_file_open(struct nt_output_file *file, const char *path, bool overwrite,
                                       struct nt_error *error)
{
    struct stat attributes;
    *file = (struct nt_output_file){.path = path, .descriptor = -1};
    if (!overwrite && lstat(path, &attributes) == 0)
        return nt_fail_system(error, EEXIST, "%s", nt_cannot_create(EEXIST));
    if (nt_is_directory(path))
        return nt_fail_system(error, EISDIR, "cannot create");
    handle_signals();
    return create_temporary(file, error);
}

/* The C library would use another call if there are no flags. */
static int rename_file(const char *from, const char *to, unsigned flags)
{
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags) == 0 ? 0 : errno;
}

/* Some file systems cannot refuse to replace a file. */
static int move(const char *from, const char *to, bool overwrite)
{
    struct stat attributes;
    int problem = overwrite ? EINVAL : rename_file(from, to, RENAME_NOREPLACE);
    if (problem != EINVAL)
        return problem;
    if (!overwrite && lstat(to, &attributes) == 0)
        return EEXIST;
    return rename_file(from, to, 0);
}

static enum nt_status output_file_finish(struct nt_output_file *file, bool overwrite, struct nt_error *error)
{
    int problem = close(file->descriptor) == 0 ? 0 : errno;
    file->descriptor = -1;
    if (problem)
        return nt_fail_system(error, problem, "cannot write");
    problem = move(file->temporary, file->path, overwrite);
    if (problem)
        return nt_fail_system(error, problem, "%s", nt_cannot_create(problem));
    incomplete = NULL;
    return NT_OK;
}

/* Removes a file that is not finished. */
static void output_file_deinit(struct nt_output_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    if (file->temporary && incomplete == file->temporary)
        unlink(file->temporary);
    incomplete = NULL;
    free(file->temporary);
}

struct exporter {
    const struct nt_invocation *invocation;
    const struct kind *kind;
    const char *out;
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    const uint32_t *fields;
    uint32_t field_count;
    uint32_t column_count, omitted_count; /* in the file, and not */
    struct nt_arrow *arrow;
    struct nt_text_generator *pieces;
};

/* ---- Omitted fields ---- */

static void name_omitted(void *context, uint32_t field, const char *reason)
{
    struct exporter *exporter = context;
    nt_print_omitted(exporter->dataset, field, reason);
    exporter->omitted_count++;
}

/* ---- Kinds of files ---- */

/* Enough for each of many columns to compress well; a few such batches are in memory at a time. */
#define BATCH_BYTES (UINT64_C(16) << 20)
#define LARGEST_BATCH_BYTES (UINT64_C(64) << 20)
enum { COLUMN_BYTES = 64 << 10 };

static uint64_t batch_bytes(uint32_t columns)
{
    uint64_t bytes = (uint64_t)columns * COLUMN_BYTES;
    if (bytes < BATCH_BYTES)
        return BATCH_BYTES;
    return bytes < LARGEST_BATCH_BYTES ? bytes : LARGEST_BATCH_BYTES;
}

/* A file must not lack values that the source has. */
static enum nt_status check_arrow(struct exporter *exporter, struct nt_error *error)
{
    const char *reason;
    const struct nt_arrow *arrow = exporter->arrow;
    NT_TRY(nt_arrow_check(arrow, error));
    for (uint32_t i = 0; i < nt_arrow_omitted_fields(arrow); i++) {
        uint32_t field = nt_arrow_omitted_field(arrow, i, &reason);
        name_omitted(exporter, field, reason);
    }
    exporter->column_count = arrow->nodes[0].child_count;
    return NT_OK;
}

static enum nt_status open_arrow(struct exporter *exporter, struct nt_error *error)
{
    const struct nt_settings *settings = exporter->invocation->settings;
    const struct nt_vfs_options tree = nt_settings_tree(settings);
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    const struct nt_arrow_limits limits = {.batch_bytes = batch_bytes(exporter->field_count)};
    options.strings_as_binary = tree.arrow_strings_binary;
    options.unions = tree.arrow_unions;
    options.fields = exporter->fields;
    options.field_count = exporter->field_count;
    NT_TRY(
        nt_arrow_new_within(exporter->reader, exporter->dataset, &options, &limits, &exporter->arrow, error));
    NT_TRY(check_arrow(exporter, error));
    return nt_arrow_ipc_pieces(exporter->arrow, settings->compression, &exporter->pieces, error);
}

static enum nt_status name_omitted_of_rows(struct exporter *exporter, struct nt_error *error)
{
    const struct nt_row_writer *writer = nt_lines_writer(exporter->pieces);
    NT_TRY(nt_row_writer_visit_omitted(writer, name_omitted, exporter, error));
    exporter->column_count = nt_row_writer_cells(writer);
    return NT_OK;
}

static enum nt_status open_csv(struct exporter *exporter, struct nt_error *error)
{
    NT_TRY(nt_csv_lines_of(exporter->reader, exporter->dataset, exporter->fields, exporter->field_count,
                           &exporter->pieces, error));
    return name_omitted_of_rows(exporter, error);
}

static enum nt_status open_lines(struct exporter *exporter, struct nt_error *error)
{
    NT_TRY(nt_rows_lines_of(exporter->reader, exporter->dataset, exporter->fields, exporter->field_count,
                            UINT64_MAX, &exporter->pieces, error));
    return name_omitted_of_rows(exporter, error);
}

static const struct kind {
    const char *suffix;
    enum nt_status (*open)(struct exporter *exporter, struct nt_error *error);
} kinds[] = {{".arrow", open_arrow}, {".csv", open_csv}, {".jsonl", open_lines}};

static void append_quoted(struct nt_buffer *out, const char *text, size_t length)
{
    nt_buffer_append_byte(out, '\'');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'' || text[i] == '\\')
            nt_buffer_append_byte(out, '\\');
        nt_buffer_append_byte(out, text[i]);
    }
    nt_buffer_append_byte(out, '\'');
}

/* "DATASET:FILE", the name may be empty. */
static void append_selection(struct nt_buffer *out, const char *value)
{
    const char *path = nt_select_path(value);
    size_t name_length = (size_t)(path - value) - 1;
    nt_buffer_append_string(out, ", entries=");
    if (name_length) {
        nt_buffer_append_byte(out, '{');
        append_quoted(out, value, name_length);
        nt_buffer_append_string(out, ": ");
    }
    append_quoted(out, path, strlen(path));
    nt_buffer_append_string(out, name_length ? "}" : "");
}

/* The line of Python that writes Parquet by pyarrow. */
static void append_python(const struct nt_invocation *invocation, const char *out, struct nt_buffer *line)
{
    const struct nt_settings *settings = invocation->settings;
    const char *file = invocation->operands[0], *end;
    struct nt_row_range range;
    size_t length;
    nt_buffer_append_string(line, settings->is_chain ? "ntuple.chain(" : "ntuple.open(");
    append_quoted(line, file, strlen(file));
    if (settings->select && settings->select[0])
        append_selection(line, settings->select[0]);
    if (invocation->operand_count > 2) {
        nt_buffer_append_string(line, ")[");
        append_quoted(line, invocation->operands[1], strlen(invocation->operands[1]));
        nt_buffer_append_string(line, "].to_parquet(");
    } else {
        nt_buffer_append_string(line, ").only().to_parquet(");
    }
    append_quoted(line, out, strlen(out));
    for (const char *at = settings->columns; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, ',');
        nt_buffer_append_string(line, at == settings->columns ? ", columns=[" : ", ");
        append_quoted(line, at, (size_t)(end - at));
        nt_buffer_append_string(line, *end ? "" : "]");
    }
    if (settings->entries && nt_named_row_range_parse(settings->entries[0], &length, &range))
        nt_buffer_append_format(line, ", entries=(%" PRIu64 ", %" PRIu64 ")", range.first, range.end);
    nt_buffer_append_byte(line, ')');
}

static enum nt_exit_status complain_about_kind(const struct nt_invocation *invocation, const char *out)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer line = {0}, shown = {0};
    if (!nt_has_suffix(out, ".parquet"))
        return nt_print_failure(out, NT_INVALID,
                                "unknown kind of file: the name must end in .arrow, .csv or .jsonl");
    enum nt_exit_status result =
        nt_print_failure(out, NT_INVALID, "Parquet is written by the Python package, with this line:");
    append_python(invocation, out, &line);
    nt_append_printable(&shown, nt_buffer_string(&line), line.length);
    fprintf(stderr, "import ntuple; %s\n", nt_buffer_string(&shown));
    return result;
}

/* ---- Writing ---- */

enum { WRITE_BYTES = 256 << 10 };

static enum nt_exit_status fail_to_write(const char *out, const struct nt_error *error)
{
    nt_print_error(out, error);
    return NT_EXIT_OUTPUT;
}

static enum nt_exit_status write_pieces(struct exporter *exporter, int descriptor,
                                        struct nt_progress *progress)
{
    struct nt_text_generator *pieces = exporter->pieces;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer piece = {0};
    struct nt_error error = {0};
    enum nt_status status = NT_OK;
    int problem = 0;
    for (bool more = true; more && status == NT_OK && !problem;) {
        nt_buffer_clear(&piece);
        while (more && status == NT_OK && piece.length < WRITE_BYTES)
            status = pieces->next(pieces, &piece, &more, &error);
        if (status == NT_OK && piece.length)
            problem = nt_write_all(descriptor, piece.bytes, piece.length);
        double share = pieces->share ? pieces->share(pieces) : 0;
        double made = (double)(progress->bytes + piece.length);
        if (status == NT_OK && !problem)
            nt_progress_advance(progress, piece.length,
                                share > 0 && share < 1 ? (uint64_t)(made / share - made) : 0);
    }
    nt_progress_clear(progress);
    if (status != NT_OK)
        return nt_print_error(exporter->dataset->name.bytes, &error);
    if (!problem)
        return NT_EXIT_OK;
    nt_fail_system(&error, problem, "cannot write");
    return fail_to_write(exporter->out, &error);
}

/* Arrow's readers may refuse such strings, or fail with them. */
static void warn_of_strings(const struct exporter *exporter)
{
    for (uint32_t i = 1; exporter->arrow && i < exporter->arrow->node_count; i++) {
        NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
        if (!nt_arrow_ipc_has_invalid_utf8(exporter->pieces, i))
            continue;
        nt_append_field_path(&path, exporter->dataset, exporter->arrow->nodes[i].field);
        nt_print_failure(nt_buffer_string(&path), NT_OK,
                         "warning: strings that are not UTF-8, which readers of Arrow may refuse; "
                         "--arrow_strings=binary writes bytes");
    }
}

static enum nt_exit_status write_file(struct exporter *exporter)
{
    const struct nt_settings *settings = exporter->invocation->settings;
    struct nt_output_file file;
    struct nt_progress progress;
    struct nt_error error = {0};
    enum nt_exit_status result = NT_EXIT_OK;
    nt_progress_start(&progress, !settings->quiet);
    nt_progress_begin(&progress, 0);
    progress.is_text = true;
    enum nt_status status = output_file_open(&file, exporter->out, settings->overwrite, &error);
    if (status == NT_OK)
        result = write_pieces(exporter, file.descriptor, &progress);
    if (status == NT_OK && result == NT_EXIT_OK)
        status = output_file_finish(&file, settings->overwrite, &error);
    if (status != NT_OK)
        result = fail_to_write(exporter->out, &error);
    else if (result == NT_EXIT_OK)
        warn_of_strings(exporter);
    output_file_deinit(&file);
    return result;
}

/* ---- The command export ---- */

static enum nt_exit_status export_fields(struct exporter *exporter)
{
    struct nt_error error = {0};
    enum nt_exit_status result;
    const char *name = exporter->dataset->name.bytes;
    if (exporter->kind->open(exporter, &error) != NT_OK)
        result = nt_print_error(name, &error);
    else if (exporter->omitted_count && !exporter->column_count)
        result = nt_print_failure(name, NT_UNSUPPORTED, "no field is left to export");
    else
        result = write_file(exporter);
    if (result == NT_EXIT_OK && exporter->omitted_count)
        result = NT_EXIT_UNREAD;
    if (exporter->pieces)
        exporter->pieces->free(exporter->pieces);
    nt_arrow_free(exporter->arrow);
    return result;
}

/* All fields unless some are chosen. */
static enum nt_exit_status export_dataset(struct exporter *exporter, uint32_t field)
{
    struct nt_error error = {0};
    NT_AUTO_FREE uint32_t *tops = NULL;
    if (exporter->dataset->failure)
        return nt_print_error(exporter->dataset->name.bytes, exporter->dataset->failure);
    if (!exporter->field_count && field != NT_NONE) {
        exporter->fields = &field;
        exporter->field_count = 1;
    } else if (!exporter->field_count) {
        if (nt_shown_top_fields(exporter->dataset, &tops, &exporter->field_count, &error) != NT_OK)
            return nt_print_error(exporter->dataset->name.bytes, &error);
        exporter->fields = tops;
    }
    return export_fields(exporter);
}

static enum nt_exit_status export_file(void *context, const struct nt_resolved_node *resolved,
                                       bool is_in_directory_of_files)
{
    struct exporter *exporter = context;
    struct nt_overwrite_guard guard;
    struct nt_error error = {0};
    uint32_t index, field;
    if (is_in_directory_of_files)
        return nt_print_failure(exporter->invocation->operands[0], NT_INVALID,
                                "a directory of files; name one, or all of them with --chain");
    enum nt_exit_status result = nt_find_only_dataset(resolved, &index, &field);
    if (result != NT_EXIT_OK)
        return result;
    exporter->reader = resolved->vfs->reader;
    exporter->dataset = resolved->file->datasets[index];
    enum nt_status status =
        nt_overwrite_guard_init(&guard, exporter->invocation, resolved->vfs, resolved->number, &error);
    if (status == NT_OK)
        status = nt_overwrite_guard_check(&guard, exporter->out, &error);
    result = status == NT_OK ? export_dataset(exporter, field) : fail_to_write(exporter->out, &error);
    nt_overwrite_guard_deinit(&guard);
    return result;
}

/* The path and --columns mean fields of one dataset, or a node above fields. */
static enum nt_exit_status export_named(struct exporter *exporter, struct nt_vfs *vfs, const char *path)
{
    NT_CLEANUP(nt_node_list_deinit) struct nt_node_list all = {.count = 0};
    struct nt_error error = {0};
    NT_AUTO_FREE uint32_t *fields = NULL;
    uint32_t count = 0;
    const char *columns = exporter->invocation->settings->columns;
    enum nt_status status = columns ? nt_node_list_columns(vfs, path, columns, &all, &error)
                                    : nt_node_list_find(vfs, path, &all, &error);
    if (status == NT_OK) {
        fields = calloc(all.count + 1, sizeof(*fields));
        status = fields ? NT_OK : nt_fail_memory(&error);
    }
    if (status == NT_OK)
        count = nt_node_list_fields(all.items, all.count, fields);
    bool is_one = count == all.count || (!count && all.count == 1 && !columns);
    if (status == NT_OK && !is_one)
        status = nt_fail(&error, NT_INVALID, NT_NO_OFFSET, "%s: not a field of the same dataset",
                         all.items[count].path);
    exporter->fields = fields;
    exporter->field_count = count;
    return status == NT_OK
               ? nt_for_each_file(vfs, all.items[0].path, all.items[0].node, export_file, exporter)
               : nt_print_error(columns || !*path ? NULL : path, &error);
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    struct nt_vfs *vfs = NULL;
    struct exporter exporter = {.invocation = invocation,
                                .out = invocation->operands[invocation->operand_count - 1]};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (nt_has_suffix(exporter.out, kinds[i].suffix))
            exporter.kind = &kinds[i];
    if (!exporter.kind)
        return complain_about_kind(invocation, exporter.out);
    enum nt_exit_status result = nt_command_enter_sandbox(invocation);
    if (result == NT_EXIT_OK)
        result = nt_open_tree(invocation, invocation->operands[0], &vfs);
    if (result != NT_EXIT_OK)
        return result;
    result = export_named(&exporter, vfs, invocation->operand_count > 2 ? invocation->operands[1] : "");
    nt_vfs_free(vfs);
    return result;
}

static const char *const compressions[] = {[NT_ARROW_ZSTD] = "zstd",
                                           [NT_ARROW_LZ4] = "lz4",
                                           [NT_ARROW_UNCOMPRESSED] = "none",
                                           [NT_ARROW_UNCOMPRESSED + 1] = NULL};

static const struct nt_option options[] = {
    NT_OPTION(0, "columns", TEXT, columns, .argument = "PATTERN,...",
              .help = "write only these fields: paths or patterns"),
    NT_OPTION(0, "compression", CHOICE, compression, .argument = "METHOD", .choices = compressions,
              .help = "of the columns of .arrow: zstd (default), lz4 or none"),
    NT_OPTION('f', "force", FLAG, overwrite, .help = "replace a file that exists"),
    NT_PROGRESS_QUIET_OPTION,
    {0},
};

const struct nt_command nt_command_export = {
    .name = "export",
    .operands = "FILE [DATASET] OUT",
    .help = "write entries and fields of a dataset to one file: Arrow (OUT.arrow), CSV (.csv) or JSON "
            "lines (.jsonl)",
    .fewest = 2,
    .most = 3,
    .writes = true,
    .renames = true,
    .options = options,
    .reads_columns = true,
    .run = run,
};
