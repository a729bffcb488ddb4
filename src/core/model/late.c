/* SPDX-License-Identifier: MIT
 *
 * In: something that is not made yet. Out: that it is, or why it cannot be.
 *
 * Invariant of a state: NOT_MADE until a call under the lock ends; then MADE (what was made is valid and never changes) or FAILED
 * (`failure` is valid). Readers test the state without the lock, with acquire order. A failure of the machine (I/O, memory)
 * leaves NOT_MADE: the next call tries again.
 */
#include "core/model/late.h"

#include <stdlib.h>

/* Under the lock. */
static enum nt_status make(const struct nt_late *late, bool *is_new_ret, struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = late->make(late->owner, late->number, &failure);
    if (status != NT_OK && error)
        *error = failure;
    if (nt_is_machine_failure(status))
        return status;
    if (status != NT_OK) {
        *late->failure = malloc(sizeof(failure));
        if (!*late->failure)
            return nt_fail_memory(error);
        **late->failure = failure;
        *is_new_ret = true;
    }
    atomic_store_explicit(late->state, status == NT_OK ? NT_LATE_MADE : NT_LATE_FAILED, memory_order_release);
    return status;
}

enum nt_status nt_late_make(const struct nt_late *late, bool *is_new_ret, struct nt_error *error)
{
    int state = atomic_load_explicit(late->state, memory_order_acquire);
    enum nt_status status = NT_OK;
    *is_new_ret = false;
    if (state == NT_LATE_MADE)
        return NT_OK;
    if (state == NT_LATE_FAILED)
        return nt_fail_with(error, *late->failure);
    if (late->before)
        late->before(late->context);
    nt_lock_take(late->lock);
    state = atomic_load_explicit(late->state, memory_order_acquire);
    if (state == NT_LATE_NOT_MADE)
        status = make(late, is_new_ret, error);
    else if (state == NT_LATE_FAILED)
        status = nt_fail_with(error, *late->failure);
    nt_lock_give(late->lock);
    return status;
}
