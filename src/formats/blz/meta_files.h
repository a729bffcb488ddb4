/* SPDX-License-Identifier: MIT
 *
 * The files of an array's or table's meta/ that no writer is known to write: "there can be as many files as necessary".
 */
#ifndef NT_FORMAT_BLZ_META_FILES_H
#define NT_FORMAT_BLZ_META_FILES_H

#include "formats/blz/build.h"

/* Read those of `directory` into `node`, by name. One that is no JSON tells why; hidden ones are left out. */
enum nt_status nt_blz_meta_files_read(struct nt_blz_build *build, const char *directory,
                                      struct nt_blz_node *node, struct nt_error *error);

#endif
