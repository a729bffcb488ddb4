/* SPDX-License-Identifier: MIT
 *
 * What --version prints.
 */
#ifndef NT_CLI_VERSIONS_H
#define NT_CLI_VERSIONS_H

#include "core/base/error.h"

/* The commit that the program was built from: "12345678", or "12345678-dirty" where files of it were changed; ""
 * where the sources were not in git. */
extern const char nt_commit[];

/* A line each on standard output: the program, the commit, libfuse where its version is given (else NULL), and the
 * libraries of which another one may be faster. */
void nt_print_versions(const char *program, const char *libfuse);

/* Whether they may be printed: --version=N chooses a version of a data set, so that "--version N" would print these to whoever
 * waits for that. Refused where there are operands. */
enum nt_status nt_check_versions(int operand_count, struct nt_error *error);

#endif
