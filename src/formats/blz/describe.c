/* SPDX-License-Identifier: MIT
 *
 * Metadata of an open array, table or Bloscpack file: metadata.json, the Blosc header of each page, and
 * the byte ranges outside chunks.
 */
#include "formats/blz/blz.h"

#include <ntuple/source.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"

/* ---- metadata.json ---- */

static void write_member(struct nt_json *json, const char *key, const json_t *value)
{
    nt_json_key(json, key);
    nt_blz_json_write(json, value);
}

/* Copies the content of unknown files. */
static void write_others(struct nt_json *json, const struct nt_blz_node *node)
{
    if (!node->other_count)
        return;
    nt_json_member_array(json, "meta");
    for (size_t i = 0; i < node->other_count; i++) {
        const struct nt_blz_meta_file *file = &node->others[i];
        nt_json_object(json);
        nt_json_member_text(json, "name", file->name);
        if (file->unreadable)
            nt_json_member_string(json, "unreadable", file->unreadable);
        else
            write_member(json, "content", file->content);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static void write_node(struct nt_json *json, const struct nt_blz_node *node)
{
    nt_json_member_string(json, "kind", node->names ? "table" : "array");
    nt_json_member_text(json, "name", node->name);
    if (node->problem)
        nt_json_member_string(json, "problem", node->problem);
    if (node->names)
        write_member(json, "rootdirs", node->names);
    if (node->sizes)
        write_member(json, "sizes", node->sizes);
    if (node->storage)
        write_member(json, "storage", node->storage);
    write_member(json, "attributes", node->attributes);
    write_others(json, node);
}

/* Nests a table's columns in it; nt_blz_read_directory bounds the depth. */
static void write_tree(struct nt_json *json, const struct nt_blz_node *node)
{
    write_node(json, node);
    if (!node->names)
        return;
    nt_json_member_array(json, "columns");
    for (const struct nt_blz_node *child = node->children; child; child = child->next) {
        nt_json_object(json);
        write_tree(json, child);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static void write_size(struct nt_json *json, const char *key, int64_t size)
{
    if (size < 0)
        nt_json_member_null(json, key);
    else
        nt_json_member_signed(json, key, size);
}

static void write_header(struct nt_json *json, const struct nt_bloscpack *bloscpack)
{
    const struct nt_bloscpack_header *header = &bloscpack->header;
    nt_json_member_object(json, "header");
    nt_json_member_unsigned(json, "version", header->version);
    nt_json_member_bool(json, "has_offsets", header->has_offsets);
    nt_json_member_bool(json, "uses_offsets", bloscpack->uses_offsets);
    nt_json_member_bool(json, "has_metadata", header->has_metadata);
    nt_json_member_string(json, "checksum_kind", nt_checksum_info(header->checksum)->name);
    nt_json_member_unsigned(json, "type_bytes", header->type_bytes);
    write_size(json, "chunk_bytes", header->chunk_bytes);
    write_size(json, "last_chunk_bytes", header->last_chunk_bytes);
    write_size(json, "chunks", header->chunks);
    nt_json_member_signed(json, "append_chunks", header->append_chunks);
    nt_json_end_object(json);
}

static void write_section(struct nt_json *json, const struct nt_bloscpack_metadata *section)
{
    nt_json_member_object(json, "metadata_header");
    nt_json_member_string(json, "checksum_kind", nt_checksum_info(section->checksum)->name);
    nt_json_member_string(json, "codec", section->codec ? "zlib" : "none");
    nt_json_member_unsigned(json, "level", section->level);
    nt_json_member_unsigned(json, "metadata_bytes", section->bytes);
    nt_json_member_unsigned(json, "maximum_metadata_bytes", section->maximum_bytes);
    nt_json_member_unsigned(json, "stored_bytes", section->stored_bytes);
    nt_json_end_object(json);
}

enum nt_status nt_blz_write_metadata(const struct nt_file *file, const struct nt_dataset *dataset,
                                     uint64_t number, struct nt_buffer *out, struct nt_error *error)
{
    const struct nt_blz *blz = dataset->format_data;
    struct nt_json json;
    nt_json_document(&json, out, blz->root ? "blz" : "bloscpack");
    if (blz->root) {
        write_tree(&json, blz->root);
    } else {
        write_header(&json, &blz->bloscpack);
        if (blz->bloscpack.header.has_metadata)
            write_section(&json, &blz->bloscpack.metadata);
        if (blz->metadata_problem)
            nt_json_member_string(&json, "problem", blz->metadata_problem);
        write_member(&json, "metadata", blz->metadata);
    }
    nt_json_finish(&json);
    return NT_OK;
}

/* ---- file.json, field.json, pages.jsonl ---- */

enum nt_status nt_blz_describe_file(const struct nt_file *file, struct nt_json *json, struct nt_error *error)
{
    const struct nt_blz *blz = file->datasets[0]->format_data;
    if (blz->root) {
        nt_json_member_string(json, "kind", blz->root->names ? "BLZ table" : "BLZ array");
        nt_json_member_unsigned(json, "files", blz->file_count);
    } else {
        nt_json_member_string(json, "kind", "Bloscpack file");
        nt_json_member_unsigned(json, "bloscpack_version", blz->bloscpack.header.version);
    }
    return NT_OK;
}

void nt_blz_describe_field(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json)
{
    const struct nt_field *f = &dataset->fields[field];
    if (f->dimension_count || nt_field_is_fortran_order(f))
        nt_json_member_bool(json, "is_fortran_order", nt_field_is_fortran_order(f));
    if (f->kind == NT_FIELD_MEMBER)
        nt_json_member_unsigned(json, "member_offset", nt_field_member_offset(f));
}

enum nt_status nt_blz_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                    const struct nt_page *page, struct nt_json *json)
{
    struct nt_source *source = dataset->sources[page->source];
    struct nt_blosc_header header;
    struct nt_error error = {0};
    uint8_t bytes[NT_BLOSC_HEADER_BYTES];
    const char *damage = NULL;
    enum nt_status status = nt_source_read(source, page->offset, bytes, sizeof(bytes), &error);
    if (nt_is_retryable(status, &error))
        return status;
    if (status != NT_OK)
        damage = error.message;
    else
        damage = nt_blosc_header_read(bytes, page->stored_bytes, &header);
    if (damage) {
        nt_json_member_string(json, "damage", damage);
        return NT_OK;
    }
    nt_json_member_string(json, "codec", nt_blosc_codec(&header));
    nt_json_member_string(json, "shuffle", nt_blosc_shuffle(&header));
    nt_json_member_bool(json, "is_memcpyed", nt_blosc_is_stored(&header));
    nt_json_member_unsigned(json, "type_bytes", header.type_bytes);
    nt_json_member_unsigned(json, "block_bytes", header.block_bytes);
    nt_json_member_unsigned(json, "chunk_bytes", header.plain_bytes);
    return NT_OK;
}

/* ---- Layout ---- */

/* Emits the ranges before the chunks of a file. */
static enum nt_status emit_chunk_file(const struct nt_layout_output *layout, struct nt_source *source,
                                      struct nt_error *error)
{
    struct nt_bloscpack bloscpack;
    enum nt_status status = nt_bloscpack_open(source, &bloscpack, NULL, error);
    if (status != NT_OK)
        return status;
    uint64_t header_bytes = bloscpack.header.header_bytes;
    status = nt_layout_put(layout, 0, header_bytes, "bloscpack header");
    if (status == NT_OK)
        status = nt_layout_put(layout, header_bytes, bloscpack.metadata.section_bytes, "metadata");
    if (status == NT_OK)
        status = nt_layout_put(layout, bloscpack.offsets_offset,
                               bloscpack.chunks_offset - bloscpack.offsets_offset, "offsets");
    return status;
}

enum nt_status nt_blz_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                             struct nt_error *error)
{
    const struct nt_dataset *dataset = file->datasets[0];
    const struct nt_blz *blz = dataset->format_data;
    struct nt_layout_output layout = {.emit = emit, .context = context};
    enum nt_status status = NT_OK;
    for (layout.source = 0; status == NT_OK && layout.source < blz->file_count; layout.source++) {
        struct nt_source *source = dataset->sources[layout.source];
        uint64_t bytes;
        bool is_metadata = layout.source >= blz->chunk_file_count;
        status =
            is_metadata ? nt_source_size(source, &bytes, error) : emit_chunk_file(&layout, source, error);
        if (status == NT_OK && is_metadata)
            status = nt_layout_put(&layout, 0, bytes, "metadata");
        if (!nt_is_environmental(status))
            status = NT_OK; /* a damaged or missing file has no ranges */
    }
    return status;
}
