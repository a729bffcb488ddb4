/* SPDX-License-Identifier: MIT
 *
 * In: a column of the file. Out: its pages as they are: of each its buffers from the first byte to the last, and how
 * what is stored in them is decoded in one piece.
 *
 * Of a constant one value is stored, or none; of a page without any bytes nothing.
 */
#include "formats/lance/file/stored.h"

#include <inttypes.h>

#include "core/base/overflow.h"
#include "formats/lance/file/columns.h"
#include "formats/lance/file/filling.h"
#include "formats/lance/file/inputs.h"
#include "formats/lance/file/kept_trees.h"
#include "formats/lance/file/places.h"
#include "formats/lance/file/reading.h"
#include "formats/lance/file/homes.h"
#include "formats/lance/file/content.h"
#include "core/model/builder.h"

/* What a column of the side has of a page of the file. */
struct stored {
    const struct nt_tree *tree;
    uint64_t values, bytes, levels;
};

/* ---- trees ---- */

static enum nt_status keep_tree(struct nt_filling *filling, const struct nt_tree *tree, struct stored *stored)
{
    return nt_lance_keep_tree(filling->dataset->file, NULL, tree, &stored->tree, filling->error);
}

/* All chunks of the page, or all of its rows. */
static enum nt_status make_whole(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                 const struct nt_lance_unit *span, struct stored *stored)
{
    struct nt_tree_part parts[2];
    struct nt_tree tree = *opened->layout.tree;
    tree.is_whole = true;
    tree.part_count = tree.layout == NT_TREE_MINI_BLOCK ? 2 : 1;
    for (uint32_t i = 0; i < tree.part_count;
         i++) { /* there are as many, as was checked when it was opened */
        const struct nt_lance_buffer *buffer = &opened->page->buffers[i];
        parts[i] = (struct nt_tree_part){buffer->bytes ? buffer->offset - span->offset : 0, buffer->bytes};
    }
    stored->values = opened->layout.items;
    tree.parts = parts;
    return keep_tree(filling, &tree, stored);
}

/* The value without what surrounds it. */
static enum nt_status make_single(struct nt_filling *filling, const struct nt_tree *constant,
                                  struct stored *stored)
{
    struct nt_tree tree = *constant;
    tree.part_count = constant->has_value_part;
    tree.repetition = tree.definition = NT_NO_NODE;
    tree.repetition_count = tree.definition_count = 0;
    tree.layer_count = 1;
    tree.layers[0] = NT_LAYER_ITEM;
    stored->values = tree.value || tree.has_value_part;
    return keep_tree(filling, &tree, stored);
}

static enum nt_status make_tree(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                enum nt_tree_output output, const struct nt_lance_unit *span,
                                struct stored *stored)
{
    const struct nt_tree *tree = opened->layout.tree;
    *stored = (struct stored){.tree = tree, .values = nt_lance_is_uniform(tree) ? 0 : opened->page->length};
    if (tree->layout == NT_TREE_MINI_BLOCK || tree->layout == NT_TREE_FULL_ZIP)
        return make_whole(filling, opened, span, stored);
    if (tree->layout == NT_TREE_CONSTANT && output != NT_TREE_LEVELS)
        return make_single(filling, tree, stored);
    return NT_OK;
}

/* ---- counting ---- */

static enum nt_status count_units(struct nt_filling *filling, struct nt_lance_opened *opened,
                                  bool wants_bytes, struct stored *stored)
{
    struct nt_lance_unit unit;
    struct nt_tree_counts counts;
    enum nt_status status = NT_OK;
    while (status == NT_OK && opened->next_unit < opened->unit_count) {
        status = nt_lance_next_unit(opened, &unit, filling->error);
        if (status == NT_OK)
            status = nt_lance_count_unit(filling, opened, &unit, wants_bytes, &counts);
        if (status == NT_OK && (!nt_add(stored->bytes, counts.bytes, &stored->bytes) ||
                                !nt_add(stored->levels, counts.levels, &stored->levels)))
            status = nt_fail(filling->error, NT_CORRUPT, unit.offset, "more than 2^64 bytes or levels");
        if (status != NT_OK)
            nt_error_context(filling->error, "unit %" PRIu64 " at byte %" PRIu64, opened->next_unit - 1,
                             unit.offset);
        status = nt_filling_place_failure(filling, status, unit.offset);
    }
    return status;
}

