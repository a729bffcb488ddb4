/* SPDX-License-Identifier: MIT
 *
 * Shows envelopes as JSON, each item as stored: header.json, footer.json, pagelist.<n>.json and, for
 * the drafts, metadata.json. Page lists may be very large and are written piece by piece.
 */
#include "formats/rntuple/rntuple.h"

/* ---- header.json ---- */

void nt_unknown_bytes_json(struct nt_json *json, size_t bytes)
{
    if (bytes > 0)
        nt_json_member_unsigned(json, "unknown_bytes", bytes);
}

/* Writes "feature_flags", the words, and "features", the names of the flags that are set. */
static void feature_flags_json(struct nt_json *json, const struct nt_generation *generation,
                               const struct nt_feature_flags *flags)
{
    nt_json_member_array(json, "feature_flags");
    for (uint32_t i = 0; i < flags->count; i++)
        nt_json_signed(json, flags->words[i]);
    nt_json_end_array(json);
    nt_json_member_array(json, "features");
    for (uint32_t i = 0; i < generation->feature_count; i++) {
        const struct nt_feature *feature = &generation->features[i];
        uint32_t word = feature->number / 64;
        if (word < flags->count && (uint64_t)flags->words[word] >> feature->number % 64 & 1)
            nt_json_string(json, feature->name);
    }
    nt_json_end_array(json);
}

static void field_json(struct nt_json *json, const struct nt_generation *generation,
                       const struct nt_field_record *field, uint64_t id)
{
    uint16_t flags = field->flags & generation->field_flags;
    nt_json_object(json);
    nt_json_member_unsigned(json, "id", id);
    nt_json_member_text(json, "name", field->name);
    nt_json_member_text(json, "type", field->type);
    nt_json_member_text(json, "type_alias", field->alias);
    nt_json_member_text(json, "description", field->description);
    nt_json_member_unsigned(json, "field_version", field->field_version);
    nt_json_member_unsigned(json, "type_version", field->type_version);
    nt_json_member_unsigned(json, "parent_field_id", field->parent_id);
    nt_json_member_unsigned(json, "structural_role", field->role);
    nt_json_member_string(json, "role", field->role < NT_ROLE_COUNT ? nt_role_name(field->role) : NULL);
    nt_json_member_unsigned(json, "flags", field->flags);
    if (flags & NT_FIELD_REPETITIVE || field->repetition)
        nt_json_member_unsigned(json, "repetition", field->repetition);
    if (flags & NT_FIELD_PROJECTED)
        nt_json_member_unsigned(json, "source_field_id", field->source_id);
    if (flags & NT_FIELD_HAS_TYPE_CHECKSUM)
        nt_json_member_hex32(json, "type_checksum", field->type_checksum);
    nt_unknown_bytes_json(json, field->unknown_bytes);
    nt_json_end_object(json);
}

static void column_json(struct nt_json *json, const struct nt_dataset *dataset,
                        const struct nt_column_record *column, uint64_t id)
{
    const struct nt_generation *generation = nt_rntuple_of(dataset)->generation;
    const char *type;
    nt_generation_encoding(generation, dataset->writer, column->type_number, &type);
    nt_json_object(json);
    nt_json_member_unsigned(json, "id", id);
    nt_json_member_string(json, "type", type);
    nt_json_member_unsigned(json, "type_number", column->type_number);
    nt_json_member_unsigned(json, "bits", column->bits);
    nt_json_member_unsigned(json, "field_id", column->field_id);
    nt_json_member_unsigned(json, "flags", column->flags);
    nt_json_member_unsigned(json, "representation_index", column->representation);
    if (column->is_deferred)
        nt_json_member_signed(json, "first_element", column->first_element);
    if (column->has_range) {
        nt_json_member_double(json, "minimum", column->minimum);
        nt_json_member_double(json, "maximum", column->maximum);
    }
    nt_unknown_bytes_json(json, column->unknown_bytes);
    nt_json_end_object(json);
}

