/* SPDX-License-Identifier: MIT
 *
 * The inode table of a tree: its local and remote files, directories, versions and chain members, with
 * their open files. One lock protects the table; threads open files and read directories without it.
 */
#pragma once

#include "chain/chain.h"
#include "core/base/hash_table.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include "formats/formats.h"
#include "read/read.h"
#include "render/arrow/arrow.h"
#include "vfs/tree.h"

struct nt_member_inodes;
struct nt_names;

/* ---- Unique file names ---- */

enum { NT_NAME_BYTES = 255 }; /* longest name on Linux */

/* The preferred name of an item. */
struct nt_name_request {
    uint32_t parent; /* the directory of the item; names are unique within it */
    struct nt_text text;
    enum nt_name_rule rule;
    const char *prefix; /* "attribute." or "" */
    uint32_t cycle;     /* not 0: an older cycle; the name gets the suffix ";<cycle>" */
};
typedef void nt_name_ask(const void *context, uint32_t item, struct nt_name_request *request);

/* Assigns natural names first. Then generated names (truncated, older cycles, duplicates) take the
 * first free variant. The texts must outlive the names. */
enum nt_status nt_names_build(uint32_t count, nt_name_ask *ask, const void *context,
                              struct nt_names **names_ret, struct nt_error *error);
void nt_names_free(struct nt_names *names); /* accepts NULL */
NT_DEFINE_CLEANUP(struct nt_names, nt_names_free)
const char *nt_names_get(const struct nt_names *names, uint32_t item);
uint32_t nt_names_parent(const struct nt_names *names, uint32_t item);
/* Returns the item with this name in a directory, or NT_NONE. */
uint32_t nt_names_find(const struct nt_names *names, uint32_t parent, const char *name);

/* Parses a decimal number (without leading zeros) between a prefix and a suffix. */
bool nt_parse_between(const char *name, const char *prefix, const char *suffix, uint64_t *number_ret);

/* ---- Id allocation ---- */

struct nt_ida_range {
    uint32_t first, count;
};

/* Zero-initialized except for the limit. The owner's lock protects it. */
struct nt_ida {
    uint32_t limit, used; /* numbers are below `limit`; those from `used` on were never allocated */
    struct nt_ida_range *free;
    size_t free_count, capacity;
};

/* Allocates consecutive numbers; false if too few are left. */
bool nt_ida_alloc(struct nt_ida *ids, uint32_t count, uint32_t *first_ret);
/* Frees numbers. If memory is too short to record them, they are never reused. */
void nt_ida_free(struct nt_ida *ids, uint32_t first, uint32_t count);
void nt_ida_deinit(struct nt_ida *ids);

/* ---- Epoch-based reclamation ---- */

/* Initialize with zeros. */
struct nt_epoch {
    atomic_uint current;   /* the epoch; its lowest bit selects the counter for new entries */
    atomic_uint inside[2]; /* threads in this epoch and in the previous one */
};

/* Enters the epoch; pass the result to nt_epoch_exit. A thread may enter several times. */
unsigned nt_epoch_enter(struct nt_epoch *epoch);
void nt_epoch_exit(struct nt_epoch *epoch, unsigned epoch_token);
/* Advances to the next epoch. Returns false while a thread is in the previous one. One thread at a time
 * may call it. After success, no thread uses objects that were retired before the last advance. */
bool nt_epoch_advance(struct nt_epoch *epoch);

/* ---- Open files ---- */

/* Per-dataset data, built on first use. Each object has its own construction lock: threads never wait
 * for another dataset, and names never wait for the Arrow table. */
struct nt_open_dataset {
    struct nt_names *_Atomic field_names;
    struct nt_arrow *arrow; /* it and its users are guarded by its lock */
    uint32_t arrow_users;
    atomic_uint_least64_t arrow_bytes;       /* of table.arrow; 0: unknown */
    struct nt_blobs *_Atomic *_Atomic blobs; /* [field]; NULL: not built yet */
    pthread_mutex_t names_lock, arrow_lock, blobs_lock;
};

struct nt_open_file {
    struct nt_file *file;
    uint32_t inode;
    uint32_t first_dataset_id; /* of its datasets */
    struct stat stat;          /* of the source at the time of opening */
    /* Items are the directories, then the datasets. Parents are the directories, then (for linked
     * attribute sets) the datasets. */
    struct nt_names *names;
    uint32_t *children;    /* items in the order of their parents */
    uint32_t *first_child; /* of each parent, plus the end of the last */
    struct nt_open_dataset *datasets;

