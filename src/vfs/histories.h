/* SPDX-License-Identifier: MIT
 *
 * Data sets that have versions. Such a data set keeps its place, whose directory stays; the files in it are those of another
 * place, that of the version that is shown at the moment. A version has a place from the first look at it on, so that
 * its inodes are its own, and one more for versions.d. Another file of the same number is another version.
 */
#ifndef NT_VFS_HISTORIES_H
#define NT_VFS_HISTORIES_H

#include "vfs/places.h"

/* The place whose files are shown at a place, as the disk is now: its own, or its present version's; NULL where the place
 * has failed, as it tells. Under the lock, which may be given up meanwhile. */
struct nt_place *nt_history_shown(struct nt_places *places, struct nt_place *place);

/* The version of a number, for versions.d, of the data set that another version is of. NT_NOT_FOUND. Not under the lock. */
enum nt_status nt_history_find(struct nt_places *places, uint32_t version, uint64_t number,
                               uint32_t *version_ret, struct nt_error *error);

#endif
