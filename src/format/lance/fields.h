/* SPDX-License-Identifier: MIT
 *
 * From Lance's fields to those of the model, and back: which of the file's columns a field is made from.
 */
#ifndef NT_FORMAT_LANCE_FIELDS_H
#define NT_FORMAT_LANCE_FIELDS_H

#include "format/lance/trees.h"

/* Of a field of the model. */
struct nt_lance_use {
    uint32_t column;                    /* of the file; NT_NONE: none */
    uint32_t layer;                     /* of that column's pages, innermost 0 */
    uint32_t depth;                     /* fixed-size lists around the field's rows, inside the layer */
    uint64_t items;                     /* rows in one row of the layer: the product of those lists */
    uint32_t member;                    /* of packed structures */
    uint64_t member_offset;             /* bytes */
    bool is_one_based;                  /* numbers of a dictionary of version 2.0 */
    const struct nt_lance_value *value; /* of the column */
};

/* Fill the data set's fields and columns; lance->uses tells, by field, where they come from. */
enum nt_status nt_lance_build_fields(struct nt_dataset *dataset, struct nt_lance *lance,
                                     struct nt_error *error);

#endif
