/* SPDX-License-Identifier: MIT
 *
 * A minimal Arrow IPC file reader for one uint32 column, as deletion files use it.
 */
#include "formats/lance/dataset/dataset.h"

enum {
    MAGIC_BYTES = 6,   /* at both ends; two more bytes follow the first */
    LENGTH_BYTES = 4,  /* of the footer, before the magic at the end */
    BLOCK_BYTES = 24,  /* i64 offset, i32 metadata bytes, padding, i64 body bytes */
    BUFFER_BYTES = 16, /* i64 offset, i64 bytes */
    NODE_BYTES = 16,   /* i64 rows, i64 nulls */
    VALUE_BYTES = 4,
};

/* Numbers of members in Arrow's File.fbs and Message.fbs. */
enum { FOOTER_RECORD_BATCHES = 3 };
enum { MESSAGE_HEADER_TYPE = 1, MESSAGE_HEADER = 2 };
enum { BATCH_LENGTH = 0, BATCH_NODES = 1, BATCH_BUFFERS = 2, BATCH_COMPRESSION = 3 };
enum { COMPRESSION_CODEC = 0 };
enum { HEADER_IS_RECORD_BATCH = 3 };

/* A range of the file with FlatBuffers. All offsets are checked against it. */
struct flat {
    const uint8_t *bytes;
    size_t size;
    bool failed;
};

/* Reads a number of 1, 2, 4 or 8 bytes. */
static uint64_t load(struct flat *flat, uint64_t at, uint32_t bytes)
{
    if (nt_range_fits(at, bytes, flat->size))
        return nt_load_integer(flat->bytes + at, bytes, false);
    flat->failed = true;
    return 0;
}

/* Returns the target of an offset. */
static uint64_t follow(struct flat *flat, uint64_t at)
{
    return at + load(flat, at, 4);
}

/* Returns the position of a member of a table; 0: it is absent. */
static uint64_t member(struct flat *flat, uint64_t table, unsigned number)
{
    uint64_t vtable = table - (uint64_t)nt_extend_sign(load(flat, table, 4), 4);
    uint64_t slot = 4 + 2 * (uint64_t)number;
    if (flat->failed || slot + 2 > load(flat, vtable, 2))
        return 0;
    uint64_t within = load(flat, vtable + slot, 2);
    return within ? table + within : 0;
}

/* Returns the position of a vector's items, which are structures of `item_bytes`, and their number; 0:
 * it is absent. */
static uint64_t items(struct flat *flat, uint64_t table, unsigned number, size_t item_bytes,
                      uint32_t *count_ret)
{
    uint64_t slot = member(flat, table, number);
    *count_ret = 0;
    if (!slot)
        return 0;
    uint64_t vector = follow(flat, slot);
    uint32_t count = (uint32_t)load(flat, vector, 4);
    if (!nt_range_fits(vector + 4, (uint64_t)count * item_bytes, flat->size)) {
        flat->failed = true;
        return 0;
    }
    *count_ret = count;
    return vector + 4;
}

/* ---- Record batches ---- */

struct arrow_ipc_batch {
    uint64_t offset, metadata_bytes, body_bytes;
};

static enum nt_status damaged(uint64_t offset, const char *what, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, offset, "not an Arrow IPC file of deleted rows: %s", what);
}

struct batch_walk {
    uint64_t left; /* rows that batches may still have: many batches may share bytes */
    struct nt_arrow_rows *found;
    struct nt_error *error;
};

static enum nt_status take_values(const struct batch_walk *walk, const uint8_t *values, size_t count)
{
    struct nt_arrow_rows *found = walk->found;
    uint32_t *rows = reallocarray(found->rows, found->count + count + 1, sizeof(*rows));
    NT_TRY(nt_check_memory(rows, walk->error));
    found->rows = rows;
    for (size_t i = 0; i < count; i++)
        rows[found->count++] = nt_load_le32(values + VALUE_BYTES * i);
    return NT_OK;
}

/* Decompresses a Zstandard frame to `requested` bytes of values. */
static enum nt_status take_frame(const struct batch_walk *walk, const uint8_t *frame, size_t frame_bytes,
                                 size_t requested)
{
    NT_CLEANUP(nt_codec_context_free_at) struct nt_codec_context *context = nt_codec_context_new();
    NT_AUTO_FREE uint8_t *values = malloc(requested + 1);
    enum nt_status status =
        context && values ? nt_decompress_zstd(frame, frame_bytes, values, requested, context, walk->error)
                          : nt_fail_memory(walk->error);
    if (status == NT_CORRUPT)
        nt_error_context(walk->error, "not an Arrow IPC file of deleted rows");
    return status == NT_OK ? take_values(walk, values, requested / VALUE_BYTES) : status;
}

/* A buffer of a compressed batch begins with its decompressed size; -1: it is not compressed. `requested`
 * is the size of the batch's rows. */
static enum nt_status take_compressed(const struct batch_walk *walk, const struct arrow_ipc_batch *batch,
                                      uint64_t codec, const uint8_t *bytes, uint64_t size, uint64_t requested)
{
    enum { LENGTH_BYTES_OF_BUFFER = 8, CODEC_ZSTD = 1 };
    if (size < LENGTH_BYTES_OF_BUFFER)
        return damaged(batch->offset, "a buffer has no length", walk->error);
    uint64_t plain = nt_load_le64(bytes);
    bytes += LENGTH_BYTES_OF_BUFFER;
    size -= LENGTH_BYTES_OF_BUFFER;
    if (plain == UINT64_MAX)
        return requested <= size ? take_values(walk, bytes, (size_t)requested / VALUE_BYTES)
                                 : damaged(batch->offset, "some of its rows are missing", walk->error);
    if (codec != CODEC_ZSTD)
        return nt_fail(walk->error, NT_UNSUPPORTED, batch->offset,
                       "cannot read lists of deleted rows compressed as LZ4 frames");
    if (plain != requested)
        return nt_fail_number(walk->error, NT_CORRUPT, batch->offset, "bytes of deleted rows", requested,
                              plain);
    return take_frame(walk, bytes, (size_t)size, (size_t)requested);
}

