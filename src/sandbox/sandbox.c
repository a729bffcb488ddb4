/* SPDX-License-Identifier: MIT
 *
 * Enters the sandbox: no_new_privs, dropped capabilities, Landlock, non-dumpable, seccomp. Parts that
 * the kernel lacks are reported.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/sanitizer.h"

/* ---- Privileges ---- */

static int nt_privileges_refuse_new(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

static int nt_memory_hide(void)
{
    if (NT_IS_SANITIZED)
        return 0;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno;
}

/* ---- Capabilities ---- */

enum { WORDS = 2 };

static int set(unsigned permitted, unsigned effective)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct words[WORDS] = {{.permitted = permitted, .effective = effective}};
    return syscall(SYS_capset, &header, words) == 0 ? 0 : errno;
}

static unsigned permitted_search(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct words[WORDS] = {0};
    if (syscall(SYS_capget, &header, words) != 0)
        return 0;
    return words[0].permitted & (1u << CAP_DAC_READ_SEARCH);
}

/* A folder may get any files later. */
static bool needs_search(const struct nt_sandbox_path *path)
{
    struct stat attributes;
    int descriptor = open(path->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return errno == EACCES;
    bool is_folder = fstat(descriptor, &attributes) == 0 && S_ISDIR(attributes.st_mode);
    close(descriptor);
    return is_folder && !path->is_written;
}

/* Root reads other users' files by a capability: keeps it if the given paths may include such files. */
int nt_capabilities_drop(const struct nt_sandbox_rules *rules)
{
    unsigned search = rules->has_sources ? permitted_search() : 0;
    bool is_needed = false;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    int problem = set(search, 0);
    for (size_t i = 0; search && i < rules->path_count && !problem && !is_needed; i++)
        is_needed = needs_search(&rules->paths[i]);
    if (!problem)
        problem = is_needed ? set(search, search) : set(0, 0);
    return problem;
}

/* ---- Sandbox ---- */

struct entering {
    struct nt_sandbox *sandbox;
    const struct nt_sandbox_rules *rules;
    size_t count; /* of parts in effect */
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

void nt_sandbox_drop_privileges(void)
{
    (void)nt_privileges_refuse_new();
    (void)nt_capabilities_drop(&(struct nt_sandbox_rules){.path_count = 0});
}
