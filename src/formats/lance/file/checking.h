/* SPDX-License-Identifier: MIT
 *
 * Verification of what no reader looks at.
 */
#ifndef NT_FORMAT_LANCE_CHECKING_H
#define NT_FORMAT_LANCE_CHECKING_H

#include "core/model/model.h"

/* See `check` of nt_file. */
enum nt_status nt_lance_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                              struct nt_error *error);

#endif
