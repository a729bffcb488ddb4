/* SPDX-License-Identifier: MIT
 *
 * The messages of Lance's data sets: those of lance's protos/table.proto, rowids.proto and transaction.proto, as
 * messages.h has those of files.
 */
#ifndef NT_FORMAT_LANCE_DATASET_MESSAGES_TABLE_H
#define NT_FORMAT_LANCE_DATASET_MESSAGES_TABLE_H

#include "formats/lance/file/messages.h"

enum nt_lance_manifest_field {
    NT_LANCE_MANIFEST_FIELDS = 1, /* as NT_LANCE_SCHEMA_FIELDS */
    NT_LANCE_MANIFEST_FRAGMENTS = 2,
    NT_LANCE_MANIFEST_VERSION = 3,
    NT_LANCE_MANIFEST_AUXILIARY_DATA = 4,
    NT_LANCE_MANIFEST_SCHEMA_METADATA = 5, /* as NT_LANCE_SCHEMA_METADATA */
    NT_LANCE_MANIFEST_INDEX_SECTION = 6,   /* where it lies */
    NT_LANCE_MANIFEST_TIMESTAMP = 7,
    NT_LANCE_MANIFEST_TAG = 8,
    NT_LANCE_MANIFEST_READER_FLAGS = 9,
    NT_LANCE_MANIFEST_WRITER_FLAGS = 10,
    NT_LANCE_MANIFEST_MAX_FRAGMENT_ID = 11,
    NT_LANCE_MANIFEST_TRANSACTION_FILE = 12,
    NT_LANCE_MANIFEST_WRITER_VERSION = 13,
    NT_LANCE_MANIFEST_NEXT_ROW_ID = 14,
    NT_LANCE_MANIFEST_DATA_FORMAT = 15,
    NT_LANCE_MANIFEST_CONFIG = 16,
    NT_LANCE_MANIFEST_BASE_PATHS = 18,
    NT_LANCE_MANIFEST_TABLE_METADATA = 19,
    NT_LANCE_MANIFEST_BRANCH = 20,
    NT_LANCE_MANIFEST_TRANSACTION_SECTION_DEPRECATED =
        21, /* where it lies, as earlier versions of Lance tell it */
    NT_LANCE_MANIFEST_FRAGMENT_TREE = 22,
    NT_LANCE_MANIFEST_TRANSACTION_SECTION = 23, /* the same, as later ones tell it */
};

enum nt_lance_writer_version_field {
    NT_LANCE_WRITER_VERSION_LIBRARY = 1,
    NT_LANCE_WRITER_VERSION_VERSION = 2,
};

enum nt_lance_timestamp_field {
    NT_LANCE_TIMESTAMP_SECONDS = 1,
    NT_LANCE_TIMESTAMP_NANOSECONDS = 2,
};

enum nt_lance_data_format_field {
    NT_LANCE_DATA_FORMAT_FILE_FORMAT = 1,
    NT_LANCE_DATA_FORMAT_VERSION = 2,
};

enum nt_lance_base_path_field {
    NT_LANCE_BASE_PATH_ID = 1,
    NT_LANCE_BASE_PATH_NAME = 2,
    NT_LANCE_BASE_PATH_IS_DATASET_ROOT = 3,
    NT_LANCE_BASE_PATH_PATH = 4,
};

enum nt_lance_fragment_field {
    NT_LANCE_FRAGMENT_ID = 1,
    NT_LANCE_FRAGMENT_FILES = 2,
    NT_LANCE_FRAGMENT_DELETION_FILE = 3,
    NT_LANCE_FRAGMENT_PHYSICAL_ROWS = 4,
    NT_LANCE_FRAGMENT_INLINE_ROW_IDS = 5,
    NT_LANCE_FRAGMENT_OVERLAYS = 11,
};

enum nt_lance_data_file_field {
    NT_LANCE_DATA_FILE_PATH = 1,
    NT_LANCE_DATA_FILE_FIELDS = 2,
    NT_LANCE_DATA_FILE_COLUMN_INDICES = 3,
    NT_LANCE_DATA_FILE_MAJOR_VERSION = 4,
    NT_LANCE_DATA_FILE_MINOR_VERSION = 5,
    NT_LANCE_DATA_FILE_SIZE = 6,
    NT_LANCE_DATA_FILE_BASE_ID = 7,
};

enum nt_lance_deletion_file_field {
    NT_LANCE_DELETION_FILE_TYPE = 1,
    NT_LANCE_DELETION_FILE_READ_VERSION = 2,
    NT_LANCE_DELETION_FILE_ID = 3,
    NT_LANCE_DELETION_FILE_ROWS = 4,
    NT_LANCE_DELETION_FILE_BASE_ID = 7,
};
enum nt_lance_deletion_type {
    NT_LANCE_DELETION_ARROW = 0,
    NT_LANCE_DELETION_BITMAP = 1,
};

extern const struct nt_proto_table nt_lance_manifest;
extern const struct nt_proto_table nt_lance_dataset_schema; /* of a Manifest the schema alone */
extern const struct nt_proto_table nt_lance_fragment;
extern const struct nt_proto_table nt_lance_data_file;
extern const struct nt_proto_table nt_lance_metadata_entry;
extern const struct nt_proto_table nt_lance_base_path;
extern const struct nt_proto_table nt_lance_row_ids;
extern const struct nt_proto_table nt_lance_row_versions;
extern const struct nt_proto_table nt_lance_index_section;
extern const struct nt_proto_table nt_lance_index_metadata;
extern const struct nt_proto_table nt_lance_uuid;
extern const struct nt_proto_table nt_lance_transaction;

#endif
