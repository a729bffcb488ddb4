/* SPDX-License-Identifier: MIT
 *
 * In: repetition and definition levels, and the layers around a value. Out: which levels are rows of which
 * layer, and which of them are null (Lance's encoding, "Repetition and definition levels").
 *
 * Definition levels count up from the innermost layer; one tells that its layer, and all inside it, has
 * nothing. Repetition r begins a list at the r-th list layer from inside, 0 goes on in all of them.
 */
#include "formats/lance/decode/levels.h"

#include <inttypes.h>

#include "core/base/bytes.h"
#include "formats/lance/decode/nodes.h"

static const struct {
    bool is_list;
    uint8_t levels; /* that it takes */
    bool has_null;  /* the first of them */
    bool has_empty; /* the last of them */
} layers[NT_LAYER_COUNT] = {
    [NT_LAYER_ITEM] = {false, 0, false, false},
    [NT_LAYER_LIST] = {true, 0, false, false},
    [NT_LAYER_NULLABLE_ITEM] = {false, 1, true, false},
    [NT_LAYER_NULLABLE_LIST] = {true, 1, true, false},
    [NT_LAYER_EMPTYABLE_LIST] = {true, 1, false, true},
    [NT_LAYER_NULL_AND_EMPTY_LIST] = {true, 2, true, true},
};

bool nt_tree_has_levels(const struct nt_tree *tree)
{
    return tree->repetition != NT_NO_NODE || tree->definition != NT_NO_NODE || tree->repetition_bits ||
           tree->definition_bits;
}

uint32_t nt_tree_lists(const struct nt_tree *tree, uint32_t layer)
{
    uint32_t lists = 0;
    for (uint32_t i = 0; i <= layer && i < tree->layer_count; i++)
        lists += layers[tree->layers[i]].is_list;
    return lists;
}

void nt_layer_rule(const struct nt_tree *tree, uint32_t layer, struct nt_layer_rule *rule)
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

/* Whether numbers of 16 bits can be used where they lie. */
static bool are_levels(const struct nt_array *array)
{
    const uint16_t one = 1;
    return array->elements && (uintptr_t)array->data % _Alignof(uint16_t) == 0 && *(const uint8_t *)&one == 1;
}

enum nt_status nt_levels_decode(struct nt_work *work, uint32_t root, const struct nt_part *part,
                                uint64_t count, const uint16_t **levels_ret, struct nt_error *error)
{
    struct nt_array array = {.bits = 16, .data = part->data, .elements = count};
    enum nt_status status = NT_OK;
    if (root != NT_NO_NODE)
        status = nt_block_decode(work, root, part, count, NULL, &array, error);
    if (status == NT_OK && array.bits != 16)
        status = nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bits of a level", 16, array.bits);
    if (status == NT_OK && array.elements != count)
        status = nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "levels", count, array.elements);
    uint16_t *levels;
    if (status == NT_OK && are_levels(&array)) {
        *levels_ret = (const uint16_t *)(const void *)array.data;
        return NT_OK;
    }
    if (status == NT_OK)
        status = nt_work_take(work, count * sizeof(*levels), &levels, error);
    if (status != NT_OK)
        return status;
    for (uint64_t i = 0; i < count; i++)
        levels[i] = nt_load_le16(array.data + 2 * i);
    *levels_ret = levels;
    return NT_OK;
}

/* A vector of them at a time; 0 of none. */
static uint16_t largest(const uint16_t *levels, uint64_t count)
{
    uint16_t most = 0;
    for (uint64_t i = 0; levels && i < count; i++)
        most = levels[i] > most ? levels[i] : most;
    return most;
}

enum nt_status nt_levels_check(const struct nt_tree *tree, const struct nt_levels *levels,
                               struct nt_error *error)
{
    uint16_t most_lists = 0, most = 0, repetition = largest(levels->repetition, levels->count),
             definition = largest(levels->definition, levels->count);
    for (uint32_t i = 0; i < tree->layer_count; i++) {
        most = (uint16_t)(most + layers[tree->layers[i]].levels);
        most_lists = (uint16_t)(most_lists + layers[tree->layers[i]].is_list);
    }
    if (repetition > most_lists)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "the largest repetition level, at most",
                              most_lists, repetition);
    if (definition > most)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "the largest definition level, at most", most,
                              definition);
    return NT_OK;
}

/* What is counted in a vector may be as narrow as the levels are. */
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
        return levels->count; /* each is a row */
    for (uint64_t i = 0; i < levels->count; i += SOME)
        rows += count_some(levels->repetition, levels->definition, rule, i,
                           levels->count - i < SOME ? levels->count : i + SOME);
    return rows;
}

bool nt_layer_is_always_valid(const struct nt_tree *tree, uint32_t layer)
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
