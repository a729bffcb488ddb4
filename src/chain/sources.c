/* SPDX-License-Identifier: MIT
 *
 * Numbers the byte sources of all members consecutively, so that pages and layout ranges of the chain
 * can refer to them. The chain itself is an empty source with the attributes of its first file.
 */
#include "chain/chain.h"

/* ---- The source of the chain itself ---- */

struct chain_source {
    struct nt_source source;
    struct nt_source *first;
    char *path;
};

static enum nt_status read_nothing(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    return nt_fail(error, NT_TRUNCATED, offset, "%s: a chain of files has no bytes of its own", source->path);
}

static enum nt_status stat_first(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    return nt_source_stat(((struct chain_source *)source)->first, attributes, error);
}

static enum nt_status check_first(struct nt_source *source, struct nt_error *error)
{
    return nt_source_check(((struct chain_source *)source)->first, error);
}

static void close_chain(struct nt_source *source)
{
    struct chain_source *chain = (struct chain_source *)source;
    free(chain->path);
    free(chain);
}

enum nt_status nt_chain_source_new(const char *path, struct nt_source *first, struct nt_source **source_ret,
                                   struct nt_error *error)
{
    static const struct nt_source_ops ops = {
        .read_at = read_nothing, .check = check_first, .stat = stat_first, .close = close_chain};
    struct chain_source *source = calloc(1, sizeof(*source));
    char *copy = strdup(path);
    if (!source || !copy) {
        free(source);
        free(copy);
        return nt_fail_memory(error);
    }
    *source = (struct chain_source){.source = {.ops = &ops, .path = copy}, .first = first, .path = copy};
    *source_ret = &source->source;
    return NT_OK;
}

/* ---- Sources of pages ---- */

/* A part of a file's sources that relies on the file's reader to detect changes. A chain reads many
 * files, so each of its sources checks its file itself. Of a lazy member, both are NULL until it
 * opens; no page refers to its source before. */
struct checked_source {
    struct nt_source source;
    struct nt_source *_Atomic own, *_Atomic file;
    const struct nt_file *chain; /* whose member opens if the size is needed; NULL: the size is known */
    const struct nt_chain_member *member;
};

static enum nt_status read_own(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                               struct nt_error *error)
{
    return nt_source_read(((struct checked_source *)source)->own, offset, buffer, bytes, error);
}

static enum nt_status check_file(struct nt_source *source, struct nt_error *error)
{
    struct nt_source *file = ((struct checked_source *)source)->file;
    return file ? nt_source_check(file, error) : NT_OK;
}

static enum nt_status stat_own(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    struct nt_source *own = ((struct checked_source *)source)->own;
    return own ? nt_source_stat(own, attributes, error)
               : nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s: is not open yet", source->path);
}

/* A member that opened for this stays open. */
static enum nt_status open_member(const struct checked_source *source, struct nt_error *error)
{
    for (uint32_t i = 0; source->chain && i < source->chain->dataset_count; i++) {
        const struct nt_dataset *dataset = source->chain->datasets[i];
        if (dataset->failure)
            continue;
        const struct nt_chain_slice *slice = nt_chain_slice_of(dataset, source->member);
        enum nt_status status = nt_chain_pin_member(dataset, slice, error);
        if (status == NT_OK)
            nt_chain_unpin_member(dataset, slice);
        return status;
    }
    return NT_OK;
}

static enum nt_status size_of_own(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    const struct checked_source *checked = (const struct checked_source *)source;
    if (!checked->own)
        NT_TRY(open_member(checked, error));
    struct nt_source *own = checked->own;
    *size_ret = source->size == NT_UNKNOWN_SIZE ? 0 : source->size;
    return own ? nt_source_size(own, size_ret, error) : NT_OK;
}

static void prefetch_own(struct nt_source *source, const struct nt_extent *extents, size_t count,
                         enum nt_prefetch_need need)
{
    struct nt_source *own = ((struct checked_source *)source)->own;
    if (own)
        nt_source_prefetch(own, extents, count, need);
}

