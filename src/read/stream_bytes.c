/* SPDX-License-Identifier: MIT
 *
 * In: a stream and a range of its bytes. Out: exactly these bytes, of the entries that are chosen. Elements that the range
 * cuts at its ends are made whole elsewhere and copied in part.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/overflow.h"
#include "read/choosing.h"
#include "read/counters.h"
#include "read/page.h"
#include "read/reader.h"
#include "read/sequence.h"
#include "read/stream.h"
#include "read/wanted.h"

enum nt_status nt_stream_finish(struct nt_stream *stream, uint64_t first, uint64_t count,
                                struct nt_pages_made made, uint8_t *output, struct nt_error *error)
{
    if (stream->choosing)
        return nt_stream_produce_chosen(stream, first, count, output, error);
    return nt_stream_finish_stored(stream, first, count, made, output, error);
}

enum nt_status nt_stream_produce(struct nt_stream *stream, uint64_t first, uint64_t count, uint8_t *output,
                                 struct nt_error *error)
{
    return nt_stream_finish(stream, first, count, (struct nt_pages_made){0}, output, error);
}

/* ---- any range of bytes ---- */

/* Bytes [skip, skip + bytes) of one element. */
static enum nt_status read_cut_element(struct nt_stream *stream, uint64_t element, size_t skip,
                                       uint8_t *output, size_t bytes, struct nt_error *error)
{
    uint8_t small[64], *whole = small;
    if (stream->element_bytes > sizeof(small) && !(whole = malloc(stream->element_bytes)))
        return nt_fail_memory(error);
    enum nt_status status = nt_stream_produce(stream, element, 1, whole, error);
    if (status == NT_OK)
        memcpy(output, whole + skip, bytes);
    if (whole != small)
        free(whole);
    return status;
}

static enum nt_status read_bytes(struct nt_stream *stream, uint64_t offset, uint8_t *output, size_t bytes,
                                 struct nt_error *error)
{
    uint32_t element_bytes = stream->element_bytes;
    uint64_t element = offset / element_bytes;
    size_t skip = (size_t)(offset % element_bytes);
    enum nt_status status = NT_OK;
    if (skip) {
        size_t rest = element_bytes - skip < bytes ? element_bytes - skip : bytes;
        status = read_cut_element(stream, element++, skip, output, rest, error);
        output += rest;
        bytes -= rest;
    }
    uint64_t whole = bytes / element_bytes;
    if (status == NT_OK && whole)
        status = nt_stream_produce(stream, element, whole, output, error);
    size_t rest = bytes % element_bytes;
    if (status == NT_OK && rest)
        status = read_cut_element(stream, element + whole, 0, output + bytes - rest, rest, error);
    return status;
}

static void want(struct nt_stream *stream, uint64_t offset, uint64_t bytes)
{
    if (!nt_wants_hints(stream->dataset))
        return;
    uint64_t behind = nt_wanted_behind(&stream->sequence, offset, bytes);
    struct nt_hints hints = {.is_now = behind == 0};
    nt_stream_want(stream, &hints, offset / stream->element_bytes,
                   (offset + bytes + behind + stream->element_bytes - 1) / stream->element_bytes, UINT64_MAX);
    nt_hints_tell(&hints);
}

enum nt_status nt_stream_read(struct nt_stream *stream, uint64_t offset, void *output, size_t bytes,
                              struct nt_error *error)
{
    if (!nt_fits(offset, bytes, stream->elements * stream->element_bytes))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "past the end of the stream");
    if (!bytes)
        return NT_OK;
    enum nt_status status = nt_reader_be_here(stream->reader, error);
    if (status != NT_OK)
        return status;
    nt_count(&stream->reader->counters.reads, 1);
    nt_count(&stream->reader->counters.served_bytes, bytes);
    want(stream, offset, bytes);
    status = read_bytes(stream, offset, output, bytes, error);
    if (status == NT_OK && nt_sequence_note(&stream->sequence, offset, bytes) && stream->transform &&
        !stream->choosing)
        nt_ahead_queue(stream->reader, stream->dataset, &stream->sequence,
                       (offset + bytes) / stream->element_bytes,
                       stream->elements - stream->row->has_leading_zero, nt_stream_find_page, stream, true);
    return status;
}
