/* SPDX-License-Identifier: MIT
 *
 * A cache of generated files, kept least recently used first within a memory and a disk limit. A file is
 * materialized once, in memory or in an unnamed temporary file, while other threads that want it wait.
 */
#include "vfs/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/hash_table.h"
#include "core/base/memory.h"
#include "core/model/model.h"
#include "read/page.h"
#include "vfs/inode.h"

/* ---- Spool to memory or disk ---- */

/* Where the file system has no files without a name, one that loses it at once. */
static int open_named(const char *directory)
{
    char *path = NULL;
    if (asprintf(&path, "%s/ntuplefs-text-XXXXXX", directory) < 0) {
        errno = ENOMEM;
        return -1;
    }
    int descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(path);
    free(path);
    return descriptor;
}

static int open_nameless(const char *directory)
{
    int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    bool is_unknown = descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT);
    return is_unknown ? open_named(directory) : descriptor;
}

/* Whatever the disk says, it is not that the text is not there. */
static enum nt_status fail_disk(struct nt_error *error, const char *directory)
{
    nt_fail_system(error, errno, "a text cannot be kept in %s", directory);
    if (error)
        error->status = NT_IO;
    return NT_IO;
}

static enum nt_status write_out(struct nt_spool *spool, const char *bytes, size_t count,
                                const char *directory, struct nt_error *error)
{
    while (count) {
        ssize_t written = pwrite(spool->descriptor, bytes, count, (off_t)spool->bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fail_disk(error, directory);
        bytes += written;
        count -= (size_t)written;
        spool->bytes += (uint64_t)written;
    }
    return NT_OK;
}

static enum nt_status move_to_file(struct nt_spool *spool, const char *directory, struct nt_error *error)
{
    spool->descriptor = open_nameless(directory);
    if (spool->descriptor < 0)
        return fail_disk(error, directory);
    spool->bytes = 0;
    enum nt_status status = write_out(spool, spool->memory.bytes, spool->memory.length, directory, error);
    nt_buffer_deinit(&spool->memory);
    return status;
}

enum nt_status nt_spool_append(struct nt_spool *spool, const void *bytes, size_t count, uint64_t memory_bytes,
                               const char *directory, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (spool->descriptor < 0 && spool->bytes + count > memory_bytes)
        status = move_to_file(spool, directory, error);
    if (status != NT_OK)
        return status;
    if (spool->descriptor >= 0)
        return write_out(spool, bytes, count, directory, error);
    nt_buffer_append(&spool->memory, bytes, count);
    spool->bytes = spool->memory.length;
    return spool->memory.failed ? nt_fail_memory(error) : NT_OK;
}

enum nt_status nt_spool_read(const struct nt_spool *spool, uint64_t offset, void *buffer, size_t count,
                             struct nt_error *error)
{
    if (spool->descriptor < 0) {
        if (count)
            memcpy(buffer, spool->memory.bytes + offset, count);
        return NT_OK;
    }
    for (char *at = buffer; count;) {
        ssize_t got = pread(spool->descriptor, at, count, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return nt_fail_system(error, got < 0 ? errno : EIO, "a text that was kept cannot be read");
        at += got;
        count -= (size_t)got;
        offset += (uint64_t)got;
    }
    return NT_OK;
}

void nt_spool_deinit(struct nt_spool *spool)
{
    nt_buffer_deinit(&spool->memory);
    if (spool->descriptor >= 0)
        close(spool->descriptor);
    *spool = NT_SPOOL_EMPTY;
}

/* ---- Materialize a file ---- */

struct whole {
    struct nt_spool spool;
    /* Why the text ends before its end, where something in the file is damaged; else NULL. From malloc. */
    struct nt_error *failure;
    bool is_long; /* nothing was kept */
};

enum {
    TEXT_BYTES =
        4 << 20, /* of a text that is made though nobody asked for all; others lie on disk from here */
    WAIT_NANOSECONDS = 100000000, /* until a waiter looks whether its caller is still there */
};

/* A longer text is long, or, where all are to be made, fails. */
static enum nt_status append(struct whole *whole, const struct nt_buffer *piece,
                             const struct nt_produced_options *options, struct nt_error *error)
{
    uint64_t most = options->makes_all ? options->disk_bytes : TEXT_BYTES;
    whole->is_long = piece->length > most - whole->spool.bytes;
    if (whole->is_long && options->makes_all)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "a text of more than %llu bytes, for which there is no room: -o textsize=SIZE makes "
                       "some, -o text=short needs none",
                       (unsigned long long)most);
    if (whole->is_long)
        return NT_OK;
    return nt_spool_append(&whole->spool, piece->bytes, piece->length, TEXT_BYTES, options->directory, error);
}

/* `is_made_ret`: whether the failure, if it is one, is of the text and not of what becomes of it. */
static enum nt_status make_pieces(const struct nt_scope *scope, struct nt_long_text *text,
                                  const struct nt_produced_options *options, struct whole *whole,
                                  bool *is_made_ret, struct nt_error *error)
{
    struct nt_buffer piece = {0};
    enum nt_status status = NT_OK;
    bool more = true;
    while (more && status == NT_OK && !whole->is_long) {
        nt_buffer_clear(&piece);
        *is_made_ret = false;
        status = text->next(text, &piece, &more, error);
        if (status == NT_OK && piece.failed)
            status = nt_fail_memory(error);
        *is_made_ret = status == NT_OK;
        if (status == NT_OK)
            status = append(whole, &piece, options, error);
        if (status == NT_OK && more)
            status = nt_scope_check_caller(scope, error);
    }
    nt_buffer_deinit(&piece);
    return status;
}

static enum nt_status make_long(const struct nt_scope *scope, const struct nt_produced_options *options,
                                struct whole *whole, struct nt_error *error)
{
    struct nt_long_text *text = NULL;
    struct nt_error failure = {0};
    bool is_made = false;
    enum nt_status status = scope->pseudo->open_text(scope, &text, &failure);
    if (status == NT_OK)
        status = make_pieces(scope, text, options, whole, &is_made, &failure);
    if (text)
        text->free(text);
    if (status == NT_OK)
        return NT_OK;
    failure.status = status;
    if (is_made || nt_is_machine_failure(status))
        return nt_fail_with(error, &failure);
    whole->failure = malloc(sizeof(failure)); /* what is damaged ends the text; the rest of it stands */
    if (!whole->failure)
        return nt_fail_memory(error);
    *whole->failure = failure;
    return NT_OK;
}

static enum nt_status make_produced(const struct nt_scope *scope, struct whole *whole, struct nt_error *error)
{
    struct nt_buffer *text = &whole->spool.memory;
    enum nt_status status = scope->pseudo->produce(scope, text, error);
    if (status == NT_OK && text->failed)
        status = nt_fail_memory(error);
    whole->spool.bytes = text->length;
    return status;
}

/* Make the text of the scope's row, which is PRODUCED or UNSIZED. What the machine refuses fails the call. */
static enum nt_status make_whole(const struct nt_scope *scope, const struct nt_produced_options *options,
                                 struct whole *whole, struct nt_error *error)
{
    *whole = (struct whole){.spool = NT_SPOOL_EMPTY};
    enum nt_status status =
        scope->pseudo->produce ? make_produced(scope, whole, error) : make_long(scope, options, whole, error);
    if (status != NT_OK || whole->is_long)
        nt_spool_deinit(&whole->spool);
    else
        nt_buffer_fit(&whole->spool.memory);
    return status;
}

/* What an open file of that size gives: of a damaged text there is one byte more than could be made, and who
 * reads it gets the failure. */
static uint64_t size_of(const struct whole *whole)
{
    return whole->spool.bytes + (whole->failure != NULL);
}

/* ---- The cache ---- */

struct document {
    struct nt_content content;
    struct nt_link link;
    uint32_t place; /* where others may find it */
    struct whole whole;
    bool is_made;
    unsigned users;               /* the table is one */
    TAILQ_ENTRY(document) by_use; /* once it is made, while it is in the table */
    struct nt_produced *produced;
};

struct nt_produced {
    struct nt_produced_options options;
    pthread_mutex_t lock;
    pthread_cond_t was_made; /* a document, or its making failed */
    uint64_t memory_bytes, disk_bytes, made, dropped;
    TAILQ_HEAD(documents, document) documents; /* the one that was used last comes first */
    struct nt_hash_table table;                /* by hash_of their nodes */
};

struct nt_produced *nt_produced_new(const struct nt_produced_options *options)
{
    struct nt_produced *produced = calloc(1, sizeof(*produced));
    if (!produced)
        return NULL;
    if (!nt_hash_table_init(&produced->table)) {
        free(produced);
        return NULL;
    }
    pthread_mutex_init(&produced->lock, NULL);
    pthread_cond_init(&produced->was_made, NULL);
    TAILQ_INIT(&produced->documents);
    produced->options = *options;
    return produced;
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

static void let_go(struct document *document)
{
    if (--document->users)
        return;
    nt_spool_deinit(&document->whole.spool);
    free(document->whole.failure);
    free(document);
}

static size_t memory_of(const struct document *document)
{
    return document->whole.spool.memory.capacity + sizeof(*document);
}

static uint64_t disk_of(const struct document *document)
{
    return document->whole.spool.descriptor < 0 ? 0 : document->whole.spool.bytes;
}

static void count(struct nt_produced *produced, int64_t memory_bytes)
{
    produced->memory_bytes += (uint64_t)memory_bytes;
    nt_reader_occupy(produced->options.reader, memory_bytes);
}

static void drop(struct nt_produced *produced, struct document *document)
{
    nt_hash_table_remove(&produced->table, &document->link);
    TAILQ_REMOVE(&produced->documents, document, by_use);
    count(produced, -(int64_t)memory_of(document));
    produced->disk_bytes -= disk_of(document);
    produced->dropped++;
    let_go(document);
}

/* A document that was made is kept, with what else fits. One that is over a bound alone is not. */
static void keep(struct nt_produced *produced, struct document *document)
{
    document->is_made = true;
    TAILQ_INSERT_HEAD(&produced->documents, document, by_use);
    count(produced, (int64_t)memory_of(document));
    produced->disk_bytes += disk_of(document);
    while (!TAILQ_EMPTY(&produced->documents) &&
           (produced->memory_bytes > nt_reader_waiting_bytes(produced->options.reader) ||
            produced->disk_bytes > produced->options.disk_bytes))
        drop(produced, TAILQ_LAST(&produced->documents, documents));
}

/* Wait until somebody's making has ended. */
static enum nt_status wait(struct nt_produced *produced, const struct nt_scope *scope, struct nt_error *error)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&produced->was_made, &produced->lock, &until);
    return nt_scope_check_caller(scope, error);
}

