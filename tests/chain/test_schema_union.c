/* SPDX-License-Identifier: MIT
 *
 * Merging the fields of several files into one schema.
 */
#include "chain/chain.h"

#include "core/base/memory.h"
#include "core/model/model.h"
#include "schemas.h"

enum { MAX_FILES = 4 };

static struct nt_error error;
static struct nt_file *files[MAX_FILES], *whole;
static struct nt_chain_member members[MAX_FILES];
static struct nt_chain_dataset *chain;
static uint32_t file_count;

static void add_file_storing(const struct made_field *fields, uint32_t count, enum nt_element stored)
{
    static const char *const paths[MAX_FILES] = {"/a", "/b", "/c", "/d"};
    files[file_count] = make_file_storing(paths[file_count], fields, count, stored);
    members[file_count].path = paths[file_count];
    file_count++;
}

static void add_file(const struct made_field *fields, uint32_t count)
{
    add_file_storing(fields, count, NT_ELEMENT_OPAQUE);
}

static void merge(void)
{
    whole = make_file("/whole", NULL, 0);
    struct nt_dataset *dataset = whole->datasets[0];
    chain = nt_arena_alloc(dataset->arena, 1, sizeof(*chain));
    chain->slices = nt_arena_alloc(dataset->arena, file_count, sizeof(*chain->slices));
    chain->slice_count = file_count;
    for (uint32_t i = 0; i < file_count; i++) {
        chain->slices[i].member = &members[i];
        chain->slices[i].dataset = files[i]->datasets[0];
    }
    dataset->format_data = chain;
    struct nt_chain_series series = {.slices = chain->slices, .slice_count = file_count};
    assert_ok(nt_chain_union_fields(dataset, &series, &error));
    chain->fields = series.fields;
}

static void teardown(void)
{
    nt_file_close(whole);
    while (file_count)
        nt_file_close(files[--file_count]);
}

/* The number of a field by its path, or NT_NONE. */
static uint32_t find(const char *path)
{
    const struct nt_dataset fields = {.fields = chain->fields.items, .field_count = chain->fields.count};
    for (uint32_t i = 0; i < chain->fields.count; i++) {
        struct nt_buffer found = {0};
        nt_append_field_path(&found, &fields, i);
        bool is_it = strcmp(nt_buffer_string(&found), path) == 0;
        nt_buffer_deinit(&found);
        if (is_it)
            return i;
    }
    return NT_NONE;
}

static const struct nt_field *field_at(const char *path)
{
    uint32_t field = find(path);
    ck_assert_msg(field != NT_NONE, "%s", path);
    return &chain->fields.items[field];
}

/* The index of the field in the file, or NT_NONE. */
static uint32_t own(uint32_t file, const char *path)
{
    return chain->slices[file].fields[find(path)];
}

static const struct made_field first[] = {
    {VALUE("number", TOP, NT_ELEMENT_INT16)},
    {FIELD("list", TOP, NT_FIELD_COLLECTION)},
    {FIELD("_0", 1, NT_FIELD_RECORD)},
    {VALUE("x", 2, NT_ELEMENT_REAL32)},
    {VALUE("alias", TOP, NT_ELEMENT_INT16), .shows = "number"},
};
static const struct made_field second[] = {
    {FIELD("added", TOP, NT_FIELD_STRING)}, {FIELD("list", TOP, NT_FIELD_COLLECTION)},
    {FIELD("_0", 1, NT_FIELD_RECORD)},      {VALUE("y", 2, NT_ELEMENT_UINT8)},
    {VALUE("x", 2, NT_ELEMENT_REAL64)},     {FIELD("shown", TOP, NT_FIELD_STRING), .shows = "added"},
};
static const struct made_field third[] = {
    {VALUE("number", TOP, NT_ELEMENT_UINT16)},
    {FIELD("added", TOP, NT_FIELD_STRING)},
};

