/* SPDX-License-Identifier: MIT
 *
 * The files of a column's pages: pages.jsonl, and in pages/ the stored and the decoded bytes of each
 * page and the parts that the format provides.
 */
#include "vfs/vfs.h"

/* ---- pages.jsonl ---- */

struct pages {
    struct nt_text_generator text;
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    uint64_t number; /* of the next page */
    uint64_t ahead;  /* the ends of the pages before this one have been requested */
};

/* Requests the bytes for the next lines at once. */
static void prefetch_ends(struct pages *pages)
{
    enum { PAGES = 128 };
    struct nt_prefetch prefetch = {.need = NT_PREFETCH_ONLY};
    struct nt_page_position place;
    uint64_t end = pages->number + PAGES;
    if (pages->number < pages->ahead || !nt_prefetch_helps(pages->dataset))
        return;
    for (pages->ahead = pages->number;
         pages->ahead < end && nt_column_page_pin(pages->reader, pages->dataset, pages->column, pages->ahead,
                                                  &place, NULL) == NT_OK;
         pages->ahead++) {
        nt_prefetch_add_ends(&prefetch, pages->dataset, place.page);
        nt_group_unpin(place.group);
    }
    nt_prefetch_submit(&prefetch);
}

/* Members from the page's bytes. Damage is reported in the line, whose other members remain. */
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
    return nt_is_environmental(status) ? nt_fail_copy(error, &failure) : NT_OK;
}

static enum nt_status put_extents(struct nt_json *json, const struct nt_dataset *dataset,
                                  const struct nt_page *page, struct nt_error *error)
{
    NT_AUTO_FREE struct nt_extent *extents = NULL;
    size_t count = 0;
    if (!dataset->ops || !dataset->ops->page_extents)
        return NT_OK;
    enum nt_status status = dataset->ops->page_extents(dataset, page, &extents, &count, error);
    if (status == NT_OK && count > 1) {
        nt_json_member_array(json, "extents");
        for (size_t i = 0; i < count; i++) {
            nt_json_object(json);
            nt_json_member_unsigned(json, "file_offset", extents[i].offset);
            nt_json_member_unsigned(json, "stored_bytes", extents[i].bytes);
            nt_json_end_object(json);
        }
        nt_json_end_array(json);
    }
    return nt_is_environmental(status) ? status : NT_OK;
}

