/* SPDX-License-Identifier: MIT
 *
 * The trees of a file, each once: of all files of a data set pages of the same writer are encoded alike.
 */
#ifndef NT_FORMAT_LANCE_KEPT_TREES_H
#define NT_FORMAT_LANCE_KEPT_TREES_H

#include "formats/lance/decode/description.h"
#include "core/model/model.h"

/* A tree that is equal to this one and lives as long as the file: trees are compared by their addresses from here on. `known`
 * (may be NULL) is the one that it is likely to be. Under the lock of the data set. */
enum nt_status nt_lance_keep_tree(struct nt_file *file, const struct nt_tree *known,
                                  const struct nt_tree *tree, const struct nt_tree **tree_ret,
                                  struct nt_error *error);

#endif
