/* SPDX-License-Identifier: MIT
 *
 * Data sets whose records are there but that nothing leads to: no list of keys and no footer.
 */
#ifndef NT_FORMAT_RNTUPLE_LOST_H
#define NT_FORMAT_RNTUPLE_LOST_H

#include "model/model.h"

/* Add the lost data sets of an opened file to it, each with its failure, where something tells that there may
 * be some. */
enum nt_status nt_rntuple_add_lost(struct nt_file *file, struct nt_error *error);

/* All of them that the file does not have, by a walk over its records: see nt_file. */
enum nt_status nt_rntuple_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                                struct nt_error *error);

#endif
