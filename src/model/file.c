/* SPDX-License-Identifier: MIT
 *
 * A file: its directories and data sets, their layout, and their end.
 */
#include <stdlib.h>
#include <string.h>

#include <ntuple/model.h>

#include "base/arena.h"

enum nt_status nt_file_new(const char *path, struct nt_source *source, struct nt_file **file_ret,
                           struct nt_error *error)
{
    struct nt_file *file = calloc(1, sizeof(*file));
    if (!file) {
        nt_source_close(source);
        return nt_fail_memory(error);
    }
    file->source = source;
    file->arena = nt_arena_new();
    if (file->arena)
        file->path = nt_arena_copy(file->arena, path, strlen(path));
    if (!file->path || nt_file_add_directory(file, 0, (struct nt_text){"", 0}) == NT_NONE) {
        nt_file_close(file);
        return nt_fail_memory(error);
    }
    *file_ret = file;
    return NT_OK;
}

uint32_t nt_file_add_directory(struct nt_file *file, uint32_t parent, struct nt_text name)
{
    struct nt_directory *directories =
        realloc(file->directories, (file->directory_count + 1) * sizeof(*directories));
    char *copy = nt_arena_copy(file->arena, name.bytes, name.length);
    if (directories)
        file->directories = directories;
    if (!directories || !copy)
        return NT_NONE;
    directories[file->directory_count] = (struct nt_directory){.parent = parent, .name = {copy, name.length}};
    return file->directory_count++;
}

struct nt_dataset *nt_file_add_dataset(struct nt_file *file)
{
    struct nt_dataset **datasets =
        realloc(file->datasets, (file->dataset_count + 1) * sizeof(struct nt_dataset *));
    if (!datasets)
        return NULL;
    file->datasets = datasets;
    struct nt_dataset *dataset = calloc(1, sizeof(*dataset));
    if (!dataset)
        return NULL;
    dataset->arena = nt_arena_new();
    if (!dataset->arena || pthread_mutex_init(&dataset->lock, NULL)) {
        nt_arena_free(dataset->arena);
        free(dataset);
        return NULL;
    }
    dataset->file = file;
    dataset->index = file->dataset_count;
    dataset->attribute_of = NT_NONE;
    dataset->is_newest_cycle = true;
    datasets[file->dataset_count++] = dataset;
    return dataset;
}

void nt_dataset_set_failure(struct nt_dataset *dataset, const struct nt_error *error)
{
    dataset->failure = nt_arena_alloc(dataset->arena, 1, sizeof(*error));
    static struct nt_error without_memory = {
        .status = NT_NO_MEMORY, .offset = NT_NO_OFFSET, .message = "out of memory"};
    if (dataset->failure)
        *dataset->failure = *error;
    else
        dataset->failure = &without_memory;
}

static void dataset_free(struct nt_dataset *dataset)
{
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        free(dataset->groups[i].ranges);
        free(dataset->groups[i].pages);
        free(dataset->groups[i].failure);
    }
    if (dataset->ops && dataset->ops->close)
        dataset->ops->close(dataset);
    pthread_mutex_destroy(&dataset->lock);
    nt_arena_free(dataset->arena);
    free(dataset);
}

void nt_file_close(struct nt_file *file)
{
    if (!file)
        return;
    for (uint32_t i = 0; i < file->dataset_count; i++)
        dataset_free(file->datasets[i]);
    free(file->datasets);
    if (file->close)
        file->close(file);
    free(file->directories);
    nt_source_close(file->source);
    nt_arena_free(file->arena);
    free(file);
}

enum nt_status nt_layout_put(const struct nt_layout_output *output, uint64_t offset, uint64_t bytes,
                             const char *owner)
{
    if (bytes == 0)
        return NT_OK;
    struct nt_layout_range range = {
        .offset = offset,
        .bytes = bytes,
        .source = output->source,
        .owner = owner,
        .dataset = output->dataset,
        .column = NT_NONE,
        .cluster = UINT64_MAX,
        .page = UINT64_MAX,
    };
    return output->emit(output->context, &range);
}
