/* SPDX-License-Identifier: MIT
 *
 * Maps addresses of files and folders to HTTP URLs.
 */
#include "remote/helper/helper.h"

#include <strings.h>

#include "core/io/objects.h"

/* The HTTP scheme of an address, and the rest of the text. NULL if it has no HTTP URL, and why. */
static const struct nt_scheme *scheme_of(const char *address, const char **rest_ret, const char **problem_ret)
{
    size_t length;
    const struct nt_scheme *scheme = nt_scheme_of(address, &length);
    *rest_ret = address + (length ? length + strlen("://") : 0);
    if (scheme->service == NT_SERVICE_WEB || scheme->service == NT_SERVICE_S3)
        return scheme;
    *problem_ret = "the scheme of its address is unknown";
    return NULL;
}

/* Inserts the other text after the first `before` bytes of the rest. */
static char *joined(const struct nt_scheme *scheme, const char *rest, size_t before, const char *between,
                    const char **problem_ret)
{
    const char *instead = scheme->is_secure ? "https://" : "http://";
    size_t bytes = strlen(instead) + strlen(rest) + strlen(between) + 1;
    char *url = malloc(bytes);
    if (url)
        snprintf(url, bytes, "%s%.*s%s%s", instead, (int)before, rest, between, rest + before);
    else
        *problem_ret = "out of memory";
    if (url && nt_is_metadata_url(url)) {
        *problem_ret = NT_NEVER_CONTACTED;
        free(url);
        url = NULL;
    }
    return url;
}

char *nt_address_url(const char *address, enum nt_service *service_ret, const char **problem_ret)
{
    const char *rest;
    const struct nt_scheme *scheme = scheme_of(address, &rest, problem_ret);
    if (!scheme)
        return NULL;
    *service_ret = scheme->service;
    return scheme->has_host ? joined(scheme, rest, 0, "", problem_ret) : nt_s3_url(rest, problem_ret);
}

bool nt_address_is_of_objects(const char *address)
{
    const char *rest, *problem;
    const struct nt_scheme *scheme = scheme_of(address, &rest, &problem);
    return scheme && scheme->is_store && strstr(rest, NT_OBJECT_NUMBER);
}

/* Appends a slash to a folder's path: servers redirect without it. */
char *nt_address_list_url(const char *address, const char *token, enum nt_service *service_ret,
                          const char **problem_ret)
{
    const char *rest;
    const struct nt_scheme *scheme = scheme_of(address, &rest, problem_ret);
    if (scheme && scheme->is_store)
        *problem_ret = "it is the address of a dataset, not of a directory";
    if (!scheme || scheme->is_store)
        return NULL;
    *service_ret = scheme->service;
    if (!scheme->has_host)
        return nt_s3_list_url(rest, token, problem_ret);
    size_t path = strcspn(rest, "?#");
    return joined(scheme, rest, path, path && rest[path - 1] == '/' ? "" : "/", problem_ret);
}

char *nt_address_folder(const char *address, const char *url)
{
    const char *problem, *rest;
    const struct nt_scheme *scheme = scheme_of(address, &rest, &problem);
    if (scheme && !scheme->has_host)
        return nt_s3_prefix(rest);
    const char *authority = strstr(url, "://");
    const char *path = authority ? authority + strlen("://") : url;
    path += strcspn(path, "/?#");
    char *decoded = curl_easy_unescape(NULL, path, (int)strcspn(path, "?#"), NULL);
    char *folder = decoded ? strdup(decoded) : NULL;
    curl_free(decoded);
    return folder;
}

enum { MAX_SERVER_BYTES = 512 };

/* Scheme, host and port (also a default one) as libcurl parses them: libcurl sends the request. */
static bool put_server(const char *url, char server[MAX_SERVER_BYTES])
{
    static const CURLUPart parts[] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_ZONEID, CURLUPART_PORT};
    CURLU *parsed = curl_url();
    bool is_read = parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK;
    size_t length = 0;
    for (size_t i = 0; is_read && i < sizeof(parts) / sizeof(*parts); i++) {
        char *part = NULL;
        CURLUcode code = curl_url_get(parsed, parts[i], &part, CURLU_DEFAULT_PORT);
        is_read = code == CURLUE_OK || (parts[i] == CURLUPART_ZONEID && !part);
        length += (size_t)snprintf(server + length, MAX_SERVER_BYTES - length, "%s ", part ? part : "");
        is_read &= length < MAX_SERVER_BYTES;
        curl_free(part);
    }
    curl_url_cleanup(parsed);
    return is_read;
}

bool nt_address_is_same_server(const char *one, const char *other)
{
    char servers[2][MAX_SERVER_BYTES];
    return put_server(one, servers[0]) && put_server(other, servers[1]) &&
           strcasecmp(servers[0], servers[1]) == 0;
}
