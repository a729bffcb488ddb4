/* SPDX-License-Identifier: MIT
 *
 * Builds the cluster groups of a chained dataset from those of its members, and loads page lists on
 * demand, with columns, decoders and sources renumbered.
 */
#include "chain/chain.h"

#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/model/budget.h"
#include "core/model/builder.h"
#include "core/model/model.h"

/* ---- which share ---- */

NT_DEFINE_LAST_AT_MOST(share_of_group, struct nt_chain_share, .first_group)
NT_DEFINE_LAST_AT_MOST(share_of_part, struct nt_chain_share, .first_part)
NT_DEFINE_LAST_AT_MOST(share_of_source, struct nt_chain_share, .part->first_source)

const struct nt_chain_share *nt_chain_source_share(const struct nt_dataset *dataset, uint32_t source)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    return &chain->shares[share_of_source(chain->shares, chain->share_count, source)];
}

const struct nt_chain_share *nt_chain_part_share(const struct nt_dataset *dataset, uint32_t part)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    return &chain->shares[share_of_part(chain->shares, chain->share_count, part)];
}

/* The file's group that a group of the chain is; NT_NONE: it has none, as the share has failed, or stores no such field. */
static struct nt_chain_share *find_share(const struct nt_dataset *dataset, uint32_t number, uint32_t *own_ret)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    struct nt_chain_share *share;
    if (!dataset->field_groups) {
        share = &chain->shares[share_of_group(chain->shares, chain->share_count, number)];
        *own_ret = number - share->first_group;
        return share;
    }
    uint32_t field = dataset->groups[number].field, part = number - dataset->field_groups[field];
    share = &chain->shares[share_of_part(chain->shares, chain->share_count, part)];
    uint32_t own = share->failure ? NT_NONE : share->fields[field];
    uint32_t first = own == NT_NONE ? NT_NONE : share->dataset->field_groups[own];
    *own_ret = first == NT_NONE ? NT_NONE : first + (part - share->first_part);
    return share;
}

/* ---- groups that hold all columns ---- */

static uint32_t group_count_of(const struct nt_chain_share *share)
{
    return share->failure ? share->entries > 0 : share->dataset->group_count;
}

/* Cluster numbers of a file are counted on; what is known of its entries before it is loaded is known here. */
static void put_groups(struct nt_dataset *dataset, struct nt_chain_share *share)
{
    uint32_t count = group_count_of(share);
    for (uint32_t i = 0; i < count; i++) {
        struct nt_group *group = &dataset->groups[share->first_group + i];
        const struct nt_group none = {.entries = share->entries};
        const struct nt_group *own = share->failure ? &none : &share->dataset->groups[i];
        bool is_known = own->entries > 0;
        group->first_entry = share->first_entry + (is_known ? own->first_entry : 0);
        group->entries = is_known ? own->entries : share->entries;
        group->first_cluster = share->first_cluster + own->first_cluster;
        group->clusters = own->clusters;
        dataset->group_more[share->first_group + i] = (struct nt_group_more){
            .metadata_bytes = share->failure ? 0 : nt_group_more(share->dataset, own).metadata_bytes,
            .origin = share->first_group,
            .deferred = share->deferred,
            .file = share->part->path};
    }
}

static void put_cluster(struct nt_dataset *dataset, const struct nt_chain_share *share, uint32_t own)
{
    const struct nt_cluster cluster = nt_dataset_cluster(share->dataset, own);
    bool is_of_all = cluster.column_group == NT_NONE;
    dataset->clusters[share->first_cluster + own] = (struct nt_cluster){
        .first_entry = share->first_entry + cluster.first_entry,
        .entries = cluster.entries,
        .group = share->first_group + cluster.group,
        .column_group = is_of_all ? NT_NONE : share->first_column_group + cluster.column_group,
    };
}

static int compare_columns(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static bool has_column_of(const struct nt_dataset *dataset, const struct nt_column_group *group,
                          uint32_t field)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (dataset->columns[group->columns[i]].field == field)
            return true;
    return false;
}

/* Which of the file's sharded clusters have a field that it does not have: those of the list or variant that it lies below, which
 * tells how many rows it has. */
