/* SPDX-License-Identifier: MIT
 *
 * Opens a Roaring bitmap file as a dataset with one field `values` whose pages are the bitmap's
 * containers. The whole file is validated on open, as 32-bit or 64-bit; other serializations of Roaring
 * libraries are recognized so that the error message can name them. The page list is built on first use.
 * Describes the file: metadata.json, the JSON members of files and pages, and the byte ranges that are
 * headers.
 */
#include "formats/roaring/roaring.h"

#include "core/json/json.h"
#include "core/model/builder.h"
#include "formats/formats.h"

/* ---- Recognize other serializations ---- */

enum {
    HEAD_BYTES = 16,
    TAIL_BYTES = 4,
    FROZEN_COOKIE = 13766, /* low 15 bits of the last word */
    FROZEN_FLAGS = 3,
    FROZEN_64_HEAD_BYTES = 9,
    FROZEN_LINE_BYTES = 64,
    BITSET_BYTES = 8192,
    ART_NODE_KINDS = 5,
    ART_KEY_BYTES = 6,
};

struct roaring_ends {
    struct nt_source *source;
    uint8_t head[HEAD_BYTES], tail[TAIL_BYTES];
    uint64_t size;
};

/* A flag (are the longs signed?), the number of bitmaps, the first key, big-endian; a 32-bit bitmap. */
static bool is_navigable_map(const struct roaring_ends *ends)
{
    uint32_t bitmaps = nt_load_be32(ends->head + 1);
    return ends->head[0] <= 1 && bitmaps > 0 && bitmaps <= ends->size / 12 &&
           nt_roaring_is_cookie(ends->head + 9);
}

/* 1, the number of keys (64 bits, little-endian), the root node: kind, children and prefix length. */
static bool is_art(const struct roaring_ends *ends)
{
    uint64_t keys = nt_load_le64(ends->head + 1);
    return ends->head[0] == 1 && keys > 0 && keys <= ends->size / 8 && ends->head[9] < ART_NODE_KINDS &&
           ends->head[12] <= ART_KEY_BYTES;
}

static bool is_native_bitmap(const struct roaring_ends *ends)
{
    return ends->head[0] == 2 && nt_roaring_is_cookie(ends->head + 1);
}

static bool is_native_array(const struct roaring_ends *ends)
{
    return ends->head[0] == 1 && 5 + 4 * (uint64_t)nt_load_le32(ends->head + 1) == ends->size;
}

static bool is_frozen(const struct roaring_ends *ends)
{
    return (nt_load_le32(ends->tail) & 0x7FFF) == FROZEN_COOKIE;
}

/* Flags, the number of containers (64 bits), an element count minus one for each of them (16 bits),
 * then the bytes of bitsets, runs and arrays (64 bits each). The file consists of 64-byte lines. */
static bool is_frozen_64(const struct roaring_ends *ends)
{
    uint8_t sizes[24];
    uint64_t containers = nt_load_le64(ends->head + 1), at = FROZEN_64_HEAD_BYTES + 2 * containers;
    if (ends->head[0] > FROZEN_FLAGS || ends->size % FROZEN_LINE_BYTES || containers == 0 ||
        containers > ends->size / 4 || at > ends->size - sizeof(sizes) ||
        nt_source_read(ends->source, at, sizes, sizeof(sizes), NULL) != NT_OK)
        return false;
    uint64_t bitsets = nt_load_le64(sizes), runs = nt_load_le64(sizes + 8), arrays = nt_load_le64(sizes + 16);
    bool may_be = bitsets < ends->size && runs < ends->size && arrays < ends->size &&
                  bitsets % BITSET_BYTES == 0 && runs % 4 == 0 && arrays % 2 == 0;
    return may_be && bitsets + runs + arrays > 0 && bitsets + runs + arrays < ends->size &&
           bitsets / BITSET_BYTES <= containers;
}

static const struct {
    const char *name;
    bool (*matches)(const struct roaring_ends *ends);
} relatives[] = {
    {"Java's Roaring64NavigableMap in its own serialization", is_navigable_map},
    {"CRoaring's own serialization of a bitmap", is_native_bitmap},
    {"CRoaring's own serialization of an array", is_native_array},
    {"CRoaring's frozen format of 64 bits", is_frozen_64},
    {"Java's Roaring64Bitmap (an adaptive radix tree)", is_art},
    {"CRoaring's frozen format", is_frozen},
};

const char *nt_roaring_relative(struct nt_source *source)
{
    struct roaring_ends ends = {.source = source, .size = source->size};
    if (ends.size < HEAD_BYTES || nt_source_read(source, 0, ends.head, HEAD_BYTES, NULL) != NT_OK ||
        nt_source_read(source, ends.size - TAIL_BYTES, ends.tail, TAIL_BYTES, NULL) != NT_OK)
        return NULL;
    for (size_t i = 0; i < sizeof(relatives) / sizeof(*relatives); i++)
        if (relatives[i].matches(&ends))
            return relatives[i].name;
    return NULL;
}

