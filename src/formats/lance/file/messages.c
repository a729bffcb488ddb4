/* SPDX-License-Identifier: MIT
 *
 * The tables of all Lance protobuf messages: file and schema, column metadata, array encodings (2.0),
 * page layouts and compressive encodings (2.1, 2.2), manifests, transactions, and the legacy Metadata
 * message.
 */
#include "formats/lance/file/file.h"

/* ---- Rows of the tables ---- */

#define ROW(field, text, ...)                                                                                \
    {                                                                                                        \
        .number = (field), .name = (text), __VA_ARGS__                                                       \
    }
#define UINT(field, text) ROW(field, text, .kind = NT_PROTO_UINT)
#define INT(field, text) ROW(field, text, .kind = NT_PROTO_INT)
#define BOOL(field, text) ROW(field, text, .kind = NT_PROTO_BOOL)
#define TEXT(field, text) ROW(field, text, .kind = NT_PROTO_TEXT)
#define BYTES(field, text) ROW(field, text, .kind = NT_PROTO_BYTES)
#define ENUM(field, text, list) ROW(field, text, .kind = NT_PROTO_ENUM, .names = (list))
#define MESSAGE(field, text, table) ROW(field, text, .kind = NT_PROTO_MESSAGE, .message = &(table))

/* Without a default: they may be absent. */
#define OPTIONAL_UINT(field, text) ROW(field, text, .kind = NT_PROTO_UINT, .is_optional = true)
#define OPTIONAL_INT(field, text) ROW(field, text, .kind = NT_PROTO_INT, .is_optional = true)
#define OPTIONAL_TEXT(field, text) ROW(field, text, .kind = NT_PROTO_TEXT, .is_optional = true)

#define UINTS(field, text) ROW(field, text, .kind = NT_PROTO_UINT, .is_repeated = true)
#define INTS(field, text) ROW(field, text, .kind = NT_PROTO_INT, .is_repeated = true)
#define TEXTS(field, text) ROW(field, text, .kind = NT_PROTO_TEXT, .is_repeated = true)
#define ENUMS(field, text, list) ROW(field, text, .kind = NT_PROTO_ENUM, .is_repeated = true, .names = (list))
#define MESSAGES(field, text, table)                                                                         \
    ROW(field, text, .kind = NT_PROTO_MESSAGE, .is_repeated = true, .message = &(table))
#define MESSAGES_APART(field, text, table)                                                                   \
    ROW(field, text, .kind = NT_PROTO_MESSAGE, .is_repeated = true, .is_distinguished = true,                \
        .message = &(table))

#define ROWS(...)                                                                                            \
    (const struct nt_proto_field[])                                                                          \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }
#define TABLE_WITH(variable, text, flag, ...)                                                                \
    const struct nt_proto_table variable = {.name = (text),                                                  \
                                            flag,                                                            \
                                            .fields = ROWS(__VA_ARGS__),                                     \
                                            .count =                                                         \
                                                sizeof(ROWS(__VA_ARGS__)) / sizeof(struct nt_proto_field)}
#define TABLE(variable, text, ...) TABLE_WITH(variable, text, .is_oneof = false, __VA_ARGS__)
#define CHOICE(variable, text, ...) TABLE_WITH(variable, text, .is_oneof = true, __VA_ARGS__)
#define PART(variable, text, ...) TABLE_WITH(variable, text, .is_part = true, __VA_ARGS__)

/* ---- Array encodings of 2.0 ---- */

static const struct nt_proto_table nothing = {.name = "Empty"};

static const char *const buffer_types[] = {"page", "column", "file", NULL};
static TABLE(nt_lance_array_buffer, "Buffer", UINT(NT_LANCE_ARRAY_BUFFER_INDEX, "buffer_index"),
             ENUM(NT_LANCE_ARRAY_BUFFER_TYPE, "buffer_type", buffer_types));

static TABLE(compression, "Compression", TEXT(NT_LANCE_ARRAY_COMPRESSION_SCHEME, "scheme"),
             OPTIONAL_INT(2, "level"));

static TABLE(array_flat, "Flat", UINT(NT_LANCE_ARRAY_FLAT_BITS_PER_VALUE, "bits_per_value"),
             MESSAGE(NT_LANCE_ARRAY_FLAT_BUFFER, "buffer", nt_lance_array_buffer),
             MESSAGE(NT_LANCE_ARRAY_FLAT_COMPRESSION, "compression", compression));

static TABLE(no_nulls, "Nullable.NoNull",
             MESSAGE(NT_LANCE_ARRAY_NO_NULLS_VALUES, "values", nt_lance_array_encoding));

static TABLE(some_nulls, "Nullable.SomeNull",
             MESSAGE(NT_LANCE_ARRAY_SOME_NULLS_VALIDITY, "validity", nt_lance_array_encoding),
             MESSAGE(NT_LANCE_ARRAY_SOME_NULLS_VALUES, "values", nt_lance_array_encoding));

CHOICE(nt_lance_array_nullable, "Nullable", MESSAGE(NT_LANCE_ARRAY_NULLABLE_NO_NULLS, "no_nulls", no_nulls),
       MESSAGE(NT_LANCE_ARRAY_NULLABLE_SOME_NULLS, "some_nulls", some_nulls),
       MESSAGE(NT_LANCE_ARRAY_NULLABLE_ALL_NULLS, "all_nulls", nothing));

