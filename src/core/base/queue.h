/* SPDX-License-Identifier: MIT
 *
 * Tail queues from their ends. The macros of sys/queue.h for this read an item as the head of a queue.
 * Compilers may assume that these types do not overlap; GCC 14 does, and such code crashes.
 */
#pragma once

#include <stddef.h>
#include <sys/queue.h>

/* The item that has this pointer to its successor. */
#define NT_TAILQ_ITEM(next, type, field)                                                                     \
    ((struct type *)((char *)(next)-offsetof(struct type, field.tqe_next)))

/* NULL if the queue is empty. */
#define NT_TAILQ_LAST(head, type, field)                                                                     \
    (TAILQ_EMPTY(head) ? NULL : NT_TAILQ_ITEM((head)->tqh_last, type, field))

/* NULL before the first. */
#define NT_TAILQ_PREV(item, head, type, field)                                                               \
    ((item)->field.tqe_prev == &(head)->tqh_first ? NULL : NT_TAILQ_ITEM((item)->field.tqe_prev, type, field))

#define NT_TAILQ_FOREACH_REVERSE(item, head, type, field)                                                    \
    for ((item) = NT_TAILQ_LAST(head, type, field); (item); (item) = NT_TAILQ_PREV(item, head, type, field))
