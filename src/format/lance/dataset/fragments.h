/* SPDX-License-Identifier: MIT
 *
 * The fragments of a version, and the files that hold their columns.
 */
#ifndef NT_FORMAT_LANCE_DATASET_FRAGMENTS_H
#define NT_FORMAT_LANCE_DATASET_FRAGMENTS_H

#include "format/lance/dataset/opened.h"

/* Bits. */
enum nt_lance_generation {
    NT_LANCE_IS_LEGACY = 1,
    NT_LANCE_IS_2_0 = 2, /* each field has a column */
    NT_LANCE_IS_LATER = 4,
};

/* Of which generation a DataFile is, as it says itself. */
enum nt_lance_generation nt_lance_generation_of(struct nt_proto data_file);

/* Those of all data files of a data set. */
unsigned nt_lance_generations(const struct nt_lance_dataset *lance);

/* Fill fragments and data files from the manifest; nothing else is read. Memory is the file's arena's, counted in its
 * budget. */
enum nt_status nt_lance_read_fragments(struct nt_file *file, struct nt_lance_dataset *lance,
                                       struct nt_error *error);

#endif
