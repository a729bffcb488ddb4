/* SPDX-License-Identifier: MIT
 *
 * Comes in: the paths of the mount. Goes out: places, and open files for them.
 */
#include "vfs/sources_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vfs/folder.h"

enum {
    MAXIMUM_OPEN = 64,       /* files that stay open though nothing uses them */
    MAXIMUM_SLOTS = 1 << 16, /* as node.c has bits for */
    MAXIMUM_PLACES = 1 << 20,
};

/* ---- places ---- */

struct nt_place *nt_sources_get(struct nt_sources *sources, uint32_t number)
{
    pthread_mutex_lock(&sources->lock);
    struct nt_place *place = number < sources->place_count ? sources->places[number] : NULL;
    pthread_mutex_unlock(&sources->lock);
    return place;
}

/* A new place; under the lock. `disk_name` is copied. */
struct nt_place *nt_sources_add(struct nt_sources *sources, uint32_t parent, const char *path,
                                enum nt_place_kind kind)
{
    if (sources->place_count >= MAXIMUM_PLACES)
        return NULL;
    struct nt_place **places =
        realloc(sources->places, (sources->place_count + 1) * sizeof(struct nt_place *));
    if (!places)
        return NULL;
    sources->places = places;
    struct nt_place *place = calloc(1, sizeof(*place));
    if (!place)
        return NULL;
    *place = (struct nt_place){.kind = kind,
                               .is_file = kind == NT_PLACE_FILE,
                               .is_probed = kind != NT_PLACE_FILE,
                               .parent = parent,
                               .number = sources->place_count,
                               .disk_name = "",
                               .name = ""};
    place->path = path ? nt_arena_copy(sources->arena, path, strlen(path)) : NULL;
    if (path && !place->path) {
        free(place);
        return NULL;
    }
    if (path)
        place->disk_name = strrchr(place->path, '/') + 1;
    places[sources->place_count++] = place;
    return place;
}

static void free_place(struct nt_place *place)
{
    nt_names_free(place->names);
    free(place->failure);
    free(place->children);
    free(place->by_name);
    free(place);
}

uint32_t nt_sources_parent(struct nt_sources *sources, uint32_t place)
{
    return nt_sources_get(sources, place)->parent;
}

const char *nt_sources_name(struct nt_sources *sources, uint32_t place)
{
    return nt_sources_get(sources, place)->name;
}

static bool is_in_folder(struct nt_sources *sources, const struct nt_place *place)
{
    return place->number != 0 && nt_sources_get(sources, place->parent)->kind == NT_PLACE_FOLDER;
}

bool nt_sources_is_mirrored(struct nt_sources *sources, uint32_t number)
{
    struct nt_place *place = nt_sources_get(sources, number);
    return place->kind == NT_PLACE_FOLDER || is_in_folder(sources, place);
}

enum nt_status nt_sources_stat(struct nt_sources *sources, uint32_t number, struct stat *attributes,
                               struct nt_error *error)
{
    struct nt_place *place = nt_sources_get(sources, number);
    if (place->path)
        return nt_folder_stat(place->path, attributes, error);
    *attributes = place->identity;
    return NT_OK;
}

/* ---- opening ---- */

static enum nt_status give_slots(struct nt_sources *sources, struct nt_place *place, uint32_t count,
                                 struct nt_error *error)
{
    if (place->has_slots && place->slot_count == count)
        return NT_OK;
    if (count > MAXIMUM_SLOTS - sources->slot_count)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "more than %d data sets in one mount", MAXIMUM_SLOTS);
    struct nt_slot *slots = realloc(sources->slots, (sources->slot_count + count + 1) * sizeof(*slots));
    if (!slots)
        return nt_fail_memory(error);
    sources->slots = slots;
    place->first_slot = sources->slot_count;
    place->slot_count = count;
    place->has_slots = true;
    for (uint32_t i = 0; i < count; i++)
        slots[sources->slot_count++] = (struct nt_slot){place->number, i};
    return NT_OK;
}

