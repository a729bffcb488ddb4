/* SPDX-License-Identifier: MIT
 *
 * Frames: longer items than known are skipped, and invalid ones refused.
 */
#include "rntuple_envelopes.h"

static struct nt_error error;

TEST(frames_are_skipped_by_their_size, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_writer writer;
    struct nt_envelope envelope;
    struct nt_frame list, record;
    rntuple_begin(&writer, _i, RNTUPLE_HEADER);
    rntuple_list(&writer, 2);
    for (unsigned i = 0; i < 2; i++) {
        rntuple_record(&writer);
        rntuple_u32(&writer, 10 + i);
        rntuple_u64(&writer, 0); /* not read below */
        rntuple_end_frame(&writer);
    }
    rntuple_end_frame(&writer);
    rntuple_text(&writer, "behind");
    rntuple_end(&writer);
    assert_ok(load(&writer, NT_ENVELOPE_HEADER, &envelope, &error));
    struct nt_cursor cursor = envelope.payload;
    assert_ok(nt_list_frame(&envelope, &cursor, "list", 1, &list, &error));
    ck_assert_uint_eq(list.items, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(nt_record_frame(&envelope, &list.payload, "record", &record, &error));
        ck_assert_uint_eq(nt_get_le32(&record.payload), 10 + i);
        ck_assert_uint_eq(nt_cursor_left(&record.payload), 8);
    }
    struct nt_text text = nt_get_text(&cursor);
    ck_assert_uint_eq(text.length, 6);
    ck_assert_mem_eq(text.bytes, "behind", 6);
    nt_envelope_deinit(&envelope);
    nt_buffer_deinit(&writer.bytes);
}

/* A frame's size and item count as stored; the payload after the count has 12 bytes. */
static const struct bad_frame {
    const char *what;
    bool is_list_read;
    int64_t size;
    uint32_t items;
    const char *message;
} bad_frames[] = {
    {"a list where a record is expected", false, -24, 1, "found a list frame, expected a record frame"},
    {"a record where a list is expected", true, 24, 1, "found a record frame, expected a list frame"},
    {"a size of 0", false, 0, 0, "expected a frame of at least"},
    {"a size that does not hold itself", false, 3, 0, "expected a frame of at least"},
    {"a list that does not hold its count", true, -7, 0, "expected a frame of at least"},
    {"a size beyond the envelope", false, 1000, 0, "a frame of 1000 bytes, but only"},
    {"a list beyond the envelope", true, -1000, 0, "a frame of 1000 bytes, but only"},
    {"the smallest number", true, INT64_MIN, 0, "bytes are left"},
    {"the largest number", false, INT64_MAX, 0, "bytes are left"},
    {"more items than bytes", true, -16, 0x0fffffff, "items do not fit into"},
};

TEST(bad_frames_are_refused, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    bool is_narrow = _i < RNTUPLE_RC1;
    for (size_t i = 0; i < sizeof(bad_frames) / sizeof(bad_frames[0]); i++) {
        const struct bad_frame *row = &bad_frames[i];
        struct rntuple_writer writer;
        struct nt_envelope envelope;
        struct nt_frame frame;
        rntuple_begin(&writer, _i, RNTUPLE_HEADER);
        if (is_narrow)
            rntuple_u32(&writer, (uint32_t)(row->size > INT32_MAX   ? INT32_MAX
                                            : row->size < INT32_MIN ? INT32_MIN
                                                                    : row->size));
        else
            rntuple_u64(&writer, (uint64_t)row->size);
        rntuple_u32(&writer, row->items);
        rntuple_u64(&writer, 0);
        rntuple_u32(&writer, 0);
        rntuple_end(&writer);
        assert_ok(load(&writer, NT_ENVELOPE_HEADER, &envelope, &error));
        struct nt_cursor cursor = envelope.payload;
        enum nt_status status = row->is_list_read
                                    ? nt_list_frame(&envelope, &cursor, "list", 4, &frame, &error)
                                    : nt_record_frame(&envelope, &cursor, "record", &frame, &error);
        ck_assert_msg(status == NT_CORRUPT, "%s: %s", row->what, nt_status_name(status));
        ck_assert_msg(strstr(error.message, row->message), "%s: %s", row->what, error.message);
        nt_envelope_deinit(&envelope);
        nt_buffer_deinit(&writer.bytes);
    }
}

TEST(reserved_bits_of_an_item_count_are_ignored_in_the_crc32_drafts)
{
    struct rntuple_writer writer;
    struct nt_envelope envelope;
    struct nt_frame frame;
    rntuple_begin(&writer, RNTUPLE_CRC32_LINKS, RNTUPLE_HEADER);
    rntuple_list(&writer, 0xf0000002);
    rntuple_u64(&writer, 0);
    rntuple_end_frame(&writer);
    rntuple_end(&writer);
    assert_ok(load(&writer, NT_ENVELOPE_HEADER, &envelope, &error));
    struct nt_cursor cursor = envelope.payload;
    assert_ok(nt_list_frame(&envelope, &cursor, "list", 4, &frame, &error));
    ck_assert_uint_eq(frame.items, 2);
    nt_envelope_deinit(&envelope);
    nt_buffer_deinit(&writer.bytes);
}
