/* SPDX-License-Identifier: MIT
 *
 * Table of compression formats, with the decompressors for Zstandard, LZ4, LZMA, deflate and ROOT's
 * block format. Output must have exactly the expected size.
 */
#include "core/codec/codec.h"

#include <limits.h>
#include <lz4.h>
#include <lzma.h>
#include <stdio.h>
#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "core/base/built_in.h"
#include "core/base/text.h"

static const char algorithms[NT_ALGORITHM_COUNT][NT_ALGORITHM_NAME + 1] = {
    [NT_ALGORITHM_NONE] = "none",
    [NT_ALGORITHM_ZSTD] = "zstd",
    [NT_ALGORITHM_LZ4] = "lz4",
    [NT_ALGORITHM_ZLIB] = "zlib",
    [NT_ALGORITHM_OLD_ZLIB] = "old-zlib",
    [NT_ALGORITHM_LZMA] = "lzma",
    [NT_ALGORITHM_BLOSCLZ] = "blosclz",
    [NT_ALGORITHM_SNAPPY] = "snappy",
    [NT_ALGORITHM_ELSEWHERE] = "elsewhere",
    [NT_ALGORITHM_UNKNOWN] = "unknown",
};

const char *nt_algorithm_name(enum nt_algorithm algorithm)
{
    return algorithms[algorithm];
}

/* ---- Decompression context ---- */

/* State of a thread's decompressors between calls. */
struct nt_codec_context {
    ZSTD_DCtx *zstd;
    struct nt_inflater *inflater;
    lzma_stream lzma; /* all zero (LZMA_STREAM_INIT) before its first use */
    struct {
        uint8_t *bytes;
        size_t capacity;
    } scratch[NT_SCRATCH_COUNT];
};

struct nt_codec_context *nt_codec_context_new(void)
{
    return calloc(1, sizeof(struct nt_codec_context));
}

void nt_codec_context_free(struct nt_codec_context *context)
{
    if (!context)
        return;
    ZSTD_freeDCtx(context->zstd);
    nt_inflater_free(context->inflater);
    lzma_end(&context->lzma);
    for (unsigned i = 0; i < NT_SCRATCH_COUNT; i++)
        free(context->scratch[i].bytes);
    free(context);
}

/* Only the used part of LZMA's dictionary occupies memory, which is at most a page's size. */
size_t nt_codec_context_bytes(const struct nt_codec_context *context)
{
    enum { MIN_DICTIONARY = 64 * 1024 };
    size_t dictionary = (size_t)lzma_memusage(&context->lzma);
    if (dictionary > MIN_DICTIONARY + context->scratch[NT_SCRATCH_PAGE].capacity)
        dictionary = MIN_DICTIONARY + context->scratch[NT_SCRATCH_PAGE].capacity;
    size_t bytes = sizeof(*context) + ZSTD_sizeof_DCtx(context->zstd) + dictionary;
    for (unsigned i = 0; i < NT_SCRATCH_COUNT; i++)
        bytes += context->scratch[i].capacity;
    return bytes;
}

uint8_t *nt_codec_scratch(struct nt_codec_context *context, enum nt_scratch of, size_t bytes)
{
    if (bytes > context->scratch[of].capacity || !context->scratch[of].bytes) {
        free(context->scratch[of].bytes);
        context->scratch[of].bytes = nt_hugepage_alloc(bytes, &context->scratch[of].capacity);
    }
    return context->scratch[of].bytes;
}

size_t nt_codec_scratch_bytes(const struct nt_codec_context *context, enum nt_scratch of)
{
    return context->scratch[of].capacity;
}

/* ---- Deflate ---- */

/* `consumed_ret` returns how much input the stream used. */
static enum nt_status decompress(enum nt_inflate_form form, const char *name, const uint8_t *input,
                                 size_t input_bytes, uint8_t *output, size_t output_bytes,
                                 size_t *consumed_ret, struct nt_codec_context *context,
                                 struct nt_error *error)
{
    static const char *const problems[] = {
        [NT_INFLATE_TOO_MUCH] = "more output than the block's size",
        [NT_INFLATE_INVALID] = "invalid data",
    };
    if (!context->inflater)
        context->inflater = nt_inflater_new();
    NT_TRY(nt_check_memory(context->inflater, error));
    size_t produced = 0;
    enum nt_inflate_result result = nt_inflate(context->inflater, form, input, input_bytes, output,
                                               output_bytes, consumed_ret, &produced);
    if (result == NT_INFLATE_NO_MEMORY)
        return nt_fail_memory(error);
    if (result != NT_INFLATE_OK)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: %s", name, problems[result]);
    if (produced != output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a decompressed block", output_bytes,
                              produced);
    return NT_OK;
}

