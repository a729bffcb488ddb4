/* SPDX-License-Identifier: MIT
 *
 * Information that only RNTuple has, for the documents of all formats: members of ntuple.json,
 * field.json, column.json and pages.jsonl, and the byte ranges of anchors and envelopes in the file's
 * layout.
 */
#include "formats/rntuple/rntuple.h"

#include <stdlib.h>

#include "container/container.h"
#include "core/base/built_in.h"
#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/codec/codec.h"
#include "core/io/objects.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "formats/ttree/ttree.h"

/* ---- Datasets and pages ---- */

static void describe_range(struct nt_json *json, const char *key, const struct nt_anchor_link *range,
                           const struct nt_source *objects)
{
    nt_json_member_object(json, key);
    if (objects)
        nt_json_member_unsigned(json, "object", range->offset / NT_OBJECT_SPACE);
    nt_json_member_unsigned(json, "file_offset",
                            objects ? nt_source_local_offset(objects, range->offset) : range->offset);
    nt_json_member_unsigned(json, "stored_bytes", range->stored_bytes);
    nt_json_member_unsigned(json, "decoded_bytes", range->length);
    nt_json_end_object(json);
}

static void describe_anchor(struct nt_json *json, const struct nt_rntuple *rntuple)
{
    const struct nt_anchor *anchor = &rntuple->anchor;
    nt_json_member_object(json, "anchor");
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
    describe_range(json, "header", &anchor->header, rntuple->objects);
    describe_range(json, "footer", &anchor->footer, rntuple->objects);
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

NT_DEFINE_LAST_AT_MOST(find_elsewhere, struct nt_external_page, .page)

const char *nt_rntuple_page_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page)
{
    const struct nt_group *group = nt_page_group(dataset, NT_NONE, page);
    if (!group)
        return "?";
    const struct nt_external_pages *list = group->format_data;
    uint32_t found = find_elsewhere(list->items, list->count, (uint64_t)(page - group->pages));
    return list->items[found].locator;
}

enum nt_status nt_rntuple_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                        const struct nt_page *page, struct nt_json *json)
{
    if (page->compression == NT_COMPRESSION_ELSEWHERE)
        nt_json_member_string(json, "locator", nt_rntuple_page_elsewhere(dataset, page));
    return NT_OK;
}

/* ---- Fields and columns ---- */

struct nt_field_details {
    uint32_t field_version, type_version;
    uint32_t type_checksum;
    uint16_t flags;
    bool has_type_checksum;
    bool may_be_structure_of_arrays; /* collections, if the generation has the flag */
    struct nt_text alias;
};

struct nt_column_details {
    uint16_t type_number;
    uint32_t flags;
};

static bool keep_field(struct nt_arena *arena, const struct nt_generation *generation,
                       const struct nt_field_record *record, struct nt_field_details *details)
{
    *details = (struct nt_field_details){
        .field_version = record->field_version,
        .type_version = record->type_version,
        .type_checksum = record->type_checksum,
        .flags = record->flags,
        .has_type_checksum = record->flags & generation->field_flags & NT_FIELD_HAS_TYPE_CHECKSUM,
        .may_be_structure_of_arrays =
            record->role == NT_ROLE_COLLECTION && generation->field_flags & NT_FIELD_IS_STRUCTURE_OF_ARRAYS,
    };
    return nt_text_copy(arena, record->alias, &details->alias);
}

enum nt_status nt_rntuple_keep_details(struct nt_dataset *dataset, struct nt_rntuple *rntuple,
                                       const struct nt_schema *schema, struct nt_error *error)
{
    struct nt_field_details *fields =
        nt_arena_alloc(dataset->arena, schema->field_count + 1u, sizeof(*fields));
    struct nt_column_details *columns =
        nt_arena_alloc(dataset->arena, schema->column_count + 1u, sizeof(*columns));
    if (!fields || !columns)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (!keep_field(dataset->arena, rntuple->generation, &schema->fields[i], &fields[i]))
            return nt_fail_memory(error);
    for (uint32_t i = 0; i < schema->column_count; i++)
        columns[i] = (struct nt_column_details){schema->columns[i].type_number, schema->columns[i].flags};
    rntuple->fields = fields;
    rntuple->columns = columns;
    return NT_OK;
}

