/* SPDX-License-Identifier: MIT
 *
 * Reads pages through the cache or directly into the caller's memory, partly if blocks can be
 * decompressed alone, and as stored bytes. Errors of a page name its column, cluster and number, and
 * are reported once.
 */
#include "read/page.h"

#include <stdio.h>

/* ---- Errors of a page ---- */

/* The cluster whose range of the column holds the page. */
static bool find_cluster(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                         uint32_t *cluster_ret, uint64_t *number_ret)
{
    const struct nt_group *group = nt_page_group(dataset, column, page);
    uint64_t index = group ? (uint64_t)(page - group->pages) : 0;
    for (uint32_t i = 0; group && i < group->clusters; i++) {
        const struct nt_range *range = nt_group_range(dataset, group, group->first_cluster + i, column);
        if (index >= range->first_page && index - range->first_page < range->pages) {
            *cluster_ret = group->first_cluster + i;
            *number_ret = index - range->first_page;
            return true;
        }
    }
    return false;
}

/* Adds the location of a page that is an object: its name. A failed download has already added it. */
static void name_object(const struct nt_source *source, uint64_t address, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    char location[40];
    size_t length = strlen(error->message);
    size_t end = (size_t)snprintf(location, sizeof(location), " (at byte %" PRIu64 ")", error->offset);
    if (length >= end && strcmp(error->message + length - end, location) == 0)
        error->message[length - end] = '\0';
    nt_source_append_name(source, address, &name);
    if (error->offset != NT_NO_OFFSET)
        error->offset = nt_source_local_offset(source, error->offset);
    if (!name.failed && !strstr(error->message, nt_buffer_string(&name)))
        nt_error_context(error, "%s", nt_buffer_string(&name));
}

static void name_location(const struct nt_source *source, uint64_t offset, struct nt_error *error)
{
    size_t used = strlen(error->message);
    error->offset = source ? nt_source_file_offset(source, offset) : offset;
    if (error->offset != NT_NO_OFFSET)
        snprintf(error->message + used, sizeof(error->message) - used, " (page at byte %" PRIu64 ")",
                 error->offset);
}

enum nt_status nt_page_error(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                             enum nt_status status, struct nt_error *error)
{
    if (!error || status == NT_CHANGED) /* the page is not at fault */
        return status;
    const struct nt_column *info = &dataset->columns[column];
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer field = {0};
    uint32_t cluster;
    uint64_t number;
    nt_append_printable_path(&field, dataset, info->field);
    NT_TRY(nt_check_memory(!field.failed, error));
    const char *name = nt_buffer_string(&field);
    const struct nt_source *source =
        page->source < dataset->source_count ? dataset->sources[page->source] : NULL;
    if (source && source->is_object_store && !page->is_missing)
        name_object(source, page->offset, error);
    else if (error->offset == NT_NO_OFFSET && !page->is_missing)
        name_location(source, page->offset, error);
    if (find_cluster(dataset, column, page, &cluster, &number))
        nt_error_context(error,
                         "column %" PRIu32 " (%s) of field %.80s, page %" PRIu64 " of cluster %" PRIu32,
                         info->id, info->type_name ? info->type_name : "?", name, number, cluster);
    else
        nt_error_context(error, "column %" PRIu32 " (%s) of field %.80s", info->id,
                         info->type_name ? info->type_name : "?", name);
    if (dataset->is_concatenated)
        nt_error_context(error, "%s", dataset->sources[page->source]->path);
    return status;
}

enum nt_status nt_page_fail_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page,
                                      struct nt_error *error)
{
    if (dataset->ops && dataset->ops->fail_elsewhere)
        return dataset->ops->fail_elsewhere(dataset, page, error);
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "the page is not stored in this file");
}

/* ---- Stored bytes, digest and algorithm ---- */

