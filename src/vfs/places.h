/* SPDX-License-Identifier: MIT
 *
 * The places of a mount: the files and folders that it shows. A *place* has a number that never changes: where the file
 * behind a path is replaced, the path gets a new place, and the old one is gone: its file is closed with its last user, and
 * what was in it is stale, whatever the kernel remembers. Once the kernel has forgotten all of it, the place is freed, as that of a
 * version that is not shown any more is, and its number may be given again (knowing.c). Files are opened in opening.h.
 *
 * One lock guards everything; files are opened and closed and folders are read outside it (a place is marked
 * while one thread opens it, the others wait). Who looks at places does so in a *visit*, in which none of them is freed, so
 * that pointers to them stay valid. All functions may be called from several threads.
 */
#ifndef NT_VFS_PLACES_H
#define NT_VFS_PLACES_H

#include <pthread.h>

#include <ntuple/format.h>
#include <ntuple/read.h>

#include "chain/chain.h"
#include "formats/format.h"
#include "core/model/model.h"
#include "vfs/names.h"
#include "vfs/numbers.h"
#include "vfs/open_file.h"
#include "vfs/tree.h"
#include "vfs/visits.h"

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
enum nt_lookup_route {
    NT_ROUTE_CHILD,   /* it is listed in its parent, or is one of the mount's */
    NT_ROUTE_SHOWN,   /* a version, by the place of its data set */
    NT_ROUTE_VERSION, /* a version, by its number in versions.d */
    NT_ROUTE_FILE,    /* a file of a chain, by its name in files.d */
};

/* A file or folder by which it is known that the version that was found is still meant. */
struct nt_watched {
    char *path;      /* NULL: none */
    struct stat was; /* all zeros: it was not there */
    bool is_settled; /* the look was late enough for `was` to tell every later change */
    uint64_t list;   /* on a server: of which list the look was, as nt_folder_refresh tells */
};

/* Of a data set that has versions (histories.h). */
struct nt_history {
    uint32_t
        shown; /* the place of the version that the last look found; NT_NONE: it is freed, or there was no look */
    struct nt_watched watched[NT_VERSION_WATCHED]; /* to the first without a path */
    uint32_t *versions; /* the places of those that were looked at and are not freed */
    uint32_t count;
    size_t capacity;
};

struct nt_place {
    enum nt_place_kind kind;
    enum nt_lookup_route way;
    bool is_file;    /* FILE, FAILED or NONE; else it stays what it is */
    bool is_probed;  /* false: not looked at yet, `kind` is a guess */
    bool is_opening; /* a thread is at it */
    bool is_gone;    /* its folder does not have it any more: what comes later has another place */
    uint32_t number, parent;
    uint32_t generation; /* no other place of its number has the same */
    uint32_t order;      /* among those in its folder: what takes its place has the same */
    char *path;          /* NULL: the group. Of what is on a server its address, as it is shown */
    bool is_remote;      /* it is on a server (entering.h): */
    char *address;   /* as it is asked for, of what the mount was given; NULL: the folder above lists it */
    bool is_entered; /* whether it is a file or a folder is known; then */
    struct nt_folder *folder; /* the folder that it is, or that a version is of; NULL: it is a file, and */
    struct nt_source *source; /* what was opened to find that out, until it is used; NULL: nothing */
    const char *disk_name;    /* last part of the path */
    char *name;               /* in the tree; NULL: it has none yet */
    struct stat identity;     /* of what lies at the path; of a version of what it is read from */
    /* Of a data set's folder: whether it has versions, or nobody has looked yet; and them. */
    bool may_have_versions;
    struct nt_history *history;
    struct nt_chain_places *chain; /* of a chain, whose first file tells of it (chain_places.h) */
    /* Of a version; the path is the data set's, which is its parent. */
    char *version; /* as in nt_open_options; NULL: none, as of a state of a data set that has no versions */
    char *series;  /* what stands in it before the number */
    uint64_t version_number;
    char *identity_path; /* of a chain, too: NULL where its first file is on a server. Else NULL: the path */
    struct nt_open_file *opened;
    uint32_t first_slot, slot_count;
    bool has_slots;
    struct nt_error *failure;
    struct timespec failed_at; /* when it came */
    uint64_t stands_until;     /* until then nobody tries again: nt_milliseconds */
    /* Of groups and folders: */
    uint32_t *children; /* in their order */
    uint32_t next_order;
    uint32_t *by_name; /* the same by disk name */
    uint32_t child_count;
    struct nt_names *names;   /* of the children, by position */
    struct timespec modified; /* of the folder when it was scanned */
    bool is_settled;          /* the scan was late enough for `modified` to tell every later change */
    uint64_t list;            /* on a server: of which list it was, as nt_folder_refresh tells */
    uint64_t last_scan;       /* the number of the scan that found the children */
    /* knowing.c's: */
    uint64_t known;        /* how often somebody outside knows it, or a node in it */
    uint32_t inside;       /* places that are in it, gone ones, too */
    bool is_put_away;      /* nobody finds it any more: it is in one of the lists */
    struct nt_place *next; /* there */
};