void nt_rntuple_describe_field(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json)
{
    const struct nt_field_details *details = &nt_rntuple_of(dataset)->fields[field];
    nt_json_member_text(json, "type_alias", details->alias);
    nt_json_member_unsigned(json, "flags", details->flags);
    if (details->may_be_structure_of_arrays)
        nt_json_member_bool(json, "is_structure_of_arrays", details->flags & NT_FIELD_IS_STRUCTURE_OF_ARRAYS);
    nt_json_member_unsigned(json, "field_version", details->field_version);
    nt_json_member_unsigned(json, "type_version", details->type_version);
    if (details->has_type_checksum)
        nt_json_member_hex32(json, "type_checksum", details->type_checksum);
}

void nt_rntuple_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json)
{
    const struct nt_column_details *details = &nt_rntuple_of(dataset)->columns[column];
    nt_json_member_unsigned(json, "type_number", details->type_number);
    nt_json_member_unsigned(json, "flags", details->flags);
}

/* ---- Layout of anchors and envelopes ---- */

struct emitter {
    const struct nt_dataset *dataset;
    struct nt_error *error;
    struct nt_layout_output output;
};

/* Emits all keys of an envelope. Omits an envelope whose parts cannot be found, because damaged files
 * have a layout, too. */
static enum nt_status emit_envelope(const struct emitter *emitter, enum nt_envelope_kind kind,
                                    uint64_t offset, uint64_t bytes)
{
    struct nt_extent *extents;
    size_t count;
    enum nt_status status = nt_payload_extents(nt_rntuple_of(emitter->dataset)->payload, offset, bytes,
                                               &extents, &count, emitter->error);
    if (status != NT_OK)
        return nt_is_environmental(status) ? status : NT_OK;
    for (size_t i = 0; i < count && status == NT_OK; i++)
        status = nt_layout_put(&emitter->output, extents[i].offset, extents[i].bytes, nt_envelope_name(kind));
    free(extents);
    return status;
}

static enum nt_status emit_links(const struct emitter *emitter, enum nt_envelope_kind kind,
                                 const struct nt_envelope_link *links, uint32_t count)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < count && status == NT_OK; i++)
        if (nt_locator_is_local(&links[i].locator))
            status = emit_envelope(emitter, kind, links[i].locator.offset, links[i].locator.bytes);
    return status;
}

static enum nt_status emit_dataset(const struct emitter *emitter)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(emitter->dataset);
    const struct nt_anchor *anchor = &rntuple->anchor;
    struct nt_layout_output of_file = emitter->output;
    of_file.source = rntuple->objects ? emitter->dataset->file->layout_source_count - 1 : 0;
    enum nt_status status = nt_layout_put(&of_file, anchor->offset, anchor->stored_bytes, "anchor");
    if (status == NT_OK)
        status =
            emit_envelope(emitter, NT_ENVELOPE_HEADER, anchor->header.offset, anchor->header.stored_bytes);
    if (status == NT_OK)
        status =
            emit_envelope(emitter, NT_ENVELOPE_FOOTER, anchor->footer.offset, anchor->footer.stored_bytes);
    if (status == NT_OK)
        status = emit_links(emitter, NT_ENVELOPE_PAGE_LIST, rntuple->page_lists, rntuple->page_list_count);
    if (status == NT_OK)
        status = emit_links(emitter, NT_ENVELOPE_USER_METADATA, rntuple->user_metadata,
                            rntuple->user_metadata_count);
    return status;
}

static enum nt_status lay_out_container(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                        struct nt_error *error)
{
    const struct nt_container_kind *kind = nt_container_of(file)->kind;
#if NT_HAS_TTREE
    if (kind == &nt_container_tfile)
        return nt_ttree_layout(file, emit, context, error);
#endif
    return kind->layout ? kind->layout(file, emit, context, error) : NT_OK;
}

enum nt_status nt_rntuple_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                 struct nt_error *error)
{
    enum nt_status status = lay_out_container(file, emit, context, error);
    for (uint32_t i = 0; i < nt_rntuple_count(file) && status == NT_OK; i++) {
        struct emitter emitter = {.dataset = file->datasets[i],
                                  .error = error,
                                  .output = {emit, context, file->datasets[i]->index, 0}};
        if (nt_rntuple_of(file->datasets[i]))
            status = emit_dataset(&emitter);
    }
    return status;
}
