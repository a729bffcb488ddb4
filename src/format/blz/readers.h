/* SPDX-License-Identifier: MIT
 *
 * What a path may be: each way to gather a data set from it.
 */
#ifndef NT_FORMAT_BLZ_READERS_H
#define NT_FORMAT_BLZ_READERS_H

#include "format/blz/build.h"

/* A directory: an array, or a table with its columns (directory.c). */
enum nt_status nt_blz_read_directory(struct nt_blz_build *build, struct nt_error *error);
/* A Bloscpack file, source 0 (bloscpack_file.c). */
enum nt_status nt_blz_read_bloscpack(struct nt_blz_build *build, struct nt_source *source,
                                     struct nt_error *error);

#endif
