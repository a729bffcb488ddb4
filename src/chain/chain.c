/* SPDX-License-Identifier: MIT
 *
 * In: a list of files. Out: a file with the data sets of the first one, each over all files.
 */
#include "chain/chain.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/overflow.h"
#include "base/text.h"
#include "chain/columns.h"
#include "chain/describe.h"
#include "chain/fields.h"
#include "chain/groups.h"
#include "chain/parts.h"
#include "chain/sources.h"
#include "chain/united.h"
#include "format/format.h"

struct building {
    struct nt_file *file;
    struct nt_chain *chain;
    const struct nt_chain_options *options;
    struct nt_error *error;
};

/* ---- shares ---- */

/* A data set that has no name of its own is called like its file. */
static bool is_named_after_file(const struct nt_dataset *dataset)
{
    const char *path = dataset->file->path;
    return nt_texts_are_equal(dataset->name, nt_path_stem(path)) ||
           nt_texts_are_equal(dataset->name, nt_path_name(path));
}

/* What a file has at a data set's path, or where a specification says. */
static enum nt_status find_own(const struct nt_dataset *first, const struct nt_chain_part *part,
                               struct nt_dataset **dataset_ret, struct nt_error *error)
{
    enum { MOST_PATH = 4096 };
    char path[MOST_PATH];
    const struct nt_file *file = part->file;
    bool has_one = first->file->dataset_count == 1 && file->dataset_count == 1;
    if (file->format != first->file->format)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "its format is %s, that of %s %s", file->format->name,
                       first->file->path, first->file->format->name);
    if (part->sample)
        return nt_file_find(file, part->sample->dataset, dataset_ret, error);
    if (has_one && is_named_after_file(first) && is_named_after_file(file->datasets[0])) {
        *dataset_ret = file->datasets[0];
        return file->datasets[0]->failure ? nt_fail_with(error, file->datasets[0]->failure) : NT_OK;
    }
    if (nt_dataset_path(first, path, sizeof(path)) >= sizeof(path))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the data set's path is longer than %d bytes",
                       MOST_PATH);
    return nt_file_find(file, path, dataset_ret, error);
}

static enum nt_status fill_share(const struct building *building, const struct nt_dataset *first,
                                 const struct nt_chain_part *part, struct nt_arena *arena,
                                 struct nt_chain_share *share)
{
    struct nt_error failure = {0};
    enum nt_status status = find_own(first, part, &share->dataset, building->error);
    share->part = part;
    if (status == NT_OK && building->options->rule != NT_CHAIN_UNION) {
        share->fields = nt_arena_alloc(arena, (size_t)first->field_count + 1, sizeof(*share->fields));
        if (!share->fields)
            return nt_fail_memory(building->error);
        status = nt_chain_match_fields(first, share->dataset, share->fields, &failure);
    }
    if (failure.status && building->options->rule == NT_CHAIN_FAIL)
        return nt_failure_keep(&failure, arena, &share->failure, building->error);
    if (failure.status)
        return nt_fail_with(building->error, &failure);
    if (status != NT_OK && !nt_message_about(building->error->message, part->path))
        nt_error_context(building->error, "%s", part->path);
    return status;
}

/* ---- data sets ---- */

static void copy_texts(struct nt_dataset *dataset, const struct nt_dataset *first)
{
    dataset->name = first->name;
    dataset->title = first->title;
    dataset->description = first->description;
    dataset->writer = first->writer;
    dataset->format = first->format;
    dataset->version = first->version;
    dataset->generation = first->generation;
    dataset->generation_reason = first->generation_reason;
    dataset->is_ordered = first->is_ordered;
}

static enum nt_status count_entries(struct nt_dataset *dataset, struct nt_error *error)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    for (uint32_t i = 0; i < chain->share_count; i++) {
        chain->shares[i].first_entry = dataset->entries;
        if (!nt_add(dataset->entries, chain->shares[i].dataset->entries, &dataset->entries) ||
            dataset->entries > INT64_MAX)
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "more than 2^63 - 1 entries");
    }
    return NT_OK;
}

