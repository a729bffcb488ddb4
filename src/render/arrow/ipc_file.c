/* SPDX-License-Identifier: MIT
 *
 * The Arrow IPC file: magic, schema message, record batches and footer. The metadata of a batch has a
 * fixed size; each read generates it again.
 */
#include "render/arrow/arrow.h"

#include "core/base/abi.h"

enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_LENGTH };
enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION };
enum { COMPRESSION_CODEC, COMPRESSION_METHOD };
enum { FOOTER_VERSION, FOOTER_SCHEMA, FOOTER_DICTIONARIES, FOOTER_BATCHES };
enum { METADATA_V5 = 4, HEADER_SCHEMA = 1, HEADER_RECORD_BATCH = 3 };

static const char magic[] = "ARROW1";

/* ---- Messages ---- */

/* Begins a message: a continuation marker and the metadata length. Bodies start at multiples of 64. */
static size_t begin_message(struct nt_buffer *out)
{
    nt_buffer_le32(out, UINT32_MAX);
    size_t length_offset = out->length;
    nt_buffer_le32(out, 0);
    return length_offset;
}

static void end_message(struct nt_buffer *out, size_t length_offset, uint64_t bytes)
{
    nt_buffer_align(out, NT_ARROW_ALIGNMENT);
    while (!out->failed && out->length < bytes)
        nt_buffer_append_byte(out, 0);
    if (out->failed)
        return;
    size_t length = out->length - length_offset - 4;
    for (unsigned i = 0; i < 4; i++)
        out->bytes[length_offset + i] = (char)(length >> 8 * i);
}

static struct nt_flatbuffer_fields write_message_table(struct nt_buffer *out, unsigned header_type,
                                                       uint64_t body_bytes)
{
    struct nt_flatbuffer_fields message = {0};
    size_t root = nt_flatbuffer_root(out);
    nt_flatbuffer_set(&message, MESSAGE_VERSION, 2, METADATA_V5);
    nt_flatbuffer_set(&message, MESSAGE_HEADER_TYPE, 1, header_type);
    nt_flatbuffer_set_offset(&message, MESSAGE_HEADER);
    nt_flatbuffer_set(&message, MESSAGE_BODY_LENGTH, 8, body_bytes);
    nt_flatbuffer_table(out, root, &message);
    return message;
}

/* The table BodyCompression. Its only method compresses each buffer alone. */
static void write_compression(enum nt_arrow_compression compression, struct nt_buffer *out,
                              size_t field_offset)
{
    enum { LZ4_FRAME = 0, ZSTD = 1, BUFFER = 0 };
    struct nt_flatbuffer_fields table = {0};
    nt_flatbuffer_set(&table, COMPRESSION_CODEC, 1, compression == NT_ARROW_ZSTD ? ZSTD : LZ4_FRAME);
    nt_flatbuffer_set(&table, COMPRESSION_METHOD, 1, BUFFER);
    nt_flatbuffer_table(out, field_offset, &table);
}

void nt_arrow_write_batch_message(const struct nt_arrow *arrow, const struct nt_arrow_body *body,
                                  enum nt_arrow_compression compression, uint64_t bytes,
                                  struct nt_buffer *out)
{
    size_t length_offset = begin_message(out);
    struct nt_flatbuffer_fields message =
        write_message_table(out, HEADER_RECORD_BATCH, body->buffer_start[arrow->buffer_count]);
    struct nt_flatbuffer_fields batch = {0};
    nt_flatbuffer_set(&batch, BATCH_LENGTH, 8, body->slots[0]);
    nt_flatbuffer_set_offset(&batch, BATCH_NODES);
    nt_flatbuffer_set_offset(&batch, BATCH_BUFFERS);
    if (compression != NT_ARROW_UNCOMPRESSED)
        nt_flatbuffer_set_offset(&batch, BATCH_COMPRESSION);
    nt_flatbuffer_table(out, message.field_offsets[MESSAGE_HEADER], &batch);
    nt_flatbuffer_vector(out, batch.field_offsets[BATCH_NODES], arrow->node_count - 1, 8);
    for (uint32_t i = 1; i < arrow->node_count; i++) {
        nt_buffer_le64(out, body->slots[i]);
        nt_buffer_le64(out, body->null_counts[i]);
    }
    nt_flatbuffer_vector(out, batch.field_offsets[BATCH_BUFFERS], arrow->buffer_count, 8);
    for (uint32_t i = 0; i < arrow->buffer_count; i++) {
        nt_buffer_le64(out, body->buffer_start[i]);
        nt_buffer_le64(out, body->buffer_bytes[i]);
    }
    if (compression != NT_ARROW_UNCOMPRESSED)
        write_compression(compression, out, batch.field_offsets[BATCH_COMPRESSION]);
    end_message(out, length_offset, bytes);
}

