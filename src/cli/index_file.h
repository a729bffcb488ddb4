/* SPDX-License-Identifier: MIT
 *
 * The index of a chain's files on the disk. Who decodes reads it and writes a new one into a file that was opened before; that file gets
 * the index's name by who supervises, so that nobody who looks at strangers' bytes can replace a file.
 */
#ifndef NT_CLI_INDEX_FILE_H
#define NT_CLI_INDEX_FILE_H

#include "chain/index.h"
#include "fuse/background.h"

struct nt_index_file {
    const char *path; /* absolute; NULL: there is none, and all that follows does nothing */
    char *new_path;   /* beside it */
    int descriptor;   /* of the new one, -1: it cannot be written, or was */
    struct nt_chain_index *index;
};

/* Before there are two processes. */
enum nt_status nt_index_file_init(struct nt_index_file *file, const char *path, struct nt_error *error);
/* Make the new file, before the sandbox; the log is told where that cannot be: the index is only read then. */
void nt_index_file_prepare(struct nt_index_file *file, struct nt_log *log);
/* Read the index, in the sandbox. */
enum nt_status nt_index_file_read(struct nt_index_file *file, struct nt_error *error);
/* Fill the new file, once. False where it is not as it should be; why is told. */
bool nt_index_file_write(struct nt_index_file *file, const struct nt_buffer *text, struct nt_log *log);
/* By who supervises: the new file takes the index's place; why it does not is told. */
void nt_index_file_replace(const struct nt_index_file *file, struct nt_log *log);
/* The end of what one process has; `is_owner`: a new file that took no place goes, too. */
void nt_index_file_deinit(struct nt_index_file *file, bool is_owner);

#endif
