/* SPDX-License-Identifier: MIT
 *
 * Translates the encodings of values into nodes of a decoding tree: ArrayEncoding messages of Lance 2.0,
 * and CompressiveEncoding messages of 2.1 and 2.2.
 */
#include "formats/lance/file/file.h"

/* The root of what a function adds is the next node. */
typedef enum nt_status add_node(struct nt_encoding_tree_builder *builder, struct nt_proto message);

/* ---- Nodes ---- */

enum nt_status nt_lance_add_node(struct nt_encoding_tree_builder *builder,
                                 const struct nt_encoding_tree_node *node)
{
    if (builder->count == NT_LANCE_NODES)
        return nt_fail(builder->error, NT_LIMIT, NT_NO_OFFSET, "encodings are nested more than %d deep",
                       NT_LANCE_NODES);
    builder->nodes[builder->count++] = *node;
    return NT_OK;
}

static enum nt_status add_child(struct nt_encoding_tree_builder *builder, uint32_t parent, unsigned child,
                                struct nt_proto message, uint32_t field)
{
    builder->nodes[parent].children[child] = builder->count;
    return nt_lance_add_encoding(builder, nt_proto_message(message, field));
}

/* Adds a node with values as wide as those of its first child, the next node. */
static enum nt_status add_around(struct nt_encoding_tree_builder *builder,
                                 const struct nt_encoding_tree_node *node, struct nt_proto message,
                                 uint32_t field)
{
    uint32_t number = builder->count;
    NT_TRY(nt_lance_add_node(builder, node));
    NT_TRY(add_child(builder, number, 0, message, field));
    builder->nodes[number].bits = builder->nodes[number + 1].bits;
    return NT_OK;
}

/* The same with a second child. */
static enum nt_status add_around_two(struct nt_encoding_tree_builder *builder,
                                     const struct nt_encoding_tree_node *node, struct nt_proto message,
                                     uint32_t first, uint32_t second)
{
    uint32_t number = builder->count;
    NT_TRY(add_around(builder, node, message, first));
    return add_child(builder, number, 1, message, second);
}

/* Adds a placeholder for values that are not stored: `kind`, within the fixed-size lists that are not
 * added yet. Of these lists and the values, those at `null_depth` are null. */
static enum nt_status add_nulls(struct nt_encoding_tree_builder *builder,
                                enum nt_encoding_tree_node_kind kind, uint32_t null_depth)
{
    const struct nt_lance_value *value = builder->value;
    const uint32_t list_count = value ? value->list_count : 0, bits = value ? value->bits : 0;
    for (uint32_t i = builder->depth; i < list_count; i++) {
        const struct nt_encoding_tree_node list = {.kind = NT_LANCE_FIXED_LIST,
                                                   .children = {builder->count + 1},
                                                   .bits = bits,
                                                   .items = value->lists[i],
                                                   .is_null = i >= null_depth};
        NT_TRY(nt_lance_add_node(builder, &list));
    }
    const struct nt_encoding_tree_node node = {.kind = kind, .bits = bits, .is_null = true};
    return nt_lance_add_node(builder, &node);
}

/* Values have 1 bit or whole bytes of a width that memory can have. */
static enum nt_status check_bits(const struct nt_encoding_tree_builder *builder, uint64_t bits,
                                 const char *what)
{
    enum { MOST = 1 << 30 };
    bool may_be_empty = builder->value && builder->value->is_empty;
    if (bits == 1 || ((bits || may_be_empty) && bits % 8 == 0 && bits <= MOST))
        return NT_OK;
    return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read %s of %" PRIu64 " bits", what,
                   bits);
}

static enum nt_status read_symbols(const struct nt_encoding_tree_builder *builder, struct nt_proto message,
                                   uint32_t field, const struct nt_fsst **fsst_ret)
{
    struct nt_proto_item item = {0};
    struct nt_fsst *fsst = nt_arena_alloc(builder->scratch, 1, sizeof(*fsst));
    NT_TRY(nt_check_memory(fsst, builder->error));
    *fsst_ret = fsst;
    nt_proto_find(message, field, &item);
    return nt_fsst_init(fsst, item.bytes, item.size, builder->error);
}

