/* SPDX-License-Identifier: MIT
 *
 * In: an open file. Out: findings, data set by data set: first what page lists and clusters say, then the
 * columns, which threads take one by one. Findings of a column wait until all columns before it are done, so
 * that the order is always the same.
 */
#include "view/verify.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "page/clusters.h"
#include "page/workers.h"
#include "view/column_sums.h"
#include "view/verify_internal.h"

struct verification {
    struct nt_reader *reader;
    const struct nt_verify_options *options;
    struct nt_verify_summary *summary;
    uint64_t bytes, total; /* progress */
    /* The data set at hand: */
    struct nt_dataset *dataset;
    bool is_alone;
    struct nt_verify_part *parts; /* of each column */
    atomic_uint next;             /* the next column to be taken */
    pthread_mutex_t lock;         /* from here on, and all calls of the options' functions */
    uint32_t told;                /* columns whose findings are told */
    bool has_failed;
};

/* ---- findings ---- */

const char *nt_finding_name(enum nt_finding_kind kind)
{
    static const char *const names[NT_FINDING_KINDS] = {
        [NT_FINDING_DAMAGED] = "damaged",
        [NT_FINDING_UNREADABLE] = "unreadable",
        [NT_FINDING_UNSUPPORTED] = "unsupported",
        [NT_FINDING_WARNING] = "warning",
    };
    return names[kind];
}

static enum nt_finding_kind kind_of(enum nt_status status)
{
    switch (status) {
    case NT_OK:
        return NT_FINDING_WARNING;
    case NT_UNSUPPORTED:
    case NT_LIMIT:
        return NT_FINDING_UNSUPPORTED;
    case NT_IO:
    case NT_CHANGED:
        return NT_FINDING_UNREADABLE;
    default:
        return NT_FINDING_DAMAGED;
    }
}

struct nt_finding nt_finding(const struct nt_dataset *dataset, const struct nt_error *error)
{
    return (struct nt_finding){
        .kind = kind_of(error->status),
        .dataset = dataset->index,
        .cluster_group = NT_NONE,
        .cluster = NT_NONE,
        .field = NT_NONE,
        .column = NT_NONE,
        .page = UINT64_MAX,
        .count = 1,
        .error = *error,
    };
}

void nt_verify_add(struct nt_verify_part *part, const struct nt_finding *finding)
{
    if (part->count == part->capacity) {
        size_t capacity = part->capacity ? 2 * part->capacity : 4;
        struct nt_finding *findings = realloc(part->findings, capacity * sizeof(*findings));
        if (!findings) {
            part->has_failed = true;
            return;
        }
        part->findings = findings;
        part->capacity = capacity;
    }
    part->findings[part->count++] = *finding;
}

static void tell(struct verification *verification, const struct nt_finding *finding)
{
    verification->summary->findings[finding->kind] += finding->count;
    verification->options->on_finding(verification->options->context, finding);
}

/* ---- page lists and clusters ---- */

/* Tell of page lists that cannot be read. False where there is one. */
static bool check_groups(struct verification *verification)
{
    bool all_good = true;
    for (uint32_t i = 0; i < verification->dataset->group_count; i++) {
        struct nt_error error = {0};
        if (nt_dataset_load_group(verification->dataset, i, &error) == NT_OK)
            continue;
        struct nt_finding finding = nt_finding(verification->dataset, &error);
        finding.cluster_group = i;
        nt_error_context(&finding.error, "page list of cluster group %" PRIu32, i);
        tell(verification, &finding);
        all_good = false;
    }
    return all_good;
}

static void tell_of_hole(struct verification *verification, uint32_t field, const struct nt_span *span)
{
    struct nt_error error;
    nt_fail(&error, NT_CORRUPT, NT_NO_OFFSET, "no cluster holds entries %" PRIu64 " to %" PRIu64,
            span->first_entry, span->first_entry + span->entries - 1);
    struct nt_finding finding = nt_finding(verification->dataset, &error);
    finding.field = field;
    tell(verification, &finding);
}

