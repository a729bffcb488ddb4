/* SPDX-License-Identifier: MIT
 *
 * The tables of all Lance protobuf messages: file and schema, column metadata, array encodings (2.0),
 * page layouts and compressive encodings (2.1, 2.2), manifests, transactions, and the legacy Metadata
 * message.
 */
#include "formats/lance/file/file.h"
#include "formats/lance/file/messages.h"

/* ---- Array encodings of 2.0 ---- */

enum nt_lance_array_bitpacked_field {
    NT_LANCE_ARRAY_BITPACKED_COMPRESSED_BITS = 1,
    NT_LANCE_ARRAY_BITPACKED_UNCOMPRESSED_BITS = 2,
    NT_LANCE_ARRAY_BITPACKED_BUFFER = 3,
    NT_LANCE_ARRAY_BITPACKED_SIGNED = 4, /* not in bitpacked_for_non_neg */
};

enum nt_lance_array_fixed_size_binary_field {
    NT_LANCE_ARRAY_FIXED_SIZE_BINARY_BYTES = 1,
    NT_LANCE_ARRAY_FIXED_SIZE_BINARY_BYTE_WIDTH = 2,
};

enum nt_lance_array_constant_field {
    NT_LANCE_ARRAY_CONSTANT_VALUE = 1,
};
#define BOOL(field, text)                                                                                    \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_BOOL                                             \
    }
#define BYTES(field, text)                                                                                   \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_BYTES                                            \
    }
#define ENUM(field, text, list)                                                                              \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_ENUM, .names = (list)                            \
    }
#define MESSAGE(field, text, table)                                                                          \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_MESSAGE, .message = &(table)                     \
    }
#define OPTIONAL_INT(field, text)                                                                            \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_INT, .is_optional = true                         \
    }
#define UINTS(field, text)                                                                                   \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_UINT, .is_repeated = true                        \
    }
#define MESSAGES(field, text, table)                                                                         \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_MESSAGE, .is_repeated = true,                    \
        .message = &(table)                                                                                  \
    }

#define TABLE(text, rows)                                                                                    \
    {                                                                                                        \
        .name = (text), .fields = (rows), .count = sizeof(rows) / sizeof(*(rows))                            \
    }
#define CHOICE(text, rows)                                                                                   \
    {                                                                                                        \
        .name = (text), .fields = (rows), .count = sizeof(rows) / sizeof(*(rows)), .is_oneof = true          \
    }

static const struct nt_proto_table nothing = {.name = "Empty"};

static const char *const buffer_types[] = {"page", "column", "file", NULL};
static const struct nt_proto_field buffer_rows[] = {
    UINT(NT_LANCE_ARRAY_BUFFER_INDEX, "buffer_index"),
    ENUM(NT_LANCE_ARRAY_BUFFER_TYPE, "buffer_type", buffer_types),
};
static const struct nt_proto_table nt_lance_array_buffer = TABLE("Buffer", buffer_rows);

static const struct nt_proto_field compression_rows[] = {
    TEXT(NT_LANCE_ARRAY_COMPRESSION_SCHEME, "scheme"),
    OPTIONAL_INT(NT_LANCE_ARRAY_COMPRESSION_LEVEL, "level"),
};
static const struct nt_proto_table compression = TABLE("Compression", compression_rows);

static const struct nt_proto_field array_flat_rows[] = {
    UINT(NT_LANCE_ARRAY_FLAT_BITS_PER_VALUE, "bits_per_value"),
    MESSAGE(NT_LANCE_ARRAY_FLAT_BUFFER, "buffer", nt_lance_array_buffer),
    MESSAGE(NT_LANCE_ARRAY_FLAT_COMPRESSION, "compression", compression),
};
static const struct nt_proto_table array_flat = TABLE("Flat", array_flat_rows);

static const struct nt_proto_field no_nulls_rows[] = {
    MESSAGE(NT_LANCE_ARRAY_NO_NULLS_VALUES, "values", nt_lance_array_encoding),
};
static const struct nt_proto_table no_nulls = TABLE("Nullable.NoNull", no_nulls_rows);

static const struct nt_proto_field some_nulls_rows[] = {
    MESSAGE(NT_LANCE_ARRAY_SOME_NULLS_VALIDITY, "validity", nt_lance_array_encoding),
    MESSAGE(NT_LANCE_ARRAY_SOME_NULLS_VALUES, "values", nt_lance_array_encoding),
};
static const struct nt_proto_table some_nulls = TABLE("Nullable.SomeNull", some_nulls_rows);

static const struct nt_proto_field nullable_rows[] = {
    MESSAGE(NT_LANCE_ARRAY_NULLABLE_NO_NULLS, "no_nulls", no_nulls),
    MESSAGE(NT_LANCE_ARRAY_NULLABLE_SOME_NULLS, "some_nulls", some_nulls),
    MESSAGE(NT_LANCE_ARRAY_NULLABLE_ALL_NULLS, "all_nulls", nothing),
};
const struct nt_proto_table nt_lance_array_nullable = CHOICE("Nullable", nullable_rows);