/* The parts of the page, each with its owner as in layout.jsonl. */
static void put_buffers(struct nt_json *json, const struct pages *pages, const struct nt_page *page)
{
    struct nt_page_file files[NT_PAGE_FILES];
    const struct nt_dataset *dataset = pages->dataset;
    if (!dataset->ops || !dataset->ops->page_files)
        return;
    uint32_t count = dataset->ops->page_files(dataset, pages->column, page, files);
    nt_json_member_array(json, "buffers");
    for (uint32_t i = 0; i < count && files[i].kind == NT_PAGE_FILE_RANGE; i++) {
        nt_json_object(json);
        nt_json_member_string(json, "owner", files[i].owner);
        nt_json_member_unsigned(json, "file_offset", files[i].offset);
        nt_json_member_unsigned(json, "stored_bytes", files[i].bytes);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static void put_offset(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_page *page)
{
    const struct nt_source *own = dataset->file->source, *source = own;
    if (page->source < dataset->source_count)
        source = dataset->sources[page->source];
    if (source == own || strcmp(source->path, own->path) == 0)
        nt_json_member_file_offset(json, source, page->offset);
    else
        nt_json_member_location(json, source, page->offset);
}

static enum nt_status put_page(const struct pages *pages, const struct nt_page_position *place,
                               struct nt_buffer *out, struct nt_error *error)
{
    const struct nt_dataset *dataset = pages->dataset;
    const struct nt_page *page = place->page;
    uint64_t packed, decoded;
    struct nt_json json;
    NT_TRY(nt_page_sizes(dataset, page, &packed, &decoded, error));
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "page", pages->number);
    nt_json_member_unsigned(&json, "cluster", place->cluster);
    nt_json_member_unsigned(&json, "first_element", place->first_element);
    nt_json_member_unsigned(&json, "elements", page->elements);
    put_offset(&json, dataset, page);
    nt_json_member_unsigned(&json, "stored_bytes", page->stored_bytes);
    nt_json_member_unsigned(&json, "packed_bytes", packed);
    nt_json_member_unsigned(&json, "decoded_bytes", decoded);
    nt_json_ratio(&json, packed, page->stored_bytes);
    NT_TRY(put_stored(&json, pages->dataset, page, error));
    NT_TRY(put_extents(&json, dataset, page, error));
    put_buffers(&json, pages, page);
    if (dataset->ops && dataset->ops->describe_page) {
        enum nt_status status = dataset->ops->describe_page(dataset, pages->column, page, &json);
        if (status != NT_OK)
            return nt_fail(error, status, page->offset, "cannot describe page %" PRIu64, pages->number);
    }
    nt_json_finish(&json);
    return NT_OK;
}

static enum nt_status next_page(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                struct nt_error *error)
{
    struct pages *pages = (struct pages *)text;
    NT_CLEANUP(nt_page_unpin_at) struct nt_page_position place = {0};
    prefetch_ends(pages);
    enum nt_status status =
        nt_column_page_pin(pages->reader, pages->dataset, pages->column, pages->number, &place, error);
    *more_ret = status != NT_NOT_FOUND;
    if (status == NT_OK)
        status = put_page(pages, &place, out, error);
    pages->number += status == NT_OK;
    return *more_ret ? status : NT_OK;
}

enum nt_status nt_pages_jsonl(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                              struct nt_error *error)
{
    struct pages *pages = calloc(1, sizeof(*pages));
    NT_TRY(nt_check_memory(pages, error));
    *pages =
        (struct pages){.text = {.next = nt_text_next_lines, .next_line = next_page, .free = nt_text_free},
                       .reader = resolved->vfs->reader,
                       .dataset = resolved->dataset,
                       .column = resolved->column};
    *text_ret = &pages->text;
    return NT_OK;
}

/* ---- Page files ---- */

/* For NT_CLEANUP. */
static void unpin(struct nt_range_file *range_file)
{
    nt_group_unpin(range_file->group);
}

/* Pins the page. The caller unpins it, even after a failure. */
static enum nt_status find_page(const struct nt_resolved_node *resolved, struct nt_range_file *range_file,
                                uint64_t *decoded_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_page_unpin_at) struct nt_page_position place = {0};
    uint64_t packed;
    NT_TRY(nt_column_page_pin(resolved->vfs->reader, resolved->dataset, resolved->column,
                              resolved->node.number, &place, error));
    *range_file = (struct nt_range_file){
        .reader = resolved->vfs->reader,
        .dataset = resolved->dataset,
        .column = resolved->column,
        .first_byte =
            place.first_element * nt_column_decoder(resolved->dataset, resolved->column)->element_bytes,
        .page = place.page,
        .group = place.group,
    };
    place.group = NULL; /* the range has its pin */
    return nt_page_sizes(resolved->dataset, place.page, &packed, decoded_ret, error);
}

/* Sizes of pages may block: a listing of them has read all page lists. */
static enum nt_status page_content(const struct nt_resolved_node *resolved, bool may_block,
                                   uint64_t *size_ret, struct nt_content **content_ret,
                                   struct nt_error *error)
{
    NT_CLEANUP(unpin) struct nt_range_file range_file = {0};
    uint64_t bytes;
    bool is_raw = resolved->pseudo == &nt_page_raw_file;
    NT_TRY(find_page(resolved, &range_file, &bytes, error));
    if (is_raw)
        bytes = range_file.page->stored_bytes;
    if (content_ret)
        return nt_range_file_content(&range_file, NULL, bytes,
                                     is_raw ? &nt_range_file_stored : &nt_range_file_decoded, content_ret,
                                     error);
    *size_ret = bytes;
    return NT_OK;
}

