/* SPDX-License-Identifier: MIT
 *
 * Shared parts of text output: names, places and errors as JSON members, the reasons for unsupported
 * fields, and totals over the pages of columns.
 */
#include "render/render.h"

/* ---- JSON members for names, places and errors ---- */

void nt_json_member_dataset(struct nt_json *json, const struct nt_dataset *dataset)
{
    struct nt_buffer path = {0};
    nt_append_dataset_path(&path, dataset);
    nt_json_member_buffer(json, "dataset", &path);
}

void nt_json_member_field_path(struct nt_json *json, const char *key, const struct nt_dataset *dataset,
                               uint32_t field)
{
    struct nt_buffer path = {0};
    nt_append_field_path(&path, dataset, field);
    nt_json_member_buffer(json, key, &path);
}

static void put_text_or_null(struct nt_json *json, const char *key, const char *text)
{
    if (text[0])
        nt_json_member_text(json, key, nt_text_of(text));
    else
        nt_json_member_null(json, key);
}

static void put_offset(struct nt_json *json, uint64_t offset)
{
    if (offset == NT_NO_OFFSET)
        nt_json_member_null(json, "file_offset");
    else
        nt_json_member_unsigned(json, "file_offset", offset);
}

void nt_json_member_location(struct nt_json *json, const struct nt_source *source, uint64_t offset)
{
    struct nt_buffer name = {0};
    nt_source_append_name(source, offset, &name);
    nt_json_key(json, "file");
    nt_json_buffer(json, &name);
    nt_json_member_file_offset(json, source, offset);
}

void nt_json_member_file_offset(struct nt_json *json, const struct nt_source *source, uint64_t offset)
{
    put_offset(json, nt_source_file_offset(source, offset));
}

void nt_json_failure_members(struct nt_json *json, const struct nt_error *failure)
{
    put_offset(json, failure->offset);
    nt_json_member_string(json, "status", failure->status == NT_OK ? NULL : nt_status_name(failure->status));
    nt_json_member_text(json, "what", nt_text_of(failure->message));
    put_text_or_null(json, "expected", failure->expected);
    put_text_or_null(json, "found", failure->found);
}

/* ---- Unsupported fields ---- */

enum { MAX_PARTS = 64 };

bool nt_field_size_is_known(const struct nt_dataset *dataset, uint32_t field)
{
    bool is_known = nt_field_row_parent(dataset, field) == NT_NONE;
    for (unsigned kind = 0; kind < NT_STREAM_COUNT; kind++) {
        const struct nt_stream_row *row = nt_field_stream(&dataset->fields[field], (enum nt_stream_kind)kind);
        is_known = is_known && (!row || row->of == NT_COUNTED_ROWS);
    }
    return is_known;
}

static struct nt_groups groups_to_ask(const struct nt_dataset *dataset, uint32_t field)
{
    struct nt_groups groups = {0, 0};
    if (dataset->field_groups)
        groups = nt_groups_of_field(dataset, field);
    bool are_costly = groups.end - groups.first > MAX_PARTS || nt_prefetch_helps(dataset);
    if (groups.end > groups.first && are_costly && nt_field_size_is_known(dataset, field))
        groups.end = groups.first + 1;
    return groups;
}

enum nt_status nt_unsupported_find(struct nt_dataset *dataset, uint32_t field,
                                   const struct nt_error **reason_ret, struct nt_error *error)
{
    const struct nt_groups groups = groups_to_ask(dataset, field);
    *reason_ret = NULL;
    for (uint32_t i = groups.first; i < groups.end; i++) {
        struct nt_error failure;
        enum nt_status status = nt_dataset_load_group(dataset, i, &failure);
        if (nt_is_environmental(status) && status != NT_IO) /* rows of that part report NT_IO */
            return nt_fail_copy(error, &failure);
        if (status == NT_UNSUPPORTED) {
            *reason_ret = nt_group_failure(dataset, i);
            return NT_OK;
        }
    }
    return NT_OK;
}

const struct nt_error *nt_unsupported_known(const struct nt_dataset *dataset, uint32_t field)
{
    struct nt_groups groups = {0, 0};
    if (dataset->field_groups)
        groups = nt_groups_of_field(dataset, field);
    for (uint32_t i = groups.first; i < groups.end; i++) {
        const struct nt_error *failure = nt_group_failure(dataset, i);
        if (failure && failure->status == NT_UNSUPPORTED)
            return failure;
    }
    return NULL;
}

/* ---- Column totals ---- */

static void add_page(const struct nt_dataset *dataset, const struct nt_page *page,
                     struct nt_column_sums *sums)
{
    uint64_t packed = 0, decoded = 0;
    sums->pages++;
    sums->stored_bytes += page->stored_bytes;
    if (nt_page_sizes(dataset, page, &packed, &decoded, NULL) == NT_OK) {
        sums->packed_bytes += packed;
        sums->decoded_bytes += decoded;
    }
    if (sums->checksum == NT_CHECKSUM_NONE)
        sums->checksum = page->checksum;
}

void nt_column_sums_add(struct nt_column_sums *sums, const struct nt_dataset *dataset,
                        const struct nt_group *group, const struct nt_range *range)
{
    if (range->state != NT_RANGE_PRESENT)
        return;
    sums->elements += nt_range_elements(group, range);
    for (uint32_t i = 0; i < range->pages; i++)
        add_page(dataset, &group->pages[(size_t)range->first_page + i], sums);
}

