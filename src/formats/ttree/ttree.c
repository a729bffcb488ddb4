/* SPDX-License-Identifier: MIT
 *
 * Opens the trees of a ROOT file as datasets, beside its RNTuples or by themselves: what they share, and
 * the owners of the file's bytes.
 */
#include "formats/ttree/ttree.h"

#include "container/container.h"
#include "formats/formats.h"

/* ---- What the trees of a file share ---- */

struct nt_ttree_file {
    struct nt_file *file;
    struct nt_streamer_info info;
    atomic_uint info_state; /* enum nt_lazy_state */
    struct nt_error *info_failure;
    struct nt_lock lock; /* while reading it */
    struct nt_ttree_other_files others;
    uint64_t sampled_bytes; /* see nt_ttree_sampled_bytes */
};

struct nt_ttree_other_files *nt_ttree_other_files_of(const struct nt_file *file)
{
    return &nt_container_of(file)->trees->others;
}

uint64_t *nt_ttree_sampled_bytes(const struct nt_file *file)
{
    return &nt_container_of(file)->trees->sampled_bytes;
}

static enum nt_status read_info(void *owner, uint32_t unused, struct nt_error *error)
{
    struct nt_ttree_file *trees = owner;
    const struct nt_tfile *tfile = nt_tfile_of(trees->file);
    NT_TRY(nt_streamer_info_read(trees->file, tfile->info_offset, tfile->info_bytes, &trees->info, error));
    trees->info.root_version = nt_tfile_root_version(tfile->header.version);
    return NT_OK;
}

enum nt_status nt_ttree_streamer_info(const struct nt_file *file, const struct nt_streamer_info **info_ret,
                                      struct nt_error *error)
{
    struct nt_ttree_file *trees = nt_container_of(file)->trees;
    const struct nt_lazy lazy = {.state = &trees->info_state,
                                 .failure = &trees->info_failure,
                                 .make = read_info,
                                 .owner = trees,
                                 .lock = &trees->lock,
                                 .before = file->before_blocking,
                                 .context = file->context};
    bool is_new_failure;
    NT_TRY(nt_lazy_get(&lazy, &is_new_failure, error));
    *info_ret = &trees->info;
    return NT_OK;
}

static enum nt_status write_info(const struct nt_document_request *request, struct nt_buffer *out,
                                 struct nt_error *error)
{
    const struct nt_streamer_info *info;
    NT_TRY(nt_ttree_streamer_info(request->file, &info, error));
    return nt_streamer_info_describe(info, out, error);
}

/* Adds streamer_info.json to the documents of the container, if the record is in the file. */
static enum nt_status add_document(struct nt_file *file, struct nt_error *error)
{
    const struct nt_tfile *tfile = nt_tfile_of(file);
    uint32_t count = file->document_count;
    if (!tfile->info_offset || !tfile->info_bytes ||
        !nt_range_fits(tfile->info_offset, tfile->info_bytes, file->source->size))
        return NT_OK;
    struct nt_document *documents = nt_arena_alloc(file->arena, count + 1, sizeof(*documents));
    NT_TRY(nt_check_memory(documents, error));
    memcpy(documents, file->documents, count * sizeof(*documents));
    documents[count] = (struct nt_document){.prefix = "streamer_info.json", .write = write_info};
    file->documents = documents;
    file->document_count = count + 1;
    return NT_OK;
}

static void close_file(struct nt_file *file)
{
    struct nt_ttree_file *trees = nt_container_of(file)->trees;
    nt_ttree_other_files_close(&trees->others);
    nt_lock_deinit(&trees->lock);
    free(trees->info_failure);
}

enum nt_status nt_ttree_prepare(struct nt_file *file, struct nt_error *error)
{
    struct nt_container *container = file->format_data;
    struct nt_ttree_file *trees = nt_arena_alloc(file->arena, 1, sizeof(*trees));
    if (!trees || nt_lock_init(&trees->lock, NULL))
        return nt_fail_memory(error);
    trees->file = file;
    container->trees = trees;
    file->close = close_file;
    NT_TRY(nt_ttree_other_files_init(&trees->others, file, error));
    return add_document(file, error);
}