static enum nt_status decompress_zlib(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                      size_t output_bytes, struct nt_codec_context *context,
                                      struct nt_error *error)
{
    size_t consumed = 0;
    NT_TRY(decompress(NT_INFLATE_ZLIB, "zlib", input, input_bytes, output, output_bytes, &consumed, context,
                      error));
    if (consumed != input_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "compressed bytes of a zlib block",
                              input_bytes, consumed);
    return NT_OK;
}

/* Blocks of the old writer have a few bytes after the end of the stream, which its reader ignores. */
static enum nt_status decompress_deflate(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                         size_t output_bytes, struct nt_codec_context *context,
                                         struct nt_error *error)
{
    size_t consumed = 0;
    return decompress(NT_INFLATE_BARE, "old zlib", input, input_bytes, output, output_bytes, &consumed,
                      context, error);
}

/* ---- Zstandard ---- */

enum nt_status nt_decompress_zstd(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, struct nt_codec_context *context,
                                  struct nt_error *error)
{
    if (!context->zstd)
        context->zstd = ZSTD_createDCtx();
    NT_TRY(nt_check_memory(context->zstd, error));
    size_t produced = ZSTD_decompressDCtx(context->zstd, output, output_bytes, input, input_bytes);
    if (ZSTD_getErrorCode(produced) == ZSTD_error_memory_allocation)
        return nt_fail_memory(error);
    if (ZSTD_isError(produced))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "zstd: %s", ZSTD_getErrorName(produced));
    if (produced != output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a decompressed zstd block",
                              output_bytes, produced);
    return NT_OK;
}

/* ---- LZ4 ---- */

enum { CHECKSUM_BYTES = 8 };

enum nt_status nt_decompress_bare_lz4(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                      size_t output_bytes, struct nt_codec_context *context,
                                      struct nt_error *error)
{
    if (input_bytes > INT_MAX || output_bytes > INT_MAX)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "lz4: a block of %zu bytes cannot decompress to %zu bytes", input_bytes, output_bytes);
    int produced =
        LZ4_decompress_safe((const char *)input, (char *)output, (int)input_bytes, (int)output_bytes);
    if (produced < 0)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "lz4: invalid data");
    if ((size_t)produced != output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a decompressed lz4 block",
                              output_bytes, (uint64_t)produced);
    return NT_OK;
}

static enum nt_status decompress_lz4(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                     size_t output_bytes, struct nt_codec_context *context,
                                     struct nt_error *error)
{
    if (input_bytes < CHECKSUM_BYTES || input_bytes > INT_MAX || output_bytes > INT_MAX)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "lz4: a block of %zu bytes cannot decompress to %zu bytes", input_bytes, output_bytes);
    uint64_t stored = nt_load_be64(input);
    uint64_t computed = XXH64(input + CHECKSUM_BYTES, input_bytes - CHECKSUM_BYTES, 0);
    if (NT_COMPARES_CHECKSUMS && stored != computed) {
        char expected[17], found[17];
        snprintf(expected, sizeof(expected), "%016llx", (unsigned long long)stored);
        snprintf(found, sizeof(found), "%016llx", (unsigned long long)computed);
        return nt_fail_mismatch(error, NT_CHECKSUM, NT_NO_OFFSET, "lz4 block's xxh64", expected, found);
    }
    return nt_decompress_bare_lz4(input + CHECKSUM_BYTES, input_bytes - CHECKSUM_BYTES, output, output_bytes,
                                  context, error);
}

/* ---- LZMA ---- */

/* The strongest preset has a dictionary of 64 MiB; blocks have at most 16 MiB. */
static const uint64_t memory_limit = UINT64_C(128) << 20;

const char *nt_lzma_version(void)
{
    return lzma_version_string();
}

/* The decoder keeps its memory (the dictionary) between blocks. */
static enum nt_status decompress_lzma(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                      size_t output_bytes, struct nt_codec_context *context,
                                      struct nt_error *error)
{
    lzma_stream *stream = &context->lzma;
    lzma_ret result = lzma_stream_decoder(stream, memory_limit, 0);
    stream->next_in = input;
    stream->avail_in = input_bytes;
    stream->next_out = output;
    stream->avail_out = output_bytes;
    while (result == LZMA_OK)
        result = lzma_code(stream, LZMA_FINISH);
    if (result == LZMA_MEM_ERROR)
        return nt_fail_memory(error);
    if (result == LZMA_MEMLIMIT_ERROR)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "lzma: the stream needs more than %llu bytes of memory",
                       (unsigned long long)memory_limit);
    if (result != LZMA_STREAM_END)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "lzma: invalid data (liblzma's code %d)",
                       (int)result);
    if (stream->avail_in || stream->avail_out)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "lzma: %zu bytes of input are left over, %zu bytes of output are missing",
                       stream->avail_in, stream->avail_out);
    return NT_OK;
}

