/* SPDX-License-Identifier: MIT
 *
 * Runs the parser of a format: datasets, fields, columns, page lists, layout. Decodes no page and
 * generates no text (walk.h does), so that fuzzers run parsers a hundred times as often.
 */
#pragma once

#include "formats/formats.h"
#include "core/model/model.h"
#include "core/io/source.h"

enum { TABLES_METADATA_BYTES = 4 << 20 };

/* Loads all page lists and the layout. Aborts on a failure without a message. */
void read_tables(struct nt_file *file);

/* Opens a source as a file of the given format, calls read_tables and closes the source. */
void open_and_read_tables(const struct nt_format *format, struct nt_source *source);
