/* SPDX-License-Identifier: MIT
 *
 * In: "10:20", perhaps with a name in front. Out: the numbers.
 */
#include "cli/row_range.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A number, or `otherwise` where there is none. */
static bool parse_row(const char *text, const char **end_ret, uint64_t otherwise, uint64_t *row_ret)
{
    char *end = (char *)text;
    errno = 0;
    *row_ret = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : otherwise;
    *end_ret = end;
    return errno == 0;
}

/* Whichever of its two numbers is the larger. */
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

/* Where all of it is a range there is no name, also where that is turned around. */
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
