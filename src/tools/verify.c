/* SPDX-License-Identifier: MIT
 *
 * Verifies a file: page lists and clusters of each dataset, then its columns in parallel, then the rest
 * of the file. Reports problems as findings, always in the same order.
 */
#include "tools/tools.h"

/* ---- Findings ---- */

const char *nt_finding_name(enum nt_finding_kind kind)
{
    static const char *const names[NT_FINDING_KINDS] = {
        [NT_FINDING_DAMAGED] = "damaged",         [NT_FINDING_UNREADABLE] = "unreadable",
        [NT_FINDING_UNSUPPORTED] = "unsupported", [NT_FINDING_UNREAD] = "unread",
        [NT_FINDING_WARNING] = "warning",
    };
    return names[kind];
}

enum nt_finding_kind nt_finding_kind(enum nt_status status)
{
    switch (status) {
    case NT_OK:
        return NT_FINDING_WARNING;
    case NT_UNSUPPORTED:
    case NT_LIMIT:
        return NT_FINDING_UNSUPPORTED;
    case NT_IO:
    case NT_CHANGED:
    case NT_UNREACHABLE:
        return NT_FINDING_UNREADABLE;
    default:
        return NT_FINDING_DAMAGED;
    }
}

struct nt_finding nt_finding(const struct nt_dataset *dataset, const struct nt_error *error)
{
    return (struct nt_finding){
        .kind = nt_finding_kind(error->status),
        .dataset = dataset ? dataset->index : NT_NONE,
        .cluster_group = NT_NONE,
        .cluster = NT_NONE,
        .field = NT_NONE,
        .column = NT_NONE,
        .page = UINT64_MAX,
        .count = 1,
        .error = *error,
    };
}

static void findings_add(struct nt_findings *findings, const struct nt_finding *finding)
{
    if (NT_GROW(findings->items, findings->count, findings->capacity))
        findings->items[findings->count++] = *finding;
    else
        findings->has_failed = true;
}

/* ---- Findings of a column ---- */

void nt_verify_report(struct nt_verify_job *job, uint32_t cluster, uint64_t page,
                      const struct nt_error *error)
{
    struct nt_finding finding = nt_finding(job->dataset, error);
    if (nt_is_transient(error->status)) {
        job->share->findings.has_failed = true;
        return;
    }
    finding.field = job->dataset->columns[job->column].field;
    finding.column = job->column;
    finding.cluster = cluster;
    finding.page = page;
    findings_add(&job->share->findings, &finding);
}

void nt_verify_report_cluster(struct nt_verify_job *job, uint32_t cluster, const char *what,
                              uint64_t expected, uint64_t found)
{
    struct nt_error error;
    nt_fail_number(&error, NT_CORRUPT, NT_NO_OFFSET, what, expected, found);
    nt_error_context(&error, "cluster %" PRIu32, cluster);
    nt_verify_report(job, cluster, UINT64_MAX, &error);
}

/* ---- Verify a file ---- */

struct verification {
    struct nt_reader *reader;
    const struct nt_verify_options *options;
    struct nt_verify_summary *summary;
    uint64_t bytes, total; /* progress */
    /* The current dataset: */
    struct nt_dataset *dataset;
    bool is_alone;
    struct nt_verify_result *shares; /* one for each column */
    pthread_mutex_t lock;            /* of the members below and of all callbacks */
    uint32_t next;                   /* the next column to verify */
    uint32_t reported;               /* columns whose findings are reported */
    uint32_t prefetched_columns;     /* columns hinted to sources, ... */
    uint64_t prefetched_bytes;       /* ... and the hinted bytes of columns not yet taken */
    bool has_failed;
};

static void report(struct verification *verification, const struct nt_finding *finding)
{
    verification->summary->findings[finding->kind] += finding->count;
    verification->options->on_finding(verification->options->context, finding);
}

/* ---- Page lists and clusters ---- */

/* Reports an unreadable page list, or an unread field if its own page list is unsupported. */
static void report_group(struct verification *verification, uint32_t group, const struct nt_error *error)
{
    const struct nt_dataset *dataset = verification->dataset;
    struct nt_finding finding = nt_finding(dataset, error);
    finding.cluster_group = group;
    if (dataset->field_groups && error->status == NT_UNSUPPORTED) {
        finding.kind = NT_FINDING_UNREAD;
        finding.field = nt_group_field(dataset, group, NULL);
    }
    nt_name_group(dataset, group, &finding.error);
    report(verification, &finding);
}

/* Reports unreadable page lists; `all_good_ret` is false if there is one. */
static enum nt_status check_groups(struct verification *verification, bool *all_good_ret)
{
    *all_good_ret = true;
    nt_groups_announce(verification->dataset, nt_groups_of_field(verification->dataset, NT_NONE));
    for (uint32_t i = 0; i < verification->dataset->group_count; i++) {
        struct nt_error error = {0};
        enum nt_status status = nt_dataset_load_group(verification->dataset, i, &error);
        if (status == NT_OK)
            continue;
        if (nt_is_transient(status))
            return status;
        report_group(verification, i, &error);
        *all_good_ret = false;
    }
    return NT_OK;
}

