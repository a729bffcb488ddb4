/* SPDX-License-Identifier: MIT
 *
 * Compressed buffers with their size, by the libraries' own compressors and by hand: truncated, extended,
 * and with flipped bytes.
 */
#include <string.h>

#include <lz4.h>
#include <zstd.h>

#include "formats/lance/decode/decode.h"
#include "compressors.h"
#include "support.h"
#include "core/codec/codec.h"

enum { PLAIN = 100000, PACKED = 120000, GUARD = 0xA5 };

static struct nt_error error;
static uint8_t plain[PLAIN], packed[PACKED];

static void put_le(uint8_t *bytes, uint64_t value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

static size_t write_lz4(size_t bytes)
{
    put_le(packed, bytes, 4);
    int written = LZ4_compress_default((const char *)plain, (char *)packed + 4, (int)bytes, PACKED - 4);
    ck_assert_int_gt(written, 0);
    return 4 + (size_t)written;
}

static size_t write_frame(uint8_t *output, const uint8_t *from, size_t bytes, bool has_size)
{
    ZSTD_CCtx *compressor = ZSTD_createCCtx();
    ck_assert(compressor);
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_contentSizeFlag, has_size);
    size_t written = ZSTD_compress2(compressor, output, PACKED / 2 + 500, from, bytes);
    ck_assert(!ZSTD_isError(written));
    ZSTD_freeCCtx(compressor);
    return written;
}

static size_t write_prefixed_zstd(size_t bytes)
{
    put_le(packed, bytes, 8);
    return 8 + write_frame(packed + 8, plain, bytes, true);
}

static size_t write_prefixed_zstd_of_unknown_size(size_t bytes)
{
    put_le(packed, bytes, 8);
    return 8 + write_frame(packed + 8, plain, bytes, false);
}

static size_t write_zstd(size_t bytes)
{
    return write_frame(packed, plain, bytes, true);
}

static size_t write_zstd_of_unknown_size(size_t bytes)
{
    return write_frame(packed, plain, bytes, false);
}

/* Frames with and without their size, one after the other. */
static size_t write_frames(size_t bytes)
{
    size_t half = bytes / 2, written = write_frame(packed, plain, half, false);
    return written + write_frame(packed + written, plain + half, bytes - half, true);
}

static const struct {
    enum nt_length_prefixed_kind kind;
    size_t (*write)(size_t bytes);
} writers[] = {
    {NT_LENGTH_PREFIXED_LZ4, write_lz4},
    {NT_LENGTH_PREFIXED_ZSTD, write_prefixed_zstd},
    {NT_LENGTH_PREFIXED_ZSTD, write_prefixed_zstd_of_unknown_size},
    {NT_LENGTH_PREFIXED_ZSTD, write_zstd},
    {NT_LENGTH_PREFIXED_ZSTD, write_zstd_of_unknown_size},
    {NT_LENGTH_PREFIXED_ZSTD, write_frames},
};

static enum nt_status size_of(enum nt_length_prefixed_kind kind, const uint8_t *bytes, size_t count,
                              uint64_t *size_ret)
{
    uint8_t *input = exact_copy(bytes, count);
    enum nt_status status = nt_length_prefixed_bytes(kind, input, count, size_ret, &error);
    free(input);
    return status;
}

static enum nt_status decompress(enum nt_length_prefixed_kind kind, const uint8_t *bytes, size_t count,
                                 uint8_t *output, size_t output_bytes)
{
    uint8_t *input = exact_copy(bytes, count), *exact = malloc(output_bytes + 1);
    struct nt_codec_context *context = nt_codec_context_new();
    ck_assert(exact && context);
    exact[output_bytes] = GUARD;
    enum nt_status status =
        nt_length_prefixed_decompress(kind, input, count, exact, output_bytes, context, &error);
    ck_assert_uint_eq(exact[output_bytes], GUARD);
    if (status == NT_OK && output && output_bytes)
        memcpy(output, exact, output_bytes);
    nt_codec_context_free(context);
    free(exact);
    free(input);
    return status;
}

static void assert_decompresses(enum nt_length_prefixed_kind kind, const uint8_t *bytes, size_t count,
                                const uint8_t *expected, size_t expected_bytes)
{
    static uint8_t output[PLAIN];
    uint64_t size;
    assert_ok(size_of(kind, bytes, count, &size));
    ck_assert_uint_eq(size, expected_bytes);
    assert_ok(decompress(kind, bytes, count, output, expected_bytes));
    if (expected_bytes)
        ck_assert_mem_eq(output, expected, expected_bytes);
}

