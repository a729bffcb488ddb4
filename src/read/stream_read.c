/* SPDX-License-Identifier: MIT
 *
 * Reads a stream by elements or by bytes: walks the range segment by segment and page by page. A
 * sequential reader may instead pin the cached pages and use their bytes in place.
 */
#include "read/read.h"

#include "read/page.h"

/* The state of a read on its way from page to page. */
struct stream_cursor {
    struct nt_stream *stream;
    struct nt_segment segment;       /* current */
    bool is_located;                 /* is it? */
    uint64_t deleted;                /* offsets: omitted items before the current element */
    bool is_random;                  /* the read does not follow the previous one */
    const struct nt_page *next;      /* the page after the last one used ... */
    uint64_t previous;               /* ... and the index value before its first element */
    struct nt_decoded_pages decoded; /* pages already decoded into the output */
};

/* ---- One page ---- */

/* An empty run on a page. */
static struct nt_element_run run_on(const struct stream_cursor *cursor, const struct nt_page *page)
{
    struct nt_element_run run = nt_stream_run(cursor->stream, &cursor->segment, page);
    run.base -= cursor->deleted; /* stored offsets count them; the sum is right even if this wraps */
    return run;
}

static enum nt_status elements_failed(const struct stream_cursor *cursor, const struct nt_element_run *run,
                                      enum nt_status status, struct nt_error *error)
{
    struct nt_stream *stream = cursor->stream;
    uint32_t column = cursor->segment.column;
    struct nt_error unused = {0};
    if (!error)
        error = &unused; /* the report needs the message */
    error->offset = run->page->offset;
    nt_page_error(stream->dataset, column, run->page, status, error);
    uint64_t place = (uint64_t)cursor->segment.number << 32 | (uint64_t)(run->page - cursor->segment.pages);
    if (atomic_exchange(&stream->reported, place + 1) == place + 1)
        return status;
    nt_reader_report_failure(stream->reader, stream->dataset, column, run->page, error);
    return status;
}

/* Finds the last index value of the previous page: from this read if it used that page, else from the
 * page. If that page is bad, offsets do without: their own values are good. Sizes fail. */
static enum nt_status find_previous(const struct stream_cursor *cursor, struct nt_element_run *run,
                                    struct nt_error *error)
{
    const struct nt_stream *stream = cursor->stream;
    const struct nt_segment *segment = &cursor->segment;
    struct nt_cache_entry *pinned;
    const uint8_t *data;
    if (!stream->row->needs_previous || run->first || run->page->first_element == 0)
        return NT_OK;
    run->has_previous = true;
    run->previous = cursor->previous;
    if (cursor->next == run->page)
        return NT_OK;
    const struct nt_page *page =
        nt_find_page(segment->pages, segment->page_count, run->page->first_element - 1);
    enum nt_status status = nt_page_pin(NT_CACHE_READER, stream->reader, stream->dataset, segment->column,
                                        page, &pinned, &data, error);
    if (status != NT_OK) {
        run->has_previous = false;
        return stream->row->has_leading_zero ? NT_OK : status;
    }
    run->has_previous = nt_load_index(nt_page_decoder(stream->dataset, page)->element, data,
                                      nt_page_decoded_elements(page) - 1, &run->previous);
    nt_page_unpin(stream->reader, pinned, NT_CACHE_DROP_BEHIND);
    return NT_OK;
}

static void carry_on(struct stream_cursor *cursor, const struct nt_element_run *run)
{
    size_t last = nt_page_decoded_elements(run->page) - 1;
    if (cursor->stream->row->needs_previous && run->first + run->count > last &&
        nt_load_index(run->decoder->element, run->data, last, &cursor->previous))
        cursor->next = run->page + 1;
}

/* A page used whole at once counts as passed. */
static enum nt_cache_hint use_of(const struct stream_cursor *cursor, const struct nt_element_run *run)
{
    if (run->count == run->page->elements)
        return NT_CACHE_DROP_BEHIND;
    return nt_access_cache_hint(&cursor->stream->access, run->first + run->count == run->page->elements);
}

/* Reads a few elements from only the blocks that hold them. False: the caller uses the page. */
static bool read_from_blocks(const struct nt_stream *stream, const struct nt_element_run *run,
                             uint8_t *output)
{
    size_t element_bytes = run->decoder->element_bytes;
    return nt_page_read_blocks(stream->reader, stream->dataset, run->page, run->first * element_bytes, output,
                               run->count * element_bytes);
}

