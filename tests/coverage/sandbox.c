/* SPDX-License-Identifier: MIT
 *
 * No sandbox, for builds that measure coverage: a sandboxed process cannot write its counters.
 */
#include "sandbox/sandbox.h"

void nt_sandbox_enter(struct nt_sandbox *sandbox, const struct nt_sandbox_rules *rules)
{
    *sandbox = (struct nt_sandbox){.has_landlock = false};
}

bool nt_sandbox_narrow(const struct nt_sandbox *sandbox, unsigned uses)
{
    return true;
}

void nt_sandbox_drop_privileges(void)
{
}
