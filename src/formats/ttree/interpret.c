/* SPDX-License-Identifier: MIT
 *
 * What a branch stores: from its leaves, and the class or member that a TBranchElement is of.
 */
#include "formats/ttree/interpret.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/text.h"

struct interpreter {
    const struct nt_ttree *tree;
    const struct nt_ttree_branch *branch;
    const struct nt_ttree_leaf *leaves;
    struct nt_component_builder builder;
    bool is_entry; /* an object without a header of its own */
};

/* ---- Branches without own data ---- */

static enum nt_status make_only_shape(const struct nt_ttree_branch *branch, enum nt_ttree_shape_kind kind,
                                      struct nt_text type, const char *reason, struct nt_arena *arena,
                                      struct nt_interpretation *interpretation, struct nt_error *error)
{
    struct nt_ttree_shape *shape = nt_arena_alloc(arena, 1, sizeof(*shape));
    struct nt_step *steps = nt_arena_alloc(arena, 1, sizeof(*steps));
    struct nt_output *outputs = nt_arena_alloc(arena, 1, sizeof(*outputs));
    if (!shape || !steps || !outputs)
        return nt_fail_memory(error);
    *shape = (struct nt_ttree_shape){.kind = kind,
                                     .name = branch->name,
                                     .type = type,
                                     .parent = NT_NONE,
                                     .output = NT_NONE,
                                     .unreadable = reason};
    *interpretation =
        (struct nt_interpretation){.shapes = shape, .shape_count = 1, .steps = steps, .outputs = outputs};
    return NT_OK;
}

static bool has_counts(const struct nt_ttree_branch *branch)
{
    return branch->type == NT_BRANCH_CLONES || branch->type == NT_BRANCH_COLLECTION;
}

static bool is_element(const struct nt_ttree_branch *branch)
{
    return nt_text_is(branch->class_name, "TBranchElement");
}

/* ---- Leaves ---- */

static const struct leaf_class {
    const char *name;
    int32_t type, unsigned_type;
    const char *type_name, *unsigned_name;
} leaf_classes[] = {
    {"TLeafB", NT_STREAMER_CHAR, NT_STREAMER_UCHAR, "Char_t", "UChar_t"},
    {"TLeafS", NT_STREAMER_SHORT, NT_STREAMER_USHORT, "Short_t", "UShort_t"},
    {"TLeafI", NT_STREAMER_INT, NT_STREAMER_UINT, "Int_t", "UInt_t"},
    {"TLeafL", NT_STREAMER_LONG64, NT_STREAMER_ULONG64, "Long64_t", "ULong64_t"},
    {"TLeafG", NT_STREAMER_LONG, NT_STREAMER_ULONG, "Long_t", "ULong_t"},
    {"TLeafF", NT_STREAMER_FLOAT, NT_STREAMER_FLOAT, "Float_t", "Float_t"},
    {"TLeafD", NT_STREAMER_DOUBLE, NT_STREAMER_DOUBLE, "Double_t", "Double_t"},
    {"TLeafO", NT_STREAMER_BOOL, NT_STREAMER_BOOL, "Bool_t", "Bool_t"},
    {"TLeafF16", NT_STREAMER_FLOAT16, NT_STREAMER_FLOAT16, "Float16_t", "Float16_t"},
    {"TLeafD32", NT_STREAMER_DOUBLE32, NT_STREAMER_DOUBLE32, "Double32_t", "Double32_t"},
};

static const struct leaf_class *find_leaf_class(struct nt_text name)
{
    for (size_t i = 0; i < sizeof(leaf_classes) / sizeof(*leaf_classes); i++)
        if (nt_text_is(name, leaf_classes[i].name))
            return &leaf_classes[i];
    return NULL;
}

