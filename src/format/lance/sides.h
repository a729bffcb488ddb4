/* SPDX-License-Identifier: MIT
 *
 * The columns of a file as they are stored: what nt_dataset.stored and nt_dataset.structure are for Lance.
 */
#ifndef NT_FORMAT_LANCE_SIDES_H
#define NT_FORMAT_LANCE_SIDES_H

#include "format/lance/opened.h"

/* Give the data set of a file that is mounted alone its sides, once its fields are built. The columns of both have the
 * number of the file's column as their id; those of `stored` are in the order of these numbers. */
enum nt_status nt_lance_add_sides(struct nt_dataset *dataset, struct nt_error *error);

#endif
