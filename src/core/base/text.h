/* SPDX-License-Identifier: MIT
 *
 * String views, UTF-8, percent-encoding, path components, and escaping for terminals and logs.
 */
#ifndef NT_CORE_BASE_TEXT_H
#define NT_CORE_BASE_TEXT_H

#include <ntuple/text.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/memory.h"

struct nt_arena;

/* A string as a text, without copying it; NULL is the empty one. */
struct nt_text nt_text_of(const char *string);
bool nt_text_is(struct nt_text text, const char *string);
bool nt_texts_are_equal(struct nt_text a, struct nt_text b);
/* By their bytes; of two that begin alike the shorter one is first. As qsort(3) wants it. */
int nt_texts_compare(struct nt_text a, struct nt_text b);
/* Leave a prefix out; false, and nothing is changed, where the text does not begin with it. */
bool nt_text_skip(struct nt_text *text, const char *prefix);
/* A NUL-terminated copy in an arena; false without memory. */
bool nt_text_copy(struct nt_arena *arena, struct nt_text from, struct nt_text *to);
/* The end of a buffer whose text goes into an arena, as a string that is never NULL but without memory. */
char *nt_buffer_to_arena(struct nt_buffer *buffer, struct nt_arena *arena);

/* Length (1..4) of the well-formed UTF-8 sequence at `bytes` and its code point; 0 where there is none. */
size_t nt_utf8_decode(const uint8_t *bytes, size_t left, uint32_t *code_point_ret);
/* Append a code point as UTF-8. What is none (a surrogate, a number past the last one) is encoded by the same
 * rule, with 21 bits of it: check where the text has to be well-formed. */
void nt_append_code_point(struct nt_buffer *out, uint32_t code_point);
bool nt_is_utf8(const void *bytes, size_t length);
/* How many characters a UTF-8 text has, each taken for one column of a terminal. */
int nt_text_width(struct nt_text text);

/* Append a text for terminals and logs: control and bidirectional characters, DEL and bytes that are not
 * UTF-8 become \x.. (a byte each). */
void nt_append_printable(struct nt_buffer *out, const void *bytes, size_t length);

/* The byte that begins `bytes`, one at least: itself, or percent-encoded. Returns how many of them it takes:
 * 1 or 3. */
size_t nt_percent_decode(const char *bytes, size_t left, uint8_t *byte_ret);
/* Whether a '%' that begins `bytes` would be read as the beginning of an encoded byte. */
bool nt_is_percent_encoded(const char *bytes, size_t left);

/* The last component of a path, slashes at its end omitted: "a/b.tar.gz/" -> "b.tar.gz". Points
 * into `path`. */
struct nt_text nt_path_name(const char *path);
/* The same without its last extension: "a/b.tar.gz" -> "b.tar"; ".x" stays ".x". */
struct nt_text nt_path_stem(const char *path);
/* Whether a path is a directory's, or one below it, by their bytes: both as realpath(3) has them. */
bool nt_path_is_within(const char *path, const char *directory);

#endif
