/* SPDX-License-Identifier: MIT
 *
 * Cluster groups: lookup, page lists that are loaded when they are needed, and their release.
 */
#include "core/model/model.h"

#include "core/model/budget.h"
#include "core/model/builder.h"

/* ---- Records and slots ---- */

NT_DEFINE_LAST_AT_MOST(find_owner, struct nt_group_owner, .first_group)

uint32_t nt_group_field(const struct nt_dataset *dataset, uint32_t number, uint32_t *part_ret)
{
    const struct nt_group_owner *owner =
        &dataset->group_owners[find_owner(dataset->group_owners, dataset->group_owner_count, number)];
    if (part_ret)
        *part_ret = number - owner->first_group;
    return owner->field;
}

struct nt_group_record nt_group_record(const struct nt_dataset *dataset, uint32_t number)
{
    if (!dataset->field_groups)
        return dataset->groups.records[number];
    const struct nt_cluster cluster = nt_dataset_cluster(dataset, number); /* its only one, same number */
    struct nt_group_record record = {.first_entry = cluster.first_entry,
                                     .entries = cluster.entries,
                                     .first_cluster = number,
                                     .clusters = 1,
                                     .field = nt_group_field(dataset, number, NULL),
                                     .metadata_bytes = dataset->part_metadata_bytes};
    if (dataset->ops && dataset->ops->complete_record)
        dataset->ops->complete_record(dataset, number, &record);
    return record;
}

static struct nt_group *slot_at(const struct nt_dataset *dataset, uint32_t slot)
{
    unsigned segment = nt_table_segment(slot, NT_FIRST_GROUPS);
    return &dataset->groups.segments[segment][slot - nt_table_segment_first(segment, NT_FIRST_GROUPS)];
}

static struct nt_group_block *block_of(const struct nt_dataset *dataset, uint32_t number)
{
    return &dataset->groups.blocks[number / NT_BLOCK_GROUPS];
}

static uint64_t bit_of(uint32_t number)
{
    return UINT64_C(1) << number % NT_BLOCK_GROUPS;
}

struct nt_group *nt_group_slot(const struct nt_dataset *dataset, uint32_t number)
{
    const struct nt_group_block *block = block_of(dataset, number);
    struct nt_group_slot_map *map = atomic_load_explicit(&block->slot_map, memory_order_acquire);
    uint32_t slot =
        map ? atomic_load_explicit(&map->slots[number % NT_BLOCK_GROUPS], memory_order_acquire) : 0;
    /* False: another block took over the map meanwhile. */
    bool is_own = atomic_load_explicit(&block->slot_map, memory_order_relaxed) == map;
    return slot && is_own ? slot_at(dataset, slot - 1) : NULL;
}

bool nt_group_is_loaded(const struct nt_dataset *dataset, uint32_t number)
{
    const struct nt_group *group = nt_group_slot(dataset, number);
    return group && nt_lazy_is_ready(&group->state);
}

bool nt_group_is_known(const struct nt_dataset *dataset, uint32_t number)
{
    uint64_t known = atomic_load_explicit(&block_of(dataset, number)->known, memory_order_acquire);
    return known & bit_of(number) && !nt_group_failure(dataset, number);
}

const struct nt_error *nt_group_failure(const struct nt_dataset *dataset, uint32_t number)
{
    const struct nt_group *group = nt_group_slot(dataset, number);
    bool has_failed = group && nt_lazy_state(&group->state) == NT_LAZY_FAILED && group->number == number;
    return has_failed ? group->failure : NULL;
}

struct nt_group *nt_group_try_pin(const struct nt_dataset *dataset, uint32_t number)
{
    struct nt_group *group = nt_group_slot(dataset, number);
    unsigned state = group ? atomic_load_explicit(&group->state, memory_order_acquire) : NT_LAZY_EMPTY;
    if (state % NT_LAZY_STATES != NT_LAZY_READY)
        return NULL;
    if (!(state & NT_GROUP_KEPT)) {
        state = atomic_fetch_add_explicit(&group->state, NT_GROUP_PIN, memory_order_acquire);
        if (state % NT_LAZY_STATES != NT_LAZY_READY) {
            atomic_fetch_sub_explicit(&group->state, NT_GROUP_PIN, memory_order_relaxed);
            return NULL;
        }
        if (!(state & NT_GROUP_USED))
            atomic_fetch_or_explicit(&group->state, NT_GROUP_USED, memory_order_relaxed);
    }
    if (group->number == number)
        return group;
    nt_group_unpin(group); /* the slot was taken for another group */
    return NULL;
}