static const struct nt_proto_field array_fixed_size_list_rows[] = {
    UINT(NT_LANCE_ARRAY_FIXED_SIZE_LIST_DIMENSION, "dimension"),
    BOOL(NT_LANCE_ARRAY_FIXED_SIZE_LIST_HAS_VALIDITY, "has_validity"),
    MESSAGE(NT_LANCE_ARRAY_FIXED_SIZE_LIST_ITEMS, "items", nt_lance_array_encoding),
};
static const struct nt_proto_table array_fixed_size_list = TABLE("FixedSizeList", array_fixed_size_list_rows);

static const struct nt_proto_field list_rows[] = {
    UINT(NT_LANCE_ARRAY_LIST_NULL_OFFSET_ADJUSTMENT, "null_offset_adjustment"),
    UINT(NT_LANCE_ARRAY_LIST_NUM_ITEMS, "num_items"),
    MESSAGE(NT_LANCE_ARRAY_LIST_OFFSETS, "offsets", nt_lance_array_encoding),
};
static const struct nt_proto_table list = TABLE("List", list_rows);

static const struct nt_proto_field binary_rows[] = {
    UINT(NT_LANCE_ARRAY_BINARY_NULL_ADJUSTMENT, "null_adjustment"),
    MESSAGE(NT_LANCE_ARRAY_BINARY_INDICES, "indices", nt_lance_array_encoding),
    MESSAGE(NT_LANCE_ARRAY_BINARY_BYTES, "bytes", nt_lance_array_encoding),
};
static const struct nt_proto_table binary = TABLE("Binary", binary_rows);

static const struct nt_proto_field array_dictionary_rows[] = {
    UINT(NT_LANCE_ARRAY_DICTIONARY_NUM_ITEMS, "num_dictionary_items"),
    MESSAGE(NT_LANCE_ARRAY_DICTIONARY_INDICES, "indices", nt_lance_array_encoding),
    MESSAGE(NT_LANCE_ARRAY_DICTIONARY_ITEMS, "items", nt_lance_array_encoding),
};
static const struct nt_proto_table array_dictionary = TABLE("Dictionary", array_dictionary_rows);

static const struct nt_proto_field array_fsst_rows[] = {
    BYTES(NT_LANCE_ARRAY_FSST_SYMBOL_TABLE, "symbol_table"),
    MESSAGE(NT_LANCE_ARRAY_FSST_BINARY, "binary", nt_lance_array_encoding),
};
static const struct nt_proto_table array_fsst = TABLE("Fsst", array_fsst_rows);

static const struct nt_proto_field array_packed_struct_rows[] = {
    MESSAGES(NT_LANCE_ARRAY_PACKED_STRUCT_INNER, "inner", nt_lance_array_encoding),
    MESSAGE(NT_LANCE_ARRAY_PACKED_STRUCT_BUFFER, "buffer", nt_lance_array_buffer),
};
static const struct nt_proto_table array_packed_struct = TABLE("PackedStruct", array_packed_struct_rows);

static const struct nt_proto_field bitpacked_rows[] = {
    UINT(NT_LANCE_ARRAY_BITPACKED_COMPRESSED_BITS, "compressed_bits_per_value"),
    UINT(NT_LANCE_ARRAY_BITPACKED_UNCOMPRESSED_BITS, "uncompressed_bits_per_value"),
    MESSAGE(NT_LANCE_ARRAY_BITPACKED_BUFFER, "buffer", nt_lance_array_buffer),
    BOOL(NT_LANCE_ARRAY_BITPACKED_SIGNED, "signed"),
};
static const struct nt_proto_table bitpacked = TABLE("Bitpacked", bitpacked_rows);

static const struct nt_proto_field bitpacked_for_non_neg_rows[] = {
    UINT(NT_LANCE_ARRAY_BITPACKED_COMPRESSED_BITS, "compressed_bits_per_value"),
    UINT(NT_LANCE_ARRAY_BITPACKED_UNCOMPRESSED_BITS, "uncompressed_bits_per_value"),
    MESSAGE(NT_LANCE_ARRAY_BITPACKED_BUFFER, "buffer", nt_lance_array_buffer),
};
static const struct nt_proto_table bitpacked_for_non_neg =
    TABLE("BitpackedForNonNeg", bitpacked_for_non_neg_rows);

static const struct nt_proto_field fixed_size_binary_rows[] = {
    UINT(NT_LANCE_ARRAY_FIXED_SIZE_BINARY_BYTE_WIDTH, "byte_width"),
    MESSAGE(NT_LANCE_ARRAY_FIXED_SIZE_BINARY_BYTES, "bytes", nt_lance_array_encoding),
};
static const struct nt_proto_table fixed_size_binary = TABLE("FixedSizeBinary", fixed_size_binary_rows);

static const struct nt_proto_field array_constant_rows[] = {
    BYTES(NT_LANCE_ARRAY_CONSTANT_VALUE, "value"),
};
static const struct nt_proto_table array_constant = TABLE("Constant", array_constant_rows);

/* ---- Of previews ---- */

static const struct nt_proto_field array_inline_bitpacking_rows[] = {
    UINT(2, "uncompressed_bits_per_value"),
};
static const struct nt_proto_table array_inline_bitpacking =
    TABLE("InlineBitpacking", array_inline_bitpacking_rows);

