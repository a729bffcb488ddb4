/* SPDX-License-Identifier: MIT
 *
 * Relations of fields: rows and dimensions; and the tables of roles, streams and kinds.
 */
#include "builder.h"
#include "core/model/field.h"
#include "core/model/model.h"

static struct nt_error error;

#define VALUE .kind = NT_FIELD_VALUE

static const uint64_t five[] = {5}, two_by_three[] = {2, 3};

/* A tree with one field of each relevant kind; comments give the C++ types. */
enum {
    VECTOR,
    ARRAY_OF_2,
    ARRAY_OF_3,
    BITSET,
    RECORD,
    LEAF,
    VARIANT,
    ALTERNATIVE,
    DENSE,
    DENSE_ITEM,
    MATRIX,
    MEMBER,
    UNREADABLE,
    BELOW_UNREADABLE,
    MATRIX_ITEM
};
static const struct nt_field fields[] = {
    [VECTOR] = {.id = 0, .parent = NT_NONE, .kind = NT_FIELD_COLLECTION},
    /* array<array<bitset<5>, 3>, 2> */
    [ARRAY_OF_2] = {.id = 1, .parent = VECTOR, .kind = NT_FIELD_ARRAY, .repetition = 2},
    [ARRAY_OF_3] = {.id = 2, .parent = ARRAY_OF_2, .kind = NT_FIELD_ARRAY, .repetition = 3},
    [BITSET] =
        {.id = 3, .parent = ARRAY_OF_3, VALUE, .repetition = 5, .dimension_count = 1, .dimensions = five},
    [RECORD] = {.id = 4, .parent = ARRAY_OF_3, .kind = NT_FIELD_RECORD},
    [LEAF] = {.id = 5, .parent = RECORD, VALUE},
    [VARIANT] = {.id = 6, .parent = RECORD, .kind = NT_FIELD_VARIANT},
    [ALTERNATIVE] = {.id = 7, .parent = VARIANT, VALUE},
    /* Of drafts: its item has a row for each row, nevertheless. */
    [DENSE] = {.id = 8, .parent = ARRAY_OF_2, .kind = NT_FIELD_DENSE_OPTIONAL},
    [DENSE_ITEM] = {.id = 9, .parent = DENSE, VALUE},
    /* Structures in two dimensions, and their member. */
    [MATRIX] = {.id = 10,
                .parent = NT_NONE,
                VALUE,
                .repetition = 6,
                .dimension_count = 2,
                .dimensions = two_by_three},
    [MEMBER] = {.id = 11, .parent = MATRIX, .kind = NT_FIELD_MEMBER},
    [UNREADABLE] = {.id = 12, .parent = ARRAY_OF_2, .kind = NT_FIELD_UNREADABLE},
    [BELOW_UNREADABLE] = {.id = 13, .parent = UNREADABLE, VALUE},
    /* Its items are stored one by one, as in TTrees. */
    [MATRIX_ITEM] = {.id = 14, .parent = MATRIX, VALUE},
};

static const struct {
    uint32_t field, row_parent, count;
    uint64_t dimensions[3];
} rows[] = {
    {VECTOR, NT_NONE, 0, {0}},
    {ARRAY_OF_2, VECTOR, 0, {0}},
    {ARRAY_OF_3, VECTOR, 1, {2}},
    {BITSET, VECTOR, 3, {2, 3, 5}},
    {RECORD, VECTOR, 2, {2, 3}},
    {LEAF, VECTOR, 2, {2, 3}},
    {VARIANT, VECTOR, 2, {2, 3}},
    {ALTERNATIVE, VARIANT, 0, {0}},
    {DENSE, VECTOR, 1, {2}},
    {DENSE_ITEM, VECTOR, 1, {2}},
    {MATRIX, NT_NONE, 2, {2, 3}},
    {MEMBER, NT_NONE, 2, {2, 3}},
    {BELOW_UNREADABLE, UNREADABLE, 0, {0}},
    {MATRIX_ITEM, NT_NONE, 0, {0}},
};

TEST(rows_and_dimensions_follow_what_surrounds_a_field, .end = LENGTH(rows))
{
    struct nt_file *file = BUILD_FIELDS(fields);
    struct nt_dataset *dataset = file->datasets[0];
    assert_ok(nt_dataset_link(dataset, &error));
    uint64_t dimensions[4] = {77, 77, 77, 77};
    ck_assert_uint_eq(nt_field_row_parent(dataset, rows[_i].field), rows[_i].row_parent);
    ck_assert_uint_eq(nt_field_dimensions(dataset, rows[_i].field, dimensions, 4), rows[_i].count);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(dimensions[i], i < rows[_i].count ? rows[_i].dimensions[i] : 77);
    nt_file_close(file);
}

