/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <blosc.h>

#include <ntuple/codec.h>

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

START_TEST(chunks_of_every_codec_filter_and_type_size_are_read)
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
END_TEST

START_TEST(the_algorithm_is_the_chunks_codec)
{
    uint8_t plain[4000], chunk[5000];
    const struct nt_compression *blosc = nt_compression(NT_COMPRESSION_BLOSC);
    memset(plain, 1, sizeof(plain));
    write_chunk(codecs[_i], 5, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    ck_assert_str_eq(blosc->algorithm(chunk, 16, sizeof(plain)), codecs[_i]);
    write_chunk(codecs[_i], 0, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    ck_assert_str_eq(blosc->algorithm(chunk, 16, sizeof(plain)), "none");
}
END_TEST

START_TEST(a_trimmed_array_takes_the_first_bytes_of_its_last_chunk)
{
    uint8_t plain[4000], chunk[5000];
    fill_sample(plain, sizeof(plain), 2);
    size_t bytes = write_chunk(codecs[_i], 5, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    for (size_t wanted = 0; wanted <= sizeof(plain); wanted += 400)
        ck_assert_int_eq(status_of(chunk, bytes, plain, wanted), NT_OK);
    ck_assert_int_eq(status_of(chunk, bytes, plain, sizeof(plain) + 1), NT_CORRUPT);
}
END_TEST

START_TEST(a_whole_chunk_may_not_hold_more_than_is_wanted)
{
    uint8_t plain[4000], chunk[5000], *output = NULL;
    fill_sample(plain, sizeof(plain), 2);
    size_t bytes = write_chunk(codecs[_i], 5, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    for (size_t wanted = sizeof(plain) - 4; wanted <= sizeof(plain) + 4; wanted += 4) {
        enum nt_status expected = wanted == sizeof(plain) ? NT_OK : NT_CORRUPT;
        assert_status(expected,
                      decompress_exact(NT_COMPRESSION_BLOSC_WHOLE, chunk, bytes, wanted, &output, &error));
        free(output);
    }
}
END_TEST

START_TEST(every_truncation_and_extension_is_refused)
{
    uint8_t plain[400], chunk[600];
    fill_sample(plain, sizeof(plain), 3);
    size_t bytes = write_chunk(codecs[_i], 5, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    for (size_t left = 0; left <= bytes + 1; left++)
        ck_assert_int_eq(status_of(chunk, left, plain, sizeof(plain)) == NT_OK, left == bytes);
}
END_TEST

START_TEST(no_flipped_bit_does_harm)
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
END_TEST

START_TEST(a_small_chunk_that_claims_gigabytes_is_refused)
{
    uint8_t plain[400], chunk[600];
    fill_sample(plain, sizeof(plain), 5);
    size_t bytes = write_chunk("lz4", 5, 1, 4, plain, sizeof(plain), chunk, sizeof(chunk));
    memcpy(chunk + 4, "\x00\x00\x00\x70", 4);
    ck_assert_int_eq(status_of(chunk, bytes, plain, sizeof(plain)), NT_LIMIT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codec: blosc");
    TCase *chunks = tcase_create("chunks");
    tcase_set_timeout(chunks, 60);
    tcase_add_loop_test(chunks, chunks_of_every_codec_filter_and_type_size_are_read, 0, CODECS);
    tcase_add_loop_test(chunks, the_algorithm_is_the_chunks_codec, 0, CODECS);
    tcase_add_loop_test(chunks, a_trimmed_array_takes_the_first_bytes_of_its_last_chunk, 0, CODECS);
    tcase_add_loop_test(chunks, a_whole_chunk_may_not_hold_more_than_is_wanted, 0, CODECS);
    tcase_add_loop_test(chunks, every_truncation_and_extension_is_refused, 0, CODECS);
    tcase_add_loop_test(chunks, no_flipped_bit_does_harm, 0, CODECS);
    tcase_add_test(chunks, a_small_chunk_that_claims_gigabytes_is_refused);
    suite_add_tcase(suite, chunks);
    return nt_test_main(suite);
}
