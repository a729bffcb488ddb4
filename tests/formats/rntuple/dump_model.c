/* SPDX-License-Identifier: MIT
 *
 * Prints the model of each given file, one JSON line per file. check_rntuple_model.py compares it with
 * what other readers found.
 */
#include <stdio.h>
#include <stdlib.h>

#include "column_range.h"
#include "core/json/json.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/model/model.h"
#include <ntuple/format.h>

static void text_member(struct nt_json *json, const char *key, struct nt_text text)
{
    nt_json_key(json, key);
    nt_json_bytes(json, text.bytes, text.length);
}

static void dump_fields(struct nt_json *json, const struct nt_dataset *dataset)
{
    nt_json_key(json, "fields");
    nt_json_array(json);
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        const struct nt_field *field = &dataset->fields[i];
        nt_json_object(json);
        nt_json_member_unsigned(json, "id", field->id);
        text_member(json, "name", field->name);
        text_member(json, "type", field->type);
        text_member(json, "description", field->description);
        nt_json_member_unsigned(json, "role", field->role);
        nt_json_member_unsigned(json, "parent",
                                field->parent == NT_NONE ? field->id : dataset->fields[field->parent].id);
        nt_json_member_unsigned(json, "repeat", field->repetition);
        dataset->ops->describe_field(dataset, i, json); /* type_alias, flags, versions */
        nt_json_member_string(json, "kind", nt_field_kind_name(field->kind));
        nt_json_member_string(json, "dtype", field->dtype.numpy);
        nt_json_member_string(json, "unreadable", field->unreadable);
        nt_json_member_bool(json, "owns_columns", field->owns_columns);
        nt_json_member_signed(
            json, "source",
            nt_field_source(field) == NT_NONE ? -1 : (int64_t)dataset->fields[nt_field_source(field)].id);
        nt_json_key(json, "columns");
        nt_json_array(json);
        uint32_t column_count;
        const uint32_t *columns =
            nt_field_columns(dataset, (uint32_t)(field - dataset->fields), &column_count);
        for (uint32_t k = 0; k < column_count; k++)
            nt_json_unsigned(json, dataset->columns[columns[k]].id);
        nt_json_end_array(json);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static void dump_ranges(struct nt_json *json, struct nt_dataset *dataset, uint32_t column)
{
    uint64_t elements = 0, checksums = 0;
    nt_json_key(json, "ranges"); /* [state, pages, compression settings] of each cluster */
    nt_json_array(json);
    for (uint32_t i = 0; i < dataset->cluster_count; i++) {
        const struct nt_range *range;
        if (column_range(dataset, i, column, &range, NULL) != NT_OK)
            continue;
        const struct nt_group *group = nt_group_slot(dataset, nt_dataset_cluster(dataset, i).group);
        nt_json_array(json);
        nt_json_unsigned(json, range->state);
        nt_json_unsigned(json, range->pages);
        nt_json_unsigned(json, range->compression_settings);
        nt_json_end_array(json);
        elements += nt_range_elements(group, range);
        for (uint32_t k = 0; k < range->pages; k++)
            checksums += group->pages[range->first_page + k].checksum != NT_CHECKSUM_NONE;
    }
    nt_json_end_array(json);
    nt_json_member_unsigned(json, "n", elements);
    nt_json_member_unsigned(json, "checksums", checksums);
}

/* A page of the model: verified, decompressed, decoded. */
static enum nt_status decode_page(const struct nt_dataset *dataset, const struct nt_page *page,
                                  struct nt_codec_context *context, struct nt_buffer *out,
                                  struct nt_error *error)
{
    const struct nt_decoder *decoder = nt_decoders_get(&dataset->decoders, page->decoder);
    uint32_t digest_bytes = nt_checksum_info(page->checksum)->bytes;
    uint64_t packed_bytes;
    if (!nt_packed_bytes(decoder, page->elements, &packed_bytes))
        return nt_fail(error, NT_LIMIT, page->offset, "page too large");
    uint8_t *stored = nt_codec_scratch(context, NT_SCRATCH_PAGE, page->stored_bytes + digest_bytes + 1);
    uint8_t *packed = nt_codec_scratch(context, NT_SCRATCH_COALESCED, packed_bytes + 1);
    uint8_t *decoded = nt_buffer_extend(out, (size_t)page->elements * decoder->element_bytes);
    enum nt_status status = nt_source_read(dataset->sources[page->source], page->offset, stored,
                                           page->stored_bytes + digest_bytes, error);
    if (status == NT_OK && digest_bytes)
        status = nt_checksum_verify(page->checksum, stored, page->stored_bytes, stored + page->stored_bytes,
                                    page->offset, error);
    if (status == NT_OK)
        status = nt_compression_info(page->compression)
                     ->decompress(stored, page->stored_bytes, packed, packed_bytes, context, error);
    if (status == NT_OK)
        status = nt_decode(&(struct nt_packed){.decoder = decoder,
                                               .parameter = page->parameter,
                                               .data = packed,
                                               .bytes = packed_bytes,
                                               .elements = page->elements},
                           decoded, error);
    return status;
}

static void sha256_member(struct nt_json *json, const char *key, const struct nt_buffer *bytes)
{
    uint8_t digest[32];
    char text[65];
    nt_checksum_info(NT_CHECKSUM_SHA256)->compute(bytes->bytes, bytes->length, digest);
    for (unsigned i = 0; i < sizeof(digest); i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    nt_json_member_string(json, key, text);
}

static void dump_content(struct nt_json *json, struct nt_dataset *dataset, uint32_t column)
{
    struct nt_codec_context *context = nt_codec_context_new();
    struct nt_buffer out = {0};
    struct nt_error error = {0};
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < dataset->cluster_count && status == NT_OK; i++) {
        const struct nt_range *range;
        status = column_range(dataset, i, column, &range, &error);
        if (status != NT_OK)
            break;
        const struct nt_group *group = nt_group_slot(dataset, nt_dataset_cluster(dataset, i).group);
        for (uint32_t k = 0; k < range->pages && status == NT_OK; k++)
            status = decode_page(dataset, &group->pages[range->first_page + k], context, &out, &error);
    }
    if (status == NT_OK)
        sha256_member(json, "sha256", &out);
    else
        nt_json_member_string(json, "sha256", error.message);
    nt_buffer_deinit(&out);
    nt_codec_context_free(context);
}

static void dump_columns(struct nt_json *json, struct nt_dataset *dataset)
{
    nt_json_key(json, "columns");
    nt_json_array(json);
    for (uint32_t i = 0; i < dataset->column_count; i++) {
        const struct nt_column *column = &dataset->columns[i];
        nt_json_object(json);
        nt_json_member_unsigned(json, "id", column->id);
        nt_json_member_string(json, "type", column->type_name);
        nt_json_member_unsigned(json, "bits", nt_decoders_get(&dataset->decoders, column->decoder)->bits);
        nt_json_member_unsigned(json, "field", dataset->fields[column->field].id);
        nt_json_member_unsigned(json, "repr", column->representation);
        dataset->ops->describe_column(dataset, i, json); /* number of the type, flags */
        nt_json_member_unsigned(json, "first", nt_column_first_element(column));
        dump_ranges(json, dataset, i);
        dump_content(json, dataset, i);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static void dump_clusters(struct nt_json *json, const struct nt_dataset *dataset)
{
    nt_json_key(json, "clusters");
    nt_json_array(json);
    for (uint32_t i = 0; i < dataset->cluster_count; i++) {
        nt_json_object(json);
        const struct nt_cluster cluster = nt_dataset_cluster(dataset, i);
        nt_json_member_unsigned(json, "first_entry", cluster.first_entry);
        nt_json_member_unsigned(json, "entries", cluster.entries);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static enum nt_status produce(const struct nt_dataset *dataset, const struct nt_document *document,
                              uint64_t number, struct nt_buffer *out, struct nt_error *error)
{
    const struct nt_document_request request = {document, dataset->file, dataset, number};
    struct nt_text_generator *text;
    bool has_more = true;
    if (document->write)
        return document->write(&request, out, error);
    enum nt_status status = document->open(&request, &text, error);
    if (status != NT_OK)
        return status;
    while (status == NT_OK && has_more)
        status = text->next(text, out, &has_more, error);
    text->free(text);
    return status;
}

/* The JSON documents as text, and digests of the others. */
static void dump_documents(struct nt_json *json, const struct nt_dataset *dataset)
{
    nt_json_key(json, "documents");
    nt_json_object(json);
    for (uint32_t i = 0; i < dataset->document_count; i++) {
        const struct nt_document *document = &dataset->documents[i];
        uint64_t count = document->count ? document->count(dataset->file, dataset) : 1;
        for (uint64_t k = 0; k < count; k++) {
            struct nt_error error = {0};
            struct nt_buffer out = {0};
            char name[64];
            if (document->count)
                snprintf(name, sizeof(name), "%s%ju%s", document->prefix, (uintmax_t)k, document->suffix);
            else
                snprintf(name, sizeof(name), "%s", document->prefix);
            if (produce(dataset, document, k, &out, &error) != NT_OK)
                nt_json_member_string(json, name, error.message);
            else if (out.bytes[0] == '{')
                nt_json_member_text(json, name, (struct nt_text){out.bytes, out.length});
            else
                sha256_member(json, name, &out);
            nt_buffer_deinit(&out);
        }
    }
    nt_json_end_object(json);
}

static void directory_path(struct nt_json *json, const struct nt_file *file, uint32_t directory)
{
    nt_json_key(json, "directory"); /* innermost first */
    nt_json_array(json);
    for (uint32_t at = directory; at != 0; at = file->directories[at].parent)
        nt_json_bytes(json, file->directories[at].name.bytes, file->directories[at].name.length);
    nt_json_end_array(json);
}

static void dump_dataset(struct nt_json *json, struct nt_dataset *dataset)
{
    struct nt_error error = {0};
    nt_json_object(json);
    directory_path(json, dataset->file, dataset->directory);
    text_member(json, "key", dataset->name);
    nt_json_member_unsigned(json, "cycle", dataset->cycle);
    nt_json_member_bool(json, "is_newest_cycle", dataset->is_newest_cycle);
    nt_json_member_signed(json, "attribute_of",
                          dataset->attribute_of == NT_NONE ? -1 : (int64_t)dataset->attribute_of);
    if (dataset->failure) {
        nt_json_member_string(json, "failure", dataset->failure->message);
        nt_json_end_object(json);
        return;
    }
    nt_json_member_string(json, "failure",
                          nt_dataset_load_all(dataset, &error) == NT_OK ? NULL : error.message);
    nt_json_member_string(json, "version", dataset->version);
    nt_json_member_string(json, "generation", dataset->generation);
    text_member(json, "name", dataset->title);
    text_member(json, "description", dataset->description);
    text_member(json, "writer", dataset->writer);
    nt_json_member_unsigned(json, "n_entries", dataset->entries);
    nt_json_member_unsigned(json, "n_cluster_groups", dataset->group_count);
    dump_clusters(json, dataset);
    dump_fields(json, dataset);
    dump_columns(json, dataset);
    dump_documents(json, dataset);
    nt_json_key(json, "described");
    nt_json_object(json);
    dataset->ops->describe_dataset(dataset, json);
    nt_json_end_object(json);
    nt_json_end_object(json);
}

static enum nt_status count_layout(void *context, const struct nt_layout_range *range)
{
    ++*(uint64_t *)context;
    return NT_OK;
}

static void dump_file(struct nt_json *json, struct nt_file *file)
{
    uint64_t ranges = 0;
    struct nt_error error = {0};
    nt_json_key(json, "datasets");
    nt_json_array(json);
    for (uint32_t i = 0; i < file->dataset_count; i++)
        dump_dataset(json, file->datasets[i]);
    nt_json_end_array(json);
    if (file->layout && file->layout(file, count_layout, &ranges, &error) != NT_OK)
        nt_json_member_string(json, "layout", error.message);
    nt_json_member_unsigned(json, "layout_ranges", ranges);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct nt_error error = {0};
        struct nt_file *file = NULL;
        struct nt_buffer out = {0};
        struct nt_json json;
        nt_json_line(&json, &out);
        nt_json_member_string(&json, "path", argv[i]);
        struct nt_open_options options = {.struct_bytes = sizeof(options), .format = "rntuple"};
        enum nt_status status = nt_file_open(argv[i], &options, &file, &error);
        nt_json_member_string(&json, "status", nt_status_name(status));
        nt_json_member_string(&json, "error", status == NT_OK ? NULL : error.message);
        if (status == NT_OK)
            dump_file(&json, file);
        nt_json_finish(&json);
        fwrite(out.bytes, 1, out.length, stdout);
        nt_buffer_deinit(&out);
        nt_file_close(file);
    }
    return EXIT_SUCCESS;
}
