/* SPDX-License-Identifier: MIT
 *
 * Opens the data file of an inode on first use, by one thread while others wait, and assigns ids to its
 * datasets. A background thread closes idle files, least recently used first, to limit descriptors.
 */
#include "vfs/vfs.h"

#include <ntuple/choice.h>

#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>

#include "chain/chain.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "core/model/budget.h"
#include "core/model/model.h"
#include "formats/formats.h"
#include "read/read.h"
#include "vfs/inode.h"
#include "vfs/tree.h"

/* ---- Apply entry selections ---- */

/* "run2.root/", in front of what is in the place's file; nothing for the root. */
static void put_place(struct nt_places *places, const struct nt_place *place, struct nt_buffer *path)
{
    uint32_t above[NT_MAX_DEPTH];
    char name[NT_NAME_BYTES + 1];
    size_t count = 0;
    for (uint32_t at = nt_place_is_version(place) ? place->parent : place->number; at && count < NT_MAX_DEPTH;
         at = nt_places_get(places, at)->parent)
        above[count++] = at;
    while (count-- > 0) {
        nt_places_name(places, above[count], name);
        nt_buffer_format(path, "%s/", name);
    }
}

/* Of inner places, and of one of many data sets without its name, nothing is chosen. */
static bool is_meant(const struct nt_vfs_choice *choice, const struct nt_place *place,
                     const struct nt_open_file *opened, const char *path)
{
    if (nt_place_is_inner(place))
        return false;
    if (!*choice->dataset)
        return opened->file->dataset_count == 1 &&
               (place->number == 0 || (nt_place_is_version(place) && place->parent == 0));
    return strcmp(choice->dataset, path) == 0;
}

/* Choose entries of a data set of a file that was opened for a place, before anything else is done with it. NT_INVALID where a
 * choice does not fit it. */
static enum nt_status choose(struct nt_places *places, const struct nt_place *place,
                             struct nt_open_file *opened, struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_buffer path = {0};
    enum nt_status status = NT_OK;
    put_place(places, place, &path);
    bool is_reached = nt_open_file_path(opened, opened->file->directory_count + dataset->index, &path);
    if (path.failed)
        status = nt_fail_memory(error);
    for (size_t i = 0; status == NT_OK && is_reached && i < places->vfs->options.choice_count; i++) {
        const struct nt_vfs_choice *choice = &places->vfs->options.choices[i];
        if (is_meant(choice, place, opened, path.bytes))
            status = nt_choice_apply(choice->choice, dataset, error);
    }
    nt_buffer_deinit(&path);
    return status;
}

/* ---- Close idle files ---- */

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
    const struct nt_open_file *opened;
    TAILQ_FOREACH (opened, &places->opened, by_use)
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
static void take(struct nt_places *places, struct nt_open_file *opened)
{
    struct nt_place *place = places->list[opened->place];
    TAILQ_REMOVE(&places->opened, opened, by_use);
    place->opened = NULL;
    places->descriptors -= opened->descriptors;
    nt_places_put_away(places, place);
}

/* The file that was not used for the longest time; NULL: all are in use. */
static struct nt_open_file *take_idle(struct nt_places *places)
{
    struct nt_open_file *opened;
    TAILQ_FOREACH_REVERSE (opened, &places->opened, nt_open_files, by_use)
        if (opened->users == 0)
            break;
    if (opened)
        take(places, opened);
    return opened;
}

/* The file to be closed next where so much may stay open; NULL: none. */
static struct nt_open_file *take_next(struct nt_places *places, const struct bound *bound)
{
    struct nt_open_file *opened = TAILQ_FIRST(&places->gone);
    if (opened)
        TAILQ_REMOVE(&places->gone, opened, by_use);
    else if (!is_within(places, bound))
        opened = take_idle(places);
    if (opened)
        places->open_count--;
    return opened;
}

static void forget(struct nt_reader *reader, const struct nt_file *file)
{
    for (uint32_t i = 0; file && i < file->dataset_count; i++)
        nt_reader_forget(reader, file->datasets[i]);
}

