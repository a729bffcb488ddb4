/* SPDX-License-Identifier: MIT
 *
 * From node numbers to what they stand for, and from there to names and paths.
 */
#ifndef NT_VFS_RESOLVE_H
#define NT_VFS_RESOLVE_H

#include "vfs/scope.h"

/* Take a node apart and open what it stands for; NT_NOT_FOUND for stale and senseless numbers. On success the
 * scope must be closed. */
enum nt_status nt_scope_open(struct nt_vfs *vfs, uint64_t number, struct nt_scope *scope,
                             struct nt_error *error);

/* Append the name that a node has in its parent directory (none for the root). */
void nt_scope_name(const struct nt_scope *scope, struct nt_buffer *name);
/* The directory of the level (the place, data set, field, column) that the scope is in, or is. */
uint64_t nt_scope_directory(const struct nt_scope *scope);
/* The directory that a node lies in; the root is its own. */
uint64_t nt_scope_parent(const struct nt_scope *scope);
/* Append the path from the root to a node, without a leading slash. */
enum nt_status nt_scope_path(struct nt_vfs *vfs, uint64_t number, struct nt_buffer *path,
                             struct nt_error *error);

#endif
