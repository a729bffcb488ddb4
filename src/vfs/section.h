/* SPDX-License-Identifier: MIT
 *
 * What the functions of sections have in common.
 */
#ifndef NT_VFS_SECTION_H
#define NT_VFS_SECTION_H

#include <stdio.h>

#include "vfs/pseudo.h"

/* The end of a listing, or a name that is not there. */
static inline enum nt_status nt_no_such_file(struct nt_error *error)
{
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such file");
}

static inline void nt_listed_set_name(struct nt_listed *listed, const char *name)
{
    snprintf(listed->name, sizeof(listed->name), "%s", name);
}

#endif
