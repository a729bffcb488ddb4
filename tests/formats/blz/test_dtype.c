/* SPDX-License-Identifier: MIT
 *
 * Parsing dtypes, compared with NumPy's dtype, itemsize and descr.
 */
#include <string.h>

#include "core/base/memory.h"
#include "formats/blz/blz.h"
#include "support.h"

static struct nt_error error;
static struct nt_arena *arena;

static void set_up(void)
{
    arena = nt_arena_new();
}

static void tear_down(void)
{
    nt_arena_free(arena);
}

static const struct {
    const char *text;
    uint32_t bytes;
    enum nt_element element;
    const char *descr;
} good[] = {
    {"int32", 4, NT_ELEMENT_INT32, "<i4"},
    {"bool", 1, NT_ELEMENT_BOOL, "|b1"},
    {"uint64", 8, NT_ELEMENT_UINT64, "<u8"},
    {"float16", 2, NT_ELEMENT_REAL16, "<f2"},
    {"float64", 8, NT_ELEMENT_REAL64, "<f8"},
    {"complex128", 16, NT_ELEMENT_OPAQUE, "<c16"},
    {"float128", 16, NT_ELEMENT_OPAQUE, "<f16"},
    {">i4", 4, NT_ELEMENT_OPAQUE, ">i4"},
    {"=u8", 8, NT_ELEMENT_UINT64, "<u8"},
    {"f4", 4, NT_ELEMENT_REAL32, "<f4"},
    {">b1", 1, NT_ELEMENT_BOOL, "|b1"},
    {">i1", 1, NT_ELEMENT_INT8, "|i1"},
    {"|S10", 10, NT_ELEMENT_OPAQUE, "|S10"},
    {"S300", 300, NT_ELEMENT_OPAQUE, "|S300"},
    {"a3", 3, NT_ELEMENT_OPAQUE, "|S3"},
    {"<U5", 20, NT_ELEMENT_OPAQUE, "<U5"},
    {">U2", 8, NT_ELEMENT_OPAQUE, ">U2"},
    {"V7", 7, NT_ELEMENT_OPAQUE, "|V7"},
    {"datetime64[s]", 8, NT_ELEMENT_OPAQUE, "<M8[s]"},
    {"timedelta64[25us]", 8, NT_ELEMENT_OPAQUE, "<m8[25us]"},
    {">M8[ns]", 8, NT_ELEMENT_OPAQUE, ">M8[ns]"},
    {"datetime64", 8, NT_ELEMENT_OPAQUE, "<M8"},
    {"'<f8'", 8, NT_ELEMENT_REAL64, "<f8"},
    {" u\"<f8\" ", 8, NT_ELEMENT_REAL64, "<f8"},
    {"[('a', '<i4'), ('b', '<f8')]", 12, NT_ELEMENT_OPAQUE, "[('a', '<i4'), ('b', '<f8')]"},
    {"[(u'a', '<i4'), ('in', [('y', '>f4'), ('z', 'S3')]),]", 11, NT_ELEMENT_OPAQUE,
     "[('a', '<i4'), ('in', [('y', '>f4'), ('z', '|S3')])]"},
    {"[('m', '<f4', (2, 3)), ('v', 'u1', 3)]", 27, NT_ELEMENT_OPAQUE,
     "[('m', '<f4', (2, 3)), ('v', '|u1', (3,))]"},
    {"[('m', '<f4', (2L,))]", 8, NT_ELEMENT_OPAQUE, "[('m', '<f4', (2,))]"},
    {"{'names':['a','b'], 'formats':['i1','<f8'], 'offsets':[0,8], 'itemsize':24}", 24, NT_ELEMENT_OPAQUE,
     "[('a', '|i1'), ('', '|V7'), ('b', '<f8'), ('', '|V8')]"},
    {"{'names': ['a', 'b'], 'formats': ['i1', '<f8'], 'offsets': [0, 8], 'itemsize': 16, 'aligned': True}",
     16, NT_ELEMENT_OPAQUE, "[('a', '|i1'), ('', '|V7'), ('b', '<f8')]"},
    {"{'names':['a','b'], 'formats':['<i2','<i4']}", 6, NT_ELEMENT_OPAQUE, "[('a', '<i2'), ('b', '<i4')]"},
    {"[(('title', 'n'), '<i2')]", 2, NT_ELEMENT_OPAQUE, "[('n', '<i2')]"},
    {"[('', '<i4'), ('', '<i2')]", 6, NT_ELEMENT_OPAQUE, "[('f0', '<i4'), ('f1', '<i2')]"},
    {"[('a', '|i1'), ('', '|V3'), ('b', '<i4')]", 8, NT_ELEMENT_OPAQUE,
     "[('a', '|i1'), ('', '|V3'), ('b', '<i4')]"},
    {"[(\"it's\", '<i4')]", 4, NT_ELEMENT_OPAQUE, "[('it\\x27s', '<i4')]"},
    {"[('\\u00e9\\x41', '<i4')]", 4, NT_ELEMENT_OPAQUE, "[('\\u00e9A', '<i4')]"},
    {"{'names':['a','b'], 'formats':['<i2','<i4'], 'titles':['A', None]}", 6, NT_ELEMENT_OPAQUE,
     "[('a', '<i2'), ('b', '<i4')]"},
    {"{'names':['a'], 'formats':['<i2'], 'aligned':False}", 2, NT_ELEMENT_OPAQUE, "[('a', '<i2')]"},
    {"[((None, 'n'), '<i2')]", 2, NT_ELEMENT_OPAQUE, "[('n', '<i2')]"},
    {"[('a', '<i2', ())]", 2, NT_ELEMENT_OPAQUE, "[('a', '<i2')]"},
    /* Members that share bytes cannot be written as a list: the structure becomes bytes, and the members
     * remain. */
    {"{'names':['a','b'], 'formats':['<i4','<i2'], 'offsets':[0,2], 'itemsize':4}", 4, NT_ELEMENT_OPAQUE,
     "|V4"},
};