static void write_head(struct nt_arrow *arrow)
{
    struct nt_buffer *out = &arrow->head;
    nt_buffer_append(out, magic, 6);
    nt_buffer_align(out, 8);
    size_t length_offset = begin_message(out);
    struct nt_flatbuffer_fields message = write_message_table(out, HEADER_SCHEMA, 0);
    nt_arrow_write_schema(arrow, out, message.field_offsets[MESSAGE_HEADER]);
    end_message(out, length_offset, 0);
}

/* What follows the batches, up to the list of batches in the footer. Returns where the footer begins. */
static size_t write_footer(const struct nt_arrow *arrow, struct nt_buffer *out)
{
    nt_buffer_le32(out, UINT32_MAX); /* end-of-stream marker */
    nt_buffer_le32(out, 0);
    size_t start = out->length, root = nt_flatbuffer_root(out);
    struct nt_flatbuffer_fields footer = {0};
    nt_flatbuffer_set(&footer, FOOTER_VERSION, 2, METADATA_V5);
    nt_flatbuffer_set_offset(&footer, FOOTER_SCHEMA);
    nt_flatbuffer_set_offset(&footer, FOOTER_BATCHES);
    nt_flatbuffer_table(out, root, &footer);
    nt_arrow_write_schema(arrow, out, footer.field_offsets[FOOTER_SCHEMA]);
    nt_flatbuffer_vector(out, footer.field_offsets[FOOTER_BATCHES], arrow->batch_count, 8);
    return start;
}

enum { FOOTER_BATCH_BYTES = 24 };

static void write_footer_batch(const struct nt_arrow_batch *batch, struct nt_buffer *out)
{
    nt_buffer_le64(out, batch->offset);
    nt_buffer_le64(out, batch->message_bytes); /* 32-bit length and 32 bits of padding */
    nt_buffer_le64(out, batch->body_bytes);
}

/* Ends a file whose footer has so many bytes so far. */
static void write_end(uint64_t bytes, struct nt_buffer *out)
{
    for (; bytes % 8; bytes++)
        nt_buffer_append_byte(out, 0);
    nt_buffer_le32(out, (uint32_t)bytes);
    nt_buffer_append(out, magic, 6);
}

void nt_arrow_write_tail(const struct nt_arrow *arrow, const struct nt_arrow_batch *batches,
                         struct nt_buffer *out)
{
    size_t start = write_footer(arrow, out);
    for (uint32_t i = 0; i < arrow->batch_count; i++)
        write_footer_batch(&batches[i], out);
    write_end(out->length - start, out);
}

/* ---- Batches ---- */

/* The cluster of a batch, before which others are omitted. */
static uint32_t cluster_of(const struct nt_arrow *arrow, uint32_t batch)
{
    uint32_t low = 0, high = arrow->omitted_cluster_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (arrow->omitted_clusters[middle] - middle <= batch)
            low = middle + 1;
        else
            high = middle;
    }
    return batch + low;
}

