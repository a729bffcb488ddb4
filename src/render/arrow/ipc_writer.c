/* SPDX-License-Identifier: MIT
 *
 * Generates an Arrow IPC file front to back, with compressed buffers (BodyCompression): an int64 with the
 * length before compression, then a frame; -1 in front of a buffer that compression would not shorten.
 * Decodes and compresses a few batches at a time, by all workers.
 */
#include "render/arrow/arrow.h"

#include <lz4frame.h>
#include <zstd.h>

/* A level at which values, which RNTuple splits into planes of bytes and Arrow does not, compress as well as
 * in the files that ROOT writes (level 5). */
enum { ZSTD_LEVEL = 6, LENGTH_BYTES = 8, STORED_ALIGNMENT = 8 };

/* Batches are decoded together up to so many bytes, so that there is work for all workers even if a batch is
 * one column. */
enum { GROUP_BATCHES = 8 };
#define GROUP_BYTES (UINT64_C(64) << 20)

/* A buffer of a batch: decoded, then as it is stored. */
struct buffer {
    uint8_t *bytes; /* NULL: empty, or equal to another buffer */
    size_t length;
    uint64_t digest;
    uint32_t number, same; /* the first equal buffer of the batch */
};

struct batch_buffers {
    struct nt_arrow_body *body;
    struct buffer *buffers; /* [buffer] */
};

struct ipc_pieces {
    struct nt_text_generator text;
    struct nt_arrow *arrow;
    enum nt_arrow_compression compression;
    atomic_bool *has_invalid_utf8;             /* [node]: a string that is not UTF-8, so far */
    struct batch_buffers group[GROUP_BATCHES]; /* [begin, end) are left to write */
    uint32_t begin, end;
    uint32_t decoded; /* batches, so far */
    struct nt_arrow_batch *written;
    uint32_t written_count;
    uint64_t at; /* bytes generated */
};

/* ---- Memory ---- */

static void batch_deinit(struct batch_buffers *batch, uint32_t buffer_count)
{
    for (uint32_t i = 0; batch->buffers && i < buffer_count; i++)
        free(batch->buffers[i].bytes);
    free(batch->buffers);
    free(batch->body);
    *batch = (struct batch_buffers){0};
}

static void free_pieces(struct nt_text_generator *text)
{
    struct ipc_pieces *pieces = (struct ipc_pieces *)text;
    for (uint32_t i = 0; i < GROUP_BATCHES; i++)
        batch_deinit(&pieces->group[i], pieces->arrow->buffer_count);
    free(pieces->has_invalid_utf8);
    free(pieces->written);
    free(pieces);
}

/* ---- Decoding ---- */

static enum nt_status decode_batch(const struct nt_arrow *arrow, uint32_t number, struct batch_buffers *batch,
                                   struct nt_error *error)
{
    NT_AUTO_FREE void **memory = calloc((size_t)arrow->buffer_count + 1, sizeof(*memory));
    batch->buffers = calloc((size_t)arrow->buffer_count + 1, sizeof(*batch->buffers));
    NT_TRY(nt_check_memory(memory && batch->buffers, error));
    NT_TRY(nt_arrow_body_new(arrow, nt_arrow_batch(arrow, number).cluster, &batch->body, error));
    enum nt_status status = nt_arrow_decode_body(arrow, batch->body, memory, error);
    for (uint32_t i = 0; i < arrow->buffer_count; i++)
        batch->buffers[i] = (struct buffer){
            .bytes = memory[i],
            .length = memory[i] ? (size_t)batch->body->buffer_bytes[i] : 0,
            .number = i,
            .same = i,
        };
    return status;
}

static enum nt_status decode_group(struct ipc_pieces *pieces, struct nt_error *error)
{
    const struct nt_arrow *arrow = pieces->arrow;
    uint64_t bytes = 0;
    pieces->begin = pieces->end = 0;
    while (pieces->decoded < arrow->batch_count && pieces->end < GROUP_BATCHES) {
        uint64_t more = nt_arrow_batch(arrow, pieces->decoded).body_bytes;
        if (pieces->end && (more > GROUP_BYTES || bytes > GROUP_BYTES - more))
            break;
        bytes += more;
        NT_TRY(decode_batch(arrow, pieces->decoded++, &pieces->group[pieces->end++], error));
    }
    return NT_OK;
}

