/* SPDX-License-Identifier: MIT
 *
 * What a field's rows are made of: decided by its structural role, its columns and its type name.
 * Specification, "Mapping of C++ Types to Fields and Columns".
 */
#ifndef NT_FORMAT_RNTUPLE_FIELD_KIND_H
#define NT_FORMAT_RNTUPLE_FIELD_KIND_H

#include "format/rntuple/schema.h"

/* The element that a C++ type name stands for ("std::int32_t", "Double32_t"); false for all other types. */
bool nt_type_element(struct nt_text type, enum nt_element *element_ret);

/* Set kind, dtype and, where the data cannot be served, the reason of all fields of a linked data set.
 * `records` are the fields' own, as stored. */
enum nt_status nt_field_kinds_decide(struct nt_dataset *dataset, const struct nt_field_record *records,
                                     struct nt_error *error);

#endif
