/* SPDX-License-Identifier: MIT
 *
 * Files that are read past the kernel's page cache and can be mapped all the same.
 */
#ifndef NT_FUSE_MAPPED_DIRECT_IO_H
#define NT_FUSE_MAPPED_DIRECT_IO_H

#include "fuse/operations.h"

/* Ask the kernel for it, between mounting and the loop. Linux grants it from 6.6 on; before that, mapping
 * such a file with MAP_SHARED fails with ENODEV. */
void nt_ask_for_mapped_direct_io(struct nt_mount *mount);

#endif