/* ---- contents ---- */

static enum nt_status read_document(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                    size_t *bytes_ret, struct nt_error *error)
{
    const struct whole *whole = &((struct document *)content)->whole;
    uint64_t left = whole->spool.bytes - offset; /* within size_of: at least 0 */
    if (bytes > left)
        bytes = (size_t)left;
    if (bytes == 0 && whole->failure)
        return nt_fail_with(error, whole->failure);
    *bytes_ret = bytes;
    return nt_spool_read(&whole->spool, offset, buffer, bytes, error);
}

static void close_document(struct nt_content *content)
{
    struct document *document = (struct document *)content;
    struct nt_produced *produced = document->produced;
    pthread_mutex_lock(&produced->lock);
    let_go(document);
    pthread_mutex_unlock(&produced->lock);
}

static const struct nt_content_ops document_ops = {.read = read_document, .close = close_document};

/* ---- making ---- */

/* The size of a document that need not be made for it. */
static bool is_told(const struct nt_scope *scope, uint64_t *size_ret)
{
    return scope->pseudo->size && scope->pseudo->size(scope, false, size_ret, NULL) == NT_OK;
}

/* A size that was told before holds. */
static enum nt_status check_size(const struct nt_scope *scope, uint64_t length, struct nt_error *error)
{
    uint64_t told;
    if (!is_told(scope, &told) || told == length)
        return NT_OK;
    return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of the document", told, length);
}

