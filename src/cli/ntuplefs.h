/* SPDX-License-Identifier: MIT
 *
 * Private declarations of the program ntuplefs alone: the state that its worker and its supervisor process
 * share, and the index file of a chain.
 */
#ifndef NT_CLI_NTUPLEFS_H
#define NT_CLI_NTUPLEFS_H

#include "chain/chain.h"
#include "cli/cli.h"
#include "core/base/memory.h"
#include "fuse/mount.h"

/* ---- The index file ---- */

struct nt_index_file {
    const char *path; /* absolute; NULL: there is none, and all that follows does nothing */
    char *new_path;   /* beside it */
    int descriptor;   /* of the new one, -1: it cannot be written, or was */
    struct nt_chain_index *index;
};
/* Make the new file, before the sandbox; the log is told where that cannot be: the index is only read then. */
void nt_index_file_prepare(struct nt_index_file *file, struct nt_log *log);
/* Read the index, in the sandbox. */
enum nt_status nt_index_file_read(struct nt_index_file *file, struct nt_error *error);
/* Fill the new file, once. False where it is not as it should be; why is told. */
bool nt_index_file_write(struct nt_index_file *file, const struct nt_buffer *text, struct nt_log *log);
/* By the supervisor: the new file takes the index's place; why it does not is told. */
void nt_index_file_replace(const struct nt_index_file *file, struct nt_log *log);
/* The end of what one process has; `is_owner`: a new file that took no place goes, too. */
void nt_index_file_deinit(struct nt_index_file *file, bool is_owner);

/* ---- The program ---- */

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

/* Tell why, and end with this status. */
enum nt_exit_status nt_program_fail(struct nt_program *program, enum nt_exit_status status,
                                    const struct nt_error *error);

/* What its settings let it have. */
struct nt_memory nt_memory_of(const struct nt_settings *settings);

/* What one process does, to its end, and what the other. */
enum nt_exit_status nt_program_run_worker(struct nt_program *program);
enum nt_exit_status nt_program_run_supervisor(struct nt_program *program);

#endif
