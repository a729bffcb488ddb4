/* SPDX-License-Identifier: MIT
 *
 * The fields and columns of a tree: a branch is a field, at the path of the branches' names.
 */
#include "formats/ttree/ttree.h"

/* ---- Columns of both datasets ---- */

struct columns {
    struct nt_builder builder;
    const struct nt_ttree_map *map; /* has their branches */
    struct nt_ttree_column *items;
    size_t count, capacity;
    struct nt_error *error;
};

static const char *output_type(const struct nt_interpretation *interpretation, uint32_t output,
                               const struct nt_decoder *decoder)
{
    if (output == NT_OUTPUT_RAW)
        return "basket";
    if (interpretation->outputs[output].is_offsets)
        return "end offsets";
    return decoder->number_encoding == NT_ENCODING_BYTE ? "bytes"
                                                        : nt_encoding_info(decoder->number_encoding)->name;
}

static enum nt_status add_column(struct columns *columns, uint32_t field,
                                 struct nt_ttree_column column_source, uint32_t physical)
{
    const struct nt_interpretation *interpretation =
        &columns->map->branches[column_source.branch].interpretation;
    struct nt_decoder decoder;
    NT_AUTO_FREE void *state = NULL;
    NT_TRY(nt_check_memory(NT_GROW(columns->items, columns->count, columns->capacity), columns->error));
    columns->items[columns->count++] = column_source;
    NT_TRY(nt_basket_decoder(interpretation, column_source.output, &decoder, &state, columns->error));
    const struct nt_column column = {.id = columns->builder.column_count,
                                     .field = field,
                                     .type_name = output_type(interpretation, column_source.output, &decoder),
                                     .dtype = nt_element_dtype(decoder.element),
                                     .physical = physical};
    return nt_builder_add_column(&columns->builder, &column, &decoder, columns->error);
}

/* Moves the sources of all columns to the arena. */
static enum nt_status keep_columns(const struct columns *columns, struct nt_arena *arena,
                                   const struct nt_ttree_column **columns_ret)
{
    *columns_ret = (void *)nt_arena_copy(arena, columns->items, columns->count * sizeof(*columns->items));
    return nt_check_memory(*columns_ret, columns->error);
}

static void columns_deinit(struct columns *columns)
{
    nt_builder_deinit(&columns->builder);
    free(columns->items);
}

/* ---- Offsets that another branch counts ---- */

/* The branch with the number of items that each entry of a branch has; NT_NONE: the record names none. */
static uint32_t counting_branch(const struct nt_ttree *tree, const struct nt_ttree_branch *branch)
{
    if (branch->leaf_count && tree->leaves[branch->first_leaf].counter != NT_NONE)
        return tree->leaves[tree->leaves[branch->first_leaf].counter].branch;
    return branch->counter;
}

/* Writers may omit the offsets of entries if another branch has the number of items. */
static bool may_lack_offsets(const struct nt_ttree_branch *branch,
                             const struct nt_interpretation *interpretation)
{
    bool has_rest = interpretation->step_count && interpretation->steps[0].kind == NT_STEP_REST &&
                    interpretation->shapes[0].kind == NT_SHAPE_LIST &&
                    interpretation->count_by == NT_COUNT_BY_BYTES;
    return has_rest && (!branch->entry_offset_length || nt_ttree_generates_offsets(branch));
}

static bool is_one_integer(const struct nt_interpretation *interpretation)
{
    const struct nt_step *step = interpretation->steps;
    return interpretation->step_count == 1 && step->kind == NT_STEP_VALUES && step->count == 1 &&
           interpretation->outputs[step->output].element <= NT_ELEMENT_UINT64;
}