/* A constant's bytes. */
static enum nt_status count_single(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                   const struct nt_lance_unit *span, struct stored *stored)
{
    struct nt_lance_opened single = *opened;
    struct nt_tree_counts counts;
    single.layout.tree = stored->tree;
    const struct nt_lance_unit unit = {
        .offset = span->offset, .bytes = span->bytes, .values = stored->values};
    if (!stored->values)
        return NT_OK;
    enum nt_status status = nt_lance_count_unit(filling, &single, &unit, true, &counts);
    stored->bytes = counts.bytes;
    return status;
}

static enum nt_status count(struct nt_filling *filling, struct nt_lance_opened *opened,
                            enum nt_tree_output output, const struct nt_lance_unit *span,
                            struct stored *stored)
{
    const struct nt_tree *tree = opened->layout.tree;
    bool is_constant = tree->layout == NT_TREE_CONSTANT;
    if (output == NT_TREE_BYTES && is_constant)
        return count_single(filling, opened, span, stored);
    bool has_levels = is_constant ? !nt_lance_is_uniform(tree) : nt_tree_has_levels(tree);
    bool has_bytes = stored->values && !nt_lance_has_lists(opened->page); /* else the next column has them */
    bool is_counted = output == NT_TREE_BYTES ? has_bytes : output == NT_TREE_LEVELS && has_levels;
    return is_counted ? count_units(filling, opened, output == NT_TREE_BYTES, stored) : NT_OK;
}

/* ---- pages ---- */

static enum nt_status add_page(struct nt_filling *filling, struct nt_group_builder *builder, uint32_t column,
                               const struct nt_lance_opened *opened, const struct nt_lance_unit *span,
                               const struct stored *stored)
{
    enum nt_lance_content content = nt_lance_content_of(&filling->dataset->columns[column]);
    const struct nt_lance_content_info *info = nt_lance_content_info(content);
    const struct nt_tree_want want = {.output = info->output,
                                      .member = content == NT_LANCE_HAS_ROWS ? NT_TREE_ALL_MEMBERS : 0,
                                      .is_stored = true};
    struct nt_page inputs[2],
        page = {.offset = span->offset, .stored_bytes = span->bytes, .source = filling->lance->number};
    uint32_t input_count = 0;
    uint64_t elements = stored->values;
    enum nt_status status = NT_OK;
    if (info->output != NT_TREE_LEVELS)
        status = nt_lance_add_inputs(filling, opened, inputs, &input_count);
    if (status == NT_OK)
        status =
            nt_filling_add_decoder(filling, stored->tree, &want, &filling->dataset->columns[column].dtype,
                                   inputs, input_count, &page.decoder);
    if (info->output == NT_TREE_BYTES || info->output == NT_TREE_LEVELS) {
        page.parameter = stored->values;
        elements = info->output == NT_TREE_BYTES ? stored->bytes : stored->levels;
    } else if (info->output == NT_TREE_VALUES && !nt_multiply(elements, filling->use->items, &elements)) {
        elements = UINT64_MAX;
    }
    page.elements = (uint32_t)elements;
    if (status == NT_OK && elements > UINT32_MAX)
        status = nt_fail(filling->error, NT_LIMIT, span->offset,
                         "%" PRIu64 " elements in one page, more than the limit of 2^32", elements);
    return status == NT_OK ? nt_group_builder_add(builder, &page, filling->error) : status;
}

