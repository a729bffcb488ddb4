/* SPDX-License-Identifier: MIT
 *
 * The fragments of a version, and the files that hold their columns.
 */
#ifndef NT_FORMAT_LANCE_DATASET_FRAGMENTS_H
#define NT_FORMAT_LANCE_DATASET_FRAGMENTS_H

#include "format/lance/dataset/opened.h"

/* Whether a DataFile is of the legacy format, as it says itself. */
bool nt_lance_is_legacy_file(struct nt_proto data_file);

/* Whether all data files of a data set are; false where there is none. */
bool nt_lance_is_legacy_dataset(const struct nt_lance_dataset *lance);

/* Fill fragments and data files from the manifest; nothing else is read. Memory is the file's arena's, counted in its
 * budget. */
enum nt_status nt_lance_read_fragments(struct nt_file *file, struct nt_lance_dataset *lance,
                                       struct nt_error *error);

#endif
