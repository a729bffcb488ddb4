/* SPDX-License-Identifier: MIT
 *
 * The messages of legacy files: Metadata (lance's protos/file.proto), and Manifest (table.proto), as far as one within a
 * file goes.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_MESSAGES_H
#define NT_FORMAT_LANCE_LEGACY_MESSAGES_H

#include "format/lance/protobuf.h"

enum nt_lance_metadata_field {
    NT_LANCE_METADATA_MANIFEST_POSITION = 1, /* 0: there is none in the file */
    NT_LANCE_METADATA_BATCH_OFFSETS = 2,
    NT_LANCE_METADATA_PAGE_TABLE_POSITION = 3,
    NT_LANCE_METADATA_STATISTICS = 5,
};

/* Its fields are members of the number NT_LANCE_SCHEMA_FIELDS, as those of a Schema and of a Manifest. */
enum nt_lance_statistics_field {
    NT_LANCE_STATISTICS_SCHEMA = 1,
    NT_LANCE_STATISTICS_FIELDS = 2, /* ids */
    NT_LANCE_STATISTICS_PAGE_TABLE_POSITION = 3,
};

enum nt_lance_manifest_field {
    NT_LANCE_MANIFEST_FIELDS = 1,
    NT_LANCE_MANIFEST_VERSION = 3,
    NT_LANCE_MANIFEST_SCHEMA_METADATA = 5,
    NT_LANCE_MANIFEST_WRITER = 13,
    NT_LANCE_MANIFEST_DATA_FORMAT = 15,
};

enum nt_lance_writer_field {
    NT_LANCE_WRITER_LIBRARY = 1,
    NT_LANCE_WRITER_VERSION = 2,
};

extern const struct nt_proto_table nt_lance_metadata;
extern const struct nt_proto_table nt_lance_manifest_in_file;

#endif
