/* SPDX-License-Identifier: MIT
 *
 * Binary compatibility: option structures with a struct_bytes member that may grow in later versions.
 */
#pragma once

#include <ntuple/error.h>

#include <stddef.h>

/* Copies a caller's structure to this library's version of `bytes` bytes. Members unknown to the caller
 * become zero, as do all if `from` is NULL. NT_INVALID if struct_bytes is not set, or for nonzero
 * members unknown here; `name` is the structure's, for the message. */
enum nt_status nt_copy_struct(const void *from, void *to, size_t bytes, const char *name,
                              struct nt_error *error);
