/* SPDX-License-Identifier: MIT
 *
 * In: a stream and a range of its bytes. Out: the pages of the cache that hold exactly these bytes, and where in
 * them, for who passes them on from there.
 */
#include "core/base/overflow.h"
#include "read/counters.h"
#include "read/elements.h"
#include "read/page.h"
#include "read/pages.h"
#include "read/stream.h"

/* Of a request and of each page: less is copied faster than it is looked up. */
enum { LEAST_BYTES = 32 * 1024 };

/* The bytes of a request that one page holds. */
struct piece {
    struct nt_ahead_page at;
    size_t skip, count, page_bytes;
};

/* False where the bytes at `offset` are not those of a page as they are. */
static bool find_piece(const struct nt_stream *stream, uint64_t offset, size_t bytes, struct piece *piece)
{
    nt_stream_find_page(stream, offset / stream->element_bytes, &piece->at);
    const struct nt_page *page = piece->at.page;
    if (!page || nt_page_made_elements(page) != page->elements ||
        !nt_values_are_equal(nt_page_decoder(stream->dataset, page), &stream->dtype))
        return false;
    uint64_t page_bytes = (uint64_t)page->elements * stream->element_bytes;
    uint64_t left = piece->at.end * stream->element_bytes - offset;
    if (page_bytes < LEAST_BYTES)
        return false;
    piece->page_bytes = (size_t)page_bytes;
    piece->skip = (size_t)(page_bytes - left);
    piece->count = left < bytes ? (size_t)left : bytes;
    return true;
}

static bool is_whole(const struct piece *piece)
{
    return piece->count == piece->page_bytes;
}

/* A whole page is decoded straight into a reply, whose memory is the warmest there is, unless it is in the cache
 * already, or pages are decoded ahead. */
static bool is_better_read(const struct nt_stream *stream, const struct piece *piece)
{
    return is_whole(piece) && !nt_ahead_pays(stream->reader) &&
           nt_page_is_absent(stream->reader, stream->dataset, piece->at.page);
}

/* Whether all of the request lies in pages as they are, and few enough. */
static bool is_pinnable(const struct nt_stream *stream, uint64_t offset, size_t bytes, unsigned most)
{
    struct piece piece;
    unsigned pieces = 0;
    if (stream->row->make != NT_MAKE_VALUES || bytes < LEAST_BYTES ||
        !nt_fits(offset, bytes, stream->elements * stream->element_bytes) ||
        !nt_sequence_follows(&stream->sequence, offset, bytes))
        return false;
    for (size_t done = 0; done < bytes; done += piece.count)
        if (pieces++ == most || !find_piece(stream, offset + done, bytes - done, &piece) ||
            is_better_read(stream, &piece))
            return false;
    return true;
}

/* A page of which much is passed on at once is as good as passed. */
static enum nt_cache_use use_of(struct nt_stream *stream, const struct piece *piece, size_t bytes)
{
    enum { MUCH = 128 * 1024 };
    bool is_end = piece->skip + piece->count == piece->page_bytes;
    if (is_end && (bytes >= MUCH || is_whole(piece)))
        return NT_CACHE_PASSED;
    return nt_sequence_use(&stream->sequence, is_end);
}

static bool pin_piece(struct nt_stream *stream, const struct piece *piece, size_t bytes, struct nt_pins *pins)
{
    struct nt_pin *pin = &pins->items[pins->count];
    enum nt_cache_asker asker = pins->count ? NT_CACHE_HOLDER : NT_CACHE_READER;
    const uint8_t *data;
    if (nt_page_pin_as(asker, stream->reader, stream->dataset, piece->at.column, piece->at.page, &pin->page,
                       &data, NULL) != NT_OK)
        return false;
    pin->bytes = data + piece->skip;
    pin->count = piece->count;
    pin->use = use_of(stream, piece, bytes);
    pins->count++;
    return true;
}

/* What comes behind is decoded while this thread decodes what is asked for. */
static void decode_ahead(struct nt_stream *stream, uint64_t offset, size_t bytes)
{
    if (nt_sequence_note(&stream->sequence, offset, bytes))
        nt_ahead_queue(stream->reader, stream->dataset, &stream->sequence,
                       (offset + bytes) / stream->element_bytes, stream->elements, nt_stream_find_page,
                       stream, false);
}

bool nt_stream_pin(struct nt_stream *stream, uint64_t offset, size_t bytes, struct nt_pins *pins)
{
    struct piece piece;
    if (!bytes || !is_pinnable(stream, offset, bytes, NT_MOST_PINS - pins->count))
        return false;
    pins->reader = stream->reader;
    decode_ahead(stream, offset, bytes);
    for (size_t done = 0; done < bytes; done += piece.count)
        if (!find_piece(stream, offset + done, bytes - done, &piece) ||
            !pin_piece(stream, &piece, bytes, pins)) {
            nt_pins_release(pins);
            return false;
        }
    nt_count(&stream->reader->counters.reads, 1);
    nt_count(&stream->reader->counters.served_bytes, bytes);
    nt_count(&stream->reader->counters.pinned_bytes, bytes);
    return true;
}

void nt_pins_release(struct nt_pins *pins)
{
    for (unsigned i = 0; i < pins->count; i++)
        if (pins->items[i].page)
            nt_page_unpin(pins->reader, pins->items[i].page, pins->items[i].use);
    pins->count = 0;
}
