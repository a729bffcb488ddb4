/* SPDX-License-Identifier: MIT
 *
 * In: a predraft header or footer. Out: header.json and footer.json of that generation, every item as it is
 * stored.
 */
#include "formats/rntuple/shown.h"
#include "formats/rntuple/predraft.h"

static void version_json(struct nt_json *json, const struct nt_predraft_version *version)
{
    nt_json_key(json, "version");
    nt_json_object(json);
    nt_json_member_unsigned(json, "version", version->version);
    nt_json_member_unsigned(json, "minimum_version", version->minimum);
    nt_json_member_unsigned(json, "flags", version->flags);
    nt_json_end_object(json);
}

static void header_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                        const struct nt_predraft_header *header, const struct nt_schema *schema,
                        struct nt_buffer *out)
{
    struct nt_json json;
    nt_json_document(&json, out, "header");
    nt_json_member_unsigned(&json, "decoded_bytes", envelope->length);
    nt_json_member_hex64(&json, "checksum", envelope->checksum);
    nt_json_member_text(&json, "name", header->name);
    nt_json_member_text(&json, "description", header->description);
    nt_json_member_text(&json, "author", header->author);
    nt_json_member_text(&json, "custodian", header->custodian);
    nt_json_member_unsigned(&json, "time_of_data", header->time_of_data);
    nt_json_member_unsigned(&json, "time_of_writing", header->time_of_writing);
    version_json(&json, &header->version);
    nt_json_member_text(&json, "own_uuid", header->own_uuid);
    nt_json_member_text(&json, "group_uuid", header->group_uuid);
    nt_schema_json(&json, dataset, schema, 0, 0);
    nt_unknown_bytes_json(&json, header->unknown_bytes);
    nt_json_finish(&json);
}

enum nt_status nt_predraft_header_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                       struct nt_error *error)
{
    struct nt_envelope envelope;
    struct nt_schema schema = {0};
    struct nt_predraft_header header;
    enum nt_status status = nt_rntuple_load_envelope(dataset, NT_ENVELOPE_HEADER, 0, &envelope, error);
    if (status != NT_OK)
        return status;
    status = nt_predraft_header_read(&envelope, &header, &schema, error);
    if (status == NT_OK)
        header_json(dataset, &envelope, &header, &schema, out);
    nt_schema_deinit(&schema);
    nt_envelope_deinit(&envelope);
    return status;
}

static enum nt_status pages_json(struct nt_json *json, const struct nt_envelope *envelope,
                                 struct nt_cursor *cursor, uint32_t count, struct nt_error *error)
{
    nt_json_key(json, "pages");
    nt_json_array(json);
    for (uint32_t i = 0; i < count; i++) {
        struct nt_page_record page = nt_predraft_page_read(cursor);
        enum nt_status status = nt_envelope_check(envelope, cursor, "page", error);
        if (status != NT_OK)
            return status;
        nt_json_object(json);
        nt_json_member_unsigned(json, "elements", page.elements);
        nt_locator_describe(json, &page.locator);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
    return NT_OK;
}

static enum nt_status column_json(struct nt_json *json, const struct nt_envelope *envelope,
                                  struct nt_cursor *cursor, struct nt_error *error)
{
    struct nt_predraft_column column;
    enum nt_status status = nt_predraft_column_read(envelope, cursor, &column, error);
    if (status != NT_OK)
        return status;
    nt_json_object(json);
    nt_json_member_unsigned(json, "column_id", column.id);
    nt_json_member_unsigned(json, "first_element", column.first_element);
    nt_json_member_unsigned(json, "elements", column.elements);
    nt_json_member_signed(json, "compression_settings", column.compression_settings);
    status = pages_json(json, envelope, cursor, column.pages, error);
    nt_json_end_object(json);
    return status;
}

static enum nt_status cluster_json(struct nt_json *json, const struct nt_envelope *envelope,
                                   struct nt_cursor *cursor, struct nt_error *error)
{
    struct nt_predraft_cluster cluster;
    enum nt_status status = nt_predraft_cluster_read(envelope, cursor, &cluster, error);
    if (status != NT_OK)
        return status;
    nt_json_object(json);
    nt_json_member_unsigned(json, "id", cluster.id);
    nt_json_member_text(json, "uuid", cluster.uuid);
    version_json(json, &cluster.version);
    nt_json_member_unsigned(json, "first_entry", cluster.first_entry);
    nt_json_member_unsigned(json, "entries", cluster.entries);
    nt_locator_describe(json, &cluster.locator);
    nt_json_key(json, "columns");
    nt_json_array(json);
    for (uint32_t i = 0; i < cluster.columns && status == NT_OK; i++)
        status = column_json(json, envelope, cursor, error);
    nt_json_end_array(json);
    nt_json_end_object(json);
    return status;
}

enum nt_status nt_predraft_footer_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                       struct nt_error *error)
{
    struct nt_envelope envelope;
    struct nt_cursor cursor;
    struct nt_json json;
    uint64_t clusters = 0;
    enum nt_status status = nt_rntuple_load_envelope(dataset, NT_ENVELOPE_FOOTER, 0, &envelope, error);
    if (status != NT_OK)
        return status;
    nt_json_document(&json, out, "footer");
    nt_json_member_unsigned(&json, "decoded_bytes", envelope.length);
    nt_json_member_hex64(&json, "checksum", envelope.checksum);
    status = nt_predraft_footer_open(&envelope, &cursor, &clusters, error);
    nt_json_key(&json, "clusters");
    nt_json_array(&json);
    for (uint64_t i = 0; i < clusters && status == NT_OK; i++)
        status = cluster_json(&json, &envelope, &cursor, error);
    nt_json_end_array(&json);
    if (status == NT_OK)
        nt_unknown_bytes_json(&json, nt_cursor_left(&cursor));
    nt_json_finish(&json);
    nt_envelope_deinit(&envelope);
    return status;
}