/* The numbers of an entry, or of one item of a counted leaf. */
static enum nt_status add_leaf_numbers(struct nt_component_builder *builder, const struct nt_ttree_leaf *leaf,
                                       struct nt_text name, struct nt_error *error)
{
    const struct leaf_class *class = find_leaf_class(leaf->class_name);
    struct nt_dimensions dimensions = nt_title_dimensions(leaf->title, leaf->length);
    uint32_t opened[NT_STREAMER_DIMENSIONS];
    if (!class)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read leaves of class %.*s",
                       FORMAT_TEXT(leaf->class_name));
    struct nt_text type = nt_text_of(leaf->is_unsigned ? class->unsigned_name : class->type_name);
    enum nt_status status =
        nt_component_open_arrays(builder, &dimensions, &name, type, NT_COMPONENT_BARE, opened, error);
    if (status == NT_OK)
        status = nt_component_add_number(
            builder, name, type, leaf->is_unsigned ? class->unsigned_type : class->type, leaf->title, error);
    if (status == NT_OK)
        nt_component_close_arrays(builder, &dimensions, opened);
    return status;
}

static enum nt_status open_list(struct nt_component_builder *builder, struct nt_text name,
                                struct nt_text type, enum nt_component_kind kind, uint8_t counter,
                                uint32_t *index_ret, struct nt_error *error)
{
    return nt_component_open(
        builder,
        &(struct nt_component){
            .kind = kind, .name = name, .type = type, .counter = counter, .version = NT_STREAMER_NEWEST},
        index_ret, error);
}

/* A counted leaf fills the rest of the entry, or is as long as a leaf before it in the entry says. */
static enum nt_status add_counted_leaf(struct interpreter *interpreter, const struct nt_ttree_leaf *leaf,
                                       struct nt_text name, uint32_t first, struct nt_error *error)
{
    struct nt_component_builder *builder = &interpreter->builder;
    const struct leaf_class *class = find_leaf_class(leaf->class_name);
    const struct nt_ttree_leaf *counter = &interpreter->tree->leaves[leaf->counter];
    struct nt_text type = nt_text_of(!class              ? ""
                                     : leaf->is_unsigned ? class->unsigned_name
                                                         : class->type_name);
    bool is_here = counter->branch == leaf->branch && counter < leaf;
    bool is_last = leaf == interpreter->leaves + interpreter->branch->leaf_count - 1;
    uint8_t number = 0;
    uint32_t index = 0;
    enum nt_status status = NT_OK;
    if (is_here)
        status = nt_component_count_by(builder, first, counter->name, &number, error);
    else if (!is_last)
        status = nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                         "cannot read a leaf after one whose length is in another branch: %.*s",
                         FORMAT_TEXT(leaf->name));
    if (status == NT_OK)
        status = open_list(builder, name, type, is_here ? NT_COMPONENT_COUNTED : NT_COMPONENT_REST, number,
                           &index, error);
    if (status != NT_OK)
        return status;
    status = add_leaf_numbers(builder, leaf, nt_item_name, error);
    nt_component_close(builder, index);
    return status;
}

static enum nt_status add_leaf(struct interpreter *interpreter, const struct nt_ttree_leaf *leaf,
                               struct nt_text name, uint32_t first, struct nt_error *error)
{
    struct nt_component_builder *builder = &interpreter->builder;
    if (nt_text_is(leaf->class_name, "TLeafC"))
        return nt_component_add(
            builder,
            &(struct nt_component){
                .kind = NT_COMPONENT_STRING, .name = name, .type = NT_TEXT("char*"), .length_bytes = 1},
            error);
    if (leaf->counter != NT_NONE && leaf->counter < interpreter->tree->leaf_count)
        return add_counted_leaf(interpreter, leaf, name, first, error);
    return add_leaf_numbers(builder, leaf, name, error);
}

/* Several leaves are a record; their values follow one another in each entry. */
static enum nt_status add_leaves(struct interpreter *interpreter, struct nt_error *error)
{
    struct nt_component_builder *builder = &interpreter->builder;
    const struct nt_ttree_branch *branch = interpreter->branch;
    uint32_t index = 0;
    if (branch->leaf_count == 1)
        return add_leaf(interpreter, interpreter->leaves, branch->name, 0, error);
    enum nt_status status = nt_component_open(builder,
                                              &(struct nt_component){.kind = NT_COMPONENT_RECORD,
                                                                     .name = branch->name,
                                                                     .type = branch->title,
                                                                     .version = NT_STREAMER_NEWEST},
                                              &index, error);
    for (uint32_t i = 0; status == NT_OK && i < branch->leaf_count; i++)
        status =
            add_leaf(interpreter, &interpreter->leaves[i], interpreter->leaves[i].name, index + 1, error);
    if (status == NT_OK)
        nt_component_close(builder, index);
    return status;
}