/* ---- Work that all workers share ---- */

struct compression_job {
    struct ipc_pieces *pieces;
    enum nt_status (*make)(struct compression_job *job, ZSTD_CCtx *compressor, struct buffer *buffer);
    _Atomic uint64_t next; /* buffer of the group */
    _Atomic int status;    /* enum nt_status */
};

static void pack_buffers(void *context)
{
    struct compression_job *job = context;
    uint32_t count = job->pieces->arrow->buffer_count;
    uint64_t all = (uint64_t)count * job->pieces->end;
    ZSTD_CCtx *compressor = ZSTD_createCCtx();
    if (!compressor)
        job->status = NT_NO_MEMORY;
    for (uint64_t number; job->status == NT_OK && (number = job->next++) < all;) {
        struct buffer *buffer = &job->pieces->group[number / count].buffers[number % count];
        enum nt_status status = buffer->length ? job->make(job, compressor, buffer) : NT_OK;
        if (status != NT_OK)
            job->status = status;
    }
    ZSTD_freeCCtx(compressor);
}

static enum nt_status pack_all(struct ipc_pieces *pieces,
                               enum nt_status (*make)(struct compression_job *job, ZSTD_CCtx *compressor,
                                                      struct buffer *buffer),
                               struct nt_error *error)
{
    struct compression_job job = {.pieces = pieces, .make = make};
    if (pieces->end && pieces->arrow->buffer_count)
        nt_workers_run_all(pieces->arrow->reader->workers, pack_buffers, &job);
    return job.status == NT_OK ? NT_OK : nt_fail_memory(error);
}

/* ---- Strings that are not UTF-8 ---- */

/* Does a string begin within a character? */
static bool cuts_character(const struct nt_arrow_node *node, const struct buffer *offsets,
                           const struct buffer *data)
{
    size_t bytes = nt_arrow_offset_bytes(node);
    for (size_t at = 0; at + bytes <= offsets->length; at += bytes) {
        uint64_t offset =
            bytes == sizeof(uint32_t) ? nt_load_le32(offsets->bytes + at) : nt_load_le64(offsets->bytes + at);
        if (offset < data->length && (data->bytes[offset] & 0xc0) == 0x80)
            return true;
    }
    return false;
}

static void check_strings(struct ipc_pieces *pieces, const struct buffer *data)
{
    const struct nt_arrow *arrow = pieces->arrow;
    const struct nt_arrow_buffer *info = &arrow->buffers[data->number];
    const struct nt_arrow_node *node = &arrow->nodes[info->node];
    if (node->kind != NT_ARROW_BYTES || node->is_binary || info->kind != NT_ARROW_DATA ||
        pieces->has_invalid_utf8[info->node])
        return;
    const struct buffer *offsets = data - 1; /* Arrow's order */
    if (!nt_is_utf8(data->bytes, data->length) || cuts_character(node, offsets, data))
        pieces->has_invalid_utf8[info->node] = true;
}

bool nt_arrow_ipc_has_invalid_utf8(const struct nt_text_generator *pieces, uint32_t node)
{
    return ((const struct ipc_pieces *)pieces)->has_invalid_utf8[node];
}

/* ---- Equal buffers ---- */

/* Lists of one collection, as NanoAOD's Muon_*, have equal offsets. */
static enum nt_status examine(struct compression_job *job, ZSTD_CCtx *compressor, struct buffer *buffer)
{
    check_strings(job->pieces, buffer);
    buffer->digest = nt_xxh3(buffer->bytes, buffer->length);
    return NT_OK;
}

static int compare(const void *a, const void *b)
{
    const struct buffer *left = *(struct buffer *const *)a, *right = *(struct buffer *const *)b;
    if (left->length != right->length)
        return left->length < right->length ? -1 : 1;
    if (left->digest != right->digest)
        return left->digest < right->digest ? -1 : 1;
    return left->number < right->number ? -1 : 1;
}

