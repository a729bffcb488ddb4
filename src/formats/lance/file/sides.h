/* SPDX-License-Identifier: MIT
 *
 * The columns of files as they are stored: what nt_dataset.stored and nt_dataset.structure are for Lance, of a file and of
 * a data set of many.
 */
#ifndef NT_FORMAT_LANCE_SIDES_H
#define NT_FORMAT_LANCE_SIDES_H

#include "formats/lance/file/homes.h"

/* Give a data set its sides. The columns of both have the number of the column of `stored` as their id. */
enum nt_status nt_lance_add_sides_of(struct nt_dataset *dataset, const struct nt_lance_side *side,
                                     struct nt_error *error);

/* A member of nt_dataset_ops, of a file that is mounted alone. */
enum nt_status nt_lance_add_sides(struct nt_dataset *dataset, struct nt_error *error);

#endif
