/* SPDX-License-Identifier: MIT
 *
 * Repetition and definition levels.
 */
#ifndef NT_CODEC_TREE_LEVELS_H
#define NT_CODEC_TREE_LEVELS_H

#include "formats/lance/decode/work.h"

/* What a layer's rows are, by their levels: a row begins where the repetition is at least `begins`, and is
 * there where the definition is at most `visible`. */
struct nt_layer_rule {
    uint16_t begins, visible;
    uint16_t valid; /* the largest definition of a row that is valid */
    uint16_t empty; /* and a larger one of one that is valid, too; 0: none */
};
void nt_layer_rule(const struct nt_tree *tree, uint32_t layer, struct nt_layer_rule *rule);
/* `count` levels of a part. `root`: how they are encoded; NT_NO_NODE: they lie there as they are. */
enum nt_status nt_levels_decode(struct nt_work *work, uint32_t root, const struct nt_part *part,
                                uint64_t count, const uint16_t **levels_ret, struct nt_error *error);
/* The largest levels that the layers allow. NT_CORRUPT where there are larger ones. */
enum nt_status nt_levels_check(const struct nt_tree *tree, const struct nt_levels *levels,
                               struct nt_error *error);

static inline bool nt_is_row(const struct nt_levels *levels, const struct nt_layer_rule *rule, uint64_t i)
{
    return (!levels->repetition || levels->repetition[i] >= rule->begins) &&
           (!levels->definition || levels->definition[i] <= rule->visible);
}

static inline bool nt_is_valid(const struct nt_levels *levels, const struct nt_layer_rule *rule, uint64_t i)
{
    uint16_t definition = levels->definition ? levels->definition[i] : 0;
    return definition <= rule->valid || (rule->empty && definition == rule->empty);
}

/* Whether no level that the layers allow makes a row of the layer null. */
bool nt_layer_is_always_valid(const struct nt_tree *tree, uint32_t layer);

/* How many rows a layer has in the page. */
uint64_t nt_levels_rows(const struct nt_levels *levels, const struct nt_layer_rule *rule);

#endif
