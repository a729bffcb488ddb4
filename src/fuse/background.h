/* SPDX-License-Identifier: MIT
 *
 * A program in the background: going there, and where its messages go then.
 */
#ifndef NT_FUSE_BACKGROUND_H
#define NT_FUSE_BACKGROUND_H

#include <stdbool.h>

#include "fuse/channel.h"

/* Descriptors that the caller left open are closed, all but standard input, output and error, and those that
 * an argument names as /dev/fd/N or /proc/self/fd/N: who keeps the end of a pipe keeps whoever reads the
 * other end waiting. Before the program opens anything. */
void nt_inherited_close(int argument_count, char *const *arguments);

struct nt_background {
    int ready_pipe; /* -1: in the foreground */
};

#define NT_FOREGROUND ((struct nt_background){.ready_pipe = -1})

enum nt_background_role {
    NT_BACKGROUND_CHILD,  /* go on, and call nt_background_ready when all works */
    NT_BACKGROUND_PARENT, /* end with *exit_status_ret */
    NT_BACKGROUND_FAILED, /* errno tells why */
};

/* Nothing lies about success: the process that the shell waits for ends only when the one in the background
 * is ready, or with its exit status when it is not. Fork, before any thread has been started. The child keeps
 * stderr, terminal and directory for now. In the parent this returns when the child is ready or has ended.
 * `death_status` is given where a signal ended it. */
enum nt_background_role nt_background_start(struct nt_background *background, int death_status,
                                            int *exit_status_ret);

/* Let the parent go with exit status 0, and leave the terminal. Does nothing in the foreground. */
void nt_background_ready(struct nt_background *background);

/* For a child of the one that will be ready. */
void nt_background_forget(struct nt_background *background);

/* Leave the terminal: own session, stdio on /dev/null, directory /. /dev/null is opened while that can be done. */
int nt_background_null(void);
void nt_background_leave(int null);

/* ---- the log ---- */

/* Where messages go: stderr while somebody can see it, syslog from the moment the program is in the
 * background; of the process that decodes then, to the one that has the log. */
struct nt_log {
    const char *program;
    int channel; /* NT_NO_CHANNEL: the log is here */
    bool to_syslog;
};

/* A failure, or a note of what happens: one line, without its newline. Characters that could harm a terminal or forge a line are escaped. Any
 * thread. */
void nt_log_line(struct nt_log *log, const char *line);
void nt_log_note(struct nt_log *log, const char *line);

void nt_log_put(struct nt_log *log, int level, const char *line); /* syslog's level */

/* From now on to syslog. */
void nt_log_to_syslog(struct nt_log *log);
/* From now on to another process, libfuse's own messages, too. Before any thread is started. */
void nt_log_to_channel(struct nt_log *log, int channel);

#endif
