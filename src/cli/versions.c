/* SPDX-License-Identifier: MIT
 *
 * In: what the program was built from and runs with. Out: the lines of --version.
 */
#include <stdio.h>

#include <ntuple/version.h>

#include "cli/versions.h"
#include "core/codec/codec.h"

void nt_print_versions(const char *program, const char *libfuse)
{
    printf("%s %s\n", program, nt_version());
    if (*nt_commit)
        printf("commit %s\n", nt_commit);
    if (libfuse)
        printf("libfuse %s\n", libfuse);
    printf("%s\nliblzma %s\n", nt_deflate_library(), nt_lzma_version());
}

enum nt_status nt_check_versions(int operand_count, struct nt_error *error)
{
    if (operand_count == 0)
        return NT_OK;
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                   "-V and --version take no operands; a version of a data set is --version=N|TAG|BRANCH");
}
