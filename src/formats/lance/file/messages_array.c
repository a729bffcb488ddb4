/* SPDX-License-Identifier: MIT
 *
 * The tables of the messages that say how a page of Lance 2.0 is encoded: ArrayEncoding, and what is in it
 * (lance's protos/encodings_v2_0.proto). Some were only written by previews of 2.1.
 */
#include "formats/lance/file/rows.h"

static const struct nt_proto_table nothing = {.name = "Empty"};

static const char *const buffer_types[] = {"page", "column", "file", NULL};
static const struct nt_proto_field buffer_rows[] = {
    UINT(NT_LANCE_ARRAY_BUFFER_INDEX, "buffer_index"),
    ENUM(NT_LANCE_ARRAY_BUFFER_TYPE, "buffer_type", buffer_types),
};
const struct nt_proto_table nt_lance_array_buffer = TABLE("Buffer", buffer_rows);

static const struct nt_proto_field compression_rows[] = {
    TEXT(NT_LANCE_ARRAY_COMPRESSION_SCHEME, "scheme"),
    OPTIONAL_INT(NT_LANCE_ARRAY_COMPRESSION_LEVEL, "level"),
};
static const struct nt_proto_table compression = TABLE("Compression", compression_rows);

static const struct nt_proto_field flat_rows[] = {
    UINT(NT_LANCE_ARRAY_FLAT_BITS_PER_VALUE, "bits_per_value"),
    MESSAGE(NT_LANCE_ARRAY_FLAT_BUFFER, "buffer", nt_lance_array_buffer),
    MESSAGE(NT_LANCE_ARRAY_FLAT_COMPRESSION, "compression", compression),
};
static const struct nt_proto_table flat = TABLE("Flat", flat_rows);

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

static const struct nt_proto_field fixed_size_list_rows[] = {
    UINT(NT_LANCE_ARRAY_FIXED_SIZE_LIST_DIMENSION, "dimension"),
    BOOL(NT_LANCE_ARRAY_FIXED_SIZE_LIST_HAS_VALIDITY, "has_validity"),
    MESSAGE(NT_LANCE_ARRAY_FIXED_SIZE_LIST_ITEMS, "items", nt_lance_array_encoding),
};
static const struct nt_proto_table fixed_size_list = TABLE("FixedSizeList", fixed_size_list_rows);

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

static const struct nt_proto_field dictionary_rows[] = {
    UINT(NT_LANCE_ARRAY_DICTIONARY_NUM_ITEMS, "num_dictionary_items"),
    MESSAGE(NT_LANCE_ARRAY_DICTIONARY_INDICES, "indices", nt_lance_array_encoding),
    MESSAGE(NT_LANCE_ARRAY_DICTIONARY_ITEMS, "items", nt_lance_array_encoding),
};
static const struct nt_proto_table dictionary = TABLE("Dictionary", dictionary_rows);

static const struct nt_proto_field fsst_rows[] = {
    BYTES(NT_LANCE_ARRAY_FSST_SYMBOL_TABLE, "symbol_table"),
    MESSAGE(NT_LANCE_ARRAY_FSST_BINARY, "binary", nt_lance_array_encoding),
};
static const struct nt_proto_table fsst = TABLE("Fsst", fsst_rows);

static const struct nt_proto_field packed_struct_rows[] = {
    MESSAGES(NT_LANCE_ARRAY_PACKED_STRUCT_INNER, "inner", nt_lance_array_encoding),
    MESSAGE(NT_LANCE_ARRAY_PACKED_STRUCT_BUFFER, "buffer", nt_lance_array_buffer),
};
static const struct nt_proto_table packed_struct = TABLE("PackedStruct", packed_struct_rows);

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

static const struct nt_proto_field constant_rows[] = {
    BYTES(NT_LANCE_ARRAY_CONSTANT_VALUE, "value"),
};
static const struct nt_proto_table constant = TABLE("Constant", constant_rows);

/* ---- of previews ---- */

