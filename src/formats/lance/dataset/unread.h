/* SPDX-License-Identifier: MIT
 *
 * Fields of a data set that its data files store in a way that is not read.
 */
#ifndef NT_FORMAT_LANCE_DATASET_UNREAD_H
#define NT_FORMAT_LANCE_DATASET_UNREAD_H

#include "formats/lance/dataset/opened.h"

/* Fill the schema's `refusals`. Only data files of versions that are not settled yet are opened for it, of each field the first that stores
 * it. One that cannot be opened tells nothing: who reads its rows is told. */
enum nt_status nt_lance_find_unread(struct nt_dataset *dataset, struct nt_error *error);

#endif