void nt_group_keep(struct nt_group *group)
{
    nt_group_set_kept(group);
    nt_group_unpin(group);
}

/* ---- Groups of a field ---- */

static struct nt_groups all_groups(const struct nt_dataset *dataset)
{
    return (struct nt_groups){0, dataset->group_count};
}

struct nt_parts nt_field_parts(const struct nt_dataset *dataset, uint32_t field)
{
    for (uint32_t i = dataset->friend_count; i-- > 0;)
        if (field >= dataset->friend_parts[i].first_field)
            return dataset->friend_parts[i];
    return (struct nt_parts){.count = dataset->part_count, .boundaries = dataset->part_boundaries};
}

struct nt_groups nt_groups_of_column(const struct nt_dataset *dataset, uint32_t column)
{
    if (!dataset->field_groups || column == NT_NONE)
        return all_groups(dataset);
    uint32_t field = dataset->columns[column].field, group = dataset->field_groups[field];
    return (struct nt_groups){group, group + nt_field_parts(dataset, field).count};
}

struct nt_groups nt_groups_of_field(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t count;
    if (!dataset->field_groups || field == NT_NONE)
        return all_groups(dataset);
    const uint32_t *columns = nt_field_columns(dataset, field, &count); /* or another field's */
    return count ? nt_groups_of_column(dataset, columns[0]) : (struct nt_groups){0, 0};
}

bool nt_groups_are_loaded(const struct nt_dataset *dataset, struct nt_groups groups)
{
    for (uint32_t i = groups.first; i < groups.end; i++)
        if (!nt_group_is_loaded(dataset, i))
            return false;
    return true;
}

/* ---- Clusters and ranges ---- */

uint32_t nt_groups_clusters(const struct nt_dataset *dataset, struct nt_groups groups, uint32_t *count_ret)
{
    if (!dataset->field_groups) {
        *count_ret = dataset->cluster_count;
        return 0;
    }
    *count_ret = groups.end - groups.first; /* each has one, of its own number */
    return groups.first;
}

uint32_t nt_group_column_count(const struct nt_dataset *dataset, const struct nt_group *group)
{
    return dataset->field_groups ? dataset->fields[group->field].column_count : dataset->column_count;
}

uint32_t nt_group_range_index(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t column)
{
    const struct nt_column *info = &dataset->columns[column];
    if (!dataset->field_groups)
        return column;
    if (info->field != group->field)
        return NT_NONE;
    return info->representation * dataset->fields[group->field].columns_per_representation + info->position;
}

const struct nt_range *nt_group_range(const struct nt_dataset *dataset, const struct nt_group *group,
                                      uint32_t cluster, uint32_t column)
{
    static const struct nt_range absent = {.state = NT_RANGE_ABSENT};
    uint32_t range_index = nt_group_range_index(dataset, group, column), count;
    return range_index == NT_NONE ? &absent
                                  : nt_cluster_ranges(dataset, group, cluster, &count) + range_index;
}

struct nt_cluster nt_dataset_cluster(const struct nt_dataset *dataset, uint32_t cluster)
{
    if (dataset->clusters)
        return dataset->clusters[cluster];
    uint32_t part, field = nt_group_field(dataset, cluster, &part);
    const uint64_t *boundaries = nt_field_parts(dataset, field).boundaries + part;
    return (struct nt_cluster){.first_entry = boundaries[0],
                               .entries = boundaries[1] - boundaries[0],
                               .group = cluster,
                               .column_group = NT_NONE};
}

NT_DEFINE_LAST_AT_MOST(find_group, struct nt_group_record, .first_cluster)

uint32_t nt_cluster_group(const struct nt_dataset *dataset, uint32_t cluster)
{
    return dataset->field_groups ? cluster
                                 : find_group(dataset->groups.records, dataset->group_count, cluster);
}

NT_DEFINE_LAST_AT_MOST(find_column, uint32_t, )

