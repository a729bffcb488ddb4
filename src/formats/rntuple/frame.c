/* SPDX-License-Identifier: MIT
 *
 * In: a cursor over an envelope. Out: bounded cursors over its frames, its texts and flags. Specification,
 * "Frames", "Basic Types", "Feature Flags".
 */
#include "formats/rntuple/frame.h"

#include <inttypes.h>

enum { COUNT_BYTES = 4 };

uint32_t nt_record_frame_bytes(const struct nt_generation *generation)
{
    return generation->framing->frame_size_bytes;
}

uint32_t nt_list_frame_bytes(const struct nt_generation *generation)
{
    return generation->framing->frame_size_bytes + COUNT_BYTES;
}

static int64_t get_frame_size(struct nt_cursor *cursor, const struct nt_generation *generation)
{
    return generation->framing->frame_size_bytes == 4 ? (int32_t)nt_get_le32(cursor)
                                                      : (int64_t)nt_get_le64(cursor);
}

/* The size counts the frame's own preamble; a negative one means a list. */
static enum nt_status read_frame(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                 const char *what, bool is_list, struct nt_frame *frame_ret,
                                 struct nt_error *error)
{
    struct nt_cursor start = *cursor;
    int64_t size = get_frame_size(cursor, envelope->generation);
    uint64_t bytes = size < 0 ? 0 - (uint64_t)size : (uint64_t)size;
    uint32_t preamble =
        is_list ? nt_list_frame_bytes(envelope->generation) : nt_record_frame_bytes(envelope->generation);
    if (cursor->failed)
        return nt_envelope_check(envelope, cursor, what, error);
    if ((size < 0) != is_list)
        return nt_envelope_fail(envelope, &start, NT_CORRUPT, error,
                                "%s: a %s frame where a %s frame is expected", what,
                                is_list ? "record" : "list", is_list ? "list" : "record");
    if (bytes < preamble || bytes > nt_cursor_left(&start))
        return nt_envelope_fail(envelope, &start, NT_CORRUPT, error,
                                "%s: a frame of %" PRIu64 " bytes where %zu are left", what, bytes,
                                nt_cursor_left(&start));
    *cursor = start;
    frame_ret->payload = nt_get_cursor(cursor, bytes);
    nt_skip(&frame_ret->payload, envelope->generation->framing->frame_size_bytes);
    nt_tell(&frame_ret->payload, what, "frame size");
    frame_ret->items = is_list ? nt_get_le32(&frame_ret->payload) : 0;
    nt_tell(&frame_ret->payload, what, "items");
    return NT_OK;
}

enum nt_status nt_record_frame(const struct nt_envelope *envelope, struct nt_cursor *cursor, const char *what,
                               struct nt_frame *frame_ret, struct nt_error *error)
{
    return read_frame(envelope, cursor, what, false, frame_ret, error);
}

enum nt_status nt_list_frame(const struct nt_envelope *envelope, struct nt_cursor *cursor, const char *what,
                             uint32_t item_bytes, struct nt_frame *frame_ret, struct nt_error *error)
{
    enum nt_status status = read_frame(envelope, cursor, what, true, frame_ret, error);
    if (status != NT_OK)
        return status;
    frame_ret->items &= envelope->generation->framing->frame_item_mask;
    if (frame_ret->items > nt_cursor_left(&frame_ret->payload) / item_bytes)
        return nt_envelope_fail(envelope, &frame_ret->payload, NT_CORRUPT, error,
                                "%s: %" PRIu32 " items do not fit into %zu bytes", what, frame_ret->items,
                                nt_cursor_left(&frame_ret->payload));
    return NT_OK;
}

bool nt_list_frame_follows(const struct nt_envelope *envelope, const struct nt_cursor *cursor)
{
    struct nt_cursor ahead = *cursor;
    int64_t size = get_frame_size(&ahead, envelope->generation);
    return !ahead.failed && size < 0 && 0 - (uint64_t)size <= nt_cursor_left(cursor);
}

struct nt_text nt_get_text(struct nt_cursor *cursor)
{
    uint32_t length = nt_get_le32(cursor);
    const uint8_t *bytes = nt_get_bytes(cursor, length);
    return bytes ? (struct nt_text){(const char *)bytes, length} : (struct nt_text){"", 0};
}

/* ---- feature flags ---- */

enum nt_status nt_feature_flags_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                     struct nt_feature_flags *flags_ret, struct nt_error *error)
{
    struct nt_feature_flags flags = {0};
    bool has_more = true;
    while (has_more && flags.count < NT_MAX_FEATURE_WORDS) {
        uint64_t word = nt_get_le64(cursor);
        nt_tell(cursor, nt_envelope_name(envelope->kind), "feature flags");
        for (uint64_t set = word & INT64_MAX; set; set &= set - 1) {
            uint32_t number = flags.count * 64 + (uint32_t)__builtin_ctzll(set);
            if (!nt_generation_feature(envelope->generation, number))
                return nt_envelope_fail(envelope, cursor, NT_UNSUPPORTED, error,
                                        "feature flag %u is set, which this reader does not know", number);
        }
        flags.words[flags.count++] = (int64_t)word;
        has_more = (int64_t)word < 0;
    }
    if (has_more)
        return nt_envelope_fail(envelope, cursor, NT_UNSUPPORTED, error,
                                "more than %d words of feature flags", NT_MAX_FEATURE_WORDS);
    *flags_ret = flags;
    return nt_envelope_check(envelope, cursor, "feature flags", error);
}