TEST(a_type_has_the_size_and_the_text_that_NumPy_gives_it, .setup = set_up, .teardown = tear_down,
     .end = sizeof(good) / sizeof(*good))
{
    struct nt_blz_dtype dtype;
    assert_ok(nt_blz_dtype_parse(arena, good[_i].text, strlen(good[_i].text), &dtype, &error));
    ck_assert_str_eq(dtype.dtype.numpy, good[_i].descr);
    ck_assert_uint_eq(dtype.dtype.bytes, good[_i].bytes);
    ck_assert_int_eq(dtype.dtype.element, good[_i].element);
    ck_assert(!dtype.is_object);
}

TEST(the_text_of_a_type_reads_as_the_same_type, .setup = set_up, .teardown = tear_down,
     .end = sizeof(good) / sizeof(*good))
{
    struct nt_blz_dtype dtype, again;
    assert_ok(nt_blz_dtype_parse(arena, good[_i].text, strlen(good[_i].text), &dtype, &error));
    assert_ok(nt_blz_dtype_parse(arena, dtype.dtype.numpy, strlen(dtype.dtype.numpy), &again, &error));
    ck_assert_str_eq(again.dtype.numpy, dtype.dtype.numpy);
    ck_assert_uint_eq(again.dtype.bytes, dtype.dtype.bytes);
}

/* Arrow's format strings from pyarrow for the same bytes. */
static const struct {
    const char *text;
    enum nt_element number;
    bool is_big_endian;
    uint8_t character_bytes;
    const char *arrow;
} meanings[] = {
    {"int32", NT_ELEMENT_INT32, false, 0, "i"},
    {">i4", NT_ELEMENT_INT32, true, 0, NULL},
    {">f2", NT_ELEMENT_REAL16, true, 0, NULL},
    {">u1", NT_ELEMENT_UINT8, false, 0, "C"},
    {"bool", NT_ELEMENT_BOOL, false, 0, "b"},
    {"complex64", NT_ELEMENT_OPAQUE, false, 0, NULL},
    {"float128", NT_ELEMENT_OPAQUE, false, 0, NULL},
    {"S10", NT_ELEMENT_OPAQUE, false, 1, "w:10"},
    {"V7", NT_ELEMENT_OPAQUE, false, 0, "w:7"},
    {"<U5", NT_ELEMENT_OPAQUE, false, 4, NULL},
    {">U5", NT_ELEMENT_OPAQUE, true, 4, NULL},
    {"datetime64[s]", NT_ELEMENT_INT64, false, 0, "tss:"},
    {"datetime64[ms]", NT_ELEMENT_INT64, false, 0, "tsm:"},
    {"datetime64[us]", NT_ELEMENT_INT64, false, 0, "tsu:"},
    {"<M8[ns]", NT_ELEMENT_INT64, false, 0, "tsn:"},
    {"timedelta64[s]", NT_ELEMENT_INT64, false, 0, "tDs"},
    {"timedelta64[ms]", NT_ELEMENT_INT64, false, 0, "tDm"},
    {"timedelta64[us]", NT_ELEMENT_INT64, false, 0, "tDu"},
    {"m8[ns]", NT_ELEMENT_INT64, false, 0, "tDn"},
    {">M8[ns]", NT_ELEMENT_INT64, true, 0, NULL},
    {"datetime64[D]", NT_ELEMENT_INT64, false, 0, NULL},
    {"datetime64[25s]", NT_ELEMENT_INT64, false, 0, NULL},
    {"datetime64", NT_ELEMENT_INT64, false, 0, NULL},
    {"[('a', '<i4')]", NT_ELEMENT_OPAQUE, false, 0, NULL},
};

