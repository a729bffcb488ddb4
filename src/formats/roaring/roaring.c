/* SPDX-License-Identifier: MIT
 *
 * Opens a Roaring bitmap file as a dataset with one field `values` whose pages are the bitmap's
 * containers. The whole file is validated on open; the page list is built on first use. Describes it:
 * metadata.json, the JSON members of files and pages, and the byte ranges that are headers.
 */
#include "formats/roaring/roaring.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/budget.h"
#include "core/model/builder.h"
#include "core/model/model.h"
#include "formats/formats.h"
#include "formats/roaring_reader.h"

/* The limit of buckets in metadata.json; pages.jsonl contains the containers of all buckets. */
enum { LISTED_BUCKETS = 65536 };

static enum nt_status roaring_describe_file(const struct nt_file *file, struct nt_json *json,
                                            struct nt_error *error)
{
    const struct nt_roaring *roaring = file->format_data;
    nt_json_member_string(json, "kind", "Roaring bitmap");
    nt_json_member_unsigned(json, "bits", nt_roaring_bits(roaring));
    return NT_OK;
}

static enum nt_status roaring_describe_page(const struct nt_dataset *dataset, uint32_t column,
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

/* The document metadata.json, the members of the JSON of a file and of a page, and the layout. */
static enum nt_status roaring_write_metadata(const struct nt_file *file, const struct nt_dataset *dataset,
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

static enum nt_status roaring_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
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

/* Minimum bytes of a container besides its values. Validation reads them, so they count as metadata. */
enum { DESCRIPTOR_BYTES = 8 };

/* A decoder's number is its container's kind. */
static enum nt_status add_page(void *context, const struct nt_roaring_bitmap *bitmap,
                               const struct nt_roaring_container *container, struct nt_error *error)
{
    const struct nt_page page = {
        .offset = container->offset,
        .stored_bytes = container->bytes,
        .parameter = (uint64_t)bitmap->high << 32 | (uint64_t)container->key << 16,
        .elements = container->cardinality,
        .decoder = container->kind,
        .checksum = NT_CHECKSUM_NONE,
        .compression = NT_COMPRESSION_NONE,
    };
    return nt_group_builder_add(context, &page, error);
}

static enum nt_status load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    const struct nt_roaring *roaring = dataset->format_data;
    struct nt_group_builder builder;
    struct nt_roaring_walk walk = {
        .source = dataset->file->source,
        .width = roaring->width,
        .context = &builder,
        .on_container = add_page,
    };
    enum nt_status status =
        nt_group_builder_init(&builder, dataset, number, "list of containers", NT_NO_OFFSET, error);
    if (status == NT_OK)
        status = nt_group_builder_start(&builder, 0, 0, error);
    if (status == NT_OK)
        status = nt_roaring_walk(&walk, error);
    if (status == NT_OK &&
        (builder.group->page_count != roaring->containers || builder.first_element != roaring->cardinality))
        status = nt_fail(error, NT_CHANGED, NT_NO_OFFSET,
                         "the containers differ from those when the file was opened");
    return nt_group_builder_finish(&builder, status);
}

static const struct nt_dataset_ops dataset_ops = {
    .load_group = load_group,
    .describe_page = roaring_describe_page,
};

static const struct nt_document documents[] = {
    {.prefix = "metadata.json", .write = roaring_write_metadata},
};

/* Adds one for each kind of container, in order. */
static enum nt_status add_decoders(struct nt_dataset *dataset, enum nt_element element,
                                   struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (unsigned kind = 0; status == NT_OK && kind < NT_ROARING_KIND_COUNT; kind++) {
        struct nt_decoder decoder;
        uint32_t number;
        status = nt_decoder_init(&decoder, nt_roaring_kind_info(kind)->encoding, 0, 0, 0, error);
        nt_decoder_set_element(&decoder, element);
        if (status == NT_OK)
            status = nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder,
                                     &number, error);
    }
    return status;
}

