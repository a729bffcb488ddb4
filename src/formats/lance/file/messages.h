/* SPDX-License-Identifier: MIT
 *
 * The Protocol Buffers reader, and the field numbers and tables of Lance's messages.
 */
#pragma once

#include <ntuple/error.h>

#include "core/json/json.h"

struct nt_proto_table;

/* ---- Protocol Buffers ---- */

/* The limit of nesting of messages. */
enum { NT_PROTO_MAX_DEPTH = 32 };

/* A message's bytes. `bytes` is NULL if the message is absent, and not NULL if it is empty. */
struct nt_proto {
    const uint8_t *bytes;
    size_t size;
};

enum nt_proto_wire {
    NT_PROTO_WIRE_VARINT = 0,
    NT_PROTO_WIRE_FIXED64 = 1,
    NT_PROTO_WIRE_BYTES = 2,
    NT_PROTO_WIRE_FIXED32 = 5,
};

/* One occurrence of a field. */
struct nt_proto_item {
    uint32_t number;
    uint32_t wire;        /* enum nt_proto_wire */
    uint64_t value;       /* of a varint or fixed one; negative numbers are sign-extended to 64 bits */
    const uint8_t *bytes; /* of NT_PROTO_WIRE_BYTES: a text, a message or packed numbers */
    size_t size;
};

enum nt_proto_kind {
    NT_PROTO_UINT,
    NT_PROTO_INT, /* int32, int64, not zigzag */
    NT_PROTO_BOOL,
    NT_PROTO_ENUM,
    NT_PROTO_TEXT,  /* also bytes with text in them */
    NT_PROTO_BYTES, /* shown in hexadecimal, as member `name`_hex */
    NT_PROTO_MESSAGE,
};

struct nt_proto_field {
    uint32_t number;
    const char *name; /* in snake_case */
    enum nt_proto_kind kind;
    bool is_repeated;                     /* numbers may be packed or not */
    bool is_optional;                     /* numbers and texts: if absent, there is no default value */
    bool is_distinguished;                /* omitted from JSON */
    const struct nt_proto_table *message; /* of MESSAGE */
    const char *const *names;             /* of ENUM: ends with NULL */
};

struct nt_proto_table {
    const char *name; /* "ColumnMetadata.Page" */
    const struct nt_proto_field *fields;
    uint32_t count;
    bool is_oneof; /* at most one of its fields is present: a oneof and nothing else */
    bool is_part;  /* the table omits fields of the message */
};

/* Checks a message and all messages in it: bounds, wire types, a message at most once per field, one
 * member at most of a oneof. Skips fields that the table does not have. `offset` is the offset of the
 * message in the file. Returns NT_CORRUPT, or NT_LIMIT if messages are nested too deeply. */
enum nt_status nt_proto_check(struct nt_proto message, const struct nt_proto_table *table, uint64_t offset,
                              struct nt_error *error);

/* Iterates over the items of a checked message; returns false at its end. */
bool nt_proto_next(struct nt_proto *rest, struct nt_proto_item *item);
/* The same over the messages, or texts, of one repeated field. */
bool nt_proto_next_message(struct nt_proto *rest, uint32_t number, struct nt_proto *message_ret);

/* Finds a field's last occurrence; returns false if it is absent. */
bool nt_proto_find(struct nt_proto message, uint32_t number, struct nt_proto_item *item);
static inline bool nt_proto_has(struct nt_proto message, uint32_t number)
{
    struct nt_proto_item item;
    return nt_proto_find(message, number, &item);
}
/* Returns 0, an empty text or no message if the field is absent. Texts are not NUL-terminated. */
uint64_t nt_proto_number(struct nt_proto message, uint32_t number);
struct nt_text nt_proto_text(struct nt_proto message, uint32_t number);
struct nt_proto nt_proto_message(struct nt_proto message, uint32_t number);
/* Counts the occurrences of a field. */
uint64_t nt_proto_count(struct nt_proto message, uint32_t number);
/* Returns the number of the present member of a oneof, and its message; 0 if there is none, or if the
 * table does not have it. */
uint32_t nt_proto_oneof(struct nt_proto message, const struct nt_proto_table *table,
                        struct nt_proto *member_ret);

