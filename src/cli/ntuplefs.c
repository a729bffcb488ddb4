/* SPDX-License-Identifier: MIT
 *
 * The mount program. In: arguments. Out: a mount that works, or a message and an exit status.
 *
 * The sources are opened before anything is mounted, and the process that was started ends only when the
 * kernel has accepted the mount. It forks before the first thread is made.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntuple/ntuple.h>

#include "cli/exit_status.h"
#include "cli/settings.h"
#include "cli/versions.h"
#include "fuse/background.h"
#include "fuse/lead.h"
#include "fuse/mount.h"
#include "fuse/mountpoint.h"
#include "model/model.h"

#define PROGRAM "ntuplefs"

struct program {
    struct nt_settings settings;
    const char *const *sources;
    size_t source_count;
    const char *mountpoint_argument;
    struct nt_log log;
    struct nt_background background;
    struct nt_mountpoint mountpoint;
    struct nt_lead lead; /* who receives requests */
    struct nt_vfs *vfs;
    struct nt_mount *mount;
    struct nt_buffer source_text; /* what mount(8) shows */
};

static void print_help(void)
{
    printf("usage: " PROGRAM " [options] %s\n"
           "Show RNTuple files and other columnar data as a tree of files; unmount with fusermount3 -u "
           "MOUNTPOINT.\n"
           "\nOptions:\n",
           nt_mount_operands);
    nt_options_help(stdout, nt_mount_switches);
    printf("\nOptions that can also stand after -o, as NAME[=VALUE],...:\n");
    nt_options_help(stdout, nt_mount_options);
    nt_options_help(stdout, nt_tree_options);
    nt_options_help(stdout, nt_accepted_options);
    nt_formats_help(stdout);
    nt_exit_status_help(stdout);
}

static void print_version(void)
{
    nt_print_versions(PROGRAM, nt_mount_libfuse_version());
    if (nt_mount_libfuse_lacks())
        printf("libfuse %s\n", nt_mount_libfuse_lacks());
}

static void report(void *context, const char *line)
{
    struct program *program = context;
    nt_log_line(&program->log, line);
}

static enum nt_exit_status fail(struct program *program, enum nt_exit_status status,
                                const struct nt_error *error)
{
    nt_log_line(&program->log, error->message);
    return status;
}

__attribute__((format(printf, 2, 3))) static void note(struct program *program, const char *format, ...)
{
    va_list arguments;
    char *line = NULL;
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) >= 0)
        nt_log_note(&program->log, line);
    va_end(arguments);
    free(line);
}

static void note_mounted(struct program *program)
{
    struct nt_buffer given = {0};
    nt_options_append_given(&given, nt_mount_options, &program->settings);
    nt_options_append_given(&given, nt_tree_options, &program->settings);
    note(program, "mounted %s on %s, version %s%s%s", program->source_text.bytes, program->mountpoint.path,
         nt_version(), given.length ? ": " : "", given.length ? given.bytes : "");
    if (nt_mount_libfuse_lacks() &&
        (program->settings.auto_unmount || program->settings.direct_io == NT_DIRECT_IO_ON))
        note(program, "libfuse %s %s", nt_mount_libfuse_version(), nt_mount_libfuse_lacks());
    nt_buffer_deinit(&given);
}

static void note_end(struct program *program, const struct nt_mount_end *end)
{
    if (end->signal)
        note(program, "got signal %d (%s)", end->signal, strsignal(end->signal));
    if (end->was_idle)
        note(program, "nobody used it for %u s", program->settings.idle_seconds);
    note(program, "unmounted %s", program->mountpoint.path);
}

/* Called when the kernel has accepted the mount: nothing can go wrong any more. */
static void on_ready(void *context)
{
    struct program *program = context;
    if (program->background.ready_pipe >= 0)
        nt_log_to_syslog(&program->log);
    note_mounted(program);
    nt_background_ready(&program->background);
}

static void before_slow_work(void *context)
{
    struct program *program = context;
    nt_lead_let_go(&program->lead);
}

/* What mount(8) shows: the source's absolute path, and how many more there are. */
static void set_source_text(struct program *program)
{
    struct nt_buffer *text = &program->source_text;
    char *path = realpath(program->sources[0], NULL);
    nt_buffer_text(text, path ? path : program->sources[0]);
    if (program->source_count > 1)
        nt_buffer_format(text, " and %zu more", program->source_count - 1);
    free(path);
}

