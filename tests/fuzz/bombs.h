/* SPDX-License-Identifier: MIT
 *
 * Small files that request huge resources. They follow their specification, with valid checksums,
 * except for what causes the refusal.
 */
#pragma once

#include <stddef.h>

#include "core/base/memory.h"

/* The outcomes of reading all streams of a file; several may occur. */
enum bomb_outcome { BOMB_WITHOUT_STREAMS = 0, BOMB_READ = 1, BOMB_FAILED = 2, BOMB_REFUSED = 4 };

struct bomb {
    const char *name; /* file name */
    unsigned outcome;
    void (*write)(struct nt_buffer *file); /* the caller deinits the buffer */
};

#define BOMB(function, result)                                                                               \
    {                                                                                                        \
        .name = #function, .outcome = (result), .write = (function)                                          \
    }

/* RNTuple files, Lance files, files with a megabyte of dense metadata, and TTrees. */
extern const struct bomb bombs[], lance_bombs[], dense_bombs[], tree_bombs[];
extern const size_t bomb_count, lance_bomb_count, dense_bomb_count, tree_bomb_count;

/* Writes a TTree of TClonesArrays. Each has a basket of 2 KB that decompresses to 12 MB, slowly. */
void write_objects_in_large_baskets(struct nt_buffer *file);

/* Writes an RNTuple with `count` fields, whose names have `letters` (at most 255) random letters. */
void write_dense_fields(uint32_t count, size_t letters, struct nt_buffer *file);
