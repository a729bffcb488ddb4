/* SPDX-License-Identifier: MIT
 *
 * Describes the values of fields: how many, nulls, NaNs, infinities, minimum, maximum, mean and a
 * histogram. Two passes over the values, by all workers. Values that cannot be read are counted.
 */
#include "tools/tools.h"

#include <math.h>

/* ---- Numbers ---- */

enum number_kind { IS_UNSIGNED, IS_SIGNED, IS_REAL };

/* A number of any type, without loss: in the largest type of its kind. */
union summary_number {
    uint64_t u;
    int64_t i;
    double d;
};
static const enum nt_element largest_types[] = {NT_ELEMENT_UINT64, NT_ELEMENT_INT64, NT_ELEMENT_REAL64};

static enum number_kind kind_of(enum nt_element element)
{
    switch (element) {
    case NT_ELEMENT_INT8:
    case NT_ELEMENT_INT16:
    case NT_ELEMENT_INT32:
    case NT_ELEMENT_INT64:
        return IS_SIGNED;
    case NT_ELEMENT_REAL16:
    case NT_ELEMENT_REAL32:
    case NT_ELEMENT_REAL64:
        return IS_REAL;
    default:
        return IS_UNSIGNED;
    }
}

static double real_of(enum number_kind kind, union summary_number number)
{
    return kind == IS_REAL ? number.d : kind == IS_SIGNED ? (double)number.i : (double)number.u;
}

static bool is_less(enum number_kind kind, union summary_number a, union summary_number b)
{
    return kind == IS_REAL ? a.d < b.d : kind == IS_SIGNED ? a.i < b.i : a.u < b.u;
}

/* ---- The streams of a field ---- */

struct summary_run {
    struct nt_summary *summary;
    struct nt_stream *values, *valid; /* `values` of a string: its offsets; NULL: all strings are empty */
    uint32_t bytes;                   /* of an element of `values` */
    uint64_t per_row;                 /* values for each row of `valid` */
    uint64_t count, next;             /* values to read; the next share begins here */
    enum number_kind kind;
    union summary_number least, most;
    long double sum;
};

/* The sums of a share. */
struct share_summary {
    uint64_t nulls, nans, infinities, unread, counted;
    uint64_t gap_end; /* of values that cannot be read either; may be after the share */
    union summary_number least, most;
    long double sum;
    uint64_t bins[NT_SUMMARY_BINS];
};

struct pass {
    struct summary_run *works;
    size_t count, next;
    bool is_second;
    pthread_mutex_t lock; /* of everything above and of the summaries */
    bool has_failed;      /* out of memory */
};

enum { SHARE_BYTES = 1 << 20 };

struct summary_share {
    struct summary_run *work;
    uint64_t first, count;
};

/* Of one thread. */
struct summary_buffers {
    uint8_t *values, *valid;
    union summary_number *numbers;
    size_t bytes, rows, count;
};

/* Keeps the first of equal failures, up to a limit. False: out of memory. */
static bool add_failure(struct nt_summary *summary, const struct nt_error *error)
{
    enum { MAX_FAILURES = 32 };
    for (size_t i = 0; i < summary->failure_count; i++)
        if (strcmp(summary->failures[i].message, error->message) == 0)
            return true;
    if (summary->failure_count == MAX_FAILURES)
        return true;
    if (!NT_GROW(summary->failures, summary->failure_count, summary->failure_capacity))
        return false;
    summary->failures[summary->failure_count++] = *error;
    return true;
}

/* ---- Values of a share ---- */

static unsigned bin_of(const struct summary_run *work, union summary_number number)
{
    double least = real_of(work->kind, work->least), most = real_of(work->kind, work->most);
    double range = most / 2 - least / 2;
    double at = range > 0 ? (real_of(work->kind, number) / 2 - least / 2) / range : 0;
    unsigned bins = work->summary->bin_count, bin = (unsigned)(at * bins);
    return bin < bins ? bin : bins - 1;
}

