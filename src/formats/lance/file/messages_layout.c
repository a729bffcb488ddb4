/* SPDX-License-Identifier: MIT
 *
 * The tables of the messages that say how a page of Lance 2.1 and 2.2 is laid out and compressed: PageLayout,
 * CompressiveEncoding, and what is in them (lance's protos/encodings_v2_1.proto).
 */
#include "formats/lance/file/rows.h"

/* ---- compression ---- */

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

/* ---- layouts ---- */

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
