/* SPDX-License-Identifier: MIT
 *
 * In: sizes. Out: zeroed memory out of blocks in a list, which are freed together. Each block is twice as large as the one
 * before, up to a bound: there may be thousands of arenas with little in them. What is larger than half of that has a block to itself.
 */
#include "core/base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK_BYTES = 512, BLOCK_BYTES = 64 * 1024, ALIGNMENT = alignof(max_align_t) };

struct block {
    struct block *next;
    size_t used, capacity;
    alignas(max_align_t) unsigned char bytes[];
};

struct adopted {
    struct adopted *next;
    void *memory;
};

struct nt_arena {
    struct block *blocks;
    size_t block_bytes;      /* of the last one that is no larger than BLOCK_BYTES; 0: there was none */
    struct adopted *adopted; /* out of the blocks */
};

struct nt_arena *nt_arena_new(void)
{
    return calloc(1, sizeof(struct nt_arena));
}

void nt_arena_free(struct nt_arena *arena)
{
    if (!arena)
        return;
    for (struct adopted *adopted = arena->adopted; adopted; adopted = adopted->next)
        free(adopted->memory);
    while (arena->blocks) {
        struct block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    free(arena);
}

size_t nt_arena_bytes(const struct nt_arena *arena)
{
    size_t bytes = 0;
    for (const struct block *block = arena->blocks; block; block = block->next)
        bytes += sizeof(*block) + block->capacity;
    return bytes;
}

/* How large the next block is for that many bytes, of which two find room. */
static size_t next_capacity(struct nt_arena *arena, size_t bytes)
{
    size_t capacity = arena->block_bytes ? arena->block_bytes * 2 : FIRST_BLOCK_BYTES;
    while (capacity < BLOCK_BYTES && capacity < 2 * bytes)
        capacity *= 2;
    return arena->block_bytes = capacity < BLOCK_BYTES ? capacity : BLOCK_BYTES;
}

/* A new block. What is large gets one of its own behind the first, whose room stays in use. */
static struct block *add_block(struct nt_arena *arena, size_t bytes)
{
    bool is_large = bytes > BLOCK_BYTES / 2;
    size_t capacity = is_large ? bytes : next_capacity(arena, bytes);
    struct block *block = calloc(1, sizeof(*block) + capacity);
    if (!block)
        return NULL;
    block->capacity = capacity;
    struct block **place = is_large && arena->blocks ? &arena->blocks->next : &arena->blocks;
    block->next = *place;
    *place = block;
    return block;
}

void *nt_arena_alloc(struct nt_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct block *block = arena->blocks;
    if (!block || bytes > block->capacity - block->used)
        block = add_block(arena, bytes);
    if (!block)
        return NULL;
    void *memory = block->bytes + block->used;
    block->used += bytes;
    return memory;
}

bool nt_arena_adopt(struct nt_arena *arena, void *memory)
{
    struct adopted *adopted = nt_arena_alloc(arena, 1, sizeof(*adopted));
    if (!adopted)
        return false;
    *adopted = (struct adopted){arena->adopted, memory};
    arena->adopted = adopted;
    return true;
}

char *nt_arena_copy(struct nt_arena *arena, const void *bytes, size_t length)
{
    char *copy = length < SIZE_MAX ? nt_arena_alloc(arena, length + 1, 1) : NULL;
    if (copy && length)
        memcpy(copy, bytes, length);
    return copy;
}

char *nt_arena_format(struct nt_arena *arena, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : nt_arena_alloc(arena, (size_t)length + 1, 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
