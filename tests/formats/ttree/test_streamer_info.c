/* SPDX-License-Identifier: MIT
 *
 * The streamer information of real files, of a record by hand, and of damaged ones. The built-in classes
 * are compared with those that files of ROOT describe.
 */
#include <dirent.h>

#include "opened_tree.h"
#include "root_buffer.h"
#include "save_bytes.h"
#include "support.h"
#include "temporary.h"
#include "core/json/json.h"

#include <jansson.h>

enum { RECORD_OFFSET = 100 };

static struct nt_error error;

static struct nt_text text_of(const char *text)
{
    return nt_text_of(text);
}

static void assert_text(struct nt_text text, const char *expected)
{
    ck_assert_msg(nt_text_is(text, expected), "%.*s instead of %s", (int)text.length, text.bytes, expected);
}

/* ---- A record made by hand ---- */

static void put_element(struct nt_buffer *out, uint16_t version, const char *name, uint32_t type,
                        uint32_t columns, const char *type_name)
{
    size_t start = put_begin(out, version);
    put_named(out, name, "a title");
    put_u32(out, type);
    put_u32(out, 4);
    put_u32(out, columns * 2);
    put_u32(out, columns ? 2 : 0);
    if (version == 1)
        put_u32(out, 2); /* old versions store the number of dimensions before them */
    put_u32(out, columns ? 2 : 0);
    put_u32(out, columns);
    for (int i = 2; i < 5 && version > 1; i++)
        put_u32(out, 0);
    put_text(out, type_name);
    for (int i = 0; i < 3 && version == 3; i++)
        put_u64(out, 0); /* version 3 has a range */
    put_end(out, start);
}

enum { ELEMENTS = 7, PLACES = 8 }; /* of the array of elements */

static void put_elements(struct nt_buffer *out)
{
    size_t array = put_array(out, PLACES), first_basic, item, start;
    item = put_item(out, "TStreamerBase");
    start = put_begin(out, 3);
    put_element(out, 4, "TNamed", 67, 0, "BASE");
    put_u32(out, 1);
    put_end(out, start);
    put_end(out, item);
    first_basic = item = put_item(out, "TStreamerBasicType");
    start = put_begin(out, 2);
    put_element(out, 1, "fN", 6, 0, "Int_t");
    put_end(out, start);
    put_end(out, item);
    item = put_item(out, "TStreamerBasicPointer");
    start = put_begin(out, 2);
    put_element(out, 2, "fX", 45, 0, "Float_t*");
    put_u32(out, 3);
    put_text(out, "fN");
    put_text(out, "A");
    put_end(out, start);
    put_end(out, item);
    item = put_item_again(out, first_basic, 0);
    start = put_begin(out, 2);
    put_element(out, 3, "fFlags", 31, 3, "Bool_t");
    put_end(out, start);
    put_end(out, item);
    item = put_item(out, "TStreamerSTL");
    start = put_begin(out, 3);
    put_element(out, 4, "fSet", 500, 0, "set<int>");
    put_u32(out, 5);
    put_u32(out, 3);
    put_end(out, start);
    put_end(out, item);
    item = put_item(out, "TStreamerSTLstring");
    start = put_begin(out, 2);
    size_t stl = put_begin(out, 3);
    put_element(out, 4, "fText", 500, 0, "string");
    put_u32(out, 365);
    put_u32(out, 365);
    put_end(out, stl);
    put_end(out, start);
    put_end(out, item);
    item = put_item(out, "TStreamerObjectPointer");
    start = put_begin(out, 2);
    put_element(out, 4, "fNext", 64, 0, "A*");
    put_end(out, start);
    put_end(out, item);
    put_u32(out, 0); /* a place without an element, as programs other than ROOT write it */
    put_end(out, array);
}

/* A list of one class, called A, and of one list of rules. */
static void put_object(struct nt_buffer *out)
{
    size_t list = put_list(out, 2);
    size_t item = put_item(out, "TStreamerInfo");
    size_t start = put_begin(out, 9);
    put_named(out, "A", "");
    put_u32(out, 0x12345678);
    put_u32(out, 3);
    size_t elements = put_item(out, "TObjArray");
    put_elements(out);
    put_end(out, elements);
    put_end(out, start);
    put_end(out, item);
    put_text(out, "");
    item = put_item(out, "TList");
    size_t rules = put_list(out, 0);
    put_end(out, rules);
    put_end(out, item);
    put_text(out, "option");
    put_end(out, list);
}