static TABLE(array_fixed_size_list, "FixedSizeList",
             UINT(NT_LANCE_ARRAY_FIXED_SIZE_LIST_DIMENSION, "dimension"), BOOL(3, "has_validity"),
             MESSAGE(NT_LANCE_ARRAY_FIXED_SIZE_LIST_ITEMS, "items", nt_lance_array_encoding));

static TABLE(list, "List", UINT(NT_LANCE_ARRAY_LIST_NULL_OFFSET_ADJUSTMENT, "null_offset_adjustment"),
             UINT(NT_LANCE_ARRAY_LIST_NUM_ITEMS, "num_items"),
             MESSAGE(NT_LANCE_ARRAY_LIST_OFFSETS, "offsets", nt_lance_array_encoding));

static TABLE(binary, "Binary", UINT(NT_LANCE_ARRAY_BINARY_NULL_ADJUSTMENT, "null_adjustment"),
             MESSAGE(NT_LANCE_ARRAY_BINARY_INDICES, "indices", nt_lance_array_encoding),
             MESSAGE(NT_LANCE_ARRAY_BINARY_BYTES, "bytes", nt_lance_array_encoding));

static TABLE(array_dictionary, "Dictionary",
             UINT(NT_LANCE_ARRAY_DICTIONARY_NUM_ITEMS, "num_dictionary_items"),
             MESSAGE(NT_LANCE_ARRAY_DICTIONARY_INDICES, "indices", nt_lance_array_encoding),
             MESSAGE(NT_LANCE_ARRAY_DICTIONARY_ITEMS, "items", nt_lance_array_encoding));

static TABLE(array_fsst, "Fsst", BYTES(NT_LANCE_ARRAY_FSST_SYMBOL_TABLE, "symbol_table"),
             MESSAGE(NT_LANCE_ARRAY_FSST_BINARY, "binary", nt_lance_array_encoding));

static TABLE(array_packed_struct, "PackedStruct",
             MESSAGES(NT_LANCE_ARRAY_PACKED_STRUCT_INNER, "inner", nt_lance_array_encoding),
             MESSAGE(NT_LANCE_ARRAY_PACKED_STRUCT_BUFFER, "buffer", nt_lance_array_buffer));

static TABLE(bitpacked, "Bitpacked", UINT(1, "compressed_bits_per_value"),
             UINT(2, "uncompressed_bits_per_value"), MESSAGE(3, "buffer", nt_lance_array_buffer),
             BOOL(4, "signed"));

static TABLE(bitpacked_for_non_neg, "BitpackedForNonNeg", UINT(1, "compressed_bits_per_value"),
             UINT(2, "uncompressed_bits_per_value"), MESSAGE(3, "buffer", nt_lance_array_buffer));

static TABLE(fixed_size_binary, "FixedSizeBinary", UINT(2, "byte_width"),
             MESSAGE(1, "bytes", nt_lance_array_encoding));

static TABLE(array_constant, "Constant", BYTES(1, "value"));

static TABLE(array_inline_bitpacking, "InlineBitpacking", UINT(2, "uncompressed_bits_per_value"));

static TABLE(array_out_of_line_bitpacking, "OutOfLineBitpacking", UINT(2, "uncompressed_bits_per_value"),
             UINT(3, "compressed_bits_per_value"));

static TABLE(array_variable, "Variable", UINT(1, "bits_per_offset"));

static TABLE(packed_struct_mini_block, "PackedStructFixedWidthMiniBlock",
             MESSAGE(1, "flat", nt_lance_array_encoding), UINTS(2, "bits_per_values"));

static TABLE(block, "Block", TEXT(1, "scheme"));

static TABLE(array_rle, "Rle", UINT(1, "bits_per_value"));
static TABLE(array_byte_stream_split, "ByteStreamSplit", UINT(1, "bits_per_value"));

static TABLE(general_mini_block, "GeneralMiniBlock", MESSAGE(2, "compression", compression),
             MESSAGE(1, "inner", nt_lance_array_encoding));

CHOICE(nt_lance_array_encoding, "ArrayEncoding", MESSAGE(NT_LANCE_ARRAY_FLAT, "flat", array_flat),
       MESSAGE(NT_LANCE_ARRAY_NULLABLE, "nullable", nt_lance_array_nullable),
       MESSAGE(NT_LANCE_ARRAY_FIXED_SIZE_LIST, "fixed_size_list", array_fixed_size_list),
       MESSAGE(NT_LANCE_ARRAY_LIST, "list", list), MESSAGE(NT_LANCE_ARRAY_STRUCT, "struct", nothing),
       MESSAGE(NT_LANCE_ARRAY_BINARY, "binary", binary),
       MESSAGE(NT_LANCE_ARRAY_DICTIONARY, "dictionary", array_dictionary),
       MESSAGE(NT_LANCE_ARRAY_FSST, "fsst", array_fsst),
       MESSAGE(NT_LANCE_ARRAY_PACKED_STRUCT, "packed_struct", array_packed_struct),
       MESSAGE(10, "bitpacked", bitpacked), MESSAGE(11, "fixed_size_binary", fixed_size_binary),
       MESSAGE(12, "bitpacked_for_non_neg", bitpacked_for_non_neg), MESSAGE(13, "constant", array_constant),
       MESSAGE(14, "inline_bitpacking", array_inline_bitpacking),
       MESSAGE(15, "out_of_line_bitpacking", array_out_of_line_bitpacking),
       MESSAGE(16, "variable", array_variable),
       MESSAGE(17, "packed_struct_fixed_width_mini_block", packed_struct_mini_block),
       MESSAGE(18, "block", block), MESSAGE(19, "rle", array_rle),
       MESSAGE(20, "general_mini_block", general_mini_block),
       MESSAGE(21, "byte_stream_split", array_byte_stream_split));

