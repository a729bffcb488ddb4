/* SPDX-License-Identifier: MIT
 *
 * In: a failure, and when it was. Out: the same failure, for a moment.
 */
#include "remote/client/refusal.h"

#include <stdlib.h>

void nt_refusal_note(struct nt_refusal *refusal, const struct nt_error *failure, uint64_t now)
{
    if (nt_is_passing_failure(failure->status))
        return;
    if (!refusal->failure)
        refusal->failure = malloc(sizeof(*refusal->failure));
    if (!refusal->failure)
        return;
    *refusal->failure = *failure;
    refusal->until = now + NT_REFUSAL_MILLISECONDS;
}

enum nt_status nt_refusal_check(const struct nt_refusal *refusal, uint64_t now, struct nt_error *error)
{
    return now < refusal->until ? nt_fail_with(error, refusal->failure) : NT_OK;
}

void nt_refusal_deinit(struct nt_refusal *refusal)
{
    free(refusal->failure);
}