bool nt_cluster_holds(const struct nt_dataset *dataset, uint32_t cluster, uint32_t column)
{
    if (dataset->field_groups)
        return nt_group_field(dataset, cluster, NULL) == dataset->columns[column].field;
    uint32_t number = dataset->clusters[cluster].column_group;
    if (number == NT_NONE)
        return true;
    if (number >= dataset->column_group_count)
        return false;
    const struct nt_column_group *group = &dataset->column_groups[number];
    return group->count && group->columns[find_column(group->columns, group->count, column)] == column;
}

uint64_t nt_range_elements(const struct nt_group *group, const struct nt_range *range)
{
    if (range->pages == 0)
        return 0;
    const struct nt_page *last = &group->pages[(size_t)range->first_page + range->pages - 1];
    return last->first_element + last->elements;
}

/* Returns the group if it holds the page, which is pinned. */
static struct nt_group *with_page(const struct nt_dataset *dataset, uint32_t number,
                                  const struct nt_page *page)
{
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = nt_group_try_pin(dataset, number);
    bool holds_page = group && page >= group->pages && page < group->pages + group->page_count;
    return holds_page ? group : NULL;
}

struct nt_group *nt_page_group(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page)
{
    const struct nt_groups groups = nt_groups_of_column(dataset, column);
    atomic_uint *found = &((struct nt_dataset *)dataset)->found_group; /* a hint: it changes no result */
    uint32_t last = atomic_load_explicit(found, memory_order_relaxed), count = groups.end - groups.first;
    last = last >= groups.first && last < groups.end ? last - groups.first : 0;
    for (uint32_t distance = 0; distance < count; distance++) {
        const uint32_t near[] = {last + distance, last - distance}; /* below 0: above all groups */
        for (unsigned i = 0; i < 2; i++) {
            struct nt_group *group =
                near[i] < count ? with_page(dataset, groups.first + near[i], page) : NULL;
            if (!group)
                continue;
            atomic_store_explicit(found, group->number, memory_order_relaxed);
            return group;
        }
    }
    return NULL;
}

/* ---- Requesting page lists in advance ---- */

/* How many groups to request at once; if they are FEW_BYTES of one file, more, up to the number of ranges
 * that a source takes. */
enum { MAX_AHEAD = 64, MAX_RANGES = 192, FEW_BYTES = 256 << 10 };

static bool can_plan(const struct nt_dataset *dataset)
{
    return dataset->ops->plan_groups && nt_source_can_prefetch(dataset->sources[0]);
}

/* The end of the groups of the same field. */
static uint32_t end_of_field(const struct nt_dataset *dataset, uint32_t group)
{
    if (!dataset->field_groups)
        return dataset->group_count;
    uint32_t field = nt_group_field(dataset, group, NULL);
    return dataset->field_groups[field] + nt_field_parts(dataset, field).count;
}

/* Are as many ranges again to be requested together with these? Other files would have to be opened. */
static bool has_room(const struct nt_prefetch *prefetch, size_t added)
{
    return added && prefetch->count + added <= MAX_RANGES && prefetch->bytes < FEW_BYTES &&
           prefetch->ranges[0].source == prefetch->ranges[prefetch->count - 1].source;
}

/* Opening a stream of such a field needs all its page lists: its elements, or those of its items, are not one
 * for each entry. */
static bool needs_all_lists(const struct nt_dataset *dataset, uint32_t field)
{
    return nt_field_row_parent(dataset, field) != NT_NONE ||
           nt_field_has_stream(&dataset->fields[field], NT_STREAM_OFFSETS);
}

/* Requests lists of the field of a group and of the announced fields after it that are of its kind: all lists
 * of fields that need all, else those of the same part, as perhaps only a few rows are read. */
