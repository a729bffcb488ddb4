/* SPDX-License-Identifier: MIT
 *
 * Builds datasets: appends fields, columns, clusters, ranges and pages, and charges them to the
 * metadata budget.
 */
#include "core/model/builder.h"

#include "core/base/text.h"

/* ---- Fields and columns ---- */

void nt_builder_init(struct nt_builder *builder, struct nt_dataset *dataset)
{
    *builder = (struct nt_builder){.dataset = dataset};
}

void nt_builder_deinit(struct nt_builder *builder)
{
    nt_budget_release(&builder->dataset->file->budget, NT_COST_FIELD, builder->field_count);
    nt_budget_release(&builder->dataset->file->budget, NT_COST_COLUMN, builder->column_count);
    free(builder->fields);
    free(builder->columns);
}

/* Makes room for one more of up to 2^32 - 1 items. */
static enum nt_status reserve(struct nt_builder *builder, enum nt_cost cost, void *items_at, uint32_t count,
                              size_t *capacity, size_t item_bytes, struct nt_error *error)
{
    struct nt_budget *budget = &builder->dataset->file->budget;
    if (count == NT_NONE)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the dataset has more than 2^32 %s",
                       nt_cost_info(cost)->name);
    NT_TRY(nt_budget_take(budget, cost, 1, NT_NO_OFFSET, error));
    if (count < *capacity || nt_array_enlarge(items_at, capacity, item_bytes))
        return NT_OK;
    nt_budget_release(budget, cost, 1);
    return nt_fail_memory(error);
}

enum nt_status nt_builder_add_field(struct nt_builder *builder, const struct nt_field *field,
                                    uint32_t *index_ret, struct nt_error *error)
{
    NT_TRY(reserve(builder, NT_COST_FIELD, &builder->fields, builder->field_count, &builder->field_capacity,
                   sizeof(*field), error));
    builder->fields[builder->field_count] = *field;
    if (index_ret)
        *index_ret = builder->field_count;
    builder->field_count++;
    return NT_OK;
}

enum nt_status nt_builder_add_column(struct nt_builder *builder, const struct nt_column *column,
                                     const struct nt_decoder *decoder, struct nt_error *error)
{
    NT_TRY(reserve(builder, NT_COST_COLUMN, &builder->columns, builder->column_count,
                   &builder->column_capacity, sizeof(*column), error));
    struct nt_column *copy = &builder->columns[builder->column_count++];
    *copy = *column;
    return nt_decoders_add(&builder->dataset->decoders, builder->dataset->arena,
                           &builder->dataset->file->budget, decoder, &copy->decoder, error);
}

enum nt_status nt_builder_add_linked_fields(struct nt_builder *builder, const struct nt_field *fields,
                                            uint32_t count, struct nt_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        struct nt_field field = fields[i];
        field.child_count = field.column_count = field.columns_per_representation = 0;
        field.owns_columns = false;
        NT_TRY(nt_builder_add_field(builder, &field, NULL, error));
    }
    return NT_OK;
}

/* Moves a list to the dataset, without spare capacity. NULL without memory. */
static void *keep_list(struct nt_dataset *dataset, void **items, uint32_t count, size_t item_bytes)
{
    void *exact = reallocarray(*items, count ? count : 1, item_bytes);
    if (!exact)
        return NULL;
    *items = exact;
    if (!nt_arena_adopt(dataset->arena, exact))
        return NULL;
    *items = NULL;
    return exact;
}

enum nt_status nt_builder_finish(struct nt_builder *builder, struct nt_error *error)
{
    struct nt_dataset *dataset = builder->dataset;
    dataset->fields =
        keep_list(dataset, (void **)&builder->fields, builder->field_count, sizeof(struct nt_field));
    dataset->columns =
        keep_list(dataset, (void **)&builder->columns, builder->column_count, sizeof(struct nt_column));
    NT_TRY(nt_check_memory(dataset->fields && dataset->columns, error));
    dataset->field_count = builder->field_count;
    dataset->column_count = builder->column_count;
    NT_TRY(nt_dataset_link(dataset, error));
    builder->field_count = builder->column_count = 0; /* the dataset owns them */
    return NT_OK;
}

