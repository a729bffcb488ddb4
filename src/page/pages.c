/* SPDX-License-Identifier: MIT
 *
 * In: pages. Out: their decoded elements, through the cache or past it, with every new failure told once.
 */
#include <string.h>

#include "page/cache.h"
#include "page/load.h"
#include "page/workers.h"

struct page_request {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    const struct nt_page *page;
};

static struct nt_cache_key key_of(const struct nt_dataset *dataset, const struct nt_page *page)
{
    const struct nt_decoder *decoder = nt_page_decoder(dataset, page);
    return (struct nt_cache_key){
        .source = dataset->sources[page->source],
        .offset = page->offset,
        .stored_bytes = page->stored_bytes,
        .parameter = page->parameter,
        .minimum = decoder->minimum,
        .maximum = decoder->maximum,
        .elements = page->elements,
        .bits = decoder->bits,
        .encoding = decoder->encoding,
        .element = decoder->element,
        .element_bytes = decoder->element_bytes,
        .compression = page->compression,
        .checksum = page->checksum,
        .checksum_covers = page->checksum_covers,
    };
}

/* Every failure that was not remembered passes here, once. */
static enum nt_status load_and_tell(void *context, uint8_t *output, struct nt_error *error)
{
    const struct page_request *request = context;
    struct nt_reader *reader = request->reader;
    nt_workers_claim(reader->workers, request->page);
    enum nt_status status =
        nt_page_load(reader, request->dataset, request->column, request->page, output, error);
    if (status == NT_OK)
        return NT_OK;
    nt_count(&reader->counters.failures, 1);
    if (reader->options.on_failure)
        reader->options.on_failure(reader->options.context, request->dataset, request->column, request->page,
                                   error);
    return status;
}

/* A page that is too large is refused here, before the cache is asked for room. */
static enum nt_status prepare(const struct page_request *request, struct nt_cache_key *key, size_t *bytes_ret,
                              struct nt_error *error)
{
    *key = key_of(request->dataset, request->page);
    return nt_page_decoded_bytes(request->reader, request->dataset, request->page, bytes_ret, error);
}

enum nt_status nt_page_pin(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                           const struct nt_page *page, struct nt_cached **pinned_ret,
                           const uint8_t **data_ret, struct nt_error *error)
{
    struct page_request request = {reader, dataset, column, page};
    struct nt_cache_key key;
    size_t bytes;
    enum nt_status status = prepare(&request, &key, &bytes, error);
    if (status == NT_OK)
        status = nt_cache_get(reader->cache, &key, bytes, load_and_tell, &request, pinned_ret, error);
    if (status == NT_OK)
        *data_ret = nt_cached_bytes(*pinned_ret);
    return status;
}

void nt_page_unpin(struct nt_reader *reader, struct nt_cached *pinned, enum nt_cache_use use)
{
    nt_cache_release(reader->cache, pinned, use);
}

enum nt_status nt_page_read_whole(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                  const struct nt_page *page, void *output, struct nt_error *error)
{
    struct page_request request = {reader, dataset, column, page};
    struct nt_cache_key key;
    size_t bytes;
    enum nt_status status = prepare(&request, &key, &bytes, error);
    if (status != NT_OK)
        return status;
    if (nt_cache_peek(reader->cache, &key) == NT_CACHE_ABSENT) {
        struct nt_error failure = {0};
        status = load_and_tell(&request, output, &failure);
        if (status == NT_OK) {
            nt_count(&reader->counters.pages_direct, 1);
            return NT_OK;
        }
        nt_cache_remember(reader->cache, &key, &failure);
        if (error)
            *error = failure;
        return status;
    }
    struct nt_cached *pinned;
    status = nt_cache_get(reader->cache, &key, bytes, load_and_tell, &request, &pinned, error);
    if (status == NT_OK) {
        if (bytes)
            memcpy(output, nt_cached_bytes(pinned), bytes);
        nt_cache_release(reader->cache, pinned, NT_CACHE_PASSED);
    }
    return status;
}

void nt_page_load_ahead(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                        const struct nt_page *page)
{
    struct page_request request = {reader, dataset, column, page};
    struct nt_cache_key key;
    struct nt_cached *pinned;
    size_t bytes;
    if (prepare(&request, &key, &bytes, NULL) != NT_OK ||
        nt_cache_peek(reader->cache, &key) != NT_CACHE_ABSENT)
        return;
    if (nt_cache_get(reader->cache, &key, bytes, load_and_tell, &request, &pinned, NULL) != NT_OK)
        return;
    nt_count(&reader->counters.pages_ahead, 1);
    nt_cache_release(reader->cache, pinned, NT_CACHE_PASSING);
}
