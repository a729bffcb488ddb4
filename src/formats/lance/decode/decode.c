/* SPDX-License-Identifier: MIT
 *
 * Opens a Lance page by its layout: a constant, a chunk of the mini-block layout, or what full_zip.c and
 * v2_0.c open. Decodes one output of it (values, validity, offsets, string bytes or levels), or several in
 * one pass, and counts its rows and bytes. Works on single chunks and on whole pages.
 */
#include "formats/lance/decode/decode.h"

static enum nt_status decode_constant_levels(struct nt_decode_arena *arena, uint32_t number, uint32_t root,
                                             uint64_t compressed, const uint16_t **levels_ret,
                                             uint64_t *count_ret, struct nt_error *error)
{
    struct nt_buffer_slice part = {0};
    NT_TRY(nt_decode_buffer(arena, number, &part, error));
    if (!part.bytes)
        return NT_OK;
    uint64_t count = root == NT_NO_NODE ? part.bytes / sizeof(uint16_t) : compressed;
    NT_TRY(nt_levels_decode(arena, root, &part, count, levels_ret, error));
    if (*count_ret && *count_ret != count)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "definition levels", *count_ret, count);
    *count_ret = count;
    return NT_OK;
}

static enum nt_status open_constant_levels(struct nt_decode_arena *arena, struct nt_levels *levels,
                                           struct nt_error *error)
{
    const struct nt_encoding_tree *tree = arena->tree;
    uint32_t first = tree->has_value_part;
    if (tree->part_count >= first + 1)
        NT_TRY(decode_constant_levels(arena, first, tree->repetition, tree->repetition_count,
                                      &levels->repetition, &levels->count, error));
    if (tree->part_count >= first + 2)
        NT_TRY(decode_constant_levels(arena, first + 1, tree->definition, tree->definition_count,
                                      &levels->definition, &levels->count, error));
    return nt_levels_check(tree, levels, error);
}

/* Reads a u32 buffer count, a u32 size of each, and the buffers of a one-value Arrow array. Returns
 * the last buffer; the offsets of strings, in the one before it, are not needed. */
static enum nt_status open_value(struct nt_decode_arena *arena, struct nt_buffer_slice *value,
                                 struct nt_error *error)
{
    const struct nt_encoding_tree *tree = arena->tree;
    struct nt_buffer_slice part = {0};
    *value = (struct nt_buffer_slice){tree->value, tree->value_bytes};
    if (!tree->has_value_part)
        return NT_OK;
    NT_TRY(nt_decode_buffer(arena, 0, &part, error));
    struct nt_cursor cursor = nt_cursor(part.data, part.bytes);
    uint32_t count = nt_get_le32(&cursor);
    struct nt_cursor sizes = cursor;
    nt_cursor_skip(&cursor, (uint64_t)count * sizeof(uint32_t));
    for (uint32_t i = 0; i < count && !cursor.failed; i++) {
        value->bytes = nt_get_le32(&sizes);
        value->data = nt_get_bytes(&cursor, value->bytes);
    }
    if (cursor.failed || !count)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "the buffers of a constant page's value exceed its %" PRIu64 " bytes", part.bytes);
    return NT_OK;
}

/* ---- Repeated values ---- */