static void add_number(const struct summary_run *work, bool is_second, union summary_number number,
                       struct share_summary *part)
{
    bool is_real = work->kind == IS_REAL;
    if (is_real && !isfinite(number.d)) {
        part->nans += isnan(number.d);
        part->infinities += isinf(number.d) != 0;
        return;
    }
    if (is_second) {
        part->bins[bin_of(work, number)]++;
        return;
    }
    if (!part->counted || is_less(work->kind, number, part->least))
        part->least = number;
    if (!part->counted || is_less(work->kind, part->most, number))
        part->most = number;
    part->counted++;
    part->sum += is_real ? (long double)number.d
                         : (work->kind == IS_SIGNED ? (long double)number.i : (long double)number.u);
}

static void add_values(const struct summary_run *work, bool is_second, const struct summary_buffers *buffers,
                       uint64_t count, struct share_summary *part)
{
    for (uint64_t i = 0; i < count; i++)
        if (work->valid && !buffers->valid[i / work->per_row])
            part->nulls++;
        else if (work->summary->has_numbers)
            add_number(work, is_second, buffers->numbers[i], part);
}

/* Fills the numbers from the values. */
static enum nt_status load_numbers(const struct summary_run *work, const struct summary_buffers *buffers,
                                   uint64_t count, struct nt_error *error)
{
    const struct nt_dtype *dtype = &work->summary->dtype;
    if (work->summary->is_of_lengths) {
        for (uint64_t i = 0; i < count; i++)
            buffers->numbers[i].u = nt_load_le64(buffers->values + (i + 1) * work->bytes) -
                                    nt_load_le64(buffers->values + i * work->bytes);
        return NT_OK;
    }
    if (dtype->is_big_endian && work->bytes > 1)
        (work->bytes == 2   ? nt_swap16
         : work->bytes == 4 ? nt_swap32
                            : nt_swap64)(buffers->values, count, buffers->values);
    return nt_element_convert(dtype->number, buffers->values, largest_types[work->kind], buffers->numbers,
                              count, error);
}

/* A length is the difference to the offset after it. */
static uint64_t offsets_after(const struct summary_run *work)
{
    return work->summary->is_of_lengths ? 1 : 0;
}

static enum nt_status read_values(const struct summary_share *share, const struct summary_buffers *buffers,
                                  struct nt_error *error)
{
    const struct summary_run *work = share->work;
    uint64_t count = share->count + offsets_after(work);
    if (work->values)
        NT_TRY(nt_stream_produce(work->values, share->first, count, NULL, buffers->values, error));
    else
        memset(buffers->values, 0, (size_t)count * work->bytes);
    if (work->summary->has_numbers)
        NT_TRY(load_numbers(work, buffers, share->count, error));
    if (work->valid)
        NT_TRY(nt_stream_produce(work->valid, share->first / work->per_row, share->count / work->per_row,
                                 NULL, buffers->valid, error));
    return NT_OK;
}

/* The end of the values from one on that no page has, or that value. */
static uint64_t find_gap_end(const struct summary_run *work, uint64_t first)
{
    uint64_t next = offsets_after(work);
    uint64_t end = work->values ? nt_stream_gap_end(work->values, first + next) - next : first;
    return nt_min(end, work->count) / work->per_row * work->per_row;
}

/* Are the values of one page, of which neither the first nor the last row can be read? A damaged page would
 * be decoded again for each of its rows. */
static bool is_bad_page(const struct summary_share *share, const struct summary_buffers *buffers)
{
    struct summary_run *work = share->work;
    struct nt_stream *values = work->values;
    uint64_t end = share->first + share->count, per_row = work->per_row;
    uint64_t next = offsets_after(work);
    if (!values || values->filter || share->first % per_row || share->count % per_row ||
        nt_stream_page_end(values, share->first + next) - next < end)
        return false;
    const struct summary_share rows[] = {{work, share->first, per_row}, {work, end - per_row, per_row}};
    return read_values(&rows[0], buffers, NULL) != NT_OK && read_values(&rows[1], buffers, NULL) != NT_OK;
}