static void alias_json(struct nt_json *json, const struct nt_alias_record *alias)
{
    nt_json_object(json);
    nt_json_member_unsigned(json, "physical_column_id", alias->physical_column);
    nt_json_member_unsigned(json, "field_id", alias->field);
    nt_unknown_bytes_json(json, alias->unknown_bytes);
    nt_json_end_object(json);
}

static void extra_type_json(struct nt_json *json, const struct nt_generation *generation,
                            const struct nt_extra_type_record *extra)
{
    nt_json_object(json);
    nt_json_member_unsigned(json, "content_identifier", extra->content_id);
    if (generation->has_extra_type_content) {
        nt_json_member_unsigned(json, "type_version", extra->version_from);
    } else {
        nt_json_member_unsigned(json, "type_version_from", extra->version_from);
        nt_json_member_unsigned(json, "type_version_to", extra->version_to);
    }
    nt_json_member_text(json, "type_name", extra->type_name);
    if (generation->has_extra_type_content)
        nt_json_member_text(json, "content", extra->content);
    nt_unknown_bytes_json(json, extra->unknown_bytes);
    nt_json_end_object(json);
}

void nt_schema_json(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_schema *schema,
                    uint32_t first_field, uint32_t first_column)
{
    const struct nt_generation *generation = nt_rntuple_of(dataset)->generation;
    nt_json_member_array(json, "fields");
    for (uint32_t i = 0; i < schema->field_count; i++)
        field_json(json, generation, &schema->fields[i], first_field + schema->fields[i].id);
    nt_json_end_array(json);
    nt_json_member_array(json, "columns");
    for (uint32_t i = 0; i < schema->column_count; i++)
        column_json(json, dataset, &schema->columns[i], first_column + schema->columns[i].id);
    nt_json_end_array(json);
    nt_json_member_array(json, "alias_columns");
    for (uint32_t i = 0; i < schema->alias_count; i++)
        alias_json(json, &schema->aliases[i]);
    nt_json_end_array(json);
    nt_json_member_array(json, "extra_type_information");
    for (uint32_t i = 0; i < schema->extra_type_count; i++)
        extra_type_json(json, generation, &schema->extra_types[i]);
    nt_json_end_array(json);
}

static void header_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                        const struct nt_header *header, const struct nt_schema *schema, struct nt_buffer *out)
{
    struct nt_json json;
    nt_json_document(&json, out, "header");
    nt_json_member_unsigned(&json, "decoded_bytes", envelope->length);
    nt_json_member_hex64(&json, "checksum", envelope->checksum);
    feature_flags_json(&json, envelope->generation, &header->flags);
    if (envelope->generation->has_release_candidate_tag)
        nt_json_member_unsigned(&json, "release_candidate_tag", header->release_candidate_tag);
    nt_json_member_text(&json, "name", header->name);
    nt_json_member_text(&json, "description", header->description);
    nt_json_member_text(&json, "writer", header->writer);
    nt_schema_json(&json, dataset, schema, 0, 0);
    nt_unknown_bytes_json(&json, header->unknown_bytes);
    nt_json_finish(&json);
}

enum nt_status nt_header_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                              struct nt_buffer *out, struct nt_error *error)
{
    NT_CLEANUP(nt_schema_deinit) struct nt_schema schema = {0};
    struct nt_header header;
    NT_TRY(nt_header_read(envelope, &header, &schema, error));
    header_json(dataset, envelope, &header, &schema, out);
    return NT_OK;
}

/* ---- pagelist.<n>.json ---- */

enum { PIECE_BYTES = 64 * 1024 };

struct page_list_text {
    struct nt_text_generator base;
    struct nt_envelope envelope;
    struct nt_page_list list;
    struct nt_json json;
    bool is_started, is_in_cluster, is_in_column;
    uint32_t clusters_left, columns_left, pages_left;
    struct nt_frame columns;      /* of the current cluster */
    struct nt_column_pages pages; /* of the current column */
    uint32_t cluster;
};