/* Open a place's file, outside the lock. The file must still be the one that the place stands for. */
static enum nt_status open_file(struct nt_sources *sources, const struct nt_place *place,
                                struct nt_opened **opened_ret, struct nt_error *error)
{
    struct stat now;
    struct nt_file *file;
    enum nt_status status = nt_folder_stat(place->path, &now, error);
    if (status == NT_OK && !nt_folder_is_same(&now, &place->identity))
        status = nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s was replaced or modified", place->path);
    if (status == NT_OK)
        status = nt_file_open(place->path, &sources->options, &file, error);
    if (status == NT_OK)
        status = nt_opened_new(file, opened_ret, error);
    return status;
}

/* A failure that is the file's, and not of the machine or of the moment. */
static bool is_lasting(enum nt_status status)
{
    return status != NT_IO && status != NT_NO_MEMORY && status != NT_CHANGED && status != NT_NOT_FOUND;
}

static void remember_failure(struct nt_sources *sources, struct nt_place *place, const struct nt_error *error)
{
    place->is_probed = is_lasting(error->status);
    place->kind = error->status == NT_NOT_THIS_FORMAT && place->number != 0 &&
                          sources->places[place->parent]->kind == NT_PLACE_FOLDER
                      ? NT_PLACE_NONE
                      : NT_PLACE_FAILED;
    if (!place->failure)
        place->failure = malloc(sizeof(*error));
    if (place->failure)
        *place->failure = *error;
}

/* Under the lock: what came of opening. */
static enum nt_status settle(struct nt_sources *sources, struct nt_place *place, struct nt_opened *opened,
                             struct nt_error *error)
{
    enum nt_status status = give_slots(sources, place, opened->file->dataset_count, error);
    if (status != NT_OK)
        return status;
    opened->place = place->number;
    opened->first_slot = place->first_slot;
    place->opened = opened;
    place->kind = NT_PLACE_FILE;
    place->is_probed = true;
    sources->open_count++;
    return NT_OK;
}

static struct nt_opened *take_idle(struct nt_sources *sources)
{
    struct nt_place *oldest = NULL;
    if (sources->open_count <= MAXIMUM_OPEN)
        return NULL;
    for (uint32_t i = 0; i < sources->place_count; i++) {
        struct nt_place *place = sources->places[i];
        if (place->opened && place->opened->users == 0 &&
            (!oldest || place->opened->last_use < oldest->opened->last_use))
            oldest = place;
    }
    if (!oldest)
        return NULL;
    struct nt_opened *opened = oldest->opened;
    oldest->opened = NULL;
    sources->open_count--;
    return opened;
}

static void close_opened(struct nt_sources *sources, struct nt_opened *opened)
{
    for (uint32_t i = 0; opened && sources->reader && i < opened->file->dataset_count; i++)
        nt_reader_forget(sources->reader, opened->file->datasets[i]);
    nt_opened_free(opened);
}

/* Open the place's file for one user. The lock is held on entry and on return, and given up in between. */
static enum nt_status open_place(struct nt_sources *sources, struct nt_place *place, struct nt_error *error)
{
    struct nt_opened *opened = NULL, *idle = NULL;
    struct nt_error failure = {0};
    place->is_opening = true;
    pthread_mutex_unlock(&sources->lock);
    enum nt_status status = open_file(sources, place, &opened, &failure);
    pthread_mutex_lock(&sources->lock);
    if (status == NT_OK)
        status = settle(sources, place, opened, &failure);
    if (status == NT_OK) {
        opened = NULL;
        place->opened->users = 1; /* the caller */
        idle = take_idle(sources);
    } else {
        failure.status = status;
        remember_failure(sources, place, &failure);
        if (error)
            *error = failure;
    }
    place->is_opening = false;
    pthread_cond_broadcast(&sources->was_opened);
    if (opened || idle) {
        pthread_mutex_unlock(&sources->lock);
        nt_opened_free(opened);
        close_opened(sources, idle);
        pthread_mutex_lock(&sources->lock);
    }
    return status;
}

static enum nt_status known_failure(const struct nt_place *place, struct nt_error *error)
{
    if (!place->failure)
        return nt_fail_memory(error);
    if (error)
        *error = *place->failure;
    return place->failure->status;
}