static const struct nt_proto_field array_out_of_line_bitpacking_rows[] = {
    UINT(2, "uncompressed_bits_per_value"),
    UINT(3, "compressed_bits_per_value"),
};
static const struct nt_proto_table array_out_of_line_bitpacking =
    TABLE("OutOfLineBitpacking", array_out_of_line_bitpacking_rows);

static const struct nt_proto_field array_variable_rows[] = {
    UINT(1, "bits_per_offset"),
};
static const struct nt_proto_table array_variable = TABLE("Variable", array_variable_rows);

static const struct nt_proto_field packed_struct_mini_block_rows[] = {
    MESSAGE(1, "flat", nt_lance_array_encoding),
    UINTS(2, "bits_per_values"),
};
static const struct nt_proto_table packed_struct_mini_block =
    TABLE("PackedStructFixedWidthMiniBlock", packed_struct_mini_block_rows);

static const struct nt_proto_field block_rows[] = {
    TEXT(1, "scheme"),
};
static const struct nt_proto_table block = TABLE("Block", block_rows);

/* Rle, ByteStreamSplit */
static const struct nt_proto_field bits_rows[] = {
    UINT(1, "bits_per_value"),
};
static const struct nt_proto_table array_rle = TABLE("Rle", bits_rows);
static const struct nt_proto_table array_byte_stream_split = TABLE("ByteStreamSplit", bits_rows);

static const struct nt_proto_field general_mini_block_rows[] = {
    MESSAGE(2, "compression", compression),
    MESSAGE(1, "inner", nt_lance_array_encoding),
};
static const struct nt_proto_table general_mini_block = TABLE("GeneralMiniBlock", general_mini_block_rows);

/* ---- The oneof ---- */

static const struct nt_proto_field array_encoding_rows[] = {
    MESSAGE(NT_LANCE_ARRAY_FLAT, "flat", array_flat),
    MESSAGE(NT_LANCE_ARRAY_NULLABLE, "nullable", nt_lance_array_nullable),
    MESSAGE(NT_LANCE_ARRAY_FIXED_SIZE_LIST, "fixed_size_list", array_fixed_size_list),
    MESSAGE(NT_LANCE_ARRAY_LIST, "list", list),
    MESSAGE(NT_LANCE_ARRAY_STRUCT, "struct", nothing),
    MESSAGE(NT_LANCE_ARRAY_BINARY, "binary", binary),
    MESSAGE(NT_LANCE_ARRAY_DICTIONARY, "dictionary", array_dictionary),
    MESSAGE(NT_LANCE_ARRAY_FSST, "fsst", array_fsst),
    MESSAGE(NT_LANCE_ARRAY_PACKED_STRUCT, "packed_struct", array_packed_struct),
    MESSAGE(NT_LANCE_ARRAY_BITPACKED, "bitpacked", bitpacked),
    MESSAGE(NT_LANCE_ARRAY_FIXED_SIZE_BINARY, "fixed_size_binary", fixed_size_binary),
    MESSAGE(NT_LANCE_ARRAY_BITPACKED_FOR_NON_NEG, "bitpacked_for_non_neg", bitpacked_for_non_neg),
    MESSAGE(NT_LANCE_ARRAY_CONSTANT, "constant", array_constant),
    MESSAGE(NT_LANCE_ARRAY_INLINE_BITPACKING, "inline_bitpacking", array_inline_bitpacking),
    MESSAGE(NT_LANCE_ARRAY_OUT_OF_LINE_BITPACKING, "out_of_line_bitpacking", array_out_of_line_bitpacking),
    MESSAGE(NT_LANCE_ARRAY_VARIABLE, "variable", array_variable),
    MESSAGE(NT_LANCE_ARRAY_PACKED_STRUCT_MINI_BLOCK, "packed_struct_fixed_width_mini_block",
            packed_struct_mini_block),
    MESSAGE(NT_LANCE_ARRAY_BLOCK, "block", block),
    MESSAGE(NT_LANCE_ARRAY_RLE, "rle", array_rle),
    MESSAGE(NT_LANCE_ARRAY_GENERAL_MINI_BLOCK, "general_mini_block", general_mini_block),
    MESSAGE(NT_LANCE_ARRAY_BYTE_STREAM_SPLIT, "byte_stream_split", array_byte_stream_split),
};
const struct nt_proto_table nt_lance_array_encoding = CHOICE("ArrayEncoding", array_encoding_rows);

/* ---- Files, schemas and columns ---- */

enum nt_lance_indirect_field {
    NT_LANCE_INDIRECT_BUFFER_LOCATION = 1,
    NT_LANCE_INDIRECT_BUFFER_LENGTH = 2,
};

enum nt_lance_column_blob_field {
    NT_LANCE_COLUMN_BLOB_INNER = 1,
};
#define INT(field, text)                                                                                     \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_INT                                              \
    }
/* A number without a default: it may be absent. */
#define OPTIONAL_UINT(field, text)                                                                           \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_UINT, .is_optional = true                        \
    }
