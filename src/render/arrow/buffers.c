/* SPDX-License-Identifier: MIT
 *
 * Reads any byte range of the buffers of a record batch, or decodes all of its buffers into memory, by
 * the calling thread and all workers. Without optionals and variants on the way, a buffer is a range of
 * a stream, and these ranges are read together. Otherwise rows of the stream are spread over the slots.
 */
#include "render/arrow/arrow.h"

/* ---- Streams of a table ---- */

enum nt_status nt_arrow_find_stream(const struct nt_arrow *arrow, uint32_t number,
                                    struct nt_stream **stream_ret, struct nt_error *error)
{
    struct nt_arrow_stream *lazy = &arrow->streams[number];
    struct nt_stream *stream = atomic_load_explicit(&lazy->opened, memory_order_acquire), *other = NULL;
    if (!stream) {
        NT_TRY(nt_stream_open(arrow->reader, arrow->dataset, lazy->field, lazy->kind, &stream, error));
        if (!atomic_compare_exchange_strong(&lazy->opened, &other, stream)) {
            nt_stream_close(stream); /* another thread opened it first */
            stream = other;
        }
    }
    *stream_ret = stream;
    return NT_OK;
}

enum nt_status nt_arrow_read_stream(const struct nt_arrow *arrow, uint32_t number, uint64_t offset,
                                    void *output, size_t bytes, struct nt_error *error)
{
    struct nt_stream *stream;
    NT_TRY(nt_arrow_find_stream(arrow, number, &stream, error));
    return nt_stream_read(stream, offset, output, bytes, error);
}

enum nt_status nt_arrow_equal_elements(const struct nt_arrow *arrow, uint32_t number, uint64_t element,
                                       uint64_t *count_ret, struct nt_error *error)
{
    struct nt_stream *stream;
    NT_TRY(nt_arrow_find_stream(arrow, number, &stream, error));
    *count_ret = nt_stream_run_length(stream, element);
    return NT_OK;
}

/* ---- Bytes of buffers ---- */

struct buffer_reader {
    const struct nt_arrow *arrow;
    const struct nt_arrow_body *body;
    uint32_t cluster;
    const struct nt_arrow_node *node;
    struct nt_error *error;
};

/* ---- One piece of a buffer ---- */

/* Spreads the first `rows` elements over the slots in place, from the end. Other slots become zero. */
static void spread(uint8_t *values, const struct nt_arrow_slots *slots, size_t element_bytes)
{
    if (!slots->marks)
        return;
    uint64_t row = slots->rows;
    for (uint64_t i = slots->count; i-- > 0;) {
        uint8_t *to = values + i * element_bytes;
        if (slots->marks[i] & NT_ARROW_SLOT_PRESENT)
            memmove(to, values + --row * element_bytes, element_bytes);
        if (slots->marks[i] != NT_ARROW_SLOT_VALID)
            memset(to, 0, element_bytes);
    }
}

/* Sets a bit for each value that is at least `least`. */
static void pack_bits(uint8_t *output, const uint8_t *values, uint64_t count, uint8_t least)
{
    uint64_t whole = count / 8;
    for (uint64_t i = 0; i < whole; i++) {
        uint8_t byte = 0;
        for (unsigned bit = 0; bit < 8; bit++)
            byte |= (uint8_t)((values[8 * i + bit] >= least) << bit);
        output[i] = byte;
    }
    if (count % 8)
        output[whole] = 0;
    for (uint64_t i = 8 * whole; i < count; i++)
        output[whole] |= (uint8_t)((values[i] >= least) << i % 8);
}

static enum nt_status piece_of_validity(const struct buffer_reader *reader,
                                        const struct nt_arrow_slots *slots, uint8_t *output)
{
    if (slots->marks) {
        pack_bits(output, slots->marks, slots->count, NT_ARROW_SLOT_VALID);
        return NT_OK;
    }
    memset(output, 0, (slots->count + 7) / 8);
    for (uint64_t i = 0; i < slots->count; i++)
        output[i / 8] |= (uint8_t)(1u << i % 8);
    return NT_OK;
}

static enum nt_status read_spread(const struct buffer_reader *reader, uint32_t stream,
                                  const struct nt_arrow_slots *slots, uint8_t *values)
{
    size_t bytes = reader->arrow->streams[stream].element_bytes;
    NT_TRY(nt_arrow_read_stream(reader->arrow, stream, slots->first_row * bytes, values, slots->rows * bytes,
                                reader->error));
    spread(values, slots, bytes);
    return NT_OK;
}

