/* SPDX-License-Identifier: MIT
 *
 * The inode table of a tree: its local and remote files, directories, versions and chain members, with
 * their open files. One lock protects the table; files are opened and directories read without it.
 */
#ifndef NT_VFS_INODE_H
#define NT_VFS_INODE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "chain/chain.h"
#include "core/base/memory.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include "formats/formats.h"
#include "read/read.h"
#include "render/arrow/arrow.h"
#include "vfs/tree.h"

struct nt_blobs;
struct nt_member_inodes;
struct nt_folder;
struct nt_names;

/* ---- Unique file names ---- */

enum { NT_NAME_BYTES = 255 }; /* longest name that Linux takes */

/* What an item would like to be called. */
struct nt_name_request {
    uint32_t parent; /* the directory that it lies in: names are unique within one */
    struct nt_text text;
    enum nt_name_rule rule;
    const char *prefix; /* "attribute." or "" */
    uint32_t cycle;     /* not 0: an older cycle, ";<cycle>" is put behind the name */
};
typedef void nt_name_ask(const void *context, uint32_t item, struct nt_name_request *request);

/* Natural names come first; then those that are generated (cut, older cycles, duplicates) take the first free
 * one. The texts must outlive the names. */
enum nt_status nt_names_build(uint32_t count, nt_name_ask *ask, const void *context,
                              struct nt_names **names_ret, struct nt_error *error);
void nt_names_free(struct nt_names *names); /* accepts NULL */
const char *nt_names_get(const struct nt_names *names, uint32_t item);
uint32_t nt_names_parent(const struct nt_names *names, uint32_t item);
/* The item of a name in a directory, NT_NONE where there is none. */
uint32_t nt_names_find(const struct nt_names *names, uint32_t parent, const char *name);

/* The decimal number (without leading zeros) between a prefix and a suffix. */
bool nt_parse_between(const char *name, const char *prefix, const char *suffix, uint64_t *number_ret);

/* ---- Id allocation ---- */

struct nt_ida_range {
    uint32_t first, count;
};

/* All zeros but the limit: none was given. Under a lock of its owner's. */
struct nt_ida {
    uint32_t limit, used; /* numbers below the limit are given; those from `used` on never were */
    struct nt_ida_range *free;
    size_t free_count, capacity;
};

/* Numbers that follow one another; false where there are not so many. */
bool nt_ida_alloc(struct nt_ida *ids, uint32_t count, uint32_t *first_ret);
/* Numbers that were taken. Where there is no memory to remember them, they are not given again. */
void nt_ida_free(struct nt_ida *ids, uint32_t first, uint32_t count);
void nt_ida_deinit(struct nt_ida *ids);

/* ---- Epoch-based reclamation ---- */

/* Zeroed at first. */
struct nt_epoch {
    atomic_uint turn;      /* the epoch; its lowest bit selects the counter of those who enter */
    atomic_uint inside[2]; /* threads in this epoch and in the one before */
};

/* Enter the epoch; the result is for nt_epoch_exit. A thread may be in it several times. */
unsigned nt_epoch_enter(struct nt_epoch *epoch);
void nt_epoch_exit(struct nt_epoch *epoch, unsigned epoch_token);
/* Advance to the next epoch; false while a thread is in the one before the present one. One thread at a time. Nobody uses
 * then what was retired before the last advance. */
bool nt_epoch_advance(struct nt_epoch *epoch);

/* ---- Open files ---- */

/* What is made of a dataset on first use. Each has a lock of its own for its making, so that nobody waits
 * for another dataset, and for names not even for the table of their own. */
struct nt_open_dataset {
    struct nt_names *_Atomic field_names;
    struct nt_arrow *_Atomic arrow;
    atomic_uint_least64_t arrow_bytes;       /* of table.arrow; 0: not known yet */
    struct nt_blobs *_Atomic *_Atomic blobs; /* [field]; NULL: nobody asked for any */
    pthread_mutex_t names_lock, arrow_lock, blobs_lock;
};

struct nt_open_file {
    struct nt_file *file;
    uint32_t inode;            /* its inode */
    uint32_t first_dataset_id; /* of its datasets */
    struct stat stat;          /* of the source, when it was opened */
    /* Items are the directories, then the datasets. Parents are the directories, then (of linked attribute
     * sets) the datasets. */
    struct nt_names *names;
    uint32_t *children;    /* items in the order of their parents */
    uint32_t *first_child; /* of each parent, and the end of the last one's */
    struct nt_open_dataset *datasets;

