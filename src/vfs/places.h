/* SPDX-License-Identifier: MIT
 *
 * The places of a mount: the files and folders that it shows. A *place* has a number that never changes and
 * is never used again: where the file behind a path is replaced, the path gets a new place, and the old one is
 * gone: its file is closed with its last user, and what was in it is stale, whatever the kernel remembers. Files are
 * opened in opening.h.
 *
 * One lock guards everything; files are opened and closed and folders are read outside it (a place is marked
 * while one thread opens it, the others wait). Places are never freed before the end, so that pointers to
 * them stay valid. All functions may be called from several threads.
 */
#ifndef NT_VFS_PLACES_H
#define NT_VFS_PLACES_H

#include <pthread.h>

#include <ntuple/format.h>
#include <ntuple/read.h>

#include "base/arena.h"
#include "chain/chain.h"
#include "model/model.h"
#include "vfs/open_file.h"
#include "vfs/tree.h"

struct nt_chain_places;

enum nt_place_kind {
    NT_PLACE_NONE,   /* no such place, nothing that is shown, or not there any more */
    NT_PLACE_GROUP,  /* the root of several paths */
    NT_PLACE_FOLDER, /* mirrored */
    NT_PLACE_FILE,
    NT_PLACE_FAILED, /* a file that cannot be opened */
    NT_PLACE_GONE, /* it was replaced or removed: told of a place that is gone, once nothing uses its file */
};

/* How one gets to a place. Inner places are made by the first look at them, and opened by name alone. */
enum nt_way {
    NT_WAY_CHILD,   /* it is listed in its parent, or is one of the mount's */
    NT_WAY_SHOWN,   /* a version, by the place of its data set */
    NT_WAY_VERSION, /* a version, by its number in versions.d */
    NT_WAY_FILE,    /* a file of a chain, by its name in files.d */
};

/* Of a data set that has versions (histories.h). */
struct nt_history {
    uint32_t shown;      /* the place of the version that the last look found */
    const char *watched; /* path: as long as it is as it was, the same version is meant */
    struct stat watched_was;
    bool is_settled;    /* that look was late enough for `watched_was` to tell every later change */
    uint64_t list;      /* on a server: of which list that look was, as nt_folder_refresh tells */
    uint32_t *versions; /* the places of those that were looked at */
    uint32_t count;
    size_t capacity;
};

struct nt_place {
    enum nt_place_kind kind;
    enum nt_way way;
    bool is_file;    /* FILE, FAILED or NONE; else it stays what it is */
    bool is_probed;  /* false: not looked at yet, `kind` is a guess */
    bool is_opening; /* a thread is at it */
    bool is_gone;    /* its folder does not have it any more: what comes later has another place */
    uint32_t number, parent;
    const char *path; /* NULL: the group. Of what is on a server its address, as it is shown */
    bool is_remote;   /* it is on a server (entering.h): */
    const char
        *address;    /* as it is asked for, of what the mount was given; NULL: the folder above lists it */
    bool is_entered; /* whether it is a file or a folder is known; then */
    struct nt_folder *folder; /* the folder that it is, or that a version is of; NULL: it is a file, and */
    struct nt_source *source; /* what was opened to find that out, until it is used; NULL: nothing */
    const char *disk_name;    /* last part of the path */
    const char *name;         /* in the tree */
    struct stat identity;     /* of what lies at the path; of a version of what it is read from */
    /* Of a data set's folder: whether it has versions, or nobody has looked yet; and them. */
    bool may_have_versions;
    struct nt_history *history;
    struct nt_chain_places *chain; /* of a chain, whose first file tells of it (chain_places.h) */
    /* Of a version; the path is the data set's, which is its parent. */
    const char *version; /* as in nt_open_options; NULL: none */
    const char *series;  /* what stands in it before the number */
    uint64_t version_number;
    const char
        *identity_path; /* of a chain, too: NULL where its first file is on a server. Else NULL: the path */
    struct nt_open_file *opened;
    uint32_t first_slot, slot_count;
    bool has_slots;
    struct nt_error *failure;
    /* Of groups and folders: */
    uint32_t *children; /* ascending */
    uint32_t *by_name;  /* the same by disk name */
    uint32_t child_count;
    struct nt_names *names;   /* of the children, by position */
    struct timespec modified; /* of the folder when it was scanned */
    bool is_settled;          /* the scan was late enough for `modified` to tell every later change */
    uint64_t list;            /* on a server: of which list it was, as nt_folder_refresh tells */
};

static inline bool nt_place_is_inner(const struct nt_place *place)
{
    return place->way == NT_WAY_VERSION || place->way == NT_WAY_FILE;
}

/* Where it is seen on this machine whether it is what it was. NULL: nowhere, its source finds out. */
static inline const char *nt_place_identity_path(const struct nt_place *place)
{
    return place->identity_path || place->chain ? place->identity_path : place->path;
}

/* A data set, by a small number that is given when its file is opened for the first time. */
struct nt_slot {
    uint32_t place, dataset;
};

/* How files are opened, and who is told of them. */
struct nt_places_options {
    struct nt_open_options open;
    const struct nt_vfs_choice *choices;
    size_t choice_count;
    const struct nt_chain_list *chain; /* the paths are these files, as one; NULL: they are not */
    struct nt_chain_options chain_options;
    nt_is_ours *is_ours;
    bool follow_links;        /* out of mirrored folders */
    struct nt_reader *reader; /* is told of files that are closed; may be NULL */
    /* The hooks of struct nt_file, the second also before a file is opened; may be NULL. */
    void (*on_group_failure)(void *context, const struct nt_dataset *dataset, uint32_t group,
                             const struct nt_error *error);
    void (*before_slow_work)(void *context);
    void *context;
};

