/* SPDX-License-Identifier: MIT
 *
 * Maps addresses of files and folders to HTTP URLs.
 */
#include "remote/helper/helper.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/io/objects.h"

/* WebDAV reads files as the web does. */
static const struct scheme {
    const char *name, *instead; /* NULL: buckets */
    enum nt_service service;
    bool is_store; /* of a data set, with its objects beneath it: no folder */
} schemes[] = {{"http://", "http://", NT_SERVICE_WEB, false},
               {"https://", "https://", NT_SERVICE_WEB, false},
               {"dav://", "http://", NT_SERVICE_WEB, false},
               {"davs://", "https://", NT_SERVICE_WEB, false},
               {"s3://", NULL, NT_SERVICE_S3, false},
               {"ntpl+s3+http://", "http://", NT_SERVICE_S3, true},
               {"ntpl+s3+https://", "https://", NT_SERVICE_S3, true}};

/* NULL, and why, where it is not known; else what is behind it as well. */
static const struct scheme *scheme_of(const char *address, const char **rest_ret, const char **problem_ret)
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
        size_t length = strlen(schemes[i].name);
        *rest_ret = address + length;
        if (strncasecmp(address, schemes[i].name, length) == 0)
            return &schemes[i];
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
    if (url && nt_is_metadata_url(url)) {
        *problem_ret = "its server is one of instance metadata, which is not asked";
        free(url);
        url = NULL;
    }
    return url;
}

char *nt_address_url(const char *address, enum nt_service *service_ret, const char **problem_ret)
{
    const char *rest;
    const struct scheme *scheme = scheme_of(address, &rest, problem_ret);
    if (!scheme)
        return NULL;
    *service_ret = scheme->service;
    return scheme->instead ? joined(scheme->instead, rest, 0, "", problem_ret) : nt_s3_url(rest, problem_ret);
}

bool nt_address_is_of_objects(const char *address)
{
    const char *rest, *problem;
    const struct scheme *scheme = scheme_of(address, &rest, &problem);
    return scheme && scheme->is_store && strstr(rest, NT_OBJECT_NUMBER);
}

/* A folder's path ends with a slash, or servers send who asks there. */
char *nt_address_list_url(const char *address, const char *token, enum nt_service *service_ret,
                          const char **problem_ret)
{
    const char *rest;
    const struct scheme *scheme = scheme_of(address, &rest, problem_ret);
    if (scheme && scheme->is_store)
        *problem_ret = "it is the address of a data set, and of no folder";
    if (!scheme || scheme->is_store)
        return NULL;
    *service_ret = scheme->service;
    if (!scheme->instead)
        return nt_s3_list_url(rest, token, problem_ret);
    size_t path = strcspn(rest, "?#");
    return joined(scheme->instead, rest, path, path && rest[path - 1] == '/' ? "" : "/", problem_ret);
}

char *nt_address_folder(const char *address, const char *url)
{
    const char *problem, *rest;
    const struct scheme *scheme = scheme_of(address, &rest, &problem);
    if (scheme && !scheme->instead)
        return nt_s3_prefix(rest);
    const char *authority = strstr(url, "://");
    const char *path = authority ? authority + strlen("://") : url;
    path += strcspn(path, "/?#");
    char *decoded = curl_easy_unescape(NULL, path, (int)strcspn(path, "?#"), NULL);
    char *folder = decoded ? strdup(decoded) : NULL;
    curl_free(decoded);
    return folder;
}

enum { MOST_SERVER_BYTES = 512 };

/* As libcurl reads it, which is what it will ask: scheme, host and port, the latter also where it is the usual one. */
static bool put_server(const char *url, char server[MOST_SERVER_BYTES])
{
    static const CURLUPart parts[] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_ZONEID, CURLUPART_PORT};
    CURLU *parsed = curl_url();
    bool is_read = parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK;
    size_t length = 0;
    for (size_t i = 0; is_read && i < sizeof(parts) / sizeof(*parts); i++) {
        char *part = NULL;
        CURLUcode code = curl_url_get(parsed, parts[i], &part, CURLU_DEFAULT_PORT);
        is_read = code == CURLUE_OK || (parts[i] == CURLUPART_ZONEID && !part);
        length += (size_t)snprintf(server + length, MOST_SERVER_BYTES - length, "%s ", part ? part : "");
        is_read &= length < MOST_SERVER_BYTES;
        curl_free(part);
    }
    curl_url_cleanup(parsed);
    return is_read;
}

bool nt_address_is_same_server(const char *one, const char *other)
{
    char servers[2][MOST_SERVER_BYTES];
    return put_server(one, servers[0]) && put_server(other, servers[1]) &&
           strcasecmp(servers[0], servers[1]) == 0;
}
