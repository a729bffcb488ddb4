/* SPDX-License-Identifier: MIT
 *
 * In: all buffers that the metadata name. Out: the few bytes between two of them that nobody names.
 */
#include "formats/lance/file/padding.h"

#include <stdlib.h>

#include "formats/lance/file/columns.h"

enum { ALIGNMENT = 64 };

struct buffers {
    struct nt_lance_buffer *items; /* from malloc */
    size_t count;
};

static int compare_buffers(const void *left, const void *right)
{
    const struct nt_lance_buffer *a = left, *b = right;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool has_blobs(const struct nt_lance *lance)
{
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        const struct nt_lance_column *column = &lance->columns[i];
        if (column->is_blob)
            return true;
        for (uint32_t k = 0; k < column->page_count; k++)
            if (nt_lance_has_places(&column->pages[k]))
                return true;
    }
    return false;
}

static void add(struct buffers *buffers, const struct nt_lance_buffer *added, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (added[i].bytes)
            buffers->items[buffers->count++] = added[i];
}

static size_t count_all(const struct nt_lance *lance)
{
    size_t count = (size_t)lance->tail.globals + 1;
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        count += (size_t)lance->columns[i].buffer_count + 1;
        for (uint32_t k = 0; k < lance->columns[i].page_count; k++)
            count += lance->columns[i].pages[k].buffer_count;
    }
    return count;
}

static void add_all(struct buffers *buffers, const struct nt_lance *lance)
{
    const struct nt_lance_buffer table = {lance->tail.column_table, 1};
    add(buffers, lance->globals, lance->tail.globals);
    add(buffers, &table, 1);
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        const struct nt_lance_column *column = &lance->columns[i];
        add(buffers, &column->metadata, 1);
        add(buffers, column->buffers, column->buffer_count);
        for (uint32_t k = 0; k < column->page_count; k++)
            add(buffers, column->pages[k].buffers, column->pages[k].buffer_count);
    }
}

enum nt_status nt_lance_layout_put_padding(const struct nt_lance *lance,
                                           const struct nt_layout_output *output)
{
    struct buffers buffers = {0};
    enum nt_status status = NT_OK;
    uint64_t end = 0;
    if (has_blobs(lance))
        return NT_OK;
    buffers.items = malloc(count_all(lance) * sizeof(*buffers.items));
    if (!buffers.items)
        return NT_NO_MEMORY;
    add_all(&buffers, lance);
    qsort(buffers.items, buffers.count, sizeof(*buffers.items), compare_buffers);
    for (size_t i = 0; status == NT_OK && i < buffers.count; i++) {
        const struct nt_lance_buffer *buffer = &buffers.items[i];
        if (buffer->offset > end && buffer->offset - end < ALIGNMENT)
            status = nt_layout_put(output, end, buffer->offset - end, "padding");
        if (buffer->offset + buffer->bytes > end) /* within the file: no overflow */
            end = buffer->offset + buffer->bytes;
    }
    free(buffers.items);
    return status;
}
