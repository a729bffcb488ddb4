/* SPDX-License-Identifier: MIT
 *
 * Files of the model: creation, directories, datasets, lazy resolution of stubs, the layout ranges of a
 * format, and texts of lines.
 */
#include "core/model/model.h"

#include "core/base/text.h"
#include "core/io/folder.h"
#include "core/model/builder.h"

/* Decoded pages of real files have up to a megabyte, those of chunked arrays any size that the writer
 * chose; pages far larger than the file are bombs. The size of a directory is unknown. */
enum { FREE_PAGE_BYTES = 64 << 20, PAGE_BYTES_PER_BYTE = 16, MAX_PAGE_BYTES = 256 << 20 };

static uint64_t page_limit(uint64_t bytes)
{
    uint64_t more = bytes < MAX_PAGE_BYTES ? bytes * PAGE_BYTES_PER_BYTE : MAX_PAGE_BYTES;
    return more < MAX_PAGE_BYTES - FREE_PAGE_BYTES ? FREE_PAGE_BYTES + more : MAX_PAGE_BYTES;
}

uint64_t nt_file_page_limit(const struct nt_file *file, uint64_t stored_bytes)
{
    uint64_t more = file->is_size_unverified ? page_limit(stored_bytes) : 0;
    return more > file->page_bytes ? more : file->page_bytes;
}

enum nt_status nt_file_layout_size(const struct nt_file *file, uint32_t source, uint64_t *size_ret,
                                   struct nt_error *error)
{
    struct nt_source *const *sources = file->layout_sources ? file->layout_sources : &file->source;
    *size_ret = 0;
    return source > 0 && sources[source] == sources[source - 1]
               ? NT_OK
               : nt_source_size(sources[source], size_ret, error);
}

/* For a local file, the allocated disk space counts: holes of any size are free. Sizes from a server or
 * a program are unverified. */
static void measure(struct nt_file *file, uint64_t page_bytes)
{
    enum { BLOCK_BYTES = 512 };
    struct nt_source *source = file->source;
    struct stat attributes = {0};
    bool is_elsewhere = source->folder || nt_source_can_prefetch(source);
    if (is_elsewhere || nt_source_stat(source, &attributes, NULL) != NT_OK)
        attributes.st_blocks = 0;
    uint64_t bytes = (uint64_t)attributes.st_blocks * BLOCK_BYTES;
    bytes = bytes < source->size ? bytes : source->size;
    if (source->folder && nt_folder_is_local(source->folder))
        nt_budget_set_in_folder(&file->budget);
    if (bytes)
        nt_budget_add_disk(&file->budget, bytes, true);
    file->is_size_unverified = !bytes && !source->folder && !page_bytes;
    file->page_bytes = page_bytes ? page_bytes : source->folder ? MAX_PAGE_BYTES : page_limit(bytes);
}

enum nt_status nt_file_new(const char *path, struct nt_source *source, const struct nt_limits *limits,
                           struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_file *file = calloc(1, sizeof(*file));
    if (!file || nt_lock_init(&file->lock, NULL)) {
        free(file);
        return nt_fail_memory(error);
    }
    file->source = source;
    nt_budget_init(&file->budget, limits->metadata_bytes, nt_metadata_ceiling());
    measure(file, limits->page_bytes);
    file->stub = file;
    file->arena = nt_arena_new();
    if (file->arena)
        file->path = nt_arena_copy(file->arena, path, strlen(path));
    if (!file->path || nt_file_add_directory(file, 0, (struct nt_text){"", 0}) == NT_NONE) {
        nt_file_discard(file);
        return nt_fail_memory(error);
    }
    *file_ret = file;
    return NT_OK;
}

uint32_t nt_file_add_directory(struct nt_file *file, uint32_t parent, struct nt_text name)
{
    struct nt_directory *directories =
        realloc(file->directories, (file->directory_count + 1) * sizeof(*directories));
    bool is_copied = nt_text_copy(file->arena, name, &name);
    if (directories)
        file->directories = directories;
    if (!directories || !is_copied)
        return NT_NONE;
    directories[file->directory_count] = (struct nt_directory){.parent = parent, .name = name};
    return file->directory_count++;
}