struct nt_arrow_batch nt_arrow_batch(const struct nt_arrow *arrow, uint32_t number)
{
    const uint64_t *starts = &arrow->batch_starts[number], has_large = starts[0] % 2;
    uint64_t offset = starts[0] - has_large, end = starts[1] - starts[1] % 2;
    uint64_t body = nt_arrow_align(offset + arrow->message_bytes, has_large);
    return (struct nt_arrow_batch){.cluster = cluster_of(arrow, number),
                                   .offset = offset,
                                   .message_bytes = body - offset,
                                   .body_bytes = end - body};
}

/* ---- Opening ---- */

/* Measures the message of a batch without further padding. It is the same for all batches. */
static enum nt_status measure_message(const struct nt_arrow *arrow, uint64_t *bytes_ret,
                                      struct nt_error *error)
{
    *bytes_ret = 0;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer message = {0};
    if (arrow->batch_count == 0)
        return NT_OK;
    nt_arrow_write_batch_message(arrow, arrow->recent[0], NT_ARROW_UNCOMPRESSED, 0, &message);
    *bytes_ret = message.length;
    NT_TRY(nt_check_memory(!message.failed, error));
    if (message.length > INT32_MAX - NT_ARROW_MEMORY_PAGE)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a record batch has more metadata than Arrow allows");
    return NT_OK;
}

static enum nt_status place_batches(struct nt_arrow *arrow, struct nt_error *error)
{
    uint64_t at = arrow->head.length, list_bytes = (uint64_t)arrow->batch_count * FOOTER_BATCH_BYTES;
    NT_TRY(measure_message(arrow, &arrow->message_bytes, error));
    for (uint32_t i = 0; i < arrow->batch_count; i++) {
        uint64_t has_large = arrow->batch_starts[i] % 2, body_bytes = arrow->batch_starts[i] - has_large;
        arrow->batch_starts[i] = at + has_large;
        at = nt_arrow_align(at + arrow->message_bytes, has_large);
        if (!nt_checked_add(at, body_bytes, &at) || at > INT64_MAX / 2)
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the dataset is larger than an Arrow file may be");
    }
    arrow->batch_starts[arrow->batch_count] = at;
    size_t start = write_footer(arrow, &arrow->footer);
    write_end(arrow->footer.length - start + list_bytes, &arrow->end);
    NT_TRY(nt_check_memory(!arrow->head.failed && !arrow->footer.failed && !arrow->end.failed, error));
    arrow->file_bytes = at + arrow->footer.length + list_bytes + arrow->end.length;
    return NT_OK;
}

enum nt_status nt_arrow_new(struct nt_reader *reader, struct nt_dataset *dataset,
                            const struct nt_arrow_options *options, struct nt_arrow **arrow_ret,
                            struct nt_error *error)
{
    const struct nt_arrow_limits limits = {0};
    return nt_arrow_new_within(reader, dataset, options, &limits, arrow_ret, error);
}

static enum nt_status check_range(const struct nt_arrow *arrow, struct nt_error *error)
{
    const struct nt_arrow_options *options = &arrow->options;
    uint64_t entries = nt_dataset_entries(arrow->dataset);
    if (!options->has_range || nt_range_fits(options->first_entry, options->entries, entries))
        return NT_OK;
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                   "cannot read %" PRIu64 " entries from %" PRIu64 " on: there are %" PRIu64,
                   options->entries, options->first_entry, entries);
}

static enum nt_status build(struct nt_arrow *arrow, struct nt_error *error)
{
    NT_TRY(check_range(arrow, error));
    NT_TRY(nt_arrow_select_fields(arrow, error));
    if (!arrow->dataset->field_groups) /* else loads lists per field */
        NT_TRY(nt_dataset_load_all(arrow->dataset, error));
    NT_TRY(nt_arrow_build_nodes(arrow, error));
    NT_TRY(nt_arrow_build_batches(arrow, error));
    write_head(arrow);
    return place_batches(arrow, error);
}

