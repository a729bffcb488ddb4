/* SPDX-License-Identifier: MIT
 *
 * Opens and closes the members of a chain: one, many in parallel, and lazy ones, which open when their rows
 * are read.
 */
#include "chain/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/io/address.h"
#include "formats/formats.h"

/* ---- Sources ---- */

static enum nt_status open_descriptor(void *context, const char *path, int *descriptor_ret,
                                      struct nt_identity *identity_ret, struct nt_error *error)
{
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
}

/* The sources of a chain's files share a bounded number of descriptors. NULL if out of memory. */
struct nt_source_pool *nt_chain_pool_new(void)
{
    const struct nt_pool_opener opener = {.open = open_descriptor, .release = release_nothing};
    return nt_source_pool_new(&opener);
}

/* ---- Files ---- */

/* Opens a local file, which the pool may close and reopen while the chain is open. */
static enum nt_status open_pooled(struct nt_chain_member *member, const struct nt_chain *chain,
                                  struct nt_error *error)
{
    struct nt_source *source;
    NT_TRY(nt_source_pool_add(chain->pool, member->path, 0, &source, error));
    /* fixed: a different size means that the file has changed */
    enum nt_status status = nt_source_size(source, &source->size, error);
    if (status == NT_OK)
        return nt_file_take_source(source, &chain->open, &member->file, error);
    nt_source_close(source);
    return status;
}

/* Selects the version of the index while it exists, although later ones may, else the current one. */
static bool select_version(const struct nt_chain_member *member, const struct nt_chain *chain,
                           struct nt_folder *folder, struct nt_open_options *options,
                           struct nt_chain_identity *identity)
{
    const char *known = member->known ? member->known->state : NULL;
    return (known && nt_chain_identify_dataset(folder, known, options, identity)) ||
           nt_chain_identify_dataset(folder, chain->open.version, options, identity);
}

/* Identifies the version of a dataset in a directory before its files are read: if they change meanwhile, the
 * index is not used. The caller keeps the source on failure. */
static enum nt_status open_with(struct nt_chain_member *member, const struct nt_chain *chain,
                                struct nt_source *source, struct nt_error *error)
{
    struct nt_open_options options = chain->open;
    struct nt_chain_identity found, *identity = NULL;
    bool is_found = source->folder && (chain->options.index || chain->options.save_index) &&
                    select_version(member, chain, source->folder, &options, &found);
    NT_TRY(nt_file_open_source(source, &options, &member->file, error));
    if (is_found && (identity = nt_arena_alloc(member->file->arena, 1, sizeof(*identity))))
        *identity = found;
    member->identity = identity;
    return NT_OK;
}

/* Opens a file on a server, or a dataset in a directory, by its path or address. */
static enum nt_status open_named(struct nt_chain_member *member, const struct nt_chain *chain,
                                 const char *name, struct nt_error *error)
{
    struct nt_source *source;
    NT_TRY(nt_open_source(name, &chain->open, &source, error));
    enum nt_status status = open_with(member, chain, source, error);
    if (status != NT_OK)
        nt_source_close(source);
    return status;
}

/* A listed file needs no request: it is read as the listed version. */
static enum nt_status open_listed(struct nt_chain_member *member, const struct nt_chain *chain,
                                  struct nt_error *error)
{
    struct nt_source *source;
    NT_TRY(nt_folder_open_file(member->listed->folder, member->listed->name, &source, error));
    return nt_file_take_source(source, &chain->open, &member->file, error);
}

/* Opens a directory as a dataset. If it is none, the error suggests a pattern for the files in it. */
static enum nt_status open_folder(struct nt_chain_member *member, const struct nt_chain *chain,
                                  struct nt_error *error)
{
    enum nt_status status = open_named(member, chain, member->path, error);
    if (status != NT_NOT_THIS_FORMAT)
        return status;
    return nt_fail(error, status, NT_NO_OFFSET,
                   "%s: is a directory, not a dataset; use a pattern for the files in it: '%s/*.root'",
                   member->path, member->path);
}

static enum nt_status open_member(struct nt_chain_member *member, const struct nt_chain *chain,
                                  struct nt_error *error)
{
    struct stat attributes;
    if (member->source)
        return open_with(member, chain, member->source, error);
    if (member->listed->folder)
        return open_listed(member, chain, error);
    if (member->listed->address)
        return open_named(member, chain, member->listed->address, error);
    if (stat(member->path, &attributes))
        return nt_fail_path(error, errno, member->path);
    return S_ISDIR(attributes.st_mode) ? open_folder(member, chain, error)
                                       : open_pooled(member, chain, error);
}

