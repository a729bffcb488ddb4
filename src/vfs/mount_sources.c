/* SPDX-License-Identifier: MIT
 *
 * Creates the inodes of the sources that a tree is made from, and frees them all at its end. Several
 * sources become directories with unique names; so do the members of a chain in files.d.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain/chain.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/io/address.h"
#include "core/model/model.h"
#include "formats/formats.h"
#include "vfs/inode.h"
#include "vfs/vfs.h"

/* ---- Members of a chain ---- */

struct nt_chain_places {
    const struct nt_chain_list *list;
    struct nt_names *names;
    uint32_t *places; /* [file]: NT_NONE: nobody has looked at it */
};

static void ask_file(const void *context, uint32_t item, struct nt_name_wish *wish)
{
    const struct nt_chain_list *list = context;
    wish->text = nt_path_name(list->files[item].path);
    wish->rule = NT_NAME_DATASET;
}

/* The list must outlive them. */
static enum nt_status nt_chain_places_new(const struct nt_chain_list *list,
                                          struct nt_chain_places **chain_ret, struct nt_error *error)
{
    struct nt_chain_places *chain = calloc(1, sizeof(*chain));
    uint32_t *places = calloc(list->count, sizeof(*places));
    if (!chain || !places) {
        free(chain);
        free(places);
        return nt_fail_memory(error);
    }
    for (uint32_t i = 0; i < list->count; i++)
        places[i] = NT_NONE;
    *chain = (struct nt_chain_places){.list = list, .places = places};
    *chain_ret = chain;
    return nt_names_build(list->count, ask_file, list, &chain->names, error);
}

void nt_chain_places_free(struct nt_chain_places *chain)
{
    if (!chain)
        return;
    nt_names_free(chain->names);
    free(chain->places);
    free(chain);
}

const char *nt_chain_places_name(const struct nt_chain_places *chain, uint32_t file)
{
    return nt_names_get(chain->names, file);
}

/* Under the lock. The file is the one that was listed: who replaces it later does not replace what the chain shows of it. */
static enum nt_status add_file(struct nt_places *places, const struct nt_place *outer, uint32_t file,
                               struct nt_error *error)
{
    const struct nt_chain_file *listed = &outer->chain->list->files[file];
    struct nt_place *place;
    enum nt_status status = nt_places_add(places, outer->number, listed->path, NT_PLACE_FILE, &place, error);
    if (status != NT_OK)
        return status;
    place->is_remote = listed->address != NULL;
    if (place->is_remote)
        nt_places_identify_remote(place, &listed->identity);
    else
        nt_places_identify(place, &listed->identity);
    place->way = NT_ROUTE_FILE;
    status = nt_place_set_text(&place->name, nt_chain_places_name(outer->chain, file), error);
    if (status == NT_OK && listed->address)
        status = nt_place_set_text(&place->address, listed->address, error);
    if (status == NT_OK)
        outer->chain->places[file] = place->number;
    return status;
}

enum nt_status nt_chain_places_find(struct nt_places *places, uint32_t number, const char *name,
                                    uint32_t *place_ret, struct nt_error *error)
{
    const struct nt_place *outer = nt_places_get(places, number);
    uint32_t file = nt_names_find(outer->chain->names, 0, name);
    enum nt_status status = NT_OK;
    if (file == NT_NONE)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such file");
    pthread_mutex_lock(&places->lock);
    if (outer->chain->places[file] == NT_NONE)
        status = add_file(places, outer, file, error);
    *place_ret = outer->chain->places[file];
    pthread_mutex_unlock(&places->lock);
    return status;
}

/* ---- Sources of the tree ---- */

enum {
    MOST_PLACES = 1 << 20,
    MOST_SLOTS = 1 << 16, /* as node numbers have bits for */
};

