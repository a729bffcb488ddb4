/* SPDX-License-Identifier: MIT
 *
 * Logical types, after the list in Lance's documents ("Schema"): values and their widths, strings, and
 * invalid types.
 */
#include "formats/lance/file/file.h"

#include <string.h>

#include "core/base/memory.h"
#include "support.h"

static struct nt_error error;
static struct nt_arena *arena;

static void set_up(void)
{
    arena = nt_arena_new();
    ck_assert_ptr_nonnull(arena);
}

static void tear_down(void)
{
    nt_arena_free(arena);
}

static const struct {
    const char *text;
    enum nt_lance_shape shape;
    uint32_t bits; /* of a value */
    uint32_t lists;
    uint64_t items[2];
} types[] = {
    {"bool", NT_LANCE_IS_VALUE, 1, 0, {0}},
    {"uint16", NT_LANCE_IS_VALUE, 16, 0, {0}},
    {"halffloat", NT_LANCE_IS_VALUE, 16, 0, {0}},
    {"double", NT_LANCE_IS_VALUE, 64, 0, {0}},
    {"decimal:128:38:10", NT_LANCE_IS_VALUE, 128, 0, {0}},
    {"decimal:256:60:-3", NT_LANCE_IS_VALUE, 256, 0, {0}},
    {"timestamp:us:-", NT_LANCE_IS_VALUE, 64, 0, {0}},
    {"timestamp:ns:Europe/Berlin", NT_LANCE_IS_VALUE, 64, 0, {0}},
    {"date32:day", NT_LANCE_IS_VALUE, 32, 0, {0}},
    {"time64:ns", NT_LANCE_IS_VALUE, 64, 0, {0}},
    {"fixed_size_binary:5", NT_LANCE_IS_VALUE, 40, 0, {0}},
    {"fixed_size_list:float:768", NT_LANCE_IS_VALUE, 32, 1, {768}},
    {"fixed_size_list:lance.bfloat16:4", NT_LANCE_IS_VALUE, 16, 1, {4}},
    {"fixed_size_list:fixed_size_list:int32:2:3", NT_LANCE_IS_VALUE, 32, 2, {3, 2}},
    {"string", NT_LANCE_IS_TEXT, 0, 0, {0}},
    {"large_binary", NT_LANCE_IS_BYTES, 0, 0, {0}},
    {"list.struct", NT_LANCE_IS_LIST, 0, 0, {0}},
    {"map", NT_LANCE_IS_LIST, 0, 0, {0}},
    {"struct", NT_LANCE_IS_STRUCT, 0, 0, {0}},
    {"null", NT_LANCE_IS_NULL, 0, 0, {0}},
    {"dict:string:int32:false", NT_LANCE_IS_TEXT, 0, 0, {0}},
    {"", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"int128", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_list:float", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_list:int8:", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_list::3", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_list:int8:4294967296", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_list:int8:99999999999999999999", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_list:int8:3x", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_binary:", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_binary:0", NT_LANCE_IS_EMPTY, 0, 0, {0}},
    {"fixed_size_list:fixed_size_binary:0:3", NT_LANCE_IS_EMPTY, 0, 1, {3}},
    {"fixed_size_list:fixed_size_list:null:2:3", NT_LANCE_IS_NULL, 0, 2, {3, 2}},
    {"fixed_size_binary:-5", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_binary:5:5", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_binary:536870911", NT_LANCE_IS_VALUE, 4294967288, 0, {0}},
    {"fixed_size_binary:536870912",
     NT_LANCE_IS_UNKNOWN,
     0,
     0,
     {0}}, /* needs more bits than 32 bits can count */
    {"timestamp:h:-", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"timestamp:us", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"decimal:64:10:2", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"decimal:128:0:0", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"decimal:128:39:0", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"decimal:256:76:76", NT_LANCE_IS_VALUE, 256, 0, {0}},
    {"decimal:256:77:0", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"decimal:256:76:77", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"decimal:128:10", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"decimal:128:10:", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"decimal:128:x:2", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"decimal:128:10:2,3", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"decimal:", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"dict:string", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"dict:", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"dict:quaternion:int8:true", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_list:dict:string:int8:false:2", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
    {"fixed_size_list:dict:int32:int8:false:1", NT_LANCE_IS_UNKNOWN, 0, 0, {0}},
};

/* Arrow's types of these names: "large" ones have 64-bit offsets. */
static const struct {
    const char *text;
    bool has_short_offsets, is_map;
} counted[] = {
    {"string", true, false},
    {"large_string", false, false},
    {"binary", true, false},
    {"large_binary", false, false},
    {"list", true, false},
    {"list.struct", true, false},
    {"large_list", false, false},
    {"large_list.struct", false, false},
    {"map", true, true},
    {"json", false, false},
    {"dict:string:int32:false", true, false},
    {"int32", false, false},
};

TEST(what_is_counted_with_32_bits_is_reported, .setup = set_up, .teardown = tear_down,
     .end = sizeof(counted) / sizeof(*counted))
{
    struct nt_lance_type type;
    const struct nt_text text = {counted[_i].text, strlen(counted[_i].text)};
    assert_ok(nt_lance_parse_type(arena, text, &type, &error));
    ck_assert_int_ne(type.shape, NT_LANCE_IS_UNKNOWN);
    ck_assert_msg(type.has_short_offsets == counted[_i].has_short_offsets, "%s", counted[_i].text);
    ck_assert_msg(type.is_map == counted[_i].is_map, "%s", counted[_i].text);
}

TEST(types_are_what_the_documents_list, .setup = set_up, .teardown = tear_down,
     .end = sizeof(types) / sizeof(*types))
{
    struct nt_lance_type type;
    const struct nt_text text = {types[_i].text, strlen(types[_i].text)};
    assert_ok(nt_lance_parse_type(arena, text, &type, &error));
    ck_assert_msg(type.shape == types[_i].shape, "%s: %d", types[_i].text, (int)type.shape);
    if (type.shape == NT_LANCE_IS_UNKNOWN)
        return;
    ck_assert_msg(type.value.bits == types[_i].bits, "%s: %u bits", types[_i].text, type.value.bits);
    ck_assert_uint_eq(type.value.list_count, types[_i].lists);
    for (uint32_t i = 0; i < types[_i].lists; i++)
        ck_assert_uint_eq(type.value.lists[i], types[_i].items[i]);
}