    /* Guarded by the lock of the inode table: */
    uint32_t users;
    size_t descriptors;               /* of a dataset in many files, when it was idle last */
    TAILQ_ENTRY(nt_open_file) by_use; /* in `opened` or `gone` */
};

/* Takes the file, also on failure. */
enum nt_status nt_open_file_new(struct nt_file *file, struct nt_open_file **opened_ret,
                                struct nt_error *error);
void nt_open_file_free(struct nt_open_file *opened); /* accepts NULL */

/* The items below a directory, or the attribute sets of a dataset (directory_count + its index). */
const uint32_t *nt_open_file_children(const struct nt_open_file *opened, uint32_t parent,
                                      uint32_t *count_ret);

/* Append the path of an item (directory_count + index: of a dataset) below the file's own directory. False
 * where it is longer than a path may be: nobody could use it. */
bool nt_open_file_path(const struct nt_open_file *opened, uint32_t item, struct nt_buffer *path);

/* The names of a dataset's fields; item and parent are field indices. Valid as long as `opened`. */
enum nt_status nt_open_file_field_names(struct nt_open_file *opened, uint32_t dataset,
                                        const struct nt_names **names_ret, struct nt_error *error);

/* A dataset of the file, or of the one that this is the stub of, as Arrow, with the same options each time. Valid as long as `opened`. */
enum nt_status nt_open_file_arrow(struct nt_open_file *opened, struct nt_reader *reader,
                                  const struct nt_arrow_options *options, struct nt_dataset *dataset,
                                  struct nt_arrow **arrow_ret, struct nt_error *error);
/* The size of its file. Reads all page lists the first time; without `may_block` NT_NOT_FOUND then. Keeps the
 * number alone. */
enum nt_status nt_open_file_arrow_bytes(struct nt_open_file *opened, struct nt_reader *reader,
                                        const struct nt_arrow_options *options, struct nt_dataset *dataset,
                                        bool may_block, uint64_t *bytes_ret, struct nt_error *error);
/* The blobs that a field of such a dataset describes. Valid as long as `opened`. Without `may_block` NT_NOT_FOUND where nobody has asked
 * for them yet. */
enum nt_status nt_open_file_blobs(struct nt_open_file *opened, struct nt_reader *reader,
                                  struct nt_dataset *dataset, uint32_t field, bool may_block,
                                  struct nt_blobs **blobs_ret, struct nt_error *error);

/* ---- Inodes ---- */

/* A *place* is an inode: a file or directory that the mount shows. Its number never changes. Where a file is replaced,
 * its path gets a new inode, and the old one is gone: its file is closed with its last user, and handles to what was in
 * it are stale (ESTALE). An inode is freed when it is gone, or is a version that is not shown any more, and the kernel
 * has forgotten it and all that lies in it. Its number may then be given again, with another generation.
 *
 * One lock guards the table. Files are opened and closed and directories are read without it: an inode is marked while
 * one thread opens it, and others wait. Whoever uses inodes does so within a *visit*, in which none of them is freed, so
 * that pointers stay valid. All functions may be called from several threads. */

enum nt_inode_kind {
    NT_INODE_NONE,        /* there is no such inode, or nothing of it is shown */
    NT_INODE_GROUP,       /* the root of several sources */
    NT_INODE_PASSTHROUGH, /* a passthrough directory */
    NT_INODE_FILE,
    NT_INODE_FAILED, /* a file that cannot be opened */
    NT_INODE_STALE,  /* it was replaced or removed, and nothing uses its file any more */
};

/* How an inode is found. Those of the last two routes are hidden children: they are made by the first lookup, and are not
 * listed. */
enum nt_lookup_route {
    NT_ROUTE_CHILD,   /* its parent lists it, or it is a source of the mount */
    NT_ROUTE_CURRENT, /* a version, by the inode of its dataset */
    NT_ROUTE_VERSION, /* a version, by its number in versions.d */
    NT_ROUTE_FILE,    /* a file of a chain, by its name in files.d */
};

/* A file or directory by which a lookup finds out whether the version that is shown is still the present one. */
struct nt_watched {
    char *path;             /* NULL: none */
    struct stat was;        /* all zeros: it was not there */
    bool is_mtime_reliable; /* `was` is old enough for its time to tell every later change */
    uint64_t list; /* on a server: the listing that was looked at, as nt_folder_refresh counts them */
};

