/* SPDX-License-Identifier: MIT
 *
 * Tells which bytes of a file are read to build the page list of a column, and to read its pages.
 */
#include "core/io/source.h"
#include "formats/lance/file/file.h"
#include "formats/lance/file/messages.h"

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

static void plan_page(const struct nt_lance *lance, const struct nt_lance_page *page, bool with_values,
                      struct nt_prefetch *prefetch)
{
    uint32_t values = find_values(page);
    if (!with_values && values == NT_NONE)
        return;
    for (uint32_t i = 0; i < page->buffer_count; i++)
        if ((with_values || i != values) && page->buffers[i].bytes)
            nt_prefetch_add_range(prefetch, lance->source, lance->number,
                                  (struct nt_extent){page->buffers[i].offset, page->buffers[i].bytes});
}

static void plan_column(const struct nt_lance *lance, uint32_t number, bool with_values,
                        struct nt_prefetch *prefetch)
{
    const struct nt_lance_column *column = number < lance->tail.columns ? &lance->columns[number] : NULL;
    for (uint32_t i = 0; column && !column->failure && i < column->page_count; i++)
        plan_page(lance, &column->pages[i], with_values, prefetch);
}

void nt_lance_plan_column(const struct nt_lance *lance, const struct nt_field *field, uint32_t column,
                          bool with_pages, struct nt_prefetch *prefetch)
{
    bool is_text =
        field->kind == NT_FIELD_STRING || field->kind == NT_FIELD_STREAMED || field->kind == NT_FIELD_JSON;
    if (lance->legacy)
        return;
    plan_column(lance, column, with_pages || is_text || field->kind == NT_FIELD_PAGE_BYTES, prefetch);
    if (with_pages && is_text && nt_lance_has_byte_column(lance, column))
        plan_column(lance, column + 1, true, prefetch);
}
