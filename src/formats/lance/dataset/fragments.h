/* SPDX-License-Identifier: MIT
 *
 * The fragments of a version, and the files that hold their columns.
 */
#ifndef NT_FORMAT_LANCE_DATASET_FRAGMENTS_H
#define NT_FORMAT_LANCE_DATASET_FRAGMENTS_H

#include "formats/lance/dataset/opened.h"

/* Fill fragments and data files from the manifest; nothing else is read. Memory is the file's arena's, counted in its
 * budget. */
enum nt_status nt_lance_read_fragments(struct nt_file *file, struct nt_lance_dataset *lance,
                                       struct nt_error *error);

#endif
