/* SPDX-License-Identifier: MIT
 *
 * The columns of a file as they are stored: what nt_dataset.stored and nt_dataset.structure are for Lance.
 */
#ifndef NT_FORMAT_LANCE_SIDES_H
#define NT_FORMAT_LANCE_SIDES_H

#include "format/lance/opened.h"

/* A member of nt_dataset_ops, of a file that is mounted alone. The columns of both sides have the number of the file's
 * column as their id; those of `stored` are in the order of these numbers. */
enum nt_status nt_lance_add_sides(struct nt_dataset *dataset, struct nt_error *error);

#endif
