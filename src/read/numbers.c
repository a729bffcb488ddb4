/* SPDX-License-Identifier: MIT
 *
 * In: elements of a file, one after the other. Out: runs of entries.
 */
#include "read/numbers.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/base/error.h"
#include "core/base/grow.h"

enum nt_status nt_choice_refuse_element(const struct nt_choice *choice, struct nt_error *error,
                                        const char *format, ...)
{
    char text[256], line[40] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (choice->line)
        snprintf(line, sizeof(line), "line %" PRIu64 ": ", choice->line);
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: %selement %" PRIu64 ": %s", choice->path, line,
                   choice->elements, text);
}

enum nt_status nt_choice_refuse_kind(const struct nt_choice *choice, struct nt_error *error)
{
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                   "%s: a .npy, a text of numbers, or a data set of one field of integers was expected",
                   choice->path);
}

static enum nt_status add(struct nt_choice *choice, uint64_t number, struct nt_error *error)
{
    struct nt_entry_range *last = choice->count ? &choice->ranges[choice->count - 1] : NULL;
    if (last && number - last->first == last->count) {
        last->count++;
        return NT_OK;
    }
    struct nt_entry_range *ranges =
        nt_grow(choice->ranges, choice->count, &choice->capacity, sizeof(*ranges));
    if (!ranges)
        return nt_fail_memory(error);
    choice->ranges = ranges;
    ranges[choice->count++] = (struct nt_entry_range){number, 1};
    return NT_OK;
}

enum nt_status nt_choice_add_number(struct nt_choice *choice, uint64_t number, struct nt_error *error)
{
    if (choice->count) {
        const struct nt_entry_range *last = &choice->ranges[choice->count - 1];
        uint64_t previous = last->first + (last->count - 1);
        if (number <= previous)
            return nt_choice_refuse_element(choice, error,
                                            "a number above %" PRIu64 " was expected, found %" PRIu64
                                            ": numbers of entries ascend, each of them once",
                                            previous, number);
    }
    enum nt_status status = add(choice, number, error);
    choice->elements++;
    return status;
}

enum nt_status nt_choice_add_bool(struct nt_choice *choice, bool is_chosen, struct nt_error *error)
{
    uint64_t entry = choice->elements++;
    return is_chosen ? add(choice, entry, error) : NT_OK;
}
