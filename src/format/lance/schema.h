/* SPDX-License-Identifier: MIT
 *
 * The schema of a Lance file: global buffer 0.
 */
#ifndef NT_FORMAT_LANCE_SCHEMA_H
#define NT_FORMAT_LANCE_SCHEMA_H

#include "format/lance/opened.h"

/* Check lance->descriptor, which lies in the first of lance->globals, and fill rows and fields. */
enum nt_status nt_lance_read_schema(struct nt_file *file, struct nt_lance *lance, struct nt_error *error);

#endif
