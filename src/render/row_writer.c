/* SPDX-License-Identifier: MIT
 *
 * Writes one row of a field or of a whole dataset as a JSON value, or one field of it as a table cell.
 * The shape of a row is a tree as deep as the schema.
 */
#include "render/render.h"

/* ---- Projection ---- */

/* [field]: shown, or only an ancestor of fields that are. */
enum { HIDDEN, IS_ANCESTOR, IS_SHOWN };

struct projection {
    uint8_t *fields; /* NULL: all are shown */
    uint32_t *tops;  /* the top-level fields that are not hidden */
    uint32_t top_count;
    bool is_cell;
};

static unsigned visibility_of(const struct projection *projection, uint32_t field)
{
    return projection->fields && field != NT_NONE ? projection->fields[field] : IS_SHOWN;
}

/* The caller always frees the members. */
static enum nt_status project(struct projection *projection, const struct nt_dataset *dataset,
                              const uint32_t *fields, uint32_t count, struct nt_error *error)
{
    uint32_t all;
    const uint32_t *tops = nt_dataset_children(dataset, NT_NONE, &all);
    projection->fields = calloc((size_t)dataset->field_count + 1, 1);
    projection->tops = calloc((size_t)(count < all ? count : all) + 1, sizeof(*projection->tops));
    NT_TRY(nt_check_memory(projection->fields && projection->tops, error));
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t at = fields[i]; at != NT_NONE; at = dataset->fields[at].parent)
            if (projection->fields[at] == HIDDEN)
                projection->fields[at] = IS_ANCESTOR;
        projection->fields[fields[i]] = IS_SHOWN;
    }
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        uint32_t at = i;
        while (at != NT_NONE && projection->fields[at] != IS_SHOWN)
            at = dataset->fields[at].parent;
        if (at != NT_NONE)
            projection->fields[i] = IS_SHOWN;
    }
    for (uint32_t i = 0; i < all; i++)
        if (projection->fields[tops[i]] != HIDDEN)
            projection->tops[projection->top_count++] = tops[i];
    return NT_OK;
}

/* ---- Row layout ---- */

struct nt_row_shape {
    enum nt_form form; /* NOTHING: omitted; field.json has the reason */
    uint32_t field;
    bool is_unread;                        /* form is NOTHING because of the page lists */
    bool is_hidden;                        /* form is NOTHING because the field is not chosen */
    bool has_dimensions;                   /* an array of values or of records */
    bool is_fortran_order;                 /* the values of a row are not contiguous */
    bool is_empty;                         /* a row needs no bytes of the file */
    bool is_ancestor;                      /* a record that shows one member, without its name */
    uint64_t size;                         /* values per row, or items of a fixed list */
    struct nt_stream_cursor data, offsets; /* variant: tags, index; dense optional: row mask in data */
    struct nt_stream_cursor valid;         /* row mask of a nullable field */
    struct nt_buffer gathered;             /* non-contiguous values of a row, or generated JSON */
    struct nt_row_shape *children;
    uint32_t child_count;
    bool has_offsets_ahead; /* of rows [first, end), requested for what is below them */
    uint64_t first, end;
};

static enum nt_status row_shape_init(struct nt_row_shape *shape, struct nt_reader *reader,
                                     struct nt_dataset *dataset, uint32_t field,
                                     const struct projection *projection, struct nt_error *error);

static void row_shape_deinit(struct nt_row_shape *shape)
{
    nt_stream_cursor_close(&shape->data);
    nt_stream_cursor_close(&shape->offsets);
    nt_stream_cursor_close(&shape->valid);
    nt_buffer_deinit(&shape->gathered);
    for (uint32_t i = 0; i < shape->child_count; i++)
        row_shape_deinit(&shape->children[i]);
    free(shape->children);
}

static uint32_t count_cursors(const struct nt_row_shape *shape)
{
    uint32_t count =
        (shape->data.stream != NULL) + (shape->offsets.stream != NULL) + (shape->valid.stream != NULL);
    for (uint32_t i = 0; i < shape->child_count; i++)
        count += count_cursors(&shape->children[i]);
    return count;
}

/* Omits a field that is unreadable because its only child is. */
static void omit_if_empty(struct nt_row_shape *shape)
{
    bool needs_one = shape->form == NT_FORM_LIST || shape->form == NT_FORM_FIXED_LIST ||
                     shape->form == NT_FORM_OPTIONAL || shape->form == NT_FORM_WRAPPER;
    if (needs_one && (shape->child_count != 1 || shape->children[0].form == NT_FORM_NOTHING))
        shape->form = NT_FORM_NOTHING;
}

