/* SPDX-License-Identifier: MIT
 *
 * Unmounting what nobody uses: after a time without a request, and with no file open. It is the kernel that
 * decides in the end: while somebody has a file or a directory of the mount open, or is just looking up a name
 * in it, it refuses, and another such time begins. So a request comes either before the unmount, and keeps it
 * away, or after it, and finds the directory below.
 */
#ifndef NT_FUSE_IDLE_H
#define NT_FUSE_IDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct nt_idle {
    unsigned seconds; /* 0: never */
    bool (*is_in_use)(void *context);
    void *context;
    bool (*unmount)(void *context); /* false where it is in use after all */
    void *unmount_context;
    atomic_uint_least64_t last_use; /* nanoseconds of the monotonic clock */
    bool is_started, must_end;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wanted;
};

/* Begin to watch; the first five members are set, the rest is 0. 0 or an errno
 * value. */
int nt_idle_start(struct nt_idle *idle);
/* Also where it was not started. */
void nt_idle_stop(struct nt_idle *idle);

/* A request has come, by its number in <linux/fuse.h>. Any thread. */
void nt_idle_note(struct nt_idle *idle, uint32_t opcode);

#endif
