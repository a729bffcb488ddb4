/* SPDX-License-Identifier: MIT
 *
 * Process sandbox: the rules a process states, the parts that implement them, and which parts are in
 * effect.
 */
#ifndef NT_SANDBOX_SANDBOX_H
#define NT_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* ---- Rules ---- */

/* What the process goes on to do: bits. Reading what is open, working in threads, writing to what is open it always may. */
enum {
    NT_SANDBOX_STARTS = 1,   /* leaves its terminal, takes descriptors from another process */
    NT_SANDBOX_OPENS = 2,    /* opens and lists what lies in its places */
    NT_SANDBOX_WRITES = 4,   /* makes and writes files there */
    NT_SANDBOX_TERMINAL = 8, /* asks a terminal for its size */
    NT_SANDBOX_FETCHES = 16, /* asks another process to fetch files, over a socket that is open */
    NT_SANDBOX_CONNECTS =
        32, /* has connections to other machines, whose names it looks up; nobody connects to it */
    NT_SANDBOX_LOADS = 64, /* loads libraries from its places: of names, of certificates */
};

struct nt_sandbox_path {
    const char *path; /* a file, or a folder with all that is beneath it */
    bool is_written;
};

struct nt_sandbox_rules {
    const struct nt_sandbox_path *places; /* those that are not there are omitted */
    size_t place_count;
    unsigned uses;
    bool
        has_sources; /* what is read is what the user asked for: where it needs that, root reads what others own */
};

/* ---- Parts ---- */

int nt_capabilities_drop(const struct nt_sandbox_rules *rules);
int nt_landlock_enter(const struct nt_sandbox_rules *rules);
/* `has_landlock`: calls whose arguments cannot be looked at are left to it. For all threads. */
int nt_seccomp_enter(unsigned uses, bool has_landlock);

/* ---- Sandbox ---- */

enum { NT_SANDBOX_PARTS = 5 };

/* What holds. Zeroed: nothing does. */
struct nt_sandbox {
    const char *parts[NT_SANDBOX_PARTS + 1]; /* names; ends with NULL */
    bool has_landlock;
    char missing[256]; /* what does not, with the reasons; "": all parts hold */
};

/* Before any thread has been started. Parts that the kernel does not have are omitted, and named. */
void nt_sandbox_enter(struct nt_sandbox *sandbox, const struct nt_sandbox_rules *rules);

/* From now on fewer uses, for all threads. False where that cannot be; then it is as before. */
bool nt_sandbox_narrow(const struct nt_sandbox *sandbox, unsigned uses);

/* Of a process that needs no sandbox: no capability, and no rights of other programs. */
void nt_sandbox_drop_privileges(void);

#endif