#define OPTIONAL_TEXT(field, text)                                                                           \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_TEXT, .is_optional = true                        \
    }

/* ---- Schema ---- */

static const struct nt_proto_field entry_rows[] = {
    TEXT(NT_LANCE_ENTRY_KEY, "key"),
    TEXT(NT_LANCE_ENTRY_VALUE, "value"),
};
static const struct nt_proto_table entry = TABLE("MetadataEntry", entry_rows);

static const struct nt_proto_field field_dictionary_rows[] = {
    INT(NT_LANCE_FIELD_DICTIONARY_OFFSET, "offset"),
    INT(NT_LANCE_FIELD_DICTIONARY_LENGTH, "length"),
};
static const struct nt_proto_table field_dictionary = TABLE("Dictionary", field_dictionary_rows);

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
    MESSAGE(NT_LANCE_FIELD_DICTIONARY, "dictionary", field_dictionary),
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

/* ---- Columns and pages ---- */

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

/* ---- Page layouts of 2.1 ---- */

enum nt_lance_dictionary_field {
    NT_LANCE_DICTIONARY_INDICES = 1,
    NT_LANCE_DICTIONARY_ITEMS = 2,
    NT_LANCE_DICTIONARY_NUM_DICTIONARY_ITEMS = 3,
};
#define ENUMS(field, text, list)                                                                             \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_ENUM, .is_repeated = true, .names = (list)       \
    }

/* ---- Compression ---- */

static const char *const schemes[] = {"COMPRESSION_ALGORITHM_UNSPECIFIED", "COMPRESSION_ALGORITHM_LZ4",
                                      "COMPRESSION_ALGORITHM_ZSTD", NULL};
static const struct nt_proto_field buffer_compression_rows[] = {
    ENUM(NT_LANCE_BUFFER_COMPRESSION_SCHEME, "scheme", schemes),
    OPTIONAL_INT(NT_LANCE_BUFFER_COMPRESSION_LEVEL, "level"),
};
static const struct nt_proto_table buffer_compression = TABLE("BufferCompression", buffer_compression_rows);

static const struct nt_proto_field flat_rows[] = {
    UINT(NT_LANCE_FLAT_BITS_PER_VALUE, "bits_per_value"),
    MESSAGE(NT_LANCE_FLAT_DATA, "data", buffer_compression),
};
static const struct nt_proto_table flat = TABLE("Flat", flat_rows);

static const struct nt_proto_field variable_rows[] = {
    MESSAGE(NT_LANCE_VARIABLE_OFFSETS, "offsets", nt_lance_compressive_encoding),
    MESSAGE(NT_LANCE_VARIABLE_VALUES, "values", buffer_compression),
};
static const struct nt_proto_table variable = TABLE("Variable", variable_rows);

static const struct nt_proto_field constant_rows[] = {
    BYTES(NT_LANCE_CONSTANT_VALUE, "value"),
};
static const struct nt_proto_table constant = TABLE("Constant", constant_rows);

static const struct nt_proto_field out_of_line_bitpacking_rows[] = {
    UINT(NT_LANCE_OUT_OF_LINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE, "uncompressed_bits_per_value"),
    MESSAGE(NT_LANCE_OUT_OF_LINE_BITPACKING_VALUES, "values", nt_lance_compressive_encoding),
};
static const struct nt_proto_table out_of_line_bitpacking =
    TABLE("OutOfLineBitpacking", out_of_line_bitpacking_rows);

static const struct nt_proto_field inline_bitpacking_rows[] = {
    UINT(NT_LANCE_INLINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE, "uncompressed_bits_per_value"),
    MESSAGE(NT_LANCE_INLINE_BITPACKING_VALUES, "values", buffer_compression),
};
static const struct nt_proto_table inline_bitpacking = TABLE("InlineBitpacking", inline_bitpacking_rows);

static const struct nt_proto_field fsst_rows[] = {
    BYTES(NT_LANCE_FSST_SYMBOL_TABLE, "symbol_table"),
    MESSAGE(NT_LANCE_FSST_VALUES, "values", nt_lance_compressive_encoding),
};
static const struct nt_proto_table fsst = TABLE("Fsst", fsst_rows);

static const struct nt_proto_field dictionary_rows[] = {
    UINT(NT_LANCE_DICTIONARY_NUM_DICTIONARY_ITEMS, "num_dictionary_items"),
    MESSAGE(NT_LANCE_DICTIONARY_INDICES, "indices", nt_lance_compressive_encoding),
    MESSAGE(NT_LANCE_DICTIONARY_ITEMS, "items", nt_lance_compressive_encoding),
};
static const struct nt_proto_table dictionary = TABLE("Dictionary", dictionary_rows);

static const struct nt_proto_field rle_rows[] = {
    MESSAGE(NT_LANCE_RLE_VALUES, "values", nt_lance_compressive_encoding),
    MESSAGE(NT_LANCE_RLE_RUN_LENGTHS, "run_lengths", nt_lance_compressive_encoding),
};
static const struct nt_proto_table rle = TABLE("Rle", rle_rows);