/* ---- Schema ---- */

static TABLE(entry, "MetadataEntry", TEXT(NT_LANCE_ENTRY_KEY, "key"), TEXT(NT_LANCE_ENTRY_VALUE, "value"));

static TABLE(field_dictionary, "Dictionary", INT(NT_LANCE_FIELD_DICTIONARY_OFFSET, "offset"),
             INT(NT_LANCE_FIELD_DICTIONARY_LENGTH, "length"));

static const char *const field_types[] = {"PARENT", "REPEATED", "LEAF", NULL};
static const char *const legacy_encodings[] = {"NONE", "PLAIN", "VAR_BINARY", "DICTIONARY", "RLE", NULL};

TABLE(nt_lance_field, "Field", ENUM(1, "type", field_types), TEXT(NT_LANCE_FIELD_NAME, "name"),
      INT(NT_LANCE_FIELD_ID, "id"), INT(NT_LANCE_FIELD_PARENT_ID, "parent_id"),
      TEXT(NT_LANCE_FIELD_LOGICAL_TYPE, "logical_type"), BOOL(NT_LANCE_FIELD_NULLABLE, "nullable"),
      ENUM(NT_LANCE_FIELD_ENCODING, "encoding", legacy_encodings),
      MESSAGE(NT_LANCE_FIELD_DICTIONARY, "dictionary", field_dictionary), OPTIONAL_TEXT(9, "extension_name"),
      MESSAGES(NT_LANCE_FIELD_METADATA, "metadata", entry), BOOL(12, "unenforced_primary_key"),
      OPTIONAL_UINT(13, "unenforced_primary_key_position"), BOOL(14, "unenforced_clustering_key"),
      OPTIONAL_UINT(15, "unenforced_clustering_key_position"));

static TABLE(schema, "Schema", MESSAGES(NT_LANCE_SCHEMA_FIELDS, "fields", nt_lance_field),
             MESSAGES(5, "metadata", entry));

TABLE(nt_lance_file_descriptor, "FileDescriptor", UINT(NT_LANCE_FILE_DESCRIPTOR_LENGTH, "length"),
      MESSAGE(NT_LANCE_FILE_DESCRIPTOR_SCHEMA, "schema", schema));

/* ---- Columns and pages ---- */

static const struct nt_proto_table empty = {.name = "Empty"};

static TABLE(indirect, "DeferredEncoding", UINT(1, "buffer_location"), UINT(2, "buffer_length"));

static TABLE(direct, "DirectEncoding", BYTES(NT_LANCE_DIRECT_ENCODING, "encoding"));

CHOICE(nt_lance_encoding, "Encoding", MESSAGE(NT_LANCE_ENCODING_INDIRECT, "indirect", indirect),
       MESSAGE(NT_LANCE_ENCODING_DIRECT, "direct", direct), MESSAGE(3, "none", empty));

TABLE(nt_lance_any, "Any", TEXT(NT_LANCE_ANY_TYPE_URL, "type_url"), BYTES(NT_LANCE_ANY_VALUE, "value"));

static TABLE(page, "ColumnMetadata.Page", UINTS(NT_LANCE_PAGE_BUFFER_OFFSETS, "buffer_offsets"),
             UINTS(NT_LANCE_PAGE_BUFFER_SIZES, "buffer_sizes"), UINT(NT_LANCE_PAGE_LENGTH, "length"),
             MESSAGE(NT_LANCE_PAGE_ENCODING, "encoding", nt_lance_encoding),
             UINT(NT_LANCE_PAGE_PRIORITY, "priority"));

TABLE(nt_lance_column_metadata, "ColumnMetadata",
      MESSAGE(NT_LANCE_COLUMN_METADATA_ENCODING, "encoding", nt_lance_encoding),
      MESSAGES(NT_LANCE_COLUMN_METADATA_PAGES, "pages", page),
      UINTS(NT_LANCE_COLUMN_METADATA_BUFFER_OFFSETS, "buffer_offsets"),
      UINTS(NT_LANCE_COLUMN_METADATA_BUFFER_SIZES, "buffer_sizes"));

static TABLE(zone_index, "ZoneIndex", UINT(1, "rows_per_zone"),
             MESSAGE(2, "zone_map_buffer", nt_lance_array_buffer),
             MESSAGE(NT_LANCE_ZONE_INDEX_INNER, "inner", nt_lance_column_encoding));

static TABLE(column_blob, "Blob", MESSAGE(1, "inner", nt_lance_column_encoding));