/* The second buffer has the values; the first is the validity. */
static enum nt_status take_batch(struct batch_walk *walk, const struct arrow_ipc_batch *batch,
                                 struct flat *flat, uint64_t table, const uint8_t *body)
{
    uint32_t nodes, buffers;
    uint64_t length_at = member(flat, table, BATCH_LENGTH),
             compression_at = member(flat, table, BATCH_COMPRESSION);
    uint64_t rows = length_at ? load(flat, length_at, 8) : 0;
    uint64_t node = items(flat, table, BATCH_NODES, NODE_BYTES, &nodes);
    uint64_t buffer = items(flat, table, BATCH_BUFFERS, BUFFER_BYTES, &buffers);
    uint64_t codec_at = compression_at ? member(flat, follow(flat, compression_at), COMPRESSION_CODEC) : 0;
    uint64_t codec = codec_at ? load(flat, codec_at, 1) : 0;
    if (flat->failed)
        return damaged(batch->offset, "the metadata of a record batch points outside its bytes", walk->error);
    if (nodes != 1 || buffers != 2)
        return nt_fail(walk->error, NT_UNSUPPORTED, batch->offset,
                       "expected 1 column with 2 buffers, found %" PRIu32 " with %" PRIu32, nodes, buffers);
    uint64_t nulls = load(flat, node + 8, 8), offset = load(flat, buffer + BUFFER_BYTES, 8),
             bytes = load(flat, buffer + BUFFER_BYTES + 8, 8), requested;
    if (nulls)
        return damaged(batch->offset, "a row is null", walk->error);
    if (rows > walk->left)
        return nt_fail_above(walk->error, NT_CORRUPT, batch->offset, "deleted rows", walk->left, rows);
    walk->left -= rows;
    if (!nt_range_fits(offset, bytes, batch->body_bytes))
        return damaged(batch->offset, "some of its rows are missing", walk->error);
    if (!nt_checked_multiply(rows, VALUE_BYTES, &requested))
        return damaged(batch->offset, "the size of the rows overflows", walk->error);
    if (compression_at)
        return take_compressed(walk, batch, codec, body + offset, bytes, requested);
    return requested <= bytes ? take_values(walk, body + offset, (size_t)rows)
                              : damaged(batch->offset, "some of its rows are missing", walk->error);
}

/* The message follows 0xffffffff and a length or, in earlier versions, only a length. */
static enum nt_status read_batch(struct batch_walk *walk, const uint8_t *bytes, size_t size,
                                 const struct arrow_ipc_batch *batch)
{
    enum { CONTINUATION_BYTES = 8, OLD_BYTES = 4 };
    if (!nt_range_fits(batch->offset, batch->metadata_bytes, size) ||
        !nt_range_fits(batch->offset + batch->metadata_bytes, batch->body_bytes, size) ||
        batch->metadata_bytes < CONTINUATION_BYTES)
        return damaged(batch->offset, "a record batch is outside the file", walk->error);
    const uint8_t *message = bytes + batch->offset;
    size_t prefix = nt_load_le32(message) == UINT32_MAX ? CONTINUATION_BYTES : OLD_BYTES;
    struct flat flat = {message + prefix, (size_t)batch->metadata_bytes - prefix, false};
    uint64_t root = follow(&flat, 0);
    uint64_t type_at = member(&flat, root, MESSAGE_HEADER_TYPE),
             header_at = member(&flat, root, MESSAGE_HEADER);
    uint64_t type = type_at ? load(&flat, type_at, 1) : 0;
    if (flat.failed || !header_at || type != HEADER_IS_RECORD_BATCH)
        return damaged(batch->offset, "a message is not a record batch", walk->error);
    return take_batch(walk, batch, &flat, follow(&flat, header_at), message + batch->metadata_bytes);
}

enum nt_status nt_arrow_column_read(const uint8_t *bytes, size_t size, uint64_t max_rows,
                                    struct nt_arrow_rows *found_ret, struct nt_error *error)
{
    struct batch_walk walk = {max_rows, found_ret, error};
    static const char magic[] = "ARROW1";
    enum { END_BYTES = LENGTH_BYTES + MAGIC_BYTES };
    if (size < 2 + MAGIC_BYTES + END_BYTES || memcmp(bytes, magic, MAGIC_BYTES) ||
        memcmp(bytes + size - MAGIC_BYTES, magic, MAGIC_BYTES))
        return damaged(0, "it does not begin and end with ARROW1", error);
    uint64_t end = size - END_BYTES, length = nt_load_le32(bytes + end);
    if (length > end)
        return damaged(end, "its footer is outside the file", error);
    struct flat flat = {bytes + (end - length), (size_t)length, false};
    uint32_t count;
    uint64_t blocks = items(&flat, follow(&flat, 0), FOOTER_RECORD_BATCHES, BLOCK_BYTES, &count);
    if (flat.failed)
        return damaged(end - length, "its footer points outside its bytes", error);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = blocks + (uint64_t)i * BLOCK_BYTES;
        const struct arrow_ipc_batch batch = {load(&flat, at, 8), load(&flat, at + 8, 4),
                                              load(&flat, at + 16, 8)};
        NT_TRY(read_batch(&walk, bytes, size, &batch));
    }
    return NT_OK;
}