static enum nt_status repeat_string(struct nt_decode_arena *arena, const struct nt_buffer_slice *value,
                                    uint64_t count, struct nt_decoded_array *array, struct nt_error *error)
{
    uint64_t *ends, bytes;
    uint8_t *data;
    if (!nt_checked_multiply(count, value->bytes, &bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of %" PRIu64 " equal strings overflows",
                       count);
    NT_TRY(nt_decode_alloc(arena, count * sizeof(*ends), &ends, error));
    NT_TRY(nt_decode_alloc(arena, bytes, &data, error));
    for (uint64_t i = 0; i < count; i++) {
        if (value->bytes)
            memcpy(data + i * value->bytes, value->data, value->bytes);
        ends[i] = (i + 1) * value->bytes;
    }
    *array = (struct nt_decoded_array){.elements = count, .data = data, .bytes = bytes, .ends = ends};
    return NT_OK;
}

/* Repeats the items of one row for all rows. */
static enum nt_status repeat_value(struct nt_decode_arena *arena, const struct nt_buffer_slice *value,
                                   uint64_t count, struct nt_decoded_array *array, struct nt_error *error)
{
    const struct nt_encoding_tree *tree = arena->tree;
    uint64_t items, bits, total, bytes;
    uint32_t root = tree->values;
    for (; root != NT_NO_NODE && nt_encoding_tree_node_info(tree->nodes[root].kind)->children;
         root = tree->nodes[root].children[0])
        if (tree->nodes[root].kind == NT_LANCE_FIXED_LIST && array->depth < NT_LANCE_DEPTH)
            array->lists[array->depth++].items = tree->nodes[root].items;
    bits = root != NT_NO_NODE ? tree->nodes[root].bits : 0;
    if (!nt_lance_items_per_row(tree, &items) || !nt_checked_multiply(items, count, &total))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of %" PRIu64 " equal values overflows",
                       count);
    uint64_t one = 0;
    NT_TRY(nt_bits_to_bytes(items, bits, &one, error));
    NT_TRY(nt_bits_to_bytes(total, bits == 1 ? 8 : bits, &bytes, error));
    if (value->data)
        NT_TRY(nt_buffer_slice_require(value, one, "the value of a constant page", error));
    uint8_t *data;
    NT_TRY(nt_decode_alloc(arena, bytes, &data, error));
    array->elements = total;
    array->bits = bits == 1 ? 8 : (uint32_t)bits;
    array->data = data;
    array->bytes = bytes;
    if (!value->data)
        memset(data, 0, bytes);
    for (uint64_t i = 0; value->data && i < count; i++)
        for (uint64_t k = 0; bits == 1 && k < items; k++)
            data[i * items + k] = value->data[k / 8] >> (k % 8) & 1;
    for (uint64_t i = 0; value->data && bits != 1 && i < count; i++)
        memcpy(data + i * one, value->data, one);
    return NT_OK;
}

/* Without levels and without a value, all rows are null. */
static bool is_null(const struct nt_decode_arena *arena, const struct nt_buffer_slice *value,
                    const struct nt_levels *levels)
{
    return !value->data && !levels->count && arena->tree->layers[0] == NT_LAYER_NULLABLE_ITEM;
}

/* `values`: the number of rows if there are no levels. */
static enum nt_status constant_open(struct nt_decode_arena *arena, uint64_t values, bool needs_values,
                                    struct nt_opened_page *opened, struct nt_error *error)
{
    struct nt_buffer_slice value = {0};
    struct nt_layer_rule rule;
    NT_TRY(open_constant_levels(arena, &opened->levels, error));
    NT_TRY(open_value(arena, &value, error));
    if (is_null(arena, &value, &opened->levels)) {
        opened->has_array = true;
        opened->array = (struct nt_decoded_array){.elements = values, .is_null = true};
        return NT_OK;
    }
    if (!needs_values)
        return NT_OK;
    if (!value.data && !opened->levels.count && values)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%" PRIu64 " rows of a constant page are valid, but the page has no value", values);
    opened->has_array = true;
    nt_layer_rule(arena->tree, 0, &rule);
    uint64_t count = opened->levels.count ? nt_levels_rows(&opened->levels, &rule) : values;
    if (!arena->tree->value && !arena->tree->has_value_part) { /* the levels may mark nulls */
        opened->array = (struct nt_decoded_array){.elements = count, .is_null = true};
        return nt_decode_check_rows(values, count, error);
    }
    uint32_t root = arena->tree->values;
    if (root != NT_NO_NODE && arena->tree->nodes[root].kind == NT_LANCE_VARIABLE)
        return repeat_string(arena, &value, count, &opened->array, error);
    return repeat_value(arena, &value, count, &opened->array, error);
}

