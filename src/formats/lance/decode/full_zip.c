/* SPDX-License-Identifier: MIT
 *
 * Decodes the full-zip layout, where each row stores its levels and its value next to each other.
 */
#include "formats/lance/decode/decode.h"

/* ---- Rows with levels or lengths ---- */

struct row_walk {
    const struct nt_encoding_tree *tree;
    struct nt_cursor cursor;
    struct nt_layer_rule rule;
    uint32_t control_bytes, length_bytes, value_bytes;
};

struct row {
    uint16_t repetition, definition;
    bool is_visible;
    struct nt_buffer_slice value;
};

static void start(struct row_walk *walk, const struct nt_encoding_tree *tree,
                  const struct nt_buffer_slice *part)
{
    *walk = (struct row_walk){.tree = tree, .cursor = nt_cursor(part->data, part->bytes)};
    walk->control_bytes = nt_lance_control_bytes(tree);
    walk->length_bytes = tree->offset_bits / 8;
    walk->value_bytes = (tree->value_bits + 7) / 8;
    nt_layer_rule(tree, 0, &walk->rule);
}

static bool next(struct row_walk *walk, struct row *row)
{
    if (!nt_cursor_left(&walk->cursor))
        return false;
    uint64_t control = nt_get_number(&walk->cursor, walk->control_bytes);
    uint64_t definition = control & ((UINT64_C(1) << walk->tree->definition_bits) - 1);
    uint64_t repetition = control >> walk->tree->definition_bits;
    *row = (struct row){.repetition = (uint16_t)(repetition < UINT16_MAX ? repetition : UINT16_MAX),
                        .definition = (uint16_t)definition,
                        .is_visible = definition <= walk->rule.visible};
    if (row->is_visible) {
        row->value.bytes = walk->value_bytes;
        if (walk->length_bytes)
            row->value.bytes = definition ? 0 : nt_get_number(&walk->cursor, walk->length_bytes);
        row->value.data = nt_get_bytes(&walk->cursor, row->value.bytes);
    }
    return !walk->cursor.failed;
}

struct row_totals {
    uint64_t rows, values, bytes;
};

/* The destination of gathered rows. */
struct gathered_rows {
    uint16_t *repetition, *definition; /* NULL: absent */
    uint8_t *bytes;                    /* with COPIED bytes of slack */
    uint64_t *ends;                    /* NULL: values have no lengths */
};

/* Copies of small values have this fixed size, so they also copy bytes after the value. */
enum { COPIED = 16 };

static void put_levels(const struct gathered_rows *to, uint64_t row, uint16_t repetition, uint16_t definition)
{
    if (to->repetition)
        to->repetition[row] = repetition;
    if (to->definition)
        to->definition[row] = definition;
}

/* ---- Rows far enough from the end of the input to be parsed without bounds checks ---- */

static inline __attribute__((always_inline)) void walk_inside(struct row_walk *walk,
                                                              struct row_totals *totals,
                                                              const struct gathered_rows *to,
                                                              bool has_lengths)
{
    const uint32_t control_mask = walk->control_bytes == 4 ? UINT32_MAX : (1U << 8 * walk->control_bytes) - 1,
                   definition_bits = walk->tree->definition_bits,
                   definition_mask = (1U << definition_bits) - 1, visible = walk->rule.visible;
    const uint64_t length_mask =
        walk->length_bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * walk->length_bytes) - 1;
    const uint8_t *data = walk->cursor.bytes;
    const uint64_t header_bytes = walk->control_bytes + (uint64_t)walk->length_bytes,
                   needed = header_bytes + walk->value_bytes + COPIED;
    uint64_t at = walk->cursor.position;
    struct row_totals done = *totals;
    while (walk->cursor.end - at >= needed) {
        uint32_t control = nt_load_le32(data + at) & control_mask, definition = control & definition_mask,
                 repetition = control >> definition_bits;
        bool is_visible = definition <= visible, is_value = is_visible && !(has_lengths && definition);
        uint64_t begin = at + (has_lengths && is_value ? header_bytes : walk->control_bytes),
                 bytes = is_value ? walk->value_bytes : 0;
        if (has_lengths && is_value)
            bytes = nt_load_le64(data + at + walk->control_bytes) & length_mask;
        if (has_lengths && bytes > walk->cursor.end - begin - COPIED)
            break;
        if (to) {
            put_levels(to, done.rows, (uint16_t)(repetition < UINT16_MAX ? repetition : UINT16_MAX),
                       (uint16_t)definition);
            memcpy(to->bytes + done.bytes, data + begin, COPIED);
            if (bytes > COPIED)
                memcpy(to->bytes + done.bytes, data + begin, bytes);
            if (has_lengths && is_visible)
                to->ends[done.values] = done.bytes + bytes;
        }
        at = begin + bytes;
        done.rows++;
        done.values += is_visible;
        done.bytes += bytes;
    }
    walk->cursor.position = at;
    *totals = done;
}

