/* SPDX-License-Identifier: MIT
 *
 * In: a verified page list envelope. Out: its records. Specification, "Page List Envelope", "Page Locations".
 */
#include "formats/rntuple/page_list.h"

enum {
    LEAST_PAGE_BYTES = 8,   /* number of elements, an empty special locator */
    LEAST_COLUMN_BYTES = 8, /* element offset; a suppressed column has nothing else */
    LEAST_SUMMARY_BYTES = 16,
    PAGE_HAS_CRC32 = 1,
};

enum nt_status nt_page_list_read(const struct nt_envelope *envelope, struct nt_page_list *list_ret,
                                 struct nt_error *error)
{
    const struct nt_generation *generation = envelope->generation;
    struct nt_page_list list = {0};
    struct nt_cursor cursor = envelope->payload;
    enum nt_status status = NT_OK;
    if (generation->has_summaries_in_page_list) {
        list.header_checksum = nt_get_le64(&cursor);
        nt_tell(&cursor, "page list", "header checksum");
        status =
            nt_list_frame(envelope, &cursor, "list of cluster summaries",
                          nt_record_frame_bytes(generation) + LEAST_SUMMARY_BYTES, &list.summaries, error);
    }
    if (status == NT_OK)
        status = nt_list_frame(envelope, &cursor, "list of clusters", nt_list_frame_bytes(generation),
                               &list.clusters, error);
    list.unknown_bytes = nt_cursor_left(&cursor);
    *list_ret = list;
    return status;
}

enum nt_status nt_cluster_columns_read(const struct nt_envelope *envelope, struct nt_cursor *clusters,
                                       struct nt_frame *columns_ret, struct nt_error *error)
{
    uint32_t least = nt_list_frame_bytes(envelope->generation) + LEAST_COLUMN_BYTES;
    return nt_list_frame(envelope, clusters, "list of columns of a cluster", least, columns_ret, error);
}

enum nt_status nt_column_pages_read(const struct nt_envelope *envelope, struct nt_cursor *columns,
                                    struct nt_column_pages *pages_ret, struct nt_error *error)
{
    *pages_ret = (struct nt_column_pages){0};
    return nt_list_frame(envelope, columns, "list of pages", LEAST_PAGE_BYTES, &pages_ret->pages, error);
}

/* The count's sign says that a checksum follows the page; in the CRC32 drafts, the lower of two flag bits
 * does. */
struct nt_page_record nt_page_record_read(const struct nt_envelope *envelope, struct nt_cursor *pages)
{
    const struct nt_generation *generation = envelope->generation;
    struct nt_page_record page = {0};
    uint32_t word = nt_get_le32(pages);
    nt_tell(pages, "page", "elements and checksum");
    if (generation->page_element_bits == 30) {
        page.elements = word & 0x3fffffff;
        page.has_checksum = word >> 30 & PAGE_HAS_CRC32;
    } else {
        page.has_checksum = (int32_t)word < 0;
        page.elements = page.has_checksum ? 0 - word : word;
    }
    page.locator = nt_locator_read(pages, generation);
    return page;
}

enum nt_status nt_column_pages_finish(const struct nt_envelope *envelope, struct nt_column_pages *pages,
                                      struct nt_error *error)
{
    struct nt_cursor *cursor = &pages->pages.payload;
    int64_t offset = (int64_t)nt_get_le64(cursor);
    nt_tell(cursor, "column in a cluster", "first element");
    pages->is_suppressed = offset < 0;
    pages->first_element = offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset;
    if (!pages->is_suppressed) {
        pages->compression_settings = nt_get_le32(cursor);
        nt_tell(cursor, "column in a cluster", "compression settings");
    }
    if (pages->is_suppressed && pages->pages.items > 0)
        return nt_envelope_fail(envelope, cursor, NT_CORRUPT, error, "a suppressed column has %u pages",
                                pages->pages.items);
    pages->unknown_bytes = nt_cursor_left(cursor);
    return nt_envelope_check(envelope, cursor, "list of pages", error);
}
