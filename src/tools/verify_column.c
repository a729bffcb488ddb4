/* SPDX-License-Identifier: MIT
 *
 * Verifies one column: loads every page and converts its elements like a reader. Also checks what a
 * single reader does not see: row counts of sub-fields, unused alternatives, unread elements, and
 * UTF-8.
 */
#include "tools/tools.h"

/* ---- Pages already verified ---- */

enum { SLOT_BITS = 10 };

struct nt_verified_page *nt_verified_pages_new(void)
{
    return calloc((size_t)1 << SLOT_BITS, sizeof(struct nt_verified_page));
}

static bool is_same(const struct nt_page *a, const struct nt_page *b)
{
    return !a->is_missing && !b->is_missing && /* equals no other page */
           a->offset == b->offset && a->stored_bytes == b->stored_bytes && a->elements == b->elements &&
           a->parameter == b->parameter && a->decoder == b->decoder && a->source == b->source &&
           a->checksum == b->checksum && a->checksum_covers == b->checksum_covers &&
           a->compression == b->compression;
}

struct nt_verified_page *nt_verified_pages_find(struct nt_verified_page *slots, const struct nt_page *page)
{
    if (!slots)
        return NULL;
    uint64_t hash = (page->offset ^ (uint64_t)page->elements << 40) * UINT64_C(0x9e3779b97f4a7c15);
    struct nt_verified_page *slot = &slots[hash >> (64 - SLOT_BITS)];
    if (!slot->is_seen || !is_same(&slot->page, page))
        *slot = (struct nt_verified_page){0};
    return slot;
}

bool nt_page_conditions_equal(const struct nt_page_conditions *left, const struct nt_page_conditions *right)
{
    return left->is_compared == right->is_compared && left->is_cluster_end == right->is_cluster_end &&
           left->has_previous == right->has_previous && left->previous == right->previous &&
           left->limit == right->limit;
}

/* ---- Check UTF-8 ---- */

/* The length of a character according to its first byte; 1 if the byte cannot start one. */
static size_t character_bytes(uint8_t first)
{
    return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
}

/* The length of an incomplete character at the end: 0 to 3. */
static size_t cut_bytes(const uint8_t *bytes, size_t count)
{
    for (size_t back = 1; back <= 3 && back <= count; back++) {
        uint8_t byte = bytes[count - back];
        if ((byte & 0xc0) != 0x80)
            return character_bytes(byte) > back ? back : 0;
    }
    return 0;
}

bool nt_utf8_check_update(struct nt_utf8_check *check, const uint8_t *bytes, size_t count)
{
    uint32_t code_point;
    while (check->pending_count && count) {
        check->pending[check->pending_count++] = *bytes++;
        count--;
        if (check->pending_count < character_bytes(check->pending[0]))
            continue;
        if (!nt_utf8_decode(check->pending, check->pending_count, &code_point))
            return false;
        check->pending_count = 0;
    }
    size_t cut = cut_bytes(bytes, count);
    if (!nt_is_utf8(bytes, count - cut))
        return false;
    if (cut) {
        memcpy(check->pending, bytes + count - cut, cut);
        check->pending_count = cut;
    }
    return true;
}

/* ---- Row counts of sibling fields ---- */

/* The ancestor in step with the field, directly below the enclosing collection or variant; else the
 * field itself. `per_row_ret`: rows of the field per row of the ancestor. */
static uint32_t find_branch(const struct nt_dataset *dataset, uint32_t field, uint64_t *per_row_ret)
{
    uint32_t above = nt_field_row_parent(dataset, field), branch = field;
    *per_row_ret = 1;
    while (dataset->fields[branch].parent != above) {
        branch = dataset->fields[branch].parent;
        if (!nt_checked_multiply(*per_row_ret, nt_field_rows_below(&dataset->fields[branch]), per_row_ret))
            return field;
    }
    return branch;
}

