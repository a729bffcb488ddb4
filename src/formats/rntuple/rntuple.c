/* SPDX-License-Identifier: MIT
 *
 * Opens an RNTuple file: finds its container and opens a dataset for each anchor. Header and footer are
 * read at once, the page list of a cluster group on first use. Describes what only RNTuple has: members
 * of ntuple.json, field.json, column.json and pages.jsonl, and the byte ranges of anchors and envelopes
 * in the file's layout.
 */
#include "formats/rntuple/rntuple.h"

#include <stdio.h>

#include "core/base/built_in.h"
#include "formats/formats.h"
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

static enum nt_status rntuple_describe(const struct nt_dataset *dataset, struct nt_json *json)
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

static const char *locator_of(const struct nt_dataset *dataset, const struct nt_page *page)
{
    const struct nt_group *group = nt_page_group(dataset, NT_NONE, page);
    if (!group)
        return "?";
    const struct nt_external_pages *list = group->format_data;
    uint32_t found = find_elsewhere(list->items, list->count, (uint64_t)(page - group->pages));
    return list->items[found].locator;
}

static enum nt_status rntuple_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                            const struct nt_page *page, struct nt_json *json)
{
    if (page->compression == NT_COMPRESSION_ELSEWHERE)
        nt_json_member_string(json, "locator", locator_of(dataset, page));
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

/* Keeps the details in the dataset's arena, for field.json and column.json. */
static enum nt_status rntuple_keep_details(struct nt_dataset *dataset, struct nt_rntuple *rntuple,
                                           const struct nt_schema *schema, struct nt_error *error)
{
    struct nt_field_details *fields =
        nt_arena_alloc(dataset->arena, schema->field_count + 1u, sizeof(*fields));
    struct nt_column_details *columns =
        nt_arena_alloc(dataset->arena, schema->column_count + 1u, sizeof(*columns));
    NT_TRY(nt_check_memory(fields && columns, error));
    for (uint32_t i = 0; i < schema->field_count; i++)
        NT_TRY(nt_check_memory(
            keep_field(dataset->arena, rntuple->generation, &schema->fields[i], &fields[i]), error));
    for (uint32_t i = 0; i < schema->column_count; i++)
        columns[i] = (struct nt_column_details){schema->columns[i].type_number, schema->columns[i].flags};
    rntuple->fields = fields;
    rntuple->columns = columns;
    return NT_OK;
}

static void rntuple_describe_field(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json)
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

static void rntuple_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json)
{
    const struct nt_column_details *details = &nt_rntuple_of(dataset)->columns[column];
    nt_json_member_unsigned(json, "type_number", details->type_number);
    nt_json_member_unsigned(json, "flags", details->flags);
}

/* ---- Layout of anchors and envelopes ---- */

struct rntuple_layout_emitter {
    const struct nt_dataset *dataset;
    struct nt_error *error;
    struct nt_layout_output output;
};

/* Emits all keys of an envelope. Omits an envelope whose parts cannot be found, because damaged files
 * have a layout, too. */
static enum nt_status emit_envelope(const struct rntuple_layout_emitter *emitter, enum nt_envelope_kind kind,
                                    uint64_t offset, uint64_t bytes)
{
    NT_AUTO_FREE struct nt_extent *extents = NULL;
    size_t count;
    enum nt_status status = nt_payload_extents(nt_rntuple_of(emitter->dataset)->payload, offset, bytes,
                                               &extents, &count, emitter->error);
    if (status != NT_OK)
        return nt_is_environmental(status) ? status : NT_OK;
    for (size_t i = 0; i < count; i++)
        NT_TRY(nt_layout_emit_range(&emitter->output, extents[i].offset, extents[i].bytes,
                                    nt_envelope_name(kind)));
    return NT_OK;
}

static enum nt_status emit_links(const struct rntuple_layout_emitter *emitter, enum nt_envelope_kind kind,
                                 const struct nt_envelope_link *links, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (nt_locator_is_local(&links[i].locator))
            NT_TRY(emit_envelope(emitter, kind, links[i].locator.offset, links[i].locator.bytes));
    return NT_OK;
}

