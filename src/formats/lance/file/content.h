/* SPDX-License-Identifier: MIT
 *
 * What the columns of a file's sides hold (sides.h).
 */
#ifndef NT_FORMAT_LANCE_CONTENT_H
#define NT_FORMAT_LANCE_CONTENT_H

#include "formats/lance/decode/description.h"
#include "core/model/model.h"

/* What a column of the two sides has of the pages of a column of the file. */
enum nt_lance_content {
    NT_LANCE_HAS_VALUES,    /* of fixed width */
    NT_LANCE_HAS_BYTES,     /* of strings */
    NT_LANCE_HAS_ROWS,      /* of packed structures */
    NT_LANCE_HAS_PLACES,    /* of blobs */
    NT_LANCE_HAS_LIST_ENDS, /* 2.0: where lists end in their page */
    NT_LANCE_HAS_NOTHING,   /* that could be decoded */
    NT_LANCE_HAS_ENDS,      /* structure: where strings end in their page */
    NT_LANCE_HAS_LEVELS,    /* structure: repetition and definition */
    NT_LANCE_CONTENT_COUNT
};

struct nt_lance_content_info {
    const char *name; /* the columns' type_name, the same pointer */
    enum nt_tree_output output;
};
const struct nt_lance_content_info *nt_lance_content_info(enum nt_lance_content content);
enum nt_lance_content nt_lance_content_of(const struct nt_column *column);

#endif
