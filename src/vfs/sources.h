/* SPDX-License-Identifier: MIT
 *
 * The sources of a mount: files, and folders that are mirrored. Each is a *place* with a number that never
 * changes and is never used again: where the file behind a path is replaced, the path gets a new place.
 *
 * A place's file is opened when it is looked at and closed again when many are open and nothing uses it. Data
 * sets have *slots*: small numbers, given when their file is opened for the first time. All functions may be
 * called from several threads.
 */
#ifndef NT_VFS_SOURCES_H
#define NT_VFS_SOURCES_H

#include <ntuple/format.h>
#include <ntuple/read.h>

#include "vfs/opened.h"

struct nt_sources;

/* Places for the paths. A single path is place 0, the root; several are the children of place 0. Fails where
 * no source can be used, with the first one's reason. The reader is told of files that are closed; it may be
 * NULL. */
enum nt_status nt_sources_new(const char *const *paths, size_t path_count,
                              const struct nt_open_options *options, struct nt_reader *reader,
                              struct nt_sources **sources_ret, struct nt_error *error);
void nt_sources_free(struct nt_sources *sources); /* accepts NULL */

/* ---- places ---- */

enum nt_place_kind {
    NT_PLACE_NONE,   /* no such place, no source, or not there any more */
    NT_PLACE_GROUP,  /* the root of several sources */
    NT_PLACE_FOLDER, /* mirrored */
    NT_PLACE_FILE,
    NT_PLACE_FAILED, /* a source that cannot be opened */
};

/* What a place is. Opens a file that has not been looked at. */
enum nt_place_kind nt_sources_kind(struct nt_sources *sources, uint32_t place);
/* Parent and name of a place; the strings live as long as the sources. */
uint32_t nt_sources_parent(struct nt_sources *sources, uint32_t place);
const char *nt_sources_name(struct nt_sources *sources, uint32_t place);
/* Whether the place itself may go or be replaced while mounted. */
bool nt_sources_is_mirrored(struct nt_sources *sources, uint32_t place);
/* Attributes of the file or folder behind the place, as it is now. */
enum nt_status nt_sources_stat(struct nt_sources *sources, uint32_t place, struct stat *attributes,
                               struct nt_error *error);
/* Why the place failed. */
void nt_sources_failure(struct nt_sources *sources, uint32_t place, struct nt_error *error);

/* Look at a folder's files again. Nothing to do for a group. */
enum nt_status nt_sources_scan(struct nt_sources *sources, uint32_t place, struct nt_error *error);
/* The first child of a group or folder with a number of at least `from`; NT_NONE. */
uint32_t nt_sources_next(struct nt_sources *sources, uint32_t place, uint32_t from);
/* A child by name, as the disk is now; NT_NONE. */
uint32_t nt_sources_find(struct nt_sources *sources, uint32_t place, const char *name);

/* ---- open files ---- */

/* The place's file, opened if it is not; released by the caller. */
enum nt_status nt_sources_open(struct nt_sources *sources, uint32_t place, struct nt_opened **opened_ret,
                               struct nt_error *error);
void nt_sources_release(struct nt_sources *sources, struct nt_opened *opened); /* accepts NULL */

/* The place and the index of a data set; false for a slot that was not given. */
bool nt_sources_slot(struct nt_sources *sources, uint32_t slot, uint32_t *place_ret, uint32_t *dataset_ret);
/* The slot of a data set whose file is open. */
bool nt_sources_slot_of(struct nt_sources *sources, const struct nt_dataset *dataset, uint32_t *slot_ret);

/* Bytes of the sources that were looked at; data sets and fields of those that are open. */
void nt_sources_statistics(struct nt_sources *sources, uint64_t *bytes_ret, uint64_t *nodes_ret);

#endif
