/* SPDX-License-Identifier: MIT
 *
 * What the directories of each level are made of.
 */
#ifndef NT_VFS_DIRECTORIES_H
#define NT_VFS_DIRECTORIES_H

#include "vfs/pseudo.h"

/* The sections of the scope's directory; NULL-terminated. */
const struct nt_section *const *nt_scope_sections(const struct nt_scope *scope);

#endif
