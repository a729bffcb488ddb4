/* SPDX-License-Identifier: MIT
 *
 * Builds the decoding tree of a page from its PageLayout or ArrayEncoding message. A dataset keeps equal
 * trees once, whatever number of pages use them.
 */
#include "formats/lance/file/page_list.h"

/* A link of nt_file.kept. */
struct kept_tree {
    struct nt_hash_link link;
    struct nt_encoding_tree tree;
};

/* ---- Equality ---- */

static bool are_bytes_equal(const void *a, const void *b, size_t bytes)
{
    return !a == !b && (!a || !bytes || !memcmp(a, b, bytes));
}

static bool are_nodes_equal(const struct nt_encoding_tree_node *a, const struct nt_encoding_tree_node *b)
{
    return a->kind == b->kind && !memcmp(a->children, b->children, sizeof(a->children)) &&
           a->buffer == b->buffer && a->bits == b->bits && a->packed_bits == b->packed_bits &&
           a->algorithm == b->algorithm && a->has_validity == b->has_validity &&
           a->is_one_based == b->is_one_based && a->is_null == b->is_null && a->items == b->items &&
           a->adjustment == b->adjustment && a->member_count == b->member_count &&
           are_bytes_equal(a->value, b->value, a->bits / 8) &&
           are_bytes_equal(a->fsst, b->fsst, sizeof(*a->fsst)) &&
           (!a->member_count || !memcmp(a->members, b->members, a->member_count * sizeof(*a->members)));
}

static bool are_trees_equal(const struct nt_encoding_tree *a, const struct nt_encoding_tree *b)
{
    bool is_equal = a->layout == b->layout && a->node_count == b->node_count && a->values == b->values &&
                    a->repetition == b->repetition && a->definition == b->definition &&
                    a->has_dictionary == b->has_dictionary && a->has_large_chunk == b->has_large_chunk &&
                    a->buffers == b->buffers && a->repetition_bits == b->repetition_bits &&
                    a->definition_bits == b->definition_bits && a->value_bits == b->value_bits &&
                    a->offset_bits == b->offset_bits && a->value_bytes == b->value_bytes &&
                    a->has_value_part == b->has_value_part && a->repetition_count == b->repetition_count &&
                    a->definition_count == b->definition_count && a->part_count == b->part_count &&
                    a->is_whole == b->is_whole && a->layer_count == b->layer_count &&
                    !memcmp(a->layers, b->layers, a->layer_count) &&
                    are_bytes_equal(a->value, b->value, a->value_bytes);
    for (uint32_t i = 0; is_equal && i < a->part_count; i++)
        is_equal = a->parts[i].offset == b->parts[i].offset && a->parts[i].bytes == b->parts[i].bytes;
    for (uint32_t i = 0; is_equal && i < a->node_count; i++)
        is_equal = are_nodes_equal(&a->nodes[i], &b->nodes[i]);
    return is_equal;
}

/* Hashes only what is likely to differ between the trees of many files. */
static uint64_t hash_of(const struct nt_encoding_tree *tree, uint64_t seed)
{
    const uint64_t counts[] = {tree->layout,           tree->node_count,       tree->is_whole,
                               tree->repetition_count, tree->definition_count, tree->value_bits};
    uint64_t hash = nt_xxh3_seeded(counts, sizeof(counts), seed);
    if (tree->value)
        hash = hash * 3 + nt_xxh3_seeded(tree->value, tree->value_bytes, seed);
    if (tree->part_count)
        hash = hash * 3 + nt_xxh3_seeded(tree->parts, tree->part_count * sizeof(*tree->parts), seed);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct nt_encoding_tree_node *node = &tree->nodes[i];
        const uint64_t numbers[] = {node->kind, node->bits, node->packed_bits, node->items, node->adjustment};
        hash = hash * 3 + nt_xxh3_seeded(numbers, sizeof(numbers), seed);
        if (node->value)
            hash = hash * 3 + nt_xxh3_seeded(node->value, node->bits / 8, seed);
        if (node->fsst)
            hash = hash * 3 + nt_xxh3_seeded(node->fsst, sizeof(*node->fsst), seed);
    }
    return hash;
}

