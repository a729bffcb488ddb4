/* SPDX-License-Identifier: MIT
 *
 * The inode table: allocation and reuse of numbers with generations, parents and children, FUSE lookup
 * counts, and epoch-based reclamation of inodes that were removed and that the kernel no longer
 * references.
 */
#include "vfs/inode.h"
#include "vfs/vfs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/base/thread.h"
#include "core/io/folder.h"
#include "core/model/model.h"
#include "formats/formats.h"
#include "remote/client/client.h"

/* ---- Allocate ids ---- */

bool nt_numbers_take(struct nt_numbers *numbers, uint32_t count, uint32_t *first_ret)
{
    for (size_t i = 0; count && i < numbers->free_count; i++) {
        struct nt_number_run *run = &numbers->free[i];
        if (run->count < count)
            continue;
        *first_ret = run->first;
        run->first += count;
        run->count -= count;
        if (run->count == 0)
            memmove(run, run + 1, (--numbers->free_count - i) * sizeof(*run));
        return true;
    }
    if (count > numbers->limit - numbers->used)
        return false;
    *first_ret = numbers->used;
    numbers->used += count;
    return true;
}

NT_DEFINE_COUNT_UP_TO(runs_up_to, struct nt_number_run, .first)

void nt_numbers_give_back(struct nt_numbers *numbers, uint32_t first, uint32_t count)
{
    struct nt_number_run *runs = numbers->free;
    size_t at = runs_up_to(runs, numbers->free_count, first);
    bool touches_before = at > 0 && runs[at - 1].first + runs[at - 1].count == first;
    bool touches_behind = at < numbers->free_count && first + count == runs[at].first;
    if (count == 0)
        return;
    if (touches_before) {
        runs[at - 1].count += count;
        if (!touches_behind)
            return;
        runs[at - 1].count += runs[at].count;
        memmove(&runs[at], &runs[at + 1], (--numbers->free_count - at) * sizeof(*runs));
    } else if (touches_behind) {
        runs[at].first = first;
        runs[at].count += count;
    } else if ((runs = nt_grow(runs, numbers->free_count, &numbers->capacity, sizeof(*runs)))) {
        memmove(&runs[at + 1], &runs[at], (numbers->free_count++ - at) * sizeof(*runs));
        runs[at] = (struct nt_number_run){first, count};
        numbers->free = runs;
    }
}

void nt_numbers_deinit(struct nt_numbers *numbers)
{
    free(numbers->free);
}

/* ---- Enter and leave epochs ---- */

/* Who was counted for a turn that is over by then comes again: a turn ends only where nobody of the one before is in, and
 * would not have seen this one. */
unsigned nt_visits_come(struct nt_visits *visits)
{
    for (;;) {
        unsigned visit = atomic_load(&visits->turn) % 2;
        atomic_fetch_add(&visits->inside[visit], 1);
        if (atomic_load(&visits->turn) % 2 == visit)
            return visit;
        atomic_fetch_sub(&visits->inside[visit], 1);
    }
}

void nt_visits_leave(struct nt_visits *visits, unsigned visit)
{
    atomic_fetch_sub(&visits->inside[visit], 1);
}

bool nt_visits_turn(struct nt_visits *visits)
{
    unsigned turn = atomic_load(&visits->turn);
    if (atomic_load(&visits->inside[(turn + 1) % 2]))
        return false;
    atomic_store(&visits->turn, turn + 1);
    return true;
}

/* ---- Inodes and their children ---- */

struct nt_place *nt_places_get(struct nt_places *places, uint32_t number)
{
    pthread_mutex_lock(&places->lock);
    struct nt_place *place = number < places->count ? places->list[number] : NULL;
    pthread_mutex_unlock(&places->lock);
    return place;
}

