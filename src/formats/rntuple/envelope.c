/* SPDX-License-Identifier: MIT
 *
 * Reads an envelope, decompresses it and verifies its checksum; reads its frames, strings and feature
 * flags (specification, "Envelopes", "Frames", "Basic Types", "Feature Flags").
 */
#include "formats/rntuple/rntuple.h"

#include <stdio.h>

/* ---- Read an envelope ---- */

enum { ENVELOPE_VERSION = 1 };

const char *nt_envelope_name(enum nt_envelope_kind kind)
{
    static const char *const names[] = {
        [NT_ENVELOPE_ANCHOR] = "anchor",
        [NT_ENVELOPE_HEADER] = "header",
        [NT_ENVELOPE_FOOTER] = "footer",
        [NT_ENVELOPE_PAGE_LIST] = "page list",
        [NT_ENVELOPE_USER_METADATA] = "user metadata",
    };
    return names[kind];
}

/* Sets the cursor to the bytes between preamble and checksum. */
static void set_payload(struct nt_envelope *envelope)
{
    const struct nt_framing *framing = envelope->generation->framing;
    envelope->payload =
        nt_cursor(envelope->bytes, envelope->length - nt_checksum_info(framing->checksum)->bytes);
    nt_cursor_skip(&envelope->payload, framing->preamble_bytes);
}

void nt_envelope_deinit(struct nt_envelope *envelope)
{
    if (!envelope->is_borrowed) {
        if (envelope->budget)
            nt_budget_release(envelope->budget, NT_COST_ENVELOPE_BYTE, envelope->length);
        free(envelope->bytes);
    }
    *envelope = (struct nt_envelope){0};
}

struct nt_envelope nt_envelope_borrow(const struct nt_envelope *envelope)
{
    struct nt_envelope borrowed = *envelope;
    borrowed.is_borrowed = true;
    set_payload(&borrowed);
    return borrowed;
}

/* ---- Names, for messages ---- */

enum { NAME_BYTES = 80 };

static const char *name_of(const struct nt_envelope *envelope, char text[NAME_BYTES])
{
    snprintf(text, NAME_BYTES, "%s %s %" PRIu64, nt_envelope_name(envelope->kind),
             envelope->is_in_object ? "in object" : "at offset",
             envelope->is_in_object ? envelope->object : envelope->offset);
    return text;
}

static void name_location(const struct nt_envelope *envelope, struct nt_error *error)
{
    char where[NAME_BYTES];
    nt_error_context(error, "%s", name_of(envelope, where));
}

/* ---- Loading ---- */

static enum nt_status check_range(struct nt_source *source, const char *name,
                                  const struct nt_anchor_link *range, struct nt_error *error)
{
    if (!nt_range_fits(range->offset, range->stored_bytes, source->size))
        return nt_fail(error, NT_TRUNCATED, range->offset,
                       "%s: %" PRIu64 " bytes at offset %" PRIu64 " are outside the file of %" PRIu64
                       " bytes",
                       name, range->stored_bytes, range->offset, source->size);
    if (range->stored_bytes == 0 || range->length < range->stored_bytes)
        return nt_fail(error, NT_CORRUPT, range->offset,
                       "%s: %" PRIu64 " stored bytes cannot decompress to %" PRIu64 " bytes", name,
                       range->stored_bytes, range->length);
    return NT_OK;
}

enum nt_status nt_envelope_read(struct nt_source *source, struct nt_budget *budget,
                                enum nt_envelope_kind kind, const struct nt_anchor_link *range,
                                struct nt_envelope *envelope_ret, struct nt_error *error)
{
    struct nt_envelope envelope = {.budget = budget,
                                   .kind = kind,
                                   .offset = nt_source_local_offset(source, range->offset),
                                   .is_in_object = source->is_object_store,
                                   .object = range->offset / NT_OBJECT_SPACE};
    NT_TRY(check_range(source, nt_envelope_name(kind), range, error));
    enum nt_status status = nt_root_object_read(budget, source, range->offset, range->stored_bytes,
                                                range->length, &envelope.bytes, &envelope.counted, error);
    if (status != NT_OK) {
        name_location(&envelope, error);
        return status;
    }
    envelope.length = range->length;
    *envelope_ret = envelope;
    return NT_OK;
}

/* ---- Verifying ---- */

