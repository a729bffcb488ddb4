/* SPDX-License-Identifier: MIT
 *
 * Compares the elements of pairs of streams in parallel and finds the first difference in each. Then
 * locates the row and the entry of the difference, and reads both values.
 */
#include "tools/tools.h"

/* ---- Compare streams ---- */

enum { SHARE_BYTES = 1 << 20 };

/* A pair during its comparison. */
struct open_pair {
    struct nt_stream_pair *pair;
    struct nt_stream *streams[NT_DIFF_SIDES];
    uint64_t next, end; /* elements not yet taken */
    uint32_t element_bytes[NT_DIFF_SIDES];
    enum nt_element integers[NT_DIFF_SIDES];
    bool is_by_value; /* integers of different types */
    unsigned users;
    struct open_pair *after;
};

struct comparison {
    struct nt_diff_run *run;
    struct nt_stream_pair *pairs;
    size_t count;
    uint64_t total;       /* bytes, for progress reports */
    pthread_mutex_t lock; /* of the members below */
    uint64_t bytes;
    pthread_cond_t changed;
    size_t next;      /* the next pair to open */
    unsigned opening; /* threads that are opening one */
    struct open_pair *first;
    bool has_failed; /* out of memory */
};

/* A thread's read buffers. */
struct diff_buffers {
    uint8_t *bytes[NT_DIFF_SIDES];
    size_t capacity;
};

struct diff_share {
    struct open_pair *open;
    uint64_t first, count;
};

/* The result of a share. */
struct outcome {
    uint64_t first; /* NT_DIFF_NOWHERE: all are equal */
    enum nt_status statuses[NT_DIFF_SIDES];
    struct nt_error errors[NT_DIFF_SIDES];
};

/* ---- Results ---- */

static void note_failure(struct comparison *comparison, struct nt_stream_pair *pair, unsigned side,
                         uint64_t at, const struct nt_error *error)
{
    if (pair->failures[side] && pair->failed_at[side] <= at)
        return;
    if (!pair->failures[side])
        pair->failures[side] = malloc(sizeof(*pair->failures[side]));
    if (pair->failures[side])
        *pair->failures[side] = *error;
    comparison->has_failed |= !pair->failures[side] || nt_is_transient(error->status);
    pair->failed_at[side] = at;
}

static void report_progress(struct comparison *comparison, uint64_t bytes)
{
    const struct nt_diff_options *options = comparison->run->options;
    comparison->bytes += bytes;
    if (options->on_progress)
        options->on_progress(options->context, comparison->bytes, comparison->total);
}

/* The caller holds the lock. */
static void note_outcome(struct comparison *comparison, const struct diff_share *share,
                         const struct outcome *outcome)
{
    struct open_pair *open = share->open;
    struct nt_stream_pair *pair = open->pair;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        if (outcome->statuses[side] != NT_OK)
            note_failure(comparison, pair, side, share->first, &outcome->errors[side]);
    if (outcome->first < pair->first) {
        pair->first = outcome->first;
        open->next = open->end;
    }
    report_progress(comparison, share->count * open->element_bytes[0]);
}

static void forget_failure(struct nt_stream_pair *pair, unsigned side)
{
    free(pair->failures[side]);
    pair->failures[side] = NULL;
}

/* Drops failures after the first difference: whether threads have read that far is chance. */
static void forget_rest(struct nt_stream_pair *pair)
{
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        if (pair->failures[side] && pair->failed_at[side] > pair->first)
            forget_failure(pair, side);
}

void nt_stream_pairs_free(struct nt_stream_pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
            forget_failure(&pairs[i], side);
    free(pairs);
}

/* ---- One share ---- */

static bool has_room(struct diff_buffers *buffers, size_t bytes)
{
    if (bytes <= buffers->capacity)
        return true;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        free(buffers->bytes[side]);
        buffers->bytes[side] = malloc(bytes);
    }
    buffers->capacity = buffers->bytes[0] && buffers->bytes[1] ? bytes : 0;
    return buffers->capacity;
}

