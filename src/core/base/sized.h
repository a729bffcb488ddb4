/* SPDX-License-Identifier: MIT
 *
 * Structures that a caller fills in and that grow at the end from version to version: the first member of
 * each, `size_t struct_bytes`, says how much of it the caller knows. A new member begins where the old
 * structure ended, and is one whose zero means what was so before.
 */
#ifndef NT_BASE_SIZED_H
#define NT_BASE_SIZED_H

#include <stddef.h>

#include "core/base/error.h"

/* Copy a caller's structure to one of `bytes` bytes, which is as this library knows it. What the caller does
 * not know is zero, and so is everything where `from` is NULL. NT_INVALID where the caller did not set
 * struct_bytes, or has set members that are not known here; `name` is the structure's, for the message. */
enum nt_status nt_sized_copy(const void *from, void *to, size_t bytes, const char *name,
                             struct nt_error *error);

#endif
