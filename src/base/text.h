/* SPDX-License-Identifier: MIT
 *
 * Texts from files: whether they are UTF-8, and how they are shown to people.
 */
#ifndef NT_BASE_TEXT_H
#define NT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Length (1..4) of the well-formed UTF-8 sequence at `bytes` and its code point; 0 where there is none. */
size_t nt_utf8_decode(const uint8_t *bytes, size_t left, uint32_t *code_point_ret);
bool nt_is_utf8(const void *bytes, size_t length);

/* Append a text for terminals and logs: control and bidirectional characters, DEL and bytes that are not
 * UTF-8 become \x.. (a byte each). */
void nt_append_printable(struct nt_buffer *out, const void *bytes, size_t length);

/* The last component of a path, slashes at its end left out: "a/b.tar.gz/" -> "b.tar.gz". Points into `path`.
 */
const char *nt_path_name(const char *path, size_t *length_ret);
/* The same without its last extension: "a/b.tar.gz" -> "b.tar"; ".x" stays ".x". */
const char *nt_path_stem(const char *path, size_t *length_ret);

#endif