/* ---- Datasets ---- */

static enum nt_status add_tree(struct nt_file *file, const struct nt_tfile_object *object,
                               const struct nt_open_options *options, bool has_rntuples,
                               struct nt_error *error)
{
    struct nt_dataset *dataset;
    struct nt_error failure = {0};
    NT_TRY(nt_file_add_dataset(file, &dataset, error));
    dataset->directory = object->directory;
    dataset->name = object->name;
    dataset->cycle = object->cycle;
    dataset->is_newest_cycle = object->is_newest_cycle && !(has_rntuples && object->has_rival);
    dataset->is_secondary = has_rntuples;
    if (object->failure)
        failure = *object->failure;
    else if (nt_ttree_add(dataset, object, options, &failure) == NT_OK)
        return NT_OK;
    return nt_dataset_set_failure(dataset, &failure, error);
}

enum nt_status nt_ttree_add_all(struct nt_file *file, const struct nt_open_options *options,
                                bool has_rntuples, struct nt_error *error)
{
    enum { MIN_METADATA_LIMIT = 140 << 20 };
    struct nt_container *container = file->format_data;
    container->first_tree = file->dataset_count;
    /* A few bytes of streamer information describe many fields, and each tree and cycle has them. */
    if (container->object_count)
        nt_budget_set_min_limit(&file->budget, MIN_METADATA_LIMIT);
    for (uint32_t i = 0; i < container->object_count; i++)
        NT_TRY(add_tree(file, &container->objects[i], options, has_rntuples, error));
    return NT_OK;
}

/* Failures of directories and lists of keys are datasets, too, so that trees are not missed silently. */
static enum nt_status add_damage(struct nt_file *file, struct nt_error *error)
{
    const struct nt_container *container = nt_container_of(file);
    for (uint32_t i = 0; i < container->anchor_count; i++) {
        const struct nt_anchor_object *damage = &container->anchors[i];
        struct nt_dataset *dataset;
        if (!damage->is_damage)
            continue;
        NT_TRY(nt_file_add_dataset(file, &dataset, error));
        dataset->directory = damage->directory;
        dataset->name = damage->name;
        dataset->cycle = damage->cycle;
        NT_TRY(nt_dataset_set_failure(dataset, damage->failure, error));
    }
    return NT_OK;
}

/* ---- Layout ---- */

/* The offsets of baskets that are pages, ascending. */
struct basket_offsets {
    uint64_t *offsets;
    size_t count, capacity;
};

static enum nt_status note_group(const struct nt_group *group, struct basket_offsets *basket_offsets,
                                 struct nt_error *error)
{
    for (uint64_t p = 0; p < group->page_count; p++) {
        if (group->pages[p].is_missing || group->pages[p].source != NT_TTREE_FILE)
            continue;
        NT_TRY(nt_check_memory(
            NT_GROW(basket_offsets->offsets, basket_offsets->count, basket_offsets->capacity), error));
        basket_offsets->offsets[basket_offsets->count++] = group->pages[p].offset;
    }
    return NT_OK;
}

static enum nt_status note_offsets(struct nt_dataset *dataset, struct basket_offsets *basket_offsets,
                                   struct nt_error *error)
{
    struct nt_dataset *physical;
    NT_TRY(nt_dataset_physical(dataset, &physical, error));
    NT_TRY(nt_dataset_load_readable(physical, error));
    for (uint32_t g = 0; g < physical->group_count; g++) {
        NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = nt_group_try_pin(physical, g);
        if (group)
            NT_TRY(note_group(group, basket_offsets, error));
    }
    return NT_OK;
}

static enum nt_status find_basket_offsets(const struct nt_file *file, struct basket_offsets *basket_offsets,
                                          struct nt_error *error)
{
    for (uint32_t i = nt_container_of(file)->first_tree; i < file->dataset_count; i++)
        if (!file->datasets[i]->failure)
            NT_TRY(nt_omit_bad(note_offsets(file->datasets[i], basket_offsets, error)));
    if (basket_offsets->count)
        qsort(basket_offsets->offsets, basket_offsets->count, sizeof(*basket_offsets->offsets),
              nt_compare_u64);
    return NT_OK;
}

