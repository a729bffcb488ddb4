/* SPDX-License-Identifier: MIT
 *
 * What the parts of a page are decoded with: the items of its dictionary.
 */
#ifndef NT_FORMAT_LANCE_INPUTS_H
#define NT_FORMAT_LANCE_INPUTS_H

#include "formats/lance/file/filling.h"
#include "formats/lance/file/units.h"

/* The items of a page's dictionary (1 page), of strings where they end and their bytes (2, of a dictionary that
 * nt_lance_read_dictionary has counted); 0 where the page has none. */
enum nt_status nt_lance_add_inputs(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                   struct nt_page inputs[2], uint32_t *count_ret);

#endif
