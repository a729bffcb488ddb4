/* SPDX-License-Identifier: MIT
 *
 * Builds the cluster groups of a chained dataset from those of its members, and loads page lists on
 * demand, with columns, decoders and sources renumbered.
 */
#include "chain/chain.h"

#include "core/model/builder.h"

/* ---- Find a slice ---- */

NT_DEFINE_LAST_AT_MOST(share_of_group, struct nt_chain_slice, .first_group)
NT_DEFINE_LAST_AT_MOST(share_of_part, struct nt_chain_slice, .first_part)
NT_DEFINE_LAST_AT_MOST(share_of_source, struct nt_chain_slice, .member->first_source)

const struct nt_chain_slice *nt_chain_source_slice(const struct nt_dataset *dataset, uint32_t source)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    return &chain->slices[share_of_source(chain->slices, chain->slice_count, source)];
}

static const struct nt_chain_series *series_of(const struct nt_dataset *dataset, uint32_t field)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    uint32_t number = chain->series_count - 1;
    while (field < chain->series[number].first_field)
        number--;
    return &chain->series[number];
}

const struct nt_chain_slice *nt_chain_member_slice(const struct nt_dataset *dataset, uint32_t field,
                                                   uint32_t part)
{
    const struct nt_chain_series *series = series_of(dataset, field);
    return &series->slices[share_of_part(series->slices, series->slice_count, part)];
}

/* The slice at a number, or where the groups of the slices before it end. */
static uint32_t first_group_of(const struct nt_dataset *dataset, const struct nt_chain_series *series,
                               struct nt_groups all, uint32_t number)
{
    if (number >= series->slice_count)
        return all.end;
    const struct nt_chain_slice *slice = &series->slices[number];
    return dataset->field_groups ? all.first + slice->first_part : slice->first_group;
}

struct nt_groups nt_chain_groups_of_members(const struct nt_dataset *dataset, uint32_t column, uint32_t first,
                                            uint32_t end)
{
    const struct nt_groups all = nt_groups_of_column(dataset, column);
    const struct nt_chain_series *series = series_of(dataset, dataset->columns[column].field);
    uint32_t before = (uint32_t)(series->slices - nt_chain_dataset_of(dataset)->slices);
    first = first > before ? first - before : 0;
    end = end > before ? end - before : 0;
    return (struct nt_groups){first_group_of(dataset, series, all, first),
                              first_group_of(dataset, series, all, end)};
}

/* Do the member's groups hold all fields, though those of the chain are of single fields? */
static bool has_whole_groups(const struct nt_chain_slice *slice)
{
    return !nt_chain_schema_of(slice)->field_groups;
}

struct nt_chain_slice *nt_chain_group_slice(const struct nt_dataset *dataset, uint32_t number)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    if (!dataset->field_groups)
        return &chain->slices[share_of_group(chain->slices, chain->slice_count, number)];
    uint32_t part, field = nt_group_field(dataset, number, &part);
    return (struct nt_chain_slice *)nt_chain_member_slice(dataset, field, part);
}

/* The number of an open member's own group; NT_NONE if it lacks the field, or its groups hold all fields. */
static uint32_t own_group(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                          uint32_t number)
{
    if (!dataset->field_groups)
        return number - slice->first_group;
    uint32_t part, field = nt_group_field(dataset, number, &part);
    uint32_t own = has_whole_groups(slice) ? NT_NONE : slice->fields[field];
    uint32_t first = own == NT_NONE ? NT_NONE : slice->dataset->field_groups[own];
    return first == NT_NONE ? NT_NONE : first + (part - slice->first_part);
}

/* ---- Groups that hold all columns ---- */

static uint32_t group_count_of(const struct nt_chain_slice *slice)
{
    if (slice->lazy)
        return 1;
    return slice->failure ? slice->entries > 0 : slice->dataset->group_count;
}

/* The metadata of a lazy member takes as many bytes as that of the first one. */
static void put_lazy(struct nt_dataset *dataset, const struct nt_chain_slice *slice)
{
    const struct nt_indexed_dataset *known = slice->lazy;
    uint64_t first = slice->first_entry;
    dataset->groups.records[slice->first_group] =
        (struct nt_group_record){.first_entry = first,
                                 .entries = slice->entries,
                                 .first_cluster = slice->first_cluster,
                                 .clusters = (uint32_t)known->clusters,
                                 .metadata_bytes = nt_dataset_metadata_bytes(nt_chain_first_dataset(slice)),
                                 .origin = slice->first_group,
                                 .file = slice->member->path};
    for (uint32_t i = 0; i < known->clusters; i++) {
        dataset->clusters[slice->first_cluster + i] =
            (struct nt_cluster){.first_entry = first,
                                .entries = known->cluster_entries[i],
                                .group = slice->first_group,
                                .column_group = NT_NONE};
        first += known->cluster_entries[i];
    }
}

