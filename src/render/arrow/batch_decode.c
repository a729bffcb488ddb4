/* SPDX-License-Identifier: MIT
 *
 * Decodes all buffers of a record batch into memory, by the calling thread and all workers. Buffers that
 * are ranges of streams are read together; the others are made one by one.
 */
#include "render/arrow/arrow.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "read/read.h"

/* The final conversion of a decoded range. */
struct finishing {
    uint64_t subtract; /* from each offset */
    uint32_t *halves;  /* output of 32-bit offsets; nt_arrow_decode_body frees the 64-bit range. NULL: none */
};

struct decoding {
    const struct nt_arrow *arrow;
    const struct nt_arrow_body *body;
    void **memory;                  /* [buffer] */
    struct nt_stream_range *ranges; /* [buffer] */
    struct finishing *finishings;   /* [range] */
    uint32_t range_count;
    uint32_t *pieced; /* [buffer]: the buffers that are no ranges */
    uint32_t pieced_count;
    _Atomic uint32_t next; /* of them */
    pthread_mutex_t lock;  /* of the first failure: */
    uint32_t failed;       /* index into `pieced` */
    struct nt_error failure;
    struct nt_error *error;
};

/* ---- Ranges of streams ---- */

static enum nt_status add_range(struct decoding *decoding, const struct nt_arrow_run *run, void *output)
{
    struct nt_stream *stream;
    enum nt_status status = nt_arrow_find_stream(decoding->arrow, run->stream, &stream, decoding->error);
    if (status != NT_OK)
        return status;
    struct finishing finishing = {.subtract = run->subtract};
    if (run->are_halved) {
        finishing.halves = output;
        output = malloc(run->count * sizeof(uint64_t));
        if (!output)
            return nt_fail_memory(decoding->error);
    }
    decoding->finishings[decoding->range_count] = finishing;
    decoding->ranges[decoding->range_count++] = (struct nt_stream_range){
        .stream = stream, .first = run->first, .count = run->count, .output = output};
    return NT_OK;
}

/* Makes offsets relative to the batch. Fails if one exceeds 32 bits. */
static enum nt_status finish_range(const struct finishing *finishing, const struct nt_stream_range *range,
                                   struct nt_error *error)
{
    uint64_t *offsets = range->output;
    if (!finishing->halves) {
        for (uint64_t i = 0; i < range->count && finishing->subtract; i++)
            offsets[i] -= finishing->subtract;
        return NT_OK;
    }
    for (uint64_t i = 0; i < range->count; i++) {
        uint64_t offset = offsets[i] - finishing->subtract;
        if (offset > INT32_MAX)
            return nt_fail_above(error, NT_CORRUPT, NT_NO_OFFSET, "an offset of 32 bits", INT32_MAX, offset);
        finishing->halves[i] = (uint32_t)offset;
    }
    return NT_OK;
}

static enum nt_status read_ranges(struct decoding *decoding)
{
    enum nt_status status =
        nt_streams_read_elements(decoding->ranges, decoding->range_count, decoding->error);
    for (uint32_t i = 0; i < decoding->range_count && status == NT_OK; i++)
        status = finish_range(&decoding->finishings[i], &decoding->ranges[i], decoding->error);
    return status;
}

/* ---- Other buffers ---- */

static void note_failure(struct decoding *decoding, uint32_t number, const struct nt_error *failure)
{
    pthread_mutex_lock(&decoding->lock);
    if (decoding->failure.status == NT_OK || number < decoding->failed) {
        decoding->failed = number;
        decoding->failure = *failure;
    }
    pthread_mutex_unlock(&decoding->lock);
}

/* Run by several threads at once. */
static void make_pieced(void *context)
{
    struct decoding *decoding = context;
    for (uint32_t number; (number = decoding->next++) < decoding->pieced_count;) {
        uint32_t buffer = decoding->pieced[number];
        struct nt_error failure = {0};
        if (nt_arrow_read_buffer(decoding->arrow, decoding->body, buffer, 0, decoding->memory[buffer],
                                 (size_t)decoding->body->buffer_bytes[buffer], &failure) != NT_OK)
            note_failure(decoding, number, &failure);
    }
}

