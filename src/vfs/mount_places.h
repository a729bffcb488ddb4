/* SPDX-License-Identifier: MIT
 *
 * The places of a mount, from the paths that it was given to the end.
 */
#ifndef NT_VFS_MOUNT_PLACES_H
#define NT_VFS_MOUNT_PLACES_H

#include "vfs/places.h"

/* Places for the paths. A single path is place 0, the root; several are the children of place 0. Fails where
 * nothing can be opened, with the first one's reason. */
enum nt_status nt_places_new(const char *const *paths, size_t path_count,
                             const struct nt_places_options *options, struct nt_places **places_ret,
                             struct nt_error *error);
void nt_places_free(struct nt_places *places); /* accepts NULL */

#endif