static void cluster_summary_json(struct nt_json *json, const struct nt_cluster_summary *summary)
{
    nt_json_object(json);
    nt_json_member_unsigned(json, "first_entry", summary->first_entry);
    nt_json_member_unsigned(json, "entries", summary->entries);
    nt_json_member_unsigned(json, "flags", summary->flags);
    if (summary->column_group != NT_NONE)
        nt_json_member_unsigned(json, "column_group_id", summary->column_group);
    nt_unknown_bytes_json(json, summary->unknown_bytes);
    nt_json_end_object(json);
}

static enum nt_status write_start(struct page_list_text *text, struct nt_error *error)
{
    struct nt_json *json = &text->json;
    nt_json_document(json, json->out, "pagelist");
    nt_json_member_unsigned(json, "decoded_bytes", text->envelope.length);
    nt_json_member_hex64(json, "checksum", text->envelope.checksum);
    if (text->envelope.generation->has_summaries_in_page_list) {
        nt_json_member_hex64(json, "header_checksum", text->list.header_checksum);
        nt_json_member_array(json, "cluster_summaries");
        for (uint32_t i = 0; i < text->list.summaries.items; i++) {
            struct nt_cluster_summary summary;
            NT_TRY(nt_cluster_summary_read(&text->envelope, &text->list.summaries.payload, &summary, error));
            cluster_summary_json(json, &summary);
        }
        nt_json_end_array(json);
    }
    nt_json_member_array(json, "clusters");
    text->clusters_left = text->list.clusters.items;
    text->is_started = true;
    return NT_OK;
}

static enum nt_status start_cluster(struct page_list_text *text, struct nt_error *error)
{
    NT_TRY(nt_cluster_columns_read(&text->envelope, &text->list.clusters.payload, &text->columns, error));
    nt_json_object(&text->json);
    nt_json_member_unsigned(&text->json, "cluster", text->cluster++);
    nt_json_member_array(&text->json, "columns");
    text->columns_left = text->columns.items;
    text->clusters_left--;
    text->is_in_cluster = true;
    return NT_OK;
}

static void finish_cluster(struct page_list_text *text)
{
    nt_json_end_array(&text->json);
    nt_unknown_bytes_json(&text->json, nt_cursor_left(&text->columns.payload));
    nt_json_end_object(&text->json);
    text->is_in_cluster = false;
}

static enum nt_status start_column(struct page_list_text *text, struct nt_error *error)
{
    NT_TRY(nt_column_pages_read(&text->envelope, &text->columns.payload, &text->pages, error));
    nt_json_object(&text->json);
    nt_json_member_array(&text->json, "pages");
    text->pages_left = text->pages.pages.items;
    text->columns_left--;
    text->is_in_column = true;
    return NT_OK;
}

static enum nt_status write_page(struct page_list_text *text, struct nt_error *error)
{
    struct nt_page_record page = nt_page_record_read(&text->envelope, &text->pages.pages.payload);
    NT_TRY(nt_envelope_check(&text->envelope, &text->pages.pages.payload, "page", error));
    nt_json_object(&text->json);
    nt_json_member_unsigned(&text->json, "elements", page.elements);
    nt_json_member_bool(&text->json, "has_checksum", page.has_checksum);
    nt_locator_describe(&text->json, &page.locator);
    nt_json_end_object(&text->json);
    text->pages_left--;
    return NT_OK;
}

static enum nt_status finish_column(struct page_list_text *text, struct nt_error *error)
{
    NT_TRY(nt_column_pages_finish(&text->envelope, &text->pages, error));
    nt_json_end_array(&text->json);
    nt_json_member_bool(&text->json, "is_suppressed", text->pages.is_suppressed);
    nt_json_member_unsigned(&text->json, "first_element", text->pages.first_element);
    if (!text->pages.is_suppressed)
        nt_json_member_unsigned(&text->json, "compression_settings", text->pages.compression_settings);
    nt_unknown_bytes_json(&text->json, text->pages.unknown_bytes);
    nt_json_end_object(&text->json);
    text->is_in_column = false;
    return NT_OK;
}

