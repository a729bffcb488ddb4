/* SPDX-License-Identifier: MIT
 *
 * What is made when somebody asks for it: cluster groups' page lists, sides, the file that an outline stands for.
 */
#ifndef NT_MODEL_LATE_H
#define NT_MODEL_LATE_H

#include <stdatomic.h>

#include "core/base/error.h"
#include "core/base/lock.h"

enum nt_late_state { NT_LATE_NOT_MADE, NT_LATE_MADE, NT_LATE_FAILED };

struct nt_late {
    atomic_int *state;         /* enum nt_late_state */
    struct nt_error **failure; /* of malloc, once it has failed */
    enum nt_status (*make)(void *owner, uint32_t number, struct nt_error *error);
    void *owner; /* that `make` is called with, and `number` */
    uint32_t number;
    struct nt_lock *lock; /* held meanwhile */
    /* Called before something is made or waited for, with `context`; may be NULL. */
    void (*before)(void *context);
    void *context;
};

/* The first thread that comes makes it, others wait. What is there and turns out to be bad is remembered, `is_new_ret` is
 * set where that was now; after a failure of the machine the next call tries again. */
enum nt_status nt_late_make(const struct nt_late *late, bool *is_new_ret, struct nt_error *error);

static inline bool nt_late_is_made(const atomic_int *state)
{
    return atomic_load_explicit(state, memory_order_acquire) == NT_LATE_MADE;
}

/* Whether there is a failure that stays. */
static inline bool nt_late_has_failed(const atomic_int *state)
{
    return atomic_load_explicit(state, memory_order_acquire) == NT_LATE_FAILED;
}

#endif