/* If a part cannot be read, reads its halves, down to single rows: all others count. */
static void add_share(struct pass *pass, const struct summary_share *share,
                      const struct summary_buffers *buffers, struct share_summary *part)
{
    struct nt_error error = {0};
    struct summary_run *work = share->work;
    if (read_values(share, buffers, &error) == NT_OK) {
        add_values(work, pass->is_second, buffers, share->count, part);
        return;
    }
    pthread_mutex_lock(&pass->lock);
    pass->has_failed |= error.status == NT_NO_MEMORY || !add_failure(work->summary, &error);
    pthread_mutex_unlock(&pass->lock);
    uint64_t half = share->count / 2 / work->per_row * work->per_row;
    uint64_t gap_end = find_gap_end(work, share->first), end = share->first + share->count;
    if (gap_end > share->first) {
        part->gap_end = gap_end;
        half = nt_min(gap_end, end) - share->first;
        part->unread += half;
    } else if (half == 0 || nt_is_environmental(error.status) || is_bad_page(share, buffers)) {
        half = share->count;
        part->unread += half;
    } else {
        add_share(pass, &(struct summary_share){work, share->first, half}, buffers, part);
    }
    if (half < share->count)
        add_share(pass, &(struct summary_share){work, share->first + half, share->count - half}, buffers,
                  part);
}

/* ---- Shares ---- */

static bool has_room(struct summary_buffers *buffers, const struct summary_share *share)
{
    size_t bytes = (size_t)(share->count + 1) * share->work->bytes;
    size_t rows = (size_t)(share->count / share->work->per_row) + 1, count = (size_t)share->count;
    if (bytes > buffers->bytes) {
        free(buffers->values);
        buffers->values = malloc(bytes);
        buffers->bytes = buffers->values ? bytes : 0;
    }
    if (rows > buffers->rows) {
        free(buffers->valid);
        buffers->valid = malloc(rows);
        buffers->rows = buffers->valid ? rows : 0;
    }
    if (count > buffers->count) {
        free(buffers->numbers);
        buffers->numbers = malloc(count * sizeof(*buffers->numbers));
        buffers->count = buffers->numbers ? count : 0;
    }
    return bytes <= buffers->bytes && rows <= buffers->rows && count <= buffers->count;
}

/* The caller holds the lock. False if no work is left. */
static bool take_share(struct pass *pass, struct summary_share *share)
{
    while (pass->next < pass->count) {
        struct summary_run *work = &pass->works[pass->next];
        uint64_t left = work->count - work->next, most;
        if (left == 0 || (pass->is_second && work->summary->bin_count == 0)) {
            pass->next++;
            continue;
        }
        most = SHARE_BYTES /
               (work->bytes > sizeof(union summary_number) ? work->bytes : sizeof(union summary_number));
        most = most / work->per_row * work->per_row;
        most = most ? most : work->per_row;
        *share = (struct summary_share){work, work->next, left < most ? left : most};
        work->next += share->count;
        return !pass->has_failed;
    }
    return false;
}

static void add_part(const struct pass *pass, struct summary_run *work, const struct share_summary *part)
{
    struct nt_summary *summary = work->summary;
    for (unsigned i = 0; i < NT_SUMMARY_BINS; i++)
        summary->bins[i] += part->bins[i];
    if (pass->is_second)
        return;
    if (part->counted && (!summary->counted || is_less(work->kind, part->least, work->least)))
        work->least = part->least;
    if (part->counted && (!summary->counted || is_less(work->kind, work->most, part->most)))
        work->most = part->most;
    summary->nulls += part->nulls;
    summary->nans += part->nans;
    summary->infinities += part->infinities;
    summary->unread += part->unread;
    summary->counted += part->counted;
    work->sum += part->sum;
}

/* The main function of each thread. */
static void work_off(void *context)
{
    struct pass *pass = context;
    struct summary_buffers buffers = {0};
    struct summary_share share;
    pthread_mutex_lock(&pass->lock);
    while (take_share(pass, &share)) {
        pthread_mutex_unlock(&pass->lock);
        struct share_summary part = {.nulls = 0};
        bool has_memory = has_room(&buffers, &share);
        if (has_memory)
            add_share(pass, &share, &buffers, &part);
        pthread_mutex_lock(&pass->lock);
        pass->has_failed |= !has_memory;
        if (part.gap_end > share.work->next) {
            part.unread += part.gap_end - share.work->next;
            share.work->next = part.gap_end;
        }
        add_part(pass, share.work, &part);
    }
    pthread_mutex_unlock(&pass->lock);
    free(buffers.values);
    free(buffers.valid);
    free(buffers.numbers);
}

