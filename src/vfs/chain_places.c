/* SPDX-License-Identifier: MIT
 *
 * Comes in: the list of a chain's files. Goes out: their names, as those of several sources of a mount are, and places.
 */
#include "vfs/chain_places.h"

#include <stdlib.h>

#include "core/base/text.h"

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

enum nt_status nt_chain_places_new(const struct nt_chain_list *list, struct nt_chain_places **chain_ret,
                                   struct nt_error *error)
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
