/* SPDX-License-Identifier: MIT
 *
 * In: the row of an option and a text. Out: the value in the program's settings, or what was expected.
 */
#include "cli/option_values.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/buffer.h"
#include "core/base/overflow.h"

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

static bool parse_size(const char *text, uint64_t *bytes_ret)
{
    static const char units[] = "KMGT";
    const char *end;
    if (!parse_number(text, bytes_ret, &end))
        return false;
    if (*end == '\0')
        return true;
    const char *unit = strchr(units, toupper((unsigned char)*end));
    return unit && end[1] == '\0' && nt_multiply(*bytes_ret, 1024ull << 10 * (unit - units), bytes_ret);
}

static unsigned most_of(const struct nt_option *row)
{
    return row->most ? row->most : INT_MAX;
}

static bool parse_count(const char *text, unsigned most, unsigned *count_ret)
{
    uint64_t value;
    const char *end;
    if (!parse_number(text, &value, &end) || *end != '\0' || value < 1 || value > most)
        return false;
    *count_ret = (unsigned)value;
    return true;
}

static bool parse_id(const char *text, struct nt_id *id_ret)
{
    uint64_t value;
    const char *end;
    if (!parse_number(text, &value, &end) || *end != '\0' || value >= UINT32_MAX) /* which is no user */
        return false;
    *id_ret = (struct nt_id){.is_given = true, .number = (unsigned)value};
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

static void pass(struct nt_buffer *list, const char *passed)
{
    if (passed)
        nt_buffer_format(list, "%s%s", list->length ? "," : "", passed);
}

static void append_value(void *context, const char *value, const char *help)
{
    struct nt_buffer *list = context;
    (void)help;
    nt_buffer_format(list, "%s%s", list->length ? ", " : "", value);
}

/* Every value, where all are known, else what a value looks like. */
static void append_expected(const struct nt_option *row, struct nt_buffer *text)
{
    if (row->each_value)
        row->each_value(append_value, text);
    else if (row->kind == NT_OPTION_NUMBER)
        nt_buffer_format(text, "a number from 1 to %u", most_of(row));
    else if (row->kind == NT_OPTION_SIZE)
        nt_buffer_text(text, "a whole number of bytes, with K, M, G or T behind it for powers of 1024");
    else if (row->kind == NT_OPTION_ID)
        nt_buffer_text(text, "a number from 0 to 4294967294");
    else
        nt_buffer_text(text, row->expected ? row->expected : row->argument);
}

static enum nt_status refuse(const struct nt_option *row, const char *value, struct nt_error *error)
{
    struct nt_buffer expected = {0};
    append_expected(row, &expected);
    nt_fail(error, NT_INVALID, NT_NO_OFFSET, "\"%s\" is no value for option \"%s\": %s", value, row->name,
            nt_buffer_string(&expected));
    nt_buffer_deinit(&expected);
    return NT_INVALID;
}

/* An empty text is a value of no option. */
static bool is_text(const struct nt_option *row, const char *value)
{
    return *value && (!row->is_value || row->is_value(value));
}

/* One more in a list of texts that ends with NULL. */
static enum nt_status add_text(const char *text, struct nt_arena *arena, const char *const **list,
                               struct nt_error *error)
{
    size_t count = 0;
    while (*list && (*list)[count])
        count++;
    const char **longer = nt_arena_alloc(arena, count + 2, sizeof(*longer));
    if (!longer)
        return nt_fail_memory(error);
    if (count)
        memcpy(longer, *list, count * sizeof(*longer));
    longer[count] = text;
    *list = longer;
    return NT_OK;
}

/* The program may leave its directory before the path is used. */
static enum nt_status add_path(const struct nt_option *row, const char *value, struct nt_arena *arena,
                               const char *const **list, struct nt_error *error)
{
    struct stat attributes;
    bool is_named = row->kind == NT_OPTION_NAMED_FILES;
    const char *colon = is_named ? strchr(value, ':') : NULL, *given = colon ? colon + 1 : value;
    char *path = realpath(given, NULL);
    if (!path || stat(path, &attributes))
        return nt_fail_system(error, errno, "option \"%s\": %s", row->name, given);
    struct nt_buffer text = {0};
    if (is_named)
        nt_buffer_format(&text, "%.*s:", (int)(colon ? colon - value : 0), value);
    nt_buffer_text(&text, path);
    free(path);
    const char *copy = text.failed ? NULL : nt_arena_copy(arena, text.bytes, text.length);
    nt_buffer_deinit(&text);
    if (!copy)
        return nt_fail_memory(error);
    if (!is_named && !S_ISDIR(attributes.st_mode))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "option \"%s\": %s is not a directory", row->name,
                       value);
    return add_text(copy, arena, list, error);
}

/* The same of a file that may not be there yet: its folder is. */
static enum nt_status set_path(const struct nt_option *row, const char *value, struct nt_arena *arena,
                               const char **path_ret, struct nt_error *error)
{
    const char *slash = strrchr(value, '/'), *name = slash ? slash + 1 : value;
    const char *given = slash ? nt_arena_copy(arena, value, (size_t)(slash - value) + 1) : ".";
    if (!*name)
        return refuse(row, value, error);
    char *folder = given ? realpath(given, NULL) : NULL;
    if (!folder)
        return given ? nt_fail_system(error, errno, "option \"%s\": %s", row->name, value)
                     : nt_fail_memory(error);
    *path_ret = nt_arena_format(arena, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
    free(folder);
    return *path_ret ? NT_OK : nt_fail_memory(error);
}

enum nt_status nt_option_set(const struct nt_option *row, const char *value, void *member,
                             struct nt_arena *arena, struct nt_error *error)
{
    bool is_good = true;
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
        is_good = parse_count(value, most_of(row), member);
        break;
    case NT_OPTION_ID:
        is_good = parse_id(value, member);
        break;
    case NT_OPTION_CHOICE:
        is_good = parse_choice(value, row->choices, member);
        break;
    case NT_OPTION_PASS:
        pass(member, row->passed);
        break;
    case NT_OPTION_LIST:
    case NT_OPTION_REFUSED:
    case NT_OPTION_IGNORED:
        break;
    }
    return is_good ? NT_OK : refuse(row, value, error);
}