/* The numbers of a repeated field, packed or not. */
struct nt_proto_numbers {
    struct nt_proto rest, packed;
    uint32_t number;
};
struct nt_proto_numbers nt_proto_numbers(struct nt_proto message, uint32_t number);
bool nt_proto_next_number(struct nt_proto_numbers *numbers, uint64_t *value_ret);
uint64_t nt_proto_count_numbers(struct nt_proto message, uint32_t number);

/* Puts members of an object: the contents of a checked message, in the order of its table, with
 * "unknown_bytes" for fields that the table does not have. */
void nt_proto_json(struct nt_json *json, struct nt_proto message, const struct nt_proto_table *table);

/* ---- Messages of files ---- */

/* Numbers of the fields that are read by name, message by message; the tables have all fields. */

/* ---- The file: global buffer 0 ---- */

enum {
    NT_LANCE_FILE_DESCRIPTOR_SCHEMA = 1,
    NT_LANCE_FILE_DESCRIPTOR_LENGTH = 2, /* rows */

    NT_LANCE_SCHEMA_FIELDS = 1,

    NT_LANCE_FIELD_NAME = 2,
    NT_LANCE_FIELD_ID = 3,
    NT_LANCE_FIELD_PARENT_ID = 4,
    NT_LANCE_FIELD_LOGICAL_TYPE = 5,
    NT_LANCE_FIELD_NULLABLE = 6,
    NT_LANCE_FIELD_ENCODING = 7,   /* of the legacy format */
    NT_LANCE_FIELD_DICTIONARY = 8, /* of the legacy format */
    NT_LANCE_FIELD_METADATA = 10,

    /* NT_LANCE_FIELD_DICTIONARY: items in the file, or in the manifest. */
    NT_LANCE_FIELD_DICTIONARY_OFFSET = 1,
    NT_LANCE_FIELD_DICTIONARY_LENGTH = 2,

    /* An entry of a map. */
    NT_LANCE_ENTRY_KEY = 1,
    NT_LANCE_ENTRY_VALUE = 2,
};

extern const struct nt_proto_table nt_lance_field;
extern const struct nt_proto_table nt_lance_file_descriptor;

/* ---- Columns and pages ---- */

enum {
    NT_LANCE_COLUMN_METADATA_ENCODING = 1,
    NT_LANCE_COLUMN_METADATA_PAGES = 2,
    NT_LANCE_COLUMN_METADATA_BUFFER_OFFSETS = 3,
    NT_LANCE_COLUMN_METADATA_BUFFER_SIZES = 4,

    NT_LANCE_PAGE_BUFFER_OFFSETS = 1,
    NT_LANCE_PAGE_BUFFER_SIZES = 2,
    NT_LANCE_PAGE_LENGTH = 3,
    NT_LANCE_PAGE_ENCODING = 4,
    NT_LANCE_PAGE_PRIORITY = 5,

    /* Where an encoding is: a oneof. */
    NT_LANCE_ENCODING_INDIRECT = 1,
    NT_LANCE_ENCODING_DIRECT = 2,

    NT_LANCE_DIRECT_ENCODING = 1, /* the bytes of an Any */

    NT_LANCE_ANY_TYPE_URL = 1,
    NT_LANCE_ANY_VALUE = 2,
};

extern const struct nt_proto_table nt_lance_column_metadata;
extern const struct nt_proto_table nt_lance_encoding; /* a oneof */
extern const struct nt_proto_table nt_lance_any;

/* The encoding of a column: a oneof. */
enum {
    NT_LANCE_COLUMN_ENCODING_ZONE_INDEX = 2,
    NT_LANCE_COLUMN_ENCODING_BLOB = 3,

    NT_LANCE_ZONE_INDEX_INNER = 3,
};

extern const struct nt_proto_table nt_lance_column_encoding;

/* ---- pages of 2.0: ArrayEncoding, a oneof ---- */

enum {
    NT_LANCE_ARRAY_FLAT = 1,
    NT_LANCE_ARRAY_NULLABLE = 2,
    NT_LANCE_ARRAY_FIXED_SIZE_LIST = 3,
    NT_LANCE_ARRAY_LIST = 4,
    NT_LANCE_ARRAY_STRUCT = 5,
    NT_LANCE_ARRAY_BINARY = 6,
    NT_LANCE_ARRAY_DICTIONARY = 7,
    NT_LANCE_ARRAY_FSST = 8,
    NT_LANCE_ARRAY_PACKED_STRUCT = 9,

