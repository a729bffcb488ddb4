/* SPDX-License-Identifier: MIT
 *
 * What a codec context keeps between calls: scratch memory, and decompressors after damage.
 */
#include <string.h>

#include "core/codec/codec.h"
#include "compressors.h"
#include "support.h"

static struct nt_error error;

/* A sanitizer must let the request for too much memory fail as the C library does. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

TEST(scratch_memories_are_apart_and_grow)
{
    struct nt_codec_context *context = nt_codec_context_new();
    ck_assert_ptr_nonnull(context);
    for (size_t bytes = 1; bytes <= 1 << 20; bytes *= 4) {
        for (enum nt_scratch of = 0; of < NT_SCRATCH_COUNT; of++)
            memset(nt_codec_scratch(context, of, bytes), (int)of, bytes);
        for (enum nt_scratch of = 0; of < NT_SCRATCH_COUNT; of++)
            ck_assert_uint_eq(nt_codec_scratch(context, of, bytes)[bytes - 1], of);
    }
    ck_assert_ptr_nonnull(nt_codec_scratch(context, NT_SCRATCH_PAGE, 0));
    nt_codec_context_free(context);
}

TEST(a_request_without_memory_fails_and_the_scratch_stays_usable)
{
    struct nt_codec_context *context = nt_codec_context_new();
    ck_assert_ptr_nonnull(nt_codec_scratch(context, NT_SCRATCH_COALESCED, 100));
    ck_assert_ptr_null(nt_codec_scratch(context, NT_SCRATCH_COALESCED, SIZE_MAX / 2));
    memset(nt_codec_scratch(context, NT_SCRATCH_COALESCED, 100), 1, 100);
    nt_codec_context_free(context);
    nt_codec_context_free(NULL);
}

TEST(a_decompressor_works_on_after_damaged_input, .end = (int)compressors_count)
{
    uint8_t plain[500], packed[2000], output[500];
    struct nt_codec_context *context = nt_codec_context_new();
    const struct nt_compression *blocks = nt_compression_info(NT_COMPRESSION_ROOT_BLOCKS);
    fill_sample(plain, sizeof(plain), 1);
    size_t bytes = write_block(&compressors[_i], plain, sizeof(plain), packed, sizeof(packed));
    for (size_t byte = 9; byte < bytes; byte += 7) {
        packed[byte] ^= 0xFF;
        (void)blocks->decompress(packed, bytes, output, sizeof(output), context, &error);
        packed[byte] ^= 0xFF;
        assert_ok(blocks->decompress(packed, bytes, output, sizeof(output), context, &error));
        ck_assert_mem_eq(output, plain, sizeof(plain));
    }
    nt_codec_context_free(context);
}
