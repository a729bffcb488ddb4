/* SPDX-License-Identifier: MIT
 *
 * Generated files that are streamed because their size is unknown. Only the latest chunk is kept;
 * reading backwards restarts, and the least recently read streams are suspended when memory is
 * short.
 */
#include "vfs/vfs.h"

/* ---- Suspend idle streams ---- */

struct nt_text_pool {
    pthread_mutex_t lock;
    /* Of threads that generate texts which charge a budget: */
    pthread_cond_t has_ended; /* one has finished its text */
    unsigned generating;      /* how many generate, beside one another */
    unsigned attempts;        /* how many began so, ever */
    unsigned to_be_alone;     /* how many wait until no other generates */
    bool has_one_alone;       /* one generates alone */
    struct nt_reader *reader;
    TAILQ_HEAD(, nt_pooled_text) list; /* most recently read last */
    size_t bytes;                      /* of the listed texts */
};

struct nt_text_pool *nt_text_pool_new(struct nt_reader *reader)
{
    struct nt_text_pool *text_pool = calloc(1, sizeof(*text_pool));
    if (!text_pool)
        return NULL;
    text_pool->reader = reader;
    TAILQ_INIT(&text_pool->list);
    pthread_mutex_init(&text_pool->lock, NULL);
    nt_condition_init(&text_pool->has_ended);
    return text_pool;
}

void nt_text_pool_free(struct nt_text_pool *text_pool)
{
    if (!text_pool)
        return;
    pthread_cond_destroy(&text_pool->has_ended);
    pthread_mutex_destroy(&text_pool->lock);
    free(text_pool);
}

/* ---- Under the lock ---- */

static void unlist(struct nt_text_pool *text_pool, struct nt_pooled_text *text)
{
    if (!text->is_listed)
        return;
    TAILQ_REMOVE(&text_pool->list, text, by_use);
    text->is_listed = false;
    text_pool->bytes -= text->bytes;
}

static void list(struct nt_text_pool *text_pool, struct nt_pooled_text *text)
{
    TAILQ_INSERT_TAIL(&text_pool->list, text, by_use);
    text->is_listed = true;
    text_pool->bytes += text->bytes;
}

static void set_bytes(struct nt_text_pool *text_pool, struct nt_pooled_text *text, size_t bytes)
{
    nt_reader_reserve(text_pool->reader, (int64_t)bytes - (int64_t)text->bytes);
    text->bytes = bytes;
}

static bool suspend_listed(struct nt_text_pool *text_pool, struct nt_pooled_text *text, bool for_budget)
{
    bool is_suspended = text->suspend(text, for_budget);
    unlist(text_pool, text);
    if (!is_suspended)
        return false;
    set_bytes(text_pool, text, 0);
    if (text->takes_budget && !for_budget)
        list(text_pool, text);
    return true;
}

/* The newest text stays, whatever its size: otherwise each of its reads would open it again. */
static void suspend_oldest(struct nt_text_pool *text_pool)
{
    struct nt_pooled_text *text = TAILQ_FIRST(&text_pool->list), *next;
    for (; text && text_pool->bytes > nt_reader_idle_bytes(text_pool->reader); text = next) {
        next = TAILQ_NEXT(text, by_use);
        if (next && text->bytes)
            suspend_listed(text_pool, text, false);
    }
}

bool nt_vfs_suspend_texts(void *vfs)
{
    struct nt_text_pool *text_pool = ((struct nt_vfs *)vfs)->text_pool;
    struct nt_pooled_text *next;
    bool has_room = false;
    NT_MUTEX_GUARD(&text_pool->lock);
    for (struct nt_pooled_text *text = TAILQ_FIRST(&text_pool->list); text; text = next) {
        next = TAILQ_NEXT(text, by_use);
        if (text->takes_budget)
            has_room |= suspend_listed(text_pool, text, true);
    }
    return has_room;
}

