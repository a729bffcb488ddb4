/* SPDX-License-Identifier: MIT
 *
 * The pages of a field of a legacy file: one for each batch that has rows.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_PAGES_H
#define NT_FORMAT_LANCE_LEGACY_PAGES_H

#include "formats/lance/legacy/opened.h"
#include "formats/lance/file/places.h"

/* Fill a group, which is a field's, with the pages of what `use` takes of a file; `use->column` is the number of the
 * file's field. NT_UNSUPPORTED where that has another type than the data set's. */
enum nt_status nt_lance_legacy_fill_group(struct nt_dataset *dataset, uint32_t group,
                                          const struct nt_lance *lance, const struct nt_lance_use *use,
                                          struct nt_error *error);

#endif
