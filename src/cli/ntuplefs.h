/* SPDX-License-Identifier: MIT
 *
 * Private declarations of the program ntuplefs alone: the state that its worker and its supervisor
 * process share, and the index file of a chain.
 */
#pragma once

#include "cli/cli.h"

/* ---- The index file ---- */

struct nt_index_file {
    const char *path; /* absolute; NULL: no index, all functions do nothing */
    char *new_path;   /* in the same directory */
    int descriptor;   /* of the new file; -1: not writable, or written already */
    struct nt_chain_index *index;
};
/* Creates the new file, before the sandbox. On failure the index is read-only; logs that. */
void nt_index_file_prepare(struct nt_index_file *file, struct nt_log *log);
/* Reads the index, in the sandbox. */
enum nt_status nt_index_file_read(struct nt_index_file *file, struct nt_error *error);
/* Writes the new file, once. Logs a failure and returns false. */
bool nt_index_file_write(struct nt_index_file *file, const struct nt_buffer *text, struct nt_log *log);
/* For the supervisor: renames the new file to the index; logs a failure. */
void nt_index_file_replace(const struct nt_index_file *file, struct nt_log *log);
/* Frees one process's state; `is_owner` also deletes a new file that did not replace the index. */
void nt_index_file_deinit(struct nt_index_file *file, bool is_owner);

/* ---- The program ---- */

struct nt_mount_program {
    struct nt_settings settings;
    const char *const *sources;
    size_t source_count;
    struct nt_chain_list *chain; /* files of the sources; NULL: not a chain */
    const char *mountpoint_argument;
    bool is_named_after_source; /* the user gave no mountpoint */
    struct nt_log log;
    struct nt_background background;
    struct nt_supervisor supervisor;
    struct nt_mount_settings mount_settings; /* all but the functions, and the path of the mountpoint */
    struct nt_buffer source_text;            /* shown by mount(8) */
    struct nt_index_file index;
};

/* Logs a line that is no failure. */
void nt_mount_program_note(struct nt_mount_program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reports the error and returns `status`. */
enum nt_exit_status nt_mount_program_fail(struct nt_mount_program *program, enum nt_exit_status status,
                                          const struct nt_error *error);

/* The memory limits that the settings give. */
struct nt_memory_limits {
    uint64_t cache_bytes; /* for the reader: decoded pages, and most of the pages being decoded */
    uint64_t reply_bytes; /* for replies to the kernel */
};
struct nt_memory_limits nt_memory_limits_of(const struct nt_settings *settings);

/* Run the worker or the supervisor, to its end. */
enum nt_exit_status nt_mount_program_run_worker(struct nt_mount_program *program);
enum nt_exit_status nt_mount_program_run_supervisor(struct nt_mount_program *program);
