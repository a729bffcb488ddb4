/* SPDX-License-Identifier: MIT
 *
 * Translates the ArrayEncoding messages of Lance 2.0 into nodes of a decoding tree.
 */
#include "formats/lance/file/file.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/messages.h"

/* The owner of the buffers that an index refers to. */
enum nt_lance_buffer_type {
    NT_LANCE_BUFFER_OF_PAGE = 0,
    NT_LANCE_BUFFER_OF_COLUMN = 1,
    NT_LANCE_BUFFER_OF_FILE = 2,
};

struct adding {
    struct nt_tree_builder *builder;
    bool is_one_based;
};

typedef enum nt_status add_node(const struct adding *adding, struct nt_proto message, uint32_t *number_ret,
                                struct nt_error *error);

static enum nt_status add(const struct adding *adding, struct nt_proto message, uint32_t *number_ret,
                          struct nt_error *error);

static enum nt_status add_child(const struct adding *adding, uint32_t parent, unsigned child,
                                struct nt_proto message, uint32_t field, struct nt_error *error)
{
    uint32_t number = NT_NO_NODE;
    enum nt_status status = add(adding, nt_proto_message(message, field), &number, error);
    adding->builder->nodes[parent].children[child] = number;
    return status;
}

/* Adds a node with the same values as its only child. */
static enum nt_status add_around(const struct adding *adding, const struct nt_tree_node *node,
                                 struct nt_proto message, uint32_t field, uint32_t *number_ret,
                                 struct nt_error *error)
{
    enum nt_status status = nt_tree_add_node(adding->builder, node, number_ret, error);
    if (status == NT_OK)
        status = add_child(adding, *number_ret, 0, message, field, error);
    if (status == NT_OK)
        adding->builder->nodes[*number_ret].bits =
            adding->builder->nodes[adding->builder->nodes[*number_ret].children[0]].bits;
    return status;
}

static enum nt_status find_buffer(struct nt_proto message, uint32_t field, uint32_t *number_ret,
                                  struct nt_error *error)
{
    struct nt_proto buffer = nt_proto_message(message, field);
    uint64_t number = nt_proto_number(buffer, NT_LANCE_ARRAY_BUFFER_INDEX),
             type = nt_proto_number(buffer, NT_LANCE_ARRAY_BUFFER_TYPE);
    *number_ret = (uint32_t)number;
    if (type != NT_LANCE_BUFFER_OF_PAGE || number > UINT32_MAX)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "a page uses buffer %" PRIu64 " of a column or of the file, which cannot be read",
                       number);
    return NT_OK;
}

static enum nt_status add_flat(const struct adding *adding, struct nt_proto message, uint32_t *number_ret,
                               struct nt_error *error)
{
    struct nt_text scheme = nt_proto_text(nt_proto_message(message, NT_LANCE_ARRAY_FLAT_COMPRESSION),
                                          NT_LANCE_ARRAY_COMPRESSION_SCHEME);
    uint64_t bits = nt_proto_number(message, NT_LANCE_ARRAY_FLAT_BITS_PER_VALUE);
    struct nt_tree_node node = {.kind = NT_TREE_FLAT, .bits = (uint32_t)bits};
    enum nt_status status = nt_lance_check_bits(adding->builder, bits, "flat values", error);
    if (status == NT_OK)
        status = find_buffer(message, NT_LANCE_ARRAY_FLAT_BUFFER, &node.buffer, error);
    if (status != NT_OK || !scheme.length || nt_text_is(scheme, "none"))
        return status == NT_OK ? nt_tree_add_node(adding->builder, &node, number_ret, error) : status;
    bool is_zstd = nt_text_is(scheme, "zstd");
    if (!is_zstd && !nt_text_is(scheme, "lz4"))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "unknown compression scheme %.*s",
                       (int)scheme.length, scheme.bytes);
    const struct nt_tree_node sized = {.kind = NT_TREE_LENGTH_PREFIXED,
                                       .buffer = node.buffer,
                                       .bits = node.bits,
                                       .algorithm =
                                           is_zstd ? NT_LENGTH_PREFIXED_ZSTD : NT_LENGTH_PREFIXED_LZ4};
    uint32_t child;
    status = nt_tree_add_node(adding->builder, &sized, number_ret, error);
    if (status == NT_OK)
        status = nt_tree_add_node(adding->builder, &node, &child, error);
    if (status == NT_OK)
        adding->builder->nodes[*number_ret].children[0] = child;
    return status;
}