/* ---- Members of classes ---- */

/* The last component of a branch's name, without dimensions: "obj.fBase.fX[3]" is the member "fX". */
static bool is_named(struct nt_text branch_name, struct nt_text member)
{
    struct nt_text name = nt_cpp_without_dimensions(branch_name);
    if (name.length && name.bytes[name.length - 1] == '.')
        name.length--;
    if (name.length < member.length ||
        memcmp(name.bytes + name.length - member.length, member.bytes, member.length) != 0)
        return false;
    return name.length == member.length || name.bytes[name.length - member.length - 1] == '.';
}

/* The member that a branch is of: the element of its number, if the name fits; else the one of its name. */
static const struct nt_streamer_element *find_element(struct interpreter *interpreter)
{
    const struct nt_ttree_branch *branch = interpreter->branch;
    const struct nt_streamer_class *class = nt_component_find_class(
        &interpreter->builder, branch->object_class, branch->class_version, branch->checksum);
    if (!class)
        return NULL;
    if (branch->id >= 0 && (uint32_t)branch->id < class->element_count &&
        is_named(branch->name, class->elements[branch->id].name))
        return &class->elements[branch->id];
    for (uint32_t i = 0; i < class->element_count; i++)
        if (is_named(branch->name, class->elements[i].name))
            return &class->elements[i];
    return NULL;
}

/* A member whose class the file does not describe: a basic type by its number. */
static struct nt_streamer_element element_of_leaf(const struct interpreter *interpreter)
{
    const struct nt_ttree_leaf *leaf = interpreter->leaves;
    struct nt_dimensions dimensions = nt_title_dimensions(leaf->title, leaf->length);
    struct nt_streamer_element element = {.name = leaf->name,
                                          .type = leaf->type,
                                          .length = dimensions.count ? leaf->length : 0,
                                          .dimension_count = dimensions.count};
    memcpy(element.dimensions, dimensions.sizes, sizeof(element.dimensions));
    return element;
}

static bool is_pointer_array(int32_t type)
{
    return type > NT_STREAMER_OFFSET_P && type < NT_STREAMER_OBJECT;
}

/* An array whose length is in another branch: a byte, then numbers up to the end of the entry. */
static enum nt_status add_array_of_entry(struct interpreter *interpreter,
                                         const struct nt_streamer_element *element, struct nt_error *error)
{
    struct nt_component_builder *builder = &interpreter->builder;
    struct nt_text type = element->type_name;
    uint32_t index = 0;
    enum nt_status status =
        nt_component_add(builder, &(struct nt_component){.kind = NT_COMPONENT_SKIP, .count = 1}, error);
    if (status == NT_OK)
        status = open_list(builder, interpreter->branch->name, type, NT_COMPONENT_REST, 0, &index, error);
    if (status != NT_OK)
        return status;
    while (type.length && type.bytes[type.length - 1] == '*')
        type.length--;
    status = nt_component_add_number(builder, nt_item_name, type, element->type - NT_STREAMER_OFFSET_P,
                                     element->title, error);
    nt_component_close(builder, index);
    return status;
}

/* An array of objects whose length is in another branch: a header, then objects up to its end. */
static enum nt_status add_loop_of_entry(struct interpreter *interpreter,
                                        const struct nt_streamer_element *element, struct nt_error *error)
{
    struct nt_component_builder *builder = &interpreter->builder;
    struct nt_text type = element->type_name;
    uint32_t index = 0;
    enum nt_status status =
        open_list(builder, interpreter->branch->name, type, NT_COMPONENT_REST, 0, &index, error);
    if (status != NT_OK)
        return status;
    builder->components[index].header = NT_COMPONENT_SHARED;
    if (type.length && type.bytes[type.length - 1] == '*')
        type.length--;
    status = nt_component_add_type(builder, nt_item_name, type, NT_COMPONENT_BARE, 0, error);
    nt_component_close(builder, index);
    return status;
}

