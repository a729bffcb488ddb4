/* SPDX-License-Identifier: MIT
 *
 * What branches store: shapes and steps of leaves, members, collections and objects. The expected layouts
 * are those of ROOT's streamers, as found in files of ROOT.
 */
#include "formats/ttree/ttree.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/memory.h"
#include "core/base/text.h"
#include "support.h"

static struct nt_error error;
static struct nt_arena *arena;
static struct nt_buffer text;

static void setup(void)
{
    arena = nt_arena_new();
    ck_assert_ptr_nonnull(arena);
}

static void teardown(void)
{
    nt_arena_free(arena);
    nt_buffer_deinit(&text);
}

#define INTERPRET_TEST(name) TEST(name, .setup = setup, .teardown = teardown)
#define TEXT(string)                                                                                         \
    {                                                                                                        \
        string, sizeof(string) - 1                                                                           \
    }

/* ---- Shapes and steps in short words ---- */

static uint32_t add_shape(const struct nt_interpretation *got, uint32_t i)
{
    static const char *const kinds[] = {"", "string", "list", "array", "optional", "record", "unreadable"};
    const struct nt_ttree_shape *shape = &got->shapes[i];
    nt_buffer_append(&text, shape->name.bytes, shape->name.length);
    nt_buffer_append_format(&text, ":%s",
                            shape->kind == NT_SHAPE_VALUE ? nt_element_info(shape->element)->name
                                                          : kinds[shape->kind]);
    if (shape->is_map)
        nt_buffer_append_string(&text, "(map)");
    if (shape->kind == NT_SHAPE_ARRAY)
        nt_buffer_append_format(&text, "[%" PRIu64 "]", shape->dimensions[0]);
    if (shape->output != NT_NONE)
        nt_buffer_append_format(&text, ">%" PRIu32, shape->output);
    uint32_t child = i + 1;
    bool is_first = true;
    while (child < got->shape_count && got->shapes[child].parent == i) {
        nt_buffer_append_string(&text, is_first ? "{" : " ");
        child = add_shape(got, child);
        is_first = false;
    }
    if (!is_first)
        nt_buffer_append_string(&text, "}");
    return child;
}

static void add_steps(const struct nt_interpretation *got, uint32_t first, uint32_t end);

static void add_step(const struct nt_interpretation *got, uint32_t i)
{
    static const char *const kinds[] = {"",        "skip",    "name",    "header", "class",  "list",
                                        "members", "rest",    "counted", "repeat", "string", "counter",
                                        "when",    "pointer", "case",    "clones", "objects"};
    static const char *const forms[] = {".array", ".list", ".map"};
    const struct nt_step *step = &got->steps[i];
    bool has_other = step->other != 0;
    nt_buffer_append_string(&text, step->kind == NT_STEP_VALUES ? nt_encoding_info(step->encoding)->name
                                                                : kinds[step->kind]);
    if (step->kind == NT_STEP_HEADER)
        nt_buffer_append_format(&text, "%s%s%s", step->bits & NT_HEADER_SHARED ? ".shared" : "",
                                step->bits & NT_HEADER_OPTIONAL ? ".optional" : "",
                                step->bits & NT_HEADER_SIZED ? ".sized" : "");
    else if (step->kind == NT_STEP_REST)
        nt_buffer_append_string(&text, step->bits & NT_REST_MEMBERS ? ".members" : "");
    else if (step->kind == NT_STEP_MEMBERS)
        nt_buffer_append_string(&text, step->version == NT_STREAMER_NO_OBJECTS ? ".empty" : "");
    else if (step->kind == NT_STEP_COUNTED) {
        nt_buffer_append_string(&text, step->bits & NT_COUNTED_FLAG ? "" : ".bare");
        if (step->count > 1)
            nt_buffer_append_format(&text, "*%" PRIu32, step->count);
        nt_buffer_append_string(&text, step->bits & NT_COUNTED_TRIANGLE ? ".triangle" : "");
    } else if (step->kind == NT_STEP_OBJECTS)
        nt_buffer_append_string(&text, forms[step->count]);
    else if (step->kind == NT_STEP_NAME)
        nt_buffer_append_format(&text, "(%s)", got->class_names[step->count].bytes);
    else if (step->kind == NT_STEP_CASE || step->kind == NT_STEP_CLONES)
        nt_buffer_append_string(&text, step->count == NT_NONE ? ".any" : "");
    else if (step->kind != NT_STEP_CLASS && step->count > 1)
        nt_buffer_append_format(&text, "*%" PRIu32, step->count);
    if (step->kind == NT_STEP_HEADER || step->kind == NT_STEP_CLASS) {
        if (step->version != NT_STREAMER_NEWEST)
            nt_buffer_append_format(&text, "v%" PRId32, step->version);
    } else if (step->counter) {
        nt_buffer_append_format(&text, "#%u", step->counter);
    }
    if (step->output != NT_NONE)
        nt_buffer_append_format(&text, ">%" PRIu32, step->output);
    if (step->end == i + 1)
        return;
    nt_buffer_append_string(&text, "{");
    add_steps(got, i + 1, has_other ? step->other : step->end);
    if (has_other) {
        nt_buffer_append_string(&text, "|");
        add_steps(got, step->other, step->end);
    }
    nt_buffer_append_string(&text, "}");
}

static void add_steps(const struct nt_interpretation *got, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i = got->steps[i].end) {
        if (i > first)
            nt_buffer_append_string(&text, " ");
        add_step(got, i);
    }
}

static void assert_shapes(const struct nt_interpretation *got, const char *expected)
{
    nt_buffer_clear(&text);
    ck_assert_uint_eq(add_shape(got, 0), got->shape_count);
    ck_assert_str_eq(nt_buffer_string(&text), expected);
}

static void assert_steps(const struct nt_interpretation *got, const char *expected)
{
    nt_buffer_clear(&text);
    add_steps(got, 0, got->step_count);
    ck_assert_str_eq(nt_buffer_string(&text), expected);
}

/* Outputs are the elements of shapes, in their order. */
static void assert_outputs(const struct nt_interpretation *got)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < got->shape_count; i++) {
        const struct nt_ttree_shape *shape = &got->shapes[i];
        if (shape->output == NT_NONE)
            continue;
        ck_assert_uint_eq(shape->output, next++);
        ck_assert(got->outputs[shape->output].is_offsets == (shape->kind != NT_SHAPE_VALUE));
        if (shape->kind == NT_SHAPE_STRING)
            ck_assert_int_eq(got->outputs[next++].element, NT_ELEMENT_BYTE);
        else if (shape->kind == NT_SHAPE_VALUE)
            ck_assert_int_eq(got->outputs[shape->output].element, shape->element);
    }
    ck_assert_uint_eq(next, got->output_count);
}

/* ---- Trees ---- */

enum { BRANCHES = 3, LEAVES = 4, CLASSES = 40 };

struct example {
    struct nt_streamer_class classes[CLASSES];
    const struct nt_streamer_class *by_name[CLASSES];
    struct nt_streamer_info info;
    struct nt_ttree_branch branches[BRANCHES];
    struct nt_ttree_leaf leaves[LEAVES];
    struct nt_ttree tree;
};

static int compare(const void *left, const void *right)
{
    const struct nt_streamer_class *const *a = left, *const *b = right;
    int order = nt_texts_compare((*a)->name, (*b)->name);
    return order ? order : ((*a)->version > (*b)->version) - ((*a)->version < (*b)->version);
}

static struct nt_interpretation interpret(struct example *example, uint32_t branch)
{
    struct nt_interpretation got;
    struct nt_streamer_info *info = &example->info;
    for (info->class_count = 0; info->class_count < CLASSES; info->class_count++) {
        if (!example->classes[info->class_count].name.bytes)
            break;
        example->by_name[info->class_count] = &example->classes[info->class_count];
    }
    qsort(example->by_name, info->class_count, sizeof(*example->by_name), compare);
    info->classes = example->classes;
    info->by_name = example->by_name;
    example->tree.info = info;
    example->tree.branches = example->branches;
    example->tree.leaves = example->leaves;
    for (example->tree.branch_count = 0; example->tree.branch_count < BRANCHES; example->tree.branch_count++)
        if (!example->branches[example->tree.branch_count].name.bytes)
            break;
    while (example->tree.leaf_count < LEAVES && example->leaves[example->tree.leaf_count].name.bytes)
        example->tree.leaf_count++;
    assert_ok(nt_ttree_interpret(&example->tree, branch, arena, &got, &error));
    assert_outputs(&got);
    return got;
}

static void assert_shapes_of(struct example *example, const char *expected)
{
    struct nt_interpretation got = interpret(example, 0);
    assert_shapes(&got, expected);
}

static void assert_unreadable(struct example *example, const char *reason)
{
    struct nt_interpretation got = interpret(example, 0);
    ck_assert_uint_eq(got.shape_count, 1);
    ck_assert_uint_eq(got.output_count, 0);
    ck_assert_int_eq(got.shapes[0].kind, NT_SHAPE_UNREADABLE);
    ck_assert_str_eq(got.shapes[0].unreadable, reason);
}

/* A branch with one leaf of a class of its own. */
static struct example leaf_example(const char *class_name, const char *title, uint32_t length,
                                   bool is_unsigned)
{
    struct example example = {
        .branches = {{.name = TEXT("x"), .class_name = TEXT("TBranch"), .parent = NT_NONE, .leaf_count = 1}},
        .leaves = {{.name = TEXT("leaf"),
                    .title = nt_text_of(title),
                    .class_name = nt_text_of(class_name),
                    .length = length,
                    .counter = NT_NONE,
                    .is_unsigned = is_unsigned}}};
    return example;
}

/* ---- Leaves ---- */

