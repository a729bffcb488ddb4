/* SPDX-License-Identifier: MIT
 *
 * An open data file as a part of the tree: the names and the hierarchy of its directories and datasets,
 * and, on first use, the names of fields, the Arrow table and the blobs of each dataset.
 */
#include <limits.h>

#include "vfs/vfs.h"

static inline uint32_t open_file_items(const struct nt_open_file *opened)
{
    return opened->file->directory_count + opened->file->dataset_count;
}

static void ask_dataset(const struct nt_file *file, uint32_t index, struct nt_name_request *request)
{
    const struct nt_dataset *dataset = file->datasets[index];
    request->text = dataset->name;
    request->cycle = dataset->is_newest_cycle ? 0 : dataset->cycle;
    if (dataset->attribute_of != NT_NONE) {
        request->parent = file->directory_count + dataset->attribute_of;
        request->prefix = NT_ATTRIBUTE_PREFIX;
    } else {
        request->parent = dataset->directory;
    }
}

/* The name request of an item of a file. */
static void ask_item(const void *context, uint32_t item, struct nt_name_request *request)
{
    const struct nt_file *file = context;
    if (item < file->directory_count) {
        request->parent = item ? file->directories[item].parent : NT_NONE; /* the root must not conflict */
        request->text = file->directories[item].name;
    } else {
        ask_dataset(file, item - file->directory_count, request);
    }
    request->rule = NT_NAME_DATASET;
    if (request->parent == 0 && nt_is_container_file(file, request->text))
        request->rule = NT_NAME_RESERVED;
}

static void ask_field(const void *context, uint32_t item, struct nt_name_request *request)
{
    const struct nt_field *field = &((const struct nt_dataset *)context)->fields[item];
    request->parent = field->parent;
    request->text = field->name;
    request->rule = NT_NAME_FIELD;
}

/* Counting sort of the items by parent. */
static enum nt_status sort_children(struct nt_open_file *opened, struct nt_error *error)
{
    uint32_t count = open_file_items(opened);
    opened->children = calloc(count, sizeof(uint32_t));
    opened->first_child = calloc((size_t)count + 1, sizeof(uint32_t));
    NT_AUTO_FREE uint32_t *next = calloc(count, sizeof(uint32_t));
    NT_TRY(nt_check_memory(opened->children && opened->first_child && next, error));
    for (uint32_t item = 1; item < count; item++)
        opened->first_child[nt_names_parent(opened->names, item) + 1]++;
    for (uint32_t i = 0; i < count; i++) {
        opened->first_child[i + 1] += opened->first_child[i];
        next[i] = opened->first_child[i];
    }
    for (uint32_t item = 1; item < count; item++)
        opened->children[next[nt_names_parent(opened->names, item)]++] = item;
    return NT_OK;
}

const uint32_t *nt_open_file_children(const struct nt_open_file *opened, uint32_t parent, uint32_t *count_ret)
{
    *count_ret = opened->first_child[parent + 1] - opened->first_child[parent];
    return opened->children + opened->first_child[parent];
}

bool nt_open_file_path(const struct nt_open_file *opened, uint32_t item, struct nt_buffer *path)
{
    const char *names[PATH_MAX / 2]; /* a component has at least a byte and a slash */
    size_t count = 0, bytes = 0;
    for (uint32_t at = item; at != 0; at = nt_names_parent(opened->names, at)) {
        const char *name = nt_names_get(opened->names, at);
        bytes += strlen(name) + 1;
        if (bytes > PATH_MAX)
            return false;
        names[count++] = name;
    }
    for (size_t i = count; i-- > 0;) {
        nt_buffer_append_string(path, names[i]);
        nt_buffer_append_string(path, i ? "/" : "");
    }
    return true;
}

/* ---- Creation and destruction ---- */

static enum nt_status new_datasets(struct nt_open_file *opened, struct nt_error *error)
{
    uint32_t count = opened->file->dataset_count;
    opened->datasets = calloc((size_t)count + 1, sizeof(*opened->datasets));
    NT_TRY(nt_check_memory(opened->datasets, error));
    for (uint32_t i = 0; i < count; i++) {
        pthread_mutex_init(&opened->datasets[i].names_lock, NULL);
        pthread_mutex_init(&opened->datasets[i].arrow_lock, NULL);
        pthread_mutex_init(&opened->datasets[i].blobs_lock, NULL);
    }
    return NT_OK;
}

static void free_datasets(struct nt_open_file *opened)
{
    for (uint32_t i = 0; opened->datasets && i < opened->file->dataset_count; i++) {
        struct nt_open_dataset *of = &opened->datasets[i];
        nt_names_free(of->field_names);
        nt_arrow_free(of->arrow);
        for (uint32_t k = 0; of->blobs && k < opened->file->datasets[i]->field_count; k++)
            nt_blobs_close(of->blobs[k]);
        free(of->blobs);
        pthread_mutex_destroy(&of->names_lock);
        pthread_mutex_destroy(&of->arrow_lock);
        pthread_mutex_destroy(&of->blobs_lock);
    }
    free(opened->datasets);
}

enum nt_status nt_open_file_new(struct nt_file *file, bool borrows_file, struct nt_open_file **opened_ret,
                                struct nt_error *error)
{
    NT_CLEANUP(nt_open_file_free_at) struct nt_open_file *opened = calloc(1, sizeof(*opened));
    if (!opened) {
        if (!borrows_file)
            nt_file_close(file);
        return nt_fail_memory(error);
    }
    opened->file = file;
    opened->borrows_file = borrows_file;
    NT_TRY(nt_source_stat(file->source, &opened->stat, error));
    NT_TRY(new_datasets(opened, error));
    NT_TRY(nt_names_build(open_file_items(opened), ask_item, file, &opened->names, error));
    NT_TRY(sort_children(opened, error));
    *opened_ret = opened;
    opened = NULL; /* the caller's now */
    return NT_OK;
}

