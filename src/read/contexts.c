/* SPDX-License-Identifier: MIT
 *
 * A small pool of codec contexts. A context keeps its scratch memory, so the last one returned is the first
 * one lent: its memory is the warmest. Idle ones that are more than KEPT, or have no room beside those that
 * are lent, are freed.
 */
#include "read/contexts.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base/turns.h"

enum { KEPT = 16 };

struct nt_contexts {
    pthread_mutex_t lock;
    struct nt_turns turns;
    uint64_t limit;
    uint64_t lent, kept; /* bytes that were borrowed, and those of idle contexts */
    struct nt_codec_context *idle[KEPT];
    unsigned count;
};

struct nt_contexts *nt_contexts_new(uint64_t limit)
{
    struct nt_contexts *contexts = calloc(1, sizeof(*contexts));
    if (!contexts)
        return NULL;
    contexts->limit = limit;
    if (!pthread_mutex_init(&contexts->lock, NULL)) {
        if (!nt_turns_init(&contexts->turns))
            return contexts;
        pthread_mutex_destroy(&contexts->lock);
    }
    free(contexts);
    return NULL;
}

void nt_contexts_free(struct nt_contexts *contexts)
{
    if (!contexts)
        return;
    for (unsigned i = 0; i < contexts->count; i++)
        nt_codec_context_free(contexts->idle[i]);
    nt_turns_deinit(&contexts->turns);
    pthread_mutex_destroy(&contexts->lock);
    free(contexts);
}

static bool has_room(const void *context, uint64_t bytes)
{
    const struct nt_contexts *contexts = context;
    return contexts->lent == 0 || contexts->lent + bytes <= contexts->limit;
}

static struct nt_codec_context *take_idle(struct nt_contexts *contexts, unsigned number)
{
    struct nt_codec_context *context = contexts->idle[number];
    for (contexts->count--; number < contexts->count; number++)
        contexts->idle[number] = contexts->idle[number + 1];
    contexts->kept -= nt_codec_context_bytes(context);
    return context;
}

/* Under the lock: take those that there is no room for, the coldest first. */
static unsigned take_surplus(struct nt_contexts *contexts, struct nt_codec_context **surplus)
{
    unsigned count = 0;
    while (contexts->count && (contexts->lent + contexts->kept > contexts->limit))
        surplus[count++] = take_idle(contexts, 0);
    return count;
}

static void free_surplus(struct nt_codec_context *const *surplus, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        nt_codec_context_free(surplus[i]);
}

enum nt_status nt_contexts_borrow(struct nt_contexts *contexts, uint64_t bytes, struct nt_loan *loan_ret,
                                  struct nt_error *error)
{
    struct nt_codec_context *context = NULL, *surplus[KEPT];
    pthread_mutex_lock(&contexts->lock);
    nt_turns_wait(&contexts->turns, &contexts->lock, has_room, contexts, bytes);
    if (contexts->count)
        context = take_idle(contexts, contexts->count - 1);
    if (context && nt_codec_context_bytes(context) > bytes)
        bytes = nt_codec_context_bytes(context);
    contexts->lent += bytes;
    unsigned count = take_surplus(contexts, surplus);
    pthread_mutex_unlock(&contexts->lock);
    free_surplus(surplus, count);
    if (!context)
        context = nt_codec_context_new();
    *loan_ret = (struct nt_loan){context, bytes};
    if (context)
        return NT_OK;
    nt_contexts_return(contexts, loan_ret);
    return nt_fail_memory(error);
}

void nt_contexts_return(struct nt_contexts *contexts, const struct nt_loan *loan)
{
    struct nt_codec_context *surplus[KEPT + 1];
    unsigned count = 0;
    pthread_mutex_lock(&contexts->lock);
    contexts->lent -= loan->bytes;
    if (contexts->count == KEPT)
        surplus[count++] = take_idle(contexts, 0);
    if (loan->context) {
        contexts->idle[contexts->count++] = loan->context;
        contexts->kept += nt_codec_context_bytes(loan->context);
    }
    count += take_surplus(contexts, surplus + count);
    nt_turns_freed(&contexts->turns);
    pthread_mutex_unlock(&contexts->lock);
    free_surplus(surplus, count);
}
