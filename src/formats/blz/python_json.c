/* SPDX-License-Identifier: MIT
 *
 * Parses JSON as Python's json module writes it, including NaN, Infinity and integers of any size.
 * Values that strict JSON lacks are quoted before jansson parses the text.
 */
#include "formats/blz/blz.h"

#include <errno.h>

#include "core/json/parse.h"

enum { NT_BLZ_JSON_DEPTH = 64, NT_BLZ_JSON_BYTES = 16 * 1024 * 1024 };

enum {
    BIG_INTEGER_MARK = 1, /* the first character of a quoted integer; in JSON \u0001 */
    LONGEST_INTEGER = 18, /* digits that 63 bits always hold */
};

/* ---- Quoting ---- */

struct python_json_scanner {
    const char *text;
    size_t length, at;
};

/* Finds the end of the string that starts at the current quote. */
static size_t end_of_string(const struct python_json_scanner *scanner)
{
    size_t at = scanner->at + 1;
    while (at < scanner->length && scanner->text[at] != '"')
        at += scanner->text[at] == '\\' ? 2 : 1;
    return at < scanner->length ? at + 1 : scanner->length;
}

/* The length of the number at the current position. */
static size_t number_length(const struct python_json_scanner *scanner)
{
    size_t at = scanner->at;
    while (at < scanner->length && scanner->text[at] && strchr("+-.0123456789eE", scanner->text[at]))
        at++;
    return at - scanner->at;
}

/* The length of NaN, Infinity or -Infinity at the current position, 0 if there is none. */
static size_t word_length(const struct python_json_scanner *scanner)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        size_t length = strlen(words[i]);
        if (length <= scanner->length - scanner->at && !memcmp(scanner->text + scanner->at, words[i], length))
            return length;
    }
    return 0;
}

static void append_quoted(struct nt_buffer *out, const char *mark, const char *text, size_t length)
{
    nt_buffer_append_byte(out, '"');
    nt_buffer_append_string(out, mark);
    nt_buffer_append(out, text, length);
    nt_buffer_append_byte(out, '"');
}

static bool is_long_integer(const char *number, size_t length)
{
    for (size_t i = number[0] == '-'; i < length; i++)
        if (number[i] < '0' || number[i] > '9')
            return false;
    return length > LONGEST_INTEGER;
}

/* Copies one token: a string, a word, a number, or a single character. */
static void copy_token(struct python_json_scanner *scanner, struct nt_buffer *out)
{
    const char *token = scanner->text + scanner->at;
    size_t length = word_length(scanner);
    if (length) {
        append_quoted(out, "", token, length);
    } else if (*token == '"') {
        length = end_of_string(scanner) - scanner->at;
        nt_buffer_append(out, token, length);
    } else if ((length = number_length(scanner)) > 0) {
        if (is_long_integer(token, length))
            append_quoted(out, "\\u0001", token, length);
        else
            nt_buffer_append(out, token, length);
    } else {
        length = 1;
        nt_buffer_append_byte(out, *token);
    }
    scanner->at += length;
}

/* Does a token that starts with this character start a value or a key? Words are copied letter by
 * letter, and only the first letter counts. */
static bool begins_value(char next)
{
    return next && strchr("\"[{-0123456789tfnNI", next);
}

enum nt_status nt_blz_json_quote(const char *text, size_t length, struct nt_buffer *out, uint64_t *values_ret,
                                 struct nt_error *error)
{
    struct python_json_scanner scanner = {.text = text, .length = length};
    unsigned depth = 0;
    *values_ret = 0;
    while (scanner.at < length) {
        char next = text[scanner.at];
        if (next == '[' || next == '{')
            depth++;
        else if ((next == ']' || next == '}') && depth > 0)
            depth--;
        if (depth > NT_BLZ_JSON_DEPTH)
            return nt_fail(error, NT_LIMIT, scanner.at, "JSON is nested deeper than %d levels",
                           NT_BLZ_JSON_DEPTH);
        *values_ret += begins_value(next);
        copy_token(&scanner, out);
    }
    return nt_check_memory(!out->failed, error);
}

