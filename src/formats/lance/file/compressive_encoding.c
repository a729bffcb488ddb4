/* SPDX-License-Identifier: MIT
 *
 * Translates the CompressiveEncoding messages of Lance 2.1 and 2.2 into nodes of a decoding tree.
 */
#include "formats/lance/file/file.h"

#include <inttypes.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/messages.h"

enum nt_lance_compression_scheme {
    NT_LANCE_SCHEME_UNSPECIFIED = 0,
    NT_LANCE_SCHEME_LZ4 = 1,
    NT_LANCE_SCHEME_ZSTD = 2,
};

typedef enum nt_status add_node(struct nt_tree_builder *builder, struct nt_proto message,
                                uint32_t *number_ret, struct nt_error *error);

static enum nt_status add_child(struct nt_tree_builder *builder, uint32_t parent, unsigned child,
                                struct nt_proto message, uint32_t field, struct nt_error *error)
{
    uint32_t number = NT_NO_NODE;
    enum nt_status status =
        nt_lance_add_compressive(builder, nt_proto_message(message, field), &number, error);
    builder->nodes[parent].children[child] = number;
    return status;
}

/* The format allows compressed buffers, but no writer uses them. */
static enum nt_status refuse_compression(struct nt_proto message, uint32_t field, struct nt_error *error)
{
    if (!nt_proto_number(nt_proto_message(message, field), NT_LANCE_BUFFER_COMPRESSION_SCHEME))
        return NT_OK;
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read a compressed buffer of this encoding");
}

static enum nt_status add_flat(struct nt_tree_builder *builder, struct nt_proto message, uint32_t *number_ret,
                               struct nt_error *error)
{
    uint64_t bits = nt_proto_number(message, NT_LANCE_FLAT_BITS_PER_VALUE);
    enum nt_status status = nt_lance_check_bits(builder, bits, "flat values", error);
    if (status == NT_OK)
        status = refuse_compression(message, NT_LANCE_FLAT_DATA, error);
    const struct nt_tree_node node = {
        .kind = NT_TREE_FLAT, .bits = (uint32_t)bits, .buffer = builder->buffers++};
    return status == NT_OK ? nt_tree_add_node(builder, &node, number_ret, error) : status;
}

static uint64_t flat_bits(struct nt_proto encoding)
{
    return nt_proto_number(nt_proto_message(encoding, NT_LANCE_COMPRESSIVE_FLAT),
                           NT_LANCE_FLAT_BITS_PER_VALUE);
}

static enum nt_status add_variable(struct nt_tree_builder *builder, struct nt_proto message,
                                   uint32_t *number_ret, struct nt_error *error)
{
    uint64_t bits = flat_bits(nt_proto_message(message, NT_LANCE_VARIABLE_OFFSETS));
    if (bits != 32 && bits != 64)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read offsets of %" PRIu64 " bits", bits);
    enum nt_status status = refuse_compression(message, NT_LANCE_VARIABLE_VALUES, error);
    const struct nt_tree_node node = {
        .kind = NT_TREE_VARIABLE, .bits = (uint32_t)bits, .buffer = builder->buffers++};
    return status == NT_OK ? nt_tree_add_node(builder, &node, number_ret, error) : status;
}

static enum nt_status check_word(uint64_t bits, uint64_t packed_bits, struct nt_error *error)
{
    if ((bits == 8 || bits == 16 || bits == 32 || bits == 64) && packed_bits <= bits)
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "values of %" PRIu64 " bits cannot be packed into %" PRIu64 " bits", bits, packed_bits);
}

static enum nt_status add_out_of_line(struct nt_tree_builder *builder, struct nt_proto message,
                                      uint32_t *number_ret, struct nt_error *error)
{
    uint64_t bits = nt_proto_number(message, NT_LANCE_OUT_OF_LINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE);
    uint64_t packed = flat_bits(nt_proto_message(message, NT_LANCE_OUT_OF_LINE_BITPACKING_VALUES));
    enum nt_status status = check_word(bits, packed, error);
    const struct nt_tree_node node = {.kind = NT_TREE_OUT_OF_LINE_BITS,
                                      .bits = (uint32_t)bits,
                                      .packed_bits = (uint32_t)packed,
                                      .buffer = builder->buffers++};
    return status == NT_OK ? nt_tree_add_node(builder, &node, number_ret, error) : status;
}

static enum nt_status add_inline(struct nt_tree_builder *builder, struct nt_proto message,
                                 uint32_t *number_ret, struct nt_error *error)
{
    uint64_t bits = nt_proto_number(message, NT_LANCE_INLINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE);
    enum nt_status status = check_word(bits, 0, error);
    if (status == NT_OK)
        status = refuse_compression(message, NT_LANCE_INLINE_BITPACKING_VALUES, error);
    const struct nt_tree_node node = {
        .kind = NT_TREE_INLINE_BITS, .bits = (uint32_t)bits, .buffer = builder->buffers++};
    return status == NT_OK ? nt_tree_add_node(builder, &node, number_ret, error) : status;
}

