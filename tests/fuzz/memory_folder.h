/* SPDX-License-Identifier: MIT
 *
 * A directory whose files are slices of one fuzzer input. Per file: the length of its name (1 byte), its
 * name ("_versions/1.manifest"), its size (4 bytes), its content (tests/fuzz/pack_folder.py).
 */
#pragma once

#include "core/io/source.h"

struct memory_file {
    char name[UINT8_MAX + 1];
    const uint8_t *bytes; /* of the input */
    size_t count;
};

/* Takes the next file from an input; false at its end. A truncated file has the remaining bytes. */
bool memory_file_next(const uint8_t **bytes, size_t *count, struct memory_file *file_ret);

/* Opens a source for the directory. The caller keeps the bytes. */
enum nt_status memory_folder_open(const uint8_t *bytes, size_t count, struct nt_source **source_ret,
                                  struct nt_error *error);