enum nt_status nt_dataset_from_file(struct nt_dataset *dataset, struct nt_error *error)
{
    const struct nt_file *file = dataset->file;
    dataset->sources = nt_arena_alloc(dataset->arena, 1, sizeof(struct nt_source *));
    if (!nt_text_copy(dataset->arena, nt_path_stem(file->path), &dataset->name) || !dataset->sources)
        return nt_fail_memory(error);
    dataset->title = dataset->name;
    dataset->sources[0] = file->source;
    dataset->source_count = 1;
    dataset->description = dataset->writer = (struct nt_text){"", 0};
    return NT_OK;
}

/* ---- Clusters ---- */

static enum nt_status add_blocks(struct nt_dataset *dataset, uint64_t groups, uint64_t clusters,
                                 struct nt_error *error)
{
    if (groups >= NT_NONE || clusters >= NT_NONE)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "the dataset has more than 2^32 clusters or cluster groups");
    uint64_t count = groups / NT_BLOCK_GROUPS + 1;
    NT_TRY(nt_budget_take(&dataset->file->budget, NT_COST_GROUP_BLOCK, count, NT_NO_OFFSET, error));
    dataset->groups.blocks = nt_arena_alloc(dataset->arena, count, sizeof(*dataset->groups.blocks));
    return nt_check_memory(dataset->groups.blocks, error);
}

enum nt_status nt_dataset_add_groups(struct nt_dataset *dataset, uint64_t groups, uint64_t clusters,
                                     struct nt_error *error)
{
    struct nt_budget *budget = &dataset->file->budget;
    NT_TRY(add_blocks(dataset, groups, clusters, error));
    NT_TRY(nt_budget_take(budget, NT_COST_CLUSTER, clusters, NT_NO_OFFSET, error));
    NT_TRY(nt_budget_take(budget, NT_COST_GROUP_RECORD, groups, NT_NO_OFFSET, error));
    dataset->clusters = nt_arena_alloc(dataset->arena, clusters + 1, sizeof(*dataset->clusters));
    dataset->groups.records = nt_arena_alloc(dataset->arena, groups + 1, sizeof(*dataset->groups.records));
    NT_TRY(nt_check_memory(dataset->clusters && dataset->groups.records, error));
    dataset->group_count = (uint32_t)groups;
    dataset->cluster_count = (uint32_t)clusters;
    return NT_OK;
}

enum nt_status nt_dataset_add_only_cluster(struct nt_dataset *dataset, uint64_t entries,
                                           struct nt_error *error)
{
    dataset->entries = entries;
    dataset->clusters_known = true;
    if (entries == 0)
        return NT_OK;
    NT_TRY(nt_dataset_add_groups(dataset, 1, 1, error));
    dataset->groups.records[0] = (struct nt_group_record){.entries = entries, .clusters = 1};
    dataset->clusters[0] = (struct nt_cluster){.entries = entries, .column_group = NT_NONE};
    return NT_OK;
}

/* Records the first entry of each part. */
static enum nt_status add_parts(struct nt_dataset *dataset, const uint64_t *entries, uint32_t part_count,
                                struct nt_error *error)
{
    uint64_t *boundaries = nt_arena_alloc(dataset->arena, (size_t)part_count + 1, sizeof(*boundaries));
    NT_TRY(nt_check_memory(boundaries, error));
    for (uint32_t i = 0; i < part_count; i++)
        if (!nt_checked_add(boundaries[i], entries[i], &boundaries[i + 1]) || boundaries[i + 1] > INT64_MAX)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the dataset has more than 2^63 - 1 entries");
    dataset->part_boundaries = boundaries;
    dataset->part_count = part_count;
    dataset->entries = boundaries[part_count];
    dataset->clusters_known = true;
    return NT_OK;
}

