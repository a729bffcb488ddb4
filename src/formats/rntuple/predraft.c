/* SPDX-License-Identifier: MIT
 *
 * The format before its first specification (ROOT 6.21 to 6.25). Reads its header and footer, builds
 * the model's clusters and pages from them and shows them as JSON. No text specifies it; the layout is
 * taken from files.
 */
#include "formats/rntuple/rntuple.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/json/json.h"
#include "core/model/builder.h"
#include "core/model/model.h"

/* ---- Read header and footer ---- */

#define NO_PARENT UINT64_MAX

/* ---- Pieces ---- */

/* Reads a frame: u16 version, u16 minimum version, u32 size including these 8 bytes. */
static enum nt_status read_frame(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                 const char *what, struct nt_cursor *payload_ret, struct nt_error *error)
{
    struct nt_cursor start = *cursor;
    nt_skip(cursor, 4);
    uint32_t size = nt_get_le32(cursor);
    if (cursor->failed || size < 8 || size > nt_cursor_left(&start))
        return nt_envelope_fail(envelope, &start, NT_CORRUPT, error,
                                "%s: a frame of %u bytes, but only %zu bytes are left", what, size,
                                nt_cursor_left(&start));
    *cursor = start;
    *payload_ret = nt_get_cursor(cursor, size);
    nt_skip(payload_ret, 8);
    nt_cursor_label(payload_ret, what, "frame versions and size");
    return NT_OK;
}

static enum nt_status read_version(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                   struct nt_predraft_version *version_ret, struct nt_error *error)
{
    struct nt_cursor frame;
    enum nt_status status = read_frame(envelope, cursor, "version", &frame, error);
    if (status != NT_OK)
        return status;
    version_ret->version = nt_labelled_le32(&frame, "version", "version");
    version_ret->minimum = nt_labelled_le32(&frame, "version", "minimum version");
    version_ret->flags = nt_labelled_le64(&frame, "version", "flags");
    return nt_envelope_check(envelope, &frame, "version", error);
}

static enum nt_status read_uuid(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                struct nt_text *uuid_ret, struct nt_error *error)
{
    struct nt_cursor frame;
    enum nt_status status = read_frame(envelope, cursor, "uuid", &frame, error);
    if (status != NT_OK)
        return status;
    *uuid_ret = nt_labelled_text(&frame, "uuid", "text");
    return nt_envelope_check(envelope, &frame, "uuid", error);
}

/* Reads i64 position, u32 bytes, URL; the URL is empty for the file itself. */
static struct nt_locator read_locator(struct nt_cursor *cursor)
{
    struct nt_locator locator = {.kind = NT_LOCATOR_FILE};
    locator.offset = nt_labelled_le64(cursor, "locator", "position");
    locator.bytes = nt_labelled_le32(cursor, "locator", "bytes");
    locator.payload = nt_labelled_text(cursor, "locator", "url");
    if (locator.payload.length > 0)
        locator.kind = NT_LOCATOR_URI;
    return locator;
}

/* ---- Header ---- */

static enum nt_status read_field(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                 struct nt_field_record *field, struct nt_error *error)
{
    struct nt_predraft_version field_version = {0}, type_version = {0};
    struct nt_cursor frame;
    enum nt_status status = read_frame(envelope, cursor, "field", &frame, error);
    if (status != NT_OK)
        return status;
    field->id = nt_labelled_le64(&frame, "field", "id");
    status = read_version(envelope, &frame, &field_version, error);
    if (status == NT_OK)
        status = read_version(envelope, &frame, &type_version, error);
    if (status != NT_OK)
        return status;
    field->field_version = field_version.version;
    field->type_version = type_version.version;
    field->name = nt_labelled_text(&frame, "field", "name");
    field->description = nt_labelled_text(&frame, "field", "description");
    field->type = nt_labelled_text(&frame, "field", "type");
    field->alias = (struct nt_text){"", 0};
    field->repetition = nt_labelled_le64(&frame, "field", "repetition");
    uint32_t role = nt_labelled_le32(&frame, "field", "role");
    field->role = role < UINT16_MAX ? (uint16_t)role : UINT16_MAX;
    field->parent_id = nt_labelled_le64(&frame, "field", "parent field id");
    uint32_t children = nt_labelled_le32(&frame, "field", "number of children");
    nt_skip(&frame, (uint64_t)children * sizeof(uint64_t)); /* they store this field as their parent */
    nt_cursor_label(&frame, "field", "children");
    field->unknown_bytes = nt_cursor_left(&frame);
    return nt_envelope_check(envelope, &frame, "field", error);
}