/* ---- Reading ---- */

/* The parsed values count permanently, the text and its copy only as long as they exist. */
static enum nt_status parse(const char *text, size_t length, struct nt_budget *budget, json_t **value_ret,
                            struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer quoted = {0};
    uint64_t values;
    NT_TRY(nt_blz_json_quote(text, length, &quoted, &values, error));
    NT_TRY(nt_budget_take(budget, NT_COST_JSON_VALUE, values, NT_NO_OFFSET, error));
    return nt_json_parse(quoted.bytes, quoted.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, value_ret, error);
}

enum nt_status nt_blz_json_parse(const char *text, size_t length, struct nt_budget *budget,
                                 json_t **value_ret, struct nt_error *error)
{
    size_t blank = 0;
    while (blank < length && text[blank] && strchr(" \t\r\n", text[blank]))
        blank++;
    if (blank == length) {
        *value_ret = json_object();
        return nt_check_memory(*value_ret, error);
    }
    NT_TRY(nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, length, NT_NO_OFFSET, error));
    enum nt_status status = parse(text, length, budget, value_ret, error);
    nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, length);
    return status;
}

enum nt_status nt_blz_json_load(struct nt_folder *folder, const char *name, uint32_t number,
                                struct nt_budget *budget, json_t **value_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_source_close_at) struct nt_source *source = NULL;
    NT_AUTO_FREE uint8_t *text = NULL;
    NT_TRY(nt_folder_open_file(folder, name, &source, error));
    if (source->size > NT_BLZ_JSON_BYTES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s: the metadata has more than 16 MiB", source->path);
    const struct nt_metadata_range all = {.bytes = source->size, .position = nt_metadata_position(number, 0)};
    enum nt_status status = nt_metadata_read(budget, source, &all, &text, NULL, error);
    if (status == NT_OK) {
        status = nt_blz_json_parse((const char *)text, (size_t)all.bytes, budget, value_ret, error);
        nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, all.bytes);
    }
    return nt_with_context(status, error, "%s", source->path);
}

bool nt_blz_json_unsigned(const json_t *object, const char *key, uint64_t *value_ret)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *value_ret = (uint64_t)json_integer_value(value);
    return true;
}

/* ---- Writing ---- */

static void write_string(struct nt_json *json, const json_t *value)
{
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    if (length == 0 || text[0] != BIG_INTEGER_MARK || !is_long_integer(text + 1, length - 1)) {
        nt_json_bytes(json, text, length);
        return;
    }
    errno = 0;
    bool is_negative = text[1] == '-';
    int64_t negative = is_negative ? strtoll(text + 1, NULL, 10) : 0;
    uint64_t positive = is_negative ? 0 : strtoull(text + 1, NULL, 10);
    if (errno)
        nt_json_string(json, text + 1);
    else if (is_negative)
        nt_json_signed(json, negative);
    else
        nt_json_unsigned(json, positive);
}

static void write_object(struct nt_json *json, const json_t *value)
{
    const char *key;
    json_t *member;
    nt_json_object(json);
    json_object_foreach((json_t *)value, key, member)
    {
        nt_json_key_bytes(json, key, strlen(key));
        nt_blz_json_write(json, member);
    }
    nt_json_end_object(json);
}

static void write_array(struct nt_json *json, const json_t *value)
{
    nt_json_array(json);
    for (size_t i = 0; i < json_array_size(value); i++)
        nt_blz_json_write(json, json_array_get(value, i));
    nt_json_end_array(json);
}

void nt_blz_json_write(struct nt_json *json, const json_t *value)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT:
        write_object(json, value);
        break;
    case JSON_ARRAY:
        write_array(json, value);
        break;
    case JSON_STRING:
        write_string(json, value);
        break;
    case JSON_INTEGER:
        nt_json_signed(json, json_integer_value(value));
        break;
    case JSON_REAL:
        nt_json_double(json, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        nt_json_bool(json, json_is_true(value));
        break;
    case JSON_NULL:
        nt_json_null(json);
        break;
    }
}