static enum nt_status add_groups_of_fields(struct nt_dataset *dataset, struct nt_error *error)
{
    uint32_t fields = dataset->field_count;
    uint32_t *groups = nt_arena_alloc(dataset->arena, (size_t)fields + 1, sizeof(*groups));
    struct nt_group_owner *owners = nt_arena_alloc(dataset->arena, (size_t)fields + 1, sizeof(*owners));
    NT_TRY(nt_check_memory(groups && owners, error));
    uint64_t count = 0;
    uint32_t owner_count = 0;
    for (uint32_t i = 0; i < fields; i++) {
        const struct nt_field *field = &dataset->fields[i];
        groups[i] = field->owns_columns && field->column_count ? (uint32_t)count : NT_NONE;
        if (groups[i] == NT_NONE)
            continue;
        owners[owner_count++] = (struct nt_group_owner){i, groups[i]};
        count += nt_field_parts(dataset, i).count; /* both have 32 bits */
    }
    NT_TRY(nt_budget_take(&dataset->file->budget, NT_COST_GROUP_OWNER, owner_count, NT_NO_OFFSET, error));
    NT_TRY(add_blocks(dataset, count, count, error));
    dataset->group_count = dataset->cluster_count = (uint32_t)count;
    dataset->group_owners = owners;
    dataset->group_owner_count = owner_count;
    dataset->field_groups = groups;
    dataset->has_sharded_clusters = true;
    return NT_OK;
}

enum nt_status nt_dataset_add_field_groups(struct nt_dataset *dataset, const uint64_t *entries,
                                           uint32_t part_count, struct nt_error *error)
{
    enum nt_status status = add_parts(dataset, entries, part_count, error);
    return status == NT_OK && part_count ? add_groups_of_fields(dataset, error) : status;
}

enum nt_status nt_dataset_add_joined_groups(struct nt_dataset *dataset, const struct nt_parts *parts,
                                            uint32_t count, struct nt_error *error)
{
    dataset->part_boundaries = parts[0].boundaries;
    dataset->part_count = parts[0].count;
    dataset->friend_parts = parts + 1;
    dataset->friend_count = count - 1;
    dataset->clusters_known = true;
    bool has_parts = false;
    for (uint32_t i = 0; i < count; i++)
        has_parts |= parts[i].count > 0;
    return has_parts ? add_groups_of_fields(dataset, error) : NT_OK;
}

enum nt_status nt_dataset_add_only_part(struct nt_dataset *dataset, uint64_t entries, struct nt_error *error)
{
    return nt_dataset_add_field_groups(dataset, &entries, entries > 0, error);
}

/* ---- Ranges and pages ---- */

static enum nt_status take(const struct nt_group_builder *builder, enum nt_cost cost, uint64_t count,
                           struct nt_error *error)
{
    enum nt_status status =
        nt_budget_take(&builder->dataset->file->budget, cost, count, builder->offset, error);
    if (status != NT_OK && builder->offset == NT_NO_OFFSET)
        nt_error_context(error, "%s", builder->list);
    else if (status != NT_OK)
        nt_error_context(error, "%s at offset %" PRIu64, builder->list, builder->offset);
    return status;
}

enum nt_status nt_group_builder_init(struct nt_group_builder *builder, struct nt_dataset *dataset,
                                     uint32_t group, const char *list, uint64_t offset,
                                     struct nt_error *error)
{
    *builder = (struct nt_group_builder){
        .dataset = dataset, .group = nt_group_slot(dataset, group), .list = list, .offset = offset};
    uint64_t count = (uint64_t)builder->group->clusters * /* both have 32 bits */
                     nt_group_column_count(dataset, builder->group);
    /* Left by another thread that was loading the group during a fork. */
    nt_group_release(dataset, builder->group, builder->group->ranges ? count : 0, builder->group->page_count);
    /* Absent columns use no bytes in the file, but a range each in memory. */
    NT_TRY(take(builder, NT_COST_RANGE, count, error));
    builder->range_count = count;
    builder->group->ranges = calloc(count ? count : 1, sizeof(struct nt_range));
    NT_TRY(nt_check_memory(builder->group->ranges, error));
    for (uint64_t i = 0; i < count; i++)
        builder->group->ranges[i].state = NT_RANGE_ABSENT;
    return NT_OK;
}

