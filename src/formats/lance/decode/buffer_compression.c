/* SPDX-License-Identifier: MIT
 *
 * Decompresses buffers under Lance's general compression: LZ4 or Zstandard with a decompressed-size
 * prefix, or bare Zstandard frames.
 */
#include "formats/lance/decode/decode.h"

#include <limits.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    LZ4_SIZE_BYTES = 4,
    ZSTD_SIZE_BYTES = 8,
    ZSTD_RESERVED_BIT = 8, /* in a frame's descriptor, the byte after the magic number; always 0 */
    /* A length byte extends an LZ4 match by 255 bytes; a Zstandard block of 4 bytes holds 128 KiB. */
    LZ4_MAX = 255,
    LZ4_MAX_BESIDES = 16,
    ZSTD_MAX = 128 * 1024 / 4,
};

static const uint32_t zstd_magic = 0xFD2FB528;
static const uint64_t most_counted = UINT64_C(1) << 32; /* limit of counting; a second or two */

/* The compressed bytes, and their decompressed size if stored. */
struct payload {
    const uint8_t *bytes;
    size_t count;
    bool is_declared;
    uint64_t size;
};

static enum nt_status check_size(const char *name, uint64_t size, size_t input_bytes, uint64_t most_each,
                                 uint64_t besides, struct nt_error *error)
{
    uint64_t most;
    if (!nt_checked_multiply(input_bytes, most_each, &most) || !nt_checked_add(most, besides, &most) ||
        size <= most)
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "%s: cannot decode %llu bytes from %zu bytes, at most %llu", name,
                   (unsigned long long)size, input_bytes, (unsigned long long)most);
}

/* ---- LZ4 ---- */

static enum nt_status split_lz4(const uint8_t *input, size_t input_bytes, struct payload *payload_ret,
                                struct nt_error *error)
{
    struct nt_cursor cursor = nt_cursor(input, input_bytes);
    uint32_t size = nt_get_le32(&cursor);
    if (cursor.failed)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of an lz4 block with its size",
                             LZ4_SIZE_BYTES, input_bytes);
    size_t count = nt_cursor_left(&cursor);
    *payload_ret = (struct payload){nt_get_bytes(&cursor, count), count, true, size};
    return NT_OK;
}

static enum nt_status measure_lz4(const struct payload *payload, uint64_t *bytes_ret, struct nt_error *error)
{
    *bytes_ret = payload->size;
    if (payload->size > INT_MAX)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "lz4: a block cannot have %llu bytes",
                       (unsigned long long)payload->size);
    return check_size("lz4", payload->size, payload->count, LZ4_MAX, LZ4_MAX_BESIDES, error);
}

/* ---- Zstandard ---- */

/* Does the input have no size prefix? The reserved bit, 0 in every frame, separates a frame from a
 * size that equals the magic number. Input too short for a size is frames, too. */
static bool is_bare_frame(const uint8_t *input, size_t input_bytes)
{
    struct nt_cursor cursor = nt_cursor(input, input_bytes);
    bool has_magic = nt_get_le32(&cursor) == zstd_magic;
    bool is_reserved = nt_get_u8(&cursor) & ZSTD_RESERVED_BIT;
    return input_bytes < ZSTD_SIZE_BYTES || (has_magic && !is_reserved);
}

static enum nt_status split_zstd(const uint8_t *input, size_t input_bytes, struct payload *payload_ret,
                                 struct nt_error *error)
{
    struct nt_cursor cursor = nt_cursor(input, input_bytes);
    bool is_declared = !is_bare_frame(input, input_bytes);
    uint64_t size = is_declared ? nt_get_le64(&cursor) : 0;
    size_t count = nt_cursor_left(&cursor);
    *payload_ret = (struct payload){count ? nt_get_bytes(&cursor, count) : NULL, count, is_declared, size};
    return NT_OK;
}

static enum nt_status fail_zstd(const char *what, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "zstd: %s", what);
}

/* Decompresses a frame into one reused buffer, to count its bytes. */
static enum nt_status count_pieces(ZSTD_DCtx *decompressor, ZSTD_inBuffer *input, void *piece,
                                   size_t piece_bytes, uint64_t *bytes_ret, struct nt_error *error)
{
    uint64_t bytes = 0;
    size_t more = 1;
    while (more) {
        ZSTD_outBuffer output = {piece, piece_bytes, 0};
        more = ZSTD_decompressStream(decompressor, &output, input);
        if (ZSTD_getErrorCode(more) == ZSTD_error_memory_allocation)
            return nt_fail_memory(error);
        if (ZSTD_isError(more))
            return fail_zstd(ZSTD_getErrorName(more), error);
        if (more && output.pos == 0 && input->pos == input->size)
            return fail_zstd("a frame is cut off", error);
        bytes += output.pos;
        if (bytes > most_counted)
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                           "zstd: a frame that does not declare its size has more than %llu bytes",
                           (unsigned long long)most_counted);
    }
    *bytes_ret = bytes;
    return NT_OK;
}