/* Are the entries of all clusters known without their page lists? Those of open members are read, if
 * others wait. */
static bool knows_clusters(struct nt_dataset *dataset, bool loads_lists)
{
    bool is_known = !dataset->has_sharded_clusters;
    if (dataset->clusters_known)
        return true;
    for (uint32_t i = 0; is_known && loads_lists && i < dataset->group_count; i++)
        is_known = nt_dataset_load_group(dataset, i, NULL) == NT_OK;
    return is_known && loads_lists;
}

/* Continues a file's cluster numbers, and copies the entries that are known before loading. */
static void put_groups(struct nt_dataset *dataset, struct nt_chain_slice *slice)
{
    uint32_t count = group_count_of(slice);
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_group_record none = {.entries = slice->entries};
        const struct nt_group_record own = slice->failure ? none : nt_group_record(slice->dataset, i);
        bool is_known = own.entries > 0;
        dataset->groups.records[slice->first_group + i] =
            (struct nt_group_record){.first_entry = slice->first_entry + (is_known ? own.first_entry : 0),
                                     .entries = is_known ? own.entries : slice->entries,
                                     .first_cluster = slice->first_cluster + own.first_cluster,
                                     .clusters = own.clusters,
                                     .metadata_bytes = own.metadata_bytes,
                                     .origin = slice->first_group,
                                     .deferred = slice->deferred,
                                     .file = slice->member->path};
    }
}

static void put_cluster(struct nt_dataset *dataset, const struct nt_chain_slice *slice, uint32_t own)
{
    const struct nt_cluster cluster = nt_dataset_cluster(slice->dataset, own);
    bool is_of_all = cluster.column_group == NT_NONE;
    dataset->clusters[slice->first_cluster + own] = (struct nt_cluster){
        .first_entry = slice->first_entry + cluster.first_entry,
        .entries = cluster.entries,
        .group = slice->first_group + cluster.group,
        .column_group = is_of_all ? NT_NONE : slice->first_column_group + cluster.column_group,
    };
}

static bool has_column_of(const struct nt_dataset *dataset, const struct nt_column_group *group,
                          uint32_t field)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (dataset->columns[group->columns[i]].field == field)
            return true;
    return false;
}

/* Picks the sharded clusters for a field that the file lacks: those with the nearest list or variant
 * around it, which defines its number of rows. */
static uint32_t find_physical_column(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                                     uint32_t field)
{
    uint32_t above = nt_field_row_parent(dataset, field);
    for (; above != NT_NONE; above = nt_field_row_parent(dataset, above))
        for (uint32_t i = 0; i < slice->dataset->column_group_count; i++)
            if (has_column_of(slice->dataset, &slice->dataset->column_groups[i], slice->fields[above]))
                return i;
    return 0;
}

/* Finds the column groups for columns that the file lacks; NT_NONE for the others. */
static void find_physical_columns(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                                  uint32_t *physical_columns)
{
    for (uint32_t i = 0; i < dataset->column_count; i++) {
        uint32_t field = dataset->columns[i].field;
        physical_columns[i] =
            slice->fields[field] == NT_NONE ? find_physical_column(dataset, slice, field) : NT_NONE;
    }
}

static enum nt_status put_column_group(struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                                       uint32_t number, const uint32_t *physical_columns,
                                       struct nt_error *error)
{
    const struct nt_column_group *own = &slice->dataset->column_groups[number];
    struct nt_column_group *group = &dataset->column_groups[slice->first_column_group + number];
    uint32_t *columns =
        nt_arena_alloc(dataset->arena, (size_t)own->count + dataset->column_count + 1, sizeof(*columns));
    NT_TRY(nt_check_memory(columns, error));
    *group = (struct nt_column_group){.columns = columns};
    for (uint32_t i = 0; i < own->count; i++)
        columns[group->count++] = slice->columns[own->columns[i]];
    for (uint32_t i = 0; i < dataset->column_count; i++)
        if (physical_columns[i] == number)
            columns[group->count++] = i;
    qsort(columns, group->count, sizeof(*columns), nt_compare_u32);
    return NT_OK;
}

