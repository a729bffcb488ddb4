/* SPDX-License-Identifier: MIT
 *
 * Decodes repetition and definition levels, and unravels them into the validity and list offsets of
 * each nesting layer.
 */
#include "formats/lance/decode/decode.h"

/* ---- Repetition and definition levels ---- */

static const struct {
    bool is_list;
    uint8_t levels; /* that the layer uses */
    bool has_null;  /* as the first of them */
    bool has_empty; /* as the last of them */
} layers[NT_LAYER_COUNT] = {
    [NT_LAYER_ITEM] = {false, 0, false, false},
    [NT_LAYER_LIST] = {true, 0, false, false},
    [NT_LAYER_NULLABLE_ITEM] = {false, 1, true, false},
    [NT_LAYER_NULLABLE_LIST] = {true, 1, true, false},
    [NT_LAYER_EMPTYABLE_LIST] = {true, 1, false, true},
    [NT_LAYER_NULL_AND_EMPTY_LIST] = {true, 2, true, true},
};

bool nt_lance_has_levels(const struct nt_encoding_tree *tree)
{
    return tree->repetition != NT_NO_NODE || tree->definition != NT_NO_NODE || tree->repetition_bits ||
           tree->definition_bits;
}

uint32_t nt_lance_lists(const struct nt_encoding_tree *tree, uint32_t layer)
{
    uint32_t lists = 0;
    for (uint32_t i = 0; i <= layer && i < tree->layer_count; i++)
        lists += layers[tree->layers[i]].is_list;
    return lists;
}

void nt_layer_rule(const struct nt_encoding_tree *tree, uint32_t layer, struct nt_layer_rule *rule)
{
    uint16_t level = 0, lists = 0;
    *rule = (struct nt_layer_rule){.visible = UINT16_MAX};
    for (uint32_t i = 0; i < tree->layer_count; i++) {
        uint8_t kind = tree->layers[i];
        if (i > layer && layers[kind].is_list) {
            rule->visible = level;
            return;
        }
        uint16_t before = level;
        level = (uint16_t)(level + layers[kind].levels);
        lists = (uint16_t)(lists + layers[kind].is_list);
        if (i != layer)
            continue;
        rule->begins = lists;
        rule->valid = layers[kind].has_null || layers[kind].has_empty ? before : level;
        rule->empty = layers[kind].has_empty ? level : 0;
    }
}

/* Can the 16-bit numbers be used in place? */
static bool are_levels(const struct nt_decoded_array *array)
{
    const uint16_t one = 1;
    return array->elements && (uintptr_t)array->data % _Alignof(uint16_t) == 0 && *(const uint8_t *)&one == 1;
}

enum nt_status nt_levels_decode(struct nt_decode_arena *arena, uint32_t root,
                                const struct nt_buffer_slice *part, uint64_t count,
                                const uint16_t **levels_ret, struct nt_error *error)
{
    struct nt_decoded_array array = {.bits = 16, .data = part->data, .elements = count};
    if (root != NT_NO_NODE)
        NT_TRY(nt_block_decode(arena, root, part, count, NULL, &array, error));
    if (array.bits != 16)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bits of a level", 16, array.bits);
    if (array.elements != count)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "levels", count, array.elements);
    uint16_t *levels;
    if (are_levels(&array)) {
        *levels_ret = (const uint16_t *)(const void *)array.data;
        return NT_OK;
    }
    NT_TRY(nt_decode_alloc(arena, count * sizeof(*levels), &levels, error));
    for (uint64_t i = 0; i < count; i++)
        levels[i] = nt_load_le16(array.data + 2 * i);
    *levels_ret = levels;
    return NT_OK;
}

/* Compilers vectorize this loop. Returns 0 if there are no levels. */
static uint16_t largest(const uint16_t *levels, uint64_t count)
{
    uint16_t most = 0;
    for (uint64_t i = 0; levels && i < count; i++)
        most = levels[i] > most ? levels[i] : most;
    return most;
}