/* Frees all but the first of equal buffers. */
static enum nt_status merge_equal(const struct nt_arrow *arrow, struct batch_buffers *batch,
                                  struct nt_error *error)
{
    NT_AUTO_FREE struct buffer **sorted = calloc((size_t)arrow->buffer_count + 1, sizeof(struct buffer *));
    NT_TRY(nt_check_memory(sorted, error));
    for (uint32_t i = 0; i < arrow->buffer_count; i++)
        sorted[i] = &batch->buffers[i];
    qsort(sorted, arrow->buffer_count, sizeof(struct buffer *), compare);
    for (uint32_t i = 1, first = 0; i < arrow->buffer_count; i++) {
        struct buffer *kept = sorted[first], *other = sorted[i];
        if (!other->length || other->length != kept->length || other->digest != kept->digest ||
            memcmp(other->bytes, kept->bytes, kept->length) != 0) {
            first = i;
            continue;
        }
        free(other->bytes);
        other->bytes = NULL;
        other->length = 0;
        other->same = kept->number;
    }
    return NT_OK;
}

/* ---- Compression ---- */

/* Returns the bytes of a frame; 0: no memory, or it would be no shorter than the buffer. */
static size_t compress(enum nt_arrow_compression compression, ZSTD_CCtx *compressor,
                       const struct buffer *buffer, uint8_t *frame, size_t room)
{
    size_t made;
    if (compression == NT_ARROW_LZ4) {
        made = LZ4F_compressFrame(frame, room, buffer->bytes, buffer->length, NULL);
        return LZ4F_isError(made) || made >= buffer->length ? 0 : made;
    }
    made = ZSTD_compressCCtx(compressor, frame, room, buffer->bytes, buffer->length, ZSTD_LEVEL);
    return ZSTD_isError(made) || made >= buffer->length ? 0 : made;
}

static enum nt_status compress_buffer(struct compression_job *job, ZSTD_CCtx *compressor,
                                      struct buffer *buffer)
{
    enum nt_arrow_compression compression = job->pieces->compression;
    size_t room = compression == NT_ARROW_LZ4 ? LZ4F_compressFrameBound(buffer->length, NULL)
                                              : ZSTD_compressBound(buffer->length);
    if (room > SIZE_MAX / 2)
        return NT_NO_MEMORY;
    uint8_t *stored = malloc(LENGTH_BYTES + room);
    if (!stored)
        return NT_NO_MEMORY;
    size_t made = compress(compression, compressor, buffer, stored + LENGTH_BYTES, room);
    uint64_t length = made ? buffer->length : UINT64_MAX;
    if (!made) {
        made = buffer->length;
        memcpy(stored + LENGTH_BYTES, buffer->bytes, made);
    }
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        stored[i] = (uint8_t)(length >> 8 * i);
    uint8_t *fitting = realloc(stored, LENGTH_BYTES + made);
    free(buffer->bytes);
    buffer->bytes = fitting ? fitting : stored;
    buffer->length = LENGTH_BYTES + made;
    return NT_OK;
}

/* ---- Batches in the file ---- */

/* Replaces the places of the decoded buffers by those in the file. */
static void place_buffers(const struct ipc_pieces *pieces, struct batch_buffers *batch)
{
    uint64_t at = 0;
    unsigned alignment = pieces->compression == NT_ARROW_UNCOMPRESSED ? NT_ARROW_ALIGNMENT : STORED_ALIGNMENT;
    for (uint32_t i = 0; i < pieces->arrow->buffer_count; i++) {
        batch->body->buffer_start[i] = at;
        batch->body->buffer_bytes[i] = batch->buffers[i].length;
        at = (at + batch->buffers[i].length + alignment - 1) / alignment * alignment;
    }
    for (uint32_t i = 0; i < pieces->arrow->buffer_count; i++) {
        uint32_t same = batch->buffers[i].same;
        batch->body->buffer_start[i] = batch->body->buffer_start[same];
        batch->body->buffer_bytes[i] = batch->body->buffer_bytes[same];
    }
    batch->body->buffer_start[pieces->arrow->buffer_count] = nt_arrow_align(at, false);
}

