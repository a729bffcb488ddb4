/* SPDX-License-Identifier: MIT
 *
 * Directories, local or remote, whose files are sources: their operations, opening beneath a directory, and
 * permission checks.
 */
#pragma once

#include <sys/stat.h>

#include <ntuple/text.h>

#include "core/base/error.h"
#include "core/io/source.h"

struct nt_file_probe;

/* ---- Directories ---- */

enum nt_entry_kind { NT_ENTRY_FILE, NT_ENTRY_FOLDER, NT_ENTRY_LINK, NT_ENTRY_OTHER };

struct nt_folder_entry {
    const char *name;        /* valid during the call */
    enum nt_entry_kind kind; /* of the entry itself; nt_folder_stat follows links */
};

/* Any result but NT_OK ends the listing. */
typedef enum nt_status nt_folder_visit(void *context, const struct nt_folder_entry *entry,
                                       struct nt_error *error);

/* An implementation; the functions below document the operations. */
struct nt_folder_ops {
    enum nt_status (*list)(struct nt_folder *folder, const char *name, nt_folder_visit *visit, void *context,
                           struct nt_error *error);
    enum nt_status (*stat)(struct nt_folder *folder, const char *name, struct stat *attributes,
                           struct nt_error *error);
    enum nt_status (*open)(struct nt_folder *folder, const char *name, struct nt_source **source_ret,
                           struct nt_error *error);
    /* NULL: a probe costs as much as opening. */
    enum nt_status (*probe)(struct nt_folder *folder, const char *name, struct nt_file_probe *probe,
                            struct nt_error *error);
    enum nt_status (*open_lazily)(struct nt_folder *folder, const char *name, struct nt_source **source_ret,
                                  struct nt_error *error);
    size_t lazy_bytes; /* memory of such a source without its path */
    /* NULL: metadata is always current. */
    enum nt_status (*refresh)(struct nt_folder *folder, const char *name, uint64_t *list_ret,
                              struct nt_error *error);
    /* NT_OK while the directory is still at its path, else NT_CHANGED or NT_IO. NULL: always NT_OK. */
    enum nt_status (*check)(struct nt_folder *folder, struct nt_error *error);
    enum nt_status (*open_sibling)(struct nt_folder *folder, const char *path, struct nt_folder **sibling_ret,
                                   struct nt_error *error);
    enum nt_status (*open_below)(struct nt_folder *folder, const char *name, struct nt_folder **below_ret,
                                 struct nt_error *error);
    /* Returns the attributes for nt_source_open_folder and freezes them. */
    enum nt_status (*show)(struct nt_folder *folder, struct stat *attributes, struct nt_error *error);
    size_t (*descriptors)(struct nt_folder *folder); /* NULL: always 0 */
    void (*close)(struct nt_folder *folder);
};

/* First member of implementations. */
struct nt_folder {
    const struct nt_folder_ops *ops;
    const char *path;             /* for messages; owned by the implementation */
    atomic_uint extra_references; /* holders besides the first */
};

/* Is it a directory of this machine? */
static inline bool nt_folder_is_local(const struct nt_folder *folder)
{
    return !folder->ops->refresh;
}

enum nt_folder_use {
    NT_FOLDER_DATASET,            /* links out of the directory are refused */
    NT_FOLDER_DATASET_FOR_OTHERS, /* the same, and so are files that fewer users can read */
    NT_FOLDER_PASSTHROUGH,        /* links are followed everywhere */
};

/* Opens a local directory and keeps it, even if it is renamed. NT_NOT_FOUND, NT_INVALID if it is not a
 * directory, NT_IO. */
enum nt_status nt_folder_open(const char *path, enum nt_folder_use use, struct nt_folder **folder_ret,
                              struct nt_error *error);
/* Opens another directory with files of the directory's dataset, and checks permissions against the
 * directory's. Close it before the directory. Fails as nt_folder_open. */
enum nt_status nt_folder_open_sibling(struct nt_folder *folder, const char *path,
                                      struct nt_folder **sibling_ret, struct nt_error *error);
/* Opens a local directory with other files of what a source shows, and checks permissions against that
 * source's. `use`: of a dataset. Fails as nt_folder_open. */
enum nt_status nt_folder_open_for(struct nt_source *file, const char *path, enum nt_folder_use use,
                                  struct nt_folder **folder_ret, struct nt_error *error);
/* Opens one of the directories in it, by name, as if by its path: independent of this directory. */
enum nt_status nt_folder_open_below(struct nt_folder *folder, const char *name, struct nt_folder **below_ret,
                                    struct nt_error *error);
/* The number of open descriptors, including those of lazily opened sources. */
size_t nt_folder_descriptors(struct nt_folder *folder);
/* Adds a holder, for one more nt_folder_close. */
void nt_folder_ref(struct nt_folder *folder);
/* Sources opened beneath it stay open. Accepts NULL. */
void nt_folder_close(struct nt_folder *folder);
NT_DEFINE_CLEANUP(struct nt_folder, nt_folder_close)