/* The values of a struct are those of its members, which read the same bytes. */
static void set_field(struct nt_row_shape *shape, const struct nt_field *field)
{
    shape->form = nt_field_kind_info(field->kind)->form;
    shape->size = nt_field_rows_below(field);
    shape->is_fortran_order = nt_field_is_fortran_order(field);
    if (shape->form != NT_FORM_VALUE)
        return;
    shape->size = nt_field_row_elements(field);
    shape->has_dimensions = field->dimension_count;
    if (nt_field_has_members(field))
        shape->form = NT_FORM_RECORD;
}

/* Returns the cursor for a stream: end offsets and indexes, the row mask, or data. NULL: not needed. */
static struct nt_stream_cursor *cursor_of(struct nt_row_shape *shape, const struct nt_field *field,
                                          enum nt_stream_kind kind)
{
    if (kind == NT_STREAM_VALID && field->is_nullable)
        return &shape->valid;
    if (shape->form == NT_FORM_RECORD)
        return NULL;
    return kind == NT_STREAM_OFFSETS || kind == NT_STREAM_INDEX ? &shape->offsets : &shape->data;
}

static enum nt_status open_cursors(struct nt_row_shape *shape, struct nt_reader *reader,
                                   struct nt_dataset *dataset, struct nt_error *error)
{
    const struct nt_field *field = &dataset->fields[shape->field];
    for (unsigned i = 0; i < NT_STREAM_COUNT; i++) {
        enum nt_stream_kind kind = (enum nt_stream_kind)i;
        struct nt_stream_cursor *cursor = cursor_of(shape, field, kind);
        if (cursor && nt_field_has_stream(field, kind))
            NT_TRY(nt_stream_cursor_open(cursor, reader, dataset, shape->field, kind, error));
    }
    return NT_OK;
}

static enum nt_status init_children(struct nt_row_shape *shape, struct nt_reader *reader,
                                    struct nt_dataset *dataset, const uint32_t *children,
                                    const struct projection *projection, struct nt_error *error)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < shape->child_count; i++) {
        bool is_shown = visibility_of(projection, children[i]) != HIDDEN;
        shown += is_shown;
        if (is_shown && !shape->children[i].is_unread)
            NT_TRY(row_shape_init(&shape->children[i], reader, dataset, children[i], projection, error));
    }
    shape->is_ancestor =
        projection->is_cell && shown == 1 && visibility_of(projection, shape->field) == IS_ANCESTOR;
    return NT_OK;
}

/* Omits fields that this version cannot read according to their page lists. If no field remains, keeps
 * all, so that each row fails with the error of the page lists. */
static enum nt_status find_unread(struct nt_row_shape *shape, struct nt_dataset *dataset,
                                  const uint32_t *children, const struct projection *projection,
                                  struct nt_error *error)
{
    uint32_t unread = 0, left = 0;
    for (uint32_t i = 0; i < shape->child_count; i++) {
        const struct nt_error *reason = NULL;
        bool is_shown = visibility_of(projection, children[i]) != HIDDEN;
        NT_TRY(is_shown ? nt_unsupported_find(dataset, children[i], &reason, error) : NT_OK);
        unread += reason != NULL;
        left += is_shown && !reason &&
                nt_field_kind_info(dataset->fields[children[i]].kind)->form != NT_FORM_NOTHING;
        shape->children[i].field = children[i];
        shape->children[i].is_unread = reason != NULL;
        shape->children[i].is_hidden = !is_shown;
        shape->children[i].form = NT_FORM_NOTHING;
    }
    bool is_all = shape->field == NT_NONE && unread && !left && dataset->part_count > 1;
    for (uint32_t i = 0; is_all && i < shape->child_count; i++)
        shape->children[i].is_unread = false;
    return NT_OK;
}

/* Initializes a zeroed shape; `field` NT_NONE: all top-level fields. The caller always deinits it. */
static enum nt_status row_shape_init(struct nt_row_shape *shape, struct nt_reader *reader,
                                     struct nt_dataset *dataset, uint32_t field,
                                     const struct projection *projection, struct nt_error *error)
{
    uint32_t count = 0;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    if (field == NT_NONE && projection->fields) {
        children = projection->tops;
        count = projection->top_count;
    }
    shape->field = field;
    shape->form = NT_FORM_RECORD;
    if (field != NT_NONE) {
        set_field(shape, &dataset->fields[field]);
        NT_TRY(open_cursors(shape, reader, dataset, error));
    }
    if (shape->form == NT_FORM_NOTHING)
        return NT_OK;
    shape->children = calloc(count ? count : 1, sizeof(*shape->children));
    NT_TRY(nt_check_memory(shape->children, error));
    shape->child_count = count;
    NT_TRY(find_unread(shape, dataset, children, projection, error));
    NT_TRY(init_children(shape, reader, dataset, children, projection, error));
    omit_if_empty(shape);
    shape->is_empty = count_cursors(shape) == 0;
    return NT_OK;
}

