/* SPDX-License-Identifier: MIT
 *
 * For the tables: what a data set that has a history shows of it.
 */
#ifndef NT_VFS_VERSION_FILES_H
#define NT_VFS_VERSION_FILES_H

#include "vfs/pseudo.h"

/* Whether the scope is of a data set's present version: those in versions.d have none of their own. */
bool nt_has_versions(const struct nt_scope *scope, unsigned parameter);

#endif
