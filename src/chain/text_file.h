/* SPDX-License-Identifier: MIT
 *
 * Files that are texts: lists and indexes.
 */
#ifndef NT_CHAIN_TEXT_FILE_H
#define NT_CHAIN_TEXT_FILE_H

#include "base/buffer.h"
#include "base/error.h"

/* Append all of a file. NT_LIMIT where it has more bytes than such texts may have; `what` it is, as in "an index". */
enum nt_status nt_chain_read_text(const char *path, const char *what, int most_bytes, struct nt_buffer *text,
                                  struct nt_error *error);

#endif