/* ---- Array encodings ---- */

static enum nt_status find_buffer(struct nt_encoding_tree_builder *builder, struct nt_proto message,
                                  uint32_t field, uint32_t *number_ret)
{
    enum { OF_PAGE = 0 }; /* 1: of the column, 2: of the file */
    struct nt_proto buffer = nt_proto_message(message, field);
    uint64_t number = nt_proto_number(buffer, NT_LANCE_ARRAY_BUFFER_INDEX);
    *number_ret = (uint32_t)number;
    if (nt_proto_number(buffer, NT_LANCE_ARRAY_BUFFER_TYPE) == OF_PAGE && number <= UINT32_MAX)
        return NT_OK;
    return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "a page uses buffer %" PRIu64 " of a column or of the file, which cannot be read", number);
}

static enum nt_status add_array_flat(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    struct nt_text scheme = nt_proto_text(nt_proto_message(message, NT_LANCE_ARRAY_FLAT_COMPRESSION),
                                          NT_LANCE_ARRAY_COMPRESSION_SCHEME);
    uint64_t bits = nt_proto_number(message, NT_LANCE_ARRAY_FLAT_BITS_PER_VALUE);
    struct nt_encoding_tree_node node = {.kind = NT_LANCE_FLAT, .bits = (uint32_t)bits};
    NT_TRY(check_bits(builder, bits, "flat values"));
    NT_TRY(find_buffer(builder, message, NT_LANCE_ARRAY_FLAT_BUFFER, &node.buffer));
    if (!scheme.length || nt_text_is(scheme, "none"))
        return nt_lance_add_node(builder, &node);
    bool is_zstd = nt_text_is(scheme, "zstd");
    if (!is_zstd && !nt_text_is(scheme, "lz4"))
        return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET, "unknown compression scheme %.*s",
                       (int)scheme.length, scheme.bytes);
    struct nt_encoding_tree_node sized = node;
    sized.kind = NT_LANCE_LENGTH_PREFIXED;
    sized.algorithm = is_zstd ? NT_LENGTH_PREFIXED_ZSTD : NT_LENGTH_PREFIXED_LZ4;
    sized.children[0] = builder->count + 1;
    NT_TRY(nt_lance_add_node(builder, &sized));
    return nt_lance_add_node(builder, &node);
}

static enum nt_status add_array_nullable(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    struct nt_proto member = {0};
    const struct nt_encoding_tree_node node = {.kind = NT_LANCE_NULLABLE,
                                               .children = {NT_NO_NODE, NT_NO_NODE}};
    uint32_t kind = nt_proto_oneof(message, &nt_lance_array_nullable, &member);
    if (kind == NT_LANCE_ARRAY_NULLABLE_ALL_NULLS)
        return add_nulls(builder, NT_LANCE_ALL_NULL, builder->depth);
    if (kind == NT_LANCE_ARRAY_NULLABLE_NO_NULLS)
        return nt_lance_add_encoding(builder, nt_proto_message(member, NT_LANCE_ARRAY_NO_NULLS_VALUES));
    if (kind != NT_LANCE_ARRAY_NULLABLE_SOME_NULLS)
        return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read nulls of kind %" PRIu32,
                       kind);
    return add_around_two(builder, &node, member, NT_LANCE_ARRAY_SOME_NULLS_VALUES,
                          NT_LANCE_ARRAY_SOME_NULLS_VALIDITY);
}

static enum nt_status add_array_fixed_list(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    const struct nt_encoding_tree_node node = {
        .kind = NT_LANCE_FIXED_LIST,
        .items = nt_proto_number(message, NT_LANCE_ARRAY_FIXED_SIZE_LIST_DIMENSION)};
    builder->depth++;
    return add_around(builder, &node, message, NT_LANCE_ARRAY_FIXED_SIZE_LIST_ITEMS);
}