TEST(a_type_says_what_its_bytes_are_to_JSON_and_Arrow, .setup = set_up, .teardown = tear_down,
     .end = sizeof(meanings) / sizeof(*meanings))
{
    struct nt_blz_dtype dtype;
    assert_ok(nt_blz_dtype_parse(arena, meanings[_i].text, strlen(meanings[_i].text), &dtype, &error));
    ck_assert_int_eq(dtype.dtype.number, meanings[_i].number);
    ck_assert(dtype.dtype.is_big_endian == meanings[_i].is_big_endian);
    ck_assert_uint_eq(dtype.dtype.character_bytes, meanings[_i].character_bytes);
    ck_assert_pstr_eq(dtype.dtype.arrow, meanings[_i].arrow);
}

TEST(a_structure_has_its_parts_and_the_room_between_them, .setup = set_up, .teardown = tear_down)
{
    static const char text[] = "{'names':[\"it's\",'m'], 'formats':['i1',('<f8',(2,3))], 'offsets':[0,8]}";
    struct nt_blz_dtype dtype;
    assert_ok(nt_blz_dtype_parse(arena, text, strlen(text), &dtype, &error));
    const struct nt_dtype_member *parts = dtype.dtype.members;
    ck_assert_uint_eq(dtype.dtype.member_count, 3);
    ck_assert_str_eq(parts[0].name.bytes, "it's");
    ck_assert_str_eq(parts[0].dtype->numpy, "|i1");
    ck_assert_uint_eq(parts[1].name.length, 0);
    ck_assert_str_eq(parts[1].dtype->numpy, "|V7");
    ck_assert_uint_eq(parts[2].dimension_count, 2);
    ck_assert_uint_eq(parts[2].dimensions[1], 3);
}

TEST(members_have_names_places_and_shapes, .setup = set_up, .teardown = tear_down)
{
    static const char text[] = "{'names':['b','a'], 'formats':[('<f4', (2, 3)),[('x','u1'),('y','>u2')]], "
                               "'offsets':[8,1], 'itemsize':40}";
    struct nt_blz_dtype dtype;
    assert_ok(nt_blz_dtype_parse(arena, text, strlen(text), &dtype, &error));
    ck_assert_uint_eq(dtype.member_count, 2);
    ck_assert_str_eq(dtype.members[0].name.bytes, "b");
    ck_assert_uint_eq(dtype.members[0].offset, 8);
    ck_assert_uint_eq(dtype.members[0].type.items, 6);
    ck_assert_uint_eq(dtype.members[0].type.dimension_count, 2);
    ck_assert_uint_eq(dtype.members[0].type.dimensions[1], 3);
    ck_assert_uint_eq(dtype.members[1].offset, 1);
    ck_assert_str_eq(dtype.members[1].type.members[1].name.bytes, "y");
    ck_assert_uint_eq(dtype.members[1].type.members[1].offset, 1);
}