/* ---- Prefetch ---- */

static void prefetch_start(const struct nt_row_shape *shape, struct nt_prefetch *prefetch)
{
    const struct nt_stream_cursor *cursors[] = {&shape->offsets, &shape->data, &shape->valid};
    for (size_t i = 0; i < sizeof(cursors) / sizeof(*cursors); i++)
        if (cursors[i]->stream)
            nt_stream_prefetch(cursors[i]->stream, prefetch, 0, cursors[i]->requested, UINT64_MAX);
    for (uint32_t i = 0; i < shape->child_count; i++)
        prefetch_start(&shape->children[i], prefetch);
}

static void prefetch_only(struct nt_prefetch *prefetch, struct nt_stream_cursor *cursor, uint64_t first,
                          uint64_t end)
{
    if (!cursor->stream)
        return;
    cursor->end = end;
    nt_stream_prefetch_only(cursor->stream, prefetch, first, end);
}

/* Prefetches rows [first, end) of a shape, as far as their places are known: strings and items follow
 * once their offsets have been read, alternatives of variants not at all. */
static void prefetch_rows(struct nt_prefetch *prefetch, struct nt_row_shape *shape, uint64_t first,
                          uint64_t end)
{
    bool has_index = shape->form == NT_FORM_VARIANT;
    uint64_t below = shape->form == NT_FORM_FIXED_LIST || shape->has_dimensions ? shape->size : 1;
    prefetch_only(prefetch, &shape->valid, first, end);
    if (shape->offsets.stream)
        prefetch_only(prefetch, &shape->offsets, first, has_index ? end : end + 1);
    if (shape->offsets.stream && !has_index) {
        shape->has_offsets_ahead = true;
        shape->first = first;
        shape->end = end;
        return;
    }
    if (!nt_checked_multiply(end, below, &end) || shape->is_fortran_order)
        return;
    prefetch_only(prefetch, &shape->data, first * below, end);
    for (uint32_t i = 0; !has_index && i < shape->child_count; i++)
        prefetch_rows(prefetch, &shape->children[i], first * below, end);
}

/* Prefetches what the offsets lead to. A failure is that of the rows. False: there is nothing left. */
static bool prefetch_below(struct nt_prefetch *prefetch, struct nt_row_shape *shape)
{
    struct nt_error error = {0};
    uint64_t first, end;
    bool has_more = shape->has_offsets_ahead;
    for (uint32_t i = 0; i < shape->child_count; i++)
        has_more |= prefetch_below(prefetch, &shape->children[i]);
    if (!shape->has_offsets_ahead)
        return has_more;
    shape->has_offsets_ahead = false;
    if (nt_stream_cursor_get_u64(&shape->offsets, shape->first, &first, &error) != NT_OK ||
        nt_stream_cursor_get_u64(&shape->offsets, shape->end, &end, &error) != NT_OK || first >= end)
        return true;
    prefetch_only(prefetch, &shape->data, first, end);
    for (uint32_t i = 0; i < shape->child_count; i++)
        prefetch_rows(prefetch, &shape->children[i], first, end);
    return true;
}

/* ---- Memory ---- */

static void bound_cursors(struct nt_row_shape *shape, size_t bytes)
{
    if (bytes < shape->data.max_bytes)
        shape->data.max_bytes = bytes;
    if (bytes < shape->offsets.max_bytes)
        shape->offsets.max_bytes = bytes;
    if (bytes < shape->valid.max_bytes)
        shape->valid.max_bytes = bytes;
    for (uint32_t i = 0; i < shape->child_count; i++)
        bound_cursors(&shape->children[i], bytes);
}

/* Returns the memory of shapes and cursors. */
static size_t row_shape_memory(const struct nt_row_shape *shape)
{
    size_t bytes = sizeof(*shape) + nt_stream_cursor_memory(&shape->data) +
                   nt_stream_cursor_memory(&shape->offsets) + nt_stream_cursor_memory(&shape->valid) +
                   shape->gathered.capacity;
    for (uint32_t i = 0; i < shape->child_count; i++)
        bytes += row_shape_memory(&shape->children[i]);
    return bytes;
}

/* ---- Row as JSON or cell ---- */

struct nt_row_writer {
    struct nt_dataset *dataset;
    uint64_t rows, max_bytes;
    struct nt_row_shape root;
    struct nt_row_shape **cells; /* the readable children of the root */
    uint32_t cell_count;
    size_t cell_capacity;
};

/* ---- Opening ---- */

