/* SPDX-License-Identifier: MIT
 *
 * Estimates an upper bound of the bytes to decode for a range of rows, from page lists alone.
 */
#include "render/render.h"

enum {
    PAGE_COST = 1024, /* of finding and reading a page of any size */
    RANGE_COST = 32,  /* of a column in a cluster, even without pages */
    ALL = 0,
};

struct cost {
    struct nt_dataset *dataset;
    uint64_t left; /* remaining budget */
    bool is_over;
    /* The current cluster and the requested rows in it; count ALL: all of its rows. */
    uint32_t cluster; /* if fields have their own groups: a part of the entries */
    uint64_t first, count;
    uint64_t rows; /* its number of rows, from the first column in step with them; 0: unknown */
    enum nt_status status;
    struct nt_error *error;
};

static uint64_t multiplied(uint64_t a, uint64_t b)
{
    uint64_t product;
    return nt_checked_multiply(a, b, &product) ? product : UINT64_MAX;
}

static uint64_t added(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return nt_checked_add(a, b, &sum) ? sum : UINT64_MAX;
}

static void spend(struct cost *cost, uint64_t bytes)
{
    cost->is_over |= bytes > cost->left;
    cost->left -= cost->is_over ? 0 : bytes;
}

/* Spends the pages of a range that overlap elements [first, end). */
static void spend_range(struct cost *cost, const struct nt_group *group, const struct nt_range *range,
                        uint64_t first, uint64_t end)
{
    uint64_t element = 0;
    spend(cost, RANGE_COST);
    for (uint32_t i = 0; i < range->pages && element < end && !cost->is_over; i++) {
        const struct nt_page *page = &group->pages[(size_t)range->first_page + i];
        uint64_t packed, decoded;
        element += page->elements;
        if (element <= first)
            continue;
        bool is_known = nt_page_sizes(cost->dataset, page, &packed, &decoded, NULL) == NT_OK;
        spend(cost, is_known ? PAGE_COST : UINT64_MAX);
        if (!cost->is_over)
            spend(cost, decoded);
    }
}

/* Pins the group of a column and returns it with the current cluster; NULL: a bad page list. */
static struct nt_group *pin_group(struct cost *cost, uint32_t column, uint32_t *cluster_ret)
{
    struct nt_dataset *dataset = cost->dataset;
    struct nt_group *pinned = NULL;
    *cluster_ret = cost->cluster;
    if (dataset->field_groups)
        *cluster_ret = nt_part_cluster(dataset, dataset->columns[column].field, cost->cluster);
    uint32_t group = nt_cluster_group(dataset, *cluster_ret);
    if (dataset->field_groups)
        spend(cost, nt_group_record(dataset, group).metadata_bytes);
    if (!cost->is_over && cost->status == NT_OK)
        cost->status = nt_group_pin_readable(dataset, group, &pinned, cost->error);
    return pinned;
}

/* Returns the elements of a column for `rows` rows of its field; 0: not in step with rows. */
static uint64_t elements_of(const struct nt_field *field, uint32_t position, uint64_t rows)
{
    enum nt_stream_kind kind;
    uint64_t elements;
    bool is_shown = nt_field_column_stream(field, position, &kind);
    const struct nt_stream_row *row = is_shown ? nt_field_stream(field, kind) : NULL;
    if (position > 0 && (!row || row->of != NT_COUNTED_ROWS))
        return 0;
    uint64_t per_row = row ? nt_stream_row_elements(field, row) : nt_field_row_elements(field);
    return nt_checked_multiply(rows, per_row, &elements) ? elements : 0;
}

/* Spends the columns of one field. One row of the root has `rows` rows of the field; 0: not in step. */
static void spend_columns(struct cost *cost, uint32_t field, uint64_t rows)
{
    const struct nt_dataset *dataset = cost->dataset;
    const struct nt_field *f = &dataset->fields[field];
    for (uint32_t i = 0; i < f->column_count && !cost->is_over; i++) {
        uint32_t column = dataset->field_columns[dataset->first_columns[field] + i];
        uint64_t elements = elements_of(f, dataset->columns[column].position, rows);
        uint32_t cluster;
        struct nt_group *group = pin_group(cost, column, &cluster);
        uint64_t first = 0, end = UINT64_MAX;
        if (!group)
            continue;
        const struct nt_range *range = nt_group_range(dataset, group, cluster, column);
        if (elements && cost->count != ALL) {
            first = multiplied(cost->first, elements);
            end = multiplied(cost->first + cost->count, elements);
        }
        /* end offsets: the first row also needs the previous one */
        spend_range(cost, group, range, first ? first - 1 : 0, end);
        if (elements && !cost->rows)
            cost->rows = nt_range_elements(group, range) / elements;
        nt_group_unpin(group);
    }
}

