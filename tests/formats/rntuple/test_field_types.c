/* SPDX-License-Identifier: MIT
 *
 * The kind of a field, from its role, type name and columns.
 */
#include "formats/rntuple/rntuple.h"
#include "rntuple_opened.h"

static struct nt_error error;
static struct written written;

#define TYPE(text) ((struct nt_text){text, sizeof(text) - 1})

TEST(type_names_mean_elements)
{
    static const struct {
        const char *type;
        enum nt_element element;
    } names[] = {
        {"bool", NT_ELEMENT_BOOL},
        {"char", NT_ELEMENT_BYTE},
        {"std::byte", NT_ELEMENT_BYTE},
        {"std::int8_t", NT_ELEMENT_INT8},
        {"std::uint64_t", NT_ELEMENT_UINT64},
        {"float", NT_ELEMENT_REAL32},
        {"double", NT_ELEMENT_REAL64},
        {"Double32_t", NT_ELEMENT_REAL64},
        {"int", NT_ELEMENT_INT32},
        {"Long64_t", NT_ELEMENT_INT64},
    };
    enum nt_element element;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ck_assert(nt_type_element((struct nt_text){names[i].type, strlen(names[i].type)}, &element));
        ck_assert_int_eq(element, names[i].element);
    }
    ck_assert(!nt_type_element(TYPE("std::int32"), &element));
    ck_assert(!nt_type_element(TYPE("std::int32_t "), &element));
    ck_assert(!nt_type_element(TYPE(""), &element));
}

/* Numbers of the final column types. */
enum {
    BIT = 0,
    BYTE = 1,
    CHAR = 2,
    UINT32 = 8,
    UINT64 = 0x0a,
    REAL16 = 0x0b,
    REAL32 = 0x0c,
    INDEX32 = 0x0e,
    INDEX64 = 0x0f,
    SWITCH = 0x10,
    QUANT = 0x1d
};

