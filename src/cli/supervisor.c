/* SPDX-License-Identifier: MIT
 *
 * The supervisor process of ntuplefs: mounts and unmounts at the worker's request or on a signal,
 * replaces the index file, and owns the log.
 */

#include <ntuple/version.h>

#include <signal.h>

#include "cli/ntuplefs.h"

struct mount_supervisor {
    struct nt_mount_program *program;
    struct nt_mountpoint mountpoint;
    struct nt_kernel_mount mounting;
};

static void note_mounted(struct mount_supervisor *supervisor)
{
    struct nt_mount_program *program = supervisor->program;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer given = {0};
    nt_options_append_given(&given, nt_mount_options, &program->settings);
    nt_options_append_given(&given, nt_tree_options, &program->settings);
    nt_mount_program_note(program, "mounted %s on %s, version %s%s%s", program->source_text.bytes,
                          supervisor->mountpoint.path, nt_version(), given.length ? ": " : "",
                          given.length ? given.bytes : "");
    if (nt_mount_missing_features() &&
        (program->settings.mount.auto_unmount || program->settings.mount.direct_io == NT_DIRECT_IO_ON))
        nt_mount_program_note(program, "libfuse %s %s", nt_mount_libfuse_version(),
                              nt_mount_missing_features());
}

static void note_end(struct mount_supervisor *supervisor, const struct nt_supervisor_end *end)
{
    struct nt_mount_program *program = supervisor->program;
    if (end->signal)
        nt_mount_program_note(program, "got signal %d (%s)", end->signal, strsignal(end->signal));
    if (end->was_idle)
        nt_mount_program_note(program, "unused for %u s", program->settings.mount.idle_seconds);
    nt_mount_program_note(program, "unmounted %s", supervisor->mountpoint.path);
}

/* A mount would hide a source below the mountpoint. A mountpoint below a passthrough directory would
 * show itself endlessly. */
static enum nt_status check_overlap(const struct mount_supervisor *supervisor, struct nt_error *error)
{
    const struct nt_mount_program *program = supervisor->program;
    const char *mountpoint = supervisor->mountpoint.path;
    for (size_t i = 0; i < program->source_count; i++) {
        char *source = realpath(program->sources[i], NULL);
        bool overlaps =
            source && (nt_path_is_within(source, mountpoint) || nt_path_is_within(mountpoint, source));
        free(source);
        if (overlaps)
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s and the mountpoint %s overlap",
                           program->sources[i], mountpoint);
    }
    return NT_OK;
}

static bool mount(void *context, int *descriptors_ret, int *count_ret)
{
    struct mount_supervisor *supervisor = context;
    struct nt_mount_program *program = supervisor->program;
    struct nt_error error = {0};
    struct nt_mount_settings settings = program->mount_settings;
    unsigned flags = (program->settings.force ? NT_MOUNTPOINT_FORCE : 0) |
                     (program->is_named_after_source ? NT_MOUNTPOINT_EMPTY : 0);
    enum nt_status status =
        nt_mountpoint_prepare(&supervisor->mountpoint, program->mountpoint_argument, flags, &error);
    settings.mountpoint = supervisor->mountpoint.path;
    if (status == NT_OK)
        status = check_overlap(supervisor, &error);
    if (status == NT_OK)
        status = nt_kernel_mount_make(&supervisor->mounting, &settings, descriptors_ret, count_ret, &error);
    if (status != NT_OK)
        nt_mount_program_fail(program, NT_EXIT_MOUNT, &error);
    return status == NT_OK;
}

static bool unmount(void *context, bool is_lazy)
{
    struct mount_supervisor *supervisor = context;
    struct nt_fetcher *fetcher = supervisor->program->settings.tree.open.fetcher;
    if (is_lazy && fetcher)
        nt_fetcher_stop(fetcher); /* a thread that waits for a server delays the worker's end */
    return nt_kernel_mount_end(&supervisor->mounting, is_lazy);
}

/* The kernel has accepted the mount: startup has succeeded. */
static void be_ready(void *context)
{
    struct mount_supervisor *supervisor = context;
    struct nt_mount_program *program = supervisor->program;
    if (program->background.ready_pipe >= 0)
        nt_log_to_syslog(&program->log);
    note_mounted(supervisor);
    nt_background_ready(&program->background);
}

static void put_line(void *context, int level, const char *line)
{
    struct mount_supervisor *supervisor = context;
    nt_log_put(&supervisor->program->log, level, line);
}

static void replace_index(void *context)
{
    struct mount_supervisor *supervisor = context;
    nt_index_file_replace(&supervisor->program->index, &supervisor->program->log);
}

static enum nt_exit_status end_status(struct nt_mount_program *program, const struct nt_supervisor_end *end)
{
    struct nt_error error = {0};
    if (end->exit_status >= 0)
        return (enum nt_exit_status)end->exit_status;
    if (end->signal && end->was_ready)
        return NT_EXIT_OK;
    if (end->signal)
        nt_fail(&error, NT_IO, NT_NO_OFFSET, "%s: the mount ended before it was ready",
                program->mountpoint_argument);
    else
        nt_fail(&error, NT_IO, NT_NO_OFFSET, "signal %d (%s) ended the worker", end->death_signal,
                strsignal(end->death_signal));
    return nt_mount_program_fail(program, end->signal ? NT_EXIT_MOUNT : NT_EXIT_INTERNAL, &error);
}

enum nt_exit_status nt_mount_program_run_supervisor(struct nt_mount_program *program)
{
    struct mount_supervisor supervisor = {.program = program};
    const struct nt_supervisor_tasks tasks = {mount, be_ready, put_line, replace_index, unmount, &supervisor};
    struct nt_supervisor_end end;
    nt_supervisor_run(&program->supervisor, &tasks, &end);
    if (end.signal && !supervisor.mountpoint.path) { /* a signal ends the program in the usual way */
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, end.signal);
        sigprocmask(SIG_UNBLOCK, &signals, NULL);
        raise(end.signal);
    }
    enum nt_exit_status status = end_status(program, &end);
    if (end.was_ready)
        note_end(&supervisor, &end);
    nt_mountpoint_release(&supervisor.mountpoint);
    nt_index_file_deinit(&program->index, true);
    nt_fetcher_free(program->settings.tree.open.fetcher);
    return status;
}
