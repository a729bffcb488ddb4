/* SPDX-License-Identifier: MIT
 *
 * What is kept of an open file of the legacy format (0.1, 0.2), beside what it has in common with later ones: batches of
 * rows, and of each field in each batch where its page lies.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_OPENED_H
#define NT_FORMAT_LANCE_LEGACY_OPENED_H

#include "formats/lance/file/opened.h"

/* Of a field in a batch. Both are 0 where it has no page: of structures. */
struct nt_lance_cell {
    uint64_t offset;
    uint64_t length; /* elements: of lists one more than rows; of strings rows, whose offsets are one more */
};

struct nt_lance_page_table {
    uint64_t offset; /* where it lies */
    int32_t first;   /* the id of its first field */
    uint32_t fields; /* ids that follow one another */
    uint32_t batches;
    const struct nt_lance_cell *cells; /* of each field those of all batches */
};

/* The cells of a field, one for each batch; NULL: the table has none of this id. */
const struct nt_lance_cell *nt_lance_cells(const struct nt_lance_page_table *table, int32_t id);

enum nt_lance_page_kind {
    NT_LANCE_PAGE_NONE,       /* structures, nulls */
    NT_LANCE_PAGE_PLAIN,      /* values one behind the other */
    NT_LANCE_PAGE_STRINGS,    /* where each begins in the file, and where the last one ends, in 64 bits */
    NT_LANCE_PAGE_LISTS,      /* the same among the batch's items, in 32 or 64 bits */
    NT_LANCE_PAGE_DICTIONARY, /* numbers of items, which all batches share */
};

/* How the pages of a field are made. */
struct nt_lance_paging {
    enum nt_lance_page_kind kind;
    uint32_t bits; /* of an element of a page */
    struct {
        uint64_t offset, length; /* as in a cell: of items, which are plain or strings */
    } dictionary;
    const struct nt_error *failure; /* NULL, or why its pages cannot be read */
};

/* Statistics of pages: columns of another schema, with a row for each batch of the file; a structure for each field that
 * has them, whose name is the field's id. They are one batch themselves, and have a page table of their own. */
struct nt_lance_statistics {
    struct nt_lance_schema schema; /* no fields: there are no statistics */
    struct nt_lance_page_table table;
    const struct nt_lance_paging *pagings; /* by its fields */
    const struct nt_error *failure; /* NULL, or why they cannot be read; then there are none of the above */
};

struct nt_lance_legacy {
    struct nt_lance_buffer metadata_range; /* of the message, its length in front of it left out */
    struct nt_proto metadata;              /* a Metadata */
    const uint64_t *batches;               /* table.batches + 1: the first rows, and all */
    struct nt_lance_page_table table;
    const struct nt_lance_paging *pagings; /* by field of the file's schema */
    struct nt_lance_statistics statistics;
};

/* In front of a message stands its length. */
enum { NT_LANCE_LENGTH_BYTES = 4 };

#endif
