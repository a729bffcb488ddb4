/* SPDX-License-Identifier: MIT
 *
 * For the tables: directories of inner places, versions.d of a data set that has a history and files.d of a chain.
 */
#ifndef NT_VFS_INNER_FILES_H
#define NT_VFS_INNER_FILES_H

#include "vfs/pseudo.h"

/* Whether the scope is of a data set's present version: those in versions.d have none of their own. */
bool nt_has_versions(const struct nt_scope *scope, unsigned parameter);
/* Whether it is of a chain. */
bool nt_is_of_chain(const struct nt_scope *scope, unsigned parameter);

#endif
