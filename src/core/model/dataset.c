/* SPDX-License-Identifier: MIT
 *
 * Datasets: linking of fields and columns, lazy loading of page lists and physical views, and lookup of
 * cluster groups.
 */
#include "core/model/model.h"

#include <ntuple/source.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/thread.h"
#include "core/io/source.h"
#include "core/model/builder.h"

/* ---- Lazy loading ---- */

/* Changes the state from `before`, which only this thread can change. Keeps the owner's bits. */
static void set_state(atomic_uint *state, enum nt_lazy_state before, enum nt_lazy_state after)
{
    atomic_fetch_add_explicit(state, (unsigned)after - (unsigned)before, memory_order_release);
}

/* Under the lock. */
static enum nt_status make(const struct nt_lazy *lazy, enum nt_lazy_state before, bool *is_new_ret,
                           struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = lazy->make(lazy->owner, lazy->number, &failure);
    if (status != NT_OK && error)
        *error = failure;
    if (nt_is_environmental(status))
        return status;
    if (status != NT_OK) {
        *lazy->failure = malloc(sizeof(failure));
        if (!*lazy->failure)
            return nt_fail_memory(error);
        **lazy->failure = failure;
        *is_new_ret = true;
    }
    set_state(lazy->state, before, status == NT_OK ? NT_LAZY_READY : NT_LAZY_FAILED);
    return status;
}

enum nt_status nt_lazy_get(const struct nt_lazy *lazy, bool *is_new_ret, struct nt_error *error)
{
    enum nt_lazy_state state = nt_lazy_state(lazy->state);
    enum nt_status status = NT_OK;
    *is_new_ret = false;
    if (state == NT_LAZY_READY)
        return NT_OK;
    if (state == NT_LAZY_FAILED)
        return nt_fail_with(error, *lazy->failure);
    if (lazy->before)
        lazy->before(lazy->context);
    nt_lock_acquire(lazy->lock);
    state = nt_lazy_state(lazy->state);
    if (state == NT_LAZY_FAILED)
        status = nt_fail_with(error, *lazy->failure);
    else if (state != NT_LAZY_READY)
        status = make(lazy, state, is_new_ret, error);
    nt_lock_release(lazy->lock);
    return status;
}

/* ---- Cluster groups ---- */

static struct nt_groups all_groups(const struct nt_dataset *dataset)
{
    return (struct nt_groups){0, dataset->group_count};
}

struct nt_parts nt_field_parts(const struct nt_dataset *dataset, uint32_t field)
{
    for (uint32_t i = dataset->friend_count; i-- > 0;)
        if (field >= dataset->friend_parts[i].first_field)
            return dataset->friend_parts[i];
    return (struct nt_parts){.count = dataset->part_count, .borders = dataset->part_borders};
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
        if (!nt_group_is_loaded(&dataset->groups[i]))
            return false;
    return true;
}

/* ---- Clusters and ranges ---- */

uint32_t nt_groups_clusters(const struct nt_dataset *dataset, struct nt_groups groups, uint32_t *count_ret)
{
    *count_ret = 0;
    if (!dataset->field_groups) {
        *count_ret = dataset->cluster_count;
        return 0;
    }
    if (groups.first == groups.end)
        return 0;
    const struct nt_group *last = &dataset->groups[groups.end - 1];
    uint32_t first = dataset->groups[groups.first].first_cluster;
    *count_ret = last->first_cluster + last->clusters - first;
    return first;
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
    const struct nt_group *group = &dataset->groups[cluster]; /* a group has one cluster, same number */
    return (struct nt_cluster){.first_entry = group->first_entry,
                               .entries = group->entries,
                               .group = cluster,
                               .column_group = NT_NONE};
}

struct nt_group_more nt_group_more(const struct nt_dataset *dataset, const struct nt_group *group)
{
    if (dataset->group_more)
        return dataset->group_more[group - dataset->groups];
    return (struct nt_group_more){.metadata_bytes = dataset->part_metadata_bytes};
}

NT_DEFINE_LAST_AT_MOST(find_group, struct nt_group, .first_cluster)

struct nt_group *nt_cluster_group(const struct nt_dataset *dataset, uint32_t cluster)
{
    return &dataset->groups[find_group(dataset->groups, dataset->group_count, cluster)];
}

NT_DEFINE_LAST_AT_MOST(find_column, uint32_t, )