/* Writes one item; sets *more_ret to false once the document is complete. */
static enum nt_status step(struct page_list_text *text, bool *more_ret, struct nt_error *error)
{
    if (!text->is_started)
        return write_start(text, error);
    if (text->is_in_column)
        return text->pages_left ? write_page(text, error) : finish_column(text, error);
    if (text->is_in_cluster && text->columns_left)
        return start_column(text, error);
    if (text->is_in_cluster) {
        finish_cluster(text);
        return NT_OK;
    }
    if (text->clusters_left)
        return start_cluster(text, error);
    nt_json_end_array(&text->json);
    nt_unknown_bytes_json(&text->json, text->list.unknown_bytes);
    nt_json_finish(&text->json);
    *more_ret = false;
    return NT_OK;
}

static enum nt_status next(struct nt_text_generator *base, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    struct page_list_text *text = (struct page_list_text *)base;
    size_t end = out->length + PIECE_BYTES;
    text->json.out = out;
    *more_ret = true;
    while (*more_ret && out->length < end) {
        NT_TRY(step(text, more_ret, error));
        NT_TRY(nt_check_memory(!out->failed, error));
    }
    return NT_OK;
}

static void free_text(struct nt_text_generator *base)
{
    struct page_list_text *text = (struct page_list_text *)base;
    nt_envelope_deinit(&text->envelope);
    free(text);
}

enum nt_status nt_page_list_json_open(const struct nt_document_request *request,
                                      struct nt_text_generator **text_ret, struct nt_error *error)
{
    uint32_t group = (uint32_t)request->number;
    struct page_list_text *text = calloc(1, sizeof(*text));
    NT_TRY(nt_check_memory(text, error));
    text->base = (struct nt_text_generator){.next = next, .free = free_text, .takes_budget = true};
    text->cluster = nt_group_record(request->dataset, group).first_cluster;
    enum nt_status status =
        nt_rntuple_load_envelope(request->dataset, NT_ENVELOPE_PAGE_LIST, group, &text->envelope, error);
    if (status == NT_OK)
        status = nt_page_list_read(&text->envelope, &text->list, error);
    if (status != NT_OK) {
        free_text(&text->base);
        return status;
    }
    *text_ret = &text->base;
    return NT_OK;
}

/* ---- footer.json ---- */

static void link_json(struct nt_json *json, const struct nt_envelope_link *link)
{
    nt_json_object(json);
    nt_envelope_link_describe(json, link);
    nt_json_end_object(json);
}

static void cluster_group_json(struct nt_json *json, const struct nt_cluster_group_record *group)
{
    nt_json_object(json);
    nt_json_member_unsigned(json, "minimum_entry", group->first_entry);
    nt_json_member_unsigned(json, "entry_span", group->entries);
    nt_json_member_unsigned(json, "clusters", group->clusters);
    nt_json_key(json, "page_list");
    link_json(json, &group->page_list);
    nt_unknown_bytes_json(json, group->unknown_bytes);
    nt_json_end_object(json);
}

static void attribute_set_json(struct nt_json *json, const struct nt_attribute_set_record *set)
{
    nt_json_object(json);
    nt_json_member_text(json, "name", set->name);
    nt_json_member_unsigned(json, "schema_version_major", set->major);
    nt_json_member_unsigned(json, "schema_version_minor", set->minor);
    nt_json_member_object(json, "anchor");
    nt_json_member_unsigned(json, "decoded_bytes", set->anchor_length);
    nt_locator_describe(json, &set->anchor);
    nt_json_end_object(json);
    nt_unknown_bytes_json(json, set->unknown_bytes);
    nt_json_end_object(json);
}

static void column_groups_json(struct nt_json *json, const struct nt_column_group_records *groups)
{
    for (uint32_t i = 0, k = 0; i < groups->count; i++) {
        nt_json_array(json);
        for (; k < groups->ends[i]; k++)
            nt_json_unsigned(json, groups->columns[k]);
        nt_json_end_array(json);
    }
}