/* Refreshes the metadata of a directory beneath, or of the directory that contains a file. Local metadata is
 * always current; remote metadata is from the last request, at most some seconds old after this.
 * `list_ret` (may be NULL) changes with each request; 0 if local. A missing directory is not a failure. */
enum nt_status nt_folder_refresh(struct nt_folder *folder, const char *name, uint64_t *list_ret,
                                 struct nt_error *error);

/* Visits the entries of a directory beneath in any order, without "." and "..". */
enum nt_status nt_folder_list(struct nt_folder *folder, const char *name, nt_folder_visit *visit,
                              void *context, struct nt_error *error);
/* Attributes of the target of a name. NT_NOT_FOUND; NT_IO, with EACCES for a link out of the directory. */
enum nt_status nt_folder_stat(struct nt_folder *folder, const char *name, struct stat *attributes,
                              struct nt_error *error);
/* Does the name exist (even as a link out of the directory)? Is it a directory? Fail only if the system
 * cannot answer (nt_is_retryable). */
enum nt_status nt_folder_has(struct nt_folder *folder, const char *name, bool *has_ret,
                             struct nt_error *error);
enum nt_status nt_folder_has_folder(struct nt_folder *folder, const char *name, bool *has_ret,
                                    struct nt_error *error);

/* Is a text from a file a valid name beneath a directory: parts separated by single slashes, none empty,
 * "." or "..", no NUL? */
bool nt_folder_is_name_below(struct nt_text name);
/* Finds the name of a path below a directory, which may end with slashes; it points into `path`, and is empty
 * for the directory itself. False if the path is elsewhere, or what follows the directory is no such name. */
bool nt_folder_name_below(struct nt_text path, const char *directory, struct nt_text *name_ret);

/* Opens a regular file beneath. NT_NOT_FOUND, NT_INVALID if it is not regular, NT_IO; with EACCES for a
 * link out of the directory, and for a file that some users of the directory cannot read. */
enum nt_status nt_folder_open_file(struct nt_folder *folder, const char *name, struct nt_source **source_ret,
                                   struct nt_error *error);
/* A file of a local directory that is open to read a few of its bytes. */
struct nt_file_probe {
    struct nt_source source;
    struct stat attributes;
    int descriptor;
    bool has_end; /* `end` is read */
    size_t known; /* bytes of `start` */
    /* Reads within the first and the last bytes need no system call of their own. */
    uint8_t start[256], end[16];
};
/* Costs a small part of opening the file, for directories of many. `name` stays in use. NT_INVALID if it
 * is not regular, NT_UNSUPPORTED on a server, else as nt_folder_open_file. */
enum nt_status nt_folder_probe(struct nt_folder *folder, const char *name, struct nt_file_probe *probe,
                               struct nt_error *error);
void nt_file_probe_close(struct nt_file_probe *probe);

/* Adds a file of which many are in use. Opens it on first use: until then `size` is NT_UNKNOWN_SIZE,
 * and a missing file is not noticed. The directory's files share a limited number of descriptors; a
 * reopened file must be the same (device, inode, size, modification time), else NT_CHANGED. */
enum nt_status nt_folder_open_file_lazily(struct nt_folder *folder, const char *name,
                                          struct nt_source **source_ret, struct nt_error *error);

/* Makes a source of a directory and owns the directory. */
enum nt_status nt_source_of_folder(struct nt_folder *folder, struct nt_source **source_ret,
                                   struct nt_error *error);
/* Opens a local directory as a source without bytes, with stat, check and `folder`. Its attributes are
 * those of the directory, but with only the read bits that all files opened so far have. NT_NOT_FOUND,
 * NT_INVALID if it is not a directory, NT_IO. */
enum nt_status nt_source_open_folder(const char *path, enum nt_folder_use use, struct nt_source **source_ret,
                                     struct nt_error *error);

/* ---- Access beneath a directory ---- */

/* Opens `name` ("" for the directory) beneath the directory, with flags of open(2). `path` names the
 * directory in messages. Follows links that stay beneath it; if the kernel cannot check this (before
 * Linux 5.6), follows none. NT_NOT_FOUND; NT_IO, for links with EACCES. */
enum nt_status nt_beneath_open(int directory, const char *path, const char *name, int flags,
                               int *descriptor_ret, struct nt_error *error);

/* The same without openat2, part by part. */
enum nt_status nt_beneath_open_by_parts(int directory, const char *path, const char *name, int flags,
                                        int *descriptor_ret, struct nt_error *error);

/* ---- Read permissions ---- */

/* The read bits of `mode` (owner, group and others of the shown file) that also hold for a part: every
 * user with such a bit can read the part. For a directory on the path, search permission counts. */
mode_t nt_common_read_bits(const struct stat *shown, mode_t mode, const struct stat *part);