/* ---- Validate bitmaps ---- */

enum {
    START_BYTES = 16,           /* 64-bit: bucket count, first key, first cookie */
    SMALLEST_BYTES = 8,         /* an empty bitmap */
    SMALLEST_BUCKET_BYTES = 12, /* a key and an empty bitmap */
};

static enum nt_status add_container(void *context, const struct nt_roaring_bitmap *bitmap,
                                    const struct nt_roaring_container *container, struct nt_error *error)
{
    struct nt_roaring *roaring = context;
    uint64_t high = (uint64_t)bitmap->high << 32 | (uint64_t)container->key << 16;
    if (roaring->containers == 0)
        roaring->minimum = high | container->first;
    roaring->maximum = high | container->last;
    roaring->containers++;
    roaring->kinds[container->kind]++;
    if (!nt_checked_add(roaring->cardinality, container->cardinality, &roaring->cardinality))
        return nt_fail(error, NT_LIMIT, container->offset,
                       "the bitmap holds all 2^64 values, more than a 64-bit count can express");
    return NT_OK;
}

static enum nt_status keep_bitmap(void *context, const struct nt_roaring_bitmap *bitmap,
                                  struct nt_error *error)
{
    ((struct nt_roaring *)context)->bitmap = *bitmap;
    return NT_OK;
}

static enum nt_status validate_as(struct nt_source *source, enum nt_roaring_width width,
                                  bool accept_trailing_bytes, struct nt_roaring *roaring,
                                  struct nt_error *error)
{
    *roaring = (struct nt_roaring){.width = width};
    struct nt_roaring_walk walk = {
        .source = source,
        .width = width,
        .check_contents = true,
        .context = roaring,
        .on_container = add_container,
        .on_bitmap = keep_bitmap,
    };
    enum nt_status status = nt_roaring_walk(&walk, error);
    if (status == NT_OK && walk.end != source->size && !accept_trailing_bytes)
        status = nt_fail(error, NT_CORRUPT, walk.end, "%" PRIu64 " bytes after the end of the bitmap",
                         source->size - walk.end);
    NT_TRY(nt_with_context(status, error, "as a %u-bit Roaring bitmap", nt_roaring_bits(roaring)));
    roaring->buckets = walk.buckets;
    roaring->end = walk.end;
    return NT_OK;
}

/* Can the first bytes be those of a 64-bit file? An empty one has nothing but its count of 0, which
 * proves nothing if more bytes follow. */
static bool may_be_64_bit(const uint8_t *start, uint64_t size)
{
    uint64_t buckets = nt_load_le64(start);
    if (buckets == 0)
        return size == SMALLEST_BYTES;
    return size >= START_BYTES && buckets <= (size - SMALLEST_BYTES) / SMALLEST_BUCKET_BYTES &&
           nt_roaring_is_cookie(start + 12);
}

static enum nt_status not_roaring(struct nt_source *source, struct nt_error *error)
{
    const char *relative = nt_roaring_relative(source);
    if (relative)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "looks like %s; only the portable serialization of Roaring bitmaps can be read",
                       relative);
    return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "not a Roaring bitmap");
}

/* First as 32-bit if there is a cookie, then as 64-bit. */
static enum nt_status validate_either(struct nt_source *source, bool has_cookie, bool may_be_64,
                                      bool accept_trailing_bytes, struct nt_roaring *roaring,
                                      struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (has_cookie)
        status = validate_as(source, NT_ROARING_32, accept_trailing_bytes, roaring, error);
    if (has_cookie && (status == NT_OK || !may_be_64))
        return status;
    struct nt_error error_64 = {0};
    enum nt_status status_64 = validate_as(source, NT_ROARING_64, accept_trailing_bytes, roaring, &error_64);
    if (status_64 == NT_OK || has_cookie) /* in doubt, the result for the cookie counts */
        return status_64 == NT_OK ? NT_OK : status;
    if (error)
        *error = error_64;
    return status_64;
}

/* The start of a file that may be a bitmap; zeros behind its end. */
static enum nt_status read_start(struct nt_source *source, uint8_t start[static START_BYTES],
                                 struct nt_error *error)
{
    memset(start, 0, START_BYTES);
    if (source->size < SMALLEST_BYTES)
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                       "not a Roaring bitmap: %" PRIu64 " bytes are fewer than an empty one has",
                       source->size);
    size_t known = source->size < START_BYTES ? (size_t)source->size : START_BYTES;
    NT_TRY(nt_source_read(source, 0, start, known, error));
    bool may_be = nt_roaring_is_cookie(start) || may_be_64_bit(start, source->size);
    return may_be ? NT_OK : not_roaring(source, error);
}

