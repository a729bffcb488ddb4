/* SPDX-License-Identifier: MIT
 *
 * Folders: directories, local or remote, whose files are sources. Declares folder operations, opening
 * beneath a directory, and permission checks.
 */
#ifndef NT_CORE_IO_FOLDER_H
#define NT_CORE_IO_FOLDER_H

#include <ntuple/error.h>
#include <ntuple/text.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "core/io/source.h"

struct nt_folder;

/* ---- Folders ---- */

enum nt_entry_kind { NT_ENTRY_FILE, NT_ENTRY_FOLDER, NT_ENTRY_LINK, NT_ENTRY_OTHER };

struct nt_folder_entry {
    const char *name;        /* valid during the visit */
    enum nt_entry_kind kind; /* of the entry itself: see nt_folder_stat for what a link leads to */
};

/* Anything but NT_OK ends the listing. */
typedef enum nt_status nt_folder_visit(void *context, const struct nt_folder_entry *entry,
                                       struct nt_error *error);

/* An implementation; see the functions below. */
struct nt_folder_ops {
    enum nt_status (*list)(struct nt_folder *folder, const char *name, nt_folder_visit *visit, void *context,
                           struct nt_error *error);
    enum nt_status (*stat)(struct nt_folder *folder, const char *name, struct stat *attributes,
                           struct nt_error *error);
    enum nt_status (*open)(struct nt_folder *folder, const char *name, struct nt_source **source_ret,
                           struct nt_error *error);
    enum nt_status (*open_lazily)(struct nt_folder *folder, const char *name, struct nt_source **source_ret,
                                  struct nt_error *error);
    /* NULL: what is told is always as it is now. */
    enum nt_status (*refresh)(struct nt_folder *folder, const char *name, uint64_t *list_ret,
                              struct nt_error *error);
    /* NT_OK while the folder is still at its path, else NT_CHANGED or NT_IO. */
    enum nt_status (*check)(struct nt_folder *folder, struct nt_error *error);
    enum nt_status (*open_beside)(struct nt_folder *folder, const char *path, struct nt_folder **beside_ret,
                                  struct nt_error *error);
    enum nt_status (*open_below)(struct nt_folder *folder, const char *name, struct nt_folder **below_ret,
                                 struct nt_error *error);
    /* What is told of the folder from now on, see nt_source_open_folder. */
    enum nt_status (*show)(struct nt_folder *folder, struct stat *attributes, struct nt_error *error);
    size_t (*descriptors)(struct nt_folder *folder); /* NULL: always 0 */
    void (*close)(struct nt_folder *folder);
};

/* Embedded as the first member by implementations. */
struct nt_folder {
    const struct nt_folder_ops *ops;
    const char *path;         /* for messages; owned by the implementation */
    atomic_uint more_holders; /* than one */
};

enum nt_folder_use {
    NT_FOLDER_DATASET,            /* what leads out of it is refused */
    NT_FOLDER_DATASET_FOR_OTHERS, /* the same; and so is what fewer users can read than it is shown to */
    NT_FOLDER_PASSTHROUGH,        /* links are followed wherever they lead */
};

/* A directory of this machine, which stays the same one whatever becomes of its path. NT_NOT_FOUND,
 * NT_INVALID where it is none, NT_IO. */
enum nt_status nt_folder_open(const char *path, enum nt_folder_use use, struct nt_folder **folder_ret,
                              struct nt_error *error);
/* Another directory whose files are parts of a folder that is a dataset: they are shown to nobody whom that is not shown to.
 * It is closed before the folder. Fails as nt_folder_open does. */
enum nt_status nt_folder_open_beside(struct nt_folder *folder, const char *path,
                                     struct nt_folder **beside_ret, struct nt_error *error);
/* One of the folders in it, by its name, as if it were opened by its path: it is not bound to this one. */
enum nt_status nt_folder_open_below(struct nt_folder *folder, const char *name, struct nt_folder **below_ret,
                                    struct nt_error *error);
/* How many descriptors it has for now, with those of the sources that were opened lazily beneath it. */
size_t nt_folder_descriptors(struct nt_folder *folder);
/* It is closed once more often. */
void nt_folder_ref(struct nt_folder *folder);
/* Sources that were opened beneath it stay open. Accepts NULL. */
void nt_folder_close(struct nt_folder *folder);

