/* SPDX-License-Identifier: MIT
 *
 * Combines work on several pages: reads small pages that are adjacent in the file in one call, and
 * decodes pages of several streams with the same stored bytes once.
 */
#include "read/read.h"

#include "read/page.h"

/* ---- Adjacent pages ---- */

enum { MAX_BYTES = 128 * 1024 };

static uint64_t bytes_of(const struct nt_page *page)
{
    return page->stored_bytes + nt_checksum_info(page->checksum)->bytes;
}

static bool are_decoded_alike(const struct nt_dataset *dataset, const struct nt_page *a,
                              const struct nt_page *b)
{
    return a->decoder == b->decoder ||
           (!nt_page_decoder(dataset, a)->dependency_count && !nt_page_decoder(dataset, b)->dependency_count);
}

uint32_t nt_adjacent_pages_count(const struct nt_dataset *dataset, const struct nt_page *pages,
                                 uint32_t count)
{
    const struct nt_source *source = dataset->sources[pages->source];
    uint64_t bytes = 0, offset;
    uint32_t found = 0;
    for (; found < count; found++) {
        const struct nt_page *page = &pages[found];
        if (page->source != pages->source || page->compression == NT_COMPRESSION_ELSEWHERE ||
            page->stored_bytes > MAX_BYTES || bytes + bytes_of(page) > MAX_BYTES ||
            !nt_source_is_range(source, bytes + bytes_of(page)) ||
            !nt_checked_add(pages->offset, bytes, &offset) || page->offset != offset ||
            !are_decoded_alike(dataset, pages, page))
            break;
        bytes += bytes_of(page);
    }
    return found;
}

/* The bytes of `count` adjacent pages (at least 1), including the last one's digest. */
static size_t bytes_of_adjacent_pages(const struct nt_page *pages, uint32_t count)
{
    const struct nt_page *last = &pages[count - 1];
    return (size_t)(last->offset - pages->offset + bytes_of(last));
}

/* If the read fails, the caller reads page by page, which finds the unreadable page. */
static void read_some(struct nt_adjacent_pages *adjacent, const struct nt_dataset *dataset,
                      const struct nt_page *pages, uint32_t count)
{
    uint32_t found = nt_adjacent_pages_count(dataset, pages, count);
    adjacent->count = 0;
    if (found < 2)
        return;
    if (!adjacent->bytes)
        adjacent->bytes = malloc(MAX_BYTES);
    if (!adjacent->bytes || nt_source_read(dataset->sources[pages->source], pages->offset, adjacent->bytes,
                                           bytes_of_adjacent_pages(pages, found), NULL) != NT_OK)
        return;
    adjacent->first = pages;
    adjacent->count = found;
}

static bool is_read(const struct nt_adjacent_pages *adjacent, const struct nt_page *page)
{
    uintptr_t distance = (uintptr_t)page - (uintptr_t)adjacent->first;
    return distance < adjacent->count * sizeof(*page);
}

enum nt_status nt_adjacent_pages_load(struct nt_adjacent_pages *adjacent, struct nt_reader *reader,
                                      struct nt_dataset *dataset, uint32_t column,
                                      const struct nt_page *pages, uint32_t count, void *output,
                                      struct nt_error *error)
{
    struct nt_page_request request = {.reader = reader, .dataset = dataset, .column = column, .page = pages};
    if (!is_read(adjacent, pages))
        read_some(adjacent, dataset, pages, count);
    if (is_read(adjacent, pages))
        request.stored = adjacent->bytes + (pages->offset - adjacent->first->offset);
    enum nt_status status = nt_page_load_with_dependencies(&request, output, error);
    return status == NT_OK ? NT_OK : nt_page_error(dataset, column, pages, status, error);
}

void nt_adjacent_pages_deinit(struct nt_adjacent_pages *adjacent)
{
    free(adjacent->bytes);
}

/* ---- Load into the output ---- */

static bool are_same_bytes(const struct nt_page *a, const struct nt_page *b)
{
    return a->offset == b->offset && a->stored_bytes == b->stored_bytes && a->source == b->source &&
           a->compression == b->compression && a->checksum == b->checksum &&
           a->checksum_covers == b->checksum_covers && !a->is_missing && !b->is_missing;
}

bool nt_pages_are_shared(const struct nt_dataset *dataset, const struct nt_page *a, const struct nt_page *b)
{
    return are_same_bytes(a, b) &&
           nt_decoders_are_shared(nt_page_decoder(dataset, a), nt_page_decoder(dataset, b));
}

