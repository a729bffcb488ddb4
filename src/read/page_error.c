/* SPDX-License-Identifier: MIT
 *
 * Where a page stands. Pages carry neither their column nor their cluster: both are searched for only when
 * there is a failure to tell.
 */
#include "read/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/buffer.h"
#include "core/base/text.h"
#include "core/model/path.h"

static void append_field_name(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field)
{
    struct nt_buffer path = {0};
    nt_append_field_path(&path, dataset, field, '.');
    nt_append_printable(out, path.bytes, path.length);
    nt_buffer_deinit_part(&path, out);
}

/* The cluster whose range of the column holds page number `index` of the group. */
static bool find_in_group(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t column,
                          uint64_t index, uint32_t *cluster_ret, uint64_t *number_ret)
{
    for (uint32_t i = 0; i < group->clusters; i++) {
        const struct nt_range *range = nt_group_range(dataset, group, group->first_cluster + i, column);
        if (index >= range->first_page && index - range->first_page < range->pages) {
            *cluster_ret = group->first_cluster + i;
            *number_ret = index - range->first_page;
            return true;
        }
    }
    return false;
}

static bool find_page(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                      uint32_t *cluster_ret, uint64_t *number_ret)
{
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        const struct nt_group *group = &dataset->groups[i];
        if (nt_group_is_loaded(group) && page >= group->pages && page < group->pages + group->page_count)
            return find_in_group(dataset, group, column, (uint64_t)(page - group->pages), cluster_ret,
                                 number_ret);
    }
    return false;
}

/* Of a page that is an object of its own, whose name tells where it is; who could not get it has told that. */
static void tell_object(const struct nt_source *source, uint64_t address, struct nt_error *error)
{
    struct nt_buffer name = {0};
    char place[40];
    size_t length = strlen(error->message);
    size_t end = (size_t)snprintf(place, sizeof(place), " (at byte %" PRIu64 ")", error->offset);
    if (length >= end && strcmp(error->message + length - end, place) == 0)
        error->message[length - end] = '\0';
    nt_source_append_name(source, address, &name);
    if (error->offset != NT_NO_OFFSET)
        error->offset = nt_source_place(source, error->offset);
    if (!name.failed && !strstr(error->message, nt_buffer_string(&name)))
        nt_error_context(error, "%s", nt_buffer_string(&name));
    nt_buffer_deinit(&name);
}

enum nt_status nt_page_error(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                             enum nt_status status, struct nt_error *error)
{
    if (!error || status == NT_CHANGED) /* no page is to blame */
        return status;
    const struct nt_column *info = &dataset->columns[column];
    struct nt_buffer field = {0};
    uint32_t cluster;
    uint64_t number;
    append_field_name(&field, dataset, info->field);
    if (field.failed) {
        nt_buffer_deinit(&field);
        return nt_fail_memory(error);
    }
    const char *name = nt_buffer_string(&field);
    const struct nt_source *source =
        page->source < dataset->source_count ? dataset->sources[page->source] : NULL;
    if (source && source->is_of_objects && !page->is_missing)
        tell_object(source, page->offset, error);
    else if (error->offset == NT_NO_OFFSET && !page->is_missing) {
        size_t used = strlen(error->message);
        error->offset = page->offset;
        snprintf(error->message + used, sizeof(error->message) - used, " (page at byte %" PRIu64 ")",
                 page->offset);
    }
    if (find_page(dataset, column, page, &cluster, &number))
        nt_error_context(error,
                         "column %" PRIu32 " (%s) of field %.80s, page %" PRIu64 " of cluster %" PRIu32,
                         info->id, info->type_name ? info->type_name : "?", name, number, cluster);
    else
        nt_error_context(error, "column %" PRIu32 " (%s) of field %.80s", info->id,
                         info->type_name ? info->type_name : "?", name);
    nt_buffer_deinit(&field);
    if (dataset->is_joined)
        nt_error_context(error, "%s", dataset->sources[page->source]->path);
    return status;
}

enum nt_status nt_page_fail_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page,
                                      struct nt_error *error)
{
    const char *place = dataset->ops && dataset->ops->page_elsewhere
                            ? dataset->ops->page_elsewhere(dataset, page)
                            : "its locator is in pages.jsonl";
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "the page is not stored in this file: %s", place);
}
