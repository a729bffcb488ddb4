/* SPDX-License-Identifier: MIT
 *
 * In: who asks. Out: a process that fetches and a thread that takes its answers, until nobody asks any more. A process that was forked has
 * neither, and starts its own.
 */
#include "remote/client/fetcher_life.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/sized.h"
#include "core/base/thread.h"

enum { DEFAULT_SECONDS = 60 };
#define DEFAULT_CACHE_BYTES (UINT64_C(128) << 20)
#define DEFAULT_DISK_BYTES (UINT64_C(1) << 30)

/* ---- parts ---- */

static int init_waiting(struct nt_fetcher *fetcher)
{
    pthread_condattr_t attributes;
    int problem = pthread_condattr_init(&attributes);
    if (problem)
        return problem;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    problem = pthread_cond_init(&fetcher->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return problem;
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

static void free_addresses(char **addresses)
{
    for (char **address = addresses; address && *address; address++)
        free(*address);
    free(addresses);
}

/* A forked process starts its own process with them, when the caller's are gone. NULL without memory. */
static char **copy_addresses(const char *const *addresses)
{
    size_t count = 0;
    while (addresses[count])
        count++;
    char **copies = calloc(count + 1, sizeof(*copies));
    for (size_t i = 0; copies && i < count; i++)
        if (!(copies[i] = strdup(addresses[i]))) {
            free_addresses(copies);
            return NULL;
        }
    return copies;
}

/* ---- forked processes ---- */

/* The thread that takes answers is not here, and the channel is the parent's: whoever had this one, too, would keep the process that
 * fetches from its end. */
static void be_forked(struct nt_lock *lock)
{
    struct nt_fetcher *fetcher = (struct nt_fetcher *)((char *)lock - offsetof(struct nt_fetcher, lock));
    init_waiting(fetcher);
    if (fetcher->is_handed_over)
        return;
    close_all(fetcher);
    fetcher->has_receiver = false;
    fetcher->is_forked = true;
}

/* ---- its life ---- */

void nt_fetcher_hand_over(struct nt_fetcher *fetcher)
{
    fetcher->is_handed_over = true;
}

/* Under the lock, so that no process is forked that has descriptors of which nobody knows. */
static enum nt_status start(struct nt_fetcher *fetcher, struct nt_error *error)
{
    if (pipe2(fetcher->wake, O_CLOEXEC) != 0)
        return nt_fail_system(error, errno, "remote files cannot be read");
    enum nt_status status = nt_fetch_start(fetcher->program, &fetcher->rules, &fetcher->channel, error);
    if (status != NT_OK)
        close_all(fetcher);
    return status;
}

static enum nt_status start_receiver(struct nt_fetcher *fetcher, struct nt_error *error)
{
    int problem =
        fetcher->has_receiver ? 0 : nt_thread_start(&fetcher->receiver, nt_fetcher_receive, fetcher);
    fetcher->has_receiver |= !problem;
    return problem ? nt_fail_system(error, problem, "cannot start a thread") : NT_OK;
}

enum nt_status nt_fetcher_be_there(struct nt_fetcher *fetcher, const char *shown, uint64_t deadline,
                                   struct nt_error *error)
{
    enum nt_status status = fetcher->channel < 0 ? start(fetcher, error) : NT_OK;
    if (status == NT_OK)
        status = start_receiver(fetcher, error);
    while (status == NT_OK && !fetcher->epoch && !fetcher->is_over)
        if (!nt_fetcher_wait(fetcher, deadline))
            return nt_fetcher_fail_silent(fetcher, shown, error);
    return status == NT_OK && fetcher->is_over
               ? nt_fail(error, NT_UNREACHABLE, NT_NO_OFFSET, "%s: the process that fetches has ended", shown)
               : status;
}

enum nt_status nt_fetcher_hold(struct nt_fetcher *fetcher, struct nt_error *error)
{
    nt_fetcher_lock(fetcher);
    enum nt_status status = fetcher->channel < 0 ? NT_OK : start_receiver(fetcher, error);
    fetcher->holders += status == NT_OK;
    nt_fetcher_unlock(fetcher);
    return status;
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
    if (fetcher->has_receiver) { /* a byte, not the pipe's end: another process may have that, too */
        ssize_t written = write(fetcher->wake[1], "", 1);
        (void)written; /* the pipe is empty */
        pthread_join(fetcher->receiver, NULL);
    }
    nt_fetcher_lock(fetcher);
    close_all(fetcher);
    nt_fetcher_unlock(fetcher);
    nt_disk_cache_close(&fetcher->disk);
    nt_paces_deinit(&fetcher->paces);
    pthread_cond_destroy(&fetcher->changed);
    nt_lock_deinit(&fetcher->lock);
    free_addresses((char **)fetcher->rules.addresses);
    free(fetcher->program);
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
    enum nt_status status = NT_OK;
    fetcher->milliseconds =
        UINT64_C(1000) * (options->timeout_seconds ? options->timeout_seconds : DEFAULT_SECONDS);
    fetcher->room.most_bytes = options->cache_bytes ? options->cache_bytes : DEFAULT_CACHE_BYTES;
    fetcher->packet = malloc(NT_FETCH_PACKET_BYTES);
    fetcher->program = options->program ? strdup(options->program) : NULL;
    fetcher->rules.certificate_to_origin = options->certificate_to_origin;
    if (options->addresses)
        fetcher->rules.addresses = (const char *const *)copy_addresses(options->addresses);
    if (!fetcher->packet || (options->program && !fetcher->program) ||
        (options->addresses && !fetcher->rules.addresses))
        return nt_fail_memory(error);
    if (options->disk_cache)
        status = nt_disk_cache_open(
            &fetcher->disk, options->disk_cache,
            options->disk_cache_bytes ? options->disk_cache_bytes : DEFAULT_DISK_BYTES, error);
    if (status != NT_OK)
        return status;
    nt_fetcher_lock(fetcher);
    status = start(fetcher, error);
    nt_fetcher_unlock(fetcher);
    return status;
}

static struct nt_fetcher *new_fetcher(struct nt_error *error)
{
    struct nt_fetcher *fetcher = calloc(1, sizeof(*fetcher));
    int problem = fetcher ? init_waiting(fetcher) : ENOMEM;
    if (!problem && (problem = nt_lock_init(&fetcher->lock, be_forked)))
        pthread_cond_destroy(&fetcher->changed);
    if (problem) {
        free(fetcher);
        nt_fail_system(error, problem, "remote files cannot be read");
        return NULL;
    }
    fetcher->holders = 1;
    fetcher->channel = fetcher->wake[0] = fetcher->wake[1] = fetcher->disk.folder = -1;
    return fetcher;
}

enum nt_status nt_fetcher_new(const struct nt_fetcher_options *options, struct nt_fetcher **fetcher_ret,
                              struct nt_error *error)
{
    struct nt_fetcher_options known;
    enum nt_status status = nt_sized_copy(options, &known, sizeof(known), "nt_fetcher_options", error);
    if (status != NT_OK)
        return status;
    if (known.timeout_seconds > NT_MOST_TIMEOUT_SECONDS)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "timeout_seconds: expected at most %d, found %u",
                       NT_MOST_TIMEOUT_SECONDS, known.timeout_seconds);
    struct nt_fetcher *fetcher = new_fetcher(error);
    if (!fetcher)
        return NT_NO_MEMORY;
    status = fill(fetcher, &known, error);
    if (status != NT_OK) {
        nt_fetcher_free(fetcher);
        return status;
    }
    *fetcher_ret = fetcher;
    return NT_OK;
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
