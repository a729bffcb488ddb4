/* SPDX-License-Identifier: MIT
 *
 * The physical view of a dataset: the columns of the file as stored, with their page lists and level
 * columns.
 */
#include "formats/lance/file/page_list.h"

#include <stdio.h>

/* ---- Column contents ---- */

static const struct nt_dtype
    byte = {.element = NT_ELEMENT_BYTE, .bytes = 1, .number = NT_ELEMENT_BYTE, .numpy = "|u1", .arrow = "C"},
    unsigned16 = {.element = NT_ELEMENT_UINT16, .bytes = 2, .number = NT_ELEMENT_UINT16, .numpy = "<u2"},
    unsigned64 = {
        .element = NT_ELEMENT_UINT64, .bytes = 8, .number = NT_ELEMENT_UINT64, .numpy = "<u8", .arrow = "L"};
static const struct nt_dtype_member level_members[] = {
    {.name = {"repetition", 10}, .dtype = &unsigned16},
    {.name = {"definition", 10}, .dtype = &unsigned16},
};
static const struct nt_dtype_member descriptor_members[] = {
    {.name = {"position", 8}, .dtype = &unsigned64},
    {.name = {"size", 4}, .dtype = &unsigned64},
};
static const struct nt_dtype level = {.element = NT_ELEMENT_OPAQUE,
                                      .bytes = NT_LANCE_LEVEL_BYTES,
                                      .number = NT_ELEMENT_OPAQUE,
                                      .numpy = "[('repetition', '<u2'), ('definition', '<u2')]",
                                      .members = level_members,
                                      .member_count = 2};
static const struct nt_dtype descriptor_dtype = {.element = NT_ELEMENT_OPAQUE,
                                                 .bytes = 16,
                                                 .number = NT_ELEMENT_OPAQUE,
                                                 .numpy = "[('position', '<u8'), ('size', '<u8')]",
                                                 .members = descriptor_members,
                                                 .member_count = 2};

static const struct {
    const char *name; /* the type_name of the columns: the same pointer */
    enum nt_lance_decoder_output output;
    const struct nt_dtype *dtype; /* NULL: depends on the field */
} contents[NT_LANCE_CONTENT_COUNT] = {
    [NT_LANCE_HAS_VALUES] = {"values", NT_LANCE_VALUES, NULL},
    [NT_LANCE_HAS_BYTES] = {"bytes", NT_LANCE_BYTES, &byte},
    [NT_LANCE_HAS_ROWS] = {"rows", NT_LANCE_VALUES, NULL},
    [NT_LANCE_HAS_DESCRIPTORS] = {"places", NT_LANCE_VALUES, &descriptor_dtype},
    [NT_LANCE_HAS_LIST_ENDS] = {"list ends", NT_LANCE_OFFSETS, &unsigned64},
    [NT_LANCE_HAS_NOTHING] = {"unknown", NT_LANCE_VALUES, &byte},
    [NT_LANCE_HAS_ENDS] = {"ends", NT_LANCE_ENDS, &unsigned64},
    [NT_LANCE_HAS_LEVELS] = {"levels", NT_LANCE_LEVELS, &level},
};

enum nt_lance_content nt_lance_content_of(const struct nt_column *column)
{
    for (unsigned i = 0; i < NT_LANCE_CONTENT_COUNT; i++)
        if (contents[i].name == column->type_name)
            return (enum nt_lance_content)i;
    return NT_LANCE_HAS_NOTHING;
}

/* ---- Find the file page ---- */

const struct nt_lance_page *nt_lance_file_page(const struct nt_dataset *physical, uint32_t column,
                                               const struct nt_page *page,
                                               struct nt_lance_physical_column *physical_column_ret)
{
    const struct nt_lance_physical *physical_view = nt_lance_physical_of(physical);
    const struct nt_file *file = physical->logical->file;
    uint32_t field = physical->columns[column].field,
             part = file->layout_part ? file->layout_part(file, page->source) : 0;
    uint32_t cluster = nt_groups_of_column(physical, column).first + part;
    const struct nt_group *group = nt_group_slot(physical, cluster);
    const struct nt_range *range = nt_group_range(physical, group, cluster, column);
    size_t number = (size_t)(page - &group->pages[range->first_page]);
    enum nt_status status =
        physical_view->find_physical_column(physical->logical, field, part, physical_column_ret, NULL);
    if (status == NT_LIMIT && nt_groups_release(physical->logical)) /* the page's own list is pinned */
        status =
            physical_view->find_physical_column(physical->logical, field, part, physical_column_ret, NULL);
    if (status != NT_OK || !physical_column_ret->lance)
        return NULL;
    return &physical_column_ret->lance->columns[physical_column_ret->column_map.column].pages[number];
}