static void list_json(struct nt_json *json, const struct nt_footer *footer, enum nt_footer_list list)
{
    nt_json_member_array(json, nt_footer_list_name(list));
    switch (list) {
    case NT_FOOTER_EXTENSION_HEADERS:
        for (uint32_t i = 0; i < footer->extension_header_count; i++)
            link_json(json, &footer->extension_headers[i]);
        break;
    case NT_FOOTER_COLUMN_GROUPS:
        column_groups_json(json, &footer->column_groups);
        break;
    case NT_FOOTER_CLUSTER_SUMMARIES:
        for (uint32_t i = 0; i < footer->summary_count; i++)
            cluster_summary_json(json, &footer->summaries[i]);
        break;
    case NT_FOOTER_CLUSTER_GROUPS:
        for (uint32_t i = 0; i < footer->group_count; i++)
            cluster_group_json(json, &footer->groups[i]);
        break;
    case NT_FOOTER_USER_METADATA:
        for (uint32_t i = 0; i < footer->user_metadata_count; i++)
            link_json(json, &footer->user_metadata[i]);
        break;
    case NT_FOOTER_ATTRIBUTE_SETS:
        for (uint32_t i = 0; i < footer->attribute_set_count; i++)
            attribute_set_json(json, &footer->attribute_sets[i]);
        break;
    default:
        break;
    }
    nt_json_end_array(json);
}

static void footer_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                        const struct nt_footer *footer, const struct nt_schema *extension,
                        struct nt_buffer *out)
{
    struct nt_json json;
    nt_json_document(&json, out, "footer");
    nt_json_member_unsigned(&json, "decoded_bytes", envelope->length);
    nt_json_member_hex64(&json, "checksum", envelope->checksum);
    feature_flags_json(&json, envelope->generation, &footer->flags);
    nt_json_member_hex64(&json, "header_checksum", footer->header_checksum);
    if (envelope->generation->has_schema_extension) {
        nt_json_member_object(&json, "schema_extension");
        nt_schema_json(&json, dataset, extension, dataset->field_count - extension->field_count,
                       dataset->column_count - extension->column_count);
        nt_json_end_object(&json);
    }
    const enum nt_footer_list *order = envelope->generation->footer_lists;
    for (unsigned i = 0; i < NT_MAX_FOOTER_LISTS && order[i] != NT_FOOTER_END; i++)
        list_json(&json, footer, order[i]);
    nt_unknown_bytes_json(&json, footer->unknown_bytes);
    nt_json_finish(&json);
}

enum nt_status nt_footer_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                              struct nt_buffer *out, struct nt_error *error)
{
    NT_CLEANUP(nt_schema_deinit) struct nt_schema extension = {0};
    NT_CLEANUP(nt_footer_deinit) struct nt_footer footer = {0};
    NT_TRY(nt_footer_read(envelope, &footer, &extension, error));
    footer_json(dataset, envelope, &footer, &extension, out);
    return NT_OK;
}

/* ---- metadata.json ---- */

enum value_type { VALUE_INTEGER = 1, VALUE_BOOL = 2, VALUE_REAL = 3, VALUE_STRING = 4 };

struct pair {
    struct nt_text key;
    int32_t type; /* negative: a list of the type */
    struct nt_cursor value;
    uint32_t order, version;
};

/* All envelopes stay loaded while their pairs are sorted. */
struct metadata {
    struct nt_envelope *envelopes;
    uint32_t *ends; /* of each envelope's pairs */
    uint32_t envelope_count;
    struct pair *pairs; /* in file order */
    uint32_t pair_count;
};

static void metadata_deinit(struct metadata *metadata)
{
    for (uint32_t i = 0; i < metadata->envelope_count; i++)
        nt_envelope_deinit(&metadata->envelopes[i]);
    free(metadata->envelopes);
    free(metadata->ends);
    free(metadata->pairs);
}

/* ---- Reading ---- */

static enum nt_status read_pair(const struct nt_envelope *envelope, struct nt_cursor *list, struct pair *pair,
                                struct nt_error *error)
{
    struct nt_frame record;
    NT_TRY(nt_record_frame(envelope, list, "key-value pair", &record, error));
    pair->type = (int32_t)nt_get_le32(&record.payload);
    pair->key = nt_get_text(&record.payload);
    pair->value = record.payload;
    return nt_envelope_check(envelope, &record.payload, "key-value pair", error);
}