static enum nt_status add_runs(struct nt_tree_builder *builder, struct nt_proto message, uint32_t *number_ret,
                               struct nt_error *error)
{
    const struct nt_tree_node node = {.kind = NT_TREE_RUNS, .buffer = builder->buffers};
    enum nt_status status = nt_tree_add_node(builder, &node, number_ret, error);
    if (status == NT_OK)
        status = add_child(builder, *number_ret, 0, message, NT_LANCE_RLE_VALUES, error);
    if (status == NT_OK)
        status = add_child(builder, *number_ret, 1, message, NT_LANCE_RLE_RUN_LENGTHS, error);
    for (unsigned i = 0; status == NT_OK && i < 2; i++) {
        const struct nt_tree_node *child = &builder->nodes[builder->nodes[*number_ret].children[i]];
        if (child->kind != NT_TREE_FLAT || child->bits % 8)
            status = nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                             "cannot read runs of the encoding %s with %" PRIu32 " bits",
                             nt_tree_node_info(child->kind)->name, child->bits);
    }
    if (status == NT_OK)
        builder->nodes[*number_ret].bits = builder->nodes[builder->nodes[*number_ret].children[0]].bits;
    return status;
}

/* Adds a node whose only child has values of the same width. */
static enum nt_status add_around(struct nt_tree_builder *builder, const struct nt_tree_node *node,
                                 struct nt_proto message, uint32_t field, uint32_t *number_ret,
                                 struct nt_error *error)
{
    enum nt_status status = nt_tree_add_node(builder, node, number_ret, error);
    if (status == NT_OK)
        status = add_child(builder, *number_ret, 0, message, field, error);
    if (status == NT_OK)
        builder->nodes[*number_ret].bits = builder->nodes[builder->nodes[*number_ret].children[0]].bits;
    return status;
}

static enum nt_status add_byte_split(struct nt_tree_builder *builder, struct nt_proto message,
                                     uint32_t *number_ret, struct nt_error *error)
{
    const struct nt_tree_node node = {.kind = NT_TREE_BYTE_SPLIT, .buffer = builder->buffers};
    return add_around(builder, &node, message, NT_LANCE_BYTE_STREAM_SPLIT_VALUES, number_ret, error);
}

static enum nt_status add_general(struct nt_tree_builder *builder, struct nt_proto message,
                                  uint32_t *number_ret, struct nt_error *error)
{
    uint64_t scheme = nt_proto_number(nt_proto_message(message, NT_LANCE_GENERAL_COMPRESSION),
                                      NT_LANCE_BUFFER_COMPRESSION_SCHEME);
    if (scheme != NT_LANCE_SCHEME_LZ4 && scheme != NT_LANCE_SCHEME_ZSTD)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "unknown compression scheme %" PRIu64, scheme);
    const struct nt_tree_node node = {.kind = NT_TREE_LENGTH_PREFIXED,
                                      .buffer = builder->buffers,
                                      .algorithm = scheme == NT_LANCE_SCHEME_LZ4 ? NT_LENGTH_PREFIXED_LZ4
                                                                                 : NT_LENGTH_PREFIXED_ZSTD};
    return add_around(builder, &node, message, NT_LANCE_GENERAL_VALUES, number_ret, error);
}

static enum nt_status add_fsst(struct nt_tree_builder *builder, struct nt_proto message, uint32_t *number_ret,
                               struct nt_error *error)
{
    struct nt_tree_node node = {.kind = NT_TREE_FSST, .buffer = builder->buffers};
    enum nt_status status =
        nt_lance_make_symbols(builder, message, NT_LANCE_FSST_SYMBOL_TABLE, &node.fsst, error);
    return status == NT_OK ? add_around(builder, &node, message, NT_LANCE_FSST_VALUES, number_ret, error)
                           : status;
}

static enum nt_status add_fixed_list(struct nt_tree_builder *builder, struct nt_proto message,
                                     uint32_t *number_ret, struct nt_error *error)
{
    const struct nt_tree_node node = {
        .kind = NT_TREE_FIXED_LIST,
        .buffer = builder->buffers,
        .items = nt_proto_number(message, NT_LANCE_FIXED_SIZE_LIST_ITEMS_PER_VALUE),
        .has_validity = nt_proto_number(message, NT_LANCE_FIXED_SIZE_LIST_HAS_VALIDITY)};
    builder->buffers += node.has_validity;
    builder->depth++;
    return add_around(builder, &node, message, NT_LANCE_FIXED_SIZE_LIST_VALUES, number_ret, error);
}

static enum nt_status add_packed(struct nt_tree_builder *builder, struct nt_proto message,
                                 uint32_t *number_ret, struct nt_error *error)
{
    const struct nt_tree_node node = {.kind = NT_TREE_PACKED, .buffer = builder->buffers};
    return add_around(builder, &node, message, NT_LANCE_PACKED_STRUCT_VALUES, number_ret, error);
}

