/* SPDX-License-Identifier: MIT
 *
 * The table of Lance's nested encodings with the decoders of those that yield fixed-width values, and a
 * textual description of an encoding tree.
 */
#include "formats/lance/decode/decode.h"

#include <stdio.h>

/* ---- Table of encodings ---- */

/* The table of nested encodings, and the decoders of those with fixed-width values (Lance's encoding
 * specification, "Compressive encodings").
 *
 * A mini-block chunk stores values in one or more buffers, which its nodes use in order; a block
 * stores all in one buffer. A node decodes from its children's results. Children have higher indices
 * than their parent, which bounds the recursion by the number of nodes. */

/* The decoding of one node. */
struct node_job {
    struct nt_decode_arena *arena;
    const struct nt_encoding_tree_node *node;
    struct nt_buffer_slice *parts; /* chunk: NT_LANCE_BUFFERS, some empty; block: 1 for all nodes */
    bool is_block;
    uint64_t elements;
    uint8_t *into;
    struct nt_decoded_array *array;
};

typedef enum nt_status decode_node(const struct node_job *job, struct nt_error *error);

static enum nt_status decode(const struct node_job *job, uint32_t node, struct nt_error *error);

static struct nt_buffer_slice *part_of(const struct node_job *job)
{
    return &job->parts[job->is_block ? 0 : job->node->buffer];
}

/* Decodes the first child of the node. */
static enum nt_status decode_child(const struct node_job *job, uint64_t elements, uint8_t *into,
                                   struct nt_decoded_array *array, struct nt_error *error)
{
    struct node_job below = *job;
    below.elements = elements;
    below.into = into;
    below.array = array;
    return decode(&below, job->node->children[0], error);
}

static enum nt_status take_output(const struct node_job *job, uint64_t bytes, uint8_t **output_ret,
                                  struct nt_error *error)
{
    *output_ret = job->into;
    return job->into ? NT_OK : nt_decode_alloc(job->arena, bytes, output_ret, error);
}

static void set_fixed(const struct node_job *job, uint32_t bits, const uint8_t *data, uint64_t bytes)
{
    *job->array =
        (struct nt_decoded_array){.elements = job->elements, .bits = bits, .data = data, .bytes = bytes};
}

/* ---- Values of fixed width ---- */

static enum nt_status decode_flat(const struct node_job *job, struct nt_error *error)
{
    const struct nt_buffer_slice *part = part_of(job);
    uint64_t bytes;
    NT_TRY(nt_bits_to_bytes(job->elements, job->node->bits, &bytes, error));
    NT_TRY(nt_buffer_slice_require(part, bytes, "flat values", error));
    set_fixed(job, job->node->bits, part->data, bytes);
    return NT_OK;
}

static enum nt_status repeat(const struct node_job *job, struct nt_error *error)
{
    const struct nt_encoding_tree_node *node = job->node;
    uint64_t bytes, width = node->bits / 8;
    uint8_t *output;
    NT_TRY(nt_bits_to_bytes(job->elements, node->bits, &bytes, error));
    NT_TRY(take_output(job, bytes, &output, error));
    if (!node->value)
        memset(output, 0, bytes);
    for (uint64_t i = 0; node->value && i < job->elements; i++)
        memcpy(output + i * width, node->value, width);
    set_fixed(job, node->bits, output, bytes);
    return NT_OK;
}

static enum nt_status unpack(const struct node_job *job, struct nt_error *error)
{
    const struct nt_encoding_tree_node *node = job->node;
    const struct nt_buffer_slice *part = part_of(job);
    uint8_t *output;
    uint64_t bytes;
    NT_TRY(nt_bits_to_bytes(job->elements, node->bits, &bytes, error));
    NT_TRY(take_output(job, bytes, &output, error));
    NT_TRY(node->kind == NT_LANCE_INLINE_BITS
               ? nt_unpack_inline(part->data, part->bytes, node->bits, job->elements, output, error)
               : nt_unpack_blocks(part->data, part->bytes, node->bits, node->packed_bits, job->elements,
                                  output, error));
    set_fixed(job, node->bits, output, bytes);
    return NT_OK;
}