enum { ALIGNMENT = 8 };

static void skip_padding(struct nt_cursor *cursor)
{
    size_t past = cursor->position % ALIGNMENT;
    if (past && nt_cursor_left(cursor))
        nt_cursor_skip(cursor,
                       nt_cursor_left(cursor) < ALIGNMENT - past ? nt_cursor_left(cursor) : ALIGNMENT - past);
}

static void take_part(struct nt_cursor *cursor, uint64_t bytes, struct nt_buffer_slice *part)
{
    part->bytes = bytes;
    part->data = nt_get_bytes(cursor, bytes);
    skip_padding(cursor);
}

/* Some writers let the number of levels wrap at 2^16; the run lengths give the real number then. */
static uint64_t unwrap(const struct nt_encoding_tree *tree, uint32_t root, const struct nt_buffer_slice *part,
                       uint64_t count)
{
    const struct nt_encoding_tree_node *node = &tree->nodes[root], *values, *lengths;
    if (node->kind != NT_LANCE_RUNS || part->bytes < sizeof(uint64_t))
        return count;
    values = &tree->nodes[node->children[0]];
    lengths = &tree->nodes[node->children[1]];
    uint64_t value_bytes = nt_load_le64(part->data), rest = part->bytes - sizeof(uint64_t);
    if (values->bits != 16 || lengths->bits != 8 || value_bytes > rest ||
        value_bytes / 2 > rest - value_bytes)
        return count;
    uint64_t total = nt_rle_total(part->data + sizeof(uint64_t) + value_bytes, 1, value_bytes / 2);
    return total > count && (total - count) % 65536 == 0 ? total : count;
}

static enum nt_status decode_levels(struct nt_decode_arena *arena, uint32_t root,
                                    const struct nt_buffer_slice *part, uint64_t count,
                                    const uint16_t **levels_ret, struct nt_error *error)
{
    if (root == NT_NO_NODE)
        return NT_OK;
    return nt_with_context(nt_levels_decode(arena, root, part, count, levels_ret, error), error, "levels");
}

static enum nt_status open_levels(struct nt_decode_arena *arena, const struct nt_buffer_slice *repetition,
                                  const struct nt_buffer_slice *definition, uint64_t count,
                                  struct nt_opened_page *opened, struct nt_error *error)
{
    const struct nt_encoding_tree *tree = arena->tree;
    struct nt_levels *levels = &opened->levels;
    if (tree->definition != NT_NO_NODE)
        count = unwrap(tree, tree->definition, definition, count);
    if (tree->repetition != NT_NO_NODE)
        count = unwrap(tree, tree->repetition, repetition, count);
    levels->count = count;
    NT_TRY(decode_levels(arena, tree->repetition, repetition, count, &levels->repetition, error));
    NT_TRY(decode_levels(arena, tree->definition, definition, count, &levels->definition, error));
    return nt_levels_check(tree, levels, error);
}

void nt_mini_block_get_sizes(const struct nt_encoding_tree *tree, struct nt_cursor *cursor,
                             struct nt_mini_block_sizes *sizes)
{
    sizes->levels = nt_get_le16(cursor);
    sizes->repetition_bytes = tree->repetition != NT_NO_NODE ? nt_get_le16(cursor) : 0;
    sizes->definition_bytes = tree->definition != NT_NO_NODE ? nt_get_le16(cursor) : 0;
    for (uint32_t i = 0; i < tree->buffers; i++)
        sizes->buffer_bytes[i] = tree->has_large_chunk ? nt_get_le32(cursor) : nt_get_le16(cursor);
}

