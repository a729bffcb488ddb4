/* SPDX-License-Identifier: MIT
 *
 * The messages of Lance files: for each an enumeration of its fields' numbers, named after it, and its table.
 * They are those of lance's protos/file.proto and file2.proto, encodings_v2_0.proto (pages of version 2.0) and
 * encodings_v2_1.proto (pages of 2.1 and 2.2).
 */
#ifndef NT_FORMAT_LANCE_MESSAGES_H
#define NT_FORMAT_LANCE_MESSAGES_H

#include "formats/lance/file/protobuf.h"

/* ---- the file: global buffer 0 ---- */

enum nt_lance_file_descriptor_field {
    NT_LANCE_FILE_DESCRIPTOR_SCHEMA = 1,
    NT_LANCE_FILE_DESCRIPTOR_LENGTH = 2, /* rows */
};

enum nt_lance_schema_field {
    NT_LANCE_SCHEMA_FIELDS = 1,
    NT_LANCE_SCHEMA_METADATA = 5, /* entries, see below */
};

enum nt_lance_field_field {
    NT_LANCE_FIELD_TYPE = 1,
    NT_LANCE_FIELD_NAME = 2,
    NT_LANCE_FIELD_ID = 3,
    NT_LANCE_FIELD_PARENT_ID = 4,
    NT_LANCE_FIELD_LOGICAL_TYPE = 5,
    NT_LANCE_FIELD_NULLABLE = 6,
    NT_LANCE_FIELD_ENCODING = 7,   /* of the legacy format */
    NT_LANCE_FIELD_DICTIONARY = 8, /* likewise */
    NT_LANCE_FIELD_EXTENSION_NAME = 9,
    NT_LANCE_FIELD_METADATA = 10,
    NT_LANCE_FIELD_PRIMARY_KEY = 12,
    NT_LANCE_FIELD_PRIMARY_KEY_POSITION = 13,
    NT_LANCE_FIELD_CLUSTERING_KEY = 14,
    NT_LANCE_FIELD_CLUSTERING_KEY_POSITION = 15,
};

/* NT_LANCE_FIELD_DICTIONARY: items that lie in the file, or in the manifest. */
enum nt_lance_field_dictionary_field {
    NT_LANCE_FIELD_DICTIONARY_OFFSET = 1,
    NT_LANCE_FIELD_DICTIONARY_LENGTH = 2,
};

/* NT_LANCE_FIELD_ENCODING */
enum nt_lance_legacy_encoding {
    NT_LANCE_LEGACY_ENCODING_RLE = 4,
};

/* An entry of a map. */
enum nt_lance_entry_field {
    NT_LANCE_ENTRY_KEY = 1,
    NT_LANCE_ENTRY_VALUE = 2,
};

extern const struct nt_proto_table nt_lance_field;
extern const struct nt_proto_table nt_lance_file_descriptor;

/* ---- columns and pages ---- */

enum nt_lance_column_metadata_field {
    NT_LANCE_COLUMN_METADATA_ENCODING = 1,
    NT_LANCE_COLUMN_METADATA_PAGES = 2,
    NT_LANCE_COLUMN_METADATA_BUFFER_OFFSETS = 3,
    NT_LANCE_COLUMN_METADATA_BUFFER_SIZES = 4,
};

enum nt_lance_page_field {
    NT_LANCE_PAGE_BUFFER_OFFSETS = 1,
    NT_LANCE_PAGE_BUFFER_SIZES = 2,
    NT_LANCE_PAGE_LENGTH = 3,
    NT_LANCE_PAGE_ENCODING = 4,
    NT_LANCE_PAGE_PRIORITY = 5,
};

/* Where an encoding is: a choice. */
enum nt_lance_encoding_field {
    NT_LANCE_ENCODING_INDIRECT = 1,
    NT_LANCE_ENCODING_DIRECT = 2,
    NT_LANCE_ENCODING_NONE = 3,
};

enum nt_lance_indirect_field {
    NT_LANCE_INDIRECT_BUFFER_LOCATION = 1,
    NT_LANCE_INDIRECT_BUFFER_LENGTH = 2,
};

enum nt_lance_direct_field {
    NT_LANCE_DIRECT_ENCODING = 1, /* the bytes of an Any */
};

enum nt_lance_any_field {
    NT_LANCE_ANY_TYPE_URL = 1,
    NT_LANCE_ANY_VALUE = 2,
};

