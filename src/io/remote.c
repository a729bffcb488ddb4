/* SPDX-License-Identifier: MIT
 *
 * In: a path that does not exist. Out: a message; where it is an address (RFC 3986: "scheme://") of a kind that is not read,
 * one with the usual ways to have the file here. And how addresses that are read are shown.
 */
#include "io/remote.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct scheme {
    const char *name, *advice; /* NULL: it is read */
    const char *ends;          /* what begins that which is not shown */
    bool has_users;            /* a user's name is no secret: servers do not believe it */
} schemes[] = {
    {"root", NULL, "?", true},
    {"roots", NULL, "?", true},
    {"xroot", NULL, "?", true},
    {"xroots", NULL, "?", true},
    {"http", NULL, "?#", false},
    {"https", NULL, "?#", false},
    {"dav", NULL, "?#", false},
    {"davs", NULL, "?#", false},
    {"s3", NULL, "", false}, /* any character may be in the name of an object */
    {"gs", "copy it with gcloud storage cp or rclone, or mount its bucket with gcsfuse or rclone", "", false},
};

/* The bytes of the scheme; 0 where the path is none of an address. */
static size_t scheme_length(const char *path)
{
    size_t length = 0;
    while (isalnum((unsigned char)path[length]) || (length && path[length] && strchr("+-.", path[length])))
        length++;
    bool is_address = isalpha((unsigned char)path[0]) && strncmp(path + length, "://", strlen("://")) == 0;
    return is_address ? length : 0;
}

/* Of a path that begins with its name. */
static const struct scheme *find_scheme(const char *path, size_t length)
{
    static const struct scheme unknown = {"", "copy it, or mount its server", "", false};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
        if (strlen(schemes[i].name) == length && strncasecmp(path, schemes[i].name, length) == 0)
            return &schemes[i];
    return &unknown;
}

enum nt_status nt_fail_path(struct nt_error *error, int system_error, const char *path)
{
    size_t length = scheme_length(path);
    const char *advice = length ? find_scheme(path, length)->advice : NULL;
    if (!advice || (system_error != ENOENT && system_error != ENOTDIR))
        return nt_fail_system(error, system_error, "%s", path);
    if (length == strlen("file") && strncasecmp(path, "file", length) == 0)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s: no file of this name; give its path alone",
                       path);
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s: files by %.*s:// are not read; %s", path,
                   (int)length, path, advice);
}

bool nt_is_address(const char *path)
{
    size_t length = scheme_length(path);
    return length && !find_scheme(path, length)->advice;
}

/* Where host and port begin, behind the user. */
static const char *host_of(const char *address)
{
    const char *authority = address + scheme_length(address) + strlen("://");
    const char *at = memrchr(authority, '@', strcspn(authority, "/?#"));
    return at ? at + 1 : authority;
}

char *nt_address_shown(const char *path)
{
    if (!nt_is_address(path))
        return strdup(path);
    const char *host = host_of(path);
    size_t length = scheme_length(path), scheme = length + strlen("://");
    size_t rest = strcspn(host, find_scheme(path, length)->ends);
    char *shown = malloc(scheme + rest + 1);
    if (!shown)
        return NULL;
    memcpy(shown, path, scheme);
    memcpy(shown + scheme, host, rest);
    shown[scheme + rest] = '\0';
    return shown;
}

enum nt_status nt_address_check(const char *address, struct nt_error *error)
{
    size_t length = scheme_length(address);
    const char *host = host_of(address), *user = address + length + strlen("://");
    if (host == user)
        return NT_OK;
    if (find_scheme(address, length)->has_users && !memchr(user, ':', (size_t)(host - user)))
        return NT_OK;
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                   "the address of a file on %.*s has a %s in it, which others could see%s",
                   (int)strcspn(host, "/?#"), host,
                   find_scheme(address, length)->has_users ? "password" : "user",
                   find_scheme(address, length)->has_users ? "" : "; netrc(5) is for that");
}
