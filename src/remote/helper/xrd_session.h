/* SPDX-License-Identifier: MIT
 *
 * Files that XRootD's client has open, and what is asked of them. The client answers on threads of its own; what it says waits in a
 * queue until the one thread that all else is done by looks at it.
 */
#ifndef NT_FETCH_XRD_SESSION_H
#define NT_FETCH_XRD_SESSION_H

#include <pthread.h>

#include "remote/helper/xrd_client.h"

struct nt_xrd_queue {
    const struct nt_xrd_client *client;
    int event; /* readable where there are answers */
    pthread_mutex_t lock;
    struct nt_xrd_operation *first, **last; /* that are answered */
};

/* One opening of a file; it ends when nobody owns it and all is answered. */
struct nt_xrd_session {
    struct nt_xrd_queue *queue;
    struct nt_xrd_file *file;
    void *owner; /* NULL: nobody */
    unsigned operations;
};

/* Something that was asked, embedded in what it is for. */
struct nt_xrd_operation {
    struct nt_xrd_queue *queue;
    struct nt_xrd_session *session; /* NULL: of no file */
    struct nt_xrd_answer answer;
    void (*end)(struct nt_xrd_operation *operation); /* it is answered: frees it */
    struct nt_xrd_operation *next;
};

bool nt_xrd_queue_init(struct nt_xrd_queue *queue);
/* End what is answered. */
void nt_xrd_queue_work(struct nt_xrd_queue *queue);

/* NULL without memory. */
struct nt_xrd_session *nt_xrd_session_new(struct nt_xrd_queue *queue, void *owner);
/* Its owner has no use for it any more. */
void nt_xrd_session_leave(struct nt_xrd_session *session);

void nt_xrd_session_open(struct nt_xrd_session *session, struct nt_xrd_operation *operation, const char *url,
                         uint64_t milliseconds);
void nt_xrd_session_read(struct nt_xrd_session *session, struct nt_xrd_operation *operation,
                         const struct nt_xrd_range *ranges, unsigned count, bool has_attributes,
                         uint64_t milliseconds);
/* Of a folder; NULL without memory, else it belongs to the operation. */
struct nt_xrd_list *nt_xrd_queue_list(struct nt_xrd_queue *queue, struct nt_xrd_operation *operation,
                                      const char *url, uint64_t milliseconds);

#endif
