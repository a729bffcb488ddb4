/* SPDX-License-Identifier: MIT
 *
 * Properties of each kind of field: its streams, how they are derived from columns, how rows of sub-fields
 * are counted, and its shape in text and Arrow.
 */
#ifndef NT_CORE_MODEL_FIELD_H
#define NT_CORE_MODEL_FIELD_H

#include <ntuple/dataset.h>

/* What becomes of a column's elements on their way into a stream. */
enum nt_conversion {
    NT_CONVERT_VALUES,    /* the same, in the type of the stream */
    NT_CONVERT_MEMBERS,   /* a part of each, from member_offset on */
    NT_CONVERT_OFFSETS,   /* index values that go on over all clusters */
    NT_CONVERT_SIZES,     /* differences of index values */
    NT_CONVERT_TAGS,      /* of switches: the alternative */
    NT_CONVERT_INDEX,     /* of switches: the row of the alternative, which goes on over all clusters */
    NT_CONVERT_PAGE_ENDS, /* where the bytes of each page end: from the page list alone */
    NT_CONVERT_COUNT
};

/* What is counted cluster by cluster. */
enum nt_rows_of {
    NT_ROWS_OF_FIELD,  /* its rows */
    NT_ROWS_OF_SECOND, /* elements of its column at position 1: the bytes of strings and objects */
    NT_ROWS_OF_STORED, /* elements of its column at position 0, whatever the rows */
    NT_ROWS_BELOW,     /* what a collection's own index counts, without looking at its items */
};

struct nt_stream_row {
    enum nt_conversion make;
    uint32_t position;     /* of the column that it is made from */
    enum nt_rows_of of;    /* what it has elements for */
    bool has_leading_zero; /* one element more than that */
    bool is_per_row;       /* one element a row, whatever its dimensions */
    bool needs_previous;   /* an element depends on the one before it in the cluster */
    bool is_partial;       /* another stream shows all of the column */
};

/* The rows of the fields below. */
enum nt_rows_below {
    NT_BELOW_ONE,     /* one for each row */
    NT_BELOW_SEVERAL, /* `repetition` for each row, one where that is 0 */
    NT_BELOW_INDEX,   /* as many as the index column tells */
    NT_BELOW_SWITCH,  /* those rows that chose the alternative */
    NT_BELOW_OWN,     /* as many as each field's own columns tell: nothing is known from above */
};

/* What a row is: in JSON and CSV (view/row_shape.c), in Arrow (view/arrow_nodes.c). */
enum nt_form {
    NT_FORM_NOTHING,
    NT_FORM_VALUE, /* an element, or its dimensions of them; a record where it has members */
    NT_FORM_TEXT,
    NT_FORM_BYTES,
    NT_FORM_LIST,       /* items of the only sub-field */
    NT_FORM_FIXED_LIST, /* the same, `repetition` of them */
    NT_FORM_OPTIONAL,   /* the only sub-field's value or none */
    NT_FORM_VARIANT,    /* the value of one sub-field or none */
    NT_FORM_RECORD,     /* of all sub-fields, by their names */
    NT_FORM_TUPLE,      /* of all sub-fields, by their places */
    NT_FORM_WRAPPER,    /* the only sub-field's value */
    NT_FORM_NULL,       /* no value, ever */
    NT_FORM_JSON,       /* text that is made of JSONB */
    NT_FORM_EMPTY,      /* bytes, none of them, ever */
    NT_FORM_COUNT
};

struct nt_field_kind_row {
    const char *name;
    const struct nt_stream_row *streams[NT_STREAM_COUNT]; /* NULL: the kind has no such stream */
    uint8_t columns;       /* of each representation; what a nullable field has besides is behind them */
    bool has_dimensions;   /* a row has as many elements as the field's dimensions say */
    bool has_page_per_row; /* rows are counted by pages, not by elements */
    enum nt_rows_below below;
    enum nt_form form;
};
const struct nt_field_kind_row *nt_field_kind_info(enum nt_field_kind kind);

/* How a stream of a field is made, as its kind and whether it is nullable tell; NULL: it has none. */
const struct nt_stream_row *nt_field_stream(const struct nt_field *field, enum nt_stream_kind kind);
/* Elements of such a stream for each row of the field, where it has elements for rows. */
uint64_t nt_stream_row_elements(const struct nt_field *field, const struct nt_stream_row *row);

/* The stream that shows all elements of its columns at a position; others that are made from it show a part.
 * False where there is none. */
bool nt_field_column_stream(const struct nt_field *field, uint32_t position, enum nt_stream_kind *kind_ret);
/* Whether its values are structures, whose members are the sub-fields. */
bool nt_field_has_members(const struct nt_field *field);
/* Elements of data that a row has: the product of its own dimensions, 1 where it has none. */
uint64_t nt_field_row_elements(const struct nt_field *field);
/* Rows of a sub-field for each row of the field, where they keep step: else they are not known from here. */
uint64_t nt_field_rows_below(const struct nt_field *field);
/* Whether rows of the sub-fields keep step with the field's. */
bool nt_field_keeps_step(const struct nt_field *field);

#endif
