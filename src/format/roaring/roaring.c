/* SPDX-License-Identifier: MIT
 *
 * In: the path of a Roaring bitmap. Out: the model of it: a data set named like the file with one field
 * "values", whose pages are the containers. Validation reads the whole file once; the list of pages is made
 * when first needed.
 */
#include "format/roaring/roaring.h"

#include <stdlib.h>

#include <ntuple/format.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/formats.h"

struct page_list {
    struct nt_page *pages;
    uint64_t count, capacity, elements;
};

/* A decoder's index is its container's kind. */
static enum nt_status add_page(void *context, const struct nt_roaring_bitmap *bitmap,
                               const struct nt_roaring_container *container, struct nt_error *error)
{
    struct page_list *list = context;
    if (list->count == list->capacity)
        return nt_fail(error, NT_CHANGED, container->offset, "more containers than when the file was opened");
    list->pages[list->count++] = (struct nt_page){
        .offset = container->offset,
        .stored_bytes = container->bytes,
        .first_element = list->elements,
        .parameter = (uint64_t)bitmap->high << 32 | (uint64_t)container->key << 16,
        .elements = container->cardinality,
        .decoder = (uint16_t)container->kind,
        .checksum = NT_CHECKSUM_NONE,
        .compression = NT_COMPRESSION_NONE,
    };
    list->elements += container->cardinality;
    return NT_OK;
}

static enum nt_status load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    const struct nt_roaring *roaring = dataset->format_data;
    struct nt_group *group = &dataset->groups[number];
    struct page_list list = {.capacity = roaring->containers};
    list.pages = calloc(roaring->containers, sizeof(*list.pages));
    group->ranges = calloc(1, sizeof(*group->ranges));
    struct nt_roaring_walk walk = {
        .source = dataset->file->source,
        .width = roaring->width,
        .context = &list,
        .on_container = add_page,
    };
    enum nt_status status =
        list.pages && group->ranges ? nt_roaring_walk(&walk, error) : nt_fail_memory(error);
    if (status == NT_OK && (list.count != roaring->containers || list.elements != roaring->cardinality))
        status = nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "other containers than when the file was opened");
    if (status != NT_OK) {
        free(list.pages);
        free(group->ranges);
        group->ranges = NULL;
        return status;
    }
    group->pages = list.pages;
    group->page_count = list.count;
    group->ranges[0] = (struct nt_range){.pages = (uint32_t)list.count, .state = NT_RANGE_PRESENT};
    return NT_OK;
}

static const struct nt_dataset_ops dataset_ops = {
    .load_group = load_group,
    .describe_page = nt_roaring_describe_page,
};

static const struct nt_document documents[] = {
    {.prefix = "metadata.json", .write = nt_roaring_write_metadata},
};

static enum nt_status add_decoders(struct nt_dataset *dataset, const struct nt_roaring *roaring,
                                   struct nt_error *error)
{
    dataset->decoders = nt_arena_alloc(dataset->arena, NT_ROARING_KIND_COUNT, sizeof(*dataset->decoders));
    if (!dataset->decoders)
        return nt_fail_memory(error);
    dataset->decoder_count = NT_ROARING_KIND_COUNT;
    for (unsigned kind = 0; kind < NT_ROARING_KIND_COUNT; kind++) {
        struct nt_decoder *decoder = &dataset->decoders[kind];
        enum nt_status status =
            nt_decoder_init(decoder, nt_roaring_kind_info(kind)->encoding, 0, 0, 0, error);
        if (status != NT_OK)
            return status;
        decoder->element = roaring->width == NT_ROARING_32 ? NT_ELEMENT_UINT32 : NT_ELEMENT_UINT64;
        decoder->element_bytes = nt_element_info(decoder->element)->bytes;
    }
    return NT_OK;
}

/* One field and its one column. */
static enum nt_status add_field(struct nt_dataset *dataset, const struct nt_roaring *roaring,
                                struct nt_error *error)
{
    bool is_32 = roaring->width == NT_ROARING_32;
    dataset->fields = nt_arena_alloc(dataset->arena, 1, sizeof(*dataset->fields));
    dataset->columns = nt_arena_alloc(dataset->arena, 1, sizeof(*dataset->columns));
    if (!dataset->fields || !dataset->columns)
        return nt_fail_memory(error);
    dataset->field_count = dataset->column_count = 1;
    dataset->fields[0] = (struct nt_field){
        .parent = NT_NONE,
        .source_field = NT_NONE,
        .role = NT_ROLE_PLAIN,
        .kind = NT_FIELD_VALUE,
        .dtype = {.element = is_32 ? NT_ELEMENT_UINT32 : NT_ELEMENT_UINT64,
                  .bytes = is_32 ? 4 : 8,
                  .text = is_32 ? "'<u4'" : "'<u8'"},
        .name = {"values", 6},
        .type = {is_32 ? "uint32" : "uint64", 6},
        .alias = {"", 0},
        .description = {"", 0},
    };
    dataset->columns[0] = (struct nt_column){.type_name = is_32 ? "Roaring32" : "Roaring64"};
    return nt_dataset_link(dataset, error);
}