static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t count)
{
    enum { STEP = 4096 };
    size_t at = 0;
    while (at + STEP <= count && memcmp(a + at, b + at, STEP) == 0)
        at += STEP;
    while (at < count && a[at] == b[at])
        at++;
    return at;
}

static int64_t load_integer(enum nt_element element, const uint8_t *at, bool *is_large_ret)
{
    *is_large_ret = element == NT_ELEMENT_UINT64 && at[7] & 0x80;
    switch (element) {
    case NT_ELEMENT_INT8:
        return (int8_t)*at;
    case NT_ELEMENT_UINT8:
        return *at;
    case NT_ELEMENT_INT16:
        return (int16_t)nt_load_le16(at);
    case NT_ELEMENT_UINT16:
        return nt_load_le16(at);
    case NT_ELEMENT_INT32:
        return (int32_t)nt_load_le32(at);
    case NT_ELEMENT_UINT32:
        return nt_load_le32(at);
    default:
        return (int64_t)nt_load_le64(at);
    }
}

/* The first element whose values differ; `count`: none. */
static uint64_t first_unequal(const struct open_pair *open, const struct diff_buffers *buffers,
                              uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        bool are_large[NT_DIFF_SIDES];
        int64_t values[NT_DIFF_SIDES];
        for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
            values[side] = load_integer(
                open->integers[side], buffers->bytes[side] + i * open->element_bytes[side], &are_large[side]);
        if (values[0] != values[1] || are_large[0] != are_large[1])
            return i;
    }
    return count;
}

static void compare_share(const struct diff_share *share, struct diff_buffers *buffers,
                          struct outcome *outcome)
{
    const struct open_pair *open = share->open;
    uint32_t *sizes = (uint32_t[]){open->element_bytes[0], open->element_bytes[1]};
    size_t bytes = (size_t)(share->count * (sizes[0] > sizes[1] ? sizes[0] : sizes[1]));
    *outcome = (struct outcome){.first = NT_DIFF_NOWHERE};
    if (!has_room(buffers, bytes)) {
        outcome->statuses[0] = nt_fail_memory(&outcome->errors[0]);
        return;
    }
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        outcome->statuses[side] = nt_stream_produce(open->streams[side], share->first, share->count, NULL,
                                                    buffers->bytes[side], &outcome->errors[side]);
    if (outcome->statuses[0] != NT_OK || outcome->statuses[1] != NT_OK)
        return;
    uint64_t at = open->is_by_value ? first_unequal(open, buffers, share->count)
                                    : first_difference(buffers->bytes[0], buffers->bytes[1], bytes) /
                                          open->element_bytes[0];
    if (at < share->count)
        outcome->first = share->first + at;
}

/* ---- Opening and sharing ---- */

static void close_pair(struct open_pair *open)
{
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        nt_stream_close(open->streams[side]);
    free(open);
}

/* Finds the number of common elements; 0 with an error in `outcome` if a side does not open. */
static void open_streams(struct comparison *comparison, struct open_pair *open, struct outcome *outcome)
{
    struct nt_stream_pair *pair = open->pair;
    *outcome = (struct outcome){.first = NT_DIFF_NOWHERE};
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        const struct nt_diff_side *of = &comparison->run->sides[side];
        outcome->statuses[side] = nt_stream_open(of->reader, of->dataset, pair->fields[side], pair->kind,
                                                 &open->streams[side], &outcome->errors[side]);
        if (outcome->statuses[side] == NT_OK)
            pair->elements[side] = nt_stream_elements(open->streams[side]);
    }
    if (outcome->statuses[0] != NT_OK || outcome->statuses[1] != NT_OK)
        return;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct nt_dtype dtype;
        nt_field_stream_dtype(comparison->run->sides[side].dataset, pair->fields[side], pair->kind, &dtype);
        open->element_bytes[side] = nt_stream_element_bytes(open->streams[side]);
        open->integers[side] = dtype.element;
    }
    open->is_by_value = pair->kind == NT_STREAM_DATA && open->integers[0] != open->integers[1] &&
                        nt_diff_are_integers(comparison->run->sides,
                                             &(struct nt_field_pair){{pair->fields[0], pair->fields[1]}});
    open->end = pair->elements[0] < pair->elements[1] ? pair->elements[0] : pair->elements[1];
}

