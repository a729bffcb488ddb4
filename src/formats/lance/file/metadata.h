/* SPDX-License-Identifier: MIT
 *
 * Opening a legacy file, as far as its metadata go.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_METADATA_H
#define NT_FORMAT_LANCE_LEGACY_METADATA_H

#include "formats/lance/legacy/opened.h"

/* Of a file whose source, size and tail are known: read its Metadata, the Manifest that it has in it, with its fields and
 * their places, and the page table. Each field is a column of the file. NT_UNSUPPORTED where there is no manifest. Memory
 * is the nt_file's arena's, counted in its budget. */
enum nt_status nt_lance_legacy_read(struct nt_file *file, struct nt_lance *lance, struct nt_error *error);

/* The number of a file's field with this id, which is that of its column; NT_NONE: it has none. */
uint32_t nt_lance_find_id(const struct nt_lance_schema *schema, int32_t id);

#endif
