/* SPDX-License-Identifier: MIT
 *
 * In: pairs of streams. Out: of each the first element that differs. Threads take shares of the pair at hand; one that
 * finds none opens the next pair. So few streams are open at once, however many fields there are, and a large one is
 * everybody's work. Shares are taken in order: what lies behind the first difference is not read, unless it is already
 * being read, and then it is not told.
 */
#include "tools/diff_values.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "read/page.h"
#include "read/reader.h"
#include "read/stream.h"
#include "read/workers.h"

enum { SHARE_BYTES = 1 << 20 };

/* A pair that is being compared. */
struct open_pair {
    struct nt_stream_pair *pair;
    struct nt_stream *streams[NT_DIFF_SIDES];
    uint64_t next, end; /* elements that nobody has taken */
    uint32_t element_bytes;
    unsigned users;
    struct open_pair *behind;
};

struct comparison {
    struct nt_diffing *diffing;
    struct nt_stream_pair *pairs;
    size_t count;
    uint64_t total;       /* bytes, for the progress that is told */
    pthread_mutex_t lock; /* from here on */
    uint64_t bytes;
    pthread_cond_t changed;
    size_t next;      /* the next pair to be opened */
    unsigned opening; /* threads that are about to open one */
    struct open_pair *first;
    bool has_failed; /* without memory */
};

/* What a thread reads into. */
struct buffers {
    uint8_t *bytes[NT_DIFF_SIDES];
    size_t capacity;
};

struct share {
    struct open_pair *open;
    uint64_t first, count;
};

/* What came of a share. */
struct outcome {
    uint64_t first; /* NT_DIFF_NOWHERE: all are equal */
    enum nt_status statuses[NT_DIFF_SIDES];
    struct nt_error errors[NT_DIFF_SIDES];
};

/* ---- results ---- */

static void note_failure(struct comparison *comparison, struct nt_stream_pair *pair, unsigned side,
                         uint64_t at, const struct nt_error *error)
{
    if (pair->failures[side] && pair->failed_at[side] <= at)
        return;
    if (!pair->failures[side])
        pair->failures[side] = malloc(sizeof(*pair->failures[side]));
    if (pair->failures[side])
        *pair->failures[side] = *error;
    comparison->has_failed |= !pair->failures[side] || nt_is_passing_failure(error->status);
    pair->failed_at[side] = at;
}

static void tell_progress(struct comparison *comparison, uint64_t bytes)
{
    const struct nt_diff_options *options = comparison->diffing->options;
    comparison->bytes += bytes;
    if (options->on_progress)
        options->on_progress(options->context, comparison->bytes, comparison->total);
}

/* Locked. */
static void note_outcome(struct comparison *comparison, const struct share *share,
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
    tell_progress(comparison, share->count * open->element_bytes);
}

static void forget_failure(struct nt_stream_pair *pair, unsigned side)
{
    free(pair->failures[side]);
    pair->failures[side] = NULL;
}

/* Whether another thread was already behind the first difference is chance: what it met there is not told. */
static void forget_what_lies_behind(struct nt_stream_pair *pair)
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

/* ---- one share ---- */

static bool has_room(struct buffers *buffers, size_t bytes)
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

static void compare_share(const struct share *share, struct buffers *buffers, struct outcome *outcome)
{
    const struct open_pair *open = share->open;
    size_t bytes = (size_t)(share->count * open->element_bytes);
    *outcome = (struct outcome){.first = NT_DIFF_NOWHERE};
    if (!has_room(buffers, bytes)) {
        outcome->statuses[0] = nt_fail_memory(&outcome->errors[0]);
        return;
    }
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        outcome->statuses[side] = nt_stream_produce(open->streams[side], share->first, share->count,
                                                    buffers->bytes[side], &outcome->errors[side]);
    if (outcome->statuses[0] != NT_OK || outcome->statuses[1] != NT_OK)
        return;
    size_t at = first_difference(buffers->bytes[0], buffers->bytes[1], bytes);
    if (at < bytes)
        outcome->first = share->first + at / open->element_bytes;
}

