/* SPDX-License-Identifier: MIT
 *
 * Metadata of a Roaring file: its metadata.json, the JSON members of files and pages, and the byte
 * ranges that are headers rather than containers.
 */
#include "formats/roaring/roaring.h"

#include "core/base/memory.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "formats/roaring_reader.h"

/* The limit of buckets in metadata.json; pages.jsonl contains the containers of all buckets. */
enum { LISTED_BUCKETS = 65536 };

enum nt_status nt_roaring_describe_file(const struct nt_file *file, struct nt_json *json,
                                        struct nt_error *error)
{
    const struct nt_roaring *roaring = file->format_data;
    nt_json_member_string(json, "kind", "Roaring bitmap");
    nt_json_member_unsigned(json, "bits", nt_roaring_bits(roaring));
    return NT_OK;
}

enum nt_status nt_roaring_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                        const struct nt_page *page, struct nt_json *json)
{
    const struct nt_roaring *roaring = dataset->format_data;
    if (roaring->width == NT_ROARING_64)
        nt_json_member_unsigned(json, "bucket", page->parameter >> 32);
    nt_json_member_unsigned(json, "key", page->parameter >> 16 & 0xFFFF);
    nt_json_member_string(json, "container", nt_roaring_kind_info((enum nt_roaring_kind)page->decoder)->name);
    return NT_OK;
}

static void write_bitmap(struct nt_json *json, const struct nt_roaring_bitmap *bitmap)
{
    nt_json_member_unsigned(json, "cookie", bitmap->cookie);
    nt_json_member_bool(json, "has_run_flags", bitmap->has_run_flags);
    nt_json_member_bool(json, "has_offset_header", bitmap->has_offsets);
}

struct bucket_list {
    struct nt_json json;
    uint64_t left;
};

static enum nt_status write_bucket(void *context, const struct nt_roaring_bitmap *bitmap,
                                   struct nt_error *error)
{
    struct bucket_list *list = context;
    if (list->left == 0)
        return NT_CANCELED;
    list->left--;
    nt_json_object(&list->json);
    nt_json_member_unsigned(&list->json, "key", bitmap->high);
    nt_json_member_unsigned(&list->json, "file_offset", bitmap->offset);
    nt_json_member_unsigned(&list->json, "stored_bytes", bitmap->bytes);
    write_bitmap(&list->json, bitmap);
    nt_json_member_unsigned(&list->json, "containers", bitmap->containers);
    nt_json_member_unsigned(&list->json, "cardinality", bitmap->cardinality);
    nt_json_end_object(&list->json);
    return NT_OK;
}

static enum nt_status write_buckets(struct bucket_list *list, const struct nt_file *file,
                                    struct nt_error *error)
{
    const struct nt_roaring *roaring = file->format_data;
    list->left = LISTED_BUCKETS;
    nt_json_member_unsigned(&list->json, "bucket_count", roaring->buckets);
    nt_json_member_array(&list->json, "buckets");
    struct nt_roaring_walk walk = {
        .source = file->source,
        .width = NT_ROARING_64,
        .context = list,
        .on_bitmap = write_bucket,
    };
    enum nt_status status = nt_roaring_walk(&walk, error);
    nt_json_end_array(&list->json);
    return status == NT_CANCELED ? NT_OK : status;
}

static void write_value(struct nt_json *json, const char *key, const struct nt_roaring *roaring,
                        uint64_t value)
{
    if (roaring->cardinality)
        nt_json_member_unsigned(json, key, value);
    else
        nt_json_member_null(json, key);
}

enum nt_status nt_roaring_write_metadata(const struct nt_file *file, const struct nt_dataset *dataset,
                                         uint64_t number, struct nt_buffer *out, struct nt_error *error)
{
    const struct nt_roaring *roaring = file->format_data;
    struct bucket_list list = {.left = 0};
    struct nt_json *json = &list.json;
    enum nt_status status = NT_OK;
    nt_json_document(json, out, "roaring");
    nt_json_member_unsigned(json, "bits", nt_roaring_bits(roaring));
    nt_json_member_unsigned(json, "cardinality", roaring->cardinality);
    write_value(json, "minimum", roaring, roaring->minimum);
    write_value(json, "maximum", roaring, roaring->maximum);
    nt_json_member_unsigned(json, "containers", roaring->containers);
    nt_json_member_unsigned(json, "array_containers", roaring->kinds[NT_ROARING_ARRAY]);
    nt_json_member_unsigned(json, "bitset_containers", roaring->kinds[NT_ROARING_BITSET]);
    nt_json_member_unsigned(json, "run_containers", roaring->kinds[NT_ROARING_RUN]);
    nt_json_member_unsigned(json, "serialized_bytes", roaring->end);
    nt_json_member_unsigned(json, "trailing_bytes", file->source->size - roaring->end);
    if (roaring->width == NT_ROARING_32)
        write_bitmap(json, &roaring->bitmap);
    else
        status = write_buckets(&list, file, error);
    nt_json_finish(json);
    return status;
}

struct layout {
    const struct nt_roaring *roaring;
    struct nt_layout_output output;
};

static enum nt_status emit_bitmap(void *context, const struct nt_roaring_bitmap *bitmap,
                                  struct nt_error *error)
{
    const struct layout *layout = context;
    uint64_t at = bitmap->offset;
    enum nt_status status = NT_OK;
    if (layout->roaring->width == NT_ROARING_64)
        status =
            nt_layout_put(&layout->output, at - sizeof(bitmap->high), sizeof(bitmap->high), "bucket key");
    if (status == NT_OK)
        status = nt_layout_put(&layout->output, at, bitmap->header_bytes, "header");
    at += bitmap->header_bytes;
    if (status == NT_OK)
        status = nt_layout_put(&layout->output, at, bitmap->descriptor_bytes, "descriptors");
    at += bitmap->descriptor_bytes;
    if (status == NT_OK)
        status = nt_layout_put(&layout->output, at, bitmap->offset_bytes, "offset header");
    return status;
}

enum nt_status nt_roaring_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                 struct nt_error *error)
{
    struct layout layout = {.roaring = file->format_data, .output = {.emit = emit, .context = context}};
    enum nt_status status = NT_OK;
    if (layout.roaring->width == NT_ROARING_64)
        status = nt_layout_put(&layout.output, 0, sizeof(uint64_t), "bucket count");
    if (status != NT_OK)
        return status;
    struct nt_roaring_walk walk = {
        .source = file->source,
        .width = layout.roaring->width,
        .context = &layout,
        .on_bitmap = emit_bitmap,
    };
    status = nt_roaring_walk(&walk, error);
    if (status == NT_OK)
        status = nt_layout_put(&layout.output, layout.roaring->end, file->source->size - layout.roaring->end,
                               "trailing bytes");
    return status;
}
