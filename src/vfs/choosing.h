/* SPDX-License-Identifier: MIT
 *
 * The entries that a tree is to show of some data sets.
 */
#ifndef NT_VFS_CHOOSING_H
#define NT_VFS_CHOOSING_H

#include "vfs/places.h"

/* Choose entries of the data sets of a file that was opened for a place, before anything else is done with them. NT_INVALID where a
 * choice does not fit its data set. */
enum nt_status nt_places_choose(struct nt_places *places, const struct nt_place *place,
                                struct nt_open_file *opened, struct nt_error *error);

#endif