/* Reads bytes [offset, offset + bytes) of the page's stored bytes and the digest after them. */
static enum nt_status read_raw(struct nt_dataset *dataset, const struct nt_page *page, uint64_t offset,
                               uint8_t *output, size_t bytes, struct nt_error *error)
{
    struct nt_source *source = dataset->sources[page->source];
    if (page->compression == NT_COMPRESSION_ELSEWHERE)
        return nt_page_fail_elsewhere(dataset, page, error);
    NT_AUTO_FREE struct nt_extent *extents = NULL;
    size_t count = 0;
    if (dataset->ops && dataset->ops->page_extents)
        NT_TRY(dataset->ops->page_extents(dataset, page, &extents, &count, error));
    if (!extents)
        return nt_source_read(source, page->offset + offset, output, bytes, error);
    for (size_t i = 0; bytes && i < count; i++) {
        if (offset >= extents[i].bytes) {
            offset -= extents[i].bytes;
            continue;
        }
        size_t part = nt_min(extents[i].bytes - offset, bytes);
        NT_TRY(nt_source_read(source, extents[i].offset + offset, output, part, error));
        output += part;
        bytes -= part;
        offset = 0;
    }
    return bytes ? nt_fail(error, NT_TRUNCATED, page->offset,
                           "the extents of the page are %zu bytes too short", bytes)
                 : NT_OK;
}

enum nt_status nt_page_load_stored(struct nt_dataset *dataset, const struct nt_page *page, uint64_t offset,
                                   void *output, size_t bytes, struct nt_error *error)
{
    if (!nt_range_fits(offset, bytes, page->stored_bytes))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "past the end of the page's stored bytes");
    return bytes ? read_raw(dataset, page, offset, output, bytes, error) : NT_OK;
}

enum nt_status nt_page_load_digest(struct nt_dataset *dataset, const struct nt_page *page, char *hex,
                                   struct nt_error *error)
{
    uint8_t digest[64];
    uint32_t bytes = nt_checksum_info(page->checksum)->bytes;
    *hex = '\0';
    if (bytes)
        NT_TRY(read_raw(dataset, page, page->stored_bytes, digest, bytes, error));
    nt_checksum_text(page->checksum, digest, hex);
    return NT_OK;
}

enum nt_status nt_page_find_algorithm(struct nt_dataset *dataset, const struct nt_page *page,
                                      enum nt_algorithm *algorithm_ret, struct nt_error *error)
{
    uint8_t start[NT_COMPRESSION_START] = {0};
    size_t bytes = nt_min(page->stored_bytes, sizeof(start));
    uint64_t packed = 0, decoded = 0;
    *algorithm_ret = NT_ALGORITHM_UNKNOWN;
    if (nt_compression_info(page->compression)->algorithm) {
        NT_TRY(nt_page_sizes(dataset, page, &packed, &decoded, error));
        NT_TRY(nt_page_load_stored(dataset, page, 0, start, bytes, error));
    }
    *algorithm_ret =
        nt_compression_algorithm(page->compression, start, (size_t)page->stored_bytes, (size_t)packed);
    return NT_OK;
}

enum nt_status nt_page_algorithm(struct nt_dataset *dataset, const struct nt_page *page,
                                 const char **name_ret, struct nt_error *error)
{
    enum nt_algorithm algorithm;
    enum nt_status status = nt_page_find_algorithm(dataset, page, &algorithm, error);
    *name_ret = nt_algorithm_name(algorithm);
    return status;
}

/* ---- Partial decoding of blocks ---- */

/* Reads a small range of a large page from only the blocks that hold it (Blosc can decompress each
 * alone; several small blocks count as one here).
 *
 * A block is a cache entry of its own, so it is decoded once. So are the stored bytes, whose digest is
 * verified: reading them again for each block would make many small reads slower than one of the whole
 * page. Nothing here reports errors: if a block is unavailable, the caller loads the page, whose error
 * is reported and remembered. */

enum {
    NT_CACHE_WHOLE = 0,  /* all elements */
    NT_CACHE_STORED = 1, /* the stored bytes and digest */
    NT_CACHE_BLOCKS = 2, /* the first block; the others follow */
};

enum {
    MIN_PAGE_BYTES = 64 * 1024,  /* smaller pages are decoded quickly as a whole */
    MIN_BLOCK_BYTES = 16 * 1024, /* smaller blocks of the algorithm are combined */
    MIN_OWN_BYTES = 512,         /* of the algorithm's blocks: each c-blosc call scans all offsets */
};

struct block_request {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    const struct nt_page *page;
    const struct nt_compression *compression;
    struct nt_cache_key key;
    size_t page_bytes, block_bytes;
    size_t offset, bytes; /* of the current block */
};