static enum nt_status make_group(struct ipc_pieces *pieces, struct nt_error *error)
{
    NT_TRY(decode_group(pieces, error));
    NT_TRY(pack_all(pieces, examine, error));
    for (uint32_t i = 0; i < pieces->end; i++)
        NT_TRY(merge_equal(pieces->arrow, &pieces->group[i], error));
    if (pieces->compression != NT_ARROW_UNCOMPRESSED)
        NT_TRY(pack_all(pieces, compress_buffer, error));
    for (uint32_t i = 0; i < pieces->end; i++)
        place_buffers(pieces, &pieces->group[i]);
    return NT_OK;
}

static void pad(struct nt_buffer *out, size_t length)
{
    uint8_t *room = length ? nt_buffer_extend(out, length) : NULL;
    if (room)
        memset(room, 0, length);
}

static enum nt_status write_batch(struct ipc_pieces *pieces, struct batch_buffers *batch,
                                  struct nt_buffer *out, struct nt_error *error)
{
    const struct nt_arrow *arrow = pieces->arrow;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer message = {0};
    nt_arrow_write_batch_message(arrow, batch->body, pieces->compression, 0, &message);
    nt_buffer_append(out, nt_buffer_string(&message), message.length);
    size_t start = out->length;
    for (uint32_t i = 0; i < arrow->buffer_count; i++) {
        if (!batch->buffers[i].length)
            continue;
        pad(out, (size_t)batch->body->buffer_start[i] - (out->length - start));
        nt_buffer_append(out, batch->buffers[i].bytes, batch->buffers[i].length);
        if (out->failed)
            break;
    }
    uint64_t body_bytes = batch->body->buffer_start[arrow->buffer_count];
    if (!out->failed)
        pad(out, (size_t)body_bytes - (out->length - start));
    pieces->written[pieces->written_count++] = (struct nt_arrow_batch){
        .cluster = batch->body->cluster,
        .offset = pieces->at,
        .message_bytes = message.length,
        .body_bytes = body_bytes,
    };
    pieces->at += message.length + body_bytes;
    batch_deinit(batch, arrow->buffer_count);
    out->failed |= message.failed;
    return out->failed ? nt_fail_memory(error) : NT_OK;
}

static enum nt_status next_piece(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                 struct nt_error *error)
{
    struct ipc_pieces *pieces = (struct ipc_pieces *)text;
    const struct nt_arrow *arrow = pieces->arrow;
    if (!pieces->at) {
        nt_buffer_append(out, arrow->head.bytes, arrow->head.length);
        pieces->at = arrow->head.length;
    }
    if (pieces->begin == pieces->end && pieces->decoded < arrow->batch_count)
        NT_TRY(make_group(pieces, error));
    if (pieces->begin < pieces->end)
        NT_TRY(write_batch(pieces, &pieces->group[pieces->begin++], out, error));
    *more_ret = pieces->written_count < arrow->batch_count;
    if (!*more_ret)
        nt_arrow_write_tail(arrow, pieces->written, out);
    return nt_check_memory(!out->failed, error);
}

static double share(const struct nt_text_generator *text)
{
    const struct ipc_pieces *pieces = (const struct ipc_pieces *)text;
    uint32_t count = pieces->arrow->batch_count;
    return count ? (double)pieces->written_count / (double)count : 1;
}

enum nt_status nt_arrow_ipc_pieces(struct nt_arrow *arrow, enum nt_arrow_compression compression,
                                   struct nt_text_generator **pieces_ret, struct nt_error *error)
{
    struct ipc_pieces *pieces = calloc(1, sizeof(*pieces));
    struct nt_arrow_batch *written = calloc((size_t)arrow->batch_count + 1, sizeof(*written));
    atomic_bool *has_invalid_utf8 = calloc(arrow->node_count, sizeof(*has_invalid_utf8));
    if (!pieces || !written || !has_invalid_utf8) {
        free(pieces);
        free(written);
        free(has_invalid_utf8);
        return nt_fail_memory(error);
    }
    *pieces = (struct ipc_pieces){.text = {.next = next_piece, .free = free_pieces, .share = share},
                                  .arrow = arrow,
                                  .compression = compression,
                                  .has_invalid_utf8 = has_invalid_utf8,
                                  .written = written};
    *pieces_ret = &pieces->text;
    return NT_OK;
}