static enum nt_status piece_of_bools(const struct buffer_reader *reader, const struct nt_arrow_slots *slots,
                                     uint8_t *output)
{
    uint8_t values[NT_ARROW_PIECE_SLOTS];
    NT_TRY(read_spread(reader, reader->node->data, slots, values));
    pack_bits(output, values, slots->count, 1);
    return NT_OK;
}

static enum nt_status piece_of_values(const struct buffer_reader *reader, const struct nt_arrow_slots *slots,
                                      uint8_t *output)
{
    return read_spread(reader, reader->node->data, slots, output);
}

/* Returns the first item of a list, or byte of a string, in the batch. */
static uint64_t items_begin(const struct buffer_reader *reader)
{
    return nt_arrow_item_boundaries(reader->node)[reader->cluster];
}

/* Returns the number of items or bytes in the batch. */
static uint64_t items_in(const struct buffer_reader *reader)
{
    return nt_arrow_item_boundaries(reader->node)[reader->cluster + 1] - items_begin(reader);
}

static enum nt_status read_ends(const struct buffer_reader *reader, const struct nt_arrow_slots *slots,
                                uint64_t *ends)
{
    const struct nt_arrow_node *node = reader->node;
    if (node->texts)
        return nt_arrow_texts_before(reader->arrow, node->texts, slots->first_row, slots->rows + 1, ends,
                                     reader->error);
    return nt_arrow_read_stream(reader->arrow, node->offsets, slots->first_row * sizeof(*ends), ends,
                                (slots->rows + 1) * sizeof(*ends), reader->error);
}

/* Writes one offset more than `slots` has slots. */
static enum nt_status piece_of_offsets(const struct buffer_reader *reader, const struct nt_arrow_slots *slots,
                                       uint8_t *output)
{
    uint64_t begin = items_begin(reader), items = items_in(reader), row = 0;
    NT_AUTO_FREE uint64_t *ends = malloc((slots->rows + 1) * sizeof(*ends));
    NT_TRY(ends ? read_ends(reader, slots, ends) : nt_fail_memory(reader->error));
    for (uint64_t i = 0; i <= slots->count; i++) {
        if (i > 0 && (!slots->marks || slots->marks[i - 1] & NT_ARROW_SLOT_PRESENT))
            row++;
        uint64_t value = ends[row] - begin;
        if (value > items)
            return nt_fail_above(reader->error, NT_CORRUPT, NT_NO_OFFSET,
                                 "an offset into the items of a batch", items, value);
        uint32_t half = (uint32_t)value;
        if (reader->node->has_short_offsets)
            memcpy(output + i * sizeof(half), &half, sizeof(half));
        else
            memcpy(output + i * sizeof(value), &value, sizeof(value));
    }
    return NT_OK;
}

static enum nt_status piece_of_types(const struct buffer_reader *reader, const struct nt_arrow_slots *slots,
                                     uint8_t *output)
{
    uint32_t tags[NT_ARROW_PIECE_SLOTS];
    NT_TRY(read_spread(reader, reader->node->data, slots, (uint8_t *)tags));
    for (uint64_t i = 0; i < slots->count; i++)
        output[i] = (uint8_t)tags[i];
    return NT_OK;
}

/* Offsets are relative to the batch's part of each alternative. Those of the null child are 0. */
static enum nt_status piece_of_union_offsets(const struct buffer_reader *reader,
                                             const struct nt_arrow_slots *slots, uint8_t *output)
{
    const struct nt_arrow *arrow = reader->arrow;
    const struct nt_arrow_node *node = reader->node;
    NT_AUTO_FREE uint32_t *tags = malloc(NT_ARROW_PIECE_SLOTS * sizeof(*tags));
    NT_AUTO_FREE uint64_t *index = malloc(NT_ARROW_PIECE_SLOTS * sizeof(*index));
    uint64_t begins[INT8_MAX + 1] = {0}, counts[INT8_MAX + 1] = {0};
    NT_TRY(nt_check_memory(tags && index, reader->error));
    uint32_t child = (uint32_t)(node - arrow->nodes) + 1;
    for (uint32_t tag = 0; child < node->end; child = arrow->nodes[child].end, tag++)
        if (tag > 0) {
            begins[tag] = arrow->nodes[child].space_boundaries[reader->cluster];
            counts[tag] = reader->body->slots[child];
        }
    NT_TRY(read_spread(reader, node->data, slots, (uint8_t *)tags));
    NT_TRY(read_spread(reader, node->offsets, slots, (uint8_t *)index));
    for (uint64_t i = 0; i < slots->count; i++) {
        uint64_t value = tags[i] ? index[i] - begins[tags[i] & INT8_MAX] : 0;
        if (tags[i] && value >= counts[tags[i] & INT8_MAX])
            return nt_fail_below(reader->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                                 "rows of an alternative in a batch", value + 1, counts[tags[i] & INT8_MAX]);
        uint32_t offset = (uint32_t)value;
        memcpy(output + i * sizeof(offset), &offset, sizeof(offset));
    }
    return NT_OK;
}

