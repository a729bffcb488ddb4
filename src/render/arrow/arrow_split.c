/* SPDX-License-Identifier: MIT
 *
 * Batches of what offsets of 32 bits can count. Where a list or string has more in a cluster, the cluster is cut in two
 * halves of as many entries, and these again, until no part has too many; how many it has, an offset at each
 * cut tells. What is within bounds, which almost all is, costs nothing.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/grow.h"
#include "render/arrow/arrow_internal.h"

/* Of each part as many numbers are kept as nodes have borders, and rows of fields. More are refused: nothing but a file
 * that tells of more than it has bytes for asks for them. */
enum { MOST_NUMBERS = 1 << 22, MOST_PARTS = 1 << 16 };

struct splitting {
    const struct nt_arrow *arrow;
    uint32_t *nodes; /* those that have too many items in some cluster */
    uint32_t node_count;
    uint64_t parts, most_parts;
    struct nt_arrow_cut *cuts;
    uint32_t cut_count;
    size_t cut_capacity;
    struct nt_error *error;
};

static bool has_too_many(const struct nt_arrow *arrow, const struct nt_arrow_node *node, uint32_t cluster)
{
    const uint64_t *borders = nt_arrow_item_borders(node);
    return borders[cluster + 1] - borders[cluster] > arrow->most_items;
}

static enum nt_status find_nodes(struct splitting *splitting)
{
    const struct nt_arrow *arrow = splitting->arrow;
    splitting->nodes = calloc(arrow->node_count, sizeof(*splitting->nodes));
    if (!splitting->nodes)
        return nt_fail_memory(splitting->error);
    for (uint32_t i = 1; i < arrow->node_count; i++) {
        bool is_one = false;
        for (uint32_t cluster = 0; arrow->nodes[i].has_short_offsets && cluster < arrow->cluster_count;
             cluster++)
            is_one |= has_too_many(arrow, &arrow->nodes[i], cluster);
        if (is_one)
            splitting->nodes[splitting->node_count++] = i;
    }
    return NT_OK;
}

/* Takes the cut. */
static enum nt_status add_cut(struct splitting *splitting, struct nt_arrow_cut *cut)
{
    struct nt_arrow_cut *cuts =
        nt_grow(splitting->cuts, splitting->cut_count, &splitting->cut_capacity, sizeof(*cuts));
    if (!cuts)
        return nt_fail_memory(splitting->error);
    splitting->cuts = cuts;
    cuts[splitting->cut_count++] = *cut;
    *cut = (struct nt_arrow_cut){0};
    return NT_OK;
}

/* Of each of the nodes, between those before and behind. */
static enum nt_status count_items(const struct splitting *splitting, const struct nt_arrow_cut *cut,
                                  const uint64_t *before, const uint64_t *behind, uint64_t *items)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < splitting->node_count && status == NT_OK; i++) {
        uint32_t field = splitting->arrow->nodes[splitting->nodes[i]].field;
        status = nt_arrow_items_before(splitting->arrow, field, cut, &items[i], splitting->error);
        if (status == NT_OK && items[i] < before[i])
            status = nt_fail_number(splitting->error, NT_CORRUPT, NT_NO_OFFSET,
                                    "items of a field before an entry, at least", before[i], items[i]);
        if (status == NT_OK && items[i] > behind[i])
            status = nt_fail_number(splitting->error, NT_CORRUPT, NT_NO_OFFSET,
                                    "items of a field before an entry, at most", behind[i], items[i]);
    }
    return status;
}

static bool fits(const struct splitting *splitting, const uint64_t *before, const uint64_t *behind)
{
    for (uint32_t i = 0; i < splitting->node_count; i++)
        if (behind[i] - before[i] > splitting->arrow->most_items)
            return false;
    return true;
}

