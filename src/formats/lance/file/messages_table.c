/* SPDX-License-Identifier: MIT
 *
 * The tables of the messages that say what a version of a data set is.
 */
#include "formats/lance/file/messages_table.h"

#include "formats/lance/file/rows.h"

static const struct nt_proto_field external_file_rows[] = {
    TEXT(1, "path"),
    UINT(2, "offset"),
    UINT(3, "size"),
};
static const struct nt_proto_table external_file = TABLE("ExternalFile", external_file_rows);

/* ---- fragments ---- */

static const struct nt_proto_field data_file_rows[] = {
    TEXT(NT_LANCE_DATA_FILE_PATH, "path"),
    INTS(NT_LANCE_DATA_FILE_FIELDS, "fields"),
    INTS(NT_LANCE_DATA_FILE_COLUMN_INDICES, "column_indices"),
    UINT(NT_LANCE_DATA_FILE_MAJOR_VERSION, "file_major_version"),
    UINT(NT_LANCE_DATA_FILE_MINOR_VERSION, "file_minor_version"),
    UINT(NT_LANCE_DATA_FILE_SIZE, "file_size_bytes"),
    OPTIONAL_UINT(NT_LANCE_DATA_FILE_BASE_ID, "base_id"),
};
const struct nt_proto_table nt_lance_data_file = TABLE("DataFile", data_file_rows);

static const char *const deletion_types[] = {"ARROW_ARRAY", "BITMAP", NULL};
static const struct nt_proto_field deletion_file_rows[] = {
    ENUM(NT_LANCE_DELETION_FILE_TYPE, "file_type", deletion_types),
    UINT(NT_LANCE_DELETION_FILE_READ_VERSION, "read_version"),
    UINT(NT_LANCE_DELETION_FILE_ID, "id"),
    UINT(NT_LANCE_DELETION_FILE_ROWS, "num_deleted_rows"),
    OPTIONAL_UINT(NT_LANCE_DELETION_FILE_BASE_ID, "base_id"),
};
static const struct nt_proto_table deletion_file = TABLE("DeletionFile", deletion_file_rows);

/* Row ids or versions of rows that lie in a hidden column of a data file. */
static const struct nt_proto_table row_lineage_column = {.name = "RowLineageColumn"};

static const struct nt_proto_field fragment_rows[] = {
    UINT(NT_LANCE_FRAGMENT_ID, "id"),
    MESSAGES(NT_LANCE_FRAGMENT_FILES, "files", nt_lance_data_file),
    MESSAGE(NT_LANCE_FRAGMENT_DELETION_FILE, "deletion_file", deletion_file),
    UINT(NT_LANCE_FRAGMENT_PHYSICAL_ROWS, "physical_rows"),
    MESSAGE(NT_LANCE_FRAGMENT_INLINE_ROW_IDS, "inline_row_ids", nt_lance_row_ids),
    MESSAGE(6, "external_row_ids", external_file),
    MESSAGE(7, "inline_last_updated_at_versions", nt_lance_row_versions),
    MESSAGE(8, "external_last_updated_at_versions", external_file),
    MESSAGE(9, "inline_created_at_versions", nt_lance_row_versions),
    MESSAGE(10, "external_created_at_versions", external_file),
    MESSAGE(12, "column_row_ids", row_lineage_column),
    MESSAGE(13, "column_last_updated_at_versions", row_lineage_column),
    MESSAGE(14, "column_created_at_versions", row_lineage_column),
};
const struct nt_proto_table nt_lance_fragment = TABLE("DataFragment", fragment_rows);

/* ---- row ids ---- */

static const struct nt_proto_field narrow_array_rows[] = {
    UINT(1, "base"),
    BYTES(2, "offsets"),
};
static const struct nt_proto_table u16_array = TABLE("U16Array", narrow_array_rows);
static const struct nt_proto_table u32_array = TABLE("U32Array", narrow_array_rows);
static const struct nt_proto_field u64_array_rows[] = {
    BYTES(2, "values"),
};
static const struct nt_proto_table u64_array = TABLE("U64Array", u64_array_rows);
static const struct nt_proto_field encoded_array_rows[] = {
    MESSAGE(1, "u16_array", u16_array),
    MESSAGE(2, "u32_array", u32_array),
    MESSAGE(3, "u64_array", u64_array),
};
static const struct nt_proto_table encoded_array = CHOICE("EncodedU64Array", encoded_array_rows);