static enum nt_status emit_dataset(const struct rntuple_layout_emitter *emitter)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(emitter->dataset);
    const struct nt_anchor *anchor = &rntuple->anchor;
    struct nt_layout_output of_file = emitter->output;
    of_file.source = rntuple->objects ? emitter->dataset->file->layout_source_count - 1 : 0;
    NT_TRY(nt_layout_emit_range(&of_file, anchor->offset, anchor->stored_bytes, "anchor"));
    NT_TRY(emit_envelope(emitter, NT_ENVELOPE_HEADER, anchor->header.offset, anchor->header.stored_bytes));
    NT_TRY(emit_envelope(emitter, NT_ENVELOPE_FOOTER, anchor->footer.offset, anchor->footer.stored_bytes));
    NT_TRY(emit_links(emitter, NT_ENVELOPE_PAGE_LIST, rntuple->page_lists, rntuple->page_list_count));
    return emit_links(emitter, NT_ENVELOPE_USER_METADATA, rntuple->user_metadata,
                      rntuple->user_metadata_count);
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

static enum nt_status rntuple_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                     struct nt_error *error)
{
    NT_TRY(lay_out_container(file, emit, context, error));
    for (uint32_t i = 0; i < nt_rntuple_count(file); i++) {
        struct rntuple_layout_emitter emitter = {.dataset = file->datasets[i],
                                                 .error = error,
                                                 .output = {emit, context, file->datasets[i]->index, 0}};
        if (nt_rntuple_of(file->datasets[i]))
            NT_TRY(emit_dataset(&emitter));
    }
    return NT_OK;
}

/* ---- Find the container ---- */

static const struct nt_container_kind *const kinds[] = {&nt_container_tfile, &nt_container_bare,
                                                        &nt_container_store};

/* A magic number is a word, so a text file (/etc/passwd) may start with one. */
static enum nt_status is_of_kind(struct nt_source *source, const struct nt_container_kind *kind, bool *is_ret,
                                 struct nt_error *error)
{
    enum { START_BYTES = 4096 };
    char start[START_BYTES];
    size_t length = strlen(kind->magic), count = (size_t)nt_min(source->size, sizeof(start));
    *is_ret = false;
    if (source->size < length)
        return NT_OK;
    enum nt_status status = nt_source_read(source, 0, start, length, error);
    if (status != NT_OK || memcmp(start, kind->magic, length) != 0)
        return status;
    bool is_text = source->size > length && nt_is_text_file(source);
    *is_ret = is_text == (kind->text_mark != NULL);
    if (!is_text || !kind->text_mark)
        return NT_OK;
    status = nt_source_read(source, 0, start, count, error);
    *is_ret = status == NT_OK && memmem(start, count, kind->text_mark, strlen(kind->text_mark));
    return status;
}

static enum nt_status find_kind(struct nt_source *source, const struct nt_container_kind **kind_ret,
                                struct nt_error *error)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        bool is_kind;
        NT_TRY(is_of_kind(source, kinds[i], &is_kind, error));
        if (is_kind) {
            *kind_ret = kinds[i];
            return NT_OK;
        }
    }
    return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "neither a ROOT file nor a bare RNTuple file");
}

static enum nt_status recognize(struct nt_source *source, struct nt_error *error)
{
    const struct nt_container_kind *kind;
    return find_kind(source, &kind, error);
}

enum nt_status nt_container_open(struct nt_file *file, struct nt_container *container, struct nt_error *error)
{
    const struct nt_container_kind *kind = NULL;
    NT_TRY(find_kind(file->source, &kind, error));
    return nt_container_open_kind(file, container, kind, error);
}

/* ---- Envelopes of an open dataset ---- */

enum nt_status nt_rntuple_find(const struct nt_dataset *dataset, struct nt_locator *locator, const char *what,
                               struct nt_error *error)
{
    return nt_rntuple_of(dataset)->objects ? nt_locator_find_object(locator, what, error) : NT_OK;
}

enum nt_status nt_rntuple_load_envelope(const struct nt_dataset *dataset, enum nt_envelope_kind kind,
                                        uint32_t number, struct nt_envelope *envelope_ret,
                                        struct nt_error *error)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    struct nt_budget *budget = &dataset->file->budget;
    if (kind == NT_ENVELOPE_PAGE_LIST)
        return nt_envelope_load(rntuple->payload, budget, rntuple->generation, kind,
                                &rntuple->page_lists[number], envelope_ret, error);
    bool is_header = kind == NT_ENVELOPE_HEADER;
    const struct nt_envelope *kept = is_header ? &rntuple->header : &rntuple->footer;
    if (kept->bytes) {
        *envelope_ret = nt_envelope_borrow(kept);
        return NT_OK;
    }
    const struct nt_anchor_link *range = is_header ? &rntuple->anchor.header : &rntuple->anchor.footer;
    struct nt_envelope_link link = {
        .length = range->length,
        .locator = {.kind = NT_LOCATOR_FILE, .offset = range->offset, .bytes = range->stored_bytes},
    };
    return nt_envelope_load(rntuple->payload, budget, rntuple->generation, kind, &link, envelope_ret, error);
}

