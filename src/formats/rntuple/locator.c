/* SPDX-License-Identifier: MIT
 *
 * Reads locators and envelope links, which give the place of a page or an envelope (specification,
 * "Locators and Envelope Links", "Well-known Payload Formats"; also the locators of the drafts: URI,
 * Object64).
 */
#include "formats/rntuple/rntuple.h"

#define NT_OBJECT_MAX_NUMBER INT32_MAX

enum { HEAD_BYTES = 4, LARGE_BYTES = 16, OBJECT64_BYTES = 12, OBJECT64_LARGE_BYTES = 16 };

/* The first word of a non-standard locator. */
struct head {
    uint32_t bytes; /* of the whole locator */
    uint8_t reserved;
    uint8_t type;
};

/* The reference implementation negates the whole word. The specification's figure puts a sign bit
 * before it, its text the absolute value of the last byte. The plausible one of the three is right. */
static void read_heads(uint32_t word, struct head heads[3])
{
    uint32_t negated = 0 - word;
    heads[0] = (struct head){negated & 0xffff, (uint8_t)(negated >> 16), (uint8_t)(negated >> 24)};
    heads[1] = (struct head){word & 0xffff, (uint8_t)(word >> 16), (uint8_t)(word >> 24 & 0x7f)};
    heads[2] = (struct head){word & 0xffff, (uint8_t)(word >> 16), (uint8_t)(0 - (word >> 24))};
}

static enum nt_locator_kind kind_of(const struct nt_generation *generation, uint8_t type)
{
    for (uint32_t i = 0; i < generation->locator_type_count; i++)
        if (generation->locator_types[i].number == type)
            return generation->locator_types[i].kind;
    return NT_LOCATOR_UNKNOWN;
}

static bool is_payload_size(enum nt_locator_kind kind, uint32_t bytes)
{
    switch (kind) {
    case NT_LOCATOR_LARGE:
        return bytes == LARGE_BYTES;
    case NT_LOCATOR_OBJECT64:
    case NT_LOCATOR_MULTI:
        return bytes == OBJECT64_BYTES || bytes == OBJECT64_LARGE_BYTES;
    default:
        return true;
    }
}

static struct head choose_head(uint32_t word, size_t left, const struct nt_generation *generation)
{
    struct head heads[3];
    read_heads(word, heads);
    for (unsigned i = 0; i < 3; i++) {
        if (heads[i].bytes < HEAD_BYTES || heads[i].bytes - HEAD_BYTES > left)
            continue;
        enum nt_locator_kind kind = kind_of(generation, heads[i].type);
        if (kind != NT_LOCATOR_UNKNOWN && is_payload_size(kind, heads[i].bytes - HEAD_BYTES))
            return heads[i];
    }
    return heads[0];
}

static void read_payload(struct nt_locator *locator, struct nt_cursor payload)
{
    size_t bytes = nt_cursor_left(&payload);
    struct nt_cursor whole = payload;
    switch (locator->kind) {
    case NT_LOCATOR_LARGE:
        locator->bytes = nt_labelled_le64(&payload, "locator", "size");
        locator->offset = nt_labelled_le64(&payload, "locator", "offset");
        break;
    case NT_LOCATOR_MULTI:
        locator->payload = (struct nt_text){(const char *)nt_get_bytes(&whole, bytes), bytes};
        /* fall through */
    case NT_LOCATOR_OBJECT64:
        locator->bytes = bytes == OBJECT64_BYTES ? nt_get_le32(&payload) : nt_get_le64(&payload);
        nt_cursor_label(&payload, "locator", "size");
        locator->offset = nt_labelled_le64(&payload, "locator", "location");
        break;
    default:
        locator->payload = (struct nt_text){(const char *)nt_get_bytes(&payload, bytes), bytes};
        nt_cursor_label(&payload, "locator", "payload");
    }
}

struct nt_locator nt_locator_read(struct nt_cursor *cursor, const struct nt_generation *generation)
{
    struct nt_locator locator = {.kind = NT_LOCATOR_FILE};
    uint32_t word = nt_get_le32(cursor);
    nt_cursor_label(cursor, "locator", (int32_t)word >= 0 ? "size" : "type and size");
    if ((int32_t)word >= 0) {
        locator.bytes = word;
        locator.offset = nt_labelled_le64(cursor, "locator", "offset");
        return locator;
    }
    struct head head = choose_head(word, nt_cursor_left(cursor), generation);
    locator.type = head.type;
    locator.reserved = head.reserved;
    locator.kind = kind_of(generation, head.type);
    if (head.bytes < HEAD_BYTES) {
        cursor->failed = true;
        return locator;
    }
    if (!is_payload_size(locator.kind, head.bytes - HEAD_BYTES))
        locator.kind = NT_LOCATOR_UNKNOWN;
    struct nt_cursor payload = nt_get_cursor(cursor, head.bytes - HEAD_BYTES);
    if (!cursor->failed)
        read_payload(&locator, payload);
    return locator;
}

