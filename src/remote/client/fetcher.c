/* SPDX-License-Identifier: MIT
 *
 * Fetchers: their options, references and counters, and what becomes of them in a forked process, which
 * starts its own network helper.
 */
#include "remote/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/abi.h"

enum { DEFAULT_SECONDS = 60 };
#define DEFAULT_CACHE_BYTES (UINT64_C(128) << 20)
#define DEFAULT_DISK_BYTES (UINT64_C(1) << 30)

/* ---- Lock and fork ---- */

/* After fork: active requests and their waiting threads belong to the parent, and some live on stacks
 * that no longer exist. */
static void on_restart(struct nt_fetcher *fetcher)
{
    fetcher->is_forked = fetcher->is_over = false;
    fetcher->epoch = 0;
    LIST_INIT(&fetcher->underway);
    fetcher->ahead_bytes = 0;
    fetcher->ahead_count = 0;
    fetcher->totals = (struct nt_fetch_totals){0};
    nt_link_estimates_restart(&fetcher->link_estimates);
    nt_range_cache_release(&fetcher->range_space);
    struct nt_remote_file *file;
    LIST_FOREACH(file, &fetcher->files, all)
    nt_remote_on_restart(file);
}

struct nt_lock *nt_fetcher_lock(struct nt_fetcher *fetcher)
{
    nt_lock_acquire(&fetcher->lock);
    if (fetcher->is_forked)
        on_restart(fetcher);
    return &fetcher->lock;
}

void nt_fetcher_unlock(struct nt_fetcher *fetcher)
{
    nt_lock_release(&fetcher->lock);
}

/* ---- Counters and reports ---- */

bool nt_fetch_counter(struct nt_fetcher *fetcher, uint32_t index, const char **name_ret, uint64_t *value_ret)
{
    nt_fetcher_lock(fetcher);
    const struct nt_fetch_counters *counters = &fetcher->counters;
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {
        {"remote_requests", counters->requests + fetcher->totals.requests},
        {"remote_retries", counters->retries + fetcher->totals.retries},
        {"remote_failures", counters->failures},
        {"remote_reads", counters->reads},
        {"remote_reads_ahead", counters->ahead},
        {"remote_bytes", counters->bytes},
        {"remote_kept_bytes", fetcher->range_space.bytes},
        {"remote_disk_read_bytes", fetcher->disk.read_bytes},
        {"remote_disk_written_bytes", fetcher->disk.written_bytes},
        {"remote_disk_bad_pieces", fetcher->disk.bad_pieces},
        {"remote_open_files", fetcher->open_count},
        {"remote_waits", counters->waits},
        {"remote_wait_milliseconds", counters->wait_milliseconds},
    };
    nt_fetcher_unlock(fetcher);
    if (index >= sizeof(all) / sizeof(*all))
        return false;
    *name_ret = all[index].name;
    *value_ret = all[index].value;
    return true;
}

void nt_fetcher_unversioned(struct nt_fetcher *fetcher, char server_ret[NT_FETCH_SERVER_BYTES])
{
    NT_FETCHER_GUARD(fetcher);
    memcpy(server_ret, fetcher->unversioned, sizeof(fetcher->unversioned));
}

void nt_helper_sandbox(struct nt_fetcher *fetcher, struct nt_helper_sandbox *sandbox_ret)
{
    NT_FETCHER_GUARD(fetcher);
    *sandbox_ret = fetcher->sandbox;
}

static void close_all(struct nt_fetcher *fetcher)
{
    int *const descriptors[] = {&fetcher->channel, &fetcher->wake[0], &fetcher->wake[1]};
    for (size_t i = 0; i < sizeof(descriptors) / sizeof(*descriptors); i++) {
        if (*descriptors[i] >= 0)
            close(*descriptors[i]);
        *descriptors[i] = -1;
    }
}