/* ---- No compression ---- */

static enum nt_status copy(const uint8_t *input, size_t input_bytes, uint8_t *output, size_t output_bytes,
                           struct nt_codec_context *context, struct nt_error *error)
{
    if (input_bytes != output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of an uncompressed block", output_bytes,
                              input_bytes);
    if (input_bytes)
        memcpy(output, input, input_bytes);
    return NT_OK;
}

/* ---- ROOT blocks ---- */

enum { HEADER_BYTES = 9 };

static const struct method {
    char magic[2];
    int number; /* -1: any; LZ4 stores its version there */
    enum nt_algorithm algorithm;
    nt_decompress_block *decompress;
} methods[] = {
    {{'Z', 'S'}, 1, NT_ALGORITHM_ZSTD, nt_decompress_zstd},
    {{'L', '4'}, -1, NT_ALGORITHM_LZ4, decompress_lz4},
    {{'Z', 'L'}, 8, NT_ALGORITHM_ZLIB, decompress_zlib},
    {{'X', 'Z'}, 0, NT_ALGORITHM_LZMA, decompress_lzma},
    {{'C', 'S'}, 8, NT_ALGORITHM_OLD_ZLIB, decompress_deflate},
};

static const struct method *find_method(const uint8_t *header)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (!memcmp(header, methods[i].magic, 2) && (methods[i].number < 0 || methods[i].number == header[2]))
            return &methods[i];
    return NULL;
}

static uint32_t load_le24(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;
}

static enum nt_status decompress_one(struct nt_cursor *cursor, uint8_t *output, size_t output_left,
                                     size_t *output_bytes_ret, struct nt_codec_context *context,
                                     struct nt_error *error)
{
    uint64_t position = cursor->position;
    const uint8_t *header = nt_get_bytes(cursor, HEADER_BYTES);
    if (!header)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "compression block at byte %llu of the compressed data: its header is cut off",
                       (unsigned long long)position);
    const struct method *method = find_method(header);
    if (!method)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "compression block at byte %llu of the compressed data: unknown compression "
                       "%02x %02x %02x (%c%c%c)",
                       (unsigned long long)position, header[0], header[1], header[2],
                       nt_ascii_or_dot(header[0]), nt_ascii_or_dot(header[1]), nt_ascii_or_dot(header[2]));
    uint32_t input_bytes = load_le24(header + 3), block_bytes = load_le24(header + 6);
    const uint8_t *input = nt_get_bytes(cursor, input_bytes);
    if (!input || block_bytes > output_left || block_bytes == 0)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%s block at byte %llu of the compressed data: its sizes, %u bytes compressed and %u "
                       "bytes decompressed, exceed the total sizes",
                       nt_algorithm_name(method->algorithm), (unsigned long long)position, input_bytes,
                       block_bytes);
    *output_bytes_ret = block_bytes;
    return method->decompress(input, input_bytes, output, block_bytes, context, error);
}

static enum nt_status decompress_root_blocks(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                             size_t output_bytes, struct nt_codec_context *context,
                                             struct nt_error *error)
{
    if (input_bytes == output_bytes)
        return copy(input, input_bytes, output, output_bytes, context, error);
    struct nt_cursor cursor = nt_cursor(input, input_bytes);
    size_t done = 0;
    while (done < output_bytes) {
        size_t block_bytes = 0;
        NT_TRY(decompress_one(&cursor, output + done, output_bytes - done, &block_bytes, context, error));
        done += block_bytes;
    }
    if (nt_cursor_left(&cursor))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%zu bytes follow the last compression block",
                       nt_cursor_left(&cursor));
    return NT_OK;
}

static enum nt_algorithm root_blocks_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes)
{
    if (input_bytes == output_bytes)
        return NT_ALGORITHM_NONE;
    const struct method *method = input_bytes >= HEADER_BYTES ? find_method(start) : NULL;
    return method ? method->algorithm : NT_ALGORITHM_UNKNOWN;
}