static void count_inside(struct row_walk *walk, struct row_totals *totals)
{
    if (walk->length_bytes)
        walk_inside(walk, totals, NULL, true);
    else
        walk_inside(walk, totals, NULL, false);
}

static void gather_inside(struct row_walk *walk, struct row_totals *totals, const struct gathered_rows *to)
{
    if (walk->length_bytes)
        walk_inside(walk, totals, to, true);
    else
        walk_inside(walk, totals, to, false);
}

/* ---- All rows ---- */

static enum nt_status count_totals(const struct nt_encoding_tree *tree, const struct nt_buffer_slice *part,
                                   struct row_totals *totals, struct nt_error *error)
{
    struct row_walk walk;
    struct row row;
    start(&walk, tree, part);
    *totals = (struct row_totals){0};
    if (!walk.control_bytes && !walk.length_bytes && !walk.value_bytes)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "rows of a full-zip page take no bytes");
    count_inside(&walk, totals);
    while (next(&walk, &row)) {
        totals->rows++;
        totals->values += row.is_visible;
        totals->bytes += row.value.bytes;
    }
    if (walk.cursor.failed)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "row %" PRIu64 " of a full-zip page ends past its %" PRIu64 " bytes", totals->rows,
                       part->bytes);
    return NT_OK;
}

static enum nt_status take_memory(struct nt_decode_arena *arena, const struct row_totals *totals,
                                  struct gathered_rows *gathered, struct nt_error *error)
{
    const struct nt_encoding_tree *tree = arena->tree;
    if (tree->repetition_bits)
        NT_TRY(nt_decode_alloc(arena, totals->rows * sizeof(uint16_t), &gathered->repetition, error));
    if (tree->definition_bits)
        NT_TRY(nt_decode_alloc(arena, totals->rows * sizeof(uint16_t), &gathered->definition, error));
    NT_TRY(nt_decode_alloc(arena, totals->bytes + COPIED, &gathered->bytes, error));
    if (tree->offset_bits)
        NT_TRY(nt_decode_alloc(arena, totals->values * sizeof(uint64_t), &gathered->ends, error));
    return NT_OK;
}

static enum nt_status gather(struct nt_decode_arena *arena, const struct nt_buffer_slice *part,
                             const struct row_totals *totals, struct nt_opened_page *opened,
                             struct nt_error *error)
{
    struct gathered_rows gathered = {0};
    struct row_totals done = {0};
    struct row_walk walk;
    struct row row;
    NT_TRY(take_memory(arena, totals, &gathered, error));
    start(&walk, arena->tree, part);
    gather_inside(&walk, &done, &gathered);
    for (; next(&walk, &row); done.rows++) {
        put_levels(&gathered, done.rows, row.repetition, row.definition);
        if (!row.is_visible)
            continue;
        if (row.value.bytes)
            memcpy(gathered.bytes + done.bytes, row.value.data, row.value.bytes);
        done.bytes += row.value.bytes;
        if (gathered.ends)
            gathered.ends[done.values] = done.bytes;
        done.values++;
    }
    if (gathered.repetition || gathered.definition)
        opened->levels = (struct nt_levels){done.rows, gathered.repetition, gathered.definition};
    opened->array = (struct nt_decoded_array){
        .elements = done.values, .data = gathered.bytes, .bytes = done.bytes, .ends = gathered.ends};
    return nt_levels_check(arena->tree, &opened->levels, error);
}

bool nt_full_zip_is_walked(const struct nt_encoding_tree *tree)
{
    return tree->repetition_bits || tree->definition_bits || tree->offset_bits;
}

/* ---- Values that are encoded one by one ---- */

static enum nt_status refuse_node(const struct nt_encoding_tree_node *node, struct nt_error *error)
{
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot decode the encoding %s in a full-zip page",
                   nt_encoding_tree_node_info(node->kind)->name);
}