TEST(more_dimensions_than_there_is_room_for_are_counted_only)
{
    struct nt_file *file = BUILD_FIELDS(fields);
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    uint64_t dimensions[3] = {77, 77, 77};
    ck_assert_uint_eq(nt_field_dimensions(file->datasets[0], BITSET, dimensions, 1), 3);
    ck_assert_uint_eq(dimensions[0], 2);
    ck_assert_uint_eq(dimensions[1], 77);
    ck_assert_uint_eq(nt_field_dimensions(file->datasets[0], BITSET, NULL, 0), 3);
    nt_file_close(file);
}

TEST(arrays_as_deep_as_the_limit_have_all_their_dimensions)
{
    struct nt_field deep[NT_MAX_DEPTH + 1];
    for (uint32_t i = 0; i <= NT_MAX_DEPTH; i++)
        deep[i] = (struct nt_field){
            .id = i, .parent = i ? i - 1 : NT_NONE, .kind = NT_FIELD_ARRAY, .repetition = i + 1};
    deep[NT_MAX_DEPTH].kind = NT_FIELD_VALUE;
    deep[NT_MAX_DEPTH].dimensions = &deep[NT_MAX_DEPTH].repetition;
    deep[NT_MAX_DEPTH].dimension_count = 1;
    struct nt_file *file = BUILD_FIELDS(deep);
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    uint64_t dimensions[NT_MAX_DEPTH + 1];
    ck_assert_uint_eq(nt_field_dimensions(file->datasets[0], NT_MAX_DEPTH, dimensions, LENGTH(dimensions)),
                      NT_MAX_DEPTH + 1);
    for (uint32_t i = 0; i <= NT_MAX_DEPTH; i++)
        ck_assert_uint_eq(dimensions[i], i + 1);
    nt_file_close(file);
}

TEST(rows_of_an_array_and_of_structures_in_dimensions_have_several_below)
{
    static const uint64_t none[] = {2, 0};
    const struct nt_field empty = {VALUE, .dimension_count = 2, .dimensions = none};
    ck_assert_uint_eq(nt_field_rows_below(&fields[ARRAY_OF_3]), 3);
    ck_assert_uint_eq(nt_field_rows_below(&fields[MATRIX]), 6);
    ck_assert_uint_eq(nt_field_rows_below(&fields[RECORD]), 1);
    ck_assert_uint_eq(nt_field_row_elements(&fields[BITSET]), 5);
    ck_assert_uint_eq(nt_field_row_elements(&fields[LEAF]), 1);
    ck_assert_uint_eq(nt_field_row_elements(&fields[ARRAY_OF_3]), 1);
    ck_assert_uint_eq(nt_field_row_elements(&empty), 0);
    ck_assert_uint_eq(nt_field_rows_below(&empty), 1);
}

TEST(only_opaque_values_with_sub_fields_have_members)
{
    struct nt_field field = {VALUE, .dtype = {.element = NT_ELEMENT_OPAQUE}, .child_count = 1};
    ck_assert(nt_field_has_members(&field));
    field.child_count = 0;
    ck_assert(!nt_field_has_members(&field));
    field.child_count = 1;
    field.dtype.element = NT_ELEMENT_INT32;
    ck_assert(!nt_field_has_members(&field));
    field =
        (struct nt_field){.kind = NT_FIELD_RECORD, .dtype = {.element = NT_ELEMENT_OPAQUE}, .child_count = 1};
    ck_assert(!nt_field_has_members(&field));
}

/* ---- the table ---- */

TEST(every_role_stream_and_kind_has_a_name)
{
    for (int i = 0; i < NT_ROLE_COUNT; i++)
        ck_assert_ptr_nonnull(nt_role_name((enum nt_role)i));
    for (int i = 0; i < NT_STREAM_COUNT; i++)
        ck_assert_ptr_nonnull(nt_stream_name((enum nt_stream_kind)i));
    for (int i = 0; i < NT_FIELD_KIND_COUNT; i++) {
        ck_assert_ptr_nonnull(nt_field_kind_name((enum nt_field_kind)i));
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(nt_field_kind_name((enum nt_field_kind)i),
                             nt_field_kind_name((enum nt_field_kind)k));
    }
}

