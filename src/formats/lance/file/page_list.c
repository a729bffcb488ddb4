/* SPDX-License-Identifier: MIT
 *
 * Builds the page list of a field from the pages of its file column. Lists and strings are counted in
 * one pass over the column; each blob becomes a page of its own. Also tells which bytes of a file are
 * read for a page list, and for its pages.
 */
#include "formats/lance/file/page_list.h"

/* ---- Blob pages ---- */

enum { DESCRIPTOR_BYTES = 16 };

/* The presence of a page's blobs, or of the layers around them. */
static struct nt_lance_output_spec lance_presence(const struct nt_lance_page_reader *opened,
                                                  const struct nt_lance_column_map *column_map)
{
    struct nt_layer_rule rule;
    nt_layer_rule(&opened->layout.blobs, column_map->layer, &rule);
    return (struct nt_lance_output_spec){.output = NT_LANCE_PRESENT, .valid = rule.valid};
}

/* Blobs must be before the metadata. */
static enum nt_status add_blob(struct nt_lance_page_list *list, const uint8_t *descriptor, uint64_t number)
{
    struct nt_page_list_entry entry = {
        .offset = nt_load_le64(descriptor), .stored_bytes = nt_load_le64(descriptor + 8), .is_blob = true};
    uint64_t end, metadata = list->lance->tail.columns_start;
    entry.bytes = entry.stored_bytes;
    entry.decoders[0] = list->decoders[0];
    if (!entry.bytes)
        entry.offset = 0;
    if (!nt_checked_add(entry.offset, entry.bytes, &end) || end > metadata)
        return nt_fail(list->error, NT_CORRUPT, NT_NO_OFFSET,
                       "blob %" PRIu64 ", %" PRIu64 " bytes at %" PRIu64
                       ", does not end before the metadata at byte %" PRIu64,
                       number, entry.bytes, entry.offset, metadata);
    return nt_lance_page_list_add(list, &entry);
}

static enum nt_status fill_blobs(struct nt_lance_page_list *list, struct nt_lance_page_reader *opened)
{
    const struct nt_lance_decoder_state state = {opened->layout.tree, {.output = NT_LANCE_VALUES}};
    const struct nt_decoder decoder = {.state = &state, .element_bytes = DESCRIPTOR_BYTES};
    struct nt_lance_chunk chunk;
    struct nt_packed packed = {
        .decoder = &decoder, .context = list->context, .limit = list->dataset->file->page_bytes};
    uint64_t bytes;
    NT_TRY(nt_lance_next_chunk(opened, &chunk, list->error));
    NT_TRY(nt_lance_read_chunk(list, opened, &chunk, &packed.data));
    if (!nt_checked_multiply(chunk.values, DESCRIPTOR_BYTES, &bytes) || bytes > packed.limit)
        return nt_fail(list->error, NT_LIMIT, chunk.offset,
                       "the positions of %" PRIu64
                       " blobs in one page need more than the limit pagesize of %" PRIu64 " bytes",
                       chunk.values, packed.limit);
    NT_TRY(nt_lance_page_list_charge(list, bytes));
    packed.bytes = (size_t)chunk.bytes;
    packed.elements = (size_t)chunk.values;
    NT_AUTO_FREE uint8_t *descriptors = malloc(bytes ? bytes : 1);
    NT_TRY(nt_check_memory(descriptors, list->error));
    NT_TRY(nt_lance_decode(&packed, descriptors, list->error));
    for (uint64_t i = 0; i < chunk.values; i++)
        NT_TRY(add_blob(list, descriptors + i * DESCRIPTOR_BYTES, opened->next_value - chunk.values + i));
    const struct nt_page_list_entry entry = {.offset = chunk.offset,
                                             .stored_bytes = chunk.bytes,
                                             .rows = chunk.values,
                                             .decoders = {0, list->decoders[1]}};
    return nt_lance_page_list_add(list, &entry);
}

