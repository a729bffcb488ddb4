/* SPDX-License-Identifier: MIT
 *
 * In: a footer's records. Out: footer.json, every item as it is stored.
 */
#include "formats/rntuple/shown.h"
#include "formats/rntuple/footer.h"

static void link_json(struct nt_json *json, const struct nt_envelope_link *link)
{
    nt_json_object(json);
    nt_envelope_link_describe(json, link);
    nt_json_end_object(json);
}

static void extension_headers_json(struct nt_json *json, const struct nt_footer *footer)
{
    for (uint32_t i = 0; i < footer->extension_header_count; i++)
        link_json(json, &footer->extension_headers[i]);
}

static void user_metadata_json(struct nt_json *json, const struct nt_footer *footer)
{
    for (uint32_t i = 0; i < footer->user_metadata_count; i++)
        link_json(json, &footer->user_metadata[i]);
}

static void column_groups_json(struct nt_json *json, const struct nt_footer *footer)
{
    const struct nt_column_group_records *groups = &footer->column_groups;
    for (uint32_t i = 0, k = 0; i < groups->count; i++) {
        nt_json_array(json);
        for (; k < groups->ends[i]; k++)
            nt_json_unsigned(json, groups->columns[k]);
        nt_json_end_array(json);
    }
}

static void cluster_summaries_json(struct nt_json *json, const struct nt_footer *footer)
{
    for (uint32_t i = 0; i < footer->summary_count; i++)
        nt_cluster_summary_json(json, &footer->summaries[i]);
}

static void cluster_groups_json(struct nt_json *json, const struct nt_footer *footer)
{
    for (uint32_t i = 0; i < footer->group_count; i++) {
        const struct nt_cluster_group_record *group = &footer->groups[i];
        nt_json_object(json);
        nt_json_member_unsigned(json, "minimum_entry", group->first_entry);
        nt_json_member_unsigned(json, "entry_span", group->entries);
        nt_json_member_unsigned(json, "clusters", group->clusters);
        nt_json_key(json, "page_list");
        link_json(json, &group->page_list);
        nt_unknown_bytes_json(json, group->unknown_bytes);
        nt_json_end_object(json);
    }
}

static void attribute_sets_json(struct nt_json *json, const struct nt_footer *footer)
{
    for (uint32_t i = 0; i < footer->attribute_set_count; i++) {
        const struct nt_attribute_set_record *set = &footer->attribute_sets[i];
        nt_json_object(json);
        nt_json_member_text(json, "name", set->name);
        nt_json_member_unsigned(json, "schema_version_major", set->major);
        nt_json_member_unsigned(json, "schema_version_minor", set->minor);
        nt_json_key(json, "anchor");
        nt_json_object(json);
        nt_json_member_unsigned(json, "decoded_bytes", set->anchor_length);
        nt_locator_describe(json, &set->anchor);
        nt_json_end_object(json);
        nt_unknown_bytes_json(json, set->unknown_bytes);
        nt_json_end_object(json);
    }
}

typedef void list_json(struct nt_json *json, const struct nt_footer *footer);

static list_json *const lists[NT_FOOTER_LIST_COUNT] = {
    [NT_FOOTER_EXTENSION_HEADERS] = extension_headers_json, [NT_FOOTER_COLUMN_GROUPS] = column_groups_json,
    [NT_FOOTER_CLUSTER_SUMMARIES] = cluster_summaries_json, [NT_FOOTER_CLUSTER_GROUPS] = cluster_groups_json,
    [NT_FOOTER_USER_METADATA] = user_metadata_json,         [NT_FOOTER_ATTRIBUTE_SETS] = attribute_sets_json,
};

static void footer_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                        const struct nt_footer *footer, const struct nt_schema *extension,
                        struct nt_buffer *out)
{
    struct nt_json json;
    nt_json_document(&json, out, "footer");
    nt_json_member_unsigned(&json, "decoded_bytes", envelope->length);
    nt_json_member_hex64(&json, "checksum", envelope->checksum);
    nt_feature_flags_json(&json, envelope->generation, &footer->flags);
    nt_json_member_hex64(&json, "header_checksum", footer->header_checksum);
    if (envelope->generation->has_schema_extension) {
        nt_json_key(&json, "schema_extension");
        nt_json_object(&json);
        nt_schema_json(&json, dataset, extension, dataset->field_count - extension->field_count,
                       dataset->column_count - extension->column_count);
        nt_json_end_object(&json);
    }
    const enum nt_footer_list *order = envelope->generation->footer_lists;
    for (unsigned i = 0; i < NT_MAX_FOOTER_LISTS && order[i] != NT_FOOTER_END; i++) {
        nt_json_key(&json, nt_footer_list_name(order[i]));
        nt_json_array(&json);
        lists[order[i]](&json, footer);
        nt_json_end_array(&json);
    }
    nt_unknown_bytes_json(&json, footer->unknown_bytes);
    nt_json_finish(&json);
}

enum nt_status nt_footer_json(const struct nt_dataset *dataset, struct nt_buffer *out, struct nt_error *error)
{
    struct nt_envelope envelope;
    struct nt_schema extension = {0};
    struct nt_footer footer;
    enum nt_status status = nt_rntuple_load_envelope(dataset, NT_ENVELOPE_FOOTER, 0, &envelope, error);
    if (status != NT_OK)
        return status;
    status = nt_footer_read(&envelope, &footer, &extension, error);
    if (status == NT_OK) {
        footer_json(dataset, &envelope, &footer, &extension, out);
        nt_footer_deinit(&footer);
    }
    nt_schema_deinit(&extension);
    nt_envelope_deinit(&envelope);
    return status;
}
