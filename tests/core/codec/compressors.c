/* SPDX-License-Identifier: MIT
 *
 * Each library's own compressor behind one function, and the headers of ROOT's blocks around its output.
 */
#include "compressors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <lzma.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

static void demand(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "test compressor: %s failed\n", what);
    abort();
}

static size_t compress_deflate(int window_bits, const uint8_t *input, size_t input_bytes, uint8_t *output,
                               size_t room)
{
    z_stream stream = {0};
    demand(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK, "deflateInit2");
    stream.next_in = (uint8_t *)(uintptr_t)input;
    stream.avail_in = (uInt)input_bytes;
    stream.next_out = output;
    stream.avail_out = (uInt)room;
    demand(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflate");
    size_t bytes = stream.total_out;
    deflateEnd(&stream);
    return bytes;
}

static size_t compress_zlib(const uint8_t *input, size_t input_bytes, uint8_t *output, size_t room)
{
    return compress_deflate(15, input, input_bytes, output, room);
}

/* ROOT's old blocks end with six bytes that do not belong to the stream. */
static size_t compress_old_zlib(const uint8_t *input, size_t input_bytes, uint8_t *output, size_t room)
{
    size_t bytes = compress_deflate(-15, input, input_bytes, output, room - 6);
    memset(output + bytes, 0, 6);
    return bytes + 6;
}

/* Many pages are tiny: it would take longer to allocate and free the memory of each call than to use it. */
static uint8_t lzma_memory[4 << 20];
static size_t lzma_used;

static void *take_lzma_memory(void *unused, size_t count, size_t size)
{
    uint8_t *memory = lzma_memory + lzma_used;
    lzma_used += (count * size + 63) / 64 * 64;
    demand(lzma_used <= sizeof(lzma_memory), "lzma memory");
    return memory;
}

static void keep_lzma_memory(void *unused, void *memory)
{
}

/* A small dictionary needs little memory. */
static size_t compress_lzma(const uint8_t *input, size_t input_bytes, uint8_t *output, size_t room)
{
    lzma_options_lzma options;
    lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    const lzma_allocator allocator = {.alloc = take_lzma_memory, .free = keep_lzma_memory};
    size_t bytes = 0;
    lzma_used = 0;
    demand(!lzma_lzma_preset(&options, 1), "lzma preset");
    options.dict_size = 64 << 10;
    demand(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, &allocator, input, input_bytes, output,
                                     &bytes, room) == LZMA_OK,
           "lzma");
    return bytes;
}

static size_t compress_lz4(const uint8_t *input, size_t input_bytes, uint8_t *output, size_t room)
{
    int bytes =
        LZ4_compress_default((const char *)input, (char *)output + 8, (int)input_bytes, (int)room - 8);
    demand(bytes > 0, "lz4");
    XXH64_canonicalFromHash((XXH64_canonical_t *)(void *)output, XXH64(output + 8, (size_t)bytes, 0));
    return (size_t)bytes + 8;
}

static size_t compress_zstd(const uint8_t *input, size_t input_bytes, uint8_t *output, size_t room)
{
    static ZSTD_CCtx *context; /* kept for the process: it is large */
    if (!context)
        context = ZSTD_createCCtx();
    size_t bytes = ZSTD_compressCCtx(context, output, room, input, input_bytes, 5);
    demand(!ZSTD_isError(bytes), "zstd");
    return bytes;
}

const struct compressor compressors[] = {
    {"zlib", "ZL\x08", true, compress_zlib},  {"old-zlib", "CS\x08", false, compress_old_zlib},
    {"lzma", "XZ\x00", true, compress_lzma},  {"lz4", "L4\x01", true, compress_lz4},
    {"zstd", "ZS\x01", false, compress_zstd},
};
const size_t compressors_count = sizeof(compressors) / sizeof(*compressors);

const struct compressor *compressor_named(const char *name)
{
    for (size_t i = 0; i < compressors_count; i++)
        if (!strcmp(compressors[i].name, name))
            return &compressors[i];
    demand(false, name);
    return NULL;
}

void fill_sample(uint8_t *bytes, size_t count, uint32_t seed)
{
    uint32_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(i % 4 ? i / 256 : state >> 26);
    }
}

size_t block_room(size_t input_bytes)
{
    return input_bytes + input_bytes / 8 + 1024;
}

static void store_le24(uint8_t *to, size_t value)
{
    for (unsigned i = 0; i < 3; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

size_t write_block(const struct compressor *compressor, const uint8_t *input, size_t input_bytes,
                   uint8_t *output, size_t room)
{
    size_t bytes = compressor->compress(input, input_bytes, output + 9, room - 9);
    memcpy(output, compressor->magic, 3);
    store_le24(output + 3, bytes);
    store_le24(output + 6, input_bytes);
    return 9 + bytes;
}

uint8_t *exact_copy(const uint8_t *bytes, size_t count)
{
    uint8_t *copy = malloc(count ? count : 1);
    demand(copy != NULL, "malloc");
    if (count)
        memcpy(copy, bytes, count);
    return copy;
}

enum nt_status decompress_exact(enum nt_compression_kind kind, const uint8_t *input, size_t input_bytes,
                                size_t output_bytes, uint8_t **output_ret, struct nt_error *error)
{
    struct nt_codec_context *context = nt_codec_context_new();
    uint8_t *exact_input = exact_copy(input, input_bytes);
    uint8_t *output = malloc(output_bytes ? output_bytes : 1);
    demand(context && output, "malloc");
    memset(output, 0xA5, output_bytes);
    enum nt_status status =
        nt_compression_info(kind)->decompress(exact_input, input_bytes, output, output_bytes, context, error);
    free(exact_input);
    nt_codec_context_free(context);
    *output_ret = output;
    return status;
}
