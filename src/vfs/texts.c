/* SPDX-License-Identifier: MIT
 *
 * A list that begins with the text that was not read for longest. Locks: a text's own, which its reader has,
 * and then the list's; who puts a text aside has the list's and only tries the other.
 */
#include "vfs/texts.h"

#include <pthread.h>
#include <stdlib.h>

#include "read/page.h"

struct nt_texts {
    pthread_mutex_t lock;
    struct nt_reader *reader;
    struct nt_waiting_text *oldest, *newest;
    size_t bytes; /* of those in the list */
};

struct nt_texts *nt_texts_new(struct nt_reader *reader)
{
    struct nt_texts *texts = calloc(1, sizeof(*texts));
    if (!texts)
        return NULL;
    texts->reader = reader;
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
    *(text->older ? &text->older->newer : &texts->oldest) = text->newer;
    *(text->newer ? &text->newer->older : &texts->newest) = text->older;
    text->is_listed = false;
    texts->bytes -= text->bytes;
}

static void list(struct nt_texts *texts, struct nt_waiting_text *text)
{
    text->newer = NULL;
    text->older = texts->newest;
    *(texts->newest ? &texts->newest->newer : &texts->oldest) = text;
    texts->newest = text;
    text->is_listed = true;
    texts->bytes += text->bytes;
}

static void set_bytes(struct nt_texts *texts, struct nt_waiting_text *text, size_t bytes)
{
    nt_reader_occupy(texts->reader, (int64_t)bytes - (int64_t)text->bytes);
    text->bytes = bytes;
}

/* The newest stays, however much it takes: it would have to be opened anew for each of its reads. */
static void put_oldest_aside(struct nt_texts *texts)
{
    while (texts->bytes > nt_reader_waiting_bytes(texts->reader) && texts->oldest != texts->newest) {
        struct nt_waiting_text *text = texts->oldest;
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
    if (bytes)
        list(texts, text);
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