static uint32_t find_home(const struct nt_dataset *dataset, const struct nt_chain_share *share,
                          uint32_t field)
{
    uint32_t above = nt_field_row_parent(dataset, field);
    for (; above != NT_NONE; above = nt_field_row_parent(dataset, above))
        for (uint32_t i = 0; i < share->dataset->column_group_count; i++)
            if (has_column_of(share->dataset, &share->dataset->column_groups[i], share->fields[above]))
                return i;
    return 0;
}

/* Homes of columns: NT_NONE of those that the file has. */
static void find_homes(const struct nt_dataset *dataset, const struct nt_chain_share *share, uint32_t *homes)
{
    for (uint32_t i = 0; i < dataset->column_count; i++) {
        uint32_t field = dataset->columns[i].field;
        homes[i] = share->fields[field] == NT_NONE ? find_home(dataset, share, field) : NT_NONE;
    }
}

static enum nt_status put_column_group(struct nt_dataset *dataset, const struct nt_chain_share *share,
                                       uint32_t number, const uint32_t *homes, struct nt_error *error)
{
    const struct nt_column_group *own = &share->dataset->column_groups[number];
    struct nt_column_group *group = &dataset->column_groups[share->first_column_group + number];
    uint32_t *columns =
        nt_arena_alloc(dataset->arena, (size_t)own->count + dataset->column_count + 1, sizeof(*columns));
    if (!columns)
        return nt_fail_memory(error);
    *group = (struct nt_column_group){.columns = columns};
    for (uint32_t i = 0; i < own->count; i++)
        columns[group->count++] = share->columns[own->columns[i]];
    for (uint32_t i = 0; i < dataset->column_count; i++)
        if (homes[i] == number)
            columns[group->count++] = i;
    qsort(columns, group->count, sizeof(*columns), compare_columns);
    return NT_OK;
}

static enum nt_status put_column_groups(struct nt_dataset *dataset, const struct nt_chain_share *share,
                                        struct nt_error *error)
{
    if (!share->dataset->column_group_count)
        return NT_OK;
    uint32_t *homes = calloc((size_t)dataset->column_count + 1, sizeof(*homes));
    if (!homes)
        return nt_fail_memory(error);
    find_homes(dataset, share, homes);
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < share->dataset->column_group_count; i++)
        status = put_column_group(dataset, share, i, homes, error);
    free(homes);
    return status;
}

static enum nt_status build_whole_groups(struct nt_dataset *dataset, struct nt_chain_dataset *chain,
                                         struct nt_error *error)
{
    uint64_t groups = 0, clusters = 0, column_groups = 0;
    bool is_known = true;
    for (uint32_t i = 0; i < chain->share_count; i++) {
        struct nt_chain_share *share = &chain->shares[i];
        share->first_group = (uint32_t)groups;
        share->first_cluster = (uint32_t)clusters;
        share->first_column_group = (uint32_t)column_groups;
        groups += group_count_of(share);
        clusters += share->failure ? 0 : share->dataset->cluster_count;
        column_groups += share->failure ? 0 : share->dataset->column_group_count;
        is_known &= !share->failure && share->dataset->clusters_known;
        dataset->has_sharded_clusters |= !share->failure && share->dataset->has_sharded_clusters;
    }
    enum nt_status status = nt_dataset_add_groups(dataset, groups, clusters, error);
    if (status != NT_OK)
        return status;
    dataset->column_groups =
        nt_arena_alloc(dataset->arena, column_groups + 1, sizeof(*dataset->column_groups));
    if (!dataset->column_groups)
        return nt_fail_memory(error);
    dataset->column_group_count = (uint32_t)column_groups;
    dataset->clusters_known = is_known;
    for (uint32_t i = 0; status == NT_OK && i < chain->share_count; i++) {
        struct nt_chain_share *share = &chain->shares[i];
        put_groups(dataset, share);
        if (share->failure)
            continue;
        for (uint32_t k = 0; share->dataset->clusters_known && k < share->dataset->cluster_count; k++)
            put_cluster(dataset, share, k);
        status = put_column_groups(dataset, share, error);
    }
    return status;
}

