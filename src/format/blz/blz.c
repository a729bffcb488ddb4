/* SPDX-License-Identifier: MIT
 *
 * In: the path of a BLZ or bcolz directory, or of a Bloscpack file. Out: the model of it: one data set with
 * the name of the directory, or the file's stem.
 */
#include "format/blz/blz.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/formats.h"

static void free_node(struct nt_blz_node *node)
{
    for (; node; node = node->next) {
        json_decref(node->names);
        json_decref(node->sizes);
        json_decref(node->storage);
        json_decref(node->attributes);
        free_node(node->children);
    }
}

static void close_dataset(struct nt_dataset *dataset)
{
    struct nt_blz *blz = dataset->format_data;
    for (uint32_t i = 0; i < dataset->source_count; i++)
        if (dataset->sources[i] != dataset->file->source)
            nt_source_close(dataset->sources[i]);
    free_node(blz->root);
    json_decref(blz->metadata);
    nt_source_pool_free(blz->pool);
}

static const struct nt_dataset_ops dataset_ops = {
    .load_group = nt_blz_load_group,
    .describe_page = nt_blz_describe_page,
    .close = close_dataset,
};

static const struct nt_document documents[] = {
    {.prefix = "metadata.json", .write = nt_blz_write_metadata},
};

/* Which of the writers laid the directory out, as far as it shows. */
static const char *generation_of(const struct nt_blz *blz)
{
    const struct nt_blz_node *node = blz->root;
    while (node && node->names && node->children)
        node = node->children;
    if (!node)
        return "bloscpack";
    if (json_object_get(node->storage, "bparams"))
        return "blz";
    return json_object_get(json_object_get(node->storage, "cparams"), "cname") ? "bcolz"
                                                                               : "blz, first description";
}

static enum nt_status describe_dataset(struct nt_dataset *dataset, const struct nt_blz *blz,
                                       struct nt_error *error)
{
    const struct nt_file *file = dataset->file;
    size_t length;
    const char *name = blz->root ? nt_path_name(file->path, &length) : nt_path_stem(file->path, &length);
    dataset->name = dataset->title = (struct nt_text){nt_arena_copy(dataset->arena, name, length), length};
    dataset->description = dataset->writer = (struct nt_text){"", 0};
    dataset->format = blz->root ? nt_format_blz.name : "bloscpack";
    dataset->generation = generation_of(blz);
    dataset->generation_reason = blz->root ? "the parameters in meta/storage" : "the magic";
    dataset->version = blz->root ? "1" : nt_arena_format(dataset->arena, "%u", blz->bloscpack.header.version);
    return dataset->name.bytes && dataset->version ? NT_OK : nt_fail_memory(error);
}

static enum nt_status fill_dataset(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_file *file = dataset->file;
    struct nt_blz *blz = dataset->format_data;
    struct nt_blz_build build = {.dataset = dataset, .blz = blz};
    struct stat attributes;
    bool is_directory = stat(file->path, &attributes) == 0 && S_ISDIR(attributes.st_mode);
    enum nt_status status = is_directory ? nt_blz_read_directory(&build, file->path, error)
                                         : nt_blz_read_bloscpack(&build, file->source, error);
    if (status == NT_OK)
        status = nt_blz_build_finish(&build, error);
    if (status == NT_OK)
        status = describe_dataset(dataset, blz, error);
    nt_blz_build_deinit(&build);
    return status;
}

static enum nt_status fill_file(struct nt_file *file, struct nt_error *error)
{
    struct nt_dataset *dataset = nt_file_add_dataset(file);
    struct nt_blz *blz = dataset ? nt_arena_alloc(dataset->arena, 1, sizeof(*blz)) : NULL;
    if (!blz)
        return nt_fail_memory(error);
    dataset->format_data = blz;
    dataset->ops = &dataset_ops;
    dataset->documents = documents;
    dataset->document_count = sizeof(documents) / sizeof(*documents);
    blz->pool = nt_source_pool_new();
    if (!blz->pool)
        return nt_fail_memory(error);
    enum nt_status status = fill_dataset(dataset, error);
    if (status != NT_OK)
        return status;
    file->format = &nt_format_blz;
    file->describe = nt_blz_describe_file;
    file->layout = nt_blz_layout;
    file->layout_sources = dataset->sources;
    file->layout_source_count = blz->file_count;
    return NT_OK;
}

static bool exists(const char *directory, const char *name)
{
    struct stat attributes;
    struct nt_buffer path = {0};
    nt_buffer_format(&path, "%s/%s", directory, name);
    bool found = !path.failed && stat(path.bytes, &attributes) == 0;
    nt_buffer_deinit(&path);
    return found;
}

static enum nt_status open_directory(const char *path, struct nt_source **source_ret, struct nt_error *error)
{
    if (!exists(path, "meta/storage") && !exists(path, "__rootdirs__"))
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                       "not a BLZ array or table: neither meta/storage nor __rootdirs__");
    return nt_source_open_directory(path, source_ret, error);
}

static enum nt_status open_regular_file(const char *path, struct nt_source **source_ret,
                                        struct nt_error *error)
{
    char magic[4];
    enum nt_status status = nt_source_open_file(path, source_ret, error);
    if (status != NT_OK)
        return status;
    if ((*source_ret)->size < sizeof(magic))
        status = nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "not a Bloscpack file");
    else
        status = nt_source_read(*source_ret, 0, magic, sizeof(magic), error);
    if (status == NT_OK && memcmp(magic, "blpk", sizeof(magic)))
        status = nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "not a Bloscpack file");
    if (status != NT_OK)
        nt_source_close(*source_ret);
    return status;
}

static enum nt_status open_blz(const char *path, const struct nt_open_options *options,
                               struct nt_file **file_ret, struct nt_error *error)
{
    (void)options;
    struct stat attributes;
    struct nt_source *source;
    struct nt_file *file;
    bool is_directory = stat(path, &attributes) == 0 && S_ISDIR(attributes.st_mode);
    enum nt_status status =
        is_directory ? open_directory(path, &source, error) : open_regular_file(path, &source, error);
    if (status == NT_OK)
        status = nt_file_new(path, source, &file, error);
    if (status != NT_OK)
        return status;
    status = fill_file(file, error);
    if (status == NT_OK)
        *file_ret = file;
    else
        nt_file_close(file);
    return status;
}

const struct nt_format nt_format_blz = {
    .name = "blz",
    .description = "BLZ and bcolz arrays and tables (directories), Bloscpack files",
    .takes_directories = true,
    .open = open_blz,
};
