/* SPDX-License-Identifier: MIT
 *
 * In: a chain and an index. Out: entries that are known before files are open; lines for a new index.
 */
#include "chain/known.h"

#include "base/overflow.h"

enum { MOST_PATH = 4096 };

static const char *meant_of(const struct nt_chain_part *part)
{
    return part->listed->sample ? part->listed->sample->dataset : "";
}

void nt_chain_recognize(struct nt_chain *chain)
{
    for (uint32_t i = 0; chain->options.index && i < chain->part_count; i++) {
        struct nt_chain_part *part = &chain->parts[i];
        const struct nt_known_file *known =
            nt_chain_index_find(chain->options.index, part->path, meant_of(part));
        if (known && nt_known_file_check(known, &part->listed->identity, NULL) == NT_OK)
            part->known = known;
    }
}

enum nt_status nt_chain_part_check(const struct nt_chain_part *part, struct nt_error *error)
{
    struct stat found;
    if (!part->known)
        return NT_OK;
    enum nt_status status = nt_source_stat(part->file->source, &found, error);
    return status == NT_OK ? nt_known_file_check(part->known, &found, error) : status;
}

const struct nt_known_dataset *nt_chain_known_dataset(const struct nt_chain_part *part,
                                                      const struct nt_dataset *dataset)
{
    char path[MOST_PATH];
    if (!part->known || nt_dataset_path(dataset, path, sizeof(path)) >= sizeof(path))
        return NULL;
    return nt_known_dataset_find(part->known, path);
}

/* ---- before the files are open ---- */

/* Of the first part, which is open, and of those behind it. */
static bool sum_entries(const struct nt_chain *chain, struct nt_dataset *dataset, uint64_t *sum_ret)
{
    char path[MOST_PATH];
    *sum_ret = dataset->entries;
    if (nt_dataset_path(dataset, path, sizeof(path)) >= sizeof(path))
        return false;
    for (uint32_t i = 0; i < chain->part_count; i++) {
        const struct nt_known_file *file = chain->parts[i].known;
        const struct nt_known_dataset *known = file ? nt_known_dataset_find(file, path) : NULL;
        bool is_good =
            known && (i > 0 ? nt_add(*sum_ret, known->entries, sum_ret) : known->entries == dataset->entries);
        if (!is_good || *sum_ret > INT64_MAX)
            return false;
    }
    return true;
}

void nt_chain_tell_entries(struct nt_file *outline)
{
    uint64_t entries;
    for (uint32_t i = 0; i < outline->dataset_count; i++) {
        struct nt_dataset *dataset = outline->datasets[i];
        if (dataset->failure || !sum_entries(nt_chain_of(outline), dataset, &entries))
            continue;
        dataset->entries = entries;
        dataset->tells_entries = true;
    }
}

/* ---- when they are ---- */

static enum nt_status put_dataset(struct nt_known_file *file, const struct nt_dataset *dataset, uint32_t part,
                                  struct nt_arena *arena)
{
    const struct nt_chain_share *share = &nt_chain_dataset_of(dataset)->shares[part];
    char path[MOST_PATH];
    size_t length = nt_dataset_path(dataset, path, sizeof(path));
    if (length >= sizeof(path))
        return NT_OK;
    struct nt_known_dataset *known = &file->datasets[file->dataset_count++];
    known->path = nt_arena_copy(arena, path, length);
    known->entries = share->dataset->entries;
    known->clusters = share->dataset->cluster_count;
    return known->path ? NT_OK : NT_NO_MEMORY;
}

static enum nt_status put_part(struct nt_buffer *out, const struct nt_file *file, uint32_t number,
                               struct nt_arena *arena)
{
    const struct nt_chain_part *part = &nt_chain_of(file)->parts[number];
    struct nt_known_dataset *datasets = nt_arena_alloc(arena, file->dataset_count + 1, sizeof(*datasets));
    struct nt_known_file known = {.path = part->path, .meant = meant_of(part), .datasets = datasets};
    char modified[NT_KNOWN_TIME];
    struct stat found;
    enum nt_status status = datasets ? nt_source_stat(part->file->source, &found, NULL) : NT_NO_MEMORY;
    if (status != NT_OK)
        return status;
    nt_known_time(&found, modified);
    known.bytes = (uint64_t)found.st_size;
    known.inode = found.st_ino;
    known.modified = modified;
    for (uint32_t i = 0; status == NT_OK && i < file->dataset_count; i++)
        if (!file->datasets[i]->failure)
            status = put_dataset(&known, file->datasets[i], number, arena);
    if (status == NT_OK)
        nt_known_file_append(out, &known);
    return status;
}

static bool is_known(const struct nt_file *file, uint32_t number)
{
    const struct nt_chain_part *part = &nt_chain_of(file)->parts[number];
    for (uint32_t i = 0; part->file && i < file->dataset_count; i++) {
        const struct nt_dataset *dataset = file->datasets[i];
        const struct nt_known_dataset *known = nt_chain_known_dataset(part, dataset);
        if (!dataset->failure &&
            (!known || known->entries != nt_chain_dataset_of(dataset)->shares[number].dataset->entries))
            return false;
    }
    return true;
}

void nt_chain_keep_index(const struct nt_file *file)
{
    const struct nt_chain *chain = nt_chain_of(file);
    struct nt_buffer text = {0};
    bool is_new = false;
    for (uint32_t i = 0; chain->options.keep_index && !is_new && i < chain->part_count; i++)
        is_new = !is_known(file, i);
    if (!is_new)
        return;
    struct nt_arena *arena = nt_arena_new();
    enum nt_status status = arena ? NT_OK : NT_NO_MEMORY;
    for (uint32_t i = 0; status == NT_OK && i < chain->part_count; i++) {
        const struct nt_chain_part *part = &chain->parts[i];
        if (part->file)
            status = put_part(&text, file, i, arena);
        else
            nt_known_file_append(&text, part->known);
    }
    if (status == NT_OK && !text.failed)
        chain->options.keep_index(chain->options.context, &text);
    nt_buffer_deinit(&text);
    nt_arena_free(arena);
}