TEST(buffers_of_all_sizes_come_back, .end = sizeof(writers) / sizeof(*writers))
{
    fill_sample(plain, PLAIN, 3);
    for (size_t bytes = 0; bytes <= PLAIN; bytes += bytes < 100 ? 1 : 9971)
        assert_decompresses(writers[_i].kind, packed, writers[_i].write(bytes), plain, bytes);
}

TEST(another_size_is_refused, .end = sizeof(writers) / sizeof(*writers))
{
    fill_sample(plain, PLAIN, 4);
    size_t count = writers[_i].write(5000);
    for (size_t size = 4990; size < 5010; size++)
        assert_status(size == 5000 ? NT_OK : NT_CORRUPT,
                      decompress(writers[_i].kind, packed, count, NULL, size));
    assert_status(NT_CORRUPT, decompress(writers[_i].kind, packed, count, NULL, 0));
}

/* The output has the size in the header, or it is refused. */
static enum nt_status try_damaged(enum nt_length_prefixed_kind kind, const uint8_t *bytes, size_t count)
{
    static uint8_t output[PLAIN];
    uint64_t size = 0;
    if (size_of(kind, bytes, count, &size) != NT_OK)
        return NT_CORRUPT;
    return size > PLAIN ? NT_CORRUPT : decompress(kind, bytes, count, output, (size_t)size);
}

TEST(a_cut_buffer_is_refused, .end = sizeof(writers) / sizeof(*writers))
{
    fill_sample(plain, PLAIN, 5);
    size_t count = writers[_i].write(3000);
    bool has_frames = writers[_i].write == write_frames;
    size_t first = has_frames ? ZSTD_findFrameCompressedSize(packed, count) : count;
    for (size_t cut = 1; cut < count; cut++)
        assert_status(cut == first ? NT_OK : NT_CORRUPT, try_damaged(writers[_i].kind, packed, cut));
    memset(packed + count, 0, 8);
    for (size_t more = 1; more <= 8; more++)
        assert_status(NT_CORRUPT, try_damaged(writers[_i].kind, packed, count + more));
}

TEST(flipped_bytes_do_no_harm, .end = sizeof(writers) / sizeof(*writers))
{
    fill_sample(plain, PLAIN, 6);
    size_t count = writers[_i].write(600);
    for (size_t i = 0; i < count; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            packed[i] ^= (uint8_t)(1u << bit);
            try_damaged(writers[_i].kind, packed, count);
            packed[i] ^= (uint8_t)(1u << bit);
        }
    assert_decompresses(writers[_i].kind, packed, count, plain, 600);
}

/* From RFC 8878 and LZ4's description of blocks; "aaaaa" as a block of one repeated byte. */
static const struct {
    enum nt_length_prefixed_kind kind;
    size_t count, size;
    const char *expected; /* NULL: it is corrupt */
    uint8_t bytes[32];
} known[] = {
    {NT_LENGTH_PREFIXED_LZ4, 10, 5, "hello", {5, 0, 0, 0, 0x50, 'h', 'e', 'l', 'l', 'o'}},
    {NT_LENGTH_PREFIXED_LZ4, 5, 0, "", {0, 0, 0, 0, 0}},
    {NT_LENGTH_PREFIXED_LZ4, 4, 0, NULL, {0, 0, 0, 0}}, /* an empty block has a byte */
    {NT_LENGTH_PREFIXED_LZ4, 0, 0, NULL, {0}},
    {NT_LENGTH_PREFIXED_ZSTD, 0, 0, "", {0}},
    {NT_LENGTH_PREFIXED_ZSTD, 10, 5, "aaaaa", {0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 0x2B, 0, 0, 'a'}},
    {NT_LENGTH_PREFIXED_ZSTD, 10, 5, "aaaaa", {0x28, 0xB5, 0x2F, 0xFD, 0, 0, 0x2B, 0, 0, 'a'}},
    {NT_LENGTH_PREFIXED_ZSTD,
     18,
     5,
     "aaaaa",
     {5, 0, 0, 0, 0, 0, 0, 0, 0x28, 0xB5, 0x2F, 0xFD, 0, 0, 0x2B, 0, 0, 'a'}},
    {NT_LENGTH_PREFIXED_ZSTD,
     18,
     5,
     "aaaaa",
     {5, 0, 0, 0, 0, 0, 0, 0, 0x28, 0xB5, 0x2F, 0xFD, 32, 5, 0x2B, 0, 0, 'a'}},
    {NT_LENGTH_PREFIXED_ZSTD, 8, 0, "", {0}},
    {NT_LENGTH_PREFIXED_ZSTD, 8, 0, NULL, {5}},
    {NT_LENGTH_PREFIXED_ZSTD,
     18,
     0,
     NULL,
     {6, 0, 0, 0, 0, 0, 0, 0, 0x28, 0xB5, 0x2F, 0xFD, 32, 5, 0x2B, 0, 0, 'a'}},
    /* the header says 6 */
    {NT_LENGTH_PREFIXED_ZSTD, 10, 0, NULL, {0x28, 0xB5, 0x2F, 0xFD, 0x20, 6, 0x2B, 0, 0, 'a'}},
};

