/* SPDX-License-Identifier: MIT
 *
 * In: pages. Out: their decoded elements, through the cache or past it, with every new failure told once. The
 * stored bytes of small pages that lie one behind the other are read in one call.
 */
#include "read/pages.h"

#include <string.h>

#include "core/base/overflow.h"
#include "read/contexts.h"
#include "read/counters.h"
#include "read/elements.h"
#include "read/joined.h"
#include "read/load.h"
#include "read/page.h"
#include "read/workers.h"

/* Every failure that was not remembered passes here, once. */
static enum nt_status load_and_tell(void *context, uint8_t *output, struct nt_error *error)
{
    const struct nt_page_request *request = context;
    struct nt_reader *reader = request->reader;
    nt_workers_claim(reader->workers, request->page);
    enum nt_status status = nt_page_load_all(request, output, error);
    if (status == NT_OK)
        return NT_OK;
    status = nt_page_error(request->dataset, request->column, request->page, status, error);
    nt_reader_tell(reader, request->dataset, request->column, request->page, error);
    return status;
}

/* Bytes in the cache may be those of a file that has changed. A data set's own file is looked at once for
 * each request, by those who serve it; here those that are only part of it. */
static enum nt_status check_part(const struct nt_dataset *dataset, const struct nt_page *page,
                                 struct nt_error *error)
{
    struct nt_source *source = dataset->sources[page->source];
    return source == dataset->file->source ? NT_OK : nt_source_check(source, error);
}

/* A page that is too large is refused here, before the cache is asked for room. */
static enum nt_status prepare(const struct nt_page_request *request, struct nt_cache_key *key,
                              size_t *bytes_ret, struct nt_error *error)
{
    *key = nt_page_key(request->dataset, request->page);
    enum nt_status status = nt_page_decoded_bytes(request->dataset, request->page, bytes_ret, error);
    return status == NT_OK ? NT_OK
                           : nt_page_error(request->dataset, request->column, request->page, status, error);
}

/* A page in the cache, loaded where it is not there, whose file is still what it was. Who is told of a failure has no pin, and is
 * not shown one: callers that keep the page at hand go by that. */
static enum nt_status pin(struct nt_page_request *request, const struct nt_cache_key *key, size_t bytes,
                          enum nt_cache_asker asker, struct nt_cached **pinned_ret, struct nt_error *error)
{
    struct nt_cache *cache = request->reader->cache;
    struct nt_cached *pinned;
    enum nt_status status = nt_cache_get(cache, key, bytes, asker, load_and_tell, request, &pinned, error);
    if (status != NT_OK)
        return status;
    status = check_part(request->dataset, request->page, error);
    if (status == NT_OK)
        *pinned_ret = pinned;
    else
        nt_cache_release(cache, pinned, NT_CACHE_PASSED);
    return status;
}

enum nt_status nt_page_pin_as(enum nt_cache_asker asker, struct nt_reader *reader, struct nt_dataset *dataset,
                              uint32_t column, const struct nt_page *page, struct nt_cached **pinned_ret,
                              const uint8_t **data_ret, struct nt_error *error)
{
    struct nt_page_request request = {.reader = reader, .dataset = dataset, .column = column, .page = page};
    struct nt_cache_key key;
    size_t bytes;
    enum nt_status status = prepare(&request, &key, &bytes, error);
    if (status == NT_OK)
        status = pin(&request, &key, bytes, asker, pinned_ret, error);
    if (status == NT_OK)
        *data_ret = nt_cached_bytes(*pinned_ret);
    return status;
}

enum nt_status nt_page_pin(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                           const struct nt_page *page, struct nt_cached **pinned_ret,
                           const uint8_t **data_ret, struct nt_error *error)
{
    return nt_page_pin_as(NT_CACHE_READER, reader, dataset, column, page, pinned_ret, data_ret, error);
}

void nt_page_unpin(struct nt_reader *reader, struct nt_cached *pinned, enum nt_cache_use use)
{
    nt_cache_release(reader->cache, pinned, use);
}

enum nt_status nt_page_read(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                            const struct nt_page *page, uint64_t offset, void *output, size_t bytes,
                            struct nt_error *error)
{
    struct nt_cached *pinned;
    const uint8_t *data;
    enum nt_status status = nt_page_pin(reader, dataset, column, page, &pinned, &data, error);
    if (status != NT_OK)
        return status;
    memcpy(output, data + offset, bytes);
    nt_page_unpin(reader, pinned, NT_CACHE_STAY);
    return NT_OK;
}

/* A whole page, past the cache, which remembers only a failure. `failure` is all zero. */
static enum nt_status read_direct(struct nt_page_request *request, uint8_t *output, struct nt_error *failure,
                                  struct nt_error *error)
{
    enum nt_status status = load_and_tell(request, output, failure);
    if (status == NT_OK)
        return NT_OK;
    struct nt_cache_key key = nt_page_key(request->dataset, request->page);
    nt_cache_remember(request->reader->cache, &key, failure);
    if (error)
        *error = *failure;
    return status;
}

