/* SPDX-License-Identifier: MIT
 *
 * Regular files as sources.
 */
#ifndef NT_IO_FILE_H
#define NT_IO_FILE_H

#include "io/descriptor.h"
#include "io/source.h"

/* A source that reads from the descriptor and closes it, also where this fails. */
enum nt_status nt_source_of_descriptor(int descriptor, const char *path, const struct nt_identity *identity,
                                       struct nt_source **source_ret, struct nt_error *error);

#endif
