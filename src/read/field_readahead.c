/* SPDX-License-Identifier: MIT
 *
 * Readahead across fields: a reader that reads one field after the other to its end, as a copy of the tree
 * does, finds the next ones requested. One that lists their sizes finds their page lists requested. Without
 * it each small field costs a server's round trip or more.
 */
#include "read/read.h"

/* Fewer fields are no sequence. A reader of one may omit some, or read a field after those below it. */
enum { SEQUENCE_FIELDS = 4, NEAR_FIELDS = 8 };
/* Page lists are short. So few fields show that a program lists many. */
enum { SIZED_FIELDS = 3 };
/* How many are requested at once: twice as many each time. Together they have at most the bytes that were
 * read before. */
enum { FIRST_FIELDS = 8, MAX_FIELDS = 256, MIN_BYTES = 128 << 10, MAX_BYTES = 8 << 20 };

/* Fields to request, and how many of their bytes. */
struct field_request {
    uint32_t first, count; /* ranks */
    uint64_t bytes;
};

/* Fields whose sizes depend on page lists, in any order: programs list names in theirs. */
struct sized_fields {
    uint32_t length, last;         /* how many, and the rank of the last one */
    uint32_t first, requested;     /* ranks: those requested, around the end of all */
    uint32_t at_once, before_next; /* by the last request; of these, until the next request */
    bool is_busy;
};

struct nt_field_sequence {
    struct nt_lock lock;
    uint32_t *order; /* fields of the tree, each before those below it */
    uint32_t *ranks; /* [field]: its position in `order`; NT_NONE: it is not there */
    uint32_t count;
    uint32_t length, last; /* fields read in the sequence, and the rank of the last one */
    uint64_t bytes;        /* of these fields */
    uint32_t requested;    /* fields, by the last request */
    uint32_t end, due; /* ranks: the end of what is requested, and the field that causes the next request */
    bool is_busy;      /* a thread executes this: */
    struct field_request request;
    struct sized_fields sized;
};

/* ---- The fields in order ---- */

static void add_below(struct nt_field_sequence *sequence, const struct nt_dataset *dataset, uint32_t parent)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, parent, &count);
    for (uint32_t i = 0; i < count; i++) {
        sequence->ranks[children[i]] = sequence->count;
        sequence->order[sequence->count++] = children[i];
        add_below(sequence, dataset, children[i]);
    }
}

void nt_field_sequence_free(struct nt_field_sequence *sequence)
{
    if (!sequence)
        return;
    nt_lock_deinit(&sequence->lock);
    free(sequence->order);
    free(sequence->ranks);
    free(sequence);
}

static struct nt_field_sequence *new_sequence(const struct nt_dataset *dataset)
{
    struct nt_field_sequence *sequence = calloc(1, sizeof(*sequence));
    size_t bytes = ((size_t)dataset->field_count + 1) * sizeof(*sequence->order);
    if (!sequence || nt_lock_init(&sequence->lock, NULL) != 0) {
        free(sequence);
        return NULL;
    }
    sequence->order = malloc(bytes);
    sequence->ranks = malloc(bytes);
    if (!sequence->order || !sequence->ranks) {
        nt_field_sequence_free(sequence);
        return NULL;
    }
    for (uint32_t i = 0; i < dataset->field_count; i++)
        sequence->ranks[i] = NT_NONE;
    add_below(sequence, dataset, NT_NONE);
    return sequence;
}

/* NULL without memory, and if nothing is requested across the dataset's fields: opening a stream of a
 * selection can read other streams. */
static struct nt_field_sequence *sequence_of(const struct nt_reader *reader, const struct nt_dataset *dataset)
{
    bool is_useful = nt_prefetch_helps(dataset) && !dataset->selection && !dataset->file->resolve;
    struct nt_dataset_index *index = is_useful ? nt_dataset_index_get(reader->indexes, dataset) : NULL;
    struct nt_field_sequence *found = index ? atomic_load(&index->sequence) : NULL;
    struct nt_field_sequence *made = index && !found ? new_sequence(dataset) : NULL;
    if (!made)
        return found;
    if (atomic_compare_exchange_strong(&index->sequence, &found, made))
        return made;
    nt_field_sequence_free(made);
    return found;
}

static uint32_t next_count(uint32_t requested)
{
    return requested ? nt_min(2 * requested, MAX_FIELDS) : FIRST_FIELDS;
}

/* ---- Fields that are read ---- */

/* Notes that a field was read. True if sequence->request is to be executed now. */
static bool note_read(struct nt_field_sequence *sequence, uint32_t rank, uint64_t bytes)
{
    sequence->sized.length = 0; /* sizes were needed to read values */
    uint32_t distance = rank > sequence->last ? rank - sequence->last : sequence->last - rank;
    if (sequence->length == 0 || distance > NEAR_FIELDS) {
        sequence->length = 1;
        sequence->bytes = sequence->requested = sequence->end = sequence->due = 0;
        sequence->last = rank;
    } else if (rank > sequence->last) {
        sequence->length++;
        sequence->last = rank;
    }
    sequence->bytes += bytes;
    if (sequence->length < SEQUENCE_FIELDS || sequence->last < sequence->due || sequence->is_busy)
        return false;
    struct field_request *request = &sequence->request;
    request->first = sequence->last + 1 > sequence->end ? sequence->last + 1 : sequence->end;
    request->count = nt_min(sequence->count - request->first, next_count(sequence->requested));
    request->bytes = sequence->bytes < MIN_BYTES ? MIN_BYTES : sequence->bytes;
    return sequence->is_busy = request->count > 0;
}