/* A member of the items of a split collection: as many as the collection has, to the end of the entry. */
static enum nt_status add_member_of_items(struct interpreter *interpreter,
                                          const struct nt_streamer_element *element, struct nt_error *error)
{
    struct nt_component_builder *builder = &interpreter->builder;
    uint32_t index = 0;
    if (is_pointer_array(element->type) || element->type == NT_STREAMER_STREAM_LOOP)
        return nt_fail(
            error, NT_UNSUPPORTED, NT_NO_OFFSET,
            "cannot read arrays in the items of a collection whose lengths are in another branch: %.*s",
            FORMAT_TEXT(element->type_name));
    enum nt_status status = open_list(builder, interpreter->branch->name, element->type_name,
                                      NT_COMPONENT_REST, 0, &index, error);
    if (status == NT_OK)
        status = nt_component_add_element(builder, element, nt_item_name, builder->count, error);
    if (status != NT_OK)
        return status;
    nt_component_close(builder, index);
    const struct nt_component *item = &builder->components[index + 1];
    if (item->kind == NT_COMPONENT_UNKNOWN && item->header == NT_COMPONENT_SHARED)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s", item->unreadable);
    return NT_OK;
}

static bool is_of_items(const struct nt_ttree_branch *branch)
{
    return branch->type == NT_BRANCH_CLONES_MEMBER || branch->type == NT_BRANCH_COLLECTION_MEMBER;
}

static enum nt_status add_member(struct interpreter *interpreter, struct nt_error *error)
{
    struct nt_component_builder *builder = &interpreter->builder;
    const struct nt_ttree_branch *branch = interpreter->branch;
    const struct nt_streamer_element *found = find_element(interpreter);
    const struct nt_streamer_element by_leaf = element_of_leaf(interpreter);
    const struct nt_streamer_element *element = found ? found : &by_leaf;
    if (!found && (by_leaf.type < 0 || by_leaf.type >= NT_STREAMER_OBJECT))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "the file does not describe the branch's member in class %.*s",
                       FORMAT_TEXT(branch->object_class));
    if (is_of_items(branch))
        return add_member_of_items(interpreter, element, error);
    if (is_pointer_array(element->type))
        return add_array_of_entry(interpreter, element, error);
    if (element->type == NT_STREAMER_STREAM_LOOP)
        return add_loop_of_entry(interpreter, element, error);
    return nt_component_add_element(builder, element, branch->name, 0, error);
}

/* ---- Whole objects ---- */

/* An object that is not split. Its class has a custom streamer if the type of the branch is negative;
 * otherwise its members have no header around them, as in a split object. */
static enum nt_status add_whole(struct interpreter *interpreter, struct nt_error *error)
{
    struct nt_component_builder *builder = &interpreter->builder;
    const struct nt_ttree_branch *branch = interpreter->branch;
    struct nt_cpp_type type = nt_cpp_type_parse(branch->object_class);
    enum nt_status status;
    if (type.kind == NT_CPP_STRING)
        return nt_component_add_type(builder, branch->name, branch->object_class, NT_COMPONENT_BARE, 0,
                                     error);
    if (type.kind == NT_CPP_CLASS)
        status = nt_component_add_object(builder, branch->name, branch->object_class, branch->class_version,
                                         branch->checksum, error);
    else
        status =
            nt_component_add_type(builder, branch->name, branch->object_class, NT_COMPONENT_SHARED, 0, error);
    if (status == NT_OK)
        interpreter->is_entry = branch->type >= 0 && builder->components[0].kind == NT_COMPONENT_RECORD &&
                                !nt_custom_is_known(branch->object_class);
    return status;
}