/* Adds the field and its column. */
static enum nt_status add_field(struct nt_builder *builder, const struct nt_roaring *roaring,
                                struct nt_error *error)
{
    bool is_32 = roaring->width == NT_ROARING_32;
    struct nt_dtype dtype = nt_element_dtype(is_32 ? NT_ELEMENT_UINT32 : NT_ELEMENT_UINT64);
    const struct nt_field field = {
        .parent = NT_NONE,
        .role = NT_ROLE_PLAIN,
        .kind = NT_FIELD_VALUE,
        .dtype = dtype,
        .name = {"values", 6},
        .type = {is_32 ? "uint32" : "uint64", 6},
        .description = {"", 0},
    };
    const struct nt_column column = {.type_name = is_32 ? "Roaring32" : "Roaring64", .dtype = dtype};
    enum nt_status status = add_decoders(builder->dataset, dtype.element, error);
    if (status == NT_OK)
        status = nt_builder_add_field(builder, &field, NULL, error);
    if (status == NT_OK)
        status =
            nt_builder_add_column(builder, &column, nt_decoders_get(&builder->dataset->decoders, 0), error);
    return status == NT_OK ? nt_builder_finish(builder, error) : status;
}

/* Puts all containers into one cluster. */
static enum nt_status build(struct nt_dataset *dataset, const struct nt_roaring *roaring,
                            struct nt_error *error)
{
    struct nt_builder builder;
    nt_builder_init(&builder, dataset);
    enum nt_status status = add_field(&builder, roaring, error);
    nt_builder_deinit(&builder);
    return status == NT_OK ? nt_dataset_add_only_cluster(dataset, roaring->cardinality, error) : status;
}

static enum nt_status fill_dataset(struct nt_dataset *dataset, struct nt_roaring *roaring,
                                   struct nt_error *error)
{
    enum nt_status status = nt_dataset_from_file(dataset, error);
    if (status != NT_OK)
        return status;
    dataset->format = nt_format_roaring.name;
    dataset->version = dataset->generation =
        roaring->width == NT_ROARING_32 ? "portable, 32-bit" : "portable, 64-bit";
    dataset->generation_reason =
        roaring->width == NT_ROARING_32 ? "the cookie" : "the cookie of the first bucket";
    dataset->documents = documents;
    dataset->document_count = sizeof(documents) / sizeof(*documents);
    dataset->ops = &dataset_ops;
    dataset->format_data = roaring;
    return build(dataset, roaring, error);
}

static enum nt_status fill_file(struct nt_file *file, const void *context, struct nt_error *error)
{
    const struct nt_open_options *options = context;
    struct nt_roaring *roaring = nt_arena_alloc(file->arena, 1, sizeof(*roaring));
    if (!roaring)
        return nt_fail_memory(error);
    enum nt_status status =
        nt_roaring_validate(file->source, !options->refuse_trailing_bytes, roaring, error);
    if (status != NT_OK)
        return status;
    nt_budget_add_metadata(&file->budget, roaring->containers * DESCRIPTOR_BYTES);
    file->format_data = roaring;
    file->describe = roaring_describe_file;
    file->layout = roaring_layout;
    struct nt_dataset *dataset;
    status = nt_file_add_dataset(file, &dataset, error);
    return status == NT_OK ? fill_dataset(dataset, roaring, error) : status;
}

static enum nt_status open_roaring(struct nt_source *source, const struct nt_open_options *options,
                                   struct nt_file **file_ret, struct nt_error *error)
{
    const struct nt_limits limits = nt_open_limits(options);
    return nt_file_make(source, &limits, fill_file, options, file_ret, error);
}

const struct nt_format nt_format_roaring = {
    .name = "roaring",
    .description = "Roaring bitmaps, portable format, 32 and 64 bits",
    .recognize = nt_roaring_recognize,
    .open = open_roaring,
};