/* A whole page's elements, and how many bytes they are. */
static enum nt_status read_whole(struct nt_page_request *request, uint8_t *output, size_t *bytes_ret,
                                 struct nt_error *error)
{
    struct nt_reader *reader = request->reader;
    struct nt_cache_key key;
    struct nt_cached *pinned;
    enum nt_status status = prepare(request, &key, bytes_ret, error);
    if (status != NT_OK)
        return status;
    if (nt_cache_peek(reader->cache, &key) == NT_CACHE_ABSENT) {
        struct nt_error failure = {0};
        status = read_direct(request, output, &failure, error);
        nt_count(&reader->counters.pages_direct, status == NT_OK);
        return status;
    }
    status = pin(request, &key, *bytes_ret, NT_CACHE_READER, &pinned, error);
    if (status != NT_OK)
        return status;
    if (*bytes_ret)
        memcpy(output, nt_cached_bytes(pinned), *bytes_ret);
    nt_cache_release(reader->cache, pinned, NT_CACHE_PASSED);
    return NT_OK;
}

bool nt_page_is_absent(const struct nt_reader *reader, const struct nt_dataset *dataset,
                       const struct nt_page *page)
{
    struct nt_cache_key key = nt_page_key(dataset, page);
    return nt_cache_peek(reader->cache, &key) == NT_CACHE_ABSENT;
}

/* What joined pages are decoded with, once for all of them. Where an input cannot be had, the request gets no
 * context, so that each page finds it out, and tells it, on its own. */
static enum nt_status borrow_joined(struct nt_page_request *request, uint64_t bytes,
                                    struct nt_page_inputs *inputs, struct nt_loan *loan,
                                    struct nt_error *error)
{
    if (nt_page_pin_inputs(request, inputs, NULL) != NT_OK)
        return NT_OK;
    enum nt_status status = nt_contexts_borrow(request->reader->contexts, bytes, loan, error);
    if (status != NT_OK)
        return status;
    request->inputs = inputs->values;
    request->context = loan->context;
    return NT_OK;
}

/* `count` pages, one after the other, from stored bytes that are read in one call. While it has a context it
 * waits for no entry of the cache: a page that another thread has begun to load meanwhile is loaded twice. */
static enum nt_status read_joined(struct nt_page_request request, uint32_t count, size_t bytes,
                                  uint8_t *output, size_t *bytes_ret, struct nt_error *error)
{
    const struct nt_page *pages = request.page;
    struct nt_page_inputs inputs;
    struct nt_loan loan;
    struct nt_tally tally = {0};
    struct nt_error failure = {0};
    size_t page_bytes = 0;
    enum nt_status status =
        borrow_joined(&request, nt_joined_scratch_bytes(&request, count, bytes), &inputs, &loan, error);
    request.tally = &tally;
    nt_tally_begin(&tally);
    const uint8_t *stored = status == NT_OK && request.context ? nt_joined_read(&request, bytes) : NULL;
    *bytes_ret = 0;
    for (uint32_t i = 0; status == NT_OK && i < count; i++) {
        request.page = &pages[i];
        request.stored = stored ? stored + (pages[i].offset - pages->offset) : NULL;
        status = nt_page_decoded_bytes(request.dataset, request.page, &page_bytes, error);
        if (status == NT_OK)
            status = read_direct(&request, output + *bytes_ret, &failure, error);
        *bytes_ret += page_bytes;
        tally.counters.pages_direct += status == NT_OK;
    }
    nt_reader_add(request.reader, &tally);
    if (request.context)
        nt_contexts_return(request.reader->contexts, &loan);
    nt_page_unpin_inputs(request.reader, &inputs);
    return status;
}

enum nt_status nt_pages_read_whole(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                   const struct nt_page *pages, uint32_t count, void *output,
                                   struct nt_error *error)
{
    struct nt_page_request request = {.reader = reader, .dataset = dataset, .column = column};
    enum nt_status status = NT_OK;
    uint8_t *end = output;
    while (status == NT_OK && count) {
        size_t stored_bytes = 0, bytes = 0;
        request.page = pages;
        uint32_t joined = nt_joined_count(&request, count, &stored_bytes);
        if (joined > 1) {
            status = read_joined(request, joined, stored_bytes, end, &bytes, error);
        } else {
            joined = 1;
            status = read_whole(&request, end, &bytes, error);
        }
        end += bytes;
        pages += joined;
        count -= joined;
    }
    return status;
}

uint32_t nt_count_whole_pages(const struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count,
                              uint64_t elements, const struct nt_dtype *dtype, uint64_t *elements_ret)
{
    uint32_t whole = 0;
    uint64_t found = 0;
    for (; whole < count && pages[whole].elements <= elements - found; whole++) {
        if (nt_page_made_elements(&pages[whole]) != pages[whole].elements ||
            (dtype && !nt_values_are_equal(nt_page_decoder(dataset, &pages[whole]), dtype)))
            break;
        found += pages[whole].elements;
    }
    *elements_ret = found;
    return whole;
}

void nt_page_load_ahead(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                        const struct nt_page *page)
{
    struct nt_page_request request = {.reader = reader, .dataset = dataset, .column = column, .page = page};
    struct nt_cache_key key;
    struct nt_cached *pinned;
    size_t bytes;
    if (prepare(&request, &key, &bytes, NULL) != NT_OK ||
        nt_cache_peek(reader->cache, &key) != NT_CACHE_ABSENT)
        return;
    if (nt_cache_get(reader->cache, &key, bytes, NT_CACHE_READER, load_and_tell, &request, &pinned, NULL) !=
        NT_OK)
        return;
    nt_count(&reader->counters.pages_ahead, 1);
    nt_cache_release(reader->cache, pinned, NT_CACHE_PASSING);
}