static void request_announced(struct nt_dataset *dataset, uint32_t number)
{
    enum { MAX_BYTES = 32 << 20 };
    const uint64_t most = nt_min(nt_source_spare_bytes(dataset->sources[0], true), MAX_BYTES);
    struct nt_prefetch prefetch = {.need = NT_PREFETCH_NOW};
    uint32_t part, field = nt_group_field(dataset, number, &part);
    const bool are_all_needed = needs_all_lists(dataset, field);
    if (!dataset->announced[field])
        return;
    for (; field < dataset->field_count && prefetch.count < MAX_RANGES && prefetch.bytes < most; field++) {
        struct nt_groups groups = nt_groups_of_field(dataset, field);
        if (!dataset->announced[field] || needs_all_lists(dataset, field) != are_all_needed)
            continue;
        dataset->announced[field] = false;
        if (!are_all_needed)
            groups = (struct nt_groups){groups.first + part, nt_min(groups.first + part + 1, groups.end)};
        if (groups.first < groups.end && groups.end - groups.first <= MAX_AHEAD)
            dataset->ops->plan_groups(dataset, groups, false, &prefetch);
    }
    nt_prefetch_submit(&prefetch);
}

/* Requests what loading a group reads, and the groups after it if groups are loaded in order: then a slow
 * source is waited for once for many of them. */
static void request_ahead(struct nt_dataset *dataset, uint32_t number)
{
    struct nt_groups_ahead *ahead = &dataset->ahead;
    struct nt_prefetch prefetch = {.need = NT_PREFETCH_NOW};
    if (!can_plan(dataset))
        return;
    if (dataset->announced)
        request_announced(dataset, number);
    if (number != ahead->next || number >= ahead->end)
        *ahead = (struct nt_groups_ahead){number, number, end_of_field(dataset, number), 1};
    ahead->next = number + 1;
    if (ahead->requested > number + ahead->count / 2)
        return; /* request in large batches, so that some requests are always in flight */
    size_t before;
    ahead->requested = ahead->requested > number ? ahead->requested : number;
    do {
        before = prefetch.count;
        struct nt_groups groups = {ahead->requested, ahead->end};
        if (groups.end - groups.first > ahead->count)
            groups.end = groups.first + ahead->count;
        if (groups.first < groups.end)
            dataset->ops->plan_groups(dataset, groups, false, &prefetch);
        ahead->requested = groups.end;
    } while (ahead->requested < ahead->end && has_room(&prefetch, prefetch.count - before));
    nt_prefetch_submit(&prefetch);
    ahead->count = ahead->count < MAX_AHEAD / 4 ? 4 * ahead->count : MAX_AHEAD;
}

/* ---- Places in blocks, under the lock ---- */

static void enter_slot(struct nt_dataset *dataset, uint32_t number, uint32_t slot)
{
    struct nt_group_block *block = block_of(dataset, number);
    struct nt_group_slot_map *map = atomic_load_explicit(&block->slot_map, memory_order_relaxed);
    if (!map) {
        map = dataset->groups.spare_slot_maps;
        dataset->groups.spare_slot_maps = map->next_free;
    }
    map->used++;
    atomic_store_explicit(&map->slots[number % NT_BLOCK_GROUPS], slot + 1, memory_order_release);
    atomic_store_explicit(&block->slot_map, map, memory_order_release);
}

static void leave_slot(struct nt_dataset *dataset, uint32_t number)
{
    struct nt_group_block *block = block_of(dataset, number);
    struct nt_group_slot_map *map = atomic_load_explicit(&block->slot_map, memory_order_relaxed);
    atomic_store_explicit(&map->slots[number % NT_BLOCK_GROUPS], 0, memory_order_release);
    if (--map->used)
        return;
    atomic_store_explicit(&block->slot_map, NULL, memory_order_release);
    map->next_free = dataset->groups.spare_slot_maps;
    dataset->groups.spare_slot_maps = map;
}

/* ---- Releasing page lists ---- */

/* The lists of a dataset are released by a clock: a hand goes round the slots, and releases those that are
 * not pinned and were not used since it passed them. All of this is under the lock of the logical dataset,
 * but pins need no lock: a thread that pins a group while it is released sees that it is not loaded, and one
 * that pins the next group in its slot sees another number. */

static uint64_t count_ranges(const struct nt_dataset *dataset, const struct nt_group *group)
{
    return (uint64_t)group->clusters * nt_group_column_count(dataset, group);
}

static uint64_t bytes_of_list(const struct nt_dataset *dataset, const struct nt_group *group)
{
    return count_ranges(dataset, group) * nt_cost_info(NT_COST_RANGE)->bytes +
           group->page_count * nt_cost_info(NT_COST_PAGE)->bytes;
}