struct nt_envelope_link nt_envelope_link_read(struct nt_cursor *cursor,
                                              const struct nt_generation *generation)
{
    struct nt_envelope_link link;
    link.length = generation->framing->link_length_bytes == 4 ? nt_get_le32(cursor) : nt_get_le64(cursor);
    nt_cursor_label(cursor, "envelope link", "length");
    link.locator = nt_locator_read(cursor, generation);
    return link;
}

bool nt_locator_is_local(const struct nt_locator *locator)
{
    return locator->kind == NT_LOCATOR_FILE || locator->kind == NT_LOCATOR_LARGE;
}

enum nt_status nt_object_address(const char *what, uint64_t object, uint64_t offset, uint64_t bytes,
                                 uint64_t *address_ret, struct nt_error *error)
{
    if (object > NT_OBJECT_MAX_NUMBER || !nt_range_fits(offset, bytes, NT_OBJECT_MAX_BYTES))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "%s: cannot read %" PRIu64 " bytes at byte %" PRIu64 " of object %" PRIu64
                       ": the limits are byte %" PRIu64 " and object %d",
                       what, bytes, offset, object, (uint64_t)NT_OBJECT_MAX_BYTES, NT_OBJECT_MAX_NUMBER);
    *address_ret = object * NT_OBJECT_SPACE + offset;
    return NT_OK;
}

enum nt_status nt_locator_find_object(struct nt_locator *locator, const char *what, struct nt_error *error)
{
    if (nt_locator_is_local(locator))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%s: is at byte %" PRIu64 " of a file, but the dataset is stored in objects", what,
                       locator->offset);
    if (locator->kind != NT_LOCATOR_OBJECT64)
        return NT_OK;
    locator->kind = NT_LOCATOR_FILE;
    return nt_object_address(what, locator->offset, 0, locator->bytes, &locator->offset, error);
}

static const char *const kind_names[NT_LOCATOR_KIND_COUNT] = {
    [NT_LOCATOR_FILE] = "file",         [NT_LOCATOR_LARGE] = "large", [NT_LOCATOR_URI] = "URI",
    [NT_LOCATOR_OBJECT64] = "Object64", [NT_LOCATOR_MULTI] = "Multi", [NT_LOCATOR_UNKNOWN] = "unknown",
};

static bool names_object(const struct nt_locator *locator)
{
    return locator->kind == NT_LOCATOR_OBJECT64 || locator->kind == NT_LOCATOR_MULTI;
}

enum nt_status nt_fail_elsewhere(struct nt_error *error, const char *what, const struct nt_locator *locator)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    nt_locator_text(&text, locator);
    return text.failed ? nt_fail_memory(error)
                       : nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s is not in the file: %s", what,
                                 nt_buffer_string(&text));
}

void nt_locator_describe(struct nt_json *json, const struct nt_locator *locator)
{
    nt_json_member_string(json, "locator", kind_names[locator->kind]);
    if (names_object(locator)) {
        nt_json_member_unsigned(json, "stored_bytes", locator->bytes);
        nt_json_member_unsigned(json, "location", locator->offset);
    } else if (nt_locator_is_local(locator)) {
        nt_json_member_unsigned(json, "file_offset", locator->offset);
        nt_json_member_unsigned(json, "stored_bytes", locator->bytes);
    }
    if (locator->payload.bytes)
        nt_json_member_text(json, locator->kind == NT_LOCATOR_URI ? "uri" : "payload", locator->payload);
    if (!nt_locator_is_local(locator)) {
        nt_json_member_unsigned(json, "locator_type", locator->type);
        nt_json_member_unsigned(json, "locator_reserved", locator->reserved);
    }
}

void nt_locator_text(struct nt_buffer *out, const struct nt_locator *locator)
{
    if (names_object(locator)) {
        nt_buffer_append_format(out, "%s 0x%016" PRIx64 ", %" PRIu64 " bytes",
                                locator->kind == NT_LOCATOR_MULTI ? "Multi (type 3)"
                                                                  : kind_names[locator->kind],
                                locator->offset, locator->bytes);
    } else if (nt_locator_is_local(locator)) {
        nt_buffer_append_format(out, "file offset %" PRIu64 ", %" PRIu64 " bytes", locator->offset,
                                locator->bytes);
    } else {
        nt_buffer_append_format(out, "%s (type %u) ", kind_names[locator->kind], locator->type);
        nt_append_printable(out, locator->payload.bytes, locator->payload.length);
    }
}

void nt_envelope_link_describe(struct nt_json *json, const struct nt_envelope_link *link)
{
    nt_json_member_unsigned(json, "decoded_bytes", link->length);
    nt_locator_describe(json, &link->locator);
}