    /* The lock of the inode table guards these: */
    bool is_shared;    /* others have, or had, the same `file`: a version found by different routes */
    bool borrows_file; /* does not close `file`: a sharer does */
    uint32_t users;
    size_t descriptors;               /* of a multi-file dataset, when it was last idle */
    TAILQ_ENTRY(nt_open_file) by_use; /* in `opened` or `gone` */
};

/* Takes ownership of the file, even on failure, unless `borrows_file`. */
enum nt_status nt_open_file_new(struct nt_file *file, bool borrows_file, struct nt_open_file **opened_ret,
                                struct nt_error *error);
void nt_open_file_free(struct nt_open_file *opened); /* accepts NULL */
NT_DEFINE_CLEANUP(struct nt_open_file, nt_open_file_free)

/* The items below a directory, or the attribute sets of a dataset (directory_count + index). */
const uint32_t *nt_open_file_children(const struct nt_open_file *opened, uint32_t parent,
                                      uint32_t *count_ret);

/* Appends the path of an item (of a dataset: directory_count + index) below the file's directory.
 * Returns false if it exceeds the longest valid path. */
bool nt_open_file_path(const struct nt_open_file *opened, uint32_t item, struct nt_buffer *path);

/* The names of a dataset's fields; item and parent are field indices. Valid as long as `opened`. */
enum nt_status nt_open_file_field_names(struct nt_open_file *opened, uint32_t dataset,
                                        const struct nt_names **names_ret, struct nt_error *error);

/* ---- Inodes ---- */

/* An inode is a file or directory that the mount shows. Its number never changes. When a file is
 * replaced, its path gets a new inode and the old one is gone: its file closes with its last user, and
 * handles to nodes in it are stale (ESTALE). A gone inode, or a version that is no longer shown, is
 * freed when the kernel has forgotten it and all nodes in it. Its number may then be reused with
 * another generation.
 *
 * One lock guards the table. Threads open and close files and read directories without it: one thread
 * marks an inode while it opens it, and others wait. Code that uses inodes must be inside the epoch
 * (nt_epoch_enter ... nt_inodes_exit). No inode is freed in that section, so pointers stay valid. All
 * functions are thread-safe. */

enum nt_inode_kind {
    NT_INODE_NONE,        /* no such inode, or nothing to show */
    NT_INODE_GROUP,       /* the root of several sources */
    NT_INODE_PASSTHROUGH, /* a passthrough directory */
    NT_INODE_FILE,
    NT_INODE_FAILED, /* a file that fails to open */
    NT_INODE_STALE,  /* replaced or removed, and its file is unused */
};

/* How a lookup finds an inode. The last two routes lead to hidden children: the first lookup creates
 * them, and listings omit them. */
enum nt_lookup_route {
    NT_ROUTE_CHILD,   /* its parent lists it, or it is a source of the mount */
    NT_ROUTE_CURRENT, /* a version, by the inode of its dataset */
    NT_ROUTE_VERSION, /* a version, by its number in versions.d */
    NT_ROUTE_FILE,    /* a file of a chain, by its name in files.d */
};

/* A file or directory that a lookup checks to learn whether the shown version is still current. */
struct nt_watched {
    char *name;             /* relative to the dataset; NULL: none */
    struct stat was;        /* all zeros: it did not exist */
    bool is_mtime_reliable; /* `was` is old enough for its mtime to reveal every later change */
    uint64_t list;          /* remote: number of the listing, as counted by nt_folder_refresh */
};

/* The versions of a dataset. */
struct nt_version_history {
    uint32_t shown; /* inode of the current version; NT_NONE: freed or not looked up yet */
    struct nt_watched watched[NT_VERSION_WATCHED]; /* ends at the first without a name */
    struct nt_hash_table versions;                 /* inodes that exist; key: version_number */
    uint64_t *listed;                              /* numbers of the latest listing, ascending */
    size_t listed_count;
};

SLIST_HEAD(nt_inode_list, nt_inode);