CHOICE(nt_lance_column_encoding, "ColumnEncoding", MESSAGE(1, "values", empty),
       MESSAGE(NT_LANCE_COLUMN_ENCODING_ZONE_INDEX, "zone_index", zone_index),
       MESSAGE(NT_LANCE_COLUMN_ENCODING_BLOB, "blob", column_blob));

/* ---- Compression ---- */

static const char *const schemes[] = {"COMPRESSION_ALGORITHM_UNSPECIFIED", "COMPRESSION_ALGORITHM_LZ4",
                                      "COMPRESSION_ALGORITHM_ZSTD", NULL};
static TABLE(buffer_compression, "BufferCompression",
             ENUM(NT_LANCE_BUFFER_COMPRESSION_SCHEME, "scheme", schemes), OPTIONAL_INT(2, "level"));

static TABLE(flat, "Flat", UINT(NT_LANCE_FLAT_BITS_PER_VALUE, "bits_per_value"),
             MESSAGE(NT_LANCE_FLAT_DATA, "data", buffer_compression));

static TABLE(variable, "Variable",
             MESSAGE(NT_LANCE_VARIABLE_OFFSETS, "offsets", nt_lance_compressive_encoding),
             MESSAGE(NT_LANCE_VARIABLE_VALUES, "values", buffer_compression));

static TABLE(constant, "Constant", BYTES(NT_LANCE_CONSTANT_VALUE, "value"));

static TABLE(out_of_line_bitpacking, "OutOfLineBitpacking",
             UINT(NT_LANCE_OUT_OF_LINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE, "uncompressed_bits_per_value"),
             MESSAGE(NT_LANCE_OUT_OF_LINE_BITPACKING_VALUES, "values", nt_lance_compressive_encoding));

static TABLE(inline_bitpacking, "InlineBitpacking",
             UINT(NT_LANCE_INLINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE, "uncompressed_bits_per_value"),
             MESSAGE(NT_LANCE_INLINE_BITPACKING_VALUES, "values", buffer_compression));

static TABLE(fsst, "Fsst", BYTES(NT_LANCE_FSST_SYMBOL_TABLE, "symbol_table"),
             MESSAGE(NT_LANCE_FSST_VALUES, "values", nt_lance_compressive_encoding));

static TABLE(dictionary, "Dictionary", UINT(3, "num_dictionary_items"),
             MESSAGE(1, "indices", nt_lance_compressive_encoding),
             MESSAGE(2, "items", nt_lance_compressive_encoding));

static TABLE(rle, "Rle", MESSAGE(NT_LANCE_RLE_VALUES, "values", nt_lance_compressive_encoding),
             MESSAGE(NT_LANCE_RLE_RUN_LENGTHS, "run_lengths", nt_lance_compressive_encoding));

static TABLE(byte_stream_split, "ByteStreamSplit",
             MESSAGE(NT_LANCE_BYTE_STREAM_SPLIT_VALUES, "values", nt_lance_compressive_encoding));

static TABLE(general, "General", MESSAGE(NT_LANCE_GENERAL_COMPRESSION, "compression", buffer_compression),
             MESSAGE(NT_LANCE_GENERAL_VALUES, "values", nt_lance_compressive_encoding));

static TABLE(fixed_size_list, "FixedSizeList",
             UINT(NT_LANCE_FIXED_SIZE_LIST_ITEMS_PER_VALUE, "items_per_value"),
             BOOL(NT_LANCE_FIXED_SIZE_LIST_HAS_VALIDITY, "has_validity"),
             MESSAGE(NT_LANCE_FIXED_SIZE_LIST_VALUES, "values", nt_lance_compressive_encoding));

static TABLE(packed_struct, "PackedStruct", UINTS(1, "bits_per_value"),
             MESSAGE(NT_LANCE_PACKED_STRUCT_VALUES, "values", nt_lance_compressive_encoding));

static TABLE(packed_member, "VariablePackedStruct.FieldEncoding",
             OPTIONAL_UINT(NT_LANCE_PACKED_MEMBER_BITS_PER_VALUE, "bits_per_value"),
             OPTIONAL_UINT(NT_LANCE_PACKED_MEMBER_BITS_PER_LENGTH, "bits_per_length"),
             MESSAGE(NT_LANCE_PACKED_MEMBER_VALUE, "value", nt_lance_compressive_encoding));

static TABLE(variable_packed_struct, "VariablePackedStruct",
             MESSAGES(NT_LANCE_VARIABLE_PACKED_STRUCT_FIELDS, "fields", packed_member));

