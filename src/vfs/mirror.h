/* SPDX-License-Identifier: MIT
 *
 * The folders of a mount, as the disk is now. All functions may be called from several threads.
 */
#ifndef NT_VFS_MIRROR_H
#define NT_VFS_MIRROR_H

#include "vfs/places.h"

/* Look at a folder's files again. Nothing to do for a group. */
enum nt_status nt_places_scan(struct nt_places *places, uint32_t number, struct nt_error *error);
/* A child of a group or folder by name, as the disk is now; NT_NONE. */
uint32_t nt_places_find(struct nt_places *places, uint32_t number, const char *name);

#endif