/* Loads the stored bytes and the digest after them. */
static enum nt_status load_stored(void *context, uint8_t *output, struct nt_error *error)
{
    const struct block_request *request = context;
    const struct nt_page *page = request->page;
    struct nt_counters *counters = &request->reader->counters;
    size_t bytes = (size_t)page->stored_bytes;
    nt_reader_before_blocking(request->reader);
    uint64_t start = nt_nanoseconds();
    enum nt_status status = nt_source_read(request->dataset->sources[page->source], page->offset, output,
                                           bytes + nt_checksum_info(page->checksum)->bytes, error);
    uint64_t middle = nt_nanoseconds();
    if (status == NT_OK && page->checksum != NT_CHECKSUM_NONE)
        status = nt_checksum_verify(page->checksum, output, bytes, output + bytes, page->offset, error);
    nt_counter_add(&counters->read_nanoseconds, middle - start);
    nt_counter_add(&counters->checksum_nanoseconds, nt_nanoseconds() - middle);
    nt_counter_add(&counters->stored_bytes, bytes);
    return status;
}

static void count_block(const struct block_request *request, const uint8_t *stored, uint64_t nanoseconds)
{
    struct nt_counters *counters = &request->reader->counters;
    enum nt_algorithm algorithm = nt_compression_algorithm(
        request->page->compression, stored, (size_t)request->page->stored_bytes, request->page_bytes);
    nt_counter_add(&request->reader->algorithms[algorithm].packed_bytes, request->bytes);
    nt_counter_add(&request->reader->algorithms[algorithm].nanoseconds, nanoseconds);
    nt_counter_add(&counters->decompress_nanoseconds, nanoseconds);
    nt_counter_add(&counters->decoded_bytes, request->bytes);
    nt_counter_add(&counters->blocks_decoded, 1);
}

static enum nt_status load_block(void *context, uint8_t *output, struct nt_error *error)
{
    struct block_request *request = context;
    const struct nt_page *page = request->page;
    struct nt_cache *cache = request->reader->cache;
    struct nt_cache_key key = request->key;
    struct nt_cache_entry *pinned;
    key.block = NT_CACHE_STORED;
    NT_TRY(nt_cache_get(cache, &key, (size_t)page->stored_bytes + nt_checksum_info(page->checksum)->bytes,
                        NT_CACHE_LOADER, load_stored, request, &pinned, error));
    const uint8_t *stored = nt_cache_entry_bytes(pinned);
    uint64_t start = nt_nanoseconds();
    enum nt_status status =
        request->compression->decompress_blocks(stored, (size_t)page->stored_bytes, request->page_bytes,
                                                request->offset, output, request->bytes, error);
    if (status == NT_OK)
        count_block(request, stored, nt_nanoseconds() - start);
    nt_cache_release(cache, pinned, NT_CACHE_KEEP);
    return status;
}

/* Requires decoded bytes that equal the packed ones, and a digest of the stored bytes. */
static bool can_be_cut(const struct nt_dataset *dataset, const struct nt_page *page)
{
    const struct nt_decoder *decoder = nt_page_decoder(dataset, page);
    return nt_compression_info(page->compression)->decompress_blocks &&
           nt_encoding_is_identity(decoder->encoding) &&
           decoder->bits == (uint64_t)decoder->element_bytes * 8 &&
           (page->checksum == NT_CHECKSUM_NONE || page->checksum_covers == NT_COVERS_STORED);
}

/* The block size according to the first stored bytes; 0 without blocks. */
static size_t find_block_bytes(const struct block_request *request)
{
    const struct nt_page *page = request->page;
    uint8_t start[16];
    size_t count = nt_min(page->stored_bytes, sizeof(start));
    if (nt_page_load_stored(request->dataset, page, 0, start, count, NULL) != NT_OK)
        return 0;
    size_t own = request->compression->block_bytes(start, (size_t)page->stored_bytes, request->page_bytes);
    return own >= MIN_OWN_BYTES ? (MIN_BLOCK_BYTES + own - 1) / own * own : 0;
}

/* A page that is cached or loading already contains its blocks. */
static bool is_page_at_hand(const struct block_request *request)
{
    enum nt_cache_state state = nt_cache_peek(request->reader->cache, &request->key);
    return state == NT_CACHE_READY || state == NT_CACHE_LOADING;
}