CHOICE(nt_lance_compressive_encoding, "CompressiveEncoding", MESSAGE(NT_LANCE_COMPRESSIVE_FLAT, "flat", flat),
       MESSAGE(NT_LANCE_COMPRESSIVE_VARIABLE, "variable", variable),
       MESSAGE(NT_LANCE_COMPRESSIVE_CONSTANT, "constant", constant),
       MESSAGE(NT_LANCE_COMPRESSIVE_OUT_OF_LINE_BITPACKING, "out_of_line_bitpacking", out_of_line_bitpacking),
       MESSAGE(NT_LANCE_COMPRESSIVE_INLINE_BITPACKING, "inline_bitpacking", inline_bitpacking),
       MESSAGE(NT_LANCE_COMPRESSIVE_FSST, "fsst", fsst), MESSAGE(7, "dictionary", dictionary),
       MESSAGE(NT_LANCE_COMPRESSIVE_RLE, "rle", rle),
       MESSAGE(NT_LANCE_COMPRESSIVE_BYTE_STREAM_SPLIT, "byte_stream_split", byte_stream_split),
       MESSAGE(NT_LANCE_COMPRESSIVE_GENERAL, "general", general),
       MESSAGE(NT_LANCE_COMPRESSIVE_FIXED_SIZE_LIST, "fixed_size_list", fixed_size_list),
       MESSAGE(NT_LANCE_COMPRESSIVE_PACKED_STRUCT, "packed_struct", packed_struct),
       MESSAGE(NT_LANCE_COMPRESSIVE_VARIABLE_PACKED_STRUCT, "variable_packed_struct",
               variable_packed_struct));

/* ---- Layouts ---- */

static const char *const layers[] = {
    "REPDEF_UNSPECIFIED",   "REPDEF_ALL_VALID_ITEM", "REPDEF_ALL_VALID_LIST",      "REPDEF_NULLABLE_ITEM",
    "REPDEF_NULLABLE_LIST", "REPDEF_EMPTYABLE_LIST", "REPDEF_NULL_AND_EMPTY_LIST", NULL};

static TABLE(mini_block, "MiniBlockLayout", UINT(NT_LANCE_MINI_BLOCK_NUM_ITEMS, "num_items"),
             UINT(NT_LANCE_MINI_BLOCK_NUM_BUFFERS, "num_buffers"),
             UINT(NT_LANCE_MINI_BLOCK_NUM_DICTIONARY_ITEMS, "num_dictionary_items"),
             UINT(NT_LANCE_MINI_BLOCK_REPETITION_INDEX_DEPTH, "repetition_index_depth"),
             BOOL(NT_LANCE_MINI_BLOCK_HAS_LARGE_CHUNK, "has_large_chunk"),
             ENUMS(NT_LANCE_MINI_BLOCK_LAYERS, "layers", layers),
             MESSAGE(NT_LANCE_MINI_BLOCK_REP_COMPRESSION, "rep_compression", nt_lance_compressive_encoding),
             MESSAGE(NT_LANCE_MINI_BLOCK_DEF_COMPRESSION, "def_compression", nt_lance_compressive_encoding),
             MESSAGE(NT_LANCE_MINI_BLOCK_VALUE_COMPRESSION, "value_compression",
                     nt_lance_compressive_encoding),
             MESSAGE(NT_LANCE_MINI_BLOCK_DICTIONARY, "dictionary", nt_lance_compressive_encoding));

static TABLE(full_zip, "FullZipLayout", UINT(NT_LANCE_FULL_ZIP_BITS_REP, "bits_rep"),
             UINT(NT_LANCE_FULL_ZIP_BITS_DEF, "bits_def"),
             OPTIONAL_UINT(NT_LANCE_FULL_ZIP_BITS_PER_VALUE, "bits_per_value"),
             OPTIONAL_UINT(NT_LANCE_FULL_ZIP_BITS_PER_OFFSET, "bits_per_offset"), UINT(5, "num_items"),
             UINT(NT_LANCE_FULL_ZIP_NUM_VISIBLE_ITEMS, "num_visible_items"),
             ENUMS(NT_LANCE_FULL_ZIP_LAYERS, "layers", layers),
             MESSAGE(NT_LANCE_FULL_ZIP_VALUE_COMPRESSION, "value_compression",
                     nt_lance_compressive_encoding));

static TABLE(constant_layout, "ConstantLayout", ENUMS(NT_LANCE_CONSTANT_LAYOUT_LAYERS, "layers", layers),
             BYTES(NT_LANCE_CONSTANT_LAYOUT_INLINE_VALUE, "inline_value"),
             UINT(NT_LANCE_CONSTANT_LAYOUT_NUM_REP_VALUES, "num_rep_values"),
             UINT(NT_LANCE_CONSTANT_LAYOUT_NUM_DEF_VALUES, "num_def_values"),
             MESSAGE(NT_LANCE_CONSTANT_LAYOUT_REP_COMPRESSION, "rep_compression",
                     nt_lance_compressive_encoding),
             MESSAGE(NT_LANCE_CONSTANT_LAYOUT_DEF_COMPRESSION, "def_compression",
                     nt_lance_compressive_encoding));

static TABLE(blob_layout, "BlobLayout", ENUMS(NT_LANCE_BLOB_LAYOUT_LAYERS, "layers", layers),
             MESSAGE(NT_LANCE_BLOB_LAYOUT_INNER_LAYOUT, "inner_layout", nt_lance_page_layout));

CHOICE(nt_lance_page_layout, "PageLayout",
       MESSAGE(NT_LANCE_LAYOUT_MINI_BLOCK, "mini_block_layout", mini_block),
       MESSAGE(NT_LANCE_LAYOUT_CONSTANT, "constant_layout", constant_layout),
       MESSAGE(NT_LANCE_LAYOUT_FULL_ZIP, "full_zip_layout", full_zip),
       MESSAGE(NT_LANCE_LAYOUT_BLOB, "blob_layout", blob_layout));

/* ---- Metadata of legacy files ---- */