static void report_field(struct verification *verification, uint32_t field, const struct nt_error *error)
{
    struct nt_finding finding = nt_finding(verification->dataset, error);
    finding.field = field;
    report(verification, &finding);
}

/* Checks that clusters are consecutive and cover all entries. Findings name the field `reported_as`. */
static enum nt_status check_boundaries(struct verification *verification, uint32_t field,
                                       uint32_t reported_as, bool *good_ret)
{
    struct nt_span *spans;
    struct nt_error error = {0};
    uint32_t count;
    enum nt_status status =
        nt_spans_build(verification->reader, verification->dataset, field, true, &spans, &count, &error);
    *good_ret = status == NT_OK;
    if (nt_is_transient(status))
        return status;
    if (status != NT_OK) {
        report_field(verification, reported_as, &error);
        return NT_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (spans[i].fault != NT_FAULT_NOT_COVERED)
            continue;
        nt_fail(&error, NT_CORRUPT, NT_NO_OFFSET, "no cluster holds entries %" PRIu64 " to %" PRIu64,
                spans[i].first_entry, spans[i].first_entry + spans[i].entries - 1);
        report_field(verification, reported_as, &error);
    }
    free(spans);
    return NT_OK;
}

/* All fields have the same clusters, unless the dataset is sharded. */
static enum nt_status check_all_boundaries(struct verification *verification)
{
    struct nt_dataset *dataset = verification->dataset;
    bool is_good = true, all_good = true;
    if (!dataset->has_sharded_clusters && dataset->field_count)
        NT_TRY(check_boundaries(verification, 0, NT_NONE, &all_good));
    for (uint32_t i = 0; dataset->has_sharded_clusters && i < dataset->field_count; i++) {
        if (!dataset->fields[i].column_count || !dataset->fields[i].owns_columns)
            continue;
        NT_TRY(check_boundaries(verification, i, i, &is_good));
        all_good &= is_good;
    }
    verification->is_alone |= !all_good;
    return NT_OK;
}

/* ---- Fields ---- */

/* Is a field within lists or pointers that are all empty? Then there is nothing that is not read. */
static bool has_no_items(struct verification *verification, uint32_t field)
{
    uint32_t above = nt_field_row_parent(verification->dataset, field);
    struct nt_error error;
    uint64_t count = 0;
    return above != NT_NONE &&
           nt_row_counts_total(verification->reader, verification->dataset, above, NT_COUNTED_ITEMS, &count,
                               &error) == NT_OK &&
           count == 0;
}

