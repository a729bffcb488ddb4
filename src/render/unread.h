/* SPDX-License-Identifier: MIT
 *
 * Fields whose pages this version does not read, as their page lists tell.
 */
#ifndef NT_VIEW_UNREAD_H
#define NT_VIEW_UNREAD_H

#include "core/model/model.h"

/* Why the pages of a field are not read; NULL: nothing tells so. Loads the field's page lists, where it has its own: all of a dataset
 * of few parts on this machine, or where its size is not known without them; else those of the first part. Lists that are damaged or missing tell nothing. */
enum nt_status nt_unread_find(struct nt_dataset *dataset, uint32_t field, const struct nt_error **reason_ret,
                              struct nt_error *error);

/* The same, as far as it is known. Loads nothing. */
const struct nt_error *nt_unread_known(const struct nt_dataset *dataset, uint32_t field);

/* Whether entries alone tell how many elements all streams of a field have. */
bool nt_field_size_is_known(const struct nt_dataset *dataset, uint32_t field);

#endif
