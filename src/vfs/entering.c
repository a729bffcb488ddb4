/* SPDX-License-Identifier: MIT
 *
 * Comes in: a place on a server. Goes out: whether it is a file, a data set or a mirrored folder, and its source.
 */
#include "vfs/entering.h"

#include <string.h>

#include "formats/format.h"
#include "core/io/folder.h"

bool nt_place_is_listed(const struct nt_places *places, const struct nt_place *place)
{
    return place->is_remote && place->number != place->parent &&
           places->list[place->parent]->kind == NT_PLACE_FOLDER;
}

enum nt_sight nt_places_sight(struct nt_places *places, uint32_t number)
{
    enum nt_sight sight = NT_SIGHT_WHOLE;
    pthread_mutex_lock(&places->lock);
    const struct nt_place *place = number < places->count ? places->list[number] : NULL;
    if (place && nt_place_is_listed(places, place))
        sight = place->is_probed || place->is_entered ? NT_SIGHT_COSTLY : NT_SIGHT_LISTED;
    pthread_mutex_unlock(&places->lock);
    return sight;
}

/* ---- entering ---- */

/* What was found: a source, or a folder; of a file that a list tells of neither. */
struct finding {
    struct nt_source *source;
    struct nt_folder *folder;
    bool is_dataset;
};

/* The folder outlives its source. */
static void take_folder(struct finding *found)
{
    found->folder = found->source->folder;
    nt_folder_hold(found->folder);
    nt_source_close(found->source);
    found->source = NULL;
}

static enum nt_status look_at(struct nt_places *places, const struct nt_place *place, struct finding *found,
                              struct nt_error *error)
{
    const struct nt_place *above = nt_places_get(places, place->parent);
    enum nt_status status = NT_OK;
    if (place->address)
        status = nt_open_source(place->address, &places->options.open, &found->source, error);
    else if (S_ISDIR(place->identity.st_mode))
        status = nt_folder_open_below(above->folder, place->disk_name, &found->folder, error);
    if (status == NT_OK && found->source && found->source->folder)
        take_folder(found);
    return status == NT_OK && found->folder ? nt_is_dataset_folder(found->folder, &found->is_dataset, error)
                                            : status;
}

/* Under the lock. */
static void settle(struct nt_place *place, const struct finding *found)
{
    place->is_entered = true;
    place->source = found->source;
    place->folder = found->folder;
    place->may_have_versions = found->is_dataset;
    if (!found->folder || found->is_dataset)
        return;
    place->kind = NT_PLACE_FOLDER;
    place->is_file = false;
    place->is_probed = true;
}

bool nt_place_enter(struct nt_places *places, struct nt_place *place)
{
    struct finding found = {.source = NULL};
    struct nt_error failure = {0};
    while (place->is_opening)
        pthread_cond_wait(&places->was_opened, &places->lock);
    if (!place->is_remote || place->is_entered)
        return true;
    if (place->is_probed || nt_place_is_refused(place))
        return false;
    place->is_opening = true;
    pthread_mutex_unlock(&places->lock);
    if (places->options.before_slow_work)
        places->options.before_slow_work(places->options.context);
    enum nt_status status = look_at(places, place, &found, &failure);
    if (status != NT_OK)
        nt_folder_close(found.folder);
    pthread_mutex_lock(&places->lock);
    if (status == NT_OK)
        settle(place, &found);
    else
        nt_places_fail_looking(place, &failure);
    nt_place_was_opened(places, place);
    return status == NT_OK;
}

/* ---- sources ---- */

static enum nt_status source_of_dataset(const struct nt_place *place, struct nt_source **source_ret,
                                        struct nt_error *error)
{
    nt_folder_hold(place->folder);
    enum nt_status status = nt_source_of_folder(place->folder, source_ret, error);
    if (status != NT_OK)
        nt_folder_close(place->folder);
    return status;
}

enum nt_status nt_place_open_source(struct nt_places *places, struct nt_place *place,
                                    struct nt_source **source_ret, struct nt_error *error)
{
    if (place->folder)
        return source_of_dataset(place, source_ret, error);
    if (!place->address)
        return nt_folder_open_file(nt_places_get(places, place->parent)->folder, place->disk_name, source_ret,
                                   error);
    if (!place->source)
        return nt_open_source(place->address, &places->options.open, source_ret, error);
    *source_ret = place->source; /* of the one who opens the place, and nobody else's */
    place->source = NULL;
    return NT_OK;
}

/* What the mount was given has no list that would tell of it: its source finds out. */
enum nt_status nt_place_stat_on_server(struct nt_places *places, const struct nt_place *place,
                                       struct stat *attributes, struct nt_error *error)
{
    if (nt_place_is_version(place))
        return nt_folder_stat(place->folder, place->identity_path + strlen(place->path) + 1, attributes,
                              error);
    if (!place->address)
        return nt_folder_stat(nt_places_get(places, place->parent)->folder, place->disk_name, attributes,
                              error);
    *attributes = place->identity;
    return NT_OK;
}
