/* SPDX-License-Identifier: MIT
 *
 * The whole tree over a directory that is a dataset: an array or table of BLZ, a dataset of Lance.
 */
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    walk_tree(&(struct fuzz_input){bytes, count, .is_folder = true});
    return 0;
}