static TABLE(statistics, "Metadata.StatisticsMetadata", MESSAGES(1, "schema", nt_lance_field),
             INTS(NT_LANCE_STATISTICS_FIELDS, "fields"),
             UINT(NT_LANCE_STATISTICS_PAGE_TABLE_POSITION, "page_table_position"));

TABLE(nt_lance_metadata, "Metadata", UINT(NT_LANCE_METADATA_MANIFEST_POSITION, "manifest_position"),
      INTS(NT_LANCE_METADATA_BATCH_OFFSETS, "batch_offsets"),
      UINT(NT_LANCE_METADATA_PAGE_TABLE_POSITION, "page_table_position"),
      MESSAGE(NT_LANCE_METADATA_STATISTICS, "statistics", statistics));

/* ---- Messages of datasets ---- */

/* Repeated messages, omitted from JSON because they have a document of their own. */

static TABLE(external_file, "ExternalFile", TEXT(1, "path"), UINT(2, "offset"), UINT(3, "size"));

/* ---- Fragments ---- */

static TABLE(data_file, "DataFile", TEXT(NT_LANCE_DATA_FILE_PATH, "path"),
             INTS(NT_LANCE_DATA_FILE_FIELDS, "fields"),
             INTS(NT_LANCE_DATA_FILE_COLUMN_INDICES, "column_indices"),
             UINT(NT_LANCE_DATA_FILE_MAJOR_VERSION, "file_major_version"),
             UINT(NT_LANCE_DATA_FILE_MINOR_VERSION, "file_minor_version"),
             UINT(NT_LANCE_DATA_FILE_SIZE, "file_size_bytes"),
             OPTIONAL_UINT(NT_LANCE_DATA_FILE_BASE_ID, "base_id"));

static const char *const deletion_types[] = {"ARROW_ARRAY", "BITMAP", NULL};
static TABLE(deletion_file, "DeletionFile", ENUM(NT_LANCE_DELETION_FILE_TYPE, "file_type", deletion_types),
             UINT(NT_LANCE_DELETION_FILE_READ_VERSION, "read_version"), UINT(NT_LANCE_DELETION_FILE_ID, "id"),
             UINT(NT_LANCE_DELETION_FILE_ROWS, "num_deleted_rows"),
             OPTIONAL_UINT(NT_LANCE_DELETION_FILE_BASE_ID, "base_id"));

/* Row ids or row versions in a hidden column of a data file. */
static const struct nt_proto_table row_lineage_column = {.name = "RowLineageColumn"};

TABLE(nt_lance_fragment, "DataFragment", UINT(NT_LANCE_FRAGMENT_ID, "id"),
      MESSAGES(NT_LANCE_FRAGMENT_FILES, "files", data_file),
      MESSAGE(NT_LANCE_FRAGMENT_DELETION_FILE, "deletion_file", deletion_file),
      UINT(NT_LANCE_FRAGMENT_PHYSICAL_ROWS, "physical_rows"), MESSAGE(5, "inline_row_ids", nt_lance_row_ids),
      MESSAGE(6, "external_row_ids", external_file),
      MESSAGE(7, "inline_last_updated_at_versions", nt_lance_row_versions),
      MESSAGE(8, "external_last_updated_at_versions", external_file),
      MESSAGE(9, "inline_created_at_versions", nt_lance_row_versions),
      MESSAGE(10, "external_created_at_versions", external_file),
      MESSAGE(12, "column_row_ids", row_lineage_column),
      MESSAGE(13, "column_last_updated_at_versions", row_lineage_column),
      MESSAGE(14, "column_created_at_versions", row_lineage_column));

/* ---- Row ids ---- */

static TABLE(u16_array, "U16Array", UINT(1, "base"), BYTES(2, "offsets"));
static TABLE(u32_array, "U32Array", UINT(1, "base"), BYTES(2, "offsets"));
static TABLE(u64_array, "U64Array", BYTES(2, "values"));
static CHOICE(encoded_array, "EncodedU64Array", MESSAGE(1, "u16_array", u16_array),
              MESSAGE(2, "u32_array", u32_array), MESSAGE(3, "u64_array", u64_array));

static TABLE(range, "Range", UINT(1, "start"), UINT(2, "end"));
static TABLE(range_with_holes, "RangeWithHoles", UINT(1, "start"), UINT(2, "end"),
             MESSAGE(3, "holes", encoded_array));
static TABLE(range_with_bitmap, "RangeWithBitmap", UINT(1, "start"), UINT(2, "end"), BYTES(3, "bitmap"));
static CHOICE(segment, "U64Segment", MESSAGE(1, "range", range),
              MESSAGE(2, "range_with_holes", range_with_holes),
              MESSAGE(3, "range_with_bitmap", range_with_bitmap), MESSAGE(4, "sorted_array", encoded_array),
              MESSAGE(5, "array", encoded_array));

TABLE(nt_lance_row_ids, "RowIdSequence", MESSAGES(1, "segments", segment));

static TABLE(version_run, "RowDatasetVersionRun", MESSAGE(1, "span", segment), UINT(2, "version"));
TABLE(nt_lance_row_versions, "RowDatasetVersionSequence", MESSAGES(1, "runs", version_run));