/* A page is decoded whole if most of it is needed. */
static bool is_small(const struct block_request *request, size_t offset, size_t bytes)
{
    size_t first = offset / request->block_bytes, last = (offset + bytes - 1) / request->block_bytes;
    return (last - first + 1) * request->block_bytes <= request->page_bytes / 2;
}

static bool copy_blocks(struct block_request *request, size_t offset, uint8_t *output, size_t bytes)
{
    struct nt_cache *cache = request->reader->cache;
    while (bytes) {
        struct nt_cache_entry *pinned;
        size_t number = offset / request->block_bytes, skip = offset % request->block_bytes;
        request->offset = number * request->block_bytes;
        request->bytes = nt_min(request->page_bytes - request->offset, request->block_bytes);
        request->key.block = NT_CACHE_BLOCKS + number;
        if (nt_cache_get(cache, &request->key, request->bytes, NT_CACHE_READER, load_block, request, &pinned,
                         NULL) != NT_OK)
            return false;
        size_t count = nt_min(request->bytes - skip, bytes);
        memcpy(output, nt_cache_entry_bytes(pinned) + skip, count);
        nt_cache_release(cache, pinned, NT_CACHE_KEEP);
        output += count;
        offset += count;
        bytes -= count;
    }
    return true;
}

bool nt_page_read_blocks(struct nt_reader *reader, struct nt_dataset *dataset, const struct nt_page *page,
                         size_t offset, void *output, size_t bytes)
{
    struct block_request request = {.reader = reader, .dataset = dataset, .page = page};
    if (!bytes || !can_be_cut(dataset, page) ||
        nt_page_decoded_bytes(dataset, page, &request.page_bytes, NULL) != NT_OK ||
        request.page_bytes < MIN_PAGE_BYTES)
        return false;
    request.compression = nt_compression_info(page->compression);
    request.key = nt_page_key(dataset, page);
    if (is_page_at_hand(&request))
        return false;
    request.block_bytes = find_block_bytes(&request);
    return request.block_bytes && is_small(&request, offset, bytes) &&
           copy_blocks(&request, offset, output, bytes);
}

/* ---- Pages in the cache ---- */

enum nt_status nt_page_report(const struct nt_page_request *request, enum nt_status status,
                              struct nt_error *error)
{
    status = nt_page_error(request->dataset, request->column, request->page, status, error);
    nt_reader_report_failure(request->reader, request->dataset, request->column, request->page, error);
    return status;
}

/* Reports every failure that was not remembered, once. A failure of pages that are decoded together may be
 * that of another one. */
static enum nt_status load_and_report(void *context, uint8_t *output, struct nt_error *error)
{
    struct nt_page_request *request = context;
    struct nt_sibling_pages siblings;
    if (request->failure && !nt_page_prepare_retry(request, request->failure->status))
        return nt_page_report(request, nt_fail_copy(error, request->failure), error);
    nt_workers_cancel_page(request->reader->workers, request->page);
    nt_sibling_pages_begin(request, &siblings);
    enum nt_status status = nt_page_load_with_dependencies(request, output, siblings.count ? NULL : error);
    if (siblings.count) {
        nt_sibling_pages_end(request, &siblings, status == NT_OK);
        if (status != NT_OK)
            status = nt_page_load_with_dependencies(request, output, error);
    }
    return status == NT_OK ? NT_OK : nt_page_report(request, status, error);
}

/* Cached bytes may be those of a file that has changed since. Servers check a dataset's own file once
 * per request; this checks the other files of the dataset. */
static enum nt_status check_part(const struct nt_dataset *dataset, const struct nt_page *page,
                                 struct nt_error *error)
{
    struct nt_source *source = dataset->sources[page->source];
    return source == dataset->file->source ? NT_OK : nt_source_check(source, error);
}

/* On failure there is no pin, and the outputs are unchanged: callers that keep a page rely on that. */
static enum nt_status pin(enum nt_cache_client client, struct nt_page_request *request,
                          struct nt_cache_entry **pinned_ret, const uint8_t **data_ret,
                          struct nt_error *error)
{
    struct nt_reader *reader = request->reader;
    struct nt_cache_key key = nt_page_key(request->dataset, request->page);
    struct nt_cache_entry *pinned;
    size_t bytes;
    enum nt_status status = nt_page_decoded_bytes(request->dataset, request->page, &bytes, error);
    if (status != NT_OK) /* too large: do not request room in the cache */
        return nt_page_error(request->dataset, request->column, request->page, status, error);
    NT_TRY(nt_cache_get(reader->cache, &key, bytes, client, load_and_report, request, &pinned, error));
    status = check_part(request->dataset, request->page, error);
    if (status != NT_OK) {
        nt_cache_release(reader->cache, pinned, NT_CACHE_DROP_BEHIND);
        return status;
    }
    *pinned_ret = pinned;
    *data_ret = nt_cache_entry_bytes(pinned);
    return NT_OK;
}

