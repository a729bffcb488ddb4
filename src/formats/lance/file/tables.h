/* SPDX-License-Identifier: MIT
 *
 * Opening a Lance file, as far as its metadata go.
 */
#ifndef NT_FORMAT_LANCE_TABLES_H
#define NT_FORMAT_LANCE_TABLES_H

#include "formats/lance/file/opened.h"

/* Read tail, tables, descriptor and column metadata of a source, the data set's one of this number; not the fields of
 * the schema (nt_lance_read_schema). Of a legacy file, those and all else that the file's metadata tell (lance->legacy). NT_NOT_THIS_FORMAT, NT_UNSUPPORTED, NT_CORRUPT, NT_LIMIT. What a
 * legacy file tells lies in the nt_file's arena, whatever `memory` is. */
enum nt_status nt_lance_read(struct nt_lance_memory *memory, struct nt_source *source, uint32_t number,
                             struct nt_lance *lance, struct nt_error *error);

#endif