enum nt_status nt_levels_check(const struct nt_encoding_tree *tree, const struct nt_levels *levels,
                               struct nt_error *error)
{
    uint16_t max_lists = 0, most = 0, repetition = largest(levels->repetition, levels->count),
             definition = largest(levels->definition, levels->count);
    for (uint32_t i = 0; i < tree->layer_count; i++) {
        most = (uint16_t)(most + layers[tree->layers[i]].levels);
        max_lists = (uint16_t)(max_lists + layers[tree->layers[i]].is_list);
    }
    if (repetition > max_lists)
        return nt_fail_above(error, NT_CORRUPT, NT_NO_OFFSET, "the largest repetition level", max_lists,
                             repetition);
    if (definition > most)
        return nt_fail_above(error, NT_CORRUPT, NT_NO_OFFSET, "the largest definition level", most,
                             definition);
    return NT_OK;
}

/* Counts in 16 bits, the width of the levels, so that vectors hold as many counters. */
static uint16_t count_some(const uint16_t *repetition, const uint16_t *definition,
                           const struct nt_layer_rule *rule, uint64_t first, uint64_t end)
{
    const uint16_t begins = rule->begins, visible = rule->visible;
    uint16_t rows = 0;
    if (!definition)
        for (uint64_t i = first; i < end; i++)
            rows = (uint16_t)(rows + (repetition[i] >= begins));
    else if (!repetition)
        for (uint64_t i = first; i < end; i++)
            rows = (uint16_t)(rows + (definition[i] <= visible));
    else
        for (uint64_t i = first; i < end; i++)
            rows = (uint16_t)(rows + ((repetition[i] >= begins) & (definition[i] <= visible)));
    return rows;
}

uint64_t nt_levels_rows(const struct nt_levels *levels, const struct nt_layer_rule *rule)
{
    enum { SOME = UINT16_MAX };
    uint64_t rows = 0;
    if (!levels->repetition && (!levels->definition || rule->visible == UINT16_MAX))
        return levels->count; /* each level is a row */
    for (uint64_t i = 0; i < levels->count; i += SOME)
        rows += count_some(levels->repetition, levels->definition, rule, i,
                           levels->count - i < SOME ? levels->count : i + SOME);
    return rows;
}

bool nt_layer_is_always_valid(const struct nt_encoding_tree *tree, uint32_t layer)
{
    struct nt_layer_rule rule;
    uint16_t level = 0;
    nt_layer_rule(tree, layer, &rule);
    for (uint32_t i = 0; i < tree->layer_count; i++)
        level = (uint16_t)(level + layers[tree->layers[i]].levels);
    level = level < rule.visible ? level : rule.visible;
    for (; level > rule.valid; level--)
        if (level != rule.empty)
            return false;
    return true;
}

/* ---- Validity and list offsets ---- */

/* Combines the validity of items `depth` fixed lists deep with that of all lists around them. */
static enum nt_status make_item_valid(struct nt_decode_state *state, uint8_t *output, struct nt_error *error)
{
    const struct nt_decoded_array *array = &state->opened.array;
    uint64_t elements = state->arena->packed->elements, items;
    NT_TRY(nt_decode_values(state, NULL, error));
    NT_TRY(nt_decode_find_nulls(state, error));
    bool is_packed = nt_lance_is_structure(state->arena->tree);
    if ((state->rows && elements % state->rows) || !nt_lance_items_per_row(state->arena->tree, &items) ||
        !nt_checked_multiply(state->rows, items, &items) ||
        (!array->is_null && !is_packed && array->elements != items))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%" PRIu64 " items do not fill %" PRIu64 " lists",
                       array->elements, state->rows);
    memset(output, 1, elements);
    nt_decode_clear_nulls(state, state->spec->depth, 1, output);
    return NT_OK;
}

/* Version 2.0: copies the validity that the array stores. */
static enum nt_status make_plain_valid(struct nt_decode_state *state, uint8_t *output, struct nt_error *error)
{
    uint64_t elements = state->arena->packed->elements;
    NT_TRY(nt_decode_values(state, NULL, error));
    NT_TRY(nt_decode_find_nulls(state, error));
    if (state->valid)
        memcpy(output, state->valid, elements);
    else
        memset(output, 1, elements);
    return NT_OK;
}