    NT_LANCE_ARRAY_BUFFER_INDEX = 1,
    NT_LANCE_ARRAY_BUFFER_TYPE = 2,

    NT_LANCE_ARRAY_COMPRESSION_SCHEME = 1, /* a text: "none", "zstd", "lz4" */

    NT_LANCE_ARRAY_FLAT_BITS_PER_VALUE = 1,
    NT_LANCE_ARRAY_FLAT_BUFFER = 2,
    NT_LANCE_ARRAY_FLAT_COMPRESSION = 3,

    /* A oneof. */
    NT_LANCE_ARRAY_NULLABLE_NO_NULLS = 1,
    NT_LANCE_ARRAY_NULLABLE_SOME_NULLS = 2,
    NT_LANCE_ARRAY_NULLABLE_ALL_NULLS = 3,

    NT_LANCE_ARRAY_NO_NULLS_VALUES = 1,

    NT_LANCE_ARRAY_SOME_NULLS_VALIDITY = 1,
    NT_LANCE_ARRAY_SOME_NULLS_VALUES = 2,

    NT_LANCE_ARRAY_FIXED_SIZE_LIST_DIMENSION = 1,
    NT_LANCE_ARRAY_FIXED_SIZE_LIST_ITEMS = 2,

    NT_LANCE_ARRAY_LIST_OFFSETS = 1,
    NT_LANCE_ARRAY_LIST_NULL_OFFSET_ADJUSTMENT = 2,
    NT_LANCE_ARRAY_LIST_NUM_ITEMS = 3,

    NT_LANCE_ARRAY_BINARY_INDICES = 1,
    NT_LANCE_ARRAY_BINARY_BYTES = 2,
    NT_LANCE_ARRAY_BINARY_NULL_ADJUSTMENT = 3,

    NT_LANCE_ARRAY_DICTIONARY_INDICES = 1,
    NT_LANCE_ARRAY_DICTIONARY_ITEMS = 2,
    NT_LANCE_ARRAY_DICTIONARY_NUM_ITEMS = 3,

    NT_LANCE_ARRAY_FSST_BINARY = 1,
    NT_LANCE_ARRAY_FSST_SYMBOL_TABLE = 2,

    NT_LANCE_ARRAY_PACKED_STRUCT_INNER = 1, /* repeated */
    NT_LANCE_ARRAY_PACKED_STRUCT_BUFFER = 2,
};

extern const struct nt_proto_table nt_lance_array_encoding;
extern const struct nt_proto_table nt_lance_array_nullable;

/* ---- pages of 2.1 and 2.2: PageLayout, a oneof ---- */

enum {
    NT_LANCE_LAYOUT_MINI_BLOCK = 1,
    NT_LANCE_LAYOUT_CONSTANT = 2,
    NT_LANCE_LAYOUT_FULL_ZIP = 3,
    NT_LANCE_LAYOUT_BLOB = 4,
};

/* Layers are values of enum nt_layer (formats/lance/decode/decode.h), innermost first. */

enum {
    NT_LANCE_MINI_BLOCK_REP_COMPRESSION = 1,
    NT_LANCE_MINI_BLOCK_DEF_COMPRESSION = 2,
    NT_LANCE_MINI_BLOCK_VALUE_COMPRESSION = 3,
    NT_LANCE_MINI_BLOCK_DICTIONARY = 4,
    NT_LANCE_MINI_BLOCK_NUM_DICTIONARY_ITEMS = 5,
    NT_LANCE_MINI_BLOCK_LAYERS = 6,
    NT_LANCE_MINI_BLOCK_NUM_BUFFERS = 7,
    NT_LANCE_MINI_BLOCK_REPETITION_INDEX_DEPTH = 8,
    NT_LANCE_MINI_BLOCK_NUM_ITEMS = 9,
    NT_LANCE_MINI_BLOCK_HAS_LARGE_CHUNK = 10, /* 2.2 */