/* ---- The manifest ---- */

static TABLE(nt_lance_metadata_entry, "MetadataEntry", TEXT(NT_LANCE_ENTRY_KEY, "key"),
             TEXT(NT_LANCE_ENTRY_VALUE, "value"));

static TABLE(writer_version, "WriterVersion", TEXT(NT_LANCE_WRITER_VERSION_LIBRARY, "library"),
             TEXT(NT_LANCE_WRITER_VERSION_VERSION, "version"), OPTIONAL_TEXT(3, "prerelease"),
             OPTIONAL_TEXT(4, "build_metadata"));

static TABLE(timestamp, "Timestamp", INT(NT_LANCE_TIMESTAMP_SECONDS, "seconds"),
             INT(NT_LANCE_TIMESTAMP_NANOSECONDS, "nanos"));

static TABLE(data_format, "DataStorageFormat", TEXT(1, "file_format"),
             TEXT(NT_LANCE_DATA_FORMAT_VERSION, "version"));

static TABLE(nt_lance_base_path, "BasePath", UINT(NT_LANCE_BASE_PATH_ID, "id"), OPTIONAL_TEXT(2, "name"),
             BOOL(NT_LANCE_BASE_PATH_IS_DATASET_ROOT, "is_dataset_root"),
             TEXT(NT_LANCE_BASE_PATH_PATH, "path"));

TABLE(nt_lance_manifest, "Manifest", UINT(NT_LANCE_MANIFEST_VERSION, "version"),
      MESSAGES(1, "fields", nt_lance_field), MESSAGES(5, "schema_metadata", nt_lance_metadata_entry),
      MESSAGES_APART(NT_LANCE_MANIFEST_FRAGMENTS, "fragments", nt_lance_fragment),
      OPTIONAL_UINT(4, "version_aux_data"), OPTIONAL_UINT(NT_LANCE_MANIFEST_INDEX_SECTION, "index_section"),
      MESSAGE(NT_LANCE_MANIFEST_TIMESTAMP, "timestamp", timestamp), TEXT(8, "tag"),
      UINT(NT_LANCE_MANIFEST_READER_FLAGS, "reader_feature_flags"), UINT(10, "writer_feature_flags"),
      OPTIONAL_UINT(11, "max_fragment_id"), TEXT(NT_LANCE_MANIFEST_TRANSACTION_FILE, "transaction_file"),
      MESSAGE(NT_LANCE_MANIFEST_WRITER_VERSION, "writer_version", writer_version), UINT(14, "next_row_id"),
      MESSAGE(NT_LANCE_MANIFEST_DATA_FORMAT, "data_format", data_format),
      MESSAGES(16, "config", nt_lance_metadata_entry),
      MESSAGES(NT_LANCE_MANIFEST_BASE_PATHS, "base_paths", nt_lance_base_path),
      MESSAGES(19, "table_metadata", nt_lance_metadata_entry), OPTIONAL_TEXT(20, "branch"),
      OPTIONAL_UINT(NT_LANCE_MANIFEST_TRANSACTION_SECTION_DEPRECATED, "transaction_section_deprecated"),
      OPTIONAL_UINT(NT_LANCE_MANIFEST_TRANSACTION_SECTION, "transaction_section"),
      OPTIONAL_INT(24, "max_allocated_field_id"));

/* ---- Indices ---- */

static TABLE(nt_lance_uuid, "UUID", BYTES(1, "uuid"));

static TABLE(index_file, "IndexFile", TEXT(1, "path"), UINT(2, "size_bytes"));

static TABLE(nt_lance_index_metadata, "IndexMetadata", MESSAGE(1, "uuid", nt_lance_uuid), INTS(2, "fields"),
             TEXT(3, "name"), UINT(4, "dataset_version"), BYTES(5, "fragment_bitmap"),
             MESSAGE(6, "index_details", nt_lance_any), OPTIONAL_INT(7, "index_version"),
             OPTIONAL_UINT(8, "created_at"), OPTIONAL_UINT(9, "base_id"), MESSAGES(10, "files", index_file),
             INTS(11, "covering_fields"));

TABLE(nt_lance_index_section, "IndexSection", MESSAGES(1, "indices", nt_lance_index_metadata));

/* ---- A part of the manifest ---- */

PART(nt_lance_dataset_schema, "Manifest", MESSAGES(1, "fields", nt_lance_field),
     MESSAGES(5, "metadata", nt_lance_metadata_entry));

/* ---- Operations on fragments ---- */

static TABLE(append, "Transaction.Append", MESSAGES(1, "fragments", nt_lance_fragment));

static TABLE(delete, "Transaction.Delete", MESSAGES(1, "updated_fragments", nt_lance_fragment),
             UINTS(2, "deleted_fragment_ids"), TEXT(3, "predicate"));

static TABLE(overwrite, "Transaction.Overwrite", MESSAGES(1, "fragments", nt_lance_fragment),
             MESSAGES(2, "schema", nt_lance_field), MESSAGES(3, "schema_metadata", nt_lance_metadata_entry),
             MESSAGES(4, "config_upsert_values", nt_lance_metadata_entry),
             MESSAGES(5, "initial_bases", nt_lance_base_path));

