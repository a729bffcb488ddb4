/* SPDX-License-Identifier: MIT
 *
 * Comes in: nodes of class PRODUCED. Goes out: their bytes.
 *
 * A document is in a hash table by its node and in a list, the most recently used first. Those that are over
 * the bound fall off the list's end; who still reads one holds it until then.
 */
#include "vfs/produced.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096 };

struct document {
    struct nt_content content;
    uint64_t node;
    struct nt_buffer text;
    unsigned users; /* the table is one */
    struct document *next_in_bucket;
    struct document *newer, *older;
    struct nt_produced *produced;
};

struct nt_produced {
    pthread_mutex_t lock;
    size_t bytes, maximum_bytes;
    struct document *newest, *oldest;
    struct document *buckets[BUCKETS];
};

struct nt_produced *nt_produced_new(size_t maximum_bytes)
{
    struct nt_produced *produced = calloc(1, sizeof(*produced));
    if (!produced)
        return NULL;
    pthread_mutex_init(&produced->lock, NULL);
    produced->maximum_bytes = maximum_bytes;
    return produced;
}

static void free_document(struct document *document)
{
    nt_buffer_deinit(&document->text);
    free(document);
}

static size_t cost(const struct document *document)
{
    return document->text.capacity + sizeof(*document);
}

/* ---- under the lock ---- */

static struct document **bucket(struct nt_produced *produced, uint64_t node)
{
    return &produced->buckets[node * UINT64_C(0x9E3779B97F4A7C15) >> 52];
}

static struct document *find(struct nt_produced *produced, uint64_t node)
{
    struct document *document = *bucket(produced, node);
    while (document && document->node != node)
        document = document->next_in_bucket;
    return document;
}

static void unlink_from_list(struct nt_produced *produced, struct document *document)
{
    *(document->newer ? &document->newer->older : &produced->newest) = document->older;
    *(document->older ? &document->older->newer : &produced->oldest) = document->newer;
    document->newer = document->older = NULL;
}

static void put_first(struct nt_produced *produced, struct document *document)
{
    document->older = produced->newest;
    *(produced->newest ? &produced->newest->newer : &produced->oldest) = document;
    produced->newest = document;
}

static void let_go(struct document *document)
{
    if (--document->users == 0)
        free_document(document);
}

static void drop(struct nt_produced *produced, struct document *document)
{
    struct document **at = bucket(produced, document->node);
    while (*at != document)
        at = &(*at)->next_in_bucket;
    *at = document->next_in_bucket;
    unlink_from_list(produced, document);
    produced->bytes -= cost(document);
    let_go(document);
}

/* Keep a new document, and what else fits. One that is over the bound alone is not kept. */
static void keep(struct nt_produced *produced, struct document *document)
{
    document->users++;
    document->next_in_bucket = *bucket(produced, document->node);
    *bucket(produced, document->node) = document;
    put_first(produced, document);
    produced->bytes += cost(document);
    while (produced->bytes > produced->maximum_bytes)
        drop(produced, produced->oldest);
}

/* ---- */

static enum nt_status read_document(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                    size_t *bytes_ret, struct nt_error *error)
{
    (void)error;
    memcpy(buffer, ((struct document *)content)->text.bytes + offset, bytes);
    *bytes_ret = bytes;
    return NT_OK;
}

static void close_document(struct nt_content *content)
{
    struct document *document = (struct document *)content;
    struct nt_produced *produced = document->produced;
    pthread_mutex_lock(&produced->lock);
    let_go(document);
    pthread_mutex_unlock(&produced->lock);
}

static const struct nt_content_ops document_ops = {read_document, close_document};

static enum nt_status make(struct nt_produced *produced, const struct nt_scope *scope,
                           struct document **document_ret, struct nt_error *error)
{
    struct document *document = calloc(1, sizeof(*document));
    if (!document)
        return nt_fail_memory(error);
    enum nt_status status = scope->pseudo->produce(scope, &document->text, error);
    if (status == NT_OK && document->text.failed)
        status = nt_fail_memory(error);
    if (status != NT_OK) {
        free_document(document);
        return status;
    }
    document->content = (struct nt_content){&document_ops, document->text.length};
    document->node = scope->number;
    document->produced = produced;
    document->users = 1;
    *document_ret = document;
    return NT_OK;
}

static struct document *take(struct nt_produced *produced, uint64_t node)
{
    pthread_mutex_lock(&produced->lock);
    struct document *document = find(produced, node);
    if (document) {
        document->users++;
        unlink_from_list(produced, document);
        put_first(produced, document);
    }
    pthread_mutex_unlock(&produced->lock);
    return document;
}

enum nt_status nt_produced_open(struct nt_produced *produced, const struct nt_scope *scope,
                                struct nt_content **content_ret, struct nt_error *error)
{
    struct document *document = take(produced, scope->number);
    if (!document) {
        enum nt_status status = make(produced, scope, &document, error);
        if (status != NT_OK)
            return status;
        pthread_mutex_lock(&produced->lock);
        if (!find(produced, scope->number)) /* else another thread made the same */
            keep(produced, document);
        pthread_mutex_unlock(&produced->lock);
    }
    *content_ret = &document->content;
    return NT_OK;
}

bool nt_produced_size(struct nt_produced *produced, uint64_t node, uint64_t *size_ret)
{
    struct document *document = take(produced, node);
    if (!document)
        return false;
    *size_ret = document->content.size;
    close_document(&document->content);
    return true;
}

void nt_produced_free(struct nt_produced *produced)
{
    if (!produced)
        return;
    while (produced->oldest)
        drop(produced, produced->oldest);
    pthread_mutex_destroy(&produced->lock);
    free(produced);
}
