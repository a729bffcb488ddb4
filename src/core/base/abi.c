/* SPDX-License-Identifier: MIT
 *
 * Binary compatibility: copies option structures of older or newer callers (as openat2 does), and
 * returns the version of the library at run time.
 */
#include "core/base/abi.h"

#include <ntuple/version.h>

#include <string.h>

#include "core/base/error.h"

enum nt_status nt_copy_struct(const void *from, void *to, size_t bytes, const char *name,
                              struct nt_error *error)
{
    size_t known = sizeof(size_t);
    const uint8_t *members = from;
    memset(to, 0, bytes);
    if (from)
        memcpy(&known, from, sizeof(known));
    if (known < sizeof(known))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "struct %s: struct_bytes is not set", name);
    for (size_t i = bytes; i < known; i++)
        if (members[i])
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                           "struct %s: byte %zu is set, but this version knows only %zu bytes", name, i,
                           bytes);
    if (from)
        memcpy(to, from, known < bytes ? known : bytes);
    memcpy(to, &bytes, sizeof(bytes));
    return NT_OK;
}

const char *nt_version(void)
{
    return NT_VERSION_TEXT;
}
