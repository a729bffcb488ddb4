/* SPDX-License-Identifier: MIT
 *
 * Where the bytes of blobs lie that have descriptions (version 2).
 */
#ifndef NT_FORMAT_LANCE_DATASET_BLOBS_H
#define NT_FORMAT_LANCE_DATASET_BLOBS_H

#include "core/model/model.h"

/* nt_dataset_ops.find_blob. */
enum nt_status nt_lance_find_blob(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                  const struct nt_description *description, bool wants_file,
                                  struct nt_blob *blob, struct nt_error *error);

#endif
