/* SPDX-License-Identifier: MIT
 *
 * The kernel hands its requests to the thread that has waited for longest, so a buffer for each thread would
 * be the one that was not used for longest. The buffer that was returned last is in the processor's cache.
 * There are never more than requests were served at once.
 */
#include "fuse/reply_buffers.h"

#include <stdlib.h>

#include "base/large.h"

int nt_reply_buffers_init(struct nt_reply_buffers *buffers)
{
    buffers->idle = NULL;
    return pthread_mutex_init(&buffers->lock, NULL);
}

static void buffer_free(struct nt_reply_buffer *buffer)
{
    free(buffer->bytes);
    free(buffer);
}

void nt_reply_buffers_deinit(struct nt_reply_buffers *buffers)
{
    for (struct nt_reply_buffer *buffer = buffers->idle, *next; buffer; buffer = next) {
        next = buffer->next;
        buffer_free(buffer);
    }
    pthread_mutex_destroy(&buffers->lock);
}

static struct nt_reply_buffer *take_idle(struct nt_reply_buffers *buffers)
{
    pthread_mutex_lock(&buffers->lock);
    struct nt_reply_buffer *buffer = buffers->idle;
    if (buffer)
        buffers->idle = buffer->next;
    pthread_mutex_unlock(&buffers->lock);
    return buffer;
}

struct nt_reply_buffer *nt_reply_buffer_borrow(struct nt_reply_buffers *buffers, size_t size)
{
    struct nt_reply_buffer *buffer = take_idle(buffers);
    if (!buffer && !(buffer = calloc(1, sizeof(*buffer))))
        return NULL;
    if (!buffer->bytes || buffer->capacity < size) {
        free(buffer->bytes);
        buffer->bytes = nt_large_new(size, &buffer->capacity);
    }
    if (buffer->bytes)
        return buffer;
    buffer_free(buffer);
    return NULL;
}

void nt_reply_buffer_return(struct nt_reply_buffers *buffers, struct nt_reply_buffer *buffer)
{
    if (!buffer)
        return;
    pthread_mutex_lock(&buffers->lock);
    buffer->next = buffers->idle;
    buffers->idle = buffer;
    pthread_mutex_unlock(&buffers->lock);
}