/* The versions of a dataset. */
struct nt_version_history {
    uint32_t shown; /* the inode of the present version; NT_NONE: it was freed, or nobody has looked yet */
    struct nt_watched watched[NT_VERSION_WATCHED]; /* to the first without a path */
    uint32_t *versions;                            /* the inodes that were made and are not freed */
    uint32_t count;
    size_t capacity;
};

SLIST_HEAD(nt_place_list, nt_inode);

struct nt_inode {
    uint32_t number;
    uint32_t generation; /* no other inode of this number has the same */
    uint32_t parent;
    uint32_t order; /* among the children of its parent; what replaces it takes its order */
    enum nt_inode_kind kind;
    enum nt_lookup_route route;
    bool is_file;          /* it is FILE, FAILED or NONE; else its kind does not change */
    bool is_probed;        /* false: nobody has opened it yet, `kind` is a guess */
    bool is_opening;       /* a thread opens it; was_opened tells when that has ended */
    bool is_gone;          /* its directory does not list it any more */
    char *path;            /* NULL: the group. On a server its address, without credentials */
    const char *disk_name; /* the last part of the path */
    char *name;            /* in the tree; NULL: none yet */
    struct stat identity;  /* of what lies at the path; of a version, of what it is read from */
    char *identity_path;   /* see nt_inode_identity_path; of a version and of a chain, whose first file it is
                            * (NULL: that is on a server) */

    /* On a server: */
    bool is_remote;
    bool is_remote_probed;    /* it is known whether it is a file or a directory */
    char *address;            /* of a source of the mount, as it is asked for; NULL: its parent lists it */
    struct nt_folder *folder; /* the directory that it is, or that a version is of; NULL: it is a file */
    struct nt_source *source; /* what was opened to find that out, until it is used; NULL: nothing */

    /* Of datasets with versions, of versions (the path is the dataset's, which is the parent), and of chains: */
    bool may_have_versions; /* false: it is known that there are none */
    struct nt_version_history *history;
    char *version; /* as in nt_open_options; NULL: none, as of a state of a dataset that has no versions */
    char *series;  /* what precedes the number in it */
    uint64_t version_number;
    struct nt_member_inodes *chain;

    /* The open file, the ids of its datasets, or why it cannot be opened: */
    struct nt_open_file *opened;
    uint32_t first_dataset_id, dataset_count;
    bool has_dataset_ids;
    struct nt_error *failure;
    struct timespec failed_at;
    uint64_t retry_after; /* nt_milliseconds() before which nobody tries again */

    /* The children of groups and passthrough directories: */
    uint32_t *children; /* in their order */
    uint32_t *by_name;  /* by disk name */
    uint32_t child_count, next_order;
    struct nt_names *names;   /* of the children, by position */
    struct timespec modified; /* of the directory when it was scanned */
    bool is_mtime_reliable;   /* `modified` is old enough to tell every later change */
    uint64_t list;      /* on a server: the listing that was scanned, as nt_folder_refresh counts them */
    uint64_t last_scan; /* the number of the scan that found the children */

    /* Reclamation: */
    uint64_t nlookup; /* the lookup count: how often the kernel, or a handle, knows it or a node in it */
    uint32_t inside;  /* inodes whose parent it is, gone ones included */
    bool is_retired;  /* it is retired: nobody finds it any more, and it is in one of the lists of these */
    SLIST_ENTRY(nt_inode) link; /* there */
};

static inline bool nt_inode_is_version(const struct nt_inode *inode)
{
    return inode->route == NT_ROUTE_CURRENT || inode->route == NT_ROUTE_VERSION;
}

static inline bool nt_inode_is_hidden(const struct nt_inode *inode)
{
    return inode->route == NT_ROUTE_VERSION || inode->route == NT_ROUTE_FILE;
}

/* The path whose stat() tells whether the file is still the one that it was. NULL: none on this machine, its source finds
 * out. */
static inline const char *nt_inode_identity_path(const struct nt_inode *inode)
{
    return inode->identity_path || inode->chain ? inode->identity_path : inode->path;
}

/* What a dataset's id stands for: a small number that is given when its file is opened for the first time. */
struct nt_dataset_ref {
    uint32_t inode, dataset;
};

