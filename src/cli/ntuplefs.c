/* SPDX-License-Identifier: MIT
 *
 * The program ntuplefs: parses the arguments, prepares what its two processes share (mount settings,
 * memory limits, the index file), and forks into worker and supervisor.
 */
#include "cli/ntuplefs.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "core/io/address.h"

/* ---- Memory limits ---- */

#define MEBIBYTE (UINT64_C(1) << 20)

/* Configures malloc; call before the first thread starts. By default glibc gives each thread its own
 * heap, and freed buffers stay there: each heap then has holes as large as the thread's largest buffer.
 * So uses one heap for all, and none for large buffers, which their owners keep for reuse. */
static void memory_prepare(void)
{
    enum { LARGE = 160 * 1024, KEPT_AT_END = 1024 * 1024 };
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, KEPT_AT_END);
    nt_memory_available(); /* caches the value for when it is no longer readable */
}

/* Number of concurrent requests. Slow decoding, or a slow server, must not block metadata requests. */
static unsigned request_threads(const struct nt_settings *settings)
{
    enum { FEWEST = 4, FEWEST_REMOTE = 16 };
    unsigned fewest = settings->tree.open.fetcher ? FEWEST_REMOTE : FEWEST;
    unsigned threads = nt_settings_threads(settings);
    return threads > fewest ? threads : fewest;
}

/* Splits `cachesize` (0: 256 MiB, less on a small machine or in a small control group) for the number of
 * concurrent requests. Replies are at most 1 MiB, and use huge pages. A few replies are extra; further ones,
 * for many threads, come out of the cache's memory, at most an eighth of it. */
struct nt_memory_limits nt_memory_limits_of(const struct nt_settings *settings)
{
    const uint64_t few = 8 * MEBIBYTE, reply = 2 * MEBIBYTE;
    const uint64_t most = 256 * MEBIBYTE, least = 16 * MEBIBYTE, part = nt_memory_available() / 8;
    struct nt_memory_limits memory = {settings->tree.cache_bytes, request_threads(settings) * reply};
    if (!memory.cache_bytes)
        memory.cache_bytes = part > most ? most : part < least ? least : part;
    if (memory.reply_bytes > memory.cache_bytes / 8)
        memory.reply_bytes = memory.cache_bytes / 8;
    if (memory.reply_bytes < few)
        memory.reply_bytes = few;
    memory.cache_bytes -= memory.reply_bytes - few;
    return memory;
}

/* ---- The index file ---- */

static void log_index_failure(const struct nt_index_file *file, struct nt_log *log, int problem)
{
    struct nt_error error;
    nt_fail_system(&error, problem, "%s: cannot write the index", file->path);
    nt_log_line(log, error.message);
}

void nt_index_file_prepare(struct nt_index_file *file, struct nt_log *log)
{
    if (!file->path)
        return;
    file->descriptor = open(file->new_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file->descriptor < 0)
        log_index_failure(file, log, errno);
}

enum nt_status nt_index_file_read(struct nt_index_file *file, struct nt_error *error)
{
    enum nt_status status = file->path ? nt_chain_index_read(file->path, &file->index, error) : NT_OK;
    if (status == NT_INVALID)
        nt_error_context(error, "option \"index\"");
    return status;
}

bool nt_index_file_write(struct nt_index_file *file, const struct nt_buffer *text, struct nt_log *log)
{
    if (file->descriptor < 0)
        return false;
    int problem = nt_write_all(file->descriptor, text->bytes, text->length);
    if (problem)
        log_index_failure(file, log, problem);
    close(file->descriptor);
    file->descriptor = -1;
    return !problem;
}

void nt_index_file_replace(const struct nt_index_file *file, struct nt_log *log)
{
    if (file->path && rename(file->new_path, file->path) != 0)
        log_index_failure(file, log, errno);
}

void nt_index_file_deinit(struct nt_index_file *file, bool is_owner)
{
    if (file->new_path && is_owner)
        unlink(file->new_path);
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->new_path);
    nt_chain_index_free(file->index);
}

/* ---- Shared state ---- */

#define NT_PROGRAM "ntuplefs"

void nt_mount_program_note(struct nt_mount_program *program, const char *format, ...)
{
    va_list arguments;
    NT_AUTO_FREE char *line = NULL;
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) >= 0)
        nt_log_note(&program->log, line);
    va_end(arguments);
}

enum nt_exit_status nt_mount_program_fail(struct nt_mount_program *program, enum nt_exit_status status,
                                          const struct nt_error *error)
{
    nt_log_line(&program->log, error->message);
    return status;
}

/* An absolute path; a pattern may match no file. */
static void append_absolute(struct nt_buffer *text, const char *source)
{
    bool is_path = !nt_is_address(source);
    NT_AUTO_FREE char *path = is_path ? realpath(source, NULL) : NULL;
    NT_AUTO_FREE char *folder = is_path && !path && source[0] != '/' ? getcwd(NULL, 0) : NULL;
    if (!path)
        path = nt_address_redact(source);
    if (folder)
        nt_buffer_append_format(text, "%s%s", folder, strcmp(folder, "/") ? "/" : "");
    nt_buffer_append_string(text, path ? path : "");
}

