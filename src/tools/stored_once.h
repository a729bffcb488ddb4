/* SPDX-License-Identifier: MIT
 *
 * What columns take in the file together: pages that several of them share count once.
 */
#ifndef NT_VIEW_STORED_ONCE_H
#define NT_VIEW_STORED_ONCE_H

#include "core/model/model.h"

/* The stored bytes of columns whose page lists are loaded (others are not counted); without `columns`, of all that
 * the data set has. */
enum nt_status nt_stored_once(const struct nt_dataset *dataset, const uint32_t *columns,
                              uint32_t column_count, uint64_t *bytes_ret, struct nt_error *error);

#endif