/* Entries [first, end), before and behind which the nodes have so many items. Halves of 64 bits are 64 deep at most. */
static enum nt_status split_entries(struct splitting *splitting, uint32_t stored, uint64_t first,
                                    uint64_t end, const uint64_t *before, const uint64_t *behind)
{
    struct nt_arrow_cut cut;
    if (end - first < 2 || fits(splitting, before, behind))
        return NT_OK;
    if (splitting->parts++ == splitting->most_parts)
        return nt_fail(splitting->error, NT_LIMIT, NT_NO_OFFSET,
                       "offsets of 32 bits need more than %" PRIu64 " batches", splitting->most_parts);
    uint64_t middle = first + (end - first) / 2;
    uint64_t *items = calloc(splitting->node_count, sizeof(*items));
    enum nt_status status = nt_arrow_cut_init(splitting->arrow, middle, stored, &cut, splitting->error);
    if (status == NT_OK && !items)
        status = nt_fail_memory(splitting->error);
    if (status == NT_OK)
        status = count_items(splitting, &cut, before, behind, items);
    if (status == NT_OK)
        status = split_entries(splitting, stored, first, middle, before, items);
    if (status == NT_OK)
        status = add_cut(splitting, &cut);
    if (status == NT_OK)
        status = split_entries(splitting, stored, middle, end, items, behind);
    nt_arrow_cut_deinit(&cut);
    free(items);
    return status;
}

/* A border of the table's clusters as they are; taken from it where it is a cut already. */
static enum nt_status keep_border(struct splitting *splitting, uint32_t number)
{
    struct nt_arrow_cut cut = {.entry = splitting->arrow->entries[number], .stored = number};
    if (splitting->arrow->cuts) {
        cut = splitting->arrow->cuts[number];
        splitting->arrow->cuts[number].rows = NULL;
    }
    enum nt_status status = add_cut(splitting, &cut);
    nt_arrow_cut_deinit(&cut);
    return status;
}

static enum nt_status split_cluster(struct splitting *splitting, uint32_t cluster)
{
    const struct nt_arrow *arrow = splitting->arrow;
    uint64_t *before = calloc(splitting->node_count, sizeof(*before));
    uint64_t *behind = calloc(splitting->node_count, sizeof(*behind));
    enum nt_status status =
        before && behind ? keep_border(splitting, cluster) : nt_fail_memory(splitting->error);
    for (uint32_t i = 0; i < splitting->node_count && status == NT_OK; i++) {
        const uint64_t *borders = nt_arrow_item_borders(&arrow->nodes[splitting->nodes[i]]);
        before[i] = borders[cluster];
        behind[i] = borders[cluster + 1];
    }
    if (status == NT_OK)
        status = split_entries(splitting, splitting->cuts[splitting->cut_count - 1].stored,
                               arrow->entries[cluster], arrow->entries[cluster + 1], before, behind);
    free(before);
    free(behind);
    return status;
}

/* The cuts become the table's. */
static enum nt_status take_cuts(struct splitting *splitting, struct nt_arrow *arrow)
{
    uint64_t *entries = calloc(splitting->cut_count, sizeof(*entries));
    if (!entries)
        return nt_fail_memory(splitting->error);
    for (uint32_t i = 0; i < splitting->cut_count; i++)
        entries[i] = splitting->cuts[i].entry;
    nt_arrow_forget_borders(arrow);
    nt_arrow_forget_cuts(arrow);
    free(arrow->entries);
    arrow->entries = entries;
    arrow->cluster_count = splitting->cut_count - 1;
    arrow->cuts = splitting->cuts;
    splitting->cuts = NULL;
    splitting->cut_count = 0;
    return NT_OK;
}

enum nt_status nt_arrow_split(struct nt_arrow *arrow, bool *split_ret, struct nt_error *error)
{
    uint64_t numbers = 3 * (uint64_t)arrow->node_count + arrow->dataset->field_count;
    struct splitting splitting = {.arrow = arrow, .most_parts = MOST_NUMBERS / numbers, .error = error};
    if (splitting.most_parts > MOST_PARTS)
        splitting.most_parts = MOST_PARTS;
    enum nt_status status = find_nodes(&splitting);
    *split_ret = splitting.node_count > 0;
    if (status != NT_OK || !*split_ret)
        goto out;
    for (uint32_t cluster = 0; cluster < arrow->cluster_count && status == NT_OK; cluster++)
        status = split_cluster(&splitting, cluster);
    if (status == NT_OK)
        status = keep_border(&splitting, arrow->cluster_count);
    if (status == NT_OK)
        status = take_cuts(&splitting, arrow);
out:
    for (uint32_t i = 0; i < splitting.cut_count; i++)
        nt_arrow_cut_deinit(&splitting.cuts[i]);
    free(splitting.cuts);
    free(splitting.nodes);
    return status;
}
