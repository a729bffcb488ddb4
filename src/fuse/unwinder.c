/* SPDX-License-Identifier: MIT
 *
 * In: nothing. Out: the library that glibc needs to cancel a thread, which it would load when it first does so, at the
 * end of a mount: a sandbox or a full descriptor table may refuse that by then, and the program would be aborted.
 */
#include <dlfcn.h>

#include "fuse/mount.h"

enum nt_status nt_unwinder_load(struct nt_error *error)
{
    if (dlopen("libgcc_s.so.1", RTLD_NOW)) /* for as long as the program runs */
        return NT_OK;
    return nt_fail(error, NT_IO, NT_NO_OFFSET, "the library by which threads are ended is missing: %s",
                   dlerror());
}