enum nt_status nt_group_builder_start(struct nt_group_builder *builder, uint32_t cluster, uint32_t column,
                                      struct nt_error *error)
{
    struct nt_group *group = builder->group;
    uint32_t range_index = nt_group_range_index(builder->dataset, group, column);
    if (range_index == NT_NONE)
        return nt_fail(error, NT_CORRUPT, builder->offset, "%s: the column belongs to another field",
                       builder->list);
    uint32_t count = nt_group_column_count(builder->dataset, group);
    struct nt_range *range = group->ranges + (size_t)(cluster - group->first_cluster) * count + range_index;
    if (range->state != NT_RANGE_ABSENT)
        return nt_fail(error, NT_CORRUPT, builder->offset, "%s: a cluster lists a column twice",
                       builder->list);
    range->state = NT_RANGE_PRESENT;
    range->first_page = (uint32_t)group->page_count;
    builder->range = range;
    builder->first_element = 0;
    return NT_OK;
}

void nt_group_builder_set_null(struct nt_group_builder *builder)
{
    for (uint64_t i = 0; i < builder->range_count; i++)
        builder->group->ranges[i].state = NT_RANGE_NULL;
}

static enum nt_status resize(struct nt_group_builder *builder, uint64_t capacity, struct nt_error *error)
{
    uint64_t more = capacity - builder->capacity;
    NT_TRY(take(builder, NT_COST_PAGE, more, error));
    struct nt_page *larger = reallocarray(builder->group->pages, capacity, sizeof(*larger));
    if (!larger) {
        nt_budget_release(&builder->dataset->file->budget, NT_COST_PAGE, more);
        return nt_fail_memory(error);
    }
    builder->group->pages = larger;
    builder->capacity = (size_t)capacity;
    return NT_OK;
}

enum nt_status nt_group_builder_reserve(struct nt_group_builder *builder, uint64_t pages,
                                        struct nt_error *error)
{
    uint64_t capacity;
    if (!nt_checked_add(builder->group->page_count, pages, &capacity) || capacity <= builder->capacity)
        return NT_OK; /* adding the pages finds out */
    return resize(builder, capacity, error);
}

enum nt_status nt_group_builder_add(struct nt_group_builder *builder, const struct nt_page *page,
                                    struct nt_error *error)
{
    enum { MIN_PAGES = 8 };
    struct nt_group *group = builder->group;
    if (group->page_count == UINT32_MAX)
        return nt_fail(error, NT_LIMIT, builder->offset, "%s: the column has more than 2^32 pages",
                       builder->list);
    if (group->page_count == builder->capacity)
        NT_TRY(resize(builder, builder->capacity ? 2 * builder->capacity : MIN_PAGES, error));
    group->pages[group->page_count] = *page;
    group->pages[group->page_count++].first_element = builder->first_element;
    builder->range->pages++;
    builder->first_element += page->elements; /* at most 2^32 pages of 2^32 elements: no overflow */
    return NT_OK;
}

/* Releases spare capacity. */
static void trim_pages(struct nt_group_builder *builder)
{
    struct nt_group *group = builder->group;
    nt_budget_release(&builder->dataset->file->budget, NT_COST_PAGE, builder->capacity - group->page_count);
    struct nt_page *pages =
        reallocarray(group->pages, group->page_count ? group->page_count : 1, sizeof(*pages));
    if (pages)
        group->pages = pages;
}

enum nt_status nt_group_builder_finish(struct nt_group_builder *builder, enum nt_status status)
{
    if (status == NT_OK)
        trim_pages(builder);
    else
        nt_group_release(builder->dataset, builder->group, builder->range_count, builder->capacity);
    return status;
}

void nt_group_release(struct nt_dataset *dataset, struct nt_group *group, uint64_t ranges, uint64_t pages)
{
    nt_budget_release(&dataset->file->budget, NT_COST_RANGE, ranges);
    nt_budget_release(&dataset->file->budget, NT_COST_PAGE, pages);
    free(group->ranges);
    free(group->pages);
    group->ranges = NULL;
    group->pages = NULL;
    group->page_count = 0;
}