enum nt_status nt_arrow_new_within(struct nt_reader *reader, struct nt_dataset *dataset,
                                   const struct nt_arrow_options *options,
                                   const struct nt_arrow_limits *limits, struct nt_arrow **arrow_ret,
                                   struct nt_error *error)
{
    struct nt_arrow_options known;
    NT_TRY(nt_copy_struct(options, &known, sizeof(known), "nt_arrow_options", error));
    if (known.unions > NT_ARROW_UNIONS_OMIT)
        return nt_fail_above(error, NT_INVALID, NT_NO_OFFSET, "struct nt_arrow_options: unions",
                             NT_ARROW_UNIONS_OMIT, known.unions);
    if (dataset->failure)
        return nt_fail_copy(error, dataset->failure);
    NT_TRY(nt_reader_after_fork(reader, error));
    struct nt_arrow *arrow = calloc(1, sizeof(*arrow));
    if (!arrow || nt_lock_init(&arrow->lock, NULL)) {
        free(arrow);
        return nt_fail_memory(error);
    }
    arrow->reader = reader;
    arrow->dataset = dataset;
    arrow->options = known;
    arrow->limits = *limits;
    if (!limits->max_items)
        arrow->limits.max_items = INT32_MAX;
    arrow->tag_dtype = nt_element_dtype(NT_ELEMENT_UINT32);
    enum nt_status status = build(arrow, error);
    if (status == NT_OK)
        *arrow_ret = arrow;
    else
        nt_arrow_free(arrow);
    return status;
}

void nt_arrow_free(struct nt_arrow *arrow)
{
    if (!arrow)
        return;
    nt_arrow_free_boundaries(arrow);
    nt_arrow_texts_free(arrow->texts);
    for (size_t i = 0; i < sizeof(arrow->recent) / sizeof(*arrow->recent); i++)
        free(arrow->recent[i]);
    for (uint32_t i = 0; i < arrow->stream_count; i++)
        nt_stream_close(arrow->streams[i].opened);
    free(arrow->variants);
    free(arrow->streams);
    free(arrow->nodes);
    free(arrow->steps);
    free(arrow->buffers);
    free(arrow->omitted);
    free(arrow->batch_starts);
    free(arrow->omitted_clusters);
    free(arrow->entries);
    free(arrow->is_selected);
    nt_arrow_free_cuts(arrow);
    nt_buffer_deinit(&arrow->head);
    nt_buffer_deinit(&arrow->footer);
    nt_buffer_deinit(&arrow->end);
    nt_lock_deinit(&arrow->lock);
    free(arrow);
}

uint64_t nt_arrow_file_bytes(const struct nt_arrow *arrow)
{
    return arrow->file_bytes;
}

uint32_t nt_arrow_batches(const struct nt_arrow *arrow)
{
    return arrow->batch_count;
}

/* ---- Reading ---- */

/* Takes a body from the cache of unused bodies, so that neighbouring reads reuse it. */
static enum nt_status take_body(struct nt_arrow *arrow, uint32_t cluster, struct nt_arrow_body **body_ret,
                                struct nt_error *error)
{
    *body_ret = NULL;
    nt_lock_acquire(&arrow->lock);
    for (size_t i = 0; i < sizeof(arrow->recent) / sizeof(*arrow->recent) && !*body_ret; i++)
        if (arrow->recent[i] && arrow->recent[i]->cluster == cluster) {
            *body_ret = arrow->recent[i];
            arrow->recent[i] = NULL;
        }
    nt_lock_release(&arrow->lock);
    return *body_ret ? NT_OK : nt_arrow_body_new(arrow, cluster, body_ret, error);
}

static void give_body(struct nt_arrow *arrow, struct nt_arrow_body *body)
{
    nt_lock_acquire(&arrow->lock);
    struct nt_arrow_body *old = arrow->recent[arrow->recent_next];
    arrow->recent[arrow->recent_next] = body;
    arrow->recent_next = (arrow->recent_next + 1) % (sizeof(arrow->recent) / sizeof(*arrow->recent));
    nt_lock_release(&arrow->lock);
    free(old);
}