/* ---- Copies ---- */

/* Replaces bytes, unless they are NULL, by a copy; false without memory. */
static bool copy(struct nt_arena *arena, const void **bytes, size_t count)
{
    return !*bytes || (*bytes = nt_arena_copy(arena, *bytes, count));
}

static bool copy_node(struct nt_arena *arena, struct nt_encoding_tree_node *node)
{
    return copy(arena, (const void **)&node->value, node->bits / 8) &&
           copy(arena, (const void **)&node->fsst, sizeof(*node->fsst)) &&
           copy(arena, (const void **)&node->members, node->member_count * sizeof(*node->members));
}

static bool copy_tree(struct nt_arena *arena, const struct nt_encoding_tree *tree,
                      struct nt_encoding_tree *made)
{
    struct nt_encoding_tree_node *nodes = nt_arena_alloc(arena, (size_t)tree->node_count + 1, sizeof(*nodes));
    bool are_copied = nodes;
    *made = *tree;
    made->nodes = nodes;
    for (uint32_t i = 0; are_copied && i < tree->node_count; i++) {
        nodes[i] = tree->nodes[i];
        are_copied = copy_node(arena, &nodes[i]);
    }
    return are_copied && copy(arena, (const void **)&made->value, made->value_bytes) &&
           copy(arena, (const void **)&made->parts, made->part_count * sizeof(*made->parts));
}

/* Returns the memory of a tree in addition to its nodes and parts. */
static uint64_t bytes_of(const struct nt_encoding_tree *tree)
{
    uint64_t bytes = tree->value ? tree->value_bytes : 0;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct nt_encoding_tree_node *node = &tree->nodes[i];
        bytes += (node->value ? node->bits / 8 : 0) + (node->fsst ? sizeof(*node->fsst) : 0) +
                 node->member_count * sizeof(*node->members);
    }
    return bytes;
}

/* ---- Find or add a tree ---- */

static enum nt_status add_tree(struct nt_file *file, const struct nt_encoding_tree *tree, uint64_t hash,
                               const struct nt_encoding_tree **tree_ret, struct nt_error *error)
{
    NT_TRY(nt_budget_take(&file->budget, NT_COST_STEP, UINT64_C(1) + tree->node_count + tree->part_count,
                          NT_NO_OFFSET, error));
    NT_TRY(nt_budget_take(&file->budget, NT_COST_ENVELOPE_BYTE, bytes_of(tree), NT_NO_OFFSET, error));
    struct kept_tree *kept = nt_arena_alloc(file->arena, 1, sizeof(*kept));
    NT_TRY(nt_check_memory(kept && copy_tree(file->arena, tree, &kept->tree), error));
    nt_hash_table_insert(&file->kept, &kept->link, hash);
    *tree_ret = &kept->tree;
    return NT_OK;
}

enum nt_status nt_lance_keep_tree(struct nt_file *file, const struct nt_encoding_tree *known,
                                  const struct nt_encoding_tree *tree,
                                  const struct nt_encoding_tree **tree_ret, struct nt_error *error)
{
    *tree_ret = known;
    if (known && are_trees_equal(tree, known))
        return NT_OK;
    NT_TRY(nt_check_memory(file->kept.buckets || nt_hash_table_init(&file->kept), error));
    uint64_t hash = hash_of(tree, file->kept.seed);
    for (struct nt_hash_link *link = nt_hash_table_find(&file->kept, hash); link;
         link = nt_hash_table_next(link)) {
        *tree_ret = &NT_CONTAINER_OF(link, struct kept_tree, link)->tree;
        if (are_trees_equal(tree, *tree_ret))
            return NT_OK;
    }
    return add_tree(file, tree, hash, tree_ret, error);
}

