/* SPDX-License-Identifier: MIT
 *
 * In: a verified header or footer of the predraft. Out: records, and the model's clusters. There is no text
 * that specifies it; the layout is that of the files which ROOT 6.21 to 6.25 wrote.
 */
#include "formats/rntuple/predraft.h"

#include <inttypes.h>
#include <stdlib.h>

#define NO_PARENT UINT64_MAX

/* ---- pieces ---- */

/* A frame: u16 version, u16 minimum version, u32 size with these 8 bytes. */
static enum nt_status read_frame(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                 const char *what, struct nt_cursor *payload_ret, struct nt_error *error)
{
    struct nt_cursor start = *cursor;
    nt_skip(cursor, 4);
    uint32_t size = nt_get_le32(cursor);
    if (cursor->failed || size < 8 || size > nt_cursor_left(&start))
        return nt_envelope_fail(envelope, &start, NT_CORRUPT, error,
                                "%s: a frame of %u bytes where %zu are left", what, size,
                                nt_cursor_left(&start));
    *cursor = start;
    *payload_ret = nt_get_cursor(cursor, size);
    nt_skip(payload_ret, 8);
    nt_tell(payload_ret, what, "frame versions and size");
    return NT_OK;
}

static enum nt_status read_version(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                   struct nt_predraft_version *version_ret, struct nt_error *error)
{
    struct nt_cursor frame;
    enum nt_status status = read_frame(envelope, cursor, "version", &frame, error);
    if (status != NT_OK)
        return status;
    version_ret->version = nt_get_le32(&frame);
    nt_tell(&frame, "version", "version");
    version_ret->minimum = nt_get_le32(&frame);
    nt_tell(&frame, "version", "minimum version");
    version_ret->flags = nt_get_le64(&frame);
    nt_tell(&frame, "version", "flags");
    return nt_envelope_check(envelope, &frame, "version", error);
}

static enum nt_status read_uuid(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                struct nt_text *uuid_ret, struct nt_error *error)
{
    struct nt_cursor frame;
    enum nt_status status = read_frame(envelope, cursor, "uuid", &frame, error);
    if (status != NT_OK)
        return status;
    *uuid_ret = nt_get_text(&frame);
    nt_tell(&frame, "uuid", "text");
    return nt_envelope_check(envelope, &frame, "uuid", error);
}

/* i64 position, u32 bytes, URL: empty for the file itself. */
static struct nt_locator read_locator(struct nt_cursor *cursor)
{
    struct nt_locator locator = {.kind = NT_LOCATOR_FILE};
    locator.offset = nt_get_le64(cursor);
    nt_tell(cursor, "locator", "position");
    locator.bytes = nt_get_le32(cursor);
    nt_tell(cursor, "locator", "bytes");
    locator.payload = nt_get_text(cursor);
    nt_tell(cursor, "locator", "url");
    if (locator.payload.length > 0)
        locator.kind = NT_LOCATOR_URI;
    return locator;
}

/* ---- header ---- */

static enum nt_status read_field(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                 struct nt_field_record *field, struct nt_error *error)
{
    struct nt_predraft_version field_version = {0}, type_version = {0};
    struct nt_cursor frame;
    enum nt_status status = read_frame(envelope, cursor, "field", &frame, error);
    if (status != NT_OK)
        return status;
    field->id = nt_get_le64(&frame);
    nt_tell(&frame, "field", "id");
    status = read_version(envelope, &frame, &field_version, error);
    if (status == NT_OK)
        status = read_version(envelope, &frame, &type_version, error);
    if (status != NT_OK)
        return status;
    field->field_version = field_version.version;
    field->type_version = type_version.version;
    field->name = nt_get_text(&frame);
    nt_tell(&frame, "field", "name");
    field->description = nt_get_text(&frame);
    nt_tell(&frame, "field", "description");
    field->type = nt_get_text(&frame);
    nt_tell(&frame, "field", "type");
    field->alias = (struct nt_text){"", 0};
    field->repetition = nt_get_le64(&frame);
    nt_tell(&frame, "field", "repetition");
    uint32_t role = nt_get_le32(&frame);
    nt_tell(&frame, "field", "role");
    field->role = role < UINT16_MAX ? (uint16_t)role : UINT16_MAX;
    field->parent_id = nt_get_le64(&frame);
    nt_tell(&frame, "field", "parent field id");
    uint32_t children = nt_get_le32(&frame);
    nt_tell(&frame, "field", "number of children");
    nt_skip(&frame, (uint64_t)children * sizeof(uint64_t)); /* they name this field as their parent */
    nt_tell(&frame, "field", "children");
    field->unknown_bytes = nt_cursor_left(&frame);
    return nt_envelope_check(envelope, &frame, "field", error);
}