/* Opens the next pair, which must exist. Releases the caller's lock while opening. */
static void open_next(struct comparison *comparison)
{
    struct nt_stream_pair *pair = &comparison->pairs[comparison->next++];
    struct outcome outcome = {.first = NT_DIFF_NOWHERE};
    comparison->opening++;
    pthread_mutex_unlock(&comparison->lock);
    struct open_pair *open = calloc(1, sizeof(*open));
    if (open) {
        open->pair = pair;
        open_streams(comparison, open, &outcome);
    }
    pthread_mutex_lock(&comparison->lock);
    comparison->opening--;
    comparison->has_failed |= !open;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        if (outcome.statuses[side] != NT_OK)
            note_failure(comparison, pair, side, 0, &outcome.errors[side]);
    if (open && open->end) {
        open->after = comparison->first;
        comparison->first = open;
    } else if (open) {
        close_pair(open);
    }
    pthread_cond_broadcast(&comparison->changed);
}

static struct open_pair *with_shares_left(struct comparison *comparison)
{
    struct open_pair *open = comparison->first;
    while (open && open->next == open->end)
        open = open->after;
    return open;
}

/* The caller holds the lock. False if no work is left. */
static bool take_share(struct comparison *comparison, struct diff_share *share)
{
    struct open_pair *open = NULL;
    while (!comparison->has_failed && !(open = with_shares_left(comparison))) {
        if (comparison->next < comparison->count)
            open_next(comparison);
        else if (comparison->opening)
            pthread_cond_wait(&comparison->changed, &comparison->lock);
        else
            return false;
    }
    if (comparison->has_failed)
        return false;
    uint64_t most = SHARE_BYTES / open->element_bytes[0], left = open->end - open->next;
    most = most ? most : 1;
    *share = (struct diff_share){open, open->next, left < most ? left : most};
    open->next += share->count;
    open->users++;
    return true;
}

/* The caller holds the lock. The last thread that leaves a pair closes it. */
static void leave_share(struct comparison *comparison, const struct diff_share *share)
{
    struct open_pair *open = share->open, **at = &comparison->first;
    if (--open->users || (open->next < open->end && !comparison->has_failed))
        return;
    while (*at != open)
        at = &(*at)->after;
    *at = open->after;
    forget_rest(open->pair);
    close_pair(open);
}

/* The main function of each thread. */
static void compare(void *context)
{
    struct comparison *comparison = context;
    struct diff_buffers buffers = {0};
    struct outcome outcome;
    struct diff_share share;
    pthread_mutex_lock(&comparison->lock);
    while (take_share(comparison, &share)) {
        pthread_mutex_unlock(&comparison->lock);
        compare_share(&share, &buffers, &outcome);
        pthread_mutex_lock(&comparison->lock);
        note_outcome(comparison, &share, &outcome);
        leave_share(comparison, &share);
    }
    pthread_cond_broadcast(&comparison->changed);
    pthread_mutex_unlock(&comparison->lock);
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        free(buffers.bytes[side]);
}

/* ---- All streams ---- */

/* Counts streams that open; nt_diff_streams reports the others. */
static uint64_t count_bytes(const struct nt_diff_run *run, const struct nt_stream_pair *pairs, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t least = UINT64_MAX, elements;
        struct nt_dtype dtype;
        for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
            const struct nt_diff_side *of = &run->sides[side];
            if (nt_field_stream_elements(of->reader, of->dataset, pairs[i].fields[side], pairs[i].kind,
                                         &elements, NULL) != NT_OK)
                elements = 0;
            least = elements < least ? elements : least;
        }
        nt_field_stream_dtype(run->sides[0].dataset, pairs[i].fields[0], pairs[i].kind, &dtype);
        total += least * dtype.bytes;
    }
    return total;
}