/* Removes the root field. Its children become their own parents, as in later generations. */
static void remove_root(struct nt_schema *schema)
{
    uint64_t root = NO_PARENT;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (schema->fields[i].parent_id == NO_PARENT && schema->fields[i].name.length == 0)
            root = schema->fields[i].id;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        struct nt_field_record *field = &schema->fields[i];
        if (field->parent_id == root || field->parent_id == NO_PARENT)
            field->parent_id = field->id;
        if (field->id != root)
            schema->fields[kept++] = *field;
    }
    schema->field_count = kept;
}

static enum nt_status read_fields(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                  struct nt_schema *schema, struct nt_error *error)
{
    enum { MIN_FIELD_BYTES = 8 + 8 + 2 * 24 + 3 * 4 + 8 + 4 + 8 + 4 };
    uint32_t count = nt_labelled_le32(cursor, "fields", "count");
    if (count > nt_cursor_left(cursor) / MIN_FIELD_BYTES)
        return nt_envelope_fail(envelope, cursor, NT_CORRUPT, error, "%u fields do not fit into %zu bytes",
                                count, nt_cursor_left(cursor));
    struct nt_field_record *fields;
    enum nt_status status = nt_schema_add_fields(schema, envelope->budget, count, &fields, error);
    for (uint32_t i = 0; i < count && status == NT_OK; i++)
        status = read_field(envelope, cursor, &fields[i], error);
    if (status == NT_OK)
        remove_root(schema);
    return status;
}

static enum nt_status read_column(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                  struct nt_column_record *column, struct nt_error *error)
{
    struct nt_predraft_version version;
    struct nt_cursor frame, model;
    enum nt_status status = read_frame(envelope, cursor, "column", &frame, error);
    if (status != NT_OK)
        return status;
    column->id = nt_labelled_le64(&frame, "column", "id");
    status = read_version(envelope, &frame, &version, error);
    if (status == NT_OK)
        status = read_frame(envelope, &frame, "column model", &model, error);
    if (status != NT_OK)
        return status;
    uint32_t type = nt_labelled_le32(&model, "column", "type");
    column->type_number = type < UINT16_MAX ? (uint16_t)type : UINT16_MAX;
    column->flags = nt_get_le32(&model); /* sorted or not */
    nt_cursor_label(&model, "column", "flags");
    column->field_id = nt_labelled_le64(&frame, "column", "field id");
    nt_skip(&frame, sizeof(uint32_t)); /* its position in the field; the order of ids is the same */
    nt_cursor_label(&frame, "column", "position in the field");
    column->unknown_bytes = nt_cursor_left(&frame);
    status = nt_envelope_check(envelope, &model, "column model", error);
    return status == NT_OK ? nt_envelope_check(envelope, &frame, "column", error) : status;
}

