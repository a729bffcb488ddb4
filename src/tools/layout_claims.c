/* SPDX-License-Identifier: MIT
 *
 * Collects the owners of byte ranges in a file: the ranges that the format reports (headers, keys,
 * envelopes) and all pages with their checksums.
 */
#include "tools/tools.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/budget.h"
#include "core/model/model.h"
#include "read/page.h"

/* ---- Ranges of the format ---- */

/* The common part of many ranges. */
struct nt_layout_label {
    const char *owner;
    char *detail; /* a copy: the file of a chain that it is from may be closed again; or NULL */
    uint32_t dataset, column, cluster, page;
};

/* Compact: a file may have millions. */
struct nt_layout_format_range {
    uint64_t offset, bytes;
    uint32_t source, label;
};

struct collecting {
    struct nt_layout_claims *claims;
    struct nt_budget *budget;
    struct nt_error *error;
};

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Finds the label among the last few, or adds it. */
static enum nt_status find_label(struct nt_layout_claims *claims, const struct nt_layout_label *label,
                                 const char *detail, uint32_t *number_ret)
{
    enum { LOOKED_AT = 16 };
    for (size_t i = 0; i < LOOKED_AT && i < claims->label_count; i++) {
        *number_ret = (uint32_t)(claims->label_count - 1 - i);
        const struct nt_layout_label *seen = &claims->labels[*number_ret];
        if (seen->owner == label->owner && is_same_text(seen->detail, detail) &&
            seen->dataset == label->dataset && seen->column == label->column &&
            seen->cluster == label->cluster && seen->page == label->page)
            return NT_OK;
    }
    struct nt_layout_label *labels =
        nt_grow(claims->labels, claims->label_count, &claims->label_capacity, sizeof(*labels));
    if (!labels)
        return NT_NO_MEMORY;
    claims->labels = labels;
    char *copy = detail ? strdup(detail) : NULL;
    if (detail && !copy)
        return NT_NO_MEMORY;
    *number_ret = (uint32_t)claims->label_count;
    labels[claims->label_count] = *label;
    labels[claims->label_count++].detail = copy;
    return NT_OK;
}

/* Makes room for one more range. The file's budget pays for it as long as the layout exists. */
static enum nt_status grow(const struct collecting *collecting)
{
    struct nt_layout_claims *claims = collecting->claims;
    size_t capacity = claims->own_capacity;
    if (claims->own_count < capacity)
        return NT_OK;
    uint64_t more = (capacity ? capacity : 8) * sizeof(*claims->own);
    enum nt_status status =
        nt_budget_take(collecting->budget, NT_COST_ENVELOPE_BYTE, more, NT_NO_OFFSET, collecting->error);
    if (status != NT_OK)
        return status;
    claims->taken += more;
    struct nt_layout_format_range *own =
        nt_grow(claims->own, claims->own_count, &claims->own_capacity, sizeof(*claims->own));
    if (!own)
        return NT_NO_MEMORY;
    claims->own = own;
    return NT_OK;
}

static enum nt_status keep_range(void *context, const struct nt_layout_range *range)
{
    const struct collecting *collecting = context;
    struct nt_layout_claims *claims = collecting->claims;
    const struct nt_layout_label label = {
        .owner = range->owner,
        .dataset = range->dataset,
        .column = range->column,
        .cluster = range->cluster == UINT64_MAX ? NT_NONE : (uint32_t)range->cluster,
        .page = range->page == UINT64_MAX ? NT_NONE : (uint32_t)range->page,
    };
    uint32_t number;
    if (!range->bytes)
        return NT_OK;
    enum nt_status status = grow(collecting);
    if (status == NT_OK)
        status = find_label(claims, &label, range->detail, &number);
    if (status == NT_OK)
        claims->own[claims->own_count++] =
            (struct nt_layout_format_range){range->offset, range->bytes, range->source, number};
    return status;
}

/* ---- Sink ---- */

