/* SPDX-License-Identifier: MIT
 *
 * The table of the message of legacy files.
 */
#include "formats/lance/legacy/messages.h"

#include "formats/lance/file/rows.h"

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