static int compare_columns(const void *left, const void *right)
{
    const struct nt_column_record *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static enum nt_status read_columns(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                   struct nt_schema *schema, struct nt_error *error)
{
    enum { MIN_COLUMN_BYTES = 8 + 8 + 24 + 16 + 8 + 4 };
    uint32_t count = nt_labelled_le32(cursor, "columns", "count");
    if (count > nt_cursor_left(cursor) / MIN_COLUMN_BYTES)
        return nt_envelope_fail(envelope, cursor, NT_CORRUPT, error, "%u columns do not fit into %zu bytes",
                                count, nt_cursor_left(cursor));
    struct nt_column_record *columns;
    enum nt_status status = nt_schema_add_columns(schema, envelope->budget, count, &columns, error);
    for (uint32_t i = 0; i < count && status == NT_OK; i++)
        status = read_column(envelope, cursor, &columns[i], error);
    if (status == NT_OK)
        qsort(columns, count, sizeof(*columns), compare_columns);
    return status;
}

enum nt_status nt_predraft_header_read(const struct nt_envelope *envelope,
                                       struct nt_predraft_header *header_ret, struct nt_schema *schema,
                                       struct nt_error *error)
{
    struct nt_predraft_header header = {0};
    struct nt_cursor cursor = envelope->payload;
    header.name = nt_labelled_text(&cursor, "header", "name");
    header.description = nt_labelled_text(&cursor, "header", "description");
    header.author = nt_labelled_text(&cursor, "header", "author");
    header.custodian = nt_labelled_text(&cursor, "header", "custodian");
    header.time_of_data = nt_labelled_le64(&cursor, "header", "time of data");
    header.time_of_writing = nt_labelled_le64(&cursor, "header", "time of writing");
    enum nt_status status = nt_envelope_check(envelope, &cursor, "header", error);
    if (status == NT_OK)
        status = read_version(envelope, &cursor, &header.version, error);
    if (status == NT_OK)
        status = read_uuid(envelope, &cursor, &header.own_uuid, error);
    if (status == NT_OK)
        status = read_uuid(envelope, &cursor, &header.group_uuid, error);
    if (status == NT_OK)
        status = read_fields(envelope, &cursor, schema, error);
    if (status == NT_OK)
        status = read_columns(envelope, &cursor, schema, error);
    header.unknown_bytes = nt_cursor_left(&cursor);
    *header_ret = header;
    return status;
}

/* ---- Footer ---- */

enum nt_status nt_predraft_footer_open(const struct nt_envelope *envelope, struct nt_cursor *cursor_ret,
                                       uint64_t *clusters_ret, struct nt_error *error)
{
    enum { MIN_CLUSTER_BYTES = 12 + 72 + 4, POSTSCRIPT_BYTES = 12 };
    struct nt_cursor cursor = envelope->payload;
    struct nt_cursor postscript = cursor;
    if (nt_cursor_left(&cursor) >= POSTSCRIPT_BYTES) {
        cursor.end -= POSTSCRIPT_BYTES;
        postscript.position = postscript.labelled = cursor.end;
        nt_skip(&postscript, POSTSCRIPT_BYTES); /* a copy of the anchor's */
        nt_cursor_label(&postscript, "footer", "versions, sizes of header and footer");
    }
    uint64_t clusters = nt_labelled_le64(&cursor, "footer", "clusters");
    if (clusters > nt_cursor_left(&cursor) / MIN_CLUSTER_BYTES)
        return nt_envelope_fail(envelope, &cursor, NT_CORRUPT, error,
                                "%" PRIu64 " clusters do not fit into %zu bytes", clusters,
                                nt_cursor_left(&cursor));
    *cursor_ret = cursor;
    *clusters_ret = clusters;
    return nt_envelope_check(envelope, &cursor, "footer", error);
}

enum nt_status nt_predraft_cluster_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                        struct nt_predraft_cluster *cluster_ret, struct nt_error *error)
{
    struct nt_predraft_cluster cluster = {0};
    struct nt_cursor summary;
    enum nt_status status = read_uuid(envelope, cursor, &cluster.uuid, error);
    if (status == NT_OK)
        status = read_frame(envelope, cursor, "cluster summary", &summary, error);
    if (status != NT_OK)
        return status;
    cluster.id = nt_labelled_le64(&summary, "cluster", "id");
    status = read_version(envelope, &summary, &cluster.version, error);
    if (status != NT_OK)
        return status;
    cluster.first_entry = nt_labelled_le64(&summary, "cluster", "first entry");
    cluster.entries = nt_labelled_le64(&summary, "cluster", "entries");
    cluster.locator = read_locator(&summary);
    status = nt_envelope_check(envelope, &summary, "cluster summary", error);
    if (status != NT_OK)
        return status;
    cluster.columns = nt_labelled_le32(cursor, "cluster", "columns");
    *cluster_ret = cluster;
    return nt_envelope_check(envelope, cursor, "cluster", error);
}

enum nt_status nt_predraft_column_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                       struct nt_predraft_column *column_ret, struct nt_error *error)
{
    column_ret->id = nt_labelled_le64(cursor, "column in a cluster", "id");
    column_ret->first_element = nt_labelled_le64(cursor, "column in a cluster", "first element");
    column_ret->elements = nt_labelled_le32(cursor, "column in a cluster", "elements");
    column_ret->compression_settings = (int64_t)nt_get_le64(cursor);
    nt_cursor_label(cursor, "column in a cluster", "compression settings");
    column_ret->pages = nt_labelled_le32(cursor, "column in a cluster", "pages");
    return nt_envelope_check(envelope, cursor, "column of a cluster", error);
}

struct nt_page_record nt_predraft_page_read(struct nt_cursor *cursor)
{
    struct nt_page_record page = {0};
    page.elements = nt_labelled_le32(cursor, "page", "elements");
    page.locator = read_locator(cursor);
    return page;
}

/* ---- Build clusters and pages ---- */

/* ---- Clusters ---- */

static enum nt_status skip_columns(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                   uint32_t count, struct nt_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        struct nt_predraft_column column;
        enum nt_status status = nt_predraft_column_read(envelope, cursor, &column, error);
        if (status != NT_OK)
            return status;
        for (uint32_t k = 0; k < column.pages && !cursor->failed; k++)
            nt_predraft_page_read(cursor);
    }
    return nt_envelope_check(envelope, cursor, "page of a column", error);
}