    NT_LANCE_FULL_ZIP_BITS_REP = 1,
    NT_LANCE_FULL_ZIP_BITS_DEF = 2,
    NT_LANCE_FULL_ZIP_BITS_PER_VALUE = 3, /* or BITS_PER_OFFSET */
    NT_LANCE_FULL_ZIP_BITS_PER_OFFSET = 4,
    NT_LANCE_FULL_ZIP_NUM_VISIBLE_ITEMS = 6,
    NT_LANCE_FULL_ZIP_VALUE_COMPRESSION = 7,
    NT_LANCE_FULL_ZIP_LAYERS = 8,

    NT_LANCE_CONSTANT_LAYOUT_LAYERS = 5,
    NT_LANCE_CONSTANT_LAYOUT_INLINE_VALUE = 6, /* from here on: 2.2 */
    NT_LANCE_CONSTANT_LAYOUT_REP_COMPRESSION = 7,
    NT_LANCE_CONSTANT_LAYOUT_DEF_COMPRESSION = 8,
    NT_LANCE_CONSTANT_LAYOUT_NUM_REP_VALUES = 9,
    NT_LANCE_CONSTANT_LAYOUT_NUM_DEF_VALUES = 10,

    NT_LANCE_BLOB_LAYOUT_INNER_LAYOUT = 1,
    NT_LANCE_BLOB_LAYOUT_LAYERS = 2,
};

extern const struct nt_proto_table nt_lance_page_layout;

/* ---- How its values are compressed: CompressiveEncoding, a oneof ---- */

enum {
    NT_LANCE_COMPRESSIVE_FLAT = 1,
    NT_LANCE_COMPRESSIVE_VARIABLE = 2,
    NT_LANCE_COMPRESSIVE_CONSTANT = 3,
    NT_LANCE_COMPRESSIVE_OUT_OF_LINE_BITPACKING = 4,
    NT_LANCE_COMPRESSIVE_INLINE_BITPACKING = 5,
    NT_LANCE_COMPRESSIVE_FSST = 6,
    NT_LANCE_COMPRESSIVE_RLE = 8,
    NT_LANCE_COMPRESSIVE_BYTE_STREAM_SPLIT = 9,
    NT_LANCE_COMPRESSIVE_GENERAL = 10,
    NT_LANCE_COMPRESSIVE_FIXED_SIZE_LIST = 11,
    NT_LANCE_COMPRESSIVE_PACKED_STRUCT = 12,
    NT_LANCE_COMPRESSIVE_VARIABLE_PACKED_STRUCT = 13, /* 2.2 */

    NT_LANCE_BUFFER_COMPRESSION_SCHEME = 1,

    NT_LANCE_FLAT_BITS_PER_VALUE = 1,
    NT_LANCE_FLAT_DATA = 2, /* the compression of its buffer */

    NT_LANCE_VARIABLE_OFFSETS = 1,
    NT_LANCE_VARIABLE_VALUES = 2, /* the compression of its buffer */

    NT_LANCE_CONSTANT_VALUE = 1,

    NT_LANCE_OUT_OF_LINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE = 1,
    NT_LANCE_OUT_OF_LINE_BITPACKING_VALUES = 3,

    NT_LANCE_INLINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE = 1,
    NT_LANCE_INLINE_BITPACKING_VALUES = 2, /* the compression of its buffer */

    NT_LANCE_FSST_SYMBOL_TABLE = 1,
    NT_LANCE_FSST_VALUES = 2,

    NT_LANCE_RLE_VALUES = 1,
    NT_LANCE_RLE_RUN_LENGTHS = 2,

    NT_LANCE_BYTE_STREAM_SPLIT_VALUES = 1,

    NT_LANCE_GENERAL_COMPRESSION = 1,
    NT_LANCE_GENERAL_VALUES = 3,

    NT_LANCE_FIXED_SIZE_LIST_ITEMS_PER_VALUE = 1,
    NT_LANCE_FIXED_SIZE_LIST_VALUES = 2,
    NT_LANCE_FIXED_SIZE_LIST_HAS_VALIDITY = 3,

    NT_LANCE_PACKED_STRUCT_VALUES = 2,

    NT_LANCE_VARIABLE_PACKED_STRUCT_FIELDS = 1, /* repeated */

    NT_LANCE_PACKED_MEMBER_VALUE = 1,
    NT_LANCE_PACKED_MEMBER_BITS_PER_VALUE = 2, /* or BITS_PER_LENGTH */
    NT_LANCE_PACKED_MEMBER_BITS_PER_LENGTH = 3,
};

