/* SPDX-License-Identifier: MIT
 *
 * The buffers that bytes are decoded into before they are written to the kernel.
 */
#ifndef NT_FUSE_REPLY_BUFFERS_H
#define NT_FUSE_REPLY_BUFFERS_H

#include <pthread.h>
#include <stddef.h>

#include "core/base/turns.h"

struct nt_reply_buffer {
    void *bytes;
    size_t capacity;
    struct nt_reply_buffer *next;
};

struct nt_reply_buffers {
    pthread_mutex_t lock;
    struct nt_turns turns;
    uint64_t limit;
    uint64_t lent, kept;          /* bytes of those that are lent, and of the idle ones */
    struct nt_reply_buffer *idle; /* the last one returned first */
};

/* `limit` bounds the bytes of all buffers, but for one that is larger. 0 or an errno value. */
int nt_reply_buffers_init(struct nt_reply_buffers *buffers, uint64_t limit);
/* All buffers have been returned. */
void nt_reply_buffers_deinit(struct nt_reply_buffers *buffers);

/* At least `size` bytes, the caller's until they are returned; waits while others have too many. NULL without
 * memory. */
struct nt_reply_buffer *nt_reply_buffer_borrow(struct nt_reply_buffers *buffers, size_t size);
/* Accepts NULL. */
void nt_reply_buffer_return(struct nt_reply_buffers *buffers, struct nt_reply_buffer *buffer);

#endif
