/* SPDX-License-Identifier: MIT
 *
 * The tables of compressions and algorithms: rows, names, and those without a decompressor.
 */
#include <string.h>

#include "core/codec/codec.h"
#include "compressors.h"
#include "support.h"

static struct nt_error error;

TEST(uncompressed_bytes_are_copied_and_their_number_must_agree)
{
    uint8_t *output = NULL;
    assert_ok(decompress_exact(NT_COMPRESSION_NONE, (const uint8_t *)"abc", 3, 3, &output, &error));
    ck_assert_mem_eq(output, "abc", 3);
    free(output);
    for (size_t bytes = 0; bytes < 6; bytes++) {
        enum nt_status expected = bytes == 3 ? NT_OK : NT_CORRUPT;
        assert_status(expected, decompress_exact(NT_COMPRESSION_NONE, (const uint8_t *)"abc", 3, bytes,
                                                 &output, &error));
        free(output);
    }
}

TEST(bytes_elsewhere_are_refused)
{
    uint8_t *output = NULL;
    assert_status(NT_UNSUPPORTED,
                  decompress_exact(NT_COMPRESSION_ELSEWHERE, (const uint8_t *)"abc", 3, 3, &output, &error));
    free(output);
}

TEST(every_kind_has_a_row)
{
    for (int kind = 0; kind < NT_COMPRESSION_COUNT; kind++) {
        ck_assert_ptr_nonnull(nt_compression_info((enum nt_compression_kind)kind)->name);
        ck_assert(nt_compression_info((enum nt_compression_kind)kind)->decompress != NULL);
    }
}

TEST(every_algorithm_has_a_name_of_its_own)
{
    for (int i = 0; i < NT_ALGORITHM_COUNT; i++)
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(nt_algorithm_name((enum nt_algorithm)i),
                             nt_algorithm_name((enum nt_algorithm)k));
}

TEST(algorithms_are_distinguished_from_any_few_bytes)
{
    const uint8_t bytes[16] = {'Z', 'S', 1};
    for (int kind = 0; kind < NT_COMPRESSION_COUNT; kind++) {
        for (size_t count = 0; count <= sizeof(bytes); count++) {
            uint8_t *exact = exact_copy(bytes, count);
            ck_assert_uint_lt(nt_compression_algorithm((enum nt_compression_kind)kind, exact, count, 100),
                              NT_ALGORITHM_COUNT);
            free(exact);
        }
    }
}

TEST(sizes_of_parts_are_reported_where_parts_are_decompressed)
{
    const uint8_t bytes[16] = {2, 1, 1, 0};
    for (int kind = 0; kind < NT_COMPRESSION_COUNT; kind++) {
        const struct nt_compression *row = nt_compression_info((enum nt_compression_kind)kind);
        ck_assert_int_eq(row->block_bytes != NULL, row->decompress_blocks != NULL);
        for (size_t count = 0; row->block_bytes && count <= sizeof(bytes); count++) {
            uint8_t *exact = exact_copy(bytes, count);
            ck_assert_uint_eq(row->block_bytes(exact, count, 100), 0);
            free(exact);
        }
    }
}