/* A document of a field or column is short; others grow with the data set. */
static bool is_quick(const struct nt_scope *scope)
{
    return scope->pseudo->produce &&
           (scope->node.level == NT_LEVEL_FIELD || scope->node.level == NT_LEVEL_COLUMN);
}

/* The document is nobody else's yet. */
static enum nt_status make(struct nt_produced *produced, const struct nt_scope *scope,
                           struct document *document, struct nt_error *error)
{
    const struct nt_produced_options *options = &produced->options;
    bool is_short = options->makes_all || scope->pseudo->produce || !scope->pseudo->is_short;
    enum nt_status status = NT_OK;
    if (!is_quick(scope))
        nt_reader_before_slow_work(options->reader);
    if (!is_short)
        status = scope->pseudo->is_short(scope, &is_short, error);
    if (status == NT_OK && is_short)
        status = make_whole(scope, options, &document->whole, error);
    document->whole.is_long |= !is_short;
    if (status == NT_OK && !document->whole.is_long)
        status = check_size(scope, size_of(&document->whole), error);
    document->content.ops = &document_ops;
    document->content.size = size_of(&document->whole);
    document->content.ends_early = document->whole.failure != NULL;
    return status;
}

static struct document *new_document(struct nt_produced *produced)
{
    struct document *document = calloc(1, sizeof(*document));
    if (document)
        *document = (struct document){.whole.spool = NT_SPOOL_EMPTY, .users = 1, .produced = produced};
    return document;
}

