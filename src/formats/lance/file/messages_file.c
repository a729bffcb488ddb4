/* SPDX-License-Identifier: MIT
 *
 * The tables of the messages that say what a file is: its schema, its columns and their pages. They are Lance's
 * FileDescriptor, Schema and Field (protos/file.proto), ColumnMetadata (file2.proto) and ColumnEncoding
 * (encodings_v2_0.proto).
 */
#include "formats/lance/file/rows.h"

/* ---- schema ---- */

static const struct nt_proto_field entry_rows[] = {
    TEXT(NT_LANCE_ENTRY_KEY, "key"),
    TEXT(NT_LANCE_ENTRY_VALUE, "value"),
};
static const struct nt_proto_table entry = TABLE("MetadataEntry", entry_rows);

static const struct nt_proto_field dictionary_rows[] = {
    INT(NT_LANCE_FIELD_DICTIONARY_OFFSET, "offset"),
    INT(NT_LANCE_FIELD_DICTIONARY_LENGTH, "length"),
};
static const struct nt_proto_table dictionary = TABLE("Dictionary", dictionary_rows);

static const char *const field_types[] = {"PARENT", "REPEATED", "LEAF", NULL};
static const char *const legacy_encodings[] = {"NONE", "PLAIN", "VAR_BINARY", "DICTIONARY", "RLE", NULL};

static const struct nt_proto_field field_rows[] = {
    ENUM(NT_LANCE_FIELD_TYPE, "type", field_types),
    TEXT(NT_LANCE_FIELD_NAME, "name"),
    INT(NT_LANCE_FIELD_ID, "id"),
    INT(NT_LANCE_FIELD_PARENT_ID, "parent_id"),
    TEXT(NT_LANCE_FIELD_LOGICAL_TYPE, "logical_type"),
    BOOL(NT_LANCE_FIELD_NULLABLE, "nullable"),
    ENUM(NT_LANCE_FIELD_ENCODING, "encoding", legacy_encodings),
    MESSAGE(NT_LANCE_FIELD_DICTIONARY, "dictionary", dictionary),
    OPTIONAL_TEXT(NT_LANCE_FIELD_EXTENSION_NAME, "extension_name"),
    MESSAGES(NT_LANCE_FIELD_METADATA, "metadata", entry),
    BOOL(NT_LANCE_FIELD_PRIMARY_KEY, "unenforced_primary_key"),
    OPTIONAL_UINT(NT_LANCE_FIELD_PRIMARY_KEY_POSITION, "unenforced_primary_key_position"),
    BOOL(NT_LANCE_FIELD_CLUSTERING_KEY, "unenforced_clustering_key"),
    OPTIONAL_UINT(NT_LANCE_FIELD_CLUSTERING_KEY_POSITION, "unenforced_clustering_key_position"),
};
const struct nt_proto_table nt_lance_field = TABLE("Field", field_rows);

static const struct nt_proto_field schema_rows[] = {
    MESSAGES(NT_LANCE_SCHEMA_FIELDS, "fields", nt_lance_field),
    MESSAGES(NT_LANCE_SCHEMA_METADATA, "metadata", entry),
};
static const struct nt_proto_table schema = TABLE("Schema", schema_rows);

static const struct nt_proto_field file_descriptor_rows[] = {
    UINT(NT_LANCE_FILE_DESCRIPTOR_LENGTH, "length"),
    MESSAGE(NT_LANCE_FILE_DESCRIPTOR_SCHEMA, "schema", schema),
};
const struct nt_proto_table nt_lance_file_descriptor = TABLE("FileDescriptor", file_descriptor_rows);

/* ---- columns and pages ---- */

static const struct nt_proto_table empty = {.name = "Empty"};

static const struct nt_proto_field indirect_rows[] = {
    UINT(NT_LANCE_INDIRECT_BUFFER_LOCATION, "buffer_location"),
    UINT(NT_LANCE_INDIRECT_BUFFER_LENGTH, "buffer_length"),
};
static const struct nt_proto_table indirect = TABLE("DeferredEncoding", indirect_rows);

static const struct nt_proto_field direct_rows[] = {
    BYTES(NT_LANCE_DIRECT_ENCODING, "encoding"),
};
static const struct nt_proto_table direct = TABLE("DirectEncoding", direct_rows);

static const struct nt_proto_field encoding_rows[] = {
    MESSAGE(NT_LANCE_ENCODING_INDIRECT, "indirect", indirect),
    MESSAGE(NT_LANCE_ENCODING_DIRECT, "direct", direct),
    MESSAGE(NT_LANCE_ENCODING_NONE, "none", empty),
};
const struct nt_proto_table nt_lance_encoding = CHOICE("Encoding", encoding_rows);

static const struct nt_proto_field any_rows[] = {
    TEXT(NT_LANCE_ANY_TYPE_URL, "type_url"),
    BYTES(NT_LANCE_ANY_VALUE, "value"),
};
const struct nt_proto_table nt_lance_any = TABLE("Any", any_rows);

static const struct nt_proto_field page_rows[] = {
    UINTS(NT_LANCE_PAGE_BUFFER_OFFSETS, "buffer_offsets"),
    UINTS(NT_LANCE_PAGE_BUFFER_SIZES, "buffer_sizes"),
    UINT(NT_LANCE_PAGE_LENGTH, "length"),
    MESSAGE(NT_LANCE_PAGE_ENCODING, "encoding", nt_lance_encoding),
    UINT(NT_LANCE_PAGE_PRIORITY, "priority"),
};
static const struct nt_proto_table page = TABLE("ColumnMetadata.Page", page_rows);

static const struct nt_proto_field column_metadata_rows[] = {
    MESSAGE(NT_LANCE_COLUMN_METADATA_ENCODING, "encoding", nt_lance_encoding),
    MESSAGES(NT_LANCE_COLUMN_METADATA_PAGES, "pages", page),
    UINTS(NT_LANCE_COLUMN_METADATA_BUFFER_OFFSETS, "buffer_offsets"),
    UINTS(NT_LANCE_COLUMN_METADATA_BUFFER_SIZES, "buffer_sizes"),
};
const struct nt_proto_table nt_lance_column_metadata = TABLE("ColumnMetadata", column_metadata_rows);

static const struct nt_proto_field zone_index_rows[] = {
    UINT(NT_LANCE_ZONE_INDEX_ROWS_PER_ZONE, "rows_per_zone"),
    MESSAGE(NT_LANCE_ZONE_INDEX_BUFFER, "zone_map_buffer", nt_lance_array_buffer),
    MESSAGE(NT_LANCE_ZONE_INDEX_INNER, "inner", nt_lance_column_encoding),
};
static const struct nt_proto_table zone_index = TABLE("ZoneIndex", zone_index_rows);

static const struct nt_proto_field column_blob_rows[] = {
    MESSAGE(NT_LANCE_COLUMN_BLOB_INNER, "inner", nt_lance_column_encoding),
};
static const struct nt_proto_table column_blob = TABLE("Blob", column_blob_rows);

static const struct nt_proto_field column_encoding_rows[] = {
    MESSAGE(NT_LANCE_COLUMN_ENCODING_VALUES, "values", empty),
    MESSAGE(NT_LANCE_COLUMN_ENCODING_ZONE_INDEX, "zone_index", zone_index),
    MESSAGE(NT_LANCE_COLUMN_ENCODING_BLOB, "blob", column_blob),
};
const struct nt_proto_table nt_lance_column_encoding = CHOICE("ColumnEncoding", column_encoding_rows);