void nt_text_pool_use(struct nt_text_pool *text_pool, struct nt_pooled_text *text)
{
    NT_MUTEX_GUARD(&text_pool->lock);
    unlist(text_pool, text);
}

void nt_text_pool_idle(struct nt_text_pool *text_pool, struct nt_pooled_text *text, size_t bytes,
                       bool takes_budget)
{
    NT_MUTEX_GUARD(&text_pool->lock);
    unlist(text_pool, text);
    set_bytes(text_pool, text, bytes);
    text->takes_budget = takes_budget;
    if (bytes || takes_budget)
        list(text_pool, text);
    suspend_oldest(text_pool);
}

void nt_text_pool_remove(struct nt_text_pool *text_pool, struct nt_pooled_text *text)
{
    NT_MUTEX_GUARD(&text_pool->lock);
    unlist(text_pool, text);
    set_bytes(text_pool, text, 0);
}

/* ---- Room in a budget ---- */

static bool charges_budget(const struct nt_resolved_node *resolved)
{
    return resolved->document || resolved->pseudo->takes_budget;
}

static void release_lists(const struct nt_file *file)
{
    for (uint32_t i = 0; file && i < file->dataset_count; i++)
        if (!file->datasets[i]->failure)
            nt_dataset_release_lists(file->datasets[i]);
}

static uint64_t budget_used(const struct nt_resolved_node *resolved)
{
    return resolved->file ? nt_budget_used(&resolved->file->budget) : 0;
}

static enum nt_status join_others(struct nt_text_pool *text_pool, const struct nt_resolved_node *resolved,
                                  struct nt_text_attempt *attempt, struct nt_error *error)
{
    NT_MUTEX_GUARD(&text_pool->lock);
    while (text_pool->has_one_alone || text_pool->to_be_alone)
        NT_TRY(nt_node_wait(resolved, &text_pool->has_ended, &text_pool->lock, error));
    attempt->has_others = text_pool->generating++;
    attempt->number = ++text_pool->attempts;
    attempt->used = budget_used(resolved);
    return NT_OK;
}

static enum nt_status wait_for_others(struct nt_text_pool *text_pool, const struct nt_resolved_node *resolved,
                                      struct nt_error *error)
{
    enum nt_status status = NT_OK;
    NT_MUTEX_GUARD(&text_pool->lock);
    text_pool->to_be_alone++;
    while (status == NT_OK && (text_pool->has_one_alone || text_pool->generating))
        status = nt_node_wait(resolved, &text_pool->has_ended, &text_pool->lock, error);
    text_pool->to_be_alone--;
    text_pool->has_one_alone |= status == NT_OK;
    return status;
}

enum nt_status nt_text_pool_begin(struct nt_text_pool *text_pool, const struct nt_resolved_node *resolved,
                                  struct nt_text_attempt *attempt, struct nt_error *error)
{
    if (!attempt->is_alone && !charges_budget(resolved))
        return NT_OK;
    nt_vfs_before_blocking(resolved->vfs);
    if (!attempt->is_alone)
        return join_others(text_pool, resolved, attempt, error);
    NT_TRY(wait_for_others(text_pool, resolved, error));
    release_lists(resolved->file);
    attempt->is_in_vain &= budget_used(resolved) >= attempt->used;
    return NT_OK;
}

void nt_text_pool_end(struct nt_text_pool *text_pool, const struct nt_resolved_node *resolved,
                      struct nt_text_attempt *attempt)
{
    if (!attempt->is_alone && !charges_budget(resolved)) {
        attempt->is_alone = true;
        return;
    }
    NT_MUTEX_GUARD(&text_pool->lock);
    if (attempt->is_alone)
        text_pool->has_one_alone = false;
    else
        text_pool->generating--;
    attempt->is_in_vain =
        !attempt->has_made && !attempt->has_others && attempt->number == text_pool->attempts;
    attempt->is_alone = true;
    pthread_cond_broadcast(&text_pool->has_ended);
}

/* ---- Stream a file ---- */

