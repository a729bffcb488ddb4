/* SPDX-License-Identifier: MIT
 *
 * The rows of a fragment that were deleted.
 */
#ifndef NT_FORMAT_LANCE_DATASET_DELETIONS_H
#define NT_FORMAT_LANCE_DATASET_DELETIONS_H

#include "format/lance/dataset/opened.h"

/* How many rows of a fragment are deleted, as the manifest tells. */
uint64_t nt_lance_deleted_rows(const struct nt_lance_fragment_part *fragment);

/* The name of a fragment's deletion file beneath the data set's folder; NULL without memory. */
const char *nt_lance_deletion_name(struct nt_arena *arena, const struct nt_lance_fragment_part *fragment);

/* Read them; *drops_ret is NULL where there are none. NT_CORRUPT where they are not as many as the manifest tells, or are not
 * rows of the fragment. Memory is the file's arena's, counted in its budget. Under the data set's lock. */
enum nt_status nt_lance_read_deletions(struct nt_file *file, const struct nt_lance_dataset *lance,
                                       const struct nt_lance_fragment_part *fragment,
                                       const struct nt_drops **drops_ret, struct nt_error *error);

#endif
