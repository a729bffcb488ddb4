/* SPDX-License-Identifier: MIT
 *
 * Tables of field roles, streams and kinds, and relations between a field and its parents and columns.
 */
#include "core/model/field.h"
#include "core/model/model.h"

const char *nt_role_name(enum nt_role role)
{
    static const char *const names[NT_ROLE_COUNT] = {
        [NT_ROLE_PLAIN] = "plain",     [NT_ROLE_COLLECTION] = "collection", [NT_ROLE_RECORD] = "record",
        [NT_ROLE_VARIANT] = "variant", [NT_ROLE_STREAMED] = "streamed",
    };
    return names[role];
}

const char *nt_stream_name(enum nt_stream_kind kind)
{
    static const char *const names[NT_STREAM_COUNT] = {
        [NT_STREAM_DATA] = "data",   [NT_STREAM_OFFSETS] = "offsets", [NT_STREAM_TAGS] = "tags",
        [NT_STREAM_INDEX] = "index", [NT_STREAM_VALID] = "valid",
    };
    return names[kind];
}

/* ---- Kinds ---- */

static const struct nt_stream_row values = {.conversion = NT_CONVERT_VALUES};
static const struct nt_stream_row stored_bytes = {.conversion = NT_CONVERT_VALUES,
                                                  .of = NT_COUNTED_FIRST_COLUMN};
static const struct nt_stream_row second_bytes = {
    .conversion = NT_CONVERT_VALUES, .position = 1, .of = NT_COUNTED_SECOND_COLUMN};
static const struct nt_stream_row members = {.conversion = NT_CONVERT_MEMBERS, .is_partial = true};
static const struct nt_stream_row end_offsets = {
    .conversion = NT_CONVERT_OFFSETS, .has_leading_zero = true, .needs_previous = true};
static const struct nt_stream_row page_ends = {
    .conversion = NT_CONVERT_PAGE_ENDS, .has_leading_zero = true, .is_partial = true};
static const struct nt_stream_row sizes = {.conversion = NT_CONVERT_SIZES, .needs_previous = true};
static const struct nt_stream_row tags = {.conversion = NT_CONVERT_TAGS, .is_partial = true};
static const struct nt_stream_row alternatives = {.conversion = NT_CONVERT_INDEX};

/* Of nullable fields, by the number of columns of their kind. */
enum { MAX_COLUMNS = 2 };
static const struct nt_stream_row validity[MAX_COLUMNS + 1] = {
    {.conversion = NT_CONVERT_VALUES, .position = 0, .is_per_row = true},
    {.conversion = NT_CONVERT_VALUES, .position = 1, .is_per_row = true},
    {.conversion = NT_CONVERT_VALUES, .position = 2, .is_per_row = true},
};

static const struct nt_field_kind_row kinds[NT_FIELD_KIND_COUNT] = {
    [NT_FIELD_RECORD] = {.name = "record", .form = NT_FORM_RECORD},
    [NT_FIELD_TUPLE] = {.name = "tuple", .form = NT_FORM_TUPLE},
    [NT_FIELD_ARRAY] = {.name = "array", .below = NT_BELOW_SEVERAL, .form = NT_FORM_FIXED_LIST},
    [NT_FIELD_WRAPPER] = {.name = "wrapper", .form = NT_FORM_WRAPPER},
    [NT_FIELD_VALUE] = {.name = "value",
                        .columns = 1,
                        .streams = {[NT_STREAM_DATA] = &values},
                        .has_dimensions = true,
                        .below = NT_BELOW_SEVERAL,
                        .form = NT_FORM_VALUE},
    [NT_FIELD_STRING] = {.name = "string",
                         .columns = 2,
                         .streams = {[NT_STREAM_OFFSETS] = &end_offsets, [NT_STREAM_DATA] = &second_bytes},
                         .form = NT_FORM_TEXT},
    [NT_FIELD_STREAMED] = {.name = "streamed",
                           .columns = 2,
                           .streams = {[NT_STREAM_OFFSETS] = &end_offsets, [NT_STREAM_DATA] = &second_bytes},
                           .form = NT_FORM_BYTES},
    [NT_FIELD_COLLECTION] = {.name = "collection",
                             .columns = 1,
                             .streams = {[NT_STREAM_OFFSETS] = &end_offsets},
                             .below = NT_BELOW_INDEX,
                             .form = NT_FORM_LIST},
    [NT_FIELD_OPTIONAL] = {.name = "optional",
                           .columns = 1,
                           .streams = {[NT_STREAM_OFFSETS] = &end_offsets},
                           .below = NT_BELOW_INDEX,
                           .form = NT_FORM_OPTIONAL},
    [NT_FIELD_DENSE_OPTIONAL] = {.name = "dense optional",
                                 .columns = 1,
                                 .streams = {[NT_STREAM_VALID] = &values},
                                 .form = NT_FORM_OPTIONAL},
    [NT_FIELD_VARIANT] = {.name = "variant",
                          .columns = 1,
                          .streams = {[NT_STREAM_TAGS] = &tags, [NT_STREAM_INDEX] = &alternatives},
                          .below = NT_BELOW_SWITCH,
                          .form = NT_FORM_VARIANT},
    [NT_FIELD_CARDINALITY] = {.name = "cardinality",
                              .columns = 1,
                              .streams = {[NT_STREAM_DATA] = &sizes},
                              .form = NT_FORM_VALUE},
    [NT_FIELD_PAGE_BYTES] = {.name = "page bytes",
                             .columns = 1,
                             .streams = {[NT_STREAM_OFFSETS] = &page_ends, [NT_STREAM_DATA] = &stored_bytes},
                             .has_page_per_row = true,
                             .form = NT_FORM_BYTES},
    [NT_FIELD_MEMBER] = {.name = "member", .streams = {[NT_STREAM_DATA] = &members}, .form = NT_FORM_VALUE},
    [NT_FIELD_UNREADABLE] = {.name = "unreadable", .below = NT_BELOW_OWN, .form = NT_FORM_NOTHING},
    [NT_FIELD_NULL] = {.name = "null", .form = NT_FORM_NULL},
    [NT_FIELD_JSON] = {.name = "json",
                       .columns = 2,
                       .streams = {[NT_STREAM_OFFSETS] = &end_offsets, [NT_STREAM_DATA] = &second_bytes},
                       .form = NT_FORM_JSON},
    [NT_FIELD_SPLIT_COLLECTION] = {.name = "split collection",
                                   .columns = 1,
                                   .streams = {[NT_STREAM_DATA] = &values},
                                   .form = NT_FORM_RECORD},
    [NT_FIELD_EMPTY] = {.name = "empty", .form = NT_FORM_EMPTY},
};

