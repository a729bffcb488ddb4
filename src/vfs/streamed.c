/* SPDX-License-Identifier: MIT
 *
 * Generated files that are streamed because their size is unknown. Only the latest chunk is kept; reading
 * backwards restarts, and the least recently read streams are suspended when memory is short.
 */
#include "vfs/vfs.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/base/error.h"
#include "core/base/hash_table.h"
#include "core/base/memory.h"
#include "core/model/model.h"
#include "read/page.h"
#include "read/read.h"

/* ---- Suspend idle streams ---- */

struct nt_texts {
    pthread_mutex_t lock;
    struct nt_reader *reader;
    TAILQ_HEAD(, nt_waiting_text) list; /* the one that was read last comes last */
    size_t bytes;                       /* of those in the list */
};

struct nt_texts *nt_texts_new(struct nt_reader *reader)
{
    struct nt_texts *texts = calloc(1, sizeof(*texts));
    if (!texts)
        return NULL;
    texts->reader = reader;
    TAILQ_INIT(&texts->list);
    pthread_mutex_init(&texts->lock, NULL);
    return texts;
}

void nt_texts_free(struct nt_texts *texts)
{
    if (!texts)
        return;
    pthread_mutex_destroy(&texts->lock);
    free(texts);
}

/* ---- under the lock ---- */

static void unlist(struct nt_texts *texts, struct nt_waiting_text *text)
{
    if (!text->is_listed)
        return;
    TAILQ_REMOVE(&texts->list, text, by_use);
    text->is_listed = false;
    texts->bytes -= text->bytes;
}

static void set_bytes(struct nt_texts *texts, struct nt_waiting_text *text, size_t bytes)
{
    nt_reader_occupy(texts->reader, (int64_t)bytes - (int64_t)text->bytes);
    text->bytes = bytes;
}

/* The newest stays, however much it takes: it would have to be opened anew for each of its reads. */
static void put_oldest_aside(struct nt_texts *texts)
{
    struct nt_waiting_text *text;
    while (texts->bytes > nt_reader_waiting_bytes(texts->reader) && (text = TAILQ_FIRST(&texts->list)) &&
           TAILQ_NEXT(text, by_use)) {
        unlist(texts, text);
        if (text->put_aside(text))
            set_bytes(texts, text, 0);
    }
}

/* ---- */

void nt_texts_use(struct nt_texts *texts, struct nt_waiting_text *text)
{
    pthread_mutex_lock(&texts->lock);
    unlist(texts, text);
    pthread_mutex_unlock(&texts->lock);
}

void nt_texts_wait(struct nt_texts *texts, struct nt_waiting_text *text, size_t bytes)
{
    pthread_mutex_lock(&texts->lock);
    unlist(texts, text);
    set_bytes(texts, text, bytes);
    if (bytes) {
        TAILQ_INSERT_TAIL(&texts->list, text, by_use);
        text->is_listed = true;
        texts->bytes += bytes;
    }
    put_oldest_aside(texts);
    pthread_mutex_unlock(&texts->lock);
}

void nt_texts_leave(struct nt_texts *texts, struct nt_waiting_text *text)
{
    pthread_mutex_lock(&texts->lock);
    unlist(texts, text);
    set_bytes(texts, text, 0);
    pthread_mutex_unlock(&texts->lock);
}

/* ---- Stream a file ---- */

struct unsized {
    struct nt_content content;
    struct nt_waiting_text waiting;
    const struct nt_scope *scope;
    pthread_mutex_t lock;
    struct nt_long_text *text; /* NULL: not opened, or put aside */
    struct nt_buffer window;   /* bytes [window_offset, window_offset + length) of the text */
    uint64_t window_offset;
    uint64_t piece_offset, piece_place; /* where the last piece begins: for readers, and for the text */
    bool is_at_end;
    bool is_broken; /* a piece failed: where the text stands is not known */
};

static uint64_t window_end(const struct unsized *unsized)
{
    return unsized->window_offset + unsized->window.length;
}

static void begin_at(struct unsized *unsized, uint64_t offset, uint64_t place)
{
    if (unsized->text)
        unsized->text->free(unsized->text);
    unsized->text = NULL;
    nt_buffer_clear(&unsized->window);
    unsized->window_offset = unsized->piece_offset = offset;
    unsized->piece_place = place;
    unsized->is_at_end = false;
    unsized->is_broken = false;
}

static enum nt_status open_text(struct unsized *unsized, struct nt_error *error)
{
    enum nt_status status = unsized->scope->pseudo->open_text(unsized->scope, &unsized->text, error);
    if (status == NT_OK && unsized->piece_place)
        unsized->text->go_on(unsized->text, unsized->piece_place);
    return status;
}

