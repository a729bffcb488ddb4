/* SPDX-License-Identifier: MIT
 *
 * What sources.c (opening) and mirror.c (the children of folders) share.
 *
 * One lock guards everything; files are opened and closed and folders are read outside it (a place is marked
 * while one thread opens it, the others wait). Places are never freed before the end, so that pointers to
 * them stay valid.
 */
#ifndef NT_VFS_SOURCES_INTERNAL_H
#define NT_VFS_SOURCES_INTERNAL_H

#include "base/arena.h"
#include "vfs/sources.h"

struct nt_place {
    enum nt_place_kind kind;
    bool is_file;    /* FILE, FAILED or NONE; else it stays what it is */
    bool is_probed;  /* false: not looked at yet, `kind` is a guess */
    bool is_opening; /* a thread is at it */
    uint32_t number, parent;
    const char *path;      /* NULL: the group */
    const char *disk_name; /* last part of the path */
    const char *name;      /* in the tree */
    struct stat identity;
    struct nt_opened *opened;
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
};

struct nt_slot {
    uint32_t place, dataset;
};

struct nt_sources {
    pthread_mutex_t lock;
    pthread_cond_t was_opened;
    struct nt_open_options options;
    struct nt_reader *reader;
    struct nt_arena *arena; /* paths and names */
    struct nt_place **places;
    uint32_t place_count;
    struct nt_slot *slots;
    uint32_t slot_count;
    uint32_t open_count;
    uint64_t clock; /* counts openings */
};

/* A new place; under the lock. NULL without memory or numbers. */
struct nt_place *nt_sources_add(struct nt_sources *sources, uint32_t parent, const char *path,
                                enum nt_place_kind kind);
struct nt_place *nt_sources_get(struct nt_sources *sources, uint32_t number);

/* Take `children` (from malloc, also on failure) as those of a group or folder; under the lock. */
enum nt_status nt_sources_set_children(struct nt_sources *sources, struct nt_place *folder,
                                       uint32_t *children, uint32_t count, struct nt_error *error);

#endif
