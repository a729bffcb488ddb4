/* SPDX-License-Identifier: MIT
 *
 * Comes in: a file's model. Goes out: unique names for what is in it, and who lies in which directory.
 */
#include "vfs/opened.h"

#include <stdlib.h>

#include "vfs/pseudo.h"
#include "vfs/scope.h"

static void ask_directory(const struct nt_file *file, uint32_t index, struct nt_name_wish *wish)
{
    wish->parent = file->directories[index].parent;
    wish->text = file->directories[index].name;
    if (index == 0) /* the root has no name: keep it out of everybody's way */
        wish->parent = NT_NONE;
}

static void ask_dataset(const struct nt_file *file, uint32_t index, struct nt_name_wish *wish)
{
    const struct nt_dataset *dataset = file->datasets[index];
    wish->text = dataset->name;
    wish->cycle = dataset->is_newest_cycle ? 0 : dataset->cycle;
    if (dataset->attribute_of != NT_NONE) {
        wish->parent = file->directory_count + dataset->attribute_of;
        wish->prefix = "attribute.";
    } else {
        wish->parent = dataset->directory;
    }
}

/* Item of a file: what it is called, and in which directory. */
static void ask_item(const void *context, uint32_t item, struct nt_name_wish *wish)
{
    const struct nt_file *file = context;
    if (item < file->directory_count)
        ask_directory(file, item, wish);
    else
        ask_dataset(file, item - file->directory_count, wish);
    wish->rule = NT_NAME_DATASET;
    if (wish->parent == 0 && nt_is_container_file(file, wish->text))
        wish->rule = NT_NAME_OURS;
}

static void ask_field(const void *context, uint32_t item, struct nt_name_wish *wish)
{
    const struct nt_field *field = &((const struct nt_dataset *)context)->fields[item];
    wish->parent = field->parent;
    wish->text = field->name;
    wish->rule = NT_NAME_FIELD;
}

/* Sort the items by their parents, counting. */
static enum nt_status sort_children(struct nt_opened *opened, struct nt_error *error)
{
    uint32_t count = nt_opened_items(opened);
    opened->children = calloc(count, sizeof(uint32_t));
    opened->first_child = calloc((size_t)count + 1, sizeof(uint32_t));
    uint32_t *next = calloc(count, sizeof(uint32_t));
    if (!opened->children || !opened->first_child || !next) {
        free(next);
        return nt_fail_memory(error);
    }
    for (uint32_t item = 1; item < count; item++)
        opened->first_child[nt_names_parent(opened->names, item) + 1]++;
    for (uint32_t i = 0; i < count; i++) {
        opened->first_child[i + 1] += opened->first_child[i];
        next[i] = opened->first_child[i];
    }
    for (uint32_t item = 1; item < count; item++)
        opened->children[next[nt_names_parent(opened->names, item)]++] = item;
    free(next);
    return NT_OK;
}

const uint32_t *nt_opened_children(const struct nt_opened *opened, uint32_t parent, uint32_t *count_ret)
{
    *count_ret = opened->first_child[parent + 1] - opened->first_child[parent];
    return opened->children + opened->first_child[parent];
}

enum nt_status nt_opened_new(struct nt_file *file, struct nt_opened **opened_ret, struct nt_error *error)
{
    struct nt_opened *opened = calloc(1, sizeof(*opened));
    if (!opened || pthread_mutex_init(&opened->lock, NULL)) {
        free(opened);
        nt_file_close(file);
        return nt_fail_memory(error);
    }
    opened->file = file;
    enum nt_status status = nt_source_stat(file->source, &opened->stat, error);
    opened->field_names = calloc(file->dataset_count + 1, sizeof(*opened->field_names));
    opened->arrows = calloc(file->dataset_count + 1, sizeof(*opened->arrows));
    if (status == NT_OK && (!opened->field_names || !opened->arrows))
        status = nt_fail_memory(error);
    if (status == NT_OK)
        status = nt_names_build(nt_opened_items(opened), ask_item, file, &opened->names, error);
    if (status == NT_OK)
        status = sort_children(opened, error);
    if (status != NT_OK)
        nt_opened_free(opened);
    else
        *opened_ret = opened;
    return status;
}

void nt_opened_free(struct nt_opened *opened)
{
    if (!opened)
        return;
    for (uint32_t i = 0; opened->field_names && i < opened->file->dataset_count; i++)
        nt_names_free(opened->field_names[i]);
    for (uint32_t i = 0; opened->arrows && i < opened->file->dataset_count; i++)
        nt_arrow_free(opened->arrows[i]);
    free(opened->arrows);
    free(opened->field_names);
    nt_names_free(opened->names);
    free(opened->children);
    free(opened->first_child);
    pthread_mutex_destroy(&opened->lock);
    nt_file_close(opened->file);
    free(opened);
}

enum nt_status nt_opened_field_names(struct nt_opened *opened, uint32_t dataset,
                                     const struct nt_names **names_ret, struct nt_error *error)
{
    const struct nt_dataset *d = opened->file->datasets[dataset];
    struct nt_names *names = atomic_load_explicit(&opened->field_names[dataset], memory_order_acquire);
    enum nt_status status = NT_OK;
    if (!names) {
        pthread_mutex_lock(&opened->lock);
        names = atomic_load_explicit(&opened->field_names[dataset], memory_order_relaxed);
        if (!names)
            status = nt_names_build(d->field_count, ask_field, d, &names, error);
        if (status == NT_OK)
            atomic_store_explicit(&opened->field_names[dataset], names, memory_order_release);
        pthread_mutex_unlock(&opened->lock);
    }
    *names_ret = names;
    return status;
}

bool nt_opened_has_arrow(const struct nt_opened *opened, uint32_t dataset)
{
    return atomic_load_explicit(&opened->arrows[dataset], memory_order_acquire) != NULL;
}

enum nt_status nt_opened_arrow(struct nt_opened *opened, const struct nt_vfs *vfs, uint32_t dataset,
                               const struct nt_arrow **arrow_ret, struct nt_error *error)
{
    const struct nt_arrow_options options = {.strings_as_binary = vfs->options.arrow_strings_binary};
    struct nt_arrow *arrow = atomic_load_explicit(&opened->arrows[dataset], memory_order_acquire);
    enum nt_status status = NT_OK;
    if (!arrow) {
        pthread_mutex_lock(&opened->lock);
        arrow = atomic_load_explicit(&opened->arrows[dataset], memory_order_relaxed);
        if (!arrow)
            status = nt_arrow_new(vfs->reader, opened->file->datasets[dataset], &options, &arrow, error);
        if (status == NT_OK)
            atomic_store_explicit(&opened->arrows[dataset], arrow, memory_order_release);
        pthread_mutex_unlock(&opened->lock);
    }
    *arrow_ret = arrow;
    return status;
}
