/* SPDX-License-Identifier: MIT
 *
 * A mount is two processes. One decodes what strangers' files hold, and answers the kernel's requests; in the end it has
 * nothing but its sources and the device. The other has its user's rights and reads no file: it mounts, unmounts
 * (on signals, when nobody uses the mount, when the other has died) and has the log.
 */
#ifndef NT_FUSE_SUPERVISOR_H
#define NT_FUSE_SUPERVISOR_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/base/error.h"
#include "fuse/channel.h"

struct nt_supervisor {
    int channel;      /* to the other process */
    int signals;      /* the supervisor's: a signalfd */
    pid_t decoder;    /* the supervisor's */
    sigset_t blocked; /* before */
};

enum nt_supervisor_role { NT_ROLE_DECODER, NT_ROLE_SUPERVISOR };

/* Fork, before any thread has been started. The one that decodes ends when the other does, and leaves SIGINT and SIGHUP to
 * it. */
enum nt_status nt_supervisor_start(struct nt_supervisor *supervisor, enum nt_supervisor_role *role_ret,
                                   struct nt_error *error);

/* What the supervisor does when it is asked. */
struct nt_supervisor_tasks {
    /* Descriptors for the other process, NT_MESSAGE_DESCRIPTORS at most; false: there is no mount. */
    bool (*mount)(void *context, int *descriptors_ret, int *count_ret);
    void (*ready)(void *context);
    void (*line)(void *context, int level, const char *line);
    void (*kept)(void *context);
    bool (*unmount)(void *context, bool is_lazy); /* false where it is in use, or not mounted */
    void *context;
};

/* How it came to an end. */
struct nt_supervisor_end {
    int signal;    /* by which the supervisor was told to; 0: by none */
    bool was_idle; /* it unmounted because nobody used it */
    bool was_ready;
    int exit_status; /* of the one that decodes; -1: it was ended by: */
    int death_signal;
};

/* Until the other process has ended; then nothing is mounted any more. */
void nt_supervise(struct nt_supervisor *supervisor, const struct nt_supervisor_tasks *tasks,
                  struct nt_supervisor_end *end_ret);

#endif