/* An object after the name of its class, with a byte for the length of the name and a zero at its end. */
static enum nt_status add_named_object(struct interpreter *interpreter, struct nt_error *error)
{
    struct nt_component_builder *builder = &interpreter->builder;
    const struct nt_ttree_branch *branch = interpreter->branch;
    enum nt_status status = nt_component_add(
        builder,
        &(struct nt_component){.kind = NT_COMPONENT_SKIP, .count = (uint32_t)branch->object_class.length + 2},
        error);
    return status == NT_OK ? nt_component_add_object(builder, branch->name, branch->object_class,
                                                     NT_STREAMER_NEWEST, 0, error)
                           : status;
}

static enum nt_status add_counts(struct interpreter *interpreter, struct nt_error *error)
{
    return nt_component_add_number(&interpreter->builder, interpreter->leaves[0].name, NT_TEXT("Int_t"),
                                   NT_STREAMER_INT, (struct nt_text){0}, error);
}

static enum nt_status add_parts(struct interpreter *interpreter, struct nt_error *error)
{
    const struct nt_ttree_branch *branch = interpreter->branch;
    if (is_element(branch)) {
        if (has_counts(branch))
            return add_counts(interpreter, error);
        return branch->id < 0 ? add_whole(interpreter, error) : add_member(interpreter, error);
    }
    if (nt_text_is(branch->class_name, "TBranchObject"))
        return add_named_object(interpreter, error);
    if (nt_text_is(branch->class_name, "TBranchRef"))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "cannot read the tree's table of references (TRefTable)");
    return add_leaves(interpreter, error);
}

/* ---- Results ---- */

/* A branch that has nothing to read in it is unreadable as a whole. */
static bool is_unreadable(const struct nt_component_builder *builder)
{
    for (uint32_t i = 0; i < builder->count; i++)
        if (builder->components[i].kind < NT_COMPONENT_POINTER &&
            builder->components[i].kind != NT_COMPONENT_RECORD &&
            builder->components[i].kind != NT_COMPONENT_ARRAY)
            return false;
    return true;
}

static const char *first_reason(const struct nt_component_builder *builder)
{
    for (uint32_t i = 0; i < builder->count; i++)
        if (builder->components[i].unreadable)
            return builder->components[i].unreadable;
    return NULL;
}

static enum nt_status make(struct interpreter *interpreter, struct nt_arena *arena,
                           struct nt_interpretation *interpretation, struct nt_error *error)
{
    enum nt_status status = add_parts(interpreter, error);
    const char *reason = first_reason(&interpreter->builder);
    if (status == NT_OK && reason && is_unreadable(&interpreter->builder))
        status = nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s", reason);
    return status == NT_OK ? nt_components_finish(&interpreter->builder, interpreter->is_entry, arena,
                                                  interpretation, error)
                           : status;
}

enum nt_status nt_ttree_interpret(const struct nt_ttree *tree, uint32_t branch, struct nt_arena *arena,
                                  struct nt_interpretation *interpretation_ret, struct nt_error *error)
{
    const struct nt_ttree_branch *row = &tree->branches[branch];
    struct interpreter interpreter = {.tree = tree,
                                      .branch = row,
                                      .leaves = tree->leaves + row->first_leaf,
                                      .builder = {.info = tree->info, .arena = arena}};
    struct nt_error mine = {0};
    *interpretation_ret = (struct nt_interpretation){0};
    bool holds_others = nt_ttree_has_branches(tree, branch) && !has_counts(row);
    if (row->leaf_count == 0 || holds_others)
        return make_only_shape(row, NT_SHAPE_RECORD, row->object_class, NULL, arena, interpretation_ret,
                               error);
    enum nt_status status = make(&interpreter, arena, interpretation_ret, &mine);
    free(interpreter.builder.components);
    if (status == NT_UNSUPPORTED) {
        const char *reason = nt_arena_copy(arena, mine.message, strlen(mine.message));
        return reason ? make_only_shape(row, NT_SHAPE_UNREADABLE, row->object_class, reason, arena,
                                        interpretation_ret, error)
                      : nt_fail_memory(error);
    }
    return status == NT_OK ? status : nt_fail_with(error, &mine);
}