/* Converts strings of equal length to fixed-width values; null ones are empty. */
static enum nt_status to_fixed(struct nt_decode_arena *arena, uint32_t bits, struct nt_decoded_array *array,
                               struct nt_error *error)
{
    uint64_t width = bits / 8, begin = 0, total;
    uint8_t *output;
    if (bits % 8 || !width)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "values of %" PRIu32 " bits cannot have lengths",
                       bits);
    if (!nt_checked_multiply(array->elements, width, &total))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "values of a full-zip page overflow");
    NT_TRY(nt_decode_alloc(arena, total, &output, error));
    for (uint64_t i = 0; i < array->elements; begin = array->ends[i++]) {
        uint64_t bytes = array->ends[i] - begin;
        if (bytes && bytes != width)
            return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a value", width, bytes);
        else if (bytes)
            memcpy(output + i * width, array->data + begin, width);
        else
            memset(output + i * width, 0, width);
    }
    *array =
        (struct nt_decoded_array){.elements = array->elements, .bits = bits, .data = output, .bytes = total};
    return NT_OK;
}

static enum nt_status decompress_each(struct nt_decode_arena *arena, const struct nt_encoding_tree_node *node,
                                      struct nt_decoded_array *array, struct nt_error *error)
{
    uint64_t total = 0, bytes = 0, begin = 0, *ends;
    uint8_t *output;
    NT_TRY(nt_decode_alloc(arena, array->elements * sizeof(*ends), &ends, error));
    for (uint64_t i = 0; i < array->elements; begin = array->ends[i++]) {
        bytes = 0;
        if (array->ends[i] != begin)
            NT_TRY(nt_length_prefixed_bytes(node->algorithm, array->data + begin, array->ends[i] - begin,
                                            &bytes, error));
        if (!nt_checked_add(total, bytes, &total))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the sizes of compressed values overflow");
        ends[i] = total;
    }
    NT_TRY(nt_decode_alloc(arena, total, &output, error));
    begin = 0;
    for (uint64_t i = 0, to = 0; i < array->elements; to = ends[i], begin = array->ends[i++])
        if (array->ends[i] != begin)
            NT_TRY(nt_length_prefixed_decompress(node->algorithm, array->data + begin, array->ends[i] - begin,
                                                 output + to, ends[i] - to, arena->packed->context, error));
    *array =
        (struct nt_decoded_array){.elements = array->elements, .data = output, .bytes = total, .ends = ends};
    return NT_OK;
}

static void copy_bits(const uint8_t *from, uint8_t *to, uint64_t at, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (nt_bit_is_set(from, i))
            to[(at + i) / 8] |= (uint8_t)(1U << ((at + i) % 8));
}

/* Gathers `count` bits from byte `offset` of each value, of `stride` bytes, into consecutive bits. */
static enum nt_status gather_bits(struct nt_decode_arena *arena, const struct nt_decoded_array *array,
                                  uint64_t stride, uint64_t offset, uint64_t count, const uint8_t **bits_ret,
                                  struct nt_error *error)
{
    uint8_t *bits;
    uint64_t total, bytes;
    if (!nt_checked_multiply(array->elements, count, &total))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of items of fixed-size lists overflows");
    NT_TRY(nt_bits_to_bytes(total, 1, &bytes, error));
    NT_TRY(nt_decode_alloc(arena, bytes, &bits, error));
    memset(bits, 0, bytes);
    for (uint64_t i = 0; i < array->elements; i++)
        copy_bits(array->data + i * stride + offset, bits, i * count, count);
    *bits_ret = bits;
    return NT_OK;
}

static enum nt_status gather_items(struct nt_decode_arena *arena, const struct nt_decoded_array *array,
                                   uint64_t stride, uint64_t offset, uint64_t bytes, const uint8_t **data_ret,
                                   struct nt_error *error)
{
    uint8_t *data;
    if (bytes == stride) {
        *data_ret = array->data;
        return NT_OK;
    }
    NT_TRY(nt_decode_alloc(arena, array->elements * bytes, &data, error)); /* less than the stride */
    for (uint64_t i = 0; i < array->elements; i++)
        memcpy(data + i * bytes, array->data + i * stride + offset, bytes);
    *data_ret = data;
    return NT_OK;
}

/* The fixed lists around a value. In a list with validity, the item validity precedes the items. */
struct fixed_lists {
    const struct nt_encoding_tree_node *inside; /* the node inside all of them */
    uint64_t items;                             /* product over all of them */
    uint64_t offset;                            /* where the items begin */
};