/* For unreadable fields, columns may be verified, but never values. */
static void report_unsupported(struct verification *verification)
{
    for (uint32_t i = 0; i < verification->dataset->field_count; i++) {
        const char *reason = verification->dataset->fields[i].unreadable;
        struct nt_error error;
        if (!reason || has_no_items(verification, i))
            continue;
        nt_fail(&error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s", reason);
        struct nt_finding finding = nt_finding(verification->dataset, &error);
        finding.kind = NT_FINDING_UNREAD;
        finding.field = i;
        report(verification, &finding);
    }
}

/* ---- Columns ---- */

static void on_cluster(void *context, uint64_t stored_bytes)
{
    struct verification *verification = context;
    if (!verification->options->on_progress)
        return;
    NT_MUTEX_GUARD(&verification->lock);
    verification->bytes += stored_bytes;
    verification->options->on_progress(verification->options->context, verification->bytes,
                                       verification->total);
}

/* Reports finished columns in order. The caller holds the lock. */
static void report_shares(struct verification *verification)
{
    struct nt_verify_summary *summary = verification->summary;
    while (verification->reported < verification->dataset->column_count &&
           verification->shares[verification->reported].is_done) {
        struct nt_verify_result *share = &verification->shares[verification->reported++];
        for (size_t i = 0; i < share->findings.count; i++)
            report(verification, &share->findings.items[i]);
        summary->pages += share->pages;
        summary->unchecked += share->unchecked;
        summary->stored_bytes += share->stored_bytes;
        verification->has_failed |= share->findings.has_failed;
        free(share->findings.items);
        share->findings = (struct nt_findings){0};
    }
}

/* Prefetches adjacent columns together, in a few requests; again when half of it is used. */
static void prefetch_columns(struct verification *verification, struct nt_prefetch *prefetch)
{
    const uint64_t most = UINT64_C(32) << 20;
    const struct nt_dataset *dataset = verification->dataset;
    if (!nt_prefetch_helps(dataset) || verification->prefetched_bytes > most / 2)
        return;
    while (verification->prefetched_columns < dataset->column_count &&
           verification->prefetched_bytes < most) {
        struct nt_verify_result *share = &verification->shares[verification->prefetched_columns];
        uint64_t before = prefetch->bytes;
        nt_verify_prefetch_column(verification->reader, verification->dataset,
                                  verification->prefetched_columns++, prefetch);
        share->prefetched_bytes = prefetch->bytes - before;
        verification->prefetched_bytes += share->prefetched_bytes;
    }
}

/* Takes the next column, and those after it that have the same pages. Returns their number; 0 at the end. */
static uint32_t take_columns(struct verification *verification,
                             struct nt_verify_job jobs[NT_MAX_SHARED_OUTPUTS])
{
    struct nt_reader *reader = verification->reader;
    struct nt_dataset *dataset = verification->dataset;
    struct nt_prefetch prefetch = {.count = 0};
    pthread_mutex_lock(&verification->lock);
    uint32_t first = verification->next, count = first < dataset->column_count;
    while (count && count < NT_MAX_SHARED_OUTPUTS && first + count < dataset->column_count &&
           nt_columns_are_siblings(reader, dataset, first, first + count))
        count++;
    for (uint32_t i = 0; i < count; i++) {
        prefetch_columns(verification, &prefetch);
        jobs[i] = (struct nt_verify_job){.reader = reader,
                                         .dataset = dataset,
                                         .column = first + i,
                                         .is_alone = verification->is_alone,
                                         .share = &verification->shares[first + i],
                                         .on_cluster = on_cluster,
                                         .context = verification};
        verification->prefetched_bytes -= jobs[i].share->prefetched_bytes;
    }
    verification->next += count;
    pthread_mutex_unlock(&verification->lock);
    nt_prefetch_submit(&prefetch);
    return count;
}

/* The main function of each thread: takes columns until none is left. */
static void verify_columns(void *context)
{
    struct verification *verification = context;
    struct nt_verify_job jobs[NT_MAX_SHARED_OUTPUTS];
    uint32_t count;
    while ((count = take_columns(verification, jobs))) {
        nt_verify_columns(jobs, count);
        NT_MUTEX_GUARD(&verification->lock);
        for (uint32_t i = 0; i < count; i++)
            jobs[i].share->is_done = true;
        report_shares(verification);
    }
}

/* ---- Datasets ---- */

static enum nt_status verify_dataset(struct verification *verification, struct nt_error *error)
{
    struct nt_dataset *dataset = verification->dataset;
    if (dataset->failure) {
        struct nt_finding finding = nt_finding(dataset, dataset->failure);
        report(verification, &finding);
        return NT_OK;
    }
    bool all_good;
    enum nt_status status = check_groups(verification, &all_good);
    report_unsupported(verification);
    verification->is_alone = !all_good;
    if (status == NT_OK)
        status = check_all_boundaries(verification);
    if (status != NT_OK)
        return nt_fail_memory(error);
    verification->shares = calloc((size_t)dataset->column_count + 1, sizeof(*verification->shares));
    NT_TRY(nt_check_memory(verification->shares, error));
    verification->reported = verification->next = verification->prefetched_columns = 0;
    verification->prefetched_bytes = 0;
    nt_workers_run_all(verification->reader->workers, verify_columns, verification);
    verification->summary->columns += dataset->column_count;
    free(verification->shares);
    return verification->has_failed ? nt_fail_memory(error) : NT_OK;
}

/* ---- The rest of the file ---- */

static void report_file(void *context, const struct nt_error *failure)
{
    struct nt_finding finding = nt_finding(NULL, failure);
    report(context, &finding);
}

/* If a part of the file is unreadable during the check, that is a finding, too. */
static enum nt_status check_file(struct verification *verification, const struct nt_file *file,
                                 struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = file->check ? file->check(file, report_file, verification, &failure) : NT_OK;
    if (nt_is_transient(status))
        return nt_fail_copy(error, &failure);
    if (status != NT_OK)
        report_file(verification, &failure);
    return NT_OK;
}

/* Only for progress reports: the verification reports what this cannot count. */
static uint64_t all_bytes(const struct nt_file *file)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        struct nt_column_sums sums = {0};
        if (!file->datasets[i]->failure)
            (void)nt_column_sums(file->datasets[i], NT_NONE, &sums, NULL);
        total += sums.stored_bytes;
    }
    return total;
}

enum nt_status nt_verify(struct nt_reader *reader, const struct nt_file *file,
                         const struct nt_verify_options *options, struct nt_verify_summary *summary,
                         struct nt_error *error)
{
    struct verification verification = {.reader = reader, .options = options, .summary = summary};
    enum nt_status status = NT_OK;
    *summary = (struct nt_verify_summary){0};
    if (options->on_progress)
        verification.total = all_bytes(file);
    pthread_mutex_init(&verification.lock, NULL);
    for (uint32_t i = 0; i < file->dataset_count && status == NT_OK; i++) {
        verification.dataset = file->datasets[i];
        status = verify_dataset(&verification, error);
    }
    if (status == NT_OK)
        status = check_file(&verification, file, error);
    pthread_mutex_destroy(&verification.lock);
    return status;
}
