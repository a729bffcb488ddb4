/* SPDX-License-Identifier: MIT
 *
 * Claims come in: those of the format (headers, keys, envelopes, ...) and those of the pages with their
 * checksums. Sorted by place they become items: a gap where nobody claims, one item per stretch, the other
 * owners of the same bytes behind it.
 */
#include "view/layout.h"

#include <stdlib.h>

#include "base/grow.h"

struct claims {
    struct nt_layout_item *items;
    size_t count, capacity;
};

static enum nt_status add_claim(struct claims *claims, const struct nt_layout_item *item)
{
    struct nt_layout_item *items = nt_grow(claims->items, claims->count, &claims->capacity, sizeof(*items));
    if (!items)
        return NT_NO_MEMORY;
    claims->items = items;
    claims->items[claims->count] = *item;
    claims->items[claims->count].claimed_offset = item->offset;
    claims->items[claims->count++].claimed_bytes = item->bytes;
    return NT_OK;
}

static enum nt_status add_format_claim(void *context, const struct nt_layout_range *range)
{
    struct nt_layout_item item = {
        .offset = range->offset,
        .bytes = range->bytes,
        .source = range->source,
        .dataset = range->dataset,
        .column = range->column,
        .cluster = range->cluster == UINT64_MAX ? NT_NONE : (uint32_t)range->cluster,
        .page = range->page == UINT64_MAX ? NT_NONE : (uint32_t)range->page,
        .owner = range->owner,
        .detail = range->detail,
    };
    return range->bytes ? add_claim(context, &item) : NT_OK;
}

/* ---- pages ---- */

/* A page's stored bytes, then its checksum; both may be spread over several extents. */
static enum nt_status add_page_extents(struct claims *claims, struct nt_layout_item *item, const char *owner,
                                       const struct nt_extent *extents, size_t count, uint64_t stored_bytes)
{
    double ratio = item->ratio;
    enum nt_status status = NT_OK;
    for (size_t i = 0; i < count && status == NT_OK; i++) {
        uint64_t bytes = extents[i].bytes < stored_bytes ? extents[i].bytes : stored_bytes;
        item->owner = owner;
        item->ratio = ratio;
        item->offset = extents[i].offset;
        item->bytes = bytes;
        if (bytes)
            status = add_claim(claims, item);
        item->owner = "checksum";
        item->ratio = 0;
        item->offset += bytes;
        item->bytes = extents[i].bytes - bytes;
        if (item->bytes && status == NT_OK)
            status = add_claim(claims, item);
        stored_bytes -= bytes;
    }
    return status;
}

static double page_ratio(const struct nt_dataset *dataset, const struct nt_page *page)
{
    uint64_t packed;
    bool is_known =
        nt_packed_bytes(nt_decoders_get(&dataset->decoders, page->decoder), page->elements, &packed);
    return is_known && page->stored_bytes ? (double)packed / (double)page->stored_bytes : 0;
}

static enum nt_status add_page(struct claims *claims, const struct nt_dataset *dataset,
                               const struct nt_page *page, struct nt_layout_item *item, const char *owner,
                               struct nt_error *error)
{
    struct nt_extent one = {page->offset, page->stored_bytes + nt_checksum_info(page->checksum)->bytes};
    struct nt_extent *several = NULL;
    size_t count = 1;
    enum nt_status status = NT_OK;
    item->source = dataset->file->layout_sources ? page->source : 0;
    item->ratio = page_ratio(dataset, page);
    /* Extents that cannot be read (a damaged list of chunks) leave the page at the place that is listed. */
    if (dataset->ops->page_extents)
        status = dataset->ops->page_extents(dataset, page, &several, &count, error);
    if (nt_is_machine_failure(status))
        return status;
    status = add_page_extents(claims, item, owner, several ? several : &one, several ? count : 1,
                              page->stored_bytes);
    free(several);
    return status;
}

/* A page's buffers, each with an owner of its own. False in `*are_there_ret` where pages are one range. */
static enum nt_status add_page_buffers(struct claims *claims, const struct nt_dataset *dataset,
                                       const struct nt_page *page, const struct nt_layout_item *template,
                                       bool *are_there_ret)
{
    struct nt_page_file files[NT_PAGE_FILES];
    enum nt_status status = NT_OK;
    uint32_t count =
        dataset->ops->page_files ? dataset->ops->page_files(dataset, template->column, page, files) : 0;
    *are_there_ret = dataset->ops->page_files;
    for (uint32_t i = 0; i < count && files[i].kind == NT_PAGE_FILE_RANGE && status == NT_OK; i++) {
        struct nt_layout_item item = *template;
        item.offset = files[i].offset;
        item.bytes = files[i].bytes;
        item.owner = files[i].owner;
        item.ratio = page_ratio(dataset, page);
        item.source = dataset->file->layout_sources ? page->source : 0;
        if (item.bytes)
            status = add_claim(claims, &item);
    }
    return status;
}

/* Pages are numbered through the column's clusters in order of cluster id; a group whose page list is bad is
 * left out, and with it the numbering of the pages behind it. */
