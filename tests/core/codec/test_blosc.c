/* SPDX-License-Identifier: MIT
 *
 * Blosc chunks written by c-blosc: whole, in parts, truncated, extended, and with flipped bits.
 */
#include <string.h>

#include <blosc.h>

#include "core/codec/codec.h"
#include "compressors.h"
#include "support.h"

static struct nt_error error;
static const char *const codecs[] = {"blosclz", "lz4", "zlib", "zstd"};
enum { CODECS = sizeof(codecs) / sizeof(*codecs) };

static size_t write_chunk(const char *codec, int level, int shuffle, size_t type_bytes, const uint8_t *plain,
                          size_t bytes, uint8_t *chunk, size_t room)
{
    int produced = blosc_compress_ctx(level, shuffle, type_bytes, bytes, plain, chunk, room, codec, 0, 1);
    ck_assert_int_gt(produced, 0);
    return (size_t)produced;
}

static enum nt_status status_of(const uint8_t *chunk, size_t chunk_bytes, const uint8_t *plain, size_t bytes)
{
    uint8_t *output = NULL;
    enum nt_status status =
        decompress_exact(NT_COMPRESSION_BLOSC, chunk, chunk_bytes, bytes, &output, &error);
    if (status == NT_OK)
        ck_assert_mem_eq(output, plain, bytes);
    free(output);
    return status;
}

TEST(chunks_of_every_codec_filter_and_type_size_are_read, .end = CODECS)
{
    static uint8_t plain[40000], chunk[50000];
    static const size_t type_sizes[] = {1, 2, 4, 7, 8, 16, 255};
    fill_sample(plain, sizeof(plain), 1);
    for (int level = 0; level <= 9; level += 3)
        for (int shuffle = 0; shuffle <= 2; shuffle++)
            for (size_t i = 0; i < sizeof(type_sizes) / sizeof(*type_sizes); i++)
                for (size_t bytes = 1; bytes <= sizeof(plain); bytes = bytes * 5 + 3) {
                    size_t chunk_bytes = write_chunk(codecs[_i], level, shuffle, type_sizes[i], plain, bytes,
                                                     chunk, sizeof(chunk));
                    ck_assert_int_eq(status_of(chunk, chunk_bytes, plain, bytes), NT_OK);
                }
}

static const char *algorithm_of(const uint8_t *chunk, size_t chunk_bytes, size_t plain_bytes)
{
    return nt_algorithm_name(nt_compression_algorithm(NT_COMPRESSION_BLOSC, chunk, chunk_bytes, plain_bytes));
}