void nt_places_free(struct nt_places *places)
{
    if (!places)
        return;
    nt_places_close_all(places);
    for (uint32_t i = 0; i < places->count; i++)
        if (places->list[i])
            nt_place_free(places->list[i]);
    free(places->list);
    free(places->slots);
    nt_numbers_deinit(&places->numbers);
    nt_numbers_deinit(&places->slot_numbers);
    pthread_cond_destroy(&places->has_idle);
    pthread_cond_destroy(&places->was_opened);
    pthread_mutex_destroy(&places->lock);
    free(places);
}

static enum nt_status add_address(struct nt_places *places, uint32_t parent, const char *address,
                                  uint32_t *number_ret, struct nt_error *error)
{
    struct nt_place *place;
    char *shown = nt_address_shown(address), *path = shown ? nt_address_folder_of(shown) : NULL;
    enum nt_status status =
        path ? nt_places_add(places, parent, path, NT_PLACE_FILE, &place, error) : nt_fail_memory(error);
    free(shown);
    free(path);
    if (status == NT_OK)
        status = nt_place_set_text(&place->address, address, error);
    if (status != NT_OK)
        return status;
    place->is_remote = true;
    nt_places_identify_remote(place, NULL);
    *number_ret = place->number;
    return NT_OK;
}

/* One place for a path that the user gave. That a file cannot be opened is found out by trying. */
static enum nt_status add_path(struct nt_places *places, uint32_t parent, const char *path,
                               uint32_t *number_ret, struct nt_error *error)
{
    if (nt_is_address(path))
        return add_address(places, parent, path, number_ret, error);
    char *absolute = realpath(path, NULL);
    struct stat identity;
    struct nt_place *place;
    if (!absolute)
        return nt_fail_path(error, errno, path);
    enum nt_status status = nt_disk_stat(absolute, &identity, error);
    bool is_dataset = true;
    if (status == NT_OK && S_ISDIR(identity.st_mode))
        status = nt_is_dataset_path(absolute, &is_dataset, error);
    if (status == NT_OK)
        status = nt_places_add(places, parent, absolute, is_dataset ? NT_PLACE_FILE : NT_PLACE_FOLDER, &place,
                               error);
    if (status == NT_OK) {
        nt_places_identify(place, &identity);
        *number_ret = place->number;
    }
    free(absolute);
    return status;
}

/* One place for all files of a chain. */
static enum nt_status add_chain(struct nt_places *places, struct nt_error *error)
{
    const struct nt_chain_list *list = places->vfs->options.chain;
    struct nt_place *place;
    enum nt_status status = nt_places_add(places, 0, list->name, NT_PLACE_FILE, &place, error);
    if (status != NT_OK)
        return status;
    const struct nt_chain_file *first = list->files, *last = &list->files[list->count - 1];
    while (first < last && !first->identity.st_mode && !first->address)
        first++;
    if (first->address) {
        nt_places_identify_remote(place, &first->identity);
    } else {
        place->identity = first->identity;
        status = nt_place_set_text(&place->identity_path, first->path, error);
    }
    return status == NT_OK ? nt_chain_places_new(list, &place->chain, error) : status;
}

/* The root of several paths. One that does not exist is refused: it is a mistake in the command. */
static enum nt_status add_group(struct nt_places *places, const char *const *paths, size_t count,
                                struct nt_error *error)
{
    struct nt_place *group;
    enum nt_status status = nt_places_add(places, 0, NULL, NT_PLACE_GROUP, &group, error);
    if (status != NT_OK)
        return status;
    uint32_t *children = calloc(count, sizeof(uint32_t));
    if (!children)
        return nt_fail_memory(error);
    for (size_t i = 0; i < count && status == NT_OK; i++)
        status = add_path(places, 0, paths[i], &children[i], error);
    if (status != NT_OK) {
        free(children);
        return status;
    }
    pthread_mutex_lock(&places->lock);
    group->identity = places->list[children[0]]->identity;
    for (size_t i = 0; i < count; i++)
        places->list[children[i]]->order = group->next_order++;
    status = nt_places_set_children(places, group, children, (uint32_t)count, error);
    pthread_mutex_unlock(&places->lock);
    if (status != NT_OK)
        free(children);
    return status;
}