bool nt_cluster_holds(const struct nt_dataset *dataset, uint32_t cluster, uint32_t column)
{
    if (dataset->field_groups)
        return nt_group_range_index(dataset, nt_cluster_group(dataset, cluster), column) != NT_NONE;
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

static bool holds_page(struct nt_group *group, const struct nt_page *page)
{
    if (!nt_group_is_loaded(group) || !nt_group_try_pin(group))
        return false;
    bool holds_page = page >= group->pages && page < group->pages + group->page_count;
    nt_group_unpin(group);
    return holds_page;
}

const struct nt_group *nt_page_group(const struct nt_dataset *dataset, uint32_t column,
                                     const struct nt_page *page)
{
    const struct nt_groups groups = nt_groups_of_column(dataset, column);
    atomic_uint *found = &((struct nt_dataset *)dataset)->found_group; /* a hint: it changes no result */
    uint32_t last = atomic_load_explicit(found, memory_order_relaxed), count = groups.end - groups.first;
    last = last >= groups.first && last < groups.end ? last - groups.first : 0;
    for (uint32_t distance = 0; distance < count; distance++) {
        const uint32_t near[] = {last + distance, last - distance}; /* below 0: above all groups */
        for (unsigned i = 0; i < 2; i++) {
            if (near[i] >= count || !holds_page(&dataset->groups[groups.first + near[i]], page))
                continue;
            atomic_store_explicit(found, groups.first + near[i], memory_order_relaxed);
            return &dataset->groups[groups.first + near[i]];
        }
    }
    return NULL;
}

/* ---- Datasets ---- */

/* ---- Linking ---- */

/* A cycle never reaches a top-level field: walk up at most NT_MAX_DEPTH steps. */
static enum nt_status check_ancestors(const struct nt_dataset *dataset, struct nt_error *error)
{
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        uint32_t depth = 0;
        for (uint32_t at = dataset->fields[i].parent; at != NT_NONE; at = dataset->fields[at].parent) {
            if (at >= dataset->field_count)
                return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                               "field %" PRIu32 ": its parent is field %" PRIu32 ", but there are %" PRIu32
                               " fields",
                               dataset->fields[i].id, at, dataset->field_count);
            if (++depth > NT_MAX_DEPTH)
                return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                               "field %" PRIu32 ": nested deeper than %d, or its own ancestor",
                               dataset->fields[i].id, NT_MAX_DEPTH);
        }
    }
    return NT_OK;
}

/* Links children in display order: visits fields in that order and appends them to the slices of their
 * parents. */
static enum nt_status link_children(struct nt_dataset *dataset, const uint32_t *order, struct nt_error *error)
{
    uint32_t count = dataset->field_count;
    dataset->children = nt_arena_alloc(dataset->arena, count ? count : 1, sizeof(uint32_t));
    dataset->first_children = nt_arena_alloc(dataset->arena, count ? count : 1, sizeof(uint32_t));
    uint32_t *next = calloc(count ? count : 1, sizeof(uint32_t));
    if (!dataset->children || !dataset->first_children || !next) {
        free(next);
        return nt_fail_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (dataset->fields[i].parent == NT_NONE)
            dataset->top_count++;
        else
            dataset->fields[dataset->fields[i].parent].child_count++;
    }
    uint32_t used = dataset->top_count, top = 0;
    for (uint32_t i = 0; i < count; i++) {
        dataset->first_children[i] = used;
        used += dataset->fields[i].child_count;
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t parent = dataset->fields[order[k]].parent;
        if (parent == NT_NONE)
            dataset->children[top++] = order[k];
        else
            dataset->children[dataset->first_children[parent] + next[parent]++] = order[k];
    }
    free(next);
    return NT_OK;
}

struct column_key {
    uint32_t field, representation, id, index;
};

static int compare_column_keys(const void *left, const void *right)
{
    const struct column_key *a = left, *b = right;
    if (a->field != b->field)
        return a->field < b->field ? -1 : 1;
    if (a->representation != b->representation)
        return a->representation < b->representation ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Links the columns of one field, keys[first] to keys[end]: representations 0, 1, ... with equal
 * numbers of columns. */
static enum nt_status link_columns_of_field(struct nt_dataset *dataset, const struct column_key *keys,
                                            uint32_t first, uint32_t end, struct nt_error *error)
{
    struct nt_field *field = &dataset->fields[keys[first].field];
    uint32_t count = end - first, width = 0;
    while (width < count && keys[first + width].representation == 0)
        width++;
    if (width == 0 || count % width)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "field %" PRIu32 ": %" PRIu32 " columns do not form representations of %" PRIu32
                       " columns each",
                       field->id, count, width);
    for (uint32_t i = 0; i < count; i++) {
        const struct column_key *key = &keys[first + i];
        if (key->representation != i / width)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "field %" PRIu32 ": column %" PRIu32 " belongs to representation %" PRIu32
                           ", expected %" PRIu32,
                           field->id, key->id, key->representation, i / width);
        dataset->field_columns[first + i] = key->index;
        dataset->columns[key->index].position = i % width;
    }
    dataset->first_columns[keys[first].field] = first;
    field->column_count = count;
    field->columns_per_representation = width;
    field->owns_columns = true;
    return NT_OK;
}

