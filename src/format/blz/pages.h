/* SPDX-License-Identifier: MIT
 *
 * The pages of all columns.
 */
#ifndef NT_FORMAT_BLZ_PAGES_H
#define NT_FORMAT_BLZ_PAGES_H

#include "model/model.h"

/* For the model's table: see struct nt_dataset_ops. */
enum nt_status nt_blz_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

#endif
