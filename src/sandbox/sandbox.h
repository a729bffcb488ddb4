/* SPDX-License-Identifier: MIT
 *
 * Process sandbox: the rules a process states, the parts that implement them, and which parts are in
 * effect.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* ---- Rules ---- */

/* Bits for what the process still does. It may always use threads, and read and write open files. */
enum {
    NT_SANDBOX_STARTS = 1,    /* leaves its terminal, receives descriptors from another process */
    NT_SANDBOX_OPENS = 2,     /* opens and lists files below its paths */
    NT_SANDBOX_WRITES = 4,    /* creates and writes files there */
    NT_SANDBOX_TERMINAL = 8,  /* queries the size of a terminal */
    NT_SANDBOX_FETCHES = 16,  /* asks another process to fetch files, over an open socket */
    NT_SANDBOX_CONNECTS = 32, /* connects to other machines and resolves names; never listens */
    NT_SANDBOX_LOADS = 64,    /* loads libraries below its paths: for names, for certificates */
    NT_SANDBOX_RENAMES = 128, /* renames files within the directories where it writes */
};

struct nt_sandbox_path {
    const char *path; /* a file, or a directory and everything below it */
    bool is_written;
};

struct nt_sandbox_rules {
    const struct nt_sandbox_path *paths; /* missing ones are ignored */
    size_t path_count;
    unsigned uses;
    bool has_sources; /* reads the user's files: root may need those of other users */
};

/* ---- Parts ---- */

int nt_capabilities_drop(const struct nt_sandbox_rules *rules);
/* `has_landlock`: leaves calls whose arguments seccomp cannot inspect to Landlock. All threads. */
int nt_seccomp_enter(unsigned uses, bool has_landlock);

/* ---- Sandbox ---- */

enum { NT_SANDBOX_PARTS = 5 };

/* The parts in effect. Zero-initialised: none. */
struct nt_sandbox {
    const char *parts[NT_SANDBOX_PARTS + 1]; /* names; ends with NULL */
    bool has_landlock;
    char missing[256]; /* parts not in effect, with reasons; "": all are in effect */
};

/* Call before threads start. Skips parts that the kernel lacks, and names them. */
void nt_sandbox_enter(struct nt_sandbox *sandbox, const struct nt_sandbox_rules *rules);

/* Reduces the uses, for all threads. False on failure, without any change. */
bool nt_sandbox_narrow(const struct nt_sandbox *sandbox, unsigned uses);

/* For a process without a sandbox: drops all capabilities and forbids to gain privileges by exec. */
void nt_sandbox_drop_privileges(void);