/* Sorts columns by (field, representation, id). */
static enum nt_status link_columns(struct nt_dataset *dataset, struct nt_error *error)
{
    uint32_t count = dataset->column_count;
    dataset->field_columns = nt_arena_alloc(dataset->arena, count ? count : 1, sizeof(uint32_t));
    dataset->first_columns =
        nt_arena_alloc(dataset->arena, (size_t)dataset->field_count + 1, sizeof(uint32_t));
    struct column_key *keys = calloc(count ? count : 1, sizeof(*keys));
    enum nt_status status = NT_OK;
    if (!dataset->field_columns || !dataset->first_columns || !keys) {
        status = nt_fail_memory(error);
        goto out;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_column *column = &dataset->columns[i];
        if (column->field >= dataset->field_count) {
            status = nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                             "column %" PRIu32 " belongs to a field that does not exist", column->id);
            goto out;
        }
        keys[i] = (struct column_key){column->field, column->representation, column->id, i};
    }
    qsort(keys, count, sizeof(*keys), compare_column_keys);
    for (uint32_t first = 0, end; first < count && status == NT_OK; first = end) {
        for (end = first; end < count && keys[end].field == keys[first].field;)
            end++;
        status = link_columns_of_field(dataset, keys, first, end, error);
    }
out:
    free(keys);
    return status;
}

struct field_key {
    uint32_t id, index;
};

