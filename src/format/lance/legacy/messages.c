/* SPDX-License-Identifier: MIT
 *
 * The tables of the messages of legacy files.
 */
#include "format/lance/legacy/messages.h"

#include "format/lance/rows.h"

static const struct nt_proto_field statistics_rows[] = {
    MESSAGES(NT_LANCE_STATISTICS_SCHEMA, "schema", nt_lance_field),
    INTS(NT_LANCE_STATISTICS_FIELDS, "fields"),
    UINT(NT_LANCE_STATISTICS_PAGE_TABLE_POSITION, "page_table_position"),
};
static const struct nt_proto_table statistics = TABLE("Metadata.StatisticsMetadata", statistics_rows);

static const struct nt_proto_field metadata_rows[] = {
    UINT(NT_LANCE_METADATA_MANIFEST_POSITION, "manifest_position"),
    INTS(NT_LANCE_METADATA_BATCH_OFFSETS, "batch_offsets"),
    UINT(NT_LANCE_METADATA_PAGE_TABLE_POSITION, "page_table_position"),
    MESSAGE(NT_LANCE_METADATA_STATISTICS, "statistics", statistics),
};
const struct nt_proto_table nt_lance_metadata = TABLE("Metadata", metadata_rows);

static const struct nt_proto_field writer_rows[] = {
    TEXT(NT_LANCE_WRITER_LIBRARY, "library"),
    TEXT(NT_LANCE_WRITER_VERSION, "version"),
};
static const struct nt_proto_table writer = TABLE("Manifest.WriterVersion", writer_rows);

static const struct nt_proto_field data_format_rows[] = {
    TEXT(1, "file_format"),
    TEXT(2, "version"),
};
static const struct nt_proto_table data_format = TABLE("Manifest.DataStorageFormat", data_format_rows);

static const struct nt_proto_field manifest_rows[] = {
    MESSAGES(NT_LANCE_MANIFEST_FIELDS, "fields", nt_lance_field),
    UINT(NT_LANCE_MANIFEST_VERSION, "version"),
    MESSAGES(NT_LANCE_MANIFEST_SCHEMA_METADATA, "schema_metadata", nt_lance_entry),
    MESSAGE(NT_LANCE_MANIFEST_WRITER, "writer_version", writer),
    MESSAGE(NT_LANCE_MANIFEST_DATA_FORMAT, "data_format", data_format),
};
const struct nt_proto_table nt_lance_manifest_in_file = TABLE("Manifest", manifest_rows);
