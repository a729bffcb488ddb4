/* SPDX-License-Identifier: MIT
 *
 * In: bytes and formatted text. Out: one piece of memory that they stand in, one behind the other. It at least
 * doubles where it is too small.
 */
#include "core/base/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    nt_buffer_append(buffer, "", 0); /* an empty text has a byte, too */
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

void nt_buffer_text(struct nt_buffer *buffer, const char *text)
{
    nt_buffer_append(buffer, text, strlen(text));
}

void nt_buffer_byte(struct nt_buffer *buffer, char byte)
{
    nt_buffer_append(buffer, &byte, 1);
}

void nt_buffer_format(struct nt_buffer *buffer, const char *format, ...)
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
