/* SPDX-License-Identifier: MIT
 *
 * In: the path of a BLZ or bcolz directory, or of a Bloscpack file. Out: the model of it: one data set with
 * the name of the directory, or the file's stem.
 */
#include <string.h>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "formats/blz/build.h"
#include "formats/blz/opened.h"
#include "formats/blz/state.h"
#include "formats/format.h"

static void free_node(struct nt_blz_node *node)
{
    for (; node; node = node->next) {
        json_decref(node->names);
        json_decref(node->sizes);
        json_decref(node->storage);
        json_decref(node->attributes);
        for (size_t i = 0; i < node->other_count; i++)
            json_decref(node->others[i].content);
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
}

/* Columns and attributes that cannot be read, which no page tells of. */
static void tell_problems(const struct nt_blz_node *node, nt_failure_emit *emit, void *context)
{
    for (; node; node = node->next) {
        struct nt_error failure;
        if (node->problem) {
            nt_fail(&failure, node->failure, NT_NO_OFFSET, "'%s': %s", node->name.bytes, node->problem);
            emit(context, &failure);
        }
        tell_problems(node->children, emit, context);
    }
}

static enum nt_status check_file(const struct nt_file *file, nt_failure_emit *emit, void *context,
                                 struct nt_error *error)
{
    const struct nt_blz *blz = file->datasets[0]->format_data;
    (void)error;
    tell_problems(blz->root, emit, context);
    return NT_OK;
}

static const struct nt_dataset_ops dataset_ops = {
    .load_group = nt_blz_load_group,
    .describe_field = nt_blz_describe_field,
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
    struct nt_text name = blz->root ? nt_path_name(file->path) : nt_path_stem(file->path);
    bool is_named = nt_text_copy(dataset->arena, name, &dataset->name);
    dataset->title = dataset->name;
    dataset->description = dataset->writer = (struct nt_text){"", 0};
    dataset->format = blz->root ? nt_format_blz.name : "bloscpack";
    dataset->generation = generation_of(blz);
    dataset->generation_reason = blz->root ? "the parameters in meta/storage" : "the magic";
    dataset->version = blz->root ? "1" : nt_arena_format(dataset->arena, "%u", blz->bloscpack.header.version);
    return is_named && dataset->version ? NT_OK : nt_fail_memory(error);
}

static enum nt_status fill_dataset(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_file *file = dataset->file;
    struct nt_blz *blz = dataset->format_data;
    struct nt_blz_build build = {.dataset = dataset, .blz = blz, .folder = file->source->folder};
    enum nt_status status = NT_OK;
    nt_builder_init(&build.model, dataset);
    blz->folder = build.folder;
    if (build.folder)
        status = nt_blz_state_number(build.folder, &blz->state, error);
    if (status == NT_OK)
        status = build.folder ? nt_blz_read_directory(&build, error)
                              : nt_blz_read_bloscpack(&build, file->source, error);
    if (status == NT_OK)
        status = nt_blz_build_finish(&build, error);
    if (status == NT_OK)
        status = describe_dataset(dataset, blz, error);
    nt_blz_build_deinit(&build);
    return status;
}

static enum nt_status fill_file(struct nt_file *file, const void *unused, struct nt_error *error)
{
    (void)unused;
    struct nt_dataset *dataset;
    enum nt_status status = nt_file_add_dataset(file, &dataset, error);
    if (status != NT_OK)
        return status;
    struct nt_blz *blz = nt_arena_alloc(dataset->arena, 1, sizeof(*blz));
    if (!blz)
        return nt_fail_memory(error);
    dataset->format_data = blz;
    dataset->ops = &dataset_ops;
    dataset->documents = documents;
    dataset->document_count = sizeof(documents) / sizeof(*documents);
    status = fill_dataset(dataset, error);
    if (status != NT_OK)
        return status;
    file->describe = nt_blz_describe_file;
    file->layout = nt_blz_layout;
    file->check = check_file;
    file->layout_sources = dataset->sources;
    file->layout_source_count = blz->file_count;
    return NT_OK;
}

/* A link that leads out of the folder marks it, too: opening tells what is wrong with it. */
static enum nt_status takes_folder(struct nt_folder *folder, bool *takes_ret, struct nt_error *error)
{
    enum nt_status status = nt_folder_has(folder, "meta/storage", takes_ret, error);
    if (status != NT_OK || *takes_ret)
        return status;
    return nt_folder_has(folder, "__rootdirs__", takes_ret, error);
}

static enum nt_status recognize_folder(const struct nt_source *source, struct nt_error *error)
{
    bool is_taken;
    enum nt_status status = takes_folder(source->folder, &is_taken, error);
    if (status != NT_OK || is_taken)
        return status;
    return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                   "not a BLZ array or table: neither meta/storage nor __rootdirs__");
}

static enum nt_status recognize_file(struct nt_source *source, struct nt_error *error)
{
    char magic[4] = {0};
    enum nt_status status = NT_OK;
    if (source->size >= sizeof(magic))
        status = nt_source_read(source, 0, magic, sizeof(magic), error);
    if (status == NT_OK && memcmp(magic, "blpk", sizeof(magic)))
        status = nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "not a Bloscpack file");
    return status;
}

static enum nt_status open_blz(struct nt_source *source, const struct nt_open_options *options,
                               struct nt_file **file_ret, struct nt_error *error)
{
    const struct nt_limits limits = nt_open_limits(options);
    enum nt_status status = source->folder ? recognize_folder(source, error) : recognize_file(source, error);
    return status == NT_OK ? nt_file_make(source, &limits, fill_file, NULL, file_ret, error) : status;
}

const struct nt_format nt_format_blz = {
    .name = "blz",
    .description = "BLZ and bcolz arrays and tables (directories), Bloscpack files",
    .takes_folder = takes_folder,
    .find_state = nt_blz_find_state,
    .open = open_blz,
};
