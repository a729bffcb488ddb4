/* SPDX-License-Identifier: MIT
 *
 * The tokens of Python literals that data types are made of: punctuation, strings, integers, and the words
 * None, True and False. A walker over a text; the first mistake stays.
 */
#ifndef NT_FORMAT_BLZ_LITERAL_H
#define NT_FORMAT_BLZ_LITERAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buffer.h"

struct nt_literal {
    const char *text;
    size_t at, end;
    const char *mistake; /* what was expected at `at`, NULL as long as all is well */
};

/* The next character that is not white space, 0 at the end; nothing is consumed. */
char nt_literal_peek(struct nt_literal *literal);
/* Consume a character where it comes next. */
bool nt_literal_accept(struct nt_literal *literal, char character);
/* The same where it must come. */
void nt_literal_expect(struct nt_literal *literal, char character, const char *what);
/* True where a string begins, with or without one of the prefixes u and b. */
bool nt_literal_is_string(struct nt_literal *literal);
/* Append a string's content to `out`: escapes resolved, \x as a byte, \u and \U as UTF-8. */
void nt_literal_string(struct nt_literal *literal, struct nt_buffer *out);
/* An integer from 0 to 2^63 - 1; Python 2's suffix L is accepted. */
uint64_t nt_literal_integer(struct nt_literal *literal);
/* Consume one of the words None, True, False. */
bool nt_literal_word(struct nt_literal *literal, const char *word);
void nt_literal_fail(struct nt_literal *literal, const char *what);

/* Append a text as a Python string literal in ASCII. */
void nt_append_literal(struct nt_buffer *out, const char *bytes, size_t length);

#endif