static const struct nt_proto_field byte_stream_split_rows[] = {
    MESSAGE(NT_LANCE_BYTE_STREAM_SPLIT_VALUES, "values", nt_lance_compressive_encoding),
};
static const struct nt_proto_table byte_stream_split = TABLE("ByteStreamSplit", byte_stream_split_rows);

static const struct nt_proto_field general_rows[] = {
    MESSAGE(NT_LANCE_GENERAL_COMPRESSION, "compression", buffer_compression),
    MESSAGE(NT_LANCE_GENERAL_VALUES, "values", nt_lance_compressive_encoding),
};
static const struct nt_proto_table general = TABLE("General", general_rows);

static const struct nt_proto_field fixed_size_list_rows[] = {
    UINT(NT_LANCE_FIXED_SIZE_LIST_ITEMS_PER_VALUE, "items_per_value"),
    BOOL(NT_LANCE_FIXED_SIZE_LIST_HAS_VALIDITY, "has_validity"),
    MESSAGE(NT_LANCE_FIXED_SIZE_LIST_VALUES, "values", nt_lance_compressive_encoding),
};
static const struct nt_proto_table fixed_size_list = TABLE("FixedSizeList", fixed_size_list_rows);

static const struct nt_proto_field packed_struct_rows[] = {
    UINTS(NT_LANCE_PACKED_STRUCT_BITS_PER_VALUE, "bits_per_value"),
    MESSAGE(NT_LANCE_PACKED_STRUCT_VALUES, "values", nt_lance_compressive_encoding),
};
static const struct nt_proto_table packed_struct = TABLE("PackedStruct", packed_struct_rows);

static const struct nt_proto_field packed_member_rows[] = {
    OPTIONAL_UINT(NT_LANCE_PACKED_MEMBER_BITS_PER_VALUE, "bits_per_value"),
    OPTIONAL_UINT(NT_LANCE_PACKED_MEMBER_BITS_PER_LENGTH, "bits_per_length"),
    MESSAGE(NT_LANCE_PACKED_MEMBER_VALUE, "value", nt_lance_compressive_encoding),
};
static const struct nt_proto_table packed_member =
    TABLE("VariablePackedStruct.FieldEncoding", packed_member_rows);

static const struct nt_proto_field variable_packed_struct_rows[] = {
    MESSAGES(NT_LANCE_VARIABLE_PACKED_STRUCT_FIELDS, "fields", packed_member),
};
static const struct nt_proto_table variable_packed_struct =
    TABLE("VariablePackedStruct", variable_packed_struct_rows);

static const struct nt_proto_field compressive_encoding_rows[] = {
    MESSAGE(NT_LANCE_COMPRESSIVE_FLAT, "flat", flat),
    MESSAGE(NT_LANCE_COMPRESSIVE_VARIABLE, "variable", variable),
    MESSAGE(NT_LANCE_COMPRESSIVE_CONSTANT, "constant", constant),
    MESSAGE(NT_LANCE_COMPRESSIVE_OUT_OF_LINE_BITPACKING, "out_of_line_bitpacking", out_of_line_bitpacking),
    MESSAGE(NT_LANCE_COMPRESSIVE_INLINE_BITPACKING, "inline_bitpacking", inline_bitpacking),
    MESSAGE(NT_LANCE_COMPRESSIVE_FSST, "fsst", fsst),
    MESSAGE(NT_LANCE_COMPRESSIVE_DICTIONARY, "dictionary", dictionary),
    MESSAGE(NT_LANCE_COMPRESSIVE_RLE, "rle", rle),
    MESSAGE(NT_LANCE_COMPRESSIVE_BYTE_STREAM_SPLIT, "byte_stream_split", byte_stream_split),
    MESSAGE(NT_LANCE_COMPRESSIVE_GENERAL, "general", general),
    MESSAGE(NT_LANCE_COMPRESSIVE_FIXED_SIZE_LIST, "fixed_size_list", fixed_size_list),
    MESSAGE(NT_LANCE_COMPRESSIVE_PACKED_STRUCT, "packed_struct", packed_struct),
    MESSAGE(NT_LANCE_COMPRESSIVE_VARIABLE_PACKED_STRUCT, "variable_packed_struct", variable_packed_struct),
};
const struct nt_proto_table nt_lance_compressive_encoding =
    CHOICE("CompressiveEncoding", compressive_encoding_rows);

/* ---- Layouts ---- */

static const char *const layers[] = {
    "REPDEF_UNSPECIFIED",   "REPDEF_ALL_VALID_ITEM", "REPDEF_ALL_VALID_LIST",      "REPDEF_NULLABLE_ITEM",
    "REPDEF_NULLABLE_LIST", "REPDEF_EMPTYABLE_LIST", "REPDEF_NULL_AND_EMPTY_LIST", NULL};

