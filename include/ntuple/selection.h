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
 * wrong element. Uses 16 bytes per run of entries. */
NT_CHECKED enum nt_status nt_selection_open(const char *path, struct nt_selection **choice_ret,
                                            struct nt_error *error);
/* Entries [first, end), clamped to the entries of the dataset. */
NT_CHECKED enum nt_status nt_selection_of_range(uint64_t first, uint64_t end,
                                                struct nt_selection **choice_ret, struct nt_error *error);
void nt_selection_free(struct nt_selection *selection); /* accepts NULL */

/* Calls nt_dataset_select; may be used for any number of datasets. NT_INVALID reports the element of
 * the file that is outside the dataset, or a wrong number of bools. */
NT_CHECKED enum nt_status nt_selection_apply(const struct nt_selection *selection, struct nt_dataset *dataset,
                                             struct nt_error *error);

NT_API_END

#endif