/* ---- Page lists of stored columns ---- */

/* What a column of a physical dataset has of a page of the file. */
struct physical_page {
    const struct nt_encoding_tree *tree;
    uint64_t values, bytes, levels;
};

/* Builds the tree of a whole page: all chunks, or all rows. */
static enum nt_status make_whole(struct nt_lance_page_list *list, const struct nt_lance_page_reader *opened,
                                 struct physical_page *physical_page)
{
    struct nt_lance_buffer parts[2];
    struct nt_encoding_tree tree = *opened->layout.tree;
    tree.is_whole = true;
    tree.part_count = tree.layout == NT_LANCE_MINI_BLOCK ? 2 : 1;
    nt_lance_page_parts(opened->page, tree.part_count, parts); /* the count was checked on opening */
    tree.parts = parts;
    physical_page->values = opened->layout.items;
    return nt_lance_keep_tree(list->dataset->file, NULL, &tree, &physical_page->tree, list->error);
}

/* Builds the tree of a single value, without the layers around it. */
static enum nt_status make_single(struct nt_lance_page_list *list, const struct nt_encoding_tree *constant,
                                  struct physical_page *physical_page)
{
    struct nt_encoding_tree tree = *constant;
    tree.part_count = constant->has_value_part;
    tree.repetition = tree.definition = NT_NO_NODE;
    tree.repetition_count = tree.definition_count = 0;
    tree.layer_count = 1;
    tree.layers[0] = NT_LAYER_ITEM;
    physical_page->values = tree.value || tree.has_value_part;
    return nt_lance_keep_tree(list->dataset->file, NULL, &tree, &physical_page->tree, list->error);
}

static enum nt_status make_tree(struct nt_lance_page_list *list, const struct nt_lance_page_reader *opened,
                                enum nt_lance_decoder_output output, struct physical_page *physical_page)
{
    const struct nt_encoding_tree *tree = opened->layout.tree;
    *physical_page =
        (struct physical_page){.tree = tree, .values = nt_lance_is_uniform(tree) ? 0 : opened->page->length};
    if (tree->layout == NT_LANCE_MINI_BLOCK || tree->layout == NT_LANCE_FULL_ZIP)
        return make_whole(list, opened, physical_page);
    if (tree->layout == NT_LANCE_CONSTANT && output != NT_LANCE_LEVELS)
        return make_single(list, tree, physical_page);
    return NT_OK;
}

/* ---- Counting ---- */

static enum nt_status count_chunks(struct nt_lance_page_list *list, struct nt_lance_page_reader *opened,
                                   bool needs_bytes, struct physical_page *physical_page)
{
    while (opened->next_chunk_number < opened->page_chunks) {
        struct nt_lance_chunk chunk;
        struct nt_lance_counts counts;
        NT_TRY(nt_lance_next_chunk(opened, &chunk, list->error));
        enum nt_status status = nt_lance_count_chunk(list, opened, &chunk, needs_bytes, &counts);
        if (status == NT_OK &&
            (!nt_checked_add(physical_page->bytes, counts.bytes, &physical_page->bytes) ||
             !nt_checked_add(physical_page->levels, counts.levels, &physical_page->levels)))
            status = nt_fail(list->error, NT_CORRUPT, chunk.offset,
                             "the column has more than 2^64 bytes or levels");
        NT_TRY(nt_lance_page_list_locate_chunk_failure(list, status, opened, &chunk));
    }
    return NT_OK;
}

/* Counts the bytes of a constant. */
static enum nt_status count_single(struct nt_lance_page_list *list, const struct nt_lance_page_reader *opened,
                                   const struct nt_lance_chunk *span, struct physical_page *physical_page)
{
    struct nt_lance_page_reader single = *opened;
    struct nt_lance_counts counts;
    single.layout.tree = physical_page->tree;
    const struct nt_lance_chunk chunk = {
        .offset = span->offset, .bytes = span->bytes, .values = physical_page->values};
    if (!physical_page->values)
        return NT_OK;
    NT_TRY(nt_lance_count_chunk(list, &single, &chunk, true, &counts));
    physical_page->bytes = counts.bytes;
    return NT_OK;
}