static enum nt_status find_cells(struct nt_row_writer *writer, const struct nt_row_shape *shape,
                                 const struct projection *projection, struct nt_error *error)
{
    for (uint32_t i = 0; i < shape->child_count; i++) {
        struct nt_row_shape *child = &shape->children[i];
        if (child->form == NT_FORM_NOTHING)
            continue;
        /* A record of which only members are chosen is not a cell, but each of these is. */
        if (visibility_of(projection, child->field) == IS_ANCESTOR && child->form == NT_FORM_RECORD &&
            !child->has_dimensions && !child->valid.stream) {
            NT_TRY(find_cells(writer, child, projection, error));
            continue;
        }
        NT_TRY(nt_check_memory(NT_GROW(writer->cells, writer->cell_count, writer->cell_capacity), error));
        writer->cells[writer->cell_count++] = child;
    }
    return NT_OK;
}

static enum nt_status open_writer(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                  const struct projection *projection, struct nt_row_writer **writer_ret,
                                  struct nt_error *error)
{
    enum { MIN_BYTES = 512 };
    NT_CLEANUP(nt_row_writer_close_at) struct nt_row_writer *writer = calloc(1, sizeof(*writer));
    NT_TRY(nt_check_memory(writer, error));
    writer->dataset = dataset;
    writer->rows = nt_dataset_entries(dataset);
    writer->max_bytes = NT_ROW_MAX_BYTES;
    if (field != NT_NONE)
        NT_TRY(nt_field_rows(reader, dataset, field, &writer->rows, error));
    NT_TRY(row_shape_init(&writer->root, reader, dataset, field, projection, error));
    if (field == NT_NONE)
        NT_TRY(find_cells(writer, &writer->root, projection, error));
    uint32_t cursors = count_cursors(&writer->root);
    uint64_t share = nt_reader_buffer_bytes(reader) / (cursors ? cursors : 1);
    bound_cursors(&writer->root, share > MIN_BYTES ? share : MIN_BYTES);
    *writer_ret = writer;
    writer = NULL;
    return NT_OK;
}

enum nt_status nt_row_writer_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                  struct nt_row_writer **writer_ret, struct nt_error *error)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    nt_fields_announce(dataset, children, count);
    if (field == NT_NONE)
        nt_rows_count_together(reader, dataset, children, count);
    else
        nt_rows_count_together(reader, dataset, &field, 1);
    return open_writer(reader, dataset, field, &(struct projection){.fields = NULL}, writer_ret, error);
}

enum nt_status nt_row_writer_open_fields(struct nt_reader *reader, struct nt_dataset *dataset,
                                         const uint32_t *fields, uint32_t count, bool is_cell,
                                         struct nt_row_writer **writer_ret, struct nt_error *error)
{
    struct projection projection = {.is_cell = is_cell};
    enum nt_status status = project(&projection, dataset, fields, count, error);
    nt_fields_announce(dataset, fields, count);
    nt_rows_count_together(reader, dataset, fields, count);
    if (status == NT_OK)
        status = open_writer(reader, dataset, NT_NONE, &projection, writer_ret, error);
    free(projection.tops);
    free(projection.fields);
    return status;
}

void nt_row_writer_close(struct nt_row_writer *writer)
{
    if (!writer)
        return;
    row_shape_deinit(&writer->root);
    free(writer->cells);
    free(writer);
}

size_t nt_row_writer_memory(const struct nt_row_writer *writer)
{
    return sizeof(*writer) + writer->cell_count * sizeof(*writer->cells) + row_shape_memory(&writer->root);
}

void nt_row_writer_set_max_bytes(struct nt_row_writer *writer, uint64_t bytes)
{
    writer->max_bytes = bytes;
}

/* One request after another, but all columns at once. */
static void prefetch_all(struct nt_row_writer *const *writers, size_t count, uint64_t first, uint64_t end)
{
    struct nt_prefetch prefetch = {.need = NT_PREFETCH_NOW};
    for (size_t i = 0; i < count; i++)
        if (writers[i] && nt_prefetch_helps(writers[i]->dataset))
            prefetch_rows(&prefetch, &writers[i]->root, first, end);
    for (bool has_more = true; has_more;) {
        nt_prefetch_submit(&prefetch);
        prefetch.need = NT_PREFETCH_NOW;
        has_more = false;
        for (size_t i = 0; i < count; i++)
            if (writers[i] && nt_prefetch_helps(writers[i]->dataset))
                has_more |= prefetch_below(&prefetch, &writers[i]->root);
    }
}

void nt_row_writers_prefetch(struct nt_row_writer *const *writers, size_t count, uint64_t first, uint64_t end)
{
    enum { FEW_ROWS = 1000 };
    struct nt_prefetch prefetch = {.count = 0};
    if (end - first <= FEW_ROWS) {
        prefetch_all(writers, count, first, end);
        return;
    }
    for (size_t i = 0; first == 0 && i < count; i++)
        if (writers[i] && nt_prefetch_helps(writers[i]->dataset))
            prefetch_start(&writers[i]->root, &prefetch);
    nt_prefetch_submit(&prefetch);
}