static void compare_rows(struct nt_verify_job *job, const struct nt_row_counts *rows,
                         const struct nt_row_counts *above, uint64_t per_row)
{
    for (uint32_t i = 0; i < rows->count && i < above->count; i++) {
        const struct nt_row_span of_field = nt_row_counts_get(rows, i), branch = nt_row_counts_get(above, i);
        uint64_t expected;
        if (of_field.span.cluster != branch.span.cluster || of_field.span.fault != NT_FAULT_NONE ||
            branch.span.fault != NT_FAULT_NONE)
            continue;
        if (nt_checked_multiply(branch.rows, per_row, &expected) && expected != of_field.rows)
            nt_verify_report_cluster(job, of_field.span.cluster, "rows according to the sibling fields",
                                     expected, of_field.rows);
    }
}

/* Below a collection or variant, each field counts its rows by its own column. All must have the number
 * of rows of their sibling fields. */
static void verify_rows(struct nt_verify_job *job)
{
    const struct nt_column *info = &job->dataset->columns[job->column];
    NT_CLEANUP(nt_row_counts_deinit) struct nt_row_counts rows = {0}, above = {0};
    struct nt_error error = {0};
    uint32_t field = info->field;
    uint64_t per_row;
    if (nt_field_row_parent(job->dataset, field) == NT_NONE || info->position ||
        job->dataset->fields[field].kind == NT_FIELD_UNREADABLE)
        return;
    uint32_t branch = find_branch(job->dataset, field, &per_row);
    if (branch == field)
        return;
    enum nt_status status =
        nt_row_counts_build(job->reader, job->dataset, field, NT_COUNTED_ROWS, &rows, &error);
    if (status == NT_OK)
        status = nt_row_counts_build(job->reader, job->dataset, branch, NT_COUNTED_ROWS, &above, &error);
    if (status == NT_OK)
        compare_rows(job, &rows, &above, per_row);
    else
        nt_verify_report(job, NT_NONE, UINT64_MAX, &error);
}

/* ---- Verify pages and elements ---- */

/* Limits the findings of one kind in a column. The last one then represents the others. */
enum { MAX_REPORTED = 256 };

/* Page failures of one kind. */
struct failures {
    uint32_t reported;
    size_t last; /* 1 + the last reported finding */
};

/* The state of verifying a column. */
struct column_check {
    struct nt_verify_job *job;
    const struct nt_column *info;
    bool is_first; /* of the representations at its position: reports what applies to all of them */
    struct nt_stream *stream; /* NULL: verify only the pages */
    uint32_t *segment_of;     /* by cluster; NT_NONE; NULL: segments have consecutive clusters */
    uint64_t page;            /* number of the next page within the column */
    const uint8_t *elements;  /* of the current page: in `loaded` or in the cache */
    struct nt_cache_entry *pinned;
    enum nt_cache_hint hint; /* for the pinned one */
    uint8_t *loaded, *made;  /* `made`: elements of the stream */
    size_t loaded_capacity, made_capacity;
    struct nt_stream *lengths; /* of the lists, according to another field; NULL: it is not told */
    bool may_be_empty;         /* see struct nt_repeated_lengths */
    uint8_t *numbers;          /* elements of `lengths` */
    size_t numbers_capacity;
    struct nt_adjacent_pages neighbours;
    struct nt_verified_page *seen; /* slots; NULL: none is remembered */
    uint64_t *chosen;              /* variants: uses of each alternative in the cluster */
    bool is_text, has_bad_text;
    struct failures failures[NT_FINDING_KINDS];
    uint32_t reported; /* of all kinds */
};

/* The state of verifying a cluster. */
struct cluster_check {
    uint32_t number;
    const struct nt_group *group;
    const struct nt_range *range;
    struct nt_segment segment;
    bool is_checked; /* are the segment's elements? */
    bool has_previous;
    uint64_t previous; /* index value at the end of the previous page */
    bool is_whole;     /* no page has failed */
    struct nt_utf8_check text;
};

/* ---- Findings ---- */