/* What is told of a folder beneath, or of the one that a file is in, is from now on as it is now, or was some seconds ago: on this
 * machine it always is, on others it is as it was when it was asked for, until this. `list_ret` (may be NULL) is another number for
 * each time that it was asked for, 0 on this machine. That there is no such folder is no failure. */
enum nt_status nt_folder_refresh(struct nt_folder *folder, const char *name, uint64_t *list_ret,
                                 struct nt_error *error);

/* Visit the entries of a folder beneath, in no order, "." and ".." omitted. */
enum nt_status nt_folder_list(struct nt_folder *folder, const char *name, nt_folder_visit *visit,
                              void *context, struct nt_error *error);
/* Attributes of what a name leads to. NT_NOT_FOUND; NT_IO, with EACCES for a link that leads out. */
enum nt_status nt_folder_stat(struct nt_folder *folder, const char *name, struct stat *attributes,
                              struct nt_error *error);
/* Whether there is something of this name, be it a link that leads out; whether it is a folder. They fail where
 * the machine refuses to tell (nt_is_retryable). */
enum nt_status nt_folder_has(struct nt_folder *folder, const char *name, bool *has_ret,
                             struct nt_error *error);
enum nt_status nt_folder_has_folder(struct nt_folder *folder, const char *name, bool *has_ret,
                                    struct nt_error *error);

/* Whether a text from a file may name something beneath a folder: parts between single slashes, none of them empty, "." or
 * "..", and no NUL. */
bool nt_folder_is_name_below(struct nt_text name);

/* A regular file beneath. NT_NOT_FOUND, NT_INVALID where it is none, NT_IO: with EACCES for a link that leads
 * out, and for a file that some of those cannot read to whom the folder is shown. */
enum nt_status nt_folder_open_file(struct nt_folder *folder, const char *name, struct nt_source **source_ret,
                                   struct nt_error *error);
/* A file of which many are used together. Nothing is opened before the first use: `size` is NT_UNKNOWN_SIZE,
 * and a file that is missing is found missing then. The folder's files share a bounded number of descriptors;
 * whenever one is opened again it must be the same file as at first (device, inode, size, time of
 * modification), else NT_CHANGED. */
enum nt_status nt_folder_open_file_lazily(struct nt_folder *folder, const char *name,
                                          struct nt_source **source_ret, struct nt_error *error);

/* A folder as a source, which it belongs to from then on. */
enum nt_status nt_source_of_folder(struct nt_folder *folder, struct nt_source **source_ret,
                                   struct nt_error *error);
/* A folder of this machine as a source of no bytes, which answers stat and check, and by `folder` tells that it is one. Its
 * attributes are the directory's; of the read bits, those that all files have that were opened by then.
 * NT_NOT_FOUND, NT_INVALID where it is no directory, NT_IO. */
enum nt_status nt_source_open_folder(const char *path, enum nt_folder_use use, struct nt_source **source_ret,
                                     struct nt_error *error);

/* ---- Access beneath a directory ---- */

/* Open `name` ("" for the directory itself) beneath the directory behind the descriptor, with the flags of
 * open(2). `path` is the directory's, for messages. Links are followed as long as they stay beneath it; where
 * the kernel cannot see to that (before Linux 5.6), none is followed. NT_NOT_FOUND; NT_IO, for links with
 * EACCES as the system's error. */
enum nt_status nt_beneath_open(int directory, const char *path, const char *name, int flags,
                               int *descriptor_ret, struct nt_error *error);

/* The way without the kernel's help, part by part. */
enum nt_status nt_beneath_open_by_parts(int directory, const char *path, const char *name, int flags,
                                        int *descriptor_ret, struct nt_error *error);

/* ---- who may read what ---- */

/* The read bits of `mode` (owner, group and others of the file that is shown) that are true of a part, too:
 * all whom they let read the one can read the other. Of a directory on the way, it is the right to enter it
 * that counts. */
mode_t nt_common_read_bits(const struct stat *shown, mode_t mode, const struct stat *part);

#endif