/* Each blob becomes a page. This decodes their descriptors. */
static enum nt_status lance_fill_blobs(struct nt_lance_page_list *list, struct nt_lance_page_reader *opened)
{
    struct nt_dataset *dataset = list->dataset;
    const struct nt_lance_decoder_state state = {opened->layout.tree,
                                                 lance_presence(opened, list->column_map)};
    const struct nt_dtype valid = nt_element_dtype(NT_ELEMENT_BOOL);
    list->decoders[0] = dataset->columns[nt_field_column(dataset, list->number, 0, 0)].decoder; /* bytes */
    if (list->field->is_nullable)
        NT_TRY(nt_lance_add_decoder(dataset, &state, &valid, NULL, &list->decoders[1], list->error));
    while (opened->next_chunk_number < opened->page_chunks)
        NT_TRY(fill_blobs(list, opened));
    return NT_OK;
}

/* ---- Decoders ---- */

static bool is_all_valid(const struct nt_lance_page_list *list, const struct nt_lance_page_reader *opened)
{
    const struct nt_encoding_tree *tree = opened->layout.tree;
    bool is_bare = (tree->layout == NT_LANCE_MINI_BLOCK || tree->layout == NT_LANCE_FULL_ZIP) &&
                   !nt_lance_has_levels(tree) && !nt_lance_is_null(tree);
    return !opened->layout.is_blob && (opened->is_plain || (is_bare && !list->column_map->depth));
}

/* Are the stored values identical to the column's? Booleans are not: they are stored as bits, but the
 * column has bytes. */
static bool is_plain(const struct nt_lance_page_list *list, const struct nt_lance_page_reader *opened,
                     uint32_t column)
{
    const struct nt_dtype *dtype = &list->dataset->columns[column].dtype;
    uint64_t bytes;
    return opened->is_plain && dtype->element != NT_ELEMENT_BOOL &&
           nt_checked_multiply(list->column_map->items, dtype->bytes, &bytes) && bytes == opened->row_bytes;
}

static enum nt_status add_decoder_at(struct nt_lance_page_list *list,
                                     const struct nt_lance_page_reader *opened, uint32_t position,
                                     const struct nt_lance_dependencies *dependencies)
{
    const struct nt_lance_column_map *column_map = list->column_map;
    uint32_t column = nt_field_column(list->dataset, list->number, 0, position),
             *number = &list->decoders[position];
    const struct nt_dtype *dtype = &list->dataset->columns[column].dtype;
    struct nt_lance_output_spec spec = {.output = nt_lance_page_list_output(list, position)};
    if (spec.output == NT_LANCE_VALUES && is_plain(list, opened, column)) {
        *number = list->dataset->columns[column].decoder;
        return NT_OK;
    }
    if (spec.output == NT_LANCE_VALID && list->is_all_valid)
        return nt_lance_add_all_valid(list->dataset, number, list->error);
    if (opened->layout.is_blob)
        spec = lance_presence(opened, column_map);
    bool is_layer = spec.output == NT_LANCE_VALID || spec.output == NT_LANCE_OFFSETS;
    if (is_layer) {
        spec.layer = column_map->layer;
        spec.repeats = column_map->repeats;
        spec.depth = spec.output == NT_LANCE_VALID ? column_map->depth : 0;
    }
    bool has_values = !is_layer || spec.depth;
    if (has_values) {
        spec.member = column_map->member;
        spec.member_offset = column_map->member_offset;
        spec.member_items = nt_lance_is_structure(opened->layout.tree) ? column_map->items : 0;
    }
    const struct nt_lance_decoder_state state = {opened->layout.tree, spec};
    return nt_lance_add_decoder(list->dataset, &state, dtype, has_values ? dependencies : NULL, number,
                                list->error);
}