/* The state for loading pages of all columns. */
struct shared_load {
    struct nt_page_request request; /* of the first column */
    struct nt_pages_run *runs;
    uint32_t run_count;
    struct nt_page_dependencies dependencies[NT_MAX_SHARED_OUTPUTS];
    struct nt_shared_page shared_pages[NT_MAX_SHARED_OUTPUTS];
    uint32_t pinned; /* number of columns whose dependencies are pinned */
    uint64_t cached; /* pages in addition to those of the only column */
    struct nt_stats_delta stats;
    struct nt_error *failure; /* see nt_pages_load_direct */
};

/* How many pages of the first column one read can load, and its size. Counts only pages that are not
 * cached. A large page is read alone. */
static uint32_t count_absent(const struct shared_load *load, uint32_t count, size_t *bytes_ret)
{
    enum { TOGETHER = 32 };
    struct nt_cache_key keys[TOGETHER];
    const struct nt_dataset *dataset = load->request.dataset;
    const struct nt_page *pages = load->runs->pages;
    uint32_t most = nt_adjacent_pages_count(dataset, pages, count), found = 0, batch, absent;
    do {
        batch = nt_min(most - found, TOGETHER);
        for (uint32_t i = 0; i < batch; i++)
            keys[i] = nt_page_key(dataset, &pages[found + i]);
        absent = (uint32_t)nt_cache_count_absent(load->request.reader->cache, keys, batch);
        found += absent;
    } while (absent == TOGETHER);
    *bytes_ret = found > 1 ? bytes_of_adjacent_pages(pages, found) : 0;
    return most ? found : nt_page_is_absent(load->request.reader, dataset, pages);
}

/* How many of the next `count` pages can be decoded together: those decoded like the first ones. */
static uint32_t count_alike(const struct shared_load *load, uint32_t count)
{
    const struct nt_dataset *dataset = load->request.dataset;
    const struct nt_pages_run *runs = load->runs;
    for (uint32_t i = 0; load->run_count > 1 && i < load->run_count; i++) {
        const struct nt_page *pages = runs[i].pages;
        if (!nt_values_are_equal(nt_page_decoder(dataset, pages), runs[i].dtype))
            return 0;
        for (uint32_t k = 0; k < i; k++)
            if (!nt_pages_are_shared(dataset, pages, runs[k].pages))
                return 0;
        for (uint32_t k = 0; k < count; k++)
            if (pages[k].decoder != pages->decoder ||
                nt_page_decoded_elements(&pages[k]) != pages[k].elements ||
                !are_same_bytes(&pages[k], &runs->pages[k]))
                count = k;
    }
    return count;
}

static enum nt_status pin_all(struct shared_load *load)
{
    struct nt_page_request request = load->request;
    load->pinned = 0;
    while (load->pinned < load->run_count) {
        request.page = load->runs[load->pinned].pages;
        NT_TRY(nt_page_pin_dependencies(&request, &load->dependencies[load->pinned++], NULL));
    }
    return NT_OK;
}

/* The scratch memory that they need: that of the largest page, plus the stored bytes of all. */
static uint64_t scratch_bytes(const struct shared_load *load, uint32_t count, size_t bytes)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t scratch = nt_page_scratch_bytes(load->request.dataset, &load->runs->pages[i]);
        largest = scratch > largest ? scratch : largest;
    }
    return largest + nt_hugepage_capacity(bytes);
}

/* Reads the stored bytes of all pages into scratch memory. NULL on failure: then pages are read one by
 * one, which finds the unreadable page. */
static const uint8_t *read_stored(struct shared_load *load, size_t bytes)
{
    const struct nt_page *first = load->runs->pages;
    uint8_t *stored = bytes ? nt_codec_scratch(load->request.context, NT_SCRATCH_COALESCED, bytes) : NULL;
    if (!stored || nt_source_read(load->request.dataset->sources[first->source], first->offset, stored, bytes,
                                  NULL) != NT_OK)
        return NULL;
    nt_stats_lap(&load->stats, &load->stats.counters.read_nanoseconds);
    return stored;
}

/* Loads a page of the only column, and those that are mostly needed with it into the cache. */
static enum nt_status load_with_siblings(struct shared_load *load, uint8_t *output)
{
    struct nt_sibling_pages siblings;
    nt_sibling_pages_begin(&load->request, &siblings);
    struct nt_error *failure = siblings.count ? NULL : load->failure; /* else it may be that of a sibling */
    enum nt_status status = nt_page_load_once(&load->request, output, failure);
    if (failure && (status == NT_OK || nt_is_environmental(status)))
        nt_error_clear(failure);
    nt_sibling_pages_end(&load->request, &siblings, status == NT_OK);
    load->cached += siblings.count;
    return status;
}