/* Whether clusters follow one another and hold all entries. `told_as`: the field that findings name. */
static enum nt_status check_borders(struct verification *verification, uint32_t field, uint32_t told_as,
                                    bool *good_ret)
{
    struct nt_span *spans;
    struct nt_error error = {0};
    uint32_t count;
    enum nt_status status =
        nt_spans_build(verification->reader, verification->dataset, field, &spans, &count, &error);
    *good_ret = status == NT_OK;
    if (status == NT_NO_MEMORY)
        return status;
    if (status != NT_OK) {
        struct nt_finding finding = nt_finding(verification->dataset, &error);
        finding.field = told_as;
        tell(verification, &finding);
        return NT_OK;
    }
    for (uint32_t i = 0; i < count; i++)
        if (spans[i].fault == NT_FAULT_NOT_COVERED)
            tell_of_hole(verification, told_as, &spans[i]);
    free(spans);
    return NT_OK;
}

/* All fields have the same clusters, unless these are sharded. */
static enum nt_status check_all_borders(struct verification *verification)
{
    struct nt_dataset *dataset = verification->dataset;
    enum nt_status status = NT_OK;
    bool is_good = true, all_good = true;
    if (!dataset->has_sharded_clusters && dataset->field_count)
        status = check_borders(verification, 0, NT_NONE, &all_good);
    for (uint32_t i = 0; dataset->has_sharded_clusters && i < dataset->field_count && status == NT_OK; i++) {
        if (!dataset->fields[i].column_count || !dataset->fields[i].owns_columns)
            continue;
        status = check_borders(verification, i, i, &is_good);
        all_good &= is_good;
    }
    verification->is_alone |= !all_good;
    return status;
}

/* ---- columns ---- */

static void on_cluster(void *context, uint64_t stored_bytes)
{
    struct verification *verification = context;
    if (!verification->options->on_progress)
        return;
    pthread_mutex_lock(&verification->lock);
    verification->bytes += stored_bytes;
    verification->options->on_progress(verification->options->context, verification->bytes,
                                       verification->total);
    pthread_mutex_unlock(&verification->lock);
}

/* Tell what is ready to be told. Locked. */
static void tell_parts(struct verification *verification)
{
    struct nt_verify_summary *summary = verification->summary;
    while (verification->told < verification->dataset->column_count &&
           verification->parts[verification->told].is_done) {
        struct nt_verify_part *part = &verification->parts[verification->told++];
        for (size_t i = 0; i < part->count; i++)
            tell(verification, &part->findings[i]);
        summary->pages += part->pages;
        summary->stored_bytes += part->stored_bytes;
        verification->has_failed |= part->has_failed;
        free(part->findings);
        part->findings = NULL;
    }
}

/* What each thread does: take columns until none is left. */
static void verify_columns(void *context)
{
    struct verification *verification = context;
    struct nt_verify_job job = {.reader = verification->reader,
                                .dataset = verification->dataset,
                                .is_alone = verification->is_alone,
                                .on_cluster = on_cluster,
                                .context = verification};
    while ((job.column = atomic_fetch_add(&verification->next, 1)) < verification->dataset->column_count) {
        job.part = &verification->parts[job.column];
        nt_verify_column(&job);
        pthread_mutex_lock(&verification->lock);
        job.part->is_done = true;
        tell_parts(verification);
        pthread_mutex_unlock(&verification->lock);
    }
}

/* ---- data sets ---- */

static enum nt_status verify_dataset(struct verification *verification, struct nt_error *error)
{
    struct nt_dataset *dataset = verification->dataset;
    if (dataset->failure) {
        struct nt_finding finding = nt_finding(dataset, dataset->failure);
        tell(verification, &finding);
        return NT_OK;
    }
    verification->is_alone = !check_groups(verification);
    if (check_all_borders(verification) != NT_OK)
        return nt_fail_memory(error);
    verification->parts = calloc((size_t)dataset->column_count + 1, sizeof(*verification->parts));
    if (!verification->parts)
        return nt_fail_memory(error);
    verification->told = 0;
    verification->next = 0;
    nt_workers_together(verification->reader->workers, verify_columns, verification);
    verification->summary->columns += dataset->column_count;
    free(verification->parts);
    return verification->has_failed ? nt_fail_memory(error) : NT_OK;
}

static uint64_t all_bytes(const struct nt_file *file)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        struct nt_column_sums sums = {0};
        if (!file->datasets[i]->failure)
            nt_column_sums(file->datasets[i], NT_NONE, &sums);
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
    pthread_mutex_destroy(&verification.lock);
    return status;
}