/* From malloc; NULL without memory. */
static struct nt_place *new_place(const char *path, enum nt_place_kind kind)
{
    struct nt_place *place = calloc(1, sizeof(*place));
    if (!place || (path && !(place->path = strdup(path)))) {
        free(place);
        return NULL;
    }
    place->kind = kind;
    place->is_file = kind == NT_PLACE_FILE;
    place->is_probed = kind != NT_PLACE_FILE;
    place->disk_name = path ? strrchr(place->path, '/') + 1 : "";
    return place;
}

enum nt_status nt_places_add(struct nt_places *places, uint32_t parent, const char *path,
                             enum nt_place_kind kind, struct nt_place **place_ret, struct nt_error *error)
{
    uint32_t number;
    if (!nt_numbers_take(&places->numbers, 1, &number))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s: more than the limit of %u files and folders",
                       path ? path : "", places->numbers.limit);
    struct nt_place *place = new_place(path, kind);
    struct nt_place **list =
        place ? nt_grow(places->list, places->count, &places->capacity, sizeof(*list)) : NULL;
    if (!list) {
        if (place)
            nt_place_free(place);
        nt_numbers_give_back(&places->numbers, number, 1);
        return nt_fail_memory(error);
    }
    places->list = list;
    places->count += number == places->count;
    list[number] = place;
    place->number = number;
    place->generation = places->freed + 1; /* those of its number were made before they were freed */
    place->parent = parent;
    if (number != parent)
        list[parent]->inside++;
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

void nt_places_name(struct nt_places *places, uint32_t number, char name_ret[NT_NAME_BYTES + 1])
{
    pthread_mutex_lock(&places->lock);
    const char *name = places->list[number]->name;
    snprintf(name_ret, NT_NAME_BYTES + 1, "%s", name ? name : "");
    pthread_mutex_unlock(&places->lock);
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

/* ---- Lookup counts and reclamation ---- */

static void history_free(struct nt_history *history)
{
    if (!history)
        return;
    free(history->versions);
    for (size_t i = 0; i < NT_VERSION_WATCHED; i++)
        free(history->watched[i].path);
    free(history);
}

void nt_place_free(struct nt_place *place)
{
    nt_names_free(place->names);
    history_free(place->history);
    if (place->source)
        nt_source_close(place->source);
    nt_folder_close(place->folder);
    nt_chain_places_free(place->chain);
    free(place->failure);
    free(place->children);
    free(place->by_name);
    free(place->path);
    free(place->address);
    free(place->name);
    free(place->version);
    free(place->series);
    free(place->identity_path);
    free(place);
}

/* Under the lock, up to nt_places_leave: whether nothing leads to the place but what knows it: it is gone, or it is a version
 * that is not shown. Who wants such a version again gets a new place for it. */
static bool is_left(const struct nt_places *places, const struct nt_place *place)
{
    return nt_place_is_gone(places, place) ||
           (nt_place_is_version(place) && places->list[place->parent]->history->shown != place->number);
}

/* Whether nothing keeps such a place. */
static bool can_go(const struct nt_place *place)
{
    return place->known == 0 && !place->opened && !place->is_opening && place->inside == 0;
}

static void give_numbers_back(struct nt_places *places, struct nt_place *place)
{
    for (uint32_t i = 0; i < place->slot_count; i++)
        places->slots[place->first_slot + i].place = NT_NONE;
    nt_numbers_give_back(&places->slot_numbers, place->first_slot, place->slot_count);
    places->list[place->number] = NULL;
    nt_numbers_give_back(&places->numbers, place->number, 1);
    places->freed++;
}

static void take_out_of_history(struct nt_history *history, uint32_t number)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < history->count; i++)
        if (history->versions[i] != number)
            history->versions[kept++] = history->versions[i];
    history->count = kept;
    if (history->shown == number)
        history->shown = NT_NONE;
}

/* The place goes to the caller's list. */
static void take_out(struct nt_places *places, struct nt_place *place, struct nt_place_list *list)
{
    struct nt_place *above = places->list[place->parent];
    if (nt_place_is_version(place))
        take_out_of_history(above->history, place->number);
    give_numbers_back(places, place);
    SLIST_INSERT_HEAD(list, place, link);
    above->inside--;
    nt_places_put_away(places, above);
}

