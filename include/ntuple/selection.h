/* SPDX-License-Identifier: MIT
 *
 * Selections of entries from files: entry numbers, or one bool per entry.
 */
#ifndef NTUPLE_SELECTION_H
#define NTUPLE_SELECTION_H

#include <ntuple/dataset.h>

NT_API_BEGIN

struct nt_selection;

/* Reads a selection from a file: a one-dimensional NumPy array (.npy versions 1 to 3: integers of any
 * width and byte order, or one bool per entry), a text of numbers (separated by spaces, commas or
 * newlines; # begins a comment), or any file that opens as one dataset with one field of integers, such
 * as a Roaring bitmap. Numbers must ascend without repetition; NT_INVALID reports the file and the
 * wrong element. Also fails as nt_file_open. Uses 16 bytes per run of entries; NT_LIMIT for a small file of
 * a format that has very many. The caller frees the selection with nt_selection_free. Any thread; a selection
 * is immutable, and threads may share it. */
NT_CHECKED enum nt_status nt_selection_open(const char *path, struct nt_selection **selection_ret,
                                            struct nt_error *error);
/* Selects entries [first, end), clamped to the entries of the dataset; none if `end` is not above
 * `first`. The caller frees the selection. NT_NO_MEMORY. */
NT_CHECKED enum nt_status nt_selection_of_range(uint64_t first, uint64_t end,
                                                struct nt_selection **selection_ret, struct nt_error *error);
void nt_selection_free(struct nt_selection *selection); /* accepts NULL */

/* Calls nt_dataset_select, whose rules for threads hold. A selection may be applied to any number of
 * datasets, and freed afterwards. NT_INVALID reports the element of the file that is outside the
 * dataset, a wrong number of bools, or a second selection of the dataset. */
NT_CHECKED enum nt_status nt_selection_apply(const struct nt_selection *selection, struct nt_dataset *dataset,
                                             struct nt_error *error);

NT_API_END

#endif