struct range_visit {
    uint32_t column;    /* NT_NONE: all, or those of `chosen` */
    const bool *chosen; /* [column]; NULL: all */
    nt_visit_range *visit;
    void *context;
};

static void visit_cluster(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t cluster,
                          const struct range_visit *some)
{
    uint32_t count = some->column == NT_NONE ? dataset->column_count : 1;
    const uint32_t *columns = some->column == NT_NONE ? NULL : &some->column;
    if (!columns && dataset->field_groups)
        columns = nt_field_columns(dataset, group->field, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t of = columns ? columns[i] : i;
        if (!some->chosen || some->chosen[of])
            some->visit(some->context, dataset, group, cluster, of,
                        nt_group_range(dataset, group, cluster, of));
    }
}

static enum nt_status visit_group(struct nt_dataset *dataset, uint32_t number, const struct range_visit *some,
                                  bool *is_complete, struct nt_error *error)
{
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
    NT_TRY(nt_group_pin_readable(dataset, number, &group, error));
    if (is_complete)
        *is_complete &= group != NULL;
    for (uint32_t i = 0; group && i < group->clusters; i++)
        visit_cluster(dataset, group, group->first_cluster + i, some);
    return NT_OK;
}

enum nt_status nt_column_visit_ranges(struct nt_dataset *dataset, uint32_t column, nt_visit_range *visit,
                                      void *context, bool *is_complete_ret, struct nt_error *error)
{
    const struct range_visit some = {column, NULL, visit, context};
    struct nt_groups groups = nt_groups_of_column(dataset, column);
    nt_groups_announce(dataset, groups);
    *is_complete_ret = true;
    for (uint32_t g = groups.first; g < groups.end; g++)
        NT_TRY(visit_group(dataset, g, &some, is_complete_ret, error));
    return NT_OK;
}

bool nt_group_has_columns(const struct nt_dataset *dataset, uint32_t group, const bool *chosen)
{
    uint32_t count;
    if (!chosen || !dataset->field_groups)
        return true;
    const uint32_t *columns = nt_field_columns(dataset, nt_group_field(dataset, group, NULL), &count);
    for (uint32_t i = 0; i < count; i++)
        if (chosen[columns[i]])
            return true;
    return false;
}

/* Requests the page lists of parts at once: those of a part are not next to each other. */
static void plan_parts(struct nt_dataset *dataset, const bool *chosen, uint32_t first, uint32_t end)
{
    struct nt_prefetch prefetch = {.need = NT_PREFETCH_NOW};
    for (uint32_t i = 0; i < dataset->group_owner_count; i++) {
        uint32_t group = dataset->group_owners[i].first_group;
        const struct nt_groups groups = {group + first, group + end};
        if (nt_group_has_columns(dataset, groups.first, chosen))
            nt_groups_plan(dataset, groups, false, &prefetch);
    }
    nt_prefetch_submit(&prefetch);
}

static bool has_parts(const struct nt_dataset *dataset)
{
    return dataset->field_groups && !dataset->friend_count;
}

uint32_t nt_visited_parts(const struct nt_dataset *dataset)
{
    return has_parts(dataset) ? dataset->part_count : 1;
}

enum nt_status nt_part_visit_ranges(struct nt_dataset *dataset, uint32_t part, const bool *chosen,
                                    nt_visit_range *visit, void *context, bool *is_complete,
                                    struct nt_error *error)
{
    enum { AHEAD = 16 };
    const struct range_visit some = {NT_NONE, chosen, visit, context};
    uint32_t left = nt_visited_parts(dataset) - part;
    if (has_parts(dataset) && part % AHEAD == 0)
        plan_parts(dataset, chosen, part, part + (left < AHEAD ? left : AHEAD));
    else if (!has_parts(dataset) && (!chosen || !dataset->field_groups))
        nt_groups_announce(dataset, nt_groups_of_column(dataset, NT_NONE));
    uint32_t count = has_parts(dataset) ? dataset->group_owner_count : dataset->group_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t group = has_parts(dataset) ? dataset->group_owners[i].first_group + part : i;
        if (nt_group_has_columns(dataset, group, chosen))
            NT_TRY(visit_group(dataset, group, &some, is_complete, error));
    }
    return NT_OK;
}

static void add_range(void *context, const struct nt_dataset *dataset, const struct nt_group *group,
                      uint32_t cluster, uint32_t column, const struct nt_range *range)
{
    nt_column_sums_add(context, dataset, group, range);
}

enum nt_status nt_column_sums(struct nt_dataset *dataset, uint32_t column, struct nt_column_sums *sums,
                              struct nt_error *error)
{
    *sums = (struct nt_column_sums){0};
    return nt_column_visit_ranges(dataset, column, add_range, sums, &sums->is_complete, error);
}

void nt_cluster_sums(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t cluster,
                     struct nt_column_sums *sums)
{
    *sums = (struct nt_column_sums){.is_complete = true};
    visit_cluster(dataset, group, cluster, &(struct range_visit){NT_NONE, NULL, add_range, sums});
}
