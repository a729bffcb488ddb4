/* SPDX-License-Identifier: MIT
 *
 * Anchors of every generation, with each bit flipped and with wrong sizes.
 */
#include <string.h>

#include "formats/rntuple/rntuple.h"
#include "rntuple_writer.h"
#include "support.h"
#include "container/container.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"

static struct nt_error error;
static const uint64_t places[6] = {1000, 200, 300, 4000, 500, 600};

static struct nt_anchor_object object_of(const struct nt_buffer *bytes)
{
    return (struct nt_anchor_object){.bytes = (const uint8_t *)bytes->bytes,
                                     .length = bytes->length,
                                     .offset = 77,
                                     .class_name = "ROOT::RNTuple"};
}

/* Size, layout and version of each generation's anchor, from the specifications and the files of the
 * drafts. */
static const struct anchor_row {
    size_t length;
    enum nt_anchor_layout layout;
    uint16_t epoch, major, minor;
    uint64_t maximum_key_bytes;
} rows[RNTUPLE_GENERATIONS] = {
    [RNTUPLE_PREDRAFT] = {58, NT_ANCHOR_58_BYTES, 0, 0, 0, 0},
    [RNTUPLE_CRC32_LINKS] = {58, NT_ANCHOR_58_BYTES, 0, 0, 0, 0},
    [RNTUPLE_CRC32_EXTENSION] = {58, NT_ANCHOR_58_BYTES, 0, 0, 0, 0},
    [RNTUPLE_RC1] = {70, NT_ANCHOR_70_BYTES, 0, 1, 0, 0},
    [RNTUPLE_RC2_EARLY] = {70, NT_ANCHOR_70_BYTES, 0, 2, 0, 0},
    [RNTUPLE_RC2_LATE] = {78, NT_ANCHOR_78_BYTES, 0, 2, 0, 1 << 30},
    [RNTUPLE_RC3] = {78, NT_ANCHOR_78_BYTES, 0, 3, 0, 1 << 30},
    [RNTUPLE_V1] = {78, NT_ANCHOR_78_BYTES, 1, 0, 0, 1 << 30},
    [RNTUPLE_V1_1] = {78, NT_ANCHOR_78_BYTES, 1, 0, 1, 1 << 30},
};

TEST(anchors_of_every_generation_are_read, .end = RNTUPLE_GENERATIONS)
{
    const struct anchor_row *row = &rows[_i];
    struct nt_buffer bytes = {0};
    struct nt_anchor anchor;
    rntuple_write_anchor(_i, places, &bytes);
    struct nt_anchor_object object = object_of(&bytes);
    ck_assert_uint_eq(object.length, row->length);
    assert_ok(nt_anchor_read(&object, &anchor, &error));
    ck_assert_int_eq(anchor.layout, row->layout);
    ck_assert_uint_eq(anchor.epoch, row->epoch);
    ck_assert_uint_eq(anchor.major, row->major);
    ck_assert_uint_eq(anchor.minor, row->minor);
    ck_assert_uint_eq(anchor.patch, 0);
    ck_assert_uint_eq(anchor.maximum_key_bytes, row->maximum_key_bytes);
    const uint64_t found[6] = {anchor.header.offset, anchor.header.stored_bytes, anchor.header.length,
                               anchor.footer.offset, anchor.footer.stored_bytes, anchor.footer.length};
    ck_assert_mem_eq(found, places, sizeof(places));
    nt_buffer_deinit(&bytes);
}

TEST(any_flipped_bit_after_the_class_version_is_found, .first = RNTUPLE_RC1, .end = RNTUPLE_GENERATIONS)
{
    struct nt_buffer bytes = {0};
    struct nt_anchor anchor;
    rntuple_write_anchor(_i, places, &bytes);
    for (size_t at = 6; at < bytes.length; at++) {
        bytes.bytes[at] ^= 1;
        struct nt_anchor_object object = object_of(&bytes);
        assert_status(NT_CHECKSUM, nt_anchor_read(&object, &anchor, &error));
        ck_assert_uint_eq(error.offset, 77);
        ck_assert_str_ne(error.expected, error.found);
        bytes.bytes[at] ^= 1;
    }
    nt_buffer_deinit(&bytes);
}

TEST(a_byte_count_that_does_not_fit_is_refused, .end = RNTUPLE_GENERATIONS)
{
    struct nt_buffer bytes = {0};
    struct nt_anchor anchor;
    rntuple_write_anchor(_i, places, &bytes);
    bytes.bytes[3] ^= 1;
    struct nt_anchor_object object = object_of(&bytes);
    assert_status(NT_CORRUPT, nt_anchor_read(&object, &anchor, &error));
    bytes.bytes[3] ^= 1;
    bytes.bytes[0] ^= 0x40;
    assert_status(NT_CORRUPT, nt_anchor_read(&object, &anchor, &error));
    nt_buffer_deinit(&bytes);
}

TEST(objects_of_other_sizes_are_refused)
{
    static const uint8_t zeros[80];
    for (size_t length = 0; length < 78; length++) {
        struct nt_anchor_object object = {.bytes = zeros, .length = length};
        struct nt_anchor anchor;
        assert_status(NT_CORRUPT, nt_anchor_read(&object, &anchor, &error));
    }
}

/* "The anchor may evolve in future versions only by appending new fields." */
TEST(newer_anchors_with_more_fields_are_read)
{
    struct nt_buffer bytes = {0};
    struct nt_anchor anchor;
    rntuple_write_anchor(RNTUPLE_V1, places, &bytes);
    nt_buffer_append(&bytes, "\0\0\0\0\0\0\0\0", 8); /* a new field of 8 bytes, then the checksum */
    bytes.bytes[3] += 8;
    uint64_t checksum = nt_xxh3(bytes.bytes + 6, bytes.length - 14);
    for (unsigned i = 0; i < 8; i++)
        bytes.bytes[bytes.length - 1 - i] = (char)(checksum >> 8 * i);
    struct nt_anchor_object object = object_of(&bytes);
    assert_ok(nt_anchor_read(&object, &anchor, &error));
    ck_assert_uint_eq(anchor.footer.length, 600);
    nt_buffer_deinit(&bytes);
}

TEST(bare_files_have_a_little_endian_checksum)
{
    struct nt_buffer bytes = {0};
    struct nt_anchor anchor;
    rntuple_write_anchor(RNTUPLE_V1, places, &bytes);
    for (unsigned i = 0; i < 4; i++) {
        char *end = bytes.bytes + bytes.length, byte = end[-8 + (int)i];
        end[-8 + (int)i] = end[-1 - (int)i];
        end[-1 - (int)i] = byte;
    }
    struct nt_anchor_object object = object_of(&bytes);
    assert_ok(nt_anchor_read(&object, &anchor, &error));
    nt_buffer_deinit(&bytes);
}