TEST(fields_are_where_they_come_first, .teardown = teardown, .timeout = 20)
{
    add_file(first, LENGTH(first));
    add_file(second, LENGTH(second));
    add_file(third, LENGTH(third));
    merge();
    const char *const expected[] = {"number",    "list",  "alias", "list/_0",
                                    "list/_0/x", "added", "shown", "list/_0/y"};
    ck_assert_uint_eq(chain->fields.count, LENGTH(expected));
    for (uint32_t i = 0; i < LENGTH(expected); i++) {
        ck_assert_uint_eq(find(expected[i]), i);
        ck_assert_ptr_null(chain->fields.items[i].unreadable);
        for (uint32_t k = 0; k < i; k++)
            ck_assert_uint_ne(chain->fields.items[k].id, chain->fields.items[i].id);
    }
    for (uint32_t i = 0; i < LENGTH(first); i++)
        ck_assert_uint_eq(chain->fields.items[find(expected[i])].id, own(0, expected[i]));
    ck_assert_uint_eq(own(0, "list/_0/y"), NT_NONE);
    ck_assert_uint_eq(own(1, "list/_0/y"), 3);
    ck_assert_uint_eq(own(1, "number"), NT_NONE);
    ck_assert_uint_eq(own(2, "number"), 0);
    ck_assert_uint_eq(own(2, "added"), 1);
}

TEST(fields_show_others_of_the_chain, .teardown = teardown, .timeout = 20)
{
    add_file(first, LENGTH(first));
    add_file(second, LENGTH(second));
    merge();
    ck_assert_uint_eq(chain->fields.owners[find("alias")], find("number"));
    ck_assert_uint_eq(chain->fields.owners[find("shown")], find("added"));
    ck_assert_uint_eq(nt_field_source(field_at("shown")), find("added"));
    ck_assert_uint_eq(chain->fields.owners[find("number")], NT_NONE);
}

/* In both orders of the files: a projection is also read from the source field of a file without it. */
TEST(what_shows_a_wider_field_is_as_wide, .teardown = teardown, .end = 2, .timeout = 20)
{
    static const struct made_field wider[] = {{VALUE("number", TOP, NT_ELEMENT_INT64)}};
    if (_i)
        add_file(wider, LENGTH(wider));
    add_file(first, LENGTH(first));
    if (!_i)
        add_file(wider, LENGTH(wider));
    merge();
    ck_assert_int_eq(field_at("alias")->dtype.element, NT_ELEMENT_INT64);
    ck_assert_uint_eq(chain->fields.owners[find("alias")], find("number"));
}

TEST(numbers_have_a_type_that_holds_them, .teardown = teardown, .timeout = 20)
{
    add_file(first, LENGTH(first));
    add_file(third, LENGTH(third));
    add_file(second, LENGTH(second));
    merge();
    ck_assert_int_eq(field_at("number")->dtype.element, NT_ELEMENT_INT32);
    ck_assert_str_eq(field_at("number")->type.bytes, "int32"); /* no file has it */
    ck_assert_int_eq(field_at("list/_0/x")->dtype.element, NT_ELEMENT_REAL64);
    ck_assert_int_eq(field_at("list/_0/y")->dtype.element, NT_ELEMENT_UINT8);
}

/* A file with one field, which differs from that of `first`. */
static const struct {
    struct made_field field;
    enum nt_element stored;
    const char *path, *message;
} refused[] = {
    {{FIELD("number", TOP, NT_FIELD_STRING)},
     NT_ELEMENT_OPAQUE,
     "number",
     "not the same in all files: /a: value (<i2); /b: string"},
    {{VALUE("number", TOP, NT_ELEMENT_BOOL)},
     NT_ELEMENT_OPAQUE,
     "number",
     "not the same in all files: /a: value (<i2); /b: value (|b1)"},
    {{VALUE("number", TOP, NT_ELEMENT_UINT64)},
     NT_ELEMENT_OPAQUE,
     "number",
     "no type holds the numbers of all files exactly: /a: value (<i2); /b: value (<u8)"},
    {{VALUE("number", TOP, NT_ELEMENT_UINT32)},
     NT_ELEMENT_INT32,
     "number",
     "cannot widen integers stored with a different signedness: /a"},
    {{FIELD("number", TOP, NT_FIELD_UNREADABLE), .unreadable = "of a type that is not known"},
     NT_ELEMENT_OPAQUE,
     "number",
     "not readable in all files: /a: value (<i2); /b: of a type that is not known"},
    {{FIELD("list", TOP, NT_FIELD_RECORD)},
     NT_ELEMENT_OPAQUE,
     "list",
     "not the same in all files: /a: collection; /b: record"},
};

