/* SPDX-License-Identifier: MIT
 *
 * What only this format can tell about a data set and its pages: members of ntuple.json and pages.jsonl.
 */
#include "formats/rntuple/shown.h"

#include "core/base/search.h"
#include "formats/rntuple/page_builder.h"

static void describe_place(struct nt_json *json, const char *key, const struct nt_anchor_link *place,
                           const struct nt_source *objects)
{
    nt_json_key(json, key);
    nt_json_object(json);
    if (objects)
        nt_json_member_unsigned(json, "object", place->offset / NT_OBJECT_ROOM);
    nt_json_member_unsigned(json, "file_offset",
                            objects ? nt_source_place(objects, place->offset) : place->offset);
    nt_json_member_unsigned(json, "stored_bytes", place->stored_bytes);
    nt_json_member_unsigned(json, "decoded_bytes", place->length);
    nt_json_end_object(json);
}

static void describe_anchor(struct nt_json *json, const struct nt_rntuple *rntuple)
{
    const struct nt_anchor *anchor = &rntuple->anchor;
    nt_json_key(json, "anchor");
    nt_json_object(json);
    nt_json_member_string(json, "class", anchor->class_name);
    nt_json_member_unsigned(json, "class_version", anchor->class_version);
    nt_json_member_unsigned(json, "file_offset", anchor->offset);
    nt_json_member_unsigned(json, "stored_bytes", anchor->stored_bytes);
    nt_json_member_unsigned(json, "decoded_bytes", anchor->length);
    nt_json_member_unsigned(json, "maximum_key_bytes", anchor->maximum_key_bytes);
    if (anchor->layout == NT_ANCHOR_58_BYTES)
        nt_json_member_null(json, "checksum");
    else
        nt_json_member_hex64(json, "checksum", anchor->checksum);
    describe_place(json, "header", &anchor->header, rntuple->objects);
    describe_place(json, "footer", &anchor->footer, rntuple->objects);
    nt_json_end_object(json);
}

enum nt_status nt_rntuple_describe(const struct nt_dataset *dataset, struct nt_json *json)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    describe_anchor(json, rntuple);
    nt_json_member_string(json, "envelope_framing", rntuple->generation->framing->name);
    nt_json_member_hex64(json, "header_checksum", rntuple->header_checksum);
    if (dataset->attribute_of != NT_NONE) {
        nt_json_member_unsigned(json, "schema_version_major", rntuple->schema_major);
        nt_json_member_unsigned(json, "schema_version_minor", rntuple->schema_minor);
    }
    nt_json_member_unsigned(json, "page_list_envelopes", rntuple->page_list_count);
    nt_json_member_unsigned(json, "user_metadata_envelopes", rntuple->user_metadata_count);
    return NT_OK;
}

NT_DEFINE_LAST_AT_MOST(find_elsewhere, struct nt_elsewhere, .page)

const char *nt_rntuple_page_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page)
{
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        const struct nt_group *group = &dataset->groups[i];
        if (!nt_group_is_loaded(group) || page < group->pages || page >= group->pages + group->page_count)
            continue;
        const struct nt_elsewhere_list *list = nt_group_more(dataset, group).format_data;
        uint32_t found = find_elsewhere(list->items, list->count, (uint64_t)(page - group->pages));
        return list->items[found].locator;
    }
    return "?";
}

enum nt_status nt_rntuple_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                        const struct nt_page *page, struct nt_json *json)
{
    (void)column;
    if (page->compression == NT_COMPRESSION_ELSEWHERE)
        nt_json_member_string(json, "locator", nt_rntuple_page_elsewhere(dataset, page));
    return NT_OK;
}