static enum nt_status cut_lists(struct nt_decode_arena *arena, const struct nt_decoded_array *array,
                                uint64_t stride, struct nt_decoded_array *cut, struct fixed_lists *lists,
                                struct nt_error *error)
{
    const struct nt_encoding_tree *tree = arena->tree;
    const struct nt_encoding_tree_node *node = lists->inside;
    for (; node->kind == NT_LANCE_FIXED_LIST || node->kind == NT_LANCE_PACKED;
         node = &tree->nodes[node->children[0]]) {
        if (node->kind == NT_LANCE_PACKED)
            continue;
        if (!nt_checked_multiply(lists->items, node->items, &lists->items) || cut->depth == NT_LANCE_DEPTH)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "fixed-size lists of %" PRIu64 " items do not fit %" PRIu64 " bytes", lists->items,
                           stride);
        struct nt_list_validity *list = &cut->lists[cut->depth++];
        uint64_t bytes = node->has_validity ? lists->items / 8 + (lists->items % 8 != 0) : 0;
        list->items = node->items;
        list->are_null = tree->nodes[node->children[0]].is_null;
        if (bytes > stride - lists->offset)
            return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a value", lists->offset + bytes,
                                 stride);
        if (node->has_validity)
            NT_TRY(gather_bits(arena, array, stride, lists->offset, lists->items, &list->valid, error));
        lists->offset += bytes;
    }
    lists->inside = node;
    return NT_OK;
}

static enum nt_status cut_items(struct nt_decode_arena *arena, const struct nt_decoded_array *array,
                                uint64_t stride, const struct fixed_lists *lists,
                                struct nt_decoded_array *cut, struct nt_error *error)
{
    uint64_t bytes;
    cut->bits = lists->inside->bits;
    NT_TRY(nt_bits_to_bytes(lists->items, cut->bits, &bytes, error));
    if (bytes > stride - lists->offset)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a value", lists->offset + bytes,
                             stride);
    NT_TRY(cut->bits == 1 ? gather_bits(arena, array, stride, lists->offset, lists->items, &cut->data, error)
                          : gather_items(arena, array, stride, lists->offset, bytes, &cut->data, error));
    cut->bytes = cut->bits == 1 ? (cut->elements + 7) / 8 : array->elements * bytes;
    return NT_OK;
}

/* Decodes a node whose values take `stride` bytes each. */
static enum nt_status cut_values(struct nt_decode_arena *arena, uint32_t root, uint64_t stride,
                                 struct nt_decoded_array *array, struct nt_error *error)
{
    struct nt_decoded_array cut = {0};
    struct fixed_lists lists = {.items = 1, .inside = &arena->tree->nodes[root]};
    NT_TRY(cut_lists(arena, array, stride, &cut, &lists, error));
    struct nt_decoded_array values = {0};
    uint32_t number = (uint32_t)(lists.inside - arena->tree->nodes);
    if (!nt_checked_multiply(array->elements, lists.items, &cut.elements))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of items of fixed-size lists overflows");
    if (lists.inside->kind == NT_LANCE_FLAT)
        NT_TRY(cut_items(arena, array, stride, &lists, &cut, error));
    else if (lists.inside->kind == NT_LANCE_SAME) {
        NT_TRY(nt_lance_node_decode(arena, number, NULL, cut.elements, NULL, &values, error));
        cut.bits = values.bits;
        cut.data = values.data;
        cut.bytes = values.bytes;
    } else
        return refuse_node(lists.inside, error);
    *array = cut;
    return NT_OK;
}

/* Extracts a member of structures whose members are stored one after the other. */
static enum nt_status select_member(struct nt_decode_arena *arena, const struct nt_encoding_tree_node *node,
                                    uint32_t member, struct nt_decoded_array *array, struct nt_error *error)
{
    uint8_t *output;
    uint64_t *ends, state = 0, begin = 0;
    if (member == NT_LANCE_INNER_MEMBER)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "cannot read structures within structures whose members are encoded one by one");
    if (member >= node->member_count)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "members of a structure", member + UINT64_C(1),
                             node->member_count);
    NT_TRY(nt_decode_alloc(arena, array->bytes, &output, error));
    NT_TRY(nt_decode_alloc(arena, array->elements * sizeof(*ends), &ends, error));
    for (uint64_t i = 0; i < array->elements; begin = array->ends[i++]) {
        struct nt_cursor cursor = nt_cursor(array->data + begin, array->ends[i] - begin);
        for (uint32_t k = 0; k <= member && array->ends[i] != begin; k++) {
            const struct nt_lance_member *at = &node->members[k];
            uint64_t bytes = at->bits ? at->bits / 8 : nt_get_number(&cursor, at->length_bits / 8);
            const uint8_t *value = nt_get_bytes(&cursor, bytes);
            if (k == member && value) {
                memcpy(output + state, value, bytes);
                state += bytes;
            }
        }
        ends[i] = state;
        if (cursor.failed)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "structure %" PRIu64 " is shorter than its members", i);
    }
    *array =
        (struct nt_decoded_array){.elements = array->elements, .data = output, .bytes = state, .ends = ends};
    return NT_OK;
}

