/* SPDX-License-Identifier: MIT
 *
 * Where a page stands. Pages carry neither their column nor their cluster: both are searched for only when
 * there is a failure to tell.
 */
#include "page/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"

void nt_append_field_path(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t path[NT_MAX_DEPTH + 1];
    uint32_t depth = 0;
    for (uint32_t at = field; at != NT_NONE && depth <= NT_MAX_DEPTH; at = dataset->fields[at].parent)
        path[depth++] = at;
    while (depth--) {
        const struct nt_text *name = &dataset->fields[path[depth]].name;
        nt_append_printable(out, name->bytes, name->length);
        if (depth)
            nt_buffer_byte(out, '.');
    }
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
        struct nt_group *group = &dataset->groups[i];
        if (atomic_load_explicit(&group->state, memory_order_acquire) != 1)
            continue;
        if (page >= group->pages && page < group->pages + group->page_count)
            return find_in_group(dataset, group, column, (uint64_t)(page - group->pages), cluster_ret,
                                 number_ret);
    }
    return false;
}

enum nt_status nt_page_error(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                             enum nt_status status, struct nt_error *error)
{
    if (!error)
        return status;
    const struct nt_column *info = &dataset->columns[column];
    struct nt_buffer field = {0};
    uint32_t cluster;
    uint64_t number;
    nt_append_field_path(&field, dataset, info->field);
    const char *name = field.failed || !field.bytes ? "" : field.bytes;
    if (error->offset == NT_NO_OFFSET) {
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
    return status;
}