/* The record in a file that has nothing else; references count from `key_bytes` before the object. */
static const char *save_record(const struct nt_buffer *object, uint32_t *bytes_ret)
{
    const char *path = temporary_path("record");
    struct nt_buffer file = {0};
    const uint32_t key_bytes = 26 + 3;
    for (int i = 0; i < RECORD_OFFSET; i++)
        put_u8(&file, 0);
    put_u32(&file, key_bytes + (uint32_t)object->length);
    put_u16(&file, 4);
    put_u32(&file, (uint32_t)object->length);
    put_u32(&file, 0);
    put_u16(&file, (uint16_t)key_bytes);
    put_u16(&file, 1);
    put_u32(&file, RECORD_OFFSET);
    put_u32(&file, RECORD_OFFSET);
    put_text(&file, "");
    put_text(&file, "");
    put_text(&file, "");
    nt_buffer_append(&file, object->bytes, object->length);
    save_bytes(&file, path);
    *bytes_ret = key_bytes + (uint32_t)object->length;
    nt_buffer_deinit(&file);
    return path;
}

/* References to classes are relative to the key. */
static void correct_references(struct nt_buffer *object)
{
    for (size_t i = 0; i + 4 <= object->length; i++) {
        uint32_t word = nt_load_be32((const uint8_t *)object->bytes + i);
        if (word >> 16 == 0x8000)
            set_u32(object, i, word + 29);
    }
}

static enum nt_status read_record(const struct nt_buffer *object, struct nt_streamer_info *info,
                                  struct nt_file **file_ret)
{
    const struct nt_limits limits = {0};
    uint32_t bytes;
    struct nt_source *source;
    const char *path = save_record(object, &bytes);
    assert_ok(nt_source_open_local(path, &source, &error));
    assert_ok(nt_file_new(path, source, &limits, file_ret, &error));
    return nt_streamer_info_read(*file_ret, RECORD_OFFSET, bytes, info, &error);
}

static void make_object(struct nt_buffer *object)
{
    put_object(object);
    correct_references(object);
}

TEST(every_kind_of_element_is_read, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct nt_buffer object = {0};
    struct nt_streamer_info info;
    struct nt_file *file;
    make_object(&object);
    assert_ok(read_record(&object, &info, &file));
    const struct nt_streamer_class *a = nt_streamer_find(&info, text_of("A"), 3);
    ck_assert_ptr_nonnull(a);
    ck_assert(!a->is_built_in);
    ck_assert_uint_eq(a->checksum, 0x12345678);
    ck_assert_uint_eq(a->element_count, ELEMENTS);
    const struct nt_streamer_element *elements = a->elements;
    assert_text(elements[0].name, "TNamed");
    assert_text(elements[0].title, "a title");
    ck_assert_int_eq(elements[0].base_version, 1);
    ck_assert_int_eq(elements[1].type, NT_STREAMER_COUNTER);
    assert_text(elements[1].type_name, "Int_t");
    assert_text(elements[2].counter, "fN");
    ck_assert_int_eq(elements[2].type, NT_STREAMER_OFFSET_P + NT_STREAMER_FLOAT);
    ck_assert_int_eq(elements[3].type, NT_STREAMER_OFFSET_L + NT_STREAMER_BOOL);
    ck_assert_uint_eq(elements[3].length, 6);
    ck_assert_uint_eq(elements[3].dimension_count, 2);
    ck_assert_uint_eq(elements[3].dimensions[0], 2);
    ck_assert_uint_eq(elements[3].dimensions[1], 3);
    ck_assert_int_eq(elements[4].type, NT_STREAMER_STL);
    ck_assert_int_eq(elements[4].stl_type, 6); /* a set, even if the file says multimap */
    ck_assert_int_eq(elements[4].content_type, NT_STREAMER_INT);
    ck_assert_int_eq(elements[5].type, NT_STREAMER_STL_STRING);
    assert_text(elements[6].type_name, "A*");
    nt_file_close(file);
    nt_buffer_deinit(&object);
}

