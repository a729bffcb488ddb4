/* SPDX-License-Identifier: MIT
 *
 * Decides from metadata alone whether a generated file is cheap enough to be generated for stat(), so
 * that its size is exact; otherwise it is streamed.
 */
#include "vfs/vfs.h"

enum {
    MAX_METADATA_BYTES = 1 << 20, /* of page lists read for the decision */
    MAX_DECODED_BYTES = 1 << 20,
    MAX_ROWS = 2 << 20, /* at least two bytes each; fits TEXT_BYTES in generated.c */
    MAX_CLUSTERS = 10000,
    MAX_FIELDS = 10000,
    SMALL_COST = 32, /* of a column in a cluster */
    MAX_PAGES_LISTED = 1 << 16,
    MAX_STORED_BYTES = 4 << 20, /* of a page whose chunks are listed */
    MAX_PAGES = 256,            /* each requires access to the file */
    MAX_FILES = 4096,           /* of a chain */
    MAX_RANGES = 4096,          /* of the container, likewise */
};

/* Are bytes that no metadata needs far away? Then a stat() requests none of them. */
static bool is_far(const struct nt_resolved_node *resolved)
{
    const struct nt_file *file = resolved->file;
    struct nt_source *const *sources = &file->source;
    uint32_t count = 1;
    if (resolved->dataset) {
        sources = resolved->dataset->sources;
        count = resolved->dataset->source_count;
    } else if (file->layout_sources) {
        sources = file->layout_sources;
        count = file->layout_source_count;
    }
    for (uint32_t i = 0; i < count; i++)
        if (nt_source_can_prefetch(sources[i]))
            return true;
    return false;
}

bool nt_size_is_far(const struct nt_resolved_node *resolved, const struct nt_pseudo_file *pseudo)
{
    return pseudo && pseudo->needs_pages && !resolved->vfs->options.text_sized && is_far(resolved);
}

static bool are_page_lists_short(const struct nt_dataset *dataset)
{
    return nt_dataset_metadata_bytes(dataset) <= MAX_METADATA_BYTES;
}

/* Formats whose page lists are free to load may still have many pages. */
static enum nt_status are_pages_few(struct nt_dataset *dataset, bool *are_few_ret, struct nt_error *error)
{
    uint64_t pages = 0;
    *are_few_ret = false;
    if (!are_page_lists_short(dataset))
        return NT_OK;
    NT_TRY(nt_dataset_load_readable(dataset, error));
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
        NT_TRY(nt_group_pin_readable(dataset, i, &group, error));
        pages += group ? group->page_count : 0;
    }
    *are_few_ret = pages <= MAX_PAGES_LISTED;
    return NT_OK;
}

/* ---- Files about rows ---- */

/* Does the number of rows follow from the number of entries? */
static bool is_per_entry(const struct nt_dataset *dataset, uint32_t field)
{
    return field == NT_NONE || nt_field_row_parent(dataset, field) == NT_NONE;
}

static enum nt_status check_rows(const struct nt_resolved_node *resolved, uint64_t first, uint64_t count,
                                 bool *is_short_ret, struct nt_error *error)
{
    struct nt_dataset *dataset = resolved->dataset;
    const uint32_t field = resolved->field;
    uint64_t entries = nt_dataset_entries(dataset), rows = 0;
    if (is_per_entry(dataset, field))
        rows = entries < count ? entries : count;
    *is_short_ret = false;
    if (is_far(resolved) || rows > MAX_ROWS || (!dataset->field_groups && !are_page_lists_short(dataset)))
        return NT_OK; /* else the cost counts its page lists */
    return nt_rows_cost_is_low(dataset, field, first, count, MAX_DECODED_BYTES, is_short_ret, error);
}

enum nt_status nt_rows_are_short(const struct nt_resolved_node *resolved, bool *is_short_ret,
                                 struct nt_error *error)
{
    return check_rows(resolved, 0, nt_row_limit(resolved->pseudo), is_short_ret, error);
}

bool nt_head_has_all_rows(const struct nt_resolved_node *resolved)
{
    const struct nt_dataset *dataset = resolved->dataset;
    uint32_t field = resolved->field;
    uint64_t rows = 1;
    return is_per_entry(dataset, field) && (field == NT_NONE || nt_rows_per_item(dataset, field, &rows)) &&
           nt_checked_multiply(rows, nt_dataset_entries(dataset), &rows) && rows <= NT_HEAD_ROWS;
}

enum nt_status nt_entry_is_short(const struct nt_resolved_node *resolved, bool *is_short_ret,
                                 struct nt_error *error)
{
    return check_rows(resolved, resolved->node.number, 1, is_short_ret, error);
}

/* ---- Files about page lists ---- */

/* The maximum number of bytes to decode for a collection's item counts: the last page per cluster. */
static enum nt_status last_pages(struct nt_dataset *dataset, uint32_t column, uint64_t *bytes,
                                 struct nt_error *error)
{
    uint64_t packed, decoded;
    uint32_t count, first = nt_groups_clusters(dataset, nt_groups_of_column(dataset, column), &count);
    for (uint32_t i = first; i - first < count && *bytes <= MAX_DECODED_BYTES; i++) {
        NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
        NT_TRY(nt_group_pin_readable(dataset, nt_cluster_group(dataset, i), &group, error));
        const struct nt_range *range = group ? nt_group_range(dataset, group, i, column) : NULL;
        *bytes += SMALL_COST;
        if (range && range->pages) {
            const struct nt_page *page = &group->pages[(size_t)range->first_page + range->pages - 1];
            bool is_known = nt_page_sizes(dataset, page, &packed, &decoded, NULL) == NT_OK &&
                            decoded <= MAX_DECODED_BYTES;
            *bytes += is_known ? decoded : MAX_DECODED_BYTES;
        }
    }
    return NT_OK;
}