struct nt_places {
    pthread_mutex_t lock;
    pthread_cond_t was_opened;
    struct nt_places_options options;
    struct nt_arena *arena; /* paths and names */
    struct nt_place **list;
    uint32_t count, source_count; /* the first are those of the paths that the mount was given */
    size_t capacity;              /* of the list */
    struct nt_slot *slots;
    uint32_t slot_count;
    struct nt_open_file *opened; /* the open files */
    struct nt_open_file *gone;   /* those that nobody finds any more, until they are closed */
    uint32_t open_count;         /* of both */
    size_t descriptors;          /* of those in `opened` that are data sets in many files */
    size_t most_descriptors;     /* that the process may have */
    uint64_t clock;              /* counts openings */
    /* closing.c's: */
    pthread_t closer;
    bool has_closer, closer_must_end;
    pthread_cond_t has_idle;
};

/* A new place. The path is not copied: it lies in the arena, or lives as long. Under the lock. */
enum nt_status nt_places_add(struct nt_places *places, uint32_t parent, const char *path,
                             enum nt_place_kind kind, struct nt_place **place_ret, struct nt_error *error);
/* What lies at a new place. */
void nt_places_identify(struct nt_place *place, const struct stat *identity);
/* The same of an address: what a list has told of a file there; of anything else, or NULL, nothing is known before it is opened. */
void nt_places_identify_remote(struct nt_place *place, const struct stat *listed);
/* NULL: there is none of this number. */
struct nt_place *nt_places_get(struct nt_places *places, uint32_t number);
/* Remember why nothing can be shown of it; the second: that it was looked at, unless the failure may pass. Under the lock. */
void nt_places_fail(struct nt_place *place, const struct nt_error *error);
void nt_places_fail_looking(struct nt_place *place, const struct nt_error *error);
/* A child that its folder does not have any more. What is in it is gone, too. Under the lock. */
void nt_place_leave(struct nt_place *place);
bool nt_place_is_gone(const struct nt_places *places, const struct nt_place *place);
/* The place whose directory has the files of a place: that of a version's data set, else itself. */
uint32_t nt_places_outer(struct nt_places *places, uint32_t number);

/* Take `children` (from malloc, also on failure) as those of a group or folder. Under the lock. */
enum nt_status nt_places_set_children(struct nt_places *places, struct nt_place *folder, uint32_t *children,
                                      uint32_t count, struct nt_error *error);
/* The first child of a group or folder with a number of at least `from`; NT_NONE. */
uint32_t nt_places_next(struct nt_places *places, uint32_t number, uint32_t from);

/* Parent, name and path on the disk (NULL: a group's) of a place; the strings live as long as the places. */
uint32_t nt_places_parent(struct nt_places *places, uint32_t number);
const char *nt_places_name(struct nt_places *places, uint32_t number);
const char *nt_places_path(struct nt_places *places, uint32_t number);
/* Whether the place itself, or what it shows, may go or be replaced while mounted. */
bool nt_places_is_mirrored(struct nt_places *places, uint32_t number);
/* ---- from the paths of a mount to its end (mount_places.c) ---- */

/* Places for the paths. A single path is place 0, the root; several are the children of place 0. Fails where
 * nothing can be opened, with the first one's reason. */
enum nt_status nt_places_new(const char *const *paths, size_t path_count,
                             const struct nt_places_options *options, struct nt_places **places_ret,
                             struct nt_error *error);
void nt_places_free(struct nt_places *places); /* accepts NULL */
/* Whether something of a path that was given can be shown; why not. Looks at a folder's files until one opens,
 * or so many did not that it says nothing. */
enum nt_status nt_places_try(struct nt_places *places, uint32_t number, struct nt_error *error);

/* ---- what is there now (mirror.c) ---- */

/* Attributes of the file or folder behind the place, as it is now. */
enum nt_status nt_places_stat(struct nt_places *places, uint32_t number, struct stat *attributes,
                              struct nt_error *error);
/* Look at a folder's files again. Nothing to do for a group. */
enum nt_status nt_places_scan(struct nt_places *places, uint32_t number, struct nt_error *error);
/* A child of a group or folder by name, as the disk is now. NT_NOT_FOUND. */
enum nt_status nt_places_find(struct nt_places *places, uint32_t number, const char *name,
                              uint32_t *place_ret, struct nt_error *error);

/* ---- closing (closing.c) ---- */

/* How much may be open depends on what this process may have. To begin with. */
void nt_places_bound_open(struct nt_places *places);
/* Close files that nothing uses where many are open, or data sets in many files have many descriptors, soon, by
 * a thread of its own: nobody who opens or looks waits for it. Under the lock, which may be given up where there is no
 * thread to be had, or so many files are open that the caller has to close one itself. */
void nt_places_close_idle(struct nt_places *places);
/* The same, and first of all those that are gone, however few are open. */
void nt_places_close_gone(struct nt_places *places);
/* The same for a file whose last user has gone. */
void nt_places_leave_idle(struct nt_places *places, struct nt_open_file *opened);
/* Whether each place is an open file (or their group) that will not be closed. */
bool nt_places_hold_all(struct nt_places *places);
/* End the thread, then close all files. Nothing uses them. */
void nt_places_close_all(struct nt_places *places);

#endif