/* ---- Any part of a buffer ---- */

struct piece_kind {
    enum nt_status (*make)(const struct buffer_reader *reader, const struct nt_arrow_slots *slots,
                           uint8_t *output);
    unsigned bits;        /* per slot in the buffer; 0: size of the node's element or offset */
    unsigned extra_slots; /* elements in addition to the slots */
    bool is_validity;
};

static const struct piece_kind *piece_kind(const struct buffer_reader *reader, enum nt_arrow_buffer_kind kind)
{
    static const struct piece_kind bools = {piece_of_bools, 1, 0, false};
    static const struct piece_kind kinds[] = {
        [NT_ARROW_VALIDITY] = {piece_of_validity, 1, 0, true},
        [NT_ARROW_OFFSETS] = {piece_of_offsets, 0, 1, false},
        [NT_ARROW_DATA] = {piece_of_values, 0, 0, false},
        [NT_ARROW_TYPES] = {piece_of_types, 8, 0, false},
        [NT_ARROW_UNION_OFFSETS] = {piece_of_union_offsets, 32, 0, false},
    };
    return reader->node->kind == NT_ARROW_BOOL && kind == NT_ARROW_DATA ? &bools : &kinds[kind];
}

/* Each piece has a multiple of 8 slots, so bits fill whole bytes. Large elements have fewer slots. */
static enum nt_status read_pieces(const struct buffer_reader *reader, const struct piece_kind *kind,
                                  uint64_t elements, uint64_t offset, uint8_t *output, size_t bytes)
{
    size_t bits = kind->bits          ? kind->bits
                  : kind->extra_slots ? 8 * nt_arrow_offset_bytes(reader->node)
                                      : 8 * (size_t)reader->node->dtype->bytes;
    size_t max_slots =
        bits <= 64 ? NT_ARROW_PIECE_SLOTS : (size_t)NT_ARROW_PIECE_SLOTS * 64 / bits / 8 * 8 + 8;
    NT_AUTO_FREE uint8_t *piece = malloc((max_slots * bits + 7) / 8);
    NT_TRY(nt_check_memory(piece, reader->error));
    while (bytes) {
        uint64_t first = (bits < 8 ? offset * 8 : offset / (bits / 8)) / 8 * 8;
        uint64_t count = nt_min(max_slots, elements - first);
        NT_CLEANUP(nt_arrow_slots_deinit) struct nt_arrow_slots slots = {0};
        NT_TRY(nt_arrow_resolve_slots(reader->arrow, reader->node, reader->cluster, kind->is_validity, first,
                                      count - kind->extra_slots, &slots, reader->error));
        NT_TRY(kind->make(reader, &slots, piece));
        uint64_t skip = offset - first * bits / 8, made = (count * bits + 7) / 8;
        size_t take = made - skip < bytes ? (size_t)(made - skip) : bytes;
        memcpy(output, piece + skip, take);
        output += take;
        offset += take;
        bytes -= take;
    }
    return NT_OK;
}

/* Computes the first row of a node if its steps skip no rows; else returns false. */
static bool find_first_row(const struct nt_arrow *arrow, const struct nt_arrow_node *node, uint32_t cluster,
                           uint64_t *row_ret)
{
    const struct nt_arrow_step *steps = nt_arrow_steps(arrow, node);
    *row_ret = nt_arrow_row_space_begin(arrow, node, cluster);
    for (uint32_t i = 0; i < node->step_count; i++) {
        if (steps[i].kind != NT_ARROW_STEP_SIZE)
            return false;
        *row_ret *= steps[i].size;
    }
    return true;
}