static const struct nt_proto_field mini_block_rows[] = {
    UINT(NT_LANCE_MINI_BLOCK_NUM_ITEMS, "num_items"),
    UINT(NT_LANCE_MINI_BLOCK_NUM_BUFFERS, "num_buffers"),
    UINT(NT_LANCE_MINI_BLOCK_NUM_DICTIONARY_ITEMS, "num_dictionary_items"),
    UINT(NT_LANCE_MINI_BLOCK_REPETITION_INDEX_DEPTH, "repetition_index_depth"),
    BOOL(NT_LANCE_MINI_BLOCK_HAS_LARGE_CHUNK, "has_large_chunk"),
    ENUMS(NT_LANCE_MINI_BLOCK_LAYERS, "layers", layers),
    MESSAGE(NT_LANCE_MINI_BLOCK_REP_COMPRESSION, "rep_compression", nt_lance_compressive_encoding),
    MESSAGE(NT_LANCE_MINI_BLOCK_DEF_COMPRESSION, "def_compression", nt_lance_compressive_encoding),
    MESSAGE(NT_LANCE_MINI_BLOCK_VALUE_COMPRESSION, "value_compression", nt_lance_compressive_encoding),
    MESSAGE(NT_LANCE_MINI_BLOCK_DICTIONARY, "dictionary", nt_lance_compressive_encoding),
};
static const struct nt_proto_table mini_block = TABLE("MiniBlockLayout", mini_block_rows);

static const struct nt_proto_field full_zip_rows[] = {
    UINT(NT_LANCE_FULL_ZIP_BITS_REP, "bits_rep"),
    UINT(NT_LANCE_FULL_ZIP_BITS_DEF, "bits_def"),
    OPTIONAL_UINT(NT_LANCE_FULL_ZIP_BITS_PER_VALUE, "bits_per_value"),
    OPTIONAL_UINT(NT_LANCE_FULL_ZIP_BITS_PER_OFFSET, "bits_per_offset"),
    UINT(NT_LANCE_FULL_ZIP_NUM_ITEMS, "num_items"),
    UINT(NT_LANCE_FULL_ZIP_NUM_VISIBLE_ITEMS, "num_visible_items"),
    ENUMS(NT_LANCE_FULL_ZIP_LAYERS, "layers", layers),
    MESSAGE(NT_LANCE_FULL_ZIP_VALUE_COMPRESSION, "value_compression", nt_lance_compressive_encoding),
};
static const struct nt_proto_table full_zip = TABLE("FullZipLayout", full_zip_rows);

static const struct nt_proto_field constant_layout_rows[] = {
    ENUMS(NT_LANCE_CONSTANT_LAYOUT_LAYERS, "layers", layers),
    BYTES(NT_LANCE_CONSTANT_LAYOUT_INLINE_VALUE, "inline_value"),
    UINT(NT_LANCE_CONSTANT_LAYOUT_NUM_REP_VALUES, "num_rep_values"),
    UINT(NT_LANCE_CONSTANT_LAYOUT_NUM_DEF_VALUES, "num_def_values"),
    MESSAGE(NT_LANCE_CONSTANT_LAYOUT_REP_COMPRESSION, "rep_compression", nt_lance_compressive_encoding),
    MESSAGE(NT_LANCE_CONSTANT_LAYOUT_DEF_COMPRESSION, "def_compression", nt_lance_compressive_encoding),
};
static const struct nt_proto_table constant_layout = TABLE("ConstantLayout", constant_layout_rows);

static const struct nt_proto_field blob_layout_rows[] = {
    ENUMS(NT_LANCE_BLOB_LAYOUT_LAYERS, "layers", layers),
    MESSAGE(NT_LANCE_BLOB_LAYOUT_INNER_LAYOUT, "inner_layout", nt_lance_page_layout),
};
static const struct nt_proto_table blob_layout = TABLE("BlobLayout", blob_layout_rows);

static const struct nt_proto_field page_layout_rows[] = {
    MESSAGE(NT_LANCE_LAYOUT_MINI_BLOCK, "mini_block_layout", mini_block),
    MESSAGE(NT_LANCE_LAYOUT_CONSTANT, "constant_layout", constant_layout),
    MESSAGE(NT_LANCE_LAYOUT_FULL_ZIP, "full_zip_layout", full_zip),
    MESSAGE(NT_LANCE_LAYOUT_BLOB, "blob_layout", blob_layout),
};
const struct nt_proto_table nt_lance_page_layout = CHOICE("PageLayout", page_layout_rows);

/* ---- Metadata of legacy files ---- */

#define INTS(field, text)                                                                                    \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_INT, .is_repeated = true                         \
    }

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

/* ---- Messages of datasets ---- */

/* Repeated messages, omitted from JSON because they have a document of their own. */
#define MESSAGES_APART(field, text, table)                                                                   \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_MESSAGE, .is_repeated = true,                    \
        .is_distinguished = true, .message = &(table)                                                        \
    }

static const struct nt_proto_field external_file_rows[] = {
    TEXT(1, "path"),
    UINT(2, "offset"),
    UINT(3, "size"),
};
static const struct nt_proto_table external_file = TABLE("ExternalFile", external_file_rows);

/* ---- Fragments ---- */

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

/* Row ids or row versions in a hidden column of a data file. */
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

/* ---- Row ids ---- */

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

/* ---- The manifest ---- */

