/* SPDX-License-Identifier: MIT
 *
 * In: a page's place. Out: its stored bytes, its digest and what compressed it, as they are: nothing is
 * verified.
 */
#include <stdlib.h>

#include "core/base/overflow.h"
#include "read/load.h"
#include "read/page.h"

/* Bytes [offset, offset + bytes) of the page's stored bytes with the digest behind them, from where
 * they lie. */
static enum nt_status read_raw(struct nt_dataset *dataset, const struct nt_page *page, uint64_t offset,
                               uint8_t *output, size_t bytes, struct nt_error *error)
{
    struct nt_source *source = dataset->sources[page->source];
    if (page->compression == NT_COMPRESSION_ELSEWHERE)
        return nt_page_fail_elsewhere(dataset, page, error);
    struct nt_extent *extents = NULL;
    size_t count = 0;
    enum nt_status status = NT_OK;
    if (dataset->ops && dataset->ops->page_extents)
        status = dataset->ops->page_extents(dataset, page, &extents, &count, error);
    if (status == NT_OK && !extents)
        return nt_source_read(source, page->offset + offset, output, bytes, error);
    for (size_t i = 0; status == NT_OK && bytes && i < count; i++) {
        if (offset >= extents[i].bytes) {
            offset -= extents[i].bytes;
            continue;
        }
        uint64_t left = extents[i].bytes - offset;
        size_t part = left < bytes ? (size_t)left : bytes;
        status = nt_source_read(source, extents[i].offset + offset, output, part, error);
        output += part;
        bytes -= part;
        offset = 0;
    }
    free(extents);
    if (status == NT_OK && bytes)
        status = nt_fail(error, NT_TRUNCATED, page->offset, "the extents of the page are %zu bytes too short",
                         bytes);
    return status;
}

enum nt_status nt_page_load_stored(struct nt_dataset *dataset, const struct nt_page *page, uint64_t offset,
                                   void *output, size_t bytes, struct nt_error *error)
{
    if (!nt_fits(offset, bytes, page->stored_bytes))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "past the end of the page's stored bytes");
    return bytes ? read_raw(dataset, page, offset, output, bytes, error) : NT_OK;
}

enum nt_status nt_page_load_digest(struct nt_dataset *dataset, const struct nt_page *page, char *hex,
                                   struct nt_error *error)
{
    uint8_t digest[64];
    uint32_t bytes = nt_checksum_info(page->checksum)->bytes;
    enum nt_status status = NT_OK;
    *hex = '\0';
    if (bytes)
        status = read_raw(dataset, page, page->stored_bytes, digest, bytes, error);
    if (status == NT_OK)
        nt_checksum_text(page->checksum, digest, hex);
    return status;
}

enum nt_status nt_page_find_algorithm(struct nt_dataset *dataset, const struct nt_page *page,
                                      enum nt_algorithm *algorithm_ret, struct nt_error *error)
{
    uint8_t start[16] = {0};
    size_t bytes = page->stored_bytes < sizeof(start) ? (size_t)page->stored_bytes : sizeof(start);
    uint64_t packed = 0, decoded = 0;
    enum nt_status status = NT_OK;
    if (nt_compression_info(page->compression)->algorithm) {
        status = nt_page_sizes(dataset, page, &packed, &decoded, error);
        if (status == NT_OK)
            status = nt_page_load_stored(dataset, page, 0, start, bytes, error);
    }
    *algorithm_ret = NT_ALGORITHM_UNKNOWN;
    if (status == NT_OK)
        *algorithm_ret =
            nt_compression_algorithm(page->compression, start, (size_t)page->stored_bytes, (size_t)packed);
    return status;
}

enum nt_status nt_page_algorithm(struct nt_dataset *dataset, const struct nt_page *page,
                                 const char **name_ret, struct nt_error *error)
{
    enum nt_algorithm algorithm;
    enum nt_status status = nt_page_find_algorithm(dataset, page, &algorithm, error);
    *name_ret = nt_algorithm_name(algorithm);
    return status;
}
