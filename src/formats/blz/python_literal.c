/* SPDX-License-Identifier: MIT
 *
 * A strict, non-recursive tokenizer for the Python literals that appear in NumPy data types, and a
 * writer of Python string literals.
 */
#include "formats/blz/blz.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/text.h"

void nt_literal_fail(struct nt_literal *literal, const char *what)
{
    if (!literal->mistake)
        literal->mistake = what;
}

char nt_literal_peek(struct nt_literal *literal)
{
    while (literal->at < literal->end && strchr(" \t\r\n", literal->text[literal->at]) &&
           literal->text[literal->at])
        literal->at++;
    return literal->at < literal->end && !literal->mistake ? literal->text[literal->at] : '\0';
}

bool nt_literal_accept(struct nt_literal *literal, char character)
{
    if (nt_literal_peek(literal) != character)
        return false;
    literal->at++;
    return true;
}

void nt_literal_expect(struct nt_literal *literal, char character, const char *what)
{
    if (!nt_literal_accept(literal, character))
        nt_literal_fail(literal, what);
}

static bool is_quote(char character)
{
    return character == '\'' || character == '"';
}

bool nt_literal_is_string(struct nt_literal *literal)
{
    char first = nt_literal_peek(literal);
    bool has_prefix = first == 'u' || first == 'b';
    return is_quote(first) ||
           (has_prefix && literal->at + 1 < literal->end && is_quote(literal->text[literal->at + 1]));
}

/* Reads `digits` hexadecimal digits. */
static uint32_t hexadecimal(struct nt_literal *literal, unsigned digits)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < digits; i++) {
        char c = literal->at < literal->end ? literal->text[literal->at] : '\0';
        uint32_t digit = c >= '0' && c <= '9'                 ? (uint32_t)(c - '0')
                         : (c | 32) >= 'a' && (c | 32) <= 'f' ? (uint32_t)((c | 32) - 'a') + 10
                                                              : 16;
        if (digit == 16) {
            nt_literal_fail(literal, "a hexadecimal digit");
            return 0;
        }
        value = value << 4 | digit;
        literal->at++;
    }
    return value;
}

static void append_code_point(struct nt_literal *literal, struct nt_buffer *out, uint32_t value)
{
    if (value <= 0x10FFFF)
        nt_append_code_point(out, value);
    else
        nt_literal_fail(literal, "a code point");
}

/* Reads the part of an escape after the backslash. */
static void append_escape(struct nt_literal *literal, struct nt_buffer *out)
{
    static const char letters[] = "abfnrtv\\'\"", meanings[] = "\a\b\f\n\r\t\v\\'\"";
    char letter = literal->at < literal->end ? literal->text[literal->at++] : '\0';
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found)
        nt_buffer_byte(out, meanings[found - letters]);
    else if (letter == 'x')
        nt_buffer_byte(out, (char)hexadecimal(literal, 2));
    else if (letter == 'u')
        append_code_point(literal, out, hexadecimal(literal, 4));
    else if (letter == 'U')
        append_code_point(literal, out, hexadecimal(literal, 8));
    else
        nt_literal_fail(literal, "an escape sequence");
}

void nt_literal_string(struct nt_literal *literal, struct nt_buffer *out)
{
    if (!nt_literal_is_string(literal)) {
        nt_literal_fail(literal, "a string");
        return;
    }
    if (!is_quote(literal->text[literal->at]))
        literal->at++;
    char quote = literal->text[literal->at++];
    while (literal->at < literal->end && !literal->mistake) {
        char character = literal->text[literal->at++];
        if (character == quote)
            return;
        if (character == '\\')
            append_escape(literal, out);
        else
            nt_buffer_byte(out, character);
    }
    nt_literal_fail(literal, "the end of a string");
}

uint64_t nt_literal_integer(struct nt_literal *literal)
{
    uint64_t value = 0;
    char digit = nt_literal_peek(literal);
    if (digit < '0' || digit > '9') {
        nt_literal_fail(literal, "an integer");
        return 0;
    }
    for (; literal->at < literal->end; literal->at++) {
        digit = literal->text[literal->at];
        if (digit < '0' || digit > '9')
            break;
        if (value > (INT64_MAX - 9) / 10) {
            nt_literal_fail(literal, "a smaller integer");
            return 0;
        }
        value = value * 10 + (uint64_t)(digit - '0');
    }
    if (literal->at < literal->end && literal->text[literal->at] == 'L')
        literal->at++;
    return value;
}

bool nt_literal_word(struct nt_literal *literal, const char *word)
{
    size_t length = strlen(word);
    nt_literal_peek(literal);
    if (literal->mistake || literal->end - literal->at < length ||
        memcmp(literal->text + literal->at, word, length))
        return false;
    literal->at += length;
    return true;
}

void nt_append_literal(struct nt_buffer *out, const char *bytes, size_t length)
{
    const uint8_t *at = (const uint8_t *)bytes;
    nt_buffer_byte(out, '\'');
    while (length) {
        uint32_t code_point = 0;
        size_t step = nt_utf8_decode(at, length, &code_point);
        if (step == 0) /* a lone byte, written like Python's surrogateescape */
            nt_buffer_format(out, "\\udc%02x", *at);
        else if (code_point >= 0x20 && code_point < 0x7F && code_point != '\'' && code_point != '\\')
            nt_buffer_byte(out, (char)code_point);
        else if (code_point < 0x80)
            nt_buffer_format(out, "\\x%02x", code_point);
        else
            nt_buffer_format(out, code_point < 0x10000 ? "\\u%04x" : "\\U%08x", code_point);
        step = step ? step : 1;
        at += step;
        length -= step;
    }
    nt_buffer_byte(out, '\'');
}
