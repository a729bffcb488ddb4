/* SPDX-License-Identifier: MIT
 *
 * Pages with the other pages that their plans need (a dictionary), which come through the cache.
 */
#ifndef NT_PAGE_INPUTS_H
#define NT_PAGE_INPUTS_H

#include "page/load.h"

/* nt_page_load_with for a page of any decoder. `context` NULL: one is borrowed. */
enum nt_status nt_page_load_all(const struct nt_page_request *request, void *output, struct nt_error *error);

#endif
