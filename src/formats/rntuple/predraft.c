/* SPDX-License-Identifier: MIT
 *
 * The format before its first specification (ROOT 6.21 to 6.25). Reads its header and footer, builds
 * the model's clusters and pages from them and shows them as JSON. No text specifies it; the layout is
 * taken from files.
 */
#include "formats/rntuple/rntuple.h"

/* ---- Pieces ---- */

#define NO_PARENT UINT64_MAX

/* After the first failure all that is read is zero. */
struct predraft_reader {
    const struct nt_envelope *envelope;
    enum nt_status status;
    struct nt_error *error;
};

static void check(struct predraft_reader *reader, struct nt_cursor *cursor, const char *what)
{
    if (reader->status == NT_OK)
        reader->status = nt_envelope_check(reader->envelope, cursor, what, reader->error);
}

enum { FRAME_PREAMBLE = 8 };

/* Reads a frame: u16 version, u16 minimum version, u32 size including these 8 bytes. */
static struct nt_cursor read_frame(struct predraft_reader *reader, struct nt_cursor *cursor, const char *what)
{
    struct nt_cursor start = *cursor;
    nt_cursor_skip(cursor, 4);
    uint32_t size = nt_get_le32(cursor);
    if (!cursor->failed && size < FRAME_PREAMBLE && reader->status == NT_OK)
        reader->status = nt_envelope_fail(reader->envelope, &start, NT_CORRUPT, reader->error,
                                          "%s: expected a frame of at least %d bytes, found %u", what,
                                          FRAME_PREAMBLE, size);
    if (reader->status == NT_OK && (cursor->failed || size > nt_cursor_left(&start)))
        reader->status = nt_envelope_fail(reader->envelope, &start, NT_CORRUPT, reader->error,
                                          "%s: a frame of %u bytes, but only %zu bytes are left", what, size,
                                          nt_cursor_left(&start));
    *cursor = start;
    cursor->failed |= reader->status != NT_OK;
    struct nt_cursor payload = nt_get_cursor(cursor, size);
    nt_cursor_skip(&payload, FRAME_PREAMBLE);
    nt_cursor_label(&payload, what, "frame versions and size");
    return payload;
}

static struct nt_predraft_version read_version(struct predraft_reader *reader, struct nt_cursor *cursor)
{
    struct nt_cursor frame = read_frame(reader, cursor, "version");
    struct nt_predraft_version version;
    version.version = nt_labelled_le32(&frame, "version", "version");
    version.minimum = nt_labelled_le32(&frame, "version", "minimum version");
    version.flags = nt_labelled_le64(&frame, "version", "flags");
    check(reader, &frame, "version");
    return version;
}

