/* SPDX-License-Identifier: MIT
 *
 * ntuplefs as a whole, which is two processes: see fuse/supervisor.h.
 */
#ifndef NT_CLI_PROGRAM_H
#define NT_CLI_PROGRAM_H

#include "chain/list.h"
#include "cli/exit_status.h"
#include "cli/index_file.h"
#include "cli/settings.h"
#include "fuse/background.h"
#include "fuse/lead.h"
#include "fuse/mount.h"
#include "fuse/mounting.h"
#include "fuse/mountpoint.h"
#include "fuse/supervisor.h"

#define NT_PROGRAM "ntuplefs"

struct nt_program {
    struct nt_settings settings;
    const char *const *sources;
    size_t source_count;
    struct nt_chain_list *chain; /* the files that the sources stand for; NULL: they are no chain */
    const char *mountpoint_argument;
    struct nt_log log;
    struct nt_background background;
    struct nt_supervisor supervisor;
    struct nt_mount_settings mount_settings; /* but for the functions, and the mountpoint's path */
    struct nt_buffer source_text;            /* what mount(8) shows */
    struct nt_index_file index;
};

/* Before there are two: all that follows from the options. */
enum nt_status nt_program_prepare(struct nt_program *program, struct nt_error *error);

/* Tell why, and end with this status. */
enum nt_exit_status nt_program_fail(struct nt_program *program, enum nt_exit_status status,
                                    const struct nt_error *error);

/* What its settings let it have. */
struct nt_memory nt_memory_of(const struct nt_settings *settings);

/* What one process does, to its end, and what the other. */
enum nt_exit_status nt_program_decode(struct nt_program *program);
enum nt_exit_status nt_program_supervise(struct nt_program *program);

#endif
