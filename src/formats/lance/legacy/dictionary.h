/* SPDX-License-Identifier: MIT
 *
 * Dictionaries of legacy files, whose items all batches share.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_DICTIONARY_H
#define NT_FORMAT_LANCE_LEGACY_DICTIONARY_H

#include "formats/lance/legacy/filling.h"

/* Find the items of the field's dictionary: listing->items. */
enum nt_status nt_lance_open_items(struct nt_lance_listing *listing);
/* Set the bytes of all strings that a batch numbers, from one look at its page. */
enum nt_status nt_lance_count_items(struct nt_lance_listing *listing, struct nt_lance_batch *batch);
/* The decoder of what is wanted of a batch's page. */
enum nt_status nt_lance_add_items_decoder(struct nt_lance_listing *listing,
                                          const struct nt_lance_batch *batch, enum nt_tree_output output,
                                          const struct nt_dtype *dtype, uint32_t *number_ret);

#endif