static enum nt_status add_counter(struct nt_dataset *dataset, struct nt_ttree_map *map, uint32_t branch,
                                  struct nt_error *error)
{
    struct nt_step *step = nt_arena_alloc(dataset->arena, 1, sizeof(*step));
    struct nt_output *output = nt_arena_alloc(dataset->arena, 1, sizeof(*output));
    NT_TRY(nt_check_memory(step && output, error));
    *step = map->branches[branch].interpretation.steps[0];
    step->kind = NT_STEP_COUNTER;
    step->output = 0;
    *output = (struct nt_output){.element = NT_ELEMENT_UINT64, .is_offsets = true, .fixed_items = 1};
    map->branches[branch].as_counter = map->branch_count;
    map->branches[map->branch_count++] = (struct nt_branch_map){
        .branch = branch,
        .as_counter = NT_NONE,
        .interpretation = {.steps = step,
                           .step_count = 1,
                           .outputs = output,
                           .output_count = 1,
                           .count_by = NT_COUNT_BY_CONTENT},
    };
    return NT_OK;
}

/* The map that has the end offsets of a branch's list: its own, or that of its counter. */
static enum nt_status find_offsets(struct nt_dataset *dataset, struct nt_ttree_map *map, uint32_t branch,
                                   uint32_t *map_ret, struct nt_error *error)
{
    const struct nt_ttree *tree = nt_ttree_of(dataset);
    uint32_t counter = counting_branch(tree, &tree->branches[branch]);
    *map_ret = branch;
    if (counter == NT_NONE ||
        !may_lack_offsets(&tree->branches[branch], &map->branches[branch].interpretation) ||
        !is_one_integer(&map->branches[counter].interpretation))
        return NT_OK;
    if (map->branches[counter].as_counter == NT_NONE)
        NT_TRY(add_counter(dataset, map, counter, error));
    *map_ret = map->branches[counter].as_counter;
    return NT_OK;
}

/* ---- Fields ---- */

/* A field that shows the items of an array: the same elements as the array's own. */
struct item_field {
    uint32_t field, array;
};

struct schema {
    struct columns columns;
    struct nt_dataset *dataset;
    struct nt_ttree *tree;
    uint32_t *fields; /* of the shapes of the branch that is being added */
    size_t field_capacity;
    struct item_field *items;
    size_t item_count, item_capacity;
    uint32_t physical_count; /* columns of the physical dataset so far */
    struct nt_error *error;
};

static const struct nt_text no_text = {"", 0};

static enum nt_field_kind kind_of(enum nt_ttree_shape_kind kind)
{
    static const enum nt_field_kind kinds[] = {
        [NT_SHAPE_VALUE] = NT_FIELD_VALUE,           [NT_SHAPE_STRING] = NT_FIELD_STRING,
        [NT_SHAPE_LIST] = NT_FIELD_COLLECTION,       [NT_SHAPE_ARRAY] = NT_FIELD_ARRAY,
        [NT_SHAPE_OPTIONAL] = NT_FIELD_OPTIONAL,     [NT_SHAPE_RECORD] = NT_FIELD_RECORD,
        [NT_SHAPE_UNREADABLE] = NT_FIELD_UNREADABLE,
    };
    return kinds[kind];
}

static struct nt_field field_of(const struct schema *schema, const struct nt_ttree_shape *shape)
{
    struct nt_field field = {
        .id = schema->columns.builder.field_count,
        .parent = NT_NONE,
        .role = shape->kind == NT_SHAPE_LIST || shape->kind == NT_SHAPE_OPTIONAL ? NT_ROLE_COLLECTION
                : shape->kind == NT_SHAPE_RECORD                                 ? NT_ROLE_RECORD
                                                                                 : NT_ROLE_PLAIN,
        .kind = kind_of(shape->kind),
        .dtype = nt_element_dtype(shape->kind == NT_SHAPE_VALUE    ? shape->element
                                  : shape->kind == NT_SHAPE_STRING ? NT_ELEMENT_BYTE
                                                                   : NT_ELEMENT_OPAQUE),
        .name = shape->name,
        .type = shape->type,
        .description = no_text,
        .unreadable = shape->unreadable,
        .is_map = shape->is_map,
    };
    if (shape->kind == NT_SHAPE_ARRAY)
        field.repetition = shape->dimensions[0];
    if (shape->kind == NT_SHAPE_VALUE && shape->dimension_count) {
        field.dimensions = shape->dimensions;
        field.dimension_count = shape->dimension_count;
        field.repetition = 1;
        for (uint32_t i = 0; i < shape->dimension_count; i++) /* checked: the product has 32 bits */
            field.repetition *= shape->dimensions[i];
    }
    return field;
}

