/* SPDX-License-Identifier: MIT
 *
 * In: a chain and an index. Out: entries that are known before files are open; lines for a new index.
 */
#include "chain/known.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/overflow.h"
#include "chain/own.h"
#include "remote/client/fetcher.h"
#include "core/io/remote.h"

enum { MOST_PATH = 4096 };

/* What an index knows a part by; NULL: it knows nothing of it, as what is not shown of an address may be a secret. */
static const char *key_of(const struct nt_chain_part *part)
{
    const char *address = part->listed->address;
    char *shown = address ? nt_address_shown(address) : NULL;
    bool is_whole = !address || (shown && strcmp(shown, address) == 0);
    free(shown);
    return is_whole ? address ? address : part->path : NULL;
}

static const char *meant_of(const struct nt_chain_part *part)
{
    return part->listed->sample ? part->listed->sample->dataset : "";
}

/* Of an address that no list has told of nothing is known before it is opened, and compared then. */
static bool is_as_known(const struct nt_chain_part *part, const struct nt_known_file *known)
{
    const struct nt_chain_file *listed = part->listed;
    if (!listed->address != !known->validator)
        return false;
    bool is_told = !listed->address || listed->identity.st_mode;
    return !is_told || nt_known_file_check(known, &listed->identity, NULL, NULL) == NT_OK;
}

void nt_chain_recognize(struct nt_chain *chain)
{
    for (uint32_t i = 0; chain->options.index && i < chain->part_count; i++) {
        struct nt_chain_part *part = &chain->parts[i];
        const char *key = key_of(part);
        const struct nt_known_file *known =
            key ? nt_chain_index_find(chain->options.index, key, meant_of(part)) : NULL;
        if (known && is_as_known(part, known))
            part->known = known;
    }
}

enum nt_status nt_chain_part_check(const struct nt_chain_part *part, struct nt_error *error)
{
    struct stat found;
    struct nt_remote_names names;
    if (!part->known)
        return NT_OK;
    enum nt_status status = nt_source_stat(part->file->source, &found, error);
    bool is_remote = nt_source_remote(part->file->source, &names);
    return status == NT_OK
               ? nt_known_file_check(part->known, &found, is_remote ? names.validator : NULL, error)
               : status;
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

/* Of a chain's data set that of an open part. */
static bool find_own(const struct nt_dataset *dataset, const struct nt_chain_part *part,
                     struct nt_dataset **own_ret)
{
    return nt_chain_find_own(nt_chain_dataset_of(dataset)->shares[0].dataset, part, own_ret, NULL) == NT_OK;
}

/* Of a part behind the first one: as the index tells, or as it is where that knows nothing and it was opened. */
static bool entries_of(const struct nt_chain_part *part, const struct nt_dataset *dataset,
                       uint64_t *entries_ret)
{
    const struct nt_known_dataset *known = nt_chain_known_dataset(part, dataset);
    struct nt_dataset *own = NULL;
    if (!known && !(part->file && find_own(dataset, part, &own)))
        return false;
    *entries_ret = known ? known->entries : own->entries;
    return true;
}

static bool sum_entries(const struct nt_chain *chain, const struct nt_dataset *dataset, uint64_t *sum_ret)
{
    const struct nt_known_dataset *known = nt_chain_known_dataset(&chain->parts[0], dataset);
    *sum_ret = dataset->entries;
    if (known && known->entries != dataset->entries)
        return false;
    for (uint32_t i = 1; i < chain->part_count; i++) {
        uint64_t entries;
        if (!entries_of(&chain->parts[i], dataset, &entries) || !nt_add(*sum_ret, entries, sum_ret) ||
            *sum_ret > INT64_MAX)
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

static enum nt_status put_dataset(struct nt_known_file *file, const struct nt_dataset *dataset,
                                  const struct nt_chain_part *part, struct nt_arena *arena)
{
    struct nt_dataset *own;
    char path[MOST_PATH];
    size_t length = nt_dataset_path(dataset, path, sizeof(path));
    if (length >= sizeof(path) || !find_own(dataset, part, &own))
        return NT_OK;
    struct nt_known_dataset *known = &file->datasets[file->dataset_count++];
    known->path = nt_arena_copy(arena, path, length);
    known->entries = own->entries;
    known->clusters = own->cluster_count;
    return known->path ? NT_OK : NT_NO_MEMORY;
}

/* What an index will know an open part by; NULL, too, where nothing tells its version from another one for those who ask later. */
static const char *lasting_key_of(const struct nt_chain_part *part, struct nt_remote_names *names)
{
    names->validator[0] = '\0';
    if (part->listed->address)
        nt_source_remote(part->file->source, names);
    return !part->listed->address || names->validator[0] ? key_of(part) : NULL;
}

static enum nt_status put_part(struct nt_buffer *out, const struct nt_file *file, uint32_t number,
                               struct nt_arena *arena)
{
    const struct nt_chain_part *part = &nt_chain_of(file)->parts[number];
    struct nt_known_dataset *datasets = nt_arena_alloc(arena, file->dataset_count + 1, sizeof(*datasets));
    struct nt_remote_names names;
    struct nt_known_file known = {
        .path = lasting_key_of(part, &names), .meant = meant_of(part), .datasets = datasets};
    char modified[NT_KNOWN_TIME];
    struct stat found;
    enum nt_status status = datasets ? nt_source_stat(part->file->source, &found, NULL) : NT_NO_MEMORY;
    if (status != NT_OK || !known.path)
        return status;
    nt_known_time(&found, modified);
    known.bytes = (uint64_t)found.st_size;
    known.inode = found.st_ino;
    known.modified = modified;
    known.validator = part->listed->address ? names.validator : NULL;
    for (uint32_t i = 0; status == NT_OK && i < file->dataset_count; i++)
        if (!file->datasets[i]->failure)
            status = put_dataset(&known, file->datasets[i], part, arena);
    if (status == NT_OK)
        nt_known_file_append(out, &known);
    return status;
}

/* What was told of an address in vain is not told again: nothing else would find out that it has changed. */
static bool is_outdated(const struct nt_chain_part *part)
{
    return !part->file && part->listed->address && part->failure.status == NT_CHANGED;
}

static bool is_known(const struct nt_file *file, uint32_t number)
{
    const struct nt_chain_part *part = &nt_chain_of(file)->parts[number];
    struct nt_remote_names names;
    if (!part->file)
        return !is_outdated(part);
    if (!lasting_key_of(part, &names))
        return true;
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        const struct nt_dataset *dataset = file->datasets[i];
        const struct nt_known_dataset *known = nt_chain_known_dataset(part, dataset);
        struct nt_dataset *own;
        if (dataset->failure && known) /* what is known may be the reason */
            return false;
        if (!dataset->failure && find_own(dataset, part, &own) && (!known || known->entries != own->entries))
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
        else if (part->known && !is_outdated(part))
            nt_known_file_append(&text, part->known);
    }
    if (status == NT_OK && !text.failed)
        chain->options.keep_index(chain->options.context, &text);
    nt_buffer_deinit(&text);
    nt_arena_free(arena);
}
