/* SPDX-License-Identifier: MIT
 *
 * What tells that a directory's array or table is another one by now: it was enlarged, cut, or has other columns.
 */
#ifndef NT_FORMAT_BLZ_STATE_H
#define NT_FORMAT_BLZ_STATE_H

#include "formats/format.h"

/* As a member of nt_format. Writers write the sizes last, those of a table's columns one after the other: watched are the sizes of
 * the first and of the last column, and the list of columns. */
enum nt_status nt_blz_find_state(struct nt_folder *folder, struct nt_dataset_version *version_ret,
                                 struct nt_error *error);

/* The number of the same. */
enum nt_status nt_blz_state_number(struct nt_folder *folder, uint64_t *number_ret, struct nt_error *error);

/* NT_CHANGED where what is open is of another state: what the directory does not have any more was not damaged. */
struct nt_blz;
enum nt_status nt_blz_check_state(const struct nt_blz *blz, struct nt_error *error);

#endif