const struct nt_pseudo_file nt_page_raw_file = {".raw", NT_VFS_SIZED, .content = page_content};
const struct nt_pseudo_file nt_page_bin_file = {".bin", NT_VFS_SIZED, .content = page_content};

/* ---- Parts of a page ---- */

enum nt_status nt_page_files(const struct nt_resolved_node *column, uint64_t number,
                             struct nt_page_file files[NT_PAGE_FILES], uint32_t *count_ret,
                             struct nt_error *error)
{
    const struct nt_dataset_ops *ops = column->dataset->ops;
    NT_CLEANUP(nt_page_unpin_at) struct nt_page_position place = {0};
    *count_ret = 0;
    if (!ops || !ops->page_files)
        return NT_OK;
    enum nt_status status =
        nt_column_page_pin(column->vfs->reader, column->dataset, column->column, number, &place, error);
    if (status == NT_OK)
        *count_ret = ops->page_files(column->dataset, column->column, place.page, files);
    return nt_is_environmental(status) ? status : NT_OK;
}

/* The page that must be decoded before the node's page, which is pinned. */
static enum nt_status find_dependency(const struct nt_resolved_node *resolved,
                                      struct nt_range_file *range_file, uint64_t *decoded_ret,
                                      struct nt_error *error)
{
    uint64_t packed;
    NT_TRY(find_page(resolved, range_file, decoded_ret, error));
    const struct nt_decoder *decoder =
        nt_decoders_get(&resolved->dataset->decoders, range_file->page->decoder);
    uint32_t dependency = resolved->page_file.dependency;
    range_file->first_byte = 0;
    if (dependency >= decoder->dependency_count)
        return nt_fail_no_such_file(error);
    range_file->page = &decoder->dependencies[dependency];
    return nt_page_sizes(resolved->dataset, range_file->page, &packed, decoded_ret, error);
}

static enum nt_status part_content(const struct nt_resolved_node *resolved, bool may_block,
                                   uint64_t *size_ret, struct nt_content **content_ret,
                                   struct nt_error *error)
{
    NT_CLEANUP(unpin) struct nt_range_file range_file = {0};
    uint64_t bytes = resolved->page_file.bytes, decoded;
    bool is_range = resolved->page_file.kind == NT_PAGE_FILE_RANGE;
    if (is_range && !content_ret) {
        *size_ret = bytes;
        return NT_OK;
    }
    NT_TRY(is_range ? find_page(resolved, &range_file, &decoded, error)
                    : find_dependency(resolved, &range_file, &bytes, error));
    if (is_range)
        range_file.first_byte = resolved->page_file.offset;
    if (content_ret)
        return nt_range_file_content(&range_file, NULL, bytes,
                                     is_range ? &nt_range_file_source : &nt_range_file_page, content_ret,
                                     error);
    *size_ret = bytes;
    return NT_OK;
}

static enum nt_status part_text(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                                struct nt_error *error)
{
    NT_CLEANUP(unpin) struct nt_range_file range_file = {0};
    uint64_t decoded;
    NT_TRY(find_page(resolved, &range_file, &decoded, error));
    return resolved->page_file.open(resolved->dataset, resolved->column, range_file.page, text_ret, error);
}

const struct nt_pseudo_file nt_page_part_file = {"", NT_VFS_SIZED, .content = part_content};
const struct nt_pseudo_file nt_page_text_file = {"", NT_VFS_STREAMED, .open_text = part_text,
                                                 .is_short = nt_chunks_are_short};

/* ---- The directory: index = page * slots of a page + slot of the file ---- */

enum { RAW, BIN, FIRST_PART, MAX_SLOTS = 32 };

