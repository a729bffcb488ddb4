/* SPDX-License-Identifier: MIT
 *
 * NumPy's data types as texts: the names and codes of plain types ("int32", ">i4", "datetime64[s]"), and the
 * Python literals of structured ones ("[('a', '<i4'), ('b', '<f8', (3,))]", "{'names': ...}", "('<f4',
 * (2,))").
 */
#ifndef NT_FORMAT_BLZ_DTYPE_H
#define NT_FORMAT_BLZ_DTYPE_H

#include "formats/blz/dtype_plain.h"

/* Read a dtype's text; everything of the result lies in the arena. NT_CORRUPT where it is none, with its
 * place in the text as offset; NT_UNSUPPORTED for a structure whose members overlap or are out of order;
 * NT_LIMIT. */
enum nt_status nt_blz_dtype_parse(struct nt_arena *arena, const char *text, size_t length,
                                  struct nt_blz_dtype *dtype, struct nt_error *error);

#endif