INTERPRET_TEST(leaves_are_numbers)
{
    static const struct {
        const char *class_name;
        bool is_unsigned;
        const char *shape, *step, *type;
    } rows[] = {
        {"TLeafB", false, "x:int8>0", "Int8>0", "Char_t"},
        {"TLeafB", true, "x:uint8>0", "UInt8>0", "UChar_t"},
        {"TLeafS", false, "x:int16>0", "BigInt16>0", "Short_t"},
        {"TLeafS", true, "x:uint16>0", "BigUInt16>0", "UShort_t"},
        {"TLeafI", false, "x:int32>0", "BigInt32>0", "Int_t"},
        {"TLeafI", true, "x:uint32>0", "BigUInt32>0", "UInt_t"},
        {"TLeafL", false, "x:int64>0", "BigInt64>0", "Long64_t"},
        {"TLeafL", true, "x:uint64>0", "BigUInt64>0", "ULong64_t"},
        {"TLeafG", false, "x:int64>0", "BigInt64>0", "Long_t"},
        {"TLeafG", true, "x:uint64>0", "BigUInt64>0", "ULong_t"},
        {"TLeafF", false, "x:real32>0", "BigReal32>0", "Float_t"},
        {"TLeafD", false, "x:real64>0", "BigReal64>0", "Double_t"},
        {"TLeafO", false, "x:bool>0", "Bool8>0", "Bool_t"},
        {"TLeafF16", false, "x:real32>0", "Float16Bits>0", "Float16_t"},
        {"TLeafD32", false, "x:real64>0", "Double32>0", "Double32_t"},
    };
    for (int i = 0; i < COUNT_OF(rows); i++) {
        struct example example = leaf_example(rows[i].class_name, "leaf", 1, rows[i].is_unsigned);
        struct nt_interpretation got = interpret(&example, 0);
        assert_shapes(&got, rows[i].shape);
        assert_steps(&got, rows[i].step);
        ck_assert(nt_text_is(got.shapes[0].type, rows[i].type));
        ck_assert_int_eq(got.count_by, NT_COUNT_BY_ENTRIES);
        ck_assert_uint_eq(got.outputs[0].fixed_items, 1);
    }
}

INTERPRET_TEST(a_leaf_has_a_range)
{
    struct example example = leaf_example("TLeafD32", "leaf[0,10,8]", 1, false);
    struct nt_interpretation got = interpret(&example, 0);
    assert_steps(&got, "Double32Range>0");
    ck_assert_double_eq(got.steps[0].minimum, 0);
    ck_assert_double_eq(got.steps[0].maximum, 25.6);
    ck_assert_uint_eq(got.steps[0].bits, 32);
}

INTERPRET_TEST(dimensions_are_arrays)
{
    struct example example = leaf_example("TLeafF", "leaf[2][3]", 6, false);
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x:array[2]{item:array[3]{item:real32>0}}");
    assert_steps(&got, "BigReal32*6>0");
    ck_assert_uint_eq(got.outputs[0].fixed_items, 6);
    ck_assert(nt_text_is(got.shapes[0].type, "Float_t[2][3]"));
    ck_assert(nt_text_is(got.shapes[1].type, "Float_t[3]"));
}

INTERPRET_TEST(a_string_has_its_length)
{
    struct example example = leaf_example("TLeafC", "leaf", 1, false);
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x:string>0");
    assert_steps(&got, "string>0");
    ck_assert_int_eq(got.count_by, NT_COUNT_BY_CONTENT);
}

INTERPRET_TEST(an_unknown_leaf_is_unreadable)
{
    struct example example = leaf_example("TLeafX", "leaf", 1, false);
    assert_unreadable(&example, "cannot read leaves of class TLeafX");
}

INTERPRET_TEST(a_counted_leaf_fills_the_entry)
{
    struct example example = leaf_example("TLeafD", "leaf[n][3]", 3, false);
    example.leaves[0].counter = 1;
    example.branches[1] = (struct nt_ttree_branch){.name = TEXT("n"),
                                                   .class_name = TEXT("TBranch"),
                                                   .parent = NT_NONE,
                                                   .first_leaf = 1,
                                                   .leaf_count = 1};
    example.leaves[1] = (struct nt_ttree_leaf){.name = TEXT("n"),
                                               .title = TEXT("n"),
                                               .class_name = TEXT("TLeafI"),
                                               .branch = 1,
                                               .length = 1,
                                               .counter = NT_NONE};
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x:list>0{item:array[3]{item:real64>1}}");
    assert_steps(&got, "rest>0{BigReal64*3>1}");
    ck_assert_int_eq(got.count_by, NT_COUNT_BY_BYTES);
    ck_assert_uint_eq(got.item_bytes, 24);
    ck_assert_uint_eq(got.header_bytes, 0);
    ck_assert_uint_eq(got.outputs[0].fixed_items, 1);
    ck_assert_uint_eq(got.outputs[1].fixed_items, 0);
}

static struct example list_of_leaves(void)
{
    struct example example = {.branches = {{.name = TEXT("row"),
                                            .class_name = TEXT("TBranch"),
                                            .parent = NT_NONE,
                                            .leaf_count = 3}},
                              .leaves = {{.name = TEXT("n"),
                                          .title = TEXT("n"),
                                          .class_name = TEXT("TLeafI"),
                                          .length = 1,
                                          .counter = NT_NONE},
                                         {.name = TEXT("y"),
                                          .title = TEXT("y[2]"),
                                          .class_name = TEXT("TLeafS"),
                                          .length = 2,
                                          .counter = NT_NONE},
                                         {.name = TEXT("z"),
                                          .title = TEXT("z"),
                                          .class_name = TEXT("TLeafD"),
                                          .length = 1,
                                          .counter = NT_NONE}}};
    return example;
}

INTERPRET_TEST(several_leaves_are_rows)
{
    struct example example = list_of_leaves();
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "row:record{n:int32>0 y:array[2]{item:int16>1} z:real64>2}");
    assert_steps(&got, "BigInt32>0 BigInt16*2>1 BigReal64>2");
    ck_assert_int_eq(got.count_by, NT_COUNT_BY_ENTRIES);
    ck_assert_uint_eq(got.outputs[1].fixed_items, 2);
}

INTERPRET_TEST(a_leaf_counts_another_of_its_branch)
{
    struct example example = list_of_leaves();
    example.leaves[1].title = (struct nt_text)TEXT("y[n]");
    example.leaves[1].length = 1;
    example.leaves[1].counter = 0;
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "row:record{n:int32>0 y:list>1{item:int16>2} z:real64>3}");
    assert_steps(&got, "BigInt32#1>0 counted.bare#1>1{BigInt16>2} BigReal64>3");
    ck_assert_int_eq(got.count_by, NT_COUNT_BY_CONTENT);
}

INTERPRET_TEST(a_leaf_that_another_branch_counts_must_be_last)
{
    struct example example = list_of_leaves();
    example.branches[1] = (struct nt_ttree_branch){.name = TEXT("m"),
                                                   .class_name = TEXT("TBranch"),
                                                   .parent = NT_NONE,
                                                   .first_leaf = 3,
                                                   .leaf_count = 1};
    example.leaves[3] = (struct nt_ttree_leaf){.name = TEXT("m"),
                                               .title = TEXT("m"),
                                               .class_name = TEXT("TLeafI"),
                                               .branch = 1,
                                               .length = 1,
                                               .counter = NT_NONE};
    example.leaves[2].counter = 3;
    struct nt_interpretation got = interpret(&example, 0);
    assert_steps(&got, "BigInt32>0 BigInt16*2>1 rest>2{BigReal64>3}");
    example.leaves[2].counter = NT_NONE;
    example.leaves[1].counter = 3;
    assert_unreadable(&example, "cannot read a leaf after one whose length is in another branch: y");
}

INTERPRET_TEST(branches_hold_others)
{
    struct example example = leaf_example("TLeafF", "leaf", 1, false);
    example.branches[0].object_class = (struct nt_text)TEXT("Event");
    example.branches[1] = example.branches[0];
    example.branches[1].parent = 0;
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x:record");
    ck_assert_uint_eq(got.step_count, 0);
    example.branches[1].leaf_count = 0; /* of an empty base class */
    got = interpret(&example, 1);
    assert_shapes(&got, "x:record");
}

/* ---- Members of split objects ---- */

/* The branch "obj.x" of element 0 of class Event, with a leaf. */
static struct example member_example(struct nt_streamer_element *element, int32_t type)
{
    struct example example = {
        .classes = {{.name = TEXT("Event"), .version = 1, .elements = element, .element_count = 1}},
        .branches = {{.name = TEXT("obj.x"),
                      .class_name = TEXT("TBranchElement"),
                      .object_class = TEXT("Event"),
                      .class_version = 1,
                      .type = type,
                      .parent = NT_NONE,
                      .counter = NT_NONE,
                      .leaf_count = 1}},
        .leaves = {{.name = TEXT("x"),
                    .title = TEXT("x"),
                    .class_name = TEXT("TLeafElement"),
                    .length = 1,
                    .counter = NT_NONE}}};
    element->name = (struct nt_text)TEXT("x");
    example.leaves[0].type = example.branches[0].streamer_type = element->type;
    return example;
}

static void assert_member(struct nt_streamer_element element, int32_t type, const char *shapes,
                          const char *steps)
{
    struct example example = member_example(&element, type);
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, shapes);
    assert_steps(&got, steps);
}

#define ELEMENT(name, ...) ((struct nt_streamer_element){.type_name = TEXT(name), __VA_ARGS__})

INTERPRET_TEST(members_are_numbers_and_arrays)
{
    assert_member(ELEMENT("Float_t", .type = NT_STREAMER_FLOAT), 0, "obj.x:real32>0", "BigReal32>0");
    assert_member(ELEMENT("int", .type = NT_STREAMER_COUNTER), 0, "obj.x:uint32>0", "BigUInt32>0");
    assert_member(ELEMENT("Color", .type = NT_STREAMER_INT), 0, "obj.x:int32>0", "BigInt32>0");
    assert_member(ELEMENT("short", .type = NT_STREAMER_SHORT + NT_STREAMER_OFFSET_L, .length = 6,
                          .dimension_count = 2, .dimensions = {2, 3}),
                  0, "obj.x:array[2]{item:array[3]{item:int16>0}}", "BigInt16*6>0");
    assert_member(ELEMENT("Float16_t", .type = NT_STREAMER_FLOAT16, .title = TEXT("[0,0,10]")), 0,
                  "obj.x:real32>0", "Float16Bits>0");
    /* A byte that says whether there is an array, then the numbers. */
    assert_member(ELEMENT("double*", .type = NT_STREAMER_DOUBLE + NT_STREAMER_OFFSET_P, .counter = TEXT("n")),
                  0, "obj.x:list>0{item:real64>1}", "skip rest>0{BigReal64>1}");
    /* The bits of a TObject; a number of two bytes follows if bit 4 is set. */
    assert_member(ELEMENT("unsigned int", .type = NT_STREAMER_BITS), 0, "obj.x:uint32>0",
                  "BigUInt32#1>0 when*16#1{skip*2}");
}

