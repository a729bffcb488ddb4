/* SPDX-License-Identifier: MIT
 *
 * In: a field's page lists. Out: the first one that tells that this version does not read the field's pages. Page lists of many parts
 * take time to load, as each may be a file's, and on a server a round trip: then the first part stands for all, unless all are needed before the first row.
 */
#include "render/unread.h"

#include "core/model/kind.h"
#include "read/wanted.h"

enum { MOST_PARTS = 64 };

bool nt_field_size_is_known(const struct nt_dataset *dataset, uint32_t field)
{
    bool is_known = nt_field_row_parent(dataset, field) == NT_NONE;
    for (unsigned kind = 0; kind < NT_STREAM_COUNT; kind++) {
        const struct nt_stream_row *row = nt_field_stream(&dataset->fields[field], (enum nt_stream_kind)kind);
        is_known = is_known && (!row || row->of == NT_ROWS_OF_FIELD);
    }
    return is_known;
}

static struct nt_groups groups_to_ask(const struct nt_dataset *dataset, uint32_t field)
{
    struct nt_groups groups = {0, 0};
    if (dataset->field_groups)
        groups = nt_groups_of_field(dataset, field);
    bool are_costly = groups.end - groups.first > MOST_PARTS || nt_wants_hints(dataset);
    if (groups.end > groups.first && are_costly && nt_field_size_is_known(dataset, field))
        groups.end = groups.first + 1;
    return groups;
}

enum nt_status nt_unread_find(struct nt_dataset *dataset, uint32_t field, const struct nt_error **reason_ret,
                              struct nt_error *error)
{
    const struct nt_groups groups = groups_to_ask(dataset, field);
    *reason_ret = NULL;
    for (uint32_t i = groups.first; i < groups.end; i++) {
        struct nt_error failure;
        enum nt_status status = nt_dataset_load_group(dataset, i, &failure);
        if (nt_is_machine_failure(status) && status != NT_IO) /* which the rows of that part tell */
            return nt_fail_with(error, &failure);
        if (status == NT_UNSUPPORTED) {
            *reason_ret = dataset->groups[i].failure;
            return NT_OK;
        }
    }
    return NT_OK;
}

const struct nt_error *nt_unread_known(const struct nt_dataset *dataset, uint32_t field)
{
    struct nt_groups groups = {0, 0};
    if (dataset->field_groups)
        groups = nt_groups_of_field(dataset, field);
    for (uint32_t i = groups.first; i < groups.end; i++) {
        const struct nt_group *group = &dataset->groups[i];
        if (nt_late_has_failed(&group->state) && group->failure->status == NT_UNSUPPORTED)
            return group->failure;
    }
    return NULL;
}