static const struct nt_proto_field metadata_entry_rows[] = {
    TEXT(NT_LANCE_ENTRY_KEY, "key"),
    TEXT(NT_LANCE_ENTRY_VALUE, "value"),
};
static const struct nt_proto_table nt_lance_metadata_entry = TABLE("MetadataEntry", metadata_entry_rows);

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
static const struct nt_proto_table nt_lance_base_path = TABLE("BasePath", base_path_rows);

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

/* ---- Indices ---- */

static const struct nt_proto_field uuid_rows[] = {
    BYTES(1, "uuid"),
};
static const struct nt_proto_table nt_lance_uuid = TABLE("UUID", uuid_rows);

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
static const struct nt_proto_table nt_lance_index_metadata = TABLE("IndexMetadata", index_rows);

static const struct nt_proto_field index_section_rows[] = {
    MESSAGES(1, "indices", nt_lance_index_metadata),
};
const struct nt_proto_table nt_lance_index_section = TABLE("IndexSection", index_section_rows);

/* ---- A part of the manifest ---- */

static const struct nt_proto_field dataset_schema_rows[] = {
    MESSAGES(NT_LANCE_MANIFEST_FIELDS, "fields", nt_lance_field),
    MESSAGES(NT_LANCE_MANIFEST_SCHEMA_METADATA, "metadata", nt_lance_metadata_entry),
};
const struct nt_proto_table nt_lance_dataset_schema = {.name = "Manifest",
                                                       .fields = dataset_schema_rows,
                                                       .count = sizeof(dataset_schema_rows) /
                                                                sizeof(*dataset_schema_rows),
                                                       .is_part = true};

/* ---- Messages of transactions ---- */

#define TEXTS(field, text)                                                                                   \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_TEXT, .is_repeated = true                        \
    }

/* ---- Operations on fragments ---- */

static const struct nt_proto_field append_rows[] = {
    MESSAGES(1, "fragments", nt_lance_fragment),
};
static const struct nt_proto_table append = TABLE("Transaction.Append", append_rows);

static const struct nt_proto_field delete_rows[] = {
    MESSAGES(1, "updated_fragments", nt_lance_fragment),
    UINTS(2, "deleted_fragment_ids"),
    TEXT(3, "predicate"),
};
static const struct nt_proto_table delete = TABLE("Transaction.Delete", delete_rows);

static const struct nt_proto_field overwrite_rows[] = {
    MESSAGES(1, "fragments", nt_lance_fragment),
    MESSAGES(2, "schema", nt_lance_field),
    MESSAGES(3, "schema_metadata", nt_lance_metadata_entry),
    MESSAGES(4, "config_upsert_values", nt_lance_metadata_entry),
    MESSAGES(5, "initial_bases", nt_lance_base_path),
};
static const struct nt_proto_table overwrite = TABLE("Transaction.Overwrite", overwrite_rows);

static const struct nt_proto_field rewrite_group_rows[] = {
    MESSAGES(1, "old_fragments", nt_lance_fragment),
    MESSAGES(2, "new_fragments", nt_lance_fragment),
};
static const struct nt_proto_table rewrite_group =
    TABLE("Transaction.Rewrite.RewriteGroup", rewrite_group_rows);
static const struct nt_proto_field rewritten_index_rows[] = {
    MESSAGE(1, "old_id", nt_lance_uuid),
    MESSAGE(2, "new_id", nt_lance_uuid),
    MESSAGE(3, "new_index_details", nt_lance_any),
    UINT(4, "new_index_version"),
};
static const struct nt_proto_table rewritten_index =
    TABLE("Transaction.Rewrite.RewrittenIndex", rewritten_index_rows);
static const struct nt_proto_field rewrite_rows[] = {
    MESSAGES(1, "old_fragments", nt_lance_fragment),
    MESSAGES(2, "new_fragments", nt_lance_fragment),
    MESSAGES(3, "groups", rewrite_group),
    MESSAGES(4, "rewritten_indices", rewritten_index),
};
static const struct nt_proto_table rewrite = TABLE("Transaction.Rewrite", rewrite_rows);

static const struct nt_proto_field merge_rows[] = {
    MESSAGES(1, "fragments", nt_lance_fragment),
    MESSAGES(2, "schema", nt_lance_field),
    MESSAGES(3, "schema_metadata", nt_lance_metadata_entry),
};
static const struct nt_proto_table merge = TABLE("Transaction.Merge", merge_rows);

static const char *const update_modes[] = {"REWRITE_ROWS", "REWRITE_COLUMNS", NULL};
static const struct nt_proto_field update_rows[] = {
    UINTS(1, "removed_fragment_ids"),
    MESSAGES(2, "updated_fragments", nt_lance_fragment),
    MESSAGES(3, "new_fragments", nt_lance_fragment),
    UINTS(4, "fields_modified"),
    UINTS(6, "fields_for_preserving_frag_bitmap"),
    ENUM(7, "update_mode", update_modes),
};
static const struct nt_proto_table update = TABLE("Transaction.Update", update_rows);

static const struct nt_proto_field data_replacement_group_rows[] = {
    UINT(1, "fragment_id"),
    MESSAGE(2, "new_file", nt_lance_data_file),
};
static const struct nt_proto_table data_replacement_group =
    TABLE("Transaction.DataReplacementGroup", data_replacement_group_rows);