INTERPRET_TEST(members_are_strings)
{
    assert_member(ELEMENT("string", .type = NT_STREAMER_STL_STRING), 0, "obj.x:string>0", "header{string>0}");
    assert_member(ELEMENT("TString", .type = NT_STREAMER_TSTRING), 0, "obj.x:string>0", "string>0");
    assert_member(ELEMENT("char*", .type = NT_STREAMER_CHAR_STAR), 0, "obj.x:string>0", "string*4>0");
    assert_member(ELEMENT("string", .type = NT_STREAMER_STL_STRING + NT_STREAMER_OFFSET_L, .length = 2,
                          .dimension_count = 1, .dimensions = {2}),
                  0, "obj.x:array[2]{item:string>0}", "header{repeat*2{string>0}}");
    assert_member(ELEMENT("TString", .type = NT_STREAMER_TSTRING + NT_STREAMER_OFFSET_L, .length = 2,
                          .dimension_count = 1, .dimensions = {2}),
                  0, "obj.x:array[2]{item:string>0}", "header{repeat*2{string>0}}");
}

INTERPRET_TEST(members_are_collections)
{
    assert_member(ELEMENT("vector<int>", .type = NT_STREAMER_STL), 0, "obj.x:list>0{item:int32>1}",
                  "header{list>0{BigInt32>1}}");
    assert_member(ELEMENT("vector<bool>*", .type = NT_STREAMER_STL_P), 0, "obj.x:list>0{item:bool>1}",
                  "header{list>0{Bool8>1}}");
    assert_member(ELEMENT("vector<vector<float> >", .type = NT_STREAMER_STL), 0,
                  "obj.x:list>0{item:list>1{item:real32>2}}", "header{list>0{list>1{BigReal32>2}}}");
    assert_member(ELEMENT("set<string>", .type = NT_STREAMER_STL), 0, "obj.x:list>0{item:string>1}",
                  "header{list>0{string>1}}");
    assert_member(ELEMENT("bitset<8>", .type = NT_STREAMER_STL), 0, "obj.x:list>0{item:bool>1}",
                  "header{list>0{Bool8>1}}");
    /* Pairs of maps have no headers, and maps of strings are usually stored memberwise. */
    assert_member(ELEMENT("map<int,string>", .type = NT_STREAMER_STL), 0,
                  "obj.x:list(map)>0{item:record{0:int32>1 1:string>2}}",
                  "header{list>0{BigInt32>1 string>2}|"
                  "class members>0{BigInt32>1 header.shared{string>2}}}");
    assert_member(ELEMENT("vector<pair<int,vector<float> > >", .type = NT_STREAMER_STL), 0,
                  "obj.x:list>0{item:record{first:int32>1 second:list>2{item:real32>3}}}",
                  "header{list>0{header{BigInt32>1 header{list>2{BigReal32>3}}}}|"
                  "class members>0{BigInt32>1 header.shared{list>2{BigReal32>3}}}}");
    assert_member(ELEMENT("vector<Color>", .type = NT_STREAMER_STL, .content_type = NT_STREAMER_INT), 0,
                  "obj.x:list>0{item:int32>1}", "header{list>0{BigInt32>1}}");
}

INTERPRET_TEST(members_of_the_items_of_collections)
{
    for (int i = 0; i < 2; i++) {
        int32_t type = i ? NT_BRANCH_CLONES_MEMBER : NT_BRANCH_COLLECTION_MEMBER;
        assert_member(ELEMENT("float", .type = NT_STREAMER_FLOAT + NT_STREAMER_OFFSET_L, .length = 4,
                              .dimension_count = 1, .dimensions = {4}),
                      type, "obj.x:list>0{item:array[4]{item:real32>1}}", "rest>0{BigReal32*4>1}");
        assert_member(ELEMENT("TString", .type = NT_STREAMER_TSTRING), type, "obj.x:list>0{item:string>1}",
                      "rest>0{string>1}");
        /* One header for the vectors of all items. */
        assert_member(ELEMENT("vector<int>", .type = NT_STREAMER_STL), type,
                      "obj.x:list>0{item:list>1{item:int32>2}}",
                      "header.optional{rest>0{list>1{BigInt32>2}}}");
        assert_member(ELEMENT("vector<pair<int,int> >", .type = NT_STREAMER_STL), type,
                      "obj.x:list>0{item:list>1{item:record{first:int32>2 second:int32>3}}}",
                      "header.optional{rest>0{list>1{header{BigInt32>2 BigInt32>3}}}|"
                      "class rest>0{members>1{BigInt32>2 BigInt32>3}}}");
        /* Nothing skips unknown items that are stored member by member: there may be none. */
        assert_member(ELEMENT("vector<Alien>", .type = NT_STREAMER_STL, .content_type = NT_STREAMER_OBJECT),
                      type, "obj.x:list>0{item:list>1{item:unreadable}}",
                      "header.optional{rest>0{list>1{header.sized}}|class rest>0{members.empty>1}}");
    }
    struct nt_streamer_element objects =
        ELEMENT("Dot*", .type = NT_STREAMER_STREAM_LOOP, .counter = TEXT("n"));
    struct example example = member_example(&objects, NT_BRANCH_COLLECTION_MEMBER);
    assert_unreadable(&example,
                      "arrays of objects in the items of a collection do not say where items end: Dot*");
}