static enum nt_status add_shape_columns(struct schema *schema, uint32_t branch,
                                        const struct nt_ttree_shape *shape, uint32_t field)
{
    struct nt_ttree_column column_source = {.branch = branch, .output = shape->output};
    if (shape->output == NT_NONE)
        return NT_OK;
    if (shape->kind == NT_SHAPE_LIST && shape->parent == NT_NONE)
        NT_TRY(
            find_offsets(schema->dataset, schema->tree->map, branch, &column_source.branch, schema->error));
    if (column_source.branch != branch) /* its counter's */
        column_source.output = 0;
    NT_TRY(add_column(&schema->columns, field, column_source, schema->physical_count));
    if (shape->kind != NT_SHAPE_STRING)
        return NT_OK;
    column_source.output++;
    return add_column(&schema->columns, field, column_source, schema->physical_count);
}

/* ---- Arrays of numbers ---- */

/* The innermost dimension is a value's own. */
static bool is_array_of_numbers(const struct nt_interpretation *interpretation, uint32_t shape)
{
    const struct nt_ttree_shape *array = &interpretation->shapes[shape], *item = array + 1;
    return array->kind == NT_SHAPE_ARRAY && shape + 1 < interpretation->shape_count &&
           item->parent == shape && item->kind == NT_SHAPE_VALUE && !item->dimension_count;
}

static struct nt_ttree_shape join_array(const struct nt_ttree_shape *array, const struct nt_ttree_shape *item)
{
    struct nt_ttree_shape value = *item;
    value.name = array->name;
    value.type = array->type;
    value.parent = array->parent;
    value.dimensions = array->dimensions;
    value.dimension_count = 1;
    return value;
}

/* The items of an array of numbers have a field of their own, with a row for each. */
static enum nt_status add_item(struct schema *schema, const struct nt_ttree_shape *item, uint32_t array)
{
    NT_TRY(nt_check_memory(NT_GROW(schema->items, schema->item_count, schema->item_capacity), schema->error));
    struct nt_field field = field_of(schema, item);
    field.parent = array;
    schema->items[schema->item_count].array = array;
    return nt_builder_add_field(&schema->columns.builder, &field, &schema->items[schema->item_count++].field,
                                schema->error);
}

/* ---- Branches ---- */

static enum nt_status add_shape(struct schema *schema, uint32_t branch, uint32_t number, uint32_t parent,
                                struct nt_text description)
{
    const struct nt_interpretation *interpretation = &schema->tree->map->branches[branch].interpretation;
    bool is_array = is_array_of_numbers(interpretation, number);
    const struct nt_ttree_shape *shapes = &interpretation->shapes[number];
    struct nt_ttree_shape shape = is_array ? join_array(&shapes[0], &shapes[1]) : shapes[0];
    struct nt_field field = field_of(schema, &shape);
    field.parent = shape.parent == NT_NONE ? parent : schema->fields[shape.parent];
    if (number == 0)
        field.description = description;
    NT_TRY(nt_builder_add_field(&schema->columns.builder, &field, &schema->fields[number], schema->error));
    NT_TRY(add_shape_columns(schema, branch, &shape, schema->fields[number]));
    if (is_array)
        NT_TRY(add_item(schema, &shapes[1], schema->fields[number]));
    return NT_OK;
}

/* Adds the shapes of a branch beneath a field, whose fields' numbers then are in schema->fields. */
static enum nt_status add_shapes(struct schema *schema, uint32_t branch, uint32_t parent,
                                 struct nt_text description)
{
    const struct nt_interpretation *interpretation = &schema->tree->map->branches[branch].interpretation;
    for (uint32_t i = 0; i < interpretation->shape_count; i++) {
        NT_TRY(nt_check_memory(NT_GROW(schema->fields, i, schema->field_capacity), schema->error));
        if (i == 0 || !is_array_of_numbers(interpretation, i - 1))
            NT_TRY(add_shape(schema, branch, i, parent, description));
    }
    return NT_OK;
}