/* All containers are one cluster; an empty bitmap has none. */
static enum nt_status add_cluster(struct nt_dataset *dataset, const struct nt_roaring *roaring,
                                  struct nt_error *error)
{
    dataset->entries = roaring->cardinality;
    dataset->clusters_known = true;
    if (roaring->containers == 0)
        return NT_OK;
    if (roaring->containers > UINT32_MAX)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "more than 2^32 containers");
    dataset->groups = nt_arena_alloc(dataset->arena, 1, sizeof(*dataset->groups));
    dataset->clusters = nt_arena_alloc(dataset->arena, 1, sizeof(*dataset->clusters));
    if (!dataset->groups || !dataset->clusters)
        return nt_fail_memory(error);
    dataset->group_count = dataset->cluster_count = 1;
    dataset->groups[0].entries = roaring->cardinality;
    dataset->groups[0].clusters = 1;
    dataset->clusters[0] = (struct nt_cluster){.entries = roaring->cardinality, .column_group = NT_NONE};
    return NT_OK;
}

static enum nt_status fill_dataset(struct nt_dataset *dataset, struct nt_roaring *roaring,
                                   struct nt_error *error)
{
    size_t length;
    const char *stem = nt_path_stem(dataset->file->path, &length);
    dataset->name = dataset->title = (struct nt_text){nt_arena_copy(dataset->arena, stem, length), length};
    dataset->sources = nt_arena_alloc(dataset->arena, 1, sizeof(struct nt_source *));
    if (!dataset->name.bytes || !dataset->sources)
        return nt_fail_memory(error);
    dataset->sources[0] = dataset->file->source;
    dataset->source_count = 1;
    dataset->description = dataset->writer = (struct nt_text){"", 0};
    dataset->format = nt_format_roaring.name;
    dataset->version = dataset->generation =
        roaring->width == NT_ROARING_32 ? "portable, 32-bit" : "portable, 64-bit";
    dataset->generation_reason =
        roaring->width == NT_ROARING_32 ? "the cookie" : "the cookie of the first bucket";
    dataset->documents = documents;
    dataset->document_count = sizeof(documents) / sizeof(*documents);
    dataset->ops = &dataset_ops;
    dataset->format_data = roaring;
    enum nt_status status = add_decoders(dataset, roaring, error);
    if (status == NT_OK)
        status = add_field(dataset, roaring, error);
    if (status == NT_OK)
        status = add_cluster(dataset, roaring, error);
    return status;
}

static enum nt_status fill_file(struct nt_file *file, const struct nt_open_options *options,
                                struct nt_error *error)
{
    struct nt_roaring *roaring = nt_arena_alloc(file->arena, 1, sizeof(*roaring));
    if (!roaring)
        return nt_fail_memory(error);
    enum nt_status status =
        nt_roaring_validate(file->source, !options || !options->refuse_trailing_bytes, roaring, error);
    if (status != NT_OK)
        return status;
    file->format = &nt_format_roaring;
    file->format_data = roaring;
    file->describe = nt_roaring_describe_file;
    file->layout = nt_roaring_layout;
    struct nt_dataset *dataset = nt_file_add_dataset(file);
    return dataset ? fill_dataset(dataset, roaring, error) : nt_fail_memory(error);
}

static enum nt_status open_roaring(const char *path, const struct nt_open_options *options,
                                   struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_source *source;
    enum nt_status status = nt_source_open_file(path, &source, error);
    if (status != NT_OK)
        return status;
    struct nt_file *file;
    status = nt_file_new(path, source, &file, error);
    if (status != NT_OK)
        return status;
    status = fill_file(file, options, error);
    if (status == NT_OK)
        *file_ret = file;
    else
        nt_file_close(file);
    return status;
}

const struct nt_format nt_format_roaring = {
    .name = "roaring",
    .description = "Roaring bitmaps, portable format, 32 and 64 bits",
    .open = open_roaring,
};
