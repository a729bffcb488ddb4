/* SPDX-License-Identifier: MIT
 *
 * A folder whose files are parts of one run of bytes, as fuzzers give them: of each file a byte that tells the length of its name,
 * the name ("_versions/1.manifest"), the length of its content in four bytes, the content (tests/fuzz/pack_folder.py).
 */
#include "core/io/source.h"

#ifndef NT_TESTS_MEMORY_FOLDER_H
#define NT_TESTS_MEMORY_FOLDER_H

/* A source for the folder; the bytes stay the caller's. What is cut off has as many bytes as are there. */
enum nt_status memory_folder_open(const uint8_t *bytes, size_t count, struct nt_source **source_ret,
                                  struct nt_error *error);

#endif
