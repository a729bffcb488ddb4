/* SPDX-License-Identifier: MIT
 *
 * Parses JSON with jansson, and splits an object into its raw members where the exact text or unsigned
 * 64-bit integers are needed.
 */
#include "core/json/parse.h"

#include <errno.h>

#include "core/base/error.h"
#include "core/base/text.h"

enum nt_status nt_json_parse(const char *text, size_t length, size_t flags, json_t **value_ret,
                             struct nt_error *error)
{
    json_error_t mistake;
    errno = 0; /* without memory, jansson reports a bad text */
    *value_ret = json_loadb(text, length, flags, &mistake);
    if (*value_ret)
        return NT_OK;
    return errno == ENOMEM
               ? nt_fail_memory(error)
               : nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "JSON, line %d: %s", mistake.line, mistake.text);
}

/* ---- Raw members ---- */

struct json_scanner {
    const char *at, *end;
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static void skip_blanks(struct json_scanner *scanner)
{
    while (scanner->at < scanner->end && is_blank(*scanner->at))
        scanner->at++;
}

static bool skip_mark(struct json_scanner *scanner, char mark)
{
    skip_blanks(scanner);
    if (scanner->at == scanner->end || *scanner->at != mark)
        return false;
    scanner->at++;
    return true;
}

/* Skips from one quote to the other. */
static bool skip_string(struct json_scanner *scanner)
{
    if (!skip_mark(scanner, '"'))
        return false;
    for (; scanner->at < scanner->end && *scanner->at != '"'; scanner->at++) {
        if ((unsigned char)*scanner->at < ' ')
            return false;
        if (*scanner->at == '\\' && ++scanner->at == scanner->end)
            return false;
    }
    return skip_mark(scanner, '"');
}

/* Skips a number, true, false or null. */
static bool skip_word(struct json_scanner *scanner)
{
    static const char ends[] = " \t\n\r,:\"{}[]";
    const char *start = scanner->at;
    while (scanner->at < scanner->end && *scanner->at && !strchr(ends, *scanner->at))
        scanner->at++;
    return scanner->at > start;
}

static bool skip_part(struct json_scanner *scanner, size_t *depth)
{
    skip_blanks(scanner);
    char first = scanner->at < scanner->end ? *scanner->at : '\0';
    bool opens = first == '{' || first == '[', closes = first == '}' || first == ']';
    if (first == '"')
        return skip_string(scanner);
    if (!opens && (!*depth || (!closes && first != ',' && first != ':')))
        return skip_word(scanner);
    *depth += opens;
    *depth -= closes;
    scanner->at++;
    return true;
}

static bool skip_value(struct json_scanner *scanner)
{
    size_t depth = 0;
    do {
        if (!skip_part(scanner, &depth))
            return false;
    } while (depth);
    return true;
}

static bool read_member(struct json_scanner *scanner, struct nt_json_member *member)
{
    skip_blanks(scanner);
    const char *key = scanner->at + 1;
    if (!skip_string(scanner))
        return false;
    member->key = (struct nt_text){key, (size_t)(scanner->at - key) - 1};
    if (!skip_mark(scanner, ':'))
        return false;
    skip_blanks(scanner);
    const char *value = scanner->at;
    if (!skip_value(scanner))
        return false;
    member->value = (struct nt_text){value, (size_t)(scanner->at - value)};
    return true;
}

static int compare_keys(const void *left, const void *right)
{
    return nt_texts_compare(((const struct nt_json_member *)left)->key,
                            ((const struct nt_json_member *)right)->key);
}

static enum nt_status fail_at(struct nt_text text, const char *at, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, (uint64_t)(at - text.bytes), "JSON: expected one complete object");
}

static enum nt_status read_all(struct nt_text text, struct nt_json_member **members, size_t *count,
                               struct nt_error *error)
{
    struct json_scanner scanner = {text.bytes, text.bytes + text.length};
    size_t capacity = 0;
    if (!skip_mark(&scanner, '{'))
        return fail_at(text, scanner.at, error);
    bool is_over = skip_mark(&scanner, '}');
    while (!is_over) {
        NT_TRY(nt_check_memory(NT_GROW(*members, *count, capacity), error));
        if (!read_member(&scanner, &(*members)[(*count)++]))
            return fail_at(text, scanner.at, error);
        is_over = skip_mark(&scanner, '}');
        if (!is_over && !skip_mark(&scanner, ','))
            return fail_at(text, scanner.at, error);
    }
    skip_blanks(&scanner);
    return scanner.at == scanner.end ? NT_OK : fail_at(text, scanner.at, error);
}

enum nt_status nt_json_members_read(struct nt_text text, struct nt_json_member **members_ret,
                                    size_t *count_ret, struct nt_error *error)
{
    NT_AUTO_FREE struct nt_json_member *members = NULL;
    size_t count = 0;
    NT_TRY(read_all(text, &members, &count, error));
    if (count)
        qsort(members, count, sizeof(*members), compare_keys);
    for (size_t i = 1; i < count; i++)
        if (nt_texts_are_equal(members[i].key, members[i - 1].key))
            return nt_fail(error, NT_CORRUPT, (uint64_t)(members[i].key.bytes - text.bytes),
                           "JSON: a key occurs twice");
    *members_ret = members;
    *count_ret = count;
    members = NULL;
    return NT_OK;
}

bool nt_json_value_unsigned(struct nt_text value, uint64_t *number_ret)
{
    uint64_t number = 0;
    if (!value.length || (value.bytes[0] == '0' && value.length > 1))
        return false;
    for (size_t i = 0; i < value.length; i++) {
        char digit = value.bytes[i];
        if (digit < '0' || digit > '9' || !nt_checked_multiply(number, 10, &number) ||
            !nt_checked_add(number, (uint64_t)(digit - '0'), &number))
            return false;
    }
    *number_ret = number;
    return true;
}

bool nt_json_value_string(struct nt_text value, struct nt_text *string_ret)
{
    if (value.length < 2 || value.bytes[0] != '"' || memchr(value.bytes, '\\', value.length))
        return false;
    *string_ret = (struct nt_text){value.bytes + 1, value.length - 2};
    return true;
}

void nt_json_append_compact(struct nt_text value, struct nt_buffer *out)
{
    struct json_scanner scanner = {value.bytes, value.bytes + value.length};
    size_t depth = 0;
    for (skip_blanks(&scanner); scanner.at < scanner.end; skip_blanks(&scanner)) {
        const char *start = scanner.at;
        if (!skip_part(&scanner, &depth))
            return;
        nt_buffer_append(out, start, (size_t)(scanner.at - start));
    }
}