static const struct nt_proto_field range_rows[] = {
    UINT(1, "start"),
    UINT(2, "end"),
};
static const struct nt_proto_table range = TABLE("Range", range_rows);
static const struct nt_proto_field range_with_holes_rows[] = {
    UINT(1, "start"),
    UINT(2, "end"),
    MESSAGE(3, "holes", encoded_array),
};
static const struct nt_proto_table range_with_holes = TABLE("RangeWithHoles", range_with_holes_rows);
static const struct nt_proto_field range_with_bitmap_rows[] = {
    UINT(1, "start"),
    UINT(2, "end"),
    BYTES(3, "bitmap"),
};
static const struct nt_proto_table range_with_bitmap = TABLE("RangeWithBitmap", range_with_bitmap_rows);
static const struct nt_proto_field segment_rows[] = {
    MESSAGE(1, "range", range),
    MESSAGE(2, "range_with_holes", range_with_holes),
    MESSAGE(3, "range_with_bitmap", range_with_bitmap),
    MESSAGE(4, "sorted_array", encoded_array),
    MESSAGE(5, "array", encoded_array),
};
static const struct nt_proto_table segment = CHOICE("U64Segment", segment_rows);

static const struct nt_proto_field row_ids_rows[] = {
    MESSAGES(1, "segments", segment),
};
const struct nt_proto_table nt_lance_row_ids = TABLE("RowIdSequence", row_ids_rows);

static const struct nt_proto_field version_run_rows[] = {
    MESSAGE(1, "span", segment),
    UINT(2, "version"),
};
static const struct nt_proto_table version_run = TABLE("RowDatasetVersionRun", version_run_rows);
static const struct nt_proto_field row_versions_rows[] = {
    MESSAGES(1, "runs", version_run),
};
const struct nt_proto_table nt_lance_row_versions = TABLE("RowDatasetVersionSequence", row_versions_rows);

/* ---- the manifest ---- */

static const struct nt_proto_field entry_rows[] = {
    TEXT(NT_LANCE_ENTRY_KEY, "key"),
    TEXT(NT_LANCE_ENTRY_VALUE, "value"),
};
const struct nt_proto_table nt_lance_metadata_entry = TABLE("MetadataEntry", entry_rows);

static const struct nt_proto_field writer_version_rows[] = {
    TEXT(NT_LANCE_WRITER_VERSION_LIBRARY, "library"),
    TEXT(NT_LANCE_WRITER_VERSION_VERSION, "version"),
    OPTIONAL_TEXT(3, "prerelease"),
    OPTIONAL_TEXT(4, "build_metadata"),
};
static const struct nt_proto_table writer_version = TABLE("WriterVersion", writer_version_rows);

static const struct nt_proto_field timestamp_rows[] = {
    INT(NT_LANCE_TIMESTAMP_SECONDS, "seconds"),
    INT(NT_LANCE_TIMESTAMP_NANOSECONDS, "nanos"),
};
static const struct nt_proto_table timestamp = TABLE("Timestamp", timestamp_rows);

static const struct nt_proto_field data_format_rows[] = {
    TEXT(NT_LANCE_DATA_FORMAT_FILE_FORMAT, "file_format"),
    TEXT(NT_LANCE_DATA_FORMAT_VERSION, "version"),
};
static const struct nt_proto_table data_format = TABLE("DataStorageFormat", data_format_rows);

static const struct nt_proto_field base_path_rows[] = {
    UINT(NT_LANCE_BASE_PATH_ID, "id"),
    OPTIONAL_TEXT(NT_LANCE_BASE_PATH_NAME, "name"),
    BOOL(NT_LANCE_BASE_PATH_IS_DATASET_ROOT, "is_dataset_root"),
    TEXT(NT_LANCE_BASE_PATH_PATH, "path"),
};
const struct nt_proto_table nt_lance_base_path = TABLE("BasePath", base_path_rows);