enum nt_status nt_diff_streams(struct nt_diff_run *run, struct nt_stream_pair *pairs, size_t count,
                               struct nt_error *error)
{
    struct comparison comparison = {.run = run, .pairs = pairs, .count = count};
    for (size_t i = 0; i < count; i++)
        pairs[i].first = NT_DIFF_NOWHERE;
    if (run->options->on_progress)
        comparison.total = count_bytes(run, pairs, count);
    pthread_mutex_init(&comparison.lock, NULL);
    pthread_cond_init(&comparison.changed, NULL);
    nt_workers_run_all(run->sides[0].reader->workers, compare, &comparison);
    for (struct open_pair *open = comparison.first, *after; open; open = after) { /* after a failure */
        after = open->after;
        close_pair(open);
    }
    pthread_cond_destroy(&comparison.changed);
    pthread_mutex_destroy(&comparison.lock);
    return comparison.has_failed ? nt_fail_memory(error) : NT_OK;
}

/* ---- Locate the first difference ---- */

enum { MAX_BYTES = 256, BYTES_BEFORE = 32 };

/* A row that differs; the buffers have the values of both sides. */
struct row_difference {
    struct nt_difference difference;
    struct nt_dtype dtypes[NT_DIFF_SIDES];
    struct nt_buffer bytes[NT_DIFF_SIDES];
};

/* The side that was read last, for the report of a failure. Then the row has no values. */
struct lookup {
    struct nt_diff_run *run;
    const uint32_t *fields;
    unsigned side; /* read last */
};

/* ---- Reading a few elements ---- */

static enum nt_status open_stream(struct lookup *lookup, unsigned side, uint32_t field,
                                  enum nt_stream_kind kind, struct nt_stream **stream_ret,
                                  struct nt_error *error)
{
    const struct nt_diff_side *of = &lookup->run->sides[side];
    lookup->side = side;
    return nt_stream_open(of->reader, of->dataset, field, kind, stream_ret, error);
}

static enum nt_status read_bytes(struct lookup *lookup, unsigned side, enum nt_stream_kind kind,
                                 uint64_t offset, size_t bytes, struct nt_buffer *out, struct nt_error *error)
{
    NT_CLEANUP(nt_stream_close_at) struct nt_stream *stream = NULL;
    NT_TRY(open_stream(lookup, side, lookup->fields[side], kind, &stream, error));
    uint8_t *output = nt_buffer_extend(out, bytes);
    NT_TRY(nt_check_memory(output, error));
    return nt_stream_read(stream, offset, output, bytes, error);
}

static enum nt_status read_element(struct lookup *lookup, enum nt_stream_kind kind, uint64_t element,
                                   struct row_difference *finding, struct nt_error *error)
{
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        const struct nt_diff_side *of = &lookup->run->sides[side];
        struct nt_dtype *dtype = &finding->dtypes[side];
        struct nt_buffer *bytes = &finding->bytes[side];
        nt_field_stream_dtype(of->dataset, lookup->fields[side], kind, dtype);
        NT_TRY(read_bytes(lookup, side, kind, element * dtype->bytes, dtype->bytes, bytes, error));
        finding->difference.values[side] = (struct nt_diff_value){
            .kind = NT_DIFF_ELEMENT, .dtype = dtype, .element = (uint8_t *)bytes->bytes};
    }
    return NT_OK;
}

/* The start and end of a row, in the unit of its offsets. */
static enum nt_status read_boundaries(struct lookup *lookup, unsigned side, uint64_t row,
                                      uint64_t boundaries[2], struct nt_error *error)
{
    NT_CLEANUP(nt_stream_close_at) struct nt_stream *stream = NULL;
    NT_TRY(open_stream(lookup, side, lookup->fields[side], NT_STREAM_OFFSETS, &stream, error));
    return nt_stream_read(stream, row * sizeof(*boundaries), boundaries, 2 * sizeof(*boundaries), error);
}

