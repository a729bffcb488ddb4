/* SPDX-License-Identifier: MIT
 *
 * Reads the footer envelope and builds the model's cluster groups, clusters and column groups from it
 * (specification, "Footer Envelope"; only the drafts have column groups and cluster summaries in the
 * footer).
 */
#include "formats/rntuple/rntuple.h"

#include <stdio.h>

/* ---- Read the footer ---- */

#define CLUSTER_IS_SHARDED 1

void nt_footer_deinit(struct nt_footer *footer)
{
    free(footer->extension_headers);
    free(footer->user_metadata);
    free(footer->column_groups.columns);
    free(footer->column_groups.ends);
    free(footer->summaries);
    free(footer->groups);
    free(footer->attribute_sets);
    *footer = (struct nt_footer){0};
}

/* ---- Records ---- */

static const char *read_link(const struct nt_generation *generation, struct nt_cursor *cursor, void *record)
{
    struct nt_envelope_link *link = record;
    *link = nt_envelope_link_read(cursor, generation);
    return NULL;
}

static const char *read_cluster_summary(const struct nt_generation *generation, struct nt_cursor *cursor,
                                        void *record)
{
    struct nt_cluster_summary *summary = record;
    summary->column_group = NT_NONE;
    summary->first_entry = nt_labelled_le64(cursor, "cluster summary", "first entry");
    uint64_t word = nt_labelled_le64(cursor, "cluster summary", "entries and flags");
    uint32_t entry_bits = 64 - generation->framing->cluster_flag_bits;
    summary->entries = word & ((UINT64_C(1) << entry_bits) - 1);
    summary->flags = (uint8_t)(word >> entry_bits);
    if (!(summary->flags & CLUSTER_IS_SHARDED))
        return NULL;
    if (!generation->has_sharded_clusters)
        return "the cluster is sharded, which this version of the format reserves for the future";
    summary->column_group = nt_labelled_le32(cursor, "cluster summary", "column group id");
    return NULL;
}

static const char *read_cluster_group(const struct nt_generation *generation, struct nt_cursor *cursor,
                                      void *record)
{
    struct nt_cluster_group_record *group = record;
    if (generation->has_entry_range_in_cluster_group) {
        group->first_entry = nt_labelled_le64(cursor, "cluster group", "first entry");
        group->entries = nt_labelled_le64(cursor, "cluster group", "entries");
    }
    group->clusters = nt_labelled_le32(cursor, "cluster group", "clusters");
    group->page_list = nt_envelope_link_read(cursor, generation);
    return NULL;
}

static const char *read_attribute_set(const struct nt_generation *generation, struct nt_cursor *cursor,
                                      void *record)
{
    struct nt_attribute_set_record *set = record;
    set->major = nt_labelled_le16(cursor, "attribute set", "major");
    set->minor = nt_labelled_le16(cursor, "attribute set", "minor");
    set->anchor_length = nt_labelled_le32(cursor, "attribute set", "anchor length");
    set->anchor = nt_locator_read(cursor, generation);
    set->name = nt_labelled_text(cursor, "attribute set", "name");
    return NULL;
}

/* A record that holds a list of 32-bit column ids. */
static enum nt_status read_column_group(const struct nt_envelope *envelope, struct nt_cursor *list,
                                        struct nt_column_group_records *groups, struct nt_error *error)
{
    struct nt_frame record, columns;
    NT_TRY(nt_record_frame(envelope, list, "column group", &record, error));
    NT_TRY(nt_list_frame(envelope, &record.payload, "list of columns of a group", sizeof(uint32_t), &columns,
                         error));
    for (uint32_t i = 0; i < columns.items; i++)
        groups->columns[groups->column_count++] =
            nt_labelled_le32(&columns.payload, "column group", "column id");
    groups->ends[groups->count++] = groups->column_count;
    return NT_OK;
}

static enum nt_status read_column_groups(const struct nt_envelope *envelope, struct nt_frame *list,
                                         struct nt_column_group_records *groups, struct nt_error *error)
{
    /* At most as many columns as numbers that fit into the list. */
    size_t capacity = nt_cursor_left(&list->payload) / sizeof(uint32_t);
    groups->columns = calloc(capacity + 1, sizeof(uint32_t));
    groups->ends = calloc(list->items + 1u, sizeof(uint32_t));
    NT_TRY(nt_check_memory(groups->columns && groups->ends, error));
    for (uint32_t i = 0; i < list->items; i++)
        NT_TRY(read_column_group(envelope, &list->payload, groups, error));
    return NT_OK;
}

/* ---- Lists ---- */

#define LIST(array, counter) offsetof(struct nt_footer, array), offsetof(struct nt_footer, counter)
#define LINKS                                                                                                \
    {                                                                                                        \
        "list of envelope links", 8, sizeof(struct nt_envelope_link), read_link, true                        \
    }