struct nt_inode {
    uint32_t number;
    uint32_t generation; /* differs for each inode that uses this number */
    uint32_t parent;
    uint32_t order; /* among the siblings; a replacement keeps it */
    enum nt_inode_kind kind;
    enum nt_lookup_route route;
    bool is_file;          /* `kind` is FILE, FAILED or NONE; otherwise it never changes */
    bool is_probed;        /* false: not opened yet, `kind` is a guess */
    bool is_opening;       /* a thread is opening it; was_opened signals the end */
    bool is_gone;          /* its directory no longer lists it */
    char *path;            /* NULL: the group. Remote: the URL without credentials */
    const char *disk_name; /* the last component of `path` */
    char *name;            /* in the tree; NULL: none yet */
    struct stat identity;  /* of the file at `path`; of a version, of the file it is read from */
    char *identity_path;   /* see nt_inode_identity_path; of versions and chains (first file; NULL:
                            * remote) */

    /* For remote inodes: */
    bool is_remote;
    bool is_remote_probed;    /* it is known to be a file or a directory */
    char *address;            /* URL of a mount source; NULL: its parent lists it */
    struct nt_folder *folder; /* this directory, or the dataset of a version; NULL: a file */
    struct nt_source *source; /* opened by the probe, until it is used; NULL: none */

    /* For datasets with versions, for versions (path and parent are the dataset's), and for chains: */
    bool may_have_versions; /* false: known to have none */
    struct nt_version_history *history;
    char *version; /* as in nt_open_options; NULL: none, e.g. a dataset without versions */
    char *series;  /* the part before the number in `version` */
    uint64_t version_number;
    struct nt_hash_link by_version; /* of a version: in the dataset's history */
    struct nt_member_inodes *chain;

    /* The open file, the ids of its datasets, or the reason why it fails to open: */
    struct nt_open_file *opened;
    uint32_t first_dataset_id, dataset_count;
    struct nt_error *failure;
    struct timespec failed_at;
    uint64_t retry_after; /* nt_milliseconds(); no retry before */

    /* The children of groups and passthrough directories: */
    uint32_t *children; /* in their order */
    uint32_t *by_name;  /* by disk name */
    uint32_t child_count, next_order;
    struct nt_names *names;   /* of the children, by position */
    struct timespec modified; /* mtime of the directory at the scan */
    bool is_mtime_reliable;   /* `modified` is old enough to reveal every later change */
    uint64_t list;            /* remote: the scanned listing, as counted by nt_folder_refresh */
    uint64_t last_scan;       /* number of the scan that found the children */

    /* Reclamation: */
    uint64_t nlookup;           /* lookup count: of the kernel and of handles, for it and its nodes */
    uint32_t inside;            /* inodes with this parent, including gone ones */
    bool is_retired;            /* no lookup finds it; it is in `retired` or `waiting` */
    SLIST_ENTRY(nt_inode) link; /* in that list */
};

static inline bool nt_inode_is_version(const struct nt_inode *inode)
{
    return inode->route == NT_ROUTE_CURRENT || inode->route == NT_ROUTE_VERSION;
}

static inline bool nt_inode_is_hidden(const struct nt_inode *inode)
{
    return inode->route == NT_ROUTE_VERSION || inode->route == NT_ROUTE_FILE;
}

/* The path whose stat() detects a replaced file. NULL: not local; its source checks instead. */
static inline const char *nt_inode_identity_path(const struct nt_inode *inode)
{
    return inode->identity_path || inode->chain ? inode->identity_path : inode->path;
}

/* The target of a dataset id: a small number, allocated when the file opens for the first time. */
struct nt_dataset_ref {
    uint32_t inode, dataset;
};

struct nt_inode_table {
    pthread_mutex_t lock;
    pthread_cond_t was_opened;
    struct nt_vfs *vfs;     /* the tree: options, reader, errors */
    struct nt_inode **list; /* by number; NULL: unused */
    uint32_t count;
    uint32_t source_count; /* the first inodes are the sources of the mount */
    size_t capacity;       /* of `list` */
    struct nt_ida ids;
    struct nt_dataset_ref *dataset_refs;
    uint32_t dataset_count;
    size_t dataset_capacity;
    struct nt_ida dataset_ids;
    uint64_t scans; /* numbers the directory scans */

    /* Open files: */
    TAILQ_HEAD(nt_open_files, nt_open_file) opened; /* most recently used first */
    struct nt_open_files gone;                      /* of gone inodes, until they close */
    uint32_t open_count;                            /* in both lists */
    size_t descriptors;                             /* of multi-file datasets in `opened` */
    size_t max_descriptors;                         /* limit for the process */
    pthread_t closer;
    bool has_closer, closer_must_end;
    pthread_cond_t has_idle;

