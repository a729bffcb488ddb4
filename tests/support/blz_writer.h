/* SPDX-License-Identifier: MIT
 *
 * The files of which BLZ and bcolz make an array, and others, in a directory of the test's own.
 */
#ifndef NT_TESTS_BLZ_WRITER_H
#define NT_TESTS_BLZ_WRITER_H

#include <stddef.h>

extern char root[64]; /* the directory; names are below it */

/* A file below the root, with the directories on its way. */
void put_file(const char *name, const void *bytes, size_t count);
void put_text(const char *name, const char *text);
/* meta/sizes and meta/storage of an array. */
void put_metadata(const char *array, const char *dtype, const char *shape, unsigned chunk_rows);
/* A chunk file as blz and bcolz write it. */
void put_chunk(const char *array, unsigned number, const void *bytes, size_t count, unsigned type_bytes);

#endif
