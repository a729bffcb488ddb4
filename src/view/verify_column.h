/* SPDX-License-Identifier: MIT
 *
 * Verifying one column: its pages, and its elements against the columns that they belong with.
 */
#ifndef NT_VIEW_VERIFY_COLUMN_H
#define NT_VIEW_VERIFY_COLUMN_H

#include <ntuple/read.h>

#include "view/findings.h"

/* A column's share of the verification. */
struct nt_verify_share {
    struct nt_findings findings;
    bool is_done;
    uint64_t pages, stored_bytes;
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

/* For one thread; others may verify other columns. */
void nt_verify_column(struct nt_verify_job *job);

#endif
