/* SPDX-License-Identifier: MIT
 *
 * A pool of reply buffers with a total limit. The last returned buffer is lent first, because it is still
 * in the CPU cache; over the limit threads wait in FIFO order.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/base/thread.h"
#include "fuse/operations.h"

int nt_reply_buffers_init(struct nt_reply_buffers *buffers, uint64_t limit)
{
    *buffers = (struct nt_reply_buffers){.limit = limit};
    int problem = pthread_mutex_init(&buffers->lock, NULL);
    if (problem)
        return problem;
    problem = nt_turns_init(&buffers->turns);
    if (problem)
        pthread_mutex_destroy(&buffers->lock);
    return problem;
}

static void buffer_free(struct nt_reply_buffer *buffer)
{
    free(buffer->bytes);
    free(buffer);
}

static void free_all(struct nt_reply_buffer *buffers)
{
    for (struct nt_reply_buffer *buffer = buffers, *next; buffer; buffer = next) {
        next = buffer->next;
        buffer_free(buffer);
    }
}

void nt_reply_buffers_deinit(struct nt_reply_buffers *buffers)
{
    free_all(buffers->idle);
    nt_turns_deinit(&buffers->turns);
    pthread_mutex_destroy(&buffers->lock);
}

static bool has_room(const void *context, uint64_t bytes)
{
    const struct nt_reply_buffers *buffers = context;
    return buffers->lent == 0 || buffers->lent + bytes <= buffers->limit;
}

static struct nt_reply_buffer *take_idle(struct nt_reply_buffers *buffers, struct nt_reply_buffer **link)
{
    struct nt_reply_buffer *buffer = *link;
    *link = buffer->next;
    buffers->kept -= buffer->capacity;
    return buffer;
}

/* Under the lock: one that is large enough, if there is one. */
static struct nt_reply_buffer *take_fitting(struct nt_reply_buffers *buffers, size_t size)
{
    for (struct nt_reply_buffer **link = &buffers->idle; *link; link = &(*link)->next)
        if ((*link)->capacity >= size && buffers->lent + (*link)->capacity <= buffers->limit)
            return take_idle(buffers, link);
    return NULL;
}

/* Under the lock: those that there is no room for. */
static struct nt_reply_buffer *take_surplus(struct nt_reply_buffers *buffers)
{
    struct nt_reply_buffer *surplus = NULL;
    while (buffers->idle && buffers->lent + buffers->kept > buffers->limit) {
        struct nt_reply_buffer *buffer = take_idle(buffers, &buffers->idle);
        buffer->next = surplus;
        surplus = buffer;
    }
    return surplus;
}

static struct nt_reply_buffer *buffer_new(size_t size)
{
    struct nt_reply_buffer *buffer = calloc(1, sizeof(*buffer));
    if (buffer && !(buffer->bytes = nt_large_new(size, &buffer->capacity))) {
        free(buffer);
        buffer = NULL;
    }
    return buffer;
}

struct nt_reply_buffer *nt_reply_buffer_borrow(struct nt_reply_buffers *buffers, size_t size)
{
    uint64_t bytes = nt_large_capacity(size);
    pthread_mutex_lock(&buffers->lock);
    nt_turns_wait(&buffers->turns, &buffers->lock, has_room, buffers, bytes);
    struct nt_reply_buffer *buffer = take_fitting(buffers, size);
    if (buffer)
        bytes = buffer->capacity;
    buffers->lent += bytes;
    struct nt_reply_buffer *surplus = take_surplus(buffers);
    pthread_mutex_unlock(&buffers->lock);
    free_all(surplus);
    if (buffer || (buffer = buffer_new(size)))
        return buffer;
    pthread_mutex_lock(&buffers->lock);
    buffers->lent -= bytes;
    nt_turns_freed(&buffers->turns);
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
    buffer->next = buffers->idle;
    buffers->idle = buffer;
    struct nt_reply_buffer *surplus = take_surplus(buffers);
    nt_turns_freed(&buffers->turns);
    pthread_mutex_unlock(&buffers->lock);
    free_all(surplus);
}