/* If something is unsupported, it is so for most pages of a column: one finding represents all. */
static bool are_all_reported(const struct column_check *column, enum nt_status status)
{
    enum nt_finding_kind kind = nt_finding_kind(status);
    return column->failures[kind].reported >= (kind == NT_FINDING_UNSUPPORTED ? 1 : MAX_REPORTED);
}

/* Ignores `error` if the limit is reached. */
static void find_failure(struct column_check *column, uint32_t cluster, enum nt_status status,
                         const struct nt_error *error)
{
    struct nt_findings *findings = &column->job->share->findings;
    struct failures *failures = &column->failures[nt_finding_kind(status)];
    if (!nt_is_transient(status) && are_all_reported(column, status)) {
        findings->items[failures->last - 1].count++;
        return;
    }
    nt_verify_report(column->job, cluster, column->page, error);
    if (findings->has_failed)
        return;
    failures->last = findings->count;
    failures->reported++;
    column->reported++;
}

/* ---- One page ---- */

static bool reserve(uint8_t **bytes, size_t *capacity, uint64_t requested)
{
    if (requested <= *capacity && *bytes)
        return true;
    uint8_t *larger = requested < SIZE_MAX ? realloc(*bytes, (size_t)requested + 1) : NULL;
    if (!larger)
        return false;
    *bytes = larger;
    *capacity = (size_t)requested;
    return true;
}

static enum nt_status load(struct column_check *column, const struct cluster_check *cluster,
                           const struct nt_page *page, bool is_met_again, struct nt_error *error)
{
    const struct nt_verify_job *job = column->job;
    const struct nt_page *end = cluster->group->pages + cluster->range->first_page + cluster->range->pages;
    column->hint = is_met_again ? NT_CACHE_KEEP : NT_CACHE_DROP_BEHIND;
    if (is_met_again || nt_column_has_siblings(job->reader, job->dataset, job->column))
        return nt_page_pin(NT_CACHE_READER, job->reader, job->dataset, job->column, page, &column->pinned,
                           &column->elements, error);
    size_t bytes;
    enum nt_status status = nt_page_decoded_bytes(job->dataset, page, &bytes, error);
    if (status != NT_OK)
        return nt_page_error(job->dataset, job->column, page, status, error);
    NT_TRY(nt_check_memory(reserve(&column->loaded, &column->loaded_capacity, bytes), error));
    column->elements = column->loaded;
    return nt_adjacent_pages_load(&column->neighbours, job->reader, job->dataset, job->column, page,
                                  (uint32_t)(end - page), column->loaded, error);
}

static void unload(struct column_check *column)
{
    if (column->pinned)
        nt_page_unpin(column->job->reader, column->pinned, column->hint);
    column->pinned = NULL;
}

static bool is_cluster_end(const struct nt_segment *segment, const struct nt_page *page)
{
    return segment->zeros + page->first_element + page->elements == nt_segment_end(segment);
}

/* Adds a warning: an error with the status NT_OK. */
static void warn(struct column_check *column, const struct cluster_check *cluster, const struct nt_page *page,
                 uint64_t number, struct nt_error *error)
{
    nt_page_error(column->job->dataset, column->job->column, page, NT_OK, error);
    nt_verify_report(column->job, cluster->number, number, error);
}

/* ---- Lengths that another field repeats ---- */

/* A negative number is the length of an empty list. */
static uint64_t length_of(const struct nt_dtype *dtype, const uint8_t *number)
{
    uint64_t value = nt_load_integer(number, dtype->bytes, false);
    bool is_negative = dtype->numpy[1] == 'i' && value >> (8 * dtype->bytes - 1);
    return is_negative ? 0 : value;
}