/* u64: the type id in the low 16 bits, the length in the high 48. */
static enum nt_status check_type_and_length(const struct nt_envelope *envelope, struct nt_error *error)
{
    uint64_t word = nt_load_le64(envelope->bytes);
    if ((word & 0xffff) != (uint64_t)envelope->kind)
        return nt_fail_number(error, NT_CORRUPT, envelope->offset, "envelope's type id", envelope->kind,
                              word & 0xffff);
    if (word >> 16 != envelope->length)
        return nt_fail_number(error, NT_CORRUPT, envelope->offset, "envelope's length", envelope->length,
                              word >> 16);
    return NT_OK;
}

/* u16 version of the writer, u16 minimum version of a reader. */
static enum nt_status check_versions(const struct nt_envelope *envelope, struct nt_error *error)
{
    uint16_t minimum = nt_load_le16(envelope->bytes + 2);
    if (minimum > ENVELOPE_VERSION)
        return nt_fail(error, NT_UNSUPPORTED, envelope->offset, "envelope needs a reader of version %u",
                       minimum);
    return NT_OK;
}

/* NT_CHECKSUM_CRC32 or NT_CHECKSUM_XXH3_64, at the end, over all bytes before it. */
static enum nt_status check_checksum(struct nt_envelope *envelope, enum nt_checksum_kind kind,
                                     struct nt_error *error)
{
    size_t end = envelope->length - nt_checksum_info(kind)->bytes;
    const uint8_t *stored = envelope->bytes + end;
    envelope->checksum = kind == NT_CHECKSUM_CRC32 ? nt_load_le32(stored) : nt_load_le64(stored);
    return nt_checksum_verify(kind, envelope->bytes, end, stored, envelope->offset, error);
}

static enum nt_status check_content(struct nt_envelope *envelope, const struct nt_generation *generation,
                                    struct nt_error *error)
{
    const struct nt_framing *framing = generation->framing;
    uint32_t checksum_bytes = nt_checksum_info(framing->checksum)->bytes;
    envelope->generation = generation;
    if (envelope->length < framing->preamble_bytes + checksum_bytes)
        return nt_fail(error, NT_CORRUPT, envelope->offset, "%zu bytes are too few for an envelope",
                       envelope->length);
    NT_TRY(check_checksum(envelope, framing->checksum, error));
    return framing->has_type_and_length ? check_type_and_length(envelope, error)
                                        : check_versions(envelope, error);
}

enum nt_status nt_envelope_verify(struct nt_envelope *envelope, const struct nt_generation *generation,
                                  struct nt_error *error)
{
    enum nt_status status = check_content(envelope, generation, error);
    if (status != NT_OK) {
        name_location(envelope, error);
        nt_budget_withdraw(envelope->budget, envelope->counted);
        envelope->counted = 0;
        return status;
    }
    set_payload(envelope);
    return NT_OK;
}

static enum nt_status load_once(struct nt_source *source, struct nt_budget *budget,
                                const struct nt_generation *generation, enum nt_envelope_kind kind,
                                const struct nt_anchor_link *range, struct nt_envelope *envelope_ret,
                                struct nt_error *error)
{
    struct nt_envelope envelope;
    NT_TRY(nt_envelope_read(source, budget, kind, range, &envelope, error));
    enum nt_status status = nt_envelope_verify(&envelope, generation, error);
    if (status == NT_OK)
        *envelope_ret = envelope;
    else
        nt_envelope_deinit(&envelope);
    return status;
}

/* Like a page from a network, an envelope is damaged only if it arrives damaged twice. */
enum nt_status nt_envelope_load(struct nt_source *source, struct nt_budget *budget,
                                const struct nt_generation *generation, enum nt_envelope_kind kind,
                                const struct nt_envelope_link *link, struct nt_envelope *envelope_ret,
                                struct nt_error *error)
{
    if (!nt_locator_is_local(&link->locator))
        return nt_fail_elsewhere(error, nt_envelope_name(kind), &link->locator);
    const struct nt_anchor_link range = {link->locator.offset, link->locator.bytes, link->length};
    struct nt_error first = {0};
    enum nt_status status = load_once(source, budget, generation, kind, &range, envelope_ret, &first);
    if (status == NT_OK)
        return NT_OK;
    if (nt_is_environmental(status) || !nt_source_invalidate(source, range.offset, range.stored_bytes))
        return nt_fail_copy(error, &first);
    return load_once(source, budget, generation, kind, &range, envelope_ret, error);
}

