/* SPDX-License-Identifier: MIT
 *
 * Schema descriptions of every generation: records, ids, parents, projections; valid ones, and an invalid
 * one for each rule.
 */
#include "rntuple_opened.h"

static struct nt_error error;
static struct written written;

static const struct column_number INDEX32 = {1, 0x02, 0x0e}, INT32 = {10, 0x17, 0x07}, CHAR = {3, 0x05, 0x02};

static struct rntuple_description schema(const struct rntuple_field *fields, uint32_t field_count,
                                         const struct rntuple_column *columns, uint32_t column_count)
{
    return (struct rntuple_description){.name = "n",
                                        .fields = fields,
                                        .field_count = field_count,
                                        .columns = columns,
                                        .column_count = column_count};
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static enum nt_status open_fields(enum rntuple_generation generation, const struct rntuple_field *fields,
                                  uint32_t count)
{
    struct rntuple_description description = schema(fields, count, NULL, 0);
    return write_and_open(&written, generation, &description, &error);
}

/* ---- fields ---- */

TEST(texts_and_optional_values_of_fields_are_read, .first = RNTUPLE_RC2_LATE, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field fields[] = {
        {.name = "array",
         .type = "std::array<T,5>",
         .parent = RNTUPLE_TOP,
         .flags = 5,
         .array_size = 5,
         .type_checksum = 0xdeadbeef,
         .description = "five"},
        {.name = "_0", .type = "T", .parent = 0, .role = 2, .flags = 4, .type_checksum = 7},
        {.name = "view",
         .type = "T",
         .parent = RNTUPLE_TOP,
         .role = 2,
         .flags = 6,
         .source = 1,
         .type_checksum = 8},
    };
    assert_ok(open_fields(_i, fields, 3));
    const struct nt_field *array = &written.dataset->fields[0], *view = &written.dataset->fields[2];
    ck_assert(is_text(array->name, "array"));
    ck_assert(is_text(array->type, "std::array<T,5>"));
    ck_assert(is_text(array->description, "five"));
    ck_assert_uint_eq(array->repetition, 5);
    ck_assert_uint_eq(nt_field_source(array), NT_NONE);
    ck_assert_uint_eq(nt_field_source(view), 1);
    ck_assert(is_text(view->name, "view"));
    written_close(&written);
}

TEST(names_are_any_bytes, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field fields[] = {
        {.name = "", .type = "float", .parent = RNTUPLE_TOP},
        {.name = "a/b\n\xff.", .type = "float", .parent = RNTUPLE_TOP},
        {.name = "a/b\n\xff.", .type = "float", .parent = RNTUPLE_TOP},
    };
    assert_ok(open_fields(_i, fields, 3));
    ck_assert(is_text(written.dataset->fields[0].name, ""));
    ck_assert(is_text(written.dataset->fields[1].name, "a/b\n\xff."));
    written_close(&written);
}

TEST(a_parent_that_does_not_exist_is_refused, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field fields[] = {{.name = "a", .type = "T", .parent = 7}};
    assert_status(NT_CORRUPT, open_fields(_i, fields, 1));
    ck_assert_ptr_nonnull(strstr(error.message, "parent"));
    written_close(&written);
}

TEST(fields_that_are_their_own_ancestors_are_refused, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field fields[] = {
        {.name = "a", .type = "T", .parent = 2, .role = 2},
        {.name = "b", .type = "T", .parent = 0, .role = 2},
        {.name = "c", .type = "T", .parent = 1, .role = 2},
    };
    assert_status(NT_CORRUPT, open_fields(_i, fields, 3));
    ck_assert_ptr_nonnull(strstr(error.message, "ancestor"));
    written_close(&written);
}

TEST(a_source_field_must_be_another_field, .first = RNTUPLE_RC2_LATE, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_field field = {
        .name = "a", .type = "float", .parent = RNTUPLE_TOP, .flags = 2, .source = 0};
    assert_status(NT_CORRUPT, open_fields(_i, &field, 1));
    ck_assert_ptr_nonnull(strstr(error.message, "itself"));
    written_close(&written);
    field.source = 5;
    assert_status(NT_CORRUPT, open_fields(_i, &field, 1));
    ck_assert_ptr_nonnull(strstr(error.message, "does not exist"));
    written_close(&written);
}

/* ---- fields without data, which leave the others readable ---- */

TEST(a_field_of_unknown_role_is_shown_without_data_as_all_below_it, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field fields[] = {
        {.name = "strange", .type = "T", .parent = RNTUPLE_TOP, .role = 9},
        {.name = "inner", .type = "std::int32_t", .parent = 0},
        {.name = "plain", .type = "std::int32_t", .parent = RNTUPLE_TOP},
    };
    const struct rntuple_column columns[] = {{.type = column_number(_i, INT32), .bits = 32, .field = 1},
                                             {.type = column_number(_i, INT32), .bits = 32, .field = 2}};
    struct rntuple_description description = schema(fields, 3, columns, 2);
    assert_ok(write_and_open(&written, _i, &description, &error));
    for (uint32_t i = 0; i < 3; i++) {
        const struct nt_field *field = &written.dataset->fields[i];
        bool is_plain = is_text(field->name, "plain");
        ck_assert_int_eq(field->kind, is_plain ? NT_FIELD_VALUE : NT_FIELD_UNREADABLE);
        if (is_plain)
            ck_assert_ptr_null(field->unreadable);
        else
            ck_assert_ptr_nonnull(strstr(field->unreadable, "role 9"));
    }
    written_close(&written);
}

TEST(a_column_of_unknown_type_hides_its_field_only, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field fields[] = {{.name = "new", .type = "T", .parent = RNTUPLE_TOP},
                                           {.name = "plain", .type = "std::int32_t", .parent = RNTUPLE_TOP}};
    const struct rntuple_column columns[] = {{.type = 0x99, .bits = 24, .field = 0},
                                             {.type = column_number(_i, INT32), .bits = 32, .field = 1}};
    struct rntuple_description description = schema(fields, 2, columns, 2);
    assert_ok(write_and_open(&written, _i, &description, &error));
    const struct nt_dataset *dataset = written.dataset;
    ck_assert_str_eq(dataset->columns[0].type_name, "unknown (0x99)");
    ck_assert_int_eq(nt_column_decoder(dataset, 0)->encoding, NT_ENCODING_UNKNOWN);
    for (uint32_t i = 0; i < 2; i++) {
        bool is_new = is_text(dataset->fields[i].name, "new");
        ck_assert_int_eq(dataset->fields[i].kind, is_new ? NT_FIELD_UNREADABLE : NT_FIELD_VALUE);
        if (is_new)
            ck_assert_ptr_nonnull(strstr(dataset->fields[i].unreadable, "0x99"));
    }
    written_close(&written);
}

TEST(a_width_that_a_column_type_cannot_have_hides_its_field, .first = RNTUPLE_CRC32_LINKS,
     .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field field = {.name = "odd", .type = "std::int32_t", .parent = RNTUPLE_TOP};
    const struct rntuple_column column = {.type = column_number(_i, INT32), .bits = 33, .field = 0};
    struct rntuple_description description = schema(&field, 1, &column, 1);
    assert_ok(write_and_open(&written, _i, &description, &error));
    ck_assert_int_eq(written.dataset->fields[0].kind, NT_FIELD_UNREADABLE);
    ck_assert_str_eq(written.dataset->columns[0].type_name, "Int32");
    ck_assert_ptr_nonnull(strstr(written.dataset->fields[0].unreadable, "33 bits"));
    written_close(&written);
}

TEST(an_array_of_no_elements_has_no_data, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field fields[] = {
        {.name = "array", .type = "std::array<std::int32_t,0>", .parent = RNTUPLE_TOP, .flags = 1},
        {.name = "_0", .type = "std::int32_t", .parent = 0},
    };
    const struct rntuple_column column = {.type = column_number(_i, INT32), .bits = 32, .field = 1};
    struct rntuple_description description = schema(fields, 2, &column, 1);
    assert_ok(write_and_open(&written, _i, &description, &error));
    ck_assert_int_eq(written.dataset->fields[0].kind, NT_FIELD_UNREADABLE);
    ck_assert_int_eq(written.dataset->fields[1].kind, NT_FIELD_UNREADABLE);
    written_close(&written);
}

/* ---- columns ---- */

TEST(a_column_of_a_field_that_does_not_exist_is_refused, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field field = {.name = "a", .type = "std::int32_t", .parent = RNTUPLE_TOP};
    const struct rntuple_column column = {.type = column_number(_i, INT32), .bits = 32, .field = 3};
    struct rntuple_description description = schema(&field, 1, &column, 1);
    assert_status(NT_CORRUPT, write_and_open(&written, _i, &description, &error));
    written_close(&written);
}

TEST(representations_are_sorted_and_their_first_decides_the_kind, .first = RNTUPLE_RC3,
     .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field field = {.name = "a", .type = "double", .parent = RNTUPLE_TOP};
    const struct rntuple_column columns[] = {
        {.type = 0x0c, .bits = 32, .field = 0},
        {.type = 0x1d,
         .bits = 7,
         .field = 0,
         .representation = 1,
         .has_range = true,
         .minimum = -1,
         .maximum = 2.5},
    };
    struct rntuple_description description = schema(&field, 1, columns, 2);
    assert_ok(write_and_open(&written, _i, &description, &error));
    const struct nt_dataset *dataset = written.dataset;
    ck_assert_uint_eq(nt_field_representations(dataset, 0), 2);
    ck_assert_str_eq(dataset->fields[0].dtype.numpy, "<f8");
    const struct nt_decoder *quantised = nt_column_decoder(dataset, 1);
    ck_assert_int_eq(quantised->encoding, NT_ENCODING_REAL32_QUANT);
    ck_assert_uint_eq(quantised->bits, 7);
    ck_assert_double_eq(quantised->minimum, -1);
    ck_assert_double_eq(quantised->maximum, 2.5);
    written_close(&written);
}

TEST(a_missing_representation_is_refused, .first = RNTUPLE_RC3, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field field = {.name = "a", .type = "double", .parent = RNTUPLE_TOP};
    const struct rntuple_column column = {.type = 0x0c, .bits = 32, .field = 0, .representation = 1};
    struct rntuple_description description = schema(&field, 1, &column, 1);
    assert_status(NT_CORRUPT, write_and_open(&written, _i, &description, &error));
    written_close(&written);
}

TEST(a_negative_first_element_means_deferred_and_suppressed, .first = RNTUPLE_RC3, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_field field = {.name = "a", .type = "float", .parent = RNTUPLE_TOP};
    const struct rntuple_column columns[] = {
        {.type = 0x0c, .bits = 32, .field = 0},
        {.type = 0x0b,
         .bits = 16,
         .field = 0,
         .representation = 1,
         .has_first_element = true,
         .first_element = -40},
    };
    struct rntuple_description description = schema(&field, 1, columns, 2);
    assert_ok(write_and_open(&written, _i, &description, &error));
    ck_assert(!nt_column_is_deferred(&written.dataset->columns[0]));
    ck_assert(nt_column_is_deferred(&written.dataset->columns[1]));
    ck_assert(nt_column_begins_suppressed(&written.dataset->columns[1]));
    ck_assert_uint_eq(nt_column_first_element(&written.dataset->columns[1]), 40);
    written_close(&written);
}

/* ---- alias columns ---- */

static const struct rntuple_field projected_fields[] = {
    {.name = "text", .type = "std::string", .parent = RNTUPLE_TOP},
    {.name = "view", .type = "std::string", .parent = RNTUPLE_TOP},
};

static struct rntuple_description projected(enum rntuple_generation generation,
                                            struct rntuple_column columns[2],
                                            const struct rntuple_alias *aliases, uint32_t alias_count)
{
    columns[0] = (struct rntuple_column){.type = column_number(generation, INDEX32), .bits = 32, .field = 0};
    columns[1] = (struct rntuple_column){.type = column_number(generation, CHAR), .bits = 8, .field = 0};
    struct rntuple_description description = schema(projected_fields, 2, columns, 2);
    description.aliases = aliases;
    description.alias_count = alias_count;
    return description;
}

TEST(a_projected_field_has_its_sources_columns, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    static const struct rntuple_alias aliases[] = {{0, 1}, {1, 1}};
    struct rntuple_column columns[2];
    struct rntuple_description description = projected(_i, columns, aliases, 2);
    assert_ok(write_and_open(&written, _i, &description, &error));
    const struct nt_field *view = &written.dataset->fields[1];
    ck_assert_int_eq(view->kind, NT_FIELD_STRING);
    ck_assert(!view->owns_columns);
    ck_assert(written.dataset->fields[0].owns_columns);
    ck_assert_uint_eq(nt_field_source(view), 0);
    ck_assert_uint_eq(view->column_count, 2);
    ck_assert_uint_eq(nt_field_column(written.dataset, 1, 0, 0), 0);
    ck_assert_uint_eq(nt_field_column(written.dataset, 1, 0, 1), 1);
    written_close(&written);
}

TEST(a_projected_field_may_have_a_part_of_its_sources_columns, .first = RNTUPLE_CRC32_LINKS,
     .end = RNTUPLE_GENERATIONS)
{
    static const struct rntuple_alias aliases[] = {{0, 1}};
    struct rntuple_column columns[2];
    struct rntuple_field fields[2] = {projected_fields[0], projected_fields[1]};
    fields[1].type = "ROOT::Experimental::RNTupleCardinality<std::uint64_t>";
    struct rntuple_description description = projected(_i, columns, aliases, 1);
    description.fields = fields;
    assert_ok(write_and_open(&written, _i, &description, &error));
    ck_assert_int_eq(written.dataset->fields[1].kind, NT_FIELD_CARDINALITY);
    ck_assert_str_eq(written.dataset->fields[1].dtype.numpy, "<u8");
    ck_assert_uint_eq(written.dataset->fields[1].column_count, 1);
    written_close(&written);
}

TEST(bad_alias_columns_are_refused, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    static const struct {
        const char *what;
        struct rntuple_alias aliases[2];
        uint32_t count;
    } rows[] = {
        {"a column that does not exist", {{2, 1}}, 1},
        {"a field that does not exist", {{0, 2}}, 1},
        {"a field with columns of its own", {{0, 0}}, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rntuple_column columns[2];
        struct rntuple_description description = projected(_i, columns, rows[i].aliases, rows[i].count);
        enum nt_status status = write_and_open(&written, _i, &description, &error);
        ck_assert_msg(status == NT_CORRUPT, "%s: %s", rows[i].what, nt_status_name(status));
        written_close(&written);
    }
}

TEST(alias_columns_of_several_fields_are_refused, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    static const struct rntuple_alias aliases[] = {{0, 2}, {1, 2}};
    const struct rntuple_field fields[] = {{.name = "a", .type = "std::int32_t", .parent = RNTUPLE_TOP},
                                           {.name = "b", .type = "std::int32_t", .parent = RNTUPLE_TOP},
                                           {.name = "view", .type = "T", .parent = RNTUPLE_TOP}};
    const struct rntuple_column columns[] = {{.type = column_number(_i, INT32), .bits = 32, .field = 0},
                                             {.type = column_number(_i, INT32), .bits = 32, .field = 1}};
    struct rntuple_description description = schema(fields, 3, columns, 2);
    description.aliases = aliases;
    description.alias_count = 2;
    assert_status(NT_CORRUPT, write_and_open(&written, _i, &description, &error));
    written_close(&written);
}
