/* SPDX-License-Identifier: MIT
 *
 * The whole tree over a file of any format.
 */
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    walk_tree(&(struct fuzz_input){bytes, count, .is_folder = false});
    return 0;
}