static enum nt_status read_pairs(struct metadata *metadata, const struct nt_envelope *envelope,
                                 struct nt_error *error)
{
    struct nt_cursor cursor = envelope->payload;
    struct nt_frame list;
    uint32_t least = nt_record_frame_bytes(envelope->generation) + 8;
    NT_TRY(nt_list_frame(envelope, &cursor, "list of key-value pairs", least, &list, error));
    size_t total = (size_t)metadata->pair_count + list.items;
    struct pair *pairs = total < UINT32_MAX ? reallocarray(metadata->pairs, total + 1, sizeof(*pairs)) : NULL;
    NT_TRY(nt_check_memory(pairs, error));
    metadata->pairs = pairs;
    for (uint32_t i = 0; i < list.items; i++) {
        struct pair *pair = &pairs[metadata->pair_count];
        pair->order = metadata->pair_count++;
        NT_TRY(read_pair(envelope, &list.payload, pair, error));
    }
    return NT_OK;
}

static enum nt_status load(const struct nt_dataset *dataset, struct metadata *metadata,
                           struct nt_error *error)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    metadata->envelopes = calloc(rntuple->user_metadata_count + 1u, sizeof(*metadata->envelopes));
    metadata->ends = calloc(rntuple->user_metadata_count + 1u, sizeof(*metadata->ends));
    NT_TRY(nt_check_memory(metadata->envelopes && metadata->ends, error));
    for (uint32_t i = 0; i < rntuple->user_metadata_count; i++) {
        struct nt_envelope *envelope = &metadata->envelopes[i];
        NT_TRY(nt_envelope_load(rntuple->payload, &dataset->file->budget, rntuple->generation,
                                NT_ENVELOPE_USER_METADATA, &rntuple->user_metadata[i], envelope, error));
        metadata->envelope_count++;
        NT_TRY(read_pairs(metadata, envelope, error));
        metadata->ends[i] = metadata->pair_count;
    }
    return NT_OK;
}

/* ---- versions: a repeated key is its next version ---- */

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *const *a = left, *const *b = right;
    int order = nt_texts_compare((*a)->key, (*b)->key);
    return order ? order : ((*a)->order > (*b)->order) - ((*a)->order < (*b)->order);
}

static enum nt_status number_versions(struct metadata *metadata, struct nt_error *error)
{
    NT_AUTO_FREE struct pair **sorted = calloc(metadata->pair_count + 1u, sizeof(*sorted));
    NT_TRY(nt_check_memory(sorted, error));
    for (uint32_t i = 0; i < metadata->pair_count; i++)
        sorted[i] = &metadata->pairs[i];
    qsort(sorted, metadata->pair_count, sizeof(struct pair *), compare_pairs);
    for (uint32_t i = 0; i < metadata->pair_count; i++)
        sorted[i]->version =
            i > 0 && nt_texts_are_equal(sorted[i - 1]->key, sorted[i]->key) ? sorted[i - 1]->version + 1 : 0;
    return NT_OK;
}

/* ---- Writing ---- */

struct value {
    const char *name;
    const char *key;
    uint32_t min_bytes;
    void (*write)(struct nt_json *json, struct nt_cursor *cursor);
};

static void write_integer(struct nt_json *json, struct nt_cursor *cursor)
{
    nt_json_signed(json, (int64_t)nt_get_le64(cursor));
}

static void write_bool(struct nt_json *json, struct nt_cursor *cursor)
{
    nt_json_bool(json, nt_get_u8(cursor) != 0);
}

static void write_real(struct nt_json *json, struct nt_cursor *cursor)
{
    nt_json_double(json, nt_get_le_real64(cursor));
}

static void write_string(struct nt_json *json, struct nt_cursor *cursor)
{
    struct nt_text text = nt_get_text(cursor);
    nt_json_bytes(json, text.bytes, text.length);
}

