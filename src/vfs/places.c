/* SPDX-License-Identifier: MIT
 *
 * Comes in: the paths of files and folders. Goes out: places for them, and the children of groups and folders
 * by number and by name.
 */
#include "vfs/places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/search.h"
#include "base/text.h"
#include "vfs/disk.h"

enum {
    MAXIMUM_PLACES = 1 << 20,
};

struct nt_place *nt_places_get(struct nt_places *places, uint32_t number)
{
    pthread_mutex_lock(&places->lock);
    struct nt_place *place = number < places->count ? places->list[number] : NULL;
    pthread_mutex_unlock(&places->lock);
    return place;
}

static struct nt_place *new_place(struct nt_places *places)
{
    struct nt_place **list =
        nt_grow(places->list, places->count, &places->capacity, sizeof(struct nt_place *));
    if (!list)
        return NULL;
    places->list = list;
    return calloc(1, sizeof(struct nt_place));
}

enum nt_status nt_places_add(struct nt_places *places, uint32_t parent, const char *path,
                             enum nt_place_kind kind, struct nt_place **place_ret, struct nt_error *error)
{
    if (places->count >= MAXIMUM_PLACES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s: more than the limit of %d files and folders",
                       path ? path : "", MAXIMUM_PLACES);
    struct nt_place *place = new_place(places);
    if (!place)
        return nt_fail_memory(error);
    place->path = path;
    place->kind = kind;
    place->is_file = kind == NT_PLACE_FILE;
    place->is_probed = kind != NT_PLACE_FILE;
    place->parent = parent;
    place->number = places->count;
    place->disk_name = path ? strrchr(path, '/') + 1 : "";
    place->name = "";
    places->list[places->count++] = place;
    *place_ret = place;
    return NT_OK;
}

void nt_places_identify(struct nt_place *place, const struct stat *identity)
{
    place->identity = *identity;
    place->may_have_versions = place->is_file && S_ISDIR(identity->st_mode) && !place->is_remote;
}

void nt_places_identify_remote(struct nt_place *place, const struct stat *listed)
{
    const struct stat unknown = {
        .st_mode = S_IFREG | 0444, .st_nlink = 1, .st_uid = geteuid(), .st_gid = getegid()};
    nt_places_identify(place, listed && S_ISREG(listed->st_mode) ? listed : &unknown);
}

void nt_places_fail(struct nt_place *place, const struct nt_error *error)
{
    place->kind = NT_PLACE_FAILED;
    if (!place->failure)
        place->failure = malloc(sizeof(*error));
    if (place->failure)
        *place->failure = *error;
}

/* One that is the file's, and not of the machine or of the moment, lasts. */
void nt_places_fail_looking(struct nt_place *place, const struct nt_error *error)
{
    nt_places_fail(place, error);
    place->is_probed = !nt_is_machine_failure(error->status) && error->status != NT_NOT_FOUND;
}

/* Why it could not be opened is of no use to anybody any more. */
void nt_place_leave(struct nt_place *place)
{
    place->is_gone = true;
    free(place->failure);
    place->failure = NULL;
}

bool nt_place_is_gone(const struct nt_places *places, const struct nt_place *place)
{
    while (place->number >= places->source_count && !place->is_gone)
        place = places->list[place->parent];
    return place->is_gone;
}

uint32_t nt_places_outer(struct nt_places *places, uint32_t number)
{
    const struct nt_place *place = nt_places_get(places, number);
    return place->way == NT_WAY_SHOWN ? place->parent : number;
}

uint32_t nt_places_parent(struct nt_places *places, uint32_t number)
{
    return nt_places_get(places, number)->parent;
}

const char *nt_places_name(struct nt_places *places, uint32_t number)
{
    return nt_places_get(places, number)->name;
}

const char *nt_places_path(struct nt_places *places, uint32_t number)
{
    return nt_places_get(places, number)->path;
}

bool nt_places_is_mirrored(struct nt_places *places, uint32_t number)
{
    pthread_mutex_lock(&places->lock);
    const struct nt_place *place = places->list[number];
    bool is_in_folder = number != 0 && places->list[place->parent]->kind == NT_PLACE_FOLDER;
    bool is_mirrored = place->kind == NT_PLACE_FOLDER || place->history || place->version || is_in_folder;
    pthread_mutex_unlock(&places->lock);
    return is_mirrored;
}

/* ---- the children that are known ---- */

struct children_context {
    const struct nt_places *places;
    const uint32_t *children;
};

static const char *disk_name(const struct nt_places *places, uint32_t place)
{
    return places->list[place]->disk_name;
}

static void ask_child(const void *context, uint32_t item, struct nt_name_wish *wish)
{
    const struct children_context *c = context;
    wish->text = nt_text_of(disk_name(c->places, c->children[item]));
    wish->rule = NT_NAME_DATASET;
}

static int compare_places(const void *left, const void *right, void *context)
{
    return strcmp(disk_name(context, *(const uint32_t *)left), disk_name(context, *(const uint32_t *)right));
}

static enum nt_status copy_names(struct nt_places *places, const struct nt_names *names,
                                 const uint32_t *children, uint32_t count, struct nt_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        struct nt_place *child = places->list[children[i]];
        const char *name = nt_names_get(names, i);
        if (strcmp(child->name, name) == 0)
            continue;
        name = nt_arena_copy(places->arena, name, strlen(name));
        if (!name)
            return nt_fail_memory(error);
        child->name = name;
    }
    return NT_OK;
}

enum nt_status nt_places_set_children(struct nt_places *places, struct nt_place *folder, uint32_t *children,
                                      uint32_t count, struct nt_error *error)
{
    struct children_context context = {places, children};
    struct nt_names *names = NULL;
    uint32_t *by_name = calloc(count + 1, sizeof(uint32_t));
    enum nt_status status = by_name ? NT_OK : nt_fail_memory(error);
    if (status == NT_OK)
        status = nt_names_build(count, ask_child, &context, &names, error);
    if (status == NT_OK)
        status = copy_names(places, names, children, count, error);
    if (status != NT_OK) {
        nt_names_free(names);
        free(by_name);
        free(children);
        return status;
    }
    if (count)
        memcpy(by_name, children, count * sizeof(uint32_t));
    qsort_r(by_name, count, sizeof(uint32_t), compare_places, places);
    nt_names_free(folder->names);
    free(folder->children);
    free(folder->by_name);
    folder->names = names;
    folder->children = children;
    folder->by_name = by_name;
    folder->child_count = count;
    return NT_OK;
}

NT_DEFINE_LAST_AT_MOST(last_child, uint32_t, )

uint32_t nt_places_next(struct nt_places *places, uint32_t number, uint32_t from)
{
    const struct nt_place *folder = nt_places_get(places, number);
    uint32_t found = NT_NONE;
    pthread_mutex_lock(&places->lock);
    uint32_t at = last_child(folder->children, folder->child_count, from);
    if (at < folder->child_count && folder->children[at] < from)
        at++;
    if (at < folder->child_count)
        found = folder->children[at];
    pthread_mutex_unlock(&places->lock);
    return found;
}