static enum nt_status add_nullable(const struct adding *adding, struct nt_proto message, uint32_t *number_ret,
                                   struct nt_error *error)
{
    struct nt_proto member = {0};
    const struct nt_tree_node node = {.kind = NT_TREE_NULLABLE, .children = {NT_NO_NODE, NT_NO_NODE}};
    uint32_t kind = nt_proto_oneof(message, &nt_lance_array_nullable, &member);
    if (kind == NT_LANCE_ARRAY_NULLABLE_ALL_NULLS)
        return nt_lance_add_nulls(adding->builder, NT_TREE_ALL_NULL, adding->builder->depth, number_ret,
                                  error);
    if (kind == NT_LANCE_ARRAY_NULLABLE_NO_NULLS)
        return add(adding, nt_proto_message(member, NT_LANCE_ARRAY_NO_NULLS_VALUES), number_ret, error);
    if (kind != NT_LANCE_ARRAY_NULLABLE_SOME_NULLS)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read nulls of kind %" PRIu32, kind);
    enum nt_status status =
        add_around(adding, &node, member, NT_LANCE_ARRAY_SOME_NULLS_VALUES, number_ret, error);
    return status == NT_OK
               ? add_child(adding, *number_ret, 1, member, NT_LANCE_ARRAY_SOME_NULLS_VALIDITY, error)
               : status;
}

static enum nt_status add_fixed_list(const struct adding *adding, struct nt_proto message,
                                     uint32_t *number_ret, struct nt_error *error)
{
    const struct nt_tree_node node = {.kind = NT_TREE_FIXED_LIST,
                                      .items =
                                          nt_proto_number(message, NT_LANCE_ARRAY_FIXED_SIZE_LIST_DIMENSION)};
    adding->builder->depth++;
    return add_around(adding, &node, message, NT_LANCE_ARRAY_FIXED_SIZE_LIST_ITEMS, number_ret, error);
}

static enum nt_status add_list(const struct adding *adding, struct nt_proto message, uint32_t *number_ret,
                               struct nt_error *error)
{
    const struct nt_tree_node node = {
        .kind = NT_TREE_LIST_ENDS,
        .items = nt_proto_number(message, NT_LANCE_ARRAY_LIST_NUM_ITEMS),
        .adjustment = nt_proto_number(message, NT_LANCE_ARRAY_LIST_NULL_OFFSET_ADJUSTMENT)};
    return add_around(adding, &node, message, NT_LANCE_ARRAY_LIST_OFFSETS, number_ret, error);
}

static enum nt_status add_binary(const struct adding *adding, struct nt_proto message, uint32_t *number_ret,
                                 struct nt_error *error)
{
    const struct nt_tree_node node = {.kind = NT_TREE_BINARY,
                                      .adjustment =
                                          nt_proto_number(message, NT_LANCE_ARRAY_BINARY_NULL_ADJUSTMENT)};
    enum nt_status status =
        add_around(adding, &node, message, NT_LANCE_ARRAY_BINARY_INDICES, number_ret, error);
    return status == NT_OK ? add_child(adding, *number_ret, 1, message, NT_LANCE_ARRAY_BINARY_BYTES, error)
                           : status;
}

static enum nt_status add_dictionary(const struct adding *adding, struct nt_proto message,
                                     uint32_t *number_ret, struct nt_error *error)
{
    const struct nt_tree_node node = {.kind = NT_TREE_DICTIONARY,
                                      .items = nt_proto_number(message, NT_LANCE_ARRAY_DICTIONARY_NUM_ITEMS),
                                      .is_one_based = adding->is_one_based};
    enum nt_status status =
        add_around(adding, &node, message, NT_LANCE_ARRAY_DICTIONARY_INDICES, number_ret, error);
    return status == NT_OK
               ? add_child(adding, *number_ret, 1, message, NT_LANCE_ARRAY_DICTIONARY_ITEMS, error)
               : status;
}