/* ---- Open a dataset ---- */

/* The number of documents of stored bytes that need only the anchor's place, or only its links. */
enum { NT_RNTUPLE_ANCHOR_DOCUMENTS = 1, NT_RNTUPLE_LINKED_DOCUMENTS = 3 };

static enum nt_status rntuple_build(struct nt_dataset *dataset, const struct nt_anchor_object *object,
                                    struct nt_error *error);

/* State that exists only while a dataset is being opened. */
struct rntuple_opener {
    struct nt_dataset *dataset;
    struct nt_rntuple *rntuple;
    struct nt_envelope header, footer;
    struct nt_schema schema;
    struct nt_footer footer_records;
    struct nt_error *error;
};

/* ---- Operations ---- */

static enum nt_status load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    bool is_predraft = rntuple->generation->is_predraft;
    NT_CLEANUP(nt_envelope_deinit) struct nt_envelope envelope = {0};
    enum nt_envelope_kind kind = is_predraft ? NT_ENVELOPE_FOOTER : NT_ENVELOPE_PAGE_LIST;
    NT_TRY(nt_rntuple_load_envelope(dataset, kind, group, &envelope, error));
    return is_predraft ? nt_predraft_fill(dataset, &envelope, error)
                       : nt_page_list_build(dataset, group, &envelope, rntuple->header_checksum, error);
}

static bool plan_groups(struct nt_dataset *dataset, struct nt_groups groups, bool with_pages,
                        struct nt_prefetch *prefetch)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    if (with_pages || rntuple->generation->is_predraft)
        return false;
    for (uint32_t i = groups.first; i < groups.end; i++) {
        const struct nt_locator *locator = &rntuple->page_lists[i].locator;
        if (!nt_group_is_loaded(dataset, i) && locator->kind == NT_LOCATOR_FILE)
            nt_prefetch_add_range(prefetch, dataset->sources[0], 0,
                                  (struct nt_extent){locator->offset, locator->bytes});
    }
    return true;
}

static enum nt_status page_extents(const struct nt_dataset *dataset, const struct nt_page *page,
                                   struct nt_extent **extents_ret, size_t *count_ret, struct nt_error *error)
{
    struct nt_source *payload = nt_rntuple_of(dataset)->payload;
    uint64_t bytes = page->stored_bytes + nt_checksum_info(page->checksum)->bytes;
    if (nt_payload_is_whole(payload, page->offset, bytes))
        return NT_OK;
    return nt_payload_extents(payload, page->offset, bytes, extents_ret, count_ret, error);
}

static void close_dataset(struct nt_dataset *dataset)
{
    struct nt_rntuple *rntuple = dataset->format_data;
    nt_envelope_deinit(&rntuple->header);
    nt_envelope_deinit(&rntuple->footer);
    nt_source_close(rntuple->payload);
    nt_source_close(rntuple->objects);
}

static enum nt_status fail_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page,
                                     struct nt_error *error)
{
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "the page is not stored in this file: %s",
                   locator_of(dataset, page));
}

static const struct nt_dataset_ops ops = {
    .load_group = load_group,
    .reloads_groups = true,
    .plan_groups = plan_groups,
    .page_extents = page_extents,
    .pages_stand_alone = true,
    .describe_dataset = rntuple_describe,
    .describe_field = rntuple_describe_field,
    .describe_column = rntuple_describe_column,
    .describe_page = rntuple_describe_page,
    .fail_elsewhere = fail_elsewhere,
    .close = close_dataset,
};

/* ---- Opening ---- */

