/* SPDX-License-Identifier: MIT
 *
 * In: a process with its user's rights, or root's. Out: one that gets no more of them, has no capability that it does not need, and
 * into whose memory no other of its user looks.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/parts.h"

int nt_privileges_refuse_new(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

int nt_memory_hide(void)
{
    if (NT_IS_SANITIZED)
        return 0;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno;
}

/* ---- capabilities ---- */

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

/* Of a folder nobody knows what it will hold. */
static bool needs_search(const struct nt_sandbox_place *place)
{
    struct stat attributes;
    int descriptor = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return errno == EACCES;
    bool is_folder = fstat(descriptor, &attributes) == 0 && S_ISDIR(attributes.st_mode);
    close(descriptor);
    return is_folder && !place->is_written;
}

/* Root reads others' files by one of its capabilities: it stays where there may be such files among what it was told to read. */
int nt_capabilities_drop(const struct nt_sandbox_rules *rules)
{
    unsigned search = rules->has_sources ? permitted_search() : 0;
    bool is_needed = false;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    int problem = set(search, 0);
    for (size_t i = 0; search && i < rules->place_count && !problem && !is_needed; i++)
        is_needed = needs_search(&rules->places[i]);
    if (!problem)
        problem = is_needed ? set(search, search) : set(0, 0);
    return problem;
}
