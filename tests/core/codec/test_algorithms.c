/* SPDX-License-Identifier: MIT
 *
 * Requirements of single algorithms, beyond what test_root_blocks.c tests for all of them.
 */
#include <malloc.h>
#include <string.h>

#include <lz4.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "core/codec/codec.h"
#include "compressors.h"
#include "support.h"

enum { PLAIN_BYTES = 1000 };

static struct nt_error error;
static uint8_t plain[PLAIN_BYTES], packed[65536];

static void set_up(void)
{
    fill_sample(plain, sizeof(plain), 1);
}

/* Puts a header before `bytes` of payload at packed + 9 and decompresses. */
static enum nt_status decompress_payload(const char *magic, size_t bytes)
{
    uint8_t *output = NULL;
    const uint8_t sizes[6] = {(uint8_t)bytes,     (uint8_t)(bytes >> 8), 0,
                              PLAIN_BYTES & 0xFF, PLAIN_BYTES >> 8,      0};
    memcpy(packed, magic, 3);
    memcpy(packed + 3, sizes, sizeof(sizes));
    enum nt_status status =
        decompress_exact(NT_COMPRESSION_ROOT_BLOCKS, packed, 9 + bytes, PLAIN_BYTES, &output, &error);
    if (status == NT_OK)
        ck_assert_mem_eq(output, plain, PLAIN_BYTES);
    free(output);
    return status;
}

static size_t compress_payload(const char *name)
{
    return compressor_named(name)->compress(plain, sizeof(plain), packed + 9, sizeof(packed) - 9);
}

/* ---- LZ4 ---- */

TEST(lz4_blocks_must_match_their_xxh64, .setup = set_up)
{
    size_t bytes = compress_payload("lz4");
    ck_assert_int_eq(decompress_payload("L4\x01", bytes), NT_OK);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        packed[9 + bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(decompress_payload("L4\x01", bytes), NT_CHECKSUM);
        packed[9 + bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ck_assert_uint_eq(strlen(error.expected), 16);
    ck_assert_str_ne(error.expected, error.found);
}

TEST(lz4_blocks_shorter_than_their_checksum_are_refused, .setup = set_up)
{
    for (size_t bytes = 0; bytes < 8; bytes++)
        ck_assert_int_eq(decompress_payload("L4\x01", bytes), NT_CORRUPT);
}

/* ---- deflate ---- */

TEST(bytes_after_an_old_deflate_stream_are_ignored, .setup = set_up)
{
    size_t bytes = compress_payload("old-zlib") - 6;
    for (size_t padding = 0; padding < 20; padding++) {
        memset(packed + 9 + bytes, 0x5A, padding);
        ck_assert_int_eq(decompress_payload("CS\x08", bytes + padding), NT_OK);
    }
    ck_assert_int_eq(decompress_payload("CS\x08", bytes - 1), NT_CORRUPT);
}

TEST(bytes_after_a_zlib_stream_are_refused, .setup = set_up)
{
    size_t bytes = compress_payload("zlib");
    ck_assert_int_eq(decompress_payload("ZL\x08", bytes), NT_OK);
    packed[9 + bytes] = 0;
    ck_assert_int_eq(decompress_payload("ZL\x08", bytes + 1), NT_CORRUPT);
}

TEST(the_two_deflate_formats_are_not_mixed_up, .setup = set_up)
{
    ck_assert_int_eq(decompress_payload("CS\x08", compress_payload("zlib")), NT_CORRUPT);
    ck_assert_int_eq(decompress_payload("ZL\x08", compress_payload("old-zlib")), NT_CORRUPT);
}

/* ---- LZMA ---- */

/* Encoders allocate up to gigabytes and use little of it for a small sample: MALLOC_PERTURB_ would fill
 * all. */
static void leave_memory_unfilled(void)
{
    mallopt(M_PERTURB, 0);
}

static size_t compress_lzma(uint32_t preset, lzma_check check, size_t bytes)
{
    size_t produced = 0;
    leave_memory_unfilled();
    ck_assert_int_eq(
        lzma_easy_buffer_encode(preset, check, NULL, plain, bytes, packed + 9, &produced, sizeof(packed) - 9),
        LZMA_OK);
    return produced;
}

TEST(lzma_of_all_presets_and_checks_is_read, .setup = set_up)
{
    static const lzma_check checks[] = {LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_CRC64,
                                        LZMA_CHECK_SHA256};
    for (uint32_t preset = 0; preset <= 9; preset++)
        ck_assert_int_eq(decompress_payload("XZ\x00", compress_lzma(preset, LZMA_CHECK_CRC32, PLAIN_BYTES)),
                         NT_OK);
    for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
        ck_assert_int_eq(decompress_payload("XZ\x00", compress_lzma(1, checks[i], PLAIN_BYTES)), NT_OK);
}

TEST(lzma_that_asks_for_too_much_memory_is_refused, .setup = set_up)
{
    lzma_options_lzma options;
    lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    size_t bytes = 0;
    leave_memory_unfilled();
    ck_assert(!lzma_lzma_preset(&options, 6));
    options.dict_size = UINT32_C(1) << 28;
    ck_assert_int_eq(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, plain, PLAIN_BYTES,
                                               packed + 9, &bytes, sizeof(packed) - 9),
                     LZMA_OK);
    ck_assert_int_eq(decompress_payload("XZ\x00", bytes), NT_LIMIT);
}

TEST(two_lzma_streams_in_one_block_are_refused, .setup = set_up)
{
    size_t bytes = compress_lzma(1, LZMA_CHECK_CRC32, PLAIN_BYTES);
    memcpy(packed + 9 + bytes, packed + 9, bytes);
    ck_assert_int_eq(decompress_payload("XZ\x00", 2 * bytes), NT_CORRUPT);
}

/* ---- zstd ---- */

TEST(zstd_frames_that_do_not_say_their_size_are_read, .setup = set_up)
{
    ZSTD_CCtx *compressor = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_contentSizeFlag, 0);
    size_t bytes = ZSTD_compress2(compressor, packed + 9, sizeof(packed) - 9, plain, PLAIN_BYTES);
    ZSTD_freeCCtx(compressor);
    ck_assert(!ZSTD_isError(bytes));
    ck_assert_uint_eq(ZSTD_getFrameContentSize(packed + 9, bytes), ZSTD_CONTENTSIZE_UNKNOWN);
    ck_assert_int_eq(decompress_payload("ZS\x01", bytes), NT_OK);
}

TEST(zstd_checksums_are_verified, .setup = set_up)
{
    ZSTD_CCtx *compressor = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1);
    size_t bytes = ZSTD_compress2(compressor, packed + 9, sizeof(packed) - 9, plain, PLAIN_BYTES);
    ZSTD_freeCCtx(compressor);
    ck_assert(!ZSTD_isError(bytes));
    ck_assert_int_eq(decompress_payload("ZS\x01", bytes), NT_OK);
    packed[9 + bytes - 1] ^= 1;
    ck_assert_int_eq(decompress_payload("ZS\x01", bytes), NT_CORRUPT);
}
