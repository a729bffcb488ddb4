/* SPDX-License-Identifier: MIT
 *
 * Structures that were slices when a legacy file was written.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_SLICES_H
#define NT_FORMAT_LANCE_LEGACY_SLICES_H

#include "formats/lance/legacy/opened.h"
#include "formats/lance/file/places.h"

/* Give each field that cannot be read since a structure around it was a slice its `failure`. `columns`: of the file, by field. */
enum nt_status nt_lance_refuse_slices(struct nt_file *file, const struct nt_lance *lance,
                                      struct nt_lance_column *columns, struct nt_error *error);

#endif