/* A block stores the size of the values, the values, then the lengths. */
static enum nt_status cut_block_of_runs(const struct nt_buffer_slice *block, struct nt_buffer_slice parts[2],
                                        struct nt_error *error)
{
    uint64_t bytes = block->bytes >= sizeof(uint64_t) ? nt_load_le64(block->data) : 0;
    if (block->bytes < sizeof(uint64_t) || bytes > block->bytes - sizeof(uint64_t))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "runs: %" PRIu64 " bytes of values do not fit a block of %" PRIu64 " bytes", bytes,
                       block->bytes);
    parts[0] = (struct nt_buffer_slice){block->data + sizeof(uint64_t), bytes};
    parts[1] = (struct nt_buffer_slice){parts[0].data + bytes, block->bytes - sizeof(uint64_t) - bytes};
    return NT_OK;
}

static enum nt_status expand_runs(const struct node_job *job, struct nt_error *error)
{
    const struct nt_encoding_tree_node *nodes = job->arena->tree->nodes;
    const struct nt_encoding_tree_node *values = &nodes[job->node->children[0]],
                                       *lengths = &nodes[job->node->children[1]];
    struct nt_buffer_slice parts[2] = {{0}};
    uint8_t *output;
    uint64_t bytes;
    if (job->is_block)
        NT_TRY(cut_block_of_runs(part_of(job), parts, error));
    else {
        parts[0] = job->parts[values->buffer];
        parts[1] = job->parts[lengths->buffer];
    }
    NT_TRY(nt_bits_to_bytes(job->elements, values->bits, &bytes, error));
    NT_TRY(take_output(job, bytes, &output, error));
    uint32_t value_bytes = values->bits / 8, length_bytes = lengths->bits / 8;
    uint64_t runs = parts[0].bytes / value_bytes, found = parts[1].bytes / length_bytes;
    if (runs > found)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "lengths of runs", runs, found);
    set_fixed(job, values->bits, output, bytes);
    return nt_rle_expand(parts[0].data, value_bytes, runs, parts[1].data, length_bytes, job->elements, output,
                         error);
}

static enum nt_status join_planes(const struct node_job *job, struct nt_error *error)
{
    static const enum nt_encoding_kind encodings[] = {[1] = NT_ENCODING_UINT8,
                                                      [2] = NT_ENCODING_SPLIT_REAL16,
                                                      [4] = NT_ENCODING_SPLIT_REAL32,
                                                      [8] = NT_ENCODING_SPLIT_REAL64};
    struct nt_decoded_array planes = {0};
    NT_TRY(decode_child(job, job->elements, NULL, &planes, error));
    uint32_t width = planes.bits / 8;
    uint8_t *output;
    if (planes.elements != job->elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "values in byte planes", job->elements,
                              planes.elements);
    if (planes.bits % 8 || width > 8 || (width & (width - 1)) || !width)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "cannot decode byte planes of values of %" PRIu32 " bits", planes.bits);
    NT_TRY(take_output(job, planes.bytes, &output, error));
    const struct nt_decoder decoder = {
        .encoding = encodings[width], .bits = planes.bits, .element_bytes = width};
    const struct nt_packed packed = {.decoder = &decoder,
                                     .data = planes.data,
                                     .bytes = (size_t)planes.bytes,
                                     .elements = (size_t)planes.elements};
    set_fixed(job, planes.bits, output, planes.bytes);
    return nt_decode(&packed, output, error);
}

/* ---- Compressed bytes ---- */

/* If there are several buffers, only the first is compressed. */
static enum nt_status decompress(const struct node_job *job, struct nt_error *error)
{
    const struct nt_encoding_tree_node *node = job->node;
    struct nt_buffer_slice *part = part_of(job);
    const struct nt_buffer_slice stored = *part;
    uint8_t *output;
    uint64_t bytes;
    NT_TRY(nt_length_prefixed_bytes(node->algorithm, stored.data, stored.bytes, &bytes, error));
    NT_TRY(nt_decode_alloc(job->arena, bytes, &output, error));
    NT_TRY(nt_length_prefixed_decompress(node->algorithm, stored.data, stored.bytes, output, bytes,
                                         job->arena->packed->context, error));
    *part = (struct nt_buffer_slice){output, bytes};
    enum nt_status status = decode_child(job, job->elements, job->into, job->array, error);
    *part = stored;
    return status;
}

/* ---- Lists and structures of fixed width ---- */

static enum nt_status decode_list(const struct node_job *job, struct nt_error *error)
{
    const struct nt_encoding_tree_node *node = job->node;
    uint64_t items, bytes;
    if (!nt_checked_multiply(job->elements, node->items, &items))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of items of fixed-size lists overflows");
    NT_TRY(nt_bits_to_bytes(items, 1, &bytes, error));
    if (node->has_validity)
        NT_TRY(nt_buffer_slice_require(part_of(job), bytes, "validity of items", error));
    NT_TRY(decode_child(job, items, job->into, job->array, error));
    const struct nt_list_validity list = {.valid = node->has_validity ? part_of(job)->data : NULL,
                                          .are_null = job->arena->tree->nodes[node->children[0]].is_null,
                                          .items = node->items};
    return nt_decoded_array_add_list(job->array, &list, error);
}

