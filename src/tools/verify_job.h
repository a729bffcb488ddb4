/* SPDX-License-Identifier: MIT
 *
 * A column's part of a verification.
 */
#ifndef NT_VIEW_VERIFY_JOB_H
#define NT_VIEW_VERIFY_JOB_H

#include <ntuple/read.h>

#include "tools/findings.h"

/* A column's share of the verification. */
struct nt_verify_share {
    struct nt_findings findings;
    bool is_done;
    uint64_t pages, unchecked, stored_bytes; /* as in struct nt_verify_summary */
    uint64_t wanted_bytes;                   /* that sources were told of before */
};

struct nt_verify_job {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    bool is_alone;                 /* the data set's borders are bad: look at the pages only */
    struct nt_verify_share *share; /* result */
    void (*on_cluster)(void *context, uint64_t stored_bytes); /* some pages are done */
    void *context;
};

/* Add a finding of the job's column. NT_NONE, UINT64_MAX: of no cluster, or page. */
void nt_verify_find(struct nt_verify_job *job, uint32_t cluster, uint64_t page, const struct nt_error *error);
/* What in a cluster is another number than it has to be. */
void nt_verify_find_in_cluster(struct nt_verify_job *job, uint32_t cluster, const char *what,
                               uint64_t expected, uint64_t found);

#endif
