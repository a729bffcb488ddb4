/* SPDX-License-Identifier: MIT
 *
 * From a column or page of a side (sides.h) to that of the file which it is: of a file that is mounted alone, or one of
 * those of a data set.
 */
#ifndef NT_FORMAT_LANCE_HOMES_H
#define NT_FORMAT_LANCE_HOMES_H

#include "formats/lance/file/places.h"

/* The column of a file that a part of a field is stored in. */
struct nt_lance_home {
    const struct nt_lance *lance; /* NULL: none */
    struct nt_lance_use use;
    /* Of data sets: */
    const char *name; /* of the file, beneath the data set's directory; NULL: it is mounted alone */
    uint64_t fragment;
};

/* What both sides are made of; their format_data. */
struct nt_lance_side {
    const struct nt_lance_schema *schema;
    const struct nt_lance_leaf *leaves; /* by its fields: the columns of `stored` */
    bool has_levels;                    /* there are files whose columns may have levels */
    /* Find the column of a field's part; of a data set it is known until the next one is looked for. Under the data set's lock. */
    enum nt_status (*find_home)(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                struct nt_lance_home *home_ret, struct nt_error *error);
    /* The part that has the pages of a file, by the number of its source. NULL: there is one part. */
    uint32_t (*find_part)(const struct nt_dataset *dataset, uint32_t source);
};

static inline const struct nt_lance_side *nt_lance_side_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* The page of a file that a page of `stored` is, in a loaded group; NULL: there is none. Under the data set's lock. */
const struct nt_lance_page *nt_lance_file_page(const struct nt_dataset *stored, uint32_t column,
                                               const struct nt_page *page, struct nt_lance_home *home_ret);

#endif
