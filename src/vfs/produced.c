/* SPDX-License-Identifier: MIT
 *
 * Comes in: nodes of class PRODUCED. Goes out: their bytes.
 *
 * A document is in a hash table by its node and in a list, the most recently used first. Those that are over
 * the bound fall off the list's end; who still reads one holds it until then.
 */
#include "vfs/content.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "page/page.h"

struct document {
    struct nt_content content;
    struct nt_link link;
    struct nt_buffer text;
    unsigned users; /* the table is one */
    struct document *newer, *older;
    struct nt_produced *produced;
};

struct nt_produced {
    pthread_mutex_t lock;
    struct nt_reader *reader;
    size_t bytes;
    struct document *newest, *oldest;
    struct nt_hash_table table; /* by hash_of their nodes */
};

struct nt_produced *nt_produced_new(struct nt_reader *reader)
{
    struct nt_produced *produced = calloc(1, sizeof(*produced));
    if (!produced)
        return NULL;
    if (!nt_hash_table_init(&produced->table)) {
        free(produced);
        return NULL;
    }
    pthread_mutex_init(&produced->lock, NULL);
    produced->reader = reader;
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

/* Of no two nodes the same. */
static uint64_t hash_of(uint64_t node)
{
    return __builtin_bswap64(node * UINT64_C(0x9E3779B97F4A7C15));
}

static struct document *find(struct nt_produced *produced, uint64_t node)
{
    struct nt_link *link = nt_hash_table_find(&produced->table, hash_of(node));
    return link ? NT_LINKED(link, struct document, link) : NULL;
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

static void count(struct nt_produced *produced, int64_t bytes)
{
    produced->bytes += (size_t)bytes;
    nt_reader_occupy(produced->reader, bytes);
}

static void let_go(struct document *document)
{
    if (--document->users == 0)
        free_document(document);
}

static void drop(struct nt_produced *produced, struct document *document)
{
    nt_hash_table_remove(&produced->table, &document->link);
    unlink_from_list(produced, document);
    count(produced, -(int64_t)cost(document));
    let_go(document);
}

/* Keep a new document, and what else fits. One that is over the bound alone is not kept. */
static void keep(struct nt_produced *produced, uint64_t node, struct document *document)
{
    document->users++;
    nt_hash_table_insert(&produced->table, &document->link, hash_of(node));
    put_first(produced, document);
    count(produced, (int64_t)cost(document));
    while (produced->bytes > nt_reader_waiting_bytes(produced->reader))
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

/* The size of a document that need not be made for it. */
static bool is_told(const struct nt_scope *scope, uint64_t *size_ret)
{
    return scope->pseudo->size && scope->pseudo->size(scope, false, size_ret, NULL) == NT_OK;
}

/* A size that was told before holds. */
static enum nt_status check_size(const struct nt_scope *scope, size_t length, struct nt_error *error)
{
    uint64_t told;
    if (!is_told(scope, &told) || told == length)
        return NT_OK;
    return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of the document", told, length);
}

static enum nt_status make(struct nt_produced *produced, const struct nt_scope *scope,
                           struct document **document_ret, struct nt_error *error)
{
    struct document *document = calloc(1, sizeof(*document));
    if (!document)
        return nt_fail_memory(error);
    enum nt_status status = scope->pseudo->produce(scope, &document->text, error);
    if (status == NT_OK && document->text.failed)
        status = nt_fail_memory(error);
    if (status == NT_OK)
        status = check_size(scope, document->text.length, error);
    if (status != NT_OK) {
        free_document(document);
        return status;
    }
    document->content = (struct nt_content){&document_ops, document->text.length};
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
            keep(produced, scope->number, document);
        pthread_mutex_unlock(&produced->lock);
    }
    *content_ret = &document->content;
    return NT_OK;
}

bool nt_produced_size(struct nt_produced *produced, const struct nt_scope *scope, uint64_t *size_ret)
{
    if (is_told(scope, size_ret))
        return true;
    struct document *document = take(produced, scope->number);
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
    nt_hash_table_deinit(&produced->table);
    free(produced);
}
