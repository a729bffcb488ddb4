/* SPDX-License-Identifier: MIT
 *
 * Wraps the arena functions, so that each allocation from an arena can fail. An arena calls malloc once
 * for many of its callers, so failures of malloc alone would reach few of them. Linked with --wrap.
 */
#include <stdarg.h>
#include <stdio.h>

#include "core/base/memory.h"
#include "faults.h"

void *__real_nt_arena_alloc(struct nt_arena *arena, size_t count, size_t size);
bool __real_nt_arena_adopt(struct nt_arena *arena, void *memory);
char *__real_nt_arena_copy(struct nt_arena *arena, const void *bytes, size_t length);
void *__wrap_nt_arena_alloc(struct nt_arena *arena, size_t count, size_t size);
bool __wrap_nt_arena_adopt(struct nt_arena *arena, void *memory);
char *__wrap_nt_arena_copy(struct nt_arena *arena, const void *bytes, size_t length);
char *__wrap_nt_arena_format(struct nt_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void *__wrap_nt_arena_alloc(struct nt_arena *arena, size_t count, size_t size)
{
    return fault_at(FAULT_ARENA) ? NULL : __real_nt_arena_alloc(arena, count, size);
}

bool __wrap_nt_arena_adopt(struct nt_arena *arena, void *memory)
{
    return !fault_at(FAULT_ARENA) && __real_nt_arena_adopt(arena, memory);
}

char *__wrap_nt_arena_copy(struct nt_arena *arena, const void *bytes, size_t length)
{
    return fault_at(FAULT_ARENA) ? NULL : __real_nt_arena_copy(arena, bytes, length);
}

char *__wrap_nt_arena_format(struct nt_arena *arena, const char *format, ...)
{
    char *text = NULL;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length >= 0 && !fault_at(FAULT_ARENA))
        text = __real_nt_arena_alloc(arena, (size_t)length + 1, 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