TEST(what_cannot_be_one_is_an_error_of_the_field_and_what_depends_on_it, .teardown = teardown,
     .end = LENGTH(refused), .timeout = 20)
{
    add_file(first, LENGTH(first));
    add_file_storing(&refused[_i].field, 1, refused[_i].stored);
    merge();
    const char *reason = field_at(refused[_i].path)->unreadable;
    ck_assert_ptr_nonnull(reason);
    ck_assert_msg(strstr(reason, refused[_i].message), "%s", reason);
    bool is_number = strcmp(refused[_i].path, "number") == 0;
    const char *const numbers[] = {"number", "alias"}, *const lists[] = {"list", "list/_0", "list/_0/x"};
    for (uint32_t i = 0; i < LENGTH(numbers) + LENGTH(lists); i++) {
        bool is_of_number = i < LENGTH(numbers);
        const char *path = is_of_number ? numbers[i] : lists[i - LENGTH(numbers)];
        bool is_refused = is_of_number == is_number;
        ck_assert_int_eq(field_at(path)->kind == NT_FIELD_UNREADABLE, is_refused);
        if (is_refused)
            ck_assert_str_eq(field_at(path)->unreadable, reason);
    }
    ck_assert_uint_eq(own(0, refused[_i].path), is_number ? 0 : 1); /* columns are shown, each alone */
    ck_assert_uint_eq(own(1, refused[_i].path), 0);
    ck_assert_uint_eq(field_at(refused[_i].path)->columns_per_representation, 1);
}

TEST(what_is_below_a_field_that_cannot_be_one_is_that_of_all_files, .teardown = teardown, .timeout = 20)
{
    static const struct made_field others[] = {
        {FIELD("list", TOP, NT_FIELD_RECORD)},
        {FIELD("z", 0, NT_FIELD_STRING)},
        {FIELD("_0", 0, NT_FIELD_RECORD)},
    };
    add_file(first, LENGTH(first));
    add_file(others, LENGTH(others));
    merge();
    ck_assert_ptr_nonnull(field_at("list/z")->unreadable);
    ck_assert_uint_eq(own(1, "list/z"), 1);
    ck_assert_uint_eq(own(1, "list/_0"), 2);
    ck_assert_uint_eq(own(0, "list/_0"), 2);
    ck_assert_uint_eq(own(1, "list/_0/x"), NT_NONE);
}

TEST(a_field_shows_one_other_in_all_files, .teardown = teardown, .timeout = 20)
{
    static const struct made_field others[] = {
        {VALUE("number", TOP, NT_ELEMENT_INT16)},
        {VALUE("second", TOP, NT_ELEMENT_INT16)},
        {VALUE("alias", TOP, NT_ELEMENT_INT16), .shows = "second"},
    };
    add_file(first, LENGTH(first));
    add_file(others, LENGTH(others));
    merge();
    ck_assert_ptr_nonnull(strstr(field_at("alias")->unreadable, "shows another field in another file"));
    ck_assert_ptr_null(field_at("number")->unreadable);
    ck_assert_ptr_null(field_at("second")->unreadable);
}

TEST(what_may_be_null_in_a_file_may_be_null, .teardown = teardown, .end = 2, .timeout = 20)
{
    static const struct made_field may[] = {
        {FIELD("record", TOP, NT_FIELD_RECORD), .is_nullable = true},
        {VALUE("x", 0, NT_ELEMENT_INT16), .is_nullable = true},
        {FIELD("text", TOP, NT_FIELD_STRING)},
    };
    static const struct made_field never[] = {
        {FIELD("record", TOP, NT_FIELD_RECORD)},
        {VALUE("x", 0, NT_ELEMENT_INT8)},
        {FIELD("text", TOP, NT_FIELD_STRING), .is_nullable = true},
    };
    add_file(_i ? may : never, LENGTH(may));
    add_file(_i ? never : may, LENGTH(never));
    merge();
    const char *const paths[] = {"record", "record/x", "text"};
    const uint32_t columns[] = {1, 2, 3};
    for (uint32_t i = 0; i < LENGTH(paths); i++) {
        ck_assert_ptr_null(field_at(paths[i])->unreadable);
        ck_assert(field_at(paths[i])->is_nullable);
        ck_assert_uint_eq(field_at(paths[i])->columns_per_representation, columns[i]);
    }
    ck_assert_int_eq(field_at("record/x")->dtype.element, NT_ELEMENT_INT16);
}