static enum nt_status put_column_groups(struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                                        struct nt_error *error)
{
    if (!slice->dataset->column_group_count)
        return NT_OK;
    NT_AUTO_FREE uint32_t *physical_columns =
        calloc((size_t)dataset->column_count + 1, sizeof(*physical_columns));
    NT_TRY(nt_check_memory(physical_columns, error));
    find_physical_columns(dataset, slice, physical_columns);
    for (uint32_t i = 0; i < slice->dataset->column_group_count; i++)
        NT_TRY(put_column_group(dataset, slice, i, physical_columns, error));
    return NT_OK;
}

static enum nt_status build_whole_groups(struct nt_dataset *dataset, struct nt_chain_dataset *chain,
                                         struct nt_error *error)
{
    uint64_t groups = 0, clusters = 0, column_groups = 0;
    bool is_known = true, has_lazy = false;
    for (uint32_t i = 0; i < chain->slice_count; i++)
        has_lazy |= chain->slices[i].lazy != NULL;
    for (uint32_t i = 0; i < chain->slice_count; i++) {
        struct nt_chain_slice *slice = &chain->slices[i];
        bool is_open = !slice->failure && !slice->lazy;
        slice->first_group = (uint32_t)groups;
        slice->first_cluster = (uint32_t)clusters;
        slice->first_column_group = (uint32_t)column_groups;
        groups += group_count_of(slice);
        clusters += nt_chain_slice_clusters(slice);
        column_groups += is_open ? slice->dataset->column_group_count : 0;
        is_known &= slice->lazy || (is_open && knows_clusters(slice->dataset, has_lazy));
        dataset->has_sharded_clusters |= is_open && slice->dataset->has_sharded_clusters;
    }
    NT_TRY(nt_dataset_add_groups(dataset, groups, clusters, error));
    dataset->column_groups =
        nt_arena_alloc(dataset->arena, column_groups + 1, sizeof(*dataset->column_groups));
    NT_TRY(nt_check_memory(dataset->column_groups, error));
    dataset->column_group_count = (uint32_t)column_groups;
    dataset->clusters_known = is_known;
    for (uint32_t i = 0; i < chain->slice_count; i++) {
        struct nt_chain_slice *slice = &chain->slices[i];
        if (slice->lazy) {
            put_lazy(dataset, slice);
            continue;
        }
        put_groups(dataset, slice);
        if (slice->failure)
            continue;
        for (uint32_t k = 0;
             (slice->dataset->clusters_known || is_known) && k < slice->dataset->cluster_count; k++)
            put_cluster(dataset, slice, k);
        NT_TRY(put_column_groups(dataset, slice, error));
    }
    return NT_OK;
}

/* ---- Groups per field ---- */

static uint32_t member_count_of(const struct nt_chain_slice *slice)
{
    return slice->failure ? slice->entries > 0 : (uint32_t)nt_chain_slice_clusters(slice);
}

static uint64_t part_entries(const struct nt_chain_slice *slice, uint32_t part)
{
    if (slice->failure)
        return slice->entries;
    if (slice->lazy)
        return slice->lazy->cluster_entries[part];
    return nt_chain_own_entries(slice->dataset, part);
}

void nt_chain_complete_record(const struct nt_dataset *dataset, uint32_t number,
                              struct nt_group_record *record)
{
    const struct nt_chain_slice *slice = nt_chain_group_slice(dataset, number);
    record->origin = slice->first_part;
    record->deferred = slice->deferred;
    record->file = slice->member->path;
}

/* Is the member open, and does it have groups for each field? */
static bool is_of_fields(const struct nt_chain_slice *slice)
{
    return slice->dataset && slice->dataset->field_groups;
}

/* Finds the parts of the entries that the fields of a series have. */
static enum nt_status find_members(const struct nt_dataset *dataset, const struct nt_chain_series *series,
                                   struct nt_parts *parts, struct nt_error *error)
{
    uint64_t count = 0, entries = 0;
    for (uint32_t i = 0; i < series->slice_count; i++) {
        series->slices[i].first_part = (uint32_t)count;
        count += member_count_of(&series->slices[i]);
    }
    uint64_t *boundaries =
        count < NT_NONE ? nt_arena_alloc(dataset->arena, count + 1, sizeof(*boundaries)) : NULL;
    NT_TRY(nt_check_memory(boundaries, error));
    for (uint32_t i = 0; i < series->slice_count; i++)
        for (uint32_t k = 0; k < member_count_of(&series->slices[i]); k++) {
            entries += part_entries(&series->slices[i], k);
            boundaries[series->slices[i].first_part + k + 1] = entries;
        }
    *parts = (struct nt_parts){series->first_field, (uint32_t)count, boundaries};
    return NT_OK;
}