extern const struct nt_proto_table nt_lance_compressive_encoding;

/* ---- Metadata of legacy files ---- */

enum {
    NT_LANCE_METADATA_MANIFEST_POSITION = 1, /* 0: the file has no manifest */
    NT_LANCE_METADATA_BATCH_OFFSETS = 2,
    NT_LANCE_METADATA_PAGE_TABLE_POSITION = 3,
    NT_LANCE_METADATA_STATISTICS = 5,

    /* The schema's fields have the number NT_LANCE_SCHEMA_FIELDS, as in a Schema and a Manifest. */
    NT_LANCE_STATISTICS_FIELDS = 2, /* ids */
    NT_LANCE_STATISTICS_PAGE_TABLE_POSITION = 3,
};

extern const struct nt_proto_table nt_lance_metadata;

/* ---- Messages of datasets ---- */

enum {
    NT_LANCE_MANIFEST_FRAGMENTS = 2,
    NT_LANCE_MANIFEST_VERSION = 3,
    NT_LANCE_MANIFEST_INDEX_SECTION = 6, /* its offset */
    NT_LANCE_MANIFEST_TIMESTAMP = 7,
    NT_LANCE_MANIFEST_READER_FLAGS = 9,
    NT_LANCE_MANIFEST_TRANSACTION_FILE = 12,
    NT_LANCE_MANIFEST_WRITER_VERSION = 13,
    NT_LANCE_MANIFEST_DATA_FORMAT = 15,
    NT_LANCE_MANIFEST_BASE_PATHS = 18,
    NT_LANCE_MANIFEST_TRANSACTION_SECTION_DEPRECATED = 21, /* its offset, in old versions of Lance */
    NT_LANCE_MANIFEST_FRAGMENT_TREE = 22,
    NT_LANCE_MANIFEST_TRANSACTION_SECTION = 23, /* its offset, in later versions */

    NT_LANCE_WRITER_VERSION_LIBRARY = 1,
    NT_LANCE_WRITER_VERSION_VERSION = 2,

    NT_LANCE_TIMESTAMP_SECONDS = 1,
    NT_LANCE_TIMESTAMP_NANOSECONDS = 2,

    NT_LANCE_DATA_FORMAT_VERSION = 2,

    NT_LANCE_BASE_PATH_ID = 1,
    NT_LANCE_BASE_PATH_IS_DATASET_ROOT = 3,
    NT_LANCE_BASE_PATH_PATH = 4,

    NT_LANCE_FRAGMENT_ID = 1,
    NT_LANCE_FRAGMENT_FILES = 2,
    NT_LANCE_FRAGMENT_DELETION_FILE = 3,
    NT_LANCE_FRAGMENT_PHYSICAL_ROWS = 4,
    NT_LANCE_FRAGMENT_OVERLAYS = 11,

    NT_LANCE_DATA_FILE_PATH = 1,
    NT_LANCE_DATA_FILE_FIELDS = 2,
    NT_LANCE_DATA_FILE_COLUMN_INDICES = 3,
    NT_LANCE_DATA_FILE_MAJOR_VERSION = 4,
    NT_LANCE_DATA_FILE_MINOR_VERSION = 5,
    NT_LANCE_DATA_FILE_SIZE = 6,
    NT_LANCE_DATA_FILE_BASE_ID = 7,

    NT_LANCE_DELETION_FILE_TYPE = 1,
    NT_LANCE_DELETION_FILE_READ_VERSION = 2,
    NT_LANCE_DELETION_FILE_ID = 3,
    NT_LANCE_DELETION_FILE_ROWS = 4,
    NT_LANCE_DELETION_FILE_BASE_ID = 7,
};

extern const struct nt_proto_table nt_lance_manifest;
extern const struct nt_proto_table nt_lance_dataset_schema; /* only the schema of a Manifest */
extern const struct nt_proto_table nt_lance_fragment;
extern const struct nt_proto_table nt_lance_row_ids;
extern const struct nt_proto_table nt_lance_row_versions;
extern const struct nt_proto_table nt_lance_index_section;
extern const struct nt_proto_table nt_lance_transaction;
