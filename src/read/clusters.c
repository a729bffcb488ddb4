/* SPDX-License-Identifier: MIT
 *
 * Orders the clusters of a dataset by entry and finds, for each field, the spans of entries and the
 * columns that store them. Handles sharded clusters, holes and unreadable page lists. Keeps an index
 * per dataset (RNTuple specification, "Cluster Summary Record Frame", "Suppressed Columns", "Deferred
 * Columns").
 */
#include "read/read.h"

/* ---- Index of a dataset ---- */

struct nt_dataset_indexes {
    pthread_mutex_t lock;
    struct nt_hash_table table;
};

static void index_free(struct nt_dataset_index *index)
{
    for (uint32_t i = 0; index->columns && i < index->column_count; i++)
        free(atomic_load(&index->columns[i]));
    for (uint64_t i = 0; index->filtered_rows && i < 2 * (uint64_t)index->dataset->field_count; i++)
        free(atomic_load(&index->filtered_rows[i]));
    for (uint64_t i = 0; index->part_counts && i < 2 * (uint64_t)index->dataset->field_count; i++)
        free(atomic_load(&index->part_counts[i]));
    free(index->columns);
    free(index->filtered_rows);
    free(index->part_counts);
    free(atomic_load(&index->order));
    nt_field_sequence_free(atomic_load(&index->sequence));
    pthread_mutex_destroy(&index->lock);
    free(index);
}

bool nt_dataset_reloads_parts(const struct nt_dataset *dataset)
{
    return dataset->field_groups && dataset->part_count > 1 && !dataset->is_concatenated &&
           dataset->ops->reloads_groups;
}

static struct nt_dataset_index *index_new(const struct nt_dataset *dataset)
{
    struct nt_dataset_index *index = calloc(1, sizeof(*index));
    size_t doubled = 2 * ((size_t)dataset->field_count + 1);
    if (!index)
        return NULL;
    index->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    index->dataset = dataset;
    index->column_count = dataset->column_count;
    index->columns = calloc((size_t)index->column_count + 1, sizeof(*index->columns));
    if (dataset->selection)
        index->filtered_rows = calloc(doubled, sizeof(*index->filtered_rows));
    if (nt_dataset_reloads_parts(dataset))
        index->part_counts = calloc(doubled, sizeof(*index->part_counts));
    if (index->columns && (index->filtered_rows || !dataset->selection) &&
        (index->part_counts || !nt_dataset_reloads_parts(dataset)))
        return index;
    index_free(index);
    return NULL;
}

static struct nt_dataset_index *find_index(const struct nt_dataset_indexes *indexes,
                                           const struct nt_dataset *dataset)
{
    struct nt_hash_link *link = nt_hash_table_find(&indexes->table, (uintptr_t)dataset);
    return link ? NT_CONTAINER_OF(link, struct nt_dataset_index, link) : NULL;
}

struct nt_dataset_index *nt_dataset_index_get(struct nt_dataset_indexes *indexes,
                                              const struct nt_dataset *dataset)
{
    NT_MUTEX_GUARD(&indexes->lock);
    struct nt_dataset_index *index = find_index(indexes, dataset);
    if (!index && (index = index_new(dataset)))
        nt_hash_table_insert(&indexes->table, &index->link, (uintptr_t)dataset);
    return index;
}

void nt_dataset_indexes_forget(struct nt_dataset_indexes *indexes, const struct nt_dataset *dataset)
{
    pthread_mutex_lock(&indexes->lock);
    struct nt_dataset_index *index = find_index(indexes, dataset);
    if (index)
        nt_hash_table_remove(&indexes->table, &index->link);
    pthread_mutex_unlock(&indexes->lock);
    if (index)
        index_free(index);
}

struct nt_dataset_indexes *nt_dataset_indexes_new(void)
{
    struct nt_dataset_indexes *indexes = calloc(1, sizeof(*indexes));
    if (!indexes || !nt_hash_table_init(&indexes->table)) {
        free(indexes);
        return NULL;
    }
    pthread_mutex_init(&indexes->lock, NULL);
    return indexes;
}

void nt_dataset_indexes_free(struct nt_dataset_indexes *indexes)
{
    if (!indexes)
        return;
    for (struct nt_hash_link *link = nt_hash_table_after(&indexes->table, NULL), *next; link; link = next) {
        next = nt_hash_table_after(&indexes->table, link);
        index_free(NT_CONTAINER_OF(link, struct nt_dataset_index, link));
    }
    nt_hash_table_deinit(&indexes->table);
    pthread_mutex_destroy(&indexes->lock);
    free(indexes);
}

