/* SPDX-License-Identifier: MIT
 *
 * Base paths: other places than the data set's own data/ and _deletions/, where files of a version lie.
 */
#ifndef NT_FORMAT_LANCE_DATASET_BASES_H
#define NT_FORMAT_LANCE_DATASET_BASES_H

#include "formats/lance/dataset/opened.h"

/* Fill lance->bases from the manifest. What lies beneath the data set is read, and what lies beneath one of the directories
 * `allowed` (NULL: none; ends with NULL); of the others is known why not. Memory is the file's arena's, counted in its
 * budget; nt_lance_close_bases closes the directories, also after a failure. */
enum nt_status nt_lance_read_bases(struct nt_file *file, struct nt_lance_dataset *lance,
                                   const char *const *allowed, struct nt_error *error);
void nt_lance_close_bases(struct nt_lance_dataset *lance);
/* Open the directories alone, where that was not done: for what has no base path. */
enum nt_status nt_lance_open_places(struct nt_file *file, struct nt_lance_dataset *lance,
                                    const char *const *allowed, struct nt_error *error);

/* Where the files lie that a DataFile or DeletionFile tells of, whose field of this number is the base's id; NULL: in the data
 * set. NT_CORRUPT where the manifest has no such base path, NT_UNSUPPORTED where it leads to what is not read. */
enum nt_status nt_lance_find_base(const struct nt_lance_dataset *lance, struct nt_proto message,
                                  uint32_t id_field, const struct nt_lance_base **base_ret,
                                  struct nt_error *error);
/* The same by its id, which is told at a place of the manifest, or NT_NO_OFFSET. */
enum nt_status nt_lance_find_base_of(const struct nt_lance_dataset *lance, uint64_t id, uint64_t told_at,
                                     const struct nt_lance_base **base_ret, struct nt_error *error);

/* The folder that an absolute path lies beneath, of those that are read, and its name there, which points into it; false: it lies beneath
 * none. */
bool nt_lance_find_beneath(const struct nt_lance_dataset *lance, struct nt_text path,
                           struct nt_folder **folder_ret, struct nt_text *name_ret);

#endif