static bool forget_own(struct nt_source *source, uint64_t offset, uint64_t bytes)
{
    struct nt_source *own = ((struct checked_source *)source)->own;
    return own && nt_source_invalidate(own, offset, bytes);
}

static void close_nothing(struct nt_source *source)
{
    (void)source; /* it is in an arena, and its file owns the underlying source */
}

static const struct nt_source_ops checked_ops = {
    .read_at = read_own, .check = check_file, .stat = stat_own, .size = size_of_own, .close = close_nothing};
static const struct nt_source_ops served_ops = {.read_at = read_own,
                                                .check = check_file,
                                                .stat = stat_own,
                                                .size = size_of_own,
                                                .prefetch = prefetch_own,
                                                .forget = forget_own,
                                                .close = close_nothing};

/* One of the sources of a lazy member. That of a single file is the first. */
static enum nt_status add_lazy(const struct nt_file *chain, struct nt_arena *arena,
                               const struct nt_chain_member *member, uint32_t number,
                               struct nt_source **source_ret, struct nt_error *error)
{
    bool is_file = number == 0 && !member->known->files;
    struct checked_source *source = nt_arena_alloc(arena, 1, sizeof(*source));
    NT_TRY(nt_check_memory(source, error));
    *source = (struct checked_source){.source = {.ops = member->listed->address ? &served_ops : &checked_ops,
                                                 .size = is_file ? member->known->bytes : NT_UNKNOWN_SIZE,
                                                 .path = member->path},
                                      .chain = member->known->files ? chain : NULL,
                                      .member = member};
    *source_ret = &source->source;
    return NT_OK;
}

/* Readers see it with the first page that refers to it. */
static void connect(struct nt_source *source, struct nt_source *own, struct nt_source *file)
{
    struct checked_source *checked = (struct checked_source *)source;
    source->size = own->size;
    source->split_bytes = own->split_bytes;
    source->beneath = own;
    source->is_object_store = own->is_object_store;
    source->first_byte = own->first_byte;
    checked->file = file;
    checked->own = own;
}

static struct nt_source *checked(struct nt_arena *arena, struct nt_source *own, struct nt_source *file)
{
    if (own->ops->check)
        return own;
    struct checked_source *source = nt_arena_alloc(arena, 1, sizeof(*source));
    if (!source)
        return NULL;
    *source = (struct checked_source){
        .source = {.ops = nt_source_can_prefetch(own) ? &served_ops : &checked_ops, .path = own->path}};
    connect(&source->source, own, file);
    return &source->source;
}

/* ---- Numbers ---- */

uint32_t nt_chain_count_sources(const struct nt_file *file)
{
    uint32_t count = file->layout_sources ? file->layout_source_count : 1;
    for (uint32_t i = 0; i < file->dataset_count; i++)
        if (file->datasets[i]->source_count > count)
            count = file->datasets[i]->source_count;
    return count;
}

static enum nt_status number_member(struct nt_file *file, const struct nt_chain_member *member,
                                    struct nt_error *error)
{
    struct nt_source **sources = &file->layout_sources[member->first_source];
    uint32_t of_layout = member->file && member->file->layout_sources ? member->file->layout_source_count : 0;
    for (uint32_t k = 0; k < member->source_count; k++) {
        if (member->file)
            sources[k] = k < of_layout ? member->file->layout_sources[k] : member->file->source;
        else if (k == 0 || member->known->files)
            NT_TRY(add_lazy(file, file->arena, member, k, &sources[k], error));
        else
            sources[k] = sources[0];
    }
    return NT_OK;
}