static enum nt_status build_cluster(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                    struct nt_cursor *cursor, uint32_t number, struct nt_error *error)
{
    struct nt_predraft_cluster cluster;
    enum nt_status status = nt_predraft_cluster_read(envelope, cursor, &cluster, error);
    if (status == NT_OK)
        status = skip_columns(envelope, cursor, cluster.columns, error);
    if (status != NT_OK)
        return status;
    uint64_t end;
    if (!nt_add(cluster.first_entry, cluster.entries, &end))
        return nt_fail(error, NT_CORRUPT, envelope->offset, "footer: cluster %u ends beyond 2^64 entries",
                       number);
    dataset->clusters[number] = (struct nt_cluster){cluster.first_entry, cluster.entries, 0, NT_NONE};
    if (end > dataset->entries)
        dataset->entries = end;
    return NT_OK;
}

enum nt_status nt_predraft_build(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                 struct nt_error *error)
{
    struct nt_cursor cursor;
    uint64_t clusters;
    enum nt_status status = nt_predraft_footer_open(envelope, &cursor, &clusters, error);
    if (status != NT_OK)
        return status;
    status = nt_dataset_add_groups(dataset, 1, clusters, error);
    if (status != NT_OK)
        return status;
    dataset->clusters_known = true;
    for (uint32_t i = 0; i < dataset->cluster_count && status == NT_OK; i++)
        status = build_cluster(dataset, envelope, &cursor, i, error);
    if (status != NT_OK)
        return status;
    dataset->groups.records[0] =
        (struct nt_group_record){.entries = dataset->entries, .clusters = dataset->cluster_count};
    return NT_OK;
}

/* ---- Pages ---- */

NT_DEFINE_LAST_AT_MOST(last_column, struct nt_column, .id)

/* Columns are ordered by id; cluster lists contain them in any order. */
static uint32_t find_column(const struct nt_dataset *dataset, uint64_t id)
{
    uint32_t found = last_column(dataset->columns, dataset->column_count, id);
    return found < dataset->column_count && dataset->columns[found].id == id ? found : NT_NONE;
}

static enum nt_status fill_column(struct nt_page_builder *builder, struct nt_cursor *cursor, uint32_t cluster,
                                  struct nt_error *error)
{
    const struct nt_envelope *envelope = builder->envelope;
    struct nt_predraft_column record;
    enum nt_status status = nt_predraft_column_read(envelope, cursor, &record, error);
    if (status != NT_OK)
        return status;
    uint32_t column = find_column(builder->group.dataset, record.id);
    if (column == NT_NONE)
        return nt_envelope_fail(envelope, cursor, NT_CORRUPT, error,
                                "a cluster lists column %" PRIu64 ", which does not exist", record.id);
    status = nt_group_builder_start(&builder->group, cluster, column, error);
    if (status != NT_OK)
        return status;
    builder->group.range->first_element = record.first_element;
    builder->group.range->compression_settings = (uint32_t)record.compression_settings;
    for (uint32_t i = 0; i < record.pages && status == NT_OK; i++) {
        struct nt_page_record page = nt_predraft_page_read(cursor);
        status = nt_envelope_check(envelope, cursor, "page of a column", error);
        if (status == NT_OK)
            status = nt_page_builder_add(builder, column, &page, error);
    }
    if (status == NT_OK && builder->group.first_element != record.elements)
        return nt_fail_number(error, NT_CORRUPT, envelope->offset, "footer: elements in a column's pages",
                              record.elements, builder->group.first_element);
    return status;
}

enum nt_status nt_predraft_fill(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                struct nt_error *error)
{
    struct nt_cursor cursor;
    uint64_t clusters;
    struct nt_page_builder builder;
    enum nt_status status = nt_page_builder_init(&builder, dataset, 0, envelope, error);
    if (status == NT_OK)
        status = nt_predraft_footer_open(envelope, &cursor, &clusters, error);
    for (uint32_t i = 0; i < dataset->cluster_count && status == NT_OK; i++) {
        struct nt_predraft_cluster cluster = {0};
        status = nt_predraft_cluster_read(envelope, &cursor, &cluster, error);
        for (uint32_t k = 0; k < cluster.columns && status == NT_OK; k++)
            status = fill_column(&builder, &cursor, i, error);
    }
    return nt_page_builder_finish(&builder, status, error);
}

/* ---- header.json and footer.json ---- */

static void version_json(struct nt_json *json, const struct nt_predraft_version *version)
{
    nt_json_member_object(json, "version");
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
    nt_json_member_array(json, "pages");
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
    nt_json_member_array(json, "columns");
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
    nt_json_member_array(&json, "clusters");
    for (uint64_t i = 0; i < clusters && status == NT_OK; i++)
        status = cluster_json(&json, &envelope, &cursor, error);
    nt_json_end_array(&json);
    if (status == NT_OK)
        nt_unknown_bytes_json(&json, nt_cursor_left(&cursor));
    nt_json_finish(&json);
    nt_envelope_deinit(&envelope);
    return status;
}