/* Under the lock, which is given up meanwhile: make one that others can wait for. */
static enum nt_status make_known(struct nt_produced *produced, const struct nt_scope *scope,
                                 struct document **document_ret, struct nt_error *error)
{
    struct document *document = new_document(produced);
    if (!document)
        return nt_fail_memory(error);
    document->place = scope->place;
    nt_hash_table_insert(&produced->table, &document->link, hash_of(scope->number));
    pthread_mutex_unlock(&produced->lock);
    enum nt_status status = make(produced, scope, document, error);
    pthread_mutex_lock(&produced->lock);
    if (status == NT_OK) {
        document->users++;
        produced->made++;
        keep(produced, document);
        *document_ret = document;
    } else {
        nt_hash_table_remove(&produced->table, &document->link);
        let_go(document);
    }
    pthread_cond_broadcast(&produced->was_made);
    return status;
}

/* Under the lock: one that is there, or will be soon. */
static enum nt_status take(struct nt_produced *produced, const struct nt_scope *scope,
                           struct document **document_ret, struct nt_error *error)
{
    for (;;) {
        struct document *document = find(produced, scope->number);
        if (!document)
            return make_known(produced, scope, document_ret, error);
        if (document->is_made) {
            document->users++;
            TAILQ_REMOVE(&produced->documents, document, by_use);
            TAILQ_INSERT_HEAD(&produced->documents, document, by_use);
            *document_ret = document;
            return NT_OK;
        }
        enum nt_status status = wait(produced, scope, error);
        if (status != NT_OK)
            return status;
    }
}

/* What changes while it is mounted is made for each who asks. */
static enum nt_status make_own(struct nt_produced *produced, const struct nt_scope *scope,
                               struct document **document_ret, struct nt_error *error)
{
    struct document *document = new_document(produced);
    if (!document)
        return nt_fail_memory(error);
    enum nt_status status = make(produced, scope, document, error);
    if (status != NT_OK)
        close_document(&document->content);
    else
        *document_ret = document;
    return status;
}

enum nt_status nt_produced_open(struct nt_produced *produced, const struct nt_scope *scope,
                                struct nt_content **content_ret, struct nt_error *error)
{
    struct document *document = NULL;
    enum nt_status status;
    *content_ret = NULL;
    if (nt_scope_is_changing(scope)) {
        status = make_own(produced, scope, &document, error);
    } else {
        pthread_mutex_lock(&produced->lock);
        status = take(produced, scope, &document, error);
        pthread_mutex_unlock(&produced->lock);
    }
    if (status != NT_OK)
        return status;
    if (document->whole.is_long)
        close_document(&document->content);
    else
        *content_ret = &document->content;
    return NT_OK;
}

bool nt_produced_is_known(struct nt_produced *produced, const struct nt_scope *scope, bool *is_long_ret,
                          uint64_t *size_ret)
{
    *is_long_ret = false;
    if (is_told(scope, size_ret))
        return true;
    pthread_mutex_lock(&produced->lock);
    struct document *document = find(produced, scope->number);
    bool is_known = document && document->is_made;
    if (is_known) {
        *is_long_ret = document->whole.is_long;
        *size_ret = document->content.size;
    }
    pthread_mutex_unlock(&produced->lock);
    return is_known;
}

void nt_produced_forget(struct nt_produced *produced, const struct nt_places *places)
{
    pthread_mutex_lock(&produced->lock);
    struct document *older;
    for (struct document *document = TAILQ_FIRST(&produced->documents); document; document = older) {
        older = TAILQ_NEXT(document, by_use);
        if (nt_places_is_put_away(places, document->place))
            drop(produced, document);
    }
    pthread_mutex_unlock(&produced->lock);
}

bool nt_produced_counter(struct nt_produced *produced, uint32_t index, const char **name_ret,
                         uint64_t *value_ret)
{
    static const char *const names[] = {"documents_made", "documents_dropped", "documents_memory_bytes",
                                        "documents_disk_bytes"};
    if (index >= sizeof(names) / sizeof(names[0]))
        return false;
    pthread_mutex_lock(&produced->lock);
    const uint64_t values[] = {produced->made, produced->dropped, produced->memory_bytes,
                               produced->disk_bytes};
    pthread_mutex_unlock(&produced->lock);
    *name_ret = names[index];
    *value_ret = values[index];
    return true;
}

void nt_produced_free(struct nt_produced *produced)
{
    if (!produced)
        return;
    while (!TAILQ_EMPTY(&produced->documents))
        drop(produced, TAILQ_FIRST(&produced->documents));
    pthread_cond_destroy(&produced->was_made);
    pthread_mutex_destroy(&produced->lock);
    nt_hash_table_deinit(&produced->table);
    free(produced);
}
