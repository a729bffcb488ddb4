/* SPDX-License-Identifier: MIT
 *
 * Parses command lines by tables of options: short and long options, lists after -o as mount(8) passes
 * them, and values such as sizes, choices and row ranges.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>

static bool parse_number(const char *text, uint64_t *value_ret, const char **end_ret)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *value_ret = strtoull(text, &end, 10);
    *end_ret = end;
    return errno == 0;
}

/* ---- Parse row ranges ---- */

/* Parses a number; `otherwise` if there is none. */
static bool parse_row(const char *text, const char **end_ret, uint64_t otherwise, uint64_t *row_ret)
{
    *end_ret = text;
    *row_ret = otherwise;
    return !isdigit((unsigned char)*text) || parse_number(text, row_ret, end_ret);
}

/* Does not compare the two numbers. */
static bool scan(const char *text, struct nt_row_range *range_ret)
{
    const char *end, *last;
    if (!parse_row(text, &end, 0, &range_ret->first))
        return false;
    range_ret->is_row = *end == '\0' && end != text && range_ret->first < UINT64_MAX;
    if (range_ret->is_row) {
        range_ret->end = range_ret->first + 1;
        return true;
    }
    return *end == ':' && parse_row(end + 1, &last, UINT64_MAX, &range_ret->end) && *last == '\0';
}

bool nt_row_range_parse(const char *text, struct nt_row_range *range_ret)
{
    return scan(text, range_ret) && range_ret->first <= range_ret->end;
}

/* A text that is a range as a whole has no name, even if its end is before its start. */
bool nt_named_row_range_parse(const char *text, size_t *name_length_ret, struct nt_row_range *range_ret)
{
    const char *colon = scan(text, range_ret) ? NULL : strchr(text, ':');
    *name_length_ret = colon ? (size_t)(colon - text) : 0;
    return scan(colon ? colon + 1 : text, range_ret) && !range_ret->is_row &&
           range_ret->first <= range_ret->end;
}

bool nt_is_row_range(const char *text)
{
    struct nt_row_range range;
    return nt_row_range_parse(text, &range);
}

bool nt_is_named_row_range(const char *text)
{
    struct nt_row_range range;
    size_t name_length;
    return nt_named_row_range_parse(text, &name_length, &range);
}

/* ---- Parse values ---- */

static bool parse_size(const char *text, uint64_t *bytes_ret)
{
    static const char units[] = "KMGT";
    const char *end;
    if (!parse_number(text, bytes_ret, &end))
        return false;
    if (*end == '\0')
        return true;
    const char *unit = strchr(units, toupper((unsigned char)*end));
    return unit && end[1] == '\0' &&
           nt_checked_multiply(*bytes_ret, 1024ull << 10 * (unit - units), bytes_ret);
}

static unsigned most_of(const struct nt_option *row)
{
    return row->most ? row->most : INT_MAX;
}

static bool parse_count(const char *text, unsigned least, unsigned most, unsigned *count_ret)
{
    uint64_t value;
    const char *end;
    if (!parse_number(text, &value, &end) || *end != '\0' || value < least || value > most)
        return false;
    *count_ret = (unsigned)value;
    return true;
}

static bool parse_choice(const char *text, const char *const *choices, unsigned *index_ret)
{
    for (unsigned i = 0; choices[i]; i++) {
        if (*text && strcmp(choices[i], text) == 0) {
            *index_ret = i;
            return true;
        }
    }
    return false;
}

/* Appends an option for libfuse. The value may have commas: SELinux contexts do. */
static void pass(struct nt_buffer *list, const struct nt_option *row, const char *value)
{
    nt_buffer_append_format(list, "%s%s", list->length ? "," : "", row->passed);
    for (const char *next = row->argument ? value : ""; *next; next++)
        nt_buffer_append_format(list, *next == ',' || *next == '\\' ? "\\%c" : "%c", *next);
}

static void append_value(void *context, const char *value, const char *help)
{
    struct nt_buffer *list = context;
    nt_buffer_append_format(list, "%s%s", list->length ? ", " : "", value);
}

static void append_choices(struct nt_buffer *text, const char *const *choices)
{
    for (const char *separator = ""; *choices; choices++)
        if (**choices) { /* "" stands for no option */
            nt_buffer_append_format(text, "%s%s", separator, *choices);
            separator = "|";
        }
}

