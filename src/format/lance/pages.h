/* SPDX-License-Identifier: MIT
 *
 * The pages of a field: read from the pages of the file's column that it comes from.
 */
#ifndef NT_FORMAT_LANCE_PAGES_H
#define NT_FORMAT_LANCE_PAGES_H

#include "model/model.h"

/* nt_dataset_ops.load_group: a group is a field's. Where lists or strings have to be counted, the column is read once,
 * chunk by chunk. */
enum nt_status nt_lance_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

#endif