static enum nt_status add_column_pages(struct claims *claims, struct nt_dataset *dataset, uint32_t column,
                                       struct nt_error *error)
{
    uint32_t number = 0;
    enum nt_status status = NT_OK;
    struct nt_groups groups = nt_groups_of_column(dataset, column);
    for (uint32_t g = groups.first; g < groups.end; g++) {
        const struct nt_group *group = &dataset->groups[g];
        if (!nt_group_is_loaded(group))
            return NT_OK;
        for (uint32_t c = 0; c < group->clusters && status == NT_OK; c++) {
            uint32_t cluster = group->first_cluster + c;
            const struct nt_range *range = nt_group_range(dataset, group, cluster, column);
            for (uint32_t p = 0; p < range->pages && status == NT_OK; p++) {
                const struct nt_page *page = &group->pages[(size_t)range->first_page + p];
                struct nt_layout_item item = {
                    .dataset = dataset->index, .column = column, .cluster = cluster, .page = number++};
                bool has_buffers;
                status = add_page_buffers(claims, dataset, page, &item, &has_buffers);
                if (status == NT_OK && !has_buffers && page->compression != NT_COMPRESSION_ELSEWHERE)
                    status = add_page(claims, dataset, page, &item, "page", error);
            }
        }
    }
    return status;
}

/* What pages are decoded with belongs to no one column. */
static enum nt_status add_inputs(struct claims *claims, const struct nt_dataset *dataset,
                                 struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (uint32_t number = 0; number < dataset->decoders.count; number++) {
        const struct nt_plan *plan = nt_decoders_get(&dataset->decoders, number)->plan;
        for (uint32_t i = 0; plan && i < plan->input_count && status == NT_OK; i++) {
            struct nt_layout_item item = {
                .dataset = dataset->index, .column = NT_NONE, .cluster = NT_NONE, .page = NT_NONE};
            if (plan->inputs[i].compression != NT_COMPRESSION_ELSEWHERE)
                status = add_page(claims, dataset, &plan->inputs[i], &item, "input", error);
        }
    }
    return status;
}

/* Values that lie apart from the file's columns, each a page of the field. */
static enum nt_status add_values(struct claims *claims, struct nt_dataset *dataset, uint32_t column,
                                 struct nt_error *error)
{
    struct nt_groups groups = nt_groups_of_column(dataset, column);
    enum nt_status status = nt_groups_load_readable(dataset, groups, error);
    for (uint32_t g = groups.first; g < groups.end && status == NT_OK; g++) {
        const struct nt_group *group = &dataset->groups[g];
        for (uint32_t c = 0; c < group->clusters && nt_group_is_loaded(group); c++) {
            uint32_t cluster = group->first_cluster + c;
            const struct nt_range *range = nt_group_range(dataset, group, cluster, column);
            for (uint32_t p = 0; p < range->pages && status == NT_OK; p++) {
                struct nt_layout_item item = {.dataset = dataset->index,
                                              .column = nt_stored_column(dataset, column),
                                              .cluster = NT_NONE,
                                              .page = NT_NONE};
                status = add_page(claims, dataset, &group->pages[(size_t)range->first_page + p], &item,
                                  "value", error);
            }
        }
    }
    return status;
}

static bool has_values_apart(const struct nt_dataset *dataset, uint32_t column)
{
    const struct nt_column *info = &dataset->columns[column];
    return nt_dataset_has_sides(dataset) && info->position == 0 &&
           dataset->fields[info->field].kind == NT_FIELD_PAGE_BYTES;
}

static enum nt_status add_pages(struct claims *claims, struct nt_dataset *dataset, struct nt_error *error)
{
    if (dataset->failure)
        return NT_OK;
    struct nt_dataset *stored;
    enum nt_status status = nt_dataset_stored(dataset, &stored, error);
    if (status == NT_OK)
        status = nt_dataset_load_readable(stored, error);
    for (uint32_t column = 0; status == NT_OK && column < stored->column_count; column++)
        status = add_column_pages(claims, stored, column, error);
    for (uint32_t column = 0; column < dataset->column_count && status == NT_OK; column++)
        if (has_values_apart(dataset, column))
            status = add_values(claims, dataset, column, error);
    return status == NT_OK && !stored->ops->page_files ? add_inputs(claims, stored, error) : status;
}

/* ---- from claims to items ---- */

static int compare_claims(const void *left, const void *right)
{
    const struct nt_layout_item *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1; /* the larger first: what it covers is shared with it */
    if (a->dataset != b->dataset)
        return a->dataset < b->dataset ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return a->page < b->page ? -1 : a->page > b->page;
}

static enum nt_status add_gap(struct claims *items, uint32_t source, uint64_t from, uint64_t to)
{
    struct nt_layout_item gap = {.offset = from,
                                 .bytes = to - from,
                                 .source = source,
                                 .dataset = NT_NONE,
                                 .column = NT_NONE,
                                 .cluster = NT_NONE,
                                 .page = NT_NONE,
                                 .owner = "gap"};
    return from < to ? add_claim(items, &gap) : NT_OK;
}

