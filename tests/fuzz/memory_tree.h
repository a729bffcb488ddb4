/* SPDX-License-Identifier: MIT
 *
 * A tree of src/vfs whose one source is in memory. Who links this wraps the calls by which src/vfs asks the disk.
 */
#ifndef NT_TESTS_MEMORY_TREE_H
#define NT_TESTS_MEMORY_TREE_H

#include <stdbool.h>

#include "vfs/tree.h"

struct memory_tree_input {
    const uint8_t *bytes;
    size_t count;
    bool is_folder; /* as memory_folder.h has it; else a file */
};

/* The path by which the input is named. One input at a time; its bytes stay the caller's. */
#define MEMORY_TREE_PATH "/input"
void memory_tree_set(const struct memory_tree_input *input);

#endif
