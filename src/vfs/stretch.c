/* SPDX-License-Identifier: MIT
 *
 * In: a column, or a page of it. Out: the content of a file that holds its decoded or stored bytes.
 */
#include "vfs/stretch.h"

#include <stdlib.h>

#include "read/page.h"

enum nt_status nt_stretch_read_decoded(void *body, uint64_t offset, void *buffer, size_t bytes,
                                       struct nt_error *error)
{
    const struct nt_stretch *stretch = body;
    return nt_column_read(stretch->reader, stretch->dataset, stretch->column, stretch->first_byte + offset,
                          buffer, bytes, error);
}

enum nt_status nt_stretch_read_stored(void *body, uint64_t offset, void *buffer, size_t bytes,
                                      struct nt_error *error)
{
    const struct nt_stretch *stretch = body;
    enum nt_status status =
        nt_page_load_stored(stretch->dataset, stretch->page, offset, buffer, bytes, error);
    return status == NT_OK ? NT_OK
                           : nt_page_error(stretch->dataset, stretch->column, stretch->page, status, error);
}

enum nt_status nt_stretch_read_page(void *body, uint64_t offset, void *buffer, size_t bytes,
                                    struct nt_error *error)
{
    const struct nt_stretch *stretch = body;
    return nt_page_read(stretch->reader, stretch->dataset, stretch->column, stretch->page, offset, buffer,
                        bytes, error);
}

enum nt_status nt_stretch_read_source(void *body, uint64_t offset, void *buffer, size_t bytes,
                                      struct nt_error *error)
{
    const struct nt_stretch *stretch = body;
    struct nt_source *source = stretch->dataset->sources[stretch->page->source];
    return nt_source_read(source, stretch->first_byte + offset, buffer, bytes, error);
}

enum nt_status nt_stretch_content(const struct nt_stretch *stretch, struct nt_buffer *header, uint64_t size,
                                  nt_content_read_body *read, struct nt_content **content_ret,
                                  struct nt_error *error)
{
    struct nt_stretch *copy = malloc(sizeof(*copy));
    if (!copy) {
        nt_buffer_deinit(header);
        return nt_fail_memory(error);
    }
    *copy = *stretch;
    const struct nt_content_body body = {.body = copy, .size = size, .read = read, .close = free};
    return nt_content_new(header->bytes, header->length, &body, content_ret, error);
}