static enum nt_status fail_length(const struct column_check *column, const struct nt_element_run *run,
                                  uint64_t row, uint64_t expected, uint64_t found, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer field = {0};
    nt_append_printable_path(&field, column->job->dataset, column->lengths->field);
    NT_TRY(nt_check_memory(!field.failed, error));
    return nt_fail(error, NT_CORRUPT, run->page->offset,
                   "entry %" PRIu64 " has a list of length %" PRIu64 ", but field %.80s says %" PRIu64, row,
                   found, nt_buffer_string(&field), expected);
}

/* Does no entry at all have items? Programs that write nothing for a member leave such lists: they are not
 * damaged. */
static bool is_empty(const struct column_check *column)
{
    const struct nt_stream *stream = column->stream;
    uint64_t last = 0;
    return nt_stream_read(column->stream, (stream->elements - 1) * sizeof(last), &last, sizeof(last), NULL) ==
               NT_OK &&
           last == 0;
}

static enum nt_status take_difference(struct column_check *column, const struct cluster_check *cluster,
                                      const struct nt_element_run *run, uint64_t row, uint64_t expected,
                                      uint64_t found, struct nt_error *error)
{
    struct nt_error difference;
    enum nt_status status = fail_length(column, run, row, expected, found, &difference);
    if (status != NT_CORRUPT || found || !is_empty(column))
        return nt_fail_copy(error, &difference);
    difference.status = NT_OK;
    nt_error_context(&difference, "no entry has items");
    warn(column, cluster, run->page, column->page, &difference);
    column->may_be_empty = true;
    return NT_OK;
}

/* `column->made` has the ends of the run's lists. */
static enum nt_status compare_lengths(struct column_check *column, const struct cluster_check *cluster,
                                      const struct nt_element_run *run, struct nt_error *error)
{
    struct nt_stream *lengths = column->lengths;
    uint64_t row = cluster->segment.first + cluster->segment.zeros + run->page->first_element;
    uint64_t previous = run->base + (run->has_previous ? run->previous : 0);
    size_t bytes = run->count * lengths->element_bytes;
    bool is_known = run->has_previous || !run->page->first_element;
    NT_TRY(nt_check_memory(reserve(&column->numbers, &column->numbers_capacity, bytes), error));
    if (nt_stream_read(lengths, row * lengths->element_bytes, column->numbers, bytes, NULL) != NT_OK)
        return NT_OK; /* reported for the other field */
    for (size_t i = 0; i < run->count; i++) {
        uint64_t end = nt_load_le64(column->made + i * sizeof(uint64_t)), found = end - previous;
        uint64_t expected = length_of(&lengths->dtype, column->numbers + i * lengths->element_bytes);
        bool is_equal = found == expected || (found == 0 && column->may_be_empty);
        if (!is_equal && (i > 0 || is_known))
            NT_TRY(take_difference(column, cluster, run, row + i, expected, found, error));
        previous = end;
    }
    return NT_OK;
}

static void open_lengths(struct column_check *column)
{
    const struct nt_verify_job *job = column->job;
    if (!job->dataset->ops->repeated_lengths || column->stream->kind != NT_STREAM_OFFSETS)
        return;
    const struct nt_repeated_lengths lengths = job->dataset->ops->repeated_lengths(job->dataset, job->column);
    column->may_be_empty = lengths.may_be_empty;
    if (lengths.field != NT_NONE)
        (void)nt_stream_open_unfiltered(job->reader, job->dataset, lengths.field, NT_STREAM_DATA,
                                        &column->lengths, NULL);
}

/* ---- One page, continued ---- */