extern const struct nt_proto_table nt_lance_column_metadata;
extern const struct nt_proto_table nt_lance_encoding; /* a choice */
extern const struct nt_proto_table nt_lance_any;

/* What a column is: a choice. */
enum nt_lance_column_encoding_field {
    NT_LANCE_COLUMN_ENCODING_VALUES = 1,
    NT_LANCE_COLUMN_ENCODING_ZONE_INDEX = 2,
    NT_LANCE_COLUMN_ENCODING_BLOB = 3,
};

enum nt_lance_zone_index_field {
    NT_LANCE_ZONE_INDEX_ROWS_PER_ZONE = 1,
    NT_LANCE_ZONE_INDEX_BUFFER = 2, /* a message of nt_lance_array_buffer_field */
    NT_LANCE_ZONE_INDEX_INNER = 3,
};

enum nt_lance_column_blob_field {
    NT_LANCE_COLUMN_BLOB_INNER = 1,
};

extern const struct nt_proto_table nt_lance_column_encoding;

/* ---- pages of 2.0: ArrayEncoding, a choice ---- */

enum nt_lance_array_field {
    NT_LANCE_ARRAY_FLAT = 1,
    NT_LANCE_ARRAY_NULLABLE = 2,
    NT_LANCE_ARRAY_FIXED_SIZE_LIST = 3,
    NT_LANCE_ARRAY_LIST = 4,
    NT_LANCE_ARRAY_STRUCT = 5,
    NT_LANCE_ARRAY_BINARY = 6,
    NT_LANCE_ARRAY_DICTIONARY = 7,
    NT_LANCE_ARRAY_FSST = 8,
    NT_LANCE_ARRAY_PACKED_STRUCT = 9,
    NT_LANCE_ARRAY_BITPACKED = 10,
    NT_LANCE_ARRAY_FIXED_SIZE_BINARY = 11,
    NT_LANCE_ARRAY_BITPACKED_FOR_NON_NEG = 12,
    NT_LANCE_ARRAY_CONSTANT = 13,
    NT_LANCE_ARRAY_INLINE_BITPACKING = 14,
    NT_LANCE_ARRAY_OUT_OF_LINE_BITPACKING = 15,
    NT_LANCE_ARRAY_VARIABLE = 16,
    NT_LANCE_ARRAY_PACKED_STRUCT_MINI_BLOCK = 17,
    NT_LANCE_ARRAY_BLOCK = 18,
    NT_LANCE_ARRAY_RLE = 19,
    NT_LANCE_ARRAY_GENERAL_MINI_BLOCK = 20,
    NT_LANCE_ARRAY_BYTE_STREAM_SPLIT = 21,
};

enum nt_lance_array_buffer_field {
    NT_LANCE_ARRAY_BUFFER_INDEX = 1,
    NT_LANCE_ARRAY_BUFFER_TYPE = 2,
};
/* Whose buffers an index counts. */
enum nt_lance_buffer_type {
    NT_LANCE_BUFFER_OF_PAGE = 0,
    NT_LANCE_BUFFER_OF_COLUMN = 1,
    NT_LANCE_BUFFER_OF_FILE = 2,
};

enum nt_lance_array_compression_field {
    NT_LANCE_ARRAY_COMPRESSION_SCHEME = 1, /* a text: "none", "zstd", "lz4" */
    NT_LANCE_ARRAY_COMPRESSION_LEVEL = 2,
};

enum nt_lance_array_flat_field {
    NT_LANCE_ARRAY_FLAT_BITS_PER_VALUE = 1,
    NT_LANCE_ARRAY_FLAT_BUFFER = 2,
    NT_LANCE_ARRAY_FLAT_COMPRESSION = 3,
};

/* A choice. */
enum nt_lance_array_nullable_field {
    NT_LANCE_ARRAY_NULLABLE_NO_NULLS = 1,
    NT_LANCE_ARRAY_NULLABLE_SOME_NULLS = 2,
    NT_LANCE_ARRAY_NULLABLE_ALL_NULLS = 3,
};

enum nt_lance_array_no_nulls_field {
    NT_LANCE_ARRAY_NO_NULLS_VALUES = 1,
};

enum nt_lance_array_some_nulls_field {
    NT_LANCE_ARRAY_SOME_NULLS_VALIDITY = 1,
    NT_LANCE_ARRAY_SOME_NULLS_VALUES = 2,
};

