/* SPDX-License-Identifier: MIT
 *
 * In: a verified header envelope. Out: struct nt_header and its schema description. Specification, "Header
 * Envelope".
 */
#include "formats/rntuple/header.h"

enum nt_status nt_header_read(const struct nt_envelope *envelope, struct nt_header *header_ret,
                              struct nt_schema *schema, struct nt_error *error)
{
    struct nt_header header = {0};
    struct nt_cursor cursor = envelope->payload;
    enum nt_status status = nt_feature_flags_read(envelope, &cursor, &header.flags, error);
    if (status != NT_OK)
        return status;
    if (envelope->generation->has_release_candidate_tag) {
        header.release_candidate_tag = nt_get_le32(&cursor);
        nt_tell(&cursor, "header", "release candidate tag");
    }
    header.name = nt_get_text(&cursor);
    nt_tell(&cursor, "header", "name");
    header.description = nt_get_text(&cursor);
    nt_tell(&cursor, "header", "description");
    header.writer = nt_get_text(&cursor);
    nt_tell(&cursor, "header", "writer");
    status = nt_envelope_check(envelope, &cursor, "header", error);
    if (status == NT_OK)
        status = nt_schema_read(envelope, &cursor, schema, error);
    if (status != NT_OK)
        return status;
    header.unknown_bytes = nt_cursor_left(&cursor);
    *header_ret = header;
    return NT_OK;
}
