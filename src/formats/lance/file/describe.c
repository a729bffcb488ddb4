/* SPDX-License-Identifier: MIT
 *
 * In: a column or page as the stored side has it, or a page of a data set's field. Out: what the file tells of it: layout and
 * encodings, and of the latter the page of the file that it is a part of, and what is taken of that.
 */
#include "formats/lance/file/describe.h"

#include "core/codec/plan.h"
#include "formats/lance/decode/wording.h"
#include "formats/lance/file/details.h"
#include "formats/lance/file/homes.h"

/* How a page's values are encoded, of one that is decoded by a tree: its step. */
static const struct nt_step *put_encodings(const struct nt_dataset *dataset, const struct nt_page *page,
                                           struct nt_json *json)
{
    enum { TEXT = 512 };
    char text[TEXT];
    const struct nt_plan *plan = nt_decoders_get(&dataset->decoders, page->decoder)->plan;
    if (!plan)
        return NULL;
    const struct nt_step *step = &plan->steps[plan->step_count - 1];
    nt_tree_text(step->tree, text, sizeof(text));
    nt_json_member_string(json, "layout", nt_tree_layout_name(step->tree->layout));
    nt_json_member_string(json, "encodings", text);
    return step;
}

/* ---- columns of a file ---- */

/* Of a data set each page tells, as each file has its own. */
void nt_lance_describe_column(const struct nt_dataset *stored, uint32_t column, struct nt_json *json)
{
    if (!nt_lance_side_of(stored)->find_part)
        nt_json_member_unsigned(json, "file_column", stored->columns[column].id);
}

static enum nt_status describe_page(const struct nt_dataset *stored, uint32_t column,
                                    const struct nt_page *page, struct nt_json *json)
{
    struct nt_lance_home home;
    const struct nt_lance_page *of = nt_lance_file_page(stored, column, page, &home);
    if (of && home.name) {
        nt_json_member_unsigned(json, "fragment", home.fragment);
        nt_json_member_unsigned(json, "file_column", home.use.column);
        nt_json_member_unsigned(json, "file_page",
                                (uint64_t)(of - home.lance->columns[home.use.column].pages));
    }
    put_encodings(stored, page, json);
    if (of)
        nt_lance_page_json(json, of);
    return NT_OK;
}

enum nt_status nt_lance_describe_page(const struct nt_dataset *stored, uint32_t column,
                                      const struct nt_page *page, struct nt_json *json)
{
    nt_lock_take(&stored->whole->lock);
    enum nt_status status = describe_page(stored, column, page, json);
    nt_lock_give(&stored->whole->lock);
    return status;
}

/* ---- pages of fields ---- */

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

enum nt_status nt_lance_describe_page_of(const struct nt_dataset *dataset, const struct nt_lance *lance,
                                         uint32_t file_column, const struct nt_page *page,
                                         struct nt_json *json)
{
    nt_json_member_unsigned(json, "file_column", file_column);
    put_file_page(&lance->columns[file_column], page, json);
    const struct nt_step *step = put_encodings(dataset, page, json);
    if (step)
        nt_json_member_string(json, "taken", nt_tree_output_name(step->want.output));
    return NT_OK;
}