/* For layers whose logical row is several stored rows, which must agree. */
static enum nt_status make_repeated_valid(const struct nt_decode_state *state, uint8_t *output,
                                          struct nt_error *error)
{
    const struct nt_packed *packed = state->arena->packed;
    uint64_t repeats = state->spec->repeats, skipped = packed->parameter, done = 0;
    struct nt_layer_rule rule;
    uint8_t *valid;
    nt_layer_rule(state->arena->tree, state->spec->layer, &rule);
    uint64_t rows = nt_levels_rows(&state->opened.levels, &rule);
    NT_TRY(nt_decode_alloc(state->arena, rows, &valid, error));
    NT_TRY(nt_decode_valid_rows(state, state->spec->layer, rows, valid, error));
    for (uint64_t i = skipped; i < rows; i++) {
        bool begins = (i - skipped) % repeats == 0;
        if (!begins && valid[i] != valid[i - 1])
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "the items of a fixed-size list disagree about whether the list is null");
        if (begins && done++ < packed->elements)
            output[done - 1] = valid[i];
    }
    return done != packed->elements
               ? nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "fixed-size lists in the levels of a page",
                                packed->elements, done)
               : NT_OK;
}

static enum nt_status make_layer_valid(const struct nt_decode_state *state, uint8_t *output,
                                       struct nt_error *error)
{
    const struct nt_encoding_tree *tree = state->arena->tree;
    uint64_t elements = state->arena->packed->elements;
    struct nt_layer_rule rule;
    nt_layer_rule(tree, state->spec->layer, &rule);
    if (state->opened.array.is_null)
        memset(output, rule.valid >= 1, elements); /* only the innermost layer is null */
    else if (state->opened.levels.count || nt_lance_has_levels(tree))
        return state->spec->repeats > 1
                   ? make_repeated_valid(state, output, error)
                   : nt_decode_valid_rows(state, state->spec->layer, elements, output, error);
    else
        memset(output, state->spec->layer || !nt_lance_is_null(tree), elements);
    return NT_OK;
}

enum nt_status nt_output_validity(struct nt_decode_state *state, uint8_t *output, struct nt_error *error)
{
    const struct nt_encoding_tree *tree = state->arena->tree;
    uint64_t elements = state->arena->packed->elements, items;
    bool is_member = state->spec->depth && nt_lance_is_structure(tree);
    if (is_member)
        items = nt_decode_member_items(state);
    if ((!is_member && !nt_lance_items_of_depth(tree, state->spec->depth, &items)) || !items ||
        elements % items)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%" PRIu64 " items do not fill lists of %" PRIu64,
                       elements, items);
    state->rows = elements / items;
    bool is_plain = tree->layout == NT_LANCE_ARRAY;
    NT_TRY(nt_decode_open(state, true, state->spec->depth || is_plain, error));
    if (state->spec->depth)
        return make_item_valid(state, output, error);
    return is_plain ? make_plain_valid(state, output, error) : make_layer_valid(state, output, error);
}

/* Writes `count` offsets, each where a list begins. To avoid a branch, each level writes; the next
 * list overwrites an unused offset. `items`: items before the first level. */
static inline __attribute__((always_inline)) void write_offsets(const uint16_t *restrict repetition,
                                                                const uint16_t *restrict definition,
                                                                uint64_t levels, struct nt_layer_rule list,
                                                                struct nt_layer_rule item, uint64_t items,
                                                                uint8_t *restrict output, uint64_t count)
{
    for (uint64_t i = 0, done = 0; i < levels && done < count; i++) {
        uint16_t hides = definition ? definition[i] : 0;
        uint16_t begins = repetition ? repetition[i] : UINT16_MAX;
        memcpy(output + 8 * done, &items, sizeof(items));
        done += (begins >= list.begins) & (hides <= list.visible);
        items += (begins >= item.begins) & (hides <= item.visible);
    }
}

