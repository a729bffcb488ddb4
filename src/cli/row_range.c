/* SPDX-License-Identifier: MIT
 *
 * In: "10:20". Out: the numbers.
 */
#include "cli/row_range.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* A number, or `otherwise` where there is none. */
static bool parse_row(const char *text, const char **end_ret, uint64_t otherwise, uint64_t *row_ret)
{
    char *end = (char *)text;
    errno = 0;
    *row_ret = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : otherwise;
    *end_ret = end;
    return errno == 0;
}

bool nt_row_range_parse(const char *text, struct nt_row_range *range_ret)
{
    const char *end, *last;
    if (!parse_row(text, &end, 0, &range_ret->first))
        return false;
    if (*end == '\0' && end != text && range_ret->first < UINT64_MAX) {
        range_ret->end = range_ret->first + 1;
        return true;
    }
    return *end == ':' && parse_row(end + 1, &last, UINT64_MAX, &range_ret->end) && *last == '\0';
}