void nt_open_file_free(struct nt_open_file *opened)
{
    if (!opened)
        return;
    free_datasets(opened);
    nt_names_free(opened->names);
    free(opened->children);
    free(opened->first_child);
    if (!opened->borrows_file)
        nt_file_close(opened->file);
    free(opened);
}

/* ---- Built on first use ---- */

/* A stub and its complete file have the same datasets: the one that is open has their tables. */
static struct nt_open_dataset *open_dataset(const struct nt_resolved_node *resolved)
{
    return &resolved->opened->datasets[resolved->dataset->index];
}

enum nt_status nt_open_file_field_names(struct nt_open_file *opened, uint32_t dataset,
                                        const struct nt_names **names_ret, struct nt_error *error)
{
    struct nt_open_dataset *of = &opened->datasets[dataset];
    const struct nt_dataset *d = opened->file->datasets[dataset];
    struct nt_names *names = atomic_load_explicit(&of->field_names, memory_order_acquire);
    if (!names) {
        NT_MUTEX_GUARD(&of->names_lock);
        names = atomic_load_explicit(&of->field_names, memory_order_relaxed);
        if (!names)
            NT_TRY(nt_names_build(d->field_count, ask_field, d, &names, error));
        atomic_store_explicit(&of->field_names, names, memory_order_release);
    }
    *names_ret = names;
    return NT_OK;
}

static enum nt_status make_arrow(const struct nt_resolved_node *resolved, struct nt_arrow **arrow_ret,
                                 struct nt_error *error)
{
    const struct nt_arrow_options options = {.struct_bytes = sizeof(options),
                                             .strings_as_binary = resolved->vfs->options.arrow_strings_binary,
                                             .unions = resolved->vfs->options.arrow_unions};
    NT_TRY(nt_arrow_new(resolved->vfs->reader, resolved->dataset, &options, arrow_ret, error));
    atomic_store(&open_dataset(resolved)->arrow_bytes, nt_arrow_file_bytes(*arrow_ret));
    return NT_OK;
}

enum nt_status nt_node_arrow(const struct nt_resolved_node *resolved, struct nt_arrow **arrow_ret,
                             struct nt_error *error)
{
    struct nt_open_dataset *of = open_dataset(resolved);
    NT_MUTEX_GUARD(&of->arrow_lock);
    if (!of->arrow)
        NT_TRY(make_arrow(resolved, &of->arrow, error));
    of->arrow_users++;
    *arrow_ret = of->arrow;
    return NT_OK;
}

/* A table of many fields or clusters takes as much memory as the dataset: only its readers keep it. */
void nt_open_file_release_arrow(struct nt_open_file *opened, const struct nt_dataset *dataset)
{
    enum { MANY = 1 << 14 };
    struct nt_open_dataset *of = &opened->datasets[dataset->index];
    struct nt_arrow *unused = NULL;
    pthread_mutex_lock(&of->arrow_lock);
    if (--of->arrow_users == 0 && (uint64_t)of->arrow->node_count + of->arrow->cluster_count > MANY) {
        unused = of->arrow;
        of->arrow = NULL;
    }
    pthread_mutex_unlock(&of->arrow_lock);
    nt_arrow_free(unused);
}

enum nt_status nt_node_arrow_bytes(const struct nt_resolved_node *resolved, bool may_block,
                                   uint64_t *bytes_ret, struct nt_error *error)
{
    struct nt_open_dataset *of = open_dataset(resolved);
    *bytes_ret = atomic_load(&of->arrow_bytes);
    if (*bytes_ret)
        return NT_OK;
    if (!may_block)
        return nt_fail_unknown_size(error);
    NT_MUTEX_GUARD(&of->arrow_lock);
    if (!atomic_load(&of->arrow_bytes)) {
        struct nt_arrow *arrow;
        NT_TRY(make_arrow(resolved, &arrow, error));
        nt_arrow_free(arrow);
    }
    *bytes_ret = atomic_load(&of->arrow_bytes);
    return NT_OK;
}

static enum nt_status make_blobs(const struct nt_resolved_node *resolved, struct nt_open_dataset *of,
                                 struct nt_error *error)
{
    struct nt_blobs *made;
    if (!of->blobs)
        of->blobs = calloc(resolved->dataset->field_count, sizeof(*of->blobs));
    NT_TRY(nt_check_memory(of->blobs, error));
    if (of->blobs[resolved->field])
        return NT_OK;
    NT_TRY(nt_blobs_open(resolved->vfs->reader, resolved->dataset, resolved->field, &made, error));
    of->blobs[resolved->field] = made;
    return NT_OK;
}

enum nt_status nt_node_blobs(const struct nt_resolved_node *resolved, bool may_block,
                             struct nt_blobs **blobs_ret, struct nt_error *error)
{
    struct nt_open_dataset *of = open_dataset(resolved);
    *blobs_ret = of->blobs ? of->blobs[resolved->field] : NULL;
    if (*blobs_ret)
        return NT_OK;
    if (!may_block)
        return nt_fail_unknown_size(error);
    NT_MUTEX_GUARD(&of->blobs_lock);
    NT_TRY(make_blobs(resolved, of, error));
    *blobs_ret = of->blobs[resolved->field];
    return NT_OK;
}
