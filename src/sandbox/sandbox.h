/* SPDX-License-Identifier: MIT
 *
 * What a process can no longer do once it looks at strangers' bytes. What is given up is never had again.
 */
#ifndef NT_SANDBOX_SANDBOX_H
#define NT_SANDBOX_SANDBOX_H

#include "sandbox/rules.h"

enum { NT_SANDBOX_PARTS = 5 };

/* What holds. Zeroed: nothing does. */
struct nt_sandbox {
    const char *parts[NT_SANDBOX_PARTS + 1]; /* names; ends with NULL */
    bool has_landlock;
    char missing[256]; /* what does not, with the reasons; "": all parts hold */
};

/* Before any thread has been started. Parts that the kernel does not have are left out, and named. */
void nt_sandbox_enter(struct nt_sandbox *sandbox, const struct nt_sandbox_rules *rules);

/* From now on fewer uses, for all threads. False where that cannot be; then it is as before. */
bool nt_sandbox_narrow(const struct nt_sandbox *sandbox, unsigned uses);

/* Of a process that needs no sandbox: no capability, and no rights of other programs. */
void nt_sandbox_give_up_rights(void);

#endif