NT_DEFINE_LAST_AT_MOST(find_start, uint64_t, )

static enum nt_status read_body(const struct nt_arrow *arrow, const struct nt_arrow_body *body,
                                uint64_t offset, uint8_t *output, size_t bytes, struct nt_error *error)
{
    if (offset < body->buffer_start[0]) {
        size_t take = nt_min(body->buffer_start[0] - offset, bytes);
        memset(output, 0, take);
        output += take;
        offset += take;
        bytes -= take;
    }
    uint32_t buffer = bytes ? find_start(body->buffer_start, arrow->buffer_count, offset) : 0;
    for (; bytes; buffer++) {
        uint64_t within = offset - body->buffer_start[buffer];
        size_t take = nt_min(body->buffer_start[buffer + 1] - offset, bytes), content = 0;
        if (within < body->buffer_bytes[buffer]) {
            content = nt_min(body->buffer_bytes[buffer] - within, take);
            NT_TRY(nt_arrow_read_buffer(arrow, body, buffer, within, output, content, error));
        }
        memset(output + content, 0, take - content);
        output += take;
        offset += take;
        bytes -= take;
    }
    return NT_OK;
}

static enum nt_status read_message(const struct nt_arrow *arrow, struct nt_arrow_body *body,
                                   uint64_t message_bytes, uint64_t offset, uint8_t *output, size_t bytes,
                                   struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer message = {0};
    NT_TRY(nt_arrow_count_nulls(arrow, body, error));
    nt_arrow_write_batch_message(arrow, body, NT_ARROW_UNCOMPRESSED, message_bytes, &message);
    NT_TRY(nt_check_memory(!message.failed, error));
    memcpy(output, message.bytes + offset, bytes);
    return NT_OK;
}

/* Reads bytes of one batch: its message, then its body. */
static enum nt_status read_batch(struct nt_arrow *arrow, const struct nt_arrow_batch *batch, uint64_t offset,
                                 uint8_t *output, size_t bytes, struct nt_error *error)
{
    struct nt_arrow_body *body;
    uint64_t message_bytes = batch->message_bytes;
    enum nt_status status = NT_OK;
    NT_TRY(take_body(arrow, batch->cluster, &body, error));
    if (offset < message_bytes) {
        size_t take = nt_min(message_bytes - offset, bytes);
        status = read_message(arrow, body, message_bytes, offset, output, take, error);
        output += take;
        offset += take;
        bytes -= take;
    }
    if (status == NT_OK && bytes)
        status = read_body(arrow, body, offset - message_bytes, output, bytes, error);
    give_body(arrow, body);
    return status;
}

/* The batch that holds a byte, which is the last one that begins at it or before; see batch_starts. */
static uint32_t find_batch(const struct nt_arrow *arrow, uint64_t offset)
{
    return find_start(arrow->batch_starts, arrow->batch_count, offset | 1);
}

/* Prefetches bytes [offset, end) of the body of a batch. Ignores errors, which reading reports. */
static void prefetch_body(struct nt_arrow *arrow, uint32_t cluster, uint64_t offset, uint64_t end,
                          struct nt_prefetch *prefetch)
{
    struct nt_arrow_body *body;
    struct nt_arrow_run run;
    struct nt_stream *stream;
    if (take_body(arrow, cluster, &body, NULL) != NT_OK)
        return;
    uint32_t buffer = find_start(body->buffer_start, arrow->buffer_count, offset);
    for (; buffer < arrow->buffer_count && body->buffer_start[buffer] < end; buffer++)
        if (nt_arrow_find_run(arrow, body, buffer, &run) &&
            nt_arrow_find_stream(arrow, run.stream, &stream, NULL) == NT_OK)
            nt_stream_prefetch_exclusive(stream, prefetch, run.first, run.first + run.count);
    give_body(arrow, body);
}

