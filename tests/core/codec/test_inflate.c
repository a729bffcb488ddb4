/* SPDX-License-Identifier: MIT
 *
 * Inflating with libdeflate or zlib. zlib writes the streams.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/codec/codec.h"
#include "support.h"

enum { PLAIN_BYTES = 70000, ROOM = 1 << 17 };

static const int window_bits[NT_INFLATE_FORM_COUNT] = {[NT_INFLATE_ZLIB] = 15, [NT_INFLATE_BARE] = -15};

static struct nt_inflater *inflater;
static uint8_t plain[PLAIN_BYTES], stream[ROOM], output[PLAIN_BYTES + 1];

static void set_up(void)
{
    inflater = nt_inflater_new();
    ck_assert_ptr_nonnull(inflater);
    for (size_t i = 0; i < sizeof(plain); i++)
        plain[i] = (uint8_t)(i % 251 * (i / 1000));
}

static void tear_down(void)
{
    nt_inflater_free(inflater);
}

static size_t compress_plain(enum nt_inflate_form form, size_t bytes, int level)
{
    z_stream z = {.next_in = plain, .avail_in = (uInt)bytes, .next_out = stream, .avail_out = ROOM};
    ck_assert_int_eq(deflateInit2(&z, level, Z_DEFLATED, window_bits[form], 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t total = z.total_out;
    deflateEnd(&z);
    return total;
}

/* From buffers of exactly these sizes, so that sanitizers see accesses outside of them. */
static enum nt_inflate_result inflate_exact(enum nt_inflate_form form, size_t input_bytes, size_t room,
                                            size_t *consumed, size_t *produced)
{
    uint8_t *in = malloc(input_bytes ? input_bytes : 1), *out = malloc(room ? room : 1);
    memcpy(in, stream, input_bytes);
    enum nt_inflate_result result =
        nt_inflate(inflater, form, in, input_bytes, out, room, consumed, produced);
    memcpy(output, out, room);
    free(in);
    free(out);
    return result;
}

static const struct {
    size_t bytes;
    int level;
} sizes[] = {{0, 6}, {1, 6}, {257, 1}, {258, 9}, {259, 6}, {65536, 0}, {PLAIN_BYTES, 1}, {PLAIN_BYTES, 9}};

TEST(a_stream_fills_its_space_exactly_or_says_how_much_it_made, .setup = set_up, .teardown = tear_down,
     .end = (int)(sizeof(sizes) / sizeof(*sizes)))
{
    size_t bytes = sizes[_i].bytes, consumed, produced;
    for (int form = 0; form < NT_INFLATE_FORM_COUNT; form++) {
        size_t length = compress_plain(form, bytes, sizes[_i].level);
        for (size_t more = 0; more < 2; more++) {
            ck_assert_int_eq(inflate_exact(form, length, bytes + more, &consumed, &produced), NT_INFLATE_OK);
            ck_assert_uint_eq(consumed, length);
            ck_assert_uint_eq(produced, bytes);
            ck_assert_mem_eq(output, plain, bytes);
        }
    }
}

TEST(bytes_after_the_stream_are_left, .setup = set_up, .teardown = tear_down,
     .end = (int)(sizeof(sizes) / sizeof(*sizes)))
{
    size_t bytes = sizes[_i].bytes, consumed, produced;
    for (int form = 0; form < NT_INFLATE_FORM_COUNT; form++) {
        size_t length = compress_plain(form, bytes, sizes[_i].level);
        memset(stream + length, 0xA5, 9);
        ck_assert_int_eq(inflate_exact(form, length + 9, bytes, &consumed, &produced), NT_INFLATE_OK);
        ck_assert_uint_eq(consumed, length);
        ck_assert_mem_eq(output, plain, bytes);
    }
}

TEST(room_that_is_too_small_is_reported, .setup = set_up, .teardown = tear_down,
     .end = (int)(sizeof(sizes) / sizeof(*sizes)))
{
    size_t bytes = sizes[_i].bytes, consumed, produced;
    for (int form = 0; form < NT_INFLATE_FORM_COUNT; form++) {
        size_t length = compress_plain(form, bytes, sizes[_i].level);
        for (size_t room = bytes > 3 ? bytes - 3 : 0; room < bytes; room++)
            ck_assert_int_eq(inflate_exact(form, length, room, &consumed, &produced), NT_INFLATE_TOO_MUCH);
    }
}

TEST(a_stream_that_is_cut_is_never_good, .setup = set_up, .teardown = tear_down)
{
    size_t consumed, produced;
    for (int form = 0; form < NT_INFLATE_FORM_COUNT; form++) {
        size_t length = compress_plain(form, 3000, 6);
        for (size_t cut = 0; cut < length; cut++)
            ck_assert_int_ne(inflate_exact(form, cut, 3000, &consumed, &produced), NT_INFLATE_OK);
    }
}

TEST(a_wrong_header_or_checksum_is_invalid, .setup = set_up, .teardown = tear_down)
{
    size_t consumed, produced, length = compress_plain(NT_INFLATE_ZLIB, 3000, 6);
    size_t places[] = {0, 1, length - 4, length - 1};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        stream[places[i]] ^= 4;
        ck_assert_int_eq(inflate_exact(NT_INFLATE_ZLIB, length, 3000, &consumed, &produced),
                         NT_INFLATE_INVALID);
        stream[places[i]] ^= 4;
    }
    ck_assert_int_eq(inflate_exact(NT_INFLATE_ZLIB, length, 3000, &consumed, &produced), NT_INFLATE_OK);
}

TEST(checksums_are_those_of_zlib, .setup = set_up, .teardown = tear_down)
{
    for (size_t bytes = 0; bytes < sizeof(plain); bytes = 2 * bytes + 1) {
        ck_assert_uint_eq(nt_crc32(plain, bytes), crc32(0, plain, (uInt)bytes));
        ck_assert_uint_eq(nt_adler32(plain, bytes), adler32(1, plain, (uInt)bytes));
    }
}

TEST(the_library_says_its_name, .setup = set_up, .teardown = tear_down)
{
    ck_assert_str_eq(nt_deflate_library(), DEFLATE_LIBRARY);
}