/* ---- Counts of parts ---- */

static struct nt_part_counts *new_part_counts(struct nt_dataset_index *index, uint32_t parts)
{
    enum { MAX_BYTES = 16 << 20 };
    struct nt_part_counts *counts;
    size_t bytes = sizeof(*counts) + parts * sizeof(*counts->rows);
    size_t before = atomic_fetch_add(&index->part_count_bytes, bytes);
    counts = before <= MAX_BYTES && bytes <= MAX_BYTES - before ? malloc(bytes) : NULL;
    if (!counts) {
        atomic_fetch_sub(&index->part_count_bytes, bytes);
        return NULL;
    }
    counts->parts = parts;
    for (uint32_t i = 0; i < parts; i++)
        atomic_init(&counts->rows[i], NT_UNCOUNTED);
    return counts;
}

struct nt_part_counts *nt_part_counts_get(struct nt_dataset_indexes *indexes,
                                          const struct nt_dataset *dataset, uint32_t field,
                                          enum nt_counted of)
{
    struct nt_dataset_index *index = nt_dataset_reloads_parts(dataset) && of <= NT_COUNTED_SECOND_COLUMN
                                         ? nt_dataset_index_get(indexes, dataset)
                                         : NULL;
    if (!index)
        return NULL;
    _Atomic(struct nt_part_counts *) *place =
        &index->part_counts[(of == NT_COUNTED_SECOND_COLUMN ? (size_t)dataset->field_count : 0) + field];
    struct nt_part_counts *counts = atomic_load_explicit(place, memory_order_acquire), *mine;
    if (counts || !(mine = new_part_counts(index, nt_field_parts(dataset, field).count)))
        return counts;
    if (atomic_compare_exchange_strong(place, &counts, mine))
        return mine;
    atomic_fetch_sub(&index->part_count_bytes, sizeof(*mine) + mine->parts * sizeof(*mine->rows));
    free(mine);
    return counts;
}

/* ---- Spans of entries ---- */

NT_DEFINE_LAST_AT_MOST(find_page, struct nt_page, .first_element)
NT_DEFINE_LAST_AT_MOST(find_part, uint64_t, )

const struct nt_page *nt_find_page(const struct nt_page *pages, uint32_t count, uint64_t element)
{
    return &pages[find_page(pages, count, element)];
}

/* For qsort_r: clusters without entries come before the one that begins at the same entry. */
static int compare_clusters(const void *left, const void *right, void *clusters)
{
    uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;
    const struct nt_cluster *a = (const struct nt_cluster *)clusters + one;
    const struct nt_cluster *b = (const struct nt_cluster *)clusters + other;
    if (a->first_entry != b->first_entry)
        return a->first_entry < b->first_entry ? -1 : 1;
    if (a->entries != b->entries)
        return a->entries < b->entries ? -1 : 1;
    return one < other ? -1 : one > other;
}

/* The number of known clusters of a group. */
static uint32_t known_clusters(const struct nt_dataset *dataset, uint32_t group)
{
    bool is_known = dataset->clusters_known || !nt_group_failure(dataset, group);
    return is_known ? dataset->groups.records[group].clusters : 0;
}

/* The clusters with known entries, then NT_NONE. Omits those of a bad page list: only the footer claims
 * their number. */
static enum nt_status build_order(const struct nt_dataset *dataset, uint32_t **order_ret,
                                  struct nt_error *error)
{
    uint32_t count = 0, found = 0;
    for (uint32_t i = 0; i < dataset->group_count; i++)
        count += known_clusters(dataset, i);
    uint32_t *order = calloc((size_t)count + 1, sizeof(*order));
    NT_TRY(nt_check_memory(order, error));
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        uint32_t first = dataset->groups.records[i].first_cluster;
        for (uint32_t k = first; k < first + known_clusters(dataset, i) && found < count; k++)
            order[found++] = k;
    }
    qsort_r(order, found, sizeof(*order), compare_clusters, dataset->clusters);
    order[found] = NT_NONE;
    *order_ret = order;
    return NT_OK;
}