enum nt_status nt_lance_keep_state(struct nt_file *file, const struct nt_decoder *decoder, void *state,
                                   struct nt_error *error)
{
    struct nt_lance_decoder_state *kept = state;
    return nt_lance_decoder_state_of(decoder) ? nt_lance_keep_tree(file, NULL, kept->tree, &kept->tree, error)
                                              : NT_OK;
}

/* ---- Page layouts ---- */

enum { MAX_PARTS = 16 };

/* The inputs of all layouts. */
struct tree_inputs {
    struct nt_file *file;
    struct nt_arena *scratch;
    const struct nt_lance_column *column;
    const struct nt_lance_page *page;
    const struct nt_lance_value *value;
    const struct nt_encoding_tree *known;
    struct nt_lance_layout *layout;
    bool is_dictionary_one_based;
    struct nt_error *error;
};

/* `value`: of the column; NULL: the nodes are of something else. */
static struct nt_encoding_tree_builder
start(const struct tree_inputs *inputs, enum nt_lance_layout_kind layout, const struct nt_lance_value *value)
{
    return (struct nt_encoding_tree_builder){
        .scratch = inputs->scratch,
        .value = value,
        .is_one_based = inputs->is_dictionary_one_based,
        .tree = {.layout = layout, .values = NT_NO_NODE, .repetition = NT_NO_NODE, .definition = NT_NO_NODE},
        .error = inputs->error};
}

static enum nt_status keep(const struct tree_inputs *inputs, struct nt_encoding_tree_builder *builder,
                           const struct nt_encoding_tree *known, const struct nt_encoding_tree **tree_ret)
{
    builder->tree.nodes = builder->nodes;
    builder->tree.node_count = builder->count;
    return nt_lance_keep_tree(inputs->file, known, &builder->tree, tree_ret, inputs->error);
}

/* Adds the buffers of a page that is read as a whole. */
static enum nt_status add_parts(const struct tree_inputs *inputs, struct nt_encoding_tree *tree,
                                struct nt_lance_buffer parts[MAX_PARTS])
{
    const struct nt_lance_page *page = inputs->page;
    if (page->buffer_count > MAX_PARTS)
        return nt_fail_above(inputs->error, NT_LIMIT, NT_NO_OFFSET, "buffers of a page", MAX_PARTS,
                             page->buffer_count);
    nt_lance_page_parts(page, page->buffer_count, parts);
    tree->parts = parts;
    tree->part_count = page->buffer_count;
    return NT_OK;
}

static enum nt_status add_layers(struct nt_proto message, uint32_t field, struct nt_encoding_tree *tree,
                                 struct nt_error *error)
{
    struct nt_proto_numbers numbers = nt_proto_numbers(message, field);
    for (uint64_t layer; nt_proto_next_number(&numbers, &layer);) {
        if (tree->layer_count == NT_LANCE_LAYERS)
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a value has more than %d layers", NT_LANCE_LAYERS);
        if (layer == NT_LAYER_NONE || layer >= NT_LAYER_COUNT)
            return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                           "cannot read layer %" PRIu64 " around a value", layer);
        tree->layers[tree->layer_count++] = (uint8_t)layer;
    }
    if (!tree->layer_count)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a page has no layers around its values");
    return NT_OK;
}

static enum nt_status add_encoding(struct nt_encoding_tree_builder *builder, struct nt_proto encoding,
                                   uint32_t *number_ret)
{
    *number_ret = builder->count;
    return nt_lance_add_encoding(builder, encoding);
}

/* Adds the encodings of both levels, if they have any. */
static enum nt_status add_levels(struct nt_encoding_tree_builder *builder, struct nt_proto repetition,
                                 struct nt_proto definition)
{
    builder->value = NULL;
    if (repetition.bytes)
        NT_TRY(add_encoding(builder, repetition, &builder->tree.repetition));
    return definition.bytes ? add_encoding(builder, definition, &builder->tree.definition) : NT_OK;
}

/* ---- Mini-blocks ---- */

