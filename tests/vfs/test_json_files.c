/* SPDX-License-Identifier: MIT
 *
 * JSON documents of the tree over a model in memory. model.c has the content of the model.
 */
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "open_tree.h"
#include "support.h"

TEST(field_json_says_shapes_that_are_known_without_page_lists, .setup = tree_setup_single,
     .teardown = tree_teardown)
{
    json_t *run = read_json("Events/run/field.json"), *pt = read_json("Events/jets/_0/pt/field.json");
    json_t *array = read_json("Events/array/_0/field.json"), *odd = read_json("Events/odd/field.json");
    ck_assert_str_eq(get_text(run, "schema"), "ntuplefs.field/1");
    ck_assert_str_eq(get_text(run, "name"), "run");
    ck_assert_str_eq(get_text(run, "dtype"), "<i4");
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(run, "shape"), 0)), MODEL_ENTRIES);
    ck_assert_str_eq(get_text(json_array_get(json_object_get(run, "columns"), 0), "type"), "Int32");
    ck_assert(json_is_null(json_object_get(pt, "shape")));
    ck_assert_str_eq(get_text(pt, "field"), "jets/_0/pt");
    ck_assert_int_eq(json_array_size(json_object_get(array, "shape")), 2);
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(array, "shape"), 1)), MODEL_ARRAY);
    ck_assert_str_eq(get_text(odd, "unreadable"), "of a type to come");
    json_decref(run);
    json_decref(pt);
    json_decref(array);
    json_decref(odd);
}

TEST(ntuple_json_and_column_json_sum_up_the_pages, .setup = tree_setup_single, .teardown = tree_teardown)
{
    json_t *ntuple = read_json("Events/ntuple.json"), *column = read_json("Events/run/column.0/column.json");
    ck_assert_int_eq(get_number(ntuple, "entries"), MODEL_ENTRIES);
    ck_assert_int_eq(get_number(ntuple, "clusters"), 3);
    ck_assert_str_eq(get_text(ntuple, "generation"), "test");
    ck_assert_int_eq(get_number(column, "elements"), MODEL_ENTRIES);
    ck_assert_int_eq(get_number(column, "pages"), 5);
    ck_assert_int_eq(get_number(column, "stored_bytes"), 4 * MODEL_ENTRIES);
    ck_assert(json_real_value(json_object_get(column, "ratio")) == 1.0);
    json_decref(ntuple);
    json_decref(column);
}

/* Calls `check` with each line of a file, parsed. */
static unsigned check_lines(const char *path, void (*check)(const json_t *line, unsigned number))
{
    struct nt_buffer text = read_path(path);
    unsigned count = 0;
    for (char *at = text.bytes; *at; count++) {
        char *end = strchr(at, '\n');
        json_t *line = json_loadb(at, (size_t)(end - at), 0, NULL);
        ck_assert_msg(line != NULL, "%s: line %u", path, count);
        check(line, count);
        json_decref(line);
        at = end + 1;
    }
    nt_buffer_deinit(&text);
    return count;
}

static void check_page_line(const json_t *line, unsigned number)
{
    char path[64];
    ck_assert_int_eq(get_number(line, "page"), number);
    ck_assert_str_eq(get_text(line, "checksum_kind"), "xxh3-64");
    ck_assert_str_eq(get_text(line, "compression"), "none");
    ck_assert_int_eq(get_number(line, "decoded_bytes"), 4 * get_number(line, "elements"));
    snprintf(path, sizeof(path), "Events/run/column.0/pages/%u.raw", number);
    struct nt_buffer raw = read_path(path);
    ck_assert_int_eq(get_number(line, "stored_bytes"), raw.length);
    ck_assert_int_eq(*(const int32_t *)raw.bytes, model_run((uint64_t)get_number(line, "first_element")));
    nt_buffer_deinit(&raw);
}

TEST(pages_jsonl_has_a_line_per_page_that_agrees_with_its_bytes, .setup = tree_setup_single,
     .teardown = tree_teardown)
{
    ck_assert_uint_eq(check_lines("Events/run/column.0/pages.jsonl", check_page_line), 5);
}

static void check_cluster_line(const json_t *line, unsigned number)
{
    static const int first_entry[] = {0, 3, 5};
    ck_assert_int_eq(get_number(line, "cluster"), number);
    ck_assert_int_eq(get_number(line, "first_entry"), first_entry[number]);
}

TEST(clusters_jsonl_has_a_line_per_cluster, .setup = tree_setup_single, .teardown = tree_teardown)
{
    ck_assert_uint_eq(check_lines("Events/clusters.jsonl", check_cluster_line), 3);
}

TEST(counters_are_integers, .setup = tree_setup_single, .teardown = tree_teardown)
{
    struct nt_buffer data = read_path("Events/run/data.bin");
    json_t *json = read_json(".ntuplefs/stats.json"), *value;
    const char *key;
    json_object_foreach(json, key, value)
        ck_assert_msg(json_is_integer(value) || strcmp(key, "schema") == 0, "%s", key);
    ck_assert_int_gt(get_number(json, "pages_decoded"), 0);
    json_decref(json);
    nt_buffer_deinit(&data);
}