static const struct nt_proto_field data_replacement_rows[] = {
    MESSAGES(1, "replacements", data_replacement_group),
};
static const struct nt_proto_table data_replacement =
    TABLE("Transaction.DataReplacement", data_replacement_rows);

static const struct nt_proto_field reserve_fragments_rows[] = {
    UINT(1, "num_fragments"),
};
static const struct nt_proto_table reserve_fragments =
    TABLE("Transaction.ReserveFragments", reserve_fragments_rows);

/* ---- On all else ---- */

static const struct nt_proto_field create_index_rows[] = {
    MESSAGES(1, "new_indices", nt_lance_index_metadata),
    MESSAGES(2, "removed_indices", nt_lance_index_metadata),
};
static const struct nt_proto_table create_index = TABLE("Transaction.CreateIndex", create_index_rows);

static const struct nt_proto_field project_rows[] = {
    MESSAGES(1, "schema", nt_lance_field),
};
static const struct nt_proto_table project = TABLE("Transaction.Project", project_rows);

static const struct nt_proto_field restore_rows[] = {
    UINT(1, "version"),
};
static const struct nt_proto_table restore = TABLE("Transaction.Restore", restore_rows);

static const struct nt_proto_field clone_rows[] = {
    BOOL(1, "is_shallow"), OPTIONAL_TEXT(2, "ref_name"),    UINT(3, "ref_version"),
    TEXT(4, "ref_path"),   OPTIONAL_TEXT(5, "branch_name"),
};
static const struct nt_proto_table clone_transaction = TABLE("Transaction.Clone", clone_rows);

static const struct nt_proto_field update_bases_rows[] = {
    MESSAGES(1, "new_bases", nt_lance_base_path),
};
static const struct nt_proto_table update_bases = TABLE("Transaction.UpdateBases", update_bases_rows);

static const struct nt_proto_field update_map_entry_rows[] = {
    TEXT(NT_LANCE_ENTRY_KEY, "key"),
    OPTIONAL_TEXT(NT_LANCE_ENTRY_VALUE, "value"),
};
static const struct nt_proto_table update_map_entry =
    TABLE("Transaction.UpdateMapEntry", update_map_entry_rows);
static const struct nt_proto_field update_map_rows[] = {
    MESSAGES(1, "update_entries", update_map_entry),
    BOOL(2, "replace"),
};
static const struct nt_proto_table update_map = TABLE("Transaction.UpdateMap", update_map_rows);
static const struct nt_proto_field field_update_rows[] = {
    INT(NT_LANCE_ENTRY_KEY, "key"),
    MESSAGE(NT_LANCE_ENTRY_VALUE, "value", update_map),
};
static const struct nt_proto_table field_update = TABLE("FieldMetadataUpdatesEntry", field_update_rows);
static const struct nt_proto_field old_metadata_rows[] = {
    MESSAGES(5, "metadata", nt_lance_metadata_entry),
};
static const struct nt_proto_table old_metadata =
    TABLE("Transaction.UpdateConfig.FieldMetadataUpdate", old_metadata_rows);
static const struct nt_proto_field old_field_update_rows[] = {
    UINT(NT_LANCE_ENTRY_KEY, "key"),
    MESSAGE(NT_LANCE_ENTRY_VALUE, "value", old_metadata),
};
static const struct nt_proto_table old_field_update = TABLE("FieldMetadataEntry", old_field_update_rows);
static const struct nt_proto_field update_config_rows[] = {
    MESSAGE(6, "config_updates", update_map),
    MESSAGE(7, "table_metadata_updates", update_map),
    MESSAGE(8, "schema_metadata_updates", update_map),
    MESSAGES(9, "field_metadata_updates", field_update),
    MESSAGES(1, "upsert_values", nt_lance_metadata_entry),
    TEXTS(2, "delete_keys"),
    MESSAGES(3, "schema_metadata", nt_lance_metadata_entry),
    MESSAGES(4, "field_metadata", old_field_update),
};
static const struct nt_proto_table update_config = TABLE("Transaction.UpdateConfig", update_config_rows);

/* ---- Transaction ---- */

static const struct nt_proto_field transaction_rows[] = {
    UINT(1, "read_version"),
    TEXT(2, "uuid"),
    TEXT(3, "tag"),
    MESSAGES(4, "transaction_properties", nt_lance_metadata_entry),
    MESSAGE(100, "append", append),
    MESSAGE(101, "delete", delete),
    MESSAGE(102, "overwrite", overwrite),
    MESSAGE(103, "create_index", create_index),
    MESSAGE(104, "rewrite", rewrite),
    MESSAGE(105, "merge", merge),
    MESSAGE(106, "restore", restore),
    MESSAGE(107, "reserve_fragments", reserve_fragments),
    MESSAGE(108, "update", update),
    MESSAGE(109, "project", project),
    MESSAGE(110, "update_config", update_config),
    MESSAGE(111, "data_replacement", data_replacement),
    MESSAGE(113, "clone", clone_transaction),
    MESSAGE(114, "update_bases", update_bases),
};
const struct nt_proto_table nt_lance_transaction = TABLE("Transaction", transaction_rows);
