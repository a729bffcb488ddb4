/* SPDX-License-Identifier: MIT
 *
 * Checksums compared with known answers and with other libraries, over all lengths.
 */
#include <stdio.h>
#include <string.h>

#include "core/codec/codec.h"
#include "support.h"

static struct nt_error error;

/* From the specifications of the digests: RFC 1321, FIPS 180-4 (appendices on "abc"), RFC 3720 and
 * zlib's for "123456789". */
static const struct {
    enum nt_checksum_kind kind;
    const char *name, *data, *hex; /* in the order of the stored bytes */
} known[] = {
    {NT_CHECKSUM_CRC32, "crc32", "123456789", "2639f4cb"},
    {NT_CHECKSUM_CRC32, "crc32", "", "00000000"},
    {NT_CHECKSUM_ADLER32, "adler32", "Wikipedia", "9803e611"},
    {NT_CHECKSUM_ADLER32, "adler32", "", "01000000"},
    {NT_CHECKSUM_MD5, "md5", "abc", "900150983cd24fb0d6963f7d28e17f72"},
    {NT_CHECKSUM_SHA1, "sha1", "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
    {NT_CHECKSUM_SHA224, "sha224", "abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
    {NT_CHECKSUM_SHA256, "sha256", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {NT_CHECKSUM_SHA384, "sha384", "abc",
     "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"},
    {NT_CHECKSUM_SHA512, "sha512", "abc",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
     "454d4423643ce80e2a9ac94fa54ca49f"},
    {NT_CHECKSUM_XXH3_64, "xxh3-64", "", "c294d3380580062d"}, /* 0x2d06800538d394c2 */
};

static void to_hex(const uint8_t *bytes, uint32_t count, char *hex)
{
    for (uint32_t i = 0; i < count; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

TEST(known_inputs_have_their_known_checksums, .end = (int)(sizeof(known) / sizeof(*known)))
{
    const struct nt_checksum *checksum = nt_checksum_info(known[_i].kind);
    uint8_t digest[64];
    char hex[129] = "";
    checksum->compute(known[_i].data, strlen(known[_i].data), digest);
    to_hex(digest, checksum->bytes, hex);
    ck_assert_str_eq(checksum->name, known[_i].name);
    ck_assert_str_eq(hex, known[_i].hex);
}

TEST(verify_accepts_the_checksum_and_refuses_any_other, .end = (int)(sizeof(known) / sizeof(*known)))
{
    const struct nt_checksum *checksum = nt_checksum_info(known[_i].kind);
    const char *data = known[_i].data;
    uint8_t digest[64];
    checksum->compute(data, strlen(data), digest);
    assert_ok(nt_checksum_verify(known[_i].kind, data, strlen(data), digest, 0, &error));
    for (uint32_t bit = 0; bit < 8 * checksum->bytes; bit++) {
        digest[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_status(NT_CHECKSUM,
                      nt_checksum_verify(known[_i].kind, data, strlen(data), digest, 77, &error));
        ck_assert_uint_eq(error.offset, 77);
        ck_assert_str_ne(error.expected, error.found);
        digest[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    char text[NT_CHECKSUM_TEXT];
    nt_checksum_text(known[_i].kind, digest, text);
    ck_assert_int_eq(strncmp(error.found, text, sizeof(error.found) - 1), 0);
}

TEST(integers_are_written_from_their_highest_digit_on_and_digests_as_they_are)
{
    static const uint8_t stored[64] = {0xc2, 0x94, 0xd3, 0x38, 0x05, 0x80, 0x06, 0x2d};
    char text[NT_CHECKSUM_TEXT];
    nt_checksum_text(NT_CHECKSUM_XXH3_64, stored, text);
    ck_assert_str_eq(text, "2d06800538d394c2");
    nt_checksum_text(NT_CHECKSUM_CRC32, stored, text);
    ck_assert_str_eq(text, "38d394c2");
    nt_checksum_text(NT_CHECKSUM_MD5, stored, text);
    ck_assert_str_eq(text, "c294d3380580062d0000000000000000");
    nt_checksum_text(NT_CHECKSUM_NONE, stored, text);
    ck_assert_str_eq(text, "");
}

TEST(no_checksum_matches_anything)
{
    assert_ok(nt_checksum_verify(NT_CHECKSUM_NONE, "abc", 3, NULL, 0, &error));
    ck_assert_str_eq(nt_checksum_info(NT_CHECKSUM_NONE)->name, "none");
    ck_assert_uint_eq(nt_checksum_info(NT_CHECKSUM_NONE)->bytes, 0);
}

TEST(every_kind_has_a_row_of_its_own)
{
    for (int kind = 0; kind < NT_CHECKSUM_COUNT; kind++) {
        const struct nt_checksum *row = nt_checksum_info((enum nt_checksum_kind)kind);
        ck_assert_ptr_nonnull(row->name);
        ck_assert_int_eq(row->compute != NULL, row->bytes > 0);
        for (int other = 0; other < kind; other++)
            ck_assert_str_ne(row->name, nt_checksum_info((enum nt_checksum_kind)other)->name);
    }
}

/* All lengths from 0 to 4096 at once, because the algorithm treats short, middle and long inputs
 * differently. The sums were computed with the packages xxhash and zlib of Python. */
TEST(checksums_of_all_lengths_agree_with_other_libraries)
{
    const uint64_t seed = UINT64_C(0x123456789ABCDEF0);
    uint8_t data[4096];
    uint64_t xxh3 = 0, seeded = 0, crc32 = 0;
    for (unsigned i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * i * 31 + i * 7 + i / 256);
    for (size_t bytes = 0; bytes <= sizeof(data); bytes++) {
        xxh3 = xxh3 * 31 + nt_xxh3(data, bytes);
        seeded = seeded * 31 + nt_xxh3_seeded(data, bytes, seed);
        crc32 = crc32 * 31 + nt_crc32(data, bytes);
    }
    ck_assert_uint_eq(xxh3, UINT64_C(0x4F2898D766270322));
    ck_assert_uint_eq(seeded, UINT64_C(0x07E9F62950B31CC7));
    ck_assert_uint_eq(crc32, UINT64_C(0xF103D7749D666E3D));
}
