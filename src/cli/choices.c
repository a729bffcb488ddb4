/* SPDX-License-Identifier: MIT
 *
 * In: values of select= and entries=. Out: choices for a tree.
 */
#include "cli/choices.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "cli/row_range.h"

const char *nt_select_path(const char *value)
{
    return strchr(value, ':') + 1; /* the option's parser has put it there */
}

/* Takes the choice. The name is what the value begins with. */
static enum nt_status add(struct nt_choices *choices, const char *value, size_t length,
                          struct nt_choice *choice, struct nt_error *error)
{
    char *name = strndup(value, length);
    choices->owned[choices->count] = choice;
    choices->items[choices->count++] = (struct nt_vfs_choice){name, choice};
    return name ? NT_OK : nt_fail_memory(error);
}

/* Name and range, as the option's parser has found them. */
static enum nt_status open_entries(const char *value, struct nt_choices *choices, struct nt_error *error)
{
    struct nt_row_range range = {0};
    struct nt_choice *choice;
    size_t length;
    nt_named_row_range_parse(value, &length, &range);
    enum nt_status status = nt_choice_of_range(range.first, range.end, &choice, error);
    return status == NT_OK ? add(choices, value, length, choice, error) : status;
}

static enum nt_status open_file(const char *value, struct nt_choices *choices, struct nt_error *error)
{
    struct nt_choice *choice;
    const char *path = nt_select_path(value);
    enum nt_status status = nt_choice_open(path, &choice, error);
    if (status == NT_OK)
        return add(choices, value, (size_t)(path - 1 - value), choice, error);
    nt_error_context(error, "option \"select\"");
    return status;
}

static size_t count_of(const char *const *values)
{
    size_t count = 0;
    while (values && values[count])
        count++;
    return count;
}

enum nt_status nt_choices_open(const struct nt_settings *settings, struct nt_choices *choices,
                               struct nt_error *error)
{
    size_t files = count_of(settings->select), ranges = count_of(settings->entries);
    if (!files && !ranges)
        return NT_OK;
    choices->items = calloc(files + ranges, sizeof(*choices->items));
    choices->owned = calloc(files + ranges, sizeof(*choices->owned));
    if (!choices->items || !choices->owned)
        return nt_fail_memory(error);
    enum nt_status status = NT_OK;
    for (size_t i = 0; i < files && status == NT_OK; i++)
        status = open_file(settings->select[i], choices, error);
    for (size_t i = 0; i < ranges && status == NT_OK; i++)
        status = open_entries(settings->entries[i], choices, error);
    return status;
}

void nt_choices_deinit(struct nt_choices *choices)
{
    for (size_t i = 0; i < choices->count; i++) {
        free((char *)choices->items[i].dataset);
        nt_choice_free(choices->owned[i]);
    }
    free(choices->items);
    free(choices->owned);
    *choices = (struct nt_choices){0};
}