static const struct nt_proto_field manifest_rows[] = {
    UINT(NT_LANCE_MANIFEST_VERSION, "version"),
    MESSAGES(NT_LANCE_MANIFEST_FIELDS, "fields", nt_lance_field),
    MESSAGES(NT_LANCE_MANIFEST_SCHEMA_METADATA, "schema_metadata", nt_lance_metadata_entry),
    MESSAGES_APART(NT_LANCE_MANIFEST_FRAGMENTS, "fragments", nt_lance_fragment),
    OPTIONAL_UINT(NT_LANCE_MANIFEST_AUXILIARY_DATA, "version_aux_data"),
    OPTIONAL_UINT(NT_LANCE_MANIFEST_INDEX_SECTION, "index_section"),
    MESSAGE(NT_LANCE_MANIFEST_TIMESTAMP, "timestamp", timestamp),
    TEXT(NT_LANCE_MANIFEST_TAG, "tag"),
    UINT(NT_LANCE_MANIFEST_READER_FLAGS, "reader_feature_flags"),
    UINT(NT_LANCE_MANIFEST_WRITER_FLAGS, "writer_feature_flags"),
    OPTIONAL_UINT(NT_LANCE_MANIFEST_MAX_FRAGMENT_ID, "max_fragment_id"),
    TEXT(NT_LANCE_MANIFEST_TRANSACTION_FILE, "transaction_file"),
    MESSAGE(NT_LANCE_MANIFEST_WRITER_VERSION, "writer_version", writer_version),
    UINT(NT_LANCE_MANIFEST_NEXT_ROW_ID, "next_row_id"),
    MESSAGE(NT_LANCE_MANIFEST_DATA_FORMAT, "data_format", data_format),
    MESSAGES(NT_LANCE_MANIFEST_CONFIG, "config", nt_lance_metadata_entry),
    MESSAGES(NT_LANCE_MANIFEST_BASE_PATHS, "base_paths", nt_lance_base_path),
    MESSAGES(NT_LANCE_MANIFEST_TABLE_METADATA, "table_metadata", nt_lance_metadata_entry),
    OPTIONAL_TEXT(NT_LANCE_MANIFEST_BRANCH, "branch"),
    OPTIONAL_UINT(NT_LANCE_MANIFEST_TRANSACTION_SECTION_DEPRECATED, "transaction_section_deprecated"),
    OPTIONAL_UINT(NT_LANCE_MANIFEST_TRANSACTION_SECTION, "transaction_section"),
    OPTIONAL_INT(24, "max_allocated_field_id"),
};
const struct nt_proto_table nt_lance_manifest = TABLE("Manifest", manifest_rows);

/* ---- indices ---- */

static const struct nt_proto_field uuid_rows[] = {
    BYTES(1, "uuid"),
};
const struct nt_proto_table nt_lance_uuid = TABLE("UUID", uuid_rows);

static const struct nt_proto_field index_file_rows[] = {
    TEXT(1, "path"),
    UINT(2, "size_bytes"),
};
static const struct nt_proto_table index_file = TABLE("IndexFile", index_file_rows);

static const struct nt_proto_field index_rows[] = {
    MESSAGE(1, "uuid", nt_lance_uuid),
    INTS(2, "fields"),
    TEXT(3, "name"),
    UINT(4, "dataset_version"),
    BYTES(5, "fragment_bitmap"),
    MESSAGE(6, "index_details", nt_lance_any),
    OPTIONAL_INT(7, "index_version"),
    OPTIONAL_UINT(8, "created_at"),
    OPTIONAL_UINT(9, "base_id"),
    MESSAGES(10, "files", index_file),
    INTS(11, "covering_fields"),
};
const struct nt_proto_table nt_lance_index_metadata = TABLE("IndexMetadata", index_rows);

static const struct nt_proto_field index_section_rows[] = {
    MESSAGES(1, "indices", nt_lance_index_metadata),
};
const struct nt_proto_table nt_lance_index_section = TABLE("IndexSection", index_section_rows);

/* ---- a part of the manifest ---- */

static const struct nt_proto_field dataset_schema_rows[] = {
    MESSAGES(NT_LANCE_MANIFEST_FIELDS, "fields", nt_lance_field),
    MESSAGES(NT_LANCE_MANIFEST_SCHEMA_METADATA, "metadata", nt_lance_metadata_entry),
};
const struct nt_proto_table nt_lance_dataset_schema = {.name = "Manifest",
                                                       .fields = dataset_schema_rows,
                                                       .count = sizeof(dataset_schema_rows) /
                                                                sizeof(*dataset_schema_rows),
                                                       .is_part = true};
