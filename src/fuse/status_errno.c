/* SPDX-License-Identifier: MIT
 *
 * In: a status of the virtual tree. Out: an errno value. The message of the error is not lost by this: the
 * tree reports it (log, errors.jsonl); a file system can only answer with a number.
 */
#include "fuse/status_errno.h"

#include <errno.h>
#include <stddef.h>

static const int errno_of_status[] = {
    [NT_OK] = 0,           [NT_NOT_FOUND] = ENOENT, [NT_NOT_THIS_FORMAT] = EIO, [NT_UNSUPPORTED] = EIO,
    [NT_CORRUPT] = EIO,    [NT_CHECKSUM] = EIO,     [NT_TRUNCATED] = EIO,       [NT_CHANGED] = ESTALE,
    [NT_IO] = EIO,         [NT_NO_MEMORY] = ENOMEM, [NT_LIMIT] = EIO, /* not EFBIG: to a reader the bytes are
                                                                         as unavailable as damaged ones */
    [NT_INVALID] = EINVAL, [NT_CANCELED] = EINTR,   [NT_UNREACHABLE] = EIO,
};

int nt_status_errno(enum nt_status status)
{
    return (size_t)status < sizeof(errno_of_status) / sizeof(*errno_of_status) ? errno_of_status[status]
                                                                               : EIO;
}

int nt_failure_errno(enum nt_status status, const struct nt_error *error)
{
    bool may_be_refused = status == NT_IO || status == NT_UNREACHABLE;
    return may_be_refused && error->system_error == EACCES ? EACCES : nt_status_errno(status);
}
