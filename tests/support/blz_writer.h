/* SPDX-License-Identifier: MIT
 *
 * Writes the files of BLZ and bcolz arrays, and other files, into the directory of a test.
 */
#pragma once

#include <stddef.h>

extern char root[64]; /* the directory; all names are relative to it */

/* Write a file below the root and create its parent directories. */
void put_file(const char *name, const void *bytes, size_t count);
void put_text(const char *name, const char *text);
/* Writes meta/sizes and meta/storage of an array. */
void put_metadata(const char *array, const char *dtype, const char *shape, unsigned chunk_rows);
/* Writes a chunk file in the format of blz and bcolz. */
void put_chunk(const char *array, unsigned number, const void *bytes, size_t count, unsigned type_bytes);