static struct nt_text read_uuid(struct predraft_reader *reader, struct nt_cursor *cursor)
{
    struct nt_cursor frame = read_frame(reader, cursor, "uuid");
    struct nt_text uuid = nt_labelled_text(&frame, "uuid", "text");
    check(reader, &frame, "uuid");
    return uuid;
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

/* A number of items that have at least so many bytes. */
static uint64_t check_count(struct predraft_reader *reader, struct nt_cursor *cursor, uint64_t count,
                            size_t least, const char *what)
{
    if (reader->status == NT_OK && count > nt_cursor_left(cursor) / least)
        reader->status =
            nt_envelope_fail(reader->envelope, cursor, NT_CORRUPT, reader->error,
                             "%" PRIu64 " %s do not fit into %zu bytes", count, what, nt_cursor_left(cursor));
    return reader->status == NT_OK ? count : 0;
}

/* ---- Header ---- */

static void read_field(struct predraft_reader *reader, struct nt_cursor *cursor,
                       struct nt_field_record *field)
{
    struct nt_cursor frame = read_frame(reader, cursor, "field");
    field->id = nt_labelled_le64(&frame, "field", "id");
    field->field_version = read_version(reader, &frame).version;
    field->type_version = read_version(reader, &frame).version;
    field->name = nt_labelled_text(&frame, "field", "name");
    field->description = nt_labelled_text(&frame, "field", "description");
    field->type = nt_labelled_text(&frame, "field", "type");
    field->alias = (struct nt_text){"", 0};
    field->repetition = nt_labelled_le64(&frame, "field", "repetition");
    uint32_t role = nt_labelled_le32(&frame, "field", "role");
    field->role = role < UINT16_MAX ? (uint16_t)role : UINT16_MAX;
    field->parent_id = nt_labelled_le64(&frame, "field", "parent field id");
    uint32_t children = nt_labelled_le32(&frame, "field", "number of children");
    nt_cursor_skip(&frame, (uint64_t)children * sizeof(uint64_t)); /* they store this field as their parent */
    nt_cursor_label(&frame, "field", "children");
    field->unknown_bytes = nt_cursor_left(&frame);
    check(reader, &frame, "field");
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

static void read_fields(struct predraft_reader *reader, struct nt_cursor *cursor, struct nt_schema *schema)
{
    enum { MIN_FIELD_BYTES = 8 + 8 + 2 * 24 + 3 * 4 + 8 + 4 + 8 + 4 };
    struct nt_field_record *fields;
    uint32_t stored = nt_labelled_le32(cursor, "fields", "count");
    uint32_t count = (uint32_t)check_count(reader, cursor, stored, MIN_FIELD_BYTES, "fields");
    if (reader->status == NT_OK)
        reader->status =
            nt_schema_add_fields(schema, reader->envelope->budget, count, &fields, reader->error);
    for (uint32_t i = 0; i < count && reader->status == NT_OK; i++)
        read_field(reader, cursor, &fields[i]);
    if (reader->status == NT_OK)
        remove_root(schema);
}

static void read_column(struct predraft_reader *reader, struct nt_cursor *cursor,
                        struct nt_column_record *column)
{
    struct nt_cursor frame = read_frame(reader, cursor, "column");
    column->id = nt_labelled_le64(&frame, "column", "id");
    read_version(reader, &frame);
    struct nt_cursor model = read_frame(reader, &frame, "column model");
    uint32_t type = nt_labelled_le32(&model, "column", "type");
    column->type_number = type < UINT16_MAX ? (uint16_t)type : UINT16_MAX;
    column->flags = nt_get_le32(&model); /* sorted or not */
    nt_cursor_label(&model, "column", "flags");
    column->field_id = nt_labelled_le64(&frame, "column", "field id");
    nt_cursor_skip(&frame, sizeof(uint32_t)); /* its position in the field; the order of ids is the same */
    nt_cursor_label(&frame, "column", "position in the field");
    column->unknown_bytes = nt_cursor_left(&frame);
    check(reader, &model, "column model");
    check(reader, &frame, "column");
}

static void read_columns(struct predraft_reader *reader, struct nt_cursor *cursor, struct nt_schema *schema)
{
    enum { MIN_COLUMN_BYTES = 8 + 8 + 24 + 16 + 8 + 4 };
    struct nt_column_record *columns;
    uint32_t stored = nt_labelled_le32(cursor, "columns", "count");
    uint32_t count = (uint32_t)check_count(reader, cursor, stored, MIN_COLUMN_BYTES, "columns");
    if (reader->status == NT_OK)
        reader->status =
            nt_schema_add_columns(schema, reader->envelope->budget, count, &columns, reader->error);
    for (uint32_t i = 0; i < count && reader->status == NT_OK; i++)
        read_column(reader, cursor, &columns[i]);
    if (reader->status == NT_OK)
        qsort(columns, count, sizeof(*columns), nt_compare_u64);
}

enum nt_status nt_predraft_header_read(const struct nt_envelope *envelope,
                                       struct nt_predraft_header *header_ret, struct nt_schema *schema,
                                       struct nt_error *error)
{
    struct predraft_reader reader = {.envelope = envelope, .error = error};
    struct nt_predraft_header header = {0};
    struct nt_cursor cursor = envelope->payload;
    header.name = nt_labelled_text(&cursor, "header", "name");
    header.description = nt_labelled_text(&cursor, "header", "description");
    header.author = nt_labelled_text(&cursor, "header", "author");
    header.custodian = nt_labelled_text(&cursor, "header", "custodian");
    header.time_of_data = nt_labelled_le64(&cursor, "header", "time of data");
    header.time_of_writing = nt_labelled_le64(&cursor, "header", "time of writing");
    check(&reader, &cursor, "header");
    header.version = read_version(&reader, &cursor);
    header.own_uuid = read_uuid(&reader, &cursor);
    header.group_uuid = read_uuid(&reader, &cursor);
    read_fields(&reader, &cursor, schema);
    read_columns(&reader, &cursor, schema);
    header.unknown_bytes = nt_cursor_left(&cursor);
    *header_ret = header;
    return reader.status;
}

/* ---- Footer ---- */

/* What the footer has: clusters, in them columns, in them pages. */
enum item { CLUSTER, COLUMN, PAGE, END_OF_COLUMN, END_OF_CLUSTER, END };

struct predraft_cluster {
    struct nt_text uuid;
    uint64_t id;
    struct nt_predraft_version version;
    uint64_t first_entry, entries;
    struct nt_locator locator; /* of all its pages together */
    uint32_t columns;
};

struct predraft_column {
    uint64_t id, first_element;
    uint32_t elements;
    int64_t compression_settings;
    uint32_t pages;
};

struct footer {
    struct predraft_reader reader;
    struct nt_cursor cursor;
    enum item item; /* the last one */
    struct predraft_cluster cluster;
    struct predraft_column column;
    struct nt_page_record page;
    uint32_t number;        /* of the cluster */
    uint64_t cluster_count; /* those below: that are left */
    uint64_t clusters;
    uint32_t columns, pages;
};

static struct footer open_footer(const struct nt_envelope *envelope, struct nt_error *error)
{
    enum { MIN_CLUSTER_BYTES = 12 + 72 + 4, POSTSCRIPT_BYTES = 12 };
    struct footer footer = {.reader = {.envelope = envelope, .error = error},
                            .cursor = envelope->payload,
                            .item = END_OF_CLUSTER};
    struct nt_cursor *cursor = &footer.cursor, postscript = *cursor;
    if (nt_cursor_left(cursor) >= POSTSCRIPT_BYTES) {
        cursor->end -= POSTSCRIPT_BYTES;
        postscript.position = postscript.labelled = cursor->end;
        nt_cursor_skip(&postscript, POSTSCRIPT_BYTES); /* a copy of the anchor's */
        nt_cursor_label(&postscript, "footer", "versions, sizes of header and footer");
    }
    uint64_t stored = nt_labelled_le64(cursor, "footer", "clusters");
    footer.cluster_count = check_count(&footer.reader, cursor, stored, MIN_CLUSTER_BYTES, "clusters");
    footer.clusters = footer.cluster_count;
    check(&footer.reader, cursor, "footer");
    return footer;
}

static void read_cluster(struct footer *footer)
{
    struct predraft_reader *reader = &footer->reader;
    struct predraft_cluster *cluster = &footer->cluster;
    cluster->uuid = read_uuid(reader, &footer->cursor);
    struct nt_cursor summary = read_frame(reader, &footer->cursor, "cluster summary");
    cluster->id = nt_labelled_le64(&summary, "cluster", "id");
    cluster->version = read_version(reader, &summary);
    cluster->first_entry = nt_labelled_le64(&summary, "cluster", "first entry");
    cluster->entries = nt_labelled_le64(&summary, "cluster", "entries");
    cluster->locator = read_locator(&summary);
    check(reader, &summary, "cluster summary");
    cluster->columns = nt_labelled_le32(&footer->cursor, "cluster", "columns");
    check(reader, &footer->cursor, "cluster");
    footer->columns = cluster->columns;
    footer->number = (uint32_t)(footer->cluster_count - footer->clusters);
    footer->clusters--;
}

static void read_cluster_column(struct footer *footer)
{
    static const char whole[] = "column in a cluster";
    struct nt_cursor *cursor = &footer->cursor;
    struct predraft_column *column = &footer->column;
    column->id = nt_labelled_le64(cursor, whole, "id");
    column->first_element = nt_labelled_le64(cursor, whole, "first element");
    column->elements = nt_labelled_le32(cursor, whole, "elements");
    column->compression_settings = (int64_t)nt_labelled_le64(cursor, whole, "compression settings");
    column->pages = nt_labelled_le32(cursor, whole, "pages");
    check(&footer->reader, cursor, "column of a cluster");
    footer->pages = column->pages;
    footer->columns--;
}

static void read_page(struct footer *footer)
{
    footer->page = (struct nt_page_record){0};
    footer->page.elements = nt_labelled_le32(&footer->cursor, "page", "elements");
    footer->page.locator = read_locator(&footer->cursor);
    check(&footer->reader, &footer->cursor, "page of a column");
    footer->pages--;
}

/* Reads the next item; END also after a failure. */
static enum item next(struct footer *footer)
{
    bool is_in_column = footer->item == COLUMN || footer->item == PAGE;
    bool is_in_cluster = footer->item != END_OF_CLUSTER;
    if (footer->reader.status != NT_OK) {
        footer->item = END;
    } else if (is_in_column && footer->pages) {
        read_page(footer);
        footer->item = PAGE;
    } else if (is_in_column) {
        footer->item = END_OF_COLUMN;
    } else if (is_in_cluster && footer->columns) {
        read_cluster_column(footer);
        footer->item = COLUMN;
    } else if (is_in_cluster) {
        footer->item = END_OF_CLUSTER;
    } else if (footer->clusters) {
        read_cluster(footer);
        footer->item = CLUSTER;
    } else {
        footer->item = END;
    }
    return footer->reader.status == NT_OK ? footer->item : END;
}

enum nt_status nt_predraft_footer_read(const struct nt_envelope *envelope, struct nt_error *error)
{
    struct footer footer = open_footer(envelope, error);
    while (next(&footer) != END)
        continue;
    return footer.reader.status;
}

/* ---- Build clusters and pages ---- */

static enum nt_status build_cluster(struct nt_dataset *dataset, const struct footer *footer,
                                    struct nt_error *error)
{
    const struct predraft_cluster *cluster = &footer->cluster;
    uint64_t end;
    if (!nt_checked_add(cluster->first_entry, cluster->entries, &end))
        return nt_fail(error, NT_CORRUPT, footer->reader.envelope->offset,
                       "footer: cluster %u ends beyond 2^64 entries", footer->number);
    dataset->clusters[footer->number] =
        (struct nt_cluster){cluster->first_entry, cluster->entries, 0, NT_NONE};
    if (end > dataset->entries)
        dataset->entries = end;
    return NT_OK;
}

enum nt_status nt_predraft_build(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                 struct nt_error *error)
{
    struct footer footer = open_footer(envelope, error);
    NT_TRY(footer.reader.status);
    NT_TRY(nt_dataset_add_groups(dataset, 1, footer.cluster_count, error));
    dataset->clusters_known = true;
    while (next(&footer) != END)
        if (footer.item == END_OF_CLUSTER)
            NT_TRY(build_cluster(dataset, &footer, error));
    NT_TRY(footer.reader.status);
    dataset->groups.records[0] =
        (struct nt_group_record){.entries = dataset->entries, .clusters = dataset->cluster_count};
    return NT_OK;
}

NT_DEFINE_LAST_AT_MOST(last_column, struct nt_column, .id)

/* Columns are ordered by id; cluster lists contain them in any order. */
static enum nt_status start_column(struct nt_page_builder *builder, const struct footer *footer,
                                   uint32_t *column_ret, struct nt_error *error)
{
    const struct nt_dataset *dataset = builder->group.dataset;
    uint64_t id = footer->column.id;
    uint32_t found = last_column(dataset->columns, dataset->column_count, id);
    if (found >= dataset->column_count || dataset->columns[found].id != id)
        return nt_envelope_fail(builder->envelope, &footer->cursor, NT_CORRUPT, error,
                                "a cluster lists column %" PRIu64 ", which does not exist", id);
    *column_ret = found;
    NT_TRY(nt_group_builder_start(&builder->group, footer->number, found, error));
    builder->group.range->first_element = footer->column.first_element;
    builder->group.range->compression_settings = (uint32_t)footer->column.compression_settings;
    return NT_OK;
}

static enum nt_status fill_columns(struct nt_page_builder *builder, struct nt_error *error)
{
    struct footer footer = open_footer(builder->envelope, error);
    uint64_t offset = builder->envelope->offset;
    uint32_t clusters = builder->group.dataset->cluster_count, column = 0;
    NT_TRY(footer.reader.status);
    if (footer.cluster_count != clusters) /* read again */
        return nt_fail_number(error, NT_CORRUPT, offset, "footer: clusters", clusters, footer.cluster_count);
    while (next(&footer) != END) {
        if (footer.item == COLUMN)
            NT_TRY(start_column(builder, &footer, &column, error));
        else if (footer.item == PAGE)
            NT_TRY(nt_page_builder_add(builder, column, &footer.page, error));
        else if (footer.item == END_OF_COLUMN && builder->group.first_element != footer.column.elements)
            return nt_fail_number(error, NT_CORRUPT, offset, "footer: elements in a column's pages",
                                  footer.column.elements, builder->group.first_element);
    }
    return footer.reader.status;
}

enum nt_status nt_predraft_fill(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                struct nt_error *error)
{
    struct nt_page_builder builder;
    enum nt_status status = nt_page_builder_init(&builder, dataset, 0, envelope, error);
    if (status == NT_OK)
        status = fill_columns(&builder, error);
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

enum nt_status nt_predraft_header_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                       struct nt_buffer *out, struct nt_error *error)
{
    NT_CLEANUP(nt_schema_deinit) struct nt_schema schema = {0};
    struct nt_predraft_header header;
    NT_TRY(nt_predraft_header_read(envelope, &header, &schema, error));
    header_json(dataset, envelope, &header, &schema, out);
    return NT_OK;
}

/* What begins here ends with the END_OF of it. */
static void item_json(struct nt_json *json, const struct footer *footer)
{
    const struct predraft_cluster *cluster = &footer->cluster;
    const struct predraft_column *column = &footer->column;
    if (footer->item == END_OF_COLUMN || footer->item == END_OF_CLUSTER)
        nt_json_end_array(json);
    else
        nt_json_object(json);
    switch (footer->item) {
    case CLUSTER:
        nt_json_member_unsigned(json, "id", cluster->id);
        nt_json_member_text(json, "uuid", cluster->uuid);
        version_json(json, &cluster->version);
        nt_json_member_unsigned(json, "first_entry", cluster->first_entry);
        nt_json_member_unsigned(json, "entries", cluster->entries);
        nt_locator_describe(json, &cluster->locator);
        nt_json_member_array(json, "columns");
        return;
    case COLUMN:
        nt_json_member_unsigned(json, "column_id", column->id);
        nt_json_member_unsigned(json, "first_element", column->first_element);
        nt_json_member_unsigned(json, "elements", column->elements);
        nt_json_member_signed(json, "compression_settings", column->compression_settings);
        nt_json_member_array(json, "pages");
        return;
    case PAGE:
        nt_json_member_unsigned(json, "elements", footer->page.elements);
        nt_locator_describe(json, &footer->page.locator);
        break;
    default:
        break;
    }
    nt_json_end_object(json);
}

enum nt_status nt_predraft_footer_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                       struct nt_buffer *out, struct nt_error *error)
{
    struct footer footer = open_footer(envelope, error);
    struct nt_json json;
    nt_json_document(&json, out, "footer");
    nt_json_member_unsigned(&json, "decoded_bytes", envelope->length);
    nt_json_member_hex64(&json, "checksum", envelope->checksum);
    nt_json_member_array(&json, "clusters");
    while (next(&footer) != END)
        item_json(&json, &footer);
    nt_json_end_array(&json);
    nt_unknown_bytes_json(&json, nt_cursor_left(&footer.cursor));
    nt_json_finish(&json);
    return footer.reader.status;
}