#define HAS(stream) (1u << NT_STREAM_##stream)

/* The table "logical files by kind of field" of docs/tree.md. */
TEST(kinds_have_the_files_that_the_contract_gives_them)
{
    static const unsigned contract[NT_FIELD_KIND_COUNT] = {
        [NT_FIELD_RECORD] = 0,
        [NT_FIELD_TUPLE] = 0,
        [NT_FIELD_ARRAY] = 0,
        [NT_FIELD_WRAPPER] = 0,
        [NT_FIELD_VALUE] = HAS(DATA),
        [NT_FIELD_STRING] = HAS(OFFSETS) | HAS(DATA),
        [NT_FIELD_STREAMED] = HAS(OFFSETS) | HAS(DATA),
        [NT_FIELD_COLLECTION] = HAS(OFFSETS),
        [NT_FIELD_OPTIONAL] = HAS(OFFSETS),
        [NT_FIELD_DENSE_OPTIONAL] = HAS(VALID),
        [NT_FIELD_VARIANT] = HAS(TAGS) | HAS(INDEX),
        [NT_FIELD_CARDINALITY] = HAS(DATA),
        [NT_FIELD_PAGE_BYTES] = HAS(OFFSETS) | HAS(DATA),
        [NT_FIELD_MEMBER] = HAS(DATA),
        [NT_FIELD_UNREADABLE] = 0,
        [NT_FIELD_NULL] = 0,
        [NT_FIELD_JSON] = HAS(OFFSETS) | HAS(DATA),
        [NT_FIELD_EMPTY] = 0,
        [NT_FIELD_SPLIT_COLLECTION] = HAS(DATA),
    };
    for (int kind = 0; kind < NT_FIELD_KIND_COUNT; kind++) {
        const struct nt_field field = {.kind = (enum nt_field_kind)kind};
        for (int i = 0; i < NT_STREAM_COUNT; i++)
            ck_assert_int_eq(nt_field_has_stream(&field, (enum nt_stream_kind)i), contract[kind] >> i & 1);
    }
}

/* The column after those of the kind stores which rows are valid. */
TEST(a_nullable_field_has_the_same_files_and_valid, .end = NT_FIELD_KIND_COUNT)
{
    const struct nt_field field = {
        .kind = (enum nt_field_kind)_i, .is_nullable = true, .dimension_count = 1, .repetition = 5};
    const struct nt_field_kind_row *row = nt_field_kind_info(field.kind);
    enum nt_stream_kind kind;
    uint32_t columns = 0;
    if (row->form == NT_FORM_OPTIONAL)
        return; /* it has one of its own */
    for (int i = 0; i < NT_STREAM_COUNT; i++) {
        const struct nt_stream_row *stream = nt_field_stream(&field, (enum nt_stream_kind)i);
        ck_assert(i == NT_STREAM_VALID || stream == row->streams[i]);
        if (stream && i != NT_STREAM_VALID && field.kind != NT_FIELD_MEMBER && columns <= stream->position)
            columns = stream->position + 1;
    }
    const struct nt_stream_row *valid = nt_field_stream(&field, NT_STREAM_VALID);
    ck_assert_ptr_nonnull(valid);
    ck_assert_uint_eq(row->columns, columns);
    ck_assert_uint_eq(valid->position, columns);
    ck_assert_uint_eq(nt_stream_row_elements(&field, valid), 1);
    ck_assert(nt_field_column_stream(&field, columns, &kind));
    ck_assert_int_eq(kind, NT_STREAM_VALID);
}

/* From RNTuple's specification: offsets are counted one more than rows, and depend on the ones before. */
TEST(what_streams_are_made_from_goes_together, .end = NT_FIELD_KIND_COUNT)
{
    const struct nt_field_kind_row *row = nt_field_kind_info((enum nt_field_kind)_i);
    for (int i = 0; i < NT_STREAM_COUNT; i++) {
        const struct nt_stream_row *stream = row->streams[i];
        if (!stream)
            continue;
        bool is_offsets = i == NT_STREAM_OFFSETS, is_data = i == NT_STREAM_DATA;
        ck_assert_int_eq(stream->has_leading_zero, is_offsets);
        ck_assert_int_eq(stream->needs_previous,
                         stream->conversion == NT_CONVERT_OFFSETS || stream->conversion == NT_CONVERT_SIZES);
        ck_assert_int_eq(stream->conversion == NT_CONVERT_OFFSETS ||
                             stream->conversion == NT_CONVERT_PAGE_ENDS,
                         is_offsets);
        ck_assert(is_data || stream->of == NT_COUNTED_ROWS);
        ck_assert_int_eq(stream->position, stream->of == NT_COUNTED_SECOND_COLUMN);
        ck_assert(stream->conversion != NT_CONVERT_PAGE_ENDS || row->has_page_per_row);
    }
}

