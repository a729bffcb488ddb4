/* SPDX-License-Identifier: MIT
 *
 * Numbers the byte sources of all members consecutively, so that pages and layout ranges of the chain
 * can refer to them. The chain itself is an empty source with the attributes of its first file.
 */
#include "chain/chain.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/io/source.h"
#include "core/model/model.h"

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

static enum nt_status size_of_own(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    struct nt_source *own = ((struct checked_source *)source)->own;
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

/* One of the sources of a lazy member, the first of which is the file. NULL if out of memory. */
static struct nt_source *lazy_source(struct nt_arena *arena, const struct nt_chain_member *part,
                                     uint32_t number)
{
    struct checked_source *source = nt_arena_alloc(arena, 1, sizeof(*source));
    if (!source)
        return NULL;
    *source = (struct checked_source){.source = {.ops = part->listed->address ? &served_ops : &checked_ops,
                                                 .size = number ? NT_UNKNOWN_SIZE : part->known->bytes,
                                                 .path = part->path}};
    return &source->source;
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

/* As many as the file's layout or any of its datasets has. */
static uint32_t count_sources(const struct nt_file *file)
{
    uint32_t count = file->layout_sources ? file->layout_source_count : 1;
    for (uint32_t i = 0; i < file->dataset_count; i++)
        if (file->datasets[i]->source_count > count)
            count = file->datasets[i]->source_count;
    return count;
}

enum nt_status nt_chain_number_sources(struct nt_file *file, bool is_stub, struct nt_error *error)
{
    const struct nt_chain *chain = nt_chain_of(file);
    uint64_t total = 0;
    for (uint32_t i = 0, of_series = 0; i < chain->part_count; i = nt_chain_next_part(chain, i, is_stub)) {
        struct nt_chain_member *part = &chain->parts[i];
        of_series = nt_chain_begins_series(chain, i) ? i : of_series;
        part->first_source = (uint32_t)total;
        part->source_count = part->file      ? count_sources(part->file)
                             : part->is_lazy ? chain->parts[of_series].source_count
                                             : 0;
        total += part->source_count;
    }
    if (total >= NT_NONE)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the files of the chain have more than 2^32 sources");
    file->layout_sources = nt_arena_alloc(file->arena, total + 1, sizeof(struct nt_source *));
    if (!file->layout_sources)
        return nt_fail_memory(error);
    file->layout_source_count = (uint32_t)total;
    for (uint32_t i = 0; i < chain->part_count; i = nt_chain_next_part(chain, i, is_stub)) {
        const struct nt_chain_member *part = &chain->parts[i];
        struct nt_source *source = part->file      ? part->file->source
                                   : part->is_lazy ? lazy_source(file->arena, part, 0)
                                                   : NULL;
        if (part->is_lazy && !source)
            return nt_fail_memory(error);
        for (uint32_t k = 0; k < part->source_count; k++) {
            bool is_reported =
                part->file && part->file->layout_sources && k < part->file->layout_source_count;
            file->layout_sources[part->first_source + k] =
                is_reported ? part->file->layout_sources[k] : source;
        }
    }
    return NT_OK;
}

enum nt_status nt_chain_add_sources(struct nt_dataset *dataset, struct nt_error *error)
{
    const struct nt_file *file = dataset->file;
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    dataset->sources =
        nt_arena_alloc(dataset->arena, (size_t)file->layout_source_count + 1, sizeof(struct nt_source *));
    if (!dataset->sources)
        return nt_fail_memory(error);
    dataset->source_count = file->layout_source_count;
    for (uint32_t i = 0; i < file->layout_source_count; i++)
        dataset->sources[i] = file->layout_sources[i];
    for (uint32_t i = 0; i < chain->slice_count; i++) {
        const struct nt_chain_slice *slice = &chain->slices[i];
        for (uint32_t k = 0; slice->lazy && k < slice->part->source_count; k++)
            if (!(dataset->sources[slice->part->first_source + k] =
                      lazy_source(dataset->arena, slice->part, k)))
                return nt_fail_memory(error);
        for (uint32_t k = 0; slice->dataset && k < slice->dataset->source_count; k++) {
            struct nt_source *source =
                checked(dataset->arena, slice->dataset->sources[k], slice->part->file->source);
            if (!source)
                return nt_fail_memory(error);
            dataset->sources[slice->part->first_source + k] = source;
        }
    }
    return NT_OK;
}

/* A file with several datasets is connected with the first of them. */
static void connect_once(struct nt_source *source, struct nt_source *own, struct nt_source *file)
{
    if (!((struct checked_source *)source)->own)
        connect(source, own, file);
}

void nt_chain_connect_sources(struct nt_dataset *dataset, const struct nt_chain_slice *slice, bool is_file)
{
    struct nt_source *file = slice->part->file->source;
    for (uint32_t i = 0; i < slice->dataset->source_count; i++) {
        uint32_t number = slice->part->first_source + i;
        connect_once(dataset->sources[number], is_file ? file : slice->dataset->sources[i], file);
        connect_once(dataset->file->layout_sources[number], file, file);
    }
}

void nt_chain_disconnect_sources(struct nt_dataset *dataset, const struct nt_chain_slice *slice)
{
    for (uint32_t i = 1; i < slice->dataset->source_count; i++) {
        struct nt_source *source = dataset->sources[slice->part->first_source + i];
        source->beneath = NULL;
        ((struct checked_source *)source)->own = NULL;
    }
}