static enum nt_status add_decoders(struct nt_lance_page_list *list, const struct nt_lance_page_reader *opened)
{
    struct nt_lance_dependencies dependencies;
    NT_TRY(nt_lance_add_dependencies(list, opened, &dependencies));
    list->is_all_valid = is_all_valid(list, opened);
    for (uint32_t position = 0; position < list->field->column_count; position++)
        if (nt_lance_page_list_has(list, position))
            NT_TRY(add_decoder_at(list, opened, position, &dependencies));
    return NT_OK;
}

/* ---- Counting ---- */

static enum nt_status check_layer(const struct nt_lance_page_list *list,
                                  const struct nt_lance_page_reader *opened)
{
    const struct nt_encoding_tree *tree =
        opened->layout.is_blob ? &opened->layout.blobs : opened->layout.tree;
    if (tree->layout == NT_LANCE_ARRAY || list->column_map->layer < tree->layer_count)
        return NT_OK;
    return nt_fail_below(list->error, NT_CORRUPT, NT_NO_OFFSET, "layers around the values of a page",
                         list->column_map->layer + UINT64_C(1), tree->layer_count);
}

static bool has_to_be_read(const struct nt_lance_page_list *list, const struct nt_lance_page_reader *opened)
{
    const struct nt_encoding_tree *tree = opened->layout.tree;
    bool is_constant_with_levels =
        tree->layout == NT_LANCE_CONSTANT && tree->part_count > tree->has_value_part;
    bool has_unknown_items = opened->offsets.entries && !opened->offsets.item_bytes && tree->repetition_bits;
    return nt_lance_page_list_is_strings(list) || nt_lance_lists(tree, list->column_map->layer) ||
           is_constant_with_levels || has_unknown_items;
}

static enum nt_status count_chunk(struct nt_lance_page_list *list, struct nt_lance_page_reader *opened,
                                  const struct nt_lance_chunk *chunk, struct nt_page_list_entry *entry)
{
    const struct nt_encoding_tree *tree = opened->layout.tree;
    const struct nt_lance_column_map *column_map = list->column_map;
    struct nt_lance_counts counts;
    NT_TRY(nt_lance_count_chunk(list, opened, chunk, nt_lance_page_list_is_strings(list), &counts));
    if (tree->layout == NT_LANCE_MINI_BLOCK && counts.slots[0] != chunk->values)
        return nt_fail_number(list->error, NT_CORRUPT, chunk->offset, "values in the levels of a chunk",
                              chunk->values, counts.slots[0]);
    if (opened->offsets.entries && tree->layer_count && counts.slots[tree->layer_count - 1] != chunk->rows)
        return nt_fail_number(list->error, NT_CORRUPT, chunk->offset, "rows in the repetition index",
                              chunk->rows, counts.slots[tree->layer_count - 1]);
    NT_TRY(
        nt_lance_row_index_check(&opened->index, tree, opened->next_chunk_number - 1, &counts, list->error));
    entry->bytes = counts.bytes;
    if (tree->layer_count) {
        entry->rows = counts.slots[column_map->layer];
        entry->items = column_map->layer ? counts.slots[column_map->layer - 1] : 0;
    }
    return NT_OK;
}

/* Are the rows and items of a chunk known without its levels? The page's index has the rows of the
 * outermost layer that begin in each chunk; the chunk's word, or the row offsets, have the number of
 * values. This suffices if the values are the items of that layer. */
static bool is_uncounted(const struct nt_lance_page_list *list, const struct nt_lance_page_reader *opened,
                         const struct nt_lance_chunk *chunk)
{
    const struct nt_encoding_tree *tree = opened->layout.tree;
    uint32_t lists = nt_lance_lists(tree, list->column_map->layer);
    bool is_list = nt_lance_page_list_kind(list) == NT_FIELD_COLLECTION;
    return (opened->index.entries || opened->offsets.item_bytes) && lists &&
           lists == nt_lance_lists(tree, tree->layer_count) &&
           (!is_list || (lists == 1 && !(chunk->values >> NT_LANCE_ITEMS_BITS)));
}

