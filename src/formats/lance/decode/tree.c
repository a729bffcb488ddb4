/* SPDX-License-Identifier: MIT
 *
 * In: a page and what is wanted of it. Out: elements of a column of the model; or how many rows and bytes there are.
 */
#include "formats/lance/decode/tree.h"

#include "formats/lance/decode/full_zip_rows.h"
#include "formats/lance/decode/levels.h"
#include "formats/lance/decode/made.h"
#include "formats/lance/decode/structure.h"
#include "formats/lance/decode/texts.h"
#include "formats/lance/decode/values.h"

/* ---- all ---- */

static enum nt_status make(struct nt_made *made, uint32_t element_bytes, uint8_t *output,
                           struct nt_error *error)
{
    switch (made->want->output) {
    case NT_TREE_VALUES:
        return nt_make_values(made, element_bytes, output, error);
    case NT_TREE_VALID:
        return nt_make_valid(made, output, error);
    case NT_TREE_OFFSETS:
        return nt_make_offsets(made, output, error);
    case NT_TREE_ENDS:
        return nt_make_ends(made, output, error);
    case NT_TREE_BYTES:
        return nt_make_bytes(made, output, error);
    case NT_TREE_LEVELS:
        return nt_make_levels(made, output, error);
    case NT_TREE_PRESENT:
        return nt_make_presence(made, output, error);
    }
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "an output of no known kind");
}

enum nt_status nt_tree_decode(const struct nt_tree *tree, const struct nt_tree_want *want,
                              const struct nt_packed *packed, uint32_t element_bytes, uint8_t *output,
                              struct nt_error *error)
{
    struct nt_work work;
    struct nt_made made = {.work = &work, .want = want};
    nt_work_begin(&work, tree, packed);
    enum nt_status status = make(&made, element_bytes, output, error);
    nt_work_free(&work);
    return status;
}

/* ---- together ---- */

bool nt_tree_is_shareable(const struct nt_tree *tree, const struct nt_tree_want *want)
{
    static const bool is_shareable[] = {
        [NT_TREE_VALUES] = true, [NT_TREE_VALID] = true, [NT_TREE_OFFSETS] = true,
        [NT_TREE_ENDS] = true,   [NT_TREE_BYTES] = true, [NT_TREE_PRESENT] = false};
    bool is_walked = tree->layout == NT_TREE_FULL_ZIP && nt_full_zip_is_walked(tree);
    return (tree->layout == NT_TREE_MINI_BLOCK || is_walked) && !tree->is_whole &&
           !nt_tree_is_structure(tree) && !want->depth && want->repeats <= 1 && is_shareable[want->output];
}

/* What decodes all values, straight to where they are wanted, and leaves to the others what they ask for. */
static bool is_main(const struct nt_tree_share *share)
{
    return share->want->output == NT_TREE_VALUES || share->want->output == NT_TREE_BYTES;
}

static bool need_levels(const struct nt_tree *tree, const struct nt_tree_share *shares, uint32_t count)
{
    bool are_needed = nt_made_has_nulls(tree);
    for (uint32_t i = 0; i < count; i++)
        are_needed |= shares[i].want->output == NT_TREE_VALID || shares[i].want->output == NT_TREE_OFFSETS;
    return are_needed;
}

enum nt_status nt_tree_decode_together(const struct nt_tree *tree, const struct nt_tree_share *shares,
                                       uint32_t count, struct nt_error *error)
{
    struct nt_work work;
    struct nt_made made = {.work = &work, .want = shares->want, .is_shared = true};
    nt_work_begin(&work, tree, shares->packed);
    enum nt_status status = nt_made_open(&made, need_levels(tree, shares, count), true, error);
    for (uint32_t i = 0; status == NT_OK && i < 2 * count; i++) {
        const struct nt_tree_share *share = &shares[i % count];
        if (is_main(share) != (i < count))
            continue;
        made.want = share->want;
        work.packed = share->packed;
        status = make(&made, share->element_bytes, share->output, error);
    }
    nt_work_free(&work);
    return status;
}

/* ---- counting ---- */

static void count_rows(const struct nt_made *made, uint64_t values, struct nt_tree_counts *counts)
{
    const struct nt_tree *tree = made->work->tree;
    struct nt_layer_rule rule;
    for (uint32_t i = 0; i < tree->layer_count; i++) {
        nt_layer_rule(tree, i, &rule);
        counts->slots[i] = made->opened.levels.count ? nt_levels_rows(&made->opened.levels, &rule)
                           : rule.begins             ? 0
                                                     : values;
    }
}

/* Where rows of the outermost layer begin, seen from the page's ends. */
static void count_ends(const struct nt_made *made, struct nt_tree_counts *counts)
{
    const struct nt_tree *tree = made->work->tree;
    const struct nt_levels *levels = &made->opened.levels;
    struct nt_layer_rule rule;
    if (!tree->layer_count || !levels->count)
        return;
    nt_layer_rule(tree, tree->layer_count - 1, &rule);
    counts->is_continued = !nt_is_row(levels, &rule, 0);
    while (counts->last_row < levels->count)
        if (nt_is_row(levels, &rule, levels->count - ++counts->last_row))
            return;
}

static enum nt_status count_bytes(struct nt_made *made, uint64_t rows, struct nt_tree_counts *counts,
                                  struct nt_error *error)
{
    enum nt_status status = NT_OK;
    made->rows = rows;
    if (made->work->tree->layout ==
        NT_TREE_CONSTANT) { /* it has as many values as its levels have told now */
        made->opened = (struct nt_opened){0};
        status = nt_made_open(made, true, true, error);
    }
    return status == NT_OK ? nt_count_string_bytes(made, &counts->bytes, error) : status;
}

enum nt_status nt_tree_count(const struct nt_tree *tree, const struct nt_packed *packed, uint64_t values,
                             bool wants_bytes, uint32_t member, struct nt_tree_counts *counts,
                             struct nt_error *error)
{
    const struct nt_tree_want want = {.output = NT_TREE_ENDS, .member = member};
    struct nt_work work;
    struct nt_made made = {.work = &work, .want = &want, .rows = values};
    *counts = (struct nt_tree_counts){0};
    nt_work_begin(&work, tree, packed);
    enum nt_status status = nt_made_open(&made, true, wants_bytes && tree->layout != NT_TREE_CONSTANT, error);
    if (status == NT_OK) {
        counts->levels = made.opened.levels.count;
        count_rows(&made, values, counts);
        count_ends(&made, counts);
    }
    if (status == NT_OK && wants_bytes)
        status = count_bytes(&made, tree->layer_count ? counts->slots[0] : values, counts, error);
    counts->spent = packed->limit - work.left;
    nt_work_free(&work);
    return status;
}
