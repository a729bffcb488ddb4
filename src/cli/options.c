/* SPDX-License-Identifier: MIT
 *
 * In: tables of options and the arguments of a program. Out: values in the program's settings.
 */
#include "cli/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "cli/option_values.h"

struct parser {
    const struct nt_option *const *tables;
    size_t table_count;
    void *settings;
    struct nt_arena *arena;
    struct nt_error *error;
};

/* The row at a running number over all tables; NULL behind the last. */
static const struct nt_option *table_row(const struct nt_option *const *tables, size_t table_count,
                                         size_t number)
{
    for (size_t i = 0; i < table_count; i++) {
        for (const struct nt_option *row = tables[i]; row->name; row++) {
            if (number-- == 0)
                return row;
        }
    }
    return NULL;
}

static const struct nt_option *row_at(const struct parser *parser, size_t number)
{
    return table_row(parser->tables, parser->table_count, number);
}

static bool is_ignored(const struct nt_option *row, const char *name, size_t length)
{
    for (size_t i = 0; row->kind == NT_OPTION_IGNORED && row->choices[i]; i++) {
        size_t begun = strlen(row->choices[i]) - 1;
        bool is_prefix = row->choices[i][begun] == '*';
        if (is_prefix ? length >= begun && memcmp(row->choices[i], name, begun) == 0
                      : length == begun + 1 && memcmp(row->choices[i], name, length) == 0)
            return true;
    }
    return false;
}

const struct nt_option *nt_option_named(const struct nt_option *const *tables, size_t table_count,
                                        const char *name, size_t length, bool has_value)
{
    const struct nt_option *row, *found = NULL;
    for (size_t number = 0; (row = table_row(tables, table_count, number)); number++) {
        bool is_named = strlen(row->name) == length && memcmp(row->name, name, length) == 0;
        is_named = is_named || is_ignored(row, name, length);
        if (is_named && (!found || (has_value && row->argument && !found->argument)))
            found = row;
    }
    return found;
}

static const struct nt_option *row_named(const struct parser *parser, const char *name, bool has_value)
{
    return nt_option_named(parser->tables, parser->table_count, name, strlen(name), has_value);
}

static const struct nt_option *row_lettered(const struct parser *parser, int letter)
{
    const struct nt_option *row;
    for (size_t number = 0; (row = row_at(parser, number)); number++) {
        if (row->letter == letter)
            return row;
    }
    return NULL;
}

/* ---- values ---- */

static enum nt_status parse_list(struct parser *parser, const char *text);

/* A value, of an option without. */
static enum nt_status refuse_to_take(const struct nt_option *row, struct nt_error *error)
{
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "option \"%s\" takes no value", row->name);
}

static enum nt_status apply(struct parser *parser, const struct nt_option *row, const char *value)
{
    if (row->argument && !value)
        return nt_fail(parser->error, NT_INVALID, NT_NO_OFFSET, "option \"%s\" needs a value: %s", row->name,
                       row->argument);
    if (!row->argument && value && row->kind != NT_OPTION_IGNORED)
        return refuse_to_take(row, parser->error);
    if (row->kind == NT_OPTION_REFUSED)
        return nt_fail(parser->error, NT_INVALID, NT_NO_OFFSET, "option \"%s\" is %s", row->name, row->help);
    if (row->kind == NT_OPTION_LIST)
        return parse_list(parser, value);
    return nt_option_set(row, value, (char *)parser->settings + row->member, parser->arena, parser->error);
}

/* ---- lists after -o ---- */

/* Copy a list's next item, up to a comma that no backslash escapes; returns where the one behind
 * it starts. */
static const char *next_item(const char *text, char *item)
{
    while (*text && *text != ',') {
        if (text[0] == '\\' && text[1])
            text++;
        *item++ = *text++;
    }
    *item = '\0';
    return *text ? text + 1 : text;
}

