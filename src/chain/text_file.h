/* SPDX-License-Identifier: MIT
 *
 * Files that are texts: lists and indexes.
 */
#ifndef NT_CHAIN_TEXT_FILE_H
#define NT_CHAIN_TEXT_FILE_H

#include <sys/stat.h>

#include "core/base/buffer.h"
#include "core/base/error.h"

/* Asks whether the text of a file is to be believed. */
typedef enum nt_status nt_chain_check_text(const struct stat *attributes, const char *path,
                                           struct nt_error *error);

/* Append all of a file. NT_LIMIT where it has more bytes than such texts may have; `what` it is, as in "an index". `check` may be
 * NULL; where it fails, nothing is read. */
enum nt_status nt_chain_read_text(const char *path, const char *what, int most_bytes,
                                  nt_chain_check_text *check, struct nt_buffer *text, struct nt_error *error);

#endif
