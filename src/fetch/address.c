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

/* What is behind the scheme; NULL, and why, where it is not known. */
static const char *rest_of(const char *address, const char **instead_ret, const char **problem_ret)
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
        size_t length = strlen(schemes[i].scheme);
        if (strncasecmp(address, schemes[i].scheme, length) != 0)
            continue;
        *instead_ret = schemes[i].instead;
        return address + length;
    }
    *problem_ret = "its kind of address is not known";
    return NULL;
}

/* `before`: the first bytes of the rest, behind which the other text is put. */
static char *joined(const char *instead, const char *rest, size_t before, const char *between,
                    const char **problem_ret)
{
    size_t bytes = strlen(instead) + strlen(rest) + strlen(between) + 1;
    char *url = malloc(bytes);
    if (url)
        snprintf(url, bytes, "%s%.*s%s%s", instead, (int)before, rest, between, rest + before);
    else
        *problem_ret = "out of memory";
    return url;
}

char *nt_address_url(const char *address, enum nt_service *service_ret, const char **problem_ret)
{
    const char *instead, *rest = rest_of(address, &instead, problem_ret);
    if (!rest)
        return NULL;
    *service_ret = instead ? NT_SERVICE_WEB : NT_SERVICE_S3;
    return instead ? joined(instead, rest, 0, "", problem_ret) : nt_s3_url(rest, problem_ret);
}

/* A folder's path ends with a slash, or servers send who asks there. */
char *nt_address_list_url(const char *address, const char *token, enum nt_service *service_ret,
                          const char **problem_ret)
{
    const char *instead, *rest = rest_of(address, &instead, problem_ret);
    if (!rest)
        return NULL;
    *service_ret = instead ? NT_SERVICE_WEB : NT_SERVICE_S3;
    if (!instead)
        return nt_s3_list_url(rest, token, problem_ret);
    size_t path = strcspn(rest, "?#");
    return joined(instead, rest, path, path && rest[path - 1] == '/' ? "" : "/", problem_ret);
}

char *nt_address_folder(const char *address, const char *url)
{
    const char *instead, *problem, *rest = rest_of(address, &instead, &problem);
    if (rest && !instead)
        return nt_s3_prefix(rest);
    const char *authority = strstr(url, "://");
    const char *path = authority ? authority + strlen("://") : url;
    path += strcspn(path, "/?#");
    char *decoded = curl_easy_unescape(NULL, path, (int)strcspn(path, "?#"), NULL);
    char *folder = decoded ? strdup(decoded) : NULL;
    curl_free(decoded);
    return folder;
}

bool nt_address_is_same_server(const char *one, const char *other)
{
    const char *host = strstr(one, "://");
    size_t length = host ? (size_t)(host - one) + 3 + strcspn(host + 3, "/?#") : strlen(one);
    return strncasecmp(one, other, length) == 0 && strchr("/?#", other[length]);
}
