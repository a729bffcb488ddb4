/* SPDX-License-Identifier: MIT
 *
 * The rows of a fragment that were deleted.
 */
#ifndef NT_FORMAT_LANCE_DATASET_DELETIONS_H
#define NT_FORMAT_LANCE_DATASET_DELETIONS_H

#include "formats/lance/dataset/opened.h"

/* The folder that a fragment's deletion file lies beneath, and its name there; NULL: it has none. */
enum nt_status nt_lance_find_deletion_file(struct nt_file *file, const struct nt_lance_dataset *lance,
                                           const struct nt_lance_fragment_part *fragment,
                                           struct nt_folder **folder_ret, const char **name_ret,
                                           struct nt_error *error);

/* Find fragment->drops, if nobody has, and their number where the manifest does not tell it. NT_CORRUPT where they are not
 * as many as it tells, or are not rows of the fragment, which are known. Memory is the file's arena's, counted in its budget. Under the data set's lock. */
enum nt_status nt_lance_read_deletions(struct nt_file *file, const struct nt_lance_dataset *lance,
                                       struct nt_lance_fragment_part *fragment, struct nt_error *error);

#endif
