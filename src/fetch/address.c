/* SPDX-License-Identifier: MIT
 *
 * In: an address as a user gives it. Out: a URL that libcurl reads.
 */
#include "fetch/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fetch/s3.h"

/* WebDAV reads files as the web does. */
static const struct {
    const char *scheme, *instead; /* NULL: buckets */
} schemes[] = {{"http://", "http://"},
               {"https://", "https://"},
               {"dav://", "http://"},
               {"davs://", "https://"},
               {"s3://", NULL}};

static char *replaced(const char *instead, const char *rest, const char **problem_ret)
{
    size_t bytes = strlen(instead) + strlen(rest) + 1;
    char *url = malloc(bytes);
    if (url)
        snprintf(url, bytes, "%s%s", instead, rest);
    else
        *problem_ret = "out of memory";
    return url;
}

char *nt_address_url(const char *address, enum nt_service *service_ret, const char **problem_ret)
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
        size_t length = strlen(schemes[i].scheme);
        if (strncasecmp(address, schemes[i].scheme, length) != 0)
            continue;
        *service_ret = schemes[i].instead ? NT_SERVICE_WEB : NT_SERVICE_S3;
        return schemes[i].instead ? replaced(schemes[i].instead, address + length, problem_ret)
                                  : nt_s3_url(address + length, problem_ret);
    }
    *problem_ret = "its kind of address is not known";
    return NULL;
}

bool nt_address_is_same_server(const char *one, const char *other)
{
    const char *host = strstr(one, "://");
    size_t length = host ? (size_t)(host - one) + 3 + strcspn(host + 3, "/?#") : strlen(one);
    return strncasecmp(one, other, length) == 0 && strchr("/?#", other[length]);
}
