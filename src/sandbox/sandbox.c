/* SPDX-License-Identifier: MIT
 *
 * Enters the sandbox: no_new_privs, dropped capabilities, Landlock, non-dumpable, seccomp. Landlock
 * restricts file access to the given paths, and TCP, signals and sockets where the kernel supports it.
 * Parts that the kernel lacks are reported.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/sanitizer.h"

/* Equal on all architectures. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, RULE_PATH_BENEATH = 1 };

#define WRITE_FILE (UINT64_C(1) << 1)
#define READ_FILE (UINT64_C(1) << 2)
#define READ_DIRECTORY (UINT64_C(1) << 3)
#define REMOVE_FILE (UINT64_C(1) << 5)
#define MAKE_DIRECTORY (UINT64_C(1) << 7)
#define MAKE_FILE (UINT64_C(1) << 8)
#define TRUNCATE (UINT64_C(1) << 14)
#define BIND (UINT64_C(1) << 0)
#define CONNECT (UINT64_C(1) << 1)

struct ruleset {
    uint64_t files, network, scopes;
};

struct path_rule {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

/* Rights that each version can restrict. The kernel rejects rights that it does not know. */
static const struct {
    long version;
    struct ruleset all;
} versions[] = {
    {1, {.files = (UINT64_C(1) << 13) - 1}}, /* open, list, create and remove */
    {2, {.files = UINT64_C(1) << 13}},       /* move and link to another directory */
    {3, {.files = TRUNCATE}},
    {4, {.network = BIND | CONNECT}},  /* TCP */
    {5, {.files = UINT64_C(1) << 15}}, /* ioctl on devices */
    {6, {.scopes = 3}},                /* other processes' abstract sockets, and signals */
};

static struct ruleset all_of(long version)
{
    struct ruleset all = {0};
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions) && versions[i].version <= version; i++) {
        all.files |= versions[i].all.files;
        all.network |= versions[i].all.network;
        all.scopes |= versions[i].all.scopes;
    }
    return all;
}

static int allow(int ruleset, uint64_t handled, const struct nt_sandbox_path *path)
{
    struct stat attributes;
    struct path_rule rule = {.allowed = READ_FILE | READ_DIRECTORY};
    if (path->is_written)
        rule.allowed |= WRITE_FILE | MAKE_FILE | MAKE_DIRECTORY | REMOVE_FILE | TRUNCATE;
    rule.parent = open(path->path, O_PATH | O_CLOEXEC);
    if (rule.parent < 0)
        return 0; /* opening a missing file reports the error */
    if (fstat(rule.parent, &attributes) == 0 && !S_ISDIR(attributes.st_mode))
        rule.allowed &= READ_FILE | WRITE_FILE | TRUNCATE;
    rule.allowed &= handled;
    int problem = syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0) == 0 ? 0 : errno;
    close(rule.parent);
    return problem;
}

static int landlock_enter(const struct nt_sandbox_rules *rules)
{
    static const struct nt_sandbox_path processes = {.path = "/proc"};
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version <= 0)
        return version < 0 ? errno : ENOSYS;
    struct ruleset all = all_of(version);
    if (rules->uses & NT_SANDBOX_CONNECTS)
        all.network &= ~CONNECT;
    int ruleset = (int)syscall(CREATE_RULESET, &all, sizeof(all), 0);
    if (ruleset < 0)
        return errno;
    int problem = NT_IS_SANITIZED ? allow(ruleset, all.files, &processes) : 0;
    for (size_t i = 0; i < rules->path_count && !problem; i++)
        problem = allow(ruleset, all.files, &rules->paths[i]);
    if (!problem && syscall(RESTRICT_SELF, ruleset, 0) != 0)
        problem = errno;
    close(ruleset);
    return problem;
}

/* ---- Privileges ---- */

static int privileges_refuse_new(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

static int memory_hide(void)
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

/* A directory may get any files later. */
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

static void note(struct nt_sandbox *sandbox, const char *name, int problem)
{
    size_t length = strlen(sandbox->missing), count = 0;
    while (sandbox->parts[count])
        count++;
    if (!problem)
        sandbox->parts[count] = name;
    else
        snprintf(sandbox->missing + length, sizeof(sandbox->missing) - length, "%s%s (%s)",
                 length ? ", " : "", name, strerror(problem));
}

void nt_sandbox_enter(struct nt_sandbox *sandbox, const struct nt_sandbox_rules *rules)
{
    *sandbox = (struct nt_sandbox){0};
    note(sandbox, "no_new_privs", privileges_refuse_new());
    note(sandbox, "capabilities", nt_capabilities_drop(rules));
    int problem = landlock_enter(rules);
    sandbox->has_landlock = problem == 0;
    note(sandbox, "landlock", problem);
    note(sandbox, "not_dumpable", memory_hide());
    note(sandbox, "seccomp", nt_seccomp_enter(rules->uses, sandbox->has_landlock));
}

bool nt_sandbox_narrow(const struct nt_sandbox *sandbox, unsigned uses)
{
    return nt_seccomp_enter(uses, sandbox->has_landlock) == 0;
}

void nt_sandbox_drop_privileges(void)
{
    (void)privileges_refuse_new();
    (void)nt_capabilities_drop(&(struct nt_sandbox_rules){.path_count = 0});
}