static enum nt_status store_page(struct nt_filling *filling, struct nt_group_builder *builder,
                                 uint32_t column, const struct nt_lance_page *page,
                                 const struct nt_tree **known)
{
    enum nt_lance_content content = nt_lance_content_of(&filling->dataset->columns[column]);
    enum nt_tree_output output = nt_lance_content_info(content)->output;
    struct nt_lance_unit span = nt_lance_page_span(page);
    struct nt_lance_opened opened;
    struct stored stored;
    if (content == NT_LANCE_HAS_NOTHING) {
        const struct nt_page bare = {.offset = span.offset,
                                     .stored_bytes = span.bytes,
                                     .source = filling->lance->number,
                                     .decoder = filling->dataset->columns[column].decoder};
        return nt_group_builder_add(builder, &bare, filling->error);
    }
    enum nt_status status = nt_lance_open_page(filling->dataset, filling->lance, page, filling->use, *known,
                                               &opened, filling->error);
    if (status == NT_OK) {
        *known = opened.layout.tree;
        status = make_tree(filling, &opened, output, &span, &stored);
    } else {
        nt_filling_place_page_failure(filling, status, page, false);
    }
    if (status == NT_OK && output != NT_TREE_LEVELS)
        status = nt_lance_read_dictionary(filling, &opened);
    if (status == NT_OK)
        status = count(filling, &opened, output, &span, &stored);
    if (status == NT_OK)
        status = add_page(filling, builder, column, &opened, &span, &stored);
    nt_lance_close_page(&opened);
    return nt_filling_place_page_failure(filling, status, page, true);
}

static enum nt_status store_column(struct nt_filling *filling, struct nt_group_builder *builder,
                                   uint32_t column)
{
    const struct nt_lance_column *of = &filling->lance->columns[filling->use->column];
    const struct nt_tree *known = NULL;
    enum nt_status status =
        nt_group_builder_start(builder, builder->group->first_cluster, column, filling->error);
    for (uint32_t i = 0; status == NT_OK && i < of->page_count; i++) {
        status = store_page(filling, builder, column, &of->pages[i], &known);
        if (status != NT_OK)
            nt_error_context(filling->error, "page %" PRIu32, i);
    }
    return status;
}

static enum nt_status store_columns(struct nt_dataset *side, uint32_t number,
                                    const struct nt_lance_home *home, struct nt_group_builder *builder,
                                    struct nt_error *error)
{
    uint32_t count, field = side->groups[number].field;
    const uint32_t *columns = nt_field_columns(side, field, &count);
    struct nt_filling filling = {.dataset = side,
                                 .number = field,
                                 .field = &side->fields[field],
                                 .lance = home->lance,
                                 .use = &home->use,
                                 .context = nt_codec_context_new(),
                                 .error = error};
    enum nt_status status = filling.context ? NT_OK : nt_fail_memory(error);
    for (uint32_t i = 0; status == NT_OK && i < count; i++)
        status = store_column(&filling, builder, columns[i]);
    if (status != NT_OK)
        nt_error_context(error, "column %" PRIu32 " of the file", home->use.column);
    nt_filling_deinit(&filling);
    return status;
}

enum nt_status nt_lance_load_stored(struct nt_dataset *side, uint32_t number, struct nt_error *error)
{
    uint32_t field = side->groups[number].field, part = number - side->field_groups[field];
    struct nt_lance_home home;
    struct nt_group_builder builder;
    enum nt_status status =
        nt_group_builder_init(&builder, side, number, "list of pages", NT_NO_OFFSET, error);
    if (status == NT_OK)
        status = nt_lance_side_of(side)->find_home(side->whole, field, part, &home, error);
    if (status == NT_OK && home.lance) {
        status = store_columns(side, number, &home, &builder, error);
        if (status != NT_OK && home.name)
            nt_error_context(error, "fragment %" PRIu64 ": %s", home.fragment, home.name);
    }
    return nt_group_builder_finish(&builder, status);
}
