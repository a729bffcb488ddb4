/* SPDX-License-Identifier: MIT
 *
 * In: the streamed anchor object of a key, of the bare file or of an attribute set. Out: struct nt_anchor.
 * RNTuple specification, "Anchor schema"; the layouts before version 1 are told apart by their size.
 */
#include "formats/rntuple/anchor.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/bytes.h"

/* ROOT's streamer: u32 byte count of all that follows, its bit 30 set; u16 class version. */
#define BYTE_COUNT_MARK UINT32_C(0x40000000)
enum { STREAMER_BYTES = 6, COUNT_BYTES = 4, CHECKSUM_BYTES = 8 };

static void read_58_bytes(struct nt_cursor *cursor, struct nt_anchor *anchor)
{
    nt_skip(cursor, 12); /* class checksum, version and size of the anchor, which say nothing more */
    anchor->header.offset = nt_get_be64(cursor);
    anchor->header.stored_bytes = nt_get_be32(cursor);
    anchor->header.length = nt_get_be32(cursor);
    anchor->footer.offset = nt_get_be64(cursor);
    anchor->footer.stored_bytes = nt_get_be32(cursor);
    anchor->footer.length = nt_get_be32(cursor);
}

static void read_70_bytes(struct nt_cursor *cursor, struct nt_anchor *anchor)
{
    anchor->epoch = nt_get_be16(cursor);
    anchor->major = nt_get_be16(cursor);
    anchor->minor = nt_get_be16(cursor);
    anchor->patch = nt_get_be16(cursor);
    struct nt_anchor_link *links[] = {&anchor->header, &anchor->footer};
    for (unsigned i = 0; i < 2; i++) {
        links[i]->offset = nt_get_be64(cursor);
        links[i]->stored_bytes = nt_get_be64(cursor);
        links[i]->length = nt_get_be64(cursor);
    }
}

static void read_78_bytes(struct nt_cursor *cursor, struct nt_anchor *anchor)
{
    read_70_bytes(cursor, anchor);
    anchor->maximum_key_bytes = nt_get_be64(cursor);
}

struct layout {
    uint32_t length; /* of the object; newer ones may have further fields */
    bool may_be_longer;
    uint32_t trailing_bytes; /* behind what the byte count covers */
    bool has_checksum;
    void (*read)(struct nt_cursor *cursor, struct nt_anchor *anchor);
};

static const struct layout layouts[NT_ANCHOR_LAYOUT_COUNT] = {
    [NT_ANCHOR_58_BYTES] = {58, false, 0, false, read_58_bytes},
    [NT_ANCHOR_70_BYTES] = {70, false, 0, true, read_70_bytes},
    [NT_ANCHOR_78_BYTES] = {78, true, CHECKSUM_BYTES, true, read_78_bytes},
};

static enum nt_status find_layout(const struct nt_anchor_object *object, enum nt_anchor_layout *layout_ret,
                                  struct nt_error *error)
{
    for (unsigned i = 0; i < NT_ANCHOR_LAYOUT_COUNT; i++) {
        if (object->length == layouts[i].length ||
            (layouts[i].may_be_longer && object->length > layouts[i].length)) {
            *layout_ret = (enum nt_anchor_layout)i;
            return NT_OK;
        }
    }
    return nt_fail(error, NT_CORRUPT, object->offset,
                   "anchor: an object of %zu bytes; anchors have 58, 70, 78 or more", object->length);
}

static enum nt_status check_byte_count(const struct nt_anchor_object *object, const struct layout *layout,
                                       uint32_t byte_count, struct nt_error *error)
{
    if (!(byte_count & BYTE_COUNT_MARK))
        return nt_fail(error, NT_CORRUPT, object->offset,
                       "anchor: no byte count at its start (0x%08" PRIx32 ")", byte_count);
    uint64_t expected = object->length - COUNT_BYTES - layout->trailing_bytes;
    if ((byte_count & ~BYTE_COUNT_MARK) != expected)
        return nt_fail_number(error, NT_CORRUPT, object->offset, "anchor: byte count", expected,
                              byte_count & ~BYTE_COUNT_MARK);
    return NT_OK;
}

/* The checksum is the last 8 bytes, over the fields between the class version and itself. It is big-endian in
 * a key and little-endian in a bare file. */
static enum nt_status check_checksum(const struct nt_anchor_object *object, struct nt_anchor *anchor,
                                     struct nt_error *error)
{
    size_t end = object->length - CHECKSUM_BYTES;
    uint64_t stored = nt_load_be64(object->bytes + end);
    anchor->checksum = nt_xxh3(object->bytes + STREAMER_BYTES, end - STREAMER_BYTES);
    if (!NT_COMPARES_CHECKSUMS || anchor->checksum == stored ||
        anchor->checksum == nt_load_le64(object->bytes + end))
        return NT_OK;
    char expected[24], found[24];
    snprintf(expected, sizeof(expected), "%016" PRIx64, stored);
    snprintf(found, sizeof(found), "%016" PRIx64, anchor->checksum);
    return nt_fail_mismatch(error, NT_CHECKSUM, object->offset, "anchor: xxh3-64", expected, found);
}

enum nt_status nt_anchor_read(const struct nt_anchor_object *object, struct nt_anchor *anchor_ret,
                              struct nt_error *error)
{
    struct nt_anchor anchor = {
        .offset = object->offset,
        .stored_bytes = object->stored_bytes,
        .length = (uint32_t)object->length,
        .class_name = object->class_name,
    };
    enum nt_status status = find_layout(object, &anchor.layout, error);
    if (status != NT_OK)
        return status;
    const struct layout *layout = &layouts[anchor.layout];
    struct nt_cursor cursor = nt_cursor(object->bytes, object->length);
    uint32_t byte_count = nt_get_be32(&cursor);
    anchor.class_version = nt_get_be16(&cursor);
    status = check_byte_count(object, layout, byte_count, error);
    if (status != NT_OK)
        return status;
    layout->read(&cursor, &anchor);
    *anchor_ret = anchor;
    return layout->has_checksum ? check_checksum(object, anchor_ret, error) : NT_OK;
}
