/* SPDX-License-Identifier: MIT
 *
 * What columns take in the file together: pages that several of them share count once.
 */
#ifndef NT_VIEW_STORED_ONCE_H
#define NT_VIEW_STORED_ONCE_H

#include "model/model.h"

/* The stored bytes of columns whose page lists are loaded (others are not counted); `pages`: how many pages
 * they have, as nt_column_sums tells. */
enum nt_status nt_stored_once(const struct nt_dataset *dataset, const uint32_t *columns,
                              uint32_t column_count, uint64_t pages, uint64_t *bytes_ret,
                              struct nt_error *error);

#endif