/* Verification reads each column once: a member is a part of another field's column. */
TEST(each_column_of_a_kind_is_shown_whole_by_one_stream, .end = NT_FIELD_KIND_COUNT)
{
    const struct nt_field_kind_row *row = nt_field_kind_info((enum nt_field_kind)_i);
    for (uint32_t position = 0; position < 2; position++) {
        unsigned found = 0, whole = 0;
        for (int i = 0; i < NT_STREAM_COUNT; i++) {
            found += row->streams[i] && row->streams[i]->position == position;
            whole += row->streams[i] && row->streams[i]->position == position && !row->streams[i]->is_partial;
        }
        ck_assert_uint_eq(whole, found && _i != NT_FIELD_MEMBER ? 1 : 0);
    }
}

TEST(a_column_is_shown_by_the_stream_that_needs_all_of_it)
{
    static const struct {
        enum nt_field_kind kind;
        uint32_t position;
        bool is_shown;
        enum nt_stream_kind stream;
    } shown[] = {
        {NT_FIELD_VALUE, 0, true, NT_STREAM_DATA},      {NT_FIELD_STRING, 0, true, NT_STREAM_OFFSETS},
        {NT_FIELD_STRING, 1, true, NT_STREAM_DATA},     {NT_FIELD_VARIANT, 0, true, NT_STREAM_INDEX},
        {NT_FIELD_PAGE_BYTES, 0, true, NT_STREAM_DATA}, {NT_FIELD_VALUE, 1, false, NT_STREAM_DATA},
        {NT_FIELD_RECORD, 0, false, NT_STREAM_DATA},
    };
    for (size_t i = 0; i < LENGTH(shown); i++) {
        const struct nt_field field = {.kind = shown[i].kind};
        enum nt_stream_kind kind;
        ck_assert_int_eq(nt_field_column_stream(&field, shown[i].position, &kind), shown[i].is_shown);
        if (shown[i].is_shown)
            ck_assert_int_eq(kind, shown[i].stream);
    }
}

TEST(forms_have_the_rows_below_and_the_streams_that_they_need, .end = NT_FIELD_KIND_COUNT)
{
    const struct nt_field_kind_row *row = nt_field_kind_info((enum nt_field_kind)_i);
    bool has_offsets = row->streams[NT_STREAM_OFFSETS], has_data = row->streams[NT_STREAM_DATA];
    ck_assert_int_eq(row->form == NT_FORM_NOTHING, _i == NT_FIELD_UNREADABLE);
    ck_assert_int_eq(row->form == NT_FORM_NOTHING, row->below == NT_BELOW_OWN);
    ck_assert_int_eq(row->form == NT_FORM_VARIANT, row->below == NT_BELOW_SWITCH);
    ck_assert(row->below != NT_BELOW_INDEX || has_offsets);
    ck_assert(row->form != NT_FORM_FIXED_LIST || row->below == NT_BELOW_SEVERAL);
    ck_assert(row->form != NT_FORM_LIST || row->below == NT_BELOW_INDEX);
    ck_assert(row->form != NT_FORM_OPTIONAL || (row->below == NT_BELOW_INDEX) == has_offsets);
    ck_assert(row->form != NT_FORM_OPTIONAL || has_offsets != (row->streams[NT_STREAM_VALID] != NULL));
    if (row->form == NT_FORM_TEXT || row->form == NT_FORM_BYTES)
        ck_assert(has_offsets && has_data && row->streams[NT_STREAM_DATA]->of != NT_COUNTED_ROWS);
    if (row->form == NT_FORM_VALUE)
        ck_assert(has_data && row->streams[NT_STREAM_DATA]->of == NT_COUNTED_ROWS);
    ck_assert(!row->has_dimensions || row->form == NT_FORM_VALUE);
}