    /* Reclamation: */
    struct nt_epoch epoch;
    struct nt_inode_list retired; /* in this epoch */
    struct nt_inode_list waiting; /* in the previous epoch */
    atomic_bool has_retired;      /* `retired` or `waiting` is not empty */
    uint32_t freed;               /* counts freed inodes */
};

/* Adds an inode. Call it under the lock. */
enum nt_status nt_inodes_add(struct nt_inode_table *inodes, uint32_t parent, const char *path,
                             enum nt_inode_kind kind, struct nt_inode **inode_ret, struct nt_error *error);
/* Sets the identity of a new inode. */
void nt_inode_set_identity(struct nt_inode *inode, const struct stat *identity);
/* The same for a remote inode, from the attributes in a listing. If they are NULL or not those of a
 * file, nothing is known until the inode is opened. */
void nt_inode_set_remote_identity(struct nt_inode *inode, const struct stat *listed);
/* Returns the inode with this number, or NULL. */
struct nt_inode *nt_inodes_get(struct nt_inode_table *inodes, uint32_t number);
/* Record why an inode cannot be shown. The second also marks it as probed, unless the failure is
 * temporary. Call them under the lock. */
void nt_inode_fail(struct nt_inode *inode, const struct nt_error *error);
void nt_inode_fail_probe(struct nt_inode *inode, const struct nt_error *error);
/* Replaces a string of an inode, which comes from malloc. */
enum nt_status nt_inode_set_text(char **text, const char *value, struct nt_error *error);
/* Was its server unreachable a moment ago? A retry would time out again. Called under the lock. */
bool nt_inode_in_backoff(const struct nt_inode *inode);
/* Is the inode, or a directory above it, gone? Call it under the lock. */
bool nt_inode_is_stale(const struct nt_inode_table *inodes, const struct nt_inode *inode);
/* The inode whose directory shows an inode's files: the dataset for the shown version, else itself. */
uint32_t nt_inodes_dataset_inode(struct nt_inode_table *inodes, uint32_t number);

/* On success, takes `children` (from malloc) as those of a group or directory. Under the lock. */
enum nt_status nt_inodes_set_children(struct nt_inode_table *inodes, struct nt_inode *folder,
                                      uint32_t *children, uint32_t count, struct nt_error *error);
/* The first child with an order of at least *order, which is set to its order; or NT_NONE. */
uint32_t nt_inodes_next(struct nt_inode_table *inodes, uint32_t number, uint32_t *order);

/* The name of an inode in the tree. */
void nt_inodes_name(struct nt_inode_table *inodes, uint32_t number, char name_ret[NT_NAME_BYTES + 1]);
/* Can the inode, or its content, be removed or replaced while mounted? */
bool nt_inodes_is_passthrough(struct nt_inode_table *inodes, uint32_t number);
/* ---- Sources: mount_sources.c ---- */

/* Creates the inode table with inodes for the paths. A single path becomes inode 0, the root. Several
 * become children of inode 0. If nothing opens, fails with the reason of the first. */
enum nt_status nt_inodes_new(struct nt_vfs *vfs, const char *const *paths, size_t path_count,
                             struct nt_error *error);
void nt_inodes_free(struct nt_inode_table *inodes); /* accepts NULL */
/* Checks that a source path has something to show, and reports why not. Checks a directory's files
 * until one opens, or until too many failed to conclude anything. */
enum nt_status nt_inodes_check_source(struct nt_inode_table *inodes, uint32_t number, struct nt_error *error);

/* ---- Passthrough directories: passthrough.c ---- */

/* Returns the current attributes of the inode's file or directory. */
enum nt_status nt_inodes_stat(struct nt_inode_table *inodes, uint32_t number, struct stat *attributes,
                              struct nt_error *error);
/* Scans a directory again. Does nothing for a group. */
enum nt_status nt_inodes_scan(struct nt_inode_table *inodes, uint32_t number, struct nt_error *error);
/* Finds a child of a group or directory by name, in the current state of the disk; or NT_NOT_FOUND. */
enum nt_status nt_inodes_find(struct nt_inode_table *inodes, uint32_t number, const char *name,
                              uint32_t *inode_ret, struct nt_error *error);

/* ---- Lookup counts and reclamation ---- */

/* Leaves the section that nt_epoch_enter started. Code that works with inodes runs in such a section:
 * no inode that it finds is freed before the end. */