/* The same with conversion of the elements. `is_made_ret` is false if the caller must use the page. */
static enum nt_status produce_from_blocks(const struct stream_cursor *cursor,
                                          const struct nt_element_run *run, uint8_t *output,
                                          bool *is_decoded_ret, struct nt_error *error)
{
    const struct nt_stream *stream = cursor->stream;
    *is_decoded_ret = false;
    if (stream->row->needs_previous || !nt_compression_info(run->page->compression)->decompress_blocks)
        return NT_OK;
    if (stream->row->conversion == NT_CONVERT_VALUES && nt_values_are_equal(run->decoder, &stream->dtype)) {
        *is_decoded_ret = read_from_blocks(stream, run, output);
        return NT_OK;
    }
    NT_AUTO_FREE uint8_t *elements = malloc(run->count * run->decoder->element_bytes);
    NT_TRY(nt_check_memory(elements, error));
    *is_decoded_ret = read_from_blocks(stream, run, elements);
    if (!*is_decoded_ret)
        return NT_OK;
    struct nt_element_run copy = *run;
    copy.data = elements;
    copy.first = 0;
    enum nt_status status = stream->transform(&copy, output, error);
    return status == NT_OK ? NT_OK : elements_failed(cursor, run, status, error);
}

static enum nt_status produce_run(struct stream_cursor *cursor, struct nt_element_run *run, uint8_t *output,
                                  struct nt_error *error)
{
    struct nt_stream *stream = cursor->stream;
    struct nt_cache_entry *pinned;
    bool is_decoded = false;
    if (cursor->is_random && run->count < run->page->elements)
        NT_TRY(produce_from_blocks(cursor, run, output, &is_decoded, error));
    if (is_decoded)
        return NT_OK;
    NT_TRY(find_previous(cursor, run, error));
    NT_TRY(nt_page_pin(NT_CACHE_READER, stream->reader, stream->dataset, cursor->segment.column, run->page,
                       &pinned, &run->data, error));
    enum nt_status status = stream->transform(run, output, error);
    carry_on(cursor, run);
    nt_page_unpin(stream->reader, pinned, use_of(cursor, run));
    return status == NT_OK ? NT_OK : elements_failed(cursor, run, status, error);
}

/* ---- One segment ---- */

static bool is_decoded(const struct stream_cursor *cursor, const struct nt_page *page)
{
    return cursor->segment.number == cursor->decoded.segment &&
           (size_t)(page - cursor->segment.pages) - cursor->decoded.first < cursor->decoded.count;
}

/* Converts the offsets of whole pages in place to the stream's offsets. Decoders that sum items have done it
 * if the pages were decoded before. */
static enum nt_status finish_offsets(struct stream_cursor *cursor, const struct nt_page *page, uint32_t count,
                                     bool are_decoded, uint8_t *output, struct nt_error *error)
{
    struct nt_stream *stream = cursor->stream;
    for (const struct nt_page *end = page + count; page < end; page++) {
        struct nt_element_run run = run_on(cursor, page);
        run.data = output;
        run.count = page->elements;
        NT_TRY(find_previous(cursor, &run, error));
        carry_on(cursor, &run);
        bool is_done = are_decoded && run.decoder->ops->sums_items;
        cursor->previous -= is_done ? run.base : 0; /* carry_on took it from ends that include the base */
        enum nt_status status =
            is_done ? nt_check_summed_offsets(&run, error) : stream->transform(&run, output, error);
        output += run.count * stream->element_bytes;
        if (status != NT_OK)
            return elements_failed(cursor, &run, status, error);
    }
    return NT_OK;
}

/* Reads whole pages, starting with the first element of one, whose elements are the stream's unchanged,
 * or offsets. Returns the number of elements; 0 if this page does not qualify. The last page of offsets
 * goes through the cache: the next read needs its last value. */
static enum nt_status produce_whole_pages(struct stream_cursor *cursor, const struct nt_page *page,
                                          uint64_t requested, uint64_t *count_ret, uint8_t *output,
                                          struct nt_error *error)
{
    struct nt_stream *stream = cursor->stream;
    const struct nt_segment *segment = &cursor->segment;
    bool are_offsets = stream->row->conversion == NT_CONVERT_OFFSETS, are_decoded = is_decoded(cursor, page);
    uint32_t number = (uint32_t)(page - segment->pages), left = segment->page_count - number;
    *count_ret = 0;
    if (stream->row->conversion != NT_CONVERT_VALUES && !are_offsets)
        return NT_OK;
    if (are_decoded && cursor->decoded.count - (number - cursor->decoded.first) < left)
        left = cursor->decoded.count - (number - cursor->decoded.first);
    uint32_t whole = nt_count_whole_pages(stream->dataset, page, left, requested, &stream->dtype, count_ret);
    if (are_offsets && whole && !are_decoded)
        *count_ret -= page[--whole].elements;
    if (!*count_ret)
        return NT_OK;
    enum nt_status status = are_decoded ? NT_OK
                                        : nt_pages_read_whole(stream->reader, stream->dataset,
                                                              segment->column, page, whole, output, error);
    return status == NT_OK && are_offsets ? finish_offsets(cursor, page, whole, are_decoded, output, error)
                                          : status;
}

