/* SPDX-License-Identifier: MIT
 *
 * Starts the daemon: closes inherited descriptors, preloads libgcc_s, forks into the background and
 * reports success only when the mount works; and logs to stderr, syslog or the supervisor.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse_log.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "fuse/mount.h"

/* ---- Close inherited descriptors ---- */

enum { FIRST = STDERR_FILENO + 1 };

/* Linux before 5.9 lacks close_range(). */
static void close_between(unsigned first, unsigned last)
{
    struct rlimit limit;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0) == 0)
        return;
#endif
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX)
        limit.rlim_cur = INT_MAX;
    for (unsigned descriptor = first; descriptor <= last && descriptor < limit.rlim_cur; descriptor++)
        close((int)descriptor);
}

/* The lowest descriptor >= `first` that an argument names after `folder`, by itself or as the value of an
 * option; or -1. */
static int named_after(const char *argument, const char *folder, int first)
{
    int lowest = -1;
    for (const char *at = argument; (at = strstr(at, folder)); at += strlen(folder)) {
        int descriptor, length = -1;
        bool is_begin = at == argument || strchr("=,:", at[-1]);
        const char *number = at + strlen(folder);
        if (!is_begin || sscanf(number, "%9d%n", &descriptor, &length) != 1)
            continue;
        bool is_end = number[length] == '\0' || number[length] == '/' || number[length] == ',';
        if (is_end && descriptor >= first && (lowest < 0 || descriptor < lowest))
            lowest = descriptor;
    }
    return lowest;
}

/* The lowest named descriptor >= `first`, or -1. */
static int next_named(int argument_count, char *const *arguments, int first)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    int next = -1;
    for (int i = 1; i < argument_count; i++)
        for (size_t k = 0; k < sizeof(folders) / sizeof(*folders); k++) {
            int descriptor = named_after(arguments[i], folders[k], first);
            if (descriptor >= 0 && (next < 0 || descriptor < next))
                next = descriptor;
        }
    return next;
}

void nt_close_inherited(int argument_count, char *const *arguments)
{
    int first = FIRST, kept;
    while ((kept = next_named(argument_count, arguments, first)) >= 0) {
        if (kept > first)
            close_between((unsigned)first, (unsigned)kept - 1);
        first = kept + 1;
    }
    close_between((unsigned)first, UINT_MAX);
}

/* ---- Preload the unwinder ---- */

enum nt_status nt_unwinder_load(struct nt_error *error)
{
    if (dlopen("libgcc_s.so.1", RTLD_NOW)) /* never unloaded */
        return NT_OK;
    return nt_fail(error, NT_IO, NT_NO_OFFSET, "cannot load the library for ending threads: %s", dlerror());
}

/* ---- Fork into the background ---- */

/* Returns true if the child is ready; false if its end of the pipe closed first. */
static bool wait_until_ready(int descriptor)
{
    char byte;
    return TEMP_FAILURE_RETRY(read(descriptor, &byte, 1)) == 1;
}

static int wait_for_exit(pid_t child, int death_status)
{
    int status;
    if (TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) < 0)
        return death_status;
    return WIFEXITED(status) ? WEXITSTATUS(status) : death_status;
}

enum nt_background_role nt_background_start(struct nt_background *background, int death_status,
                                            int *exit_status_ret)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NT_BACKGROUND_FAILED;
    pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return NT_BACKGROUND_FAILED;
    }
    if (child == 0) {
        close(ends[0]);
        background->ready_pipe = ends[1];
        return NT_BACKGROUND_CHILD;
    }
    close(ends[1]);
    *exit_status_ret = wait_until_ready(ends[0]) ? 0 : wait_for_exit(child, death_status);
    close(ends[0]);
    return NT_BACKGROUND_PARENT;
}

int nt_background_null(void)
{
    return open("/dev/null", O_RDWR | O_CLOEXEC);
}

void nt_background_leave(int null)
{
    setsid();
    int unused = chdir("/"); /* a failure only keeps another mount busy */
    (void)unused;
    if (null < 0)
        return;
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; standard++)
        dup2(null, standard);
    if (null > STDERR_FILENO)
        close(null);
}

void nt_background_forget(struct nt_background *background)
{
    if (background->ready_pipe >= 0)
        close(background->ready_pipe);
    background->ready_pipe = -1;
}

void nt_background_ready(struct nt_background *background)
{
    if (background->ready_pipe < 0)
        return;
    nt_background_leave(nt_background_null());
    ssize_t written = write(background->ready_pipe, "", 1);
    (void)written; /* a parent that has ended needs no answer */
    nt_background_forget(background);
}

/* ---- Log ---- */

void nt_log_put(struct nt_log *log, int level, const char *line)
{
    if (log->channel != NT_NO_CHANNEL) {
        nt_channel_send_line(log->channel, level, line);
        return;
    }
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    nt_append_printable(&text, line, strlen(line));
    if (text.failed || !text.bytes)
        return;
    if (log->to_syslog)
        syslog(level, "%s", text.bytes);
    else
        fprintf(stderr, "%s: %s\n", log->program, text.bytes);
}

void nt_log_line(struct nt_log *log, const char *line)
{
    nt_log_put(log, LOG_ERR, line);
}

void nt_log_note(struct nt_log *log, const char *line)
{
    nt_log_put(log, LOG_INFO, line);
}

void nt_log_to_syslog(struct nt_log *log)
{
    openlog(log->program, LOG_PID, LOG_DAEMON);
    log->to_syslog = true;
}

/* Static because libfuse's log function has no context argument. */
static int libfuse_channel = NT_NO_CHANNEL;

__attribute__((format(printf, 2, 0))) static void libfuse_to_channel(enum fuse_log_level level,
                                                                     const char *format, va_list arguments)
{
    char line[1024];
    vsnprintf(line, sizeof(line), format, arguments);
    line[strcspn(line, "\n")] = '\0';
    nt_channel_send_line(libfuse_channel, (int)level, line); /* libfuse uses syslog's levels */
}

void nt_log_to_channel(struct nt_log *log, int channel)
{
    log->channel = libfuse_channel = channel;
    fuse_set_log_func(libfuse_to_channel);
}
