/* SPDX-License-Identifier: MIT
 *
 * In: a list with addresses in it. Out: the same with what patterns among them match, each address once.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/hash_table.h"
#include "chain/list.h"
#include "core/codec/codec.h"
#include "core/io/remote.h"

struct known {
    struct nt_link link;
    const char *address, *dataset;
};

struct asking {
    struct nt_chain_list *list;
    struct nt_hash_table known; /* addresses that are in the new list */
    struct nt_chain_file *files;
    uint32_t count;
    size_t capacity;
    const struct nt_chain_file *pattern; /* that is looked at */
};

/* A specification may name several data sets of a file. */
static enum nt_status know(struct asking *asking, const struct nt_chain_file *file, struct nt_error *error)
{
    const char *dataset = file->sample ? file->sample->dataset : "";
    uint64_t hash = nt_xxh3_seeded(file->address, strlen(file->address), asking->known.seed);
    const struct nt_link *link = nt_hash_table_find(&asking->known, hash);
    for (; link; link = nt_hash_table_next(link)) {
        const struct known *known = NT_LINKED(link, struct known, link);
        if (strcmp(known->address, file->address) == 0 && strcmp(known->dataset, dataset) == 0)
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: is named twice", file->path);
    }
    struct known *known = nt_arena_alloc(asking->list->arena, 1, sizeof(*known));
    if (!known)
        return nt_fail_memory(error);
    known->address = file->address;
    known->dataset = dataset;
    nt_hash_table_insert(&asking->known, &known->link, hash);
    return NT_OK;
}

static enum nt_status add(struct asking *asking, const struct nt_chain_file *file, struct nt_error *error)
{
    enum nt_status status = file->address ? know(asking, file, error) : NT_OK;
    if (status != NT_OK)
        return status;
    struct nt_chain_file *files = nt_grow(asking->files, asking->count, &asking->capacity, sizeof(*files));
    if (!files)
        return nt_fail_memory(error);
    asking->files = files;
    files[asking->count++] = *file;
    return NT_OK;
}

/* As messages about the file call it: a folder by its address, a file by the folder that it was listed in. */
static const char *shown(const struct asking *asking, const struct nt_remote_match *match)
{
    struct nt_arena *arena = asking->list->arena;
    if (!match->is_folder)
        return nt_arena_format(arena, "%s%s%s", match->folder->path,
                               nt_address_is_folder(match->folder->path) ? "" : "/", match->name);
    char *address = nt_address_folder_of(match->address);
    char *text = address ? nt_address_shown(address) : NULL;
    const char *copy = text ? nt_arena_copy(arena, text, strlen(text)) : NULL;
    free(address);
    free(text);
    return copy;
}

static enum nt_status take(void *context, const struct nt_remote_match *match, struct nt_error *error)
{
    struct asking *asking = context;
    struct nt_chain_file file = *asking->pattern;
    enum nt_status status = nt_folder_stat(match->folder, match->name, &file.identity, error);
    if (status != NT_OK)
        return status;
    file.path = shown(asking, match);
    file.address = match->address;
    if (!match->is_folder) {
        file.folder = match->folder;
        file.name = match->name;
    }
    return file.path ? add(asking, &file, error) : nt_fail_memory(error);
}

static enum nt_status take_file(struct asking *asking, const struct nt_chain_file *file,
                                struct nt_fetcher *fetcher, struct nt_error *error)
{
    bool is_pattern = file->address && nt_address_is_pattern(file->address);
    asking->pattern = file;
    enum nt_status status = is_pattern ? nt_remote_pattern_expand(file->address, fetcher, asking->list->arena,
                                                                  &asking->list->listed, take, asking, error)
                                       : add(asking, file, error);
    if (status != NT_OK && file->named)
        nt_error_context(error, "%s", file->named);
    return status;
}

enum nt_status nt_chain_list_ask(struct nt_chain_list *list, struct nt_fetcher *fetcher,
                                 struct nt_error *error)
{
    struct asking asking = {.list = list};
    enum nt_status status = NT_OK;
    if (!list->address)
        return NT_OK;
    if (!nt_hash_table_init(&asking.known))
        return nt_fail_memory(error);
    for (uint32_t i = 0; status == NT_OK && i < list->count; i++)
        status = take_file(&asking, &list->files[i], fetcher, error);
    nt_hash_table_deinit(&asking.known);
    if (status != NT_OK) {
        free(asking.files);
        return status;
    }
    free(list->files);
    list->files = asking.files;
    list->count = asking.count;
    return NT_OK;
}