static enum nt_status mini_block_open(struct nt_decode_arena *arena, bool needs_levels,
                                      struct nt_opened_page *opened, struct nt_error *error)
{
    const struct nt_encoding_tree *tree = arena->tree;
    struct nt_cursor cursor = nt_cursor(arena->packed->data, arena->packed->bytes);
    struct nt_buffer_slice repetition = {0}, definition = {0};
    struct nt_mini_block_sizes sizes;
    nt_mini_block_get_sizes(tree, &cursor, &sizes);
    opened->part_count = tree->buffers;
    skip_padding(&cursor);
    if (tree->repetition != NT_NO_NODE)
        take_part(&cursor, sizes.repetition_bytes, &repetition);
    if (tree->definition != NT_NO_NODE)
        take_part(&cursor, sizes.definition_bytes, &definition);
    for (uint32_t i = 0; i < tree->buffers; i++)
        take_part(&cursor, sizes.buffer_bytes[i], &opened->parts[i]);
    if (cursor.failed)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the buffers of a chunk exceed its %zu bytes",
                       arena->packed->bytes);
    return needs_levels && nt_lance_has_levels(tree)
               ? open_levels(arena, &repetition, &definition, sizes.levels, opened, error)
               : NT_OK;
}

/* ---- Open a chunk, and decode its values ---- */

static enum nt_status open_parts(const struct nt_decode_arena *arena, struct nt_opened_page *opened,
                                 struct nt_error *error)
{
    opened->part_count = arena->tree->part_count;
    for (uint32_t i = 0; i < opened->part_count; i++)
        NT_TRY(nt_decode_buffer(arena, i, &opened->parts[i], error));
    return NT_OK;
}

enum nt_status nt_decode_open(struct nt_decode_state *state, bool needs_levels, bool needs_values,
                              struct nt_error *error)
{
    struct nt_decode_arena *arena = state->arena;
    const struct nt_packed *packed = arena->packed;
    if (state->is_opened)
        return NT_OK;
    state->is_opened = state->is_shared;
    switch (arena->tree->layout) {
    case NT_LANCE_MINI_BLOCK:
        return mini_block_open(arena, needs_levels, &state->opened, error);
    case NT_LANCE_FULL_ZIP:
        return nt_full_zip_open(arena, state->spec->member, state->rows, &state->opened, error);
    case NT_LANCE_CONSTANT:
        return constant_open(arena, state->rows, needs_values, &state->opened, error);
    case NT_LANCE_BLOCK:
        state->opened.part_count = 1;
        state->opened.parts[0] = (struct nt_buffer_slice){packed->data, packed->bytes};
        return NT_OK;
    case NT_LANCE_ARRAY:
        return open_parts(arena, &state->opened, error);
    }
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "the page has an unknown layout");
}

enum nt_status nt_decode_values(struct nt_decode_state *state, uint8_t *into, struct nt_error *error)
{
    struct nt_decode_arena *arena = state->arena;
    struct nt_opened_page *opened = &state->opened;
    uint32_t root = arena->tree->values;
    if (opened->has_array || state->is_decoded)
        return NT_OK;
    state->is_decoded = state->is_shared;
    if (arena->tree->layout == NT_LANCE_ARRAY)
        return nt_v2_0_decode(arena, root, opened->parts, opened->part_count, state->rows, &opened->array,
                              error);
    if (arena->tree->layout == NT_LANCE_BLOCK)
        return nt_block_decode(arena, root, &opened->parts[0], state->rows, into, &opened->array, error);
    return nt_lance_node_decode(arena, root, opened->parts, state->rows, into, &opened->array, error);
}

/* ---- Decode and count a chunk ---- */

static nt_make_output *const makers[] = {
    [NT_LANCE_VALUES] = nt_output_values,   [NT_LANCE_VALID] = nt_output_validity,
    [NT_LANCE_OFFSETS] = nt_output_offsets, [NT_LANCE_ENDS] = nt_output_ends,
    [NT_LANCE_BYTES] = nt_output_bytes,     [NT_LANCE_LEVELS] = nt_output_levels,
    [NT_LANCE_PRESENT] = nt_output_presence};

static enum nt_status decode_whole(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);