/* A forked process needs the addresses after the caller has freed its own. NULL if out of memory. */
static const char *const *copy_addresses(struct nt_arena *arena, const char *const *addresses)
{
    size_t count = 0;
    while (addresses[count])
        count++;
    const char **copies = nt_arena_alloc(arena, count + 1, sizeof(*copies));
    for (size_t i = 0; copies && i < count; i++)
        if (!(copies[i] = nt_arena_copy(arena, addresses[i], strlen(addresses[i]))))
            return NULL;
    return copies;
}

/* ---- Forked processes ---- */

/* The receiver thread does not exist here, and the channel is the parent's: closes it, since an extra
 * copy would keep the network helper alive. */
static void be_forked(struct nt_lock *lock)
{
    struct nt_fetcher *fetcher = (struct nt_fetcher *)((char *)lock - offsetof(struct nt_fetcher, lock));
    nt_condition_init(&fetcher->changed);
    if (fetcher->is_handed_over)
        return;
    close_all(fetcher);
    fetcher->has_receiver = false;
    fetcher->is_forked = true;
}

/* ---- References ---- */

void nt_fetcher_hand_over(struct nt_fetcher *fetcher)
{
    fetcher->is_handed_over = true;
}

void nt_fetcher_read_later(struct nt_fetcher *fetcher)
{
    fetcher->reads_later = true;
}

/* Under the lock, so that no fork happens while there are unregistered descriptors. */
static enum nt_status start(struct nt_fetcher *fetcher, struct nt_error *error)
{
    if (pipe2(fetcher->wake, O_CLOEXEC) != 0)
        return nt_fail_system(error, errno, "cannot read remote files");
    enum nt_status status =
        fetcher->start_process(fetcher->program, &fetcher->rules, &fetcher->channel, error);
    if (status != NT_OK)
        close_all(fetcher);
    return status;
}

enum nt_status nt_fetcher_connect(struct nt_fetcher *fetcher, const char *shown, uint64_t deadline,
                                  struct nt_error *error)
{
    NT_TRY(fetcher->channel < 0 ? start(fetcher, error) : NT_OK);
    NT_TRY(nt_fetcher_start_receiver(fetcher, error));
    while (!fetcher->epoch && !fetcher->is_over)
        if (!nt_fetcher_wait(fetcher, deadline))
            return nt_fetcher_fail_timeout(fetcher, shown, error);
    if (!fetcher->is_over)
        return NT_OK;
    return nt_fail(error, NT_UNREACHABLE, NT_NO_OFFSET, "%s: %s", shown,
                   fetcher->epoch ? NT_FETCHER_EXITED
                                  : "the network helper exited at its start (is ulimit -n too low?)");
}

enum nt_status nt_fetcher_ref(struct nt_fetcher *fetcher, struct nt_error *error)
{
    NT_FETCHER_GUARD(fetcher);
    NT_TRY(fetcher->channel < 0 ? NT_OK : nt_fetcher_start_receiver(fetcher, error));
    fetcher->holders++;
    return NT_OK;
}

void nt_fetcher_free(struct nt_fetcher *fetcher)
{
    if (!fetcher)
        return;
    nt_fetcher_lock(fetcher);
    bool is_last = --fetcher->holders == 0;
    nt_fetcher_unlock(fetcher);
    if (!is_last)
        return;
    if (fetcher->has_receiver) { /* a byte, not end of file: another process may hold the pipe open */
        ssize_t written = write(fetcher->wake[1], "", 1);
        (void)written; /* cannot fail: the pipe is empty */
        pthread_join(fetcher->receiver, NULL);
    }
    nt_fetcher_lock(fetcher);
    close_all(fetcher);
    nt_fetcher_unlock(fetcher);
    nt_disk_cache_close(&fetcher->disk);
    nt_link_estimates_deinit(&fetcher->link_estimates);
    pthread_cond_destroy(&fetcher->changed);
    nt_lock_deinit(&fetcher->lock);
    nt_arena_free(fetcher->arena);
    free(fetcher->packet);
    free(fetcher);
}