/* The settings that both processes pass to libfuse. */
static struct nt_mount_settings mount_settings(const struct nt_mount_program *program)
{
    enum { FEWEST_READS_AHEAD = 2 }; /* slow decoding must not block a reader's own next read */
    const struct nt_settings *settings = &program->settings;
    unsigned threads = nt_settings_threads(settings);
    struct nt_mount_settings mount = settings->mount;
    mount.program = NT_PROGRAM;
    mount.mountpoint = program->mountpoint_argument;
    mount.source = mount.source ? mount.source : program->source_text.bytes;
    mount.subtype = mount.subtype ? mount.subtype : NT_PROGRAM;
    mount.options = settings->passed.bytes;
    mount.threads = request_threads(settings);
    /* If a server does not answer, one thread still serves requests that need no server. */
    mount.reads = mount.threads - (settings->tree.open.fetcher ? 1 : 0);
    mount.reply_bytes = nt_memory_limits_of(settings).reply_bytes;
    mount.reads_ahead = threads > FEWEST_READS_AHEAD ? threads : FEWEST_READS_AHEAD;
    return mount;
}

/* Starts the network helper, and derives everything from the options; call before the fork. */
static enum nt_status program_prepare(struct nt_mount_program *program, struct nt_error *error)
{
    struct nt_buffer *text = &program->source_text;
    struct nt_index_file *index = &program->index;
    NT_CLEANUP(nt_addresses_deinit) struct nt_addresses addresses = {.count = 0};
    NT_TRY(nt_expand_sources(&program->settings, program->sources, program->source_count, &program->chain,
                             &addresses, error));
    NT_TRY(nt_start_helper(&program->settings, &addresses, false, error));
    append_absolute(text, program->sources[0]);
    if (program->source_count > 1)
        nt_buffer_append_format(text, " and %zu more", program->source_count - 1);
    NT_TRY(nt_check_memory(!text->failed && !program->settings.passed.failed, error));
    program->mount_settings = mount_settings(program);
    *index = (struct nt_index_file){.path = program->settings.index, .descriptor = -1};
    if (index->path && asprintf(&index->new_path, "%s.%ld.new", index->path, (long)getpid()) < 0) {
        index->new_path = NULL;
        return nt_fail_memory(error);
    }
    return NT_OK;
}

/* ---- Main ---- */

static void print_help(void)
{
    printf("usage: " NT_PROGRAM " [options] %s\n"
           "Mounts RNTuples, TTrees and other columnar data as a tree of files.\n"
           "Without MOUNTPOINT, mounts on a directory named after the source: ./run for run.root.\n"
           "Unmount with fusermount3 -u MOUNTPOINT.\n"
           "\nOptions:\n",
           nt_mount_operands);
    nt_options_help(stdout, nt_mount_switches, NULL);
    printf("\nOptions that -o accepts, too, as NAME[=VALUE],...:\n");
    nt_options_help(stdout, nt_mount_options, NULL);
    nt_options_help(stdout, nt_tree_options, NULL);
    nt_options_help(stdout, nt_accepted_options, NULL);
    nt_formats_help(stdout);
    nt_exit_status_help(stdout);
}

/* Handles options that print something instead of mounting. */
static enum nt_exit_status print(struct nt_mount_program *program, int operand_count)
{
    struct nt_error error = {0};
    if (program->settings.help) {
        print_help();
    } else if (nt_check_versions(operand_count, &error) != NT_OK) {
        return nt_mount_program_fail(program, NT_EXIT_USAGE, &error);
    } else {
        nt_print_versions(NT_PROGRAM, nt_mount_libfuse_version());
        if (nt_mount_missing_features())
            printf("libfuse %s\n", nt_mount_missing_features());
    }
    return nt_standard_output_finish(&error) == NT_OK
               ? NT_EXIT_OK
               : nt_mount_program_fail(program, NT_EXIT_OUTPUT, &error);
}

/* Forks, and runs one of the processes to its end. */
static enum nt_exit_status divide(struct nt_mount_program *program)
{
    struct nt_error error = {0};
    enum nt_supervisor_role role;
    if (program_prepare(program, &error) != NT_OK)
        return nt_mount_program_fail(program, nt_exit_status(error.status), &error);
    if (nt_supervisor_start(&program->supervisor, &role, &error) != NT_OK)
        return nt_mount_program_fail(program, NT_EXIT_INTERNAL, &error);
    return role == NT_SUPERVISOR_ROLE_WORKER ? nt_mount_program_run_worker(program)
                                             : nt_mount_program_run_supervisor(program);
}