struct streamed {
    struct nt_content content;
    struct nt_pooled_text waiting;
    const struct nt_resolved_node *resolved;
    pthread_mutex_t lock;
    struct nt_text_generator *text; /* NULL: not opened, or suspended */
    struct nt_buffer window;        /* bytes [window_offset, window_offset + length) of the text */
    uint64_t window_offset;
    uint64_t piece_offset, piece_position; /* start of the last piece: offset; position of `text` */
    bool is_at_end;
    bool is_broken; /* a piece failed: the generator's position is unknown */
};

static uint64_t window_end(const struct streamed *streamed)
{
    return streamed->window_offset + streamed->window.length;
}

static void begin_at(struct streamed *streamed, uint64_t offset, uint64_t position)
{
    if (streamed->text)
        streamed->text->free(streamed->text);
    streamed->text = NULL;
    nt_buffer_clear(&streamed->window);
    streamed->window_offset = streamed->piece_offset = offset;
    streamed->piece_position = position;
    streamed->is_at_end = false;
    streamed->is_broken = false;
}

static enum nt_status open_text(struct streamed *streamed, struct nt_error *error)
{
    NT_TRY(streamed->resolved->pseudo->open_text(streamed->resolved, &streamed->text, error));
    if (streamed->piece_position)
        streamed->text->resume_at(streamed->text, streamed->piece_position);
    return NT_OK;
}

/* Appends a piece to the window. On failure the window stays as it is. */
static enum nt_status make_more(struct streamed *streamed, struct nt_error *error)
{
    bool more = false;
    size_t length = streamed->window.length;
    enum nt_status status = NT_OK;
    nt_vfs_before_blocking(streamed->resolved->vfs);
    if (!streamed->text)
        status = open_text(streamed, error);
    if (status == NT_OK) {
        streamed->piece_offset = window_end(streamed);
        streamed->piece_position = streamed->text->position ? streamed->text->position(streamed->text) : 0;
        status = streamed->text->next(streamed->text, &streamed->window, &more, error);
    }
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

/* After a piece failed: prepares for the same piece again, or for the first one if the text cannot be
 * resumed. */
static void go_back(struct streamed *streamed)
{
    if (streamed->text && !streamed->text->position)
        begin_at(streamed, 0, 0);
    else if (streamed->text)
        streamed->text->free(streamed->text);
    streamed->text = NULL;
    streamed->is_broken = false;
}

/* Drops the bytes before `offset`, which is >= window_offset. Moves bytes only if most are dropped. */
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

/* Returns the text before a failed piece first, as a short read; the next read gets the error. NT_LIMIT if
 * others generate texts meanwhile, which may leave too little memory. */
static enum nt_status read_locked(struct streamed *streamed, struct nt_text_attempt *attempt, uint64_t offset,
                                  void *buffer, size_t bytes, size_t *bytes_ret, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (offset < streamed->window_offset || (streamed->is_broken && window_end(streamed) < offset + bytes))
        begin_at(streamed, 0, 0);
    while (status == NT_OK && !streamed->is_at_end && window_end(streamed) < offset + bytes) {
        forget_before(streamed, offset);
        status = make_more(streamed, error);
    }
    uint64_t end = window_end(streamed);
    *bytes_ret = 0;
    if (status == NT_LIMIT && !attempt->is_alone) {
        attempt->has_made = window_end(streamed);
        go_back(streamed);
        return status;
    }
    if (offset >= end)
        return status;
    *bytes_ret = end - offset < bytes ? (size_t)(end - offset) : bytes;
    memcpy(buffer, streamed->window.bytes + (offset - streamed->window_offset), *bytes_ret);
    return NT_OK;
}

static bool takes_budget(const struct streamed *streamed)
{
    return streamed->text && streamed->text->takes_budget;
}

/* The memory that a suspension frees. */
static size_t memory_to_gain(const struct streamed *streamed)
{
    const struct nt_text_generator *text = streamed->text;
    if (!text || !text->memory || streamed->is_broken)
        return 0;
    return text->memory(text) + (text->shrink ? 0 : streamed->window.capacity);
}

static bool suspend(struct nt_pooled_text *text, bool for_budget)
{
    struct streamed *streamed = NT_CONTAINER_OF(text, struct streamed, waiting);
    if (pthread_mutex_trylock(&streamed->lock) != 0)
        return false;
    bool gains = memory_to_gain(streamed) > 0 || takes_budget(streamed);
    bool can_go_on = memory_to_gain(streamed) > 0 && streamed->text->position;
    if (gains && streamed->text->shrink && !for_budget) {
        streamed->text->shrink(streamed->text);
    } else if (gains) {
        begin_at(streamed, can_go_on ? streamed->piece_offset : 0, can_go_on ? streamed->piece_position : 0);
        nt_buffer_deinit(&streamed->window);
    }
    pthread_mutex_unlock(&streamed->lock);
    return gains;
}

static enum nt_status read_once(struct streamed *streamed, struct nt_text_attempt *attempt, uint64_t offset,
                                void *buffer, size_t bytes, size_t *bytes_ret, struct nt_error *error)
{
    struct nt_text_pool *text_pool = streamed->resolved->vfs->text_pool;
    enum nt_status status = NT_LIMIT;
    NT_TRY(nt_text_pool_begin(text_pool, streamed->resolved, attempt, error));
    pthread_mutex_lock(&streamed->lock);
    nt_text_pool_use(text_pool, &streamed->waiting);
    if (!attempt->is_in_vain)
        status = read_locked(streamed, attempt, offset, buffer, bytes, bytes_ret, error);
    size_t memory = memory_to_gain(streamed);
    bool charges = takes_budget(streamed);
    pthread_mutex_unlock(&streamed->lock);
    nt_text_pool_idle(text_pool, &streamed->waiting, memory, charges);
    nt_text_pool_end(text_pool, streamed->resolved, attempt);
    return status;
}

static enum nt_status read_streamed(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                    size_t *bytes_ret, struct nt_error *error)
{
    struct streamed *streamed = (struct streamed *)content;
    struct nt_text_attempt attempt = {0};
    if (offset > UINT64_MAX - bytes)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "read at an impossible offset");
    enum nt_status status = read_once(streamed, &attempt, offset, buffer, bytes, bytes_ret, error);
    return status == NT_LIMIT ? read_once(streamed, &attempt, offset, buffer, bytes, bytes_ret, error)
                              : status;
}

