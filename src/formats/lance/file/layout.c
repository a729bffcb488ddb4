/* SPDX-License-Identifier: MIT
 *
 * In: an open file of any version. Out: its tail, tables, messages and padding.
 */
#include "formats/lance/file/layout.h"

#include "formats/lance/file/details.h"
#include "formats/lance/legacy/describe.h"
#include "formats/lance/file/padding.h"
#include "formats/lance/file/places.h"

enum nt_status nt_lance_lay_out_file(const struct nt_lance *lance, const struct nt_layout_output *output,
                                     struct nt_error *error)
{
    if (lance->legacy)
        return nt_lance_legacy_lay_out(lance, output, error);
    enum nt_status status = nt_lance_layout_put_own(lance, output);
    return status == NT_OK ? nt_lance_layout_put_padding(lance, output) : status;
}

enum nt_status nt_lance_layout_put_column(const struct nt_lance_column *column,
                                          const struct nt_layout_output *output, const char *owner)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < column->page_count; i++)
        for (uint32_t k = 0; status == NT_OK && k < column->pages[i].buffer_count; k++)
            status = nt_layout_put(output, column->pages[i].buffers[k].offset,
                                   column->pages[i].buffers[k].bytes, owner);
    return status;
}

enum nt_status nt_lance_layout_put_bytes(const struct nt_lance *lance, const struct nt_layout_output *output)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < lance->schema.field_count; i++) {
        uint32_t column = nt_lance_byte_column(lance, &lance->schema, &lance->leaves[i]);
        if (column != NT_NONE)
            status = nt_lance_layout_put_column(&lance->columns[column], output, "bytes of strings");
    }
    return status;
}