enum nt_lance_array_fixed_size_list_field {
    NT_LANCE_ARRAY_FIXED_SIZE_LIST_DIMENSION = 1,
    NT_LANCE_ARRAY_FIXED_SIZE_LIST_ITEMS = 2,
    NT_LANCE_ARRAY_FIXED_SIZE_LIST_HAS_VALIDITY = 3,
};

enum nt_lance_array_list_field {
    NT_LANCE_ARRAY_LIST_OFFSETS = 1,
    NT_LANCE_ARRAY_LIST_NULL_OFFSET_ADJUSTMENT = 2,
    NT_LANCE_ARRAY_LIST_NUM_ITEMS = 3,
};

enum nt_lance_array_binary_field {
    NT_LANCE_ARRAY_BINARY_INDICES = 1,
    NT_LANCE_ARRAY_BINARY_BYTES = 2,
    NT_LANCE_ARRAY_BINARY_NULL_ADJUSTMENT = 3,
};

enum nt_lance_array_dictionary_field {
    NT_LANCE_ARRAY_DICTIONARY_INDICES = 1,
    NT_LANCE_ARRAY_DICTIONARY_ITEMS = 2,
    NT_LANCE_ARRAY_DICTIONARY_NUM_ITEMS = 3,
};

enum nt_lance_array_fsst_field {
    NT_LANCE_ARRAY_FSST_BINARY = 1,
    NT_LANCE_ARRAY_FSST_SYMBOL_TABLE = 2,
};

enum nt_lance_array_packed_struct_field {
    NT_LANCE_ARRAY_PACKED_STRUCT_INNER = 1, /* repeated */
    NT_LANCE_ARRAY_PACKED_STRUCT_BUFFER = 2,
};

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

extern const struct nt_proto_table nt_lance_array_encoding;
extern const struct nt_proto_table nt_lance_array_nullable;
extern const struct nt_proto_table nt_lance_array_buffer;

/* ---- pages of 2.1 and 2.2: PageLayout, a choice ---- */

enum nt_lance_layout_field {
    NT_LANCE_LAYOUT_MINI_BLOCK = 1,
    NT_LANCE_LAYOUT_CONSTANT = 2,
    NT_LANCE_LAYOUT_FULL_ZIP = 3,
    NT_LANCE_LAYOUT_BLOB = 4,
};

/* Layers are numbered by enum nt_layer (codec/tree/description.h), and listed inner-most first. */

enum nt_lance_mini_block_field {
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
};

enum nt_lance_full_zip_field {
    NT_LANCE_FULL_ZIP_BITS_REP = 1,
    NT_LANCE_FULL_ZIP_BITS_DEF = 2,
    NT_LANCE_FULL_ZIP_BITS_PER_VALUE = 3, /* or */
    NT_LANCE_FULL_ZIP_BITS_PER_OFFSET = 4,
    NT_LANCE_FULL_ZIP_NUM_ITEMS = 5,
    NT_LANCE_FULL_ZIP_NUM_VISIBLE_ITEMS = 6,
    NT_LANCE_FULL_ZIP_VALUE_COMPRESSION = 7,
    NT_LANCE_FULL_ZIP_LAYERS = 8,
};

enum nt_lance_constant_layout_field {
    NT_LANCE_CONSTANT_LAYOUT_LAYERS = 5,
    NT_LANCE_CONSTANT_LAYOUT_INLINE_VALUE = 6, /* this and those that follow: 2.2 */
    NT_LANCE_CONSTANT_LAYOUT_REP_COMPRESSION = 7,
    NT_LANCE_CONSTANT_LAYOUT_DEF_COMPRESSION = 8,
    NT_LANCE_CONSTANT_LAYOUT_NUM_REP_VALUES = 9,
    NT_LANCE_CONSTANT_LAYOUT_NUM_DEF_VALUES = 10,
};

enum nt_lance_blob_layout_field {
    NT_LANCE_BLOB_LAYOUT_INNER_LAYOUT = 1,
    NT_LANCE_BLOB_LAYOUT_LAYERS = 2,
};

extern const struct nt_proto_table nt_lance_page_layout;

/* ---- how its values are compressed: CompressiveEncoding, a choice ---- */