TEST(a_sub_array_has_the_dimensions_of_its_item_after_its_own, .setup = set_up, .teardown = tear_down)
{
    static const char text[] = "(('<i2', (4,)), (2, 3))";
    struct nt_blz_dtype dtype;
    assert_ok(nt_blz_dtype_parse(arena, text, strlen(text), &dtype, &error));
    ck_assert_str_eq(dtype.dtype.numpy, "<i2");
    ck_assert_uint_eq(dtype.items, 24);
    ck_assert_uint_eq(dtype.dimension_count, 3);
    ck_assert_uint_eq(dtype.dimensions[0], 2);
    ck_assert_uint_eq(dtype.dimensions[2], 4);
}

TEST(objects_are_known_as_such, .setup = set_up, .teardown = tear_down)
{
    static const char *const texts[] = {"object", "|O", "O", "|O8", "|O4", "'|O'"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct nt_blz_dtype dtype;
        assert_ok(nt_blz_dtype_parse(arena, texts[i], strlen(texts[i]), &dtype, &error));
        ck_assert(dtype.is_object);
    }
}

static const struct {
    const char *text;
    enum nt_status status;
} bad[] = {
    {"", NT_CORRUPT},
    {"int33", NT_CORRUPT},
    {"i3", NT_CORRUPT},
    {"<", NT_CORRUPT},
    {"<i4 ", NT_CORRUPT},
    {"<i4[s]", NT_CORRUPT},
    {"datetime64[s", NT_CORRUPT},
    {"datetime64['']", NT_CORRUPT},
    {"S0", NT_LIMIT},
    {"S99999999999", NT_CORRUPT},
    {"S2147483647", NT_CORRUPT},
    {"'<i4", NT_CORRUPT},
    {"'<i4' '<i4'", NT_CORRUPT},
    {"[", NT_CORRUPT},
    {"[]", NT_LIMIT},
    {"[('a', '<i4')", NT_CORRUPT},
    {"[('a', '<i4'))", NT_CORRUPT},
    {"[('a')]", NT_CORRUPT},
    {"[('a', '<i4'] )", NT_CORRUPT},
    {"[('a', '<i4', -1)]", NT_CORRUPT},
    {"[('a', '<i4', (2, ]", NT_CORRUPT},
    {"[('a', '<i4', (9223372036854775807, 9223372036854775807))]", NT_CORRUPT},
    {"[('a', '<i8', (1000000, 1000000))]", NT_LIMIT},
    {"[('\\q', '<i4')]", NT_CORRUPT},
    {"[('\\xg0', '<i4')]", NT_CORRUPT},
    {"[('\\U00110000', '<i4')]", NT_CORRUPT},
    {"{'names':['a'], 'formats':['<i4','<i4']}", NT_CORRUPT},
    {"{'names':['a'], 'formats':['<i4'], 'itemsize':3}", NT_CORRUPT},
    {"{'names':['a'], 'formats':['<i4'], 'offsets':[0,4]}", NT_CORRUPT},
    {"{'names':['a'], 'formats':['<i4'], 'offsets':[99999999999]}", NT_LIMIT},
    {"{'names':['a'], 'formats':['<i4'], 'colour':[0]}", NT_CORRUPT},
    {"{'names':['a'] 'formats':['<i4']}", NT_CORRUPT},
    {"__import__('os')", NT_CORRUPT},
    {"|O9", NT_CORRUPT},
    {"OO", NT_CORRUPT},
    {"O88", NT_CORRUPT},
    {"('<i4')", NT_CORRUPT},
    {"('<i4', (2)", NT_CORRUPT},
    {"(5, (2,))", NT_CORRUPT},
    {"[('a', '<i4', (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
     "1, 1, 1, 1))]",
     NT_LIMIT},
    {"[('a', '<i4', (4294967296, 4294967296))]", NT_LIMIT},
    {"[(5, '<i4')]", NT_CORRUPT},
    {"[('a' '<i4')]", NT_CORRUPT},
    {"[(('t' 'n'), '<i4')]", NT_CORRUPT},
    {"[(('t', 5), '<i4')]", NT_CORRUPT},
    {"[(('t', 'n', '<i4')]", NT_CORRUPT},
    {"[((5, 'n'), '<i4')]", NT_CORRUPT},
    {"[('a', '<i4' (2,))]", NT_CORRUPT},
    {"{5:['a']}", NT_CORRUPT},
    {"{'names' ['a']}", NT_CORRUPT},
    {"{'names':'a'}", NT_CORRUPT},
    {"{'names':['a' 'b'], 'formats':['<i4','<i4']}", NT_CORRUPT},
    {"{'names':[5], 'formats':['<i4']}", NT_CORRUPT},
    {"{'names':['a'], 'formats':[5]}", NT_CORRUPT},
    {"{'names':['a','b'], 'formats':['<i4' '<i4']}", NT_CORRUPT},
    {"{'names':['a','b'], 'formats':['<i4','<i4'], 'offsets':[0 4]}", NT_CORRUPT},
    {"{'names':['a'], 'formats':['<i4'], 'titles':[5]}", NT_CORRUPT},
    {"{'names':['a'], 'formats':['<i4'], 'itemsize':'4'}", NT_CORRUPT},
    {"{'names':['a'], 'formats':['<i4'], 'aligned':1}", NT_CORRUPT},
    {"{'names':['a'], 'formats':['<i4'], 'aligned':True}",
     NT_CORRUPT}, /* the message does not say where it leads */
    {"{'names':[], 'formats':[]}", NT_CORRUPT},
    {"{'formats':['<i4']}", NT_CORRUPT},
    {"{'names':['a'], 'names':['b'], 'formats':['<i4']}", NT_CORRUPT},
    {"{'names':['a'], 'formats':['<i4'], 'formats':['<i4']}", NT_CORRUPT},
    {"{'names':['a'], 'formats':['<i4'], 'offsets':[0], 'offsets':[0]}", NT_CORRUPT},
    {"[('a', '|V268435456'), ('b', 'i1')]", NT_LIMIT},
};