struct nt_inode_table {
    pthread_mutex_t lock;
    pthread_cond_t was_opened;
    struct nt_vfs *vfs;     /* the tree: its options, its reader, its errors */
    struct nt_inode **list; /* by number; NULL: there is none */
    uint32_t count;
    uint32_t source_count; /* the first ones are the sources of the mount */
    size_t capacity;       /* of the list */
    struct nt_ida ids;
    struct nt_dataset_ref *dataset_refs;
    uint32_t dataset_count;
    size_t dataset_capacity;
    struct nt_ida dataset_ids;
    uint64_t scans; /* counts scans of directories as they begin */

    /* Open files: */
    TAILQ_HEAD(nt_open_files, nt_open_file) opened; /* the one that was used last comes first */
    struct nt_open_files gone;                      /* those of inodes that are gone, until they are closed */
    uint32_t open_count;                            /* of both */
    size_t descriptors;                             /* of those in `opened` that are datasets in many files */
    size_t max_descriptors;                         /* that the process may have */
    pthread_t closer;
    bool has_closer, closer_must_end;
    pthread_cond_t has_idle;

    /* Reclamation: */
    struct nt_epoch epoch;
    struct nt_place_list retired; /* retired in this epoch */
    struct nt_place_list waiting; /* retired in the one before */
    atomic_bool has_retired;      /* one of the two is not empty */
    uint32_t freed;               /* counts the inodes that were freed */
};

/* A new place. Under the lock. */
enum nt_status nt_inodes_add(struct nt_inode_table *inodes, uint32_t parent, const char *path,
                             enum nt_inode_kind kind, struct nt_inode **place_ret, struct nt_error *error);
/* Set the identity of a new inode. */
void nt_inode_set_identity(struct nt_inode *inode, const struct stat *identity);
/* The same for one on a server: the attributes that a listing gave of a file. NULL, or anything but a file: nothing is known before
 * it is opened. */
void nt_inode_set_remote_identity(struct nt_inode *inode, const struct stat *listed);
/* The inode of a number; NULL: there is none. */
struct nt_inode *nt_inodes_get(struct nt_inode_table *inodes, uint32_t number);
/* Remember why nothing of it can be shown. The second also notes that it was probed, unless the failure may pass. Under the lock. */
void nt_inode_fail(struct nt_inode *inode, const struct nt_error *error);
void nt_inode_fail_probe(struct nt_inode *inode, const struct nt_error *error);
/* Replace a string of an inode, which is from malloc. */
enum nt_status nt_inode_set_text(char **text, const char *value, struct nt_error *error);
/* Whether its server was unreachable a moment ago: another attempt would only wait as long. Under the lock. */
bool nt_inode_in_backoff(const struct nt_inode *inode);
/* Whether it, or a directory above it, is gone. Under the lock. */
bool nt_inode_is_stale(const struct nt_inode_table *inodes, const struct nt_inode *inode);
/* The inode whose directory shows the files of an inode: of the version that is shown its dataset, else itself. */
uint32_t nt_inodes_dataset_inode(struct nt_inode_table *inodes, uint32_t number);

/* Take `children` (from malloc) as those of a group or folder. Under the lock. */
enum nt_status nt_inodes_set_children(struct nt_inode_table *inodes, struct nt_inode *folder,
                                      uint32_t *children, uint32_t count, struct nt_error *error);
/* The first child of a group or folder with an order of at least *order, which is set to its order; NT_NONE. */
uint32_t nt_inodes_next(struct nt_inode_table *inodes, uint32_t number, uint32_t *order);

/* The name of a place in the tree. */
void nt_inodes_name(struct nt_inode_table *inodes, uint32_t number, char name_ret[NT_NAME_BYTES + 1]);
/* Whether the inode, or what it shows, may be removed or replaced while mounted. */
bool nt_inodes_is_passthrough(struct nt_inode_table *inodes, uint32_t number);
/* ---- Sources: mount_sources.c ---- */

/* Places for the paths, as those of the tree. A single path is place 0, the root; several are the children of place 0. Fails
 * where nothing can be opened, with the first one's reason. */
enum nt_status nt_inodes_new(struct nt_vfs *vfs, const char *const *paths, size_t path_count,
                             struct nt_error *error);
void nt_inodes_free(struct nt_inode_table *inodes); /* accepts NULL */
/* Whether something of a path that was given can be shown; why not. Looks at a folder's files until one opens,
 * or so many did not that it says nothing. */
enum nt_status nt_inodes_try(struct nt_inode_table *inodes, uint32_t number, struct nt_error *error);