/* ---- groups of a field ---- */

static uint32_t part_count_of(const struct nt_chain_share *share)
{
    return share->failure ? share->entries > 0 : share->dataset->part_count;
}

static uint64_t part_entries(const struct nt_chain_share *share, uint32_t part)
{
    const uint64_t *borders = share->failure ? NULL : share->dataset->part_borders;
    return borders ? borders[part + 1] - borders[part] : share->entries;
}

static void set_field_groups(struct nt_dataset *dataset, struct nt_chain_share *share)
{
    for (uint32_t i = 0; i < dataset->field_count; i++)
        for (uint32_t k = 0; dataset->field_groups[i] != NT_NONE && k < part_count_of(share); k++) {
            uint32_t own, number = dataset->field_groups[i] + share->first_part + k;
            find_share(dataset, number, &own);
            const struct nt_group *group = own == NT_NONE ? NULL : &share->dataset->groups[own];
            dataset->group_more[number] = (struct nt_group_more){
                .metadata_bytes = group ? nt_group_more(share->dataset, group).metadata_bytes : 0,
                .origin = share->first_part,
                .file = share->part->path};
        }
}

static enum nt_status build_field_groups(struct nt_dataset *dataset, struct nt_chain_dataset *chain,
                                         struct nt_error *error)
{
    uint64_t count = 0;
    bool has_drops = false;
    for (uint32_t i = 0; i < chain->share_count; i++) {
        chain->shares[i].first_part = (uint32_t)count;
        count += part_count_of(&chain->shares[i]);
        has_drops |= !chain->shares[i].failure && chain->shares[i].dataset->part_drops;
    }
    uint64_t *entries = count < NT_NONE ? calloc(count + 1, sizeof(*entries)) : NULL;
    if (!entries)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < chain->share_count; i++)
        for (uint32_t k = 0; k < part_count_of(&chain->shares[i]); k++)
            entries[chain->shares[i].first_part + k] = part_entries(&chain->shares[i], k);
    enum nt_status status = nt_dataset_add_field_groups(dataset, entries, (uint32_t)count, error);
    free(entries);
    if (status == NT_OK)
        status = nt_dataset_add_group_more(dataset, error);
    if (status == NT_OK && has_drops) {
        dataset->part_drops = nt_arena_alloc(dataset->arena, count + 1, sizeof(*dataset->part_drops));
        status = dataset->part_drops ? NT_OK : nt_fail_memory(error);
    }
    for (uint32_t i = 0; status == NT_OK && dataset->field_groups && i < chain->share_count; i++)
        set_field_groups(dataset, &chain->shares[i]);
    return status;
}

enum nt_status nt_chain_build_groups(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    bool has_field_groups = false;
    for (uint32_t i = 0; i < chain->share_count; i++)
        has_field_groups |= chain->shares[i].dataset && chain->shares[i].dataset->field_groups;
    return has_field_groups ? build_field_groups(dataset, chain, error)
                            : build_whole_groups(dataset, chain, error);
}

/* ---- decoders ---- */

static enum nt_status map_decoder(struct nt_dataset *dataset, struct nt_chain_share *share, uint32_t own,
                                  uint32_t *number_ret, struct nt_error *error);

static enum nt_status map_page(struct nt_dataset *dataset, struct nt_chain_share *share, struct nt_page *page,
                               struct nt_error *error)
{
    page->source += share->part->first_source;
    return map_decoder(dataset, share, page->decoder, &page->decoder, error);
}

/* With the pages that it needs, which need no others themselves. */
static enum nt_status add_decoder(struct nt_dataset *dataset, struct nt_chain_share *share, uint32_t own,
                                  uint32_t *number_ret, struct nt_error *error)
{
    struct nt_decoder decoder = *nt_decoders_get(&share->dataset->decoders, own);
    struct nt_page inputs[NT_DECODER_INPUTS];
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < decoder.input_count; i++) {
        inputs[i] = decoder.inputs[i];
        status = map_page(dataset, share, &inputs[i], error);
    }
    if (status != NT_OK)
        return status;
    decoder.inputs = inputs;
    return nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, number_ret,
                           error);
}