/* The lengths are those of the branch that the record names, or of one whose name ends with the member's. */
INTERPRET_TEST(arrays_of_items_have_their_lengths_in_another_branch)
{
    static const struct {
        const char *other;
        uint32_t second_counter, expected;
    } rows[] = {{"obj.n", NT_NONE, 1}, {"obj.m", 0, 1}, {"obj.m", NT_NONE, 0}, {"n", NT_NONE, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct nt_streamer_element counted =
            ELEMENT("double*", .type = NT_STREAMER_DOUBLE + NT_STREAMER_OFFSET_P, .counter = TEXT("n"));
        struct example example = member_example(&counted, NT_BRANCH_COLLECTION_MEMBER);
        example.branches[1] = example.branches[0];
        example.branches[0].name = nt_text_of(rows[i].other);
        example.branches[1].second_counter = rows[i].second_counter;
        struct nt_interpretation got = interpret(&example, 1);
        ck_assert_uint_eq(got.lengths, rows[i].expected);
        if (got.lengths)
            assert_shapes(&got, "obj.x:list>0{item:list>1{item:real64>2}}");
        if (got.lengths)
            assert_steps(&got, "rest>0{counted>1{BigReal64>2}}");
        else
            ck_assert_str_eq(got.shapes[0].unreadable,
                             "no other branch has the lengths of its arrays: double*");
    }
}

/* "T *x[2]; //[n]": a byte for both arrays. Without their length, the end of the first one is not known. */
INTERPRET_TEST(several_arrays_of_one_length)
{
    struct nt_streamer_element arrays =
        ELEMENT("double*", .type = NT_STREAMER_DOUBLE + NT_STREAMER_OFFSET_P, .counter = TEXT("n"),
                .length = 2, .dimension_count = 1, .dimensions = {2});
    struct example example = member_example(&arrays, 0);
    example.branches[0].counter = 0;
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:array[2]{item:list>0{item:real64>1}}");
    assert_steps(&got, "counted*2>0{BigReal64>1}");
    ck_assert_uint_eq(got.lengths, 1);
}

/* The record of a member's branch names the class that has the member. */
INTERPRET_TEST(the_type_of_a_member_is_its_own)
{
    struct nt_streamer_element tracks = ELEMENT("vector<Track>", .type = NT_STREAMER_STL),
                               base = ELEMENT("BASE", .type = NT_STREAMER_BASE), unknown = tracks;
    struct example example = member_example(&tracks, NT_BRANCH_COLLECTION);
    example.branches[0].leaf_count = 0;
    ck_assert(nt_text_is(interpret(&example, 0).shapes[0].type, "vector<Track>"));
    example = member_example(&base, NT_BRANCH_BASE);
    example.branches[0].leaf_count = 0;
    ck_assert(nt_text_is(interpret(&example, 0).shapes[0].type, "x"));
    example = member_example(&unknown, NT_BRANCH_OBJECT);
    example.branches[0].leaf_count = 0;
    example.branches[0].object_class = (struct nt_text)TEXT("Other");
    ck_assert_uint_eq(interpret(&example, 0).shapes[0].type.length, 0);
    example.branches[0].id = -1;
    ck_assert(nt_text_is(interpret(&example, 0).shapes[0].type, "Other"));
}

/* "T *x; //[n]", if baskets do not say where entries begin: by n of the same object, although the record
 * names a member of another one. */
INTERPRET_TEST(an_array_without_offsets_has_its_length_in_another_branch)
{
    struct nt_streamer_element array =
        ELEMENT("double*", .type = NT_STREAMER_DOUBLE + NT_STREAMER_OFFSET_P, .counter = TEXT("n"));
    struct example example = member_example(&array, 0);
    example.branches[2] = example.branches[1] = example.branches[0];
    example.branches[0].name = example.branches[1].name = (struct nt_text)TEXT("obj.n");
    example.branches[0].parent = 7;
    example.branches[2].counter = 0;
    struct nt_interpretation got = interpret(&example, 2);
    assert_steps(&got, "skip rest>0{BigReal64>1}");
    example.branches[2].io_features = 1;
    got = interpret(&example, 2);
    assert_shapes(&got, "obj.x:list>0{item:real64>1}");
    assert_steps(&got, "counted>0{BigReal64>1}");
    ck_assert_uint_eq(got.lengths, 2);
    example.branches[0].parent = NT_NONE; /* a member of a base class */
    example.branches[0].object_class = (struct nt_text)TEXT("Base");
    ck_assert_uint_eq(interpret(&example, 2).lengths, 2);
    example.branches[1].name = (struct nt_text)TEXT("obj.m"); /* which is the only one */
    ck_assert_uint_eq(interpret(&example, 2).lengths, 1);
}

INTERPRET_TEST(collections_have_counts)
{
    struct nt_streamer_element element = ELEMENT("vector<Track>", .type = NT_STREAMER_STL);
    struct example example = member_example(&element, NT_BRANCH_COLLECTION);
    example.leaves[0].name = (struct nt_text)TEXT("x_");
    example.branches[1] = example.branches[0];
    example.branches[1].parent = 0;
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x_:int32>0");
    assert_steps(&got, "BigInt32>0");
    ck_assert_int_eq(got.count_by, NT_COUNT_BY_ENTRIES);
    example.branches[1].parent = NT_NONE; /* its items have no members */
    got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:int32>0"); /* uproot names it so: METAssoc_AnalysisMET of an ATLAS file */
}

INTERPRET_TEST(lists_are_counted_by_bytes)
{
    struct nt_streamer_element element = ELEMENT("vector<double>", .type = NT_STREAMER_STL);
    struct example example = member_example(&element, 0);
    struct nt_interpretation got = interpret(&example, 0);
    ck_assert_int_eq(got.count_by, NT_COUNT_BY_BYTES);
    ck_assert_uint_eq(got.item_bytes, 8);
    ck_assert_uint_eq(got.header_bytes, 10);
    ck_assert_uint_eq(got.outputs[0].fixed_items, 1);
    ck_assert_uint_eq(got.outputs[1].fixed_items, 0);
    element = ELEMENT("float*", .type = NT_STREAMER_FLOAT + NT_STREAMER_OFFSET_P, .counter = TEXT("n"));
    example = member_example(&element, 0);
    got = interpret(&example, 0);
    ck_assert_int_eq(got.count_by, NT_COUNT_BY_BYTES);
    ck_assert_uint_eq(got.item_bytes, 4);
    ck_assert_uint_eq(got.header_bytes, 1);
    element = ELEMENT("vector<string>", .type = NT_STREAMER_STL);
    example = member_example(&element, 0);
    ck_assert_int_eq(interpret(&example, 0).count_by, NT_COUNT_BY_CONTENT);
}

INTERPRET_TEST(a_member_is_found_by_its_name)
{
    struct nt_streamer_element elements[] = {
        {.name = TEXT("ax"), .type_name = TEXT("int"), .type = NT_STREAMER_INT},
        {.name = TEXT("x"), .type_name = TEXT("vector<float>"), .type = NT_STREAMER_STL}};
    struct example example = member_example(&elements[1], 0);
    example.classes[0].elements = elements;
    example.classes[0].element_count = 2;
    example.branches[0].id = 0; /* of another version of the class */
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list>0{item:real32>1}");
}

static struct nt_streamer_element point_members[] = {
    {.name = TEXT("px"), .type_name = TEXT("double"), .type = NT_STREAMER_DOUBLE},
    {.name = TEXT("label"), .type_name = TEXT("string"), .type = NT_STREAMER_STL_STRING},
};

/* A base class without members that are split has the name of the object's branch. */
INTERPRET_TEST(a_member_of_another_name_is_found_in_the_same_version)
{
    struct nt_streamer_element element = ELEMENT("BASE", .type = NT_STREAMER_BASE, .base_version = 2);
    struct example example = member_example(&element, 0);
    example.classes[1] = (struct nt_streamer_class){
        .name = TEXT("Point"), .version = 2, .elements = point_members, .element_count = 2};
    element.name = (struct nt_text)TEXT("Point");
    example.branches[0].checksum = example.classes[0].checksum = 7;
    assert_shapes_of(&example, "obj.x:record{px:real64>0 label:string>1}");
    example.branches[0].streamer_type = NT_STREAMER_INT;
    assert_unreadable(&example, "the file does not describe the class x");
    example.branches[0].streamer_type = NT_STREAMER_BASE;
    example.branches[0].checksum = 8;
    assert_unreadable(&example, "the file does not describe the class x");
}

/* Base classes of items have no headers, and one member of all items follows the other. */
INTERPRET_TEST(base_classes_of_items_are_stored_by_members)
{
    static struct nt_streamer_element dot_members[] = {
        {.name = TEXT("TObject"), .type_name = TEXT("BASE"), .type = NT_STREAMER_TOBJECT, .base_version = 1},
        {.name = TEXT("n"), .type_name = TEXT("int"), .type = NT_STREAMER_INT}};
    struct nt_streamer_element element = ELEMENT("BASE", .type = NT_STREAMER_BASE, .base_version = 2);
    struct example example = member_example(&element, NT_BRANCH_CLONES_MEMBER);
    example.classes[1] = (struct nt_streamer_class){
        .name = TEXT("Dot"), .version = 2, .elements = dot_members, .element_count = 2};
    element.name = (struct nt_text)TEXT("Dot");
    example.branches[0].checksum = example.classes[0].checksum = 7;
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list>0{item:record{fUniqueID:uint32>1 fBits:uint32>2 n:int32>3}}");
    assert_steps(&got, "rest.members>0{repeat{skip*2 BigUInt32>1 BigUInt32#1>2 when*16#1{skip*2}} "
                       "BigInt32>3}");
    example.classes[1].elements = point_members;
    assert_unreadable(&example, "the items of a base class in a collection have no fixed size: Dot");
    example.classes[1].name = (struct nt_text)TEXT("Other");
    assert_unreadable(&example, "the file does not describe the class Dot");
}

/* Base classes with streamers of their own have their headers in any form. */
INTERPRET_TEST(base_classes_of_items_may_have_streamers_of_their_own)
{
    static const struct {
        struct nt_text name;
        int32_t type;
        const char *steps;
    } rows[] = {
        {TEXT("TObject"), NT_STREAMER_TOBJECT, "rest>0{header{BigUInt32>1 BigUInt32#1>2 when*16#1{skip*2}}}"},
        {TEXT("TNamed"), NT_STREAMER_TNAMED,
         "rest>0{header{header{BigUInt32>1 BigUInt32#1>2 when*16#1{skip*2}} string>3 string>5}}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct nt_streamer_element element = ELEMENT("BASE", .type = rows[i].type);
        struct example example = member_example(&element, NT_BRANCH_CLONES_MEMBER);
        element.name = rows[i].name;
        example.branches[0].checksum = example.classes[0].checksum = 7;
        struct nt_interpretation got = interpret(&example, 0);
        assert_steps(&got, rows[i].steps);
    }
}

INTERPRET_TEST(a_member_without_description_is_that_of_its_leaf)
{
    struct nt_streamer_element element = ELEMENT("float", .type = NT_STREAMER_FLOAT + NT_STREAMER_OFFSET_L);
    struct example example = member_example(&element, 0);
    example.classes[0].element_count = 0;
    example.leaves[0].title = (struct nt_text)TEXT("x[3]");
    example.leaves[0].length = 3;
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:array[3]{item:real32>0}");
    example.leaves[0] = (struct nt_ttree_leaf){.name = TEXT("x"),
                                               .title = TEXT("x"),
                                               .class_name = TEXT("TLeafElement"),
                                               .type = NT_STREAMER_TSTRING,
                                               .length = 1,
                                               .counter = NT_NONE};
    got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:string>0");
    assert_steps(&got, "string>0");
    example.leaves[0].type = NT_STREAMER_STL;
    assert_unreadable(&example, "the file does not describe the branch's member in class Event");
}

/* ---- Objects ---- */

static struct nt_streamer_element hit_members[] = {
    {.name = TEXT("TObject"), .type_name = TEXT("BASE"), .type = NT_STREAMER_TOBJECT, .base_version = 1},
    {.name = TEXT("Point"), .type_name = TEXT("BASE"), .type = NT_STREAMER_BASE, .base_version = 2},
    {.name = TEXT("n"), .type_name = TEXT("int"), .type = NT_STREAMER_COUNTER},
    {.name = TEXT("q"),
     .type_name = TEXT("float*"),
     .type = NT_STREAMER_FLOAT + NT_STREAMER_OFFSET_P,
     .counter = TEXT("n")},
};

static void add_hit(struct example *example, uint32_t number)
{
    example->classes[number] = (struct nt_streamer_class){
        .name = TEXT("Point"), .version = 2, .elements = point_members, .element_count = 2};
    example->classes[number + 1] = (struct nt_streamer_class){
        .name = TEXT("Hit"), .version = 3, .elements = hit_members, .element_count = 4, .checksum = 0x1234};
}

static void assert_object(struct nt_streamer_element element, const char *shapes, const char *steps)
{
    struct example example = member_example(&element, 0);
    add_hit(&example, 1);
    struct nt_interpretation got = interpret(&example, 0);
    if (shapes)
        assert_shapes(&got, shapes);
    assert_steps(&got, steps);
}

#define TOBJECT_STEPS "header{BigUInt32>0 BigUInt32#1>1 when*16#1{skip*2}}"

INTERPRET_TEST(objects_are_records_of_members_and_base_classes)
{
    assert_object(ELEMENT("Point", .type = NT_STREAMER_ANY), "obj.x:record{px:real64>0 label:string>1}",
                  "headerv2{BigReal64>0 header{string>1}}");
    assert_object(ELEMENT("TObject", .type = NT_STREAMER_TOBJECT),
                  "obj.x:record{fUniqueID:uint32>0 fBits:uint32>1}", TOBJECT_STEPS);
    assert_object(ELEMENT("Hit*", .type = NT_STREAMER_OBJECT_P_FULL),
                  "obj.x:record{fUniqueID:uint32>0 fBits:uint32>1 px:real64>2 label:string>3 n:uint32>5 "
                  "q:list>6{item:real32>7}}",
                  "headerv3{" TOBJECT_STEPS " headerv2{BigReal64>2 header{string>3}} BigUInt32#2>5 "
                  "counted#2>6{BigReal32>7}}");
}

/* One member of all items after the other: base classes have no header, but a TObject has. */
INTERPRET_TEST(collections_of_objects_may_be_stored_by_members)
{
    assert_object(ELEMENT("vector<Hit>", .type = NT_STREAMER_STL), NULL,
                  "header{list>0{headerv3{header{BigUInt32>1 BigUInt32#1>2 when*16#1{skip*2}} "
                  "headerv2{BigReal64>3 header{string>4}} BigUInt32#2>6 counted#2>7{BigReal32>8}}}|"
                  "classv3 members>0{header{BigUInt32>1 BigUInt32#1>2 when*16#1{skip*2}} "
                  "BigReal64>3 header.shared{string>4} BigUInt32#2>6 counted#2>7{BigReal32>8}}}");
    /* ... but not for collections of collections. */
    assert_object(ELEMENT("vector<vector<Point> >", .type = NT_STREAMER_STL), NULL,
                  "header{list>0{list>1{headerv2{BigReal64>2 header{string>3}}}}}");
    assert_object(ELEMENT("vector<Point>", .type = NT_STREAMER_STL + NT_STREAMER_OFFSET_L, .length = 2,
                          .dimension_count = 1, .dimensions = {2}),
                  NULL,
                  "header{repeat*2{list>0{headerv2{BigReal64>1 header{string>2}}}}|"
                  "classv2 repeat*2{members>0{BigReal64>1 header.shared{string>2}}}}");
}

/* As DataVector<T> in files of ATLAS: one header, as a vector has it. */
INTERPRET_TEST(classes_may_be_collections)
{
    struct nt_streamer_element this = {.name = TEXT("This"),
                                       .type_name = TEXT("Bag<Point>"),
                                       .title = TEXT("<Point> Used to call the proper TStreamerInfo case"),
                                       .type = NT_STREAMER_STL,
                                       .stl_type = 1};
    struct nt_streamer_element element = ELEMENT("Bag<Point>", .type = NT_STREAMER_ANY);
    struct example example = member_example(&element, 0);
    static const char *const steps = "header{list>0{headerv2{BigReal64>1 header{string>2}}}|"
                                     "classv2 members>0{BigReal64>1 header.shared{string>2}}}";
    add_hit(&example, 1);
    example.classes[3] = (struct nt_streamer_class){
        .name = TEXT("Bag<Point>"), .version = 1, .elements = &this, .element_count = 1};
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list>0{item:record{px:real64>1 label:string>2}}");
    assert_steps(&got, steps);
    element.type = NT_STREAMER_STL;
    got = interpret(&example, 0);
    assert_steps(&got, steps);
    this.title = (struct nt_text)TEXT("<pair<const int,Point> > Used to call the proper case");
    this.stl_type = 4;
    assert_shapes_of(&example,
                     "obj.x:list(map)>0{item:record{0:int32>1 1:record{px:real64>2 label:string>3}}}");
    this.title = (struct nt_text)TEXT("<Bag<Point> > Used to call the proper case");
    this.stl_type = 1;
    got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list>0{item:unreadable}");
    ck_assert_str_eq(got.shapes[1].unreadable, "objects of class Bag<Point> contain objects of this class");
}

INTERPRET_TEST(pointers_and_unknown_objects_are_skipped)
{
    struct nt_streamer_element members[] = {
        {.name = TEXT("p"), .type_name = TEXT("TObject*"), .type = NT_STREAMER_OBJECT_P},
        {.name = TEXT("a"), .type_name = TEXT("Alien"), .type = NT_STREAMER_ANY},
        {.name = TEXT("v"),
         .type_name = TEXT("vector<Alien>"),
         .type = NT_STREAMER_STL,
         .content_type = NT_STREAMER_OBJECT},
        {.name = TEXT("s"), .type_name = TEXT("Secret"), .type = NT_STREAMER_STREAMER},
        {.name = TEXT("l"), .type_name = TEXT("TBtree"), .type = NT_STREAMER_OBJECT},
        {.name = TEXT("i"), .type_name = TEXT("int"), .type = NT_STREAMER_INT},
    };
    static const struct nt_text none = {0};
    struct nt_streamer_element element = ELEMENT("Mixed", .type = NT_STREAMER_ANY);
    struct example example = member_example(&element, 0);
    example.classes[1] = (struct nt_streamer_class){
        .name = TEXT("Mixed"), .version = 1, .elements = members, .element_count = COUNT_OF(members)};
    example.branches[0].samples = &none; /* the baskets have no objects */
    example.branches[0].sample_count = 1;
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:record{p:optional>0{item:unreadable} a:unreadable v:list>1{item:unreadable} "
                        "s:unreadable l:unreadable i:int32>2}");
    assert_steps(&got, "headerv1{pointer{case.any>0} header.sized header{list>1|class members>1} "
                       "header.sized header.sized BigInt32>2}");
    ck_assert_str_eq(got.shapes[2].unreadable,
                     "the first baskets have no object, which would name its class");
    ck_assert_str_eq(got.shapes[3].unreadable, "the file does not describe the class Alien");
    ck_assert_str_eq(got.shapes[6].unreadable, "the member has a custom streamer");
    ck_assert_str_eq(got.shapes[7].unreadable, "how this class stores its objects is not known");
}

/* Whether there is an object is shown nevertheless. */
INTERPRET_TEST(pointers_beyond_the_limits_have_no_objects)
{
    enum { TOO_MANY = 4096 };
    static struct nt_streamer_element number[TOO_MANY];
    struct nt_streamer_element element = ELEMENT("Wide*", .type = NT_STREAMER_OBJECT_P);
    struct example example = member_example(&element, 0);
    for (size_t i = 0; i < COUNT_OF(number); i++)
        number[i] = (struct nt_streamer_element){
            .name = TEXT("n"), .type_name = TEXT("int"), .type = NT_STREAMER_INT};
    example.classes[1] = (struct nt_streamer_class){
        .name = TEXT("Wide"), .version = 1, .elements = number, .element_count = COUNT_OF(number)};
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:optional>0{item:unreadable}");
    ck_assert_str_eq(got.shapes[1].unreadable,
                     "the branch has too many members to read the objects of its pointers and lists");
}

INTERPRET_TEST(pointers_to_numbers_have_no_bytes)
{
    struct nt_streamer_element element = ELEMENT("vector<const double*>", .type = NT_STREAMER_STL);
    struct example example = member_example(&element, 0);
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list>0{item:unreadable}");
    ck_assert_str_eq(got.shapes[1].unreadable, "ROOT does not store pointers to numbers");
    assert_steps(&got, "header{list>0}");
}

/* Where no other class is derived from theirs, and they do not contain themselves. */
INTERPRET_TEST(objects_of_pointers_are_read_where_they_have_one_class)
{
    struct nt_streamer_element number[] = {
        {.name = TEXT("n"), .type_name = TEXT("int"), .type = NT_STREAMER_INT}};
    struct nt_streamer_element node[] = {
        {.name = TEXT("next"), .type_name = TEXT("Node*"), .type = NT_STREAMER_OBJECT_P},
        {.name = TEXT("last"), .type_name = TEXT("const Last*"), .type = NT_STREAMER_ANY_P}};
    struct nt_streamer_element element = ELEMENT("vector<Node*>", .type = NT_STREAMER_STL);
    struct example example = member_example(&element, 0);
    example.classes[1] = (struct nt_streamer_class){
        .name = TEXT("Node"), .version = 1, .elements = node, .element_count = COUNT_OF(node)};
    example.classes[2] = (struct nt_streamer_class){
        .name = TEXT("Last"), .version = 3, .elements = number, .element_count = 1};
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list>0{item:optional>1{item:record{next:optional>2{item:unreadable} "
                        "last:optional>3{item:record{n:int32>4}}}}}");
    assert_steps(&got, "header{list>0{pointer{case>1{headerv1{pointer{case.any>2} "
                       "pointer{case>3{headerv3{BigInt32>4}}}}}}}}");
    ck_assert_str_eq(got.shapes[4].unreadable, "objects of class Node contain objects of this class");
    example.classes[2].is_base = true; /* then the data say which classes there are */
    got = interpret(&example, 0);
    assert_steps(&got, "header{list>0{pointer{case>1{headerv1{pointer{case.any>2} pointer>3}}}}}");
    ck_assert_uint_eq(got.sample, 4);
}

/* Where the data have objects of several classes, there is an optional for each. */
INTERPRET_TEST(objects_of_pointers_are_of_the_classes_that_the_data_name)
{
    struct nt_streamer_element number[] = {
        {.name = TEXT("n"), .type_name = TEXT("int"), .type = NT_STREAMER_INT}};
    static const struct nt_text names[] = {TEXT("Dot\nAlien"), TEXT("Dot")};
    struct nt_streamer_element element = ELEMENT("vector<TObject*>", .type = NT_STREAMER_STL);
    struct example example = member_example(&element, 0);
    example.classes[1] =
        (struct nt_streamer_class){.name = TEXT("Dot"), .version = 2, .elements = number, .element_count = 1};
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list>0{item:string>1}");
    assert_steps(&got, "header{list>0{pointer>1}}");
    ck_assert_uint_eq(got.sample, 2);
    ck_assert(got.samples_several);
    example.branches[0].samples = names;
    example.branches[0].sample_count = 1;
    got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list>0{item:record{Dot:optional>1{item:record{n:int32>2}} "
                        "Alien:optional>3{item:unreadable}}}");
    assert_steps(&got, "header{list>0{pointer{case>1{headerv2{BigInt32>2}} case>3}}}");
    ck_assert_uint_eq(got.sample, 0);
    ck_assert(nt_text_is(got.class_names[1], "Alien"));
    example.branches[0].samples = &names[1];
    got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list>0{item:optional>1{item:record{n:int32>2}}}");
}

INTERPRET_TEST(lists_of_objects_hold_pointers)
{
    struct nt_streamer_element number[] = {
        {.name = TEXT("n"), .type_name = TEXT("int"), .type = NT_STREAMER_INT}};
    static const struct nt_text dot = TEXT("Dot"), none = {0};
    static const char *const forms[][2] = {{"TObjArray", "array"}, {"TList", "list"}, {"THashList", "list"}};
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        char steps[200];
        struct nt_streamer_element element = {.type = NT_STREAMER_OBJECT,
                                              .type_name = nt_text_of(forms[i][0])};
        struct example example = member_example(&element, 0);
        example.classes[1] = (struct nt_streamer_class){
            .name = TEXT("Dot"), .version = 2, .elements = number, .element_count = 1};
        example.branches[0].samples = &dot;
        example.branches[0].sample_count = 1;
        struct nt_interpretation got = interpret(&example, 0);
        assert_shapes(&got, "obj.x:list>0{item:optional>1{item:record{n:int32>2}}}");
        snprintf(steps, sizeof(steps),
                 "header{header{skip*4 BigUInt32#1 when*16#1{skip*2}} string "
                 "objects.%s>0{pointer{case>1{headerv2{BigInt32>2}}}}}",
                 forms[i][1]);
        assert_steps(&got, steps);
        example.branches[0].samples = &none; /* empty lists have a length */
        assert_shapes_of(&example, "obj.x:list>0{item:optional>1{item:unreadable}}");
    }
}

INTERPRET_TEST(maps_of_objects_hold_pairs_of_pointers)
{
    struct nt_streamer_element number[] = {
        {.name = TEXT("n"), .type_name = TEXT("int"), .type = NT_STREAMER_INT}};
    static const struct nt_text names[] = {TEXT("Dot"), {0}};
    struct nt_streamer_element element = ELEMENT("TMap", .type = NT_STREAMER_OBJECT);
    struct example example = member_example(&element, 0);
    example.classes[1] =
        (struct nt_streamer_class){.name = TEXT("Dot"), .version = 2, .elements = number, .element_count = 1};
    example.branches[0].samples = names;
    example.branches[0].sample_count = COUNT_OF(names);
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list>0{item:record{0:optional>1{item:record{n:int32>2}} "
                        "1:optional>3{item:unreadable}}}");
    assert_steps(&got, "header{header{skip*4 BigUInt32#1 when*16#1{skip*2}} string "
                       "objects.map>0{pointer{case>1{headerv2{BigInt32>2}}} pointer{case.any>3}}}");
}

/* The class of its objects is a text of the data, which is read first. */
INTERPRET_TEST(a_clones_array_is_a_list_once_its_class_is_known)
{
    struct nt_streamer_element number[] = {
        {.name = TEXT("n"), .type_name = TEXT("int"), .type = NT_STREAMER_INT}};
    static const struct nt_text names[] = {TEXT("Dot;2"), TEXT("Dot;1"), TEXT("")};
    static const char *const head = "header{header{skip*4 BigUInt32#1 when*16#1{skip*2}} string ";
    struct nt_streamer_element element = ELEMENT("TClonesArray", .type = NT_STREAMER_OBJECT);
    struct example example = member_example(&element, 0);
    char steps[200];
    example.classes[1] =
        (struct nt_streamer_class){.name = TEXT("Dot"), .version = 2, .elements = number, .element_count = 1};
    struct nt_interpretation got = interpret(&example, 0);
    snprintf(steps, sizeof(steps), "%sstring>0}", head);
    assert_shapes(&got, "obj.x:string>0");
    assert_steps(&got, steps);
    ck_assert_uint_eq(got.sample, 1);
    example.branches[0].samples = names;
    example.branches[0].sample_count = 1;
    got = interpret(&example, 0);
    snprintf(steps, sizeof(steps), "%sclones#1>0{headerv2{BigInt32>1}|BigInt32>1}}", head);
    assert_shapes(&got, "obj.x:list>0{item:record{n:int32>1}}");
    assert_steps(&got, steps);
    ck_assert_uint_eq(got.sample, 0);
    ck_assert(nt_text_is(got.class_names[0], "Dot;2"));
    for (unsigned i = 1; i < COUNT_OF(names); i++) {
        static const char *const reasons[] = {"the file does not describe version 1 of class Dot",
                                              "the first baskets have no object, which would name its class"};
        example.branches[0].samples = &names[i];
        got = interpret(&example, 0);
        snprintf(steps, sizeof(steps), "%sclones.any#1>0}", head);
        assert_shapes(&got, "obj.x:list>0{item:unreadable}");
        assert_steps(&got, steps);
        ck_assert_str_eq(got.shapes[1].unreadable, reasons[i - 1]);
    }
}

/* Its template's arguments are the members. */
INTERPRET_TEST(a_pair_need_not_be_described)
{
    struct nt_streamer_element element = ELEMENT("pair<int,double>", .type = NT_STREAMER_ANY);
    struct example example = member_example(&element, 0);
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:record{first:int32>0 second:real64>1}");
    assert_steps(&got, "header{BigInt32>0 BigReal64>1}");
}

/* A file describes the classes of its objects only. Other instances of the template say what the members of
 * an object would be, if they all agree; an object is refused. */
INTERPRET_TEST(instances_of_a_template_describe_each_other)
{
    struct nt_streamer_element key[] = {
        {.name = TEXT("key"), .type_name = TEXT("unsigned int"), .type = NT_STREAMER_UINT}};
    struct nt_streamer_element index[] = {
        {.name = TEXT("key"), .type_name = TEXT("int"), .type = NT_STREAMER_INT}};
    struct nt_streamer_element element = ELEMENT("vector<Link<C> >", .type = NT_STREAMER_STL);
    struct example example = member_example(&element, 0);
    example.classes[1] = (struct nt_streamer_class){
        .name = TEXT("Link<A>"), .version = 1, .elements = key, .element_count = 1};
    assert_shapes_of(&example, "obj.x:list>0{item:unreadable}"); /* one instance alone proves nothing */
    example.classes[2] = (struct nt_streamer_class){
        .name = TEXT("Link<A>"), .version = 2, .elements = key, .element_count = 1};
    assert_shapes_of(&example, "obj.x:list>0{item:unreadable}"); /* nor do its versions */
    example.classes[2] = (struct nt_streamer_class){
        .name = TEXT("Link<B>"), .version = 1, .elements = key, .element_count = 1};
    assert_shapes_of(&example, "obj.x:list>0{item:record{key:uint32>1}}");
    struct nt_interpretation got = interpret(&example, 0);
    assert_steps(&got, "header{list>0{headerv-2{BigUInt32>1}}|class members.empty>0{BigUInt32>1}}");
    example.classes[2].elements = index;
    assert_shapes_of(&example, "obj.x:list>0{item:unreadable}");
}

/* The description of its items has the basic type. */
INTERPRET_TEST(keys_and_values_of_maps_may_be_enumerations)
{
    static const struct nt_text no_key = {0};
    struct nt_streamer_element members[] = {
        {.name = TEXT("first"), .type_name = TEXT("Color"), .type = NT_STREAMER_INT},
        {.name = TEXT("second"),
         .type_name = TEXT("vector<Shade>"),
         .type = NT_STREAMER_STL,
         .content_type = NT_STREAMER_INT},
    };
    struct nt_streamer_element element = ELEMENT("map<Color,vector<Shade> >", .type = NT_STREAMER_STL);
    struct example example = member_example(&element, 0);
    example.branches[0].samples = &no_key;
    example.branches[0].sample_count = 1;
    assert_shapes_of(&example, "obj.x:list(map)>0{item:unreadable}");
    example.classes[1] = (struct nt_streamer_class){
        .name = TEXT("pair<Color,vector<Shade> >"), .version = 1, .elements = members, .element_count = 2};
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list(map)>0{item:record{0:int32>1 1:list>2{item:int32>3}}}");
    assert_steps(&got, "header{list>0{BigInt32>1 list>2{BigInt32>3}}|class members>0{BigInt32>1 "
                       "header.shared{list>2{BigInt32>3}}}}");
}

/* The key may be an enumeration, which has no header: the first baskets tell. If they do not, the map skips
 * its items. */
INTERPRET_TEST(maps_of_unknown_types_are_skipped)
{
    static const struct nt_text samples[] = {TEXT("int"), {0}};
    struct nt_streamer_element members[] = {
        {.name = TEXT("m"), .type_name = TEXT("map<Color,int>"), .type = NT_STREAMER_STL},
        {.name = TEXT("i"), .type_name = TEXT("int"), .type = NT_STREAMER_INT},
    };
    struct nt_streamer_element element = ELEMENT("Mixed", .type = NT_STREAMER_ANY);
    struct example example = member_example(&element, 0);
    example.classes[1] = (struct nt_streamer_class){
        .name = TEXT("Mixed"), .version = 1, .elements = members, .element_count = 2};
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:record{m:list(map)>0{item:record{0:int32>1 1:int32>2}} i:int32>3}");
    ck_assert_uint_eq(got.sample, 2);
    example.branches[0].sample_count = 1;
    example.branches[0].samples = samples;
    got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:record{m:list(map)>0{item:record{0:int32>1 1:int32>2}} i:int32>3}");
    ck_assert_uint_eq(got.sample, 0);
    example.branches[0].samples = &samples[1];
    got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:record{m:list(map)>0{item:unreadable} i:int32>1}");
    assert_steps(&got, "headerv1{header{list>0|class members>0} BigInt32>1}");
    ck_assert_str_eq(got.shapes[2].unreadable, "the file does not describe the class Color");
}

INTERPRET_TEST(base_classes_whose_members_have_the_names_of_others_are_records)
{
    struct nt_streamer_element members[] = {
        {.name = TEXT("Point"), .type_name = TEXT("BASE"), .type = NT_STREAMER_BASE, .base_version = 2},
        {.name = TEXT("px"), .type_name = TEXT("int"), .type = NT_STREAMER_INT},
    };
    struct nt_streamer_element element = ELEMENT("Twice", .type = NT_STREAMER_ANY);
    struct example example = member_example(&element, 0);
    add_hit(&example, 1);
    example.classes[3] = (struct nt_streamer_class){
        .name = TEXT("Twice"), .version = 1, .elements = members, .element_count = 2};
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:record{Point:record{px:real64>0 label:string>1} px:int32>3}");
}

INTERPRET_TEST(arrays_of_objects_have_one_header)
{
    struct nt_streamer_element members[] = {
        {.name = TEXT("n"), .type_name = TEXT("int"), .type = NT_STREAMER_COUNTER},
        {.name = TEXT("p"),
         .type_name = TEXT("Point*"),
         .type = NT_STREAMER_STREAM_LOOP,
         .counter = TEXT("n")},
        {.name = TEXT("e"),
         .type_name = TEXT("Empty*"),
         .type = NT_STREAMER_STREAM_LOOP,
         .counter = TEXT("n")},
    };
    struct nt_streamer_element element = ELEMENT("Loop", .type = NT_STREAMER_ANY);
    struct example example = member_example(&element, 0);
    add_hit(&example, 1);
    example.classes[3] = (struct nt_streamer_class){
        .name = TEXT("Loop"), .version = 1, .elements = members, .element_count = 3};
    example.classes[4] = (struct nt_streamer_class){.name = TEXT("Empty"), .version = 1};
    struct nt_interpretation got = interpret(&example, 0);
    assert_steps(&got,
                 "headerv1{BigUInt32#1>0 header{counted.bare#1>1{headerv2{BigReal64>2 header{string>3}}}} "
                 "header{counted.bare#1>5}}");
}

/* "Point *x[2]; //[n]" and "Point **x; //[n]": one header, and no byte. Until ROOT 5.15/08, the latter has
 * objects instead of pointers. */
INTERPRET_TEST(arrays_of_objects_of_a_split_object)
{
    static const struct {
        uint32_t length, version;
        const char *type, *shapes, *steps;
    } rows[] = {
        {2, 0, "Point*", "obj.x:array[2]{item:list>0{item:record{px:real64>1 label:string>2}}}",
         "header{counted.bare*2>0{headerv2{BigReal64>1 header{string>2}}}}"},
        {0, 51508, "Point**", "obj.x:list>0{item:record{px:real64>1 label:string>2}}",
         "header{rest>0{headerv2{BigReal64>1 header{string>2}}}}"},
        {0, 51509, "Point**", "obj.x:list>0{item:optional>1{item:record{px:real64>2 label:string>3}}}",
         "header{rest>0{pointer{case>1{headerv2{BigReal64>2 header{string>3}}}}}}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool is_array = rows[i].length;
        struct nt_streamer_element element = {.type_name = nt_text_of(rows[i].type),
                                              .type = NT_STREAMER_STREAM_LOOP +
                                                      (is_array ? NT_STREAMER_OFFSET_L : 0),
                                              .counter = TEXT("n"),
                                              .length = rows[i].length,
                                              .dimension_count = is_array,
                                              .dimensions = {rows[i].length}};
        struct example example = member_example(&element, 0);
        add_hit(&example, 1);
        example.info.root_version = rows[i].version;
        example.branches[1] = example.branches[0];
        example.branches[0].name = (struct nt_text)TEXT("obj.n");
        struct nt_interpretation got = interpret(&example, 1);
        assert_shapes(&got, rows[i].shapes);
        assert_steps(&got, rows[i].steps);
        ck_assert_uint_eq(got.lengths, is_array);
    }
}

INTERPRET_TEST(classes_with_streamers_of_their_own)
{
    assert_object(ELEMENT("TArrayI", .type = NT_STREAMER_ANY), "obj.x:list>0{item:int32>1}",
                  "list>0{BigInt32>1}");
    assert_object(ELEMENT("TDatime", .type = NT_STREAMER_ANY), "obj.x:record{fDatime:uint32>0}",
                  "BigUInt32>0");
    assert_object(ELEMENT("TNamed", .type = NT_STREAMER_TNAMED),
                  "obj.x:record{fUniqueID:uint32>0 fBits:uint32>1 fName:string>2 fTitle:string>4}",
                  "header{" TOBJECT_STEPS " string>2 string>4}");
    /* A TObject is followed by the number of a process, or a string if bit 5 is set. */
    assert_object(ELEMENT("TRef", .type = NT_STREAMER_OBJECT), "obj.x:record{ref:uint32>0 fBits:uint32>1}",
                  "header{BigUInt32>0 BigUInt32#1>1 when*16#1{skip*2} when*32#1{string|skip*2}}");
    assert_object(ELEMENT("TRefArray", .type = NT_STREAMER_OBJECT), NULL,
                  "header{" TOBJECT_STEPS " string>2 BigInt32#2>4 BigInt32>5 skip*2 "
                  "counted.bare#2>6{BigUInt32>7}}");
}

#define MATRIX_STEPS                                                                                         \
    "headerv5{header{BigUInt32>1 BigUInt32#1>2 when*16#1{skip*2}} BigInt32#2>3 BigReal64>4} "                \
    "counted.bare.triangle#2>5{BigReal64>6}"

static struct nt_streamer_element matrix_members[] = {
    {.name = TEXT("TObject"), .type_name = TEXT("BASE"), .type = NT_STREAMER_TOBJECT},
    {.name = TEXT("fNrows"), .type_name = TEXT("int"), .type = NT_STREAMER_INT},
    {.name = TEXT("fTol"), .type_name = TEXT("double"), .type = NT_STREAMER_DOUBLE},
};

static const struct nt_streamer_class matrix_base = {
    .name = TEXT("TMatrixTBase<double>"), .version = 5, .elements = matrix_members, .element_count = 3};

INTERPRET_TEST(a_symmetric_matrix_stores_a_triangle)
{
    struct nt_streamer_element element = ELEMENT("TMatrixTSym<double>", .type = NT_STREAMER_OBJECT);
    struct example example = member_example(&element, 0);
    example.classes[1] = matrix_base;
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:record{fUniqueID:uint32>0 fBits:uint32>1 fNrows:int32>2 fTol:real64>3 "
                        "fElements:list>4{item:real64>5}}");
    assert_steps(&got, "headerv5{" TOBJECT_STEPS
                       " BigInt32#2>2 BigReal64>3} counted.bare.triangle#2>4{BigReal64>5}");
}

/* The triangle follows the header of the same matrix, not those of all. */
INTERPRET_TEST(matrices_of_all_items_are_stored_one_after_the_other)
{
    struct nt_streamer_element element = ELEMENT("vector<Fit>", .type = NT_STREAMER_STL);
    struct nt_streamer_element members[] = {
        {.name = TEXT("m"), .type_name = TEXT("TMatrixTSym<double>"), .type = NT_STREAMER_OBJECT},
        {.name = TEXT("n"), .type_name = TEXT("int"), .type = NT_STREAMER_INT},
    };
    struct example example = member_example(&element, 0);
    example.classes[1] = matrix_base;
    example.classes[2] = (struct nt_streamer_class){
        .name = TEXT("Fit"), .version = 1, .elements = members, .element_count = COUNT_OF(members)};
    struct nt_interpretation got = interpret(&example, 0);
    assert_steps(&got, "header{list>0{headerv1{" MATRIX_STEPS " BigInt32>7}}|"
                       "classv1 members>0{repeat{" MATRIX_STEPS "} BigInt32>7}}");
}

/* ---- Whole objects ---- */

static struct example whole_example(const char *class_name, int32_t type)
{
    struct example example = {.branches = {{.name = TEXT("x"),
                                            .class_name = TEXT("TBranchElement"),
                                            .object_class = nt_text_of(class_name),
                                            .class_version = 2,
                                            .type = type,
                                            .id = -1,
                                            .streamer_type = -1,
                                            .parent = NT_NONE,
                                            .counter = NT_NONE,
                                            .leaf_count = 1}},
                              .leaves = {{.name = TEXT("x"),
                                          .title = TEXT("x"),
                                          .class_name = TEXT("TLeafElement"),
                                          .type = -1,
                                          .length = 1,
                                          .counter = NT_NONE}}};
    add_hit(&example, 0);
    return example;
}

INTERPRET_TEST(unsplit_objects_have_no_header_unless_their_streamer_is_their_own)
{
    struct example example = whole_example("Point", 0);
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x:record{px:real64>0 label:string>1}");
    assert_steps(&got, "BigReal64>0 header{string>1}");
    example = whole_example("Point", -1);
    got = interpret(&example, 0);
    assert_steps(&got, "headerv2{BigReal64>0 header{string>1}}");
    example = whole_example("pair<int,float>", 0);
    got = interpret(&example, 0);
    assert_shapes(&got, "x:record{first:int32>0 second:real32>1}");
    assert_steps(&got, "BigInt32>0 BigReal32>1");
}

INTERPRET_TEST(unsplit_collections_have_headers_and_strings_none)
{
    struct example example = whole_example("string", -1);
    struct nt_interpretation got = interpret(&example, 0);
    assert_steps(&got, "string>0");
    example = whole_example("vector<float>", 0);
    got = interpret(&example, 0);
    assert_steps(&got, "header{list>0{BigReal32>1}}");
    example = whole_example("Alien", 0);
    assert_unreadable(&example, "the file does not describe the class Alien");
}

/* The description of the collection has the basic type of its items. */
INTERPRET_TEST(whole_collections_of_enumerations)
{
    struct nt_streamer_element this = {.name = TEXT("This"),
                                       .type_name = TEXT("vector<Color>"),
                                       .type = NT_STREAMER_STL,
                                       .content_type = NT_STREAMER_INT};
    struct example example = whole_example("vector<Color>", 0);
    example.branches[0].samples = &(struct nt_text){0};
    example.branches[0].sample_count = 1;
    assert_shapes_of(&example, "x:list>0{item:unreadable}");
    example.classes[2] = (struct nt_streamer_class){
        .name = TEXT("vector<Color>"), .version = 6, .elements = &this, .element_count = 1};
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x:list>0{item:int32>1}");
    assert_steps(&got, "header{list>0{BigInt32>1}}");
}

/* Nothing describes those in other collections: the first baskets tell. */
INTERPRET_TEST(nested_collections_of_enumerations_are_numbers_if_their_bytes_are)
{
    static const struct nt_text samples[] = {TEXT("int"), {0}};
    struct example example = whole_example("vector<list<Color> >", 0);
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x:list>0{item:list>1{item:int32>2}}");
    ck_assert_uint_eq(got.sample, 3);
    example.branches[0].sample_count = 1;
    example.branches[0].samples = &samples[1];
    assert_shapes_of(&example, "x:list>0{item:list>1{item:unreadable}}");
    example.branches[0].samples = samples;
    got = interpret(&example, 0);
    assert_shapes(&got, "x:list>0{item:list>1{item:int32>2}}");
    assert_steps(&got, "header{list>0{list>1{BigInt32>2}}}");
    ck_assert_uint_eq(got.sample, 0);
    example = whole_example("vector<list<Box<int> > >", 0); /* no enumeration */
    assert_shapes_of(&example, "x:list>0{item:list>1{item:unreadable}}");
}

/* ROOT may store int nevertheless. */
INTERPRET_TEST(collections_of_enumerations_have_the_described_type_if_their_bytes_do)
{
    static const struct nt_text samples[] = {TEXT("int"), {0}};
    struct nt_streamer_element element =
        ELEMENT("vector<Color>", .type = NT_STREAMER_STL, .content_type = NT_STREAMER_SHORT);
    struct example example = member_example(&element, 0);
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:list>0{item:int16>1}");
    ck_assert_uint_eq(got.sample, 2);
    example.branches[0].sample_count = 1;
    example.branches[0].samples = samples;
    assert_shapes_of(&example, "obj.x:list>0{item:int16>1}");
    example.branches[0].samples = &samples[1];
    assert_shapes_of(&example, "obj.x:list>0{item:int32>1}");
}

/* The level that its description has is not shown. */
INTERPRET_TEST(a_std_array_is_the_array_that_it_holds)
{
    struct nt_streamer_element numbers[] = {{.name = TEXT("_M_elems"),
                                             .type_name = TEXT("float"),
                                             .type = NT_STREAMER_OFFSET_L + NT_STREAMER_FLOAT,
                                             .length = 3,
                                             .dimension_count = 1,
                                             .dimensions = {3}}};
    struct example example = whole_example("vector<array<float,3> >", 0);
    example.classes[2] = (struct nt_streamer_class){
        .name = TEXT("array<float,3>"), .version = 1, .elements = numbers, .element_count = 1};
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x:list>0{item:array[3]{item:real32>1}}");
    assert_steps(&got, "header{list>0{headerv1{BigReal32*3>1}}|classv1 members>0{BigReal32*3>1}}");
}

INTERPRET_TEST(objects_of_old_branches_follow_the_name_of_their_class)
{
    struct example example = whole_example("Point", 0);
    example.branches[0].class_name = (struct nt_text)TEXT("TBranchObject");
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x:record{px:real64>0 label:string>1}");
    assert_steps(&got, "name(Point) headerv2{BigReal64>0 header{string>1}}");
}

/* The first entry says which of the derived classes. */
INTERPRET_TEST(objects_of_old_branches_may_be_of_a_derived_class)
{
    static const struct nt_text samples[] = {TEXT("Point"), {0}};
    struct example example = whole_example("Shape", 0);
    example.branches[0].class_name = (struct nt_text)TEXT("TBranchObject");
    example.classes[2] = (struct nt_streamer_class){.name = TEXT("Shape"), .version = 1};
    struct nt_interpretation got = interpret(&example, 0);
    assert_steps(&got, "name(Shape) headerv1");
    example.classes[2].is_base = true;
    nt_ttree_interpret(&example.tree, 0, arena, &got, &error);
    ck_assert_uint_eq(got.sample, 1);
    assert_steps(&got, "string>0 skip header.sized");
    example.branches[0].sample_count = 1;
    example.branches[0].samples = samples;
    got = interpret(&example, 0);
    assert_shapes(&got, "x:record{px:real64>0 label:string>1}");
    assert_steps(&got, "name(Point) headerv2{BigReal64>0 header{string>1}}");
    example.branches[0].samples = &samples[1];
    got = interpret(&example, 0);
    assert_steps(&got, "name(Shape) headerv1");
}

/* The branch has the name that the program gave; the entries and the description have that of the class. */
INTERPRET_TEST(typedefs_of_matrices_stand_for_the_class_that_the_file_describes)
{
    struct example example = whole_example("TMatrixD", 0);
    example.branches[0].class_name = (struct nt_text)TEXT("TBranchObject");
    assert_unreadable(&example, "the file does not describe the class TMatrixT<double>");
    example.classes[2] = matrix_base;
    example.classes[2].name = (struct nt_text)TEXT("TMatrixT<double>");
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x:record{fUniqueID:uint32>0 fBits:uint32>1 fNrows:int32>2 fTol:real64>3}");
    assert_steps(&got, "name(TMatrixT<double>) headerv5{" TOBJECT_STEPS " BigInt32>2 BigReal64>3}");
    example.classes[3] = matrix_base;
    example.classes[3].name = (struct nt_text)TEXT("TMatrixD"); /* as in ROOT 4 */
    got = interpret(&example, 0);
    assert_steps(&got, "name(TMatrixD) headerv5{" TOBJECT_STEPS " BigInt32>2 BigReal64>3}");
}

/* Its layout is known without its description, but ROOT streams it by that description. */
INTERPRET_TEST(unsplit_named_objects_have_no_header)
{
    struct example example = whole_example("TNamed", 0);
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "x:record{fUniqueID:uint32>0 fBits:uint32>1 fName:string>2 fTitle:string>4}");
    assert_steps(&got, TOBJECT_STEPS " string>2 string>4");
    example = whole_example("TRef", 0);
    got = interpret(&example, 0);
    assert_steps(&got, "header{BigUInt32>0 BigUInt32#1>1 when*16#1{skip*2} when*32#1{string|skip*2}}");
}

INTERPRET_TEST(classes_of_version_0_are_told_from_those_without_a_version)
{
    struct example example = whole_example("Point", -1);
    for (int32_t version = -1; version <= 0; version++) {
        example.classes[0].version = version;
        struct nt_interpretation got = interpret(&example, 0);
        ck_assert_int_eq(got.steps[0].version, version ? NT_STREAMER_NEWEST : NT_STREAMER_VERSION_0);
    }
}

INTERPRET_TEST(the_newest_version_stands_for_one_that_is_missing)
{
    struct example example = whole_example("Point", -1);
    example.classes[2] = example.classes[0];
    example.classes[2].version = 7;
    struct nt_interpretation got = interpret(&example, 0);
    assert_steps(&got, "headerv2{BigReal64>0 header{string>1}}");
    example.branches[0].class_version = 5;
    got = interpret(&example, 0);
    assert_steps(&got, "headerv7{BigReal64>0 header{string>1}}");
}

/* ---- Bounds ---- */

INTERPRET_TEST(classes_that_contain_themselves_end)
{
    struct nt_streamer_element members[] = {
        {.name = TEXT("children"), .type_name = TEXT("vector<Node>"), .type = NT_STREAMER_STL},
        {.name = TEXT("i"), .type_name = TEXT("int"), .type = NT_STREAMER_INT},
    };
    struct nt_streamer_element element = ELEMENT("Node", .type = NT_STREAMER_ANY);
    struct example example = member_example(&element, 0);
    example.classes[1] = (struct nt_streamer_class){
        .name = TEXT("Node"), .version = 1, .elements = members, .element_count = 2};
    struct nt_interpretation got = interpret(&example, 0);
    assert_shapes(&got, "obj.x:record{children:list>0{item:unreadable} i:int32>1}");
    ck_assert_str_eq(got.shapes[2].unreadable, "objects of class Node contain objects of this class");
}

INTERPRET_TEST(nested_classes_are_bounded)
{
    enum { DEPTH = 30, NAME = 16 };
    static char names[DEPTH + 1][NAME];
    struct nt_streamer_element members[DEPTH];
    struct nt_streamer_element element = ELEMENT("C0", .type = NT_STREAMER_ANY);
    struct example example = member_example(&element, 0);
    for (int i = 0; i <= DEPTH; i++)
        snprintf(names[i], NAME, "C%d", i);
    for (int i = 0; i < DEPTH; i++) {
        members[i] = (struct nt_streamer_element){
            .name = TEXT("m"), .type_name = nt_text_of(names[i + 1]), .type = NT_STREAMER_ANY};
        example.classes[i + 1] = (struct nt_streamer_class){
            .name = nt_text_of(names[i]), .version = 1, .elements = &members[i], .element_count = 1};
    }
    assert_unreadable(&example, "objects are nested deeper than 16 classes: C16");
}

INTERPRET_TEST(members_are_bounded)
{
    enum { MEMBERS = 5000 };
    static struct nt_streamer_element members[MEMBERS];
    struct nt_streamer_element element = ELEMENT("Large", .type = NT_STREAMER_ANY);
    struct example example = member_example(&element, 0);
    for (int i = 0; i < MEMBERS; i++)
        members[i] = (struct nt_streamer_element){
            .name = TEXT("m"), .type_name = TEXT("int"), .type = NT_STREAMER_INT};
    example.classes[1] = (struct nt_streamer_class){
        .name = TEXT("Large"), .version = 1, .elements = members, .element_count = MEMBERS};
    assert_unreadable(&example, "the type has more than 4096 members and items");
}

/* The limit is met at each of the components of a TRefArray. */
INTERPRET_TEST(members_with_counters_are_bounded)
{
    enum { NUMBERS = 3000, MEMBERS = NUMBERS + 200, COMPONENTS = 11 };
    static struct nt_streamer_element members[MEMBERS];
    for (int numbers = 0; numbers < COMPONENTS; numbers++) {
        struct nt_streamer_element element = ELEMENT("Large", .type = NT_STREAMER_ANY);
        struct example example = member_example(&element, 0);
        for (int i = 0; i < MEMBERS; i++)
            members[i] = i < NUMBERS + numbers ? (struct nt_streamer_element){.name = TEXT("m"),
                                                                              .type_name = TEXT("int"),
                                                                              .type = NT_STREAMER_INT}
                                               : (struct nt_streamer_element){.name = TEXT("m"),
                                                                              .type_name = TEXT("TRefArray"),
                                                                              .type = NT_STREAMER_ANY};
        example.classes[1] = (struct nt_streamer_class){
            .name = TEXT("Large"), .version = 1, .elements = members, .element_count = MEMBERS};
        assert_unreadable(&example, "the type has more than 4096 members and items");
    }
}

INTERPRET_TEST(large_arrays_are_bounded)
{
    assert_member(ELEMENT("int", .type = NT_STREAMER_INT + NT_STREAMER_OFFSET_L, .length = INT32_MAX,
                          .dimension_count = 1, .dimensions = {INT32_MAX}),
                  0, "obj.x:array[2147483647]{item:int32>0}", "BigInt32*2147483647>0");
    struct nt_streamer_element element =
        ELEMENT("int", .type = NT_STREAMER_INT + NT_STREAMER_OFFSET_L, .length = UINT32_MAX,
                .dimension_count = 2, .dimensions = {UINT32_MAX, UINT32_MAX});
    struct example example = member_example(&element, 0);
    assert_unreadable(&example, "cannot read arrays of more than 2147483647 items");
}

INTERPRET_TEST(a_missing_counter_is_reported)
{
    struct nt_streamer_element members[] = {{.name = TEXT("q"),
                                             .type_name = TEXT("float*"),
                                             .type = NT_STREAMER_FLOAT + NT_STREAMER_OFFSET_P,
                                             .counter = TEXT("n")}};
    struct nt_streamer_element element = ELEMENT("Odd", .type = NT_STREAMER_ANY);
    struct example example = member_example(&element, 0);
    example.classes[1] = (struct nt_streamer_class){
        .name = TEXT("Odd"), .version = 1, .elements = members, .element_count = 1};
    assert_unreadable(&example, "the member n, which stores the length of an array, is missing");
}
