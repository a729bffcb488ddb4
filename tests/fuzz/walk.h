/* SPDX-License-Identifier: MIT
 *
 * Walks everything that a mount shows of a source, and verifies the file.
 */
#pragma once

#include "temporary_input.h"

/* Checks the nodes of a tree, or a sample of many: attributes, extended attributes, contents (read in
 * two splits, which must agree). Then verifies the file. A violation of src/vfs/vfs.h aborts. */
void walk_tree(const struct fuzz_input *input);