static enum nt_status make_dictionary(const struct tree_inputs *inputs, struct nt_proto message)
{
    struct nt_lance_layout *layout = inputs->layout;
    struct nt_encoding_tree_builder builder = start(inputs, NT_LANCE_BLOCK, NULL);
    struct nt_proto encoding = nt_proto_message(message, NT_LANCE_MINI_BLOCK_DICTIONARY);
    if (!encoding.bytes)
        return NT_OK;
    layout->dictionary_buffer = 2; /* after metadata and chunks */
    layout->dictionary_items = nt_proto_number(message, NT_LANCE_MINI_BLOCK_NUM_DICTIONARY_ITEMS);
    NT_TRY(add_encoding(&builder, encoding, &builder.tree.values));
    return keep(inputs, &builder, NULL, &layout->dictionary);
}

/* Do neither these layers of a page nor those of any other page of the column mark null values? Lance's
 * reader combines the layers of a column's pages. */
static bool is_uncounted(const struct tree_inputs *inputs, const struct nt_encoding_tree *tree)
{
    return inputs->value->is_nullable && tree->layers[0] == NT_LAYER_ITEM && !inputs->column->has_null_levels;
}

/* A constant has no buffer, but Lance's reader requires one if it is in fixed-size lists. */
static bool has_spare_buffer(const struct nt_encoding_tree_builder *builder, uint64_t buffers)
{
    return builder->count && builder->nodes[builder->count - 1].kind == NT_LANCE_SAME &&
           buffers == (uint64_t)builder->buffers + 1;
}

static enum nt_status make_mini_block(const struct tree_inputs *inputs, struct nt_proto message)
{
    struct nt_encoding_tree_builder builder = start(inputs, NT_LANCE_MINI_BLOCK, inputs->value);
    struct nt_encoding_tree *tree = &builder.tree;
    uint64_t buffers = nt_proto_number(message, NT_LANCE_MINI_BLOCK_NUM_BUFFERS);
    tree->has_large_chunk = nt_proto_number(message, NT_LANCE_MINI_BLOCK_HAS_LARGE_CHUNK);
    inputs->layout->items = nt_proto_number(message, NT_LANCE_MINI_BLOCK_NUM_ITEMS);
    inputs->layout->index_depth = nt_proto_number(message, NT_LANCE_MINI_BLOCK_REPETITION_INDEX_DEPTH);
    NT_TRY(add_layers(message, NT_LANCE_MINI_BLOCK_LAYERS, tree, inputs->error));
    builder.are_rows_null = is_uncounted(inputs, tree);
    NT_TRY(add_encoding(&builder, nt_proto_message(message, NT_LANCE_MINI_BLOCK_VALUE_COMPRESSION),
                        &tree->values));
    tree->buffers = builder.buffers + has_spare_buffer(&builder, buffers);
    if (tree->buffers > NT_LANCE_BUFFERS)
        return nt_fail_above(inputs->error, NT_LIMIT, NT_NO_OFFSET, "buffers of a chunk", NT_LANCE_BUFFERS,
                             tree->buffers);
    if (buffers != tree->buffers)
        return nt_fail_number(inputs->error, NT_CORRUPT, NT_NO_OFFSET,
                              "buffers of a chunk that its encodings need", tree->buffers, buffers);
    NT_TRY(add_levels(&builder, nt_proto_message(message, NT_LANCE_MINI_BLOCK_REP_COMPRESSION),
                      nt_proto_message(message, NT_LANCE_MINI_BLOCK_DEF_COMPRESSION)));
    NT_TRY(make_dictionary(inputs, message));
    tree->has_dictionary = inputs->layout->dictionary;
    return keep(inputs, &builder, inputs->known, &inputs->layout->tree);
}

/* ---- Full zip ---- */

