/* SPDX-License-Identifier: MIT
 *
 * Addresses of remote files: redaction of credentials and queries, directory and pattern arithmetic. Sends
 * no requests.
 */
#include "core/io/address.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/base/scheme.h"

/* The part after "NAME://". */
static const char *authority_of(const char *address)
{
    size_t length;
    nt_scheme_of(address, &length);
    return address + length + strlen("://");
}

static const struct nt_scheme *scheme_of(const char *address)
{
    size_t length;
    return nt_scheme_of(address, &length);
}

enum nt_status nt_fail_path(struct nt_error *error, int system_error, const char *path)
{
    size_t length;
    const char *advice = nt_scheme_of(path, &length)->advice;
    if (!length || !advice || (system_error != ENOENT && system_error != ENOTDIR))
        return nt_fail_system(error, system_error, "%s", path);
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s: cannot read %.*s:// addresses; %s", path,
                   (int)length, path, advice);
}

bool nt_is_address(const char *path)
{
    return scheme_of(path)->service != NT_SERVICE_NONE;
}

/* Host and port, after the user. */
static const char *host_of(const char *address)
{
    const char *authority = authority_of(address);
    const char *at = memrchr(authority, '@', strcspn(authority, "/?#"));
    return at ? at + 1 : authority;
}

char *nt_address_redact(const char *path)
{
    if (!nt_is_address(path))
        return strdup(path);
    const char *host = host_of(path);
    size_t scheme = (size_t)(authority_of(path) - path), rest = strcspn(host, scheme_of(path)->hidden);
    char *shown;
    return asprintf(&shown, "%.*s%.*s", (int)scheme, path, (int)rest, host) < 0 ? NULL : shown;
}

bool nt_address_is_store(const char *address)
{
    return scheme_of(address)->is_store;
}

bool nt_address_has_host(const char *address)
{
    return scheme_of(address)->has_host;
}

/* The end of the path. */
static size_t path_end(const char *address)
{
    const char *authority = authority_of(address);
    return (size_t)(authority - address) + strcspn(authority, scheme_of(address)->hidden);
}

bool nt_address_is_folder(const char *address)
{
    size_t end = path_end(address);
    return address[end - 1] == '/' && !nt_address_is_store(address);
}

char *nt_address_folder_of(const char *address)
{
    size_t end = path_end(address), kept = end;
    size_t least = nt_address_is_store(address) ? (size_t)(host_of(address) - address) : kept;
    while (address[kept - 1] == '/' && (address[kept - 2] != '/' || kept > least))
        kept--;
    char *folder;
    return asprintf(&folder, "%.*s%s", (int)kept, address, address + end) < 0 ? NULL : folder;
}

/* Encodes characters that a URL cannot contain (RFC 3986). */
static void append_encoded(struct nt_buffer *url, const char *name)
{
    for (; *name; name++) {
        unsigned char byte = (unsigned char)*name;
        if (isalnum(byte) || strchr("-._~/", byte))
            nt_buffer_append_byte(url, (char)byte);
        else
            nt_buffer_append_format(url, "%%%02X", byte);
    }
}

char *nt_address_below(const char *folder, const char *name, bool is_folder)
{
    size_t end = path_end(folder);
    struct nt_buffer address = {0};
    nt_buffer_append(&address, folder, end);
    if (folder[end - 1] != '/') /* true for the root of an XRootD server */
        nt_buffer_append_byte(&address, '/');
    if (scheme_of(folder)->is_encoded)
        append_encoded(&address, name);
    else
        nt_buffer_append_string(&address, name);
    if (*name && is_folder)
        nt_buffer_append_byte(&address, '/');
    nt_buffer_append_string(&address, folder + end);
    return nt_buffer_take(&address);
}

/* ---- Patterns ---- */

static const char wildcards[] = "*?[";

/* The offset of the first name with a wildcard in an address's path, its length if there is none. */
static size_t first_wildcard(const char *address)
{
    size_t host = (size_t)(authority_of(address) - address), end = path_end(address);
    size_t at = host + strcspn(address + host, "/");
    at += strcspn(address + at, wildcards);
    return at < end ? at : strlen(address);
}

bool nt_address_is_pattern(const char *address)
{
    return address[first_wildcard(address)] != '\0';
}

bool nt_address_misuses_wildcard(const char *address)
{
    const char *end = address + path_end(address);
    return end[0] == '?' && end[1] == '/';
}

/* Decoded characters become literals; escapes that no name can have stay encoded. */
static void append_decoded(struct nt_buffer *pattern, const char *text, const char *end)
{
    size_t step;
    for (; text < end; text += step) {
        uint8_t byte;
        step = nt_percent_decode(text, (size_t)(end - text), &byte);
        if (!byte || byte == '/') {
            step = 1;
            byte = (uint8_t)*text;
        }
        if (step > 1 && strchr("*?[\\", byte))
            nt_buffer_append_byte(pattern, '\\');
        nt_buffer_append_byte(pattern, (char)byte);
    }
}

bool nt_address_split_pattern(const char *address, char **folder_ret, char **pattern_ret)
{
    size_t first = first_wildcard(address), end = path_end(address);
    struct nt_buffer front = {0}, pattern = {0};
    while (address[first - 1] != '/')
        first--;
    nt_buffer_append(&front, address, first);
    nt_buffer_append_string(&front, address + end);
    if (scheme_of(address)->is_encoded)
        append_decoded(&pattern, address + first, address + end);
    else
        nt_buffer_append(&pattern, address + first, end - first);
    char *folder = front.failed ? NULL : nt_address_folder_of(front.bytes);
    nt_buffer_deinit(&front);
    *folder_ret = folder;
    *pattern_ret = nt_buffer_take(&pattern);
    if (folder && *pattern_ret)
        return true;
    free(folder);
    free(*pattern_ret);
    return false;
}

char *nt_address_allowed(const char *address)
{
    size_t end = path_end(address), wildcard = first_wildcard(address);
    size_t host = (size_t)(authority_of(address) - address), least = host + strcspn(address + host, "/?#");
    if (wildcard < end)
        for (end = wildcard; end > least && address[end - 1] != '/'; end--)
            ;
    while (end > least && address[end - 1] == '/')
        end--;
    return strndup(address, end);
}

enum nt_status nt_address_check(const char *address, struct nt_error *error)
{
    const char *host = host_of(address), *user = authority_of(address);
    if (nt_address_is_store(address) && user[strcspn(user, "@?#")])
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "the address of a dataset in an object store on %.*s must not contain @, ? or #",
                       (int)strcspn(host, "/?#"), host);
    if (host == user)
        return NT_OK;
    bool has_users = scheme_of(address)->has_users;
    if (has_users && !memchr(user, ':', (size_t)(host - user)))
        return NT_OK;
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                   "the address of a file on %.*s contains a %s, which others could see%s",
                   (int)strcspn(host, "/?#"), host, has_users ? "password" : "user",
                   has_users ? "" : "; use netrc(5)");
}
