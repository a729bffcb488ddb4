/* SPDX-License-Identifier: MIT
 *
 * Comes in: what somebody outside, as the kernel, knows of places and has forgotten, who works with places, and which ones
 * nothing leads to any more. Goes out: the numbers of those that nobody knows or works with, to be given again.
 */
#include "vfs/places.h"

#include <stdlib.h>

#include "core/io/folder.h"
#include "vfs/chain_places.h"

/* ---- visits ---- */

unsigned nt_places_come(struct nt_places *places)
{
    return nt_visits_come(&places->visits);
}

/* ---- freeing ---- */

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

/* The place is the caller's. */
static void take_out(struct nt_places *places, struct nt_place *place, struct nt_place **list)
{
    struct nt_place *above = places->list[place->parent];
    if (nt_place_is_version(place))
        take_out_of_history(above->history, place->number);
    give_numbers_back(places, place);
    place->next = *list;
    *list = place;
    above->inside--;
    nt_places_put_away(places, above);
}

/* Somebody who was in before may have come to know one of them since it was put away. */
static struct nt_place *without_those_that_stay(struct nt_places *places, struct nt_place *list)
{
    struct nt_place *left = NULL, *place;
    while ((place = list)) {
        list = place->next;
        place->is_put_away = is_left(places, place) && can_go(place);
        place->next = place->is_put_away ? left : NULL;
        left = place->is_put_away ? place : left;
    }
    return left;
}

static void take_out_all(struct nt_places *places, struct nt_place *waiting, struct nt_place **list)
{
    struct nt_place *place;
    waiting = without_those_that_stay(places, waiting);
    if (waiting && places->options.before_freeing)
        places->options.before_freeing(places->options.context);
    while ((place = waiting)) {
        waiting = place->next;
        take_out(places, place, list);
    }
}

static struct nt_place *take_out_what_nobody_holds(struct nt_places *places)
{
    struct nt_place *list = NULL;
    while ((places->put_away || places->waiting) && nt_visits_turn(&places->visits)) {
        struct nt_place *waiting = places->waiting;
        places->waiting = places->put_away;
        places->put_away = NULL;
        take_out_all(places, waiting, &list);
    }
    atomic_store(&places->has_put_away, places->put_away || places->waiting);
    return list;
}

/* Freeing may close what is open: not under the lock. */
void nt_places_leave(struct nt_places *places, unsigned visit)
{
    struct nt_place *list, *place;
    nt_visits_leave(&places->visits, visit);
    if (!atomic_load_explicit(&places->has_put_away, memory_order_relaxed))
        return;
    pthread_mutex_lock(&places->lock);
    list = take_out_what_nobody_holds(places);
    pthread_mutex_unlock(&places->lock);
    while ((place = list)) {
        list = place->next;
        nt_place_free(place);
    }
}

/* ---- putting away, under the lock ---- */

void nt_places_put_away(struct nt_places *places, struct nt_place *place)
{
    if (!places->options.is_told || place->is_put_away || place->number < places->source_count ||
        !can_go(place) || !is_left(places, place))
        return;
    place->is_put_away = true;
    place->next = places->put_away;
    places->put_away = place;
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
    for (uint32_t i = 0; places->options.is_told && i < places->count; i++)
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
