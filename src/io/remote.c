/* SPDX-License-Identifier: MIT
 *
 * In: a path that does not exist. Out: a message; where it is an address (RFC 3986: "scheme://"), one with the
 * usual ways to have the file here.
 */
#include "io/remote.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *scheme, *advice;
} schemes[] = {
    {"root", "copy it with xrdcp, or mount its server with xrootdfs or eosxd"},
    {"roots", "copy it with xrdcp, or mount its server with xrootdfs or eosxd"},
    {"xroot", "copy it with xrdcp, or mount its server with xrootdfs or eosxd"},
    {"http", "copy it with curl or wget, or mount its server with rclone"},
    {"https", "copy it with curl or wget, or mount its server with rclone"},
    {"dav", "copy it with davix-get, or mount its server with davfs2 or rclone"},
    {"davs", "copy it with davix-get, or mount its server with davfs2 or rclone"},
    {"s3", "copy it with aws s3 cp or rclone, or mount its bucket with s3fs or rclone"},
    {"gs", "copy it with gcloud storage cp or rclone, or mount its bucket with gcsfuse or rclone"},
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

enum nt_status nt_fail_path(struct nt_error *error, int system_error, const char *path)
{
    size_t length = scheme_length(path);
    if (!length || (system_error != ENOENT && system_error != ENOTDIR))
        return nt_fail_system(error, system_error, "%s", path);
    if (length == strlen("file") && strncasecmp(path, "file", length) == 0)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s: no file of this name; give its path alone",
                       path);
    const char *advice = "copy it, or mount its server";
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
        if (strlen(schemes[i].scheme) == length && strncasecmp(path, schemes[i].scheme, length) == 0)
            advice = schemes[i].advice;
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s: remote files are not read; %s", path, advice);
}