static enum nt_status fill_dataset(const struct building *building, struct nt_dataset *dataset,
                                   const struct nt_dataset *first)
{
    struct nt_error *error = building->error;
    uint32_t count = building->chain->part_count;
    struct nt_chain_dataset *chain = nt_arena_alloc(dataset->arena, 1, sizeof(*chain));
    dataset->format_data = chain;
    if (!chain || !(chain->shares = nt_arena_alloc(dataset->arena, count, sizeof(*chain->shares))))
        return nt_fail_memory(error);
    dataset->is_joined = true;
    dataset->ops = &nt_chain_dataset_ops;
    copy_texts(dataset, first);
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < count; i++) {
        status = fill_share(building, first, &building->chain->parts[i], dataset->arena, &chain->shares[i]);
        chain->share_count++;
    }
    if (status == NT_OK)
        status = building->options->rule == NT_CHAIN_UNION
                     ? nt_chain_unite_fields(dataset, error)
                     : nt_chain_take_fields(chain->shares[0].dataset, dataset->arena, &chain->fields, error);
    if (status == NT_OK)
        status = count_entries(dataset, error);
    if (status == NT_OK)
        status = nt_chain_add_sources(dataset, error);
    if (status == NT_OK)
        status = nt_chain_build_columns(dataset, error);
    return status == NT_OK ? nt_chain_build_groups(dataset, error) : status;
}

/* Attribute sets tell of the entries of one file, and of older cycles each has its own. */
static bool is_chained(const struct nt_dataset *dataset)
{
    return dataset->attribute_of == NT_NONE && dataset->is_newest_cycle && !dataset->failure;
}

static enum nt_status add_dataset(const struct building *building, const struct nt_dataset *first)
{
    struct nt_dataset *dataset;
    struct nt_error failure = {0};
    enum nt_status status = nt_file_add_dataset(building->file, &dataset, building->error);
    if (status != NT_OK)
        return status;
    dataset->directory = first->directory;
    struct building inner = *building;
    inner.error = &failure;
    status = fill_dataset(&inner, dataset, first);
    return status == NT_OK ? NT_OK : nt_dataset_set_failure(dataset, &failure, building->error);
}

/* ---- the file ---- */

static enum nt_status add_directories(const struct building *building, const struct nt_file *first)
{
    for (uint32_t i = 1; i < first->directory_count; i++)
        if (nt_file_add_directory(building->file, first->directories[i].parent, first->directories[i].name) ==
            NT_NONE)
            return nt_fail_memory(building->error);
    return NT_OK;
}

/* A chain may ask for as much as its files together. */
static void widen(const struct building *building)
{
    for (uint32_t i = 0; i < building->chain->part_count; i++) {
        const struct nt_file *own = building->chain->parts[i].file;
        nt_budget_widen(&building->file->budget, own->source->size);
        if (own->page_bytes > building->file->page_bytes)
            building->file->page_bytes = own->page_bytes;
    }
}

static enum nt_status find_failure(const struct nt_file *file, struct nt_error *error)
{
    for (uint32_t i = 0; i < file->dataset_count; i++)
        if (!file->datasets[i]->failure)
            return NT_OK;
    if (file->dataset_count)
        return nt_fail_with(error, file->datasets[0]->failure);
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: no data set that opens", file->path);
}

/* All that are chained; or the one that a specification means. */
static enum nt_status add_datasets(const struct building *building, const struct nt_chain_part *first)
{
    struct nt_dataset *meant = NULL;
    enum nt_status status = NT_OK;
    if (first->sample)
        status = nt_file_find(first->file, first->sample->dataset, &meant, building->error);
    if (meant)
        return add_dataset(building, meant);
    for (uint32_t i = 0; status == NT_OK && i < first->file->dataset_count; i++)
        if (is_chained(first->file->datasets[i]))
            status = add_dataset(building, first->file->datasets[i]);
    return status;
}