static bool slice_has_deletions(const struct nt_chain_slice *slice)
{
    if (slice->lazy)
        return slice->lazy->has_deletions;
    return !slice->failure && slice->dataset->part_deletions;
}

/* Those of a friend would have to be known before the parts are compared. */
static enum nt_status add_deletions(struct nt_dataset *dataset, const struct nt_chain_dataset *chain,
                                    struct nt_error *error)
{
    bool has_deletions = false;
    for (uint32_t i = 0; i < chain->slice_count; i++)
        has_deletions |= slice_has_deletions(&chain->slices[i]);
    if (!has_deletions)
        return NT_OK;
    if (chain->series_count > 1)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "datasets with deleted rows cannot have friends");
    dataset->part_deletions =
        nt_arena_alloc(dataset->arena, (size_t)dataset->part_count + 1, sizeof(*dataset->part_deletions));
    return dataset->part_deletions ? NT_OK : nt_fail_memory(error);
}

static enum nt_status build_field_groups(struct nt_dataset *dataset, struct nt_chain_dataset *chain,
                                         struct nt_error *error)
{
    struct nt_parts *parts = nt_arena_alloc(dataset->arena, chain->series_count, sizeof(*parts));
    NT_TRY(nt_check_memory(parts, error));
    NT_TRY(nt_chain_find_clusters(dataset, error));
    for (uint32_t i = 0; i < chain->series_count; i++)
        NT_TRY(find_members(dataset, &chain->series[i], &parts[i], error));
    NT_TRY(nt_dataset_add_joined_groups(dataset, parts, chain->series_count, error));
    for (uint32_t i = 0; i < chain->slice_count; i++)
        if (is_of_fields(&chain->slices[i]))
            dataset->part_metadata_bytes = chain->slices[i].dataset->part_metadata_bytes;
    return add_deletions(dataset, chain, error);
}

/* Finds the places of the columns; all lazily opened members of a series have the same ones. */
static enum nt_status find_places(struct nt_dataset *dataset, struct nt_chain_series *series,
                                  struct nt_error *error)
{
    const struct nt_dataset *first = series->slices[0].dataset;
    series->counted_places =
        nt_arena_alloc(dataset->arena, (size_t)first->column_count + 1, sizeof(*series->counted_places));
    NT_TRY(nt_check_memory(series->counted_places, error));
    series->place_count = nt_chain_find_places(first, series->counted_places);
    if (!nt_chain_schema_digest(first, series->schema))
        series->schema[0] = '\0';
    const struct nt_indexed_dataset *known = nt_chain_indexed_dataset(series->slices[0].member, first);
    if (known && known->schema && series->schema[0] && known->clusters == nt_chain_own_clusters(first) &&
        strcmp(series->schema, known->schema) == 0)
        series->first_counts = known->counts;
    return NT_OK;
}

enum nt_status nt_chain_build_groups(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    bool has_field_groups = chain->series_count > 1;
    for (uint32_t i = 0; i < chain->slice_count; i++)
        has_field_groups |= is_of_fields(&chain->slices[i]);
    for (uint32_t i = 0; i < chain->series_count; i++)
        if (chain->series[i].slices[0].dataset)
            NT_TRY(find_places(dataset, &chain->series[i], error));
    return has_field_groups ? build_field_groups(dataset, chain, error)
                            : build_whole_groups(dataset, chain, error);
}

/* ---- Decoders ---- */

static enum nt_status map_decoder(struct nt_dataset *dataset, struct nt_chain_slice *slice, uint32_t own,
                                  uint32_t *number_ret, struct nt_error *error);

static enum nt_status map_page(struct nt_dataset *dataset, struct nt_chain_slice *slice, struct nt_page *page,
                               struct nt_error *error)
{
    slice->stays_open |= page->source > 0;
    page->source += slice->member->first_source;
    return map_decoder(dataset, slice, page->decoder, &page->decoder, error);
}