/* Calls a specialized loop for each kind of levels. */
static void put_offsets(const struct nt_levels *levels, const struct nt_layer_rule *list,
                        const struct nt_layer_rule *item, uint64_t from, uint64_t items, uint8_t *output,
                        uint64_t count)
{
    const uint16_t *repetition = levels->repetition ? levels->repetition + from : NULL;
    const uint16_t *definition = levels->definition ? levels->definition + from : NULL;
    uint64_t left = levels->count - from;
    if (repetition && definition)
        write_offsets(repetition, definition, left, *list, *item, items, output, count);
    else if (repetition)
        write_offsets(repetition, NULL, left, *list, *item, items, output, count);
    else
        write_offsets(NULL, definition, left, *list, *item, items, output, count);
}

/* Skips the column's first list: its start is not the end of another list. */
static uint64_t skip_first(const struct nt_levels *levels, const struct nt_layer_rule *list,
                           const struct nt_layer_rule *item, uint64_t *items)
{
    uint64_t i = 0;
    while (i < levels->count && !nt_is_row(levels, list, i))
        *items += nt_is_row(levels, item, i++);
    if (i < levels->count)
        *items += nt_is_row(levels, item, i++);
    return i;
}

/* Splits the parameter: returns the base, and the item count that the levels must confirm. */
static uint64_t find_added(uint64_t parameter, uint64_t *items_ret)
{
    uint64_t number = parameter & ~(NT_LANCE_IS_FIRST | NT_LANCE_IS_LAST | NT_LANCE_HAS_ITEM_COUNT);
    if (!(parameter & NT_LANCE_HAS_ITEM_COUNT))
        return number;
    *items_ret = number >> NT_LANCE_ADDED_BITS;
    return number & ((UINT64_C(1) << NT_LANCE_ADDED_BITS) - 1);
}

enum nt_status nt_output_offsets(struct nt_decode_state *state, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = state->arena->packed;
    const struct nt_levels *levels = &state->opened.levels;
    uint64_t declared = UINT64_MAX, items = find_added(packed->parameter, &declared), last, from = 0;
    bool is_first = packed->parameter & NT_LANCE_IS_FIRST, is_last = packed->parameter & NT_LANCE_IS_LAST;
    struct nt_layer_rule list, item;
    if (state->arena->tree->layout == NT_LANCE_ARRAY)
        return nt_output_ends(state, output, error);
    NT_TRY(nt_decode_open(state, true, false, error));
    nt_layer_rule(state->arena->tree, state->spec->layer, &list);
    nt_layer_rule(state->arena->tree, state->spec->layer - 1, &item);
    uint64_t lists = nt_levels_rows(levels, &list);
    uint64_t found = lists - (is_first && lists) + is_last;
    if (found != packed->elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "lists in the levels of a page",
                              packed->elements, found);
    last = items + nt_levels_rows(levels, &item);
    if (declared != UINT64_MAX && declared != last - items)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "items in the levels of a page", declared,
                              last - items);
    if (is_first)
        from = skip_first(levels, &list, &item, &items);
    put_offsets(levels, &list, &item, from, items, output, found - is_last);
    if (is_last)
        memcpy(output + 8 * (found - 1), &last, sizeof(last));
    return NT_OK;
}

enum nt_status nt_output_levels(struct nt_decode_state *state, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = state->arena->packed;
    const struct nt_levels *levels = &state->opened.levels;
    state->rows = packed->parameter;
    NT_TRY(nt_decode_open(state, true, false, error));
    if (levels->count != packed->elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "levels of a page", packed->elements,
                              levels->count);
    for (uint64_t i = 0; i < levels->count; i++) {
        const uint16_t both[2] = {levels->repetition ? levels->repetition[i] : 0,
                                  levels->definition ? levels->definition[i] : 0};
        memcpy(output + i * sizeof(both), both, sizeof(both));
    }
    return NT_OK;
}