/* Page lists may have brought more decoders than there were. */
static bool make_room(struct nt_dataset *dataset, struct nt_chain_share *share, uint32_t count)
{
    if (count <= share->decoder_count)
        return true;
    uint32_t *decoders = nt_arena_alloc(dataset->arena, (size_t)count * 2, sizeof(*decoders));
    if (!decoders)
        return false;
    for (uint32_t i = 0; i < count * 2; i++)
        decoders[i] = i < share->decoder_count ? share->decoders[i] : NT_NONE;
    share->decoders = decoders;
    share->decoder_count = count * 2;
    return true;
}

static enum nt_status map_decoder(struct nt_dataset *dataset, struct nt_chain_share *share, uint32_t own,
                                  uint32_t *number_ret, struct nt_error *error)
{
    if (!make_room(dataset, share, share->dataset->decoders.count))
        return nt_fail_memory(error);
    enum nt_status status = NT_OK;
    uint32_t number = share->decoders[own];
    if (number == NT_NONE)
        status = add_decoder(dataset, share, own, &number, error);
    if (status == NT_OK)
        share->decoders[own] = *number_ret = number;
    return status;
}

/* ---- loading ---- */

static enum nt_status copy_pages(struct nt_dataset *dataset, struct nt_chain_share *share,
                                 struct nt_group *group, const struct nt_group *own, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (uint64_t i = 0; status == NT_OK && i < own->page_count; i++) {
        group->pages[i] = own->pages[i];
        status = map_page(dataset, share, &group->pages[i], error);
    }
    group->page_count = own->page_count;
    return status;
}

/* Of a field that the file does not have all rows are as those of one that was added later. Where rows are never null, no column
 * has to tell so. Of one that it stores in another way the column is absent. */
static enum nt_range_state state_without(const struct nt_dataset *dataset, const struct nt_chain_share *share,
                                         const struct nt_column *column)
{
    uint32_t own = share->fields[column->field];
    const struct nt_field *field = &dataset->fields[column->field];
    if (own == NT_NONE)
        return NT_RANGE_NULL;
    bool tells_nulls = field->is_nullable && column->position == nt_chain_columns_of_kind(field);
    return tells_nulls && !share->dataset->fields[own].is_nullable ? NT_RANGE_VALID : NT_RANGE_ABSENT;
}

static void copy_ranges(struct nt_dataset *dataset, const struct nt_chain_share *share,
                        struct nt_group *group, const struct nt_group *own)
{
    uint32_t width = nt_group_column_count(dataset, group), count;
    const uint32_t *columns = dataset->field_groups ? nt_field_columns(dataset, group->field, &count) : NULL;
    for (size_t i = 0; i < (size_t)group->clusters * width; i++) {
        uint32_t column = columns ? columns[i % width] : (uint32_t)(i % width);
        group->ranges[i].state = state_without(dataset, share, &dataset->columns[column]);
    }
    for (uint32_t k = 0; k < own->clusters; k++)
        for (uint32_t i = 0; i < share->dataset->column_count; i++) {
            uint32_t column = share->columns[i];
            uint32_t place = column == NT_NONE ? NT_NONE : nt_group_place(dataset, group, column);
            if (place != NT_NONE && nt_group_place(share->dataset, own, i) != NT_NONE)
                group->ranges[(size_t)k * width + place] =
                    *nt_group_range(share->dataset, own, own->first_cluster + k, i);
        }
}

static enum nt_status copy_group(struct nt_dataset *dataset, struct nt_chain_share *share,
                                 struct nt_group *group, const struct nt_group *own, struct nt_error *error)
{
    struct nt_budget *budget = &dataset->file->budget;
    uint64_t ranges = (uint64_t)group->clusters * nt_group_column_count(dataset, group);
    uint64_t pages = own->page_count;
    enum nt_status status = nt_budget_take(budget, NT_COST_RANGE, ranges, NT_NO_OFFSET, error);
    if (status != NT_OK)
        return status;
    status = nt_budget_take(budget, NT_COST_PAGE, pages, NT_NO_OFFSET, error);
    if (status != NT_OK) {
        nt_group_release(dataset, group, ranges, 0);
        return status;
    }
    group->ranges = calloc(ranges + 1, sizeof(*group->ranges));
    group->pages = calloc(pages + 1, sizeof(*group->pages));
    status =
        group->ranges && group->pages ? copy_pages(dataset, share, group, own, error) : nt_fail_memory(error);
    if (status == NT_OK)
        copy_ranges(dataset, share, group, own);
    else
        nt_group_release(dataset, group, ranges, pages);
    return status;
}

