/* SPDX-License-Identifier: MIT
 *
 * The shapes of a field and of those below it: a tree as deep as the schema (NT_MAX_DEPTH at most), with
 * windows on the streams that rows are made from.
 */
#ifndef NT_VIEW_ROW_SHAPE_H
#define NT_VIEW_ROW_SHAPE_H

#include "base/buffer.h"
#include "view/window.h"

enum nt_shape_kind {
    NT_SHAPE_NOTHING, /* left out: its reason is in field.json */
    NT_SHAPE_VALUE,
    NT_SHAPE_VALUES, /* a bitset, or fixed dimensions */
    NT_SHAPE_TEXT,
    NT_SHAPE_BASE64,
    NT_SHAPE_ARRAY,    /* a collection */
    NT_SHAPE_OPTIONAL, /* no or one item */
    NT_SHAPE_DENSE_OPTIONAL,
    NT_SHAPE_VARIANT,
    NT_SHAPE_FIXED, /* std::array: `size` items a row */
    NT_SHAPE_OBJECT,
    NT_SHAPE_OBJECTS, /* structures in fixed dimensions */
    NT_SHAPE_TUPLE,
    NT_SHAPE_WRAPPER, /* enum, atomic: the only sub-field's value */
};

struct nt_row_shape {
    enum nt_shape_kind kind;
    uint32_t field;
    uint64_t size;
    struct nt_window data, offsets; /* of a variant: tags and index; of a dense optional: valid */
    struct nt_buffer gathered;      /* values of a row that do not lie together */
    struct nt_row_shape *children;
    uint32_t child_count;
};

/* The shape is all zero before. `field` NT_NONE: all top-level fields, as an object. After a failure, too, it
 * is to be ended by the second. */
enum nt_status nt_row_shape_init(struct nt_row_shape *shape, struct nt_reader *reader,
                                 struct nt_dataset *dataset, uint32_t field, struct nt_error *error);
void nt_row_shape_deinit(struct nt_row_shape *shape);

#endif