/* ---- Passthrough directories: passthrough.c ---- */

/* Attributes of the file or folder behind the place, as it is now. */
enum nt_status nt_inodes_stat(struct nt_inode_table *inodes, uint32_t number, struct stat *attributes,
                              struct nt_error *error);
/* Look at a folder's files again. Nothing to do for a group. */
enum nt_status nt_inodes_scan(struct nt_inode_table *inodes, uint32_t number, struct nt_error *error);
/* A child of a group or folder by name, as the disk is now. NT_NOT_FOUND. */
enum nt_status nt_inodes_find(struct nt_inode_table *inodes, uint32_t number, const char *name,
                              uint32_t *place_ret, struct nt_error *error);

/* ---- Lookup counts and reclamation ---- */

/* The end of a visit (nt_epoch_enter). All that works with places does so in one: none of those that it finds is freed
 * before the visit ends. */
void nt_inodes_exit(struct nt_inode_table *inodes, unsigned epoch_token);
/* Add one to the lookup count of an inode, for the inode or a node in it; take `times` off. */
void nt_inodes_ref(struct nt_inode_table *inodes, uint32_t number);
void nt_inodes_forget(struct nt_inode_table *inodes, uint32_t number, uint64_t times);
/* Its directory does not list it any more: it is gone, and so is all in it. Under the lock. */
void nt_inodes_unlink(struct nt_inode_table *inodes, struct nt_inode *inode);
/* Something ended that may have been the last use of an inode; the second: of any. Inodes that are gone, and versions that are not
 * shown, are retired if nobody knows them, and freed when all who are in the epoch have left. Under the lock. */
void nt_inodes_retire(struct nt_inode_table *inodes, struct nt_inode *inode);
void nt_inodes_retire_all(struct nt_inode_table *inodes);
/* The thread that opened it is done: wake those who wait. Under the lock. */
void nt_inode_end_opening(struct nt_inode_table *inodes, struct nt_inode *inode);
/* Whether an inode is retired. Under the lock. */
bool nt_inodes_is_retired(const struct nt_inode_table *inodes, uint32_t number);
/* Nobody else uses it. */
void nt_inode_free(struct nt_inode *inode);

/* ---- Closing files: open_table.c ---- */

/* Set the limit of open descriptors by the process's own, at the start. */
void nt_inodes_limit_open(struct nt_inode_table *inodes);
/* Close the unused files of inodes that are gone, and idle files where too many are open. Under the lock, which may be given up
 * meanwhile. */
void nt_inodes_close_stale(struct nt_inode_table *inodes);
/* Whether all inodes are open files (or their group) that will stay open. */
bool nt_inodes_all_stay_open(struct nt_inode_table *inodes);
/* End the thread, then close all files. Nothing uses them. */
void nt_inodes_close_all(struct nt_inode_table *inodes);

/* ---- Members of a chain ---- */

#define NT_CHAIN_FILES "files.d"                            /* the directory that they are found in */
void nt_member_inodes_free(struct nt_member_inodes *chain); /* accepts NULL */

/* What a file of the list is called in files.d. */
const char *nt_member_inodes_name(const struct nt_member_inodes *chain, uint32_t file);
/* The file of a name, of the chain that a place is. NT_NOT_FOUND. Not under the lock. */
enum nt_status nt_member_inodes_find(struct nt_inode_table *inodes, uint32_t number, const char *name,
                                     uint32_t *place_ret, struct nt_error *error);

/* ---- Local directories ---- */

struct nt_local_entry {
    char *name;
    struct stat stat;
    bool is_folder; /* to be mirrored; else a file or a folder that is a dataset */
};

enum nt_status nt_local_stat(const char *path, struct stat *attributes, struct nt_error *error);
/* Same inode, size and times of modification. */
bool nt_local_is_same(const struct stat *left, const struct stat *right);
/* The same of what may be a folder, whose entries are then those that it had. Its time of modification tells that only if it
 * was settled: older than the clock's step. */
bool nt_local_is_unchanged(const struct stat *left, const struct stat *right);
bool nt_local_mtime_is_reliable(const struct stat *attributes);

/* The files and folders in a folder, by name. Hidden ones, special files and links to folders are omitted.
 */
enum nt_status nt_local_list(const char *path, struct nt_local_entry **entries_ret, size_t *count_ret,
                             struct nt_error *error);
