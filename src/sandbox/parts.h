/* SPDX-License-Identifier: MIT
 *
 * The parts of a sandbox. Each is 0, or why it does not hold: an errno value.
 */
#ifndef NT_SANDBOX_PARTS_H
#define NT_SANDBOX_PARTS_H

#include "core/base/sanitized.h"
#include "sandbox/rules.h"

int nt_privileges_refuse_new(void);
int nt_capabilities_drop(const struct nt_sandbox_rules *rules);
int nt_landlock_enter(const struct nt_sandbox_rules *rules);
/* `has_landlock`: calls whose arguments cannot be looked at are left to it. For all threads. */
int nt_seccomp_enter(unsigned uses, bool has_landlock);
int nt_memory_hide(void);

#endif
