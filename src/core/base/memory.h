/* SPDX-License-Identifier: MIT
 *
 * Memory management: cleanup at the end of a scope, arenas, growing byte buffers, growing arrays, and
 * allocations on huge pages.
 */
#pragma once

#include <stdarg.h>
#include <stdlib.h>

#include "core/base/bytes.h"

struct nt_arena;

/* ---- Cleanup at the end of a scope ---- */

/* Put in front of a declaration of local variables: calls function(&variable) for each where their scope
 * ends, also by NT_TRY. Each variable needs an initializer. The last one declared is released first. */
#define NT_CLEANUP(function) __attribute__((cleanup(function)))
/* The same for a pointer, which may be NULL: calls free(variable). */
#define NT_AUTO_FREE NT_CLEANUP(nt_auto_free)
static inline void nt_auto_free(void *variable)
{
    void *memory;
    memcpy(&memory, variable, sizeof(memory));
    free(memory);
}

/* Defines `close`_at for NT_CLEANUP, which calls close(variable) unless the pointer is NULL. */
#define NT_DEFINE_CLEANUP(type, close)                                                                       \
    static inline void close##_at(type **variable)                                                           \
    {                                                                                                        \
        if (*variable)                                                                                       \
            close(*variable);                                                                                \
    }

/* ---- Arenas ---- */

struct nt_arena *nt_arena_new(void);        /* NULL without memory */
void nt_arena_free(struct nt_arena *arena); /* accepts NULL */
NT_DEFINE_CLEANUP(struct nt_arena, nt_arena_free)

/* The size of its blocks, without adopted memory. */
size_t nt_arena_bytes(const struct nt_arena *arena);

/* Zeroed memory for `count` items of `size` bytes, aligned for any type; NULL without memory or
 * on overflow. */
void *nt_arena_alloc(struct nt_arena *arena, size_t count, size_t size);
/* Adopts memory from malloc, to free it with the rest; false without memory: the caller keeps it. */
bool nt_arena_adopt(struct nt_arena *arena, void *memory);
/* A NUL-terminated copy; NULL without memory. */
char *nt_arena_copy(struct nt_arena *arena, const void *bytes, size_t length);
char *nt_arena_format(struct nt_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Huge pages ---- */

/* At least `bytes` bytes, not initialised, and their number. Sizes come in steps, so that a slowly
 * growing buffer is not reallocated each time. Free with free(). NULL without memory. */
size_t nt_hugepage_capacity(size_t bytes); /* the size; SIZE_MAX: too large */
void *nt_hugepage_alloc(size_t bytes, size_t *capacity_ret);
/* Exactly `bytes` bytes, aligned to a huge page and on huge pages as far as they fill them. */
void *nt_hugepage_alloc_exact(size_t bytes);

/* ---- Growing arrays ---- */

/* Makes room for one more item after `count` in an array from malloc: doubles its capacity, and may move the
 * items. False without memory: nothing changes. */
#define NT_GROW(items, count, capacity)                                                                      \
    ((count) < (capacity) || nt_array_enlarge(&(items), &(capacity), sizeof(*(items))))
/* Doubles the capacity. `items_at` is the address of the pointer to the items. */
bool nt_array_enlarge(void *items_at, size_t *capacity, size_t item_bytes);

/* ---- Byte buffers ---- */

struct nt_buffer {
    char *bytes; /* NUL-terminated once anything was appended */
    size_t length;
    size_t capacity;
    bool failed;
};

void nt_buffer_deinit(struct nt_buffer *buffer);
/* Frees a buffer that is part of `whole`, and passes on its failure. */
void nt_buffer_deinit_part(struct nt_buffer *part, struct nt_buffer *whole);
void nt_buffer_clear(struct nt_buffer *buffer); /* keeps the memory */
void nt_buffer_append(struct nt_buffer *buffer, const void *bytes, size_t count);
void nt_buffer_append_string(struct nt_buffer *buffer, const char *text);
void nt_buffer_append_byte(struct nt_buffer *buffer, char byte);
void nt_buffer_append_format(struct nt_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void nt_buffer_format_list(struct nt_buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* Shrinks the capacity to the length, for long-lived buffers. */
void nt_buffer_fit(struct nt_buffer *buffer);
/* The bytes as a string, never NULL: "" if empty or failed. */
const char *nt_buffer_string(const struct nt_buffer *buffer);
/* The same, from malloc for the caller; empties the buffer. NULL if it failed or without memory. */
char *nt_buffer_take(struct nt_buffer *buffer);
/* Appends `count` bytes for the caller to fill; NULL without memory. */
uint8_t *nt_buffer_extend(struct nt_buffer *buffer, size_t count);