static enum nt_status count(struct nt_lance_page_list *list, struct nt_lance_page_reader *opened,
                            enum nt_lance_decoder_output output, const struct nt_lance_chunk *span,
                            struct physical_page *physical_page)
{
    const struct nt_encoding_tree *tree = opened->layout.tree;
    bool is_constant = tree->layout == NT_LANCE_CONSTANT;
    if (output == NT_LANCE_BYTES && is_constant)
        return count_single(list, opened, span, physical_page);
    bool has_levels = is_constant ? !nt_lance_is_uniform(tree) : nt_lance_has_levels(tree);
    bool has_bytes = physical_page->values && !nt_lance_has_lists(opened->page); /* else in the next column */
    bool is_counted = output == NT_LANCE_BYTES ? has_bytes : output == NT_LANCE_LEVELS && has_levels;
    return is_counted ? count_chunks(list, opened, output == NT_LANCE_BYTES, physical_page) : NT_OK;
}

/* ---- Pages ---- */

static enum nt_status add_page(struct nt_lance_page_list *list, struct nt_group_builder *builder,
                               uint32_t column, const struct nt_lance_page_reader *opened,
                               const struct nt_lance_chunk *span, const struct physical_page *physical_page)
{
    enum nt_lance_content content = nt_lance_content_of(&list->dataset->columns[column]);
    enum nt_lance_decoder_output output = contents[content].output;
    const struct nt_lance_decoder_state state = {
        physical_page->tree,
        {.output = output,
         .member = content == NT_LANCE_HAS_ROWS ? NT_LANCE_ALL_MEMBERS : 0,
         .is_stored = true}};
    struct nt_page page = {
        .offset = span->offset, .stored_bytes = span->bytes, .source = list->lance->number};
    struct nt_lance_dependencies dependencies = {.count = 0};
    uint64_t elements = physical_page->values;
    if (output != NT_LANCE_LEVELS)
        NT_TRY(nt_lance_add_dependencies(list, opened, &dependencies));
    NT_TRY(nt_lance_add_decoder(list->dataset, &state, &list->dataset->columns[column].dtype, &dependencies,
                                &page.decoder, list->error));
    if (output == NT_LANCE_BYTES || output == NT_LANCE_LEVELS) {
        page.parameter = physical_page->values;
        elements = output == NT_LANCE_BYTES ? physical_page->bytes : physical_page->levels;
    } else if (output == NT_LANCE_VALUES &&
               !nt_checked_multiply(elements, list->column_map->items, &elements))
        elements = UINT64_MAX;
    page.elements = (uint32_t)elements;
    if (elements > UINT32_MAX)
        return nt_fail(list->error, NT_LIMIT, span->offset,
                       "a page has %" PRIu64 " elements, more than the limit of 2^32", elements);
    return nt_group_builder_add(builder, &page, list->error);
}

static enum nt_status store_page(struct nt_lance_page_list *list, struct nt_group_builder *builder,
                                 uint32_t column, const struct nt_lance_page *page,
                                 const struct nt_encoding_tree **known)
{
    enum nt_lance_content content = nt_lance_content_of(&list->dataset->columns[column]);
    enum nt_lance_decoder_output output = contents[content].output;
    struct nt_lance_chunk span = nt_lance_page_span(page);
    NT_CLEANUP(nt_lance_close_page) struct nt_lance_page_reader opened = {.page = page};
    struct physical_page physical_page;
    if (content == NT_LANCE_HAS_NOTHING) {
        const struct nt_page bare = {.offset = span.offset,
                                     .stored_bytes = span.bytes,
                                     .source = list->lance->number,
                                     .decoder = list->dataset->columns[column].decoder};
        return nt_group_builder_add(builder, &bare, list->error);
    }
    enum nt_status status =
        nt_lance_open_page(list->dataset, list->lance, page, list->column_map, *known, &opened, list->error);
    NT_TRY(nt_lance_page_list_locate_page_failure(list, status, page, false));
    *known = opened.layout.tree;
    status = make_tree(list, &opened, output, &physical_page);
    if (status == NT_OK && output != NT_LANCE_LEVELS)
        status = nt_lance_read_dictionary(list, &opened);
    if (status == NT_OK)
        status = count(list, &opened, output, &span, &physical_page);
    if (status == NT_OK)
        status = add_page(list, builder, column, &opened, &span, &physical_page);
    return nt_lance_page_list_locate_page_failure(list, status, page, true);
}