enum nt_status nt_envelope_fail(const struct nt_envelope *envelope, const struct nt_cursor *at,
                                enum nt_status status, struct nt_error *error, const char *format, ...)
{
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    char where[NAME_BYTES];
    return nt_fail(error, status, envelope->offset, "%s, byte %zu: %s", name_of(envelope, where),
                   at->position, message);
}

enum nt_status nt_envelope_check(const struct nt_envelope *envelope, const struct nt_cursor *cursor,
                                 const char *what, struct nt_error *error)
{
    if (!cursor->failed)
        return NT_OK;
    return nt_envelope_fail(envelope, cursor, NT_CORRUPT, error, "%s ends too early", what);
}

/* ---- Frames, strings and feature flags ---- */

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

/* The size includes the frame's own preamble; a negative one means a list. */
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
                                "%s: found a %s frame, expected a %s frame", what,
                                is_list ? "record" : "list", is_list ? "list" : "record");
    if (bytes < preamble)
        return nt_envelope_fail(envelope, &start, NT_CORRUPT, error,
                                "%s: expected a frame of at least %" PRIu32 " bytes, found %" PRIu64, what,
                                preamble, bytes);
    if (bytes > nt_cursor_left(&start))
        return nt_envelope_fail(envelope, &start, NT_CORRUPT, error,
                                "%s: a frame of %" PRIu64 " bytes, but only %zu bytes are left", what, bytes,
                                nt_cursor_left(&start));
    *cursor = start;
    frame_ret->payload = nt_get_cursor(cursor, bytes);
    nt_cursor_skip(&frame_ret->payload, envelope->generation->framing->frame_size_bytes);
    nt_cursor_label(&frame_ret->payload, what, "frame size");
    frame_ret->items = is_list ? nt_get_le32(&frame_ret->payload) : 0;
    nt_cursor_label(&frame_ret->payload, what, "items");
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
    NT_TRY(read_frame(envelope, cursor, what, true, frame_ret, error));
    frame_ret->items &= envelope->generation->framing->frame_item_mask;
    if (frame_ret->items > nt_cursor_left(&frame_ret->payload) / item_bytes)
        return nt_envelope_fail(envelope, &frame_ret->payload, NT_CORRUPT, error,
                                "%s: %" PRIu32 " items do not fit into %zu bytes", what, frame_ret->items,
                                nt_cursor_left(&frame_ret->payload));
    return NT_OK;
}

uint32_t nt_record_bytes(const struct nt_generation *generation, const struct nt_record_kind *kind)
{
    return kind->bytes + (kind->is_bare ? 0 : nt_record_frame_bytes(generation));
}

enum nt_status nt_record_read(const struct nt_envelope *envelope, struct nt_cursor *list,
                              const struct nt_record_kind *kind, void *record_ret, struct nt_error *error)
{
    struct nt_frame frame;
    if (!kind->is_bare)
        NT_TRY(nt_record_frame(envelope, list, kind->name, &frame, error));
    struct nt_cursor *cursor = kind->is_bare ? list : &frame.payload;
    const char *reason = kind->read(envelope->generation, cursor, record_ret);
    if (reason)
        return nt_envelope_fail(envelope, cursor, NT_UNSUPPORTED, error, "%s", reason);
    if (!kind->is_bare)
        *(size_t *)record_ret = nt_cursor_left(cursor);
    return nt_envelope_check(envelope, cursor, kind->name, error);
}

enum nt_status nt_records_read(const struct nt_envelope *envelope, struct nt_frame *list,
                               const struct nt_record_kind *kind, void *records, struct nt_error *error)
{
    for (uint32_t i = 0; i < list->items; i++)
        NT_TRY(nt_record_read(envelope, &list->payload, kind, (char *)records + i * kind->size, error));
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

/* ---- Feature flags ---- */

enum nt_status nt_feature_flags_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                     struct nt_feature_flags *flags_ret, struct nt_error *error)
{
    struct nt_feature_flags flags = {0};
    bool has_more = true;
    while (has_more && flags.count < NT_MAX_FEATURE_WORDS) {
        uint64_t word = nt_labelled_le64(cursor, nt_envelope_name(envelope->kind), "feature flags");
        for (uint64_t set = word & INT64_MAX; set; set &= set - 1) {
            uint32_t number = flags.count * 64 + (uint32_t)__builtin_ctzll(set);
            if (!nt_generation_feature(envelope->generation, number))
                return nt_envelope_fail(envelope, cursor, NT_UNSUPPORTED, error,
                                        "feature flag %u is set, but this version does not know it", number);
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
