/* SPDX-License-Identifier: MIT
 *
 * Table of checksums and digests (XXH3, CRC-32, Adler-32, MD5, SHA-1, SHA-2), and their verification.
 */
#include "core/codec/codec.h"

/* Inlined, with the target's vectors: the shared library supports the oldest processors. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/built_in.h"

#if NT_HAS_BLZ /* only BLZ has digests */
#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <nettle/version.h>
#endif

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
bool nt_accepts_any_checksum;
#endif

uint64_t nt_xxh3(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

uint64_t nt_xxh3_seeded(const void *data, size_t bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, bytes, seed);
}

static void compute_xxh3(const void *data, size_t bytes, uint8_t *digest)
{
    uint64_t value = nt_xxh3(data, bytes);
    memcpy(digest, &value, sizeof(value));
}

static void compute_crc32(const void *data, size_t bytes, uint8_t *digest)
{
    uint32_t value = nt_crc32(data, bytes);
    memcpy(digest, &value, sizeof(value));
}

static void compute_adler32(const void *data, size_t bytes, uint8_t *digest)
{
    uint32_t value = nt_adler32(data, bytes);
    memcpy(digest, &value, sizeof(value));
}

#if NT_HAS_BLZ
/* Nettle 4 always writes the whole digest, and takes no length. */
#if NETTLE_VERSION_MAJOR >= 4
#define WRITE_DIGEST(name, NAME, context, digest) name##_digest(context, digest)
#else
#define WRITE_DIGEST(name, NAME, context, digest) name##_digest(context, NAME##_DIGEST_SIZE, digest)
#endif

#define DEFINE_DIGEST(name, NAME)                                                                            \
    static void compute_##name(const void *data, size_t bytes, uint8_t *digest)                              \
    {                                                                                                        \
        struct name##_ctx context;                                                                           \
        name##_init(&context);                                                                               \
        name##_update(&context, bytes, data);                                                                \
        WRITE_DIGEST(name, NAME, &context, digest);                                                          \
    }
DEFINE_DIGEST(md5, MD5)
DEFINE_DIGEST(sha1, SHA1)
DEFINE_DIGEST(sha224, SHA224)
DEFINE_DIGEST(sha256, SHA256)
DEFINE_DIGEST(sha384, SHA384)
DEFINE_DIGEST(sha512, SHA512)
#endif

static const struct nt_checksum checksums[NT_CHECKSUM_COUNT] = {
    [NT_CHECKSUM_NONE] = {"none", 0, false, NULL},
    [NT_CHECKSUM_XXH3_64] = {"xxh3-64", 8, true, compute_xxh3},
    [NT_CHECKSUM_CRC32] = {"crc32", 4, true, compute_crc32},
    [NT_CHECKSUM_ADLER32] = {"adler32", 4, true, compute_adler32},
#if NT_HAS_BLZ
    [NT_CHECKSUM_MD5] = {"md5", 16, false, compute_md5},
    [NT_CHECKSUM_SHA1] = {"sha1", 20, false, compute_sha1},
    [NT_CHECKSUM_SHA224] = {"sha224", 28, false, compute_sha224},
    [NT_CHECKSUM_SHA256] = {"sha256", 32, false, compute_sha256},
    [NT_CHECKSUM_SHA384] = {"sha384", 48, false, compute_sha384},
    [NT_CHECKSUM_SHA512] = {"sha512", 64, false, compute_sha512},
#endif
};

const struct nt_checksum *nt_checksum_info(enum nt_checksum_kind kind)
{
    return &checksums[kind];
}

void nt_checksum_text(enum nt_checksum_kind kind, const uint8_t *stored, char text[NT_CHECKSUM_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    const struct nt_checksum *checksum = nt_checksum_info(kind);
    for (uint32_t i = 0; i < checksum->bytes; i++) {
        uint8_t byte = stored[checksum->is_integer ? checksum->bytes - 1 - i : i];
        *text++ = digits[byte >> 4];
        *text++ = digits[byte & 15];
    }
    *text = '\0';
}

enum nt_status nt_checksum_verify(enum nt_checksum_kind kind, const void *data, size_t bytes,
                                  const uint8_t *stored, uint64_t offset, struct nt_error *error)
{
    const struct nt_checksum *checksum = nt_checksum_info(kind);
    uint8_t digest[64];
    if (!checksum->compute)
        return NT_OK;
    checksum->compute(data, bytes, digest);
    if (!NT_COMPARES_CHECKSUMS || !memcmp(digest, stored, checksum->bytes))
        return NT_OK;
    char expected[NT_CHECKSUM_TEXT], found[NT_CHECKSUM_TEXT];
    nt_checksum_text(kind, stored, expected);
    nt_checksum_text(kind, digest, found);
    return nt_fail_mismatch(error, NT_CHECKSUM, offset, checksum->name, expected, found);
}