/* A uniform page has equal entries for chunks of equal length. */
static bool is_as_before(const struct nt_lance_page_list *list, const struct nt_encoding_tree *tree,
                         const struct nt_page_list_entry *entry)
{
    return list->count > list->first_of_page && nt_lance_is_uniform(tree) &&
           list->entry[list->count - 1].rows == entry->rows;
}

static enum nt_status fill_chunk(struct nt_lance_page_list *list, struct nt_lance_page_reader *opened)
{
    const struct nt_encoding_tree *tree = opened->layout.tree;
    struct nt_lance_chunk chunk;
    enum nt_status status = NT_OK;
    NT_TRY(nt_lance_next_chunk(opened, &chunk, list->error));
    struct nt_page_list_entry entry = {.offset = chunk.offset,
                                       .stored_bytes = chunk.bytes,
                                       .rows = chunk.values,
                                       .items = opened->layout.list_items};
    entry.is_all_valid = list->is_all_valid;
    entry.is_uniform = list->column_map->items == 1 && nt_lance_is_uniform(tree);
    if (is_as_before(list, tree, &entry))
        entry.bytes = list->entry[list->count - 1].bytes;
    else if ((entry.is_uncounted = is_uncounted(list, opened, &chunk)))
        entry.rows = opened->index.entries
                         ? nt_lance_row_index_rows(&opened->index, opened->next_chunk_number - 1)
                         : chunk.rows;
    else if (has_to_be_read(list, opened))
        status = count_chunk(list, opened, &chunk, &entry);
    if (entry.is_uncounted)
        entry.items = chunk.values;
    for (uint32_t i = 0; i < NT_PAGE_LIST_DECODERS; i++)
        entry.decoders[i] = list->decoders[i];
    if (status == NT_OK)
        status = nt_lance_page_list_add(list, &entry);
    return nt_lance_page_list_locate_chunk_failure(list, status, opened, &chunk);
}

/* ---- Pages ---- */

static enum nt_status fill_chunks(struct nt_lance_page_list *list, struct nt_lance_page_reader *opened)
{
    NT_TRY(check_layer(list, opened));
    if (nt_lance_lists(opened->layout.tree, list->column_map->layer))
        NT_TRY(nt_lance_row_index_open(list->lance->source, opened->page, &opened->layout,
                                       opened->page_chunks, &opened->index, list->error));
    NT_TRY(nt_lance_read_dictionary(list, opened));
    NT_TRY(add_decoders(list, opened));
    list->first_of_page = list->count;
    while (opened->next_chunk_number < opened->page_chunks)
        NT_TRY(fill_chunk(list, opened));
    return NT_OK;
}

/* Structures of version 2.0 store nothing, as they are never null. */
static bool is_structure(const struct nt_lance_page *page)
{
    struct nt_proto member;
    return page->encoding_kind == NT_LANCE_ENCODING_IS_ARRAY &&
           nt_proto_oneof(page->encoding, &nt_lance_array_encoding, &member) == NT_LANCE_ARRAY_STRUCT;
}

/* Structures of later versions may be null. But if a page of structures without members stores nothing,
 * all of them, and all around them, are valid: its layers claim that they are null, but mean nothing
 * (Lance's structural encoder). */
static bool is_silent(const struct nt_lance_page *page, const struct nt_lance_column_map *column_map)
{
    struct nt_proto member;
    if (!column_map->is_memberless || nt_lance_page_layout_kind(page, &member) != NT_LANCE_LAYOUT_CONSTANT)
        return false;
    for (uint32_t i = 0; i < page->buffer_count; i++)
        if (page->buffers[i].bytes)
            return false;
    return true;
}

static enum nt_status fill_structure(struct nt_lance_page_list *list, const struct nt_lance_page *page)
{
    struct nt_page_list_entry entry = {.rows = page->length, .is_all_valid = true};
    NT_TRY(nt_lance_add_all_valid(list->dataset, &entry.decoders[0], list->error));
    return nt_lance_page_list_add(list, &entry);
}