/* Converts the elements like the stream, which checks them. */
static enum nt_status check_elements(struct column_check *column, const struct cluster_check *cluster,
                                     const struct nt_page *page, struct nt_error *error)
{
    const struct nt_stream *stream = column->stream;
    const struct nt_segment *segment = &cluster->segment;
    const struct nt_decoder *decoder = nt_page_decoder(stream->dataset, page);
    uint64_t bytes;
    if (stream->row->conversion == NT_CONVERT_VALUES && nt_values_are_equal(decoder, &stream->dtype))
        return NT_OK;
    if (!nt_checked_multiply(nt_page_decoded_elements(page), stream->element_bytes, &bytes) ||
        !reserve(&column->made, &column->made_capacity, bytes))
        return nt_fail_memory(error);
    struct nt_element_run run = nt_stream_run(stream, segment, page);
    run.data = column->elements;
    run.count = nt_page_decoded_elements(page);
    run.is_cluster_end = is_cluster_end(segment, page);
    run.has_previous = cluster->has_previous;
    run.previous = cluster->previous;
    enum nt_status status = stream->transform(&run, column->made, error);
    if (status == NT_OK && column->lengths)
        status = compare_lengths(column, cluster, &run, error);
    return status ? nt_page_error(stream->dataset, column->job->column, page, status, error) : NT_OK;
}

static void count_selected(struct column_check *column, const struct nt_page *page)
{
    const uint8_t *at = column->elements + NT_SWITCH_TAG;
    for (uint32_t i = 0; i < nt_page_decoded_elements(page); i++, at += NT_SWITCH_BYTES) {
        uint32_t tag = nt_load_le32(at);
        if (tag && tag <= column->stream->alternative_count)
            column->chosen[tag - 1]++;
    }
}

/* One for each column, at the first place. */
static void warn_of_text(struct column_check *column, const struct cluster_check *cluster,
                         const struct nt_page *page, uint64_t number)
{
    struct nt_error error;
    nt_fail(&error, NT_OK, NT_NO_OFFSET, "text that is not UTF-8");
    warn(column, cluster, page, number, &error);
    column->has_bad_text = true;
}

/* Keeps what the checks of the next page and of the cluster's end need. */
static void carry_on(struct column_check *column, struct cluster_check *cluster, const struct nt_page *page)
{
    const struct nt_stream *stream = column->stream;
    const struct nt_decoder *decoder = nt_page_decoder(stream->dataset, page);
    uint32_t elements = nt_page_decoded_elements(page);
    if (stream->row->needs_previous && elements)
        cluster->has_previous =
            nt_load_index(decoder->element, column->elements, elements - 1, &cluster->previous);
    if (column->chosen && decoder->element == NT_ELEMENT_SWITCH)
        count_selected(column, page);
    if (column->is_text && !column->has_bad_text && decoder->element_bytes == 1 &&
        !nt_utf8_check_update(&cluster->text, column->elements, elements))
        warn_of_text(column, cluster, page, column->page);
}

static void break_off(struct cluster_check *cluster)
{
    cluster->is_whole = false;
    cluster->has_previous = false;
    cluster->text = (struct nt_utf8_check){0};
}

/* `error` may be NULL. */
static enum nt_status try_page(struct column_check *column, const struct cluster_check *cluster,
                               const struct nt_page *page, bool is_met_again, struct nt_error *error)
{
    enum nt_status status = load(column, cluster, page, is_met_again, error);
    return status == NT_OK && cluster->is_checked ? check_elements(column, cluster, page, error) : status;
}

/* Verifies a page's elements and reports what is wrong. Finding the position of a page takes a search.
 * So after many reports, the error is built only if it will be reported, too. */
static enum nt_status look_at_page(struct column_check *column, struct cluster_check *cluster,
                                   const struct nt_page *page, bool is_met_again)
{
    struct nt_error error = {0};
    bool is_reported = column->reported < MAX_REPORTED;
    enum nt_status status = try_page(column, cluster, page, is_met_again, is_reported ? &error : NULL);
    if (status != NT_OK && !is_reported && (nt_is_transient(status) || !are_all_reported(column, status))) {
        unload(column);
        status = try_page(column, cluster, page, is_met_again, &error);
    }
    if (status == NT_OK && cluster->is_checked)
        carry_on(column, cluster, page);
    else if (status != NT_OK)
        break_off(cluster);
    unload(column);
    if (status != NT_OK)
        find_failure(column, cluster->number, status, &error);
    return status;
}