/* `at` is the first byte of the source that no item covers yet. */
static enum nt_status place_claim(struct claims *items, const struct nt_layout_item *claim, uint64_t size,
                                  uint64_t *at)
{
    struct nt_layout_item item = *claim;
    if (item.offset >= size)
        return NT_OK; /* beyond the end: reading it says so */
    if (item.bytes > size - item.offset)
        item.bytes = size - item.offset;
    uint64_t end = item.offset + item.bytes;
    enum nt_status status = NT_OK;
    if (item.offset >= *at) {
        status = add_gap(items, item.source, *at, item.offset);
    } else if (end <= *at) {
        item.is_shared = true;
    } else {
        item.offset = *at;
        item.bytes = end - *at;
    }
    if (status == NT_OK)
        status = add_claim(items, &item);
    if (status == NT_OK) {
        items->items[items->count - 1].claimed_offset = claim->offset;
        items->items[items->count - 1].claimed_bytes = claim->bytes;
    }
    if (!item.is_shared)
        *at = end;
    return status;
}

struct nt_source *nt_layout_source(const struct nt_file *file, uint32_t source)
{
    return file->layout_sources ? file->layout_sources[source] : file->source;
}

/* Of a file that is missing or cannot be a source nothing is known. */
static enum nt_status measure_sources(struct nt_layout *layout, const struct nt_file *file,
                                      struct nt_error *error)
{
    layout->source_count = file->layout_sources ? file->layout_source_count : 1;
    layout->source_bytes = calloc((size_t)layout->source_count + 1, sizeof(*layout->source_bytes));
    if (!layout->source_bytes)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < layout->source_count; i++) {
        enum nt_status status = nt_source_size(nt_layout_source(file, i), &layout->source_bytes[i], error);
        if (nt_is_machine_failure(status))
            return status;
        if (status != NT_OK)
            layout->source_bytes[i] = 0;
    }
    return NT_OK;
}

/* Many plans share an input: it is one claim. */
static bool is_told(const struct claims *items, const struct nt_layout_item *claim)
{
    const struct nt_layout_item *last = items->count ? &items->items[items->count - 1] : NULL;
    return last && claim->column == NT_NONE && last->column == NT_NONE && claim->dataset == last->dataset &&
           claim->dataset != NT_NONE && claim->source == last->source && claim->owner == last->owner &&
           claim->offset == last->claimed_offset && claim->bytes == last->claimed_bytes;
}

static enum nt_status place_claims(struct claims *items, const struct claims *claims, uint32_t source,
                                   uint64_t size, size_t *next)
{
    enum nt_status status = NT_OK;
    uint64_t at = 0;
    for (; *next < claims->count && claims->items[*next].source == source && status == NT_OK; (*next)++)
        if (!is_told(items, &claims->items[*next]))
            status = place_claim(items, &claims->items[*next], size, &at);
    return status == NT_OK ? add_gap(items, source, at, size) : status;
}

/* Of objects only what is claimed is known: nothing lies between them, and together they have as much as that. */
static enum nt_status place_objects(struct claims *items, const struct claims *claims, uint32_t source,
                                    uint64_t *size_ret, size_t *next)
{
    enum nt_status status = NT_OK;
    uint64_t at = 0;
    *size_ret = 0;
    for (; *next < claims->count && claims->items[*next].source == source && status == NT_OK; (*next)++) {
        const struct nt_layout_item *claim = &claims->items[*next];
        if (claim->offset > at)
            at = claim->offset;
        status = place_claim(items, claim, UINT64_MAX, &at);
        if (status == NT_OK && !items->items[items->count - 1].is_shared)
            *size_ret += items->items[items->count - 1].bytes;
    }
    return status;
}

static enum nt_status place_all(struct claims *items, const struct claims *claims, struct nt_layout *layout,
                                const struct nt_file *file)
{
    enum nt_status status = NT_OK;
    size_t next = 0;
    for (uint32_t source = 0; source < layout->source_count && status == NT_OK; source++) {
        uint64_t *size = &layout->source_bytes[source];
        status = nt_layout_source(file, source)->is_of_objects
                     ? place_objects(items, claims, source, size, &next)
                     : place_claims(items, claims, source, *size, &next);
    }
    return status;
}

enum nt_status nt_layout_init(struct nt_layout *layout, const struct nt_file *file, struct nt_error *error)
{
    struct claims claims = {0}, items = {0};
    *layout = (struct nt_layout){0};
    enum nt_status status = measure_sources(layout, file, error);
    if (status == NT_OK && file->layout)
        status = file->layout(file, add_format_claim, &claims, error);
    for (uint32_t i = 0; i < file->dataset_count && status == NT_OK; i++)
        status = add_pages(&claims, file->datasets[i], error);
    if (status == NT_OK && claims.count)
        qsort(claims.items, claims.count, sizeof(*claims.items), compare_claims);
    if (status == NT_OK)
        status = place_all(&items, &claims, layout, file);
    if (status == NT_NO_MEMORY)
        nt_fail_memory(error);
    layout->items = items.items;
    layout->count = items.count;
    free(claims.items);
    return status;
}

void nt_layout_deinit(struct nt_layout *layout)
{
    free(layout->items);
    free(layout->source_bytes);
    *layout = (struct nt_layout){0};
}
