/* SPDX-License-Identifier: MIT
 *
 * Fields of two files by their paths; of items and alternatives places are compared, not names.
 */
#ifndef NT_CHAIN_FIELDS_H
#define NT_CHAIN_FIELDS_H

#include "model/model.h"

/* Find each field of a data set in another one: `fields_ret[field]` is its number there, NT_NONE of what lies below what
 * differs. NT_CORRUPT with the field, what it is here and there, where one is missing, is another one, or the other data
 * set has one that this one has not. */
enum nt_status nt_chain_match_fields(const struct nt_dataset *dataset, const struct nt_dataset *other,
                                     uint32_t *fields_ret, struct nt_error *error);

#endif
