/* SPDX-License-Identifier: MIT
 *
 * In: a small range of a large page. Out: its bytes, from only those parts (Blosc's blocks) that hold them.
 *
 * A part is an entry of the cache of its own, beside the page's: it is decoded once. So are the stored bytes,
 * with the digest verified: reading them for each part again would make many small reads slower than one of
 * the whole page. Nothing here fails: where a part cannot be had the caller loads the page, whose error is
 * the one that is told and remembered.
 */
#include <string.h>

#include "page/load.h"

enum {
    LEAST_PAGE_BYTES = 64 * 1024, /* smaller pages are quickly decoded as a whole */
    LEAST_PART_BYTES = 16 * 1024, /* blocks that are smaller are taken together */
    LEAST_BLOCK_BYTES = 512,      /* c-blosc looks at the places of all blocks for each part */
};

struct part_request {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    const struct nt_page *page;
    const struct nt_compression *compression;
    struct nt_cache_key key;
    size_t page_bytes, part_bytes;
    size_t offset, bytes; /* of the current part */
};

/* ---- loading ---- */

/* The stored bytes and the digest behind them. */
static enum nt_status load_stored(void *context, uint8_t *output, struct nt_error *error)
{
    const struct part_request *request = context;
    const struct nt_page *page = request->page;
    struct nt_reader_counters *counters = &request->reader->counters;
    size_t bytes = (size_t)page->stored_bytes;
    uint64_t start = nt_nanoseconds();
    enum nt_status status = nt_source_read(request->dataset->sources[page->source], page->offset, output,
                                           bytes + nt_checksum(page->checksum)->bytes, error);
    uint64_t middle = nt_nanoseconds();
    if (status == NT_OK && page->checksum != NT_CHECKSUM_NONE)
        status = nt_checksum_verify(page->checksum, output, bytes, output + bytes, page->offset, error);
    nt_count(&counters->read_nanoseconds, middle - start);
    nt_count(&counters->checksum_nanoseconds, nt_nanoseconds() - middle);
    nt_count(&counters->stored_bytes, bytes);
    return status;
}

static void count_part(const struct part_request *request, const uint8_t *stored, uint64_t nanoseconds)
{
    struct nt_reader_counters *counters = &request->reader->counters;
    struct nt_algorithm_counters *algorithm =
        nt_page_algorithm_counters(request->reader, request->page, stored, request->page_bytes);
    nt_count(&algorithm->packed_bytes, request->bytes);
    nt_count(&algorithm->nanoseconds, nanoseconds);
    nt_count(&counters->decompress_nanoseconds, nanoseconds);
    nt_count(&counters->decoded_bytes, request->bytes);
    nt_count(&counters->parts_decoded, 1);
}

static enum nt_status load_part(void *context, uint8_t *output, struct nt_error *error)
{
    struct part_request *request = context;
    const struct nt_page *page = request->page;
    struct nt_cache *cache = request->reader->cache;
    struct nt_cache_key key = request->key;
    struct nt_cached *pinned;
    key.part = NT_CACHE_STORED;
    enum nt_status status =
        nt_cache_get(cache, &key, (size_t)page->stored_bytes + nt_checksum(page->checksum)->bytes,
                     load_stored, request, &pinned, error);
    if (status != NT_OK)
        return status;
    const uint8_t *stored = nt_cached_bytes(pinned);
    uint64_t start = nt_nanoseconds();
    status = request->compression->decompress_part(stored, (size_t)page->stored_bytes, request->page_bytes,
                                                   request->offset, output, request->bytes, error);
    if (status == NT_OK)
        count_part(request, stored, nt_nanoseconds() - start);
    nt_cache_release(cache, pinned, NT_CACHE_STAY);
    return status;
}

/* ---- which ---- */

/* Decoded and packed bytes must be the same, one for one, and a digest must be that of the stored ones. */
static bool can_be_cut(const struct nt_dataset *dataset, const struct nt_page *page)
{
    const struct nt_decoder *decoder = nt_page_decoder(dataset, page);
    return nt_compression(page->compression)->decompress_part &&
           nt_encoding(decoder->encoding)->is_identity &&
           decoder->bits == (uint64_t)decoder->element_bytes * 8 &&
           (page->checksum == NT_CHECKSUM_NONE || page->checksum_covers == NT_COVERS_STORED);
}

/* The size of parts, from the first of the stored bytes; 0 where there are none. */
static size_t find_part_bytes(const struct part_request *request)
{
    const struct nt_page *page = request->page;
    uint8_t start[16];
    size_t count = page->stored_bytes < sizeof(start) ? (size_t)page->stored_bytes : sizeof(start);
    if (nt_page_load_stored(request->dataset, page, 0, start, count, NULL) != NT_OK)
        return 0;
    size_t block = request->compression->part_bytes(start, (size_t)page->stored_bytes, request->page_bytes);
    return block >= LEAST_BLOCK_BYTES ? (LEAST_PART_BYTES + block - 1) / block * block : 0;
}

/* A page that is there, or about to be, has its parts already. */
static bool is_page_at_hand(const struct part_request *request)
{
    enum nt_cache_presence presence = nt_cache_peek(request->reader->cache, &request->key);
    return presence == NT_CACHE_READY || presence == NT_CACHE_LOADING;
}

/* Where most of a page is wanted, it is decoded whole. */
static bool is_small(const struct part_request *request, size_t offset, size_t bytes)
{
    size_t first = offset / request->part_bytes, last = (offset + bytes - 1) / request->part_bytes;
    return (last - first + 1) * request->part_bytes <= request->page_bytes / 2;
}

static bool copy_parts(struct part_request *request, size_t offset, uint8_t *output, size_t bytes)
{
    struct nt_cache *cache = request->reader->cache;
    while (bytes) {
        struct nt_cached *pinned;
        size_t number = offset / request->part_bytes, skip = offset % request->part_bytes;
        request->offset = number * request->part_bytes;
        request->bytes = request->page_bytes - request->offset;
        if (request->bytes > request->part_bytes)
            request->bytes = request->part_bytes;
        request->key.part = NT_CACHE_PARTS + number;
        if (nt_cache_get(cache, &request->key, request->bytes, load_part, request, &pinned, NULL) != NT_OK)
            return false;
        size_t count = request->bytes - skip < bytes ? request->bytes - skip : bytes;
        memcpy(output, nt_cached_bytes(pinned) + skip, count);
        nt_cache_release(cache, pinned, NT_CACHE_STAY);
        output += count;
        offset += count;
        bytes -= count;
    }
    return true;
}

bool nt_page_read_part(struct nt_reader *reader, struct nt_dataset *dataset, const struct nt_page *page,
                       size_t offset, void *output, size_t bytes)
{
    struct part_request request = {.reader = reader, .dataset = dataset, .page = page};
    if (!bytes || !can_be_cut(dataset, page) ||
        nt_page_decoded_bytes(reader, dataset, page, &request.page_bytes, NULL) != NT_OK ||
        request.page_bytes < LEAST_PAGE_BYTES)
        return false;
    request.compression = nt_compression(page->compression);
    request.key = nt_page_key(dataset, page);
    if (is_page_at_hand(&request))
        return false;
    request.part_bytes = find_part_bytes(&request);
    return request.part_bytes && is_small(&request, offset, bytes) &&
           copy_parts(&request, offset, output, bytes);
}