static enum nt_status store_column(struct nt_lance_page_list *list, struct nt_group_builder *builder,
                                   uint32_t column)
{
    const struct nt_lance_column *of = &list->lance->columns[list->column_map->column];
    const struct nt_encoding_tree *known = NULL;
    NT_TRY(nt_group_builder_start(builder, builder->group->first_cluster, column, list->error));
    for (uint32_t i = 0; i < of->page_count; i++)
        NT_TRY(nt_with_context(store_page(list, builder, column, &of->pages[i], &known), list->error,
                               "page %" PRIu32, i));
    return NT_OK;
}

static enum nt_status store_columns(struct nt_dataset *physical, uint32_t number,
                                    const struct nt_lance_physical_column *physical_column,
                                    struct nt_group_builder *builder, struct nt_error *error)
{
    uint32_t count, field = nt_group_field(physical, number, NULL);
    const uint32_t *columns = nt_field_columns(physical, field, &count);
    NT_CLEANUP(nt_lance_page_list_deinit)
    struct nt_lance_page_list list = {.dataset = physical,
                                      .number = field,
                                      .field = &physical->fields[field],
                                      .lance = physical_column->lance,
                                      .column_map = &physical_column->column_map,
                                      .context = nt_codec_context_new(),
                                      .error = error};
    NT_TRY(nt_check_memory(list.context, error));
    for (uint32_t i = 0; i < count; i++)
        NT_TRY(store_column(&list, builder, columns[i]));
    return NT_OK;
}

static enum nt_status fill_physical(struct nt_dataset *physical, uint32_t number,
                                    struct nt_group_builder *builder, struct nt_error *error)
{
    uint32_t part, field = nt_group_field(physical, number, &part);
    struct nt_lance_physical_column found;
    NT_TRY(nt_group_builder_init(builder, physical, number, "list of pages", NT_NO_OFFSET, error));
    NT_TRY(
        nt_lance_physical_of(physical)->find_physical_column(physical->logical, field, part, &found, error));
    if (!found.lance)
        return NT_OK;
    enum nt_status status = nt_with_context(store_columns(physical, number, &found, builder, error), error,
                                            "column %" PRIu32 " of the file", found.column_map.column);
    return found.name ? nt_with_context(status, error, "fragment %" PRIu64 ": %s", found.fragment, found.name)
                      : status;
}

/* nt_dataset_ops.load_group of both physical datasets. Counts strings and levels in one pass over the
 * file's column. */
static enum nt_status load_physical(struct nt_dataset *physical, uint32_t number, struct nt_error *error)
{
    struct nt_group_builder builder;
    return nt_group_builder_finish(&builder, fill_physical(physical, number, &builder, error));
}

/* Also nt_dataset_ops.plan_groups of both. Levels and ends are counted in whole pages. */
static bool lance_plan_physical(struct nt_dataset *physical, struct nt_groups groups, bool with_pages,
                                struct nt_prefetch *prefetch)
{
    with_pages |= physical == physical->logical->levels;
    for (uint32_t i = groups.first; i < groups.end; i++) {
        uint32_t part, field = nt_group_field(physical, i, &part);
        struct nt_lance_physical_column found = {.lance = NULL};
        if (nt_group_is_loaded(physical, i))
            continue;
        enum nt_status status = nt_lance_physical_of(physical)->find_physical_column(physical->logical, field,
                                                                                     part, &found, NULL);
        if (nt_is_environmental(status))
            return false;
        if (status == NT_OK && found.lance)
            nt_lance_plan_column(found.lance, &physical->fields[field], found.column_map.column, with_pages,
                                 prefetch);
    }
    return true;
}

/* ---- Types ---- */

struct physical_field_builder {
    const struct nt_dataset *dataset;
    const struct nt_lance_physical *physical_view;
    struct nt_builder builder;
    struct nt_error *error;
};

/* Returns what a field reads from its column. */
static struct nt_lance_column_map column_map_of(const struct physical_field_builder *builder, uint32_t field)
{
    const struct nt_lance_physical *physical_view = builder->physical_view;
    const struct nt_lance_model_field *part = &physical_view->schema->parts[field];
    return nt_lance_map_column(physical_view->schema, &physical_view->leaves[part->field],
                               physical_view->schema->has_item_columns, part);
}

