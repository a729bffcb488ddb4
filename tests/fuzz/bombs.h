/* SPDX-License-Identifier: MIT
 *
 * Small files that ask for much. All follow their specification, with right checksums where it has any, but for what
 * makes them refused.
 */
#ifndef NT_TESTS_BOMBS_H
#define NT_TESTS_BOMBS_H

#include <stddef.h>

#include "core/base/memory.h"

/* What becomes of a file when all its streams are read; may be several. */
enum bomb_outcome { BOMB_WITHOUT_STREAMS = 0, BOMB_READ = 1, BOMB_FAILED = 2, BOMB_REFUSED = 4 };

struct bomb {
    const char *name; /* of the file */
    unsigned outcome;
    void (*write)(struct nt_buffer *file); /* the caller's to deinit */
};

#define BOMB(function, result)                                                                               \
    {                                                                                                        \
        .name = #function, .outcome = (result), .write = (function)                                          \
    }

/* RNTuples, and Lance files; `dense`: of a megabyte of metadata. */
extern const struct bomb bombs[], lance_bombs[], dense_bombs[];
extern const size_t bomb_count, lance_bomb_count, dense_bomb_count;

/* An RNTuple of so many fields, whose names have so many letters, at most 255, that no compression makes fewer. */
void write_dense_fields(uint32_t count, size_t letters, struct nt_buffer *file);

#endif