TEST(classes_are_found_by_version_and_checksum, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct nt_buffer object = {0};
    struct nt_streamer_info info;
    struct nt_file *file;
    make_object(&object);
    assert_ok(read_record(&object, &info, &file));
    const struct nt_streamer_class *a = nt_streamer_find(&info, text_of("A"), 3);
    ck_assert_ptr_eq(nt_streamer_find(&info, text_of("A"), NT_STREAMER_NEWEST), a);
    ck_assert_ptr_eq(nt_streamer_find_checksum(&info, text_of("A"), 0x12345678), a);
    ck_assert_ptr_null(nt_streamer_find_checksum(&info, text_of("A"), 1));
    ck_assert_ptr_null(nt_streamer_find(&info, text_of("A"), 2));
    ck_assert_ptr_null(nt_streamer_find(&info, text_of("A "), 3));
    ck_assert_ptr_null(nt_streamer_find(&info, text_of(""), NT_STREAMER_NEWEST));
    ck_assert_int_eq(nt_streamer_find(&info, text_of("TTree"), NT_STREAMER_NEWEST)->version, 20);
    ck_assert(nt_streamer_find(&info, text_of("TTree"), 20)->is_built_in);
    nt_file_close(file);
    nt_buffer_deinit(&object);
}

TEST(the_document_has_the_classes_of_the_file, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct nt_buffer object = {0}, out = {0};
    struct nt_streamer_info info;
    struct nt_file *file;
    make_object(&object);
    assert_ok(read_record(&object, &info, &file));
    assert_ok(nt_streamer_info_describe(&info, &out, &error));
    json_t *document = json_loadb(out.bytes, out.length, 0, NULL),
           *classes = json_object_get(document, "classes");
    ck_assert_str_eq(json_string_value(json_object_get(document, "schema")), "ntuplefs.streamer_info/1");
    ck_assert_uint_eq(json_array_size(classes), 1);
    json_t *a = json_array_get(classes, 0), *elements = json_object_get(a, "elements");
    ck_assert_str_eq(json_string_value(json_object_get(a, "checksum")), "12345678");
    ck_assert_uint_eq(json_array_size(elements), ELEMENTS);
    json_t *flags = json_array_get(elements, 3);
    ck_assert_str_eq(json_string_value(json_object_get(flags, "name")), "fFlags");
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(flags, "dimensions"), 1)), 3);
    json_decref(document);
    nt_buffer_deinit(&out);
    nt_file_close(file);
    nt_buffer_deinit(&object);
}

/* ---- Damage ---- */

TEST(a_record_that_ends_too_early_is_corrupt, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct nt_buffer object = {0};
    make_object(&object);
    for (size_t length = 0; length < object.length; length += 7) {
        struct nt_buffer cut = {.bytes = object.bytes, .length = length};
        struct nt_streamer_info info;
        struct nt_file *file;
        assert_status(NT_CORRUPT, read_record(&cut, &info, &file));
        nt_file_close(file);
    }
    nt_buffer_deinit(&object);
}

/* Counts that exceed the bytes: of the classes, of the elements. */
TEST(counts_beyond_the_bytes_are_corrupt, .setup = temporary_setup, .teardown = temporary_teardown, .end = 2)
{
    struct nt_buffer object = {0};
    struct nt_streamer_info info;
    struct nt_file *file;
    make_object(&object);
    const size_t counts[] = {4 + 2 + 10 + 1, 0};
    size_t place = counts[0];
    for (size_t i = 0; _i == 1 && i + 4 < object.length; i++)
        if (nt_load_be32((uint8_t *)object.bytes + i) == PLACES)
            place = i;
    set_u32(&object, place, 0x7fffffff);
    assert_status(NT_CORRUPT, read_record(&object, &info, &file));
    nt_file_close(file);
    nt_buffer_deinit(&object);
}

TEST(more_dimensions_than_five_are_corrupt, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct nt_buffer object = {0};
    struct nt_streamer_info info;
    struct nt_file *file;
    make_object(&object);
    for (size_t i = 0; i + 8 < object.length; i++)
        if (nt_load_be64((uint8_t *)object.bytes + i) == (6ull << 32 | 2))
            set_u32(&object, i + 4, 6);
    assert_status(NT_CORRUPT, read_record(&object, &info, &file));
    ck_assert_ptr_nonnull(strstr(error.message, "dimensions"));
    nt_file_close(file);
    nt_buffer_deinit(&object);
}

TEST(impossible_types_are_kept, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct nt_buffer object = {0};
    struct nt_streamer_info info;
    struct nt_file *file;
    make_object(&object);
    for (size_t i = 0; i + 8 < object.length; i++)
        if (nt_load_be64((uint8_t *)object.bytes + i) == (31ull << 32 | 4))
            set_u32(&object, i, 0x80000003);
    assert_ok(read_record(&object, &info, &file));
    ck_assert_int_eq(nt_streamer_find(&info, text_of("A"), 3)->elements[3].type, INT32_MIN + 3);
    nt_file_close(file);
    nt_buffer_deinit(&object);
}