void nt_inodes_exit(struct nt_inode_table *inodes, unsigned epoch_token);
/* Adds 1 to, or subtracts `times` from, the lookup count of an inode, which also counts its nodes. */
void nt_inodes_ref(struct nt_inode_table *inodes, uint32_t number);
void nt_inodes_forget(struct nt_inode_table *inodes, uint32_t number, uint64_t times);
/* Marks an inode that is no longer listed, and all inodes in it, as gone. Call it under the lock. */
void nt_inodes_unlink(struct nt_inode_table *inodes, struct nt_inode *inode);
/* The last use of an inode (the second: of any inode) may have ended. Retires inodes that are gone and
 * versions that are not shown, if the kernel and handles have forgotten them. They are freed after all
 * threads in the epoch have left. Call them under the lock. */
void nt_inodes_retire(struct nt_inode_table *inodes, struct nt_inode *inode);
void nt_inodes_retire_all(struct nt_inode_table *inodes);
/* The opening thread has finished: wakes the waiting threads. Call it under the lock. */
void nt_inode_end_opening(struct nt_inode_table *inodes, struct nt_inode *inode);
/* Is an inode retired? Call it under the lock. */
bool nt_inodes_is_retired(const struct nt_inode_table *inodes, uint32_t number);
/* The caller must be the only user. */
void nt_inode_free(struct nt_inode *inode);

/* ---- Closing files: open_table.c ---- */

/* Sets the limit for open descriptors from that of the process. Called at startup. */
void nt_inodes_limit_open(struct nt_inode_table *inodes);
/* Closes the unused files of gone inodes, and idle files if too many are open. Call it under the lock,
 * which it may release meanwhile. */
void nt_inodes_close_stale(struct nt_inode_table *inodes);
/* Stops the closer thread, then closes all files. They must be unused. */
void nt_inodes_close_all(struct nt_inode_table *inodes);

/* ---- Members of a chain ---- */

#define NT_CHAIN_FILES "files.d"                            /* the directory of the members */
void nt_member_inodes_free(struct nt_member_inodes *chain); /* accepts NULL */

/* The name in files.d of a file of the list. */
const char *nt_member_inodes_name(const struct nt_member_inodes *chain, uint32_t file);
/* Finds a file by name in the chain at an inode; or NT_NOT_FOUND. Call it without the lock. */
enum nt_status nt_member_inodes_find(struct nt_inode_table *inodes, uint32_t number, const char *name,
                                     uint32_t *inode_ret, struct nt_error *error);

/* ---- Local directories ---- */

struct nt_local_entry {
    char *name;
    struct stat stat;
    bool is_folder; /* a passthrough directory; else a file or a directory that is a dataset */
};

enum nt_status nt_local_stat(const char *path, struct stat *attributes, struct nt_error *error);
/* Same inode; for a file, also the same size and modification times. */
bool nt_local_is_same(const struct stat *left, const struct stat *right);
/* The same for a path that may be a directory, whose entries are then unchanged. This holds only if the
 * mtime was reliable: older than the clock's resolution. */
bool nt_local_is_unchanged(const struct stat *left, const struct stat *right);
bool nt_local_mtime_is_reliable(const struct stat *attributes);

/* Lists the files and directories in a directory, sorted by name. Omits hidden ones, special files and
 * links to directories; with `data_files` (else NULL), files whose bytes show that these options open
 * none of them. */
enum nt_status nt_local_list(const char *path, const struct nt_open_options *data_files,
                             struct nt_local_entry **entries_ret, size_t *count_ret, struct nt_error *error);
/* Does such a list have this file? */
bool nt_local_has_data_file(const char *path, const char *name, const struct nt_open_options *options);
/* Are there more entries, of any kind? */
bool nt_local_has_more(const char *path, unsigned count);
/* The same for a remote directory. The types of its subdirectories are unknown until they are probed,
 * so no entry is marked as a passthrough directory. */
enum nt_status nt_local_list_folder(struct nt_folder *folder, struct nt_local_entry **entries_ret,
                                    size_t *count_ret, struct nt_error *error);
/* Returns NT_OK if a path that starts with the directory's stays beneath it. Otherwise the error names
 * the link that leaves it. */
enum nt_status nt_local_check_beneath(const char *folder, const char *path, struct nt_error *error);
void nt_local_entries_free(struct nt_local_entry *entries, size_t count);

/* ---- Remote inodes ---- */