/* Prefetches the following columns: a sequential reader would wait for each column separately. */
static void prefetch_range(struct nt_arrow *arrow, uint64_t offset, uint64_t bytes)
{
    enum { MAX_BATCHES = 4 };
    struct nt_prefetch prefetch = {.count = 0};
    if (!nt_prefetch_helps(arrow->dataset))
        return;
    uint64_t after = nt_prefetch_bytes_after(&arrow->access, offset, bytes);
    uint64_t end = offset + bytes + after;
    (void)nt_access_note(&arrow->access, offset, bytes);
    uint32_t first = after && arrow->batch_count ? find_batch(arrow, offset) : arrow->batch_count;
    for (uint32_t i = first; i < arrow->batch_count && i - first < MAX_BATCHES; i++) {
        const struct nt_arrow_batch batch = nt_arrow_batch(arrow, i);
        uint64_t body = batch.offset + batch.message_bytes;
        if (end > body)
            prefetch_body(arrow, batch.cluster, offset > body ? offset - body : 0, end - body, &prefetch);
    }
    nt_prefetch_submit(&prefetch);
}

static size_t copy_part(const struct nt_buffer *part, uint64_t offset, uint8_t *output, size_t bytes)
{
    size_t take = nt_min(part->length - offset, bytes);
    memcpy(output, part->bytes + offset, take);
    return take;
}

/* Reads bytes of the footer's list of batches, which may be long: it is written as it is read. */
static enum nt_status read_list(const struct nt_arrow *arrow, uint64_t offset, uint8_t *output, size_t bytes,
                                size_t *taken_ret, struct nt_error *error)
{
    enum { MAX_BATCHES = 1024 };
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer list = {0};
    uint32_t first = (uint32_t)(offset / FOOTER_BATCH_BYTES);
    for (uint32_t i = first; i < arrow->batch_count && i - first < MAX_BATCHES; i++) {
        const struct nt_arrow_batch batch = nt_arrow_batch(arrow, i);
        write_footer_batch(&batch, &list);
    }
    NT_TRY(nt_check_memory(!list.failed, error));
    *taken_ret = copy_part(&list, offset % FOOTER_BATCH_BYTES, output, bytes);
    return NT_OK;
}

/* Reads bytes of the file from `offset` bytes after the batches on, not beyond the part that it is in. */
static enum nt_status read_tail(const struct nt_arrow *arrow, uint64_t offset, uint8_t *output, size_t bytes,
                                size_t *taken_ret, struct nt_error *error)
{
    uint64_t list = arrow->footer.length, end = list + (uint64_t)arrow->batch_count * FOOTER_BATCH_BYTES;
    if (offset >= list && offset < end)
        return read_list(arrow, offset - list, output, bytes, taken_ret, error);
    *taken_ret = offset < list ? copy_part(&arrow->footer, offset, output, bytes)
                               : copy_part(&arrow->end, offset - end, output, bytes);
    return NT_OK;
}

enum nt_status nt_arrow_file_read(struct nt_arrow *arrow, uint64_t offset, void *output, size_t bytes,
                                  struct nt_error *error)
{
    if (!nt_range_fits(offset, bytes, arrow->file_bytes))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "cannot read past the end of the Arrow file");
    uint64_t tail = arrow->batch_starts[arrow->batch_count];
    uint8_t *to = output;
    NT_TRY(nt_reader_after_fork(arrow->reader, error));
    prefetch_range(arrow, offset, bytes);
    while (bytes) {
        size_t take = 0;
        if (offset < arrow->head.length) {
            take = copy_part(&arrow->head, offset, to, bytes);
        } else if (offset >= tail) {
            NT_TRY(read_tail(arrow, offset - tail, to, bytes, &take, error));
        } else {
            const struct nt_arrow_batch batch = nt_arrow_batch(arrow, find_batch(arrow, offset));
            uint64_t within = offset - batch.offset;
            take = nt_min(batch.message_bytes + batch.body_bytes - within, bytes);
            NT_TRY(read_batch(arrow, &batch, within, to, take, error));
        }
        to += take;
        offset += take;
        bytes -= take;
    }
    return NT_OK;
}