/* Looks at the slot below the hand. */
static void move_hand(struct nt_dataset *dataset, bool spares_used)
{
    struct nt_group_store *store = &dataset->groups;
    uint32_t slot = store->hand;
    struct nt_group *group = slot_at(dataset, slot);
    unsigned state = atomic_load_explicit(&group->state, memory_order_relaxed);
    store->hand = (slot + 1) % store->slot_count;
    if (spares_used && state & NT_GROUP_USED) {
        atomic_fetch_and_explicit(&group->state, ~(unsigned)NT_GROUP_USED, memory_order_relaxed);
        return;
    }
    unsigned idle = NT_LAZY_READY | (state & NT_GROUP_USED);
    if (!atomic_compare_exchange_strong_explicit(&group->state, &idle, NT_LAZY_EMPTY, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return;
    store->list_bytes -= bytes_of_list(dataset, group);
    nt_group_release(dataset, group, count_ranges(dataset, group), group->page_count);
    leave_slot(dataset, group->number);
    group->number = store->free_slot;
    store->free_slot = slot + 1;
}

/* Makes room for one list more, in few steps. */
static void release_some(struct nt_dataset *dataset)
{
    enum { STEPS = 64 };
    for (unsigned i = 0; i < STEPS && dataset->groups.list_bytes &&
                         nt_budget_is_tight(&dataset->file->budget, dataset->groups.list_bytes);
         i++)
        move_hand(dataset, true);
}

/* Returns how many bytes. */
static uint64_t release_all(struct nt_dataset *dataset)
{
    uint64_t before = dataset ? dataset->groups.list_bytes : 0;
    for (uint32_t i = 0; before && dataset->groups.list_bytes && i < dataset->groups.slot_count; i++)
        move_hand(dataset, false);
    return before ? before - dataset->groups.list_bytes : 0;
}

uint64_t nt_groups_release(struct nt_dataset *logical)
{
    uint64_t bytes = release_all(logical) + (logical->ops->release ? logical->ops->release(logical) : 0);
    return nt_lazy_is_ready(&logical->physical_state)
               ? bytes + release_all(logical->physical) + release_all(logical->levels)
               : bytes;
}

void nt_dataset_release_lists(struct nt_dataset *logical)
{
    NT_LOCK_GUARD(&logical->lock);
    nt_groups_release(logical);
}

/* ---- Loading one group ---- */

/* Small lists stay: releasing them is not worth the pins. */
static void count_list(struct nt_dataset *dataset, struct nt_group *group)
{
    enum { SMALL_PART = 64 };
    uint64_t limit = atomic_load_explicit(&dataset->file->budget.limit, memory_order_relaxed);
    if (dataset->ops->reloads_groups)
        dataset->groups.list_bytes += bytes_of_list(dataset, group);
    if (dataset->groups.list_bytes <= limit / SMALL_PART)
        nt_group_set_kept(group);
}

static enum nt_status load_group(void *owner, uint32_t number, struct nt_error *error)
{
    struct nt_dataset *dataset = owner;
    request_ahead(dataset, number);
    release_some(dataset);
    enum nt_status status = dataset->ops->load_group(dataset, number, error);
    if (status == NT_LIMIT && nt_groups_release(dataset->logical))
        status = dataset->ops->load_group(dataset, number, error);
    NT_TRY(status);
    count_list(dataset, nt_group_slot(dataset, number));
    atomic_fetch_or_explicit(&block_of(dataset, number)->known, bit_of(number), memory_order_release);
    return NT_OK;
}

static enum nt_status add_slot(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_group_store *store = &dataset->groups;
    unsigned segment = nt_table_segment(store->slot_count, NT_FIRST_GROUPS);
    NT_TRY(nt_budget_take(&dataset->file->budget, NT_COST_LOADED_GROUP, 1, NT_NO_OFFSET, error));
    if (!store->segments[segment])
        store->segments[segment] = nt_arena_alloc(dataset->arena, (size_t)NT_FIRST_GROUPS << segment,
                                                  sizeof(*store->segments[segment]));
    if (!store->segments[segment]) {
        nt_budget_release(&dataset->file->budget, NT_COST_LOADED_GROUP, 1);
        return nt_fail_memory(error);
    }
    slot_at(dataset, store->slot_count)->number = store->free_slot;
    store->free_slot = ++store->slot_count;
    return NT_OK;
}

static enum nt_status add_slot_map(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_group_slot_map *map;
    NT_TRY(nt_budget_take(&dataset->file->budget, NT_COST_GROUP_SLOT_MAP, 1, NT_NO_OFFSET, error));
    map = nt_arena_alloc(dataset->arena, 1, sizeof(*map));
    if (!map) {
        nt_budget_release(&dataset->file->budget, NT_COST_GROUP_SLOT_MAP, 1);
        return nt_fail_memory(error);
    }
    dataset->groups.spare_slot_maps = map;
    return NT_OK;
}

/* Makes sure that there is a free slot, and a slot map for the block of a group. */
static enum nt_status make_room(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    struct nt_group_store *store = &dataset->groups;
    enum nt_status status = store->free_slot ? NT_OK : add_slot(dataset, error);
    bool has_map = atomic_load_explicit(&block_of(dataset, number)->slot_map, memory_order_relaxed);
    return status == NT_OK && !has_map && !store->spare_slot_maps ? add_slot_map(dataset, error) : status;
}

/* Takes a free slot for a group. Under the lock. */
static enum nt_status take_slot(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    struct nt_group_store *store = &dataset->groups;
    enum nt_status status = make_room(dataset, number, error);
    if (status == NT_LIMIT && nt_groups_release(dataset->logical))
        status = make_room(dataset, number, error);
    NT_TRY(status);
    uint32_t slot = store->free_slot - 1;
    const struct nt_group_record record = nt_group_record(dataset, number);
    struct nt_group *group = slot_at(dataset, slot);
    store->free_slot = group->number;
    group->number = number;
    group->first_cluster = record.first_cluster;
    group->clusters = record.clusters;
    group->field = record.field;
    enter_slot(dataset, number, slot);
    return NT_OK;
}

/* Finds or takes the slot of a group, and pins it, loaded or not. */
static enum nt_status pin_slot(struct nt_dataset *dataset, uint32_t number, struct nt_group **group_ret,
                               struct nt_error *error)
{
    const struct nt_file *file = dataset->file;
    if (file->before_blocking)
        file->before_blocking(file->context);
    NT_LOCK_GUARD(&dataset->logical->lock);
    NT_TRY(nt_group_slot(dataset, number) ? NT_OK : take_slot(dataset, number, error));
    *group_ret = nt_group_slot(dataset, number);
    atomic_fetch_add_explicit(&(*group_ret)->state, NT_GROUP_PIN, memory_order_relaxed);
    return NT_OK;
}

/* Loads the page list into the slot that pin_slot found. */
static enum nt_status load_slot(struct nt_dataset *dataset, struct nt_group *group, struct nt_error *error)
{
    const struct nt_file *file = dataset->file;
    const struct nt_lazy lazy = {.state = &group->state,
                                 .failure = &group->failure,
                                 .make = load_group,
                                 .owner = dataset,
                                 .number = group->number,
                                 .budget = &file->budget,
                                 .lock = &dataset->logical->lock};
    bool is_new_failure;
    enum nt_status status = nt_lazy_get(&lazy, &is_new_failure, error);
    if (is_new_failure && file->on_group_failure)
        file->on_group_failure(file->context, dataset, group->number, group->failure);
    return status;
}

/* A stub has none: they are those of the file that nt_file_resolve returns. */
static enum nt_status check_has_groups(const struct nt_dataset *dataset, struct nt_error *error)
{
    return dataset->file->resolve ? nt_dataset_check(dataset, error) : NT_OK;
}

enum nt_status nt_group_pin(struct nt_dataset *dataset, uint32_t number, struct nt_group **group_ret,
                            struct nt_error *error)
{
    *group_ret = NULL;
    NT_TRY(check_has_groups(dataset, error));
    struct nt_group *group = nt_group_try_pin(dataset, number);
    enum nt_status status = group ? NT_OK : pin_slot(dataset, number, &group, error);
    if (status == NT_OK && !nt_lazy_is_ready(&group->state))
        status = load_slot(dataset, group, error);
    if (status == NT_OK)
        *group_ret = group;
    else
        nt_group_unpin(group);
    return status;
}

enum nt_status nt_group_pin_readable(struct nt_dataset *dataset, uint32_t number, struct nt_group **group_ret,
                                     struct nt_error *error)
{
    enum nt_status status = nt_group_pin(dataset, number, group_ret, error);
    return nt_group_failure(dataset, number) ? NT_OK : status;
}

enum nt_status nt_dataset_load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    NT_TRY(check_has_groups(dataset, error));
    if (nt_group_is_known(dataset, number))
        return NT_OK;
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
    return nt_group_pin(dataset, number, &group, error);
}

/* ---- Loading many groups ---- */

void nt_groups_announce(struct nt_dataset *dataset, struct nt_groups groups)
{
    NT_LOCK_GUARD(&dataset->logical->lock);
    dataset->ahead = (struct nt_groups_ahead){groups.first, groups.first, groups.end, MAX_AHEAD};
}

/* Recursive: fields nest no deeper than NT_MAX_DEPTH. */
static void announce_field(struct nt_dataset *dataset, uint32_t field)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    dataset->announced[field] = true;
    for (uint32_t i = 0; i < count; i++)
        announce_field(dataset, children[i]);
}