uint64_t nt_row_writer_rows(const struct nt_row_writer *writer)
{
    return writer->rows;
}

/* Visits the fields that the rows omit. If all of a field is omitted, those below it have the reasons. */
static enum nt_status visit_omitted(const struct nt_row_shape *shape, struct nt_dataset *dataset,
                                    nt_omitted_field *visit, void *context, struct nt_error *error)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < shape->child_count; i++) {
        found += shape->children[i].form == NT_FORM_NOTHING && !shape->children[i].is_hidden;
        NT_TRY(visit_omitted(&shape->children[i], dataset, visit, context, error));
    }
    if (shape->form != NT_FORM_NOTHING || shape->is_hidden || found)
        return NT_OK;
    const struct nt_error *reason = NULL;
    const char *unreadable = dataset->fields[shape->field].unreadable;
    NT_TRY(nt_unsupported_find(dataset, shape->field, &reason, error));
    visit(context, shape->field, reason ? reason->message : unreadable ? unreadable : "not readable");
    return NT_OK;
}

enum nt_status nt_row_writer_visit_omitted(const struct nt_row_writer *writer, nt_omitted_field *visit,
                                           void *context, struct nt_error *error)
{
    return visit_omitted(&writer->root, writer->dataset, visit, context, error);
}

/* ---- Writing ---- */

/* Items that need no bytes of the file cost nothing there: their number in a row has a limit of its own. */
enum { MAX_EMPTY_ITEMS = 1 << 20 };

struct row_output {
    const struct nt_dataset *dataset;
    struct nt_json *json;
    struct nt_error *error;
    size_t start; /* of the row in the buffer */
    uint64_t max_bytes;
    uint32_t *empty_items; /* of the row, so far */
};

static enum nt_status write_row(const struct row_output *output, struct nt_row_shape *shape, uint64_t row);
static enum nt_status write_members(const struct row_output *output, struct nt_row_shape *shape,
                                    uint64_t row);

static enum nt_status write_value(const struct row_output *output, struct nt_row_shape *shape, uint64_t row)
{
    const uint8_t *bytes;
    NT_TRY(nt_stream_cursor_get(&shape->data, row, 1, &bytes, output->error));
    nt_json_element(output->json, &output->dataset->fields[shape->field].dtype, bytes);
    return NT_OK;
}

/* Returns the element index of value `i` (in C order) of a row. */
static uint64_t value_index(const struct row_output *output, const struct nt_row_shape *shape, uint64_t row,
                            uint64_t i)
{
    const struct nt_field *field = &output->dataset->fields[shape->field];
    if (!shape->is_fortran_order)
        return row * shape->size + i;
    uint64_t index = row, stride = nt_dataset_entries(output->dataset), inside = shape->size;
    for (uint32_t d = 0; d < field->dimension_count; d++) {
        inside /= field->dimensions[d];
        index += i / inside * stride;
        i %= inside;
        stride *= field->dimensions[d];
    }
    return index;
}

/* Reads all values of a row before any is written. In Fortran order they are not contiguous. */
static enum nt_status read_values(const struct row_output *output, struct nt_row_shape *shape, uint64_t row,
                                  const uint8_t **bytes_ret)
{
    if (!shape->is_fortran_order)
        return nt_stream_cursor_get(&shape->data, row * shape->size, shape->size, bytes_ret, output->error);
    size_t element_bytes = shape->data.element_bytes;
    nt_buffer_clear(&shape->gathered);
    for (uint64_t i = 0; i < shape->size; i++) {
        NT_TRY(nt_stream_cursor_get(&shape->data, value_index(output, shape, row, i), 1, bytes_ret,
                                    output->error));
        nt_buffer_append(&shape->gathered, *bytes_ret, element_bytes);
    }
    *bytes_ret = (const uint8_t *)shape->gathered.bytes;
    return shape->gathered.failed ? nt_fail_memory(output->error) : NT_OK;
}

/* Called for each item of a row. */
static enum nt_status check_item(const struct row_output *output, bool is_empty)
{
    if (is_empty && ++*output->empty_items > MAX_EMPTY_ITEMS)
        return nt_fail(output->error, NT_LIMIT, NT_NO_OFFSET, "a row has more than %d items without bytes",
                       MAX_EMPTY_ITEMS);
    if (output->json->out->length - output->start <= output->max_bytes)
        return NT_OK;
    return nt_fail(output->error, NT_LIMIT, NT_NO_OFFSET, "a row has more than %" PRIu64 " bytes of text",
                   output->max_bytes);
}