static struct nt_dataset *new_dataset(void)
{
    struct nt_dataset *dataset = calloc(1, sizeof(*dataset));
    if (!dataset)
        return NULL;
    dataset->arena = nt_arena_new();
    if (!dataset->arena || !nt_decoders_init(&dataset->decoders) || nt_lock_init(&dataset->lock, NULL)) {
        nt_decoders_deinit(&dataset->decoders);
        nt_arena_free(dataset->arena);
        free(dataset);
        return NULL;
    }
    return dataset;
}

enum nt_status nt_file_add_dataset(struct nt_file *file, struct nt_dataset **dataset_ret,
                                   struct nt_error *error)
{
    NT_TRY(nt_budget_take(&file->budget, NT_COST_DATASET, 1, NT_NO_OFFSET, error));
    struct nt_dataset **datasets =
        realloc(file->datasets, (file->dataset_count + 1) * sizeof(struct nt_dataset *));
    NT_TRY(nt_check_memory(datasets, error));
    file->datasets = datasets;
    struct nt_dataset *dataset = new_dataset();
    NT_TRY(nt_check_memory(dataset, error));
    dataset->file = file;
    dataset->index = file->dataset_count;
    dataset->attribute_of = NT_NONE;
    dataset->is_newest_cycle = true;
    dataset->physical = dataset->logical = dataset;
    datasets[file->dataset_count++] = dataset;
    *dataset_ret = dataset;
    return NT_OK;
}

enum nt_status nt_failure_keep(const struct nt_error *failure, struct nt_arena *arena,
                               const struct nt_error **kept_ret, struct nt_error *error)
{
    if (nt_is_environmental(failure->status))
        return nt_fail_copy(error, failure);
    struct nt_error *copy = nt_arena_alloc(arena, 1, sizeof(*copy));
    NT_TRY(nt_check_memory(copy, error));
    *copy = *failure;
    *kept_ret = copy;
    return NT_OK;
}

enum nt_status nt_dataset_set_failure(struct nt_dataset *dataset, const struct nt_error *failure,
                                      struct nt_error *error)
{
    return nt_failure_keep(failure, dataset->arena, &dataset->failure, error);
}

enum nt_status nt_dataset_new_physical(struct nt_dataset *dataset, struct nt_dataset **physical_ret,
                                       struct nt_error *error)
{
    struct nt_dataset *physical = new_dataset();
    NT_TRY(nt_check_memory(physical, error));
    physical->file = dataset->file;
    physical->index = dataset->index;
    physical->directory = dataset->directory;
    physical->attribute_of = dataset->attribute_of;
    physical->is_newest_cycle = dataset->is_newest_cycle;
    physical->name = dataset->name;
    physical->title = dataset->title;
    physical->description = dataset->description;
    physical->writer = dataset->writer;
    physical->format = dataset->format;
    physical->version = physical->generation = physical->generation_reason = dataset->version;
    physical->entries = dataset->entries;
    physical->physical = physical;
    physical->logical = dataset;
    physical->sources = dataset->sources;
    physical->source_count = dataset->source_count;
    physical->format_data = dataset->format_data;
    *physical_ret = physical;
    return NT_OK;
}

void nt_dataset_free(struct nt_dataset *dataset)
{
    if (!dataset)
        return;
    if (dataset->physical != dataset)
        nt_dataset_free(dataset->physical);
    nt_dataset_free(dataset->levels);
    free(dataset->physical_failure);
    nt_groups_deinit(dataset);
    if (dataset->ops && dataset->ops->close)
        dataset->ops->close(dataset);
    nt_lock_deinit(&dataset->lock);
    nt_decoders_deinit(&dataset->decoders);
    nt_arena_free(dataset->arena);
    free(dataset);
}

