/* SPDX-License-Identifier: MIT
 *
 * The shapes of a field and of those below it: a tree as deep as the schema (NT_MAX_DEPTH at most), with
 * windows on the streams that rows are made from.
 */
#ifndef NT_VIEW_ROW_SHAPE_H
#define NT_VIEW_ROW_SHAPE_H

#include "core/base/buffer.h"
#include "core/model/kind.h"
#include "render/window.h"

struct nt_row_shape {
    enum nt_form form; /* NOTHING: left out; the reason is in field.json */
    uint32_t field;
    bool is_unread;                 /* NOTHING, as page lists tell */
    bool has_dimensions;            /* values, or records, in fixed dimensions */
    uint64_t size;                  /* values of a row, items of a fixed list */
    struct nt_window data, offsets; /* of a variant: tags and index; of a dense optional: valid */
    struct nt_window valid;         /* of a nullable field */
    struct nt_buffer gathered;      /* values of a row that do not lie together */
    struct nt_row_shape *children;
    uint32_t child_count;
};

/* The shape is all zero before. `field` NT_NONE: all top-level fields, as an object. After a failure, too, it
 * is to be ended by the second. */
enum nt_status nt_row_shape_init(struct nt_row_shape *shape, struct nt_reader *reader,
                                 struct nt_dataset *dataset, uint32_t field, struct nt_error *error);
void nt_row_shape_deinit(struct nt_row_shape *shape);

/* The first rows will be read: all columns' sources are told at once. */
void nt_row_shape_want_start(const struct nt_row_shape *shape, const struct nt_dataset *dataset);

/* Share out so many bytes among the windows of the shape and of those below it. */
void nt_row_shape_bound(struct nt_row_shape *shape, uint64_t bytes);
/* Memory that shapes and windows take. */
size_t nt_row_shape_memory(const struct nt_row_shape *shape);

#endif