const struct nt_field_kind_row *nt_field_kind_info(enum nt_field_kind kind)
{
    return &kinds[kind];
}

const char *nt_field_kind_name(enum nt_field_kind kind)
{
    return kinds[kind].name;
}

const struct nt_stream_row *nt_field_stream(const struct nt_field *field, enum nt_stream_kind kind)
{
    if (kind == NT_STREAM_VALID && field->is_nullable)
        return &validity[kinds[field->kind].columns];
    return kinds[field->kind].streams[kind];
}

bool nt_field_has_stream(const struct nt_field *field, enum nt_stream_kind kind)
{
    return nt_field_stream(field, kind);
}

/* ---- Members of one format ---- */

const struct nt_field_extra *nt_field_extra(const struct nt_field *field)
{
    static const struct nt_field_extra none;
    return field->extra ? field->extra : &none;
}

bool nt_field_set_extra(struct nt_arena *arena, struct nt_field *field, const struct nt_field_extra *extra)
{
    struct nt_field_extra *copy = nt_arena_alloc(arena, 1, sizeof(*copy));
    if (copy)
        *copy = *extra;
    field->extra = copy;
    return copy;
}

bool nt_field_set_source(struct nt_arena *arena, struct nt_field *field, uint32_t source)
{
    struct nt_field_extra extra = *nt_field_extra(field);
    if (nt_field_source(field) == source)
        return true;
    extra.is_projected = source != NT_NONE;
    extra.source = source;
    return nt_field_set_extra(arena, field, &extra);
}

uint32_t nt_field_source(const struct nt_field *field)
{
    return nt_field_extra(field)->is_projected ? nt_field_extra(field)->source : NT_NONE;
}

#define NT_DEFINE_COLUMN_MEMBER(function, type, member)                                                      \
    type function(const struct nt_column *column)                                                            \
    {                                                                                                        \
        return column->extra ? column->extra->member : 0;                                                    \
    }
NT_DEFINE_COLUMN_MEMBER(nt_column_is_deferred, bool, is_deferred)
NT_DEFINE_COLUMN_MEMBER(nt_column_begins_suppressed, bool, begins_suppressed)
NT_DEFINE_COLUMN_MEMBER(nt_column_first_element, uint64_t, first_element)
NT_DEFINE_COLUMN_MEMBER(nt_column_has_range, bool, has_range)

#define NT_DEFINE_FIELD_MEMBER(function, type, member)                                                       \
    type function(const struct nt_field *field)                                                              \
    {                                                                                                        \
        return nt_field_extra(field)->member;                                                                \
    }
NT_DEFINE_FIELD_MEMBER(nt_field_is_fortran_order, bool, is_fortran_order)
NT_DEFINE_FIELD_MEMBER(nt_field_is_scalar, bool, is_scalar)
NT_DEFINE_FIELD_MEMBER(nt_field_member_offset, uint64_t, member_offset)
NT_DEFINE_FIELD_MEMBER(nt_field_is_declared_nullable, bool, is_declared_nullable)
NT_DEFINE_FIELD_MEMBER(nt_field_has_short_offsets, bool, has_short_offsets)
NT_DEFINE_FIELD_MEMBER(nt_field_item_name, struct nt_text, item_name)
NT_DEFINE_FIELD_MEMBER(nt_field_is_description, bool, is_description)

const struct nt_property *nt_field_properties(const struct nt_field *field, uint32_t *count_ret)
{
    *count_ret = nt_field_extra(field)->property_count;
    return nt_field_extra(field)->properties;
}