/* An index depends on the elements around the page; other elements depend only on their page. */
static struct nt_page_conditions conditions(const struct column_check *column,
                                            const struct cluster_check *cluster, const struct nt_page *page)
{
    const struct nt_segment *segment = &cluster->segment;
    struct nt_page_conditions conditions = {.is_compared = cluster->is_checked};
    if (cluster->is_checked && column->stream->row->needs_previous) {
        conditions.is_cluster_end = is_cluster_end(segment, page);
        conditions.has_previous = cluster->has_previous;
        conditions.previous = cluster->has_previous ? cluster->previous : 0;
        conditions.limit = segment->limit;
    }
    return conditions;
}

static void remember(const struct column_check *column, const struct cluster_check *cluster,
                     const struct nt_page *page, const struct nt_page_conditions *before,
                     enum nt_status status, struct nt_verified_page *seen)
{
    *seen = (struct nt_verified_page){.page = *page, .is_seen = true, .before = *before};
    /* Alternatives are counted in every cluster; a character may start on the previous page. */
    seen->has_outcome = !column->chosen && cluster->text.pending_count == 0 && status != NT_IO;
    seen->has_previous = cluster->has_previous;
    seen->previous = cluster->previous;
    if (status != NT_OK)
        seen->finding = column->failures[nt_finding_kind(status)].last;
}

static void verify_page(struct column_check *column, struct cluster_check *cluster,
                        const struct nt_page *page)
{
    struct nt_verified_page *seen = nt_verified_pages_find(column->seen, page);
    struct nt_page_conditions before = conditions(column, cluster, page);
    bool is_between_characters = cluster->text.pending_count == 0;
    if (seen && seen->has_outcome && is_between_characters &&
        nt_page_conditions_equal(&seen->before, &before)) {
        cluster->has_previous = seen->has_previous;
        cluster->previous = seen->previous;
        if (seen->finding) {
            break_off(cluster);
            column->job->share->findings.items[seen->finding - 1].count++;
        }
    } else {
        enum nt_status status = look_at_page(column, cluster, page, seen && seen->is_seen);
        if (seen && is_between_characters && !column->job->share->findings.has_failed)
            remember(column, cluster, page, &before, status, seen);
    }
    column->page++;
}

/* ---- One cluster ---- */

/* Checks the page list. False if there is nothing to compare the elements with. */
static bool check_segment(struct column_check *column, struct cluster_check *cluster,
                          const struct nt_segment *segment)
{
    struct nt_verify_job *job = column->job;
    struct nt_error error = {0};
    uint64_t stored = nt_range_elements(cluster->group, cluster->range);
    if (segment->span.fault == NT_FAULT_MISSING || segment->span.fault == NT_FAULT_SEVERAL ||
        segment->span.fault == NT_FAULT_COUNT) {
        if (column->is_first) {
            nt_fault_error(job->dataset, &segment->span, segment->elements, segment->found, &error);
            nt_name_field(job->dataset, column->info->field, NULL, error.status, &error);
            nt_verify_report(job, cluster->number, UINT64_MAX, &error);
        }
        return false;
    }
    if (segment->span.fault != NT_FAULT_NONE)
        return false;
    if (cluster->range->state != NT_RANGE_PRESENT)
        return false;
    if (stored && segment->column != job->column) {
        nt_verify_report_cluster(job, cluster->number,
                                 "stored elements of a representation that the cluster does not use", 0,
                                 stored);
        return false;
    }
    bool is_deferred = nt_column_deferral(column->info) != NT_NOT_DEFERRED;
    if (stored && !is_deferred && nt_dataset_has_positions(job->dataset) &&
        segment->first != cluster->range->first_element)
        nt_verify_report_cluster(job, cluster->number, "first element according to the page list",
                                 segment->first, cluster->range->first_element);
    if (column->stream->row->has_leading_zero && !stored && segment->limit)
        nt_verify_report_cluster(job, cluster->number, "items below a field without rows", 0, segment->limit);
    return true;
}