static enum nt_status add_array_list(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    const struct nt_encoding_tree_node node = {
        .kind = NT_LANCE_LIST_ENDS,
        .items = nt_proto_number(message, NT_LANCE_ARRAY_LIST_NUM_ITEMS),
        .adjustment = nt_proto_number(message, NT_LANCE_ARRAY_LIST_NULL_OFFSET_ADJUSTMENT)};
    return add_around(builder, &node, message, NT_LANCE_ARRAY_LIST_OFFSETS);
}

static enum nt_status add_array_binary(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    const struct nt_encoding_tree_node node = {
        .kind = NT_LANCE_BINARY,
        .adjustment = nt_proto_number(message, NT_LANCE_ARRAY_BINARY_NULL_ADJUSTMENT)};
    return add_around_two(builder, &node, message, NT_LANCE_ARRAY_BINARY_INDICES,
                          NT_LANCE_ARRAY_BINARY_BYTES);
}

static enum nt_status add_array_dictionary(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    const struct nt_encoding_tree_node node = {
        .kind = NT_LANCE_DICTIONARY,
        .items = nt_proto_number(message, NT_LANCE_ARRAY_DICTIONARY_NUM_ITEMS),
        .is_one_based = builder->is_one_based};
    return add_around_two(builder, &node, message, NT_LANCE_ARRAY_DICTIONARY_INDICES,
                          NT_LANCE_ARRAY_DICTIONARY_ITEMS);
}

static enum nt_status add_array_fsst(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    struct nt_encoding_tree_node node = {.kind = NT_LANCE_FSST};
    NT_TRY(read_symbols(builder, message, NT_LANCE_ARRAY_FSST_SYMBOL_TABLE, &node.fsst));
    return add_around(builder, &node, message, NT_LANCE_ARRAY_FSST_BINARY);
}

/* Adds up the bits of a packed structure's member, by building its nodes temporarily. */
static enum nt_status add_member_bits(struct nt_encoding_tree_builder *builder, struct nt_proto message,
                                      uint64_t *bits)
{
    uint32_t first = builder->count;
    uint64_t items = 1;
    NT_TRY(nt_lance_add_encoding(builder, message));
    for (uint32_t i = first; i < builder->count; i++) {
        const struct nt_encoding_tree_node *node = &builder->nodes[i];
        if (node->kind == NT_LANCE_FIXED_LIST && node->items && node->items <= UINT32_MAX &&
            items <= UINT32_MAX)
            items *= node->items;
        else if (node->kind != NT_LANCE_FLAT || node->bits % 8)
            return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                           "cannot read a packed structure with a member of the encoding %s",
                           nt_encoding_tree_node_info(node->kind)->name);
    }
    builder->count = first;
    *bits += items <= UINT32_MAX ? items * builder->nodes[first].bits : UINT32_MAX;
    return NT_OK;
}

/* Each row is one value, as wide as all members together. */
static enum nt_status add_array_packed(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    struct nt_proto member;
    uint64_t bits = 0;
    struct nt_encoding_tree_node node = {.kind = NT_LANCE_FLAT};
    const struct nt_encoding_tree_node packed = {.kind = NT_LANCE_PACKED, .children = {builder->count + 1}};
    NT_TRY(find_buffer(builder, message, NT_LANCE_ARRAY_PACKED_STRUCT_BUFFER, &node.buffer));
    while (nt_proto_next_message(&message, NT_LANCE_ARRAY_PACKED_STRUCT_INNER, &member))
        NT_TRY(add_member_bits(builder, member, &bits));
    NT_TRY(check_bits(builder, bits, "packed structures"));
    node.bits = (uint32_t)bits;
    NT_TRY(nt_lance_add_node(builder, &packed));
    return nt_lance_add_node(builder, &node);
}

/* ---- Compressive encodings ---- */