static TABLE(rewrite_group, "Transaction.Rewrite.RewriteGroup",
             MESSAGES(1, "old_fragments", nt_lance_fragment),
             MESSAGES(2, "new_fragments", nt_lance_fragment));
static TABLE(rewritten_index, "Transaction.Rewrite.RewrittenIndex", MESSAGE(1, "old_id", nt_lance_uuid),
             MESSAGE(2, "new_id", nt_lance_uuid), MESSAGE(3, "new_index_details", nt_lance_any),
             UINT(4, "new_index_version"));
static TABLE(rewrite, "Transaction.Rewrite", MESSAGES(1, "old_fragments", nt_lance_fragment),
             MESSAGES(2, "new_fragments", nt_lance_fragment), MESSAGES(3, "groups", rewrite_group),
             MESSAGES(4, "rewritten_indices", rewritten_index));

static TABLE(merge, "Transaction.Merge", MESSAGES(1, "fragments", nt_lance_fragment),
             MESSAGES(2, "schema", nt_lance_field), MESSAGES(3, "schema_metadata", nt_lance_metadata_entry));

static const char *const update_modes[] = {"REWRITE_ROWS", "REWRITE_COLUMNS", NULL};
static TABLE(update, "Transaction.Update", UINTS(1, "removed_fragment_ids"),
             MESSAGES(2, "updated_fragments", nt_lance_fragment),
             MESSAGES(3, "new_fragments", nt_lance_fragment), UINTS(4, "fields_modified"),
             UINTS(6, "fields_for_preserving_frag_bitmap"), ENUM(7, "update_mode", update_modes));

static TABLE(data_replacement_group, "Transaction.DataReplacementGroup", UINT(1, "fragment_id"),
             MESSAGE(2, "new_file", data_file));
static TABLE(data_replacement, "Transaction.DataReplacement",
             MESSAGES(1, "replacements", data_replacement_group));

static TABLE(reserve_fragments, "Transaction.ReserveFragments", UINT(1, "num_fragments"));

/* ---- On all else ---- */

static TABLE(create_index, "Transaction.CreateIndex", MESSAGES(1, "new_indices", nt_lance_index_metadata),
             MESSAGES(2, "removed_indices", nt_lance_index_metadata));

static TABLE(project, "Transaction.Project", MESSAGES(1, "schema", nt_lance_field));

static TABLE(restore, "Transaction.Restore", UINT(1, "version"));

static TABLE(clone_transaction, "Transaction.Clone", BOOL(1, "is_shallow"), OPTIONAL_TEXT(2, "ref_name"),
             UINT(3, "ref_version"), TEXT(4, "ref_path"), OPTIONAL_TEXT(5, "branch_name"));

static TABLE(update_bases, "Transaction.UpdateBases", MESSAGES(1, "new_bases", nt_lance_base_path));

static TABLE(update_map_entry, "Transaction.UpdateMapEntry", TEXT(NT_LANCE_ENTRY_KEY, "key"),
             OPTIONAL_TEXT(NT_LANCE_ENTRY_VALUE, "value"));
static TABLE(update_map, "Transaction.UpdateMap", MESSAGES(1, "update_entries", update_map_entry),
             BOOL(2, "replace"));
static TABLE(field_update, "FieldMetadataUpdatesEntry", INT(NT_LANCE_ENTRY_KEY, "key"),
             MESSAGE(NT_LANCE_ENTRY_VALUE, "value", update_map));
static TABLE(old_metadata, "Transaction.UpdateConfig.FieldMetadataUpdate",
             MESSAGES(5, "metadata", nt_lance_metadata_entry));
static TABLE(old_field_update, "FieldMetadataEntry", UINT(NT_LANCE_ENTRY_KEY, "key"),
             MESSAGE(NT_LANCE_ENTRY_VALUE, "value", old_metadata));
static TABLE(update_config, "Transaction.UpdateConfig", MESSAGE(6, "config_updates", update_map),
             MESSAGE(7, "table_metadata_updates", update_map),
             MESSAGE(8, "schema_metadata_updates", update_map),
             MESSAGES(9, "field_metadata_updates", field_update),
             MESSAGES(1, "upsert_values", nt_lance_metadata_entry), TEXTS(2, "delete_keys"),
             MESSAGES(3, "schema_metadata", nt_lance_metadata_entry),
             MESSAGES(4, "field_metadata", old_field_update));

/* ---- Transaction ---- */

TABLE(nt_lance_transaction, "Transaction", UINT(1, "read_version"), TEXT(2, "uuid"), TEXT(3, "tag"),
      MESSAGES(4, "transaction_properties", nt_lance_metadata_entry), MESSAGE(100, "append", append),
      MESSAGE(101, "delete", delete), MESSAGE(102, "overwrite", overwrite),
      MESSAGE(103, "create_index", create_index), MESSAGE(104, "rewrite", rewrite),
      MESSAGE(105, "merge", merge), MESSAGE(106, "restore", restore),
      MESSAGE(107, "reserve_fragments", reserve_fragments), MESSAGE(108, "update", update),
      MESSAGE(109, "project", project), MESSAGE(110, "update_config", update_config),
      MESSAGE(111, "data_replacement", data_replacement), MESSAGE(113, "clone", clone_transaction),
      MESSAGE(114, "update_bases", update_bases));