/* Locators represent structures around the blobs, but not the start of a list. */
static enum nt_status check_around(const struct nt_lance_page_list *list,
                                   const struct nt_lance_page_reader *opened)
{
    const struct nt_encoding_tree *blobs = &opened->layout.blobs;
    bool has_lists = list->column_map->repeats > 1 || nt_lance_lists(blobs, blobs->layer_count);
    if (!has_lists && !opened->layout.dictionary)
        return NT_OK;
    return nt_fail(list->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   has_lists ? "cannot read lists around blobs"
                             : "cannot read blob positions in a dictionary");
}

/* Checks that a page has descriptors of blobs exactly if the field's first page has. */
static enum nt_status check_descriptors(const struct nt_lance_page_list *list,
                                        const struct nt_lance_page_reader *opened)
{
    bool is_layout = opened->page->encoding_kind == NT_LANCE_ENCODING_IS_LAYOUT,
         has_descriptors = list->field->kind == NT_FIELD_PAGE_BYTES,
         has_values = nt_lance_page_list_kind(list) == NT_FIELD_VALUE || nt_lance_page_list_is_strings(list);
    if (opened->layout.is_blob)
        NT_TRY(check_around(list, opened));
    if (!is_layout || !(has_descriptors || has_values) || opened->layout.is_blob == has_descriptors)
        return NT_OK;
    return nt_fail(list->error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "the column has blobs in some pages and values in others");
}

static enum nt_status fill_page(struct nt_lance_page_list *list, const struct nt_lance_page *page,
                                const struct nt_encoding_tree **known)
{
    NT_CLEANUP(nt_lance_close_page) struct nt_lance_page_reader opened = {.page = page};
    uint64_t before = list->rows;
    if (list->field->kind == NT_FIELD_RECORD && (is_structure(page) || is_silent(page, list->column_map)))
        return fill_structure(list, page);
    enum nt_status status =
        nt_lance_open_page(list->dataset, list->lance, page, list->column_map, *known, &opened, list->error);
    if (status == NT_OK)
        status = check_descriptors(list, &opened);
    NT_TRY(nt_lance_page_list_locate_page_failure(list, status, page, false));
    *known = opened.layout.tree;
    status = list->field->kind == NT_FIELD_PAGE_BYTES ? lance_fill_blobs(list, &opened)
                                                      : fill_chunks(list, &opened);
    uint64_t rows = list->rows - before;
    if (status == NT_OK && list->field->parent == NT_NONE && rows != page->length)
        status =
            nt_fail_number(list->error, NT_CORRUPT, NT_NO_OFFSET, "rows of the page", page->length, rows);
    return nt_lance_page_list_locate_page_failure(list, status, page, true);
}

static enum nt_status fill(struct nt_lance_page_list *list)
{
    const struct nt_lance_column *column = &list->lance->columns[list->column_map->column];
    const struct nt_encoding_tree *known = NULL;
    for (uint32_t i = 0; i < column->page_count; i++)
        NT_TRY(nt_with_context(fill_page(list, &column->pages[i], &known), list->error, "page %" PRIu32, i));
    return NT_OK;
}

/* ---- strings of previews of 2.0: lists of bytes, which are in the next column ---- */

static uint64_t count_bytes(const struct nt_lance_page_list *list)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!nt_checked_add(bytes, list->entry[i].bytes, &bytes))
            return UINT64_MAX;
    return bytes;
}