/* ---- what can be shown ---- */

struct search {
    struct nt_places *places;
    unsigned tries, files; /* places that may still be looked at; files that did not open */
};

/* Each folder takes one try, too, so that there is an end to how deep this goes. */
static bool may_show(struct search *search, uint32_t number)
{
    uint32_t child, order = 0;
    if (search->tries == 0)
        return true;
    search->tries--;
    enum nt_place_kind kind = nt_places_kind(search->places, number);
    if (kind != NT_PLACE_FOLDER) {
        search->files++;
        return kind == NT_PLACE_FILE;
    }
    if (nt_places_scan(search->places, number, NULL) != NT_OK)
        return false;
    for (; (child = nt_places_next(search->places, number, &order)) != NT_NONE; order++)
        if (may_show(search, child))
            return true;
    return false;
}

enum nt_status nt_places_try(struct nt_places *places, uint32_t number, struct nt_error *error)
{
    enum { MOST_TRIES = 500 };
    struct search search = {.places = places, .tries = MOST_TRIES};
    enum nt_place_kind kind = nt_places_kind(places, number);
    if (kind == NT_PLACE_FAILED)
        return nt_places_failure(places, number, error);
    if (kind != NT_PLACE_FOLDER || may_show(&search, number))
        return NT_OK;
    return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                   "nothing in this folder can be shown; files in it that were tried: %u", search.files);
}

/* Whether a message is about one of the files of a chain whose first operand is just another one. */
static bool is_about_other_file(const struct nt_chain_list *chain, const char *message)
{
    if (!chain || strcmp(chain->name, chain->files[0].path) != 0)
        return false;
    for (uint32_t i = 1; i < chain->count; i++)
        if (nt_message_about(message, chain->files[i].path))
            return true;
    return false;
}

/* The message names the source once, as the user did. */
static enum nt_status failure_of(struct nt_places *places, uint32_t number, const char *path,
                                 struct nt_error *error)
{
    const char *own_path = nt_places_get(places, number)->path;
    char *shown = nt_address_shown(path);
    struct nt_error failure = {0};
    nt_places_failure(places, number, &failure);
    if (shown)
        nt_error_strip(&failure, shown);
    nt_error_strip(&failure, own_path);
    if (!is_about_other_file(places->vfs->options.chain, failure.message))
        nt_error_context(&failure, "%s", shown ? shown : own_path);
    free(shown);
    return nt_fail_with(error, &failure);
}

/* One place that works is enough, and a folder may get files later. */
static enum nt_status try_until_one_works(struct nt_places *places, const char *const *paths,
                                          struct nt_error *error)
{
    uint32_t first = places->source_count > 1; /* place 0 is that of the group then */
    for (uint32_t i = first; i < places->source_count; i++)
        if (nt_places_kind(places, i) != NT_PLACE_FAILED)
            return NT_OK;
    return failure_of(places, first, paths[0], error);
}

enum nt_status nt_places_new(struct nt_vfs *vfs, const char *const *paths, size_t path_count,
                             struct nt_error *error)
{
    if (path_count == 0)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "no source was given");
    struct nt_places *places = calloc(1, sizeof(*places));
    if (!places)
        return nt_fail_memory(error);
    pthread_mutex_init(&places->lock, NULL);
    pthread_cond_init(&places->was_opened, NULL);
    pthread_cond_init(&places->has_idle, NULL);
    places->vfs = vfs;
    vfs->places = places;
    TAILQ_INIT(&places->opened);
    TAILQ_INIT(&places->gone);
    places->numbers.limit = MOST_PLACES;
    places->slot_numbers.limit = MOST_SLOTS;
    nt_places_bound_open(places);
    uint32_t number;
    enum nt_status status;
    if (vfs->options.chain)
        status = add_chain(places, error);
    else
        status = path_count == 1 ? add_path(places, 0, paths[0], &number, error)
                                 : add_group(places, paths, path_count, error);
    places->source_count = places->count;
    return status == NT_OK ? try_until_one_works(places, paths, error) : status;
}