static void check_alternatives(struct column_check *column, const struct cluster_check *cluster)
{
    for (uint32_t i = 0; i < column->stream->alternative_count; i++) {
        uint64_t rows = cluster->segment.alternatives[i].rows;
        if (rows != column->chosen[i])
            nt_verify_report_cluster(column->job, cluster->number,
                                     "rows of an alternative according to the switches", column->chosen[i],
                                     rows);
    }
}

/* Finds the segment. The group is pinned: its numbers and pages stay without one more pin. */
static void find_segment(struct column_check *column, struct cluster_check *cluster)
{
    if (!column->stream)
        return;
    uint32_t number = column->segment_of ? column->segment_of[cluster->number]
                                         : cluster->number - column->stream->rows.groups.first;
    if (number == NT_NONE) /* no reliable one */
        return;
    nt_stream_segment(column->stream, number, &cluster->segment);
    cluster->is_checked = nt_stream_locate(column->stream, &cluster->segment, NULL) == NT_OK &&
                          check_segment(column, cluster, &cluster->segment);
    nt_segment_release(&cluster->segment);
}

static void verify_cluster(struct column_check *column, const struct nt_group *group, uint32_t number)
{
    struct nt_verify_job *job = column->job;
    struct cluster_check cluster = {.number = number, .group = group, .is_whole = true};
    cluster.range = nt_group_range(job->dataset, group, number, job->column);
    find_segment(column, &cluster);
    if (column->chosen)
        memset(column->chosen, 0, column->stream->alternative_count * sizeof(*column->chosen));
    if (cluster.range->state != NT_RANGE_PRESENT)
        return;
    uint64_t bytes = 0;
    const struct nt_page *pages = group->pages + cluster.range->first_page;
    for (uint32_t i = 0; i < cluster.range->pages && !job->share->findings.has_failed; i++) {
        verify_page(column, &cluster, &pages[i]);
        bytes += pages[i].stored_bytes;
        job->share->unchecked += pages[i].checksum == NT_CHECKSUM_NONE && pages[i].stored_bytes > 0;
    }
    if (cluster.is_checked && cluster.is_whole && column->chosen)
        check_alternatives(column, &cluster);
    if (cluster.text.pending_count && !column->has_bad_text)
        warn_of_text(column, &cluster, &pages[cluster.range->pages - 1], column->page - 1);
    job->share->pages += cluster.range->pages;
    job->share->stored_bytes += bytes;
    job->on_cluster(job->context, bytes);
}

/* ---- One column ---- */

static enum nt_status map_segments(struct column_check *column, struct nt_error *error)
{
    const struct nt_stream *stream = column->stream;
    uint32_t clusters = stream->dataset->cluster_count;
    if (stream->rows.spans) {
        column->segment_of = malloc(((size_t)clusters + 1) * sizeof(*column->segment_of));
        NT_TRY(nt_check_memory(column->segment_of, error));
        for (uint32_t i = 0; i < clusters; i++)
            column->segment_of[i] = NT_NONE;
        for (uint32_t i = 0; i < stream->rows.count; i++)
            if (stream->rows.spans[i].cluster < clusters)
                column->segment_of[stream->rows.spans[i].cluster] = i;
    }
    if (stream->kind == NT_STREAM_INDEX) {
        column->chosen = calloc((size_t)stream->alternative_count + 1, sizeof(*column->chosen));
        NT_TRY(nt_check_memory(column->chosen, error));
    }
    return NT_OK;
}

static void open_stream(struct column_check *column)
{
    const struct nt_verify_job *job = column->job;
    const struct nt_field *field = &job->dataset->fields[column->info->field];
    struct nt_error error = {0};
    enum nt_stream_kind kind;
    if (!nt_field_column_stream(field, column->info->position, &kind))
        return;
    enum nt_status status = nt_stream_open_unfiltered(job->reader, job->dataset, column->info->field, kind,
                                                      &column->stream, &error);
    if (status == NT_OK) {
        open_lengths(column);
        status = map_segments(column, &error);
    }
    if (status != NT_OK && (column->is_first || nt_is_transient(status)))
        nt_verify_report(column->job, NT_NONE, UINT64_MAX, &error);
}