void nt_chain_close_member(struct nt_chain_member *member)
{
    if (member->source)
        nt_file_discard(member->file);
    else
        nt_file_close(member->file);
    member->file = NULL;
    member->identity = NULL;
}

void nt_chain_try_member(struct nt_chain_member *member, const struct nt_chain *chain)
{
    member->failure = (struct nt_error){0};
    enum nt_status status = open_member(member, chain, &member->failure);
    bool is_open = status == NT_OK;
    if (is_open)
        status = nt_chain_member_check(member, &member->failure);
    if (status == NT_OK && chain->total)
        status = nt_budget_join(&member->file->budget, chain->total, &member->failure);
    if (is_open && status != NT_OK)
        nt_chain_close_member(member);
    if (status == NT_NOT_FOUND && member->listed->identity.st_mode) /* the list found it */
        nt_fail(&member->failure, NT_CHANGED, NT_NO_OFFSET, "%s: no longer exists", member->path);
    else if (status != NT_OK && !nt_message_about(member->failure.message, member->path))
        nt_error_context(&member->failure, "%s", member->path);
}

/* ---- Many members ---- */

enum { MAX_THREADS = 16, PARTS_PER_THREAD = 4 };

/* Members [next, end), which threads take one by one. */
struct shared_members {
    atomic_uint next;
    uint32_t end;
    nt_chain_work *work;
    void *context;
};

static void *work_on_members(void *argument)
{
    struct shared_members *shared = argument;
    for (uint32_t i; (i = atomic_fetch_add(&shared->next, 1)) < shared->end;)
        shared->work(shared->context, i);
    return NULL;
}

/* A thread costs as much as a few local files; remote files mostly wait, so each has a thread. */
static uint32_t threads_for(const struct nt_chain *chain, uint32_t first, uint32_t end)
{
    uint32_t served = 0;
    for (uint32_t i = first; i < end; i++)
        served += chain->members[i].listed->address != NULL;
    return served + (end - first - served) / PARTS_PER_THREAD;
}

void nt_chain_work_together(const struct nt_chain *chain, uint32_t first, uint32_t end, nt_chain_work *work,
                            void *context)
{
    struct shared_members shared = {.next = first, .end = end, .work = work, .context = context};
    pthread_t threads[MAX_THREADS];
    uint32_t started = 0, requested = threads_for(chain, first, end);
    while (started < requested && started + 1 < end - first && started < MAX_THREADS &&
           nt_thread_start(&threads[started], work_on_members, &shared) == 0)
        started++;
    work_on_members(&shared);
    const unsigned sections = nt_critical_section_suspend(); /* the others need their turn if a fork waits */
    while (started > 0)
        pthread_join(threads[--started], NULL);
    nt_critical_section_resume(sections);
}

/* Which members to open. */
struct member_opener {
    struct nt_chain *chain;
    bool leaves_known;          /* skip the members that the index knows */
    bool opens_lazy;            /* open lazy members, and no others */
    const struct nt_file *stub; /* lets members be lazy; NULL: all stay open */
};

static bool is_to_open(const struct member_opener *opener, const struct nt_chain_member *member)
{
    if (member->file)
        return false;
    if (member->is_lazy)
        return opener->opens_lazy;
    return !opener->opens_lazy && !(opener->leaves_known && member->known);
}

static void open_one(void *context, uint32_t number)
{
    const struct member_opener *opener = context;
    struct nt_chain_member *member = &opener->chain->members[number];
    if (!is_to_open(opener, member))
        return;
    nt_chain_try_member(member, opener->chain);
    if (opener->opens_lazy || opener->chain->options.save_index)
        nt_chain_load_lists(member); /* the rows, or an index, need them */
    if (member->file && opener->stub)
        nt_chain_try_evict(opener->stub, member);
}

static void count_members(const struct nt_chain *chain, uint32_t *known_ret, uint32_t *unknown_ret)
{
    *known_ret = *unknown_ret = 0;
    for (uint32_t i = 0; i < chain->member_count; i++) {
        *known_ret += chain->members[i].known != NULL;
        *unknown_ret += !chain->members[i].known && !chain->members[i].file;
    }
}

bool nt_chain_members_open_unknown(const struct nt_file *stub)
{
    struct nt_chain *chain = stub->format_data;
    struct member_opener opener = {.chain = chain, .leaves_known = true, .stub = stub};
    uint32_t known, unknown;
    count_members(chain, &known, &unknown);
    if (unknown == 0 || unknown > known)
        return unknown == 0;
    nt_chain_work_together(chain, 0, chain->member_count, open_one, &opener);
    count_members(chain, &known, &unknown);
    return unknown == 0;
}