TEST(any_changed_byte_is_survived, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct nt_buffer object = {0};
    unsigned failed = 0;
    make_object(&object);
    for (size_t i = 0; i < object.length; i++) {
        struct nt_streamer_info info;
        struct nt_file *file;
        object.bytes[i] ^= 0x55;
        enum nt_status status = read_record(&object, &info, &file);
        ck_assert(status == NT_OK || status == NT_CORRUPT || status == NT_LIMIT);
        failed += status != NT_OK;
        nt_file_close(file);
        object.bytes[i] ^= 0x55;
    }
    ck_assert_uint_gt(failed, 0);
    nt_buffer_deinit(&object);
}

TEST(a_record_beyond_the_end_of_the_file_is_an_error, .setup = temporary_setup,
     .teardown = temporary_teardown)
{
    const struct nt_limits limits = {0};
    struct nt_buffer object = {0};
    struct nt_streamer_info info;
    struct nt_source *source;
    struct nt_file *file;
    uint32_t bytes;
    make_object(&object);
    const char *path = save_record(&object, &bytes);
    ck_assert_int_eq(truncate(path, RECORD_OFFSET + bytes - 1), 0);
    assert_ok(nt_source_open_local(path, &source, &error));
    assert_ok(nt_file_new(path, source, &limits, &file, &error));
    assert_status(NT_TRUNCATED, nt_streamer_info_read(file, RECORD_OFFSET, bytes, &info, &error));
    assert_status(NT_TRUNCATED, nt_streamer_info_read(file, 1 << 20, bytes, &info, &error));
    assert_ok(nt_streamer_info_read(file, 0, 0, &info, &error));
    ck_assert_uint_gt(info.class_count, 20);
    nt_file_close(file);
    nt_buffer_deinit(&object);
}

/* ---- Real files ---- */

/* Does a built-in class have the members that a file describes? */
static void compare_classes(const struct nt_streamer_class *built_in,
                            const struct nt_streamer_class *described)
{
    int length = (int)described->name.length;
    const char *name = described->name.bytes;
    ck_assert_msg(built_in->element_count == described->element_count, "%.*s %d: %u members instead of %u",
                  length, name, described->version, built_in->element_count, described->element_count);
    for (uint32_t i = 0; i < described->element_count; i++) {
        const struct nt_streamer_element *a = &built_in->elements[i], *b = &described->elements[i];
        ck_assert_msg(nt_texts_are_equal(a->name, b->name) && nt_texts_are_equal(a->counter, b->counter),
                      "%.*s %d: member %u differs", length, name, described->version, i);
        ck_assert_msg(a->type == b->type, "%.*s %d: member %u: type %d instead of %d", length, name,
                      described->version, i, a->type, b->type);
    }
}

static unsigned compare_file(const char *path, const struct nt_streamer_info *built_ins)
{
    struct opened_tree opened;
    unsigned compared = 0;
    assert_ok(opened_tree_open(path, &opened, &error));
    for (uint32_t i = 0; i < opened.info.class_count; i++) {
        const struct nt_streamer_class *described = &opened.info.classes[i];
        const struct nt_streamer_class *built_in =
            nt_streamer_find(built_ins, described->name, described->version);
        if (described->is_built_in || !built_in || described->version < 1)
            continue;
        compare_classes(built_in, described);
        compared++;
    }
    opened_tree_close(&opened);
    return compared;
}

TEST(built_in_classes_are_as_files_of_root_describe_them, .setup = temporary_setup,
     .teardown = temporary_teardown)
{
    const char *shared = getenv("NTUPLE_SHARED");
    struct opened_tree empty;
    unsigned compared = 0;
    char path[4096];
    assert_ok(opened_tree_open_empty(temporary_path("empty"), &empty, &error));
    snprintf(path, sizeof(path), "%s/data/ttree", shared ? shared : "");
    DIR *directory = opendir(path);
    size_t length = strlen(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        snprintf(path + length, sizeof(path) - length, "/%s", entry->d_name);
        if (strlen(path) > 5 && strcmp(path + strlen(path) - 5, ".root") == 0)
            compared += compare_file(path, &empty.info);
    }
    opened_tree_close(&empty);
    if (!directory) {
        puts("skipped: no real files");
        return;
    }
    closedir(directory);
    ck_assert_uint_gt(compared, 1000);
}
