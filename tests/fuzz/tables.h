/* SPDX-License-Identifier: MIT
 *
 * What the parser of a format makes of a file: datasets, fields, columns, page lists, layout; no page is decoded and no text is
 * made. Those are read through whole trees (walk.h), so that parsers are tried a hundred times as often.
 */
#ifndef NT_TESTS_TABLES_H
#define NT_TESTS_TABLES_H

#include "formats/formats.h"
#include "core/model/model.h"
#include "core/io/source.h"

enum { TABLES_METADATA_BYTES = 4 << 20 };

/* All page lists, and the layout. A failure that does not say why ends the program. */
void read_tables(struct nt_file *file);

/* Open a source as a file of this format and do so. The source is closed. */
void open_and_read_tables(const struct nt_format *format, struct nt_source *source);

#endif