/* In the layout each object has its place; the file that refers to them follows. */
static enum nt_status open_objects(const struct rntuple_opener *opener, struct nt_rntuple *rntuple)
{
    struct nt_file *file = opener->dataset->file;
    const struct nt_container_kind *kind = nt_container_of(file)->kind;
    if (!kind->open_objects)
        return NT_OK;
    file->layout_sources = nt_arena_alloc(file->arena, 2, sizeof(struct nt_source *));
    NT_TRY(nt_check_memory(file->layout_sources, opener->error));
    enum nt_status status = kind->open_objects(file, &rntuple->objects, opener->error);
    if (status != NT_OK) {
        file->layout_sources = NULL;
        return status;
    }
    file->layout_sources[0] = rntuple->objects;
    file->layout_sources[1] = file->source;
    file->layout_source_count = 2;
    return NT_OK;
}

/* Documents show stored bytes even if they are damaged, so set up what is known before any failure. */
static enum nt_status open_anchor(struct rntuple_opener *opener, const struct nt_anchor_object *object)
{
    struct nt_dataset *dataset = opener->dataset;
    struct nt_rntuple *rntuple = nt_arena_alloc(dataset->arena, 1, sizeof(*rntuple));
    dataset->sources = nt_arena_alloc(dataset->arena, 1, sizeof(*dataset->sources));
    NT_TRY(nt_check_memory(rntuple && dataset->sources, opener->error));
    struct nt_anchor *anchor = &rntuple->anchor;
    *anchor = object->anchor
                  ? *object->anchor
                  : (struct nt_anchor){.offset = object->offset, .stored_bytes = object->stored_bytes};
    rntuple->schema_major = object->schema_major;
    rntuple->schema_minor = object->schema_minor;
    enum nt_status opened = open_objects(opener, rntuple), status = opened;
    if (object->failure)
        status = nt_fail_copy(opener->error, object->failure);
    else if (!object->anchor)
        status = nt_anchor_read(object, anchor, opener->error);
    struct nt_source *source = rntuple->objects ? rntuple->objects : dataset->file->source;
    if (nt_payload_source_new(source, anchor->maximum_key_bytes, &rntuple->payload, NULL) != NT_OK) {
        nt_source_close(rntuple->objects);
        return nt_fail_memory(opener->error);
    }
    dataset->sources[0] = rntuple->payload;
    dataset->source_count = 1;
    dataset->format_data = opener->rntuple = rntuple;
    dataset->ops = &ops;
    dataset->documents = nt_rntuple_documents;
    dataset->document_count =
        anchor->length && opened == NT_OK ? NT_RNTUPLE_LINKED_DOCUMENTS : NT_RNTUPLE_ANCHOR_DOCUMENTS;
    return status;
}

/* The bytes of the envelopes decide the generation, so the envelopes are verified after that. */
static enum nt_status open_envelopes(struct rntuple_opener *opener)
{
    struct nt_rntuple *rntuple = opener->rntuple;
    const struct nt_anchor *anchor = &rntuple->anchor;
    struct nt_budget *budget = &opener->dataset->file->budget;
    struct nt_envelope *header = &opener->header, *footer = &opener->footer;
    const struct nt_extent both[] = {{anchor->header.offset, anchor->header.stored_bytes},
                                     {anchor->footer.offset, anchor->footer.stored_bytes}};
    if (rntuple->objects) /* opening a file mostly reads both already */
        nt_source_prefetch(rntuple->payload, both, sizeof(both) / sizeof(*both), NT_PREFETCH_NOW);
    NT_TRY(nt_envelope_read(rntuple->payload, budget, NT_ENVELOPE_HEADER, &anchor->header, header,
                            opener->error));
    NT_TRY(nt_envelope_read(rntuple->payload, budget, NT_ENVELOPE_FOOTER, &anchor->footer, footer,
                            opener->error));
    NT_TRY(nt_generation_find(anchor, header->bytes, header->length, footer->bytes, footer->length,
                              &rntuple->generation, opener->error));
    NT_TRY(nt_envelope_verify(header, rntuple->generation, opener->error));
    rntuple->header_checksum = header->checksum;
    return nt_envelope_verify(footer, rntuple->generation, opener->error);
}

/* Each dataset keeps texts and documents of its envelopes, and many datasets may share envelopes. The
 * envelopes of each dataset but the first count again, as long as the file is open. */
static enum nt_status count_shared(const struct rntuple_opener *opener)
{
    const struct nt_dataset *dataset = opener->dataset;
    return dataset->index == 0 ? NT_OK
                               : nt_budget_take(&dataset->file->budget, NT_COST_ENVELOPE_BYTE,
                                                opener->header.length + opener->footer.length,
                                                opener->header.offset, opener->error);
}

