/* SPDX-License-Identifier: MIT
 *
 * Saves the output of a test to a file.
 */
#pragma once

#include <stdio.h>

#include "core/base/memory.h"
#include "demand.h"

static inline void save_file(const void *bytes, size_t count, const char *path)
{
    FILE *file = fopen(path, "wb");
    demand(file);
    demand(fwrite(bytes, 1, count, file) == count);
    demand(fclose(file) == 0);
}

static inline void save_bytes(const struct nt_buffer *bytes, const char *path)
{
    demand(!bytes->failed);
    save_file(bytes->bytes, bytes->length, path);
}