/* The schema shows the item counts of collections. */
enum nt_status nt_schema_is_short(const struct nt_resolved_node *resolved, bool *is_short_ret,
                                  struct nt_error *error)
{
    struct nt_dataset *dataset = resolved->dataset;
    uint64_t bytes = 0;
    bool are_far = is_far(resolved);
    *is_short_ret = false;
    if (dataset->field_count > MAX_FIELDS || !are_page_lists_short(dataset))
        return NT_OK;
    for (uint32_t i = 0; i < dataset->column_count && bytes <= MAX_DECODED_BYTES; i++) {
        const struct nt_field *field = &dataset->fields[dataset->columns[i].field];
        if (nt_field_is_row_aligned(field))
            continue;
        if (are_far)
            return NT_OK;
        NT_TRY(nt_groups_load_readable(dataset, nt_groups_of_column(dataset, i), error));
        NT_TRY(last_pages(dataset, i, &bytes, error));
    }
    *is_short_ret = bytes <= MAX_DECODED_BYTES;
    return NT_OK;
}

enum nt_status nt_clusters_are_short(const struct nt_resolved_node *resolved, bool *is_short_ret,
                                     struct nt_error *error)
{
    struct nt_dataset *physical;
    *is_short_ret = false;
    NT_TRY(nt_dataset_physical(resolved->dataset, &physical, error));
    return physical->cluster_count <= MAX_CLUSTERS ? are_pages_few(physical, is_short_ret, error) : NT_OK;
}

enum nt_status nt_files_are_short(const struct nt_resolved_node *resolved, bool *is_short_ret,
                                  struct nt_error *error)
{
    *is_short_ret = nt_chain_file_count(resolved->file) <= MAX_FILES;
    return NT_OK;
}

enum nt_status nt_pages_are_short(const struct nt_resolved_node *resolved, bool *is_short_ret,
                                  struct nt_error *error)
{
    uint64_t elements, pages;
    *is_short_ret = false;
    if (is_far(resolved) || !are_page_lists_short(resolved->dataset))
        return NT_OK;
    enum nt_status status =
        nt_column_size(resolved->vfs->reader, resolved->dataset, resolved->column, &elements, &pages, error);
    *is_short_ret = status != NT_OK || pages <= MAX_PAGES; /* failure is quick */
    return nt_is_environmental(status) ? status : NT_OK;
}

/* A line of some KiB for each part of the page. */
enum nt_status nt_chunks_are_short(const struct nt_resolved_node *resolved, bool *is_short_ret,
                                   struct nt_error *error)
{
    struct nt_page_file files[NT_PAGE_FILES];
    NT_CLEANUP(nt_page_unpin_at) struct nt_page_position place = {0};
    uint64_t bytes = 0;
    *is_short_ret = false;
    enum nt_status status = nt_column_page_pin(resolved->vfs->reader, resolved->dataset, resolved->column,
                                               resolved->node.number, &place, error);
    if (status != NT_OK)
        return nt_is_environmental(status) ? status : NT_OK;
    if (nt_source_can_prefetch(resolved->dataset->sources[place.page->source]))
        return NT_OK;
    uint32_t count =
        resolved->dataset->ops->page_files(resolved->dataset, resolved->column, place.page, files);
    for (uint32_t i = 0; i < count && bytes <= MAX_STORED_BYTES; i++)
        bytes += files[i].kind == NT_PAGE_FILE_RANGE ? files[i].bytes : 0;
    *is_short_ret = bytes <= MAX_STORED_BYTES;
    return NT_OK;
}

/* ---- Files about the container ---- */

static enum nt_status count_range(void *context, const struct nt_layout_range *range)
{
    uint32_t *count = context;
    return ++*count > MAX_RANGES ? NT_LIMIT : NT_OK;
}

enum nt_status nt_layout_is_short(const struct nt_resolved_node *resolved, bool *is_short_ret,
                                  struct nt_error *error)
{
    const struct nt_file *file = resolved->file;
    uint32_t count = 0;
    *is_short_ret = file->dataset_count <= MAX_RANGES && !is_far(resolved);
    for (uint32_t i = 0; i < file->dataset_count && *is_short_ret; i++) {
        struct nt_dataset *physical;
        if (file->datasets[i]->failure)
            continue;
        NT_TRY(nt_dataset_physical(file->datasets[i], &physical, error));
        NT_TRY(are_pages_few(physical, is_short_ret, error));
    }
    if (!*is_short_ret || !file->layout)
        return NT_OK;
    enum nt_status status = file->layout(file, count_range, &count, error);
    *is_short_ret = count <= MAX_RANGES;
    return nt_is_environmental(status) ? status : NT_OK;
}

enum nt_status nt_document_is_short(const struct nt_resolved_node *resolved, bool *is_short_ret,
                                    struct nt_error *error)
{
    const struct nt_document_request request = nt_document_request(resolved);
    *is_short_ret = false;
    if (!resolved->document->is_short || (resolved->document->reads_source && is_far(resolved)))
        return NT_OK;
    return resolved->document->is_short(&request, is_short_ret, error);
}
