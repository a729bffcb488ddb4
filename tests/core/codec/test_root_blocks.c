/* SPDX-License-Identifier: MIT
 *
 * Chains of ROOT's compression blocks of every algorithm: truncated, extended, and with flipped bits.
 */
#include <string.h>

#include "core/codec/codec.h"
#include "compressors.h"
#include "support.h"

static struct nt_error error;

static void assert_decompresses(const uint8_t *packed, size_t packed_bytes, const uint8_t *plain,
                                size_t plain_bytes)
{
    uint8_t *output = NULL;
    assert_ok(
        decompress_exact(NT_COMPRESSION_ROOT_BLOCKS, packed, packed_bytes, plain_bytes, &output, &error));
    ck_assert_mem_eq(output, plain, plain_bytes);
    free(output);
}

static enum nt_status status_of(const uint8_t *packed, size_t packed_bytes, size_t plain_bytes)
{
    uint8_t *output = NULL;
    enum nt_status status =
        decompress_exact(NT_COMPRESSION_ROOT_BLOCKS, packed, packed_bytes, plain_bytes, &output, &error);
    free(output);
    return status;
}

static const char *algorithm_of(const uint8_t *packed, size_t packed_bytes, size_t plain_bytes)
{
    return nt_algorithm_name(
        nt_compression_algorithm(NT_COMPRESSION_ROOT_BLOCKS, packed, packed_bytes, plain_bytes));
}

TEST(every_algorithm_gives_back_blocks_of_all_sizes, .end = (int)compressors_count)
{
    static uint8_t plain[100000], packed[120000];
    const struct compressor *compressor = &compressors[_i];
    fill_sample(plain, sizeof(plain), 1);
    for (size_t bytes = 1; bytes <= sizeof(plain); bytes += bytes < 300 ? 1 : 9971) {
        size_t packed_bytes = write_block(compressor, plain, bytes, packed, sizeof(packed));
        if (packed_bytes == bytes) /* would count as stored */
            continue;
        assert_decompresses(packed, packed_bytes, plain, bytes);
        ck_assert_str_eq(algorithm_of(packed, packed_bytes, bytes), compressor->name);
    }
}

TEST(bytes_of_the_final_size_are_stored)
{
    uint8_t plain[1000];
    for (size_t bytes = 0; bytes <= sizeof(plain); bytes += 100) {
        fill_sample(plain, bytes, 2);
        assert_decompresses(plain, bytes, plain, bytes);
    }
    /* also if they look like a block */
    memcpy(plain, "ZS\x01\x00\x00\x00\x00\x00\x00", 9);
    assert_decompresses(plain, 9, plain, 9);
    ck_assert_str_eq(algorithm_of(plain, 9, 9), "none");
}

TEST(blocks_of_different_algorithms_may_form_one_chain)
{
    static uint8_t plain[50000], packed[80000];
    size_t packed_bytes = 0, done = 0;
    fill_sample(plain, sizeof(plain), 3);
    for (size_t i = 0; i < 2 * compressors_count; i++) {
        const struct compressor *compressor = &compressors[i * 3 % compressors_count];
        packed_bytes +=
            write_block(compressor, plain + done, 5000, packed + packed_bytes, sizeof(packed) - packed_bytes);
        done += 5000;
    }
    assert_decompresses(packed, packed_bytes, plain, done);
}

TEST(chains_hold_more_than_a_block_can, .end = (int)compressors_count)
{
    enum { LARGEST = (1 << 24) - 1, BYTES = LARGEST + 70000 };
    const struct compressor *compressor = &compressors[_i];
    uint8_t *plain = malloc(BYTES), *packed = malloc(block_room(BYTES));
    ck_assert(plain && packed);
    fill_sample(plain, BYTES, 4);
    memset(plain + 100000, 7, LARGEST - 200000); /* slow ones need fewer */
    size_t packed_bytes = write_block(compressor, plain, LARGEST, packed, block_room(LARGEST));
    packed_bytes += write_block(compressor, plain + LARGEST, BYTES - LARGEST, packed + packed_bytes,
                                block_room(BYTES) - packed_bytes);
    assert_decompresses(packed, packed_bytes, plain, BYTES);
    free(plain);
    free(packed);
}

TEST(another_final_size_than_that_of_the_blocks_is_refused, .end = (int)compressors_count)
{
    uint8_t plain[600], packed[2000];
    fill_sample(plain, sizeof(plain), 5);
    size_t bytes = write_block(&compressors[_i], plain, sizeof(plain), packed, sizeof(packed));
    const size_t wrong[] = {0, 1, sizeof(plain) - 1, sizeof(plain) + 1, 2 * sizeof(plain)};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        ck_assert_int_eq(status_of(packed, bytes, wrong[i]), NT_CORRUPT);
}