static enum nt_status get_order(struct nt_reader *reader, struct nt_dataset *dataset, bool needs_lists,
                                const uint32_t **order_ret, struct nt_error *error)
{
    struct nt_dataset_index *index = nt_dataset_index_get(reader->indexes, dataset);
    NT_TRY(nt_check_memory(index, error));
    uint32_t *order = atomic_load_explicit(&index->order, memory_order_acquire);
    if (needs_lists)
        NT_TRY(nt_dataset_load_readable(dataset, error));
    if (!order) {
        NT_MUTEX_GUARD(&index->lock);
        order = atomic_load_explicit(&index->order, memory_order_acquire);
        if (!order) {
            NT_TRY(build_order(dataset, &order, error));
            atomic_store_explicit(&index->order, order, memory_order_release);
        }
    }
    *order_ret = order;
    return NT_OK;
}

/* ---- Spans ---- */

static bool holds_field(const struct nt_dataset *dataset, uint32_t cluster, uint32_t field)
{
    uint32_t column_count;
    const uint32_t *columns = nt_field_columns(dataset, field, &column_count);
    if (nt_dataset_cluster(dataset, cluster).column_group == NT_NONE) /* even a field without columns */
        return true;
    for (uint32_t i = 0; i < column_count; i++)
        if (nt_cluster_holds(dataset, cluster, columns[i]))
            return true;
    return false;
}

const struct nt_error *nt_span_failure(const struct nt_dataset *dataset, uint32_t cluster,
                                       uint64_t first_entry, uint64_t entries)
{
    if (cluster != NT_NONE)
        return nt_group_failure(dataset, nt_cluster_group(dataset, cluster));
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        const struct nt_error *failure = nt_group_failure(dataset, i);
        if (!failure)
            continue;
        const struct nt_group_record group = nt_group_record(dataset, i);
        if (group.first_entry < first_entry + entries && first_entry < group.first_entry + group.entries)
            return failure;
    }
    return NULL;
}

static struct nt_span hole(const struct nt_dataset *dataset, uint64_t first_entry, uint64_t entries)
{
    bool is_bad_list = nt_span_failure(dataset, NT_NONE, first_entry, entries) != NULL;
    return (struct nt_span){first_entry, entries, NT_NONE,
                            is_bad_list ? NT_FAULT_GROUP : NT_FAULT_NOT_COVERED};
}

static enum nt_status fill_spans(const struct nt_dataset *dataset, const uint32_t *order, uint32_t field,
                                 struct nt_span *spans, uint32_t *count, struct nt_error *error)
{
    uint64_t covered = 0;
    for (uint32_t i = 0; order[i] != NT_NONE; i++) {
        const struct nt_cluster *cluster = &dataset->clusters[order[i]];
        if (!holds_field(dataset, order[i], field))
            continue;
        if (cluster->first_entry > covered)
            spans[(*count)++] = hole(dataset, covered, cluster->first_entry - covered);
        if ((cluster->first_entry < covered && cluster->entries) ||
            !nt_range_fits(cluster->first_entry, cluster->entries, dataset->entries))
            return nt_fail(
                error, NT_CORRUPT, NT_NO_OFFSET,
                "cluster %u holds entries of another cluster, or entries after the last of the dataset",
                order[i]);
        bool is_bad_list = nt_group_failure(dataset, nt_cluster_group(dataset, order[i])) != NULL;
        spans[(*count)++] = (struct nt_span){cluster->first_entry, cluster->entries, order[i],
                                             is_bad_list ? NT_FAULT_GROUP : NT_FAULT_NONE};
        if (cluster->entries)
            covered = cluster->first_entry + cluster->entries;
    }
    if (covered < dataset->entries)
        spans[(*count)++] = hole(dataset, covered, dataset->entries - covered);
    return NT_OK;
}

struct nt_span nt_part_span(const struct nt_dataset *dataset, const struct nt_parts *parts,
                            struct nt_groups groups, uint32_t part)
{
    uint64_t first = parts->boundaries[part], entries = parts->boundaries[part + 1] - first;
    uint32_t group = groups.first + part;
    if (groups.first == groups.end)
        return (struct nt_span){first, entries, NT_NONE, NT_FAULT_NOT_COVERED};
    bool is_bad_list = nt_group_failure(dataset, group) != NULL;
    return (struct nt_span){first, entries, group, is_bad_list ? NT_FAULT_GROUP : NT_FAULT_NONE};
}

/* Clusters of a field's own groups are consecutive. */
static enum nt_status spans_of_group(struct nt_dataset *dataset, uint32_t field, struct nt_span **spans_ret,
                                     uint32_t *count_ret, struct nt_error *error)
{
    const struct nt_groups groups = nt_groups_of_field(dataset, field);
    const struct nt_parts parts = nt_field_parts(dataset, field);
    struct nt_span *spans = calloc((size_t)parts.count + 1, sizeof(*spans));
    NT_TRY(nt_check_memory(spans, error));
    for (uint32_t i = 0; i < parts.count; i++)
        spans[i] = nt_part_span(dataset, &parts, groups, i);
    *spans_ret = spans;
    *count_ret = parts.count;
    return NT_OK;
}