enum nt_status nt_chain_number_sources(struct nt_file *file, bool is_stub, struct nt_error *error)
{
    const struct nt_chain *chain = nt_chain_of(file);
    uint64_t total = 0, lazy = 0;
    for (uint32_t i = 0, of_series = 0; i < chain->member_count;
         i = nt_chain_next_member(chain, i, is_stub)) {
        struct nt_chain_member *member = &chain->members[i];
        of_series = nt_chain_begins_series(chain, i) ? i : of_series;
        member->first_source = (uint32_t)total;
        member->source_count = member->file           ? nt_chain_count_sources(member->file)
                               : !member->is_lazy     ? 0
                               : member->known->files ? member->known->files
                                                      : chain->members[of_series].source_count;
        total += member->source_count;
        lazy += member->is_lazy ? member->known->files : 0;
    }
    if (total >= NT_NONE)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the files of the chain have more than 2^32 sources");
    /* Each is a source of the file and of a dataset. The index, which has their number, may be wrong. */
    NT_TRY(nt_budget_take(&file->budget, NT_COST_ENVELOPE_BYTE, 2 * lazy * sizeof(struct checked_source),
                          NT_NO_OFFSET, error));
    file->layout_sources = nt_arena_alloc(file->arena, total + 1, sizeof(struct nt_source *));
    NT_TRY(nt_check_memory(file->layout_sources, error));
    file->layout_source_count = (uint32_t)total;
    for (uint32_t i = 0; i < chain->member_count; i = nt_chain_next_member(chain, i, is_stub))
        NT_TRY(number_member(file, &chain->members[i], error));
    return NT_OK;
}

enum nt_status nt_chain_add_sources(struct nt_dataset *dataset, struct nt_error *error)
{
    const struct nt_file *file = dataset->file;
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    dataset->sources =
        nt_arena_alloc(dataset->arena, (size_t)file->layout_source_count + 1, sizeof(struct nt_source *));
    NT_TRY(nt_check_memory(dataset->sources, error));
    dataset->source_count = file->layout_source_count;
    for (uint32_t i = 0; i < file->layout_source_count; i++)
        dataset->sources[i] = file->layout_sources[i];
    for (uint32_t i = 0; i < chain->slice_count; i++) {
        const struct nt_chain_slice *slice = &chain->slices[i];
        for (uint32_t k = 0; slice->lazy && k < slice->member->source_count; k++)
            NT_TRY(add_lazy(file, dataset->arena, slice->member, k,
                            &dataset->sources[slice->member->first_source + k], error));
        for (uint32_t k = 0; slice->dataset && k < slice->dataset->source_count; k++) {
            struct nt_source *source =
                checked(dataset->arena, slice->dataset->sources[k], slice->member->file->source);
            NT_TRY(nt_check_memory(source, error));
            dataset->sources[slice->member->first_source + k] = source;
        }
    }
    return NT_OK;
}

/* A file with several datasets is connected with the first of them. */
static void connect_once(struct nt_source *source, struct nt_source *own, struct nt_source *file)
{
    if (!((struct checked_source *)source)->own)
        connect(source, own, own->ops->check ? own : file);
}

void nt_chain_connect_sources(struct nt_dataset *dataset, const struct nt_chain_slice *slice, bool is_file)
{
    const struct nt_file *own = slice->member->file;
    uint32_t of_layout = own->layout_sources ? own->layout_source_count : 0;
    for (uint32_t i = 0; i < slice->member->source_count; i++) {
        struct nt_source *paged = dataset->sources[slice->member->first_source + i],
                         *shown = dataset->file->layout_sources[slice->member->first_source + i],
                         *file = i < of_layout ? own->layout_sources[i] : own->source;
        bool is_other = !is_file && i < slice->dataset->source_count;
        connect_once(paged, is_other ? slice->dataset->sources[i] : file, own->source);
        connect_once(shown, file, own->source);
        if (i < of_layout) /* it stays open */
            paged->path = shown->path = file->path;
    }
}

void nt_chain_disconnect_sources(struct nt_dataset *dataset, const struct nt_chain_slice *slice)
{
    for (uint32_t i = 1; i < slice->dataset->source_count; i++) {
        struct nt_source *source = dataset->sources[slice->member->first_source + i];
        source->beneath = NULL;
        ((struct checked_source *)source)->own = NULL;
    }
}
