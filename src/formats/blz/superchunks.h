/* SPDX-License-Identifier: MIT
 *
 * How many elements a superchunk has that cannot tell it itself.
 */
#ifndef NT_FORMAT_BLZ_SUPERCHUNKS_H
#define NT_FORMAT_BLZ_SUPERCHUNKS_H

#include "formats/blz/opened.h"

/* The elements of a full superchunk of a column, of which `total` elements are stored. 0: the files do not prove it, so that
 * nothing behind one that is missing can be placed. It is proven where all files that can be counted, but for the last one, have
 * the same number, the last one has the rest, and no file is missing behind it. */
enum nt_status nt_blz_superchunk_elements(const struct nt_dataset *dataset,
                                          const struct nt_blz_column *column, uint32_t element_bytes,
                                          uint64_t total, uint64_t *elements_ret, struct nt_error *error);

/* How many superchunks come before a file of the column, missing ones, too. */
static inline uint64_t nt_blz_superchunk_index(const struct nt_blz_column *column, uint32_t file)
{
    uint64_t first = column->numbers && column->numbers[0] == 0 ? 0 : 1;
    return column->numbers ? column->numbers[file] - first : file;
}

#endif
