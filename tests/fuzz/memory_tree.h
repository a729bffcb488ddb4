/* SPDX-License-Identifier: MIT
 *
 * A tree of src/vfs with one source in memory. Programs that link it wrap its calls to the file system.
 */
#ifndef NT_TESTS_MEMORY_TREE_H
#define NT_TESTS_MEMORY_TREE_H

#include <stdbool.h>

#include "vfs/tree.h"

struct memory_tree_input {
    const uint8_t *bytes;
    size_t count;
    bool is_folder; /* in the format of memory_folder.h; else a file */
};

/* The path of the input. One input at a time; the caller keeps its bytes. */
#define MEMORY_TREE_PATH "/input"
void memory_tree_set(const struct memory_tree_input *input);

#endif