void nt_file_discard(struct nt_file *file)
{
    if (!file)
        return;
    nt_file_close(file->resolved);
    free(file->resolved_failure);
    for (uint32_t i = 0; i < file->dataset_count; i++)
        nt_dataset_free(file->datasets[i]);
    free(file->datasets);
    nt_budget_deinit(&file->budget); /* a common budget may end with this file */
    if (file->close)
        file->close(file);
    nt_hash_table_deinit(&file->kept);
    free(file->directories);
    nt_arena_free(file->arena);
    nt_lock_deinit(&file->lock);
    free(file);
}

enum nt_status nt_file_make(struct nt_source *source, const struct nt_limits *limits, nt_file_fill *fill,
                            const void *context, struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_file *file;
    NT_TRY(nt_file_new(source->path, source, limits, &file, error));
    enum nt_status status = fill(file, context, error);
    if (status == NT_OK)
        *file_ret = file;
    else
        nt_file_discard(file);
    return status;
}

void nt_file_close(struct nt_file *file)
{
    if (!file)
        return;
    struct nt_source *source = file->source;
    nt_file_discard(file);
    nt_source_close(source);
}

/* ---- Stubs ---- */

void nt_file_set_stub(struct nt_file *file, const struct nt_file *stub)
{
    file->stub = stub;
    file->on_group_failure = stub->on_group_failure;
    file->before_blocking = stub->before_blocking;
    file->context = stub->context;
    file->budget.make_room = stub->budget.make_room;
    file->budget.context = stub->budget.context;
}

static enum nt_status complete(void *owner, uint32_t unused, struct nt_error *error)
{
    struct nt_file *stub = owner, *file;
    NT_TRY(stub->resolve(stub, &file, error));
    stub->resolved = file;
    return NT_OK;
}

enum nt_status nt_file_resolve(struct nt_file *file, struct nt_file **resolved_ret, struct nt_error *error)
{
    const struct nt_lazy lazy = {.state = &file->resolved_state,
                                 .failure = &file->resolved_failure,
                                 .make = complete,
                                 .owner = file,
                                 .lock = &file->lock,
                                 .before = file->before_blocking,
                                 .context = file->context};
    bool is_new_failure;
    NT_TRY(file->resolve ? nt_lazy_get(&lazy, &is_new_failure, error) : NT_OK);
    *resolved_ret = file->resolve ? file->resolved : file;
    return NT_OK;
}

enum nt_status nt_dataset_check(const struct nt_dataset *dataset, struct nt_error *error)
{
    if (dataset->failure)
        return nt_fail_copy(error, dataset->failure);
    if (dataset->file->resolve)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "%s: cannot be read itself; read the file that nt_file_resolve returns",
                       dataset->file->path);
    return NT_OK;
}

/* ---- Ranges ---- */

enum nt_status nt_file_append_range(struct nt_file *file, struct nt_source *source, uint64_t offset,
                                    uint64_t bytes, struct nt_buffer *out, struct nt_error *error)
{
    NT_TRY(nt_budget_take(&file->budget, NT_COST_ENVELOPE_BYTE, bytes, offset, error));
    enum nt_status status = nt_source_append(source, offset, bytes, out, error);
    nt_budget_release(&file->budget, NT_COST_ENVELOPE_BYTE, bytes);
    return status;
}

enum nt_status nt_layout_emit_range(const struct nt_layout_output *output, uint64_t offset, uint64_t bytes,
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

/* ---- Texts ---- */

enum nt_status nt_text_next_lines(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                  struct nt_error *error)
{
    enum { PIECE_BYTES = 32 * 1024 };
    size_t start = out->length;
    *more_ret = true;
    while (*more_ret && out->length - start < PIECE_BYTES && !out->failed) {
        size_t line = out->length;
        enum nt_status status = text->next_line(text, out, more_ret, error);
        if (status != NT_OK && line == start)
            return status;
        if (status != NT_OK) {
            out->length = line;
            break;
        }
    }
    return nt_check_memory(!out->failed, error);
}