enum nt_lance_compressive_field {
    NT_LANCE_COMPRESSIVE_FLAT = 1,
    NT_LANCE_COMPRESSIVE_VARIABLE = 2,
    NT_LANCE_COMPRESSIVE_CONSTANT = 3,
    NT_LANCE_COMPRESSIVE_OUT_OF_LINE_BITPACKING = 4,
    NT_LANCE_COMPRESSIVE_INLINE_BITPACKING = 5,
    NT_LANCE_COMPRESSIVE_FSST = 6,
    NT_LANCE_COMPRESSIVE_DICTIONARY = 7,
    NT_LANCE_COMPRESSIVE_RLE = 8,
    NT_LANCE_COMPRESSIVE_BYTE_STREAM_SPLIT = 9,
    NT_LANCE_COMPRESSIVE_GENERAL = 10,
    NT_LANCE_COMPRESSIVE_FIXED_SIZE_LIST = 11,
    NT_LANCE_COMPRESSIVE_PACKED_STRUCT = 12,
    NT_LANCE_COMPRESSIVE_VARIABLE_PACKED_STRUCT = 13, /* 2.2 */
};

enum nt_lance_buffer_compression_field {
    NT_LANCE_BUFFER_COMPRESSION_SCHEME = 1,
    NT_LANCE_BUFFER_COMPRESSION_LEVEL = 2,
};
enum nt_lance_compression_scheme {
    NT_LANCE_SCHEME_UNSPECIFIED = 0,
    NT_LANCE_SCHEME_LZ4 = 1,
    NT_LANCE_SCHEME_ZSTD = 2,
};

enum nt_lance_flat_field {
    NT_LANCE_FLAT_BITS_PER_VALUE = 1,
    NT_LANCE_FLAT_DATA = 2, /* the compression of its buffer */
};

enum nt_lance_variable_field {
    NT_LANCE_VARIABLE_OFFSETS = 1,
    NT_LANCE_VARIABLE_VALUES = 2, /* the compression of its buffer */
};

enum nt_lance_constant_field {
    NT_LANCE_CONSTANT_VALUE = 1,
};

enum nt_lance_out_of_line_bitpacking_field {
    NT_LANCE_OUT_OF_LINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE = 1,
    NT_LANCE_OUT_OF_LINE_BITPACKING_VALUES = 3,
};

enum nt_lance_inline_bitpacking_field {
    NT_LANCE_INLINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE = 1,
    NT_LANCE_INLINE_BITPACKING_VALUES = 2, /* the compression of its buffer */
};

enum nt_lance_fsst_field {
    NT_LANCE_FSST_SYMBOL_TABLE = 1,
    NT_LANCE_FSST_VALUES = 2,
};

enum nt_lance_dictionary_field {
    NT_LANCE_DICTIONARY_INDICES = 1,
    NT_LANCE_DICTIONARY_ITEMS = 2,
    NT_LANCE_DICTIONARY_NUM_DICTIONARY_ITEMS = 3,
};

enum nt_lance_rle_field {
    NT_LANCE_RLE_VALUES = 1,
    NT_LANCE_RLE_RUN_LENGTHS = 2,
};

enum nt_lance_byte_stream_split_field {
    NT_LANCE_BYTE_STREAM_SPLIT_VALUES = 1,
};

enum nt_lance_general_field {
    NT_LANCE_GENERAL_COMPRESSION = 1,
    NT_LANCE_GENERAL_VALUES = 3,
};

enum nt_lance_fixed_size_list_field {
    NT_LANCE_FIXED_SIZE_LIST_ITEMS_PER_VALUE = 1,
    NT_LANCE_FIXED_SIZE_LIST_VALUES = 2,
    NT_LANCE_FIXED_SIZE_LIST_HAS_VALIDITY = 3,
};

enum nt_lance_packed_struct_field {
    NT_LANCE_PACKED_STRUCT_BITS_PER_VALUE = 1, /* repeated */
    NT_LANCE_PACKED_STRUCT_VALUES = 2,
};

enum nt_lance_variable_packed_struct_field {
    NT_LANCE_VARIABLE_PACKED_STRUCT_FIELDS = 1, /* repeated */
};

enum nt_lance_packed_member_field {
    NT_LANCE_PACKED_MEMBER_VALUE = 1,
    NT_LANCE_PACKED_MEMBER_BITS_PER_VALUE = 2, /* or */
    NT_LANCE_PACKED_MEMBER_BITS_PER_LENGTH = 3,
};

extern const struct nt_proto_table nt_lance_compressive_encoding;

#endif
