/* SPDX-License-Identifier: MIT
 *
 * The pages of a field: read from the pages of the file's column that it comes from.
 */
#ifndef NT_FORMAT_LANCE_PAGES_H
#define NT_FORMAT_LANCE_PAGES_H

#include "formats/lance/file/places.h"

/* Fill a group, which is a field's, with the pages of what `use` takes of a file. Where lists or strings have to be
 * counted, the column is read once, chunk by chunk. */
enum nt_status nt_lance_fill_group(struct nt_dataset *dataset, uint32_t group, const struct nt_lance *lance,
                                   const struct nt_lance_use *use, struct nt_error *error);

/* nt_dataset_ops.load_group of a file that is mounted alone. */
enum nt_status nt_lance_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

#endif
