/* SPDX-License-Identifier: MIT
 *
 * Memory that lives and dies as a whole: what a data set is made of.
 */
#ifndef NT_BASE_ARENA_H
#define NT_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nt_arena;

struct nt_arena *nt_arena_new(void);        /* NULL without memory */
void nt_arena_free(struct nt_arena *arena); /* accepts NULL */

/* What its blocks take; what it has taken over is not among it. */
size_t nt_arena_bytes(const struct nt_arena *arena);

/* Zeroed memory for `count` items of `size` bytes, aligned for any type; NULL without memory or
 * on overflow. */
void *nt_arena_alloc(struct nt_arena *arena, size_t count, size_t size);
/* Take over memory from malloc, which is freed with the rest; false without memory: then it stays the caller's. */
bool nt_arena_adopt(struct nt_arena *arena, void *memory);
/* A NUL-terminated copy; NULL without memory. */
char *nt_arena_copy(struct nt_arena *arena, const void *bytes, size_t length);
char *nt_arena_format(struct nt_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
