/* SPDX-License-Identifier: MIT
 *
 * libFuzzer calls this before the first input. Tests of the same build compare checksums, and targets do
 * not.
 */
#include "core/codec/codec.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    nt_accepts_any_checksum = true;
    return 0;
}
