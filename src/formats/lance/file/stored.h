/* SPDX-License-Identifier: MIT
 *
 * The pages of the columns of a file's sides: the file's own.
 */
#ifndef NT_FORMAT_LANCE_STORED_H
#define NT_FORMAT_LANCE_STORED_H

#include "core/model/model.h"

/* nt_dataset_ops.load_group of both sides. Strings and levels are counted in one pass over the file's column. */
enum nt_status nt_lance_load_stored(struct nt_dataset *side, uint32_t group, struct nt_error *error);

#endif