static enum nt_status run_pass(struct nt_reader *reader, struct summary_run *works, size_t count,
                               bool is_second, struct nt_error *error)
{
    struct pass pass = {.works = works, .count = count, .is_second = is_second};
    for (size_t i = 0; i < count; i++)
        works[i].next = 0;
    pthread_mutex_init(&pass.lock, NULL);
    nt_workers_run_all(reader->workers, work_off, &pass);
    pthread_mutex_destroy(&pass.lock);
    return pass.has_failed ? nt_fail_memory(error) : NT_OK;
}

/* ---- Opening ---- */

/* The nearest field around the values that says which rows are valid; NT_NONE: all are. Sets how many
 * values a row of it has. */
static uint32_t validity_of(const struct nt_dataset *dataset, uint32_t field, uint64_t *per_row_ret)
{
    uint64_t per_row = nt_field_row_elements(&dataset->fields[field]);
    for (uint32_t at = field;;) {
        *per_row_ret = per_row;
        if (nt_field_has_stream(&dataset->fields[at], NT_STREAM_VALID))
            return at;
        at = dataset->fields[at].parent;
        if (at == NT_NONE || !nt_field_is_row_aligned(&dataset->fields[at]))
            return NT_NONE;
        if (!nt_checked_multiply(per_row, nt_field_rows_below(&dataset->fields[at]), &per_row))
            return NT_NONE;
    }
}

/* An optional that is stored as a collection has no values where it is null. */
static enum nt_status count_missing(struct nt_reader *reader, struct nt_dataset *dataset,
                                    struct nt_summary *summary, struct nt_error *error)
{
    uint32_t child = summary->field, parent = nt_field_row_parent(dataset, summary->field);
    uint64_t rows, items;
    if (parent == NT_NONE || dataset->fields[parent].kind != NT_FIELD_OPTIONAL)
        return NT_OK;
    while (dataset->fields[child].parent != parent)
        child = dataset->fields[child].parent;
    NT_TRY(nt_field_rows(reader, dataset, parent, &rows, error));
    NT_TRY(nt_field_rows(reader, dataset, child, &items, error));
    if (rows >= items)
        summary->nulls += rows - items;
    return NT_OK;
}

/* Opens the streams, and counts the values. Fields without values of their own only have rows. */
static enum nt_status open_streams(struct nt_reader *reader, struct nt_dataset *dataset,
                                   struct summary_run *work, struct nt_error *error)
{
    uint32_t field = work->summary->field, valid = validity_of(dataset, field, &work->per_row);
    enum nt_stream_kind kind = work->summary->is_of_lengths ? NT_STREAM_OFFSETS : NT_STREAM_DATA;
    uint64_t count = 0;
    if (nt_field_has_stream(&dataset->fields[field], kind)) {
        NT_TRY(nt_stream_open(reader, dataset, field, kind, &work->values, error));
        count = nt_stream_elements(work->values) - (work->summary->is_of_lengths ? 1 : 0);
    } else {
        NT_TRY(nt_field_rows(reader, dataset, field, &count, error));
    }
    if (valid != NT_NONE)
        NT_TRY(nt_stream_open(reader, dataset, valid, NT_STREAM_VALID, &work->valid, error));
    work->bytes = work->values ? nt_stream_element_bytes(work->values) : (uint32_t)sizeof(uint64_t);
    work->per_row = valid == NT_NONE || !work->per_row ? 1 : work->per_row;
    work->count = count; /* after a failure, there is nothing to do */
    return NT_OK;
}

static enum nt_status open_work(struct nt_reader *reader, struct nt_dataset *dataset,
                                struct summary_run *work, struct nt_error *error)
{
    struct nt_summary *summary = work->summary;
    bool is_null = dataset->fields[summary->field].kind == NT_FIELD_NULL;
    work->kind = summary->is_of_lengths ? IS_UNSIGNED : kind_of(summary->dtype.number);
    NT_TRY(count_missing(reader, dataset, summary, error));
    NT_TRY(open_streams(reader, dataset, work, error));
    summary->values = work->count + summary->nulls;
    if (is_null) {
        summary->nulls = summary->values;
        work->count = 0;
    }
    return NT_OK;
}

/* Writes the number in the field's own type, for nt_json_element. */
static void store(const struct summary_run *work, union summary_number number, uint8_t out[NT_SUMMARY_NUMBER])
{
    enum nt_element type = work->summary->is_of_lengths ? NT_ELEMENT_UINT64 : work->summary->dtype.number;
    (void)!nt_element_convert(largest_types[work->kind], &number, type, out, 1,
                              NULL); /* it came from there */
}