/* Sets the type of the rows of a packed structure. */
static enum nt_status set_rows(const struct physical_field_builder *builder, uint32_t bytes,
                               struct nt_dtype *dtype)
{
    char text[16];
    int length = snprintf(text, sizeof(text), "|V%u", bytes);
    *dtype = (struct nt_dtype){.element = NT_ELEMENT_OPAQUE, .bytes = bytes, .number = NT_ELEMENT_OPAQUE};
    dtype->numpy = nt_arena_copy(builder->builder.dataset->arena, text, (size_t)length + 1);
    return nt_check_memory(dtype->numpy, builder->error);
}

static enum nt_status set_dtype(const struct physical_field_builder *builder, uint32_t field,
                                enum nt_lance_content content, struct nt_dtype *dtype)
{
    if (content == NT_LANCE_HAS_ROWS)
        return set_rows(builder, column_map_of(builder, field).value->bits / 8, dtype);
    *dtype =
        content == NT_LANCE_HAS_VALUES ? builder->dataset->fields[field].dtype : *contents[content].dtype;
    return NT_OK;
}

/* ---- Columns ---- */

/* Each page has its own decoder; this one defines the type. */
static enum nt_status add_column(struct physical_field_builder *builder, uint32_t field,
                                 enum nt_lance_content content)
{
    struct nt_decoder decoder;
    struct nt_column column = {
        .id = column_map_of(builder, field).column, .field = field, .type_name = contents[content].name};
    NT_TRY(set_dtype(builder, field, content, &column.dtype));
    enum nt_element element = column.dtype.element;
    enum nt_encoding_kind encoding =
        content == NT_LANCE_HAS_NOTHING ? NT_ENCODING_UNKNOWN : nt_lance_encoding_of(element);
    NT_TRY(nt_decoder_init(&decoder, encoding, element == NT_ELEMENT_OPAQUE ? column.dtype.bytes * 8 : 0, 0,
                           0, builder->error));
    return nt_builder_add_column(&builder->builder, &column, &decoder, builder->error);
}

static enum nt_lance_content content_of_field(const struct physical_field_builder *builder, uint32_t field)
{
    const struct nt_lance_column_map column_map = column_map_of(builder, field);
    switch (builder->dataset->fields[field].kind) {
    case NT_FIELD_VALUE:
        return NT_LANCE_HAS_VALUES;
    case NT_FIELD_STRING:
    case NT_FIELD_STREAMED:
    case NT_FIELD_JSON:
        return NT_LANCE_HAS_BYTES;
    case NT_FIELD_PAGE_BYTES:
        return NT_LANCE_HAS_DESCRIPTORS;
    case NT_FIELD_COLLECTION:
        return NT_LANCE_HAS_LIST_ENDS;
    case NT_FIELD_RECORD:
        return column_map.value->is_packed && column_map.value->bits ? NT_LANCE_HAS_ROWS
                                                                     : NT_LANCE_HAS_NOTHING;
    default:
        return NT_LANCE_HAS_NOTHING;
    }
}

/* From 2.1 on, a column has levels if its values are nullable, or in a list or something nullable. */
static bool may_have_levels(const struct nt_lance_physical *physical_view, uint32_t leaf)
{
    const struct nt_lance_schema *schema = physical_view->schema;
    for (uint32_t at = leaf; at != NT_NONE; at = schema->fields[at].parent)
        if (schema->fields[at].is_nullable || schema->layouts[at].type.shape == NT_LANCE_IS_LIST)
            return physical_view->has_levels;
    return false;
}

static enum nt_status add_levels_of(struct physical_field_builder *builder, uint32_t field)
{
    uint32_t leaf = builder->physical_view->schema->parts[field].field;
    if (content_of_field(builder, field) == NT_LANCE_HAS_BYTES)
        NT_TRY(add_column(builder, field, NT_LANCE_HAS_ENDS));
    if (may_have_levels(builder->physical_view, leaf) &&
        builder->dataset->fields[field].kind != NT_FIELD_UNREADABLE)
        NT_TRY(add_column(builder, field, NT_LANCE_HAS_LEVELS));
    return NT_OK;
}

/* Does a physical column belong to this field of the model? It belongs to the field that it stores, or
 * to the innermost items if that is a fixed-size list. */
