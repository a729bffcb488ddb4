/* SPDX-License-Identifier: MIT
 *
 * The message of legacy files: Metadata (lance's protos/file.proto).
 */
#ifndef NT_FORMAT_LANCE_LEGACY_MESSAGES_H
#define NT_FORMAT_LANCE_LEGACY_MESSAGES_H

#include "formats/lance/file/protobuf.h"

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

extern const struct nt_proto_table nt_lance_metadata;

#endif