void nt_groups_announce_fields(struct nt_dataset *dataset, const uint32_t *fields, size_t count)
{
    if (!dataset->field_groups || !can_plan(dataset))
        return;
    NT_LOCK_GUARD(&dataset->logical->lock);
    if (!dataset->announced && count)
        dataset->announced = malloc((size_t)dataset->field_count + 1);
    if (!dataset->announced)
        return;
    memset(dataset->announced, 0, (size_t)dataset->field_count + 1);
    for (size_t i = 0; i < count; i++)
        if (fields[i] < dataset->field_count)
            announce_field(dataset, fields[i]);
}

bool nt_groups_plan(struct nt_dataset *dataset, struct nt_groups groups, bool with_pages,
                    struct nt_prefetch *prefetch)
{
    const struct nt_file *file = dataset->file;
    if (!can_plan(dataset) || file->resolve)
        return false;
    if (file->before_blocking)
        file->before_blocking(file->context);
    NT_LOCK_GUARD(&dataset->logical->lock);
    return dataset->ops->plan_groups(dataset, groups, with_pages, prefetch);
}

enum nt_status nt_groups_load(struct nt_dataset *dataset, struct nt_groups groups, struct nt_error *error)
{
    nt_groups_announce(dataset, groups);
    for (uint32_t i = groups.first; i < groups.end; i++) {
        NT_TRY(nt_dataset_load_group(dataset, i, error));
    }
    return NT_OK;
}

