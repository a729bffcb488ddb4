/* SPDX-License-Identifier: MIT
 *
 * One array directory: its metadata, and the columns that it becomes.
 */
#ifndef NT_FORMAT_BLZ_ARRAY_H
#define NT_FORMAT_BLZ_ARRAY_H

#include "formats/blz/build.h"

struct nt_blz_array {
    const char *directory, *data; /* in the folder: the array's, and that of its files */
    struct nt_blz_dtype dtype;
    struct nt_text type;       /* the dtype's text */
    uint64_t rows, chunk_rows; /* chunk_rows 0: not told */
    uint64_t *dimensions;      /* beyond the rows */
    uint32_t dimension_count;
    bool is_scalar;      /* without dimensions, not even rows */
    bool is_column_wise; /* a structure whose members have directories of their own */
};

/* Read meta/sizes, meta/storage and the attributes of the array in `directory` into `node`, and what follows
 * from them. */
enum nt_status nt_blz_array_read(struct nt_blz_build *build, const char *directory, struct nt_blz_node *node,
                                 struct nt_blz_array *array, struct nt_error *error);

/* Give `field` the array's rows. */
enum nt_status nt_blz_array_add(struct nt_blz_build *build, const struct nt_blz_array *array, uint32_t field,
                                struct nt_error *error);

/* A field below `parent` (NT_NONE: at the top) for each member of a column-wise array. */
enum nt_status nt_blz_array_add_members(struct nt_blz_build *build, const struct nt_blz_array *array,
                                        uint32_t parent, struct nt_error *error);

/* The attributes of an array or table, into `node`: __attrs__, or meta/attributes. */
enum nt_status nt_blz_attributes_read(struct nt_blz_build *build, const char *directory,
                                      struct nt_blz_node *node, struct nt_error *error);

/* Sizes as a JSON list of integers: the first is the rows, the others go to the arena. */
enum nt_status nt_blz_shape_read(struct nt_arena *arena, const json_t *shape, uint64_t *rows_ret,
                                 uint64_t **dimensions_ret, uint32_t *count_ret, struct nt_error *error);

#endif
