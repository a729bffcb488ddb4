/* SPDX-License-Identifier: MIT
 *
 * What a field's role, type name and columns make of it.
 */
#include "format/rntuple/field_kind.h"
#include "rntuple_opened.h"

static struct nt_error error;
static struct written written;

#define TYPE(text) ((struct nt_text){text, sizeof(text) - 1})

START_TEST(type_names_stand_for_elements)
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
END_TEST

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
    enum nt_field_kind kind;
    const char *dtype;
} rows[] = {
    {"float", 0, 0, {{.type = REAL32, .bits = 32}}, 1, NT_FIELD_VALUE, "'<f4'"},
    {"double", 0, 0, {{.type = REAL32, .bits = 32}}, 1, NT_FIELD_VALUE, "'<f8'"},
    {"double", 0, 0, {{.type = REAL16, .bits = 16}}, 1, NT_FIELD_VALUE, "'<f8'"},
    {"double",
     0,
     0,
     {{.type = QUANT, .bits = 3, .has_range = true, .maximum = 1}},
     1,
     NT_FIELD_VALUE,
     "'<f8'"},
    {"std::int32_t", 0, 0, {{.type = UINT32, .bits = 32}}, 1, NT_FIELD_VALUE, "'<i4'"},
    {"std::int64_t", 0, 0, {{.type = UINT64, .bits = 64}}, 1, NT_FIELD_VALUE, "'<i8'"},
    {"std::uint8_t", 0, 0, {{.type = UINT32, .bits = 32}}, 1, NT_FIELD_VALUE, "'|u1'"},
    {"bool", 0, 0, {{.type = BIT, .bits = 1}}, 1, NT_FIELD_VALUE, "'|b1'"},
    {"char", 0, 0, {{.type = CHAR, .bits = 8}}, 1, NT_FIELD_VALUE, "'|u1'"},
    {"std::byte", 0, 0, {{.type = BYTE, .bits = 8}}, 1, NT_FIELD_VALUE, "'|u1'"},
    {"of.another.writer", 0, 0, {{.type = UINT32, .bits = 32}}, 1, NT_FIELD_VALUE, "'<u4'"},
    {"std::bitset<9>", 0, 1, {{.type = BIT, .bits = 1}}, 1, NT_FIELD_VALUE, "'|b1'"},
    {"std::string",
     0,
     0,
     {{.type = INDEX64, .bits = 64}, {.type = CHAR, .bits = 8}},
     2,
     NT_FIELD_BYTES,
     "'|u1'"},
    {"std::string",
     0,
     0,
     {{.type = INDEX32, .bits = 32}, {.type = BYTE, .bits = 8}},
     2,
     NT_FIELD_BYTES,
     "'|u1'"},
    {"AnyClass",
     4,
     0,
     {{.type = INDEX64, .bits = 64}, {.type = BYTE, .bits = 8}},
     2,
     NT_FIELD_BYTES,
     "'|u1'"},
    {"std::vector<T>", 1, 0, {{.type = INDEX64, .bits = 64}}, 1, NT_FIELD_COLLECTION, NULL},
    {"std::optional<T>", 1, 0, {{.type = BIT, .bits = 1}}, 1, NT_FIELD_DENSE_OPTIONAL, NULL},
    {"std::variant<T,U>", 3, 0, {{.type = SWITCH, .bits = 96}}, 1, NT_FIELD_VARIANT, NULL},
    {"Class", 2, 0, {{0}}, 0, NT_FIELD_CONTAINER, NULL},
    {"Enum", 0, 0, {{0}}, 0, NT_FIELD_CONTAINER, NULL},
    {"ROOT::RNTupleCardinality<std::uint32_t>",
     0,
     0,
     {{.type = INDEX64, .bits = 64}},
     1,
     NT_FIELD_CARDINALITY,
     "'<u4'"},
    {"ROOT::Experimental::RNTupleCardinality<std::uint64_t>",
     0,
     0,
     {{.type = INDEX32, .bits = 32}},
     1,
     NT_FIELD_CARDINALITY,
     "'<u8'"},
    {"ROOT::Experimental::RNTupleCardinality",
     0,
     0,
     {{.type = INDEX32, .bits = 32}},
     1,
     NT_FIELD_CARDINALITY,
     "'<u4'"},
    /* what does not go together */
    {"std::vector<T>", 1, 0, {{.type = REAL32, .bits = 32}}, 1, NT_FIELD_UNREADABLE, NULL},
    {"std::vector<T>", 1, 0, {{0}}, 0, NT_FIELD_UNREADABLE, NULL},
    {"std::variant<T,U>", 3, 0, {{.type = INDEX64, .bits = 64}}, 1, NT_FIELD_UNREADABLE, NULL},
    {"std::string",
     0,
     0,
     {{.type = CHAR, .bits = 8}, {.type = INDEX64, .bits = 64}},
     2,
     NT_FIELD_UNREADABLE,
     NULL},
    {"three",
     0,
     0,
     {{.type = UINT32, .bits = 32}, {.type = UINT32, .bits = 32}, {.type = UINT32, .bits = 32}},
     3,
     NT_FIELD_UNREADABLE,
     NULL},
};

START_TEST(role_type_and_columns_decide_the_kind)
{
    const struct kind_row *row = &rows[_i];
    struct rntuple_field field = {.name = "f",
                                  .type = row->type,
                                  .parent = RNTUPLE_TOP,
                                  .role = row->role,
                                  .flags = row->flags,
                                  .array_size = 9};
    struct rntuple_description description = {.name = "n",
                                              .fields = &field,
                                              .field_count = 1,
                                              .columns = row->columns,
                                              .column_count = row->column_count};
    assert_ok(write_and_open(&written, RNTUPLE_V1, &description, &error));
    const struct nt_field *found = &written.dataset->fields[0];
    ck_assert_msg(found->kind == row->kind, "%s: %s", row->type, nt_field_kind_info(found->kind)->name);
    ck_assert_int_eq(found->unreadable != NULL, row->kind == NT_FIELD_UNREADABLE);
    ck_assert_int_eq(found->dtype.text != NULL, row->dtype != NULL);
    if (row->dtype)
        ck_assert_str_eq(found->dtype.text, row->dtype);
    written_close(&written);
}
END_TEST

START_TEST(representations_of_different_kinds_have_no_data)
{
    const struct rntuple_field field = {
        .name = "f", .type = "std::vector<T>", .parent = RNTUPLE_TOP, .role = 1};
    const struct rntuple_column columns[] = {{.type = INDEX64, .bits = 64},
                                             {.type = BIT, .bits = 1, .representation = 1}};
    struct rntuple_description description = {
        .name = "n", .fields = &field, .field_count = 1, .columns = columns, .column_count = 2};
    assert_ok(write_and_open(&written, RNTUPLE_V1, &description, &error));
    ck_assert_int_eq(written.dataset->fields[0].kind, NT_FIELD_UNREADABLE);
    written_close(&written);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format: RNTuple kinds of fields");
    TCase *tests = tcase_create("kinds");
    tcase_add_test(tests, type_names_stand_for_elements);
    tcase_add_loop_test(tests, role_type_and_columns_decide_the_kind, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tests, representations_of_different_kinds_have_no_data);
    suite_add_tcase(suite, tests);
    return nt_test_main(suite);
}