static enum nt_exit_status run(struct nt_mount_program *program)
{
    struct nt_error error = {0};
    if (!program->settings.foreground && !program->settings.mount.is_debugging) {
        int exit_status;
        switch (nt_background_start(&program->background, NT_EXIT_INTERNAL, &exit_status)) {
        case NT_BACKGROUND_PARENT:
            if (exit_status == NT_EXIT_OK && program->is_named_after_source)
                printf("mounted on %s; unmount with: fusermount3 -u %s\n", program->mountpoint_argument,
                       program->mountpoint_argument);
            return exit_status;
        case NT_BACKGROUND_FAILED:
            nt_fail_system(&error, errno, "cannot run in the background");
            return nt_mount_program_fail(program, NT_EXIT_INTERNAL, &error);
        case NT_BACKGROUND_CHILD:
            break;
        }
    }
    enum nt_exit_status status = divide(program);
    nt_chain_list_free(program->chain);
    nt_buffer_deinit(&program->source_text);
    return status;
}

/* The mountpoint when only a source is given: in the working directory, named after the source without
 * its extension. NT_INVALID says why the source does not give a name. */
static enum nt_status name_after_source(const char *source, struct nt_arena *arena, const char **name_ret,
                                        struct nt_error *error)
{
    bool is_address = nt_is_address(source),
         is_pattern =
             is_address ? nt_address_is_pattern(source) : nt_has_wildcard(source) && access(source, F_OK);
    NT_AUTO_FREE char *shown = nt_address_redact(source); /* without a query */
    NT_TRY(nt_check_memory(shown, error));
    struct nt_text stem = nt_path_stem(shown);
    bool is_server = is_address && stem.bytes > shown && stem.bytes[-1] == '/' && stem.bytes[-2] == '/',
         has_extension = stem.length && stem.length < nt_path_name(shown).length;
    const char *problem = is_pattern       ? "is a pattern"
                          : is_server      ? "has no path"
                          : !has_extension ? "has no extension"
                                           : NULL;
    if (problem)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "missing MOUNTPOINT, and no name for it: %s %s; see " NT_PROGRAM " --help", shown,
                       problem);
    *name_ret = nt_arena_copy(arena, stem.bytes, stem.length);
    return nt_check_memory(*name_ret, error);
}

/* Splits the operands into sources and the mountpoint. mount(8) always gives both. */
static enum nt_status take_operands(struct nt_mount_program *program, bool is_helper, int count,
                                    char **operands, struct nt_arena *arena, struct nt_error *error)
{
    program->sources = (const char *const *)operands;
    program->is_named_after_source = count == 1 && !is_helper;
    program->source_count = program->is_named_after_source ? 1 : count > 1 ? (size_t)count - 1 : 0;
    if (program->is_named_after_source)
        return name_after_source(operands[0], arena, &program->mountpoint_argument, error);
    program->mountpoint_argument = count > 1 ? operands[count - 1] : NULL;
    return program->mountpoint_argument
               ? NT_OK
               : nt_fail(error, NT_INVALID, NT_NO_OFFSET, "missing %s; see " NT_PROGRAM " --help",
                         count ? "MOUNTPOINT" : "SOURCE");
}

/* Has mount(8) called us through the link /sbin/mount.ntuplefs? */
static bool is_helper(const char *name)
{
    const char *slash = strrchr(name, '/');
    return strncmp(slash ? slash + 1 : name, "mount.", strlen("mount.")) == 0;
}

static enum nt_exit_status parse_and_run(struct nt_mount_program *program, int argument_count,
                                         char **arguments, struct nt_arena *arena)
{
    struct nt_error error = {0};
    int first;
    bool is_mount_helper = is_helper(arguments[0]);
    const struct nt_option *const tables[] = {is_mount_helper ? nt_helper_switches : nt_mount_switches,
                                              nt_mount_options, nt_tree_options, nt_accepted_options, NULL};
    if (nt_options_parse(tables, false, argument_count, arguments, &program->settings, arena, &first,
                         &error) != NT_OK)
        return nt_mount_program_fail(program, nt_exit_status(error.status), &error);
    if (program->settings.help || program->settings.version)
        return print(program, argument_count - first);
    if (take_operands(program, is_mount_helper, argument_count - first, arguments + first, arena, &error) !=
        NT_OK)
        return nt_mount_program_fail(program, NT_EXIT_USAGE, &error);
    return run(program);
}

int main(int argument_count, char **arguments)
{
    struct nt_mount_program program = {.log = {.program = NT_PROGRAM, .channel = NT_NO_CHANNEL},
                                       .background = NT_FOREGROUND};
    if (!nt_standard_streams_open())
        return NT_EXIT_INTERNAL;
    nt_close_inherited(argument_count, arguments);
    memory_prepare();
    struct nt_error error = {0};
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *arena = nt_arena_new();
    char **copies = arena ? nt_arguments_hide(argument_count, arguments, arena) : NULL;
    enum nt_exit_status status;
    if (copies) {
        status = parse_and_run(&program, argument_count, copies, arena);
    } else {
        nt_fail_memory(&error);
        status = nt_mount_program_fail(&program, NT_EXIT_INTERNAL, &error);
    }
    nt_buffer_deinit(&program.settings.passed);
    return status;
}
