/* SPDX-License-Identifier: MIT
 *
 * LZ4 blocks, bare and as ROOT writes them: the XXH64 of the compressed bytes, big-endian, then the block.
 */
#include <limits.h>
#include <stdio.h>

#include <lz4.h>
#include <xxhash.h>

#include "core/base/bytes.h"
#include "core/codec/decompressors.h"

enum { CHECKSUM_BYTES = 8 };

enum nt_status nt_decompress_bare_lz4(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                      size_t output_bytes, struct nt_codec_context *context,
                                      struct nt_error *error)
{
    (void)context;
    if (input_bytes > INT_MAX || output_bytes > INT_MAX)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "lz4: a block of %zu bytes for %zu", input_bytes,
                       output_bytes);
    int produced =
        LZ4_decompress_safe((const char *)input, (char *)output, (int)input_bytes, (int)output_bytes);
    if (produced < 0)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "lz4: invalid data");
    if ((size_t)produced != output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a decompressed lz4 block",
                              output_bytes, (uint64_t)produced);
    return NT_OK;
}

enum nt_status nt_decompress_lz4(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                 size_t output_bytes, struct nt_codec_context *context,
                                 struct nt_error *error)
{
    if (input_bytes < CHECKSUM_BYTES || input_bytes > INT_MAX || output_bytes > INT_MAX)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "lz4: a block of %zu bytes for %zu", input_bytes,
                       output_bytes);
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