/* Offsets of values that have one page each: from the page list alone. */
static void produce_page_offsets(const struct stream_cursor *cursor, uint64_t first, uint64_t count,
                                 uint8_t *output)
{
    const struct nt_segment *segment = &cursor->segment;
    for (uint64_t i = 0; i < count; i++) {
        const struct nt_page *page = &segment->pages[first + i];
        uint64_t end = segment->base - cursor->deleted + page->first_element + page->elements;
        memcpy(output + i * sizeof(end), &end, sizeof(end));
    }
}

/* Elements that a deferred column does not store: 0, or true if no row is null; for offsets, empty
 * items at the start of the cluster. */
static void produce_zeros(const struct nt_stream *stream, const struct nt_segment *segment, uint64_t count,
                          uint8_t *output)
{
    if (!stream->row->has_leading_zero) {
        memset(output, segment->are_true, (size_t)(count * stream->element_bytes));
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        memcpy(output + i * sizeof(segment->base), &segment->base, sizeof(segment->base));
}

/* On a page where a few decoded elements repeat, limits a run to those. */
static void limit_run(struct nt_element_run *run)
{
    size_t decoded = nt_page_decoded_elements(run->page);
    if (decoded == run->page->elements)
        return;
    run->first = 0;
    run->count = nt_min(run->count, decoded);
}

/* At most `count` elements of a page, from `element` of the column on. */
static struct nt_element_run stored_run(const struct stream_cursor *cursor, const struct nt_page *page,
                                        uint64_t element, uint64_t count)
{
    struct nt_element_run run = run_on(cursor, page);
    run.first = (size_t)(element - page->first_element);
    run.count = nt_min(count, page->elements - run.first);
    limit_run(&run);
    const struct nt_segment *segment = &cursor->segment;
    run.is_cluster_end = element + segment->zeros + run.count == nt_segment_end(segment);
    return run;
}

/* Maps an element to its physical index; limits `count` to the elements before a deletion. */
static void skip_deleted(struct stream_cursor *cursor, uint64_t *first, uint64_t *count)
{
    const struct nt_segment *segment = &cursor->segment;
    const struct nt_kept_run kept = nt_row_mask_kept_from(&segment->masks->elements, *first);
    *first = kept.physical;
    *count = nt_min(*count, kept.count);
    if (segment->masks->items.deletions)
        cursor->deleted = nt_deletion_vector_count(segment->masks->items.deletions, kept.number);
}

/* Finds the pages of the segment, whose counts must be right. */
static enum nt_status find_pages(struct stream_cursor *cursor, struct nt_error *error)
{
    struct nt_stream *stream = cursor->stream;
    struct nt_segment *segment = &cursor->segment;
    NT_TRY(nt_stream_locate(stream, segment, error));
    cursor->is_located = true;
    if (segment->span.fault == NT_FAULT_NONE)
        return NT_OK;
    enum nt_status status =
        nt_fault_error(stream->dataset, &segment->span, segment->elements, segment->found, error);
    return nt_name_field(stream->dataset, stream->field, NULL, status, error);
}

/* Enters the segment that holds an element. */
static void enter_segment(struct stream_cursor *cursor, uint64_t element)
{
    nt_segment_release(&cursor->segment);
    nt_stream_segment_of(cursor->stream, element, &cursor->segment);
    cursor->is_located = false;
    cursor->next = NULL;
}

/* Reads up to `count` elements from `first` on in the segment: those of one page or of several whole ones,
 * or elements that are not stored. Sets `count` to the number read. */
static enum nt_status produce_in_segment(struct stream_cursor *cursor, uint64_t first, uint64_t *count,
                                         uint8_t *output, struct nt_error *error)
{
    struct nt_stream *stream = cursor->stream;
    const struct nt_segment *segment = &cursor->segment;
    uint64_t whole = 0;
    if (!cursor->is_located)
        NT_TRY(find_pages(cursor, error));
    cursor->deleted = 0;
    if (segment->masks && segment->page_count)
        skip_deleted(cursor, &first, count);
    if (first < segment->zeros) {
        *count = nt_min(*count, segment->zeros - first);
        produce_zeros(stream, segment, *count, output);
        return NT_OK;
    }
    first -= segment->zeros;
    if (!stream->transform) {
        produce_page_offsets(cursor, first, *count, output);
        return NT_OK;
    }
    const struct nt_page *page = nt_find_page(segment->pages, segment->page_count, first);
    if (first == page->first_element)
        NT_TRY(produce_whole_pages(cursor, page, *count, &whole, output, error));
    if (whole) {
        *count = whole;
        return NT_OK;
    }
    struct nt_element_run run = stored_run(cursor, page, first, *count);
    *count = run.count;
    return produce_run(cursor, &run, output, error);
}

/* ---- Read bytes ---- */

enum nt_status nt_stream_produce(struct nt_stream *stream, uint64_t first, uint64_t count,
                                 const struct nt_decoded_pages *decoded, uint8_t *output,
                                 struct nt_error *error)
{
    if (stream->filter)
        return nt_stream_produce_filtered(stream, first, count, output, error);
    struct stream_cursor cursor = {.stream = stream};
    if (decoded)
        cursor.decoded = *decoded;
    enum nt_status status = NT_OK;
    cursor.is_random = !nt_access_is_sequential(&stream->access, first * stream->element_bytes,
                                                count * stream->element_bytes);
    if (stream->row->has_leading_zero && count) {
        if (first == 0) {
            memset(output, 0, stream->element_bytes);
            output += stream->element_bytes;
            count--;
        } else {
            first--;
        }
    }
    while (status == NT_OK && count) {
        const struct nt_segment *segment = &cursor.segment;
        if (!cursor.is_located || first - segment->first >= segment->elements)
            enter_segment(&cursor, first);
        uint64_t some = nt_min(count, segment->elements - (first - segment->first));
        status = produce_in_segment(&cursor, first - segment->first, &some, output, error);
        output += some * stream->element_bytes;
        first += some;
        count -= some;
    }
    nt_segment_release(&cursor.segment);
    return status;
}

/* Bytes [skip, skip + bytes) of one element. */
static enum nt_status read_cut_element(struct nt_stream *stream, uint64_t element, size_t skip,
                                       uint8_t *output, size_t bytes, struct nt_error *error)
{
    uint8_t small[64], *whole = small;
    if (stream->element_bytes > sizeof(small) && !(whole = malloc(stream->element_bytes)))
        return nt_fail_memory(error);
    enum nt_status status = nt_stream_produce(stream, element, 1, NULL, whole, error);
    if (status == NT_OK)
        memcpy(output, whole + skip, bytes);
    if (whole != small)
        free(whole);
    return status;
}

enum nt_status nt_stream_read(struct nt_stream *stream, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *error)
{
    uint64_t element = offset / stream->element_bytes, end = offset + bytes;
    size_t skip = (size_t)(offset % stream->element_bytes);
    uint8_t *output = buffer;
    if (!nt_range_fits(offset, bytes, stream->elements * stream->element_bytes))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "past the end of the stream");
    if (!bytes)
        return NT_OK;
    NT_TRY(nt_reader_after_fork(stream->reader, error));
    nt_counter_add(&stream->reader->counters.reads, 1);
    nt_counter_add(&stream->reader->counters.served_bytes, bytes);
    const struct nt_walk walk = nt_stream_walk(stream);
    if (!stream->filter)
        nt_walk_begin_read(&walk, offset, bytes);
    if (skip) {
        size_t rest = nt_min(stream->element_bytes - skip, bytes);
        NT_TRY(read_cut_element(stream, element++, skip, output, rest, error));
        output += rest;
        bytes -= rest;
    }
    uint64_t whole = bytes / stream->element_bytes;
    if (whole)
        NT_TRY(nt_stream_produce(stream, element, whole, NULL, output, error));
    size_t rest = bytes % stream->element_bytes;
    if (rest)
        NT_TRY(read_cut_element(stream, element + whole, 0, output + bytes - rest, rest, error));
    if (stream->filter)
        nt_access_note(&stream->access, offset, (size_t)(end - offset));
    else
        nt_walk_end_read(&walk, offset, (size_t)(end - offset));
    return NT_OK;
}