/* NT_UNSUPPORTED, with a name, for another serialization of bitmaps. */
static enum nt_status recognize(struct nt_source *source, struct nt_error *error)
{
    uint8_t start[START_BYTES];
    return read_start(source, start, error);
}

/* A reading that ends with the file is right; if there is none, bytes after the end are accepted. */
enum nt_status nt_roaring_validate(struct nt_source *source, bool accept_trailing_bytes,
                                   struct nt_roaring *roaring, struct nt_error *error)
{
    uint8_t start[START_BYTES];
    NT_TRY(read_start(source, start, error));
    bool has_cookie = nt_roaring_is_cookie(start), may_be_64 = may_be_64_bit(start, source->size);
    enum nt_status status = validate_either(source, has_cookie, may_be_64, false, roaring, error);
    if (status != NT_OK && accept_trailing_bytes &&
        validate_either(source, has_cookie, may_be_64, true, roaring, NULL) == NT_OK)
        return NT_OK;
    return status;
}

/* ---- Descriptions ---- */

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
static enum nt_status roaring_write_metadata(const struct nt_document_request *request, struct nt_buffer *out,
                                             struct nt_error *error)
{
    const struct nt_roaring *roaring = request->file->format_data;
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
    nt_json_member_unsigned(json, "trailing_bytes", request->file->source->size - roaring->end);
    if (roaring->width == NT_ROARING_32)
        write_bitmap(json, &roaring->bitmap);
    else
        status = write_buckets(&list, request->file, error);
    nt_json_finish(json);
    return status;
}

struct roaring_layout {
    const struct nt_roaring *roaring;
    struct nt_layout_output output;
};

static enum nt_status emit_bitmap(void *context, const struct nt_roaring_bitmap *bitmap,
                                  struct nt_error *error)
{
    const struct roaring_layout *layout = context;
    uint64_t at = bitmap->offset;
    if (layout->roaring->width == NT_ROARING_64)
        NT_TRY(nt_layout_emit_range(&layout->output, at - sizeof(bitmap->high), sizeof(bitmap->high),
                                    "bucket key"));
    NT_TRY(nt_layout_emit_range(&layout->output, at, bitmap->header_bytes, "header"));
    at += bitmap->header_bytes;
    NT_TRY(nt_layout_emit_range(&layout->output, at, bitmap->descriptor_bytes, "descriptors"));
    at += bitmap->descriptor_bytes;
    return nt_layout_emit_range(&layout->output, at, bitmap->offset_bytes, "offset header");
}

static enum nt_status roaring_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                     struct nt_error *error)
{
    struct roaring_layout layout = {.roaring = file->format_data,
                                    .output = {.emit = emit, .context = context}};
    if (layout.roaring->width == NT_ROARING_64)
        NT_TRY(nt_layout_emit_range(&layout.output, 0, sizeof(uint64_t), "bucket count"));
    struct nt_roaring_walk walk = {
        .source = file->source,
        .width = layout.roaring->width,
        .context = &layout,
        .on_bitmap = emit_bitmap,
    };
    NT_TRY(nt_roaring_walk(&walk, error));
    return nt_layout_emit_range(&layout.output, layout.roaring->end, file->source->size - layout.roaring->end,
                                "trailing bytes");
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
    for (unsigned kind = 0; kind < NT_ROARING_KIND_COUNT; kind++) {
        struct nt_decoder decoder;
        uint32_t number;
        NT_TRY(nt_decoder_init(&decoder, nt_roaring_kind_info(kind)->encoding, 0, 0, 0, error));
        nt_decoder_set_element(&decoder, element);
        NT_TRY(nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, &number,
                               error));
    }
    return NT_OK;
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
    NT_TRY(add_decoders(builder->dataset, dtype.element, error));
    NT_TRY(nt_builder_add_field(builder, &field, NULL, error));
    NT_TRY(nt_builder_add_column(builder, &column, nt_decoders_get(&builder->dataset->decoders, 0), error));
    return nt_builder_finish(builder, error);
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
    NT_TRY(nt_dataset_from_file(dataset, error));
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
    NT_TRY(nt_check_memory(roaring, error));
    NT_TRY(nt_roaring_validate(file->source, !options->refuse_trailing_bytes, roaring, error));
    nt_budget_add_metadata(&file->budget, roaring->containers * DESCRIPTOR_BYTES);
    file->format_data = roaring;
    file->describe = roaring_describe_file;
    file->layout = roaring_layout;
    struct nt_dataset *dataset;
    NT_TRY(nt_file_add_dataset(file, &dataset, error));
    return fill_dataset(dataset, roaring, error);
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
    .recognize = recognize,
    .open = open_roaring,
};