/* A lazy member may close: copies the state of its decoder, from malloc, and keeps what it refers to. */
static enum nt_status copy_state(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                                 const struct nt_decoder *decoder, void **state_ret, struct nt_error *error)
{
    const struct nt_dataset_ops *ops = slice->dataset->ops;
    if (!slice->lazy || !ops->keep_state || !decoder->state_bytes)
        return NT_OK;
    *state_ret = malloc(decoder->state_bytes);
    NT_TRY(nt_check_memory(*state_ret, error));
    memcpy(*state_ret, decoder->state, decoder->state_bytes);
    NT_LOCK_GUARD(&dataset->file->lock);
    return ops->keep_state(dataset->file, decoder, *state_ret, error);
}

/* Maps the dependencies, too; their decoders have none themselves. */
static enum nt_status add_decoder(struct nt_dataset *dataset, struct nt_chain_slice *slice, uint32_t own,
                                  uint32_t *number_ret, struct nt_error *error)
{
    struct nt_decoder decoder = *nt_decoders_get(&slice->dataset->decoders, own);
    struct nt_page dependencies[NT_DECODER_DEPENDENCIES];
    NT_AUTO_FREE void *state = NULL;
    NT_TRY(copy_state(dataset, slice, &decoder, &state, error));
    if (state)
        decoder.state = state;
    for (uint32_t i = 0; i < decoder.dependency_count; i++) {
        dependencies[i] = decoder.dependencies[i];
        NT_TRY(map_page(dataset, slice, &dependencies[i], error));
    }
    decoder.dependencies = dependencies;
    return nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, number_ret,
                           error);
}

/* Loading page lists may have added decoders. */
static bool make_room(struct nt_dataset *dataset, struct nt_chain_slice *slice, uint32_t count)
{
    if (count <= slice->decoder_count)
        return true;
    uint32_t *decoders = nt_arena_alloc(dataset->arena, (size_t)count * 2, sizeof(*decoders));
    if (!decoders)
        return false;
    for (uint32_t i = 0; i < count * 2; i++)
        decoders[i] = i < slice->decoder_count ? slice->decoders[i] : NT_NONE;
    slice->decoders = decoders;
    slice->decoder_count = count * 2;
    return true;
}

static enum nt_status map_decoder(struct nt_dataset *dataset, struct nt_chain_slice *slice, uint32_t own,
                                  uint32_t *number_ret, struct nt_error *error)
{
    NT_TRY(nt_check_memory(make_room(dataset, slice, slice->dataset->decoders.count), error));
    uint32_t number = slice->decoders[own];
    if (number == NT_NONE)
        NT_TRY(add_decoder(dataset, slice, own, &number, error));
    slice->decoders[own] = *number_ret = number;
    return NT_OK;
}

/* ---- Loading ---- */

/* Below, `own` are the member's own groups, pinned, that a group of the chain has: one, or all of a member
 * that waited. */

static uint64_t pages_of(const struct nt_chain_slice *slice, struct nt_groups own)
{
    uint64_t pages = 0;
    for (uint32_t i = own.first; i < own.end; i++)
        pages += nt_group_slot(slice->dataset, i)->page_count;
    return pages;
}

static enum nt_status copy_pages(struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                 struct nt_group *group, struct nt_groups own, struct nt_error *error)
{
    uint64_t count = 0;
    for (uint32_t i = own.first; i < own.end; i++) {
        const struct nt_group *from = nt_group_slot(slice->dataset, i);
        for (uint64_t k = 0; k < from->page_count; k++) {
            group->pages[count] = from->pages[k];
            NT_TRY(map_page(dataset, slice, &group->pages[count++], error));
        }
    }
    group->page_count = count;
    return NT_OK;
}

/* The state of a column without pages in the member. A field that the file lacks is null, as if added
 * later. A null column is valid if the file's rows are never null. Another representation is absent. */
static enum nt_range_state state_without(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                                         const struct nt_column *column)
{
    uint32_t own = slice->fields[column->field];
    const struct nt_field *field = &dataset->fields[column->field];
    if (own == NT_NONE)
        return NT_RANGE_NULL;
    bool has_null_levels = field->is_nullable && column->position == nt_chain_columns_of_kind(field);
    return has_null_levels && !slice->dataset->fields[own].is_nullable ? NT_RANGE_VALID : NT_RANGE_ABSENT;
}

/* Copies the ranges of the member's columns in a cluster. */
static void copy_cluster(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                         const struct nt_group *group, const struct nt_group *own, uint32_t cluster,
                         uint64_t first_page, struct nt_range *ranges)
{
    for (uint32_t i = 0; i < slice->dataset->column_count; i++) {
        uint32_t column = slice->columns[i];
        uint32_t index = column == NT_NONE ? NT_NONE : nt_group_range_index(dataset, group, column);
        if (index == NT_NONE || nt_group_range_index(slice->dataset, own, i) == NT_NONE)
            continue;
        ranges[index] = *nt_group_range(slice->dataset, own, own->first_cluster + cluster, i);
        ranges[index].first_page += (uint32_t)first_page;
    }
}

