/* SPDX-License-Identifier: MIT
 *
 * Opening what lies beneath a directory, and nothing else: names and links that lead out of it are refused,
 * so that who may write into the directory cannot have another file opened.
 */
#ifndef NT_IO_BENEATH_H
#define NT_IO_BENEATH_H

#include "base/error.h"

/* Open `name` ("" for the directory itself) beneath the directory behind the descriptor, with the flags of
 * open(2). `path` is the directory's, for messages. Links are followed as long as they stay beneath it; where
 * the kernel cannot see to that (before Linux 5.6), none is followed. NT_NOT_FOUND; NT_IO, for links with
 * EACCES as the system's error. */
enum nt_status nt_beneath_open(int directory, const char *path, const char *name, int flags,
                               int *descriptor_ret, struct nt_error *error);

/* The way without the kernel's help, part by part. */
enum nt_status nt_beneath_open_by_parts(int directory, const char *path, const char *name, int flags,
                                        int *descriptor_ret, struct nt_error *error);

#endif