enum nt_status nt_lance_decode(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    const struct nt_lance_decoder_state *state = packed->decoder->state;
    if (state->tree->is_whole)
        return decode_whole(packed, output, error);
    NT_CLEANUP(nt_decode_arena_free)
    struct nt_decode_arena arena = nt_decode_arena_begin(state->tree, packed);
    struct nt_decode_state decode_state = {
        .arena = &arena, .spec = &state->spec, .element_bytes = packed->decoder->element_bytes};
    return makers[state->spec.output](&decode_state, output, error);
}

/* ---- Several outputs ---- */

static bool is_shareable(const struct nt_encoding_tree *tree, const struct nt_lance_output_spec *spec)
{
    static const bool is_shareable[] = {
        [NT_LANCE_VALUES] = true, [NT_LANCE_VALID] = true, [NT_LANCE_OFFSETS] = true,
        [NT_LANCE_ENDS] = true,   [NT_LANCE_BYTES] = true, [NT_LANCE_PRESENT] = false};
    bool is_walked = tree->layout == NT_LANCE_FULL_ZIP && nt_full_zip_is_walked(tree);
    return (tree->layout == NT_LANCE_MINI_BLOCK || is_walked) && !tree->is_whole &&
           !nt_lance_is_structure(tree) && !spec->depth && spec->repeats <= 1 && is_shareable[spec->output];
}

static bool are_shared(const struct nt_decoder *a, const struct nt_decoder *b)
{
    const struct nt_lance_decoder_state *one = a->state, *other = b->state;
    return one->tree == other->tree && is_shareable(one->tree, &one->spec) &&
           is_shareable(one->tree, &other->spec) &&
           (one->spec.output != other->spec.output || one->spec.layer != other->spec.layer);
}

static const struct nt_lance_output_spec *spec_of(const struct nt_packed *packed)
{
    return &nt_lance_decoder_state_of(packed->decoder)->spec;
}

/* Main outputs decode all values in place, so they run first and the others reuse the values. */
static bool is_main(const struct nt_lance_output_spec *spec)
{
    return spec->output == NT_LANCE_VALUES || spec->output == NT_LANCE_BYTES;
}

static bool need_levels(const struct nt_encoding_tree *tree, const struct nt_packed *packed, uint32_t count)
{
    bool are_needed = nt_decode_has_nulls(tree);
    for (uint32_t i = 0; i < count; i++)
        are_needed |=
            spec_of(&packed[i])->output == NT_LANCE_VALID || spec_of(&packed[i])->output == NT_LANCE_OFFSETS;
    return are_needed;
}

static enum nt_status decode_shared(const struct nt_packed *packed, uint8_t *const *outputs, uint32_t count,
                                    struct nt_error *error)
{
    const struct nt_encoding_tree *tree = nt_lance_decoder_state_of(packed->decoder)->tree;
    NT_CLEANUP(nt_decode_arena_free) struct nt_decode_arena arena = nt_decode_arena_begin(tree, packed);
    struct nt_decode_state state = {.arena = &arena, .spec = spec_of(packed), .is_shared = true};
    NT_TRY(nt_decode_open(&state, need_levels(tree, packed, count), true, error));
    for (uint32_t i = 0; i < 2 * count; i++) {
        const struct nt_packed *what = &packed[i % count];
        if (is_main(spec_of(what)) != (i < count))
            continue;
        state.spec = spec_of(what);
        state.element_bytes = what->decoder->element_bytes;
        arena.packed = what;
        NT_TRY(makers[state.spec->output](&state, outputs[i % count], error));
    }
    return NT_OK;
}

/* ---- Counting ---- */

static void count_rows(const struct nt_decode_state *state, uint64_t values, struct nt_lance_counts *counts)
{
    const struct nt_encoding_tree *tree = state->arena->tree;
    struct nt_layer_rule rule;
    for (uint32_t i = 0; i < tree->layer_count; i++) {
        nt_layer_rule(tree, i, &rule);
        counts->slots[i] = state->opened.levels.count ? nt_levels_rows(&state->opened.levels, &rule)
                           : rule.begins              ? 0
                                                      : values;
    }
}