static enum nt_status apply_item(struct parser *parser, char *item)
{
    char *equals = strchr(item, '=');
    if (equals)
        *equals = '\0';
    const struct nt_option *row = row_named(parser, item, equals != NULL);
    if (!row || row->kind == NT_OPTION_LIST)
        return nt_fail(parser->error, NT_INVALID, NT_NO_OFFSET, "unknown option \"%s\"", item);
    return apply(parser, row, equals ? equals + 1 : NULL);
}

static enum nt_status parse_list(struct parser *parser, const char *text)
{
    while (*text) {
        char *item = nt_arena_alloc(parser->arena, strlen(text) + 1, 1);
        if (!item)
            return nt_fail_memory(parser->error);
        text = next_item(text, item);
        enum nt_status status = *item ? apply_item(parser, item) : NT_OK;
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

/* ---- arguments ---- */

struct getopt_tables {
    char *letters;
    struct option *names;
};

/* Whether a row takes a value, with another one of its name. */
static int takes_value(const struct parser *parser, const struct nt_option *row)
{
    if (row->argument)
        return required_argument;
    return row_named(parser, row->name, true) == row ? no_argument : optional_argument;
}

/* What getopt_long wants to know, from our tables. */
static bool make_getopt_tables(const struct parser *parser, bool in_front_only, struct getopt_tables *tables)
{
    size_t count = 0;
    while (row_at(parser, count))
        count++;
    char *letter = nt_arena_alloc(parser->arena, 3 * count + 3, 1);
    struct option *name = nt_arena_alloc(parser->arena, count + 1, sizeof(*name));
    *tables = (struct getopt_tables){.letters = letter, .names = name};
    if (!letter || !name)
        return false;
    if (in_front_only)
        *letter++ = '+';
    *letter++ = ':'; /* tell a missing value from an unknown option, and print nothing */
    for (size_t i = 0; i < count; i++) {
        const struct nt_option *row = row_at(parser, i);
        if (row->kind == NT_OPTION_IGNORED || row_named(parser, row->name, false) != row)
            continue;
        *name++ = (struct option){
            .name = row->name, .has_arg = takes_value(parser, row), .val = CHAR_MAX + 1 + (int)i};
        if (row->letter)
            *letter++ = row->letter;
        if (row->letter && row->argument)
            *letter++ = ':';
    }
    return true;
}

/* What getopt_long does not take: '?' is unknown, or has a value that it does not take, and ':' lacks one. */
static enum nt_status refuse_argument(const struct parser *parser, int found, char **arguments)
{
    const char *text = arguments[optind - 1];
    const char letter[] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt <= CHAR_MAX;
    if (found == '?' && optopt > CHAR_MAX)
        return refuse_to_take(row_at(parser, (size_t)optopt - CHAR_MAX - 1), parser->error);
    return nt_fail(parser->error, NT_INVALID, NT_NO_OFFSET,
                   found == '?' ? "unknown option \"%s\"" : "option \"%s\" needs a value",
                   is_letter ? letter : text);
}

static enum nt_status parse_one(struct parser *parser, int found, char **arguments)
{
    if (found == '?' || found == ':')
        return refuse_argument(parser, found, arguments);
    const struct nt_option *row =
        found > CHAR_MAX ? row_at(parser, (size_t)found - CHAR_MAX - 1) : row_lettered(parser, found);
    if (found > CHAR_MAX && optarg)
        row = row_named(parser, row->name, true);
    return apply(parser, row, row->argument ? optarg : NULL);
}

enum nt_status nt_options_parse(const struct nt_option *const *tables, size_t table_count, bool in_front_only,
                                int argument_count, char **arguments, void *settings, struct nt_arena *arena,
                                int *first_operand_ret, struct nt_error *error)
{
    struct parser parser = {
        .tables = tables, .table_count = table_count, .settings = settings, .arena = arena, .error = error};
    struct getopt_tables getopt_tables;
    if (!make_getopt_tables(&parser, in_front_only, &getopt_tables))
        return nt_fail_memory(error);
    int found;
    optind = 0; /* a fresh start: ntuple parses twice */
    while ((found = getopt_long(argument_count, arguments, getopt_tables.letters, getopt_tables.names,
                                NULL)) != -1) {
        enum nt_status status = parse_one(&parser, found, arguments);
        if (status != NT_OK)
            return status;
    }
    *first_operand_ret = optind;
    return NT_OK;
}

/* ---- what is told of options ---- */

/* "=value, name=value" */
static bool format_texts(const struct nt_option *row, const char *const *texts, char *value, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; texts && texts[i] && length < size; i++) {
        int more =
            snprintf(value + length, size - length, "%s%s=%s", i ? ", " : "", i ? row->name : "", texts[i]);
        length += more > 0 ? (size_t)more : 0;
    }
    return texts != NULL;
}

/* "=value"; false where the option was not given. */
static bool format_value(const struct nt_option *row, const void *member, char *value, size_t size)
{
    value[0] = '\0';
    switch (row->kind) {
    case NT_OPTION_FLAG:
        return *(const bool *)member;
    case NT_OPTION_TEXT:
    case NT_OPTION_FILE:
        snprintf(value, size, "=%s", *(const char *const *)member ? *(const char *const *)member : "");
        return *(const char *const *)member != NULL;
    case NT_OPTION_TEXTS:
    case NT_OPTION_FOLDERS:
    case NT_OPTION_NAMED_FILES:
        return format_texts(row, *(const char *const *const *)member, value, size);
    case NT_OPTION_SIZE:
        snprintf(value, size, "=%" PRIu64, *(const uint64_t *)member);
        return *(const uint64_t *)member != 0;
    case NT_OPTION_NUMBER:
        snprintf(value, size, "=%u", *(const unsigned *)member);
        return *(const unsigned *)member != 0;
    case NT_OPTION_ID:
        snprintf(value, size, "=%u", ((const struct nt_id *)member)->number);
        return ((const struct nt_id *)member)->is_given;
    case NT_OPTION_CHOICE:
        snprintf(value, size, "=%s", row->choices[*(const unsigned *)member]);
        return *(const unsigned *)member != 0;
    default:
        return false;
    }
}

void nt_options_append_given(struct nt_buffer *text, const struct nt_option *table, const void *settings)
{
    char value[256];
    for (const struct nt_option *row = table; row->name; row++)
        if (format_value(row, (const char *)settings + row->member, value, sizeof(value)))
            nt_buffer_format(text, "%s%s%s", text->length ? ", " : "", row->name, value);
}

/* A paragraph: a sentence, and the names below it. */
static void help_ignored(FILE *stream, const struct nt_option *row)
{
    enum { WIDTH = 100 };
    size_t at = WIDTH;
    fprintf(stream, "%s", row->help);
    for (size_t i = 0; row->choices[i]; i++) {
        size_t length = strlen(row->choices[i]) + 2;
        fprintf(stream, "%s%s%s", at + length > WIDTH ? "\n  " : " ", row->choices[i],
                row->choices[i + 1] ? "," : "\n");
        at = (at + length > WIDTH ? 2 : at) + length;
    }
}

static bool has_letter(const struct nt_option *table, char letter)
{
    for (const struct nt_option *row = table; row && row->name; row++)
        if (row->letter == letter)
            return true;
    return false;
}

void nt_options_help(FILE *stream, const struct nt_option *table)
{
    nt_options_help_behind(stream, table, NULL);
}

void nt_options_help_behind(FILE *stream, const struct nt_option *table, const struct nt_option *before)
{
    for (const struct nt_option *row = table; row->name; row++) {
        if (row->kind == NT_OPTION_IGNORED) {
            help_ignored(stream, row);
            continue;
        }
        if (row->kind == NT_OPTION_REFUSED)
            continue;
        char left[64];
        const char *equals = row->argument ? "=" : "", *argument = row->argument ? row->argument : "";
        if (row->letter && !has_letter(before, row->letter))
            snprintf(left, sizeof(left), "-%c, --%s%s%s", row->letter, row->name, equals, argument);
        else
            snprintf(left, sizeof(left), "    --%s%s%s", row->name, equals, argument);
        fprintf(stream, "  %-32s %s\n", left, row->help);
    }
}