/* ---- opening and sharing ---- */

static void close_pair(struct open_pair *open)
{
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        nt_stream_close(open->streams[side]);
    free(open);
}

/* Elements that a pair has on both sides; 0 where a side does not open, which is noted. */
static void open_streams(struct comparison *comparison, struct open_pair *open, struct outcome *outcome)
{
    struct nt_stream_pair *pair = open->pair;
    *outcome = (struct outcome){.first = NT_DIFF_NOWHERE};
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        const struct nt_diff_side *of = &comparison->diffing->sides[side];
        outcome->statuses[side] = nt_stream_open(of->reader, of->dataset, pair->fields[side], pair->kind,
                                                 &open->streams[side], &outcome->errors[side]);
        if (outcome->statuses[side] == NT_OK)
            pair->elements[side] = nt_stream_elements(open->streams[side]);
    }
    if (outcome->statuses[0] != NT_OK || outcome->statuses[1] != NT_OK)
        return;
    open->element_bytes = nt_stream_element_bytes(open->streams[0]);
    open->end = pair->elements[0] < pair->elements[1] ? pair->elements[0] : pair->elements[1];
}

/* Open the next pair, of which there is one. Locked, but not meanwhile. */
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
        open->behind = comparison->first;
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
        open = open->behind;
    return open;
}

/* Locked. False where nothing is left to be done. */
static bool take_share(struct comparison *comparison, struct share *share)
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
    uint64_t most = SHARE_BYTES / open->element_bytes, left = open->end - open->next;
    most = most ? most : 1;
    *share = (struct share){open, open->next, left < most ? left : most};
    open->next += share->count;
    open->users++;
    return true;
}

/* Locked. The last one who leaves a pair closes it. */
static void leave_share(struct comparison *comparison, const struct share *share)
{
    struct open_pair *open = share->open, **at = &comparison->first;
    if (--open->users || (open->next < open->end && !comparison->has_failed))
        return;
    while (*at != open)
        at = &(*at)->behind;
    *at = open->behind;
    forget_what_lies_behind(open->pair);
    close_pair(open);
}

/* What each thread does. */
static void compare(void *context)
{
    struct comparison *comparison = context;
    struct buffers buffers = {0};
    struct outcome outcome;
    struct share share;
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

/* ---- all ---- */

/* Of streams that open; what does not is told later. */
static uint64_t count_bytes(const struct nt_diffing *diffing, const struct nt_stream_pair *pairs,
                            size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t least = UINT64_MAX, elements;
        struct nt_dtype dtype;
        for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
            const struct nt_diff_side *of = &diffing->sides[side];
            if (nt_field_stream_elements(of->reader, of->dataset, pairs[i].fields[side], pairs[i].kind,
                                         &elements, NULL) != NT_OK)
                elements = 0;
            least = elements < least ? elements : least;
        }
        nt_field_stream_dtype(diffing->sides[0].dataset, pairs[i].fields[0], pairs[i].kind, &dtype);
        total += least * dtype.bytes;
    }
    return total;
}

enum nt_status nt_diff_streams(struct nt_diffing *diffing, struct nt_stream_pair *pairs, size_t count,
                               struct nt_error *error)
{
    struct comparison comparison = {.diffing = diffing, .pairs = pairs, .count = count};
    for (size_t i = 0; i < count; i++)
        pairs[i].first = NT_DIFF_NOWHERE;
    if (diffing->options->on_progress)
        comparison.total = count_bytes(diffing, pairs, count);
    pthread_mutex_init(&comparison.lock, NULL);
    pthread_cond_init(&comparison.changed, NULL);
    nt_workers_together(diffing->sides[0].reader->workers, compare, &comparison);
    for (struct open_pair *open = comparison.first, *behind; open; open = behind) { /* after a failure */
        behind = open->behind;
        close_pair(open);
    }
    pthread_cond_destroy(&comparison.changed);
    pthread_mutex_destroy(&comparison.lock);
    return comparison.has_failed ? nt_fail_memory(error) : NT_OK;
}