static enum nt_status decode_rows(const struct node_job *job, struct nt_error *error)
{
    return decode_child(job, job->elements, job->into, job->array, error);
}

/* ---- Strings ---- */

static enum nt_status decode_strings(const struct node_job *job, struct nt_error *error)
{
    const struct nt_buffer_slice *part = part_of(job);
    return job->is_block
               ? nt_strings_decode_block(job->arena, job->node, part, job->elements, job->array, error)
               : nt_strings_decode(job->arena, job->node, part, job->elements, job->array, error);
}

/* Keeps the codes: an output expands only the ends or the bytes that it needs. */
static enum nt_status take_codes(const struct node_job *job, struct nt_error *error)
{
    struct nt_decoded_array *array = job->array;
    NT_TRY(decode_child(job, job->elements, NULL, array, error));
    if (array->fsst)
        NT_TRY(nt_strings_expand(job->arena, array->fsst, array, error));
    if (!array->ends)
        return nt_fail_missing_strings(error);
    array->fsst = job->node->fsst;
    return NT_OK;
}

/* ---- The table ---- */

static const struct {
    struct nt_encoding_tree_node_info info;
    decode_node *decode; /* NULL: not valid in mini-blocks or blocks */
} nodes[NT_LANCE_NODE_COUNT] = {
    [NT_LANCE_FLAT] = {{"flat", 1, 0}, decode_flat},
    [NT_LANCE_VARIABLE] = {{"variable", 1, 0}, decode_strings},
    [NT_LANCE_INLINE_BITS] = {{"inline bitpacking", 1, 0}, unpack},
    [NT_LANCE_OUT_OF_LINE_BITS] = {{"out-of-line bitpacking", 1, 0}, unpack},
    [NT_LANCE_RUNS] = {{"rle", 0, 2}, expand_runs},
    [NT_LANCE_BYTE_SPLIT] = {{"byte stream split", 0, 1}, join_planes},
    [NT_LANCE_LENGTH_PREFIXED] = {{"general", 0, 1}, decompress},
    [NT_LANCE_FSST] = {{"fsst", 0, 1}, take_codes},
    [NT_LANCE_FIXED_LIST] = {{"fixed-size list", 0, 1}, decode_list},
    [NT_LANCE_PACKED] = {{"packed struct", 0, 1}, decode_rows},
    [NT_LANCE_SAME] = {{"constant", 0, 0}, repeat},
    [NT_LANCE_VARIABLE_PACKED] = {{"variable packed struct", 0, 0}, NULL},
    [NT_LANCE_NULLABLE] = {{"nullable", 0, 2}, NULL},
    [NT_LANCE_ALL_NULL] = {{"all nulls", 0, 0}, NULL},
    [NT_LANCE_LIST_ENDS] = {{"list", 0, 1}, NULL},
    [NT_LANCE_BINARY] = {{"binary", 0, 2}, NULL},
    [NT_LANCE_DICTIONARY] = {{"dictionary", 0, 2}, NULL},
    [NT_LANCE_ABSOLUTE_OFFSETS] = {{"offsets", 0, 1}, NULL},
};

const struct nt_encoding_tree_node_info *nt_encoding_tree_node_info(enum nt_encoding_tree_node_kind kind)
{
    return &nodes[kind].info;
}

static enum nt_status decode(const struct node_job *job, uint32_t node, struct nt_error *error)
{
    struct node_job below = *job;
    below.node = &job->arena->tree->nodes[node];
    decode_node *function = nodes[below.node->kind].decode;
    if (!function)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "expected values of a block, found %s",
                       nt_encoding_tree_node_info(below.node->kind)->name);
    return function(&below, error);
}

enum nt_status nt_lance_node_decode(struct nt_decode_arena *arena, uint32_t node,
                                    struct nt_buffer_slice *parts, uint64_t elements, uint8_t *into,
                                    struct nt_decoded_array *array, struct nt_error *error)
{
    const struct node_job job = {
        .arena = arena, .parts = parts, .elements = elements, .into = into, .array = array};
    return decode(&job, node, error);
}