/* Writes a row without elements: nested arrays down to the first dimension of 0. */
static enum nt_status write_nothing(const struct row_output *output, const uint64_t *dimensions)
{
    nt_json_array(output->json);
    for (uint64_t i = 0; i < dimensions[0]; i++) {
        NT_TRY(check_item(output, true));
        NT_TRY(write_nothing(output, dimensions + 1));
    }
    nt_json_end_array(output->json);
    return NT_OK;
}

/* Writes nested arrays: an array opens wherever the index is a multiple of its size. */
static enum nt_status write_values(const struct row_output *output, struct nt_row_shape *shape, uint64_t row)
{
    const struct nt_field *field = &output->dataset->fields[shape->field];
    const uint64_t *dimensions = field->dimensions;
    uint32_t dimension_count = field->dimension_count;
    const uint8_t *bytes = NULL;
    bool has_members = shape->form == NT_FORM_RECORD;
    NT_TRY(has_members ? NT_OK : read_values(output, shape, row, &bytes));
    for (uint64_t i = 0; i < shape->size; i++) {
        uint64_t inside = shape->size;
        for (uint32_t d = 0; d < dimension_count; inside /= dimensions[d++])
            if (i % inside == 0)
                nt_json_array(output->json);
        if (has_members)
            NT_TRY(write_members(output, shape, value_index(output, shape, row, i)));
        else
            nt_json_element(output->json, &field->dtype, bytes + i * shape->data.element_bytes);
        NT_TRY(check_item(output, shape->is_empty));
        inside = shape->size;
        for (uint32_t d = 0; d < dimension_count; inside /= dimensions[d++])
            if ((i + 1) % inside == 0)
                nt_json_end_array(output->json);
    }
    return shape->size ? NT_OK : write_nothing(output, dimensions);
}

static enum nt_status get_item_range(const struct row_output *output, struct nt_row_shape *shape,
                                     uint64_t row, uint64_t *first_ret, uint64_t *count_ret)
{
    const uint8_t *bytes;
    uint64_t ends[2];
    NT_TRY(nt_stream_cursor_get(&shape->offsets, row, 2, &bytes, output->error));
    memcpy(ends, bytes, sizeof(ends));
    if (ends[1] < ends[0])
        return nt_fail_below(output->error, NT_CORRUPT, NT_NO_OFFSET, "end offset", ends[0], ends[1]);
    *first_ret = ends[0];
    *count_ret = ends[1] - ends[0];
    return NT_OK;
}

/* Returns the bytes of a row. Converts JSONB to text in `gathered`. */
static enum nt_status get_bytes(const struct row_output *output, struct nt_row_shape *shape, uint64_t row,
                                const uint8_t **bytes_ret, size_t *count_ret)
{
    uint64_t first = 0, count = 0;
    NT_TRY(get_item_range(output, shape, row, &first, &count));
    NT_TRY(nt_stream_cursor_get(&shape->data, first, count, bytes_ret, output->error));
    *count_ret = (size_t)count;
    if (shape->form != NT_FORM_JSON)
        return NT_OK;
    nt_buffer_clear(&shape->gathered);
    enum nt_status status = nt_jsonb_append(&shape->gathered, *bytes_ret, (size_t)count, output->error);
    if (status == NT_OK && shape->gathered.failed)
        status = nt_fail_memory(output->error);
    if (status != NT_OK) {
        nt_error_context(output->error, "row %" PRIu64, row);
        nt_name_field(output->dataset, shape->field, NULL, status, output->error);
    }
    *bytes_ret = (const uint8_t *)shape->gathered.bytes;
    *count_ret = shape->gathered.length;
    return status;
}

static enum nt_status write_bytes(const struct row_output *output, struct nt_row_shape *shape, uint64_t row)
{
    const uint8_t *bytes = NULL;
    size_t count;
    NT_TRY(get_bytes(output, shape, row, &bytes, &count));
    if (shape->form == NT_FORM_BYTES)
        nt_json_base64(output->json, bytes, count);
    else
        nt_json_bytes(output->json, bytes, count);
    return NT_OK;
}

static enum nt_status write_items(const struct row_output *output, struct nt_row_shape *shape, uint64_t first,
                                  uint64_t count)
{
    nt_json_array(output->json);
    for (uint64_t i = 0; i < count; i++) {
        NT_TRY(write_row(output, &shape->children[0], first + i));
        NT_TRY(check_item(output, shape->children[0].is_empty));
    }
    nt_json_end_array(output->json);
    return NT_OK;
}

static enum nt_status write_collection(const struct row_output *output, struct nt_row_shape *shape,
                                       uint64_t row)
{
    uint64_t first = 0, count = 0;
    NT_TRY(get_item_range(output, shape, row, &first, &count));
    return write_items(output, shape, first, count);
}

