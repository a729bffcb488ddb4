/* SPDX-License-Identifier: MIT
 *
 * The input of a fuzzer as a file or directory of this machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_input {
    const uint8_t *bytes;
    size_t count;
    bool is_folder; /* in the format of memory_folder.h; else a file */
};

/* Replaces the input before. Returns its path, which stays the same. */
const char *temporary_input(const struct fuzz_input *input);
