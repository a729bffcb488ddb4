/* SPDX-License-Identifier: MIT
 *
 * In: a page whose decoder may be a plan. Out: its decoded elements. The inputs of a plan are pages
 * themselves, mostly those of many others: each is an entry of the cache, decoded once, and pinned while it
 * is used. How deep inputs have inputs was bounded when their decoders were made, and there are no circles.
 */
#include "read/load.h"

#include <inttypes.h>
#include <string.h>

#include "read/contexts.h"
#include "read/page.h"

/* For the cache. The error tells where the input lies: it belongs to no one column. */
static enum nt_status load_input(void *context, uint8_t *output, struct nt_error *error)
{
    const struct nt_page_request *request = context;
    enum nt_status status = nt_page_load_all(request, output, error);
    if (status != NT_OK && error) {
        if (error->offset == NT_NO_OFFSET)
            error->offset = request->page->offset;
        nt_error_context(error, "what it is decoded with, at byte %" PRIu64, request->page->offset);
    }
    return status;
}

static enum nt_status pin_input(const struct nt_page_request *request, const struct nt_page *page,
                                struct nt_page_inputs *inputs, struct nt_error *error)
{
    struct nt_page_request input = {
        .reader = request->reader, .dataset = request->dataset, .column = request->column, .page = page};
    struct nt_cache_key key = nt_page_key(request->dataset, page);
    struct nt_cached **pinned = &inputs->pinned[inputs->count];
    size_t bytes;
    enum nt_status status = nt_page_decoded_bytes(request->dataset, page, &bytes, error);
    if (status == NT_OK)
        status = nt_cache_get(request->reader->cache, &key, bytes, NT_CACHE_LOADER, load_input, &input,
                              pinned, error);
    if (status != NT_OK)
        return status;
    inputs->values[inputs->count++] = nt_decoded_value(nt_page_decoder(request->dataset, page),
                                                       nt_cached_bytes(*pinned), nt_page_made_elements(page));
    return NT_OK;
}

enum nt_status nt_page_pin_inputs(const struct nt_page_request *request, struct nt_page_inputs *inputs,
                                  struct nt_error *error)
{
    const struct nt_plan *plan = nt_page_decoder(request->dataset, request->page)->plan;
    enum nt_status status = NT_OK;
    inputs->count = 0;
    for (uint32_t i = 0; plan && i < plan->input_count && status == NT_OK; i++)
        status = pin_input(request, &plan->inputs[i], inputs, error);
    return status;
}

void nt_page_unpin_inputs(struct nt_reader *reader, const struct nt_page_inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++)
        nt_cache_release(reader->cache, inputs->pinned[i], NT_CACHE_STAY);
}

/* A page that takes longer to load than it takes to wake another thread. */
static bool is_slow(const struct nt_page_request *request)
{
    enum { SLOW_BYTES = 32 * 1024 };
    size_t bytes;
    return request->page->stored_bytes >= SLOW_BYTES ||
           nt_page_decoded_bytes(request->dataset, request->page, &bytes, NULL) != NT_OK ||
           bytes >= SLOW_BYTES;
}

/* What is waited for is waited for before: inputs, then a context, which is as much as room in memory. */
enum nt_status nt_page_load_all(const struct nt_page_request *request, void *output, struct nt_error *error)
{
    struct nt_contexts *contexts = request->reader->contexts;
    struct nt_page_request whole = *request;
    struct nt_page_inputs inputs;
    struct nt_tally tally = {0};
    struct nt_loan loan;
    if (request->context)
        return nt_page_load_with(request, output, error);
    if (is_slow(request))
        nt_reader_before_slow_work(request->reader);
    enum nt_status status = nt_page_pin_inputs(request, &inputs, error);
    if (status == NT_OK)
        status = nt_contexts_borrow(contexts, nt_page_scratch_bytes(request->dataset, request->page), &loan,
                                    error);
    if (status == NT_OK) {
        whole.inputs = inputs.values;
        whole.context = loan.context;
        whole.tally = &tally;
        nt_tally_begin(&tally);
        status = nt_page_load_with(&whole, output, error);
        nt_contexts_return(contexts, &loan);
        nt_reader_add(request->reader, &tally);
    }
    nt_page_unpin_inputs(request->reader, &inputs);
    return status;
}

/* Of a page whose elements are all equal, the first ones become all. */
static void repeat_elements(const struct nt_dataset *dataset, const struct nt_page *page, uint8_t *output)
{
    uint64_t width = nt_page_decoder(dataset, page)->element_bytes, total = page->elements * width;
    for (uint64_t made = nt_page_made_elements(page) * width, count; made < total; made += count) {
        count = made < total - made ? made : total - made;
        memcpy(output + made, output, count);
    }
}

enum nt_status nt_page_load(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                            const struct nt_page *page, void *output, struct nt_error *error)
{
    struct nt_page_request request = {.reader = reader, .dataset = dataset, .column = column, .page = page};
    enum nt_status status = nt_reader_be_here(reader, error);
    if (status != NT_OK)
        return status;
    status = nt_page_load_all(&request, output, error);
    if (status != NT_OK)
        return nt_page_error(dataset, column, page, status, error);
    repeat_elements(dataset, page, output);
    return NT_OK;
}
