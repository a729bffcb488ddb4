/* SPDX-License-Identifier: MIT
 *
 * Comes in: open files, some of which nothing uses. Goes out: not more of those than are worth keeping.
 */
#include "vfs/places.h"

enum {
    MOST_OPEN = 64,         /* files that stay open though nothing uses them */
    FAR_TOO_MANY_OPEN = 256 /* the thread does not keep up: who opens closes */
};

/* The file that was not used for the longest time, out of the list; NULL: all are in use. */
static struct nt_open_file *take_idle(struct nt_places *places)
{
    struct nt_open_file **oldest = NULL;
    for (struct nt_open_file **link = &places->opened; *link; link = &(*link)->next)
        if ((*link)->users == 0 && (!oldest || (*link)->last_use < (*oldest)->last_use))
            oldest = link;
    if (!oldest)
        return NULL;
    struct nt_open_file *opened = *oldest;
    *oldest = opened->next;
    places->list[opened->place]->opened = NULL;
    places->open_count--;
    return opened;
}

static void forget(struct nt_reader *reader, const struct nt_file *file)
{
    for (uint32_t i = 0; reader && file && i < file->dataset_count; i++)
        nt_reader_forget(reader, file->datasets[i]);
}

/* Not under the lock. */
static void close_opened(struct nt_places *places, struct nt_open_file *opened)
{
    forget(places->options.reader, opened->file);
    forget(places->options.reader, opened->file->completed);
    nt_open_file_free(opened);
}

/* Close idle files until so many are open; under the lock, which is given up meanwhile. */
static void close_down_to(struct nt_places *places, uint32_t count)
{
    struct nt_open_file *opened;
    while (places->open_count > count && (opened = take_idle(places))) {
        pthread_mutex_unlock(&places->lock);
        close_opened(places, opened);
        pthread_mutex_lock(&places->lock);
    }
}

static void *close_idle(void *argument)
{
    struct nt_places *places = argument;
    pthread_mutex_lock(&places->lock);
    while (!places->closer_must_end) {
        close_down_to(places, MOST_OPEN);
        if (!places->closer_must_end)
            pthread_cond_wait(&places->has_idle, &places->lock);
    }
    pthread_mutex_unlock(&places->lock);
    return NULL;
}

void nt_places_close_idle(struct nt_places *places)
{
    if (places->open_count <= MOST_OPEN)
        return;
    if (!places->has_closer)
        places->has_closer = pthread_create(&places->closer, NULL, close_idle, places) == 0;
    pthread_cond_signal(&places->has_idle);
    close_down_to(places, places->has_closer ? FAR_TOO_MANY_OPEN : MOST_OPEN);
}

bool nt_places_hold_all(struct nt_places *places)
{
    pthread_mutex_lock(&places->lock);
    bool holds_all = places->count <= MOST_OPEN;
    for (uint32_t i = 0; i < places->count && holds_all; i++) {
        const struct nt_place *place = places->list[i];
        holds_all = place->kind == NT_PLACE_GROUP ||
                    (place->is_remote && !places->options.choice_count) || /* no file here is opened for it */
                    (place->opened && S_ISREG(place->identity.st_mode) && !place->chain);
    }
    pthread_mutex_unlock(&places->lock);
    return holds_all;
}

void nt_places_close_all(struct nt_places *places)
{
    pthread_mutex_lock(&places->lock);
    places->closer_must_end = true;
    pthread_cond_signal(&places->has_idle);
    pthread_mutex_unlock(&places->lock);
    if (places->has_closer)
        pthread_join(places->closer, NULL);
    while (places->opened) { /* also what tools hold to the end */
        struct nt_open_file *file = places->opened;
        places->opened = file->next;
        close_opened(places, file);
    }
}