/* ---- Pin cached pages ---- */

/* The bytes of a request that one page holds. */
struct page_piece {
    struct nt_readahead_page at;
    size_t skip, count, page_bytes;
};

/* False, without a pin, if the bytes at `offset` are not those of a page unchanged. */
static bool pin_group_of_piece(const struct nt_stream *stream, uint64_t offset, size_t bytes,
                               struct page_piece *piece)
{
    nt_stream_find_page(stream, offset / stream->element_bytes, &piece->at);
    const struct nt_page *page = piece->at.page;
    uint64_t page_bytes = page ? (uint64_t)page->elements * stream->element_bytes : 0;
    uint64_t left = piece->at.end * stream->element_bytes - offset;
    if (page_bytes < NT_MIN_PINNED || nt_page_decoded_elements(page) != page->elements ||
        !nt_values_are_equal(nt_page_decoder(stream->dataset, page), &stream->dtype)) {
        nt_group_unpin(piece->at.group);
        return false;
    }
    piece->page_bytes = (size_t)page_bytes;
    piece->skip = (size_t)(page_bytes - left);
    piece->count = nt_min(left, bytes);
    return true;
}

/* Reading beats pinning for a whole page: it is decoded straight into the reply, which is the warmest
 * memory. Not if the page is cached or readahead pays. */