/* The row of a field of A that contains an item or byte: the last one that starts at or before it. */
static enum nt_status find_row(struct lookup *lookup, uint32_t field, uint64_t item, uint64_t *row_ret,
                               struct nt_error *error)
{
    NT_CLEANUP(nt_stream_close_at) struct nt_stream *stream = NULL;
    NT_TRY(open_stream(lookup, 0, field, NT_STREAM_OFFSETS, &stream, error));
    uint64_t first = 0, end = nt_stream_elements(stream);
    while (end - first > 1) {
        uint64_t middle = first + (end - first) / 2, begins;
        NT_TRY(nt_stream_read(stream, middle * sizeof(begins), &begins, sizeof(begins), error));
        if (begins <= item)
            first = middle;
        else
            end = middle;
    }
    *row_ret = first;
    return NT_OK;
}

/* ---- The entry ---- */

/* NT_DIFF_NOWHERE below variants and unreadable fields, and after an unreadable page. */
static enum nt_status find_entry(struct lookup *lookup, uint64_t row, uint64_t *entry_ret,
                                 struct nt_error *error)
{
    const struct nt_dataset *dataset = lookup->run->sides[0].dataset;
    uint32_t field = dataset->fields[lookup->fields[0]].parent;
    *entry_ret = NT_DIFF_NOWHERE;
    for (; field != NT_NONE; field = dataset->fields[field].parent) {
        if (nt_field_is_row_aligned(&dataset->fields[field])) {
            row /= nt_field_rows_below(&dataset->fields[field]);
            continue;
        }
        if (nt_field_kind_info(dataset->fields[field].kind)->below != NT_BELOW_INDEX)
            return NT_OK;
        enum nt_status status = find_row(lookup, field, row, &row, error);
        if (status != NT_OK)
            return nt_is_environmental(status) ? status : NT_OK;
    }
    *entry_ret = row;
    return NT_OK;
}

/* ---- Values ---- */

/* Reads texts, or parts around the first different byte that start at the same byte. */
static enum nt_status read_texts(struct lookup *lookup, uint64_t row, uint64_t differs_at,
                                 struct row_difference *finding, struct nt_error *error)
{
    const struct nt_field *field = &lookup->run->sides[0].dataset->fields[lookup->fields[0]];
    bool is_text = nt_field_kind_info(field->kind)->form == NT_FORM_TEXT;
    struct nt_difference *difference = &finding->difference;
    uint64_t boundaries[NT_DIFF_SIDES][2], least = UINT64_MAX, most = 0;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        NT_TRY(read_boundaries(lookup, side, row, boundaries[side], error));
        uint64_t length = boundaries[side][1] - boundaries[side][0];
        least = length < least ? length : least;
        most = length > most ? length : most;
    }
    uint64_t within = differs_at - boundaries[0][0];
    difference->byte = differs_at != NT_DIFF_NOWHERE && within < least ? within : least;
    uint64_t first =
        most > MAX_BYTES && difference->byte > BYTES_BEFORE ? difference->byte - BYTES_BEFORE : 0;
    difference->first_byte = most > MAX_BYTES ? first : NT_DIFF_NOWHERE;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        uint64_t count = nt_min(boundaries[side][1] - boundaries[side][0] - first, MAX_BYTES);
        NT_TRY(read_bytes(lookup, side, NT_STREAM_DATA, boundaries[side][0] + first, (size_t)count,
                          &finding->bytes[side], error));
        difference->values[side] = (struct nt_diff_value){
            .kind = is_text ? NT_DIFF_TEXT : NT_DIFF_BYTES,
            .text = {nt_buffer_string(&finding->bytes[side]), finding->bytes[side].length}};
    }
    return NT_OK;
}

/* Counts the items of the row on each side. */
static enum nt_status count_items(struct lookup *lookup, uint64_t row, struct row_difference *finding,
                                  struct nt_error *error)
{
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        uint64_t boundaries[2];
        NT_TRY(read_boundaries(lookup, side, row, boundaries, error));
        finding->difference.values[side] =
            (struct nt_diff_value){.kind = NT_DIFF_NUMBER, .number = boundaries[1] - boundaries[0]};
    }
    finding->difference.property = "items";
    return NT_OK;
}

/* ---- The first row ---- */