bool nt_arrow_find_run(const struct nt_arrow *arrow, const struct nt_arrow_body *body, uint32_t buffer,
                       struct nt_arrow_run *run_ret)
{
    enum nt_arrow_buffer_kind kind = arrow->buffers[buffer].kind;
    const struct nt_arrow_node *node = &arrow->nodes[arrow->buffers[buffer].node];
    *run_ret = (struct nt_arrow_run){.stream = node->data, .count = body->slots[arrow->buffers[buffer].node]};
    if (node->texts)
        return false;
    if (node->kind == NT_ARROW_BYTES && kind == NT_ARROW_DATA) {
        run_ret->first = node->byte_boundaries[body->cluster];
        run_ret->count = body->buffer_bytes[buffer];
        return true;
    }
    if (kind == NT_ARROW_OFFSETS) {
        run_ret->stream = node->offsets;
        run_ret->count++;
        run_ret->subtract = nt_arrow_item_boundaries(node)[body->cluster];
        run_ret->are_halved = node->has_short_offsets;
    } else if (node->kind != NT_ARROW_PRIMITIVE || kind != NT_ARROW_DATA) {
        return false;
    }
    return find_first_row(arrow, node, body->cluster, &run_ret->first);
}

enum nt_status nt_arrow_read_buffer(const struct nt_arrow *arrow, const struct nt_arrow_body *body,
                                    uint32_t buffer, uint64_t offset, uint8_t *output, size_t bytes,
                                    struct nt_error *error)
{
    uint32_t number = arrow->buffers[buffer].node;
    enum nt_arrow_buffer_kind kind = arrow->buffers[buffer].kind;
    const struct nt_arrow_node *node = &arrow->nodes[number];
    struct buffer_reader reader = {arrow, body, body->cluster, node, error};
    struct nt_arrow_run run;
    if (!bytes) /* binaries of no bytes have no stream */
        return NT_OK;
    if (kind == NT_ARROW_DATA && node->texts)
        return nt_arrow_texts_read(arrow, node->texts, items_begin(&reader) + offset, output, bytes, error);
    if (kind == NT_ARROW_DATA && nt_arrow_find_run(arrow, body, buffer, &run))
        return nt_arrow_read_stream(arrow, run.stream,
                                    run.first * arrow->streams[run.stream].element_bytes + offset, output,
                                    bytes, error);
    const struct piece_kind *piece = piece_kind(&reader, kind);
    return read_pieces(&reader, piece, body->slots[number] + piece->extra_slots, offset, output, bytes);
}

/* The final conversion of a decoded range. */
struct range_conversion {
    uint64_t subtract; /* from each offset */
    uint32_t *halves;  /* output of 32-bit offsets; nt_arrow_decode_body frees the 64-bit range. NULL: none */
};