enum nt_status nt_groups_load_readable(struct nt_dataset *dataset, struct nt_groups groups,
                                       struct nt_error *error)
{
    NT_TRY(check_has_groups(dataset, error));
    nt_groups_announce(dataset, groups);
    for (uint32_t i = groups.first; i < groups.end; i++) {
        enum nt_status status = nt_dataset_load_group(dataset, i, error);
        if (status != NT_OK && !nt_group_failure(dataset, i))
            return status;
    }
    return NT_OK;
}

enum nt_status nt_dataset_load_all(struct nt_dataset *dataset, struct nt_error *error)
{
    return nt_groups_load(dataset, nt_groups_of_field(dataset, NT_NONE), error);
}

enum nt_status nt_dataset_load_readable(struct nt_dataset *dataset, struct nt_error *error)
{
    return nt_groups_load_readable(dataset, nt_groups_of_field(dataset, NT_NONE), error);
}

uint64_t nt_dataset_metadata_bytes(const struct nt_dataset *dataset)
{
    uint64_t bytes = 0;
    if (dataset->field_groups)
        return nt_checked_multiply(dataset->group_count, dataset->part_metadata_bytes, &bytes) ? bytes
                                                                                               : UINT64_MAX;
    for (uint32_t i = 0; i < dataset->group_count; i++)
        if (!nt_checked_add(bytes, dataset->groups.records[i].metadata_bytes, &bytes))
            return UINT64_MAX;
    return bytes;
}

void nt_groups_deinit(struct nt_dataset *dataset)
{
    free(dataset->announced);
    for (uint32_t i = 0; i < dataset->groups.slot_count; i++) {
        const struct nt_group *group = slot_at(dataset, i);
        free(group->ranges);
        free(group->pages);
        free(group->failure);
    }
}