/* Lists all values if they are known, else describes a value. */
static void append_expected(const struct nt_option *row, struct nt_buffer *text)
{
    if (row->each_value)
        row->each_value(append_value, text);
    else if (row->kind == NT_OPTION_CHOICE || row->kind == NT_OPTION_EITHER)
        append_choices(text, row->choices);
    else if (row->kind == NT_OPTION_NUMBER)
        nt_buffer_append_format(text, "a number from 1 to %u", most_of(row));
    else if (row->kind == NT_OPTION_SIZE)
        nt_buffer_append_string(text,
                                "a whole number of bytes, or with a suffix K, M, G or T for powers of 1024");
    else if (row->kind == NT_OPTION_ID)
        nt_buffer_append_string(text, "a number from 0 to 4294967294");
    else
        nt_buffer_append_string(text, row->expected ? row->expected : row->argument);
}

static enum nt_status refuse(const struct nt_option *row, const char *value, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer expected = {0};
    append_expected(row, &expected);
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "\"%s\" is not a value of option \"%s\": expected %s",
                   value, row->name, nt_buffer_string(&expected));
}

/* No option accepts an empty text. */
static bool is_text(const struct nt_option *row, const char *value)
{
    return *value && (!row->is_value || row->is_value(value));
}

/* Appends to a list of texts that ends with NULL. */
static enum nt_status add_text(const char *text, struct nt_arena *arena, const char *const **list,
                               struct nt_error *error)
{
    size_t count = 0;
    while (*list && (*list)[count])
        count++;
    const char **longer = nt_arena_alloc(arena, count + 2, sizeof(*longer));
    NT_TRY(nt_check_memory(longer, error));
    if (count)
        memcpy(longer, *list, count * sizeof(*longer));
    longer[count] = text;
    *list = longer;
    return NT_OK;
}

/* Makes the path absolute: the program may change its directory before it uses the path. */
static enum nt_status add_path(const struct nt_option *row, const char *value, struct nt_arena *arena,
                               const char *const **list, struct nt_error *error)
{
    struct stat attributes;
    bool is_named = row->kind == NT_OPTION_NAMED_FILES;
    const char *colon = is_named ? strchr(value, ':') : NULL, *given = colon ? colon + 1 : value;
    NT_AUTO_FREE char *path = realpath(given, NULL);
    if (!path || stat(path, &attributes))
        return nt_fail_system(error, errno, "option \"%s\": %s", row->name, given);
    if (!is_named && !S_ISDIR(attributes.st_mode))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "option \"%s\": %s is not a directory", row->name,
                       value);
    const char *copy = nt_arena_format(arena, "%.*s%s%s", (int)(colon ? colon - value : 0), value,
                                       is_named ? ":" : "", path);
    NT_TRY(nt_check_memory(copy, error));
    return add_text(copy, arena, list, error);
}