/* One more piece at the end of the window, which stays as it is where that fails. */
static enum nt_status make_more(struct unsized *unsized, struct nt_error *error)
{
    bool more = false;
    size_t length = unsized->window.length;
    enum nt_status status = NT_OK;
    nt_vfs_before_slow_work(unsized->scope->vfs);
    if (!unsized->text)
        status = open_text(unsized, error);
    if (status == NT_OK) {
        unsized->piece_offset = window_end(unsized);
        unsized->piece_place = unsized->text->place ? unsized->text->place(unsized->text) : 0;
        status = unsized->text->next(unsized->text, &unsized->window, &more, error);
    }
    if (status == NT_OK && unsized->window.failed)
        status = nt_fail_memory(error);
    if (status == NT_OK) {
        unsized->is_at_end = !more;
    } else {
        unsized->window.length = length;
        unsized->window.failed = false;
        unsized->is_broken = true;
    }
    return status;
}

/* Forget what lies before `offset`, which is not before the window. Moves bytes only where most are
 * forgotten. */
static void forget_before(struct unsized *unsized, uint64_t offset)
{
    uint64_t passed = offset - unsized->window_offset;
    size_t length = unsized->window.length;
    if (passed >= length) {
        nt_buffer_clear(&unsized->window);
        unsized->window_offset += length;
    } else if (passed >= length / 2) {
        memmove(unsized->window.bytes, unsized->window.bytes + passed, length - (size_t)passed);
        unsized->window.length = length - (size_t)passed;
        unsized->window_offset = offset;
    }
}

/* What was made before a piece that fails is given first, as a short read; the next one gets the error. */
static enum nt_status read_locked(struct unsized *unsized, uint64_t offset, void *buffer, size_t bytes,
                                  size_t *bytes_ret, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (offset < unsized->window_offset || (unsized->is_broken && window_end(unsized) < offset + bytes))
        begin_at(unsized, 0, 0);
    while (status == NT_OK && !unsized->is_at_end && window_end(unsized) < offset + bytes) {
        forget_before(unsized, offset);
        status = make_more(unsized, error);
    }
    uint64_t end = window_end(unsized);
    *bytes_ret = 0;
    if (offset >= end)
        return status;
    *bytes_ret = end - offset < bytes ? (size_t)(end - offset) : bytes;
    memcpy(buffer, unsized->window.bytes + (offset - unsized->window_offset), *bytes_ret);
    return NT_OK;
}

/* Memory that putting the text aside gives back. */
static size_t memory_to_gain(const struct unsized *unsized)
{
    bool can_go_on = unsized->text && unsized->text->memory && !unsized->is_broken;
    return can_go_on ? unsized->text->memory(unsized->text) + unsized->window.capacity : 0;
}

static bool put_aside(struct nt_waiting_text *text)
{
    struct unsized *unsized = NT_LINKED(text, struct unsized, waiting);
    if (pthread_mutex_trylock(&unsized->lock) != 0)
        return false;
    bool gains = memory_to_gain(unsized) > 0;
    if (gains) {
        begin_at(unsized, unsized->piece_offset, unsized->piece_place);
        nt_buffer_deinit(&unsized->window);
    }
    pthread_mutex_unlock(&unsized->lock);
    return gains;
}

static enum nt_status read_unsized(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                   size_t *bytes_ret, struct nt_error *error)
{
    struct unsized *unsized = (struct unsized *)content;
    if (offset > UINT64_MAX - bytes)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "read at an impossible place");
    struct nt_texts *texts = unsized->scope->vfs->texts;
    pthread_mutex_lock(&unsized->lock);
    nt_texts_use(texts, &unsized->waiting);
    enum nt_status status = read_locked(unsized, offset, buffer, bytes, bytes_ret, error);
    size_t memory = memory_to_gain(unsized);
    pthread_mutex_unlock(&unsized->lock);
    nt_texts_wait(texts, &unsized->waiting, memory);
    return status;
}

static uint64_t probable_bytes(struct nt_content *content)
{
    struct unsized *unsized = (struct unsized *)content;
    pthread_mutex_lock(&unsized->lock);
    const struct nt_long_text *text = unsized->text;
    double share = text && text->share ? text->share(text) : 0;
    uint64_t bytes = share > 0 ? (uint64_t)((double)window_end(unsized) / share) : 0;
    pthread_mutex_unlock(&unsized->lock);
    return bytes;
}

static void close_unsized(struct nt_content *content)
{
    struct unsized *unsized = (struct unsized *)content;
    nt_texts_leave(unsized->scope->vfs->texts, &unsized->waiting);
    begin_at(unsized, 0, 0);
    nt_buffer_deinit(&unsized->window);
    pthread_mutex_destroy(&unsized->lock);
    free(unsized);
}

static const struct nt_content_ops unsized_ops = {
    .read = read_unsized, .close = close_unsized, .probable_bytes = probable_bytes};

enum nt_status nt_content_new_unsized(const struct nt_scope *scope, struct nt_content **content_ret,
                                      struct nt_error *error)
{
    struct unsized *unsized = calloc(1, sizeof(*unsized));
    if (!unsized)
        return nt_fail_memory(error);
    unsized->content = (struct nt_content){.ops = &unsized_ops, .size = UINT64_MAX};
    unsized->scope = scope;
    unsized->waiting.put_aside = put_aside;
    pthread_mutex_init(&unsized->lock, NULL);
    *content_ret = &unsized->content;
    return NT_OK;
}
