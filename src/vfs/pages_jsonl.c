/* SPDX-License-Identifier: MIT
 *
 * pages.jsonl: a line for each page of a column that the file holds, in order.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "read/page.h"
#include "vfs/documents.h"
#include "render/json_values.h"

struct pages {
    struct nt_long_text text;
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    uint64_t number; /* of the next page */
};

/* What the bytes of the page tell: damaged ones are told as such, the rest of the line stands. */
static enum nt_status put_stored(struct nt_json *json, struct nt_dataset *dataset, const struct nt_page *page,
                                 struct nt_error *error)
{
    char digest[NT_CHECKSUM_TEXT];
    const char *algorithm = NULL;
    struct nt_error failure = {0};
    enum nt_status status = nt_page_algorithm(dataset, page, &algorithm, &failure);
    nt_json_member_string(json, "compression", status == NT_OK ? algorithm : NULL);
    nt_json_member_string(json, "checksum_kind", nt_checksum_info(page->checksum)->name);
    if (status == NT_OK)
        status = nt_page_load_digest(dataset, page, digest, &failure);
    nt_json_member_string(json, "checksum", status == NT_OK && digest[0] ? digest : NULL);
    if (status != NT_OK)
        nt_json_member_text(json, "unreadable", nt_text_of(failure.message));
    return nt_is_machine_failure(status) ? nt_fail_with(error, &failure) : NT_OK;
}

static enum nt_status put_extents(struct nt_json *json, const struct nt_dataset *dataset,
                                  const struct nt_page *page, struct nt_error *error)
{
    struct nt_extent *extents = NULL;
    size_t count = 0;
    if (!dataset->ops || !dataset->ops->page_extents)
        return NT_OK;
    enum nt_status status = dataset->ops->page_extents(dataset, page, &extents, &count, error);
    if (status == NT_OK && count > 1) {
        nt_json_key(json, "extents");
        nt_json_array(json);
        for (size_t i = 0; i < count; i++) {
            nt_json_object(json);
            nt_json_member_unsigned(json, "file_offset", extents[i].offset);
            nt_json_member_unsigned(json, "stored_bytes", extents[i].bytes);
            nt_json_end_object(json);
        }
        nt_json_end_array(json);
    }
    free(extents);
    return nt_is_machine_failure(status) ? status : NT_OK;
}

/* What the page consists of, each with its owner in layout.jsonl. */
static void put_buffers(struct nt_json *json, const struct pages *pages, const struct nt_page *page)
{
    struct nt_page_file files[NT_PAGE_FILES];
    const struct nt_dataset *dataset = pages->dataset;
    if (!dataset->ops || !dataset->ops->page_files)
        return;
    uint32_t count = dataset->ops->page_files(dataset, pages->column, page, files);
    nt_json_key(json, "buffers");
    nt_json_array(json);
    for (uint32_t i = 0; i < count && files[i].kind == NT_PAGE_FILE_RANGE; i++) {
        nt_json_object(json);
        nt_json_member_string(json, "owner", files[i].owner);
        nt_json_member_unsigned(json, "file_offset", files[i].offset);
        nt_json_member_unsigned(json, "stored_bytes", files[i].bytes);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static enum nt_status put_page(const struct pages *pages, const struct nt_page *page, uint32_t cluster,
                               uint64_t first_element, struct nt_buffer *out, struct nt_error *error)
{
    const struct nt_dataset *dataset = pages->dataset;
    uint64_t packed, decoded;
    struct nt_json json;
    enum nt_status status = nt_page_sizes(dataset, page, &packed, &decoded, error);
    if (status != NT_OK)
        return status;
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "page", pages->number);
    nt_json_member_unsigned(&json, "cluster", cluster);
    nt_json_member_unsigned(&json, "first_element", first_element);
    nt_json_member_unsigned(&json, "elements", page->elements);
    if (page->source < dataset->source_count && dataset->sources[page->source] != dataset->file->source)
        nt_json_member_place(&json, dataset->sources[page->source], page->offset);
    else
        nt_json_member_unsigned(&json, "file_offset", page->offset);
    nt_json_member_unsigned(&json, "stored_bytes", page->stored_bytes);
    nt_json_member_unsigned(&json, "packed_bytes", packed);
    nt_json_member_unsigned(&json, "decoded_bytes", decoded);
    nt_json_ratio(&json, packed, page->stored_bytes);
    status = put_stored(&json, pages->dataset, page, error);
    if (status == NT_OK)
        status = put_extents(&json, dataset, page, error);
    put_buffers(&json, pages, page);
    if (status == NT_OK && dataset->ops && dataset->ops->describe_page &&
        (status = dataset->ops->describe_page(dataset, pages->column, page, &json)) != NT_OK)
        nt_fail(error, status, page->offset, "page %" PRIu64 " cannot be described", pages->number);
    nt_json_finish(&json);
    return status;
}

static enum nt_status next(struct nt_long_text *text, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    enum { PIECE = 32768 };
    struct pages *pages = (struct pages *)text;
    size_t start = out->length;
    while (out->length - start < PIECE && !out->failed) {
        const struct nt_page *page;
        uint32_t cluster;
        uint64_t first_element;
        size_t line = out->length;
        enum nt_status status = nt_column_page(pages->reader, pages->dataset, pages->column, pages->number,
                                               &page, &cluster, &first_element, error);
        if (status == NT_NOT_FOUND) {
            *more_ret = false;
            return NT_OK;
        }
        if (status == NT_OK)
            status = put_page(pages, page, cluster, first_element, out, error);
        if (status != NT_OK && line > start) {
            out->length = line; /* the lines before are given; the next call fails at once */
            break;
        }
        if (status != NT_OK)
            return status;
        pages->number++;
    }
    *more_ret = true;
    return NT_OK;
}

static void free_pages(struct nt_long_text *text)
{
    free(text);
}

enum nt_status nt_pages_jsonl(const struct nt_scope *scope, struct nt_long_text **text_ret,
                              struct nt_error *error)
{
    struct pages *pages = calloc(1, sizeof(*pages));
    if (!pages)
        return nt_fail_memory(error);
    *pages = (struct pages){
        {.next = next, .free = free_pages}, scope->vfs->reader, scope->dataset, scope->column, 0};
    *text_ret = &pages->text;
    return NT_OK;
}