static bool is_within(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 &&
           (path[length] == '/' || path[length] == '\0' || strcmp(directory, "/") == 0);
}

/* A source below the mountpoint would be hidden by the mount, and a mountpoint below a mirrored directory
 * would be mirrored in itself without end. */
static enum nt_status check_places(const struct program *program, struct nt_error *error)
{
    const char *mountpoint = program->mountpoint.path;
    for (size_t i = 0; i < program->source_count; i++) {
        char *source = realpath(program->sources[i], NULL);
        bool overlaps = source && (is_within(source, mountpoint) || is_within(mountpoint, source));
        free(source);
        if (overlaps)
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s and the mountpoint %s lie in one another",
                           program->sources[i], mountpoint);
    }
    return NT_OK;
}

/* Requests that are served at once. Slow decoding must not keep metadata waiting. */
static unsigned request_threads(const struct nt_settings *settings)
{
    enum { FEWEST = 4 };
    unsigned threads = settings->threads ? settings->threads : nt_processors();
    return threads > FEWEST ? threads : FEWEST;
}

static struct nt_memory share_memory(const struct nt_settings *settings)
{
    return nt_memory_share(settings->cache_bytes, request_threads(settings));
}

/* The message names the option by which what is stored can be seen, where it can. */
static void suggest_broken(const struct program *program, struct nt_vfs_options options,
                           struct nt_error *error)
{
    struct nt_vfs *vfs;
    size_t length = strlen(error->message);
    options.open.open_broken = true;
    options.threads = 0;
    if (nt_vfs_new(program->sources, program->source_count, &options, &vfs, NULL) != NT_OK)
        return;
    snprintf(error->message + length, sizeof(error->message) - length,
             "; -o broken=show shows what is stored");
    nt_vfs_free(vfs);
}

static enum nt_exit_status open_tree(struct program *program)
{
    struct nt_error error = {0};
    struct nt_vfs_options options = nt_settings_tree(&program->settings);
    options.cache_bytes = share_memory(&program->settings).cache_bytes;
    options.report = report;
    options.before_slow_work = before_slow_work;
    options.context = program;
    options.open.for_other_users = program->settings.allow_other;
    options.owner = program->settings.uid.is_given ? &program->settings.uid.number : NULL;
    options.group = program->settings.gid.is_given ? &program->settings.gid.number : NULL;
    if (program->settings.single_threaded)
        options.threads = 0;
    options.always_ahead =
        program->settings.direct_io == NT_DIRECT_IO_ON; /* the kernel does not read ahead then */
    enum nt_status status =
        nt_vfs_new(program->sources, program->source_count, &options, &program->vfs, &error);
    if (status != NT_OK) {
        suggest_broken(program, options, &error);
        return fail(program, nt_exit_status(status), &error);
    }
    nt_vfs_try_sources(program->vfs);
    return NT_EXIT_OK;
}

static enum nt_status mount_and_serve(struct program *program, struct nt_error *error)
{
    enum { FEWEST_READS_AHEAD = 2 }; /* slow decoding must not keep a reader's own next read waiting */
    const struct nt_settings *settings = &program->settings;
    unsigned threads = settings->threads ? settings->threads : nt_processors();
    struct nt_mount_settings mount_settings = {
        .program = PROGRAM,
        .mountpoint = program->mountpoint.path,
        .source = settings->fsname ? settings->fsname : program->source_text.bytes,
        .subtype = settings->subtype ? settings->subtype : PROGRAM,
        .options = settings->passed.bytes,
        .allow_other = settings->allow_other,
        .auto_unmount = settings->auto_unmount,
        .is_debugging = settings->debug,
        .is_single_threaded = settings->single_threaded,
        .threads = request_threads(settings),
        .reply_bytes = share_memory(settings).reply_bytes,
        .reads_ahead = threads > FEWEST_READS_AHEAD ? threads : FEWEST_READS_AHEAD,
        .direct_io = settings->direct_io,
        .idle_seconds = settings->idle_seconds,
        .lead = &program->lead,
        .on_ready = on_ready,
        .context = program,
    };
    struct nt_mount_end end;
    enum nt_status status = nt_mount_new(program->vfs, &mount_settings, &program->mount, error);
    if (status == NT_OK)
        status = nt_mount_serve(program->mount, &end, error);
    nt_mount_free(program->mount);
    if (status == NT_OK)
        note_end(program, &end);
    return status;
}

