/* SPDX-License-Identifier: MIT
 *
 * Properties of each kind of field: its streams, their columns, the rows of sub-fields, and its form in
 * text and Arrow.
 */
#pragma once

#include <ntuple/dataset.h>

/* The conversion from a column's elements to those of a stream. */
enum nt_conversion {
    NT_CONVERT_VALUES,    /* the values, in the type of the stream */
    NT_CONVERT_MEMBERS,   /* part of each element, from nt_field_member_offset on */
    NT_CONVERT_OFFSETS,   /* end offsets, made continuous over all clusters */
    NT_CONVERT_SIZES,     /* differences of end offsets */
    NT_CONVERT_TAGS,      /* of switches: the alternative */
    NT_CONVERT_INDEX,     /* of switches: the row of the alternative, continuous over all clusters */
    NT_CONVERT_PAGE_ENDS, /* end of the bytes of each page, from the page list alone */
    NT_CONVERT_COUNT
};

/* What is counted per cluster. */
enum nt_counted {
    NT_COUNTED_ROWS,          /* its rows */
    NT_COUNTED_SECOND_COLUMN, /* elements of its column 1: the bytes of strings and objects */
    NT_COUNTED_FIRST_COLUMN,  /* elements of its column 0, regardless of rows */
    NT_COUNTED_ITEMS,         /* items that a collection's own offsets count */
};

struct nt_stream_row {
    enum nt_conversion conversion;
    uint32_t position;     /* of its column */
    enum nt_counted of;    /* its elements */
    bool has_leading_zero; /* plus one element */
    bool is_per_row;       /* one element per row, regardless of dimensions */
    bool needs_previous;   /* elements depend on the previous one in the cluster */
    bool is_partial;       /* another stream has the whole column */
};

/* The number of rows of sub-fields. */
enum nt_rows_below {
    NT_BELOW_ONE,     /* one per row */
    NT_BELOW_SEVERAL, /* `repetition` per row, or one if that is 0 */
    NT_BELOW_INDEX,   /* from the index column */
    NT_BELOW_SWITCH,  /* rows that select the alternative */
    NT_BELOW_OWN,     /* from the columns of each sub-field only */
};

/* The form of a row: in JSON and CSV (render/row_writer.c), in Arrow (render/arrow/nodes.c). */
enum nt_form {
    NT_FORM_NOTHING,
    NT_FORM_VALUE, /* an element, or an array of its dimensions; with members a record */
    NT_FORM_TEXT,
    NT_FORM_BYTES,
    NT_FORM_LIST,       /* items of the only sub-field */
    NT_FORM_FIXED_LIST, /* the same, `repetition` of them */
    NT_FORM_OPTIONAL,   /* the only sub-field's value or none */
    NT_FORM_VARIANT,    /* the value of one sub-field, or none */
    NT_FORM_RECORD,     /* all sub-fields, by name */
    NT_FORM_TUPLE,      /* all sub-fields, by position */
    NT_FORM_WRAPPER,    /* the value of the only sub-field */
    NT_FORM_NULL,       /* always null */
    NT_FORM_JSON,       /* JSON text, from JSONB */
    NT_FORM_EMPTY,      /* always an empty byte string */
    NT_FORM_COUNT
};

struct nt_field_kind_row {
    const char *name;
    const struct nt_stream_row *streams[NT_STREAM_COUNT]; /* NULL: the kind has no such stream */
    uint8_t columns;       /* per representation; the validity of nullable fields comes after them */
    bool has_dimensions;   /* a row has as many elements as its dimensions */
    bool has_page_per_row; /* rows are pages, not elements */
    enum nt_rows_below below;
    enum nt_form form;
};
const struct nt_field_kind_row *nt_field_kind_info(enum nt_field_kind kind);

/* The properties of a field's stream, by kind and nullability; NULL: no such stream. */
const struct nt_stream_row *nt_field_stream(const struct nt_field *field, enum nt_stream_kind kind);
/* Elements of such a stream per row of the field, if it counts rows. */
uint64_t nt_stream_row_elements(const struct nt_field *field, const struct nt_stream_row *row);

/* The stream with all elements of the columns at a position; other streams have parts of them. False if
 * there is none. */
bool nt_field_column_stream(const struct nt_field *field, uint32_t position, enum nt_stream_kind *kind_ret);
/* Are the values structures, with the sub-fields as members? */
bool nt_field_has_members(const struct nt_field *field);
/* Elements of data per row: the product of its own dimensions, 1 without dimensions. */
uint64_t nt_field_row_elements(const struct nt_field *field);
/* Rows of a sub-field per row of the field, if they correspond; otherwise unknown here. */
uint64_t nt_field_rows_below(const struct nt_field *field);
/* Does the field have a single nameless child: the item of a list, optional or array? */
bool nt_field_has_nameless_item(const struct nt_field *field);
/* Do rows of the sub-fields correspond to the field's? */
bool nt_field_is_row_aligned(const struct nt_field *field);
