/* SPDX-License-Identifier: MIT
 *
 * A cache of generated files in LRU order, within a memory and a disk limit. One thread generates a
 * file, in memory or in an unnamed temporary file, while other threads that need it wait.
 */
#include "vfs/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/queue.h"

/* ---- Spool to memory or disk ---- */

/* For file systems without O_TMPFILE: a named file that is unlinked at once. */
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

/* A disk error must not look like a missing text. */
static enum nt_status fail_disk(struct nt_error *error, const char *directory)
{
    nt_fail_system(error, errno, "cannot store a text in %s", directory);
    if (error)
        error->status = NT_IO;
    return NT_IO;
}

static enum nt_status write_out(struct nt_spool *spool, const char *bytes, size_t count,
                                const char *directory, struct nt_error *error)
{
    while (count) {
        ssize_t written = TEMP_FAILURE_RETRY(pwrite(spool->descriptor, bytes, count, (off_t)spool->bytes));
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
    spool->descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spool->descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
        spool->descriptor = open_named(directory);
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
    if (spool->descriptor < 0 && spool->bytes + count > memory_bytes)
        NT_TRY(move_to_file(spool, directory, error));
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
        ssize_t got = TEMP_FAILURE_RETRY(pread(spool->descriptor, at, count, (off_t)offset));
        if (got <= 0)
            return nt_fail_system(error, got < 0 ? errno : EIO, "cannot read a stored text");
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

struct whole_text {
    struct nt_spool spool;
    /* The error that ends the text early because the source is damaged, or NULL. From malloc. */
    struct nt_error *failure;
    bool is_long; /* not kept */
};

static void whole_deinit(struct whole_text *whole)
{
    nt_spool_deinit(&whole->spool);
    free(whole->failure);
    whole->failure = NULL;
}

enum {
    TEXT_BYTES = 4 << 20, /* limit unless all texts are requested; larger ones go to disk */
};

static uint64_t max_text_bytes(const struct nt_generated_options *options)
{
    return options->generate_all ? options->disk_bytes : TEXT_BYTES;
}

/* A longer text is marked as long; if all texts must be generated, it fails. */
static enum nt_status set_long(struct whole_text *whole, const struct nt_generated_options *options,
                               struct nt_error *error)
{
    whole->is_long = true;
    if (!options->generate_all)
        return NT_OK;
    return nt_fail(
        error, NT_LIMIT, NT_NO_OFFSET,
        "no space for a text of more than %llu bytes: use a larger -o textsize=SIZE, or -o text=short",
        (unsigned long long)max_text_bytes(options));
}

/* Generates and keeps the next piece of a text. The generator may give up a piece that is too long.
 * *is_made_ret: no damage ended it. */
static enum nt_status make_piece(struct nt_text_generator *text, const struct nt_generated_options *options,
                                 struct whole_text *whole, struct nt_buffer *piece, bool *is_made_ret,
                                 bool *more_ret, struct nt_error *error)
{
    uint64_t left = max_text_bytes(options) - whole->spool.bytes;
    nt_buffer_clear(piece);
    text->too_many_bytes = left + 1;
    text->is_given_up = false;
    enum nt_status status = text->next(text, piece, more_ret, error);
    if (status == NT_OK && piece->failed)
        status = nt_fail_memory(error);
    *is_made_ret = status == NT_OK || text->is_given_up;
    if (text->is_given_up || (status == NT_OK && piece->length > left))
        return set_long(whole, options, error);
    NT_TRY(status);
    return nt_spool_append(&whole->spool, piece->bytes, piece->length, TEXT_BYTES, options->directory, error);
}

/* *is_made_ret: no damage ended the text, so a failure concerns storing it. */
static enum nt_status make_pieces(const struct nt_resolved_node *resolved, struct nt_text_generator *text,
                                  const struct nt_generated_options *options, struct whole_text *whole,
                                  bool *is_made_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer piece = {0};
    bool more = true;
    while (more && !whole->is_long) {
        NT_TRY(make_piece(text, options, whole, &piece, is_made_ret, &more, error));
        if (more)
            NT_TRY(nt_node_check_caller(resolved, error));
    }
    return NT_OK;
}

/* Page lists in use may leave too little for this text: not for good. */
static bool is_short_of_budget(const struct nt_resolved_node *resolved, enum nt_status status)
{
    return status == NT_LIMIT && resolved->file && nt_budget_is_half_used(&resolved->file->budget);
}

static enum nt_status make_long(const struct nt_resolved_node *resolved,
                                const struct nt_generated_options *options, struct whole_text *whole,
                                struct nt_error *error)
{
    struct nt_text_generator *text = NULL;
    struct nt_error failure = {0};
    bool is_made = false;
    enum nt_status status = resolved->pseudo->open_text(resolved, &text, &failure);
    if (status == NT_OK)
        status = make_pieces(resolved, text, options, whole, &is_made, &failure);
    if (text)
        text->free(text);
    if (status == NT_OK)
        return NT_OK;
    failure.status = status;
    if (is_made || nt_is_environmental(status) || is_short_of_budget(resolved, status))
        return nt_fail_copy(error, &failure);
    whole->failure = malloc(sizeof(failure)); /* damage ends the text; the text before it remains */
    NT_TRY(nt_check_memory(whole->failure, error));
    *whole->failure = failure;
    return NT_OK;
}

/* Generates the text of the node's row, which is GENERATED or STREAMED. System errors fail the call. */
static enum nt_status make_whole(const struct nt_resolved_node *resolved,
                                 const struct nt_generated_options *options, struct whole_text *whole,
                                 struct nt_error *error)
{
    *whole = (struct whole_text){.spool = NT_SPOOL_EMPTY};
    struct nt_buffer *text = &whole->spool.memory;
    enum nt_status status;
    if (resolved->pseudo->generate) {
        status = resolved->pseudo->generate(resolved, text, error);
        if (status == NT_OK && text->failed)
            status = nt_fail_memory(error);
        whole->spool.bytes = text->length;
    } else {
        status = make_long(resolved, options, whole, error);
    }
    if (status != NT_OK || whole->is_long)
        nt_spool_deinit(&whole->spool);
    else
        nt_buffer_fit(text);
    return status;
}

/* The size of the open file. A damaged text has one more byte; reading it returns the failure. */
static uint64_t size_of(const struct whole_text *whole)
{
    return whole->spool.bytes + (whole->failure != NULL);
}

/* ---- The cache ---- */

struct generated_document {
    struct nt_content content;
    struct nt_hash_link link;
    uint32_t inode; /* of the node; used by nt_generated_invalidate */
    struct whole_text whole;
    bool is_made;
    unsigned users;                         /* the table counts as one */
    TAILQ_ENTRY(generated_document) by_use; /* if generated and in the table */
    struct nt_generated *generated;
};

struct nt_generated {
    struct nt_generated_options options;
    pthread_mutex_t lock;
    pthread_cond_t was_made; /* a document is generated or has failed */
    uint64_t memory_bytes, disk_bytes, made, dropped;
    TAILQ_HEAD(documents, generated_document) documents; /* most recently used first */
    struct nt_hash_table table;                          /* key: hash_of(key_of(node)) */
};

struct nt_generated *nt_generated_new(const struct nt_generated_options *options)
{
    struct nt_generated *generated = calloc(1, sizeof(*generated));
    if (!generated)
        return NULL;
    if (!nt_hash_table_init(&generated->table)) {
        free(generated);
        return NULL;
    }
    pthread_mutex_init(&generated->lock, NULL);
    nt_condition_init(&generated->was_made);
    TAILQ_INIT(&generated->documents);
    generated->options = *options;
    return generated;
}

/* ---- Under the lock ---- */

/* Injective: no two nodes have the same hash. */
static uint64_t hash_of(uint64_t node)
{
    return __builtin_bswap64(node * UINT64_C(0x9E3779B97F4A7C15));
}

/* Files with the same text share one document: that of the first. */
static uint64_t key_of(const struct nt_resolved_node *resolved)
{
    const struct nt_pseudo_file *pseudo = resolved->pseudo;
    const struct nt_node *node = &resolved->node;
    if (!pseudo->equals_previous || !pseudo->equals_previous(resolved))
        return resolved->number;
    return nt_node_number(node->type, node->owner, node->item, node->file - 1);
}

static struct generated_document *find(struct nt_generated *generated, uint64_t key)
{
    struct nt_hash_link *link = nt_hash_table_find(&generated->table, hash_of(key));
    return link ? NT_CONTAINER_OF(link, struct generated_document, link) : NULL;
}

static void document_unref(struct generated_document *document)
{
    if (--document->users)
        return;
    whole_deinit(&document->whole);
    free(document);
}

static size_t memory_of(const struct generated_document *document)
{
    return document->whole.spool.memory.capacity + sizeof(*document);
}

static uint64_t disk_of(const struct generated_document *document)
{
    return document->whole.spool.descriptor < 0 ? 0 : document->whole.spool.bytes;
}

static void count(struct nt_generated *generated, int64_t memory_bytes)
{
    generated->memory_bytes += (uint64_t)memory_bytes;
    nt_reader_reserve(generated->options.reader, memory_bytes);
}

static void drop(struct nt_generated *generated, struct generated_document *document)
{
    nt_hash_table_remove(&generated->table, &document->link);
    TAILQ_REMOVE(&generated->documents, document, by_use);
    count(generated, -(int64_t)memory_of(document));
    generated->disk_bytes -= disk_of(document);
    generated->dropped++;
    document_unref(document);
}

static bool exceeds_limits(const struct nt_generated *generated)
{
    const struct nt_generated_options *options = &generated->options;
    bool has_several = TAILQ_FIRST(&generated->documents) !=
                       NT_TAILQ_LAST(&generated->documents, generated_document, by_use);
    return (options->keeps_last && has_several) ||
           generated->memory_bytes > nt_reader_idle_bytes(options->reader) ||
           generated->disk_bytes > options->disk_bytes;
}

/* Keeps a document, then evicts the least recently used, perhaps itself, until the limits hold. */
static void keep(struct nt_generated *generated, struct generated_document *document)
{
    document->is_made = true;
    TAILQ_INSERT_HEAD(&generated->documents, document, by_use);
    count(generated, (int64_t)memory_of(document));
    generated->disk_bytes += disk_of(document);
    while (!TAILQ_EMPTY(&generated->documents) && exceeds_limits(generated))
        drop(generated, NT_TAILQ_LAST(&generated->documents, generated_document, by_use));
}

/* ---- Contents ---- */

static enum nt_status read_document(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                    size_t *bytes_ret, struct nt_error *error)
{
    const struct whole_text *whole = &((struct generated_document *)content)->whole;
    uint64_t left = whole->spool.bytes - offset; /* offset <= size_of, so it is >= 0 */
    if (bytes > left)
        bytes = (size_t)left;
    if (bytes == 0 && whole->failure)
        return nt_fail_copy(error, whole->failure);
    *bytes_ret = bytes;
    return nt_spool_read(&whole->spool, offset, buffer, bytes, error);
}

static void close_document(struct nt_content *content)
{
    struct generated_document *document = (struct generated_document *)content;
    struct nt_generated *generated = document->generated;
    NT_MUTEX_GUARD(&generated->lock);
    document_unref(document);
}

static const struct nt_content_ops document_ops = {.read = read_document, .close = close_document};

/* ---- Generating ---- */

/* Returns the size of a document if it is known before generation. */
static bool is_declared(const struct nt_resolved_node *resolved, bool may_block, uint64_t *size_ret)
{
    return resolved->pseudo->size && resolved->pseudo->size(resolved, may_block, size_ret, NULL) == NT_OK;
}

static enum nt_status make_once(struct nt_generated *generated, const struct nt_resolved_node *resolved,
                                struct generated_document *document, struct nt_error *error)
{
    const struct nt_generated_options *options = &generated->options;
    bool is_short = options->generate_all || resolved->pseudo->generate || !resolved->pseudo->is_short;
    bool is_of_field = resolved->node.type == NT_NODE_FIELD || resolved->node.type == NT_NODE_COLUMN;
    uint64_t declared; /* a size that was reported earlier */
    enum nt_status status = NT_OK;
    if (!resolved->pseudo->generate || !is_of_field) /* others grow with the dataset */
        nt_reader_before_blocking(options->reader);
    if (!is_short)
        status = resolved->pseudo->is_short(resolved, &is_short, error);
    if (status == NT_OK && is_short)
        status = make_whole(resolved, options, &document->whole, error);
    document->whole.is_long |= !is_short;
    document->content.ops = &document_ops;
    document->content.size = size_of(&document->whole);
    if (status == NT_OK && !document->whole.is_long && is_declared(resolved, false, &declared) &&
        declared != document->content.size)
        status = nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of the document", declared,
                                document->content.size);
    document->content.is_streamed = document->whole.failure != NULL;
    return status;
}

/* The document must not be shared yet. */
static enum nt_status make(struct nt_generated *generated, const struct nt_resolved_node *resolved,
                           struct generated_document *document, struct nt_error *error)
{
    struct nt_text_pool *text_pool = generated->options.text_pool;
    struct nt_text_attempt attempt = {0};
    NT_TRY(nt_text_pool_begin(text_pool, resolved, &attempt, error));
    enum nt_status status = make_once(generated, resolved, document, error);
    nt_text_pool_end(text_pool, resolved, &attempt);
    const struct nt_error *failure = document->whole.failure;
    if (status != NT_LIMIT && (!failure || failure->status != NT_LIMIT))
        return status;
    NT_TRY(nt_text_pool_begin(text_pool, resolved, &attempt, error));
    if (!attempt.is_in_vain) {
        whole_deinit(&document->whole);
        status = make_once(generated, resolved, document, error);
    }
    nt_text_pool_end(text_pool, resolved, &attempt);
    return status;
}

static struct generated_document *new_document(struct nt_generated *generated)
{
    struct generated_document *document = calloc(1, sizeof(*document));
    if (document)
        *document =
            (struct generated_document){.whole.spool = NT_SPOOL_EMPTY, .users = 1, .generated = generated};
    return document;
}

/* Generates a document that others can wait for. Called under the lock, which it releases meanwhile. */
static enum nt_status make_known(struct nt_generated *generated, const struct nt_resolved_node *resolved,
                                 uint64_t key, struct generated_document **document_ret,
                                 struct nt_error *error)
{
    struct generated_document *document = new_document(generated);
    NT_TRY(nt_check_memory(document, error));
    document->inode = resolved->inode;
    nt_hash_table_insert(&generated->table, &document->link, hash_of(key));
    pthread_mutex_unlock(&generated->lock);
    enum nt_status status = make(generated, resolved, document, error);
    pthread_mutex_lock(&generated->lock);
    if (status == NT_OK) {
        document->users++;
        generated->made++;
        keep(generated, document);
        *document_ret = document;
    } else {
        nt_hash_table_remove(&generated->table, &document->link);
        document_unref(document);
    }
    pthread_cond_broadcast(&generated->was_made);
    return status;
}

/* Takes an existing document, waits for a pending one, or generates it. Call it under the lock. */
static enum nt_status take(struct nt_generated *generated, const struct nt_resolved_node *resolved,
                           struct generated_document **document_ret, struct nt_error *error)
{
    uint64_t key = key_of(resolved);
    for (;;) {
        struct generated_document *document = find(generated, key);
        if (!document)
            return make_known(generated, resolved, key, document_ret, error);
        if (document->is_made) {
            document->users++;
            TAILQ_REMOVE(&generated->documents, document, by_use);
            TAILQ_INSERT_HEAD(&generated->documents, document, by_use);
            *document_ret = document;
            return NT_OK;
        }
        NT_TRY(nt_node_wait(resolved, &generated->was_made, &generated->lock, error));
    }
}

/* Volatile documents are generated for each access. */
static enum nt_status make_own(struct nt_generated *generated, const struct nt_resolved_node *resolved,
                               struct generated_document **document_ret, struct nt_error *error)
{
    struct generated_document *document = new_document(generated);
    NT_TRY(nt_check_memory(document, error));
    enum nt_status status = make(generated, resolved, document, error);
    if (status != NT_OK)
        close_document(&document->content);
    else
        *document_ret = document;
    return status;
}

enum nt_status nt_generated_open(struct nt_generated *generated, const struct nt_resolved_node *resolved,
                                 struct nt_content **content_ret, struct nt_error *error)
{
    struct generated_document *document = NULL;
    *content_ret = NULL;
    if (nt_node_is_volatile(resolved)) {
        NT_TRY(make_own(generated, resolved, &document, error));
    } else {
        NT_MUTEX_GUARD(&generated->lock);
        NT_TRY(take(generated, resolved, &document, error));
    }
    if (document->whole.is_long)
        close_document(&document->content);
    else
        *content_ret = &document->content;
    return NT_OK;
}

bool nt_generated_has_size(struct nt_generated *generated, const struct nt_resolved_node *resolved,
                           bool may_block, bool *is_long_ret, uint64_t *size_ret)
{
    *is_long_ret = false;
    {
        NT_MUTEX_GUARD(&generated->lock);
        const struct generated_document *document = find(generated, key_of(resolved));
        if (document && document->is_made) {
            *is_long_ret = document->whole.is_long;
            *size_ret = document->content.size;
            return true;
        }
    }
    return is_declared(resolved, may_block, size_ret);
}

void nt_generated_invalidate(struct nt_generated *generated, const struct nt_inode_table *inodes)
{
    NT_MUTEX_GUARD(&generated->lock);
    struct generated_document *older;
    for (struct generated_document *document = TAILQ_FIRST(&generated->documents); document;
         document = older) {
        older = TAILQ_NEXT(document, by_use);
        if (nt_inodes_is_retired(inodes, document->inode))
            drop(generated, document);
    }
}

bool nt_generated_counter(struct nt_generated *generated, uint32_t index, const char **name_ret,
                          uint64_t *value_ret)
{
    static const char *const names[] = {"documents_made", "documents_dropped", "documents_memory_bytes",
                                        "documents_disk_bytes"};
    if (index >= sizeof(names) / sizeof(names[0]))
        return false;
    NT_MUTEX_GUARD(&generated->lock);
    const uint64_t values[] = {generated->made, generated->dropped, generated->memory_bytes,
                               generated->disk_bytes};
    *name_ret = names[index];
    *value_ret = values[index];
    return true;
}

void nt_generated_free(struct nt_generated *generated)
{
    if (!generated)
        return;
    while (!TAILQ_EMPTY(&generated->documents))
        drop(generated, TAILQ_FIRST(&generated->documents));
    pthread_cond_destroy(&generated->was_made);
    pthread_mutex_destroy(&generated->lock);
    nt_hash_table_deinit(&generated->table);
    free(generated);
}