static enum nt_exit_status serve(struct program *program)
{
    struct nt_error error = {0};
    enum nt_status status = nt_mountpoint_prepare(&program->mountpoint, program->mountpoint_argument,
                                                  program->settings.force, &error);
    if (status == NT_OK)
        status = check_places(program, &error);
    set_source_text(program);
    if (status == NT_OK && (program->source_text.failed || program->settings.passed.failed))
        status = nt_fail_memory(&error);
    if (status == NT_OK)
        status = mount_and_serve(program, &error);
    nt_buffer_deinit(&program->source_text);
    nt_mountpoint_release(&program->mountpoint);
    return status == NT_OK ? NT_EXIT_OK : fail(program, NT_EXIT_MOUNT, &error);
}

static enum nt_exit_status run(struct program *program)
{
    struct nt_error error = {0};
    if (!program->settings.foreground && !program->settings.debug) {
        int exit_status;
        switch (nt_background_start(&program->background, NT_EXIT_INTERNAL, &exit_status)) {
        case NT_BACKGROUND_PARENT:
            return exit_status;
        case NT_BACKGROUND_FAILED:
            nt_fail_system(&error, errno, "cannot go to the background");
            return fail(program, NT_EXIT_INTERNAL, &error);
        case NT_BACKGROUND_CHILD:
            break;
        }
    }
    if (nt_unwinder_load(&error) != NT_OK)
        return fail(program, NT_EXIT_INTERNAL, &error);
    int problem = nt_lead_init(&program->lead, NT_LEAD_PATIENCE);
    if (problem) {
        nt_fail_system(&error, problem, "cannot prepare for requests");
        return fail(program, NT_EXIT_INTERNAL, &error);
    }
    enum nt_exit_status status = open_tree(program);
    if (status == NT_EXIT_OK && !program->settings.is_fake)
        status = serve(program);
    nt_vfs_free(program->vfs);
    nt_lead_deinit(&program->lead);
    return status;
}

/* Whether mount(8) has called us, by the name of a link: /sbin/mount.ntuplefs. */
static bool is_helper(const char *name)
{
    const char *slash = strrchr(name, '/');
    return strncmp(slash ? slash + 1 : name, "mount.", strlen("mount.")) == 0;
}

static enum nt_exit_status parse_and_run(struct program *program, int argument_count, char **arguments,
                                         struct nt_arena *arena)
{
    struct nt_error error = {0};
    int first;
    const struct nt_option *const tables[] = {is_helper(arguments[0]) ? nt_helper_switches
                                                                      : nt_mount_switches,
                                              nt_mount_options, nt_tree_options, nt_accepted_options};
    if (nt_options_parse(tables, sizeof(tables) / sizeof(*tables), false, argument_count, arguments,
                         &program->settings, arena, &first, &error) != NT_OK)
        return fail(program, nt_exit_status(error.status), &error);
    if (program->settings.help || program->settings.version) {
        (program->settings.help ? print_help : print_version)();
        return NT_EXIT_OK;
    }
    if (argument_count - first < 2) {
        nt_fail(&error, NT_INVALID, NT_NO_OFFSET, "SOURCE and MOUNTPOINT are needed; see " PROGRAM " --help");
        return fail(program, NT_EXIT_USAGE, &error);
    }
    program->sources = (const char *const *)arguments + first;
    program->source_count = (size_t)(argument_count - first - 1);
    program->mountpoint_argument = arguments[argument_count - 1];
    return run(program);
}

int main(int argument_count, char **arguments)
{
    struct program program = {.log = {.program = PROGRAM}, .background = NT_FOREGROUND};
    nt_inherited_close(argument_count, arguments);
    nt_memory_prepare();
    struct nt_arena *arena = nt_arena_new();
    if (!arena)
        return NT_EXIT_INTERNAL;
    enum nt_exit_status status = parse_and_run(&program, argument_count, arguments, arena);
    nt_buffer_deinit(&program.settings.passed);
    nt_arena_free(arena);
    return status;
}
