/* SPDX-License-Identifier: MIT
 *
 * The columns of the data files as they are stored.
 */
#ifndef NT_FORMAT_LANCE_DATASET_SIDES_H
#define NT_FORMAT_LANCE_DATASET_SIDES_H

#include "formats/lance/dataset/opened.h"

/* Number the columns of the sides. Data sets with legacy files have no sides: their columns are shown as parts of the
 * fields. */
enum nt_status nt_lance_prepare_sides(struct nt_dataset *dataset, struct nt_error *error);
/* Tell the data set's own columns, which are made now, which of them they are made of. */
void nt_lance_find_side_columns(struct nt_dataset *dataset);

/* A member of nt_dataset_ops. */
enum nt_status nt_lance_add_dataset_sides(struct nt_dataset *dataset, struct nt_error *error);

#endif
