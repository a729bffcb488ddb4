/* SPDX-License-Identifier: MIT
 *
 * Which columns of which data files a fragment stores the fields of a schema in.
 */
#ifndef NT_FORMAT_LANCE_DATASET_STORED_H
#define NT_FORMAT_LANCE_DATASET_STORED_H

#include "formats/lance/dataset/opened.h"

/* Fill lance->ids. NT_CORRUPT where two fields have one id was found out when the schema was read. */
enum nt_status nt_lance_sort_ids(struct nt_arena *arena, struct nt_lance_dataset *lance,
                                 struct nt_error *error);

/* Find fragment->stored, if nobody has. NT_CORRUPT where it lists a field twice, or not as many columns as fields. Under the
 * data set's lock; memory is the file's arena's, counted in its budget. */
enum nt_status nt_lance_find_stored(struct nt_file *file, const struct nt_lance_dataset *lance,
                                    struct nt_lance_fragment_part *fragment, struct nt_error *error);

#endif