static enum nt_status set_texts(struct rntuple_opener *opener, struct nt_text title,
                                struct nt_text description, struct nt_text writer)
{
    struct nt_dataset *dataset = opener->dataset;
    const struct nt_anchor *anchor = &opener->rntuple->anchor;
    dataset->format = "rntuple";
    dataset->generation = opener->rntuple->generation->name;
    dataset->generation_reason = opener->rntuple->generation->reason;
    dataset->version = nt_arena_format(dataset->arena, "%u.%u.%u.%u", anchor->epoch, anchor->major,
                                       anchor->minor, anchor->patch);
    if (!dataset->version || !nt_text_copy(dataset->arena, title, &dataset->title) ||
        !nt_text_copy(dataset->arena, description, &dataset->description) ||
        !nt_text_copy(dataset->arena, writer, &dataset->writer))
        return nt_fail_memory(opener->error);
    if (opener->rntuple->objects) /* their anchor has no name */
        dataset->name = dataset->title;
    return NT_OK;
}

static enum nt_status read_predraft(struct rntuple_opener *opener)
{
    struct nt_predraft_header header;
    NT_TRY(nt_predraft_header_read(&opener->header, &header, &opener->schema, opener->error));
    NT_TRY(set_texts(opener, header.name, header.description, header.author));
    NT_TRY(nt_schema_build(opener->dataset, opener->rntuple->generation, &opener->schema, opener->error));
    return nt_predraft_build(opener->dataset, &opener->footer, opener->error);
}

/* An attribute set with an unknown schema is ignored: it is shown without data. */
static enum nt_status check_schema_version(struct rntuple_opener *opener)
{
    const struct nt_rntuple *rntuple = opener->rntuple;
    if (opener->dataset->attribute_of == NT_NONE ||
        rntuple->schema_major == rntuple->generation->attribute_set_major)
        return NT_OK;
    opener->schema.unreadable =
        nt_arena_format(opener->dataset->arena, "version %u.%u of the attribute set's schema is not known",
                        rntuple->schema_major, rntuple->schema_minor);
    return opener->schema.unreadable ? NT_OK : nt_fail_memory(opener->error);
}

static enum nt_status read_header_and_footer(struct rntuple_opener *opener)
{
    struct nt_rntuple *rntuple = opener->rntuple;
    struct nt_footer *footer = &opener->footer_records;
    struct nt_header header;
    NT_TRY(nt_header_read(&opener->header, &header, &opener->schema, opener->error));
    NT_TRY(set_texts(opener, header.name, header.description, header.writer));
    NT_TRY(nt_footer_read(&opener->footer, footer, &opener->schema, opener->error));
    NT_TRY(nt_header_checksum_check(&opener->footer, rntuple->header_checksum, footer->header_checksum,
                                    opener->error));
    NT_TRY(check_schema_version(opener));
    NT_TRY(nt_schema_build(opener->dataset, rntuple->generation, &opener->schema, opener->error));
    return nt_footer_build(opener->dataset, rntuple->generation, footer, opener->error);
}

/* ---- Links for later use ---- */

static enum nt_status keep_link(const struct rntuple_opener *opener, const char *what,
                                const struct nt_envelope_link *from, struct nt_envelope_link *to)
{
    *to = *from;
    if (from->locator.payload.length &&
        !nt_text_copy(opener->dataset->arena, from->locator.payload, &to->locator.payload))
        return nt_fail_memory(opener->error);
    return nt_rntuple_find(opener->dataset, &to->locator, what, opener->error);
}

static enum nt_status keep_links(struct rntuple_opener *opener)
{
    struct nt_arena *arena = opener->dataset->arena;
    const struct nt_footer *footer = &opener->footer_records;
    struct nt_envelope_link *page_lists =
        nt_arena_alloc(arena, footer->group_count + 1u, sizeof(*page_lists));
    struct nt_envelope_link *user_metadata =
        nt_arena_alloc(arena, footer->user_metadata_count + 1u, sizeof(*user_metadata));
    NT_TRY(nt_check_memory(page_lists && user_metadata, opener->error));
    for (uint32_t i = 0; i < footer->group_count; i++)
        NT_TRY(keep_link(opener, "page list", &footer->groups[i].page_list, &page_lists[i]));
    for (uint32_t i = 0; i < footer->user_metadata_count; i++)
        NT_TRY(keep_link(opener, "user metadata", &footer->user_metadata[i], &user_metadata[i]));
    opener->rntuple->page_lists = page_lists;
    opener->rntuple->page_list_count = footer->group_count;
    opener->rntuple->user_metadata = user_metadata;
    opener->rntuple->user_metadata_count = footer->user_metadata_count;
    return NT_OK;
}

