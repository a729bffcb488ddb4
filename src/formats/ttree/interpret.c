/* SPDX-License-Identifier: MIT
 *
 * What a branch stores: from its leaves, and the class or member that a TBranchElement is of.
 */
#include "formats/ttree/component.h"

struct interpreter {
    const struct nt_ttree *tree;
    const struct nt_ttree_branch *branch;
    const struct nt_ttree_leaf *leaves;
    struct nt_component_builder builder;
    bool is_entry;    /* an object without a header of its own */
    uint32_t lengths; /* the branch, + 1, that has the lengths of arrays; 0: none */
};

/* ---- Branches without own data ---- */

enum nt_status nt_ttree_make_only_shape(const struct nt_ttree_branch *branch, enum nt_ttree_shape_kind kind,
                                        struct nt_text type, const char *reason, struct nt_arena *arena,
                                        struct nt_interpretation *interpretation_ret, struct nt_error *error)
{
    struct nt_ttree_shape *shape = nt_arena_alloc(arena, 1, sizeof(*shape));
    struct nt_step *steps = nt_arena_alloc(arena, 1, sizeof(*steps));
    struct nt_output *outputs = nt_arena_alloc(arena, 1, sizeof(*outputs));
    NT_TRY(nt_check_memory(shape && steps && outputs, error));
    *shape = (struct nt_ttree_shape){.kind = kind,
                                     .name = branch->name,
                                     .type = type,
                                     .parent = NT_NONE,
                                     .output = NT_NONE,
                                     .unreadable = reason};
    *interpretation_ret =
        (struct nt_interpretation){.shapes = shape, .shape_count = 1, .steps = steps, .outputs = outputs};
    return NT_OK;
}

/* ROOT fills a plain branch and the branches below it one by one. The other branches that have branches
 * below them store no data, unless they count the items of a collection. */