static enum nt_status add_fsst(const struct adding *adding, struct nt_proto message, uint32_t *number_ret,
                               struct nt_error *error)
{
    struct nt_tree_node node = {.kind = NT_TREE_FSST};
    enum nt_status status =
        nt_lance_make_symbols(adding->builder, message, NT_LANCE_ARRAY_FSST_SYMBOL_TABLE, &node.fsst, error);
    return status == NT_OK ? add_around(adding, &node, message, NT_LANCE_ARRAY_FSST_BINARY, number_ret, error)
                           : status;
}

/* Adds up the bits of a packed structure's member, by building its nodes temporarily. */
static enum nt_status member_bits(const struct adding *adding, struct nt_proto message, uint64_t *bits,
                                  struct nt_error *error)
{
    uint32_t number, first = adding->builder->count;
    enum nt_status status = add(adding, message, &number, error);
    uint64_t items = 1;
    for (uint32_t i = first; status == NT_OK && i < adding->builder->count; i++) {
        const struct nt_tree_node *node = &adding->builder->nodes[i];
        if (node->kind == NT_TREE_FIXED_LIST && node->items && node->items <= UINT32_MAX &&
            items <= UINT32_MAX)
            items *= node->items;
        else if (node->kind != NT_TREE_FLAT || node->bits % 8)
            return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                           "cannot read a packed structure with a member of the encoding %s",
                           nt_tree_node_info(node->kind)->name);
    }
    adding->builder->count = first;
    *bits +=
        status == NT_OK && items <= UINT32_MAX ? items * adding->builder->nodes[number].bits : UINT32_MAX;
    return status;
}

/* Each row is one value, as wide as all members together. */
static enum nt_status add_packed(const struct adding *adding, struct nt_proto message, uint32_t *number_ret,
                                 struct nt_error *error)
{
    struct nt_proto_item item;
    uint64_t bits = 0;
    struct nt_tree_node node = {.kind = NT_TREE_FLAT};
    const struct nt_tree_node packed = {.kind = NT_TREE_PACKED, .children = {adding->builder->count + 1}};
    uint32_t child;
    enum nt_status status = find_buffer(message, NT_LANCE_ARRAY_PACKED_STRUCT_BUFFER, &node.buffer, error);
    for (struct nt_proto rest = message; status == NT_OK && nt_proto_next(&rest, &item);)
        if (item.number == NT_LANCE_ARRAY_PACKED_STRUCT_INNER)
            status = member_bits(adding, (struct nt_proto){item.bytes, item.size}, &bits, error);
    if (status == NT_OK)
        status = nt_lance_check_bits(adding->builder, bits, "packed structures", error);
    node.bits = (uint32_t)bits;
    if (status == NT_OK)
        status = nt_tree_add_node(adding->builder, &packed, number_ret, error);
    return status == NT_OK ? nt_tree_add_node(adding->builder, &node, &child, error) : status;
}

static const struct {
    uint32_t field;
    add_node *add;
} encodings[] = {
    {NT_LANCE_ARRAY_FLAT, add_flat},
    {NT_LANCE_ARRAY_NULLABLE, add_nullable},
    {NT_LANCE_ARRAY_FIXED_SIZE_LIST, add_fixed_list},
    {NT_LANCE_ARRAY_LIST, add_list},
    {NT_LANCE_ARRAY_BINARY, add_binary},
    {NT_LANCE_ARRAY_DICTIONARY, add_dictionary},
    {NT_LANCE_ARRAY_FSST, add_fsst},
    {NT_LANCE_ARRAY_PACKED_STRUCT, add_packed},
};

static enum nt_status add(const struct adding *adding, struct nt_proto message, uint32_t *number_ret,
                          struct nt_error *error)
{
    struct nt_proto member = {0};
    uint32_t field = message.bytes ? nt_proto_oneof(message, &nt_lance_array_encoding, &member) : 0;
    for (size_t i = 0; i < sizeof(encodings) / sizeof(*encodings); i++)
        if (field == encodings[i].field)
            return encodings[i].add(adding, member, number_ret, error);
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read array encoding %" PRIu32, field);
}

enum nt_status nt_lance_add_array(struct nt_tree_builder *builder, struct nt_proto message,
                                  bool is_dictionary_one_based, uint32_t *number_ret, struct nt_error *error)
{
    const struct adding adding = {builder, is_dictionary_one_based};
    return add(&adding, message, number_ret, error);
}