/* `strings` is complete except for the bytes. */
static enum nt_status fill_bytes(const struct nt_lance_page_list *strings, struct nt_group_builder *builder)
{
    static const struct nt_lance_value byte = {.bits = 8};
    const struct nt_lance_column_map column_map = {
        .column = strings->column_map->column + 1, .items = 1, .repeats = 1, .value = &byte};
    struct nt_lance_page_list list = {.dataset = strings->dataset,
                                      .number = strings->number,
                                      .field = strings->field,
                                      .lance = strings->lance,
                                      .column_map = &column_map,
                                      .part = NT_PAGE_LIST_BYTES,
                                      .context = strings->context,
                                      .error = strings->error};
    if (column_map.column >= strings->lance->tail.columns)
        return nt_fail(strings->error, NT_CORRUPT, NT_NO_OFFSET,
                       "no column of bytes follows the column of strings");
    enum nt_status status = fill(&list);
    uint64_t bytes = count_bytes(strings);
    if (status == NT_OK && list.rows != bytes)
        status = nt_fail_number(strings->error, NT_CORRUPT,
                                strings->lance->columns[column_map.column].metadata.offset,
                                "bytes of strings", bytes, list.rows);
    if (status == NT_OK)
        status = nt_lance_page_list_finish(&list, builder);
    list.context = NULL;
    nt_lance_page_list_deinit(&list);
    return nt_with_context(status, strings->error, "column %" PRIu32 " of bytes", column_map.column);
}

static enum nt_status fill_all(struct nt_lance_page_list *list, struct nt_group_builder *builder)
{
    NT_TRY(nt_check_memory(list->context, list->error));
    if (nt_lance_page_list_is_strings(list) &&
        nt_lance_has_byte_column(list->lance, list->column_map->column))
        list->part = NT_PAGE_LIST_WITHOUT_BYTES;
    NT_TRY(fill(list));
    NT_TRY(nt_lance_page_list_finish(list, builder));
    return list->part == NT_PAGE_LIST_WITHOUT_BYTES ? fill_bytes(list, builder) : NT_OK;
}

enum nt_status nt_lance_fill_group(struct nt_dataset *dataset, uint32_t number, const struct nt_lance *lance,
                                   const struct nt_lance_column_map *column_map, struct nt_error *error)
{
    uint32_t field = nt_group_field(dataset, number, NULL);
    struct nt_group_builder builder;
    if (lance->legacy)
        return nt_lance_legacy_fill_group(dataset, number, lance, column_map, error);
    NT_CLEANUP(nt_lance_page_list_deinit)
    struct nt_lance_page_list list = {.dataset = dataset,
                                      .number = field,
                                      .field = &dataset->fields[field],
                                      .lance = lance,
                                      .column_map = column_map,
                                      .context = nt_codec_context_new(),
                                      .error = error};
    enum nt_status status =
        nt_group_builder_init(&builder, dataset, number, "list of pages", NT_NO_OFFSET, error);
    if (status == NT_OK)
        status = fill_all(&list, &builder);
    nt_with_context(status, error, "column %" PRIu32 " of the file", column_map->column);
    return nt_group_builder_finish(&builder, status);
}

enum nt_status nt_lance_load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    const struct nt_lance_column_map column_map =
        nt_lance_map_own_column(lance, nt_group_field(dataset, number, NULL));
    return nt_lance_fill_group(dataset, number, lance, &column_map, error);
}

/* ---- Rows that the metadata has ---- */

static uint32_t count_lists_around(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t lists = 0;
    while ((field = nt_field_row_parent(dataset, field)) != NT_NONE)
        lists += dataset->fields[field].kind == NT_FIELD_COLLECTION;
    return lists;
}

/* Each value of a mini-block page is a row of the fields within all lists of the page. */
bool nt_lance_known_elements(const struct nt_dataset *dataset, const struct nt_lance *lance, uint32_t field,
                             const struct nt_lance_column_map *column_map, uint32_t position,
                             uint64_t *elements_ret)
{
    const uint32_t number = column_map->column;
    const struct nt_lance_column *column = number < lance->tail.columns ? &lance->columns[number] : NULL;
    const uint32_t lists = count_lists_around(dataset, field);
    const enum nt_field_kind kind = dataset->fields[field].kind;
    bool is_known = lists && column && !column->failure && column_map->items == 1 &&
                    column_map->repeats == 1 && kind != NT_FIELD_PAGE_BYTES &&
                    nt_lance_output(kind, position) != NT_LANCE_BYTES;
    *elements_ret = 0;
    for (uint32_t i = 0; is_known && i < column->page_count; i++) {
        const struct nt_lance_page *page = &column->pages[i];
        struct nt_proto member;
        is_known = nt_lance_page_layout_kind(page, &member) == NT_LANCE_LAYOUT_MINI_BLOCK &&
                   !nt_lance_has_descriptors(page) && page->lists == lists &&
                   nt_checked_add(*elements_ret, nt_proto_number(member, NT_LANCE_MINI_BLOCK_NUM_ITEMS),
                                  elements_ret);
    }
    return is_known;
}

