/* SPDX-License-Identifier: MIT
 *
 * In: a column or page of the model. Out: the column and page of the file that it is a part of, the page's layout
 * and encodings, and what of it is taken.
 */
#include "format/lance/describe.h"

#include "codec/plan.h"
#include "codec/tree/wording.h"
#include "format/lance/places.h"

static struct nt_lance_use use_of(const struct nt_dataset *dataset, uint32_t column)
{
    return nt_lance_use_in(nt_lance_of(dataset), dataset->columns[column].field);
}

void nt_lance_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json)
{
    const struct nt_lance_use use = use_of(dataset, column);
    nt_json_member_unsigned(json, "file_column", use.column);
    nt_json_member_unsigned(json, "layer", use.layer);
}

static bool has_place(const struct nt_lance_page *page, uint64_t offset)
{
    for (uint32_t i = 0; i < page->buffer_count; i++)
        if (offset >= page->buffers[i].offset && offset - page->buffers[i].offset < page->buffers[i].bytes)
            return true;
    return false;
}

/* A page without bytes, or a blob, lies in none. */
static void put_file_page(const struct nt_lance_column *column, const struct nt_page *page,
                          struct nt_json *json)
{
    for (uint32_t i = 0; page->stored_bytes && i < column->page_count; i++)
        if (has_place(&column->pages[i], page->offset)) {
            nt_json_member_unsigned(json, "file_page", i);
            return;
        }
    nt_json_key(json, "file_page");
    nt_json_null(json);
}

enum nt_status nt_lance_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                      const struct nt_page *page, struct nt_json *json)
{
    return nt_lance_describe_page_of(dataset, nt_lance_of(dataset), use_of(dataset, column).column, page,
                                     json);
}

enum nt_status nt_lance_describe_page_of(const struct nt_dataset *dataset, const struct nt_lance *lance,
                                         uint32_t file_column, const struct nt_page *page,
                                         struct nt_json *json)
{
    enum { TEXT = 512 };
    char text[TEXT];
    const struct nt_plan *plan = nt_decoders_get(&dataset->decoders, page->decoder)->plan;
    nt_json_member_unsigned(json, "file_column", file_column);
    put_file_page(&lance->columns[file_column], page, json);
    if (!plan)
        return NT_OK;
    const struct nt_step *step = &plan->steps[plan->step_count - 1];
    nt_tree_text(step->tree, text, sizeof(text));
    nt_json_member_string(json, "layout", nt_tree_layout_name(step->tree->layout));
    nt_json_member_string(json, "encodings", text);
    nt_json_member_string(json, "taken", nt_tree_output_name(step->want.output));
    return NT_OK;
}
