/* SPDX-License-Identifier: MIT
 *
 * In: a column. Out: findings. Each page is loaded past the cache, then its elements are made into those of
 * the stream that readers get them from (page/stream.h), by the same functions: what verifies is what can be
 * read. Added to that is what a single reader does not see: rows of sub-fields that disagree, alternatives
 * that are not chosen as often as they are there, elements that nobody reads.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/overflow.h"
#include "page/items.h"
#include "page/load.h"
#include "page/place.h"
#include "page/rows.h"
#include "page/stream.h"
#include "view/verify_internal.h"

/* Which stream shows the elements of a column. A variant's index is made from all of a switch; its tags are
 * checked on the way. */
static const struct {
    enum nt_field_kind field;
    uint32_t position;
    enum nt_stream_kind stream;
} streams[] = {
    {NT_FIELD_VALUE, 0, NT_STREAM_DATA},           {NT_FIELD_BYTES, 0, NT_STREAM_OFFSETS},
    {NT_FIELD_BYTES, 1, NT_STREAM_DATA},           {NT_FIELD_COLLECTION, 0, NT_STREAM_OFFSETS},
    {NT_FIELD_DENSE_OPTIONAL, 0, NT_STREAM_VALID}, {NT_FIELD_VARIANT, 0, NT_STREAM_INDEX},
    {NT_FIELD_CARDINALITY, 0, NT_STREAM_DATA},     {NT_FIELD_PAGE_BYTES, 0, NT_STREAM_DATA},
};

/* Where the work on a column stands. */
struct column {
    struct nt_verify_job *job;
    const struct nt_column *info;
    bool is_first;            /* of the field's columns at its position: tells what is true of all of them */
    struct nt_stream *stream; /* NULL: only the pages can be verified */
    uint32_t *segment_of;     /* of each cluster; NT_NONE */
    uint64_t page;            /* number of the next page within the column */
    uint8_t *elements, *made; /* of a page; of the stream */
    size_t elements_capacity, made_capacity;
    uint64_t *chosen; /* variants: how often each alternative was, in the cluster */
    bool is_text, has_bad_text;
    size_t unsupported; /* 1 + the finding that stands for all such pages; 0: none yet */
};

/* Where the work on a cluster stands. */
struct cluster {
    uint32_t number;
    const struct nt_group *group;
    const struct nt_range *range;
    const struct nt_segment *segment; /* NULL: not to be looked at */
    bool has_previous;
    uint64_t previous; /* index value at the end of the page before */
    bool is_whole;     /* no page has failed */
    struct nt_text_check text;
};

/* ---- findings ---- */

static void find(struct column *column, uint32_t cluster, uint64_t page, const struct nt_error *error)
{
    struct nt_finding finding = nt_finding(column->job->dataset, error);
    if (error->status == NT_NO_MEMORY) {
        column->job->part->has_failed = true;
        return;
    }
    finding.field = column->info->field;
    finding.column = column->job->column;
    finding.cluster = cluster;
    finding.page = page;
    nt_verify_add(column->job->part, &finding);
}

/* What is unsupported is so for most pages of a column: one finding for all. */
static void find_unsupported(struct column *column, uint32_t cluster, uint64_t page,
                             const struct nt_error *error)
{
    struct nt_verify_part *part = column->job->part;
    if (column->unsupported) {
        part->findings[column->unsupported - 1].count++;
        return;
    }
    find(column, cluster, page, error);
    if (!part->has_failed)
        column->unsupported = part->count;
}

static void find_in_cluster(struct column *column, uint32_t cluster, const char *what, uint64_t expected,
                            uint64_t found)
{
    struct nt_error error;
    nt_fail_number(&error, NT_CORRUPT, NT_NO_OFFSET, what, expected, found);
    nt_error_context(&error, "cluster %" PRIu32, cluster);
    find(column, cluster, UINT64_MAX, &error);
}

/* ---- a page ---- */

static bool reserve(uint8_t **bytes, size_t *capacity, uint64_t wanted)
{
    if (wanted <= *capacity && *bytes)
        return true;
    uint8_t *larger = wanted < SIZE_MAX ? realloc(*bytes, (size_t)wanted + 1) : NULL;
    if (!larger)
        return false;
    *bytes = larger;
    *capacity = (size_t)wanted;
    return true;
}

