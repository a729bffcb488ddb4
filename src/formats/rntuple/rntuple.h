/* SPDX-License-Identifier: MIT
 *
 * RNTuple files.
 */
#ifndef NT_FORMAT_RNTUPLE_RNTUPLE_H
#define NT_FORMAT_RNTUPLE_RNTUPLE_H

#include "core/model/model.h"

/* Open a file from its source, which becomes the file's unless this fails. A data set for each anchor; those
 * that could not be opened have their failure. */
enum nt_status nt_rntuple_file_open(const char *path, struct nt_source *source,
                                    const struct nt_limits *limits, struct nt_file **file_ret,
                                    struct nt_error *error);

#endif
