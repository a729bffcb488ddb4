/* SPDX-License-Identifier: MIT
 *
 * Landlock rules: restricts file access to the given paths, and TCP, signals and sockets where the
 * kernel supports it.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
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
    {2, {.files = UINT64_C(1) << 13}},       /* move and link to another folder */
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

int nt_landlock_enter(const struct nt_sandbox_rules *rules)
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