enum nt_status nt_block_decode(struct nt_decode_arena *arena, uint32_t node,
                               const struct nt_buffer_slice *part, uint64_t elements, uint8_t *into,
                               struct nt_decoded_array *array, struct nt_error *error)
{
    struct nt_buffer_slice own = *part;
    const struct node_job job = {
        .arena = arena, .parts = &own, .is_block = true, .elements = elements, .into = into, .array = array};
    return decode(&job, node, error);
}

bool nt_lance_is_structure(const struct nt_encoding_tree *tree)
{
    return tree->values != NT_NO_NODE && (tree->nodes[tree->values].kind == NT_LANCE_PACKED ||
                                          tree->nodes[tree->values].kind == NT_LANCE_VARIABLE_PACKED);
}

bool nt_lance_is_null(const struct nt_encoding_tree *tree)
{
    return tree->values != NT_NO_NODE && tree->nodes[tree->values].is_null;
}

bool nt_lance_items_of_depth(const struct nt_encoding_tree *tree, uint32_t depth, uint64_t *items_ret)
{
    uint32_t node = tree->values;
    *items_ret = 1;
    while (node != NT_NO_NODE && depth) {
        const struct nt_encoding_tree_node *at = &tree->nodes[node];
        bool is_list = at->kind == NT_LANCE_FIXED_LIST;
        if (is_list && !nt_checked_multiply(*items_ret, at->items, items_ret))
            return false;
        depth -= is_list;
        node = nodes[at->kind].info.children ? at->children[0] : NT_NO_NODE;
    }
    return true;
}

/* ---- Describe an encoding tree ---- */

const char *nt_lance_layout_name(enum nt_lance_layout_kind layout)
{
    static const char *const names[] = {
        [NT_LANCE_MINI_BLOCK] = "mini-block", [NT_LANCE_FULL_ZIP] = "full zip",
        [NT_LANCE_CONSTANT] = "constant",     [NT_LANCE_BLOCK] = "block",
        [NT_LANCE_ARRAY] = "array",
    };
    return names[layout];
}

const char *nt_lance_output_name(enum nt_lance_decoder_output output)
{
    static const char *const names[] = {
        [NT_LANCE_VALUES] = "values",    [NT_LANCE_VALID] = "validity", [NT_LANCE_OFFSETS] = "offsets",
        [NT_LANCE_ENDS] = "ends",        [NT_LANCE_BYTES] = "bytes",    [NT_LANCE_LEVELS] = "levels",
        [NT_LANCE_PRESENT] = "presence",
    };
    return names[output];
}

struct encoding_writer {
    const struct nt_encoding_tree *tree;
    char *text;
    size_t capacity, length;
};

static void write_words(struct encoding_writer *writer, const char *words, uint64_t number)
{
    size_t left = writer->capacity - writer->length;
    int count = number ? snprintf(writer->text + writer->length, left, "%s %" PRIu64, words, number)
                       : snprintf(writer->text + writer->length, left, "%s", words);
    if (count > 0)
        writer->length += (size_t)count < left ? (size_t)count : left - 1;
}

/* The number in a node's description: value width, or list length. */
static uint64_t number_of(const struct nt_encoding_tree_node *node)
{
    switch (node->kind) {
    case NT_LANCE_FLAT:
    case NT_LANCE_VARIABLE:
    case NT_LANCE_INLINE_BITS:
        return node->bits;
    case NT_LANCE_OUT_OF_LINE_BITS:
        return node->packed_bits;
    case NT_LANCE_FIXED_LIST:
    case NT_LANCE_DICTIONARY:
        return node->items;
    default:
        return 0;
    }
}

/* Children have higher indices than their node, which bounds the recursion. */
static void write_node(struct encoding_writer *writer, uint32_t number)
{
    const struct nt_encoding_tree_node *node = &writer->tree->nodes[number];
    const struct nt_encoding_tree_node_info *info = nt_encoding_tree_node_info(node->kind);
    write_words(writer, info->name, number_of(node));
    for (uint32_t i = 0; i < info->children; i++) {
        if (node->children[i] == NT_NO_NODE)
            continue;
        write_words(writer, i ? ", " : "(", 0);
        write_node(writer, node->children[i]);
    }
    if (info->children)
        write_words(writer, ")", 0);
}

void nt_lance_describe_tree(const struct nt_encoding_tree *tree, char *text, size_t capacity)
{
    struct encoding_writer writer = {.tree = tree, .text = text, .capacity = capacity};
    text[0] = '\0';
    if (tree->values != NT_NO_NODE)
        write_node(&writer, tree->values);
}