/* Finds the row of an optional's value, if it has one. */
static enum nt_status find_value(const struct row_output *output, struct nt_row_shape *shape, uint64_t row,
                                 uint64_t *value_row_ret, bool *has_value_ret)
{
    uint64_t count = 0;
    const uint8_t *valid = NULL;
    *value_row_ret = row;
    if (nt_field_has_stream(&output->dataset->fields[shape->field], NT_STREAM_VALID)) {
        NT_TRY(nt_stream_cursor_get(&shape->data, row, 1, &valid, output->error));
        *has_value_ret = *valid;
        return NT_OK;
    }
    NT_TRY(get_item_range(output, shape, row, value_row_ret, &count));
    if (count > 1)
        return nt_fail_above(output->error, NT_CORRUPT, NT_NO_OFFSET, "values of an optional", 1, count);
    *has_value_ret = count == 1;
    return NT_OK;
}

static enum nt_status write_optional(const struct row_output *output, struct nt_row_shape *shape,
                                     uint64_t row)
{
    bool has_value;
    NT_TRY(find_value(output, shape, row, &row, &has_value));
    if (has_value)
        return write_row(output, &shape->children[0], row);
    nt_json_null(output->json);
    return NT_OK;
}

static enum nt_status write_variant(const struct row_output *output, struct nt_row_shape *shape, uint64_t row)
{
    const uint8_t *bytes;
    uint32_t tag;
    uint64_t index;
    NT_TRY(nt_stream_cursor_get(&shape->data, row, 1, &bytes, output->error));
    memcpy(&tag, bytes, sizeof(tag));
    NT_TRY(nt_stream_cursor_get_u64(&shape->offsets, row, &index, output->error));
    if (tag > shape->child_count)
        return nt_fail_above(output->error, NT_CORRUPT, NT_NO_OFFSET, "the alternative of a variant",
                             shape->child_count, tag);
    if (tag && shape->children[tag - 1].form != NT_FORM_NOTHING)
        return write_row(output, &shape->children[tag - 1], index);
    nt_json_null(output->json);
    return NT_OK;
}

static enum nt_status write_members(const struct row_output *output, struct nt_row_shape *shape, uint64_t row)
{
    bool is_object = shape->form != NT_FORM_TUPLE;
    for (uint32_t i = 0; shape->is_ancestor && i < shape->child_count; i++)
        if (shape->children[i].form != NT_FORM_NOTHING)
            return write_row(output, &shape->children[i], row);
    if (is_object)
        nt_json_object(output->json);
    else
        nt_json_array(output->json);
    for (uint32_t i = 0; i < shape->child_count; i++) {
        struct nt_row_shape *child = &shape->children[i];
        const struct nt_text *name = &output->dataset->fields[child->field].name;
        if (is_object && child->form == NT_FORM_NOTHING)
            continue;
        if (is_object)
            nt_json_key_bytes(output->json, name->bytes, name->length);
        NT_TRY(write_row(output, child, row));
    }
    if (is_object)
        nt_json_end_object(output->json);
    else
        nt_json_end_array(output->json);
    return NT_OK;
}

/* Reads the row mask. Without one, all rows are valid unless the form is NULL. */
static enum nt_status check_valid(const struct row_output *output, struct nt_row_shape *shape, uint64_t row,
                                  bool *is_valid_ret)
{
    const uint8_t *valid;
    *is_valid_ret = shape->form != NT_FORM_NULL;
    if (!shape->valid.stream)
        return NT_OK;
    NT_TRY(nt_stream_cursor_get(&shape->valid, row, 1, &valid, output->error));
    *is_valid_ret = *valid;
    return NT_OK;
}

static enum nt_status write_valid_row(const struct row_output *output, struct nt_row_shape *shape,
                                      uint64_t row)
{
    switch (shape->form) {
    case NT_FORM_VALUE:
        return shape->has_dimensions ? write_values(output, shape, row) : write_value(output, shape, row);
    case NT_FORM_TEXT:
    case NT_FORM_BYTES:
    case NT_FORM_JSON:
        return write_bytes(output, shape, row);
    case NT_FORM_LIST:
        return write_collection(output, shape, row);
    case NT_FORM_FIXED_LIST:
        return write_items(output, shape, row * shape->size, shape->size);
    case NT_FORM_OPTIONAL:
        return write_optional(output, shape, row);
    case NT_FORM_VARIANT:
        return write_variant(output, shape, row);
    case NT_FORM_RECORD:
    case NT_FORM_TUPLE:
        return shape->has_dimensions ? write_values(output, shape, row) : write_members(output, shape, row);
    case NT_FORM_WRAPPER:
        return write_row(output, &shape->children[0], row);
    case NT_FORM_EMPTY:
        nt_json_base64(output->json, NULL, 0);
        return NT_OK;
    case NT_FORM_NOTHING:
    case NT_FORM_NULL:
    case NT_FORM_COUNT:
        break;
    }
    nt_json_null(output->json);
    return NT_OK;
}