static uint64_t probable_bytes(struct nt_content *content)
{
    struct streamed *streamed = (struct streamed *)content;
    NT_MUTEX_GUARD(&streamed->lock);
    const struct nt_text_generator *text = streamed->text;
    double share = text && text->share ? text->share(text) : 0;
    return share > 0 ? (uint64_t)((double)window_end(streamed) / share) : 0;
}

static void close_streamed(struct nt_content *content)
{
    struct streamed *streamed = (struct streamed *)content;
    nt_text_pool_remove(streamed->resolved->vfs->text_pool, &streamed->waiting);
    begin_at(streamed, 0, 0);
    nt_buffer_deinit(&streamed->window);
    pthread_mutex_destroy(&streamed->lock);
    free(streamed);
}

static const struct nt_content_ops streamed_ops = {
    .read = read_streamed, .close = close_streamed, .probable_bytes = probable_bytes};

enum nt_status nt_content_new_streamed(const struct nt_resolved_node *resolved,
                                       struct nt_content **content_ret, struct nt_error *error)
{
    struct streamed *streamed = calloc(1, sizeof(*streamed));
    NT_TRY(nt_check_memory(streamed, error));
    streamed->content = (struct nt_content){.ops = &streamed_ops, .size = UINT64_MAX};
    streamed->resolved = resolved;
    streamed->waiting.suspend = suspend;
    pthread_mutex_init(&streamed->lock, NULL);
    *content_ret = &streamed->content;
    return NT_OK;
}
