/* SPDX-License-Identifier: MIT
 *
 * All that a mount shows of a source, and what else is made of it.
 */
#ifndef NT_TESTS_WALK_H
#define NT_TESTS_WALK_H

#include "memory_tree.h"

/* List the tree and look at its nodes, at a choice of them where there are many: attributes, extended attributes, and
 * contents in two splits, which must be the same; then verify the file. What is not as src/vfs/vfs.h promises ends the program. */
void walk_tree(const struct memory_tree_input *input);

#endif
