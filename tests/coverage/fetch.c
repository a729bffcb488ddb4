/* SPDX-License-Identifier: MIT
 *
 * ntuplefs-fetch in a build that counts what is reached: its process is in no sandbox, in which it could write nothing down, and writes
 * that before it ends without ado.
 */
#include <string.h>

#include "sandbox/sandbox.h"

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
void __wrap_nt_sandbox_enter(struct nt_sandbox *sandbox, const struct nt_sandbox_rules *rules);

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}

void __wrap_nt_sandbox_enter(struct nt_sandbox *sandbox, const struct nt_sandbox_rules *rules)
{
    (void)rules;
    memset(sandbox, 0, sizeof(*sandbox));
}