/* Adds what the streams of a field need. */
static enum nt_status add_field(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                uint64_t most, struct nt_prefetch *prefetch)
{
    enum nt_status status = NT_OK;
    for (enum nt_stream_kind kind = 0; kind < NT_STREAM_COUNT && !nt_is_environmental(status); kind++) {
        struct nt_stream *stream;
        struct nt_error unused;
        if (!nt_field_has_stream(&dataset->fields[field], kind) || prefetch->bytes >= most)
            continue;
        status = nt_stream_open(reader, dataset, field, kind, &stream, &unused);
        if (status != NT_OK)
            continue;
        nt_stream_prefetch(stream, prefetch, 0, nt_stream_elements(stream), most - prefetch->bytes);
        nt_stream_close(stream);
    }
    return status;
}

/* Requests the fields in order, as far as the bytes go. Returns how many. */
static uint32_t request_fields(struct nt_reader *reader, struct nt_dataset *dataset,
                               const struct nt_field_sequence *sequence)
{
    const struct field_request *request = &sequence->request;
    const uint32_t *fields = sequence->order + request->first;
    uint64_t most =
        nt_min(request->bytes, nt_min(nt_source_spare_bytes(dataset->sources[0], true), MAX_BYTES));
    struct nt_prefetch prefetch = {.need = NT_PREFETCH_SOON};
    enum nt_status status = NT_OK;
    uint32_t done = 0;
    nt_fields_announce(dataset, fields, request->count);
    while (done < request->count && prefetch.bytes < most && !nt_is_environmental(status))
        status = add_field(reader, dataset, fields[done++], most, &prefetch);
    nt_prefetch_submit(&prefetch);
    return done;
}

/* A job of a worker: page lists may have to be awaited. */
static void execute_request(const struct nt_worker_job *job)
{
    struct nt_field_sequence *sequence = sequence_of(job->reader, job->dataset);
    uint32_t done = sequence ? request_fields(job->reader, job->dataset, sequence) : 0;
    if (!sequence)
        return;
    nt_lock_acquire(&sequence->lock);
    sequence->requested = done;
    sequence->end = sequence->request.first + done;
    sequence->due = sequence->request.first + done / 2;
    sequence->is_busy = false;
    nt_lock_release(&sequence->lock);
}

void nt_field_was_read(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field, uint64_t bytes)
{
    struct nt_field_sequence *sequence = sequence_of(reader, dataset);
    const struct nt_worker_job job = {.run = execute_request, .reader = reader, .dataset = dataset};
    if (!sequence || sequence->ranks[field] == NT_NONE)
        return;
    nt_lock_acquire(&sequence->lock);
    bool is_due = note_read(sequence, sequence->ranks[field], bytes);
    nt_lock_release(&sequence->lock);
    if (is_due && !nt_workers_queue(reader->workers, &job))
        execute_request(&job);
}

/* ---- Fields whose sizes are listed ---- */

/* Notes that the page lists of a field are needed. True if those of others are to be requested now. */
static bool note_size(struct nt_field_sequence *sequence, uint32_t rank, struct field_request *request)
{
    struct sized_fields *sized = &sequence->sized;
    const uint32_t count = sequence->count;
    if (sized->length && rank == sized->last)
        return false;
    sized->length++;
    sized->last = rank;
    if (!sized->requested)
        sized->first = rank;
    bool is_requested = (rank + count - sized->first) % count < sized->requested;
    if (is_requested && sized->before_next)
        sized->before_next--;
    if (sized->length < SIZED_FIELDS || (is_requested && sized->before_next) || sized->requested == count)
        return false;
    request->first = (sized->first + sized->requested) % count;
    request->count = nt_min(next_count(sized->at_once), count - sized->requested);
    request->count = nt_min(request->count, count - request->first);
    return !sized->is_busy && (sized->is_busy = true);
}

/* Requests the lists of fields in order, as far as few bytes go. Returns of how many. */
static uint32_t request_lists(struct nt_dataset *dataset, const uint32_t *fields, uint32_t count)
{
    enum { MAX_RANGES = 4096 };
    struct nt_prefetch prefetch = {.need = NT_PREFETCH_NOW};
    uint32_t done = 0;
    nt_fields_announce(dataset, fields, count);
    while (done < count && prefetch.count < MAX_RANGES && prefetch.bytes < MAX_BYTES)
        nt_groups_plan(dataset, nt_groups_of_field(dataset, fields[done++]), false, &prefetch);
    nt_prefetch_submit(&prefetch);
    return done;
}

void nt_field_is_sized(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field)
{
    /* Else all fields share their page lists. */
    struct nt_field_sequence *sequence = dataset->field_groups ? sequence_of(reader, dataset) : NULL;
    struct field_request request;
    if (!sequence || sequence->ranks[field] == NT_NONE)
        return;
    nt_lock_acquire(&sequence->lock);
    bool is_due = note_size(sequence, sequence->ranks[field], &request);
    nt_lock_release(&sequence->lock);
    if (!is_due)
        return;
    uint32_t done = request_lists(dataset, sequence->order + request.first, request.count);
    nt_lock_acquire(&sequence->lock);
    sequence->sized.requested += done;
    sequence->sized.at_once = done;
    sequence->sized.before_next = done / 2;
    sequence->sized.is_busy = false;
    nt_lock_release(&sequence->lock);
}
