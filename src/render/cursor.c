/* SPDX-License-Identifier: MIT
 *
 * A cursor that reads single elements of a stream. It reads a small window around the requested element
 * and grows the window as the cursor moves forward.
 */
#include "render/render.h"

enum { FIRST_ELEMENTS = 64, MAX_BYTES = 256 * 1024, FIRST_BYTES = 1024 * 1024 };

static const uint64_t limit_bytes = UINT64_C(1) << 30;

enum nt_status nt_stream_cursor_open(struct nt_stream_cursor *cursor, struct nt_reader *reader,
                                     struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind,
                                     struct nt_error *error)
{
    *cursor =
        (struct nt_stream_cursor){.requested = FIRST_ELEMENTS, .max_bytes = MAX_BYTES, .end = UINT64_MAX};
    NT_TRY(nt_stream_open_unbounded(reader, dataset, field, kind, &cursor->stream, error));
    cursor->element_bytes = nt_stream_element_bytes(cursor->stream);
    return NT_OK;
}

void nt_stream_cursor_close(struct nt_stream_cursor *cursor)
{
    nt_stream_close(cursor->stream);
    free(cursor->bytes);
    *cursor = (struct nt_stream_cursor){0};
}

size_t nt_stream_cursor_memory(const struct nt_stream_cursor *cursor)
{
    return cursor->stream ? nt_stream_memory(cursor->stream) + cursor->capacity : 0;
}

/* Returns how many elements to read: twice as many each time the cursor continues after its window. */
static uint64_t next_count(struct nt_stream_cursor *cursor, uint64_t first, uint64_t count, uint64_t total)
{
    uint64_t most = cursor->max_bytes / (cursor->element_bytes ? cursor->element_bytes : 1);
    bool moves_on = cursor->count && first >= cursor->first && first <= cursor->first + cursor->count;
    cursor->requested = moves_on ? cursor->requested * 2 : FIRST_ELEMENTS;
    if (cursor->requested > most)
        cursor->requested = most;
    uint64_t requested = cursor->requested;
    if (first < cursor->end && requested > cursor->end - first)
        requested = cursor->end - first;
    if (requested > count) {
        uint64_t part_end = nt_stream_part_end(cursor->stream, first + count - 1);
        requested = requested < part_end - first ? requested : part_end - first;
    }
    if (requested < count)
        requested = count;
    return requested < total - first ? requested : total - first;
}

static enum nt_status reserve(struct nt_stream_cursor *cursor, size_t bytes, struct nt_error *error)
{
    if (bytes <= cursor->capacity)
        return NT_OK;
    uint8_t *more = realloc(cursor->bytes, bytes);
    NT_TRY(nt_check_memory(more, error));
    cursor->bytes = more;
    cursor->capacity = bytes;
    return NT_OK;
}

/* Moves elements from `first` on that are in the window to its start, and returns their bytes. */
static size_t keep(struct nt_stream_cursor *cursor, uint64_t first)
{
    if (first < cursor->first || first - cursor->first >= cursor->count)
        return 0;
    size_t gone = (size_t)(first - cursor->first) * cursor->element_bytes,
           kept = (size_t)cursor->count * cursor->element_bytes - gone;
    memmove(cursor->bytes, cursor->bytes + gone, kept);
    return kept;
}

/* Allocates memory as data arrives, because a damaged file may claim more bytes than it has. */
static enum nt_status load(struct nt_stream_cursor *cursor, uint64_t first, uint64_t count,
                           struct nt_error *error)
{
    uint64_t bytes;
    if (!nt_checked_multiply(count, cursor->element_bytes, &bytes) || bytes > limit_bytes)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "one value has more than 1 GiB");
    size_t kept = keep(cursor, first);
    cursor->count = 0;
    for (size_t done = kept, end; done < bytes; done = end) {
        end = done + (done > FIRST_BYTES ? done : FIRST_BYTES);
        end = end < bytes ? end : (size_t)bytes;
        NT_TRY(reserve(cursor, end, error));
        NT_TRY(nt_stream_read(cursor->stream, first * cursor->element_bytes + done, cursor->bytes + done,
                              end - done, error));
    }
    cursor->first = first;
    cursor->count = count;
    return NT_OK;
}

/* If the read ahead fails, reads only the requested elements: the following data may be damaged. */
enum nt_status nt_stream_cursor_get(struct nt_stream_cursor *cursor, uint64_t first, uint64_t count,
                                    const uint8_t **bytes_ret, struct nt_error *error)
{
    static const uint8_t nothing[16];
    uint64_t total = nt_stream_elements(cursor->stream);
    if (!nt_range_fits(first, count, total))
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "elements of a column", first + count, total);
    if (count == 0) {
        *bytes_ret = nothing;
        return NT_OK;
    }
    if (cursor->count == 0 || first < cursor->first || first + count > cursor->first + cursor->count) {
        uint64_t requested = next_count(cursor, first, count, total);
        enum nt_status status = load(cursor, first, requested, error);
        if (status != NT_OK && requested > count)
            status = load(cursor, first, count, error);
        NT_TRY(status);
    }
    *bytes_ret = cursor->bytes + (first - cursor->first) * cursor->element_bytes;
    return NT_OK;
}

enum nt_status nt_stream_cursor_get_u64(struct nt_stream_cursor *cursor, uint64_t at, uint64_t *value_ret,
                                        struct nt_error *error)
{
    const uint8_t *element = NULL;
    NT_TRY(nt_stream_cursor_get(cursor, at, 1, &element, error));
    memcpy(value_ret, element, sizeof(*value_ret));
    return NT_OK;
}