/* ---- Attribute sets ---- */

/* The anchor of an attribute set is in no list of keys: only the footer's record refers to it. */
static enum nt_status open_attribute_anchor(struct nt_dataset *dataset, const struct nt_rntuple *parent,
                                            const struct nt_attribute_set_record *record,
                                            struct nt_error *error)
{
    struct nt_anchor_link range = {record->anchor.offset, record->anchor.bytes, record->anchor_length};
    NT_CLEANUP(nt_envelope_deinit) struct nt_envelope bytes = {0};
    if (!nt_locator_is_local(&record->anchor))
        return nt_fail_elsewhere(error, "attribute set: its anchor", &record->anchor);
    NT_TRY(
        nt_envelope_read(parent->payload, &dataset->file->budget, NT_ENVELOPE_ANCHOR, &range, &bytes, error));
    struct nt_anchor_object object = {
        .class_name = parent->anchor.class_name,
        .bytes = bytes.bytes,
        .length = bytes.length,
        .offset = range.offset,
        .stored_bytes = range.stored_bytes,
        .schema_major = record->major,
        .schema_minor = record->minor,
    };
    return rntuple_build(dataset, &object, error);
}

/* A dataset remains readable if one of its attribute sets fails. */
static enum nt_status open_attribute_sets(struct rntuple_opener *opener)
{
    const struct nt_dataset *parent = opener->dataset;
    const struct nt_footer *footer = &opener->footer_records;
    if (parent->attribute_of != NT_NONE)
        return NT_OK; /* the specification has no sets of sets, and a chain of them could be endless */
    for (uint32_t i = 0; i < footer->attribute_set_count; i++) {
        struct nt_dataset *dataset;
        NT_TRY(nt_file_add_dataset(parent->file, &dataset, opener->error));
        NT_TRY(nt_check_memory(nt_text_copy(dataset->arena, footer->attribute_sets[i].name, &dataset->name),
                               opener->error));
        dataset->directory = parent->directory;
        dataset->attribute_of = parent->index;
        struct nt_error error = {0};
        if (open_attribute_anchor(dataset, opener->rntuple, &footer->attribute_sets[i], &error) != NT_OK)
            NT_TRY(nt_dataset_set_failure(dataset, &error, opener->error));
    }
    return NT_OK;
}

/* ---- Kept envelopes ---- */

/* Keeps an envelope that is small compared with the budget: its documents then need no second read. */
static void keep_envelope(struct nt_envelope *envelope, struct nt_envelope *kept)
{
    enum { MAX_BYTES = 1 << 18, PART_OF_BUDGET = 8 };
    if (envelope->length > MAX_BYTES ||
        atomic_load_explicit(&envelope->budget->used, memory_order_relaxed) >
            atomic_load_explicit(&envelope->budget->limit, memory_order_relaxed) / PART_OF_BUDGET)
        return;
    *kept = *envelope;
    *envelope = (struct nt_envelope){0};
}

/* ---- Open one dataset ---- */

static enum nt_status open_all(struct rntuple_opener *opener, const struct nt_anchor_object *object)
{
    NT_TRY(open_anchor(opener, object));
    NT_TRY(open_envelopes(opener));
    NT_TRY(count_shared(opener));
    NT_TRY(opener->rntuple->generation->is_predraft ? read_predraft(opener) : read_header_and_footer(opener));
    NT_TRY(rntuple_keep_details(opener->dataset, opener->rntuple, &opener->schema, opener->error));
    NT_TRY(keep_links(opener));
    NT_TRY(open_attribute_sets(opener));
    opener->dataset->document_count = nt_rntuple_document_count;
    return NT_OK;
}

/* Opens the dataset of an anchor object: reads anchor, header and footer. Adds the attribute sets that
 * its footer links to the file, opened or with their failure, unless the dataset is one itself. On
 * failure the dataset has those documents of stored bytes whose places were found. */
