/* SPDX-License-Identifier: MIT
 *
 * Choices of entries that stand in files: numbers of entries, or a bool for each.
 */
#ifndef NTUPLE_SELECTION_H
#define NTUPLE_SELECTION_H

#include <ntuple/dataset.h>

NT_API_BEGIN

struct nt_selection;

/* Read a choice from a file: a NumPy array of one dimension (.npy of versions 1 to 3: integers of any width and byte order, or
 * bools, one for each entry), a text of numbers (between them spaces, commas or ends of lines; # begins a comment), or any file that
 * is opened as one dataset with one field of integers, as Roaring bitmaps are. Numbers ascend, each of them once; NT_INVALID
 * tells the file and which of its elements does not. Takes 16 bytes for each run of entries. */
NT_CHECKED enum nt_status nt_selection_open(const char *path, struct nt_selection **choice_ret,
                                            struct nt_error *error);
/* Entries [first, end), cut to those that a dataset has. */
NT_CHECKED enum nt_status nt_selection_of_range(uint64_t first, uint64_t end,
                                                struct nt_selection **choice_ret, struct nt_error *error);
void nt_selection_free(struct nt_selection *selection); /* accepts NULL */

/* nt_dataset_select with what was read: as often as wanted, for one dataset after the other. NT_INVALID tells which element of the
 * file lies outside of the dataset, or that there are not as many bools as entries. */
NT_CHECKED enum nt_status nt_selection_apply(const struct nt_selection *selection, struct nt_dataset *dataset,
                                             struct nt_error *error);

NT_API_END

#endif
