/* SPDX-License-Identifier: MIT
 *
 * The accessor functions of files and datasets.
 */
#include <string.h>

#include "builder.h"

static struct nt_error error;

static const struct nt_field fields[] = {{.id = 7, .parent = NT_NONE}, {.id = 8, .parent = 0}};
static const struct nt_column columns[] = {{.id = 9}};

static bool is_text(struct nt_text text, const char *expected)
{
    return text.length == strlen(expected) && memcmp(text.bytes, expected, text.length + 1) == 0;
}

static void fill(struct nt_dataset *dataset)
{
    dataset->name = (struct nt_text){"Events", 6};
    dataset->title = (struct nt_text){"Title", 5};
    dataset->description = (struct nt_text){"What", 4};
    dataset->writer = (struct nt_text){"Who", 3};
    dataset->format = "rntuple";
    dataset->version = "1.0.2.0";
    dataset->generation = "1.0";
    dataset->entries = 1000;
    dataset->cycle = 2;
}

TEST(each_answer_is_what_the_format_filled_in)
{
    struct nt_file *file = BUILD(fields, columns);
    struct nt_dataset *dataset = nt_file_dataset(file, 0);
    fill(dataset);
    ck_assert_str_eq(nt_file_path(file), "/memory");
    ck_assert_uint_eq(nt_file_dataset_count(file), 1);
    ck_assert_ptr_null(nt_dataset_failure(dataset));
    ck_assert(is_text(nt_dataset_name(dataset), "Events"));
    ck_assert(is_text(nt_dataset_title(dataset), "Title"));
    ck_assert(is_text(nt_dataset_description(dataset), "What"));
    ck_assert(is_text(nt_dataset_writer(dataset), "Who"));
    ck_assert_str_eq(nt_dataset_format(dataset), "rntuple");
    ck_assert_str_eq(nt_dataset_version(dataset), "1.0.2.0");
    ck_assert_str_eq(nt_dataset_generation(dataset), "1.0");
    ck_assert_uint_eq(nt_dataset_entries(dataset), 1000);
    ck_assert_uint_eq(nt_dataset_cycle(dataset), 2);
    ck_assert_uint_eq(nt_dataset_field_count(dataset), 2);
    ck_assert_uint_eq(nt_dataset_field(dataset, 1)->id, 8);
    ck_assert_uint_eq(nt_dataset_column_count(dataset), 1);
    ck_assert_uint_eq(nt_dataset_column(dataset, 0)->id, 9);
    nt_file_close(file);
}

TEST(after_the_last_there_is_nothing)
{
    struct nt_file *file = BUILD(fields, columns);
    struct nt_dataset *dataset = nt_file_dataset(file, 0);
    ck_assert_ptr_null(nt_file_dataset(file, 1));
    ck_assert_ptr_null(nt_file_dataset(file, NT_NONE));
    ck_assert_ptr_null(nt_dataset_field(dataset, 2));
    ck_assert_ptr_null(nt_dataset_field(dataset, NT_NONE));
    ck_assert_ptr_null(nt_dataset_column(dataset, 1));
    nt_file_close(file);
}

TEST(what_a_format_leaves_out_is_empty)
{
    struct nt_file *file = BUILD(fields, columns);
    const struct nt_dataset *dataset = nt_file_dataset(file, 0);
    ck_assert(is_text(nt_dataset_title(dataset), ""));
    ck_assert(is_text(nt_dataset_description(dataset), ""));
    ck_assert(is_text(nt_dataset_writer(dataset), ""));
    ck_assert_str_eq(nt_dataset_format(dataset), "");
    ck_assert_str_eq(nt_dataset_version(dataset), "");
    ck_assert_str_eq(nt_dataset_generation(dataset), "");
    ck_assert_ptr_null(nt_dataset_attribute_of(dataset));
    nt_file_close(file);
}

TEST(of_a_dataset_that_did_not_open_only_name_and_reason_are_reported)
{
    struct nt_file *file = BUILD(fields, columns);
    struct nt_dataset *dataset = nt_file_dataset(file, 0);
    fill(dataset);
    nt_fail(&error, NT_CORRUPT, NT_NO_OFFSET, "damaged footer");
    const struct nt_error failure = error;
    assert_ok(nt_dataset_set_failure(dataset, &failure, &error));
    ck_assert_str_eq(nt_dataset_failure(dataset)->message, "damaged footer");
    ck_assert(is_text(nt_dataset_name(dataset), "Events"));
    ck_assert_uint_eq(nt_dataset_cycle(dataset), 2);
    ck_assert(is_text(nt_dataset_title(dataset), ""));
    ck_assert_str_eq(nt_dataset_format(dataset), "");
    ck_assert_uint_eq(nt_dataset_entries(dataset), 0);
    ck_assert_uint_eq(nt_dataset_field_count(dataset), 0);
    ck_assert_ptr_null(nt_dataset_field(dataset, 0));
    ck_assert_uint_eq(nt_dataset_column_count(dataset), 0);
    ck_assert_ptr_null(nt_dataset_column(dataset, 0));
    nt_file_close(file);
}

TEST(an_attribute_set_knows_its_dataset)
{
    struct nt_file *file = BUILD_FIELDS(fields);
    struct nt_dataset *dataset;
    assert_ok(nt_file_add_dataset(file, &dataset, &error));
    dataset->attribute_of = 0;
    ck_assert_ptr_eq(nt_dataset_attribute_of(nt_file_dataset(file, 1)), nt_file_dataset(file, 0));
    nt_file_close(file);
}

TEST(a_page_says_where_it_is_and_how_large_it_is)
{
    const struct nt_page page = {.offset = 4096, .stored_bytes = 100, .elements = 77};
    ck_assert_uint_eq(nt_page_offset(&page), 4096);
    ck_assert_uint_eq(nt_page_stored_bytes(&page), 100);
    ck_assert_uint_eq(nt_page_elements(&page), 77);
}
