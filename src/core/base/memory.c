/* SPDX-License-Identifier: MIT
 *
 * Arena allocator, growing byte buffer, and large allocations backed by transparent huge pages.
 */
#include "core/base/memory.h"

#include <stdalign.h>
#include <stdio.h>
#include <sys/mman.h>

/* ---- Arenas ---- */

/* A build can let malloc see each allocation: with blocks of one byte, all get blocks of their own. */
#ifndef NT_ARENA_BLOCK_BYTES
#define NT_ARENA_BLOCK_BYTES (64 * 1024)
#endif

enum { FIRST_BLOCK_BYTES = 512, BLOCK_BYTES = NT_ARENA_BLOCK_BYTES, ALIGNMENT = alignof(max_align_t) };

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
    size_t block_bytes;      /* of the last block of at most BLOCK_BYTES; 0: none yet */
    struct adopted *adopted; /* memory outside the blocks */
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

/* The size of the next block, with room for two allocations of `bytes`. */
static size_t next_capacity(struct nt_arena *arena, size_t bytes)
{
    size_t capacity = arena->block_bytes ? arena->block_bytes * 2 : FIRST_BLOCK_BYTES;
    while (capacity < BLOCK_BYTES && capacity < 2 * bytes)
        capacity *= 2;
    return arena->block_bytes = capacity < BLOCK_BYTES ? capacity : BLOCK_BYTES;
}

/* Adds a block. A large allocation gets its own block, after the first, whose room stays in use. */
static struct block *add_block(struct nt_arena *arena, size_t bytes)
{
    bool is_large = bytes > BLOCK_BYTES / 2;
    size_t capacity = is_large ? bytes : next_capacity(arena, bytes);
    struct block *block = calloc(1, sizeof(*block) + capacity);
    if (!block)
        return NULL;
    block->capacity = capacity;
    struct block **next = is_large && arena->blocks ? &arena->blocks->next : &arena->blocks;
    block->next = *next;
    *next = block;
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

/* ---- Huge pages ---- */

enum { SMALLEST = 4096, HUGE_PAGE = 2 * 1024 * 1024 };

static size_t next_power_of_two(size_t bytes)
{
    size_t power = SMALLEST;
    while (power < bytes)
        power *= 2;
    return power;
}

size_t nt_hugepage_capacity(size_t bytes)
{
    if (bytes <= HUGE_PAGE / 4)
        return next_power_of_two(bytes);
    return bytes <= SIZE_MAX - HUGE_PAGE ? (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE : SIZE_MAX;
}

void *nt_hugepage_alloc_exact(size_t bytes)
{
    void *memory;
    if (posix_memalign(&memory, HUGE_PAGE, bytes) != 0)
        return NULL;
    madvise(memory, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    return memory;
}

void *nt_hugepage_alloc(size_t bytes, size_t *capacity_ret)
{
    size_t capacity = nt_hugepage_capacity(bytes);
    void *memory = NULL;
    if (capacity < HUGE_PAGE)
        memory = malloc(capacity);
    else if (capacity != SIZE_MAX)
        memory = nt_hugepage_alloc_exact(capacity);
    *capacity_ret = memory ? capacity : 0;
    return memory;
}

/* ---- Growing arrays ---- */

bool nt_array_enlarge(void *items_at, size_t *capacity, size_t item_bytes)
{
    enum { MIN_ITEMS = 8 };
    uint64_t larger = *capacity ? *capacity : MIN_ITEMS / 2, bytes;
    void *items;
    if (!nt_checked_multiply(larger, 2, &larger) || !nt_checked_multiply(larger, item_bytes, &bytes) ||
        bytes > PTRDIFF_MAX)
        return false;
    memcpy(&items, items_at, sizeof(items)); /* a pointer of any type */
    items = realloc(items, bytes);
    if (!items)
        return false;
    memcpy(items_at, &items, sizeof(items));
    *capacity = larger;
    return true;
}

/* ---- Byte buffers ---- */

void nt_buffer_deinit(struct nt_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct nt_buffer){0};
}

void nt_buffer_deinit_part(struct nt_buffer *part, struct nt_buffer *whole)
{
    whole->failed |= part->failed;
    nt_buffer_deinit(part);
}

void nt_buffer_clear(struct nt_buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
}

static bool reserve(struct nt_buffer *buffer, size_t count)
{
    size_t needed;
    if (buffer->failed || __builtin_add_overflow(buffer->length, count, &needed) ||
        __builtin_add_overflow(needed, 1, &needed)) {
        buffer->failed = true;
        return false;
    }
    if (needed <= buffer->capacity)
        return true;
    size_t capacity = buffer->capacity < 128 ? 128 : buffer->capacity;
    while (capacity < needed && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    if (capacity < needed)
        capacity = needed;
    char *bytes = realloc(buffer->bytes, capacity);
    if (!bytes) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void nt_buffer_fit(struct nt_buffer *buffer)
{
    char *bytes = buffer->bytes ? realloc(buffer->bytes, buffer->length + 1) : NULL;
    if (!bytes)
        return;
    buffer->bytes = bytes;
    buffer->capacity = buffer->length + 1;
}

const char *nt_buffer_string(const struct nt_buffer *buffer)
{
    return buffer->bytes ? buffer->bytes : "";
}

char *nt_buffer_take(struct nt_buffer *buffer)
{
    nt_buffer_append(buffer, "", 0); /* an empty text also has a byte */
    char *text = buffer->failed ? NULL : buffer->bytes;
    if (text)
        buffer->bytes = NULL;
    nt_buffer_deinit(buffer);
    return text;
}

uint8_t *nt_buffer_extend(struct nt_buffer *buffer, size_t count)
{
    if (!reserve(buffer, count))
        return NULL;
    uint8_t *room = (uint8_t *)buffer->bytes + buffer->length;
    buffer->length += count;
    buffer->bytes[buffer->length] = '\0';
    return room;
}

void nt_buffer_append(struct nt_buffer *buffer, const void *bytes, size_t count)
{
    uint8_t *room = nt_buffer_extend(buffer, count);
    if (room && count)
        memcpy(room, bytes, count);
}

void nt_buffer_append_string(struct nt_buffer *buffer, const char *text)
{
    nt_buffer_append(buffer, text, strlen(text));
}

void nt_buffer_append_byte(struct nt_buffer *buffer, char byte)
{
    uint8_t *room = nt_buffer_extend(buffer, 1);
    if (room)
        *room = (uint8_t)byte;
}

void nt_buffer_append_format(struct nt_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    nt_buffer_format_list(buffer, format, arguments);
    va_end(arguments);
}

void nt_buffer_format_list(struct nt_buffer *buffer, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0)
        buffer->failed = true;
    else if (reserve(buffer, (size_t)length)) {
        vsnprintf(buffer->bytes + buffer->length, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
}