static int compare_field_keys(const void *left, const void *right)
{
    const struct field_key *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

enum nt_status nt_dataset_link(struct nt_dataset *dataset, struct nt_error *error)
{
    uint32_t count = dataset->field_count;
    struct field_key *keys = calloc(count ? count : 1, sizeof(*keys));
    uint32_t *order = calloc(count ? count : 1, sizeof(*order));
    enum nt_status status = NT_OK;
    if (!keys || !order) {
        status = nt_fail_memory(error);
        goto out;
    }
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (struct field_key){dataset->is_ordered ? i : dataset->fields[i].id, i};
    qsort(keys, count, sizeof(*keys), compare_field_keys);
    for (uint32_t i = 0; i < count; i++)
        order[i] = keys[i].index;
    status = check_ancestors(dataset, error);
    if (status == NT_OK)
        status = link_children(dataset, order, error);
    if (status == NT_OK)
        status = link_columns(dataset, error);
out:
    free(keys);
    free(order);
    return status;
}

void nt_field_project_columns(struct nt_dataset *dataset, uint32_t field, uint32_t owner)
{
    const struct nt_field *from = &dataset->fields[owner];
    struct nt_field *to = &dataset->fields[field];
    dataset->first_columns[field] = dataset->first_columns[owner];
    to->column_count = from->column_count;
    to->columns_per_representation = from->columns_per_representation;
    to->owns_columns = false;
}

/* ---- Lazy loading of cluster groups and physical datasets ---- */

enum { MAX_AHEAD = 64 };

static bool can_plan(const struct nt_dataset *dataset)
{
    return dataset->ops->plan_groups && nt_source_can_prefetch(dataset->sources[0]);
}

/* The end of the groups of the same field. */
static uint32_t end_of_field(const struct nt_dataset *dataset, uint32_t group)
{
    uint32_t field = dataset->groups[group].field;
    return dataset->field_groups ? dataset->field_groups[field] + nt_field_parts(dataset, field).count
                                 : dataset->group_count;
}

/* Requests what loading a group reads, and the groups after it if groups are loaded in order: then a slow
 * source is waited for once for many of them. */
static void request_ahead(struct nt_dataset *dataset, uint32_t number)
{
    struct nt_groups_ahead *ahead = &dataset->ahead;
    struct nt_prefetch prefetch = {.need = NT_PREFETCH_NOW};
    if (!can_plan(dataset))
        return;
    if (number != ahead->next || number >= ahead->end)
        *ahead = (struct nt_groups_ahead){number, number, end_of_field(dataset, number), 1};
    ahead->next = number + 1;
    if (ahead->asked > number + ahead->count / 2)
        return; /* request in large batches, so that some requests are always in flight */
    struct nt_groups groups = {ahead->asked > number ? ahead->asked : number, 0};
    groups.end = ahead->end - groups.first < ahead->count ? ahead->end : groups.first + ahead->count;
    if (groups.first < groups.end)
        dataset->ops->plan_groups(dataset, groups, false, &prefetch);
    nt_prefetch_submit(&prefetch);
    ahead->asked = groups.end;
    ahead->count = ahead->count < MAX_AHEAD / 4 ? 4 * ahead->count : MAX_AHEAD;
}

/* ---- Releasing page lists ---- */

/* The lists of a dataset are released by a clock: a hand goes round the groups, and releases those that are
 * not pinned and were not used since it passed them. All of this is under the lock of the logical dataset,
 * but pins need none: who pins a group that is being released sees that it is not loaded. */

static uint64_t count_ranges(const struct nt_dataset *dataset, const struct nt_group *group)
{
    return (uint64_t)group->clusters * nt_group_column_count(dataset, group);
}

static uint64_t bytes_of_list(const struct nt_dataset *dataset, const struct nt_group *group)
{
    return count_ranges(dataset, group) * nt_cost_info(NT_COST_RANGE)->bytes +
           group->page_count * nt_cost_info(NT_COST_PAGE)->bytes;
}

/* Looks at the group below the hand. */
static void move_hand(struct nt_dataset *dataset, bool spares_used)
{
    struct nt_group *group = &dataset->groups[dataset->hand];
    unsigned state = atomic_load_explicit(&group->state, memory_order_relaxed);
    dataset->hand = (dataset->hand + 1) % dataset->group_count;
    if (spares_used && state & NT_GROUP_USED) {
        atomic_fetch_and_explicit(&group->state, ~(unsigned)NT_GROUP_USED, memory_order_relaxed);
        return;
    }
    unsigned idle = NT_LAZY_READY | (state & NT_GROUP_USED);
    if (!atomic_compare_exchange_strong_explicit(&group->state, &idle, NT_LAZY_RELEASED, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return;
    dataset->list_bytes -= bytes_of_list(dataset, group);
    nt_group_release(dataset, group, count_ranges(dataset, group), group->page_count);
}

/* Makes room for one list more, in few steps. */
static void release_some(struct nt_dataset *dataset)
{
    enum { STEPS = 64 };
    for (unsigned i = 0;
         i < STEPS && dataset->list_bytes && nt_budget_is_tight(&dataset->file->budget, dataset->list_bytes);
         i++)
        move_hand(dataset, true);
}

/* Returns how many bytes. */
static uint64_t release_all(struct nt_dataset *dataset)
{
    uint64_t before = dataset ? dataset->list_bytes : 0;
    for (uint32_t i = 0; before && dataset->list_bytes && i < dataset->group_count; i++)
        move_hand(dataset, false);
    return before ? before - dataset->list_bytes : 0;
}

static uint64_t release_all_views(struct nt_dataset *logical)
{
    uint64_t bytes = release_all(logical);
    return nt_lazy_is_ready(&logical->physical_state)
               ? bytes + release_all(logical->physical) + release_all(logical->levels)
               : bytes;
}

/* ---- Loading one group ---- */

/* Small lists stay: releasing them is not worth the pins. */
static void count_list(struct nt_dataset *dataset, struct nt_group *group)
{
    enum { SMALL_PART = 64 };
    uint64_t limit = atomic_load_explicit(&dataset->file->budget.limit, memory_order_relaxed);
    if (dataset->ops->reloads_groups)
        dataset->list_bytes += bytes_of_list(dataset, group);
    if (dataset->list_bytes <= limit / SMALL_PART)
        nt_group_set_kept(group);
}

static enum nt_status load_group(void *owner, uint32_t number, struct nt_error *error)
{
    struct nt_dataset *dataset = owner;
    request_ahead(dataset, number);
    release_some(dataset);
    enum nt_status status = dataset->ops->load_group(dataset, number, error);
    if (status == NT_LIMIT && release_all_views(dataset->logical))
        status = dataset->ops->load_group(dataset, number, error);
    if (status == NT_OK)
        count_list(dataset, &dataset->groups[number]);
    return status;
}

static enum nt_status load(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    struct nt_group *group = &dataset->groups[number];
    const struct nt_file *file = dataset->file;
    const struct nt_lazy lazy = {.state = &group->state,
                                 .failure = &group->failure,
                                 .make = load_group,
                                 .owner = dataset,
                                 .number = number,
                                 .lock = &dataset->logical->lock,
                                 .before = file->before_blocking,
                                 .context = file->context};
    bool is_new_failure;
    enum nt_status status = nt_lazy_get(&lazy, &is_new_failure, error);
    if (is_new_failure && file->on_group_failure)
        file->on_group_failure(file->context, dataset, number, group->failure);
    return status;
}

enum nt_status nt_group_pin(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    enum nt_status status = dataset->file->resolve ? nt_file_refuse_stub(dataset->file, error) : NT_OK;
    while (status == NT_OK && !nt_group_try_pin(&dataset->groups[number]))
        status = load(dataset, number, error); /* it may be released again at once */
    return status;
}

enum nt_status nt_group_pin_readable(struct nt_dataset *dataset, uint32_t number, struct nt_group **group_ret,
                                     struct nt_error *error)
{
    enum nt_status status = nt_group_pin(dataset, number, error);
    *group_ret = status == NT_OK ? &dataset->groups[number] : NULL;
    return nt_is_environmental(status) ? status : NT_OK;
}

enum nt_status nt_group_keep(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    struct nt_group *group = &dataset->groups[number];
    enum nt_status status = nt_group_pin(dataset, number, error);
    if (status != NT_OK)
        return status;
    nt_group_set_kept(group);
    nt_group_unpin(group);
    return NT_OK;
}

enum nt_status nt_dataset_load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    if (dataset->file->resolve)
        return nt_file_refuse_stub(dataset->file, error);
    return nt_group_is_known(&dataset->groups[number]) ? NT_OK : load(dataset, number, error);
}

static enum nt_status add_physical(void *dataset, uint32_t unused, struct nt_error *error)
{
    (void)unused;
    return ((struct nt_dataset *)dataset)->ops->add_physical(dataset, error);
}

enum nt_status nt_dataset_physical(struct nt_dataset *dataset, struct nt_dataset **physical_ret,
                                   struct nt_error *error)
{
    const struct nt_lazy lazy = {.state = &dataset->physical_state,
                                 .failure = &dataset->physical_failure,
                                 .make = add_physical,
                                 .owner = dataset,
                                 .lock = &dataset->logical->lock,
                                 .before = dataset->file->before_blocking,
                                 .context = dataset->file->context};
    bool is_new_failure;
    enum nt_status status =
        nt_dataset_has_physical(dataset) ? nt_lazy_get(&lazy, &is_new_failure, error) : NT_OK;
    if (status == NT_OK)
        *physical_ret = dataset->physical;
    return status;
}

/* ---- Loading many groups ---- */

void nt_groups_announce(struct nt_dataset *dataset, struct nt_groups groups)
{
    nt_lock_acquire(&dataset->logical->lock);
    dataset->ahead = (struct nt_groups_ahead){groups.first, groups.first, groups.end, MAX_AHEAD};
    nt_lock_release(&dataset->logical->lock);
}

bool nt_groups_plan(struct nt_dataset *dataset, struct nt_groups groups, bool with_pages,
                    struct nt_prefetch *prefetch)
{
    const struct nt_file *file = dataset->file;
    if (!can_plan(dataset) || file->resolve)
        return false;
    if (file->before_blocking)
        file->before_blocking(file->context);
    nt_lock_acquire(&dataset->logical->lock);
    bool is_planned = dataset->ops->plan_groups(dataset, groups, with_pages, prefetch);
    nt_lock_release(&dataset->logical->lock);
    return is_planned;
}

enum nt_status nt_groups_load(struct nt_dataset *dataset, struct nt_groups groups, struct nt_error *error)
{
    nt_groups_announce(dataset, groups);
    for (uint32_t i = groups.first; i < groups.end; i++) {
        enum nt_status status = nt_dataset_load_group(dataset, i, error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

enum nt_status nt_groups_load_readable(struct nt_dataset *dataset, struct nt_groups groups,
                                       struct nt_error *error)
{
    if (dataset->file->resolve)
        return nt_file_refuse_stub(dataset->file, error);
    nt_groups_announce(dataset, groups);
    for (uint32_t i = groups.first; i < groups.end; i++) {
        enum nt_status status = nt_dataset_load_group(dataset, i, error);
        if (nt_is_environmental(status))
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
    for (uint32_t i = 0; i < dataset->group_count; i++)
        if (!nt_add(bytes, nt_group_more(dataset, &dataset->groups[i]).metadata_bytes, &bytes))
            return UINT64_MAX;
    return bytes;
}

/* ---- Blobs ---- */

void nt_blob_deinit(struct nt_blob *blob)
{
    nt_source_close(blob->source);
    free(blob->name);
    *blob = (struct nt_blob){0};
}
