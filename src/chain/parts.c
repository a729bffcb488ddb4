/* SPDX-License-Identifier: MIT
 *
 * In: paths and addresses. Out: open files, or why they are not. Anchors, headers and footers of several files are read at once.
 */
#include "chain/parts.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "chain/known.h"
#include "formats/format.h"
#include "core/io/pool.h"
#include "core/io/remote.h"

enum { MOST_THREADS = 16, PARTS_PER_THREAD = 4 };

/* What the threads share. */
struct opening {
    struct nt_chain *chain;
    uint32_t count;
    bool leaves_known; /* to themselves */
    atomic_uint next;
};

/* ---- sources ---- */

static enum nt_status open_descriptor(void *context, const char *path, int *descriptor_ret,
                                      struct nt_identity *identity_ret, struct nt_error *error)
{
    (void)context;
    int descriptor = open(path, NT_DESCRIPTOR_FLAGS);
    if (descriptor < 0)
        return nt_fail_path(error, errno, path);
    enum nt_status status = nt_descriptor_identify(descriptor, path, identity_ret, error);
    if (status == NT_OK)
        *descriptor_ret = descriptor;
    else
        close(descriptor);
    return status;
}

static void release_nothing(void *context)
{
    (void)context;
}

struct nt_source_pool *nt_chain_pool_new(void)
{
    const struct nt_pool_opener opener = {.open = open_descriptor, .release = release_nothing};
    return nt_source_pool_new(&opener);
}

/* What a file is read from for as long as the chain is open: its descriptor may go and come back. */
static enum nt_status open_source(const char *path, struct nt_source_pool *pool,
                                  struct nt_source **source_ret, struct nt_error *error)
{
    uint64_t size;
    struct nt_source *source;
    enum nt_status status = nt_source_pool_add(pool, path, 0, &source, error);
    if (status == NT_OK && (status = nt_source_size(source, &size, error)) != NT_OK)
        nt_source_close(source);
    if (status != NT_OK)
        return status;
    source->size = size; /* it stays so, or the file has changed */
    *source_ret = source;
    return NT_OK;
}

/* ---- files ---- */

static enum nt_status open_pooled(struct nt_chain_part *part, const struct nt_chain *chain,
                                  struct nt_error *error)
{
    struct nt_source *source;
    enum nt_status status = open_source(part->path, chain->pool, &source, error);
    return status == NT_OK ? nt_file_take_source(source, &chain->open, &part->file, error) : status;
}

/* On a server. What that has listed is read without asking for it first, as the version that was listed. */
static enum nt_status open_served(struct nt_chain_part *part, const struct nt_chain *chain,
                                  struct nt_error *error)
{
    struct nt_source *source;
    const struct nt_chain_file *listed = part->listed;
    if (!listed->folder)
        return nt_file_open(listed->address, &chain->open, &part->file, error);
    enum nt_status status = nt_folder_open_file(listed->folder, listed->name, &source, error);
    return status == NT_OK ? nt_file_take_source(source, &chain->open, &part->file, error) : status;
}

/* A data set that is a folder. Of another one its files may be meant, which have to be named. */
static enum nt_status open_folder(struct nt_chain_part *part, const struct nt_chain *chain,
                                  struct nt_error *error)
{
    enum nt_status status = nt_file_open(part->path, &chain->open, &part->file, error);
    if (status != NT_NOT_THIS_FORMAT)
        return status;
    return nt_fail(error, status, NT_NO_OFFSET,
                   "%s: a folder that is no data set; a pattern names the files in it: '%s/*.root'",
                   part->path, part->path);
}

static enum nt_status open_part(struct nt_chain_part *part, const struct nt_chain *chain,
                                struct nt_error *error)
{
    struct stat attributes;
    if (part->listed->address)
        return open_served(part, chain, error);
    if (stat(part->path, &attributes))
        return nt_fail_path(error, errno, part->path);
    return S_ISDIR(attributes.st_mode) ? open_folder(part, chain, error) : open_pooled(part, chain, error);
}

static void try_part(struct nt_chain_part *part, const struct nt_chain *chain)
{
    part->failure = (struct nt_error){0};
    enum nt_status status = open_part(part, chain, &part->failure);
    bool is_open = status == NT_OK;
    if (is_open)
        status = nt_chain_part_check(part, &part->failure);
    if (status == NT_OK && chain->total)
        status = nt_budget_join(&part->file->budget, chain->total, &part->failure);
    if (is_open && status != NT_OK) {
        nt_file_close(part->file);
        part->file = NULL;
    }
    if (status == NT_NOT_FOUND && part->listed->identity.st_mode) /* it was there when the list was made */
        nt_fail(&part->failure, NT_CHANGED, NT_NO_OFFSET, "%s: is no longer there", part->path);
    else if (status != NT_OK && !nt_message_about(part->failure.message, part->path))
        nt_error_context(&part->failure, "%s", part->path);
}

static void *open_parts(void *argument)
{
    struct opening *opening = argument;
    for (uint32_t i; (i = atomic_fetch_add(&opening->next, 1)) < opening->count;) {
        struct nt_chain_part *part = &opening->chain->parts[i];
        if (!part->file && !(opening->leaves_known && part->known))
            try_part(part, opening->chain);
    }
    return NULL;
}

/* A thread costs as much as a few files that are here; those on servers are mostly waited for. */
static uint32_t threads_for(const struct nt_chain *chain, uint32_t count)
{
    uint32_t served = 0;
    for (uint32_t i = 0; i < count; i++)
        served += chain->parts[i].listed->address != NULL;
    return served + (count - served) / PARTS_PER_THREAD;
}

/* By this thread, and as many others as can be had. */
static void open_together(struct opening *opening)
{
    pthread_t threads[MOST_THREADS];
    uint32_t started = 0, wanted = threads_for(opening->chain, opening->count);
    while (started < wanted && started + 1 < opening->count && started < MOST_THREADS &&
           pthread_create(&threads[started], NULL, open_parts, opening) == 0)
        started++;
    open_parts(opening);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

static void count_parts(const struct nt_chain *chain, uint32_t *known_ret, uint32_t *unknown_ret)
{
    *known_ret = *unknown_ret = 0;
    for (uint32_t i = 0; i < chain->part_count; i++) {
        *known_ret += chain->parts[i].known != NULL;
        *unknown_ret += !chain->parts[i].known && !chain->parts[i].file;
    }
}

bool nt_chain_parts_open_unknown(struct nt_chain *chain)
{
    struct opening opening = {.chain = chain, .count = chain->part_count, .leaves_known = true};
    uint32_t known, unknown;
    count_parts(chain, &known, &unknown);
    if (unknown == 0 || unknown > known)
        return unknown == 0;
    open_together(&opening);
    count_parts(chain, &known, &unknown);
    return unknown == 0;
}

enum nt_status nt_chain_parts_open(struct nt_chain *chain, uint32_t count, struct nt_error *error)
{
    struct opening opening = {.chain = chain, .count = count};
    open_together(&opening);
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_chain_part *part = &chain->parts[i];
        if (!part->file && nt_is_refused_for_now(part->failure.status, &part->failure))
            return nt_fail_with(error, &part->failure);
    }
    return NT_OK;
}