static const struct {
    size_t items, count; /* offsets of the members of a footer */
    struct nt_record_kind kind;
} lists[NT_FOOTER_LIST_COUNT] = {
    [NT_FOOTER_EXTENSION_HEADERS] = {LIST(extension_headers, extension_header_count), LINKS},
    [NT_FOOTER_COLUMN_GROUPS] = {.kind = {.name = "column group", .bytes = 8}}, /* has lists of its own */
    [NT_FOOTER_CLUSTER_SUMMARIES] = {LIST(summaries, summary_count),
                                     {"cluster summary", 16, sizeof(struct nt_cluster_summary),
                                      read_cluster_summary, false}},
    [NT_FOOTER_CLUSTER_GROUPS] = {LIST(groups, group_count),
                                  {"cluster group", 12, sizeof(struct nt_cluster_group_record),
                                   read_cluster_group, false}},
    [NT_FOOTER_USER_METADATA] = {LIST(user_metadata, user_metadata_count), LINKS},
    [NT_FOOTER_ATTRIBUTE_SETS] = {LIST(attribute_sets, attribute_set_count),
                                  {"attribute set", 16, sizeof(struct nt_attribute_set_record),
                                   read_attribute_set, false}},
};

enum nt_status nt_cluster_summary_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                       struct nt_cluster_summary *summary_ret, struct nt_error *error)
{
    return nt_record_read(envelope, cursor, &lists[NT_FOOTER_CLUSTER_SUMMARIES].kind, summary_ret, error);
}

static enum nt_status read_list(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                enum nt_footer_list list, struct nt_footer *footer, struct nt_error *error)
{
    const struct nt_record_kind *kind = &lists[list].kind;
    struct nt_frame frame;
    NT_TRY(nt_list_frame(envelope, cursor, nt_footer_list_name(list),
                         nt_record_bytes(envelope->generation, kind), &frame, error));
    if (list == NT_FOOTER_COLUMN_GROUPS)
        return read_column_groups(envelope, &frame, &footer->column_groups, error);
    void *records = calloc(frame.items + 1u, kind->size);
    NT_TRY(nt_check_memory(records, error));
    memcpy((char *)footer + lists[list].items, &records, sizeof(records));
    memcpy((char *)footer + lists[list].count, &frame.items, sizeof(frame.items));
    return nt_records_read(envelope, &frame, kind, records, error);
}

/* Reads the lists in the generation's order. Those after the cluster groups may be missing; then the
 * rest is unknown bytes. */
static enum nt_status read_lists(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                 struct nt_footer *footer, struct nt_error *error)
{
    const enum nt_footer_list *order = envelope->generation->footer_lists;
    bool has_groups = false;
    for (unsigned i = 0; i < NT_MAX_FOOTER_LISTS && order[i] != NT_FOOTER_END; i++) {
        if (has_groups && !nt_list_frame_follows(envelope, cursor))
            break;
        NT_TRY(read_list(envelope, cursor, order[i], footer, error));
        has_groups |= order[i] == NT_FOOTER_CLUSTER_GROUPS;
    }
    return NT_OK;
}

enum nt_status nt_footer_read(const struct nt_envelope *envelope, struct nt_footer *footer_ret,
                              struct nt_schema *schema, struct nt_error *error)
{
    NT_CLEANUP(nt_footer_deinit) struct nt_footer footer = {0};
    struct nt_cursor cursor = envelope->payload;
    NT_TRY(nt_feature_flags_read(envelope, &cursor, &footer.flags, error));
    footer.header_checksum = nt_checksum_info(envelope->generation->framing->checksum)->bytes == 4
                                 ? nt_get_le32(&cursor)
                                 : nt_get_le64(&cursor);
    nt_cursor_label(&cursor, "footer", "header checksum");
    NT_TRY(nt_envelope_check(envelope, &cursor, "header checksum", error));
    if (envelope->generation->has_schema_extension)
        NT_TRY(nt_schema_read_extension(envelope, &cursor, schema, error));
    NT_TRY(read_lists(envelope, &cursor, &footer, error));
    footer.unknown_bytes = nt_cursor_left(&cursor);
    *footer_ret = footer;
    footer = (struct nt_footer){0};
    return NT_OK;
}

enum nt_status nt_header_checksum_check(const struct nt_envelope *envelope, uint64_t expected, uint64_t found,
                                        struct nt_error *error)
{
    if (expected == found)
        return NT_OK;
    char expected_text[24], found_text[24], what[96];
    snprintf(expected_text, sizeof(expected_text), "%016" PRIx64, expected);
    snprintf(found_text, sizeof(found_text), "%016" PRIx64, found);
    snprintf(what, sizeof(what), "%s at offset %" PRIu64 ": checksum of its header",
             nt_envelope_name(envelope->kind), envelope->offset);
    return nt_fail_mismatch(error, NT_CORRUPT, envelope->offset, what, expected_text, found_text);
}

/* ---- Build groups and clusters ---- */

enum { MIN_CLUSTER_BYTES = 8 };

