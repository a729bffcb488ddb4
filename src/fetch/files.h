/* SPDX-License-Identifier: MIT
 *
 * Files that are open, and what is asked of them.
 */
#ifndef NT_FETCH_FILES_H
#define NT_FETCH_FILES_H

#include "fetch/jobs.h"
#include "fetch/output.h"

struct nt_files {
    struct nt_jobs jobs;
    struct nt_output output;
    struct nt_fetched *first;
    unsigned count;
};

/* What was asked for, with the text behind it. */
void nt_files_take(struct nt_files *files, const struct nt_fetch_request *request, const char *text,
                   size_t bytes);

#endif