/* Move what is kept to the front; children of the root become their own parents, as later generations have
 * it. */
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
    enum { LEAST_FIELD_BYTES = 8 + 8 + 2 * 24 + 3 * 4 + 8 + 4 + 8 + 4 };
    uint32_t count = nt_get_le32(cursor);
    nt_tell(cursor, "fields", "count");
    if (count > nt_cursor_left(cursor) / LEAST_FIELD_BYTES)
        return nt_envelope_fail(envelope, cursor, NT_CORRUPT, error, "%u fields do not fit into %zu bytes",
                                count, nt_cursor_left(cursor));
    enum nt_status status = nt_schema_add_fields(schema, envelope->budget, count, error);
    if (status != NT_OK)
        return status;
    for (uint32_t i = 0; i < count; i++) {
        status = read_field(envelope, cursor, &schema->fields[schema->field_count - count + i], error);
        if (status != NT_OK)
            return status;
    }
    remove_root(schema);
    return NT_OK;
}

static enum nt_status read_column(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                  struct nt_column_record *column, struct nt_error *error)
{
    struct nt_predraft_version version;
    struct nt_cursor frame, model;
    enum nt_status status = read_frame(envelope, cursor, "column", &frame, error);
    if (status != NT_OK)
        return status;
    column->id = nt_get_le64(&frame);
    nt_tell(&frame, "column", "id");
    status = read_version(envelope, &frame, &version, error);
    if (status == NT_OK)
        status = read_frame(envelope, &frame, "column model", &model, error);
    if (status != NT_OK)
        return status;
    uint32_t type = nt_get_le32(&model);
    nt_tell(&model, "column", "type");
    column->type_number = type < UINT16_MAX ? (uint16_t)type : UINT16_MAX;
    column->flags = nt_get_le32(&model); /* sorted or not */
    nt_tell(&model, "column", "flags");
    column->field_id = nt_get_le64(&frame);
    nt_tell(&frame, "column", "field id");
    nt_skip(&frame, sizeof(uint32_t)); /* its place in the field, which the ids' order tells, too */
    nt_tell(&frame, "column", "place in the field");
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
    enum { LEAST_COLUMN_BYTES = 8 + 8 + 24 + 16 + 8 + 4 };
    uint32_t count = nt_get_le32(cursor);
    nt_tell(cursor, "columns", "count");
    if (count > nt_cursor_left(cursor) / LEAST_COLUMN_BYTES)
        return nt_envelope_fail(envelope, cursor, NT_CORRUPT, error, "%u columns do not fit into %zu bytes",
                                count, nt_cursor_left(cursor));
    enum nt_status status = nt_schema_add_columns(schema, envelope->budget, count, error);
    if (status != NT_OK)
        return status;
    struct nt_column_record *columns = schema->columns + (schema->column_count - count);
    for (uint32_t i = 0; i < count; i++) {
        status = read_column(envelope, cursor, &columns[i], error);
        if (status != NT_OK)
            return status;
    }
    qsort(columns, count, sizeof(*columns), compare_columns);
    return NT_OK;
}