/* ---- Rows and columns ---- */

bool nt_field_column_stream(const struct nt_field *field, uint32_t position, enum nt_stream_kind *kind_ret)
{
    for (unsigned i = 0; i < NT_STREAM_COUNT; i++) {
        const struct nt_stream_row *stream = nt_field_stream(field, (enum nt_stream_kind)i);
        *kind_ret = (enum nt_stream_kind)i;
        if (stream && stream->position == position && !stream->is_partial)
            return true;
    }
    return false;
}

bool nt_field_has_members(const struct nt_field *field)
{
    return kinds[field->kind].form == NT_FORM_VALUE && field->dtype.element == NT_ELEMENT_OPAQUE &&
           field->child_count;
}

bool nt_field_has_nameless_item(const struct nt_field *field)
{
    switch (kinds[field->kind].form) {
    case NT_FORM_LIST:
    case NT_FORM_FIXED_LIST:
    case NT_FORM_OPTIONAL:
    case NT_FORM_WRAPPER:
        return field->child_count == 1;
    default:
        return false;
    }
}

uint64_t nt_field_row_elements(const struct nt_field *field)
{
    return kinds[field->kind].has_dimensions && field->dimension_count ? field->repetition : 1;
}

uint64_t nt_stream_row_elements(const struct nt_field *field, const struct nt_stream_row *row)
{
    return row->is_per_row ? 1 : nt_field_row_elements(field);
}

uint64_t nt_field_rows_below(const struct nt_field *field)
{
    return kinds[field->kind].below == NT_BELOW_SEVERAL && field->repetition ? field->repetition : 1;
}

bool nt_field_is_row_aligned(const struct nt_field *field)
{
    return kinds[field->kind].below == NT_BELOW_ONE || kinds[field->kind].below == NT_BELOW_SEVERAL;
}

/* ---- The tree ---- */

const uint32_t *nt_dataset_children(const struct nt_dataset *dataset, uint32_t field, uint32_t *count_ret)
{
    if (field == NT_NONE) {
        *count_ret = dataset->top_count;
        return dataset->children;
    }
    *count_ret = dataset->fields[field].child_count;
    return dataset->children + dataset->first_children[field];
}

const uint32_t *nt_field_columns(const struct nt_dataset *dataset, uint32_t field, uint32_t *count_ret)
{
    *count_ret = dataset->fields[field].column_count;
    return dataset->field_columns + dataset->first_columns[field];
}

uint32_t nt_field_representations(const struct nt_dataset *dataset, uint32_t field)
{
    const struct nt_field *f = &dataset->fields[field];
    return f->columns_per_representation ? f->column_count / f->columns_per_representation : 0;
}

uint32_t nt_field_column(const struct nt_dataset *dataset, uint32_t field, uint32_t representation,
                         uint32_t position)
{
    const struct nt_field *f = &dataset->fields[field];
    if (position >= f->columns_per_representation ||
        representation >= nt_field_representations(dataset, field))
        return NT_NONE;
    return dataset->field_columns[dataset->first_columns[field] +
                                  representation * f->columns_per_representation + position];
}

uint32_t nt_field_row_parent(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t at = dataset->fields[field].parent;
    while (at != NT_NONE && nt_field_is_row_aligned(&dataset->fields[at]))
        at = dataset->fields[at].parent;
    return at;
}

/* The dimensions that a field gives to its contents: its own elements, or its sub-fields. */
static uint32_t dimensions_of(const struct nt_field *field, const uint64_t **dimensions_ret)
{
    const struct nt_field_kind_row *row = &kinds[field->kind];
    *dimensions_ret = row->has_dimensions ? field->dimensions : &field->repetition;
    return row->has_dimensions ? field->dimension_count : row->below == NT_BELOW_SEVERAL;
}

/* The items of a value with dimensions may be a sub-field of their own, with a row for each. */
static bool is_item_of_value(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t parent = dataset->fields[field].parent;
    return parent != NT_NONE && kinds[dataset->fields[parent].kind].has_dimensions &&
           kinds[dataset->fields[field].kind].has_dimensions;
}

uint32_t nt_field_dimensions(const struct nt_dataset *dataset, uint32_t field, uint64_t *dimensions,
                             uint32_t capacity)
{
    const struct nt_field *f = &dataset->fields[field];
    uint32_t end = is_item_of_value(dataset, field) ? f->parent : nt_field_row_parent(dataset, field);
    uint32_t total = 0;
    const uint64_t *found;
    uint32_t first = kinds[f->kind].has_dimensions ? field : f->parent; /* an array's are its item's */
    for (uint32_t at = first; at != end; at = dataset->fields[at].parent)
        total += dimensions_of(&dataset->fields[at], &found);
    for (uint32_t at = first, position = total; at != end; at = dataset->fields[at].parent) {
        uint32_t count = dimensions_of(&dataset->fields[at], &found);
        position -= count;
        for (uint32_t i = 0; i < count && position + i < capacity; i++)
            dimensions[position + i] = found[i];
    }
    return total;
}
