/* SPDX-License-Identifier: MIT
 *
 * From Lance's fields to those of the model.
 */
#ifndef NT_FORMAT_LANCE_FIELDS_H
#define NT_FORMAT_LANCE_FIELDS_H

#include "formats/lance/file/places.h"

/* How elements lie that no tree has to make. */
enum nt_encoding_kind nt_lance_encoding_of(enum nt_element element);

/* Fill the data set's fields and columns from a schema whose places are known; schema->parts tells, by field of the
 * model, what it shows. `leaves`: by the schema's fields, as nt_lance_number_columns finds them. `lance`: the file that
 * is mounted alone, or NULL: its files each tell for themselves. */
enum nt_status nt_lance_build_fields(struct nt_dataset *dataset, struct nt_lance_schema *schema,
                                     const struct nt_lance_leaf *leaves, const struct nt_lance *lance,
                                     struct nt_error *error);

#endif