static enum nt_status write_row(const struct row_output *output, struct nt_row_shape *shape, uint64_t row)
{
    bool is_valid;
    NT_TRY(check_valid(output, shape, row, &is_valid));
    if (is_valid)
        return write_valid_row(output, shape, row);
    nt_json_null(output->json);
    return NT_OK;
}

enum nt_status nt_row_write(struct nt_row_writer *writer, uint64_t row, struct nt_json *json,
                            struct nt_error *error)
{
    if (row >= writer->rows)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "row %llu does not exist: there are %llu rows",
                       (unsigned long long)row, (unsigned long long)writer->rows);
    uint32_t empty_items = 0;
    const struct row_output output = {writer->dataset,   json,        error, json->out->length,
                                      writer->max_bytes, &empty_items};
    NT_TRY(write_row(&output, &writer->root, row));
    return nt_check_memory(!json->out->failed, error);
}

/* ---- Cells ---- */

uint32_t nt_row_writer_cells(const struct nt_row_writer *writer)
{
    return writer->cell_count;
}

uint32_t nt_row_writer_cell_field(const struct nt_row_writer *writer, uint32_t cell)
{
    return writer->cells[cell]->field;
}

static bool is_plain(const struct row_output *output, const struct nt_row_shape *shape)
{
    while (shape->form == NT_FORM_WRAPPER || shape->form == NT_FORM_OPTIONAL)
        shape = &shape->children[0];
    return shape->form == NT_FORM_TEXT || shape->form == NT_FORM_JSON ||
           (shape->form == NT_FORM_VALUE && !shape->has_dimensions && shape->child_count == 0 &&
            output->dataset->fields[shape->field].dtype.element != NT_ELEMENT_SWITCH);
}

static enum nt_status write_number(const struct row_output *output, struct nt_row_shape *shape, uint64_t row,
                                   struct nt_buffer *cell)
{
    const struct nt_dtype *dtype = &output->dataset->fields[shape->field].dtype;
    const uint8_t *bytes;
    NT_TRY(nt_stream_cursor_get(&shape->data, row, 1, &bytes, output->error));
    if (nt_element_text(dtype, bytes, cell))
        return NT_OK;
    nt_json_element(output->json, dtype, bytes);
    if (cell->length < 2 || cell->bytes[0] != '"')
        return NT_OK;
    cell->length -= 2; /* the quotes that JSON requires around NaN and base64 */
    memmove(cell->bytes, cell->bytes + 1, cell->length);
    cell->bytes[cell->length] = '\0';
    return NT_OK;
}

static enum nt_status write_text(const struct row_output *output, struct nt_row_shape *shape, uint64_t row,
                                 struct nt_buffer *cell)
{
    const uint8_t *bytes = NULL;
    size_t count;
    NT_TRY(get_bytes(output, shape, row, &bytes, &count));
    nt_buffer_append(cell, bytes, count);
    return NT_OK;
}

static enum nt_status write_plain(const struct row_output *output, struct nt_row_shape *shape, uint64_t row,
                                  struct nt_buffer *cell)
{
    bool has_value = true;
    while (has_value && (shape->form == NT_FORM_WRAPPER || shape->form == NT_FORM_OPTIONAL)) {
        if (shape->form == NT_FORM_OPTIONAL)
            NT_TRY(find_value(output, shape, row, &row, &has_value));
        shape = &shape->children[0];
    }
    if (has_value)
        NT_TRY(check_valid(output, shape, row, &has_value));
    if (!has_value)
        return NT_OK;
    bool is_text = shape->form == NT_FORM_TEXT || shape->form == NT_FORM_JSON;
    return is_text ? write_text(output, shape, row, cell) : write_number(output, shape, row, cell);
}

enum nt_status nt_row_write_cell(struct nt_row_writer *writer, uint32_t cell, uint64_t row,
                                 struct nt_buffer *text, struct nt_error *error)
{
    struct nt_row_shape *shape = writer->cells[cell];
    struct nt_json json;
    uint32_t empty_items = 0;
    const struct row_output output = {writer->dataset, &json, error, 0, writer->max_bytes, &empty_items};
    bool is_valid;
    nt_buffer_clear(text);
    nt_json_init(&json, text, true);
    NT_TRY(check_valid(&output, shape, row, &is_valid));
    if (is_valid) /* a null cell is empty */
        NT_TRY(is_plain(&output, shape) ? write_plain(&output, shape, row, text)
                                        : write_valid_row(&output, shape, row));
    return nt_check_memory(!text->failed, error);
}