/* Is it in a remote passthrough directory, whose listing proves its existence? Under the lock. */
bool nt_inode_is_listed(const struct nt_inode_table *inodes, const struct nt_inode *inode);

/* Is it in such a directory, and is it probed? Before the probe only the listing is known, and the
 * inode looks like a directory. After it, the server may have to be asked for the current type. */
bool nt_inodes_is_listed(struct nt_inode_table *inodes, uint32_t number, bool *is_probed_ret);

/* Probes a remote inode: is it a file or a directory? On failure, returns false and records it in the
 * inode. Call it under the lock, which it releases meanwhile. */
bool nt_inode_probe_remote(struct nt_inode_table *inodes, struct nt_inode *inode);

/* Open the source of a file or of a directory that is a dataset, or return its current attributes for
 * comparison with the inode's identity. Call them without the lock. */
enum nt_status nt_inode_open_source(struct nt_inode_table *inodes, struct nt_inode *inode,
                                    struct nt_source **source_ret, struct nt_error *error);
enum nt_status nt_inode_stat_remote(struct nt_inode_table *inodes, const struct nt_inode *inode,
                                    struct stat *attributes, struct nt_error *error);

/* ---- Versions of a dataset ---- */

/* Returns the inode whose files are shown at an inode, in the current state of the disk: itself, or its
 * current version. NULL: the inode has failed, and holds the failure. Call it under the lock, which it
 * may release meanwhile. */
struct nt_inode *nt_history_current(struct nt_inode_table *inodes, struct nt_inode *inode);

/* Finds a version by number, for versions.d, of the dataset that another version belongs to; or
 * NT_NOT_FOUND. Call it without the lock. */
enum nt_status nt_history_find(struct nt_inode_table *inodes, uint32_t version, uint64_t number,
                               uint32_t *version_ret, struct nt_error *error);

/* Another inode of the same version, found by another route; NULL: none. Call it under the lock. */
struct nt_inode *nt_history_twin(struct nt_inode_table *inodes, const struct nt_inode *inode);

/* Looks which versions there are in the history of a version, for a listing; the latest
 * NT_MAX_VERSIONS. Call it without the lock. */
enum { NT_MAX_VERSIONS = 10000 };
enum nt_status nt_history_list(struct nt_inode_table *inodes, uint32_t version,
                               const struct nt_dataset *dataset, struct nt_error *error);
/* Sets *number to the first listed number of at least *number; false: none. Likewise. */
bool nt_history_next(struct nt_inode_table *inodes, uint32_t version, uint64_t *number);

/* ---- Opening files ---- */

/* The kind of an inode. Opens a file that is not probed. An entry of a remote directory is
 * NT_INODE_FILE until it is probed. */
enum nt_inode_kind nt_inodes_kind(struct nt_inode_table *inodes, uint32_t number);
/* Returns the failure of the inode and its status. */
enum nt_status nt_inodes_failure(struct nt_inode_table *inodes, uint32_t number, struct nt_error *error);
struct timespec nt_inodes_failed_at(struct nt_inode_table *inodes, uint32_t number);

/* Returns the kind of an inode and its open file, or NULL. Opens the file if necessary; the caller
 * releases it. *shown_ret is the inode of the file: the current version of a dataset with versions. */
enum nt_inode_kind nt_inodes_acquire(struct nt_inode_table *inodes, uint32_t number, uint32_t *shown_ret,
                                     struct nt_open_file **opened_ret);
/* The same by dataset id; also returns the dataset's reference. NT_INODE_NONE for an unknown id. */
enum nt_inode_kind nt_inodes_acquire_dataset(struct nt_inode_table *inodes, uint32_t dataset_id,
                                             struct nt_dataset_ref *dataset_ref_ret,
                                             struct nt_open_file **opened_ret);
void nt_inodes_release(struct nt_inode_table *inodes, struct nt_open_file *opened); /* accepts NULL */

/* Returns the inode of a node; false for nodes of .ntuplefs and unknown numbers. */
bool nt_inodes_of_node(struct nt_inode_table *inodes, uint64_t number, uint32_t *inode_ret);
/* The id of a dataset whose file is open. */
bool nt_inodes_dataset_id(struct nt_inode_table *inodes, const struct nt_dataset *dataset,
                          uint32_t *dataset_id_ret);

/* The dataset id of the shown version, given any version of it; false if it has none. */
bool nt_inodes_current_dataset_id(struct nt_inode_table *inodes, uint32_t version, uint32_t *dataset_id_ret);