struct sink {
    const struct nt_layout_window *window;
    nt_layout_visit *visit;
    void *context;
};

/* Is a byte range of a source outside of the window? */
static bool is_outside(const struct sink *sink, uint32_t source, uint64_t offset, uint64_t end)
{
    const struct nt_layout_window *window = sink->window;
    return source < window->first_source || source > window->last_source ||
           (source == window->first_source && end < window->first_offset) ||
           (source == window->last_source && offset > window->last_offset);
}

static enum nt_status put(const struct sink *sink, const struct nt_layout_item *item)
{
    if (is_outside(sink, item->source, item->offset, item->offset))
        return NT_OK;
    struct nt_layout_item claim = *item;
    claim.claimed_offset = item->offset;
    claim.claimed_bytes = item->bytes;
    return sink->visit(sink->context, &claim);
}

static enum nt_status put_own(const struct sink *sink, const struct nt_layout_claims *claims)
{
    enum nt_status status = NT_OK;
    for (size_t i = 0; i < claims->own_count && status == NT_OK; i++) {
        const struct nt_layout_format_range *own = &claims->own[i];
        const struct nt_layout_label *label = &claims->labels[own->label];
        if (is_outside(sink, own->source, own->offset, own->offset))
            continue;
        const struct nt_layout_item item = {.offset = own->offset,
                                            .bytes = own->bytes,
                                            .source = own->source,
                                            .dataset = label->dataset,
                                            .column = label->column,
                                            .cluster = label->cluster,
                                            .page = label->page,
                                            .owner = label->owner,
                                            .detail = label->detail};
        status = put(sink, &item);
    }
    return status;
}

/* ---- Pages ---- */

/* Adds a page's stored bytes, then its checksum; both may span several extents. */
static enum nt_status add_page_extents(const struct sink *sink, struct nt_layout_item *item,
                                       const char *owner, const struct nt_extent *extents, size_t count,
                                       uint64_t stored_bytes)
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
            status = put(sink, item);
        item->owner = "checksum";
        item->ratio = 0;
        item->offset += bytes;
        item->bytes = extents[i].bytes - bytes;
        if (item->bytes && status == NT_OK)
            status = put(sink, item);
        stored_bytes -= bytes;
    }
    return status;
}

static double page_ratio(const struct nt_dataset *dataset, const struct nt_page *page)
{
    uint64_t packed, decoded;
    bool is_known = nt_page_sizes(dataset, page, &packed, &decoded, NULL) == NT_OK;
    return is_known && page->stored_bytes ? (double)packed / (double)page->stored_bytes : 0;
}

static enum nt_status add_page(const struct sink *sink, const struct nt_dataset *dataset,
                               const struct nt_page *page, struct nt_layout_item *item, const char *owner,
                               struct nt_error *error)
{
    struct nt_extent one = {page->offset, page->stored_bytes + nt_checksum_info(page->checksum)->bytes};
    struct nt_extent *several = NULL;
    size_t count = 1;
    enum nt_status status = NT_OK;
    item->source = dataset->file->layout_sources ? page->source : 0;
    item->ratio = page_ratio(dataset, page);
    /* If the extents are unreadable (a damaged list of chunks), the page keeps its listed place. */
    if (dataset->ops->page_extents)
        status = dataset->ops->page_extents(dataset, page, &several, &count, error);
    if (nt_is_environmental(status))
        return status;
    status = add_page_extents(sink, item, owner, several ? several : &one, several ? count : 1,
                              page->stored_bytes);
    free(several);
    return status;
}

/* Adds a page's buffers with their owners. `*are_there_ret` is false if pages are single ranges. */
static enum nt_status add_page_buffers(const struct sink *sink, const struct nt_dataset *dataset,
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
            status = put(sink, &item);
    }
    return status;
}

/* The source that has the same bytes at the same offsets. */
static const struct nt_source *bottom(const struct nt_source *source)
{
    while (source->beneath)
        source = source->beneath;
    return source;
}

