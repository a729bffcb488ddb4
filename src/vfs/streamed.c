/* SPDX-License-Identifier: MIT
 *
 * Comes in: a text that is made piece by piece. Goes out: any part of it. The pieces that were read are
 * forgotten but for the last, so memory stays bounded; a reader that goes back starts again.
 */
#include <stdlib.h>
#include <string.h>

#include "vfs/content.h"

struct streamed {
    struct nt_content content;
    const struct nt_scope *scope;
    pthread_mutex_t lock;
    struct nt_text_stream *stream; /* NULL: at the start, nothing was made */
    struct nt_buffer window;       /* bytes [window_offset, window_offset + length) of the text */
    uint64_t window_offset;
    bool is_at_end;
    bool is_broken; /* a piece failed: where the stream stands is not known */
};

static uint64_t window_end(const struct streamed *streamed)
{
    return streamed->window_offset + streamed->window.length;
}

static void restart(struct streamed *streamed)
{
    if (streamed->stream)
        streamed->stream->free(streamed->stream);
    streamed->stream = NULL;
    nt_buffer_clear(&streamed->window);
    streamed->window_offset = 0;
    streamed->is_at_end = false;
    streamed->is_broken = false;
}

/* One more piece at the end of the window, which stays as it is where that fails. */
static enum nt_status make_more(struct streamed *streamed, struct nt_error *error)
{
    bool more = false;
    size_t length = streamed->window.length;
    enum nt_status status = NT_OK;
    if (!streamed->stream)
        status = streamed->scope->pseudo->stream(streamed->scope, &streamed->stream, error);
    if (status == NT_OK)
        status = streamed->stream->next(streamed->stream, &streamed->window, &more, error);
    if (status == NT_OK && streamed->window.failed)
        status = nt_fail_memory(error);
    if (status == NT_OK) {
        streamed->is_at_end = !more;
    } else {
        streamed->window.length = length;
        streamed->window.failed = false;
        streamed->is_broken = true;
    }
    return status;
}

/* Forget what lies before `offset`, which is not before the window. Moves bytes only where most are
 * forgotten. */
static void forget_before(struct streamed *streamed, uint64_t offset)
{
    uint64_t passed = offset - streamed->window_offset;
    size_t length = streamed->window.length;
    if (passed >= length) {
        nt_buffer_clear(&streamed->window);
        streamed->window_offset += length;
    } else if (passed >= length / 2) {
        memmove(streamed->window.bytes, streamed->window.bytes + passed, length - (size_t)passed);
        streamed->window.length = length - (size_t)passed;
        streamed->window_offset = offset;
    }
}

/* What was made before a piece that fails is given first, as a short read; the next one gets the error. */
static enum nt_status read_locked(struct streamed *streamed, uint64_t offset, void *buffer, size_t bytes,
                                  size_t *bytes_ret, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (offset < streamed->window_offset || (streamed->is_broken && window_end(streamed) < offset + bytes))
        restart(streamed);
    while (status == NT_OK && !streamed->is_at_end && window_end(streamed) < offset + bytes) {
        forget_before(streamed, offset);
        status = make_more(streamed, error);
    }
    uint64_t end = window_end(streamed);
    *bytes_ret = 0;
    if (offset >= end)
        return status;
    *bytes_ret = end - offset < bytes ? (size_t)(end - offset) : bytes;
    memcpy(buffer, streamed->window.bytes + (offset - streamed->window_offset), *bytes_ret);
    return NT_OK;
}

static enum nt_status read_streamed(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                    size_t *bytes_ret, struct nt_error *error)
{
    struct streamed *streamed = (struct streamed *)content;
    if (offset > UINT64_MAX - bytes)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "read at an impossible place");
    pthread_mutex_lock(&streamed->lock);
    enum nt_status status = read_locked(streamed, offset, buffer, bytes, bytes_ret, error);
    pthread_mutex_unlock(&streamed->lock);
    return status;
}

static void close_streamed(struct nt_content *content)
{
    struct streamed *streamed = (struct streamed *)content;
    restart(streamed);
    nt_buffer_deinit(&streamed->window);
    pthread_mutex_destroy(&streamed->lock);
    free(streamed);
}

static const struct nt_content_ops streamed_ops = {read_streamed, close_streamed};

enum nt_status nt_content_new_streamed(const struct nt_scope *scope, struct nt_content **content_ret,
                                       struct nt_error *error)
{
    struct streamed *streamed = calloc(1, sizeof(*streamed));
    if (!streamed)
        return nt_fail_memory(error);
    streamed->content = (struct nt_content){&streamed_ops, UINT64_MAX};
    streamed->scope = scope;
    pthread_mutex_init(&streamed->lock, NULL);
    *content_ret = &streamed->content;
    return NT_OK;
}