static void copy_ranges(struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                        struct nt_group *group, struct nt_groups own)
{
    uint32_t width = nt_group_column_count(dataset, group), count;
    const uint32_t *columns = dataset->field_groups ? nt_field_columns(dataset, group->field, &count) : NULL;
    for (size_t i = 0; i < (size_t)group->clusters * width; i++) {
        uint32_t column = columns ? columns[i % width] : (uint32_t)(i % width);
        group->ranges[i].state = state_without(dataset, slice, &dataset->columns[column]);
    }
    uint64_t first_page = 0;
    struct nt_range *ranges = group->ranges;
    for (uint32_t i = own.first; i < own.end; i++) {
        const struct nt_group *from = nt_group_slot(slice->dataset, i);
        for (uint32_t k = 0; k < from->clusters; k++, ranges += width)
            copy_cluster(dataset, slice, group, from, k, first_page, ranges);
        first_page += from->page_count;
    }
}

/* Allocates the ranges and pages that a group takes from its members. */
static enum nt_status allocate_group(struct nt_dataset *dataset, struct nt_group *group, uint64_t pages,
                                     struct nt_error *error)
{
    struct nt_budget *budget = &dataset->file->budget;
    uint64_t ranges = (uint64_t)group->clusters * nt_group_column_count(dataset, group);
    NT_TRY(nt_budget_take(budget, NT_COST_RANGE, ranges, NT_NO_OFFSET, error));
    enum nt_status status = nt_budget_take(budget, NT_COST_PAGE, pages, NT_NO_OFFSET, error);
    if (status != NT_OK) {
        nt_group_release(dataset, group, ranges, 0);
        return status;
    }
    group->ranges = calloc(ranges + 1, sizeof(*group->ranges));
    group->pages = calloc(pages + 1, sizeof(*group->pages));
    if (group->ranges && group->pages)
        return NT_OK;
    nt_group_release(dataset, group, ranges, pages);
    return nt_fail_memory(error);
}

static enum nt_status copy_group(struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                 struct nt_group *group, struct nt_groups own, struct nt_error *error)
{
    uint64_t pages = pages_of(slice, own);
    NT_TRY(allocate_group(dataset, group, pages, error));
    enum nt_status status = copy_pages(dataset, slice, group, own, error);
    if (status == NT_OK)
        copy_ranges(dataset, slice, group, own);
    else
        nt_group_release(dataset, group, (uint64_t)group->clusters * nt_group_column_count(dataset, group),
                         pages);
    return status;
}

/* A lazy member may close. */
static enum nt_status copy_deletions(struct nt_dataset *dataset, const struct nt_deletion_vector *own,
                                     const struct nt_deletion_vector **copy_ret, struct nt_error *error)
{
    size_t bytes = ((size_t)own->count + 1) * sizeof(*own->items);
    NT_TRY(nt_budget_take(&dataset->file->budget, NT_COST_ENVELOPE_BYTE, bytes, NT_NO_OFFSET, error));
    struct nt_deletion_vector *copy = (void *)nt_arena_copy(dataset->arena, own, sizeof(*own));
    NT_TRY(nt_check_memory(copy, error));
    copy->items = (void *)nt_arena_copy(dataset->arena, own->items, bytes);
    NT_TRY(nt_check_memory(copy->items, error));
    *copy_ret = copy;
    return NT_OK;
}

/* Copies other results of loading for the first time: clusters, unless all readers know them already, or
 * deleted rows. */
static enum nt_status copy_known(struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                                 const struct nt_group *group, uint32_t own, struct nt_error *error)
{
    if (nt_group_is_known(dataset, group->number))
        return NT_OK;
    if (!dataset->field_groups) {
        const struct nt_group_record record = nt_group_record(slice->dataset, own);
        for (uint32_t i = 0; !dataset->clusters_known && i < record.clusters; i++)
            put_cluster(dataset, slice, record.first_cluster + i);
        return NT_OK;
    }
    uint32_t part = nt_group_part(dataset, group);
    const struct nt_deletion_vector *deletions =
        slice->dataset->part_deletions ? slice->dataset->part_deletions[part - slice->first_part] : NULL;
    if (!deletions || dataset->part_deletions[part]) /* others may read it */
        return NT_OK;
    if (slice->lazy)
        return copy_deletions(dataset, deletions, &dataset->part_deletions[part], error);
    dataset->part_deletions[part] = deletions;
    return NT_OK;
}