static enum nt_status read_pieced(struct decoding *decoding)
{
    if (!decoding->pieced_count)
        return NT_OK;
    if (pthread_mutex_init(&decoding->lock, NULL))
        return nt_fail_memory(decoding->error);
    nt_workers_run_all(decoding->arrow->reader->workers, make_pieced, decoding);
    pthread_mutex_destroy(&decoding->lock);
    return decoding->failure.status == NT_OK ? NT_OK : nt_fail_with(decoding->error, &decoding->failure);
}

/* ---- All buffers ---- */

/* A validity buffer without bytes means "no nulls" and is NULL; all other buffers are not NULL. */
static enum nt_status add_buffer(struct decoding *decoding, uint32_t buffer)
{
    uint64_t bytes = decoding->body->buffer_bytes[buffer];
    struct nt_arrow_run run;
    if (bytes == 0 && decoding->arrow->buffers[buffer].kind == NT_ARROW_VALIDITY)
        return NT_OK;
    if (bytes > SIZE_MAX / 2)
        return nt_fail_memory(decoding->error);
    size_t room = ((size_t)bytes / NT_ARROW_ALIGNMENT + 1) * NT_ARROW_ALIGNMENT;
    uint8_t *memory = aligned_alloc(NT_ARROW_ALIGNMENT, room);
    if (!memory)
        return nt_fail_memory(decoding->error);
    memset(memory + bytes, 0, room - (size_t)bytes);
    decoding->memory[buffer] = memory;
    if (nt_arrow_find_run(decoding->arrow, decoding->body, buffer, &run))
        return add_range(decoding, &run, memory);
    decoding->pieced[decoding->pieced_count++] = buffer;
    return NT_OK;
}

/* Counts nulls in a bitmap. */
static uint64_t count_zeros(const uint8_t *bits, uint64_t slots)
{
    uint64_t ones = 0;
    for (uint64_t i = 0; i < (slots + 7) / 8; i++)
        ones += (uint64_t)__builtin_popcount(bits[i]);
    return slots - ones;
}

static void count_nulls(const struct nt_arrow *arrow, struct nt_arrow_body *body, void *const *memory)
{
    for (uint32_t i = 1; i < arrow->node_count; i++)
        if (body->null_counts[i] == NT_ARROW_UNCOUNTED)
            body->null_counts[i] =
                body->slots[i] ? count_zeros(memory[arrow->nodes[i].first_buffer], body->slots[i]) : 0;
}

enum nt_status nt_arrow_decode_body(const struct nt_arrow *arrow, struct nt_arrow_body *body, void **memory,
                                    struct nt_error *error)
{
    struct decoding decoding = {.arrow = arrow, .body = body, .memory = memory, .error = error};
    size_t most = (size_t)arrow->buffer_count + 1;
    decoding.ranges = calloc(most, sizeof(*decoding.ranges));
    decoding.finishings = calloc(most, sizeof(*decoding.finishings));
    decoding.pieced = calloc(most, sizeof(*decoding.pieced));
    enum nt_status status =
        decoding.ranges && decoding.finishings && decoding.pieced ? NT_OK : nt_fail_memory(error);
    for (uint32_t i = 0; i < arrow->buffer_count && status == NT_OK; i++)
        status = add_buffer(&decoding, i);
    if (status == NT_OK)
        status = read_pieced(&decoding);
    if (status == NT_OK)
        status = read_ranges(&decoding);
    if (status == NT_OK)
        count_nulls(arrow, body, memory);
    for (uint32_t i = 0; i < decoding.range_count; i++)
        if (decoding.finishings[i].halves)
            free(decoding.ranges[i].output);
    free(decoding.ranges);
    free(decoding.finishings);
    free(decoding.pieced);
    return status;
}