/* The key has the sizes of the record, of the object and of itself. */
static enum nt_algorithm basket_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes)
{
    enum { OBJECT_BYTES_AT = 6, KEY_BYTES_AT = 14, KEY_START = 16 };
    size_t there = input_bytes < NT_COMPRESSION_START ? input_bytes : NT_COMPRESSION_START;
    if (there < KEY_START)
        return NT_ALGORITHM_UNKNOWN;
    size_t object_bytes = nt_load_be32(start + OBJECT_BYTES_AT),
           key_bytes = nt_load_be16(start + KEY_BYTES_AT);
    size_t bytes = input_bytes - (key_bytes < input_bytes ? key_bytes : input_bytes);
    if (object_bytes <= bytes)
        return NT_ALGORITHM_NONE;
    return nt_range_fits(key_bytes, HEADER_BYTES, there)
               ? root_blocks_algorithm(start + key_bytes, bytes, object_bytes)
               : NT_ALGORITHM_UNKNOWN;
}

/* ---- Compression table ---- */

static enum nt_status refuse(const uint8_t *input, size_t input_bytes, uint8_t *output, size_t output_bytes,
                             struct nt_codec_context *context, struct nt_error *error)
{
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "the locator names a position outside this file");
}

static const struct nt_compression compressions[NT_COMPRESSION_COUNT] = {
    [NT_COMPRESSION_NONE] = {.name = "none",
                             .stores_plain = true,
                             .only_algorithm = NT_ALGORITHM_NONE,
                             .decompress = copy},
    [NT_COMPRESSION_ROOT_BLOCKS] = {.name = "root",
                                    .stores_plain = true,
                                    .algorithm = root_blocks_algorithm,
                                    .decompress = decompress_root_blocks},
    [NT_COMPRESSION_ROOT_BASKET] = {.name = "root",
                                    .stores_plain = true,
                                    .algorithm = basket_algorithm,
                                    .decompress = copy},
#if NT_HAS_BLZ /* only BLZ uses these */
    [NT_COMPRESSION_BLOSC] = {.name = "blosc",
                              .algorithm = nt_blosc_algorithm,
                              .decompress = nt_decompress_blosc,
                              .block_bytes = nt_blosc_block_bytes,
                              .decompress_blocks = nt_decompress_blosc_blocks},
    [NT_COMPRESSION_BLOSC_WHOLE] = {.name = "blosc",
                                    .algorithm = nt_blosc_algorithm,
                                    .decompress = nt_decompress_whole_blosc,
                                    .block_bytes = nt_blosc_block_bytes,
                                    .decompress_blocks = nt_decompress_whole_blosc_blocks},
#endif
    [NT_COMPRESSION_ELSEWHERE] = {.name = "elsewhere",
                                  .only_algorithm = NT_ALGORITHM_ELSEWHERE,
                                  .decompress = refuse},
};

const struct nt_compression *nt_compression_info(enum nt_compression_kind kind)
{
    return &compressions[kind];
}

enum nt_status nt_decompress_root_object(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                         size_t output_bytes, struct nt_error *error)
{
    NT_CLEANUP(nt_codec_context_free_at) struct nt_codec_context *context = nt_codec_context_new();
    NT_TRY(nt_check_memory(context, error));
    return decompress_root_blocks(input, input_bytes, output, output_bytes, context, error);
}

enum nt_algorithm nt_compression_algorithm(enum nt_compression_kind kind, const uint8_t *start,
                                           size_t input_bytes, size_t output_bytes)
{
    const struct nt_compression *compression = &compressions[kind];
    return compression->algorithm ? compression->algorithm(start, input_bytes, output_bytes)
                                  : compression->only_algorithm;
}

/* ---- Information content ---- */

enum { PIECE = 1 << 16, RATIO = 16, RATIO_OF_COMPRESSED = 4 };

static uint64_t worth_of_piece(const uint8_t *bytes, size_t count, unsigned ratio)
{
    char room[PIECE / RATIO_OF_COMPRESSED];
    int made = LZ4_compress_default((const char *)bytes, room, (int)count, (int)(count / ratio));
    return made > 0 ? (uint64_t)made * ratio : count;
}

uint64_t nt_information_bytes(const uint8_t *bytes, size_t count, bool is_compressed)
{
    uint64_t worth = 0;
    for (size_t done = 0; done < count;) {
        size_t piece = count - done < PIECE ? count - done : PIECE;
        worth += worth_of_piece(bytes + done, piece, is_compressed ? RATIO_OF_COMPRESSED : RATIO);
        done += piece;
    }
    return worth;
}