static enum nt_status fill_file(const struct building *building)
{
    struct nt_file *file = building->file;
    const struct nt_file *first = building->chain->parts[0].file;
    file->format = first->format;
    file->describe = nt_chain_describe_file;
    file->layout = nt_chain_lay_out;
    file->check = nt_chain_check;
    widen(building);
    enum nt_status status = nt_chain_number_sources(file, building->error);
    if (status == NT_OK)
        status = add_directories(building, first);
    if (status == NT_OK)
        status = add_datasets(building, &building->chain->parts[0]);
    return status == NT_OK ? find_failure(file, building->error) : status;
}

/* ---- its files ---- */

/* Files that cannot be opened: left out, or refused. */
static enum nt_status settle_parts(struct nt_chain *chain, const struct nt_chain_options *options,
                                   struct nt_error *error)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < chain->part_count; i++) {
        struct nt_chain_part *part = &chain->parts[i];
        if (!part->file && !options->skips_failed)
            return nt_fail_with(error, &part->failure);
        if (!part->file)
            nt_source_close(part->source);
        else if (kept++ < i)
            chain->parts[kept - 1] = *part;
        if (!part->file || kept <= i)
            *part = (struct nt_chain_part){.path = part->path};
    }
    chain->skipped = chain->part_count - kept;
    chain->part_count = kept;
    return kept ? NT_OK
                : nt_fail(error, NT_INVALID, NT_NO_OFFSET, "none of its %" PRIu32 " files opens",
                          chain->skipped);
}

/* Of `part_count` parts. */
static void free_chain(struct nt_chain *chain, uint32_t part_count)
{
    nt_chain_parts_close(chain->parts, part_count);
    free(chain->parts);
    free(chain);
}

static void close_chain(struct nt_file *file)
{
    struct nt_chain *chain = file->format_data;
    free_chain(chain, chain->part_count);
}

static enum nt_status open_parts(const struct nt_chain_list *list,
                                 const struct nt_chain_options *chain_options,
                                 const struct nt_open_options *options, struct nt_chain **chain_ret,
                                 struct nt_error *error)
{
    struct nt_chain *chain = calloc(1, sizeof(*chain));
    struct nt_chain_part *parts = calloc(list->count, sizeof(*parts));
    if (!chain || !parts) {
        free(chain);
        free(parts);
        return nt_fail_memory(error);
    }
    *chain = (struct nt_chain){.parts = parts, .part_count = list->count};
    for (uint32_t i = 0; i < list->count; i++)
        parts[i] = (struct nt_chain_part){.path = list->files[i].path, .sample = list->files[i].sample};
    enum nt_status status = nt_chain_parts_open(parts, list->count, options, error);
    if (status == NT_OK)
        status = settle_parts(chain, chain_options, error);
    if (status == NT_OK) {
        *chain_ret = chain;
        return NT_OK;
    }
    free_chain(chain, list->count);
    return status;
}

static enum nt_status new_file(const struct nt_chain_list *list, const struct nt_chain *chain,
                               const struct nt_open_options *options, struct nt_file **file_ret,
                               struct nt_error *error)
{
    const struct nt_limits limits = nt_open_limits(options);
    struct nt_source *source;
    enum nt_status status = nt_chain_source_new(list->name, chain->parts[0].file->source, &source, error);
    if (status == NT_OK && (status = nt_file_new(list->name, source, &limits, file_ret, error)) != NT_OK)
        nt_source_close(source);
    return status;
}

enum nt_status nt_chain_open(const struct nt_chain_list *list, const struct nt_chain_options *chain_options,
                             const struct nt_open_options *options, struct nt_file **file_ret,
                             struct nt_error *error)
{
    struct nt_chain *chain = NULL;
    struct nt_file *file;
    enum nt_status status = open_parts(list, chain_options, options, &chain, error);
    if (status != NT_OK)
        return status;
    status = new_file(list, chain, options, &file, error);
    if (status != NT_OK) {
        free_chain(chain, chain->part_count);
        return status;
    }
    file->format_data = chain;
    file->close = close_chain;
    const struct building building = {file, chain, chain_options, error};
    status = fill_file(&building);
    if (status == NT_OK)
        *file_ret = file;
    else
        nt_file_close(file);
    return status;
}