/* What loading has told beside pages. */
static void copy_told(struct nt_dataset *dataset, const struct nt_chain_share *share,
                      const struct nt_group *group, const struct nt_group *own)
{
    if (!dataset->field_groups) {
        for (uint32_t i = 0; i < own->clusters; i++)
            put_cluster(dataset, share, own->first_cluster + i);
        return;
    }
    uint32_t part = (uint32_t)(group - dataset->groups) - dataset->field_groups[group->field];
    if (share->dataset->part_drops)
        dataset->part_drops[part] = share->dataset->part_drops[part - share->first_part];
}

/* A group of another field, where the file does not have this one: it tells which rows of the part are dropped. */
static uint32_t find_beside(const struct nt_dataset *dataset, const struct nt_chain_share *share,
                            const struct nt_group *group)
{
    uint32_t part = (uint32_t)(group - dataset->groups) - dataset->field_groups[group->field];
    const uint32_t *groups = share->dataset->field_groups;
    for (uint32_t i = 0; share->dataset->part_drops && i < share->dataset->field_count; i++)
        if (groups[i] != NT_NONE)
            return groups[i] + (part - share->first_part);
    return NT_NONE;
}

enum nt_status nt_chain_load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    static const struct nt_group nothing;
    uint32_t own = 0;
    struct nt_group *group = &dataset->groups[number];
    struct nt_chain_share *share = find_share(dataset, number, &own);
    if (share->failure)
        return nt_fail_with(error, share->failure);
    uint32_t to_load = own == NT_NONE ? find_beside(dataset, share, group) : own;
    enum nt_status status =
        to_load == NT_NONE ? NT_OK : nt_dataset_load_group(share->dataset, to_load, error);
    const struct nt_group *copied = own == NT_NONE ? &nothing : &share->dataset->groups[own];
    if (status == NT_OK)
        status = copy_group(dataset, share, group, copied, error);
    if (status == NT_OK)
        copy_told(dataset, share, group, copied);
    else if (error && !nt_message_about(error->message, share->part->path))
        nt_error_context(error, "%s", share->part->path);
    return status;
}

void nt_chain_tell_failure(struct nt_dataset *dataset, const struct nt_chain_share *share)
{
    bool has_group = dataset->field_groups ? part_count_of(share) : group_count_of(share);
    uint32_t first = dataset->field_groups ? share->first_part : share->first_group;
    if (share->failure && has_group && dataset->group_count)
        nt_dataset_load_group(dataset, first, NULL);
}

/* ---- back to the file ---- */

/* Among a column's. */
static struct nt_groups groups_of_share(const struct nt_dataset *dataset, const struct nt_chain_share *share,
                                        uint32_t column)
{
    uint32_t first = nt_groups_of_column(dataset, column).first;
    if (!dataset->field_groups)
        return (struct nt_groups){share->first_group, share->first_group + group_count_of(share)};
    return (struct nt_groups){first + share->first_part, first + share->first_part + part_count_of(share)};
}

const struct nt_page *nt_chain_own_page(const struct nt_dataset *dataset, const struct nt_chain_share *share,
                                        uint32_t column, const struct nt_page *page)
{
    struct nt_groups groups = groups_of_share(dataset, share, column);
    for (uint32_t i = groups.first; i < groups.end; i++) {
        const struct nt_group *group = &dataset->groups[i];
        uint32_t own = 0;
        if (!nt_group_is_loaded(group) || page < group->pages || page >= group->pages + group->page_count)
            continue;
        find_share(dataset, i, &own);
        return share->dataset->groups[own].pages + (page - group->pages);
    }
    return NULL;
}
