/* SPDX-License-Identifier: MIT
 *
 * The files of column.<k>/: a column as the file stores it; and of its pages.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/overflow.h"
#include "vfs/content.h"
#include "vfs/documents.h"
#include "vfs/npy.h"
#include "vfs/pseudo.h"

/* A stretch of a column's decoded bytes, or of a page's stored ones. */
struct stretch {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    const struct nt_page *page;
    uint64_t first_byte;
};

static enum nt_status read_decoded(void *body, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    const struct stretch *stretch = body;
    return nt_column_read(stretch->reader, stretch->dataset, stretch->column, stretch->first_byte + offset,
                          buffer, bytes, error);
}

static enum nt_status read_stored(void *body, uint64_t offset, void *buffer, size_t bytes,
                                  struct nt_error *error)
{
    const struct stretch *stretch = body;
    return nt_page_load_stored(stretch->dataset, stretch->page, offset, buffer, bytes, error);
}

static enum nt_status new_content(const struct stretch *stretch, struct nt_buffer *header, uint64_t size,
                                  nt_content_read_body *read, struct nt_content **content_ret,
                                  struct nt_error *error)
{
    struct stretch *copy = malloc(sizeof(*copy));
    if (!copy) {
        nt_buffer_deinit(header);
        return nt_fail_memory(error);
    }
    *copy = *stretch;
    const struct nt_content_body body = {copy, size, read, free};
    return nt_content_new(header->bytes, header->length, &body, content_ret, error);
}

/* ---- data.bin, data.npy ---- */

/* A column of a type that is not known has no decoded elements; one of OPAQUE elements has no dtype of its
 * own. */
static const struct nt_decoder *decoder_of(const struct nt_scope *scope)
{
    return &scope->dataset->decoders[scope->dataset->columns[scope->column].decoder];
}

static bool has_data(const struct nt_scope *scope, unsigned parameter)
{
    (void)parameter;
    return decoder_of(scope)->encoding != NT_ENCODING_UNKNOWN;
}

static enum nt_status put_npy_header(const struct nt_scope *scope, uint64_t elements,
                                     struct nt_buffer *header, struct nt_error *error)
{
    struct nt_buffer name = {0}, descr = {0};
    nt_append_column_dtype(&name, scope->dataset, scope->column);
    const char *quote = name.length && name.bytes[0] == '[' ? "" : "'";
    nt_buffer_format(&descr, "%s%s%s", quote, name.bytes ? name.bytes : "", quote);
    nt_npy_header(header, descr.bytes ? descr.bytes : "", false, &elements, 1);
    bool failed = name.failed || descr.failed || header->failed;
    nt_buffer_deinit(&name);
    nt_buffer_deinit(&descr);
    return failed ? nt_fail_memory(error) : NT_OK;
}

enum { IS_NPY = 1 };

static enum nt_status measure(const struct nt_scope *scope, struct nt_buffer *header, uint64_t *bytes_ret,
                              struct nt_error *error)
{
    uint64_t elements, pages;
    enum nt_status status =
        nt_column_size(scope->vfs->reader, scope->dataset, scope->column, &elements, &pages, error);
    if (status == NT_OK && !nt_multiply(elements, decoder_of(scope)->element_bytes, bytes_ret))
        status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of the column overflows");
    if (status == NT_OK && scope->pseudo->parameter == IS_NPY)
        status = put_npy_header(scope, elements, header, error);
    return status;
}

static enum nt_status data_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                struct nt_error *error)
{
    struct nt_buffer header = {0};
    uint64_t bytes;
    if (!may_work && !nt_is_loaded(scope->dataset))
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "the size is not known without reading page lists");
    enum nt_status status = measure(scope, &header, &bytes, error);
    if (status == NT_OK && !nt_add(bytes, header.length, size_ret))
        status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of the column overflows");
    nt_buffer_deinit(&header);
    return status;
}

static enum nt_status data_open(const struct nt_scope *scope, struct nt_content **content_ret,
                                struct nt_error *error)
{
    const struct stretch stretch = {scope->vfs->reader, scope->dataset, scope->column, NULL, 0};
    struct nt_buffer header = {0};
    uint64_t bytes;
    enum nt_status status = measure(scope, &header, &bytes, error);
    if (status == NT_OK)
        return new_content(&stretch, &header, bytes, read_decoded, content_ret, error);
    nt_buffer_deinit(&header);
    return status;
}

/* ---- pages ---- */

static enum nt_status find_page(const struct nt_scope *scope, struct stretch *stretch, uint64_t *decoded_ret,
                                struct nt_error *error)
{
    uint32_t cluster;
    uint64_t first_element, packed;
    *stretch = (struct stretch){scope->vfs->reader, scope->dataset, scope->column, NULL, 0};
    enum nt_status status =
        nt_column_page(scope->vfs->reader, scope->dataset, scope->column, scope->node.number, &stretch->page,
                       &cluster, &first_element, error);
    if (status != NT_OK)
        return status;
    stretch->first_byte = first_element * decoder_of(scope)->element_bytes;
    return nt_page_sizes(scope->dataset, stretch->page, &packed, decoded_ret, error);
}

static enum nt_status page_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                struct nt_error *error)
{
    struct stretch stretch;
    uint64_t decoded;
    if (!may_work && !nt_is_loaded(scope->dataset))
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "the size is not known without reading page lists");
    enum nt_status status = find_page(scope, &stretch, &decoded, error);
    if (status == NT_OK)
        *size_ret = scope->pseudo == &nt_page_raw_file ? stretch.page->stored_bytes : decoded;
    return status;
}

static enum nt_status page_open(const struct nt_scope *scope, struct nt_content **content_ret,
                                struct nt_error *error)
{
    struct nt_buffer none = {0};
    struct stretch stretch;
    uint64_t decoded;
    enum nt_status status = find_page(scope, &stretch, &decoded, error);
    if (status != NT_OK)
        return status;
    if (scope->pseudo == &nt_page_raw_file)
        return new_content(&stretch, &none, stretch.page->stored_bytes, read_stored, content_ret, error);
    return new_content(&stretch, &none, decoded, read_decoded, content_ret, error);
}

/* ---- the tables ---- */

const struct nt_pseudo nt_page_raw_file = {".raw", NT_VFS_SIZED, .size = page_size, .open = page_open};
const struct nt_pseudo nt_page_bin_file = {".bin", NT_VFS_SIZED, .size = page_size, .open = page_open};

static const struct nt_section *const pages_sections[] = {&nt_section_pages, NULL};

static const struct nt_pseudo rows[] = {
    {"column.json", NT_VFS_PRODUCED, .produce = nt_column_json},
    {"data.bin", NT_VFS_SIZED, .exists = has_data, .size = data_size, .open = data_open},
    {"data.npy", NT_VFS_SIZED, IS_NPY, .exists = has_data, .size = data_size, .open = data_open},
    {"pages.jsonl", NT_VFS_STREAMED, .stream = nt_pages_jsonl},
    {"pages", NT_VFS_DIRECTORY, .sections = pages_sections},
};

const struct nt_pseudo_table nt_column_files = {rows, sizeof(rows) / sizeof(rows[0])};