static enum nt_status check_widths(const struct nt_encoding_tree_builder *builder)
{
    enum { MAX_BITS = 1 << 30 };
    const struct nt_encoding_tree *tree = &builder->tree;
    bool may_be_empty = /* null and empty values have no bytes */
        builder->value->is_empty || builder->nodes[builder->count - 1].kind == NT_LANCE_SAME;
    bool has_width = tree->value_bits || may_be_empty;
    bool has_length = nt_is_number(tree->offset_bits);
    if (tree->repetition_bits <= 16 && tree->definition_bits <= 16 && (has_length || !tree->offset_bits) &&
        (has_length ? !tree->value_bits : has_width) && tree->value_bits <= MAX_BITS)
        return NT_OK;
    return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                   "impossible numbers of bits: %" PRIu32 " and %" PRIu32 " for levels, %" PRIu32
                   " for values, %" PRIu32 " for lengths",
                   tree->repetition_bits, tree->definition_bits, tree->value_bits, tree->offset_bits);
}

static uint32_t get_bits(struct nt_proto message, uint32_t field)
{
    return (uint32_t)nt_min(nt_proto_number(message, field), UINT32_MAX);
}

static enum nt_status make_full_zip(const struct tree_inputs *inputs, struct nt_proto message)
{
    struct nt_encoding_tree_builder builder = start(inputs, NT_LANCE_FULL_ZIP, inputs->value);
    struct nt_encoding_tree *tree = &builder.tree;
    tree->repetition_bits = get_bits(message, NT_LANCE_FULL_ZIP_BITS_REP);
    tree->definition_bits = get_bits(message, NT_LANCE_FULL_ZIP_BITS_DEF);
    tree->value_bits = get_bits(message, NT_LANCE_FULL_ZIP_BITS_PER_VALUE);
    tree->offset_bits = get_bits(message, NT_LANCE_FULL_ZIP_BITS_PER_OFFSET);
    inputs->layout->items = nt_proto_number(message, NT_LANCE_FULL_ZIP_NUM_VISIBLE_ITEMS);
    NT_TRY(add_layers(message, NT_LANCE_FULL_ZIP_LAYERS, tree, inputs->error));
    builder.are_rows_null = is_uncounted(inputs, tree);
    NT_TRY(add_encoding(&builder, nt_proto_message(message, NT_LANCE_FULL_ZIP_VALUE_COMPRESSION),
                        &tree->values));
    NT_TRY(check_widths(&builder));
    return keep(inputs, &builder, inputs->known, &inputs->layout->tree);
}

/* ---- Constants ---- */

/* A single value has no encoding; its type defines its form. */
static enum nt_status add_value(struct nt_encoding_tree_builder *builder, const struct nt_lance_value *value)
{
    builder->tree.values = builder->count;
    if (value->is_packed) {
        const struct nt_encoding_tree_node packed = {
            .kind = NT_LANCE_PACKED, .bits = value->bits, .children = {builder->count + 1}};
        NT_TRY(nt_lance_add_node(builder, &packed));
    }
    for (uint32_t i = 0; i < value->list_count; i++) {
        const struct nt_encoding_tree_node list = {.kind = NT_LANCE_FIXED_LIST,
                                                   .items = value->lists[i],
                                                   .bits = value->bits,
                                                   .children = {builder->count + 1}};
        NT_TRY(nt_lance_add_node(builder, &list));
    }
    bool is_string = nt_lance_is_string(value);
    const struct nt_encoding_tree_node node = {.kind = is_string ? NT_LANCE_VARIABLE : NT_LANCE_FLAT,
                                               .bits = is_string ? 32 : value->bits};
    return nt_lance_add_node(builder, &node);
}