/* Prefetches the pages in the `index`-th cluster of the group, if it exists. */
static void prefetch_cluster(const struct column_check *column, const struct nt_group *group, uint32_t index)
{
    const struct nt_verify_job *job = column->job;
    if (index >= group->clusters)
        return;
    const struct nt_range *range =
        nt_group_range(job->dataset, group, group->first_cluster + index, job->column);
    if (range->state == NT_RANGE_PRESENT)
        nt_prefetch_pages(job->reader, job->dataset, group->pages + range->first_page, range->pages);
}

void nt_verify_prefetch_column(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                               struct nt_prefetch *prefetch)
{
    struct nt_groups groups = nt_groups_of_column(dataset, column);
    for (uint32_t g = groups.first; g < groups.end; g++) {
        NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
        if (nt_group_pin(dataset, g, &group, NULL) != NT_OK)
            continue;
        for (uint32_t i = 0; i < group->clusters; i++) {
            const struct nt_range *range = nt_group_range(dataset, group, group->first_cluster + i, column);
            if (range->state == NT_RANGE_PRESENT)
                nt_prefetch_add(prefetch, reader, dataset, group->pages + range->first_page, range->pages);
        }
    }
}

static void verify_group(struct column_check *column, uint32_t number)
{
    struct nt_dataset *dataset = column->job->dataset;
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
    struct nt_error error = {0};
    if (nt_group_pin(dataset, number, &group, &error) != NT_OK) {
        if (!nt_group_failure(dataset, number)) /* else reported once, for the dataset */
            nt_verify_report(column->job, NT_NONE, UINT64_MAX, &error);
        return;
    }
    prefetch_cluster(column, group, 0);
    for (uint32_t i = 0; i < group->clusters && !column->job->share->findings.has_failed; i++) {
        prefetch_cluster(column, group, i + 1);
        verify_cluster(column, group, group->first_cluster + i);
    }
    nt_adjacent_pages_forget(&column->neighbours);
}

static void column_check_init(struct column_check *column, struct nt_verify_job *job)
{
    const struct nt_column *info = &job->dataset->columns[job->column];
    const struct nt_field *field = &job->dataset->fields[info->field];
    const struct nt_field_kind_row *row = nt_field_kind_info(field->kind);
    *column = (struct column_check){.job = job, .info = info, .is_first = info->representation == 0};
    column->is_text =
        row->form == NT_FORM_TEXT && info->position == nt_field_stream(field, NT_STREAM_DATA)->position;
    if (!job->is_alone) {
        open_stream(column);
        if (column->is_first)
            verify_rows(job);
    }
    column->seen = nt_verified_pages_new();
}

static void column_check_deinit(struct column_check *column)
{
    free(column->seen);
    nt_adjacent_pages_deinit(&column->neighbours);
    nt_stream_close(column->stream);
    nt_stream_close(column->lengths);
    free(column->numbers);
    free(column->segment_of);
    free(column->chosen);
    free(column->loaded);
    free(column->made);
}

void nt_verify_columns(struct nt_verify_job *jobs, uint32_t count)
{
    struct column_check columns[NT_MAX_SHARED_OUTPUTS];
    for (uint32_t i = 0; i < count; i++)
        column_check_init(&columns[i], &jobs[i]);
    bool has_more = true;
    for (uint32_t part = 0; has_more; part++) {
        has_more = false;
        for (uint32_t i = 0; i < count; i++) {
            struct nt_groups groups = nt_groups_of_column(jobs[i].dataset, jobs[i].column);
            if (part >= groups.end - groups.first || jobs[i].share->findings.has_failed)
                continue;
            verify_group(&columns[i], groups.first + part);
            has_more = true;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        column_check_deinit(&columns[i]);
}