static enum nt_status build_column_groups(struct nt_dataset *dataset,
                                          const struct nt_column_group_records *records,
                                          struct nt_error *error)
{
    uint32_t *columns = nt_arena_alloc(dataset->arena, records->column_count + 1u, sizeof(*columns));
    dataset->column_groups =
        nt_arena_alloc(dataset->arena, records->count + 1u, sizeof(*dataset->column_groups));
    NT_TRY(nt_check_memory(columns && dataset->column_groups, error));
    for (uint32_t i = 0; i < records->column_count; i++) {
        if (records->columns[i] >= dataset->column_count)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "footer: a column group names column %u, but there are only %u",
                           records->columns[i], dataset->column_count);
        columns[i] = records->columns[i];
    }
    dataset->column_group_count = records->count;
    dataset->has_sharded_clusters = records->count > 0;
    for (uint32_t i = 0, first = 0; i < records->count; first = records->ends[i++]) {
        dataset->column_groups[i] = (struct nt_column_group){columns + first, records->ends[i] - first};
        for (uint32_t k = first + 1; k < records->ends[i]; k++)
            if (columns[k] <= columns[k - 1])
                return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                               "footer: column group %u is not in ascending order", i);
    }
    return NT_OK;
}

/* Bounds clusters by the length of page lists, because the footer's counts are not yet proven and
 * groups may share a page list. */
static enum nt_status count_clusters(const struct nt_footer *footer, uint64_t *count_ret,
                                     struct nt_error *error)
{
    *count_ret = 0;
    for (uint32_t i = 0; i < footer->group_count; i++) {
        const struct nt_cluster_group_record *group = &footer->groups[i];
        if (group->clusters > group->page_list.length / MIN_CLUSTER_BYTES)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "footer: cluster group %u has %u clusters in a page list of %" PRIu64 " bytes", i,
                           group->clusters, group->page_list.length);
        *count_ret += group->clusters;
    }
    return NT_OK;
}

static enum nt_status build_groups(struct nt_dataset *dataset, const struct nt_footer *footer,
                                   struct nt_error *error)
{
    uint64_t clusters;
    NT_TRY(count_clusters(footer, &clusters, error));
    NT_TRY(nt_with_context(nt_dataset_add_groups(dataset, footer->group_count, clusters, error), error,
                           "footer"));
    for (uint32_t i = 0, first = 0; i < footer->group_count; i++) {
        const struct nt_cluster_group_record *group = &footer->groups[i];
        dataset->groups.records[i] = (struct nt_group_record){.first_entry = group->first_entry,
                                                              .entries = group->entries,
                                                              .first_cluster = first,
                                                              .clusters = group->clusters,
                                                              .metadata_bytes = group->page_list.length};
        first += group->clusters;
    }
    return NT_OK;
}

/* Drafts have the summaries of all groups in the footer, in order. */
static enum nt_status build_clusters(struct nt_dataset *dataset, const struct nt_footer *footer,
                                     struct nt_error *error)
{
    if (footer->summary_count != dataset->cluster_count)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET,
                              "footer: cluster summaries for the cluster groups", dataset->cluster_count,
                              footer->summary_count);
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        struct nt_group_record *group = &dataset->groups.records[i];
        uint64_t first = UINT64_MAX, end = 0;
        for (uint32_t k = group->first_cluster; k < group->first_cluster + group->clusters; k++) {
            const struct nt_cluster_summary *summary = &footer->summaries[k];
            uint64_t cluster_end;
            if (!nt_checked_add(summary->first_entry, summary->entries, &cluster_end))
                return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "footer: cluster %u ends beyond 2^64 entries",
                               k);
            dataset->clusters[k] =
                (struct nt_cluster){summary->first_entry, summary->entries, i, summary->column_group};
            first = nt_min(first, summary->first_entry);
            end = cluster_end > end ? cluster_end : end;
        }
        group->first_entry = group->clusters ? first : 0;
        group->entries = group->clusters ? end - first : 0;
    }
    dataset->clusters_known = true;
    return NT_OK;
}

static enum nt_status count_entries(struct nt_dataset *dataset, struct nt_error *error)
{
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        const struct nt_group_record *group = &dataset->groups.records[i];
        uint64_t end;
        if (!nt_checked_add(group->first_entry, group->entries, &end))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "footer: cluster group %u ends beyond 2^64 entries", i);
        if (end > dataset->entries)
            dataset->entries = end;
    }
    return NT_OK;
}

enum nt_status nt_footer_build(struct nt_dataset *dataset, const struct nt_generation *generation,
                               const struct nt_footer *footer, struct nt_error *error)
{
    if (footer->extension_header_count > 0)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "footer: found %u extension headers, but the known drafts have none",
                       footer->extension_header_count);
    NT_TRY(build_column_groups(dataset, &footer->column_groups, error));
    NT_TRY(build_groups(dataset, footer, error));
    if (!generation->has_summaries_in_page_list)
        NT_TRY(build_clusters(dataset, footer, error));
    return count_entries(dataset, error);
}