/* The format allows compressed buffers, but no writer uses them. */
static enum nt_status refuse_compression(struct nt_encoding_tree_builder *builder, struct nt_proto message,
                                         uint32_t field)
{
    if (!nt_proto_number(nt_proto_message(message, field), NT_LANCE_BUFFER_COMPRESSION_SCHEME))
        return NT_OK;
    return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "cannot read a compressed buffer of this encoding");
}

static enum nt_status add_flat(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    uint64_t bits = nt_proto_number(message, NT_LANCE_FLAT_BITS_PER_VALUE);
    NT_TRY(check_bits(builder, bits, "flat values"));
    NT_TRY(refuse_compression(builder, message, NT_LANCE_FLAT_DATA));
    const struct nt_encoding_tree_node node = {
        .kind = NT_LANCE_FLAT, .bits = (uint32_t)bits, .buffer = builder->buffers++};
    return nt_lance_add_node(builder, &node);
}

static uint64_t flat_bits(struct nt_proto encoding)
{
    return nt_proto_number(nt_proto_message(encoding, NT_LANCE_COMPRESSIVE_FLAT),
                           NT_LANCE_FLAT_BITS_PER_VALUE);
}

static enum nt_status add_variable(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    uint64_t bits = flat_bits(nt_proto_message(message, NT_LANCE_VARIABLE_OFFSETS));
    if (bits != 32 && bits != 64)
        return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "cannot read offsets of %" PRIu64 " bits", bits);
    NT_TRY(refuse_compression(builder, message, NT_LANCE_VARIABLE_VALUES));
    const struct nt_encoding_tree_node node = {
        .kind = NT_LANCE_VARIABLE, .bits = (uint32_t)bits, .buffer = builder->buffers++};
    return nt_lance_add_node(builder, &node);
}

static enum nt_status add_bits(struct nt_encoding_tree_builder *builder, enum nt_encoding_tree_node_kind kind,
                               uint64_t bits, uint64_t packed_bits)
{
    const struct nt_encoding_tree_node node = {.kind = kind,
                                               .bits = (uint32_t)bits,
                                               .packed_bits = (uint32_t)packed_bits,
                                               .buffer = builder->buffers++};
    if (nt_is_number(bits) && packed_bits <= bits)
        return nt_lance_add_node(builder, &node);
    return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                   "values of %" PRIu64 " bits cannot be packed into %" PRIu64 " bits", bits, packed_bits);
}

static enum nt_status add_out_of_line(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    return add_bits(builder, NT_LANCE_OUT_OF_LINE_BITS,
                    nt_proto_number(message, NT_LANCE_OUT_OF_LINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE),
                    flat_bits(nt_proto_message(message, NT_LANCE_OUT_OF_LINE_BITPACKING_VALUES)));
}

static enum nt_status add_inline(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    NT_TRY(add_bits(builder, NT_LANCE_INLINE_BITS,
                    nt_proto_number(message, NT_LANCE_INLINE_BITPACKING_UNCOMPRESSED_BITS_PER_VALUE), 0));
    return refuse_compression(builder, message, NT_LANCE_INLINE_BITPACKING_VALUES);
}

static enum nt_status add_runs(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    const struct nt_encoding_tree_node node = {.kind = NT_LANCE_RUNS, .buffer = builder->buffers};
    uint32_t number = builder->count;
    NT_TRY(add_around_two(builder, &node, message, NT_LANCE_RLE_VALUES, NT_LANCE_RLE_RUN_LENGTHS));
    for (unsigned i = 0; i < 2; i++) {
        const struct nt_encoding_tree_node *child = &builder->nodes[builder->nodes[number].children[i]];
        if (child->kind != NT_LANCE_FLAT || child->bits % 8)
            return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                           "cannot read runs of the encoding %s with %" PRIu32 " bits",
                           nt_encoding_tree_node_info(child->kind)->name, child->bits);
    }
    return NT_OK;
}