/* The same of a folder on a server. What its folders are is not known before they are asked for: none of them is told to be mirrored. */
enum nt_status nt_local_list_folder(struct nt_folder *folder, struct nt_local_entry **entries_ret,
                                    size_t *count_ret, struct nt_error *error);
/* NT_OK where a path, which begins with the folder's, leads to what lies beneath it; else which link leads out. */
enum nt_status nt_local_check_beneath(const char *folder, const char *path, struct nt_error *error);
void nt_local_entries_free(struct nt_local_entry *entries, size_t count);

/* ---- Remote inodes ---- */

/* Whether it is in a passthrough directory on a server, whose list tells that it is there. Under the lock. */
bool nt_inode_is_listed(const struct nt_inode_table *inodes, const struct nt_inode *inode);

/* Whether it is in such a folder; and whether it was probed: else only what the list tells of it is known, and it is shown as
 * a directory, whatever it is. Of a probed one the server may have to be asked what it is now. */
bool nt_places_is_listed(struct nt_inode_table *inodes, uint32_t number, bool *is_probed_ret);

/* Probe an inode on a server: is it a file or a directory? False where that failed, as the inode tells. Under the lock, which is
 * given up meanwhile. */
bool nt_inode_probe_remote(struct nt_inode_table *inodes, struct nt_inode *inode);

/* Not under the lock: the source of a file, or of a folder that is a dataset; what it is now, for comparison with the place's identity. */
enum nt_status nt_inode_open_source(struct nt_inode_table *inodes, struct nt_inode *inode,
                                    struct nt_source **source_ret, struct nt_error *error);
enum nt_status nt_inode_stat_remote(struct nt_inode_table *inodes, const struct nt_inode *inode,
                                    struct stat *attributes, struct nt_error *error);

/* ---- Versions of a dataset ---- */

/* The place whose files are shown at a place, as the disk is now: its own, or its present version's; NULL where the place
 * has failed, as it tells. Under the lock, which may be given up meanwhile. */
struct nt_inode *nt_history_current(struct nt_inode_table *inodes, struct nt_inode *inode);

/* The version of a number, for versions.d, of the dataset that another version is of. NT_NOT_FOUND. Not under the lock. */
enum nt_status nt_history_find(struct nt_inode_table *inodes, uint32_t version, uint64_t number,
                               uint32_t *version_ret, struct nt_error *error);

/* ---- Opening files ---- */

/* The kind of an inode. Opens a file that was not probed. What a directory on a server lists is NT_INODE_FILE until it is probed. */
enum nt_inode_kind nt_inodes_kind(struct nt_inode_table *inodes, uint32_t number);
/* Why the inode failed; returns the failure's status. */
enum nt_status nt_inodes_failure(struct nt_inode_table *inodes, uint32_t number, struct nt_error *error);
struct timespec nt_inodes_failed_at(struct nt_inode_table *inodes, uint32_t number);

/* The kind of an inode, and its open file, which is opened if need be and released by the caller; NULL where it is none.
 * *shown_ret is the inode of the file: of a dataset with versions that of the present one. */
enum nt_inode_kind nt_inodes_acquire(struct nt_inode_table *inodes, uint32_t number, uint32_t *shown_ret,
                                     struct nt_open_file **opened_ret);
/* The same by the id of a dataset, which is returned; NT_INODE_NONE for an id that was not given. */
enum nt_inode_kind nt_inodes_acquire_dataset(struct nt_inode_table *inodes, uint32_t dataset_id,
                                             struct nt_dataset_ref *dataset_id_ret,
                                             struct nt_open_file **opened_ret);
void nt_inodes_release(struct nt_inode_table *inodes, struct nt_open_file *opened); /* accepts NULL */

/* The inode that a node belongs to; false for nodes of .ntuplefs and for numbers that were not given. */
bool nt_inodes_of_node(struct nt_inode_table *inodes, uint64_t number, uint32_t *place_ret);
/* The id of a dataset whose file is open. */
bool nt_inodes_dataset_id(struct nt_inode_table *inodes, const struct nt_dataset *dataset,
                          uint32_t *dataset_id_ret);

/* The id of the dataset of the version that is shown, given any version of it; false where it has none. */
bool nt_inodes_current_dataset_id(struct nt_inode_table *inodes, uint32_t version, uint32_t *dataset_id_ret);

/* The total size of the files that were found so far. */
uint64_t nt_inodes_bytes(struct nt_inode_table *inodes);

#endif