TEST(bytes_written_by_hand_are_what_they_say, .end = sizeof(known) / sizeof(*known))
{
    uint64_t size;
    if (known[_i].expected) {
        assert_decompresses(known[_i].kind, known[_i].bytes, known[_i].count,
                            (const uint8_t *)known[_i].expected, known[_i].size);
    } else if (size_of(known[_i].kind, known[_i].bytes, known[_i].count, &size) == NT_OK) {
        assert_status(NT_CORRUPT,
                      decompress(known[_i].kind, known[_i].bytes, known[_i].count, NULL, (size_t)size));
    }
}

static const struct {
    enum nt_length_prefixed_kind kind;
    size_t count;
    uint8_t bytes[32];
} implausible[] = {
    {NT_LENGTH_PREFIXED_LZ4, 10, {0xFF, 0xFF, 0xFF, 0xFF, 0x50, 'h', 'e', 'l', 'l', 'o'}},
    {NT_LENGTH_PREFIXED_LZ4, 10, {0x0B, 0x06, 0, 0, 0x50, 'h', 'e', 'l', 'l', 'o'}}, /* 6 x 255 + 17 */
    {NT_LENGTH_PREFIXED_ZSTD, 18, {0, 0, 0, 0, 1, 0, 0, 0, 0x28, 0xB5, 0x2F, 0xFD, 0, 0, 0x2B, 0, 0, 'a'}},
    {NT_LENGTH_PREFIXED_ZSTD, 17, {0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 0, 1, 0, 0x2B, 0, 0, 'a'}},
};

TEST(a_size_that_so_few_bytes_cannot_have_is_refused, .end = sizeof(implausible) / sizeof(*implausible))
{
    uint64_t size;
    assert_status(NT_CORRUPT,
                  size_of(implausible[_i].kind, implausible[_i].bytes, implausible[_i].count, &size));
}

TEST(a_buffer_may_be_as_dense_as_it_can)
{
    uint64_t size;
    memset(plain, 7, PLAIN);
    for (size_t i = 0; i < sizeof(writers) / sizeof(*writers); i++)
        assert_decompresses(writers[i].kind, packed, writers[i].write(PLAIN), plain, PLAIN);
    /* blocks of 128 KiB, each of one repeated byte, in a frame with a window of as much */
    static uint8_t blocks[6 + 4 * 100] = {0x28, 0xB5, 0x2F, 0xFD, 0, 0x38};
    for (size_t i = 0; i < 100; i++)
        memcpy(blocks + 6 + 4 * i, (uint8_t[]){i == 99 ? 3 : 2, 0, 0x10, 'b'}, 4);
    assert_ok(size_of(NT_LENGTH_PREFIXED_ZSTD, blocks, sizeof(blocks), &size));
    ck_assert_uint_eq(size, 100 * 128 * 1024);
}

TEST(counting_has_a_limit)
{
    enum { BLOCKS = 32769 };
    uint64_t size;
    uint8_t *blocks = malloc(6 + 4 * BLOCKS);
    ck_assert(blocks);
    memcpy(blocks, (uint8_t[]){0x28, 0xB5, 0x2F, 0xFD, 0, 0x38}, 6);
    for (size_t i = 0; i < BLOCKS; i++)
        memcpy(blocks + 6 + 4 * i, (uint8_t[]){i == BLOCKS - 1 ? 3 : 2, 0, 0x10, 'b'}, 4);
    assert_status(NT_LIMIT, size_of(NT_LENGTH_PREFIXED_ZSTD, blocks, 6 + 4 * BLOCKS, &size));
    free(blocks);
}