/* Each member has its own encoding; strings are encoded one by one. */
static enum nt_status add_member(struct nt_tree_builder *builder, struct nt_proto message,
                                 struct nt_tree_member *member, struct nt_error *error)
{
    uint64_t bits = nt_proto_number(message, NT_LANCE_PACKED_MEMBER_BITS_PER_VALUE);
    uint64_t length_bits = nt_proto_number(message, NT_LANCE_PACKED_MEMBER_BITS_PER_LENGTH);
    bool is_length = length_bits == 8 || length_bits == 16 || length_bits == 32 || length_bits == 64;
    if ((bits && (bits % 8 || bits > UINT32_MAX)) || (!bits && !is_length))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "cannot read members of %" PRIu64 " bits with lengths of %" PRIu64 " bits", bits,
                       length_bits);
    *member = (struct nt_tree_member){NT_NO_NODE, (uint32_t)bits, (uint32_t)length_bits};
    return nt_lance_add_compressive(builder, nt_proto_message(message, NT_LANCE_PACKED_MEMBER_VALUE),
                                    &member->node, error);
}

static enum nt_status add_variable_packed(struct nt_tree_builder *builder, struct nt_proto message,
                                          uint32_t *number_ret, struct nt_error *error)
{
    uint64_t count = nt_proto_count(message, NT_LANCE_VARIABLE_PACKED_STRUCT_FIELDS), found = 0;
    struct nt_tree_node node = {.kind = NT_TREE_VARIABLE_PACKED, .buffer = builder->buffers++};
    struct nt_proto_item item;
    struct nt_tree_member *members = nt_arena_alloc(builder->scratch, count, sizeof(*members));
    if (!members)
        return nt_fail_memory(error);
    node.members = members;
    node.member_count = (uint32_t)count;
    enum nt_status status = nt_tree_add_node(builder, &node, number_ret, error);
    for (struct nt_proto rest = message; status == NT_OK && nt_proto_next(&rest, &item);)
        if (item.number == NT_LANCE_VARIABLE_PACKED_STRUCT_FIELDS)
            status = add_member(builder, (struct nt_proto){item.bytes, item.size}, &members[found++], error);
    return status;
}

/* A constant without a value is null. It replaces values with nulls, and fixed-size lists with lists of
 * nulls. The lists' validity or levels, if any, mark null lists; if there can be neither, all lists of
 * the page are null. */
static enum nt_status add_nulls(struct nt_tree_builder *builder, uint32_t *number_ret, struct nt_error *error)
{
    bool is_list = builder->depth < builder->value->list_count,
         are_lists_null = !builder->depth && builder->are_rows_null;
    return nt_lance_add_nulls(builder, NT_TREE_SAME, builder->depth + (is_list && !are_lists_null),
                              number_ret, error);
}

static enum nt_status add_same(struct nt_tree_builder *builder, struct nt_proto message, uint32_t *number_ret,
                               struct nt_error *error)
{
    struct nt_proto_item value = {0};
    const struct nt_lance_value *of = builder->value;
    bool has_value = nt_proto_find(message, NT_LANCE_CONSTANT_VALUE, &value);
    if (!of || nt_lance_is_string(of) || (has_value && value.size * 8 != of->bits))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "a constant of %zu bytes cannot be a value of %" PRIu32 " bits", value.size,
                       of ? of->bits : 0);
    if (!has_value)
        return add_nulls(builder, number_ret, error);
    const struct nt_tree_node node = {.kind = NT_TREE_SAME, .bits = of->bits, .value = value.bytes};
    return nt_tree_add_node(builder, &node, number_ret, error);
}

static const struct {
    uint32_t field;
    add_node *add;
} encodings[] = {
    {NT_LANCE_COMPRESSIVE_CONSTANT, add_same},
    {NT_LANCE_COMPRESSIVE_FLAT, add_flat},
    {NT_LANCE_COMPRESSIVE_VARIABLE, add_variable},
    {NT_LANCE_COMPRESSIVE_OUT_OF_LINE_BITPACKING, add_out_of_line},
    {NT_LANCE_COMPRESSIVE_INLINE_BITPACKING, add_inline},
    {NT_LANCE_COMPRESSIVE_FSST, add_fsst},
    {NT_LANCE_COMPRESSIVE_RLE, add_runs},
    {NT_LANCE_COMPRESSIVE_BYTE_STREAM_SPLIT, add_byte_split},
    {NT_LANCE_COMPRESSIVE_GENERAL, add_general},
    {NT_LANCE_COMPRESSIVE_FIXED_SIZE_LIST, add_fixed_list},
    {NT_LANCE_COMPRESSIVE_PACKED_STRUCT, add_packed},
    {NT_LANCE_COMPRESSIVE_VARIABLE_PACKED_STRUCT, add_variable_packed},
};

enum nt_status nt_lance_add_compressive(struct nt_tree_builder *builder, struct nt_proto message,
                                        uint32_t *number_ret, struct nt_error *error)
{
    struct nt_proto member = {0};
    uint32_t field = message.bytes ? nt_proto_oneof(message, &nt_lance_compressive_encoding, &member) : 0;
    for (size_t i = 0; i < sizeof(encodings) / sizeof(*encodings); i++)
        if (field == encodings[i].field)
            return encodings[i].add(builder, member, number_ret, error);
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read value encoding %" PRIu32, field);
}
