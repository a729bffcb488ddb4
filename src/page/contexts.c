/* SPDX-License-Identifier: MIT
 *
 * A small pool of codec contexts. A context keeps its scratch memory, so the last one returned is the first
 * one lent: its memory is the warmest. More than KEPT idle ones are freed.
 */
#include "page/contexts.h"

#include <pthread.h>
#include <stdlib.h>

enum { KEPT = 16 };

struct nt_contexts {
    pthread_mutex_t lock;
    struct nt_codec_context *idle[KEPT];
    unsigned count;
};

struct nt_contexts *nt_contexts_new(void)
{
    struct nt_contexts *contexts = calloc(1, sizeof(*contexts));
    if (contexts && pthread_mutex_init(&contexts->lock, NULL)) {
        free(contexts);
        contexts = NULL;
    }
    return contexts;
}

void nt_contexts_free(struct nt_contexts *contexts)
{
    if (!contexts)
        return;
    for (unsigned i = 0; i < contexts->count; i++)
        nt_codec_context_free(contexts->idle[i]);
    pthread_mutex_destroy(&contexts->lock);
    free(contexts);
}

struct nt_codec_context *nt_contexts_borrow(struct nt_contexts *contexts)
{
    struct nt_codec_context *context = NULL;
    pthread_mutex_lock(&contexts->lock);
    if (contexts->count)
        context = contexts->idle[--contexts->count];
    pthread_mutex_unlock(&contexts->lock);
    return context ? context : nt_codec_context_new();
}

void nt_contexts_return(struct nt_contexts *contexts, struct nt_codec_context *context)
{
    pthread_mutex_lock(&contexts->lock);
    if (contexts->count < KEPT) {
        contexts->idle[contexts->count++] = context;
        context = NULL;
    }
    pthread_mutex_unlock(&contexts->lock);
    if (context)
        nt_codec_context_free(context);
}