/* The row that an element of a stream belongs to. An end offset belongs to the row that ends there. */
static enum nt_status row_of(struct lookup *lookup, const struct nt_stream_pair *stream, uint64_t *row_ret,
                             struct nt_error *error)
{
    const struct nt_field *field = &lookup->run->sides[0].dataset->fields[stream->fields[0]];
    uint64_t elements = nt_field_row_elements(field);
    *row_ret = stream->first;
    if (stream->kind == NT_STREAM_OFFSETS)
        *row_ret = stream->first ? stream->first - 1 : 0;
    else if (stream->kind == NT_STREAM_DATA && nt_field_has_stream(field, NT_STREAM_OFFSETS))
        return find_row(lookup, stream->fields[0], stream->first, row_ret, error);
    else if (stream->kind == NT_STREAM_DATA && elements)
        *row_ret = stream->first / elements;
    return NT_OK;
}

static enum nt_status find_value(struct lookup *lookup, const struct nt_stream_pair *stream,
                                 uint64_t differs_at, struct row_difference *finding, struct nt_error *error)
{
    const struct nt_field *field = &lookup->run->sides[0].dataset->fields[stream->fields[0]];
    uint64_t row = finding->difference.row, elements = nt_field_row_elements(field);
    bool has_offsets = nt_field_has_stream(field, NT_STREAM_OFFSETS);
    if (stream->kind == NT_STREAM_VALID) {
        finding->difference.property = nt_stream_name(stream->kind);
        return read_element(lookup, stream->kind, stream->first, finding, error);
    }
    if (has_offsets && nt_field_has_stream(field, NT_STREAM_DATA))
        return read_texts(lookup, row, differs_at, finding, error);
    if (has_offsets)
        return count_items(lookup, row, finding, error);
    if (elements > 1)
        finding->difference.element = stream->first % elements;
    if (stream->kind != NT_STREAM_DATA)
        finding->difference.property = nt_stream_name(stream->kind);
    return read_element(lookup, stream->kind, stream->first, finding, error);
}

/* The stream with the first different row, or the first of several; NULL if none differs. */
static enum nt_status find_first(struct lookup *lookup, const struct nt_stream_pair *streams, size_t count,
                                 const struct nt_stream_pair **first_ret, struct row_difference *finding,
                                 struct nt_error *error)
{
    *first_ret = NULL;
    for (size_t i = 0; i < count; i++) {
        uint64_t row;
        if (streams[i].first == NT_DIFF_NOWHERE)
            continue;
        NT_TRY(row_of(lookup, &streams[i], &row, error));
        bool is_null = streams[i].kind == NT_STREAM_VALID && row == finding->difference.row;
        if (row >= finding->difference.row && !is_null)
            continue; /* a row that is null on one side is reported as such */
        finding->difference.row = row;
        *first_ret = &streams[i];
    }
    return NT_OK;
}

enum nt_status nt_diff_report_value(struct nt_diff_run *run, const struct nt_stream_pair *streams,
                                    size_t count, struct nt_error *error)
{
    struct lookup lookup = {.run = run, .fields = streams->fields};
    struct row_difference finding = {.difference = nt_difference(NT_DIFF_VALUES, "value", streams->fields)};
    const struct nt_stream_pair *first;
    uint64_t differs_at = NT_DIFF_NOWHERE; /* of a text: the byte within all texts */
    struct nt_error failure = {0};
    for (size_t i = 0; i < count; i++)
        if (streams[i].kind == NT_STREAM_DATA)
            differs_at = streams[i].first;
    enum nt_status status = find_first(&lookup, streams, count, &first, &finding, &failure);
    if (status == NT_OK && first)
        status = find_value(&lookup, first, differs_at, &finding, &failure);
    if (status == NT_OK && first)
        status = find_entry(&lookup, finding.difference.row, &finding.difference.entry, &failure);
    if (status == NT_OK && first)
        nt_diff_report(run, &finding.difference);
    else if (status != NT_OK && !nt_is_transient(status))
        nt_diff_report_failure(run, lookup.side, streams->fields[lookup.side], &failure);
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        nt_buffer_deinit(&finding.bytes[side]);
    return nt_is_transient(status) ? nt_fail_copy(error, &failure) : NT_OK;
}