/* Decompresses each value on its own; *root becomes the node inside. */
static enum nt_status decompress_pieces(struct nt_decode_arena *arena, uint32_t *root,
                                        struct nt_decoded_array *array, struct nt_error *error)
{
    const struct nt_encoding_tree_node *nodes = arena->tree->nodes;
    for (; nodes[*root].kind == NT_LANCE_LENGTH_PREFIXED; *root = nodes[*root].children[0])
        NT_TRY(decompress_each(arena, &nodes[*root], array, error));
    return NT_OK;
}

static enum nt_status decode_strings(struct nt_decode_arena *arena, uint32_t root,
                                     struct nt_decoded_array *array, struct nt_error *error)
{
    NT_TRY(decompress_pieces(arena, &root, array, error));
    const struct nt_encoding_tree_node *node = &arena->tree->nodes[root];
    if (node->kind == NT_LANCE_VARIABLE)
        return NT_OK;
    return node->kind == NT_LANCE_FSST ? nt_strings_expand(arena, node->fsst, array, error)
                                       : refuse_node(node, error);
}

static enum nt_status decode_rows(struct nt_decode_arena *arena, const struct nt_encoding_tree_node *node,
                                  struct nt_decoded_array *array, struct nt_error *error)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < node->member_count; i++) {
        bits += node->members[i].bits;
        if (!node->members[i].bits || bits > UINT32_MAX)
            return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                           "cannot decode whole structures without a fixed width");
    }
    return to_fixed(arena, (uint32_t)bits, array, error);
}

static enum nt_status decode_member(struct nt_decode_arena *arena, const struct nt_encoding_tree_node *node,
                                    uint32_t member, struct nt_decoded_array *array, struct nt_error *error)
{
    NT_TRY(select_member(arena, node, member, array, error));
    const struct nt_lance_member *requested = &node->members[member];
    if (!requested->bits)
        return decode_strings(arena, requested->node, array, error);
    NT_TRY(to_fixed(arena, requested->bits, array, error));
    return cut_values(arena, requested->node, requested->bits / 8, array, error);
}

static enum nt_status decode_values(struct nt_decode_arena *arena, uint32_t member,
                                    struct nt_decoded_array *array, struct nt_error *error)
{
    uint32_t root = arena->tree->values;
    if (!array->ends)
        return cut_values(arena, root, (arena->tree->value_bits + 7) / 8, array, error);
    NT_TRY(decompress_pieces(arena, &root, array, error));
    const struct nt_encoding_tree_node *node = &arena->tree->nodes[root];
    switch (node->kind) {
    case NT_LANCE_VARIABLE_PACKED:
        return member == NT_LANCE_ALL_MEMBERS ? decode_rows(arena, node, array, error)
                                              : decode_member(arena, node, member, array, error);
    case NT_LANCE_FLAT:
        return to_fixed(arena, node->bits, array, error);
    default:
        return decode_strings(arena, root, array, error);
    }
}

enum nt_status nt_full_zip_open(struct nt_decode_arena *arena, uint32_t member, uint64_t values,
                                struct nt_opened_page *opened, struct nt_error *error)
{
    const struct nt_encoding_tree *tree = arena->tree;
    const struct nt_buffer_slice part = {arena->packed->data, arena->packed->bytes};
    opened->has_array = true;
    if (nt_full_zip_is_walked(tree)) {
        struct row_totals totals;
        NT_TRY(count_totals(tree, &part, &totals, error));
        NT_TRY(gather(arena, &part, &totals, opened, error));
    } else {
        uint64_t bytes = 0;
        if (!nt_checked_multiply(values, (tree->value_bits + 7) / 8, &bytes))
            bytes = UINT64_MAX;
        NT_TRY(nt_buffer_slice_require(&part, bytes, "rows of a full-zip page", error));
        opened->array = (struct nt_decoded_array){.elements = values, .data = part.data, .bytes = bytes};
    }
    return decode_values(arena, member, &opened->array, error);
}