static const struct nt_proto_field inline_bitpacking_rows[] = {
    UINT(2, "uncompressed_bits_per_value"),
};
static const struct nt_proto_table inline_bitpacking = TABLE("InlineBitpacking", inline_bitpacking_rows);

static const struct nt_proto_field out_of_line_bitpacking_rows[] = {
    UINT(2, "uncompressed_bits_per_value"),
    UINT(3, "compressed_bits_per_value"),
};
static const struct nt_proto_table out_of_line_bitpacking =
    TABLE("OutOfLineBitpacking", out_of_line_bitpacking_rows);

static const struct nt_proto_field variable_rows[] = {
    UINT(1, "bits_per_offset"),
};
static const struct nt_proto_table variable = TABLE("Variable", variable_rows);

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
static const struct nt_proto_table rle = TABLE("Rle", bits_rows);
static const struct nt_proto_table byte_stream_split = TABLE("ByteStreamSplit", bits_rows);

static const struct nt_proto_field general_mini_block_rows[] = {
    MESSAGE(2, "compression", compression),
    MESSAGE(1, "inner", nt_lance_array_encoding),
};
static const struct nt_proto_table general_mini_block = TABLE("GeneralMiniBlock", general_mini_block_rows);

/* ---- the choice ---- */

static const struct nt_proto_field array_encoding_rows[] = {
    MESSAGE(NT_LANCE_ARRAY_FLAT, "flat", flat),
    MESSAGE(NT_LANCE_ARRAY_NULLABLE, "nullable", nt_lance_array_nullable),
    MESSAGE(NT_LANCE_ARRAY_FIXED_SIZE_LIST, "fixed_size_list", fixed_size_list),
    MESSAGE(NT_LANCE_ARRAY_LIST, "list", list),
    MESSAGE(NT_LANCE_ARRAY_STRUCT, "struct", nothing),
    MESSAGE(NT_LANCE_ARRAY_BINARY, "binary", binary),
    MESSAGE(NT_LANCE_ARRAY_DICTIONARY, "dictionary", dictionary),
    MESSAGE(NT_LANCE_ARRAY_FSST, "fsst", fsst),
    MESSAGE(NT_LANCE_ARRAY_PACKED_STRUCT, "packed_struct", packed_struct),
    MESSAGE(NT_LANCE_ARRAY_BITPACKED, "bitpacked", bitpacked),
    MESSAGE(NT_LANCE_ARRAY_FIXED_SIZE_BINARY, "fixed_size_binary", fixed_size_binary),
    MESSAGE(NT_LANCE_ARRAY_BITPACKED_FOR_NON_NEG, "bitpacked_for_non_neg", bitpacked_for_non_neg),
    MESSAGE(NT_LANCE_ARRAY_CONSTANT, "constant", constant),
    MESSAGE(NT_LANCE_ARRAY_INLINE_BITPACKING, "inline_bitpacking", inline_bitpacking),
    MESSAGE(NT_LANCE_ARRAY_OUT_OF_LINE_BITPACKING, "out_of_line_bitpacking", out_of_line_bitpacking),
    MESSAGE(NT_LANCE_ARRAY_VARIABLE, "variable", variable),
    MESSAGE(NT_LANCE_ARRAY_PACKED_STRUCT_MINI_BLOCK, "packed_struct_fixed_width_mini_block",
            packed_struct_mini_block),
    MESSAGE(NT_LANCE_ARRAY_BLOCK, "block", block),
    MESSAGE(NT_LANCE_ARRAY_RLE, "rle", rle),
    MESSAGE(NT_LANCE_ARRAY_GENERAL_MINI_BLOCK, "general_mini_block", general_mini_block),
    MESSAGE(NT_LANCE_ARRAY_BYTE_STREAM_SPLIT, "byte_stream_split", byte_stream_split),
};
const struct nt_proto_table nt_lance_array_encoding = CHOICE("ArrayEncoding", array_encoding_rows);
