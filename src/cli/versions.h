/* SPDX-License-Identifier: MIT
 *
 * What --version prints.
 */
#ifndef NT_CLI_VERSIONS_H
#define NT_CLI_VERSIONS_H

/* The commit that the program was built from: "12345678", or "12345678-dirty" where files of it were changed; ""
 * where the sources were not in git. */
extern const char nt_commit[];

/* A line each on standard output: the program, the commit, libfuse where its version is given (else NULL), and the
 * libraries of which another one may be faster. */
void nt_print_versions(const char *program, const char *libfuse);

#endif