static void conclude_first(struct summary_run *work)
{
    struct nt_summary *summary = work->summary;
    if (!summary->counted)
        return;
    double least = real_of(work->kind, work->least), most = real_of(work->kind, work->most);
    summary->mean = (double)(work->sum / (long double)summary->counted);
    summary->bin_count = NT_SUMMARY_BINS;
    if (work->kind != IS_REAL && most - least + 1 < NT_SUMMARY_BINS)
        summary->bin_count = (uint32_t)(most - least + 1);
    store(work, work->least, summary->least);
    store(work, work->most, summary->most);
}

enum nt_status nt_summarize(struct nt_reader *reader, struct nt_dataset *dataset,
                            struct nt_summary *summaries, size_t count, struct nt_error *error)
{
    struct summary_run *works = calloc(count + 1, sizeof(*works));
    enum nt_status status = works ? NT_OK : nt_fail_memory(error);
    for (size_t i = 0; status == NT_OK && i < count; i++) {
        struct nt_error failure = {0};
        works[i].summary = &summaries[i];
        if (summaries[i].failure_count || open_work(reader, dataset, &works[i], &failure) == NT_OK)
            continue;
        nt_stream_close(works[i].values);
        works[i].values = NULL;
        if (nt_is_transient(failure.status) || !add_failure(&summaries[i], &failure))
            status = nt_fail_memory(error);
    }
    if (status == NT_OK)
        status = run_pass(reader, works, count, false, error);
    for (size_t i = 0; status == NT_OK && i < count; i++)
        conclude_first(&works[i]);
    if (status == NT_OK)
        status = run_pass(reader, works, count, true, error);
    for (size_t i = 0; works && i < count; i++) {
        nt_stream_close(works[i].values);
        nt_stream_close(works[i].valid);
    }
    free(works);
    return status;
}

/* ---- The fields with values ---- */

static enum nt_status add_summary(struct nt_summaries *summaries, const struct nt_dataset *dataset,
                                  uint32_t field, struct nt_error *error)
{
    const struct nt_field *of = &dataset->fields[field];
    enum nt_form form = nt_field_kind_info(of->kind)->form;
    NT_TRY(nt_check_memory(NT_GROW(summaries->items, summaries->count, summaries->capacity), error));
    struct nt_summary *summary = &summaries->items[summaries->count++];
    *summary = (struct nt_summary){.field = field, .dtype = of->dtype};
    summary->is_of_lengths =
        form == NT_FORM_TEXT || form == NT_FORM_BYTES || form == NT_FORM_JSON || form == NT_FORM_EMPTY;
    bool is_number = form == NT_FORM_VALUE && of->dtype.number != NT_ELEMENT_OPAQUE &&
                     of->dtype.number != NT_ELEMENT_SWITCH;
    summary->has_numbers = summary->is_of_lengths || is_number;
    struct nt_error failure;
    if (!of->unreadable)
        return NT_OK;
    nt_fail(&failure, NT_UNSUPPORTED, NT_NO_OFFSET, "%s", of->unreadable);
    return add_failure(summary, &failure) ? NT_OK : nt_fail_memory(error);
}

/* Recursive: fields nest no deeper than NT_MAX_DEPTH. */
enum nt_status nt_summaries_add(struct nt_summaries *summaries, const struct nt_dataset *dataset,
                                uint32_t field, struct nt_error *error)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    const struct nt_field *of = &dataset->fields[field];
    bool has_data = nt_field_has_stream(of, NT_STREAM_DATA) && of->kind != NT_FIELD_SPLIT_COLLECTION &&
                    !nt_field_has_members(of);
    bool is_constant = of->kind == NT_FIELD_NULL || of->kind == NT_FIELD_EMPTY;
    if (has_data || is_constant || (of->unreadable && count == 0))
        return add_summary(summaries, dataset, field, error);
    for (uint32_t i = 0; i < count; i++)
        NT_TRY(nt_summaries_add(summaries, dataset, children[i], error));
    return NT_OK;
}

void nt_summaries_deinit(struct nt_summaries *summaries)
{
    for (size_t i = 0; i < summaries->count; i++)
        free(summaries->items[i].failures);
    free(summaries->items);
    *summaries = (struct nt_summaries){NULL, 0, 0};
}
