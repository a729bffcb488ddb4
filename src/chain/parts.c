/* SPDX-License-Identifier: MIT
 *
 * In: paths. Out: open files, or why they are not. Anchors, headers and footers of several files are read at once.
 */
#include "chain/parts.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "format/format.h"
#include "io/pool.h"
#include "io/remote.h"

enum { MOST_THREADS = 16, PARTS_PER_THREAD = 4 };

/* What the threads share. */
struct opening {
    struct nt_chain_part *parts;
    uint32_t count;
    const struct nt_open_options *options;
    struct nt_source_pool *pool;
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

/* What a file is read from for as long as the chain is open: its descriptor may go and come back. */
static enum nt_status open_source(struct nt_chain_part *part, struct nt_source_pool *pool,
                                  struct nt_error *error)
{
    uint64_t size;
    struct nt_source *source;
    enum nt_status status = nt_source_pool_add(pool, part->path, 0, &source, error);
    if (status == NT_OK && (status = nt_source_size(source, &size, error)) != NT_OK)
        nt_source_close(source);
    if (status != NT_OK)
        return status;
    source->size = size; /* it stays so, or the file has changed */
    part->source = source;
    return NT_OK;
}

/* ---- files ---- */

static enum nt_status open_part(struct nt_chain_part *part, const struct opening *opening,
                                struct nt_error *error)
{
    struct stat attributes;
    if (stat(part->path, &attributes))
        return nt_fail_path(error, errno, part->path);
    if (S_ISDIR(attributes.st_mode))
        return nt_file_open(part->path, opening->options, &part->file, error);
    enum nt_status status = open_source(part, opening->pool, error);
    return status == NT_OK ? nt_file_open_source(part->source, opening->options, &part->file, error) : status;
}

static void *open_parts(void *argument)
{
    struct opening *opening = argument;
    for (uint32_t i; (i = atomic_fetch_add(&opening->next, 1)) < opening->count;) {
        struct nt_chain_part *part = &opening->parts[i];
        if (open_part(part, opening, &part->failure) != NT_OK &&
            !nt_message_about(part->failure.message, part->path))
            nt_error_context(&part->failure, "%s", part->path);
    }
    return NULL;
}

/* By this thread, and as many others as can be had. */
static void open_all(struct opening *opening)
{
    pthread_t threads[MOST_THREADS];
    uint32_t count = 0, wanted = opening->count / PARTS_PER_THREAD;
    while (count < wanted && count < MOST_THREADS &&
           pthread_create(&threads[count], NULL, open_parts, opening) == 0)
        count++;
    open_parts(opening);
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

enum nt_status nt_chain_parts_open(struct nt_chain_part *parts, uint32_t count,
                                   const struct nt_open_options *options, struct nt_error *error)
{
    const struct nt_pool_opener opener = {.open = open_descriptor, .release = release_nothing};
    struct opening opening = {
        .parts = parts, .count = count, .options = options, .pool = nt_source_pool_new(&opener)};
    if (!opening.pool)
        return nt_fail_memory(error);
    open_all(&opening);
    nt_source_pool_free(opening.pool); /* its sources hold it */
    for (uint32_t i = 0; i < count; i++)
        if (!parts[i].file && nt_is_passing_failure(parts[i].failure.status))
            return nt_fail_with(error, &parts[i].failure);
    return NT_OK;
}

void nt_chain_parts_close(struct nt_chain_part *parts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i].file)
            nt_file_close(parts[i].file); /* and its source */
        else
            nt_source_close(parts[i].source);
    }
}