/* Finds the first and the last start of an outermost row in the page. */
static void count_ends(const struct nt_decode_state *state, struct nt_lance_counts *counts)
{
    const struct nt_encoding_tree *tree = state->arena->tree;
    const struct nt_levels *levels = &state->opened.levels;
    struct nt_layer_rule rule;
    if (!tree->layer_count || !levels->count)
        return;
    nt_layer_rule(tree, tree->layer_count - 1, &rule);
    counts->is_continued = !nt_is_row(levels, &rule, 0);
    while (counts->last_row < levels->count)
        if (nt_is_row(levels, &rule, levels->count - ++counts->last_row))
            return;
}

static enum nt_status count_bytes(struct nt_decode_state *state, uint64_t rows,
                                  struct nt_lance_counts *counts, struct nt_error *error)
{
    state->rows = rows;
    if (state->arena->tree->layout == NT_LANCE_CONSTANT) {
        /* levels gave the number of values */
        state->opened = (struct nt_opened_page){0};
        NT_TRY(nt_decode_open(state, true, true, error));
    }
    return nt_count_string_bytes(state, &counts->bytes, error);
}

enum nt_status nt_lance_count(const struct nt_encoding_tree *tree, const struct nt_packed *packed,
                              uint64_t values, bool needs_bytes, uint32_t member,
                              struct nt_lance_counts *counts, struct nt_error *error)
{
    const struct nt_lance_output_spec spec = {.output = NT_LANCE_ENDS, .member = member};
    NT_CLEANUP(nt_decode_arena_free) struct nt_decode_arena arena = nt_decode_arena_begin(tree, packed);
    struct nt_decode_state state = {.arena = &arena, .spec = &spec, .rows = values};
    *counts = (struct nt_lance_counts){0};
    NT_TRY(nt_decode_open(&state, true, needs_bytes && tree->layout != NT_LANCE_CONSTANT, error));
    counts->levels = state.opened.levels.count;
    count_rows(&state, values, counts);
    count_ends(&state, counts);
    if (needs_bytes)
        NT_TRY(count_bytes(&state, tree->layer_count ? counts->slots[0] : values, counts, error));
    counts->spent = packed->limit - arena.left;
    return NT_OK;
}

/* ---- Decode whole pages ---- */

enum { CHUNK_UNIT = 8, WORDS = 0, CHUNKS = 1 };

/* The low bits of a word hold log2 of the number of values; 0 is the last chunk, with the rest. */
enum nt_status nt_lance_next_mini_block(const struct nt_encoding_tree *tree, const uint8_t *words,
                                        uint64_t word_count, uint64_t number, uint64_t values, uint64_t bytes,
                                        struct nt_lance_mini_block *chunk, struct nt_error *error)
{
    uint64_t word =
        tree->has_large_chunk ? nt_load_le32(words + 4 * number) : nt_load_le16(words + 2 * number);
    uint64_t offset = chunk->offset + chunk->bytes, first = chunk->first_value + chunk->values;
    bool is_last = number + 1 == word_count;
    *chunk = (struct nt_lance_mini_block){.offset = offset,
                                          .bytes = ((word >> 4) + 1) * CHUNK_UNIT,
                                          .first_value = first,
                                          .values = is_last ? values - first : UINT64_C(1) << (word & 15)};
    if (chunk->bytes > bytes - offset || (is_last && bytes - offset - chunk->bytes >= CHUNK_UNIT))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "chunk %" PRIu64 " of %" PRIu64 " needs %" PRIu64 " bytes, but its buffer has %" PRIu64
                       " left",
                       number, word_count, chunk->bytes, bytes - offset);
    if (chunk->values > values - first)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "chunk %" PRIu64 " has %" PRIu64 " values, but its page has %" PRIu64 " left", number,
                       chunk->values, values - first);
    return NT_OK;
}