TEST(what_is_no_type_is_refused, .setup = set_up, .teardown = tear_down, .end = sizeof(bad) / sizeof(*bad))
{
    struct nt_blz_dtype dtype;
    assert_status(bad[_i].status,
                  nt_blz_dtype_parse(arena, bad[_i].text, strlen(bad[_i].text), &dtype, &error));
    ck_assert_str_ne(error.message, "");
}

TEST(every_cut_of_a_type_is_refused_or_read, .setup = set_up, .teardown = tear_down)
{
    static const char text[] =
        "[('a', '<i4', (2, 3)), ('in', {'names':['y'], 'formats':['>f4'], 'offsets':[4]})]";
    struct nt_blz_dtype dtype;
    for (size_t length = 0; length + 1 < sizeof(text) - 1; length++) {
        char *copy = malloc(length + 1); /* so that a sanitizer sees a read past the end */
        memcpy(copy, text, length);
        assert_status(NT_CORRUPT, nt_blz_dtype_parse(arena, copy, length, &dtype, &error));
        free(copy);
    }
}

TEST(nesting_has_a_bound, .setup = set_up, .teardown = tear_down)
{
    enum { DEPTH = 5000 };
    char *text = malloc(DEPTH * 7 + 1);
    for (size_t i = 0; i < DEPTH; i++)
        memcpy(text + i * 7, "[('a', ", 7);
    struct nt_blz_dtype dtype;
    assert_status(NT_LIMIT, nt_blz_dtype_parse(arena, text, DEPTH * 7, &dtype, &error));
    free(text);
}

/* `head`, as many of `part` as the limit and one more, then `end`. */
static const struct {
    const char *head, *part, *end, *message;
} many[] = {
    {"[", "('','i1'),", "]", "more than 65536 members"},
    {"{'names':[", "'',", "]}", "more than 65536 members"},
    {"{'formats':[", "'i1',", "]}", "more than 65536 members"},
    {"{'offsets':[", "0,", "]}", "more than 65536 offsets"},
};

TEST(the_number_of_members_has_a_bound, .setup = set_up, .teardown = tear_down,
     .end = sizeof(many) / sizeof(*many))
{
    enum { MEMBERS = 65537 };
    struct nt_buffer text = {0};
    struct nt_blz_dtype dtype;
    nt_buffer_append_string(&text, many[_i].head);
    for (unsigned i = 0; i < MEMBERS; i++)
        nt_buffer_append_string(&text, many[_i].part);
    nt_buffer_append_string(&text, many[_i].end);
    assert_status(NT_LIMIT, nt_blz_dtype_parse(arena, text.bytes, text.length, &dtype, &error));
    ck_assert_msg(strstr(error.message, many[_i].message) != NULL, "%s", error.message);
    nt_buffer_deinit(&text);
}