static bool is_better_read(const struct nt_stream *stream, const struct page_piece *piece)
{
    return piece->count == piece->page_bytes && !nt_readahead_pays(stream->reader) &&
           nt_page_is_absent(stream->reader, stream->dataset, piece->at.page);
}

/* Does the request consist of unchanged page bytes, in few enough pages? */
static bool is_pinnable(const struct nt_stream *stream, uint64_t offset, size_t bytes, unsigned most)
{
    struct page_piece piece;
    unsigned pieces = 0;
    if (stream->row->conversion != NT_CONVERT_VALUES || bytes < NT_MIN_PINNED ||
        !nt_range_fits(offset, bytes, stream->elements * stream->element_bytes) ||
        !nt_access_is_sequential(&stream->access, offset, bytes))
        return false;
    for (size_t done = 0; done < bytes; done += piece.count) {
        if (pieces++ == most || !pin_group_of_piece(stream, offset + done, bytes - done, &piece))
            return false;
        bool is_better = is_better_read(stream, &piece);
        nt_group_unpin(piece.at.group);
        if (is_better)
            return false;
    }
    return true;
}

/* A page counts as passed if a large part of it is used at once. */
static enum nt_cache_hint use_of_piece(struct nt_stream *stream, const struct page_piece *piece, size_t bytes)
{
    enum { MUCH = 128 * 1024 };
    bool is_end = piece->skip + piece->count == piece->page_bytes;
    if (is_end && (bytes >= MUCH || !piece->skip))
        return NT_CACHE_DROP_BEHIND;
    return nt_access_cache_hint(&stream->access, is_end);
}

static bool pin_piece(struct nt_stream *stream, const struct page_piece *piece, size_t bytes,
                      struct nt_pins *pins)
{
    struct nt_pin *pin = &pins->items[pins->count];
    enum nt_cache_client client = pins->count ? NT_CACHE_HOLDER : NT_CACHE_READER;
    const uint8_t *data;
    enum nt_status status = nt_page_pin(client, stream->reader, stream->dataset, piece->at.column,
                                        piece->at.page, &pin->page, &data, NULL);
    nt_group_unpin(piece->at.group); /* the bytes stay */
    if (status != NT_OK)
        return false;
    pin->bytes = data + piece->skip;
    pin->count = piece->count;
    pin->use = use_of_piece(stream, piece, bytes);
    pins->count++;
    return true;
}

bool nt_stream_pin(struct nt_stream *stream, uint64_t offset, size_t bytes, struct nt_pins *pins)
{
    struct page_piece piece;
    if (!bytes || !is_pinnable(stream, offset, bytes, NT_MAX_PINS - pins->count))
        return false;
    const struct nt_walk walk = nt_stream_walk(stream);
    pins->reader = stream->reader;
    if (nt_access_note(&stream->access, offset, bytes)) /* readahead runs in parallel */
        nt_readahead_queue_next(&walk, offset, false);
    for (size_t done = 0; done < bytes; done += piece.count)
        if (!pin_group_of_piece(stream, offset + done, bytes - done, &piece) ||
            !pin_piece(stream, &piece, bytes, pins)) {
            nt_pins_release(pins);
            return false;
        }
    nt_counter_add(&stream->reader->counters.reads, 1);
    nt_counter_add(&stream->reader->counters.served_bytes, bytes);
    nt_counter_add(&stream->reader->counters.pinned_bytes, bytes);
    return true;
}

void nt_pins_release(struct nt_pins *pins)
{
    for (unsigned i = 0; i < pins->count; i++)
        if (pins->items[i].page)
            nt_page_unpin(pins->reader, pins->items[i].page, pins->items[i].use);
    pins->count = 0;
}