/* Loads one page of each column and advances the runs. */
static enum nt_status load_page(struct shared_load *load)
{
    struct nt_pages_run *runs = load->runs;
    load->request.page = runs->pages;
    load->request.base = runs->base;
    for (uint32_t i = 1; i < load->run_count; i++)
        load->shared_pages[i - 1] = (struct nt_shared_page){runs[i].pages, load->dependencies[i].values,
                                                            runs[i].output, runs[i].base};
    nt_workers_cancel_page(load->request.reader->workers, runs->pages);
    NT_TRY(load->run_count == 1 ? load_with_siblings(load, runs->output)
                                : nt_page_load_once(&load->request, runs->output, NULL));
    for (uint32_t i = 0; i < load->run_count; i++) {
        const struct nt_page *page = runs[i].pages++;
        runs[i].output +=
            (size_t)page->elements * nt_page_decoder(load->request.dataset, page)->element_bytes;
    }
    return NT_OK;
}

/* Loads pages whose stored bytes one call reads (`bytes` 0: a single page). Never waits for cache
 * entries while it has a context, so it may load what another thread is loading. Returns the count. */
static uint32_t load_some(struct shared_load *load, uint32_t count, size_t bytes)
{
    struct nt_reader *reader = load->request.reader;
    const struct nt_page *first = load->request.page = load->runs->pages;
    struct nt_borrowed_context borrowed;
    uint32_t done = 0;
    if (pin_all(load) == NT_OK &&
        nt_scratch_pool_borrow(reader->scratch_pool, scratch_bytes(load, count, bytes), &borrowed, NULL) ==
            NT_OK) {
        load->request.context = borrowed.context;
        load->request.dependencies = load->dependencies->values;
        nt_stats_begin(&load->stats);
        const uint8_t *stored = read_stored(load, bytes);
        for (; done < count; done++) {
            load->request.stored = stored ? stored + (load->runs->pages->offset - first->offset) : NULL;
            if (load_page(load) != NT_OK)
                break;
        }
        nt_scratch_pool_return(reader->scratch_pool, &borrowed);
    }
    for (uint32_t i = 0; i < load->pinned; i++)
        nt_page_unpin_dependencies(reader, &load->dependencies[i]);
    return done;
}

uint32_t nt_pages_load_direct(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                              struct nt_pages_run *runs, uint32_t run_count, uint32_t count,
                              struct nt_error *failure)
{
    struct shared_load load;
    uint32_t left = count;
    if (failure)
        nt_error_clear(failure);
    load.request = (struct nt_page_request){.reader = reader,
                                            .dataset = dataset,
                                            .column = column,
                                            .stats = &load.stats,
                                            .shared_pages = load.shared_pages,
                                            .shared_page_count = run_count - 1};
    load.runs = runs;
    load.run_count = run_count;
    load.stats = (struct nt_stats_delta){0};
    load.failure = failure;
    load.cached = 0;
    for (uint32_t some = 1, done = 1; left && some && done == some; left -= done) {
        size_t bytes = 0;
        some = count_alike(&load, count_absent(&load, left, &bytes));
        done = some ? load_some(&load, some, some > 1 ? bytes : 0) : 0;
    }
    load.stats.counters.pages_direct = load.stats.counters.pages_decoded - load.cached;
    nt_reader_add_stats(reader, &load.stats);
    return count - left;
}

/* ---- Shared decoding ---- */

/* Locates a segment whose elements are exactly those of its pages. False, without a pin, if it is not so,
 * or its page list cannot be read. */
static bool pin_simple(struct nt_stream *stream, uint32_t number, struct nt_segment *segment)
{
    bool is_direct =
        stream->transform && !stream->filter &&
        (stream->row->conversion == NT_CONVERT_VALUES || stream->row->conversion == NT_CONVERT_OFFSETS);
    if (!is_direct)
        return false;
    nt_stream_segment(stream, number, segment);
    bool is_located = nt_stream_locate(stream, segment, NULL) == NT_OK;
    if (is_located && segment->group && !segment->zeros && !segment->masks)
        return true;
    nt_segment_release(segment);
    return false;
}

static bool pin_both(struct nt_stream *a, struct nt_stream *b, uint32_t number, struct nt_segment both[2])
{
    if (!pin_simple(a, number, &both[0]))
        return false;
    if (pin_simple(b, number, &both[1]))
        return true;
    nt_segment_release(&both[0]);
    return false;
}

static void unpin_both(struct nt_segment both[2])
{
    nt_segment_release(&both[0]);
    nt_segment_release(&both[1]);
}

