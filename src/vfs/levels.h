/* SPDX-License-Identifier: MIT
 *
 * Which files the directories of each level have.
 */
#ifndef NT_VFS_LEVELS_H
#define NT_VFS_LEVELS_H

#include "vfs/pseudo.h"

/* The table of the scope's level. */
const struct nt_pseudo_table *nt_scope_files(const struct nt_scope *scope);

/* Whether a name in a file's topmost directory is one of ours. */
bool nt_is_container_file(const struct nt_file *file, struct nt_text name);

#endif