/* Has the branch data that the physical dataset shows? */
static bool has_baskets(const struct nt_ttree *tree, uint32_t branch)
{
    const struct nt_interpretation *interpretation = &tree->map->branches[branch].interpretation;
    return interpretation->output_count || interpretation->shapes[0].kind == NT_SHAPE_UNREADABLE;
}

static bool is_split_collection(const struct nt_ttree *tree, uint32_t branch)
{
    const struct nt_interpretation *interpretation = &tree->map->branches[branch].interpretation;
    return nt_ttree_has_branches(tree, branch) && nt_ttree_has_counts(&tree->branches[branch]) &&
           interpretation->shape_count == 1 && interpretation->shapes[0].kind == NT_SHAPE_VALUE &&
           !interpretation->shapes[0].dimension_count;
}

static enum nt_status add_split_collection(struct schema *schema, uint32_t branch, uint32_t parent)
{
    struct nt_branch_map *map = &schema->tree->map->branches[branch];
    const struct nt_ttree_branch *record = &schema->tree->branches[branch];
    struct nt_field field = field_of(schema, &map->interpretation.shapes[0]);
    field.kind = NT_FIELD_SPLIT_COLLECTION;
    field.role = NT_ROLE_RECORD;
    field.name = record->name;
    field.type = nt_ttree_branch_type(schema->tree, record);
    field.description = record->title;
    field.parent = parent;
    NT_TRY(nt_builder_add_field(&schema->columns.builder, &field, &map->field, schema->error));
    map->data = map->field;
    NT_TRY(add_shape_columns(schema, branch, &map->interpretation.shapes[0], map->field));
    schema->physical_count++;
    return NT_OK;
}

/* A branch with both sub-branches and other data of its own is a record: the data have the names of the
 * leaves. */
static enum nt_status add_branch(struct schema *schema, uint32_t number)
{
    struct nt_ttree *tree = schema->tree;
    const struct nt_ttree_branch *branch = &tree->branches[number];
    struct nt_branch_map *map = &tree->map->branches[number];
    struct nt_ttree_shape record = {.kind = NT_SHAPE_RECORD,
                                    .name = branch->name,
                                    .type = nt_ttree_branch_type(tree, branch),
                                    .output = NT_NONE};
    uint32_t parent = branch->parent == NT_NONE ? NT_NONE : tree->map->branches[branch->parent].field;
    bool is_wrapped = nt_ttree_has_branches(tree, number) && has_baskets(tree, number) &&
                      map->interpretation.shapes[0].kind != NT_SHAPE_RECORD;
    if (is_split_collection(tree, number))
        return add_split_collection(schema, number, parent);
    if (is_wrapped) {
        struct nt_field field = field_of(schema, &record);
        field.parent = parent;
        field.description = branch->title;
        NT_TRY(nt_builder_add_field(&schema->columns.builder, &field, &map->field, schema->error));
        parent = map->field;
    }
    NT_TRY(add_shapes(schema, number, parent, is_wrapped ? no_text : branch->title));
    map->data = schema->fields[0];
    if (!is_wrapped)
        map->field = map->data;
    schema->physical_count += has_baskets(tree, number);
    return NT_OK;
}

/* ---- Interpretations ---- */

static enum nt_status make_unreadable(struct nt_dataset *dataset, const struct nt_ttree_branch *branch,
                                      struct nt_interpretation *interpretation, const char *reason,
                                      struct nt_error *error)
{
    return nt_ttree_make_only_shape(branch, NT_SHAPE_UNREADABLE, interpretation->shapes[0].type, reason,
                                    dataset->arena, interpretation, error);
}

