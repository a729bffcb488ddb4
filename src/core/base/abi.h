/* SPDX-License-Identifier: MIT
 *
 * Binary compatibility: option structures with a struct_bytes member that may grow in later versions.
 */
#ifndef NT_CORE_BASE_ABI_H
#define NT_CORE_BASE_ABI_H

#include <ntuple/error.h>

#include <stddef.h>

/* Copy a caller's structure to one of `bytes` bytes, which is as this library knows it. What the caller does
 * not know is zero, and so is everything where `from` is NULL. NT_INVALID where the caller did not set
 * struct_bytes, or has set members that are not known here; `name` is the structure's, for the message. */
enum nt_status nt_copy_struct(const void *from, void *to, size_t bytes, const char *name,
                              struct nt_error *error);

#endif
