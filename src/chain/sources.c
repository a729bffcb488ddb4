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
 * opens; no page refers to its source before. Those of a directory close with the member, and open with
 * the next use. */
struct checked_source {
    struct nt_source source;
    struct nt_source *_Atomic own, *_Atomic file;
    const struct nt_file *chain; /* of a lazy member that is a directory; else NULL */
    struct nt_chain_member *member;
};

static bool begin_if_open(const struct checked_source *source)
{
    unsigned readers =
        source->chain ? atomic_load_explicit(&source->member->readers, memory_order_relaxed) : 0;
    while (readers & NT_CHAIN_READABLE)
        if (atomic_compare_exchange_weak_explicit(&source->member->readers, &readers, readers + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    return !source->chain;
}

static enum nt_status fail_closed(const struct checked_source *source, struct nt_error *error)
{
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s: is not open", source->source.path);
}

/* Keeps `own` and `file` open, until end_use. Opens a directory that has closed. */
static enum nt_status begin_use(const struct checked_source *source, struct nt_error *error)
{
    const struct nt_dataset *dataset = NULL;
    if (begin_if_open(source))
        return NT_OK;
    for (uint32_t i = 0; !dataset && i < source->chain->dataset_count; i++)
        if (!source->chain->datasets[i]->failure)
            dataset = source->chain->datasets[i];
    if (!dataset)
        return fail_closed(source, error);
    const struct nt_chain_slice *slice = nt_chain_slice_of(dataset, source->member);
    NT_TRY(nt_chain_pin_member(dataset, slice, error));
    bool is_open = begin_if_open(source);
    nt_chain_unpin_member(dataset, slice);
    return is_open ? NT_OK : fail_closed(source, error);
}

static void end_use(const struct checked_source *source)
{
    if (source->chain)
        atomic_fetch_sub_explicit(&source->member->readers, 1, memory_order_release);
}

static enum nt_status read_own(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                               struct nt_error *error)
{
    const struct checked_source *checked = (const struct checked_source *)source;
    NT_TRY(begin_use(checked, error));
    enum nt_status status = nt_source_read(checked->own, offset, buffer, bytes, error);
    end_use(checked);
    return status;
}

static enum nt_status check_file(struct nt_source *source, struct nt_error *error)
{
    const struct checked_source *checked = (const struct checked_source *)source;
    NT_TRY(begin_use(checked, error));
    struct nt_source *file = checked->file;
    enum nt_status status = file ? nt_source_check(file, error) : NT_OK;
    end_use(checked);
    return status;
}

static enum nt_status stat_own(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    const struct checked_source *checked = (const struct checked_source *)source;
    NT_TRY(begin_use(checked, error));
    struct nt_source *own = checked->own;
    enum nt_status status = own ? nt_source_stat(own, attributes, error) : fail_closed(checked, error);
    end_use(checked);
    return status;
}

static enum nt_status size_of_own(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    const struct checked_source *checked = (const struct checked_source *)source;
    NT_TRY(begin_use(checked, error));
    struct nt_source *own = checked->own;
    *size_ret = source->size == NT_UNKNOWN_SIZE ? 0 : source->size;
    enum nt_status status = own ? nt_source_size(own, size_ret, error) : NT_OK;
    end_use(checked);
    return status;
}

static void prefetch_own(struct nt_source *source, const struct nt_extent *extents, size_t count,
                         enum nt_prefetch_need need)
{
    const struct checked_source *checked = (const struct checked_source *)source;
    bool is_needed = need != NT_PREFETCH_SOON;
    if (is_needed ? begin_use(checked, NULL) != NT_OK : !begin_if_open(checked))
        return;
    struct nt_source *own = checked->own;
    if (own)
        nt_source_prefetch(own, extents, count, need);
    end_use(checked);
}

static bool forget_own(struct nt_source *source, uint64_t offset, uint64_t bytes)
{
    const struct checked_source *checked = (const struct checked_source *)source;
    if (!begin_if_open(checked))
        return false;
    struct nt_source *own = checked->own;
    bool is_forgotten = own && nt_source_invalidate(own, offset, bytes);
    end_use(checked);
    return is_forgotten;
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
                               struct nt_chain_member *member, uint32_t number, struct nt_source **source_ret,
                               struct nt_error *error)
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

/* Readers see it with the first page that refers to it. What they see of a directory's source does not change
 * when it opens again. */
static void connect(struct nt_source *source, struct nt_source *own, struct nt_source *file)
{
    struct checked_source *checked = (struct checked_source *)source;
    checked->file = file;
    checked->own = own;
    if (checked->chain)
        return;
    source->size = own->size;
    source->split_bytes = own->split_bytes;
    source->beneath = own;
    source->is_object_store = own->is_object_store;
    source->first_byte = own->first_byte;
}

/* The path of a directory's source, which may close. Without memory it stays that of the member. */
static void name_source(struct nt_file *chain, struct nt_source *source, const char *path)
{
    size_t length = strlen(path);
    char *copy = nt_budget_take(&chain->budget, NT_COST_ENVELOPE_BYTE, length, NT_NO_OFFSET, NULL) == NT_OK
                     ? nt_arena_copy(chain->arena, path, length)
                     : NULL;
    if (copy)
        source->path = copy;
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

static enum nt_status number_member(struct nt_file *file, struct nt_chain_member *member,
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
    /* The index, which has their number, may be wrong. */
    NT_TRY(nt_budget_take(&file->budget, NT_COST_ENVELOPE_BYTE, lazy * sizeof(struct checked_source),
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
        const struct nt_chain_member *member = slice->member;
        for (uint32_t k = 0; slice->lazy && !member->known->files && k < member->source_count; k++)
            NT_TRY(add_lazy(file, dataset->arena, nt_chain_member_of(file, slice), k,
                            &dataset->sources[member->first_source + k], error));
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
    struct nt_chain_member *member = nt_chain_member_of(dataset->file, slice);
    uint32_t of_layout = own->layout_sources ? own->layout_source_count : 0;
    for (uint32_t i = 0; i < member->source_count; i++) {
        struct nt_source *paged = dataset->sources[member->first_source + i],
                         *shown = dataset->file->layout_sources[member->first_source + i],
                         *file = i < of_layout ? own->layout_sources[i] : own->source;
        bool is_other = !is_file && i < slice->dataset->source_count;
        connect_once(paged, is_other ? slice->dataset->sources[i] : file, own->source);
        connect_once(shown, file, own->source);
        if (i < of_layout && shown->path == member->path)
            name_source(dataset->file, shown, file->path);
    }
    if (member->known->files)
        atomic_fetch_or_explicit(&member->readers, NT_CHAIN_READABLE, memory_order_release);
}

void nt_chain_disconnect_sources(struct nt_dataset *dataset, const struct nt_chain_slice *slice)
{
    const struct nt_chain_member *member = slice->member;
    bool is_folder = member->known->files;
    uint32_t end = is_folder ? member->source_count : slice->dataset->source_count;
    for (uint32_t i = is_folder ? 0 : 1; i < end; i++) {
        struct nt_source *source = dataset->sources[member->first_source + i];
        if (!is_folder)
            source->beneath = NULL;
        ((struct checked_source *)source)->own = ((struct checked_source *)source)->file = NULL;
    }
}