static enum nt_status load(struct column *column, const struct nt_page *page, struct nt_error *error)
{
    const struct nt_verify_job *job = column->job;
    size_t bytes;
    enum nt_status status = nt_page_decoded_bytes(job->reader, job->dataset, page, &bytes, error);
    if (status == NT_OK && !reserve(&column->elements, &column->elements_capacity, bytes))
        status = nt_fail_memory(error);
    if (status == NT_OK)
        status = nt_page_load(job->reader, job->dataset, job->column, page, column->elements, error);
    return status;
}

/* The elements as the stream gives them, which is where they are checked. */
static enum nt_status check_elements(struct column *column, const struct cluster *cluster,
                                     const struct nt_page *page, struct nt_error *error)
{
    const struct nt_stream *stream = column->stream;
    const struct nt_segment *segment = cluster->segment;
    const struct nt_decoder *decoder = nt_page_decoder(stream->dataset, page);
    uint64_t bytes;
    if (stream->rule->transform == nt_make_values && nt_values_are_equal(decoder, &stream->dtype))
        return NT_OK;
    if (!nt_multiply(page->elements, stream->element_bytes, &bytes) ||
        !reserve(&column->made, &column->made_capacity, bytes))
        return nt_fail_memory(error);
    struct nt_run run = {
        .stream = stream,
        .segment = segment,
        .page = page,
        .decoder = decoder,
        .data = column->elements,
        .count = page->elements,
        .is_segment_end = segment->zeros + page->first_element + page->elements == segment->elements,
        .has_previous = cluster->has_previous,
        .previous = cluster->previous,
    };
    enum nt_status status = stream->rule->transform(&run, column->made, error);
    return status ? nt_page_error(stream->dataset, column->job->column, page, status, error) : NT_OK;
}

static void count_chosen(struct column *column, const struct nt_page *page)
{
    const uint8_t *at = column->elements + NT_SWITCH_TAG;
    for (uint32_t i = 0; i < page->elements; i++, at += NT_SWITCH_BYTES) {
        uint32_t tag = nt_load_le32(at);
        if (tag && tag <= column->stream->alternative_count)
            column->chosen[tag - 1]++;
    }
}

/* One warning for a column, at the first place. */
static void warn_of_text(struct column *column, const struct cluster *cluster, const struct nt_page *page,
                         uint64_t number)
{
    struct nt_error error;
    enum nt_status status = nt_fail(&error, NT_OK, NT_NO_OFFSET, "text that is not UTF-8");
    nt_page_error(column->job->dataset, column->job->column, page, status, &error);
    find(column, cluster->number, number, &error);
    column->has_bad_text = true;
}

/* What the next page and the end of the cluster are compared with. */
static void carry_on(struct column *column, struct cluster *cluster, const struct nt_page *page)
{
    const struct nt_stream *stream = column->stream;
    const struct nt_decoder *decoder = nt_page_decoder(stream->dataset, page);
    if (stream->rule->needs_previous && page->elements)
        cluster->has_previous =
            nt_load_index(decoder->element, column->elements, page->elements - 1, &cluster->previous);
    if (column->chosen && decoder->element == NT_ELEMENT_SWITCH)
        count_chosen(column, page);
    if (column->is_text && !column->has_bad_text && decoder->element_bytes == 1 &&
        !nt_text_check_piece(&cluster->text, column->elements, page->elements))
        warn_of_text(column, cluster, page, column->page);
}

static void verify_page(struct column *column, struct cluster *cluster, const struct nt_page *page)
{
    struct nt_error error = {0};
    enum nt_status status = load(column, page, &error);
    if (status == NT_OK && cluster->segment)
        status = check_elements(column, cluster, page, &error);
    if (status == NT_OK && cluster->segment) {
        carry_on(column, cluster, page);
    } else if (status != NT_OK) {
        cluster->is_whole = false;
        cluster->has_previous = false;
        cluster->text = (struct nt_text_check){0};
    }
    if (status == NT_UNSUPPORTED)
        find_unsupported(column, cluster->number, column->page, &error);
    else if (status != NT_OK)
        find(column, cluster->number, column->page, &error);
    column->page++;
}

/* ---- a cluster ---- */

/* The column's part of the stream in the cluster; NULL where there is none that can be trusted. */
static const struct nt_segment *segment_in(const struct column *column, uint32_t cluster)
{
    uint32_t number = column->stream ? column->segment_of[cluster] : NT_NONE;
    return number == NT_NONE ? NULL : &column->stream->segments[number];
}