struct whole_page {
    struct nt_encoding_tree tree;        /* of a chunk, or of the rows */
    struct nt_lance_decoder_state state; /* for the page's output */
    struct nt_decoder decoder;
    const struct nt_packed *packed;
    uint64_t items; /* elements per value */
    uint64_t done;  /* elements written */
    uint64_t end;   /* ENDS: end of the last string so far */
    uint8_t *output;
};

static uint64_t left(const struct whole_page *whole)
{
    return whole->packed->elements - whole->done;
}

/* Counts the elements of `values`, if only the stored data determines it. */
static enum nt_status count_elements(const struct whole_page *whole, const struct nt_packed *part,
                                     uint64_t values, uint64_t *elements_ret, struct nt_error *error)
{
    bool are_bytes = whole->state.spec.output == NT_LANCE_BYTES;
    struct nt_lance_counts counts;
    NT_TRY(nt_lance_count(&whole->tree, part, values, are_bytes, 0, &counts, error));
    *elements_ret = are_bytes ? counts.bytes : counts.levels;
    return NT_OK;
}

static enum nt_status decode_part(struct whole_page *whole, const uint8_t *data, size_t bytes,
                                  uint64_t values, struct nt_error *error)
{
    enum nt_lance_decoder_output output = whole->state.spec.output;
    struct nt_packed part = *whole->packed;
    uint64_t elements = values;
    part.decoder = &whole->decoder;
    part.data = data;
    part.bytes = bytes;
    if (output == NT_LANCE_BYTES || output == NT_LANCE_LEVELS)
        NT_TRY(count_elements(whole, &part, values, &elements, error));
    else if (!nt_checked_multiply(values, whole->items, &elements))
        elements = UINT64_MAX;
    if (elements > left(whole))
        return nt_fail_above(error, NT_CORRUPT, NT_NO_OFFSET, "elements of a page", whole->packed->elements,
                             elements);
    part.elements = (size_t)elements;
    part.parameter = output == NT_LANCE_ENDS ? whole->end : values;
    uint8_t *into = whole->output + whole->done * whole->decoder.element_bytes;
    NT_TRY(nt_lance_decode(&part, into, error));
    if (output == NT_LANCE_ENDS && elements)
        whole->end = nt_load_le64(into + (elements - 1) * sizeof(uint64_t));
    whole->done += elements;
    return NT_OK;
}

/* Values of the page: its elements, except for BYTES and LEVELS. */
static uint64_t count_values(const struct whole_page *whole)
{
    enum nt_lance_decoder_output output = whole->state.spec.output;
    return output == NT_LANCE_BYTES || output == NT_LANCE_LEVELS ? whole->packed->parameter
                                                                 : whole->packed->elements / whole->items;
}

static enum nt_status decode_chunks(struct whole_page *whole, const struct nt_buffer_slice *words,
                                    const struct nt_buffer_slice *chunks, struct nt_error *error)
{
    uint64_t count = words->bytes / (whole->tree.has_large_chunk ? 4 : 2);
    struct nt_lance_mini_block chunk = {0};
    for (uint64_t i = 0; i < count; i++) {
        enum nt_status status = nt_lance_next_mini_block(&whole->tree, words->data, count, i,
                                                         count_values(whole), chunks->bytes, &chunk, error);
        if (status == NT_OK)
            status =
                decode_part(whole, chunks->data + chunk.offset, (size_t)chunk.bytes, chunk.values, error);
        NT_TRY(nt_with_context(status, error, "chunk %" PRIu64, i));
    }
    return NT_OK;
}