/* ---- Bytes that are read ---- */

/* The buffer with the values of a page: the page list is built from the other buffers if the values need
 * not be counted. NT_NONE: in 2.0, and in pages of a single value, the list then needs no buffer. */
static uint32_t find_values(const struct nt_lance_page *page)
{
    struct nt_proto member;
    switch (nt_lance_page_layout_kind(page, &member)) {
    case NT_LANCE_LAYOUT_MINI_BLOCK:
        return 1;
    case NT_LANCE_LAYOUT_FULL_ZIP:
        return 0;
    default:
        return NT_NONE;
    }
}

/* Buffers of a page and of the next one are aligned to 64 bytes: those that touch are one range. */
static void plan_buffer(const struct nt_lance *lance, const struct nt_lance_buffer *buffer,
                        struct nt_prefetch *prefetch)
{
    enum { ALIGNMENT = 64 };
    struct nt_extent *last = prefetch->count ? &prefetch->ranges[prefetch->count - 1].extent : NULL;
    uint64_t end = last ? last->offset + last->bytes : 0, between = buffer->offset - end;
    if (!buffer->bytes)
        return;
    if (last && prefetch->ranges[prefetch->count - 1].source == lance->source && between < ALIGNMENT) {
        last->bytes += between + buffer->bytes;
        prefetch->bytes += between + buffer->bytes;
    } else {
        nt_prefetch_add_range(prefetch, lance->source, lance->number,
                              (struct nt_extent){buffer->offset, buffer->bytes});
    }
}

static void plan_page(const struct nt_lance *lance, const struct nt_lance_page *page, bool with_values,
                      struct nt_prefetch *prefetch)
{
    uint32_t values = find_values(page);
    if (!with_values && values == NT_NONE)
        return;
    for (uint32_t i = 0; i < page->buffer_count; i++)
        if (with_values || i != values)
            plan_buffer(lance, &page->buffers[i], prefetch);
}

/* The ends of lists of lists are in the buffers of the values. */
static void plan_column(const struct nt_lance *lance, uint32_t number, bool with_values, bool are_lists,
                        struct nt_prefetch *prefetch)
{
    const struct nt_lance_column *column = number < lance->tail.columns ? &lance->columns[number] : NULL;
    for (uint32_t i = 0; column && !column->failure && i < column->page_count; i++)
        plan_page(lance, &column->pages[i], with_values || (are_lists && column->pages[i].lists > 1),
                  prefetch);
}

void nt_lance_plan_column(const struct nt_lance *lance, const struct nt_field *field, uint32_t column,
                          bool with_pages, struct nt_prefetch *prefetch)
{
    bool is_text =
        field->kind == NT_FIELD_STRING || field->kind == NT_FIELD_STREAMED || field->kind == NT_FIELD_JSON;
    if (lance->legacy)
        return;
    /* A mount lists sizes of which no values may be read. */
    if (!with_pages && !prefetch->count && !nt_source_spare_bytes(lance->source, false))
        prefetch->need = NT_PREFETCH_ONLY;
    plan_column(lance, column, with_pages || is_text || field->kind == NT_FIELD_PAGE_BYTES,
                field->kind == NT_FIELD_COLLECTION, prefetch);
    if (with_pages && is_text && nt_lance_has_byte_column(lance, column))
        plan_column(lance, column + 1, true, false, prefetch);
}