/* What the page list alone tells. False where the elements cannot be compared with anything. */
static bool check_segment(struct column *column, struct cluster *cluster, const struct nt_segment *segment)
{
    struct nt_error error = {0};
    uint64_t stored = nt_range_elements(cluster->group, cluster->range);
    if (segment->span.fault == NT_FAULT_MISSING || segment->span.fault == NT_FAULT_SEVERAL ||
        segment->span.fault == NT_FAULT_COUNT) {
        if (column->is_first) {
            nt_fault_error(column->job->dataset, column->info->field, &segment->span, segment->elements,
                           segment->found, &error);
            find(column, cluster->number, UINT64_MAX, &error);
        }
        return false;
    }
    if (segment->span.fault != NT_FAULT_NONE)
        return false;
    if (cluster->range->state != NT_RANGE_PRESENT)
        return false;
    if (stored && segment->column != column->job->column) {
        find_in_cluster(column, cluster->number, "stored elements", 0, stored);
        return false;
    }
    if (stored && !column->info->is_deferred && segment->first != cluster->range->first_element)
        find_in_cluster(column, cluster->number, "first element, as the page list tells", segment->first,
                        cluster->range->first_element);
    if (column->stream->rule->has_leading_zero && !stored && segment->limit)
        find_in_cluster(column, cluster->number, "items below a field without rows", 0, segment->limit);
    return true;
}

static void check_alternatives(struct column *column, const struct cluster *cluster)
{
    const struct nt_stream *stream = column->stream;
    size_t segment = (size_t)(cluster->segment - stream->segments);
    for (uint32_t i = 0; i < stream->alternative_count; i++) {
        uint64_t rows = stream->alternatives[segment * stream->alternative_count + i].rows;
        if (rows != column->chosen[i])
            find_in_cluster(column, cluster->number, "rows of an alternative, as the switches tell",
                            column->chosen[i], rows);
    }
}

static void verify_cluster(struct column *column, const struct nt_group *group, uint32_t number)
{
    struct nt_verify_job *job = column->job;
    struct cluster cluster = {.number = number, .group = group, .is_whole = true};
    cluster.range = nt_group_range(job->dataset, group, number, job->column);
    const struct nt_segment *segment = segment_in(column, number);
    if (segment && check_segment(column, &cluster, segment))
        cluster.segment = segment;
    if (column->chosen)
        memset(column->chosen, 0, column->stream->alternative_count * sizeof(*column->chosen));
    if (cluster.range->state != NT_RANGE_PRESENT)
        return;
    uint64_t bytes = 0;
    const struct nt_page *pages = group->pages + cluster.range->first_page;
    for (uint32_t i = 0; i < cluster.range->pages && !job->part->has_failed; i++) {
        verify_page(column, &cluster, &pages[i]);
        bytes += pages[i].stored_bytes;
    }
    if (cluster.segment && cluster.is_whole && column->chosen)
        check_alternatives(column, &cluster);
    if (!nt_text_check_end(&cluster.text) && !column->has_bad_text)
        warn_of_text(column, &cluster, &pages[cluster.range->pages - 1], column->page - 1);
    job->part->pages += cluster.range->pages;
    job->part->stored_bytes += bytes;
    job->on_cluster(job->context, bytes);
}

/* ---- a column ---- */

/* The field below the collection or variant above that the field keeps step with; the field itself where
 * nothing lies between. `per_row_ret`: rows of the field for each of its rows. */
static uint32_t find_branch(const struct nt_dataset *dataset, uint32_t field, uint64_t *per_row_ret)
{
    uint32_t above = nt_field_row_parent(dataset, field), branch = field;
    *per_row_ret = 1;
    while (dataset->fields[branch].parent != above) {
        branch = dataset->fields[branch].parent;
        uint64_t repetition = dataset->fields[branch].repetition;
        if (repetition && !nt_multiply(*per_row_ret, repetition, per_row_ret))
            return field;
    }
    return branch;
}

static bool has_rows(const struct nt_piece *piece)
{
    return piece->span.fault == NT_FAULT_NONE;
}

