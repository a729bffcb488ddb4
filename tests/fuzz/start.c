/* SPDX-License-Identifier: MIT
 *
 * What libFuzzer calls before the first input. The tests of the same build compare checksums, targets do not.
 */
#include "core/codec/codec.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    nt_takes_any_checksum = true;
    return 0;
}