struct key_filter {
    nt_layout_emit *emit;
    void *context;
    struct basket_offsets basket_offsets;
    uint64_t omitted_to; /* end of the last omitted key */
};

/* Omits the key of a basket that is a page, and the object after the key. */
static enum nt_status emit_others(void *context, const struct nt_layout_range *range)
{
    struct key_filter *filter = context;
    bool is_of_basket = range->detail && !strcmp(range->detail, "TBasket");
    if (is_of_basket && range->offset == filter->omitted_to)
        return NT_OK;
    if (is_of_basket && filter->basket_offsets.count &&
        bsearch(&range->offset, filter->basket_offsets.offsets, filter->basket_offsets.count,
                sizeof(uint64_t), nt_compare_u64)) {
        filter->omitted_to = range->offset + range->bytes;
        return NT_OK;
    }
    return filter->emit(filter->context, range);
}

/* The objects of trees, whose keys are the container's. */
static enum nt_status emit_trees(const struct nt_file *file, nt_layout_emit *emit, void *context)
{
    const struct nt_container *container = nt_container_of(file);
    uint64_t size = file->source->size;
    for (uint32_t i = 0; i < container->object_count; i++) {
        const struct nt_tfile_object *object = &container->objects[i];
        uint64_t offset = object->offset + object->key_bytes, bytes = object->bytes - object->key_bytes;
        const struct nt_layout_output output = {
            emit, context, container->first_tree == NT_NONE ? NT_NONE : container->first_tree + i, 0};
        if (!object->failure && offset < size)
            NT_TRY(nt_layout_emit_range(&output, offset, nt_min(bytes, size - offset), "tree"));
    }
    return NT_OK;
}

static void key_filter_deinit(struct key_filter *filter)
{
    free(filter->basket_offsets.offsets);
}

enum nt_status nt_ttree_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                               struct nt_error *error)
{
    NT_CLEANUP(key_filter_deinit) struct key_filter filter = {.emit = emit, .context = context};
    NT_TRY(find_basket_offsets(file, &filter.basket_offsets, error));
    NT_TRY(nt_container_tfile.layout(file, emit_others, &filter, error));
    return emit_trees(file, emit, context);
}

/* ---- The format's row ---- */

static enum nt_status recognize(struct nt_source *source, struct nt_error *error)
{
    char start[NT_TFILE_MAGIC_BYTES];
    if (source->size > sizeof(start)) {
        NT_TRY(nt_source_read(source, 0, start, sizeof(start), error));
        if (!memcmp(start, nt_container_tfile.magic, sizeof(start)) && !nt_is_text_file(source))
            return NT_OK;
    }
    return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "not a ROOT file");
}

static enum nt_status fill_file(struct nt_file *file, const void *context, struct nt_error *error)
{
    struct nt_container *container = nt_arena_alloc(file->arena, 1, sizeof(*container));
    struct nt_error refusal;
    NT_TRY(nt_check_memory(container, error));
    NT_TRY(nt_container_open_kind(file, container, &nt_container_tfile, error));
    NT_TRY(nt_ttree_prepare(file, error));
    NT_TRY(add_damage(file, error));
    NT_TRY(nt_ttree_add_all(file, context, false, error));
    file->layout = nt_ttree_layout;
    if (file->failure || file->dataset_count)
        return NT_OK;
    nt_tfile_refuse(container->details, "a TTree", &refusal);
    return nt_failure_keep(&refusal, file->arena, &file->failure, error);
}

static enum nt_status open_ttree(struct nt_source *source, const struct nt_open_options *options,
                                 struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_limits limits = nt_open_limits(options);
    NT_TRY(recognize(source, error));
    return nt_file_make(source, &limits, fill_file, options, file_ret, error);
}

const struct nt_format nt_format_ttree = {
    .name = "ttree",
    .description = "TTree in ROOT files, all versions",
    .recognize = recognize,
    .open = open_ttree,
};
