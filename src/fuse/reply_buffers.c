/* SPDX-License-Identifier: MIT
 *
 * A pool of reply buffers with a total limit. The last returned buffer is lent first, because it is
 * still in the CPU cache; over the limit threads wait in FIFO order.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/base/memory.h"
#include "core/base/thread.h"
#include "fuse/operations.h"

int nt_reply_buffers_init(struct nt_reply_buffers *buffers, uint64_t limit)
{
    *buffers = (struct nt_reply_buffers){.limit = limit};
    int problem = pthread_mutex_init(&buffers->lock, NULL);
    if (problem)
        return problem;
    problem = nt_fifo_init(&buffers->fifo);
    if (problem)
        pthread_mutex_destroy(&buffers->lock);
    return problem;
}

static void free_all(struct nt_reply_buffer_list *list)
{
    struct nt_reply_buffer *buffer;
    while ((buffer = SLIST_FIRST(list))) {
        SLIST_REMOVE_HEAD(list, link);
        free(buffer->bytes);
        free(buffer);
    }
}

void nt_reply_buffers_deinit(struct nt_reply_buffers *buffers)
{
    free_all(&buffers->idle);
    nt_fifo_deinit(&buffers->fifo);
    pthread_mutex_destroy(&buffers->lock);
}

static bool has_room(const void *context, uint64_t bytes)
{
    const struct nt_reply_buffers *buffers = context;
    return buffers->lent == 0 || buffers->lent + bytes <= buffers->limit;
}

/* Takes an idle buffer that is large enough, or NULL. Call it under the lock. */
static struct nt_reply_buffer *take_fitting(struct nt_reply_buffers *buffers, size_t size)
{
    struct nt_reply_buffer *buffer;
    SLIST_FOREACH (buffer, &buffers->idle, link)
        if (buffer->capacity >= size && buffers->lent + buffer->capacity <= buffers->limit)
            break;
    if (!buffer)
        return NULL;
    SLIST_REMOVE(&buffers->idle, buffer, nt_reply_buffer, link);
    buffers->kept -= buffer->capacity;
    return buffer;
}

/* Takes the idle buffers that exceed the limit. Call it under the lock. */
static struct nt_reply_buffer_list take_surplus(struct nt_reply_buffers *buffers)
{
    struct nt_reply_buffer_list surplus = SLIST_HEAD_INITIALIZER(surplus);
    struct nt_reply_buffer *buffer;
    while (buffers->lent + buffers->kept > buffers->limit && (buffer = SLIST_FIRST(&buffers->idle))) {
        SLIST_REMOVE_HEAD(&buffers->idle, link);
        buffers->kept -= buffer->capacity;
        SLIST_INSERT_HEAD(&surplus, buffer, link);
    }
    return surplus;
}

static struct nt_reply_buffer *buffer_new(size_t size)
{
    struct nt_reply_buffer *buffer = calloc(1, sizeof(*buffer));
    if (buffer && !(buffer->bytes = nt_hugepage_alloc(size, &buffer->capacity))) {
        free(buffer);
        buffer = NULL;
    }
    return buffer;
}

struct nt_reply_buffer *nt_reply_buffer_borrow(struct nt_reply_buffers *buffers, size_t size)
{
    uint64_t bytes = nt_hugepage_capacity(size);
    pthread_mutex_lock(&buffers->lock);
    nt_fifo_wait(&buffers->fifo, &buffers->lock, has_room, buffers, bytes);
    struct nt_reply_buffer *buffer = take_fitting(buffers, size);
    if (buffer)
        bytes = buffer->capacity;
    buffers->lent += bytes;
    struct nt_reply_buffer_list surplus = take_surplus(buffers);
    pthread_mutex_unlock(&buffers->lock);
    free_all(&surplus);
    if (buffer || (buffer = buffer_new(size)))
        return buffer;
    pthread_mutex_lock(&buffers->lock);
    buffers->lent -= bytes;
    nt_fifo_wake(&buffers->fifo);
    pthread_mutex_unlock(&buffers->lock);
    return NULL;
}

void nt_reply_buffer_return(struct nt_reply_buffers *buffers, struct nt_reply_buffer *buffer)
{
    if (!buffer)
        return;
    pthread_mutex_lock(&buffers->lock);
    buffers->lent -= buffer->capacity;
    buffers->kept += buffer->capacity;
    SLIST_INSERT_HEAD(&buffers->idle, buffer, link);
    struct nt_reply_buffer_list surplus = take_surplus(buffers);
    nt_fifo_wake(&buffers->fifo);
    pthread_mutex_unlock(&buffers->lock);
    free_all(&surplus);
}
