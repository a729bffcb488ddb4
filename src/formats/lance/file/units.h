/* SPDX-License-Identifier: MIT
 *
 * The parts of a page of the file that can be decoded alone.
 */
#ifndef NT_FORMAT_LANCE_UNITS_H
#define NT_FORMAT_LANCE_UNITS_H

#include "formats/lance/file/places.h"
#include "formats/lance/file/row_index.h"
#include "formats/lance/file/row_offsets.h"

/* A part of a page of the file that is decoded alone: a chunk of mini-blocks, some rows, or the whole page. */
struct nt_lance_unit {
    uint64_t offset, bytes;
    uint64_t values; /* that it holds, where they are counted without looking at it */
    uint64_t rows;   /* of the page's, where its rows' places tell; the values, but of lists */
};

/* A page of the file that is taken apart. */
struct nt_lance_opened {
    struct nt_lance_layout layout;
    const struct nt_lance_page *page;
    const uint8_t *chunks;               /* mini-blocks: a word for each, from malloc */
    struct nt_lance_row_index index;     /* of mini-blocks, where it was opened */
    struct nt_lance_row_offsets offsets; /* of full zip, where it has any */
    uint64_t unit_count, unit_bytes;     /* of them; about how many bytes one has, where rows are cut */
    uint64_t rows_per_unit, row_bytes;   /* how rows are cut, where they are; bytes of those that take any */
    bool is_plain; /* values lie in the units as they are: no tree is needed for them, and none are null */
    uint64_t next_offset, next_value; /* of the unit that comes next */
    uint64_t next_unit, next_row;
};

enum nt_status nt_lance_open_page(struct nt_dataset *dataset, const struct nt_lance *lance,
                                  const struct nt_lance_page *page, const struct nt_lance_use *use,
                                  const struct nt_tree *known, struct nt_lance_opened *opened,
                                  struct nt_error *error);
/* All of a page, from the first byte of a buffer to the last. */
struct nt_lance_unit nt_lance_page_span(const struct nt_lance_page *page);
/* Whether a page without levels has the same value, or null, in all rows, however many. */
bool nt_lance_is_uniform(const struct nt_tree *tree);
void nt_lance_close_page(struct nt_lance_opened *opened);
/* The next unit; call it unit_count times. */
enum nt_status nt_lance_next_unit(struct nt_lance_opened *opened, struct nt_lance_unit *unit,
                                  struct nt_error *error);

#endif
