/* SPDX-License-Identifier: MIT
 *
 * Comes in: open files, some of which nothing uses. Goes out: not more of those than are worth keeping, and none that
 * nobody finds any more: it has a descriptor of a deleted file, whose bytes stay on the disk as long.
 */
#include "vfs/places.h"

#include <sys/resource.h>

#include "core/io/folder.h"
#include "core/model/ceiling.h"

/* How much may be open. More than `most` is closed as far as nothing uses it; where there is far too much, the thread does not
 * keep up, and who opens closes. A data set in many files has many descriptors: of those that the process may have so many parts. */
struct bound {
    uint32_t files, share_of_descriptors, share_of_metadata; /* of what those of one file may take */
};
static const struct bound most = {64, 4, 4}, far_too_much = {256, 2, 1};
enum { MOST_DESCRIPTORS = 4096 }; /* that are shared, where the process may have more */

void nt_places_bound_open(struct nt_places *places)
{
    struct rlimit limit;
    bool is_less = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MOST_DESCRIPTORS;
    places->most_descriptors = is_less ? limit.rlim_cur : MOST_DESCRIPTORS;
}

/* What those take that nothing uses: closing others gives nothing back. */
static uint64_t idle_metadata(const struct nt_places *places)
{
    uint64_t bytes = 0;
    for (const struct nt_open_file *opened = places->opened; opened; opened = opened->next)
        if (opened->users == 0)
            bytes += nt_budget_used(&opened->file->budget);
    return bytes;
}

static bool is_within(const struct nt_places *places, const struct bound *bound)
{
    return places->open_count <= bound->files &&
           places->descriptors <= places->most_descriptors / bound->share_of_descriptors &&
           idle_metadata(places) <= nt_metadata_ceiling() / bound->share_of_metadata;
}

/* Out of the list of those that can be found. */
static struct nt_open_file *take(struct nt_places *places, struct nt_open_file **link)
{
    struct nt_open_file *opened = *link;
    struct nt_place *place = places->list[opened->place];
    *link = opened->next;
    place->opened = NULL;
    places->descriptors -= opened->descriptors;
    nt_places_put_away(places, place);
    return opened;
}

/* The file that was not used for the longest time; NULL: all are in use. */
static struct nt_open_file *take_idle(struct nt_places *places)
{
    struct nt_open_file **oldest = NULL;
    for (struct nt_open_file **link = &places->opened; *link; link = &(*link)->next)
        if ((*link)->users == 0 && (!oldest || (*link)->last_use < (*oldest)->last_use))
            oldest = link;
    return oldest ? take(places, oldest) : NULL;
}

/* The file to be closed next where so much may stay open; NULL: none. */
static struct nt_open_file *take_next(struct nt_places *places, const struct bound *bound)
{
    struct nt_open_file *opened = places->gone;
    if (opened)
        places->gone = opened->next;
    else if (!is_within(places, bound))
        opened = take_idle(places);
    if (opened)
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

/* Close what is gone, and idle files until no more is open; under the lock, which is given up meanwhile. */
static void close_down_to(struct nt_places *places, const struct bound *bound)
{
    struct nt_open_file *opened;
    while ((opened = take_next(places, bound))) {
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
        close_down_to(places, &most);
        if (!places->closer_must_end)
            pthread_cond_wait(&places->has_idle, &places->lock);
    }
    pthread_mutex_unlock(&places->lock);
    return NULL;
}

void nt_places_close_idle(struct nt_places *places)
{
    if (is_within(places, &most) && !places->gone)
        return;
    if (!places->has_closer)
        places->has_closer = pthread_create(&places->closer, NULL, close_idle, places) == 0;
    pthread_cond_signal(&places->has_idle);
    if (!places->has_closer || !is_within(places, &far_too_much))
        close_down_to(places, places->has_closer ? &far_too_much : &most);
}

/* Those of the files of a data set: a file alone has one. */
static void count_descriptors(struct nt_places *places, struct nt_open_file *opened)
{
    struct nt_folder *folder = opened->file->source->folder;
    size_t count = folder ? nt_folder_descriptors(folder) : 0;
    places->descriptors += count - opened->descriptors;
    opened->descriptors = count;
}

void nt_places_leave_idle(struct nt_places *places, struct nt_open_file *opened)
{
    count_descriptors(places, opened);
    if (nt_place_is_gone(places, places->list[opened->place]))
        nt_places_close_gone(places);
    else
        nt_places_close_idle(places);
}

void nt_places_close_gone(struct nt_places *places)
{
    struct nt_open_file **link = &places->opened;
    while (*link) {
        if ((*link)->users > 0 || !nt_place_is_gone(places, places->list[(*link)->place])) {
            link = &(*link)->next;
            continue;
        }
        struct nt_open_file *opened = take(places, link);
        opened->next = places->gone;
        places->gone = opened;
    }
    nt_places_close_idle(places);
}

bool nt_places_hold_all(struct nt_places *places)
{
    pthread_mutex_lock(&places->lock);
    bool holds_all = places->count <= most.files;
    for (uint32_t i = 0; i < places->count && holds_all; i++) {
        const struct nt_place *place = places->list[i];
        holds_all = !place || place->kind == NT_PLACE_GROUP ||
                    (place->is_remote && !places->options.choice_count) || /* no file here is opened for it */
                    (place->opened && S_ISREG(place->identity.st_mode) && !place->chain);
    }
    pthread_mutex_unlock(&places->lock);
    return holds_all;
}

static void close_list(struct nt_places *places, struct nt_open_file **list)
{
    while (*list) {
        struct nt_open_file *opened = *list;
        *list = opened->next;
        close_opened(places, opened);
    }
}

void nt_places_close_all(struct nt_places *places)
{
    pthread_mutex_lock(&places->lock);
    places->closer_must_end = true;
    pthread_cond_signal(&places->has_idle);
    pthread_mutex_unlock(&places->lock);
    if (places->has_closer)
        pthread_join(places->closer, NULL);
    close_list(places, &places->gone);
    close_list(places, &places->opened); /* also what tools hold to the end */
}
