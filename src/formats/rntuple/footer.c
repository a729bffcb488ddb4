/* SPDX-License-Identifier: MIT
 *
 * In: a verified footer envelope. Out: struct nt_footer. Specification, "Footer Envelope"; which lists there
 * are and in which order is the generation's.
 */
#include "formats/rntuple/footer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

/* ---- records ---- */

static enum nt_status read_links(const struct nt_envelope *envelope, struct nt_frame *list,
                                 struct nt_envelope_link **links_ret, uint32_t *count_ret,
                                 struct nt_error *error)
{
    *links_ret = calloc(list->items + 1u, sizeof(**links_ret));
    if (!*links_ret)
        return nt_fail_memory(error);
    *count_ret = list->items;
    for (uint32_t i = 0; i < list->items; i++)
        (*links_ret)[i] = nt_envelope_link_read(&list->payload, envelope->generation);
    return nt_envelope_check(envelope, &list->payload, "list of envelope links", error);
}

static enum nt_status read_extension_headers(const struct nt_envelope *envelope, struct nt_frame *list,
                                             struct nt_footer *footer, struct nt_error *error)
{
    return read_links(envelope, list, &footer->extension_headers, &footer->extension_header_count, error);
}

static enum nt_status read_user_metadata(const struct nt_envelope *envelope, struct nt_frame *list,
                                         struct nt_footer *footer, struct nt_error *error)
{
    return read_links(envelope, list, &footer->user_metadata, &footer->user_metadata_count, error);
}

/* A record that holds a list of 32-bit column ids. */
static enum nt_status read_column_group(const struct nt_envelope *envelope, struct nt_cursor *list,
                                        struct nt_column_group_records *groups, struct nt_error *error)
{
    struct nt_frame record, columns;
    enum nt_status status = nt_record_frame(envelope, list, "column group", &record, error);
    if (status == NT_OK)
        status = nt_list_frame(envelope, &record.payload, "list of columns of a group", sizeof(uint32_t),
                               &columns, error);
    for (uint32_t i = 0; status == NT_OK && i < columns.items; i++) {
        groups->columns[groups->column_count++] = nt_get_le32(&columns.payload);
        nt_tell(&columns.payload, "column group", "column id");
    }
    groups->ends[groups->count++] = groups->column_count;
    return status;
}