static enum nt_status add_byte_split(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    const struct nt_encoding_tree_node node = {.kind = NT_LANCE_BYTE_SPLIT, .buffer = builder->buffers};
    return add_around(builder, &node, message, NT_LANCE_BYTE_STREAM_SPLIT_VALUES);
}

static enum nt_status add_general(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    enum { LZ4 = 1, ZSTD = 2 };
    uint64_t scheme = nt_proto_number(nt_proto_message(message, NT_LANCE_GENERAL_COMPRESSION),
                                      NT_LANCE_BUFFER_COMPRESSION_SCHEME);
    if (scheme != LZ4 && scheme != ZSTD)
        return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET, "unknown compression scheme %" PRIu64,
                       scheme);
    const struct nt_encoding_tree_node node = {.kind = NT_LANCE_LENGTH_PREFIXED,
                                               .buffer = builder->buffers,
                                               .algorithm = scheme == LZ4 ? NT_LENGTH_PREFIXED_LZ4
                                                                          : NT_LENGTH_PREFIXED_ZSTD};
    return add_around(builder, &node, message, NT_LANCE_GENERAL_VALUES);
}

static enum nt_status add_fsst(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    struct nt_encoding_tree_node node = {.kind = NT_LANCE_FSST, .buffer = builder->buffers};
    NT_TRY(read_symbols(builder, message, NT_LANCE_FSST_SYMBOL_TABLE, &node.fsst));
    return add_around(builder, &node, message, NT_LANCE_FSST_VALUES);
}

static enum nt_status add_fixed_list(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    const struct nt_encoding_tree_node node = {
        .kind = NT_LANCE_FIXED_LIST,
        .buffer = builder->buffers,
        .items = nt_proto_number(message, NT_LANCE_FIXED_SIZE_LIST_ITEMS_PER_VALUE),
        .has_validity = nt_proto_number(message, NT_LANCE_FIXED_SIZE_LIST_HAS_VALIDITY)};
    builder->buffers += node.has_validity;
    builder->depth++;
    return add_around(builder, &node, message, NT_LANCE_FIXED_SIZE_LIST_VALUES);
}

static enum nt_status add_packed(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    const struct nt_encoding_tree_node node = {.kind = NT_LANCE_PACKED, .buffer = builder->buffers};
    return add_around(builder, &node, message, NT_LANCE_PACKED_STRUCT_VALUES);
}

/* Each member has its own encoding; strings are encoded one by one. */
static enum nt_status add_member(struct nt_encoding_tree_builder *builder, struct nt_proto message,
                                 struct nt_lance_member *member)
{
    uint64_t bits = nt_proto_number(message, NT_LANCE_PACKED_MEMBER_BITS_PER_VALUE);
    uint64_t length_bits = nt_proto_number(message, NT_LANCE_PACKED_MEMBER_BITS_PER_LENGTH);
    if (bits ? bits % 8 || bits > UINT32_MAX : !nt_is_number(length_bits))
        return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "cannot read members of %" PRIu64 " bits with lengths of %" PRIu64 " bits", bits,
                       length_bits);
    *member = (struct nt_lance_member){builder->count, (uint32_t)bits, (uint32_t)length_bits};
    return nt_lance_add_encoding(builder, nt_proto_message(message, NT_LANCE_PACKED_MEMBER_VALUE));
}

static enum nt_status add_variable_packed(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    uint64_t count = nt_proto_count(message, NT_LANCE_VARIABLE_PACKED_STRUCT_FIELDS);
    struct nt_lance_member *member = nt_arena_alloc(builder->scratch, count, sizeof(*member));
    const struct nt_encoding_tree_node node = {.kind = NT_LANCE_VARIABLE_PACKED,
                                               .buffer = builder->buffers++,
                                               .members = member,
                                               .member_count = (uint32_t)count};
    struct nt_proto field;
    NT_TRY(nt_check_memory(member, builder->error));
    NT_TRY(nt_lance_add_node(builder, &node));
    while (nt_proto_next_message(&message, NT_LANCE_VARIABLE_PACKED_STRUCT_FIELDS, &field))
        NT_TRY(add_member(builder, field, member++));
    return NT_OK;
}