static enum nt_status rntuple_build(struct nt_dataset *dataset, const struct nt_anchor_object *object,
                                    struct nt_error *error)
{
    struct rntuple_opener opener = {.dataset = dataset, .error = error};
    enum nt_status status = open_all(&opener, object);
    if (status == NT_OK) {
        keep_envelope(&opener.header, &opener.rntuple->header);
        keep_envelope(&opener.footer, &opener.rntuple->footer);
    }
    nt_footer_deinit(&opener.footer_records);
    nt_schema_deinit(&opener.schema);
    nt_envelope_deinit(&opener.header);
    nt_envelope_deinit(&opener.footer);
    return status;
}

/* ---- Open a file ---- */

/* Adds a dataset for an anchor. The dataset keeps a failure that concerns only its anchor; the caller
 * of all formats checks whether any dataset opened. */
static enum nt_status add_dataset(struct nt_file *file, const struct nt_anchor_object *object,
                                  struct nt_error *error)
{
    struct nt_dataset *dataset;
    NT_TRY(nt_file_add_dataset(file, &dataset, error));
    dataset->directory = object->directory;
    dataset->name = object->name;
    dataset->cycle = object->cycle;
    dataset->is_newest_cycle = object->is_newest_cycle;
    struct nt_error failure = {0};
    if (object->failure && !object->stored_bytes)
        failure = *object->failure;
    else if (rntuple_build(dataset, object, &failure) == NT_OK)
        return NT_OK;
    return nt_dataset_set_failure(dataset, &failure, error);
}

/* Adds datasets for all anchors. `*has_ret`: at least one of them is no mere damage. */
static enum nt_status add_rntuples(struct nt_file *file, bool *has_ret, struct nt_error *error)
{
    const struct nt_container *container = nt_container_of(file);
    *has_ret = false;
    for (uint32_t i = 0; i < container->anchor_count; i++) {
        *has_ret |= !container->anchors[i].is_damage;
        NT_TRY(add_dataset(file, &container->anchors[i], error));
    }
    uint32_t known = file->dataset_count;
    if (!file->failure)
        NT_TRY(nt_rntuple_add_orphans(file, error));
    *has_ret |= file->dataset_count > known;
    return NT_OK;
}

/* Adds the trees of a ROOT file, if they are requested (`options` is not NULL). */
static enum nt_status add_trees(struct nt_file *file, bool has_rntuples,
                                const struct nt_open_options *options, struct nt_error *error)
{
#if NT_HAS_TTREE
    const struct nt_container *container = nt_container_of(file);
    if (container->kind != &nt_container_tfile)
        return NT_OK;
    NT_TRY(nt_ttree_prepare(file, error));
    if (!options || file->failure || !container->object_count)
        return NT_OK;
    if (!has_rntuples)
        file->format = &nt_format_ttree;
    return nt_ttree_add_all(file, options, has_rntuples, error);
#else
    return NT_OK;
#endif
}

/* A ROOT file may have only looked as if it had lost RNTuples. */
static enum nt_status refuse_empty(struct nt_file *file, const char *requested, struct nt_error *error)
{
    const struct nt_container *container = nt_container_of(file);
    struct nt_error refusal;
    if (file->dataset_count || file->failure || container->kind != &nt_container_tfile)
        return NT_OK;
    nt_tfile_refuse(container->details, requested, &refusal);
    return nt_failure_keep(&refusal, file->arena, &file->failure, error);
}

static enum nt_status fill_file(struct nt_file *file, const void *context, struct nt_error *error)
{
    const struct nt_open_options *options = context;
    struct nt_container *container = nt_arena_alloc(file->arena, 1, sizeof(*container));
    bool has_rntuples;
    NT_TRY(nt_check_memory(container, error));
    NT_TRY(nt_container_open(file, container, error));
    NT_TRY(add_rntuples(file, &has_rntuples, error));
    NT_TRY(add_trees(file, has_rntuples, options->format ? NULL : options, error));
    NT_TRY(refuse_empty(file, options->format ? "an RNTuple" : NULL, error));
    file->layout = rntuple_layout;
    file->check = nt_rntuple_check;
    return NT_OK;
}

static enum nt_status open_rntuple(struct nt_source *source, const struct nt_open_options *options,
                                   struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_limits limits = nt_open_limits(options);
    return nt_file_make(source, &limits, fill_file, options, file_ret, error);
}

const struct nt_format nt_format_rntuple = {
    .name = "rntuple",
    .description = "RNTuple in ROOT files and bare files, all versions",
    .recognize = recognize,
    .open = open_rntuple,
};