enum nt_status nt_page_pin(enum nt_cache_client client, struct nt_reader *reader, struct nt_dataset *dataset,
                           uint32_t column, const struct nt_page *page, struct nt_cache_entry **pinned_ret,
                           const uint8_t **data_ret, struct nt_error *error)
{
    struct nt_page_request request = {.reader = reader, .dataset = dataset, .column = column, .page = page};
    return pin(client, &request, pinned_ret, data_ret, error);
}

void nt_page_unpin(struct nt_reader *reader, struct nt_cache_entry *pinned, enum nt_cache_hint use)
{
    nt_cache_release(reader->cache, pinned, use);
}

enum nt_status nt_page_read(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                            const struct nt_page *page, uint64_t offset, void *output, size_t bytes,
                            struct nt_error *error)
{
    struct nt_cache_entry *pinned = NULL;
    const uint8_t *data = NULL;
    NT_TRY(nt_page_pin(NT_CACHE_READER, reader, dataset, column, page, &pinned, &data, error));
    memcpy(output, data + offset, bytes);
    nt_page_unpin(reader, pinned, NT_CACHE_KEEP);
    return NT_OK;
}

bool nt_page_is_absent(const struct nt_reader *reader, const struct nt_dataset *dataset,
                       const struct nt_page *page)
{
    struct nt_cache_key key = nt_page_key(dataset, page);
    return nt_cache_peek(reader->cache, &key) == NT_CACHE_ABSENT;
}

enum nt_status nt_pages_read_whole(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                   const struct nt_page *pages, uint32_t count, void *output,
                                   struct nt_error *error)
{
    struct nt_pages_run run = {.pages = pages, .output = output};
    for (const struct nt_page *end = pages + count; run.pages < end; run.pages++) {
        struct nt_cache_entry *pinned = NULL;
        const uint8_t *data = NULL;
        struct nt_error failure;
        nt_pages_load_direct(reader, dataset, column, &run, 1, (uint32_t)(end - run.pages), &failure);
        if (run.pages == end)
            break;
        struct nt_page_request request = {.reader = reader,
                                          .dataset = dataset,
                                          .column = column,
                                          .page = run.pages,
                                          .failure = failure.status == NT_OK ? NULL : &failure};
        NT_TRY(pin(NT_CACHE_READER, &request, &pinned, &data, error));
        size_t bytes = (size_t)run.pages->elements * nt_page_decoder(dataset, run.pages)->element_bytes;
        if (bytes)
            memcpy(run.output, data, bytes);
        run.output += bytes;
        nt_cache_release(reader->cache, pinned, NT_CACHE_DROP_BEHIND);
    }
    return NT_OK;
}

uint32_t nt_count_whole_pages(const struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count,
                              uint64_t elements, const struct nt_dtype *dtype, uint64_t *elements_ret)
{
    uint32_t whole = 0;
    uint64_t found = 0;
    for (; whole < count && pages[whole].elements <= elements - found; whole++) {
        if (nt_page_decoded_elements(&pages[whole]) != pages[whole].elements ||
            (dtype && !nt_values_are_equal(nt_page_decoder(dataset, &pages[whole]), dtype)))
            break;
        found += pages[whole].elements;
    }
    *elements_ret = found;
    return whole;
}

void nt_page_readahead(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                       const struct nt_page *page)
{
    struct nt_cache_entry *pinned = NULL;
    const uint8_t *data = NULL;
    if (!nt_page_is_absent(reader, dataset, page) ||
        nt_page_pin(NT_CACHE_READER, reader, dataset, column, page, &pinned, &data, NULL) != NT_OK)
        return;
    nt_counter_add(&reader->counters.pages_ahead, 1);
    nt_cache_release(reader->cache, pinned, NT_CACHE_SEQUENTIAL);
}