static enum nt_status make_constant(const struct tree_inputs *inputs, struct nt_proto message)
{
    struct nt_encoding_tree_builder builder = start(inputs, NT_LANCE_CONSTANT, NULL);
    struct nt_lance_buffer parts[MAX_PARTS];
    struct nt_encoding_tree *tree = &builder.tree;
    struct nt_proto_item value = {0};
    if (nt_proto_find(message, NT_LANCE_CONSTANT_LAYOUT_INLINE_VALUE, &value)) {
        tree->value = value.bytes;
        tree->value_bytes = (uint32_t)value.size;
    }
    tree->has_value_part = !tree->value && inputs->page->buffer_count % 2;
    tree->repetition_count = nt_proto_number(message, NT_LANCE_CONSTANT_LAYOUT_NUM_REP_VALUES);
    tree->definition_count = nt_proto_number(message, NT_LANCE_CONSTANT_LAYOUT_NUM_DEF_VALUES);
    NT_TRY(add_layers(message, NT_LANCE_CONSTANT_LAYOUT_LAYERS, tree, inputs->error));
    NT_TRY(add_parts(inputs, tree, parts));
    NT_TRY(add_value(&builder, inputs->value));
    NT_TRY(add_levels(&builder, nt_proto_message(message, NT_LANCE_CONSTANT_LAYOUT_REP_COMPRESSION),
                      nt_proto_message(message, NT_LANCE_CONSTANT_LAYOUT_DEF_COMPRESSION)));
    return keep(inputs, &builder, inputs->known, &inputs->layout->tree);
}

/* ---- Any layout ---- */

static enum nt_status make_of_layout(const struct tree_inputs *inputs, struct nt_proto message,
                                     unsigned depth)
{
    /* Blobs have descriptors of 16 bytes; these have the layers of the values that they refer to. */
    static const struct nt_lance_value descriptor_value = {.bits = 128};
    struct nt_proto member = {0};
    struct tree_inputs inside = *inputs;
    uint32_t kind = message.bytes ? nt_proto_oneof(message, &nt_lance_page_layout, &member) : 0;
    switch (kind) {
    case NT_LANCE_LAYOUT_MINI_BLOCK:
        return make_mini_block(inputs, member);
    case NT_LANCE_LAYOUT_FULL_ZIP:
        return make_full_zip(inputs, member);
    case NT_LANCE_LAYOUT_CONSTANT:
        return make_constant(inputs, member);
    case NT_LANCE_LAYOUT_BLOB:
        if (depth)
            break;
        inputs->layout->is_blob = true;
        inside.value = &descriptor_value;
        NT_TRY(add_layers(member, NT_LANCE_BLOB_LAYOUT_LAYERS, &inputs->layout->blobs, inputs->error));
        return make_of_layout(&inside, nt_proto_message(member, NT_LANCE_BLOB_LAYOUT_INNER_LAYOUT),
                              depth + 1);
    default:
        break;
    }
    return nt_fail(inputs->error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read page layout %" PRIu32, kind);
}

static enum nt_status make_of_array(const struct tree_inputs *inputs)
{
    struct nt_proto member, encoding = inputs->page->encoding;
    struct nt_encoding_tree_builder builder = start(inputs, NT_LANCE_ARRAY, inputs->value);
    struct nt_lance_buffer parts[MAX_PARTS];
    if (nt_proto_oneof(encoding, &nt_lance_array_encoding, &member) == NT_LANCE_ARRAY_LIST)
        inputs->layout->list_items = nt_proto_number(member, NT_LANCE_ARRAY_LIST_NUM_ITEMS);
    NT_TRY(add_parts(inputs, &builder.tree, parts));
    NT_TRY(add_encoding(&builder, encoding, &builder.tree.values));
    return keep(inputs, &builder, inputs->known, &inputs->layout->tree);
}

enum nt_status nt_lance_make_layout(struct nt_file *file, const struct nt_lance_column *column,
                                    const struct nt_lance_page *page, const struct nt_lance_value *value,
                                    bool is_dictionary_one_based, const struct nt_encoding_tree *known,
                                    struct nt_lance_layout *layout, struct nt_error *error)
{
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *scratch = nt_arena_new();
    const struct tree_inputs inputs = {
        file, scratch, column, page, value, known, layout, is_dictionary_one_based, error};
    *layout = (struct nt_lance_layout){0};
    NT_TRY(nt_check_memory(scratch, error));
    if (page->encoding_kind == NT_LANCE_ENCODING_IS_ARRAY)
        return make_of_array(&inputs);
    if (page->encoding_kind == NT_LANCE_ENCODING_IS_LAYOUT)
        return make_of_layout(&inputs, page->encoding, 0);
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "pages of an unknown encoding");
}