static void compare_rows(struct column *column, const struct nt_rows *rows, const struct nt_rows *above,
                         uint64_t per_row)
{
    for (uint32_t i = 0; i < rows->count && i < above->count; i++) {
        const struct nt_piece *piece = &rows->pieces[i], *branch = &above->pieces[i];
        uint64_t expected;
        if (piece->span.cluster != branch->span.cluster || !has_rows(piece) || !has_rows(branch))
            continue;
        if (nt_multiply(branch->rows, per_row, &expected) && expected != piece->rows)
            find_in_cluster(column, piece->span.cluster, "rows, as the fields beside it tell", expected,
                            piece->rows);
    }
}

/* Below a collection or variant each field counts its rows by its own column: they must be as many as those
 * of the fields beside it. */
static void verify_rows(struct column *column)
{
    struct nt_verify_job *job = column->job;
    struct nt_rows rows = {0}, above = {0};
    struct nt_error error = {0};
    uint32_t field = column->info->field;
    uint64_t per_row;
    if (nt_field_row_parent(job->dataset, field) == NT_NONE || column->info->position ||
        job->dataset->fields[field].kind == NT_FIELD_UNREADABLE)
        return;
    uint32_t branch = find_branch(job->dataset, field, &per_row);
    if (branch == field)
        return;
    enum nt_status status = nt_rows_build(job->reader, job->dataset, field, NT_ROWS_OF_FIELD, &rows, &error);
    if (status == NT_OK)
        status = nt_rows_build(job->reader, job->dataset, branch, NT_ROWS_OF_FIELD, &above, &error);
    if (status == NT_OK)
        compare_rows(column, &rows, &above, per_row);
    else
        find(column, NT_NONE, UINT64_MAX, &error);
    nt_rows_deinit(&rows);
    nt_rows_deinit(&above);
}

static enum nt_status map_segments(struct column *column, struct nt_error *error)
{
    const struct nt_stream *stream = column->stream;
    uint32_t clusters = stream->dataset->cluster_count;
    column->segment_of = malloc(((size_t)clusters + 1) * sizeof(*column->segment_of));
    if (!column->segment_of)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < clusters; i++)
        column->segment_of[i] = NT_NONE;
    for (uint32_t i = 0; i < stream->segment_count; i++)
        if (stream->segments[i].span.cluster < clusters)
            column->segment_of[stream->segments[i].span.cluster] = i;
    if (stream->rule->stream == NT_STREAM_INDEX) {
        column->chosen = calloc((size_t)stream->alternative_count + 1, sizeof(*column->chosen));
        if (!column->chosen)
            return nt_fail_memory(error);
    }
    return NT_OK;
}

static void open_stream(struct column *column)
{
    const struct nt_verify_job *job = column->job;
    enum nt_field_kind kind = job->dataset->fields[column->info->field].kind;
    struct nt_error error = {0};
    size_t i = 0, count = sizeof(streams) / sizeof(*streams);
    while (i < count && (streams[i].field != kind || streams[i].position != column->info->position))
        i++;
    if (i == count)
        return;
    enum nt_status status = nt_stream_open(job->reader, job->dataset, column->info->field, streams[i].stream,
                                           &column->stream, &error);
    if (status == NT_OK)
        status = map_segments(column, &error);
    if (status != NT_OK && (column->is_first || status == NT_NO_MEMORY))
        find(column, NT_NONE, UINT64_MAX, &error);
}

static void verify_clusters(struct column *column)
{
    struct nt_dataset *dataset = column->job->dataset;
    for (uint32_t g = 0; g < dataset->group_count; g++) {
        const struct nt_group *group = &dataset->groups[g];
        if (nt_dataset_load_group(dataset, g, NULL) != NT_OK)
            continue; /* told once, for the data set */
        for (uint32_t i = 0; i < group->clusters && !column->job->part->has_failed; i++)
            verify_cluster(column, group, group->first_cluster + i);
    }
}

void nt_verify_column(struct nt_verify_job *job)
{
    const struct nt_column *info = &job->dataset->columns[job->column];
    const struct nt_field *field = &job->dataset->fields[info->field];
    struct column column = {.job = job, .info = info, .is_first = info->representation == 0};
    column.is_text = field->kind == NT_FIELD_BYTES && field->role == NT_ROLE_PLAIN && info->position == 1;
    if (!job->is_alone) {
        open_stream(&column);
        if (column.is_first)
            verify_rows(&column);
    }
    if (!job->part->has_failed)
        verify_clusters(&column);
    nt_stream_close(column.stream);
    free(column.segment_of);
    free(column.chosen);
    free(column.elements);
    free(column.made);
}