static enum nt_status interpret(struct nt_dataset *dataset, struct nt_ttree *tree, uint32_t number,
                                struct nt_error *error)
{
    struct nt_ttree_branch *branch = &tree->branches[number];
    struct nt_branch_map *map = &tree->map->branches[number];
    map->branch = number;
    map->as_counter = NT_NONE;
    NT_TRY(nt_ttree_interpret_with_samples(dataset, tree, number, &map->interpretation, error));
    if (branch->refusal) { /* its baskets are in another file that is not read */
        branch->slot_count = 0;
        NT_TRY(make_unreadable(dataset, branch, &map->interpretation, branch->refusal, error));
    }
    return nt_budget_take(&dataset->file->budget, NT_COST_FIELD, map->interpretation.shape_count,
                          NT_NO_OFFSET, error);
}

/* Charges the fields that all branches will have before they are there: each takes time and memory now. */
static enum nt_status interpret_all(struct nt_dataset *dataset, struct nt_ttree *tree, struct nt_error *error)
{
    uint64_t fields = 0;
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < tree->branch_count; i++) {
        status = interpret(dataset, tree, i, error);
        fields += status == NT_OK ? tree->map->branches[i].interpretation.shape_count : 0;
    }
    nt_budget_release(&dataset->file->budget, NT_COST_FIELD, fields);
    return status;
}

/* Can the branch that has the lengths of arrays be read? */
static enum nt_status check_lengths(struct nt_dataset *dataset, const struct nt_ttree *tree, uint32_t branch,
                                    struct nt_error *error)
{
    struct nt_interpretation *interpretation = &tree->map->branches[branch].interpretation;
    uint32_t lengths = interpretation->lengths - 1;
    if (!interpretation->lengths ||
        nt_basket_lengths_output(&tree->map->branches[lengths].interpretation) != NT_NONE)
        return NT_OK;
    return make_unreadable(dataset, &tree->branches[branch], interpretation,
                           "the branch that has the lengths of its arrays has no integers of 32 bits", error);
}

static enum nt_status make_map(struct nt_dataset *dataset, struct nt_ttree *tree, struct nt_error *error)
{
    uint64_t bytes = 2ull * tree->branch_count * sizeof(struct nt_branch_map);
    NT_TRY(nt_budget_take(&dataset->file->budget, NT_COST_ENVELOPE_BYTE, bytes, NT_NO_OFFSET, error));
    struct nt_ttree_map *map = nt_arena_alloc(dataset->arena, 1, sizeof(*map));
    if (map) /* each branch may also be the counter of others */
        map->branches = nt_arena_alloc(dataset->arena, 2ull * tree->branch_count + 1, sizeof(*map->branches));
    NT_TRY(nt_check_memory(map && map->branches, error));
    tree->map = map;
    map->branch_count = tree->branch_count;
    NT_TRY(interpret_all(dataset, tree, error));
    for (uint32_t i = 0; i < tree->branch_count; i++)
        NT_TRY(check_lengths(dataset, tree, i, error));
    return NT_OK;
}

static void schema_deinit(struct schema *schema)
{
    columns_deinit(&schema->columns);
    free(schema->fields);
    free(schema->items);
}

enum nt_status nt_ttree_build_schema(struct nt_dataset *dataset, struct nt_ttree *tree,
                                     struct nt_error *error)
{
    NT_TRY(make_map(dataset, tree, error));
    NT_CLEANUP(schema_deinit)
    struct schema schema = {
        .dataset = dataset, .tree = tree, .columns = {.map = tree->map, .error = error}, .error = error};
    nt_builder_init(&schema.columns.builder, dataset);
    for (uint32_t i = 0; i < tree->branch_count; i++)
        NT_TRY(add_branch(&schema, i));
    NT_TRY(keep_columns(&schema.columns, dataset->arena, &tree->map->columns));
    NT_TRY(nt_builder_finish(&schema.columns.builder, error));
    for (size_t i = 0; i < schema.item_count; i++)
        nt_field_project_columns(dataset, schema.items[i].field, schema.items[i].array);
    for (uint32_t i = 0; i < tree->branch_count; i++)
        if (tree->branches[i].friend)
            tree->branches[i].friend->field = dataset->fields[tree->map->branches[i].field].name;
    dataset->is_ordered = true;
    return NT_OK;
}

