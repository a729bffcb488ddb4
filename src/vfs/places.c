/* SPDX-License-Identifier: MIT
 *
 * Comes in: the paths of files and folders. Goes out: places for them, and the children of groups and folders
 * by number and by name.
 */
#include "vfs/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/grow.h"
#include "core/base/text.h"
#include "remote/client/refusal.h"
#include "vfs/disk.h"

struct nt_place *nt_places_get(struct nt_places *places, uint32_t number)
{
    pthread_mutex_lock(&places->lock);
    struct nt_place *place = number < places->count ? places->list[number] : NULL;
    pthread_mutex_unlock(&places->lock);
    return place;
}

/* In the list. */
static bool add_place(struct nt_places *places, uint32_t number, struct nt_place *place)
{
    struct nt_place **list =
        nt_grow(places->list, places->count, &places->capacity, sizeof(struct nt_place *));
    if (!list)
        return false;
    places->list = list;
    places->count += number == places->count;
    list[number] = place;
    place->number = number;
    place->generation = places->freed + 1; /* those of its number were made before they were freed */
    return true;
}

static bool fill_place(struct nt_place *place, const char *path, enum nt_place_kind kind)
{
    place->kind = kind;
    place->is_file = kind == NT_PLACE_FILE;
    place->is_probed = kind != NT_PLACE_FILE;
    place->disk_name = "";
    if (!path)
        return true;
    place->path = strdup(path);
    if (place->path)
        place->disk_name = strrchr(place->path, '/') + 1;
    return place->path != NULL;
}

enum nt_status nt_places_add(struct nt_places *places, uint32_t parent, const char *path,
                             enum nt_place_kind kind, struct nt_place **place_ret, struct nt_error *error)
{
    uint32_t number;
    if (!nt_numbers_take(&places->numbers, 1, &number))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s: more than the limit of %u files and folders",
                       path ? path : "", places->numbers.limit);
    struct nt_place *place = calloc(1, sizeof(*place));
    if (!place || !fill_place(place, path, kind) || !add_place(places, number, place)) {
        free(place ? place->path : NULL);
        free(place);
        nt_numbers_give_back(&places->numbers, number, 1);
        return nt_fail_memory(error);
    }
    place->parent = parent;
    if (number != parent)
        places->list[parent]->inside++;
    *place_ret = place;
    return NT_OK;
}

enum nt_status nt_place_set_text(char **text, const char *value, struct nt_error *error)
{
    char *copy = strdup(value);
    if (!copy)
        return nt_fail_memory(error);
    free(*text);
    *text = copy;
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

/* Whether a look has found what the last one found. */
static bool is_known_failure(const struct nt_place *place, const struct nt_error *error)
{
    return place->kind == NT_PLACE_FAILED && place->failure && place->failure->status == error->status &&
           strcmp(place->failure->message, error->message) == 0;
}

void nt_places_fail(struct nt_place *place, const struct nt_error *error)
{
    if (is_known_failure(place, error))
        return;
    place->kind = NT_PLACE_FAILED;
    clock_gettime(CLOCK_REALTIME, &place->failed_at);
    if (!place->failure)
        place->failure = malloc(sizeof(*error));
    if (place->failure)
        *place->failure = *error;
}

/* One that is the file's, and not of the machine or of the moment, lasts, if it can be remembered. */
void nt_places_fail_looking(struct nt_place *place, const struct nt_error *error)
{
    nt_places_fail(place, error);
    if (error->status == NT_UNREACHABLE)
        place->stands_until = nt_milliseconds() + NT_REFUSAL_MILLISECONDS;
    place->is_probed =
        place->failure && !nt_is_machine_failure(error->status) && error->status != NT_NOT_FOUND;
}

bool nt_place_is_refused(const struct nt_place *place)
{
    return place->kind == NT_PLACE_FAILED && nt_milliseconds() < place->stands_until;
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
    return place->way == NT_ROUTE_SHOWN ? place->parent : number;
}

uint32_t nt_places_parent(struct nt_places *places, uint32_t number)
{
    return nt_places_get(places, number)->parent;
}

void nt_places_name(struct nt_places *places, uint32_t number, char name_ret[NT_NAME_BYTES + 1])
{
    pthread_mutex_lock(&places->lock);
    const char *name = places->list[number]->name;
    snprintf(name_ret, NT_NAME_BYTES + 1, "%s", name ? name : "");
    pthread_mutex_unlock(&places->lock);
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
    bool is_mirrored =
        place->kind == NT_PLACE_FOLDER || place->history || nt_place_is_version(place) || is_in_folder;
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
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < count && status == NT_OK; i++) {
        struct nt_place *child = places->list[children[i]];
        const char *name = nt_names_get(names, i);
        if (!child->name || strcmp(child->name, name) != 0)
            status = nt_place_set_text(&child->name, name, error);
    }
    return status;
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

/* How many of a folder's children come before an order. */
static uint32_t children_before(const struct nt_places *places, const struct nt_place *folder, uint32_t order)
{
    uint32_t low = 0, high = folder->child_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (places->list[folder->children[middle]]->order < order)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t nt_places_next(struct nt_places *places, uint32_t number, uint32_t *order)
{
    const struct nt_place *folder = nt_places_get(places, number);
    uint32_t found = NT_NONE;
    pthread_mutex_lock(&places->lock);
    uint32_t at = children_before(places, folder, *order);
    if (at < folder->child_count) {
        found = folder->children[at];
        *order = places->list[found]->order;
    }
    pthread_mutex_unlock(&places->lock);
    return found;
}
