/* SPDX-License-Identifier: MIT
 *
 * Going to the background without lying about success: the process that the shell waits for ends only when
 * the one in the background is ready, or with its exit status when it is not.
 */
#ifndef NT_FUSE_BACKGROUND_H
#define NT_FUSE_BACKGROUND_H

#include <stdbool.h>

struct nt_background {
    int ready_pipe; /* -1: in the foreground */
};

#define NT_FOREGROUND ((struct nt_background){.ready_pipe = -1})

enum nt_background_role {
    NT_BACKGROUND_CHILD,  /* go on, and call nt_background_ready when all works */
    NT_BACKGROUND_PARENT, /* end with *exit_status_ret */
    NT_BACKGROUND_FAILED, /* errno tells why */
};

/* Fork, before any thread has been started. The child keeps stderr, terminal and directory for now. In the
 * parent this returns when the child is ready or has ended. `death_status` is given where a signal
 * ended it. */
enum nt_background_role nt_background_start(struct nt_background *background, int death_status,
                                            int *exit_status_ret);

/* Let the parent go with exit status 0; leave the terminal: own session, stdio on /dev/null, directory /.
 * Does nothing in the foreground. */
void nt_background_ready(struct nt_background *background);

#endif