/* The same for a file that may not exist yet: its directory must exist. */
static enum nt_status set_path(const struct nt_option *row, const char *value, struct nt_arena *arena,
                               const char **path_ret, struct nt_error *error)
{
    const char *slash = strrchr(value, '/'), *name = slash ? slash + 1 : value;
    const char *given = slash ? nt_arena_copy(arena, value, (size_t)(slash - value) + 1) : ".";
    if (!*name)
        return refuse(row, value, error);
    NT_AUTO_FREE char *folder = given ? realpath(given, NULL) : NULL;
    if (!folder)
        return given ? nt_fail_system(error, errno, "option \"%s\": %s", row->name, value)
                     : nt_fail_memory(error);
    *path_ret = nt_arena_format(arena, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
    return *path_ret ? NT_OK : nt_fail_memory(error);
}

/* Sets the row's member; rows without an argument take NULL. NT_INVALID names the option and the value,
 * and describes valid values. */
static enum nt_status option_set(const struct nt_option *row, const char *value, void *member,
                                 struct nt_arena *arena, struct nt_error *error)
{
    bool is_good = true;
    unsigned number = 0;
    switch (row->kind) {
    case NT_OPTION_FLAG:
        *(bool *)member = true;
        break;
    case NT_OPTION_TEXT:
        is_good = is_text(row, value);
        *(const char **)member = value;
        break;
    case NT_OPTION_TEXTS:
        return is_text(row, value) ? add_text(value, arena, member, error) : refuse(row, value, error);
    case NT_OPTION_FOLDERS:
    case NT_OPTION_NAMED_FILES:
        return add_path(row, value, arena, member, error);
    case NT_OPTION_FILE:
        return set_path(row, value, arena, member, error);
    case NT_OPTION_SIZE:
        is_good = parse_size(value, member);
        break;
    case NT_OPTION_NUMBER:
        is_good = parse_count(value, 1, most_of(row), member);
        break;
    case NT_OPTION_ID:
        is_good = parse_count(value, 0, UINT32_MAX - 1, &number); /* the largest is no id */
        *(struct nt_id *)member = (struct nt_id){.is_given = is_good, .number = number};
        break;
    case NT_OPTION_CHOICE:
        is_good = parse_choice(value, row->choices, member);
        break;
    case NT_OPTION_EITHER:
        is_good = parse_choice(value, row->choices, &number);
        *(bool *)member = number;
        break;
    case NT_OPTION_PASS:
        if (row->passed)
            pass(member, row, value);
        break;
    case NT_OPTION_LIST:
    case NT_OPTION_REFUSED:
    case NT_OPTION_IGNORED:
        break;
    }
    return is_good ? NT_OK : refuse(row, value, error);
}

/* ---- Parse options ---- */

struct option_parser {
    const struct nt_option *const *tables;
    void *settings;
    struct nt_arena *arena;
    struct nt_error *error;
};

/* The row with an index over all tables; NULL after the last. */
static const struct nt_option *row_at(const struct nt_option *const *tables, size_t number)
{
    for (; *tables; tables++)
        for (const struct nt_option *row = *tables; row->name; row++)
            if (number-- == 0)
                return row;
    return NULL;
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

const struct nt_option *nt_option_named(const struct nt_option *const *tables, const char *name,
                                        size_t length, bool has_value)
{
    const struct nt_option *row, *found = NULL;
    for (size_t number = 0; (row = row_at(tables, number)); number++) {
        bool is_named = strlen(row->name) == length && memcmp(row->name, name, length) == 0;
        is_named = is_named || is_ignored(row, name, length);
        if (is_named && (!found || (has_value && row->argument && !found->argument)))
            found = row;
    }
    return found;
}

static const struct nt_option *row_named(const struct option_parser *parser, const char *name, bool has_value)
{
    return nt_option_named(parser->tables, name, strlen(name), has_value);
}

const struct nt_option *nt_option_lettered(const struct nt_option *const *tables, char letter)
{
    const struct nt_option *row;
    for (size_t number = 0; (row = row_at(tables, number)) && row->letter != letter;)
        number++;
    return row;
}

/* ---- Values ---- */

static enum nt_status parse_list(struct option_parser *parser, const char *text);

/* Refuses a value for an option that takes none. */
static enum nt_status refuse_to_take(const struct nt_option *row, struct nt_error *error)
{
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "option \"%s\" takes no value", row->name);
}

static enum nt_status apply(struct option_parser *parser, const struct nt_option *row, const char *value)
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
    return option_set(row, value, (char *)parser->settings + row->member, parser->arena, parser->error);
}

/* ---- Lists after -o ---- */

/* Copies the next item of a list, up to a comma without a backslash; returns the item after it. */
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

static enum nt_status apply_item(struct option_parser *parser, char *item)
{
    char *equals = strchr(item, '=');
    if (equals)
        *equals = '\0';
    const struct nt_option *row = row_named(parser, item, equals != NULL);
    if (!row || row->kind == NT_OPTION_LIST)
        return nt_fail(parser->error, NT_INVALID, NT_NO_OFFSET, "unknown option \"%s\"", item);
    return apply(parser, row, equals ? equals + 1 : NULL);
}

static enum nt_status parse_list(struct option_parser *parser, const char *text)
{
    while (*text) {
        char *item = nt_arena_alloc(parser->arena, strlen(text) + 1, 1);
        NT_TRY(nt_check_memory(item, parser->error));
        text = next_item(text, item);
        NT_TRY(*item ? apply_item(parser, item) : NT_OK);
    }
    return NT_OK;
}

/* ---- Arguments ---- */

struct getopt_tables {
    char *letters;
    struct option *names;
};

/* Builds getopt_long's tables from our own. */
static bool make_getopt_tables(const struct option_parser *parser, bool in_front_only,
                               struct getopt_tables *tables)
{
    size_t count = 0;
    while (row_at(parser->tables, count))
        count++;
    char *letter = nt_arena_alloc(parser->arena, 3 * count + 3, 1);
    struct option *name = nt_arena_alloc(parser->arena, count + 1, sizeof(*name));
    *tables = (struct getopt_tables){.letters = letter, .names = name};
    if (!letter || !name)
        return false;
    if (in_front_only)
        *letter++ = '+';
    *letter++ = ':'; /* report a missing value separately from an unknown option, and print nothing */
    for (size_t i = 0; i < count; i++) {
        const struct nt_option *row = row_at(parser->tables, i);
        if (row->kind == NT_OPTION_IGNORED || row_named(parser, row->name, false) != row)
            continue;
        bool may_take =
            row_named(parser, row->name, true) != row; /* another row of this name takes a value */
        int takes = row->argument ? required_argument : may_take ? optional_argument : no_argument;
        *name++ = (struct option){.name = row->name, .has_arg = takes, .val = CHAR_MAX + 1 + (int)i};
        if (row->letter)
            *letter++ = row->letter;
        if (row->letter && row->argument)
            *letter++ = ':';
    }
    return true;
}