static bool pack_page(const struct nt_resolved_node *directory, uint64_t page, unsigned slot,
                      uint64_t *node_ret)
{
    const struct nt_node node = {.type = slot == RAW   ? NT_NODE_PAGE_RAW
                                         : slot == BIN ? NT_NODE_PAGE_BIN
                                                       : NT_NODE_PAGE_FILE,
                                 .owner = directory->node.owner,
                                 .item = directory->column,
                                 .file = slot < FIRST_PART ? 0 : NT_NODE_SELF + slot - FIRST_PART,
                                 .number = page};
    return nt_node_pack(&node, node_ret);
}

static enum nt_status count_pages(const struct nt_resolved_node *directory, uint64_t *pages_ret,
                                  struct nt_error *error)
{
    uint64_t elements;
    return nt_column_size(directory->vfs->reader, directory->dataset, directory->column, &elements, pages_ret,
                          error);
}

/* A small file can request a longer listing, which is useless. Omitted entries still open by name. */
enum { MAX_LISTED = 50000 };

static enum nt_status pages_next(const struct nt_resolved_node *directory, uint64_t *index,
                                 struct nt_dir_entry *listed, struct nt_error *error)
{
    struct nt_page_file files[NT_PAGE_FILES];
    const char *suffix;
    unsigned slots = directory->dataset->ops->page_files ? MAX_SLOTS : FIRST_PART;
    uint64_t pages, page = *index / slots;
    unsigned slot = *index % slots;
    uint32_t count = 0;
    NT_TRY(count_pages(directory, &pages, error));
    if (slot >= FIRST_PART)
        NT_TRY(nt_page_files(directory, page, files, &count, error));
    if (slot >= FIRST_PART && slot - FIRST_PART >= count) {
        *index = ++page * slots;
        slot = RAW;
    }
    if (page >= MAX_LISTED || page >= pages || !pack_page(directory, page, slot, &listed->node))
        return nt_fail_no_such_file(error);
    listed->class = NT_VFS_SIZED;
    suffix = slot == RAW ? nt_page_raw_file.name : nt_page_bin_file.name;
    if (slot >= FIRST_PART) {
        suffix = files[slot - FIRST_PART].suffix;
        if (files[slot - FIRST_PART].kind == NT_PAGE_FILE_TEXT)
            listed->class = NT_VFS_STREAMED;
    }
    snprintf(listed->name, sizeof(listed->name), "%llu%s", (unsigned long long)page, suffix);
    return NT_OK;
}

/* Which of its page's files does a name refer to? */
static enum nt_status find_slot(const struct nt_resolved_node *directory, const char *name,
                                uint64_t *page_ret, unsigned *slot_ret, struct nt_error *error)
{
    struct nt_page_file files[NT_PAGE_FILES];
    uint32_t count;
    *slot_ret = RAW;
    if (nt_parse_between(name, "", nt_page_raw_file.name, page_ret))
        return NT_OK;
    *slot_ret = BIN;
    if (nt_parse_between(name, "", nt_page_bin_file.name, page_ret))
        return NT_OK;
    const char *suffix = strchr(name, '.');
    if (!suffix || !nt_parse_between(name, "", suffix, page_ret))
        return nt_fail_no_such_file(error);
    NT_TRY(nt_page_files(directory, *page_ret, files, &count, error));
    for (*slot_ret = FIRST_PART; *slot_ret - FIRST_PART < count; ++*slot_ret)
        if (strcmp(files[*slot_ret - FIRST_PART].suffix, suffix) == 0)
            return NT_OK;
    return nt_fail_no_such_file(error);
}

static enum nt_status pages_find(const struct nt_resolved_node *directory, const char *name,
                                 uint64_t *node_ret, struct nt_error *error)
{
    uint64_t page, pages;
    unsigned slot;
    NT_TRY(find_slot(directory, name, &page, &slot, error));
    NT_TRY(count_pages(directory, &pages, error));
    return page < pages && pack_page(directory, page, slot, node_ret) ? NT_OK : nt_fail_no_such_file(error);
}

const struct nt_dir_source nt_dir_source_pages = {.next = pages_next, .find = pages_find};
