/* SPDX-License-Identifier: MIT
 *
 * In: a small range of a large page. Out: its bytes, from only those blocks that hold them (of Blosc, which
 * can decompress each alone; small ones are taken together and are one block here).
 *
 * A block is an entry of the cache of its own, beside the page's: it is decoded once. So are the stored
 * bytes, with the digest verified: reading them for each block again would make many small reads slower than
 * one of the whole page. Nothing here fails: where a block cannot be had the caller loads the page, whose
 * error is the one that is told and remembered.
 */

#include <string.h>

#include "read/counters.h"
#include "read/load.h"
#include "read/page.h"
#include "read/pages.h"

enum {
    LEAST_PAGE_BYTES = 64 * 1024,  /* smaller pages are quickly decoded as a whole */
    LEAST_BLOCK_BYTES = 16 * 1024, /* smaller ones of the algorithm's are taken together */
    LEAST_OWN_BYTES = 512,         /* the algorithm's: c-blosc looks at the places of all for each call */
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

/* ---- loading ---- */

/* The stored bytes and the digest behind them. */
static enum nt_status load_stored(void *context, uint8_t *output, struct nt_error *error)
{
    const struct block_request *request = context;
    const struct nt_page *page = request->page;
    struct nt_counters *counters = &request->reader->counters;
    size_t bytes = (size_t)page->stored_bytes;
    nt_reader_before_slow_work(request->reader);
    uint64_t start = nt_nanoseconds();
    enum nt_status status = nt_source_read(request->dataset->sources[page->source], page->offset, output,
                                           bytes + nt_checksum_info(page->checksum)->bytes, error);
    uint64_t middle = nt_nanoseconds();
    if (status == NT_OK && page->checksum != NT_CHECKSUM_NONE)
        status = nt_checksum_verify(page->checksum, output, bytes, output + bytes, page->offset, error);
    nt_count(&counters->read_nanoseconds, middle - start);
    nt_count(&counters->checksum_nanoseconds, nt_nanoseconds() - middle);
    nt_count(&counters->stored_bytes, bytes);
    return status;
}

static void count_block(const struct block_request *request, const uint8_t *stored, uint64_t nanoseconds)
{
    struct nt_counters *counters = &request->reader->counters;
    enum nt_algorithm algorithm = nt_compression_algorithm(
        request->page->compression, stored, (size_t)request->page->stored_bytes, request->page_bytes);
    nt_count(&request->reader->algorithms[algorithm].packed_bytes, request->bytes);
    nt_count(&request->reader->algorithms[algorithm].nanoseconds, nanoseconds);
    nt_count(&counters->decompress_nanoseconds, nanoseconds);
    nt_count(&counters->decoded_bytes, request->bytes);
    nt_count(&counters->blocks_decoded, 1);
}

static enum nt_status load_block(void *context, uint8_t *output, struct nt_error *error)
{
    struct block_request *request = context;
    const struct nt_page *page = request->page;
    struct nt_cache *cache = request->reader->cache;
    struct nt_cache_key key = request->key;
    struct nt_cached *pinned;
    key.block = NT_CACHE_STORED;
    enum nt_status status =
        nt_cache_get(cache, &key, (size_t)page->stored_bytes + nt_checksum_info(page->checksum)->bytes,
                     NT_CACHE_LOADER, load_stored, request, &pinned, error);
    if (status != NT_OK)
        return status;
    const uint8_t *stored = nt_cached_bytes(pinned);
    uint64_t start = nt_nanoseconds();
    status = request->compression->decompress_blocks(stored, (size_t)page->stored_bytes, request->page_bytes,
                                                     request->offset, output, request->bytes, error);
    if (status == NT_OK)
        count_block(request, stored, nt_nanoseconds() - start);
    nt_cache_release(cache, pinned, NT_CACHE_STAY);
    return status;
}

/* ---- which ---- */

/* Decoded and packed bytes must be the same, one for one, and a digest must be that of the stored ones. */
static bool can_be_cut(const struct nt_dataset *dataset, const struct nt_page *page)
{
    const struct nt_decoder *decoder = nt_page_decoder(dataset, page);
    return nt_compression_info(page->compression)->decompress_blocks &&
           nt_encoding_is_identity(decoder->encoding) &&
           decoder->bits == (uint64_t)decoder->element_bytes * 8 &&
           (page->checksum == NT_CHECKSUM_NONE || page->checksum_covers == NT_COVERS_STORED);
}

/* The size of blocks, from the first of the stored bytes; 0 where there are none. */
static size_t find_block_bytes(const struct block_request *request)
{
    const struct nt_page *page = request->page;
    uint8_t start[16];
    size_t count = page->stored_bytes < sizeof(start) ? (size_t)page->stored_bytes : sizeof(start);
    if (nt_page_load_stored(request->dataset, page, 0, start, count, NULL) != NT_OK)
        return 0;
    size_t own = request->compression->block_bytes(start, (size_t)page->stored_bytes, request->page_bytes);
    return own >= LEAST_OWN_BYTES ? (LEAST_BLOCK_BYTES + own - 1) / own * own : 0;
}

/* A page that is there, or about to be, has its blocks already. */
static bool is_page_at_hand(const struct block_request *request)
{
    enum nt_cache_presence presence = nt_cache_peek(request->reader->cache, &request->key);
    return presence == NT_CACHE_READY || presence == NT_CACHE_LOADING;
}

/* Where most of a page is wanted, it is decoded whole. */
static bool is_small(const struct block_request *request, size_t offset, size_t bytes)
{
    size_t first = offset / request->block_bytes, last = (offset + bytes - 1) / request->block_bytes;
    return (last - first + 1) * request->block_bytes <= request->page_bytes / 2;
}

static bool copy_blocks(struct block_request *request, size_t offset, uint8_t *output, size_t bytes)
{
    struct nt_cache *cache = request->reader->cache;
    while (bytes) {
        struct nt_cached *pinned;
        size_t number = offset / request->block_bytes, skip = offset % request->block_bytes;
        request->offset = number * request->block_bytes;
        request->bytes = request->page_bytes - request->offset;
        if (request->bytes > request->block_bytes)
            request->bytes = request->block_bytes;
        request->key.block = NT_CACHE_BLOCKS + number;
        if (nt_cache_get(cache, &request->key, request->bytes, NT_CACHE_READER, load_block, request, &pinned,
                         NULL) != NT_OK)
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

bool nt_page_read_blocks(struct nt_reader *reader, struct nt_dataset *dataset, const struct nt_page *page,
                         size_t offset, void *output, size_t bytes)
{
    struct block_request request = {.reader = reader, .dataset = dataset, .page = page};
    if (!bytes || !can_be_cut(dataset, page) ||
        nt_page_decoded_bytes(dataset, page, &request.page_bytes, NULL) != NT_OK ||
        request.page_bytes < LEAST_PAGE_BYTES)
        return false;
    request.compression = nt_compression_info(page->compression);
    request.key = nt_page_key(dataset, page);
    if (is_page_at_hand(&request))
        return false;
    request.block_bytes = find_block_bytes(&request);
    return request.block_bytes && is_small(&request, offset, bytes) &&
           copy_blocks(&request, offset, output, bytes);
}