TEST(the_algorithm_is_the_chunks_codec, .end = CODECS)
{
    uint8_t plain[4000], chunk[5000];
    memset(plain, 1, sizeof(plain));
    write_chunk(codecs[_i], 5, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    ck_assert_str_eq(algorithm_of(chunk, 16, sizeof(plain)), codecs[_i]);
    write_chunk(codecs[_i], 0, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    ck_assert_str_eq(algorithm_of(chunk, 16, sizeof(plain)), "none");
}

TEST(a_trimmed_array_takes_the_first_bytes_of_its_last_chunk, .end = CODECS)
{
    uint8_t plain[4000], chunk[5000];
    fill_sample(plain, sizeof(plain), 2);
    size_t bytes = write_chunk(codecs[_i], 5, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    for (size_t requested = 0; requested <= sizeof(plain); requested += 400)
        ck_assert_int_eq(status_of(chunk, bytes, plain, requested), NT_OK);
    ck_assert_int_eq(status_of(chunk, bytes, plain, sizeof(plain) + 1), NT_CORRUPT);
}

TEST(a_whole_chunk_may_not_hold_more_than_is_requested, .end = CODECS)
{
    uint8_t plain[4000], chunk[5000], *output = NULL;
    fill_sample(plain, sizeof(plain), 2);
    size_t bytes = write_chunk(codecs[_i], 5, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    for (size_t requested = sizeof(plain) - 4; requested <= sizeof(plain) + 4; requested += 4) {
        enum nt_status expected = requested == sizeof(plain) ? NT_OK : NT_CORRUPT;
        assert_status(expected,
                      decompress_exact(NT_COMPRESSION_BLOSC_WHOLE, chunk, bytes, requested, &output, &error));
        free(output);
    }
}

TEST(every_truncation_and_extension_is_refused, .end = CODECS)
{
    uint8_t plain[400], chunk[600];
    fill_sample(plain, sizeof(plain), 3);
    size_t bytes = write_chunk(codecs[_i], 5, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    for (size_t left = 0; left <= bytes + 1; left++)
        ck_assert_int_eq(status_of(chunk, left, plain, sizeof(plain)) == NT_OK, left == bytes);
}

TEST(no_flipped_bit_does_harm, .end = CODECS)
{
    uint8_t plain[400], chunk[600], *output = NULL;
    size_t refused = 0;
    fill_sample(plain, sizeof(plain), 4);
    size_t bytes = write_chunk(codecs[_i], 5, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        chunk[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum nt_status status =
            decompress_exact(NT_COMPRESSION_BLOSC, chunk, bytes, sizeof(plain), &output, &error);
        refused += status != NT_OK;
        free(output);
        chunk[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ck_assert_uint_gt(refused, 32); /* at least all bits of the chunk's own size */
}

TEST(a_small_chunk_that_claims_gigabytes_is_refused)
{
    uint8_t plain[400], chunk[600];
    fill_sample(plain, sizeof(plain), 5);
    size_t bytes = write_chunk("lz4", 5, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    memcpy(chunk + 4, "\x00\x00\x00\x70", 4);
    ck_assert_int_eq(status_of(chunk, bytes, plain, sizeof(plain)), NT_LIMIT);
    memcpy(chunk + 4, "\x01\x00\x00\x04", 4); /* 64 MiB and a byte */
    ck_assert_int_eq(status_of(chunk, bytes, plain, sizeof(plain)), NT_LIMIT);
}

/* ---- parts ---- */

/* Decompresses a part into memory of exactly its size. */
static enum nt_status part_of(const uint8_t *exact, size_t chunk_bytes, size_t whole, size_t offset,
                              size_t bytes, uint8_t **output_ret)
{
    *output_ret = malloc(bytes ? bytes : 1);
    memset(*output_ret, 0xA5, bytes);
    return nt_compression_info(NT_COMPRESSION_BLOSC)
        ->decompress_blocks(exact, chunk_bytes, whole, offset, *output_ret, bytes, &error);
}

static enum nt_status part_status(const uint8_t *chunk, size_t chunk_bytes, size_t whole, size_t offset,
                                  size_t bytes, uint8_t **output_ret)
{
    uint8_t *exact = exact_copy(chunk, chunk_bytes);
    enum nt_status status = part_of(exact, chunk_bytes, whole, offset, bytes, output_ret);
    free(exact);
    return status;
}

static size_t block_bytes_of(const uint8_t *chunk, size_t chunk_bytes, size_t whole)
{
    return nt_compression_info(NT_COMPRESSION_BLOSC)->block_bytes(chunk, chunk_bytes, whole);
}

/* Each part, and some from an offset to the end. */
static void check_parts(const uint8_t *chunk, size_t chunk_bytes, const uint8_t *plain, size_t whole)
{
    size_t part = block_bytes_of(chunk, chunk_bytes, whole);
    uint8_t *exact = exact_copy(chunk, chunk_bytes);
    ck_assert_uint_gt(part, 0);
    for (size_t offset = 0; offset < whole; offset += part)
        for (int to_the_end = 0; to_the_end <= (offset % (16 * part) == 0); to_the_end++) {
            uint8_t *output;
            size_t left = whole - offset, bytes = to_the_end || left < part ? left : part;
            assert_ok(part_of(exact, chunk_bytes, whole, offset, bytes, &output));
            ck_assert_mem_eq(output, plain + offset, bytes);
            free(output);
        }
    free(exact);
}

TEST(parts_are_the_bytes_of_the_whole_in_every_codec_filter_type_and_block_size, .end = CODECS)
{
    static uint8_t plain[100000], chunk[120000];
    static const size_t type_sizes[] = {1, 2, 4, 7, 8, 16, 250};
    static const size_t block_sizes[] = {0, 1000, 4096, 16000, 300000};
    fill_sample(plain, sizeof(plain), 6);
    for (int shuffle = 0; shuffle <= 2; shuffle++)
        for (size_t i = 0; i < sizeof(type_sizes) / sizeof(*type_sizes); i++)
            for (size_t k = 0; k < sizeof(block_sizes) / sizeof(*block_sizes); k++) {
                size_t bytes = (sizeof(plain) - 1000 * k) / type_sizes[i] * type_sizes[i];
                int level = (int)((size_t)shuffle + i + k) % 3 * 4; /* 0: not compressed */
                int made = blosc_compress_ctx(level, shuffle, type_sizes[i], bytes, plain, chunk,
                                              sizeof(chunk), codecs[_i], block_sizes[k], 1);
                ck_assert_int_gt(made, 0);
                check_parts(chunk, (size_t)made, plain, bytes);
                check_parts(chunk, (size_t)made, plain, bytes / 2 / type_sizes[i] * type_sizes[i]);
            }
}

/* Blocks of 1000 bytes; items of up to 16 bytes would need larger ones. */
static size_t write_blocks(uint8_t *plain, size_t bytes, uint8_t *chunk, size_t room, const char *codec)
{
    fill_sample(plain, bytes, 7);
    int made = blosc_compress_ctx(5, BLOSC_SHUFFLE, 20, bytes, plain, chunk, room, codec, 1000, 1);
    ck_assert_int_gt(made, 0);
    return (size_t)made;
}

TEST(parts_begin_and_end_with_blocks, .end = CODECS)
{
    static uint8_t plain[9840], chunk[12000];
    size_t bytes = write_blocks(plain, sizeof(plain), chunk, sizeof(chunk), codecs[_i]);
    uint8_t *output;
    ck_assert_uint_eq(block_bytes_of(chunk, bytes, sizeof(plain)), 1000);
    static const size_t bad[][2] = {{20, 980}, {0, 980}, {1000, 1020}, {9000, 860}, {10000, 0}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_status(NT_UNSUPPORTED,
                      part_status(chunk, bytes, sizeof(plain), bad[i][0], bad[i][1], &output));
        free(output);
    }
}

/* Chunks that blosc_getitem would accept, and blosc_decompress_ctx refuses. */
TEST(chunks_that_only_the_library_for_the_whole_checks_have_no_parts, .end = CODECS)
{
    static uint8_t plain[9840], chunk[12000];
    static const struct {
        size_t at;
        const char *bytes;
        size_t count;
    } edits[] = {
        {0, "\x03", 1},             /* a future version */
        {2, "\x29", 1},             /* a future flag */
        {3, "\x00", 1},             /* items of no bytes */
        {3, "\x03", 1},             /* blocks of 333 items and a third */
        {8, "\x00\x00\x00\x00", 4}, /* blocks of no bytes */
        {8, "\x84\x26\x00\x00", 4}, /* larger than the chunk */
    };
    size_t bytes = write_blocks(plain, sizeof(plain), chunk, sizeof(chunk), codecs[_i]);
    for (size_t i = 0; i < sizeof(edits) / sizeof(*edits); i++) {
        uint8_t *changed = exact_copy(chunk, bytes), *output;
        memcpy(changed + edits[i].at, edits[i].bytes, edits[i].count);
        ck_assert_uint_eq(block_bytes_of(changed, bytes, sizeof(plain)), 0);
        ck_assert_int_ne(part_status(changed, bytes, sizeof(plain), 0, 1000, &output), NT_OK);
        free(output);
        free(changed);
    }
    ck_assert_uint_eq(block_bytes_of(chunk, 15, sizeof(plain)), 0);
    ck_assert_uint_eq(block_bytes_of(chunk, bytes, sizeof(plain) + 20), 0);
}

/* The library decompresses a whole block, however small the part is. */
TEST(a_large_block_of_which_little_is_requested_is_no_part, .end = CODECS)
{
    static uint8_t plain[9840], chunk[12000];
    size_t bytes = write_blocks(plain, sizeof(plain), chunk, sizeof(chunk), codecs[_i]);
    memcpy(chunk + 4, "\x00\x00\x00\x04", 4); /* a chunk of 64 MiB, and blocks of as many bytes */
    memcpy(chunk + 8, "\x00\x00\x00\x04", 4);
    chunk[3] = 1;
    ck_assert_uint_eq(block_bytes_of(chunk, bytes, sizeof(plain)), 64 << 20);
    memcpy(chunk + 4, "\x01\x00\x00\x04", 4);
    memcpy(chunk + 8, "\x01\x00\x00\x04", 4);
    ck_assert_uint_eq(block_bytes_of(chunk, bytes, sizeof(plain)), 0);
    ck_assert_uint_eq(block_bytes_of(chunk, bytes, (64 << 20) + 1), (64 << 20) + 1);
}

TEST(a_part_of_a_whole_chunk_is_refused_where_the_chunk_holds_more, .end = CODECS)
{
    static uint8_t plain[9840], chunk[12000], output[1000];
    size_t bytes = write_blocks(plain, sizeof(plain), chunk, sizeof(chunk), codecs[_i]);
    const struct nt_compression *whole = nt_compression_info(NT_COMPRESSION_BLOSC_WHOLE);
    assert_ok(whole->decompress_blocks(chunk, bytes, sizeof(plain), 0, output, sizeof(output), &error));
    ck_assert_mem_eq(output, plain, sizeof(output));
    assert_status(NT_CORRUPT, whole->decompress_blocks(chunk, bytes, sizeof(plain) - 20, 0, output,
                                                       sizeof(output), &error));
    assert_status(NT_CORRUPT, whole->decompress_blocks(chunk, bytes - 1, sizeof(plain), 0, output,
                                                       sizeof(output), &error));
    assert_status(NT_TRUNCATED,
                  whole->decompress_blocks(chunk, 15, sizeof(plain), 0, output, sizeof(output), &error));
}

/* If the whole can be decompressed, each part equals it or is refused. */
TEST(no_flipped_bit_makes_a_part_differ_from_the_whole, .end = CODECS)
{
    static uint8_t plain[2960], chunk[4000];
    size_t bytes = write_blocks(plain, sizeof(plain), chunk, sizeof(chunk), codecs[_i]);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        uint8_t *whole, *part;
        chunk[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum nt_status of_whole =
            decompress_exact(NT_COMPRESSION_BLOSC, chunk, bytes, sizeof(plain), &whole, &error);
        enum nt_status of_part = part_status(chunk, bytes, sizeof(plain), 1000, 1000, &part);
        if (of_whole == NT_OK && of_part == NT_OK)
            ck_assert_mem_eq(part, whole + 1000, 1000);
        free(whole);
        free(part);
        chunk[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

TEST(damage_in_one_block_leaves_the_others_readable, .end = CODECS)
{
    static uint8_t plain[9840], chunk[12000];
    uint8_t *output;
    size_t bytes = write_blocks(plain, sizeof(plain), chunk, sizeof(chunk), codecs[_i]);
    ck_assert_str_eq(algorithm_of(chunk, bytes, sizeof(plain)), codecs[_i]);
    memset(chunk + 16 + 4 * 3, 0xFF, 4); /* the offset of the fourth block */
    ck_assert_int_eq(status_of(chunk, bytes, plain, sizeof(plain)), NT_CORRUPT);
    for (size_t block = 0; block < 10; block++) {
        size_t count = block < 9 ? 1000 : 840;
        assert_status(block == 3 ? NT_CORRUPT : NT_OK,
                      part_status(chunk, bytes, sizeof(plain), block * 1000, count, &output));
        if (block != 3)
            ck_assert_mem_eq(output, plain + block * 1000, count);
        free(output);
    }
}