struct nt_repeated_lengths nt_ttree_repeated_lengths(const struct nt_dataset *dataset, uint32_t column)
{
    const struct nt_ttree *tree = nt_ttree_of(dataset);
    const struct nt_ttree_column *column_source = nt_ttree_column_source(dataset, column);
    struct nt_repeated_lengths lengths = {.field = NT_NONE};
    if (column_source->branch >= tree->branch_count) /* those numbers are the offsets */
        return lengths;
    const struct nt_ttree_branch *branch = &tree->branches[column_source->branch];
    const struct nt_interpretation *interpretation =
        &tree->map->branches[column_source->branch].interpretation;
    uint32_t counter = counting_branch(tree, branch);
    bool is_list = interpretation->shapes[0].kind == NT_SHAPE_LIST &&
                   interpretation->shapes[0].output == column_source->output;
    bool is_own = counter != NT_NONE && nt_ttree_is_own_counter(branch, &tree->branches[counter]);
    if (!is_list || !is_own || interpretation->steps[0].kind == NT_STEP_COUNTED || /* by those numbers */
        !is_one_integer(&tree->map->branches[counter].interpretation))
        return lengths;
    lengths.field = tree->map->branches[counter].data;
    lengths.may_be_empty = interpretation->steps[0].kind == NT_STEP_SKIP; /* null pointers, see interpret.c */
    return lengths;
}

/* ---- The physical dataset ---- */

/* Numbers of a fixed count per entry are shown decoded, other baskets as their uncompressed bytes. */
static uint32_t physical_output(const struct nt_interpretation *interpretation)
{
    return interpretation->output_count == 1 && interpretation->count_by == NT_COUNT_BY_ENTRIES
               ? 0
               : NT_OUTPUT_RAW;
}

static enum nt_status add_physical_columns(struct columns *columns, const struct nt_ttree *tree)
{
    for (uint32_t i = 0; i < tree->branch_count; i++) {
        const struct nt_branch_map *map = &tree->map->branches[i];
        if (!has_baskets(tree, i))
            continue;
        struct nt_ttree_column column_source = {.branch = i, .output = physical_output(&map->interpretation)};
        NT_TRY(add_column(columns, map->data, column_source, 0));
    }
    return NT_OK;
}

static enum nt_status fill_physical(struct nt_dataset *physical, struct nt_dataset *dataset,
                                    struct nt_error *error)
{
    const struct nt_ttree *tree = nt_ttree_of(dataset);
    NT_CLEANUP(columns_deinit) struct columns columns = {.map = tree->map, .error = error};
    nt_builder_init(&columns.builder, physical);
    NT_TRY(nt_builder_add_linked_fields(&columns.builder, dataset->fields, dataset->field_count, error));
    NT_TRY(add_physical_columns(&columns, tree));
    NT_TRY(keep_columns(&columns, dataset->arena, &tree->map->physical_columns));
    NT_TRY(nt_builder_finish(&columns.builder, error));
    NT_AUTO_FREE uint64_t *parts = calloc(tree->map->part_count + 1u, sizeof(*parts));
    NT_TRY(nt_check_memory(parts, error));
    for (uint32_t i = 0; i < tree->map->part_count; i++)
        parts[i] = dataset->part_boundaries[i + 1] - dataset->part_boundaries[i];
    return nt_dataset_add_field_groups(physical, parts, tree->map->part_count, error);
}

enum nt_status nt_ttree_add_physical(struct nt_dataset *dataset, struct nt_error *error)
{
    static const struct nt_dataset_ops ops = {
        .load_group = nt_ttree_load_group,
        .plan_groups = nt_ttree_plan_groups,
        .describe_column = nt_ttree_describe_column,
        .describe_page = nt_ttree_describe_page,
        .fail_elsewhere = nt_ttree_fail_elsewhere,
    };
    struct nt_dataset *physical;
    NT_TRY(nt_dataset_new_physical(dataset, &physical, error));
    physical->ops = &ops;
    physical->parts_are_clusters = true;
    enum nt_status status = fill_physical(physical, dataset, error);
    if (status == NT_OK)
        dataset->physical = physical;
    else
        nt_dataset_free(physical);
    return status;
}