bool nt_streams_share_pages(struct nt_stream *a, struct nt_stream *b)
{
    if (a->dataset != b->dataset || a->rows.count != b->rows.count || !a->rows.count)
        return false;
    struct nt_segment both[2];
    if (!pin_both(a, b, 0, both))
        return false;
    bool are_shared = nt_pages_are_shared(a->dataset, both[0].pages, both[1].pages);
    unpin_both(both);
    return are_shared;
}

uint64_t nt_stream_shared_page_end(struct nt_stream *stream, uint64_t end, struct nt_stream *other)
{
    if (end <= nt_stream_leading_zeros(stream))
        return 0;
    uint64_t element = end - 1 - nt_stream_leading_zeros(stream);
    struct nt_segment both[2];
    nt_stream_segment_of(stream, element, &both[0]);
    if (!pin_both(stream, other, both[0].number, both))
        return 0;
    const struct nt_segment *segment = &both[0], *shared = &both[1];
    const struct nt_page *page = nt_find_page(segment->pages, segment->page_count, element - segment->first);
    size_t index = (size_t)(page - segment->pages);
    uint64_t page_end = 0;
    if (index < shared->page_count && are_same_bytes(page, &shared->pages[index])) {
        page = &shared->pages[index];
        page_end = nt_stream_leading_zeros(other) + shared->first + page->first_element + page->elements;
    }
    unpin_both(both);
    return page_end;
}

/* ---- Pages that lie entirely in all ranges ---- */

struct together {
    struct nt_segment segments[NT_MAX_SHARED_OUTPUTS]; /* of each range, pinned */
    uint32_t count;
    uint32_t first, end; /* page numbers in the segment */
};

/* Restricts the pages to those that lie entirely in one more range. */
static bool narrow(struct together *together, const struct nt_stream_range *range, uint32_t number)
{
    struct nt_segment *segment = &together->segments[together->count];
    if (!pin_simple(range->stream, number, segment))
        return false;
    together->count++;
    uint64_t start = nt_stream_leading_zeros(range->stream) + segment->first,
             stop = range->first + range->count;
    uint64_t from = range->first > start ? range->first - start : 0;
    uint64_t to = nt_min(stop > start ? stop - start : 0, segment->elements);
    if (from >= to)
        return false;
    const struct nt_page *first = nt_find_page(segment->pages, segment->page_count, from);
    const struct nt_page *last = nt_find_page(segment->pages, segment->page_count, to - 1);
    uint32_t a = (uint32_t)(first - segment->pages) + (first->first_element < from);
    uint32_t b = (uint32_t)(last - segment->pages) + (last->first_element + last->elements <= to);
    together->first = a > together->first ? a : together->first;
    together->end = nt_min(b, together->end);
    return together->first < together->end;
}

/* Decodes the pages that all ranges have, and says which. */
static void decode_shared(const struct together *together, const struct nt_stream_range *ranges,
                          struct nt_decoded_pages *decoded)
{
    struct nt_pages_run runs[NT_MAX_SHARED_OUTPUTS];
    const struct nt_stream *stream = ranges->stream;
    for (uint32_t i = 0; i < together->count; i++) {
        const struct nt_stream_range *range = &ranges[i];
        const struct nt_segment *segment = &together->segments[i];
        const struct nt_page *pages = &segment->pages[together->first];
        uint64_t element = nt_stream_leading_zeros(range->stream) + segment->first + pages->first_element;
        runs[i] = (struct nt_pages_run){
            pages, (uint8_t *)range->output + (element - range->first) * range->stream->element_bytes,
            &range->stream->dtype, segment->base};
    }
    uint32_t done = nt_pages_load_direct(stream->reader, stream->dataset, together->segments[0].column, runs,
                                         together->count, together->end - together->first, NULL);
    for (uint32_t i = 0; i < together->count; i++)
        decoded[i] = (struct nt_decoded_pages){together->segments[i].number, together->first, done};
}

void nt_streams_decode_shared(const struct nt_stream_range *ranges, uint32_t count,
                              struct nt_decoded_pages *decoded)
{
    struct together together = {.end = UINT32_MAX};
    const struct nt_stream *stream = ranges->stream;
    uint64_t lead = nt_stream_leading_zeros(stream),
             element = ranges->first < lead ? 0 : ranges->first - lead;
    struct nt_segment segment;
    nt_stream_segment_of(stream, element, &segment);
    bool is_shared = true;
    for (uint32_t i = 0; i < count; i++) {
        decoded[i] = (struct nt_decoded_pages){0};
        is_shared = is_shared && segment.number < ranges[i].stream->rows.count &&
                    narrow(&together, &ranges[i], segment.number);
    }
    if (is_shared)
        decode_shared(&together, ranges, decoded);
    for (uint32_t i = 0; i < together.count; i++)
        nt_segment_release(&together.segments[i]);
}
