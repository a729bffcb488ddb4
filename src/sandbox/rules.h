/* SPDX-License-Identifier: MIT
 *
 * What a process in a sandbox still needs.
 */
#ifndef NT_SANDBOX_RULES_H
#define NT_SANDBOX_RULES_H

#include <stdbool.h>
#include <stddef.h>

/* What the process goes on to do: bits. Reading what is open, working in threads, writing to what is open it always may. */
enum {
    NT_SANDBOX_STARTS = 1,   /* leaves its terminal, takes descriptors from another process */
    NT_SANDBOX_OPENS = 2,    /* opens and lists what lies in its places */
    NT_SANDBOX_WRITES = 4,   /* makes and writes files there */
    NT_SANDBOX_TELLS = 8,    /* asks a terminal for its size */
    NT_SANDBOX_FETCHES = 16, /* asks another process to fetch files, over a socket that is open */
    NT_SANDBOX_CONNECTS =
        32, /* has connections to other machines, whose names it looks up; nobody connects to it */
    NT_SANDBOX_LOADS = 64, /* loads libraries from its places: of names, of certificates */
};

struct nt_sandbox_place {
    const char *path; /* a file, or a folder with all that is beneath it */
    bool is_written;
};

struct nt_sandbox_rules {
    const struct nt_sandbox_place *places; /* those that are not there are left out */
    size_t place_count;
    unsigned uses;
    bool
        has_sources; /* what is read is what the user asked for: where it needs that, root reads what others own */
};

#endif