/* Is the page in something else than the files of the layout: in a part of the metadata, as a basket
 * within the record of its tree is, or in a file that only the page is in? */
static bool is_page_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page)
{
    const struct nt_source *shown = dataset->file->source;
    if (dataset->file->layout_sources && page->source < dataset->file->layout_source_count)
        shown = dataset->file->layout_sources[page->source];
    return bottom(dataset->sources[page->source]) != bottom(shown);
}

/* Conservative: false if only the page's parts decide. */
static bool is_page_outside(const struct sink *sink, const struct nt_dataset *dataset,
                            const struct nt_page *page)
{
    uint64_t end;
    if (is_page_elsewhere(dataset, page))
        return true;
    if (dataset->ops->page_files || dataset->ops->page_extents)
        return false;
    if (!nt_add(page->offset, page->stored_bytes, &end))
        end = UINT64_MAX;
    return is_outside(sink, dataset->file->layout_sources ? page->source : 0, page->offset, end);
}

/* Numbers pages through the column's clusters in order of cluster id. Stops at a bad page list: the
 * numbers of the pages after it are unknown. */
static enum nt_status add_column_pages(const struct sink *sink, struct nt_dataset *dataset, uint32_t column,
                                       struct nt_error *error)
{
    uint32_t number = 0;
    enum nt_status status = NT_OK;
    struct nt_groups groups = nt_groups_of_column(dataset, column);
    for (uint32_t g = groups.first; g < groups.end && status == NT_OK; g++) {
        struct nt_group *group;
        status = nt_group_pin_readable(dataset, g, &group, error);
        if (!group)
            return status;
        for (uint32_t c = 0; c < group->clusters && status == NT_OK; c++) {
            uint32_t cluster = group->first_cluster + c;
            const struct nt_range *range = nt_group_range(dataset, group, cluster, column);
            for (uint32_t p = 0; p < range->pages && status == NT_OK; p++) {
                const struct nt_page *page = &group->pages[(size_t)range->first_page + p];
                struct nt_layout_item item = {
                    .dataset = dataset->index, .column = column, .cluster = cluster, .page = number++};
                bool has_buffers;
                if (is_page_outside(sink, dataset, page))
                    continue;
                status = add_page_buffers(sink, dataset, page, &item, &has_buffers);
                if (status == NT_OK && !has_buffers && page->compression != NT_COMPRESSION_ELSEWHERE)
                    status = add_page(sink, dataset, page, &item, "page", error);
            }
        }
        nt_group_unpin(group);
    }
    return status;
}

/* Dependencies of decoders belong to no single column. */
static enum nt_status add_dependencies(const struct sink *sink, const struct nt_dataset *dataset,
                                       struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (uint32_t number = 0; number < dataset->decoders.count; number++) {
        const struct nt_decoder *decoder = nt_decoders_get(&dataset->decoders, number);
        for (uint32_t i = 0; i < decoder->dependency_count && status == NT_OK; i++) {
            struct nt_layout_item item = {
                .dataset = dataset->index, .column = NT_NONE, .cluster = NT_NONE, .page = NT_NONE};
            if (decoder->dependencies[i].compression != NT_COMPRESSION_ELSEWHERE)
                status = add_page(sink, dataset, &decoder->dependencies[i], &item, "input", error);
        }
    }
    return status;
}

/* Adds values that are stored outside of the file's columns, each as a page of the field. */
static enum nt_status add_values(const struct sink *sink, struct nt_dataset *dataset, uint32_t column,
                                 struct nt_error *error)
{
    struct nt_groups groups = nt_groups_of_column(dataset, column);
    enum nt_status status = NT_OK;
    nt_groups_announce(dataset, groups);
    for (uint32_t g = groups.first; g < groups.end && status == NT_OK; g++) {
        struct nt_group *group;
        status = nt_group_pin_readable(dataset, g, &group, error);
        for (uint32_t c = 0; group && c < group->clusters; c++) {
            uint32_t cluster = group->first_cluster + c;
            const struct nt_range *range = nt_group_range(dataset, group, cluster, column);
            for (uint32_t p = 0; p < range->pages && status == NT_OK; p++) {
                struct nt_layout_item item = {.dataset = dataset->index,
                                              .column = nt_physical_column(dataset, column),
                                              .cluster = NT_NONE,
                                              .page = NT_NONE};
                status = add_page(sink, dataset, &group->pages[(size_t)range->first_page + p], &item, "value",
                                  error);
            }
        }
        nt_group_unpin(group);
    }
    return status;
}