enum nt_status nt_chain_members_open(struct nt_chain *chain, uint32_t first, uint32_t end,
                                     const struct nt_file *stub, struct nt_error *error)
{
    struct member_opener opener = {.chain = chain, .stub = stub};
    nt_chain_work_together(chain, first, end, open_one, &opener);
    for (uint32_t i = first; i < end; i++) {
        const struct nt_chain_member *member = &chain->members[i];
        if (!member->file && !member->is_lazy && nt_is_retryable(member->failure.status, &member->failure))
            return nt_fail_copy(error, &member->failure);
    }
    return NT_OK;
}

/* ---- Open lazy members ---- */

enum { MAX_TOGETHER = 64 };

/* The most files that a member has open: the pool of a directory may close others. */
static uint64_t open_files(const struct nt_chain_member *member)
{
    enum { MAX_OF_POOL = 128 };
    return nt_min(member->known->files, MAX_OF_POOL);
}

bool nt_chain_has_room(const struct nt_file *file, uint64_t bytes, uint64_t files)
{
    enum { MAX_FILES = 512 };
    const struct nt_chain *chain = nt_chain_of(file);
    return !nt_budget_is_tight(&file->budget, chain->lazy_open_bytes + bytes) &&
           chain->lazy_open_files + files <= MAX_FILES;
}

/* Counts the metadata and files of an open lazy member, until it closes. */
static void count_lazy_open(struct nt_chain *chain, struct nt_chain_member *member)
{
    if (!member->file || !member->is_lazy || member->lazy_open_bytes)
        return;
    member->lazy_open_bytes = atomic_load_explicit(&member->file->budget.used, memory_order_relaxed);
    chain->lazy_open_bytes += member->lazy_open_bytes;
    chain->lazy_open_files += open_files(member);
}

void nt_chain_close_lazy(struct nt_chain *chain, struct nt_chain_member *member)
{
    chain->lazy_open_files -= member->lazy_open_bytes ? open_files(member) : 0;
    chain->lazy_open_bytes -= member->lazy_open_bytes;
    member->lazy_open_bytes = 0;
    nt_chain_close_member(member);
}

/* For a reader of one file after another, opens the next files together: twice as many each time, while they
 * fit. */
static void open_lazy_from(const struct nt_file *file, uint32_t number)
{
    struct nt_chain *chain = file->format_data;
    uint64_t bytes = atomic_load_explicit(&chain->members[0].file->budget.used, memory_order_relaxed);
    bool goes_on = number && number == chain->next_lazy;
    chain->opened_together = goes_on ? nt_min(2 * chain->opened_together, MAX_TOGETHER) : 1;
    while (chain->opened_together > 1 &&
           !nt_chain_has_room(file, chain->opened_together * bytes,
                              chain->opened_together * open_files(&chain->members[number])))
        chain->opened_together /= 2;
    uint32_t end = number + nt_min(chain->opened_together, chain->member_count - number);
    struct member_opener opener = {.chain = chain, .opens_lazy = true};
    chain->next_lazy = end;
    nt_chain_work_together(chain, number, end, open_one, &opener);
    for (uint32_t i = number; i < end; i++)
        count_lazy_open(chain, &chain->members[i]);
}

/* Closes members that were opened ahead of a reader who has gone elsewhere. */
static void close_ahead(const struct nt_file *file)
{
    struct nt_chain *chain = file->format_data;
    uint32_t end = chain->next_lazy;
    for (uint32_t i = end - nt_min(chain->opened_together, end); i < end; i++)
        if (chain->members[i].is_lazy && chain->members[i].file &&
            !nt_chain_is_in_use(file, &chain->members[i]))
            nt_chain_close_lazy(chain, &chain->members[i]);
}

enum nt_status nt_chain_open_lazy(struct nt_file *file, const struct nt_chain_slice *slice,
                                  struct nt_error *error)
{
    struct nt_chain *chain = file->format_data;
    const struct nt_chain_member *member = slice->member;
    uint32_t number = (uint32_t)(member - chain->members);
    enum nt_status status = NT_OK;
    if (!member->file && number != chain->next_lazy)
        close_ahead(file);
    if (!member->file)
        open_lazy_from(file, number);
    if (!member->file &&
        member->failure.status == NT_LIMIT) { /* those that follow may have taken the memory */
        close_ahead(file);
        nt_chain_try_member(&chain->members[number], chain);
        count_lazy_open(chain, &chain->members[number]);
    }
    if (!member->file)
        status = nt_fail_copy(error, &member->failure);
    else if (member->file->page_bytes > file->page_bytes)
        file->page_bytes = member->file->page_bytes;
    if (status == NT_CHANGED)
        nt_chain_save_index(file);
    return status;
}
