/* SPDX-License-Identifier: MIT
 *
 * Fields of a legacy dataset that were slices of structures when a fragment was written.
 */
#ifndef NT_FORMAT_LANCE_DATASET_SLICES_H
#define NT_FORMAT_LANCE_DATASET_SLICES_H

#include "formats/lance/dataset/opened.h"

/* Look into the data files of a legacy dataset with structures, where it has few fragments, and tell of each field of the schema why it
 * cannot be read: in the schema's `refusals`, behind nt_lance_find_unread. What cannot be opened is told where it is read. */
enum nt_status nt_lance_find_slices(struct nt_dataset *dataset, struct nt_error *error);

#endif