/* Finds another field's group, if the file lacks this field: it has the part's deleted rows. */
static uint32_t find_group_of_part(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                                   const struct nt_group *group)
{
    uint32_t part = nt_group_part(dataset, group);
    const uint32_t *groups = slice->dataset->field_groups;
    for (uint32_t i = 0; slice->dataset->part_deletions && i < slice->dataset->field_count; i++)
        if (groups[i] != NT_NONE)
            return groups[i] + (part - slice->first_part);
    return NT_NONE;
}

static enum nt_status load_lazy(struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                struct nt_group *group, struct nt_error *error)
{
    NT_LOCK_GUARD(&dataset->file->lock); /* another dataset of the chain may need the member */
    NT_TRY(nt_chain_open_slice(dataset, slice, error));
    const struct nt_groups all = {0, slice->dataset->group_count};
    enum nt_status status = copy_group(dataset, slice, group, all, error);
    nt_chain_close_slice(dataset, slice);
    return status;
}

/* ---- Groups of one field, of members whose groups hold all fields ---- */

/* The member's cluster that a group of the chain shows. */
static uint32_t own_cluster(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                            const struct nt_group *group)
{
    return nt_group_part(dataset, group) - slice->first_part;
}

/* The member's columns of a group's field; none if the member lacks it. */
static const uint32_t *own_columns(const struct nt_chain_slice *slice, const struct nt_group *group,
                                   uint32_t *count_ret)
{
    uint32_t own = slice->fields[group->field];
    *count_ret = 0;
    return own == NT_NONE ? NULL : nt_field_columns(slice->dataset, own, count_ret);
}

static const struct nt_range *own_range(const struct nt_chain_slice *slice, uint32_t column, uint32_t cluster,
                                        const struct nt_group **own_ret)
{
    *own_ret = nt_group_slot(slice->dataset, nt_cluster_group(slice->dataset, cluster));
    return nt_group_range(slice->dataset, *own_ret, cluster, column);
}

/* Copies the pages of the member's columns, one column after the other, and their ranges. */
static enum nt_status copy_columns(struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                   struct nt_group *group, struct nt_error *error)
{
    uint32_t count, cluster = own_cluster(dataset, slice, group);
    const uint32_t *columns = own_columns(slice, group, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_group *own;
        const struct nt_range *range = own_range(slice, columns[i], cluster, &own);
        uint32_t column = slice->columns[columns[i]];
        uint32_t index = column == NT_NONE ? NT_NONE : nt_group_range_index(dataset, group, column);
        uint64_t first = group->page_count;
        for (uint32_t k = 0; k < range->pages; k++) {
            struct nt_page *page = &group->pages[group->page_count++];
            *page = own->pages[(size_t)range->first_page + k];
            NT_TRY(map_page(dataset, slice, page, error));
        }
        if (index == NT_NONE)
            continue;
        group->ranges[index] = *range;
        group->ranges[index].first_page = (uint32_t)first;
    }
    return NT_OK;
}

/* Pages in the member, as many as copy_columns copies. */
static uint64_t count_pages(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                            const struct nt_group *group)
{
    uint32_t count;
    uint64_t pages = 0;
    const struct nt_group *own;
    const uint32_t *columns = own_columns(slice, group, &count);
    for (uint32_t i = 0; i < count; i++)
        pages += own_range(slice, columns[i], own_cluster(dataset, slice, group), &own)->pages;
    return pages;
}

/* The member's group that has the cluster with all fields. */
static uint32_t group_of_cluster(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                                 const struct nt_group *group)
{
    return nt_cluster_group(slice->dataset, own_cluster(dataset, slice, group));
}

static enum nt_status load_field(struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                 struct nt_group *group, struct nt_error *error)
{
    const struct nt_groups none = {0, 0};
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *own = NULL;
    NT_TRY(nt_group_pin(slice->dataset, group_of_cluster(dataset, slice, group), &own, error));
    uint64_t pages = count_pages(dataset, slice, group);
    NT_TRY(allocate_group(dataset, group, pages, error));
    copy_ranges(dataset, slice, group, none);
    enum nt_status status = copy_columns(dataset, slice, group, error);
    if (status != NT_OK)
        nt_group_release(dataset, group, nt_group_column_count(dataset, group), pages);
    return status;
}