/* Spends a field and its descendants in one cluster. Recursive: fields nest no deeper than NT_MAX_DEPTH. */
static void spend_field(struct cost *cost, uint32_t field, uint64_t rows)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(cost->dataset, field, &count);
    if (field != NT_NONE) {
        const struct nt_field *f = &cost->dataset->fields[field];
        spend_columns(cost, field, rows);
        if (!nt_field_is_row_aligned(f) || !nt_checked_multiply(rows, nt_field_rows_below(f), &rows))
            rows = 0;
    }
    for (uint32_t i = 0; i < count && !cost->is_over; i++)
        spend_field(cost, children[i], rows);
}

/* Returns the rows of the root per entry; 0: not constant. */
static uint64_t rows_per_entry(const struct nt_dataset *dataset, uint32_t field)
{
    uint64_t rows = 1;
    for (uint32_t at = field; at != NT_NONE && rows; at = dataset->fields[at].parent) {
        uint32_t parent = dataset->fields[at].parent;
        if (parent != NT_NONE &&
            (!nt_field_is_row_aligned(&dataset->fields[parent]) ||
             !nt_checked_multiply(rows, nt_field_rows_below(&dataset->fields[parent]), &rows)))
            rows = 0;
    }
    return rows;
}

/* Finds the entries of a cluster, or of a part if fields have their own groups; false: bad list. */
static bool find_entries(const struct nt_dataset *dataset, uint32_t field, uint32_t number,
                         struct nt_cluster *cluster)
{
    const uint64_t *boundaries = nt_field_parts(dataset, field).boundaries;
    if (!dataset->field_groups) {
        *cluster = nt_dataset_cluster(dataset, number);
        return nt_group_is_known(dataset, nt_cluster_group(dataset, number));
    }
    *cluster = (struct nt_cluster){.first_entry = boundaries[number],
                                   .entries = boundaries[number + 1] - boundaries[number]};
    return true;
}

/* Spends the clusters that overlap rows [first, end). */
static void spend_rows(struct cost *cost, uint32_t field, uint64_t first, uint64_t end)
{
    const struct nt_dataset *dataset = cost->dataset;
    uint64_t per_entry = rows_per_entry(dataset, field), found = 0;
    uint32_t count = dataset->field_groups ? nt_field_parts(dataset, field).count : dataset->cluster_count;
    for (uint32_t i = 0; i < count && !cost->is_over && cost->status == NT_OK; i++) {
        struct nt_cluster cluster;
        if (!find_entries(dataset, field, i, &cluster))
            continue;
        uint64_t begins = per_entry ? multiplied(cluster.first_entry, per_entry) : found;
        uint64_t ends = added(begins, multiplied(cluster.entries, per_entry));
        cost->cluster = i;
        spend(cost, RANGE_COST);
        if (begins < end && (!per_entry || ends > first)) {
            cost->rows = 0;
            cost->first = first > begins ? first - begins : 0;
            cost->count = end == UINT64_MAX ? ALL : end - begins - cost->first;
            spend_field(cost, field, 1);
        }
        found = added(found, per_entry ? 0 : cost->rows);
    }
}

/* Maps selected rows to a range of stored rows: all rows below lists, where positions are unknown. */
static void find_stored(const struct nt_dataset *dataset, uint32_t field, uint64_t *first, uint64_t *end)
{
    uint64_t per_entry = rows_per_entry(dataset, field), rows, from = *first;
    if (!nt_dataset_has_selection(dataset))
        return;
    rows = multiplied(nt_dataset_entries(dataset), per_entry);
    *first = 0;
    if (!per_entry)
        *end = UINT64_MAX;
    else if (from >= rows || from >= *end)
        *end = 0;
    else {
        uint64_t last = (*end < rows ? *end : rows) - 1;
        *first = multiplied(nt_dataset_selected_entry(dataset, from / per_entry), per_entry);
        *end = multiplied(nt_dataset_selected_entry(dataset, last / per_entry) + 1, per_entry);
    }
}

enum nt_status nt_rows_cost_is_low(struct nt_dataset *dataset, uint32_t field, uint64_t first, uint64_t count,
                                   uint64_t max_bytes, bool *are_cheap_ret, struct nt_error *error)
{
    struct cost cost = {.dataset = dataset, .left = max_bytes, .cluster = NT_NONE, .error = error};
    if (!dataset->field_groups)
        cost.status = nt_dataset_load_readable(dataset, error);
    uint64_t end = added(first, count);
    find_stored(dataset, field, &first, &end);
    uint32_t tops = 1; /* the fields of friends have parts of their own */
    const uint32_t *top =
        field == NT_NONE && dataset->friend_count ? nt_dataset_children(dataset, NT_NONE, &tops) : &field;
    for (uint32_t i = 0; i < tops && cost.status == NT_OK; i++)
        spend_rows(&cost, top[i], first, end);
    *are_cheap_ret = cost.status == NT_OK && !cost.is_over;
    return cost.status;
}