static const struct kind_row {
    const char *type;
    uint16_t role, flags;
    struct rntuple_column columns[3];
    uint32_t column_count;
    uint32_t sub_fields;
    enum nt_field_kind kind;
    const char *dtype;
    const char *unreadable;
} rows[] = {
    {.type = "float",
     .columns = {{.type = REAL32, .bits = 32}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "<f4"},
    {.type = "double",
     .columns = {{.type = REAL32, .bits = 32}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "<f8"},
    {.type = "double",
     .columns = {{.type = REAL16, .bits = 16}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "<f8"},
    {.type = "double",
     .columns = {{.type = QUANT, .bits = 3, .has_range = true, .maximum = 1}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "<f8"},
    {.type = "std::int32_t",
     .columns = {{.type = UINT32, .bits = 32}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "<i4"},
    {.type = "std::int64_t",
     .columns = {{.type = UINT64, .bits = 64}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "<i8"},
    {.type = "std::uint8_t",
     .columns = {{.type = UINT32, .bits = 32}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "|u1"},
    {.type = "bool",
     .columns = {{.type = BIT, .bits = 1}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "|b1"},
    {.type = "char",
     .columns = {{.type = CHAR, .bits = 8}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "|u1"},
    {.type = "std::byte",
     .columns = {{.type = BYTE, .bits = 8}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "|u1"},
    {.type = "of.another.writer",
     .columns = {{.type = UINT32, .bits = 32}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "<u4"},
    {.type = "std::bitset<9>",
     .flags = 1,
     .columns = {{.type = BIT, .bits = 1}},
     .column_count = 1,
     .kind = NT_FIELD_VALUE,
     .dtype = "|b1"},
    {.type = "std::string",
     .columns = {{.type = INDEX64, .bits = 64}, {.type = CHAR, .bits = 8}},
     .column_count = 2,
     .kind = NT_FIELD_STRING,
     .dtype = "|u1"},
    {.type = "std::string",
     .columns = {{.type = INDEX32, .bits = 32}, {.type = BYTE, .bits = 8}},
     .column_count = 2,
     .kind = NT_FIELD_STRING,
     .dtype = "|u1"},
    {.type = "AnyClass",
     .role = 4,
     .columns = {{.type = INDEX64, .bits = 64}, {.type = BYTE, .bits = 8}},
     .column_count = 2,
     .kind = NT_FIELD_STREAMED,
     .dtype = "|u1"},
    {.type = "std::vector<T>",
     .role = 1,
     .columns = {{.type = INDEX64, .bits = 64}},
     .column_count = 1,
     .sub_fields = 1,
     .kind = NT_FIELD_COLLECTION},
    {.type = "std::optional<T>",
     .role = 1,
     .columns = {{.type = BIT, .bits = 1}},
     .column_count = 1,
     .sub_fields = 1,
     .kind = NT_FIELD_DENSE_OPTIONAL},
    {.type = "std::variant<T,U>",
     .role = 3,
     .columns = {{.type = SWITCH, .bits = 96}},
     .column_count = 1,
     .kind = NT_FIELD_VARIANT},
    {.type = "Class", .role = 2, .kind = NT_FIELD_RECORD},
    {.type = "Class", .role = 2, .sub_fields = 1, .kind = NT_FIELD_RECORD},
    {.type = "Empty", .role = 2, .kind = NT_FIELD_RECORD},
    {.type = "Enum", .sub_fields = 1, .kind = NT_FIELD_WRAPPER},
    {.type = "std::array<T,9>", .flags = 1, .sub_fields = 1, .kind = NT_FIELD_ARRAY},
    {.type = "std::array<T,9>", .role = 2, .flags = 1, .sub_fields = 1, .kind = NT_FIELD_ARRAY},
    /* only the name distinguishes them */
    {.type = "std::pair<T,U>", .role = 2, .sub_fields = 2, .kind = NT_FIELD_TUPLE},
    {.type = "std::tuple<T>", .role = 2, .sub_fields = 1, .kind = NT_FIELD_TUPLE},
    {.type = "std::tuple<", .role = 2, .sub_fields = 1, .kind = NT_FIELD_RECORD},
    {.type = "my::std::pair<T,U>", .role = 2, .sub_fields = 2, .kind = NT_FIELD_RECORD},
    {.type = "std::optional<float>",
     .role = 1,
     .columns = {{.type = INDEX64, .bits = 64}},
     .column_count = 1,
     .sub_fields = 1,
     .kind = NT_FIELD_OPTIONAL},
    {.type = "std::unique_ptr<A>",
     .role = 1,
     .columns = {{.type = INDEX64, .bits = 64}},
     .column_count = 1,
     .sub_fields = 1,
     .kind = NT_FIELD_OPTIONAL},
    {.type = "std::optional",
     .role = 1,
     .columns = {{.type = INDEX64, .bits = 64}},
     .column_count = 1,
     .sub_fields = 1,
     .kind = NT_FIELD_COLLECTION},
    {.type = "std::vector<std::optional<float>>",
     .role = 1,
     .columns = {{.type = INDEX64, .bits = 64}},
     .column_count = 1,
     .sub_fields = 1,
     .kind = NT_FIELD_COLLECTION},
    {.type = "",
     .role = 1,
     .columns = {{.type = INDEX64, .bits = 64}},
     .column_count = 1,
     .sub_fields = 1,
     .kind = NT_FIELD_COLLECTION},
    {.type = "",
     .role = 1,
     .columns = {{.type = INDEX64, .bits = 64}},
     .column_count = 1,
     .sub_fields = 2,
     .kind = NT_FIELD_COLLECTION},
    {.type = "ROOT::RNTupleCardinality<std::uint32_t>",
     .columns = {{.type = INDEX64, .bits = 64}},
     .column_count = 1,
     .kind = NT_FIELD_CARDINALITY,
     .dtype = "<u4"},
    {.type = "ROOT::Experimental::RNTupleCardinality<std::uint64_t>",
     .columns = {{.type = INDEX32, .bits = 32}},
     .column_count = 1,
     .kind = NT_FIELD_CARDINALITY,
     .dtype = "<u8"},
    {.type = "ROOT::Experimental::RNTupleCardinality",
     .columns = {{.type = INDEX32, .bits = 32}},
     .column_count = 1,
     .kind = NT_FIELD_CARDINALITY,
     .dtype = "<u4"},
    /* combinations that are invalid */
    {.type = "std::vector<T>",
     .role = 1,
     .columns = {{.type = REAL32, .bits = 32}},
     .column_count = 1,
     .sub_fields = 1,
     .kind = NT_FIELD_UNREADABLE,
     .unreadable = "the columns do not fit a collection field: found Real32"},
    {.type = "std::vector<T>",
     .role = 1,
     .sub_fields = 1,
     .kind = NT_FIELD_UNREADABLE,
     .unreadable = "the columns do not fit a collection field: found none"},
    {.type = "std::variant<T,U>",
     .role = 3,
     .columns = {{.type = INDEX64, .bits = 64}},
     .column_count = 1,
     .kind = NT_FIELD_UNREADABLE},
    {.type = "std::string",
     .columns = {{.type = CHAR, .bits = 8}, {.type = INDEX64, .bits = 64}},
     .column_count = 2,
     .kind = NT_FIELD_UNREADABLE},
    {.type = "three",
     .columns = {{.type = UINT32, .bits = 32}, {.type = UINT32, .bits = 32}, {.type = UINT32, .bits = 32}},
     .column_count = 3,
     .kind = NT_FIELD_UNREADABLE,
     .unreadable = "the columns do not fit a plain field: found UInt32, UInt32, UInt32"},
    /* numbers of sub-fields that are invalid */
    {.type = "std::int32_t",
     .columns = {{.type = UINT32, .bits = 32}},
     .column_count = 1,
     .sub_fields = 1,
     .kind = NT_FIELD_UNREADABLE},
    {.type = "std::string",
     .columns = {{.type = INDEX64, .bits = 64}, {.type = CHAR, .bits = 8}},
     .column_count = 2,
     .sub_fields = 1,
     .kind = NT_FIELD_UNREADABLE},
    {.type = "std::bitset<9>",
     .flags = 1,
     .columns = {{.type = BIT, .bits = 1}},
     .column_count = 1,
     .sub_fields = 1,
     .kind = NT_FIELD_UNREADABLE},
    {.type = "AnyClass",
     .role = 4,
     .columns = {{.type = INDEX64, .bits = 64}, {.type = BYTE, .bits = 8}},
     .column_count = 2,
     .sub_fields = 1,
     .kind = NT_FIELD_UNREADABLE},
    {.type = "Enum",
     .kind = NT_FIELD_UNREADABLE,
     .unreadable = "sub-fields of a plain field without columns: expected 1, found 0"},
    {.type = "Enum", .sub_fields = 2, .kind = NT_FIELD_UNREADABLE},
    {.type = "std::array<T,9>", .flags = 1, .kind = NT_FIELD_UNREADABLE},
    {.type = "std::array<T,9>", .flags = 1, .sub_fields = 2, .kind = NT_FIELD_UNREADABLE},
    {.type = "std::vector<T>",
     .role = 1,
     .columns = {{.type = INDEX64, .bits = 64}},
     .column_count = 1,
     .kind = NT_FIELD_UNREADABLE},
    {.type = "std::vector<T>",
     .role = 1,
     .columns = {{.type = INDEX64, .bits = 64}},
     .column_count = 1,
     .sub_fields = 2,
     .kind = NT_FIELD_UNREADABLE},
};

TEST(role_type_and_columns_decide_the_kind, .end = sizeof(rows) / sizeof(rows[0]))
{
    const struct kind_row *row = &rows[_i];
    const struct rntuple_field fields[] = {
        {.name = "f",
         .type = row->type,
         .parent = RNTUPLE_TOP,
         .role = row->role,
         .flags = row->flags,
         .array_size = 9},
        {.name = "_0", .type = "T", .parent = 0, .role = 2},
        {.name = "_1", .type = "U", .parent = 0, .role = 2},
    };
    struct rntuple_description description = {.name = "n",
                                              .fields = fields,
                                              .field_count = 1 + row->sub_fields,
                                              .columns = row->columns,
                                              .column_count = row->column_count};
    assert_ok(write_and_open(&written, RNTUPLE_V1, &description, &error));
    const struct nt_field *found = &written.dataset->fields[0];
    ck_assert_msg(found->kind == row->kind, "%s: %s", row->type, nt_field_kind_name(found->kind));
    ck_assert_int_eq(found->unreadable != NULL, row->kind == NT_FIELD_UNREADABLE);
    ck_assert_int_eq(found->dtype.numpy != NULL, row->dtype != NULL);
    if (row->unreadable)
        ck_assert_str_eq(found->unreadable, row->unreadable);
    if (row->dtype)
        ck_assert_str_eq(found->dtype.numpy, row->dtype);
    written_close(&written);
}

TEST(a_bitset_is_a_value_of_one_dimension)
{
    const struct rntuple_field field = {
        .name = "f", .type = "std::bitset<9>", .parent = RNTUPLE_TOP, .flags = 1, .array_size = 9};
    const struct rntuple_column column = {.type = BIT, .bits = 1};
    struct rntuple_description description = {
        .name = "n", .fields = &field, .field_count = 1, .columns = &column, .column_count = 1};
    assert_ok(write_and_open(&written, RNTUPLE_V1, &description, &error));
    ck_assert_uint_eq(written.dataset->fields[0].dimension_count, 1);
    ck_assert_uint_eq(written.dataset->fields[0].dimensions[0], 9);
    written_close(&written);
}

TEST(representations_of_different_kinds_have_no_data)
{
    const struct rntuple_field fields[] = {
        {.name = "f", .type = "std::vector<T>", .parent = RNTUPLE_TOP, .role = 1},
        {.name = "_0", .type = "T", .parent = 0, .role = 2},
    };
    const struct rntuple_column columns[] = {{.type = INDEX64, .bits = 64},
                                             {.type = BIT, .bits = 1, .representation = 1}};
    struct rntuple_description description = {
        .name = "n", .fields = fields, .field_count = 2, .columns = columns, .column_count = 2};
    assert_ok(write_and_open(&written, RNTUPLE_V1, &description, &error));
    ck_assert_int_eq(written.dataset->fields[0].kind, NT_FIELD_UNREADABLE);
    ck_assert_str_eq(written.dataset->fields[0].unreadable,
                     "the columns do not fit a collection field: found Index64, Bit");
    written_close(&written);
}

/* v: a vector of records {x, y}, whose y has another version; n and m show it; z has its own top. */
static const struct rntuple_field of_versions[] = {
    {.name = "v", .type = "std::vector<R>", .parent = RNTUPLE_TOP, .role = 1},
    {.name = "_0", .type = "R", .parent = 0, .role = 2},
    {.name = "x", .type = "float", .parent = 1},
    {.name = "y", .type = "float", .parent = 1, .field_version = 7},
    {.name = "n",
     .type = "ROOT::RNTupleCardinality<std::uint32_t>",
     .parent = RNTUPLE_TOP,
     .flags = 2,
     .source = 0},
    {.name = "m", .type = "std::vector<float>", .parent = RNTUPLE_TOP, .role = 1, .flags = 2, .source = 0},
    {.name = "_0", .type = "float", .parent = 5, .flags = 2, .source = 2},
    {.name = "z", .type = "float", .parent = RNTUPLE_TOP, .type_version = 3},
};

TEST(another_field_version_hides_the_top_level_field_and_what_shows_it, .first = RNTUPLE_RC3,
     .end = RNTUPLE_GENERATIONS)
{
    static const struct rntuple_column columns[] = {{.type = INDEX64, .bits = 64, .field = 0},
                                                    {.type = REAL32, .bits = 32, .field = 2},
                                                    {.type = REAL32, .bits = 32, .field = 3},
                                                    {.type = REAL32, .bits = 32, .field = 7}};
    static const struct rntuple_alias aliases[] = {{0, 4}, {0, 5}, {1, 6}};
    struct rntuple_description description = {.name = "n",
                                              .fields = of_versions,
                                              .field_count = 8,
                                              .columns = columns,
                                              .column_count = 4,
                                              .aliases = aliases,
                                              .alias_count = 3};
    bool has_versions = _i >= RNTUPLE_V1; /* the meaning of a candidate's number is unknown */
    assert_ok(write_and_open(&written, _i, &description, &error));
    for (uint32_t i = 0; i < 7 && has_versions; i++) {
        const struct nt_field *field = &written.dataset->fields[i];
        ck_assert_int_eq(field->kind, NT_FIELD_UNREADABLE);
        ck_assert_str_eq(field->unreadable, "unknown field version 7 of field 3");
    }
    for (uint32_t i = has_versions ? 7 : 0; i < 8; i++)
        ck_assert_ptr_null(written.dataset->fields[i].unreadable);
    written_close(&written);
}