/* A constant without a value is null. It replaces values with nulls, and fixed-size lists with lists of
 * nulls. The lists' validity or levels, if any, mark null lists; if there can be neither, all lists of
 * the page are null. */
static enum nt_status add_constant(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    struct nt_proto_item value = {0};
    const struct nt_lance_value *of = builder->value;
    bool has_value = nt_proto_find(message, NT_LANCE_CONSTANT_VALUE, &value);
    if (!of || nt_lance_is_string(of) || (has_value && value.size * 8 != of->bits))
        return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "a constant of %zu bytes cannot be a value of %" PRIu32 " bits", value.size,
                       of ? of->bits : 0);
    bool is_list = builder->depth < of->list_count,
         are_lists_null = !builder->depth && builder->are_rows_null;
    if (!has_value)
        return add_nulls(builder, NT_LANCE_SAME, builder->depth + (is_list && !are_lists_null));
    const struct nt_encoding_tree_node node = {.kind = NT_LANCE_SAME, .bits = of->bits, .value = value.bytes};
    return nt_lance_add_node(builder, &node);
}

/* ---- Tables ---- */

static add_node *const array_encodings[] = {
    [NT_LANCE_ARRAY_FLAT] = add_array_flat,
    [NT_LANCE_ARRAY_NULLABLE] = add_array_nullable,
    [NT_LANCE_ARRAY_FIXED_SIZE_LIST] = add_array_fixed_list,
    [NT_LANCE_ARRAY_LIST] = add_array_list,
    [NT_LANCE_ARRAY_BINARY] = add_array_binary,
    [NT_LANCE_ARRAY_DICTIONARY] = add_array_dictionary,
    [NT_LANCE_ARRAY_FSST] = add_array_fsst,
    [NT_LANCE_ARRAY_PACKED_STRUCT] = add_array_packed,
};

static add_node *const compressive_encodings[] = {
    [NT_LANCE_COMPRESSIVE_CONSTANT] = add_constant,
    [NT_LANCE_COMPRESSIVE_FLAT] = add_flat,
    [NT_LANCE_COMPRESSIVE_VARIABLE] = add_variable,
    [NT_LANCE_COMPRESSIVE_OUT_OF_LINE_BITPACKING] = add_out_of_line,
    [NT_LANCE_COMPRESSIVE_INLINE_BITPACKING] = add_inline,
    [NT_LANCE_COMPRESSIVE_FSST] = add_fsst,
    [NT_LANCE_COMPRESSIVE_RLE] = add_runs,
    [NT_LANCE_COMPRESSIVE_BYTE_STREAM_SPLIT] = add_byte_split,
    [NT_LANCE_COMPRESSIVE_GENERAL] = add_general,
    [NT_LANCE_COMPRESSIVE_FIXED_SIZE_LIST] = add_fixed_list,
    [NT_LANCE_COMPRESSIVE_PACKED_STRUCT] = add_packed,
    [NT_LANCE_COMPRESSIVE_VARIABLE_PACKED_STRUCT] = add_variable_packed,
};

enum nt_status nt_lance_add_encoding(struct nt_encoding_tree_builder *builder, struct nt_proto message)
{
    bool is_array = builder->tree.layout == NT_LANCE_ARRAY;
    add_node *const *encodings = is_array ? array_encodings : compressive_encodings;
    size_t count = (is_array ? sizeof(array_encodings) : sizeof(compressive_encodings)) / sizeof(*encodings);
    struct nt_proto member = {0};
    uint32_t field = 0;
    if (message.bytes)
        field = nt_proto_oneof(message, is_array ? &nt_lance_array_encoding : &nt_lance_compressive_encoding,
                               &member);
    if (field < count && encodings[field])
        return encodings[field](builder, member);
    return nt_fail(builder->error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read %s encoding %" PRIu32,
                   is_array ? "array" : "value", field);
}
