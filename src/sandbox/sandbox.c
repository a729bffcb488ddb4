/* SPDX-License-Identifier: MIT
 *
 * In: what a process needs. Out: the parts of its sandbox, one after the other, each of which makes up for what another
 * does not see or this kernel does not have.
 */
#include "sandbox/sandbox.h"

#include <stdio.h>
#include <string.h>

#include "sandbox/parts.h"

struct entering {
    struct nt_sandbox *sandbox;
    const struct nt_sandbox_rules *rules;
    size_t count; /* of parts that hold */
};

static void note(struct entering *entering, const char *name, int problem)
{
    struct nt_sandbox *sandbox = entering->sandbox;
    size_t length = strlen(sandbox->missing);
    if (!problem)
        sandbox->parts[entering->count++] = name;
    else
        snprintf(sandbox->missing + length, sizeof(sandbox->missing) - length, "%s%s (%s)",
                 length ? ", " : "", name, strerror(problem));
}

void nt_sandbox_enter(struct nt_sandbox *sandbox, const struct nt_sandbox_rules *rules)
{
    struct entering entering = {sandbox, rules, 0};
    *sandbox = (struct nt_sandbox){0};
    note(&entering, "no_new_privs", nt_privileges_refuse_new());
    note(&entering, "capabilities", nt_capabilities_drop(rules));
    int problem = nt_landlock_enter(rules);
    sandbox->has_landlock = problem == 0;
    note(&entering, "landlock", problem);
    note(&entering, "not_dumpable", nt_memory_hide());
    note(&entering, "seccomp", nt_seccomp_enter(rules->uses, sandbox->has_landlock));
}

bool nt_sandbox_narrow(const struct nt_sandbox *sandbox, unsigned uses)
{
    return nt_seccomp_enter(uses, sandbox->has_landlock) == 0;
}

void nt_sandbox_give_up_rights(void)
{
    (void)nt_privileges_refuse_new();
    (void)nt_capabilities_drop(&(struct nt_sandbox_rules){.place_count = 0});
}