static const struct nt_page *page_of_columns(const struct nt_dataset *dataset,
                                             const struct nt_chain_slice *slice, const struct nt_group *group,
                                             uint64_t number, struct nt_group **group_ret)
{
    uint32_t count;
    const uint32_t *columns = own_columns(slice, group, &count);
    if (nt_group_pin(slice->dataset, group_of_cluster(dataset, slice, group), group_ret, NULL) != NT_OK)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_group *own;
        const struct nt_range *range = own_range(slice, columns[i], own_cluster(dataset, slice, group), &own);
        if (number < range->pages)
            return &own->pages[range->first_page + number];
        number -= range->pages;
    }
    nt_group_unpin(*group_ret);
    return NULL;
}

/* Of a group that has those of a member whole: one, or all of a member that waited. */
static const struct nt_page *page_of_groups(const struct nt_chain_slice *slice, uint32_t own, uint64_t number,
                                            struct nt_group **group_ret)
{
    for (; own < slice->dataset->group_count && nt_group_pin(slice->dataset, own, group_ret, NULL) == NT_OK;
         own++) {
        struct nt_group *group = *group_ret;
        if (number < group->page_count)
            return &group->pages[number];
        number -= group->page_count;
        nt_group_unpin(group);
    }
    return NULL;
}

static enum nt_status load_own_group(struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                     struct nt_group *group, struct nt_error *error)
{
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *pinned = NULL;
    uint32_t own = own_group(dataset, slice, group->number);
    uint32_t to_load = own == NT_NONE ? find_group_of_part(dataset, slice, group) : own;
    if (to_load != NT_NONE)
        NT_TRY(nt_group_pin(slice->dataset, to_load, &pinned, error));
    if (own != NT_NONE && is_of_fields(slice))
        NT_TRY(nt_chain_check_counts(dataset, slice, own_cluster(dataset, slice, group), own, error));
    NT_TRY(copy_known(dataset, slice, group, own, error));
    const struct nt_groups groups = {own, own == NT_NONE ? own : own + 1};
    return copy_group(dataset, slice, group, groups, error);
}

static enum nt_status load(struct nt_dataset *dataset, struct nt_chain_slice *slice, struct nt_group *group,
                           struct nt_error *error)
{
    if (slice->lazy && !dataset->field_groups)
        return load_lazy(dataset, slice, group, error);
    NT_TRY(nt_chain_pin_member(dataset, slice, error));
    enum nt_status status = dataset->field_groups && has_whole_groups(slice)
                                ? load_field(dataset, slice, group, error)
                                : load_own_group(dataset, slice, group, error);
    nt_chain_unpin_member(dataset, slice);
    return status;
}

enum nt_status nt_chain_load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    struct nt_chain_slice *slice = nt_chain_group_slice(dataset, number);
    if (slice->failure)
        return nt_fail_copy(error, slice->failure);
    enum nt_status status = load(dataset, slice, nt_group_slot(dataset, number), error);
    if (status != NT_OK && error && !nt_message_about(error->message, slice->member->path))
        nt_error_context(error, "%s", slice->member->path);
    return status;
}

void nt_chain_report_failure(struct nt_dataset *dataset, const struct nt_chain_slice *slice)
{
    uint32_t field = slice->series->first_field, first = slice->first_group;
    if (!slice->failure || !slice->entries || !dataset->group_count)
        return;
    while (dataset->field_groups && field < dataset->field_count && dataset->field_groups[field] == NT_NONE)
        field++;
    if (dataset->field_groups &&
        (field == dataset->field_count || series_of(dataset, field) != slice->series))
        return;
    if (dataset->field_groups)
        first = dataset->field_groups[field] + slice->first_part;
    nt_dataset_load_group(dataset, first, NULL);
}

/* ---- Member pages ---- */

const struct nt_page *nt_chain_member_page(const struct nt_dataset *dataset,
                                           const struct nt_chain_slice *slice, uint32_t column,
                                           const struct nt_page *page, struct nt_group **group_ret)
{
    const struct nt_group *group = nt_page_group(dataset, column, page);
    if (!group)
        return NULL;
    uint64_t number = (uint64_t)(page - group->pages);
    if (dataset->field_groups && has_whole_groups(slice))
        return page_of_columns(dataset, slice, group, number, group_ret);
    uint32_t own = own_group(dataset, slice, group->number);
    return page_of_groups(slice, own, number, group_ret);
}
