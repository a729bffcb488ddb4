/* SPDX-License-Identifier: MIT
 *
 * Maps addresses of files and directories to HTTP URLs.
 */
#include "remote/helper/helper.h"

/* The HTTP scheme of an address, and the rest of the text. NULL if it has no HTTP URL. */
static const struct nt_scheme *scheme_of(const char *address, const char **rest_ret)
{
    size_t length;
    const struct nt_scheme *scheme = nt_scheme_of(address, &length);
    *rest_ret = address + (length ? length + strlen("://") : 0);
    return scheme->service == NT_SERVICE_HTTP || scheme->service == NT_SERVICE_S3 ? scheme : NULL;
}

/* The key prefix of BUCKET or BUCKET/FOLDER: "", or ending with a slash. NULL if out of memory. */
static char *prefix_of(const char *name)
{
    struct nt_buffer prefix = {0};
    const char *key = strchr(name, '/');
    nt_buffer_append_string(&prefix, key ? key + 1 : "");
    if (prefix.length && prefix.bytes[prefix.length - 1] != '/')
        nt_buffer_append_byte(&prefix, '/');
    return nt_buffer_take(&prefix);
}

/* The directory of a URL ends with a slash: servers redirect without it. */
static char *web_url(const struct nt_scheme *scheme, const char *rest, bool is_folder)
{
    struct nt_buffer url = {0};
    size_t path = strcspn(rest, "?#");
    nt_buffer_append_format(&url, "%s://%.*s", scheme->is_secure ? "https" : "http", (int)path, rest);
    if (is_folder && url.length && url.bytes[url.length - 1] != '/')
        nt_buffer_append_byte(&url, '/');
    nt_buffer_append_string(&url, rest + path);
    return nt_buffer_take(&url);
}

/* `token` NULL: of a file. */
static char *url_of(const struct nt_scheme *scheme, const char *rest, const char *token,
                    const char **problem_ret)
{
    if (scheme->has_host)
        return web_url(scheme, rest, token);
    if (!token)
        return nt_s3_url(rest, problem_ret);
    NT_AUTO_FREE char *prefix = prefix_of(rest);
    return prefix ? nt_s3_list_url(rest, prefix, token, problem_ret) : NULL;
}

char *nt_address_url(const char *address, const char *token, enum nt_service *service_ret,
                     const char **problem_ret)
{
    const char *rest;
    const struct nt_scheme *scheme = scheme_of(address, &rest);
    *problem_ret = NULL;
    if (!scheme)
        *problem_ret = "the scheme of its address is unknown";
    else if (token && scheme->is_store)
        *problem_ret = "it is the address of a dataset, not of a directory";
    if (*problem_ret)
        return NULL;
    *service_ret = scheme->service;
    char *url = url_of(scheme, rest, token, problem_ret);
    if (!url || !scheme->has_host || !nt_is_metadata_url(url))
        return url;
    *problem_ret = NT_NEVER_CONTACTED;
    free(url);
    return NULL;
}

bool nt_address_names_objects(const char *address)
{
    const char *rest;
    const struct nt_scheme *scheme = scheme_of(address, &rest);
    return scheme && scheme->is_store && strstr(rest, NT_OBJECT_NUMBER);
}

char *nt_address_folder(const char *address, const char *url)
{
    const char *rest;
    const struct nt_scheme *scheme = scheme_of(address, &rest);
    if (scheme && !scheme->has_host)
        return prefix_of(rest);
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
