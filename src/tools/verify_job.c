/* SPDX-License-Identifier: MIT
 *
 * In: what is wrong with a column. Out: a finding of its job.
 */
#include "tools/verify_job.h"

#include <inttypes.h>

void nt_verify_find(struct nt_verify_job *job, uint32_t cluster, uint64_t page, const struct nt_error *error)
{
    struct nt_finding finding = nt_finding(job->dataset, error);
    if (nt_is_passing_failure(error->status)) {
        job->share->findings.has_failed = true;
        return;
    }
    finding.field = job->dataset->columns[job->column].field;
    finding.column = job->column;
    finding.cluster = cluster;
    finding.page = page;
    nt_findings_add(&job->share->findings, &finding);
}

void nt_verify_find_in_cluster(struct nt_verify_job *job, uint32_t cluster, const char *what,
                               uint64_t expected, uint64_t found)
{
    struct nt_error error;
    nt_fail_number(&error, NT_CORRUPT, NT_NO_OFFSET, what, expected, found);
    nt_error_context(&error, "cluster %" PRIu32, cluster);
    nt_verify_find(job, cluster, UINT64_MAX, &error);
}