struct body_decoder {
    const struct nt_arrow *arrow;
    const struct nt_arrow_body *body;
    void **memory;                       /* [buffer] */
    struct nt_stream_range *ranges;      /* [buffer] */
    struct range_conversion *finishings; /* [range] */
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

static enum nt_status add_range(struct body_decoder *decoder, const struct nt_arrow_run *run, void *output)
{
    struct nt_stream *stream;
    NT_TRY(nt_arrow_find_stream(decoder->arrow, run->stream, &stream, decoder->error));
    struct range_conversion conversion = {.subtract = run->subtract};
    if (run->are_halved) {
        conversion.halves = output;
        output = malloc(run->count * sizeof(uint64_t));
        NT_TRY(nt_check_memory(output, decoder->error));
    }
    decoder->finishings[decoder->range_count] = conversion;
    decoder->ranges[decoder->range_count++] = (struct nt_stream_range){
        .stream = stream, .first = run->first, .count = run->count, .output = output};
    return NT_OK;
}

/* Makes offsets relative to the batch. Fails if one exceeds 32 bits. */
static enum nt_status finish_range(const struct range_conversion *conversion,
                                   const struct nt_stream_range *range, struct nt_error *error)
{
    uint64_t *offsets = range->output;
    if (!conversion->halves) {
        for (uint64_t i = 0; i < range->count && conversion->subtract; i++)
            offsets[i] -= conversion->subtract;
        return NT_OK;
    }
    for (uint64_t i = 0; i < range->count; i++) {
        uint64_t offset = offsets[i] - conversion->subtract;
        if (offset > INT32_MAX)
            return nt_fail_above(error, NT_CORRUPT, NT_NO_OFFSET, "an offset of 32 bits", INT32_MAX, offset);
        conversion->halves[i] = (uint32_t)offset;
    }
    return NT_OK;
}

/* ---- Other buffers ---- */

/* Run by several threads at once. */
static void make_pieced(void *context)
{
    struct body_decoder *decoder = context;
    for (uint32_t number; (number = decoder->next++) < decoder->pieced_count;) {
        uint32_t buffer = decoder->pieced[number];
        struct nt_error failure = {0};
        if (nt_arrow_read_buffer(decoder->arrow, decoder->body, buffer, 0, decoder->memory[buffer],
                                 (size_t)decoder->body->buffer_bytes[buffer], &failure) == NT_OK)
            continue;
        pthread_mutex_lock(&decoder->lock);
        if (decoder->failure.status == NT_OK || number < decoder->failed) {
            decoder->failed = number;
            decoder->failure = failure;
        }
        pthread_mutex_unlock(&decoder->lock);
    }
}

static enum nt_status read_pieced(struct body_decoder *decoder)
{
    if (!decoder->pieced_count)
        return NT_OK;
    if (pthread_mutex_init(&decoder->lock, NULL))
        return nt_fail_memory(decoder->error);
    nt_workers_run_all(decoder->arrow->reader->workers, make_pieced, decoder);
    pthread_mutex_destroy(&decoder->lock);
    return decoder->failure.status == NT_OK ? NT_OK : nt_fail_copy(decoder->error, &decoder->failure);
}

/* ---- All buffers ---- */

/* A validity buffer without bytes means "no nulls" and is NULL; all other buffers are not NULL. */
static enum nt_status add_buffer(struct body_decoder *decoder, uint32_t buffer)
{
    uint64_t bytes = decoder->body->buffer_bytes[buffer];
    struct nt_arrow_run run;
    if (bytes == 0 && decoder->arrow->buffers[buffer].kind == NT_ARROW_VALIDITY)
        return NT_OK;
    if (bytes > SIZE_MAX / 2)
        return nt_fail_memory(decoder->error);
    size_t room = ((size_t)bytes / NT_ARROW_ALIGNMENT + 1) * NT_ARROW_ALIGNMENT;
    uint8_t *memory = aligned_alloc(NT_ARROW_ALIGNMENT, room);
    NT_TRY(nt_check_memory(memory, decoder->error));
    memset(memory + bytes, 0, room - (size_t)bytes);
    decoder->memory[buffer] = memory;
    if (nt_arrow_find_run(decoder->arrow, decoder->body, buffer, &run))
        return add_range(decoder, &run, memory);
    decoder->pieced[decoder->pieced_count++] = buffer;
    return NT_OK;
}

enum nt_status nt_arrow_decode_body(const struct nt_arrow *arrow, struct nt_arrow_body *body, void **memory,
                                    struct nt_error *error)
{
    struct body_decoder decoder = {.arrow = arrow, .body = body, .memory = memory, .error = error};
    size_t most = (size_t)arrow->buffer_count + 1;
    decoder.ranges = calloc(most, sizeof(*decoder.ranges));
    decoder.finishings = calloc(most, sizeof(*decoder.finishings));
    decoder.pieced = calloc(most, sizeof(*decoder.pieced));
    enum nt_status status =
        decoder.ranges && decoder.finishings && decoder.pieced ? NT_OK : nt_fail_memory(error);
    for (uint32_t i = 0; i < arrow->buffer_count && status == NT_OK; i++)
        status = add_buffer(&decoder, i);
    if (status == NT_OK)
        status = read_pieced(&decoder);
    if (status == NT_OK)
        status = nt_streams_read_elements(decoder.ranges, decoder.range_count, error);
    for (uint32_t i = 0; i < decoder.range_count && status == NT_OK; i++)
        status = finish_range(&decoder.finishings[i], &decoder.ranges[i], error);
    for (uint32_t i = 1; i < arrow->node_count && status == NT_OK; i++) {
        if (body->null_counts[i] != NT_ARROW_UNCOUNTED)
            continue;
        const uint8_t *bits = body->slots[i] ? memory[arrow->nodes[i].first_buffer] : NULL;
        body->null_counts[i] = body->slots[i];
        for (uint64_t k = 0; k < (body->slots[i] + 7) / 8; k++)
            body->null_counts[i] -= (uint64_t)__builtin_popcount(bits[k]);
    }
    for (uint32_t i = 0; i < decoder.range_count; i++)
        if (decoder.finishings[i].halves)
            free(decoder.ranges[i].output);
    free(decoder.ranges);
    free(decoder.finishings);
    free(decoder.pieced);
    return status;
}