void nt_fetcher_stop(struct nt_fetcher *fetcher)
{
    shutdown(fetcher->channel, SHUT_RDWR);
}

static enum nt_status fill(struct nt_fetcher *fetcher, const struct nt_fetcher_options *options,
                           struct nt_error *error)
{
    fetcher->milliseconds =
        UINT64_C(1000) * (options->timeout_seconds ? options->timeout_seconds : DEFAULT_SECONDS);
    fetcher->range_space.max_bytes = options->cache_bytes ? options->cache_bytes : DEFAULT_CACHE_BYTES;
    fetcher->packet = malloc(NT_FETCH_PACKET_BYTES);
    fetcher->arena = nt_arena_new();
    fetcher->rules.certificate_to_origin = options->certificate_to_origin;
    NT_TRY(nt_check_memory(fetcher->packet && fetcher->arena, error));
    if (options->program)
        fetcher->program = nt_arena_copy(fetcher->arena, options->program, strlen(options->program));
    if (options->addresses)
        fetcher->rules.addresses = copy_addresses(fetcher->arena, options->addresses);
    if ((options->program && !fetcher->program) || (options->addresses && !fetcher->rules.addresses))
        return nt_fail_memory(error);
    if (options->disk_cache)
        NT_TRY(nt_disk_cache_open(&fetcher->disk, options->disk_cache,
                                  options->disk_cache_bytes ? options->disk_cache_bytes : DEFAULT_DISK_BYTES,
                                  error));
    NT_FETCHER_GUARD(fetcher);
    return start(fetcher, error);
}

static struct nt_fetcher *new_fetcher(struct nt_error *error)
{
    struct nt_fetcher *fetcher = calloc(1, sizeof(*fetcher));
    int problem = fetcher ? nt_condition_init(&fetcher->changed) : ENOMEM;
    if (!problem && (problem = nt_lock_init(&fetcher->lock, be_forked)))
        pthread_cond_destroy(&fetcher->changed);
    if (problem) {
        free(fetcher);
        nt_fail_system(error, problem, "cannot read remote files");
        return NULL;
    }
    fetcher->holders = 1;
    TAILQ_INIT(&fetcher->range_space.used);
    TAILQ_INIT(&fetcher->used);
    fetcher->channel = fetcher->wake[0] = fetcher->wake[1] = fetcher->disk.folder = -1;
    return fetcher;
}

enum nt_status nt_fetcher_new_by(nt_fetch_starter *start_process, const struct nt_fetcher_options *options,
                                 struct nt_fetcher **fetcher_ret, struct nt_error *error)
{
    struct nt_fetcher_options known;
    NT_TRY(nt_copy_struct(options, &known, sizeof(known), "nt_fetcher_options", error));
    if (known.timeout_seconds > NT_MAX_TIMEOUT_SECONDS)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "timeout_seconds: expected at most %d, found %u",
                       NT_MAX_TIMEOUT_SECONDS, known.timeout_seconds);
    NT_CLEANUP(nt_fetcher_free_at) struct nt_fetcher *fetcher = new_fetcher(error);
    if (!fetcher)
        return NT_NO_MEMORY;
    fetcher->start_process = start_process;
    NT_TRY(fill(fetcher, &known, error));
    *fetcher_ret = fetcher;
    fetcher = NULL;
    return NT_OK;
}

enum nt_status nt_fetcher_new(const struct nt_fetcher_options *options, struct nt_fetcher **fetcher_ret,
                              struct nt_error *error)
{
    return nt_fetcher_new_by(nt_helper_start, options, fetcher_ret, error);
}

enum nt_status nt_fetcher_or_own(struct nt_fetcher **fetcher, struct nt_fetcher **own_ret,
                                 struct nt_error *error)
{
    *own_ret = NULL;
    if (*fetcher)
        return NT_OK;
    enum nt_status status = nt_fetcher_new(NULL, own_ret, error);
    *fetcher = *own_ret;
    return status;
}