static bool has_values_apart(const struct nt_dataset *dataset, uint32_t column)
{
    const struct nt_column *info = &dataset->columns[column];
    return nt_dataset_has_physical(dataset) && info->position == 0 &&
           dataset->fields[info->field].kind == NT_FIELD_PAGE_BYTES;
}

static enum nt_status add_pages(const struct sink *sink, struct nt_dataset *dataset, struct nt_error *error)
{
    if (dataset->failure)
        return NT_OK;
    struct nt_dataset *physical;
    enum nt_status status = nt_dataset_physical(dataset, &physical, error);
    if (status == NT_OK)
        status = nt_dataset_load_readable(physical, error);
    for (uint32_t column = 0; status == NT_OK && column < physical->column_count; column++)
        status = add_column_pages(sink, physical, column, error);
    for (uint32_t column = 0; column < dataset->column_count && status == NT_OK; column++)
        if (has_values_apart(dataset, column))
            status = add_values(sink, dataset, column, error);
    return status == NT_OK && !physical->ops->page_files ? add_dependencies(sink, physical, error) : status;
}

/* ---- All claims ---- */

/* Page lists stay, and the ranges of the format go with the layout: loaded in this order, lists need no
 * more memory than without a layout. A failure of a list is remembered. */
static enum nt_status load_page_lists(const struct nt_file *file, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < file->dataset_count && !nt_is_environmental(status); i++) {
        struct nt_dataset *physical;
        if (file->datasets[i]->failure)
            continue;
        status = nt_dataset_physical(file->datasets[i], &physical, error);
        if (status == NT_OK)
            status = nt_dataset_load_readable(physical, error);
    }
    return nt_is_environmental(status) ? status : NT_OK; /* reading the pages reports others */
}

enum nt_status nt_layout_claims_init(struct nt_layout_claims *claims, const struct nt_file *file,
                                     struct nt_error *error)
{
    /* The claims are not part of the file, but its budget pays for them. */
    struct nt_budget *budget = (struct nt_budget *)(uintptr_t)&file->budget;
    struct collecting collecting = {.claims = claims, .budget = budget, .error = error};
    *claims = (struct nt_layout_claims){.file = file, .budget = budget};
    enum nt_status status = load_page_lists(file, error);
    if (status == NT_OK && file->layout)
        status = file->layout(file, keep_range, &collecting, error);
    return status == NT_NO_MEMORY ? nt_fail_memory(error) : status;
}

void nt_layout_claims_deinit(struct nt_layout_claims *claims)
{
    if (claims->budget)
        nt_budget_release(claims->budget, NT_COST_ENVELOPE_BYTE, claims->taken);
    free(claims->own);
    for (size_t i = 0; i < claims->label_count; i++)
        free(claims->labels[i].detail);
    free(claims->labels);
    *claims = (struct nt_layout_claims){0};
}

enum nt_status nt_layout_claims_visit(const struct nt_layout_claims *claims,
                                      const struct nt_layout_window *window, nt_layout_visit *visit,
                                      void *context, struct nt_error *error)
{
    const struct sink sink = {window, visit, context};
    enum nt_status status = put_own(&sink, claims);
    for (uint32_t i = 0; i < claims->file->dataset_count && status == NT_OK; i++)
        status = add_pages(&sink, claims->file->datasets[i], error);
    return status == NT_NO_MEMORY ? nt_fail_memory(error) : status;
}
