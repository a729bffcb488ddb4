/* SPDX-License-Identifier: MIT
 *
 * What may be opened of a folder: only what lies beneath its directory (names and links that lead out of it
 * are refused, so that who may write into the directory cannot have another file opened), and only what all
 * may read to whom the folder is shown.
 */
#ifndef NT_IO_BENEATH_H
#define NT_IO_BENEATH_H

#include <sys/stat.h>

#include "core/base/error.h"

/* Open `name` ("" for the directory itself) beneath the directory behind the descriptor, with the flags of
 * open(2). `path` is the directory's, for messages. Links are followed as long as they stay beneath it; where
 * the kernel cannot see to that (before Linux 5.6), none is followed. NT_NOT_FOUND; NT_IO, for links with
 * EACCES as the system's error. */
enum nt_status nt_beneath_open(int directory, const char *path, const char *name, int flags,
                               int *descriptor_ret, struct nt_error *error);

/* The way without the kernel's help, part by part. */
enum nt_status nt_beneath_open_by_parts(int directory, const char *path, const char *name, int flags,
                                        int *descriptor_ret, struct nt_error *error);

/* ---- who may read what ---- */

/* The read bits of `mode` (owner, group and others of the file that is shown) that are true of a part, too:
 * all whom they let read the one can read the other. Of a directory on the way, it is the right to enter it
 * that counts. */
mode_t nt_readers_of_part(const struct stat *shown, mode_t mode, const struct stat *part);

#endif
