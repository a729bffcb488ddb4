/* SPDX-License-Identifier: MIT
 *
 * pages/<n>.raw and pages/<n>.bin of a column: the bytes of a page as stored, and its decoded elements.
 */
#include "page/page.h"
#include "vfs/documents.h"
#include "vfs/pseudo.h"
#include "vfs/stretch.h"

/* ---- the files ---- */

static enum nt_status find_page(const struct nt_scope *scope, struct nt_stretch *stretch,
                                uint64_t *decoded_ret, struct nt_error *error)
{
    uint32_t cluster;
    uint64_t first_element, packed;
    *stretch = (struct nt_stretch){scope->vfs->reader, scope->dataset, scope->column, NULL, 0};
    enum nt_status status =
        nt_column_page(scope->vfs->reader, scope->dataset, scope->column, scope->node.number, &stretch->page,
                       &cluster, &first_element, error);
    if (status != NT_OK)
        return status;
    stretch->first_byte = first_element * nt_column_decoder(scope->dataset, scope->column)->element_bytes;
    return nt_page_sizes(scope->dataset, stretch->page, &packed, decoded_ret, error);
}

static enum nt_status page_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                struct nt_error *error)
{
    struct nt_stretch stretch;
    uint64_t decoded;
    if (!may_work &&
        !nt_groups_are_loaded(scope->dataset, nt_groups_of_column(scope->dataset, scope->column)))
        return nt_unknown_size(error);
    enum nt_status status = find_page(scope, &stretch, &decoded, error);
    if (status == NT_OK)
        *size_ret = scope->pseudo == &nt_page_raw_file ? stretch.page->stored_bytes : decoded;
    return status;
}

static enum nt_status page_open(const struct nt_scope *scope, struct nt_content **content_ret,
                                struct nt_error *error)
{
    struct nt_buffer none = {0};
    struct nt_stretch stretch;
    uint64_t decoded;
    enum nt_status status = find_page(scope, &stretch, &decoded, error);
    if (status != NT_OK)
        return status;
    if (scope->pseudo == &nt_page_raw_file)
        return nt_stretch_content(&stretch, &none, stretch.page->stored_bytes, nt_stretch_read_stored,
                                  content_ret, error);
    return nt_stretch_content(&stretch, &none, decoded, nt_stretch_read_decoded, content_ret, error);
}

const struct nt_pseudo nt_page_raw_file = {".raw", NT_VFS_SIZED, .size = page_size, .open = page_open};
const struct nt_pseudo nt_page_bin_file = {".bin", NT_VFS_SIZED, .size = page_size, .open = page_open};

/* ---- the directory: index = 2 * page, + 1 for .bin ---- */

static bool pack_page(const struct nt_scope *directory, uint64_t page, bool is_decoded, uint64_t *node_ret)
{
    const struct nt_node node = {.level = is_decoded ? NT_LEVEL_PAGE_BIN : NT_LEVEL_PAGE_RAW,
                                 .slot = directory->node.slot,
                                 .item = directory->column,
                                 .number = page};
    return nt_node_pack(&node, node_ret);
}

static enum nt_status count_pages(const struct nt_scope *directory, uint64_t *pages_ret,
                                  struct nt_error *error)
{
    uint64_t elements;
    return nt_column_size(directory->vfs->reader, directory->dataset, directory->column, &elements, pages_ret,
                          error);
}

/* A longer listing helps nobody, and a small file can ask for it; what is behind opens by name. */
enum { MOST_LISTED = 50000 };

static enum nt_status pages_next(const struct nt_scope *directory, uint64_t *index, struct nt_listed *listed,
                                 struct nt_error *error)
{
    uint64_t pages, page = *index / 2;
    bool is_decoded = *index % 2;
    enum nt_status status = count_pages(directory, &pages, error);
    if (status != NT_OK)
        return status;
    if (page >= MOST_LISTED || page >= pages || !pack_page(directory, page, is_decoded, &listed->node))
        return nt_no_such_file(error);
    listed->class = NT_VFS_SIZED;
    snprintf(listed->name, sizeof(listed->name), "%llu%s", (unsigned long long)page,
             is_decoded ? nt_page_bin_file.name : nt_page_raw_file.name);
    return NT_OK;
}

static enum nt_status pages_find(const struct nt_scope *directory, const char *name, uint64_t *node_ret,
                                 struct nt_error *error)
{
    uint64_t page, pages;
    bool is_decoded = nt_parse_between(name, "", nt_page_bin_file.name, &page);
    if (!is_decoded && !nt_parse_between(name, "", nt_page_raw_file.name, &page))
        return nt_no_such_file(error);
    enum nt_status status = count_pages(directory, &pages, error);
    if (status != NT_OK)
        return status;
    return page < pages && pack_page(directory, page, is_decoded, node_ret) ? NT_OK : nt_no_such_file(error);
}

const struct nt_section nt_section_pages = {.next = pages_next, .find = pages_find};