TEST(a_header_that_says_another_size_than_the_payload_is_refused, .end = (int)compressors_count)
{
    uint8_t plain[600], packed[2000];
    fill_sample(plain, sizeof(plain), 6);
    size_t bytes = write_block(&compressors[_i], plain, sizeof(plain), packed, sizeof(packed));
    for (int change = -3; change <= 3; change++) {
        if (change == 0)
            continue;
        size_t declared = (size_t)(600 + change);
        packed[6] = (uint8_t)declared;
        packed[7] = (uint8_t)(declared >> 8);
        ck_assert_int_eq(status_of(packed, bytes, declared), NT_CORRUPT);
    }
}

TEST(every_truncation_is_refused, .end = (int)compressors_count)
{
    uint8_t plain[600], packed[2000];
    fill_sample(plain, sizeof(plain), 7);
    size_t bytes = write_block(&compressors[_i], plain, sizeof(plain), packed, sizeof(packed));
    for (size_t left = 0; left < bytes; left++) {
        ck_assert_int_ne(status_of(packed, left, sizeof(plain)), NT_OK);
        /* also if the header allows for it */
        if (left < 9)
            continue;
        uint8_t *shorter = exact_copy(packed, left);
        shorter[3] = (uint8_t)(left - 9);
        shorter[4] = (uint8_t)((left - 9) >> 8);
        bool is_whole_stream = !strcmp(compressors[_i].name, "old-zlib") && left + 6 >= bytes;
        ck_assert_int_eq(status_of(shorter, left, sizeof(plain)) == NT_OK, is_whole_stream);
        free(shorter);
    }
}

TEST(every_flipped_bit_gives_an_error_or_the_right_bytes, .end = (int)compressors_count)
{
    uint8_t plain[300], packed[1000];
    fill_sample(plain, sizeof(plain), 8);
    size_t bytes = write_block(&compressors[_i], plain, sizeof(plain), packed, sizeof(packed));
    size_t refused = 0;
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        uint8_t *output = NULL;
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum nt_status status =
            decompress_exact(NT_COMPRESSION_ROOT_BLOCKS, packed, bytes, sizeof(plain), &output, &error);
        if (status == NT_OK && compressors[_i].detects_damage)
            ck_assert_mem_eq(output, plain, sizeof(plain));
        if (status != NT_OK)
            ck_assert_str_ne(error.message, "");
        refused += status != NT_OK;
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        free(output);
    }
    ck_assert_uint_gt(refused, 9 * 8 - 8); /* the header, but for LZ4's version byte */
    assert_decompresses(packed, bytes, plain, sizeof(plain));
}

TEST(bytes_after_the_last_block_are_refused, .end = (int)compressors_count)
{
    uint8_t plain[600], packed[2000];
    fill_sample(plain, sizeof(plain), 9);
    size_t bytes = write_block(&compressors[_i], plain, sizeof(plain), packed, sizeof(packed));
    packed[bytes] = 0;
    ck_assert_int_eq(status_of(packed, bytes + 1, sizeof(plain)), NT_CORRUPT);
}

TEST(an_unknown_algorithm_is_named_by_its_bytes)
{
    static const char *const headers[] = {"QQ\x01", "ZS\x02", "ZL\x09", "XZ\x01", "zs\x01"};
    static const char *const named[] = {
        "byte 0 of the compressed data: unknown compression 51 51 01 (QQ.)",
        "5a 53 02 (ZS.)",
        "5a 4c 09 (ZL.)",
        "58 5a 01 (XZ.)",
        "7a 73 01 (zs.)",
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
        uint8_t packed[12] = {0, 0, 0, 3, 0, 0, 200, 0, 0};
        memcpy(packed, headers[i], 3);
        ck_assert_int_eq(status_of(packed, sizeof(packed), 200), NT_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(error.message, named[i]));
        ck_assert_str_eq(algorithm_of(packed, 12, 200), "unknown");
    }
}

TEST(a_chain_of_empty_blocks_ends)
{
    uint8_t packed[90] = {0};
    for (size_t i = 0; i < sizeof(packed); i += 9)
        memcpy(packed + i, "ZS\x01", 3);
    ck_assert_int_eq(status_of(packed, sizeof(packed), 100), NT_CORRUPT);
}