static void write_hex_string(struct nt_json *json, struct nt_cursor *cursor)
{
    struct nt_text text = nt_get_text(cursor);
    nt_json_hex(json, text.bytes, text.length);
}

static const struct value values[] = {
    [VALUE_INTEGER] = {"integer", "value", 8, write_integer},
    [VALUE_BOOL] = {"bool", "value", 1, write_bool},
    [VALUE_REAL] = {"real", "value", 8, write_real},
    [VALUE_STRING] = {"string", "value", 4, write_string},
};
static const struct value hex_strings = {"string", "value_hex", 4, write_hex_string};

/* If one string is not UTF-8, all of them are written in hexadecimal. */
static bool are_utf8(struct nt_cursor cursor, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct nt_text text = nt_get_text(&cursor);
        if (!nt_is_utf8(text.bytes, text.length))
            return false;
    }
    return true;
}

static const struct value *find_value(int32_t type)
{
    uint32_t number = type < 0 ? 0 - (uint32_t)type : (uint32_t)type;
    return number < sizeof(values) / sizeof(values[0]) && values[number].name ? &values[number] : NULL;
}

static enum nt_status write_value(struct nt_json *json, const struct nt_envelope *envelope,
                                  const struct value *value, struct pair *pair, struct nt_error *error)
{
    struct nt_frame list = {.payload = pair->value, .items = 1};
    bool is_list = pair->type < 0;
    if (is_list)
        NT_TRY(nt_list_frame(envelope, &pair->value, "list of values", value->min_bytes, &list, error));
    if (value == &values[VALUE_STRING] && !are_utf8(list.payload, list.items))
        value = &hex_strings;
    nt_json_key(json, value->key);
    if (is_list)
        nt_json_array(json);
    for (uint32_t i = 0; i < list.items; i++)
        value->write(json, &list.payload);
    if (is_list)
        nt_json_end_array(json);
    return nt_envelope_check(envelope, &list.payload, "value", error);
}

static enum nt_status write_pair(struct nt_json *json, const struct nt_envelope *envelope, struct pair *pair,
                                 struct nt_error *error)
{
    const struct value *value = find_value(pair->type);
    enum nt_status status = NT_OK;
    nt_json_object(json);
    nt_json_member_text(json, "key", pair->key);
    nt_json_member_unsigned(json, "version", pair->version);
    nt_json_member_signed(json, "type_number", pair->type);
    nt_json_member_string(json, "type", value ? value->name : NULL);
    if (value)
        status = write_value(json, envelope, value, pair, error);
    else
        nt_unknown_bytes_json(json, nt_cursor_left(&pair->value));
    nt_json_end_object(json);
    return status;
}

static enum nt_status write_document(struct metadata *metadata, struct nt_buffer *out, struct nt_error *error)
{
    struct nt_json json;
    enum nt_status status = NT_OK;
    nt_json_document(&json, out, "metadata");
    nt_json_member_array(&json, "envelopes");
    for (uint32_t i = 0, k = 0; i < metadata->envelope_count && status == NT_OK; i++) {
        const struct nt_envelope *envelope = &metadata->envelopes[i];
        nt_json_object(&json);
        nt_json_member_unsigned(&json, "file_offset", envelope->offset);
        nt_json_member_unsigned(&json, "decoded_bytes", envelope->length);
        nt_json_member_hex64(&json, "checksum", envelope->checksum);
        nt_json_member_array(&json, "pairs");
        for (; k < metadata->ends[i] && status == NT_OK; k++)
            status = write_pair(&json, envelope, &metadata->pairs[k], error);
        nt_json_end_array(&json);
        nt_json_end_object(&json);
    }
    nt_json_end_array(&json);
    nt_json_finish(&json);
    return status;
}

enum nt_status nt_metadata_json(const struct nt_document_request *request, struct nt_buffer *out,
                                struct nt_error *error)
{
    NT_CLEANUP(metadata_deinit) struct metadata metadata = {0};
    NT_TRY(load(request->dataset, &metadata, error));
    NT_TRY(number_versions(&metadata, error));
    return write_document(&metadata, out, error);
}
