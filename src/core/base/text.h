/* SPDX-License-Identifier: MIT
 *
 * String views, UTF-8, percent-encoding, path components, and escaping for terminals and logs.
 */
#pragma once

#include <ntuple/text.h>

#include "core/base/error.h"
#include "core/base/memory.h"

/* A view of a string; NULL is the empty text. */
static inline struct nt_text nt_text_of(const char *string)
{
    return (struct nt_text){string ? string : "", string ? strlen(string) : 0};
}

/* The view of a string literal: as an initializer in a table of constants, and as a value. */
#define NT_TEXT_OF(literal)                                                                                  \
    {                                                                                                        \
        (literal), sizeof(literal) - 1                                                                       \
    }
#define NT_TEXT(literal) ((struct nt_text)NT_TEXT_OF(literal))

static inline bool nt_texts_are_equal(struct nt_text a, struct nt_text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* Most texts that are compared differ in the first character. */
static inline bool nt_text_is(struct nt_text text, const char *string)
{
    bool may_be = !string || text.length == 0 || *text.bytes == *string;
    return may_be && nt_texts_are_equal(text, nt_text_of(string));
}

/* Is the text one of these, which end with NULL? */
static inline bool nt_text_is_one_of(struct nt_text text, const char *const *strings)
{
    while (*strings && !nt_text_is(text, *strings))
        strings++;
    return *strings;
}

/* Compares bytes, a prefix first. For qsort(3). */
int nt_texts_compare(struct nt_text a, struct nt_text b);
/* For qsort and bsearch of items whose first member is a string, by this string. */
static inline int nt_compare_strings(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Removes a prefix; false, without change, if the text does not begin with it. */
bool nt_text_skip(struct nt_text *text, const char *prefix);
/* Copies a string into an array, cut to fit. Faster than snprintf() for the names of long listings. */
void nt_string_copy(char *array, size_t array_bytes, const char *string);
/* A NUL-terminated copy in an arena; false without memory. */
bool nt_text_copy(struct nt_arena *arena, struct nt_text from, struct nt_text *to);
/* Moves a buffer's text to an arena and frees the buffer; NULL only without memory. */
char *nt_buffer_to_arena(struct nt_buffer *buffer, struct nt_arena *arena);

/* Length (1..4) of the well-formed UTF-8 sequence at `bytes` and its code point; 0 if there is none. */
size_t nt_utf8_decode(const uint8_t *bytes, size_t left, uint32_t *code_point_ret);
/* Appends a code point as UTF-8. Encodes invalid ones (surrogates, numbers past the last) by the same
 * rule, with 21 bits: the caller checks them if necessary. */
void nt_append_code_point(struct nt_buffer *out, uint32_t code_point);
bool nt_is_utf8(const void *bytes, size_t length);
/* The number of characters of a UTF-8 text, as columns of a terminal. */
int nt_text_width(struct nt_text text);

/* A byte as an ASCII character; '.' if it has none that is printed. */
static inline char nt_ascii_or_dot(uint8_t byte)
{
    return byte >= ' ' && byte <= '~' ? (char)byte : '.';
}

/* Appends a text for terminals and logs: control and bidirectional characters, DEL and bytes that are
 * not UTF-8 become \x.. (per byte). */
void nt_append_printable(struct nt_buffer *out, const void *bytes, size_t length);

/* The first byte of `bytes` (at least one), plain or percent-encoded. Returns how many bytes it uses: 1
 * or 3. */
size_t nt_percent_decode(const char *bytes, size_t left, uint8_t *byte_ret);
/* Decodes a whole text in place. False if an encoded byte is NUL. */
bool nt_percent_decode_text(char *text);
/* Does a '%' at the start of `bytes` begin an encoded byte? */
bool nt_is_percent_encoded(const char *bytes, size_t left);

/* Does it have a wildcard of glob(7): "*", "?" or "["? */
bool nt_has_wildcard(const char *text);

/* The last component of a path without trailing slashes: "a/b.tar.gz/" -> "b.tar.gz". Points into
 * `path`. */
struct nt_text nt_path_name(const char *path);
/* The same without its last extension: "a/b.tar.gz" -> "b.tar"; ".x" stays ".x". */
struct nt_text nt_path_stem(const char *path);
/* Is a path the directory's or below it? Compares bytes: both come from realpath(3). */
bool nt_path_is_within(const char *path, const char *directory);