enum nt_status nt_sources_open(struct nt_sources *sources, uint32_t number, struct nt_opened **opened_ret,
                               struct nt_error *error)
{
    struct nt_place *place = nt_sources_get(sources, number);
    if (!place || !place->is_file)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such file");
    enum nt_status status = NT_OK;
    pthread_mutex_lock(&sources->lock);
    while (place->is_opening)
        pthread_cond_wait(&sources->was_opened, &sources->lock);
    if (place->opened)
        place->opened->users++;
    else if (place->is_probed && place->failure)
        status = known_failure(place, error);
    else
        status = open_place(sources, place, error);
    if (status == NT_OK) {
        place->opened->last_use = ++sources->clock;
        *opened_ret = place->opened;
    }
    pthread_mutex_unlock(&sources->lock);
    return status;
}

void nt_sources_release(struct nt_sources *sources, struct nt_opened *opened)
{
    if (!opened)
        return;
    pthread_mutex_lock(&sources->lock);
    opened->users--;
    pthread_mutex_unlock(&sources->lock);
}

enum nt_place_kind nt_sources_kind(struct nt_sources *sources, uint32_t number)
{
    struct nt_place *place = nt_sources_get(sources, number);
    if (!place)
        return NT_PLACE_NONE;
    pthread_mutex_lock(&sources->lock);
    bool must_open = !place->is_probed;
    enum nt_place_kind kind = place->kind;
    pthread_mutex_unlock(&sources->lock);
    if (!must_open)
        return kind;
    struct nt_opened *opened = NULL;
    if (nt_sources_open(sources, number, &opened, NULL) == NT_OK)
        nt_sources_release(sources, opened);
    pthread_mutex_lock(&sources->lock);
    kind = place->kind;
    pthread_mutex_unlock(&sources->lock);
    return kind;
}

void nt_sources_failure(struct nt_sources *sources, uint32_t number, struct nt_error *error)
{
    struct nt_place *place = nt_sources_get(sources, number);
    pthread_mutex_lock(&sources->lock);
    known_failure(place, error);
    pthread_mutex_unlock(&sources->lock);
}

bool nt_sources_slot(struct nt_sources *sources, uint32_t slot, uint32_t *place_ret, uint32_t *dataset_ret)
{
    pthread_mutex_lock(&sources->lock);
    bool is_given = slot < sources->slot_count;
    if (is_given) {
        *place_ret = sources->slots[slot].place;
        *dataset_ret = sources->slots[slot].dataset;
    }
    pthread_mutex_unlock(&sources->lock);
    return is_given;
}

bool nt_sources_slot_of(struct nt_sources *sources, const struct nt_dataset *dataset, uint32_t *slot_ret)
{
    bool is_found = false;
    pthread_mutex_lock(&sources->lock);
    for (uint32_t i = 0; i < sources->place_count && !is_found; i++) {
        const struct nt_opened *opened = sources->places[i]->opened;
        is_found = opened && opened->file == dataset->file;
        if (is_found)
            *slot_ret = opened->first_slot + dataset->index;
    }
    pthread_mutex_unlock(&sources->lock);
    return is_found;
}

void nt_sources_statistics(struct nt_sources *sources, uint64_t *bytes_ret, uint64_t *nodes_ret)
{
    *bytes_ret = *nodes_ret = 0;
    pthread_mutex_lock(&sources->lock);
    for (uint32_t i = 0; i < sources->place_count; i++) {
        const struct nt_place *place = sources->places[i];
        const struct nt_file *file = place->opened ? place->opened->file : NULL;
        if (place->kind == NT_PLACE_FILE || place->kind == NT_PLACE_FAILED)
            *bytes_ret += (uint64_t)place->identity.st_size;
        *nodes_ret += 1;
        for (uint32_t k = 0; file && k < file->dataset_count; k++)
            *nodes_ret += 1 + (file->datasets[k]->failure ? 0 : file->datasets[k]->field_count);
    }
    pthread_mutex_unlock(&sources->lock);
}

/* ---- beginning and end ---- */