static enum nt_status read_column_groups(const struct nt_envelope *envelope, struct nt_frame *list,
                                         struct nt_footer *footer, struct nt_error *error)
{
    /* As many columns at most as numbers fit into the list. */
    size_t capacity = nt_cursor_left(&list->payload) / sizeof(uint32_t);
    footer->column_groups.columns = calloc(capacity + 1, sizeof(uint32_t));
    footer->column_groups.ends = calloc(list->items + 1u, sizeof(uint32_t));
    if (!footer->column_groups.columns || !footer->column_groups.ends)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < list->items; i++) {
        enum nt_status status = read_column_group(envelope, &list->payload, &footer->column_groups, error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

enum nt_status nt_cluster_summary_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                       struct nt_cluster_summary *summary_ret, struct nt_error *error)
{
    const struct nt_generation *generation = envelope->generation;
    struct nt_frame record;
    enum nt_status status = nt_record_frame(envelope, cursor, "cluster summary", &record, error);
    if (status != NT_OK)
        return status;
    struct nt_cluster_summary summary = {.column_group = NT_NONE};
    summary.first_entry = nt_get_le64(&record.payload);
    nt_tell(&record.payload, "cluster summary", "first entry");
    uint64_t word = nt_get_le64(&record.payload);
    nt_tell(&record.payload, "cluster summary", "entries and flags");
    uint32_t entry_bits = 64 - generation->framing->cluster_flag_bits;
    summary.entries = word & ((UINT64_C(1) << entry_bits) - 1);
    summary.flags = (uint8_t)(word >> entry_bits);
    if (summary.flags & CLUSTER_IS_SHARDED) {
        if (!generation->has_sharded_clusters)
            return nt_envelope_fail(
                envelope, &record.payload, NT_UNSUPPORTED, error,
                "a sharded cluster, which this version of the format reserves for the future");
        summary.column_group = nt_get_le32(&record.payload);
        nt_tell(&record.payload, "cluster summary", "column group id");
    }
    summary.unknown_bytes = nt_cursor_left(&record.payload);
    *summary_ret = summary;
    return nt_envelope_check(envelope, &record.payload, "cluster summary", error);
}

static enum nt_status read_cluster_summaries(const struct nt_envelope *envelope, struct nt_frame *list,
                                             struct nt_footer *footer, struct nt_error *error)
{
    footer->summaries = calloc(list->items + 1u, sizeof(*footer->summaries));
    if (!footer->summaries)
        return nt_fail_memory(error);
    footer->summary_count = list->items;
    for (uint32_t i = 0; i < list->items; i++) {
        enum nt_status status =
            nt_cluster_summary_read(envelope, &list->payload, &footer->summaries[i], error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

static enum nt_status read_cluster_group(const struct nt_envelope *envelope, struct nt_cursor *list,
                                         struct nt_cluster_group_record *group, struct nt_error *error)
{
    struct nt_frame record;
    enum nt_status status = nt_record_frame(envelope, list, "cluster group", &record, error);
    if (status != NT_OK)
        return status;
    if (envelope->generation->has_entry_range_in_cluster_group) {
        group->first_entry = nt_get_le64(&record.payload);
        nt_tell(&record.payload, "cluster group", "first entry");
        group->entries = nt_get_le64(&record.payload);
        nt_tell(&record.payload, "cluster group", "entries");
    }
    group->clusters = nt_get_le32(&record.payload);
    nt_tell(&record.payload, "cluster group", "clusters");
    group->page_list = nt_envelope_link_read(&record.payload, envelope->generation);
    group->unknown_bytes = nt_cursor_left(&record.payload);
    return nt_envelope_check(envelope, &record.payload, "cluster group", error);
}

static enum nt_status read_cluster_groups(const struct nt_envelope *envelope, struct nt_frame *list,
                                          struct nt_footer *footer, struct nt_error *error)
{
    footer->groups = calloc(list->items + 1u, sizeof(*footer->groups));
    if (!footer->groups)
        return nt_fail_memory(error);
    footer->group_count = list->items;
    for (uint32_t i = 0; i < list->items; i++) {
        enum nt_status status = read_cluster_group(envelope, &list->payload, &footer->groups[i], error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

static enum nt_status read_attribute_set(const struct nt_envelope *envelope, struct nt_cursor *list,
                                         struct nt_attribute_set_record *set, struct nt_error *error)
{
    struct nt_frame record;
    enum nt_status status = nt_record_frame(envelope, list, "attribute set", &record, error);
    if (status != NT_OK)
        return status;
    set->major = nt_get_le16(&record.payload);
    nt_tell(&record.payload, "attribute set", "major");
    set->minor = nt_get_le16(&record.payload);
    nt_tell(&record.payload, "attribute set", "minor");
    set->anchor_length = nt_get_le32(&record.payload);
    nt_tell(&record.payload, "attribute set", "anchor length");
    set->anchor = nt_locator_read(&record.payload, envelope->generation);
    set->name = nt_get_text(&record.payload);
    nt_tell(&record.payload, "attribute set", "name");
    set->unknown_bytes = nt_cursor_left(&record.payload);
    return nt_envelope_check(envelope, &record.payload, "attribute set", error);
}

static enum nt_status read_attribute_sets(const struct nt_envelope *envelope, struct nt_frame *list,
                                          struct nt_footer *footer, struct nt_error *error)
{
    footer->attribute_sets = calloc(list->items + 1u, sizeof(*footer->attribute_sets));
    if (!footer->attribute_sets)
        return nt_fail_memory(error);
    footer->attribute_set_count = list->items;
    for (uint32_t i = 0; i < list->items; i++) {
        enum nt_status status =
            read_attribute_set(envelope, &list->payload, &footer->attribute_sets[i], error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

/* ---- lists ---- */

struct list {
    uint32_t item_bytes; /* least bytes of an item, a record's frame not counted */
    bool has_records;
    enum nt_status (*read)(const struct nt_envelope *envelope, struct nt_frame *list,
                           struct nt_footer *footer, struct nt_error *error);
};

static const struct list lists[NT_FOOTER_LIST_COUNT] = {
    [NT_FOOTER_EXTENSION_HEADERS] = {8, false, read_extension_headers},
    [NT_FOOTER_COLUMN_GROUPS] = {8, true, read_column_groups},
    [NT_FOOTER_CLUSTER_SUMMARIES] = {16, true, read_cluster_summaries},
    [NT_FOOTER_CLUSTER_GROUPS] = {12, true, read_cluster_groups},
    [NT_FOOTER_USER_METADATA] = {8, false, read_user_metadata},
    [NT_FOOTER_ATTRIBUTE_SETS] = {16, true, read_attribute_sets},
};

/* The lists in the generation's order. The last ones may be missing, but not the cluster groups; what stands
 * in their place then is unknown bytes. */
static enum nt_status read_lists(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                 struct nt_footer *footer, struct nt_error *error)
{
    const enum nt_footer_list *order = envelope->generation->footer_lists;
    bool has_groups = false;
    for (unsigned i = 0; i < NT_MAX_FOOTER_LISTS && order[i] != NT_FOOTER_END; i++) {
        if (has_groups && !nt_list_frame_follows(envelope, cursor))
            break;
        const struct list *row = &lists[order[i]];
        uint32_t least =
            row->item_bytes + (row->has_records ? nt_record_frame_bytes(envelope->generation) : 0);
        struct nt_frame list;
        enum nt_status status =
            nt_list_frame(envelope, cursor, nt_footer_list_name(order[i]), least, &list, error);
        if (status == NT_OK)
            status = row->read(envelope, &list, footer, error);
        if (status != NT_OK)
            return status;
        has_groups = has_groups || order[i] == NT_FOOTER_CLUSTER_GROUPS;
    }
    return NT_OK;
}

enum nt_status nt_footer_read(const struct nt_envelope *envelope, struct nt_footer *footer_ret,
                              struct nt_schema *schema, struct nt_error *error)
{
    struct nt_footer footer = {0};
    struct nt_cursor cursor = envelope->payload;
    enum nt_status status = nt_feature_flags_read(envelope, &cursor, &footer.flags, error);
    if (status != NT_OK)
        return status;
    footer.header_checksum = nt_checksum_info(envelope->generation->framing->checksum)->bytes == 4
                                 ? nt_get_le32(&cursor)
                                 : nt_get_le64(&cursor);
    nt_tell(&cursor, "footer", "header checksum");
    status = nt_envelope_check(envelope, &cursor, "header checksum", error);
    if (status == NT_OK && envelope->generation->has_schema_extension)
        status = nt_schema_read_extension(envelope, &cursor, schema, error);
    if (status == NT_OK)
        status = read_lists(envelope, &cursor, &footer, error);
    if (status != NT_OK) {
        nt_footer_deinit(&footer);
        return status;
    }
    footer.unknown_bytes = nt_cursor_left(&cursor);
    *footer_ret = footer;
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