enum nt_status nt_spans_build(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                              bool needs_lists, struct nt_span **spans_ret, uint32_t *count_ret,
                              struct nt_error *error)
{
    const uint32_t *order = NULL;
    needs_lists |= !dataset->clusters_known || dataset->has_sharded_clusters;
    if (dataset->field_groups)
        return spans_of_group(dataset, field, spans_ret, count_ret, error);
    NT_TRY(get_order(reader, dataset, needs_lists, &order, error));
    size_t clusters = 0;
    while (order[clusters] != NT_NONE)
        clusters++;
    struct nt_span *spans = calloc(2 * clusters + 1, sizeof(*spans)); /* holes before and after */
    NT_TRY(nt_check_memory(spans, error));
    *count_ret = 0;
    enum nt_status status = fill_spans(dataset, order, field, spans, count_ret, error);
    if (status == NT_OK)
        *spans_ret = spans;
    else
        free(spans);
    return status;
}

enum nt_status nt_span_pin(struct nt_dataset *dataset, struct nt_span *span, struct nt_group **group_ret,
                           struct nt_error *error)
{
    *group_ret = NULL;
    if (span->fault != NT_FAULT_NONE)
        return NT_OK;
    uint32_t group = nt_cluster_group(dataset, span->cluster);
    NT_TRY(nt_group_pin_readable(dataset, group, group_ret, error));
    if (!*group_ret)
        span->fault = NT_FAULT_GROUP;
    return NT_OK;
}

uint32_t nt_span_part(const struct nt_dataset *dataset, uint32_t field, const struct nt_span *span)
{
    const struct nt_parts parts = nt_field_parts(dataset, field);
    uint32_t part;
    if (span->cluster == NT_NONE)
        return find_part(parts.boundaries, parts.count, span->first_entry);
    nt_group_field(dataset, span->cluster, &part);
    return part;
}

/* Like nt_column_deferral; false if the column is not deferred. */
static bool find_deferral(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t column,
                          uint64_t *first_ret)
{
    const struct nt_column *info = &dataset->columns[column];
    const uint64_t *deferred = nt_group_record(dataset, group->number).deferred;
    *first_ret = deferred ? deferred[column] : nt_column_deferral(info);
    return *first_ret != NT_NOT_DEFERRED;
}

void nt_active_column_find(const struct nt_dataset *dataset, uint32_t field, uint32_t position,
                           uint32_t cluster, struct nt_active_column *active)
{
    const struct nt_group *group = nt_group_slot(dataset, nt_cluster_group(dataset, cluster));
    uint32_t representations = nt_field_representations(dataset, field);
    *active = (struct nt_active_column){.column = NT_NONE};
    for (uint32_t i = 0; i < representations; i++) {
        uint32_t number = nt_field_column(dataset, field, i, position);
        if (number == NT_NONE)
            continue;
        uint64_t deferred_first;
        bool is_deferred = find_deferral(dataset, group, number, &deferred_first);
        const struct nt_range *range = nt_group_range(dataset, group, cluster, number);
        if (range->state == NT_RANGE_PRESENT) {
            active->present++;
            active->column = number;
            active->first_element = range->first_element;
            active->elements = nt_range_elements(group, range);
            active->pages = group->pages + range->first_page;
            active->page_count = range->pages;
            active->is_deferred = is_deferred;
            active->deferred_first = deferred_first;
        } else if (range->state == NT_RANGE_NULL || range->state == NT_RANGE_VALID) {
            active->is_deferred = true;
            active->is_valid = range->state == NT_RANGE_VALID;
            active->deferred_first = UINT64_MAX;
        } else if (!active->present && is_deferred && !active->is_deferred) {
            active->is_deferred = true;
            active->deferred_first = deferred_first;
        }
    }
}

bool nt_rows_per_item(const struct nt_dataset *dataset, uint32_t field, uint64_t *product_ret)
{
    uint32_t top = nt_field_row_parent(dataset, field);
    *product_ret = 1;
    for (uint32_t at = dataset->fields[field].parent; at != top; at = dataset->fields[at].parent)
        if (!nt_checked_multiply(*product_ret, nt_field_rows_below(&dataset->fields[at]), product_ret))
            return false;
    return true;
}