static enum nt_status count_frame(const uint8_t *frame, size_t frame_bytes, uint64_t *bytes_ret,
                                  struct nt_error *error)
{
    ZSTD_DCtx *decompressor = ZSTD_createDCtx();
    size_t piece_bytes = ZSTD_DStreamOutSize();
    NT_AUTO_FREE void *piece = malloc(piece_bytes);
    ZSTD_inBuffer input = {frame, frame_bytes, 0};
    enum nt_status status = decompressor && piece
                                ? count_pieces(decompressor, &input, piece, piece_bytes, bytes_ret, error)
                                : nt_fail_memory(error);
    ZSTD_freeDCtx(decompressor);
    return status;
}

/* Returns the size of the next frame. Without a stored size, counts its bytes if `is_counted`. */
static enum nt_status measure_frame(struct nt_cursor *cursor, bool is_counted, bool *is_known,
                                    uint64_t *bytes_ret, struct nt_error *error)
{
    size_t left = nt_cursor_left(cursor);
    const uint8_t *frame = cursor->bytes + cursor->position;
    size_t frame_bytes = ZSTD_findFrameCompressedSize(frame, left);
    if (ZSTD_isError(frame_bytes))
        return fail_zstd(ZSTD_getErrorName(frame_bytes), error);
    unsigned long long size = ZSTD_getFrameContentSize(frame, left);
    nt_cursor_skip(cursor, frame_bytes);
    if (size == ZSTD_CONTENTSIZE_ERROR)
        return fail_zstd("a frame has an invalid header", error);
    *bytes_ret = 0;
    if (size == ZSTD_CONTENTSIZE_UNKNOWN) {
        *is_known = is_counted;
        return is_counted ? count_frame(frame, frame_bytes, bytes_ret, error) : NT_OK;
    }
    *bytes_ret = size;
    return check_size("zstd", size, frame_bytes, ZSTD_MAX, 0, error);
}

static enum nt_status measure_zstd(const struct payload *payload, uint64_t *bytes_ret, struct nt_error *error)
{
    struct nt_cursor cursor = nt_cursor(payload->bytes, payload->count);
    uint64_t total = 0;
    bool are_known = true;
    while (nt_cursor_left(&cursor)) {
        uint64_t bytes = 0;
        bool is_known = true;
        NT_TRY(measure_frame(&cursor, !payload->is_declared, &is_known, &bytes, error));
        are_known = are_known && is_known;
        if (!nt_checked_add(total, bytes, &total))
            return fail_zstd("the size of the frames overflows", error);
    }
    *bytes_ret = payload->is_declared ? payload->size : total;
    if (are_known && *bytes_ret != total)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes in zstd frames", payload->size, total);
    return check_size("zstd", *bytes_ret, payload->count, ZSTD_MAX, 0, error);
}

/* ---- Both kinds ---- */

static const struct {
    enum nt_status (*split)(const uint8_t *input, size_t input_bytes, struct payload *payload_ret,
                            struct nt_error *error);
    enum nt_status (*measure)(const struct payload *payload, uint64_t *bytes_ret, struct nt_error *error);
    nt_decompress_block *decompress;
} kinds[NT_LENGTH_PREFIXED_KINDS] = {
    [NT_LENGTH_PREFIXED_LZ4] = {split_lz4, measure_lz4, nt_decompress_bare_lz4},
    [NT_LENGTH_PREFIXED_ZSTD] = {split_zstd, measure_zstd, nt_decompress_zstd},
};

enum nt_status nt_length_prefixed_bytes(enum nt_length_prefixed_kind kind, const uint8_t *input,
                                        size_t input_bytes, uint64_t *bytes_ret, struct nt_error *error)
{
    struct payload payload;
    NT_TRY(kinds[kind].split(input, input_bytes, &payload, error));
    return kinds[kind].measure(&payload, bytes_ret, error);
}

enum nt_status nt_length_prefixed_decompress(enum nt_length_prefixed_kind kind, const uint8_t *input,
                                             size_t input_bytes, uint8_t *output, size_t output_bytes,
                                             struct nt_codec_context *context, struct nt_error *error)
{
    struct payload payload;
    NT_TRY(kinds[kind].split(input, input_bytes, &payload, error));
    if (payload.is_declared && payload.size != output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a compressed buffer", output_bytes,
                              payload.size);
    return kinds[kind].decompress(payload.bytes, payload.count, output, output_bytes, context, error);
}
