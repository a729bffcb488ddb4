/* SPDX-License-Identifier: MIT
 *
 * Where a page stands, for messages to people.
 */
#ifndef NT_PAGE_PAGE_ERROR_H
#define NT_PAGE_PAGE_ERROR_H

#include "model/model.h"

/* Put "column 3 (SplitInt32) of field jets.pt, page 5 of cluster 2: " in front of the error's message and set
 * its offset to the page's where it has none and the page is not missing. Returns the error's status. */
enum nt_status nt_page_error(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                             enum nt_status status, struct nt_error *error);

#endif