static inline bool nt_place_is_version(const struct nt_place *place)
{
    return place->way == NT_ROUTE_SHOWN || place->way == NT_ROUTE_VERSION;
}

static inline bool nt_place_is_inner(const struct nt_place *place)
{
    return place->way == NT_ROUTE_VERSION || place->way == NT_ROUTE_FILE;
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
    bool is_told;             /* by nt_places_know and nt_places_forget; else no place is freed */
    struct nt_reader *reader; /* is told of files that are closed; may be NULL */
    /* The hooks of struct nt_file, the second also before a file is opened; may be NULL. */
    void (*on_group_failure)(void *context, const struct nt_dataset *dataset, uint32_t group,
                             const struct nt_error *error);
    void (*before_slow_work)(void *context);
    /* Numbers are about to be given again; nt_places_is_put_away tells of which nodes. Under the lock; may be NULL. */
    void (*before_freeing)(void *context);
    void *context;
};

struct nt_places {
    pthread_mutex_t lock;
    pthread_cond_t was_opened;
    struct nt_places_options options;
    struct nt_place **list;       /* NULL: there is none of this number */
    uint32_t count, source_count; /* the first are those of the paths that the mount was given */
    size_t capacity;              /* of the list */
    struct nt_numbers numbers;
    struct nt_slot *slots;
    uint32_t slot_count;
    size_t slot_capacity;
    struct nt_numbers slot_numbers;
    struct nt_open_file *opened; /* the open files */
    struct nt_open_file *gone;   /* those that nobody finds any more, until they are closed */
    uint32_t open_count;         /* of both */
    size_t descriptors;          /* of those in `opened` that are data sets in many files */
    size_t most_descriptors;     /* that the process may have */
    uint64_t clock;              /* counts openings */
    uint64_t scans;              /* counts scans of folders as they begin */
    /* knowing.c's: */
    struct nt_visits visits;
    struct nt_place *put_away; /* in this turn of the visits */
    struct nt_place *waiting;  /* in the one before */
    atomic_bool has_put_away;  /* one of them is not empty */
    uint32_t freed;            /* counts them */
    /* closing.c's: */
    pthread_t closer;
    bool has_closer, closer_must_end;
    pthread_cond_t has_idle;
};

/* A new place. Under the lock. */
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
/* A text for a place, from malloc, in place of the one before. */
enum nt_status nt_place_set_text(char **text, const char *value, struct nt_error *error);
/* Under the lock: its server was not reached a moment ago; who asks again would wait as long for nothing. */
bool nt_place_is_refused(const struct nt_place *place);
bool nt_place_is_gone(const struct nt_places *places, const struct nt_place *place);
/* The place whose directory has the files of a place: that of a version's data set, else itself. */
uint32_t nt_places_outer(struct nt_places *places, uint32_t number);

/* Take `children` (from malloc) as those of a group or folder. Under the lock. */
enum nt_status nt_places_set_children(struct nt_places *places, struct nt_place *folder, uint32_t *children,
                                      uint32_t count, struct nt_error *error);
/* The first child of a group or folder with an order of at least *order, which is set to its order; NT_NONE. */
uint32_t nt_places_next(struct nt_places *places, uint32_t number, uint32_t *order);

/* Parent, name and path on the disk (NULL: a group's) of a place; the path lives as long as the place. */
uint32_t nt_places_parent(struct nt_places *places, uint32_t number);
void nt_places_name(struct nt_places *places, uint32_t number, char name_ret[NT_NAME_BYTES + 1]);
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

/* ---- what is known outside, and freeing (knowing.c) ---- */

/* Around all that works with places: none of those that it finds is freed before the visit ends. */
unsigned nt_places_come(struct nt_places *places);
void nt_places_leave(struct nt_places *places, unsigned visit);
/* Somebody outside knows a node of the place `number` from now on, once more; and has forgotten it so many times. */
void nt_places_know(struct nt_places *places, uint32_t number);
void nt_places_forget(struct nt_places *places, uint32_t number, uint64_t times);
/* Under the lock: it is not where it was any more. What is in it is gone, too. */
void nt_places_let_go(struct nt_places *places, struct nt_place *place);
/* Under the lock: something has ended that would keep this place, or all of them. Those that are gone or are versions that are
 * not shown, and that nobody knows, are put away, and freed once those who are in have left. */
void nt_places_put_away(struct nt_places *places, struct nt_place *place);
void nt_places_put_all_away(struct nt_places *places);
void nt_place_was_opened(struct nt_places *places,
                         struct nt_place *place); /* a thread is not at it any more */
/* Under the lock. */
bool nt_places_is_put_away(const struct nt_places *places, uint32_t number);
void nt_place_free(struct nt_place *place); /* by who has it alone */

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