static bool has_column(const struct physical_field_builder *builder, uint32_t field)
{
    const struct nt_lance_physical *physical_view = builder->physical_view;
    uint32_t leaf = physical_view->schema->parts[field].field;
    bool is_last =
        field + 1 == builder->dataset->field_count || physical_view->schema->parts[field + 1].field != leaf;
    return is_last && physical_view->leaves[leaf].field == leaf;
}

/* Copies the parts and their costs from the dataset. */
static enum nt_status add_parts(struct nt_dataset *physical, const struct nt_dataset *dataset,
                                struct nt_error *error)
{
    NT_AUTO_FREE uint64_t *entries = calloc((size_t)dataset->part_count + 1, sizeof(*entries));
    NT_TRY(nt_check_memory(entries, error));
    for (uint32_t i = 0; i < dataset->part_count; i++)
        entries[i] = dataset->part_boundaries[i + 1] - dataset->part_boundaries[i];
    physical->part_metadata_bytes = dataset->part_metadata_bytes;
    return nt_dataset_add_field_groups(physical, entries, dataset->part_count, error);
}

static enum nt_status add_physical_dataset(struct nt_dataset *dataset, const struct nt_lance_physical *of,
                                           const struct nt_dataset_ops *ops, struct nt_dataset **physical_ret,
                                           struct nt_error *error)
{
    struct physical_field_builder builder = {.dataset = dataset, .physical_view = of, .error = error};
    bool is_levels = !ops->page_files;
    struct nt_dataset *physical;
    NT_TRY(nt_dataset_new_physical(dataset, &physical, error));
    physical->ops = ops;
    physical->format_data = (void *)of;
    nt_builder_init(&builder.builder, physical);
    enum nt_status status =
        nt_builder_add_linked_fields(&builder.builder, dataset->fields, dataset->field_count, error);
    for (uint32_t i = 0; status == NT_OK && i < dataset->field_count; i++) {
        if (!has_column(&builder, i))
            continue;
        status =
            is_levels ? add_levels_of(&builder, i) : add_column(&builder, i, content_of_field(&builder, i));
    }
    if (status == NT_OK)
        status = nt_builder_finish(&builder.builder, error);
    if (status == NT_OK)
        status = add_parts(physical, dataset, error);
    nt_builder_deinit(&builder.builder);
    if (status == NT_OK)
        *physical_ret = physical;
    else
        nt_dataset_free(physical);
    return status;
}

enum nt_status nt_lance_add_physical_of(struct nt_dataset *dataset,
                                        const struct nt_lance_physical *physical_view, struct nt_error *error)
{
    static const struct nt_dataset_ops physical_ops = {
        .load_group = load_physical,
        .reloads_groups = true,
        .plan_groups = lance_plan_physical,
        .page_files = nt_lance_page_files,
        .describe_column = nt_lance_describe_column,
        .describe_page = nt_lance_describe_page,
    };
    static const struct nt_dataset_ops levels_ops = {
        .load_group = load_physical, .reloads_groups = true, .plan_groups = lance_plan_physical};
    struct nt_dataset *physical, *levels;
    NT_TRY(add_physical_dataset(dataset, physical_view, &physical_ops, &physical, error));
    enum nt_status status = add_physical_dataset(dataset, physical_view, &levels_ops, &levels, error);
    if (status != NT_OK) {
        nt_dataset_free(physical);
        return status;
    }
    dataset->physical = physical;
    dataset->levels = levels;
    return NT_OK;
}

/* ---- A file that is mounted alone ---- */

static enum nt_status find_physical_column(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                           struct nt_lance_physical_column *physical_column_ret,
                                           struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    *physical_column_ret = (struct nt_lance_physical_column){
        .lance = lance, .column_map = nt_lance_map_own_column(lance, field)};
    return NT_OK;
}

enum nt_status nt_lance_add_physical(struct nt_dataset *dataset, struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    struct nt_lance_physical *physical_view = nt_arena_alloc(dataset->arena, 1, sizeof(*physical_view));
    NT_TRY(nt_check_memory(physical_view, error));
    *physical_view = (struct nt_lance_physical){.schema = &lance->schema,
                                                .leaves = lance->leaves,
                                                .has_levels = !lance->schema.has_item_columns,
                                                .find_physical_column = find_physical_column};
    return nt_lance_add_physical_of(dataset, physical_view, error);
}