static void free_places(struct nt_sources *sources)
{
    for (uint32_t i = 0; i < sources->place_count; i++) {
        close_opened(sources, sources->places[i]->opened);
        free_place(sources->places[i]);
    }
    free(sources->places);
}

void nt_sources_free(struct nt_sources *sources)
{
    if (!sources)
        return;
    free_places(sources);
    free(sources->slots);
    nt_arena_free(sources->arena);
    pthread_cond_destroy(&sources->was_opened);
    pthread_mutex_destroy(&sources->lock);
    free(sources);
}

/* One place for a path that the user gave. That a file cannot be opened is found out by trying. */
static enum nt_status add_source(struct nt_sources *sources, uint32_t parent, const char *path,
                                 uint32_t *number_ret, struct nt_error *error)
{
    char *absolute = realpath(path, NULL);
    struct stat identity;
    if (!absolute)
        return nt_fail_system(error, errno, "%s", path);
    enum nt_status status = nt_folder_stat(absolute, &identity, error);
    if (status == NT_OK) {
        bool is_folder = S_ISDIR(identity.st_mode) && !nt_folder_is_dataset(absolute);
        struct nt_place *place =
            nt_sources_add(sources, parent, absolute, is_folder ? NT_PLACE_FOLDER : NT_PLACE_FILE);
        if (place) {
            place->identity = identity;
            *number_ret = place->number;
        } else {
            status = nt_fail_memory(error);
        }
    }
    free(absolute);
    return status;
}

/* The root of several sources. A path that does not exist is refused: it is a mistake in the command. */
static enum nt_status add_group(struct nt_sources *sources, const char *const *paths, size_t count,
                                struct nt_error *error)
{
    struct nt_place *group = nt_sources_add(sources, 0, NULL, NT_PLACE_GROUP);
    uint32_t *children = calloc(count, sizeof(uint32_t));
    enum nt_status status = group && children ? NT_OK : nt_fail_memory(error);
    for (size_t i = 0; i < count && status == NT_OK; i++)
        status = add_source(sources, 0, paths[i], &children[i], error);
    if (status != NT_OK) {
        free(children);
        return status;
    }
    pthread_mutex_lock(&sources->lock);
    group->identity = sources->places[children[0]]->identity;
    status = nt_sources_set_children(sources, group, children, (uint32_t)count, error);
    pthread_mutex_unlock(&sources->lock);
    return status;
}

/* Try what was given: one source that works is enough. */
static enum nt_status try_sources(struct nt_sources *sources, struct nt_error *error)
{
    struct nt_error first = {0};
    uint32_t count = sources->place_count;
    for (uint32_t i = 0; i < count; i++) {
        enum nt_place_kind kind = nt_sources_kind(sources, i);
        if (kind == NT_PLACE_FILE || kind == NT_PLACE_FOLDER)
            return NT_OK;
        if (kind == NT_PLACE_FAILED && first.status == NT_OK)
            nt_sources_failure(sources, i, &first);
    }
    if (error)
        *error = first;
    return first.status;
}

enum nt_status nt_sources_new(const char *const *paths, size_t path_count,
                              const struct nt_open_options *options, struct nt_reader *reader,
                              struct nt_sources **sources_ret, struct nt_error *error)
{
    if (path_count == 0)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "no source was given");
    struct nt_sources *sources = calloc(1, sizeof(*sources));
    if (!sources)
        return nt_fail_memory(error);
    pthread_mutex_init(&sources->lock, NULL);
    pthread_cond_init(&sources->was_opened, NULL);
    sources->options = *options;
    sources->reader = reader;
    sources->arena = nt_arena_new();
    uint32_t number;
    enum nt_status status = sources->arena ? NT_OK : nt_fail_memory(error);
    if (status == NT_OK)
        status = path_count == 1 ? add_source(sources, 0, paths[0], &number, error)
                                 : add_group(sources, paths, path_count, error);
    if (status == NT_OK)
        status = try_sources(sources, error);
    if (status != NT_OK)
        nt_sources_free(sources);
    else
        *sources_ret = sources;
    return status;
}
