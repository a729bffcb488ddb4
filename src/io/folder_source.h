/* SPDX-License-Identifier: MIT
 *
 * Folders as sources: what stands for a data set of several files.
 */
#ifndef NT_IO_FOLDER_SOURCE_H
#define NT_IO_FOLDER_SOURCE_H

#include "io/folder.h"

/* A folder as a source of no bytes, which answers stat and check, and by `folder` tells that it is one. Its
 * attributes are the directory's; of the read bits, those that all files have that were opened by then.
 * NT_NOT_FOUND, NT_INVALID where it is no directory, NT_IO. */
enum nt_status nt_source_open_folder(const char *path, enum nt_folder_use use, struct nt_source **source_ret,
                                     struct nt_error *error);

#endif
