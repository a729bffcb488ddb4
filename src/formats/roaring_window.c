/* SPDX-License-Identifier: MIT
 *
 * In: a source and how far to read. Out: bytes at the place that the walk has come to. What has been walked over
 * is dropped; the buffer is filled again when it holds too little.
 */
#include "formats/roaring_window.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/overflow.h"

enum nt_status nt_roaring_window_init(struct nt_roaring_window *window, struct nt_source *source,
                                      size_t read_ahead, struct nt_error *error)
{
    *window = (struct nt_roaring_window){.source = source, .read_ahead = read_ahead};
    window->buffer = malloc(NT_ROARING_WINDOW_BYTES);
    return window->buffer ? NT_OK : nt_fail_memory(error);
}

void nt_roaring_window_deinit(struct nt_roaring_window *window)
{
    free(window->buffer);
    *window = (struct nt_roaring_window){0};
}

static enum nt_status check_left(const struct nt_roaring_window *window, uint64_t count,
                                 struct nt_error *error)
{
    if (nt_fits(window->position, count, window->source->size))
        return NT_OK;
    return nt_fail(error, NT_TRUNCATED, window->position,
                   "the file ends early: %" PRIu64 " bytes expected, %" PRIu64 " left", count,
                   window->source->size - window->position);
}

/* Read from the current position on: at least `count` bytes, and ahead as far as is wanted and there is. */
static enum nt_status refill(struct nt_roaring_window *window, size_t count, struct nt_error *error)
{
    uint64_t left = window->source->size - window->position;
    size_t wanted = count > window->read_ahead ? count : window->read_ahead;
    if (wanted > NT_ROARING_WINDOW_BYTES)
        wanted = NT_ROARING_WINDOW_BYTES;
    if (wanted > left)
        wanted = (size_t)left;
    window->buffered = 0;
    enum nt_status status = nt_source_read(window->source, window->position, window->buffer, wanted, error);
    if (status == NT_OK) {
        window->buffer_offset = window->position;
        window->buffered = wanted;
    }
    return status;
}

enum nt_status nt_roaring_window_bytes(struct nt_roaring_window *window, size_t count,
                                       const uint8_t **bytes_ret, struct nt_error *error)
{
    if (count > NT_ROARING_WINDOW_BYTES)
        return nt_fail(error, NT_LIMIT, window->position, "%zu bytes at once", count);
    enum nt_status status = check_left(window, count, error);
    if (status != NT_OK)
        return status;
    uint64_t skipped = window->position - window->buffer_offset;
    if (!nt_fits(skipped, count, window->buffered)) {
        status = refill(window, count, error);
        if (status != NT_OK)
            return status;
        skipped = 0;
    }
    *bytes_ret = window->buffer + skipped;
    window->position += count;
    return NT_OK;
}

enum nt_status nt_roaring_window_skip(struct nt_roaring_window *window, uint64_t count,
                                      struct nt_error *error)
{
    enum nt_status status = check_left(window, count, error);
    if (status == NT_OK)
        window->position += count;
    return status;
}
