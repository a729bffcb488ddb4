/* SPDX-License-Identifier: MIT
 *
 * Headers of a request.
 */
#ifndef NT_FETCH_HEADERS_H
#define NT_FETCH_HEADERS_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* One more; a value may be secret. False without memory, or of what is longer than any that is sent. */
static inline bool nt_headers_add(struct curl_slist **headers, const char *name, const char *value)
{
    char line[8192 + 256];
    bool is_whole = (size_t)snprintf(line, sizeof(line), "%s: %s", name, value) < sizeof(line);
    struct curl_slist *longer = is_whole ? curl_slist_append(*headers, line) : NULL;
    explicit_bzero(line, sizeof(line));
    if (longer)
        *headers = longer;
    return longer != NULL;
}

#endif
