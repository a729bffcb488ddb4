/* SPDX-License-Identifier: MIT
 *
 * In: the version that the library was built as. Out: the same for those who ask at run time.
 */
#include <ntuple/version.h>

const char *nt_version(void)
{
    return NT_VERSION_TEXT;
}
