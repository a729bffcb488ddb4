/* SPDX-License-Identifier: MIT
 *
 * Completion of paths in the tree of a source.
 */
#ifndef NT_CLI_COMPLETE_PATH_H
#define NT_CLI_COMPLETE_PATH_H

#include <stdio.h>

#include "core/base/arena.h"
#include "vfs/vfs.h"

/* Print the paths in the tree of a source that begin with `word`: a line for each, with a tab at its end; directories
 * have a slash before it. A source's "~/" is the user's home. Prints nothing where the source does not open. */
void nt_complete_path(FILE *out, const struct nt_vfs_options *options, const char *source, const char *word,
                      struct nt_arena *arena);

#endif
