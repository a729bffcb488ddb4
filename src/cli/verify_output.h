/* SPDX-License-Identifier: MIT
 *
 * What ntuple verify tells of a file.
 */
#ifndef NT_CLI_VERIFY_OUTPUT_H
#define NT_CLI_VERIFY_OUTPUT_H

#include "cli/command.h"
#include "cli/progress.h"
#include "tools/verify.h"

/* A file that is verified; the path as the user may see it. */
struct nt_verifier {
    const struct nt_settings *settings;
    const char *path;
    const struct nt_file *file;
    struct nt_progress *progress;
    enum nt_exit_status output; /* the first line that could not be printed */
};

/* For struct nt_verify_options, with the verifier as their context. */
void nt_verify_on_progress(void *context, uint64_t bytes, uint64_t total);
void nt_verify_on_finding(void *context, const struct nt_finding *finding);

/* The file's own line, and how the program ends by it; of a file that did not open, why. */
enum nt_exit_status nt_verify_conclude(struct nt_verifier *verifier, const struct nt_verify_summary *summary);
enum nt_exit_status nt_verify_conclude_unopened(const struct nt_settings *settings, const char *path,
                                                const struct nt_error *error);

#endif
