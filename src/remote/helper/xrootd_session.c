/* SPDX-License-Identifier: MIT
 *
 * Requests to XRootD's client and the files that it has open. Its threads answer, and the worker's thread
 * takes the answers.
 */
#include "remote/helper/helper.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum { CLOSING_SECONDS = 5 };

/* ---- Answers ---- */

bool nt_xrd_queue_init(struct nt_xrd_queue *queue)
{
    *queue = (struct nt_xrd_queue){.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    STAILQ_INIT(&queue->answered);
    return queue->event >= 0 && pthread_mutex_init(&queue->lock, NULL) == 0;
}

/* Runs on a thread of the client. */
static void take_answer(void *context, const struct nt_xrd_answer *answer)
{
    struct nt_xrd_operation *operation = context;
    struct nt_xrd_queue *queue = operation->queue;
    operation->answer = *answer;
    pthread_mutex_lock(&queue->lock);
    STAILQ_INSERT_TAIL(&queue->answered, operation, answered);
    pthread_mutex_unlock(&queue->lock);
    (void)!write(queue->event, &(uint64_t){1}, sizeof(uint64_t));
}

static void end_if_unused(struct nt_xrd_session *session);

void nt_xrd_queue_work(struct nt_xrd_queue *queue)
{
    uint64_t count;
    (void)!read(queue->event, &count, sizeof(count));
    pthread_mutex_lock(&queue->lock);
    struct nt_xrd_operation *operation = STAILQ_FIRST(&queue->answered), *next;
    STAILQ_INIT(&queue->answered);
    pthread_mutex_unlock(&queue->lock);
    for (; operation; operation = next) {
        struct nt_xrd_session *session = operation->session;
        next = STAILQ_NEXT(operation, answered);
        operation->end(operation);
        if (!session)
            continue;
        session->operations--;
        end_if_unused(session);
    }
}

/* ---- Session lifetime ---- */

struct nt_xrd_session *nt_xrd_session_new(struct nt_xrd_queue *queue, void *owner)
{
    struct nt_xrd_session *session = malloc(sizeof(*session));
    struct nt_xrd_file *file = session ? queue->client->make() : NULL;
    if (!file) {
        free(session);
        return NULL;
    }
    *session = (struct nt_xrd_session){.queue = queue, .file = file, .owner = owner};
    return session;
}

static void end_closing(struct nt_xrd_operation *operation)
{
    operation->session->queue->client->free(operation->session->file);
    operation->session->file = NULL;
    free(operation);
}

static void end_if_unused(struct nt_xrd_session *session)
{
    const struct nt_xrd_client *client = session->queue->client;
    if (session->owner || session->operations > 0)
        return;
    struct nt_xrd_operation *closing = session->file ? malloc(sizeof(*closing)) : NULL;
    if (!closing) { /* the session is closed; it stays open if out of memory */
        free(session);
        return;
    }
    *closing = (struct nt_xrd_operation){.queue = session->queue, .session = session, .end = end_closing};
    session->operations++;
    client->close(session->file, CLOSING_SECONDS, take_answer, closing);
}

void nt_xrd_session_leave(struct nt_xrd_session *session)
{
    session->owner = NULL;
    end_if_unused(session);
}

/* ---- Requests ---- */

static uint16_t seconds_of(uint64_t milliseconds)
{
    uint64_t seconds = (milliseconds + 999) / 1000;
    return (uint16_t)(seconds < UINT16_MAX ? seconds : UINT16_MAX);
}

static void begin(struct nt_xrd_session *session, struct nt_xrd_operation *operation)
{
    operation->queue = session->queue;
    operation->session = session;
    session->operations++;
}

void nt_xrd_session_open(struct nt_xrd_session *session, struct nt_xrd_operation *operation, const char *url,
                         uint64_t milliseconds)
{
    begin(session, operation);
    session->queue->client->open(session->file, url, seconds_of(milliseconds), take_answer, operation);
}

void nt_xrd_session_read(struct nt_xrd_session *session, struct nt_xrd_operation *operation,
                         const struct nt_xrd_range *ranges, unsigned count, bool has_attributes,
                         uint64_t milliseconds)
{
    begin(session, operation);
    session->queue->client->read(session->file, ranges, count, has_attributes, seconds_of(milliseconds),
                                 take_answer, operation);
}

struct nt_xrd_list *nt_xrd_queue_list(struct nt_xrd_queue *queue, struct nt_xrd_operation *operation,
                                      const char *url, uint64_t milliseconds)
{
    operation->queue = queue;
    return queue->client->list(url, seconds_of(milliseconds), take_answer, operation);
}