/* Take out those that nobody has come to know since they were put away, who was in before. */
static void take_out_all(struct nt_places *places, struct nt_place_list *waiting, struct nt_place_list *list)
{
    struct nt_place_list left = SLIST_HEAD_INITIALIZER(left);
    struct nt_place *place;
    while ((place = SLIST_FIRST(waiting))) {
        SLIST_REMOVE_HEAD(waiting, link);
        place->is_put_away = is_left(places, place) && can_go(place);
        if (place->is_put_away)
            SLIST_INSERT_HEAD(&left, place, link);
    }
    if (!SLIST_EMPTY(&left)) /* numbers are about to be given again */
        nt_produced_forget(places->vfs->produced, places);
    while ((place = SLIST_FIRST(&left))) {
        SLIST_REMOVE_HEAD(&left, link);
        take_out(places, place, list);
    }
}

static bool has_put_away(const struct nt_places *places)
{
    return !SLIST_EMPTY(&places->put_away) || !SLIST_EMPTY(&places->waiting);
}

/* Freeing may close what is open: not under the lock. */
void nt_places_leave(struct nt_places *places, unsigned visit)
{
    struct nt_place_list list = SLIST_HEAD_INITIALIZER(list);
    struct nt_place *place;
    nt_visits_leave(&places->visits, visit);
    if (!atomic_load_explicit(&places->has_put_away, memory_order_relaxed))
        return;
    pthread_mutex_lock(&places->lock);
    while (has_put_away(places) && nt_visits_turn(&places->visits)) {
        struct nt_place_list waiting = places->waiting;
        places->waiting = places->put_away;
        SLIST_INIT(&places->put_away);
        take_out_all(places, &waiting, &list);
    }
    atomic_store(&places->has_put_away, has_put_away(places));
    pthread_mutex_unlock(&places->lock);
    while ((place = SLIST_FIRST(&list))) {
        SLIST_REMOVE_HEAD(&list, link);
        nt_place_free(place);
    }
}

/* ---- putting away, under the lock ---- */

void nt_places_put_away(struct nt_places *places, struct nt_place *place)
{
    if (!places->vfs->options.is_told || place->is_put_away || place->number < places->source_count ||
        !can_go(place) || !is_left(places, place))
        return;
    place->is_put_away = true;
    SLIST_INSERT_HEAD(&places->put_away, place, link);
    atomic_store(&places->has_put_away, true);
}

/* Why it could not be opened is of no use to anybody any more. */
void nt_places_let_go(struct nt_places *places, struct nt_place *place)
{
    place->is_gone = true;
    free(place->failure);
    place->failure = NULL;
    nt_places_put_away(places, place);
}

void nt_place_was_opened(struct nt_places *places, struct nt_place *place)
{
    place->is_opening = false;
    pthread_cond_broadcast(&places->was_opened);
    nt_places_put_away(places, place);
}

void nt_places_put_all_away(struct nt_places *places)
{
    for (uint32_t i = 0; places->vfs->options.is_told && i < places->count; i++)
        if (places->list[i])
            nt_places_put_away(places, places->list[i]);
}

bool nt_places_is_put_away(const struct nt_places *places, uint32_t number)
{
    return number < places->count && places->list[number] && places->list[number]->is_put_away;
}

/* ---- what is known ---- */

void nt_places_know(struct nt_places *places, uint32_t number)
{
    pthread_mutex_lock(&places->lock);
    if (number < places->count && places->list[number])
        places->list[number]->known++;
    pthread_mutex_unlock(&places->lock);
}

void nt_places_forget(struct nt_places *places, uint32_t number, uint64_t times)
{
    pthread_mutex_lock(&places->lock);
    struct nt_place *place = number < places->count ? places->list[number] : NULL;
    if (place) {
        place->known -= times < place->known ? times : place->known;
        nt_places_put_away(places, place);
    }
    pthread_mutex_unlock(&places->lock);
}