/* Not under the lock. */
static void close_opened(struct nt_places *places, struct nt_open_file *opened)
{
    forget(places->vfs->reader, opened->file);
    forget(places->vfs->reader, opened->file->completed);
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

/* Close files that nothing uses where many are open, or data sets in many files have many descriptors, soon, by
 * a thread of its own: nobody who opens or looks waits for it. Under the lock, which may be given up where there is no
 * thread to be had, or so many files are open that the caller has to close one itself. */
static void nt_places_close_idle(struct nt_places *places)
{
    if (is_within(places, &most) && TAILQ_EMPTY(&places->gone))
        return;
    if (!places->has_closer)
        places->has_closer = pthread_create(&places->closer, NULL, close_idle, places) == 0;
    pthread_cond_signal(&places->has_idle);
    if (!places->has_closer || !is_within(places, &far_too_much))
        close_down_to(places, places->has_closer ? &far_too_much : &most);
}

void nt_places_close_gone(struct nt_places *places)
{
    struct nt_open_file *next;
    for (struct nt_open_file *opened = TAILQ_FIRST(&places->opened); opened; opened = next) {
        next = TAILQ_NEXT(opened, by_use);
        if (opened->users > 0 || !nt_place_is_gone(places, places->list[opened->place]))
            continue;
        take(places, opened);
        TAILQ_INSERT_HEAD(&places->gone, opened, by_use);
    }
    nt_places_close_idle(places);
}

bool nt_places_hold_all(struct nt_places *places)
{
    pthread_mutex_lock(&places->lock);
    bool holds_all = places->count <= most.files;
    for (uint32_t i = 0; i < places->count && holds_all; i++) {
        const struct nt_place *place = places->list[i];
        holds_all =
            !place || place->kind == NT_PLACE_GROUP ||
            (place->is_remote && !places->vfs->options.choice_count) || /* no file here is opened for it */
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
    TAILQ_CONCAT(&places->gone, &places->opened, by_use); /* also what tools hold to the end */
    struct nt_open_file *opened;
    while ((opened = TAILQ_FIRST(&places->gone))) {
        TAILQ_REMOVE(&places->gone, opened, by_use);
        close_opened(places, opened);
    }
}

/* ---- Open files ---- */

static bool make_room_for_slots(struct nt_places *places, uint32_t count)
{
    while (places->slot_count < count) {
        struct nt_slot *slots =
            nt_grow(places->slots, places->slot_count, &places->slot_capacity, sizeof(*slots));
        if (!slots)
            return false;
        places->slots = slots;
        slots[places->slot_count++].place = NT_NONE;
    }
    return true;
}

static enum nt_status give_slots(struct nt_places *places, struct nt_place *place, uint32_t count,
                                 struct nt_error *error)
{
    uint32_t first;
    if (place->has_slots && place->slot_count == count)
        return NT_OK;
    if (!nt_numbers_take(&places->slot_numbers, count, &first))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "more than %u data sets in one mount",
                       places->slot_numbers.limit);
    if (!make_room_for_slots(places, first + count)) {
        nt_numbers_give_back(&places->slot_numbers, first, count);
        return nt_fail_memory(error);
    }
    place->first_slot = first;
    place->slot_count = count;
    place->has_slots = true;
    for (uint32_t i = 0; i < count; i++)
        places->slots[first + i] = (struct nt_slot){place->number, i};
    return NT_OK;
}

/* The file must still be the one that the place stands for. Of a data set a version may go. */
static enum nt_status check_identity(struct nt_places *places, const struct nt_place *place,
                                     struct nt_error *error)
{
    const char *path = nt_place_identity_path(place);
    struct stat now;
    if (!path)
        return NT_OK;
    enum nt_status status = place->is_remote ? nt_place_stat_on_server(places, place, &now, error)
                                             : nt_disk_stat(path, &now, error);
    if (status == NT_OK && !nt_disk_is_same(&now, &place->identity))
        return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s was replaced or modified", path);
    return status == NT_NOT_FOUND && nt_place_is_version(place)
               ? nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: is no longer there", path)
               : status;
}

/* Of a file in a mirrored folder: that it lies beneath the one that was named, which who can write into it cannot change. */
static enum nt_status check_way(struct nt_places *places, const struct nt_place *place,
                                struct nt_error *error)
{
    const struct nt_place *top = place;
    pthread_mutex_lock(&places->lock);
    while (top->number >= places->source_count)
        top = places->list[top->parent];
    bool is_in_folder = top->kind == NT_PLACE_FOLDER && !top->is_remote; /* on servers there are no links */
    pthread_mutex_unlock(&places->lock);
    if (places->vfs->options.follow_links || !is_in_folder)
        return NT_OK;
    return nt_disk_check_beneath(top->path, place->path, error);
}

static enum nt_status open_model(struct nt_places *places, struct nt_place *place, struct nt_file **file_ret,
                                 struct nt_error *error)
{
    struct nt_open_options options = places->vfs->options.open;
    struct nt_source *source;
    if (place->chain) {
        struct nt_chain_options chain = places->vfs->options.chain_options;
        chain.is_lazy &=
            places->vfs->options.choice_count == 0; /* to choose entries they have to be counted */
        return nt_chain_open(places->vfs->options.chain, &chain, &places->vfs->options.open, file_ret, error);
    }
    if (place->version)
        options.version = place->version;
    if (!place->is_remote)
        return nt_file_open(place->path, &options, file_ret, error);
    enum nt_status status = nt_place_open_source(places, place, &source, error);
    return status == NT_OK ? nt_file_take_source(source, &options, file_ret, error) : status;
}

/* Open a place's file, outside the lock. */
static enum nt_status open_file(struct nt_places *places, struct nt_place *place,
                                struct nt_open_file **opened_ret, struct nt_error *error)
{
    struct nt_file *file;
    enum nt_status status = check_way(places, place, error);
    if (status == NT_OK)
        status = check_identity(places, place, error);
    if (status == NT_OK)
        status = open_model(places, place, &file, error);
    if (status != NT_OK)
        return status;
    file->on_group_failure = nt_report_group;
    file->before_slow_work = nt_vfs_before_slow_work;
    file->context = places->vfs;
    status = nt_open_file_new(file, opened_ret, error);
    for (uint32_t i = 0;
         places->vfs->options.choice_count && status == NT_OK && i < (*opened_ret)->file->dataset_count; i++)
        status = choose(places, place, *opened_ret, (*opened_ret)->file->datasets[i], error);
    if (status != NT_OK && *opened_ret) {
        nt_open_file_free(*opened_ret);
        *opened_ret = NULL;
    }
    return status;
}

/* A file that is none of ours is not shown. On a server, where no list tells what its files are, it was, and stays. */
static void remember_failure(struct nt_places *places, struct nt_place *place, const struct nt_error *error)
{
    nt_places_fail_looking(place, error);
    if (error->status == NT_NOT_THIS_FORMAT && place->number != 0 && !place->is_remote &&
        places->list[place->parent]->kind == NT_PLACE_FOLDER)
        place->kind = NT_PLACE_NONE;
}

/* Under the lock: what came of opening. */
static enum nt_status settle(struct nt_places *places, struct nt_place *place, struct nt_open_file *opened,
                             struct nt_error *error)
{
    enum nt_status status = give_slots(places, place, opened->file->dataset_count, error);
    if (status != NT_OK)
        return status;
    opened->place = place->number;
    opened->first_slot = place->first_slot;
    if (nt_place_is_version(place)) { /* as old as what it is read from: another time is another version */
        opened->stat.st_mtim = place->identity.st_mtim;
        opened->stat.st_ctim = place->identity.st_ctim;
    }
    place->opened = opened;
    place->kind = NT_PLACE_FILE;
    place->is_probed = true;
    TAILQ_INSERT_HEAD(&places->opened, opened, by_use);
    places->open_count++;
    return NT_OK;
}

/* Open the place's file for one user, or remember why not. The lock is held on entry and on return, and given
 * up in between. */
static void open_place(struct nt_places *places, struct nt_place *place)
{
    struct nt_open_file *opened = NULL;
    struct nt_error failure = {0};
    place->is_opening = true;
    pthread_mutex_unlock(&places->lock);
    nt_vfs_before_slow_work(places->vfs);
    enum nt_status status = open_file(places, place, &opened, &failure);
    pthread_mutex_lock(&places->lock);
    if (status == NT_OK)
        status = settle(places, place, opened, &failure);
    if (status == NT_OK) {
        opened->users = 1; /* the caller */
        opened = NULL;
        nt_places_close_idle(places);
    } else {
        failure.status = status;
        remember_failure(places, place, &failure);
    }
    nt_place_was_opened(places, place);
    if (opened) { /* there are no slots for it */
        pthread_mutex_unlock(&places->lock);
        nt_open_file_free(opened);
        pthread_mutex_lock(&places->lock);
    }
}

/* Under the lock: what the place is, with its file for one user more. */
static enum nt_place_kind hold(struct nt_places *places, struct nt_place *place,
                               struct nt_open_file **opened_ret)
{
    while (place->is_opening)
        pthread_cond_wait(&places->was_opened, &places->lock);
    if (place->opened)
        place->opened->users++;
    else if (nt_place_is_gone(places, place))
        return NT_PLACE_GONE;
    else if (place->is_file && (!place->is_probed || place->kind == NT_PLACE_FILE) &&
             !nt_place_is_refused(place))
        open_place(places, place);
    if (place->opened) {
        *opened_ret = place->opened;
        TAILQ_REMOVE(&places->opened, place->opened, by_use);
        TAILQ_INSERT_HEAD(&places->opened, place->opened, by_use);
    }
    return place->kind;
}

/* Of a data set whose versions have gone before it, itself. */
static struct nt_place *shown_last(const struct nt_places *places, struct nt_place *place)
{
    bool has_shown = place->history && place->history->shown != NT_NONE;
    return has_shown ? places->list[place->history->shown] : place;
}

/* The same of what is shown there. */
static enum nt_place_kind hold_shown(struct nt_places *places, struct nt_place *place, uint32_t *shown_ret,
                                     struct nt_open_file **opened_ret)
{
    *shown_ret = place->number;
    bool is_gone = nt_place_is_gone(places, place); /* what lies at its path is another one's */
    if (!is_gone && !nt_place_enter(places, place))
        return place->kind;
    struct nt_place *shown = is_gone ? shown_last(places, place) : nt_history_shown(places, place);
    *shown_ret = shown ? shown->number : place->number;
    return shown ? hold(places, shown, opened_ret) : place->kind;
}

enum nt_place_kind nt_places_hold(struct nt_places *places, uint32_t number, uint32_t *shown_ret,
                                  struct nt_open_file **opened_ret)
{
    enum nt_place_kind kind = NT_PLACE_NONE;
    *opened_ret = NULL;
    *shown_ret = number;
    pthread_mutex_lock(&places->lock);
    if (number < places->count && places->list[number])
        kind = hold_shown(places, places->list[number], shown_ret, opened_ret);
    pthread_mutex_unlock(&places->lock);
    return kind;
}

/* Under the lock. */
static bool is_given(const struct nt_places *places, uint32_t slot)
{
    return slot < places->slot_count && places->slots[slot].place < places->count &&
           places->list[places->slots[slot].place];
}

enum nt_place_kind nt_places_hold_slot(struct nt_places *places, uint32_t slot, struct nt_slot *slot_ret,
                                       struct nt_open_file **opened_ret)
{
    enum nt_place_kind kind = NT_PLACE_NONE;
    *opened_ret = NULL;
    pthread_mutex_lock(&places->lock);
    if (is_given(places, slot)) {
        *slot_ret = places->slots[slot];
        kind = hold(places, places->list[slot_ret->place], opened_ret);
    }
    pthread_mutex_unlock(&places->lock);
    return kind;
}

/* The last user of a file has gone. A data set in many files may have got more descriptors, a file alone has one. */
static void leave_idle(struct nt_places *places, struct nt_open_file *opened)
{
    struct nt_folder *folder = opened->file->source->folder;
    size_t descriptors = folder ? nt_folder_descriptors(folder) : 0;
    places->descriptors += descriptors - opened->descriptors;
    opened->descriptors = descriptors;
    if (nt_place_is_gone(places, places->list[opened->place]))
        nt_places_close_gone(places);
    else
        nt_places_close_idle(places);
}

void nt_places_release(struct nt_places *places, struct nt_open_file *opened)
{
    if (!opened)
        return;
    pthread_mutex_lock(&places->lock);
    if (--opened->users == 0)
        leave_idle(places, opened);
    pthread_mutex_unlock(&places->lock);
}

enum nt_place_kind nt_places_kind(struct nt_places *places, uint32_t number)
{
    struct nt_open_file *opened = NULL;
    struct nt_place *place = nt_places_get(places, number);
    if (!place)
        return NT_PLACE_NONE;
    pthread_mutex_lock(&places->lock);
    bool is_known = place->is_probed || nt_place_is_listed(places, place);
    enum nt_place_kind kind = is_known ? place->kind : hold_shown(places, place, &number, &opened);
    pthread_mutex_unlock(&places->lock);
    nt_places_release(places, opened);
    return kind;
}

enum nt_status nt_places_failure(struct nt_places *places, uint32_t number, struct nt_error *error)
{
    struct nt_place *place = nt_places_get(places, number);
    pthread_mutex_lock(&places->lock);
    if (place->kind != NT_PLACE_FAILED)
        place = shown_last(places, place);
    enum nt_status status;
    if (nt_place_is_gone(places, place))
        status =
            nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s was replaced, modified or removed", place->path);
    else
        status = place->failure ? nt_fail_with(error, place->failure) : nt_fail_memory(error);
    pthread_mutex_unlock(&places->lock);
    return status;
}

struct timespec nt_places_failed_at(struct nt_places *places, uint32_t number)
{
    pthread_mutex_lock(&places->lock);
    struct timespec failed_at = places->list[number]->failed_at;
    pthread_mutex_unlock(&places->lock);
    return failed_at;
}

bool nt_places_of_node(struct nt_places *places, uint64_t number, uint32_t *place_ret)
{
    struct nt_node node;
    if (!nt_node_unpack(number, &node) || node.level == NT_LEVEL_MOUNT)
        return false;
    pthread_mutex_lock(&places->lock);
    bool is_place = node.level == NT_LEVEL_PLACE;
    bool is_there =
        is_place ? node.slot < places->count && places->list[node.slot] : is_given(places, node.slot);
    if (is_there)
        *place_ret = is_place ? node.slot : places->slots[node.slot].place;
    pthread_mutex_unlock(&places->lock);
    return is_there;
}

bool nt_places_slot_of(struct nt_places *places, const struct nt_dataset *dataset, uint32_t *slot_ret)
{
    const struct nt_open_file *opened;
    pthread_mutex_lock(&places->lock);
    TAILQ_FOREACH (opened, &places->opened, by_use)
        if (opened->file == dataset->file->outline)
            break;
    if (opened)
        *slot_ret = opened->first_slot + dataset->index;
    pthread_mutex_unlock(&places->lock);
    return opened != NULL;
}

bool nt_places_shown_slot(struct nt_places *places, uint32_t version, uint32_t *slot_ret)
{
    pthread_mutex_lock(&places->lock);
    const struct nt_place *shown = shown_last(places, places->list[places->list[version]->parent]);
    bool has_slot = shown->has_slots && shown->slot_count > 0;
    *slot_ret = has_slot ? shown->first_slot : 0;
    pthread_mutex_unlock(&places->lock);
    return has_slot;
}

uint64_t nt_places_bytes(struct nt_places *places)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&places->lock);
    for (uint32_t i = 0; i < places->count; i++) {
        const struct nt_place *place = places->list[i];
        bool is_there = place && !nt_place_is_gone(places, place);
        if (is_there && (place->kind == NT_PLACE_FILE || place->kind == NT_PLACE_FAILED))
            bytes += (uint64_t)place->identity.st_size;
    }
    pthread_mutex_unlock(&places->lock);
    return bytes;
}