TEST(items_are_known_by_their_places, .teardown = teardown, .timeout = 20)
{
    static const struct made_field old[] = {
        {FIELD("list", TOP, NT_FIELD_COLLECTION)}, {VALUE("int", 0, NT_ELEMENT_INT32)},
        {FIELD("pair", TOP, NT_FIELD_TUPLE)},      {VALUE("int", 2, NT_ELEMENT_INT32)},
        {VALUE("float", 2, NT_ELEMENT_REAL32)},
    };
    static const struct made_field new[] = {
        {FIELD("pair", TOP, NT_FIELD_TUPLE)},      {VALUE("_0", 0, NT_ELEMENT_INT32)},
        {VALUE("_1", 0, NT_ELEMENT_REAL32)},       {VALUE("_2", 0, NT_ELEMENT_REAL32)},
        {FIELD("list", TOP, NT_FIELD_COLLECTION)}, {VALUE("_0", 4, NT_ELEMENT_INT64)},
    };
    add_file(old, LENGTH(old));
    add_file(new, LENGTH(new));
    merge();
    const char *const paths[] = {"list/int", "pair/int", "pair/float", "pair/_2"};
    const uint32_t expected[] = {5, 1, 2, 3};
    ck_assert_uint_eq(chain->fields.count, 6);
    for (uint32_t i = 0; i < LENGTH(paths); i++)
        ck_assert_uint_eq(own(1, paths[i]), expected[i]);
    ck_assert_int_eq(field_at("list/int")->dtype.element, NT_ELEMENT_INT64);
}

TEST(of_several_fields_of_one_name_each_is_found_once, .teardown = teardown, .timeout = 20)
{
    static const struct made_field twice[] = {
        {VALUE("x", TOP, NT_ELEMENT_INT8)},
        {FIELD("x", TOP, NT_FIELD_STRING)},
        {VALUE("y", TOP, NT_ELEMENT_INT8)},
    };
    static const struct made_field thrice[] = {
        {VALUE("y", TOP, NT_ELEMENT_INT8)},
        {VALUE("x", TOP, NT_ELEMENT_INT8)},
        {FIELD("x", TOP, NT_FIELD_STRING)},
        {VALUE("x", TOP, NT_ELEMENT_INT8)},
    };
    add_file(twice, LENGTH(twice));
    add_file(thrice, LENGTH(thrice));
    merge();
    const uint32_t expected[] = {1, 2, 0, 3};
    ck_assert_uint_eq(chain->fields.count, LENGTH(expected));
    ck_assert_mem_eq(chain->slices[1].fields, expected, sizeof(expected));
}

/* The second file has the fields of the first in reverse order, except the last ones; the third has
 * more. */
TEST(many_fields_are_one_in_any_order, .teardown = teardown, .timeout = 20)
{
    enum { MORE = 40 };
    files[file_count++] = make_wide_file("/a", 0, 1);
    files[file_count++] = make_wide_file("/b", WIDE_FIELDS - 1 + MORE, -1);
    files[file_count++] = make_wide_file("/c", 2 * MORE, 1);
    for (uint32_t i = 0; i < file_count; i++)
        members[i].path = files[i]->path;
    merge();
    ck_assert_uint_eq(chain->fields.count, WIDE_FIELDS + 2 * MORE);
    for (uint32_t i = 0; i < WIDE_FIELDS; i++) {
        ck_assert_uint_eq(chain->slices[0].fields[i], i);
        ck_assert_uint_eq(chain->slices[1].fields[i], i < MORE ? NT_NONE : WIDE_FIELDS - 1 + MORE - i);
        ck_assert_uint_eq(chain->slices[2].fields[i], i < 2 * MORE ? NT_NONE : i - 2 * MORE);
    }
    for (uint32_t i = 0; i < MORE; i++) { /* in the order of the second file */
        ck_assert_uint_eq(chain->slices[1].fields[WIDE_FIELDS + i], i);
        ck_assert_uint_eq(chain->slices[2].fields[WIDE_FIELDS + i], WIDE_FIELDS - 1 - MORE - i);
    }
}