static bool has_own_data(const struct nt_ttree_branch *branch)
{
    return nt_ttree_has_counts(branch) || (nt_text_is(branch->class_name, "TBranch") && branch->entries > 0);
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
static void add_leaf_numbers(struct nt_component_builder *builder, const struct nt_ttree_leaf *leaf,
                             struct nt_text name)
{
    const struct leaf_class *class = find_leaf_class(leaf->class_name);
    struct nt_dimensions dimensions = nt_title_dimensions(leaf->title, leaf->length);
    uint32_t opened[NT_STREAMER_DIMENSIONS];
    if (!class) {
        nt_component_fail(builder, "cannot read leaves of class %.*s", FORMAT_TEXT(leaf->class_name));
        return;
    }
    struct nt_text type = nt_text_of(leaf->is_unsigned ? class->unsigned_name : class->type_name);
    int32_t number = leaf->is_unsigned ? class->unsigned_type : class->type;
    nt_component_open_arrays(builder, &dimensions, &name, type, NT_COMPONENT_BARE, opened);
    nt_component_add_number(builder, name, type, number, leaf->title);
    nt_component_close_arrays(builder, &dimensions, opened);
}

/* A counted leaf fills the rest of the entry, or is as long as a leaf before it in the entry says. */
static void add_counted_leaf(struct interpreter *interpreter, const struct nt_ttree_leaf *leaf,
                             struct nt_text name, uint32_t first)
{
    struct nt_component_builder *builder = &interpreter->builder;
    const struct leaf_class *class = find_leaf_class(leaf->class_name);
    const struct nt_ttree_leaf *counter = &interpreter->tree->leaves[leaf->counter];
    struct nt_text type = nt_text_of(!class              ? ""
                                     : leaf->is_unsigned ? class->unsigned_name
                                                         : class->type_name);
    bool is_here = counter->branch == leaf->branch && counter < leaf;
    bool is_last = leaf == interpreter->leaves + interpreter->branch->leaf_count - 1;
    if (!is_here && !is_last)
        nt_component_fail(builder, "cannot read a leaf after one whose length is in another branch: %.*s",
                          FORMAT_TEXT(leaf->name));
    const struct nt_component list = {.kind = is_here ? NT_COMPONENT_COUNTED : NT_COMPONENT_REST,
                                      .name = name,
                                      .type = type,
                                      .counter =
                                          is_here ? nt_component_count_by(builder, first, counter->name) : 0};
    uint32_t index = nt_component_open(builder, &list);
    add_leaf_numbers(builder, leaf, nt_item_name);
    nt_component_close(builder, index);
}

static void add_leaf(struct interpreter *interpreter, const struct nt_ttree_leaf *leaf, struct nt_text name,
                     uint32_t first)
{
    struct nt_component_builder *builder = &interpreter->builder;
    if (nt_text_is(leaf->class_name, "TLeafC"))
        nt_component_add_string(builder, name, NT_TEXT("char*"), NT_COMPONENT_BARE, 1);
    else if (leaf->counter != NT_NONE && leaf->counter < interpreter->tree->leaf_count)
        add_counted_leaf(interpreter, leaf, name, first);
    else
        add_leaf_numbers(builder, leaf, name);
}

/* A single leaf beside sub-branches is one more member of the branch; else it is the branch. */
static struct nt_text name_of_leaf(const struct interpreter *interpreter)
{
    const struct nt_ttree *tree = interpreter->tree;
    bool is_member = nt_ttree_has_branches(tree, (uint32_t)(interpreter->branch - tree->branches));
    return is_member ? interpreter->leaves->name : interpreter->branch->name;
}

/* Several leaves are a record; their values follow one another in each entry. */
static void add_leaves(struct interpreter *interpreter)
{
    struct nt_component_builder *builder = &interpreter->builder;
    const struct nt_ttree_branch *branch = interpreter->branch;
    if (branch->leaf_count == 1) {
        add_leaf(interpreter, interpreter->leaves, name_of_leaf(interpreter), 0);
        return;
    }
    uint32_t index = nt_component_open(
        builder,
        &(struct nt_component){.kind = NT_COMPONENT_RECORD, .name = branch->name, .type = branch->title});
    for (uint32_t i = 0; builder->failure.status == NT_OK && i < branch->leaf_count; i++)
        add_leaf(interpreter, &interpreter->leaves[i], interpreter->leaves[i].name, index + 1);
    nt_component_close(builder, index);
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

/* The member that a branch is of: the element of its number, if the name fits; else the one of its name;
 * else, in the same version of the class, the one of its number and type. */
static const struct nt_streamer_element *find_element(struct nt_component_builder *builder,
                                                      const struct nt_ttree_branch *branch)
{
    const struct nt_streamer_class *class =
        nt_component_find_class(builder, branch->object_class, branch->class_version, branch->checksum);
    if (!class)
        return NULL;
    const struct nt_streamer_element *of_number =
        branch->id >= 0 && (uint32_t)branch->id < class->element_count ? &class->elements[branch->id] : NULL;
    if (of_number && is_named(branch->name, of_number->name))
        return of_number;
    for (uint32_t i = 0; i < class->element_count; i++)
        if (is_named(branch->name, class->elements[i].name))
            return &class->elements[i];
    bool is_same_class = branch->checksum && branch->checksum == class->checksum;
    return of_number && is_same_class && of_number->type == branch->streamer_type ? of_number : NULL;
}

/* A member whose class the file does not describe: a basic type or a TString by its number. */
static struct nt_streamer_element element_of_leaf(const struct interpreter *interpreter)
{
    const struct nt_ttree_leaf *leaf = interpreter->leaves;
    struct nt_dimensions dimensions = nt_title_dimensions(leaf->title, leaf->length);
    bool is_string = leaf->type == NT_STREAMER_TSTRING;
    struct nt_streamer_element element = {.name = leaf->name,
                                          .type = leaf->type,
                                          .type_name = is_string ? NT_TEXT("TString") : (struct nt_text){0},
                                          .length = dimensions.count ? leaf->length : 0,
                                          .dimension_count = dimensions.count};
    memcpy(element.dimensions, dimensions.sizes, sizeof(element.dimensions));
    return element;
}

/* A list to the end of the entry. */
static uint32_t open_rest(struct interpreter *interpreter, struct nt_text type,
                          enum nt_component_header header)
{
    return nt_component_open(&interpreter->builder, &(struct nt_component){.kind = NT_COMPONENT_REST,
                                                                           .header = header,
                                                                           .name = interpreter->branch->name,
                                                                           .type = type});
}

static bool is_of_items(const struct nt_ttree_branch *branch)
{
    return branch->type == NT_BRANCH_CLONES_MEMBER || branch->type == NT_BRANCH_COLLECTION_MEMBER;
}

/* Members of the same object and its base classes, or of the items of the same collection. */
static bool are_together(const struct nt_ttree_branch *branch, const struct nt_ttree_branch *other)
{
    return is_of_items(branch) ? other->counter == branch->counter : other->parent == branch->parent;
}

/* The branch that has the lengths of arrays: `recorded`, or an earlier one with the member's name at the end.
 * ROOT does not always record it (NT_NONE), or records that of another object. */
static uint32_t find_lengths(const struct interpreter *interpreter, uint32_t recorded, struct nt_text member)
{
    enum { MAX_DISTANCE = 4096 };
    const struct nt_ttree_branch *branch = interpreter->branch, *all = interpreter->tree->branches;
    struct nt_text name = nt_cpp_without_dimensions(branch->name);
    uint32_t i = (uint32_t)(branch - all), distance = 0;
    const char *point = name.length ? memrchr(name.bytes, '.', name.length) : NULL;
    name.length = point ? (size_t)(point - name.bytes) + 1 : 0;
    if (recorded != NT_NONE && nt_ttree_is_own_counter(branch, &all[recorded]))
        return recorded;
    while (member.length && i-- > 0 && distance++ < MAX_DISTANCE)
        if (are_together(branch, &all[i]) && all[i].name.length == name.length + member.length &&
            !memcmp(all[i].name.bytes, name.bytes, name.length) &&
            !memcmp(all[i].name.bytes + name.length, member.bytes, member.length))
            return i;
    return recorded;
}

/* Adds arrays whose lengths are the numbers of another branch, `counter` if the record says so. */
static void add_counted(struct interpreter *interpreter, const struct nt_streamer_element *element,
                        struct nt_text name, uint32_t counter)
{
    struct nt_component_builder *builder = &interpreter->builder;
    uint32_t branch = find_lengths(interpreter, counter, element->counter);
    if (branch == NT_NONE)
        nt_component_fail(builder, "no other branch has the lengths of its arrays: %.*s",
                          FORMAT_TEXT(element->type_name));
    interpreter->lengths = branch + 1;
    builder->has_lengths = true;
    nt_component_add_element(builder, element, name, builder->count);
}

/* An array whose length is in another branch: a byte, then numbers up to the end of the entry. */
static void add_array_of_entry(struct interpreter *interpreter, const struct nt_streamer_element *element)
{
    struct nt_component_builder *builder = &interpreter->builder;
    struct nt_text type = element->type_name;
    nt_component_add(builder, &(struct nt_component){.kind = NT_COMPONENT_SKIP, .count = 1});
    uint32_t index = open_rest(interpreter, type, NT_COMPONENT_BARE);
    while (type.length && type.bytes[type.length - 1] == '*')
        type.length--;
    nt_component_add_number(builder, nt_item_name, type, element->type - NT_STREAMER_OFFSET_P,
                            element->title);
    nt_component_close(builder, index);
}

/* An array of objects whose length is in another branch: a header, then objects up to its end. */
static void add_loop_of_entry(struct interpreter *interpreter, const struct nt_streamer_element *element)
{
    uint32_t index = open_rest(interpreter, element->type_name, NT_COMPONENT_SHARED);
    nt_component_add_loop_item(&interpreter->builder, element);
    nt_component_close(&interpreter->builder, index);
}

/* A member of the items of a split collection: as many as the collection has, to the end of the entry. */
static void add_member_of_items(struct interpreter *interpreter, const struct nt_streamer_element *element)
{
    struct nt_component_builder *builder = &interpreter->builder;
    if (nt_streamer_is_loop(element->type)) /* an item without objects has no bytes */
        nt_component_fail(builder,
                          "arrays of objects in the items of a collection do not say where items end: %.*s",
                          FORMAT_TEXT(element->type_name));
    uint32_t index = open_rest(interpreter, element->type_name, NT_COMPONENT_BARE);
    if (nt_streamer_is_counted(element->type))
        add_counted(interpreter, element, nt_item_name, interpreter->branch->second_counter);
    else
        nt_component_add_element(builder, element, nt_item_name, builder->count);
    nt_component_close(builder, index);
    if (builder->failure.status != NT_OK)
        return;
    const struct nt_component *item = &builder->components[index + 1];
    if (element->type == NT_STREAMER_BASE && item->kind == NT_COMPONENT_RECORD && !item->is_tobject)
        builder->components[index].bits = NT_REST_MEMBERS;
    if (item->kind == NT_COMPONENT_UNKNOWN && (item->header == NT_COMPONENT_SHARED || item->is_base))
        nt_component_fail(builder, "%s", item->unreadable);
}

static void add_member(struct interpreter *interpreter)
{
    struct nt_component_builder *builder = &interpreter->builder;
    const struct nt_ttree_branch *branch = interpreter->branch;
    const struct nt_streamer_element *found = find_element(builder, branch);
    const struct nt_streamer_element by_leaf = element_of_leaf(interpreter);
    const struct nt_streamer_element *element = found ? found : &by_leaf;
    bool is_array = nt_streamer_is_counted(element->type), is_loop = nt_streamer_is_loop(element->type);
    bool is_known = found || by_leaf.type == NT_STREAMER_TSTRING ||
                    (by_leaf.type >= 0 && by_leaf.type < NT_STREAMER_OBJECT);
    if (!is_known)
        nt_component_fail(builder, "the file does not describe the branch's member in class %.*s",
                          FORMAT_TEXT(branch->object_class));
    else if (is_of_items(branch))
        add_member_of_items(interpreter, element);
    else if (((is_array || is_loop) && element->length > 1) || /* where the first one ends is not known */
             (is_array && nt_ttree_generates_offsets(branch))) /* where an entry ends is not known */
        add_counted(interpreter, element, branch->name, branch->counter);
    else if (is_array)
        add_array_of_entry(interpreter, element);
    else if (is_loop)
        add_loop_of_entry(interpreter, element);
    else
        nt_component_add_element(builder, element, branch->name, 0);
}

/* ---- Whole objects ---- */

/* An object that is not split. Its class has a custom streamer if the type of the branch is negative;
 * otherwise its members have no header around them, as in a split object. */
static void add_whole(struct interpreter *interpreter)
{
    struct nt_component_builder *builder = &interpreter->builder;
    const struct nt_ttree_branch *branch = interpreter->branch;
    enum nt_cpp_kind kind = nt_cpp_type_parse(branch->object_class).kind;
    if (kind == NT_CPP_CLASS)
        nt_component_add_object(builder, branch->name, branch->object_class, branch->class_version,
                                branch->checksum);
    else
        nt_component_add_type(builder, branch->name, branch->object_class,
                              kind == NT_CPP_STRING ? NT_COMPONENT_BARE : NT_COMPONENT_SHARED, 0);
    if (builder->failure.status == NT_OK)
        interpreter->is_entry = branch->type >= 0 && builder->components[0].kind == NT_COMPONENT_RECORD &&
                                !nt_custom_has_streamer(branch->object_class);
}

/* The name of an object's class, which is looked for, and the object. */
static void add_sampled_name(struct nt_component_builder *builder, struct nt_text type)
{
    nt_component_add(builder,
                     &(struct nt_component){
                         .kind = NT_COMPONENT_STRING, .type = type, .length_bytes = 1, .is_sample = true});
    nt_component_add(builder, &(struct nt_component){.kind = NT_COMPONENT_SKIP, .count = 1});
    nt_component_add_unknown(builder, nt_item_name, type, NT_COMPONENT_OWN, "not looked at");
}

/* An object after the name of its class: that of the branch, or one that is derived from it. */
static void add_named_object(struct interpreter *interpreter)
{
    struct nt_component_builder *builder = &interpreter->builder;
    struct nt_text class_name = nt_component_class_name(builder, interpreter->branch->object_class),
                   sampled = {0};
    const struct nt_streamer_class *class =
        nt_component_find_class(builder, class_name, NT_STREAMER_NEWEST, 0);
    if (class && class->is_base && !nt_component_next_sample(builder, &sampled)) {
        add_sampled_name(builder, class_name);
        return;
    }
    if (sampled.length)
        class_name = sampled;
    nt_component_add(builder, &(struct nt_component){.kind = NT_COMPONENT_NAME, .class_name = class_name});
    nt_component_add_object(builder, interpreter->branch->name, class_name, NT_STREAMER_NEWEST, 0);
}

static void add_parts(struct interpreter *interpreter)
{
    struct nt_component_builder *builder = &interpreter->builder;
    const struct nt_ttree_branch *branch = interpreter->branch;
    if (is_element(branch) && nt_ttree_has_counts(branch))
        nt_component_add_number(builder, name_of_leaf(interpreter), NT_TEXT("Int_t"), NT_STREAMER_INT,
                                (struct nt_text){0});
    else if (is_element(branch) && branch->id < 0)
        add_whole(interpreter);
    else if (is_element(branch))
        add_member(interpreter);
    else if (nt_text_is(branch->class_name, "TBranchObject"))
        add_named_object(interpreter);
    else if (nt_text_is(branch->class_name, "TBranchRef"))
        nt_component_fail(builder, "cannot read the tree's table of references (TRefTable)");
    else
        add_leaves(interpreter);
}

/* ---- Types ---- */

/* The record of a branch names a class: its own, or, for a member, the class that has the member. */
struct nt_text nt_ttree_branch_type(const struct nt_ttree *tree, const struct nt_ttree_branch *branch)
{
    if (!is_element(branch) || branch->id < 0)
        return branch->object_class;
    const struct nt_streamer_element *element =
        find_element(&(struct nt_component_builder){.info = tree->info}, branch);
    if (!element)
        return (struct nt_text){0};
    return nt_streamer_is_base(element) ? element->name : element->type_name;
}

/* ---- Results ---- */

/* A branch that has nothing to read in it is unreadable as a whole. */
static bool is_unreadable(const struct nt_component_builder *builder)
{
    for (uint32_t i = 0; i < builder->count; i++)
        if (builder->components[i].kind < NT_COMPONENT_UNKNOWN &&
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

static void make_all(struct interpreter *interpreter, struct nt_interpretation *interpretation)
{
    struct nt_component_builder *builder = &interpreter->builder;
    *interpretation = (struct nt_interpretation){0};
    add_parts(interpreter);
    const char *reason = first_reason(builder);
    if (builder->failure.status == NT_OK && reason && is_unreadable(builder))
        nt_component_fail(builder, "%s", reason);
    if (builder->failure.status == NT_OK)
        nt_components_finish(builder, interpreter->is_entry, interpretation);
    interpretation->lengths = interpreter->lengths;
    free(builder->components);
}

/* Without the objects of pointers, all else may be within the limits. */
static bool has_reached_limit(const struct nt_component_builder *builder)
{
    return builder->failure.status == NT_UNSUPPORTED || builder->opened >= NT_COMPONENT_LIMIT ||
           builder->counter_count >= UINT8_MAX;
}

enum nt_status nt_ttree_interpret(const struct nt_ttree *tree, uint32_t branch, struct nt_arena *arena,
                                  struct nt_interpretation *interpretation_ret, struct nt_error *error)
{
    const struct nt_ttree_branch *row = &tree->branches[branch];
    struct interpreter interpreter = {
        .tree = tree,
        .branch = row,
        .leaves = tree->leaves + row->first_leaf,
        .builder = {
            .info = tree->info, .arena = arena, .samples = row->samples, .known_samples = row->sample_count}};
    struct nt_component_builder *builder = &interpreter.builder;
    if (row->leaf_count == 0 || (nt_ttree_has_branches(tree, branch) && !has_own_data(row)))
        return nt_ttree_make_only_shape(row, NT_SHAPE_RECORD, nt_ttree_branch_type(tree, row), NULL, arena,
                                        interpretation_ret, error);
    make_all(&interpreter, interpretation_ret);
    if (builder->has_extras && has_reached_limit(builder)) {
        *builder = (struct nt_component_builder){.info = tree->info, .arena = arena, .skips_extras = true};
        interpreter.is_entry = false;
        make_all(&interpreter, interpretation_ret);
    }
    if (builder->failure.status == NT_UNSUPPORTED) {
        const char *reason = nt_arena_copy(arena, builder->failure.message, strlen(builder->failure.message));
        NT_TRY(nt_check_memory(reason, error));
        return nt_ttree_make_only_shape(row, NT_SHAPE_UNREADABLE, nt_ttree_branch_type(tree, row), reason,
                                        arena, interpretation_ret, error);
    }
    return builder->failure.status == NT_OK ? NT_OK : nt_fail_copy(error, &builder->failure);
}
