/* SPDX-License-Identifier: MIT
 *
 * A growing byte buffer. Appending after a failed allocation does nothing: check `failed` once, at the end.
 */
#ifndef NT_BASE_BUFFER_H
#define NT_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nt_buffer {
    char *bytes; /* NUL-terminated where anything was appended */
    size_t length;
    size_t capacity;
    bool failed;
};

void nt_buffer_deinit(struct nt_buffer *buffer);
/* The end of a buffer whose bytes became part of `whole`, whatever way: if it failed, so has the whole. */
void nt_buffer_deinit_part(struct nt_buffer *part, struct nt_buffer *whole);
void nt_buffer_clear(struct nt_buffer *buffer); /* keeps the memory */
void nt_buffer_append(struct nt_buffer *buffer, const void *bytes, size_t count);
void nt_buffer_text(struct nt_buffer *buffer, const char *text);
void nt_buffer_byte(struct nt_buffer *buffer, char byte);
void nt_buffer_format(struct nt_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void nt_buffer_format_list(struct nt_buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* Give back what was taken for bytes that did not come, where the buffer is kept for long. */
void nt_buffer_fit(struct nt_buffer *buffer);
/* The bytes as a text that is never NULL: "" where nothing was appended, or could be. */
const char *nt_buffer_string(const struct nt_buffer *buffer);
/* The same for good, from malloc; the buffer is empty then. NULL where it failed, and without memory. */
char *nt_buffer_take(struct nt_buffer *buffer);
/* Room for `count` bytes at the end, which then count as appended; NULL without memory. */
uint8_t *nt_buffer_extend(struct nt_buffer *buffer, size_t count);

#endif