static enum nt_status decode_whole(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    const struct nt_lance_decoder_state *state = packed->decoder->state;
    const struct nt_encoding_tree *tree = state->tree;
    struct whole_page whole = {.tree = *tree,
                               .state = {&whole.tree, state->spec},
                               .decoder = *packed->decoder,
                               .packed = packed,
                               .items = 1,
                               .output = output};
    const struct nt_decode_arena arena = {.tree = tree, .packed = packed};
    struct nt_buffer_slice first, chunks;
    whole.decoder.state = &whole.state;
    whole.tree.is_whole = false;
    whole.tree.parts = NULL;
    whole.tree.part_count = 0;
    if (state->spec.output == NT_LANCE_VALUES && !nt_lance_is_structure(tree) &&
        !nt_lance_items_per_row(tree, &whole.items))
        whole.items = 0;
    if (!whole.items || packed->elements % whole.items)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%zu elements in lists of %" PRIu64, packed->elements,
                       whole.items);
    NT_TRY(nt_decode_buffer(&arena, WORDS, &first, error));
    if (tree->layout == NT_LANCE_MINI_BLOCK) {
        NT_TRY(nt_decode_buffer(&arena, CHUNKS, &chunks, error));
        NT_TRY(decode_chunks(&whole, &first, &chunks, error));
    } else
        NT_TRY(decode_part(&whole, first.data, (size_t)first.bytes, count_values(&whole), error));
    if (left(&whole))
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "elements of a page", packed->elements,
                              whole.done);
    return NT_OK;
}

/* ---- Decoders ---- */

/* Do a dictionary's items have the output's type? Strings need their ends and bytes. */
static bool are_elements(const struct nt_decoder *decoder, const struct nt_decoder *const *dependencies)
{
    const struct nt_lance_decoder_state *state = decoder->state;
    if (state->spec.output == NT_LANCE_VALUES)
        return decoder->dependency_count > 0 && dependencies[0]->element_bytes == decoder->element_bytes;
    return decoder->dependency_count > 1 && dependencies[0]->element == NT_ELEMENT_UINT64 &&
           dependencies[1]->element_bytes == 1;
}

static enum nt_status check(const struct nt_decoder *decoder, const struct nt_decoder *const *dependencies,
                            struct nt_error *error)
{
    static const enum nt_element decode_state[] = {
        [NT_LANCE_VALID] = NT_ELEMENT_BOOL,    [NT_LANCE_OFFSETS] = NT_ELEMENT_UINT64,
        [NT_LANCE_ENDS] = NT_ELEMENT_UINT64,   [NT_LANCE_BYTES] = NT_ELEMENT_BYTE,
        [NT_LANCE_LEVELS] = NT_ELEMENT_OPAQUE, [NT_LANCE_PRESENT] = NT_ELEMENT_BOOL};
    const struct nt_lance_decoder_state *state = decoder->state;
    const struct nt_encoding_tree *tree = state->tree;
    enum nt_lance_decoder_output output = state->spec.output;
    uint32_t bytes = nt_element_info(decoder->element)->bytes;
    if ((unsigned)output > NT_LANCE_PRESENT ||
        (tree->is_whole && tree->part_count < 1u + (tree->layout == NT_LANCE_MINI_BLOCK)) ||
        (output != NT_LANCE_VALUES && decoder->element != decode_state[output]) ||
        (output == NT_LANCE_LEVELS && decoder->element_bytes != NT_LANCE_LEVEL_BYTES) ||
        (bytes && bytes != decoder->element_bytes))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the encoding cannot produce the requested output");
    bool needs_items = tree->has_dictionary && (output != NT_LANCE_VALID || state->spec.depth) &&
                       output != NT_LANCE_OFFSETS && output != NT_LANCE_LEVELS;
    return !needs_items || are_elements(decoder, dependencies)
               ? NT_OK
               : nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                         "the items of the dictionary have another type than the elements");
}

const struct nt_decoder_ops nt_lance_decoder_ops = {.decode = nt_lance_decode,
                                                    .check = check,
                                                    .are_shared = are_shared,
                                                    .decode_shared = decode_shared,
                                                    .allocates_memory = true};