/* Reports an error of getopt_long: '?' is an unknown option or an extra value, ':' a missing value. */
static enum nt_status refuse_argument(const struct option_parser *parser, int found, char **arguments)
{
    const char *text = arguments[optind - 1];
    const char letter[] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt <= CHAR_MAX;
    if (found == '?' && optopt > CHAR_MAX)
        return refuse_to_take(row_at(parser->tables, (size_t)optopt - CHAR_MAX - 1), parser->error);
    return nt_fail(parser->error, NT_INVALID, NT_NO_OFFSET,
                   found == '?' ? "unknown option \"%s\"" : "option \"%s\" needs a value",
                   is_letter ? letter : text);
}

static enum nt_status parse_one(struct option_parser *parser, int found, char **arguments)
{
    if (found == '?' || found == ':')
        return refuse_argument(parser, found, arguments);
    const struct nt_option *row = found > CHAR_MAX ? row_at(parser->tables, (size_t)found - CHAR_MAX - 1)
                                                   : nt_option_lettered(parser->tables, (char)found);
    if (found > CHAR_MAX && optarg)
        row = row_named(parser, row->name, true);
    return apply(parser, row, row->argument ? optarg : NULL);
}

enum nt_status nt_options_parse(const struct nt_option *const *tables, bool in_front_only, int argument_count,
                                char **arguments, void *settings, struct nt_arena *arena,
                                int *first_operand_ret, struct nt_error *error)
{
    struct option_parser parser = {.tables = tables, .settings = settings, .arena = arena, .error = error};
    struct getopt_tables getopt_tables;
    NT_TRY(nt_check_memory(make_getopt_tables(&parser, in_front_only, &getopt_tables), error));
    int found;
    optind = 0; /* reset getopt: ntuple parses twice */
    while ((found = getopt_long(argument_count, arguments, getopt_tables.letters, getopt_tables.names,
                                NULL)) != -1) {
        NT_TRY(parse_one(&parser, found, arguments));
    }
    *first_operand_ret = optind;
    return NT_OK;
}

/* ---- Help and log ---- */

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

/* "=value"; false if the option is not set. */
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
    case NT_OPTION_EITHER:
        snprintf(value, size, "=%s", row->choices[1]);
        return *(const bool *)member;
    default:
        return false;
    }
}

void nt_options_append_given(struct nt_buffer *text, const struct nt_option *table, const void *settings)
{
    char value[256];
    for (const struct nt_option *row = table; row->name; row++)
        if (format_value(row, (const char *)settings + row->member, value, sizeof(value)))
            nt_buffer_append_format(text, "%s%s%s", text->length ? ", " : "", row->name, value);
}

enum { WIDTH = 100 }; /* columns of a terminal */

void nt_help_row(FILE *stream, const char *left, size_t indent, const char *help)
{
    size_t at = (size_t)fprintf(stream, "  %-*s", (int)indent - 2, left);
    const char *separator = at > indent ? " " : "";
    while (*help) {
        size_t length = strcspn(help, " ");
        if (*separator && at + 1 + length > WIDTH)
            at = (size_t)fprintf(stream, "\n%*s", (int)indent, "") - 1;
        else
            at += (size_t)fprintf(stream, "%s", separator);
        at += (size_t)fprintf(stream, "%.*s", (int)length, help);
        help += length + (help[length] == ' ');
        separator = " ";
    }
    putc('\n', stream);
}

/* A paragraph: a sentence, then the names. */
static void help_ignored(FILE *stream, const struct nt_option *row)
{
    size_t at = WIDTH;
    fprintf(stream, "%s", row->help);
    for (size_t i = 0; row->choices[i]; i++) {
        size_t length = strlen(row->choices[i]) + 2;
        fprintf(stream, "%s%s%s", at + length > WIDTH ? "\n  " : " ", row->choices[i],
                row->choices[i + 1] ? "," : "\n");
        at = (at + length > WIDTH ? 2 : at) + length;
    }
}

void nt_options_help(FILE *stream, const struct nt_option *table, const struct nt_option *before)
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
        if (row->letter && !nt_option_lettered((const struct nt_option *const[]){before, NULL}, row->letter))
            snprintf(left, sizeof(left), "-%c, --%s%s%s", row->letter, row->name, equals, argument);
        else
            snprintf(left, sizeof(left), "    --%s%s%s", row->name, equals, argument);
        nt_help_row(stream, left, 39, row->help);
    }
}