enum nt_status nt_predraft_header_read(const struct nt_envelope *envelope,
                                       struct nt_predraft_header *header_ret, struct nt_schema *schema,
                                       struct nt_error *error)
{
    struct nt_predraft_header header = {0};
    struct nt_cursor cursor = envelope->payload;
    header.name = nt_get_text(&cursor);
    nt_tell(&cursor, "header", "name");
    header.description = nt_get_text(&cursor);
    nt_tell(&cursor, "header", "description");
    header.author = nt_get_text(&cursor);
    nt_tell(&cursor, "header", "author");
    header.custodian = nt_get_text(&cursor);
    nt_tell(&cursor, "header", "custodian");
    header.time_of_data = nt_get_le64(&cursor);
    nt_tell(&cursor, "header", "time of data");
    header.time_of_writing = nt_get_le64(&cursor);
    nt_tell(&cursor, "header", "time of writing");
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

/* ---- footer ---- */

enum nt_status nt_predraft_footer_open(const struct nt_envelope *envelope, struct nt_cursor *cursor_ret,
                                       uint64_t *clusters_ret, struct nt_error *error)
{
    enum { LEAST_CLUSTER_BYTES = 12 + 72 + 4, POSTSCRIPT_BYTES = 12 };
    struct nt_cursor cursor = envelope->payload;
    struct nt_cursor postscript = cursor;
    if (nt_cursor_left(&cursor) >= POSTSCRIPT_BYTES) {
        cursor.end -= POSTSCRIPT_BYTES;
        postscript.position = postscript.told = cursor.end;
        nt_skip(&postscript, POSTSCRIPT_BYTES); /* the anchor has it, too */
        nt_tell(&postscript, "footer", "versions, sizes of header and footer");
    }
    uint64_t clusters = nt_get_le64(&cursor);
    nt_tell(&cursor, "footer", "clusters");
    if (clusters > nt_cursor_left(&cursor) / LEAST_CLUSTER_BYTES)
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
    cluster.id = nt_get_le64(&summary);
    nt_tell(&summary, "cluster", "id");
    status = read_version(envelope, &summary, &cluster.version, error);
    if (status != NT_OK)
        return status;
    cluster.first_entry = nt_get_le64(&summary);
    nt_tell(&summary, "cluster", "first entry");
    cluster.entries = nt_get_le64(&summary);
    nt_tell(&summary, "cluster", "entries");
    cluster.locator = read_locator(&summary);
    status = nt_envelope_check(envelope, &summary, "cluster summary", error);
    if (status != NT_OK)
        return status;
    cluster.columns = nt_get_le32(cursor);
    nt_tell(cursor, "cluster", "columns");
    *cluster_ret = cluster;
    return nt_envelope_check(envelope, cursor, "cluster", error);
}

enum nt_status nt_predraft_column_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                       struct nt_predraft_column *column_ret, struct nt_error *error)
{
    column_ret->id = nt_get_le64(cursor);
    nt_tell(cursor, "column in a cluster", "id");
    column_ret->first_element = nt_get_le64(cursor);
    nt_tell(cursor, "column in a cluster", "first element");
    column_ret->elements = nt_get_le32(cursor);
    nt_tell(cursor, "column in a cluster", "elements");
    column_ret->compression_settings = (int64_t)nt_get_le64(cursor);
    nt_tell(cursor, "column in a cluster", "compression settings");
    column_ret->pages = nt_get_le32(cursor);
    nt_tell(cursor, "column in a cluster", "pages");
    return nt_envelope_check(envelope, cursor, "column of a cluster", error);
}

struct nt_page_record nt_predraft_page_read(struct nt_cursor *cursor)
{
    struct nt_page_record page = {0};
    page.elements = nt_get_le32(cursor);
    nt_tell(cursor, "page", "elements");
    page.locator = read_locator(cursor);
    return page;
}
